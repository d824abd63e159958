//! Arbitrary call frame information over any wave. The input is the code object's `.debug_frame`; the wave's registers
//! and private memory derive from it. The target reads the stack, each lane's stack and the variables of every frame.
//! The result must be within its bounds, and the same when it is read again.

use std::sync::Arc;

use lanescope::capture::{
    Agent, Backing, BackingId, Capture, CodeObject, Extent, MemoryBacking, MemoryMap, RegisterBlock, Segment,
};
use lanescope::codeobject;
use lanescope::session::{Dump, Session, Stacks as _, Variables as _};
use lanescope::units::{Address, LaneId, LaneSet, WaveId, WaveSize};

use crate::shared::{TARGETS, wave};

static OBJECT: &[u8] = include_bytes!("../../tests/fixtures/code/calls-gfx90a.hsaco");
const LOADED: u64 = 0x7f00_0010_0000;
/// Physical frames of a stack. The object has no inlined calls.
const MAX_FRAMES: usize = 128;

pub fn run(bytes: &[u8]) {
    let Some(([place, seed @ ..], rest)) = bytes.split_first_chunk::<5>() else { return };
    let Some((scalars, table)) = rest.split_first_chunk::<24>() else { return };
    let Some(object) = patched(table) else { return };
    let session =
        Session::new(dump(&object, *place, u32::from_le_bytes(*seed), scalars), None).expect("one wave");
    let wave = WaveId(0);
    let stack = session.backtrace(wave, None).expect("the wave is there");
    assert!(stack.frames.len() <= MAX_FRAMES, "{} frames", stack.frames.len());
    assert_eq!(stack, session.backtrace(wave, None).expect("as before"));
    assert!(!stack.end.to_string().is_empty());
    for lane in [0, 5, 63] {
        let lane = session.backtrace(wave, Some(LaneId(lane))).expect("the wave has the lane");
        assert!(lane.frames.len() <= MAX_FRAMES);
    }
    for frame in 0..stack.frames.len().min(4) {
        let _ = session.locals(wave, LaneSet(0x21), frame);
    }
}

/// The object with a replaced `.debug_frame`, padded with empty entries.
fn patched(table: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = OBJECT.to_vec();
    let object = codeobject::CodeObject::parse(codeobject::Bytes::from(bytes.clone())).ok()?;
    let section = object.section(".debug_frame")?;
    let room = bytes.get_mut(section.offset as usize..(section.offset + section.size) as usize)?;
    room.fill(0);
    room.get_mut(..table.len())?.copy_from_slice(table);
    Some(bytes)
}

fn dump(object: &[u8], place: u8, seed: u32, scalars: &[u8; 24]) -> Arc<Dump> {
    let kind = TARGETS.kind("gfx90a", WaveSize::W64).expect("built in");
    let mut bytes = Vec::new();
    let mut keep = |more: &[u8]| {
        let offset = bytes.len() as u64;
        bytes.extend_from_slice(more);
        Extent { backing: BackingId(0), offset, length: more.len() as u64 }
    };
    let pc = LOADED + 0x1500 + u64::from(place) * 4;
    let vector: Vec<u8> = (0..64u32).flat_map(|lane| seed.wrapping_mul(lane | 1).to_le_bytes()).collect();
    let mut own = Vec::new();
    let mut put = |name: &str, contents: &[u8]| {
        let register = kind.named(name).expect("a register of gfx90a");
        let (width, offset) = (register.bytes() as u16, keep(contents).offset);
        let block = RegisterBlock { first: register.id, count: 1, width, offset, known: LaneSet(u64::MAX) };
        own.push((BackingId(0), block));
    };
    put("pc", &pc.to_le_bytes());
    put("exec", &u64::from(seed).wrapping_mul(0x1_0001_0001).to_le_bytes());
    for (name, contents) in ["s30", "s31", "s32", "s33", "s34", "s35"].into_iter().zip(scalars.chunks(4)) {
        put(name, contents);
    }
    for name in ["v0", "v1", "v40", "v41", "a5"] {
        put(name, &vector);
    }
    let memory: Vec<u8> = (0..0x4000u32).map(|at| (at.wrapping_mul(seed) >> 5) as u8).collect();
    let segment = Segment { address: 0, extent: keep(&memory), name: None };
    let private = MemoryMap::new(vec![segment]).0;
    let extent = Some(keep(object));
    let mut capture = Capture { name: "fuzz".to_owned(), ..Capture::default() };
    let target = TARGETS.target("gfx90a").expect("built in");
    capture.agents.push(Agent { id: 1, target, name: None, apertures: Default::default(), hardware: None });
    let name = "patched".to_owned();
    let address = Address(LOADED);
    capture.code_objects.push(CodeObject {
        address,
        extent,
        uri: None,
        build_id: None,
        entry: None,
        agent: None,
        name,
        ..CodeObject::default()
    });
    capture.waves.push(wave(1, &kind, own, private));
    let backing: Arc<dyn Backing> = Arc::new(MemoryBacking::new("fuzz", bytes));
    capture.backings.push(backing);
    Arc::new(Dump::new(capture, Vec::new()))
}
