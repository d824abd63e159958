//! The table of questions as packets, `qlanescope.NAME[:key:value;...]`, and as objects,
//! `qXfer:lanescope-NAME:read:ANNEX:OFFSET,LENGTH`. docs/protocol.md is their manual.

use super::super::MAX_READ;
use super::super::error::{MALFORMED, NO_WAVE, NOT_THERE, PacketError};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::super::threads::Thread;
use super::vendor::{only, send};
use super::xfer;
use crate::questions::{
    ArgumentError, Arguments, Asked, Body, Focus, Form, Lanes, Numbering, Parameter, Question, QuestionError,
    Subject, Takes, Value,
};
use crate::report::groups::number_list;
use crate::session::Member;
use crate::triage::Step;
use crate::units::WaveId;

/// Maximum bytes of memory in an answer: each takes two digits, and the rest of the answer some capacity too.
const MAX_BYTES: u64 = MAX_READ as u64 - 1024;

impl Numbering for State {
    fn thread(&self, focus: &Focus) -> u64 {
        self.number(Thread { wave: focus.wave, lane: focus.own })
    }

    fn threads(&self, wave: WaveId) -> Option<(u64, u64)> {
        self.threads.of_wave(wave)
    }

    fn are_lanes(&self) -> bool {
        self.threads.are_counted()
    }

    fn members(&self, member: &Member) -> Vec<u64> {
        if !self.threads.are_counted() {
            return vec![self.number(Thread::wave(member.wave))];
        }
        let Some((first, last)) = self.threads.of_wave(member.wave) else { return Vec::new() };
        let of_group = |number: &u64| match (self.threads.get(*number), member.lanes) {
            (Some(Thread { lane: Some(lane), .. }), Some(lanes)) => lanes.contains(lane),
            _ => true,
        };
        (first..=last).filter(of_group).collect()
    }

    fn wave(&self, member: &Member) -> u64 {
        // If threads are lanes, a wave's only number is the one in its lanes' names.
        match self.threads.are_counted() {
            true => u64::from(member.id),
            false => self.shown(Thread::wave(member.wave)),
        }
    }

    fn noun(&self) -> &'static str {
        if self.threads.are_counted() { "wave" } else { "thread" }
    }

    fn listed(&self, wave: WaveId) -> Option<String> {
        let shown = |index: usize| self.threads.all().get(index).map_or(0, |thread| self.shown(*thread));
        Some(match self.threads.range(wave) {
            (start, end) if start + 1 == end => shown(start).to_string(),
            (start, end) if start < end => number_list((start..end).map(shown).collect()),
            _ => "-".to_owned(),
        })
    }

    fn command(&self, step: &Step) -> Option<String> {
        let about = |wave: WaveId, words: &str| {
            let (start, end) = self.threads.range(wave);
            let first = self.threads.all().get(start).filter(|_| start < end)?;
            Some(format!("thread {} {words}", self.shown(*first)))
        };
        let of_frame = |frame: usize| if frame > 0 { format!(" frame {frame}") } else { String::new() };
        let words = match *step {
            Step::Locals { wave, lane, frame, .. } => {
                let lane = lane.map_or_else(String::new, |lane| format!(" {lane}"));
                about(wave, &format!("locals{lane}{}", of_frame(frame)))
            }
            Step::Registers { wave, .. } => about(wave, "registers scalar"),
            Step::Instructions { wave, around, frame, .. } => {
                about(wave, &format!("disassemble around {around}{}", of_frame(frame)))
            }
            Step::Wave { wave, .. } => about(wave, "triage"),
            Step::Hang => Some("triage hang".to_owned()),
            Step::Groups => Some("groups".to_owned()),
            Step::Info | Step::Log | Step::Debugger => None,
        }?;
        Some(format!("{} {words}", self.facade().monitor()))
    }
}

/// The thread that a question is about: the named one, or the selected one. `None`: the whole dump.
pub(super) fn subject(state: &State, question: &Question, named: Option<Thread>) -> Option<Thread> {
    match question.subject {
        Subject::Dump | Subject::Waves => None,
        Subject::NamedWave => named,
        Subject::Marked | Subject::Wave | Subject::WaveUnless(_) => Some(named.unwrap_or(state.selected())),
    }
}

/// A question about a thread, or about the dump.
pub(super) fn asked(
    state: &State,
    thread: Option<Thread>,
    arguments: Arguments,
    form: Form,
    limit: u64,
) -> Asked<'_> {
    let focus = |thread: Thread| Focus { wave: thread.wave, lane: state.lane(thread), own: thread.lane };
    Asked {
        sessions: vec![state.session.as_ref()],
        dump: None,
        is_chosen: false,
        focus: thread.map(focus),
        numbering: state,
        arguments,
        form,
        limit,
    }
}

/// `qlanescope.NAME[:thread:ID;][key:value;...]`
pub(crate) fn packet(
    question: &Question,
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Handled {
    // A client that asks for instructions reads code as data.
    state.code.asks_for_instructions |= question.packet == Some("qlanescope.Disassemble");
    let answer = paired(state, question, request.args).and_then(|(named, arguments)| {
        match json(state, question, named, arguments) {
            // The position of the error is a separate value.
            Err(error @ (QuestionError::Path { .. } | QuestionError::Expression { .. })) => {
                Ok(Body::json(error.json()))
            }
            answer => Ok(answer?),
        }
    });
    send(answer, reply)
}

/// `qXfer:lanescope-NAME:read:[THREAD.]ARGUMENT.ARGUMENT:OFFSET,LENGTH`
pub(crate) fn document(
    question: &Question,
    annex: &[&str],
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Handled {
    xfer::own(state, request, reply, |state, text| {
        let (named, arguments) = annexed(state, question, annex, text)?;
        xfer::document(Ok(json(state, question, named, arguments)?))
    })
}

fn json<'s>(
    state: &'s State,
    question: &Question,
    named: Option<Thread>,
    arguments: Arguments,
) -> Result<Body<'s>, QuestionError> {
    let asked = asked(state, subject(state, question, named), arguments, Form::Json, MAX_BYTES);
    Ok((question.answer)(&asked)?.body)
}

/// The parameters that packets have.
fn keys(question: &Question) -> impl Iterator<Item = &Parameter> + Clone {
    question.parameters.iter().filter(|parameter| parameter.is_key)
}

/// Whether packets about a question name a thread.
fn has_thread(question: &Question) -> bool {
    matches!(question.subject, Subject::Wave | Subject::NamedWave)
}

/// The named thread and the arguments of `key:value;` pairs.
fn paired(
    state: &State,
    question: &Question,
    args: &[u8],
) -> Result<(Option<Thread>, Arguments), PacketError> {
    let thread = has_thread(question).then_some("thread");
    let known: Vec<&str> = thread.into_iter().chain(keys(question).map(|parameter| parameter.name)).collect();
    only(args, &known)?;
    let mut arguments = Arguments::default();
    for (key, value) in parse::pairs(args) {
        if let Some(parameter) = keys(question).find(|parameter| parameter.name.as_bytes() == key) {
            packed(parameter, value, &mut arguments)?;
        }
    }
    Ok((state.named_in(args)?, complete(question, arguments)?))
}

/// The named thread and the arguments of an annex; a part may be empty.
fn annexed(
    state: &State,
    question: &Question,
    annex: &[&str],
    text: &[u8],
) -> Result<(Option<Thread>, Arguments), PacketError> {
    let (thread, parts) = match has_thread(question) {
        true => parse::split(text, b'.'),
        false => (&b""[..], Some(text)),
    };
    let mut parts = parts.unwrap_or_default().split(|byte| *byte == b'.');
    let named = if thread.is_empty() { None } else { state.named(thread)? };
    let mut arguments = Arguments::default();
    for name in annex {
        let part = parts.next().filter(|part| !part.is_empty());
        let parameter = keys(question).find(|parameter| parameter.name == *name);
        let Some((parameter, part)) = parameter.zip(part) else { continue };
        // A flag is its name.
        let part = match parameter.takes {
            Takes::Flag if part == name.as_bytes() => b"1",
            Takes::Flag => return Err(xfer::no_such_annex()),
            _ => part,
        };
        packed(parameter, part, &mut arguments)?;
    }
    if parts.any(|part| !part.is_empty()) {
        return Err(xfer::no_such_annex());
    }
    Ok((named, complete(question, arguments)?))
}

/// Checks that no argument excludes another one and that none is missing; a missing text is needed in hex.
fn complete(question: &Question, arguments: Arguments) -> Result<Arguments, PacketError> {
    arguments.complete(keys(question)).map_err(|error| {
        let mut needed = keys(question).filter(|parameter| parameter.is_needed);
        match error {
            ArgumentError::Needed(words) if needed.any(|parameter| parameter.takes == Takes::Text) => {
                PacketError::new(MALFORMED, format!("{words}, in hex"))
            }
            error => QuestionError::from(error).into(),
        }
    })
}

/// Adds an argument in the notation of packets: numbers, texts and bytes in hex.
fn packed(parameter: &Parameter, value: &[u8], arguments: &mut Arguments) -> Result<(), PacketError> {
    let malformed = |words: &'static str| PacketError::malformed(words);
    let word = || String::from_utf8_lossy(value).into_owned();
    let bytes = || parse::bytes(value).ok_or(malformed("not hex digits in pairs"));
    let number = |words| parse::number(value).ok_or(malformed(words)).map(Value::Number);
    let value = match parameter.takes {
        Takes::Flag => match value {
            b"0" => return Ok(()),
            b"1" => Value::Set,
            _ => return Err(PacketError::new(MALFORMED, format!("{}: 0 or 1", parameter.name))),
        },
        Takes::Number | Takes::Address | Takes::Count => number("not a hex number")?,
        Takes::Frame => number("not a frame")?,
        Takes::Lanes => match value {
            b"" => return Ok(()),
            b"all" => Value::Lanes(Lanes::All),
            b"active" => Value::Lanes(Lanes::Active),
            value => {
                let lane = parse::number(value).and_then(|lane| u8::try_from(lane).ok());
                let lane = u32::from(lane.ok_or(malformed("not a lane"))?);
                Value::Lanes(Lanes::Listed(vec![lane..=lane]))
            }
        },
        Takes::Space => match parse::number(value) {
            Some(number) => Value::Text(format!("{number:#x}")),
            None => Value::Text(word()),
        },
        Takes::Text => Value::Text(
            String::from_utf8(bytes()?)
                .map_err(|_| PacketError::new(MALFORMED, format!("the {} is not UTF-8", parameter.name)))?,
        ),
        Takes::Bytes => Value::Bytes(bytes()?),
        Takes::Choice(_) | Takes::Letter | Takes::Word | Takes::Names => {
            parameter.typed(&word()).map_err(QuestionError::from)?
        }
    };
    Ok(arguments.add(parameter, value).map_err(QuestionError::from)?)
}

impl From<QuestionError> for PacketError {
    fn from(error: QuestionError) -> Self {
        let code = match error {
            QuestionError::Read(error) => return error.into(),
            QuestionError::Disassemble(error) => return error.into(),
            QuestionError::Evaluate(error) => return error.into(),
            QuestionError::NoWaves => NO_WAVE,
            QuestionError::NoActiveLanes | QuestionError::UnknownDispatch => NOT_THERE,
            _ => MALFORMED,
        };
        Self::new(code, error.to_string())
    }
}
