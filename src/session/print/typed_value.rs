//! Typed values, for comparisons: numbers, addresses and aggregates, without text.

use std::sync::Arc;

use crate::debuginfo::Enumerator;
use crate::session::{Inferred, LaneState, ValueState};
use crate::units::{AddressSpace, LaneId, LaneSet};

/// Maximum number of values of one lane: members and elements of aggregates.
pub const MAX_TYPED_VALUES: usize = 4096;
/// Maximum number of bytes of the text that a pointer leads to.
pub const MAX_TYPED_TEXT: usize = 4096;

/// A path to read as typed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedQuery {
    /// The path.
    pub path: String,
    /// The lanes.
    pub lanes: LaneSet,
    /// Whether texts at pointers are wanted.
    pub wants_text: bool,
}

/// The typed values of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedValues {
    /// One for each requested lane of the wave, lowest lane first.
    pub lanes: Vec<TypedLane>,
}

/// The typed value of a path in one lane.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedLane {
    /// The lane.
    pub lane: LaneId,
    /// The lane's state in the frame; `None` if unknown.
    pub state: Option<LaneState>,
    /// The value.
    pub value: TypedValue,
    /// The inferences behind it.
    pub inferred: Inferred,
}

/// A value with the facts of its type that a comparison needs.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedValue {
    /// An integer.
    Integer {
        /// The number.
        value: i128,
        /// Whether its type is a character type.
        is_character: bool,
    },
    /// A truth value: 0, 1, or another number that the memory holds.
    Truth(u64),
    /// A floating-point number.
    Float {
        /// The number; every format is a subset of `double`.
        value: f64,
        /// Its format.
        format: FloatFormat,
    },
    /// A value of an enumeration.
    Enumerator(EnumValue),
    /// A pointer.
    Pointer(PointerValue),
    /// An array or vector.
    Array {
        /// Its first elements.
        elements: Vec<TypedValue>,
        /// The number of all elements.
        count: u64,
        /// Whether the elements are characters of one byte.
        is_text: bool,
        /// The address, if the array is in memory.
        address: Option<TypedAddress>,
    },
    /// A struct, class or union.
    Record {
        /// Base classes and members, without generated ones.
        fields: Vec<TypedField>,
    },
    /// A text of a language with a type for texts: Fortran's `CHARACTER`.
    Text(Vec<u8>),
    /// There is no value, or none that is known.
    Missing(ValueState),
    /// A type without comparisons.
    Other {
        /// Its name.
        type_name: String,
    },
}

/// A format of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFormat {
    /// 16 bits of IEEE 754.
    Half,
    /// `bfloat16`.
    BFloat,
    /// `float`
    Single,
    /// `double`
    Double,
}

/// A value of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumValue {
    /// The number.
    pub value: i128,
    /// The enumerators.
    pub enumerators: Arc<[Enumerator]>,
    /// The qualifier of their names, without `::`.
    pub scope: Option<Arc<str>>,
    /// The enumeration's name with its scopes, which C++ also takes as a qualifier; `None`: it has none.
    pub enumeration: Option<Arc<str>>,
}

/// An address with its space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedAddress {
    /// The space.
    pub space: AddressSpace,
    /// Its name; `None`: plain addresses.
    pub space_name: Option<String>,
    /// The address in it.
    pub address: u64,
    /// The same place in the space behind an aperture, or itself: comparable between spaces.
    pub place: (AddressSpace, u64),
}

/// A pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct PointerValue {
    /// The address.
    pub to: TypedAddress,
    /// Whether it is the null pointer of its space.
    pub is_null: bool,
    /// The bytes up to the first 0 or the limit, if the query wants them; or the reason for their absence.
    pub text: Option<Result<Vec<u8>, ValueState>>,
}

/// A member or base class.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedField {
    /// The name; `None` for an unnamed struct or union.
    pub name: Option<Arc<str>>,
    /// Whether it is a base class.
    pub is_base: bool,
    /// The value.
    pub value: TypedValue,
}

impl EnumValue {
    /// The number of an enumerator by its name, qualified or not.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<i128> {
        let own = name.rsplit("::").next().unwrap_or(name);
        let qualifier = name.strip_suffix(own).unwrap_or_default().trim_end_matches("::");
        let fits = qualifier.is_empty()
            || [&self.scope, &self.enumeration].into_iter().flatten().any(|scope| {
                scope.strip_suffix(qualifier).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
            });
        let found = self.enumerators.iter().find(|enumerator| *enumerator.name == *own);
        found.filter(|_| fits).map(|enumerator| enumerator.value)
    }

    /// Whether two values are of one enumeration, also of its copies in several units.
    #[must_use]
    pub fn is_of(&self, other: &Self) -> bool {
        self.enumeration == other.enumeration
            && self.scope == other.scope
            && (self.enumeration.is_some() || self.enumerators == other.enumerators)
    }

    /// The qualified name of the value; `None`: no enumerator has it.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        let found = self.enumerators.iter().find(|enumerator| enumerator.value == self.value)?;
        Some(match &self.scope {
            Some(scope) => format!("{scope}::{}", found.name),
            None => found.name.to_string(),
        })
    }
}

impl TypedValue {
    /// Whether every part has a value.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.missing().is_none()
    }

    /// The state of the first part without a value.
    #[must_use]
    pub fn missing(&self) -> Option<&ValueState> {
        match self {
            Self::Missing(state) => Some(state),
            Self::Array { elements, .. } => elements.iter().find_map(Self::missing),
            Self::Record { fields } => fields.iter().find_map(|field| field.value.missing()),
            _ => None,
        }
    }

    /// Whether each part has no value, for a reason; `false` without parts.
    #[must_use]
    pub fn is_all(&self, of: &impl Fn(&ValueState) -> bool) -> bool {
        match self {
            Self::Missing(state) => of(state),
            Self::Array { elements, .. } => {
                !elements.is_empty() && elements.iter().all(|element| element.is_all(of))
            }
            Self::Record { fields } => {
                !fields.is_empty() && fields.iter().all(|field| field.value.is_all(of))
            }
            _ => false,
        }
    }
}
