//! Loaded code objects as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::session::CodeObjectInfo;

/// A line for each code object: addresses, name, and the reason for missing variables.
#[must_use]
pub(crate) fn text(objects: &[CodeObjectInfo]) -> String {
    if objects.is_empty() {
        return "No code object was captured.\n".to_owned();
    }
    let mut text = String::new();
    for object in objects {
        let end = object.size.map(|size| format!("-{:#x}", object.address.0.saturating_add(size)));
        let _ = write!(text, "{}{}  {}", object.address, end.unwrap_or_default(), object.name);
        if let Some(problem) = object.problem() {
            let _ = write!(text, "  ({problem})");
        }
        text.push('\n');
    }
    text
}

/// Code objects as JSON.
#[must_use]
pub(crate) fn json(objects: &[CodeObjectInfo]) -> Value {
    let objects = objects.iter().map(|object| {
        json!({
            "name": object.name,
            "uri": object.uri,
            "address": object.address.to_string(),
            "size": object.size,
            "problem": object.problem(),
        })
    });
    json!({ "code_objects": objects.collect::<Value>() })
}
