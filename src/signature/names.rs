//! Names of functions without the parts that differ between builds: template arguments, numbers of lambdas, suffixes
//! of copies.

use crate::debuginfo::{FunctionName, region_parent, source_name, without_folders};

/// Suffixes of copies that compilers make; a number follows.
const COPIES: [&str; 6] = [".llvm.", ".cloned.", ".constprop.", ".isra.", ".part.", ".cold."];

/// A function's name for signatures: `scale<>` for `_Z5scaleIfEvPfi.kd`.
pub(super) fn folded(function: &str) -> String {
    let name = source_name(plain(function));
    // The line of a target region differs between builds, and its parts are those of the compiler.
    if let Some(parent) = region_parent(&name) {
        return format!("omp {}", folded_name(parent));
    }
    folded_name(&name)
}

/// A symbol without the suffixes of descriptors and copies.
fn plain(symbol: &str) -> &str {
    let mut name = symbol.strip_suffix(".kd").unwrap_or(symbol);
    while let Some(cut) = without_copy(name) {
        name = cut;
    }
    name
}

/// A demangled name without its varying parts.
fn folded_name(name: &str) -> String {
    specialised(&named(name, FunctionName::parse(name).folded())).to_owned()
}

/// The folded name, or the whole name if that is empty.
fn named(name: &str, folded: String) -> String {
    if folded.is_empty() { name.to_owned() } else { folded }
}

/// The folded name of a kernel with its template arguments: `Kokkos::run<phys::Flux>`.
pub(super) fn with_arguments(symbol: &str) -> String {
    let name = source_name(plain(symbol));
    let parsed = FunctionName::parse(&name);
    let arguments = |arguments: &str| lambdas(&without_folders(arguments)).into();
    named(&name, parsed.folded_with(arguments))
}

/// The name without a suffix of a copy.
fn without_copy(name: &str) -> Option<&str> {
    if let Some(cut) = name.strip_suffix(".cold") {
        return Some(cut);
    }
    let copy = |suffix: &&str| {
        let (cut, number) = name.rsplit_once(*suffix)?;
        (!cut.is_empty() && number.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(cut)
    };
    COPIES.iter().find_map(copy)
}

/// `{lambda}` for `{lambda(int)#2}`, `'lambda0'(int)` and `$_1`.
fn lambdas(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    loop {
        let starts = ["{lambda", "'lambda", "$_"].map(|start| rest.find(start));
        let Some(at) = starts.into_iter().flatten().min() else { return text + rest };
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        text += before;
        text += "{lambda}";
        rest = if from.starts_with('{') {
            after_pair(from, '{', '}')
        } else if let Some(quoted) = from.strip_prefix('\'') {
            let behind = quoted.split_once('\'').map_or("", |(_, behind)| behind);
            if behind.starts_with('(') { after_pair(behind, '(', ')') } else { behind }
        } else {
            from.get(2..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_digit())
        };
    }
}

/// The text behind the bracket that closes the first one.
fn after_pair(text: &str, open: char, close: char) -> &str {
    let mut depth = 0u32;
    for (at, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return text.get(at + character.len_utf8()..).unwrap_or_default();
            }
        }
    }
    ""
}

/// A kernel of Triton without the code of its arguments' specialisation: `softmax` for `softmax_0d1d2de`.
fn specialised(name: &str) -> &str {
    let is_code = |code: &str| {
        let mut has_number = false;
        let mut is_valid = !code.is_empty();
        for character in code.chars() {
            match character {
                '0'..='9' => has_number = true,
                'd' | 'c' | 'e' => is_valid &= has_number,
                _ => is_valid = false,
            }
        }
        is_valid && code.starts_with('0') && code.contains('d')
    };
    name.rsplit_once('_').filter(|(_, code)| is_code(code)).map_or(name, |(name, _)| name)
}
