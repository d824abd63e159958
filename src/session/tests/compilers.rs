//! Unmodified output of Triton and flang: `tests/fixtures/compilers`.

use super::Maker;
use crate::arch::Processor;
use crate::codeobject::{CodeObject, ElfAddress};
use crate::dwarf::clang_xderef::Idiom;
use crate::sample::{least, sampled};
use crate::session::{
    Byte, Expression, Found, Provenance, Question, Session, StackEnd, Stacks as _, Variables as _, Want,
};
use crate::units::{LaneId, LaneSet, WaveId, WaveSize};

const LOADED: u64 = 0x7f00_0010_0000;
const TRITON: [&[u8]; 2] = [
    include_bytes!("../../../tests/fixtures/compilers/triton-gfx90a.hsaco"),
    include_bytes!("../../../tests/fixtures/compilers/triton-gfx1100.hsaco"),
];

/// The dword of a vector register that belongs to a lane.
fn dword(register: u64, lane: u8) -> u32 {
    0x0101_0000 * (register as u32 + 1) + u32::from(lane)
}

/// A wave at an address of a code object, whose vector registers have their number and lane as value.
fn at(bytes: &[u8], pc: u64) -> Session {
    let object = CodeObject::parse(bytes.to_vec()).unwrap();
    let mut maker = Maker::new(Processor::of_mach(object.header().mach()).unwrap().name);
    let size = maker.capture.agents[0].target.wave_sizes[0];
    maker.code_object(bytes, LOADED);
    let pc = (LOADED + pc).to_le_bytes();
    let lanes = size.lanes();
    let vectors: Vec<(String, Vec<u8>)> = (0..16)
        .map(|register| {
            let bytes = (0..lanes).flat_map(|lane| dword(register, lane).to_le_bytes()).collect();
            (format!("v{register}"), bytes)
        })
        .collect();
    let exec = vec![0xff; usize::from(lanes / 8)];
    let mut registers: Vec<(&str, &[u8], u64)> = vec![("pc", &pc, 3), ("exec", &exec, 3)];
    registers.extend(vectors.iter().map(|(name, bytes)| (name.as_str(), &bytes[..], u64::MAX)));
    maker.wave(size, None, &registers);
    Session::new(maker.finish(), None).unwrap()
}

fn known(number: u32, count: u64) -> Vec<Byte> {
    number.to_le_bytes().into_iter().take(count as usize).map(Byte::Known).collect()
}

/// compiled-code.md, section 4: a VGPR means the lane's own dword. `eval` follows the DWARF text.
#[test]
fn variables_of_triton_in_vector_registers_are_each_lanes_own() {
    let mut seen = std::collections::BTreeSet::new();
    for bytes in TRITON {
        let object = CodeObject::parse(bytes.to_vec()).unwrap();
        let text = object.text().unwrap();
        for pc in (text.start.0..text.end.0).step_by(4) {
            let session = at(bytes, pc);
            let dump = session.reader().dump();
            let loaded = dump.objects().at(dump.capture(), LOADED + pc, None).unwrap();
            let debug = loaded.debug(dump.capture()).unwrap();
            let Some(function) = debug.function_at(ElfAddress(pc)).unwrap() else { continue };
            let described = debug.frame_variables(&function, 0, ElfAddress(pc)).unwrap();
            let lanes: LaneSet = [LaneId(0), LaneId(5), LaneId(31)].into_iter().collect();
            let locals = session.locals(WaveId(0), lanes, 0).unwrap();
            for (variable, shown) in described.iter().zip(&locals.variables) {
                let Some(expression) = variable.location.expression() else { continue };
                let size = shown.size.unwrap_or(0);
                // DW_OP_regx of a VGPR, whose numbers have two bytes: 2560 of wave64, 1536 of wave32.
                let [0x90, low, high] = expression[..] else { continue };
                let number = u64::from(low & 0x7f) | u64::from(high) << 7;
                let register = number - if object.header().mach() == 0x3f { 2560 } else { 1536 };
                for value in &shown.lanes {
                    assert_eq!(
                        value.bytes,
                        known(dword(register, value.lane.0), size).into(),
                        "{} {pc:#x}",
                        shown.name
                    );
                    assert_eq!(value.provenance(), Provenance::of(Some(Idiom::LaneDword)));
                    assert!(value.location().unwrap().ends_with("(inferred: lane's dword)"));
                }
                let question = Question {
                    expression: Expression::Bytes(expression.to_vec()),
                    dialect: None,
                    want: Want::Location { size: Some(size), legacy: false },
                    explain: false,
                };
                let found = session.evaluate(WaveId(0), LaneSet::one(LaneId(5)), &question).unwrap();
                let Found::Location { bytes, provenance: Provenance { idiom: None, .. }, .. } =
                    &found.lanes[0].found
                else {
                    panic!("{found:?}")
                };
                assert_eq!(*bytes, known(dword(register, 0), size), "by the book");
                seen.insert((shown.name.clone(), size));
            }
        }
    }
    let names: Vec<(&str, u64)> = seen.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    for expected in [("idx", 4), ("q", 2), ("x", 4), ("z", 4)] {
        assert!(names.contains(&expected), "{names:?}");
    }
}

/// compiled-code.md, section 2, fault 3: the table of a kernel with preloaded arguments has no rules for the 256 bytes before
/// the first rule, which are the kernel's entry on old firmware. A kernel has no caller there, too.
#[test]
fn a_kernel_of_triton_ends_the_stack_at_every_pc() {
    for bytes in TRITON {
        let object = CodeObject::parse(bytes.to_vec()).unwrap();
        let kernel = object.kernels().next().unwrap();
        let symbol = object.symbol(&kernel.name).unwrap();
        assert_eq!(kernel.entry, Some(ElfAddress(symbol.value)));
        for pc in sampled((symbol.value..symbol.value + symbol.size).step_by(4), 4) {
            let stack = at(bytes, pc).backtrace(WaveId(0), None).unwrap();
            assert_eq!(stack.end, StackEnd::Outermost, "{pc:#x}");
            assert!(
                stack.frames.iter().all(|frame| frame.physical == 0 && frame.inferred.is_none()),
                "{pc:#x}"
            );
            let outermost = stack.frames.last().unwrap().function.clone();
            assert_eq!(outermost.as_deref(), Some(&*kernel.name), "{pc:#x}");
        }
    }
}

const FLANG: &[u8] = include_bytes!("../../../tests/fixtures/compilers/procedures-gfx1100-O0.hsaco");

/// compiled-code.md, section 5: a frame slot has a generic pointer, possibly to private memory.
#[test]
fn parameters_of_flang_are_where_the_pointers_in_the_frame_lead() {
    let object = CodeObject::parse(FLANG.to_vec()).unwrap();
    let symbol = object.symbol("_QMmPwork").unwrap().clone();
    let (frame, number) = (0x100u64, 42u32);
    let mut checked = 0;
    // Slots begin at even rows of dwords, or at odd ones.
    let made = |pc: u64, odd: u64| {
        let mut maker = Maker::new("gfx1100");
        maker.code_object(FLANG, LOADED);
        let space = maker.capture.agents[0].target.space_named("private_lane").unwrap().clone();
        let aperture = 0x0005_0000_0000_0000u64;
        maker.capture.agents[0].apertures.insert(space.id, crate::units::Address(aperture));
        let bytes = number.to_le_bytes();
        maker.capture.global = maker.map(&[(0x8000, &bytes)]);
        // Rows of a dword per lane of 32: every slot of 8 bytes points to global memory, in lane 7 to private memory.
        let row = |row: u64| {
            (0..32u64).flat_map(move |lane| {
                let pointer = if lane == 7 { aperture | 0x800 } else { 0x8000 };
                let word = if row % 2 == odd { pointer as u32 } else { (pointer >> 32) as u32 };
                if row == 0x800 / 4 { (1000 + lane as u32).to_le_bytes() } else { word.to_le_bytes() }
            })
        };
        let memory: Vec<u8> = (0..0x900 / 4).flat_map(row).collect();
        let pc_bytes = (LOADED + pc).to_le_bytes();
        let s33 = (frame as u32).to_le_bytes();
        let registers: [(&str, &[u8], u64); 4] =
            [("pc", &pc_bytes, 3), ("exec", &[0xff; 4], 3), ("s32", &[0, 2, 0, 0], 1), ("s33", &s33, 1)];
        maker.wave(WaveSize::W32, None, &registers);
        maker.private(0, &[(0, &memory)]);
        Session::new(maker.finish(), None).unwrap()
    };
    for pc in sampled((symbol.value..symbol.value + symbol.size).step_by(4), 9) {
        let session = made(pc, 0);
        let dump = session.reader().dump();
        let debug =
            dump.objects().at(dump.capture(), LOADED + pc, None).unwrap().debug(dump.capture()).unwrap();
        let described = debug.variables_at(ElfAddress(pc)).unwrap();
        let n = described.iter().find(|at| at.variable.name.as_deref() == Some("n")).unwrap();
        // DW_OP_bregx SGPR33 and a displacement of two bytes, DW_OP_deref.
        let Some([0x92, 65, low, high, 0x06]) = n.location.expression().map(|bytes| &bytes[..]) else {
            continue;
        };
        let slot = frame + (u64::from(low & 0x7f) | u64::from(*high) << 7);
        let session = made(pc, slot / 4 % 2);
        let lanes: LaneSet = [LaneId(3), LaneId(7)].into_iter().collect();
        let locals = session.locals(WaveId(0), lanes, 0).unwrap();
        let Some(n) = locals.variables.iter().find(|variable| variable.name == "n") else { continue };
        let [third, seventh] = &n.lanes[..] else { panic!("{n:?}") };
        assert_eq!(third.provenance().idiom, Some(Idiom::PrivateFrame));
        assert_eq!((third.state.words(), seventh.state.words()), ("42", "1007"), "{pc:#x}");
        checked += 1;
    }
    assert!(checked > least(100, 8), "{checked}");
}

/// A code object for another processor than the agent's is rejected with both names, and accepted if the user insists.
#[test]
fn a_code_object_for_another_processor_is_refused() {
    let object = CodeObject::parse(FLANG.to_vec()).unwrap();
    let pc = object.symbol("_QMmPwork").unwrap().value;
    let made = |gpu: &str, forced: bool| {
        let mut maker = Maker::new(gpu);
        maker.code_object(FLANG, LOADED);
        maker.capture.code_objects[0].forced = forced;
        let pc = (LOADED + pc).to_le_bytes();
        let size = maker.capture.agents[0].target.wave_sizes[0];
        maker.wave(size, None, &[("pc", &pc, 3), ("exec", &[0xff; 4], 1)]);
        Session::new(maker.finish(), None).unwrap()
    };
    let name = |session: &Session| {
        let stack = session.backtrace(WaveId(0), None).unwrap();
        stack.frames[0].function.clone()
    };
    assert!(name(&made("gfx1100", false)).is_some());
    let forced = made("gfx90a", true);
    assert!(name(&forced).is_some());
    let origin = forced.reader().dump().code_objects()[0].origin.clone();
    assert_eq!(origin.unwrap(), "by force: it is for gfx1100, and the GPU is gfx90a");
    assert_eq!(made("gfx1100", true).reader().dump().code_objects()[0].origin, None);
    let refused = made("gfx90a", false);
    assert_eq!(name(&refused), None);
    let why = refused.locals(WaveId(0), LaneSet::one(LaneId(0)), 0).unwrap_err().to_string();
    for part in ["gfx1100", "gfx90a", "--force"] {
        assert!(why.contains(part), "{why}");
    }
    let listed = refused.reader().dump().code_objects();
    assert!(listed[0].problem().unwrap().contains("is for gfx1100, and the GPU is gfx90a"), "{listed:?}");
}
