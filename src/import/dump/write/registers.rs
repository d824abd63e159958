//! Registers of the dump: images in shared layouts, and each wave's own blocks.
//!
//! A register with two sources (for example an image and a wave's own block) is written once, with the value that
//! applies: a variant of the layout omits it. Bytes are copied without interpretation. A partly captured register is an
//! entry of its own with a mask, and no part of a layout.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::memory::data;
use super::sink::Sink;
use super::stored::Stored;
use super::{Plan, Written, number};
use crate::arch::{RegId, WaveArch};
use crate::capture::{BackingId, Capture, Extent, RegisterBlock, Wave};
use crate::units::LaneSet;

/// The file of all waves' registers.
pub(super) const FILE: &str = "registers.bin";

/// A layout of the capture for one kind, without the registers of other blocks: flags by register.
type Variant = (*const RegisterBlock, *const WaveArch, Vec<bool>);

/// Writes registers wave by wave and keeps the layouts.
#[derive(Default)]
pub(super) struct RegisterWriter {
    stored: Stored,
    layouts: Layouts,
}

/// The available layouts.
#[derive(Default)]
struct Layouts {
    entries: Vec<(Value, bool)>,
    known: HashMap<Variant, Layout>,
    /// Keeps the layouts alive, because their addresses are keys.
    held: Vec<Arc<[RegisterBlock]>>,
}

#[derive(Clone)]
struct Layout {
    name: String,
    /// Its index in the writer.
    index: usize,
    /// Start of its blocks' range of the image.
    start: u64,
    end: u64,
}

/// The parts of a wave's registers to copy.
struct Claimed {
    /// Registers in blocks of their own, in reverse order.
    own: Vec<(BackingId, RegisterBlock)>,
    /// The image, up to the end of the layout.
    image: Option<(Layout, Extent)>,
    /// Registers of `own`: flags by number.
    taken: Vec<bool>,
}

/// Upper bound of the bytes of the plan's registers.
pub(super) fn size(capture: &Capture, plan: &Plan) -> u64 {
    let waves = plan.waves.iter().filter_map(|planned| capture.wave(planned.wave));
    let each = waves.map(|wave| {
        let own = wave.registers.own.iter().map(|(_, block)| length(block));
        own.fold(wave.registers.image.map_or(0, |image| image.length), u64::saturating_add)
    });
    each.fold(0, u64::saturating_add)
}

/// Extents of the plan's registers.
pub(super) fn extents(capture: &Capture, plan: &Plan) -> Vec<Extent> {
    let mut layouts = Layouts::default();
    let waves = plan.waves.iter().filter_map(|planned| capture.wave(planned.wave));
    let each = waves.flat_map(|wave| {
        let Claimed { own, image, .. } = layouts.claimed(wave);
        let own =
            own.into_iter().filter(|(_, run)| is_copied(run)).map(|(backing, run)| extent(backing, &run));
        own.chain(image.map(|(_, extent)| extent)).collect::<Vec<_>>()
    });
    each.collect()
}

fn extent(backing: BackingId, run: &RegisterBlock) -> Extent {
    Extent { backing, offset: run.offset, length: length(run) }
}

impl RegisterWriter {
    /// Creates a writer for registers in the file.
    pub(super) fn new(stored: Stored) -> Self {
        Self { stored, layouts: Layouts::default() }
    }

    /// Adds the places of a wave's registers to its table, and writes values that no copied byte holds.
    pub(super) fn wave(
        &mut self,
        capture: &Capture,
        wave: &Wave,
        table: &mut Map<String, Value>,
        sink: &mut Sink<'_>,
        written: &mut Written,
    ) -> io::Result<()> {
        let what = format_args!("registers of wave {}", wave.id);
        let Claimed { own, image, taken } = self.layouts.claimed(wave);
        // Partly captured registers.
        let mut partly = Vec::new();
        if let (Some((layout, part)), Some(blocks)) = (image, &wave.registers.layout) {
            let length = layout.end - layout.start;
            let (at, copied) = self.stored.find(&part);
            let (mut used, end) = (layout.clone(), layout.start + copied);
            if copied < length {
                let cut = beyond(blocks, &wave.kind, &taken, end);
                let mut taken = taken;
                for id in &cut {
                    if let Some(flag) = taken.get_mut(usize::from(id.0)) {
                        *flag = true;
                    }
                }
                used = self.layouts.without(blocks, &wave.kind, &taken);
                partly.extend(cut);
            }
            if used.end > used.start {
                let mut entry = Map::new();
                entry.insert("layout".to_owned(), json!(self.layouts.name(&used)));
                entry.extend(data(FILE, at + (used.start - layout.start), used.end - used.start));
                table.insert("image".to_owned(), Value::Object(entry));
            }
        }
        let mut bulk = Vec::new();
        for (backing, run) in own.into_iter().rev() {
            let (at, copied) = self.stored.find(&extent(backing, &run));
            if !is_copied(&run) || copied < length(&run) {
                partly.extend((0..run.count).map(|index| RegId(run.first.0 + index)));
                continue;
            }
            let mut entry = registers(&run, &wave.kind);
            entry.extend(data(FILE, at, copied));
            bulk.push(Value::Object(entry));
        }
        for first in partly {
            let value = match capture.register(wave, first) {
                Ok(value) => value,
                Err(error) => {
                    written.lose(format_args!("{what}: {error}"));
                    continue;
                }
            };
            let known = LaneSet(value.known());
            if known.is_empty() {
                continue;
            }
            let width = value.dwords() * 4;
            let run = RegisterBlock { first, count: 1, width, offset: 0, known };
            let at = sink.position();
            for dword in 0..value.dwords() {
                sink.write_all(&value.dword(dword).unwrap_or(0).to_le_bytes())?;
            }
            let mut entry = registers(&run, &wave.kind);
            entry.extend(data(FILE, at, width.into()));
            bulk.push(Value::Object(entry));
        }
        if !bulk.is_empty() {
            table.insert("bulk".to_owned(), Value::Array(bulk));
        }
        Ok(())
    }

    /// The used layouts.
    pub(super) fn layouts(self) -> Vec<Value> {
        self.layouts.entries.into_iter().filter_map(|(layout, is_used)| is_used.then_some(layout)).collect()
    }
}

impl Layouts {
    /// The parts of a wave's registers to copy.
    fn claimed(&mut self, wave: &Wave) -> Claimed {
        // The later of two values applies, and a wave's own blocks before its image.
        let mut taken = vec![false; wave.kind.registers().len()];
        let mut own = Vec::new();
        for (backing, block) in wave.registers.own.iter().rev() {
            own.extend(runs(block, &wave.kind, &mut taken).into_iter().map(|run| (*backing, run)));
        }
        let (Some(blocks), Some(image)) = (&wave.registers.layout, wave.registers.image) else {
            return Claimed { own, image: None, taken };
        };
        // Registers that half the lanes share are stored for those lanes only: an entry of its own can express that, a
        // layout cannot.
        for block in blocks.iter().rev().filter(|block| is_narrow(block, &wave.kind)) {
            for mut run in runs(block, &wave.kind, &mut taken) {
                let end = run.offset.saturating_add(u64::from(run.width));
                run.offset = run.offset.saturating_add(image.offset);
                own.extend((end <= image.length).then_some((image.backing, run)));
            }
        }
        let layout = self.without(blocks, &wave.kind, &taken);
        let part = (layout.end > layout.start && image.length > layout.start).then(|| {
            let length = (layout.end - layout.start).min(image.length - layout.start);
            Extent { offset: image.offset.saturating_add(layout.start), length, ..image }
        });
        Claimed { own, image: part.map(|part| (layout, part)), taken }
    }

    /// Its name in the manifest.
    fn name(&mut self, layout: &Layout) -> String {
        if let Some((_, is_used)) = self.entries.get_mut(layout.index) {
            *is_used = true;
        }
        layout.name.clone()
    }

    /// A layout without the flagged registers.
    fn without(&mut self, blocks: &Arc<[RegisterBlock]>, kind: &Arc<WaveArch>, taken: &[bool]) -> Layout {
        let mut taken = taken.to_vec();
        let key = (blocks.as_ptr(), Arc::as_ptr(kind), taken.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut all = Vec::new();
        for block in blocks.iter().rev() {
            all.extend(runs(block, kind, &mut taken));
        }
        all.sort_by_key(|run| run.offset);
        let start = all.first().map_or(0, |run| run.offset);
        let end = all.iter().map(|run| run.offset.saturating_add(length(run))).max().unwrap_or(start);
        let name = format!("{}-{}-{}", kind.target.name, kind.wave_size, self.entries.len());
        let entries = all.iter().map(|run| {
            let mut entry = registers(run, kind);
            entry.insert("offset".to_owned(), number(run.offset - start));
            Value::Object(entry)
        });
        let index = self.entries.len();
        self.entries.push((json!({ "name": name, "blocks": entries.collect::<Vec<_>>() }), false));
        self.held.push(Arc::clone(blocks));
        let layout = Layout { name, index, start, end };
        self.known.insert(key, layout.clone());
        layout
    }
}

/// The registers of an image that end after `end`.
fn beyond(blocks: &[RegisterBlock], kind: &WaveArch, taken: &[bool], end: u64) -> Vec<RegId> {
    let mut taken = taken.to_vec();
    let runs = blocks.iter().rev().flat_map(|block| runs(block, kind, &mut taken));
    let each = runs.flat_map(|run| {
        let last = move |index: u16| run.offset.saturating_add((u64::from(index) + 1) * u64::from(run.width));
        (0..run.count).filter(move |index| last(*index) > end).map(move |index| RegId(run.first.0 + index))
    });
    each.collect()
}

/// Whether registers can be copied: a partly known scalar requires an entry with a mask.
fn is_copied(run: &RegisterBlock) -> bool {
    let dwords = LaneSet::lowest((run.width / 4).into());
    is_vector(run) || run.known.and(dwords) == dwords
}

/// Marks a block's registers as taken; returns the known ones that were not taken, in runs of consecutive names.
fn runs(block: &RegisterBlock, kind: &WaveArch, taken: &mut [bool]) -> Vec<RegisterBlock> {
    let mut runs: Vec<RegisterBlock> = Vec::new();
    let is_narrow = is_narrow(block, kind);
    for index in 0..block.count {
        let Some(first) = block.first.0.checked_add(index) else { break };
        let Some(flag) = taken.get_mut(usize::from(first)) else { break };
        if std::mem::replace(flag, true) || block.known.is_empty() {
            continue;
        }
        let offset = u64::from(index) * u64::from(block.width);
        let Some(offset) = block.offset.checked_add(offset) else { break };
        match runs.last_mut() {
            Some(run) if run.first.0 + run.count == first && follows(kind, first) && !is_narrow => {
                run.count += 1
            }
            _ => runs.push(RegisterBlock { first: RegId(first), count: 1, offset, ..*block }),
        }
    }
    runs
}

/// Whether a register's name continues the previous one's number: `v7` after `v6`.
fn follows(kind: &WaveArch, id: u16) -> bool {
    let numbered = |id: u16| {
        let name = &kind.registers().get(usize::from(id))?.name;
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = name.split_at_checked(name.len() - digits)?;
        Some((stem, number.parse::<u32>().ok()?))
    };
    let before = id.checked_sub(1).and_then(numbered);
    before.zip(numbered(id)).is_some_and(|(before, this)| before.0 == this.0 && before.1 + 1 == this.1)
}

fn length(block: &RegisterBlock) -> u64 {
    u64::from(block.count) * u64::from(block.width)
}

/// Whether a block stores fewer bytes of each register than its size.
fn is_narrow(block: &RegisterBlock, kind: &WaveArch) -> bool {
    let register = kind.registers().get(usize::from(block.first.0));
    register.is_some_and(|register| {
        register.is_vector() && u32::from(block.width) < u32::from(register.dwords) * 4
    })
}

fn is_vector(run: &RegisterBlock) -> bool {
    run.width > 8
}

/// The keys `registers` and `lanes` of a run.
fn registers(run: &RegisterBlock, kind: &WaveArch) -> Map<String, Value> {
    let name = |id: u16| kind.registers().get(usize::from(id)).map_or("", |register| register.name.as_str());
    let last = run.first.0.saturating_add(run.count.saturating_sub(1));
    let range = match run.count {
        1 => name(run.first.0).to_owned(),
        _ => format!("{}-{}", name(run.first.0), name(last)),
    };
    let mut keys = Map::new();
    keys.insert("registers".to_owned(), json!(range));
    let dwords = kind.registers().get(usize::from(run.first.0)).map_or(0, |register| register.dwords);
    let known = run.known.and(LaneSet::lowest((run.width / 4).into()));
    if known != LaneSet::lowest(dwords.into()) {
        keys.insert("lanes".to_owned(), number(known.0));
    }
    keys
}
