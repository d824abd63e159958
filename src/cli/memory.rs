//! `lanescope memory DUMP --at PLACE [-n BYTES]`: captured bytes of any address space.
//!
//! PLACE is `private_lane#0x10`, `local#0`, a plain global or generic address, or an address in a client's form. The
//! output ends where a captured run ends; missing bytes are reported, never printed as zero.

use std::io::Write;

use super::{Failure, WaveArgs, dump, print_json};
use crate::arch::Targets;
use crate::codeobject::hex;
use crate::report::{Style, json, spaces, text};
use crate::session::{Inspect as _, ReadError};

/// The maximum of printed bytes.
const MOST: u64 = 1 << 24;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) of: WaveArgs,
    /// The address: `private_lane#0x10`, `local#0`, `0x7f0000200000`
    #[arg(long, short, value_name = "PLACE")]
    at: String,
    /// Number of bytes
    #[arg(long, short = 'n', value_name = "BYTES", default_value = "64")]
    length: String,
    /// The lane, for private_lane [default: the first active lane]
    #[arg(long, short, value_name = "N", conflicts_with = "work_item")]
    lane: Option<String>,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let (session, wave) = dump::session(&args.of, targets)?;
    // Without --lane an address that names its lane keeps it; other addresses use the focused lane.
    let lane = match args.lane.as_deref() {
        None => args.of.at.work_item.map(|_| session.focus(wave)),
        some => match dump::lanes(&session, wave, some, 0)? {
            lanes if lanes.count() == 1 => lanes.first(),
            _ => return Err("--lane takes one lane here".into()),
        },
    };
    let place = spaces::parse_word(&session, wave, lane, &args.at)?;
    let length = spaces::number(&args.length)?;
    if length > MOST {
        return Err(format!("{length} bytes are more than the {MOST} that are printed at once").into());
    }
    let mut bytes = vec![0; usize::try_from(length)?];
    let got = match session.read(place, &mut bytes) {
        Ok(got) => got,
        Err(error @ (ReadError::NotCaptured { .. } | ReadError::NoPrivateMemory { .. })) if args.of.json => {
            let name = spaces::place_name(&session, place);
            let answer = serde_json::json!({ "place": name, "bytes": null, "why": error.to_string() });
            return print_json(out, &json::marked(&session, wave, answer));
        }
        Err(error) => return Err(error.into()),
    };
    let missing = bytes.len().saturating_sub(got);
    bytes.truncate(got);
    let name = spaces::place_name(&session, place);
    if args.of.json {
        let answer = serde_json::json!({ "place": name, "length": got, "bytes": hex(&bytes) });
        return print_json(out, &json::marked(&session, wave, answer));
    }
    out.write_all(text::mark(&session, wave, Style::Coloured).as_bytes())?;
    let prefix = name.split_once('#').map_or(String::new(), |(space, _)| format!("{space}#"));
    out.write_all(text::memory(&prefix, place.address.0, &bytes).as_bytes())?;
    if missing > 0 {
        writeln!(out, "The capture ends here: {missing} of the bytes asked for are missing.")?;
    }
    Ok(())
}
