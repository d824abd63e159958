//! A wave as umr shows it: status registers by the hardware's names, SGPRs by slot, VGPRs by row.

use std::collections::BTreeMap;

use crate::import::problem::Problems;
use crate::import::text::{Kept, Value};
use crate::units::WaveSize;

/// What umr's kernel interface gives for what it could not read.
const UNREADABLE: u32 = 0xbebe_beef;

/// Slots that umr reads as SGPRs; from 108 on they are trap temporaries.
pub(super) const MOST_SGPRS: u64 = 128;

/// The most rows of VGPRs: twice what the largest GPU has.
pub(super) const MOST_VGPRS: u64 = 1024;

/// Trap temporaries.
pub(super) const TTMPS: u64 = 16;

/// The slots of vcc on GPUs that have 106 SGPRs of their own (gfx10 and later).
const VCC: u64 = 106;

/// Waves and code words of one dump.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) kept: Kept,
    pub(super) waves: Vec<UmrWave>,
    /// Words of shaders: by VMID and address.
    pub(super) code: BTreeMap<(u64, u64), u32>,
    /// The processor that names of registers of it have: `gfx1201.regCOMPUTE_PGM_RSRC1`.
    pub(super) named: Option<crate::arch::Processor>,
    /// umr said that there were no waves.
    pub(super) idle: bool,
    pub(super) too_many: bool,
}

/// One wave while it is read.
#[derive(Debug, Default)]
pub(super) struct UmrWave {
    pub(super) line: usize,
    /// `se0.sa0.wgp1.simd0.wave2`
    pub(super) slot: String,
    /// Whether the slot is named as gfx10 and later have it.
    pub(super) has_wgp: bool,
    /// Status registers in small letters, without `ixSQ_WAVE_`.
    pub(super) words: BTreeMap<String, u32>,
    pub(super) sgprs: BTreeMap<u64, u32>,
    pub(super) ttmps: BTreeMap<u64, u32>,
    /// The wave size, where a field or a list of threads says it.
    pub(super) size: Option<WaveSize>,
    /// Fields that only GPUs before gfx9 have.
    pub(super) before_gfx9: bool,
    /// VGPRs, by row, 64 lanes each.
    pub(super) vgprs: Vec<Row>,
    pub(super) values: Vec<Value>,
}

/// A row of VGPRs.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) lanes: Vec<u32>,
    pub(super) line: usize,
}

impl UmrWave {
    /// A status register by its short name, if it was readable.
    pub(super) fn word(&self, name: &str) -> Option<u32> {
        self.words.get(name).copied().filter(|word| *word != UNREADABLE)
    }

    /// Two of them as one number.
    fn pair(&self, low: &str, high: &str) -> Option<(u32, u32)> {
        Some((self.word(low)?, self.word(high)?))
    }

    /// The wave size: said, or by the bit for it, or by lanes that only wave64 has.
    pub(super) fn wave_size(&self, problems: &mut Problems) -> WaveSize {
        if !self.has_wgp {
            return WaveSize::W64;
        }
        // gfx10 and gfx11: IB_STS2, bit 11; gfx12: STATUS, bit 29. gfx12 is known by STATE_PRIV.
        let bit = match self.words.contains_key("state_priv") {
            true => self.word("status").map(|status| status >> 29 & 1),
            false => self.word("ib_sts2").map(|status| status >> 11 & 1),
        };
        let said = self.size.or(bit.map(|bit| if bit == 1 { WaveSize::W64 } else { WaveSize::W32 }));
        if let Some(size) = said {
            return size;
        }
        let upper = |row: &Row| row.lanes.iter().skip(32).any(|lane| *lane != 0);
        let wide = self.word("exec_hi").is_some_and(|exec| exec != 0) || self.vgprs.iter().any(upper);
        let size = if wide { WaveSize::W64 } else { WaveSize::W32 };
        let what = format_args!("no register says the wave's size: it is read as {size}");
        problems.line(self.line, what, "IB_STS2, or STATUS on gfx12");
        size
    }

    /// Allocated SGPRs of a gfx9 wave, where the trap handler's own are not among them.
    pub(super) fn sgpr_count(&self) -> Option<u16> {
        let (alloc, status) = self.pair("gpr_alloc", "status")?;
        // GPR_ALLOC.SGPR_SIZE counts sixteens less one; with STATUS.TRAP_EN the handler's 16 may be among them.
        (!self.has_wgp && status >> 6 & 1 == 0).then_some(((alloc >> 24 & 0xf) as u16 + 1) * 16)
    }

    /// Turns what was read into values of registers.
    pub(super) fn finish(&mut self, kept: &mut Kept, problems: &mut Problems) {
        let size = self.wave_size(problems);
        self.size = Some(size);
        if let Some((low, high)) = self.pair("pc_lo", "pc_hi") {
            self.scalar(kept, "pc", &[Some(low), Some(high)]);
        }
        let exec = [self.word("exec_lo"), self.word("exec_hi")];
        self.scalar(kept, "exec", exec.get(..if size == WaveSize::W32 { 1 } else { 2 }).unwrap_or_default());
        const SYSTEM: &[&str] = &[
            "status",
            "m0",
            "mode",
            "trapsts",
            "state_priv",
            "excp_flag_priv",
            "excp_flag_user",
            "trap_ctrl",
        ];
        for name in SYSTEM {
            self.scalar(kept, name, &[self.word(name)]);
        }
        self.scalars(kept, size);
        for (number, word) in std::mem::take(&mut self.ttmps) {
            // The others are the trap handler's own: no target shows them.
            if matches!(number, 4..=11 | 13) {
                self.scalar(kept, &format!("ttmp{number}"), &[Some(word)]);
            }
        }
        for row in std::mem::take(&mut self.vgprs) {
            let lanes = row.lanes.get(..row.lanes.len().min(usize::from(size.lanes()))).unwrap_or_default();
            let readable =
                |known: u64, (lane, word): (usize, &u32)| known | u64::from(*word != UNREADABLE) << lane;
            let known = lanes.iter().enumerate().fold(0, readable);
            let name = format!("v{}", row.number);
            self.values.extend(kept.value(name.as_bytes(), true, lanes, known, row.line));
        }
        self.values.shrink_to_fit();
    }

    /// SGPRs and what lies in the last of them.
    fn scalars(&mut self, kept: &mut Kept, size: WaveSize) {
        let slots = std::mem::take(&mut self.sgprs);
        let at = |slot: u64| slots.get(&slot).copied();
        let own = if self.has_wgp { VCC } else { 102 };
        for (slot, word) in slots.range(..own) {
            self.scalar(kept, &format!("s{slot}"), &[Some(*word)]);
        }
        // gfx10 and later have vcc in two slots of its own; gfx9 in the last that are allocated, and shows the others there too.
        let (vcc, scratch) = match (self.has_wgp, self.sgpr_count()) {
            (true, _) => (Some(VCC), None),
            (false, Some(count)) => {
                let end = u64::from(count).min(108);
                (end.checked_sub(2), end.checked_sub(6))
            }
            (false, None) => (None, None),
        };
        let two = |slot: u64| [at(slot), at(slot + 1)];
        if let Some(vcc) = vcc {
            let words = two(vcc);
            self.scalar(
                kept,
                "vcc",
                words.get(..if size == WaveSize::W32 { 1 } else { 2 }).unwrap_or_default(),
            );
        }
        if let Some(scratch) = scratch {
            self.scalar(kept, "flat_scratch", &two(scratch));
        }
    }

    fn scalar(&mut self, kept: &mut Kept, name: &str, words: &[Option<u32>]) {
        let readable = words.iter().map(|word| word.filter(|word| *word != UNREADABLE));
        let known =
            readable.clone().enumerate().fold(0, |known, (at, word)| known | u64::from(word.is_some()) << at);
        if known == 0 {
            return;
        }
        let words: Vec<u32> = readable.map(|word| word.unwrap_or(0)).collect();
        self.values.extend(kept.value(name.as_bytes(), false, &words, known, self.line));
    }
}
