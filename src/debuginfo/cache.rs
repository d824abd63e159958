//! Caches that client sessions share, and the memory allowance of tables.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum bytes of text in the entries of a cache.
const MAX_TEXT: usize = 16 << 20;

/// Cached results. A full cache drops all entries. Insertion is atomic: a panic of a thread with the lock leaves a
/// valid map.
pub(in crate::debuginfo) struct Cache<K, V>(Mutex<Entries<K, V>>);

struct Entries<K, V> {
    by_key: HashMap<K, V>,
    /// Bytes of the entries' text.
    text: usize,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Entries { by_key: HashMap::new(), text: 0 }))
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::debuginfo) fn get(&self, key: &K) -> Option<V> {
        self.lock().by_key.get(key).cloned()
    }

    /// Stores a value of `text` bytes beside at most `most` other entries. Returns another thread's value if it was
    /// faster.
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

/// Maximum units of all files: 200 MiB.
const MAX_UNITS: usize = 1 << 19;
/// Maximum cached rows of line tables: 384 MiB.
const MAX_ROWS: usize = 1 << 24;
/// Maximum bytes of abbreviation tables in memory.
const MAX_ABBREVIATIONS: usize = 256 << 20;
/// Maximum bytes of source file names in memory.
const MAX_NAMES: usize = 256 << 20;

/// The memory that is left for tables, shared by all debug information of a dump.
#[derive(Debug)]
pub(in crate::debuginfo) struct TableMemory {
    /// Units.
    pub(in crate::debuginfo) units: Allowance,
    /// Rows of line tables.
    pub(in crate::debuginfo) rows: Allowance,
    /// Bytes of tables of abbreviations.
    pub(in crate::debuginfo) abbreviations: Allowance,
    /// Bytes of names of source files.
    pub(in crate::debuginfo) names: Allowance,
}

impl Default for TableMemory {
    fn default() -> Self {
        let [units, rows, abbreviations, names] =
            [MAX_UNITS, MAX_ROWS, MAX_ABBREVIATIONS, MAX_NAMES].map(|most| Allowance(AtomicUsize::new(most)));
        Self { units, rows, abbreviations, names }
    }
}

/// A remaining amount that threads share.
#[derive(Debug)]
pub(in crate::debuginfo) struct Allowance(AtomicUsize);

impl Allowance {
    /// Takes units. If fewer are left, takes all of those and returns false.
    pub(in crate::debuginfo) fn take(&self, units: usize) -> bool {
        let less = |left: usize| Some(left.saturating_sub(units));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok_and(|left| left >= units)
    }

    /// Takes up to that many units; returns the number.
    pub(in crate::debuginfo) fn take_some(&self, units: usize) -> usize {
        let less = |left: usize| Some(left.saturating_sub(units));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).map_or(0, |left| left.min(units))
    }

    /// Returns units to the allowance.
    pub(in crate::debuginfo) fn give_back(&self, units: usize) {
        self.0.fetch_add(units, Ordering::Relaxed);
    }
}
