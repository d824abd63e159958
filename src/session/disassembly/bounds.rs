//! Bounds of functions.

use std::sync::Arc;

use super::{FunctionBounds, Symbolic};
use crate::arch::WaveArch;
use crate::capture::Capture;
use crate::codeobject::{CodeObject, SymbolKind};
use crate::debuginfo::source_name;
use crate::isa::Machine;
use crate::session::objects::Loaded;

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

/// A processor of the user's choice, with the wave's size.
pub(super) fn machine_named(name: &str, kind: &WaveArch) -> Machine {
    Machine { processor: name.to_owned(), wave_size: kind.wave_size }
}

/// The processor and wave size of code that a wave runs: by its code object, else by the wave's GPU.
///
/// AMDGPUUsage, "ELF Header": the processor is in `e_flags`. The wave's size is not.
pub(in crate::session) fn machine(object: Option<&CodeObject>, kind: &WaveArch) -> Machine {
    let processor = object.and_then(CodeObject::processor);
    machine_named(processor.map_or(&kind.target.name, |known| known.name), kind)
}
