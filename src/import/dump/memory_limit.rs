//! Memory budget for the values of a manifest: a value of two characters takes hundreds of bytes as an entry of a
//! table.

use std::cell::{Cell, RefCell};
use std::fmt::Display;

/// Maximum bytes of memory for the values of a manifest. 10,000 waves with all registers inline take half of it.
pub(super) const MAX_MEMORY: usize = 256 << 20;

/// Remaining memory for the values of one manifest, and the place where it was exhausted.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    left: Cell<usize>,
    /// Path of the first omitted value.
    full_at: RefCell<Option<String>>,
}

impl MemoryLimit {
    /// A limit of that number of bytes.
    pub(super) fn of(bytes: usize) -> Self {
        Self { left: Cell::new(bytes), full_at: RefCell::new(None) }
    }

    /// Takes memory for a list element or a table key; returns `false` if none is left.
    pub(super) fn take(&self, bytes: usize, place: impl Display) -> bool {
        match self.left.get().checked_sub(bytes) {
            Some(left) => self.left.set(left),
            None if self.is_full() => {}
            None => *self.full_at.borrow_mut() = Some(place.to_string()),
        }
        !self.is_full()
    }

    /// Whether a value was omitted. All later values are omitted too.
    pub(super) fn is_full(&self) -> bool {
        self.full_at.borrow().is_some()
    }

    /// Reads the value at a key or an index, which becomes a part of the path of a value omitted in it.
    pub(super) fn within<T>(&self, key: impl Display, read: impl FnOnce() -> T) -> T {
        let was_full = self.is_full();
        let value = read();
        if !was_full && self.is_full() {
            self.prepend(&key);
        }
        value
    }

    /// Prepends a key or an index to the path. Not a part of [`Self::within`], which is compiled for each field.
    #[cold]
    fn prepend(&self, key: &dyn Display) {
        if let Some(path) = self.full_at.borrow_mut().as_mut() {
            let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
            *path = format!("{key}{dot}{path}");
        }
    }

    /// Path of the first omitted value, if any.
    pub(super) fn full_at(&self) -> Option<String> {
        self.full_at.borrow().clone()
    }
}

/// An index as a part of a path.
pub(super) fn index(index: usize) -> impl Display {
    std::fmt::from_fn(move |f| write!(f, "[{index}]"))
}
