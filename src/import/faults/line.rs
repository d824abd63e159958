//! The grammar of one line of a report: the marks, and the rule of each.

use aho_corasick::AhoCorasick;
use memchr::memmem::Finder;

use super::lead::Start::{self, Any, Before, Driver};
use super::lead::driver;
use super::runtime::Wrapped;
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
    /// The queue of the kernel that a line before names.
    KernelQueue(u64),
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

/// A mark in a line, the start of its message, and the rule for lines with it. The first rule that accepts a line counts.
const RULES: [(&str, Start, Rule); 66] = [
    ("Kernel '", Any, queue::offload_kernel),
    (MARK, Before(1), runtime::access_fault),
    ("Memory exception on virtual address ", Before(0), runtime::memory_exception),
    ("Memory critical error by agent node-", Before(0), runtime::memory_in_use),
    ("MMU fault: 0x", Before(0), runtime::mmu_fault),
    ("HW fault: reset_type=", Before(0), runtime::reset),
    ("HW Exception by GPU node-", Before(0), runtime::hardware_exception),
    ("[GPU Memory Error] ", Before(0), runtime::gpu_memory_error),
    ("HSA_AMD_GPU_MEMORY_FAULT_EVENT", Before("System event (".len()), runtime::system_event),
    ("Faulting page: ", Before(0), runtime::faulting_page),
    ("xxx (", Any, runtime::masked_page),
    ("Kernel Name: ", Before(0), queue::kernel_name),
    (" HWq=0x", Any, queue::kernel_queue),
    ("Queue error state in GPU agent: ", Before(0), queue::error_state),
    ("Queue ID: ", Before(0), queue::error_state_reason),
    (queue::ABORT, Any, queue::abort),
    ("Memory Fault Error [", Before(0), queue::memory_fault),
    ("Queue error (", Before(0), queue::error),
    ("Queue error - HSA_STATUS_ERROR_MEMORY_FAULT", Before(0), queue::suppressed),
    ("HSA_STATUS_ERROR_", Any, queue::status),
    ("illegal memory access was encountered", Any, queue::sentence),
    ("unspecified launch failure", Any, queue::sentence),
    ("device-side assert triggered", Any, queue::sentence),
    ("hipErrorIllegalAddress", Any, queue::code),
    ("CUDA_ERROR_ILLEGAL_ADDRESS", Any, queue::code),
    ("hipErrorLaunchFailure", Any, queue::code),
    ("hipErrorAssert", Any, queue::code),
    ("hipError_t(", Any, queue::number),
    (assertion::TRITON, Before(0), assertion::of_triton),
    (assertion::PYTORCH, Before(0), assertion::of_pytorch),
    ("ssertion", Any, assertion::failed),
    ("GPU reset begin!", Driver, kernel_log::hang),
    (" timeout, signaled seq=", Driver, kernel_log::ring_timeout),
    (" timeout, but soft recovered", Driver, kernel_log::ring_timeout),
    (" ring reset", Driver, kernel_log::ring_reset),
    (" reset succeeded", Driver, kernel_log::ring_reset),
    (" reset failed", Driver, kernel_log::ring_reset),
    ("qcm fence wait loop timeout expired", Driver, kernel_log::alone),
    ("Queue preemption failed for queue with doorbell_id: ", Driver, kernel_log::hang_of_queues),
    ("cp queue preemption time out", Driver, kernel_log::hang_of_queues),
    (
        "The cp might be in an unrecoverable state due to an unsuccessful queues preemption",
        Driver,
        kernel_log::alone,
    ),
    ("HIQ MQD's queue_doorbell_id0 is not 0", Driver, kernel_log::hang_of_queues),
    ("failed to respond to msg=", Driver, kernel_log::hang_of_queues),
    ("MES failed to response msg=", Driver, kernel_log::hang_of_queues),
    ("MES might be in unrecoverable state, issue a GPU reset", Driver, kernel_log::alone),
    ("failed to remove hardware queue from MES, doorbell=", Driver, kernel_log::hang_of_queues),
    ("uncorrectable hardware errors detected in ", Driver, kernel_log::hardware_errors),
    (DEVICE_DUMP, Before(0), device_dump::begin),
    ("process_name: ", Before(0), device_dump::process),
    ("Ring Name: ", Before(0), device_dump::ring),
    ("Page fault observed", Before(0), device_dump::hub),
    ("Faulty page starting at address", Before(0), device_dump::page),
    ("Protection fault status register:", Before(0), device_dump::status),
    ("page fault", Driver, kernel_log::header),
    ("page starting at address", Driver, kernel_log::page),
    ("at page 0x", Driver, kernel_log::old_page),
    ("  at address 0x", Driver, kernel_log::old_page),
    (kernel_log::WAVE_ERROR, Driver, kernel_log::wave_error),
    ("Failing VM page: ", Driver, kernel_log::failing_page),
    ("PROTECTION_FAULT_STATUS:", Driver, kernel_log::status),
    ("PROTECTION_FAULT_STATUS_LO32:", Driver, kernel_log::status),
    ("lient ID: ", Driver, kernel_log::client),
    ("CLIENT_ID: ", Driver, kernel_log::client),
    ("rocess ", Driver, kernel_log::process),
    ("rocess: ", Driver, kernel_log::process),
    ("Node: ", Before(0), runtime::node),
];

/// Recognizes lines of reports.
#[derive(Debug)]
pub(super) struct Grammar {
    marks: Option<AhoCorasick>,
    rules: Vec<(Finder<'static>, Start, Rule)>,
}

impl Grammar {
    pub(super) fn new() -> Self {
        let rules = RULES.iter().map(|(mark, start, rule)| (Finder::new(*mark), *start, *rule)).collect();
        // Without the automaton each line is searched for each mark.
        Self { marks: AhoCorasick::new(RULES.iter().map(|(mark, ..)| mark)).ok(), rules }
    }

    /// Whether a line has a mark: most lines of a log have none.
    pub(super) fn has_mark(&self, text: &[u8]) -> bool {
        self.marks.as_ref().is_none_or(|marks| marks.is_match(text))
    }

    /// Whether a line ends within a report, whose rest may be in the next one.
    pub(super) fn is_cut(&self, text: &[u8]) -> bool {
        wrapped(text) == Some(Wrapped::Beginning)
            || find(text, queue::ABORT).is_some() && matches!(self.row(text), Some(Row::Begins(_)))
    }

    /// Whether a line, joined of several, has a whole report.
    pub(super) fn is_whole(&self, text: &[u8]) -> bool {
        match wrapped(text) {
            Some(Wrapped::Whole) => matches!(self.row(text), Some(Row::Whole(_) | Row::Kernel(_))),
            // Most lines need no look at their row.
            _ if find(text, queue::ABORT).is_none() => false,
            _ => matches!(self.row(text), Some(Row::Whole(fault)) if fault.status.is_some()),
        }
    }

    /// Whether a line has a row of its own. The process of the kernel's row is in one or in a part of it.
    pub(super) fn is_row(&self, text: &[u8]) -> bool {
        let row = Some(text).filter(|text| self.has_mark(text)).and_then(|text| self.row(text));
        row.is_some_and(|row| !matches!(row, Row::Kernel(kernel_log::Row::Process(_))))
    }

    /// The contents of a line; `None`: no report has such a line.
    pub(super) fn row(&self, text: &[u8]) -> Option<Row> {
        self.words(text).filter(|(_, is_led)| *is_led).map(|(row, _)| row)
    }

    /// The contents of a line, and whether it is what a program prints; else people have written its words.
    pub(super) fn words(&self, text: &[u8]) -> Option<(Row, bool)> {
        let (row, start, at) = self.rules.iter().find_map(|(mark, start, rule)| {
            let at = mark.find(text)?;
            Some((rule(text, at + mark.needle().len())?, start, at))
        })?;
        let is_alone = is_alone(text, &row);
        let is_of_people = people_from(text, is_alone).is_some_and(|from| from <= at);
        let is_led = (start.is_led(text, at) || is_alone) && !is_of_people;
        Some((row, is_led))
    }
}

/// How much of a message with known words a line has that may end within it.
pub(super) fn wrapped(text: &[u8]) -> Option<Wrapped> {
    runtime::wrapped(text).or_else(|| kernel_log::wrapped(text))
}

/// Whether a report of a program behind another one's words is whole, and ends its line.
fn is_alone(text: &[u8], row: &Row) -> bool {
    let Row::Whole(fault) = row else { return false };
    let end = text.trim_ascii_end();
    let reason = memchr::memmem::rfind(end, b". Reason: ").and_then(|at| text.get(at + 2..end.len()));
    fault.address.is_some()
        && reason.and_then(|text| text.strip_suffix(b".")).is_some_and(|text| !text.contains(&b'.'))
}

/// The offset from which a line is people's, not a program's: a traced or typed command, a comment, a search for messages,
/// source code, a title. Names within a message are not words of its line: those behind its mark say nothing.
pub(super) fn people_from(text: &[u8], is_alone: bool) -> Option<usize> {
    const STARTS: [&str; 25] = [
        "+ ",
        "++ ",
        "$ ",
        "// ",
        "-- ",
        "/* ",
        "#define ",
        "#include ",
        "if ",
        "if(",
        "} else if ",
        "elif ",
        "case ",
        "raise ",
        "throw ",
        "def ",
        "assert ",
        "assert(",
        "rg ",
        "ag ",
        "sed ",
        "awk ",
        "Re: ",
        "Subject: ",
        "[PATCH",
    ];
    const WITHIN: [&str; 2] = ["grep ", "pytest.raises("];
    let start = text.trim_ascii_start();
    // Protocols of tests (TAP, LLVM's lit) print output so.
    let is_comment = start.strip_prefix(b"# ").is_some_and(|rest| {
        !is_alone && ["| ", ":0:"].iter().all(|output| !rest.starts_with(output.as_bytes()))
    });
    if is_comment || STARTS.iter().any(|words| start.starts_with(words.as_bytes())) {
        return Some(0);
    }
    let end = |word: &str| Some(find(text, word)? + word.len());
    let call = || {
        let name = end(".assert")?;
        let rest = from(text, name);
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
        from(rest, length).starts_with(b"(").then_some(name + length + 1)
    };
    WITHIN.iter().filter_map(|word| end(word)).chain(call()).min()
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
    fault.or_else(|| find(text, ":0:")).or_else(|| driver(text).map(<[u8]>::len)).unwrap_or(0)
}
