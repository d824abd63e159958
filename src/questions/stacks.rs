//! Call stacks of a wave and of its lanes.

use super::answer::{Answer, QuestionError};
use super::asked::Asked;
use super::parameter::{FRAME, LANES, Words};
use super::{Document, Question, Subject};
use crate::report::stack;
use crate::session::LaneStack;

/// The call stack of a wave as a whole, of a lane, or of several lanes.
pub(super) const BACKTRACE: Question = Question {
    name: "backtrace",
    packet: Some("qlanescope.Frames"),
    document: Some(Document { packet: "qXfer:lanescope-frames:read", annex: &["lane"] }),
    summary: "Print the call stack of the wave, or of lanes.",
    example: "backtrace 3 frame 1",
    subject: Subject::Wave,
    parameters: &[
        LANES.words(Words::Bare).help(
            "The stacks of these lanes, equal ones merged: a number, 0,3,16-31, `active` or `all` [default: the wave as a whole]",
        ),
        FRAME.help("The number of the first frame to show, counted without this option [default: 0]"),
    ],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let (session, focus) = asked.wave()?;
    let (wave, first) = (focus.wave, asked.frame());
    if asked.arguments.lanes().is_some_and(|lanes| lanes.one().is_none()) {
        let stacks = LaneStack::from_frame(session.lane_stacks(wave, asked.lanes(0)?)?, first)?;
        return asked.answer(|style| stack::lanes_text(&stacks, style), || stack::LaneStacks::of(&stacks));
    }
    let found = session.backtrace(wave, asked.one_lane()?)?.from_frame(first)?;
    asked.answer(|style| stack::text(&found, style), || stack::WaveStack::of(&found))
}
