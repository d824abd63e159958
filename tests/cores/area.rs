//! Save area of an XCC: header, control stack, and blocks of waves from its end downwards.

use super::filler::{self, Filling};
use super::gpu::{Counts, Family, Slot};
use super::plan::Wave;
use super::words::{self, Of};

const PAGE: u64 = 0x1000;

/// Offsets of a block's parts from its lowest byte, where v0 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockLayout {
    pub(crate) shared: u64,
    pub(crate) accs: u64,
    pub(crate) scalars: u64,
    pub(crate) hardware: u64,
    pub(crate) traps: u64,
    pub(crate) lds: u64,
    /// Bytes from v0 to the top.
    pub(crate) size: u64,
}

/// `lds`: bytes of LDS in the block: the work-group's for its first wave, 0 for the others.
pub(crate) fn block_layout(family: Family, counts: Counts, lds: u32) -> BlockLayout {
    let vectors = u64::from(counts.vgprs) * u64::from(counts.lanes) * 4;
    // No generation has both.
    let shared = vectors;
    let accs = vectors + u64::from(counts.shared) * 128;
    let scalars = accs + u64::from(counts.accs) * 256;
    let hardware = scalars + u64::from(counts.sgprs) * 4;
    let above = hardware + u64::from(family.hardware_slots()) * 4;
    let (traps, lds_at) =
        if family.has_traps_in_scalars() { (hardware - 64, above) } else { (above, above + 64) };
    BlockLayout { shared, accs, scalars, hardware, traps, lds: lds_at, size: lds_at + u64::from(lds) }
}

/// A wave in a control stack: the index of the work-group that it opens, and whether it closes one.
pub(crate) type Entry<'a> = (Of<'a>, Option<u32>, bool);

/// Contents of one wave's block.
pub(crate) struct Block {
    pub(crate) layout: BlockLayout,
    /// From v0 to the scalars; empty where a plan leaves them out (holes of a sparse file).
    pub(crate) vectors: Vec<u8>,
    /// From the scalars to the top.
    pub(crate) rest: Vec<u8>,
}

/// `group`: index of the work-group, for the filler of its LDS; `None`: not the first wave.
pub(crate) fn block(of: Of<'_>, group: Option<u32>, with_vectors: bool) -> Block {
    let counts = of.wave.counts;
    let lds = group.map_or(0, |_| of.group.lds);
    let family = of.agent.gpu.family;
    let layout = block_layout(family, counts, lds);
    let seed = of.plan.seed;
    let mut vectors = Vec::new();
    if with_vectors {
        vectors.reserve(layout.scalars as usize);
        let mut file = |kind, count, lanes| {
            for register in 0..count {
                for lane in 0..lanes {
                    let value = filler::word(seed, kind, of.index, register, lane);
                    vectors.extend_from_slice(&value.to_le_bytes());
                }
            }
        };
        file(Filling::Vector, counts.vgprs, counts.lanes);
        file(Filling::Shared, counts.shared, 32);
        file(Filling::Accumulator, counts.accs, 64);
        assert_eq!(vectors.len() as u64, layout.scalars);
    }
    let image = words::words(of);
    let (mut scalars, traps) = (image.scalars.clone(), words::trap_words(of, &image.traps));
    let in_scalars = family.has_traps_in_scalars();
    if in_scalars {
        let first = scalars.len() - traps.len();
        scalars[first..].copy_from_slice(&traps);
    }
    let mut rest = filler::bytes(scalars);
    rest.extend(filler::bytes(words::hardware_words(of, &image.hardware)));
    if !in_scalars {
        rest.extend(filler::bytes(traps));
    }
    rest.extend(filler::bytes(lds_words(seed, group.unwrap_or_default(), lds)));
    assert_eq!(rest.len() as u64, layout.size - layout.scalars);
    Block { layout, vectors, rest }
}

pub(crate) fn lds_words(seed: u32, group: u32, bytes: u32) -> impl Iterator<Item = u32> {
    (0..bytes / 4).map(move |index| filler::word(seed, Filling::Lds, group, index, 0))
}

/// Area of one XCC: bytes with their offsets in ascending order, and its size.
pub(crate) struct Area {
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
    pub(crate) size: u64,
    /// First byte and size of each wave's block, in the order of the control stack.
    pub(crate) blocks: Vec<(u64, u64)>,
    /// First byte and bytes of the control stack.
    pub(crate) stack: (u64, u64),
    pub(crate) wave_begin: u64,
    pub(crate) wave_end: u64,
}

/// `events`: whether the control stack also has words that a reader must skip.
pub(crate) fn area(waves: &[Entry<'_>], events: bool, with_vectors: bool, seed: u32) -> Area {
    let mut chooser = filler::Chooser::new(seed);
    let mut noise = 0;
    let mut any = || {
        noise += 1;
        filler::word(seed, Filling::Control, noise, 0, 0)
    };
    if waves.is_empty() {
        return Area {
            pieces: vec![(0, vec![0; 40])],
            size: PAGE,
            blocks: Vec::new(),
            stack: (0, 0),
            wave_begin: 0,
            wave_end: 0,
        };
    }
    // Two words of PM4 in front, with arbitrary contents.
    let mut stack = vec![any(), any()];
    let mut current: Option<(Counts, u32, bool)> = None;
    for (of, group, last) in waves {
        let family = of.agent.gpu.family;
        let state = (of.wave.counts, of.group.lds, of.group.takeover);
        if current != Some(state) {
            if events && chooser.one_in(2) {
                stack.push(any() | 1 << 30);
            }
            stack.push(family.state(of.wave.counts, of.group.lds, of.group.takeover).over(any()));
            if family.state_words() == 2 {
                // Arbitrary contents.
                stack.push(any() | 0b11 << 30);
            }
            current = Some(state);
        }
        if events && chooser.one_in(3) {
            stack.push(any() & 0x3fff_ffff | 1 << 30 | chooser.below(2) << 31);
        }
        stack.push(family.wave(of.wave.slot, group.is_some(), *last).over(any()));
    }
    if events {
        stack.push(any() | 1 << 30);
    }
    let stack_bytes = 4 * stack.len() as u64;
    let begin = (40 + stack_bytes).next_multiple_of(PAGE);
    let stack_at = begin - stack_bytes;
    let blocks: Vec<Block> = waves.iter().map(|(of, group, _)| block(*of, *group, with_vectors)).collect();
    let gap = waves[0].0.agent.gpu.family.gap();
    let total: u64 = blocks.iter().map(|block| block.layout.size + gap).sum();
    let end = begin + total;

    let mut header = Vec::with_capacity(40);
    for value in [stack_at as u32, stack_bytes as u32, end as u32, total as u32, 0, 0, any(), any(), any(), 0]
    {
        header.extend(value.to_le_bytes());
    }
    let mut pieces = vec![(0, header), (stack_at, filler::bytes(stack))];
    let mut places = Vec::new();
    let mut last = end;
    let mut high = Vec::new();
    for block in blocks {
        last -= gap + block.layout.size;
        places.push((last, block.layout.size));
        // Downwards here, reversed below. The gap is noise: readers must not take it for a register.
        if gap != 0 && with_vectors {
            high.push((last + block.layout.size, filler::bytes((0..gap / 4).map(|_| any()))));
        }
        high.push((last + block.layout.scalars, block.rest));
        if !block.vectors.is_empty() {
            high.push((last, block.vectors));
        }
    }
    assert_eq!(last, begin);
    pieces.extend(high.into_iter().rev());
    Area {
        pieces,
        size: end.next_multiple_of(PAGE),
        blocks: places,
        stack: (stack_at, stack_bytes),
        wave_begin: begin,
        wave_end: end,
    }
}

/// Registers and slot of a plain wave.
pub(crate) fn plain(counts: Counts, pc: u64) -> Wave {
    Wave {
        in_group: 0,
        counts,
        slot: Slot { engine: 0, scoreboard: 0, scratch_enabled: true },
        pc,
        exec: u64::MAX >> (64 - counts.lanes),
        stop: None,
        status: 0x0001_0041,
        halted: false,
        mode: 0x2f0,
        no_vgprs: false,
        no_dispatch_info: false,
        unmarked: false,
        scalars: Vec::new(),
    }
}
