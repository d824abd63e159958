//! PC ranges with a location, for variables that have none at the PC.

use std::ops::Range;

use crate::codeobject::ElfAddress;
use crate::debuginfo::{LocationAttribute, Variable};
use crate::dwarf::Context as _;
use crate::session::variables::Frame;
use crate::units::Pc;

/// Maximum number of PC ranges in a message.
const MAX_RANGES: usize = 8;

impl Frame<'_> {
    /// The message for a variable with a location list without an entry for the PC: the reason, and the ranges that
    /// have one.
    pub(in crate::session) fn elsewhere(&self, variable: &Variable) -> String {
        self.but_for(variable, "its location list has no entry for this PC")
    }

    /// The message for a variable whose location is present and empty.
    pub(in crate::session) fn emptied(&self, variable: &Variable) -> String {
        self.but_for(variable, "its location is empty at this PC")
    }

    fn but_for(&self, variable: &Variable, words: &str) -> String {
        let LocationAttribute::List(list) = variable.location else { return words.to_owned() };
        let key = (variable.unit, list);
        if let Some(known) = self.elsewhere.borrow().get(&key) {
            return format!("{words}{known}");
        }
        let entries = self.debug.location_list(variable.unit, list).unwrap_or_default();
        let placed = entries.into_iter().filter(|entry| !entry.expression.is_empty());
        let ranges: Vec<Range<ElfAddress>> = placed.filter_map(|entry| entry.range).collect();
        let but = match ranges.as_slice() {
            [] => String::new(),
            ranges => format!(" {}, but for {}", self.loaded(self.context.elf_pc), self.listed(ranges)),
        };
        let said = format!("{words}{but}");
        self.elsewhere.borrow_mut().insert(key, but);
        said
    }

    fn loaded(&self, address: ElfAddress) -> String {
        self.context.call_frame().loaded(address.0).map_or(address.to_string(), |at| Pc(at).to_string())
    }

    /// Run-time ranges of PCs: `0x1000-0x1010 and 0x1020-0x1024`.
    pub(in crate::session) fn listed(&self, ranges: &[Range<ElfAddress>]) -> String {
        let each =
            |range: &Range<ElfAddress>| format!("{}-{}", self.loaded(range.start), self.loaded(range.end));
        let mut shown: Vec<String> = ranges.iter().take(MAX_RANGES).map(each).collect();
        if ranges.len() > MAX_RANGES {
            shown.push(format!("{} more", ranges.len() - MAX_RANGES));
        }
        match shown.pop() {
            Some(last) if !shown.is_empty() => format!("{} and {last}", shown.join(", ")),
            Some(only) => only,
            None => String::new(),
        }
    }
}
