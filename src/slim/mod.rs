//! Small dumps of large captures: chosen waves with all data that their queries need.
//!
//! Input: an opened dump and [`Options`]. Output: a lanescope dump in which the chosen waves give the same answers
//! (stack, lanes, the variables of every frame), and a [`Report`] of its contents and omissions.
//!
//! The needed memory is not guessed: a reader that records its reads answers the queries ([`crate::session::reach`]).

mod choose;
mod merge;
mod nearby;
mod notes;
mod report;
mod sources;
mod spool;
mod stand_ins;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use crate::import::write::{MAX_LOSSES, abandon, is_free};
pub use choose::{Choice, MAX_FAULTED, MAX_HUNG, Why};
pub use nearby::{MAX_ARGUMENTS, MAX_CODE, MAX_SHOWN};
pub use notes::MAX_CARRIED;
pub use report::{Left, Report, ReportJson};
pub use sources::{MAX_SOURCES, Sources};
pub use spool::{MAX_REMAINS, SpoolError, SpoolStats, Spooled, StallBudget, spool, widen};

use crate::arch::SWIZZLE_BYTES;
use crate::capture::{self, Bytes, Capture, Extent, LoadedSegment};
use crate::codeobject::{CodeObject, Segment};
use crate::elf::{FileHeader, LE, PT_DYNAMIC, ProgramHeader, read};
use crate::import::write::{self, Account, Plan, PlannedObject, PlannedWave, WriteError};
use crate::session::{Bounds, Dump, ReadError, Reader, SessionError, Touched, reach};
use crate::units::WaveId;
use report::bytes_are;
use stand_ins::StandIns;

/// Maximum kept bytes of a code object's writable segments: the source's global variables.
pub const MAX_STATIC: u64 = 16 << 20;

/// Maximum kept packets of a queue: four times ROCm's largest ring.
pub const MAX_PACKETS: u64 = 1 << 16;

/// Options of a slim dump.
#[derive(Clone, Debug)]
pub struct Options {
    /// The waves to keep.
    pub choice: Choice,
    /// The needs of the analysis of the chosen waves, for the small dump to have the same answer.
    pub basis: Basis,
    /// Only waves of that kind, in the form of [`crate::session::Session::new`].
    pub kind: Option<String>,
    /// Bounds for following pointers.
    pub bounds: Bounds,
    /// Additional runs of global memory to keep, by first and last address.
    pub memory: Vec<(u64, u64)>,
    /// Whether any global memory is kept.
    pub global: bool,
    /// Whether all memory of the waves, all global memory and all code objects are kept.
    pub whole: bool,
    /// Additional notes on the capture's origin.
    pub notes: Vec<String>,
    /// Locations of source files that go into the dump, in addition to those of the capture.
    pub sources: Sources,
}

/// The needs of an analysis.
#[derive(Clone, Debug, Default)]
pub struct Basis {
    /// Waves of dispatches that hang, to keep beside representative ones: all of them if they are few, else some
    /// work-groups.
    pub hung: BTreeSet<WaveId>,
    /// Further waves that the answer names or examines, to keep beside representative ones.
    pub named: BTreeSet<WaveId>,
    /// Waves of work-groups whose verdict in a hang needs all of them, or none.
    pub together: Vec<Vec<WaveId>>,
    /// Waves that the answer only counts, alike for it, in the dump's order: the first one of a class that is kept stands
    /// for those that are not. Waves outside of all classes have none.
    pub classes: Vec<Vec<WaveId>>,
    /// Ids of dispatches of which the capture may lack live waves.
    pub partial: HashSet<u32>,
    /// The memory that the analysis has read.
    pub read: Vec<Touched>,
}

/// The current step, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Bytes that arrived from standard input.
    Reading(u64),
    /// Waves sorted into groups with the same stack, of all.
    Grouping(u64, u64),
    /// Waves whose variables were read, of all.
    Asking(u64, u64),
    /// Bytes written, of an estimated total.
    Writing(u64, u64),
}

/// An error that prevents a slim dump.
#[derive(Debug, thiserror::Error)]
pub enum SlimError {
    /// The requested waves do not exist.
    #[error(transparent)]
    SessionError(#[from] SessionError),
    /// No wave has that id.
    #[error("{dump} has no wave with the id {ids}; `lanescope waves` lists the ids")]
    NoSuchWaves {
        /// The dump.
        dump: String,
        /// The requested ids: `7` or `7-9`.
        ids: String,
    },
    /// A wave is unreadable.
    #[error(transparent)]
    ReadError(#[from] ReadError),
    /// The dump cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes a slim dump of `dump` to `to`: a new folder, or a new zip if the name ends in `.zip`.
///
/// # Errors
/// [`SlimError`], with nothing written. The report lists unreadable parts of the capture.
pub fn slim(
    dump: &Arc<Dump>,
    options: &Options,
    to: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, SlimError> {
    let capture = dump.capture();
    write::is_free(to)?;
    let chosen = choose::choose(dump, options, progress)?;
    let reader = Reader::watching(Arc::clone(dump)).with_values(options.bounds.values);
    let waves: Vec<WaveId> = chosen.iter().map(|(wave, _)| *wave).collect();
    let follows = options.global && !options.whole;
    let bounds = Bounds { steps: if follows { options.bounds.steps } else { 0 }, ..options.bounds };
    let all = waves.len() as u64;
    // A whole dump needs no search for the needed memory.
    let asked = if options.whole { &[][..] } else { &waves };
    let mut reached =
        reach(&reader, asked, &bounds, &mut |done| progress(Progress::Asking(done.min(all), all)))?;
    let touched = reader.touched();
    let used =
        if options.whole { (0..capture.code_objects.len()).collect() } else { dump.used_code_objects() };
    let mut plan = Plan::default();
    let mut notes = options.notes.clone();
    notes.extend(notes::not_captured(&capture.global, &options.memory));
    let carried = notes::carried(dump, &notes);
    notes.extend(carried);
    let all_read = || options.basis.read.iter().chain([&touched]);
    let read = |wave: WaveId| match options.whole {
        true => u64::MAX,
        false => all_read().map(|touched| touched.private_end(wave)).max().unwrap_or(0),
    };
    let stand_ins = StandIns::of(capture, &options.basis, &waves);
    let planned = |wave: &WaveId| planned(capture, *wave, read(*wave), stand_ins.of_wave(*wave));
    plan.waves = waves.iter().map(planned).collect();
    plan.whole_dispatches.clone_from(&stand_ins.whole_dispatches);
    if options.whole {
        plan.global.push((0, u64::MAX));
        reached.limits.clear();
    } else if options.global {
        plan.global.extend(all_read().flat_map(Touched::runs));
        let arguments = nearby::arguments(dump, &waves, &plan.global);
        plan.global.extend(arguments);
        plan.global.extend(nearby::code(&reader, &waves, &mut notes)?);
        plan.global.extend(statics(dump, &used, &mut notes));
        plan.global.extend(packets(capture, &waves));
        plan.global.extend(&options.memory);
        plan.global = capture::joined(std::mem::take(&mut plan.global));
    } else {
        // Code is not data of the program. An omitted search is not a limit.
        plan.global = capture::joined(nearby::code(&reader, &waves, &mut notes)?);
        reached.limits.clear();
    }
    plan.code_objects = objects(dump, &waves, &used, options, &mut notes);
    plan.sources = sources::gather(dump, &used, &options.sources, &mut notes);
    plan.code_texts = nearby::texts(&reader, &waves, options.whole);
    let draft = Report::new(dump, options, &chosen, &stand_ins, &plan, reached, notes);
    let expected = write::expected(capture, &plan);
    let mut done = 0;
    let account = |written: &write::Written| {
        let report = draft.clone().with(written.clone());
        Account { note: report.note(), table: serde_json::to_value(report.json()).unwrap_or_default() }
    };
    let mut writing = |count| {
        done += count;
        progress(Progress::Writing(done, expected));
    };
    let written = write::write(capture, &plan, to, &mut writing, &account, &|| dump.changed_file())?;
    Ok(draft.with(written))
}

/// A wave with the private memory that its dispatch requested, and the memory beyond it that answers read. `stands_for`:
/// number of waves that stay out, and that it stands for.
fn planned(capture: &Capture, id: WaveId, read: u64, stands_for: u32) -> PlannedWave {
    let wave = capture.wave(id);
    // Memory of an unknown size exists as far as it is captured.
    let sized = wave.filter(|wave| wave.private_size.is_some());
    let asked =
        sized.and_then(|wave| capture.dispatch_of(wave)).and_then(|dispatch| dispatch.private_segment_size);
    let lanes = wave.map_or(0, |wave| u64::from(wave.kind.wave_size.lanes()));
    let private_end = match asked {
        // The last bytes of each lane are in one dword, after those of the lanes before it.
        Some(size) => size.div_ceil(SWIZZLE_BYTES).saturating_mul(SWIZZLE_BYTES * lanes).max(read),
        None => u64::MAX,
    };
    PlannedWave { wave: id, private_end, stands_for }
}

/// Runs of the source's global variables: writable segments of the code objects that the answers use.
fn statics(dump: &Dump, used: &[usize], notes: &mut Vec<String>) -> Vec<(u64, u64)> {
    let capture = dump.capture();
    let mut runs = Vec::new();
    for index in used {
        let (Some(loaded), Ok(object)) = (capture.code_objects.get(*index), dump.code_object(*index)) else {
            continue;
        };
        let mut left = MAX_STATIC;
        for segment in object.segments().iter().filter(|segment| segment.is_loaded() && segment.is_writable())
        {
            let size = segment.addresses.end.saturating_sub(segment.addresses.start);
            let kept = size.min(left);
            left -= kept;
            let first = loaded.address.0.wrapping_add(segment.addresses.start);
            if let Some(last) = kept.checked_sub(1).and_then(|more| first.checked_add(more)) {
                runs.push((first, last));
            }
            if kept < size {
                notes.push(format!(
                    "{}: of its global variables the first {MAX_STATIC} bytes are kept, and {} left out",
                    loaded.name,
                    bytes_are(size - kept)
                ));
            }
        }
    }
    runs
}

/// Runs of unprocessed packets in the waves' queues; of all queues if all waves are kept.
fn packets(capture: &Capture, waves: &[WaveId]) -> Vec<(u64, u64)> {
    let of_waves = waves.iter().filter_map(|wave| capture.wave(*wave)?.workgroup);
    let queues: BTreeSet<usize> = if waves.len() == capture.waves.len() {
        (0..capture.queues.len()).collect()
    } else {
        let groups: BTreeSet<usize> = of_waves.collect();
        groups.into_iter().filter_map(|group| capture.workgroups.get(group)?.queue).collect()
    };
    let rings = queues.into_iter().filter_map(|queue| capture.queues.get(queue)?.ring);
    rings.flat_map(|ring| ring.packets(MAX_PACKETS)).collect()
}

/// The code objects that the waves' agents see, or all of a whole dump, with their files if an answer used them.
fn objects(
    dump: &Dump,
    waves: &[WaveId],
    used: &[usize],
    options: &Options,
    notes: &mut Vec<String>,
) -> Vec<PlannedObject> {
    let capture = dump.capture();
    let agents: HashMap<usize, ()> =
        waves.iter().filter_map(|wave| Some((capture.wave(*wave)?.agent, ()))).collect();
    let listed = capture.code_objects.iter().enumerate();
    let listed = listed
        .filter(|(_, object)| options.whole || object.agent.is_none_or(|agent| agents.contains_key(&agent)));
    let mut planned: Vec<PlannedObject> = listed
        .map(|(index, object)| {
            let (file, debug) = match used.contains(&index) {
                true => file(dump, index, object, options, notes),
                false => (None, None),
            };
            PlannedObject { index, file, debug, segments: segments(dump, index, object) }
        })
        .collect();
    // The bytes of a code object that is loaded twice are in the dump anyway, and are written once.
    let place = |index: usize| {
        let object = capture.code_objects.get(index)?;
        Some((object.extent?, object.debug, object.image))
    };
    for at in 0..planned.len() {
        let twin =
            planned.get(at).filter(|one| one.file.is_none()).and_then(|one| place(one.index)).and_then(
                |own| planned.iter().find(|other| other.file.is_some() && place(other.index) == Some(own)),
            );
        let files = twin.map(|twin| (twin.file.clone(), twin.debug.clone()));
        if let (Some((file, debug)), Some(one)) = (files, planned.get_mut(at)) {
            (one.file, one.debug) = (file, debug);
        }
    }
    planned
}

/// The loaded segments of a code object: an analysis compares addresses with them also without its file.
fn segments(dump: &Dump, index: usize, object: &capture::CodeObject) -> Vec<LoadedSegment> {
    let Ok(parsed) = dump.code_object(index) else { return object.segments.clone() };
    let loaded = parsed.segments().iter().filter(|segment| segment.is_loaded());
    let each = loaded.map(|segment| LoadedSegment {
        start: segment.addresses.start,
        end: segment.addresses.end,
        is_code: segment.is_executable(),
    });
    each.collect()
}

/// The parts of a code object's image that the program cannot write: the ELF header, the program headers and the
/// read-only segments. The rest is zero: writable segments, which are global memory at the time of the crash, and the
/// gaps between segments. The dynamic section, which leads to the symbols, stays.
fn unwritten(object: &CodeObject) -> Vec<u8> {
    let captured: &[u8] = object.bytes();
    let mut image = vec![0; captured.len()];
    let keep = |image: &mut [u8], kept: Range<usize>| {
        if let (Some(to), Some(from)) = (image.get_mut(kept.clone()), captured.get(kept)) {
            to.copy_from_slice(from);
        }
    };
    let range = |start: u64, size: u64| {
        let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(captured.len());
        at(start)..at(start.saturating_add(size))
    };
    let place = |segment: &Segment| range(segment.offset, segment.file_size);
    let whole = |segment: &Segment| {
        let size = segment.addresses.end.saturating_sub(segment.addresses.start);
        range(segment.offset, segment.file_size.max(size))
    };
    let writable = |segment: &&Segment| segment.is_writable();
    let loaded = || object.segments().iter().filter(|segment| segment.is_loaded());
    loaded().filter(|segment| !writable(segment)).for_each(|segment| keep(&mut image, place(segment)));
    loaded().filter(writable).for_each(|segment| image.get_mut(whole(segment)).unwrap_or_default().fill(0));
    let dynamic = object.segments().iter().filter(|segment| segment.segment_type == PT_DYNAMIC.0);
    dynamic.for_each(|segment| keep(&mut image, place(segment)));
    let table = read::file_header(captured).map_or(0, |header| header.e_phoff.get(LE));
    keep(&mut image, range(0, size_of::<FileHeader>() as u64));
    keep(&mut image, range(table, (size_of::<ProgramHeader>() * object.segments().len()) as u64));
    image
}

/// The file of a code object, with debug information from a separate file: merged into it, or stored beside it if the
/// code object has only an image in memory.
fn file(
    dump: &Dump,
    index: usize,
    object: &capture::CodeObject,
    options: &Options,
    notes: &mut Vec<String>,
) -> (Option<Bytes>, Option<Bytes>) {
    let parsed: Arc<CodeObject> = match dump.code_object(index) {
        Ok(parsed) => parsed,
        Err(why) => {
            notes.push(why.to_string());
            // An image may hold data of the program.
            let is_kept = options.whole && (options.global || !object.image);
            let view = |extent: Option<Extent>| {
                let bytes = dump.capture().view(extent.filter(|_| is_kept)?);
                bytes.map_err(|error| notes.push(format!("{}: {error}", object.name))).ok()
            };
            return <[_; 2]>::into([object.extent, object.debug].map(view));
        }
    };
    let debug = dump.debug_info(index).ok();
    let separate = debug.as_ref().and_then(|debug| debug.separate());
    if object.image {
        let beside: Option<Bytes> = separate.map(|debug| Arc::new(debug.bytes().clone()) as Bytes);
        if beside.is_some() {
            notes.push(format!("{}: its separate debug information is put beside its image", object.name));
        }
        if options.global {
            return (Some(Arc::new(parsed.bytes().clone())), beside);
        }
        notes.push(format!("{}: writable data of its image in memory is left out", object.name));
        return (Some(Arc::new(unwritten(&parsed))), beside);
    }
    let own: Bytes = Arc::new(parsed.bytes().clone());
    if object.origin.as_deref().is_some_and(|origin| origin.starts_with("file://")) {
        notes.push(format!("{}: its file was read from this machine, not from the capture", object.name));
    }
    let Some(separate) = separate else { return (Some(own), None) };
    let file = match merge::merge(parsed.bytes(), separate.bytes()) {
        Ok(merged) => {
            notes.push(format!("{}: its separate debug information is put into it", object.name));
            Arc::new(merged)
        }
        Err(why) => {
            notes.push(format!("{}: its separate debug information stays out: {why}", object.name));
            own
        }
    };
    (Some(file), None)
}
