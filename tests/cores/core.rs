//! One or two files of a plan.

use super::area::{self, Area, Entry};
use super::elf::{self, Image, Mark, Notes, Segment};
use super::filler::{self, Filling};
use super::note;
use super::plan::{Layout, NotePlace, Plan};
use super::queue;
use super::words::Of;

/// The GPU's file, and the host's.
pub(crate) struct Core {
    pub(crate) gpu: Image,
    pub(crate) host: Option<Image>,
    /// The save areas: [queue][XCC].
    pub(crate) areas: Vec<Vec<AreaPlace>>,
    /// Parts of the note's descriptor, as offsets in `gpu`.
    pub(crate) note: Vec<Mark>,
}

/// A save area of one XCC.
pub(crate) struct AreaPlace {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) stack: (u64, u64),
    pub(crate) wave_begin: u64,
    pub(crate) wave_end: u64,
    pub(crate) blocks: Vec<(u64, u64)>,
}

/// Every wave by queue and XCC, in the order of the control stacks.
pub(crate) fn ordered(plan: &Plan) -> Vec<Vec<Vec<Entry<'_>>>> {
    let (mut index, mut group_index) = (0, 0);
    let mut all = Vec::new();
    for (queue_index, queue) in plan.queues.iter().enumerate() {
        let mut by_xcc = Vec::new();
        for (xcc, groups) in queue.xccs.iter().enumerate() {
            let mut waves = Vec::new();
            for group in groups {
                for (number, wave) in group.waves.iter().enumerate() {
                    let agent = &plan.agents[queue.agent];
                    let of = Of { plan, agent, queue, queue_index, xcc, group, wave, index };
                    let opens = (number == 0).then_some(group_index);
                    waves.push((of, opens, number + 1 == group.waves.len()));
                    index += 1;
                }
                group_index += 1;
            }
            by_xcc.push(waves);
        }
        all.push(by_xcc);
    }
    all
}

/// Written part of the bulk data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bulk {
    /// All.
    Filled,
    /// Vector registers and scratch are holes: for files of many gigabytes.
    Holes,
}

pub(crate) fn build(plan: &Plan, bulk: Bulk, more: Vec<Segment>) -> Core {
    build_ordered(plan, bulk, more, &|_| ())
}

/// [`build`] with a given order of segments.
pub(crate) fn build_ordered(
    plan: &Plan,
    bulk: Bulk,
    more: Vec<Segment>,
    order: &dyn Fn(&mut Vec<Segment>),
) -> Core {
    let mut segments = Vec::new();
    for index in 0..plan.agents.len() {
        let name = format!("code{index}");
        segments.push(Segment::of(&name, queue::code(index), queue::code_bytes(plan, index)));
    }
    let mut sizes = Vec::new();
    let mut places = Vec::new();
    for (index, by_xcc) in ordered(plan).iter().enumerate() {
        segments.push(Segment::of(
            &format!("ring{index}"),
            queue::ring(index),
            queue::ring_bytes(plan, index),
        ));
        let bytes = queue::amd_queue_bytes(plan, index);
        segments.push(Segment::of(&format!("amd_queue{index}"), queue::amd_queue(index), bytes));
        let seed = |xcc: usize| filler::word(plan.seed, Filling::Control, index as u32, xcc as u32, 1);
        let areas: Vec<Area> = (0..)
            .zip(by_xcc)
            .map(|(xcc, waves)| area::area(waves, true, bulk == Bulk::Filled, seed(xcc)))
            .collect();
        // All areas of a queue have the size of the largest. The debugger's memory is after the last one.
        let size = areas.iter().map(|area| area.size).max().unwrap_or(0);
        let base = queue::save_area(index);
        let mut pieces = Vec::new();
        let mut here = Vec::new();
        let used = areas.first().map_or(0, |area| area.wave_end - area.wave_begin);
        for (xcc, mut area) in (0u64..).zip(areas) {
            let first = xcc * size;
            // The debugger's memory is after all areas (libhsakmt, queues.c).
            let debug = (by_xcc.len() as u64 - xcc) * size;
            area.pieces[0].1[16..20].copy_from_slice(&(debug as u32).to_le_bytes());
            pieces.extend(area.pieces.into_iter().map(|(at, bytes)| (first + at, bytes)));
            here.push(AreaPlace {
                address: base + first,
                size,
                stack: area.stack,
                wave_begin: area.wave_begin,
                wave_end: area.wave_end,
                blocks: area.blocks,
            });
        }
        if !here.is_empty() {
            let total = size * here.len() as u64 + 0x1000;
            let name = format!("cwsr{index}");
            segments.push(Segment { name, address: base, size: total, pieces, host: false });
        }
        sizes.push(if plan.file.quirks.xcc0_sizes { used } else { size });
        places.push(here);
        segments.extend(scratch(plan, index, by_xcc, bulk));
    }
    if plan.file.quirks.lightweight {
        segments
            .retain(|segment| !segment.name.starts_with("ring") && !segment.name.starts_with("amd_queue"));
    }
    segments.extend(more);
    order(&mut segments);
    put_together(plan, &sizes, segments, places)
}

fn scratch(plan: &Plan, index: usize, by_xcc: &[Vec<Entry<'_>>], bulk: Bulk) -> Option<Segment> {
    let stride = queue::stride(plan, &plan.queues[index])?;
    let size = stride * by_xcc.len() as u64;
    let base = queue::scratch_backing(index);
    let mut pieces = Vec::new();
    if bulk == Bulk::Filled {
        let noise =
            (0..size as u32 / 4).map(|word| filler::word(plan.seed, Filling::Gap, index as u32, word, 3));
        let mut bytes = filler::bytes(noise);
        for (of, ..) in by_xcc.iter().flatten() {
            let Some((address, size)) = queue::scratch(*of) else { continue };
            let words = filler::bytes(queue::scratch_words(plan.seed, of.index, size));
            let at = (address - base) as usize;
            bytes[at..at + words.len()].copy_from_slice(&words);
        }
        pieces.push((0, bytes));
    }
    (size != 0).then(|| Segment { name: format!("scratch{index}"), address: base, size, pieces, host: false })
}

fn put_together(plan: &Plan, sizes: &[u64], mut segments: Vec<Segment>, areas: Vec<Vec<AreaPlace>>) -> Core {
    let file = &plan.file;
    let descriptor = note::descriptor(plan, sizes);
    let (gpu_note, at) = note::note("AMDGPU", 33, &descriptor.bytes);
    // The first notes of a host's dumper; a reader skips both. The metadata is another note of the same name.
    let (mut host_notes, _) = note::note("CORE", 1, &[0x5a; 336]);
    host_notes.extend(note::note("LINUX", 0x202, &[0x6b; 100]).0);
    host_notes.extend(note::note("AMDGPU", 32, b"not this one").0);
    let alone = |bytes: Vec<u8>| Notes { bytes, descriptor: None };
    let gpu_alone = Notes { bytes: gpu_note.clone(), descriptor: Some(at) };
    let notes = match (file.layout, file.host_notes) {
        (Layout::Split | Layout::Pair, _) => vec![gpu_alone],
        (Layout::Unified, NotePlace::Alone) => vec![gpu_alone, alone(host_notes.clone())],
        (Layout::Unified, NotePlace::Last) => vec![alone(host_notes.clone()), gpu_alone],
        (Layout::Unified, NotePlace::Behind) => {
            let before = host_notes.len();
            vec![Notes { bytes: [host_notes.clone(), gpu_note].concat(), descriptor: Some(before + at) }]
        }
    };
    let host = host_segments(plan);
    let (gpu, host) = match file.layout {
        Layout::Split => (elf::image(file, false, notes, segments), None),
        Layout::Pair => {
            let beside = elf::image(file, true, vec![alone(host_notes)], host);
            (elf::image(file, false, notes, segments), Some(beside))
        }
        Layout::Unified => {
            segments.extend(host);
            (elf::image(file, true, notes, segments), None)
        }
    };
    let first = gpu.mark("descriptor").offset;
    let note = descriptor.parts.into_iter().map(|(name, offset, size)| Mark {
        name,
        offset: first + offset as u64,
        size: size as u64,
    });
    Core { note: note.collect(), gpu, host, areas }
}

const HEAP: u64 = 0x5555_5580_0000;

/// URI of an agent's code object; the file does not exist.
pub(crate) fn uri(agent: usize) -> String {
    format!("file:///srv/app/kernels%2B{agent}.so#offset={}&size=9888", 4096 * (agent + 1))
}

/// The host's memory: the list of code objects, and unused pages.
fn host_segments(plan: &Plan) -> Vec<Segment> {
    const NODE: u64 = 40;
    let count = plan.agents.len() as u64;
    let mut heap = filler::bytes((0..1024).map(|word| filler::word(plan.seed, Filling::Gap, word, 0, 4)));
    let node = |index: u64| HEAP + 0x100 + index * NODE;
    let mut text_at = 0x100 + count * NODE;
    for index in 0..count {
        let text = uri(index as usize);
        let next = if index + 1 < count { node(index + 1) } else { 0 };
        let before = if index > 0 { node(index - 1) } else { 0 };
        let at = (0x100 + index * NODE) as usize;
        let fields = [queue::code(index as usize), HEAP + text_at, 0, next, before];
        let bytes: Vec<u8> = fields.into_iter().flat_map(u64::to_le_bytes).collect();
        heap[at..at + bytes.len()].copy_from_slice(&bytes);
        let at = text_at as usize;
        heap[at..at + text.len()].copy_from_slice(text.as_bytes());
        heap[at + text.len()] = 0;
        text_at += text.len() as u64 + 1;
    }
    let mut page = filler::bytes((0..1024).map(|word| filler::word(plan.seed, Filling::Gap, word, 0, 5)));
    let mut debug = plan.process.r_version.to_le_bytes().to_vec();
    debug.extend([0; 4]);
    debug.extend(node(0).to_le_bytes());
    debug.extend([0; 24]);
    page[0x40..0x40 + debug.len()].copy_from_slice(&debug);
    vec![
        Segment::of("host:heap", HEAP, heap).of_host(),
        Segment::of("host:rdebug", note::R_DEBUG & !0xfff, page).of_host(),
    ]
}
