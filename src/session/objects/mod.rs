//! The loaded code objects: lookup by address, their contents there, and their debug information.

pub(super) mod entry;
pub(super) mod files;
pub(super) mod image_map;
pub(super) mod source;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::answers::OverlapError;
use super::dump::captured_pc;
use super::error::{Foreign, ObjectCause, ObjectError};
use super::{CodeObjectInfo, Reader};
use crate::capture::{Capture, LoadedSegment, copy};
use crate::codeobject::{Bytes, CodeObject, ElfAddress, Segment, UnpackMemory, hex};
use crate::debuginfo::{DebugInfo, Functions};
use crate::dwarf::{Budget, Dialect};
use crate::mapping::Watch;
use crate::session::disassembly::DecodedFunctions;
use crate::session::objects::files::{HeldFile, ObjectFile};
use crate::session::objects::image_map::ImageMap;
use crate::session::objects::source::{Source, Sources};
use crate::session::reading::regions::Interval;
use crate::session::stack::frame_code::FrameCodes;
use crate::session::stack::unwind::{CallerCodes, FoundRules, RulesError};
use crate::units::{Address, Pc};

/// Maximum number of other waves' PCs answered by one read of a large function: an eighth of the cache's capacity.
const MAX_AHEAD: usize = 1 << 10;

/// All code objects of a dump, each read on first use.
#[derive(Debug)]
pub(super) struct Objects {
    each: Vec<Loaded>,
    sets: HashMap<Set, Listed>,
    /// For each agent the first one of the same target.
    targets: Vec<usize>,
    /// By set, and by the agent of [`Self::targets`] whose waves run their code; `None`: any agent.
    images: Mutex<HashMap<(Set, Option<usize>), Images>>,
    folders: Folders,
    watches: Watches,
    /// Whether the code objects that hold waves' PCs have their unpacked sections.
    preferred: OnceLock<()>,
    codes: Codes,
}

/// Code objects by the agents that see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Set {
    All,
    /// Code objects loaded on all agents.
    Common,
    /// Code objects loaded on one agent alone.
    Of(usize),
}

/// Indexes of the code objects of a set.
#[derive(Debug, Default)]
struct Listed {
    in_order: Vec<usize>,
    by_address: Vec<usize>,
}

/// Images of the first code objects of a set.
#[derive(Debug, Default)]
struct Images {
    map: ImageMap,
    /// Number of code objects read so far, unreadable ones included: none is read twice.
    read: usize,
}

/// The mapped files of code objects and debug information, each with its code object's index.
type Watches = Arc<Mutex<Vec<(usize, Watch)>>>;

/// Folders of separate debug information, chosen by the user: a dump never names one.
pub(super) type Folders = Arc<[PathBuf]>;

/// Caches of the code of functions, for all code objects.
#[derive(Debug, Default)]
pub(super) struct Codes {
    /// The instructions.
    pub(super) decoded: DecodedFunctions,
    /// The frames.
    pub(super) frames: FrameCodes,
    /// The rules of frames by code.
    pub(super) callers: CallerCodes,
}

/// A code object of a dump.
#[derive(Debug)]
pub(super) struct Loaded {
    index: usize,
    address: Address,
    /// Its agent; `None`: all agents.
    agent: Option<usize>,
    folders: Folders,
    watches: Watches,
    /// The user's dialect for its units.
    dialect: Option<Dialect>,
    file: Arc<HeldFile>,
    object: OnceLock<Result<Arc<CodeObject>, ObjectError>>,
    unpack_memory: UnpackMemory,
    sources: Arc<Sources>,
    functions: Arc<Functions>,
    /// Whether a lookup by address or name found it: unused code objects do not affect answers.
    used: AtomicBool,
}

impl Objects {
    /// `dialect`: the user's dialect for all units. `folders`: folders of separate debug information.
    pub(super) fn new(capture: &Capture, dialect: Option<Dialect>, folders: &[PathBuf]) -> Self {
        let folders: Folders = folders.into();
        let watches = Watches::default();
        let mut sets: HashMap<Set, Listed> = HashMap::new();
        for (index, object) in capture.code_objects.iter().enumerate() {
            for set in [Set::All, object.agent.map_or(Set::Common, Set::Of)] {
                sets.entry(set).or_default().in_order.push(index);
            }
        }
        for listed in sets.values_mut() {
            listed.by_address = listed.in_order.clone();
            // The sort is stable: at equal addresses the last one stays last.
            listed
                .by_address
                .sort_by_key(|index| capture.code_objects.get(*index).map(|object| object.address));
        }
        let mut firsts = HashMap::new();
        let agents = capture.agents.iter().enumerate();
        let targets: Vec<usize> =
            agents.map(|(index, agent)| *firsts.entry(Arc::as_ptr(&agent.target)).or_insert(index)).collect();
        let (sources, functions) = (Arc::default(), Arc::default());
        let unpack_memory = UnpackMemory::default();
        let files = HeldFile::each(capture, &unpack_memory);
        let each = capture.code_objects.iter().zip(files).enumerate().map(|(index, (object, file))| Loaded {
            index,
            address: object.address,
            agent: object.agent,
            folders: Arc::clone(&folders),
            watches: Arc::clone(&watches),
            dialect,
            file,
            object: OnceLock::new(),
            unpack_memory: unpack_memory.clone(),
            sources: Arc::clone(&sources),
            functions: Arc::clone(&functions),
            used: AtomicBool::new(false),
        });
        let images = Mutex::default();
        let (each, preferred, codes) = (each.collect(), OnceLock::new(), Codes::default());
        Self { each, sets, targets, images, folders, watches, preferred, codes }
    }

    /// The sets that an agent sees; `None`: any agent.
    fn seen(agent: Option<usize>) -> impl Iterator<Item = Set> {
        let sets = agent.map_or([Some(Set::All), None], |agent| [Some(Set::Common), Some(Set::Of(agent))]);
        sets.into_iter().flatten()
    }

    /// The caches of functions' code.
    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The folders to search for separate debug information.
    pub(super) fn folders(&self) -> Folders {
        Arc::clone(&self.folders)
    }

    /// The code objects, with the reasons for missing variables.
    pub(super) fn list(&self, capture: &Capture) -> Vec<CodeObjectInfo> {
        let overlaps = self.overlaps(capture);
        self.prefer(capture, &self.each);
        let each = self.each.iter().zip(&capture.code_objects).map(|(loaded, object)| {
            let overlap = overlaps.get(&loaded.index).and_then(|other| capture.code_objects.get(*other));
            let overlap =
                overlap.map(|other| OverlapError { name: other.name.clone(), address: other.address });
            let parsed = loaded.object(capture);
            let image = parsed.as_ref().ok().and_then(|parsed| parsed.image());
            let size = image.map(|image| image.end.0 - image.start.0).or_else(|| size(&object.segments));
            let foreign = parsed.as_ref().ok().and_then(|parsed| loaded.foreign(capture, parsed));
            let origin = match (object.origin.clone(), foreign) {
                (Some(origin), Some(why)) => Some(format!("{origin}: it is {why}")),
                (None, Some(why)) => Some(format!("by force: it is {why}")),
                (origin, None) => origin,
            };
            CodeObjectInfo {
                name: object.name.clone(),
                uri: object.uri.clone(),
                address: object.address,
                size,
                origin,
                overlap,
                error: loaded.debug(capture).err(),
            }
        });
        each.collect()
    }

    /// Code objects that overlap another one, with one such other, for an agent that sees both.
    fn overlaps(&self, capture: &Capture) -> HashMap<usize, usize> {
        let image = |loaded: &Loaded| {
            let image = loaded.parsed(capture).as_ref().ok()?.image()?;
            let size = image.end.0.checked_sub(image.start.0)?;
            let start = loaded.address.0.wrapping_add(image.start.0);
            (size > 0).then(|| (start, start.saturating_add(size), loaded.index, loaded.agent))
        };
        let mut images: Vec<_> = self.each.iter().filter_map(image).collect();
        images.sort_unstable();
        let mut found = HashMap::new();
        // Among those with a lower start, the one with the highest end; by set.
        let mut ends: HashMap<Set, (u64, usize)> = HashMap::new();
        for (start, end, index, agent) in images {
            let mut before = Self::seen(agent).filter_map(|set| ends.get(&set).copied());
            if let Some((_, other)) = before.find(|(end, _)| *end > start) {
                found.entry(index).or_insert(other);
                found.entry(other).or_insert(index);
            }
            for set in [Set::All, agent.map_or(Set::Common, Set::Of)] {
                let last = ends.entry(set).or_insert((end, index));
                *last = (*last).max((end, index));
            }
        }
        found
    }

    /// Problems of the code objects' debug information, each with the code object's name; [`Self::list`] reports
    /// missing debug information.
    pub(super) fn check(&self, capture: &Capture) -> Vec<String> {
        self.prefer(capture, &self.each);
        let each = self.each.iter().filter_map(|loaded| {
            let checked = loaded.debug(capture).ok()?.check();
            let name = loaded.name(capture).unwrap_or_default();
            let problems = checked.problems.iter().map(|problem| format!("{name}: {problem}"));
            let mut problems: Vec<String> = problems.collect();
            problems.extend(checked.unread_words().map(|words| format!("{name}: {words}")));
            Some(problems)
        });
        each.flatten().collect()
    }

    /// A code object, parsed.
    pub(super) fn object(&self, capture: &Capture, index: usize) -> Result<Arc<CodeObject>, ObjectError> {
        self.get(index)?.object(capture)
    }

    /// The debug information of a code object.
    pub(super) fn debug(&self, capture: &Capture, index: usize) -> Result<Arc<DebugInfo>, ObjectError> {
        let loaded = self.get(index)?;
        self.prefer(capture, [loaded]);
        loaded.debug(capture)
    }

    /// Before one of these code objects takes memory to unpack its debug information, those that hold waves' PCs take
    /// theirs, in the capture's order: the answers about waves do not depend on earlier questions.
    fn prefer<'l>(&self, capture: &Capture, asked: impl IntoIterator<Item = &'l Loaded>) {
        let is_packed = |loaded: &Loaded| {
            loaded.parsed(capture).is_ok()
                && loaded.file.known(loaded.index).is_some_and(|file| file.has_compressed())
        };
        if self.preferred.get().is_some() || !asked.into_iter().any(is_packed) {
            return;
        }
        self.preferred.get_or_init(|| {
            let places =
                capture.waves.iter().filter_map(|wave| Some((wave.agent, captured_pc(capture, wave)?)));
            let places: BTreeSet<(usize, u64)> = places.collect();
            let found = places.into_iter().filter_map(|(agent, pc)| self.find(capture, pc, Some(agent)));
            let found: BTreeSet<usize> = found.map(|loaded| loaded.index).collect();
            for loaded in found.into_iter().filter_map(|index| self.each.get(index)) {
                if is_packed(loaded) {
                    // The result stays with the code object.
                    let _ = loaded.debug(capture);
                }
            }
        });
    }

    fn get(&self, index: usize) -> Result<&Loaded, ObjectError> {
        let none = || ObjectError::new(&format!("code object {index}"), ObjectCause::NoSuchObject);
        self.each.get(index).ok_or_else(none)
    }

    /// The code object whose image holds a run-time address, among the agent's; `None`: any agent.
    pub(super) fn at(&self, capture: &Capture, address: u64, agent: Option<usize>) -> Option<&Loaded> {
        let loaded = self.find(capture, address, agent)?;
        self.prefer(capture, [loaded]);
        loaded.mark();
        Some(loaded)
    }

    fn find(&self, capture: &Capture, address: u64, agent: Option<usize>) -> Option<&Loaded> {
        let sets = Self::seen(agent);
        self.each.get(sets.fold(usize::MAX, |first, set| self.first(capture, address, (set, agent), first)))
    }

    /// Index of the first code object of a set that holds an address and runs on the agent, if it is below `before`;
    /// else `before`. Reads no more code objects than necessary.
    fn first(
        &self,
        capture: &Capture,
        address: u64,
        (set, agent): (Set, Option<usize>),
        before: usize,
    ) -> usize {
        let Some(listed) = self.sets.get(&set) else { return before };
        let target = agent.map(|agent| self.targets.get(agent).copied().unwrap_or(agent));
        // A panic of a thread with the lock leaves out at most one code object.
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let Images { map, read } = images.entry((set, target)).or_default();
        loop {
            if let Some(found) = map.at(address) {
                return found.min(before);
            }
            let next = listed.in_order.get(*read).copied().filter(|index| *index < before);
            let Some(loaded) = next.and_then(|next| self.each.get(next)) else { return before };
            *read += 1;
            let object = loaded.parsed(capture).as_ref().ok();
            let object = object.filter(|object| loaded.runs_on(capture, object, target));
            let image = object.and_then(|object| object.image());
            if let Some(image) = image
                && let Some(size) = image.end.0.checked_sub(image.start.0)
            {
                map.add(loaded.address.0.wrapping_add(image.start.0), size, loaded.index);
            }
        }
    }

    /// The name of a code object whose file, or whose file of debug information, changed after it was opened.
    pub(super) fn changed(&self, capture: &Capture) -> Option<String> {
        let watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, _) = watches.iter().find(|(_, watch)| watch.is_changed())?;
        capture.code_objects.get(*index).map(|object| object.name.clone())
    }

    /// Indexes of the code objects used by answers so far.
    pub(super) fn used(&self) -> Vec<usize> {
        let used = self.each.iter().filter(|loaded| loaded.used.load(Ordering::Relaxed));
        used.map(|loaded| loaded.index).collect()
    }

    /// The reason that the code object which begins at or next below a run-time address is unreadable; `None`: it is
    /// readable, or there is none.
    pub(super) fn unreadable_before(
        &self,
        capture: &Capture,
        address: u64,
        agent: Option<usize>,
    ) -> Option<ObjectError> {
        let below = |listed: &Listed| {
            let begins = |index: &usize| self.each.get(*index).is_some_and(|each| each.address.0 <= address);
            let count = listed.by_address.partition_point(begins);
            self.each.get(*listed.by_address.get(count.checked_sub(1)?)?)
        };
        let nearest = Self::seen(agent).filter_map(|set| below(self.sets.get(&set)?));
        let nearest = nearest.max_by_key(|loaded| (loaded.address.0, loaded.index));
        nearest?.object(capture).err()
    }

    /// The code objects of an agent; `None`: any agent.
    pub(super) fn each_for(&self, agent: Option<usize>) -> impl Iterator<Item = &Loaded> {
        self.each
            .iter()
            .filter(move |loaded| agent.is_none() || loaded.agent.is_none() || loaded.agent == agent)
    }

    /// Reads a code object's contents in unwritable segments; 0 bytes if there are none.
    pub(super) fn read(
        &self,
        capture: &Capture,
        address: u64,
        agent: Option<usize>,
        buffer: &mut [u8],
    ) -> usize {
        let Some((loaded, object, segment, skip)) = self.segment(capture, address, agent) else { return 0 };
        loaded.mark();
        let Some(left) = segment.file_size.checked_sub(skip).filter(|left| *left > 0) else { return 0 };
        let want = left.min(buffer.len() as u64);
        let from = ElfAddress(segment.addresses.start.wrapping_add(skip));
        let Some(bytes) = object.bytes_at(from, want) else { return 0 };
        copy(&bytes, buffer)
    }

    /// The range of an address up to the next edges of images or segments. If an unwritable image has contents there:
    /// also whether they are executable, and the code object's name.
    pub(super) fn piece(
        &self,
        capture: &Capture,
        address: u64,
        agent: Option<usize>,
    ) -> (Interval, Option<(bool, String)>) {
        let mut edges = Vec::new();
        for loaded in self.each_for(agent) {
            let Ok(object) = loaded.parsed(capture) else { continue };
            let image = object.image().map(|image| [image.start.0, image.end.0]);
            let fixed = object.segments().iter().filter(|segment| is_fixed(segment)).flat_map(|segment| {
                let start = segment.addresses.start;
                [start, start.saturating_add(segment.file_size).min(segment.addresses.end)]
            });
            edges
                .extend(image.into_iter().flatten().chain(fixed).map(|at| at.wrapping_add(loaded.address.0)));
        }
        let image =
            self.segment(capture, address, agent).filter(|(_, _, segment, skip)| *skip < segment.file_size);
        let image = image.map(|(loaded, _, segment, _)| loaded.described(capture, &segment));
        (Interval::between(address, edges.into_iter()), image)
    }

    /// The last address of the loaded segment, writable or not, that holds an address.
    pub(super) fn segment_end(&self, capture: &Capture, address: u64, agent: Option<usize>) -> Option<u64> {
        let (loaded, segment) = self.loaded_segment(capture, address, agent)?;
        Some(address.saturating_add(segment.addresses.end - 1 - loaded.elf(address).0))
    }

    /// The range of an address up to the next edges of loaded segments, by their sizes in memory. If a segment,
    /// writable or not, is loaded there: also whether it is executable, and the code object's name.
    pub(super) fn loaded_range(
        &self,
        capture: &Capture,
        address: u64,
        agent: Option<usize>,
    ) -> (Interval, Option<(bool, String)>) {
        let mut edges = Vec::new();
        let mut uncaptured = None;
        for loaded in self.each_for(agent) {
            let run_time = |at: u64| at.wrapping_add(loaded.address.0);
            let Ok(object) = loaded.parsed(capture) else {
                let known = capture
                    .code_objects
                    .get(loaded.index)
                    .map_or(&[][..], |object| object.segments.as_slice());
                edges.extend(known.iter().flat_map(|of| [run_time(of.start), run_time(of.end)]));
                let at = loaded.elf(address).0;
                let holds = known.iter().find(|of| (of.start..of.end).contains(&at));
                let name = || loaded.name(capture).unwrap_or_default().to_owned();
                uncaptured = uncaptured.or(holds.map(|of| (of.is_code, name())));
                continue;
            };
            let segments = object.segments().iter().filter(|segment| segment.is_loaded());
            let ends = segments.flat_map(|segment| [segment.addresses.start, segment.addresses.end]);
            edges.extend(ends.map(run_time));
        }
        let segment = self.loaded_segment(capture, address, agent);
        let segment = segment.map(|(loaded, segment)| loaded.described(capture, &segment)).or(uncaptured);
        (Interval::between(address, edges.into_iter()), segment)
    }

    /// The name of the code object that has data at an address; `None`: it has code there, or there is none.
    pub(super) fn data_of(&self, capture: &Capture, address: u64, agent: Option<usize>) -> Option<String> {
        let (loaded, segment) = self.loaded_segment(capture, address, agent)?;
        let (is_code, name) = loaded.described(capture, &segment);
        (!is_code).then_some(name)
    }

    fn loaded_segment(
        &self,
        capture: &Capture,
        address: u64,
        agent: Option<usize>,
    ) -> Option<(&Loaded, Segment)> {
        let loaded = self.find(capture, address, agent)?;
        let object = loaded.object(capture).ok()?;
        let at = loaded.elf(address).0;
        let holds = |segment: &&Segment| segment.is_loaded() && segment.addresses.contains(&at);
        Some((loaded, object.segments().iter().find(holds)?.clone()))
    }

    fn segment(
        &self,
        capture: &Capture,
        address: u64,
        agent: Option<usize>,
    ) -> Option<(&Loaded, Arc<CodeObject>, Segment, u64)> {
        let loaded = self.find(capture, address, agent)?;
        let object = loaded.object(capture).ok()?;
        let at = loaded.elf(address).0;
        let found =
            object.segments().iter().find(|segment| is_fixed(segment) && segment.addresses.contains(&at));
        let segment = found?.clone();
        let skip = at - segment.addresses.start;
        Some((loaded, object, segment, skip))
    }
}

/// Bytes of address space of segments; `None`: none is known.
fn size(segments: &[LoadedSegment]) -> Option<u64> {
    let start = segments.iter().map(|of| of.start).min()?;
    segments.iter().map(|of| of.end).max()?.checked_sub(start)
}

/// Whether a segment's contents in memory equal the file's.
fn is_fixed(segment: &Segment) -> bool {
    segment.is_loaded() && !segment.is_writable() && segment.file_size > 0
}

impl Loaded {
    /// Its index in the capture's list.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Index of the first code object of the same file, the key for data that depends on the file only.
    pub(super) fn file_index(&self) -> usize {
        self.file.known(self.index).map_or(self.index, |file| file.first)
    }

    /// Marks it as used by an answer.
    pub(super) fn mark(&self) {
        self.used.store(true, Ordering::Relaxed);
    }

    /// Load address: run-time address = this + ELF address.
    pub(super) fn address(&self) -> Address {
        self.address
    }

    /// The ELF address of a run-time address.
    pub(super) fn elf(&self, address: u64) -> ElfAddress {
        ElfAddress::of(Pc(address), self.address.0)
    }

    /// The parsed file.
    pub(super) fn object(&self, capture: &Capture) -> Result<Arc<CodeObject>, ObjectError> {
        self.parsed(capture).clone()
    }

    /// The parsed file, or the reason for its absence: read once.
    pub(super) fn parsed(&self, capture: &Capture) -> &Result<Arc<CodeObject>, ObjectError> {
        self.object.get_or_init(|| self.parse(capture).map_err(|cause| self.error(capture, cause)))
    }

    /// The error of this code object.
    fn error(&self, capture: &Capture, cause: ObjectCause) -> ObjectError {
        ObjectError::new(self.name(capture).unwrap_or_default(), cause)
    }

    fn file(&self, capture: &Capture) -> Result<&Arc<ObjectFile>, ObjectError> {
        self.file.of(capture, self.index).map_err(|cause| self.error(capture, cause))
    }

    fn parse(&self, capture: &Capture) -> Result<Arc<CodeObject>, ObjectCause> {
        let object = capture.code_objects.get(self.index).ok_or(ObjectCause::NoSuchObject)?;
        let parsed = self.file.of(capture, self.index)?.object(|parsed| self.watch(parsed))?;
        // Variables of another build have other places.
        if let (Some(expected), Some(found)) = (&object.build_id, parsed.build_id())
            && **expected != *found
        {
            return Err(ObjectCause::BuildId { found: hex(&found), expected: hex(expected) });
        }
        match self.foreign(capture, &parsed).filter(|_| !object.forced) {
            Some(foreign) => Err(ObjectCause::Foreign(foreign)),
            None => Ok(parsed),
        }
    }

    /// The code's processor, if it is not its agent's.
    fn foreign(&self, capture: &Capture, object: &CodeObject) -> Option<Foreign> {
        if self.is_for(capture, object, self.agent) {
            return None;
        }
        let processor = object.processor().map_or("?", |found| found.name);
        let agents = capture.agents.iter().enumerate();
        let agents = agents.filter(|(index, _)| self.agent.is_none_or(|agent| agent == *index));
        let mut gpus: Vec<String> = agents.map(|(_, agent)| agent.target.name.clone()).collect();
        gpus.dedup();
        Some(Foreign { processor, gpus })
    }

    /// Whether a wave of an agent can run its code, or the user forced it.
    fn runs_on(&self, capture: &Capture, object: &CodeObject, agent: Option<usize>) -> bool {
        capture.code_objects.get(self.index).is_some_and(|captured| captured.forced)
            || self.is_for(capture, object, agent)
    }

    /// Whether its code is for an agent's processor; `None`: for that of any agent. Code for an unknown processor
    /// passes.
    fn is_for(&self, capture: &Capture, object: &CodeObject, agent: Option<usize>) -> bool {
        let Some(processor) = object.processor() else { return true };
        let mut agents = capture.agents.iter().enumerate();
        let is_asked = |index: usize| agent.is_none_or(|agent| agent == index);
        capture.agents.is_empty()
            || agents.any(|(index, agent)| is_asked(index) && processor.runs_on_target(&agent.target))
    }

    /// Its debug information, or the reason for its absence.
    pub(super) fn debug(&self, capture: &Capture) -> Result<Arc<DebugInfo>, ObjectError> {
        let object = self.object(capture)?;
        let file = self.file(capture)?;
        let read = || self.read_debug(capture, object);
        file.debug.get_or_init(read).clone().map_err(|cause| self.error(capture, cause))
    }

    fn read_debug(&self, capture: &Capture, object: Arc<CodeObject>) -> Result<Arc<DebugInfo>, ObjectCause> {
        let damage = object.problems().first().cloned().map(Box::new);
        let debug = match self.own_debug_file(capture, &object) {
            Some(Ok(file)) => DebugInfo::with_file(object, file),
            Some(Err(why)) => return Err(ObjectCause::DebugFile(Box::new(why))),
            None => DebugInfo::with_folders(object, &self.folders),
        };
        let debug = debug.map_err(|error| {
            let captured = capture.code_objects.get(self.index);
            // A missing section does not prove a build without debug information: the message does not claim it.
            match captured.is_some_and(|object| object.image && object.debug.is_none()) {
                true => ObjectCause::ImageOnly,
                false => ObjectCause::Debug { error: Box::new(error), damage },
            }
        })?;
        let debug = debug.in_dialect(self.dialect).sharing(&self.functions);
        if let Some(file) = debug.separate() {
            self.watch(file);
        }
        Ok(Arc::new(debug))
    }

    /// Watches the file of a code object if it is mapped.
    fn watch(&self, object: &CodeObject) {
        if let Some(watch) = Watch::of(object.bytes()) {
            self.watches.lock().unwrap_or_else(PoisonError::into_inner).push((self.index, watch));
        }
    }

    /// The dump's own file of its debug information.
    fn own_debug_file(
        &self,
        capture: &Capture,
        object: &CodeObject,
    ) -> Option<Result<Arc<CodeObject>, ObjectCause>> {
        let extent = capture.code_objects.get(self.index)?.debug?;
        let read = || {
            let bytes = capture.view(extent).map_err(|error| ObjectCause::Io(error.to_string()))?;
            let file = CodeObject::parse_within(Bytes::new(bytes), &self.unpack_memory)?;
            match (object.build_id(), file.build_id()) {
                (Some(own), Some(other)) if own != other => {
                    Err(ObjectCause::BuildId { found: hex(&other), expected: hex(&own) })
                }
                _ => Ok(Arc::new(file)),
            }
        };
        Some(read())
    }

    /// The rules of call frame information at an address.
    pub(super) fn rules(
        &self,
        capture: &Capture,
        object: &CodeObject,
        at: ElfAddress,
        budget: &Budget,
    ) -> FoundRules {
        let Some(file) = self.file.known(self.index) else { return Arc::new(Err(RulesError::NoTable(None))) };
        file.unwind.at(object, || self.debug(capture).ok()?.frame_section(), at, self.dialect, budget)
    }

    /// The range of the entry of call frame information that holds an address.
    pub(super) fn frame_entry(
        &self,
        reader: &Reader,
        object: &CodeObject,
        at: ElfAddress,
    ) -> Option<Range<ElfAddress>> {
        let capture = reader.dump().capture();
        let file = self.file.known(self.index)?;
        file.unwind.range(object, || self.debug(capture).ok()?.frame_section(), at)
    }

    /// The source position of an address. The first read of a large function answers the PCs of all waves in it.
    pub(super) fn source(&self, reader: &Reader, at: ElfAddress) -> Arc<Source> {
        let file = self.file_index();
        if let Some(known) = self.sources.get(file, at) {
            return known;
        }
        let (dump, rereads) = (reader.dump(), reader.rereads());
        // Outside of the lock: two clients may look up one place twice, but neither waits for the other.
        let read = |at| Source::read(self, dump.capture(), at, rereads);
        let source = read(at);
        if source.is_cut(rereads) {
            return Arc::new(source);
        }
        for range in source.large_function(rereads) {
            let run_time = |at: ElfAddress| at.0.wrapping_add(self.address.0);
            let others = dump.wave_pcs(run_time(range.start)..run_time(range.end)).iter();
            let others = others.map(|pc| self.elf(*pc)).filter(|other| *other != at);
            for other in others.filter(|other| self.sources.get(file, *other).is_none()).take(MAX_AHEAD) {
                self.sources.keep(file, other, read(other));
            }
        }
        self.sources.keep(file, at, source)
    }

    /// Its name.
    pub(super) fn name<'c>(&self, capture: &'c Capture) -> Option<&'c str> {
        capture.code_objects.get(self.index).map(|object| object.name.as_str())
    }

    /// Whether a segment of it is executable, and its name.
    fn described(&self, capture: &Capture, segment: &Segment) -> (bool, String) {
        (segment.is_executable(), self.name(capture).unwrap_or_default().to_owned())
    }
}
