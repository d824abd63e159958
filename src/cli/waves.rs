//! `lanescope waves DUMP`: the waves of a dump, with their positions, PCs, active lanes and stop reasons.

use std::io::Write;

use super::{DumpArgs, Failure, dump, print_json};
use crate::arch::Targets;
use crate::report::{Style, json, text};
use crate::session::{Inspect as _, Session, is_kind};

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
    // A table of registers needs one kind; a list of waves does not.
    let asked = args.from.kind.as_deref();
    let shown = opened.kinds().filter(|(kind, _)| asked.is_none_or(|asked| is_kind(kind, asked)));
    let kinds: Vec<String> =
        shown.map(|(kind, _)| format!("{}:{}", kind.target.name, kind.wave_size)).collect();
    if let (true, Some(asked)) = (kinds.is_empty(), asked) {
        // The session reports an unknown kind.
        Session::new(opened.clone(), Some(asked))?;
    }
    let mut waves = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        let session = Session::new(opened.clone(), Some(kind))?;
        if args.json {
            waves.extend(session.waves().iter().filter_map(|wave| session.wave(*wave).ok()));
            continue;
        }
        if kinds.len() > 1 {
            let gap = if index > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{kind}")?;
        }
        out.write_all(text::waves(&session, Style::Coloured).as_bytes())?;
    }
    if args.json {
        waves.sort_by_key(|info| info.wave);
        print_json(out, &json::StreamedList { key: "waves", items: || waves.iter().map(json::wave) })?;
    } else if kinds.is_empty() {
        writeln!(out, "No waves.")?;
    }
    Ok(())
}
