//! One wave of a save area: the places of its registers, and the facts in its hardware registers and trap temporaries.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::block::{Block, Counts, SLOTS};
use super::memory::CoreMemory;
use crate::arch::save_area::{self, Parked, SaveArea, TtmpBits};
use crate::arch::{RegId, SgprAlias, Target, WaveArch};
use crate::capture::RegisterBlock;
use crate::integers::u32_at;
use crate::units::LaneSet;

/// Number of SGPR slots below the hardware registers that are read with them: aliases among them may hold a base.
const TAIL: usize = 16;

/// Number of dwords that are read for each wave.
const WORDS: usize = TAIL + 32;

/// Sixteen saved dwords, possibly with missing ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slots {
    words: [u32; 16],
    /// Mask of the captured ones.
    known: u16,
}

impl Slots {
    /// Creates slots from completely captured bytes.
    fn of(bytes: &[u8], first: usize) -> Self {
        let word = |index: usize| u32_at(bytes, (first + index) * 4).unwrap_or_default();
        Self { words: std::array::from_fn(word), known: u16::MAX }
    }

    /// Reads the words at an address, one by one if there is a gap.
    fn read(memory: &CoreMemory, address: u64) -> Self {
        let mut bytes = [0; SLOTS as usize];
        let got = memory.read(address, &mut bytes) / 4;
        let mut slots = Self::of(&bytes, 0);
        for (index, word) in slots.words.iter_mut().enumerate().skip(got) {
            match address.checked_add(index as u64 * 4).and_then(|address| memory.u32(address)) {
                Some(captured) => *word = captured,
                None => slots.known &= !(1 << index),
            }
        }
        slots
    }

    /// The word at an index.
    pub(super) fn get(&self, index: usize) -> Option<u32> {
        self.words.get(index).copied().filter(|_| self.known >> index & 1 == 1)
    }

    /// Whether all words were captured.
    pub(super) fn is_whole(&self) -> bool {
        self.known == u16::MAX
    }
}

/// The saved words of a wave that hold its facts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The last SGPR slots.
    tail: Slots,
    /// Hardware registers by slot.
    pub(super) hw: Slots,
    /// Trap temporaries.
    pub(super) ttmps: Slots,
}

impl Words {
    /// The words of a wave's block.
    pub(super) fn read(memory: &CoreMemory, block: &Block) -> Self {
        let mut bytes = [0; WORDS * 4];
        match Self::start(block) {
            Some(start) if memory.read(start, &mut bytes) == bytes.len() => Self::of(&bytes, block),
            _ => Self::read_slots(memory, block),
        }
    }

    /// The words of many blocks, in their order.
    pub(super) fn read_all(memory: &CoreMemory, blocks: &[&Block]) -> Vec<Self> {
        // No wave is at the first or the last address: a wave without a start has no words there.
        let starts: Vec<u64> = blocks.iter().map(|block| Self::start(block).unwrap_or(u64::MAX)).collect();
        let found = memory.read_each(&starts);
        let words = |(block, bytes): (&&Block, Option<[u8; WORDS * 4]>)| match bytes {
            Some(bytes) => Self::of(&bytes, block),
            None => Self::read(memory, block),
        };
        blocks.iter().zip(found).map(words).collect()
    }

    /// Address of the first word; all words are contiguous.
    fn start(block: &Block) -> Option<u64> {
        block.hwregs().checked_sub((TAIL * 4) as u64)
    }

    fn of(bytes: &[u8; WORDS * 4], block: &Block) -> Self {
        let of = |first| Slots::of(bytes, first);
        // The last SGPR slots, or the 16 slots above those of the hardware registers.
        let ttmps = if block.counts.ttmps_in_sgprs { 0 } else { TAIL + 16 };
        Self { tail: of(0), hw: of(TAIL), ttmps: of(ttmps) }
    }

    /// Reads the words around a gap.
    fn read_slots(memory: &CoreMemory, block: &Block) -> Self {
        let (at, read) = (block.hwregs(), |address| Slots::read(memory, address));
        let tail = Self::start(block).map(read).unwrap_or_default();
        Self { tail, hw: read(at), ttmps: read(block.ttmps()) }
    }

    /// Bits of a trap temporary.
    pub(super) fn ttmp(&self, bits: TtmpBits) -> Option<u32> {
        Some(bits.bits.of(self.ttmps.get(bits.ttmp.into())?))
    }

    fn slot(&self, slot: u8) -> Option<u32> {
        self.hw.get(slot.into())
    }

    /// The set bits among those; none if the register was not captured.
    fn flags(&self, slot: u8, bits: u32) -> u32 {
        self.slot(slot).unwrap_or(0) & bits
    }

    fn long(&self, slot: u8) -> Option<u64> {
        Some(u64::from(self.slot(slot)?) | u64::from(self.slot(slot.checked_add(1)?)?) << 32)
    }
}

/// Three-valued or: `None` is unknown.
fn either(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// A block of one completely saved register.
fn one(first: RegId, dwords: u16, offset: u64) -> RegisterBlock {
    RegisterBlock { first, count: 1, width: dwords * 4, offset, known: LaneSet(u64::MAX) }
}

/// Properties of trap temporaries by the runtime that wrote the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    /// Whether every wave has dispatch facts.
    pub(super) setup: bool,
    /// Version of the runtime's debugger interface, if known.
    pub(super) r_version: Option<u32>,
}

/// Since this version STATUS.SKIP_EXPORT marks halted waves, and TTMP6 those without dispatch facts.
const MARKS: u32 = 10;

/// The facts in a wave's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Its address; `None`: unknown, despite a value in the PC register.
    pub(super) pc: Option<u64>,
    /// Whether the trap handler stopped it; `None`: unknown.
    pub(super) stopped: Option<bool>,
    /// Its trap; 0: none, `None`: unknown.
    pub(super) trap: Option<u8>,
    /// HALT before the trap handler set it.
    pub(super) halt: Option<bool>,
    /// Its launch: work-group, place in it, packet index.
    pub(super) launch: Option<Launch>,
    /// Whether trap temporaries and status contradict each other on its stop.
    pub(super) contradicts: bool,
}

/// Dispatch facts of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) group: [u32; 3],
    pub(super) wave_in_group: u32,
    pub(super) packet: u32,
}

/// A register that is presented with a changed value, and the change.
#[derive(Clone, Copy, Debug)]
struct Rewrite {
    id: RegId,
    slot: u8,
    hidden: u32,
    halt: Option<u8>,
}

/// A processor's layout at one wave size, prepared for many waves.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: Arc<WaveArch>,
    layout: Arc<Target>,
    pc: Option<(RegId, u8)>,
    rewrites: Vec<Rewrite>,
    status: Option<u8>,
    /// Slot and bit.
    no_vgprs: Option<(u8, u8)>,
    /// HALT as set by the trap handler: slot and bit.
    halt: Option<(u8, u8)>,
    /// Registers that imply faults: name, slot, relevant bits.
    fault_words: Vec<(String, u8, u32)>,
    /// Slot, and bits that are faults in any case.
    hard_faults: Vec<(u8, u32)>,
    /// Place of the register with the base of private memory.
    scratch_base: Option<AddressPlace>,
    /// Place of the register that code sets to that base.
    flat_scratch: Option<AddressPlace>,
    reasons: HashMap<FaultBits, Option<Vec<usize>>>,
    /// The last wave's entry: most waves have the same.
    last_reasons: Option<(FaultBits, Option<Vec<usize>>)>,
    layouts: HashMap<LayoutKey, Arc<[RegisterBlock]>>,
    /// The last wave's entry.
    last_layout: Option<(LayoutKey, Arc<[RegisterBlock]>)>,
}

/// The trap and the words that imply stop reasons, each reduced to the relevant bits.
type FaultBits = Vec<Option<u32>>;

/// The counts that determine a layout, and whether the saved VGPRs are meaningless.
type LayoutKey = (Counts, bool);

/// The place of a register with an address of 64 bits.
#[derive(Clone, Copy, Debug)]
enum AddressPlace {
    /// This hardware slot and the next one.
    Slot(u8),
    /// The SGPRs of an alias.
    Alias(SgprAlias),
}

impl Row {
    /// Creates the row of a kind of wave, saved in `layout`: its own processor's, or the one that the area has.
    pub(super) fn new(kind: Arc<WaveArch>, layout: Arc<Target>) -> Option<Self> {
        let area = layout.save_area.as_ref()?;
        let slot = |name: &str| area.hwregs.get(name).copied();
        let mut rewrites: Vec<Rewrite> = Vec::new();
        let hidden = area.hidden.iter().map(|hidden| {
            let bits =
                hidden.bits.iter().fold(0, |bits, bit| bits | 1u32.checked_shl((*bit).into()).unwrap_or(0));
            (&hidden.register, bits, None)
        });
        for (name, bits, halt) in hidden.chain([(&area.halt.register, 0, Some(area.halt.bit))]) {
            let (Some(register), Some(slot)) = (kind.named(name), slot(name)) else { continue };
            match rewrites.iter_mut().find(|rewrite| rewrite.slot == slot) {
                Some(rewrite) => {
                    rewrite.hidden |= bits;
                    rewrite.halt = rewrite.halt.or(halt);
                }
                None => rewrites.push(Rewrite { id: register.id, slot, hidden: bits, halt }),
            }
        }
        let mut fault_words: Vec<(String, u8, u32)> = Vec::new();
        for fault in &kind.target.fault_bits {
            let own = [Some(fault.bit), fault.unless].into_iter().flatten().map(|bit| (&fault.register, bit));
            let enable = fault.enabled_by.iter().map(|(register, bit)| (register, *bit));
            for (register, bit) in own.chain(enable) {
                let Some(slot) = slot(register) else { continue };
                let bit = 1u32.checked_shl(bit.into()).unwrap_or(0);
                match fault_words.iter_mut().find(|(known, ..)| known == register) {
                    Some((_, _, bits)) => *bits |= bit,
                    None => fault_words.push((register.clone(), slot, bit)),
                }
            }
        }
        let hard = kind.target.fault_bits.iter().filter(|fault| fault.dbgapi && fault.enabled_by.is_none());
        let hard =
            hard.filter_map(|fault| Some((slot(&fault.register)?, 1u32.checked_shl(fault.bit.into())?)));
        let hard_faults = hard.collect();
        let address = |name: &str| {
            let alias = || kind.named(name)?.alias.map(AddressPlace::Alias);
            slot(name).map(AddressPlace::Slot).or_else(alias)
        };
        let no_vgprs = area.no_vgprs.as_ref().and_then(|bit| Some((slot(&bit.register)?, bit.bit)));
        Some(Self {
            pc: kind.named("pc").map(|register| register.id).zip(slot("pc")),
            status: slot("status"),
            no_vgprs,
            halt: slot(&area.halt.register).map(|slot| (slot, area.halt.bit)),
            rewrites,
            fault_words,
            hard_faults,
            scratch_base: area.scratch.base.as_deref().and_then(address),
            flat_scratch: address("flat_scratch"),
            reasons: HashMap::new(),
            last_reasons: None,
            layouts: HashMap::new(),
            last_layout: None,
            kind,
            layout: Arc::clone(&layout),
        })
    }

    /// Whether it is for that layout.
    pub(super) fn is_of(&self, layout: &Arc<Target>) -> bool {
        self.layout.name == layout.name
    }

    /// The layout.
    pub(super) fn area(&self) -> Option<&SaveArea> {
        self.layout.save_area.as_ref()
    }

    /// The facts in a wave's words. `is_captured`: whether an address is in captured memory.
    pub(super) fn facts(&self, words: &Words, promise: Promise, is_captured: impl Fn(u64) -> bool) -> Facts {
        let Some(area) = self.area() else { return Facts::default() };
        let ttmps = &area.ttmps;
        let setup = promise.setup || ttmps.always;
        let marks = promise.r_version.is_none_or(|version| version >= MARKS);
        let is_set = |bits: TtmpBits| words.ttmp(bits).map(|value| value != 0);
        let by_status = match ttmps.skip_export.filter(|_| marks) {
            Some(bit) => {
                self.status.and_then(|slot| words.slot(slot)).map(|status| status >> (bit & 31) & 1 == 1)
            }
            None => Some(false),
        };
        let marked = ttmps.mark.map_or(Some(true), is_set);
        let handled = either(ttmps.mark.map_or(Some(setup), is_set), by_status);
        // Whether it has no dispatch facts.
        let absent = match ttmps.absent.filter(|_| marks && marked != Some(false)) {
            Some(bits) => is_set(bits).filter(|is_absent| !is_absent || marked.is_some()),
            None => Some(false),
        };
        let launch = || {
            let found = ttmps.launch(|number| words.ttmps.get(number.into()))?;
            let save_area::Launch { group, wave_in_group, packet } = found;
            Some(Launch { group, wave_in_group, packet: packet? })
        };
        let launch = if setup && absent == Some(false) { launch() } else { None };
        let stopped = match handled {
            Some(true) => is_set(ttmps.stopped),
            // No word of the trap handler counts: the wave was running when it was saved.
            Some(false) => is_set(ttmps.stopped).map(|_| false),
            None => None,
        };
        let is_stopped = stopped == Some(true);
        // The trap handler halts a stopped wave, and later ones mark it; without a known version no mark is required.
        let is_halted = self.halt.and_then(|(slot, bit)| Some(words.slot(slot)? >> (bit & 31) & 1 == 1));
        let is_marked =
            by_status.filter(|_| ttmps.skip_export.is_some() && promise.r_version.is_some() && marks);
        let contradicts = match stopped {
            Some(true) => is_halted == Some(false) || is_marked == Some(false),
            Some(false) => is_marked == Some(true),
            None => false,
        };
        let saved = self.pc.and_then(|(_, slot)| words.long(slot));
        let parked = |parked: &Parked| {
            let low_high = words.ttmp(parked.low).zip(words.ttmp(parked.high));
            let candidate = low_high.map(|(low, high)| u64::from(low) | u64::from(high) << 32);
            match promise.r_version {
                Some(version) if version < parked.since => saved,
                // The writer is unknown. Code is captured, and the address of parked waves is not.
                None if parked.since > 0 => candidate.and_then(|candidate| {
                    if is_captured(candidate) || !saved.is_some_and(&is_captured) {
                        Some(candidate)
                    } else {
                        saved
                    }
                }),
                _ => candidate,
            }
        };
        // A wave that may be parked has no known PC.
        let may_park = |parked: &Parked| promise.r_version.is_none_or(|version| version >= parked.since);
        let pc = match (stopped, &area.parked) {
            (Some(true), Some(place)) => parked(place),
            (None, Some(place)) if may_park(place) => None,
            _ => saved,
        };
        Facts {
            pc,
            stopped,
            trap: if is_stopped { words.ttmp(ttmps.trap_id).map(|trap| trap as u8) } else { Some(0) },
            halt: if is_stopped { words.ttmp(ttmps.halt).map(|bit| bit != 0) } else { None },
            launch,
            contradicts,
        }
    }

    /// Indexes of the stop reasons of a stopped wave. `None`: the captured words do not determine them.
    pub(super) fn reasons(&mut self, words: &Words, trap: Option<u8>) -> Option<Vec<usize>> {
        let faults = self.fault_words.iter().map(|(_, slot, bits)| Some(words.slot(*slot)? & bits));
        let key = std::iter::once(trap.map(u32::from)).chain(faults);
        if let Some((last, reasons)) = &self.last_reasons
            && key.clone().eq(last.iter().copied())
        {
            return reasons.clone();
        }
        let key: FaultBits = key.collect();
        let reasons = match self.reasons.get(&key) {
            Some(known) => known.clone(),
            None => {
                let found = self.find_reasons(words, trap, &key);
                self.reasons.insert(key.clone(), found.clone());
                found
            }
        };
        self.last_reasons = Some((key, reasons.clone()));
        reasons
    }

    /// [`Self::reasons`] for new words; `key`: their relevant bits.
    fn find_reasons(&self, words: &Words, trap: Option<u8>, key: &[Option<u32>]) -> Option<Vec<usize>> {
        let target = &self.kind.target;
        let read = |name: &str| {
            let (_, slot, _) = self.fault_words.iter().find(|(known, ..)| known == name)?;
            words.slot(*slot).map(u64::from)
        };
        let mut reasons = target.faults(true, read);
        reasons.extend(trap.and_then(|trap| target.trap_reason(trap)));
        reasons.sort_unstable();
        reasons.dedup();
        let is_known = !reasons.is_empty() || key.iter().all(Option::is_some);
        is_known.then_some(reasons)
    }

    /// Whether hardware flags that need no enable bit report a fault.
    pub(super) fn has_fault(&self, words: &Words) -> bool {
        self.hard_faults.iter().any(|(slot, bits)| words.flags(*slot, *bits) != 0)
    }

    /// Registers that are presented with other bytes than the saved ones; `None`: the saved bytes are meaningless.
    pub(super) fn rewritten(&self, words: &Words, facts: &Facts, mut each: impl FnMut(RegId, Option<&[u8]>)) {
        if let Some((id, slot)) = self.pc
            && words.long(slot) != facts.pc
        {
            each(id, facts.pc.map(u64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice));
        }
        for rewrite in &self.rewrites {
            let Some(saved) = words.slot(rewrite.slot) else { continue };
            let mut seen = saved & !rewrite.hidden;
            // A set HALT may be the trap handler's.
            let halt = rewrite.halt.map_or(0, |bit| 1u32.checked_shl(bit.into()).unwrap_or(0));
            if facts.stopped.is_none() && saved & halt != 0 {
                each(rewrite.id, None);
                continue;
            }
            if let (Some(bit), Some(halt)) = (rewrite.halt, facts.halt) {
                let bit = 1u32.checked_shl(bit.into()).unwrap_or(0);
                seen = if halt { seen | bit } else { seen & !bit };
            }
            if seen != saved {
                each(rewrite.id, Some(&seen.to_le_bytes()));
            }
        }
    }

    /// The base of private memory in a register, by architecture.
    ///
    /// `None`: this processor has no such register; `Some(None)`: its value was not captured.
    pub(super) fn scratch_base(&self, words: &Words, counts: &Counts) -> Option<Option<u64>> {
        self.area()?.scratch.base.as_ref()?;
        Some(self.address(self.scratch_base, words, counts))
    }

    /// The register that code sets to the base of private memory, by convention; `None`: not captured.
    pub(super) fn flat_scratch(&self, words: &Words, counts: &Counts) -> Option<u64> {
        self.address(self.flat_scratch, words, counts)
    }

    /// A register of 64 bits, in its hardware slot or among the last SGPRs.
    fn address(&self, place: Option<AddressPlace>, words: &Words, counts: &Counts) -> Option<u64> {
        let alias = match place? {
            AddressPlace::Slot(slot) => return words.long(slot),
            AddressPlace::Alias(alias) => alias,
        };
        let sgprs = u16::try_from(counts.sgprs).ok()?;
        let first = usize::from(alias.first(self.kind.target.sgpr_alias_limit, sgprs)?);
        let index = (TAIL + first).checked_sub(usize::from(sgprs))?;
        Some(u64::from(words.tail.get(index)?) | u64::from(words.tail.get(index + 1)?) << 32)
    }

    /// Whether the saved VGPRs of a wave are meaningless.
    pub(super) fn without_vgprs(&self, words: &Words) -> bool {
        let word = self.no_vgprs.and_then(|(slot, bit)| Some(words.slot(slot)? >> (bit & 31) & 1));
        word == Some(1)
    }

    /// Offsets of registers from a wave's lowest address; waves with equal counts share one table.
    pub(super) fn layout(&mut self, counts: Counts, without_vgprs: bool) -> Arc<[RegisterBlock]> {
        let key = (counts, without_vgprs);
        if let Some((_, last)) = self.last_layout.as_ref().filter(|(last, _)| *last == key) {
            return Arc::clone(last);
        }
        let layout = match self.layouts.get(&key) {
            Some(known) => Arc::clone(known),
            None => {
                let made: Arc<[RegisterBlock]> = self.blocks(&counts, without_vgprs).into();
                self.layouts.insert(key, Arc::clone(&made));
                made
            }
        };
        self.last_layout = Some((key, Arc::clone(&layout)));
        layout
    }

    fn blocks(&self, counts: &Counts, without_vgprs: bool) -> Vec<RegisterBlock> {
        let Some(area) = self.area() else { return Vec::new() };
        let mut blocks = Vec::new();
        // Adds the registers of a range that the processor has.
        let mut add = |stem: &str, numbers: Range<u32>, width, offset, known| {
            let named = |number| self.kind.named(&format!("{stem}{number}"));
            let count = numbers.clone().take_while(|number| named(*number).is_some()).count();
            if let (Some(first), Ok(count @ 1..)) = (named(numbers.start), u16::try_from(count)) {
                blocks.push(RegisterBlock { first: first.id, count, width, offset, known });
            }
        };
        let all = LaneSet(u64::MAX);
        let [vgprs, shared, accums, sgprs] = counts.bytes();
        let lane = 4 * u16::from(counts.size.lanes());
        if !without_vgprs {
            add("v", 0..counts.vgprs, lane, 0, all);
            // Both halves of a wave see the same 32 lanes.
            let half = LaneSet(u64::from(u32::MAX));
            add("v", counts.vgprs..counts.vgprs + counts.shared, 32 * 4, vgprs, half);
        }
        add("a", 0..counts.accums, 64 * 4, vgprs + shared, all);
        let scalars = vgprs + shared + accums;
        add("s", 0..counts.sgprs, 4, scalars, all);
        let slots = scalars + sgprs;
        let limit = self.kind.target.sgpr_alias_limit;
        let allocated = u16::try_from(counts.sgprs).unwrap_or(u16::MAX);
        for register in self.kind.registers() {
            let Some(first) = register.alias.and_then(|alias| alias.first(limit, allocated)) else {
                continue;
            };
            let offset = scalars + u64::from(first) * 4;
            blocks.push(one(register.id, register.dwords, offset));
        }
        for (name, slot) in &area.hwregs {
            let Some(register) = self.kind.named(name) else { continue };
            let offset = slots + u64::from(*slot) * 4;
            blocks.push(one(register.id, register.dwords, offset));
        }
        if let Some(stale) = &area.stale_sgprs
            && let Some(first) = limit.min(allocated).checked_sub(stale.from_end)
            && let (Some(register), Some(slot)) =
                (self.kind.named(&stale.register), area.hwregs.get(&stale.register))
        {
            for index in 0..register.dwords {
                let Some(sgpr) = self.kind.named(&format!("s{}", first + index)) else { continue };
                let offset = slots + (u64::from(*slot) + u64::from(index)) * 4;
                blocks.push(one(sgpr.id, 1, offset));
            }
        }
        let ttmps =
            if counts.ttmps_in_sgprs { slots.saturating_sub(SLOTS) } else { slots + counts.hwreg_bytes() };
        for number in 0..16u64 {
            let Some(register) = self.kind.named(&format!("ttmp{number}")) else { continue };
            let offset = ttmps + number * 4;
            blocks.push(one(register.id, 1, offset));
        }
        blocks
    }
}
