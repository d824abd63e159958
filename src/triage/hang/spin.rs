//! Recognition of a polling loop: a load of an address that the loop does not change, and an exit that depends on the
//! loaded value and on no counter.
//!
//! Registers follow from the instructions' texts. A slot of private memory that the loop stores to is like a register:
//! unoptimised code keeps its variables there.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::Flow;
use crate::isa::{
    self, Access, Control, Direction, Effects, Family, Form, RegisterFile, RegisterRange, named_registers,
};

/// A register, or a slot of private memory.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Registers(RegisterRange),
    /// By the form of its address.
    Slot(Form),
    /// By the spilled registers that hold its generic address, or one spilled register.
    Spilled(BTreeSet<String>),
}

impl Item {
    fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Registers(one), Self::Registers(other)) => one.overlaps(*other),
            (one, other) => one == other,
        }
    }

    /// Its dwords.
    fn parts(&self) -> Vec<Self> {
        match *self {
            Self::Registers(RegisterRange { file, first, count }) => {
                let dwords = (0..count.min(MAX_DWORDS)).filter_map(|index| first.checked_add(index));
                dwords.map(|index| Self::Registers(RegisterRange::new(file, index, 1))).collect()
            }
            ref slot => vec![slot.clone()],
        }
    }
}

/// Maximum number of dwords of an operand.
const MAX_DWORDS: u16 = 32;

/// A load whose value decides on an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Poll {
    /// The index of the load.
    pub(super) load: usize,
    /// The other operand of the comparison; `None`: unknown, or of a value computed from the loaded one. With it the
    /// comparison of the value with that operand; `None`: unknown.
    pub(super) compared: Option<(Compared, Option<&'static str>)>,
}

/// An operand that the loop does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Constant(i64),
    Register(RegisterRange),
}

/// An instruction of a loop.
#[derive(Debug)]
struct Step {
    index: usize,
    /// Values that its results depend on, without addresses of loads.
    reads: Vec<Item>,
    /// Registers of the address of its access.
    address: Vec<Item>,
    writes: Vec<Write>,
    /// The load of a value that other waves can change: not private memory.
    load: Option<Form>,
    /// The store to memory other than private memory.
    store: Option<Form>,
    is_arithmetic: bool,
    is_comparison: bool,
    is_private: bool,
    copies: Copy,
}

/// Whether a step copies values.
#[derive(Debug)]
enum Copy {
    No,
    Moves,
    /// A spilled register.
    Spilled,
}

#[derive(Debug)]
struct Write {
    item: Item,
    /// Whether nothing of the old value remains.
    is_whole: bool,
}

/// Operations whose result counts if it depends on itself.
const ARITHMETIC: [&str; 14] =
    ["add", "sub", "mul", "mad", "fma", "mac", "fmac", "lshl", "lshr", "ashr", "xad", "ldexp", "dot", "mfma"];

/// The loads of a loop whose values decide on its exit. Empty: no polling loop, or too much work.
pub(super) fn polls(flow: &Flow<'_>, body: &[usize]) -> Vec<Poll> {
    find_polls(flow, body).unwrap_or_default()
}

fn find_polls(flow: &Flow<'_>, body: &[usize]) -> Option<Vec<Poll>> {
    // Each step is compared with all others.
    flow.spend(body.len().saturating_mul(body.len()))?;
    let mut steps: Vec<Step> = body.iter().map(|index| Step::of(flow, *index)).collect::<Option<_>>()?;
    name_slots(flow, &mut steps)?;
    let uses = Uses::of(&steps, flow)?;
    let counters = uses.counters(&steps)?;
    let exits = flow.exits(body);
    let is_exit = |at: usize| steps.get(at).is_some_and(|step| exits.contains(&step.index));
    // A loop that counts its turns ends by itself.
    if uses.after(counters.clone(), true)?.into_iter().any(is_exit) {
        return None;
    }
    // Any store of the loop may change what the load reads, except between LDS and other memory.
    let is_stored = |load: Form| {
        let is_local = |form: Form| matches!(form, Form::Lds { .. });
        let may_reach = |store: Form| is_local(store) == is_local(load) || matches!(store, Form::Flat { .. });
        steps.iter().filter_map(|step| step.store).any(may_reach)
    };
    let mut polls = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let Some(form) = step.load else { continue };
        if is_stored(form) || uses.addresses_from(at).any(|from| counters.contains(&from)) {
            continue;
        }
        // A comparison of the value in which no counter takes part decides on an exit.
        for then in uses.after(BTreeSet::from([at]), false)? {
            let compares = steps.get(then).is_some_and(|step| step.is_comparison);
            let counts = uses.values_from(then).any(|from| counters.contains(&from));
            if compares && !counts && uses.after(BTreeSet::from([then]), false)?.into_iter().any(is_exit) {
                polls.push(Poll { load: step.index, compared: uses.compared(&steps, at, then) });
                break;
            }
        }
    }
    Some(polls)
}

/// Turns accesses by spilled addresses into accesses to slots. `None`: too much work.
fn name_slots(flow: &Flow<'_>, steps: &mut [Step]) -> Option<()> {
    let sources: Option<Vec<_>> = (0..steps.len()).map(|at| spilled_address(flow, steps, at)).collect();
    for (step, source) in steps.iter_mut().zip(&sources?) {
        let Some(names) = source else { continue };
        let slot = Item::Spilled(names.clone());
        if step.load.take().is_some() {
            step.reads.push(slot.clone());
        }
        if step.store.take().is_some() {
            step.writes = vec![Write { item: slot, is_whole: true }];
        }
    }
    Some(())
}

/// The spilled registers that moves copy to the address of a step: unoptimised code keeps the addresses of its
/// variables there. Inner `None`: the address has another source, too; outer `None`: too much work.
fn spilled_address(flow: &Flow<'_>, steps: &[Step], at: usize) -> Option<Option<BTreeSet<String>>> {
    let Some(step) = steps.get(at).filter(|step| step.load.is_some() || step.store.is_some()) else {
        return Some(None);
    };
    let (mut open, mut seen, mut names) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut is_plain = false;
    let enter = |open: &mut Vec<usize>, plain: &mut bool, at: usize, items: &[Item]| {
        for part in items.iter().flat_map(Item::parts) {
            let from = writers(flow, steps, at, &part)?;
            *plain |= from.is_empty();
            open.extend(from);
        }
        Some(())
    };
    enter(&mut open, &mut is_plain, at, &step.address)?;
    while let Some(from) = open.pop() {
        let Some(step) = steps.get(from).filter(|_| seen.insert(from)) else { continue };
        match &step.copies {
            Copy::Spilled => names.extend(step.reads.iter().filter_map(|item| match item {
                Item::Spilled(names) => names.first().cloned(),
                _ => None,
            })),
            Copy::Moves => enter(&mut open, &mut is_plain, from, &step.reads)?,
            Copy::No => return Some(None),
        }
    }
    Some((!is_plain && !names.is_empty()).then_some(names))
}

/// The exits of a loop whose conditions nothing in the loop changes, if all are so: the branches with their registers.
/// Moves of a register to itself change nothing. Empty: the loop has another exit.
pub(super) fn steady_exits(flow: &Flow<'_>, body: &[usize]) -> Vec<(usize, RegisterFile)> {
    let exits = flow.exits(body);
    if body.iter().any(|at| flow.leaves(*at) && !exits.contains(at)) {
        return Vec::new();
    }
    let condition = |exit: usize| implicit(flow.at(exit)?.text.split_whitespace().next()?);
    let files: Option<BTreeMap<usize, RegisterFile>> =
        exits.iter().map(|exit| Some((*exit, condition(*exit)?))).collect();
    let Some(files) = files else { return Vec::new() };
    let is_kept = |file: RegisterFile| {
        body.iter().filter_map(|at| flow.at(*at)).all(|one| {
            let Ok(effects) = &one.effects else { return false };
            let writes = effects.writes.iter().any(|write| write.range.file == file);
            let moves_to_itself = || {
                let named = named_registers(&one.text);
                one.text.starts_with("s_mov") && matches!(named.as_slice(), [to, from] if to == from)
            };
            !writes || moves_to_itself()
        })
    };
    let mut known: Vec<RegisterFile> = Vec::new();
    for file in files.values().copied() {
        if !known.contains(&file) {
            if flow.spend(body.len()).is_none() || !is_kept(file) {
                return Vec::new();
            }
            known.push(file);
        }
    }
    files.into_iter().collect()
}

/// Comparisons by their part of the mnemonic, as they are and with swapped operands.
const RELATIONS: [(&str, &str, &str); 8] = [
    ("eq", "==", "=="),
    ("ne", "!=", "!="),
    ("lg", "!=", "!="),
    ("neq", "!=", "!="),
    ("lt", "<", ">"),
    ("le", "<=", ">="),
    ("gt", ">", "<"),
    ("ge", ">=", "<="),
];

/// The comparison of an instruction: `v_cmp_ne_u32_e32 vcc, 0, v0`.
fn relation(text: &str, is_swapped: bool) -> Option<&'static str> {
    let mnemonic = text.split_whitespace().next()?;
    let name = mnemonic.split('_').find_map(|part| RELATIONS.iter().find(|(name, ..)| *name == part))?;
    Some(if is_swapped { name.2 } else { name.1 })
}

/// The steps whose results each step of a loop uses, from this turn or the one before. The order of the code stands for
/// the order of execution.
struct Uses<'f> {
    flow: &'f Flow<'f>,
    values: Vec<BTreeSet<usize>>,
    addresses: Vec<BTreeSet<usize>>,
    /// For each step those that use its result as a value.
    users: Vec<Vec<usize>>,
    /// For each step those that use its result in an address.
    addressed: Vec<Vec<usize>>,
}

impl<'f> Uses<'f> {
    /// `None`: too much work.
    fn of(steps: &[Step], flow: &'f Flow<'f>) -> Option<Self> {
        let all = |items: fn(&Step) -> &[Item]| -> Option<Vec<BTreeSet<usize>>> {
            let of = |(at, step): (usize, &Step)| -> Option<BTreeSet<usize>> {
                let each = items(step).iter().map(|item| writers(flow, steps, at, item));
                Some(each.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
            };
            steps.iter().enumerate().map(of).collect()
        };
        let (values, addresses) = (all(|step| &step.reads)?, all(|step| &step.address)?);
        let (users, addressed) = (inverse(&values), inverse(&addresses));
        Some(Self { flow, values, addresses, users, addressed })
    }

    fn values_from(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.values.get(at).into_iter().flatten().copied()
    }

    fn addresses_from(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.addresses.get(at).into_iter().flatten().copied()
    }

    /// The steps that depend on some. `by_address`: a loaded value depends on its address. `None`: too much work.
    fn after(&self, seeds: BTreeSet<usize>, by_address: bool) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = seeds.into_iter().collect();
        while let Some(from) = open.pop() {
            let values = self.users.get(from).map_or(&[][..], Vec::as_slice);
            let addresses = self.addressed.get(from).filter(|_| by_address).map_or(&[][..], Vec::as_slice);
            self.flow.spend(values.len() + addresses.len())?;
            open.extend(values.iter().chain(addresses).copied().filter(|to| found.insert(*to)));
        }
        Some(found)
    }

    /// The other operand of a comparison, if one is the loaded value itself, and the comparison of the value with it.
    fn compared(
        &self,
        steps: &[Step],
        load: usize,
        comparison: usize,
    ) -> Option<(Compared, Option<&'static str>)> {
        let mut copies = BTreeSet::from([load]);
        let mut open = vec![load];
        while let Some(from) = open.pop() {
            let users = self.users.get(from).map_or(&[][..], Vec::as_slice);
            self.flow.spend(users.len())?;
            let is_copy = |to: &usize| steps.get(*to).is_some_and(Step::is_copy);
            open.extend(users.iter().copied().filter(is_copy).filter(|to| copies.insert(*to)));
        }
        let text = &self.flow.at(steps.get(comparison)?.index)?.text;
        if text.contains("bitcmp") {
            return None;
        }
        let mut operands = text.split(',').map(str::trim).rev().take(2).collect::<Vec<_>>();
        if let Some(first) = operands.get_mut(1) {
            *first = first.split_whitespace().next_back()?;
        }
        let is_loaded = |text: &str| {
            RegisterRange::parse(text).is_some_and(|range| {
                let from = writers(self.flow, steps, comparison, &Item::Registers(range)).unwrap_or_default();
                !from.is_empty() && from.iter().all(|from| copies.contains(from))
            })
        };
        let [second, first] = operands.as_slice() else { return None };
        let (other, is_swapped) = match (is_loaded(first), is_loaded(second)) {
            (true, false) => (second, false),
            (false, true) => (first, true),
            _ => return None,
        };
        let relation = relation(text, is_swapped);
        if let Some(value) = isa::number(other) {
            return Some((Compared::Constant(value), relation));
        }
        let range = RegisterRange::parse(other)?;
        let other = match writers(self.flow, steps, comparison, &Item::Registers(range))?.as_slice() {
            [] => Some(Compared::Register(range)),
            [from] if matches!(steps.get(*from)?.copies, Copy::Moves) => {
                let text = &self.flow.at(steps.get(*from)?.index)?.text;
                isa::number(text.rsplit(',').next()?.trim()).map(Compared::Constant)
            }
            _ => None,
        };
        Some((other?, relation))
    }

    /// Steps whose results change from turn to turn by themselves, and all that depends on them.
    fn counters(&self, steps: &[Step]) -> Option<BTreeSet<usize>> {
        let mut seeds = BTreeSet::new();
        for (at, step) in steps.iter().enumerate() {
            let depends = |by_address| Some(self.after(BTreeSet::from([at]), by_address)?.contains(&at));
            if step.is_arithmetic && depends(false)? || step.load.is_some() && depends(true)? {
                seeds.insert(at);
            }
        }
        let after = self.after(seeds.clone(), true)?;
        Some(seeds.union(&after).copied().collect())
    }
}

/// For each step those that have it in their set.
fn inverse(sets: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); sets.len()];
    for (at, set) in sets.iter().enumerate() {
        for from in set {
            if let Some(users) = found.get_mut(*from) {
                users.push(at);
            }
        }
    }
    found
}

/// The steps that write an item last before a step, backwards through the loop. `None`: too much work.
fn writers(flow: &Flow<'_>, steps: &[Step], at: usize, item: &Item) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for part in item.parts() {
        let order = (0..at).rev().chain((at..steps.len()).rev());
        for from in order {
            flow.spend(1)?;
            let writes = steps.get(from).map_or(&[][..], |step| &step.writes);
            let mut overlapping = writes.iter().filter(|write| write.item.overlaps(&part)).peekable();
            if overlapping.peek().is_some() {
                found.push(from);
            }
            if overlapping.any(|write| write.is_whole) {
                break;
            }
        }
    }
    Some(found)
}

impl Step {
    /// Whether its result is its operand: a move, or an access to a slot.
    fn is_copy(&self) -> bool {
        let is_slot = self.writes.iter().any(|write| !matches!(write.item, Item::Registers(_)));
        !matches!(self.copies, Copy::No) || self.is_private || self.load.is_none() && is_slot
    }

    /// `None`: an instruction with unknown effects, or a call.
    fn of(flow: &Flow<'_>, index: usize) -> Option<Self> {
        let decoded = flow.at(index)?;
        let effects = decoded.effects.as_ref().ok()?;
        if effects.control == Control::Call {
            return None;
        }
        let mnemonic = decoded.text.split_whitespace().next()?;
        let operation = mnemonic.split_once('_').map_or(mnemonic, |(_, operation)| operation);
        let mut reads: Vec<Item> = read_registers(&decoded.text, effects).map(Item::Registers).collect();
        reads.extend(implicit(mnemonic).map(|file| Item::Registers(RegisterRange::new(file, 0, 2))));
        let written =
            |write: &isa::Write| Write { item: Item::Registers(write.range), is_whole: !write.keeps_old };
        let mut writes: Vec<Write> = effects.writes.iter().map(written).collect();
        let mut step = Self {
            index,
            reads: Vec::new(),
            address: Vec::new(),
            writes: Vec::new(),
            load: None,
            store: None,
            is_arithmetic: ARITHMETIC.iter().any(|name| operation.starts_with(name)),
            is_comparison: operation.starts_with("cmp") || operation.starts_with("bitcmp"),
            is_private: effects.access.as_ref().is_some_and(is_private),
            copies: copies(operation, effects),
        };
        match spill(&decoded.text) {
            Some(slot) if operation.starts_with("readlane") => reads = vec![slot],
            Some(slot) => writes = vec![Write { item: slot, is_whole: true }],
            None => {}
        }
        if let Some(access) = &effects.access {
            let is_data = |item: &Item| access.data.iter().any(|data| item.overlaps(&Item::Registers(*data)));
            let loads = matches!(access.direction, Direction::Load | Direction::Atomic { returns: true });
            let stores = matches!(access.direction, Direction::Store | Direction::Atomic { returns: false });
            let slot = Item::Slot(access.form);
            step.address = reads.iter().filter(|item| loads || !is_data(item)).cloned().collect();
            match is_private(access) {
                true if loads => reads.push(slot),
                true => writes = vec![Write { item: slot, is_whole: true }],
                false => {
                    step.load = (loads && !access.is_lds_copy).then_some(access.form);
                    step.store = stores.then_some(access.form);
                    reads.retain(|item| !loads && is_data(item));
                }
            }
        }
        Some(Self { reads, writes, ..step })
    }
}

fn copies(operation: &str, effects: &Effects) -> Copy {
    let moves = ["mov_b", "pk_mov_b", "dual_mov_b", "accvgpr_", "readfirstlane"];
    if operation.starts_with("readlane") {
        Copy::Spilled
    } else if effects.access.is_none() && moves.iter().any(|name| operation.starts_with(name)) {
        Copy::Moves
    } else {
        Copy::No
    }
}

/// The lane of a VGPR that an instruction reads or writes, if its number is constant: a spilled scalar register. The
/// registers that a spill's VGPR is copied to and from are out of view.
fn spill(text: &str) -> Option<Item> {
    let (mnemonic, operands) = text.split_once(char::is_whitespace)?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let (register, lane) = match operands.as_slice() {
        [_, register, lane] if mnemonic.starts_with("v_readlane") => (register, lane),
        [register, _, lane] if mnemonic.starts_with("v_writelane") => (register, lane),
        _ => return None,
    };
    let is_constant = lane.starts_with(|letter: char| letter.is_ascii_digit());
    is_constant.then(|| Item::Spilled(BTreeSet::from([format!("{register} lane {lane}")])))
}

/// The registers that an instruction's text names, without pure destinations.
fn read_registers<'a>(text: &str, effects: &'a Effects) -> impl Iterator<Item = RegisterRange> + use<'a> {
    let mut named = named_registers(text);
    for write in effects.writes.iter().filter(|write| !write.keeps_old) {
        if let Some(at) = named.iter().position(|range| *range == write.range) {
            named.remove(at);
        }
    }
    named.into_iter()
}

/// The register file that an instruction reads without naming it.
fn implicit(mnemonic: &str) -> Option<RegisterFile> {
    let conditions =
        [("_scc", RegisterFile::Scc), ("_vcc", RegisterFile::Vcc), ("_exec", RegisterFile::Exec)];
    if mnemonic.starts_with("s_cbranch") {
        return conditions.into_iter().find(|(name, _)| mnemonic.contains(name)).map(|(_, file)| file);
    }
    let reads_scc = ["s_cselect", "s_addc", "s_subb", "s_cmov", "s_add_co_ci", "s_sub_co_ci"];
    if reads_scc.iter().any(|name| mnemonic.starts_with(name)) {
        return Some(RegisterFile::Scc);
    }
    (mnemonic.contains("saveexec") || mnemonic.contains("wrexec")).then_some(RegisterFile::Exec)
}

/// Whether an access is one of private memory by its form: `scratch_`, or a buffer with the descriptor in `s[0:3]`, which
/// is the convention of code before architected scratch.
fn is_private(access: &Access) -> bool {
    match access.form {
        Form::Scratch { .. } => true,
        Form::Buffer { descriptor, index: None, .. } => {
            access.family == Family::Buffer && descriptor == RegisterRange::new(RegisterFile::Scalar, 0, 4)
        }
        _ => false,
    }
}
