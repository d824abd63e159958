//! umr's output on waves: its text in three versions, its JSON, and RADV's hang folders (docs/captures.md, "umr").
//!
//! [`mod@line`] and [`rows`] are the grammar of its text. [`text`] and [`json`] read waves in umr's terms, [`zipped`] a
//! folder in a zip. [`family`] finds their GPU; [`wave`] converts them to registers; [`build`] makes the capture.

mod build;
mod family;
mod groups;
mod json;
mod lenient;
mod line;
mod radv;
mod rows;
mod text;
mod wave;
mod zipped;

use std::io::{BufRead, Read};
use std::path::Path;

use self::family::Families;
use super::problem::{ImportError, Problems};
use super::text::Kept;
use super::{Opened, Options, faults};
use crate::arch::Targets;

pub(super) use json::next_list;
pub(super) use radv::{is_folder as is_radv_folder, open as open_radv, without_waves};
pub(super) use text::{IDLE, begins_wave};
pub(super) use zipped::open as open_zip;

/// Maximum bytes of a text in the search for JSON answers, which needs all of them in memory. The largest GPU's waves
/// take about 200 MB.
pub(super) const MAX_JSON: u64 = 256 << 20;

/// Reads umr's text; `folder`: the folder of its file.
///
/// # Errors
/// The processor that the user names is not known.
pub(super) fn open(
    name: &str,
    source: impl BufRead,
    folder: Option<&Path>,
    targets: &Targets,
    options: &Options,
) -> Result<Opened, ImportError> {
    let mut families = Families::new(targets, options, None)?;
    let mut problems = Problems::new(name);
    let read = text::read(source, Kept::default(), text::MAX_CODE, &mut families, &mut problems);
    // RADV writes files about the GPU beside umr's text.
    let beside = folder.filter(|_| read.radv).map(radv::Beside::of).unwrap_or_default();
    families.beside = beside.processor;
    families.unknown.clone_from(&beside.unknown);
    let mut capture = build::build(name, "umr text", read, &mut families, &mut problems);
    problems.extend(beside.faults.into_capture(&mut capture));
    Ok(Opened { capture, problems: problems.finish() })
}

/// Reads umr's answers to the command `waves` at any place of a text; `size`: its bytes, if known.
///
/// # Errors
/// The text cannot be read, or the processor that the user names is not known.
pub(super) fn open_json(
    name: &str,
    source: impl Read,
    size: Option<u64>,
    targets: &Targets,
    options: &Options,
) -> Result<Opened, ImportError> {
    let mut families = Families::new(targets, options, None)?;
    let mut problems = Problems::new(name);
    let mut text = Vec::new();
    let io = |source| ImportError::Io { file: name.to_owned(), source };
    source.take(MAX_JSON).read_to_end(&mut text).map_err(io)?;
    let expected = format_args!("answers within {MAX_JSON} bytes");
    match size {
        Some(size) if size > MAX_JSON => {
            problems.whole(format_args!("of {size} bytes the first {MAX_JSON} are read"), expected);
            problems.hides_waves();
        }
        None if text.len() as u64 == MAX_JSON => {
            problems.whole(format_args!("the first {MAX_JSON} bytes are read"), expected);
            problems.hides_waves();
        }
        _ => {}
    }
    let mut read = json::read(name, &text, Kept::default(), &mut families, &mut problems);
    // The limit may have cut the text.
    read.truncated = read.truncated.filter(|_| (text.len() as u64) < MAX_JSON);
    let mut capture = build::build(name, "umr JSON", read, &mut families, &mut problems);
    let reported = faults::read(name, text.as_slice(), faults::Own::default()).map_err(io)?;
    problems.extend(reported.into_capture(&mut capture));
    Ok(Opened { capture, problems: problems.finish() })
}

#[cfg(test)]
mod tests;
