//! The address of each lane of an access.

use std::collections::HashMap;

use super::access::{Access, Direction, Family, Form, LdsBase, NotComputableCause, ScalarOperand};
use super::buffer::{Descriptor, Position};
use super::registers::{ReadRegister, RegisterFile, RegisterRange, UnknownRegisterCause};
use crate::arch::{SpaceScope, WaveArch};
use crate::units::{Address, AddressSpace, LaneId, LaneSet};

/// The most bytes that an access through a format moves.
const MAX_FORMAT_BYTES: u16 = 16;
const FLAT_SCRATCH: RegisterRange = RegisterRange::new(RegisterFile::FlatScratch, 0, 2);
const M0: RegisterRange = RegisterRange::new(RegisterFile::M0, 0, 1);

/// Facts about the wave that executes an access.
#[derive(Clone, Copy, Debug)]
pub struct WaveContext<'a> {
    /// Target and wave size.
    pub arch: &'a WaveArch,
    /// The active lanes.
    pub exec: LaneSet,
    /// Bases of apertures from the capture's agent.
    pub apertures: &'a HashMap<AddressSpace, Address>,
}

/// The access of a lane to consecutive bytes. A lane can have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneAccess {
    /// The lane. `None`: one access of the wave.
    pub lane: Option<LaneId>,
    /// The direction; the two sides of a copy between memory and LDS have different ones.
    pub direction: Direction,
    /// Number of bytes. `None`: a format outside the instruction gives it.
    pub bytes: Option<u16>,
    /// The address.
    pub address: LaneAddress,
}

/// The address of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneAddress {
    /// An address of a space.
    Memory {
        /// The DWARF number of the space: global, local or private (of the lane).
        space: AddressSpace,
        /// The address in it.
        address: Address,
        /// The address of the first byte in global memory; `None` for LDS, and if FLAT_SCRATCH is unknown. The next
        /// dwords of private memory follow at a distance of a dword for each lane.
        global: Option<Address>,
    },
    /// Outside the buffer: loads return 0, stores are dropped, and nothing faults.
    OutOfRange,
    /// Unknown.
    Unknown(AddressError),
}

/// The reason that an address is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// A register is unknown.
    #[error(transparent)]
    Register(#[from] UnknownRegisterCause),
    /// The registers alone do not give the address.
    #[error(transparent)]
    NotComputable(#[from] NotComputableCause),
    /// The sum of offsets is negative or exceeds the space; AMD's documents leave the effect undefined.
    #[error("the sum {0:#x} of the offsets is outside the address space")]
    BeyondSpace(i64),
    /// Fields of the descriptor whose meaning no source gives (gfx12.5).
    #[error("the meaning of the descriptor's fields is not known to lanescope")]
    DescriptorFields,
    /// The descriptor is of no buffer, or has a reserved value.
    #[error("the descriptor is of no buffer")]
    NoBuffer,
    /// AMD's documents disagree whether the access is in the buffer's range.
    #[error("the range check of the buffer is ambiguous; in range the address is {0:#x}")]
    RangeCheck(u64),
    /// The target has no such address space.
    #[error("the target lacks the address space")]
    NoSpace,
}

type Found = Result<LaneAddress, AddressError>;

impl Access {
    /// The accesses of the active lanes, or of the wave, in the order of lanes.
    #[must_use]
    pub fn addresses(&self, wave: &WaveContext<'_>, registers: &impl ReadRegister) -> Vec<LaneAccess> {
        let is_scalar = matches!(self.family, Family::Scalar | Family::ScalarBuffer)
            || matches!(
                self.form,
                Form::Lds { base: LdsBase::Wave, .. } | Form::NotComputable(NotComputableCause::Tensor)
            );
        let resolver = Resolver { access: self, wave, registers };
        if is_scalar {
            return resolver.accesses(None);
        }
        let lanes = wave.exec.and(wave.arch.wave_size.all());
        lanes.iter().flat_map(|lane| resolver.accesses(Some(lane))).collect()
    }

    /// The base of a buffer of private memory: its descriptor adds the lane to the index and swizzles. AMD's ISA
    /// documents, "Buffer Resource Descriptor". `None`: no such access, or its descriptor is unknown.
    #[must_use]
    pub fn private_base(&self, registers: &impl ReadRegister) -> Option<u64> {
        let Form::Buffer { descriptor, has_format, .. } = self.form else { return None };
        let mut words = [0; 4];
        for (index, word) in (0..).zip(&mut words) {
            *word = descriptor.dword(index, registers, LaneId::default()).ok()?;
        }
        let buffer = Descriptor::new(words, self.facts.buffer, has_format).ok()?;
        buffer.is_private().then_some(buffer.base)
    }
}

struct Resolver<'a, R> {
    access: &'a Access,
    wave: &'a WaveContext<'a>,
    registers: &'a R,
}

impl<R: ReadRegister> Resolver<'_, R> {
    /// The accesses of one lane, or of the wave.
    fn accesses(&self, lane: Option<LaneId>) -> Vec<LaneAccess> {
        let direction = self.access.direction;
        let of = lane.unwrap_or_default();
        let found = match self.access.is_block {
            true => self.block(of),
            false => self.parts(of),
        };
        let found = found.unwrap_or_else(|why| vec![(self.access.bytes, LaneAddress::Unknown(why))]);
        let mut accesses: Vec<LaneAccess> = found
            .into_iter()
            .map(|(bytes, address)| LaneAccess { lane, direction, bytes, address })
            .collect();
        if let (true, Some(of)) = (self.access.is_lds_copy, lane) {
            let direction = if direction == Direction::Load { Direction::Store } else { Direction::Load };
            let address = self.copied(of).unwrap_or_else(LaneAddress::Unknown);
            accesses.push(LaneAccess { lane, direction, bytes: self.access.bytes, address });
        }
        accesses
    }

    fn parts(&self, lane: LaneId) -> Result<Vec<(Option<u16>, LaneAddress)>, AddressError> {
        let bytes = self.access.bytes;
        let one = |address| vec![(bytes, address)];
        match self.access.form {
            Form::Flat { address, index, scale, offset } => {
                let base = address.value64(self.registers, lane)?;
                self.flat(base, self.index(index, scale, lane)?, offset, lane).map(one)
            }
            Form::Global { base, index, scale, lane_stride, offset } => {
                let base = base.map_or(Ok(0), |range| range.value64(self.registers, lane))?;
                // At most 64 lanes, and 32 bits times the bytes of an access: no overflow.
                let inside = u64::from(lane_stride) * u64::from(lane.0) + self.index(index, scale, lane)?;
                self.global(base.wrapping_add(inside).wrapping_add_signed(offset.into())).map(one)
            }
            Form::Scratch { vector, scale, scalar, offset } => {
                let part = |value: u32| match self.access.facts.has_signed_scratch {
                    true => i64::from(value.cast_signed()),
                    false => i64::from(value),
                };
                let vector = vector.map_or(Ok(0), |range| range.dword(0, self.registers, lane).map(part))?;
                let scalar = scalar.map_or(Ok(0), |operand| self.operand(operand, lane).map(part))?;
                // 32 bits times the bytes of an access: no overflow.
                self.private(vector * i64::from(scale) + scalar + i64::from(offset), lane).map(one)
            }
            Form::Buffer { .. } => self.buffer(lane),
            Form::Scalar { base, scalar, unit, offset } => {
                let base = self.aligned(base.value64(self.registers, lane)?);
                let offset = self.scalar_offset(scalar, unit, offset, lane)?;
                self.global(base.wrapping_add(offset)).map(one)
            }
            Form::ScalarBuffer { descriptor, scalar, offset } => {
                let descriptor = self.descriptor(descriptor, false, lane)?;
                let offset = self.scalar_offset(scalar, 1, offset, lane)?;
                let base = self.aligned(descriptor.base);
                let part = |ahead, _| {
                    let offset = offset + u64::from(ahead);
                    let address = base.wrapping_add(offset);
                    (address, Some(descriptor.holds_scalar(offset)))
                };
                self.checked(true, part)
            }
            Form::Lds { base, offset, second } => {
                let base = match base {
                    LdsBase::Lane(range) => range.dword(0, self.registers, lane)?,
                    LdsBase::Wave => self.m0(lane)? & 0xffff,
                    LdsBase::WaveAndLane => (self.m0(lane)? & 0xffff) + 4 * u32::from(lane.0),
                };
                let offsets = std::iter::once(offset).chain(second);
                offsets.map(|offset| Ok((bytes, self.local(base.wrapping_add(offset))?))).collect()
            }
            Form::NotComputable(why) => Err(why.into()),
        }
    }

    /// The dwords of a block that M0 selects, neighbours together: bit n has the dword n at the address. The memory of
    /// other dwords is no part of the access, and nothing moves up in its place (llvm-project, pull request 130013).
    fn block(&self, lane: LaneId) -> Result<Vec<(Option<u16>, LaneAddress)>, AddressError> {
        let mask = self.m0(lane)?;
        let start = self.parts(lane)?.into_iter().find_map(|(_, start)| match start {
            LaneAddress::Memory { address, .. } => Some(address.0),
            _ => None,
        });
        let start = start.ok_or(AddressError::NoSpace)?;
        let is_set = |dword: &u32| mask >> dword & 1 == 1;
        let dwords: Vec<u32> = (0..u32::BITS).filter(is_set).collect();
        let runs = dwords.chunk_by(|one, next| one + 1 == *next);
        let access = |run: &[u32]| {
            let ahead = 4 * u64::from(run.first().copied().unwrap_or_default());
            let address = start.wrapping_add(ahead);
            let at = match self.access.family {
                Family::Scratch => self.private(address.cast_signed(), lane),
                _ => self.global(address),
            };
            at.map(|at| (u16::try_from(4 * run.len()).ok(), at))
        };
        runs.map(access).collect()
    }

    fn m0(&self, lane: LaneId) -> Result<u32, UnknownRegisterCause> {
        M0.dword(0, self.registers, lane)
    }

    fn operand(&self, operand: ScalarOperand, lane: LaneId) -> Result<u32, AddressError> {
        match operand {
            ScalarOperand::Register(range) => Ok(range.dword(0, self.registers, lane)?),
            ScalarOperand::Constant(value) => Ok(value),
            ScalarOperand::Internal => Err(NotComputableCause::Internal.into()),
        }
    }

    /// The bytes of a lane's offset beside a scalar base.
    fn index(&self, range: Option<RegisterRange>, scale: u16, lane: LaneId) -> Result<u64, AddressError> {
        let index = range.map_or(Ok(0), |range| range.dword(0, self.registers, lane))?;
        if self.access.facts.has_unclear_index && index.cast_signed() < 0 {
            return Err(NotComputableCause::IndexSign.into());
        }
        Ok(u64::from(index) * u64::from(scale))
    }

    /// The aperture test sees the address without the constant offset, and this offset does not leave the aperture.
    /// Base and offset of a lane must be in one aperture with their sum: no document states which one the test sees.
    fn flat(&self, base: u64, index: u64, offset: i32, lane: LaneId) -> Found {
        let address = base.wrapping_add(index);
        let resolve = |address| self.wave.arch.target.resolve_generic(Address(address), self.wave.apertures);
        let (space, inside) = resolve(address).ok_or(AddressError::NoSpace)?;
        if resolve(base).is_none_or(|(of, _)| of.id != space.id) {
            return Err(AddressError::BeyondSpace(address.cast_signed()));
        }
        let sum = || i64::try_from(inside.0).unwrap_or(i64::MAX).saturating_add(offset.into());
        match space.scope {
            SpaceScope::Lane => self.private(sum(), lane),
            SpaceScope::WorkGroup => {
                let inside = u32::try_from(sum()).map_err(|_| AddressError::BeyondSpace(sum()))?;
                self.local(inside)
            }
            _ => self.global(address.wrapping_add_signed(offset.into())),
        }
    }

    fn space(&self, scope: SpaceScope) -> Result<AddressSpace, AddressError> {
        let mut spaces = self.wave.arch.target.spaces.iter();
        spaces.find(|space| space.scope == scope).map(|space| space.id).ok_or(AddressError::NoSpace)
    }

    fn global(&self, address: u64) -> Found {
        let (space, address) = (self.space(SpaceScope::Global)?, Address(address));
        Ok(LaneAddress::Memory { space, address, global: Some(address) })
    }

    fn local(&self, address: u32) -> Found {
        let space = self.space(SpaceScope::WorkGroup)?;
        Ok(LaneAddress::Memory { space, address: Address(u64::from(address)), global: None })
    }

    fn private(&self, sum: i64, lane: LaneId) -> Found {
        let address = u32::try_from(sum).map_err(|_| AddressError::BeyondSpace(sum))?;
        let address = Address(u64::from(address));
        let base = FLAT_SCRATCH.value64(self.registers, lane).ok();
        let within = self.wave.arch.private_wave(lane, address);
        let global = base.zip(within).map(|(base, within)| Address(base.wrapping_add(within.0)));
        Ok(LaneAddress::Memory { space: self.space(SpaceScope::Lane)?, address, global })
    }

    /// Scalar memory ignores the low two bits of each part of an address, except for loads of less than a dword.
    fn aligned(&self, part: u64) -> u64 {
        if self.access.bytes.is_some_and(|bytes| bytes < 4) { part } else { part & !3 }
    }

    fn scalar_offset(
        &self,
        scalar: Option<ScalarOperand>,
        unit: u16,
        offset: i32,
        lane: LaneId,
    ) -> Result<u64, AddressError> {
        let scalar = scalar.map_or(Ok(0), |operand| self.operand(operand, lane))?;
        let sum = self
            .aligned(u64::from(scalar) * u64::from(unit))
            .wrapping_add(self.aligned(i64::from(offset).cast_unsigned()))
            .cast_signed();
        u64::try_from(sum).map_err(|_| AddressError::BeyondSpace(sum))
    }

    fn descriptor(
        &self,
        range: RegisterRange,
        has_format: bool,
        lane: LaneId,
    ) -> Result<Descriptor, AddressError> {
        let mut words = [0; 4];
        for (index, word) in (0..).zip(&mut words) {
            *word = range.dword(index, self.registers, lane)?;
        }
        Descriptor::new(words, self.access.facts.buffer, has_format)
    }

    fn buffer(&self, lane: LaneId) -> Result<Vec<(Option<u16>, LaneAddress)>, AddressError> {
        let Form::Buffer { descriptor, index, vector, scalar, offset, is_checked_by_dword, has_format } =
            self.access.form
        else {
            return Ok(Vec::new());
        };
        let buffer = self.descriptor(descriptor, has_format, lane)?;
        let value = |range: RegisterRange| range.dword(0, self.registers, lane);
        let index = index.map(value).transpose()?;
        let offset = vector.map_or(Ok(0), value)?.wrapping_add(offset);
        let scalar = self.operand(scalar, lane)?;
        self.checked(is_checked_by_dword, |ahead, bytes| {
            let at = Position { index, lane: lane.0, offset, ahead, scalar };
            (buffer.address(at), buffer.holds(at, bytes))
        })
    }

    /// The consecutive parts of an access through a buffer. `part` gives address and range check of some bytes.
    fn checked(
        &self,
        is_by_dword: bool,
        part: impl Fn(u32, u16) -> (u64, Option<bool>),
    ) -> Result<Vec<(Option<u16>, LaneAddress)>, AddressError> {
        let resolve = |address: u64, is_inside: Option<bool>| match is_inside {
            Some(true) => self.global(address),
            Some(false) => Ok(LaneAddress::OutOfRange),
            None => Ok(LaneAddress::Unknown(AddressError::RangeCheck(address))),
        };
        let Some(all) = self.access.bytes else {
            let (address, least) = part(0, 1);
            let most = part(0, MAX_FORMAT_BYTES).1;
            let is_inside = if least == most { least } else { None };
            return Ok(vec![(None, resolve(address, is_inside)?)]);
        };
        let size = if is_by_dword { all.min(4) } else { all };
        let mut parts: Vec<(Option<u16>, LaneAddress)> = Vec::new();
        for ahead in (0..all).step_by(usize::from(size.max(1))) {
            let (address, is_inside) = part(u32::from(ahead), size);
            let found = resolve(address, is_inside)?;
            match parts.last_mut() {
                Some((Some(bytes), last)) if follows(last, *bytes, &found) => *bytes += size,
                _ => parts.push((Some(size), found)),
            }
        }
        Ok(parts)
    }

    /// The LDS side of a copy.
    fn copied(&self, lane: LaneId) -> Found {
        let offset = match self.access.form {
            Form::Global { offset, .. } | Form::Scratch { offset, .. } => i64::from(offset),
            Form::Buffer { offset, .. } => i64::from(offset),
            _ => 0,
        };
        let stride = if self.access.bytes.is_some_and(|bytes| bytes > 8) { 16 } else { 4 };
        let start = match self.access.lds_address {
            Some(range) => i64::from(range.dword(0, self.registers, lane)?),
            None => i64::from(self.m0(lane)?) + stride * i64::from(lane.0),
        };
        let sum = start + offset;
        self.local(u32::try_from(sum).map_err(|_| AddressError::BeyondSpace(sum))?)
    }
}

/// Whether a part of an access continues the one before it.
fn follows(last: &LaneAddress, bytes: u16, next: &LaneAddress) -> bool {
    match (last, next) {
        (LaneAddress::OutOfRange, LaneAddress::OutOfRange) => true,
        (
            LaneAddress::Memory { space, address, .. },
            LaneAddress::Memory { space: same, address: then, .. },
        ) => space == same && address.0.wrapping_add(u64::from(bytes)) == then.0,
        _ => false,
    }
}
