//! Reads fields of the manifest: each wrong or missing one becomes a problem with its key path.

use std::collections::HashMap;

use super::key::Key;
use super::manifest::Entries;
use super::shape::{Extra, Field, Shape, Text};
use crate::clean::clean;
use crate::import::problem::Problems;

/// The effect of a fault in an entry of a list.
pub(super) const LEFT_OUT: &str = "the entry is left out";

impl Problems {
    /// A value, if it is present with its shape.
    pub(super) fn given<'a, 'de, T: Shape<'de>>(
        &mut self,
        key: &Key<'_>,
        name: &str,
        field: &'a Field<T>,
    ) -> Option<&'a T> {
        match field {
            Field::Given(value) => Some(value),
            Field::Absent => None,
            Field::Wrong(found) => {
                self.report(key.name(name), found, T::EXPECTED);
                None
            }
        }
    }

    /// A value that its entry requires.
    pub(super) fn required<'a, 'de, T: Shape<'de>>(
        &mut self,
        key: &Key<'_>,
        name: &str,
        field: &'a Field<T>,
    ) -> Option<&'a T> {
        self.needed(key, name, field, LEFT_OUT)
    }

    /// A value that a table requires; `effect`: the result of its absence.
    pub(super) fn needed<'a, 'de, T: Shape<'de>>(
        &mut self,
        key: &Key<'_>,
        name: &str,
        field: &'a Field<T>,
        effect: &str,
    ) -> Option<&'a T> {
        match field {
            Field::Given(value) => return Some(value),
            Field::Absent => self.report(key.name(name), format_args!("is missing; {effect}"), T::EXPECTED),
            Field::Wrong(found) => {
                self.report(key.name(name), format_args!("{found}; {effect}"), T::EXPECTED)
            }
        }
        None
    }

    /// A number below 2^32 that a table requires; `effect`: the result of its absence.
    pub(super) fn needed_small(
        &mut self,
        key: &Key<'_>,
        name: &str,
        field: &Field<u64>,
        effect: &str,
    ) -> Option<u32> {
        let number = *self.needed(key, name, field, effect)?;
        let small = u32::try_from(number).ok();
        if small.is_none() {
            self.report(key.name(name), format_args!("{number:#x}; {effect}"), "a number below 2^32");
        }
        small
    }

    /// A string.
    pub(super) fn text(&mut self, key: &Key<'_>, name: &str, field: &Field<Text<'_>>) -> Option<String> {
        let text = self.given(key, name, field)?.0.clone().into_owned();
        let shown = clean(&text);
        if shown != text {
            self.report(key.name(name), format_args!("\"{shown}\""), "text without control characters");
        }
        Some(shown.into_owned())
    }

    /// A number.
    pub(super) fn number(&mut self, key: &Key<'_>, name: &str, field: &Field<u64>) -> Option<u64> {
        self.given(key, name, field).copied()
    }

    /// A number below 2^32.
    pub(super) fn small(&mut self, key: &Key<'_>, name: &str, field: &Field<u64>) -> Option<u32> {
        let number = self.number(key, name, field)?;
        let small = u32::try_from(number).ok();
        if small.is_none() {
            self.report(key.name(name), format_args!("{number:#x}"), "a number below 2^32");
        }
        small
    }

    /// One to three sizes or coordinates; `rest` replaces absent ones.
    pub(super) fn triple(
        &mut self,
        key: &Key<'_>,
        name: &str,
        field: &Field<Vec<Field<u64>>>,
        rest: u32,
    ) -> Option<[u32; 3]> {
        let numbers = self.given(key, name, field)?;
        let key = key.name(name);
        if numbers.is_empty() || numbers.len() > 3 {
            self.report(key, format_args!("{} numbers", numbers.len()), "one to three numbers");
            return None;
        }
        let mut triple = [rest; 3];
        let mut sound = true;
        for (index, (place, number)) in triple.iter_mut().zip(numbers).enumerate() {
            let found = match number {
                Field::Given(number) => match u32::try_from(*number) {
                    Ok(number) => {
                        *place = number;
                        continue;
                    }
                    Err(_) => format!("{number:#x}"),
                },
                Field::Absent => "null".to_owned(),
                Field::Wrong(found) => found.to_string(),
            };
            self.report(key.index(index), found, "a number below 2^32");
            sound = false;
        }
        sound.then_some(triple)
    }

    /// The tables of an array of tables, with their indexes.
    pub(super) fn entries<'a, 'de, T: Shape<'de>>(
        &mut self,
        key: &Key<'_>,
        name: &str,
        field: &'a Field<Entries<T>>,
    ) -> Vec<(usize, &'a T)> {
        let entries = match field {
            Field::Absent => return Vec::new(),
            Field::Wrong(found) => {
                self.report(key.name(name), found, "an array of tables");
                return Vec::new();
            }
            Field::Given(entries) => entries,
        };
        let key = key.name(name);
        let mut tables = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            match entry {
                Field::Given(table) => tables.push((index, table)),
                Field::Absent => self.report(key.index(index), "null", T::EXPECTED),
                Field::Wrong(found) => self.report(key.index(index), found, T::EXPECTED),
            }
        }
        tables
    }

    /// Reports keys outside of the schema.
    pub(super) fn extra(&mut self, key: &Key<'_>, extra: &Extra<'_>) {
        for (name, twice) in extra.keys() {
            let (what, expected) = match twice {
                true => ("is given twice; the first counts", "each key once"),
                false => ("is not a key of format 1; it is ignored", "keys of format 1, or x-..."),
            };
            self.report(key.name(name), what, expected);
        }
    }
}

/// The ids of one table.
#[derive(Debug)]
pub(super) struct Ids {
    table: &'static str,
    /// Index of the entry; `None`: it is left out.
    known: HashMap<u32, Option<usize>>,
}

impl Ids {
    /// Creates an empty set of ids for `[[table]]`.
    pub(super) fn new(table: &'static str) -> Self {
        Self { table, known: HashMap::new() }
    }

    /// Registers an entry's own id, if it is unused.
    pub(super) fn declare(
        &mut self,
        problems: &mut Problems,
        key: &Key<'_>,
        field: &Field<u64>,
    ) -> Option<u32> {
        let id = problems.needed_small(key, "id", field, LEFT_OUT)?;
        if self.known.contains_key(&id) {
            let what = format_args!("{id} is taken by an earlier entry; this one is left out");
            problems.report(key.name("id"), what, "ids that are unique in their table");
            return None;
        }
        self.known.insert(id, None);
        Some(id)
    }

    /// Sets the index of the entry with that id.
    pub(super) fn place(&mut self, id: u32, index: usize) {
        self.known.insert(id, Some(index));
    }

    /// The index of the referenced entry.
    pub(super) fn resolve(
        &self,
        problems: &mut Problems,
        key: &Key<'_>,
        name: &str,
        field: &Field<u64>,
    ) -> Option<usize> {
        let id = problems.number(key, name, field)?;
        let found = u32::try_from(id).ok().and_then(|id| self.known.get(&id));
        match found {
            Some(Some(index)) => return Some(*index),
            Some(None) => problems.report(
                key.name(name),
                format_args!("{} {id} was left out, with a problem of its own", self.table),
                format_args!("a sound entry of [[{}]]", self.table),
            ),
            None => problems.report(
                key.name(name),
                format_args!("no {} has the id {id}", self.table),
                format_args!("the id of an entry of [[{}]]", self.table),
            ),
        }
        None
    }
}
