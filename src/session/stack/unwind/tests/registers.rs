//! Registers of callers, compared with the fixtures' models.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::arch::Targets;
use crate::dwarf::{Frame, Location, Machine as _, RegisterBytes, fetch};
use crate::import;
use crate::session::stack::unwind::Unwinder;
use crate::session::{Dump, Reader};
use crate::units::{BitSize, LaneId, WaveId};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn callers_have_the_registers_of_the_models() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut checked = 0;
    for name in ["user-ops-gfx90a", "user-ops-gfx1100", "calls-gfx90a", "calls-gfx1100"] {
        let expected = fs::read(fixtures.join(format!("expected/{name}.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let opened = import::open(
            &fixtures.join("dumps").join(name),
            &Targets::builtin(),
            &import::Options::default(),
        )
        .unwrap();
        let reader = Reader::new(Arc::new(Dump::new(opened.capture, Vec::new())));
        for (wave, expected) in (0u32..).zip(expected["waves"].as_array().unwrap()) {
            let Some(callers) = expected["callers"].as_array() else { continue };
            let mut walk = Unwinder::new(&reader, WaveId(wave)).unwrap();
            while walk.step() {}
            for (level, caller) in (1..).zip(callers) {
                for (register, value) in caller["registers"].as_object().unwrap() {
                    let context = format!("{name} wave {wave} caller {level} {register}");
                    check(&walk, level, register, value, &context);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 60, "only {checked} registers");
}

fn check(walk: &Unwinder<'_>, level: usize, name: &str, value: &Value, context: &str) {
    let number = walk.kind.named(name).unwrap().dwarf.unwrap();
    let frame = walk.level(level);
    let size = frame.register_size(number).unwrap();
    let mut contents = RegisterBytes::unknown();
    frame.read_register(number, Frame::Current, &mut contents);
    // Equals the callee's answer for its caller.
    let mut entry = RegisterBytes::unknown();
    walk.level(level - 1).read_register(number, Frame::Caller, &mut entry);
    assert_eq!((entry.known, entry.undefined), (contents.known, contents.undefined), "{context}");
    // And the value at the register's save slot, located with the registers of the innermost frame.
    let whole = Location::register(number, size);
    let settled = frame.settled(&whole, LaneId(0), size).unwrap();
    let bits = fetch(&walk.level(0), &settled, None, size).unwrap();
    let dword = |index: usize| {
        let bytes = &contents.bytes[index * 4..index * 4 + 4];
        let known = contents.known >> index & 1 == 1;
        let there: Option<Vec<u8>> = (index * 4..index * 4 + 4).map(|byte| bits.byte(byte).ok()).collect();
        assert_eq!(there.as_deref(), known.then_some(bytes), "{context} dword {index} in {settled:?}");
        known.then(|| hex(bytes))
    };
    match value {
        Value::Null => {
            assert_eq!(contents.known, 0, "{context}");
            assert_ne!(contents.undefined & 1, 0, "{context}");
            assert!(contents.origin.is_some(), "{context}");
            assert!(settled.is_undefined(), "{context}");
        }
        Value::String(bytes) => {
            let all: Option<String> = (0..(size.0 / 32) as usize).map(dword).collect();
            assert_eq!(all.unwrap(), *bytes, "{context}");
        }
        Value::Array(lanes) => {
            for (lane, bytes) in lanes.iter().enumerate() {
                assert_eq!(dword(lane).as_deref(), bytes.as_str(), "{context} lane {lane}");
            }
        }
        Value::Object(lanes) => {
            for (lane, bytes) in lanes {
                assert_eq!(dword(lane.parse().unwrap()).as_deref(), bytes.as_str(), "{context} lane {lane}");
            }
        }
        other => panic!("{context}: {other}"),
    }
    // One lane of a vector is one location, not a composite.
    if size.0 > 64 && value.is_array() {
        let mut lane = Location::register(number, size);
        lane.offset = crate::dwarf::Offset::bytes(12u64);
        let place = frame.settled(&lane, LaneId(3), BitSize(32)).unwrap();
        assert!(!matches!(place.storage, crate::dwarf::Storage::Composite(_)), "{context}: {place:?}");
    }
}
