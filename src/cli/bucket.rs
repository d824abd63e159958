//! `lanescope bucket DIR|FILE...`: dumps by signature (docs/signatures.md).
//!
//! Exit status: 0; 2 if a dump cannot be read or there is none; else 3 if `--known` lacks a signature.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

use super::folder::is_dump_folder;
use super::signature::{Options, status, unknown, waves};
use super::{Failure, folder, print_json, printed, standard_error, standard_input};
use crate::arch::Targets;
use crate::clean::clean;
use crate::report::Style;
use crate::signature::{Bucket, Buckets, Order, Record, Seen};

/// Maximum number of bytes of a line of `--from`.
const MAX_LINE: u64 = 1 << 20;
/// Options of the analysis, which the lines of `--from` have behind them.
const OF_DUMPS: [&str; 14] = [
    "paths",
    "level",
    "rules",
    "rules_version",
    "jobs",
    "host_core",
    "code_objects",
    "symbols",
    "force",
    "local_files",
    "r_version",
    "processor",
    "logs",
    "fault_address",
];

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Dumps, and folders with dumps: *.zip, *.core, gpucore* and folders with a manifest, also in folders below
    #[arg(value_name = "DIR|FILE", required_unless_present = "from")]
    paths: Vec<PathBuf>,
    /// Lines of `lanescope signature --jsonl` in place of dumps, in any order; - for standard input; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_DUMPS)]
    from: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) options: Options,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// There is nothing to group: a job before this one failed, or a path is wrong. The exit status is 2.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoDumpsError {
    /// A folder.
    #[error("{0}: no *.zip, *.core, gpucore* or folder with a manifest in this folder; name other files")]
    Folder(String),
    /// All inputs of `--from`.
    #[error("--from {0}: no line, expected one of `lanescope signature --jsonl` for each dump")]
    Lines(String),
}

/// Prints the signatures with their dumps; returns the exit status.
pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    let known = args.options.known()?;
    let mut records = Vec::new();
    for path in &args.from {
        let of_file = |error: Failure| -> Failure { format!("{}: {error}", path.display()).into() };
        match path == Path::new("-") {
            true => {
                standard_input::announce("signatures")?;
                read(std::io::stdin().lock(), &mut records)
            }
            false => std::fs::File::open(path)
                .map_err(Failure::from)
                .and_then(|file| read(BufReader::new(file), &mut records)),
        }
        .map_err(of_file)?;
    }
    if !args.from.is_empty() && records.is_empty() {
        let names: Vec<_> = args.from.iter().map(|path| clean(path.to_string_lossy()).into_owned()).collect();
        return Err(NoDumpsError::Lines(names.join(", ")).into());
    }
    if args.from.is_empty() {
        records = args.options.records(&dumps(&args.paths)?, targets)?;
        for named in records.iter_mut().flat_map(|record| &mut record.signatures) {
            (named.known, named.signature.steps) = (None, Vec::new());
        }
    }
    let found = Buckets::of(records, known.as_ref())?;
    let is_unknown = known.is_some() && !found.incomplete.is_empty();
    printed(status(!found.unreadable.is_empty() || is_unknown, found.has_new()), out, |out| match args.json {
        true => print_json(out, &found),
        false => print(&found, out),
    })
}

/// Adds the records of lines.
fn read(mut from: impl BufRead, records: &mut Vec<Record>) -> Result<(), Failure> {
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        if from.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            return Err(format!("line {number}: more than {MAX_LINE} bytes").into());
        }
        let text = line.trim_ascii_end();
        if !text.is_empty() {
            records.push(Record::parse(text).map_err(|error| format!("line {number}: {error}"))?);
        }
    }
    Ok(())
}

/// The dumps of paths, each once, those of a folder by name.
fn dumps(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let passed_over = Cell::new(0usize);
    let takes = |path: &Path, is_folder: bool| {
        let is_dump = is_named_dump(path, is_folder);
        passed_over.set(passed_over.get() + usize::from(!is_dump && !is_folder));
        is_dump
    };
    for path in paths {
        if path.is_dir() && !is_dump_folder(path) {
            let below = folder::below(path, &takes)?;
            if below.is_empty() {
                return Err(NoDumpsError::Folder(clean(path.to_string_lossy()).into_owned()).into());
            }
            found.extend(below);
        } else {
            found.push(path.clone());
        }
    }
    if passed_over.get() > 0 {
        let files = count(passed_over.get(), "file");
        let text = format!(
            "lanescope: {files} not named *.zip, *.core or gpucore*: passed over; name them to read them"
        );
        standard_error::message(&text)?;
    }
    Ok(folder::distinct(found))
}

/// Whether a path is a dump by its name, or a folder with a manifest.
fn is_named_dump(path: &Path, is_folder: bool) -> bool {
    if is_folder {
        return is_dump_folder(path);
    }
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_named = name.ends_with(b".zip") || name.ends_with(b".core") || name.starts_with(b"gpucore");
    // One that is unreadable, such as a dangling link, is an error; a link to a folder is none.
    is_named && !path.is_dir()
}

fn print(found: &Buckets, out: &mut dyn Write) -> Result<(), Failure> {
    let style = Style::Coloured;
    let mut facts = vec![count(found.dumps, "dump"), count(found.buckets.len(), "signature")];
    let further = [
        (found.without_fault, "without a fault or hang"),
        (found.incomplete.len(), "incomplete"),
        (found.unreadable.len(), "unreadable"),
    ];
    facts.extend(
        further.into_iter().filter(|(count, _)| *count > 0).map(|(count, of)| format!("{count} {of}")),
    );
    writeln!(out, "{}", style.folded(&facts.join(", ")))?;
    for bucket in &found.buckets {
        writeln!(out, "\n{}", style.folded(&format!("{}  {}", style.heading(&bucket.id), bucket.text)))?;
        for line in lines(bucket, style) {
            writeln!(out, "{}", style.folded(&format!("    {line}")))?;
        }
    }
    if !found.incomplete.is_empty() {
        writeln!(out, "\n{}", style.heading("incomplete"))?;
    }
    for dump in &found.incomplete {
        let reasons = unknown(&dump.unknown_waves).unwrap_or_default();
        writeln!(out, "{}", style.folded(&format!("    {}: {reasons}", dump.dump)))?;
    }
    for dump in &found.unreadable {
        standard_error::message(&format!("lanescope: {}: {}", dump.dump, dump.error))?;
    }
    Ok(())
}

/// Facts about a bucket.
fn lines(bucket: &Bucket, style: Style) -> Vec<String> {
    let mut facts = vec![count(bucket.dumps, "dump"), waves(bucket.waves)];
    facts.extend(bucket.is_weak.then(|| "weak: without functions".to_owned()));
    facts.extend(bucket.known.as_ref().map(|known| match known {
        Some(known) => format!("known: {known}"),
        None => style.alarm("new"),
    }));
    let mut lines = vec![facts.join(", ")];
    lines.extend(
        bucket
            .nearest
            .as_ref()
            .map(|nearest| format!("nearest: {} ({}): {}", nearest.id, nearest.known, nearest.likeness)),
    );
    let seen = |seen: &Seen| match &seen.captured {
        Some(captured) if bucket.order == Order::Time => format!("{} ({captured})", seen.dump),
        _ => seen.dump.clone(),
    };
    let order = match bucket.order {
        Order::Time => "by time",
        Order::Name => "by name",
    };
    match bucket.dumps {
        1 => lines.push(seen(&bucket.first)),
        _ => lines.push(format!("{order}: first {}, last {}", seen(&bucket.first), seen(&bucket.last))),
    }
    lines
}

fn count(count: usize, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}
