//! Bounds of functions.

use std::sync::Arc;

use super::{FunctionBounds, Symbolic};
use crate::arch::{Generation, Processor};
use crate::capture::{Capture, Wave};
use crate::codeobject::{CodeObject, Feature, SymbolKind};
use crate::debuginfo::source_name;
use crate::disassembler::Machine;
use crate::session::objects::Loaded;
use crate::units::WaveSize;

/// The function that holds a run-time address: by its symbol, else (a stripped file) by debug information.
pub(super) fn function(loaded: &Loaded, capture: &Capture, address: u64) -> Option<FunctionBounds> {
    let at = loaded.elf(address);
    let object = loaded.object(capture).ok()?;
    let (name, start, end) = by_symbol(&object, at.0).or_else(|| {
        let debug = loaded.debug(capture).ok()?;
        let function = debug.function_at(at).ok()??.function;
        let ranges = &function.scopes.first()?.ranges;
        let range = ranges.iter().find(|range| range.contains(&at))?;
        let name = function.subprogram.display_name()?;
        Some((name, range.start.0, range.end.0))
    })?;
    let load = loaded.address().0;
    let (start, end) = (start.wrapping_add(load), end.wrapping_add(load));
    (start <= address && address < end).then(|| FunctionBounds {
        name: Arc::from(name),
        start,
        end,
        begins_before: false,
    })
}

fn by_symbol(object: &CodeObject, at: u64) -> Option<(String, u64, u64)> {
    let (symbol, _) = object.symbol_at(crate::codeobject::ElfAddress(at))?;
    let is_sized = symbol.kind == SymbolKind::Function && symbol.size > 0;
    let end = symbol.value.checked_add(symbol.size).filter(|_| is_sized)?;
    Some((source_name(&symbol.name), symbol.value, end))
}

impl FunctionBounds {
    /// The symbolic form of an address in it.
    pub(super) fn symbolic(&self, address: u64) -> Option<Symbolic> {
        let is_inside = !self.begins_before && self.start <= address && address < self.end;
        is_inside.then(|| Symbolic { function: Arc::clone(&self.name), offset: address - self.start })
    }
}

/// The feature of a wave's size. Earlier generations have one size, and LLVM has no option for it.
fn wave_size(processor: Processor, wave: &Wave) -> Option<&'static str> {
    let is_optional = processor.generation >= Generation::Gfx10;
    is_optional.then_some(match wave.kind.wave_size {
        WaveSize::W32 => "+wavefrontsize32",
        WaveSize::W64 => "+wavefrontsize64",
    })
}

/// A processor of the user's choice, with the wave's size.
pub(super) fn machine_named(name: &str, wave: &Wave) -> Machine {
    let feature = Processor::named(name).and_then(|processor| wave_size(processor, wave));
    Machine { processor: name.to_owned(), features: feature.into_iter().collect(), begins_inside: false }
}

/// The processor and wave size of code that a wave runs: by its code object, else by the wave's GPU.
///
/// AMDGPUUsage, "ELF Header": processor and features in `e_flags`. The wave's size is not among them.
pub(in crate::session) fn machine(object: Option<&CodeObject>, wave: &Wave) -> Machine {
    let header = object.map(CodeObject::header);
    // LLVM 22 does not have this generic processor, whose instructions those of the family execute.
    let is_known_to_llvm = |processor: &Processor| processor.name != "gfx12-5-generic";
    let by_header = object.and_then(CodeObject::processor).filter(is_known_to_llvm);
    let processor = by_header.or_else(|| Processor::named(&wave.kind.target.name));
    let mut features: Vec<_> =
        processor.and_then(|processor| wave_size(processor, wave)).into_iter().collect();
    let mut choose = |feature: Option<Feature>, on, off| match feature {
        Some(Feature::On) => features.push(on),
        Some(Feature::Off) if header.is_some_and(|header| header.abi_version.0 >= 2) => features.push(off),
        _ => {}
    };
    choose(header.map(|header| header.xnack()), "+xnack", "-xnack");
    choose(header.map(|header| header.sramecc()), "+sramecc", "-sramecc");
    let processor = processor.map_or_else(|| wave.kind.target.name.clone(), |known| known.name.to_owned());
    Machine { processor, features, begins_inside: false }
}
