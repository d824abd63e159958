//! A wave's registers: layouts resolved once for each kind of wave, bulk entries and inline values as blocks.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::sync::Arc;

use super::data::{ARENA, Sources};
use super::inline::{self, Inline};
use super::key::Key;
use super::manifest::{self, InlineRegisters};
use super::shape::Field;
use crate::arch::{Kind, RegId};
use crate::capture::{BackingId, Extent, RegisterBlock, Registers};
use crate::import::problem::Problems;
use crate::units::LaneSet;

/// An index into the builder's table of kinds; cheaper to look up by than the kind itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct KindIndex(pub(super) usize);

/// Layouts of the manifest, and what they come to for each kind of wave.
#[derive(Debug)]
pub(super) struct Layouts<'m, 'de> {
    by_name: HashMap<&'m str, (usize, &'m manifest::Layout<'de>)>,
    resolved: HashMap<(usize, KindIndex), Layout>,
    /// Ranges by kind and text: checking `v0-v255` walks it, and 10,000 waves may say it.
    ranges: HashMap<(KindIndex, Box<str>), (RegId, u16)>,
}

/// A layout for one kind of wave.
#[derive(Clone, Debug)]
struct Layout {
    blocks: Arc<[RegisterBlock]>,
    /// Bytes that an image of it has.
    size: u64,
    /// Runs of registers that it gives, sorted.
    spans: Arc<[Span]>,
}

/// A run of registers that one source gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    first: u16,
    last: u16,
    source: SpanSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SpanSource {
    Image,
    Bulk,
    Inline,
}

impl Display for SpanSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image => "image",
            Self::Bulk => "bulk",
            Self::Inline => "registers",
        })
    }
}

/// One wave whose registers are being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaveKind<'a> {
    pub(super) kind: &'a Kind,
    pub(super) index: KindIndex,
}

impl<'m, 'de> Layouts<'m, 'de> {
    /// Reads the names; blocks wait for a wave that says what registers there are.
    pub(super) fn new(
        problems: &mut Problems,
        root: &Key<'_>,
        manifest: &'m manifest::Manifest<'de>,
    ) -> Self {
        let mut by_name = HashMap::new();
        let table = root.name("layout");
        for (index, layout) in problems.entries(root, "layout", &manifest.layout) {
            let key = table.index(index);
            problems.extra(&key, &layout.extra);
            let Some(name) = problems.required(&key, "name", &layout.name) else { continue };
            let name: &str = &name.0;
            if by_name.contains_key(name) {
                let what =
                    format_args!("{name:?} is taken by an earlier entry, so that this one is left out");
                problems.report(key.name("name"), what, "names that are unique");
                continue;
            }
            by_name.insert(name, (index, layout));
        }
        Self { by_name, resolved: HashMap::new(), ranges: HashMap::new() }
    }

    /// Everything that the manifest gives of a wave's registers.
    pub(super) fn registers(
        &mut self,
        problems: &mut Problems,
        sources: &mut Sources,
        key: &Key<'_>,
        wave: WaveKind<'_>,
        entry: &manifest::Wave<'de>,
    ) -> Registers {
        let mut registers = Registers::default();
        let mut spans = Vec::new();
        let mut layout_spans: Arc<[Span]> = Arc::default();
        if let Some(image) = problems.given(key, "image", &entry.image) {
            let key = key.name("image");
            if let Some((layout, extent)) = self.image(problems, sources, &key, wave, image) {
                registers.layout = Some(layout.blocks);
                registers.image = Some(extent);
                layout_spans = layout.spans;
            }
        }
        let table = key.name("bulk");
        for (index, bulk) in problems.entries(key, "bulk", &entry.bulk) {
            let key = table.index(index);
            problems.extra(&key, &bulk.extra);
            let blocks = self.bulk(problems, sources, &key, wave, bulk);
            for block in blocks {
                spans.push(Span::of(&block.1, SpanSource::Bulk));
                registers.own.push(block);
            }
        }
        if let Some(InlineRegisters(values)) = problems.given(key, "registers", &entry.registers) {
            let key = key.name("registers");
            registers.own.reserve_exact(values.len());
            for (name, value) in values {
                let key = key.name(name);
                let before = registers.own.len();
                self.inline(problems, sources, &key, wave, name, value, &mut registers.own);
                let new = registers.own.get(before..).unwrap_or_default();
                spans.extend(new.iter().map(|(_, block)| Span::of(block, SpanSource::Inline)));
            }
        }
        report_twice(problems, key, wave.kind, &layout_spans, spans);
        registers
    }

    fn image(
        &mut self,
        problems: &mut Problems,
        sources: &mut Sources,
        key: &Key<'_>,
        wave: WaveKind<'_>,
        image: &manifest::Image<'de>,
    ) -> Option<(Layout, Extent)> {
        problems.extra(key, &image.extra);
        let name = &*problems.required(key, "layout", &image.layout)?.0;
        let Some((index, entry)) = self.by_name.get(name).copied() else {
            problems.report(
                key.name("layout"),
                format_args!("no layout has the name {name:?}"),
                "the name of a [[layout]]",
            );
            return None;
        };
        let layout = match self.resolved.get(&(index, wave.index)) {
            Some(layout) => layout.clone(),
            None => {
                let layout = self.layout(problems, index, wave, entry);
                self.resolved.insert((index, wave.index), layout.clone());
                layout
            }
        };
        let mut extent = sources.required(problems, key, image.data())?;
        // A length that is cut short by the end of the file has been reported with the file's size.
        let reported = matches!(image.length, Field::Given(length) if length > extent.length);
        if extent.length < layout.size && !reported {
            sources.blame(
                problems,
                extent,
                key,
                format_args!(
                    "the image has {} bytes, so that registers beyond it are not captured",
                    extent.length
                ),
                format_args!("the {} bytes of layout {name:?}", layout.size),
            );
        }
        extent.length = extent.length.min(layout.size);
        Some((layout, extent))
    }

    fn layout(
        &mut self,
        problems: &mut Problems,
        index: usize,
        wave: WaveKind<'_>,
        entry: &manifest::Layout<'de>,
    ) -> Layout {
        let table = Key::Root.name("layout");
        let key = table.index(index);
        let mut blocks = Vec::new();
        let mut size = 0;
        if !entry.blocks.is_given() {
            problems.report(key.name("blocks"), "is missing", "an array of blocks");
        }
        let list = key.name("blocks");
        for (index, block) in problems.entries(&key, "blocks", &entry.blocks) {
            let key = list.index(index);
            problems.extra(&key, &block.extra);
            let Some(mut run) = self.run(problems, &key, wave, &block.registers, &block.lanes) else {
                continue;
            };
            if problems.required(&key, "offset", &block.offset).is_none() {
                continue;
            }
            let Some(offset) = problems.number(&key, "offset", &block.offset) else { continue };
            let end = offset.checked_add(run_length(&run));
            let Some(end) = end else {
                problems.report(key.name("offset"), format_args!("{offset:#x}"), "an offset within an image");
                continue;
            };
            run.offset = offset;
            size = end.max(size);
            blocks.push(run);
        }
        let mut spans: Vec<Span> = blocks.iter().map(|block| Span::of(block, SpanSource::Image)).collect();
        report_twice(problems, &key, wave.kind, &[], spans.clone());
        spans.sort_unstable();
        // Overlaps have just been reported, once; merged runs are few whatever the manifest says.
        spans.dedup_by(|span, before| {
            let overlap = span.first <= before.last;
            before.last = if overlap { before.last.max(span.last) } else { before.last };
            overlap
        });
        Layout { blocks: blocks.into(), size, spans: spans.into() }
    }

    /// A block without a place: which registers, how wide, which lanes.
    fn run(
        &mut self,
        problems: &mut Problems,
        key: &Key<'_>,
        wave: WaveKind<'_>,
        registers: &Field<super::shape::Text<'de>>,
        lanes: &Field<u64>,
    ) -> Option<RegisterBlock> {
        let name = &*problems.required(key, "registers", registers)?.0;
        let (first, count) = self.range(problems, &key.name("registers"), wave, name)?;
        let register = wave.kind.registers().get(usize::from(first.0))?;
        let mut known = all(register.dwords);
        if register.is_vector() {
            if lanes.is_given() {
                // A mask that cannot be read says that not all were captured, and not which.
                let mask = problems.number(key, "lanes", lanes)?;
                if mask & !wave.kind.wave_size.all().0 != 0 {
                    let what =
                        format_args!("{mask:#x} has lanes that a {} does not have", wave.kind.wave_size);
                    let expected = format_args!("a mask within {:#x}", wave.kind.wave_size.all().0);
                    problems.report(key.name("lanes"), what, expected);
                }
                known = LaneSet(mask & known.0);
            }
        } else if lanes.is_given() {
            let what = format_args!("{name} has no lanes, so that the mask is ignored");
            problems.report(key.name("lanes"), what, "a mask only for vectors");
        }
        let width = u16::try_from(register.bytes()).ok()?;
        Some(RegisterBlock { first, count, width, offset: 0, known })
    }

    fn range(
        &mut self,
        problems: &mut Problems,
        key: &Key<'_>,
        wave: WaveKind<'_>,
        name: &str,
    ) -> Option<(RegId, u16)> {
        let is_range = name.contains('-');
        let known = is_range.then(|| (wave.index, name.into()));
        if let Some(found) = known.as_ref().and_then(|known| self.ranges.get(known)) {
            return Some(*found);
        }
        match wave.kind.range(name) {
            Ok(found) => {
                if let Some(known) = known {
                    self.ranges.insert(known, found);
                }
                Some(found)
            }
            Err(error) => {
                let (target, size) = (&wave.kind.target.name, wave.kind.wave_size);
                problems.report(
                    key,
                    error,
                    format_args!("a register of {target} ({size}), or a range as s0-s3"),
                );
                None
            }
        }
    }

    fn bulk(
        &mut self,
        problems: &mut Problems,
        sources: &mut Sources,
        key: &Key<'_>,
        wave: WaveKind<'_>,
        bulk: &manifest::Bulk<'de>,
    ) -> Vec<(BackingId, RegisterBlock)> {
        let Some(mut block) = self.run(problems, key, wave, &bulk.registers, &bulk.lanes) else {
            return Vec::new();
        };
        let Some(extent) = sources.required(problems, key, bulk.data()) else { return Vec::new() };
        block.offset = extent.offset;
        let needed = run_length(&block);
        let cut = matches!(bulk.length, Field::Given(length) if length > extent.length);
        let exact = bulk.length.is_given() || !bulk.file.is_given();
        if (extent.length < needed && !cut) || (extent.length > needed && exact) {
            let rest = match extent.length < needed {
                true => "the rest is not captured",
                false => "the rest is ignored",
            };
            sources.blame(
                problems,
                extent,
                key,
                format_args!("the data has {} bytes; {rest}", extent.length),
                format_args!("{needed} bytes: {} registers of {} bytes", block.count, block.width),
            );
        }
        if extent.length >= needed {
            return vec![(extent.backing, block)];
        }
        // Registers that are there whole, then the one that is cut.
        let whole = extent.length / u64::from(block.width.max(1));
        let left = extent.length % u64::from(block.width.max(1)) / 4;
        // Below block.count, because the data is shorter than all of the block.
        let whole = u16::try_from(whole).unwrap_or(block.count);
        let mut blocks = Vec::new();
        if whole > 0 {
            blocks.push((extent.backing, RegisterBlock { count: whole, ..block }));
        }
        let known = LaneSet(block.known.0 & all(left as u16).0);
        if !known.is_empty() {
            let first = RegId(block.first.0.saturating_add(whole));
            let offset = block.offset + u64::from(whole) * u64::from(block.width);
            blocks.push((extent.backing, RegisterBlock { first, count: 1, offset, known, ..block }));
        }
        blocks
    }

    #[expect(clippy::too_many_arguments, reason = "a value's place, its meaning and where it goes")]
    fn inline(
        &mut self,
        problems: &mut Problems,
        sources: &mut Sources,
        key: &Key<'_>,
        wave: WaveKind<'_>,
        name: &str,
        value: &Inline,
        own: &mut Vec<(BackingId, RegisterBlock)>,
    ) {
        let Some((first, count)) = self.range(problems, key, wave, name) else { return };
        let (value, floats) = match value {
            Inline::Floats(inner) => (&**inner, true),
            value => (value, false),
        };
        if !name.contains('-') {
            return inline_one(problems, sources, key, wave.kind, first, value, floats, own);
        }
        let items = match value {
            Inline::List(items) => items,
            Inline::Missing => return,
            other => {
                problems.report(
                    key,
                    inline::found(other),
                    "an array with a value for each register of the range",
                );
                return;
            }
        };
        if items.len() > usize::from(count) {
            let what = format_args!("{} values; the last ones are ignored", items.len());
            problems.report(key, what, format_args!("at most the {count} of {name}"));
        }
        for (index, item) in items.iter().enumerate().take(usize::from(count)) {
            // Below count, which is a u16, and within the kind because range() said so.
            let register = RegId(first.0.saturating_add(index as u16));
            inline_one(problems, sources, &key.index(index), wave.kind, register, item, floats, own);
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "a value's place, its meaning and where it goes")]
fn inline_one(
    problems: &mut Problems,
    sources: &mut Sources,
    key: &Key<'_>,
    kind: &Kind,
    id: RegId,
    value: &Inline,
    floats: bool,
    own: &mut Vec<(BackingId, RegisterBlock)>,
) {
    let Some(register) = kind.registers().get(usize::from(id.0)) else { return };
    let offset = sources.arena_end();
    let known = if register.is_vector() {
        let lanes = match value {
            Inline::Missing => return,
            Inline::List(lanes) => lanes,
            other => {
                problems.report(key, inline::found(other), "an array, lane 0 first");
                return;
            }
        };
        inline_lanes(problems, sources, key, register.dwords, lanes, floats)
    } else {
        match inline::scalar(value, register.dwords, floats) {
            Ok(None) => LaneSet::EMPTY,
            Ok(Some(value)) => {
                let bytes = value.to_le_bytes();
                sources.push(bytes.get(..register.bytes()).unwrap_or(&bytes));
                all(register.dwords)
            }
            Err((found, expected)) => {
                problems.report(key, found, expected);
                LaneSet::EMPTY
            }
        }
    };
    if known.is_empty() {
        return;
    }
    let Ok(width) = u16::try_from(register.bytes()) else { return };
    let block = RegisterBlock { first: id, count: 1, width, offset, known };
    if let Some((ARENA, last)) = own.last_mut()
        && !register.is_vector()
        && last.known == known
        && last.width == width
        && last.first.0.checked_add(last.count) == Some(id.0)
        && last.offset + run_length(last) == offset
    {
        // s0-s105 given inline is one block, not 106.
        last.count = last.count.saturating_add(1);
    } else {
        own.push((ARENA, block));
    }
}

fn inline_lanes(
    problems: &mut Problems,
    sources: &mut Sources,
    key: &Key<'_>,
    dwords: u16,
    lanes: &[Inline],
    floats: bool,
) -> LaneSet {
    if lanes.len() > usize::from(dwords) {
        let what = format_args!("{} values; the last ones are ignored", lanes.len());
        problems.report(key, what, format_args!("at most {dwords} lanes"));
    }
    let mut known = 0u64;
    for (index, lane) in lanes.iter().enumerate().take(usize::from(dwords)) {
        let value = match inline::scalar(lane, 1, floats) {
            Ok(value) => value,
            Err((found, expected)) => {
                problems.report(key.index(index), found, expected);
                None
            }
        };
        if value.is_some() {
            known |= 1u64.checked_shl(index as u32).unwrap_or(0);
        }
        // scalar() gave a value of one dword.
        sources.push(&(value.unwrap_or(0) as u32).to_le_bytes());
    }
    LaneSet(known)
}

impl Span {
    fn of(block: &RegisterBlock, source: SpanSource) -> Self {
        let last = block.first.0.saturating_add(block.count.saturating_sub(1));
        Self { first: block.first.0, last, source }
    }
}

fn run_length(block: &RegisterBlock) -> u64 {
    u64::from(block.count) * u64::from(block.width)
}

/// That many dwords, all known.
fn all(dwords: u16) -> LaneSet {
    LaneSet(1u64.checked_shl(u32::from(dwords)).map_or(u64::MAX, |bit| bit - 1))
}

/// Reports runs that two sources give; `layout` is sorted and its runs do not overlap.
fn report_twice(problems: &mut Problems, key: &Key<'_>, kind: &Kind, layout: &[Span], mut own: Vec<Span>) {
    own.sort_unstable();
    let mut report = |one: Span, other: Span| {
        let (first, last) = (one.first.max(other.first), one.last.min(other.last));
        let name = |id: u16| kind.registers().get(usize::from(id)).map_or("", |register| &register.name);
        let range = match first == last {
            true => name(first).to_owned(),
            false => format!("{}-{}", name(first), name(last)),
        };
        let (low, high) = (one.source.min(other.source), one.source.max(other.source));
        let what = match low == high {
            true => format!("{range} is given twice in {low}"),
            false => format!("{range} is given by {low} and by {high}; {high} counts"),
        };
        problems.report(key, what, "each register once");
    };
    let mut reach: Option<Span> = None;
    for span in &own {
        if let Some(before) = reach
            && before.last >= span.first
        {
            report(before, *span);
        }
        if reach.is_none_or(|before| before.last < span.last) {
            reach = Some(*span);
        }
        let from = layout.partition_point(|run| run.last < span.first);
        for run in layout.get(from..).unwrap_or_default().iter().take_while(|run| run.first <= span.last) {
            report(*run, *span);
        }
    }
}
