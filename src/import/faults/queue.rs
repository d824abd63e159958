//! Errors of queues: HSA's statuses, HIP's errors, and the debug agents' words for both.

use super::lead::{has_words, is_prefix};
use super::line::{Row, after, from, name, pointer, process};
use crate::capture::{Fault, FaultKind, FaultSource};
use crate::import::text::{Cursor, find};

/// The mark of HIP's report on a queue.
pub(super) const ABORT: &str = "aborting with ";

const PREFIX: &str = "HSA_STATUS_ERROR";

/// HSA's statuses without their common prefix, their numbers (hsa.h, `hsa_ext_amd.h`), their texts, and the words of the
/// debug agent of 2018.
const STATUSES: [(&str, u64, &str, &str, FaultKind); 13] = [
    ("EXCEPTION", 0x1016, "hardware exception", "Debug trap;", FaultKind::Exception),
    ("ILLEGAL_INSTRUCTION", 0x2a, "illegal shader instruction", "-", FaultKind::IllegalInstruction),
    ("MEMORY_FAULT", 0x2b, "inaccessible address", "-", FaultKind::Memory),
    ("MEMORY_APERTURE_VIOLATION", 0x29, "largest legal address", "-", FaultKind::Aperture),
    (
        "INCOMPATIBLE_ARGUMENTS",
        0x100d,
        "arguments passed to a function are not compatible",
        "Invalid dim;",
        FaultKind::Launch,
    ),
    (
        "INVALID_ALLOCATION",
        0x1003,
        "requested allocation is not valid",
        "Invalid group memor;",
        FaultKind::Launch,
    ),
    ("INVALID_CODE_OBJECT", 0x1010, "code object is invalid", "Invalid (or NULL) code;", FaultKind::Launch),
    ("INVALID_PACKET_FORMAT", 0x1009, "AQL packet is malformed", "Invalid format;", FaultKind::Launch),
    ("INVALID_ARGUMENT", 0x1001, "actual arguments does not meet", "Group is too large;", FaultKind::Launch),
    ("INVALID_ISA", 0x100f, "instruction set architecture is invalid", "Out of VGPRs;", FaultKind::Launch),
    ("OUT_OF_RESOURCES", 0x1008, "failed to allocate the necessary", "Out of scratch;", FaultKind::Queue),
    ("OUT_OF_REGISTERS", 0x2d, "more registers than", "-", FaultKind::Queue),
    ("", 0x1000, "generic error", "Undefined code;", FaultKind::Queue),
];

/// A status: its kind, and its name or number as far as the text has it whole.
struct Status {
    kind: FaultKind,
    name: Option<String>,
}

/// The status in a text: by its name, else its number, else its description. `None`: there is none. `may_end`: whether the
/// writer may end its line behind the name.
fn status_of(text: &[u8], may_end: bool) -> Option<Status> {
    let named = after(text, PREFIX).map(|text| {
        let mut cursor = Cursor::new(text);
        let _ = cursor.take("_");
        let name = cursor.run(|byte| byte.is_ascii_uppercase() || byte == b'_');
        (name, cursor.rest.first().is_some_and(|next| may_end || *next != b'\n'))
    });
    let number = after(text, "code: ").or_else(|| after(text, "status: "));
    let number = number.and_then(|text| {
        let mut cursor = Cursor::new(text);
        cursor.address().filter(|_| !cursor.rest.is_empty())
    });
    let known = STATUSES.iter().find(|(name, code, words, ..)| match (named, number) {
        (Some((named, is_whole)), _) => is_whole && named == name.as_bytes(),
        (None, Some(number)) => number == *code,
        (None, None) => find(text, words).is_some(),
    });
    let join = |name: &str| match name {
        "" => PREFIX.to_owned(),
        name => format!("{PREFIX}_{name}"),
    };
    match (known, named, number) {
        (Some((name, .., kind)), ..) => Some(Status { kind: *kind, name: Some(join(name)) }),
        (None, Some((named, is_whole)), _) => {
            let named = name(named).filter(|_| is_whole);
            Some(Status { kind: FaultKind::Queue, name: named.map(|name| join(&name)) })
        }
        (None, None, Some(number)) => {
            Some(Status { kind: FaultKind::Queue, name: Some(format!("{number:#x}")) })
        }
        (None, None, None) => None,
    }
}

/// `Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_EXCEPTION: ... code: 0x1016` of HIP, and older forms.
pub(super) fn abort(text: &[u8], at: usize) -> Option<Row> {
    let before = text.get(..at)?.strip_suffix(ABORT.as_bytes())?;
    let rest = from(text, at);
    // A format string has no address there.
    let is_of_queue = before.ends_with(b"allbackQueue ")
        || find(before, "Queue 0x").is_some() && find(before, "allback").is_some();
    if !is_of_queue || !rest.starts_with(b"error") && !rest.starts_with(b"status") {
        return None;
    }
    let status = status_of(rest, false);
    let kernel = kernel_in(rest);
    let fault = Fault {
        kind: status.as_ref().map_or(FaultKind::Queue, |status| status.kind),
        kernel,
        process: after(text, "[pid:").and_then(process).or_else(|| process_before(before)),
        source: FaultSource::Hip,
        ..Fault::default()
    };
    match status {
        Some(status) => Some(Row::Whole(Fault { status: status.name, ..fault })),
        None => Some(Row::Begins(fault)),
    }
}

/// The kernel in `[host: node7, GPU index: 2, kernel: f]`, whose name may have commas and brackets.
fn kernel_in(text: &[u8]) -> Option<String> {
    let text = after(text, " kernel: ")?;
    let last = |end| text.iter().rposition(|byte| *byte == end);
    let end = last(b']').or_else(|| last(b'\n'))?;
    name(text.get(..end)?)
}

/// `Memory Fault Error [host: node7, GPU index: 0, faulting addr: 0x7f0000201000, kernel: f]` of HIP since ROCm 7, for the
/// event that ROCm's runtime reports, too.
pub(super) fn memory_fault(text: &[u8], at: usize) -> Option<Row> {
    let rest = from(text, at);
    let address = after(rest, "faulting addr: ").and_then(pointer).filter(|(_, rest)| rest.starts_with(b","));
    // A line that was cut lacks the last bracket.
    let number = |sign| rest.iter().filter(|byte| **byte == sign).count();
    let kernel = kernel_in(rest).filter(|_| number(b']') == number(b'[') + 1);
    let fault = Fault { address: address.map(|(at, _)| at), kernel, ..Fault::default() };
    Some(Row::Whole(Fault { source: FaultSource::Hip, ..fault }))
}

/// `Queue error - HSA_STATUS_ERROR_MEMORY_FAULT`, which ROCm's runtime reports as the event of a page, too.
pub(super) fn suppressed(text: &[u8], at: usize) -> Option<Row> {
    let (kind, source) = (FaultKind::Memory, FaultSource::Runtime);
    let status = Some("HSA_STATUS_ERROR_MEMORY_FAULT".to_owned());
    from(text, at)
        .trim_ascii()
        .is_empty()
        .then(|| Row::Whole(Fault { kind, status, source, ..Fault::default() }))
}

/// The number of the queue in `Queue 0x792897b00000 aborting`.
pub(super) fn queue_of(text: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(after(text, "Queue ")?);
    cursor.address().filter(|_| cursor.rest.starts_with(b" aborting"))
}

/// `VGPU=0x5bae1d0e41e0 SWq=0x7929b05da000, HWq=0x792897b00000, id=1`, behind the kernel's name
pub(super) fn kernel_queue(text: &[u8], at: usize) -> Option<Row> {
    let (_, queue) = Cursor::new(from(text, at)).hex()?;
    find(text, "VGPU=0x").map(|_| Row::KernelQueue(queue))
}

/// `:0:rocdevice.cpp :2614: 12399104736 us: 7098 : [tid:0x7f8b2f7fe700]`, the prefix of HIP before ROCm 6.
fn process_before(text: &[u8]) -> Option<u32> {
    let text = text.get(..find(text, "[tid:")?)?;
    let number = text.trim_ascii_end().strip_suffix(b":")?;
    let number = from(number, find(number, " us: ")? + " us: ".len()).trim_ascii();
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// `Queue error (HSA_STATUS_ERROR_EXCEPTION: ...)` of the debug agent.
pub(super) fn error(text: &[u8], at: usize) -> Option<Row> {
    let Status { kind, name } = status_of(from(text, at), false)?;
    let source = FaultSource::DebugAgent;
    Some(Row::Whole(Fault { kind, status: name, source, ..Fault::default() }))
}

/// `Queue error state in GPU agent: AMD gfx900` of the debug agent of 2018; the node and the reason are in the next lines.
pub(super) fn error_state(_: &[u8], _: usize) -> Option<Row> {
    let (kind, source) = (FaultKind::Queue, FaultSource::DebugAgent);
    Some(Row::Begins(Fault { kind, source, ..Fault::default() }))
}

/// `Queue ID: 140068470472704 (Debug trap;)`
pub(super) fn error_state_reason(text: &[u8], at: usize) -> Option<Row> {
    let mut cursor = Cursor::new(from(text, at));
    cursor.decimal()?;
    let reason = cursor.rest.strip_prefix(b" (")?;
    let known = STATUSES.iter().find(|(_, _, _, words, _)| reason.starts_with(words.as_bytes()));
    let (.., words, kind) = known?;
    let status = Some(words.trim_end_matches(';').to_owned());
    let source = FaultSource::DebugAgent;
    Some(Row::Status(Fault { kind: *kind, status, source, ..Fault::default() }))
}

/// `Kernel Name: _Z9gridreducePfS_i`: the first line of HIP's account of a queue, before the queue's error.
pub(super) fn kernel_name(text: &[u8], at: usize) -> Option<Row> {
    let kernel = from(text, at).strip_suffix(b"\n")?.trim_ascii_end();
    let kernel = kernel.strip_suffix(b".kd").unwrap_or(kernel);
    name(kernel).map(Row::KernelName)
}

/// A status of a fault without a reporter's words. Other statuses are answers of the runtime's interface.
pub(super) fn status(text: &[u8], at: usize) -> Option<Row> {
    let start = at.checked_sub(PREFIX.len() + 1)?;
    let Status { kind, name } = status_of(from(text, start), true)?;
    let end = start + name.as_ref()?.len();
    let is_fault = !matches!(kind, FaultKind::Launch | FaultKind::Queue);
    let source = FaultSource::Runtime;
    let words = STATUSES.iter().find(|status| status.4 == kind).map_or("", |(_, _, words, ..)| words);
    (is_fault && is_message(text, (start, end), words))
        .then(|| Row::Whole(Fault { kind, status: name, source, ..Fault::default() }))
}

/// Whether a name or sentence at a range of a line is what a program prints: a reporter's words lead to it, or it is the
/// whole message, perhaps with its description. In other places people write about it.
fn is_message(text: &[u8], (start, end): (usize, usize), description: &str) -> bool {
    const SIGNS: [&str; 11] = ["\n", ":", " :", ",", ".", ")", "'", "\"", " (", "(", "\\"];
    let before = text.get(..start).unwrap_or_default();
    let quoted = before.strip_suffix(b"'").or_else(|| before.strip_suffix(b"\""));
    let lead = quoted.unwrap_or(before).trim_ascii_end();
    let rest = from(text, end);
    let is_ended = rest.is_empty() || SIGNS.iter().any(|sign| rest.starts_with(sign.as_bytes()));
    let is_apart = lead.ends_with(b"(") || lead.len() < before.len();
    let is_reported = is_ended && is_apart && is_of_reporter(lead, quoted.is_some()) && is_printed(lead);
    let is_alone = || {
        let is_open = lead.last().is_some_and(|last| b"=(<,&!".contains(last));
        !is_open && is_prefix(before) && !has_words(lead) && is_whole(rest, quoted.map(|_| lead), description)
    };
    is_reported || is_alone()
}

/// Whether words lead to an error: `failed to launch:`, `error(`, `failed with`, `HIP failure 700 '`.
fn is_of_reporter(lead: &[u8], is_quoted: bool) -> bool {
    const NAMES: [&str; 9] =
        ["error", "failed", "failure", "exception", "code", "status", "returned", "could", "unable"];
    const VERBS: [&str; 5] = ["failed", "aborted", "terminated", "exited", "returned"];
    let ends = |word: &[u8], names: &[&str]| names.iter().any(|name| word.ends_with(name.as_bytes()));
    let lead = lead.to_ascii_lowercase();
    let sign = lead.last().filter(|last| matches!(last, b':' | b'('));
    let words = lead.get(..lead.len() - sign.iter().len()).unwrap_or_default();
    let is_other = |byte: &u8| byte.is_ascii_digit() || b" #\"'\\".contains(byte);
    let end = words.iter().rposition(|byte| !is_other(byte)).map_or(0, |at| at + 1);
    let words = words.get(..end).unwrap_or_default();
    if sign == Some(&b':') {
        let clause = words.rsplit(|byte| matches!(byte, b':' | b']')).next().unwrap_or_default();
        return clause.split(|byte| *byte == b' ').any(|word| ends(word, &NAMES));
    }
    if sign.is_some() || is_quoted {
        return ends(words, &NAMES);
    }
    let verb = ["code", "error", "status", "with"]
        .iter()
        .fold(words, |words, part| words.strip_suffix(part.as_bytes()).unwrap_or(words).trim_ascii_end());
    ends(verb, &VERBS)
}

/// Whether a program prints a text, not source code or configuration: its last quotation mark closes a value, or is behind
/// the prefix of a log or an exception's name.
fn is_printed(lead: &[u8]) -> bool {
    let Some(at) = lead.iter().rposition(|byte| b"\"'`".contains(byte)) else { return true };
    let outside = lead.get(..at).unwrap_or_default();
    let is_exception = ["Error(", "Exception("].iter().any(|name| outside.ends_with(name.as_bytes()));
    let is_value = || {
        let outside = outside.trim_ascii_end();
        is_prefix(lead.get(..=at).unwrap_or_default())
            && !outside.ends_with(b" =")
            && !outside.ends_with(b",")
    };
    outside.last().is_some_and(u8::is_ascii_alphanumeric) || is_exception || is_value()
}

/// Whether behind an error only its number, its description and the end of its line or value follow; `value`: the text
/// before the quotation mark of one.
fn is_whole(rest: &[u8], value: Option<&[u8]>, description: &str) -> bool {
    let mut cursor = Cursor::new(rest);
    cursor.spaces();
    if cursor.take("(") {
        let _ = cursor.decimal();
        let _ = cursor.take(")");
    }
    if cursor.take(":") && find(cursor.rest, description).is_some() {
        return true;
    }
    let rest = cursor.rest.trim_ascii();
    let Some(lead) = value else { return matches!(rest, b"" | b".") };
    let behind = rest.split_first().filter(|(first, _)| b"\"'".contains(first));
    behind.is_some_and(|(_, rest)| match rest.first() {
        None => true,
        Some(next) => lead.ends_with(b":") && b",}".contains(next),
    })
}

/// HIP's errors, by name or number.
const ERRORS: [(&str, &str, u64, FaultKind); 4] = [
    // It distinguishes no page from an aperture.
    ("hipErrorIllegalAddress", "illegal memory access was encountered", 700, FaultKind::Memory),
    ("CUDA_ERROR_ILLEGAL_ADDRESS", "illegal memory access was encountered", 700, FaultKind::Memory),
    ("hipErrorLaunchFailure", "unspecified launch failure", 719, FaultKind::Queue),
    ("hipErrorAssert", "device-side assert triggered", 710, FaultKind::Assertion),
];

fn of_hip(kind: FaultKind) -> Row {
    Row::Whole(Fault { kind, source: FaultSource::Hip, ..Fault::default() })
}

/// `hipErrorIllegalAddress (700)`
pub(super) fn code(text: &[u8], at: usize) -> Option<Row> {
    let (name, words, _, kind) = ERRORS
        .iter()
        .find(|(name, ..)| text.get(..at).is_some_and(|text| text.ends_with(name.as_bytes())))?;
    is_message(text, (at - name.len(), at), words).then(|| of_hip(*kind))
}

/// `HIP error: an illegal memory access was encountered`
pub(super) fn sentence(text: &[u8], at: usize) -> Option<Row> {
    let before = text.get(..at)?;
    let (_, words, _, kind) = ERRORS.iter().find(|(_, words, ..)| before.ends_with(words.as_bytes()))?;
    let start = at - words.len();
    let start = if before.get(..start)?.ends_with(b"an ") { start - 3 } else { start };
    is_message(text, (start, at), words).then(|| of_hip(*kind))
}

/// `hipError_t(719)`
pub(super) fn number(text: &[u8], at: usize) -> Option<Row> {
    let mut cursor = Cursor::new(from(text, at));
    let number = cursor.decimal().filter(|_| cursor.rest.starts_with(b")"))?;
    let (_, words, _, kind) = ERRORS.iter().find(|(_, _, of, _)| *of == number)?;
    let (start, end) = (at.checked_sub("hipError_t(".len())?, text.len() - cursor.rest.len() + 1);
    let is_of_line = matches!(text.get(end), None | Some(b' '));
    (is_of_line || is_message(text, (start, end), words)).then(|| of_hip(*kind))
}

/// The kernel in `Kernel 'omp target in main @ 12 (__omp_offloading_10303_b_main_l12)'` of LLVM's runtime: the line
/// before its report, behind any prefix.
pub(super) fn offload_kernel(text: &[u8], at: usize) -> Option<Row> {
    let rest = from(text, at);
    // A report in its line has facts of its own.
    let rest = rest.trim_ascii_end().strip_suffix(b"'")?;
    let symbol = match (rest.iter().rposition(|byte| *byte == b'('), rest.strip_suffix(b")")) {
        (Some(open), Some(inner)) => inner.get(open + 1..)?,
        _ => rest,
    };
    name(symbol).map(Row::KernelName)
}
