//! Counters of outstanding operations: which instructions increment them, and which wait for them.
//!
//! AMD's ISA documents, "Data Dependency Resolution"; names as LLVM prints them.

use super::facts::{CounterSet, Facts};
use super::text::{Line, number};

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

/// The waits of an instruction whose mnemonic begins with `s_wait`. `None`: the text is unknown.
///
/// A wait for a register's value proves nothing, and a wait for an instruction's sources proves no completion.
pub(super) fn waits(line: &Line<'_>, facts: &Facts) -> Option<Vec<Wait>> {
    let value = |text: &str| u16::try_from(number(text)?).ok();
    match line.mnemonic {
        "s_waitcnt_depctr" | "s_wait_alu" | "s_wait_event" => Some(Vec::new()),
        // gfx12.5: translations of addresses, and copies between memory and LDS. No result of theirs is in a register.
        "s_wait_xcnt" | "s_wait_asynccnt" | "s_wait_tensorcnt" => Some(Vec::new()),
        "s_wait_idle" => Some(everything(facts)),
        // GFX12 executes the old form as a wait for everything.
        "s_waitcnt" if facts.counters == CounterSet::Gfx12 => Some(everything(facts)),
        "s_waitcnt" => {
            let wait = |word: &str| {
                let (name, count) = word.strip_suffix(')')?.split_once('(')?;
                Some(Wait { counter: named(name)?, at_most: value(count)? })
            };
            line.words().map(wait).collect()
        }
        mnemonic => match mnemonic.strip_prefix("s_waitcnt_") {
            Some(name) => {
                let counter = named(name)?;
                let at_most = line.operand(1).and_then(value)?;
                let is_constant = line.operand(0) == Some("null");
                Some(if is_constant { vec![Wait { counter, at_most }] } else { Vec::new() })
            }
            // The joined forms have the second counter in the low bits, 6 of them.
            None => {
                let names = mnemonic.strip_prefix("s_wait_")?;
                let count = line.operand(0).and_then(value)?;
                match names.split_once('_') {
                    None => Some(vec![Wait { counter: named(names)?, at_most: count }]),
                    Some((first, second)) => Some(vec![
                        Wait { counter: named(first)?, at_most: count >> 8 & 0x3f },
                        Wait { counter: named(second)?, at_most: count & 0x3f },
                    ]),
                }
            }
        },
    }
}
