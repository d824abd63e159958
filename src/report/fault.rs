//! Reported faults as text and JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

use super::schema::{Hex, Schema};
use crate::capture::{
    AgentInference, FailedAssertion, Fault, FaultAccess, FaultKind, FaultReason, FaultSource, FileLocation,
    Foreign, PAGE,
};
use crate::debuginfo::source_name;

/// A line with a sentence for each fault.
#[must_use]
pub(crate) fn text(faults: &[Fault]) -> String {
    if faults.is_empty() {
        return "No fault was reported.\n".to_owned();
    }
    faults.iter().map(|fault| sentence(fault) + "\n").collect()
}

/// A fault in words: `write to page 0x7f0000201000: the page is not present; GPU node 4; ROCm's runtime, run.log:12`.
#[must_use]
pub fn sentence(fault: &Fault) -> String {
    let mut text = subject(fault);
    let reasons: Vec<&str> = fault.reasons.iter().copied().map(reason).collect();
    if !reasons.is_empty() {
        let more = if fault.has_all_reasons { "" } else { " (perhaps with others)" };
        let _ = write!(text, ": {}{more}", reasons.join(", "));
    }
    let own = [
        fault.node.map(|node| format!("GPU node {node}")),
        fault.device.as_ref().map(|device| format!("GPU {device}")),
        fault.agent.map(|agent| format!("agent {agent}{}", fault.agent_inferred.map_or("", inferred))),
        fault.client.as_ref().map(|client| format!("client {client}{}", purpose(client))),
        fault.ring.as_ref().map(|ring| format!("ring {ring}")),
        fault.kernel.as_ref().map(|kernel| format!("kernel {}", source_name(kernel))),
        fault.process.map(|process| format!("process {process}")),
        fault.outer_process.map(|process| format!("process {process} outside of its container (inferred)")),
        fault.foreign().map(|why| format!("not of these waves: {}", foreign(why))),
        // A name is that of the kind, or in the subject.
        fault
            .status
            .as_ref()
            .filter(|status| status.starts_with("0x"))
            .map(|status| format!("status {status}")),
        lost_row(fault).map(str::to_owned),
    ];
    for part in own.into_iter().flatten() {
        let _ = write!(text, "; {part}");
    }
    let reports = std::iter::once((fault.source, &fault.place));
    let reports = reports.chain(fault.also.iter().map(|also| (also.source, &also.place)));
    let reports: Vec<String> = reports.map(|(by, place)| reporter(by, place.as_ref())).collect();
    let _ = write!(text, "; reported by {}", reports.join(" and "));
    text
}

/// Why a report is not about the captured waves.
fn foreign(why: Foreign) -> &'static str {
    match why {
        Foreign::Process => "the capture is of another process",
        Foreign::Driver => "the driver's own address space",
        Foreign::Gpu => "the capture has no such GPU",
        Foreign::Client => "the client runs none",
        Foreign::Ring => "the ring runs none of them",
    }
}

/// The row that a report lacks: without it the page is unknown.
fn lost_row(fault: &Fault) -> Option<&'static str> {
    let is_lost =
        fault.source == FaultSource::KernelLog && fault.kind == FaultKind::Page && fault.address.is_none();
    is_lost.then_some("its row `in page starting at address` is missing, or its address is cut")
}

/// The access with its address: `write to page 0x1000`.
fn subject(fault: &Fault) -> String {
    let access = match (fault.access, fault.kind) {
        (Some(FaultAccess::Read), _) => "read of",
        (Some(FaultAccess::Write), _) => "write to",
        (Some(FaultAccess::Execute), _) => "execution of",
        (None, _) => "access to",
    };
    let place = |address: Option<crate::capture::FaultAddress>| match address {
        None => "unknown memory".to_owned(),
        Some(at) => {
            let inexact = if at.is_inexact { " (inexact)" } else { "" };
            match at.bytes {
                PAGE => format!("page {:#x}{inexact}", at.start),
                1 => format!("{:#x}{inexact}", at.start),
                bytes => format!("{bytes} bytes at {:#x}{inexact}", at.start),
            }
        }
    };
    match fault.kind {
        FaultKind::Page | FaultKind::Memory => format!("{access} {}", place(fault.address)),
        FaultKind::Aperture => format!("{access} memory outside all apertures"),
        FaultKind::IllegalInstruction => "illegal instruction".to_owned(),
        FaultKind::Exception => "hardware exception".to_owned() + &status(fault),
        FaultKind::Ecc if fault.address.is_some() => {
            format!("uncorrectable memory error at {}", place(fault.address))
        }
        FaultKind::Ecc => "uncorrectable memory error".to_owned(),
        FaultKind::Assertion => match &fault.assertion {
            Some(of) => assertion(of),
            None => "failed assertion".to_owned(),
        },
        FaultKind::Launch => "failed kernel launch".to_owned() + &status(fault),
        FaultKind::Queue => "queue error".to_owned() + &status(fault),
        FaultKind::Hang => "GPU hang".to_owned(),
        FaultKind::InUse => format!("release of {}", place(fault.address)),
    }
}

/// `: out of resources`: the words of a status's name, or those of the debug agent of 2018. The name of an exception says no
/// more than its kind.
fn status(fault: &Fault) -> String {
    let Some(status) = &fault.status else { return String::new() };
    let words = match status.strip_prefix("HSA_STATUS_ERROR") {
        Some(_) if fault.kind == FaultKind::Exception => "",
        Some(name) => name.trim_start_matches('_'),
        None if status.starts_with("0x") => "",
        None => status,
    };
    if words.is_empty() {
        String::new()
    } else {
        format!(": {}", words.to_ascii_lowercase().replace('_', " "))
    }
}

/// Maximum number of characters of a condition or name in a sentence.
const MAX_TEXT: usize = 160;

/// The first characters of a text.
pub(crate) fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => Cow::Owned(format!("{}...", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// `failed assertion i < n in scale(int*, int), scale.hip:12`
fn assertion(of: &FailedAssertion) -> String {
    let function = of.function.as_ref().map(|name| format!(" in {}", clipped(name))).unwrap_or_default();
    let place = of.file.as_ref().map(|file| format!(", {}", clipped(file))).unwrap_or_default();
    let line = of.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("failed assertion {}{function}{place}{line}", clipped(&of.condition))
}

fn reason(reason: FaultReason) -> &'static str {
    match reason {
        FaultReason::NotPresent => "page not present or supervisor privilege",
        FaultReason::ReadOnly => "write access to a read-only page",
        FaultReason::NoExecute => "execute access to a page marked NX",
        FaultReason::HostOnly => "host access only",
        FaultReason::DramEcc => "DRAM ECC failure",
        FaultReason::SramEcc => "SRAM ECC failure",
        FaultReason::HangRecovery => "generic hang recovery",
        FaultReason::InUse => "memory in use",
    }
}

/// The purpose of a hardware client that runs no waves.
fn purpose(client: &str) -> &'static str {
    const PURPOSES: [(&str, &str); 7] = [
        ("SDMA", " (copies)"),
        ("CB", " (graphics)"),
        ("DB", " (graphics)"),
        ("CP", " (command processor)"),
        ("mmhub", " (media and copies)"),
        ("VCN", " (media)"),
        ("JPEG", " (media)"),
    ];
    PURPOSES.iter().find(|(start, _)| client.starts_with(start)).map_or("", |(_, purpose)| purpose)
}

/// The mark of an inferred agent.
fn inferred(source: AgentInference) -> &'static str {
    match source {
        AgentInference::OnlyGpu => " (inferred: the only GPU)",
        AgentInference::SameNode => " (inferred: that of another report with this node)",
    }
}

/// A reporter in words: `the kernel log (dmesg.txt, line 7)`.
fn reporter(source: FaultSource, place: Option<&FileLocation>) -> String {
    let name = source.words();
    let Some(place) = place else { return name.to_owned() };
    let line = place.line.map(|line| format!(", line {line}"));
    format!("{name} ({}{})", place.file, line.unwrap_or_default())
}

/// The reported faults of a dump.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Faults {
    /// The faults.
    pub faults: Vec<ReportedFault>,
}

impl Schema for Faults {
    const NAME: &'static str = "faults";
}

/// A reported fault; null: the report does not have it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReportedFault {
    /// The kind.
    pub kind: FaultKind,
    /// The first address.
    pub address: Option<Hex>,
    /// Number of covered bytes, 4096 for a page.
    pub bytes: Option<u64>,
    /// Whether the reporter marks the address as inexact.
    pub inexact: Option<bool>,
    /// The first byte of the page.
    pub page: Option<Hex>,
    /// The access.
    pub access: Option<FaultAccess>,
    /// Names of docs/dump-format.md, in the order of the report.
    pub reasons: Vec<FaultReason>,
    /// Whether the report lists all reasons.
    pub all_reasons: bool,
    /// The status by name or number, as reported.
    pub status: Option<String>,
    /// The driver's number of the GPU.
    pub node: Option<u32>,
    /// The driver's name of the GPU: its PCI address, or `drmn0`.
    pub device: Option<String>,
    /// The dump's id of the agent.
    pub gpu: Option<u32>,
    /// The source of an inferred `gpu`: `only_gpu` (the core has one GPU) or `same_node` (another report with the same
    /// `node` identifies it). Null: the report itself identifies the agent, or it is unknown.
    pub gpu_inferred: Option<AgentInference>,
    /// The hardware client.
    pub client: Option<String>,
    /// The ring of a hang.
    pub ring: Option<String>,
    /// The kernel.
    pub kernel: Option<String>,
    /// Process id.
    pub process: Option<u32>,
    /// Why the report is not about the captured waves: `process` (the capture is of another one), `gpu` (the capture's
    /// process does not have it), `driver` (its own address space), `client` or `ring` (one that runs no waves).
    pub foreign: Option<Foreign>,
    /// The assertion of a report of one.
    pub assertion: Option<ReportedAssertion>,
    /// The first reporter, by a name of docs/dump-format.md.
    pub source: FaultSource,
    /// The place of the first report.
    pub place: Option<FileLocation>,
    /// Further reports of the same fault.
    pub also: Vec<Report>,
}

/// A failed assertion as the program prints it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReportedAssertion {
    /// The condition.
    pub condition: String,
    /// The source file by the compiler's name.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u64>,
    /// The function with its parameters.
    pub function: Option<String>,
}

fn assertion_json(of: &FailedAssertion) -> ReportedAssertion {
    ReportedAssertion {
        condition: of.condition.clone(),
        file: of.file.clone(),
        line: of.line,
        function: of.function.clone(),
    }
}

/// A report of a fault.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// The reporter.
    pub source: FaultSource,
    /// The place of the report.
    pub place: Option<FileLocation>,
}

/// Faults as JSON.
#[must_use]
pub fn json(faults: &[Fault]) -> Vec<ReportedFault> {
    faults.iter().map(one).collect()
}

/// A fault as JSON.
#[must_use]
pub(crate) fn one(fault: &Fault) -> ReportedFault {
    let address = fault.address;
    let also = fault.also.iter().map(|also| Report { source: also.source, place: also.place.clone() });
    ReportedFault {
        kind: fault.kind,
        address: address.map(|address| Hex(address.start)),
        bytes: address.map(|address| address.bytes),
        inexact: address.map(|address| address.is_inexact),
        page: address.map(|address| Hex(address.start & !(PAGE - 1))),
        access: fault.access,
        reasons: fault.reasons.clone(),
        all_reasons: fault.has_all_reasons,
        status: fault.status.clone(),
        node: fault.node,
        device: fault.device.clone(),
        gpu: fault.agent,
        gpu_inferred: fault.agent_inferred,
        client: fault.client.clone(),
        ring: fault.ring.clone(),
        kernel: fault.kernel.clone(),
        process: fault.process,
        foreign: fault.foreign(),
        assertion: fault.assertion.as_ref().map(assertion_json),
        source: fault.source,
        place: fault.place.clone(),
        also: also.collect(),
    }
}
