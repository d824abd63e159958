//! The addresses of an access in a wave, from the registers that survived to the PC.

use super::recover::Past;
use super::registers::{Registers, Surviving, Writes};
use super::{Candidate, Paths, Step, Way};
use crate::arch::Generation;
use crate::isa::{
    Access, AddressError, Control, ExecBefore, LaneAccess, LaneAddress, ReadRegister, RegisterFile,
    RegisterRange, WaveContext, exec_before,
};
use crate::triage::{AddressOf, UnknownAddressCause, UnknownLanes};
use crate::units::{LaneId, LaneSet};

/// MODE.GPR_IDX_EN of GFX9: the text of vector instructions does not show their registers.
const INDEX_MODE: u32 = 1 << 27;
const EXEC: RegisterRange = RegisterRange::new(RegisterFile::Exec, 0, 2);
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
    /// The address of the instruction that changed EXEC after it: the lanes are an upper bound.
    pub(in crate::triage) exec_changed: Option<u64>,
    /// Whether some addresses come from registers that were computed again.
    pub(in crate::triage) is_recovered: bool,
    /// Whether the shortest path is impossible by the branches on it.
    pub(in crate::triage) is_detour: bool,
}

/// EXEC before an instruction on the way.
#[derive(Clone, Copy)]
struct Exec {
    /// The lanes, or an upper bound.
    lanes: LaneSet,
    /// The instruction whose inverse is unknown.
    changed: Option<u64>,
}

impl Paths {
    /// The addresses of a candidate in a wave. `None`: no path of it is possible.
    ///
    /// `recovers`: overwritten registers are computed again.
    pub(in crate::triage) fn look(
        &self,
        candidate: &Candidate,
        registers: &Registers<'_>,
        recovers: bool,
    ) -> Option<Look> {
        let access = self.instruction(candidate)?.effects.as_ref().ok()?.access.as_ref()?;
        let mut is_detour = false;
        for way in &candidate.ways {
            match self.along(way, access, registers, recovers) {
                Some(look) => return Some(Look { is_detour, ..look }),
                None => is_detour = true,
            }
        }
        None
    }

    /// The addresses by one path. `None`: the branches on it are impossible.
    fn along(&self, way: &Way, access: &Access, registers: &Registers<'_>, recovers: bool) -> Option<Look> {
        let all = registers.arch().wave_size.all();
        let at_pc = self.steps.first().and_then(|step| self.decoded(step.node)).map_or(0, |one| one.address);
        let mut exec = match registers.exec() {
            Some(lanes) => Exec { lanes: lanes.and(all), changed: None },
            None => Exec { lanes: all, changed: Some(at_pc) },
        };
        let mut writes = Writes::default();
        if self.may_index(registers) {
            writes.push(RegisterRange::whole(RegisterFile::Vector), all, at_pc);
        }
        let steps = self.backwards(way);
        let (last, between) = steps.split_last()?;
        for step in between {
            let one = self.decoded(step.node)?;
            let Ok(effects) = &one.effects else {
                writes.push_all(all, one.address);
                exec = Exec { lanes: all, changed: Some(one.address) };
                continue;
            };
            if !is_possible(step, &one.text, exec, registers, &writes) {
                return None;
            }
            if effects.control == Control::Call && !step.is_taken {
                clobber(&mut writes, all, one.address);
            }
            let before = if effects.writes.iter().any(|write| write.range.overlaps(EXEC)) {
                previous(&one.text, one.address, exec, registers, &writes)
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
        let own = one.effects.as_ref().ok().map(|effects| effects.writes.as_slice()).unwrap_or_default();
        if way.distance > 0 {
            for write in own {
                writes.push(write.range, exec.lanes, one.address);
            }
        }
        let wave = WaveContext { arch: registers.arch(), exec: exec.lanes, apertures: registers.apertures };
        let found = access.addresses(&wave, &Surviving { registers, writes: &writes });
        let mut look = collected(*way, exec, found, &writes);
        let is_overwritten = |of: &UnknownLanes| matches!(of.reason, UnknownAddressCause::Overwritten { .. });
        if recovers && look.unknown.as_ref().is_some_and(is_overwritten) {
            let unknown = look.unknown.take()?;
            let (past, index) = Past::new(self, way, registers);
            let lanes = if unknown.lanes.is_empty() { exec.lanes } else { unknown.lanes };
            let found = past.addresses(access, lanes, index);
            let again = collected(*way, exec, found, &Writes::default());
            look.is_recovered = !again.addresses.is_empty();
            look.addresses.extend(again.addresses);
            look.addresses.sort_by_key(|at| at.lane);
            look.unknown = again.unknown.map(|left| UnknownLanes { lanes: left.lanes, ..unknown });
        }
        Some(look)
    }

    /// Whether vector instructions may have written other registers than their texts show.
    fn may_index(&self, registers: &Registers<'_>) -> bool {
        let is_index = |text: &str| text.starts_with("s_set_gpr_idx_");
        let has_index = self.graph.listings.first().is_some_and(|listing| {
            let has_mode = listing.generation.is_none_or(|generation| generation < Generation::Gfx10);
            has_mode && listing.instructions.iter().any(|one| is_index(&one.text))
        });
        let mode = registers.dword(RegisterFile::Mode, 0, LaneId::default());
        has_index && mode.is_none_or(|mode| mode & INDEX_MODE != 0)
    }
}

/// Registers that a callee may change, by AMDGPU's calling convention (AMDGPUUsage, "Calling Convention"): it preserves
/// SGPRs from 32 on and, from VGPR 40 on, eight of each sixteen.
fn clobber(writes: &mut Writes, all: LaneSet, at: u64) {
    let vectors = (40..256).step_by(16).map(|first| RegisterRange::new(RegisterFile::Vector, first + 8, 8));
    let ranges = [
        RegisterRange::new(RegisterFile::Scalar, 0, 32),
        RegisterRange::new(RegisterFile::Vector, 0, 40),
        RegisterRange::new(RegisterFile::Accumulator, 0, 32),
        RegisterRange::whole(RegisterFile::Vcc),
        RegisterRange::whole(RegisterFile::M0),
    ];
    for range in ranges.into_iter().chain(vectors) {
        writes.push(range, all, at);
    }
}

/// EXEC before an instruction that writes it.
fn previous(text: &str, at: u64, after: Exec, registers: &Registers<'_>, writes: &Writes) -> Exec {
    let all = registers.arch().wave_size.all();
    let dwords = if registers.arch().wave_size.lanes() > 32 { 2 } else { 1 };
    let mask = |range: RegisterRange| {
        let is_kept = range.count == dwords && !writes.has(range);
        registers.lanes(range).filter(|_| is_kept).map(|lanes| lanes.and(all))
    };
    let changed = Some(at);
    match exec_before(text) {
        ExecBefore::Saved(range) => match mask(range) {
            Some(lanes) => Exec { lanes, changed: None },
            None => Exec { lanes: all, changed },
        },
        ExecBefore::Within => Exec { changed, ..after },
        ExecBefore::WithinOr(range) => match mask(range) {
            Some(lanes) => Exec { lanes: after.lanes.or(lanes), changed },
            None => Exec { lanes: all, changed },
        },
        ExecBefore::Xor(range) => match mask(range) {
            Some(lanes) if after.changed.is_none() => {
                let both = after.lanes.and(lanes);
                Exec { lanes: after.lanes.or(lanes).without(both), changed: None }
            }
            Some(lanes) => Exec { lanes: after.lanes.or(lanes), changed },
            None => Exec { lanes: all, changed },
        },
        ExecBefore::Unknown => Exec { lanes: all, changed },
    }
}

/// Whether a branch can have gone the way of a step, by EXEC and VCC.
fn is_possible(step: &Step, text: &str, exec: Exec, registers: &Registers<'_>, writes: &Writes) -> bool {
    let mnemonic = text.split_whitespace().next().unwrap_or_default();
    let Some(condition) = mnemonic.strip_prefix("s_cbranch_") else { return true };
    let vcc = || registers.lanes(VCC).filter(|_| !writes.has(VCC));
    // Whether the lanes are known to be empty; `None`: either is possible.
    let is_empty = match condition {
        "execz" | "execnz" => match exec.changed {
            _ if exec.lanes.is_empty() => Some(true),
            None => Some(false),
            Some(_) => None,
        },
        "vccz" | "vccnz" => vcc().map(LaneSet::is_empty),
        _ => None,
    };
    let taken_if_empty = condition.ends_with("cz");
    is_empty.is_none_or(|is_empty| (is_empty == taken_if_empty) == step.is_taken)
}

fn collected(way: Way, exec: Exec, found: Vec<LaneAccess>, writes: &Writes) -> Look {
    let mut look = Look {
        way,
        lanes: LaneSet::default(),
        addresses: Vec::new(),
        unknown: None,
        exec_changed: exec.changed,
        is_recovered: false,
        is_detour: false,
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
        return UnknownAddressCause::Overwritten { register: name(register.file, register.index), at };
    }
    UnknownAddressCause::Address(why)
}

/// The name of a dword of a register file.
fn name(file: RegisterFile, index: u16) -> String {
    match file {
        RegisterFile::Scalar => format!("s{index}"),
        RegisterFile::Vector => format!("v{index}"),
        RegisterFile::Accumulator => format!("a{index}"),
        RegisterFile::Trap => format!("ttmp{index}"),
        RegisterFile::M0 => "m0".to_owned(),
        RegisterFile::Vcc => "vcc".to_owned(),
        RegisterFile::FlatScratch => "flat_scratch".to_owned(),
        _ => format!("{file:?}").to_lowercase(),
    }
}
