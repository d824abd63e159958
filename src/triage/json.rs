//! The analysis as JSON: `lanescope.triage/1`. docs/triage.md documents the members and their stability.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value, json};

use super::{
    Cause, Confidence, Evidence, GroupWait, Hang, IndexRule, MissingData, Neighbour, Pattern, PatternOf,
    PolledValue, Scene, SourceAt, Suspect, Term, Triage, Variable, WaveWait,
};
use crate::capture::{Fault, PAGE};
use crate::isa::Direction;
use crate::notation::ranges;
use crate::report::fault;
use crate::report::json::{StreamedItems, set};
use crate::session::Inspect;
use crate::units::{LaneSet, WaveId};

/// The name and version of the schema. A member is never removed or changed within a version.
pub const SCHEMA: &str = "lanescope.triage/1";

/// Names of members whose values are built while they are written.
const HANG: &str = "hang";
const GROUPS: &str = "groups";
const WAVES: &str = "waves";

/// The analysis.
#[must_use]
pub fn json(triage: &Triage, scene: &Scene<'_>) -> Value {
    let mut value = head(triage, scene);
    set(&mut value, HANG, triage.hang.as_ref().map(|hang| self::hang(hang, scene)));
    value
}

/// [`json`], with the states of a hang built while they are written: they take many times the memory of the waves.
pub struct StreamedTriage<'a> {
    /// The other members of the analysis, possibly with further ones.
    pub head: Value,
    hang: Option<Hang>,
    sessions: Vec<&'a dyn Inspect>,
}

impl std::fmt::Debug for StreamedTriage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamedTriage").field("head", &self.head).finish_non_exhaustive()
    }
}

impl<'a> StreamedTriage<'a> {
    /// The analysis of sessions.
    #[must_use]
    pub fn new(triage: Triage, sessions: &[&'a dyn Inspect]) -> Self {
        let head = head(&triage, &Scene::new(sessions));
        Self { head, hang: triage.hang, sessions: sessions.to_vec() }
    }
}

impl Serialize for StreamedTriage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.head.as_object().into_iter().flatten() {
            match self.hang.as_ref().filter(|_| key == HANG) {
                Some(hang) => {
                    map.serialize_entry(key, &StreamedHang { hang, scene: Scene::new(&self.sessions) })?;
                }
                None => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

/// [`hang`], with its lists built while they are written.
struct StreamedHang<'a> {
    hang: &'a Hang,
    scene: Scene<'a>,
}

impl Serialize for StreamedHang<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (hang, scene) = (self.hang, &self.scene);
        let head = hang_head(hang);
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in head.as_object().into_iter().flatten() {
            match key.as_str() {
                GROUPS => {
                    let groups = StreamedItems(|| hang.groups.iter().map(|of| group(of, scene)));
                    map.serialize_entry(key, &groups)?;
                }
                WAVES => {
                    let waves = StreamedItems(|| hang.waves.iter().map(|of| wait(of, scene)));
                    map.serialize_entry(key, &waves)?;
                }
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

/// The analysis with `null` in place of the hang.
fn head(triage: &Triage, scene: &Scene<'_>) -> Value {
    json!({
        "schema": SCHEMA,
        "sentence": super::page::sentence(triage, scene),
        "cause": triage.cause.as_ref().map(|cause| self::cause(cause, scene)),
        "accesses": triage.suspects.iter().map(|suspect| access(suspect, scene)).collect::<Vec<_>>(),
        "fault": triage.faults.first().map(self::fault),
        "faults": triage.faults.iter().map(self::fault).collect::<Vec<_>>(),
        "waves": stops(triage, scene),
        HANG: null,
        "missing": triage.missing.iter().map(missing).collect::<Vec<_>>(),
    })
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}

fn lanes(lanes: LaneSet) -> Vec<u8> {
    lanes.iter().map(|lane| lane.0).collect()
}

/// Ids of waves as runs of first and last.
fn runs(waves: &[WaveId], scene: &Scene<'_>) -> Vec<(u64, u64)> {
    let mut ids: Vec<u32> = waves.iter().map(|wave| scene.id(*wave)).collect();
    ids.sort_unstable();
    ranges(ids)
}

fn ids(waves: &[WaveId], scene: &Scene<'_>) -> Vec<u32> {
    waves.iter().map(|wave| scene.id(*wave)).collect()
}

fn place(at: &SourceAt) -> Value {
    json!({ "function": at.function, "file": at.file, "line": at.line, "text": at.text })
}

/// A suspected access.
fn access(of: &Suspect, scene: &Scene<'_>) -> Value {
    let key = |lane: Option<crate::units::LaneId>| {
        lane.map_or_else(|| "scalar".to_owned(), |lane| lane.0.to_string())
    };
    let addresses: Map<String, Value> =
        of.addresses.iter().map(|of| (key(of.lane), hex(of.global.unwrap_or(of.address)).into())).collect();
    let space = of.addresses.first().and_then(|first| scene.space(of.wave, first.space));
    let unknown =
        of.unknown.as_ref().map(|of| json!({ "lanes": lanes(of.lanes), "reason": of.reason.to_string() }));
    let mut value = json!({
        "wave": scene.id(of.wave),
        "pc": of.pc.to_string(),
        "instruction": hex(of.instruction),
        "text": of.text,
        "distance": of.distance,
        "access": direction(of.access.direction),
        "size": of.access.bytes,
        "lanes": lanes(of.lanes),
        "lanes_are_bound": of.is_bound,
        "addresses": addresses,
        "space": space.unwrap_or_else(|| "global".to_owned()),
        "unknown": unknown,
        "confidence": confidence(of.confidence),
        "reasons": of.evidence.iter().map(Evidence::to_string).collect::<Vec<_>>(),
        "patterns": of.patterns.iter().map(pattern).collect::<Vec<_>>(),
        "also": runs(&of.also, scene),
        "function": of.at.function,
        "file": of.at.file,
        "line": of.at.line,
        "source": of.at.text,
    });
    let term = of.term.as_ref();
    set(&mut value, "expression", term.map(|term| term.expression.as_str()));
    set(&mut value, "variable", term.map(|term| term.pointer.name.as_str()));
    set(&mut value, "index", term.and_then(first_index));
    set(&mut value, "term", term.map(self::term));
    value
}

/// The index in the first lane.
fn first_index(term: &Term) -> Option<i64> {
    match &term.index {
        IndexRule::Constant(index) | IndexRule::Scalar(index) => Some(*index),
        IndexRule::Linear { first, .. } => Some(*first),
        IndexRule::Listed(by_lane) => by_lane.first().map(|(_, index)| *index),
    }
}

fn term(of: &Term) -> Value {
    let variables = |all: &[Variable]| all.iter().map(variable).collect::<Vec<_>>();
    json!({
        "expression": of.expression,
        "pointer": variable(&of.pointer),
        "element_size": of.element,
        "index": index(&of.index),
        "index_variables": variables(&of.equal),
        "bounds": variables(&of.bounds),
        "declared": of.declared.map(|declared| json!({ "first": declared.first, "count": declared.count })),
        "allocation": of.allocation.as_ref().map(allocation),
        "alternatives": of.alternatives,
        "inferred": of.is_inferred,
    })
}

fn variable(of: &Variable) -> Value {
    json!({ "name": of.name, "value": of.value, "kind": of.kind })
}

fn index(rule: &IndexRule) -> Value {
    match rule {
        IndexRule::Constant(value) => json!({ "rule": "constant", "value": value }),
        IndexRule::Scalar(value) => json!({ "rule": "scalar", "value": value }),
        IndexRule::Linear { first, from, step } => {
            json!({ "rule": "linear", "first": first, "lane": from.0, "step": step })
        }
        IndexRule::Listed(by_lane) => {
            let values: Map<String, Value> =
                by_lane.iter().map(|(lane, value)| (lane.0.to_string(), (*value).into())).collect();
            json!({ "rule": "listed", "values": values })
        }
    }
}

fn allocation(of: &Neighbour) -> Value {
    json!({
        "start": hex(of.start),
        "end": hex(of.end),
        "distance": of.distance,
        "name": of.name,
        "rounded": of.is_rounded,
        "map_whole": of.is_map_whole,
    })
}

fn pattern(of: &PatternOf) -> Value {
    let (name, members) = match &of.pattern {
        Pattern::Null { base, offset } => ("null", json!({ "base": base.map(hex), "offset": hex(*offset) })),
        Pattern::NonCanonical => ("non-canonical", json!({})),
        Pattern::Wrapped32 { times, meant } => {
            ("overflow-32", json!({ "times": times, "meant": hex(*meant) }))
        }
        Pattern::NegativeIndex { index, is_zero_extended } => {
            ("negative-index", json!({ "index": index, "zero_extended": is_zero_extended }))
        }
        Pattern::Poison { value, origin } => ("poison", json!({ "value": hex(*value), "origin": origin })),
        Pattern::OtherAperture { space } => ("other-aperture", json!({ "space": space })),
        Pattern::HostPointer => ("host-pointer", json!({})),
        Pattern::FlippedBit { bit, meant, alternatives } => {
            ("flipped-bit", json!({ "bit": bit, "meant": hex(*meant), "alternatives": alternatives }))
        }
        Pattern::PastEnd(of) => ("past-end", json!({ "allocation": allocation(of) })),
        Pattern::BeforeStart(of) => ("before-start", json!({ "allocation": allocation(of) })),
        Pattern::Straddles(of) => ("straddles", json!({ "allocation": allocation(of) })),
        Pattern::Misaligned { needed } => ("misaligned", json!({ "needed": needed })),
        Pattern::ReadOnly => ("read-only", json!({})),
        Pattern::Freed => ("freed", json!({})),
        Pattern::LargeIndex { index } => ("large-index", json!({ "index": index })),
    };
    let mut value = members;
    set(&mut value, "pattern", name);
    set(&mut value, "lanes", lanes(of.lanes));
    value
}

/// A reported fault; `page` is the first byte of its page.
fn fault(of: &Fault) -> Value {
    let mut value = fault::one(of);
    set(&mut value, "page", of.address.map(|at| hex(at.start & !(PAGE - 1))));
    value
}

fn stops(triage: &Triage, scene: &Scene<'_>) -> Value {
    let stops = &triage.waves;
    json!({
        "count": stops.asked,
        "faulted": stops.faulted,
        "bystanders": stops.bystanders,
        "unknown": stops.unknown,
        "pcs": stops.pcs.iter().map(|(pc, count)| json!({ "pc": pc.to_string(), "waves": count })).collect::<Vec<_>>(),
        "chosen": stops.chosen.map(|wave| scene.id(wave)),
    })
}

fn cause(of: &Cause, scene: &Scene<'_>) -> Value {
    let (name, members) = match of {
        Cause::Memory => ("memory", json!({})),
        Cause::BadPc { pc, holders, caller } => {
            ("bad-pc", json!({ "pc": hex(*pc), "holders": holders, "caller": caller.as_ref().map(place) }))
        }
        Cause::Assertion(of) => (
            "assertion",
            json!({
                "wave": scene.id(of.wave),
                "lanes": lanes(of.lanes),
                "condition": of.condition,
                "at": place(&of.at),
            }),
        ),
        Cause::Trap { at, id } => ("trap", json!({ "trap": id, "at": place(at) })),
        Cause::IllegalInstruction { at, address, bytes, elsewhere, compiled_for } => {
            let elsewhere = elsewhere.iter().map(|of| json!({ "processor": of.processor, "text": of.text }));
            (
                "illegal-instruction",
                json!({
                    "address": hex(*address),
                    "bytes": faster_hex::hex_string(bytes),
                    "at": place(at),
                    "decodes": elsewhere.collect::<Vec<_>>(),
                    "compiled_for": compiled_for,
                }),
            )
        }
        Cause::Arithmetic(of) => {
            let operands = of.operands.iter().map(|(lane, text)| json!({ "lane": lane.0, "operands": text }));
            (
                "arithmetic",
                json!({
                    "wave": scene.id(of.wave),
                    "exceptions": of.kinds,
                    "at": place(&of.at),
                    "instruction": of.instruction.as_ref().map(|(address, _)| hex(*address)),
                    "text": of.instruction.as_ref().map(|(_, text)| text),
                    "operands": operands.collect::<Vec<_>>(),
                }),
            )
        }
        Cause::Ecc => ("ecc", json!({})),
        Cause::Queue(of) => ("queue", json!({ "error": of.text, "kernel": of.kernel })),
        Cause::Breakpoint => ("breakpoint", json!({})),
        Cause::Bystander { faulted } => ("bystander", json!({ "faulted": scene.id(*faulted) })),
        Cause::Hang => ("hang", json!({})),
    };
    let mut value = members;
    set(&mut value, "kind", name);
    value
}

fn hang(of: &Hang, scene: &Scene<'_>) -> Value {
    let mut value = hang_head(of);
    set(&mut value, GROUPS, of.groups.iter().map(|of| group(of, scene)).collect::<Vec<_>>());
    set(&mut value, WAVES, of.waves.iter().map(|of| wait(of, scene)).collect::<Vec<_>>());
    value
}

/// A hang with `null` in place of its lists.
fn hang_head(of: &Hang) -> Value {
    let counts = of
        .counts
        .iter()
        .map(|(dispatch, of, count)| json!({ "dispatch": dispatch, "state": of.name(), "waves": count }));
    json!({
        "hang": of.is_hang,
        "deadlock": of.is_deadlock,
        "proof": of.proof,
        "counts": counts.collect::<Vec<_>>(),
        GROUPS: null,
        WAVES: null,
    })
}

fn group(of: &GroupWait, scene: &Scene<'_>) -> Value {
    json!({
        "workgroup": of.workgroup,
        "position": of.position,
        "waiting": ids(&of.waiting, scene),
        "missing": ids(&of.missing, scene),
        "ended": of.ended,
        "not_captured": of.not_captured,
    })
}

fn wait(of: &WaveWait, scene: &Scene<'_>) -> Value {
    json!({
        "wave": scene.id(of.wave),
        "state": of.state.name(),
        "pc": of.at.pc.map(|pc| pc.to_string()),
        "function": of.at.function,
        "file": of.at.file,
        "loop_lines": of.at.lines,
        "polling": of.at.is_polling,
        "polls": of.polls.iter().map(poll).collect::<Vec<_>>(),
    })
}

fn poll(of: &PolledValue) -> Value {
    json!({
        "address": hex(of.address),
        "space": if of.is_lds { "local" } else { "global" },
        "size": of.bytes,
        "value": of.value.map(hex),
        "compared_with": of.compared.map(hex),
        "lanes": lanes(of.lanes),
        "name": of.name,
    })
}

fn direction(of: Direction) -> &'static str {
    match of {
        Direction::Load => "load",
        Direction::Store => "store",
        Direction::Atomic { .. } => "atomic",
    }
}

fn confidence(of: Confidence) -> &'static str {
    match of {
        Confidence::Exact => "exact",
        Confidence::Likely => "likely",
        Confidence::Possible => "possible",
    }
}

fn missing(of: &MissingData) -> Value {
    let name = match of {
        MissingData::Page => "page",
        MissingData::Instructions(_) => "instructions",
        MissingData::Code(_) => "code",
        MissingData::Caller(_) => "caller",
        MissingData::Callee(_) => "callee",
        MissingData::Registers { .. } => "registers",
        MissingData::MemoryMap => "memory-map",
        MissingData::Limit(_) => "limit",
        MissingData::WavePcs { .. } => "wave-pcs",
        MissingData::WaveCode { .. } => "wave-code",
        MissingData::BarrierStatus { .. } => "barrier-status",
    };
    json!({ "missing": name, "text": of.to_string() })
}
