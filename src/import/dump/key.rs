//! Key paths of a manifest, without allocation: only a reported problem needs the text.

use std::fmt;

/// A path of keys: a name in a table, or an index in an array, under another path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key<'a> {
    /// The whole manifest.
    Root,
    /// A key of the table at a path.
    Name(&'a Key<'a>, &'a str),
    /// An element of the array at a path.
    Index(&'a Key<'a>, usize),
}

impl<'a> Key<'a> {
    /// `self.name`
    pub(super) fn name(&'a self, name: &'a str) -> Key<'a> {
        Key::Name(self, name)
    }

    /// `self[index]`
    pub(super) fn index(&'a self, index: usize) -> Key<'a> {
        Key::Index(self, index)
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Root => Ok(()),
            Key::Name(Key::Root, name) => f.write_str(name),
            Key::Name(above, name) => write!(f, "{above}.{name}"),
            Key::Index(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}
