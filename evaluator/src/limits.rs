//! Bounds on the cost of an expression, far above the output of compilers. An excess ends the evaluation with an error
//! of class [`Limit`](super::Class::Limit) that names the bound.

/// Maximum steps of one evaluation for any one lane: one for each operation, more for operations that build many parts
/// or work on wide values. Bounds loops of `DW_OP_skip` and `DW_OP_bra`.
pub const MAX_STEPS: u32 = 1 << 16;

/// Maximum units of work of one evaluation, for all its lanes and nested expressions. One unit: an operation of a set
/// of lanes that run together, a word read from a part, eight operations of a nested expression, or a copied word of a
/// wide value. Separated lanes run one after another, each with [`MAX_STEPS`] of its own; this bounds them together.
/// Each of 64 separated lanes has 16384 units.
pub const MAX_WORK: u32 = 16 * MAX_STEPS;

/// Units of work ([`MAX_WORK`]) of all evaluations of a question, beyond the share of each and beyond [`WAVE_WORK`]. A
/// question is one request of the caller's user: a command, or a packet of a debugger.
pub const MAX_QUESTION_WORK: u64 = 16 * MAX_WORK as u64;

/// Additional units of work for each wave of a question: over ten times the cost of a stack with all its variables.
pub const WAVE_WORK: u64 = 1 << 12;

/// Maximum values of variables of a question, one for each lane, beyond [`WAVE_VALUES`].
pub const MAX_QUESTION_VALUES: u64 = 1 << 20;

/// Additional values for each wave of a question: 128 variables in 64 lanes.
pub const WAVE_VALUES: u64 = 1 << 13;

/// Units of work of each evaluation's own share, ...
pub const OWN_WORK: u64 = 64;
/// ... plus this number for each operation of its expression: few operations of real expressions run more than once.
pub const OWN_WORK_OF_OPERATION: u64 = 4;
/// Maximum of both: variables may share an expression through a location list, but each has the cost.
pub const MAX_OWN_WORK: u64 = 1 << 10;

/// Units of work for each executed byte of call frame instructions; a copied rule counts as three bytes.
pub const FRAME_BYTE_WORK: u64 = 4;
/// Units of work of each row's own share: 4 KiB of instructions, several times LLVM's code for all callee-saved
/// registers.
pub const OWN_ROW_WORK: u64 = 4096 * FRAME_BYTE_WORK;

/// Maximum units of work ([`MAX_WORK`]) of all call frame rules evaluated for one stack. Real rules take tens of units
/// for a register, those that gather the lanes of a vector some hundreds.
pub const MAX_RULE_WORK: u32 = 4 * MAX_WORK;

/// Maximum parts made by one evaluation for all lanes and stacks: some 40 MB, with an offset for every lane.
pub const MAX_PARTS_MADE: usize = 32 * MAX_PARTS;

/// Number of first operations in an explanation.
pub const MAX_EXPLAINED_FIRST: usize = 1000;
/// Number of last operations in an explanation.
pub const MAX_EXPLAINED_LAST: usize = 100;

/// Maximum printed stack entries in an explanation, from the top.
pub const MAX_ENTRIES_SHOWN: usize = 16;

/// Maximum printed parts of a composite, and bytes of a constant, in an explanation.
pub const MAX_PARTS_SHOWN: usize = 64;

/// Maximum sets of lanes explained for an evaluation.
pub const MAX_EXPLAINED_SETS: usize = 8;

/// Maximum entries on an evaluation stack.
pub const MAX_STACK: usize = 256;

/// Maximum nesting of running expressions: calls, frame bases, implicit pointers, entry values.
pub const MAX_CALL_DEPTH: u32 = 24;

/// Bits of the storage of the largest address space, with 64-bit addresses: DWARF's own bound on a composite ("The
/// DWARF expression is ill-formed if the size of the contiguous location storage is larger", 2020 AMDGPU text). A
/// composite above `u64::MAX` bits exceeds the bound of this evaluator first.
pub(super) const LARGEST_STORAGE: u128 = 1 << 67;

/// Maximum parts of one composite location, before neighbours are merged.
pub const MAX_PARTS: usize = 2048;

/// Maximum bits of base storage that an overlay keeps to the left and to the right: more than any object, and few
/// enough that the sizes of composites fit.
pub const MAX_OVERLAY_REACH: u64 = 1 << 60;

/// Maximum bits of a base type, its vector elements included: a whole vector register of 64 lanes.
pub const MAX_VALUE_BITS: u64 = 2048;

/// Maximum bytes of one expression.
pub const MAX_EXPRESSION_BYTES: usize = 1 << 20;

/// Maximum nesting of expressions (`DW_OP_entry_value`) when decoding.
pub const MAX_NESTING: u32 = 8;

/// Maximum bytes of one fetched object.
pub const MAX_OBJECT_BYTES: u64 = 1 << 20;

/// Maximum rows kept by `DW_CFA_remember_state` at a time.
pub const MAX_REMEMBERED_ROWS: usize = 64;

/// Maximum rules copied by all `DW_CFA_remember_state` of a table: a thousand of them in functions with as many rules.
pub const MAX_COPIED_RULES: u64 = 1 << 20;
