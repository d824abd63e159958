//! Kernel launches as text and JSON.

use serde::Serialize;

use super::absent::AbsentWaves;
use super::schema::{Hex, Run, Schema};
use super::{Style, Table};
use crate::debuginfo::{demangle, source_name};
use crate::notation::{is_zero, merged};
use crate::session::{DispatchInfo, FenceScope};
use crate::units::WaveId;

/// A row for each dispatch with the columns of AMD's gdb, the two sizes of address spaces apart; the row of `current` has
/// a mark.
#[must_use]
pub(crate) fn text(dispatches: &[DispatchInfo], current: Option<u32>, style: Style) -> String {
    if dispatches.is_empty() {
        return "No dispatches.\n".to_owned();
    }
    let headings = [
        "",
        "Id",
        "Target Id",
        "Grid",
        "Workgroup",
        "Fence",
        "Shared",
        "Private",
        "Waves",
        "Kernel Function",
    ];
    let mut table = Table::new(headings).grouped();
    let size = |size: Option<[u32; 3]>| size.map_or("?".to_owned(), |[x, y, z]| format!("[{x},{y},{z}]"));
    let bytes = |bytes: Option<u64>| bytes.map_or("?".to_owned(), |bytes| bytes.to_string());
    for one in dispatches {
        table.row(vec![
            if current == Some(one.id) { "*" } else { "" }.to_owned(),
            one.id.to_string(),
            one.name.strip_prefix("AMDGPU Dispatch ").unwrap_or(&one.name).to_owned(),
            size(one.grid),
            size(one.workgroup),
            one.fences.map_or("?".to_owned(), |fences| fences.to_string()),
            bytes(one.group_segment_size),
            bytes(one.private_segment_size),
            match one.left_out {
                0 => one.waves.len().to_string(),
                more => format!("{} of {}", one.waves.len(), one.waves.len() + more),
            },
            one.kernel.as_deref().map_or_else(|| "?".to_owned(), source_name),
        ]);
    }
    table.render(style)
}

/// The kernel launches of a dump.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Dispatches {
    /// The launches.
    dispatches: Vec<Dispatch>,
    /// Waves that the dump lacks.
    #[serde(flatten)]
    absent: AbsentWaves,
}

impl Schema for Dispatches {
    const NAME: &'static str = "dispatches";
}

/// A kernel launch; null: not captured.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Dispatch {
    /// Id in the dump.
    id: u32,
    /// `AMDGPU Dispatch AGENT:QUEUE:DISPATCH (PKID PACKET)`.
    name: String,
    /// Id of the agent.
    agent: u32,
    /// Id of the queue.
    queue: u32,
    /// Id of the packet in its queue.
    packet: Option<u64>,
    /// The kernel's symbol.
    kernel: Option<String>,
    /// Its name in the source, if the symbol is mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_name: Option<String>,
    /// Work-items in the grid.
    grid: Option<[u32; 3]>,
    /// Work-items in a full work-group.
    workgroup: Option<[u32; 3]>,
    /// The fences of the packet.
    fences: Option<PacketFences>,
    /// Bytes of LDS of a work-group.
    group_segment_size: Option<u64>,
    /// Bytes of private memory of a work-item.
    private_segment_size: Option<u64>,
    /// Address of the kernel descriptor.
    kernel_object: Option<Hex>,
    /// Address of the kernel arguments.
    kernarg: Option<Hex>,
    /// Number of its waves in the dump.
    waves: usize,
    /// Number of further waves that the dump leaves out. Absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Threads of its waves, as runs of first and last.
    threads: Vec<Run>,
}

/// The fences of a packet.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PacketFences {
    /// Whether the packet waits for the packets before it.
    barrier: bool,
    /// Scope of the acquire fence: `none`, `agent` or `system`.
    acquire: FenceScope,
    /// Scope of the release fence.
    release: FenceScope,
    /// `B|Aa|Rs`; `-` for none.
    short: String,
}

/// Kernel launches as JSON; `threads` names a client's threads of a wave, first and last.
#[must_use]
pub(crate) fn json(
    dispatches: &[DispatchInfo],
    absent: AbsentWaves,
    threads: &dyn Fn(WaveId) -> Option<(u64, u64)>,
) -> Dispatches {
    let address = |address: Option<crate::units::Address>| address.map(|address| Hex(address.0));
    let each = dispatches.iter().map(|one| Dispatch {
        id: one.id,
        name: one.name.clone(),
        agent: one.agent,
        queue: one.queue,
        packet: one.packet,
        kernel: one.kernel.clone(),
        kernel_name: one.kernel.as_deref().and_then(demangle),
        grid: one.grid,
        workgroup: one.workgroup,
        fences: one.fences.map(|fences| PacketFences {
            barrier: fences.barrier,
            acquire: fences.acquire,
            release: fences.release,
            short: fences.to_string(),
        }),
        group_segment_size: one.group_segment_size,
        private_segment_size: one.private_segment_size,
        kernel_object: address(one.kernel_object),
        kernarg: address(one.kernarg),
        waves: one.waves.len(),
        left_out: one.left_out,
        threads: merged(one.waves.iter().filter_map(|wave| threads(*wave))),
    });
    Dispatches { dispatches: each.collect(), absent }
}
