//! Every case file of the repository through the runner: its expectations come from the texts, not from this code.

use std::path::Path;

use super::{Manner, outcomes};
use crate::arch::Targets;

#[test]
fn every_case_file_gives_what_it_expects() {
    let targets = Targets::builtin();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval");
    let mut files = 0;
    let mut problems = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        files += 1;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match outcomes(&path, &targets, Manner { explain: true, dialect: None }) {
            Ok(outcomes) => {
                for outcome in outcomes {
                    if let Some(difference) = outcome.difference {
                        problems.push(format!("{name}: {}: {difference}", outcome.name));
                    }
                }
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    assert!(files >= 2, "the case files were not found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
