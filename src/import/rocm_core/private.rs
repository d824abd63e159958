//! Private memory by the registers of waves, if neither note nor queue places it.
//!
//! By architecture, FLAT_SCRATCH (gfx12: SCRATCH_BASE) of gfx94x, gfx950, gfx11 and gfx12 holds the address of a wave's
//! private memory. It replaces facts that ROCr's cores lack: the count of shader engines, and the place of private
//! memory without `amd_queue_t` (lightweight cores before rocm-systems #7408, and GPU cores without the host's).

use super::agents::Known;
use super::block::Block;
use super::build::{Private, SavedWave};
use super::queues::{WaveReader, XccWaves};
use super::reading::XccReader;
use super::scratch::{Inferred, NoScratch, Scratch};
use super::wave::{Row, Words};
use crate::arch::save_area::ScratchRing;

/// Maximum number of an XCC's waves whose registers are read.
const MAX_ASKED: usize = 4096;

/// Maximum number of segments of a wave's private memory.
const MAX_SEGMENTS: usize = 4096;

/// Address of a wave's private memory in its register, and its record in the control stack.
#[derive(Clone, Copy, Debug)]
struct Base {
    engine: u32,
    slot: u32,
    /// SCRATCH_EN.
    is_allotted: bool,
    base: u64,
}

impl XccReader<'_, '_> {
    /// Corrects the place of an XCC's private memory by its waves' registers.
    pub(super) fn settle_scratch(&mut self, waves: &mut XccWaves) {
        let reader = &*self.reader;
        let row = waves.row64.or(waves.row32).and_then(|index| reader.rows.get(index));
        let Some(ring) = row.and_then(|row| Some(row.area()?.scratch.clone())) else { return };
        if ring.base.is_none() {
            return;
        }
        let Known { engines, xccs, gpu_id, .. } = *self.known;
        if matches!(waves.scratch, Err(NoScratch::NoQueue)) {
            if let Some(scratch) = reader.inferred(&ring, reader.bases(waves)) {
                let what = format!(
                    "the queue's amd_queue_t was not captured: private memory is inferred from {} of its waves, {} {} bytes each",
                    ring.base.as_deref().unwrap_or_default(),
                    if scratch.inferred == Some(Inferred::Exact) { "with" } else { "with at most" },
                    scratch.wave_size
                );
                let expected = reader.memory.or_host("memory that holds amd_queue_t");
                self.problems.report(self.place.key, what, expected);
                waves.scratch = Ok(Some(scratch));
            }
        } else if xccs > 1 && engines > 0 && engines.is_multiple_of(xccs) {
            let per_xcc = engines / xccs;
            let other = self.scratch(&ring, per_xcc);
            let fits = |scratch: &Result<Option<Scratch>, NoScratch>, base: &Base| matches!(scratch, Ok(Some(scratch)) if scratch.of(base.engine, base.slot) == Ok(base.base));
            let bases = reader.bases(waves);
            let count = |scratch| bases.iter().filter(|base| fits(scratch, base)).count();
            let (stated, found) = (count(&waves.scratch), count(&other));
            if found > stated {
                let what = format!(
                    "array_count gives {engines} shader engines of each XCC; private memory of {found} waves is where {per_xcc} \
                     engines place it, which count"
                );
                let expected =
                    "the shader arrays of one XCC (ROCr of June and July 2026 writes those of all)";
                self.problems.report(format_args!("agent {gpu_id}"), what, expected);
                self.known.engines = per_xcc;
                waves.scratch = other;
            }
        }
    }
}

impl WaveReader<'_> {
    /// A wave's private memory by its register alone.
    pub(super) fn private_by_register(
        &self,
        wave: &SavedWave<'_>,
        row: &Row,
        scratch: &Scratch,
    ) -> Result<Private, NoScratch> {
        let area = row.area().ok_or(NoScratch::NoQueue)?;
        match row.scratch_base(wave.words, &wave.block.counts) {
            Some(Some(base)) if wave.is_allotted() && self.memory.segment(base).is_some() => {
                let register = area.scratch.base.as_deref().unwrap_or_default();
                let note = match scratch.inferred {
                    Some(Inferred::AtMost) => format!("inferred from {register}, with at most this size"),
                    _ => format!("inferred from {register}"),
                };
                Ok(Private { base, size: scratch.wave_size, confirmed: Some(true), note: Some(note) })
            }
            Some(None) => Err(NoScratch::NoBase),
            _ => Err(NoScratch::NoQueue),
        }
    }

    /// The captured bases of an XCC's waves.
    fn bases(&self, xcc: &XccWaves) -> Vec<Base> {
        let asked: Vec<&Block> = xcc.blocks.iter().take(MAX_ASKED).collect();
        let base = |(block, words): (&&Block, Words)| {
            let row = xcc.row(block.counts.size).and_then(|index| self.rows.get(index))?;
            let word = row.area()?.wave;
            Some(Base {
                engine: word.engine.of(block.word),
                slot: word.scoreboard.of(block.word),
                is_allotted: word.scratch.of(block.word) != 0,
                base: row.scratch_base(&words, &block.counts)??,
            })
        };
        asked.iter().zip(Words::read_all(self.memory, &asked)).filter_map(base).collect()
    }

    /// Private memory by the bases; `None`: no base, or contradictory ones.
    fn inferred(&self, ring: &ScratchRing, mut bases: Vec<Base>) -> Option<Scratch> {
        let granule = u64::from(ring.granule.max(1));
        let last = |base: &Base| self.memory.segment(base.base).map(|(_, last)| last);
        bases.retain(|base| base.is_allotted && base.base.is_multiple_of(granule) && last(base).is_some());
        bases.sort_by_key(|base| (base.engine, base.slot));
        // Waves of one engine are as far apart as their slots.
        let mut stride = None;
        for (one, other) in
            bases.iter().zip(bases.iter().skip(1)).filter(|(one, other)| one.engine == other.engine)
        {
            let slots = u64::from(other.slot - one.slot);
            let bytes = other.base.checked_sub(one.base)?;
            let size = bytes
                .checked_div(slots)
                .filter(|size| size * slots == bytes && size.is_multiple_of(granule))?;
            if size == 0 || *stride.get_or_insert(size) != size {
                return None;
            }
        }
        bases.sort_by_key(|base| base.base);
        // At most up to the next wave's, or the end of captured memory.
        let ends = bases.iter().skip(1).map(|next| Some(next.base)).chain([None]);
        let most = u64::from(ring.size.of(u32::MAX)) * granule;
        let spaces = bases.iter().zip(ends).map(|(base, next)| {
            let space = next.map_or(most, |next| next - base.base).min(most);
            self.captured_bytes(base.base, space)
        });
        let size = stride.or_else(|| spaces.min())?.min(most) / granule * granule;
        let inferred = if stride.is_some() { Inferred::Exact } else { Inferred::AtMost };
        (size > 0).then(|| Scratch::of_registers(size, inferred))
    }

    /// Number of bytes from an address on that are captured without a gap, at most `most`.
    fn captured_bytes(&self, address: u64, most: u64) -> u64 {
        let mut size = 0;
        for _ in 0..MAX_SEGMENTS {
            let segment = address.checked_add(size).and_then(|at| Some((at, self.memory.segment(at)?.1)));
            let Some((at, last)) = segment.filter(|_| size < most) else { break };
            size = size.saturating_add(last - at).saturating_add(1);
        }
        size.min(most)
    }
}
