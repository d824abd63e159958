//! Maps behind locks, for what several client sessions share.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::debuginfo::scope::Function;
use crate::units::DieOffset;

/// Functions kept in memory; past this the cache starts anew, which costs time and never correctness.
const MAX_FUNCTIONS: usize = 8192;
/// Scopes and variables of the functions kept in memory, the same: some 200 MiB.
const MAX_PARTS: usize = 1 << 19;
/// Scopes and variables of a function whose repeated reads count.
const LARGE: usize = 1 << 7;
/// Scopes and variables of large functions that a question reads again: 8 functions as large as the cache.
const MAX_REREAD: usize = 8 * MAX_PARTS;

/// Bytes of text that the entries of a cache take.
const MAX_TEXT: usize = 16 << 20;

/// Results that are kept for later questions; past its bounds the cache starts anew. A thread that died while it held the lock leaves
/// a sound map: entries are inserted whole.
pub(in crate::debuginfo) struct Cache<K, V>(Mutex<Entries<K, V>>);

struct Entries<K, V> {
    by_key: HashMap<K, V>,
    /// Bytes of their text.
    text: usize,
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    pub(in crate::debuginfo) fn new() -> Self {
        Self(Mutex::new(Entries { by_key: HashMap::new(), text: 0 }))
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::debuginfo) fn get(&self, key: &K) -> Option<V> {
        self.lock().by_key.get(key).cloned()
    }

    /// Keeps a value with so many bytes of text among at most so many others, or returns the one that another thread kept meanwhile.
    pub(in crate::debuginfo) fn keep(&self, key: K, value: V, text: usize, most: usize) -> V {
        let mut entries = self.lock();
        if entries.by_key.len() >= most || entries.text.saturating_add(text) > MAX_TEXT {
            *entries = Entries { by_key: HashMap::new(), text: 0 };
        }
        entries.text = entries.text.saturating_add(text);
        entries.by_key.entry(key).or_insert(value).clone()
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

/// Rows of line tables that are kept: 384 MiB.
const MAX_ROWS: usize = 1 << 24;
/// Bytes of memory that tables of abbreviations take.
const MAX_ABBREVIATIONS: usize = 256 << 20;
/// Bytes of memory that the names of source files take.
const MAX_NAMES: usize = 256 << 20;

/// Memory that the tables of debug information still may take. All debug information of a dump shares it.
#[derive(Debug)]
pub(in crate::debuginfo) struct TableMemory {
    /// Rows of line tables.
    pub(in crate::debuginfo) rows: Allowance,
    /// Bytes of tables of abbreviations.
    pub(in crate::debuginfo) abbreviations: Allowance,
    /// Bytes of names of source files.
    pub(in crate::debuginfo) names: Allowance,
}

impl Default for TableMemory {
    fn default() -> Self {
        let [rows, abbreviations, names] =
            [MAX_ROWS, MAX_ABBREVIATIONS, MAX_NAMES].map(|most| Allowance(AtomicUsize::new(most)));
        Self { rows, abbreviations, names }
    }
}

/// A number of units that several threads take.
#[derive(Debug)]
pub(in crate::debuginfo) struct Allowance(AtomicUsize);

impl Allowance {
    /// Takes units; if fewer are left, takes those and returns false.
    pub(in crate::debuginfo) fn take(&self, units: usize) -> bool {
        let less = |left: usize| Some(left.saturating_sub(units));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok_and(|left| left >= units)
    }

    /// Takes up to that many units; returns their number.
    pub(in crate::debuginfo) fn take_some(&self, units: usize) -> usize {
        let less = |left: usize| Some(left.saturating_sub(units));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).map_or(0, |left| left.min(units))
    }

    /// Gives units back.
    pub(in crate::debuginfo) fn give_back(&self, units: usize) {
        self.0.fetch_add(units, Ordering::Relaxed);
    }
}

/// The functions that were read last, of all debug information that shares the cache ([`DebugInfo::sharing`](crate::debuginfo::DebugInfo::sharing)).
#[derive(Default)]
pub struct Functions {
    owners: AtomicU64,
    known: Mutex<Known>,
    /// Memory for the tables of the same debug information.
    pub(in crate::debuginfo) tables: Arc<TableMemory>,
}

/// Whose functions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::debuginfo) struct Owner(u64);

#[derive(Default)]
struct Known {
    by_die: HashMap<(Owner, DieOffset), Arc<Function>>,
    parts: usize,
    /// Scopes and variables of the large functions that were ever read.
    large: HashMap<(Owner, DieOffset), usize>,
}

/// Reads of large functions that a question still may repeat: waves may stop by turns in functions that the cache does not hold
/// together.
#[derive(Debug)]
pub struct Rereads(AtomicUsize);

impl Default for Rereads {
    /// Those of a new question.
    fn default() -> Self {
        Self(AtomicUsize::new(MAX_REREAD))
    }
}

impl Rereads {
    /// Begins another question.
    pub fn restart(&self) {
        self.0.store(MAX_REREAD, Ordering::Relaxed);
    }

    /// Whether the question has skipped a function.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Takes the scopes and variables of a function; returns false if fewer are left, and for each later function.
    fn take(&self, parts: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed).saturating_sub(parts);
        self.0.store(left, Ordering::Relaxed);
        left > 0
    }
}

impl Functions {
    /// Another owner of functions.
    pub(in crate::debuginfo) fn owner(&self) -> Owner {
        Owner(self.owners.fetch_add(1, Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A function, if it is kept.
    pub(in crate::debuginfo) fn get(&self, owner: Owner, die: DieOffset) -> Option<Arc<Function>> {
        self.lock().by_die.get(&(owner, die)).map(Arc::clone)
    }

    /// Takes the cost of reading a function again, for one that is large; returns false if the question has spent its rereads.
    pub(in crate::debuginfo) fn may_read(&self, owner: Owner, die: DieOffset, rereads: &Rereads) -> bool {
        let parts = self.lock().large.get(&(owner, die)).copied();
        parts.is_none_or(|parts| rereads.take(parts))
    }

    /// Keeps a function, or takes the one that another thread kept meanwhile.
    pub(in crate::debuginfo) fn keep(
        &self,
        owner: Owner,
        die: DieOffset,
        function: Function,
    ) -> Arc<Function> {
        let mut known = self.lock();
        if let Some(other) = known.by_die.get(&(owner, die)) {
            return Arc::clone(other);
        }
        let parts = function.parts();
        if known.by_die.len() >= MAX_FUNCTIONS || known.parts.saturating_add(parts) > MAX_PARTS {
            (known.by_die, known.parts) = (HashMap::new(), 0);
        }
        if parts >= LARGE {
            known.large.insert((owner, die), parts);
        }
        known.parts = known.parts.saturating_add(parts);
        let function = Arc::new(function);
        known.by_die.insert((owner, die), Arc::clone(&function));
        function
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Functions({} entries)", self.lock().by_die.len())
    }
}
