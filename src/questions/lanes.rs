//! The lanes of a wave, and the position of one lane.

use super::answer::{Answer, QuestionError};
use super::asked::Asked;
use super::parameter::{FULL, LANES as LANE, Parameter, Words};
use super::{Document, Question, Subject};
use crate::report::json::{self, LanePc};
use crate::report::{text, waves};
use crate::session::{LaneInfo, ReadError};
use crate::units::LaneSet;

/// The lanes: work-items, states, positions.
pub(super) const LANES: Question = Question {
    name: "lanes",
    packet: Some("qlanescope.Lanes"),
    document: Some(Document { packet: "qXfer:lanescope-lanes:read", annex: &[] }),
    summary: "List the wave's lanes: work-item, state and position.",
    example: "lanes full",
    subject: Subject::Wave,
    parameters: &[
        LANE.words(Words::Absent)
            .help("Only these lanes: a number, 0,3,16-31, `active` or `all` [default: all]"),
        FULL.help(
            "Print each lane on its own; without it, lanes with the same state and position share a line",
        ),
    ],
    answer: lanes,
};

/// The position of a lane, with the source of its PC.
pub(super) const LANE_PC: Question = Question {
    name: "lane-pc",
    packet: Some("qlanescope.LanePc"),
    document: None,
    summary: "Print the position of a lane, and the source of its PC.",
    example: "lane-pc 3",
    subject: Subject::Wave,
    parameters: &[ONE_LANE.words(Words::Bare)],
    answer: lane_pc,
};

/// The lane of a question about one lane.
pub(super) const ONE_LANE: Parameter = LANE.shown("LANE").help("The lane [default: the first active lane]");

fn lanes<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let (session, focus) = asked.wave()?;
    let chosen = asked.arguments.lanes().map(|_| asked.lanes(0)).transpose()?;
    let mut lanes = session.lanes(focus.wave)?;
    lanes.retain(|info| chosen.is_none_or(|chosen: LaneSet| chosen.contains(info.lane)));
    asked.answer(
        |style| waves::lanes(&lanes, focus.lane, asked.detail(), style),
        || json::lanes(&lanes, focus.lane),
    )
}

fn lane_pc<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let (session, focus) = asked.wave()?;
    let lane = asked.one_lane()?.unwrap_or(focus.lane);
    let lanes = session.lanes(focus.wave)?;
    let found = lanes.iter().find(|info: &&LaneInfo| info.lane == lane);
    let found = found.ok_or_else(|| ReadError::NotCaptured { what: "the lane".to_owned() })?;
    asked.answer(|_| text::lane_pc(found), || LanePc::of(found))
}
