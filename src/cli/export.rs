//! `lanescope export DUMP [--wave IDS]`: the whole contents of a dump as one JSON document (docs/export-format.md).

use std::io::Write;
use std::sync::Arc;

use super::dump::Waves;
use super::{DumpArgs, Failure, WaveArgs, dump};
use crate::arch::Targets;
use crate::report::export;
use crate::session::Reader;
use crate::units::WaveId;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    #[command(flatten)]
    waves: WaveArgs,
    /// JSON is the only form there is; the flag is accepted for symmetry with the other commands
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let _ = args.json;
    args.waves.check()?;
    let opened = dump::open(&args.from, targets)?;
    let (kind, at) = (args.from.kind.as_deref(), &args.waves.at);
    let ids = args.waves.ids(&opened, kind)?;
    let is_chosen = ids.is_some() || at.place()?.is_some();
    let waves = Waves { dump: &opened, kind, ids: ids.as_deref(), at };
    let chosen: Option<Vec<WaveId>> = match is_chosen {
        true => Some(waves.focused()?.1.iter().map(|(_, focus)| focus.wave).collect()),
        false => None,
    };
    export::export(&Reader::new(Arc::clone(&opened)), chosen.as_deref(), out)?;
    Ok(())
}
