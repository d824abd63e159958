//! Joins rows of the kernel log to reports: by device, time and order. A log may be in reversed order (`journalctl -r`).

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::kernel_log::{Row, device};
use super::merge::{Merged, Own};
use super::runtime::access;
use super::time::Time;
use crate::arch::FaultStatus;
use crate::capture::{DRIVER, Fault, FaultAccess, FaultKind, FaultReason, FaultSource, FileLocation, agree};

/// Maximum number of GPUs whose rows are joined at a time.
const MAX_GPUS: usize = 64;

/// Maximum number of a GPU's reports that wait for rows near them.
const MAX_RECENT: usize = 64;

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
    fault.status = Some(format!("{:#010x}", status.value()));
    if !status.has_fields() {
        return;
    }
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
    // It has no client of waves: the names are those of another hub.
    if is_mmhub && fault.is_of_waves() {
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

/// The place of a row among those of a hang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HangRank {
    Ring,
    Process,
    Reset,
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
    fn new(time: Option<Time>, rank: Rank, fault: Fault) -> Self {
        Self {
            time,
            rank,
            fault,
            status: None,
            has_header: false,
            is_mmhub: false,
            is_driver: None,
            has_client_zero: false,
        }
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
    /// The last row, if it is one of a hang.
    hang: Option<(HangRank, Option<Time>)>,
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
            hang: None,
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
            Row::Process(_) | Row::Hang { .. } | Row::Ecc | Row::Wave(_) => None,
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
        let hang = match row {
            Row::Hang { ring: Some(_), .. } => Some((HangRank::Ring, time)),
            Row::Process(_) => Some((HangRank::Process, time)),
            Row::Hang { is_reset: true, .. } => Some((HangRank::Reset, time)),
            _ => None,
        };
        if let Some(((before, at), (rank, time))) = self.hang.zip(hang)
            && Time::are_near(at, time)
        {
            let order = Time::compared(time, at).filter(|order| order.is_ne());
            match order.unwrap_or_else(|| rank.cmp(&before)) {
                Ordering::Greater => self.ascending += 1,
                Ordering::Less => self.descending += 1,
                Ordering::Equal => {}
            }
        }
        self.hang = hang;
        for joined in [&mut self.forward, &mut self.reverse] {
            joined.row((device.as_deref(), time), (row, rank), place);
        }
    }

    /// The reports, and whether the log has the newest first.
    pub(super) fn finish(self) -> (Merged, bool) {
        let is_reversed = match self.descending.cmp(&self.ascending) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => Time::compared(self.first, self.last).is_some_and(Ordering::is_gt),
        };
        let joined = if is_reversed { self.reverse } else { self.forward };
        (joined.finish(), is_reversed)
    }
}

/// Reports in one order.
#[derive(Debug)]
struct Joined {
    order: Order,
    gpus: VecDeque<Gpu>,
    reports: Merged,
    /// Errors of waves.
    waves: VecDeque<(Option<Time>, Fault)>,
}

impl Joined {
    fn new(order: Order, own: &Own) -> Self {
        let reports = Merged::of(own.clone(), order == Order::NewestFirst);
        Self { order, gpus: VecDeque::new(), reports, waves: VecDeque::new() }
    }

    /// The rows of a GPU, and the reports. The oldest of too many GPUs ends.
    fn gpu(&mut self, device: Option<&str>) -> (Option<&mut Gpu>, &mut Merged) {
        let known = self.gpus.iter().position(|gpu| gpu.device.as_deref() == device);
        let at = known.unwrap_or_else(|| {
            if self.gpus.len() >= MAX_GPUS
                && let Some(oldest) = self.gpus.pop_front()
            {
                oldest.finish(&mut self.reports);
            }
            self.gpus.push_back(Gpu { device: device.map(str::to_owned), ..Gpu::default() });
            self.gpus.len() - 1
        });
        (self.gpus.get_mut(at), &mut self.reports)
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
        let order = self.order;
        match row {
            Row::Ecc => return self.reports.add(new(FaultKind::Ecc)),
            Row::Wave(kind) => {
                let last = self.waves.back();
                let is_again = |(at, last): &(_, Fault)| {
                    last.kind == *kind && last.device.as_deref() == device && Time::are_near(*at, time)
                };
                if !last.is_some_and(is_again)
                    && let Some(oldest) = push(&mut self.waves, (time, new(*kind)))
                {
                    self.reports.add(oldest.1);
                }
                return;
            }
            _ => {}
        }
        let (Some(gpu), reports) = self.gpu(device) else { return };
        let Some(rank) = rank else {
            match row {
                Row::Process(process) => gpu.process(order, time, *process),
                Row::Hang { ring, is_reset } => {
                    let process = gpu.process_before(time);
                    let fault = Fault { ring: ring.clone(), process, ..new(FaultKind::Hang) };
                    self.hang(BegunHang { time, fault, is_reset: *is_reset });
                }
                _ => {}
            }
            return;
        };
        let begins = |begun: &Begun| match order {
            Order::OldestFirst => rank <= begun.rank,
            Order::NewestFirst => rank >= begun.rank,
        };
        if gpu.begun.as_ref().is_none_or(|begun| begins(begun) || !Time::are_near(begun.time, time)) {
            gpu.end(reports);
        }
        let own = if rank == Rank::Header { gpu.process_before(time) } else { None };
        let begun = gpu.begun.get_or_insert_with(|| Begun::new(time, rank, new(FaultKind::Page)));
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
                begun.status = Some(*status);
                begun.is_mmhub |= *is_mmhub;
            }
            Row::Client { name, is_zero } => {
                begun.fault.client = Some(name.clone());
                begun.has_client_zero = *is_zero;
            }
            Row::Process(_) | Row::Hang { .. } | Row::Ecc | Row::Wave(_) => {}
        }
        if order == Order::NewestFirst && rank == Rank::Header {
            gpu.end(reports);
        }
    }

    /// Begins a hang, and ends the one before it of its device. A reset is that of the ring before it, whose row names no
    /// device in old kernels.
    fn hang(&mut self, mut hang: BegunHang) {
        let order = self.order;
        let is_pair = |known: &mut BegunHang| {
            let (ring, reset) = match order {
                Order::OldestFirst => (&*known, &hang),
                Order::NewestFirst => (&hang, &*known),
            };
            let devices = ring.fault.device.as_ref().zip(reset.fault.device.as_ref());
            ring.fault.ring.is_some()
                && reset.is_reset
                && Time::are_near(ring.time, reset.time)
                && devices.is_none_or(|(ring, reset)| ring == reset)
        };
        let known = self.gpus.iter_mut().find_map(|gpu| gpu.hang.take_if(&is_pair));
        if let Some(known) = known {
            let reset;
            (hang, reset) = match order {
                Order::OldestFirst => (known, hang),
                Order::NewestFirst => (hang, known),
            };
            hang.fault.process = hang.fault.process.or(reset.fault.process);
            hang.fault.device = hang.fault.device.or(reset.fault.device);
        }
        let (Some(gpu), reports) = self.gpu(hang.fault.device.clone().as_deref()) else { return };
        if let Some(before) = gpu.hang.replace(hang) {
            reports.add(before.fault);
        }
    }

    /// All reports. An error of a wave is of the process whose page fault is near; such an access ends in one.
    fn finish(mut self) -> Merged {
        let mut pages = Vec::new();
        for mut gpu in self.gpus {
            gpu.end(&mut self.reports);
            let device = gpu.device.clone();
            pages.extend(gpu.pages.drain(..).map(|(time, process)| (device.clone(), time, process)));
            gpu.finish(&mut self.reports);
        }
        for (time, mut fault) in self.waves {
            let is_near = |(device, at, _): &&(Option<String>, _, _)| {
                agree(device.as_ref(), fault.device.as_ref()) && Time::are_near(*at, time)
            };
            let near = pages.iter().find(is_near);
            if near.is_none() || fault.kind != FaultKind::Memory {
                fault.process = near.and_then(|(.., process)| *process);
                self.reports.add(fault);
            }
        }
        self.reports
    }
}

/// The last rows of a GPU.
#[derive(Debug, Default)]
struct Gpu {
    device: Option<String>,
    begun: Option<Begun>,
    hang: Option<BegunHang>,
    /// In reversed order: a process whose hang or first row follows.
    process: Option<(Option<Time>, u32)>,
    /// Reports near the last one of which a status of 0 may repeat one with a status: the statuses' processes.
    known: VecDeque<(Option<Time>, Option<u32>)>,
    /// Those with a status of 0.
    zero: VecDeque<(Option<Time>, Fault)>,
    /// The last reports' processes.
    pages: VecDeque<(Option<Time>, Option<u32>)>,
}

impl Gpu {
    /// Reads the row of a process: of the row before it, in reversed order of one after it.
    fn process(&mut self, order: Order, time: Option<Time>, process: u32) {
        if order == Order::NewestFirst {
            self.process = Some((time, process));
            return;
        }
        let begun = self.begun.as_mut().filter(|begun| Time::are_near(begun.time, time));
        let header = begun.filter(|begun| begun.rank == Rank::Header && begun.fault.process.is_none());
        let hang = self.hang.as_mut().filter(|hang| Time::are_near(hang.time, time));
        if let Some(begun) = header {
            begun.fault.process = Some(process);
        } else if let Some(hang) = hang {
            hang.fault.process = hang.fault.process.or(Some(process));
        }
    }

    /// In reversed order: the process of the row that was read before.
    fn process_before(&mut self, time: Option<Time>) -> Option<u32> {
        self.process.take_if(|(at, _)| Time::are_near(*at, time)).map(|(_, process)| process)
    }

    /// Ends the begun report. A status of 0 repeats a report with a status of the same process, near in time, before it or
    /// after it.
    fn end(&mut self, reports: &mut Merged) {
        let Some(begun) = self.begun.take() else { return };
        let (status, time) = (begun.status, begun.time);
        let Some(mut fault) = begun.finish() else { return };
        push(&mut self.pages, (time, fault.process));
        reports.mark(&mut fault);
        self.known.retain(|(at, _)| Time::are_near(*at, time));
        while let Some((_, older)) = self.zero.pop_front_if(|(at, _)| !Time::are_near(*at, time)) {
            reports.add(older);
        }
        if status.is_some_and(FaultStatus::is_known) && fault.is_of_waves() {
            self.zero.retain(|(_, zero)| !agree(zero.process.as_ref(), fault.process.as_ref()));
            self.known.retain(|(_, process)| *process != fault.process);
            push(&mut self.known, (time, fault.process));
        }
        if status.is_none_or(|status| status.value() != 0) {
            reports.add(fault);
        } else if !self.known.iter().any(|(_, process)| agree(process.as_ref(), fault.process.as_ref()))
            && let Some((_, oldest)) = push(&mut self.zero, (time, fault))
        {
            reports.add(oldest);
        }
    }

    /// Ends all reports.
    fn finish(mut self, reports: &mut Merged) {
        self.end(reports);
        self.zero.into_iter().map(|(_, fault)| fault).for_each(|fault| reports.add(fault));
        self.hang.into_iter().for_each(|hang| reports.add(hang.fault));
    }
}

/// Adds to a bounded list; returns the oldest entry that it replaces.
fn push<T>(list: &mut VecDeque<T>, new: T) -> Option<T> {
    let oldest = (list.len() >= MAX_RECENT).then(|| list.pop_front()).flatten();
    list.push_back(new);
    oldest
}
