//! The analysis as JSON: `lanescope.triage/1`. docs/triage.md documents the members.

mod types;

use serde::{Serialize, Serializer};

pub use types::*;

use super::{
    Cause, DeclaredBounds, GroupWait, Hang, IndexRule, InnerIndex, MissingData, Neighbour, OtherFault,
    Pattern, PatternOf, PolledValue, Scene, SourceAt, Suspect, Term, Triage, Variable, WaveWait,
};
use crate::notation::ranges;
use crate::report::fault::{self, ReportedFault};
use crate::report::schema::{Hex, Lanes, Run, Streamed};
use crate::session::Inspect;
use crate::units::{LaneId, WaveId};

/// A hang whose lists are built while they are written: they take many times the memory of the waves.
pub struct StreamedHang<'a> {
    hang: Hang,
    sessions: Vec<&'a dyn Inspect>,
}

impl std::fmt::Debug for StreamedHang<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamedHang").field("hang", &self.hang).finish_non_exhaustive()
    }
}

impl Serialize for StreamedHang<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (of, scene) = (&self.hang, &Scene::new(&self.sessions));
        let count = |(dispatch, of, waves): &(_, super::WaveState, usize)| StateWaves {
            dispatch: *dispatch,
            state: *of,
            waves: *waves,
        };
        let hang = HangJson {
            hang: of.is_hang,
            deadlock: of.is_deadlock,
            proof: of.proof.clone(),
            counts: of.counts.iter().map(count).collect(),
            groups: Streamed(|| of.groups.iter().map(|of| group(of, scene))),
            waves: Streamed(|| of.waves.iter().map(|of| wait(of, scene))),
        };
        hang.serialize(serializer)
    }
}

/// The analysis of sessions.
#[must_use]
pub fn json<'a>(triage: Triage, sessions: &[&'a dyn Inspect]) -> Analysis<'a> {
    let scene = Scene::new(sessions);
    let faults: Vec<ReportedFault> = triage.faults.iter().map(fault::one).collect();
    Analysis {
        sentence: super::page::sentence(&triage, &scene),
        cause: triage.cause.as_ref().map(|cause| self::cause(cause, &scene)),
        accesses: triage.suspects.iter().map(|suspect| access(suspect, &scene)).collect(),
        further: triage.further,
        fault: faults.first().cloned(),
        faults,
        waves: stops(&triage, &scene),
        missing: triage.missing.iter().map(missing).collect(),
        hang: triage.hang.map(|hang| StreamedHang { hang, sessions: sessions.to_vec() }),
    }
}

/// Ids of waves as runs of first and last.
pub(super) fn runs(waves: &[WaveId], scene: &Scene<'_>) -> Vec<Run> {
    let mut ids = ids(waves, scene);
    ids.sort_unstable();
    ranges(ids)
}

fn ids(waves: &[WaveId], scene: &Scene<'_>) -> Vec<u32> {
    waves.iter().map(|wave| scene.id(*wave)).collect()
}

fn place(at: &SourceAt) -> SourceJson {
    SourceJson { function: at.function.clone(), file: at.file.clone(), line: at.line, text: at.text.clone() }
}

/// A suspected access.
fn access(of: &Suspect, scene: &Scene<'_>) -> AccessJson {
    let key = |lane: Option<LaneId>| lane.map_or_else(|| "scalar".to_owned(), |lane| lane.0.to_string());
    let space = of.addresses.first().and_then(|first| scene.space(of.wave, first.space));
    let unknown =
        |of: &super::UnknownLanes| UnknownJson { lanes: Lanes(of.lanes), reason: of.reason.to_string() };
    let term = of.term.as_ref();
    AccessJson {
        wave: scene.id(of.wave),
        pc: Hex(of.pc.0),
        instruction: Hex(of.instruction),
        text: of.text.clone(),
        distance: of.distance,
        access: of.access.direction,
        size: of.access.bytes,
        lanes: Lanes(of.lanes),
        lanes_are_bound: of.is_bound,
        addresses: of
            .addresses
            .iter()
            .map(|of| (key(of.lane), Hex(of.global.unwrap_or(of.address))))
            .collect(),
        space: space.unwrap_or_else(|| "global".to_owned()),
        unknown: of.unknown.as_ref().map(unknown),
        confidence: of.confidence,
        reasons: of.evidence.iter().map(|reason| reason.of(of)).collect(),
        patterns: of.patterns.iter().filter_map(pattern).collect(),
        also: runs(&of.also, scene),
        function: of.at.function.clone(),
        file: of.at.file.clone(),
        line: of.at.line,
        line_inferred: of.at.is_inferred,
        source: of.at.text.clone(),
        frame: of.frame.as_ref().map(|of| of.frame),
        expression: term.map(|term| term.expression.clone()),
        variable: term.map(|term| term.pointer.name.clone()),
        index: term.and_then(first_index),
        term: term.map(self::term),
    }
}

/// The index in the first lane.
fn first_index(term: &Term) -> Option<i64> {
    match &term.index {
        IndexRule::Constant(index) | IndexRule::Scalar(index) => Some(*index),
        IndexRule::Linear { first, .. } => Some(*first),
        IndexRule::Listed(by_lane) => by_lane.first().map(|(_, index)| *index),
    }
}

fn term(of: &Term) -> TermJson {
    TermJson {
        expression: of.expression.clone(),
        pointer: variable(&of.pointer),
        element_size: of.element,
        index: index(&of.index),
        index_variables: of.equal.iter().map(variable).collect(),
        bounds: of.bounds.iter().map(variable).collect(),
        declared: of.declared.map(declared),
        inner: of.inner.iter().map(inner).collect(),
        ambiguous: of.is_ambiguous,
        allocation: of.allocation.as_ref().map(allocation),
        alternatives: of.alternatives.clone(),
        inferred: of.is_inferred,
    }
}

fn inner(of: &InnerIndex) -> InnerIndexJson {
    InnerIndexJson {
        array: of.array.clone(),
        index: index(&of.index),
        index_variables: of.equal.iter().map(variable).collect(),
        declared: of.declared.map(declared),
    }
}

fn declared(of: DeclaredBounds) -> DeclaredJson {
    DeclaredJson { first: of.first, count: of.count }
}

fn variable(of: &Variable) -> VariableJson {
    VariableJson {
        name: of.name.clone(),
        value: of.value.clone(),
        kind: of.kind,
        inferred: of.inferred.sources(),
    }
}

fn index(rule: &IndexRule) -> IndexJson {
    match rule {
        IndexRule::Constant(value) => IndexJson::Constant { value: *value },
        IndexRule::Scalar(value) => IndexJson::Scalar { value: *value },
        IndexRule::Linear { first, from, step } => {
            IndexJson::Linear { first: *first, lane: from.0, step: *step }
        }
        IndexRule::Listed(by_lane) => {
            IndexJson::Listed { values: by_lane.iter().map(|(lane, value)| (lane.0, *value)).collect() }
        }
    }
}

fn allocation(of: &Neighbour) -> AllocationJson {
    AllocationJson {
        start: Hex(of.start),
        end: Hex(of.end),
        distance: of.distance,
        name: of.name.clone(),
        rounded: of.is_rounded,
        map_whole: of.is_map_whole,
    }
}

/// A pattern; `None`: its number is left out.
fn pattern(of: &PatternOf) -> Option<PatternJson> {
    use PatternKind as Kind;
    let pattern = match &of.pattern {
        Pattern::Null { base, offset } => Kind::Null { base: base.map(Hex), offset: Hex(*offset) },
        Pattern::NonCanonical => Kind::NonCanonical,
        Pattern::Wrapped32 { times, meant } => Kind::Overflow32 { times: *times, meant: Hex(*meant) },
        Pattern::NegativeIndex { index, is_zero_extended } => {
            Kind::NegativeIndex { index: (*index)?, zero_extended: *is_zero_extended }
        }
        Pattern::Poison { value, origin } => Kind::Poison { value: Hex((*value)?), origin },
        Pattern::OtherAperture { space } => Kind::OtherAperture { space },
        Pattern::HostPointer { is_reported } => Kind::HostPointer { reported: *is_reported },
        Pattern::FlippedBit { bit, meant, alternatives } => {
            Kind::FlippedBit { bit: *bit, meant: Hex(*meant), alternatives: *alternatives }
        }
        Pattern::PastEnd(of) => Kind::PastEnd { allocation: allocation(of) },
        Pattern::BeforeStart(of) => Kind::BeforeStart { allocation: allocation(of) },
        Pattern::BadPointer(of) => Kind::BadPointer { neighbour: of.as_ref().map(allocation) },
        Pattern::Straddles(of) => Kind::Straddles { allocation: allocation(of) },
        Pattern::Misaligned { needed } => Kind::Misaligned { needed: *needed },
        Pattern::ReadOnly => Kind::ReadOnly,
        Pattern::Freed => Kind::Freed,
        Pattern::LargeIndex { index } => Kind::LargeIndex { index: (*index)? },
    };
    Some(PatternJson { pattern, lanes: Lanes(of.lanes) })
}

fn stops(triage: &Triage, scene: &Scene<'_>) -> StopsJson {
    let stops = &triage.waves;
    StopsJson {
        count: stops.asked,
        absent: stops.absent,
        uncounted: stops.uncounted.clone(),
        faulted: stops.faulted,
        bystanders: stops.bystanders,
        unknown: stops.unknown,
        pcs: stops.pcs.iter().map(|(pc, waves)| PcCount { pc: Hex(pc.0), waves: *waves }).collect(),
        chosen: stops.chosen.map(|wave| scene.id(wave)),
        others: stops.others.iter().filter_map(|other| other_fault(other, scene)).collect(),
        left_out: stops.left_out,
    }
}

fn other_fault(of: &OtherFault, scene: &Scene<'_>) -> Option<OtherFaultJson> {
    let first = scene.info(*of.waves.first()?)?;
    Some(OtherFaultJson {
        waves: runs(&of.waves, scene),
        stop: first.stop.unwrap_or_default(),
        agent: first.agent,
        dispatch: first.dispatch,
    })
}

fn cause(of: &Cause, scene: &Scene<'_>) -> CauseJson {
    match of {
        Cause::Memory => CauseJson::Memory,
        Cause::BadPc { pc, holders, caller } => {
            CauseJson::BadPc { pc: Hex(*pc), holders: holders.clone(), caller: caller.as_ref().map(place) }
        }
        Cause::Assertion(of) => CauseJson::Assertion {
            inferred: of.is_inferred,
            wave: scene.id(of.wave),
            lanes: Lanes(of.lanes),
            condition: of.condition.clone(),
            at: place(&of.at),
        },
        Cause::Trap { at, id } => CauseJson::Trap { trap: *id, at: place(at) },
        Cause::IllegalInstruction { at, address, bytes, elsewhere, compiled_for, .. } => {
            let decodes = elsewhere
                .iter()
                .map(|of| DecodedBy { processor: of.processor.clone(), text: of.text.clone() });
            CauseJson::IllegalInstruction {
                address: Hex(*address),
                bytes: faster_hex::hex_string(bytes),
                at: place(at),
                decodes: decodes.collect(),
                compiled_for: compiled_for.clone(),
            }
        }
        Cause::Arithmetic(of) => {
            let scalar = of.operands.iter().find(|(lane, _)| lane.is_none()).map(|(_, text)| text.clone());
            let operand = |(lane, text): &(Option<LaneId>, String)| {
                Some(Operand { lane: (*lane)?.0, operands: text.clone() })
            };
            let operands = of.operands.iter().filter_map(operand);
            CauseJson::Arithmetic {
                wave: scene.id(of.wave),
                exceptions: of.kinds.iter().map(|kind| kind.to_lowercase()).collect(),
                at: place(&of.at),
                instruction: of.instruction.as_ref().map(|(address, _)| Hex(*address)),
                text: of.instruction.as_ref().map(|(_, text)| text.clone()),
                operands: operands.collect(),
                scalar,
                lanes_are_bound: of.is_bound,
                confidence: of.confidence,
                reason: of.doubt.clone(),
                others: of.others.iter().map(operation).collect(),
            }
        }
        Cause::Ecc => CauseJson::Ecc,
        Cause::Queue(of) => CauseJson::Queue { error: of.text.clone(), kernel: of.kernel.clone() },
        Cause::Breakpoint { reasons, at } => CauseJson::Breakpoint { stop: reasons.clone(), at: place(at) },
        Cause::Bystander { faulted } => CauseJson::Bystander { faulted: scene.id(*faulted) },
        Cause::Hang => CauseJson::Hang,
    }
}

fn operation((address, text): &(u64, String)) -> Operation {
    Operation { instruction: Hex(*address), text: text.clone() }
}

fn group(of: &GroupWait, scene: &Scene<'_>) -> GroupJson {
    GroupJson {
        workgroup: of.workgroup,
        coord: of.position,
        waiting: ids(&of.waiting, scene),
        missing: ids(&of.missing, scene),
        signalled: ids(&of.signalled, scene),
        ended: of.ended,
        not_captured: of.not_captured,
    }
}

fn wait(of: &WaveWait, scene: &Scene<'_>) -> WaitJson {
    WaitJson {
        wave: scene.id(of.wave),
        state: of.state,
        pc: of.at.pc.map(|pc| Hex(pc.0)),
        function: of.at.function.clone(),
        file: of.at.file.clone(),
        loop_lines: of.at.lines.clone(),
        polling: of.at.is_polling,
        polls: of.polls.iter().map(poll).collect(),
    }
}

fn poll(of: &PolledValue) -> PollJson {
    PollJson {
        address: Hex(of.address),
        space: if of.is_lds { "local" } else { "global" },
        size: of.bytes,
        value: of.value.map(Hex),
        compared_with: of.compared.map(Hex),
        comparison: of.comparison,
        lanes: Lanes(of.lanes),
        name: of.name.clone(),
        inferred: of.inferred.is_some(),
    }
}

fn missing(of: &MissingData) -> MissingJson {
    MissingJson { missing: of.clone(), text: of.to_string() }
}
