//! `lanescope registers DUMP [--wave ID] [-r NAMES]`: a wave's registers; without names all captured ones.

use std::io::Write;

use super::{Failure, WaveArgs, dump, print_json};
use crate::arch::{RegId, Targets};
use crate::report::{Style, export, json, text};
use crate::session::Inspect as _;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) of: WaveArgs,
    /// Only those, names or ranges: `-r pc,exec -r s0-s7`
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',')]
    register: Vec<String>,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let (session, wave) = dump::session(&args.of, targets)?;
    let kind = session.kind();
    let mut chosen: Vec<RegId> = Vec::new();
    for name in &args.register {
        let (first, count) = kind.range(name)?;
        chosen.extend((first.0..first.0 + count).map(RegId));
    }
    let all = chosen.is_empty();
    if all {
        chosen = session.described();
    }
    let mut answer = serde_json::Map::new();
    if !args.of.json {
        out.write_all(text::mark(&session, wave, Style::Coloured).as_bytes())?;
    }
    for register in chosen.into_iter().filter_map(|id| kind.register(id)) {
        let value = session.register(wave, register.id)?;
        if args.of.json {
            answer.insert(register.name.clone(), export::register_json(&value, register.is_vector()));
            continue;
        }
        match text::register(&kind, register, &value) {
            Some(line) => out.write_all(line.as_bytes())?,
            None if all => {}
            None => writeln!(out, "{:<14}not captured", register.name)?,
        }
    }
    if args.of.json {
        let answer = serde_json::json!({ "registers": answer });
        print_json(out, &json::marked(&session, wave, answer))?;
    }
    Ok(())
}
