//! Values in the notation of the file.

use std::fmt::Write as _;

use super::plan::Plan;
use crate::session::ValueState;
use crate::session::print::{FloatFormat, MAX_TYPED_TEXT, PointerValue, TypedField, TypedValue};

/// Maximum number of elements of an array that are written.
const MAX_WRITTEN: usize = 64;

/// The form of aggregates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// Characters in a row are a text.
    pub(super) has_texts: bool,
    /// Members are written with their names.
    pub(super) has_members: bool,
}

impl Style {
    /// The form of a right side.
    pub(super) fn of(plan: &Plan) -> Self {
        Self { has_texts: !matches!(plan, Plan::List { .. }), has_members: plan.has_members() }
    }
}

/// A value as a right side that it satisfies; `None`: there is none.
pub(super) fn written(value: &TypedValue, style: Style) -> Option<String> {
    Some(match value {
        TypedValue::Integer { value, is_character: true } if (0x20..0x7f).contains(value) => {
            match *value as u8 {
                letter @ (b'\'' | b'\\') => format!("'\\{}'", char::from(letter)),
                letter => format!("'{}'", char::from(letter)),
            }
        }
        TypedValue::Integer { value, .. } => integer(*value)?,
        TypedValue::Truth(0) => "false".to_owned(),
        TypedValue::Truth(1) => "true".to_owned(),
        TypedValue::Truth(other) => other.to_string(),
        TypedValue::Float { value, format } => float(*value, *format)?,
        TypedValue::Enumerator(of) => match of.name() {
            Some(name) => name,
            None => integer(of.value)?,
        },
        TypedValue::Pointer(pointer) if pointer.is_null => "nullptr".to_owned(),
        // The query has texts if the line compares one.
        TypedValue::Pointer(PointerValue { text: Some(Ok(text)), .. }) if text.len() < MAX_TYPED_TEXT => {
            quoted(text)
        }
        TypedValue::Pointer(pointer) => address(pointer),
        TypedValue::Array { elements, is_text: true, .. } if style.has_texts && is_readable(elements) => {
            quoted(&text(elements)?)
        }
        TypedValue::Array { elements, count, .. } => {
            let parts: Option<Vec<String>> =
                elements.iter().take(MAX_WRITTEN).map(|element| written(element, style)).collect();
            let mut parts = parts?;
            if (parts.len() as u64) < *count {
                parts.push("...".to_owned());
            }
            format!("{{{}}}", parts.join(", "))
        }
        TypedValue::Record { fields } => {
            let is_named =
                style.has_members && fields.iter().all(|field| field.name.is_some() && !field.is_base);
            let part = |field: &crate::session::print::TypedField| {
                let value = written(&field.value, style)?;
                Some(match field.name.as_deref().filter(|_| is_named) {
                    Some(name) => format!(".{name} = {value}"),
                    None => value,
                })
            };
            let parts: Option<Vec<String>> = fields.iter().map(part).collect();
            format!("{{{}}}", parts?.join(", "))
        }
        TypedValue::Text(bytes) => quoted(super::trimmed(bytes)),
        TypedValue::Missing(_) | TypedValue::Other { .. } => return None,
    })
}

fn address(pointer: &PointerValue) -> String {
    match &pointer.to.space_name {
        Some(space) => format!("{space}#{:#x}", pointer.to.address),
        None => format!("{:#x}", pointer.to.address),
    }
}

/// A value, or the reason for its absence, for people.
pub(in crate::check) fn shown(value: &TypedValue) -> String {
    const STYLE: Style = Style { has_texts: true, has_members: true };
    match value {
        TypedValue::Missing(state) => state_name(state).to_owned(),
        TypedValue::Float { value, .. } if value.is_nan() => "nan".to_owned(),
        TypedValue::Other { type_name } => format!("a value of type `{type_name}`"),
        TypedValue::Pointer(pointer @ PointerValue { text: Some(Ok(text)), .. }) => {
            format!("{} {}", address(pointer), quoted(text))
        }
        known => match (written(known, STYLE), known) {
            (Some(text), _) => text,
            (None, TypedValue::Array { elements, count, .. }) => {
                let mut parts: Vec<String> = elements.iter().take(MAX_WRITTEN).map(shown).collect();
                if (parts.len() as u64) < *count {
                    parts.push("...".to_owned());
                }
                format!("{{{}}}", parts.join(", "))
            }
            (None, TypedValue::Record { fields }) => {
                let part = |field: &TypedField| match field.name.as_deref().filter(|_| !field.is_base) {
                    Some(name) => format!(".{name} = {}", shown(&field.value)),
                    None => shown(&field.value),
                };
                format!("{{{}}}", fields.iter().map(part).collect::<Vec<_>>().join(", "))
            }
            // Paths have no integers of that size.
            (None, known) => {
                super::number::integer(known).map_or_else(String::new, |number| number.to_string())
            }
        },
    }
}

/// The name of a missing value's state.
fn state_name(state: &ValueState) -> &'static str {
    match state {
        ValueState::Unavailable(_) => "unavailable",
        ValueState::OptimizedOut(_) => "optimized out",
        ValueState::Error(_) => "error",
        ValueState::Value(_) => "available",
    }
}

/// An integer as a path; `None`: paths have no integers of that size.
pub(super) fn integer(value: i128) -> Option<String> {
    (value.unsigned_abs() <= u64::MAX.into()).then(|| value.to_string())
}

/// The shortest digits that round to a number; `None` for a NaN, which equals nothing.
fn float(value: f64, format: FloatFormat) -> Option<String> {
    if value.is_nan() {
        return None;
    }
    let text = match format {
        FloatFormat::Double => format!("{value:?}"),
        _ => format!("{:?}", value as f32),
    };
    Some(text.strip_suffix(".0").map_or(text.clone(), str::to_owned))
}

/// The bytes of an array of characters up to the first 0; `None`: a part is missing, or there is no letter.
fn text(elements: &[TypedValue]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for element in elements {
        match super::number::integer(element)? as u8 {
            0 => return Some(bytes),
            byte => bytes.push(byte),
        }
    }
    (elements.len() < crate::session::print::MAX_TYPED_VALUES).then_some(bytes)
}

/// Whether an array of characters is a text that people read, rather than numbers of 8 bits.
fn is_readable(elements: &[TypedValue]) -> bool {
    let is_letter = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e);
    let is_filled = |element: &TypedValue| super::number::integer(element) != Some(0);
    match text(elements) {
        Some(text) if text.is_empty() => !elements.iter().any(is_filled),
        Some(text) => text.iter().all(is_letter),
        None => false,
    }
}

fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(*byte));
            }
            0x20..=0x7e => text.push(char::from(*byte)),
            other => drop(write!(text, "\\{other:03o}")),
        }
    }
    text.push('"');
    text
}
