//! The analysis as JSON.

use super::hangs::deadlock;
use super::{demo, overrun};
use crate::capture::{Fault, FaultAccess, FaultAddress, FaultSource};
use crate::report::schema::Document;
use crate::session::Inspect;
use crate::triage::json;

/// The members of the schema in the order, with their types.
#[test]
fn json_has_the_members_of_the_schema() {
    let session = demo();
    let sessions: [&dyn Inspect; 1] = [&session];
    let mut triage = overrun();
    triage.faults = vec![Fault {
        address: Some(FaultAddress { start: 0x7f00_0020_1010, bytes: 1, is_inexact: false }),
        access: Some(FaultAccess::Read),
        source: FaultSource::User,
        ..Fault::default()
    }];
    let document = Document::new(json::json(triage, &sessions));
    let value = serde_json::to_value(document).unwrap();
    let access = &value["accesses"][0];
    let expected = serde_json::json!({
        "schema": "lanescope.triage/1",
        "wave": 1, "pc": "0x7f0000102798", "instruction": "0x7f0000102790", "access": "load", "size": 4,
        "lanes": [24], "addresses": { "24": "0x7f0000201000" }, "confidence": "likely",
        "reasons": ["the capture has no memory at the address", "no wait before the PC proves its completion"],
        "function": "saxpy(int, float, float const*, float*)", "file": "kernels/saxpy.hip", "line": 54,
        "expression": "x[i]", "variable": "x", "index": 1024,
    });
    assert_eq!(value["schema"], expected["schema"]);
    for (member, expected) in expected.as_object().unwrap().iter().filter(|(name, _)| *name != "schema") {
        assert_eq!(&access[member], expected, "{member}");
    }
    let fault = &value["fault"];
    assert_eq!(fault["address"], "0x7f0000201010");
    assert_eq!(fault["page"], "0x7f0000201000");
    assert_eq!((&fault["access"], &fault["source"]), (&"read".into(), &"user".into()));
    assert_eq!(value["hang"], serde_json::Value::Null);

    let value = serde_json::to_value(json::json(deadlock(), &sessions)).unwrap();
    let hang = &value["hang"];
    assert_eq!(hang["groups"][0]["workgroup"], 1);
    assert_eq!(hang["groups"][0]["waiting"], serde_json::json!([1, 2, 3]));
    assert_eq!(hang["groups"][0]["missing"], serde_json::json!([4]));
    let wave = &hang["waves"][1];
    assert_eq!((&wave["wave"], &wave["state"]), (&4.into(), &"spinning".into()));
    assert_eq!(wave["loop_lines"], serde_json::json!([10, 11, 12]));
    assert_eq!(wave["polls"][0]["value"], "0x0");
}
