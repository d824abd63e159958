//! `lanescope diff A B`: compares two dumps of the same program (docs/slim.md).
//!
//! Waves are paired by their stacks (functions, not lines), by work-group and by wave number in it. The command
//! reports stacks that only one dump has, and the differences of each pair: stop reasons, registers lane by lane,
//! variables of every frame lane by lane.
//!
//! Exit status: 0 without differences; 1 with differences; 2 if the dumps cannot be compared, or if no difference was
//! found and variables were left out.

use std::io::Write;
use std::path::PathBuf;

use super::dump::{CAPTURES, CaptureArgs, supplied};
use super::value::{ValueError, whole};
use super::wave_choice::WaveChoice;
use super::{DumpArgs, Failure, Globals, dump, print_json, steps};
use crate::arch::Targets;
use crate::diff::{self, Diff, DiffError, Options, Pairs};
use crate::import::Supplied;
use crate::report::Style;
use crate::report::schema::Document;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The first dump
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second dump
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Compare wave A of the first dump with wave B of the second, by their ids; may be repeated. `all` pairs the waves
    /// by stack and work-group; `faulted` compares those of them that stopped for a fault in either dump [default: all]
    #[arg(long, short, value_name = "A:B", value_parser = pairs)]
    wave: Vec<PairsArg>,
    /// Only waves of that kind: gfx1100, wave32 or gfx1100:wave32
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Show all differences, not only the first of each list, in whole lines
    #[arg(long)]
    all: bool,
    /// Maximum of compared values of variables, one for each lane, beyond 8192 for each wave [default: 1048576]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0))]
    most_values: Option<u64>,
    /// Print JSON, with all differences
    #[arg(long)]
    json: bool,
    /// Supplements for both dumps.
    #[command(flatten)]
    with: CaptureArgs,
    /// Supplements for the first dump.
    #[command(flatten)]
    of_a: OfA,
    /// Supplements for the second dump.
    #[command(flatten)]
    of_b: OfB,
    /// Folders of separate debug information, given once for all commands.
    #[arg(skip)]
    pub(super) debug_dirs: Vec<PathBuf>,
    /// Whether all warnings are printed whole, given once for all commands.
    #[arg(skip)]
    pub(super) is_verbose: bool,
}

/// Supplements for the first dump alone.
#[derive(Clone, Debug, Default, clap::Args)]
struct OfA {
    /// The core of the first one's host process
    #[arg(long, value_name = "FILE", help_heading = CAPTURES)]
    a_host_core: Option<PathBuf>,
    /// A code object of the first one; may be repeated
    #[arg(long, value_name = "FILE[@ADDRESS]", value_parser = supplied, help_heading = CAPTURES)]
    a_code_object: Vec<Supplied>,
    /// The version of the runtime's debugger interface that the first one lacks
    #[arg(long, value_name = "N", help_heading = CAPTURES, value_parser = whole::<u32>(0))]
    a_r_version: Option<u32>,
}

/// Supplements for the second dump alone.
#[derive(Clone, Debug, Default, clap::Args)]
struct OfB {
    /// The core of the second one's host process
    #[arg(long, value_name = "FILE", help_heading = CAPTURES)]
    b_host_core: Option<PathBuf>,
    /// A code object of the second one; may be repeated
    #[arg(long, value_name = "FILE[@ADDRESS]", value_parser = supplied, help_heading = CAPTURES)]
    b_code_object: Vec<Supplied>,
    /// The version of the runtime's debugger interface that the second one lacks
    #[arg(long, value_name = "N", help_heading = CAPTURES, value_parser = whole::<u32>(0))]
    b_r_version: Option<u32>,
}

/// An error that prevents the comparison of two dumps: exit status 2 of `diff`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct InputError(Failure);

/// The value of one `--wave`.
#[derive(Clone, Debug)]
enum PairsArg {
    /// The waves with these ids.
    Ids(u32, u32),
    /// Waves by stack and work-group.
    ByStack(Pairs),
}

/// `3:7`, `3` for the same id in both dumps, `all` or `faulted`.
fn pairs(text: &str) -> Result<PairsArg, ValueError> {
    match WaveChoice::named(text) {
        Some(WaveChoice::All) => return Ok(PairsArg::ByStack(Pairs::All)),
        Some(WaveChoice::Faulted) => return Ok(PairsArg::ByStack(Pairs::Faulted)),
        _ => {}
    }
    let wrong = |_| ValueError::NotOfForm("ids of two waves, 3:7, or all, or faulted", text.to_owned());
    let id = |word: &str| word.trim().parse::<u32>().map_err(wrong);
    let (a, b) = text.split_once(':').unwrap_or((text, text));
    Ok(PairsArg::Ids(id(a)?, id(b)?))
}

/// The pairs of all `--wave`.
fn chosen(args: &[PairsArg]) -> Result<Pairs, Failure> {
    let mut ids = Vec::new();
    for one in args {
        match one {
            PairsArg::Ids(a, b) => ids.push((*a, *b)),
            PairsArg::ByStack(pairs) if args.len() == 1 => return Ok(pairs.clone()),
            PairsArg::ByStack(_) => {
                return Err("--wave all and --wave faulted take no other --wave beside them".into());
            }
        }
    }
    Ok(if ids.is_empty() { Pairs::All } else { Pairs::Ids(ids) })
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut found = compared(args, targets).map_err(InputError)?;
    if args.json {
        let json = diff::Json::new(&mut found);
        let printed = print_json(out, &Document::new(&json));
        json.failed().map_or(printed, |error| Err(InputError(error.into()).into()))?;
    } else {
        let style = if args.all { Style::Whole } else { Style::Coloured };
        let printed = diff::text(&mut found, args.all, style, out);
        printed.map_err(|error| match error {
            DiffError::Output(error) => Failure::from(error),
            error => InputError(error.into()).into(),
        })?;
    }
    Ok(match found.is_same() {
        true => 0,
        // Omitted variables may differ.
        false if found.differing == 0 && found.alone.iter().all(Vec::is_empty) => 2,
        false => 1,
    })
}

fn compared(args: &Args, targets: &Targets) -> Result<Diff, Failure> {
    let open = |path: &PathBuf, host: &Option<PathBuf>, code: &[Supplied], r_version: Option<u32>| {
        let mut with = args.with.clone();
        // Supplements of one dump override those of both.
        with.host_core = host.clone().or(with.host_core);
        with.r_version = r_version.or(with.r_version);
        with.code_objects.splice(0..0, code.iter().cloned());
        let debug_dirs = args.debug_dirs.clone();
        let is_verbose = args.is_verbose;
        let globals = Globals { debug_dirs: debug_dirs.clone(), ..Globals::default() };
        let typed = steps::of(path, &with, &globals);
        let from =
            DumpArgs { dump: Some(path.clone()), debug_dirs, with, is_verbose, typed, ..DumpArgs::default() };
        dump::open(&from, targets)
    };
    let pairs = chosen(&args.wave)?;
    let (of_a, of_b) = (&args.of_a, &args.of_b);
    let a = open(&args.a, &of_a.a_host_core, &of_a.a_code_object, of_a.a_r_version)?;
    let b = open(&args.b, &of_b.b_host_core, &of_b.b_code_object, of_b.b_r_version)?;
    let options = Options { pairs, kind: args.kind.clone(), values: args.most_values };
    Ok(Diff::new(&a, &b, &options)?)
}
