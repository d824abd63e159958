//! A target at one wave size: the unit in which registers have a fixed set, order and width.

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
/// Its table of registers is what clients see, in the target file's order: general registers, SGPRs, VGPRs, AGPRs, then
/// the system's and the trap handler's.
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
    /// Spreads the blocks of a checked file into registers.
    pub(super) fn new(target: Arc<Target>, file: &File, wave_size: WaveSize) -> Self {
        let mut registers = Vec::new();
        let mut blocks = Vec::with_capacity(file.register.len());
        for block in &file.register {
            // The check of the count has made sure that every index fits.
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

    /// Every register, in the target file's order.
    #[must_use]
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// The register of that index; `None` for an index of another kind that has more registers.
    #[must_use]
    pub fn register(&self, id: RegId) -> Option<&Register> {
        self.registers.get(usize::from(id.0))
    }

    /// The register of that user-visible name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Register> {
        self.by_name.get(name).and_then(|id| self.register(*id))
    }

    /// The scalar register of that number.
    #[must_use]
    pub fn sgpr(&self, number: u8) -> Option<&Register> {
        self.named(&format!("s{number}"))
    }

    /// The number of a scalar register, by its DWARF number.
    #[must_use]
    pub fn sgpr_number(&self, number: DwarfReg) -> Option<u8> {
        self.dwarf(number).ok()?.name.strip_prefix('s')?.parse().ok()
    }

    /// The named bits of a register.
    #[must_use]
    pub fn fields(&self, register: &Register) -> Option<&BitFields> {
        register.fields.and_then(|index| self.fields.get(index))
    }

    /// The register of that DWARF number.
    ///
    /// # Errors
    /// The number is reserved, beyond the mapping, or names a register that this kind of wave does not have; the
    /// error names that register.
    pub fn dwarf(&self, number: DwarfReg) -> Result<&Register, DwarfRegError> {
        let id = self.dwarf.find(number)?;
        let unknown = || DwarfRegError::Unknown { number, target: self.target.name.clone() };
        self.registers.get(usize::from(id.0)).ok_or_else(unknown)
    }

    /// The name that AMDGPUUsage gives to a DWARF number (`VGPR4`, `PC_64`), even where this kind lacks the register.
    #[must_use]
    pub fn dwarf_name(&self, number: DwarfReg) -> Option<String> {
        self.dwarf.name(number)
    }

    /// The DWARF number of a name that AMDGPUUsage gives: the kind's own where waves of the other size have one of the
    /// same name.
    #[must_use]
    pub fn dwarf_named(&self, name: &str) -> Option<DwarfReg> {
        self.dwarf.named(name)
    }

    /// The first DWARF number of a register, where one means it to this kind.
    #[must_use]
    pub fn dwarf_of(&self, register: RegId) -> Option<DwarfReg> {
        self.dwarf.ranges().find_map(|range| {
            let DwarfMeaning::Registers(first) = range.meaning else { return None };
            let number = range.first.0 + u64::from(register.0.checked_sub(first.0)?);
            (number <= range.last.0).then_some(DwarfReg(number))
        })
    }

    /// The whole DWARF register mapping as this kind sees it, by number.
    pub fn dwarf_ranges(&self) -> impl Iterator<Item = DwarfRange> + '_ {
        self.dwarf.ranges()
    }

    /// The registers that `s0-s105` or `v17` names: the first one and how many.
    ///
    /// # Errors
    /// A name is unknown, the ends are not of one numbered kind with the lower first, or one in between is missing.
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
        // Kinds have registers that differ in number only side by side, so a hole is the one thing left to find.
        for index in 0..=more {
            let name = format!("{stem}{}", low + index);
            let found = self.named(&name).map(|register| register.id);
            if found != Some(RegId(first.id.0.saturating_add(index))) {
                return Err(RangeError::Hole { text: text.to_owned(), missing: name });
            }
        }
        Ok((first.id, more.saturating_add(1)))
    }

    /// The address space of that number, as a wave of this size has it.
    ///
    /// # Errors
    /// The number is reserved or means nothing, or names private memory of a lane that such a wave does not have.
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

    /// AMD's register numbers and the `g` packet of a gdb that has the architecture, in order and without a gap.
    #[must_use]
    pub fn dbgapi(&self) -> &[DbgapiRun] {
        &self.dbgapi
    }

    /// Every block of named bits that some register has.
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
