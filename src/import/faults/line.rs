//! The grammar of one line of a report.

use memchr::memmem::Finder;

use super::{MARK, kernel_log};
use crate::capture::{
    FailedAssertion, Fault, FaultAccess, FaultAddress, FaultKind, FaultReason, FaultSource, PAGE,
};
use crate::clean::clean;
use crate::import::text::{Cursor, find};

/// Maximum bytes of a name in a report.
const MAX_NAME: usize = 512;

/// The contents of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A report.
    Whole(Fault),
    /// A report whose address may be on a later line.
    Begins(Fault),
    /// The address of a begun report.
    Address(Address),
    /// A line of the kernel log.
    Kernel(kernel_log::Row),
}

/// A line with the address of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) at: FaultAddress,
    /// `None`: the line has none.
    pub(super) reasons: Option<Reasons>,
    /// The reporter, if no line before it names one.
    pub(super) by: FaultSource,
}

type Rule = fn(&[u8], usize) -> Option<Row>;

/// A mark in a line, and the rule for lines with it. The first rule that accepts a line counts.
const RULES: [(&str, Rule); 24] = [
    (MARK, access_fault),
    ("HW Exception by GPU node-", hardware_exception),
    ("GPU reset begin!", gpu_reset),
    (" timeout, signaled seq=", gpu_reset),
    ("uncorrectable hardware errors detected in ", hardware_errors),
    ("[GPU Memory Error] ", gpu_memory_error),
    ("HSA_AMD_GPU_MEMORY_FAULT_EVENT", system_event),
    ("Faulting page: ", faulting_page),
    ("xxx (", masked_page),
    ("aborting with ", queue_abort),
    ("Queue error (", queue_error),
    ("HSA_STATUS_ERROR_", status),
    ("illegal memory access was encountered", illegal_address),
    ("hipErrorIllegalAddress", illegal_address),
    ("CUDA_ERROR_ILLEGAL_ADDRESS", illegal_address),
    ("ssert", assertion),
    ("unspecified launch failure", launch_failure),
    ("hipErrorLaunchFailure", launch_failure),
    ("page fault (", kernel_log::header),
    ("page starting at address ", kernel_log::page),
    ("at page 0x", kernel_log::old_page),
    ("VM page: ", kernel_log::page),
    ("PROTECTION_FAULT_STATUS:", kernel_log::status),
    ("lient ID: ", kernel_log::client),
];

/// Rules that need a begun report of the kernel log; their marks are common words.
const INNER: [(&str, Rule); 2] = [("CLIENT_ID: ", kernel_log::client), (" pid ", kernel_log::process)];

/// Recognizes lines of reports.
#[derive(Debug)]
pub(super) struct Grammar {
    rules: Vec<(Finder<'static>, Rule)>,
}

impl Grammar {
    pub(super) fn new() -> Self {
        let rules = RULES.iter().chain(&INNER).map(|(mark, rule)| (Finder::new(*mark), *rule));
        Self { rules: rules.collect() }
    }

    /// The contents of a line; `None`: no report has such a line.
    pub(super) fn row(&self, text: &[u8]) -> Option<Row> {
        self.rules.iter().find_map(|(mark, rule)| {
            let at = mark.find(text)?;
            rule(text, at + mark.needle().len())
        })
    }
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
fn from(text: &[u8], at: usize) -> &[u8] {
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

/// `Node: 1` of old agents, on a line of its own, perhaps behind the time and place of a log.
pub(super) fn node(text: &[u8]) -> Option<u32> {
    let mut cursor = Cursor::new(after(text.trim_ascii_end(), "Node: ")?);
    let number = cursor.decimal()?;
    cursor.rest.is_empty().then(|| u32::try_from(number).ok()).flatten()
}

/// A pointer as glibc prints it: `0x7f00`, `(nil)`; also `0x12345xxx`.
pub(super) fn pointer(text: &[u8]) -> Option<FaultAddress> {
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
    Some(page(start))
}

/// The driver shifts page numbers: an address with low bits is exact.
fn page(start: u64) -> FaultAddress {
    let bytes = if start.is_multiple_of(PAGE) { PAGE } else { 1 };
    FaultAddress { start, bytes, is_inexact: false }
}

/// `node-4 (Agent handle: 0x15) on address 0x7f00 (may not be exact address). Reason: Unknown.` of ROCm's runtime,
/// `1 (agent 0x55) at virtual address (nil). Reasons: A, B` of LLVM's, and the beginnings of old agents' reports.
fn access_fault(text: &[u8], at: usize) -> Option<Row> {
    // Of several reports in one line only the last is whole.
    let mut at = at;
    while let Some(next) = find(from(text, at), MARK)
        && find(text.get(at..at + next)?, "Reason").is_none()
    {
        at += next + MARK.len();
    }
    let mut cursor = Cursor::new(from(text, at));
    if cursor.take("at GPU Node: ") {
        let node = cursor.decimal().and_then(|node| u32::try_from(node).ok());
        return Some(Row::Begins(Fault { node, source: FaultSource::DebugAgent, ..Fault::default() }));
    }
    if !cursor.take("by GPU ") {
        return None;
    }
    if cursor.take("agent: ") {
        return Some(Row::Begins(Fault { source: FaultSource::Runtime, ..Fault::default() }));
    }
    let source = if cursor.take("node-") { FaultSource::Runtime } else { FaultSource::Offload };
    let node = u32::try_from(cursor.decimal()?).ok();
    let rest = cursor.rest;
    let address = after(rest, "on address ").or_else(|| after(rest, "at virtual address "));
    let address = address.filter(|text| !is_cut(text)).and_then(pointer);
    let mut fault = Fault { address, node, source, ..Fault::default() };
    if find(rest, "(may not be exact address)").is_some()
        && let Some(address) = &mut fault.address
    {
        address.is_inexact = true;
    }
    // ROCm's runtime prints the first reason, LLVM's all of them.
    match (after(rest, "Reason: "), after(rest, "Reasons: ")) {
        (Some(reason), _) => Reasons::of(sentence(reason)).apply(&mut fault, false),
        (None, Some(reasons)) => Reasons::of(sentence(reasons)).apply(&mut fault, true),
        (None, None) => {}
    }
    Some(Row::Whole(fault))
}

/// Whether a number may lack its last digits: both runtimes print words behind the address, and a page of it. Without
/// them only a page with all 12 digits of a typical address counts.
fn is_cut(text: &[u8]) -> bool {
    let digits = text.trim_ascii().strip_prefix(b"0x").unwrap_or_default();
    let is_last = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    is_last && (digits.len() < 12 || !digits.ends_with(b"000"))
}

/// The kernel in `Kernel 'omp target in main @ 12 (__omp_offloading_10303_b_main_l12)'` of LLVM's runtime: the line
/// before its report, behind any prefix.
pub(super) fn offload_kernel(text: &[u8]) -> Option<String> {
    let rest = after(text, "Kernel '")?;
    let end = rest.iter().rposition(|byte| *byte == b'\'')?;
    let rest = rest.get(..end)?;
    match (rest.iter().rposition(|byte| *byte == b'('), rest.strip_suffix(b")")) {
        (Some(open), Some(inner)) => name(inner.get(open + 1..)?),
        _ => name(rest),
    }
}

/// Text before the first period.
fn sentence(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == b'.').next().unwrap_or_default()
}

/// `[GPU Memory Error] Addr: 0x4100000000 Reason: ...`: the oldest libomptarget, whose reasons are unreliable.
fn gpu_memory_error(text: &[u8], at: usize) -> Option<Row> {
    let address = after(from(text, at), "Addr: ").and_then(pointer);
    Some(Row::Whole(Fault { address, source: FaultSource::Offload, ..Fault::default() }))
}

/// `System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT: page not present or supervisor privilege, ...)`
fn system_event(text: &[u8], at: usize) -> Option<Row> {
    let mut fault = Fault { source: FaultSource::DebugAgent, ..Fault::default() };
    if let Some(reasons) = from(text, at).strip_prefix(b": ") {
        Reasons::of(reasons).apply(&mut fault, true);
    }
    Some(Row::Begins(fault))
}

/// `Faulting page: 0x7fbe4cc01000`
fn faulting_page(text: &[u8], at: usize) -> Option<Row> {
    let at = pointer(from(text, at))?;
    Some(Row::Address(Address { at, reasons: None, by: FaultSource::DebugAgent }))
}

/// `Address: 0x1502F3Cxxx (page not present;write access to a read-only page;)`; `end`: the offset of the reasons.
fn masked_page(text: &[u8], end: usize) -> Option<Row> {
    let before = text.get(..end.checked_sub("xxx (".len())?)?;
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (prefix, _) = before.split_at(before.len().checked_sub(digits)?);
    let start = prefix.strip_suffix(b"0x")?.len();
    let at = pointer(from(text, start))?;
    let reasons = Some(Reasons::of(from(text, end)));
    Some(Row::Address(Address { at, reasons, by: FaultSource::Runtime }))
}

/// `1 (Agent handle: 0x5) reason :GPU Hang` of ROCm's runtime; the other reason is an ECC error.
fn hardware_exception(text: &[u8], at: usize) -> Option<Row> {
    let mut cursor = Cursor::new(from(text, at));
    let node = u32::try_from(cursor.decimal()?).ok();
    let reason = after(cursor.rest, "reason")?.to_ascii_lowercase();
    let kind = match (find(&reason, "hang"), find(&reason, "ecc")) {
        (Some(_), _) => FaultKind::Hang,
        (None, Some(_)) => FaultKind::Ecc,
        (None, None) => FaultKind::Queue,
    };
    Some(Row::Whole(Fault { kind, node, source: FaultSource::Runtime, ..Fault::default() }))
}

/// `amdgpu 0000:08:00.0: amdgpu: 1 uncorrectable hardware errors detected in umc block` of the kernel log.
fn hardware_errors(text: &[u8], at: usize) -> Option<Row> {
    let number = text.get(..at)?.rsplit(|byte| *byte == b' ').nth(6)?;
    let has_some = number.iter().all(u8::is_ascii_digit) && number.iter().any(|digit| *digit != b'0');
    let fault = || Fault { kind: FaultKind::Ecc, source: FaultSource::KernelLog, ..Fault::default() };
    (has_some && find(text, "amdgpu").is_some()).then(|| Row::Whole(fault()))
}

/// `amdgpu 0000:08:00.0: amdgpu: GPU reset begin!. Source:  3`, and
/// `amdgpu 0000:c3:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3` of the kernel log.
fn gpu_reset(text: &[u8], _: usize) -> Option<Row> {
    let fault = || Fault { kind: FaultKind::Hang, source: FaultSource::KernelLog, ..Fault::default() };
    find(text, "amdgpu").map(|_| Row::Whole(fault()))
}

/// The named reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reasons {
    list: Vec<FaultReason>,
    is_inexact: bool,
}

impl Reasons {
    /// The reasons in a text, in the order of the driver's bits, in which every reporter prints them. Reporters differ
    /// in case, separators and in parts of the words.
    fn of(text: &[u8]) -> Self {
        let text = text.get(..text.len().min(MAX_NAME)).unwrap_or_default().to_ascii_lowercase();
        let has = |word: &str| find(&text, word).is_some();
        let sram = has("sram ecc");
        let found = [
            (has("not present"), FaultReason::NotPresent),
            (has("read-only"), FaultReason::ReadOnly),
            (has("execute access"), FaultReason::NoExecute),
            (has("host access only"), FaultReason::HostOnly),
            (has("ecc failure") && (!sram || has("dram ecc")), FaultReason::DramEcc),
            (sram, FaultReason::SramEcc),
            (has("hang recovery"), FaultReason::HangRecovery),
        ];
        let list = found.iter().filter(|(has, _)| *has).map(|(_, reason)| *reason).collect();
        Self { list, is_inexact: has("exact fault address") || has("exact address") }
    }

    /// Adds the reasons to a fault; `all`: the reporter prints all reasons.
    pub(super) fn apply(self, fault: &mut Fault, all: bool) {
        if let Some(address) = &mut fault.address {
            address.is_inexact |= self.is_inexact;
        }
        // "Unknown" is no statement that there is no reason.
        fault.has_all_reasons = all && !self.list.is_empty();
        let is_only = |reasons: &[FaultReason]| {
            !self.list.is_empty() && self.list.iter().all(|reason| reasons.contains(reason))
        };
        if is_only(&[FaultReason::DramEcc, FaultReason::SramEcc]) {
            fault.kind = FaultKind::Ecc;
        } else if is_only(&[FaultReason::HangRecovery]) {
            fault.kind = FaultKind::Hang;
        }
        fault.access = access(&self.list);
        fault.reasons = self.list;
    }
}

/// The access that reasons imply. The page-not-present bit alone is of reads and writes.
pub(super) fn access(reasons: &[FaultReason]) -> Option<FaultAccess> {
    if reasons.contains(&FaultReason::NoExecute) {
        Some(FaultAccess::Execute)
    } else if reasons.contains(&FaultReason::ReadOnly) {
        Some(FaultAccess::Write)
    } else {
        None
    }
}

/// HSA's statuses without their common prefix, their numbers, and their texts.
const STATUSES: [(&str, u64, &str, FaultKind); 11] = [
    ("EXCEPTION", 0x1016, "hardware exception", FaultKind::Exception),
    ("ILLEGAL_INSTRUCTION", 0x2a, "illegal shader instruction", FaultKind::IllegalInstruction),
    ("MEMORY_FAULT", 0x2b, "inaccessible address", FaultKind::Memory),
    ("MEMORY_APERTURE_VIOLATION", 0x29, "largest legal address", FaultKind::Aperture),
    (
        "INCOMPATIBLE_ARGUMENTS",
        0x100d,
        "arguments passed to a function are not compatible",
        FaultKind::Launch,
    ),
    ("INVALID_ALLOCATION", 0x1003, "requested allocation is not valid", FaultKind::Launch),
    ("INVALID_CODE_OBJECT", 0x1010, "code object is invalid", FaultKind::Launch),
    ("INVALID_PACKET_FORMAT", 0x1009, "AQL packet is malformed", FaultKind::Launch),
    ("INVALID_ARGUMENT", 0x1001, "actual arguments does not meet", FaultKind::Launch),
    ("INVALID_ISA", 0x100f, "instruction set architecture is invalid", FaultKind::Launch),
    ("", 0x1000, "generic error", FaultKind::Queue),
];

/// `Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_EXCEPTION: ... code: 0x1016` of HIP, and older forms.
fn queue_abort(text: &[u8], at: usize) -> Option<Row> {
    let rest = from(text, at);
    if !rest.starts_with(b"error") && !rest.starts_with(b"status") {
        return None;
    }
    let kind = status_of(rest)?;
    let process = after(text, "[pid:").and_then(|text| Cursor::new(text).decimal());
    // A kernel's name has commas and brackets of its own.
    let kernel = after(rest, ", kernel: ").and_then(|text| {
        let end = text.iter().rposition(|byte| *byte == b']').unwrap_or(text.len());
        name(text.get(..end)?)
    });
    let process = process.and_then(|process| u32::try_from(process).ok());
    Some(Row::Whole(Fault { kind, kernel, process, source: FaultSource::Hip, ..Fault::default() }))
}

/// `Queue error (HSA_STATUS_ERROR_EXCEPTION: ...)` of the debug agent.
fn queue_error(text: &[u8], at: usize) -> Option<Row> {
    let kind = status_of(from(text, at))?;
    Some(Row::Whole(Fault { kind, source: FaultSource::DebugAgent, ..Fault::default() }))
}

/// A status of a fault without a reporter's words. Other statuses are answers of the runtime's interface.
fn status(text: &[u8], at: usize) -> Option<Row> {
    let kind = status_of(from(text, at.checked_sub("HSA_STATUS_ERROR_".len())?))?;
    let is_fault = !matches!(kind, FaultKind::Launch | FaultKind::Queue);
    is_fault.then(|| Row::Whole(Fault { kind, source: FaultSource::Runtime, ..Fault::default() }))
}

/// The kind of the status in a text: by its name, else its number, else its description.
fn status_of(text: &[u8]) -> Option<FaultKind> {
    let named = after(text, "HSA_STATUS_ERROR").map(|text| {
        let mut cursor = Cursor::new(text);
        let _ = cursor.take("_");
        cursor.run(|byte| byte.is_ascii_uppercase() || byte == b'_')
    });
    let number = after(text, "code: ").or_else(|| after(text, "status: "));
    let number = number.and_then(|text| Cursor::new(text).address());
    let known = STATUSES.iter().find(|(name, code, words, _)| match (named, number) {
        (Some(named), _) => named == name.as_bytes(),
        (None, Some(number)) => number == *code,
        (None, None) => find(text, words).is_some(),
    });
    known.map(|(.., kind)| *kind)
}

/// HIP's error 700, which names neither a page nor an aperture.
fn illegal_address(_: &[u8], _: usize) -> Option<Row> {
    Some(Row::Whole(Fault { kind: FaultKind::Memory, source: FaultSource::Hip, ..Fault::default() }))
}

/// HIP's error 719.
fn launch_failure(_: &[u8], _: usize) -> Option<Row> {
    Some(Row::Whole(Fault { kind: FaultKind::Queue, source: FaultSource::Hip, ..Fault::default() }))
}

/// ``scale.hip:12: void scale(int *): Device-side assertion `i < n' failed.`` of HIP's device code,
/// ``a.c:12: void f(void): Assertion `i < n` failed.`` of LLVM's device library, with a message
/// ``Assertion message (`i < n`) failed.``, and HIP's error 710. C libraries of hosts end the condition with an
/// apostrophe.
fn assertion(text: &[u8], _: usize) -> Option<Row> {
    let is_error =
        || ["device-side assert triggered", "hipErrorAssert"].iter().any(|mark| find(text, mark).is_some());
    let fault = |source| Fault { kind: FaultKind::Assertion, source, ..Fault::default() };
    failed(text, ": Device-side assertion `", b"' failed.", FaultSource::Hip)
        .or_else(|| failed(text, ": Assertion `", b"` failed.", FaultSource::Offload))
        .or_else(|| failed_with_message(text))
        .or_else(|| is_error().then(|| Row::Whole(fault(FaultSource::Hip))))
}

/// A file name, which may have blanks, behind the prefix of a log: `[rank 3] 10:22:01 /src/my kernels/scale.hip`. An
/// absolute path is all from its first slash; else the last word with a colon or a bracket ends the prefix.
fn file(text: &[u8]) -> Option<String> {
    let is_prefix = |word: &[u8]| word.contains(&b':') || word.ends_with(b"]") || word.ends_with(b"|");
    let mut start = 0;
    for blank in memchr::memchr_iter(b' ', text) {
        let word = text.get(..blank).and_then(|text| text.rsplit(|byte| *byte == b' ').next());
        if word.is_some_and(is_prefix) {
            start = blank + 1;
        }
    }
    let rest = from(text, start);
    let path = if rest.starts_with(b"/") { 0 } else { find(rest, " /").map_or(0, |blank| blank + 1) };
    name(from(rest, path))
}

/// A failed assertion: its place, `mark`, the condition, `end`.
fn failed(text: &[u8], mark: &str, end: &[u8], source: FaultSource) -> Option<Row> {
    let at = find(text, mark)?;
    let condition = from(text, at + mark.len()).trim_ascii_end().strip_suffix(end)?;
    failed_at(text.get(..at)?, condition, source)
}

/// A failed assertion of LLVM's device library with a message: its place, the message, the condition in parentheses.
/// Messages are free text, and C++ has no grave accents.
fn failed_with_message(text: &[u8]) -> Option<Row> {
    const MARK: &str = ": Assertion ";
    let at = find(text, MARK)?;
    let rest = from(text, at + MARK.len()).trim_ascii_end().strip_suffix(b"`) failed.")?;
    let open = memchr::memmem::rfind(rest, b" (`")?;
    failed_at(text.get(..at)?, from(rest, open + 3), FaultSource::Offload)
}

/// A failed assertion by the text before its wording and its condition.
fn failed_at(before: &[u8], condition: &[u8], source: FaultSource) -> Option<Row> {
    let condition = name(condition)?;
    // `FILE:LINE: FUNCTION`; names of functions have colons, too. A log may have a prefix before the file.
    let colons = || memchr::memchr_iter(b':', before);
    let number = colons().zip(colons().skip(1)).find_map(|(first, second)| {
        let digits = before.get(first.checked_add(1)?..second)?;
        let line = std::str::from_utf8(digits).ok()?.parse().ok()?;
        before.get(second.checked_add(1)?)?.eq(&b' ').then_some((first, line, second))
    });
    let (file, line, function) = match number {
        Some((first, line, second)) => {
            (before.get(..first).and_then(file), Some(line), name(from(before, second + 1)))
        }
        None => (None, None, name(before)),
    };
    let assertion = Some(FailedAssertion { condition, file, line, function });
    Some(Row::Whole(Fault { kind: FaultKind::Assertion, assertion, source, ..Fault::default() }))
}
