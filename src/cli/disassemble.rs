//! `lanescope disassemble DUMP [--wave ID] [--frame N] [--lane N] [--address A] [--count N|--around N]`: the
//! instructions of a wave's current function.
//!
//! `=>` marks the PC, `->` other PCs of lanes; the lanes follow the instruction. `--address` selects the function
//! that holds an address. `--count` lists a number of instructions from the function's start or from the address;
//! `--around` lists a number on either side. LLVM's llvm-objdump or llvm-mc decodes: the newest installed one, or
//! `--disassembler FILE`. Missing code ends a listing with a note.

use std::io::Write;

use super::{Failure, WaveArgs, dump, print_json};
use crate::arch::Targets;
use crate::report::{Style, disassembly, json, spaces, text};
use crate::session::{Inspect as _, Instructions};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) of: WaveArgs,
    /// The frame, numbered like in `lanescope backtrace`
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    frame: usize,
    /// The lane whose stack has the frame [default: the wave as a whole]
    #[arg(long, short, value_name = "N", conflicts_with = "work_item")]
    lane: Option<String>,
    /// The function that holds this address, or with --count the instructions from it on
    #[arg(long, short, value_name = "ADDRESS", value_parser = number)]
    address: Option<u64>,
    /// Number of instructions
    #[arg(long, short = 'n', value_name = "N", conflicts_with = "around", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Number of instructions before and after the PC or the address
    #[arg(long, value_name = "N")]
    around: Option<u32>,
}

fn number(text: &str) -> Result<u64, String> {
    spaces::number(text).map_err(|error| error.to_string())
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let (session, wave) = dump::session(&args.of, targets)?;
    let lane = match args.lane.as_deref() {
        None => args.of.at.work_item.map(|_| session.focus(wave)),
        some => match dump::lanes(&session, wave, some, 0)? {
            lanes if lanes.count() == 1 => lanes.first(),
            _ => return Err("--lane takes one lane here".into()),
        },
    };
    let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let asked = Instructions {
        lane,
        frame: args.frame,
        address: args.address,
        count: args.count.map(index),
        around: args.around.map(index),
    };
    let found = session.disassemble(wave, &asked)?;
    if args.of.json {
        return print_json(out, &json::marked(&session, wave, disassembly::json(&found)));
    }
    out.write_all(text::mark(&session, wave, Style::Coloured).as_bytes())?;
    out.write_all(disassembly::text(&found, Style::Coloured).as_bytes())?;
    Ok(())
}
