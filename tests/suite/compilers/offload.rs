//! Dumps of tests/fixtures/models/offload.py: Fortran and C++ with target regions of OpenMP. Expected values are those of
//! the sources, without lanescope.

use std::fs::{self, File};

use serde_json::Value;

use crate::fixtures::fixtures;
use crate::slim::{Scratch, answer, words};

/// A dump with its expected values.
pub(super) struct Case {
    pub(super) dump: String,
    pub(super) expected: Value,
}

/// The dumps of one source, one for each GPU; they last as long as the folder.
pub(super) fn cases(source: &str) -> (Scratch, Vec<Case>) {
    let folder = fixtures().join("compilers/offload");
    let scratch = Scratch::new(&format!("offload-{source}"));
    let mut archive = zip::ZipArchive::new(File::open(folder.join("dumps.zip")).unwrap()).unwrap();
    archive.extract(scratch.path("")).unwrap();
    let all: Vec<Value> = serde_json::from_slice(&fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let of_source = all.into_iter().filter(|expected| expected["source"] == source);
    let cases: Vec<Case> = of_source
        .map(|expected| {
            let dump = words(&scratch.path(expected["dump"].as_str().unwrap())).to_owned();
            Case { dump, expected }
        })
        .collect();
    assert_eq!(cases.len(), 3);
    (scratch, cases)
}

pub(super) fn asked(arguments: &[&str]) -> Value {
    serde_json::from_str(&answer(arguments)).unwrap()
}
