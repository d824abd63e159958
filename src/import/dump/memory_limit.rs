//! Memory budget for the values of a manifest: a value of two characters takes hundreds of bytes as an entry of a
//! table.

use std::cell::{Cell, RefCell};
use std::fmt::Display;

/// Bytes of memory that the values of a manifest take. 10,000 waves with all registers inline take half of it.
pub(super) const MAX_MEMORY: usize = 256 << 20;

/// Memory that the values of one manifest may still take, and where it ran out.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    left: Cell<usize>,
    /// Path of the first value that is left out.
    full_at: RefCell<Option<String>>,
}

impl MemoryLimit {
    /// MemoryLimit for so many bytes.
    pub(super) fn of(bytes: usize) -> Self {
        Self { left: Cell::new(bytes), full_at: RefCell::new(None) }
    }

    /// Takes the place of an element of a list, or of a key of a table; whether there was one.
    pub(super) fn take(&self, bytes: usize, place: impl Display) -> bool {
        match self.left.get().checked_sub(bytes) {
            Some(left) => self.left.set(left),
            None if self.is_full() => {}
            None => *self.full_at.borrow_mut() = Some(place.to_string()),
        }
        !self.is_full()
    }

    /// Whether some value was left out. All that follow are, too.
    pub(super) fn is_full(&self) -> bool {
        self.full_at.borrow().is_some()
    }

    /// Reads what is at a key or an index, which is a part of the path if something in it is left out.
    pub(super) fn within<T>(&self, key: impl Display, read: impl FnOnce() -> T) -> T {
        let was_full = self.is_full();
        let value = read();
        if !was_full && self.is_full() {
            self.prepend(&key);
        }
        value
    }

    /// Puts a key or an index before the path. Apart from [`Self::within`], which is compiled for each field of a manifest.
    #[cold]
    fn prepend(&self, key: &dyn Display) {
        if let Some(path) = self.full_at.borrow_mut().as_mut() {
            let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
            *path = format!("{key}{dot}{path}");
        }
    }

    /// Path of the first value that is left out, if any is.
    pub(super) fn full_at(&self) -> Option<String> {
        self.full_at.borrow().clone()
    }
}

/// An index as a part of a path.
pub(super) fn index(index: usize) -> impl Display {
    std::fmt::from_fn(move |f| write!(f, "[{index}]"))
}
