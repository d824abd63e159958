//! Reports of faults in any text: the debug agent's, those of ROCm's and LLVM's runtimes, HIP's and the kernel log
//! (docs/captures.md, "Fault reports").
//!
//! [`mod@line`] is the grammar of one line, without state, [`lead`] what stands before a message; [`runtime`], [`queue`],
//! [`assertion`], [`kernel_log`] and [`device_dump`] have its rules by writer. [`Reader`] joins the lines of one report,
//! [`page_fault`] those of the kernel log, [`merge`] the reports of one fault. [`log`] reads the user's logs.

mod assertion;
mod broken;
mod container;
mod device_dump;
mod gpu;
mod json;
mod kernel_log;
mod lead;
mod line;
mod log;
mod merge;
mod page_fault;
mod queue;
mod references;
mod runtime;
mod time;
mod writers;

use std::borrow::Cow;
use std::io::{self, BufRead};
use std::iter;

use self::broken::{Begun, Joined};
use self::device_dump::DeviceDump;
use self::json::{Entry, has_bytes, messages};
use self::line::{Grammar, Row};
use self::merge::Merged;
use self::page_fault::KernelLog;
use self::time::Time;
use self::writers::Writers;
use super::Opened;
use super::problem::{ImportError, problem};
use super::text::{Line, Lines};
use crate::capture::{
    Capture, Fault, FaultAddress, FaultKind, FaultSource, FileLocation, MAX_FAULTS, Problem, Provenance,
    agree,
};
use crate::clean::clean;

pub(super) use self::gpu::identify;
pub(super) use self::log::{excerpts, read as read_log};
pub(super) use self::merge::Own;

/// The mark of ROCm's message, which is also in texts without waves.
pub(super) const MARK: &str = "emory access fault ";

/// The first line of a device core dump of amdgpu.
pub(super) const DEVICE_DUMP: &str = "**** AMDGPU Device Coredump ****";

/// Maximum number of lines between the name of a kernel and the report on its queue.
const MAX_APART: usize = 16;

/// Maximum number of kernels before such a report.
const MAX_KERNELS: usize = 64;

/// Opens a device core dump: its reports.
///
/// # Errors
/// The text cannot be read.
pub(super) fn open_device_dump(name: &str, source: impl BufRead) -> Result<Opened, ImportError> {
    let provenance = Provenance { format: "device core dump of amdgpu".to_owned(), ..Provenance::default() };
    let mut capture = Capture { name: name.to_owned(), provenance, ..Capture::default() };
    let io = |source| ImportError::Io { file: name.to_owned(), source };
    let reported = read(name, source, Own::default()).map_err(io)?;
    let problems = reported.into_capture(&mut capture).into_iter().collect();
    Ok(Opened { capture, problems })
}

/// Reads all lines of a text; `file` is its name in places.
///
/// # Errors
/// The text cannot be read.
pub(super) fn read(file: &str, source: impl BufRead, own: Own) -> io::Result<Reported> {
    let mut reader = Reader::of(file, own);
    let mut lines = Lines::new(source);
    let mut cut = None;
    while let Some(line) = lines.next()? {
        reader.line(&line);
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
    /// A report whose address or reason is on a later line.
    begun: Option<Fault>,
    kernel_log: KernelLog,
    device_dump: DeviceDump,
    entry: Entry,
    /// The kernels that lines before name, with the lines' numbers and the kernels' queues.
    kernels: Vec<(usize, String, Option<u64>)>,
    /// A failed assertion that hosts print, too.
    assertion: Option<Fault>,
    /// A line whose rest may be in the next one.
    wrapped: Option<Begun>,
    writers: Writers,
    /// The first line with the words of a report that no program prints so.
    quoted: Option<usize>,
}

impl Reader {
    /// Creates a reader; `file` is the text's name in places.
    pub(super) fn new(file: &str) -> Self {
        Self::of(file, Own::default())
    }

    /// The same for the text of a capture that is known.
    fn of(file: &str, own: Own) -> Self {
        Self {
            file: clean(file).into_owned(),
            grammar: Grammar::new(),
            kernel_log: KernelLog::new(&own),
            merged: Merged::of(own, false),
            begun: None,
            device_dump: DeviceDump::default(),
            entry: Entry::default(),
            kernels: Vec::new(),
            assertion: None,
            wrapped: None,
            writers: Writers::default(),
            quoted: None,
        }
    }

    /// Reads a line: its text, or the messages in its JSON.
    pub(super) fn line(&mut self, line: &Line<'_>) {
        let clock = match line.clock {
            "" => &*self.entry.line(line.text).to_owned(),
            clock => clock,
        };
        let is_begun = self.wrapped.is_some();
        let is_read = |text: &[u8]| is_begun || self.grammar.has_mark(text) || has_bytes(text);
        let text = references::resolved(line.text);
        // A page's references may be in JSON, and JSON in a page.
        let page = matches!(text, Cow::Owned(_)).then_some(&*text);
        let found = iter::once(line.text)
            .chain(page)
            .filter(|text| is_read(text))
            .find_map(|text| messages(text, clock).filter(|found| !self.grammar.has_mark(&found.outside)));
        if let Some(lines) = found.and_then(|found| self.lines_of(found.texts)) {
            lines.iter().for_each(|text| self.message(line.number, text, b"\n"));
            return;
        }
        let end: &[u8] = if line.ended { b"\n" } else { b"" };
        let is_stamped = clock.is_empty() || Time::of(&text).is_some();
        let lead = if is_stamped { Vec::new() } else { [clock.as_bytes(), b" "].concat() };
        let mut lines = text.split(|byte| *byte == b'\n').peekable();
        while let Some(text) = lines.next() {
            let end = if lines.peek().is_some() { b"\n" } else { end };
            match &*lead {
                [] => self.message(line.number, text, end),
                lead => self.message(line.number, &[lead, text].concat(), end),
            }
        }
    }

    /// The lines of an entry's strings that are read: those of reports, else one that continues the message before.
    fn lines_of(&self, mut texts: Vec<Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
        let has_mark = |lines: &Vec<Vec<u8>>| lines.iter().any(|text| self.grammar.has_mark(text));
        if texts.iter().any(has_mark) {
            texts.retain(has_mark);
            return Some(texts.concat());
        }
        let begun = self.wrapped.as_ref()?;
        let joined = texts.concat().into_iter().filter_map(|text| {
            let joined = begun.joined(&text, b"\n", &self.grammar)?;
            Some((matches!(joined, Joined::Whole(_)), text.len(), text))
        });
        joined.max_by_key(|(is_whole, length, _)| (*is_whole, *length)).map(|(.., text)| vec![text])
    }

    /// Reads a line of a program, and its line feed, if it has one.
    fn message(&mut self, number: usize, line: &[u8], end: &[u8]) {
        if let Some(begun) = self.wrapped.take() {
            match begun.joined(line, end, &self.grammar) {
                Some(Joined::Whole(text)) => return self.parts(begun.number, &text),
                Some(Joined::Begun(texts)) => {
                    self.wrapped = Some(Begun { texts, ..begun });
                    return;
                }
                None => self.parts(begun.number, begun.known()),
            }
        }
        self.writers.line(line);
        if !self.grammar.has_mark(line) {
            return;
        }
        let text = [line, end].concat();
        match Begun::of(number, text, &self.grammar) {
            Ok(begun) => self.wrapped = Some(begun),
            Err(text) => self.parts(number, &text),
        }
    }

    /// Reads a line with its line feed, if it has one.
    fn parts(&mut self, number: usize, text: &[u8]) {
        for report in line::reports(text) {
            self.part(number, report);
        }
    }

    /// Reads a line, or the part of it with one report.
    fn part(&mut self, number: usize, text: &[u8]) {
        let Some((row, is_printed)) = self.grammar.words(text) else { return };
        if !is_printed {
            let is_report =
                matches!(row, Row::Whole(_) | Row::Begins(_) | Row::Assertion(_) | Row::Kernel(_));
            self.quoted = self.quoted.or(is_report.then_some(number));
            return;
        }
        let place =
            Some(FileLocation { file: self.file.clone(), line: Some(number), ..FileLocation::default() });
        match row {
            Row::Whole(fault) => {
                let kernel = self.kernel_before(number, text, &fault);
                self.merged.add(Fault { kernel, place, ..fault });
            }
            Row::Begins(fault) => {
                self.end();
                let kernel = self.kernel_before(number, text, &fault);
                self.begun = Some(Fault { kernel, place, ..fault });
            }
            Row::Address(address) => {
                let begun = || Fault { source: address.by, place, ..Fault::default() };
                let mut fault = self.begun.take().unwrap_or_else(begun);
                fault.address = Some(address.at);
                if let Some(reasons) = address.reasons {
                    reasons.apply(&mut fault, true);
                }
                self.merged.add(fault);
            }
            Row::Node(node) => {
                if let Some(begun) = &mut self.begun {
                    begun.node = begun.node.or(Some(node));
                }
            }
            Row::Status(of) => {
                if let Some(begun) = self.begun.take() {
                    self.merged.add(Fault { kind: of.kind, status: of.status, ..begun });
                }
            }
            Row::KernelName(kernel) => {
                let is_apart = self.kernels.last().is_some_and(|(line, ..)| line + MAX_APART < number);
                if is_apart || self.kernels.len() >= MAX_KERNELS {
                    self.kernels.clear();
                }
                self.kernels.push((number, kernel, None));
            }
            Row::KernelQueue(queue) => {
                if let Some((.., of)) = self.kernels.last_mut() {
                    *of = of.or(Some(queue));
                }
            }
            Row::Assertion(fault) => {
                self.assertion = self.assertion.take().or(Some(Fault { place, ..fault }))
            }
            Row::Kernel(row) => self.kernel_log.row(text, &row, place.as_ref()),
            Row::DeviceDump(row) => {
                let done = self.device_dump.row(row, place);
                done.into_iter().for_each(|fault| self.merged.add(fault));
            }
        }
    }

    /// The kernel of a report: its own, or the one of its queue that lines before name. LLVM's runtime names it in the line
    /// before, HIP a few lines before, for each queue.
    fn kernel_before(&mut self, number: usize, text: &[u8], fault: &Fault) -> Option<String> {
        if fault.kernel.is_some() {
            return fault.kernel.clone();
        }
        let apart = match fault.source {
            FaultSource::Offload => 1,
            FaultSource::Hip => MAX_APART,
            _ => return None,
        };
        let queue = queue::queue_of(text);
        let mut kernels = std::mem::take(&mut self.kernels);
        let is_near = kernels.last().is_some_and(|(line, ..)| line + apart >= number);
        kernels.retain(|(_, _, of)| agree(of.as_ref(), queue.as_ref()));
        let (_, kernel, _) = kernels.pop().filter(|_| is_near)?;
        // Of several queues, the failed one is not known.
        (fault.source != FaultSource::Hip || kernels.is_empty()).then_some(kernel)
    }

    /// Adds a report whose address never came.
    fn end(&mut self) {
        if let Some(begun) = self.begun.take() {
            self.merged.add(begun);
        }
    }

    /// The reports of the whole text.
    pub(super) fn finish(mut self) -> Reported {
        if let Some(begun) = self.wrapped.take() {
            self.parts(begun.number, begun.known());
        }
        self.end();
        if let Some(fault) = self.device_dump.finish() {
            self.merged.add(fault);
        }
        let (mut reports, is_reversed) = self.kernel_log.finish();
        // In the order of time, by which the oldest of too many make room.
        reports.sort(is_reversed);
        self.merged.extend(reports);
        // A GPU's abort prints it; a host's ends the program.
        if let Some(assertion) = self.assertion.filter(|_| self.merged.has(FaultKind::Exception)) {
            self.merged.add(assertion);
        }
        self.merged.sort(is_reversed);
        let (merged, writers, quoted) = (self.merged, self.writers, self.quoted);
        Reported { file: self.file, merged, cut: None, writers, quoted }
    }
}

/// The reports of a text.
#[derive(Debug, Default)]
pub(super) struct Reported {
    file: String,
    merged: Merged,
    /// The first line whose rest was not read.
    cut: Option<usize>,
    writers: Writers,
    /// The first line with the words of a report that no program prints so.
    quoted: Option<usize>,
}

impl Reported {
    /// The report of the user's option.
    pub(super) fn by_user(address: FaultAddress) -> Self {
        let (kind, source) = (FaultKind::Memory, FaultSource::User);
        let fault = Fault { kind, address: Some(address), source, ..Fault::default() };
        let mut merged = Merged::default();
        merged.add(fault);
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

    /// Adds the reports to those of a capture. Returns the problem of reports that are left out.
    pub(super) fn into_capture(self, capture: &mut Capture) -> Option<Problem> {
        let mut all = Merged::of(Own::of(capture), false);
        std::mem::take(&mut capture.faults).into_iter().for_each(|fault| all.add(fault));
        all.extend(self.merged);
        let all = all.finish();
        capture.faults = all.faults;
        let more = all.more;
        (more > 0).then(|| {
            let place = FileLocation { file: self.file, ..FileLocation::default() };
            let what = format_args!("{more} more reports of faults are left out");
            problem(place, what, format_args!("at most {MAX_FAULTS} faults"))
        })
    }
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod foreign;
#[cfg(test)]
#[path = "json_forms_tests.rs"]
mod json_forms;
#[cfg(test)]
#[path = "kernel_log_tests.rs"]
mod kernel;
#[cfg(test)]
#[path = "reports_tests.rs"]
mod reports;
#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "wordings_tests.rs"]
mod wordings;
