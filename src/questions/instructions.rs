//! The instructions of a wave's function.

use super::answer::{Answer, QuestionError};
use super::asked::Asked;
use super::lanes::ONE_LANE;
use super::parameter::{FRAME, FULL, Parameter, Takes, WHOLE_LINES, Words};
use super::{Question, Subject};
use crate::report::disassembly;
use crate::session::Instructions;

/// Instructions of the wave's current function, with lanes and source lines.
pub(super) const DISASSEMBLE: Question = Question {
    name: "disassemble",
    packet: Some("qlanescope.Disassemble"),
    document: None,
    summary: "List the instructions of a function, with the PC, the lanes and the source lines.",
    example: "disassemble 0x7f0000001000 count 8",
    subject: Subject::Wave,
    parameters: &[
        Parameter::new("address", Takes::Address, "ADDRESS")
            .short('a')
            .words(Words::Bare)
            .help("The function that holds this address, or with --count the instructions from it on"),
        Parameter::new("count", Takes::Count, "N")
            .short('n')
            .excludes(&["around"])
            .help("Number of instructions"),
        Parameter::new("around", Takes::Number, "N")
            .help("Number of instructions before and after the PC or the address"),
        ONE_LANE.help("The lane whose stack has the frame [default: the wave as a whole]"),
        FRAME,
        FULL.help(WHOLE_LINES),
        // gdb's `disassemble /s`: listings have source lines anyway.
        Parameter::new("source", Takes::Choice(&["s"]), "").words(Words::Slash).words_only(),
    ],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let ((session, focus), arguments) = (asked.wave()?, &asked.arguments);
    let instructions = Instructions {
        lane: asked.one_lane()?,
        frame: asked.frame(),
        address: asked.address()?,
        count: arguments.index("count"),
        around: arguments.index("around"),
        processor: None,
    };
    let found = session.disassemble(focus.wave, &instructions)?;
    let detail = asked.detail();
    let answer =
        asked.answer(|style| disassembly::text(&found, detail, style), || disassembly::json(&found))?;
    Ok(answer.without_value_if(found.instructions.is_empty()))
}
