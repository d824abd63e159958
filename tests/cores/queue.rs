//! Memory of a queue: the ring of packets, `amd_queue_t`, scratch.

use super::filler::{self, Filling};
use super::gpu::{Counts, Family};
use super::plan::{Dispatch, Plan, Queue, Scratch};
use super::words::Of;

/// Offsets in `amd_queue_t`.
const READ_ID: u64 = 0x80;
const WRITE_ID: u64 = 0x38;

pub(crate) const CODE: u64 = 0x7f10_0000_0000;
const CODE_STRIDE: u64 = 1 << 20;
pub(crate) const CODE_BYTES: u64 = 0x4000;
/// Offsets of kernel descriptors and entries in the code of an agent.
const DESCRIPTOR: u64 = 0x980;
const ENTRY: u64 = 0x1c00;

pub(crate) fn code(agent: usize) -> u64 {
    CODE + agent as u64 * CODE_STRIDE
}

pub(crate) fn kernel_object(agent: usize, dispatch: &Dispatch) -> u64 {
    code(agent) + DESCRIPTOR + 0x40 * (dispatch.id % 8)
}

pub(crate) fn kernarg(queue: usize, dispatch: &Dispatch) -> u64 {
    0x7f50_0000_0000 + ((queue as u64) << 20) + 0x100 * (dispatch.id % 64)
}

pub(crate) fn ring(queue: usize) -> u64 {
    0x7f20_0000_0000 + ((queue as u64) << 20)
}

pub(crate) fn amd_queue(queue: usize) -> u64 {
    0x7f21_0000_0000 + ((queue as u64) << 16)
}

pub(crate) fn read_pointer(queue: usize) -> u64 {
    amd_queue(queue) + READ_ID
}

pub(crate) fn write_pointer(queue: usize) -> u64 {
    amd_queue(queue) + WRITE_ID
}

pub(crate) fn save_area(queue: usize) -> u64 {
    0x7e00_0000_0000 + ((queue as u64) << 34)
}

pub(crate) fn scratch_backing(queue: usize) -> u64 {
    0x7f40_0000_0000 + ((queue as u64) << 32)
}

/// COMPUTE_TMPRING_SIZE.
fn tmpring(family: Family, scratch: &Scratch) -> u32 {
    let (granule, limit) = match family {
        Family::Navi3 => (256, 1 << 15),
        Family::Navi4 | Family::Gfx125 => (256, 1 << 18),
        _ => (1024, 1 << 13),
    };
    assert!(scratch.waves < 1 << 12 && scratch.wave_bytes.is_multiple_of(granule));
    let size = scratch.wave_bytes / granule;
    assert!(size < limit);
    size << 12 | scratch.waves
}

/// Bytes that the waves of one XCC need.
fn needed(family: Family, engines: u32, scratch: &Scratch) -> u64 {
    let per_engine = family >= Family::Navi3;
    let waves = u64::from(scratch.waves) * if per_engine { u64::from(engines) } else { 1 };
    waves * u64::from(scratch.wave_bytes)
}

/// Distance between the scratch parts of two XCCs.
pub(crate) fn stride(plan: &Plan, queue: &Queue) -> Option<u64> {
    let agent = &plan.agents[queue.agent];
    let scratch = queue.scratch.as_ref()?;
    Some(needed(agent.gpu.family, agent.engines, scratch) + scratch.slack)
}

/// Offset of a wave's region in its XCC's part; `None` if the waves do not divide evenly among the engines.
pub(crate) fn place(
    family: Family,
    engines: u32,
    scratch: &Scratch,
    engine: u32,
    scoreboard: u32,
) -> Option<u64> {
    let size = u64::from(scratch.wave_bytes);
    if family >= Family::Navi3 {
        return Some((u64::from(scratch.waves) * u64::from(engine) + u64::from(scoreboard)) * size);
    }
    if !scratch.waves.is_multiple_of(engines) {
        return None;
    }
    Some((u64::from(scratch.waves / engines) * u64::from(engine) + u64::from(scoreboard)) * size)
}

/// A wave's scratch: address and bytes.
pub(crate) fn scratch(of: Of<'_>) -> Option<(u64, u64)> {
    let scratch = of.queue.scratch.as_ref().filter(|scratch| scratch.wave_bytes != 0)?;
    let slot = of.wave.slot;
    let offset = place(of.agent.gpu.family, of.agent.engines, scratch, slot.engine, slot.scoreboard)?;
    assert!(offset < needed(of.agent.gpu.family, of.agent.engines, scratch), "{}: slot", of.plan.name);
    let part = stride(of.plan, of.queue)? * of.xcc as u64;
    Some((scratch_backing(of.queue_index) + part + offset, u64::from(scratch.wave_bytes)))
}

/// The contents of a wave's scratch.
pub(crate) fn scratch_words(seed: u32, wave: u32, bytes: u64) -> Vec<u32> {
    (0..bytes as u32 / 4).map(|index| filler::word(seed, Filling::Scratch, wave, index, 0)).collect()
}

/// A dispatch packet.
pub(crate) fn packet(queue_index: usize, agent: usize, dispatch: &Dispatch) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    // Type in the low byte (1: invalid, 2: kernel dispatch), barrier bit, system-scope fences.
    let header: u16 = if dispatch.invalidated { 0x1501 } else { 0x1502 };
    put(0, &header.to_le_bytes());
    put(2, &dispatch.dimensions.to_le_bytes());
    for (index, size) in dispatch.workgroup.iter().enumerate() {
        put(4 + 2 * index, &size.to_le_bytes());
    }
    for (index, size) in dispatch.grid.iter().enumerate() {
        put(12 + 4 * index, &size.to_le_bytes());
    }
    put(24, &dispatch.private_bytes.to_le_bytes());
    put(28, &dispatch.group_bytes.to_le_bytes());
    put(32, &kernel_object(agent, dispatch).to_le_bytes());
    put(40, &kernarg(queue_index, dispatch).to_le_bytes());
    put(56, &0x7f60_0000_0300u64.to_le_bytes());
    bytes
}

/// The ring: dispatches at their indices, invalid packets elsewhere.
pub(crate) fn ring_bytes(plan: &Plan, queue_index: usize) -> Vec<u8> {
    let queue = &plan.queues[queue_index];
    let mut ring = vec![0; queue.packets as usize * 64];
    for packet in ring.chunks_exact_mut(64) {
        packet[0] = 1;
    }
    for dispatch in &queue.dispatches {
        let at = (dispatch.id % u64::from(queue.packets)) as usize * 64;
        ring[at..at + 64].copy_from_slice(&packet(queue_index, queue.agent, dispatch));
    }
    ring
}

/// `amd_queue_t`: a page of noise around the fields that a reader needs.
pub(crate) fn amd_queue_bytes(plan: &Plan, queue_index: usize) -> Vec<u8> {
    let queue = &plan.queues[queue_index];
    let agent = &plan.agents[queue.agent];
    let noise = (0..1024).map(|index| filler::word(plan.seed, Filling::Gap, queue_index as u32, index, 1));
    let mut bytes = filler::bytes(noise);
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0x08, &ring(queue_index).to_le_bytes());
    put(0x18, &queue.packets.to_le_bytes());
    put(WRITE_ID as usize, &queue.write.to_le_bytes());
    put(0x40, &0x0001_0000u32.to_le_bytes());
    put(0x44, &0x0002_0000u32.to_le_bytes());
    put(READ_ID as usize, &queue.read.to_le_bytes());
    let size = queue.scratch.as_ref().map_or(0, |scratch| tmpring(agent.gpu.family, scratch));
    put(0x8c, &size.to_le_bytes());
    put(0xa0, &scratch_backing(queue_index).to_le_bytes());
    // r_version 11 removed these fields: noise.
    if plan.process.r_version < 11 {
        put(0xa8, &stride(plan, queue).unwrap_or(0).to_le_bytes());
    }
    bytes
}

/// Code of an agent: noise with kernel descriptors in it.
pub(crate) fn code_bytes(plan: &Plan, agent: usize) -> Vec<u8> {
    let noise = |index| filler::word(plan.seed, Filling::Gap, agent as u32, index, 2);
    let mut bytes = filler::bytes((0..CODE_BYTES as u32 / 4).map(noise));
    for number in 0..8u64 {
        let descriptor = DESCRIPTOR + 0x40 * number;
        let entry = (ENTRY + 0x100 * number - descriptor).to_le_bytes();
        let at = descriptor as usize;
        if let Some(counts) = kernel_counts(plan, agent, number) {
            let words = kernel_words(plan.agents[agent].gpu.family, counts);
            bytes[at..at + 64].fill(0);
            for (offset, word) in words {
                bytes[at + offset..at + offset + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
        bytes[at + 16..at + 24].copy_from_slice(&entry);
    }
    bytes
}

/// Register counts of a kernel's waves if all are equal; otherwise the descriptor is noise.
fn kernel_counts(plan: &Plan, agent: usize, number: u64) -> Option<Counts> {
    let queues = plan.queues.iter().filter(|queue| queue.agent == agent);
    let groups = queues.flat_map(|queue| queue.xccs.iter().flatten());
    let mut waves = groups.filter(|group| group.dispatch % 8 == number).flat_map(|group| &group.waves);
    let counts = waves.next()?.counts;
    waves.all(|wave| wave.counts == counts).then_some(counts)
}

/// COMPUTE_PGM_RSRC1, COMPUTE_PGM_RSRC3 and properties by their offset in a descriptor (AMDGPUUsage, "Kernel
/// Descriptor").
fn kernel_words(family: Family, counts: Counts) -> [(usize, u32); 3] {
    let Counts { lanes, vgprs, accs, sgprs, shared } = counts;
    let (granule, rsrc3) = match family {
        Family::Aldebaran | Family::Aqua | Family::Gfx950 => (8, vgprs / 4 - 1),
        Family::Navi1 | Family::Navi2 | Family::Navi3 => (family.vgpr_granule(lanes), shared / 8),
        _ => (family.vgpr_granule(lanes), 0),
    };
    let all = if family.has_unified_accs() { vgprs + accs } else { vgprs };
    let scalars = if family.is_gfx9() { 2 * ((sgprs + 16) / 16 - 1) } else { 0 };
    [(48, (all / granule - 1) | (scalars << 6)), (44, rsrc3), (56, u32::from(lanes == 32) << 10)]
}
