//! A synthetic capture for tests of the server: its contents follow from the numbers of its waves, so that a test can
//! compute what a client must see.
//!
//! Waves of one kind, four to a work-group: the first was running, the second faulted, the third is at a breakpoint,
//! all others were running. saxpy.s is their code.

use std::process::Command;
use std::sync::{Arc, OnceLock};

use crate::dwarf::ran;
use crate::support::{newest, root};
use lanescope::arch::{RegClass, Register, Targets, WaveArch};
use lanescope::capture::{
    Agent, Backing, BackingId, Capture, CodeObject, Dispatch, Extent, MemoryBacking, MemoryMap, Queue,
    RegisterBlock, Registers, Segment, Wave, WorkGroup,
};
use lanescope::session::{Dump, Session};
use lanescope::units::{Address, LaneSet, WaveId, WaveSize};

/// Captured global memory: the byte at address A is A modulo 251.
const GLOBAL: std::ops::Range<u64> = 0x10_0000..0x12_0000;
/// Bytes of LDS: the byte at A is A exclusive-or the work-group's number.
const LOCAL: u32 = 0x100;
/// Bytes of private memory of one lane: the byte at A is A plus the lane, modulo 256.
const PRIVATE: u32 = 0x40;
/// The load address of the code object.
const LOADED: u64 = 0x7fff_0000_0000;
/// The first instruction; the PC of wave N is 16 N further, that of the fifth wave 20.
const CODE: u64 = LOADED + 0x1000;
const WAVES_OF_GROUP: u32 = 4;

/// A session over some waves of gfx90a, 64 lanes each.
pub(super) fn session(waves: u32) -> Session {
    session_of("gfx90a", WaveSize::W64, waves)
}

/// A session over some waves of that kind.
pub(super) fn session_of(target: &str, size: WaveSize, waves: u32) -> Session {
    let kind = Targets::builtin().kind(target, size).unwrap();
    let mut capture = Capture { name: "synthetic.toml".to_owned(), ..Capture::default() };
    let mut bytes = Vec::new();
    let mut keep = |more: Vec<u8>| {
        let offset = bytes.len() as u64;
        bytes.extend_from_slice(&more);
        Extent { backing: BackingId(0), offset, length: more.len() as u64 }
    };
    let map = |address, extent, name: Option<&str>| {
        MemoryMap::new(vec![Segment { address, extent, name: name.map(Into::into) }]).0
    };
    let target = Arc::clone(&kind.target);
    capture.agents.push(Agent { id: 1, target, name: None, apertures: Default::default(), hardware: None });
    capture.queues.push(Queue { id: 1, agent: 0, name: None, ring: None });
    let groups = waves.div_ceil(WAVES_OF_GROUP);
    let lanes = u32::from(size.lanes());
    capture.dispatches = dispatches([lanes * groups, WAVES_OF_GROUP, 1], [lanes, WAVES_OF_GROUP, 1]);
    capture.global = map(GLOBAL.start, keep(GLOBAL.map(|at| (at % 251) as u8).collect()), Some("heap"));
    if kind.target.name == "gfx90a" {
        let (extent, address) = (Some(keep(code_object().to_vec())), Address(LOADED));
        let uri = Some("file:///tmp/saxpy.hsaco".to_owned());
        let name = "saxpy.hsaco".to_owned();
        capture.code_objects.push(CodeObject { address, extent, uri, name, ..CodeObject::default() });
    }
    let private = keep((0..PRIVATE * lanes).map(|at| private_byte(at, lanes)).collect());
    let layout: Arc<[RegisterBlock]> = layout(&kind).into();
    for group in 0..groups {
        capture.workgroups.push(WorkGroup {
            id: group + 1,
            queue: Some(0),
            dispatch: Some(0),
            position: Some([group, 0, 0]),
            lds_size: Some(LOCAL.into()),
            has_all_waves: false,
            lds: map(0, keep((0..LOCAL).map(|at| (at ^ group) as u8).collect()), None),
        });
    }
    for wave in (0..waves).map(WaveId) {
        let stop = match wave.0 {
            1 => Some("memory_violation"),
            2 => Some("breakpoint"),
            _ => None,
        };
        let reason = |name| kind.target.stop_reasons.iter().position(|reason| reason.name == name).unwrap();
        let image = kind.registers().iter().filter(|register| is_captured(register));
        let image = image.flat_map(|register| value(wave, register)).collect();
        capture.waves.push(Wave {
            id: wave.0 + 1,
            label: None,
            unconfirmed: None,
            unchecked: None,
            kind: Arc::clone(&kind),
            agent: 0,
            workgroup: Some((wave.0 / WAVES_OF_GROUP) as usize),
            wave_in_group: Some(wave.0 % WAVES_OF_GROUP),
            stop: Some(stop.map(reason).into_iter().collect()),
            sgpr_count: None,
            registers: Registers {
                layout: Some(Arc::clone(&layout)),
                image: Some(keep(image)),
                ..Registers::default()
            },
            private: map(0, private, None),
            private_size: Some((PRIVATE * lanes).into()),
        });
    }
    let backing: Arc<dyn Backing> = Arc::new(MemoryBacking::new("bytes", bytes));
    capture.backings.push(backing);
    Session::new(Arc::new(Dump::new(capture, Vec::new())), None).unwrap()
}

/// The dispatch of all waves, and one of which only the id is known.
fn dispatches(grid: [u32; 3], workgroup: [u32; 3]) -> Vec<Dispatch> {
    let unknown = Dispatch {
        id: 2,
        queue: 0,
        packet: None,
        header: None,
        kernel: None,
        grid: None,
        workgroup: None,
        kernarg: None,
        kernel_object: None,
        private_segment_size: None,
        group_segment_size: None,
        entry: None,
        dimensions: None,
        completion: None,
    };
    // HSA Platform System Architecture, "AQL packet header": barrier, acquire at the agent, release to the system.
    const HEADER: u16 = 2 | 1 << 8 | 1 << 9 | 2 << 11;
    let known = Dispatch {
        id: 1,
        packet: Some(7),
        header: Some(HEADER),
        kernel: Some("saxpy".to_owned()),
        grid: Some(grid),
        workgroup: Some(workgroup),
        kernarg: Some(Address(GLOBAL.start + 0x40)),
        kernel_object: Some(Address(GLOBAL.start)),
        private_segment_size: Some(PRIVATE.into()),
        group_segment_size: Some(LOCAL.into()),
        ..unknown.clone()
    };
    vec![known, unknown]
}

/// Whether waves have the register, with or without a value.
fn is_captured(register: &Register) -> bool {
    let number = register.name.get(1..).and_then(|number| number.parse::<u32>().ok());
    match register.class {
        RegClass::Scalar => number.is_some_and(|number| number < 8),
        RegClass::Vector => number.is_some_and(|number| number < 4),
        RegClass::Accumulator => number == Some(0),
        RegClass::General | RegClass::System => true,
        RegClass::Trap => false,
    }
}

/// The stored registers one after the other, with their known dwords: all of v0, a0, s0 to s3 and the special ones with
/// a value, lanes 0 to 15 of v1.
fn layout(kind: &WaveArch) -> Vec<RegisterBlock> {
    let mut offset = 0;
    let block = |register: &Register| {
        let known = match register.name.as_str() {
            "v1" => LaneSet(0xffff),
            "v0" | "a0" | "s0" | "s1" | "s2" | "s3" => LaneSet(u64::MAX),
            name if special(WaveId(0), name).is_some() => LaneSet(u64::MAX),
            _ => LaneSet::EMPTY,
        };
        let width = register.bytes() as u16;
        offset += u64::from(width);
        RegisterBlock { first: register.id, count: 1, width, offset: offset - u64::from(width), known }
    };
    kind.registers().iter().filter(|register| is_captured(register)).map(block).collect()
}

/// The value of a special register: EXEC of the wave at the breakpoint has lanes 4 to 7, that of the fifth wave
/// lanes 0 to 31.
fn special(wave: WaveId, name: &str) -> Option<u64> {
    Some(match name {
        "pc" if wave.0 == 4 => CODE + 20,
        "pc" => CODE + u64::from(wave.0) * 16,
        "exec" if wave.0 == 2 => 0xf0,
        "exec" if wave.0 == 4 => 0xffff_ffff,
        "exec" => u64::MAX,
        "vcc" => 5,
        "m0" => 0xffff_ffff,
        "status" => 0x0001_0000 | u64::from(wave.0),
        "mode" => 0x1c0,
        _ => return None,
    })
}

/// The bytes of a register: dwords with the wave's number, the register's, and for vectors the lane's.
fn value(wave: WaveId, register: &Register) -> Vec<u8> {
    let mut bytes = match special(wave, &register.name) {
        Some(value) => value.to_le_bytes().to_vec(),
        None => {
            let number = register.name.get(1..).and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
            let dword = |lane| match register.is_vector() {
                true => wave.0 << 16 | number << 8 | lane,
                false => wave.0 << 8 | number,
            };
            (0..u32::from(register.dwords)).flat_map(|lane| dword(lane).to_le_bytes()).collect()
        }
    };
    bytes.resize(register.bytes(), 0);
    bytes
}

/// A byte of the wave's private memory, where a dword of each lane follows that of the lane before.
fn private_byte(at: u32, lanes: u32) -> u8 {
    let (row, lane, byte) = (at / (4 * lanes), at / 4 % lanes, at % 4);
    (row * 4 + byte + lane) as u8
}

/// The code object of saxpy.s.
fn code_object() -> &'static [u8] {
    static OBJECT: OnceLock<Vec<u8>> = OnceLock::new();
    OBJECT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (unlinked, linked) = (folder.path().join("saxpy.o"), folder.path().join("saxpy.hsaco"));
        let mut assembler = Command::new(newest("llvm-mc"));
        assembler.args(["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "--defsym=WAVE_SIZE=64"]);
        assembler.args(["-filetype=obj", "tests/suite/server/saxpy.s", "-o"]).arg(&unlinked);
        ran(assembler.current_dir(root()));
        ran(Command::new(newest("ld.lld"))
            .args(["-shared", "-Ttext=0x1000", "-o"])
            .arg(&linked)
            .arg(&unlinked));
        std::fs::read(&linked).unwrap()
    })
}
