//! The machine state of a case file, checked and ready for queries.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::error::{CaseError, MemoryCause, RegisterCause};
use super::file::{BaseTypeText, MemoryText, StateText};
use super::text::{Hex, Int, PlaceText, RegisterText, Wide, number_in};
use crate::arch::{SpaceScope, Targets, WaveArch};
use crate::dwarf::{
    Answer, BaseType, ContextError, LaneNeed, Location, MemoryAt, RegisterBytes, SpaceInfo, TypeEncoding,
};
use crate::units::{Address, AddressSpace, BitSize, DieOffset, DwarfReg, LaneId, Pc, WaveSize};

/// A register's width, if the file gives it, and its contents.
#[derive(Debug)]
struct Contents {
    bits: Option<BitSize>,
    bytes: RegisterBytes,
}

/// The store of a byte: all addressings of a wave's private memory share one.
const GLOBAL: AddressSpace = AddressSpace(0);
const PRIVATE_WAVE: AddressSpace = AddressSpace(6);

/// The machine state.
#[derive(Debug)]
pub(super) struct State<'f> {
    pub(super) text: &'f StateText,
    pub(super) kind: Arc<WaveArch>,
    pub(super) lane: Option<LaneId>,
    registers: BTreeMap<DwarfReg, Contents>,
    entry_registers: BTreeMap<DwarfReg, Contents>,
    memory: HashMap<(AddressSpace, Address), u8>,
    apertures: HashMap<AddressSpace, Address>,
    base_types: BTreeMap<DieOffset, BaseType>,
}

impl<'f> State<'f> {
    /// Checks and reads a state.
    pub(super) fn new(text: &'f StateText, targets: &Targets) -> Result<Self, CaseError> {
        let wave_size = match text.wave_size {
            Some(lanes) => WaveSize::from_lanes(lanes).ok_or(CaseError::WaveSize(lanes))?,
            None => {
                let first = targets.target(&text.target)?.wave_sizes.first().copied();
                first.ok_or_else(|| CaseError::NoWaveSizes(text.target.clone()))?
            }
        };
        let kind = targets.kind(&text.target, wave_size)?;
        let lane = text.lane.map(LaneId);
        if let Some(lane) = lane.filter(|lane| !wave_size.has(*lane)) {
            return Err(CaseError::Lane(lane, wave_size));
        }
        let mut state = Self {
            text,
            kind,
            lane,
            registers: BTreeMap::new(),
            entry_registers: BTreeMap::new(),
            memory: HashMap::new(),
            apertures: HashMap::new(),
            base_types: text.base_type.iter().map(base_type).collect(),
        };
        state.registers = registers(&state.kind, "registers", &text.registers)?;
        state.entry_registers = registers(&state.kind, "entry_registers", &text.entry_registers)?;
        let pc = state.kind.named("pc").and_then(|register| register.dwarf);
        if let (Some(pc), Some(value)) = (pc, text.pc) {
            let contents = || Contents { bits: None, bytes: filled(&value.0.to_le_bytes(), 2) };
            state.registers.entry(pc).or_insert_with(contents);
        }
        for (name, base) in &text.apertures {
            let names = [name.clone(), format!("{name}_lane")];
            let space = names.iter().find_map(|name| state.kind.target.space_named(name));
            let space = space.ok_or_else(|| CaseError::Aperture(name.clone()))?;
            state.apertures.insert(space.id, Address(base.0));
        }
        for memory in &text.memory {
            state.store(memory)?;
        }
        Ok(state)
    }

    fn store(&mut self, memory: &MemoryText) -> Result<(), CaseError> {
        let Hex(bytes) = &memory.bytes;
        let lane = memory.lane.map(LaneId);
        let space = AddressSpace(memory.space.0);
        for (offset, byte) in bytes.iter().enumerate() {
            let address = Address(memory.address.0.wrapping_add(offset as u64));
            let place = self.place(MemoryAt { space, lane, address });
            let place = place.ok_or_else(|| self.no_place(space, lane, address))?;
            self.memory.insert(place, *byte);
        }
        Ok(())
    }

    /// The reason why memory of the file has no store.
    fn no_place(&self, space: AddressSpace, lane: Option<LaneId>, address: Address) -> CaseError {
        let wave = self.kind.wave_size;
        let of_lane = matches!(self.kind.space(space).map(|space| space.scope), Ok(SpaceScope::Lane));
        let cause = match (of_lane, lane) {
            (true, None) => MemoryCause::NeedsLane,
            (true, Some(lane)) if !wave.has(lane) => MemoryCause::Lane(lane, wave),
            (true, Some(lane)) => match (self.kind.private_wave(lane, address), self.text.scratch_bytes) {
                (Some(Address(offset)), Some(Int(size))) => {
                    MemoryCause::Scratch { offset, lane, lanes: u32::from(wave.lanes()), size }
                }
                _ => MemoryCause::Wraps,
            },
            (false, _) => MemoryCause::Beyond,
        };
        CaseError::NoMemory { space, address, cause }
    }

    /// The store of a byte and its address in it; `None` if the state has no such memory.
    fn place(&self, at: MemoryAt) -> Option<(AddressSpace, Address)> {
        let space = self.kind.space(at.space).ok()?;
        let private = |lane, address| {
            let offset = self.kind.private_wave(lane, address)?;
            self.text.scratch_bytes.is_none_or(|size| offset.0 < size.0).then_some((PRIVATE_WAVE, offset))
        };
        match space.scope {
            SpaceScope::Lane => private(at.lane?, at.address),
            SpaceScope::LaneN(lane) => private(lane, at.address),
            SpaceScope::Generic => {
                let (space, address) = self.kind.target.resolve_generic(at.address, &self.apertures)?;
                let inner = MemoryAt { space: space.id, address, ..at };
                if space.scope == SpaceScope::Generic { None } else { self.place(inner) }
            }
            scope => {
                let size = match scope {
                    SpaceScope::Wave => self.text.scratch_bytes,
                    SpaceScope::WorkGroup => self.text.lds_bytes,
                    _ => None,
                };
                size.is_none_or(|size| at.address.0 < size.0).then_some((at.space, at.address))
            }
        }
    }

    /// The lanes, registers, memory and types for the evaluator.
    pub(super) fn space_info(&self, space: AddressSpace) -> Option<SpaceInfo> {
        let space = self.kind.target.space(space)?;
        let lane = match space.scope {
            SpaceScope::Lane => LaneNeed::Now,
            SpaceScope::LaneN(lane) => LaneNeed::Fixed(lane),
            SpaceScope::Generic => LaneNeed::WhenRead,
            _ => LaneNeed::None,
        };
        Some(SpaceInfo { address_bits: space.address_bits, lane })
    }

    /// A width from the file takes precedence: tests may define registers of their own.
    pub(super) fn register_size(&self, register: DwarfReg) -> Answer<BitSize> {
        let given =
            |map: &BTreeMap<DwarfReg, Contents>| map.get(&register).and_then(|contents| contents.bits);
        match given(&self.registers).or_else(|| given(&self.entry_registers)) {
            Some(bits) => Ok(bits),
            None => match self.kind.dwarf(register) {
                Ok(known) => Ok(BitSize(known.bits())),
                Err(error) => Err(ContextError::absent(error.to_string())),
            },
        }
    }

    pub(super) fn read_register(&self, register: DwarfReg, caller: bool, into: &mut RegisterBytes) {
        let map = if caller { &self.entry_registers } else { &self.registers };
        if let Some(contents) = map.get(&register) {
            *into = contents.bytes.clone();
        }
    }

    pub(super) fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        for (offset, slot) in into.iter_mut().enumerate() {
            let address = Address(at.address.0.wrapping_add(offset as u64));
            let byte = self.place(MemoryAt { address, ..at }).and_then(|place| self.memory.get(&place));
            match byte {
                Some(byte) => *slot = *byte,
                None => return offset,
            }
        }
        into.len()
    }

    pub(super) fn pc(&self) -> Option<Pc> {
        self.text.pc.map(|Int(pc)| Pc(pc))
    }

    pub(super) fn base_type(&self, die: DieOffset) -> Option<BaseType> {
        self.base_types.get(&die).copied()
    }

    /// A place of the file, converted to a location.
    pub(super) fn location(&self, place: PlaceText) -> Result<Location, CaseError> {
        let space = AddressSpace(place.space.0);
        let address = Address(place.address.0);
        let info = self.space_info(space).ok_or(CaseError::Reserved(space))?;
        Ok(match (info.lane, place.lane.map(LaneId).or(self.lane)) {
            (LaneNeed::Now | LaneNeed::WhenRead, Some(lane)) => {
                Location::lane_memory(space, info.address_bits, lane, address)
            }
            (LaneNeed::Now, None) => return Err(CaseError::NeedsLane(space)),
            _ => Location::memory(space, info.address_bits, address),
        })
    }

    /// Names of registers and address spaces, for text.
    pub(super) fn names(&self) -> Names<'_> {
        Names(&self.kind)
    }
}

/// Names from the target's file.
#[derive(Debug)]
pub(super) struct Names<'k>(&'k WaveArch);

impl crate::dwarf::print::Names for Names<'_> {
    fn register(&self, register: DwarfReg) -> Option<String> {
        self.0.dwarf(register).ok().map(|register| register.name.clone())
    }

    fn space(&self, space: AddressSpace) -> Option<String> {
        let space = self.0.target.space(space)?;
        Some(if space.id == GLOBAL { "global".to_owned() } else { space.name.clone() })
    }
}

fn base_type(text: &BaseTypeText) -> (DieOffset, BaseType) {
    let bits = text.byte_size.saturating_mul(8);
    let encoding = TypeEncoding(text.encoding);
    (DieOffset(text.offset.0), BaseType { encoding, element_bits: bits, elements: text.vector_size })
}

fn registers(
    kind: &WaveArch,
    map: &'static str,
    texts: &BTreeMap<String, RegisterText>,
) -> Result<BTreeMap<DwarfReg, Contents>, CaseError> {
    let register = |(number, text): (&String, &RegisterText)| {
        let error =
            |cause: RegisterCause| CaseError::Register { map, register: number.clone(), cause: cause.into() };
        let parsed = number.parse().map_err(|_| error(RegisterCause::Number))?;
        let known = kind.dwarf(DwarfReg(parsed)).ok().map(|register| register.bits());
        Ok((DwarfReg(parsed), contents(text, known, kind.wave_size).map_err(error)?))
    };
    texts.iter().map(register).collect()
}

/// Contents of a register; `known` is its width in bits if the target has it.
fn contents(text: &RegisterText, known: Option<u64>, wave: WaveSize) -> Result<Contents, RegisterCause> {
    let lanes_of = u64::from(wave.lanes());
    let is_vector = known.is_none_or(|bits| bits == lanes_of * 32);
    match text {
        RegisterText::Scalar(_) if known.is_some() && is_vector => Err(RegisterCause::Vector),
        RegisterText::Scalar(value) => {
            let bits = known.unwrap_or(64);
            let bytes = number_in(*value, bits)?;
            Ok(Contents { bits: None, bytes: filled(&bytes, bits.div_ceil(32) as usize) })
        }
        RegisterText::Lanes(_) if !is_vector => Err(RegisterCause::Scalar(known.unwrap_or(0))),
        RegisterText::Lanes(lanes) if lanes.len() as u64 > lanes_of => {
            Err(RegisterCause::Lanes(lanes.len(), lanes_of))
        }
        RegisterText::Lanes(lanes) => {
            let bytes: Vec<u8> = lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect();
            Ok(Contents { bits: None, bytes: filled(&bytes, lanes.len()) })
        }
        RegisterText::Abstract(Wide { bits, bytes }) => {
            let dwords = bits.div_ceil(32) as usize;
            Ok(Contents { bits: Some(BitSize(*bits)), bytes: filled(bytes, dwords) })
        }
    }
}

/// Bytes at the start of a register, of which that many dwords are known.
fn filled(bytes: &[u8], dwords: usize) -> RegisterBytes {
    let mut register = RegisterBytes::unknown();
    for (to, from) in register.bytes.iter_mut().zip(bytes) {
        *to = *from;
    }
    register.known = if dwords >= 64 { u64::MAX } else { (1 << dwords) - 1 };
    register
}
