//! Debug information against other programs' output for the same files: llvm-dwarfdump for DIEs, gdb for values.

mod diagnostics;
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

/// Debug information of a code object's bytes.
fn debug_info(bytes: impl Into<Bytes>) -> DebugInfo {
    let code_object = CodeObject::parse(bytes).expect("a code object");
    DebugInfo::new(Arc::new(code_object)).expect("debug information")
}
