//! No test depends on the machine's speed: `tests/support` has the only clock and the only limit of processor time.

use std::fs;

use super::{is_test, root};
use crate::words::files;

/// Clocks, waits with an end of their own, and limits of processor time.
const CLOCKS: [&str; 8] = [
    "Instant",
    ".elapsed()",
    "SystemTime",
    "recv_timeout",
    "thread::sleep",
    "schedstat",
    "ulimit -t",
    "RLIMIT_CPU",
];

/// A wait for a message with the common end.
const COMMON: &str = "recv_timeout(PATIENCE)";

/// Uses on which no result depends.
const EXCEPTIONS: [(&str, &str); 3] = [
    // Files whose age counts: the tests set it, and compare no times.
    ("tests/suite/server/changed_files.rs", "SystemTime"),
    ("src/mapping_tests.rs", "SystemTime"),
    // A writer that is slow: its pauses may be longer.
    ("src/slim/spool/tests.rs", "thread::sleep"),
];

/// The number of lines before the tests at the end of a product file: before a module of tests with its body.
fn before_tests(text: &str) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_for_tests =
        |line: &str| line.starts_with("#[cfg(") && line.contains("test") && !line.contains("not(test");
    // Further attributes, which may take several lines.
    let is_attribute = |line: &str| line.starts_with(['#', ' ', ')', '/']);
    let is_module = |line: &str| {
        line.ends_with('{') && (line.starts_with("mod ") || line.starts_with("pub") && line.contains(" mod "))
    };
    (0..lines.len()).find(|start| {
        let item = lines[*start..].iter().find(|line| !is_attribute(line));
        is_for_tests(lines[*start]) && item.is_some_and(|line| is_module(line))
    })
}

#[test]
fn a_module_of_tests_is_known_by_its_attribute() {
    for (text, expected) in [
        ("fn f() {}\n#[cfg(test)]\nmod tests {\n}\n", Some(1)),
        ("#[cfg(test)]\nmod forms {\n}\n", Some(0)),
        ("\n#[cfg(all(test, unix))]\n#[expect(\n    dead_code\n)]\npub(crate) mod forms {\n}\n", Some(1)),
        ("#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\n\nmod a {\n}\n", None),
        ("#[cfg(not(test))]\nmod a {\n}\n", None),
        ("#[cfg(test)]\nfn f() {\n}\n", None),
    ] {
        assert_eq!(before_tests(text), expected, "{text}");
    }
}

#[test]
fn tests_have_one_clock() {
    let mut found = Vec::new();
    for folder in ["tests/suite", "tests/clients", "tests/cores", "src", "evaluator/src"] {
        files(&root().join(folder), &["rs"], &mut found);
    }
    let (mut tests, mut unused) = (0, EXCEPTIONS.to_vec());
    for path in found {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        if name.ends_with("layering/clocks.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let before = match before_tests(&text) {
            _ if name.starts_with("tests/") || is_test(&path) => 0,
            Some(before) => before,
            None => continue,
        };
        tests += 1;
        for (number, line) in text.lines().enumerate().skip(before) {
            let line = line.replace(COMMON, "");
            for clock in CLOCKS.iter().filter(|clock| line.contains(**clock)) {
                unused.retain(|exception| *exception != (name, *clock));
                let is_exception = EXCEPTIONS.contains(&(name, *clock));
                assert!(is_exception, "{name}:{}: {clock} in a test: tests/support", number + 1);
            }
        }
    }
    assert!(tests > 300, "{tests} files of tests");
    assert!(unused.is_empty(), "exceptions without a use: {unused:?}");
}
