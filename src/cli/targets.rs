//! `lanescope targets [NAME]`: the list of known processors, or all facts of one.
//!
//! Without a name: one line for each target, with its EF_AMDGPU_MACH value (the low byte of a code object's
//! `e_flags`), wave sizes, access path of private memory, features and products. The user's own targets, which
//! `--targets DIR` adds, are marked with their file.
//!
//! With a name: all facts of it, by wave size if they depend on it: registers with width, DWARF numbers and the
//! numbers of AMD's debugger library; DWARF numbers without a register and why; named bits; address spaces; address
//! classes; stop reasons with the debugger's signal and the register bits that imply them.
//!
//! `--json` prints the same as JSON: `targets`, or the members of one.
//!
//! ```text
//! $ lanescope targets
//! $ lanescope targets gfx90a
//! $ lanescope targets gfx1100 --json | jq '.kinds[0].registers[] | select(.class == "system")'
//! ```

mod describe;
mod tables;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) use describe::{Description, Listing};

use std::io::{self, Write};

use crate::arch::{TargetError, Targets};
use crate::report::schema::{Document, Schema};

/// An error of the command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetsError {
    /// The target is unknown, or its file is wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The output is closed or the disk is full.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    /// The output closed during JSON, or a value has no JSON form.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Prints all targets, or the one with that name.
///
/// # Errors
/// The target is unknown or its file is wrong, or the output cannot be written.
pub(crate) fn run(
    name: Option<&str>,
    targets: &Targets,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), TargetsError> {
    match (name, json) {
        (None, false) => tables::list(&describe::list(targets)?, out)?,
        (None, true) => write_json(describe::Listing { targets: describe::list(targets)? }, out)?,
        (Some(name), false) => tables::one(&describe::one(targets, name)?, out)?,
        (Some(name), true) => write_json(describe::one(targets, name)?, out)?,
    }
    Ok(())
}

fn write_json(members: impl Schema, out: &mut dyn Write) -> Result<(), TargetsError> {
    serde_json::to_writer_pretty(&mut *out, &Document::new(members))?;
    writeln!(out)?;
    Ok(())
}
