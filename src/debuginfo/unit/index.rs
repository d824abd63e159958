//! Where a unit's functions are, what its globals are, and which DIE lies in which namespace.

use std::ops::Range;

use gimli::DwTag;

use crate::codeobject::ElfAddress;
use crate::debuginfo::error::DebugInfoError;
use crate::debuginfo::interval::Intervals;
use crate::units::DieOffset;

/// The result of one pass over a unit.
#[derive(Debug)]
pub(in crate::debuginfo) struct UnitIndex {
    pub(in crate::debuginfo) functions: Intervals<DieOffset>,
    /// Entry points that have an address and no extent.
    pub(in crate::debuginfo) points: Vec<DieOffset>,
    /// Imported declarations and modules outside of functions, in DIE order.
    pub(in crate::debuginfo) imports: Vec<DieOffset>,
    /// Variables outside of functions, in DIE order.
    pub(in crate::debuginfo) globals: Vec<DieOffset>,
    /// Types that may have a name, in DIE order.
    pub(in crate::debuginfo) types: Vec<DieOffset>,
    /// DIEs that names are qualified by, in DIE order, with the offsets they span.
    pub(in crate::debuginfo) containers: Vec<Container>,
    /// Functions that were passed over because their addresses cannot be read, and why the pass ended before the unit did.
    pub(in crate::debuginfo) problems: Vec<DebugInfoError>,
    /// How many DIEs the pass found.
    pub(in crate::debuginfo) dies: usize,
}

#[derive(Debug)]
pub(in crate::debuginfo) struct Container {
    pub(in crate::debuginfo) span: Range<u64>,
    pub(in crate::debuginfo) parent: Option<usize>,
}

impl UnitIndex {
    /// Functions that hold an address, the innermost first.
    pub(in crate::debuginfo) fn functions_at(&self, pc: ElfAddress) -> impl Iterator<Item = DieOffset> {
        self.functions.at(pc.0).copied()
    }

    /// All functions with code, by address; one with several ranges comes several times. Entry points without an extent
    /// come last.
    pub(in crate::debuginfo) fn functions(&self) -> impl Iterator<Item = DieOffset> {
        self.functions.payloads().chain(&self.points).copied()
    }

    /// The first DIE after a namespace, class or function and all that is in it, in the unit or after it; `None` for other DIEs.
    pub(in crate::debuginfo) fn after(&self, die: DieOffset) -> Option<DieOffset> {
        let at = self.containers.binary_search_by_key(&die.0, |container| container.span.start).ok()?;
        Some(DieOffset(self.containers.get(at)?.span.end))
    }

    /// The namespaces, classes and functions around a DIE, innermost first.
    pub(in crate::debuginfo) fn around(&self, die: DieOffset) -> impl Iterator<Item = DieOffset> {
        let before = self.containers.partition_point(|container| container.span.start < die.0);
        let mut next = before.checked_sub(1);
        std::iter::from_fn(move || {
            loop {
                let container = self.containers.get(next?)?;
                next = container.parent;
                if die.0 < container.span.end {
                    return Some(DieOffset(container.span.start));
                }
            }
        })
    }
}

/// Functions and their other entries, DWARF 5 section 3.3.
pub(in crate::debuginfo) fn is_function(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_subprogram | gimli::DW_TAG_entry_point)
}
