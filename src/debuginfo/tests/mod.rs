//! Debug information against what other programs say of the same files: llvm-dwarfdump of the DIEs, gdb of values.

mod damage;
mod drafts;
mod dwarfdump;
mod forms;
mod hostile;
mod languages;
mod missing;
mod model;
mod pointers;
mod scopes;
mod shapes;
mod values;

use std::sync::Arc;

use super::DebugInfo;
use crate::codeobject::{Bytes, CodeObject};

/// The debug information of a code object's bytes.
fn debug_info(bytes: impl Into<Bytes>) -> DebugInfo {
    let code_object = CodeObject::parse(bytes).expect("a code object");
    DebugInfo::new(Arc::new(code_object)).expect("debug information")
}
