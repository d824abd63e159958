//! Counters of outstanding operations: which instructions increment them, and which wait for them.
//!
//! AMD's ISA documents, "Data Dependency Resolution"; names as LLVM prints them.

use amdgpu_isa::{Encoding, Instruction, Role};

use super::access::{Access, Direction, Family};
use super::facts::{CounterSet, Facts};

/// A counter of outstanding operations of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counter {
    /// `vmcnt`: vector memory; from GFX10 on only loads and atomics that return.
    Vm,
    /// `vscnt`: stores of GFX10 and GFX11.
    Vs,
    /// `lgkmcnt`: LDS, GDS, scalar memory, messages.
    Lgkm,
    /// `expcnt`: exports, and direct loads of LDS.
    Exp,
    /// `loadcnt` of GFX12.
    Load,
    /// `storecnt` of GFX12.
    Store,
    /// `samplecnt` of GFX12.
    Sample,
    /// `bvhcnt` of GFX12.
    Bvh,
    /// `dscnt` of GFX12.
    Ds,
    /// `kmcnt` of GFX12: scalar memory, messages.
    Km,
}

use Counter::{Bvh, Ds, Exp, Km, Lgkm, Load, Sample, Store, Vm, Vs};

/// A wait for a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The counter.
    pub counter: Counter,
    /// Number of operations that may still be outstanding.
    pub at_most: u16,
}

/// Kinds of operations that counters distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// A load of vector memory, or an atomic that returns.
    VectorLoad,
    /// A store of vector memory, or an atomic that does not return.
    VectorStore,
    /// The same by a flat address, which may be one of LDS.
    FlatLoad,
    /// The same by a flat address.
    FlatStore,
    /// An image instruction that uses the sampler.
    Sample,
    /// A ray intersection.
    Bvh,
    /// LDS.
    Lds,
    /// GDS.
    Gds,
    /// Scalar memory and messages.
    Scalar,
    /// Exports, and direct loads of LDS.
    Export,
}

/// The counters that an operation increments.
pub(super) fn issued(operation: Operation, facts: &Facts) -> &'static [Counter] {
    use CounterSet::{Gfx9, Gfx10, Gfx12};
    match (operation, facts.counters) {
        (Operation::FlatLoad, Gfx12) => &[Load, Ds],
        (Operation::FlatStore, Gfx12) => &[Store, Ds],
        (Operation::FlatStore, Gfx10) => &[Vs, Lgkm],
        (Operation::FlatLoad | Operation::FlatStore, _) => &[Vm, Lgkm],
        (Operation::VectorStore, Gfx10) => &[Vs],
        (Operation::VectorStore, Gfx12) => &[Store],
        (Operation::VectorLoad, Gfx12) => &[Load],
        (Operation::Sample, Gfx12) => &[Sample],
        (Operation::Bvh, Gfx12) => &[Bvh],
        (Operation::VectorLoad | Operation::VectorStore | Operation::Sample | Operation::Bvh, _) => &[Vm],
        (Operation::Lds | Operation::Gds, Gfx12) => &[Ds],
        (Operation::Gds, _) => &[Lgkm, Exp],
        (Operation::Scalar, Gfx12) => &[Km],
        (Operation::Lds | Operation::Scalar, Gfx9 | Gfx10) => &[Lgkm],
        (Operation::Export, _) => &[Exp],
    }
}

const NAMES: &[(&str, Counter)] = &[
    ("vmcnt", Vm),
    ("vscnt", Vs),
    ("lgkmcnt", Lgkm),
    ("expcnt", Exp),
    ("loadcnt", Load),
    ("storecnt", Store),
    ("samplecnt", Sample),
    ("bvhcnt", Bvh),
    ("dscnt", Ds),
    ("kmcnt", Km),
];

fn named(name: &str) -> Option<Counter> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, counter)| *counter)
}

/// The waits for all counters of a generation.
fn everything(facts: &Facts) -> Vec<Wait> {
    let counters: &[Counter] = match facts.counters {
        CounterSet::Gfx9 => &[Vm, Lgkm, Exp],
        CounterSet::Gfx10 => &[Vm, Vs, Lgkm, Exp],
        CounterSet::Gfx12 => &[Load, Store, Sample, Bvh, Ds, Km, Exp],
    };
    counters.iter().map(|counter| Wait { counter: *counter, at_most: 0 }).collect()
}

/// Instructions whose result comes later, as that of a scalar load, and messages.
const LATE: [&str; 8] = [
    "s_get_barrier_state",
    "s_get_waveid_in_workgroup",
    "s_memrealtime",
    "s_memtime",
    "s_sendmsg",
    "s_sendmsg_rtn_b32",
    "s_sendmsg_rtn_b64",
    "s_sendmsghalt",
];
/// Instructions that write caches back or drop them, if a counter counts them.
const CACHES: [(&str, Operation); 4] = [
    ("buffer_wbl2", Operation::VectorStore),
    ("global_inv", Operation::VectorLoad),
    ("global_wb", Operation::VectorStore),
    ("global_wbinv", Operation::VectorStore),
];

/// The kind of operation that an instruction begins. `None`: it ends with the instruction, or a counter of its own shows
/// its end.
pub(super) fn operation(code: &Instruction, access: Option<&Access>) -> Option<Operation> {
    let (name, encoding) = (code.mnemonic()?, code.effects()?.encoding);
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    let is_load = access.is_some_and(|access| {
        matches!(access.direction, Direction::Load | Direction::Atomic { returns: true })
    });
    if name.contains("_async_") || name.starts_with("tensor_") {
        return None;
    }
    if LATE.contains(&name) {
        return Some(Operation::Scalar);
    }
    if let Some((_, operation)) = CACHES.iter().find(|(cache, _)| *cache == name) {
        return Some(*operation);
    }
    if begins(&["exp", "lds_direct", "lds_param", "ds_direct", "ds_param"]) {
        return Some(Operation::Export);
    }
    if begins(&["ds_gws_", "ds_ordered_count"]) || name.contains("gs_reg_rtn") {
        return Some(Operation::Gds);
    }
    if begins(&["image_bvh"]) {
        return Some(Operation::Bvh);
    }
    if begins(&["image_sample", "image_gather4", "image_msaa", "image_get_lod"]) {
        return Some(Operation::Sample);
    }
    match (access.map(|access| access.family), encoding) {
        (Some(Family::Gds), _) => Some(Operation::Gds),
        (Some(Family::Lds), _) => Some(Operation::Lds),
        (None, Encoding::Ds) if name != "ds_nop" => Some(Operation::Lds),
        (Some(Family::Flat), _) if is_load => Some(Operation::FlatLoad),
        (Some(Family::Flat), _) => Some(Operation::FlatStore),
        (Some(Family::Scalar | Family::ScalarBuffer), _) => Some(Operation::Scalar),
        (Some(_), _) if is_load => Some(Operation::VectorLoad),
        (Some(_), _) => Some(Operation::VectorStore),
        (None, _) => (name == "image_get_resinfo").then_some(Operation::VectorLoad),
    }
}

/// The counters that an instruction waits for.
///
/// A wait for a register's value proves nothing, and a wait for an instruction's sources proves no completion.
pub(super) fn waits(code: &Instruction, facts: &Facts) -> Vec<Wait> {
    const SDST: Role = Role::named("sdst");
    const SIMM16: Role = Role::named("simm16");
    let name = code.mnemonic().unwrap_or_default();
    let Some(rest) = name.strip_prefix("s_wait") else { return Vec::new() };
    let count = code.operand_of(SIMM16).and_then(|of| of.number()).unwrap_or_default() as u16;
    let wait = |name: &str, at_most: u16| named(name).map(|counter| Wait { counter, at_most });
    match rest {
        "_idle" => everything(facts),
        // GFX12 executes the old form as a wait for everything.
        "cnt" if facts.counters == CounterSet::Gfx12 => everything(facts),
        "cnt" => {
            let counts = code.wait_counts();
            let is_any = counts.iter().all(|(_, count, most)| count == most);
            let each = counts.into_iter().filter(|(_, count, most)| count != most || is_any);
            each.filter_map(|(name, count, _)| wait(name, count)).collect()
        }
        _ => match rest.strip_prefix("cnt_") {
            Some(name) => {
                let register = code.operand_of(SDST).and_then(|of| of.register());
                let is_constant = register.is_none_or(|register| register.name() == Some("null"));
                wait(name, count).filter(|_| is_constant).into_iter().collect()
            }
            // The joined forms have the second counter in the low bits, 6 of them.
            None => match rest.strip_prefix('_').and_then(|names| names.split_once('_')) {
                Some((first, second)) => [wait(first, count >> 8 & 0x3f), wait(second, count & 0x3f)]
                    .into_iter()
                    .flatten()
                    .collect(),
                None => wait(rest.trim_start_matches('_'), count).into_iter().collect(),
            },
        },
    }
}
