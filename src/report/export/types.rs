//! The members of an export. docs/export-format.md documents them.

use std::collections::BTreeMap;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::capture::Capture;
use crate::notation::is_zero;
use crate::report::schema::{Hex, Schema};
use crate::report::stack::{End, Frame};

/// The first members of the document.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Head {
    /// The name of the dump.
    pub(super) name: String,
}

impl Schema for Head {
    const NAME: &'static str = "export";
}

/// The origin of a dump; null: unknown.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The format of the dump.
    pub format: String,
    /// The program that wrote it.
    pub producer: Option<String>,
    /// The time of writing.
    pub created: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The command.
    pub command: Option<String>,
    /// The process.
    pub process: Option<u32>,
    /// A note.
    pub note: Option<String>,
}

impl Provenance {
    /// The origin of a capture.
    #[must_use]
    pub fn of(capture: &Capture) -> Self {
        let from = &capture.provenance;
        Self {
            format: from.format.clone(),
            producer: from.producer.clone(),
            created: from.created.clone(),
            host: from.host.clone(),
            command: from.command.clone(),
            process: from.process,
            note: from.note.clone(),
        }
    }
}

/// A GPU.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExportedAgent {
    /// Id of the agent.
    pub(super) gpu_id: u32,
    /// The GPU: `gfx90a`.
    pub(super) architecture: String,
    /// Its marketing name.
    pub(super) name: Option<String>,
    /// Base addresses of apertures by address space.
    pub(super) apertures: BTreeMap<String, Hex>,
    /// PCI vendor.
    pub(super) pci_vendor: Option<u32>,
    /// PCI device.
    pub(super) pci_device: Option<u32>,
    /// PCI bus, device and function.
    pub(super) pci_slot: Option<u32>,
    /// Number of SIMDs.
    pub(super) execution_units: Option<u32>,
    /// Waves of a SIMD.
    pub(super) max_waves_per_eu: Option<u32>,
    /// Number of XCCs.
    pub(super) xccs: Option<u32>,
}

/// A queue; null: not captured, or no AQL queue.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExportedQueue {
    /// Id of the queue.
    pub(super) queue_id: u32,
    /// Id of its agent.
    pub(super) gpu_id: Option<u32>,
    /// Its name.
    pub(super) name: Option<String>,
    /// `HSA_AQL`.
    #[serde(rename = "type")]
    pub(super) queue_type: Option<&'static str>,
    /// Address of the ring.
    pub(super) address: Option<Hex>,
    /// Bytes of the ring.
    pub(super) size: Option<u64>,
    /// Index of the first active packet.
    pub(super) read_packet: Option<u64>,
    /// Index past the last active packet.
    pub(super) write_packet: Option<u64>,
    /// The active packets, two digits a byte.
    pub(super) packet_bytes: Option<String>,
    /// Number of packets that the bound of the document leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) packets_left_out: Option<u64>,
}

/// A kernel launch; null: not captured.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExportedDispatch {
    /// Id of the packet in its queue, or the dump's id of the dispatch.
    pub(super) packet_id: Option<u64>,
    /// Id of the queue.
    pub(super) queue_id: Option<u32>,
    /// The kernel's name.
    pub(super) kernel: Option<String>,
    /// Work-items in the grid.
    pub(super) grid_sizes: Option<[u32; 3]>,
    /// Work-items in a work-group.
    pub(super) workgroup_sizes: Option<[u32; 3]>,
    /// Bytes of private memory of a work-item.
    pub(super) private_segment_size: Option<u64>,
    /// Bytes of LDS of a work-group.
    pub(super) group_segment_size: Option<u64>,
    /// Address of the kernel arguments.
    pub(super) kernel_argument_segment_address: Option<Hex>,
    /// Address of the kernel descriptor.
    pub(super) kernel_descriptor_address: Option<Hex>,
    /// Address of the first instruction.
    pub(super) kernel_code_entry_address: Option<Hex>,
    /// Address of the completion signal.
    pub(super) kernel_completion_address: Option<Hex>,
    /// Number of dimensions of the grid.
    pub(super) grid_dimensions: Option<u8>,
    /// 1: the packet waits for the packets before it.
    pub(super) barrier: Option<u16>,
    /// 0 none, 1 agent, 2 system.
    pub(super) acquire_fence: Option<u16>,
    /// 0 none, 1 agent, 2 system.
    pub(super) release_fence: Option<u16>,
}

/// A loaded code object.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExportedObject {
    /// The loader's URI.
    pub(super) uri: Option<String>,
    /// File name or URI.
    pub(super) name: String,
    /// Load address.
    pub(super) load_address: Hex,
    /// Bytes of the image.
    pub(super) size: Option<u64>,
    /// The build id, two digits a byte.
    pub(super) build_id: Option<String>,
    /// Id of the agent.
    pub(super) gpu_id: Option<u32>,
    /// The source of the bytes, if it is not the file itself.
    pub(super) origin: Option<String>,
    /// The reason for missing variables.
    pub(super) problem: Option<String>,
}

/// A run of captured global memory.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Segment {
    /// Its first address.
    pub(super) address: Hex,
    /// Number of bytes.
    pub(super) size: u64,
    /// Its name.
    pub(super) name: Option<String>,
}

/// A work-group, before its memory.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExportedGroup {
    /// Id of the work-group.
    pub(super) id: u32,
    /// Id of the queue.
    pub(super) queue_id: Option<u32>,
    /// Id of the dispatch's packet.
    pub(super) packet_id: Option<u64>,
    /// Position in the grid.
    pub(super) coord: Option<[u32; 3]>,
    /// Bytes of LDS.
    pub(super) local_bytes: Option<u64>,
}

/// A wave, before its memory.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExportedWave {
    /// Index of the wave.
    pub(super) ordinal: u32,
    /// The id in the dump.
    pub(super) id: u32,
    /// `AMDGPU Wave AGENT:QUEUE:DISPATCH:WAVE (X,Y,Z)/NUMBER`.
    pub(super) name: String,
    /// The GPU: `gfx90a`.
    pub(super) architecture: String,
    /// Id of the agent.
    pub(super) gpu_id: u32,
    /// Id of the queue.
    pub(super) queue_id: Option<u32>,
    /// Index in `workgroups`.
    pub(super) workgroup: Option<usize>,
    /// Id of the dispatch's packet.
    pub(super) packet_id: Option<u64>,
    /// Position of the work-group in the grid.
    pub(super) coord: Option<[u32; 3]>,
    /// Number of the wave in its work-group.
    pub(super) wave_in_group: Option<u32>,
    /// Number of lanes.
    pub(super) lanes: u8,
    /// Program counter.
    pub(super) pc: Option<Hex>,
    /// Mask of active lanes.
    pub(super) exec: Option<Hex>,
    /// Names of stop reasons; empty: running; null: unknown.
    pub(super) stop_reasons: Option<Vec<String>>,
    /// The reason why values may be wrong.
    pub(super) unconfirmed: Option<String>,
    /// Values that nothing else in the capture confirms.
    pub(super) unchecked: Option<String>,
    /// The call stack, innermost first.
    pub(super) frames: Vec<Frame>,
    /// The end of the call stack.
    pub(super) frames_end: End,
    /// Number of SGPRs.
    pub(super) sgpr_count: Option<u16>,
    /// Captured registers by name.
    #[serde(serialize_with = "registers")]
    #[cfg_attr(test, schemars(with = "Option<BTreeMap<String, RegisterText>>"))]
    pub(super) registers: Option<Registers>,
    /// Bytes of private memory.
    pub(super) private_wave_bytes: Option<u64>,
    /// The source of an inferred place of private memory.
    pub(super) private_note: Option<String>,
    /// Number of frames that the bound of the document leaves out.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) frames_left_out: usize,
    /// Bytes of vector registers that the bound of the document leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vectors_left_out: Option<u64>,
}

/// Registers by name, in the order of the GPU's list.
pub(crate) type Registers = Vec<(String, Option<RegisterText>)>;

/// The digits of a register.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum RegisterText {
    /// All digits, lowest address first; `x`: not captured.
    Whole(String),
    /// The digits of each lane; null: not captured.
    Lanes(Vec<Option<String>>),
}

fn registers<S: Serializer>(of: &Option<Registers>, serializer: S) -> Result<S::Ok, S::Error> {
    match of {
        Some(of) => named_registers(of, serializer),
        None => serializer.serialize_none(),
    }
}

/// Writes registers as an object.
pub(crate) fn named_registers<S: Serializer>(of: &Registers, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(of.len()))?;
    of.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
    map.end()
}

/// The members of the document, which is streamed.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "the schema of the streamed members")]
pub(crate) struct Members {
    #[schemars(flatten)]
    head: Head,
    /// The origin of the dump.
    provenance: Provenance,
    /// Problems of the dump.
    problems: Vec<crate::capture::Problem>,
    /// The reported faults.
    faults: Vec<crate::report::fault::ReportedFault>,
    /// The GPUs.
    agents: Vec<ExportedAgent>,
    /// The queues.
    queues: Vec<ExportedQueue>,
    /// The kernel launches.
    dispatches: Vec<ExportedDispatch>,
    /// The loaded code objects.
    code_objects: Vec<ExportedObject>,
    /// The runs of captured global memory.
    memory: Vec<Segment>,
    /// The work-groups.
    workgroups: Vec<GroupMembers>,
    /// The waves.
    waves: Vec<WaveMembers>,
}

/// A work-group.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "the schema of the streamed members")]
struct GroupMembers {
    #[schemars(flatten)]
    group: ExportedGroup,
    /// Its LDS; null: not captured.
    local: Option<MemoryText>,
    /// Bytes of LDS that the bound of the document leaves out.
    #[schemars(skip_serializing_if = "Option::is_none")]
    local_left_out: Option<u64>,
}

/// A wave.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "the schema of the streamed members")]
struct WaveMembers {
    #[schemars(flatten)]
    wave: ExportedWave,
    /// Private memory as each lane addresses it, one item a lane.
    private_lane: Option<Vec<Option<MemoryText>>>,
    /// The same memory in its backing layout.
    private_wave: Option<MemoryText>,
    /// Bytes of private memory that the bound of the document leaves out.
    #[schemars(skip_serializing_if = "Option::is_none")]
    private_left_out: Option<u64>,
}

/// A memory.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the schema of the streamed members")]
enum MemoryText {
    /// All bytes, two digits each.
    Whole(String),
    /// The captured runs.
    Runs(Vec<MemoryRun>),
}

/// A run of captured bytes.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "the schema of the streamed members")]
struct MemoryRun {
    /// The first address.
    address: Hex,
    /// The bytes, two digits each.
    bytes: String,
}
