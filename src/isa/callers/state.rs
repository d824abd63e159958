//! Contents of registers and spill slots in terms of the values at a function's entry.

use std::collections::{BTreeMap, BTreeSet};

use crate::isa::registers::{FRAME_POINTER, RETURN_ADDRESS, RegisterFile, STACK_POINTER};

/// Number of tracked scalar registers: s0 to s105, VCC.
pub(super) const SCALARS: usize = 108;
/// The low half of VCC among them.
pub(super) const VCC: u8 = 106;

/// A register with a dword for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vector {
    /// Whether it is an accumulation register.
    pub accumulator: bool,
    /// Its number.
    pub number: u16,
}

impl Vector {
    /// A register of a file; `None`: the file has no lanes.
    pub(super) fn of(file: RegisterFile, number: u16) -> Option<Self> {
        match file {
            RegisterFile::Vector => Some(Self { accumulator: false, number }),
            RegisterFile::Accumulator => Some(Self { accumulator: true, number }),
            _ => None,
        }
    }
}

/// Lanes in terms of EXEC at the function's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::isa) enum Mask {
    /// The active lanes.
    Entry,
    /// Some of the active lanes.
    Within,
    /// The inactive lanes.
    Others,
    /// The inactive lanes, and perhaps some active ones.
    OthersAndMore,
    /// All lanes.
    All,
    Unknown,
}

impl Mask {
    fn merged(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Entry | Self::Within, Self::Entry | Self::Within) => Self::Within,
            (Self::Others | Self::OthersAndMore, Self::Others | Self::OthersAndMore) => Self::OthersAndMore,
            _ => Self::Unknown,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, other) | (other, Self::All) => other,
            (Self::Entry, Self::Entry) => Self::Entry,
            // Lanes of an unknown mask are at most those of the other one.
            (Self::Entry | Self::Within, _) | (_, Self::Entry | Self::Within) => Self::Within,
            _ => Self::Unknown,
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Entry, Self::Entry | Self::Within) | (Self::Within, Self::Entry) => Self::Entry,
            (Self::Within, Self::Within) => Self::Within,
            (Self::Entry, Self::Others) | (Self::Others, Self::Entry) => Self::All,
            _ => Self::Unknown,
        }
    }

    pub(super) fn and_not(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, Self::Entry) => Self::Others,
            (Self::All, Self::Others) => Self::Entry,
            (Self::All, Self::Within) => Self::OthersAndMore,
            (Self::All, Self::OthersAndMore) => Self::Within,
            (Self::Entry, Self::Others) => Self::Entry,
            (Self::Entry | Self::Within, _) => Self::Within,
            _ => Self::Unknown,
        }
    }

    pub(super) fn xor(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, other) | (other, Self::All) => Self::All.and_not(other),
            (Self::Entry | Self::Within, Self::Entry | Self::Within) => Self::Within,
            _ => Self::Unknown,
        }
    }
}

/// Contents of a scalar register, or of a lane that holds one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::isa) enum Value {
    Unknown,
    /// The value of that scalar register at entry.
    Entry(u8),
    /// The stack pointer at entry plus a number, modulo 2^32.
    Stack(u32),
    /// `((stack pointer at entry + add) & mask) + plus`.
    Rounded {
        add: u32,
        mask: u32,
        plus: u32,
    },
    Constant(u32),
    /// A half of a mask of lanes.
    Mask(Mask),
}

impl Value {
    pub(super) fn merged(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Mask(_), _) | (_, Self::Mask(_)) => Self::of_mask(self.mask().merged(other.mask())),
            _ => Self::Unknown,
        }
    }

    pub(super) fn of_mask(mask: Mask) -> Self {
        match mask {
            Mask::Unknown => Self::Unknown,
            known => Self::Mask(known),
        }
    }

    /// As a mask of lanes.
    pub(super) fn mask(self) -> Mask {
        match self {
            Self::Mask(mask) => mask,
            Self::Constant(u32::MAX) => Mask::All,
            Self::Constant(0) => Mask::Within,
            _ => Mask::Unknown,
        }
    }

    pub(super) fn moved(self, by: u32) -> Self {
        match self {
            Self::Stack(from) => Self::Stack(from.wrapping_add(by)),
            Self::Rounded { add, mask, plus } => Self::Rounded { add, mask, plus: plus.wrapping_add(by) },
            Self::Constant(from) => Self::Constant(from.wrapping_add(by)),
            Self::Unknown | Self::Entry(_) | Self::Mask(_) => Self::Unknown,
        }
    }
}

/// The lanes of a vector register or of a slot, in terms of EXEC at entry: the register whose value at entry they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Halves {
    /// The lanes that were active at entry.
    pub(super) active: Option<Vector>,
    /// The other lanes.
    pub(super) inactive: Option<Vector>,
}

impl Halves {
    pub(super) fn whole(register: Vector) -> Self {
        Self { active: Some(register), inactive: Some(register) }
    }

    fn merged(self, other: Self) -> Self {
        Self {
            active: self.active.filter(|_| self.active == other.active),
            inactive: self.inactive.filter(|_| self.inactive == other.inactive),
        }
    }

    /// Its contents after the lanes of EXEC were copied from another one.
    pub(super) fn written(self, exec: Mask, from: Self) -> Self {
        match exec {
            Mask::All => from,
            Mask::Entry => Self { active: from.active, ..self },
            Mask::Others => Self { inactive: from.inactive, ..self },
            Mask::OthersAndMore => Self { inactive: from.inactive, ..self }.with_active_of(from),
            // Some lanes have the old contents, others the new ones. Code of a function's body runs in lanes that were
            // active at entry: LLVM's AMDGPUUsage, "Non-Kernel Functions", preserves the others.
            Mask::Within | Mask::Unknown => self.with_active_of(from),
        }
    }

    /// After some of the active lanes were copied from another one.
    fn with_active_of(self, from: Self) -> Self {
        Self { active: self.active.filter(|_| self.active == from.active), ..self }
    }
}

/// The base of a spill slot's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotBase {
    /// The stack pointer at entry.
    Stack,
    /// `(stack pointer at entry + add) & mask`.
    Rounded {
        /// The addend.
        add: u32,
        /// The kept bits.
        mask: u32,
    },
}

/// A dword of each lane in private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The base of the address.
    pub base: SlotBase,
    /// Bytes of a lane from the base on.
    pub offset: i32,
}

/// The state of a function before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::isa) struct State {
    pub(super) scalars: [Value; SCALARS],
    pub(super) exec: Mask,
    /// Whether a call returned.
    pub(super) has_called: bool,
    /// Scalar registers that were not written since a call, and that callees need not preserve: the contents count only
    /// if the function needs them later. One bit a register.
    stale_scalars: u128,
    /// Such vector registers, with contents other than their own at entry.
    pub(super) stale_vectors: BTreeSet<Vector>,
    /// Number of the first accumulation register that callees preserve.
    first_saved_accumulator: u16,
    /// Vector registers whose contents differ from their own at entry.
    pub(super) vectors: BTreeMap<Vector, Halves>,
    /// Scalar values in lanes of vector registers.
    pub(super) lanes: BTreeMap<(Vector, u8), Value>,
    /// Slots with a value of the entry.
    pub(super) slots: BTreeMap<Slot, Halves>,
}

impl State {
    /// `first_saved_accumulator`: of those that callees preserve.
    pub(super) fn entry(first_saved_accumulator: u16) -> Self {
        let mut scalars = [Value::Unknown; SCALARS];
        for (number, scalar) in (0u8..).zip(&mut scalars) {
            *scalar = Value::Entry(number);
        }
        let mut state = Self {
            scalars,
            exec: Mask::Entry,
            has_called: false,
            stale_scalars: 0,
            stale_vectors: BTreeSet::new(),
            first_saved_accumulator,
            vectors: BTreeMap::new(),
            lanes: BTreeMap::new(),
            slots: BTreeMap::new(),
        };
        state.set(STACK_POINTER, Value::Stack(0));
        state
    }

    pub(in crate::isa) fn scalar(&self, number: u8) -> Value {
        self.scalars.get(usize::from(number)).copied().unwrap_or(Value::Unknown)
    }

    pub(super) fn set(&mut self, number: u8, value: Value) {
        if let Some(scalar) = self.scalars.get_mut(usize::from(number)) {
            *scalar = value;
            self.stale_scalars &= !(1 << number);
        }
    }

    /// Marks what a callee that returned may have changed.
    pub(super) fn call(&mut self) {
        self.has_called = true;
        let changed = (0..SCALARS as u8).filter(|number| !is_preserved(*number));
        self.stale_scalars |= changed.fold(0, |all, number| all | 1 << number);
        let held = self.vectors.keys().chain(self.lanes.keys().map(|(register, _)| register));
        let changed: Vec<Vector> = held.copied().filter(|register| !self.is_preserved(*register)).collect();
        self.stale_vectors.extend(changed);
    }

    /// Whether the contents of a scalar register count only if the function needs them later.
    pub(super) fn is_stale_scalar(&self, number: u8) -> bool {
        self.stale_scalars.checked_shr(u32::from(number)).is_some_and(|bits| bits & 1 != 0)
    }

    /// [`Self::is_stale_scalar`] of a vector register with contents other than its own at entry.
    pub(super) fn is_stale_vector(&self, register: Vector) -> bool {
        self.stale_vectors.contains(&register)
    }

    pub(super) fn vector(&self, register: Vector) -> Halves {
        self.vectors.get(&register).copied().unwrap_or_else(|| Halves::whole(register))
    }

    /// Whether callees preserve all lanes of a vector register: LLVM's `SIRegisterInfo.td`, `CSR_AMDGPU`.
    pub(super) fn is_preserved(&self, register: Vector) -> bool {
        match register.accumulator {
            true => register.number >= self.first_saved_accumulator,
            false => register.number >= 40 && register.number % 16 >= 8,
        }
    }

    /// Whether a callee that returned may have changed a scalar register that still counts as having its own value.
    pub(super) fn is_uncertain_scalar(&self, number: u8) -> bool {
        self.has_called && !is_preserved(number) && self.scalar(number) == Value::Entry(number)
    }

    /// [`Self::is_uncertain_scalar`] of the lanes of a vector register that were active at entry.
    pub(super) fn is_uncertain_vector(&self, register: Vector) -> bool {
        self.has_called && !self.is_preserved(register) && self.vector(register).active == Some(register)
    }

    pub(super) fn set_vector(&mut self, register: Vector, halves: Halves) {
        if halves == Halves::whole(register) {
            self.vectors.remove(&register);
        } else {
            self.vectors.insert(register, halves);
        }
    }

    pub(super) fn slot(&self, slot: Slot) -> Halves {
        self.slots.get(&slot).copied().unwrap_or_default()
    }

    pub(super) fn set_slot(&mut self, slot: Slot, halves: Halves) {
        if halves == Halves::default() {
            self.slots.remove(&slot);
        } else {
            self.slots.insert(slot, halves);
        }
    }

    /// Number of entries that take memory.
    pub(super) fn size(&self) -> usize {
        SCALARS / 4 + self.vectors.len() + self.lanes.len() + self.slots.len() + self.stale_vectors.len()
    }

    /// The contents that both states have.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let mut merged = self.clone();
        merged.merge(other);
        merged
    }

    fn merge(&mut self, other: &Self) {
        for (one, other) in self.scalars.iter_mut().zip(&other.scalars) {
            *one = one.merged(*other);
        }
        self.exec = self.exec.merged(other.exec);
        let registers: BTreeSet<Vector> = self.vectors.keys().chain(other.vectors.keys()).copied().collect();
        let merged = |register: Vector| (register, self.vector(register).merged(other.vector(register)));
        let merged: Vec<(Vector, Halves)> = registers.into_iter().map(merged).collect();
        self.has_called |= other.has_called;
        self.stale_scalars |= other.stale_scalars;
        self.stale_vectors.extend(&other.stale_vectors);
        merged.into_iter().for_each(|(register, halves)| self.set_vector(register, halves));
        self.lanes.retain(|at, value| {
            *value = other.lanes.get(at).map_or(Value::Unknown, |other| value.merged(*other));
            *value != Value::Unknown
        });
        self.slots.retain(|slot, halves| {
            *halves = halves.merged(other.slot(*slot));
            *halves != Halves::default()
        });
    }
}

/// Whether a function needs the value of the entry until its return: preserved registers and the return address.
pub(super) fn is_needed(number: u8) -> bool {
    is_preserved(number) || matches!(number, RETURN_ADDRESS | 31)
}

/// Scalar registers that callees preserve, with s0 to s3, the descriptor of private memory: LLVM's
/// `SIRegisterInfo.td`, `CSR_AMDGPU_SGPRs`.
fn is_preserved(number: u8) -> bool {
    matches!(number, 0..=3 | STACK_POINTER | FRAME_POINTER | 34..=39 | 48..=55 | 64..=71 | 80..=87 | 96..=105)
}
