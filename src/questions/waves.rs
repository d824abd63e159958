//! The waves of a dump.

use super::answer::{Answer, Body, QuestionError};
use super::asked::{Asked, Form};
use super::parameter::{FULL, Parameter, Takes};
use super::{Document, Question, Subject};
use crate::report::absent::AbsentWaves;
use crate::report::json::{ListedWave, Wave, WaveList};
use crate::report::schema::Streamed;
use crate::report::waves;
use crate::session::Inspect;
use crate::units::WaveId;

/// All waves: places, PCs, active lanes, stop reasons.
pub(super) const WAVES: Question = Question {
    name: "waves",
    packet: Some("qlanescope.Waves"),
    document: Some(Document { packet: "qXfer:lanescope-waves:read", annex: &[] }),
    summary: "List every wave: position, active lanes and stop reason.",
    example: "waves full",
    subject: Subject::Waves,
    parameters: &[
        Parameter::new("first", Takes::Number, "INDEX").key_only(),
        Parameter::new("count", Takes::Number, "N").key_only(),
        FULL.help("Print each wave on its own; without it, neighbours at the same PC in the same state share a line"),
    ],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let (numbering, detail) = (asked.numbering, asked.detail());
    if let Form::Text(style) = asked.form {
        if asked.sessions.is_empty() {
            return Ok("No waves.\n".to_owned().into());
        }
        let rows =
            |session: &dyn Inspect| waves::waves(session, &|wave| numbering.listed(wave), detail, style);
        let text = asked.by_kind(|session| Ok(rows(session)))?;
        return Ok((text + &AbsentWaves::of(&asked.sessions).text("place", style)).into());
    }
    let of = |session: &&'a dyn Inspect| -> Vec<(WaveId, &'a dyn Inspect)> {
        session.waves().iter().map(|wave| (*wave, *session)).collect()
    };
    let mut waves: Vec<(WaveId, &dyn Inspect)> = asked.sessions.iter().flat_map(of).collect();
    waves.sort_by_key(|(wave, _)| *wave);
    let first = asked.arguments.index("first").unwrap_or(0);
    let count = asked.arguments.index("count").unwrap_or(usize::MAX);
    let item = move |(wave, session): (WaveId, &dyn Inspect)| {
        let threads = numbering.are_lanes().then(|| numbering.threads(wave));
        let first = threads.map_or(Some(u64::from(wave.0) + 1), |threads| threads.map(|(first, _)| first));
        match session.wave(wave) {
            Ok(info) => ListedWave::Wave(Box::new(Wave { thread: first, threads, ..Wave::of(&info) })),
            Err(error) => ListedWave::Unreadable { thread: first, error: error.to_string() },
        }
    };
    let items = move || waves.clone().into_iter().skip(first).take(count).map(item);
    let absent = AbsentWaves::of(&asked.sessions);
    Ok(Body::json(WaveList { waves: Streamed(items), absent }).into())
}
