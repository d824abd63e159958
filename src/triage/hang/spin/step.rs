//! An instruction of a loop as a step: what its result depends on, and what it writes.

use std::collections::BTreeSet;

use super::super::flow::Flow;
use crate::isa::{
    self, Access, Control, Direction, Effects, Family, Form, Input, Instruction, Operation, RegisterFile,
    RegisterRange,
};

/// A register, or a slot of private memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Registers(RegisterRange),
    /// By the form of its address.
    Slot(Form),
    /// By the spilled registers that hold its generic address, or one spilled register: VGPRs with lanes.
    Spilled(BTreeSet<(RegisterRange, i64)>),
}

impl Item {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Registers(one), Self::Registers(other)) => one.overlaps(*other),
            (one, other) => one == other,
        }
    }

    /// Its dwords.
    pub(super) fn parts(&self) -> Vec<Self> {
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

/// An instruction of a loop.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) index: usize,
    /// Values that its results depend on, without addresses of loads.
    pub(super) reads: Vec<Item>,
    /// Registers of the address of its access.
    pub(super) address: Vec<Item>,
    pub(super) writes: Vec<Write>,
    /// The load of a value that other waves can change: not private memory.
    pub(super) load: Option<Form>,
    /// The store to memory other than private memory.
    pub(super) store: Option<Form>,
    pub(super) is_arithmetic: bool,
    /// Whether its result differs from turn to turn without any operand that does: a clock, an atomic addition.
    pub(super) is_counter: bool,
    pub(super) is_comparison: bool,
    pub(super) is_private: bool,
    pub(super) copies: Copy,
}

/// Whether a step copies values.
#[derive(Debug)]
pub(super) enum Copy {
    No,
    Moves,
    /// A spilled register.
    Spilled,
}

#[derive(Debug)]
pub(super) struct Write {
    pub(super) item: Item,
    /// Whether nothing of the old value remains.
    pub(super) is_whole: bool,
}

/// Operations whose results do not count turns, even if they depend on themselves: copies, selections, and operations
/// on masks of lanes, whose second execution changes nothing. All others are arithmetic: roots, quotients, conversions.
const STEADY: [&str; 26] = [
    "mov",
    "pk_mov",
    "swap",
    "cndmask",
    "cselect",
    "cmov",
    "accvgpr",
    "read",
    "writelane",
    "permlane",
    "and",
    "or",
    "nand",
    "nor",
    "not",
    "bfi",
    "bitset",
    "bitcmp",
    "bitreplicate",
    "cmp",
    "wqm",
    "quadmask",
    "mbcnt",
    "bcnt",
    "ff",
    "ctz",
];

/// Operations of atomics that change memory in each turn by themselves.
const CHANGING: [&str; 12] =
    ["add", "sub", "rsub", "inc", "dec", "csub", "cond_sub", "xor", "pk_add", "fadd", "append", "consume"];

/// Whether an operation is arithmetic: one half of it, for two in one instruction. An exclusive or with EXEC or with -1
/// inverts a mask of lanes.
fn is_arithmetic(one: &Instruction) -> bool {
    let is_mask = |of: &Input| {
        of.source.constant() == Some(-1)
            || of.source.register().is_some_and(|of| of.file == RegisterFile::Exec)
    };
    one.mnemonics().enumerate().any(|(half, mnemonic)| {
        let operation = mnemonic.split_once('_').map_or(mnemonic, |(_, operation)| operation);
        let operation = operation.strip_prefix("dual_").unwrap_or(operation);
        let is_vector = mnemonic.starts_with("v_") || mnemonic.starts_with("s_");
        let inverts = ["xor", "xnor"].iter().any(|name| operation.starts_with(name))
            && (operation.contains("saveexec") || one.inputs(half).iter().any(is_mask));
        let is_steady = inverts || STEADY.iter().any(|name| operation.starts_with(name));
        is_vector && !is_steady
    })
}

/// Whether an instruction reads a clock: it ends a loop as a counter does.
fn is_clock(one: &Instruction) -> bool {
    let clocks = ["s_memtime", "s_memrealtime", "s_get_shader_cycles", "s_sendmsg_rtn"];
    clocks.iter().any(|name| one.mnemonic().starts_with(name)) || one.reads_clock()
}

/// Whether an atomic that returns changes memory in each turn by itself: an addition, but not that of a constant zero.
fn is_changing(mnemonic: &str) -> bool {
    let operation = match mnemonic.split_once("atomic_") {
        Some((_, operation)) => operation,
        None => mnemonic.strip_prefix("ds_").unwrap_or_default(),
    };
    CHANGING.iter().any(|name| operation.starts_with(name))
}

impl Step {
    /// Whether its result is its operand: a move, or an access to a slot.
    pub(super) fn is_copy(&self) -> bool {
        let is_slot = self.writes.iter().any(|write| !matches!(write.item, Item::Registers(_)));
        !matches!(self.copies, Copy::No) || self.is_private || self.load.is_none() && is_slot
    }

    /// `None`: an instruction with unknown effects, or a call.
    pub(super) fn of(flow: &Flow<'_>, index: usize) -> Option<Self> {
        let decoded = flow.at(index)?;
        let effects = decoded.effects().ok()?;
        if effects.control == Control::Call {
            return None;
        }
        let mnemonic = decoded.mnemonic();
        let operation = mnemonic.split_once('_').map_or(mnemonic, |(_, operation)| operation);
        let mut reads: Vec<Item> = decoded.reads(effects).into_iter().map(Item::Registers).collect();
        let condition = decoded.branch_condition();
        reads.extend(condition.map(|of| Item::Registers(RegisterRange::new(of.file, 0, 2))));
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
            is_arithmetic: effects.access.is_none() && is_arithmetic(decoded),
            is_counter: is_clock(decoded),
            is_comparison: operation.starts_with("cmp") || operation.starts_with("bitcmp"),
            is_private: effects.access.as_ref().is_some_and(is_private),
            copies: copies(operation, effects),
        };
        match spill(decoded) {
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
                    let returns = access.direction == Direction::Atomic { returns: true };
                    step.is_counter = returns && is_changing(mnemonic);
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
fn spill(one: &Instruction) -> Option<Item> {
    one.computations().find_map(|of| {
        let [source, lane, _] = of.sources;
        let register = match of.operation {
            Operation::ReadLane => source.register()?,
            Operation::WriteLane => of.to?,
            _ => return None,
        };
        Some(Item::Spilled(BTreeSet::from([(register, lane.constant()?)])))
    })
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
