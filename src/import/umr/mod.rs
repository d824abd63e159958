//! What umr prints of waves: its text in three flavours, its JSON, and the folders that RADV writes when a GPU hangs
//! (docs/captures.md, "umr").
//!
//! [`text`] and [`json`] read waves as umr names things; [`wave`] turns them into registers; [`groups`] finds
//! work-groups; [`build`] makes the capture.

mod build;
mod groups;
mod json;
mod radv;
mod text;
mod wave;

use std::io::{BufRead, Read};

use super::problem::{ImportError, Problems};
use super::{Opened, Options};
use crate::arch::{Processor, Targets};

pub(super) use radv::{is_folder as is_radv_folder, open as open_radv};
pub(super) use text::begins_wave;

/// The most bytes of a JSON answer that are read: it is in memory as a whole. The largest GPU's waves take some 200 MB.
pub(super) const MOST_JSON: u64 = 256 << 20;

/// Reads umr's text; `named`: the processor, where something beside it says.
///
/// # Errors
/// The processor that the user names is not known.
pub(super) fn open(
    name: &str,
    source: impl BufRead,
    named: Option<Processor>,
    targets: &Targets,
    options: &Options,
) -> Result<Opened, ImportError> {
    let chosen = build::chosen(targets, options)?;
    let mut problems = Problems::new(name);
    let read = text::read(source, &mut problems);
    let capture = build::build(name, "umr text", read, named, chosen.as_ref(), targets, &mut problems);
    Ok(Opened { capture, problems: problems.finish() })
}

/// Reads umr's answer to the command `waves`.
///
/// # Errors
/// It is no JSON, it is too large, or the processor that the user names is not known.
pub(super) fn open_json(
    name: &str,
    source: impl Read,
    size: u64,
    targets: &Targets,
    options: &Options,
) -> Result<Opened, ImportError> {
    if size > MOST_JSON {
        return Err(ImportError::TooLarge { file: name.to_owned(), size, limit: MOST_JSON });
    }
    let chosen = build::chosen(targets, options)?;
    let mut problems = Problems::new(name);
    let read = json::read(name, source.take(MOST_JSON), &mut problems)?;
    let capture = build::build(name, "umr JSON", read, None, chosen.as_ref(), targets, &mut problems);
    Ok(Opened { capture, problems: problems.finish() })
}

#[cfg(test)]
mod tests;
