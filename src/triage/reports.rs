//! The reports that may be of a wave's stop: one rule for all parts of the analysis.
//!
//! docs/triage.md, "Reports and stop reasons", has the rule.

use crate::capture::{Fault, FaultAccess, FaultAddress, FaultKind, PAGE};
use crate::session::WaveInfo;

/// Stop reason of an access outside all apertures, or misaligned.
const ADDRESS_ERROR: &str = "address_error";

/// Whether a report may be of the stop of a wave, wherever its accesses lead.
pub(crate) fn may_concern(fault: &Fault, info: &WaveInfo) -> bool {
    let may_fit = match fault.kind {
        FaultKind::Hang => true,
        FaultKind::Page if has_address_error(info) => false,
        _ => info.has_faulted() != Some(false),
    };
    may_fit && fault.concerns(info.agent)
}

/// Whether a wave stopped for an address outside all apertures, or a misaligned one, alone: that is no page fault.
pub(super) fn has_address_error(info: &WaveInfo) -> bool {
    let stop = info.stop.as_deref().unwrap_or_default();
    !stop.is_empty() && stop.iter().all(|reason| reason == ADDRESS_ERROR)
}

/// Whether all reports of memory for a wave are of fetches of instructions.
pub(super) fn are_fetches(faults: &[Fault], info: &WaveInfo) -> bool {
    let mut reports =
        faults.iter().filter(|fault| may_concern(fault, info) && fault.is_of_memory()).peekable();
    reports.peek().is_some() && reports.all(|fault| fault.access == Some(FaultAccess::Execute))
}

/// The first byte of the page that all of these addresses are on; `None`: they are on several, or there are none.
pub(super) fn only_page(addresses: impl IntoIterator<Item = FaultAddress>) -> Option<u64> {
    let mut starts = addresses.into_iter().map(|address| address.start & !(PAGE - 1));
    let first = starts.next()?;
    starts.all(|other| other == first).then_some(first)
}
