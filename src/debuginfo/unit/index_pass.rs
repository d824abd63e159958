//! The pass over a unit's DIEs that builds its index.
//!
//! DIEs do not refer to their parents: qualified names need the enclosing namespaces and classes by offset. The pass
//! reads only addresses of subprograms. It runs once per unit, for the first PC in the unit.

use std::ops::Range;

use gimli::DwTag;

use crate::bounds::MAX_DEPTH;
use crate::debuginfo::diagnostics::Diagnostics;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::interval::Intervals;
use crate::debuginfo::unit::index::{Container, UnitIndex, is_function};
use crate::debuginfo::unit::sections::Entry;
use crate::debuginfo::unit::view::UnitView;
use crate::units::DieOffset;

impl<'a> UnitView<'a> {
    /// The unit's functions, globals and namespaces.
    pub(in crate::debuginfo) fn index(&self) -> &'a UnitIndex {
        self.slot.index.get_or_init(|| read(self))
    }
}

/// Reads up to the first unreadable DIE; the result includes the problems.
fn read(view: &UnitView<'_>) -> UnitIndex {
    let mut found = Found::default();
    if let Err(end) = found.pass(view) {
        found.damage.add(end);
    }
    found.leave(isize::MIN, DieOffset(u64::MAX));
    let functions = Intervals::new(std::mem::take(&mut found.functions));
    let Found { points, imports, globals, types, containers, damage, dies, .. } = found;
    let problems = damage.into_problems();
    UnitIndex { functions, points, imports, globals, types, containers, problems, dies }
}

#[derive(Default)]
struct Found {
    functions: Vec<(Range<u64>, DieOffset)>,
    points: Vec<DieOffset>,
    imports: Vec<DieOffset>,
    globals: Vec<DieOffset>,
    types: Vec<DieOffset>,
    containers: Vec<Container>,
    /// Open containers: depth of their children and index.
    open: Vec<(isize, usize)>,
    /// Depth of the children of the outermost open function, within which there are no globals.
    inside_function: Option<isize>,
    damage: Diagnostics,
    dies: usize,
}

impl Found {
    fn pass(&mut self, view: &UnitView<'_>) -> Result<()> {
        let mut raw = view.entries_from(view.die_offset(view.unit.header.root_offset()))?;
        let mut entry = Entry::null();
        let mut capacity = view.ranges_capacity();
        let mut is_too_deep = false;
        while !raw.is_empty() {
            let (offset, depth) = (raw.next_offset(), raw.next_depth());
            let die = view.die_offset(offset);
            let fail = |why| view.broken(die, why);
            self.leave(depth, die);
            if depth > MAX_DEPTH as isize {
                let left_out = raw.read_abbreviation().map_err(fail)?;
                if let Some(abbreviation) = left_out {
                    self.dies += 1;
                    raw.skip_attributes(abbreviation.attributes()).map_err(fail)?;
                    if !std::mem::replace(&mut is_too_deep, true) {
                        let unit = view.slot.die_offset();
                        self.damage.add(DebugInfoError::TooNested { unit, die, limit: MAX_DEPTH });
                    }
                }
                continue;
            }
            let Some(abbreviation) = raw.read_abbreviation().map_err(fail)? else { continue };
            self.dies += 1;
            let (tag, attributes) = (abbreviation.tag(), abbreviation.attributes());
            let has_code = |name| matches!(name, gimli::DW_AT_low_pc | gimli::DW_AT_ranges);
            if is_function(tag) && attributes.iter().any(|attribute| has_code(attribute.name())) {
                (entry.tag, entry.offset) = (tag, offset);
                raw.read_attributes(attributes, &mut entry.attrs).map_err(fail)?;
                let ranges = self.damage.or_none(view.ranges(&entry, &mut capacity)).unwrap_or_default();
                if ranges.is_empty() && tag == gimli::DW_TAG_entry_point {
                    self.points.push(die);
                }
                self.functions.extend(ranges.into_iter().map(|range| (range, die)));
            } else {
                raw.skip_attributes(attributes).map_err(fail)?;
            }
            self.enter(tag, depth, die, abbreviation.has_children());
        }
        Ok(())
    }

    /// Closes containers that end before a DIE at this depth.
    fn leave(&mut self, depth: isize, die: DieOffset) {
        while let Some((_, index)) = self.open.pop_if(|(children, _)| *children > depth) {
            if let Some(container) = self.containers.get_mut(index) {
                container.span.end = die.0;
            }
        }
        self.inside_function = self.inside_function.filter(|children| *children <= depth);
    }

    fn enter(&mut self, tag: DwTag, depth: isize, die: DieOffset, has_children: bool) {
        if tag == gimli::DW_TAG_variable && self.inside_function.is_none() {
            self.globals.push(die);
        }
        let is_import = matches!(tag, gimli::DW_TAG_imported_declaration | gimli::DW_TAG_imported_module);
        if is_import && self.inside_function.is_none() {
            self.imports.push(die);
        }
        if is_named_type(tag) {
            self.types.push(die);
        }
        if !has_children {
            return;
        }
        if is_function(tag) && self.inside_function.is_none() {
            self.inside_function = Some(depth + 1);
        }
        if is_container(tag) {
            let parent = self.open.last().map(|(_, index)| *index);
            self.open.push((depth + 1, self.containers.len()));
            self.containers.push(Container { span: die.0..u64::MAX, parent });
        }
    }
}

/// Types that source text names in a cast.
fn is_named_type(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_base_type
            | gimli::DW_TAG_typedef
            | gimli::DW_TAG_template_alias
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_unspecified_type
    )
}

/// DIEs that qualify the names of their children, or that end qualification (a function's local classes).
fn is_container(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_namespace
            | gimli::DW_TAG_module
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_subprogram
            | gimli::DW_TAG_entry_point
    )
}
