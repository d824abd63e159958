//! Errors with the operation's offset and name, and the cause.
//!
//! Four classes, for different display: undecodable bytes, expressions that break a rule of DWARF, expressions that
//! exceed a bound of this evaluator, and valid expressions that need missing data.

use std::borrow::Cow;
use std::fmt;

use super::origin::{Origin, WhyUndefined, because};
use super::print::Names;
use crate::units::{Address, AddressSpace, DieOffset, DwarfReg, ExprOffset, LaneId};

/// The class of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The bytes are not operations of the dialect.
    Decode,
    /// The expression breaks a rule of DWARF.
    IllFormed,
    /// The expression exceeds one of this evaluator's [bounds](super::limits); DWARF has no such rule.
    Limit,
    /// The expression is valid, but the capture lacks required data.
    Unavailable,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decode => "decode",
            Self::IllFormed => "ill-formed",
            Self::Limit => "limit",
            Self::Unavailable => "unavailable",
        })
    }
}

/// A failed decoding, evaluation or fetch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", place(op, *at))]
pub struct Error {
    /// Byte offset of the operation in the caller's expression; its length if the result is invalid.
    pub at: ExprOffset,
    /// DWARF's name of the operation, or `result` if the final stack is invalid.
    pub op: &'static str,
    /// The cause.
    #[source]
    pub cause: Cause,
}

impl Error {
    /// The class of the failure.
    #[must_use]
    pub fn class(&self) -> Class {
        self.cause.class()
    }

    /// Formats the error with names of registers and address spaces from `names`.
    #[must_use]
    pub fn named(&self, names: &dyn Names) -> String {
        format!("{}: {}", place(self.op, self.at), self.cause.named(names))
    }
}

/// An operation with its offset. Reads and rules of registers are no operations, and have none.
pub(super) fn place(op: &str, at: ExprOffset) -> String {
    match op.starts_with("DW_") || matches!(op, "result" | "expression") {
        true => format!("{op} at {at}"),
        false => op.to_owned(),
    }
}

/// An error of a [`Context`](super::Context).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// The DWARF refers to something nonexistent; the expression is ill-formed.
    #[error("{0}")]
    Absent(Cow<'static, str>),
    /// The capture does not contain it.
    #[error("{0}")]
    NotCaptured(Cow<'static, str>),
    /// A required expression fails or is undecodable.
    #[error("{0}")]
    Failed(Box<Error>),
}

impl ContextError {
    /// Creates an [`Self::Absent`] error.
    #[must_use]
    pub fn absent(words: impl Into<Cow<'static, str>>) -> Self {
        Self::Absent(words.into())
    }

    /// Creates a [`Self::NotCaptured`] error.
    #[must_use]
    pub fn not_captured(words: impl Into<Cow<'static, str>>) -> Self {
        Self::NotCaptured(words.into())
    }
}

impl From<Error> for ContextError {
    fn from(error: Error) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// The cause of an operation's failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// No operation of the dialect has this code.
    #[error("no operation {code:#04x} in this dialect")]
    UnknownOperation {
        /// The byte.
        code: u8,
    },
    /// `DW_OP_LLVM_user` with an unknown sub-operation, whose operands cannot be skipped.
    #[error("unknown sub-operation {sub:#x}")]
    UnknownSubOperation {
        /// The sub-operation.
        sub: u64,
    },
    /// The expression ends within an operand.
    #[error("the expression ends within its operands")]
    Truncated,
    /// Call frame instructions end within an instruction.
    #[error("the instructions end within its operands")]
    InstructionTruncated,
    /// A LEB128 number beyond 64 bits.
    #[error("LEB128 operand beyond 64 bits")]
    LebTooLong,
    /// A bound of [`super::limits`].
    #[error("more than {limit} {what}")]
    Limit {
        /// The quantity.
        what: &'static str,
        /// The bound.
        limit: u64,
    },
    /// The stack has too few entries.
    #[error("the stack has {have} of the {need} entries needed")]
    StackUnderflow {
        /// Required entries.
        need: usize,
        /// Existing entries.
        have: usize,
    },
    /// An entry has the wrong kind and does not convert.
    #[error("needs {need}, found {found}")]
    Kind {
        /// The required kind.
        need: &'static str,
        /// The kind of the entry.
        found: &'static str,
    },
    /// An operation on an incomplete composite, which is not a whole location.
    #[error("the composite is not complete")]
    Incomplete,
    /// `DW_OP_LLVM_piece_end` without an incomplete composite on top.
    #[error("no incomplete composite to end")]
    NothingToEnd,
    /// Operands of different types.
    #[error("operands of different types")]
    TypesDiffer,
    /// An operation for which the operand's type is invalid.
    #[error("not defined for {0}")]
    TypeUnsupported(&'static str),
    /// A size that differs from the type's size.
    #[error("operand has {given} bits, the type has {actual}")]
    SizesDiffer {
        /// The size in the operand.
        given: u64,
        /// The size of the type.
        actual: u64,
    },
    /// A register or a value whose size differs from the register of the rule.
    #[error("{} has {found} bits, register {register} has {size}", of.map_or_else(|| "the rule's value".to_owned(), |of| format!("register {of}")))]
    RuleSize {
        /// The register named by the rule; `None`: an address or an expression's result.
        of: Option<DwarfReg>,
        /// Its size.
        found: u64,
        /// The register of the rule.
        register: DwarfReg,
        /// Its size.
        size: u64,
    },
    /// Division of integers by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A branch that lands neither at the start of an operation nor at the end.
    #[error("branch by {by} lands within an operation or outside the expression")]
    BranchTarget {
        /// The operand.
        by: i16,
    },
    /// A displacement that leaves the storage.
    #[error("offset {offset} bits is outside the storage of {size} bits")]
    OutsideStorage {
        /// The requested offset; negative before the start.
        offset: i128,
        /// Size of the storage.
        size: u128,
    },
    /// Requested bits beyond the end of the storage.
    #[error("{wanted} bits at bit {offset} exceed the storage of {size} bits")]
    BeyondStorage {
        /// First bit.
        offset: u128,
        /// Number of bits.
        wanted: u128,
        /// Size of the storage.
        size: u128,
    },
    /// A read of undefined bits.
    #[error("reads bits that are undefined{}", because(.0.as_ref()))]
    ReadsUndefined(Option<Origin>),
    /// A part of an implicit pointer, or an implicit pointer used as a number.
    #[error("an implicit pointer can only be read whole and pointed through")]
    ImplicitPointerMisused,
    /// `DW_OP_LLVM_form_aspace_address` on an implicit pointer into another space.
    #[error("the implicit pointer is into address space {expected}")]
    ImplicitPointerSpace {
        /// The address space of the pointer.
        expected: AddressSpace,
    },
    /// An address space that the target reserves or lacks.
    #[error("address space {0} is reserved")]
    ReservedSpace(AddressSpace),
    /// A lane that the wave does not have.
    #[error("lane {lane} is out of range: the wave, or DW_AT_LLVM_lanes, has {lanes}")]
    LaneOutOfRange {
        /// The lane.
        lane: LaneId,
        /// Lanes of the wave, or of `DW_AT_LLVM_lanes`.
        lanes: u64,
    },
    /// An operation that requires a lane, without a lane in focus.
    #[error("no lane is in focus")]
    NoLane,
    /// A register outside the mapping.
    #[error("register {register}: {reason}")]
    NoRegister {
        /// The number.
        register: DwarfReg,
        /// The reason.
        reason: ContextError,
    },
    /// A register that was not captured, at least not all requested bits.
    #[error("register {0} was not captured")]
    RegisterNotCaptured(DwarfReg),
    /// Memory that was not captured.
    #[error("memory of address space {space} at {address} was not captured")]
    MemoryNotCaptured {
        /// The space.
        space: AddressSpace,
        /// The first missing byte.
        address: Address,
    },
    /// A register of a compiler's idiom that is narrower than the object.
    #[error("{wanted} bits in a register of {size}; the compiler may mean the object's address")]
    NarrowRegister {
        /// Size of the object, or of its piece.
        wanted: u64,
        /// Size of the register, or of the lane's part.
        size: u64,
    },
    /// A value that depends on the sign or the width of operands, which the compiler does not state.
    #[error("the compiler does not state sign or width of the operands, and the value depends on it")]
    OpenSign,
    /// A register too wide for an address.
    #[error("register {register} of {size} bits is wider than an address of {address} bits")]
    RegisterTooWide {
        /// The register.
        register: DwarfReg,
        /// Its size.
        size: u64,
        /// Size of an address.
        address: u64,
    },
    /// `DW_OP_deref_size` beyond the generic type.
    #[error("{bytes} bytes exceed the generic type")]
    DerefTooWide {
        /// The operand.
        bytes: u64,
    },
    /// A composite larger than the storage of the largest address space.
    #[error(
        "a composite of {bits} bits exceeds the largest address space of {} bits",
        super::limits::LARGEST_STORAGE
    )]
    CompositeTooLarge {
        /// Its size.
        bits: u128,
    },
    /// The number of final stack entries is not one.
    #[error("leaves {have} entries on the stack, exactly 1 is needed")]
    EntryCount {
        /// Final entries.
        have: usize,
    },
    /// An invalid count.
    #[error("{what} is {value}, expected a number above 0")]
    Count {
        /// The quantity.
        what: &'static str,
        /// The number.
        value: i128,
    },
    /// An overlay of a negative size.
    #[error("an overlay of {bits} bits")]
    OverlayWidth {
        /// The requested size.
        bits: i128,
    },
    /// An index beyond all elements.
    #[error("index {index} is no element's")]
    Index {
        /// The index.
        index: i128,
    },
    /// A size or count is zero.
    #[error("{0} is 0")]
    Zero(&'static str),
    /// A mask with fewer bits than elements.
    #[error("a mask of {bits} bits selects among {count}")]
    MaskTooShort {
        /// Bits in the mask.
        bits: u64,
        /// The operand.
        count: u64,
    },
    /// The frame base is neither memory nor a register.
    #[error("the frame base is {0}, not memory")]
    FrameBase(&'static str),
    /// An operation that is not allowed in this expression.
    #[error("not allowed in {0}")]
    Banned(&'static str),
    /// A debugging information entry without required data.
    #[error("DIE {die}: {problem}")]
    Die {
        /// The entry.
        die: DieOffset,
        /// The problem.
        problem: &'static str,
    },
    /// An error of the context.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A failure in a nested expression.
    #[error("{}", within(what, error))]
    Inside {
        /// The role of that expression.
        what: &'static str,
        /// Its failure.
        error: Box<Error>,
    },
    /// An operation for something that the machine lacks.
    #[error("the machine has no {0}")]
    NotOnThisMachine(&'static str),
    /// Instructions break a rule of call frame information.
    #[error("{0}")]
    CallFrame(&'static str),
    /// No call frame information defines the requested item.
    #[error("no call frame information: {0}")]
    NoCallFrame(&'static str),
}

/// Returns the innermost of errors nested in the same role, such as recursive procedures, and their number.
#[must_use]
pub(super) fn innermost<'e>(what: &str, mut error: &'e Error) -> (usize, &'e Error) {
    let mut depth = 1;
    while let Cause::Inside { what: same, error: inner } = &error.cause
        && *same == what
    {
        (depth, error) = (depth + 1, inner);
    }
    (depth, error)
}

fn within(what: &str, error: &Error) -> String {
    match innermost(what, error) {
        (1, error) => format!("in {what}: {error}"),
        (depth, error) => format!("in {what}, {depth} inside one another: {error}"),
    }
}

impl Cause {
    /// Formats the cause with names of registers and address spaces from `names`.
    #[must_use]
    pub fn named(&self, names: &dyn Names) -> String {
        let register =
            |number: DwarfReg| names.register(number).unwrap_or_else(|| format!("register {number}"));
        match self {
            Self::RegisterNotCaptured(number) => format!("{} was not captured", register(*number)),
            Self::MemoryNotCaptured { space, address } => match names.space(*space) {
                Some(name) => format!("{name}+{address} was not captured"),
                None => self.to_string(),
            },
            Self::RegisterTooWide { register: number, size, address } => {
                format!("{} of {size} bits is wider than an address of {address} bits", register(*number))
            }
            Self::RuleSize { of, found, register: number, size } => {
                let of = of.map_or_else(|| "the rule's value".to_owned(), register);
                format!("{of} has {found} bits, {} has {size}", register(*number))
            }
            Self::Inside { what, error } => match innermost(what, error) {
                (1, error) => format!("in {what}: {}", error.named(names)),
                (depth, error) => format!("in {what}, {depth} inside one another: {}", error.named(names)),
            },
            Self::Context(ContextError::Failed(error)) => error.named(names),
            Self::ReadsUndefined(Some(origin)) => {
                format!("reads bits that are undefined ({})", origin.named(names))
            }
            cause => cause.to_string(),
        }
    }

    /// The innermost of nested causes.
    #[must_use]
    pub fn root(&self) -> &Self {
        match self {
            Self::Context(ContextError::Failed(error)) | Self::Inside { error, .. } => error.cause.root(),
            cause => cause,
        }
    }

    /// The origin, if the cause is a caller's register that a callee does not preserve.
    #[must_use]
    pub fn lost(&self) -> Option<&Origin> {
        match self.root() {
            Self::ReadsUndefined(Some(origin)) => {
                Some(origin).filter(|origin| matches!(origin.why, WhyUndefined::Lost { .. }))
            }
            _ => None,
        }
    }

    /// Returns the class of an error with this cause.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::UnknownOperation { .. } | Self::UnknownSubOperation { .. } => Class::Decode,
            Self::Truncated | Self::InstructionTruncated | Self::LebTooLong => Class::Decode,
            Self::NoLane | Self::RegisterNotCaptured(_) | Self::MemoryNotCaptured { .. } => {
                Class::Unavailable
            }
            Self::OpenSign => Class::Unavailable,
            Self::NotOnThisMachine(_) | Self::NoCallFrame(_) => Class::Unavailable,
            Self::Limit { .. } => Class::Limit,
            Self::Context(ContextError::NotCaptured(_)) => Class::Unavailable,
            Self::NoRegister { reason: ContextError::NotCaptured(_), .. } => Class::Unavailable,
            Self::Context(ContextError::Failed(error)) | Self::Inside { error, .. } => error.class(),
            _ => Class::IllFormed,
        }
    }
}
