//! `lanescope arguments DUMP [--dispatch ID] [--json]`: the kernel arguments of a dump's dispatches.
//!
//! For each dispatch the arguments in order: offset in the kernarg segment, size, kind, type, name, value. The
//! runtime's own arguments come last, dimmed. Missing bytes are marked; they never print as zero.
//!
//! `--json` prints an array with `dispatch`, `kernel`, `kernarg`, `size`, `problem` and `arguments`. An argument has
//! `name`, `type`, `offset`, `size`, `kind`, `address_space`, `hidden`, `bytes` (hex, `xx` for missing bytes) and
//! `value`.

use std::io::Write;

use super::{DumpArgs, Failure, dump, print_json};
use crate::arch::Targets;
use crate::report::{Style, json, text};
use crate::session::{Inspect as _, Session};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// Only the dispatch with that id
    #[arg(long, short, value_name = "ID")]
    dispatch: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let dump = dump::open(&args.from, targets)?;
    let name = dump.capture().name.clone();
    let mut all = Session::new(dump, args.from.kind.as_deref())?.arguments();
    if let Some(asked) = args.dispatch {
        all.retain(|one| one.dispatch == asked);
        if all.is_empty() {
            return Err(format!("{name} has no dispatch {asked}").into());
        }
    }
    if args.json {
        return print_json(out, &all.iter().map(json::arguments).collect::<Vec<_>>());
    }
    if all.is_empty() {
        writeln!(out, "{name} lists no dispatches")?;
    }
    for one in &all {
        out.write_all(text::arguments(one, Style::Coloured).as_bytes())?;
    }
    Ok(())
}
