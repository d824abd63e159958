//! Reports of memory faults by ROCm's and LLVM's runtimes, libhsakmt, the debug agent and tinygrad.

use super::MARK;
use super::line::{Address, MAX_NAME, Row, after, from, pointer};
use crate::capture::{Fault, FaultAccess, FaultKind, FaultReason, FaultSource};
use crate::import::text::{Cursor, find};

/// `node-4 (Agent handle: 0x15) on address 0x7f00 (may not be exact address). Reason: Unknown.` of ROCm's runtime,
/// `1 (agent 0x55) at virtual address (nil). Reasons: A, B` of LLVM's, and the beginnings of old agents' reports.
pub(super) fn access_fault(text: &[u8], at: usize) -> Option<Row> {
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
        let node = node.filter(|_| !cursor.rest.is_empty());
        return Some(Row::Begins(Fault { node, source: FaultSource::DebugAgent, ..Fault::default() }));
    }
    if !cursor.take("by GPU ") {
        return None;
    }
    if cursor.take("agent: ") {
        return Some(Row::Begins(Fault { source: FaultSource::Runtime, ..Fault::default() }));
    }
    let source = if cursor.take("node-") { FaultSource::Runtime } else { FaultSource::Offload };
    let number = cursor.decimal()?;
    let rest = cursor.rest;
    // The end of a line may cut it.
    let node = u32::try_from(number).ok().filter(|_| rest.starts_with(b" "));
    let is_of_agent = [" (Agent", " (agent"].iter().any(|agent| rest.starts_with(agent.as_bytes()));
    // An agent that the end of the line cuts has nothing behind it.
    let place = if is_of_agent { after(rest, ")").unwrap_or_default() } else { rest };
    let places = [" on address ", " at virtual address "];
    if !places.iter().any(|words| begins(place, words)) {
        return None;
    }
    let address = places.iter().find_map(|words| place.strip_prefix(words.as_bytes())).and_then(pointer);
    // Both runtimes print a period or a remark behind the address: one at the end of a line may lack digits.
    let is_whole = |(_, rest): &(_, &[u8])| begins(rest, ". Reason") || begins(rest, INEXACT);
    if address.is_some_and(|at| !is_whole(&at) && at.1.starts_with(b" ")) {
        return None;
    }
    let address = address.filter(|at| is_whole(at) && matches!(at.1.first(), Some(b'.' | b' ')));
    let mut fault = Fault { address: address.map(|(at, _)| at), node, source, ..Fault::default() };
    // The remark is the only text behind an address that begins so.
    if address.is_some_and(|(_, rest)| rest.starts_with(b" "))
        && let Some(address) = &mut fault.address
    {
        address.is_inexact = true;
    }
    // ROCm's runtime prints the first reason, with a period, LLVM's all of them.
    match (after(rest, "Reason: "), after(rest, "Reasons: ")) {
        (Some(reason), _) => Reasons::of(until(reason, b".")).apply(&mut fault, false),
        (None, Some(reasons)) => Reasons::of(until(reasons, b".\n")).apply(&mut fault, true),
        (None, None) => {}
    }
    Some(Row::Whole(fault))
}

/// The remark of ROCm's runtime behind an address.
const INEXACT: &str = " (may not be exact address)";

/// Whether a text begins with words, as far as its line goes.
fn begins(text: &[u8], words: &str) -> bool {
    text.starts_with(words.as_bytes()) || words.as_bytes().starts_with(text.trim_ascii_end())
}

/// `Node: 1` of old agents, on a line of its own, perhaps behind the time and place of a log.
pub(super) fn node(text: &[u8], at: usize) -> Option<Row> {
    let mut cursor = Cursor::new(from(text, at));
    let number = u32::try_from(cursor.decimal()?).ok()?;
    (!cursor.rest.is_empty() && cursor.rest.trim_ascii().is_empty()).then_some(Row::Node(number))
}

/// The rest of a line from a runtime's message on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapped {
    /// A beginning of the message: the next line may have more of it.
    Beginning,
    /// The whole message.
    Whole,
}

/// ROCm's reasons (`runtime.cpp`, `VMFaultHandler`).
const REASONS: [&str; 9] = [
    "Page not present or supervisor privilege",
    "Write access to a read-only page",
    "Execute access to a page marked NX",
    "Host access only",
    "ECC failure (if supported by HW)",
    "DRAM ECC failure",
    "SRAM ECC failure",
    "Generic hang recovery",
    "Unknown",
];

/// How much of a message with an address a line has at its end. `None`: none, or other words.
pub(super) fn wrapped(text: &[u8]) -> Option<Wrapped> {
    let at = memchr::memmem::rfind(text, MARK.as_bytes())?;
    let mut line = Vec::new();
    // Numbers become one sign.
    for byte in from(text, at + MARK.len()).trim_ascii_end() {
        let is_number = match line.last() {
            Some(b'#') if line.ends_with(b"0x#") => byte.is_ascii_hexdigit(),
            Some(b'#') => byte.is_ascii_digit(),
            _ if line.ends_with(b"0x") => byte.is_ascii_hexdigit(),
            _ => byte.is_ascii_digit() && (line.ends_with(b"node-") || line.ends_with(b"by GPU ")),
        };
        match (is_number, line.last()) {
            (true, Some(b'#')) => {}
            (true, _) => line.push(b'#'),
            (false, _) => line.push(*byte),
        }
    }
    let known =
        |message: String| match (line.starts_with(message.as_bytes()), message.as_bytes().starts_with(&line))
        {
            (true, _) => Some(Wrapped::Whole),
            (false, true) => Some(Wrapped::Beginning),
            (false, false) => None,
        };
    let addresses = ["0x#", "(nil)"];
    let offload =
        addresses.iter().map(|at| format!("by GPU # (agent 0x#) at virtual address {at}. Reasons: "));
    let mut found = offload.filter_map(known);
    let agents = ["", " (Agent handle: 0x#)"];
    let rocm = agents.iter().flat_map(|agent| addresses.iter().map(move |at| (agent, at)));
    let rocm = rocm.flat_map(|(agent, at)| {
        ["", INEXACT].map(|remark| format!("by GPU node-#{agent} on address {at}{remark}. Reason: "))
    });
    found.next().or_else(|| {
        rocm.flat_map(|message| REASONS.map(|reason| format!("{message}{reason}."))).find_map(known)
    })
}

/// Text before the first of some bytes; without one of them nothing is whole.
fn until<'l>(text: &'l [u8], ends: &[u8]) -> &'l [u8] {
    let end = text.iter().position(|byte| ends.contains(byte));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// `0x800008000, node id 1 : Page not present`: libhsakmt with messages, which names one reason.
pub(super) fn memory_exception(text: &[u8], at: usize) -> Option<Row> {
    let (address, rest) = pointer(from(text, at))?;
    let mut cursor = Cursor::new(rest.strip_prefix(b", node id ")?);
    let node = cursor.decimal().and_then(|node| u32::try_from(node).ok());
    let node = node.filter(|_| cursor.rest.starts_with(b" "));
    let mut fault = Fault { address: Some(address), node, source: FaultSource::Thunk, ..Fault::default() };
    Reasons::of(until(cursor.rest, b"\n")).apply(&mut fault, false);
    Some(Row::Whole(fault))
}

/// `0 (Agent handle: 0x10a3dc10) on address 0x7f3c19800000. Reason: Memory in use. `: ROCm's runtime at a release.
pub(super) fn memory_in_use(text: &[u8], at: usize) -> Option<Row> {
    let mut cursor = Cursor::new(from(text, at));
    let node = u32::try_from(cursor.decimal()?).ok();
    let address = pointer(after(cursor.rest, ") on address ")?);
    let address = address.filter(|(_, rest)| rest.starts_with(b".")).map(|(at, _)| at);
    let reasons = after(cursor.rest, "Reason: Memory in use").map(|_| FaultReason::InUse);
    Some(Row::Whole(Fault {
        kind: FaultKind::InUse,
        address,
        reasons: reasons.into_iter().collect(),
        has_all_reasons: reasons.is_some(),
        node,
        source: FaultSource::Runtime,
        ..Fault::default()
    }))
}

/// `7B4F50DC3000 | NotPresent=1 ReadOnly=1 NoExecute=0 imprecise=0` of tinygrad, with the driver's names of its bits.
pub(super) fn mmu_fault(text: &[u8], at: usize) -> Option<Row> {
    let (mut address, rest) = pointer(from(text, at))?;
    let bits = rest.strip_prefix(b" | ")?;
    let is_set = |name: &str| after(bits, name).is_some_and(|text| text.starts_with(b"=1"));
    // A cut line may lack the bit that makes it an execution.
    let has_all = after(bits, "NoExecute=").is_some_and(|text| text.len() > 1);
    after(bits, "NotPresent=")?;
    address.is_inexact = is_set("imprecise");
    let reasons = [
        ("NotPresent", FaultReason::NotPresent),
        ("ReadOnly", FaultReason::ReadOnly),
        ("NoExecute", FaultReason::NoExecute),
    ];
    let reasons: Vec<_> =
        reasons.into_iter().filter(|(name, _)| is_set(name)).map(|(_, reason)| reason).collect();
    Some(Row::Whole(Fault {
        address: Some(address),
        access: access(&reasons).filter(|_| has_all),
        has_all_reasons: !reasons.is_empty() && has_all,
        reasons,
        source: FaultSource::Tinygrad,
        ..Fault::default()
    }))
}

/// `0 reset_cause=0 memory_lost=1 gpu_id=10727` of tinygrad: the driver reset the GPU, by `kfd_ioctl.h` after a hang (0) or
/// an uncorrectable error of memory (1).
pub(super) fn reset(text: &[u8], at: usize) -> Option<Row> {
    find(from(text, at), "gpu_id=")?;
    let kind = match after(from(text, at), "reset_cause=")?.starts_with(b"1 ") {
        true => FaultKind::Ecc,
        false => FaultKind::Hang,
    };
    Some(Row::Whole(Fault { kind, source: FaultSource::Tinygrad, ..Fault::default() }))
}

/// `[GPU Memory Error] Addr: 0x4100000000 Reason: ...`: the oldest libomptarget, whose reasons are unreliable.
pub(super) fn gpu_memory_error(text: &[u8], at: usize) -> Option<Row> {
    let address = after(from(text, at), "Addr: ")?;
    let address = pointer(address).filter(|(_, rest)| rest.starts_with(b" ")).map(|(at, _)| at);
    Some(Row::Whole(Fault { address, source: FaultSource::Offload, ..Fault::default() }))
}

/// `System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT: page not present or supervisor privilege, ...)`
pub(super) fn system_event(text: &[u8], at: usize) -> Option<Row> {
    find(text, "System event (")?;
    let mut fault = Fault { source: FaultSource::DebugAgent, ..Fault::default() };
    if let Some(reasons) = from(text, at).strip_prefix(b": ") {
        Reasons::of(until(reasons, b")")).apply(&mut fault, true);
    }
    Some(Row::Begins(fault))
}

/// `Faulting page: 0x7fbe4cc01000`
pub(super) fn faulting_page(text: &[u8], at: usize) -> Option<Row> {
    let (at, _) = pointer(from(text, at))?;
    Some(Row::Address(Address { at, reasons: None, by: FaultSource::DebugAgent }))
}

/// `Address: 0x1502F3Cxxx (page not present;write access to a read-only page;)`; `end`: the offset of the reasons.
pub(super) fn masked_page(text: &[u8], end: usize) -> Option<Row> {
    let before = text.get(..end.checked_sub("xxx (".len())?)?;
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (prefix, _) = before.split_at(before.len().checked_sub(digits)?);
    let start = prefix.strip_suffix(b"0x")?.len();
    let (at, _) = pointer(from(text, start))?;
    let reasons = Some(Reasons::of(until(from(text, end), b")")));
    Some(Row::Address(Address { at, reasons, by: FaultSource::Runtime }))
}

/// `1 (Agent handle: 0x5) reason :GPU Hang` of ROCm's runtime; the other reason is an ECC error.
pub(super) fn hardware_exception(text: &[u8], at: usize) -> Option<Row> {
    let mut cursor = Cursor::new(from(text, at));
    let node = u32::try_from(cursor.decimal()?).ok();
    let reason = after(cursor.rest, " reason :")?.to_ascii_lowercase();
    let kind = match (find(&reason, "hang"), find(&reason, "ecc")) {
        (Some(_), _) => FaultKind::Hang,
        (None, Some(_)) => FaultKind::Ecc,
        (None, None) => FaultKind::Queue,
    };
    Some(Row::Whole(Fault { kind, node, source: FaultSource::Runtime, ..Fault::default() }))
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
            (has("read-only") || has("readonly page"), FaultReason::ReadOnly),
            (has("execute access") || has("none-executable"), FaultReason::NoExecute),
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
