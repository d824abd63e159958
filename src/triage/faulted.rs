//! The waves that faulted, with the place of their stop: no analysis.

use serde::Serialize;

use super::json::runs;
use super::page::words;
use super::scene::Scene;
use super::survey::{Group, Stop, Survey};
use crate::notation::is_zero;
use crate::report::schema::{Hex, Run};
use crate::session::Inspect;

/// Maximum number of lines, and of groups for programs.
const MAX_LINES: usize = 3;
const MAX_GROUPS: usize = 64;

/// Waves that stopped for one fault at one PC.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FaultedAt {
    /// Ids of the waves, as runs of first and last.
    waves: Vec<Run>,
    /// Number of further waves that the dump leaves out. Absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// The stop reason.
    cause: String,
    /// The kernel.
    kernel: Option<String>,
    /// The PC of the stop, which may be behind the access.
    pc: Option<Hex>,
    /// The function at the PC.
    function: Option<String>,
    /// The file of its line.
    file: Option<String>,
    /// The line of the PC.
    line: Option<u64>,
}

/// The first groups of waves that faulted.
#[must_use]
pub fn faulted(sessions: &[&dyn Inspect]) -> Vec<FaultedAt> {
    let (survey, scene) = (Survey::of(sessions, None), Scene::new(sessions));
    let each = groups(&survey).take(MAX_GROUPS).filter_map(|group| {
        let info = scene.info(*group.waves.first()?)?;
        let at = scene.place(info.wave);
        Some(FaultedAt {
            waves: runs(&group.waves, &scene),
            left_out: group.left_out,
            kernel: scene.kernel(info.wave),
            cause: info.cause,
            pc: group.pc.map(|pc| Hex(pc.0)),
            function: at.function,
            file: at.file,
            line: at.line,
        })
    });
    each.collect()
}

/// The same in a line each: `wave 1: memory violation (page fault) in saxpy, stopped at saxpy.hip:54`.
#[must_use]
pub fn faulted_lines(sessions: &[&dyn Inspect]) -> Vec<String> {
    let (survey, scene) = (Survey::of(sessions, None), Scene::new(sessions));
    let line = |group: &Group<'_>| {
        let info = scene.info(*group.waves.first()?)?;
        let kernel = scene.kernel(info.wave).map_or_else(String::new, |kernel| format!(" in {kernel}"));
        let at = scene.place(info.wave);
        let place = match (words::place(&at), group.pc) {
            (Some(place), _) if at.line.is_some() => format!(", stopped at {place}"),
            (Some(place), Some(pc)) => format!(", stopped {place} at {pc}"),
            (None, Some(pc)) => format!(", stopped at {pc}"),
            (_, None) => String::new(),
        };
        let more = match group.left_out {
            0 => String::new(),
            more => format!(" and {more} left out of the dump"),
        };
        Some(format!("{}{more}: {}{kernel}{place}", words::waves(&group.waves, &scene), info.cause))
    };
    let lines = groups(&survey).take(MAX_LINES).filter_map(line);
    lines.chain(words::more(groups(&survey).count(), MAX_LINES)).collect()
}

fn groups<'s, 'a>(survey: &'s Survey<'a>) -> impl Iterator<Item = &'s Group<'a>> {
    survey.groups.iter().filter(|group| group.stop <= Stop::Halted)
}
