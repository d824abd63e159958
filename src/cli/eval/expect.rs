//! Compares a result with a case's expectation.
//!
//! An expectation is a table of the parts that matter, or JSON text, the only form with `null`. Parts that it does
//! not mention are free: a case may leave out the words of an error message.

use serde_json::Value;

use super::error::CaseError;
use crate::report::expression::ExpressionResult;

/// The difference of a result; `None` if it has all expected parts. Fails if the expectation is not JSON.
pub(super) fn difference(
    expected: &toml::Value,
    result: &ExpressionResult,
) -> Result<Option<String>, CaseError> {
    let expected = match expected {
        toml::Value::String(text) => serde_json::from_str(text)?,
        other => serde_json::to_value(other)?,
    };
    let (result, mut path) = (&serde_json::to_value(result)?, String::new());
    Ok(differs(&expected, result, &mut path).map(|what| format!("{what}; the result is {result}")))
}

fn differs(expected: &Value, result: &Value, path: &mut String) -> Option<String> {
    let here = path.len();
    match (expected, result) {
        (Value::Object(expected), Value::Object(result)) => expected.iter().find_map(|(key, value)| {
            path.truncate(here);
            path.push('.');
            path.push_str(key);
            match result.get(key) {
                Some(found) => differs(value, found, path),
                None => Some(format!("{path} is missing")),
            }
        }),
        (Value::Array(expected), Value::Array(result)) if expected.len() == result.len() => {
            expected.iter().zip(result).enumerate().find_map(|(index, (value, found))| {
                path.truncate(here);
                path.push_str(&format!("[{index}]"));
                differs(value, found, path)
            })
        }
        _ if expected == result => None,
        _ => Some(format!("{path} is {result}, expected {expected}")),
    }
}
