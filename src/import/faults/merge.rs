//! Reports of one fault by several reporters: one fault with the facts of all.

use crate::capture::{Agent, Fault, FaultAddress, FaultKind, FaultReport, MAX_FAULTS};

/// A report, with a fact that only a comparison with the agents turns into one about the fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) fault: Fault,
    /// PCI bus, device and function of the GPU, as in `Hardware::location`.
    pub(super) location: Option<u32>,
}

impl From<Fault> for Found {
    fn from(fault: Fault) -> Self {
        Self { fault, location: None }
    }
}

/// Reports, each fault once.
#[derive(Debug, Default)]
pub(super) struct Merged {
    list: Vec<Found>,
    more: usize,
}

/// The faults of [`Merged`].
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) faults: Vec<Fault>,
    /// Number of faults beyond [`MAX_FAULTS`].
    pub(super) more: usize,
}

impl Merged {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a report to an earlier one of the same fault, else to the list. A report without an address joins another
    /// one with an address only at the end: until then another one may fit as well.
    pub(super) fn add(&mut self, found: Found) {
        let is_same =
            |known: &&mut Found| has_address(&known.fault) == has_address(&found.fault) && known.fits(&found);
        if let Some(known) = self.list.iter_mut().find(is_same) {
            known.join(found);
        } else if self
            .list
            .iter()
            .filter(|known| has_address(&known.fault) == has_address(&found.fault))
            .count()
            < MAX_FAULTS
        {
            // At the end a report without an address may join another one: the list then keeps its maximum length.
            self.list.push(found);
        } else {
            self.more += 1;
        }
    }

    /// Adds all reports of another list.
    pub(super) fn extend(&mut self, other: Self) {
        self.more += other.more;
        for found in other.list {
            self.add(found);
        }
    }

    /// The faults; `agents`: those of the capture.
    pub(super) fn finish(mut self, agents: &[Agent]) -> Faults {
        let mut index = 0;
        while let Some(found) = self.list.get(index) {
            match self.fitting(index, found) {
                Some(other) => {
                    let found = self.list.remove(index);
                    // The removed report was before or after the other one.
                    let other = if other > index { other - 1 } else { other };
                    if let Some(known) = self.list.get_mut(other) {
                        known.join(found);
                    }
                }
                None => index += 1,
            }
        }
        self.more += self.list.len().saturating_sub(MAX_FAULTS);
        self.list.truncate(MAX_FAULTS);
        let faults = self.list.into_iter().map(|found| {
            let mut at = agents.iter().filter(|agent| {
                let location = agent.hardware.as_ref().map(|hardware| hardware.location);
                found.location.is_some() && location == found.location
            });
            let agent = at.next().filter(|_| at.next().is_none()).map(|agent| agent.id);
            match reported_agent(&found.fault).or(agent) {
                Some(agent) => Fault { agent: Some(agent), agent_inferred: None, ..found.fault },
                None => found.fault,
            }
        });
        Faults { faults: faults.collect(), more: self.more }
    }

    /// For a report without an address: the only report with an address that fits.
    fn fitting(&self, index: usize, found: &Found) -> Option<usize> {
        if found.fault.address.is_some() {
            return None;
        }
        let others =
            self.list.iter().enumerate().filter(|(other, known)| *other != index && known.fits(found));
        let mut others = others.filter(|(_, known)| known.fault.address.is_some());
        let (other, _) = others.next()?;
        others.next().is_none().then_some(other)
    }
}

impl Found {
    /// Whether two reports may be of one fault: no fact of one contradicts the other.
    fn fits(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
            one.zip(other).is_none_or(|(one, other)| one == other)
        }
        let (a, b) = (&self.fault, &other.fault);
        kind(a.kind, b.kind).is_some()
            && a.address.zip(b.address).is_none_or(|(a, b)| overlap(a, b))
            && agree(a.access.as_ref(), b.access.as_ref())
            && agree(a.node.as_ref(), b.node.as_ref())
            && agree(reported_agent(a).as_ref(), reported_agent(b).as_ref())
            && agree(a.client.as_ref(), b.client.as_ref())
            && agree(a.kernel.as_ref(), b.kernel.as_ref())
            && agree(a.process.as_ref(), b.process.as_ref())
            && agree(a.assertion.as_ref(), b.assertion.as_ref())
            && agree(self.location.as_ref(), other.location.as_ref())
    }

    /// Adds the facts of another report of the same fault.
    fn join(&mut self, other: Self) {
        let (own, other_location) = (&mut self.fault, other.location);
        if own.agent.is_none() || reported_agent(own).is_none() && reported_agent(&other.fault).is_some() {
            (own.agent, own.agent_inferred) = (other.fault.agent, other.fault.agent_inferred);
        }
        let Fault { kind: kind_of, address, access, reasons, has_all_reasons, .. } = other.fault;
        own.kind = kind(own.kind, kind_of).unwrap_or(own.kind);
        own.address = match (own.address, address) {
            (Some(own), Some(other)) if other.bytes >= own.bytes => Some(own),
            (own, other) => other.or(own),
        };
        own.access = own.access.or(access);
        for reason in reasons {
            if !own.reasons.contains(&reason) {
                own.reasons.push(reason);
            }
        }
        own.has_all_reasons |= has_all_reasons;
        own.node = own.node.or(other.fault.node);
        own.client = own.client.take().or(other.fault.client);
        own.kernel = own.kernel.take().or(other.fault.kernel);
        own.process = own.process.or(other.fault.process);
        own.assertion = own.assertion.take().or(other.fault.assertion);
        self.location = self.location.or(other_location);
        // A reporter may repeat a fault thousands of times.
        let report = FaultReport { source: other.fault.source, place: other.fault.place };
        for report in std::iter::once(report).chain(other.fault.also) {
            let known = std::iter::once(own.source).chain(own.also.iter().map(|also| also.source));
            if !known.into_iter().any(|source| source == report.source) {
                own.also.push(report);
            }
        }
    }
}

fn has_address(fault: &Fault) -> bool {
    fault.address.is_some()
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
