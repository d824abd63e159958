//! A slim dump's notes on its source: parts that the source lacked, and requested parts that do not exist.

use std::collections::HashSet;

use crate::capture::{MemoryMap, Problem};
use crate::import::MAX_PROBLEMS;
use crate::import::write;
use crate::notation::{counted, plural};
use crate::session::Dump;

/// Maximum notes taken from the source: its own, its problems and its gaps.
pub const MAX_CARRIED: usize = 100;

/// Facts of `lanescope info` on the source that the small dump no longer shows, except those in `known`.
pub(super) fn carried(dump: &Dump, known: &[String]) -> Vec<String> {
    let capture = dump.capture();
    let name = file_name(&capture.name);
    // A note leaves the machine with the dump: files have their names alone.
    let of_problem = |problem: &Problem| {
        let mut problem = problem.clone();
        problem.place.file = file_name(&problem.place.file).to_owned();
        problem.to_string()
    };
    let without_bytes = capture.code_objects.iter().enumerate().filter(|(_, object)| object.extent.is_none());
    let without_bytes =
        without_bytes.filter_map(|(index, _)| Some(dump.code_object(index).err()?.to_string()));
    let missing = capture.missing().into_iter().map(|what| format!("{name}: {what}"));
    let own = capture.provenance.notes.iter().cloned();
    let all = own.chain(missing).chain(dump.problems().iter().map(of_problem)).chain(without_bytes);
    let mut seen: HashSet<String> = known.iter().cloned().collect();
    let mut carried = Vec::new();
    let mut more = 0u64;
    for note in all {
        if carried.len() < MAX_CARRIED {
            if seen.insert(note.clone()) {
                carried.push(note);
            }
        } else {
            more += 1;
        }
    }
    if more > 0 {
        // The last problem counts the others.
        let least = if dump.problems().len() > MAX_PROBLEMS { "at least " } else { "" };
        let more = counted(more, "more note");
        carried.push(format!("{least}{more} on {name}, which `lanescope info` of it lists"));
    }
    carried
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Requested ranges that the capture holds only in part or not at all.
pub(super) fn not_captured(global: &MemoryMap, ranges: &[(u64, u64)]) -> Vec<String> {
    let note = |(first, last): &(u64, u64)| {
        let all = u128::from(*last) - u128::from(*first) + 1;
        let there = u128::from(write::captured(global, (*first, *last)));
        let range = format!("--memory {first:#x}-{:#x}", u128::from(*last) + 1);
        match (there, all - there) {
            (_, 0) => None,
            (0, _) => Some(format!("{range}: not captured")),
            (_, missing) => {
                let were = plural(missing, "was", "were");
                Some(format!("{range}: {missing} of {all} bytes {were} not captured"))
            }
        }
    };
    ranges.iter().filter_map(note).collect()
}
