//! Types of a kernel's parameters by its mangled name, for code objects without debug information.

use crate::debuginfo::{demangle, format};

/// The types of the parameters of a mangled function, as source text; `None`: the symbol has none.
pub(super) fn parameter_types(symbol: &str) -> Option<Vec<String>> {
    let demangled = demangle(symbol)?;
    let inside = demangled.strip_suffix(')')?;
    let (mut depth, mut ends) = (0usize, vec![inside.len()]);
    for (at, byte) in inside.bytes().enumerate().rev() {
        match byte {
            b')' | b'>' | b']' | b'}' => depth += 1,
            b'(' if depth == 0 => {
                ends.push(at);
                ends.reverse();
                return ends.windows(2).map(|ends| part(inside, ends)).collect();
            }
            b'(' | b'<' | b'[' | b'{' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => ends.push(at),
            _ => {}
        }
    }
    None
}

/// The text after a bracket or a comma, up to the next one.
fn part(text: &str, ends: &[usize]) -> Option<String> {
    let [start, end] = ends else { return None };
    let part = text.get(start.checked_add(1)?..*end)?.trim();
    (!part.is_empty()).then(|| part.to_owned())
}

/// The size of a base type or a pointer; `None`: another type.
pub(super) fn size(type_name: &str) -> Option<u64> {
    if type_name.ends_with(['*', '&']) {
        return Some(8);
    }
    Some(match type_name {
        "bool" | "char" | "signed char" | "unsigned char" => 1,
        "short" | "unsigned short" | "_Float16" => 2,
        "int" | "unsigned int" | "float" => 4,
        "long" | "unsigned long" | "long long" | "unsigned long long" | "double" => 8,
        _ => return None,
    })
}

/// A value of a base type as text; `None`: another type, for which the bytes are a number.
pub(super) fn value(type_name: &str, bytes: &[u8]) -> Option<String> {
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let number = u64::from_le_bytes(wide);
    match type_name {
        "float" | "double" | "_Float16" => format::float(number, bytes.len() as u64, type_name),
        "bool" if number < 2 => Some((number == 1).to_string()),
        "short" | "int" | "long" | "long long" | "signed char" => {
            let unused = 64u32.checked_sub(8 * u32::try_from(bytes.len()).ok()?)?;
            Some((number.checked_shl(unused)?.cast_signed() >> unused).to_string())
        }
        "unsigned long" | "unsigned long long" => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "mangled_tests.rs"]
mod tests;
