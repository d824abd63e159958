//! Words that the project does not use: names and phrases that need a glossary. One thing has one word.

use crate::support::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of types that stood for several things, or for a sentence.
const TYPES: &[&str] = &[
    "BadEntry",
    "BadPlace",
    "Came",
    "Kind",
    "Level",
    "Lot",
    "Missing",
    "NoSession",
    "NoThreads",
    "NotDisassembled",
    "NotEvaluated",
    "NotPrinted",
    "Patience",
    "Place",
    "Room",
    "Telling",
    "Unreadable",
    "Unwritable",
    "Vintage",
    "Walk",
];

/// Names of source files that named no subject.
const FILES: &[&str] = &[
    "ahead",
    "disguise",
    "elsewhere",
    "grown",
    "house",
    "kept",
    "nearest",
    "room",
    "say",
    "slim_told",
    "talk",
    "told",
    "unused",
];

/// Words of pages, messages and comments, with the word to write instead.
const WORDS: &[(&str, &str)] = &[
    ("disguise", "facade"),
    ("seed-2020", "amdgpu-usage-2020"),
    ("seed-coverage", "spec-coverage"),
    ("is told", "the active voice"),
    ("are told", "the active voice"),
    ("is said", "the active voice"),
    ("are said", "the active voice"),
    ("nobody says", "unknown"),
];

/// The files of a folder, and of the folders in it, that end so.
pub(crate) fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extensions, found);
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
        {
            found.push(path);
        }
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in [
        "src",
        "evaluator/src",
        "crates/isa",
        "tests",
        "benches",
        "fuzz/src",
        "fuzz/fuzz_targets",
        "examples",
    ] {
        files(&root().join(folder), &["rs"], &mut found);
    }
    found.retain(|path| !path.ends_with("tests/suite/words.rs"));
    assert!(found.len() > 500, "the sources were not found");
    let texts = found.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>();
    found.into_iter().zip(texts).collect()
}

/// Name after a keyword that declares a type, at the beginning of a line.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    // `pub(in crate::session)` is two words.
    let keyword = words.find(|word| !word.ends_with(')'))?;
    let name = words.next().filter(|_| ["struct", "enum", "trait", "type"].contains(&keyword))?;
    name.split(|character: char| !character.is_alphanumeric() && character != '_').next()
}

#[test]
fn types_constants_and_files_have_names_of_the_field() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if FILES.contains(&stem) {
            wrong.push(format!("{}: retired name of a file", path.display()));
        }
        for (line, text) in text.lines().enumerate() {
            if declared(text).is_some_and(|name| TYPES.contains(&name)) || text.contains("const MOST_") {
                wrong.push(format!("{}:{}: {}", path.display(), line + 1, text.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "retired names:\n{}", wrong.join("\n"));
}

/// Verbs of speech in names of functions and tests, between underscores.
const SPEECH: [&str; 10] =
    ["told", "tell", "tells", "said", "says", "speaks", "talk", "talks", "gesture", "gestures"];

#[test]
fn functions_have_no_verbs_of_speech_in_their_names() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (line, text) in text.lines().enumerate() {
            let Some((before, rest)) = text.split_once("fn ") else { continue };
            if before.contains(['/', '"', '`']) || !before.trim_start().split(' ').all(|word| word.is_ascii())
            {
                continue;
            }
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            // A function of one such word is short for `expect_text` and kin.
            if name.contains('_') && name.split('_').any(|part| SPEECH.contains(&part)) {
                wrong.push(format!("{}:{}: {name}", path.display(), line + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "names with verbs of speech:\n{}", wrong.join("\n"));
}

#[test]
fn error_types_end_in_error() {
    let mut wrong = Vec::new();
    let mut errors = 0;
    for (path, text) in sources().iter().filter(|(path, _)| !path.starts_with(root().join("tests"))) {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let derives = line.trim_start().starts_with("#[derive(");
            if !derives || !(line.contains("thiserror::Error") || line.contains(" Error)")) {
                continue;
            }
            let name = lines.by_ref().find_map(declared).unwrap();
            errors += 1;
            // A cause is part of another error.
            if !name.ends_with("Error") && !name.ends_with("Cause") {
                wrong.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(errors > 30, "the types of errors were not found: {errors}");
    assert!(wrong.is_empty(), "types of errors without the word Error:\n{}", wrong.join("\n"));
}

#[test]
fn pages_messages_and_comments_use_no_retired_word() {
    let mut texts = sources();
    let mut pages = Vec::new();
    files(&root().join("docs"), &["md"], &mut pages);
    for folder in ["clients", "scripts"] {
        files(&root().join(folder), &["py", "sh", "md"], &mut pages);
    }
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "evaluator/README.md"] {
        pages.push(root().join(page));
    }
    assert!(pages.len() > 20, "the pages were not found");
    texts.extend(pages.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())));
    let mut wrong = Vec::new();
    for (path, text) in texts {
        for (line, text) in text.lines().enumerate() {
            let lower = text.to_lowercase();
            for (word, instead) in WORDS {
                if lower.match_indices(word).any(|(at, _)| is_word(&lower, at, word.len())) {
                    wrong.push(format!("{}:{}: `{word}`; write {instead}", path.display(), line + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "retired words:\n{}", wrong.join("\n"));
}

/// Whether the bytes at an offset are not part of a longer word.
fn is_word(text: &str, at: usize, length: usize) -> bool {
    let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + length..].chars().next())
}
