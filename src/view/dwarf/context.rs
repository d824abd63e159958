//! The unit that is being converted, with what is asked about it again and again.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::Slice;
use crate::debuginfo::{DebugInfo, TypeId, TypeKind, UnitFacts};
use crate::units::DieOffset;
use crate::view::layout::Sort;

/// A unit of the code object.
pub(super) struct Unit<'a> {
    pub(super) debug: &'a DebugInfo,
    pub(super) facts: UnitFacts,
    /// What offsets in the `.debug_info` that gimli reads count from.
    base: usize,
    /// Where it is in `.debug_info`.
    pub(super) span: Range<usize>,
    /// The functions that are on stacks.
    wanted: &'a HashSet<DieOffset>,
    /// Whether all functions are as if they were on stacks.
    whole: bool,
    sorts: RefCell<HashMap<DieOffset, Sort>>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(
        debug: &'a DebugInfo,
        facts: UnitFacts,
        base: usize,
        span: Range<usize>,
        wanted: &'a HashSet<DieOffset>,
        whole: bool,
    ) -> Self {
        Self { debug, facts, base, span, wanted, whole, sorts: RefCell::default() }
    }

    /// The same of a DIE of a unit that gimli reads.
    pub(super) fn die(&self, unit: gimli::UnitRef<'_, Slice<'_>>, at: gimli::UnitOffset) -> DieOffset {
        let unit = unit.header.debug_info_offset().map_or(0, |offset| offset.0);
        DieOffset(self.base.saturating_add(unit).saturating_add(at.0) as u64)
    }

    /// Whether a unit that gimli reads is this one, and not one that it refers to.
    pub(super) fn is_it(&self, unit: gimli::UnitRef<'_, Slice<'_>>) -> bool {
        self.die(unit, gimli::UnitOffset(0)).0 == self.span.start as u64
    }

    /// Whether a function comes with all that is in it.
    pub(super) fn wants(&self, function: DieOffset) -> bool {
        self.whole || self.wanted.contains(&function)
    }

    /// What a type is to who reads a variable of it.
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

    /// The name of a type as C++ spells it.
    pub(super) fn type_name(&self, die: DieOffset) -> String {
        self.debug.type_name(Some(TypeId(die))).unwrap_or_else(|_| "<unknown>".to_owned())
    }
}
