//! `lanescope backtrace DUMP [--wave ID] [--lane LANES] [--frame N]`: the call stack of a wave, or of its lanes, from
//! frame N on.
//!
//! Call frame information gives the callers; inlined calls are frames of their own. A lane's stack has only the
//! functions that the lane entered, with the lane's own PC (DW_AT_LLVM_lane_pc). If a stack ends before its kernel,
//! the last line gives the reason.

use std::io::Write;

use super::{Failure, WaveArgs, dump, print_json};
use crate::arch::Targets;
use crate::report::text::mark;
use crate::report::{Style, json, stack};
use crate::session::{Inspect as _, LaneStack};
use crate::units::LaneSet;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) of: WaveArgs,
    /// The stacks of these lanes, equal ones merged: a number, 0,3,16-31, `active` or `all` [default: the wave as a
    /// whole]
    #[arg(long, short, value_name = "LANES", conflicts_with = "work_item")]
    lane: Option<String>,
    /// The first frame to show, as they are numbered without it
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    frame: usize,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let (session, wave) = dump::session(&args.of, targets)?;
    let lanes = args.lane.as_deref().map(|asked| dump::lanes(&session, wave, Some(asked), 0)).transpose()?;
    let lanes = lanes.or_else(|| args.of.at.work_item.map(|_| LaneSet::one(session.focus(wave))));
    let one = |lanes: LaneSet| {
        args.lane.as_ref().is_none_or(|asked| asked.parse::<u8>().is_ok()) && lanes.count() == 1
    };
    let (value, text) = match lanes {
        Some(lanes) if !one(lanes) => {
            let stacks = LaneStack::from_frame(session.lane_stacks(wave, lanes)?, args.frame)?;
            (stack::lanes_json(wave, &stacks), stack::lanes_text(&stacks, Style::Coloured))
        }
        lanes => {
            let found = session.backtrace(wave, lanes.and_then(LaneSet::first))?.from_frame(args.frame)?;
            (stack::json(&found), stack::text(&found, Style::Coloured))
        }
    };
    if args.of.json {
        return print_json(out, &json::marked(&session, wave, value));
    }
    out.write_all(mark(&session, wave, Style::Coloured).as_bytes())?;
    out.write_all(text.as_bytes())?;
    Ok(())
}
