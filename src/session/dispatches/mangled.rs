//! Types of a kernel's parameters by its mangled name, for code objects without debug information.

use crate::codeobject::Argument;
use crate::debuginfo::{demangle, format};

/// The types of a kernel's visible arguments by its mangled name; `None`: the name has none, they differ from the
/// metadata's number or sizes, or the metadata has types.
#[must_use]
pub fn argument_types(kernel: &str, arguments: &[Argument]) -> Option<Vec<String>> {
    let visible: Vec<&Argument> = arguments.iter().filter(|argument| !argument.is_hidden()).collect();
    let types = parameter_types(kernel).filter(|types| types.len() == visible.len())?;
    let fits = |(name, argument): (&String, &&Argument)| {
        size(name).is_none_or(|size| size == argument.size) && argument.type_name.is_none()
    };
    types.iter().zip(&visible).all(fits).then_some(types)
}

/// The types of the parameters of a mangled function, as source text; `None`: the symbol has none.
fn parameter_types(symbol: &str) -> Option<Vec<String>> {
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
fn size(type_name: &str) -> Option<u64> {
    if type_name.ends_with(['*', '&']) || is_declarator(type_name) {
        return Some(8);
    }
    if let Some((element, count)) = vector(type_name) {
        return size(element)?.checked_mul(count.checked_next_power_of_two()?);
    }
    Some(match type_name {
        "bool" | "char" | "signed char" | "unsigned char" | "char8_t" => 1,
        "short" | "unsigned short" | "char16_t" => 2,
        name if is_half(name) => 2,
        "int" | "unsigned int" | "float" | "wchar_t" | "char32_t" => 4,
        "long" | "unsigned long" | "long long" | "unsigned long long" | "double" | "std::nullptr_t" => 8,
        "__int128" | "unsigned __int128" => 16,
        _ => return None,
    })
}

/// Whether a type is a pointer or a reference to a function or an array: `void (*)(int)`, `int (&) [5]`.
fn is_declarator(type_name: &str) -> bool {
    let at = ["(*", "(&"].iter().filter_map(|mark| type_name.find(mark)).min();
    // Within the arguments of a template it is a part of their type.
    let before = at.and_then(|at| type_name.get(..at));
    before.is_some_and(|before| before.matches('<').count() == before.matches('>').count())
}

/// The element type and the number of elements of a vector: `float __vector(4)`. One of `bool` has bits.
fn vector(type_name: &str) -> Option<(&str, u64)> {
    let (element, count) = type_name.strip_suffix(')')?.rsplit_once(" __vector(")?;
    let is_scalar = element != "bool" && size(element).is_some() && vector(element).is_none();
    Some((element, count.parse().ok()?)).filter(|_| is_scalar)
}

/// Whether the bytes of a type are a number: an address, or a base type.
pub(super) fn is_number(type_name: &str) -> bool {
    size(type_name).is_some() && !is_half(type_name) && vector(type_name).is_none()
}

/// A floating-point type of 2 bytes, by the names of C23, C++23, OpenCL and their demangled forms.
fn is_half(type_name: &str) -> bool {
    matches!(type_name, "_Float16" | "half" | "std::bfloat16_t" | "__bf16")
}

/// A value of a base type as text; `None`: another type, for which the bytes are a number.
pub(super) fn value(type_name: &str, bytes: &[u8]) -> Option<String> {
    if let Some((element, count)) = vector(type_name) {
        let each = bytes.chunks(usize::try_from(size(element)?).ok()?).take(usize::try_from(count).ok()?);
        let each: Option<Vec<String>> =
            each.map(|bytes| value(element, bytes).or_else(|| Some(wide(bytes)?.to_string()))).collect();
        return Some(format!("{{{}}}", each?.join(", ")));
    }
    let all = wide(bytes)?;
    match type_name {
        "__int128" => return Some(all.cast_signed().to_string()),
        "unsigned __int128" => return Some(all.to_string()),
        _ => {}
    }
    let number = u64::try_from(all).ok()?;
    match type_name {
        "float" | "double" => format::float(number, bytes.len() as u64, type_name),
        name if is_half(name) => format::float(number, bytes.len() as u64, type_name),
        "bool" if number < 2 => Some((number == 1).to_string()),
        // clang's `char` is signed on AMDGPU.
        "char" | "short" | "int" | "long" | "long long" | "signed char" | "wchar_t" => {
            let unused = 64u32.checked_sub(8 * u32::try_from(bytes.len()).ok()?)?;
            Some((number.checked_shl(unused)?.cast_signed() >> unused).to_string())
        }
        "unsigned long" | "unsigned long long" => Some(number.to_string()),
        _ => None,
    }
}

/// At most 16 bytes as an unsigned number.
fn wide(bytes: &[u8]) -> Option<u128> {
    let mut wide = [0; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u128::from_le_bytes(wide))
}

#[cfg(test)]
#[path = "mangled_tests.rs"]
mod tests;
