//! The addresses of an access in a wave, from the registers that survived to the PC.

use super::recover::Past;
use super::registers::{Registers, Surviving, Writes};
use super::{Candidate, Node, Paths, Step, Way, private};
use crate::isa::{
    Access, AddressError, BranchCondition, Control, ExecBefore, Instruction, LaneAccess, LaneAddress,
    Operation, ReadRegister, RegisterFile, RegisterRange, WaveContext,
};
use crate::triage::{AddressOf, UnknownAddressCause, UnknownLanes};
use crate::units::{LaneId, LaneSet};

/// MODE.GPR_IDX_EN of GFX9: the text of vector instructions does not show their registers.
const INDEX_MODE: u32 = 1 << 27;
/// Maximum number of instructions from an access back to the branches that skip it.
const MAX_TO_GUARD: usize = 64;
/// Maximum number of instructions from a branch back to the comparison that it depends on.
const MAX_TO_COMPARISON: usize = 8;
pub(super) const EXEC: RegisterRange = RegisterRange::new(RegisterFile::Exec, 0, 2);
const VCC: RegisterRange = RegisterRange::new(RegisterFile::Vcc, 0, 2);

/// The addresses of an access in a wave.
#[derive(Clone, Debug)]
pub(in crate::triage) struct Look {
    /// The path that the wave may have taken.
    pub(in crate::triage) way: Way,
    /// The lanes that may have executed it. Empty for a scalar access.
    pub(in crate::triage) lanes: LaneSet,
    /// The known addresses.
    pub(in crate::triage) addresses: Vec<AddressOf>,
    /// The lanes whose address is unknown.
    pub(in crate::triage) unknown: Option<UnknownLanes>,
    /// The lanes that certainly executed it.
    pub(in crate::triage) certain: LaneSet,
    /// Whether it is to the wave's private memory, also if the address is unknown.
    pub(in crate::triage) is_private: bool,
    /// The address of the instruction that changed EXEC after it: the lanes are an upper bound.
    pub(in crate::triage) exec_changed: Option<u64>,
    /// Whether some addresses come from registers that were computed again.
    pub(in crate::triage) is_recovered: bool,
    /// The lanes of those addresses, with the overwritten register.
    pub(in crate::triage) overwritten: Option<UnknownLanes>,
    /// Whether a shorter path is impossible.
    pub(in crate::triage) is_detour: bool,
    /// Whether another possible path gives other addresses, or none.
    pub(in crate::triage) is_choice: bool,
    /// Whether a load was repeated although a store at an unknown address may have changed the memory since.
    pub(in crate::triage) is_doubtful: bool,
}

/// EXEC before an instruction on the way.
#[derive(Clone, Copy)]
struct Exec {
    /// The lanes, or an upper bound.
    lanes: LaneSet,
    /// A lower bound.
    least: LaneSet,
    /// The instruction whose inverse is unknown.
    changed: Option<u64>,
}

impl Exec {
    fn known(lanes: LaneSet) -> Self {
        Self { lanes, least: lanes, changed: None }
    }

    fn unknown(all: LaneSet, changed: u64) -> Self {
        Self { lanes: all, least: LaneSet::EMPTY, changed: Some(changed) }
    }
}

impl Paths {
    /// The addresses of a candidate in a wave: by the first possible path, and at the PC.
    ///
    /// `recovers`: overwritten registers are computed again.
    pub(in crate::triage) fn looks(
        &self,
        candidate: &Candidate,
        registers: &Registers<'_>,
        recovers: bool,
    ) -> Vec<Look> {
        let effects = self.instruction(candidate).and_then(|one| one.effects().ok());
        let Some(access) = effects.and_then(|effects| effects.access.as_ref()) else { return Vec::new() };
        let mut looks = Vec::new();
        let mut possible: Vec<Look> = Vec::new();
        for way in &candidate.ways {
            match self.along(way, access, registers, recovers) {
                // The instruction at the PC was executed in an earlier turn of a loop.
                Some(look) if way.distance == 0 => looks.push(look),
                Some(look) => possible.push(look),
                None => {}
            }
            if !candidate.depends_on_path && !possible.is_empty() {
                break;
            }
        }
        if possible.len() > 1 && recovers {
            let is_refuted = |look: &Look| Past::new(self, &look.way, registers).0.is_refuted();
            let agreeing: Vec<Look> = possible.iter().filter(|look| !is_refuted(look)).cloned().collect();
            // If none agrees, the captured registers are those of another moment.
            if !agreeing.is_empty() {
                possible = agreeing;
            }
        }
        let mut possible = possible.into_iter();
        if let Some(look) = possible.next() {
            let shortest = candidate.ways.iter().find(|way| way.distance > 0);
            let is_detour = shortest.is_some_and(|shortest| shortest.step != look.way.step);
            let is_choice = possible.any(|other| other.addresses != look.addresses);
            looks.push(Look { is_detour, is_choice, ..look });
        }
        looks
    }

    /// The addresses by one path. `None`: the branches on it are impossible.
    fn along(&self, way: &Way, access: &Access, registers: &Registers<'_>, recovers: bool) -> Option<Look> {
        let all = registers.arch().wave_size.all();
        let at_pc = self.steps.first().and_then(|step| self.decoded(step.node)).map_or(0, |one| one.address);
        let mut exec = match registers.exec() {
            Some(lanes) => Exec::known(lanes.and(all)),
            None => Exec::unknown(all, at_pc),
        };
        let mut writes = Writes::default();
        if self.may_index(registers) {
            writes.push(RegisterRange::whole(RegisterFile::Vector), all, at_pc);
        }
        let steps = self.backwards(way);
        let (last, between) = steps.split_last()?;
        for step in between {
            let one = self.decoded(step.node)?;
            let Ok(effects) = one.effects() else {
                writes.push_all(all, one.address);
                exec = Exec::unknown(all, one.address);
                continue;
            };
            let scc = || self.scc_before(step.node, registers, &writes);
            if !is_possible(step, one.branch_condition(), exec, scc, registers, &writes) {
                return None;
            }
            if self.passes_callee(step, effects) {
                clobbered().for_each(|range| writes.push(range, all, one.address));
            }
            let before = if effects.writes.iter().any(|write| write.range.overlaps(EXEC)) {
                previous(one, exec, registers, &writes)
            } else {
                exec
            };
            for write in &effects.writes {
                let lanes =
                    if write.ignores_exec || !write.range.file.is_vector() { all } else { before.lanes };
                writes.push(write.range, lanes, one.address);
            }
            exec = before;
        }
        let one = self.decoded(last.node)?;
        // A load may replace its own address.
        let own = one.effects().ok().map(|effects| effects.writes.as_slice()).unwrap_or_default();
        if way.distance > 0 {
            for write in own {
                writes.push(write.range, exec.lanes, one.address);
            }
        }
        if way.distance > 0 && self.is_skipped(last.node, registers, writes.clone()) {
            return None;
        }
        let wave = WaveContext { arch: registers.arch(), exec: exec.lanes, apertures: registers.apertures };
        let surviving = Surviving { registers, writes: &writes };
        let found = private::addresses(access, &wave, &surviving);
        let mut look = collected(*way, exec, found, &writes);
        look.is_private = private::is_private(access, &surviving);
        let is_overwritten = |of: &UnknownLanes| matches!(of.reason, UnknownAddressCause::Overwritten { .. });
        if recovers && look.unknown.as_ref().is_some_and(is_overwritten) {
            let unknown = look.unknown.take()?;
            let (past, index) = Past::new(self, way, registers);
            let lanes = if unknown.lanes.is_empty() { exec.lanes } else { unknown.lanes };
            let found = past.addresses(access, lanes, index);
            look.is_private = look.is_private || past.is_private(access, index);
            let again = collected(*way, exec, found, &Writes::default());
            look.is_recovered = !again.addresses.is_empty();
            look.is_doubtful = look.is_recovered && past.is_doubtful.get();
            look.addresses.extend(again.addresses);
            look.addresses.sort_by_key(|at| at.lane);
            look.overwritten = look.is_recovered.then(|| unknown.clone());
            look.unknown = again.unknown.map(|left| UnknownLanes { lanes: left.lanes, ..unknown });
        }
        Some(look)
    }

    /// Whether a branch before an access, to which no other way leads, went elsewhere: its comparison has that result still.
    /// `writes`: those of the access and behind it.
    fn is_skipped(&self, access: Node, registers: &Registers<'_>, mut writes: Writes) -> bool {
        let mut node = access;
        for _ in 0..MAX_TO_GUARD {
            let Some(before) = self.only_before(node) else { return false };
            let (Some(one), Some(next)) = (self.decoded(before), self.decoded(node)) else { return false };
            let Ok(effects) = one.effects() else { return false };
            let is_taken = one.target == Some(next.address);
            let is_followed = node == Node { index: before.index + 1, ..before };
            let scc = || self.scc_before(before, registers, &writes);
            if is_taken != is_followed && !agrees_with_scc(one.branch_condition(), is_taken, scc) {
                return true;
            }
            for write in &effects.writes {
                writes.push(write.range, LaneSet::EMPTY, one.address);
            }
            node = before;
        }
        false
    }

    /// SCC before a branch, by the comparison that wrote it. `writes`: those behind the branch; the comparison's
    /// registers have their values still.
    fn scc_before(&self, branch: Node, registers: &Registers<'_>, writes: &Writes) -> Option<bool> {
        let (mut node, mut between) = (branch, Vec::new());
        for _ in 0..MAX_TO_COMPARISON {
            node = self.only_before(node)?;
            let one = self.decoded(node)?;
            let effects = one.effects().ok()?;
            if effects.writes.iter().any(|write| write.range.file == RegisterFile::Scc) {
                let is_kept = |range: &RegisterRange| {
                    !writes.has(*range) && !between.iter().any(|of: &RegisterRange| of.overlaps(*range))
                };
                let is_comparison =
                    one.computations().any(|of| matches!(of.operation, Operation::Compare(..)));
                let has_values = is_comparison && one.named_registers().all(|range| is_kept(&range));
                return has_values.then(|| registers.compared(one))?;
            }
            if effects.control != Control::Next {
                return None;
            }
            between.extend(effects.writes.iter().map(|write| write.range));
        }
        None
    }

    /// Whether vector instructions may have written other registers than their texts show.
    fn may_index(&self, registers: &Registers<'_>) -> bool {
        let mode = registers.dword(RegisterFile::Mode, 0, LaneId::default());
        self.graph.has_index && mode.is_none_or(|mode| mode & INDEX_MODE != 0)
    }
}

/// Registers that a callee may change, by AMDGPU's calling convention (AMDGPUUsage, "Calling Convention"): it preserves
/// SGPRs from 32 on and, from VGPR 40 on, eight of each sixteen.
pub(super) fn clobbered() -> impl Iterator<Item = RegisterRange> {
    let vectors = (40..256).step_by(16).map(|first| RegisterRange::new(RegisterFile::Vector, first + 8, 8));
    let ranges = [
        RegisterRange::new(RegisterFile::Scalar, 0, 32),
        RegisterRange::new(RegisterFile::Vector, 0, 40),
        RegisterRange::new(RegisterFile::Accumulator, 0, 32),
        RegisterRange::whole(RegisterFile::Vcc),
        RegisterRange::whole(RegisterFile::M0),
    ];
    ranges.into_iter().chain(vectors)
}

/// EXEC before an instruction that writes it.
fn previous(one: &Instruction, after: Exec, registers: &Registers<'_>, writes: &Writes) -> Exec {
    let all = registers.arch().wave_size.all();
    let dwords = if registers.arch().wave_size.lanes() > 32 { 2 } else { 1 };
    let mask = |range: RegisterRange| {
        let is_kept = range.count == dwords && !writes.has(range);
        registers.lanes(range).filter(|_| is_kept).map(|lanes| lanes.and(all))
    };
    let changed = Some(one.address);
    let unknown = Exec::unknown(all, one.address);
    match one.exec_before() {
        ExecBefore::Saved(range) => match mask(range) {
            Some(lanes) => Exec::known(lanes),
            None => unknown,
        },
        ExecBefore::Within => Exec { changed, least: LaneSet::EMPTY, ..after },
        ExecBefore::WithinOr(range) => match mask(range) {
            Some(lanes) => Exec { lanes: after.lanes.or(lanes), changed, ..after },
            None => Exec { least: after.least, ..unknown },
        },
        ExecBefore::Xor(range) => match mask(range) {
            Some(lanes) if after.changed.is_none() => {
                let both = after.lanes.and(lanes);
                Exec::known(after.lanes.or(lanes).without(both))
            }
            Some(lanes) => Exec { lanes: after.lanes.or(lanes), least: LaneSet::EMPTY, changed },
            None => unknown,
        },
        ExecBefore::Unknown => unknown,
    }
}

/// Whether a branch can have gone a way by SCC; true for other branches and an unknown SCC.
fn agrees_with_scc(
    branch: Option<BranchCondition>,
    is_taken: bool,
    scc: impl FnOnce() -> Option<bool>,
) -> bool {
    let Some(branch) = branch.filter(|of| of.file == RegisterFile::Scc) else { return true };
    scc().is_none_or(|scc| (scc == branch.is_set) == is_taken)
}

/// Whether a branch can have gone the way of a step, by EXEC, VCC and SCC.
fn is_possible(
    step: &Step,
    branch: Option<BranchCondition>,
    exec: Exec,
    scc: impl FnOnce() -> Option<bool>,
    registers: &Registers<'_>,
    writes: &Writes,
) -> bool {
    let Some(condition) = branch else { return true };
    if !agrees_with_scc(branch, step.is_taken, scc) {
        return false;
    }
    let vcc = || registers.lanes(VCC).filter(|_| !writes.has(VCC));
    // Whether the lanes are known to be empty; `None`: either is possible.
    let is_empty = match condition.file {
        RegisterFile::Exec => match exec.changed {
            _ if exec.lanes.is_empty() => Some(true),
            None => Some(false),
            Some(_) => None,
        },
        RegisterFile::Vcc => vcc().map(LaneSet::is_empty),
        _ => None,
    };
    is_empty.is_none_or(|is_empty| (is_empty != condition.is_set) == step.is_taken)
}

fn collected(way: Way, exec: Exec, found: Vec<LaneAccess>, writes: &Writes) -> Look {
    let mut look = Look {
        way,
        lanes: LaneSet::default(),
        addresses: Vec::new(),
        unknown: None,
        certain: exec.least,
        is_private: false,
        exec_changed: exec.changed,
        is_recovered: false,
        overwritten: None,
        is_detour: false,
        is_choice: false,
        is_doubtful: false,
    };
    for LaneAccess { lane, bytes, address, .. } in found {
        if let Some(lane) = lane {
            look.lanes = look.lanes.or(LaneSet::one(lane));
        }
        match address {
            LaneAddress::Memory { space, address, global } => {
                let global = global.map(|address| address.0);
                look.addresses.push(AddressOf { lane, space, address: address.0, global, bytes });
            }
            LaneAddress::OutOfRange => {}
            LaneAddress::Unknown(why) => {
                let lanes = lane.map_or(LaneSet::default(), LaneSet::one);
                match &mut look.unknown {
                    Some(unknown) => unknown.lanes = unknown.lanes.or(lanes),
                    None => look.unknown = Some(UnknownLanes { lanes, reason: reason(why, lane, writes) }),
                }
            }
        }
    }
    if look.lanes.is_empty() {
        look.exec_changed = None;
    }
    look
}

fn reason(why: AddressError, lane: Option<LaneId>, writes: &Writes) -> UnknownAddressCause {
    if let AddressError::Register(register) = why
        && let Some(at) = writes.first(register.file, register.index, lane.unwrap_or_default())
    {
        return UnknownAddressCause::Overwritten { register: register.file.name(register.index), at };
    }
    UnknownAddressCause::Address(why)
}
