//! The waves of one XCC: the reading of its save area that header and control stack confirm, else the undamaged part.

use std::sync::Arc;

use super::agents::Known;
use super::area::{Area, Header, MAX_STACK};
use super::block::{Block, BlockReader, fitting};
use super::doubt::Doubt;
use super::note::QueueEntry;
use super::queues::{MAX_WAVES, WaveReader, XccWaves};
use super::repair::{self, Remains};
use super::scratch::{NoScratch, Scratch};
use super::wave::{Facts, Words};
use crate::arch::Target;
use crate::arch::save_area::{SaveArea, ScratchRing};
use crate::import::problem::Problems;
use crate::units::WaveSize;

/// The save area of one XCC.
#[derive(Clone, Copy, Debug)]
pub(super) struct XccPlace<'a> {
    pub(super) address: u64,
    pub(super) xcc: u32,
    /// Index of the queue in the capture.
    pub(super) queue: usize,
    /// The queue in the note.
    pub(super) entry: &'a QueueEntry,
    /// The queue, and the XCC of several.
    pub(super) key: &'a str,
}

/// The records of one XCC in a layout, and their area.
#[derive(Clone, Copy)]
struct Stacked<'a> {
    row: &'a SaveArea,
    records: &'a [u32],
    area: &'a Area,
    /// The XCC, without blocks.
    xcc: &'a XccWaves,
}

impl Stacked<'_> {
    /// The blocks of the records, from the area's end down.
    fn down(&self) -> Vec<Block> {
        BlockReader::new(self.row, self.records, self.area.end).collect()
    }
}

/// A control stack in memory.
struct Captured {
    area: Area,
    records: Vec<u32>,
    /// The processor whose layout fits the area; `None`: none does.
    layout: Option<Arc<Target>>,
    /// Whether a word of the header is restored from the others.
    is_restored: bool,
}

/// A reading of a contradictory header.
struct Candidate {
    captured: Captured,
    /// The restored word's name.
    word: &'static str,
    blocks: Vec<Block>,
    /// Number of blocks with a plausible PC.
    sound: usize,
}

/// Reads the save area of one XCC.
pub(super) struct XccReader<'x, 'a> {
    pub(super) reader: &'x mut WaveReader<'a>,
    /// The GPU.
    pub(super) known: &'x mut Known,
    pub(super) place: XccPlace<'x>,
    pub(super) problems: &'x mut Problems,
}

impl XccReader<'_, '_> {
    /// The XCC's waves, and the place of their private memory; `None`: unreadable, which is reported.
    pub(super) fn read(mut self, header: Option<Header>) -> Option<XccWaves> {
        let Some(header) = header else {
            let what = format!("its save area at {:#x} was not captured: no waves", self.place.address);
            self.report_absent(what, self.reader.memory.or_host("a segment with the area's header"));
            return None;
        };
        let captured = match header.area() {
            Some(area) => self.captured(area)?,
            None => self.contradicted(&header)?,
        };
        let mut xcc = self.blocks(captured)?;
        self.settle_scratch(&mut xcc);
        Some(xcc)
    }

    /// Reports a problem of this XCC.
    fn report(&mut self, what: impl std::fmt::Display, expected: impl std::fmt::Display) {
        self.problems.report(self.place.key, what, expected);
    }

    /// Reports a problem of this XCC that leaves waves out.
    fn report_absent(&mut self, what: impl std::fmt::Display, expected: impl std::fmt::Display) {
        self.report(what, expected);
        self.problems.hides_waves();
    }

    /// The XCC with the blocks of a control stack. Subtracts them from the remaining number of waves.
    fn blocks(&mut self, captured: Captured) -> Option<XccWaves> {
        let Captured { area, records, layout, is_restored } = captured;
        let own = Arc::clone(&self.known.target);
        // A damaged record may fit another layout by chance.
        let layout = layout.filter(|layout| {
            let Some(xcc) = self.empty(layout) else { return false };
            layout.name == own.name || self.reader.looks_sound_in(layout, &area, &records, &xcc)
        });
        let reading = layout.as_ref().unwrap_or(&own);
        if reading.name != own.name {
            let what = format!(
                "its control stack is not laid out as on {}; that of {} fits",
                own.name, reading.name
            );
            self.report(what, "the processor's own layout");
        }
        let Some(row) = reading.save_area.as_ref() else {
            let what = format!("{} has no [save_area]: its waves cannot be read", reading.name);
            self.report_absent(what, "a target file with a [save_area]");
            return None;
        };
        let mut xcc = self.empty(reading)?;
        let is_cut = area.is_cut(&records);
        let stacked = Stacked { row, records: &records, area: &area, xcc: &xcc };
        let mut kept = match layout {
            Some(_) => self.closed(stacked),
            None if is_cut => self.cut(stacked),
            None => self.open(stacked),
        };
        if reading.name != own.name {
            kept.iter_mut().for_each(|block| block.doubt = Some(Doubt::Layout));
        }
        if is_restored {
            for block in kept.iter_mut().filter(|block| !self.reader.looks_sound(block, &xcc)) {
                block.doubt = Some(Doubt::Header);
            }
        }
        let (all, left) = (kept.len(), self.reader.waves_left);
        if all > left {
            self.report_absent(
                format!("{all} waves, of which {left} are taken"),
                format!("at most {MAX_WAVES}"),
            );
            kept.truncate(left);
        }
        self.reader.waves_left -= kept.len();
        xcc.area = (self.place.address, area.end);
        xcc.blocks = kept;
        Some(xcc)
    }

    /// The XCC in a layout, without its waves.
    fn empty(&mut self, reading: &Arc<Target>) -> Option<XccWaves> {
        let row = reading.save_area.as_ref()?;
        let scratch = self.scratch(&row.scratch, self.known.engines);
        let target = Arc::clone(&self.known.target);
        Some(XccWaves {
            agent: self.known.index,
            always: self.known.always,
            queue: self.place.queue,
            row32: self.reader.row(&target, reading, WaveSize::W32),
            row64: self.reader.row(&target, reading, WaveSize::W64),
            target,
            scratch,
            area: (self.place.address, self.place.address),
            blocks: Vec::new(),
        })
    }

    /// The queue's backing memory for the XCC with that number of shader engines.
    pub(super) fn scratch(&self, ring: &ScratchRing, engines: u32) -> Result<Option<Scratch>, NoScratch> {
        let XccPlace { entry, xcc, .. } = self.place;
        Scratch::read(self.reader.memory, entry.read_pointer, ring, engines, xcc, self.reader.r_version)
    }

    /// The control stack of an area whose header is consistent; `None`: it is too large, or empty.
    fn captured(&mut self, area: Area) -> Option<Captured> {
        let left = self.reader.stacks_left;
        if area.stack_size > MAX_STACK || u64::from(area.stack_size) > left {
            let what = format!("a control stack of {} bytes, left out", area.stack_size);
            self.report_absent(what, format!("at most {}", u64::from(MAX_STACK).min(left)));
            return None;
        }
        if area.stack_size == 0 {
            let what = "its save area has waves and no control stack: no waves";
            self.report_absent(what, "a control stack (the save area's header is damaged)");
            return None;
        }
        self.reader.stacks_left -= u64::from(area.stack_size);
        let records = area.records(self.reader.memory);
        if area.is_cut(&records) {
            let what = format!(
                "{} of its control stack's {} bytes were captured",
                records.len() * 4,
                area.stack_size
            );
            self.report_absent(what, "all of it: the waves that follow are left out");
            return Some(Captured { area, records, layout: None, is_restored: false });
        }
        let layout = self.layout(&records, &area);
        Some(Captured { area, records, layout, is_restored: false })
    }

    /// The processor whose layout fits an area: its own, else a sibling's.
    fn layout(&mut self, records: &[u32], area: &Area) -> Option<Arc<Target>> {
        let own = &self.known.target;
        if own.save_area.as_ref().is_some_and(|row| BlockReader::fits(row, records, area)) {
            return Some(Arc::clone(own));
        }
        fitting(self.known.siblings(self.reader.targets), records, area).cloned()
    }

    /// The reading of a contradictory header that its control stack confirms.
    fn contradicted(&mut self, header: &Header) -> Option<Captured> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut is_bounded = false;
        for (area, word) in header.repairs() {
            let Some(left) = self.reader.candidates_left.checked_sub(u64::from(area.stack_size)) else {
                is_bounded = true;
                continue;
            };
            self.reader.candidates_left = left;
            let records = area.records(self.reader.memory);
            if area.is_cut(&records) {
                continue;
            }
            let Some(layout) = self.layout(&records, &area) else { continue };
            let Some(row) = layout.save_area.as_ref() else { continue };
            let blocks: Vec<Block> = BlockReader::new(row, &records, area.end).collect();
            // Two readings that differ only in unused words are one.
            let is_new = !found.iter().any(|known| places(&known.blocks) == places(&blocks));
            if let (true, Some(xcc)) = (is_new, self.empty(&layout)) {
                let sound = blocks.iter().filter(|block| self.reader.looks_sound(block, &xcc)).count();
                let captured = Captured { area, records, layout: Some(layout), is_restored: true };
                found.push(Candidate { captured, word, blocks, sound });
            }
        }
        let most = found.iter().map(|candidate| candidate.sound).max().unwrap_or(0);
        found.retain(|candidate| candidate.sound == most && most > 0);
        let words = header.words();
        let expected = "a control stack that ends where the waves begin (the save area's header is damaged)";
        match found.pop() {
            Some(Candidate { captured, word, .. }) if found.is_empty() => {
                let what = format!(
                    "its header contradicts itself: {words}; {word} is restored from the control stack"
                );
                self.report(what, expected);
                Some(captured)
            }
            last => {
                let why = match last {
                    Some(_) => "several readings of it fit",
                    None if is_bounded => "no more readings are tried, and none of those tried fits",
                    None => "no reading of it with a PC in captured memory fits",
                };
                let what =
                    format!("its header contradicts itself: {words}; {why} its control stack: no waves");
                self.report_absent(what, expected);
                None
            }
        }
    }

    /// The only reading with restored flags, which is reported with the error `what`.
    fn restored(&mut self, mut readings: Vec<Vec<Block>>, what: &str, expected: &str) -> Option<Vec<Block>> {
        let found = readings.pop().filter(|_| readings.is_empty())?;
        self.report(format!("{what}: flags of a wave are restored from its neighbours"), expected);
        Some(found)
    }

    /// The waves of a control stack that fills its area.
    fn closed(&mut self, of: Stacked<'_>) -> Vec<Block> {
        let Stacked { row, records, area, xcc } = of;
        let mut blocks = of.down();
        let breaks = repair::breaks(row, &blocks);
        let Some(first) = breaks.first() else { return blocks };
        let mut readings = repair::with_flags(row, records, area, &blocks);
        // A first flag is missing or a last flag is extra, depending on whether the waves share a work-group.
        let launch = |at: usize| self.reader.launch(blocks.get(at)?, xcc);
        if readings.len() > 1
            && let Some(before) = first.checked_sub(1)
            && let (Some(one), Some(other)) = (launch(before), launch(*first))
        {
            let is_first =
                |blocks: &Vec<Block>| blocks.get(*first).is_some_and(|block| repair::flags(row, block).0);
            readings.retain(|blocks| is_first(blocks) == (one != other));
        }
        let what =
            format!("first and last flags of its control stack contradict each other {} times", breaks.len());
        let expected = "a last flag before each first one";
        if let Some(found) = self.restored(readings, &what, expected) {
            return found;
        }
        self.report(what, expected);
        for at in breaks {
            repair::doubt_groups(row, &mut blocks, at);
        }
        blocks
    }

    /// The waves of a control stack with an uncaptured end: no iteration confirms them.
    fn cut(&mut self, of: Stacked<'_>) -> Vec<Block> {
        let Stacked { area, xcc, .. } = of;
        let mut blocks = of.down();
        let (all, inside) = (blocks.len(), blocks.partition_point(|block| block.bottom >= area.begin));
        if inside < all {
            let what = format!(
                "{} of {all} waves of its control stack lie below {:#x}, where its waves begin; left out",
                all - inside,
                area.begin
            );
            self.report_absent(what, "waves within the save area");
            blocks.truncate(inside);
        }
        let sound = blocks.iter().take_while(|block| self.reader.looks_sound(block, xcc)).count();
        for block in blocks.iter_mut().skip(sound.saturating_sub(1)) {
            block.doubt = Some(Doubt::Cut);
        }
        blocks
    }

    /// The waves of a control stack that does not fill its area.
    fn open(&mut self, of: Stacked<'_>) -> Vec<Block> {
        let Stacked { row, records, area, xcc } = of;
        let filled = format!(
            "its control stack does not fill its waves' area from {:#x} down to {:#x}",
            area.end, area.begin
        );
        let readings = repair::with_flags(row, records, area, &of.down());
        let expected = "a walk that ends where the area begins (a record is damaged)";
        if let Some(blocks) = self.restored(readings, &filled, expected) {
            return blocks;
        }
        let Remains { blocks, listed } =
            repair::remains(row, records, area, |block| self.reader.looks_sound(block, xcc));
        let doubtful = blocks.iter().filter(|block| block.doubt.is_some()).count();
        // A damaged record may hide a wave, or resemble one.
        let what = format!(
            "{filled}: {} waves are kept, {doubtful} of them unconfirmed; the damaged control stack lists {listed} waves",
            blocks.len(),
        );
        let expected = "a walk that ends where the area begins (a record is damaged); the waves at the ends of the area \
                        whose PC is in captured memory";
        self.report_absent(what, expected);
        blocks
    }
}

impl WaveReader<'_> {
    /// Whether most blocks of a layout have a plausible PC.
    fn looks_sound_in(&self, layout: &Target, area: &Area, records: &[u32], xcc: &XccWaves) -> bool {
        let Some(row) = &layout.save_area else { return false };
        let (mut sound, mut all) = (0, 0);
        for block in BlockReader::new(row, records, area.end) {
            all += 1;
            sound += usize::from(self.looks_sound(&block, xcc));
        }
        2 * sound > all
    }

    /// Whether a block has a plausible PC: the address of an instruction in captured memory.
    fn looks_sound(&self, block: &Block, xcc: &XccWaves) -> bool {
        let facts = self.facts_of(block, xcc);
        let pc = facts.and_then(|facts| facts.pc);
        pc.is_some_and(|pc| pc % 4 == 0 && self.memory.segment(pc).is_some())
    }

    /// Work-group and packet in the trap temporaries of a block.
    fn launch(&self, block: &Block, xcc: &XccWaves) -> Option<([u32; 3], u32)> {
        let launch = self.facts_of(block, xcc)?.launch?;
        Some((launch.group, launch.packet))
    }

    /// The facts of a block's words; `None`: its processor has no waves of that size.
    fn facts_of(&self, block: &Block, xcc: &XccWaves) -> Option<Facts> {
        let row = xcc.row(block.counts.size).and_then(|index| self.rows.get(index))?;
        Some(self.facts(row, &Words::read(self.memory, block), xcc))
    }
}

/// The parts of a reading that determine its waves.
fn places(blocks: &[Block]) -> Vec<(u64, u64, u32)> {
    blocks.iter().map(|block| (block.top, block.bottom, block.word)).collect()
}
