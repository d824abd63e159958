//! The grammar of one line of a report: the marks, and the rule of each.

use aho_corasick::AhoCorasick;
use memchr::memmem::Finder;

use super::{DEVICE_DUMP, MARK, assertion, device_dump, kernel_log, queue, runtime};
use crate::capture::{Fault, FaultAddress, FaultSource, PAGE};
use crate::clean::clean;
use crate::import::text::{Cursor, find};

/// Maximum bytes of a name in a report.
pub(super) const MAX_NAME: usize = 512;

/// The contents of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A report.
    Whole(Fault),
    /// A report whose address, or reason, may be on a later line.
    Begins(Fault),
    /// The address of a begun report.
    Address(Address),
    /// A status of a begun report.
    Status(Fault),
    /// The GPU of a begun report, by the driver's number.
    Node(u32),
    /// A failed assertion of a library that hosts have, too: of a GPU only beside the GPU's abort.
    Assertion(Fault),
    /// The name of the kernel whose queue a later line reports.
    KernelName(String),
    /// A line of the kernel log.
    Kernel(kernel_log::Row),
    /// A line of a device core dump.
    DeviceDump(device_dump::Row),
}

/// A line with the address of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) at: FaultAddress,
    /// `None`: the line has none.
    pub(super) reasons: Option<runtime::Reasons>,
    /// The reporter, if no line before it names one.
    pub(super) by: FaultSource,
}

/// Reads a line by the offset after the mark. The line has its line feed, unless the text ends before: a value without
/// a byte behind it is not known whole.
type Rule = fn(&[u8], usize) -> Option<Row>;

/// A mark in a line, and the rule for lines with it. The first rule that accepts a line counts.
const RULES: [(&str, Rule); 56] = [
    ("Kernel '", queue::offload_kernel),
    (MARK, runtime::access_fault),
    ("Memory exception on virtual address ", runtime::memory_exception),
    ("Memory critical error by agent node-", runtime::memory_in_use),
    ("MMU fault: 0x", runtime::mmu_fault),
    ("HW fault: reset_type=", runtime::reset),
    ("HW Exception by GPU node-", runtime::hardware_exception),
    ("[GPU Memory Error] ", runtime::gpu_memory_error),
    ("HSA_AMD_GPU_MEMORY_FAULT_EVENT", runtime::system_event),
    ("Faulting page: ", runtime::faulting_page),
    ("xxx (", runtime::masked_page),
    ("Kernel Name: ", queue::kernel_name),
    ("Queue error state in GPU agent: ", queue::error_state),
    ("Queue ID: ", queue::error_state_reason),
    (queue::ABORT, queue::abort),
    ("Queue error (", queue::error),
    ("HSA_STATUS_ERROR_", queue::status),
    ("illegal memory access was encountered", queue::sentence),
    ("unspecified launch failure", queue::sentence),
    ("device-side assert triggered", queue::sentence),
    ("hipErrorIllegalAddress", queue::code),
    ("CUDA_ERROR_ILLEGAL_ADDRESS", queue::code),
    ("hipErrorLaunchFailure", queue::code),
    ("hipErrorAssert", queue::code),
    ("hipError_t(", queue::number),
    ("ssertion", assertion::failed),
    ("GPU reset begin!", kernel_log::hang),
    (" timeout, signaled seq=", kernel_log::ring_timeout),
    (" timeout, but soft recovered", kernel_log::ring_timeout),
    (" ring reset", kernel_log::ring_reset),
    (" reset succeeded", kernel_log::ring_reset),
    (" reset failed", kernel_log::ring_reset),
    ("qcm fence wait loop timeout expired", kernel_log::alone),
    ("The cp might be in an unrecoverable state due to an unsuccessful queues preemption", kernel_log::alone),
    ("HIQ MQD's queue_doorbell_id0 is not 0", kernel_log::hang_of_queues),
    ("failed to respond to msg=", kernel_log::hang_of_queues),
    ("MES failed to response msg=", kernel_log::hang_of_queues),
    ("MES might be in unrecoverable state, issue a GPU reset", kernel_log::alone),
    ("failed to remove hardware queue from MES, doorbell=", kernel_log::hang_of_queues),
    ("uncorrectable hardware errors detected in ", kernel_log::hardware_errors),
    (DEVICE_DUMP, device_dump::begin),
    ("process_name: ", device_dump::process),
    ("Ring Name: ", device_dump::ring),
    ("Page fault observed", device_dump::hub),
    ("Faulty page starting at address", device_dump::page),
    ("Protection fault status register:", device_dump::status),
    ("page fault (", kernel_log::header),
    ("page starting at address ", kernel_log::page),
    ("at page 0x", kernel_log::old_page),
    ("VM page: ", kernel_log::page),
    ("PROTECTION_FAULT_STATUS:", kernel_log::status),
    ("lient ID: ", kernel_log::client),
    ("CLIENT_ID: ", kernel_log::client),
    ("rocess ", kernel_log::process),
    ("rocess: ", kernel_log::process),
    ("Node: ", runtime::node),
];

/// Recognizes lines of reports.
#[derive(Debug)]
pub(super) struct Grammar {
    marks: Option<AhoCorasick>,
    rules: Vec<(Finder<'static>, Rule)>,
}

impl Grammar {
    pub(super) fn new() -> Self {
        let rules = RULES.iter().map(|(mark, rule)| (Finder::new(*mark), *rule)).collect();
        // Without the automaton each line is searched for each mark.
        Self { marks: AhoCorasick::new(RULES.iter().map(|(mark, _)| mark)).ok(), rules }
    }

    /// Whether a line has a mark: most lines of a log have none.
    pub(super) fn has_mark(&self, text: &[u8]) -> bool {
        self.marks.as_ref().is_none_or(|marks| marks.is_match(text))
    }

    /// Whether a line ends within a report, whose rest may be in the next one.
    pub(super) fn is_cut(&self, text: &[u8]) -> bool {
        runtime::is_cut(text)
            || find(text, queue::ABORT).is_some() && matches!(self.row(text), Some(Row::Begins(_)))
    }

    /// Whether a line, joined of two, has a whole report.
    pub(super) fn is_whole(&self, text: &[u8]) -> bool {
        match self.row(text) {
            Some(Row::Whole(fault)) => {
                !runtime::is_cut(text) && (fault.address.is_some() || fault.status.is_some())
            }
            _ => false,
        }
    }

    /// The contents of a line; `None`: no report has such a line.
    pub(super) fn row(&self, text: &[u8]) -> Option<Row> {
        if is_of_people(text) {
            return None;
        }
        self.rules.iter().find_map(|(mark, rule)| {
            let at = mark.find(text)?;
            rule(text, at + mark.needle().len())
        })
    }
}

/// Whether people wrote a line: a traced or typed command, a comment, a search for messages.
fn is_of_people(text: &[u8]) -> bool {
    const STARTS: [&str; 7] = ["+ ", "++ ", "$ ", "# ", "// ", "-- ", "/* "];
    let text = text.trim_ascii_start();
    STARTS.iter().any(|start| text.starts_with(start.as_bytes())) || find(text, "grep ").is_some()
}

/// The parts of a line with one whole report each: threads of a program print into one line.
pub(super) fn reports(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let mut end = rest.len();
        let mut begin = find(rest, MARK).map(|at| at + MARK.len());
        while let Some(text) = begin
            && let Some(next) = find(from(rest, text), MARK).map(|at| text + at)
        {
            if find(rest.get(text..next)?, "Reason").is_some() {
                // The mark lacks the first letter.
                end = next.saturating_sub(1);
                break;
            }
            begin = Some(next + MARK.len());
        }
        let (report, more) = rest.split_at_checked(end)?;
        rest = more;
        (!report.is_empty()).then_some(report)
    })
}

/// The text from an offset on.
pub(super) fn from(text: &[u8], at: usize) -> &[u8] {
    text.get(at..).unwrap_or_default()
}

/// The text after a word.
pub(super) fn after<'l>(text: &'l [u8], word: &str) -> Option<&'l [u8]> {
    Some(from(text, find(text, word)? + word.len()))
}

/// A name of the report's program or GPU, sanitized.
pub(super) fn name(text: &[u8]) -> Option<String> {
    let text = text.trim_ascii();
    let text = text.get(..text.len().min(MAX_NAME)).unwrap_or_default();
    (!text.is_empty()).then(|| clean(String::from_utf8_lossy(text)).into_owned())
}

/// A pointer as glibc prints it, `0x7f00`, `(nil)`, also `0x12345xxx`, and the text behind it. `None`: no pointer, or
/// one at the end of a text that ends within a line.
pub(super) fn pointer(text: &[u8]) -> Option<(FaultAddress, &[u8])> {
    let mut cursor = Cursor::new(text);
    cursor.spaces();
    let value = match cursor.take("(nil)") {
        true => 0,
        false => cursor.hex()?.1,
    };
    let start = match cursor.take("xxx") {
        true => value.checked_mul(PAGE)?,
        false => value,
    };
    (!cursor.rest.is_empty()).then(|| (page(start), cursor.rest))
}

/// A number of a process, which a byte follows.
pub(super) fn process(text: &[u8]) -> Option<u32> {
    let mut cursor = Cursor::new(text);
    let process = u32::try_from(cursor.decimal()?).ok()?;
    (process > 0 && !cursor.rest.is_empty()).then_some(process)
}

/// The driver shifts page numbers: an address with low bits is exact.
fn page(start: u64) -> FaultAddress {
    let bytes = if start.is_multiple_of(PAGE) { PAGE } else { 1 };
    FaultAddress { start, bytes, is_inexact: false }
}

/// The offset of a message that its line may cut, behind the line's prefix.
pub(super) fn message(text: &[u8]) -> usize {
    // The mark lacks the first letter.
    let fault = find(text, MARK).map(|at| at.saturating_sub(1));
    fault.or_else(|| find(text, ":0:")).unwrap_or(0)
}
