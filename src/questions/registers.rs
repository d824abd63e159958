//! The registers of a wave.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde::Serialize;

use super::answer::{Answer, QuestionError};
use super::asked::{Asked, Form};
use super::parameter::{FULL, LANES, Parameter, Takes, Words};
use super::{Question, Subject};
use crate::arch::{RegClass, RegId};
use crate::report::export::{self, Registers};
use crate::report::registers;
use crate::report::schema::{Lanes, Schema};
use crate::session::Waves;

/// Registers by AMD's names.
pub(super) const REGISTERS: Question = Question {
    name: "registers",
    packet: None,
    document: None,
    summary: "Print registers by AMD's names, ranges (s0-s7) or groups (scalar); xxxxxxxx is not captured.",
    example: "registers v0,exec s0-s7 scalar",
    subject: Subject::Wave,
    parameters: &[
        Parameter::new("register", Takes::Names, "NAMES")
            .short('r')
            .words(Words::Bare)
            .needed()
            .help("Names, ranges or groups of registers: `-r pc,exec -r s0-s7 -r scalar`; the groups are general, scalar, \
                   vector, accumulator, system and trap [default: all captured ones]"),
        LANES.help("The lanes of vector registers: a number, 0,3,16-31, `active` or `all` [default: all]"),
        FULL.help(
            "Print each lane of vectors; without it, lanes share a line where one rule gives their values",
        ),
    ],
    answer,
};

/// Registers of a wave.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RegisterValues {
    /// By name, the hex digits of docs/export-format.md; of a vector with chosen lanes, one item a lane; null: not
    /// captured.
    #[serde(serialize_with = "export::named_registers")]
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, Option<export::RegisterText>>"))]
    registers: Registers,
    /// The chosen lanes of vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    lanes: Option<Lanes>,
}

impl Schema for RegisterValues {
    const NAME: &'static str = "registers";
}

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let (session, focus) = asked.wave()?;
    let (kind, names) = (session.kind(), asked.arguments.texts("register"));
    let (mut chosen, mut lines) = (Vec::new(), String::new());
    let mut known = HashSet::new();
    for name in names {
        let found = named(session, name.trim_start_matches('$'))?;
        if found.is_empty() {
            let _ = writeln!(lines, "No register of the group {name} was captured.");
        }
        chosen.extend(found.into_iter().filter(|register| known.insert(*register)));
    }
    if names.is_empty() {
        chosen = session.described();
    }
    let lanes = asked.arguments.lanes().map(|_| asked.lanes(0)).transpose()?;
    let mut answer = Registers::new();
    for register in chosen.into_iter().filter_map(|id| kind.register(id)) {
        let value = session.register(focus.wave, register.id)?;
        if asked.form == Form::Json {
            let value = match lanes.filter(|_| register.is_vector()) {
                Some(lanes) => Some(export::lanes_json(&value, lanes)),
                None => export::register_json(&value, register.is_vector()),
            };
            answer.push((register.name.clone(), value));
            continue;
        }
        match registers::register(&kind, register, &value, lanes, asked.detail()) {
            Some(line) => lines.push_str(&line),
            None if names.is_empty() => {}
            None => lines.push_str(&registers::not_captured(&register.name)),
        }
    }
    Ok(match asked.form {
        Form::Text(_) => lines.into(),
        Form::Json => asked.about(RegisterValues { registers: answer, lanes: lanes.map(Lanes) })?,
    })
}

/// The registers of a name, a range or a group.
fn named(session: &dyn Waves, name: &str) -> Result<Vec<RegId>, QuestionError> {
    let kind = session.kind();
    if let Some(class) = RegClass::named(name) {
        let is_member = |id: &RegId| kind.register(*id).is_some_and(|register| register.class == class);
        return Ok(session.described().into_iter().filter(is_member).collect());
    }
    if kind.named(name).is_none() && !name.contains('-') {
        let groups = RegClass::NAMES.map(|(_, name)| name).join(", ");
        let target = &kind.target.name;
        return Err(QuestionError::Other(format!(
            "{target} has no register {name}; the groups are {groups}"
        )));
    }
    let (first, count) = kind.range(name)?;
    Ok((first.0..first.0.saturating_add(count)).map(RegId).collect())
}
