//! Source positions of addresses: function, inlined calls and lines; cached for all sessions.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::capture::Capture;
use crate::codeobject::ElfAddress;
use crate::debuginfo::{
    DebugInfo, DebugInfoError, FunctionAt, FunctionKey, Rereads, SourceLocation, region_parent, source_name,
};
use crate::session::error::{CodePlace, SourceError};
use crate::session::objects::Loaded;

/// Maximum number of cached addresses, over all code objects; past this the cache starts anew.
const MAX_CACHED: usize = 8192;
/// Maximum bytes of memory of those entries.
const MAX_CACHED_BYTES: usize = 64 << 20;
/// Number of scopes of a large function: it is read once, which takes longer than the answers for its waves' PCs.
const LARGE: usize = 1 << 14;
/// Bytes of a path, `PATH_MAX` of Linux.
const MAX_PATH: usize = 1 << 12;
/// Bytes of memory of a call without its text.
const CALL_BYTES: usize = 256;

/// The source position of an address.
#[derive(Debug)]
pub(in crate::session) struct Source {
    /// The function, if any, by its DIE: the debug information holds its scopes.
    key: Option<(Arc<DebugInfo>, FunctionKey)>,
    /// The calls at the address, innermost first, the function last; a single one without a line if nothing is known.
    /// Never empty.
    pub(in crate::session) calls: Vec<Call>,
    /// The reason for missing parts.
    pub(in crate::session) problem: Option<SourceError>,
}

/// A function or an inlined call at an address.
#[derive(Clone, Debug, Default)]
pub(in crate::session) struct Call {
    pub(in crate::session) function: Option<Arc<str>>,
    /// The symbol of a target region of OpenMP, from which `function` was made.
    pub(in crate::session) symbol: Option<Arc<str>>,
    /// The mangled C++ name of a function that debug information names.
    pub(in crate::session) mangled: Option<Arc<str>>,
    pub(in crate::session) file: Option<Arc<str>>,
    pub(in crate::session) line: Option<u64>,
    pub(in crate::session) column: Option<u64>,
    /// Bytes from the start of the ELF symbol, if only that names the function.
    pub(in crate::session) offset: Option<u64>,
}

impl Source {
    /// The debug information with the function, if any.
    ///
    /// # Errors
    /// The question has spent its rereads of functions.
    pub(in crate::session) fn function(
        &self,
        rereads: &Rereads,
    ) -> Result<Option<(Arc<DebugInfo>, FunctionAt)>, DebugInfoError> {
        let Some((debug, key)) = &self.key else { return Ok(None) };
        Ok(Some((Arc::clone(debug), debug.function_of(key, rereads)?)))
    }

    /// Whether it lacks the function because the question has spent its rereads.
    pub(in crate::session) fn is_cut(&self, rereads: &Rereads) -> bool {
        self.key.is_none() && rereads.is_spent()
    }

    /// The code of the function, if the cache holds few functions of its size.
    pub(in crate::session) fn large_function(&self, rereads: &Rereads) -> Vec<Range<ElfAddress>> {
        match self.function(rereads) {
            Ok(Some((_, at))) if at.function.scopes.len() >= LARGE => {
                at.function.scopes.first().map(|scope| scope.ranges.clone()).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The function by its DIE.
    pub(in crate::session) fn key(&self) -> Option<&FunctionKey> {
        self.key.as_ref().map(|(_, key)| key)
    }

    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize {
        let text = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
        let each = |call: &Call| {
            let texts = [&call.function, &call.symbol, &call.mangled, &call.file];
            CALL_BYTES + texts.into_iter().map(text).sum::<usize>()
        };
        self.calls.iter().map(each).sum()
    }

    /// Looks up an address of a code object, within the rereads of a question.
    pub(in crate::session) fn read(
        loaded: &Loaded,
        capture: &Capture,
        at: ElfAddress,
        rereads: &Rereads,
    ) -> Self {
        let found = loaded.debug(capture).map(|debug| {
            let function = debug.function_at_within(at, rereads).map_err(SourceError::from);
            let row = debug.line_at(at).map(|row| row.map(|row| row.place)).map_err(SourceError::from);
            (debug, function, row)
        });
        let symbol = || {
            let object = loaded.object(capture).ok()?;
            let (symbol, offset) = object.symbol_at(at)?;
            let name: Arc<str> = source_name(&symbol.name).into();
            let region = region_parent(&name).map(|_| Arc::from(symbol.name.as_str()));
            Some((name, region, offset))
        };
        match found {
            // Without lines the function is still known.
            Ok((debug, Ok(Some(function)), row)) => {
                let calls = calls(&function, row.as_ref().ok().and_then(Option::as_ref));
                Self { key: Some((debug, function.key())), calls, problem: row.err() }
            }
            // Without a function the line is still known: `-gline-tables-only` leaves nothing else.
            Ok((_, function, row)) => {
                let symbol = symbol();
                let is_whole = symbol.is_some() && matches!(&row, Ok(Some(row)) if row.line != 0);
                let none = || Some(SourceError::NoFunction(CodePlace::File(at))).filter(|_| !is_whole);
                let problem = function.err().or_else(|| row.as_ref().err().cloned()).or_else(none);
                let row = row.ok().flatten();
                Self { key: None, calls: vec![Call::in_symbol(symbol, row.as_ref())], problem }
            }
            Err(problem) => Self {
                key: None,
                calls: vec![Call::in_symbol(symbol(), None)],
                problem: Some(problem.into()),
            },
        }
    }
}

impl Call {
    /// A call that only an ELF symbol names: its name, the symbol of a target region, and the offset from its start.
    fn in_symbol(symbol: Option<(Arc<str>, Option<Arc<str>>, u64)>, place: Option<&SourceLocation>) -> Self {
        let Some((function, symbol, offset)) = symbol else { return Self::at(None, place) };
        Self { symbol, offset: Some(offset), ..Self::at(Some(function), place) }
    }

    fn at(function: Option<Arc<str>>, place: Option<&SourceLocation>) -> Self {
        let number = |number: u64| Some(number).filter(|number| *number != 0);
        Self {
            function,
            symbol: None,
            mangled: None,
            offset: None,
            file: place.and_then(|place| place.file.as_ref().map(shared_tidy)),
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
        let name = of.qualified_name.as_ref().or(of.name.as_ref()).cloned();
        let symbol = name.as_deref().and_then(region_parent).and(of.linkage_name.clone());
        let mangled = of.linkage_name.clone().filter(|name| name.starts_with("_Z") && name.len() <= MAX_PATH);
        let call = Call { symbol, mangled, ..Call::at(name, place) };
        place = frame.call_site.as_ref();
        call
    });
    frames.collect()
}

/// [`tidy`] of a shared path; paths beyond [`MAX_PATH`] stay unchanged.
fn shared_tidy(path: &Arc<str>) -> Arc<str> {
    let tidy = if path.len() <= MAX_PATH { tidy(path) } else { return Arc::clone(path) };
    if *tidy == **path { Arc::clone(path) } else { tidy.into() }
}

/// A path without the `.` parts that a relative compilation directory leaves in it.
pub(in crate::session) fn tidy(path: &str) -> String {
    let parts = Path::new(path).components().filter(|part| !matches!(part, Component::CurDir));
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

/// Cache of the last lookups, for all code objects of a dump.
#[derive(Debug, Default)]
pub(in crate::session) struct Sources(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// By the index of the code object and the address in it.
    by_address: HashMap<(usize, u64), Arc<Source>>,
    bytes: usize,
}

impl Sources {
    // Sources are inserted whole, so that a panic of a thread with the lock leaves them valid.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The source position of an address in a code object, by its index; `None` if it is not cached.
    pub(in crate::session) fn get(&self, object: usize, at: ElfAddress) -> Option<Arc<Source>> {
        self.lock().by_address.get(&(object, at.0)).map(Arc::clone)
    }

    /// Caches a source position, or returns the one that another thread cached meanwhile.
    pub(in crate::session) fn keep(&self, object: usize, at: ElfAddress, source: Source) -> Arc<Source> {
        let source = Arc::new(source);
        let bytes = source.bytes();
        let mut known = self.lock();
        if known.by_address.len() >= MAX_CACHED || known.bytes.saturating_add(bytes) > MAX_CACHED_BYTES {
            *known = Known::default();
        }
        known.bytes = known.bytes.saturating_add(bytes);
        Arc::clone(known.by_address.entry((object, at.0)).or_insert(source))
    }
}
