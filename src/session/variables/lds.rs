//! HIP's `__shared__` variables: clang describes their names and types, and no location.
//!
//! Situation: the compiler moves the variables of LDS that a kernel uses into structures, and the debug information of
//! the variables loses its locations. A static variable that was removed has the same attributes.
//!
//! Consequence: the address follows from sizes alone, and only in unoptimised code, which has no arrays of
//! AMDGPUPromoteAlloca in LDS. If the kernel's LDS has the size of one variable, and other variables cannot have that
//! size together, the variable begins at 0 (LLVM, `AMDGPULowerModuleLDSPass`: the structures of a kernel begin there).

use std::collections::HashSet;

use super::Frame;
use crate::codeobject::ElfAddress;
use crate::debuginfo::{self, DebugInfo, LocationAttribute, UnitId, VariableKind};
use crate::dwarf::Location;
use crate::session::dispatches::kernels;
use crate::session::{Inferred, InferredBy, Provenance};
use crate::units::{Address, DieOffset};

/// AMD's name of the address space.
const SPACE: &str = "local";
/// Maximum number of units and of functions whose static variables are compared.
const MAX_UNITS: u32 = 64;
const MAX_FUNCTIONS: usize = 256;
/// Maximum alignment of a variable in LDS, by `AMDGPULowerModuleLDSPass`.
const ALIGNMENT: u64 = 16;

/// The LDS of a wave's kernel.
#[derive(Clone, Debug)]
pub(super) struct KernelLds {
    /// Bytes of variables of known size, by the kernel's descriptor; not 0.
    fixed: u64,
    /// Bytes of the dispatch, with those of dynamic size.
    all: u64,
    /// The only variable that may have the fixed bytes.
    only: Option<DieOffset>,
}

/// A variable in LDS.
#[derive(Clone, Debug)]
pub(in crate::session) enum InLds {
    /// At an inferred address.
    At(Location, Provenance),
    /// At an unknown one; the reason, with the command that reads LDS.
    Somewhere(String),
}

impl Frame<'_> {
    /// The place of a variable without a location that may be in LDS; `None`: it is not.
    pub(in crate::session) fn in_lds(&self, variable: &debuginfo::Variable) -> Option<InLds> {
        let size = self.unplaced_size(variable)?;
        let lds = self.lds.get_or_init(|| self.kernel_lds()).as_ref()?;
        if size > lds.fixed {
            return None;
        }
        if lds.only == Some(variable.die) {
            let space = self.context.kind().target.space_named(SPACE)?;
            let location = Location::memory(space.id, space.address_bits, Address(0));
            let inferred = self.context.unwound().or(Inferred::NONE.with(InferredBy::LdsSize));
            return Some(InLds::At(location, Provenance { idiom: None, inferred }));
        }
        let type_name = self.debug.type_name(variable.type_id).unwrap_or_default();
        let element = type_name.split('[').next().unwrap_or_default().replace("volatile ", "");
        let is_plain = |byte: char| byte.is_alphanumeric() || "_: ".contains(byte);
        let read = match element.trim() {
            element if !element.is_empty() && element.chars().all(is_plain) => {
                format!("`print '*({SPACE} {element} *) 0'`")
            }
            _ => format!("`memory {SPACE}#0`"),
        };
        Some(InLds::Somewhere(format!(
            "no location from the compiler; it may be in the {} bytes of LDS: {read} reads them from address 0",
            lds.all
        )))
    }

    /// The size of a static variable without a location of clang's; `None`: it is no such variable.
    fn unplaced_size(&self, variable: &debuginfo::Variable) -> Option<u64> {
        let facts = self.debug.unit(variable.unit).ok()?;
        (facts.producer_is_clang() && is_unplaced(variable)).then_some(())?;
        // Variables of LDS have no initial values, so constants are elsewhere.
        let type_name = self.debug.type_name(variable.type_id).ok()?;
        let is_constant = type_name.starts_with("const ");
        self.debug.byte_size(variable.type_id?).ok().flatten().filter(|size| *size > 0 && !is_constant)
    }

    fn kernel_lds(&self) -> Option<KernelLds> {
        let walk = self.context.level.walk();
        let dump = walk.reader.dump();
        let capture = dump.capture();
        let dispatch = capture.dispatch_of(walk.reader.wave(walk.wave).ok()?)?;
        let (_, object, name) = kernels::of(dump, dispatch).ok()?;
        let entry = object.kernels().find(|kernel| kernel.name == name)?.entry?;
        let fixed = u64::from(object.descriptor_of_entry(entry)?.group_segment_fixed_size);
        let all = dispatch.group_segment_size.unwrap_or(fixed).max(fixed);
        let is_own = std::sync::Arc::ptr_eq(&object, self.debug.code_object());
        let only = if is_own { self.only_variable(entry, fixed) } else { None };
        (fixed > 0).then_some(KernelLds { fixed, all, only })
    }

    /// The only variable that may have all bytes of the kernel's LDS.
    fn only_variable(&self, entry: ElfAddress, fixed: u64) -> Option<DieOffset> {
        let debug: &DebugInfo = &self.debug;
        let kernel = debug.function_at(entry).ok()??;
        if kernel.function.subprogram.is_optimized
            || matches!(kernel.function.frame_base, LocationAttribute::Missing)
            || debug.unit(kernel.function.unit).ok()?.version < 5
        {
            return None;
        }
        let all = self.unplaced()?;
        let mut exact = all.iter().filter(|(_, size)| *size == fixed);
        let (Some((only, _)), None) = (exact.next(), exact.next()) else { return None };
        let others = all.iter().filter(|(die, size)| die != only && *size < fixed);
        let most: u64 = others.map(|(_, size)| size.next_multiple_of(ALIGNMENT) + ALIGNMENT).sum();
        (most < fixed).then_some(*only)
    }

    /// The static variables of the code object that have no location, with their sizes; `None`: there are too many
    /// functions, or one is unreadable.
    fn unplaced(&self) -> Option<Vec<(DieOffset, u64)>> {
        let debug: &DebugInfo = &self.debug;
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        let mut add = |variable: &debuginfo::Variable| {
            if seen.insert(variable.die) {
                found.extend(self.unplaced_size(variable).map(|size| (variable.die, size)));
            }
        };
        let (units, mut functions) = (debug.unit_count(), 0);
        if units > MAX_UNITS {
            return None;
        }
        for unit in (0..units).map(UnitId) {
            debug.globals(unit).ok()?.iter().for_each(&mut add);
            for die in debug.functions(unit).ok()? {
                functions += 1;
                if functions > MAX_FUNCTIONS {
                    return None;
                }
                let function = debug.function(die).ok()?;
                function.scopes.iter().flat_map(|scope| &scope.variables).for_each(|one| add(one));
            }
        }
        Some(found)
    }
}

fn is_unplaced(variable: &debuginfo::Variable) -> bool {
    matches!(variable.kind, VariableKind::Static | VariableKind::Global)
        && matches!(variable.location, LocationAttribute::Missing)
        && !variable.is_declaration
        && !variable.is_artificial
}
