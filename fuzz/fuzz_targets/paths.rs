//! Any text as a path: parsing ends, errors are within the text, and what is printed parses to the same path.
#![no_main]

use lanescope::session::print::{MAX_PATH, Query, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = Query::typed(text);
    // A name is a type's for one text in two: casts and brackets both.
    let is_type = |name: &str| name.len() % 2 == text.len() % 2;
    match parse(text, &is_type) {
        Ok(path) => {
            // A type's name that stands for a variable is a cast as soon as brackets are printed around it.
            let tree = format!("{path:?}");
            let mut names = tree.split("Name(\"").skip(1).filter_map(|rest| rest.split('"').next());
            if names.any(is_type) {
                return;
            }
            let shown = path.to_string();
            if shown.chars().count() <= MAX_PATH {
                // The text printed has another length; names mean what they meant.
                match parse(&shown, &is_type) {
                    Ok(again) => assert_eq!(again, path, "{shown}"),
                    // The brackets that printing adds nest, too.
                    Err(error) => assert!(error.words.contains("inside one another"), "{shown}: {error}"),
                }
            }
        }
        Err(error) => {
            let columns = 1..=text.chars().count() + 1;
            assert!(columns.contains(&error.column), "{error}");
        }
    }
});
