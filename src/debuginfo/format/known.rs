//! A table of types for the printer of values.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::text::CharKind;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::Result;
use crate::debuginfo::types::{Type, TypeId};

/// Maximum number of types in the table; a full table drops all.
const MAX_TYPES: usize = 4096;

/// Types of one [`DebugInfo`] for the values of one question.
///
/// Threads share the types of a [`DebugInfo`] behind a lock. A frame has a few types and thousands of values.
#[derive(Debug, Default)]
pub struct KnownTypes {
    stripped: RefCell<BTreeMap<TypeId, Option<Arc<Type>>>>,
    characters: RefCell<BTreeMap<TypeId, Option<CharKind>>>,
}

impl KnownTypes {
    /// [`DebugInfo::stripped`], computed once for each type.
    ///
    /// # Errors
    /// The errors of [`DebugInfo::stripped`].
    pub(super) fn stripped(&self, info: &DebugInfo, id: TypeId) -> Result<Option<Arc<Type>>> {
        kept(&self.stripped, id, || info.stripped(id))
    }

    /// The character class of a type, computed by `find` once.
    ///
    /// # Errors
    /// The errors of `find`.
    pub(super) fn character(
        &self,
        id: TypeId,
        find: impl FnOnce() -> Result<Option<CharKind>>,
    ) -> Result<Option<CharKind>> {
        kept(&self.characters, id, find)
    }
}

/// The entry of a table. `find` computes a new entry; the table does not store its errors.
fn kept<T: Clone>(
    table: &RefCell<BTreeMap<TypeId, T>>,
    id: TypeId,
    find: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if let Some(known) = table.borrow().get(&id) {
        return Ok(known.clone());
    }
    let found = find()?;
    let mut table = table.borrow_mut();
    if table.len() >= MAX_TYPES {
        table.clear();
    }
    table.insert(id, found.clone());
    Ok(found)
}
