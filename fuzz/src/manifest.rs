//! Arbitrary bytes as a dump: manifest.toml, manifest.json or a zip, distinguished by content. An opened dump is then
//! read from start to end, because an extent beyond its store is as bad as a panic in the parser.

use lanescope::import;

use crate::shared::{TARGETS, read};

pub fn run(bytes: &[u8]) {
    let Ok(opened) = import::open_bytes("fuzz", bytes.to_vec(), &TARGETS) else { return };
    let capture = &opened.capture;
    for wave in &capture.waves {
        assert!(wave.agent < capture.agents.len());
        for register in wave.kind.registers() {
            capture.register(wave, register.id).expect("registers lie in memory");
        }
        read(capture, &wave.private);
    }
    for workgroup in &capture.workgroups {
        read(capture, &workgroup.lds);
    }
    read(capture, &capture.global);
    for object in &capture.code_objects {
        if let Some(extent) = object.extent {
            let view = capture.view(extent).expect("an extent lies within its store");
            assert_eq!((*view).as_ref().len() as u64, extent.length);
        }
    }
    for problem in &opened.problems {
        assert!(!problem.what.is_empty());
    }
}
