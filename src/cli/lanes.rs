//! `lanescope lanes DUMP [--wave ID]`: the lanes of a wave, their states and their work-items.

use std::io::Write;

use super::{Failure, WaveArgs, dump, print_json};
use crate::arch::Targets;
use crate::report::{Style, json, text};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) of: WaveArgs,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let (session, wave) = dump::session(&args.of, targets)?;
    if args.of.json {
        return print_json(out, &json::marked(&session, wave, json::lanes(&session, wave)?));
    }
    out.write_all(text::mark(&session, wave, Style::Coloured).as_bytes())?;
    out.write_all(text::lanes(&session, wave, Style::Coloured)?.as_bytes())?;
    Ok(())
}
