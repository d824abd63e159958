//! Maps register names to registers, at low cost for 10,000 waves with the same names.

use std::collections::HashMap;

use super::registers::{KindIndex, WaveKind};
use crate::arch::{RangeError, RegId};

/// Cache of names and ranges: a check of `v0-v255` visits each register, and 10,000 waves may have it.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: HashMap<KindIndex, HashMap<Box<str>, (RegId, u16)>>,
    /// Names of the last waves, in order: the next wave probably has the same, which saves hashing.
    recent: Vec<(KindIndex, Box<str>, (RegId, u16))>,
    /// Number of names of the present wave so far.
    at: usize,
}

impl Names {
    /// Maximum number of names in that order.
    const MAX_RECENT: usize = 256;

    /// Restarts the order at the first name.
    pub(super) fn next_wave(&mut self) {
        self.at = 0;
    }

    /// The registers of a name or range.
    pub(super) fn find(&mut self, wave: WaveKind<'_>, name: &str) -> Result<(RegId, u16), RangeError> {
        let at = self.at;
        self.at = at.saturating_add(1);
        if let Some((kind, known, range)) = self.recent.get(at)
            && *kind == wave.index
            && **known == *name
        {
            return Ok(*range);
        }
        let known = self.known.entry(wave.index).or_default();
        let range = match known.get(name) {
            Some(range) => *range,
            None => {
                let range = wave.kind.range(name)?;
                known.insert(name.into(), range);
                range
            }
        };
        let entry = (wave.index, name.into(), range);
        if let Some(recent) = self.recent.get_mut(at) {
            *recent = entry;
        } else if at == self.recent.len() && at < Self::MAX_RECENT {
            self.recent.push(entry);
        }
        Ok(range)
    }
}
