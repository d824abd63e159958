//! A wave in umr's output: status registers by the hardware's names, SGPRs by slot, VGPRs by row.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::family::Families;
use crate::arch::save_area::RegisterBit;
use crate::arch::{Generation, Processor, RegClass, Target, WaveArch};
use crate::import::faults::Reported;
use crate::import::problem::Problems;
use crate::import::text::{Kept, Value};
use crate::units::WaveSize;

/// The value of umr's kernel interface for an unreadable word.
const UNREADABLE: u32 = 0xbebe_beef;

/// Status registers with bits that are always zero. If one reads as all ones, the GPU did not answer, and no register
/// that reads so was read.
const NEVER_ONES: [&str; 7] = ["status", "state_priv", "pc_hi", "hw_id", "hw_id1", "gpr_alloc", "lds_alloc"];

/// Number of slots that umr reads as SGPRs; the last of them are trap temporaries.
pub(super) const MAX_SGPRS: u64 = 128;

/// Maximum number of VGPR rows: twice the largest GPU's.
pub(super) const MAX_VGPRS: u64 = 1024;

/// Number of trap temporaries.
pub(super) const TTMPS: u64 = 16;

/// Waves and code words of one dump.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) kept: Kept,
    pub(super) waves: Vec<UmrWave>,
    /// Words of shaders, by VMID and address.
    pub(super) code: BTreeMap<(u64, u64), u32>,
    /// Whether umr reported that there were no waves.
    pub(super) idle: bool,
    /// Whether RADV wrote the text.
    pub(super) radv: bool,
    /// If there are no waves: the first line that belongs to no wave and is no heading, umr's reason.
    pub(super) first: Option<String>,
    pub(super) too_many: bool,
    /// The sentence about a text that ends within a list.
    pub(super) truncated: Option<String>,
    pub(super) faults: Reported,
}

/// One wave during reading.
#[derive(Debug, Default)]
pub(super) struct UmrWave {
    pub(super) line: usize,
    /// `se0.sa0.wgp1.simd0.wave2`
    pub(super) slot: String,
    /// Whether the slot has the name form of gfx10 and later.
    pub(super) has_wgp: bool,
    /// Status registers in lower case, without `ixSQ_WAVE_`.
    pub(super) words: BTreeMap<String, u32>,
    pub(super) sgprs: BTreeMap<u64, u32>,
    pub(super) ttmps: BTreeMap<u64, u32>,
    /// Words of rows that do not fit their range: used if no other row has the slot.
    pub(super) doubtful_sgprs: BTreeMap<u64, u32>,
    /// Like `doubtful_sgprs`.
    pub(super) doubtful_ttmps: BTreeMap<u64, u32>,
    /// The wave size from a field or a list of threads.
    pub(super) size: Option<WaveSize>,
    /// Whether it has fields of GPUs before gfx9 only.
    pub(super) before_gfx9: bool,
    /// The processor in names of registers: `gfx1201.regCOMPUTE_PGM_RSRC1`.
    pub(super) named: Option<Processor>,
    /// Whether its program's registers are those of a graphics stage: its trap temporaries hold no work-group.
    pub(super) graphics: bool,
    /// The generation by its words, or by those of an earlier wave.
    pub(super) generation: Option<Generation>,
    /// Whether a readable trap temporary is nonzero, and thus set up.
    pub(super) has_ttmps: bool,
    /// VGPRs by row, 64 lanes each.
    pub(super) vgprs: Vec<Row>,
    pub(super) values: Vec<Value>,
}

/// A row of VGPRs.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) lanes: Vec<u32>,
    /// Mask of the given lanes.
    pub(super) known: u64,
    pub(super) line: usize,
}

impl UmrWave {
    /// A status register by its short name, if readable.
    pub(super) fn word(&self, name: &str) -> Option<u32> {
        self.words.get(name).copied().filter(|word| self.is_read(*word))
    }

    /// Whether a word is a register's value.
    fn is_read(&self, word: u32) -> bool {
        word != UNREADABLE && (word != u32::MAX || !self.is_ones())
    }

    /// Whether the wave's registers read as all ones.
    fn is_ones(&self) -> bool {
        NEVER_ONES.iter().any(|name| self.words.get(*name) == Some(&u32::MAX))
    }

    /// Two status registers, if both are readable.
    fn pair(&self, low: &str, high: &str) -> Option<(u32, u32)> {
        Some((self.word(low)?, self.word(high)?))
    }

    /// A bit of a status register.
    fn bit(&self, bit: &RegisterBit) -> Option<bool> {
        Some(self.word(&bit.register)? >> (bit.bit & 31) & 1 == 1)
    }

    /// The wave size: as printed, else by its bit, else by lanes that only wave64 has.
    fn wave_size(&self, target: &Target, problems: &mut Problems) -> WaveSize {
        if let [only] = target.wave_sizes.as_slice() {
            return *only;
        }
        let wave64 = target.wave_words.as_ref().and_then(|words| words.wave64.as_ref());
        let bit = wave64.and_then(|bit| self.bit(bit));
        let said = self.size.or(bit.map(|bit| if bit { WaveSize::W64 } else { WaveSize::W32 }));
        if let Some(size) = said {
            return size;
        }
        let upper = |row: &Row| row.lanes.iter().skip(32).any(|lane| *lane != 0);
        let wide = self.word("exec_hi").is_some_and(|exec| exec != 0) || self.vgprs.iter().any(upper);
        let size = if wide { WaveSize::W64 } else { WaveSize::W32 };
        let what = format_args!("no register holds the wave's size; it is read as {size}");
        let word =
            wave64.map_or_else(|| "a register with the size".to_owned(), |bit| bit.register.to_uppercase());
        problems.line(self.line, what, word);
        size
    }

    /// Number of allocated SGPRs, if the target counts them and the trap handler's own are excluded.
    pub(super) fn sgpr_count(&self, target: &Target) -> Option<u16> {
        let words = target.wave_words.as_ref()?;
        let sgprs = words.sgprs.as_ref()?;
        if let Some(handler) = &words.trap_handler
            && self.bit(handler)?
        {
            return None;
        }
        let count = sgprs.count.of(self.word(&sgprs.register)?, WaveSize::W64);
        u16::try_from(count).ok().filter(|count| *count <= target.sgpr_count)
    }

    /// Converts the contents to register values.
    pub(super) fn finish(&mut self, families: &mut Families<'_>, kept: &mut Kept, problems: &mut Problems) {
        for (sure, doubtful) in
            [(&mut self.sgprs, &mut self.doubtful_sgprs), (&mut self.ttmps, &mut self.doubtful_ttmps)]
        {
            for (slot, word) in std::mem::take(doubtful) {
                sure.entry(slot).or_insert(word);
            }
        }
        if self.is_ones() {
            let what = "registers of the wave read as all ones and are not captured";
            problems.line(self.line, what, "a GPU that answers: it may be hung or powered down");
        }
        let Some(target) = families.like(self) else { return };
        let size = self.wave_size(&target, problems);
        self.size = Some(size);
        let Ok(kind) = families.targets.kind(&target.name, size) else { return };
        if let Some((low, high)) = self.pair("pc_lo", "pc_hi") {
            self.scalar(kept, "pc", &[Some(low), Some(high)]);
        }
        let exec = [self.word("exec_lo"), self.word("exec_hi")];
        self.scalar(kept, "exec", exec.get(..if size == WaveSize::W32 { 1 } else { 2 }).unwrap_or_default());
        // Complete words of any GPU; the target determines those of the wave.
        let system =
            kind.registers().iter().filter(|one| matches!(one.class, RegClass::General | RegClass::System));
        for register in system.filter(|register| register.dwords == 1) {
            self.scalar(kept, &register.name, &[self.word(&register.name)]);
        }
        self.scalars(kept, &kind);
        let ttmps = std::mem::take(&mut self.ttmps);
        self.has_ttmps = ttmps.values().any(|word| *word != 0 && self.is_read(*word));
        for (number, word) in ttmps {
            let name = format!("ttmp{number}");
            // The others belong to the trap handler: no target shows them.
            if kind.named(&name).is_some() {
                self.scalar(kept, &name, &[Some(word)]);
            }
        }
        for row in std::mem::take(&mut self.vgprs) {
            let lanes = row.lanes.get(..row.lanes.len().min(usize::from(size.lanes()))).unwrap_or_default();
            let readable =
                |known: u64, (lane, word): (usize, &u32)| known | u64::from(self.is_read(*word)) << lane;
            let known = lanes.iter().enumerate().fold(0, readable) & row.known;
            let name = format!("v{}", row.number);
            self.values.extend(kept.value(name.as_bytes(), true, lanes, known, row.line));
        }
        self.values.shrink_to_fit();
    }

    /// SGPRs, and the registers in the last of them.
    fn scalars(&mut self, kept: &mut Kept, kind: &Arc<WaveArch>) {
        let slots = std::mem::take(&mut self.sgprs);
        for (slot, word) in &slots {
            let name = format!("s{slot}");
            if kind.named(&name).is_some() {
                self.scalar(kept, &name, &[Some(*word)]);
            }
        }
        let target = &kind.target;
        let counted = target.wave_words.as_ref().is_some_and(|words| words.sgprs.is_some());
        let count = if counted { self.sgpr_count(target) } else { Some(target.sgpr_count) };
        let Some(count) = count else { return };
        for register in kind.registers() {
            let Some(first) = register.alias.and_then(|alias| alias.first(target.sgpr_alias_limit, count))
            else {
                continue;
            };
            let words: Vec<Option<u32>> = (first..)
                .take(usize::from(register.dwords))
                .map(|slot| slots.get(&u64::from(slot)).copied())
                .collect();
            self.scalar(kept, &register.name, &words);
        }
    }

    fn scalar(&mut self, kept: &mut Kept, name: &str, words: &[Option<u32>]) {
        let readable = words.iter().map(|word| word.filter(|word| self.is_read(*word)));
        let known =
            readable.clone().enumerate().fold(0, |known, (at, word)| known | u64::from(word.is_some()) << at);
        if known == 0 {
            return;
        }
        let words: Vec<u32> = readable.map(|word| word.unwrap_or(0)).collect();
        self.values.extend(kept.value(name.as_bytes(), false, &words, known, self.line));
    }
}
