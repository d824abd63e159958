//! The library's interface: no type of a parser crate in a public item.

use super::{code, is_test, sources};

/// Crates whose versions users of the library do not depend on.
const PRIVATE: &[&str] = &["gimli", "object"];

/// The public lines of a text, which begin with `pub`, as the lint `unreachable_pub` keeps the word from other lines: signatures, fields, and variants of public types, whose fields are public without a word.
/// Code of functions is left out.
fn public(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // The indent of the public `enum` or signature that the line is a part of.
    let (mut variants, mut signature): (Option<usize>, Option<usize>) = (None, None);
    for (number, line) in code(text) {
        let (indent, line) = (line.len() - line.trim_start().len(), line.trim());
        let is_public = line.starts_with("pub ");
        // The fields of a tuple are as private as those of any other struct.
        let is_closed = line.starts_with("pub struct ") && line.contains('(') && !line.contains("(pub ");
        if (is_public && !is_closed) || variants.is_some() || signature.is_some() {
            found.push((number, line.to_owned()));
        }
        if is_public && line.starts_with("pub enum ") {
            variants = Some(indent);
        } else if is_public && line.contains('(') && !line.ends_with(['{', ';', ',', '}']) {
            signature = Some(indent);
        }
        let ends = |at: Option<usize>| at.filter(|at| !(*at == indent && line.starts_with(['}', ')'])));
        (variants, signature) = (ends(variants), ends(signature));
    }
    found
}

/// The types that a text imports from a crate or module.
fn imported(text: &str, from: &str) -> Vec<String> {
    let text: Vec<&str> = code(text).map(|(_, line)| line).collect();
    let text = text.join("\n");
    let mark = format!("use {from}::");
    let items = text.split(&mark).skip(1).map(|item| item.split(';').next().unwrap());
    let words = items.flat_map(|item| item.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    words.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_owned).collect()
}

/// The crates, and the names of their items in a text. `elf` re-exports items of `object`.
fn names(text: &str) -> Vec<String> {
    let crates = PRIVATE.iter().map(|name| format!("{name}::"));
    let items = PRIVATE.iter().flat_map(|name| imported(text, name));
    let object = imported(include_str!("../../../src/elf/mod.rs"), "object");
    let handed_on = imported(text, "crate::elf").into_iter().filter(|item| object.contains(item));
    crates.chain(items).chain(handed_on).collect()
}

fn leaks(text: &str) -> Vec<(usize, String)> {
    let names = names(text);
    let has = |line: &str, name: &str| {
        line.match_indices(name).any(|(at, _)| {
            let word =
                |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
            !word(line[..at].chars().next_back())
                && (name.ends_with(':') || !word(line[at + name.len()..].chars().next()))
        })
    };
    // A conversion is as public as its type.
    let converts = code(text).filter(|(_, line)| {
        let of = line.strip_prefix("impl From<").and_then(|line| line.split(" for ").nth(1));
        let of = of.and_then(|line| line.split([' ', '<', '{']).next());
        of.is_some_and(|of| ["struct", "enum"].iter().any(|kind| text.contains(&format!("pub {kind} {of}"))))
    });
    let lines = public(text).into_iter().chain(converts.map(|(number, line)| (number, line.to_owned())));
    lines.filter(|(_, line)| names.iter().any(|name| has(line, name))).collect()
}

#[test]
fn no_type_of_a_parser_is_public() {
    let leaking = "use gimli::{DwAt, read::Error as Why};\npub enum E {\n    A {\n        why: gimli::Error,\n    },\n}\n\
                   pub fn long(\n    name: DwAt,\n) {\n    let x: DwAt;\n}\npub struct S {\n    pub(crate) a: DwAt,\n    pub b: DwAt,\n}\n\
                   impl From<gimli::Error> for E {}\npub struct Closed(DwAt);\npub struct Open(pub DwAt);\n";
    let lines: Vec<usize> = leaks(leaking).into_iter().map(|(number, _)| number).collect();
    assert_eq!(lines, [4, 8, 14, 18, 16]);
    let mut wrong = Vec::new();
    for (_, path, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
        wrong.extend(
            leaks(&text).into_iter().map(|(number, line)| format!("{}:{number}: {line}", path.display())),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
