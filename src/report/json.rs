//! Answers as JSON, for packets and `--json`. docs/protocol.md documents the shapes.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::expression;
use crate::session::{
    Byte, DispatchArguments, LaneInfo, LaneState, LaneStates, LaneValue, Locals, Scope, ValueState, WaveInfo,
    Waves,
};
use crate::units::{LaneId, LaneSet, WaveId};

/// Adds one member to an object; another value stays unchanged.
pub(crate) fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    if let Value::Object(members) = object {
        members.insert(key.to_owned(), value.into());
    }
}

/// A wave: ids, place, PC, EXEC and stop reason.
#[must_use]
pub fn wave(info: &WaveInfo) -> Value {
    let mut answer = json!({
        "thread": info.wave.0 + 1,
        "id": info.id,
        "name": info.name,
        "architecture": info.kind.target.name,
        "lanes": info.kind.wave_size.lanes(),
        "agent": info.agent,
        "queue": info.queue,
        "dispatch": info.dispatch,
        "kernel": info.kernel,
        "coord": info.workgroup,
        "wave_in_group": info.wave_in_group,
        "pc": info.pc.map(|pc| pc.to_string()),
        "exec": info.exec.map(|exec| format!("{:#x}", exec.0)),
        "stop_reasons": info.stop,
        "cause": info.cause,
        "signal": info.signal,
    });
    set_marks(&mut answer, info);
    answer
}

/// An answer about a wave: `unconfirmed` has the reason why its values may be wrong, `unchecked` the values that
/// nothing confirms.
#[must_use]
pub fn marked(session: &dyn Waves, wave: WaveId, mut answer: Value) -> Value {
    if let Ok(info) = session.wave(wave) {
        set_marks(&mut answer, &info);
    }
    answer
}

fn set_marks(answer: &mut Value, info: &WaveInfo) {
    for (key, words) in [("unconfirmed", &info.unconfirmed), ("unchecked", &info.unchecked)] {
        if let Some(words) = words {
            set(answer, key, words.as_str());
        }
    }
}

/// An object with one list as its only member, whose items are built while they are written.
#[derive(Debug)]
pub struct StreamedList<F> {
    /// The name of the list.
    pub key: &'static str,
    /// Builds the items.
    pub items: F,
}

/// An array whose items are built while they are written.
pub(crate) struct StreamedItems<F>(pub(crate) F);

impl<I: Iterator<Item = Value>, F: Fn() -> I> Serialize for StreamedItems<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

impl<I: Iterator<Item = Value>, F: Fn() -> I> Serialize for StreamedList<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.key, &StreamedItems(&self.items))?;
        map.end()
    }
}

/// The kernel arguments of a dispatch.
#[must_use]
pub fn arguments(of: &DispatchArguments) -> Value {
    let each = of.arguments.iter().map(|argument| {
        let bytes: String = argument.bytes.iter().map(ToString::to_string).collect();
        json!({
            "name": argument.name,
            "type": argument.type_name,
            "offset": argument.offset,
            "size": argument.size,
            "kind": argument.kind,
            "address_space": argument.address_space,
            "hidden": argument.hidden,
            "bytes": bytes,
            "value": argument.value,
        })
    });
    json!({
        "dispatch": of.dispatch,
        "kernel": of.kernel,
        "kernarg": of.kernarg.map(|address| address.to_string()),
        "size": of.size,
        "arguments": each.collect::<Vec<_>>(),
        "problem": of.problem.as_ref().map(ToString::to_string),
    })
}

/// Lanes of a wave; `focus`: the focused one.
#[must_use]
pub fn lanes(wave: WaveId, lanes: &[LaneInfo], focus: LaneId) -> Value {
    let each = lanes.iter().map(|lane| {
        json!({
            "lane": lane.lane.0,
            "state": lane.state.map(LaneState::name),
            "local_id": lane.local_id,
            "global_id": lane.global_id,
            "focused": lane.lane == focus,
            "pc": lane.at.pc.map(|pc| pc.to_string()),
            "pc_from": lane.at.from.name(),
            "function": lane.at.function,
            "file": lane.at.file,
            "line": lane.at.line,
            "physical": lane.at.physical,
        })
    });
    json!({ "thread": wave.0 + 1, "lanes": each.collect::<Vec<_>>() })
}

/// The PC of a lane, with its source or the reason of its absence.
#[must_use]
pub fn lane_pc(wave: WaveId, of: &LaneInfo) -> Value {
    json!({
        "thread": wave.0 + 1,
        "lane": of.lane.0,
        "state": of.state.map(LaneState::name),
        "pc": of.at.pc.map(|pc| pc.to_string()),
        "from": of.at.from.name(),
        "why": of.at.from.to_string(),
        "function": of.at.function,
        "file": of.at.file,
        "line": of.at.line,
        "physical": of.at.physical,
    })
}

/// Variables of a frame, lane by lane.
#[must_use]
pub fn locals(locals: &Locals) -> Value {
    let mut answer = locals_head(locals);
    set(&mut answer, VARIABLES, locals.variables.iter().map(|of| variable(of, locals)).collect::<Vec<_>>());
    answer
}

/// Index of the variables among the members of [`locals`].
const VARIABLES: &str = "variables";

/// [`locals`] with `null` in place of the variables.
#[must_use]
pub fn locals_head(locals: &Locals) -> Value {
    json!({
        "thread": locals.wave.0 + 1,
        "frame": locals.frame,
        "pc": locals.pc.to_string(),
        "function": locals.function,
        "file": locals.file,
        "line": locals.line,
        VARIABLES: null,
        "problems": locals.problems,
    })
}

/// The members of a head of [`locals_head`] with the variables at their place, each built while it is written: the
/// values of thousands of variables in 64 lanes take a thousand times their text.
#[derive(Debug)]
pub struct StreamedLocals {
    /// The head, possibly with further members.
    pub head: Value,
    /// The variables of the head.
    pub locals: Locals,
}

impl Serialize for StreamedLocals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Variables<'a>(&'a Locals);
        impl Serialize for Variables<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.0.variables.iter().map(|of| variable(of, self.0)))
            }
        }
        let members = self.head.as_object().into_iter().flatten();
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in members {
            if key == VARIABLES {
                map.serialize_entry(key, &Variables(&self.locals))?;
            } else {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// A variable of [`locals`].
fn variable(variable: &crate::session::Variable, of: &Locals) -> Value {
    json!({
        "name": variable.name,
        "scope": match variable.scope {
            Scope::Argument => "argument",
            Scope::Local => "local",
            Scope::Static => "static",
            Scope::Global => "global",
        },
        "type": variable.type_name,
        "size": variable.size,
        "line": variable.line,
        "lanes": variable.lanes.iter().map(|lane| lane_value(lane, &of.states)).collect::<Vec<_>>(),
    })
}

pub(super) fn lane_value(lane: &LaneValue, states: &LaneStates) -> Value {
    let (state, value, why) = match &lane.state {
        ValueState::Value(value) => ("ok", Some(&**value), None),
        ValueState::OptimizedOut(why) => ("optimized_out", None, Some(why)),
        ValueState::Unavailable(why) => ("unavailable", None, Some(why)),
        ValueState::Error(why) => ("error", None, Some(why)),
    };
    let mut answer = json!({
        "lane": lane.lane.0,
        "lane_state": states.of(lane.lane).map(LaneState::name),
        "state": state,
        "value": value,
        "why": why,
        "location": lane.location(),
        "parts": lane.place().and_then(|place| Some(expression::location(&place, lane.lane).get_mut("parts")?.take())),
        "legacy": lane.idiom().is_some(),
        "bytes": byte_text(&lane.bytes),
    });
    let marks = super::text::marks(lane.of, states);
    if !marks.is_empty() {
        let mark = |(lanes, state): &(LaneSet, LaneState)| json!({ "lanes": lanes.iter().map(|lane| lane.0).collect::<Vec<_>>(), "lane_state": state.name() });
        set(&mut answer, "marks", marks.iter().map(mark).collect::<Vec<_>>());
    }
    answer
}

/// Two digits a byte (see [`Byte`]'s words); `None` without bytes.
fn byte_text(bytes: &[Byte]) -> Option<String> {
    (!bytes.is_empty()).then(|| bytes.iter().flat_map(|byte| byte.digits()).collect())
}
