//! Accesses to memory that a wave may have executed before it stopped: the paths that lead to its PC.
//!
//! Input: the decoded function of a PC, and those of its callers. Output: the [`Paths`] of all waves that stopped there:
//! each access with its paths to the PC. [`look`] adds a wave's registers. docs/triage.md has the rules.

pub(super) mod executed;
mod jumps;
mod lanes;
pub(super) mod launch;
pub(super) mod look;
mod pointers;
mod private;
mod recover;
pub(super) mod registers;
mod search;
#[cfg(test)]
pub(super) mod tests;
mod waits;
pub(super) mod work;

pub(super) use search::{Callees, Caller, can_enter, search, search_with};

use std::sync::Arc;

use super::causes::Call;
use super::listings::{Decoded, Listing};
use crate::isa::{Access, Control, Effects, LaneAccess};
use crate::units::{Pc, WaveSize};

/// Maximum number of instructions between an access and the PC.
pub(super) const MAX_DISTANCE: usize = 128;
/// Maximum number of steps of all paths.
const MAX_STEPS: usize = 4096;
/// Maximum number of accesses.
pub(super) const MAX_CANDIDATES: usize = 64;
/// Maximum number of instructions that the searches before one PC visit. Beyond it any path is possible.
const MAX_VISITS: usize = 1 << 18;
/// Maximum number of paths from an access.
const MAX_WAYS: usize = 2;

/// The accesses that may have happened before a PC.
#[derive(Debug)]
pub(super) struct Paths {
    graph: search::Graph,
    /// Steps backwards from the PC; the first one is the instruction at the PC.
    steps: Vec<Step>,
    /// The accesses, the nearest first.
    pub(super) candidates: Vec<Candidate>,
    /// Places where the walk ended without knowledge of what came before.
    pub(super) gaps: Vec<Gap>,
    pc: u64,
}

/// An instruction of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Node {
    /// Index of the listing.
    listing: usize,
    /// Index of the instruction.
    index: usize,
}

/// An executed instruction on a path to the PC.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: Node,
    /// Index of the step that follows in time; `None` at the PC.
    next: Option<usize>,
    /// Number of instructions to the PC.
    distance: usize,
    /// Whether it is a branch that was taken.
    is_taken: bool,
    waits: waits::Waits,
}

/// An access that may have happened before the PC.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    node: Node,
    /// The paths from it to the PC, the shortest first.
    pub(super) ways: Vec<Way>,
    /// Whether a path to the PC has not this access.
    pub(super) has_other_path: bool,
    /// Whether a loop executes it several times.
    pub(super) is_in_loop: bool,
    /// Whether several paths lead from it to the PC, and some instruction on them writes EXEC or a register of its
    /// address: a path tells the addresses only if it is the one that the wave took.
    pub(super) depends_on_path: bool,
}

/// A path from an access to the PC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Index of the step of the access.
    step: usize,
    /// Number of instructions to the PC.
    pub(super) distance: usize,
    /// Distance from the PC of the wait that proves the completion; `None`: no wait does.
    pub(super) completed: Option<usize>,
}

/// A place where the walk ends without knowledge of what came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// The first decoded instruction at this address is not the function's start.
    Start(u64),
    /// The function that holds this address is unknown.
    NoFunction(u64),
    /// The caller of the function at this address is unknown.
    Caller(u64),
    /// A call at this address, or a jump to another function: the accesses of the callee are unknown.
    Call(u64),
    /// An instruction of unknown effects at this address.
    Unknown(u64),
    /// The address of a jump to an address in a register, which may lead to any instruction, of an instruction that
    /// makes the wave skip others, or of a PC that is too early.
    Jump(u64),
    /// A limit of the search: instructions before the PC, steps of all paths, accesses.
    Limit,
}

impl Paths {
    /// The instruction of a candidate.
    pub(super) fn instruction(&self, candidate: &Candidate) -> Option<&Decoded> {
        self.decoded(candidate.node)
    }

    /// The function of a candidate.
    pub(super) fn listing(&self, candidate: &Candidate) -> Option<&Arc<Listing>> {
        self.graph.listings.get(candidate.node.listing)
    }

    /// The function with an instruction.
    pub(super) fn listing_of(&self, address: u64) -> Option<&Listing> {
        self.graph.listings.iter().map(Arc::as_ref).find(|listing| listing.index(address).is_some())
    }

    /// The calls whose callees the paths did not enter: the address of each, and the called function if the code before
    /// the call computes its address.
    pub(super) fn calls(&self, size: WaveSize) -> Vec<(u64, Option<u64>)> {
        let calls = self.gaps.iter().filter_map(|gap| match gap {
            Gap::Call(at) => Some(*at),
            _ => None,
        });
        let target = |at: u64| {
            let mut places = self.graph.listings.iter().filter_map(|of| Some((of, of.index(at)?)));
            let (listing, index) = places.next()?;
            Call { listing: Arc::clone(listing), index }.target(size)
        };
        calls.map(|at| (at, target(at))).collect()
    }

    /// The PC.
    pub(super) fn pc(&self) -> Option<Pc> {
        self.steps.first().map(|_| Pc(self.pc))
    }

    /// The addresses of the load to which a route leads from the PC: indexes of the instructions between them, in the
    /// function of the PC. The lanes are those that are active at the first branch of the route: it may have lanes that
    /// leave the loop on its further way. Without known ones they are those at the PC.
    pub(super) fn addresses_ahead(
        &self,
        access: &Access,
        route: &[usize],
        registers: &registers::Registers<'_>,
    ) -> Vec<LaneAccess> {
        let past = recover::Past::ahead(self, route, registers);
        let branches = |index: &usize| {
            let one = self.decoded(Node { listing: 0, index: *index });
            one.and_then(|one| one.effects().ok()).is_none_or(|of| of.control != Control::Next)
        };
        let straight = route.iter().position(branches).unwrap_or(route.len());
        let lanes = past.exec(straight).filter(|lanes| !lanes.is_empty()).or_else(|| registers.exec());
        lanes.map(|lanes| past.addresses(access, lanes, route.len())).unwrap_or_default()
    }

    /// The text of an instruction of unknown effects.
    pub(super) fn undecoded(&self, at: u64) -> Option<String> {
        let mut found = self.graph.listings.iter().filter_map(|of| of.instructions.get(of.index(at)?));
        found.find(|one| one.effects().is_err()).map(|one| one.text().into_owned())
    }

    /// Whether an instruction leaves the code of the paths by a jump, and they continue behind its return.
    fn leaves(&self, node: Node) -> bool {
        self.graph.jumps.contains(&node)
    }

    /// Whether a path continues behind a callee of a step's instruction, and not in it.
    fn passes_callee(&self, step: &Step, effects: &Effects) -> bool {
        effects.control == Control::Call && !step.is_taken || self.leaves(step.node)
    }

    fn decoded(&self, node: Node) -> Option<&Decoded> {
        self.graph.decoded(node)
    }

    /// The instruction that certainly ran before another one.
    fn only_before(&self, node: Node) -> Option<Node> {
        let (edges, gap) = self.graph.before(node);
        match (edges, gap) {
            ([edge], None) => Some(edge.node),
            _ => None,
        }
    }

    /// Whether an instruction is the first one of the kernel, and no branch leads there.
    fn is_kernel_start(&self, node: Node) -> bool {
        let (edges, gap) = self.graph.before(node);
        edges.is_empty() && gap.is_none() && node.index == 0
    }

    /// The instructions of a path in the order of execution backwards: from before the PC to the access.
    fn backwards(&self, way: &Way) -> Vec<&Step> {
        let mut steps = Vec::with_capacity(way.distance);
        let mut at = Some(way.step);
        while let Some(step) = at.and_then(|at| self.steps.get(at)) {
            steps.push(step);
            at = step.next;
        }
        steps.reverse();
        // The instruction at the PC was not executed.
        steps.drain(..1.min(steps.len().saturating_sub(1)));
        steps
    }
}
