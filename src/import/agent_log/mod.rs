//! Logs of ROCm's debug agent, alone or inside other output (docs/captures.md, "Debug agent logs").
//!
//! [`mod@line`] is the grammar, a line at a time; [`streams`] says which wave a line is of where several programs write into
//! one log, and [`ahead`] what they put before its lines, which
//! [`prefix`] tells apart; [`mod@memory`] is where the words of a row of memory lie; [`read`] puts them together; [`processes`],
//! [`infer`], [`groups`] and [`objects`] find out what the log leaves out; [`build`]
//! makes the capture. Values are read once into an arena: a log is text, and text cannot be read by range.

mod ahead;
mod build;
mod groups;
mod infer;
mod line;
mod memory;
mod objects;
mod prefix;
mod processes;
mod read;
mod streams;
mod wave;

use std::io::BufRead;
use std::path::Path;

use self::processes::Processes;
use super::problem::{ImportError, Problems};
use super::text::Kept;
use super::{Opened, Options};
use crate::arch::Targets;

/// What the runtime says of a fault, in front of the agent's report or alone.
pub(super) const FAULT: &str = "emory access fault";

/// Reads a log; `folder` is where it lies, if it does.
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
    let chosen = infer::chosen(targets, options.target.as_deref())?;
    let mut problems = Problems::new(name);
    let log = read::read(source, Kept::default(), &mut problems);
    let processes = Processes::of(&log);
    let objects = objects::find(&log, &processes, folder, targets, options, chosen.as_ref(), &mut problems);
    if let Some(chosen) = &chosen {
        infer::contradictions(&log, &objects, targets, chosen, &mut problems);
    }
    let capture = build::build(name, log, &processes, objects, targets, chosen.as_ref(), &mut problems);
    Ok(Opened { capture, problems: problems.finish() })
}

/// Whether a line is one that a debug agent writes at the beginning of a wave's report.
pub(super) fn begins_report(line: &[u8]) -> bool {
    line::Headers::new().find(line).is_some() || line::old_header(line).is_some()
}
