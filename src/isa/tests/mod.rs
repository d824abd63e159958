//! Tests of the module, by subject.

mod addends;
mod addresses;
mod buffers;
mod code;
mod effects;
mod frames;
mod gfx125;
mod hostile;
mod lds_address;
mod llvm;
mod model;
mod pcode;
mod values;
mod wide_buffers;

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    Access, DecodeError, Effects, Instruction, LaneAccess, LaneAddress, Machine, ReadRegister, RegisterFile,
    RegisterRange, WaveContext,
};
use crate::arch::{Generation, Targets, WaveArch};
use crate::units::{Address, AddressSpace, LaneId, LaneSet, WaveSize};

/// The instruction of a text, for the first processor with such an instruction.
pub(in crate::isa) fn first(processors: &[&str], text: &str) -> Instruction {
    let sizes = [WaveSize::W32, WaveSize::W64];
    let machines = processors
        .iter()
        .flat_map(|name| sizes.map(|wave_size| Machine { processor: (*name).to_owned(), wave_size }));
    let all: Vec<Instruction> = machines.map(|machine| machine.said(0, 4, text, None)).collect();
    let known = all.iter().find(|one| !one.mnemonic().is_empty());
    known.or(all.first()).unwrap().clone()
}

/// The instruction of a text for a GPU.
pub(crate) fn instruction(processor: &str, text: &str) -> Instruction {
    first(&[processor], text)
}

/// The instruction of a text for a GPU of a generation.
pub(crate) fn of_generation(generation: Generation, text: &str) -> Instruction {
    let processors: &[&str] = match generation {
        Generation::Gfx9 => &["gfx900", "gfx906", "gfx908"],
        Generation::Gfx90a => &["gfx90a"],
        Generation::Gfx940 => &["gfx942", "gfx950"],
        Generation::Gfx10 => &["gfx1030", "gfx1010"],
        Generation::Gfx11 => &["gfx1100", "gfx1150"],
        Generation::Gfx12 => &["gfx1200"],
        Generation::Gfx125 => &["gfx1250"],
        other => panic!("{other:?}"),
    };
    first(processors, text)
}

impl Instruction {
    /// The instruction at another address.
    pub(crate) fn moved(mut self, address: u64, size: u8, target: Option<u64>) -> Self {
        (self.address, self.size, self.target) = (address, size, target);
        self
    }
}

/// The access of an instruction.
pub(crate) fn access_of(generation: Generation, text: &str) -> Access {
    of_generation(generation, text).effects().unwrap().access.clone().unwrap_or_else(|| panic!("{text}"))
}

fn decoded(processor: &str, text: &str) -> Result<Effects, DecodeError> {
    instruction(processor, text).effects().cloned()
}

fn effects(processor: &str, text: &str) -> Effects {
    decoded(processor, text).unwrap_or_else(|error| panic!("{processor}: {text}: {error}"))
}

fn access(processor: &str, text: &str) -> Access {
    effects(processor, text).access.unwrap_or_else(|| panic!("{text}"))
}

/// The range that a name denotes.
fn range(name: &str) -> RegisterRange {
    match name {
        "scc" => RegisterRange::new(RegisterFile::Scc, 0, 1),
        "mode" => RegisterRange::new(RegisterFile::Mode, 0, 1),
        _ => parse(name).unwrap_or_else(|| panic!("{name}")),
    }
}

fn parse(name: &str) -> Option<RegisterRange> {
    let of = |name: &str| {
        Some(match name {
            "vcc" => RegisterFile::Vcc,
            "exec" => RegisterFile::Exec,
            "m0" => RegisterFile::M0,
            "flat_scratch" => RegisterFile::FlatScratch,
            "xnack_mask" => RegisterFile::XnackMask,
            _ => return None,
        })
    };
    if let Some(file) = of(name) {
        return Some(RegisterRange::new(file, 0, if name == "m0" { 1 } else { 2 }));
    }
    for (half, first) in [("_lo", 0), ("_hi", 1)] {
        if let Some(file) = name.strip_suffix(half).and_then(of) {
            return Some(RegisterRange::new(file, first, 1));
        }
    }
    let files = [
        ("ttmp", RegisterFile::Trap),
        ("s", RegisterFile::Scalar),
        ("v", RegisterFile::Vector),
        ("a", RegisterFile::Accumulator),
    ];
    let (file, rest) = files.iter().find_map(|(prefix, file)| Some((*file, name.strip_prefix(prefix)?)))?;
    let (first, last) = match rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(rest) => rest.split_once(':').unwrap_or((rest, rest)),
        None => (rest, rest),
    };
    let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
    Some(RegisterRange::new(file, first, last - first + 1))
}

/// A wave with some registers.
struct Wave {
    arch: Arc<WaveArch>,
    exec: LaneSet,
    scalars: HashMap<(RegisterFile, u16), u32>,
    vectors: HashMap<(u16, u8), u32>,
}

impl ReadRegister for Wave {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        match file {
            RegisterFile::Vector => self.vectors.get(&(index, lane.0)).copied(),
            _ => self.scalars.get(&(file, index)).copied(),
        }
    }
}

impl Wave {
    /// A wave of the default size with the lowest two lanes active.
    fn new(processor: &str) -> Self {
        let targets = Targets::builtin();
        let size = targets.target(processor).unwrap().wave_sizes[0];
        let arch = targets.kind(processor, size).unwrap();
        Self { arch, exec: LaneSet(3), scalars: HashMap::new(), vectors: HashMap::new() }
    }

    fn of_size(processor: &str, size: WaveSize) -> Self {
        Self { arch: Targets::builtin().kind(processor, size).unwrap(), ..Self::new(processor) }
    }

    /// Sets scalar registers from the first of a range on.
    fn set(mut self, name: &str, values: &[u32]) -> Self {
        let range = range(name);
        for (index, value) in (range.first..).zip(values) {
            self.scalars.insert((range.file, index), *value);
        }
        self
    }

    /// Sets a VGPR of the lanes from 0 on.
    fn lanes(mut self, number: u16, values: &[u32]) -> Self {
        for (lane, value) in (0..).zip(values) {
            self.vectors.insert((number, lane), *value);
        }
        self
    }

    fn accesses(&self, text: &str) -> Vec<LaneAccess> {
        let context = WaveContext { arch: &self.arch, exec: self.exec, apertures: &HashMap::new() };
        access(&self.arch.target.name, text).addresses(&context, self)
    }

    /// Lane, space, address and size of each access.
    fn memory(&self, text: &str) -> Vec<(Option<u8>, &'static str, u64, u16)> {
        let place = |access: LaneAccess| {
            let LaneAddress::Memory { space, address, .. } = access.address else {
                panic!("{text}: {access:?}")
            };
            let space = match space {
                AddressSpace(0) => "global",
                AddressSpace(3) => "local",
                AddressSpace(5) => "private",
                other => panic!("{other:?}"),
            };
            (access.lane.map(|lane| lane.0), space, address.0, access.bytes.unwrap())
        };
        self.accesses(text).into_iter().map(place).collect()
    }

    /// The addresses in global memory.
    fn global(&self, text: &str) -> Vec<Option<u64>> {
        let place = |access: LaneAccess| match access.address {
            LaneAddress::Memory { global, .. } => global.map(|Address(address)| address),
            other => panic!("{text}: {other:?}"),
        };
        self.accesses(text).into_iter().map(place).collect()
    }

    /// The result of each access, with the sizes.
    fn results(&self, text: &str) -> Vec<(Option<u16>, LaneAddress)> {
        self.accesses(text).into_iter().map(|access| (access.bytes, access.address)).collect()
    }
}
