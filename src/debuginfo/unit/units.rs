//! All units of a file: the first question reads their headers; units without a possible answer cost nothing more.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use gimli::{EndianSlice, LittleEndian, Reader as _, Section as _, SectionId, UnitType};

use crate::codeobject::Bytes;
use crate::debuginfo::address_model;
use crate::debuginfo::cache::TableMemory;
use crate::debuginfo::error::{DebugInfoError, ParseError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::interval::Intervals;
use crate::debuginfo::unit::abbreviations::Tables;
use crate::debuginfo::unit::line_table::Lines;
use crate::debuginfo::unit::sections::ranges_capacity;
use crate::debuginfo::unit::sections::{Dwarf, Slice, UnitHeader};
use crate::debuginfo::unit::slot::{Shared, UnitSlot};
use crate::debuginfo::unit::texts::Texts;
use crate::dwarf::Dialect;
use crate::units::DieOffset;

/// Bytes of an address: AMDGPU has only 64-bit code objects ("32-Bit and 64-Bit DWARF Formats" of the 2020 text).
const ADDRESS_SIZE: u8 = 8;
/// Maximum reported unreadable units of a file.
const MAX_PROBLEMS: usize = 64;

/// Maximum units of a file: one takes 400 bytes of memory, and 11 bytes of the file.
const MAX_UNITS: usize = 1 << 18;

/// All units of a file.
#[derive(Debug)]
pub(in crate::debuginfo) struct Units {
    pub(in crate::debuginfo) slots: Vec<UnitSlot>,
    /// Omitted units, and the reason if the list ends before the section.
    pub(in crate::debuginfo) problems: Vec<DebugInfoError>,
    shared: Arc<Shared>,
    memory: Arc<TableMemory>,
    /// The address span of each unit, and the units without ranges.
    by_address: OnceLock<(Intervals<UnitId>, Vec<UnitId>)>,
    /// `.debug_aranges`.
    by_aranges: OnceLock<Intervals<UnitId>>,
    by_signature: OnceLock<HashMap<u64, DieOffset>>,
}

impl Units {
    /// Reads the headers of `.debug_info`, then those of `.debug_types`, whose offsets follow.
    pub(in crate::debuginfo) fn read(
        dwarf: &Dwarf<'_>,
        loclists: &Bytes,
        said: Option<Dialect>,
        memory: &Arc<TableMemory>,
    ) -> Self {
        let mut units = Self {
            slots: Vec::new(),
            problems: Vec::new(),
            shared: Arc::new(Shared {
                said,
                loclists: loclists.clone(),
                tables: Tables::new(dwarf.debug_abbrev.reader().len(), Arc::clone(memory)),
                lines: Lines::new(dwarf.debug_line.reader().len(), Arc::clone(memory)),
                texts: Texts::new(dwarf),
                // One each for units without a list.
                ranges: AtomicUsize::new(ranges_capacity(dwarf).saturating_add(MAX_UNITS)),
            }),
            memory: Arc::clone(memory),
            by_address: OnceLock::new(),
            by_aranges: OnceLock::new(),
            by_signature: OnceLock::new(),
        };
        let info = *dwarf.debug_info.reader();
        units.section(info, SectionId::DebugInfo, 0);
        units.section(*dwarf.debug_types.reader(), SectionId::DebugTypes, info.len());
        units
    }

    fn section(&mut self, section: Slice<'_>, kind: SectionId, base: usize) {
        let mut at = 0;
        while at < section.len() {
            let beyond = match () {
                () if self.slots.len() >= MAX_UNITS => {
                    Some("more than 262144 units; it and those after it are left out")
                }
                () if !self.memory.units.take(1) => {
                    Some("more than 524288 units of all code objects; it and those after it are left out")
                }
                () => None,
            };
            if let Some(why) = beyond {
                let unit = DieOffset(base.saturating_add(at) as u64);
                return self.problem(DebugInfoError::Bound { unit, what: "header", why });
            }
            let mut rest = section;
            let length = rest.skip(at).and_then(|()| {
                let (length, _) = rest.read_initial_length()?;
                let end = section.len() - rest.len();
                if length > rest.len() {
                    Err(gimli::Error::UnexpectedEof(rest.offset_id()))
                } else {
                    Ok(end + length)
                }
            });
            let end = match length {
                Ok(end) => end,
                // The beginning of the next one is unknown.
                Err(why) => return self.bad(base.saturating_add(at), "header", why),
            };
            if let Err(why) = self.unit(section, kind, base, at, end) {
                self.bad(base.saturating_add(at), "header", why);
            }
            at = end;
        }
    }

    /// Adds the unit at an offset of a section; an unreadable one costs only itself. A unit of another address model
    /// keeps its index, with the reason as its error.
    fn unit(
        &mut self,
        section: Slice<'_>,
        kind: SectionId,
        base: usize,
        at: usize,
        end: usize,
    ) -> gimli::Result<()> {
        let header = match address_model::unit_header(section.slice(), kind.name(), at, base) {
            Err(refused) => {
                self.problem(refused.clone());
                Err(refused)
            }
            Ok(()) => Ok(match header(section, kind, at)?.type_() {
                UnitType::Type { type_signature, type_offset } => Some((type_signature.0, type_offset.0)),
                _ => None,
            }),
        };
        let in_types = (kind == SectionId::DebugTypes).then_some(at);
        let (offset, end) = (base.saturating_add(at), base.saturating_add(end));
        let id = UnitId(self.slots.len() as u32);
        self.slots.push(UnitSlot::new(id, offset, end, in_types, header, Arc::clone(&self.shared)));
        Ok(())
    }

    fn bad(&mut self, unit: usize, what: &'static str, why: gimli::Error) {
        self.problem(DebugInfoError::Unit { unit: DieOffset(unit as u64), what, why: ParseError::new(why) });
    }

    fn problem(&mut self, problem: DebugInfoError) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    pub(in crate::debuginfo) fn slot(&self, id: UnitId) -> Result<&UnitSlot> {
        self.slots.get(id.0 as usize).ok_or(DebugInfoError::NoSuchDie(DieOffset(u64::from(id.0))))
    }

    /// The errors of units without any answers, except for those in [`Self::problems`].
    pub(in crate::debuginfo) fn unreadable<'a>(
        &'a self,
        dwarf: &'a Dwarf<'a>,
    ) -> impl Iterator<Item = DebugInfoError> + 'a {
        let roots = self.slots.iter().filter_map(|slot| slot.root(dwarf).err());
        roots.filter(|problem| !self.problems.contains(problem))
    }

    /// The unit of a DIE.
    pub(in crate::debuginfo) fn holding(&self, die: DieOffset) -> Result<&UnitSlot> {
        let offset = usize::try_from(die.0).unwrap_or(usize::MAX);
        let after = self.slots.partition_point(|slot| slot.offset.0 <= offset);
        let slot = after.checked_sub(1).and_then(|index| self.slots.get(index));
        slot.filter(|slot| offset < slot.end).ok_or(DebugInfoError::NoSuchDie(die))
    }

    /// The type DIE of a type unit.
    pub(in crate::debuginfo) fn signed_type(&self, signature: u64) -> Option<DieOffset> {
        let by_signature = self.by_signature.get_or_init(|| {
            let mut found = HashMap::new();
            for slot in &self.slots {
                let die = slot.signature.and_then(|(own, at)| Some((own, slot.offset.0.checked_add(at)?)));
                // Linkers keep the first of equal units.
                die.into_iter().for_each(|(own, die)| {
                    found.entry(own).or_insert(DieOffset(die as u64));
                });
            }
            found
        });
        by_signature.get(&signature).copied()
    }

    /// Units that may have code at the address. First those of `.debug_aranges` whose root agrees, then all with ranges
    /// around it, then those without ranges. A caller that stops early avoids reads of the other roots.
    ///
    /// Omits units with an unreadable root: they have no answers.
    pub(in crate::debuginfo) fn at<'a>(
        &'a self,
        dwarf: &'a Dwarf<'a>,
        address: u64,
    ) -> impl Iterator<Item = UnitId> + 'a {
        let holds = move |id: &&UnitId| self.slot(**id).is_ok_and(|slot| slot.holds(dwarf, address));
        let told: Vec<UnitId> = self.by_aranges(dwarf).at(address).filter(holds).copied().collect();
        let mut first = told.clone().into_iter();
        let mut rest = None;
        std::iter::from_fn(move || {
            if let Some(id) = first.next() {
                return Some(id);
            }
            let rest = rest.get_or_insert_with(|| {
                let (ranged, silent) = self.by_address(dwarf);
                let all: Vec<UnitId> = ranged.at(address).filter(holds).chain(silent).copied().collect();
                all.into_iter()
            });
            rest.find(|id| !told.contains(id))
        })
    }

    fn by_address(&self, dwarf: &Dwarf<'_>) -> &(Intervals<UnitId>, Vec<UnitId>) {
        self.by_address.get_or_init(|| {
            // A type unit has no code.
            let units = self.slots.iter().filter(|slot| slot.signature.is_none());
            let roots: Vec<_> = units.filter_map(|slot| slot.root(dwarf).ok()).collect();
            let spans = roots.iter().filter_map(|root| Some((root.span.clone()?, root.facts.id)));
            let silent = roots.iter().filter(|root| root.span.is_none()).map(|root| root.facts.id);
            (Intervals::new(spans), silent.collect())
        })
    }

    /// The readable part of `.debug_aranges`; units outside of it are found without it. Tables with a segment selector
    /// or another address size are not AMDGPU's ("Lookup By Address" of the 2020 text).
    fn by_aranges(&self, dwarf: &Dwarf<'_>) -> &Intervals<UnitId> {
        self.by_aranges.get_or_init(|| {
            let mut found = Vec::new();
            let mut headers = dwarf.debug_aranges.headers();
            while let Ok(Some(header)) = headers.next() {
                let offset = header.debug_info_offset().0;
                let unit = self.slots.binary_search_by_key(&offset, |slot| slot.offset.0);
                let Some(unit) = unit.ok().and_then(|index| self.slots.get(index)) else { continue };
                if header.encoding().address_size != ADDRESS_SIZE || unit.in_types.is_some() {
                    continue;
                }
                let mut entries = header.entries();
                while let Ok(Some(entry)) = entries.next() {
                    let range = entry.range();
                    found.push((range.begin..range.end, unit.id));
                }
            }
            Intervals::new(found)
        })
    }
}

fn header(section: Slice<'_>, kind: SectionId, at: usize) -> gimli::Result<UnitHeader<'_>> {
    match kind {
        SectionId::DebugTypes => {
            let mut rest = section;
            rest.skip(at)?;
            let end = gimli::Error::UnexpectedEof(rest.offset_id());
            gimli::DebugTypes::from(rest).units().next()?.ok_or(end)
        }
        _ => gimli::DebugInfo::from(EndianSlice::new(section.slice(), LittleEndian))
            .header_from_offset(gimli::DebugInfoOffset(at)),
    }
}
