//! amdgpu's page faults in the kernel log (gmc_v9_0.c to gmc_v12_0.c), and in RADV's files.

use super::line::{self, access, after, name, pointer};
use super::merge::Found;
use crate::arch::FaultStatus;
use crate::capture::{Fault, FaultAccess, FaultAddress, FaultReason, FaultSource, FileLocation, PAGE};
use crate::import::text::Cursor;

/// Maximum number of GPUs with a begun report.
const MAX_GPUS: usize = 64;

/// The client of accesses in the driver's own address space, VMID 0: no wave runs there.
const DRIVER: &str = "driver (VMID 0)";

/// A line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// `[gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32769, for process app pid 12 thread app pid 12)`
    Header {
        /// Whether it is the memory hub of media and copies.
        is_mmhub: bool,
        /// Whether it is the driver's own address space.
        is_driver: bool,
        process: Option<u32>,
    },
    /// `in page starting at address 0x00007f0000201000 from IH client 0x1b (UTCL2)`
    Page(FaultAddress),
    /// `GCVM_L2_PROTECTION_FAULT_STATUS:0x00301031`
    Status(u32),
    /// `Faulty UTCL2 client ID: TCP (0x8)`
    Client(String),
    /// ` Process app pid 12 thread app pid 12`, on a line of its own since Linux 6.9
    Process(u32),
}

pub(super) fn header(text: &[u8], at: usize) -> Option<line::Row> {
    let before = text.get(..at)?;
    let is_gpu = |hub: &str| crate::import::text::find(before, hub).is_some();
    let is_mmhub = is_gpu("[mmhub");
    if !is_mmhub && !is_gpu("[gfxhub") {
        return None;
    }
    let is_driver = after(text, "vmid:").and_then(|text| Cursor::new(text).decimal()) == Some(0);
    Some(line::Row::Kernel(Row::Header { is_mmhub, is_driver, process: process_id(text) }))
}

pub(super) fn page(text: &[u8], at: usize) -> Option<line::Row> {
    let address = pointer(text.get(at..)?)?;
    Some(line::Row::Kernel(Row::Page(FaultAddress { bytes: PAGE, ..address })))
}

/// `at page 0x0000000100801000 from 27`, before Linux 5.1.
pub(super) fn old_page(text: &[u8], at: usize) -> Option<line::Row> {
    page(text, at.checked_sub("0x".len())?)
}

pub(super) fn status(text: &[u8], at: usize) -> Option<line::Row> {
    let mut cursor = Cursor::new(text.get(at..)?);
    cursor.spaces();
    let status = u32::try_from(cursor.address()?).ok()?;
    Some(line::Row::Kernel(Row::Status(status)))
}

/// The client by name; the kernel prints `unknown` for one without a name. RADV: `CLIENT_ID: (TCP) 0x8`.
pub(super) fn client(text: &[u8], at: usize) -> Option<line::Row> {
    let text = text.get(at..)?;
    let text = text.strip_prefix(b"(").unwrap_or(text);
    let end = text.iter().position(|byte| matches!(byte, b' ' | b')')).unwrap_or(text.len());
    let client = name(text.get(..end)?).filter(|name| name != "unknown")?;
    Some(line::Row::Kernel(Row::Client(client)))
}

pub(super) fn process(text: &[u8], _: usize) -> Option<line::Row> {
    process_id(text).map(|process| line::Row::Kernel(Row::Process(process)))
}

fn process_id(text: &[u8]) -> Option<u32> {
    let text = after(text, "rocess ")?;
    let process = Cursor::new(after(text, " pid ")?).decimal()?;
    u32::try_from(process).ok().filter(|process| *process > 0)
}

/// The driver derives its reasons from the same bits.
fn reasons(status: FaultStatus) -> Vec<FaultReason> {
    let reasons = [
        (status.is_invalid(), FaultReason::NotPresent),
        (status.is_read_only(), FaultReason::ReadOnly),
        (status.is_no_execute(), FaultReason::NoExecute),
    ];
    reasons.into_iter().filter(|(is_set, _)| *is_set).map(|(_, reason)| reason).collect()
}

/// A report during reading.
#[derive(Clone, Debug, Default)]
struct Begun {
    /// The GPU's PCI address in the line's prefix.
    gpu: Option<u32>,
    fault: Fault,
    status: Option<FaultStatus>,
    is_mmhub: bool,
    is_driver: bool,
}

impl Begun {
    fn finish(self) -> Option<Found> {
        let mut fault = self.fault;
        fault.address?;
        if let Some(status) = self.status.filter(|status| status.is_known()) {
            fault.reasons = reasons(status);
            fault.has_all_reasons = true;
            let by_reason = access(&fault.reasons).filter(|access| *access == FaultAccess::Execute);
            let by_bit = if status.is_write() { FaultAccess::Write } else { FaultAccess::Read };
            fault.access = Some(by_reason.unwrap_or(by_bit));
        } else if self.status.is_some() {
            // A status of 0 belongs to no client; the driver prints the name of number 0.
            fault.client = None;
        }
        if self.is_mmhub && fault.client.as_ref().is_none_or(|client| client.starts_with("TCP")) {
            fault.client = Some("mmhub".to_owned());
        }
        if self.is_driver {
            fault.client = Some(DRIVER.to_owned());
        }
        Some(Found { fault, location: self.gpu })
    }
}

/// Joins the lines of reports, by GPU.
#[derive(Debug, Default)]
pub(super) struct KernelLog {
    begun: Vec<Begun>,
    /// Whether a report has a status: those with a status of 0 then repeat it.
    has_status: bool,
    /// Reports without a status, or with one of 0.
    without: Vec<Found>,
}

impl KernelLog {
    /// Reads a row; returns a complete report.
    pub(super) fn row(&mut self, text: &[u8], row: Row, place: Option<FileLocation>) -> Option<Found> {
        let gpu = gpu(text);
        let index = self.begun.iter().position(|begun| begun.gpu == gpu);
        let known = index.and_then(|index| self.begun.get_mut(index));
        let begins = match (&row, &known) {
            (Row::Header { .. }, _) => true,
            (Row::Page(_), Some(known)) => known.fault.address.is_some(),
            (Row::Page(_), None) => true,
            _ => false,
        };
        let mut done = None;
        if begins {
            let fault = Fault { source: FaultSource::KernelLog, place, ..Fault::default() };
            let new = Begun { gpu, fault, ..Begun::default() };
            let before = match known {
                Some(known) => Some(std::mem::replace(known, new)),
                None => {
                    let oldest = (self.begun.len() >= MAX_GPUS).then(|| self.begun.remove(0));
                    self.begun.push(new);
                    oldest
                }
            };
            done = before.and_then(|before| self.end(before));
        }
        let begun = self.begun.iter_mut().find(|begun| begun.gpu == gpu)?;
        match row {
            Row::Header { is_mmhub, is_driver, process } => {
                begun.is_mmhub = is_mmhub;
                begun.is_driver = is_driver;
                begun.fault.process = process;
            }
            Row::Page(address) => begun.fault.address = Some(address),
            Row::Status(status) => begun.status = begun.status.or(Some(FaultStatus(status))),
            Row::Client(client) => begun.fault.client = begun.fault.client.take().or(Some(client)),
            // The driver prints the process before the page.
            Row::Process(process) if begun.fault.address.is_none() => {
                begun.fault.process = begun.fault.process.or(Some(process));
            }
            Row::Process(_) => {}
        }
        done
    }

    /// Ends a report: one with a status is returned, another one waits for the end of the log.
    fn end(&mut self, begun: Begun) -> Option<Found> {
        let has_status = begun.status.is_some_and(FaultStatus::is_known);
        let is_zero = begun.status.is_some() && !has_status;
        self.has_status |= has_status;
        let found = begun.finish()?;
        if !is_zero {
            return Some(found);
        }
        if self.without.len() < crate::capture::MAX_FAULTS {
            self.without.push(found);
        }
        None
    }

    /// The reports that the end of the log completes. Those with a status of 0 count if no other one has a status.
    pub(super) fn finish(mut self) -> Vec<Found> {
        let begun = std::mem::take(&mut self.begun);
        let mut found: Vec<Found> = begun.into_iter().filter_map(|begun| self.end(begun)).collect();
        if !self.has_status {
            found.append(&mut self.without);
        }
        found
    }
}

/// The PCI address before a message: `amdgpu 0000:03:00.0: `, as bus, device and function.
fn gpu(text: &[u8]) -> Option<u32> {
    let mut cursor = Cursor::new(after(text, "amdgpu ")?);
    let mut number = |separator: &str, digits: usize| {
        let (found, value) = cursor.hex()?;
        (found == digits && cursor.take(separator)).then_some(value)
    };
    let (domain, bus, device) = (number(":", 4)?, number(":", 2)?, number(".", 2)?);
    let function = cursor.hex().map(|(_, function)| function).filter(|function| *function < 8)?;
    let location = bus << 8 | (device & 0x1f) << 3 | function;
    // The driver's location has no domain: it is kept apart in the upper half.
    u32::try_from(domain << 16 | location).ok()
}
