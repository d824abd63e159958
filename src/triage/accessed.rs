//! A suspected access with its surroundings: registers of the address, memory map, and the addresses of other lanes.

use super::judge::overlap;
use super::map::Map;
use super::registers::{WaveRegisters, apertures};
use super::{AddressOf, Suspect};
use crate::arch::WaveArch;
use crate::capture::{Fault, FaultReason};
use crate::isa::{Form, LaneAddress, ReadRegister, RegisterRange, WaveContext};
use crate::session::Inspect;
use crate::units::{Address, AddressSpace, LaneId, LaneSet};

/// A suspected access.
pub(super) struct Accessed<'a> {
    pub(super) session: &'a dyn Inspect,
    pub(super) suspect: &'a Suspect,
    pub(super) faults: &'a [Fault],
    /// The dump's id of the wave's GPU. `None`: unknown.
    pub(super) agent: Option<u32>,
    pub(super) map: Map<'a>,
    /// The suspected lanes, in order; one entry for a scalar access.
    pub(super) lanes: Vec<LaneAt>,
    /// Other lanes that execute the access, in order. Empty if EXEC changed.
    pub(super) others: Vec<LaneAt>,
    /// Bases of the apertures with the names of their spaces.
    pub(super) apertures: Vec<(Address, &'static str)>,
}

/// The access of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneAt {
    /// The lane; of a scalar access `None`.
    pub(super) lane: Option<LaneId>,
    pub(super) space: AddressSpace,
    pub(super) address: u64,
    /// The first byte in global memory.
    pub(super) global: Option<u64>,
    /// Number of bytes; at least 1.
    pub(super) bytes: u64,
    pub(super) parts: AddressParts,
}

impl LaneAt {
    /// Whether the access is to global memory.
    pub(super) fn is_global(&self) -> bool {
        self.global == Some(self.address)
    }
}

/// The registers of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AddressParts {
    /// A base apart from the index.
    pub(super) base: Option<u64>,
    /// The pointer that the code before the access adds the index to.
    pub(super) origin: Option<u64>,
    /// The 32-bit index beside that base.
    pub(super) index: Option<u32>,
    /// The register with base and index.
    pub(super) sum: Option<u64>,
    /// The constant offset.
    pub(super) offset: i64,
}

impl<'a> Accessed<'a> {
    pub(super) fn new(session: &'a dyn Inspect, faults: &'a [Fault], suspect: &'a Suspect) -> Self {
        let wave = suspect.wave;
        let registers = WaveRegisters::new(session, wave);
        let lane_at = |of: &AddressOf| LaneAt {
            lane: of.lane,
            space: of.space,
            address: of.address,
            global: of.global,
            bytes: u64::from(of.bytes.unwrap_or(1)).max(1),
            parts: AddressParts {
                origin: suspect.origins.iter().find(|(lane, _)| *lane == of.lane).map(|(_, origin)| *origin),
                ..parts(&suspect.access.form, &registers, of)
            },
        };
        let mut lanes: Vec<LaneAt> = Vec::with_capacity(suspect.addresses.len());
        for of in &suspect.addresses {
            // A second address of a lane is that of another part of the same access.
            if lanes.iter().all(|known| known.lane != of.lane) {
                lanes.push(lane_at(of));
            }
        }
        lanes.sort_by_key(|lane| lane.lane);
        let bases = apertures(session, wave);
        let computed = computed(session, suspect, &registers, &bases);
        // Registers that no longer give the suspect's own addresses give no other lanes'.
        let is_same = |own: &LaneAt| {
            computed
                .iter()
                .any(|of| of.lane == own.lane && (of.space, of.address) == (own.space, own.address))
        };
        let others = match lanes.iter().all(is_same) {
            true => computed
                .iter()
                .filter(|of| lanes.iter().all(|own| own.lane != of.lane))
                .map(lane_at)
                .collect(),
            false => Vec::new(),
        };
        let target = &registers.arch().target;
        let apertures = bases.iter().filter_map(|(space, base)| {
            let scope = target.space(*space)?.scope;
            Some((
                *base,
                match scope {
                    crate::arch::SpaceScope::WorkGroup => "LDS",
                    crate::arch::SpaceScope::Lane => "private memory",
                    _ => return None,
                },
            ))
        });
        let apertures = apertures.collect();
        let agent = session.wave(wave).ok().map(|info| info.agent);
        Self { session, suspect, faults, agent, map: Map::new(session, wave), lanes, others, apertures }
    }

    /// Whether a byte of the access is on a page that a report names.
    pub(super) fn is_on_page(&self, lane: &LaneAt, wanted: impl Fn(&Fault) -> bool) -> bool {
        lane.global.is_some_and(|first| self.is_reported(first, lane.bytes, wanted))
    }

    /// Whether one of these bytes of global memory is on a page that a report names.
    fn is_reported(&self, first: u64, bytes: u64, wanted: impl Fn(&Fault) -> bool) -> bool {
        let concerns = |fault: &Fault| self.agent.is_none_or(|agent| fault.concerns(agent));
        self.faults
            .iter()
            .filter(|fault| concerns(fault) && wanted(fault))
            .any(|fault| fault.page().is_some_and(|page| overlap((first, bytes), (page.start, page.bytes))))
    }

    /// Whether the first byte of an access is known to be unmapped: by a whole map, or by a report for its page. A
    /// byte that the capture lists is mapped.
    pub(super) fn is_unmapped(&self, lane: &LaneAt) -> bool {
        lane.global.is_some_and(|address| self.are_unmapped(address, lane.bytes))
    }

    /// The same for bytes of global memory.
    pub(super) fn are_unmapped(&self, address: u64, bytes: u64) -> bool {
        let is_reported = |fault: &Fault| {
            !fault.reasons.contains(&FaultReason::ReadOnly)
                || fault.reasons.contains(&FaultReason::NotPresent)
        };
        !self.map.lists(address) && (self.map.is_whole() || self.is_reported(address, bytes, is_reported))
    }
}

/// The addresses of all lanes that execute the access, by the present registers.
fn computed(
    session: &dyn Inspect,
    suspect: &Suspect,
    registers: &WaveRegisters<'_>,
    bases: &std::collections::HashMap<AddressSpace, Address>,
) -> Vec<AddressOf> {
    if suspect.is_bound {
        return Vec::new();
    }
    let exec = session.wave(suspect.wave).ok().and_then(|wave| wave.exec).unwrap_or(suspect.lanes);
    let arch: &WaveArch = registers.arch();
    let context = WaveContext { arch, exec, apertures: bases };
    let mut found: Vec<AddressOf> = Vec::new();
    for access in suspect.access.addresses(&context, registers) {
        if let LaneAddress::Memory { space, address, global } = access.address
            && found.iter().all(|known| known.lane != access.lane)
        {
            let (address, global) = (address.0, global.map(|global| global.0));
            found.push(AddressOf { lane: access.lane, space, address, global, bytes: access.bytes });
        }
    }
    found
}

/// The registers of an address, if their present values give it.
fn parts(form: &Form, registers: &WaveRegisters<'_>, of: &AddressOf) -> AddressParts {
    let lane = of.lane.unwrap_or_default();
    let dword = |range: RegisterRange, index: u16| registers.dword(range.file, range.first + index, lane);
    let wide = |range: RegisterRange| Some(u64::from(dword(range, 0)?) | u64::from(dword(range, 1)?) << 32);
    let found = match *form {
        Form::Flat { address, index: None, offset, .. } => {
            AddressParts { sum: wide(address), offset: offset.into(), ..AddressParts::default() }
        }
        Form::Global { base: Some(base), index: None, lane_stride: 0, offset, .. }
            if base.file.is_vector() =>
        {
            AddressParts { sum: wide(base), offset: offset.into(), ..AddressParts::default() }
        }
        Form::Flat { address: base, index, scale: 1, offset }
        | Form::Global { base: Some(base), index, scale: 1, lane_stride: 0, offset } => {
            let index = index.map(|index| dword(index, 0));
            match index {
                Some(None) => AddressParts::default(),
                _ => AddressParts {
                    base: wide(base),
                    index: index.flatten(),
                    offset: offset.into(),
                    ..AddressParts::default()
                },
            }
        }
        Form::Scalar { base, scalar: None, offset, .. } => {
            AddressParts { base: wide(base), offset: offset.into(), ..AddressParts::default() }
        }
        _ => AddressParts::default(),
    };
    let start = found.base.or(found.sum);
    let total = start
        .map(|start| start.wrapping_add(found.index.unwrap_or(0).into()).wrapping_add_signed(found.offset));
    // Scalar memory ignores the low two bits.
    let is_scalar = of.lane.is_none();
    let is_same = |total: u64| total == of.address || is_scalar && total & !3 == of.address & !3;
    if total.is_some_and(is_same) { found } else { AddressParts::default() }
}

/// The lanes of accesses; empty for a scalar access.
pub(super) fn lane_set<'l>(lanes: impl Iterator<Item = &'l LaneAt>) -> LaneSet {
    lanes.filter_map(|lane| lane.lane).fold(LaneSet::EMPTY, |set, lane| set.or(LaneSet::one(lane)))
}
