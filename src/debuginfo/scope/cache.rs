//! The cache of functions that client sessions share.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::debuginfo::cache::{Cache, TableMemory};
use crate::debuginfo::scope::function::Function;
use crate::debuginfo::types::{Type, TypeId};
use crate::units::DieOffset;

/// Maximum cached functions. A full cache drops all of them, which costs only time.
const MAX_FUNCTIONS: usize = 8192;
/// Maximum scopes and variables of cached functions: some 200 MiB.
const MAX_PARTS: usize = 1 << 19;
/// Minimum scopes and variables of a function whose repeated reads count.
const LARGE: usize = 1 << 7;
/// Maximum scopes and variables of large functions that a question reads again: 8 functions as large as the cache.
const MAX_REREAD: usize = 8 * MAX_PARTS;

/// The latest functions, types and names of scopes, of all debug information that shares the cache
/// ([`DebugInfo::sharing`](crate::debuginfo::DebugInfo::sharing)).
#[derive(Default)]
pub struct Functions {
    owners: AtomicU64,
    known: Mutex<Known>,
    pub(in crate::debuginfo) types: Cache<(Owner, TypeId), Arc<Type>>,
    /// Names of scopes, by the innermost DIE of each.
    pub(in crate::debuginfo) scopes: Cache<(Owner, DieOffset), Option<Arc<str>>>,
    /// The memory allowance for tables of the same debug information.
    pub(in crate::debuginfo) tables: Arc<TableMemory>,
}

/// The owner of cached functions: one [`DebugInfo`](crate::debuginfo::DebugInfo).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::debuginfo) struct Owner(u64);

#[derive(Default)]
struct Known {
    by_die: HashMap<(Owner, DieOffset), Arc<Function>>,
    parts: usize,
    /// Scopes and variables of all large functions ever read.
    large: HashMap<(Owner, DieOffset), usize>,
}

/// The remaining repeated reads of large functions in a question. Waves may alternate between functions that exceed the
/// cache together.
#[derive(Debug)]
pub struct Rereads(AtomicUsize);

impl Default for Rereads {
    /// The full amount, for a new question.
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

    /// Takes the scopes and variables of a function. Returns false if fewer are left, and for each later function.
    fn take(&self, parts: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed).saturating_sub(parts);
        self.0.store(left, Ordering::Relaxed);
        left > 0
    }
}

impl Functions {
    /// A new owner.
    pub(in crate::debuginfo) fn owner(&self) -> Owner {
        Owner(self.owners.fetch_add(1, Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A cached function.
    pub(in crate::debuginfo) fn get(&self, owner: Owner, die: DieOffset) -> Option<Arc<Function>> {
        self.lock().by_die.get(&(owner, die)).map(Arc::clone)
    }

    /// Takes the cost of a repeated read of a large function; returns false if the question has none left.
    pub(in crate::debuginfo) fn may_read(&self, owner: Owner, die: DieOffset, rereads: &Rereads) -> bool {
        let parts = self.lock().large.get(&(owner, die)).copied();
        parts.is_none_or(|parts| rereads.take(parts))
    }

    /// Stores a function, or returns the one of a faster thread.
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
