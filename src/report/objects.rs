//! Loaded code objects as text and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::schema::{Hex, Schema};
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

/// The loaded code objects.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CodeObjects {
    /// The code objects.
    code_objects: Vec<LoadedObject>,
}

impl Schema for CodeObjects {
    const NAME: &'static str = "objects";
}

/// A loaded code object.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LoadedObject {
    /// File name or URI.
    name: String,
    /// The loader's URI of the file.
    uri: Option<String>,
    /// Load address: run-time address = this + ELF address.
    address: Hex,
    /// Bytes of the image; null: no bytes are available.
    size: Option<u64>,
    /// The reason for missing variables.
    problem: Option<String>,
}

/// Code objects as JSON.
#[must_use]
pub(crate) fn json(objects: &[CodeObjectInfo]) -> CodeObjects {
    let objects = objects.iter().map(|object| LoadedObject {
        name: object.name.clone(),
        uri: object.uri.clone(),
        address: Hex(object.address.0),
        size: object.size,
        problem: object.problem(),
    });
    CodeObjects { code_objects: objects.collect() }
}
