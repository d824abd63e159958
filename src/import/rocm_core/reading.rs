//! Which waves one XCC has: the reading of its save area that header and control stack confirm, else what is left of it.

use std::sync::Arc;

use super::agents::Known;
use super::area::{Area, Header, MOST_STACK};
use super::block::{Block, Walk, fitting};
use super::doubt::Doubt;
use super::note::QueueEntry;
use super::queues::{Lot, MOST_WAVES, Waves};
use super::repair::{self, Remains};
use super::scratch::Scratch;
use super::wave::Words;
use crate::arch::Target;
use crate::arch::save_area::SaveArea;
use crate::import::problem::Problems;
use crate::units::WaveSize;

/// The save area of one XCC.
#[derive(Clone, Copy, Debug)]
pub(super) struct XccPlace<'a> {
    pub(super) address: u64,
    pub(super) xcc: u32,
    /// Index of the queue in the capture.
    pub(super) queue: usize,
    /// The queue, and the XCC where there are several.
    pub(super) key: &'a str,
}

/// The records of one XCC in a layout, and where their waves go.
#[derive(Clone, Copy)]
struct Stacked<'a> {
    row: &'a SaveArea,
    records: &'a [u32],
    area: &'a Area,
    lot: &'a Lot,
    key: &'a str,
}

impl Stacked<'_> {
    /// The blocks from the area's end down, as the records place them.
    fn down(&self) -> Vec<Block> {
        Walk::new(self.row, self.records, self.area.end).collect()
    }

    /// The only reading with restored flags, which is reported: `what` is wrong without.
    fn restored(
        &self,
        mut readings: Vec<Vec<Block>>,
        (what, expected): (&str, &str),
        problems: &mut Problems,
    ) -> Option<Vec<Block>> {
        let found = readings.pop().filter(|_| readings.is_empty())?;
        problems.report(
            self.key,
            format!("{what}: flags of a wave are restored from its neighbours"),
            expected,
        );
        Some(found)
    }
}

/// A control stack in memory.
struct Captured {
    area: Area,
    records: Vec<u32>,
    /// The processor whose layout closes the area; `None`: none does.
    layout: Option<Arc<Target>>,
    /// A word of the header is not as it was captured.
    is_restored: bool,
}

impl Waves<'_> {
    /// The waves of one XCC; takes them off the room for waves.
    pub(super) fn lot(
        &mut self,
        header: Option<Header>,
        place: XccPlace<'_>,
        entry: &QueueEntry,
        known: &mut Known,
        room: &mut usize,
        problems: &mut Problems,
    ) -> Option<Lot> {
        let XccPlace { address, key, .. } = place;
        let Some(header) = header else {
            let what = format!("its save area at {address:#x} was not captured: no waves");
            problems.report(key, what, self.memory.or_host("a segment with the area's header"));
            return None;
        };
        let Captured { area, records, layout, is_restored } = match header.area() {
            Some(area) => self.captured(area, known, key, problems)?,
            None => self.contradicted(&header, known, entry, place, problems)?,
        };
        let own = Arc::clone(&known.target);
        // A damaged record may fit another layout by chance.
        let layout = layout.filter(|layout| {
            let Some(lot) = self.empty_lot(layout, entry, known, place) else { return false };
            layout.name == own.name || self.looks_sound_in(layout, &area, &records, &lot)
        });
        let reading = layout.as_ref().unwrap_or(&own);
        if reading.name != own.name {
            let what = format!(
                "its control stack is not laid out as on {}; that of {} fits",
                own.name, reading.name
            );
            problems.report(key, what, "the processor's own layout");
        }
        let Some(row) = reading.save_area.as_ref() else {
            let what = format!("{} has no [save_area]: its waves cannot be read", reading.name);
            problems.report(key, what, "a target file that says where waves are saved");
            return None;
        };
        let mut lot = self.empty_lot(reading, entry, known, place)?;
        let is_cut = area.is_cut(&records);
        let stacked = Stacked { row, records: &records, area: &area, lot: &lot, key };
        let mut kept = match layout {
            Some(_) => self.closed(stacked, problems),
            None if is_cut => self.cut(stacked, problems),
            None => self.open(stacked, problems),
        };
        if reading.name != own.name {
            kept.iter_mut().for_each(|block| block.doubt = Some(Doubt::Layout));
        }
        if is_restored {
            for block in kept.iter_mut().filter(|block| !self.looks_sound(block, &lot)) {
                block.doubt = Some(Doubt::Header);
            }
        }
        let all = kept.len();
        if all > *room {
            problems.report(
                key,
                format!("{all} waves, of which {room} are taken"),
                format!("at most {MOST_WAVES}"),
            );
            kept.truncate(*room);
        }
        *room -= kept.len();
        lot.blocks = kept;
        Some(lot)
    }

    /// An XCC without its waves.
    fn empty_lot(
        &mut self,
        reading: &Arc<Target>,
        entry: &QueueEntry,
        known: &Known,
        place: XccPlace<'_>,
    ) -> Option<Lot> {
        let row = reading.save_area.as_ref()?;
        let XccPlace { xcc, queue, .. } = place;
        let scratch =
            Scratch::read(self.memory, entry.read_pointer, &row.scratch, known.engines, xcc, self.r_version);
        let target = Arc::clone(&known.target);
        Some(Lot {
            agent: known.index,
            always: known.always,
            queue,
            row32: self.row(&target, reading, WaveSize::W32),
            row64: self.row(&target, reading, WaveSize::W64),
            target,
            scratch,
            blocks: Vec::new(),
        })
    }

    /// The control stack of an area whose header is consistent; `None` where it is too large, or holds nothing.
    fn captured(
        &mut self,
        area: Area,
        known: &mut Known,
        key: &str,
        problems: &mut Problems,
    ) -> Option<Captured> {
        if area.stack_size > MOST_STACK || u64::from(area.stack_size) > self.stacks_left {
            let what = format!("a control stack of {} bytes, left out", area.stack_size);
            problems.report(key, what, format!("at most {}", u64::from(MOST_STACK).min(self.stacks_left)));
            return None;
        }
        if area.stack_size == 0 {
            let what = "its save area has waves and no control stack: no waves";
            problems.report(key, what, "a control stack (the save area's header is damaged)");
            return None;
        }
        self.stacks_left -= u64::from(area.stack_size);
        let records = area.records(self.memory);
        if area.is_cut(&records) {
            let what = format!(
                "{} of its control stack's {} bytes were captured",
                records.len() * 4,
                area.stack_size
            );
            problems.report(key, what, "all of it: the waves that follow are left out");
            return Some(Captured { area, records, layout: None, is_restored: false });
        }
        let layout = self.layout(known, &records, &area);
        Some(Captured { area, records, layout, is_restored: false })
    }

    /// The processor whose layout closes an area: its own, else a sibling's.
    fn layout(&self, known: &mut Known, records: &[u32], area: &Area) -> Option<Arc<Target>> {
        let own = &known.target;
        if own.save_area.as_ref().is_some_and(|row| Walk::fits(row, records, area)) {
            return Some(Arc::clone(own));
        }
        fitting(known.siblings(self.targets), records, area).cloned()
    }

    /// The reading of a contradictory header that its control stack confirms.
    fn contradicted(
        &mut self,
        header: &Header,
        known: &mut Known,
        entry: &QueueEntry,
        place: XccPlace<'_>,
        problems: &mut Problems,
    ) -> Option<Captured> {
        let mut found: Vec<(Captured, &str, Vec<Block>, usize)> = Vec::new();
        let mut is_bounded = false;
        for (area, word) in header.repairs() {
            let Some(left) = self.candidates_left.checked_sub(u64::from(area.stack_size)) else {
                is_bounded = true;
                continue;
            };
            self.candidates_left = left;
            let records = area.records(self.memory);
            if area.is_cut(&records) {
                continue;
            }
            let Some(layout) = self.layout(known, &records, &area) else { continue };
            let Some(row) = layout.save_area.as_ref() else { continue };
            let blocks: Vec<Block> = Walk::new(row, &records, area.end).collect();
            // Two words that differ only in what means nothing are one reading.
            let is_new = !found.iter().any(|(.., known, _)| places(known) == places(&blocks));
            if let (true, Some(lot)) = (is_new, self.empty_lot(&layout, entry, known, place)) {
                let sound = blocks.iter().filter(|block| self.looks_sound(block, &lot)).count();
                let captured = Captured { area, records, layout: Some(layout), is_restored: true };
                found.push((captured, word, blocks, sound));
            }
        }
        let most = found.iter().map(|(.., sound)| *sound).max().unwrap_or(0);
        found.retain(|(.., sound)| *sound == most && most > 0);
        let words = header.words();
        let expected = "a control stack that ends where the waves begin (the save area's header is damaged)";
        match found.pop() {
            Some((captured, word, ..)) if found.is_empty() => {
                let what = format!(
                    "its header contradicts itself: {words}; {word} is restored from the control stack"
                );
                problems.report(place.key, what, expected);
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
                problems.report(place.key, what, expected);
                None
            }
        }
    }

    /// The waves of a control stack that fills its area.
    fn closed(&self, of: Stacked<'_>, problems: &mut Problems) -> Vec<Block> {
        let Stacked { row, records, area, lot, key } = of;
        let mut blocks = of.down();
        let breaks = repair::breaks(row, &blocks);
        let Some(first) = breaks.first() else { return blocks };
        let mut readings = repair::with_flags(row, records, area, &blocks);
        // A first flag that is missing and a last flag too many: whether the two waves are of one work-group tells them apart.
        if readings.len() > 1
            && let Some(before) = first.checked_sub(1)
            && let (Some(one), Some(other)) =
                (self.launch(blocks.get(before), lot), self.launch(blocks.get(*first), lot))
        {
            let is_first =
                |blocks: &Vec<Block>| blocks.get(*first).is_some_and(|block| repair::flags(row, block).0);
            readings.retain(|blocks| is_first(blocks) == (one != other));
        }
        let what =
            format!("first and last flags of its control stack contradict each other {} times", breaks.len());
        let expected = "a last flag before each first one";
        if let Some(found) = of.restored(readings, (&what, expected), problems) {
            return found;
        }
        problems.report(key, what, expected);
        for at in breaks {
            repair::doubt_groups(row, &mut blocks, at);
        }
        blocks
    }

    /// The waves of a control stack whose end was not captured: no walk confirms them.
    fn cut(&self, of: Stacked<'_>, problems: &mut Problems) -> Vec<Block> {
        let Stacked { area, lot, key, .. } = of;
        let mut blocks = of.down();
        let (all, inside) = (blocks.len(), blocks.partition_point(|block| block.bottom >= area.begin));
        if inside < all {
            let what = format!(
                "{} of {all} waves of its control stack lie below {:#x}, where its waves begin; left out",
                all - inside,
                area.begin
            );
            problems.report(key, what, "waves within the save area");
            blocks.truncate(inside);
        }
        let sound = blocks.iter().take_while(|block| self.looks_sound(block, lot)).count();
        for block in blocks.iter_mut().skip(sound.saturating_sub(1)) {
            block.doubt = Some(Doubt::Cut);
        }
        blocks
    }

    /// The waves of a control stack that does not fill its area.
    fn open(&self, of: Stacked<'_>, problems: &mut Problems) -> Vec<Block> {
        let Stacked { row, records, area, lot, key } = of;
        let filled = format!(
            "its control stack does not fill its waves' area from {:#x} down to {:#x}",
            area.end, area.begin
        );
        let readings = repair::with_flags(row, records, area, &of.down());
        let expected = "a walk that ends where the area begins (a record is damaged)";
        if let Some(blocks) = of.restored(readings, (&filled, expected), problems) {
            return blocks;
        }
        let Remains { blocks, listed } =
            repair::remains(row, records, area, |block| self.looks_sound(block, lot));
        let doubtful = blocks.iter().filter(|block| block.doubt.is_some()).count();
        // A damaged record may hide a wave, or look like one.
        let what = format!(
            "{filled}: {} waves are kept, {doubtful} of them unconfirmed; the damaged control stack lists {listed} waves",
            blocks.len(),
        );
        let expected = "a walk that ends where the area begins (a record is damaged); the waves at the ends of the area \
                        whose PC is in captured memory";
        problems.report(key, what, expected);
        blocks
    }

    /// Whether most blocks of a layout have a PC as waves have.
    fn looks_sound_in(&self, layout: &Target, area: &Area, records: &[u32], lot: &Lot) -> bool {
        let Some(row) = &layout.save_area else { return false };
        let (mut sound, mut all) = (0, 0);
        for block in Walk::new(row, records, area.end) {
            all += 1;
            sound += usize::from(self.looks_sound(&block, lot));
        }
        2 * sound > all
    }

    /// Whether a block has a PC as waves have: of an instruction in captured memory.
    fn looks_sound(&self, block: &Block, lot: &Lot) -> bool {
        let row = lot.row(block.counts.size).and_then(|index| self.rows.get(index));
        let Some(row) = row else { return false };
        let facts = self.facts(row, &Words::read(self.memory, block), lot);
        facts.pc.is_some_and(|pc| pc % 4 == 0 && self.memory.segment(pc).is_some())
    }

    /// Work-group and packet that the trap temporaries of a block hold.
    fn launch(&self, block: Option<&Block>, lot: &Lot) -> Option<([u32; 3], u32)> {
        let block = block?;
        let row = lot.row(block.counts.size).and_then(|index| self.rows.get(index))?;
        let launch = self.facts(row, &Words::read(self.memory, block), lot).launch?;
        Some((launch.group, launch.packet))
    }
}

/// What a reading shows of waves.
fn places(blocks: &[Block]) -> Vec<(u64, u64, u32)> {
    blocks.iter().map(|block| (block.top, block.bottom, block.word)).collect()
}
