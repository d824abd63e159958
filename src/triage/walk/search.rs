//! Search of paths backwards from a PC.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::look::EXEC;
use super::waits::Waits;
use super::work::Work;
use super::{
    Candidate, Gap, MAX_CANDIDATES, MAX_DISTANCE, MAX_STEPS, MAX_VISITS, MAX_WAYS, Node, Paths, Step, Way,
    jumps,
};
use crate::arch::Generation;
use crate::isa::{Access, Control, RegisterRange};
use crate::triage::listings::{Decoded, Listing};

/// Maximum number of entered calls: a function that calls itself would be entered without an end.
const MAX_ENTERED: usize = 16;
/// Bytes that older trap handlers take from the PC of a wave.
const REWOUND: u64 = 8;

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
#[derive(Clone, Copy, Debug)]
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
    /// The branches to each instruction of each listing.
    branches: Vec<Vec<Vec<usize>>>,
    /// Jumps to computed addresses that are not entered.
    pub(super) jumps: HashSet<Node>,
    /// [`Self::before`] as far as it was asked for.
    known: Marks<OnceCell<Before>>,
    /// Whether an instruction switches the indexes of vector registers on or off (GFX9).
    pub(super) has_index: bool,
    /// The listing of each entered call, or jump to another function.
    entered: HashMap<Node, usize>,
    /// The call or jump of each entered listing.
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
    let kernel = has_kernel.then_some(calls.len());
    let jumps =
        listings.iter().enumerate().flat_map(|(index, of)| jumps::computed(of, index, kernel == Some(index)));
    let jumps = jumps.filter(|node| !entered.contains_key(node)).collect();
    let is_index = |one: &Decoded| one.mnemonic().starts_with("s_set_gpr_idx_");
    let has_index = listings.iter().any(|listing| {
        let has_mode = listing.generation.is_none_or(|generation| generation < Generation::Gfx10);
        has_mode && listing.instructions.iter().any(is_index)
    });
    let known = Marks::new(&listings);
    let graph = Graph { known, has_index, listings, calls, has_kernel, branches, jumps, entered, entries };
    // A PC inside an instruction is too early.
    let early = || listing.holding(pc).and_then(|_| listing.index(pc.checked_add(REWOUND)?));
    let start = listing.index(pc).or_else(early).map(|index| Node { listing: 0, index });
    let Some(start) = start else {
        return Paths {
            graph,
            steps: Vec::new(),
            candidates: Vec::new(),
            gaps: vec![start_gap(listing, pc)],
            pc,
        };
    };
    graph.walk(start, pc, work)
}

/// The gap before an address that is not the function's start.
fn start_gap(listing: &Listing, at: u64) -> Gap {
    if listing.function.is_some() { Gap::Start(at) } else { Gap::NoFunction(at) }
}

/// The branches to each instruction.
fn branches(listing: &Listing) -> Vec<Vec<usize>> {
    let mut branches = vec![Vec::new(); listing.instructions.len()];
    for (index, one) in listing.instructions.iter().enumerate() {
        let target = one.target.and_then(|target| branches.get_mut(listing.index(target)?));
        if let Some(target) = target
            && let Some(Control::Branch | Control::ConditionalBranch) = one.control()
        {
            target.push(index);
        }
    }
    branches
}

/// The instructions before one, or the reason that they are unknown.
type Before = (Vec<Edge>, Option<Gap>);

/// A value for each instruction.
#[derive(Debug)]
pub(super) struct Marks<T>(Vec<Vec<T>>);

impl<T: Clone + Default> Marks<T> {
    fn new(listings: &[Arc<Listing>]) -> Self {
        Self(listings.iter().map(|listing| vec![T::default(); listing.instructions.len()]).collect())
    }

    fn at(&self, node: Node) -> Option<&T> {
        self.0.get(node.listing)?.get(node.index)
    }

    fn of(&mut self, node: Node) -> Option<&mut T> {
        self.0.get_mut(node.listing)?.get_mut(node.index)
    }
}

impl Marks<bool> {
    /// Marks an instruction; returns whether it was not marked.
    pub(super) fn is_new(&mut self, node: Node) -> bool {
        self.of(node).is_some_and(|is_marked| !std::mem::replace(is_marked, true))
    }
}

impl Graph {
    pub(super) fn marks<T: Clone + Default>(&self) -> Marks<T> {
        Marks::new(&self.listings)
    }

    pub(super) fn decoded(&self, node: Node) -> Option<&Decoded> {
        self.listings.get(node.listing)?.instructions.get(node.index)
    }

    /// The instructions that may have run directly before one, or the reason that they are unknown.
    pub(super) fn before(&self, node: Node) -> (&[Edge], Option<Gap>) {
        let known = self.known.at(node).map(|known| known.get_or_init(|| self.find_before(node)));
        known.map_or((&[], None), |(edges, gap)| (edges.as_slice(), *gap))
    }

    fn find_before(&self, node: Node) -> Before {
        let (Some(listing), Some(one)) = (self.listings.get(node.listing), self.decoded(node)) else {
            return (Vec::new(), None);
        };
        let mut edges = Vec::new();
        let mut gap = None;
        if let Some(index) = node.index.checked_sub(1) {
            let before = Node { index, ..node };
            let control = self.decoded(before).and_then(|one| one.control());
            let is_call = control == Some(Control::Call);
            if let Some(callee) = self.entered.get(&before).filter(|_| is_call) {
                let returns = self.returns(*callee).into_iter();
                edges.extend(returns.map(|node| Edge { node, is_taken: true }));
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
        let sources = self.branches.get(node.listing).and_then(|all| all.get(node.index));
        for index in sources.into_iter().flatten() {
            edges.push(Edge { node: Node { index: *index, ..node }, is_taken: true });
        }
        (edges, gap)
    }

    /// The instructions that return from a function, or from those that it jumps to.
    fn returns(&self, listing: usize) -> Vec<Node> {
        let mut found = Vec::new();
        let mut queue = vec![listing];
        // The listing of an entered call follows that of the call.
        while let Some(listing) = queue.pop() {
            let Some(of) = self.listings.get(listing) else { continue };
            for node in returns(of).map(|index| Node { listing, index }) {
                match self.entered.get(&node) {
                    Some(other) => queue.push(*other),
                    None => found.push(node),
                }
            }
        }
        found
    }

    fn walk(self, start: Node, pc: u64, work: &Work) -> Paths {
        let mut gaps: BTreeSet<Gap> = self.hidden().collect();
        gaps.extend(self.decoded(start).filter(|one| one.address != pc).map(|_| Gap::Jump(pc)));
        let first = Step { node: start, next: None, distance: 0, is_taken: false, waits: Waits::default() };
        let mut steps = vec![first];
        let mut visits = self.marks::<usize>();
        let mut candidates: Vec<Candidate> = Vec::new();
        // A capture may show the PC too early.
        if self.decoded(start).is_some_and(|one| one.effects().is_ok_and(|of| of.access.is_some())) {
            gaps.extend(add(&mut candidates, start, Way { step: 0, distance: 0, completed: None }));
        }
        let mut queue = VecDeque::from([0usize]);
        while let Some(at) = queue.pop_front() {
            let Some(step) = steps.get(at).copied() else { continue };
            let (edges, gap) = self.before(step.node);
            gaps.extend(gap);
            for edge in edges {
                if steps.len() >= MAX_STEPS {
                    gaps.insert(Gap::Limit);
                    break;
                }
                if self.is_on_way(&steps, at, edge.node) {
                    continue;
                }
                let distance = step.distance + 1;
                if distance > MAX_DISTANCE {
                    gaps.insert(Gap::Limit);
                    continue;
                }
                let Some(visits) = visits.of(edge.node).filter(|visits| **visits < MAX_WAYS) else {
                    continue;
                };
                *visits += 1;
                let Some(one) = self.decoded(edge.node) else { continue };
                let step_index = steps.len();
                let mut waits = step.waits;
                match one.effects() {
                    Ok(effects) => {
                        let is_call = effects.control == Control::Call && !edge.is_taken;
                        if is_call || self.jumps.contains(&edge.node) {
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
            // Each path to the PC has the access at the PC, if no earlier turn of a loop executed it.
            if candidate.ways.iter().all(|way| way.distance == 0) {
                continue;
            }
            (candidate.has_other_path, candidate.depends_on_path) =
                self.paths_to(start, candidate.node, &mut visits);
        }
        work.visited(most - visits);
        let gaps = gaps.into_iter().collect();
        Paths { graph: self, steps, candidates, gaps, pc }
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
        let mut seen = self.marks();
        let mut queue = vec![node];
        while let Some(at) = queue.pop() {
            let Some(left) = visits.checked_sub(1) else { return true };
            *visits = left;
            for edge in self.before(at).0 {
                if edge.node == node {
                    return true;
                }
                if seen.is_new(edge.node) {
                    queue.push(edge.node);
                }
            }
        }
        false
    }

    /// The paths from an access to the PC: whether some path to the PC has not the access, and whether the registers of
    /// its address depend on the path. Past the number of visits both are assumed.
    fn paths_to(&self, pc: Node, access: Node, visits: &mut usize) -> (bool, bool) {
        let one = self.decoded(access);
        let mut named = one.map(|one| one.named_registers().collect::<Vec<_>>()).unwrap_or_default();
        let of_access = one.and_then(|one| one.effects().ok()?.access.as_ref());
        named.extend(of_access.map(Access::address_registers).unwrap_or_default());
        let mut seen = self.marks();
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
                if edge.node != access && seen.is_new(edge.node) {
                    has_write |= self.may_write(edge.node, &named);
                    queue.push(edge.node);
                }
            }
        }
        (false, has_fork && has_write)
    }

    /// Whether an instruction may write EXEC or one of these registers.
    fn may_write(&self, node: Node, registers: &[RegisterRange]) -> bool {
        let effects = self.decoded(node).and_then(|one| one.effects().ok());
        effects.is_none_or(|effects| {
            let is_it = |range: RegisterRange| {
                range.overlaps(EXEC) || registers.iter().any(|register| register.overlaps(range))
            };
            effects.control == Control::Call || effects.writes.iter().any(|write| is_it(write.range))
        })
    }

    /// Jumps to computed addresses, and instructions after which the wave may skip others (VSKIP of GFX9).
    fn hidden(&self) -> impl Iterator<Item = Gap> + '_ {
        let all = self.listings.iter().flat_map(|listing| &listing.instructions);
        let skips = all.filter(|one| one.mnemonic() == "s_setvskip");
        let jumps = self.jumps.iter().filter_map(|node| self.decoded(*node));
        jumps.chain(skips).map(|one| Gap::Jump(one.address))
    }
}

/// The instructions of a function that return, or jump to a computed address.
fn returns(listing: &Listing) -> impl Iterator<Item = usize> + '_ {
    listing.instructions.iter().enumerate().filter(|(_, one)| jumps::is_jump(one)).map(|(index, _)| index)
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
    (!is_kept).then_some(Gap::Limit)
}
