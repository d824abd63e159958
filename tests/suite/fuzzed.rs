//! The fuzz targets over real files: what a target asserts holds for them, as they are and behind the first bytes that a
//! target may take for a choice. `scripts/test --long` fuzzes.

use std::fs;
use std::panic::catch_unwind;

use crate::support::root;
use crate::support::sample::sampled;

#[test]
fn targets_hold_for_fixtures() {
    let fixtures = root().join("tests/fixtures");
    let files = [
        "demo.zip",
        "dumps/calls-gfx90a/manifest.toml",
        "code/calls-gfx90a.hsaco",
        "gpucore/gfx1100.core",
        "logs/agent-plain.log",
        "logs/umr-hardware.txt",
        "fault.toml",
    ];
    for (name, target) in lanescope_fuzz::TARGETS {
        target(&[]);
        for (index, file) in files.into_iter().enumerate() {
            let path = fixtures.join(file);
            let mut bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if name == "dies" {
                // Each byte is a step, and a test has no seconds for all of them.
                bytes.truncate(512);
            }
            // One choice of each file, by turns.
            let choices = sampled((0..4).cycle().skip(index).take(4), 4);
            let chosen = choices.map(|choice: u8| [&[choice], &*bytes].concat());
            for input in std::iter::once(bytes.clone()).chain(chosen) {
                assert!(catch_unwind(|| target(&input)).is_ok(), "{name} of {file}: {:?} ...", &input[..4]);
            }
        }
    }
}
