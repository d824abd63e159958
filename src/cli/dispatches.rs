//! `lanescope dispatches DUMP`: the kernel launches of a dump, with the columns of AMD's gdb.
//!
//! Grid and work-group are in work-items. Fence is B (barrier), Aa and As (acquire, of the agent or the system), Ra
//! and Rs (release); `?` is missing. Waves counts the waves in the dump, of all kinds.

use std::io::Write;

use super::{DumpArgs, Failure, dump, print_json};
use crate::arch::Targets;
use crate::report::{Style, dispatches};
use crate::session::dispatches_of;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let opened = dump::open(&args.from, targets)?;
    let found = dispatches_of(&opened);
    if args.json {
        // The thread numbers of a client whose threads are waves.
        let thread = |wave: crate::units::WaveId| Some((u64::from(wave.0) + 1, u64::from(wave.0) + 1));
        return print_json(out, &dispatches::json(&found, &thread));
    }
    out.write_all(dispatches::text(&found, None, Style::Coloured).as_bytes())?;
    Ok(())
}
