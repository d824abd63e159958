//! The note: its frame and its descriptor.

use super::plan::{Agent, Plan, Process};
use super::queue;

/// Address of the process's list of code objects.
pub(crate) const R_DEBUG: u64 = 0x7fff_f7e0_0040;

/// A descriptor's tables, for tests that damage it: name, offset, bytes.
pub(crate) struct Descriptor {
    pub(crate) bytes: Vec<u8>,
    pub(crate) parts: Vec<(String, usize, usize)>,
}

fn entry(fields: &[&[u8]], size: usize) -> Vec<u8> {
    let mut bytes = fields.concat();
    // Files of another KFD have fewer or more fields.
    bytes.resize(size.max(bytes.len()), 0xa5);
    bytes.truncate(size);
    bytes
}

fn agent(plan: &Plan, agent: &Agent, process: &Process) -> Vec<u8> {
    let Agent { id, gpu, xccs, engines, arrays_per_engine, always_valid, apertures: [lds, scratch] } = *agent;
    // Trap debugging and debugging firmware: AMD's library ignores the queues of an agent without them.
    let capability: u32 = 1 << 15 | 1 << 29;
    let word = |value: u32| value.to_le_bytes();
    let long = |value: u64| value.to_le_bytes();
    entry(
        &[
            &long(0),
            &long(lds),
            &long(lds | 0xffff_ffff),
            &long(scratch),
            &long(scratch | 0xffff_ffff),
            &long(0x1000),
            &long(0x7fff_ffff_ffff),
            &word(id),
            &word(0xc100),
            &word(0x1002),
            &word(0x740f),
            &word(1),
            &word(0x1002),
            &word(0x0c34),
            &word(plan.seed & 0xff),
            &word(gpu.version),
            &word(engines * arrays_per_engine * xccs * 4),
            &word(8),
            &word(engines * arrays_per_engine * if plan.file.quirks.xcc0_sizes { xccs } else { 1 }),
            &word(arrays_per_engine),
            &word(xccs),
            &word(capability),
            &word(if always_valid { 0x400 } else { 0 }),
            &word(0),
            &word(0),
        ],
        process.agent_entry,
    )
}

pub(crate) fn descriptor(plan: &Plan, area_sizes: &[u64]) -> Descriptor {
    let process = &plan.process;
    let mut bytes = Vec::new();
    let mut parts = Vec::new();
    let long = |value: u64| value.to_le_bytes();
    let word = |value: u32| value.to_le_bytes();
    if let Some(version) = process.note_version {
        bytes.extend(long(version));
    }
    bytes.extend(word(process.kfd.0));
    bytes.extend(word(process.kfd.1));
    bytes.extend(long(process.runtime_entry as u64));
    bytes.extend(word(plan.agents.len() as u32));
    bytes.extend(word(process.agent_entry as u32));
    bytes.extend(word(plan.queues.len() as u32));
    bytes.extend(word(process.queue_entry as u32));
    parts.push(("note header".to_owned(), 0, bytes.len()));
    let mut part = |name: String, more: Vec<u8>| {
        parts.push((name, bytes.len(), more.len()));
        bytes.extend(more);
    };
    let setup = u32::from(process.ttmp_setup);
    part("runtime info".to_owned(), entry(&[&long(R_DEBUG), &word(1), &word(setup)], process.runtime_entry));
    for each in &plan.agents {
        part(format!("agent {}", each.id), agent(plan, each, process));
    }
    for (index, each) in plan.queues.iter().enumerate() {
        let (area, size) =
            if each.xccs.is_empty() { (0, 0) } else { (queue::save_area(index), area_sizes[index]) };
        let fields: [&[u8]; 11] = [
            &long(0),
            &long(queue::ring(index)),
            &long(queue::write_pointer(index)),
            &long(queue::read_pointer(index)),
            &long(area),
            &word(each.id | each.id_marks),
            &word(plan.agents[each.agent].id),
            &word(each.packets * 64),
            &word(each.kind),
            &word(size as u32),
            &word(0),
        ];
        part(format!("queue {}", each.id), entry(&fields, process.queue_entry));
    }
    Descriptor { bytes, parts }
}

/// A note with its frame, and the offset of the descriptor in it.
pub(crate) fn note(name: &str, kind: u32, descriptor: &[u8]) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    bytes.extend((name.len() as u32 + 1).to_le_bytes());
    bytes.extend((descriptor.len() as u32).to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let at = bytes.len();
    bytes.extend(descriptor);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    (bytes, at)
}
