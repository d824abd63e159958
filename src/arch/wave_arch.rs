//! A target at one wave size: a fixed set, order and width of registers.

use std::collections::HashMap;
use std::sync::Arc;

use super::dbgapi::{self, DbgapiRun};
use super::dwarf_map::{self, DwarfMap, DwarfMeaning, DwarfRange};
use super::error::{DwarfRegError, RangeError, SpaceError};
use super::register::{BitField, BitFields, RegId, Register, SgprAlias};
use super::schema::{Fields, File};
use super::target::{Space, SpaceScope, Target};
use crate::units::{AddressSpace, DwarfReg, WaveSize};

/// A target at one wave size.
///
/// The table of registers has the target file's order, which clients see: general registers, SGPRs, VGPRs, AGPRs,
/// system registers, trap handler registers.
#[derive(Debug)]
pub struct WaveArch {
    /// The processor.
    pub target: Arc<Target>,
    /// The wave size.
    pub wave_size: WaveSize,
    registers: Vec<Register>,
    by_name: HashMap<String, RegId>,
    dwarf: DwarfMap,
    fields: Vec<BitFields>,
    dbgapi: Vec<DbgapiRun>,
}

impl WaveArch {
    /// Expands the blocks of a checked file into registers.
    pub(super) fn new(target: Arc<Target>, file: &File, wave_size: WaveSize) -> Self {
        let mut registers = Vec::new();
        let mut blocks = Vec::with_capacity(file.register.len());
        for block in &file.register {
            // The checked count guarantees that every index fits.
            let first = u16::try_from(registers.len()).ok().map(RegId);
            let (Some(first), Some(dwords)) = (first, block.dwords(wave_size)) else {
                blocks.push(None);
                continue;
            };
            blocks.push(Some(first));
            let fields = block.fields.as_ref();
            let fields = fields.and_then(|name| file.fields.iter().position(|fields| fields.name == *name));
            let dwarf = block.dwarf.and_then(|dwarf| dwarf.of(wave_size));
            let dbgapi = block.dbgapi.and_then(|dbgapi| dbgapi.of(wave_size));
            for index in 0..block.name.count() {
                registers.push(Register {
                    id: RegId(first.0.saturating_add(index)),
                    name: block.name.at(index),
                    class: block.class,
                    dwords,
                    value_type: block.value_type,
                    dwarf: dwarf.map(|number| DwarfReg(u64::from(number) + u64::from(index))),
                    alias: block.sgprs_from_end.map(|back| SgprAlias { back, count: dwords }),
                    fields,
                    dbgapi: dbgapi.map(|number| number.saturating_add(index)),
                    dbgapi_shadow: block.dbgapi_shadow.map(|number| number.saturating_add(index)),
                });
            }
        }
        let by_name = registers.iter().map(|register| (register.name.clone(), register.id)).collect();
        let dbgapi = dbgapi::runs(file, wave_size, &blocks);
        let dwarf =
            DwarfMap { target: target.name.clone(), here: wave_size, runs: dwarf_map::runs(file), blocks };
        let fields = file.fields.iter().map(bit_fields).collect();
        Self { target, wave_size, registers, by_name, dwarf, fields, dbgapi }
    }

    /// Returns all registers, in the target file's order.
    #[must_use]
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// Returns the register of that index; `None` for an index of another kind with more registers.
    #[must_use]
    pub fn register(&self, id: RegId) -> Option<&Register> {
        self.registers.get(usize::from(id.0))
    }

    /// Returns the register of that user-visible name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Register> {
        self.by_name.get(name).and_then(|id| self.register(*id))
    }

    /// Returns the scalar register of that number.
    #[must_use]
    pub fn sgpr(&self, number: u8) -> Option<&Register> {
        self.named(&format!("s{number}"))
    }

    /// Returns the number of a scalar register by its DWARF number.
    #[must_use]
    pub fn sgpr_number(&self, number: DwarfReg) -> Option<u8> {
        self.dwarf(number).ok()?.name.strip_prefix('s')?.parse().ok()
    }

    /// Returns the named bits of a register.
    #[must_use]
    pub fn fields(&self, register: &Register) -> Option<&BitFields> {
        register.fields.and_then(|index| self.fields.get(index))
    }

    /// Returns the register of that DWARF number.
    ///
    /// # Errors
    /// The number is reserved, beyond the mapping, or that of a register (named in the error) that this kind lacks.
    pub fn dwarf(&self, number: DwarfReg) -> Result<&Register, DwarfRegError> {
        let id = self.dwarf.find(number)?;
        let unknown = || DwarfRegError::Unknown { number, target: self.target.name.clone() };
        self.registers.get(usize::from(id.0)).ok_or_else(unknown)
    }

    /// Returns AMDGPUUsage's name of a DWARF number (`VGPR4`, `PC_64`), even if this kind lacks the register.
    #[must_use]
    pub fn dwarf_name(&self, number: DwarfReg) -> Option<String> {
        self.dwarf.name(number)
    }

    /// Returns the DWARF number of AMDGPUUsage's name; if both wave sizes have the name, this kind's number.
    #[must_use]
    pub fn dwarf_named(&self, name: &str) -> Option<DwarfReg> {
        self.dwarf.named(name)
    }

    /// Returns the first DWARF number of a register in this kind, if any.
    #[must_use]
    pub fn dwarf_of(&self, register: RegId) -> Option<DwarfReg> {
        self.dwarf.ranges().find_map(|range| {
            let DwarfMeaning::Registers(first) = range.meaning else { return None };
            let number = range.first.0 + u64::from(register.0.checked_sub(first.0)?);
            (number <= range.last.0).then_some(DwarfReg(number))
        })
    }

    /// Iterates over the whole DWARF register mapping of this kind, by number.
    pub fn dwarf_ranges(&self) -> impl Iterator<Item = DwarfRange> + '_ {
        self.dwarf.ranges()
    }

    /// Returns first register and count of a run such as `s0-s105` or `v17`.
    ///
    /// # Errors
    /// A name is unknown, the ends are not of one numbered kind in ascending order, or one in between is missing.
    pub fn range(&self, text: &str) -> Result<(RegId, u16), RangeError> {
        let find = |name: &str| {
            self.named(name).ok_or_else(|| RangeError::Unknown {
                name: name.to_owned(),
                target: self.target.name.clone(),
                wave_size: self.wave_size,
            })
        };
        let Some((first, last)) = text.split_once('-') else { return Ok((find(text)?.id, 1)) };
        let (first, last) = (find(first)?, find(last)?);
        let run = numbered(&first.name).zip(numbered(&last.name)).and_then(|((stem, low), (other, high))| {
            (stem == other && first.class == last.class).then_some((stem, low, high.checked_sub(low)?))
        });
        let Some((stem, low, more)) = run else { return Err(RangeError::NotARun { text: text.to_owned() }) };
        // The ends differ only in their number, so a hole is the only remaining error.
        for index in 0..=more {
            let name = format!("{stem}{}", low + index);
            let found = self.named(&name).map(|register| register.id);
            if found != Some(RegId(first.id.0.saturating_add(index))) {
                return Err(RangeError::Hole { text: text.to_owned(), missing: name });
            }
        }
        Ok((first.id, more.saturating_add(1)))
    }

    /// Returns the address space of that number for waves of this size.
    ///
    /// # Errors
    /// The number is reserved or meaningless, or names private memory of a lane beyond the wave size.
    pub fn space(&self, id: AddressSpace) -> Result<&Space, SpaceError> {
        match self.target.space(id) {
            Some(Space { scope: SpaceScope::LaneN(lane), .. }) if !self.wave_size.has(*lane) => {
                Err(SpaceError::NoSuchLane { space: id, lane: *lane, here: self.wave_size })
            }
            Some(space) => Ok(space),
            None if self.target.reserves_space(id) => Err(SpaceError::Reserved(id)),
            None => Err(SpaceError::Unknown(id)),
        }
    }

    /// Returns AMD's register numbers in order and without gaps: the `g` packet of a gdb with the architecture.
    #[must_use]
    pub fn dbgapi(&self) -> &[DbgapiRun] {
        &self.dbgapi
    }

    /// Returns all blocks of named bits in use.
    #[must_use]
    pub fn bit_fields(&self) -> &[BitFields] {
        &self.fields
    }
}

fn bit_fields(block: &Fields) -> BitFields {
    let fields = block.bits.iter();
    let fields =
        fields.map(|(name, bits)| BitField { name: name.clone(), low: bits.low(), high: bits.high() });
    let mut fields: Vec<BitField> = fields.collect();
    fields.sort_by_key(|field| field.low);
    BitFields { name: block.name.clone(), fields }
}

/// Splits `v17` into `v` and 17; `None` for names without a number and for spellings such as `v017`.
fn numbered(name: &str) -> Option<(&str, u16)> {
    let stem = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let number = name.strip_prefix(stem)?.parse().ok()?;
    (!stem.is_empty()).then_some((stem, number))
}
