//! The unit under conversion, with caches for repeated queries on it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Slice;
use crate::debuginfo::{DebugInfo, TypeId, TypeKind, UnitFacts, UnitId};
use crate::units::DieOffset;
use crate::view::layout::Sort;

/// Units converted together.
#[derive(Default)]
pub(super) struct Units<'a> {
    /// By their start in the `.debug_info` that gimli reads.
    by_start: BTreeMap<usize, Unit<'a>>,
}

/// A unit of the code object.
pub(super) struct Unit<'a> {
    pub(super) debug: &'a DebugInfo,
    pub(super) id: UnitId,
    pub(super) facts: UnitFacts,
    /// The base of offsets in the `.debug_info` that gimli reads.
    pub(super) base: usize,
    /// Its start in `.debug_info`.
    pub(super) at: usize,
    /// The functions on stacks.
    pub(super) wanted: &'a HashSet<DieOffset>,
    /// Whether all functions count as functions on stacks.
    pub(super) whole: bool,
    /// Whether the view has the unit only for DIEs that other units refer to. It then has no code: debuggers would
    /// take that for the complete description of the code.
    pub(super) is_only_referred_to: bool,
    pub(super) sorts: RefCell<HashMap<DieOffset, Sort>>,
}

impl<'a> Units<'a> {
    pub(super) fn add(&mut self, unit: Unit<'a>) {
        self.by_start.insert(unit.start(), unit);
    }

    /// The unit that gimli reads.
    pub(super) fn find(&self, unit: gimli::UnitRef<'_, Slice<'_>>) -> Option<&Unit<'a>> {
        self.by_start.get(&unit.header.debug_info_offset()?.0)
    }

    /// Whether the group has only one unit.
    pub(super) fn is_one(&self) -> bool {
        self.by_start.len() == 1
    }

    /// The starts of units that the view has for more than references.
    pub(super) fn wanted_starts(&self) -> Vec<usize> {
        self.iter().filter(|unit| !unit.is_only_referred_to).map(Unit::start).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Unit<'a>> {
        self.by_start.values()
    }
}

impl Unit<'_> {
    /// Its start in the `.debug_info` that gimli reads.
    pub(super) fn start(&self) -> usize {
        self.at.saturating_sub(self.base)
    }

    /// The code object's offset of a DIE of a unit that gimli reads.
    pub(super) fn die(&self, unit: gimli::UnitRef<'_, Slice<'_>>, at: gimli::UnitOffset) -> DieOffset {
        let unit = unit.header.debug_info_offset().map_or(0, |offset| offset.0);
        DieOffset(self.base.saturating_add(unit).saturating_add(at.0) as u64)
    }

    /// The code object's offset for an offset in the section that gimli reads.
    pub(super) fn die_at(&self, at: usize) -> DieOffset {
        DieOffset(self.base.saturating_add(at) as u64)
    }

    /// Whether a function comes with all its contents.
    pub(super) fn wants(&self, function: DieOffset) -> bool {
        self.whole || self.wanted.contains(&function)
    }

    /// The sort of a type for the reader of a variable.
    pub(super) fn sort(&self, die: DieOffset) -> Sort {
        if let Some(known) = self.sorts.borrow().get(&die) {
            return *known;
        }
        let sort = self.read_sort(TypeId(die));
        self.sorts.borrow_mut().insert(die, sort);
        sort
    }

    fn read_sort(&self, id: TypeId) -> Sort {
        let Ok(Some(stripped)) = self.debug.stripped(id) else { return Sort::Plain };
        match stripped.kind {
            TypeKind::Pointer { .. } | TypeKind::Reference { .. } => {
                match self.debug.byte_size(stripped.id) {
                    Ok(Some(size)) if size < 8 => Sort::SmallPointer,
                    _ => Sort::Pointer,
                }
            }
            _ => Sort::Plain,
        }
    }

    /// The name of a type in C++ spelling.
    pub(super) fn type_name(&self, die: DieOffset) -> String {
        self.debug.type_name(Some(TypeId(die))).unwrap_or_else(|_| "<unknown>".to_owned())
    }
}
