//! Captured bytes of any address space.

use std::fmt::Write as _;

use serde::Serialize;

use super::answer::{Answer, QuestionError};
use super::asked::{Asked, Form};
use super::lanes::ONE_LANE;
use super::parameter::{Parameter, Takes, Words};
use super::{Question, Subject};
use crate::arch::SpaceScope;
use crate::codeobject::hex;
use crate::report::schema::{Hex, Schema};
use crate::report::{spaces, text};
use crate::session::{Inspect, MemoryAddress, ReadError};

/// Bytes from a place up to the first missing byte.
pub(super) const MEMORY: Question = Question {
    name: "memory",
    packet: Some("qlanescope.Memory"),
    document: None,
    summary: "Print captured bytes of an address space.",
    example: "memory private_lane 0x10 16",
    subject: Subject::Wave,
    parameters: &[
        Parameter::new("at", Takes::Word, "PLACE")
            .short('a')
            .option_only()
            .needed()
            .help("The address: `private_lane#0x10`, `local#0`, `0x7f0000200000`"),
        Parameter::new("space", Takes::Space, "SPACE").words(Words::Bare).without_option().needed(),
        Parameter::new("address", Takes::Address, "ADDRESS").words(Words::Bare).without_option().needed(),
        Parameter::new("length", Takes::Number, "LENGTH")
            .short('n')
            .words(Words::Bare)
            .needed()
            .help("Number of bytes [default: 64]"),
        ONE_LANE.words(Words::Absent).help("The lane, for private_lane [default: the first active lane]"),
    ],
    answer,
};

/// Captured bytes from an address on.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MemoryBytes {
    /// The address with its space: `private_lane#0x10`.
    place: String,
    /// The address space.
    space: Option<String>,
    /// Its DWARF number.
    space_id: u64,
    /// The lane, of private memory.
    lane: Option<u8>,
    /// The address in the space.
    address: Hex,
    /// Number of captured bytes from there on.
    length: usize,
    /// Two digits a byte, lowest address first; null: not captured.
    bytes: Option<String>,
    /// The reason for missing bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Schema for MemoryBytes {
    const NAME: &'static str = "memory";
}

impl MemoryBytes {
    /// No bytes at an address.
    fn at(session: &dyn Inspect, at: MemoryAddress, place: String) -> Self {
        let space = session.kind().target.space(at.space).cloned();
        // A space that names its lane overrides the argument `lane`.
        let lane = match space.as_ref().map(|space| space.scope) {
            Some(SpaceScope::LaneN(lane)) => Some(lane),
            Some(SpaceScope::Lane | SpaceScope::Generic) => at.lane,
            _ => None,
        };
        Self {
            place,
            space: space.map(|space| space.name),
            space_id: at.space.0,
            lane: lane.map(|lane| lane.0),
            address: Hex(at.address.0),
            length: 0,
            bytes: None,
            why: None,
        }
    }
}

/// Number of bytes without `length`.
const LENGTH: u64 = 64;

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let ((session, focus), arguments) = (asked.wave()?, &asked.arguments);
    let (lane, wave) = (asked.one_lane()?, focus.wave);
    // One word may name its lane; a space with an address refers to the focused lane.
    let place = match (arguments.text("at"), arguments.text("space"), asked.address()?) {
        (None, Some(space), Some(address)) => {
            let lane = Some(lane.unwrap_or(focus.lane));
            spaces::parse_place(session, wave, lane, space, &format!("{address:#x}"))?
        }
        (word, ..) => spaces::parse_word(session, wave, lane, word.unwrap_or_default())?,
    };
    let wanted = arguments.number("length").unwrap_or(LENGTH);
    // No read wraps around the address space.
    let length = wanted.min(asked.limit).min((u64::MAX - place.address.0).saturating_add(1));
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    if bytes.is_empty() {
        return Err(QuestionError::Other("no length".to_owned()));
    }
    let name = spaces::place_name(session, place);
    let past_end = |error| match (error, session.size_of_space(place)) {
        (ReadError::NotCaptured { what }, Some(size)) if place.address.0 >= size => {
            ReadError::PastLds { what, size }
        }
        (error, _) => error,
    };
    let read = match session.read(place, &mut bytes).map_err(past_end) {
        Err(
            error @ (ReadError::NotCaptured { .. }
            | ReadError::NoPrivateMemory { .. }
            | ReadError::PastLds { .. }),
        ) if asked.form == Form::Json && arguments.has("at") => {
            let answer =
                MemoryBytes { why: Some(error.to_string()), ..MemoryBytes::at(session, place, name) };
            return Ok(asked.about(answer)?.without_value_if(true));
        }
        Ok(0) => return Err(ReadError::NotCaptured { what: name }.into()),
        read => read?,
    };
    bytes.truncate(read);
    let Form::Text(_) = asked.form else {
        let answer = MemoryBytes::at(session, place, name);
        return asked.about(MemoryBytes { length: read, bytes: Some(hex(&bytes)), ..answer });
    };
    let prefix = name.split_once('#').map_or(String::new(), |(space, _)| format!("{space}#"));
    let mut lines = text::memory(&prefix, place.address.0, &bytes);
    if (read as u64) < length {
        let _ = writeln!(lines, "Captured up to here: {read} of {wanted} bytes.");
    } else if length < wanted {
        let _ = writeln!(lines, "The first {length} of {wanted} bytes.");
    }
    Ok(lines.into())
}
