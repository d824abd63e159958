//! ROCm's note: runtime, agents and queues (AMDGPUUsage, "Core file format"; unlike in the text, writers put a version
//! of eight bytes first).

use super::headers::Headers;
use crate::capture::Backing;
use crate::clean::clean;
use crate::elf::{LE, NT_PRPSINFO, NoteHeader, NoteType, read::record};
use crate::import::problem::Problems;
use crate::integers::{u32_at, u64_at};

const NT_AMDGPU_KFD_CORE_STATE: NoteType = NoteType(33);

/// The vendor of the note.
const AMDGPU: &[u8] = b"AMDGPU\0";

/// Bytes of a note's header, and of the longest relevant vendor, padded.
const HEADER: usize = size_of::<NoteHeader>();
const MAX_VENDOR: usize = 8;

/// Maximum number of notes: a host core has a few for each thread.
pub(super) const MAX_NOTES: u32 = 1 << 18;

/// Maximum bytes read of the descriptor.
pub(super) const MAX_DESCRIPTOR: u64 = 16 << 20;

/// Maximum number of agents.
pub(super) const MAX_AGENTS: u32 = 1024;
/// Maximum number of queues.
pub(super) const MAX_QUEUES: u32 = 4096;

/// Maximum bytes of notes in the search for the GPUs' note by its name, if a damaged note hides it.
pub(super) const MAX_SEARCHED: u64 = 64 << 20;

/// Maximum number of places with its name that this search tries.
const MAX_CANDIDATES: u32 = 16;

/// Maximum length of a note's name; a longer one is damage.
const LONGEST_NAME: u32 = 64;

/// The contents of a core's notes.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// The state of the GPUs; `None`: no such note, or an unreadable one.
    pub(super) state: Option<State>,
    /// Whether there is such a note.
    pub(super) found: bool,
    /// Its offset in the file.
    pub(super) found_at: Option<u64>,
    /// Offset of its end by its own header; at most [`MAX_DESCRIPTOR`] bytes are read.
    pub(super) ends_at: Option<u64>,
    /// The process's id.
    pub(super) process: Option<u32>,
    /// The process's command line.
    pub(super) command: Option<String>,
}

/// The state of the GPUs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Version of the kernel driver's interface: major, minor.
    pub(super) version: (u32, u32),
    /// Address of ROCr's `_amdgpu_r_debug`.
    pub(super) r_debug: u64,
    /// 0 disabled, 1 enabled, 2 busy, 3 error.
    pub(super) runtime_state: u32,
    /// Whether the trap temporaries of all waves hold dispatch facts.
    pub(super) ttmp_setup: bool,
    /// The GPUs.
    pub(super) agents: Vec<AgentEntry>,
    /// The queues.
    pub(super) queues: Vec<QueueEntry>,
}

/// `kfd_dbg_device_info_entry`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AgentEntry {
    pub(super) lds_base: u64,
    pub(super) lds_limit: u64,
    pub(super) scratch_base: u64,
    pub(super) scratch_limit: u64,
    pub(super) gpu_id: u32,
    pub(super) location: u32,
    pub(super) vendor: u32,
    pub(super) device: u32,
    /// Major * 10000 + minor * 100 + stepping.
    pub(super) gfx_version: u32,
    pub(super) simds: u32,
    pub(super) waves_per_simd: u32,
    pub(super) arrays: u32,
    pub(super) arrays_per_engine: u32,
    pub(super) xccs: u32,
    pub(super) debug_prop: u32,
}

/// `kfd_queue_snapshot_entry`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct QueueEntry {
    pub(super) ring: u64,
    pub(super) write_pointer: u64,
    pub(super) read_pointer: u64,
    pub(super) save_area: u64,
    /// Queue id without the bits for error and invalid.
    pub(super) id: u32,
    pub(super) gpu_id: u32,
    pub(super) ring_size: u32,
    /// 0 PM4, 1 SDMA, 2 AQL, 3 SDMA between GPUs.
    pub(super) kind: u32,
    /// Bytes for each XCC; 0: the entry is too short for the field.
    pub(super) save_area_size: u32,
}

/// Reads the notes of a core.
pub(super) fn read(file: &dyn Backing, headers: &Headers, problems: &mut Problems) -> Notes {
    let mut notes = Notes::default();
    let mut left = MAX_NOTES;
    let mut doubtful: Option<(u64, String)> = None;
    for segment in &headers.notes {
        let there = segment.offset.saturating_add(segment.size).min(file.len());
        if segment.offset.saturating_add(segment.size) > file.len() {
            let key = format!("segment {}", segment.index);
            let what = format!("the file ends within its {} bytes of notes", segment.size);
            problems.report_at(file.name(), segment.offset, key, what, "a file with all of it");
        }
        let mut at = segment.offset;
        while at < there {
            let note = at;
            if left == 0 {
                let what = format!("more than {MAX_NOTES} notes, the rest is not looked at");
                problems.report_at(file.name(), at, "notes", what, "the state of the GPUs among the first");
                return notes;
            }
            left -= 1;
            let mut header = [0; HEADER + MAX_VENDOR];
            let got = file.read_at(at, &mut header).unwrap_or(0);
            let header = header.get(..got).unwrap_or_default();
            let Some((note_header, vendor)) = record::<NoteHeader>(header, 0).zip(header.get(HEADER..))
            else {
                break;
            };
            let (name, size) = (note_header.n_namesz.get(LE), note_header.n_descsz.get(LE));
            if (name == 0 || name > LONGEST_NAME) && doubtful.is_none() {
                doubtful = Some((at, format!("a note whose name has {name} bytes")));
            }
            let padded = |size: u32| u64::from(size).next_multiple_of(4);
            let start = at.saturating_add(HEADER as u64).saturating_add(padded(name));
            let is = |kind, text: &[u8]| {
                note_header.n_type.get(LE) == kind && name as usize == text.len() && vendor.starts_with(text)
            };
            if is(NT_AMDGPU_KFD_CORE_STATE, AMDGPU) {
                if notes.state.is_some() {
                    let what = "a second note of the GPUs' state, ignored";
                    problems.report_at(file.name(), at, "AMDGPU note", what, "one");
                } else {
                    notes.found = true;
                    notes.found_at = Some(at);
                    notes.ends_at = Some(start.saturating_add(u64::from(size).min(MAX_DESCRIPTOR)));
                    notes.state = descriptor(file, start, u64::from(size), problems);
                }
            } else if is(NT_PRPSINFO, b"CORE\0") && notes.command.is_none() {
                notes.command = command(file, start, size);
                notes.process = process(file, start, size);
            }
            at = start.saturating_add(padded(size));
            let end = segment.offset.saturating_add(segment.size);
            if start.saturating_add(u64::from(size)) > end && doubtful.is_none() {
                let what = format!("a note whose {size} bytes pass the end of the notes at {end:#x}");
                doubtful = Some((note, what));
            }
        }
    }
    if let (None, Some((at, what))) = (&notes.state, doubtful) {
        let expected = "a note before it to be whole: those that follow are not found";
        problems.report_at(file.name(), at, "notes", what, expected);
        search(file, headers, &mut notes, problems);
    }
    notes
}

/// Searches the GPUs' note by its name: notes begin at multiples of 4 bytes from their segment's start.
fn search(file: &dyn Backing, headers: &Headers, notes: &mut Notes, problems: &mut Problems) {
    const CHUNK: usize = 1 << 20;
    let (mut left, mut candidates) = (MAX_SEARCHED, MAX_CANDIDATES);
    let mut buffer = vec![0; CHUNK + HEADER + AMDGPU.len()];
    for segment in &headers.notes {
        let end = segment.offset.saturating_add(segment.size).min(file.len());
        let mut base = segment.offset;
        while base < end && left > 0 {
            let want = buffer.len().min(usize::try_from(end - base).unwrap_or(usize::MAX));
            let got = file.read_at(base, buffer.get_mut(..want).unwrap_or_default()).unwrap_or(0);
            let bytes = buffer.get(..got).unwrap_or_default();
            for skip in (0..got.min(CHUNK)).step_by(4) {
                let note = bytes.get(skip + HEADER..).filter(|rest| rest.starts_with(AMDGPU));
                let Some(note) = note.and_then(|_| record::<NoteHeader>(bytes, skip)) else { continue };
                let is_state = note.n_namesz.get(LE) as usize == AMDGPU.len()
                    && note.n_type.get(LE) == NT_AMDGPU_KFD_CORE_STATE;
                let at = base.saturating_add(skip as u64);
                if !is_state || notes.found_at == Some(at) {
                    continue;
                }
                let Some(less) = candidates.checked_sub(1) else { return };
                candidates = less;
                let start = at.saturating_add(HEADER as u64 + 8);
                let size = u64::from(note.n_descsz.get(LE));
                let found = descriptor(file, start, size, problems);
                notes.found = true;
                notes.found_at = Some(at);
                notes.ends_at = Some(start.saturating_add(size.min(MAX_DESCRIPTOR)));
                if found.is_some() {
                    let what = "found by its name behind a damaged note";
                    problems.report_at(file.name(), at, "AMDGPU note", what, "notes that lead to it");
                    notes.state = found;
                    return;
                }
            }
            base = base.saturating_add(CHUNK as u64);
            left = left.saturating_sub(CHUNK as u64);
        }
    }
}

/// pr_pid of a 64-bit `elf_prpsinfo`: 4 bytes at 24.
fn process(file: &dyn Backing, start: u64, size: u32) -> Option<u32> {
    let mut id = [0; 4];
    if size < 136 || file.read_at(start.checked_add(24)?, &mut id).ok()? < id.len() {
        return None;
    }
    // A writer without the id writes 0.
    Some(u32::from_le_bytes(id)).filter(|id| *id != 0)
}

/// pr_psargs of a 64-bit `elf_prpsinfo`: 80 bytes at 56.
fn command(file: &dyn Backing, start: u64, size: u32) -> Option<String> {
    let mut text = [0; 80];
    if size < 136 || file.read_at(start.checked_add(56)?, &mut text).ok()? < text.len() {
        return None;
    }
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let text = clean(String::from_utf8_lossy(text.get(..end)?).trim().to_owned()).into_owned();
    (!text.is_empty()).then_some(text)
}

/// Reads the descriptor: a header with the sizes of the following entries.
fn descriptor(file: &dyn Backing, start: u64, size: u64, problems: &mut Problems) -> Option<State> {
    let mut report = |offset: u64, what: String, expected: &str| {
        problems.report_at(file.name(), start.saturating_add(offset), "AMDGPU note", what, expected);
    };
    let mut has_all_queues = true;
    let length = size.min(MAX_DESCRIPTOR).min(file.len().saturating_sub(start));
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let got = file.read_at(start, &mut bytes).unwrap_or(0);
    bytes.truncate(got);
    if (got as u64) < size {
        let expected = "all of it (at most 16 MiB), in the file";
        report(got as u64, format!("{got} of {size} bytes are there"), expected);
    }
    let Some(first) = u64_at(&bytes, 0) else {
        report(0, "too short for a version".to_owned(), "a descriptor of at least 40 bytes");
        return None;
    };
    // The text of AMDGPUUsage has no version; no known writer omits it.
    let base = match (first, first as u32, first >> 32) {
        (1, ..) => 8,
        (_, 1, minor) if minor >= 13 => 0,
        _ => {
            report(0, format!("version {first:#x}, which is not read"), "version 1");
            return None;
        }
    };
    let word = |index: usize| u32_at(&bytes, base + index * 4);
    let header =
        || Some((word(0)?, word(1)?, u64_at(&bytes, base + 8)?, word(4)?, word(5)?, word(6)?, word(7)?));
    let Some((major, minor, runtime_size, agents, agent_size, queues, queue_size)) = header() else {
        report(
            0,
            format!("{} bytes, too short for its header", bytes.len()),
            "a descriptor of at least 40 bytes",
        );
        return None;
    };
    if major != 1 || minor < 13 {
        let expected = "1.13 or later of version 1; what follows may be misread";
        report(base as u64, format!("driver interface {major}.{minor}"), expected);
    }
    for (index, (key, size)) in
        [("runtime information", runtime_size), ("agents", agent_size.into()), ("queues", queue_size.into())]
            .into_iter()
            .enumerate()
    {
        if size % 8 != 0 {
            let at = [8, 20, 28].get(index).copied().unwrap_or(0) + base as u64;
            report(at, format!("{key} of {size} bytes each"), "a multiple of 8");
        }
    }
    let mut state = State { version: (major, minor), ..State::default() };
    let mut at = (base + 32) as u64;
    let runtime = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let runtime = runtime.get(..usize::try_from(runtime_size).unwrap_or(usize::MAX).min(runtime.len()));
    let runtime = runtime.unwrap_or_default();
    state.r_debug = u64_at(runtime, 0).unwrap_or(0);
    state.runtime_state = u32_at(runtime, 8).unwrap_or(0);
    state.ttmp_setup = u32_at(runtime, 12).unwrap_or(0) != 0;
    at = at.saturating_add(runtime_size);
    let mut table = |what: &str, count: u32, size: u32, most: u32, at: u64, each: &mut dyn FnMut(&[u8])| {
        let end = at.saturating_add(u64::from(count).saturating_mul(u64::from(size)));
        if count == 0 || size == 0 {
            if count != 0 {
                has_all_queues = false;
                report(at, format!("{count} {what} of 0 bytes"), "entries with a size");
            }
            return end;
        }
        let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        let entries = rest.chunks_exact(size as usize).take(count.min(most) as usize);
        let there = entries.len();
        entries.for_each(each);
        if there < count as usize {
            has_all_queues = false;
            report(at, format!("{there} of {count} {what} are read"), "all of them in the note, and fewer");
        }
        end
    };
    let mut entries = Vec::new();
    at = table("agents", agents, agent_size, MAX_AGENTS, at, &mut |entry| entries.push(agent(entry)));
    state.agents = entries;
    let mut entries = Vec::new();
    at = table("queues", queues, queue_size, MAX_QUEUES, at, &mut |entry| entries.push(queue(entry)));
    state.queues = entries;
    if at != size {
        let what = format!("{size} bytes; its tables end at {at}");
        report(at.min(size), what, "an end after the last queue");
    }
    if !has_all_queues {
        problems.hides_waves();
    }
    Some(state)
}

fn agent(entry: &[u8]) -> AgentEntry {
    // An entry of an older driver is shorter: its missing fields count as 0.
    let word = |offset| u32_at(entry, offset).unwrap_or(0);
    let long = |offset| u64_at(entry, offset).unwrap_or(0);
    AgentEntry {
        lds_base: long(8),
        lds_limit: long(16),
        scratch_base: long(24),
        scratch_limit: long(32),
        gpu_id: word(56),
        location: word(60),
        vendor: word(64),
        device: word(68),
        gfx_version: word(88),
        simds: word(92),
        waves_per_simd: word(96),
        arrays: word(100),
        arrays_per_engine: word(104),
        xccs: word(108),
        debug_prop: word(116),
    }
}

/// Bits of a queue's id for its states error and invalid.
const QUEUE_STATE: u32 = 0xc000_0000;

fn queue(entry: &[u8]) -> QueueEntry {
    let word = |offset| u32_at(entry, offset).unwrap_or(0);
    let long = |offset| u64_at(entry, offset).unwrap_or(0);
    QueueEntry {
        ring: long(8),
        write_pointer: long(16),
        read_pointer: long(24),
        save_area: long(32),
        id: word(40) & !QUEUE_STATE,
        gpu_id: word(44),
        ring_size: word(48),
        kind: word(52),
        save_area_size: word(56),
    }
}
