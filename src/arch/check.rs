//! What must hold of a target file beyond its shape: one named check for each rule.

use super::error::TargetProblem;
use super::schema::File;

/// Everything that is wrong with a file.
pub(super) fn all(file: &File) -> Vec<TargetProblem> {
    let _ = file;
    Vec::new()
}
