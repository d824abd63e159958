//! Numbers of a type that may depend on an object: their attributes, and the question for their values.

use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::error::Result;
use crate::debuginfo::types::Number;
use crate::debuginfo::types::dynamic::{DynamicAttribute, DynamicError, DynamicSource, Object};
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::sections::{AttributeValue, unsigned};

/// A part of an object, for asking.
#[derive(Clone, Copy, Debug)]
pub(in crate::debuginfo) struct Asked<'a> {
    pub(in crate::debuginfo) object: Option<&'a dyn Object>,
    /// Bits from the object's first to the part's.
    pub(in crate::debuginfo) at: i64,
}

impl Asked<'_> {
    /// Nobody to ask: what is dynamic is not known.
    pub(in crate::debuginfo) const NOBODY: Self = Self { object: None, at: 0 };

    pub(in crate::debuginfo) fn number(self, number: &Number) -> Result<i64, DynamicError> {
        match (number, self.object) {
            (Number::Constant(number), _) => Ok(*number),
            (Number::Dynamic(attribute), Some(object)) => object.number(attribute, self.at),
            (Number::Dynamic(attribute), None) => Err(DynamicError::NoObject(attribute.attribute)),
        }
    }
}

impl Reading<'_> {
    /// An attribute that is a number: constant, expression, or the DIE of a variable. `None` when it is absent.
    pub(in crate::debuginfo) fn number(self, die: &Die<'_>, name: gimli::DwAt) -> Result<Option<Number>> {
        let Some(value) = die.entry.attr_value(name) else { return Ok(None) };
        if let Some(number) = signed(&value, die.entry.attr(name).map(|attribute| attribute.form())) {
            return Ok(Some(Number::Constant(number)));
        }
        Ok(self.dynamic(die, name)?.map(|dynamic| Number::Dynamic(Box::new(dynamic))))
    }

    /// An attribute that is an expression, a list of them, or the DIE of a variable. `None` when it is absent.
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
            // gimli calls a list a list for the attributes that it knows to have one.
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

/// A constant of any form. The fixed-size forms have no sign: all are unsigned except the bound of -1 that compilers
/// write in 32 bits, which makes an array without elements.
fn signed(value: &AttributeValue<'_>, form: Option<gimli::DwForm>) -> Option<i64> {
    let unsigned = unsigned(value);
    match (unsigned, form) {
        (Some(0xffff_ffff), Some(gimli::DW_FORM_data4)) => Some(-1),
        (Some(number), _) => Some(number as i64),
        (None, _) => value.sdata_value(),
    }
}
