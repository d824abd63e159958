//! C++ symbols as source text.

use std::fmt;

use crate::bounds::MAX_SYMBOL_DEPTH;

/// Maximum bytes of a symbol to demangle: the demangler's work may grow much faster than its input.
const MAX_SYMBOL: usize = 4096;

/// Maximum bytes of a demangled name. Symbols refer to their parts (Itanium C++ ABI 5.1.8), which may double the text.
const MAX_NAME: usize = 1 << 16;

/// Text that stops the demangler at its maximum length.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len().saturating_add(text.len()) > MAX_NAME {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// An Itanium C++ symbol as source text; `None`: another name, or beyond the demangler's bounds.
pub(super) fn demangle_cpp(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") || symbol.len() > MAX_SYMBOL {
        return None;
    }
    let nested = cpp_demangle::ParseOptions::default().recursion_limit(MAX_SYMBOL_DEPTH);
    let options = cpp_demangle::DemangleOptions::new().recursion_limit(MAX_SYMBOL_DEPTH);
    let mut demangled = Bounded(String::new());
    let parsed = cpp_demangle::Symbol::new_with_options(symbol, &nested).ok()?;
    parsed.structured_demangle(&mut demangled, &options).ok()?;
    let Bounded(demangled) = demangled;
    Some(literals(&special(symbol, &demangled).unwrap_or(demangled)))
}

/// Literal operators in the spelling of the GNU demangler, `operator"" _km`; the crate writes `operator_km::operator ""`.
fn literals(demangled: &str) -> String {
    const CRATE: &str = "::operator \"\"";
    let mut parts = demangled.split(CRATE).peekable();
    let mut text = String::new();
    while let Some(part) = parts.next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let word = part.get(part.trim_end_matches(is_word).len()..).unwrap_or_default();
        match word.strip_prefix("operator").filter(|_| parts.peek().is_some()) {
            Some(suffix) => {
                text.push_str(part.strip_suffix(suffix).unwrap_or(part));
                text.push_str("\"\" ");
                text.push_str(suffix);
            }
            None => {
                text.push_str(part);
                text.push_str(if parts.peek().is_some() { CRATE } else { "" });
            }
        }
    }
    text
}

/// Tables and thunks in the spelling of the GNU demangler, gdb and LLVM, from which the crate differs.
fn special(symbol: &str, demangled: &str) -> Option<String> {
    let between = |start: &str, end: &str| demangled.strip_prefix(start)?.strip_suffix(end);
    let last = |inner: &str| Some(inner.rsplit_once("}, ")?.1.to_owned());
    const THUNK: (&str, &str) = ("{virtual override thunk(", ")}");
    Some(match symbol.get(2..4)? {
        "TV" => format!("vtable for {}", between("{vtable(", ")}")?),
        "TT" => format!("VTT for {}", between("{vtt(", ")}")?),
        "Th" => format!("non-virtual thunk to {}", last(between(THUNK.0, THUNK.1)?)?),
        "Tv" => format!("virtual thunk to {}", last(between(THUNK.0, THUNK.1)?)?),
        "Tc" => format!("covariant return thunk to {}", last(between(THUNK.0, THUNK.1)?)?),
        _ => return None,
    })
}
