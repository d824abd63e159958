//! Kernel launches as text and JSON.

use serde_json::{Value, json};

use super::{Style, Table};
use crate::notation::merged;
use crate::session::DispatchInfo;
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
            one.waves.len().to_string(),
            one.kernel.clone().unwrap_or_else(|| "?".to_owned()),
        ]);
    }
    table.render(style)
}

/// Kernel launches as JSON; `threads` names a client's threads of a wave, first and last.
#[must_use]
pub(crate) fn json(dispatches: &[DispatchInfo], threads: &dyn Fn(WaveId) -> Option<(u64, u64)>) -> Value {
    let each = dispatches.iter().map(|one| {
        let address = |address: Option<crate::units::Address>| address.map(|address| address.to_string());
        let fences = one.fences.map(|fences| {
            json!({
                "barrier": fences.barrier,
                "acquire": fences.acquire.name(),
                "release": fences.release.name(),
                "short": fences.to_string(),
            })
        });
        json!({
            "id": one.id,
            "name": one.name,
            "agent": one.agent,
            "queue": one.queue,
            "packet": one.packet,
            "kernel": one.kernel,
            "grid": one.grid,
            "workgroup": one.workgroup,
            "fences": fences,
            "group_segment_size": one.group_segment_size,
            "private_segment_size": one.private_segment_size,
            "kernel_object": address(one.kernel_object),
            "kernarg": address(one.kernarg),
            "waves": one.waves.len(),
            "threads": merged(one.waves.iter().filter_map(|wave| threads(*wave))),
        })
    });
    json!({ "dispatches": each.collect::<Vec<_>>() })
}
