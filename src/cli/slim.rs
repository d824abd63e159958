//! `lanescope slim DUMP -o FILE`: writes a small dump of a large one (docs/slim.md).
//!
//! Without `--wave` or `--all-waves` it holds the faulted waves, and one wave of each distinct stack. It also holds
//! their registers, the LDS of their work-groups, private memory, their code objects, and the global memory that
//! their variables reach.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::sources::SourceArgs;
use super::value::{ValueError, whole};
use serde::Serialize;

use super::dump::PlaceArgs;
use super::standard_input::{self, Received, SPOOL_LIMIT, STALL};
use super::{DumpArgs, Failure, WaveArgs, dump, print_json, standard_error};
use crate::arch::Targets;
use crate::clean::clean;
use crate::dwarf::limits::MAX_QUESTION_VALUES;
use crate::report::fold::beside;
use crate::report::schema::{Document, Schema};
use crate::report::{Style, spaces};
use crate::session::{Bounds, Dump, PAGE, Session};
use crate::signature::{Crashes, Rules};
use crate::slim::{self, Choice, Progress, Report, ReportJson, Spooled, StallBudget};
use crate::triage;

mod bar;

/// Depth of followed pointers, and limits: bytes of global memory, pointers, seconds.
const FOLLOW: u32 = 2;
const MAX_GLOBAL: u64 = 1 << 30;
const MAX_POINTERS: u64 = 1_000_000;
const MAX_SECONDS: u64 = 60;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// Put source files below this folder into the dump, if line tables name them; may be repeated
    #[arg(long = "sources", value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    sources: SourceArgs,
    /// The dump to write, which must not exist: a folder, or a zip where the name ends in .zip
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write into that folder under a new name, which is printed; a missing folder is made
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    dir: Option<PathBuf>,
    /// Maximum of bytes that are kept at a time of a dump from standard input (DUMP is -) [default: 8G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    spool_limit: Option<u64>,
    /// Maximum seconds of waiting for its writer in total, beyond the time of its bytes at 4 MiB/s [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(0))]
    stall: Option<u64>,
    #[command(flatten)]
    waves: WaveArgs,
    /// All waves
    #[arg(long, conflicts_with_all = ["wave", "work_item", "workgroup"])]
    all_waves: bool,
    /// All waves, all memory and all code objects: the capture as a lanescope dump
    #[arg(long, conflicts_with_all = ["wave", "work_item", "workgroup", "all_waves", "memory", "no_global"])]
    whole: bool,
    /// Number of pointers followed in a chain, from kernel arguments and variables on [default: 2]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0))]
    follow: Option<u32>,
    /// Keep this global memory too: START-END (without END) or START+SIZE; may be repeated
    #[arg(long, value_name = "RANGE", value_parser = range, conflicts_with = "no_global")]
    memory: Vec<(u64, u64)>,
    /// Leave all global memory out
    #[arg(long)]
    no_global: bool,
    /// Maximum of global memory from followed pointers [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    most_global: Option<u64>,
    /// Maximum of followed pointers [default: 1000000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0))]
    most_pointers: Option<u64>,
    /// Maximum of inspected values of variables, one for each lane, beyond 8192 for each wave [default: 1048576]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0))]
    most_values: Option<u64>,
    /// Maximum seconds of following pointers [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(0))]
    most_seconds: Option<u64>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// `START-END` or `START+SIZE`, converted to first and last address.
fn range(text: &str) -> Result<(u64, u64), ValueError> {
    let form = "START-END or START+SIZE, 0x7f0000200000+0x1000";
    let wrong = || ValueError::NotOfForm(form, text.to_owned());
    let number = |word: &str| spaces::number(word.trim()).map_err(|_| wrong());
    let (first, end) = match (text.split_once('+'), text.split_once('-')) {
        (Some((start, length)), _) => {
            let (first, length) = (number(start)?, number(length)?);
            let more = length.checked_sub(1).ok_or_else(|| ValueError::NoSize(text.to_owned()))?;
            // A range may include the last byte of memory.
            let left = u128::from(u64::MAX - first) + 1;
            let past = || ValueError::PastMemory { text: text.to_owned(), first, left };
            return Ok((first, first.checked_add(more).ok_or_else(past)?));
        }
        (None, Some((start, end))) => (number(start)?, number(end)?),
        (None, None) => return Err(wrong()),
    };
    if end <= first {
        return Err(ValueError::Empty { text: text.to_owned(), first, end });
    }
    Ok((first, end - 1))
}

/// A number of bytes: `4096`, `64K`, `8M`, `2G`.
fn size(text: &str) -> Result<u64, ValueError> {
    let wrong = || ValueError::NotOfForm("bytes as 4096, 64K, 8M or 2G", text.to_owned());
    let units = [(['k', 'K'], 10), (['m', 'M'], 20), (['g', 'G'], 30)];
    let found = units.iter().find_map(|(letters, shift)| Some((text.strip_suffix(letters)?, *shift)));
    let (number, shift) = found.unwrap_or((text, 0));
    let number = spaces::number(number).map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// The path of the new dump: the user's, or a name made of time and process.
fn target(args: &Args) -> Result<PathBuf, Failure> {
    match (&args.output, &args.dir) {
        (Some(output), _) if output.as_os_str() == "-" => Err("-o -: a dump is a folder, or a zip whose parts are written \
             in place, so that standard output cannot take it; expected a file's name, as -o small.zip (or ./- for a folder of that name)"
            .into()),
        (Some(output), _) => Ok(output.clone()),
        (None, Some(dir)) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            Ok(dir.join(format!("lanescope-{now}-{}.zip", std::process::id())))
        }
        (None, None) => Err("where to? expected -o FILE or --dir DIR".into()),
    }
}

/// The dump on standard input, in a file beside the new dump.
fn received(args: &Args, to: &Path, bar: &mut bar::Bar) -> Result<Received, Failure> {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let patience = StallBudget {
        limit: args.spool_limit.unwrap_or(SPOOL_LIMIT),
        stall: Duration::from_secs(args.stall.unwrap_or(STALL)),
    };
    standard_input::stream(folder, patience, &mut |count| bar.show(Progress::Reading(count)))
}

/// Options without an effect, each with the reason and the option that gives it one.
fn idle(args: &Args) -> Vec<String> {
    let streams = args.from.dump.as_deref().is_some_and(standard_input::is_meant);
    let unused = match (args.whole, args.no_global) {
        (true, _) => Some("--whole keeps all memory; expected it without --whole"),
        (_, true) => Some("--no-global keeps no global memory; expected it without --no-global"),
        _ => None,
    };
    let stream = (!streams).then_some("DUMP is a file; expected one from standard input, -");
    let given = [
        ("--spool-limit", args.spool_limit.is_some(), stream),
        ("--stall", args.stall.is_some(), stream),
        ("--follow", args.follow.is_some(), unused),
        ("--most-global", args.most_global.is_some(), unused),
        ("--most-pointers", args.most_pointers.is_some(), unused),
        ("--most-seconds", args.most_seconds.is_some(), unused),
        ("--most-values", args.most_values.is_some(), unused),
    ];
    let idle = given.into_iter().filter(|(_, given, _)| *given);
    idle.filter_map(|(flag, _, why)| Some(format!("{flag}: without effect: {}", why?))).collect()
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    args.waves.check()?;
    args.sources.map()?;
    for folder in &args.folders {
        std::fs::read_dir(folder)
            .map_err(|error| format!("--sources {}: {error}", clean(folder.to_string_lossy())))?;
    }
    let to = target(args)?;
    if let Some(dir) = &args.dir {
        std::fs::create_dir_all(dir)
            .map_err(|error| format!("--dir {}: {error}", clean(dir.to_string_lossy())))?;
    }
    // Checked before long work, and before a stream that cannot be read twice.
    slim::is_free(&to)?;
    for idle in idle(args) {
        standard_error::warning(idle.to_string())?;
    }
    crate::signals::before_the_end(slim::abandon)?;
    let mut bar = bar::Bar::on_terminal();
    let mut from = args.from.clone();
    let received = match from.dump.as_deref().is_some_and(standard_input::is_meant) {
        true => Some(received(args, &to, &mut bar)?),
        false => None,
    };
    bar.clear();
    if let Some(received) = &received {
        from.dump = Some(received.path());
        from.called = Some(standard_input::NAME.to_owned());
        from.truncated = received.truncated();
    }
    let spooled = received.as_ref().and_then(Received::core);
    for note in spooled.iter().flat_map(|spooled| spooled.came.notes()) {
        standard_error::warning(note)?;
    }
    let made = match spooled.and_then(|spooled| spooled.broken.as_ref()) {
        Some(why) => Err(why.to_string().into()),
        None => made(args, &from, spooled, &to, targets, &mut bar),
    };
    bar.clear();
    let ((report, sentence), to) = match (made, spooled) {
        (Ok(made), _) => (made, clean(to.to_string_lossy()).into_owned()),
        // A stream cannot be read twice.
        (Err(error), Some(spooled)) => return Err(kept(spooled, &to, &error).into()),
        (Err(error), None) => return Err(error),
    };
    if args.json {
        return print_json(out, &Document::new(Made { report: report.json(), to, sentence }));
    }
    // The log of a job shows the cause without a further step.
    writeln!(out, "{}", Style::Coloured.folded(&sentence))?;
    writeln!(out, "{}", Style::Coloured.folded(&report.headline(&to)))?;
    for (label, text) in report.rows() {
        writeln!(out, "{}", beside(&format!("  {label:<14} "), &text, Style::Coloured.columns()))?;
    }
    Ok(())
}

/// The report of a written dump.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Made {
    /// The report.
    #[serde(flatten)]
    report: ReportJson,
    /// The path of the dump.
    to: String,
    /// The first sentence of the analysis of the whole capture.
    sentence: String,
}

impl Schema for Made {
    const NAME: &'static str = "slim";
}

/// Makes the dump. Returns the report, and the first sentence of the analysis of the whole capture.
fn made(
    args: &Args,
    from: &DumpArgs,
    spooled: Option<&Spooled>,
    to: &Path,
    targets: &Targets,
    bar: &mut bar::Bar,
) -> Result<(Report, String), Failure> {
    let opened = dump::open(from, targets)?;
    let kind = args.from.kind.as_deref();
    let choice = match args.waves.chosen(&opened, kind)? {
        Some(ids) => Choice::Ids(ids),
        None if args.all_waves || args.whole => Choice::All,
        None => Choice::Representative,
    };
    let (basis, sentence) = answered(&opened, kind, &choice)?;
    let options = slim::Options {
        choice,
        basis,
        kind: args.from.kind.clone(),
        bounds: Bounds {
            steps: args.follow.unwrap_or(FOLLOW),
            pages: args.most_global.unwrap_or(MAX_GLOBAL).div_ceil(PAGE),
            pointers: args.most_pointers.unwrap_or(MAX_POINTERS),
            values: args.most_values.unwrap_or(MAX_QUESTION_VALUES),
            time: Duration::from_secs(args.most_seconds.unwrap_or(MAX_SECONDS)),
        },
        memory: args.memory.clone(),
        global: !args.no_global,
        whole: args.whole,
        notes: spooled.map_or_else(Vec::new, |spooled| spooled.came.notes()),
        sources: slim::Sources { folders: args.folders.clone(), map: args.sources.map()? },
    };
    let report = slim::slim(&opened, &options, to, &mut |progress| bar.show(progress))?;
    let sentence = match sentence {
        Some(sentence) => sentence,
        None => dump::sentence(&dump::sessions(&opened, kind)?),
    };
    Ok((report, sentence))
}

/// Answers about the chosen waves: what they rest on, and the first sentence of the analysis, unless the user chose the
/// waves: then that of all waves is another one.
fn answered(
    opened: &Arc<Dump>,
    kind: Option<&str>,
    choice: &Choice,
) -> Result<(slim::Basis, Option<String>), Failure> {
    let sessions = match choice {
        // The choice of waves reports unknown ids.
        Choice::Ids(ids) => {
            let chosen = dump::Waves { dump: opened, kind, ids: Some(ids), at: &PlaceArgs::default() };
            chosen.by_kind().unwrap_or_default()
        }
        Choice::Representative | Choice::All => dump::sessions(opened, kind)?,
    };
    let sessions: Vec<Session> = sessions.into_iter().map(Session::watching).collect();
    let asked = dump::inspected(&sessions);
    let found = dump::analysis(&sessions);
    // The signatures of several faults need more than the analysis of all.
    drop(Crashes::of_analysis(opened, &asked, &found, &Rules::default()));
    let sentence = (!matches!(choice, Choice::Ids(_))).then(|| dump::sentence_of(&found, &sessions));
    let basis = match choice {
        Choice::Representative => triage::basis(&asked, &found),
        Choice::Ids(_) | Choice::All => slim::Basis::default(),
    };
    let read = sessions.iter().map(Session::touched).collect();
    Ok((slim::Basis { read, ..basis }, sentence))
}

/// Keeps the received part of a core if no dump can be made of it; returns the error with the path or the loss of
/// that part.
fn kept(spooled: &Spooled, to: &Path, error: &Failure) -> String {
    let to = match to.extension() {
        Some(extension) if extension == "zip" => to.with_extension("core"),
        _ => {
            let mut name = to.as_os_str().to_owned();
            name.push(".core");
            name.into()
        }
    };
    match spooled.keep(&to) {
        Ok(0) => format!("{error}\nkept: {}, the core as it came", to.display()),
        Ok(left_out) => format!(
            "{error}\nkept: {}, the core without {left_out} bytes of its memory (at most {} stay)",
            to.display(),
            slim::MAX_REMAINS
        ),
        Err(why) => format!("{error}\nnot kept: {}: {why}", to.display()),
    }
}

#[cfg(test)]
mod tests;
