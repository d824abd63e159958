//! The model of source types. DWARF 5 chapter 5.
//!
//! A type names other types by [`TypeId`], so that recursive types (a list node) are finite; [`type_of`](super::DebugInfo::type_of) reads
//! one type and keeps it. What `void` is has no DIE: it is `None` wherever a type is optional.

use std::sync::Arc;

use super::unit::UnitId;
use crate::units::{AddressSpace, DieOffset};

/// A type, by its DIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub DieOffset);

/// One type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Its DIE.
    pub id: TypeId,
    /// The unit it stands in, whose language spells it.
    pub unit: UnitId,
    /// `DW_AT_name` with namespaces and classes; `None` for types without one (pointers, arrays, unnamed structs).
    pub name: Option<Arc<str>>,
    /// Size in bytes where the DIE says it; see [`DebugInfo::byte_size`](super::DebugInfo::byte_size) for all others.
    pub byte_size: Option<u64>,
    /// Whether this only declares a type that is defined elsewhere.
    pub is_declaration: bool,
    /// `DW_AT_LLVM_memory_space`, `DW_AT_memory_space` of the drafts. It is the source language's storage, of which no
    /// address follows: nothing but a listing of types depends on it.
    pub memory_space: Option<MemorySpace>,
    /// What it is.
    pub kind: TypeKind,
}

/// A `DW_MSPACE` code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemorySpace(pub u64);

/// What a type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// A number, character or truth value.
    Base(Base),
    /// A pointer.
    Pointer {
        /// What it points to; `None` is `void`.
        to: Option<TypeId>,
        /// The DWARF address space of what it points to: `DW_AT_LLVM_address_space` or the drafts'
        /// `DW_AT_address_space`, else `DW_AT_address_class`, which
        /// compilers fill with the same numbers; 0 where the DIE says nothing. In units with augmentation `[amd:v0.0]`
        /// the older table of classes holds, where nothing means generic.
        address_space: AddressSpace,
    },
    /// A C++ reference.
    Reference {
        /// What it refers to.
        to: Option<TypeId>,
        /// Whether it is `&&`.
        is_rvalue: bool,
        /// As for a pointer.
        address_space: AddressSpace,
    },
    /// A pointer to a member of a class.
    PointerToMember {
        /// The member's type.
        to: Option<TypeId>,
        /// The class.
        class: Option<TypeId>,
    },
    /// An array, or a vector such as `float4`.
    Array {
        /// What it holds.
        element: Option<TypeId>,
        /// Its dimensions, outermost first; never empty.
        dimensions: Vec<Dimension>,
        /// Whether it is a vector (`DW_AT_GNU_vector`).
        is_vector: bool,
    },
    /// A struct, class or union.
    Record(Record),
    /// An enumeration.
    Enum {
        /// Whether its enumerators are named through it (`enum class`).
        is_class: bool,
        /// What stands before `::` and an enumerator's name: the enumeration for `enum class`, else the namespace or
        /// class around it; `None` when there is none.
        scope: Option<Arc<str>>,
        /// Its enumerators, in order.
        enumerators: Vec<Enumerator>,
        /// The integer type behind it.
        underlying: Option<TypeId>,
    },
    /// Another name for a type.
    Typedef {
        /// The type; `None` is `void`.
        of: Option<TypeId>,
    },
    /// A type with a qualifier.
    Qualified {
        /// The qualifier.
        qualifier: Qualifier,
        /// The type; `None` is `void`.
        of: Option<TypeId>,
    },
    /// A function.
    Subroutine {
        /// What it returns; `None` is `void`.
        returns: Option<TypeId>,
        /// Its parameters.
        parameters: Vec<Option<TypeId>>,
        /// Whether more may follow (`...`).
        is_variadic: bool,
        /// Whether it was declared with its parameters; always so in C++.
        is_prototyped: bool,
    },
    /// A type without a representation: `decltype(nullptr)`.
    Unspecified,
}

/// A base type's interpretation. DWARF 5 section 5.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// `DW_AT_encoding`.
    pub encoding: Encoding,
    /// `DW_AT_bit_size` where it differs from the byte size: `_BitInt(7)`.
    pub bit_size: Option<u64>,
    /// `DW_AT_LLVM_vector_size`, `DW_AT_vector_size` of the drafts: elements of a vector base type; `byte_size` counts all of them.
    pub vector_size: Option<u64>,
}

/// A `DW_ATE` code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding(pub u8);

impl Encoding {
    /// `DW_ATE_boolean`.
    pub const BOOLEAN: Self = Self(0x02);
    /// `DW_ATE_complex_float`.
    pub const COMPLEX_FLOAT: Self = Self(0x03);
    /// `DW_ATE_float`.
    pub const FLOAT: Self = Self(0x04);
    /// `DW_ATE_signed`.
    pub const SIGNED: Self = Self(0x05);
    /// `DW_ATE_signed_char`.
    pub const SIGNED_CHAR: Self = Self(0x06);
    /// `DW_ATE_unsigned`.
    pub const UNSIGNED: Self = Self(0x07);
    /// `DW_ATE_unsigned_char`.
    pub const UNSIGNED_CHAR: Self = Self(0x08);
    /// `DW_ATE_UTF`: `char8_t`, `char16_t`, `char32_t`.
    pub const UTF: Self = Self(0x10);

    /// Whether numbers of the encoding can be negative.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, Self::SIGNED | Self::SIGNED_CHAR)
    }
}

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// How many elements; `None` when not known (`int []`, or a length computed at run time).
    pub count: Option<u64>,
}

/// Struct, class or union: a matter of spelling but for overlapping members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// `struct`.
    Struct,
    /// `class`.
    Class,
    /// `union`.
    Union,
}

/// A struct, class or union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How it was declared.
    pub kind: RecordKind,
    /// Base classes and members with storage in every object, in DIE order, bases first; static members are left out.
    pub members: Vec<Member>,
}

/// A base class or a member of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name; `None` for an unnamed struct or union.
    pub name: Option<Arc<str>>,
    /// Type.
    pub type_id: Option<TypeId>,
    /// Bits from the object's first bit, least significant first, to the member's.
    pub bit_offset: u64,
    /// Width of a bit field; `None` for whole members.
    pub bit_size: Option<u64>,
    /// Whether it is a base class.
    pub is_base: bool,
    /// Whether the offset is not known when compiled (a virtual base): the member cannot be shown.
    pub is_dynamic: bool,
    /// Whether no source text wrote it: a table of virtual functions.
    pub is_artificial: bool,
}

/// A named value of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerator {
    /// Name, without the enumeration's.
    pub name: Arc<str>,
    /// Value; an unsigned one above `i64::MAX` is kept whole.
    pub value: i128,
}

/// A qualifier of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// `const`.
    Const,
    /// `volatile`.
    Volatile,
    /// `restrict`.
    Restrict,
    /// `_Atomic`.
    Atomic,
    /// A qualifier that changes no value and that C++ does not spell (`shared`, `packed`, `immutable`).
    Silent,
}
