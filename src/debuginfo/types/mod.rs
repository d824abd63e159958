//! The model of source types. DWARF 5 chapter 5.
//!
//! A type refers to others by [`TypeId`], which keeps recursive types (a list node) finite.
//! [`type_of`](super::DebugInfo::type_of) reads one type into a cache. `void` has no DIE: it is `None` wherever a type
//! is optional.

pub(super) mod alignment;
pub(super) mod array;
pub(super) mod asked;
pub(super) mod base;
pub(super) mod children;
pub(super) mod dynamic;
pub(super) mod name;
pub(super) mod read;
pub(super) mod record;

use std::ops::RangeInclusive;
use std::sync::Arc;

use gimli::DwAte;

use super::error::DebugInfoError;
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::types::dynamic::{DynamicAttribute, DynamicSource};
use crate::debuginfo::unit::location::LocationAttribute;
use crate::units::{AddressSpace, DieOffset};

/// A type, by its DIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub DieOffset);

/// One type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Its DIE.
    pub id: TypeId,
    /// Its unit, whose language determines its spelling.
    pub unit: UnitId,
    /// `DW_AT_name` with namespaces and classes; `None` for unnamed types (pointers, arrays, unnamed structs).
    pub name: Option<Arc<str>>,
    /// Size in bytes from the DIE; [`DebugInfo::byte_size`](super::DebugInfo::byte_size) computes others.
    pub byte_size: Option<u64>,
    /// `DW_AT_alignment` in bytes: the source's `alignas`.
    pub alignment: Option<u64>,
    /// Whether it only declares a type that is defined elsewhere.
    pub is_declaration: bool,
    /// The indirection between an object and its data; `None` for almost all types.
    pub indirect: Option<Box<Indirect>>,
    /// `DW_AT_LLVM_memory_space`, `DW_AT_memory_space` of the drafts: the storage of the source language. It determines
    /// no address; only the listing of types prints it.
    pub memory_space: Option<MemorySpace>,
    /// The kind.
    pub kind: TypeKind,
}

impl Type {
    /// The unreadable parts.
    pub(super) fn problems(&self) -> Vec<DebugInfoError> {
        let TypeKind::Record(record) = &self.kind else { return Vec::new() };
        let broken = record.members.iter().filter_map(Member::problem);
        record.problems.iter().chain(broken).cloned().collect()
    }
}

impl Member {
    /// The error of the member's place, if that is unreadable.
    #[must_use]
    pub fn problem(&self) -> Option<&DebugInfoError> {
        match &self.place.as_ref()?.source {
            DynamicSource::Location(LocationAttribute::Broken(why)) => Some(why),
            _ => None,
        }
    }
}

/// A `DW_MSPACE` code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemorySpace(pub u64);

/// Type kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// A number, character or truth value.
    Base(Base),
    /// A pointer.
    Pointer {
        /// The type of the target; `None` is `void`.
        to: Option<TypeId>,
        /// The DWARF address space of the target: `DW_AT_LLVM_address_space` or the drafts' `DW_AT_address_space`. Else
        /// `DW_AT_address_class`, to which compilers write the same numbers; 0 if the DIE has none. Units with
        /// augmentation `[amd:v0.0]` use the older table of classes, in which an absent attribute means generic.
        address_space: AddressSpace,
    },
    /// A C++ reference.
    Reference {
        /// The type of the object that it refers to.
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
        /// `DW_AT_use_location`: the computation of the member's address from the pointer and an object (DWARF 5
        /// section 5.14); `None`: the C++ ABI's rule.
        use_location: Option<Box<DynamicAttribute>>,
    },
    /// An array, or a vector such as `float4`.
    Array {
        /// The element type.
        element: Option<TypeId>,
        /// Its dimensions, outermost first; never empty.
        dimensions: Vec<Dimension>,
        /// Whether it is a vector (`DW_AT_GNU_vector`).
        is_vector: bool,
        /// Bits from an element to the next of the innermost dimension; `None`: the element's size.
        stride: Option<Number>,
        /// The attribute of the number of dimensions, if that depends on the object; `dimensions` then has one for all.
        rank: Option<DynamicAttribute>,
    },
    /// A built-in string: Fortran's `CHARACTER`.
    String {
        /// Its length in characters; `None`: [`Type::byte_size`] gives it.
        length: Option<Number>,
        /// Bytes of a character.
        width: u8,
    },
    /// A struct, class or union.
    Record(Record),
    /// An enumeration.
    Enum {
        /// Whether its enumerators need its name (`enum class`).
        is_class: bool,
        /// The qualifier of an enumerator's name, before `::`: the enumeration for `enum class`, else the namespace
        /// or class around it; `None` if there is none.
        scope: Option<Arc<str>>,
        /// Its enumerators, in order.
        enumerators: Vec<Enumerator>,
        /// The underlying integer type.
        underlying: Option<TypeId>,
    },
    /// An alias of a type.
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
        /// The return type; `None` is `void`.
        returns: Option<TypeId>,
        /// Its parameters.
        parameters: Vec<Option<TypeId>>,
        /// The index of a member function's `this`.
        this: Option<usize>,
        /// Whether it is variadic (`...`).
        is_variadic: bool,
        /// Whether its declaration has its parameters; always true in C++.
        is_prototyped: bool,
        /// The address space of its code, by the attributes of a pointer; `None` if the DIE has none.
        address_space: Option<AddressSpace>,
    },
    /// A type without a representation: `decltype(nullptr)`.
    Unspecified,
    /// A type without a notation (a Pascal set, a file); values are printed as bytes.
    Opaque {
        /// Its `DW_TAG` code.
        tag: u16,
    },
}

/// A number of a type: known when compiled, or dependent on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// Known.
    Constant(i64),
    /// Dependent on an object.
    Dynamic(Box<DynamicAttribute>),
}

/// Location and presence of an object's data if they are separate from the object: DWARF 5 section 5.18.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indirect {
    /// `DW_AT_data_location`.
    pub data_location: Option<DynamicAttribute>,
    /// `DW_AT_allocated`: 0 is "not allocated".
    pub allocated: Option<Number>,
    /// `DW_AT_associated`: 0 is "not associated".
    pub associated: Option<Number>,
}

/// A base type's interpretation. DWARF 5 section 5.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// `DW_AT_encoding`.
    pub encoding: Encoding,
    /// `DW_AT_bit_size` if it differs from the byte size: `_BitInt(7)`.
    pub bit_size: Option<u64>,
    /// `DW_AT_LLVM_vector_size`, `DW_AT_vector_size` of the drafts: elements of a base type; `byte_size` is of all.
    pub vector_size: Option<u64>,
    /// The scale factor of a fixed-point number; `None`: 1.
    pub scale: Option<Scale>,
}

/// The scale factor of a fixed-point type. DWARF 5 section 5.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// `DW_AT_binary_scale`: this power of 2.
    Binary(i64),
    /// `DW_AT_decimal_scale`: this power of 10.
    Decimal(i64),
    /// `DW_AT_small`: a fraction in GNU's attributes (`DW_AT_GNU_numerator`, `DW_AT_GNU_denominator`).
    Fraction {
        /// Its numerator.
        numerator: u64,
        /// Its denominator, not 0.
        denominator: u64,
    },
}

/// A `DW_ATE` code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding(pub(super) DwAte);

/// The kinds of C's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberSort {
    /// A signed integer.
    Signed,
    /// An unsigned integer or character.
    Unsigned,
    /// A signed character.
    Character,
    /// A truth value.
    Boolean,
    /// A floating-point number.
    Float,
}

impl Encoding {
    /// The number of the code.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0.0
    }

    /// The kind of C's numbers; `None` for other encodings.
    #[must_use]
    pub fn number_sort(self) -> Option<NumberSort> {
        Some(match self.0 {
            gimli::DW_ATE_boolean => NumberSort::Boolean,
            gimli::DW_ATE_float => NumberSort::Float,
            gimli::DW_ATE_signed => NumberSort::Signed,
            gimli::DW_ATE_signed_char => NumberSort::Character,
            gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => NumberSort::Unsigned,
            _ => return None,
        })
    }

    /// Whether values print as plain numbers: integers, characters and addresses.
    #[must_use]
    pub fn is_integer(self) -> bool {
        let is_other = matches!(self.0, gimli::DW_ATE_address | gimli::DW_ATE_UCS | gimli::DW_ATE_ASCII);
        is_other || self.is_signed() || self.number_sort() == Some(NumberSort::Unsigned)
    }

    /// Whether values are characters of texts: `char`, `unsigned char`, `char8_t`.
    #[must_use]
    pub fn is_character(self) -> bool {
        matches!(self.0, gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF)
    }

    /// Whether numbers of the encoding can be negative.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self.0, gimli::DW_ATE_signed | gimli::DW_ATE_signed_char)
    }
}

/// One dimension of an array. DWARF 5 sections 5.5 and 5.13.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The first index: explicit, or the language's default.
    pub lower: Number,
    /// Its length.
    pub extent: Extent,
    /// Bits from an element to the next; `None`: the size of the inner dimensions.
    pub stride: Option<Number>,
}

/// The length of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Absent: `int []`.
    Unknown,
    /// A number of elements.
    Count(Number),
    /// The last index.
    Upper(Number),
}

impl Dimension {
    /// The number of elements, if known without an object; `None` also if absent.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        match (&self.extent, &self.lower) {
            (Extent::Count(Number::Constant(count)), _) => Some(*count as u64),
            (Extent::Upper(Number::Constant(upper)), Number::Constant(lower)) => {
                Some(between(*lower, *upper))
            }
            _ => None,
        }
    }

    /// Whether the number of elements depends on an object.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        !matches!(self.extent, Extent::Unknown) && self.count().is_none()
    }
}

/// The number of elements from a first to a last index; 0 if the last is before the first.
pub(super) fn between(lower: i64, upper: i64) -> u64 {
    let count = i128::from(upper) - i128::from(lower) + 1;
    u64::try_from(count.max(0)).unwrap_or(u64::MAX)
}

/// Keywords of records; they differ in spelling, except for overlapping members.
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
    /// The keyword of its declaration.
    pub kind: RecordKind,
    /// Base classes and members with storage in every object, in DIE order, bases first; without static members.
    pub members: Vec<Member>,
    /// Its member functions in DIE order, without those of its bases.
    pub functions: Vec<MemberFunction>,
    /// Overlapping parts, of which a discriminant selects one: Rust's enums, Ada's variants.
    pub variants: Vec<VariantPart>,
    /// The reasons of missing members and functions. A member with an unreadable place or type is present, at a
    /// [`LocationAttribute::Broken`] place.
    pub problems: Vec<DebugInfoError>,
}

/// A member function. DWARF 5 section 5.7.8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberFunction {
    /// Its declaration, which has its type: [`TypeKind::Subroutine`].
    pub die: DieOffset,
    /// Name, without the class's.
    pub name: Option<Arc<str>>,
    /// The symbol.
    pub linkage_name: Option<Arc<str>>,
    /// Whether it is called through a table.
    pub is_virtual: bool,
    /// `DW_AT_vtable_elem_location` as a plain number, like in all compilers: the index in the table.
    pub slot: Option<u64>,
    /// `DW_AT_vtable_elem_location` in other forms: the place of the table's entry, for an object of the class.
    pub element: Option<Box<DynamicAttribute>>,
}

/// A `DW_TAG_variant_part`. DWARF 5 section 5.7.10.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantPart {
    /// The discriminant.
    pub discriminant: Option<Box<Member>>,
    /// The variants, in order.
    pub variants: Vec<Variant>,
}

/// A `DW_TAG_variant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The discriminants that select it: `DW_AT_discr_value` or `DW_AT_discr_list`. The default has none.
    pub values: Vec<RangeInclusive<i64>>,
    /// Its members.
    pub members: Vec<Member>,
}

impl VariantPart {
    /// The variant of a discriminant, else the default variant.
    #[must_use]
    pub fn chosen(&self, discriminant: i64) -> Option<&Variant> {
        let named = |variant: &&Variant| variant.values.iter().any(|values| values.contains(&discriminant));
        let default = || self.variants.iter().find(|variant| variant.values.is_empty());
        self.variants.iter().find(named).or_else(default)
    }
}

/// A base class or a member of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name; `None` for an unnamed struct or union.
    pub name: Option<Arc<str>>,
    /// Type.
    pub type_id: Option<TypeId>,
    /// Bits from the object's first bit to the member's, least significant first.
    pub bit_offset: u64,
    /// Width of a bit field; `None` for whole members.
    pub bit_size: Option<u64>,
    /// `DW_AT_alignment` in bytes: the source's `alignas`.
    pub alignment: Option<u64>,
    /// Whether it is a base class.
    pub is_base: bool,
    /// The place of a virtual base, which only an object determines; the base of `bit_offset`.
    pub place: Option<Box<DynamicAttribute>>,
    /// Whether it is a virtual base class, which may be absent.
    pub is_virtual: bool,
    /// Whether the compiler generated it: a table of virtual functions.
    pub is_artificial: bool,
}

/// A named value of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerator {
    /// Name, without the enumeration's.
    pub name: Arc<str>,
    /// Value, including unsigned ones above `i64::MAX`.
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
    /// A qualifier without effect on values and without C++ spelling (`shared`, `packed`, `immutable`).
    Silent,
}
