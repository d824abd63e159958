//! Registers as they lie in the capture: images by layouts that waves share, and what a wave has of its own.
//!
//! A register that a wave has twice (its image and a block of its own, say) is written once, as it counts: a layout is then
//! written again without it. Bytes are copied and not looked at, and lanes that were not captured are masked.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::memory::{copy_captured, data};
use super::sink::Sink;
use super::{Plan, Written, number};
use crate::arch::{Kind, RegId};
use crate::capture::{BackingId, Capture, Extent, RegisterBlock, Wave};
use crate::units::LaneSet;

/// The file of all waves' registers.
pub(super) const FILE: &str = "registers.bin";

/// A layout of the capture for one kind, without the registers that a wave has elsewhere: flags by register.
type Variant = (*const RegisterBlock, *const Kind, Vec<bool>);

/// Writes registers wave by wave and keeps the layouts.
#[derive(Default)]
pub(super) struct RegisterWriter {
    layouts: Vec<Value>,
    known: HashMap<Variant, Layout>,
    /// Keeps the layouts alive whose addresses are keys.
    held: Vec<Arc<[RegisterBlock]>>,
}

#[derive(Clone)]
struct Layout {
    name: String,
    /// The range of the image that the blocks lie in.
    start: u64,
    end: u64,
}

/// An upper bound of the bytes that the plan's registers take.
pub(super) fn size(capture: &Capture, plan: &Plan) -> u64 {
    let waves = plan.waves.iter().filter_map(|planned| capture.wave(planned.wave));
    let each = waves.map(|wave| {
        let own = wave.registers.own.iter().map(|(_, block)| length(block));
        own.fold(wave.registers.image.map_or(0, |image| image.length), u64::saturating_add)
    });
    each.fold(0, u64::saturating_add)
}

impl RegisterWriter {
    /// Writes a wave's registers and puts into its table where they are.
    pub(super) fn wave(
        &mut self,
        capture: &Capture,
        wave: &Wave,
        table: &mut Map<String, Value>,
        sink: &mut Sink<'_>,
        written: &mut Written,
    ) -> io::Result<()> {
        let what = format_args!("registers of wave {}", wave.id);
        // The later one of two counts, and blocks of its own before those of its image.
        let mut taken = vec![false; wave.kind.registers().len()];
        let mut own = Vec::new();
        for (backing, block) in wave.registers.own.iter().rev() {
            own.extend(runs(block, &wave.kind, &mut taken).into_iter().map(|run| (*backing, run)));
        }
        if let (Some(blocks), Some(image)) = (&wave.registers.layout, wave.registers.image) {
            // Of registers that half the lanes share only those are stored: no layout says that, an entry of its own does.
            for block in blocks.iter().rev().filter(|block| is_narrow(block, &wave.kind)) {
                for mut run in runs(block, &wave.kind, &mut taken) {
                    let end = run.offset.saturating_add(u64::from(run.width));
                    run.offset = run.offset.saturating_add(image.offset);
                    own.extend((end <= image.length).then_some((image.backing, run)));
                }
            }
            let before = taken.clone();
            let layout = self.layout(blocks, &wave.kind, taken);
            if layout.end > layout.start && image.length > layout.start {
                let at = sink.position();
                let offset = image.offset.saturating_add(layout.start);
                let length = layout.end.min(image.length) - layout.start;
                let part = Extent { backing: image.backing, offset, length };
                let copied = copy_captured(capture, part, &what, sink, written)?;
                let mut entry = Map::new();
                entry.insert("layout".to_owned(), json!(layout.name));
                entry.extend(data(FILE, at, copied));
                table.insert("image".to_owned(), Value::Object(entry));
                if copied < length {
                    own.extend(behind(capture, wave, (blocks, image), layout.start + copied, before));
                }
            }
        }
        let mut bulk = Vec::new();
        for (backing, mut run) in own.into_iter().rev() {
            let Some(length) = captured_length(&run) else { continue };
            let at = sink.position();
            let extent = Extent { backing, offset: run.offset, length };
            let mut copied = copy_captured(capture, extent, &what, sink, written)?;
            if copied < length && run.count == 1 && is_vector(&run) {
                // What a gap took is no lane that counts.
                run.known = run.known.and(LaneSet::lowest(u32::try_from(copied / 4).unwrap_or(0)));
                sink.write_all(&vec![0; usize::try_from(length - copied).unwrap_or(0)])?;
                copied = length;
            } else if copied < length {
                written.lose(format_args!("{what}: {} bytes of them could not be had", length - copied));
            }
            if run.known.is_empty() || copied == 0 {
                continue;
            }
            let mut entry = registers(&run, &wave.kind);
            entry.extend(data(FILE, at, copied));
            bulk.push(Value::Object(entry));
        }
        if !bulk.is_empty() {
            table.insert("bulk".to_owned(), Value::Array(bulk));
        }
        Ok(())
    }

    /// The layouts that waves used.
    pub(super) fn layouts(self) -> Vec<Value> {
        self.layouts
    }

    /// A layout without the registers that are flagged.
    fn layout(&mut self, blocks: &Arc<[RegisterBlock]>, kind: &Arc<Kind>, mut taken: Vec<bool>) -> Layout {
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
        let name = format!("{}-{}-{}", kind.target.name, kind.wave_size, self.layouts.len());
        let entries = all.iter().map(|run| {
            let mut entry = registers(run, kind);
            entry.insert("offset".to_owned(), number(run.offset - start));
            Value::Object(entry)
        });
        self.layouts.push(json!({ "name": name, "blocks": entries.collect::<Vec<_>>() }));
        self.held.push(Arc::clone(blocks));
        let layout = Layout { name, start, end };
        self.known.insert(key, layout.clone());
        layout
    }
}

/// The registers of an image that end behind `end` and that were captured: those after a gap. Of a vector that a gap cuts, its
/// first lanes.
fn behind(
    capture: &Capture,
    wave: &Wave,
    (blocks, image): (&[RegisterBlock], Extent),
    end: u64,
    mut taken: Vec<bool>,
) -> Vec<(BackingId, RegisterBlock)> {
    let Some(backing) = capture.backing(image.backing) else { return Vec::new() };
    let mut found = Vec::new();
    let mut bytes = Vec::new();
    for run in blocks.iter().rev().flat_map(|block| runs(block, &wave.kind, &mut taken)) {
        for index in 0..run.count {
            let offset = run.offset.saturating_add(u64::from(index) * u64::from(run.width));
            let last = offset.saturating_add(run.width.into());
            if last <= end || last > image.length {
                continue;
            }
            bytes.resize(run.width.into(), 0);
            let offset = image.offset.saturating_add(offset);
            let got = backing.read_at(offset, &mut bytes).unwrap_or(0);
            let known = run.known.and(LaneSet::lowest(u32::try_from(got / 4).unwrap_or(0)));
            if !known.is_empty() {
                let first = RegId(run.first.0 + index);
                found.push((image.backing, RegisterBlock { first, count: 1, offset, known, ..run }));
            }
        }
    }
    found
}

/// The registers of a block that are not taken yet and of which something is known, in runs that a range names; takes them.
fn runs(block: &RegisterBlock, kind: &Kind, taken: &mut [bool]) -> Vec<RegisterBlock> {
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

/// Whether a register's name is the one before's with the next number: `v7` after `v6`.
fn follows(kind: &Kind, id: u16) -> bool {
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

/// Bytes to copy of a run: all, or of one scalar that was captured in part its first dwords. `None`: a manifest cannot say it.
fn captured_length(run: &RegisterBlock) -> Option<u64> {
    let whole = LaneSet::lowest((run.width / 4).into());
    if is_vector(run) || run.known.and(whole) == whole {
        return Some(length(run));
    }
    let known = u64::from(run.known.0.trailing_ones());
    (run.count == 1 && known > 0).then_some(known * 4)
}

/// Whether fewer bytes of each register are stored than it has.
fn is_narrow(block: &RegisterBlock, kind: &Kind) -> bool {
    let register = kind.registers().get(usize::from(block.first.0));
    register.is_some_and(|register| {
        register.is_vector() && u32::from(block.width) < u32::from(register.dwords) * 4
    })
}

fn is_vector(run: &RegisterBlock) -> bool {
    run.width > 8
}

/// The keys `registers` and `lanes` of a run.
fn registers(run: &RegisterBlock, kind: &Kind) -> Map<String, Value> {
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
    if is_vector(run) && known != LaneSet::lowest(dwords.into()) {
        keys.insert("lanes".to_owned(), number(known.0));
    }
    keys
}
