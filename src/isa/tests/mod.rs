//! Tests of the module, by subject.

mod addends;
mod addresses;
mod buffers;
mod code;
mod effects;
mod gfx125;
mod hostile;
mod lds_address;
mod llvm;
mod model;
mod values;
mod wide_buffers;

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    Access, DecodeError, Effects, LaneAccess, LaneAddress, ReadRegister, RegisterFile, RegisterRange,
    WaveContext, decode,
};
use crate::arch::{Processor, Targets, WaveArch};
use crate::units::{Address, AddressSpace, LaneId, LaneSet, WaveSize};

fn decoded(processor: &str, text: &str) -> Result<Effects, DecodeError> {
    decode(text, Processor::named(processor).unwrap().generation)
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
        _ => RegisterRange::parse(name).unwrap_or_else(|| panic!("{name}")),
    }
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
