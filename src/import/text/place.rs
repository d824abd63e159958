//! Converts values of a text to blocks of registers, once the kind of their wave is known.

use std::collections::HashMap;
use std::sync::Arc;

use super::Kept;
use super::values::Value;
use crate::arch::{RegId, Register, WaveArch};
use crate::capture::{BackingId, RegisterBlock, Registers};
use crate::import::problem::Problems;
use crate::units::{LaneSet, WaveSize};

/// The wave sizes that the widths of a wave's values permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::import) struct Sizes {
    /// Number of lanes of the widest vector.
    pub(in crate::import) lanes: u8,
    /// Number of dwords of the execution mask.
    pub(in crate::import) exec: u8,
}

impl Sizes {
    /// The sizes by the values of one wave.
    pub(in crate::import) fn of(kept: &Kept, values: &[Value]) -> Self {
        let mut sizes = Self::default();
        for value in values {
            if value.vector {
                sizes.lanes = sizes.lanes.max(value.dwords);
            } else if kept.text(value.name) == "exec" {
                sizes.exec = value.dwords;
            }
        }
        sizes
    }

    /// The wave's size, and whether lanes and mask contradict each other; lanes have precedence.
    pub(in crate::import) fn wave_size(self) -> (Option<WaveSize>, bool) {
        let exec = match self.exec {
            0 => None,
            1 => Some(WaveSize::W32),
            _ => Some(WaveSize::W64),
        };
        if self.lanes > 32 {
            return (Some(WaveSize::W64), exec == Some(WaveSize::W32));
        }
        // A row may be truncated before its 33rd lane; the mask has all its digits or none.
        let lanes = (self.lanes == 32).then_some(WaveSize::W32);
        (exec.or(lanes), false)
    }
}

/// Places values; caches the register of each name and kind.
#[derive(Debug)]
pub(in crate::import) struct Placer {
    arena: BackingId,
    known: HashMap<(*const WaveArch, usize), Option<RegId>>,
    /// Keeps the kinds alive, which are cached by address.
    kinds: Vec<Arc<WaveArch>>,
    /// For each register in the kind's order, the last wave that had it; detects repeats.
    seen: Vec<u32>,
    wave: u32,
}

impl Placer {
    /// Creates a placer for values in that backing.
    pub(in crate::import) fn new(arena: BackingId) -> Self {
        Self { arena, known: HashMap::new(), kinds: Vec::new(), seen: Vec::new(), wave: 0 }
    }

    /// The registers of one wave; of two values of a register the first applies.
    pub(in crate::import) fn place(
        &mut self,
        problems: &mut Problems,
        kept: &Kept,
        kind: &Arc<WaveArch>,
        values: &[Value],
    ) -> Registers {
        if !self.kinds.iter().any(|known| Arc::ptr_eq(known, kind)) {
            self.kinds.push(Arc::clone(kind));
        }
        self.wave += 1;
        self.seen.resize(kind.registers().len().max(self.seen.len()), 0);
        let mut own: Vec<(BackingId, RegisterBlock)> = Vec::new();
        for value in values {
            let Some(register) = self.register(problems, kept, kind, value) else { continue };
            let Some(known) = fits(problems, kept, register, value) else { continue };
            let seen = self.seen.get_mut(usize::from(register.id.0));
            if seen.is_some_and(|seen| std::mem::replace(seen, self.wave) == self.wave) {
                let what = format_args!("{} is given a second time, which is ignored", register.name);
                problems.line(value.line, what, "each register once in a wave");
                continue;
            }
            let Ok(width) = u16::try_from(register.bytes()) else { continue };
            let offset = u64::from(value.offset);
            if let Some((_, last)) = own.last_mut()
                && last.first.0.checked_add(last.count) == Some(register.id.0)
                && (last.width, last.known) == (width, known)
                && last.offset + u64::from(last.count) * u64::from(width) == offset
            {
                last.count += 1;
                continue;
            }
            own.push((self.arena, RegisterBlock { first: register.id, count: 1, width, offset, known }));
        }
        own.shrink_to_fit();
        Registers { layout: None, image: None, own }
    }

    fn register<'k>(
        &mut self,
        problems: &mut Problems,
        kept: &Kept,
        kind: &'k Arc<WaveArch>,
        value: &Value,
    ) -> Option<&'k Register> {
        debug_assert!(value.name.index() < kept.names());
        let key = (Arc::as_ptr(kind), value.name.index());
        let id = *self.known.entry(key).or_insert_with(|| {
            let name = kept.text(value.name);
            let found = kind.named(name).map(|register| register.id);
            if found.is_none() {
                let (target, size) = (&kind.target.name, kind.wave_size);
                let what = format_args!("{name} is no register of {target} ({size}); ignored in all waves");
                problems.line(value.line, what, "a register of the GPU (name the GPU with --processor)");
            }
            found
        });
        kind.register(id?)
    }
}

/// The dwords of a value that belong to the register; `None`: the shapes differ.
fn fits(problems: &mut Problems, kept: &Kept, register: &Register, value: &Value) -> Option<LaneSet> {
    let name = &register.name;
    if register.is_vector() != value.vector {
        let (found, expected) = match value.vector {
            true => ("a value for each lane", "one value"),
            false => ("one value", "a value for each lane"),
        };
        problems.line(value.line, format_args!("{name} has {found}; ignored"), expected);
        return None;
    }
    let dwords = u8::try_from(register.dwords).unwrap_or(u8::MAX);
    let beyond = (dwords..value.dwords).filter(|index| kept.dword(value, *index).unwrap_or(0) != 0);
    if beyond.count() > 0 {
        let what = format_args!("{name} has {} dwords, of which the first {dwords} are taken", value.dwords);
        problems.line(value.line, what, format_args!("{dwords}"));
    }
    Some(LaneSet(value.known).and(LaneSet::lowest(dwords.into())))
}
