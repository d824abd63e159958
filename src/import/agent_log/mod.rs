//! Logs of ROCm's debug agent, alone or inside other output (docs/captures.md, "Debug agent logs").
//!
//! [`mod@line`] is the grammar of one line, [`mod@memory`] that of memory rows, [`objdump`] that of LLVM's tool.
//! [`streams`] finds the wave of a line if several programs write into one log; [`line_prefix`] finds the prefix of
//! each program's lines. [`read`] combines them. [`processes`], [`infer`], [`groups`] and [`objects`] infer facts that
//! the log lacks; [`build`] makes the capture. Values are copied once into an arena, since text has no ranges to read
//! later.

mod build;
mod groups;
mod infer;
mod line;
mod line_prefix;
mod listings;
mod memory;
mod objdump;
mod objects;
mod processes;
mod read;
mod streams;
mod wave;

use std::io::BufRead;
use std::path::Path;

use self::processes::Processes;
use super::problem::{ImportError, Problems};
use super::text::Kept;
use super::{Opened, Options, fallback_target};
use crate::arch::Targets;

/// Reads a log; `folder`: the folder of its file.
///
/// # Errors
/// The user's processor is unknown.
pub(super) fn open(
    name: &str,
    source: impl BufRead,
    folder: Option<&Path>,
    targets: &Targets,
    options: &Options,
) -> Result<Opened, ImportError> {
    let chosen = fallback_target::chosen(targets, options)?;
    let mut problems = Problems::new(name);
    let mut log = read::read(source, Kept::default(), &mut problems);
    let faults = std::mem::take(&mut log.faults);
    let processes = Processes::of(&log);
    let objects = objects::find(&log, &processes, folder, targets, options, chosen.as_ref(), &mut problems);
    if let Some(chosen) = &chosen {
        infer::contradictions(&log, &objects, targets, chosen, &mut problems);
    }
    let mut capture = build::build(name, log, &processes, objects, targets, chosen.as_ref(), &mut problems);
    problems.extend(faults.into_capture(&mut capture));
    Ok(Opened { capture, problems: problems.finish() })
}

/// Whether a line begins a wave's report of a debug agent.
pub(super) fn begins_report(line: &[u8]) -> bool {
    line::Headers::new().find(line).is_some() || line::old_header(line).is_some()
}
