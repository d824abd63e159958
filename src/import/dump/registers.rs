//! A wave's registers: layouts, resolved once for each kind of wave; bulk entries and inline values as blocks.

use std::collections::HashMap;
use std::sync::Arc;

use super::data::Sources;
use super::key::Key;
use super::manifest::{self, InlineRegisters};
use super::names::Names;
use super::read::LEFT_OUT;
use super::shape::Field;
use super::spans::{Span, SpanSource, report_twice};
use super::values::Values;
use crate::arch::{RegId, WaveArch};
use crate::capture::{BackingId, Extent, RegisterBlock, Registers};
use crate::import::problem::Problems;
use crate::units::LaneSet;

/// The effect of a fault in the table `image`.
const NO_IMAGE: &str = "the image is left out";

/// Index into the builder's table of kinds; cheaper as a key than the kind itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct KindIndex(pub(super) usize);

/// Layouts of the manifest, and their resolved forms for each kind of wave.
#[derive(Debug)]
pub(super) struct Layouts<'m, 'de> {
    by_name: HashMap<&'m str, (usize, &'m manifest::Layout<'de>)>,
    resolved: HashMap<(usize, KindIndex), Layout>,
    /// The last wave's layout.
    last: Option<(&'m str, KindIndex, Layout)>,
    names: Names,
}

/// A layout for one kind of wave.
#[derive(Clone, Debug)]
struct Layout {
    blocks: Arc<[RegisterBlock]>,
    /// Bytes of its image.
    size: u64,
    /// Its runs of registers, sorted.
    spans: Arc<[Span]>,
}

/// One wave during the reading of its registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaveKind<'a> {
    pub(super) kind: &'a WaveArch,
    pub(super) index: KindIndex,
}

impl<'m, 'de> Layouts<'m, 'de> {
    /// Reads the names; blocks are resolved when a wave determines the set of registers.
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
                let what = format_args!("{name:?} is taken by an earlier entry; this one is left out");
                problems.report(key.name("name"), what, "names that are unique");
                continue;
            }
            by_name.insert(name, (index, layout));
        }
        Self { by_name, resolved: HashMap::new(), last: None, names: Names::default() }
    }

    /// All registers of a wave in the manifest.
    pub(super) fn registers(
        &mut self,
        problems: &mut Problems,
        sources: &mut Sources,
        key: &Key<'_>,
        wave: WaveKind<'_>,
        entry: &manifest::Wave<'de>,
    ) -> Registers {
        self.names.next_wave();
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
                let Some(range) = self.range(problems, &key, wave, name) else { continue };
                let before = registers.own.len();
                let mut values = Values { problems, sources, kind: wave.kind, own: &mut registers.own };
                values.take(&key, name, range, value);
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
        let name = &*problems.needed(key, "layout", &image.layout, NO_IMAGE)?.0;
        let layout = self.layout_of(problems, key, wave, name)?;
        let mut extent = sources.required(problems, key, image.data(), NO_IMAGE)?;
        // A length beyond the end of the file is reported with the file's size.
        let reported = matches!(image.length, Field::Given(length) if length > extent.length);
        if extent.length < layout.size && !reported {
            sources.blame(
                problems,
                extent,
                key,
                format_args!("the image has {} bytes; registers beyond it are not captured", extent.length),
                format_args!("the {} bytes of layout {name:?}", layout.size),
            );
        }
        extent.length = extent.length.min(layout.size);
        Some((layout, extent))
    }

    fn layout_of(
        &mut self,
        problems: &mut Problems,
        key: &Key<'_>,
        wave: WaveKind<'_>,
        name: &str,
    ) -> Option<Layout> {
        if let Some((last, kind, layout)) = &self.last
            && (*last, *kind) == (name, wave.index)
        {
            return Some(layout.clone());
        }
        let Some((known, (index, entry))) = self.by_name.get_key_value(name) else {
            let what = format_args!("no layout has the name {name:?}");
            problems.report(key.name("layout"), what, "the name of a [[layout]]");
            return None;
        };
        let (known, index, entry) = (*known, *index, *entry);
        let layout = match self.resolved.get(&(index, wave.index)) {
            Some(layout) => layout.clone(),
            None => {
                let layout = self.layout(problems, index, wave, entry);
                self.resolved.insert((index, wave.index), layout.clone());
                layout
            }
        };
        self.last = Some((known, wave.index, layout.clone()));
        Some(layout)
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
        // Overlaps already have a problem, and every manifest has few merged runs.
        spans.dedup_by(|span, before| {
            let overlap = span.first <= before.last;
            before.last = if overlap { before.last.max(span.last) } else { before.last };
            overlap
        });
        Layout { blocks: blocks.into(), size, spans: spans.into() }
    }

    /// A block without a place: registers, width, lanes.
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
        let mut known = LaneSet::lowest(register.dwords.into());
        if lanes.is_given() && register.is_vector() {
            // An unreadable mask leaves an unknown part of the bits missing.
            let mask = problems.number(key, "lanes", lanes)?;
            if mask & !wave.kind.wave_size.all().0 != 0 {
                let what = format_args!("{mask:#x} has lanes that a {} does not have", wave.kind.wave_size);
                let expected = format_args!("a mask within {:#x}", wave.kind.wave_size.all().0);
                problems.report(key.name("lanes"), what, expected);
            }
            known = LaneSet(mask & known.0);
        } else if lanes.is_given() && register.dwords > 1 {
            let mask = problems.number(key, "lanes", lanes)?;
            if mask & !known.0 != 0 {
                let what = format_args!("{mask:#x} has dwords that {name} does not have");
                let expected = format_args!("a mask within {:#x}", known.0);
                problems.report(key.name("lanes"), what, expected);
            }
            known = LaneSet(mask & known.0);
        } else if lanes.is_given() {
            let what = format_args!("{name} has one dword; the mask is ignored");
            problems.report(key.name("lanes"), what, "a mask only for registers of several");
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
        match self.names.find(wave, name) {
            Ok(found) => Some(found),
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
        let Some(extent) = sources.required(problems, key, bulk.data(), LEFT_OUT) else { return Vec::new() };
        block.offset = extent.offset;
        // Bytes of lanes after the last captured one are optional, since they have no meaning.
        let used = u64::from(64 - block.known.0.leading_zeros()) * 4;
        let needed = u64::from(block.count.saturating_sub(1)) * u64::from(block.width) + used;
        let cut = matches!(bulk.length, Field::Given(length) if length > extent.length);
        let exact = bulk.length.is_given() || !bulk.file.is_given();
        let rest = if extent.length < needed && !cut {
            Some("the rest is not captured")
        } else if extent.length > run_length(&block) && exact {
            Some("the rest is ignored")
        } else {
            None
        };
        if let Some(rest) = rest {
            sources.blame(
                problems,
                extent,
                key,
                format_args!("the data has {} bytes; {rest}", extent.length),
                format_args!("{needed} bytes: registers of {} bytes, {} of them", block.width, block.count),
            );
        }
        if extent.length >= needed {
            return vec![(extent.backing, block)];
        }
        // Complete registers, then the truncated one.
        let whole = extent.length / u64::from(block.width.max(1));
        let left = extent.length % u64::from(block.width.max(1)) / 4;
        // Less than block.count, because the data is shorter than the block.
        let whole = u16::try_from(whole).unwrap_or(block.count);
        let mut blocks = Vec::new();
        if whole > 0 {
            blocks.push((extent.backing, RegisterBlock { count: whole, ..block }));
        }
        let known = block.known.and(LaneSet::lowest(left as u32));
        if !known.is_empty() {
            let first = RegId(block.first.0.saturating_add(whole));
            let offset = block.offset + u64::from(whole) * u64::from(block.width);
            blocks.push((extent.backing, RegisterBlock { first, count: 1, offset, known, ..block }));
        }
        blocks
    }
}

/// Bytes of all registers of a block.
pub(super) fn run_length(block: &RegisterBlock) -> u64 {
    u64::from(block.count) * u64::from(block.width)
}
