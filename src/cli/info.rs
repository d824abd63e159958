//! `lanescope info DUMP`: the contents, the gaps and the problems of a dump.

use std::fmt::Write as _;
use std::io::Write;

use serde::Serialize;

use super::{DumpArgs, Failure, dump, print_json, shell};
use crate::arch::Targets;
use crate::capture::{Capture, Problem, Severity};
use crate::notation::plural;
use crate::report::export::Provenance;
use crate::report::fault::ReportedFault;
use crate::report::schema::{Document, Hex, Schema};
use crate::report::{Style, Table, fault};
use crate::session::{Dump, Inspect};
use crate::triage::{self, FaultedAt};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The contents of `triage` about waves that faulted, and about others.
const TRIAGE: &str = "  the cause, the access, its lanes and the source line:";
const STATES: &str = "  the states of the waves, and whether they hang:";

/// The maximum of listed source files in text.
const MAX_SOURCES: usize = 32;

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let opened = dump::open_quietly(&args.from, targets)?;
    let sessions = dump::sessions(&opened, None)?;
    let sessions = dump::inspected(&sessions);
    if args.json {
        return print_json(out, &Document::new(answer(&opened, &sessions)));
    }
    let style = Style::Coloured;
    let mut text = String::new();
    contents(&opened, &sessions, &mut text)?;
    out.write_all(style.folded(&text).as_bytes())?;
    if !opened.capture().waves.is_empty() {
        let what = if opened.faulted() > 0 { TRIAGE } else { STATES };
        let command = format!("lanescope triage{}", args.from.typed);
        // Its lines are folded: a backslash stays behind its word.
        writeln!(out, "{}", shell::behind(what, &command, style.columns().unwrap_or(usize::MAX)))?;
    }
    text.clear();
    gaps(&opened, &mut text)?;
    Ok(out.write_all(style.folded(&text).as_bytes())?)
}

/// The origin of a dump, and its waves.
fn contents(dump: &Dump, sessions: &[&dyn Inspect], out: &mut String) -> std::fmt::Result {
    let capture = dump.capture();
    let from = &capture.provenance;
    writeln!(out, "{} ({})", capture.name, from.format)?;
    let told = [
        ("written by", &from.producer),
        ("created", &from.created),
        ("host", &from.host),
        ("command", &from.command),
        ("process", &from.process.map(|process| process.to_string())),
        ("note", &from.note),
    ];
    for (what, text) in told {
        if let Some(text) = text {
            writeln!(out, "  {what}: {text}")?;
        }
    }
    let style = Style::Coloured;
    for agent in &capture.agents {
        let name = agent.name.as_deref().map_or(String::new(), |name| format!(", {name}"));
        writeln!(out, "agent {}: {}{name}", agent.id, agent.target.name)?;
    }
    let (queues, dispatches, groups) =
        (capture.queues.len(), capture.dispatches.len(), capture.workgroups.len());
    let stops = dump.stop_counts();
    // The process had more than the dump.
    let inside = if stops.left_out > 0 || stops.lacks_waves { " in the dump" } else { "" };
    let owners = counts(&[(queues, "queue"), (dispatches, "dispatch"), (groups, "work-group")]);
    writeln!(out, "{owners}{inside}")?;
    for (kind, count) in dump.kinds() {
        writeln!(out, "{} of {}:{}{inside}", counts(&[(count, "wave")]), kind.target.name, kind.wave_size)?;
    }
    if !capture.waves.is_empty() {
        let (faulted, stops) = (dump.faulted(), triage::stops(stops));
        writeln!(out, "{}", if faulted > 0 { style.alarm(&stops) } else { stops })?;
        for line in triage::faulted_lines(sessions) {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// The memory, the files and the problems of a dump, and missing data.
fn gaps(dump: &Dump, out: &mut String) -> std::fmt::Result {
    let (capture, style) = (dump.capture(), Style::Coloured);
    for reason in dump.uncounted_waves() {
        writeln!(out, "absent: {reason}")?;
    }
    if let Some(truncated) = dump.truncated() {
        writeln!(out, "{}", style.alarm(&format!("truncated: {truncated}")))?;
    }
    for fault in &capture.faults {
        writeln!(out, "{}", style.alarm(&format!("fault: {}", fault::sentence(fault))))?;
    }
    // A problem may give the reason.
    let is_explained = dump.problems().iter().any(|problem| problem.severity == Severity::Error);
    if capture.waves.is_empty() && !is_explained {
        let why = match dump.problems() {
            [] => "the dump lists none",
            _ => "none was found in the readable data; the problems below list the rest",
        };
        writeln!(out, "no waves: {why}")?;
    }
    // The list of missing data has an absent one.
    if let regions @ 1.. = capture.global.segments().len() {
        let (bytes, regions) = (capture.global.captured(), counts(&[(regions, "region")]));
        writeln!(out, "global memory: {bytes} bytes in {regions}")?;
    }
    if !capture.sources.is_empty() {
        let bytes: u64 = capture.sources.iter().map(|source| source.extent.length).sum();
        writeln!(out, "{}, {bytes} bytes:", counts(&[(capture.sources.len(), "source file")]))?;
        for source in capture.sources.iter().take(MAX_SOURCES) {
            writeln!(out, "  {} ({} bytes)", source.path, source.extent.length)?;
        }
        if let Some(more @ 1..) = capture.sources.len().checked_sub(MAX_SOURCES) {
            writeln!(out, "  and {more} more, which --json lists")?;
        }
    }
    if !capture.code_objects.is_empty() {
        let objects = dump.code_objects();
        // A dump that names its files needs no note.
        let is_found = objects.iter().any(|object| object.origin.is_some());
        let mut table = match is_found {
            true => Table::new(["Code object", "Loaded at", "From", "State"]),
            false => Table::new(["Code object", "Loaded at", "State"]),
        };
        for object in objects {
            // The row has the name.
            let problem = object.unnamed_problem();
            let is_sound = problem.is_none();
            let mut cells = vec![object.name.clone(), object.address.to_string()];
            cells.extend(is_found.then(|| object.origin.clone().unwrap_or_default()));
            cells.push(problem.unwrap_or_else(|| "has debug information".to_owned()));
            if is_sound { table.row(cells) } else { table.alarm_row(cells) }
        }
        out.push_str(&table.render(style));
    }
    for unconfirmed in capture.unconfirmed() {
        writeln!(out, "{}", style.alarm(&unconfirmed))?;
    }
    for unchecked in capture.unchecked() {
        writeln!(out, "{}", style.dim(&unchecked))?;
    }
    for missing in missing(capture) {
        writeln!(out, "{}", style.dim(&missing))?;
    }
    for note in &capture.provenance.notes {
        writeln!(out, "noted: {note}")?;
    }
    let problems = dump.problems().iter().map(ToString::to_string);
    for problem in problems.chain(dump.check_debug()) {
        writeln!(out, "{}", style.alarm(&format!("problem: {problem}")))?;
    }
    Ok(())
}

/// Missing parts that a user expects, with reasons: parts not captured and parts that never existed.
fn missing(capture: &Capture) -> Vec<String> {
    let mut missing = capture.missing();
    let no_scratch = capture.waves.iter().filter(|wave| wave.private_size == Some(0)).count();
    if no_scratch > 0 {
        missing.push(format!(
            "no scratch: {no_scratch} of {} {} no private memory: {} none",
            counts(&[(capture.waves.len(), "wave")]),
            plural(no_scratch, "has", "have"),
            plural(no_scratch, "its queue has", "their queues have"),
        ));
    }
    missing
}

fn counts(each: &[(usize, &str)]) -> String {
    let word = |count: usize, word: &str| match (count, word) {
        (1, word) => format!("1 {word}"),
        (count, word) if word.ends_with('h') => format!("{count} {word}es"),
        (count, word) => format!("{count} {word}s"),
    };
    each.iter().map(|(count, name)| word(*count, name)).collect::<Vec<_>>().join(", ")
}

/// A dump's contents, gaps and problems.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Contents {
    /// The name of the dump.
    name: String,
    /// Its format.
    format: String,
    /// Its origin.
    provenance: Provenance,
    /// Notes of its writer.
    notes: Vec<String>,
    /// The file that ends too early, and where.
    truncated: Option<String>,
    /// The reported faults.
    faults: Vec<ReportedFault>,
    /// The GPUs.
    agents: Vec<AgentFacts>,
    /// Number of queues.
    queues: usize,
    /// Number of dispatches.
    dispatches: usize,
    /// Number of work-groups.
    workgroups: usize,
    /// Number of waves.
    waves: usize,
    /// Number of waves that faulted.
    faulted: usize,
    /// The places of their stops.
    faulted_at: Vec<FaultedAt>,
    /// Number of waves without a captured stop reason: each of them may have faulted.
    unknown_stops: usize,
    /// Number of further waves of the capture that the dump leaves out, and that others stand for in counts.
    left_out_waves: usize,
    /// Reasons for waves of the process that the dump lacks, and that no wave stands for.
    absent_waves: Vec<String>,
    /// The kinds of waves.
    kinds: Vec<KindCount>,
    /// Captured global memory.
    memory: MemoryCount,
    /// Source files.
    sources: Vec<SourceFile>,
    /// The loaded code objects.
    code_objects: Vec<ObjectFacts>,
    /// Waves whose values may be wrong, with the reasons.
    unconfirmed: Vec<String>,
    /// Values that nothing else in the capture confirms.
    unchecked: Vec<String>,
    /// Missing parts.
    missing: Vec<String>,
    /// Problems of debug information.
    debug_problems: Vec<String>,
    /// Problems of the capture.
    problems: Vec<Problem>,
}

impl Schema for Contents {
    const NAME: &'static str = "info";
}

/// A GPU.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AgentFacts {
    /// Id of the agent.
    gpu_id: u32,
    /// The GPU: `gfx90a`.
    architecture: String,
}

/// Waves of a kind.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct KindCount {
    /// The GPU: `gfx90a`.
    architecture: String,
    /// Number of lanes.
    lanes: u8,
    /// Number of waves.
    waves: usize,
}

/// Captured global memory.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MemoryCount {
    /// Number of runs.
    regions: usize,
    /// Number of bytes.
    bytes: u64,
}

/// A source file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SourceFile {
    /// Its path.
    path: String,
    /// Number of bytes.
    bytes: u64,
}

/// A loaded code object.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ObjectFacts {
    /// File name or URI.
    name: String,
    /// The loader's URI.
    uri: Option<String>,
    /// The source of the bytes, if it is not the file itself.
    origin: Option<String>,
    /// Load address.
    load_address: Hex,
    /// Bytes of the image.
    size: Option<u64>,
    /// The reason for missing variables.
    problem: Option<String>,
}

fn answer(dump: &Dump, sessions: &[&dyn Inspect]) -> Contents {
    let capture = dump.capture();
    let from = &capture.provenance;
    let agents = capture
        .agents
        .iter()
        .map(|agent| AgentFacts { gpu_id: agent.id, architecture: agent.target.name.clone() });
    let kinds = dump.kinds().map(|(kind, waves)| KindCount {
        architecture: kind.target.name.clone(),
        lanes: kind.wave_size.lanes(),
        waves,
    });
    let sources = capture.sources.iter();
    let sources = sources.map(|source| SourceFile { path: source.path.clone(), bytes: source.extent.length });
    let objects = dump.code_objects().into_iter().map(|object| ObjectFacts {
        problem: object.problem(),
        name: object.name,
        uri: object.uri,
        origin: object.origin,
        load_address: Hex(object.address.0),
        size: object.size,
    });
    Contents {
        name: capture.name.clone(),
        format: from.format.clone(),
        provenance: Provenance::of(capture),
        notes: from.notes.clone(),
        truncated: dump.truncated().map(str::to_owned),
        faults: fault::json(&capture.faults),
        agents: agents.collect(),
        queues: capture.queues.len(),
        dispatches: capture.dispatches.len(),
        workgroups: capture.workgroups.len(),
        waves: capture.waves.len(),
        faulted: dump.faulted(),
        faulted_at: triage::faulted(sessions),
        unknown_stops: dump.unknown_stops(),
        left_out_waves: dump.stop_counts().left_out,
        absent_waves: dump.uncounted_waves(),
        kinds: kinds.collect(),
        memory: MemoryCount { regions: capture.global.segments().len(), bytes: capture.global.captured() },
        sources: sources.collect(),
        code_objects: objects.collect(),
        unconfirmed: capture.unconfirmed(),
        unchecked: capture.unchecked(),
        missing: missing(capture),
        debug_problems: dump.check_debug(),
        problems: dump.problems().to_vec(),
    }
}
