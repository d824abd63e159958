//! Packet numbers of registers, for one facade.

use std::sync::Arc;

use super::facade::Facade;
use crate::arch::{RegId, Register, ValueType, WaveArch};
use crate::session::Waves;

/// The register of a packet number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A register of the wave.
    Wave(RegId),
    /// The token of the frame's window, in x86's stack pointer.
    StackPointer,
    /// The lane in focus.
    Lane,
    /// A register that the facade requires and no wave has: always unavailable.
    Absent {
        /// Its required name, if the client reads a description.
        name: &'static str,
        /// Its type in gdb's description.
        gdb_type: &'static str,
    },
}

/// One packet number.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The number.
    pub(super) number: usize,
    /// Its register.
    pub(super) source: Source,
    /// Bytes.
    pub(super) bytes: usize,
}

/// The numbering of one facade over one kind of wave.
#[derive(Debug)]
pub(super) struct RegisterMap {
    /// GPU and wave size.
    pub(super) kind: Arc<WaveArch>,
    /// In order of their numbers.
    slots: Vec<Slot>,
    /// The index in `slots` of each number.
    by_number: Vec<Option<u32>>,
    /// The number of `slots` in the `g` packet; `p` reads the others. A full `g` of 130 KiB for each thread made `info
    /// threads` 70 times slower.
    short: usize,
    /// The packet number of the PC.
    pub(super) pc: Option<usize>,
}

/// gdb's x86-64 core, by the required names of its description, in the order of gdb's own numbering.
const X86_CORE: [(&[&str], &str, usize); 5] = [
    (
        &[
            "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
            "r14", "r15", "rip",
        ],
        "int64",
        8,
    ),
    (&["eflags"], "i386_eflags", 4),
    (&["cs", "ss", "ds", "es", "fs", "gs"], "int32", 4),
    (&["st0", "st1", "st2", "st3", "st4", "st5", "st6", "st7"], "i387_ext", 10),
    (&["fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"], "int", 4),
];

/// The x86 name of the PC, which is the wave's.
const X86_PC: &str = "rip";
/// The x86 name of the stack pointer, which is a token.
pub(super) const X86_STACK_POINTER: &str = "rsp";
/// Its DWARF number in x86-64 code, by the System V ABI's figure 3.36.
pub(super) const X86_STACK_POINTER_DWARF: u16 = 7;
/// LLDB's name of it. To a register with the name `rsp` LLDB adds `esp`, `sp` and `spl`.
pub(super) const LLDB_STACK_POINTER: &str = "token";
/// The register that shows and moves the focus.
pub(super) const LANE: &str = "lane";
/// Its bytes.
const LANE_BYTES: usize = 4;
/// Its bytes for LLDB, whose expressions have no integer of that size and reject `$lane`. With 4 bytes the variables of
/// the previous lane would stay after `p $lane = 5`. Reads without an expression, `p $lane` and `register read lane`,
/// and `register write lane 5` need no type.
const LLDB_LANE_BYTES: usize = 3;

impl RegisterMap {
    /// The numbering for a client of that facade.
    pub(super) fn new(facade: Facade, session: &dyn Waves, has_view: bool) -> Self {
        let kind = session.kind();
        let pc = kind.registers().iter().find(|register| register.value_type == ValueType::CodePointer);
        let described = session.described();
        let others = described.iter().filter_map(|id| kind.register(*id));
        let others = others.filter(|register| Some(register.id) != pc.map(|pc| pc.id));
        let wave = |number, register: &Register| Slot {
            number,
            source: Source::Wave(register.id),
            bytes: register.bytes(),
        };
        let mut slots = Vec::with_capacity(described.len() + 40);
        let short;
        match facade {
            Facade::Gdb => {
                for (names, gdb_type, bytes) in X86_CORE {
                    for name in names {
                        let number = slots.len();
                        slots.push(match pc {
                            Some(pc) if *name == X86_PC => wave(number, pc),
                            _ if *name == X86_STACK_POINTER && has_view => {
                                Slot { number, source: Source::StackPointer, bytes }
                            }
                            _ => Slot { number, source: Source::Absent { name, gdb_type }, bytes },
                        });
                    }
                }
                short = slots.len();
                for register in others {
                    slots.push(wave(slots.len(), register));
                }
                slots.push(Slot { number: slots.len(), source: Source::Lane, bytes: LANE_BYTES });
            }
            Facade::Lldb | Facade::AmdgcnLldb => {
                slots.extend(pc.map(|pc| wave(0, pc)));
                short = slots.len();
                for register in others {
                    slots.push(wave(slots.len(), register));
                }
                if facade == Facade::Lldb && has_view {
                    slots.push(Slot { number: slots.len(), source: Source::StackPointer, bytes: 8 });
                }
                slots.push(Slot { number: slots.len(), source: Source::Lane, bytes: LLDB_LANE_BYTES });
            }
            Facade::AmdgcnGdb => {
                for run in kind.dbgapi() {
                    for index in 0..run.count {
                        // This client reads sizes from its own library: a number without a register must have the same
                        // width.
                        let source = match run.register {
                            Some(RegId(first)) => Source::Wave(RegId(first.saturating_add(index))),
                            None => Source::Absent { name: "", gdb_type: "" },
                        };
                        let number = usize::from(run.first) + usize::from(index);
                        slots.push(Slot { number, source, bytes: usize::from(run.bytes) });
                    }
                }
                // The debugger accepts a `g` that ends between two registers, but not an empty one.
                short = slots.len().min(1);
            }
        }
        let numbers = slots.last().map_or(0, |last| last.number + 1);
        let mut by_number = vec![None; numbers];
        for (index, slot) in slots.iter().enumerate() {
            if let Some(place) = by_number.get_mut(slot.number) {
                *place = u32::try_from(index).ok();
            }
        }
        let pc = pc.map(|pc| Source::Wave(pc.id));
        let pc = slots.iter().find(|slot| Some(&slot.source) == pc.as_ref()).map(|slot| slot.number);
        Self { kind, slots, by_number, short, pc }
    }

    /// Every number with a register, in order.
    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The registers of `g`.
    pub(super) fn short(&self) -> &[Slot] {
        self.slots.get(..self.short).unwrap_or_default()
    }

    /// The register of that number.
    pub(super) fn slot(&self, number: u64) -> Option<&Slot> {
        let index = (*self.by_number.get(usize::try_from(number).ok()?)?)?;
        self.slots.get(index as usize)
    }
}
