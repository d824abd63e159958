//! The table of gestures in docs/clients.md: every row names tests of tests/clients that exist.

use std::path::Path;

#[test]
fn every_gesture_has_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/clients.md")).unwrap();
    let (_, section) = page.split_once("\n## Gestures\n").expect("the section of gestures");
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() > 8, "only {} gestures", rows.len());
    let mut held = false;
    for row in rows {
        assert_eq!(row.len(), 4, "{row:?}");
        if row[3] == "the same" {
            assert!(held, "no row above: {row:?}");
            continue;
        }
        for name in row[3].split(", ") {
            let (file, test) = name.trim_matches('`').split_once("::").expect(name);
            let source = std::fs::read_to_string(root.join(format!("tests/clients/{file}.rs"))).unwrap();
            let is_test = source.contains(&format!("#[test]\nfn {test}()"));
            assert!(is_test, "tests/clients/{file}.rs has no test {test}");
        }
        held = true;
    }
}
