//! The operation table: the operands of every operation in byte order, and the defining text.

use Field::{
    Address, Block, Branch, Die, Displacement, Expression, Fixed, Implied, ImpliedRegister, Register,
    SectionDie, ShortBlock, Signed, Type, TypeOrGeneric, Uleb,
};

/// An operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Part of the operation's name, not printed: the value of `DW_OP_lit5`.
    Implied,
    /// The register in the operation's name, printed by its own name if it has one.
    ImpliedRegister,
    /// 8 bytes, in hexadecimal.
    Address,
    /// An unsigned number of that many bytes.
    Fixed(u8),
    /// A signed number of that many bytes; SLEB128 for 0.
    Signed(u8),
    /// A ULEB128 number.
    Uleb,
    /// An SLEB128 displacement in bytes, printed with its sign.
    Displacement,
    /// A register, ULEB128.
    Register,
    /// The target of a branch, two bytes.
    Branch,
    /// The offset of a debugging information entry in its unit, of that many bytes.
    Die(u8),
    /// An offset in `.debug_info`, of 4 or 8 bytes depending on the format of the unit.
    SectionDie,
    /// The offset of a type, or of another entry of the unit, ULEB128.
    Type,
    /// The same; 0 is the generic type.
    TypeOrGeneric,
    /// A ULEB128 length, then bytes.
    Block,
    /// A length of one byte, then bytes.
    ShortBlock,
    /// A ULEB128 length, then an expression.
    Expression,
}

impl Field {
    /// Whether it contains a LEB128 number.
    pub(super) fn has_leb(self) -> bool {
        matches!(self, Signed(0) | Uleb | Displacement | Register | Type | TypeOrGeneric | Block | Expression)
    }

    /// Whether it is encoded in bytes.
    pub(super) fn is_written(self) -> bool {
        !matches!(self, Implied | ImpliedRegister)
    }
}

/// A row of the operation table.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// DWARF's name; for a family of 32 (`DW_OP_lit0` to `DW_OP_lit31`) without the number.
    pub name: &'static str,
    /// Whether it is a family of 32.
    pub family: bool,
    /// Its operands in the order of the bytes.
    pub fields: &'static [Field],
    /// The defining section.
    pub section: &'static str,
}

const fn row(name: &'static str, fields: &'static [Field], section: &'static str) -> Shape {
    Shape { name, family: false, fields, section }
}

const fn family(name: &'static str, fields: &'static [Field], section: &'static str) -> Shape {
    Shape { name, family: true, fields, section }
}

const LITERAL: &str = "DWARF 5, 2.5.1.1";
const REGISTER_VALUE: &str = "DWARF 5, 2.5.1.2";
const STACK: &str = "DWARF 5, 2.5.1.3";
const ARITHMETIC: &str = "DWARF 5, 2.5.1.4";
const CONTROL: &str = "DWARF 5, 2.5.1.5";
const TYPE: &str = "DWARF 5, 2.5.1.6";
const SPECIAL: &str = "DWARF 5, 2.5.1.7";
const REGISTER_LOCATION: &str = "DWARF 5, 2.6.1.1.3";
const IMPLICIT: &str = "DWARF 5, 2.6.1.1.4";
const COMPOSITE: &str = "DWARF 5, 2.6.1.2";
const GNU: &str = "GNU, before DWARF 5";
const LLVM_USER: &str = "LLVM, Dwarf.def";
const LLVM_LITERAL: &str = "LLVM heterogeneous, A.2.5.4.3.1";
const LLVM_GENERAL: &str = "LLVM heterogeneous, A.2.5.4.4.1";
const LLVM_UNDEFINED: &str = "LLVM heterogeneous, A.2.5.4.4.2";
const LLVM_MEMORY: &str = "LLVM heterogeneous, A.2.5.4.4.3";
const LLVM_IMPLICIT: &str = "LLVM heterogeneous, A.2.5.4.4.5";
const LLVM_COMPOSITE: &str = "LLVM heterogeneous, A.2.5.4.4.6";
const SPACES: &str = "DWARF 6 proposal, address spaces";
const LOCATIONS: &str = "DWARF 6 proposal, locations on the stack";
const VECTORS: &str = "DWARF 6 proposal, vector composites";
const LANES: &str = "DWARF 6 proposal, lanes";
const OVERLAYS: &str = "DWARF issue 251120.1";

/// Every operation of every dialect, in document order.
pub const OPERATIONS: &[Shape] = &[
    family("DW_OP_lit", &[Implied], LITERAL),
    row("DW_OP_addr", &[Address], LITERAL),
    row("DW_OP_const1u", &[Fixed(1)], LITERAL),
    row("DW_OP_const1s", &[Signed(1)], LITERAL),
    row("DW_OP_const2u", &[Fixed(2)], LITERAL),
    row("DW_OP_const2s", &[Signed(2)], LITERAL),
    row("DW_OP_const4u", &[Fixed(4)], LITERAL),
    row("DW_OP_const4s", &[Signed(4)], LITERAL),
    row("DW_OP_const8u", &[Fixed(8)], LITERAL),
    row("DW_OP_const8s", &[Signed(8)], LITERAL),
    row("DW_OP_constu", &[Uleb], LITERAL),
    row("DW_OP_consts", &[Signed(0)], LITERAL),
    row("DW_OP_addrx", &[Uleb], LITERAL),
    row("DW_OP_constx", &[Uleb], LITERAL),
    row("DW_OP_const_type", &[Type, ShortBlock], LITERAL),
    row("DW_OP_fbreg", &[Displacement], REGISTER_VALUE),
    family("DW_OP_breg", &[ImpliedRegister, Displacement], REGISTER_VALUE),
    row("DW_OP_bregx", &[Register, Displacement], REGISTER_VALUE),
    row("DW_OP_regval_type", &[Register, Type], REGISTER_VALUE),
    row("DW_OP_dup", &[Implied], STACK),
    row("DW_OP_drop", &[], STACK),
    row("DW_OP_pick", &[Fixed(1)], STACK),
    row("DW_OP_over", &[Implied], STACK),
    row("DW_OP_swap", &[], STACK),
    row("DW_OP_rot", &[], STACK),
    row("DW_OP_deref", &[Implied], STACK),
    row("DW_OP_deref_size", &[Fixed(1)], STACK),
    row("DW_OP_deref_type", &[Fixed(1), Type], STACK),
    row("DW_OP_xderef", &[Implied], STACK),
    row("DW_OP_xderef_size", &[Fixed(1)], STACK),
    row("DW_OP_xderef_type", &[Fixed(1), Type], STACK),
    row("DW_OP_push_object_address", &[], STACK),
    row("DW_OP_form_tls_address", &[], STACK),
    row("DW_OP_call_frame_cfa", &[], STACK),
    row("DW_OP_abs", &[], ARITHMETIC),
    row("DW_OP_and", &[], ARITHMETIC),
    row("DW_OP_div", &[], ARITHMETIC),
    row("DW_OP_minus", &[], ARITHMETIC),
    row("DW_OP_mod", &[], ARITHMETIC),
    row("DW_OP_mul", &[], ARITHMETIC),
    row("DW_OP_neg", &[], ARITHMETIC),
    row("DW_OP_not", &[], ARITHMETIC),
    row("DW_OP_or", &[], ARITHMETIC),
    row("DW_OP_plus", &[], ARITHMETIC),
    row("DW_OP_plus_uconst", &[Uleb], ARITHMETIC),
    row("DW_OP_shl", &[], ARITHMETIC),
    row("DW_OP_shr", &[], ARITHMETIC),
    row("DW_OP_shra", &[], ARITHMETIC),
    row("DW_OP_xor", &[], ARITHMETIC),
    row("DW_OP_le", &[], CONTROL),
    row("DW_OP_ge", &[], CONTROL),
    row("DW_OP_eq", &[], CONTROL),
    row("DW_OP_lt", &[], CONTROL),
    row("DW_OP_gt", &[], CONTROL),
    row("DW_OP_ne", &[], CONTROL),
    row("DW_OP_skip", &[Branch], CONTROL),
    row("DW_OP_bra", &[Branch], CONTROL),
    row("DW_OP_call2", &[Die(2)], CONTROL),
    row("DW_OP_call4", &[Die(4)], CONTROL),
    row("DW_OP_call_ref", &[SectionDie], CONTROL),
    row("DW_OP_convert", &[TypeOrGeneric], TYPE),
    row("DW_OP_reinterpret", &[TypeOrGeneric], TYPE),
    row("DW_OP_nop", &[], SPECIAL),
    row("DW_OP_entry_value", &[Expression], SPECIAL),
    family("DW_OP_reg", &[ImpliedRegister], REGISTER_LOCATION),
    row("DW_OP_regx", &[Register], REGISTER_LOCATION),
    row("DW_OP_implicit_value", &[Block], IMPLICIT),
    row("DW_OP_stack_value", &[], IMPLICIT),
    row("DW_OP_implicit_pointer", &[SectionDie, Displacement], IMPLICIT),
    row("DW_OP_piece", &[Uleb], COMPOSITE),
    row("DW_OP_bit_piece", &[Uleb, Uleb], COMPOSITE),
    row("DW_OP_GNU_push_tls_address", &[], GNU),
    row("DW_OP_GNU_implicit_pointer", &[SectionDie, Displacement], GNU),
    row("DW_OP_GNU_entry_value", &[Expression], GNU),
    row("DW_OP_GNU_const_type", &[Type, ShortBlock], GNU),
    row("DW_OP_GNU_regval_type", &[Register, Type], GNU),
    row("DW_OP_GNU_deref_type", &[Fixed(1), Type], GNU),
    row("DW_OP_GNU_convert", &[TypeOrGeneric], GNU),
    row("DW_OP_GNU_reinterpret", &[TypeOrGeneric], GNU),
    row("DW_OP_GNU_addr_index", &[Uleb], GNU),
    row("DW_OP_GNU_const_index", &[Uleb], GNU),
    row("DW_OP_LLVM_nop", &[], LLVM_USER),
    row("DW_OP_LLVM_form_aspace_address", &[], LLVM_MEMORY),
    row("DW_OP_LLVM_push_lane", &[], LLVM_LITERAL),
    row("DW_OP_LLVM_offset", &[], LLVM_GENERAL),
    row("DW_OP_LLVM_offset_uconst", &[Uleb], LLVM_GENERAL),
    row("DW_OP_LLVM_bit_offset", &[], LLVM_GENERAL),
    row("DW_OP_LLVM_call_frame_entry_reg", &[Register], LLVM_GENERAL),
    row("DW_OP_LLVM_undefined", &[], LLVM_UNDEFINED),
    row("DW_OP_LLVM_aspace_bregx", &[Register, Displacement], LLVM_MEMORY),
    row("DW_OP_LLVM_aspace_implicit_pointer", &[SectionDie, Displacement], LLVM_IMPLICIT),
    row("DW_OP_LLVM_piece_end", &[], LLVM_COMPOSITE),
    row("DW_OP_LLVM_extend", &[Uleb, Uleb], LLVM_COMPOSITE),
    row("DW_OP_LLVM_select_bit_piece", &[Uleb, Uleb], LLVM_COMPOSITE),
    row("DW_OP_form_aspace_address", &[], SPACES),
    row("DW_OP_aspace_bregx", &[Register, Displacement], SPACES),
    row("DW_OP_aspace_implicit_pointer", &[SectionDie, Displacement], SPACES),
    row("DW_OP_push_lane", &[], LANES),
    row("DW_OP_offset", &[], LOCATIONS),
    row("DW_OP_bit_offset", &[], LOCATIONS),
    row("DW_OP_undefined", &[], LOCATIONS),
    row("DW_OP_call_frame_entry_reg", &[Register], LOCATIONS),
    row("DW_OP_piece_end", &[], LOCATIONS),
    row("DW_OP_extend", &[Uleb, Uleb], VECTORS),
    row("DW_OP_select_bit_piece", &[Uleb, Uleb], VECTORS),
    row("DW_OP_composite", &[], LOCATIONS),
    row("DW_OP_overlay", &[], OVERLAYS),
    row("DW_OP_bit_overlay", &[], OVERLAYS),
    row("DW_OP_object_map", &[Type], "DWARF issue 230712.4"),
];

/// Returns the row of an operation; `None` for a name that no dialect has.
#[must_use]
pub fn shape(name: &str) -> Option<&'static Shape> {
    let stem = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    OPERATIONS.iter().find(|row| if row.family { row.name == stem && stem != name } else { row.name == name })
}
