//! Device core dumps of the kernel (`/sys/class/drm/card0/device/devcoredump/data`, amdgpu_dev_coredump.c): ring, process
//! and page of a reset.

use super::kernel_log::{padded_page, register};
use super::line::{self, after, from, name};
use super::page_fault::{apply, name_hub};
use crate::arch::FaultStatus;
use crate::capture::{Fault, FaultAddress, FaultKind, FaultSource, FileLocation};
use crate::import::text::{Cursor, find};

/// A line of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Begin,
    Process(u32),
    Ring(String),
    /// `[gfxhub] Page fault observed`
    Hub {
        is_mmhub: bool,
    },
    Page(FaultAddress),
    Status(u32),
}

fn row(row: Row) -> line::Row {
    line::Row::DeviceDump(row)
}

/// The first line.
pub(super) fn begin(_: &[u8], _: usize) -> Option<line::Row> {
    Some(row(Row::Begin))
}

/// `process_name: soft_recovery_p PID: 1720`
pub(super) fn process(text: &[u8], at: usize) -> Option<line::Row> {
    let process = line::process(after(from(text, at), " PID: ")?)?;
    Some(row(Row::Process(process)))
}

/// `IP Type: 0 Ring Name: gfx_0.0.0`
pub(super) fn ring(text: &[u8], at: usize) -> Option<line::Row> {
    name(from(text, at).strip_suffix(b"\n")?).map(|ring| row(Row::Ring(ring)))
}

/// `[gfxhub] Page fault observed`
pub(super) fn hub(text: &[u8], _: usize) -> Option<line::Row> {
    Some(row(Row::Hub { is_mmhub: find(text, "[mmhub").is_some() }))
}

/// `Faulty page starting at address: 0x00007f0000201000`; the first version has no colon.
pub(super) fn page(text: &[u8], at: usize) -> Option<line::Row> {
    let mut cursor = Cursor::new(from(text, at));
    let _ = cursor.take(":");
    padded_page(cursor.rest).map(|page| row(Row::Page(page)))
}

/// `Protection fault status register: 0x301031`
pub(super) fn status(text: &[u8], at: usize) -> Option<line::Row> {
    register(from(text, at)).map(|status| row(Row::Status(status)))
}

/// The dump that is read.
#[derive(Debug, Default)]
pub(super) struct DeviceDump {
    begun: Option<Begun>,
}

#[derive(Debug, Default)]
struct Begun {
    fault: Fault,
    page: Option<FaultAddress>,
    status: Option<u32>,
    is_mmhub: bool,
}

impl DeviceDump {
    /// Reads a row; returns the report of the dump before it.
    pub(super) fn row(&mut self, row: Row, place: Option<FileLocation>) -> Option<Fault> {
        if row == Row::Begin {
            let done = self.finish();
            let fault = Fault { source: FaultSource::DeviceDump, place, ..Fault::default() };
            self.begun = Some(Begun { fault, ..Begun::default() });
            return done;
        }
        // Other programs have such words, too.
        let begun = self.begun.as_mut()?;
        match row {
            Row::Begin => {}
            Row::Process(process) => begun.fault.process = begun.fault.process.or(Some(process)),
            Row::Ring(ring) => begun.fault.ring = begun.fault.ring.take().or(Some(ring)),
            Row::Hub { is_mmhub } => begun.is_mmhub = is_mmhub,
            Row::Page(page) => begun.page = begun.page.or(Some(page)),
            Row::Status(status) => begun.status = begun.status.or(Some(status)),
        }
        None
    }

    /// The report of the last dump; `None`: it names neither a ring nor a page.
    pub(super) fn finish(&mut self) -> Option<Fault> {
        let Begun { mut fault, page, status, is_mmhub } = self.begun.take()?;
        // The driver prints page 0 and status 0 without a fault of a page.
        let page = page.filter(|page| page.start != 0 || status.is_some_and(|status| status != 0));
        if let Some(page) = page {
            fault.address = Some(page);
            let status = status.map(FaultStatus::new);
            apply(&mut fault, status);
            name_hub(&mut fault, is_mmhub, None, status);
            return Some(fault);
        }
        fault.kind = FaultKind::Hang;
        fault.ring.is_some().then_some(fault)
    }
}
