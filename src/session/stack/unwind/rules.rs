//! Rows of call frame information by PC, cached for all sessions: thousands of waves share a few PCs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::code::CodeError;
use crate::codeobject::{Bytes, CodeObject, ElfAddress};
use crate::debuginfo::{CallFrames, FrameEntry, FrameError, FrameSection};
use crate::dwarf::cfi::{self, CfaRule, Factors, Row};
use crate::dwarf::print::Names;
use crate::dwarf::{self, Budget, Class, Dialect, Encoding};
use crate::session::disassembly::ObjectCodeError;
use crate::units::{DwarfReg, Pc};

/// Maximum number of cached rows of all code objects; past this the cache starts anew. A row with 200 registers takes
/// 30 kB.
const MAX_CACHED_ROWS: usize = 4096;

/// The rules of a frame.
#[derive(Debug)]
pub(in crate::session) struct Rules {
    /// The source of the rules.
    pub(in crate::session) entry: RulesOrigin,
    /// The rules.
    pub(in crate::session) row: Row,
    /// Registers without a rule that may have another value in the caller.
    pub(in crate::session) uncertain: BTreeSet<DwarfReg>,
}

impl Rules {
    /// The reason that they give no caller, if any.
    pub(super) fn lack(&self) -> Option<RulesError> {
        if self.row.is_outermost() {
            return None;
        }
        if self.row.cfa.rule == CfaRule::Unspecified {
            return Some(RulesError::NoCfa(self.entry));
        }
        let has_return = self.row.registers.contains_key(&self.row.return_address);
        (!has_return).then_some(RulesError::NoReturnAddress(self.entry))
    }

    /// Whether the function's code gives them.
    pub(super) fn is_inferred(&self) -> bool {
        matches!(self.entry, RulesOrigin::Code(_))
    }
}

/// The source of a frame's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum RulesOrigin {
    /// An entry of call frame information.
    Entry(EntryAt),
    /// The code of the function that begins there.
    Code(ElfAddress),
}

impl fmt::Display for RulesOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(entry) => entry.fmt(f),
            Self::Code(entry) => write!(f, "the code of the function at {entry}"),
        }
    }
}

/// A position in call frame information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) struct EntryAt {
    /// The section.
    pub(in crate::session) section: FrameSection,
    /// Offset of the FDE in it.
    pub(in crate::session) offset: u64,
}

impl fmt::Display for EntryAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} entry at {:#x}", self.section, self.offset)
    }
}

/// Reasons that a frame has no rules.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::session) enum RulesError {
    #[error("there is no such frame")]
    NoFrame,
    #[error("no code object that can be read holds the PC")]
    NoCode,
    #[error("the code object has no call frame information{}", unread(.0.as_ref()))]
    NoTable(Option<FrameError>),
    #[error("no entry of its call frame information holds the PC{}", unread(.0.as_ref()))]
    NoEntry(Option<FrameError>),
    #[error("{0} has the unknown augmentation `{1}`")]
    Augmentation(EntryAt, String),
    #[error("{0} never defines a CFA")]
    NoCfa(RulesOrigin),
    #[error("{0} has no rule for the return address")]
    NoReturnAddress(RulesOrigin),
    /// The function ends there.
    #[error("{0} has the rules of the function's body at its end")]
    RulesOfBody(EntryAt),
    #[error("{0} gives the rounded frame pointer in place of the CFA")]
    RoundedCfa(EntryAt),
    /// Call frame information has no rules, and neither has the function's code.
    #[error("{0}; {1}")]
    Code(Box<RulesError>, Box<CodeError>),
    /// The instructions do not execute.
    #[error("{0}: {1}")]
    Broken(EntryAt, dwarf::Error),
}

impl RulesError {
    /// The text with names of registers and address spaces.
    pub(super) fn named(&self, names: &dyn Names) -> String {
        match self {
            Self::Broken(entry, error) => format!("{entry}: {}", error.named(names)),
            other => other.to_string(),
        }
    }

    /// Whether the function's code is for an unknown processor.
    pub(super) fn is_undecoded(&self) -> bool {
        matches!(self, Self::Code(_, code) if matches!(&**code, CodeError::Object(ObjectCodeError::Processor(_))))
    }
}

/// A possible cause of a missing entry.
fn unread(problem: Option<&FrameError>) -> String {
    problem.map_or_else(String::new, |problem| format!(", but not all of it can be read: {problem}"))
}

pub(in crate::session) type Found = Arc<Result<Rules, RulesError>>;

/// The call frame information of one code object, with the requested rows.
#[derive(Debug, Default)]
pub(in crate::session) struct UnwindTable {
    frames: OnceLock<CallFrames>,
    /// The rows of all tables that share them.
    rows: Arc<RowCache>,
    /// Its own number there.
    owner: usize,
}

/// Rows of several tables.
#[derive(Debug, Default)]
pub(in crate::session) struct RowCache(Mutex<Rows>);

/// An entry of a table, by the table's number.
type EntryKey = (usize, FrameSection, u64);

#[derive(Debug, Default)]
struct Rows {
    /// By entry, then by the first PC of a row, with the first PC past it.
    by_entry: HashMap<EntryKey, BTreeMap<u64, (u64, Found)>>,
    count: usize,
}

impl UnwindTable {
    /// A table whose rows are in a cache, with a number that no other table has there.
    pub(in crate::session) fn sharing(rows: &Arc<RowCache>, owner: usize) -> Self {
        Self { frames: OnceLock::new(), rows: Arc::clone(rows), owner }
    }

    /// Returns the valid rules at an address.
    ///
    /// `elsewhere`: see [`CallFrames::read`]. `dialect`: the user's dialect for the code object; `None`: each entry's
    /// own. `budget`: the question's, for long instructions.
    pub(in crate::session) fn at(
        &self,
        object: &CodeObject,
        elsewhere: impl FnOnce() -> Option<Bytes>,
        pc: ElfAddress,
        dialect: Option<Dialect>,
        budget: &Budget,
    ) -> Found {
        let frames = self.frames.get_or_init(|| CallFrames::read(object, elsewhere));
        let Some(entry) = frames.at(pc) else {
            let problem = frames.problems().first().cloned();
            let is_empty = frames.entries().is_empty();
            let none = if is_empty { RulesError::NoTable(problem) } else { RulesError::NoEntry(problem) };
            return Arc::new(Err(none));
        };
        let key = (self.owner, entry.section, entry.offset);
        if let Some(found) = self.rows().get(key, pc) {
            return found;
        }
        // Outside of the lock: two clients may run the same instructions once each, and neither waits for the other.
        let (extent, found) = run(entry, pc, dialect, budget);
        // Another question has another budget.
        let is_limit = |found: &Result<Rules, RulesError>| matches!(found, Err(RulesError::Broken(_, error)) if error.class() == Class::Limit);
        if !is_limit(&found) {
            self.rows().insert(key, extent, Arc::clone(&found));
        }
        found
    }

    /// The range of the entry that holds an address.
    pub(in crate::session) fn range(
        &self,
        object: &CodeObject,
        elsewhere: impl FnOnce() -> Option<Bytes>,
        pc: ElfAddress,
    ) -> Option<Range<ElfAddress>> {
        self.frames.get_or_init(|| CallFrames::read(object, elsewhere)).at(pc)?.pcs.clone()
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, Rows> {
        // Rows are inserted whole, so that a panic of a thread with the lock leaves them valid.
        self.rows.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn get(&self, key: EntryKey, pc: ElfAddress) -> Option<Found> {
        let rows = self.by_entry.get(&key)?;
        let (_, (end, found)) = rows.range(..=pc.0).next_back()?;
        (pc.0 < *end).then(|| Arc::clone(found))
    }

    fn insert(&mut self, key: EntryKey, extent: Range<u64>, found: Found) {
        if self.count >= MAX_CACHED_ROWS {
            *self = Self::default();
        }
        self.count += 1;
        let rows = self.by_entry.entry(key).or_default();
        rows.insert(extent.start, (extent.end, found));
    }
}

/// Executes an entry's instructions as far as a PC; returns also the PCs with the same result.
fn run(entry: &FrameEntry, pc: ElfAddress, dialect: Option<Dialect>, budget: &Budget) -> (Range<u64>, Found) {
    let at = EntryAt { section: entry.section, offset: entry.offset };
    let alone = pc.0..pc.0.saturating_add(1);
    let cie = &entry.cie;
    if cie.augmentation.is_unknown() {
        let unknown = RulesError::Augmentation(at, cie.augmentation.to_string());
        return (alone, Arc::new(Err(unknown)));
    }
    let start = Pc(entry.pcs.as_ref().map_or(0, |pcs| pcs.start.0));
    let programs = [&*cie.instructions, &*entry.instructions];
    let dialect = match dialect {
        Some(dialect) => Ok(dialect),
        None => cfi::dialect(&cie.augmentation.text, programs, start, cie.code_factor, Some(budget)),
    };
    let dialect = match dialect {
        Ok(dialect) => dialect,
        Err(error) => return (alone, Arc::new(Err(RulesError::Broken(at, error)))),
    };
    let factors = Factors {
        code: cie.code_factor,
        data: cie.data_factor,
        return_address: cie.return_address,
        address_size: cie.address_size,
        encoding: Encoding { dialect, dwarf64: entry.dwarf64 },
    };
    let found = Row::with_extent(
        &factors,
        &cie.instructions,
        &entry.instructions,
        start,
        Some(Pc(pc.0)),
        Some(budget),
    );
    match found {
        Ok((row, extent)) => (
            extent.start.0..extent.end.0,
            Arc::new(Ok(Rules { entry: RulesOrigin::Entry(at), row, uncertain: BTreeSet::new() })),
        ),
        Err(error) => (alone, Arc::new(Err(RulesError::Broken(at, error)))),
    }
}
