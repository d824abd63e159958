//! Names of functions without the parts that differ between builds: template arguments, numbers of lambdas, suffixes
//! of copies.

use crate::debuginfo::{demangle, region_parent};
use crate::triage::short;

/// Suffixes of copies that compilers make; a number follows.
const COPIES: [&str; 6] = [".llvm.", ".cloned.", ".constprop.", ".isra.", ".part.", ".cold."];

/// A function's name for signatures: `scale<>` for `_Z5scaleIfEvPfi.kd`.
pub(super) fn folded(function: &str) -> String {
    let mut name = function.strip_suffix(".kd").unwrap_or(function);
    while let Some(cut) = without_copy(name) {
        name = cut;
    }
    let name = demangle(name).unwrap_or_else(|| name.to_owned());
    // The line of a target region differs between builds, and its parts are those of the compiler.
    if let Some(parent) = region_parent(&name) {
        return format!("omp {}", folded_name(parent));
    }
    folded_name(&name)
}

/// A demangled name without its varying parts.
fn folded_name(name: &str) -> String {
    let name = name.replace("[abi:cxx11]", "");
    let name = templates(&without_parameters(&short(&lambdas(&name))));
    specialised(&name).to_owned()
}

/// A name of an operator without its parameters, which [`short`] keeps.
fn without_parameters(name: &str) -> String {
    const OPERATOR: &str = "operator";
    let symbol = name.rfind(OPERATOR).map(|at| at + OPERATOR.len());
    let cut = symbol.and_then(|symbol| {
        let rest = name.get(symbol..)?;
        let call = if rest.starts_with("()") { 2 } else { 0 };
        Some(symbol + call + rest.get(call..)?.find('(')?)
    });
    cut.and_then(|cut| name.get(..cut)).unwrap_or(name).to_owned()
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

/// `run<>` for `run<int, 3>`. Names of operators keep their characters.
fn templates(name: &str) -> String {
    let mut text = String::new();
    let mut depth = 0u32;
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        if depth == 0
            && rest.starts_with("operator")
            && !text.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            let operator = "operator".len();
            let symbol = rest.get(operator..).unwrap_or_default();
            let length = symbol.bytes().take_while(|byte| b"<>=-!+*/%&|^~".contains(byte)).count();
            // `operator<<int>` is the operator `<` with template arguments; demanglers write a space behind `<<`.
            let has_arguments = symbol
                .strip_prefix("<<")
                .is_some_and(|rest| !rest.is_empty() && !rest.starts_with([' ', '(', '=']));
            let length = if has_arguments { 1 } else { length };
            text += rest.get(..operator + length).unwrap_or_default();
            rest = rest.get(operator + length..).unwrap_or_default();
            continue;
        }
        match character {
            '<' => {
                if depth == 0 {
                    text += "<>";
                }
                depth += 1;
            }
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => text.push(c),
            _ => {}
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
    }
    text
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
