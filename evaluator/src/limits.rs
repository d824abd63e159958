//! Bounds on the cost of an expression, for any bytes. Each is far above what compilers emit. Past one, evaluation ends with an
//! error of class [`Limit`](super::Class::Limit) that names the bound.

/// Steps of one evaluation for any one lane: one for each operation, more for operations that build many parts or
/// work on wide values. Bounds loops made of `DW_OP_skip` and `DW_OP_bra`.
pub const MAX_STEPS: u32 = 1 << 16;

/// Units of work of one evaluation, for all its lanes and all expressions that it runs: one for each operation of each set of
/// lanes that runs together, for each word read of a part, for each eight operations of an expression that is run, and for
/// each word of a wide value that is copied. Lanes that part run one after another, each with [`MAX_STEPS`] of its own;
/// this bounds them together. All 64 lanes apart have 16384 units each.
pub const MAX_WORK: u32 = 16 * MAX_STEPS;

/// Units of work ([`MAX_WORK`]) of all evaluations of a question together, beyond the share that each has of its own and beyond
/// [`WAVE_WORK`]. A question is one request of the caller's user: a command, or a packet of a debugger.
pub const MAX_QUESTION_WORK: u64 = 16 * MAX_WORK as u64;

/// Units of work that a question may take more for each wave that it asks about: over ten times the most that a stack with all its
/// variables takes in compiled code.
pub const WAVE_WORK: u64 = 1 << 12;

/// Values of variables, one for each lane, that a question may ask for beyond [`WAVE_VALUES`].
pub const MAX_QUESTION_VALUES: u64 = 1 << 20;

/// Values that a question may ask for more for each wave: those of 128 variables in 64 lanes.
pub const WAVE_VALUES: u64 = 1 << 13;

/// Units of work that each evaluation has of its own, whatever others have taken: so many, ...
pub const OWN_WORK: u64 = 64;
/// ... and so many for each operation of its expression: few operations of real expressions run more than once.
pub const OWN_WORK_OF_OPERATION: u64 = 4;
/// The most of both: variables may share an expression by a location list, but not its cost.
pub const MAX_OWN_WORK: u64 = 1 << 10;

/// Units of work that each byte of call frame instructions takes that is run; a rule that they copy counts as three bytes.
pub const FRAME_BYTE_WORK: u64 = 4;
/// Units of work that each row of call frame information has of its own: 4 KiB of instructions, several times what LLVM writes for a
/// function that saves all its registers.
pub const OWN_ROW_WORK: u64 = 4096 * FRAME_BYTE_WORK;

/// Units of work ([`MAX_WORK`]) of all rules of call frame information that are evaluated for one stack, its frames together.
/// Real rules take tens of units for a register, those that gather the lanes of a vector some hundreds.
pub const MAX_RULE_WORK: u32 = 4 * MAX_WORK;

/// Parts that one evaluation may make in all, for all its lanes and on all its stacks. Parts hold an offset for every
/// lane: this many take some 40 MB.
pub const MAX_PARTS_MADE: usize = 32 * MAX_PARTS;

/// First operations of an evaluation that an explanation has.
pub const MAX_EXPLAINED_FIRST: usize = 1000;
/// Last operations of an evaluation that an explanation has.
pub const MAX_EXPLAINED_LAST: usize = 100;

/// Entries of a stack that an explanation shows, from the top.
pub const MAX_ENTRIES_SHOWN: usize = 16;

/// Parts of a composite, and bytes of a constant, that an explanation shows.
pub const MAX_PARTS_SHOWN: usize = 64;

/// Sets of lanes that an evaluation is explained for.
pub const MAX_EXPLAINED_SETS: usize = 8;

/// Entries on an evaluation stack.
pub const MAX_STACK: usize = 256;

/// Expressions that run inside one another: calls, frame bases, implicit pointers, entry values.
pub const MAX_CALL_DEPTH: u32 = 24;

/// Bits of the storage of the largest address space, of 64-bit addresses: DWARF's own bound on a composite ("The DWARF
/// expression is ill-formed if the size of the contiguous location storage is larger", 2020 AMDGPU text). A composite
/// above `u64::MAX` bits exceeds the bound of this evaluator first.
pub(super) const LARGEST_STORAGE: u128 = 1 << 67;

/// Parts of one composite location, before neighbours are merged.
pub const MAX_PARTS: usize = 2048;

/// Bits that an overlay keeps of what it lies over, to the left and to the right of base and overlay: more than any
/// object, and few enough that composites of such parts can be counted.
pub const MAX_OVERLAY_REACH: u64 = 1 << 60;

/// Bits of a base type, its vector elements included: a whole vector register of 64 lanes.
pub const MAX_VALUE_BITS: u64 = 2048;

/// Bytes of one expression.
pub const MAX_EXPRESSION_BYTES: usize = 1 << 20;

/// Expressions within expressions (`DW_OP_entry_value`) when decoding.
pub const MAX_NESTING: u32 = 8;

/// Bytes of an object fetched at once.
pub const MAX_OBJECT_BYTES: u64 = 1 << 20;

/// Rows that `DW_CFA_remember_state` may keep at a time.
pub const MAX_REMEMBERED_ROWS: usize = 64;

/// Rules that all `DW_CFA_remember_state` of a table may copy: a thousand of them in functions with as many rules.
pub const MAX_COPIED_RULES: u64 = 1 << 20;
