//! Names of the code that compilers make of OpenMP's target regions, and flang's names of procedures.
//!
//! A kernel is `__omp_offloading_DEVICE_FILE_PARENT_lLINE`: the source file's device and inode in hexadecimal, the symbol
//! of the function around the directive, the directive's line, and `_N` for a further region of that line. Parts of the
//! region have the kernel's name with a suffix: `_debug__` and `_omp_outlined` of clang, `..omp_par.N` of flang.

use crate::debuginfo::scope::cpp_name::FunctionName;
use crate::debuginfo::scope::cpp_symbol::demangle_cpp;

/// The beginning of a kernel's symbol.
const KERNEL: &str = "__omp_offloading_";
/// The words between function and line in the name of a target region.
const REGION: &str = ", target region ";
/// clang's suffix of a body that has the source's variables.
const DEBUG: &str = "_debug__";
/// clang's suffix of the body of a directive inside the region.
const OUTLINED: &str = "_omp_outlined";
/// flang's symbol of a main program, and its name for users: the symbol lacks that of the source.
const MAIN: (&str, &str) = ("_QQmain", "main");
/// Maximum bytes of a symbol; compilers write shorter ones.
const MAX_SYMBOL: usize = 4096;
/// Maximum bytes of the name of a target region behind its function.
const MAX_REGION: usize = 256;

/// The name of a target region or of a part of it by its symbol: `saxpy, target region at line 16`; `None`: another
/// symbol.
pub(super) fn target_region(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix(KERNEL).filter(|rest| rest.len() <= MAX_SYMBOL)?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (device, rest) = rest.split_once('_').filter(|(device, _)| is_number(device))?;
    let (_, rest) = rest.split_once('_').filter(|(file, _)| is_number(file) && is_number(device))?;
    let (parent, line, suffix) = line_of(rest)?;
    let (number, suffix) = counted(suffix);
    let number = number.map_or_else(String::new, |number| format!("{} ", u64::from(number) + 1));
    let part = part(suffix).map_or_else(String::new, |part| format!(" [{part}]"));
    Some(format!("{}{REGION}{number}at line {line}{part}", parent_name(parent)))
}

/// The function around a target region, by the region's name for users; `None`: another name.
#[must_use]
pub fn region_parent(name: &str) -> Option<&str> {
    // Names may have 64 KiB, and every frame needs this.
    let tail = name.get(name.floor_char_boundary(name.len().saturating_sub(MAX_REGION))..)?;
    let (_, line) = tail.rsplit_once(REGION).filter(|(_, line)| line.contains("at line "))?;
    name.get(..name.len() - line.len() - REGION.len())
}

/// Parent, line and suffix of a kernel's name behind device and file.
fn line_of(text: &str) -> Option<(&str, u64, &str)> {
    text.rmatch_indices("_l").find_map(|(at, mark)| {
        let (parent, rest) = (text.get(..at)?, text.get(at + mark.len()..)?);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (line, suffix) = rest.split_at_checked(digits)?;
        let is_end = suffix.is_empty() || suffix.starts_with(['_', '.']);
        Some((parent, line.parse().ok()?, suffix)).filter(|_| is_end && !parent.is_empty())
    })
}

/// The number of a further region on the line, and the rest of a suffix.
fn counted(suffix: &str) -> (Option<u32>, &str) {
    let counted = || {
        let rest = suffix.strip_prefix('_')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        let is_end = rest.is_empty() || rest.starts_with(['_', '.']);
        number.parse().ok().filter(|_| is_end).map(|number| (Some(number), rest))
    };
    counted().unwrap_or((None, suffix))
}

/// The part of the region that a suffix names; `None`: the kernel.
fn part(suffix: &str) -> Option<String> {
    if suffix.is_empty() {
        return None;
    }
    if suffix == DEBUG {
        return Some("body".to_owned());
    }
    if let Some(rest) = suffix.strip_prefix("..omp_par") {
        let number = rest.strip_prefix('.').filter(|number| number.parse::<u32>().is_ok());
        if rest.is_empty() || number.is_some() {
            return Some(
                number.map_or("outlined body".to_owned(), |number| format!("outlined body {number}")),
            );
        }
    }
    let other = || suffix.trim_start_matches(['_', '.']).to_owned();
    Some(outlined(suffix).unwrap_or_else(other))
}

/// clang's body of a directive inside the region, or the function that calls it.
fn outlined(suffix: &str) -> Option<String> {
    let mut rest = suffix.strip_prefix(DEBUG).unwrap_or(suffix);
    let is_debug = rest.len() < suffix.len();
    let (mut depth, mut has_body) = (0u32, !is_debug);
    while let Some(inner) = rest.strip_prefix(OUTLINED) {
        depth += 1;
        let after = inner.strip_prefix(DEBUG);
        has_body = after.is_some() || !is_debug;
        rest = after.unwrap_or(inner);
    }
    let number = rest.strip_prefix('.').filter(|number| number.parse::<u32>().is_ok());
    if depth == 0 || number.is_none() && !rest.is_empty() {
        return None;
    }
    let call = if has_body { "" } else { "call of " };
    let depth = if depth > 1 { format!(", depth {depth}") } else { String::new() };
    let number = number.map_or_else(String::new, |number| format!(" {number}"));
    Some(format!("{call}outlined body{number}{depth}"))
}

/// The source's name of the function around a region, without parameters.
fn parent_name(symbol: &str) -> String {
    if symbol == MAIN.0 {
        return MAIN.1.to_owned();
    }
    if let Some(name) = fortran_name(symbol).or_else(|| demangle_cpp(symbol)) {
        return FunctionName::parse(&name).short();
    }
    // flang adds an underscore to external procedures.
    symbol.strip_suffix('_').filter(|name| !name.is_empty()).unwrap_or(symbol).to_owned()
}

/// flang's symbol of a procedure or variable as source text, `fields::smooth` for `_QMfieldsPsmooth`; `None`: another
/// symbol. Letters in upper case begin a part: a module, a submodule, a host, and last a procedure or variable. A host
/// without a name is the main program.
pub(super) fn fortran_name(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("_Q").filter(|rest| rest.len() <= MAX_SYMBOL)?;
    let mut parts = Vec::new();
    while let Some(kind) = rest.chars().next() {
        let after = rest.get(1..).filter(|_| matches!(kind, 'M' | 'S' | 'F' | 'P' | 'E'))?;
        let is_name = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
        let (name, behind) = after.split_at_checked(after.bytes().take_while(is_name).count())?;
        let is_main = name.is_empty() && rest.len() + 2 == symbol.len() && kind == 'F';
        if name.is_empty() != is_main || matches!(kind, 'P' | 'E') != behind.is_empty() {
            return None;
        }
        parts.extend(Some(name).filter(|_| !is_main));
        rest = behind;
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

#[cfg(test)]
#[path = "target_region_tests.rs"]
mod tests;
