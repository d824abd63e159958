//! `lanescope export DUMP [--wave ID]`: the whole contents of a dump as one JSON document (docs/export-format.md).

use std::io::Write;

use super::{DumpArgs, Failure, dump};
use crate::arch::Targets;
use crate::report::export;
use crate::session::Reader;
use crate::units::WaveId;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// Only waves with these ids
    #[arg(long, short, value_name = "ID")]
    wave: Vec<u32>,
    /// JSON is the only form there is; the flag is accepted for symmetry with the other commands
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let _ = args.json;
    let opened = dump::open(&args.from, targets)?;
    let mut chosen = Vec::new();
    for id in &args.wave {
        let found = (0u32..).zip(&opened.capture().waves).find(|(_, wave)| wave.id == *id);
        let (ordinal, _) = found.ok_or_else(|| format!("no wave {id}; `lanescope waves` lists them"))?;
        chosen.push(WaveId(ordinal));
    }
    let waves = (!chosen.is_empty()).then_some(chosen.as_slice());
    export::export(&Reader::new(opened), waves, out)?;
    Ok(())
}
