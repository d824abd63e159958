//! The DWARF of a view, made with gimli from the code object's: functions on stacks with all their contents, other
//! functions of their units by name, line and type.
//!
//! Each unit is converted on its own, from a `.debug_info` cut to it: a malformed unit costs only itself, and the
//! others are not read. Only units with references to others are converted together with those: `group`.

mod context;
mod entry;
mod filter;
mod gaps;
mod group;
mod helpers;
mod lines;
mod location;
mod outline;
mod ranges;
mod signed;
mod sources;
mod texts;
mod types;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Display;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gimli::write::{self, ConvertError, EndianVec, Sections, Writer as _};
use gimli::{EndianSlice, LittleEndian, Section as _};

use super::build::Extent;
use super::elf::Debug;
use super::layout::{Layout, Planner};
use super::sources::SourcePlaces;
use crate::debuginfo::{DebugInfo, DebugInfoError, Dies, UnitId};
use crate::units::DieOffset;
use context::{Unit, Units};
use group::{Group, Others};
use signed::Signed;
use texts::Texts;

/// A section for gimli.
type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// A code object's DWARF in a form that a stock debugger reads.
#[derive(Default)]
pub(super) struct Rewritten {
    /// The sections, except `.debug_frame`.
    pub(super) sections: Vec<Debug>,
    /// The variables of each function on a stack, by the function's DIE.
    pub(super) functions: HashMap<DieOffset, Layout>,
    /// The variables outside of functions.
    pub(super) globals: Layout,
    /// Code of functions in the units, by their DIEs: ELF addresses.
    pub(super) code: Vec<(DieOffset, Range<u64>)>,
    /// The units, in their order.
    pub(super) units: Vec<UnitId>,
    /// Parts that could not be rewritten, as text.
    pub(super) problems: Vec<String>,
    /// Indexes of the source map's prefixes with files.
    pub(super) mapped: BTreeSet<usize>,
}

/// The contents of an earlier view, which keep their positions.
#[derive(Clone, Copy, Default)]
pub(super) struct Before<'a> {
    pub(super) units: &'a [UnitId],
    pub(super) functions: Option<&'a HashMap<DieOffset, Layout>>,
    pub(super) globals: Option<&'a Layout>,
}

/// State across the conversion of units.
struct Plans {
    /// Layouts of functions in an earlier view.
    before: HashMap<DieOffset, Layout>,
    functions: HashMap<DieOffset, Planner>,
    globals: Planner,
    code: Vec<(DieOffset, Range<u64>)>,
    problems: BTreeSet<String>,
    sources: Arc<SourcePlaces>,
    /// Indexes of the source map's prefixes with files.
    mapped: BTreeSet<usize>,
    /// DIEs copied from type units.
    copied: usize,
    /// The remaining capacity of DIEs of units, and of rows of line tables.
    dies: usize,
    rows: usize,
    /// Whether references to missing DIEs are possible.
    has_gaps: bool,
    locations: Capacity,
    locations_read: Capacity,
    ranges: Capacity,
    code_ranges: Capacity,
    /// The remaining capacity of ranges of one unit's DIEs.
    places: usize,
    texts: Texts,
}

/// The view's capacity of list entries: one per byte of their sections, of which an entry takes at least three. Without
/// it a small file could make a large view, because many DIEs can refer to one list.
#[derive(Clone, Copy, Debug)]
struct Capacity(usize);

/// The maximum of entries of a kind in a view.
const MAX_LIST_ENTRIES: usize = 1 << 22;
/// The maximum of reads of each byte of location lists, for lists that begin within others.
const MAX_READS: usize = 4;

/// The maximum of DIEs in the units that one view reads: gimli takes some 150 bytes of memory for each.
const MAX_DIES: usize = 1 << 22;
/// The maximum of rows in a view's line tables: gimli takes up to 200 bytes of memory for each.
const MAX_ROWS: usize = 1 << 21;

impl Capacity {
    /// The capacity for sections of `bytes` bytes.
    fn of(bytes: usize) -> Self {
        Self(bytes.min(MAX_LIST_ENTRIES))
    }

    /// Takes the capacity of one entry; returns false if none is left.
    fn take(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

impl Plans {
    fn new(debug: &DebugInfo, before: Before<'_>, sources: Arc<SourcePlaces>) -> Self {
        let bytes = debug.list_bytes();
        Self {
            before: before.functions.cloned().unwrap_or_default(),
            functions: HashMap::new(),
            globals: Planner::of_globals(before.globals),
            code: Vec::new(),
            problems: BTreeSet::new(),
            sources,
            mapped: BTreeSet::new(),
            copied: 0,
            dies: MAX_DIES,
            rows: MAX_ROWS,
            has_gaps: false,
            locations: Capacity::of(bytes.locations),
            locations_read: Capacity(bytes.locations.saturating_mul(MAX_READS)),
            ranges: Capacity::of(bytes.ranges),
            // Most functions have no list, only the two attributes.
            code_ranges: Capacity::of(bytes.ranges.saturating_add(bytes.dies)),
            places: bytes.ranges.saturating_add(bytes.dies),
            texts: Texts::of(&debug.sections()),
        }
    }

    /// Reports the loss of a unit.
    fn lose(&mut self, debug: &DebugInfo, id: UnitId, why: &dyn Display) {
        self.has_gaps = true;
        let name = debug.unit(id).ok().and_then(|unit| unit.name.clone());
        let name = name.map_or_else(|| format!("{}", id.0), |name| name.to_string());
        self.problems.insert(format!("no variables in unit {name}: {why}"));
    }
}

/// Rewrites the units of the functions on stacks, or more, and those of an earlier view.
pub(super) fn rewrite(
    debug: &DebugInfo,
    on_stacks: &BTreeSet<DieOffset>,
    extent: Extent,
    before: Before<'_>,
    sources: &Arc<SourcePlaces>,
) -> Rewritten {
    let mut plans = Plans::new(debug, before, Arc::clone(sources));
    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    let mut out = write::Dwarf::new();
    let wanted = units(debug, on_stacks, extent);
    let of_before: HashSet<UnitId> = before.units.iter().copied().collect();
    let mut order = before.units.to_vec();
    order.extend(wanted.keys().filter(|id| !of_before.contains(id)));
    let group = Group::of(debug, &debug.sections(), &order);
    if group.is_cut {
        let problem = "names and types are left out: units refer to more of others than a view can hold";
        plans.problems.insert(problem.to_owned());
    }
    let none = HashSet::new();
    let whole = extent != Extent::Stacks;
    let all = debug.sections();
    let own: HashSet<UnitId> = order.iter().copied().collect();
    let wants = Wants { debug, all: &all, wanted: &wanted, own: &own, none: &none, whole };
    let mut parts: Vec<Part<'_>> =
        order.iter().filter(|id| !group.has(**id)).map(|id| Part::One(*id)).collect();
    parts.extend(group.units().next().map(|_| Part::Group(&group)));
    for part in parts {
        let done = guarded(|| wants.part(part, &mut out, &mut plans)).and_then(|done| done);
        let Err(why) = done else { continue };
        match part {
            Part::One(id) => plans.lose(debug, id, &why),
            Part::Group(group) => {
                group
                    .units()
                    .filter(|(id, _)| own.contains(id))
                    .for_each(|(id, _)| plans.lose(debug, id, &why));
            }
        }
    }
    if plans.texts.cut > 0 {
        plans.problems.insert(cut_texts(plans.texts.cut));
    }
    if plans.has_gaps {
        gaps::close(&mut out);
    }
    let written = guarded(|| out.write(&mut sections).map_err(UnitError::from)).and_then(|done| done);
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
        mapped: plans.mapped,
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

fn cut_texts(count: usize) -> String {
    format!("{count} names are cut: long texts of the DIEs take more than their sections have bytes")
}

thread_local! {
    /// Whether a panic in this thread is expected.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The reason that a unit, or a part of it, cannot be converted.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnitError {
    /// gimli panicked on the input.
    #[error("it cannot be converted")]
    Panic,
    #[error("it is no unit of .debug_info")]
    NoUnit,
    #[error("a unit between others has no DIE")]
    NoDie,
    #[error("it ends after its section")]
    Truncated,
    #[error("its {dies} DIEs exceed the limit of the view: {MAX_DIES} in all")]
    Full { dies: usize },
    #[error(transparent)]
    Debug(#[from] DebugInfoError),
    #[error(transparent)]
    Read(#[from] gimli::Error),
    #[error(transparent)]
    Convert(#[from] ConvertError),
    #[error(transparent)]
    Write(#[from] write::Error),
    #[error("a file or folder of the line table has a name with control characters")]
    UncleanName,
    #[error("a file of the line table has no name")]
    NoName,
    #[error("a file of its line table has no directory")]
    NoDirectory,
    #[error("it has no line table")]
    NoLines,
}

/// Runs gimli under `catch_unwind`: a panic on malformed input costs only this part.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, UnitError> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.map_err(|_| UnitError::Panic)
}

/// Whether a panic in this thread is expected; a program's panic hook then stays silent.
#[must_use]
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// The units to convert, each with its functions on stacks.
fn units(
    debug: &DebugInfo,
    on_stacks: &BTreeSet<DieOffset>,
    extent: Extent,
) -> BTreeMap<UnitId, HashSet<DieOffset>> {
    let mut units: BTreeMap<UnitId, HashSet<DieOffset>> = BTreeMap::new();
    for die in on_stacks {
        if let Some(unit) = debug.unit_holding(*die) {
            units.entry(unit).or_default().insert(*die);
        }
    }
    if extent == Extent::All {
        // A type unit is reachable only by the signature of its type.
        let all = (0..debug.unit_count()).map(UnitId).filter(|unit| debug.type_of_unit(*unit).is_none());
        all.for_each(|unit| {
            units.entry(unit).or_default();
        });
    }
    units
}

/// A unit or group that is converted at once.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// A unit without references to others.
    One(UnitId),
    /// Units with references to one another.
    Group(&'a Group),
}

/// The wanted parts of a code object.
struct Wants<'a> {
    debug: &'a DebugInfo,
    all: &'a gimli::Dwarf<Slice<'a>>,
    /// Units with their functions on stacks.
    wanted: &'a BTreeMap<UnitId, HashSet<DieOffset>>,
    /// All units that the view needs for more than references.
    own: &'a HashSet<UnitId>,
    none: &'a HashSet<DieOffset>,
    whole: bool,
}

impl Wants<'_> {
    /// Converts units.
    fn part(&self, part: Part<'_>, out: &mut write::Dwarf, plans: &mut Plans) -> Result<(), UnitError> {
        let info = self.all.debug_info.reader().slice();
        let mut units = Units::default();
        let (sections, of): (_, Vec<UnitId>) = match part {
            Part::One(id) => {
                let span = self.debug.unit_span(id).ok_or(UnitError::NoUnit)?;
                units.add(self.unit(id, span.start, span.start, plans)?);
                (None, vec![id])
            }
            Part::Group(group) => {
                for (id, span) in group.units() {
                    match self.unit(id, span.start, 0, plans) {
                        Ok(unit) => units.add(unit),
                        Err(why) if self.own.contains(&id) => plans.lose(self.debug, id, &why),
                        Err(_) => plans.has_gaps = true,
                    }
                }
                let sections = group.sections(info, self.all.debug_abbrev.reader().slice());
                (Some(sections.ok_or(UnitError::NoDie)?), group.units().map(|(id, _)| id).collect())
            }
        };
        let mut dwarf = self.debug.sections();
        match (&sections, part) {
            (Some((info, abbreviations)), _) => {
                dwarf.debug_info = gimli::DebugInfo::new(info, LittleEndian);
                dwarf.debug_abbrev = gimli::DebugAbbrev::new(abbreviations, LittleEndian);
            }
            (None, Part::One(id)) => {
                let cut = self.debug.unit_span(id).and_then(|span| info.get(span));
                let cut = cut.ok_or(UnitError::Truncated)?;
                dwarf.debug_info = gimli::DebugInfo::new(cut, LittleEndian);
                // Units share tables: gimli would parse a table again for each of its units.
                let (read, _) = self.debug.read_unit(self.all, id)?;
                let table = read.header.debug_abbrev_offset();
                dwarf.abbreviations_cache.set::<Slice<'_>>(table, Arc::clone(&read.abbreviations));
            }
            (None, Part::Group(_)) => {}
        }
        // gimli would read a list again for each DIE that names it. It gets zeros, each of which ends a list; the
        // conversion of variables reads the real lists.
        let bytes = self.debug.list_bytes().locations;
        let no_lists = vec![0; bytes.saturating_add(2 * size_of::<u64>())];
        dwarf.locations = gimli::LocationLists::new(
            gimli::DebugLoc::new(&no_lists, LittleEndian),
            gimli::DebugLocLists::new(&no_lists, LittleEndian),
        );
        let others = match part {
            Part::One(_) => Others::default(),
            Part::Group(group) => Others::read(self.debug, group, &dwarf),
        };
        self.convert(&dwarf, &units, &others, &of, out, plans)
    }

    /// A unit for conversion; `base`: the base of offsets in the section that gimli reads.
    fn unit(&self, id: UnitId, at: usize, base: usize, plans: &mut Plans) -> Result<Unit<'_>, UnitError> {
        let dies = self.debug.readable_dies(id)?;
        plans.dies = plans.dies.checked_sub(dies).ok_or(UnitError::Full { dies })?;
        let facts = self.debug.unit(id)?.clone();
        Ok(Unit {
            debug: self.debug,
            id,
            facts,
            base,
            at,
            wanted: self.wanted.get(&id).unwrap_or(self.none),
            whole: self.whole,
            is_only_referred_to: !self.own.contains(&id),
            sorts: RefCell::default(),
        })
    }

    fn convert<'r>(
        &self,
        dwarf: &'r gimli::Dwarf<Slice<'r>>,
        units: &Units<'_>,
        others: &Others<'r>,
        of: &[UnitId],
        out: &mut write::Dwarf,
        plans: &mut Plans,
    ) -> Result<(), UnitError>
    where
        Self: 'r,
    {
        let filter = filter::filter(dwarf, units, others)?;
        let mut declarations = filter.declarations;
        let mut convert = out.convert_with_filter(filter.section)?;
        let mut failed = filter.failed;
        let mut done: HashSet<UnitId> = HashSet::new();
        while let Some((mut each, root)) = convert.read_unit()? {
            let Some(unit) = units.find(each.read_unit) else {
                each.skip();
                continue;
            };
            done.insert(unit.id);
            // A unit without a referenced DIE needs no conversion.
            if unit.is_only_referred_to && !is_referred_to(&each) {
                each.skip();
                continue;
            }
            let declarations = declarations.remove(&unit.id).unwrap_or_default();
            let signed = Signed::new(self.debug, self.all, declarations);
            let converted = entry::convert(unit, others, &filter.outlines, &mut each, &root, plans, signed);
            if let Err(why) = converted {
                failed.entry(unit.id).or_insert(why.to_string());
            }
        }
        for id in of.iter().filter(|id| !done.contains(id)) {
            failed.entry(*id).or_insert("it cannot be read".to_owned());
        }
        plans.has_gaps |= !failed.is_empty();
        for (id, why) in failed.iter().filter(|(id, _)| self.own.contains(id)) {
            plans.lose(self.debug, *id, why);
        }
        Ok(())
    }
}

/// Whether the view has a DIE of the unit below its root.
fn is_referred_to(unit: &write::ConvertUnit<'_, Slice<'_>>) -> bool {
    let Ok(mut entries) = Dies::of(unit.read_unit.unit, None) else { return false };
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
