//! Maps behind locks, for what several client sessions share.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::scope::Function;
use crate::units::DieOffset;

/// Functions kept in memory; past this the cache starts anew, which costs time and never correctness.
const MAX_FUNCTIONS: usize = 8192;
/// Scopes and variables of the functions kept in memory, the same: some 200 MiB.
const MAX_PARTS: usize = 1 << 19;

/// Bytes of text that the entries of a cache take.
const MAX_TEXT: usize = 16 << 20;

/// Results that are kept for later questions; past its bounds the cache starts anew. A thread that died while it held the lock leaves
/// a sound map: entries are inserted whole.
pub(super) struct Cache<K, V>(Mutex<Entries<K, V>>);

struct Entries<K, V> {
    by_key: HashMap<K, V>,
    /// Bytes of their text.
    text: usize,
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Entries { by_key: HashMap::new(), text: 0 }))
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.lock().by_key.get(key).cloned()
    }

    /// Keeps a value with so many bytes of text among at most so many others, or returns the one that another thread kept meanwhile.
    pub(super) fn keep(&self, key: K, value: V, text: usize, most: usize) -> V {
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

/// The functions that were read last, of all debug information that shares the cache ([`DebugInfo::sharing`](super::DebugInfo::sharing)).
#[derive(Default)]
pub struct Functions {
    owners: AtomicU64,
    known: Mutex<Known>,
}

/// Whose functions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner(u64);

#[derive(Default)]
struct Known {
    by_die: HashMap<(Owner, DieOffset), Arc<Function>>,
    parts: usize,
}

impl Functions {
    /// Another owner of functions.
    pub(super) fn owner(&self) -> Owner {
        Owner(self.owners.fetch_add(1, Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A function, if it is kept.
    pub(super) fn get(&self, owner: Owner, die: DieOffset) -> Option<Arc<Function>> {
        self.lock().by_die.get(&(owner, die)).map(Arc::clone)
    }

    /// Keeps a function, or takes the one that another thread kept meanwhile.
    pub(super) fn keep(&self, owner: Owner, die: DieOffset, function: Function) -> Arc<Function> {
        let mut known = self.lock();
        if let Some(other) = known.by_die.get(&(owner, die)) {
            return Arc::clone(other);
        }
        let parts = function.parts();
        if known.by_die.len() >= MAX_FUNCTIONS || known.parts.saturating_add(parts) > MAX_PARTS {
            *known = Known::default();
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
