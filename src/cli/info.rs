//! `lanescope info DUMP`: the contents, the gaps and the problems of a dump.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::json;

use super::{DumpArgs, Failure, dump, print_json};
use crate::arch::Targets;
use crate::capture::{Capture, Severity};
use crate::report::{Style, Table, fault};
use crate::session::Dump;
use crate::triage;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The command that names the cause.
const TRIAGE: &str = "  `lanescope triage` names the cause, the access, its lanes and the source line";

/// The maximum of listed source files in text.
const MAX_SOURCES: usize = 32;

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let opened = dump::open_quietly(&args.from, targets)?;
    if args.json {
        return print_json(out, &answer(&opened));
    }
    let mut text = String::new();
    people(&opened, &mut text)?;
    Ok(out.write_all(Style::Coloured.folded(&text).as_bytes())?)
}

fn people(dump: &Dump, out: &mut String) -> std::fmt::Result {
    let capture = dump.capture();
    let from = &capture.provenance;
    writeln!(out, "{} ({})", capture.name, from.format)?;
    let told = [
        ("written by", &from.producer),
        ("created", &from.created),
        ("host", &from.host),
        ("command", &from.command),
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
    writeln!(out, "{}", counts(&[(queues, "queue"), (dispatches, "dispatch"), (groups, "work-group")]))?;
    for (kind, count) in dump.kinds() {
        writeln!(out, "{} of {}:{}", counts(&[(count, "wave")]), kind.target.name, kind.wave_size)?;
    }
    if !capture.waves.is_empty() {
        let (faulted, stops) = (dump.faulted(), triage::stops(dump.faulted(), capture.waves.len()));
        writeln!(out, "{}", if faulted > 0 { style.alarm(&stops) } else { stops })?;
        writeln!(out, "{TRIAGE}")?;
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
    let regions = capture.global.segments().len();
    writeln!(
        out,
        "global memory: {} bytes in {}",
        capture.global.captured(),
        counts(&[(regions, "region")])
    )?;
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
    for note in &from.notes {
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
            "no scratch: {no_scratch} of {} waves have no private memory: their queues have none",
            capture.waves.len()
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

fn answer(dump: &Dump) -> serde_json::Value {
    let capture = dump.capture();
    let from = &capture.provenance;
    let kinds = dump.kinds().map(|(kind, count)| {
        json!({ "architecture": kind.target.name, "lanes": kind.wave_size.lanes(), "waves": count })
    });
    let objects = dump.code_objects().into_iter().map(|object| {
        json!({
            "name": object.name,
            "uri": object.uri,
            "origin": object.origin,
            "load_address": object.address.0,
            "size": object.size,
            "problem": object.problem(),
        })
    });
    json!({
        "name": capture.name,
        "format": from.format,
        "provenance": {
            "producer": from.producer,
            "created": from.created,
            "host": from.host,
            "command": from.command,
            "note": from.note,
        },
        "notes": from.notes,
        "faults": fault::json(&capture.faults),
        "agents": capture.agents.iter().map(|a| json!({ "gpu_id": a.id, "architecture": a.target.name })).collect::<Vec<_>>(),
        "queues": capture.queues.len(),
        "dispatches": capture.dispatches.len(),
        "workgroups": capture.workgroups.len(),
        "waves": capture.waves.len(),
        "faulted": dump.faulted(),
        "kinds": kinds.collect::<Vec<_>>(),
        "memory": { "regions": capture.global.segments().len(), "bytes": capture.global.captured() },
        "sources": capture.sources.iter().map(|source| json!({ "path": source.path, "bytes": source.extent.length })).collect::<Vec<_>>(),
        "code_objects": objects.collect::<Vec<_>>(),
        "unconfirmed": capture.unconfirmed(),
        "unchecked": capture.unchecked(),
        "missing": missing(capture),
        "debug_problems": dump.check_debug(),
        "problems": dump.problems(),
    })
}
