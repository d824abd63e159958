//! Kernel launches and their arguments.

use std::collections::HashSet;

use super::answer::{Answer, Body, QuestionError};
use super::asked::{Asked, Form};
use super::parameter::{Parameter, Takes, Words};
use super::{Question, Subject};
use crate::report::absent::AbsentWaves;
use crate::report::json::{Launch, Launches};
use crate::report::{dispatches as report, text};
use crate::session::{DispatchArguments, DispatchInfo, Dump, Inspect, dispatches_of};
use crate::units::WaveId;

/// The kernel launches of a dump, including those without a served wave.
pub(super) const DISPATCHES: Question = Question {
    name: "dispatches",
    packet: Some("qlanescope.Dispatches"),
    document: None,
    summary: "List the kernel launches: grid, work-group size, fences, address spaces and number of waves.",
    example: "",
    subject: Subject::Marked,
    parameters: &[],
    answer: dispatches,
};

/// The kernel arguments of dispatches.
pub(super) const ARGUMENTS: Question = Question {
    name: "arguments",
    packet: None,
    document: None,
    summary: "Print the kernel arguments of the wave's dispatch, of another one, or of all.",
    example: "arguments 1",
    subject: Subject::WaveUnless(&["dispatch", "all"]),
    parameters: &[
        Parameter::new("dispatch", Takes::Number, "ID")
            .short('d')
            .words(Words::Bare)
            .excludes(&["all"])
            .help("Only the dispatch with that id [default: that of the chosen wave, else all]"),
        Parameter::new("all", Takes::Choice(&["all"]), "").words(Words::Bare).words_only(),
    ],
    answer: arguments,
};

fn dispatches<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let found = match asked.dump {
        Some(dump) if asked.is_chosen => of_waves(dump, &asked.sessions),
        Some(dump) => dispatches_of(dump),
        None => asked.session()?.dispatches(),
    };
    let current = match asked.focus {
        Some(focus) => asked.session()?.wave(focus.wave)?.dispatch,
        None => None,
    };
    let absent = AbsentWaves::of(&asked.sessions);
    Ok(match asked.form {
        Form::Text(style) => (report::text(&found, current, style) + &absent.text("place", style)).into(),
        Form::Json => Body::json(report::json(&found, absent, &|wave| asked.numbering.threads(wave))).into(),
    })
}

/// The dispatches of the sessions' waves.
fn of_waves(dump: &Dump, sessions: &[&dyn Inspect]) -> Vec<DispatchInfo> {
    let mut found = dispatches_of(dump);
    let waves: HashSet<WaveId> = sessions.iter().flat_map(|session| session.waves().to_vec()).collect();
    for one in &mut found {
        one.waves.retain(|wave| waves.contains(wave));
        one.left_out = 0;
    }
    // Each session has all dispatches in one order.
    for own in sessions.iter().map(|session| session.dispatches()) {
        found.iter_mut().zip(own).for_each(|(one, own)| one.left_out += own.left_out);
    }
    found.retain(|one| !one.waves.is_empty());
    found
}

fn arguments<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let session = asked.session()?;
    let chosen = match (asked.arguments.number("dispatch"), asked.focus) {
        (Some(id), _) => Some(id),
        (None, Some(focus)) if !asked.arguments.has("all") => {
            let id = session.wave(focus.wave)?.dispatch.ok_or(QuestionError::UnknownDispatch)?;
            Some(u64::from(id))
        }
        _ => None,
    };
    let mut found = session.arguments();
    if let Some(id) = chosen {
        found.retain(|one: &DispatchArguments| u64::from(one.dispatch) == id);
        if found.is_empty() {
            return Err(QuestionError::NoDispatch(id));
        }
    }
    Ok(match asked.form {
        Form::Text(_) if found.is_empty() => format!("{} lists no dispatches\n", session.name()).into(),
        Form::Text(style) => found.iter().map(|one| text::arguments(one, style)).collect::<String>().into(),
        Form::Json => {
            let answer = Launches { dispatches: found.iter().map(Launch::of).collect() };
            match asked.focus {
                Some(_) if ARGUMENTS.is_about_wave(&asked.arguments) => asked.about(answer)?,
                _ => Body::json(answer).into(),
            }
        }
    })
}
