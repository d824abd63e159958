//! Every case file of the repository through the runner: its expectations come from the texts, not from this code.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Manner, Outcome, outcomes};
use crate::arch::Targets;
use crate::dwarf::{Cause, Error, Missing};

/// The outcomes of every case with the name of its file.
fn all() -> Vec<(String, Outcome)> {
    let targets = Targets::builtin();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let manner = Manner { explain: true, dialect: None };
        let outcomes = outcomes(&path, &targets, manner).unwrap_or_else(|error| panic!("{error}"));
        all.extend(outcomes.into_iter().map(|outcome| (name.clone(), outcome)));
    }
    all
}

#[test]
fn every_case_file_gives_what_it_expects() {
    let outcomes = all();
    let problem = |(file, outcome): &(String, Outcome)| {
        let difference = outcome.difference.as_ref()?;
        Some(format!("{file}: {}: {difference}", outcome.name))
    };
    let problems: Vec<String> = outcomes.iter().filter_map(problem).collect();
    assert!(outcomes.len() > 1000, "only {} cases were found", outcomes.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The variants of an enumeration: all their names, and the name of one. A variant left out does not compile.
macro_rules! variants {
    ($all:ident, $name:ident, $of:ident: $($variant:ident)*) => {
        const $all: &[&str] = &[$(stringify!($variant)),*];

        fn $name(value: &$of) -> &'static str {
            match value {
                $($of::$variant { .. } => stringify!($variant),)*
            }
        }
    };
}

variants!(CAUSES, cause_name, Cause:
    UnknownOperation UnknownSubOperation Truncated LebTooLong Limit StackUnderflow Kind Incomplete NothingToEnd
    TypesDiffer TypeUnsupported SizesDiffer DivisionByZero BranchTarget OutsideStorage BeyondStorage ReadsUndefined
    ImplicitPointerMisused ImplicitPointerSpace ReservedSpace LaneOutOfRange NoLane NoRegister RegisterNotCaptured
    MemoryNotCaptured RegisterTooWide DerefTooWide OverlayWidth Zero MaskTooShort FrameBase Banned Die Missing Inside
    NotOnThisMachine CallFrame NoCallFrame);
variants!(MISSING, missing_name, Missing: Absent NotCaptured Failed);

/// What there may be too much of, as far as the bytes of a case can say it; `dwarf::tests::limits` has them all.
const LIMITS: &[&str] = &[
    "steps",
    "stack entries",
    "expressions inside one another",
    "expressions within expressions",
    "parts of a composite",
    "bits of a composite",
    "bits of a value",
    "remembered rows",
];

/// The names of an error's causes, those of expressions that it ran among them.
fn causes(error: &Error, into: &mut BTreeSet<&'static str>) {
    into.insert(cause_name(&error.cause));
    match &error.cause {
        Cause::Limit { what, .. } => drop(into.insert(what)),
        Cause::Inside { error, .. } => causes(error, into),
        Cause::Missing(missing) => {
            into.insert(missing_name(missing));
            if let Missing::Failed(error) = missing {
                causes(error, into);
            }
        }
        _ => {}
    }
}

#[test]
fn every_way_to_fail_is_reached_by_a_case_that_expects_it() {
    let mut reached = BTreeSet::new();
    // tests/suite/operations.rs holds that every case expects something.
    for (_, outcome) in all() {
        if let (Some(error), None) = (&outcome.error, &outcome.difference) {
            causes(error, &mut reached);
        }
    }
    let all = CAUSES.iter().chain(MISSING).chain(LIMITS);
    let unreached: Vec<_> = all.filter(|name| !reached.contains(*name)).collect();
    assert!(unreached.is_empty(), "no case in tests/eval reaches {unreached:?}");
}
