//! Our own packets: `qlanescope.NAME[:key:value;...]`, with answers in JSON. docs/protocol.md is their manual.
//!
//! The manual's rule for vendors: a name that no other packet begins with, announced in `qSupported`. Each packet is
//! safe at any time. An error is JSON as well, `{"error": WORDS}`, so that a program reads one language.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::error::{MALFORMED, PacketError};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::super::threads::Thread;
use super::super::{Flow, MAX_READ, PACKET_SIZE};
use super::documents;
use crate::arch::SpaceScope;
use crate::codeobject::hex;
use crate::dwarf::Dialect;
use crate::report::{evaluation, json, spaces, stack};
use crate::session::{Expression, LaneStack, Question, ReadError, Want};
use crate::units::{LaneId, LaneSet, WaveId};

/// The version of this dialect; an incompatible change increments it.
const DIALECT: u32 = 1;

/// `qlanescope.Version`
pub(crate) fn version(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, PacketError> {
    let kind = state.session.kind();
    let answer = json!({
        "name": "lanescope",
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": DIALECT,
        "client": state.facade().to_string(),
        "dump": state.session.name(),
        "architecture": kind.target.name,
        "lanes": kind.wave_size.lanes(),
        "waves": state.waves.len(),
        "threads": state.threads.all().len(),
        "lane_threads": state.threads.lanes(),
        "notices": state.notices(),
    });
    send(Ok(answer), reply)
}

/// `qlanescope.Waves[:first:INDEX;count:N;]`
pub(crate) fn waves(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let args = only(request.args, &[b"first", b"count"]);
    send(args.and_then(|()| waves_json(state, request.args)), reply)
}

/// `qlanescope.Lanes[:thread:ID;]`
pub(crate) fn lanes(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let answer = named(state, request.args, &[b"thread"]).and_then(|thread| lanes_json(state, thread));
    send(answer, reply)
}

/// `qlanescope.Memory:space:NAME;address:N;length:N;[thread:ID;][lane:N;]`
pub(crate) fn memory(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let args = only(request.args, &[b"space", b"address", b"length", b"thread", b"lane"]);
    let answer = args.and_then(|()| memory_json(state, request.args));
    send(answer, reply)
}

/// `qlanescope.Locals[:thread:ID;][lane:N;][frame:N;]`, `lane:all;` and `lane:active;` for several lanes.
pub(crate) fn locals(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let (lane, frame) = (value(request.args, b"lane"), value(request.args, b"frame"));
    let of = named(state, request.args, &[b"thread", b"lane", b"frame"]);
    let answer = of.and_then(|thread| locals_json(state, thread, lane, frame));
    send(answer, reply)
}

/// `qlanescope.Frames[:thread:ID;][lane:N;][frame:N;]`, `lane:all;` and `lane:active;` for several lanes.
pub(crate) fn frames(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let (lane, frame) = (value(request.args, b"lane"), value(request.args, b"frame"));
    let of = named(state, request.args, &[b"thread", b"lane", b"frame"]);
    let answer = of.and_then(|thread| frames_json(state, thread, lane, frame));
    send(answer, reply)
}

/// `qlanescope.Evaluate:expression:HEX;` (text) or `bytes:HEX;`, with `thread:ID;`, `lane:N;`, `size:N;` and more.
pub(crate) fn evaluate(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let keys: &[&[u8]] = &[b"expression", b"bytes", b"thread", b"lane", b"as", b"size", b"dialect"];
    let of = named(state, request.args, keys);
    let answer = of.and_then(|thread| evaluate_json(state, thread, request.args));
    send(answer, reply)
}

/// `qlanescope.CodeObjects`
pub(crate) fn code_objects(
    state: &mut State,
    _: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    send(Ok(code_objects_json(state)), reply)
}

pub(super) fn waves_json<'s>(state: &'s State, args: &[u8]) -> Result<impl Serialize + use<'s>, PacketError> {
    let first = number_of(args, b"first")?.unwrap_or(0);
    let count = number_of(args, b"count")?.unwrap_or(u64::MAX);
    let index = |number| usize::try_from(number).unwrap_or(usize::MAX);
    let (first, count) = (index(first), index(count));
    let item = |wave: &WaveId| {
        let mut json = match state.session.wave(*wave) {
            Ok(info) => json::wave(&info),
            Err(why) => json!({"thread": wave.0 + 1, "error": why.to_string()}),
        };
        if state.threads.are_counted() {
            let of = state.threads.of_wave(*wave);
            set(&mut json, "thread", json!(of.map(|(first, _)| first)));
            set(&mut json, "threads", json!(of));
        }
        json
    };
    let items = move || state.waves.iter().skip(first).take(count).map(item);
    Ok(json::StreamedList { key: "waves", items })
}

/// An answer about a thread, under its number.
pub(super) fn about(state: &State, thread: Thread, mut answer: Value) -> Value {
    set(&mut answer, "thread", json!(state.number(thread)));
    json::marked(state.session.as_ref(), thread.wave, answer)
}

/// Sets a member of an object.
fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

pub(super) fn lanes_json(state: &State, thread: Thread) -> Result<Value, PacketError> {
    let lanes = json::lanes_of(state.session.as_ref(), thread.wave, state.lane(thread))?;
    Ok(about(state, thread, lanes))
}

pub(super) fn locals_json(
    state: &State,
    thread: Thread,
    lane: Option<&[u8]>,
    frame: Option<&[u8]>,
) -> Result<json::StreamedLocals, PacketError> {
    let frame = frame_of(frame)?;
    let lanes = lanes_of(state, thread, lane, frame)?;
    let locals = state.session.locals(thread.wave, lanes, frame)?;
    Ok(json::StreamedLocals { head: about(state, thread, json::locals_head(&locals)), locals })
}

/// The number of a frame; 0 if none is given.
pub(super) fn frame_of(frame: Option<&[u8]>) -> Result<usize, PacketError> {
    let Some(frame) = frame else { return Ok(0) };
    let number = parse::number(frame).ok_or(PacketError::malformed("not a frame"))?;
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Without a lane it is the stack of the wave, or of the thread's lane.
pub(super) fn frames_json(
    state: &State,
    thread: Thread,
    lane: Option<&[u8]>,
    frame: Option<&[u8]>,
) -> Result<Value, PacketError> {
    let (wave, first) = (thread.wave, frame_of(frame)?);
    let answer = match lane {
        Some(b"all" | b"active") => {
            let lanes = lanes_of(state, thread, lane, 0)?;
            let stacks = LaneStack::from_frame(state.session.lane_stacks(wave, lanes)?, first)?;
            stack::lanes_json(wave, &stacks)
        }
        lane => {
            let lane = match lane {
                None => thread.lane,
                lane => lanes_of(state, thread, lane, 0)?.first(),
            };
            stack::json(&state.session.backtrace(wave, lane)?.from_frame(first)?)
        }
    };
    Ok(about(state, thread, answer))
}

fn evaluate_json(state: &State, thread: Thread, args: &[u8]) -> Result<Value, PacketError> {
    let lanes = lanes_of(state, thread, value(args, b"lane"), 0)?;
    let bytes = |hex: &[u8]| parse::bytes(hex).ok_or(PacketError::malformed("not hex digits in pairs"));
    let expression = match (value(args, b"expression"), value(args, b"bytes")) {
        (Some(text), None) => {
            let text = String::from_utf8(bytes(text)?);
            Expression::Text(text.map_err(|_| PacketError::malformed("the expression is not UTF-8"))?)
        }
        (None, Some(hex)) => Expression::Bytes(bytes(hex)?),
        _ => return Err(PacketError::malformed("either expression or bytes is needed")),
    };
    let dialect = value(args, b"dialect").map(|name| {
        let name = String::from_utf8_lossy(name);
        Dialect::named(&name).ok_or_else(|| PacketError::new(MALFORMED, format!("no dialect {name}")))
    });
    let want = match value(args, b"as") {
        None | Some(b"location") => Want::Location { size: number_of(args, b"size")?, legacy: false },
        Some(b"value") => Want::Value,
        Some(_) => return Err(PacketError::malformed("as: location or value")),
    };
    let question = Question { expression, dialect: dialect.transpose()?, want, explain: false };
    let evaluation = state.session.evaluate(thread.wave, lanes, &question)?;
    Ok(about(state, thread, evaluation::json(&evaluation)))
}

/// The lanes of `lane:N;`, `lane:all;` or `lane:active;`, else the thread's; active in that frame.
pub(super) fn lanes_of(
    state: &State,
    thread: Thread,
    lane: Option<&[u8]>,
    frame: usize,
) -> Result<LaneSet, PacketError> {
    let size = state.session.wave(thread.wave)?.kind.wave_size;
    match lane {
        None | Some(b"") => Ok(LaneSet::one(state.lane(thread))),
        Some(b"all") => Ok(size.all()),
        Some(b"active") => Ok(state.session.active_lanes(thread.wave, frame)?),
        Some(lane) => {
            let lane = lane_of(lane)?;
            if !size.has(lane) {
                return Err(ReadError::NoSuchLane { lane, lanes: size.lanes() }.into());
            }
            Ok(LaneSet::one(lane))
        }
    }
}

pub(super) fn code_objects_json(state: &State) -> Value {
    let objects = state.session.code_objects();
    let objects = objects.iter().map(|object| {
        json!({
            "name": object.name,
            "uri": object.uri,
            "address": object.address.to_string(),
            "size": object.size,
            "problem": object.problem(),
        })
    });
    json!({ "code_objects": objects.collect::<Value>() })
}

fn memory_json(state: &mut State, args: &[u8]) -> Result<Value, PacketError> {
    let thread = thread(state, args)?;
    let lane = value(args, b"lane").map(lane_of).transpose()?.unwrap_or_else(|| state.lane(thread));
    let missing = || PacketError::malformed("space, address and length are needed");
    let space = String::from_utf8_lossy(value(args, b"space").ok_or_else(missing)?).into_owned();
    let address = number_of(args, b"address")?.ok_or_else(missing)?;
    let length = number_of(args, b"length")?.ok_or_else(missing)?;
    // Numbers in packets are hex without a prefix; a person's hex numbers have one.
    let space = match parse::number(space.as_bytes()) {
        Some(number) => format!("{number:#x}"),
        None => space,
    };
    let address = format!("{address:#x}");
    let place = spaces::parse_place(state.session.as_ref(), thread.wave, Some(lane), &space, &address);
    let place = place.map_err(|error| PacketError::new(MALFORMED, error.to_string()))?;
    // Each byte is two digits, and the rest of the answer takes some capacity too.
    let read = super::memory::read_place(state, place, length.min(MAX_READ as u64 - 1024))?;
    let kind = state.session.kind();
    // A space that names its lane answers for that lane, whatever `lane` is beside it.
    let lane = match kind.target.space(place.space).map(|space| space.scope) {
        Some(SpaceScope::LaneN(lane)) => Some(lane),
        Some(SpaceScope::Lane | SpaceScope::Generic) => place.lane,
        _ => None,
    };
    Ok(json!({
        "space": kind.target.space(place.space).map(|space| &space.name),
        "space_id": place.space.0,
        "thread": state.number(thread),
        "lane": lane.map(|lane| lane.0),
        "address": place.address.to_string(),
        "length": read,
        "bytes": hex(state.buffer.get(..read).unwrap_or_default()),
    }))
}

/// The thread of `thread:ID;`, else the selected one.
pub(super) fn thread(state: &State, args: &[u8]) -> Result<Thread, PacketError> {
    Ok(state.named_in(args)?.unwrap_or(state.selected()))
}

/// The same for a packet with no keys beyond those.
pub(super) fn named(state: &State, args: &[u8], keys: &[&[u8]]) -> Result<Thread, PacketError> {
    only(args, keys)?;
    thread(state, args)
}

/// Rejects other keys than those, and repeated ones: a silently ignored key would mislead.
pub(super) fn only(args: &[u8], keys: &[&[u8]]) -> Result<(), PacketError> {
    let said = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
    for (index, (key, _)) in parse::pairs(args).enumerate() {
        if !keys.contains(&key) {
            let known: Vec<String> = keys.iter().map(|key| said(key)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(PacketError::new(MALFORMED, format!("no key {}: there are {known}", said(key))));
        }
        if parse::pairs(args).take(index).any(|(before, _)| before == key) {
            return Err(PacketError::new(MALFORMED, format!("the key {} stands twice", said(key))));
        }
    }
    Ok(())
}

/// The value of a key among `key:value;` pairs.
pub(super) fn value<'a>(args: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    parse::pairs(args).find(|(name, _)| *name == key).map(|(_, value)| value)
}

pub(super) fn number_of(args: &[u8], key: &'static [u8]) -> Result<Option<u64>, PacketError> {
    let number =
        value(args, key).map(|value| parse::number(value).ok_or(PacketError::malformed("not a hex number")));
    number.transpose()
}

pub(super) fn lane_of(text: &[u8]) -> Result<LaneId, PacketError> {
    let lane = parse::number(text).and_then(|lane| u8::try_from(lane).ok());
    lane.map(LaneId).ok_or(PacketError::malformed("not a lane"))
}

/// Sends an answer, or the reason of its absence, in one packet.
pub(super) fn send(
    answer: Result<impl Serialize, PacketError>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let text = match answer {
        Ok(answer) => documents::json(&answer, PACKET_SIZE),
        Err(fault) => documents::json(&json!({ "error": fault.words }), PACKET_SIZE),
    };
    reply.escaped(text.as_deref().unwrap_or_default());
    if text.is_none() || reply.body().len() > PACKET_SIZE {
        reply.clear();
        let words = "the answer does not fit one packet: ask for less, or read the object with qXfer:lanescope-...:read";
        reply.escaped(json!({ "error": words }).to_string().as_bytes());
    }
    Ok(Flow::Continue)
}
