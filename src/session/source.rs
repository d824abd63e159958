//! Source positions of an address: the function, the calls inlined there, and their lines; cached for all sessions.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::objects::Loaded;
use crate::capture::Capture;
use crate::codeobject::ElfAddress;
use crate::debuginfo::{DebugInfo, FunctionAt, FunctionKey, SourceLocation, demangle};

/// The message for a missing function; its continuation names the place.
pub(super) const NO_FUNCTION: &str = "no function with debug information holds the";

/// Maximum number of cached addresses, over all code objects; past this the cache starts anew.
const MAX_CACHED: usize = 8192;
/// Maximum bytes of memory of those entries.
const MAX_CACHED_BYTES: usize = 64 << 20;
/// Bytes of memory of a call beside its text.
const CALL_BYTES: usize = 256;

/// The source position of an address.
#[derive(Debug)]
pub(super) struct Source {
    /// The function, if any, by its DIE: the debug information holds its scopes.
    key: Option<(Arc<DebugInfo>, FunctionKey)>,
    /// The calls at the address, innermost first, the function last; one without a line if nothing is known. Never
    /// empty.
    pub(super) calls: Vec<Call>,
    /// The reason for missing parts.
    pub(super) problem: Option<String>,
}

/// A function or an inlined call at an address.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    pub(super) function: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
    pub(super) column: Option<u64>,
}

impl Source {
    /// The debug information with the function, if any.
    pub(super) fn function(&self) -> Option<(Arc<DebugInfo>, FunctionAt)> {
        let (debug, key) = self.key.as_ref()?;
        // It was read before.
        let function = debug.function_of(key).ok()?;
        Some((Arc::clone(debug), function))
    }

    /// The function by its DIE.
    pub(super) fn key(&self) -> Option<&FunctionKey> {
        self.key.as_ref().map(|(_, key)| key)
    }

    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.calls.iter().map(|call| CALL_BYTES + text(&call.function) + text(&call.file)).sum()
    }

    /// Looks up an address of a code object.
    pub(super) fn read(loaded: &Loaded, capture: &Capture, at: ElfAddress) -> Self {
        let found = loaded.debug(capture).and_then(|debug| {
            let words = |error: crate::debuginfo::DebugInfoError| error.to_string();
            let function = debug.function_at(at).map_err(words)?;
            // Without lines the function is still known.
            let row = debug.line_at(at).map(|row| row.map(|row| row.place)).map_err(words);
            Ok((debug, function, row))
        });
        let symbol = || {
            let object = loaded.object(capture).ok()?;
            let (symbol, _) = object.symbol_at(at)?;
            Some(demangle(&symbol.name).unwrap_or_else(|| symbol.name.clone()))
        };
        match found {
            Ok((debug, Some(function), row)) => {
                let calls = calls(&function, row.as_ref().ok().and_then(Option::as_ref));
                Self { key: Some((debug, function.key())), calls, problem: row.err() }
            }
            Ok((_, None, row)) => {
                let none = || Some(format!("{NO_FUNCTION} address {at}"));
                let problem = row.as_ref().err().cloned().or_else(none);
                let row = row.ok().flatten();
                Self { key: None, calls: vec![Call::at(symbol(), row.as_ref())], problem }
            }
            Err(problem) => Self { key: None, calls: vec![Call::at(symbol(), None)], problem: Some(problem) },
        }
    }
}

impl Call {
    fn at(function: Option<String>, place: Option<&SourceLocation>) -> Self {
        let number = |number: u64| Some(number).filter(|number| *number != 0);
        Self {
            function,
            file: place.and_then(|place| place.file.as_deref().map(tidy)),
            line: place.and_then(|place| number(place.line)),
            column: place.and_then(|place| number(place.column)),
        }
    }
}

/// A frame's line is that of the call to the next inner frame; the innermost frame has its own line.
fn calls(at: &FunctionAt, row: Option<&SourceLocation>) -> Vec<Call> {
    let mut place = row;
    let frames = at.frames.iter().map(|frame| {
        let of = &frame.subprogram;
        let name = of.qualified_name.as_deref().or(of.name.as_deref()).map(str::to_owned);
        let call = Call::at(name, place);
        place = frame.call_site.as_ref();
        call
    });
    frames.collect()
}

/// A path without the `.` parts that a relative compilation directory leaves in it.
pub(super) fn tidy(path: &str) -> String {
    let parts = Path::new(path).components().filter(|part| !matches!(part, Component::CurDir));
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

/// Cache of the last lookups, for all code objects of a dump.
#[derive(Debug, Default)]
pub(super) struct Sources(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// By the index of the code object and the address in it.
    by_address: HashMap<(usize, u64), Arc<Source>>,
    bytes: usize,
}

impl Sources {
    pub(super) fn at(&self, object: usize, at: ElfAddress, read: impl FnOnce() -> Source) -> Arc<Source> {
        // Sources are inserted whole, so that a panic of a thread with the lock leaves them valid.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().by_address.get(&(object, at.0)) {
            return Arc::clone(known);
        }
        // Outside of the lock: two clients may look up the same place once each, and neither waits for the other.
        let source = Arc::new(read());
        let bytes = source.bytes();
        let mut known = lock();
        if known.by_address.len() >= MAX_CACHED || known.bytes.saturating_add(bytes) > MAX_CACHED_BYTES {
            *known = Known::default();
        }
        known.bytes = known.bytes.saturating_add(bytes);
        Arc::clone(known.by_address.entry((object, at.0)).or_insert(source))
    }
}
