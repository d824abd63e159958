//! Joins rows of the kernel log to reports: by device, time and order. A log may be in reversed order (`journalctl -r`).

use super::kernel_log::{Row, device};
use super::merge::{Merged, Own};
use super::runtime::access;
use super::time::Time;
use crate::arch::FaultStatus;
use crate::capture::{
    DRIVER, Fault, FaultAccess, FaultKind, FaultReason, FaultSource, FileLocation, MAX_FAULTS,
};

/// Maximum number of GPUs with a begun report.
const MAX_GPUS: usize = 64;

/// The client of the memory hub of media and copies.
const MMHUB: &str = "mmhub";

/// The driver derives its reasons from the same bits.
fn reasons(status: FaultStatus) -> Vec<FaultReason> {
    let reasons = [
        (status.is_invalid(), FaultReason::NotPresent),
        (status.is_read_only(), FaultReason::ReadOnly),
        (status.is_no_execute(), FaultReason::NoExecute),
    ];
    reasons.into_iter().filter(|(is_set, _)| *is_set).map(|(_, reason)| reason).collect()
}

/// Adds the facts of a status register to a fault.
pub(super) fn apply(fault: &mut Fault, status: Option<FaultStatus>) {
    let Some(status) = status else { return };
    if !status.is_known() {
        // A status of 0 belongs to no client, and the driver prints the name of number 0. One of all ones was not read.
        fault.client = None;
        return;
    }
    fault.status = Some(format!("{:#010x}", status.0));
    fault.reasons = reasons(status);
    fault.has_all_reasons = true;
    let by_reason = access(&fault.reasons).filter(|access| *access == FaultAccess::Execute);
    let by_bit = if status.is_write() { FaultAccess::Write } else { FaultAccess::Read };
    fault.access = Some(by_reason.unwrap_or(by_bit));
}

/// Names the memory hub, or the driver, as the client. `is_driver`: by the first row; the status has it, too.
pub(super) fn name_hub(
    fault: &mut Fault,
    is_mmhub: bool,
    is_driver: Option<bool>,
    status: Option<FaultStatus>,
) {
    if is_mmhub && fault.client.as_ref().is_none_or(|client| client.starts_with("TCP")) {
        fault.client = Some(MMHUB.to_owned());
    }
    if is_driver.unwrap_or_else(|| status.is_some_and(FaultStatus::is_of_driver)) {
        fault.client = Some(DRIVER.to_owned());
    }
}

/// The order of a log's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    OldestFirst,
    NewestFirst,
}

/// The place of a row in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Header,
    Page,
    Status,
    Client,
}

/// A report during reading.
#[derive(Clone, Debug)]
struct Begun {
    time: Option<Time>,
    /// The last row's.
    rank: Rank,
    fault: Fault,
    status: Option<FaultStatus>,
    has_header: bool,
    is_mmhub: bool,
    /// By the first row.
    is_driver: Option<bool>,
    /// Whether the client's number is 0.
    has_client_zero: bool,
}

impl Begun {
    /// Whether a row may be of this report.
    fn is_of(&self, device: Option<&str>, time: Option<Time>) -> bool {
        self.fault.device.as_deref() == device && Time::are_near(self.time, time)
    }

    /// The fault; `None`: neither its first row nor its page was read.
    fn finish(self) -> Option<Fault> {
        let mut fault = self.fault;
        if fault.address.is_none() && !self.has_header {
            return None;
        }
        apply(&mut fault, self.status);
        if self.has_client_zero && self.status.is_none() {
            fault.client = None;
        }
        name_hub(&mut fault, self.is_mmhub, self.is_driver, self.status);
        if fault.client.as_deref() == Some(INSTRUCTIONS) {
            fault.access = Some(FaultAccess::Execute);
        }
        Some(fault)
    }
}

/// The client that fetches instructions.
const INSTRUCTIONS: &str = "SQC (inst)";

/// A hang during reading: its process is in the next row.
#[derive(Clone, Debug)]
struct BegunHang {
    time: Option<Time>,
    fault: Fault,
    is_reset: bool,
}

/// Joins the rows of reports, in both orders, until the end shows which one is right.
#[derive(Debug)]
pub(super) struct KernelLog {
    forward: Joined,
    reverse: Joined,
    /// The last row of each device.
    ranks: Vec<(Option<String>, Rank)>,
    /// Whether the last row of a hang or process is that of a ring, which its process follows.
    after_ring: Option<bool>,
    /// Number of rows that follow one before them in a report, and of the others.
    ascending: usize,
    descending: usize,
    first: Option<Time>,
    last: Option<Time>,
}

impl KernelLog {
    pub(super) fn new(own: &Own) -> Self {
        Self {
            forward: Joined::new(Order::OldestFirst, own),
            reverse: Joined::new(Order::NewestFirst, own),
            ranks: Vec::new(),
            after_ring: None,
            ascending: 0,
            descending: 0,
            first: None,
            last: None,
        }
    }

    /// Reads a row of a line.
    pub(super) fn row(&mut self, text: &[u8], row: &Row, place: Option<&FileLocation>) {
        let (device, time) = (device(text), Time::of(text));
        self.first = self.first.or(time);
        self.last = time.or(self.last);
        let rank = match row {
            Row::Header { .. } => Some(Rank::Header),
            Row::Page { .. } => Some(Rank::Page),
            Row::Status { .. } => Some(Rank::Status),
            Row::Client { .. } => Some(Rank::Client),
            Row::Process(_) | Row::Hang { .. } | Row::Ecc => None,
        };
        if let Some(rank) = rank {
            let known = self.ranks.iter_mut().find(|(of, _)| *of == device);
            if let Some((_, last)) = known {
                self.ascending += usize::from(rank > *last);
                self.descending += usize::from(rank < *last);
                *last = rank;
            } else if self.ranks.len() < MAX_GPUS {
                self.ranks.push((device.clone(), rank));
            }
        }
        let is_ring = match row {
            Row::Hang { ring, .. } => ring.as_ref().map(|_| true),
            Row::Process(_) => Some(false),
            _ => None,
        };
        if is_ring.is_some() {
            self.ascending += usize::from((self.after_ring, is_ring) == (Some(true), Some(false)));
            self.descending += usize::from((self.after_ring, is_ring) == (Some(false), Some(true)));
        }
        self.after_ring = is_ring;
        for joined in [&mut self.forward, &mut self.reverse] {
            joined.row((device.as_deref(), time), (row, rank), place);
        }
    }

    /// The reports, and whether the log has the newest first.
    pub(super) fn finish(self) -> (Merged, bool) {
        let is_later = |one: Option<Time>, other| one.zip(other).is_some_and(|(one, other)| one > other);
        let is_reversed = match self.descending.cmp(&self.ascending) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => is_later(self.first, self.last),
        };
        let joined = if is_reversed { self.reverse } else { self.forward };
        (joined.finish(), is_reversed)
    }
}

/// Reports in one order.
#[derive(Debug)]
struct Joined {
    order: Order,
    begun: Vec<Begun>,
    hangs: Vec<BegunHang>,
    /// In reversed order: processes whose hang or first row follows.
    processes: Vec<(Option<String>, Option<Time>, u32)>,
    reports: Merged,
    /// GPUs and times of reports with a status: those with a status of 0 repeat it.
    statuses: Vec<(Option<String>, Option<Time>)>,
    /// Reports with a status of 0.
    without: Vec<(Option<Time>, Fault)>,
}

impl Joined {
    fn new(order: Order, own: &Own) -> Self {
        Self {
            order,
            begun: Vec::new(),
            hangs: Vec::new(),
            processes: Vec::new(),
            reports: Merged::of(own.clone(), order == Order::NewestFirst),
            statuses: Vec::new(),
            without: Vec::new(),
        }
    }

    fn row(
        &mut self,
        (device, time): (Option<&str>, Option<Time>),
        (row, rank): (&Row, Option<Rank>),
        place: Option<&FileLocation>,
    ) {
        let new = |kind| Fault {
            kind,
            device: device.map(str::to_owned),
            source: FaultSource::KernelLog,
            place: place.cloned(),
            ..Fault::default()
        };
        let Some(rank) = rank else {
            match row {
                Row::Process(process) => self.process(device, time, *process),
                Row::Hang { ring, is_reset } => {
                    let process = self.process_before(device, time);
                    let fault = Fault { ring: ring.clone(), process, ..new(FaultKind::Hang) };
                    self.hang(BegunHang { time, fault, is_reset: *is_reset });
                }
                _ => self.reports.add(new(FaultKind::Ecc)),
            }
            return;
        };
        let begins = |begun: &Begun| match self.order {
            Order::OldestFirst => rank <= begun.rank,
            Order::NewestFirst => rank >= begun.rank,
        };
        let known = self.begun.iter().position(|begun| begun.fault.device.as_deref() == device);
        let is_new = known
            .and_then(|at| self.begun.get(at))
            .is_none_or(|begun| begins(begun) || !begun.is_of(device, time));
        if is_new {
            if let Some(at) = known {
                let before = self.begun.remove(at);
                self.end(before);
            }
            let begun = Begun {
                time,
                rank,
                fault: new(FaultKind::Page),
                status: None,
                has_header: false,
                is_mmhub: false,
                is_driver: None,
                has_client_zero: false,
            };
            if let Some(oldest) = push(&mut self.begun, begun) {
                self.end(oldest);
            }
        }
        let own = if rank == Rank::Header { self.process_before(device, time) } else { None };
        let Some(begun) = self.begun.iter_mut().find(|begun| begun.fault.device.as_deref() == device) else {
            return;
        };
        begun.rank = rank;
        match row {
            Row::Header { is_mmhub, is_driver, process } => {
                begun.has_header = true;
                begun.is_mmhub |= *is_mmhub;
                begun.is_driver = *is_driver;
                begun.fault.process = process.or(own);
                begun.fault.place = place.cloned();
            }
            Row::Page { address, is_mmhub } => {
                begun.fault.address = Some(*address);
                begun.is_mmhub |= *is_mmhub;
            }
            Row::Status { status, is_mmhub } => {
                begun.status = Some(FaultStatus(*status));
                begun.is_mmhub |= *is_mmhub;
            }
            Row::Client { name, is_zero } => {
                begun.fault.client = Some(name.clone());
                begun.has_client_zero = *is_zero;
            }
            Row::Process(_) | Row::Hang { .. } | Row::Ecc => {}
        }
        if self.order == Order::NewestFirst && rank == Rank::Header {
            let at = self.begun.iter().position(|begun| begun.fault.device.as_deref() == device);
            if let Some(begun) = at.map(|at| self.begun.remove(at)) {
                self.end(begun);
            }
        }
    }

    /// Reads the row of a process: of the row before it, in reversed order of one after it.
    fn process(&mut self, device: Option<&str>, time: Option<Time>, process: u32) {
        if self.order == Order::NewestFirst {
            push(&mut self.processes, (device.map(str::to_owned), time, process));
            return;
        }
        let begun = self.begun.iter_mut().find(|begun| begun.is_of(device, time));
        if let Some(begun) = begun.filter(|begun| begun.rank == Rank::Header && begun.fault.process.is_none())
        {
            begun.fault.process = Some(process);
            return;
        }
        let is_of = |hang: &&mut BegunHang| {
            hang.fault.device.as_deref() == device
                && Time::are_near(hang.time, time)
                && hang.fault.process.is_none()
        };
        if let Some(hang) = self.hangs.iter_mut().find(is_of) {
            hang.fault.process = Some(process);
        }
    }

    /// In reversed order: the process of the row that was read before.
    fn process_before(&mut self, device: Option<&str>, time: Option<Time>) -> Option<u32> {
        let is_of = |(of, at, _): &(Option<String>, Option<Time>, u32)| {
            of.as_deref() == device && Time::are_near(*at, time)
        };
        let at = self.processes.iter().rposition(is_of)?;
        Some(self.processes.remove(at).2)
    }

    /// Begins a hang, and ends the one before it of its device. A reset is that of the ring before it, whose row names no
    /// device in old kernels.
    fn hang(&mut self, hang: BegunHang) {
        let is_pair = |known: &BegunHang| {
            let (ring, reset) = match self.order {
                Order::OldestFirst => (known, &hang),
                Order::NewestFirst => (&hang, known),
            };
            let devices = ring.fault.device.as_ref().zip(reset.fault.device.as_ref());
            ring.fault.ring.is_some()
                && reset.is_reset
                && Time::are_near(ring.time, reset.time)
                && devices.is_none_or(|(ring, reset)| ring == reset)
        };
        if let Some(at) = self.hangs.iter().position(is_pair) {
            let known = self.hangs.remove(at);
            let (mut ring, reset) = match self.order {
                Order::OldestFirst => (known, hang),
                Order::NewestFirst => (hang, known),
            };
            ring.fault.process = ring.fault.process.or(reset.fault.process);
            ring.fault.device = ring.fault.device.or(reset.fault.device);
            self.hangs.push(ring);
            return;
        }
        if let Some(at) = self.hangs.iter().position(|known| known.fault.device == hang.fault.device) {
            let before = self.hangs.remove(at);
            self.reports.add(before.fault);
        }
        if let Some(oldest) = push(&mut self.hangs, hang) {
            self.reports.add(oldest.fault);
        }
    }

    /// Ends a report: one with a status of 0 waits for the end of the log.
    fn end(&mut self, begun: Begun) {
        let (status, time) = (begun.status, begun.time);
        let Some(mut fault) = begun.finish() else { return };
        self.reports.mark(&mut fault);
        if status.is_some_and(FaultStatus::is_known) && fault.is_of_waves() {
            push(&mut self.statuses, (fault.device.clone(), time));
        }
        if status != Some(FaultStatus(0)) {
            self.reports.add(fault);
        } else if self.without.len() < MAX_FAULTS {
            self.without.push((time, fault));
        }
    }

    /// All reports. Those with a status of 0 repeat a report with a status, of their GPU and near in time, if there is one.
    fn finish(mut self) -> Merged {
        for begun in std::mem::take(&mut self.begun) {
            self.end(begun);
        }
        for hang in std::mem::take(&mut self.hangs) {
            self.reports.add(hang.fault);
        }
        for (time, fault) in self.without {
            let is_repeated =
                |(device, at): &(Option<String>, _)| *device == fault.device && Time::are_near(*at, time);
            if !self.statuses.iter().any(is_repeated) {
                self.reports.add(fault);
            }
        }
        self.reports
    }
}

/// Adds to a bounded list; returns the oldest entry that it replaces.
fn push<T>(list: &mut Vec<T>, new: T) -> Option<T> {
    let oldest = (list.len() >= MAX_GPUS).then(|| list.remove(0));
    list.push(new);
    oldest
}
