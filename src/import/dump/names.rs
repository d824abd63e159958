//! Maps register names to registers, cheaply if 10,000 waves have the same ones.

use std::collections::HashMap;

use super::registers::{KindIndex, WaveKind};
use crate::arch::{RangeError, RegId};

/// Cache of names and ranges: checking `v0-v255` visits each register, and 10,000 waves may have it.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: HashMap<KindIndex, HashMap<Box<str>, (RegId, u16)>>,
    /// The last waves' names, in their order: the next wave most likely has the same, which needs no hashing.
    recent: Vec<(KindIndex, Box<str>, (RegId, u16))>,
    /// How many names of the present wave have been looked up.
    at: usize,
}

impl Names {
    /// The most names that are remembered by their order.
    const MAX_RECENT: usize = 256;

    /// Names are looked up from the first one again.
    pub(super) fn next_wave(&mut self) {
        self.at = 0;
    }

    /// The registers of that name or range.
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
