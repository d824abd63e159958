//! The driver's reports about a process in a container: the kernel log has the number outside of it, a core the one inside.

use super::merge::{fits, join};
use crate::capture::{Fault, FaultKind, FaultSource};

/// Joins the driver's report of another process with the program's own report of the same page, where the driver has no
/// report of the capture's process: the number is that outside of its container. An inference, which
/// [`Fault::outer_process`] marks.
pub(super) fn join_outer(faults: &mut Vec<Fault>) {
    let is_outer = |fault: &Fault| {
        fault.is_of_other_process && fault.kind == FaultKind::Page && fault.source == FaultSource::KernelLog
    };
    let inside = |fault: &Fault| Fault { process: None, is_of_other_process: false, ..fault.clone() };
    let is_own = |fault: &Fault| {
        let by_program = |source| matches!(source, FaultSource::Runtime | FaultSource::Offload);
        fault.process.is_none()
            && fault.outer_process.is_none()
            && fault.address.is_some()
            && by_program(fault.source)
            && fault.also.iter().all(|also| also.source != FaultSource::KernelLog)
    };
    let mut at = 0;
    while let Some(own) = faults.get(at) {
        let candidates: Vec<usize> = match is_own(own) {
            true => (0..faults.len())
                .filter(|index| {
                    let outer = faults.get(*index).filter(|fault| is_outer(fault));
                    outer.is_some_and(|outer| outer.address.is_some() && fits(own, &inside(outer)))
                })
                .collect(),
            false => Vec::new(),
        };
        at += 1;
        // Of several processes none is known to be it.
        let [index] = *candidates else { continue };
        let outer = faults.remove(index);
        at -= usize::from(index < at);
        if let Some(own) = faults.get_mut(at.saturating_sub(1)) {
            join(own, inside(&outer));
            own.outer_process = outer.process;
        }
    }
}
