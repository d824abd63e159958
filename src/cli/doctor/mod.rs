//! `lanescope doctor`: the debuggers and the capture of crashes on this machine, and the commands to type.
//!
//! Each check has a state: `ok`, `note` (works, with a limit) or `missing`. The exit status is 0: every command of
//! lanescope works without debuggers and tools, with less in its answers. Programs that do not answer within five
//! seconds are reported and ended.

pub(super) mod crashes;
mod programs;
#[cfg(test)]
mod tests;

pub(super) use programs::Brand;

use std::fmt::Write as _;
use std::io::Write;

use serde::Serialize;

use super::shell::indented;
use super::version::BUILD;
use super::{Failure, print_json};
use crate::arch::Targets;
use crate::report::Style;
use crate::report::fold::beside;
use crate::report::schema::{Document, Schema};

/// Options of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The state of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// Present, without a known limit.
    Ok,
    /// Present, with a limit.
    Note,
    /// Absent, or without effect.
    Missing,
}

/// The subject of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Area {
    /// Clients of `serve`.
    Debuggers,
    /// The capture of crashes as they happen.
    Crashes,
}

impl Area {
    const ALL: [Self; 2] = [Self::Debuggers, Self::Crashes];

    const fn heading(self) -> &'static str {
        match self {
            Self::Debuggers => "Debuggers",
            Self::Crashes => "Capture of crashes",
        }
    }
}

/// One fact about the machine.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Check {
    area: Area,
    /// The program or setting.
    name: String,
    state: State,
    /// The program's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The program's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The fact in words.
    fact: String,
    /// Known limits, a sentence each.
    notes: Vec<String>,
    /// A command of the shell that changes the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

impl Check {
    /// The fact and its notes, if the state is not `ok`.
    pub(in crate::cli) fn limit(&self) -> Option<String> {
        let notes = self.notes.iter().map(|note| format!("; {note}"));
        (self.state != State::Ok)
            .then(|| format!("{}: {}{}", self.name, self.fact, notes.collect::<String>()))
    }
}

/// All facts, and the commands to type.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Diagnosis {
    /// lanescope's version.
    version: String,
    /// The commit of its sources; null: the build did not name it.
    commit: Option<String>,
    /// The target of the build in Rust's notation.
    target: String,
    /// Names of the known GPUs.
    gpus: Vec<String>,
    checks: Vec<Check>,
    /// Commands of the shell, in the order to type them.
    next: Vec<String>,
}

impl Schema for Diagnosis {
    const NAME: &'static str = "doctor";
    const VERSION: u32 = 2;
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let checks = [programs::debuggers(), crashes::checks()];
    let diagnosis = diagnosis(checks.into_iter().flatten().collect(), targets);
    if args.json {
        return print_json(out, &Document::new(diagnosis));
    }
    let style = Style::Coloured;
    Ok(out.write_all(text(&diagnosis, style).as_bytes())?)
}

fn diagnosis(checks: Vec<Check>, targets: &Targets) -> Diagnosis {
    let mut next: Vec<String> = Vec::new();
    for command in checks.iter().filter_map(|check| check.command.as_ref()) {
        if !next.contains(command) {
            next.push(command.clone());
        }
    }
    if checks.iter().any(|check| check.area == Area::Crashes && check.command.is_some()) {
        next.push("lanescope capture -- ./app".to_owned());
    }
    next.push("lanescope demo".to_owned());
    Diagnosis {
        version: BUILD.version.to_owned(),
        commit: BUILD.commit.map(str::to_owned),
        target: BUILD.target.to_owned(),
        gpus: targets.names().map(str::to_owned).collect(),
        checks,
        next,
    }
}

/// The blanks before a fact's notes.
const NOTES: &str = "           ";

fn text(diagnosis: &Diagnosis, style: Style) -> String {
    let mut text = format!("lanescope {} for {}\n", diagnosis.version, diagnosis.target);
    for area in Area::ALL {
        let _ = writeln!(text, "\n{}", style.heading(area.heading()));
        for check in diagnosis.checks.iter().filter(|check| check.area == area) {
            let mark = match check.state {
                State::Ok => "ok     ",
                State::Note => "note   ",
                State::Missing => "missing",
            };
            let mark = if check.state == State::Missing { style.dim(mark) } else { mark.to_owned() };
            let fact = format!("{}: {}", check.name, check.fact);
            let _ = writeln!(text, "{}", beside(&format!("  {mark}  "), &fact, style.columns()));
            for note in &check.notes {
                let _ = writeln!(text, "{}", beside(NOTES, note, style.columns()));
            }
        }
    }
    let _ = writeln!(
        text,
        "\n{}\n\n{}",
        style.folded("Opening a capture needs no GPU, no driver, no ROCm and no ptrace."),
        style.heading("Next")
    );
    text.extend(diagnosis.next.iter().map(|command| indented(command)));
    text
}
