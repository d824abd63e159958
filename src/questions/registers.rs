//! The registers of a wave.

use std::fmt::Write as _;

use serde_json::json;

use super::answer::{Answer, QuestionError};
use super::asked::{Asked, Form};
use super::parameter::{Parameter, Takes, Words};
use super::{Question, Subject};
use crate::arch::{RegClass, RegId};
use crate::report::{export, text};
use crate::session::Waves;

/// Registers by AMD's names.
pub(super) const REGISTERS: Question = Question {
    name: "registers",
    packet: None,
    document: None,
    summary: "Print registers by AMD's names, in ranges (s0-s7) or groups (scalar), vectors lane by lane; xxxxxxxx was not captured.",
    hint: "Name the registers: monitor register v0 exec, s0-s7 or scalar.",
    subject: Subject::Wave,
    parameters: &[Parameter::new("register", Takes::Names, "NAMES")
        .short('r')
        .words(Words::Bare)
        .needed()
        .help(
            "Only those, names, ranges or groups: `-r pc,exec -r s0-s7` [default: all that were captured]",
        )],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let (session, focus) = asked.wave()?;
    let (kind, names) = (session.kind(), asked.arguments.texts("register"));
    let (mut chosen, mut lines) = (Vec::new(), String::new());
    for name in names {
        let found = named(session, name.trim_start_matches('$'))?;
        if found.is_empty() {
            let _ = writeln!(lines, "No register of the group {name} was captured.");
        }
        chosen.extend(found);
    }
    if names.is_empty() {
        chosen = session.described();
    }
    let mut answer = serde_json::Map::new();
    for register in chosen.into_iter().filter_map(|id| kind.register(id)) {
        let value = session.register(focus.wave, register.id)?;
        if asked.form == Form::Json {
            answer.insert(register.name.clone(), export::register_json(&value, register.is_vector()));
            continue;
        }
        match text::register(&kind, register, &value) {
            Some(line) => lines.push_str(&line),
            None if names.is_empty() => {}
            None => {
                let _ = writeln!(lines, "{:<14}not captured", register.name);
            }
        }
    }
    Ok(match asked.form {
        Form::Text(_) => lines.into(),
        Form::Json => asked.about(json!({ "registers": answer }))?.into(),
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
        return Err(QuestionError::Other(format!("{} has no register {name}", kind.target.name)));
    }
    let (first, count) = kind.range(name)?;
    Ok((first.0..first.0.saturating_add(count)).map(RegId).collect())
}
