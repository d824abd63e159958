//! Search of paths backwards from a PC.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::look::EXEC;
use super::waits::Waits;
use super::work::Work;
use super::{
    Candidate, Gap, MAX_CANDIDATES, MAX_DISTANCE, MAX_STEPS, MAX_VISITS, MAX_WAYS, Node, Paths, Step, Way,
};
use crate::isa::{Control, RegisterRange, named_registers};
use crate::triage::listings::{Decoded, Listing};

/// Maximum number of entered calls: a function that calls itself would be entered without an end.
const MAX_ENTERED: usize = 16;
/// Instructions between the computation of a jump's target and the jump.
const JUMP_DISTANCE: usize = 8;

/// A caller of the function before it in the list.
#[derive(Clone, Debug)]
pub(in crate::triage) struct Caller {
    /// Its code.
    pub(in crate::triage) listing: Arc<Listing>,
    /// The return address.
    pub(in crate::triage) resume: u64,
}

/// Functions that calls have returned from, by the address of the call instruction.
pub(in crate::triage) type Callees = HashMap<u64, Arc<Listing>>;

/// An edge of the graph backwards: the instruction that ran before.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) node: Node,
    is_taken: bool,
}

/// The order of instructions.
#[derive(Debug)]
pub(super) struct Graph {
    /// The function of the PC, its callers, then a listing for each entered call.
    pub(super) listings: Vec<Arc<Listing>>,
    /// Indexes of the call instructions: of function `n` in listing `n + 1`.
    calls: Vec<usize>,
    /// Whether the outermost function is known to have no caller.
    has_kernel: bool,
    /// Branches by target, for each listing.
    branches: Vec<HashMap<u64, Vec<usize>>>,
    /// The listing of each entered call.
    entered: HashMap<Node, usize>,
    /// The call of each entered listing.
    entries: HashMap<usize, Node>,
}

/// Finds the accesses before a PC. `callers`: the function's callers, the innermost first. `has_kernel`: the last one,
/// or the function itself without callers, is a kernel.
pub(in crate::triage) fn search(
    listing: &Arc<Listing>,
    pc: u64,
    callers: &[Caller],
    has_kernel: bool,
    work: &Work,
) -> Paths {
    search_with(listing, pc, callers, &Callees::new(), has_kernel, work)
}

/// [`search`] that enters the callees of calls before the PC.
pub(in crate::triage) fn search_with(
    listing: &Arc<Listing>,
    pc: u64,
    callers: &[Caller],
    callees: &Callees,
    has_kernel: bool,
    work: &Work,
) -> Paths {
    let mut listings = vec![Arc::clone(listing)];
    let mut calls = Vec::new();
    let mut is_complete = true;
    for caller in callers {
        // The call ends at the return address.
        let Some(call) = caller.resume.checked_sub(1).and_then(|last| caller.listing.holding(last)) else {
            is_complete = false;
            break;
        };
        listings.push(Arc::clone(&caller.listing));
        calls.push(call);
    }
    let (mut entered, mut entries) = (HashMap::new(), HashMap::new());
    let mut index = 0;
    while let Some(of) = listings.get(index).cloned().filter(|_| !callees.is_empty()) {
        for (at, one) in of.instructions.iter().enumerate() {
            let Some(callee) = callees.get(&one.address) else { continue };
            if entered.len() < MAX_ENTERED {
                entered.insert(Node { listing: index, index: at }, listings.len());
                entries.insert(listings.len(), Node { listing: index, index: at });
                listings.push(Arc::clone(callee));
            }
        }
        index += 1;
    }
    let branches = listings.iter().map(|listing| branches(listing)).collect();
    let has_kernel = has_kernel && is_complete;
    let graph = Graph { listings, calls, has_kernel, branches, entered, entries };
    let start = listing.index(pc).map(|index| Node { listing: 0, index });
    let Some(start) = start else {
        return Paths {
            graph,
            steps: Vec::new(),
            candidates: Vec::new(),
            gaps: vec![start_gap(listing, pc)],
        };
    };
    graph.walk(start, work)
}

/// The gap before an address that is not the function's start.
fn start_gap(listing: &Listing, at: u64) -> Gap {
    if listing.function.is_some() { Gap::Start(at) } else { Gap::NoFunction(at) }
}

fn branches(listing: &Listing) -> HashMap<u64, Vec<usize>> {
    let mut branches: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, one) in listing.instructions.iter().enumerate() {
        if let (Some(target), Some(Control::Branch | Control::ConditionalBranch)) =
            (one.target, one.effects.as_ref().ok().map(|effects| effects.control))
        {
            branches.entry(target).or_default().push(index);
        }
    }
    branches
}

impl Graph {
    pub(super) fn decoded(&self, node: Node) -> Option<&Decoded> {
        self.listings.get(node.listing)?.instructions.get(node.index)
    }

    /// The instructions that may have run directly before one, or the reason that they are unknown.
    pub(super) fn before(&self, node: Node) -> (Vec<Edge>, Option<Gap>) {
        let (Some(listing), Some(one)) = (self.listings.get(node.listing), self.decoded(node)) else {
            return (Vec::new(), None);
        };
        let mut edges = Vec::new();
        let mut gap = None;
        if let Some(index) = node.index.checked_sub(1) {
            let before = Node { index, ..node };
            let control = self.decoded(before).and_then(|one| one.effects.as_ref().ok()).map(|of| of.control);
            if let Some(callee) = self.entered.get(&before) {
                let returns = self.returns(*callee);
                edges.extend(
                    returns.map(|index| Edge { node: Node { listing: *callee, index }, is_taken: true }),
                );
            } else if !matches!(control, Some(Control::Branch | Control::Return | Control::End)) {
                edges.push(Edge { node: before, is_taken: false });
            }
        } else if !listing.has_start() {
            gap = Some(start_gap(listing, one.address));
        } else if let Some(call) = self.entries.get(&node.listing) {
            edges.push(Edge { node: *call, is_taken: true });
        } else if let Some(call) = self.calls.get(node.listing) {
            let node = Node { listing: node.listing + 1, index: *call };
            edges.push(Edge { node, is_taken: true });
        } else if !self.has_kernel {
            gap = Some(Gap::Caller(one.address));
        }
        let sources = self.branches.get(node.listing).and_then(|all| all.get(&one.address));
        for index in sources.into_iter().flatten() {
            edges.push(Edge { node: Node { index: *index, ..node }, is_taken: true });
        }
        (edges, gap)
    }

    /// The instructions that return from a function.
    fn returns(&self, listing: usize) -> impl Iterator<Item = usize> + '_ {
        self.listings.get(listing).into_iter().flat_map(|listing| returns(listing))
    }

    fn walk(self, start: Node, work: &Work) -> Paths {
        let mut gaps: BTreeSet<Gap> = self.jumps().collect();
        let first = Step { node: start, next: None, distance: 0, is_taken: false, waits: Waits::default() };
        let mut steps = vec![first];
        let mut visits: HashMap<Node, usize> = HashMap::new();
        let mut candidates: Vec<Candidate> = Vec::new();
        // A capture may show the PC too early.
        if self.decoded(start).is_some_and(|one| one.effects.as_ref().is_ok_and(|of| of.access.is_some())) {
            gaps.extend(add(&mut candidates, start, Way { step: 0, distance: 0, completed: None }));
        }
        let mut queue = VecDeque::from([0usize]);
        while let Some(at) = queue.pop_front() {
            let Some(step) = steps.get(at).copied() else { continue };
            let (edges, gap) = self.before(step.node);
            gaps.extend(gap);
            for edge in edges {
                if steps.len() >= MAX_STEPS {
                    gaps.insert(Gap::Distance);
                    break;
                }
                if self.is_on_way(&steps, at, edge.node) {
                    continue;
                }
                let distance = step.distance + 1;
                if distance > MAX_DISTANCE {
                    gaps.insert(Gap::Distance);
                    continue;
                }
                let visits = visits.entry(edge.node).or_default();
                if *visits >= MAX_WAYS {
                    continue;
                }
                *visits += 1;
                let Some(one) = self.decoded(edge.node) else { continue };
                let step_index = steps.len();
                let mut waits = step.waits;
                match &one.effects {
                    Ok(effects) => {
                        if effects.control == Control::Call && !edge.is_taken {
                            gaps.insert(Gap::Call(one.address));
                        }
                        if effects.access.is_some() {
                            let completed = waits.proof(effects);
                            let way = Way { step: step_index, distance, completed };
                            gaps.extend(add(&mut candidates, edge.node, way));
                        }
                        waits = waits.before(effects, distance);
                    }
                    Err(_) => {
                        gaps.insert(Gap::Unknown(one.address));
                    }
                }
                let is_taken = edge.is_taken;
                steps.push(Step { node: edge.node, next: Some(at), distance, is_taken, waits });
                queue.push_back(step_index);
            }
        }
        let most = MAX_VISITS.min(work.visits());
        let mut visits = most;
        for candidate in &mut candidates {
            candidate.is_in_loop = self.is_in_loop(candidate.node, &mut visits);
            (candidate.has_other_path, candidate.depends_on_path) =
                self.paths_to(start, candidate.node, &mut visits);
        }
        work.visited(most - visits);
        let gaps = gaps.into_iter().collect();
        Paths { graph: self, steps, candidates, gaps }
    }

    /// Whether an instruction is on the path from a step to the PC.
    fn is_on_way(&self, steps: &[Step], from: usize, node: Node) -> bool {
        let mut at = Some(from);
        while let Some(step) = at.and_then(|at| steps.get(at)) {
            // The instruction at the PC was not executed this time.
            if step.node == node && step.next.is_some() {
                return true;
            }
            at = step.next;
        }
        false
    }

    /// Whether a path leads from an instruction to itself.
    fn is_in_loop(&self, node: Node, visits: &mut usize) -> bool {
        let mut seen = HashSet::new();
        let mut queue = vec![node];
        while let Some(at) = queue.pop() {
            let Some(left) = visits.checked_sub(1) else { return true };
            *visits = left;
            for edge in self.before(at).0 {
                if edge.node == node {
                    return true;
                }
                if seen.insert(edge.node) {
                    queue.push(edge.node);
                }
            }
        }
        false
    }

    /// The paths from an access to the PC: whether some path to the PC has not the access, and whether the registers of
    /// its address depend on the path. Past the number of visits both are assumed.
    fn paths_to(&self, pc: Node, access: Node, visits: &mut usize) -> (bool, bool) {
        let named = self.decoded(access).map(|one| named_registers(&one.text)).unwrap_or_default();
        let mut seen = HashSet::new();
        let mut queue = vec![pc];
        let (mut has_fork, mut has_write) = (false, false);
        while let Some(node) = queue.pop() {
            let Some(left) = visits.checked_sub(1) else { return (true, true) };
            *visits = left;
            let (edges, gap) = self.before(node);
            let is_start = edges.is_empty() || (node.index == 0 && node.listing == self.calls.len());
            if gap.is_some() || is_start {
                return (true, true);
            }
            has_fork |= edges.len() > 1;
            for edge in edges {
                if edge.node != access && seen.insert(edge.node) {
                    has_write |= self.may_write(edge.node, &named);
                    queue.push(edge.node);
                }
            }
        }
        (false, has_fork && has_write)
    }

    /// Whether an instruction may write EXEC or one of these registers.
    fn may_write(&self, node: Node, registers: &[RegisterRange]) -> bool {
        let effects = self.decoded(node).and_then(|one| one.effects.as_ref().ok());
        effects.is_none_or(|effects| {
            let is_it = |range: RegisterRange| {
                range.overlaps(EXEC) || registers.iter().any(|register| register.overlaps(range))
            };
            effects.control == Control::Call || effects.writes.iter().any(|write| is_it(write.range))
        })
    }

    /// Jumps to computed addresses: a jump to a register whose value begins as the PC.
    fn jumps(&self) -> impl Iterator<Item = Gap> + '_ {
        self.listings.iter().flat_map(|listing| {
            let all = &listing.instructions;
            let is_jump =
                |one: &Decoded| one.effects.as_ref().is_ok_and(|effects| effects.control == Control::Return);
            all.iter().enumerate().filter(move |(_, one)| is_jump(one)).filter_map(move |(index, one)| {
                let before = all.get(index.saturating_sub(JUMP_DISTANCE)..index)?;
                let is_computed = before.iter().any(|one| one.text.starts_with("s_getpc_b64"));
                is_computed.then_some(Gap::Jump(one.address))
            })
        })
    }
}

/// The instructions of a function that return, or jump to a computed address.
fn returns(listing: &Listing) -> impl Iterator<Item = usize> + '_ {
    let is_return = |one: &Decoded| one.effects.as_ref().is_ok_and(|of| of.control == Control::Return);
    listing.instructions.iter().enumerate().filter(move |(_, one)| is_return(one)).map(|(index, _)| index)
}

/// Whether the path backwards from a call's return can continue in the called function: the listing has all of it from
/// the called address on, and it returns.
pub(in crate::triage) fn can_enter(listing: &Listing, called: u64) -> bool {
    listing.has_start() && listing.index(called) == Some(0) && returns(listing).next().is_some()
}

/// Adds a path of an access. Returns a gap if the access is dropped.
fn add(candidates: &mut Vec<Candidate>, node: Node, way: Way) -> Option<Gap> {
    if let Some(candidate) = candidates.iter_mut().find(|candidate| candidate.node == node) {
        candidate.ways.push(way);
        return None;
    }
    let is_kept = candidates.len() < MAX_CANDIDATES;
    if is_kept {
        let ways = vec![way];
        let one = Candidate { node, ways, has_other_path: false, is_in_loop: false, depends_on_path: false };
        candidates.push(one);
    }
    (!is_kept).then_some(Gap::Distance)
}
