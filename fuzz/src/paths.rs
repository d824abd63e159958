//! Arbitrary text as a path. Parsing ends, errors are within the text, and the printed form parses to the same path.

use lanescope::session::print::{MAX_PATH, Query, parse_in};

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Query::typed(text);
    // A name is a type's for every other text, so that casts and brackets both occur.
    let is_type = |name: &str| name.len() % 2 == text.len() % 2;
    for is_fortran in [false, true] {
        match parse_in(is_fortran, text, &is_type) {
            Ok(path) => {
                // A type's name in place of a variable becomes a cast once brackets are printed around it.
                let tree = format!("{path:?}");
                let mut names = tree.split("Name(\"").skip(1).filter_map(|rest| rest.split('"').next());
                if names.any(is_type) {
                    continue;
                }
                let shown = path.to_string();
                if shown.chars().count() <= MAX_PATH {
                    // The printed text has another length; the names keep their meaning.
                    match parse_in(is_fortran, &shown, &is_type) {
                        Ok(again) => assert_eq!(again, path, "{shown}"),
                        // The brackets that printing adds also count as nesting.
                        Err(error) => assert!(error.words.contains("inside one another"), "{shown}: {error}"),
                    }
                }
            }
            Err(error) => {
                let columns = 1..=text.chars().count() + 1;
                assert!(columns.contains(&error.column), "{error}");
            }
        }
    }
}
