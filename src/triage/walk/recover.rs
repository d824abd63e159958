//! Values of registers that were overwritten before the PC: computed again from values that survived.
//!
//! A register's value before an instruction is that of the last instruction that wrote it, and so on, along the path to
//! the PC and the straight code before it. A load is repeated from captured memory, unless a later store on the path
//! wrote there. The results are inferred: a store at an unknown address may have changed the memory. The values that a
//! wave computes next, from its PC on, follow from the captured ones in the same way.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::look::{EXEC, clobbered};
use super::registers::Registers;
use super::{Node, Paths, Way, private};
use crate::isa::{
    Access, Control, Direction, Effects, LaneAccess, LaneAddress, ReadOperand, ReadRegister, RegisterFile,
    RegisterRange, WaveContext, condition, copy, value,
};
use crate::session::MemoryAddress;
use crate::units::{Address, LaneId, LaneSet, WaveSize};

/// Maximum number of steps for one access in all lanes: an instruction that is computed, or a store that is compared
/// with a load.
const MAX_WORK: usize = 1 << 17;
/// Number of instructions in a search for the origin of a value that count as a step.
const SEARCHED_PER_STEP: usize = 128;
/// Maximum number of instructions from a value to the values that survived.
const MAX_DEPTH: usize = 48;
/// Instructions of straight code before an access that are searched for the origin of a value.
const MAX_BEFORE: usize = 192;

/// The instructions of a path with those before its access, in the order of execution; the last one precedes the PC.
pub(super) struct Past<'a, 'r> {
    walk: &'a Paths,
    nodes: Vec<Node>,
    registers: &'a Registers<'r>,
    /// The registers before the first instruction.
    first: First,
    /// VGPRs that some instruction writes in one lane.
    by_lane: HashSet<u16>,
    work: Cell<usize>,
    depth: Cell<usize>,
    known: RefCell<HashMap<Key, Option<u32>>>,
    origins: RefCell<HashMap<Key, Origin>>,
}

/// Index of an instruction, register file, number and lane.
type Key = (usize, RegisterFile, u16, u8);

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The register still has it at the PC.
    Pc,
    /// The instruction of that index wrote it.
    At(usize),
    /// The hardware set it when the wave began.
    Start,
    /// Unknown.
    Unknown,
}

/// The registers before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// They are unknown.
    Unknown,
    /// The hardware set them: the kernel begins there.
    Start,
    /// They are the captured ones: the instructions are those that follow the PC.
    Pc,
}

/// The write of an instruction to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteKind {
    None,
    Whole,
    Unknown,
}

/// The only lane that an instruction writes.
fn written_lane(text: &str) -> Option<u8> {
    let rest = text.strip_prefix("v_writelane_b32")?;
    rest.rsplit(',').next()?.trim().parse().ok()
}

impl<'a, 'r> Past<'a, 'r> {
    pub(super) fn new(walk: &'a Paths, way: &Way, registers: &'a Registers<'r>) -> (Self, usize) {
        let mut nodes: Vec<Node> = walk.backwards(way).iter().map(|step| step.node).collect();
        let on_path = nodes.len();
        let mut at = nodes.last().copied();
        let mut index = 0;
        while let Some(node) = at.and_then(|node| walk.only_before(node)) {
            // The path may have passed these instructions again, in a later turn of a loop.
            if index >= MAX_BEFORE || nodes.iter().skip(on_path).any(|known| *known == node) {
                break;
            }
            nodes.push(node);
            index += 1;
            at = Some(node);
        }
        nodes.reverse();
        let has_start = nodes.first().is_some_and(|first| walk.is_kernel_start(*first));
        (Self::over(walk, nodes, if has_start { First::Start } else { First::Unknown }, registers), index)
    }

    /// The instructions that a wave executes from its PC on; `route`: their indexes in the function of the PC.
    pub(super) fn ahead(walk: &'a Paths, route: &[usize], registers: &'a Registers<'r>) -> Self {
        let nodes = route.iter().map(|index| Node { listing: 0, index: *index }).collect();
        Self::over(walk, nodes, First::Pc, registers)
    }

    fn over(walk: &'a Paths, nodes: Vec<Node>, first: First, registers: &'a Registers<'r>) -> Self {
        let texts = nodes.iter().filter_map(|node| walk.decoded(*node));
        let by_lane = texts.filter(|one| written_lane(&one.text).is_some());
        let by_lane = by_lane.filter_map(|one| one.effects.as_ref().ok()).flat_map(|of| &of.writes);
        let by_lane = by_lane.map(|write| write.range.first).collect();
        Self {
            walk,
            nodes,
            registers,
            first,
            by_lane,
            work: Cell::new(MAX_WORK),
            depth: Cell::new(MAX_DEPTH),
            known: RefCell::default(),
            origins: RefCell::default(),
        }
    }

    /// EXEC before an instruction.
    pub(super) fn exec(&self, index: usize) -> Option<LaneSet> {
        let part = |dword| self.dword(RegisterFile::Exec, dword, LaneId::default(), index).map(u64::from);
        let high = if self.registers.arch().wave_size == WaveSize::W64 { part(1)? } else { 0 };
        Some(LaneSet(part(0)? | high << 32))
    }

    /// The accesses of lanes before the instruction of that index.
    pub(super) fn addresses(&self, access: &Access, lanes: LaneSet, index: usize) -> Vec<LaneAccess> {
        let context =
            WaveContext { arch: self.registers.arch(), exec: lanes, apertures: self.registers.apertures };
        private::addresses(access, &context, &Before { past: self, index })
    }

    /// Whether an access before that index is to private memory.
    pub(super) fn is_private(&self, access: &Access, index: usize) -> bool {
        private::is_private(access, &Before { past: self, index })
    }

    fn effects(&self, index: usize) -> Option<(&str, &Effects)> {
        let one = self.walk.decoded(*self.nodes.get(index)?)?;
        Some((one.text.as_str(), one.effects.as_ref().ok()?))
    }

    /// Takes steps of this access and of the answer; `None`: too few are left.
    fn spend(&self, steps: usize) -> Option<()> {
        let left = self.work.get().checked_sub(steps);
        self.work.set(left.unwrap_or(0));
        if left.is_none() {
            self.registers.work.cut_registers();
        }
        left.and_then(|_| self.registers.work.spend(steps))
    }

    /// Whether a dword keeps its value from an index to the PC.
    fn is_kept(&self, file: RegisterFile, number: u16, lane: LaneId, index: usize) -> bool {
        let range = RegisterRange::new(file, number, 1);
        (index..self.nodes.len()).all(|at| self.write(at, range, lane) == WriteKind::None)
    }

    /// The value of a dword before an index, from a copy that was made later and survived.
    fn copied(&self, file: RegisterFile, number: u16, lane: LaneId, index: usize) -> Option<u32> {
        // Nothing is captured of the time after the PC.
        if self.first == First::Pc {
            return None;
        }
        self.spend(1 + self.nodes.len() / SEARCHED_PER_STEP)?;
        if self.is_kept(file, number, lane, index) {
            return self.registers.dword(file, number, lane);
        }
        let range = RegisterRange::new(file, number, 1);
        for at in index..self.nodes.len() {
            let (text, effects) = self.effects(at)?;
            if let Some(to) = copy(text, (file, number), lane)
                && (to.file, to.index) != (file, number)
            {
                let found = self.copied(to.file, to.index, to.lane.unwrap_or(lane), at + 1);
                if found.is_some() {
                    return found;
                }
            }
            // A copy of a vector needs the lane, which EXEC after the index may lack.
            let is_masked = file.is_vector() && effects.writes.iter().any(|write| write.range.overlaps(EXEC));
            if is_masked || self.write(at, range, lane) != WriteKind::None {
                return None;
            }
        }
        None
    }

    /// The origin of a dword's value before an index.
    fn origin(&self, file: RegisterFile, number: u16, lane: LaneId, index: usize) -> Origin {
        let lane_of_key = if self.by_lane.contains(&number) { lane.0 } else { 0 };
        let key = (index, file, number, lane_of_key);
        if let Some(known) = self.origins.borrow().get(&key) {
            return *known;
        }
        if self.spend(1 + self.nodes.len() / SEARCHED_PER_STEP).is_none() {
            return Origin::Unknown;
        }
        let range = RegisterRange::new(file, number, 1);
        let origin = if self.first != First::Pc && self.is_kept(file, number, lane, index) {
            Origin::Pc
        } else {
            let writes = (0..index).rev().map(|at| (at, self.write(at, range, lane)));
            match writes.into_iter().find(|(_, kind)| *kind != WriteKind::None) {
                Some((at, WriteKind::Whole)) => Origin::At(at),
                None if self.first == First::Start => Origin::Start,
                None if self.first == First::Pc => Origin::Pc,
                _ => Origin::Unknown,
            }
        };
        self.origins.borrow_mut().insert(key, origin);
        origin
    }

    /// The write of an instruction to a dword in a lane.
    fn write(&self, at: usize, range: RegisterRange, lane: LaneId) -> WriteKind {
        let Some((text, effects)) = self.effects(at) else { return WriteKind::Unknown };
        // The path continues in the callee, or behind it.
        let is_entered =
            || self.nodes.get(at + 1).map(|next| next.listing) != self.nodes.get(at).map(|of| of.listing);
        if effects.control == Control::Call && clobbered().any(|of| of.overlaps(range)) && !is_entered() {
            return WriteKind::Unknown;
        }
        let Some(write) = effects.writes.iter().find(|write| write.range.overlaps(range)) else {
            return WriteKind::None;
        };
        match written_lane(text) {
            Some(written) if written == lane.0 => WriteKind::Whole,
            Some(_) => WriteKind::None,
            None if write.keeps_old && write.range.file.is_vector() => WriteKind::Unknown,
            None => WriteKind::Whole,
        }
    }

    fn dword(&self, file: RegisterFile, number: u16, lane: LaneId, index: usize) -> Option<u32> {
        let lane = if file.is_vector() { lane } else { LaneId::default() };
        let copied = || self.copied(file, number, lane, index);
        let at = match self.origin(file, number, lane, index) {
            Origin::Pc => return self.registers.dword(file, number, lane),
            Origin::At(at) => at,
            Origin::Start => return self.registers.at_start(file, number).or_else(copied),
            Origin::Unknown => return copied(),
        };
        let key = (at, file, number, lane.0);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let depth = self.depth.get().checked_sub(1)?;
        self.spend(1)?;
        self.depth.set(depth);
        let found = self.written(at, file, number, lane).or_else(copied);
        self.depth.set(depth + 1);
        self.known.borrow_mut().insert(key, found);
        found
    }

    fn condition(&self, at: usize, lane: LaneId) -> Option<bool> {
        let (text, _) = self.effects(at)?;
        let depth = self.depth.get().checked_sub(1)?;
        self.depth.set(depth);
        let found = condition(text, lane, &Before { past: self, index: at });
        self.depth.set(depth + 1);
        found
    }

    fn written(&self, at: usize, file: RegisterFile, number: u16, lane: LaneId) -> Option<u32> {
        let (text, effects) = self.effects(at)?;
        match &effects.access {
            Some(access) => self.loaded(at, access, (file, number), lane),
            None => value(text, (file, number), lane, &Before { past: self, index: at }),
        }
    }

    /// The dword that a load at an index brought, from captured memory.
    fn loaded(&self, at: usize, access: &Access, wanted: (RegisterFile, u16), lane: LaneId) -> Option<u32> {
        let data = *access.data.first()?;
        let dword = wanted.1.checked_sub(data.first).filter(|dword| *dword < data.count)?;
        let bytes = access.bytes?;
        if access.direction != Direction::Load || access.is_lds_copy || wanted.0 != data.file {
            return None;
        }
        // Narrow loads extend their value by type, which the access does not show.
        if bytes < 4 || u32::from(data.count) * 4 != u32::from(bytes) {
            return None;
        }
        let lanes = LaneSet::one(lane);
        // Parts of an access are consecutive in the register.
        let mut ahead = dword.checked_mul(4)?;
        let parts = self.addresses(access, lanes, at);
        let part = parts.iter().find(|part| match part.bytes {
            Some(bytes) if bytes <= ahead => {
                ahead -= bytes;
                false
            }
            _ => true,
        });
        let LaneAddress::Memory { space, address, .. } = part?.address else { return None };
        let first = address.0.checked_add(u64::from(ahead))?;
        // The instructions between the load and the capture, the nearest to the load first.
        let between: Vec<usize> = match self.first {
            First::Pc => (0..at).rev().collect(),
            First::Unknown | First::Start => (at + 1..self.nodes.len()).collect(),
        };
        for other in between {
            let (_, effects) = self.effects(other)?;
            let Some(store) = effects.access.as_ref().filter(|of| of.direction != Direction::Load) else {
                continue;
            };
            self.spend(1)?;
            for one in self.addresses(store, lanes, other) {
                if let LaneAddress::Memory { space: of, address, .. } = one.address {
                    let end = address.0.saturating_add(u64::from(one.bytes.unwrap_or(16)));
                    if of == space && address.0 < first.saturating_add(4) && first < end {
                        return self.stored(other, store, first.checked_sub(address.0)?, lane);
                    }
                }
            }
        }
        let place = MemoryAddress {
            space,
            address: Address(first),
            wave: Some(self.registers.wave),
            lane: Some(lane),
        };
        let mut bytes = [0; 4];
        let read = self.registers.session.read(place, &mut bytes).ok()?;
        (read == 4).then(|| u32::from_le_bytes(bytes))
    }

    /// The dword at an offset of a store between the PC and a load. A store between a load and the PC hides the loaded
    /// value.
    fn stored(&self, at: usize, store: &Access, offset: u64, lane: LaneId) -> Option<u32> {
        if self.first != First::Pc {
            return None;
        }
        let data = *store.data.first()?;
        let number = data.first.checked_add(dword_of(store, offset)?)?;
        self.dword(data.file, number, lane, at)
    }
}

/// The number of the dword at an offset in the data of a store of whole dwords.
fn dword_of(store: &Access, offset: u64) -> Option<u16> {
    let is_whole = store.data.first()?.count.checked_mul(4) == store.bytes;
    let is_plain = store.direction == Direction::Store && store.data.len() == 1 && is_whole;
    (is_plain && offset.is_multiple_of(4)).then(|| u16::try_from(offset / 4).ok())?
}

/// Registers before an instruction of the past.
struct Before<'a, 'p, 'r> {
    past: &'p Past<'a, 'r>,
    index: usize,
}

impl ReadRegister for Before<'_, '_, '_> {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        self.past.dword(file, index, lane, self.index)
    }
}

impl ReadOperand for Before<'_, '_, '_> {
    fn bit(&self, mask: RegisterRange, lane: LaneId) -> Option<bool> {
        match self.past.origin(mask.file, mask.first, LaneId::default(), self.index) {
            Origin::Pc => self.past.registers.lanes(mask).map(|lanes| lanes.contains(lane)),
            // A scalar instruction's condition is SCC.
            Origin::At(at) if self.past.effects(at)?.0.starts_with("v_") => self.past.condition(at, lane),
            Origin::At(_) => {
                let part = mask.first.checked_add(u16::from(lane.0 / 32))?;
                let dword = self.past.dword(mask.file, part, LaneId::default(), self.index)?;
                Some(dword >> (lane.0 % 32) & 1 == 1)
            }
            Origin::Start | Origin::Unknown => None,
        }
    }

    fn wave_size(&self) -> Option<WaveSize> {
        Some(self.past.registers.arch().wave_size)
    }

    fn next(&self) -> Option<u64> {
        let one = self.past.walk.decoded(*self.past.nodes.get(self.index)?)?;
        one.address.checked_add(one.size)
    }

    fn scc(&self) -> Option<bool> {
        match self.past.origin(RegisterFile::Scc, 0, LaneId::default(), self.index) {
            Origin::At(at) => self.past.condition(at, LaneId::default()),
            Origin::Pc | Origin::Start | Origin::Unknown => None,
        }
    }

    fn aperture(&self, name: &str) -> Option<u64> {
        let space = match name {
            "src_private_base" => "private_lane",
            "src_shared_base" => "local",
            _ => return None,
        };
        let space = self.past.registers.arch().target.space_named(space)?;
        self.past.registers.apertures.get(&space.id).map(|base| base.0)
    }
}
