//! Decoded operations, before evaluation.
//!
//! Printing, idiom recognition and evaluation use the same decoded [`Operation`]s, so their readings agree. Several
//! codes with one meaning share an operation; [`Placed`] keeps the original name.

use std::sync::Arc;

use super::context::DieRef;
use crate::units::{BitSize, DieOffset, DwarfReg, ExprOffset};

/// The encoding of the extensions. One byte has different meanings in each, so the dialect is a property of a unit,
/// given by the caller and never inferred from a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// `DW_OP_LLVM_user` (0xe9) and a sub-operation: LLVM and ROCm since about 2022.
    LlvmUser,
    /// One byte from 0xe1 on for each operation: LLVM's documents and ROCm of 2020 to 2022.
    LlvmDirect,
    /// The numbers of the AMDGPU text of 2020: 0xe7, 0xe9 and 0xea only.
    AmdgpuUsage2020,
    /// Operations that DWARF drafts describe without numbers; the provisional numbers are in `draft.toml`.
    Draft,
}

/// The encoding of a unit's expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// Numbers of the extensions.
    pub dialect: Dialect,
    /// Whether offsets into `.debug_info` have 8 bytes (the 64-bit DWARF format) instead of 4.
    pub dwarf64: bool,
}

impl Encoding {
    /// Creates the encoding of a dialect in the 32-bit DWARF format, which every AMDGPU producer uses.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, dwarf64: false }
    }
}

/// The target of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The operand: byte offset from the end of the branch.
    pub by: i16,
    /// Index of the operation there, or the number of operations for the end; `None` if no operation starts there.
    pub to: Option<u32>,
}

/// Operations with one operand on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `DW_OP_abs`.
    Abs,
    /// `DW_OP_neg`.
    Neg,
    /// `DW_OP_not`.
    Not,
}

/// Operations with two operands on the stack; the second entry is the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `DW_OP_and`.
    And,
    /// `DW_OP_div`.
    Div,
    /// `DW_OP_minus`.
    Minus,
    /// `DW_OP_mod`.
    Mod,
    /// `DW_OP_mul`.
    Mul,
    /// `DW_OP_or`.
    Or,
    /// `DW_OP_plus`.
    Plus,
    /// `DW_OP_shl`.
    Shl,
    /// `DW_OP_shr`.
    Shr,
    /// `DW_OP_shra`.
    Shra,
    /// `DW_OP_xor`.
    Xor,
    /// `DW_OP_eq`.
    Eq,
    /// `DW_OP_ge`.
    Ge,
    /// `DW_OP_gt`.
    Gt,
    /// `DW_OP_le`.
    Le,
    /// `DW_OP_lt`.
    Lt,
    /// `DW_OP_ne`.
    Ne,
}

/// One operation with its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// `DW_OP_addr`: an address, not relocated.
    Addr(u64),
    /// `DW_OP_addrx`: an index into `.debug_addr`, an address.
    Addrx(u64),
    /// `DW_OP_constx`: an index into `.debug_addr`, a constant.
    Constx(u64),
    /// `DW_OP_lit*`, `DW_OP_const*`: a generic value, sign-extended by the signed operations.
    Constant(u64),
    /// `DW_OP_const_type`: a value of a base type.
    ConstType {
        /// The type, an offset in the unit.
        ty: DieOffset,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// `DW_OP_dup`, `DW_OP_over`, `DW_OP_pick`: pushes a copy of that entry.
    Pick(u8),
    /// `DW_OP_drop`.
    Drop,
    /// `DW_OP_swap`.
    Swap,
    /// `DW_OP_rot`.
    Rot,
    /// `DW_OP_deref`, `DW_OP_deref_size`: bytes to read into a generic value.
    Deref {
        /// Bytes to read.
        bytes: u8,
    },
    /// `DW_OP_deref_type`: bytes to read into a value of a base type.
    DerefType {
        /// Bytes to read: the type's size.
        bytes: u8,
        /// The type, an offset in the unit.
        ty: DieOffset,
    },
    /// `DW_OP_xderef`, `DW_OP_xderef_size`: swap, form an address, read.
    Xderef {
        /// Bytes to read.
        bytes: u8,
    },
    /// `DW_OP_xderef_type`.
    XderefType {
        /// Bytes to read: the type's size.
        bytes: u8,
        /// The type, an offset in the unit.
        ty: DieOffset,
    },
    /// `DW_OP_abs`, `DW_OP_neg`, `DW_OP_not`.
    Unary(Unary),
    /// Arithmetic, logic, shifts and comparisons of two values.
    Binary(Binary),
    /// `DW_OP_plus_uconst`.
    PlusUconst(u64),
    /// `DW_OP_convert`; `None` for the generic type.
    Convert(Option<DieOffset>),
    /// `DW_OP_reinterpret`; `None` for the generic type.
    Reinterpret(Option<DieOffset>),
    /// `DW_OP_bra`: branches if the top is not 0.
    Bra(Target),
    /// `DW_OP_skip`: branches.
    Skip(Target),
    /// `DW_OP_nop`, `DW_OP_LLVM_nop`.
    Nop,
    /// `DW_OP_reg*`, `DW_OP_regx`: a register location.
    Register(DwarfReg),
    /// `DW_OP_regval_type`: contents of a register.
    RegvalType {
        /// The register.
        register: DwarfReg,
        /// The type, an offset in the unit.
        ty: DieOffset,
    },
    /// `DW_OP_breg*`, `DW_OP_bregx`: memory at a register's contents plus a displacement in bytes.
    BaseRegister {
        /// The register.
        register: DwarfReg,
        /// Displacement in bytes.
        displacement: i64,
    },
    /// `DW_OP_LLVM_aspace_bregx`: the same, in a popped address space.
    AspaceBregx {
        /// The register.
        register: DwarfReg,
        /// Displacement in bytes.
        displacement: i64,
    },
    /// `DW_OP_fbreg`: the frame base plus a displacement in bytes.
    FrameBase(i64),
    /// `DW_OP_call_frame_cfa`.
    CallFrameCfa,
    /// `DW_OP_LLVM_call_frame_entry_reg`: the location of a register's value in the caller.
    CallFrameEntryReg(DwarfReg),
    /// `DW_OP_push_object_address`.
    PushObjectAddress,
    /// `DW_OP_form_tls_address`.
    FormTlsAddress,
    /// `DW_OP_call2`, `DW_OP_call4`, `DW_OP_call_ref`.
    Call(DieRef),
    /// `DW_OP_entry_value`: an expression evaluated at the function's entry.
    EntryValue(Arc<Program>),
    /// `DW_OP_implicit_value`: a constant object.
    ImplicitValue(Arc<[u8]>),
    /// `DW_OP_stack_value`: the value is the object.
    StackValue,
    /// `DW_OP_implicit_pointer`.
    ImplicitPointer {
        /// The entry pointed to, an offset in `.debug_info`.
        die: DieOffset,
        /// Byte offset from its start.
        displacement: i64,
    },
    /// `DW_OP_LLVM_aspace_implicit_pointer`: the same, into a popped address space.
    AspaceImplicitPointer {
        /// The entry pointed to, an offset in `.debug_info`.
        die: DieOffset,
        /// Byte offset from its start.
        displacement: i64,
    },
    /// `DW_OP_piece`: its size in bytes.
    Piece(u64),
    /// `DW_OP_bit_piece`.
    BitPiece {
        /// Bits of the part.
        size: u64,
        /// Bits past the location's start.
        offset: u64,
    },
    /// `DW_OP_LLVM_piece_end`.
    PieceEnd,
    /// `DW_OP_LLVM_undefined`.
    Undefined,
    /// `DW_OP_LLVM_form_aspace_address`.
    FormAspaceAddress,
    /// `DW_OP_LLVM_push_lane`.
    PushLane,
    /// `DW_OP_LLVM_offset`: a displacement in bytes from the stack.
    Offset,
    /// `DW_OP_LLVM_offset_uconst`: a displacement in bytes.
    OffsetUconst(u64),
    /// `DW_OP_LLVM_bit_offset`: a displacement in bits from the stack.
    BitOffset,
    /// `DW_OP_LLVM_extend`.
    Extend {
        /// Bits of an element.
        size: u64,
        /// Number of elements.
        count: u64,
    },
    /// `DW_OP_LLVM_select_bit_piece`.
    SelectBitPiece {
        /// Bits of an element.
        size: u64,
        /// Number of elements.
        count: u64,
    },
    /// `DW_OP_object_map` (DWARF issue 230712.4): an offset in the unit.
    ObjectMap(DieOffset),
    /// `DW_OP_composite` (DWARF 6 drafts): an empty composite that accepts pieces.
    Composite,
    /// `DW_OP_overlay` (DWARF issue 251120.1): one location over bytes of another.
    Overlay,
    /// `DW_OP_bit_overlay`: over bits of it.
    BitOverlay,
}

/// Redundant bytes in the LEB128 numbers of an operation. Only the text form uses them, to reproduce every byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padding {
    /// Size of the sub-operation of `DW_OP_LLVM_user` in bytes; 0 for the minimal size.
    pub code: u32,
    /// The same for each LEB128 number of the operands in order, including block lengths.
    pub operands: Box<[u32]>,
}

/// An operation with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Offset of its first byte in the expression; in nested expressions relative to the outermost.
    pub at: ExprOffset,
    /// The original name: `DW_OP_lit5` for a [`Operation::Constant`].
    pub name: &'static str,
    /// The operation.
    pub operation: Operation,
    /// Its redundant bytes, if any: clang writes references to base types in four.
    pub padding: Option<Box<Padding>>,
}

/// A decoded expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(super) operations: Box<[Placed]>,
    pub(super) end: ExprOffset,
    pub(super) encoding: Encoding,
}

impl Program {
    /// Returns the operations in order.
    #[inline]
    #[must_use]
    pub fn operations(&self) -> &[Placed] {
        &self.operations
    }

    /// Returns the offset past the last byte.
    #[inline]
    #[must_use]
    pub fn end(&self) -> ExprOffset {
        self.end
    }

    /// Returns its encoding.
    #[inline]
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether it has no operations: an object without a location.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Whether its pieces leave out bits of an object of that size: one has no location before it, or they end before
    /// the object. False without pieces, and if a branch or a call decides which pieces there are.
    #[must_use]
    pub fn leaves_out(&self, object: BitSize) -> bool {
        // Bits of the pieces so far, and whether an operation since the last one gives a location.
        let (mut described, mut has_location, mut has_gap) = (0u64, false, false);
        for placed in &self.operations {
            let size = match placed.operation {
                Operation::Piece(bytes) => bytes.saturating_mul(8),
                Operation::BitPiece { size, .. } => size,
                Operation::Bra(_) | Operation::Skip(_) | Operation::Call(_) | Operation::Composite => {
                    return false;
                }
                Operation::Nop | Operation::PieceEnd => continue,
                Operation::Undefined => {
                    has_location = false;
                    continue;
                }
                _ => {
                    has_location = true;
                    continue;
                }
            };
            has_gap |= !has_location && size > 0 && described < object.0;
            described = described.saturating_add(size);
            has_location = false;
        }
        let has_pieces = described > 0 && !has_location;
        has_pieces && (has_gap || described < object.0)
    }
}
