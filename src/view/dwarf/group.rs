//! Units that refer to DIEs of others (`DW_FORM_ref_addr`, DWARF 5 section 7.5.5). They come from links of bitcode,
//! where one unit has an inlined call's abstract instance and the shared types.
//!
//! Such units are converted together, each once. gimli follows references in a `.debug_info` with the units at their
//! original offsets. Empty units fill the gaps between them: a unit without references to it costs nothing, and a
//! malformed one harms no other.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;

use gimli::{AttributeValue, UnitOffset, UnitRef, constants};

use super::Slice;
use super::filter::{TypeRef, has_code, type_of};
use crate::debuginfo::{DebugInfo, Dies, UnitId};
use crate::units::DieOffset;

/// The maximum of bytes of units that one view reads only for references: a link of some hundred sources.
pub(super) const MAX_REFERRED_BYTES: usize = 1 << 25;

/// Bytes of a unit's header (DWARF 4, section 7.5.1.1): length, version, offset of abbreviations, size of addresses.
const HEADER: usize = 11;
/// A table of abbreviations: code 1 is a unit without children and attributes.
const NO_CONTENTS: [u8; 6] = [1, constants::DW_TAG_compile_unit.0 as u8, 0, 0, 0, 0];

/// Units converted together.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Their ranges in `.debug_info`.
    units: BTreeMap<UnitId, Range<usize>>,
    /// Whether some referenced units were left out.
    pub(super) is_cut: bool,
}

impl Group {
    /// The wanted units that refer to DIEs by section offset, and all units that they refer to.
    pub(super) fn of(debug: &DebugInfo, dwarf: &gimli::Dwarf<Slice<'_>>, wanted: &[UnitId]) -> Self {
        let uses = |id: &UnitId| debug.refers_to_others(*id).unwrap_or(false);
        let mut group = Self::default();
        let wanted: BTreeSet<UnitId> = wanted.iter().copied().collect();
        let mut seen = wanted.clone();
        let mut queue: VecDeque<UnitId> = wanted.iter().copied().filter(uses).collect();
        let mut referred = 0usize;
        while let Some(id) = queue.pop_front() {
            let Some(others) = others(debug, dwarf, id) else { continue };
            group.add(debug, id);
            for other in others {
                if wanted.contains(&other) {
                    group.add(debug, other);
                } else if seen.insert(other) {
                    let size = debug.unit_span(other).map_or(0, |span| span.len());
                    // A unit that exceeds the limit does not consume it: a later, smaller one may still fit.
                    let with = referred.saturating_add(size);
                    if with > MAX_REFERRED_BYTES {
                        group.is_cut = true;
                        continue;
                    }
                    referred = with;
                    group.add(debug, other);
                    queue.extend(Some(other).filter(uses));
                }
            }
        }
        group
    }

    fn add(&mut self, debug: &DebugInfo, id: UnitId) {
        if let Some(span) = debug.unit_span(id) {
            self.units.insert(id, span);
        }
    }

    /// Whether a unit is in the group.
    pub(super) fn has(&self, id: UnitId) -> bool {
        self.units.contains_key(&id)
    }

    /// The units, in their order.
    pub(super) fn units(&self) -> impl Iterator<Item = (UnitId, Range<usize>)> {
        self.units.iter().map(|(id, span)| (*id, span.clone()))
    }

    /// `.debug_info` and `.debug_abbrev` with these units at their offsets, and empty units elsewhere; `None` if a
    /// gap is too small for a unit with a DIE.
    pub(super) fn sections(&self, info: &[u8], abbreviations: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let end = self.units.values().map(|span| span.end).max()?;
        // Pages without a write take no memory.
        let mut sparse = vec![0; end];
        let no_contents = u32::try_from(abbreviations.len()).ok()?;
        let mut at = 0;
        let mut spans: Vec<&Range<usize>> = self.units.values().collect();
        spans.sort_by_key(|span| span.start);
        for span in spans {
            let gap = sparse.get_mut(at..span.start)?;
            if !gap.is_empty() {
                fill(gap, no_contents)?;
            }
            sparse.get_mut(span.clone())?.copy_from_slice(info.get(span.clone())?);
            at = span.end;
        }
        let mut abbreviations = abbreviations.to_vec();
        abbreviations.extend(NO_CONTENTS);
        Some((sparse, abbreviations))
    }
}

/// Makes an empty unit.
fn fill(gap: &mut [u8], no_contents: u32) -> Option<()> {
    let length = u32::try_from(gap.len().checked_sub(4)?).ok().filter(|length| *length < 0xffff_fff0)?;
    let mut header = length.to_le_bytes().to_vec();
    header.extend(4u16.to_le_bytes());
    header.extend(no_contents.to_le_bytes());
    header.push(8);
    debug_assert_eq!(header.len(), HEADER);
    header.push(1);
    gap.get_mut(..=HEADER)?.copy_from_slice(&header);
    Some(())
}

/// The other units that a unit's DIEs refer to; `None` without a reference by section offset.
fn others(debug: &DebugInfo, dwarf: &gimli::Dwarf<Slice<'_>>, id: UnitId) -> Option<BTreeSet<UnitId>> {
    let mut found = None;
    let (unit, _) = debug.read_unit(dwarf, id).ok()?;
    let mut entries = Dies::of(&unit, None).ok()?;
    let mut entry = gimli::DebuggingInformationEntry::null();
    let mut last = 0..0;
    while !entries.is_empty() {
        match entries.read_entry(&mut entry) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(_) => break,
        }
        for attribute in &entry.attrs {
            let AttributeValue::DebugInfoRef(at) = attribute.value() else { continue };
            let found: &mut BTreeSet<UnitId> = found.get_or_insert_default();
            if last.contains(&at.0) {
                continue;
            }
            let other = debug.unit_holding(DieOffset(at.0 as u64));
            if let Some((other, span)) = other.and_then(|other| Some((other, debug.unit_span(other)?))) {
                last = span;
                // A view has no type units.
                if other != id && debug.type_of_unit(other).is_none() {
                    found.insert(other);
                }
            }
        }
    }
    found
}

/// The units of a group in gimli's form, to resolve references to other units.
#[derive(Default)]
pub(super) struct Others<'r> {
    dwarf: Option<&'r gimli::Dwarf<Slice<'r>>>,
    units: BTreeMap<usize, gimli::Unit<Slice<'r>>>,
}

impl<'r> Others<'r> {
    /// Reads the units; unreadable ones are left out.
    pub(super) fn read(debug: &'r DebugInfo, group: &Group, dwarf: &'r gimli::Dwarf<Slice<'r>>) -> Self {
        let units =
            group.units().filter_map(|(id, span)| Some((span.start, debug.read_unit(dwarf, id).ok()?.0)));
        Self { dwarf: Some(dwarf), units: units.collect() }
    }

    /// The unit at an offset in `.debug_info`, and the offset within it.
    pub(super) fn find(&self, at: usize) -> Option<(UnitRef<'_, Slice<'r>>, UnitOffset)> {
        let (start, unit) = self.units.range(..=at).next_back()?;
        let unit = UnitRef::new(self.dwarf?, unit);
        let at = UnitOffset(at.checked_sub(*start)?);
        at.is_in_bounds(&unit).then_some((unit, at))
    }

    /// The types in other units that functions without their variables refer to, by the types' units.
    pub(super) fn types_elsewhere(&self, of: &[usize]) -> HashMap<usize, BTreeSet<usize>> {
        let mut found: HashMap<usize, BTreeSet<usize>> = HashMap::new();
        for (unit, _) in of.iter().filter_map(|start| self.find(start.checked_add(HEADER)?)) {
            let Ok(mut entries) = Dies::of(unit.unit, None) else { continue };
            let mut entry = gimli::DebuggingInformationEntry::null();
            // The depth of the enclosing function.
            let mut function: Option<isize> = None;
            while !entries.is_empty() {
                match entries.read_entry(&mut entry) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(_) => break,
                }
                function = function.filter(|depth| *depth < entry.depth());
                let is_function = entry.tag() == constants::DW_TAG_subprogram && has_code(&entry);
                let is_parameter = entry.tag() == constants::DW_TAG_formal_parameter
                    && function.is_some_and(|depth| depth + 1 == entry.depth());
                if is_function {
                    function = Some(entry.depth());
                }
                if (is_function || is_parameter)
                    && let Some(TypeRef::Other(at)) = type_of(self, unit, &entry)
                    && let Some((other, at)) = self.find(at)
                {
                    let start = other.header.debug_info_offset().map_or(0, |start| start.0);
                    found.entry(start).or_default().insert(at.0);
                }
            }
        }
        found
    }
}
