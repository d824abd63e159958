//! `lanescope slim DUMP -o FILE`: a small dump of a large one (docs/slim.md).
//!
//! Without `--wave` or `--all-waves` it holds the waves that faulted, and one of each distinct stack. With them go their
//! registers, the LDS of their work-groups, private memory, the code objects that they take, and the global memory that
//! their variables reach.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use super::{DumpArgs, Failure, dump, print_json};
use crate::arch::Targets;
use crate::report::spaces;
use crate::session::{Bounds, PAGE};
use crate::slim::{self, Choice};

mod bar;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// The dump to write, which must not exist: a folder, or a zip where the name ends in .zip
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// These waves, by their ids: 3,7-9 [default: those that faulted, and one of each distinct stack]
    #[arg(long, short, value_name = "IDS", conflicts_with = "all_waves")]
    wave: Option<String>,
    /// All waves
    #[arg(long)]
    all_waves: bool,
    /// How many pointers are followed one after the other, from kernel arguments and variables on
    #[arg(long, value_name = "N", default_value_t = 2)]
    follow: u32,
    /// Keep this global memory too: START-END (without END) or START+SIZE; may be repeated
    #[arg(long, value_name = "RANGE", value_parser = range, conflicts_with = "no_global")]
    memory: Vec<(u64, u64)>,
    /// Leave all global memory out
    #[arg(long)]
    no_global: bool,
    /// Follow pointers until there is so much global memory
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size)]
    most_global: u64,
    /// Follow at most so many pointers
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    most_pointers: u64,
    /// Follow pointers for at most so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    most_seconds: u64,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// `START-END` or `START+SIZE` as first and last address.
fn range(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("expected START-END or START+SIZE, 0x7f0000200000+0x1000, not `{text}`");
    let number = |word: &str| spaces::number(word.trim()).map_err(|_| wrong());
    let (first, end) = match (text.split_once('+'), text.split_once('-')) {
        (Some((start, length)), _) => {
            let start = number(start)?;
            (start, start.checked_add(number(length)?).ok_or_else(wrong)?)
        }
        (None, Some((start, end))) => (number(start)?, number(end)?),
        (None, None) => return Err(wrong()),
    };
    if end <= first {
        return Err(format!("`{text}` is empty: {end:#x} is not above {first:#x}"));
    }
    Ok((first, end - 1))
}

/// A number of bytes: `4096`, `64K`, `8M`, `2G`.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected bytes as 4096, 64K, 8M or 2G, not `{text}`");
    let (number, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number = spaces::number(number).map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let opened = dump::open(&args.from, targets)?;
    let choice = match &args.wave {
        Some(ids) => Choice::Ids(dump::wave_ids(ids)?),
        None if args.all_waves => Choice::All,
        None => Choice::Telling,
    };
    let options = slim::Options {
        choice,
        kind: args.from.kind.clone(),
        bounds: Bounds {
            steps: args.follow,
            pages: args.most_global.div_ceil(PAGE),
            pointers: args.most_pointers,
            time: Duration::from_secs(args.most_seconds),
        },
        memory: args.memory.clone(),
        global: !args.no_global,
    };
    let mut bar = bar::Bar::on_terminal();
    let report = slim::slim(&opened, &options, &args.output, &mut |progress| bar.show(progress));
    bar.clear();
    let (report, to) = (report?, args.output.display().to_string());
    if args.json {
        let mut value = report.json();
        value["to"] = to.into();
        return print_json(out, &value);
    }
    out.write_all(report.text(&to).as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests;
