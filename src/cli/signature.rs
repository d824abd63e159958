//! `lanescope signature DUMP...`: names that equal crashes and hangs share (docs/signatures.md).
//!
//! Exit status: 0; 3 if `--known` lacks a signature; else 2 if a dump cannot be read, one may have a further signature
//! that `--known` lacks, or the answer cannot be written.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::choice::choice;
use super::dump::CaptureArgs;
use super::questions::Answers;
use super::value::whole;
use super::{DumpArgs, Failure, Globals, dump, print_json, printed, standard_error, standard_input};
use crate::arch::Targets;
use crate::clean::clean;
use crate::report::Style;
use crate::report::schema::Document;
use crate::session::{DumpFacts as _, Inspect};
use crate::signature::{
    Crashes, KnownSignatures, Named, Record, Rules, SignatureLevel, VERSION, has_place, unknown_waves,
};

/// Maximum number of bytes of a file of rules or of known signatures.
const MAX_BYTES: u64 = 16 << 20;
/// The exit status if a dump cannot be read or a signature is unknown, and if one is new, which precedes.
const UNREADABLE: u8 = 2;
const NEW: u8 = 3;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The dumps, in any form that the other commands read
    #[arg(value_name = "DUMP", required = true)]
    dumps: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) options: Options,
    /// Print the effect of each rule
    #[arg(long)]
    explain: bool,
    /// Print JSON, with an answer for each dump
    #[arg(long, conflicts_with = "jsonl")]
    json: bool,
    /// Print a line of JSON for each dump, for `lanescope bucket --from`
    #[arg(long)]
    jsonl: bool,
}

/// Options of the commands that make signatures.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// The facts in a signature: coarse (cause, kernel), default (cause, functions, file, access), line (with the
    /// line), exact (offset in a build)
    #[arg(long, value_name = "LEVEL", value_parser = choice(LEVELS), default_value = "default")]
    pub(super) level: SignatureLevel,
    /// Rules about functions: TOML with irrelevant, prefix, in_app and built_in
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// The version of the built-in rules, the prefix of each signature
    #[arg(long, value_name = "VERSION", value_parser = [VERSION], default_value = VERSION)]
    rules_version: String,
    /// Known signatures: TOML with signature, issue and note of each; exit with 3 if another one is found
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Number of dumps that are read at the same time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1))]
    jobs: Option<u16>,
    /// Supplements of each dump.
    #[command(flatten)]
    with: CaptureArgs,
    /// Options of all commands.
    #[arg(skip)]
    pub(super) globals: Globals,
}

/// Values of `--level`.
const LEVELS: [(&str, SignatureLevel); 4] = [
    ("coarse", SignatureLevel::Coarse),
    ("default", SignatureLevel::Default),
    ("line", SignatureLevel::Line),
    ("exact", SignatureLevel::Exact),
];

impl Options {
    /// The signatures of `--known`.
    pub(super) fn known(&self) -> Result<Option<KnownSignatures>, Failure> {
        let parse = |path: &PathBuf| -> Result<KnownSignatures, Failure> {
            KnownSignatures::parse(&text(path)?).map_err(|error| of_file(path, &error))
        };
        self.known.as_ref().map(parse).transpose()
    }

    /// The records of dumps, in their order; an unreadable dump is a record with an error.
    pub(super) fn records(&self, dumps: &[PathBuf], targets: &Targets) -> Result<Vec<Record>, Failure> {
        let (rules, known) = (rules(self.rules.as_deref())?, self.known()?);
        if let (Some(path), Some(id)) =
            (&self.known, known.as_ref().and_then(KnownSignatures::of_other_rules))
        {
            let file = clean(path.to_string_lossy());
            let version = id.split(':').next().unwrap_or_default();
            standard_error::warning(format!(
                "{file}: {id} has the rules {version}, expected {VERSION}: no dump has it; add the signature \
                 that `lanescope signature` prints for its dumps"
            ))?;
        }
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.jobs.map_or_else(processors, usize::from).min(dumps.len());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(path) = dumps.get(index)
            {
                found.push((index, self.record(path, &rules, known.as_ref(), targets)));
            }
            found
        };
        let mut records: Vec<(usize, Record)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        if records.len() < dumps.len() {
            return Err("the analysis of a dump ended early".into());
        }
        records.sort_by_key(|(index, _)| *index);
        Ok(records.into_iter().map(|(_, record)| record).collect())
    }

    fn record(
        &self,
        path: &Path,
        rules: &Rules,
        known: Option<&KnownSignatures>,
        targets: &Targets,
    ) -> Record {
        let mut record = Record::new(standard_input::name_of(path), self.level);
        if let Err(error) = self.fill(&mut record, path, rules, targets) {
            record.signatures.clear();
            record.error = Some(dump::error_of(path, &error));
        }
        for named in &mut record.signatures {
            named.known = known.map(|known| known.find(&named.signature.id, &named.signature.text));
        }
        record
    }

    fn fill(
        &self,
        record: &mut Record,
        path: &Path,
        rules: &Rules,
        targets: &Targets,
    ) -> Result<(), Failure> {
        let args = DumpArgs {
            dump: Some(path.to_owned()),
            with: self.with.clone(),
            debug_dirs: self.globals.debug_dirs.clone(),
            ..DumpArgs::default()
        };
        let dump = dump::open_quietly(&args, targets)?;
        record.captured.clone_from(&dump.capture().provenance.created);
        let sessions = dump::sessions(&dump, None)?;
        let asked: Vec<&dyn Inspect> = sessions.iter().map(|session| -> &dyn Inspect { session }).collect();
        let crashes = Crashes::of(&dump, &asked, rules);
        record.unknown_waves = unknown_waves(&dump, &asked);
        record.unknown_waves.extend(crashes.left_out());
        // Cause and kernel are known without the instructions, but not whether the waves hang.
        let found = crashes.signatures(self.level);
        if self.level != SignatureLevel::Coarse || found.is_empty() {
            record.unknown_waves.extend(crashes.undecoded());
        }
        record.signatures = found.into_iter().map(|signature| Named { signature, known: None }).collect();
        match sessions.first().and_then(|session| session.changed_file()) {
            Some(changed) => Err(changed.into()),
            None => Ok(()),
        }
    }
}

/// Prints the signatures; returns the exit status.
pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut records = args.options.records(&args.dumps, targets)?;
    if !args.explain {
        let named = records.iter_mut().flat_map(|record| &mut record.signatures);
        named.for_each(|named| named.signature.steps.clear());
    }
    let is_unknown = |record: &Record| args.options.known.is_some() && record.is_incomplete();
    let has_error = records.iter().any(|record| record.error.is_some() || is_unknown(record));
    printed(status(has_error, records.iter().any(Record::has_new)), out, |out| {
        if args.json {
            return print_json(out, &Document::new(Answers { answers: &records }));
        }
        for record in &records {
            if args.jsonl {
                serde_json::to_writer(&mut *out, record)?;
                out.write_all(b"\n")?;
            } else {
                print(record, out)?;
            }
        }
        Ok(())
    })
}

/// The exit status.
pub(super) fn status(has_error: bool, has_new: bool) -> u8 {
    // An unreadable dump does not hide a new crash.
    match (has_error, has_new) {
        (_, true) => NEW,
        (true, false) => UNREADABLE,
        (false, false) => 0,
    }
}

fn print(record: &Record, out: &mut dyn Write) -> Result<(), Failure> {
    let style = Style::Coloured;
    let dump = &record.dump;
    if let Some(error) = &record.error {
        standard_error::message(&format!("lanescope: {dump}: {error}"))?;
        return Ok(());
    }
    let unknown = unknown(&record.unknown_waves);
    if record.signatures.is_empty() {
        let (why, unknown) = match &unknown {
            Some(unknown) => ("whether a wave faulted or hangs is unknown", format!("\n    {unknown}")),
            None => ("no wave faulted, and no hang is visible", String::new()),
        };
        writeln!(out, "{}", style.folded(&format!("no signature: {why}\n    {dump}{unknown}")))?;
    }
    for named in &record.signatures {
        let signature = &named.signature;
        writeln!(out, "{}", style.folded(&format!("{}  {}", style.heading(&signature.id), signature.text)))?;
        let mut facts = vec![waves(signature.waves), dump.clone()];
        facts.extend(signature.is_weak.then(|| {
            let why = signature.weak_because.as_deref().unwrap_or("without functions");
            format!("weak: {why}")
        }));
        facts.extend(named.known.as_ref().map(|known| match known {
            Some(known) => format!("known: {known}"),
            None if !has_place(&signature.text) => {
                style.alarm("new (a cause without a place is never known)")
            }
            None => style.alarm("new"),
        }));
        writeln!(out, "{}", style.folded(&format!("    {}", facts.join(", "))))?;
        if let Some(unknown) = &unknown {
            writeln!(out, "{}", style.folded(&format!("    {unknown}")))?;
        }
        for step in &signature.steps {
            writeln!(out, "{}", style.folded(&format!("      {step}")))?;
        }
    }
    Ok(())
}

/// `incomplete: REASON`: facts of some waves are unknown.
pub(super) fn unknown(reasons: &[String]) -> Option<String> {
    let first = reasons.first()?;
    let more = match reasons.len() {
        1 => String::new(),
        count => format!("; {} more", count - 1),
    };
    Some(format!("incomplete: {first}{more}"))
}

/// `1 wave`; a report can be without one.
pub(super) fn waves(count: usize) -> String {
    match count {
        0 => "no wave".to_owned(),
        1 => "1 wave".to_owned(),
        count => format!("{count} waves"),
    }
}

/// The rules of `--rules`.
pub(super) fn rules(path: Option<&Path>) -> Result<Rules, Failure> {
    let Some(path) = path else { return Ok(Rules::default()) };
    Rules::parse(&text(path)?).map_err(|error| of_file(path, &error))
}

/// The text of a small file.
fn text(path: &Path) -> Result<String, Failure> {
    let size = std::fs::metadata(path).map_err(|error| of_file(path, &error))?.len();
    if size > MAX_BYTES {
        return Err(of_file(path, &format!("{size} bytes, expected at most {MAX_BYTES}")));
    }
    std::fs::read_to_string(path).map_err(|error| of_file(path, &error))
}

fn of_file(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    format!("{}: {error}", path.display()).into()
}
