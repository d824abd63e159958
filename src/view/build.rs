//! All views of a dump.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::dwarf::{self, Before, Rewritten};
use super::elf::{self, Added, Debug, Extra};
use super::file::ViewFile;
use super::frames::{self, Code};
use super::layout::Layout;
use super::sources::{SOURCES, SourcePlaces};
use super::stacks::OnStacks;
use crate::codeobject::{Bytes, CodeObject, ElfAddress, Symbol, SymbolKind, Uri};
use crate::debuginfo::{DebugInfo, UnitId};
use crate::session::{Dump, Inspect, StackEnd};
use crate::units::{Address, DieOffset};

/// The extent of a code object's DWARF in a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Functions on stacks with all their contents; other functions of their units by name, line and type.
    #[default]
    Stacks,
    /// The units of functions on stacks.
    Unit,
    /// All units.
    All,
}

/// The views of a dump's code objects.
#[derive(Debug)]
pub struct View {
    objects: Vec<Arc<ViewObject>>,
    first: Option<usize>,
    problems: Vec<String>,
    on_stacks: OnStacks,
    extent: Extent,
    sources: Arc<SourcePlaces>,
    /// Indexes of the source map's prefixes with files.
    mapped: BTreeSet<usize>,
    /// The number of earlier extensions.
    grown: usize,
    /// All present and former names of its objects.
    names: HashSet<String>,
}

/// Additions to a view for a session's present stacks.
#[derive(Debug)]
pub struct Growth {
    /// The view with the additions. Earlier contents keep their addresses.
    pub view: View,
    /// The objects that the earlier view lacks, with names of their own.
    pub added: Vec<Arc<ViewObject>>,
    /// Functions of the earlier view's units whose variables it lacks.
    pub in_old_units: Vec<String>,
    /// Whether the added objects exceed the capacity; the view is then the earlier one.
    pub is_full: bool,
}

/// The view of one code object.
#[derive(Debug)]
pub struct ViewObject {
    /// Its index in the capture's list.
    pub index: usize,
    /// Its file name: that of the code object, without folders.
    pub name: String,
    /// Its original name, before the view grew.
    first_name: String,
    /// Load address: run-time address = this + ELF address.
    pub address: Address,
    /// The file.
    pub file: ViewFile,
    debug_bytes: u64,
    /// The file as gdb's program. gdb gives all frames without a caller one id, and confuses them. It ends a stack of
    /// the program at the entry point, whose frames need no such id.
    pub program: ViewFile,
    functions: HashMap<DieOffset, Layout>,
    globals: Layout,
    units: Vec<UnitId>,
    /// Return addresses that encode the reason of a missing caller.
    ends: HashMap<&'static str, u64>,
}

/// Reasons of the end of a stack, as in `StackEnd::name`.
const ENDS: [&str; 9] = [
    "outermost",
    "pc_not_captured",
    "no_code_object",
    "no_unwind_information",
    "caller_pc_unknown",
    "call_frame_error",
    "cycle",
    "too_deep",
    "bad_caller_pc",
];
/// The section with the rules for callers.
const FRAMES: &str = ".debug_frame";
/// Bytes of a function that encodes such a reason.
const END_SIZE: u64 = 16;
const PAGE: u64 = 0x1000;
/// Maximum symbols in a view of functions on stacks. Beyond it the view has only symbols that other code objects see,
/// and functions by their debug information.
const MAX_SYMBOLS: usize = 1 << 16;

impl View {
    /// Builds the views of all readable code objects; each failure is a [problem](Self::problems).
    #[must_use]
    pub fn new(dump: &Dump, session: &dyn Inspect, extent: Extent) -> Self {
        Self::with_sources(dump, session, extent, Arc::default())
    }

    /// [`Self::new`] with places of source files.
    #[must_use]
    pub fn with_sources(
        dump: &Dump,
        session: &dyn Inspect,
        extent: Extent,
        sources: Arc<SourcePlaces>,
    ) -> Self {
        let on_stacks = OnStacks::of(dump, session);
        let mut problems = Vec::new();
        let mut objects: Vec<Arc<ViewObject>> = Vec::new();
        let mut mapped = BTreeSet::new();
        for (index, info) in session.code_objects().into_iter().enumerate() {
            match dump.code_object(index) {
                Ok(object) => {
                    let before = Before::default();
                    let place = LoadedImage { index, address: info.address, before, sources: &sources };
                    let (mut view, lost) = view(dump, &object, place, &on_stacks, extent, &mut mapped);
                    view.name = file_name(&info.name);
                    problems.extend(lost.into_iter().map(|problem| format!("{}: {problem}", info.name)));
                    objects.push(Arc::new(view));
                }
                Err(problem) => problems.push(problem.to_string()),
            }
        }
        let names = distinguish(&mut objects);
        let first = on_stacks.first.and_then(|first| objects.iter().position(|object| object.index == first));
        let first = first.or((!objects.is_empty()).then_some(0));
        Self { first, objects, problems, on_stacks, extent, sources, mapped, grown: 0, names }
    }

    /// The view with the functions that only the session's present stacks have; `None` without such functions.
    /// `capacity`: the maximum of added objects.
    #[must_use]
    pub fn grown(&self, dump: &Dump, session: &dyn Inspect, capacity: usize) -> Option<Growth> {
        let mut on_stacks = self.on_stacks.clone();
        let new = on_stacks.add(OnStacks::of(dump, session));
        let grown = self.grown + 1;
        // Whether each object lacks units, functions of present units, or nothing.
        let (mut lacking, mut in_old_units): (Vec<Option<bool>>, _) = (Vec::new(), Vec::new());
        for old in &self.objects {
            let functions = new.get(&old.index).filter(|_| self.extent != Extent::All);
            let found = functions.and_then(|functions| {
                let debug = dump.debug_info(old.index).ok()?;
                let is_old = |die: &&DieOffset| {
                    debug.unit_holding(**die).is_some_and(|unit| old.units.contains(&unit))
                };
                let (mut of_old, of_new): (Vec<&DieOffset>, Vec<&DieOffset>) =
                    functions.iter().partition(is_old);
                // Units stand for functions without variables.
                of_old.retain(|die| self.extent != Extent::Unit && debug.function(**die).is_ok());
                in_old_units.extend(of_old.iter().map(|die| name_of(&debug, **die)));
                (!of_old.is_empty() || !of_new.is_empty()).then_some(!of_new.is_empty())
            });
            lacking.push(found);
        }
        let (first, problems, extent) = (self.first, self.problems.clone(), self.extent);
        let mut mapped = self.mapped.clone();
        // Before any construction: this check runs at every stop.
        if lacking.iter().filter(|lacking| **lacking == Some(true)).count() > capacity {
            let (objects, on_stacks) = (self.objects.clone(), self.on_stacks.clone());
            let names = self.names.clone();
            let (grown, sources) = (self.grown, Arc::clone(&self.sources));
            let view = Self { objects, first, problems, on_stacks, extent, sources, mapped, grown, names };
            return Some(Growth { view, added: Vec::new(), in_old_units, is_full: true });
        }
        let (mut objects, mut added) = (Vec::new(), Vec::new());
        let mut names = self.names.clone();
        for (old, lacking) in self.objects.iter().zip(lacking) {
            let built = lacking.and_then(|has_units| Some((has_units, dump.code_object(old.index).ok()?)));
            let Some((has_units, object)) = built else {
                objects.push(Arc::clone(old));
                continue;
            };
            let (functions, globals) = (Some(&old.functions), Some(&old.globals));
            let before = Before { units: &old.units, functions, globals };
            let (index, address, sources) = (old.index, old.address, &self.sources);
            let place = LoadedImage { index, address, before, sources };
            let (mut view, _) = view(dump, &object, place, &on_stacks, self.extent, &mut mapped);
            view.first_name.clone_from(&old.first_name);
            view.name = free(format!("{}.{}", old.first_name, grown + 1), &names);
            names.insert(view.name.clone());
            let view = Arc::new(view);
            objects.push(Arc::clone(&view));
            if has_units {
                added.push(view);
            }
        }
        if added.is_empty() && in_old_units.is_empty() {
            return None;
        }
        let sources = Arc::clone(&self.sources);
        let view = Self { objects, first, problems, on_stacks, extent, sources, mapped, grown, names };
        Some(Growth { view, added, in_old_units, is_full: false })
    }

    /// The views, in the order of the capture's list.
    #[must_use]
    pub fn objects(&self) -> &[Arc<ViewObject>] {
        &self.objects
    }

    /// The view of the code object of the wave in focus, else the first one.
    #[must_use]
    pub fn main(&self) -> Option<&ViewObject> {
        self.objects.get(self.first?).map(Arc::as_ref)
    }

    /// Messages for the failed parts.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// A message for each prefix of the source map that no file in the views has.
    #[must_use]
    pub fn unmapped_sources(&self) -> Vec<String> {
        self.sources.unmapped(&self.mapped)
    }

    pub(super) fn object(&self, index: usize) -> Option<&ViewObject> {
        self.objects.iter().find(|object| object.index == index).map(Arc::as_ref)
    }
}

impl ViewObject {
    /// A file without windows.
    pub(super) fn without_windows(index: usize, name: String, address: Address, file: ViewFile) -> Self {
        let (first_name, functions, globals) = (name.clone(), HashMap::new(), Layout::default());
        let (debug_bytes, units, ends) = (file.len(), Vec::new(), HashMap::new());
        let program = file.clone();
        Self { index, name, first_name, address, file, program, debug_bytes, functions, globals, units, ends }
    }

    /// The variables of a function on a stack.
    pub(super) fn function(&self, die: DieOffset) -> Option<&Layout> {
        self.functions.get(&die)
    }

    pub(super) fn globals(&self) -> &Layout {
        &self.globals
    }

    /// The run-time return address that encodes the reason of a missing caller.
    pub(super) fn end(&self, end: &StackEnd) -> Option<u64> {
        let at = self.ends.get(end.name())?;
        // Within the function, for lookups before a return address.
        Some(self.address.0.wrapping_add(*at).wrapping_add(END_SIZE / 2))
    }

    /// Bytes of debug information and symbols, which a debugger reads when it loads the file.
    #[must_use]
    pub fn debug_bytes(&self) -> u64 {
        self.debug_bytes
    }

    /// The number of variables with windows.
    #[must_use]
    pub fn variables(&self) -> usize {
        self.globals.len() + self.functions.values().map(Layout::len).sum::<usize>()
    }
}

/// A symbol name for an unnamed function, composed of words.
fn name_of(debug: &DebugInfo, die: DieOffset) -> String {
    let function = debug.function(die).ok();
    let name = function.and_then(|function| function.subprogram.qualified_name.clone());
    name.map_or_else(|| format!("the function at DIE {die}"), |name| name.to_string())
}

/// A code object among the others.
struct LoadedImage<'a> {
    index: usize,
    address: Address,
    /// An earlier view of it.
    before: Before<'a>,
    sources: &'a Arc<SourcePlaces>,
}

fn view(
    dump: &Dump,
    object: &CodeObject,
    LoadedImage { index, address, before, sources }: LoadedImage<'_>,
    on_stacks: &OnStacks,
    extent: Extent,
    mapped: &mut BTreeSet<usize>,
) -> (ViewObject, Vec<String>) {
    let none = BTreeSet::new();
    let functions = on_stacks.functions.get(&index).unwrap_or(&none);
    let rewritten = match dump.debug_info(index) {
        Ok(debug) if !functions.is_empty() || extent == Extent::All => {
            dwarf::rewrite(&debug, functions, extent, before, sources)
        }
        // Symbols do not need debug information.
        Ok(_) | Err(_) => Rewritten::default(),
    };
    mapped.extend(&rewritten.mapped);
    let extras = extras(object);
    let symbols = object.symbols_up_to(if extent == Extent::Stacks { MAX_SYMBOLS } else { usize::MAX });
    let entry = on_stacks.entry.filter(|(of, _)| *of == index).and_then(|(_, die)| {
        let code = rewritten.code.iter().filter(|(of, _)| *of == die);
        code.map(|(_, range)| range.start).min()
    });
    let mut code = code(object, symbols, index, &rewritten, on_stacks);
    code.extend(extras.iter().map(|extra| Code { range: extra.range.clone(), is_outermost: true }));
    let mut sections = rewritten.sections;
    sections.push(Debug { name: FRAMES, bytes: frames::debug_frame(&code, None) });
    let ends = ENDS.iter().zip(&extras).map(|(end, extra)| (*end, extra.range.start));
    // A symbol takes 24 bytes beside its name (gABI chapter 4, "Symbol Table").
    let names = symbols.iter().map(|symbol| symbol.name.len() + 1 + 24);
    let debug_bytes = sections.iter().map(|section| section.bytes.len()).chain(names).sum::<usize>() as u64;
    let added = Added { symbols, extras: &extras, debug: sections, entry, load: address };
    let (file, offset) = elf::build(object, added, FRAMES);
    let program = file.with_part(offset, Bytes::from(frames::debug_frame(&code, entry)));
    let view = ViewObject {
        index,
        debug_bytes,
        name: String::new(),
        first_name: String::new(),
        address,
        ends: ends.collect(),
        file,
        program,
        functions: rewritten.functions,
        globals: rewritten.globals,
        units: rewritten.units,
    };
    (view, rewritten.problems)
}

/// Adds a number to names that several objects have; the result is unique.
fn distinguish(objects: &mut [Arc<ViewObject>]) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for object in objects.iter() {
        *seen.entry(object.name.clone()).or_default() += 1;
    }
    // Other files in LLDB's folder, and in that of `lanescope view`.
    for other in [elf::STUB, SOURCES] {
        *seen.entry(other.to_owned()).or_default() += 1;
    }
    let mut taken: HashSet<String> = seen.keys().cloned().collect();
    for object in &mut *objects {
        if seen.get(&object.name).is_some_and(|count| *count > 1)
            && let Some(object) = Arc::get_mut(&mut *object)
        {
            let first = format!("{}-{}", object.index, object.name);
            object.name = free(first, &taken);
            taken.insert(object.name.clone());
        }
        if let Some(object) = Arc::get_mut(object) {
            object.first_name.clone_from(&object.name);
        }
    }
    taken
}

/// A variant of a name outside of `taken`.
pub(super) fn free(name: String, taken: &HashSet<String>) -> String {
    if !taken.contains(&name) {
        return name;
    }
    // One of these variants is free.
    let mut more = (2..=taken.len() + 2).map(|number| format!("{name}-{number}"));
    more.find(|other| !taken.contains(other)).unwrap_or(name)
}

/// Functions after the image that encode the ends of stacks: `no_unwind_information`. Empty if the image ends with the
/// address space.
fn extras(object: &CodeObject) -> Vec<Extra> {
    let end = elf::loaded(object).map(|segment| segment.addresses.end).max().unwrap_or(0);
    let Some(start) = after(end, END_SIZE * ENDS.len() as u64) else { return Vec::new() };
    let each = ENDS.iter().zip(0u64..).map(|(name, index)| {
        let at = start + index * END_SIZE;
        Extra { name: (*name).to_owned(), range: at..at + END_SIZE }
    });
    each.collect()
}

/// The first address for bytes after an image. No other object shares the image's last page.
fn after(end: u64, bytes: u64) -> Option<u64> {
    let start = end.checked_next_multiple_of(END_SIZE)?;
    let last = start.checked_add(bytes - 1)?;
    let fits = start / PAGE == last / PAGE && !start.is_multiple_of(PAGE);
    let start = if fits { start } else { end.checked_next_multiple_of(PAGE)? };
    // Comparisons use addresses after the end.
    start.checked_add(bytes).map(|_| start)
}

/// All code of the object, divided among its functions.
fn code(
    object: &CodeObject,
    symbols: &[Symbol],
    index: usize,
    rewritten: &Rewritten,
    on_stacks: &OnStacks,
) -> Vec<Code> {
    let descriptors = symbols.iter().filter(|symbol| symbol.kernel_name().is_some());
    let entries = descriptors.filter_map(|symbol| object.kernel_entry(ElfAddress(symbol.value)));
    let kernels: HashSet<u64> = entries.map(|entry| entry.0).collect();
    let symbols = symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function);
    let ranges = symbols.filter_map(|symbol| {
        let end = symbol.value.checked_add(symbol.size)?;
        Some((None, symbol.value..end))
    });
    let of_dwarf = rewritten.code.iter().map(|(die, range)| (Some(*die), range.clone()));
    let known: Vec<(Option<DieOffset>, Range<u64>)> = of_dwarf.chain(ranges).collect();
    let outermost: HashSet<u64> = known
        .iter()
        .filter(|(die, range)| {
            kernels.contains(&range.start)
                || die.is_some_and(|die| on_stacks.outermost.contains(&(index, die)))
        })
        .map(|(_, range)| range.start)
        .collect();
    let functions: Vec<Code> = known
        .into_iter()
        .map(|(_, range)| Code { is_outermost: outermost.contains(&range.start), range })
        .collect();
    let text = elf::loaded(object).filter(|segment| segment.is_executable());
    text.flat_map(|segment| frames::cover(segment.addresses.clone(), &functions)).collect()
}

/// The last part of a path or URI, without characters that are special for a shell or a debugger.
pub fn file_name(name: &str) -> String {
    let last = Uri::file_name(name);
    let plain =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+') { c } else { '_' };
    let last: String = last.chars().map(plain).take(100).collect();
    if last.trim_matches('.').is_empty() { "code-object".to_owned() } else { last }
}
