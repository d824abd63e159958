//! Types whose shape depends on an object: bounds of C arrays of variable length, Fortran descriptors, virtual bases.
//!
//! A type gives such a number or address as an expression or a variable's DIE. The type keeps that attribute; the
//! printer of a value evaluates it through [`Object`]. DWARF 5 sections 2.5.1.6, 2.19, 5.5, 5.7.6 and 5.18.

use std::fmt;

use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::contents::Contents;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::unit::location::LocationAttribute;
use crate::dwarf;
use crate::units::DieOffset;

/// An attribute that has a value only for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicAttribute {
    /// The unit for the evaluation of the expression.
    pub unit: UnitId,
    /// The DIE with the attribute.
    pub die: DieOffset,
    /// The attribute.
    pub attribute: AttributeName,
    /// The source of the value.
    pub source: DynamicSource,
    /// Initial stack entry: the dimension, from 0, for an attribute of a `DW_TAG_generic_subrange`.
    pub dimension: Option<u64>,
    /// `Some`: the expression gives the address of a number of that many bytes (`DW_AT_string_length`); `None`: it
    /// gives the number, or the attribute is an address.
    pub stored: Option<u64>,
}

impl DynamicAttribute {
    /// Whether the stack begins with the object's location, not only after `DW_OP_push_object_address`: members, base
    /// classes and virtual functions, DWARF 5 sections 5.7.3, 5.7.6 and 5.7.8.
    #[must_use]
    pub fn begins_with_object(&self) -> bool {
        self.attribute.is(gimli::DW_AT_data_member_location) || self.names_table_entry()
    }

    /// Whether the attribute locates an entry of a virtual function table: DWARF 5 section 5.7.8.
    fn names_table_entry(&self) -> bool {
        self.attribute.is(gimli::DW_AT_vtable_elem_location)
    }
}

/// The role of a dynamic attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DynamicSource {
    /// An expression, or a list of them by PC.
    Location(LocationAttribute),
    /// The value of a variable, by its DIE.
    Variable(DieOffset),
}

/// Bytes of an object with masks of missing bits; see [`Contents`].
#[derive(Clone, Debug, Default)]
pub struct OwnedContents {
    /// As in [`Contents`].
    pub bytes: Vec<u8>,
    /// As in [`Contents`].
    pub undefined: Vec<u8>,
    /// As in [`Contents`].
    pub unavailable: Vec<u8>,
}

impl OwnedContents {
    /// The contents in borrowed form.
    #[must_use]
    pub fn contents(&self) -> Contents<'_> {
        Contents { bytes: &self.bytes, undefined: &self.undefined, unavailable: &self.unavailable }
    }
}

/// The reason that a dynamic attribute of a type, or a part of an object, is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicError {
    /// The question has no object.
    #[error("{0} needs an object")]
    NoObject(AttributeName),
    /// The rank is negative or larger than any language has.
    #[error("DW_AT_rank is not 0 to {0}")]
    Rank(u64),
    /// The type is not an array.
    #[error("not an array")]
    NotAnArray,
    /// The debug information is unreadable.
    #[error(transparent)]
    Debug(#[from] DebugInfoError),
    /// The object's bytes, or an expression that they need, are unavailable.
    #[error(transparent)]
    Expression(#[from] dwarf::Error),
    /// The attribute has no expression at the frame's PC.
    #[error("{0} is empty at this PC")]
    NotAtPc(AttributeName),
    /// The attribute's expression fails.
    #[error("{attribute}: {error}")]
    Attribute {
        /// The attribute.
        attribute: AttributeName,
        /// The reason.
        error: dwarf::Error,
    },
    /// The attribute names a variable in place of an expression.
    #[error("{0} names a variable, expected a place")]
    NotAPlace(AttributeName),
    /// The attribute names a variable that was optimized out.
    #[error("{0} is the value of a variable that was optimized out")]
    NoVariable(AttributeName),
    /// The attribute names a variable whose value is unknown.
    #[error("{attribute} is the value of a variable without a value: {cause}")]
    Variable {
        /// The attribute.
        attribute: AttributeName,
        /// The reason.
        cause: NumberError,
    },
    /// The attribute leads to a number that is unknown.
    #[error("{attribute}: {cause}")]
    Number {
        /// The attribute.
        attribute: AttributeName,
        /// The reason.
        cause: NumberError,
    },
    /// A part begins before the storage of the object.
    #[error("a part of the object lies before its storage")]
    BeforeStorage,
    /// A part begins after the storage of the object.
    #[error("a part of the object lies past its storage")]
    PastStorage,
    /// A chain of objects is too long.
    #[error("objects that lead to objects do not end after {0} steps")]
    TooDeep(usize),
}

/// The reason that a Fortran variable has no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDataError {
    /// The variable is not allocated.
    #[error("not allocated")]
    NotAllocated,
    /// The pointer has no target.
    #[error("not associated")]
    NotAssociated,
}

/// The reason that a stored number is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The number has no bytes, or more than 8.
    #[error("a number of {0} bytes, expected 1 to 8")]
    Size(u64),
    /// Its location or bytes are unavailable.
    #[error(transparent)]
    Expression(#[from] dwarf::Error),
    /// The number is optimised out.
    #[error("it was optimized out")]
    OptimizedOut,
    /// The capture lacks it.
    #[error("it was not captured")]
    NotCaptured,
}

/// An object in a program's state, which evaluates the dynamic attributes of its type.
pub trait Object: fmt::Debug {
    /// The number of an attribute for the part `at` bits into the object.
    ///
    /// # Errors
    /// The reason that it is unknown.
    fn number(&self, attribute: &DynamicAttribute, at: i64) -> Result<i64, DynamicError>;

    /// The object at the address that an attribute gives.
    ///
    /// # Errors
    /// The reason that it is unknown.
    fn part(&self, attribute: &DynamicAttribute, at: i64) -> Result<Box<dyn Object + '_>, DynamicError>;

    /// `size` bytes of the object, from `skip` bytes after its first on; `skip` may be negative for strides.
    ///
    /// # Errors
    /// The reason that there are none; missing bytes in the capture are not an error.
    fn fetch(&self, skip: i64, size: u64) -> Result<OwnedContents, DynamicError>;
}
