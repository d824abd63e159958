//! The index of a unit: addresses of functions, globals, and the enclosing namespaces of DIEs.

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
    /// Entry points with an address and no extent.
    pub(in crate::debuginfo) points: Vec<DieOffset>,
    /// Imported declarations and modules outside of functions, in DIE order.
    pub(in crate::debuginfo) imports: Vec<DieOffset>,
    /// Variables outside of functions, in DIE order.
    pub(in crate::debuginfo) globals: Vec<DieOffset>,
    /// Types that may have a name, in DIE order.
    pub(in crate::debuginfo) types: Vec<DieOffset>,
    /// DIEs that qualify names, in DIE order, with the offsets that they span.
    pub(in crate::debuginfo) containers: Vec<Container>,
    /// Functions skipped because of unreadable addresses, and the reason if the pass ended before the unit.
    pub(in crate::debuginfo) problems: Vec<DebugInfoError>,
    /// The number of DIEs in the pass.
    pub(in crate::debuginfo) dies: usize,
}

#[derive(Debug)]
pub(in crate::debuginfo) struct Container {
    pub(in crate::debuginfo) span: Range<u64>,
    pub(in crate::debuginfo) parent: Option<usize>,
}

impl UnitIndex {
    /// Functions that hold an address, innermost first.
    pub(in crate::debuginfo) fn functions_at(&self, pc: ElfAddress) -> impl Iterator<Item = DieOffset> {
        self.functions.at(pc.0).copied()
    }

    /// All functions with code, by address; one with several ranges is repeated. Entry points without an extent come
    /// last.
    pub(in crate::debuginfo) fn functions(&self) -> impl Iterator<Item = DieOffset> {
        self.functions.payloads().chain(&self.points).copied()
    }

    /// The first DIE after a namespace, class or function and its contents, also beyond the unit; `None` for other
    /// DIEs.
    pub(in crate::debuginfo) fn after(&self, die: DieOffset) -> Option<DieOffset> {
        let at = self.containers.binary_search_by_key(&die.0, |container| container.span.start).ok()?;
        Some(DieOffset(self.containers.get(at)?.span.end))
    }

    /// The enclosing namespaces, classes and functions of a DIE, innermost first.
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
