//! The DWARF of a view, made from the code object's with gimli: functions on stacks with all that is in them, other
//! functions of their units by name, line and type.
//!
//! A unit is converted by itself, from a `.debug_info` that is cut to it, so that a bad one costs only itself and the
//! others are not even read. Only a unit that refers to others takes the whole section along.

mod context;
mod entry;
mod filter;
mod lines;
mod location;
mod outline;
mod ranges;
mod signed;
mod types;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gimli::write::{self, EndianVec, Sections, Writer as _};
use gimli::{EndianSlice, LittleEndian, Section as _};

use super::build::Extent;
use super::elf::Debug;
use super::layout::{Layout, Planner};
use crate::debuginfo::{DebugInfo, UnitId};
use crate::units::DieOffset;
use context::Unit;
use signed::{Declarations, Signed};

/// Forms of references to DIEs of other units that are converted with a unit; types by signature are copied.
const REFERENCES_TO_OTHERS: [gimli::DwForm; 1] = [gimli::DW_FORM_ref_addr];

/// What gimli reads.
type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// A code object's DWARF as a stock debugger can read it.
#[derive(Default)]
pub(super) struct Rewritten {
    /// The sections, but `.debug_frame`.
    pub(super) sections: Vec<Debug>,
    /// The variables of each function on a stack, by the function's DIE.
    pub(super) functions: HashMap<DieOffset, Layout>,
    /// The variables outside of functions.
    pub(super) globals: Layout,
    /// Code of functions in the units, by their DIEs: ELF addresses.
    pub(super) code: Vec<(DieOffset, Range<u64>)>,
    /// The units, in their order.
    pub(super) units: Vec<UnitId>,
    /// What could not be rewritten, in words.
    pub(super) problems: Vec<String>,
}

/// What is gathered while units are converted.
struct Plans {
    functions: HashMap<DieOffset, Planner>,
    globals: Planner,
    code: Vec<(DieOffset, Range<u64>)>,
    problems: BTreeSet<String>,
    /// DIEs that were copied from type units.
    copied: usize,
}

/// Rewrites the units of the functions on stacks, or more. `before`: the units of an earlier view, which come first and in
/// that order, so that their variables are where they were.
pub(super) fn rewrite(
    debug: &DebugInfo,
    on_stacks: &BTreeSet<DieOffset>,
    extent: Extent,
    before: &[UnitId],
) -> Rewritten {
    let mut plans = Plans {
        functions: HashMap::new(),
        globals: Planner::of_globals(),
        code: Vec::new(),
        problems: BTreeSet::new(),
        copied: 0,
    };
    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    let mut out = write::Dwarf::new();
    let mut wanted = units(debug, on_stacks, extent);
    let mut order = before.to_vec();
    order.extend(wanted.keys().filter(|id| !before.contains(id)));
    for id in &order {
        let id = *id;
        let wanted: HashSet<DieOffset> = wanted.remove(&id).unwrap_or_default().into_iter().collect();
        let whole = extent != Extent::Stacks;
        let done = guarded(|| unit(debug, id, &wanted, whole, &mut out, &mut plans));
        let Err(lost) = done.and_then(|done| done) else { continue };
        let name = debug.unit(id).ok().and_then(|unit| unit.name.clone());
        let name = name.map_or_else(|| format!("{}", id.0), |name| name.to_string());
        plans.problems.insert(format!("no variables in unit {name}: {lost}"));
    }
    let written = guarded(|| out.write(&mut sections).map_err(|why| why.to_string())).and_then(|done| done);
    if let Err(why) = written {
        plans.problems.insert(format!("the debug information cannot be written: {why}"));
        sections = Sections::new(EndianVec::new(LittleEndian));
        plans.functions.clear();
    }
    let mut rewritten = Rewritten {
        functions: plans.functions.into_iter().map(|(die, plan)| (die, plan.finish())).collect(),
        globals: plans.globals.finish(),
        code: plans.code,
        units: order,
        problems: plans.problems.into_iter().collect(),
        ..Rewritten::default()
    };
    let each = sections.for_each_mut(|id, section| {
        if section.len() > 0 {
            rewritten.sections.push(Debug { name: id.name(), bytes: section.take() });
        }
        Ok::<(), gimli::write::Error>(())
    });
    debug_assert!(each.is_ok());
    rewritten
}

thread_local! {
    /// Whether a panic in this thread is awaited.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does what the library is trusted with on files that nobody checked: should it ever give up, that is lost and no more.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.map_err(|_| "it cannot be converted".to_owned())
}

/// Whether a panic in this thread is awaited, so that a program's hook need not say it.
#[must_use]
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// The units to convert, each with its functions on stacks.
fn units(
    debug: &DebugInfo,
    on_stacks: &BTreeSet<DieOffset>,
    extent: Extent,
) -> BTreeMap<UnitId, Vec<DieOffset>> {
    let mut units: BTreeMap<UnitId, Vec<DieOffset>> = BTreeMap::new();
    for die in on_stacks {
        if let Some(unit) = debug.unit_holding(*die) {
            units.entry(unit).or_default().push(*die);
        }
    }
    if extent == Extent::All {
        // Type units have nothing that anybody looks for but by their types' signatures.
        let all = (0..debug.unit_count()).map(UnitId).filter(|unit| debug.type_of_unit(*unit).is_none());
        all.for_each(|unit| {
            units.entry(unit).or_default();
        });
    }
    units
}

/// Converts one unit.
fn unit(
    debug: &DebugInfo,
    id: UnitId,
    wanted: &HashSet<DieOffset>,
    whole: bool,
    out: &mut write::Dwarf,
    plans: &mut Plans,
) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let span = debug.unit_span(id).ok_or("it is no unit of .debug_info")?;
    let facts = debug.unit(id).map_err(|error| words(&error))?.clone();
    let all = debug.sections();
    let mut dwarf = debug.sections();
    let info = dwarf.debug_info.reader().slice();
    let cut = info.get(span.clone()).ok_or("it ends after its section")?;
    let alone = !debug.unit_uses(id, &REFERENCES_TO_OTHERS).unwrap_or(false);
    let base = if alone { span.start } else { 0 };
    if alone {
        dwarf.debug_info = gimli::DebugInfo::new(cut, LittleEndian);
    }
    let unit = Unit::new(debug, facts, base, span, wanted, whole);
    let filter = filter::filter(&dwarf, &unit).map_err(|error| words(&error))?;
    let none = Declarations::default();
    let mut convert = out.convert_with_filter(filter.section).map_err(|error| words(&error))?;
    while let Some((mut each, root)) = convert.read_unit().map_err(|error| words(&error))? {
        // The line program and the root of a unit that nothing refers to are not worth converting.
        if unit.is_it(each.read_unit) || is_referred_to(&each) {
            let signed = Signed::new(
                debug,
                &all,
                if unit.is_it(each.read_unit) { &filter.declarations } else { &none },
            );
            entry::convert(&unit, &filter.outlines, &mut each, &root, plans, signed)
                .map_err(|error| words(&error))?;
        } else {
            each.skip();
        }
    }
    Ok(())
}

/// Whether a unit has a DIE below its root that the view has.
fn is_referred_to(unit: &write::ConvertUnit<'_, Slice<'_>>) -> bool {
    let Ok(mut entries) = unit.read_unit.entries_raw(None) else { return false };
    let root = unit.read_unit.header.root_offset();
    while !entries.is_empty() {
        let at = entries.next_offset();
        match entries.read_abbreviation() {
            Ok(Some(abbreviation)) => {
                if at != root && unit.convert_unit_ref(at).is_ok() {
                    return true;
                }
                if entries.skip_attributes(abbreviation.attributes()).is_err() {
                    return false;
                }
            }
            Ok(None) => {}
            Err(_) => return false,
        }
    }
    false
}
