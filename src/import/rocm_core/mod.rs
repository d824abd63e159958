//! ROCm core files: GPU cores, host cores with GPU waves, and the two side by side (docs/captures.md).
//!
//! [`headers`], [`padding`] and [`segments`] make one map of memory; [`note`] has GPUs and queues. [`queues`] finds the
//! save area of each XCC, by [`stride`] if the note lacks its size. [`reading`] reads it: [`area`] is its header,
//! [`block`] its control stack; [`repair`] restores damaged ones, and [`private`] corrects the place of private memory.
//! [`build`] makes work-groups and waves of the blocks, with the facts of [`wave`], [`dispatch`] and [`scratch`].
//! [`doubt`] compares them, [`code`] checks their PCs, and [`skip_summary`] reports missing parts. Of memory only headers, control stacks,
//! packets, kernel descriptors and 200 bytes of each wave are read.

mod agents;
mod area;
mod block;
mod build;
mod code;
mod dispatch;
mod doubt;
mod headers;
mod memory;
mod note;
mod padding;
mod private;
mod queues;
mod read_ahead;
mod reading;
mod repair;
mod scratch;
mod segments;
mod skip_summary;
pub(crate) mod stream;
mod stride;
#[cfg(test)]
mod tests;
mod wave;

use std::fmt::Write as _;
use std::sync::Arc;

use self::agents::Agents;
use self::code::Ranges;
use self::doubt::Doubts;
use self::headers::Headers;
use self::memory::CoreMemory;
use self::note::{Notes, State};
use self::queues::WaveReader;
use super::file::OpenFile;
use super::objects::{self, FoundObject, Held, Hints, LinkMap};
use super::problem::{ImportError, Problems};
use super::{Opened, Options, sniff};
use crate::arch::Targets;
use crate::capture::{Backing, BackingId, Capture, MemoryBacking, Provenance};
use crate::elf;
use crate::integers::u32_at;
use crate::mapping::Changes;

/// Opens a core, with the host's if the options name one. `changes`: those of the core's file, also for the host's.
pub(super) fn open(
    core: Arc<dyn Backing>,
    changes: &Changes,
    targets: &Targets,
    options: &Options,
) -> Result<Opened, ImportError> {
    let name = core.name().to_owned();
    let mut problems = Problems::new(name.clone());
    let mut headers = headers::read(&*core, &mut problems)?;
    let notes = note::read(&*core, &headers, &mut problems);
    padding::correct(&*core, &mut headers, notes.state.as_ref(), &mut problems);
    let mut parts = vec![(core, headers, notes)];
    if let Some(path) = &options.host_core {
        let host: Arc<dyn Backing> = Arc::new(OpenFile::open(path, changes)?);
        let mut start = [0; sniff::START];
        let io = |source| ImportError::Io { file: host.name().to_owned(), source };
        let count = host.read_at(0, &mut start).map_err(io)?;
        let refuse = |found: String| ImportError::NotACore { file: host.name().to_owned(), found };
        match sniff::magic(start.get(..count).unwrap_or_default()) {
            Some(Ok(sniff::Format::Core)) => {}
            Some(Err(other)) => return Err(refuse(other.to_string())),
            _ => return Err(refuse("no ELF core".to_owned())),
        }
        let mut headers = headers::read(&*host, &mut problems).map_err(|error| match error {
            ImportError::NotADump { file, found } => ImportError::NotACore { file, found },
            error => error,
        })?;
        let notes = note::read(&*host, &headers, &mut problems);
        padding::correct(&*host, &mut headers, notes.state.as_ref(), &mut problems);
        parts.push((host, headers, notes));
        // The order in which the user gives the two does not matter.
        parts.sort_by_key(|(_, headers, notes)| !has_gpus(headers, notes));
    }
    let gpu = parts.iter().any(|(_, headers, notes)| has_gpus(headers, notes));
    if !gpu {
        let process = parts.iter().find_map(|(_, _, notes)| notes.process);
        let mut found = String::new();
        // The cause may be damage.
        if let Some(problem) = problems.first() {
            let place = &problem.place;
            let of = if place.file == name { String::new() } else { format!("{}: ", place.file) };
            let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!(", {hint}"));
            let damage = format!("{of}{}{}{hint}", place.within(), problem.what);
            let _ = write!(found, "a damaged ELF core: {damage}; as far as it can be read, ");
        }
        let elsewhere = elsewhere(&name, process);
        let _ =
            write!(found, "an ELF core without the state of GPUs (no note AMDGPU of type 33); {elsewhere}");
        return Err(ImportError::NotADump { file: name, found });
    }
    if !compare_parts(&parts, &mut problems) {
        parts.truncate(1);
    }
    let mut provenance = provenance(&parts);
    let mut state = None;
    let mut files = Vec::new();
    for (file, headers, notes) in parts {
        state = state.or(notes.state);
        files.push((file, headers));
    }
    let is_gpu_alone = matches!(&*files, [(_, headers)] if headers.machine == elf::EM_AMDGPU);
    let executable = segments::executable(&files);
    let map;
    (map, provenance.truncated) = segments::map(&files, &mut problems);
    // ROCm's runtime lists the mappings of the GPUs' devices in a core of the GPUs alone. Host memory that the GPUs may
    // access is anonymous, and only in the host's core.
    let is_global_whole =
        !is_gpu_alone && problems.first().is_none() && files.iter().all(|(_, headers)| headers.is_whole);
    let stores: Vec<Arc<dyn Backing>> = files.into_iter().map(|(file, _)| file).collect();
    let memory = CoreMemory::new(&name, map, stores).of_gpu_alone(is_gpu_alone).with_executable(executable);
    let capture =
        Capture { name, provenance, is_global_whole, changes: changes.clone(), ..Capture::default() };
    let capture = import(capture, &memory, state, targets, options, &mut problems);
    Ok(Opened { capture, problems: problems.finish() })
}

/// Reports signs that two cores do not belong together. Returns whether the second one is used.
fn compare_parts(parts: &[(Arc<dyn Backing>, Headers, Notes)], problems: &mut Problems) -> bool {
    let [(gpu, gpu_headers, notes), (host, headers, host_notes)] = parts else { return true };
    if let Some(at) = host_notes.found_at.filter(|_| notes.state.is_some()) {
        let what = format!("its note of the GPUs' state is not read: that of {} is", gpu.name());
        problems.report_at(
            host.name(),
            at,
            "AMDGPU note",
            what,
            "one of the two cores with the state of GPUs",
        );
    }
    if headers.machine == elf::EM_AMDGPU {
        let what = format!("beside {} it is a GPU core, too", gpu.name());
        problems.report_at(host.name(), 18, "e_machine", what, "the core of the host process");
    }
    if let (Some(of), Some(pid)) = (notes.process, host_notes.process)
        && of != pid
    {
        let what = format!("it is of process {pid}, and {} of process {of}: it is not used", gpu.name());
        problems.report_in(host.name(), None, "NT_PRPSINFO", what, "cores of one process");
        return false;
    }
    if gpu_headers.machine != elf::EM_AMDGPU && headers.machine != elf::EM_AMDGPU {
        let what = format!("{} has the memory of its host process: --host-core is not used", gpu.name());
        problems.report_in(host.name(), None, "ELF header", what, "a core of a host beside a GPU core");
        return false;
    }
    true
}

/// The place of the GPUs' core, for the user of the core of their host process alone.
fn elsewhere(host: &str, process: Option<u32>) -> String {
    let pid = process.map_or_else(|| "PID".to_owned(), |process| process.to_string());
    let host = host.rsplit('/').next().unwrap_or(host);
    format!(
        "the GPUs' core is a file of its own: ROCm's runtime writes gpucore.{pid} into the working folder of the process, \
         {host}.gpu beside this one, or what HSA_COREDUMP_PATTERN names; open both: lanescope GPUCORE --host-core {host}"
    )
}

/// Whether a core has GPU state: by a note, or by its machine.
fn has_gpus(headers: &Headers, notes: &Notes) -> bool {
    notes.found || headers.machine == elf::EM_AMDGPU
}

fn provenance(parts: &[(Arc<dyn Backing>, Headers, Notes)]) -> Provenance {
    let gpu = parts.iter().any(|(_, headers, _)| headers.machine == elf::EM_AMDGPU);
    let what = match (gpu, parts.len()) {
        (true, 1) => "ROCm GPU core",
        (true, _) => "ROCm GPU core with its host core",
        (false, _) => "ROCm core of host and GPUs",
    };
    let state = parts.iter().find_map(|(_, _, notes)| notes.state.as_ref());
    let version = state.map(|state| format!(", driver interface {}.{}", state.version.0, state.version.1));
    let command = parts.iter().find_map(|(_, _, notes)| notes.command.clone());
    let process = parts.iter().find_map(|(_, _, notes)| notes.process);
    let format = format!("{what}{}", version.unwrap_or_default());
    Provenance { format, command, process, ..Provenance::default() }
}

/// The version of the runtime's debugger interface: the core's own, else the user's.
fn r_version(map: &LinkMap, options: &Options, problems: &mut Problems) -> Option<u32> {
    let Some(given) = options.r_version else { return map.r_version };
    if let Some(own) = map.r_version {
        let what = match own == given {
            true => "without effect: the core records that itself".to_owned(),
            false => format!("{given}, but the core has {own}, which is used"),
        };
        problems.report("--r-version", what, "a core that does not hold r_debug.r_version");
        return Some(own);
    }
    if !objects::is_version(given) {
        let what = format!("{given}: it counts as unknown");
        problems.report("--r-version", what, "8 or later");
        return None;
    }
    Some(given)
}

/// e_flags of a code object's ELF header (System V gABI, "ELF Header").
fn flags(held: &Held, memory: &CoreMemory) -> Option<u32> {
    const E_FLAGS: usize = std::mem::offset_of!(elf::FileHeader, e_flags);
    match held {
        Held::File(bytes) => u32_at(bytes, E_FLAGS),
        Held::Image { address, .. } => memory.u32(address.checked_add(E_FLAGS as u64)?),
    }
}

/// First and last address of a code object: an image is not larger than its file, except for padding.
fn object_range(object: &FoundObject) -> Option<(u64, u64)> {
    let (address, length) = match object.held.as_ref()? {
        Held::File(bytes) => (object.address, bytes.len() as u64),
        Held::Image { address, length } => (*address, *length),
    };
    Some((address, address.checked_add(length)?))
}

/// runtime_state of a runtime that debuggers can attach to.
const ENABLED: u32 = 1;

/// Fills a capture from memory and the note.
fn import(
    mut capture: Capture,
    memory: &CoreMemory,
    state: Option<State>,
    targets: &Targets,
    options: &Options,
    problems: &mut Problems,
) -> Capture {
    capture.global = memory.map().clone();
    capture.backings = memory.files().to_vec();
    let by_address = BackingId(capture.backings.len() as u32);
    capture.backings.push(Arc::new(memory.clone()));
    let derived_id = BackingId(capture.backings.len() as u32);
    let (mut derived, mut hints) = (Vec::new(), Hints::default());
    let mut doubts = Doubts::default();
    let r_debug = state.as_ref().map(|state| state.r_debug).filter(|address| *address != 0);
    let map = r_debug.map(|address| LinkMap::read(memory, address)).unwrap_or_default();
    capture.has_all_code_objects = map.is_whole;
    if let Some(address) =
        r_debug.filter(|address| options.host_core.is_some() && memory.u32(*address).is_none())
    {
        let what = format!("no memory at {address:#x}, where the runtime's list of code objects begins");
        problems.report("--host-core", what, "the core of the process that the note of the GPUs is of");
    }
    match &state {
        None => {
            let what = "the state of the GPUs cannot be read: no waves";
            problems.report("AMDGPU note", what, "a note AMDGPU of type 33, version 1");
            problems.explains_no_waves();
        }
        Some(state) => {
            if state.runtime_state != ENABLED {
                let what = format!("runtime state {}", state.runtime_state);
                let expected = "1, enabled: wave state may be incomplete";
                problems.report("AMDGPU note: runtime information", what, expected);
            }
            let r_version = r_version(&map, options, problems);
            let mut agents = Agents::new(state, targets, options, &mut capture, problems);
            let stores = queues::Stores { by_address, derived: derived_id };
            let mut waves =
                WaveReader::new(memory, targets, r_version, state.ttmp_setup, stores, &mut derived);
            waves.queues(state, &mut agents, &mut capture, problems);
            (hints.pcs, doubts) = (waves.pcs, waves.doubts);
        }
    }
    capture.backings.push(Arc::new(MemoryBacking::new("derived registers", derived)));
    let descriptors = capture.dispatches.iter().filter_map(|dispatch| Some(dispatch.kernel_object?.0));
    hints.descriptors = descriptors.collect();
    let found = objects::find(memory, &map, &hints, options, problems);
    let flags = found
        .code_objects
        .iter()
        .filter_map(|object| Some((object.address, flags(object.held.as_ref()?, memory)?)));
    agents::contradictions(flags, targets, options, &capture, problems);
    // A code object that the user placed may not be captured.
    let objects: Ranges = found.code_objects.iter().filter_map(object_range).collect();
    doubts.mark(&mut capture, memory, objects);
    capture.code_objects = found.into_capture(by_address, &mut capture.backings);
    capture
}
