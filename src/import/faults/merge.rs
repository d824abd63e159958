//! Reports of one fault by several reporters: one fault with the facts of all.

use std::collections::VecDeque;

use super::kernel_log::location;
use crate::capture::{
    Agent, Capture, Fault, FaultAddress, FaultKind, FaultReport, FaultSource, MAX_FAULTS, agree,
};
use crate::work::{Count, count};

/// Facts by which reports are known to be of the capture.
#[derive(Clone, Debug, Default)]
pub(in crate::import) struct Own {
    process: Option<u32>,
    /// PCI addresses and ids of the GPUs.
    gpus: Vec<(u32, u32)>,
    /// Whether these are all GPUs of the process: a core lists them, with the driver's facts.
    has_all_gpus: bool,
    /// Whether its waves are those of the process's own queues (AQL), which all captures of ROCm have.
    has_own_queues: bool,
}

/// The rank of reports that are not about the waves.
const FOREIGN: u8 = 0;

/// Bus and device of a PCI address: the driver's location has no domain, and may have a part of a GPU for the function.
const BUS_AND_DEVICE: u32 = 0xfff8;

impl Own {
    pub(in crate::import) fn of(capture: &Capture) -> Self {
        let gpu = |agent: &Agent| Some((agent.hardware.as_ref()?.location, agent.id));
        let gpus: Vec<_> = capture.agents.iter().filter_map(gpu).collect();
        let has_all_gpus = !gpus.is_empty() && gpus.len() == capture.agents.len();
        let has_own_queues = !capture.queues.is_empty();
        Self { process: capture.provenance.process, gpus, has_all_gpus, has_own_queues }
    }

    /// Marks a report of another process or GPU, and names the agent of one with its PCI address.
    pub(super) fn mark(&self, fault: &mut Fault) {
        let is_own = self.process.zip(fault.process).map(|(own, of)| own == of);
        fault.is_of_other_process = is_own == Some(false);
        fault.is_of_kernel_queue = self.has_own_queues && is_own != Some(true) && fault.is_of_kernel_ring();
        let Some(of) = fault.device.as_deref().and_then(location) else { return };
        // The process is a better fact: a virtual machine may have another address of a GPU.
        fault.is_of_other_gpu = is_own.is_none() && self.has_all_gpus && !self.lists(of);
        let mut at = self.gpus.iter().filter(|(location, _)| *location == of);
        if reported_agent(fault).is_none()
            && let (Some((_, agent)), None) = (at.next(), at.next())
        {
            (fault.agent, fault.agent_inferred) = (Some(*agent), None);
        }
    }

    /// Whether a GPU at a PCI address is one of the capture.
    fn lists(&self, of: u32) -> bool {
        self.gpus.iter().any(|(location, _)| (location ^ of) & BUS_AND_DEVICE == 0)
    }

    /// The rank of a marked report among too many: [`FOREIGN`] if it is not about the waves, 2 if it is of the capture's
    /// process, or without a process of its GPU, else 1. The lowest are removed first.
    fn rank(&self, fault: &Fault) -> u8 {
        let is_own = || match self.process.zip(fault.process) {
            Some((own, of)) => own == of,
            None => fault.device.as_deref().and_then(location).is_some_and(|of| self.lists(of)),
        };
        match fault.is_of_waves() {
            false => FOREIGN,
            true if is_own() => 2,
            true => 1,
        }
    }
}

/// Reports, each fault once, in the order of reading. Of too many, those of the highest [`Own::rank`] stay, and of these
/// the newest.
#[derive(Debug, Default)]
pub(super) struct Merged {
    list: VecDeque<Ranked>,
    own: Own,
    /// Whether later ones are older.
    is_reversed: bool,
    more: usize,
}

/// A report with its [`Own::rank`].
#[derive(Debug)]
struct Ranked {
    rank: u8,
    fault: Fault,
}

impl Ranked {
    /// Whether both or none of two reports have an address.
    fn is_like(&self, other: &Self) -> bool {
        self.fault.address.is_some() == other.fault.address.is_some()
    }

    /// Adds the facts of another report of the same fault.
    fn join(&mut self, other: Self, own: &Own) {
        join(&mut self.fault, other.fault);
        self.rank = own.rank(&self.fault);
    }
}

/// The faults of [`Merged`].
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) faults: Vec<Fault>,
    /// Number of faults beyond [`MAX_FAULTS`].
    pub(super) more: usize,
}

impl Merged {
    pub(super) fn of(own: Own, is_reversed: bool) -> Self {
        Self { own, is_reversed, ..Self::default() }
    }

    pub(super) fn mark(&self, fault: &mut Fault) {
        self.own.mark(fault);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn has(&self, kind: FaultKind) -> bool {
        self.list.iter().any(|known| known.fault.kind == kind)
    }

    /// Adds a report to an earlier one of the same fault, else to the list. A report without an address joins another
    /// one with an address only at the end: until then another one may fit as well.
    pub(super) fn add(&mut self, mut fault: Fault) {
        self.own.mark(&mut fault);
        let new = Ranked { rank: self.own.rank(&fault), fault };
        if let Some(known) =
            self.list.iter_mut().find(|known| known.is_like(&new) && fits(&known.fault, &new.fault))
        {
            known.join(new, &self.own);
            return;
        }
        let (mut like, mut least) = (0, new.rank);
        for known in self.list.iter().filter(|known| known.is_like(&new)) {
            (like, least) = (like + 1, least.min(known.rank));
        }
        if like < MAX_FAULTS {
            // At the end a report without an address may join another one: the list then keeps its maximum length.
            self.list.push_back(new);
            return;
        }
        self.more += 1;
        let is_least = |known: &Ranked| known.is_like(&new) && known.rank == least;
        let oldest = match self.is_reversed {
            // It is the oldest.
            true => self.list.iter().rposition(is_least).filter(|_| least < new.rank),
            false => self.list.iter().position(is_least),
        };
        if let Some(oldest) = oldest {
            self.list.remove(oldest);
            self.list.push_back(new);
        }
    }

    /// Adds all reports of another list.
    pub(super) fn extend(&mut self, other: Self) {
        self.more += other.more;
        for Ranked { fault, .. } in other.list {
            self.add(fault);
        }
    }

    /// Brings the reports into the order of their lines, in a reversed log against it.
    pub(super) fn sort(&mut self, is_reversed: bool) {
        let list = self.list.make_contiguous();
        list.sort_by_key(|Ranked { fault, .. }| fault.place.as_ref().and_then(|place| place.line));
        if is_reversed {
            list.reverse();
        }
    }

    /// The faults.
    pub(super) fn finish(mut self) -> Faults {
        let mut index = 0;
        while let Some(known) = self.list.get(index) {
            match self.fitting(index, known) {
                Some(other) => {
                    let removed = self.list.remove(index);
                    // The removed report was before or after the other one.
                    let other = if other > index { other - 1 } else { other };
                    if let Some((known, removed)) = self.list.get_mut(other).zip(removed) {
                        known.join(removed, &self.own);
                    }
                }
                None => index += 1,
            }
        }
        while self.list.len() > MAX_FAULTS {
            self.more += 1;
            let least = self.list.iter().enumerate().min_by_key(|(_, known)| known.rank);
            self.list.remove(least.map_or(0, |(at, _)| at));
        }
        Faults { faults: self.list.into_iter().map(|known| known.fault).collect(), more: self.more }
    }

    /// For a report without an address: the only report with an address that fits.
    fn fitting(&self, index: usize, report: &Ranked) -> Option<usize> {
        if report.fault.address.is_some() {
            return None;
        }
        let others = self.list.iter().enumerate().filter(|(other, _)| *other != index);
        let mut others =
            others.filter(|(_, known)| known.fault.address.is_some() && fits(&known.fault, &report.fault));
        let (other, _) = others.next()?;
        others.next().is_none().then_some(other)
    }
}

/// Whether two reports may be of one fault: no fact of one contradicts the other.
pub(super) fn fits(a: &Fault, b: &Fault) -> bool {
    // Most reports of a long log differ in their pages.
    if a.address.zip(b.address).is_some_and(|(a, b)| !overlap(a, b)) {
        return false;
    }
    count(Count::Steps, 1);
    // A report that is not about the waves says nothing about one that may be.
    a.is_of_waves() == b.is_of_waves()
        && kind(a.kind, b.kind).is_some()
        && !is_apart(a, b)
        && agree(a.access.as_ref(), b.access.as_ref())
        && a.may_share_origin(b)
        && agree(reported_agent(a).as_ref(), reported_agent(b).as_ref())
        && agree(a.client.as_ref(), b.client.as_ref())
        && agree(a.ring.as_ref(), b.ring.as_ref())
        && agree(a.kernel.as_ref(), b.kernel.as_ref())
        && agree(a.assertion.as_ref(), b.assertion.as_ref())
}

/// Whether two reports of the kernel log are of different faults: its rows are joined by their times, so none lacks the
/// page of another one, or the ring.
fn is_apart(a: &Fault, b: &Fault) -> bool {
    let is_of_log = |fault: &Fault| {
        let sources = std::iter::once(fault.source).chain(fault.also.iter().map(|also| also.source));
        sources.into_iter().any(|source| source == FaultSource::KernelLog)
    };
    let differ = a.address.is_some() != b.address.is_some() || a.ring.is_some() != b.ring.is_some();
    differ && is_of_log(a) && is_of_log(b)
}

/// Adds the facts of another report of the same fault.
pub(super) fn join(own: &mut Fault, other: Fault) {
    if own.agent.is_none() || reported_agent(own).is_none() && reported_agent(&other).is_some() {
        (own.agent, own.agent_inferred) = (other.agent, other.agent_inferred);
    }
    own.kind = kind(own.kind, other.kind).unwrap_or(own.kind);
    own.address = match (own.address, other.address) {
        (Some(own), Some(other)) if other.bytes >= own.bytes => Some(own),
        (own, other) => other.or(own),
    };
    own.access = own.access.or(other.access);
    for reason in other.reasons {
        if !own.reasons.contains(&reason) {
            own.reasons.push(reason);
        }
    }
    own.has_all_reasons |= other.has_all_reasons;
    own.status = own.status.take().or(other.status);
    own.node = own.node.or(other.node);
    own.device = own.device.take().or(other.device);
    own.client = own.client.take().or(other.client);
    own.ring = own.ring.take().or(other.ring);
    own.kernel = own.kernel.take().or(other.kernel);
    own.process = own.process.or(other.process);
    own.assertion = own.assertion.take().or(other.assertion);
    // A reporter may repeat a fault thousands of times.
    let report = FaultReport { source: other.source, place: other.place };
    for report in std::iter::once(report).chain(other.also) {
        let known = std::iter::once(own.source).chain(own.also.iter().map(|also| also.source));
        if !known.into_iter().any(|source: FaultSource| source == report.source) {
            own.also.push(report);
        }
    }
}

/// The agent that the report itself identifies.
fn reported_agent(fault: &Fault) -> Option<u32> {
    fault.agent.filter(|_| fault.agent_inferred.is_none())
}

/// The kind of two reports of one fault; `None`: they are of different faults.
fn kind(one: FaultKind, other: FaultKind) -> Option<FaultKind> {
    match (one, other) {
        (one, other) if one == other => Some(one),
        (FaultKind::Memory, exact @ (FaultKind::Page | FaultKind::Aperture))
        | (exact @ (FaultKind::Page | FaultKind::Aperture), FaultKind::Memory) => Some(exact),
        // An assertion ends in a trap, which the queue reports as an exception.
        (FaultKind::Assertion, FaultKind::Exception) | (FaultKind::Exception, FaultKind::Assertion) => {
            Some(FaultKind::Assertion)
        }
        _ => None,
    }
}

fn overlap(one: FaultAddress, other: FaultAddress) -> bool {
    let (first, last) = if one.start <= other.start { (one, other) } else { (other, one) };
    last.start.wrapping_sub(first.start) < first.bytes
}
