//! Values of registers that were overwritten before the PC: computed again from values that survived.
//!
//! A register's value before an instruction is that of the last instruction that wrote it, and so on, along the path to
//! the PC and the straight code before it. A load is repeated from captured memory, unless a later store on the path
//! wrote there, of any lane. The results are inferred: a store at an unknown address may have changed the memory
//! ([`stores`]). The values that a wave computes next, from its PC on, follow from the captured ones in the same way.

mod refuted;
mod stores;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use self::stores::Stored;
use super::lanes::Lanes;
use super::look::{EXEC, clobbered};
use super::registers::Registers;
use super::{Node, Paths, Way, private};
use crate::arch::SpaceScope;
use crate::isa::{
    Access, Control, Direction, Effects, Family, Instruction, LaneAccess, LaneAddress, Operation,
    ReadOperand, ReadRegister, RegisterFile, RegisterRange, WaveContext,
};
use crate::session::MemoryAddress;
use crate::session::address::GLOBAL;
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
    pub(super) walk: &'a Paths,
    pub(super) nodes: Vec<Node>,
    /// The PC behind them, if they lead there.
    pub(super) pc: Option<Node>,
    pub(super) registers: &'a Registers<'r>,
    /// The registers before the first instruction.
    pub(super) first: First,
    /// EXEC before each instruction, and behind the last one.
    pub(super) exec: RefCell<Vec<Lanes>>,
    /// The same, for a lane that was active at the access.
    pub(super) assumed: Vec<Lanes>,
    /// The lane whose address is computed.
    pub(super) focus: Cell<Option<LaneId>>,
    /// The instructions of the nodes.
    steps: Vec<PastStep<'a>>,
    /// The first lane with the same EXEC at all instructions, by lane.
    pub(super) groups: Vec<u8>,
    /// VGPRs that some instruction writes in one lane.
    by_lane: HashSet<u16>,
    work: Cell<usize>,
    depth: Cell<usize>,
    known: RefCell<HashMap<Key, Option<u32>>>,
    origins: RefCell<HashMap<Key, Origin>>,
    /// The bytes that stores may have written, by index of the instruction.
    stores: RefCell<HashMap<usize, Rc<Stored>>>,
    /// Whether a load was repeated although a store at an unknown address may have changed the memory since.
    pub(super) is_doubtful: Cell<bool>,
    /// Whether no load is repeated.
    is_without_loads: Cell<bool>,
}

/// An instruction of the past.
#[derive(Clone, Copy)]
struct PastStep<'a> {
    /// `None`: its effects are unknown.
    one: Option<(&'a Instruction, &'a Effects)>,
    /// Whether the path continues behind a callee, which may change some registers.
    is_left: bool,
    /// The files of which it may write registers, a bit each.
    files: u16,
    /// The only lane that it writes.
    lane: Option<u8>,
}

impl<'a> PastStep<'a> {
    fn of(walk: &'a Paths, nodes: &[Node], at: usize) -> Self {
        let one = nodes.get(at).and_then(|node| walk.decoded(*node));
        let one = one.and_then(|one| Some((&one.code, one.effects().ok()?)));
        let is_left = is_left(walk, nodes, at);
        let written = one.map(|(_, effects)| effects.writes.iter().map(|write| 1 << write.range.file as u16));
        let files =
            written.filter(|_| !is_left).map_or(u16::MAX, |files| files.fold(0, |all, file| all | file));
        Self { one, is_left, files, lane: one.and_then(|(one, _)| written_lane(one)) }
    }
}

/// Index of an instruction, register file, number, lane, and whether it is the lane whose address is computed.
type Key = (usize, RegisterFile, u16, u8, bool);

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
pub(super) enum First {
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

/// Whether a path continues behind a callee, and not in it.
fn is_left(walk: &Paths, nodes: &[Node], at: usize) -> bool {
    let Some(node) = nodes.get(at) else { return false };
    let effects = walk.decoded(*node).and_then(|one| one.effects().ok());
    match effects.map(|effects| effects.control) {
        Some(Control::Call) => nodes.get(at + 1).map(|next| next.listing) == Some(node.listing),
        _ => walk.leaves(*node),
    }
}

/// The only lane that an instruction writes.
fn written_lane(one: &Instruction) -> Option<u8> {
    let write = one.computations().find(|of| of.operation == Operation::WriteLane)?;
    let [_, lane, _] = write.sources;
    u8::try_from(lane.constant()?).ok()
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
        let first = if has_start { First::Start } else { First::Unknown };
        (Self::over(walk, nodes, first, index, registers), index)
    }

    /// The instructions that a wave executes from its PC on; `route`: their indexes in the function of the PC.
    pub(super) fn ahead(walk: &'a Paths, route: &[usize], registers: &'a Registers<'r>) -> Self {
        let nodes: Vec<Node> = route.iter().map(|index| Node { listing: 0, index: *index }).collect();
        let access = nodes.len();
        Self::over(walk, nodes, First::Pc, access, registers)
    }

    fn over(
        walk: &'a Paths,
        nodes: Vec<Node>,
        first: First,
        access: usize,
        registers: &'a Registers<'r>,
    ) -> Self {
        let steps: Vec<PastStep<'_>> = (0..nodes.len()).map(|at| PastStep::of(walk, &nodes, at)).collect();
        let by_lane = steps.iter().filter(|step| step.lane.is_some());
        let by_lane = by_lane.filter_map(|step| step.one).flat_map(|(_, of)| &of.writes);
        let by_lane = by_lane.map(|write| write.range.first).collect();
        let size = registers.arch().wave_size;
        let exec = vec![Lanes::unknown(size.all()); nodes.len() + 1];
        let mut past = Self {
            walk,
            nodes,
            pc: walk.steps.first().map(|step| step.node).filter(|_| first != First::Pc),
            registers,
            first,
            assumed: exec.clone(),
            exec: RefCell::new(exec),
            focus: Cell::new(None),
            steps,
            groups: (0..size.lanes()).collect(),
            by_lane,
            work: Cell::new(MAX_WORK),
            depth: Cell::new(MAX_DEPTH),
            known: RefCell::default(),
            origins: RefCell::default(),
            stores: RefCell::default(),
            is_doubtful: Cell::new(false),
            is_without_loads: Cell::new(false),
        };
        past.find_exec(access);
        past.is_doubtful.set(false);
        past.work.set(MAX_WORK);
        past
    }

    /// Drops the values that are known so far.
    pub(super) fn forget(&self) {
        self.known.borrow_mut().clear();
        self.origins.borrow_mut().clear();
        self.stores.borrow_mut().clear();
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
        private::addresses(access, &context, &Before { past: self, index, is_outer: true })
    }

    /// The addresses in one lane of an access that a value depends on.
    fn inner_addresses(&self, access: &Access, lane: LaneId, index: usize) -> Vec<LaneAccess> {
        let exec = LaneSet::one(lane);
        let context = WaveContext { arch: self.registers.arch(), exec, apertures: self.registers.apertures };
        private::addresses(access, &context, &self.registers_at(index))
    }

    fn registers_at(&self, index: usize) -> Before<'_, 'a, 'r> {
        Before { past: self, index, is_outer: false }
    }

    /// A bit of a mask of lanes before the instruction of that index.
    pub(super) fn lane_bit(&self, mask: RegisterRange, lane: LaneId, index: usize) -> Option<bool> {
        self.registers_at(index).bit(mask, lane)
    }

    /// The instruction that wrote a dword last before an index, and its index.
    pub(super) fn writer(
        &self,
        file: RegisterFile,
        number: u16,
        lane: LaneId,
        index: usize,
    ) -> Option<(usize, &Instruction)> {
        match self.origin(file, number, lane, index) {
            Origin::At(at) => Some((at, self.effects(at)?.0)),
            Origin::Pc | Origin::Start | Origin::Unknown => None,
        }
    }

    /// Whether an access before that index is to private memory.
    pub(super) fn is_private(&self, access: &Access, index: usize) -> bool {
        private::is_private(access, &self.registers_at(index))
    }

    pub(super) fn effects(&self, index: usize) -> Option<(&'a Instruction, &'a Effects)> {
        self.steps.get(index)?.one
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
            let (_, effects) = self.effects(at)?;
            if let Some(to) = effects.copies.iter().find_map(|copy| copy.of((file, number), lane))
                && (to.file, to.index) != (file, number)
                && (to.lane.is_some() || !to.file.is_vector() || self.is_active(at, lane) == Some(true))
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
        let group = || self.groups.get(usize::from(lane.0)).copied().unwrap_or(lane.0);
        let lane_of_key = if self.by_lane.contains(&number) { lane.0 } else { group() };
        let key = (index, file, number, lane_of_key, self.focus.get() == Some(lane));
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
            match self.last_write(range, lane, index) {
                Some((at, WriteKind::Whole)) => Origin::At(at),
                None if self.first == First::Start => Origin::Start,
                None if self.first == First::Pc => Origin::Pc,
                _ => Origin::Unknown,
            }
        };
        self.origins.borrow_mut().insert(key, origin);
        origin
    }

    /// The last instruction before an index that may have written a dword, and its write.
    fn last_write(&self, range: RegisterRange, lane: LaneId, index: usize) -> Option<(usize, WriteKind)> {
        let writes = (0..index).rev().map(|at| (at, self.write(at, range, lane)));
        writes.into_iter().find(|(_, kind)| *kind != WriteKind::None)
    }

    /// The instruction that wrote a dword last before an index, also if the register still has the value. `Err`: it is
    /// unknown; `Ok(None)`: none did.
    pub(super) fn written_at(
        &self,
        (file, number): (RegisterFile, u16),
        lane: LaneId,
        index: usize,
    ) -> Result<Option<usize>, ()> {
        self.spend(1 + self.nodes.len() / SEARCHED_PER_STEP).ok_or(())?;
        match self.last_write(RegisterRange::new(file, number, 1), lane, index) {
            None => Ok(None),
            Some((at, WriteKind::Whole)) => Ok(Some(at)),
            Some(_) => Err(()),
        }
    }

    /// The write of an instruction to a dword in a lane.
    fn write(&self, at: usize, range: RegisterRange, lane: LaneId) -> WriteKind {
        let Some(step) = self.steps.get(at) else { return WriteKind::Unknown };
        if step.files >> range.file as u16 & 1 == 0 {
            return WriteKind::None;
        }
        let Some((_, effects)) = step.one else { return WriteKind::Unknown };
        if step.is_left && clobbered().any(|of| of.overlaps(range)) {
            return WriteKind::Unknown;
        }
        let Some(write) = effects.writes.iter().find(|write| write.range.overlaps(range)) else {
            return WriteKind::None;
        };
        match step.lane {
            Some(written) if written == lane.0 => return WriteKind::Whole,
            Some(_) => return WriteKind::None,
            None => {}
        }
        let is_masked = write.range.file.is_vector() && !write.ignores_exec;
        match if is_masked { self.is_active(at, lane) } else { Some(true) } {
            Some(false) => WriteKind::None,
            Some(true) if !write.keeps_old || !write.range.file.is_vector() => WriteKind::Whole,
            _ => WriteKind::Unknown,
        }
    }

    /// A register before an instruction.
    pub(super) fn dword(&self, file: RegisterFile, number: u16, lane: LaneId, index: usize) -> Option<u32> {
        if file.is_vector() {
            return self.computed(file, number, lane, index);
        }
        if file == RegisterFile::Exec
            && let Some(lanes) = self.lanes(index).and_then(Lanes::exact)
        {
            return lanes.0.checked_shr(32 * u32::from(number)).map(|part| part as u32);
        }
        // A scalar is the same for all lanes, also for one that was inactive at the access.
        let focus = self.focus.replace(None);
        let found = self.computed(file, number, LaneId::default(), index);
        self.focus.set(focus);
        found
    }

    fn computed(&self, file: RegisterFile, number: u16, lane: LaneId, index: usize) -> Option<u32> {
        let copied = || self.copied(file, number, lane, index);
        let at = match self.origin(file, number, lane, index) {
            Origin::Pc => return self.registers.dword(file, number, lane),
            Origin::At(at) => at,
            Origin::Start => return self.registers.at_start(file, number).or_else(copied),
            Origin::Unknown => return copied(),
        };
        let key = (at, file, number, lane.0, self.focus.get() == Some(lane));
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
        let (one, _) = self.effects(at)?;
        let depth = self.depth.get().checked_sub(1)?;
        self.depth.set(depth);
        let found = one.condition(lane, &self.registers_at(at));
        self.depth.set(depth + 1);
        found
    }

    fn written(&self, at: usize, file: RegisterFile, number: u16, lane: LaneId) -> Option<u32> {
        let (one, effects) = self.effects(at)?;
        match &effects.access {
            Some(access) => self.loaded(at, access, (file, number), lane),
            None => one.value((file, number), lane, &self.registers_at(at)),
        }
    }

    /// The dword that a load at an index brought, from captured memory.
    fn loaded(&self, at: usize, access: &Access, wanted: (RegisterFile, u16), lane: LaneId) -> Option<u32> {
        if self.is_without_loads.get() {
            return None;
        }
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
        // Parts of an access are consecutive in the register.
        let mut ahead = dword.checked_mul(4)?;
        let parts = self.inner_addresses(access, lane, at);
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
        let scope = self.registers.arch().target.space(space).map(|space| space.scope);
        // No kernel writes its arguments.
        let is_argument = || space == GLOBAL && self.registers.is_argument(first);
        for other in between {
            let (_, effects) = self.effects(other)?;
            // A callee may store anywhere, also over the frame of an earlier one.
            if self.first != First::Pc
                && self.steps.get(other).is_some_and(|step| step.is_left)
                && !is_argument()
            {
                self.is_doubtful.set(true);
            }
            // Behind a barrier another wave may have written there.
            if scope == Some(SpaceScope::WorkGroup) && is_barrier(effects.control) {
                return None;
            }
            let Some(store) = effects.access.as_ref().filter(|of| of.direction != Direction::Load) else {
                continue;
            };
            self.spend(1)?;
            let is_masked =
                wanted.0.is_vector() && !matches!(store.family, Family::Scalar | Family::ScalarBuffer);
            let is_active = if is_masked { self.is_active(other, lane) } else { Some(true) };
            if is_active == Some(false) {
                continue;
            }
            for one in self.inner_addresses(store, lane, other) {
                if let LaneAddress::Memory { space: of, address, .. } = one.address {
                    let end = address.0.saturating_add(u64::from(one.bytes.unwrap_or(16)));
                    if of == space && address.0 < first.saturating_add(4) && first < end {
                        is_active?;
                        return self.stored(other, store, first.checked_sub(address.0)?, lane);
                    }
                }
            }
            if self.first != First::Pc && stores::may_reach(store.family, scope) {
                let stored = self.stores(other, store);
                if stored.as_ref().is_some_and(|of| of.has((space, first, 4), lane)) {
                    return None;
                }
                if stored.is_none_or(|of| of.is_unknown) && !is_argument() {
                    self.is_doubtful.set(true);
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

/// Whether other waves of the work-group may have gone on.
fn is_barrier(control: Control) -> bool {
    use Control::{Barrier, BarrierMembership, BarrierSignal, BarrierWait};
    matches!(control, Barrier | BarrierMembership | BarrierSignal | BarrierWait)
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
    /// Whether the instruction is the access whose address is wanted: the lane was active.
    is_outer: bool,
}

impl ReadRegister for Before<'_, '_, '_> {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        let focus = self.past.focus.get();
        if self.is_outer && file.is_vector() {
            self.past.focus.set(Some(lane));
        }
        let found = self.past.dword(file, index, lane, self.index);
        self.past.focus.set(focus);
        found
    }
}

impl ReadOperand for Before<'_, '_, '_> {
    fn bit(&self, mask: RegisterRange, lane: LaneId) -> Option<bool> {
        let past = self.past;
        let number = mask.first.checked_add(u16::from(lane.0 / 32))?;
        let writer = match past.origin(mask.file, number, LaneId::default(), self.index) {
            // A scalar instruction's condition is SCC.
            Origin::At(at) => past.effects(at).map(|(one, _)| (at, one.mnemonic())),
            Origin::Pc | Origin::Start | Origin::Unknown => None,
        };
        match writer.filter(|(_, name)| name.starts_with("v_") && !name.starts_with("v_read")) {
            Some((at, name)) => match past.is_active(at, lane) {
                Some(true) => past.condition(at, lane),
                // A comparison writes 0 for inactive lanes.
                Some(false) => name.starts_with("v_cmp").then_some(false),
                None => past.condition(at, lane).filter(|holds| !holds && name.starts_with("v_cmp")),
            },
            None => {
                Some(past.dword(mask.file, number, LaneId::default(), self.index)? >> (lane.0 % 32) & 1 == 1)
            }
        }
    }

    fn wave_size(&self) -> Option<WaveSize> {
        Some(self.past.registers.arch().wave_size)
    }

    fn next(&self) -> Option<u64> {
        let one = self.past.walk.decoded(*self.past.nodes.get(self.index)?)?;
        Some(one.end())
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
