//! `lanescope print DUMP [--wave ID] [--lane N|active|all] [--frame N] 'PATH'`: the value at a path, lane by lane.
//!
//! Paths are C's: `x`, `ns::x`, `body.at.x`, `p->next`, `a[i]`, `*p`, `&x`, `p[1].x + 1`, `(float *) p`,
//! `(local int *) 0x10`, `local#0x10`, `$v3`, `$v3[17]`, and gdb's `*p@8`. The search for a name covers the frame, then the
//! members of `this`, then the scopes around the function, then the whole code object. References are followed.
//! `--format` is the letter of gdb's `print/x`.
//!
//! `--explain` prints, before the values, how the debug information locates each variable of the path, operation by
//! operation: why it has no value, or the source of its value.
//!
//! Each lane follows its own pointers, in the address space of the pointer's type; generic ones go through the
//! apertures. A value that cannot be printed is replaced by its reason. The exit status is 0 if at least one
//! requested lane has a value, even a partial one, and 1 if none has.

use std::io::Write;

use super::{Failure, WaveArgs, dump, print_json};
use crate::arch::Targets;
use crate::debuginfo::format::Letter;
use crate::report::json::{self, set};
use crate::report::{Style, explain, print, text};
use crate::session::print::{Query, no_letter};
use crate::session::{Inspect as _, ValueState};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) of: WaveArgs,
    /// The path: `body.at.x`; the only argument is the path, in the demo
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// The lanes: 3, 0,8-15, `active` or `all` [default: the first active lane]
    #[arg(long, short, value_name = "LANES", conflicts_with = "work_item")]
    lane: Option<String>,
    /// The frame, numbered like in `lanescope backtrace`
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    frame: usize,
    /// Number format: x, z, d, u, o, t, c, f, a or s, like gdb's print/x
    #[arg(long, value_name = "LETTER", value_parser = letter)]
    format: Option<Letter>,
    /// Print where the variables of the path are and why, operation by operation
    #[arg(long)]
    explain: bool,
}

fn letter(text: &str) -> Result<Letter, String> {
    Letter::of(text).ok_or_else(|| no_letter(text))
}

/// The command's exit status: 1 where no lane has a value.
pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    // Text that may be the name of a file.
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
    let only = args.of.from.dump.as_ref().map(|only| only.to_string_lossy());
    let is_only = args.path.is_none() && only.as_deref().is_some_and(is_name);
    let status = answer(args, targets, out);
    if is_only && !matches!(status, Ok(0)) {
        let only = only.unwrap_or_default();
        out.flush()?;
        writeln!(
            anstream::stderr(),
            "note: `{only}` is the only argument, and so a path in the embedded demo; with a dump: lanescope print DUMP PATH"
        )?;
    }
    status
}

fn answer(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    let (mut of, mut path) = (args.of.clone(), args.path.clone());
    if path.is_none() {
        path = of.from.dump.take().map(|only| only.to_string_lossy().into_owned());
    }
    let path = path.ok_or("what to print? for example: lanescope print DUMP 'p->x'")?;
    let (session, wave) = dump::session(&of, targets)?;
    let lanes = dump::lanes(&session, wave, args.lane.as_deref(), args.frame)?;
    let query = Query { path, letter: args.format };
    let printed = session.print(wave, lanes, args.frame, &query)?;
    let has_value = printed.lanes.iter().any(|lane| matches!(lane.value.state, ValueState::Value(_)));
    let status = u8::from(!has_value);
    let explained = args.explain.then(|| session.explain(wave, lanes, args.frame, &query)).transpose()?;
    if args.of.json {
        let mut value = print::json(&printed);
        if let Some(explained) = explained {
            set(&mut value, "names", explain::names(&explained));
        }
        print_json(out, &json::marked(&session, wave, value))?;
        return Ok(status);
    }
    out.write_all(text::mark(&session, wave, Style::Coloured).as_bytes())?;
    if let Some(explained) = explained {
        out.write_all(explain::text(&explained, Style::Coloured).as_bytes())?;
    }
    out.write_all(print::text(&printed, Style::Coloured).as_bytes())?;
    Ok(status)
}
