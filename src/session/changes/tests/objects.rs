//! Variables and callers' registers of the fixtures: a written value reads back from every kind of storage.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::place;
use crate::arch::Targets;
use crate::debuginfo::format::Letter;
use crate::dwarf::Storage;
use crate::import;
use crate::sample::{least, sampled};
use crate::session::print::{Query, VariableIn};
use crate::session::variables::with_frame;
use crate::session::{
    Byte, ChangeError, Dump, LaneValue, ReadError, Reset, Session, Stacks as _, Storage as _, ValueState,
    Variables as _, Waves as _, WhatIf as _,
};
use crate::units::{Address, AddressSpace, BitSize, LaneId, LaneSet, WaveId};

const WAVE: WaveId = WaveId(0);

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn session(name: &str) -> Session {
    let opened =
        import::open(&fixtures().join("dumps").join(name), &Targets::builtin(), &import::Options::default())
            .unwrap();
    Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None).unwrap()
}

fn local(session: &Session, wave: WaveId, frame: usize, name: &str, lane: LaneId) -> LaneValue {
    let locals = session.locals(wave, LaneSet::one(lane), frame).unwrap();
    let variable = locals.variables.into_iter().find(|variable| variable.name == name);
    variable.and_then(|variable| variable.lanes.into_iter().next()).unwrap_or_else(|| panic!("no {name}"))
}

fn bytes(value: &LaneValue) -> Option<Vec<u8>> {
    let byte = |byte: &Byte| match byte {
        Byte::Known(byte) => Some(*byte),
        _ => None,
    };
    value.bytes.iter().map(byte).collect()
}

fn printed(session: &Session, path: &str, lane: u8) -> String {
    let query = Query { path: path.to_owned(), letter: None::<Letter> };
    let answer = session.print(WAVE, LaneSet::one(LaneId(lane)), 0, &query).unwrap();
    match &answer.lanes[0].value.state {
        ValueState::Value(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}

/// In VGPRs, in private memory, in pieces, under overlays, in a callee's save slots.
#[test]
fn variables_read_as_they_were_written() {
    let names = [
        "saxpy-gfx90a-O0",
        "saxpy-gfx1100-O2",
        "lds-gfx90a-O0",
        "call-gfx90a-O2",
        "call-gfx1030-O0",
        "user-ops-gfx90a",
        "user-ops-gfx1100",
        "draft-ops-gfx1100",
        "calls-gfx90a",
        "calls-gfx1100",
    ];
    let (mut written, mut constants, mut registers, mut memory, mut composites) = (0, 0, 0, 0, 0);
    for name in names {
        let mut session = session(name);
        let expected: Value =
            serde_json::from_slice(&fs::read(fixtures().join(format!("expected/{name}.json"))).unwrap())
                .unwrap();
        let depth = expected["waves"][0]["callers"].as_array().map_or(0, Vec::len);
        let waves: Vec<WaveId> = session.waves().iter().copied().take(2).collect();
        for (wave, frame) in waves.iter().flat_map(|wave| (0..=depth).map(move |frame| (*wave, frame))) {
            // Other lanes of each wave.
            let lanes = [0u8, 1, 17].into_iter().cycle().skip(2 * (wave.0 as usize % 2)).take(3);
            for lane in sampled(lanes, 3).map(LaneId) {
                let Ok(locals) = session.locals(wave, LaneSet::one(lane), frame) else { continue };
                for variable in locals.variables {
                    let value = &variable.lanes[0];
                    let context = format!("{name} wave {wave} frame {frame} lane {lane} {}", variable.name);
                    let (Some(old), Some(at)) = (bytes(value), value.place()) else { continue };
                    // Another PC means another frame, with other variables.
                    if value.location().is_some_and(|location| location.contains("PC_64")) {
                        continue;
                    }
                    let shadowed = local(&session, wave, frame, &variable.name, lane);
                    // A path follows references, and names the innermost object of that name.
                    let is_reference = variable.type_name.ends_with('&');
                    if old.is_empty()
                        || is_reference
                        || shadowed.place().map(|at| format!("{at:?}")) != Some(format!("{at:?}"))
                    {
                        continue;
                    }
                    let new: Vec<u8> = old.iter().map(|byte| byte ^ 0x5a).collect();
                    let outcome = session.write_variable(wave, lane, frame, &variable.name, &new);
                    if let Storage::Implicit(_) = at.storage {
                        let words = outcome.unwrap_err().to_string();
                        assert!(words.ends_with("there is nothing to write"), "{context}: {words}");
                        constants += 1;
                        continue;
                    }
                    if let Err(why) = &outcome {
                        // A part of an object can be a constant of the debug information.
                        assert!(matches!(why, ChangeError::Object(_)), "{context}: {why}");
                        assert_eq!(session.changes(1).unwrap().registers.len(), 0, "{context}");
                        constants += 1;
                        continue;
                    }
                    match at.storage {
                        Storage::Register { .. } => registers += 1,
                        Storage::Memory { .. } => memory += 1,
                        _ => composites += 1,
                    }
                    let read = local(&session, wave, frame, &variable.name, lane);
                    assert_eq!(bytes(&read).as_ref(), Some(&new), "{context}");
                    session.reset(Reset::All);
                    assert_eq!(bytes(&local(&session, wave, frame, &variable.name, lane)), Some(old.clone()));
                    // The same by the location itself, which is now one of frame 0.
                    let size = BitSize(new.len() as u64 * 8);
                    session.write_location(wave, lane, 0, &at, size, &new).unwrap();
                    let read = local(&session, wave, frame, &variable.name, lane);
                    assert_eq!(bytes(&read), Some(new), "{context} by its location");
                    session.reset(Reset::All);
                    written += 1;
                }
            }
        }
    }
    let counts = (written, constants, registers, memory, composites);
    assert!(
        written > least(150, 37)
            && constants > least(5, 0)
            && registers > least(20, 5)
            && memory > least(50, 12)
            && composites > least(5, 0),
        "{counts:?}"
    );
}

/// tests/fixtures/kernels/calls.s: `kept` of the outermost frame is in v40. `middle` saved its active lanes (every
/// fourth one) at its CFA plus 0x800, in the wave's layout; the others are still in v40.
#[test]
fn a_callers_register_is_written_where_it_was_saved() {
    let mut session = session("calls-gfx90a");
    let (new, text) = (0x0102_0304_u32.to_le_bytes(), ValueState::Value("16909060".into()));
    for lane in [LaneId(4), LaneId(3)] {
        let old = local(&session, WAVE, 2, "kept", lane).state;
        session.write_variable(WAVE, lane, 2, "kept", &new).unwrap();
        assert_eq!(local(&session, WAVE, 2, "kept", lane).state, text);
        let v40 = session.register(WAVE, session.kind().named("v40").unwrap().id).unwrap();
        let mut saved = [0; 4];
        session.read(place(6, 0x1800 + 4 * u64::from(lane.0), 0, 0), &mut saved).unwrap();
        let is_saved = lane.0.is_multiple_of(4);
        assert_eq!(saved == new, is_saved, "lane {lane}");
        assert_eq!(v40.lane(lane) == Some(0x0102_0304), !is_saved, "lane {lane}");
        session.reset(Reset::All);
        assert_eq!(local(&session, WAVE, 2, "kept", lane).state, old);
        // A part of it, by its DIE: the bytes of 500 and a few differ only below the third.
        let die = with_frame(session.reader(), WAVE, 2, |found| {
            let mut variables = found.variables.into_iter().map(|at| at.variable);
            let kept = variables.find(|variable| variable.name.as_deref() == Some("kept"));
            Ok::<_, ReadError>(kept.unwrap().die)
        });
        let variable = VariableIn { wave: WAVE, lane, own_stack: false, level: 2, variable: die.unwrap() };
        session.write_in(variable, 2, &[1, 0]).unwrap();
        let kept = 0x1_0000 + 500 + u32::from(lane.0);
        assert_eq!(local(&session, WAVE, 2, "kept", lane).state, ValueState::Value(kept.to_string().into()));
        let beyond = session.write_in(variable, 3, &[1, 0]).unwrap_err().to_string();
        assert_eq!(beyond, "the variable takes 4 bytes, not 5");
        session.reset(Reset::All);
    }
}

/// s30 and s31 have the return address of `leaf` (the same file).
#[test]
fn the_return_address_changes_the_stack() {
    let mut session = session("calls-gfx90a");
    let functions = |session: &Session| -> Vec<String> {
        let stack = session.backtrace(WAVE, None).unwrap();
        stack.frames.into_iter().map(|frame| frame.function.unwrap_or_default()).collect()
    };
    assert_eq!(functions(&session), ["leaf", "middle", "launch"]);
    let s30 = session.kind().named("s30").unwrap().id;
    let old = session.register(WAVE, s30).unwrap().scalar().unwrap() as u32;
    // Into `launch`, past its call.
    session.write_register(WAVE, s30, &0x0010_1778_u32.to_le_bytes()).unwrap();
    assert_eq!(functions(&session)[..2], ["leaf", "launch"]);
    session.write_register(WAVE, s30, &0x0000_0002_u32.to_le_bytes()).unwrap();
    assert_eq!(functions(&session), ["leaf"]);
    session.write_register(WAVE, s30, &old.to_le_bytes()).unwrap();
    assert_eq!(functions(&session), ["leaf", "middle", "launch"]);
    assert_eq!(session.changes(1).unwrap(), crate::session::Changes::default());
}

#[test]
fn numbers_are_set_as_c_converts_them() {
    let mut session = session("saxpy-gfx90a-O0");
    let lanes = LaneSet::one(LaneId(5));
    for (path, value, read) in [
        ("n", "-7", "-7"),
        ("n", "0x10", "16"),
        ("n", "n + 3", "19"),
        ("a", "2.5", "2.5"),
        ("a", "n", "19"),
        ("a", "-1e3", "-1000"),
        ("xi", "a", "-1000"),
        ("i", "'A'", "65"),
        ("$v3[9]", "77", "77"),
        ("$v3", "78", "78"),
        ("$s0", "-1", "4294967295"),
        // Values that fit with or without a sign are valid and read back.
        ("n", "0xffffffff", "-1"),
        ("n", "-2147483648", "-2147483648"),
    ] {
        session.assign(WAVE, lanes, 0, path, value).unwrap_or_else(|why| panic!("{path} = {value}: {why}"));
        assert_eq!(printed(&session, path, 5), read, "{path} = {value}");
    }
    for (path, value, words) in [
        ("nothing", "1", "there is no `nothing` in this frame or its code object"),
        ("n + 1", "1", "`n + 1` is a computed value: there is nothing to write"),
        ("n", "nothing", "there is no `nothing` in this frame or its code object"),
        ("$v900", "1", "gfx90a has no register `v900`"),
        ("$v3[64]", "1", "there is no lane 64 in `$v3`: it has 64"),
        // C would cut these: 32 bits hold -2^31 to 2^32 - 1.
        ("n", "99999999999", "99999999999 does not fit 32 bits, -2147483648 to 4294967295, of `int`"),
        ("n", "-2147483649", "-2147483649 does not fit 32 bits"),
        ("n", "4294967296", "4294967296 does not fit 32 bits"),
        ("sample.low", "99", "99 does not fit 5 bits, -16 to 31,"),
        ("n", "2.5", "`2.5` is no whole number"),
        ("n", "1e99", "`1e99` is no whole number"),
        ("$v3[9]", "0x100000000", "4294967296 does not fit 32 bits"),
        ("$s0", "-2147483649", "does not fit 32 bits"),
    ] {
        let before = session.changes(1000).unwrap();
        let why = session.assign(WAVE, lanes, 0, path, value).unwrap_err();
        assert!(why.to_string().contains(words), "{path} = {value}: {why}");
        assert_eq!(session.changes(1000).unwrap(), before);
    }
    // Each lane has its own value; if one lane cannot be written, none is.
    session.reset(Reset::All);
    let all = LaneSet(u64::MAX);
    session.assign(WAVE, all, 0, "i", "i * 2").unwrap();
    for lane in [0u8, 1, 63] {
        assert_eq!(printed(&session, "i", lane), (2 * (1000 + u32::from(lane))).to_string());
    }
    let why = session.assign(WAVE, all, 0, "$s0", "i").unwrap_err().to_string();
    assert!(why.contains("in one place for several of the lanes"), "{why}");
}

/// Clients request outer frames by number before the number of frames is known.
#[test]
fn a_wave_without_a_pc_has_no_callers_to_write_to() {
    let mut session = session("absent-gfx90a");
    let wave = WaveId(4);
    assert!(session.wave(wave).unwrap().pc.is_none());
    let at = crate::dwarf::Location::memory(AddressSpace(0), 64, Address(0x1000));
    for frame in [1, usize::MAX] {
        let refused = session.write_location(wave, LaneId(0), frame, &at, BitSize(8), &[1]).unwrap_err();
        let words = format!("there is no frame {frame}; the stack has none: the PC was not captured");
        assert_eq!(refused.to_string(), format!("no variables: {words}"));
    }
}
