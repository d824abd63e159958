//! Reports of faults in any text: the debug agent's, those of ROCm's and LLVM's runtimes, HIP's and the kernel log
//! (docs/captures.md, "Fault reports").
//!
//! [`mod@line`] and [`kernel_log`] are the grammar of one line, without state. [`Reader`] joins the lines of one report,
//! [`merge`] the reports of one fault. [`log`] reads the user's logs.

mod gpu;
mod kernel_log;
mod line;
mod log;
mod merge;

use std::io::{self, BufRead};

use self::kernel_log::KernelLog;
use self::line::{Grammar, Row};
use self::merge::{Found, Merged};
use super::problem::problem;
use super::text::Lines;
use crate::capture::{
    Capture, Fault, FaultAddress, FaultKind, FaultSource, FileLocation, MAX_FAULTS, Problem,
};
use crate::clean::clean;

pub(super) use self::gpu::identify;
pub(super) use self::log::{excerpts, read as read_log};

/// The mark of ROCm's message, which is also in texts without waves.
pub(super) const MARK: &str = "emory access fault ";

/// Reads all lines of a text; `file` is its name in places.
///
/// # Errors
/// The text cannot be read.
pub(super) fn read(file: &str, source: impl BufRead) -> io::Result<Reported> {
    let mut reader = Reader::new(file);
    let mut lines = Lines::new(source);
    let mut cut = None;
    while let Some(line) = lines.next()? {
        reader.line(line.number, line.text);
        cut = cut.or(line.cut.then_some(line.number));
    }
    Ok(Reported { cut, ..reader.finish() })
}

/// Reads the lines of one text.
#[derive(Debug)]
pub(super) struct Reader {
    file: String,
    grammar: Grammar,
    merged: Merged,
    /// A report whose address is on a later line.
    begun: Option<Found>,
    kernel_log: KernelLog,
    /// The kernel that the line before names, and the line's number.
    kernel: Option<(usize, String)>,
}

impl Reader {
    /// Creates a reader; `file` is the text's name in places.
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: clean(file).into_owned(),
            grammar: Grammar::new(),
            merged: Merged::default(),
            begun: None,
            kernel_log: KernelLog::default(),
            kernel: None,
        }
    }

    /// Reads a line with its number from 1.
    pub(super) fn line(&mut self, number: usize, text: &[u8]) {
        for report in line::reports(text) {
            self.part(number, report);
        }
    }

    /// Reads a line, or the part of it with one report.
    fn part(&mut self, number: usize, text: &[u8]) {
        if let Some(begun) = &mut self.begun
            && let Some(node) = line::node(text)
        {
            begun.fault.node = begun.fault.node.or(Some(node));
            return;
        }
        if let Some(kernel) = line::offload_kernel(text) {
            self.kernel = Some((number, kernel));
            return;
        }
        let Some(mut row) = self.grammar.row(text) else { return };
        if let Row::Whole(fault) = &mut row
            && fault.source == FaultSource::Offload
            && fault.kernel.is_none()
        {
            let before = self.kernel.take().filter(|(line, _)| line + 1 == number);
            fault.kernel = before.map(|(_, kernel)| kernel);
        }
        let place =
            Some(FileLocation { file: self.file.clone(), line: Some(number), ..FileLocation::default() });
        match row {
            Row::Whole(fault) => self.merged.add(Fault { place, ..fault }.into()),
            Row::Begins(fault) => {
                self.end();
                self.begun = Some(Fault { place, ..fault }.into());
            }
            Row::Address(address) => {
                let begun = || Fault { source: address.by, place, ..Fault::default() }.into();
                let mut found = self.begun.take().unwrap_or_else(begun);
                found.fault.address = Some(address.at);
                if let Some(reasons) = address.reasons {
                    reasons.apply(&mut found.fault, true);
                }
                self.merged.add(found);
            }
            Row::Kernel(row) => {
                if let Some(done) = self.kernel_log.row(text, row, place) {
                    self.merged.add(done);
                }
            }
        }
    }

    /// Adds a report whose address never came.
    fn end(&mut self) {
        if let Some(begun) = self.begun.take() {
            self.merged.add(begun);
        }
    }

    /// The reports of the whole text.
    pub(super) fn finish(mut self) -> Reported {
        self.end();
        for found in self.kernel_log.finish() {
            self.merged.add(found);
        }
        Reported { file: self.file, merged: self.merged, cut: None }
    }
}

/// The reports of a text.
#[derive(Debug, Default)]
pub(super) struct Reported {
    file: String,
    merged: Merged,
    /// The first line whose rest was not read.
    cut: Option<usize>,
}

impl Reported {
    /// The report of the user's option.
    pub(super) fn by_user(address: FaultAddress) -> Self {
        let (kind, source) = (FaultKind::Memory, FaultSource::User);
        let fault = Fault { kind, address: Some(address), source, ..Fault::default() };
        let mut merged = Merged::default();
        merged.add(fault.into());
        Self { merged, ..Self::default() }
    }

    /// Adds the reports of another text.
    pub(super) fn extend(&mut self, other: Self) {
        self.merged.extend(other.merged);
    }

    /// Whether there is no report.
    pub(super) fn is_empty(&self) -> bool {
        self.merged.is_empty()
    }

    /// The lines of the reports in their order, with the reporters.
    pub(super) fn lines(self) -> Vec<(usize, FaultSource)> {
        let mut lines = Vec::new();
        for fault in self.merged.finish(&[]).faults {
            let own = (fault.source, fault.place);
            let also = fault.also.into_iter().map(|also| (also.source, also.place));
            let all = std::iter::once(own).chain(also);
            lines.extend(all.filter_map(|(source, place)| Some((place?.line?, source))));
        }
        lines.sort_unstable_by_key(|(line, _)| *line);
        lines
    }

    /// Adds the reports to those of a capture. Returns the problem of reports that are left out.
    pub(super) fn into_capture(self, capture: &mut Capture) -> Option<Problem> {
        let known = std::mem::take(&mut capture.faults);
        let mut all = Merged::default();
        let found = self.merged.finish(&capture.agents);
        for fault in known.into_iter().chain(found.faults) {
            all.add(fault.into());
        }
        let all = all.finish(&capture.agents);
        capture.faults = all.faults;
        let more = found.more + all.more;
        (more > 0).then(|| {
            let place = FileLocation { file: self.file, ..FileLocation::default() };
            let what = format_args!("{more} more reports of faults are left out");
            problem(place, what, format_args!("at most {MAX_FAULTS} faults"))
        })
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "wordings_tests.rs"]
mod wordings;
