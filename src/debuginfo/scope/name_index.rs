//! `.debug_names`: the units with a name, without a read of all units. DWARF 5 section 6.1.1.
//!
//! The index is only a shortcut. Each entry is compared with its DIE; a difference means that the index belongs to
//! another file. A name outside of the index leads to a read of the units, because an index may omit units, and rules
//! on its contents differ. The 2020 AMDGPU text ("Lookup By Name") adds variables whose location has
//! `DW_OP_LLVM_form_aspace_address`; the augmentation of such an index names that text.

use std::collections::HashSet;
use std::sync::Arc;

use gimli::{DebugInfoOffset, NameIndex, NameTableIndex, Reader as _, Section as _};

use crate::clean::clean;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::unit::die::Reading;
use crate::debuginfo::unit::sections::Slice;
use crate::units::DieOffset;

/// The header of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameIndexFacts {
    /// `augmentation_string` without padding: `LLVM0700` of LLVM, `[amd:v0.0]` of the 2020 text.
    pub augmentation: Option<Arc<str>>,
    /// The number of compilation units.
    pub units: u32,
    /// The number of names.
    pub names: u32,
}

impl NameIndexFacts {
    /// Whether the index includes variables in other address spaces.
    #[must_use]
    pub fn has_address_spaces(&self) -> bool {
        self.augmentation.as_deref().is_some_and(|text| text.contains("[amd:v") || text.contains("[llvm:v"))
    }
}

/// The entries of a name in the indexes.
pub(in crate::debuginfo) struct Named {
    /// Variables outside of functions with the name.
    pub(in crate::debuginfo) variables: Vec<DieOffset>,
    /// Units whose names are in an index.
    pub(in crate::debuginfo) covered: HashSet<UnitId>,
}

impl DebugInfo {
    /// The readable indexes of `.debug_names`.
    #[must_use]
    pub fn name_indexes(&self) -> Vec<NameIndexFacts> {
        let dwarf = self.sections.dwarf();
        let mut headers = dwarf.debug_names.headers();
        let mut found = Vec::new();
        while let Ok(Some(header)) = headers.next() {
            let augmentation = header
                .augmentation_string()
                .map(|text| Arc::from(clean(text.to_string_lossy().trim_end_matches('\0'))));
            let (units, names) = (header.compile_unit_count(), header.name_count());
            found.push(NameIndexFacts { augmentation, units, names });
        }
        found
    }
}

/// The entries of a name without namespaces; `None` without entries, or with an entry of another file.
pub(in crate::debuginfo) fn named(reading: Reading<'_>, name: &str) -> Option<Named> {
    let mut found = Named { variables: Vec::new(), covered: HashSet::new() };
    // Rows may share entries. Each entry takes at least one byte of the section.
    let mut left = reading.dwarf.debug_names.reader().len();
    let mut headers = reading.dwarf.debug_names.headers();
    while let Some(header) = headers.next().ok()? {
        let index = header.index().ok()?;
        for unit in 0..index.compile_unit_count() {
            found.covered.insert(unit_at(reading, index.compile_unit(unit).ok()?)?);
        }
        let mut rows: Vec<NameTableIndex> = Vec::new();
        if index.has_hash_table() && name.is_ascii() {
            let mut hits = index.find_by_hash(hash(name)).ok()?;
            while let Some(row) = hits.next().ok()? {
                rows.push(row);
            }
        } else {
            rows.extend(index.names());
        }
        for row in rows {
            if index.name_string(row, &reading.dwarf.debug_str).ok()?.slice() == name.as_bytes() {
                entries(reading, &index, row, name, &mut left, &mut found.variables)?;
            }
        }
    }
    let mut met = HashSet::new();
    found.variables.retain(|die| met.insert(*die));
    (!found.variables.is_empty()).then_some(found)
}

fn entries(
    reading: Reading<'_>,
    index: &NameIndex<Slice<'_>>,
    row: NameTableIndex,
    name: &str,
    left: &mut usize,
    found: &mut Vec<DieOffset>,
) -> Option<()> {
    let mut entries = index.name_entries(row).ok()?;
    while let Some(entry) = entries.next().ok()? {
        *left = left.checked_sub(1)?;
        if entry.tag != gimli::DW_TAG_variable || entry.type_unit(index).ok()?.is_some() {
            continue;
        }
        let unit = match entry.compile_unit(index).ok()? {
            Some(unit) => unit,
            None => index.default_compile_unit().ok()??,
        };
        let offset = entry.die_offset().ok()??.0.checked_add(unit.0)?;
        let die = reading.die(DieOffset(offset as u64)).ok()?;
        let (tag, view) = (die.tag(), std::rc::Rc::clone(&die.view));
        let own = reading.with_origins(die).ok()?;
        let names = [gimli::DW_AT_name, gimli::DW_AT_linkage_name].map(|attribute| own.string(attribute));
        let mut names = names.into_iter().filter_map(|own| own.ok().flatten());
        if tag != gimli::DW_TAG_variable || !names.any(|own| *own == *name) {
            return None;
        }
        let die = DieOffset(offset as u64);
        if view.index().globals.binary_search(&die).is_ok() {
            found.push(die);
        }
    }
    Some(())
}

fn unit_at(reading: Reading<'_>, offset: DebugInfoOffset) -> Option<UnitId> {
    let slots = &reading.units.slots;
    let index = slots.binary_search_by_key(&offset.0, |slot| slot.offset.0).ok()?;
    Some(slots.get(index)?.id)
}

/// DWARF 5 section 7.33: Bernstein's hash of the lower-case name; only ASCII needs no table of Unicode's folding.
fn hash(name: &str) -> u32 {
    let bytes = name.bytes().map(|byte| byte.to_ascii_lowercase());
    bytes.fold(5381u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}
