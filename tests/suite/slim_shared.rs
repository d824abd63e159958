//! Waves and work-groups that claim the same bytes: a slim dump has these once, and its answers equal its source's.

use std::fs;

use serde_json::{Value, json};

use crate::slim::{Scratch, answer, slim, words};

/// Bytes of the side file.
const SIZE: u64 = 64 << 10;

/// A dump of waves, LDS and global memory that claim overlapping ranges of one file.
fn shared(scratch: &Scratch) {
    let bytes: Vec<u8> = (0..SIZE as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(scratch.path("all.bin"), bytes).unwrap();
    let range = |offset: u64, length: u64| json!({"file": "all.bin", "offset": offset, "length": length});
    let piece = |address: u64, offset: u64, length: u64| {
        let mut piece = range(offset, length);
        piece["address"] = json!(address);
        piece
    };
    let waves: Vec<Value> = (0..40u64)
        .map(|id| {
            let mut image = range(id * 8, 8192);
            image["layout"] = json!("all");
            json!({
                "id": id, "agent": 1, "workgroup": id % 3, "wave_size": 64, "private_size": 1 << 14,
                "image": image,
                "bulk": [{"registers": "v9-v10", "file": "all.bin", "offset": 40_000 + id * 4}],
                // From the end, so that each is longer than the previous ones.
                "private": [piece(0, SIZE - 8192 - id * 64, 8192), piece(1 << 13, id, 100)],
            })
        })
        .collect();
    let group = |id: u64| json!({"id": id, "lds_size": 4096, "lds": [piece(0, id * 100, 4096)]});
    let manifest = json!({
        "format": 1,
        "agent": [{"id": 1, "target": "gfx90a"}],
        "workgroup": (0..3).map(group).collect::<Vec<_>>(),
        "layout": [{"name": "all", "blocks": [
            {"registers": "v0-v8", "offset": 1024}, {"registers": "s0-s15", "offset": 8000}]}],
        "wave": waves,
        "memory": (0..10u64).map(|n| piece(n << 20, n * 1000, SIZE / 2)).collect::<Vec<_>>(),
    });
    fs::write(scratch.path("manifest.json"), manifest.to_string()).unwrap();
}

#[test]
fn bytes_that_many_claim_are_written_once() {
    let scratch = Scratch::new("slim-shared");
    shared(&scratch);
    let info: Value = serde_json::from_str(&answer(&["info", words(&scratch.0), "--json"])).unwrap();
    assert_eq!(info["problems"], json!([]), "{info}");
    for name in ["to", "to.zip"] {
        let to = scratch.path(name);
        let report = slim(&scratch.0, &to, &["--whole"]);
        for kind in ["registers", "lds", "private", "global"] {
            let bytes = report["bytes"][kind].as_u64().unwrap();
            assert!(bytes > 0 && bytes <= SIZE, "{kind}: {bytes}");
        }
        assert_eq!(report["left_out"]["global"], 0, "{report}");
        let notes = report["notes"].to_string();
        assert!(!notes.contains("early") && !notes.contains("left out"), "{notes}");
        let export = |path| -> Value { serde_json::from_str(&answer(&["export", path])).unwrap() };
        let (mut before, mut after) = (export(words(&scratch.0)), export(words(&to)));
        for of in [&mut before, &mut after] {
            let whole = of.as_object_mut().unwrap();
            ["name", "provenance"].iter().for_each(|key| drop(whole.remove(*key)));
        }
        assert!(before["waves"][39]["private_wave"].is_array());
        assert!(before["waves"][39]["registers"]["v10"].is_string());
        assert_eq!(before, after, "{name}");
        for address in ["0x900000+32768", "0x0+32768"] {
            let read = |path| {
                let (at, length) = address.split_once('+').unwrap();
                answer(&["memory", "--at", at, "--length", length, path])
            };
            assert_eq!(read(words(&scratch.0)), read(words(&to)), "{address}");
        }
    }
}

/// gfx942-multi-xcc has one code object at two addresses, and the chosen waves run the code of one of them.
#[test]
fn a_code_object_that_is_loaded_twice_is_written_once_and_has_its_bytes_twice() {
    let scratch = Scratch::new("slim-twice");
    let to = scratch.path("to.zip");
    let report = slim(&crate::cores::core("gfx942-multi-xcc"), &to, &[]);
    let objects = |path: &str| -> Value {
        let info: Value = serde_json::from_str(&crate::slim::said(&["info", path, "--json"]).0).unwrap();
        let objects = info["code_objects"].as_array().unwrap().iter();
        objects.map(|object| json!([object["load_address"], object["size"], object["problem"]])).collect()
    };
    assert_eq!(objects(words(&to)), objects(words(&crate::cores::core("gfx942-multi-xcc"))));
    assert_eq!((&report["code_objects"], &report["bytes"]["code_objects"]), (&json!(2), &json!(9824)));
}

#[test]
fn a_missing_folder_of_the_target_is_named() {
    let scratch = Scratch::new("slim-folder");
    let to = scratch.path("missing/x.zip");
    let (_, error) =
        crate::slim::said(&["slim", words(&crate::fixtures::fixtures().join("demo.zip")), "-o", words(&to)]);
    assert!(
        error.contains("x.zip: there is no folder ") && error.contains("/missing; make it first"),
        "{error}"
    );
}
