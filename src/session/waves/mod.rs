//! Waves for lists: names, kinds and causes of their stops.

pub(super) mod groups;
pub(super) mod ids;
pub(super) mod lanes;
pub(super) mod positions;
pub(super) mod work_groups;
pub mod work_item;

use std::fmt::Write as _;
use std::sync::Arc;

use super::{Dump, ReadError, Reader, WaveInfo};
use crate::arch::{StopReason, WaveArch};
use crate::capture::Wave;
use crate::notation::{counted, plural};
use crate::units::{Pc, WaveId};

/// The suffix of the name of a wave whose values may be wrong.
pub(crate) const UNCONFIRMED: &str = " (unconfirmed)";

/// The cause of a stop without a captured reason.
pub(crate) const NO_REASON: &str = "stop reason not captured";

/// The start of a region's name if its place was inferred, in the text of `import::rocm_core::private`.
const INFERRED: &str = "inferred from ";

/// Returns a wave's name, state and position.
///
/// # Errors
/// [`ReadError::NoSuchWave`], or the operating system's error for the file.
pub(crate) fn info(reader: &Reader, id: WaveId) -> Result<WaveInfo, ReadError> {
    let wave = reader.wave(id)?;
    let capture = reader.dump().capture();
    let group = capture.workgroup_of(wave);
    let dispatch = capture.dispatch_of(wave);
    let queue = capture.queue_of(wave).map(|queue| queue.id);
    let agent = capture.agent_of(wave).map_or(0, |agent| agent.id);
    let position = group.and_then(|group| group.position);
    let (cause, signal) = cause(wave);
    let reasons = reasons(wave).map(Vec::from_iter);
    let kernel = dispatch.and_then(|dispatch| reader.dump().kernel_name(dispatch));
    Ok(WaveInfo {
        wave: id,
        id: wave.id,
        name: name(agent, queue, dispatch.map(|d| d.id), wave, position),
        kind: Arc::clone(&wave.kind),
        pc: reader.scalar(id, "pc")?.map(Pc),
        exec: lanes::active(reader, id)?,
        kernel_name: kernel.as_deref().map(|symbol| reader.dump().kernel_names().source(symbol)),
        kernel,
        agent,
        queue,
        dispatch: dispatch.map(|dispatch| dispatch.id),
        workgroup: position,
        wave_in_group: wave.wave_in_group,
        cause,
        unconfirmed: wave.unconfirmed.as_deref().map(str::to_owned),
        unchecked: wave.unchecked.as_deref().map(str::to_owned),
        signal,
        stands_for: capture.left_out.of(id),
        stop: reasons.map(|reasons| reasons.iter().map(|reason| reason.name.clone()).collect()),
    })
}

/// The cause of a wave's stop as text, and its signal: 0 if it was running or the reason is unknown.
pub(super) fn cause(wave: &Wave) -> (String, u8) {
    let reasons = reasons(wave).map(Vec::from_iter);
    let mut cause = match &reasons {
        None => NO_REASON.to_owned(),
        Some(reasons) if reasons.is_empty() => "running".to_owned(),
        Some(reasons) => reasons.iter().map(|r| r.words.as_str()).collect::<Vec<_>>().join(", "),
    };
    if let Some(reason) = &wave.unconfirmed {
        let _ = write!(cause, "; unconfirmed: {reason}");
    }
    (cause, reasons.as_deref().map_or(0, signal))
}

/// Whether a wave is known to have stopped for a fault of its own.
pub(crate) fn has_faulted(wave: &Wave) -> bool {
    fault(wave) == Some(true)
}

/// Whether a wave stopped for a fault of its own; `None`: its stop reason is unknown.
pub(super) fn fault(wave: &Wave) -> Option<bool> {
    Some(reasons(wave)?.any(StopReason::is_fault))
}

/// The stop reasons of a wave; empty: it was running; `None`: unknown.
pub(super) fn reasons(wave: &Wave) -> Option<impl Iterator<Item = &StopReason>> {
    let known = wave.stop.as_ref()?;
    Some(known.iter().filter_map(|index| wave.kind.target.stop_reasons.get(*index)))
}

/// The signal of several reasons: the first fault's.
fn signal(reasons: &[&StopReason]) -> u8 {
    let fault = reasons.iter().find(|reason| reason.is_fault());
    fault.or(reasons.first()).map_or(0, |reason| reason.signal)
}

fn name(agent: u32, queue: Option<u32>, dispatch: Option<u32>, wave: &Wave, at: Option<[u32; 3]>) -> String {
    let known = |id: Option<u32>| id.map_or("?".to_owned(), |id| id.to_string());
    let place = at.map_or("(?,?,?)".to_owned(), |[x, y, z]| format!("({x},{y},{z})"));
    let (queue, dispatch, slot) = (known(queue), known(dispatch), known(wave.wave_in_group));
    let label = wave.label.as_deref().map_or(String::new(), |label| format!(" {label}"));
    let mark = if wave.unconfirmed.is_some() { UNCONFIRMED } else { "" };
    format!("AMDGPU Wave {agent}:{queue}:{dispatch}:{} {place}/{slot}{label}{mark}", wave.id)
}

/// The kinds of wave of a dump, as text: `gfx90a:wave64 (8 waves), gfx1100:wave32 (2 waves)`.
pub(super) fn kinds(dump: &Dump) -> String {
    let each = dump
        .kinds()
        .map(|(kind, count)| format!("{}:{} ({})", kind.target.name, kind.wave_size, counted(count, "wave")));
    each.collect::<Vec<_>>().join(", ")
}

/// Maximum number of notes of a dump's writer shown on attaching.
const MAX_NOTES: usize = 8;

/// The number of a dump's problems in one sentence; `None`: there are none.
pub(crate) fn problem_notice(count: usize) -> Option<String> {
    let them = plural(count, "it", "them");
    (count > 0).then(|| format!("the dump has {}: `monitor notices` lists {them}", counted(count, "problem")))
}

/// Messages for the user on attaching.
pub(super) fn notices(dump: &Dump, kind: &WaveArch) -> Vec<String> {
    let mut notices = Vec::new();
    if dump.kinds().count() > 1 {
        notices.push(format!(
            "this dump holds several kinds of wave: {}; showing {}:{} (serve with --kind to choose another)",
            kinds(dump),
            kind.target.name,
            kind.wave_size
        ));
    }
    notices.extend(problem_notice(dump.problems().len()));
    let doubtful = dump.capture().waves.iter().filter(|wave| wave.unconfirmed.is_some()).count();
    if doubtful > 0 {
        let (are, their) = if doubtful == 1 { ("wave is", "its") } else { ("waves are", "their") };
        notices.push(format!(
            "{doubtful} {are} unconfirmed: {their} values may be wrong, and `monitor waves` gives the reasons"
        ));
    }
    let is_inferred = |wave: &&Wave| {
        let name = wave.private.segments().first().and_then(|segment| segment.name.as_deref());
        name.is_some_and(|name| name.starts_with(INFERRED))
    };
    let inferred = dump.capture().waves.iter().filter(is_inferred).count();
    if inferred > 0 {
        let waves = if inferred == 1 { "1 wave's".to_owned() } else { format!("{inferred} waves'") };
        notices.push(format!(
            "{waves} private memory is at an address inferred from registers: variables in it may be wrong"
        ));
    }
    let notes = &dump.capture().provenance.notes;
    notices.extend(notes.iter().take(MAX_NOTES).map(|note| format!("the dump's writer noted: {note}")));
    if notes.len() > MAX_NOTES {
        notices.push(format!(
            "the dump's writer noted {} more notes; `lanescope info DUMP` lists them",
            notes.len() - MAX_NOTES
        ));
    }
    notices
}
