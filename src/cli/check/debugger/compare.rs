//! Comparison of a debugger's values with those of the dump.

use serde::Deserialize;

use crate::session::ValueState;
use crate::session::print::{FloatFormat, TypedValue};

/// A value as a debugger has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tree {
    /// An integer, truth value, enumerator or address, in decimal.
    Integer(String),
    /// A floating-point number in hexadecimal, as Python writes it.
    Float(String),
    /// `unavailable` or `optimized out`.
    Missing(String),
    /// The debugger's message.
    Error(String),
    /// An array.
    Elements(Vec<Tree>),
    /// Members and base classes by name.
    Fields(Vec<(String, Tree)>),
    /// A type without comparison.
    Other(String),
}

/// The result of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    Same,
    /// The debugger's value, and the dump's.
    Differs(String, String),
    /// No part can be compared, with the reason.
    Unknown(String),
}

/// Compares two values. Parts that only one side can express are left out.
pub(super) fn compare(tree: &Tree, own: &TypedValue) -> Agreement {
    let is = |same: bool, seen: &str, own: String| match same {
        true => Agreement::Same,
        false => Agreement::Differs(seen.to_owned(), own),
    };
    let unknown = |what: &str| Agreement::Unknown(what.to_owned());
    match (tree, own) {
        (Tree::Other(kind), _) => unknown(&format!("the debugger's type `{kind}` has no comparison")),
        (_, TypedValue::Other { type_name }) => unknown(&format!("the type `{type_name}` has no comparison")),
        (_, TypedValue::Text(_)) => unknown("texts of Fortran have no comparison"),
        (_, TypedValue::Pointer(pointer)) if pointer.to.space_name.is_some() => {
            unknown("the address is in a space that the debugger does not know")
        }
        (_, TypedValue::Float { format: FloatFormat::Half | FloatFormat::BFloat, .. }) => {
            unknown("the debugger has no 16-bit floating-point numbers")
        }
        (Tree::Integer(seen), own) => match integer(own) {
            Some(number) => is(seen.parse() == Ok(number), seen, number.to_string()),
            None => Agreement::Differs(seen.clone(), brief(own)),
        },
        (Tree::Float(seen), TypedValue::Float { value, .. }) => {
            let number = hexadecimal(seen);
            let same = number.is_some_and(|number| number == *value || number.is_nan() && value.is_nan());
            is(same, &number.map_or_else(|| seen.clone(), |number| number.to_string()), value.to_string())
        }
        (Tree::Elements(seen), TypedValue::Array { elements, count, .. }) => {
            match seen.len() as u64 == *count {
                true => parts(seen.iter().zip(elements)),
                false => is(false, &format!("{} elements", seen.len()), format!("{count} elements")),
            }
        }
        (Tree::Fields(seen), TypedValue::Record { fields }) => {
            // Each side has members of its own: vtables, unnamed and static ones. Those with a name are compared.
            let named = fields.iter().filter_map(|field| {
                let name = field.name.as_deref().filter(|name| !name.is_empty() && !field.is_base)?;
                seen.iter().find(|(known, _)| known == name).map(|(_, tree)| (tree, &field.value))
            });
            parts(named)
        }
        (
            Tree::Missing(seen),
            TypedValue::Missing(ValueState::Unavailable(_) | ValueState::OptimizedOut(_)),
        ) => is(seen == "unavailable" || seen == "optimized out", seen, brief(own)),
        (Tree::Missing(seen), own) if own.missing().is_some() => is(true, seen, brief(own)),
        (Tree::Error(_), TypedValue::Missing(ValueState::Error(_))) => Agreement::Same,
        (Tree::Missing(seen) | Tree::Error(seen) | Tree::Float(seen), own) => {
            Agreement::Differs(seen.clone(), brief(own))
        }
        (Tree::Elements(_), own) => Agreement::Differs("an array".to_owned(), brief(own)),
        (Tree::Fields(_), own) => Agreement::Differs("a structure".to_owned(), brief(own)),
    }
}

/// The first difference of parts; `Unknown` if no part can be compared.
fn parts<'p>(pairs: impl Iterator<Item = (&'p Tree, &'p TypedValue)>) -> Agreement {
    let mut found = Agreement::Unknown("no part can be compared".to_owned());
    for (tree, own) in pairs {
        match compare(tree, own) {
            Agreement::Unknown(_) => {}
            Agreement::Same => found = Agreement::Same,
            differs @ Agreement::Differs(..) => return differs,
        }
    }
    found
}

fn integer(own: &TypedValue) -> Option<i128> {
    match own {
        TypedValue::Integer { value, .. } => Some(*value),
        TypedValue::Truth(value) => Some(i128::from(*value)),
        TypedValue::Enumerator(value) => Some(value.value),
        TypedValue::Pointer(pointer) => Some(i128::from(pointer.to.address)),
        _ => None,
    }
}

/// A short text of a value.
fn brief(own: &TypedValue) -> String {
    match own {
        TypedValue::Float { value, .. } => value.to_string(),
        TypedValue::Array { count, .. } => format!("an array of {count}"),
        TypedValue::Record { .. } => "a structure".to_owned(),
        TypedValue::Missing(ValueState::Unavailable(_)) => "unavailable".to_owned(),
        TypedValue::Missing(ValueState::OptimizedOut(_)) => "optimized out".to_owned(),
        TypedValue::Missing(ValueState::Error(why) | ValueState::Value(why)) => why.to_string(),
        own => integer(own).map_or_else(|| "another value".to_owned(), |number| number.to_string()),
    }
}

/// `0x1.c800000000000p+3`, `-0x0.0p+0`, `inf`, `nan`: a number as Python's `float.hex` writes it.
fn hexadecimal(text: &str) -> Option<f64> {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let Some(digits) = text.strip_prefix("0x") else {
        return text.parse::<f64>().ok().map(|number| sign * number);
    };
    let (mantissa, exponent) = digits.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let bits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let shift = exponent.parse::<i32>().ok()? - 4 * i32::try_from(fraction.len()).ok()?;
    // 53 bits of the mantissa are exact, and both steps of the power of two as well.
    let half = shift / 2;
    Some(sign * bits as f64 * 2f64.powi(half) * 2f64.powi(shift - half))
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
