//! Causes of a stop other than an access to memory: bad PCs, assertions and traps, illegal instructions, arithmetic
//! exceptions, memory errors, errors of queues, waves beside the fault of another one.
//!
//! docs/triage.md has the rules.

mod arithmetic;
mod assertion;
mod bad_pc;
mod call;
mod illegal;
#[cfg(test)]
mod tests;

pub(super) use call::Call;

use super::listings::Listings;
use super::{Cause, QueueError, SourceAt, may_concern};
use crate::arch::StopKind;
use crate::capture::{Fault, FaultKind};
use crate::report::fault;
use crate::session::{Inspect, StackFrame, WaveInfo};
use crate::units::WaveId;

/// The cause of a wave's stop; `None`: an access to memory, or no cause is known.
pub(super) fn cause(session: &dyn Inspect, wave: WaveId, code: &mut Listings) -> Option<Cause> {
    let info = session.wave(wave).ok()?;
    let kinds = info.stop_kinds().unwrap_or_default();
    if !kinds.iter().any(|kind| kind.is_fault()) {
        return unfaulted(session, &info, &kinds);
    }
    if let Some(cause) = bad_pc::find(session, &info, code) {
        return Some(cause);
    }
    kinds.into_iter().find_map(|kind| match kind {
        StopKind::IllegalInstruction => Some(Some(illegal::describe(session, &info))),
        StopKind::Memory => Some(of_bad_memory(&session.faults(), &info)),
        StopKind::Abort | StopKind::Trap => Some(Some(assertion::describe(session, &info, code))),
        StopKind::Arithmetic => Some(Some(arithmetic::describe(session, &info, code))),
        StopKind::Ecc => Some(Some(Cause::Ecc)),
        StopKind::Fatal => Some(of_report(&session.faults(), session, &info)),
        StopKind::Other | StopKind::Debugger => None,
    })?
}

/// A wave without a fault of its own.
fn unfaulted(session: &dyn Inspect, info: &WaveInfo, kinds: &[StopKind]) -> Option<Cause> {
    if !kinds.is_empty() {
        let reasons = info.stop.clone().unwrap_or_default();
        return Some(Cause::Breakpoint { reasons, at: innermost(session, info) });
    }
    // A wave whose reasons are unknown may have faulted, too.
    if info.stop.is_none() || session.faulted() == 0 {
        return None;
    }
    let has_faulted = |wave: &WaveId| session.wave(*wave).is_ok_and(|info| info.has_faulted() == Some(true));
    // A position in the grid may make another wave the first one.
    let waves = session.waves();
    let faulted = std::iter::once(session.first_wave()).chain(waves.iter().copied()).find(has_faulted)?;
    Some(Cause::Bystander { faulted })
}

/// The cause of a halt without a reason, by the first report of its GPU; `None`: an access to memory, or no report.
fn of_report(faults: &[Fault], session: &dyn Inspect, info: &WaveInfo) -> Option<Cause> {
    match faults.iter().find(|fault| may_concern(fault, info))?.kind {
        FaultKind::IllegalInstruction => Some(illegal::describe(session, info)),
        FaultKind::Ecc => Some(Cause::Ecc),
        _ => None,
    }
}

/// The memory error that the only reports of a GPU with an address name; `None`: an access to memory.
fn of_bad_memory(faults: &[Fault], info: &WaveInfo) -> Option<Cause> {
    let own = || faults.iter().filter(|fault| may_concern(fault, info));
    let is_bad = own().any(|fault| fault.kind == FaultKind::Ecc && fault.address.is_some());
    (is_bad && !own().any(Fault::is_of_memory)).then_some(Cause::Ecc)
}

/// The cause by reported faults alone, if no wave faulted; `None`: an access to memory, or no fault is reported.
pub(super) fn reported(faults: &[Fault]) -> Option<Cause> {
    let mut own = faults.iter().filter(|fault| fault.is_of_waves());
    if own.clone().any(Fault::is_of_memory) {
        return None;
    }
    // The states of the waves show more of a hang than its report.
    let first = own.find(|fault| fault.kind != FaultKind::Hang)?;
    Some(if first.kind == FaultKind::Ecc { Cause::Ecc } else { of_queue(first) })
}

/// The cause by a report that names no wave.
pub(super) fn of_queue(of: &Fault) -> Cause {
    Cause::Queue(QueueError { text: fault::sentence(of), kernel: of.kernel.clone() })
}

/// The place of a stack frame.
fn place(session: &dyn Inspect, frame: Option<&StackFrame>) -> SourceAt {
    let Some(frame) = frame else { return SourceAt::default() };
    source_at(session, frame.function.clone(), frame.file.clone(), frame.line)
}

/// A place with the text of its line.
fn source_at(
    session: &dyn Inspect,
    function: Option<String>,
    file: Option<String>,
    line: Option<u64>,
) -> SourceAt {
    let text = file.as_deref().zip(line).and_then(|(file, line)| session.source_line(file, line));
    SourceAt { function, file, line, text, is_inferred: false }
}

/// The place of a wave's innermost frame.
fn innermost(session: &dyn Inspect, info: &WaveInfo) -> SourceAt {
    let stack = session.backtrace(info.wave, None).ok();
    place(session, stack.as_ref().and_then(|stack| stack.frames.first()))
}
