//! `lanescope groups DUMP [--lanes] [--by function|line|pc]`: the waves of a dump by call stack, the most common first.
//!
//! Stacks are equal if their functions and source lines are equal. A group with a faulted wave comes first. With
//! `--lanes` each lane counts with its own stack (see `lanescope backtrace`); lanes without a work-item do not count.

use std::io::Write;

use super::choice::choice;
use super::{DumpArgs, Failure, dump, print_json};
use crate::arch::Targets;
use crate::report::json::set;
use crate::report::{Style, groups};
use crate::session::{GroupBy, Grouping, Inspect as _, Session, is_kind};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// Group lanes instead of waves
    #[arg(long)]
    lanes: bool,
    /// Criterion for equal stacks: their functions, their functions and lines, or their PCs
    #[arg(long, value_name = "WHAT", default_value = "line", value_parser = choice(GroupBy::ALL.map(|(by, name)| (name, by))))]
    by: GroupBy,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let opened = dump::open(&args.from, targets)?;
    let grouping = Grouping { by: args.by, lanes: args.lanes };
    let asked = args.from.kind.as_deref();
    let shown = opened.kinds().filter(|(kind, _)| asked.is_none_or(|asked| is_kind(kind, asked)));
    let kinds: Vec<String> =
        shown.map(|(kind, _)| format!("{}:{}", kind.target.name, kind.wave_size)).collect();
    if kinds.is_empty() {
        // The session reports an unknown kind and a dump without waves.
        Session::new(opened, asked)?;
        return Ok(());
    }
    let mut values = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        let found = Session::new(opened.clone(), Some(kind))?.groups(grouping)?;
        if args.json {
            let mut value = groups::json(&found);
            set(&mut value, "kind", kind.as_str());
            values.push(value);
            continue;
        }
        if kinds.len() > 1 {
            writeln!(out, "{}{kind}", if index > 0 { "\n" } else { "" })?;
        }
        out.write_all(groups::text(&found, &|wave| u64::from(wave.id), Style::Coloured).as_bytes())?;
    }
    if args.json {
        print_json(out, &serde_json::json!({ "kinds": values }))?;
    }
    Ok(())
}
