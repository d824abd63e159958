//! No test depends on the machine's speed: `tests/support` has the only clock and the only limit of processor time.

use std::fs;

use super::{is_test, root};
use crate::words::files;

/// Clocks, and limits of processor time.
const CLOCKS: [&str; 5] = ["Instant", ".elapsed()", "SystemTime", "ulimit -t", "RLIMIT_CPU"];

/// Tests of files whose age counts: they set it, and compare no times.
const AGES: [&str; 2] = ["tests/suite/server/changed_files.rs", "src/mapping_tests.rs"];

#[test]
fn tests_have_one_clock() {
    let mut found = Vec::new();
    for folder in ["tests/suite", "tests/clients", "tests/cores", "src", "evaluator/src"] {
        files(&root().join(folder), &["rs"], &mut found);
    }
    let mut tests = 0;
    for path in found {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        if AGES.contains(&name) || name.ends_with("layering/clocks.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // A file of the product may have its tests at its end.
        let before = match text.find("\nmod tests {") {
            _ if name.starts_with("tests/") || is_test(&path) => 0,
            Some(start) => text[..=start].lines().count(),
            None => continue,
        };
        tests += 1;
        for (number, line) in text.lines().enumerate().skip(before) {
            let clock = CLOCKS.iter().find(|clock| line.contains(**clock));
            assert!(clock.is_none(), "{name}:{}: {} in a test: tests/support", number + 1, clock.unwrap());
        }
    }
    assert!(tests > 300, "{tests} files of tests");
}
