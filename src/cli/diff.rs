//! `lanescope diff A B`: two dumps of the same program side by side (docs/slim.md).
//!
//! Waves are paired by their stacks (functions, whatever the lines), and by work-group and number in it. Said is which stacks
//! only one dump has, and what differs of a pair: stop reasons, registers lane by lane, variables of every frame lane by lane.
//!
//! Exit status: 0 nothing differs, 1 something does, 2 the dumps cannot be compared.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::{DumpArgs, Failure, dump, print_json};
use crate::arch::Targets;
use crate::diff::{self, Options};
use crate::report::Style;
use crate::session::Dump;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The first dump
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second dump
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Compare wave A of the first dump with wave B of the second, by their ids; may be repeated [default: as stacks and
    /// places say]
    #[arg(long, short, value_name = "A:B", value_parser = pair)]
    wave: Vec<(u32, u32)>,
    /// Only waves of that kind: gfx1100, wave32 or gfx1100:wave32
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Show all differences, not only the first of each list
    #[arg(long)]
    all: bool,
    /// Print JSON, which has all
    #[arg(long)]
    json: bool,
    /// Folders of separate debug information, given once for all commands
    #[arg(skip)]
    pub(super) debug_dirs: Vec<PathBuf>,
}

/// Two dumps that could not be compared: exit status 2, as `diff` has it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failed(Failure);

/// `3:7`, or `3` for the same id in both.
fn pair(text: &str) -> Result<(u32, u32), String> {
    let id = |word: &str| {
        word.trim().parse::<u32>().map_err(|_| format!("expected ids of two waves, 3:7, not `{text}`"))
    };
    let (a, b) = text.split_once(':').unwrap_or((text, text));
    Ok((id(a)?, id(b)?))
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    let found = compared(args, targets).map_err(Failed)?;
    if args.json {
        print_json(out, &diff::json(&found))?;
    } else {
        out.write_all(diff::text(&found, args.all, Style::Coloured).as_bytes())?;
    }
    Ok(u8::from(!found.is_same()))
}

fn compared(args: &Args, targets: &Targets) -> Result<diff::Diff, Failure> {
    let open = |path: &PathBuf| -> Result<Arc<Dump>, Failure> {
        let from =
            DumpArgs { dump: Some(path.clone()), debug_dirs: args.debug_dirs.clone(), ..DumpArgs::default() };
        dump::open(&from, targets)
    };
    let options = Options { pairs: args.wave.clone(), kind: args.kind.clone() };
    Ok(diff::diff(&open(&args.a)?, &open(&args.b)?, &options)?)
}
