//! Converts inline values to bytes of the arena and blocks over them.

use super::data::{ARENA, Sources};
use super::inline::{Inline, found, scalar};
use super::key::Key;
use super::registers::run_length;
use crate::arch::{RegId, WaveArch};
use crate::capture::{BackingId, RegisterBlock};
use crate::import::problem::Problems;
use crate::units::LaneSet;

/// Target of one wave's inline values.
#[derive(Debug)]
pub(super) struct Values<'a> {
    pub(super) problems: &'a mut Problems,
    pub(super) sources: &'a mut Sources,
    pub(super) kind: &'a WaveArch,
    /// The wave's blocks.
    pub(super) own: &'a mut Vec<(BackingId, RegisterBlock)>,
}

impl Values<'_> {
    /// Adds the manifest's value of `name`, which stands for that range of the kind's registers.
    pub(super) fn take(&mut self, key: &Key<'_>, name: &str, (first, count): (RegId, u16), value: &Inline) {
        let (value, floats) = match value {
            Inline::Floats(inner) => (&**inner, true),
            value => (value, false),
        };
        if !name.contains('-') {
            return self.one(key, first, value, floats);
        }
        let items = match value {
            Inline::List(items) => items,
            Inline::Missing => return,
            other => {
                self.problems.report(
                    key,
                    found(other),
                    "an array with a value for each register of the range",
                );
                return;
            }
        };
        if items.len() > usize::from(count) {
            let what = format_args!("{} values; the last ones are ignored", items.len());
            self.problems.report(key, what, format_args!("at most the {count} of {name}"));
        }
        for (index, item) in (0..count).zip(items) {
            let register = RegId(first.0.saturating_add(index));
            self.one(&key.index(usize::from(index)), register, item, floats);
        }
    }

    fn one(&mut self, key: &Key<'_>, id: RegId, value: &Inline, floats: bool) {
        let Some(register) = self.kind.registers().get(usize::from(id.0)) else { return };
        let offset = self.sources.arena_end();
        let known = match (value, register.is_vector()) {
            (Inline::Missing, _) => return,
            (Inline::List(lanes), true) => self.lanes(key, register.dwords, lanes, floats),
            (other, true) => {
                self.problems.report(key, found(other), "an array, lane 0 first");
                return;
            }
            (value, false) => match scalar(value, register.dwords, floats) {
                Ok(None) => return,
                Ok(Some(value)) => {
                    let bytes = value.to_le_bytes();
                    self.sources.push(bytes.get(..register.bytes()).unwrap_or(&bytes));
                    LaneSet::lowest(register.dwords.into())
                }
                Err((found, expected)) => {
                    self.problems.report(key, found, expected);
                    return;
                }
            },
        };
        let Ok(width) = u16::try_from(register.bytes()) else { return };
        if known.is_empty() {
            return;
        }
        if let Some((ARENA, last)) = self.own.last_mut()
            && !register.is_vector()
            && (last.width, last.known) == (width, known)
            && last.first.0.checked_add(last.count) == Some(id.0)
            && last.offset.checked_add(run_length(last)) == Some(offset)
        {
            // Inline s0-s105 is one block, not 106.
            last.count = last.count.saturating_add(1);
        } else {
            self.own.push((ARENA, RegisterBlock { first: id, count: 1, width, offset, known }));
        }
    }

    fn lanes(&mut self, key: &Key<'_>, dwords: u16, lanes: &[Inline], floats: bool) -> LaneSet {
        if lanes.len() > usize::from(dwords) {
            let what = format_args!("{} values; the last ones are ignored", lanes.len());
            self.problems.report(key, what, format_args!("at most {dwords} lanes"));
        }
        let mut known = 0u64;
        for (index, lane) in (0..dwords).zip(lanes) {
            let value = match scalar(lane, 1, floats) {
                Ok(value) => value,
                Err((found, expected)) => {
                    self.problems.report(key.index(usize::from(index)), found, expected);
                    None
                }
            };
            if value.is_some() {
                known |= 1u64.checked_shl(u32::from(index)).unwrap_or(0);
            }
            // A value of one dword has the high half 0.
            self.sources.push(&(value.unwrap_or(0) as u32).to_le_bytes());
        }
        LaneSet(known)
    }
}
