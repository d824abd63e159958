//! The whole contents of a capture, as one JSON document (docs/export-format.md).
//!
//! It is written item by item, and memory while it is read: at most one wave's state is held, without its memory.

mod bytes;
mod share;
mod types;

use std::collections::HashSet;
use std::io::{self, Write};

use serde::Serialize;

use self::bytes::{Memory, is_stored};
use self::share::{Share, bytes_of, registers_of};
#[cfg(test)]
pub(crate) use self::types::Members;
pub use self::types::Provenance;
use self::types::{
    ExportedAgent, ExportedDispatch, ExportedGroup, ExportedObject, ExportedQueue, ExportedWave, Segment,
};
pub(crate) use self::types::{Head, RegisterText, Registers, named_registers};
use super::fault;
use super::schema::{Document, Hex};
use super::stack::CallStack;
use crate::arch::RegisterValue;
use crate::capture::{Capture, Dispatch, Hardware, MemoryMap, Queue, Wave};
use crate::codeobject::hex;
use crate::session::{Dump, MemoryAddress, Reader};
use crate::units::{Address, AddressSpace, LaneId, LaneSet, WaveId};

/// Bytes of a packet.
const PACKET: u64 = 64;
/// Maximum number of packets in a document: sixteen of the largest rings that ROCm makes.
const MAX_PACKETS: u64 = 1 << 18;

/// The swizzled and the backing view of private memory (DW_ASPACE_AMDGPU_private_lane, _wave).
const PRIVATE_LANE: AddressSpace = AddressSpace(5);

/// Writes a dump's contents; `waves` chooses waves, `None` all of them.
///
/// # Errors
/// The error of the writer, or of the file of a register or byte.
pub fn export(reader: &Reader, waves: Option<&[WaveId]>, out: &mut dyn Write) -> io::Result<()> {
    let dump = reader.dump();
    let capture = dump.capture();
    begin(out, &Document::new(Head { name: capture.name.clone() }))?;
    member(out, "provenance", &Provenance::of(capture))?;
    member(out, "problems", dump.problems())?;
    member(out, "faults", &fault::json(&capture.faults))?;
    member(out, "agents", &agents(capture))?;
    let mut left = MAX_PACKETS;
    list(out, "queues", capture.queues.iter(), |out, queue| {
        json_to(out, &self::queue(capture, queue, &mut left)?)
    })?;
    let ids = packet_ids(capture);
    member(out, "dispatches", &dispatches(reader.dump(), &ids))?;
    member(out, "code_objects", &code_objects(dump))?;
    member(out, "memory", &segments(&capture.global))?;
    let all = (0u32..).take(capture.waves.len()).map(WaveId);
    let chosen: Vec<WaveId> = all.filter(|wave| waves.is_none_or(|waves| waves.contains(wave))).collect();
    let mut share = Share::of(capture, &chosen);
    list(out, "workgroups", capture.workgroups.iter(), |out, group| {
        let queue = group.queue.and_then(|index| capture.queues.get(index));
        begin(
            out,
            &ExportedGroup {
                id: group.id,
                queue_id: queue.map(|queue| queue.id),
                packet_id: group.dispatch.and_then(|index| *ids.get(index)?),
                coord: group.position,
                local_bytes: group.lds_size,
            },
        )?;
        match share.take(bytes_of(&group.lds)) {
            Ok(()) => {
                out.write_all(b",\"local\":")?;
                memory(capture, &group.lds, group.lds_size, out)?;
            }
            Err(left_out) => write!(out, ",\"local\":null,\"local_left_out\":{left_out}")?,
        }
        out.write_all(b"}")
    })?;
    list(out, "waves", chosen.into_iter(), |out, id| wave(reader, &ids, id, &mut share, out))?;
    out.write_all(b"}\n")
}

fn member(out: &mut dyn Write, key: &str, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    write!(out, ",\n\"{key}\":")?;
    json_to(out, value)
}

fn json_to(out: &mut dyn Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}

/// Writes an object without its end: members that are too large for memory follow.
fn begin(out: &mut dyn Write, facts: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(facts)?;
    out.write_all(text.strip_suffix('}').unwrap_or(&text).as_bytes())
}

fn list<T>(
    out: &mut dyn Write,
    key: &str,
    items: impl Iterator<Item = T>,
    mut each: impl FnMut(&mut dyn Write, T) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, ",\n\"{key}\":[")?;
    for (index, item) in items.enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        each(out, item)?;
    }
    out.write_all(b"]")
}

fn agents(capture: &Capture) -> Vec<ExportedAgent> {
    let each = capture.agents.iter().map(|agent| {
        let hardware = |of: fn(&Hardware) -> u32| agent.hardware.as_ref().map(of);
        let mut apertures: Vec<_> = agent.apertures.iter().collect();
        apertures.sort();
        let name =
            |id: AddressSpace| agent.target.space(id).map_or(id.to_string(), |space| space.name.clone());
        ExportedAgent {
            gpu_id: agent.id,
            architecture: agent.target.name.clone(),
            name: agent.name.clone(),
            apertures: apertures.into_iter().map(|(space, base)| (name(*space), Hex(base.0))).collect(),
            pci_vendor: hardware(|hardware| hardware.vendor),
            pci_device: hardware(|hardware| hardware.device),
            pci_slot: hardware(|hardware| hardware.location),
            execution_units: hardware(|hardware| hardware.simds),
            max_waves_per_eu: hardware(|hardware| hardware.waves_per_simd),
            xccs: hardware(|hardware| hardware.xccs),
        }
    });
    each.collect()
}

/// A queue; `left`: number of packets that the document may still hold.
fn queue(capture: &Capture, queue: &Queue, left: &mut u64) -> io::Result<ExportedQueue> {
    let ring = queue.ring;
    let active = active_packets(queue);
    let fits = active.filter(|active| active <= left);
    *left -= fits.unwrap_or(0);
    Ok(ExportedQueue {
        queue_id: queue.id,
        gpu_id: capture.agents.get(queue.agent).map(|agent| agent.id),
        name: queue.name.clone(),
        queue_type: ring.map(|_| "HSA_AQL"),
        address: ring.map(|ring| Hex(ring.address)),
        size: ring.map(|ring| ring.size),
        read_packet: ring.and_then(|ring| ring.read),
        write_packet: ring.and_then(|ring| ring.write),
        packet_bytes: fits.map(|_| packets(capture, queue)).transpose()?.flatten(),
        packets_left_out: if fits.is_none() { active } else { None },
    })
}

/// Number of packets between a queue's read and its write index; `None` if it is unknown or exceeds the ring's
/// capacity.
fn active_packets(queue: &Queue) -> Option<u64> {
    let ring = queue.ring?;
    let active = ring.write?.saturating_sub(ring.read?);
    (active <= ring.size / PACKET).then_some(active)
}

/// The packets of a queue from its read to its write index; `None` if they were not captured.
fn packets(capture: &Capture, queue: &Queue) -> io::Result<Option<String>> {
    let Some(ring) = queue.ring else { return Ok(None) };
    let (Some(read), Some(write)) = (ring.read, ring.write) else { return Ok(None) };
    let count = ring.size / PACKET;
    let mut text = String::new();
    for id in read..write {
        let mut bytes = [0; PACKET as usize];
        let at = id.checked_rem(count).and_then(|index| index.checked_mul(PACKET));
        let at = at.and_then(|offset| ring.address.checked_add(offset));
        let Some(at) = at else { return Ok(None) };
        if capture.read(&capture.global, at, &mut bytes)? < bytes.len() {
            return Ok(None);
        }
        text.push_str(&hex(&bytes));
    }
    Ok(Some(text))
}

/// The document's name of each dispatch, with its queue: its packet's id. A dump without packet ids may have numbers of
/// its own, which count if no packet of the queue has them.
fn packet_ids(capture: &Capture) -> Vec<Option<u64>> {
    let known = |dispatch: &Dispatch| Some((dispatch.queue, dispatch.packet?));
    let packets: HashSet<(usize, u64)> = capture.dispatches.iter().filter_map(known).collect();
    let each = capture.dispatches.iter().map(|dispatch| {
        let own = u64::from(dispatch.id);
        dispatch.packet.or((!packets.contains(&(dispatch.queue, own))).then_some(own))
    });
    each.collect()
}

fn dispatches(dump: &Dump, ids: &[Option<u64>]) -> Vec<ExportedDispatch> {
    let capture = dump.capture();
    let each = capture.dispatches.iter().zip(ids).map(|(dispatch, id)| {
        let bits = |low: u16, mask: u16| dispatch.header.map(|header| header >> low & mask);
        ExportedDispatch {
            packet_id: *id,
            queue_id: capture.queues.get(dispatch.queue).map(|queue| queue.id),
            kernel: dump.kernel_name(dispatch),
            grid_sizes: dispatch.grid,
            workgroup_sizes: dispatch.workgroup,
            private_segment_size: dispatch.private_segment_size,
            group_segment_size: dispatch.group_segment_size,
            kernel_argument_segment_address: dispatch.kernarg.map(|address| Hex(address.0)),
            kernel_descriptor_address: dispatch.kernel_object.map(|address| Hex(address.0)),
            kernel_code_entry_address: dispatch.entry.map(|address| Hex(address.0)),
            kernel_completion_address: dispatch.completion.map(|signal| Hex(signal.0)),
            grid_dimensions: dispatch.dimensions,
            barrier: bits(8, 1),
            acquire_fence: bits(9, 3),
            release_fence: bits(11, 3),
        }
    });
    each.collect()
}

fn code_objects(dump: &Dump) -> Vec<ExportedObject> {
    let capture = dump.capture();
    let each = capture.code_objects.iter().zip(dump.code_objects()).map(|(object, info)| ExportedObject {
        uri: object.uri.clone(),
        name: object.name.clone(),
        load_address: Hex(object.address.0),
        size: info.size,
        build_id: object.build_id.as_deref().map(hex),
        gpu_id: object.agent.and_then(|agent| capture.agents.get(agent)).map(|agent| agent.id),
        problem: info.problem(),
        origin: info.origin,
    });
    each.collect()
}

fn segments(map: &MemoryMap) -> Vec<Segment> {
    let each = map.segments().iter().map(|segment| Segment {
        address: Hex(segment.address),
        size: segment.extent.length,
        name: segment.name.clone(),
    });
    each.collect()
}

/// Writes a memory of the capture: LDS, or private memory in its backing layout.
fn memory(capture: &Capture, map: &MemoryMap, size: Option<u64>, out: &mut dyn Write) -> io::Result<()> {
    let runs = map.segments().iter().map(|segment| (segment.address, segment.last())).collect();
    let read = &mut |at: u64, buffer: &mut [u8]| capture.read(map, at, buffer);
    Memory { runs, size, is_stored: is_stored(capture, map), read }.write(out)
}

fn wave(
    reader: &Reader,
    ids: &[Option<u64>],
    id: WaveId,
    share: &mut Share,
    out: &mut dyn Write,
) -> io::Result<()> {
    let capture = reader.dump().capture();
    let words = |error: crate::session::ReadError| io::Error::other(error.to_string());
    let info = crate::session::wave_info(reader, id).map_err(words)?;
    let wave = reader.wave(id).map_err(words)?;
    let mut registers = Registers::new();
    let vectors = share.take(registers_of(wave));
    let has = has_blocks(wave);
    for (register, has) in wave.kind.registers().iter().zip(has) {
        if register.is_vector() && vectors.is_err() {
            continue;
        }
        // Absent registers have no entry: a GPU has hundreds, and a log has waves with few of them.
        if !has && register.alias.is_none() {
            continue;
        }
        let value = reader.register(id, register.id).map_err(words)?;
        if value.known() != 0 {
            registers.push((register.name.clone(), register_json(&value, register.is_vector())));
        }
    }
    let dispatch = capture.workgroup_of(wave).and_then(|group| group.dispatch);
    let stack = crate::session::wave_stack(reader, id, None).map_err(words)?;
    let CallStack { mut frames, end: frames_end } = CallStack::of(&stack);
    let frames_left_out = share.cut_frames(&mut frames);
    begin(
        out,
        &ExportedWave {
            ordinal: id.0,
            id: wave.id,
            name: info.name,
            architecture: wave.kind.target.name.clone(),
            gpu_id: info.agent,
            queue_id: info.queue,
            workgroup: wave.workgroup,
            packet_id: dispatch.and_then(|index| *ids.get(index)?),
            coord: info.workgroup,
            wave_in_group: wave.wave_in_group,
            lanes: wave.kind.wave_size.lanes(),
            pc: info.pc.map(|pc| Hex(pc.0)),
            exec: info.exec.map(|exec| Hex(exec.0)),
            stop_reasons: info.stop,
            unconfirmed: info.unconfirmed,
            unchecked: info.unchecked,
            frames,
            frames_end,
            sgpr_count: wave.sgpr_count,
            // Present and empty if only vectors were captured and their bound left them out.
            registers: (vectors.is_err() || !registers.is_empty()).then_some(registers),
            private_wave_bytes: wave.private_size,
            private_note: wave.private.segments().first().and_then(|segment| segment.name.clone()),
            frames_left_out,
            vectors_left_out: vectors.err(),
        },
    )?;
    if let Err(left_out) = share.take(bytes_of(&wave.private)) {
        return write!(out, ",\"private_lane\":null,\"private_wave\":null,\"private_left_out\":{left_out}}}");
    }
    out.write_all(b",\"private_lane\":[")?;
    if !wave.private.segments().is_empty() {
        let is_stored = is_stored(capture, &wave.private);
        for lane in wave.kind.wave_size.all().iter() {
            out.write_all(if lane.0 == 0 { b"" } else { b"," })?;
            private_lane(reader, id, lane, is_stored, out)?;
        }
    }
    out.write_all(b"],\"private_wave\":")?;
    match wave.private_size {
        // A memory of 0 bytes is written as complete, not as null.
        Some(0) => out.write_all(b"\"\"")?,
        size => memory(capture, &wave.private, size, out)?,
    }
    out.write_all(b"}")
}

/// For each register of a wave whether it has a block. Logs have waves with few of hundreds of registers.
fn has_blocks(wave: &Wave) -> Vec<bool> {
    let mut has = vec![false; wave.kind.registers().len()];
    let of_image = wave.registers.layout.iter().flat_map(|layout| layout.iter());
    for block in of_image.chain(wave.registers.own.iter().map(|(_, block)| block)) {
        let blocks = has.iter_mut().skip(usize::from(block.first.0)).take(usize::from(block.count));
        blocks.for_each(|has| *has = true);
    }
    has
}

/// All hex digits of a register, `x` for the missing digits of a scalar; for a vector with missing lanes, one item a
/// lane; `None`: not captured.
pub(crate) fn register_json(value: &RegisterValue, vector: bool) -> Option<RegisterText> {
    if value.known() == 0 {
        return None;
    }
    if value.is_whole() {
        return Some(RegisterText::Whole(hex(value.bytes())));
    }
    Some(match vector {
        false => {
            let dword = |index| value.dword(index).map_or("x".repeat(8), |dword| hex(&dword.to_le_bytes()));
            RegisterText::Whole((0..value.dwords()).map(dword).collect())
        }
        true => {
            let dword = |lane| value.dword(lane).map(|dword| hex(&dword.to_le_bytes()));
            RegisterText::Lanes((0..value.dwords()).map(dword).collect())
        }
    })
}

/// Lanes of a vector register: hex digits or null for each.
pub(crate) fn lanes_json(value: &RegisterValue, lanes: LaneSet) -> RegisterText {
    let dword = |lane: LaneId| value.dword(u16::from(lane.0)).map(|dword| hex(&dword.to_le_bytes()));
    RegisterText::Lanes(lanes.iter().map(dword).collect())
}

/// Writes private memory in the view of one lane.
fn private_lane(
    reader: &Reader,
    wave: WaveId,
    lane: LaneId,
    is_stored: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Ok(captured) = reader.wave(wave) else { return out.write_all(b"null") };
    let place = |address: u64| MemoryAddress {
        space: PRIVATE_LANE,
        address: Address(address),
        wave: Some(wave),
        lane: Some(lane),
    };
    let runs = crate::session::lane_runs(captured, lane).collect();
    let size = captured.private_size.map(|size| size / u64::from(captured.kind.wave_size.lanes()));
    let read = &mut |at: u64, buffer: &mut [u8]| Ok(reader.read(place(at), buffer).unwrap_or(0));
    Memory { runs, size, is_stored, read }.write(out)
}
