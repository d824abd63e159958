//! `lanescope locals DUMP [--wave ID] [--lane LANES] [--frame N]`: the variables in scope of a frame, lane by lane.
//!
//! Frames are numbered like in `lanescope backtrace`, 0 the innermost. A caller's registers come from its callees'
//! save slots.
//!
//! A variable without storage prints `<optimized out>`; missing data prints `<unavailable: ...>`, with the reason.

use std::io::Write;

use super::{Failure, WaveArgs, dump, print_json};
use crate::arch::Targets;
use crate::report::{Style, json, text};
use crate::session::Inspect as _;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) of: WaveArgs,
    /// The lanes: a number, 0,3,16-31, `active` or `all` [default: the first active lane]
    #[arg(long, short, value_name = "LANES", conflicts_with = "work_item")]
    lane: Option<String>,
    /// The frame, numbered like in `lanescope backtrace`
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    frame: usize,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let (session, wave) = dump::session(&args.of, targets)?;
    let lanes = dump::lanes(&session, wave, args.lane.as_deref(), args.frame)?;
    let locals = session.locals(wave, lanes, args.frame)?;
    if args.of.json {
        let head = json::marked(&session, wave, json::locals_head(&locals));
        return print_json(out, &json::StreamedLocals { head, locals });
    }
    out.write_all(text::mark(&session, wave, Style::Coloured).as_bytes())?;
    out.write_all(text::locals(&locals, Style::Coloured).as_bytes())?;
    Ok(())
}
