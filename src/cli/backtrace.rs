//! `lanescope backtrace DUMP [--wave ID] [--lane N|all|active]`: the call stack of a wave, or as lanes see it.
//!
//! Callers are found through call frame information; calls that were inlined are frames of their own. A lane's stack has
//! only the functions that the lane entered, and says where the lane itself goes on (DW_AT_LLVM_lane_pc). Where a stack
//! ends before its kernel, the last line says why.

use std::io::Write;

use super::{Failure, WaveArgs, dump, print_json};
use crate::arch::Targets;
use crate::report::{Style, stack};
use crate::session::Inspect as _;
use crate::units::LaneSet;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    of: WaveArgs,
    /// A lane's stack, that of `all` lanes or of `active` ones, alike ones together [default: the wave's]
    #[arg(long, short, value_name = "N|all|active")]
    lane: Option<String>,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let (session, wave) = dump::session(&args.of, targets)?;
    let lanes = match args.lane.as_deref() {
        None | Some("active") => {
            let exec = session.wave(wave)?.exec;
            exec.ok_or("EXEC was not captured, so nobody knows which lanes are active")
        }
        asked => Ok(dump::lanes(&session, wave, asked)?),
    };
    match args.lane.as_deref() {
        Some("all" | "active") => {
            let stacks = session.lane_stacks(wave, lanes?)?;
            if args.of.json {
                return print_json(out, &stack::lanes_json(wave, &stacks));
            }
            out.write_all(stack::lanes_text(&stacks, Style::Coloured).as_bytes())?;
        }
        one => {
            let lane = one.and_then(|_| lanes.ok()).and_then(LaneSet::first);
            let found = session.backtrace(wave, lane)?;
            if args.of.json {
                return print_json(out, &stack::json(&found));
            }
            out.write_all(stack::text(&found, Style::Coloured).as_bytes())?;
        }
    }
    Ok(())
}
