//! Numbers of a type that may depend on an object: their attributes and values.

use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::error::Result;
use crate::debuginfo::types::dynamic::{DynamicAttribute, DynamicError, DynamicSource, NoDataError, Object};
use crate::debuginfo::types::{Indirect, Number};
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::sections::{AttributeValue, unsigned};

/// A part of an object, for dynamic attributes.
#[derive(Clone, Copy, Debug)]
pub(in crate::debuginfo) struct Asked<'a> {
    pub(in crate::debuginfo) object: Option<&'a dyn Object>,
    /// Bits from the start of the object to the part.
    pub(in crate::debuginfo) at: i64,
}

impl Asked<'_> {
    /// No object: dynamic numbers are unknown.
    pub(in crate::debuginfo) const NOBODY: Self = Self { object: None, at: 0 };

    pub(in crate::debuginfo) fn number(self, number: &Number) -> Result<i64, DynamicError> {
        match (number, self.object) {
            (Number::Constant(number), _) => Ok(*number),
            (Number::Dynamic(attribute), Some(object)) => object.number(attribute, self.at),
            (Number::Dynamic(attribute), None) => Err(DynamicError::NoObject(attribute.attribute)),
        }
    }
}

impl Indirect {
    /// The reason that the object of this type has no data; `None`: it has some.
    ///
    /// # Errors
    /// The object does not give the state.
    pub(crate) fn absence(&self, object: &dyn Object) -> Result<Option<NoDataError>, DynamicError> {
        self.absence_for(Asked { object: Some(object), at: 0 })
    }

    pub(in crate::debuginfo) fn absence_for(
        &self,
        asked: Asked<'_>,
    ) -> Result<Option<NoDataError>, DynamicError> {
        let states =
            [(&self.allocated, NoDataError::NotAllocated), (&self.associated, NoDataError::NotAssociated)];
        for (state, absence) in states {
            if let Some(state) = state
                && asked.number(state)? == 0
            {
                return Ok(Some(absence));
            }
        }
        Ok(None)
    }
}

impl Reading<'_> {
    /// An attribute that is a number: constant, expression, or the DIE of a variable; `None` if absent.
    pub(in crate::debuginfo) fn number(self, die: &Die<'_>, name: gimli::DwAt) -> Result<Option<Number>> {
        let Some(value) = die.entry.attr_value(name) else { return Ok(None) };
        if let Some(number) = signed(&value, die.entry.attr(name).map(|attribute| attribute.form())) {
            return Ok(Some(Number::Constant(number)));
        }
        Ok(self.dynamic(die, name)?.map(|dynamic| Number::Dynamic(Box::new(dynamic))))
    }

    /// An attribute that is an expression, a list of them, or the DIE of a variable; `None` if absent.
    pub(in crate::debuginfo) fn dynamic(
        self,
        die: &Die<'_>,
        name: gimli::DwAt,
    ) -> Result<Option<DynamicAttribute>> {
        let Some(value) = die.entry.attr_value(name) else { return Ok(None) };
        let source = match value {
            AttributeValue::UnitRef(_) | AttributeValue::DebugInfoRef(_) => {
                let Some(variable) = die.reference(self.units, name)? else { return Ok(None) };
                DynamicSource::Variable(variable)
            }
            // gimli recognizes lists only in attributes that it knows to have one.
            AttributeValue::SecOffset(offset) => {
                let list = AttributeValue::LocationListsRef(gimli::LocationListsOffset(offset));
                DynamicSource::Location(die.location_attribute(&self.info.sections, name, list)?)
            }
            value => DynamicSource::Location(die.location_attribute(&self.info.sections, name, value)?),
        };
        Ok(Some(DynamicAttribute {
            unit: die.view.facts().id,
            die: die.offset(),
            attribute: AttributeName::of(name, die.view.facts()),
            source,
            dimension: None,
            stored: None,
        }))
    }
}

/// A constant of any form. The fixed-size forms have no sign: all are unsigned, except a 32-bit bound of -1, which
/// compilers write for an array without elements.
fn signed(value: &AttributeValue<'_>, form: Option<gimli::DwForm>) -> Option<i64> {
    let unsigned = unsigned(value);
    match (unsigned, form) {
        (Some(0xffff_ffff), Some(gimli::DW_FORM_data4)) => Some(-1),
        (Some(number), _) => Some(number as i64),
        (None, _) => value.sdata_value(),
    }
}
