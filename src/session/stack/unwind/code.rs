//! Frames without rules of call frame information: their rules by the code of their functions.
//!
//! Each entry of a table counts by itself: a link may mix compilers. One cache serves all code objects.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::code_row;
use super::rules::{Found, Rules, RulesError, RulesOrigin};
use crate::codeobject::{CodeObject, ElfAddress, SymbolKind};
use crate::dwarf::Cause;
use crate::isa::{CallerCode, UndecidedError};
use crate::session::Reader;
use crate::session::disassembly::{ObjectCodeError, instructions, target};
use crate::session::objects::Loaded;
use crate::units::WaveId;

/// Maximum number of cached functions and of cached rows, over all code objects; past this the cache starts anew. A row
/// takes up to 150 kB.
const MAX_FUNCTIONS: usize = 256;
const MAX_ROWS: usize = 512;
/// Maximum sum of the cached functions' [`CallerCode::size`].
const MAX_SIZE: usize = 1 << 20;
/// Maximum bytes of an analysed function.
const MAX_BYTES: u64 = 256 * 1024;
/// Units of work for each dword of code, and free units for each function.
const DWORD_WORK: u64 = 16;
const OWN_WORK: u64 = 4096 * DWORD_WORK;

/// The reason that a function's code gives no rules.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::session) enum CodeError {
    #[error("no function is known to hold the PC")]
    NoFunction,
    #[error("the PC is in a part of a function whose entry is not known")]
    Part,
    #[error("the function has more than {} KiB of code", MAX_BYTES / 1024)]
    TooLong,
    #[error(transparent)]
    Object(#[from] ObjectCodeError),
    #[error("the code shows no stack pointer or no return address at the PC")]
    NoHolder,
    #[error(transparent)]
    Undecided(#[from] UndecidedError),
    /// The question's budget is spent.
    #[error(transparent)]
    Budget(#[from] Cause),
    /// The client is gone.
    #[error("interrupted")]
    Interrupted,
}

/// Functions by file, first address, and lanes of a wave.
type Key = (usize, ElfAddress, u8);

/// The analysed functions of all code objects.
#[derive(Debug, Default)]
pub(in crate::session) struct CallerCodes(Mutex<Cached>);

#[derive(Debug, Default)]
struct Cached {
    functions: HashMap<Key, Arc<Result<CallerCode, CodeError>>>,
    size: usize,
    rows: HashMap<(Key, ElfAddress), Found>,
}

/// Ranges of a function's code, and its entry.
struct Bounds {
    entry: ElfAddress,
    parts: Vec<Range<ElfAddress>>,
}

impl CallerCodes {
    /// The rules of the frame whose lookup address is `at`; `table`: the reason that call frame information has none.
    pub(in crate::session) fn rules(
        &self,
        reader: &Reader,
        id: WaveId,
        loaded: &Loaded,
        at: ElfAddress,
        table: &RulesError,
    ) -> Found {
        let failed = |why: CodeError| Arc::new(Err(RulesError::Code(Box::new(table.clone()), Box::new(why))));
        let (Ok(wave), Ok(object)) = (reader.wave(id), loaded.object(reader.dump().capture())) else {
            return failed(ObjectCodeError::NotInFile.into());
        };
        let bounds = match bounds(reader, loaded, &object, at) {
            Ok(bounds) => bounds,
            Err(why) => return failed(why),
        };
        let key = (loaded.file_index(), bounds.entry, wave.kind.wave_size.lanes());
        // Entries are inserted whole, so that a panic of a thread with the lock leaves them valid.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().rows.get(&(key, at)) {
            return Arc::clone(found);
        }
        let known = lock().functions.get(&key).cloned();
        let code = match known {
            Some(known) => known,
            None => {
                let size = bounds.parts.iter().map(|part| part.end.0.saturating_sub(part.start.0));
                let size = size.fold(0, u64::saturating_add);
                if let Err(spent) = reader.budget().take((size / 4).saturating_mul(DWORD_WORK), OWN_WORK) {
                    return failed(spent.into());
                }
                if reader.goes_on().is_err() {
                    return failed(CodeError::Interrupted);
                }
                let target = target(&object, &wave.kind);
                let read = match size {
                    MAX_BYTES.. => Err(CodeError::TooLong),
                    _ => instructions(
                        &reader.dump().objects().codes().decoded,
                        &object,
                        &wave.kind,
                        &bounds.parts,
                    )
                    .map_err(CodeError::from),
                };
                let read = read.and_then(|code| Ok(CallerCode::read(&code, bounds.entry.0, target)?));
                let code = Arc::new(read);
                let mut cached = lock();
                let size = code.as_ref().as_ref().map_or(0, CallerCode::size);
                if cached.functions.len() >= MAX_FUNCTIONS || cached.size.saturating_add(size) > MAX_SIZE {
                    cached.functions.clear();
                    cached.size = 0;
                }
                cached.size = cached.size.saturating_add(size);
                cached.functions.insert(key, Arc::clone(&code));
                code
            }
        };
        let rules = match &*code {
            Ok(code) => code.at(at.0).map_err(CodeError::from).and_then(|state| {
                let row = code_row::row(&state, &wave.kind).ok_or(CodeError::NoHolder)?;
                let uncertain = code_row::uncertain(&state, &wave.kind);
                Ok(Rules { entry: RulesOrigin::Code(bounds.entry), row, uncertain })
            }),
            Err(why) => Err(why.clone()),
        };
        match rules {
            Ok(rules) => {
                let found = Arc::new(Ok(rules));
                let mut cached = lock();
                if cached.rows.len() >= MAX_ROWS {
                    cached.rows.clear();
                }
                cached.rows.insert((key, at), Arc::clone(&found));
                found
            }
            Err(why) => failed(why),
        }
    }
}

/// The function that holds an address: by debug information, which has all parts of a function, else by its symbol, else
/// by its entry of call frame information.
fn bounds(
    reader: &Reader,
    loaded: &Loaded,
    object: &CodeObject,
    at: ElfAddress,
) -> Result<Bounds, CodeError> {
    let source = loaded.source(reader, at);
    if let Ok(Some((_, function))) = source.function(reader.rereads())
        && let Some(entry) = function.function.low_pc()
        && let Some(scope) = function.function.scopes.first()
        && scope.ranges.iter().any(|range| range.contains(&at))
    {
        return Ok(Bounds { entry, parts: scope.ranges.clone() });
    }
    if let Some((symbol, _)) = object.symbol_at(at)
        && symbol.kind == SymbolKind::Function
        && symbol.size > 0
        && let Some(end) = symbol.value.checked_add(symbol.size)
    {
        // LLVM's names of parts.
        if symbol.name.ends_with(".cold") || symbol.name.contains(".__part.") {
            return Err(CodeError::Part);
        }
        let entry = ElfAddress(symbol.value);
        return Ok(Bounds { entry, parts: vec![entry..ElfAddress(end)] });
    }
    let range = loaded.frame_entry(reader, object, at).ok_or(CodeError::NoFunction)?;
    Ok(Bounds { entry: range.start, parts: vec![range] })
}
