//! Headers and notes, byte by byte. Other tests are beside their files and, over the sample cores, in the suite.

use std::sync::Arc;

use crate::arch::Targets;
use crate::capture::MemoryBacking;
use crate::import::problem::Problems;
use crate::import::rocm_core::note::{self, Notes};
use crate::import::rocm_core::{agents, headers, stream};
use crate::import::{ImportError, Opened, Options, Problem, Supplied, open, open_bytes};
use crate::mapping::Changes;

/// An ELF header of 64-bit little-endian cores (System V gABI), followed by program headers.
fn elf(machine: u16, count: u16) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\x40".to_vec();
    file.resize(64, 0);
    file[16] = 4;
    file[18..20].copy_from_slice(&machine.to_le_bytes());
    file[32] = 64;
    file[54] = 56;
    file[56..58].copy_from_slice(&count.to_le_bytes());
    file
}

fn program_header(kind: u32, offset: usize, size: usize) -> Vec<u8> {
    let mut header = vec![0; 56];
    header[..4].copy_from_slice(&kind.to_le_bytes());
    header[8..16].copy_from_slice(&(offset as u64).to_le_bytes());
    header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
    header
}

/// A note in a file's encoding.
fn note(name: &[u8], kind: u32, descriptor: &[u8]) -> Vec<u8> {
    let mut note = (name.len() as u32).to_le_bytes().to_vec();
    note.extend((descriptor.len() as u32).to_le_bytes());
    note.extend(kind.to_le_bytes());
    for part in [name, descriptor] {
        note.extend(part);
        note.resize(note.len().next_multiple_of(4), 0);
    }
    note
}

/// A core with one PT_NOTE per list of notes.
fn core(machine: u16, segments: &[Vec<u8>]) -> Vec<u8> {
    let mut file = elf(machine, segments.len() as u16);
    let mut at = 64 + segments.len() * 56;
    for segment in segments {
        file.extend(program_header(4, at, segment.len()));
        at += segment.len();
    }
    file.extend(segments.concat());
    file
}

fn read(file: Vec<u8>) -> (Notes, Vec<Problem>) {
    let file = MemoryBacking::new("core", file);
    let mut problems = Problems::new("core");
    let headers = headers::read(&file, &mut problems).unwrap();
    let notes = note::read(&file, &headers, &mut problems);
    (notes, problems.finish())
}

/// A descriptor: version, then KFD 1.16, the given sizes, and the bytes of runtime, agents and queues.
fn descriptor(runtime: &[u8], agents: (u32, u32), queues: (u32, u32), rest: &[u8]) -> Vec<u8> {
    let mut bytes = 1u64.to_le_bytes().to_vec();
    for word in [1, 16, runtime.len() as u32, 0, agents.0, agents.1, queues.0, queues.1] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes.extend(runtime);
    bytes.extend(rest);
    bytes
}

/// r_debug 0x1234, enabled, with dispatch facts.
const RUNTIME: [u8; 16] = [0x34, 0x12, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0];

fn amdgpu(descriptor: &[u8]) -> Vec<u8> {
    note(b"AMDGPU\0", 33, descriptor)
}

#[test]
fn the_note_is_found_in_any_segment_beside_others() {
    let queue: Vec<u8> = (0..64).collect();
    let state = descriptor(&RUNTIME, (0, 120), (1, 64), &queue);
    let mut second = note(b"CORE\0", 1, &[0; 7]);
    second.extend(note(b"AMDGPU\0", 32, &[1; 8]));
    second.extend(amdgpu(&state));
    let (notes, problems) = read(core(62, &[note(b"CORE\0", 3, &[b'x'; 136]), second]));
    assert_eq!(problems, []);
    assert_eq!(notes.command.as_deref(), Some("x".repeat(80).as_str()));
    let state = notes.state.unwrap();
    assert_eq!(
        (state.version, state.r_debug, state.runtime_state, state.ttmp_setup),
        ((1, 16), 0x1234, 1, true)
    );
    let [queue] = state.queues[..] else { panic!("{:?}", state.queues) };
    assert_eq!((queue.ring, queue.save_area), (0x0f0e_0d0c_0b0a_0908, 0x2726_2524_2322_2120));
    // Bits 31 and 30 of the id mark a deleted or faulty queue.
    assert_eq!((queue.id, queue.gpu_id), (0x2b2a_2928 & 0x3fff_ffff, 0x2f2e_2d2c));
    assert_eq!((queue.ring_size, queue.kind, queue.save_area_size), (0x3332_3130, 0x3736_3534, 0x3b3a_3938));
}

/// Entries of unknown sizes: missing fields count as 0, additional ones are skipped.
#[test]
fn sizes_of_entries_are_the_files() {
    let (mut short, mut long) = (vec![0u8; 56], vec![0u8; 96]);
    short[40] = 7;
    long[40] = 8;
    long[56] = 9;
    long[95] = 0xff;
    for (entry, id, size) in [(short, 7, 0), (long, 8, 9)] {
        let bytes = descriptor(&RUNTIME, (0, 0), (1, entry.len() as u32), &entry);
        let (notes, problems) = read(core(224, &[amdgpu(&bytes)]));
        assert_eq!(problems, []);
        let queue = notes.state.unwrap().queues[0];
        assert_eq!((queue.id, queue.save_area_size), (id, size));
    }
    let mut agent = vec![0u8; 128];
    agent[56] = 3;
    agent[88..92].copy_from_slice(&90010u32.to_le_bytes());
    agent[117] = 4;
    let bytes = descriptor(&RUNTIME, (1, 128), (0, 0), &agent);
    let agent = read(core(224, &[amdgpu(&bytes)])).0.state.unwrap().agents[0];
    assert_eq!((agent.gpu_id, agent.gfx_version, agent.debug_prop), (3, 90010, 0x400));
    // 8 bytes of runtime information: no state, no setup.
    let bytes = descriptor(&RUNTIME[..8], (0, 0), (0, 0), &[]);
    let state = read(core(224, &[amdgpu(&bytes)])).0.state.unwrap();
    assert_eq!((state.r_debug, state.runtime_state, state.ttmp_setup), (0x1234, 0, false));
}

#[test]
fn errors_of_a_note_have_their_offset() {
    let whole = descriptor(&RUNTIME, (0, 0), (1, 64), &[0; 64]);
    // Offset of the descriptor: after the ELF header, one program header, and 20 bytes of the note's.
    let start = 64 + 56 + 20;
    let mut newer = whole.clone();
    newer[0] = 2;
    let mut surplus = whole.clone();
    surplus.extend([0; 8]);
    let mut kfd = whole.clone();
    kfd[12] = 12;
    let cases = [
        (newer, start, "version 0x2, which is not read"),
        (surplus, start + whole.len(), "128 bytes; its tables end at 120"),
        (kfd, start + 8, "driver interface 1.12"),
        (whole[..100].to_vec(), start + 56, "0 of 1 queues are read"),
        (whole[..20].to_vec(), start, "20 bytes, too short for its header"),
        (descriptor(&RUNTIME, (0, 0), (u32::MAX, 64), &[]), start + 56, "0 of 4294967295 queues are read"),
        (descriptor(&RUNTIME, (5, 0), (0, 0), &[]), start + 56, "5 agents of 0 bytes"),
        (descriptor(&RUNTIME, (0, 0), (0, 60), &[]), start + 36, "queues of 60 bytes each"),
    ];
    for (bytes, offset, what) in cases {
        let (_, problems) = read(core(224, &[amdgpu(&bytes)]));
        let found = problems.iter().find(|problem| problem.what == what);
        let place = found.and_then(|problem| problem.place.offset);
        assert_eq!(place, Some(offset as u64), "{what}: {problems:#?}");
    }
    let (notes, problems) = read(core(224, &[[amdgpu(&whole), amdgpu(&whole)].concat()]));
    assert!(notes.state.is_some());
    assert!(problems[0].what.contains("a second note"), "{problems:?}");
}

/// An empty note of the GPUs' state does not hide a later one.
#[test]
fn the_first_note_that_can_be_read_counts() {
    let whole = amdgpu(&descriptor(&RUNTIME, (0, 0), (0, 0), &[]));
    let (notes, problems) = read(core(224, &[[amdgpu(b""), whole.clone()].concat()]));
    assert_eq!(notes.state.map(|state| state.r_debug), Some(0x1234), "{problems:?}");
    assert_eq!(problems.len(), 1, "{problems:?}");
    // After a damaged note it is found by its name. Other data with that name is skipped, up to a limit.
    let mut damaged = note(b"CORE\0", 1, &[0; 8]);
    damaged[4] = 0xff;
    damaged[5] = 0xff;
    for (empty, is_found) in [(0, true), (15, true), (16, false)] {
        let (notes, problems) =
            read(core(224, &[[damaged.clone(), amdgpu(b"").repeat(empty), whole.clone()].concat()]));
        assert_eq!(notes.state.is_some(), is_found, "{empty}: {problems:?}");
        assert_eq!(problems[0].place.offset, Some(64 + 56), "{problems:?}");
    }
}

/// The search for it is limited.
#[test]
fn the_gpus_note_is_searched_for_within_a_bound() {
    let whole = amdgpu(&descriptor(&RUNTIME, (0, 0), (0, 0), &[]));
    for (before, is_found) in [(note::MAX_SEARCHED as usize - 4, true), (note::MAX_SEARCHED as usize, false)]
    {
        let mut segment = vec![0; before];
        // An unused name of maximum length.
        segment[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        segment.extend(&whole);
        assert_eq!(read(core(224, &[segment])).0.state.is_some(), is_found, "{before}");
    }
}

/// AMDGPUUsage describes a descriptor without a leading version.
#[test]
fn a_descriptor_as_the_text_describes_it_is_read() {
    let whole = descriptor(&RUNTIME, (0, 0), (0, 0), &[]);
    let (notes, _) = read(core(224, &[amdgpu(&whole[8..])]));
    assert_eq!(notes.state.unwrap().r_debug, 0x1234);
}

#[test]
fn headers_that_are_zero_missing_or_too_many_are_reported() {
    let mut file = elf(224, 4);
    file.extend(program_header(1, 0, 8));
    file.extend([0; 112]);
    let (_, problems) = read(file);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(told[0].contains("the file ends after 3 program headers"), "{told:?}");
    assert!(told[1].contains("offset 0x78: program headers: 2 of 3 are empty"), "{told:?}");
    // PN_XNUM: the count is sh_info of section 0.
    let mut file = elf(224, 0xffff);
    file[40] = 64 + 56;
    file.extend(program_header(1, 0, 8));
    let mut section = [0; 64];
    section[44] = 1;
    file.extend(section);
    assert_eq!(read(file.clone()).1, []);
    file[64 + 56 + 44..64 + 56 + 48].copy_from_slice(&u32::MAX.to_le_bytes());
    let (_, problems) = read(file);
    assert!(problems[0].hint.as_ref().unwrap().contains(&headers::MAX_HEADERS.to_string()), "{problems:?}");
}

/// gABI: with PN_XNUM section 0 has the count; if it is missing or impossible, the first segment ends the headers.
#[test]
fn headers_end_where_the_first_segment_begins() {
    let state = amdgpu(&descriptor(&RUNTIME, (0, 0), (0, 0), &[]));
    let whole = core(224, &[state.clone(), state]);
    let mut file = whole.clone();
    file[56..58].copy_from_slice(&[0xff, 0xff]);
    let (notes, problems) = read(file.clone());
    assert_eq!(notes.state, read(whole).0.state);
    assert!(problems[0].what.ends_with("section 0 does not give the number: 2 are read"), "{problems:?}");
    let end = file.len() as u64;
    file[40..48].copy_from_slice(&end.to_le_bytes());
    let mut section = [0; 64];
    section[44] = 3;
    file.extend(section);
    let (_, problems) = read(file.clone());
    assert!(problems[0].what.starts_with("3, of which 2 lie before the first segment"), "{problems:?}");
    let at = file.len() - 64 + 44;
    file[at] = 2;
    let (_, problems) = read(file);
    assert!(problems.iter().all(|problem| problem.what.contains("a second note")), "{problems:?}");
}

#[test]
fn a_core_without_gpus_is_no_capture() {
    let file = core(62, &[note(b"CORE\0", 1, &[0; 8])]);
    let error = open_bytes("core.1", file, &Targets::builtin()).unwrap_err();
    let ImportError::NotADump { found, .. } = error else { panic!("{error}") };
    assert!(found.contains("without the state of GPUs"), "{found}");
    for name in ["gpucore.PID", "core.1.gpu", "HSA_COREDUMP_PATTERN", "lanescope GPUCORE --host-core core.1"]
    {
        assert!(found.contains(name), "{found}");
    }
    // A GPU core without a note opens: it has memory, and a problem about missing waves.
    let opened = open_bytes("gpucore.1", core(224, &[]), &Targets::builtin()).unwrap();
    assert!(opened.problems[0].what.contains("no waves"), "{:?}", opened.problems);
    assert!(opened.capture.waves.is_empty());
}

/// Many notes, none of them ROCm's: reading stops at the limit.
#[test]
fn more_notes_than_the_bound_are_not_looked_at() {
    let small = note(b"", 0, b"");
    let (notes, problems) = read(core(62, &[small.repeat(note::MAX_NOTES as usize + 1)]));
    assert!(!notes.found);
    assert!(problems[0].what.contains("262144 notes"), "{problems:?}");
}

/// A driver with entries of 56 bytes omits the size of save areas: the rest of the segment is needed.
#[test]
fn areas_of_unknown_size_are_needed_in_a_stream() {
    let mut queue = vec![0u8; 56];
    queue[32..40].copy_from_slice(&0x7f30_0000_1000u64.to_le_bytes());
    let state = amdgpu(&descriptor(&RUNTIME, (0, 0), (1, 56), &queue));
    let mut file = elf(224, 2);
    let start = 64 + 2 * 56;
    file.extend(program_header(4, start, state.len()));
    let mut load = program_header(1, start + state.len(), 0x8000);
    load[16..24].copy_from_slice(&0x7f30_0000_0000u64.to_le_bytes());
    file.extend(load);
    file.extend(state);
    let stream::Start::Layout(layout) = stream::start(&file, false) else { panic!("no layout") };
    assert!(layout.needed.contains(&(0x7f30_0000_1000, 0x7f30_0000_7fff)), "{:x?}", layout.needed);
    // The size on the largest GPUs, whatever the segment's size.
    let size = 64 + 56 + 32;
    file[size..size + 8].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let stream::Start::Layout(layout) = stream::start(&file, false) else { panic!("no layout") };
    let last = 0x7f30_0000_1000 + stream::MAX_AREAS - 1;
    assert!(layout.needed.contains(&(0x7f30_0000_1000, last)), "{:x?}", layout.needed);
}

/// A stream needs the save areas of all XCCs, up to the limit of a core file.
#[test]
fn areas_of_all_xccs_are_needed_in_a_stream() {
    let mut agent = vec![0u8; 120];
    agent[56] = 3;
    let mut queue = vec![0u8; 64];
    queue[32..40].copy_from_slice(&0x7f30_0000_0000u64.to_le_bytes());
    queue[44] = 3;
    queue[57] = 0x10;
    for (xccs, areas) in [(0u8, 1), (1, 1), (24, 24), (255, u64::from(agents::MAX_XCCS))] {
        agent[108] = xccs;
        let tables = [agent.clone(), queue.clone()].concat();
        let state = amdgpu(&descriptor(&RUNTIME, (1, 120), (1, 64), &tables));
        let stream::Start::Layout(layout) = stream::start(&core(224, &[state]), false) else {
            panic!("no layout")
        };
        let area = (0x7f30_0000_0000, 0x7f30_0000_0000 + areas * 0x1000 - 1);
        assert!(layout.needed.contains(&area), "{xccs}: {:x?}", layout.needed);
    }
}

/// A queue without a possible agent: the user selects its processor.
#[test]
fn a_note_without_agents_is_read_with_the_processor_that_the_user_names() {
    let mut queue = vec![0u8; 64];
    (queue[44], queue[52]) = (3, 2);
    let state = amdgpu(&descriptor(&RUNTIME, (0, 120), (1, 64), &queue));
    let opened = |target: Option<&str>| {
        let core = Arc::new(MemoryBacking::new("core", core(224, std::slice::from_ref(&state))));
        let options = Options { target: target.map(str::to_owned), ..Options::default() };
        super::open(core, &Changes::default(), &Targets::builtin(), &options).unwrap()
    };
    let said =
        |opened: &Opened, text: &str| opened.problems.iter().any(|problem| problem.what.contains(text));
    let named = opened(Some("gfx90a"));
    assert_eq!((named.capture.agents.len(), named.capture.queues.len()), (1, 1));
    let agent = &named.capture.agents[0];
    assert_eq!((agent.id, agent.target.name.as_str(), agent.hardware), (3, "gfx90a", None));
    assert!(said(&named, "the note has no agents; read as one of gfx90a"), "{:?}", named.problems);
    let unnamed = opened(None);
    assert!(unnamed.capture.agents.is_empty() && said(&unnamed, "left out"), "{:?}", unnamed.problems);
}

/// pr_pid of a 64-bit elf_prpsinfo (System V ABI for AMD64, Linux's elfcore.h) is at 24.
#[test]
fn cores_of_two_processes_are_reported() {
    let command = |process: u32| {
        let mut bytes = vec![0u8; 136];
        bytes[24..28].copy_from_slice(&process.to_le_bytes());
        note(b"CORE\0", 3, &bytes)
    };
    let folder = tempfile::tempdir().unwrap();
    let state = amdgpu(&descriptor(&RUNTIME, (0, 0), (0, 0), &[]));
    let path = |name: &str, file: Vec<u8>| {
        let path = folder.path().join(name);
        std::fs::write(&path, file).unwrap();
        path
    };
    let told = |gpu: &std::path::Path, host: &std::path::Path| -> Vec<String> {
        let options = Options { host_core: Some(host.to_owned()), ..Options::default() };
        let opened = open(gpu, &Targets::builtin(), &options).unwrap();
        opened.problems.iter().map(ToString::to_string).collect()
    };
    let gpu = path("gpu", core(224, &[state.clone(), command(42)]));
    let (same, other) = (path("same", core(62, &[command(42)])), path("other", core(62, &[command(43)])));
    let silent = path("silent", core(62, &[command(0)]));
    for (host, count) in [(&same, 0), (&silent, 0), (&other, 1)] {
        for problems in [told(&gpu, host), told(host, &gpu)] {
            let said = problems.iter().filter(|problem| problem.contains("it is of process 43, and"));
            assert_eq!(said.count(), count, "{problems:?}");
        }
    }
    // The host's core alone names that of the GPUs, with its process.
    let alone = open(&same, &Targets::builtin(), &Options::default()).unwrap_err().to_string();
    let place = "writes gpucore.42 into the working folder of the process, same.gpu beside this one, or";
    assert!(alone.contains(place) && alone.contains("lanescope GPUCORE --host-core same"), "{alone}");
    // The GPUs' state in both: one is read, and a problem names it.
    let both = path("both", core(62, &[command(42), state]));
    let problems = told(&gpu, &both);
    assert!(
        problems.iter().any(|problem| problem.contains("its note of the GPUs' state is not read")),
        "{problems:?}"
    );
}

/// The runtime's list of code objects is in the host's memory: a core of the GPUs alone, and one without that memory,
/// have the code objects around PCs, or those of the user.
#[test]
fn a_core_with_the_runtimes_list_has_all_code_objects() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gpucore");
    let code = Supplied { file: folder.join("code/k-gfx90a-O0.hsaco"), address: Some(0x7f10_0000_0000) };
    for (name, expected) in [("gfx90a-unified", true), ("gfx1100", true), ("gfx90a-split", false)] {
        let core = folder.join(format!("{name}.core"));
        for code_objects in [Vec::new(), vec![code.clone()]] {
            let options = Options { code_objects, ..Options::default() };
            let opened = open(&core, &Targets::builtin(), &options).unwrap();
            assert_eq!(opened.capture.has_all_code_objects, expected, "{name}");
        }
    }
}

/// An address outside of the segments is unmapped only if the file has all of them with all their bytes, and those of
/// the host: ROCm's core of the GPUs lists mappings of the GPUs' devices only, and host memory for GPUs is anonymous.
#[test]
fn an_undamaged_core_has_the_whole_map() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gpucore");
    let whole = std::fs::read(folder.join("gfx1100.core")).unwrap();
    let is_whole = |bytes: Vec<u8>| {
        let opened = crate::import::open_bytes("core", bytes, &crate::arch::Targets::builtin()).unwrap();
        assert!(!opened.capture.global.segments().is_empty());
        opened.capture.is_global_whole
    };
    assert!(is_whole(whole.clone()));
    let table = usize::try_from(u64::from_le_bytes(whole[32..40].try_into().unwrap())).unwrap();
    let count = u16::from_le_bytes(whole[56..58].try_into().unwrap());
    let mut headers = (0..usize::from(count)).map(|index| table + index * 56);
    let load = headers.find(|at| whole[*at..*at + 4] == 1u32.to_le_bytes()).unwrap();
    // More bytes in memory than in the file.
    let mut larger = whole.clone();
    larger[load + 42] += 1;
    assert!(!is_whole(larger));
    let mut empty = whole.clone();
    empty[load..load + 4].fill(0);
    assert!(!is_whole(empty));
    let mut without_host = whole.clone();
    without_host[18..20].copy_from_slice(&crate::elf::EM_AMDGPU.0.to_le_bytes());
    assert!(!is_whole(without_host));
    assert!(!is_whole(whole[..whole.len() - 1].to_vec()));
}
