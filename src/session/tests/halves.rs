//! Scalars with a missing half have no value: see `halves/halves.s`.

use super::Maker;
use crate::codeobject::{CodeObject, assembled};
use crate::report;
use crate::session::print::Query;
use crate::session::{Session, Variables as _};
use crate::units::{LaneId, LaneSet, WaveId, WaveSize};

const LOADED: u64 = 0x7f00_0010_0000;

/// A wave in `f`, with s40 and s41 captured, and s42 missing.
fn session() -> Session {
    let object = assembled(include_str!("halves/halves.s"));
    let start = LOADED + CodeObject::parse(object.clone()).unwrap().symbol("f").unwrap().value;
    let mut maker = Maker::new("gfx90a");
    maker.code_object(&object, LOADED);
    let registers: [(&str, &[u8], u64); 4] = [
        ("exec", &[0xff; 8], 3),
        ("pc", &(start + 4).to_le_bytes(), 3),
        ("s40", &0x1000u32.to_le_bytes(), 1),
        ("s41", &0x7fu32.to_le_bytes(), 1),
    ];
    maker.wave(WaveSize::W64, None, &registers);
    Session::new(maker.finish(), None).unwrap()
}

fn json_of(answer: impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(answer).unwrap()
}

#[test]
fn a_scalar_with_a_missing_half_has_no_value() {
    let session = session();
    let lanes = LaneSet::one(LaneId(1));
    let locals = json_of(report::json::FrameVariables::of(session.locals(WaveId(0), lanes, 0).unwrap()));
    let print = |name: &str| {
        let printed = session.print(WaveId(0), lanes, 0, &Query::typed(name).unwrap()).unwrap();
        let json = json_of(report::print::json(&printed, None));
        json["lanes"][0].clone()
    };
    let undefined = "its location is undefined at this PC: bits 32 to 63 optimized out since DW_OP_piece at 4: no location stands \
                     before the piece";
    let expected = [
        ("whole", "ok", Some("0x7f00001000"), None),
        ("undefined", "optimized_out", None, Some(undefined)),
        ("lost", "unavailable", None, Some("was not captured")),
    ];
    let variables = locals["variables"].as_array().unwrap();
    assert_eq!(variables.len(), expected.len());
    for (variable, (name, state, value, why)) in variables.iter().zip(expected) {
        assert_eq!(variable["name"], name);
        for lane in [&variable["lanes"][0], &print(name)] {
            assert_eq!((lane["state"].as_str(), lane["value"].as_str()), (Some(state), value), "{lane}");
            match why {
                Some(why) => assert!(lane["why"].as_str().unwrap().ends_with(why), "{lane}"),
                None => assert_eq!(lane["why"], serde_json::Value::Null),
            }
            // The known bytes are still listed individually.
            assert!(lane["bytes"].as_str().unwrap().starts_with("00100000"), "{lane}");
            assert_ne!(lane["location"], serde_json::Value::Null, "{lane}");
        }
    }
}
