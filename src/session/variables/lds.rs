//! HIP's `__shared__` variables: clang describes their names and types, and no location.
//!
//! Situation: the compiler moves the variables of LDS that a kernel uses into structures, and the debug information of
//! the variables loses its locations. A static variable that was removed has the same attributes.
//!
//! Consequence: the address follows from sizes alone (`lds_layout`). In optimised code other arrays may be in LDS, and
//! arrays and structs may be split into their parts: `AMDGPUPromoteAlloca` adds an array with an element for each
//! work-item, and `GlobalOpt` splits variables. So there all variables must be scalars, and LDS smaller than any such
//! array.

use std::collections::{HashMap, HashSet};

use super::Frame;
use crate::codeobject::{CodeObject, ElfAddress, SymbolKind};
use crate::debuginfo::{self, DebugInfo, Function, LocationAttribute, ScopeKind, UnitId, VariableKind};
use crate::dwarf::Location;
use crate::session::dispatches::kernels;
use crate::session::print::MAX_PRINTED_BYTES;
use crate::session::variables::lds_layout::{self, Candidate};
use crate::session::{Inferred, InferredBy, Provenance};
use crate::units::{Address, DieOffset};

/// AMD's name of the address space.
const SPACE: &str = "local";
/// Maximum number of units and of functions whose static variables are compared.
const MAX_UNITS: u32 = 64;
const MAX_FUNCTIONS: usize = 256;
/// Maximum alignment of dynamic LDS, which the end of the other LDS has.
const DYNAMIC_ALIGNMENT: u64 = 128;
/// Maximum number of symbols that are compared with functions.
const MAX_SYMBOLS: usize = 1 << 12;
/// The first clang whose layout `lds_layout` has.
const FIRST_CLANG: u32 = 17;

/// The LDS of a wave's kernel.
#[derive(Clone, Debug)]
pub(super) struct KernelLds {
    /// Bytes of variables of known size, by the kernel's descriptor; not 0.
    fixed: u64,
    /// Bytes of the dispatch, with those of dynamic size.
    all: u64,
    /// The certain addresses of variables.
    addresses: HashMap<DieOffset, u64>,
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
        let size = unplaced_size(&self.debug, variable)?;
        let lds = self.lds.get_or_init(|| self.kernel_lds()).as_ref()?;
        if size > lds.fixed {
            return None;
        }
        if let Some(address) = lds.addresses.get(&variable.die) {
            let space = self.context.kind().target.space_named(SPACE)?;
            let location = Location::memory(space.id, space.address_bits, Address(*address));
            let inferred = Inferred::NONE.with(InferredBy::LdsSize);
            return Some(InLds::At(location, Provenance { idiom: None, inferred }));
        }
        let type_name = self.debug.type_name(variable.type_id).unwrap_or_default();
        let (element, dimensions) = type_name.split_at(type_name.find('[').unwrap_or(type_name.len()));
        let element = element.replace("volatile ", "");
        let is_plain = |byte: char| byte.is_alphanumeric() || "_: ".contains(byte);
        let read = match element.trim() {
            element if !element.is_empty() && element.chars().all(is_plain) => {
                let elements = dimensions.split(['[', ']']).filter_map(|count| count.parse::<u64>().ok());
                let bytes = size / elements.fold(1, u64::saturating_mul).max(1);
                let count = (lds.all.min(MAX_PRINTED_BYTES) / bytes.max(1)).max(1);
                format!("`print '*({SPACE} {element} *) 0@{count}'`")
            }
            _ => format!("`memory {SPACE}#0`"),
        };
        Some(InLds::Somewhere(format!(
            "no location from the compiler; it may be in the {} bytes of LDS: {read} reads them from address 0",
            lds.all
        )))
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
        let own = self.debug.code_object();
        let is_own = own.is_some_and(|own| std::sync::Arc::ptr_eq(&object, own));
        let kernel = Kernel { object: &object, name: &name, entry, fixed };
        // Dynamic LDS begins at an aligned address, to which the compiler raises the size.
        let rounding = if dispatch.group_segment_size == Some(fixed) { 1 } else { DYNAMIC_ALIGNMENT };
        let addresses = is_own.then(|| self.addresses(&kernel, rounding)).flatten().unwrap_or_default();
        (fixed > 0).then_some(KernelLds { fixed, all, addresses })
    }

    /// The certain addresses of variables; `None`: there is none.
    fn addresses(&self, kernel: &Kernel<'_>, rounding: u64) -> Option<HashMap<DieOffset, u64>> {
        let debug: &DebugInfo = &self.debug;
        let function = debug.function_at(kernel.entry).ok()??;
        let facts = debug.unit(function.function.unit).ok()?;
        let symbol = debuginfo::demangle(kernel.name);
        let is_region = symbol.is_some_and(|name| debuginfo::region_parent(&name).is_some());
        let is_known = facts.version >= 5 && facts.clang_version()? >= FIRST_CLANG;
        let is_optimized = function.function.subprogram.is_optimized
            || matches!(function.function.frame_base, LocationAttribute::Missing);
        // The runtime of OpenMP has variables of its own.
        if !is_known || is_region || !is_described(debug, kernel.object) {
            return None;
        }
        if is_optimized && kernel.fixed >= kernel.max_work_items()? {
            return None;
        }
        let mut all = unplaced(debug, kernel)?;
        if is_optimized && all.iter().any(|one| !one.is_scalar) {
            return None;
        }
        all.retain(|one| one.candidate.size <= kernel.fixed);
        let candidates: Vec<Candidate> = all.iter().map(|one| one.candidate).collect();
        let addresses = lds_layout::addresses(&candidates, kernel.fixed, rounding)?;
        Some(all.iter().zip(addresses).filter_map(|(one, address)| Some((one.die, address?))).collect())
    }
}

/// A kernel with LDS.
pub(super) struct Kernel<'a> {
    pub(super) object: &'a CodeObject,
    pub(super) name: &'a str,
    pub(super) entry: ElfAddress,
    /// Bytes of LDS by its descriptor.
    pub(super) fixed: u64,
}

impl Kernel<'_> {
    /// The number of work-items for which the compiler makes arrays in LDS.
    pub(super) fn max_work_items(&self) -> Option<u64> {
        let kernels = &self.object.metadata().ok()??.kernels;
        kernels.iter().find(|kernel| kernel.is_named(self.name))?.max_flat_workgroup_size
    }
}

/// A static variable without a location.
pub(super) struct Unplaced {
    die: DieOffset,
    pub(super) candidate: Candidate,
    is_scalar: bool,
}

/// The size of a static variable without a location of clang's; `None`: it is no such variable.
fn unplaced_size(debug: &DebugInfo, variable: &debuginfo::Variable) -> Option<u64> {
    let facts = debug.unit(variable.unit).ok()?;
    (facts.producer_is_clang() && is_unplaced(variable)).then_some(())?;
    // Variables of LDS have no initial values, so constants are elsewhere.
    let type_name = debug.type_name(variable.type_id).ok()?;
    let is_constant = type_name.starts_with("const ");
    debug.byte_size(variable.type_id?).ok().flatten().filter(|size| *size > 0 && !is_constant)
}

/// Whether all functions have debug information: others may have variables in LDS.
pub(super) fn is_described(debug: &DebugInfo, object: &CodeObject) -> bool {
    let symbols = object.symbols_up_to(MAX_SYMBOLS);
    let mut functions = symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function);
    let found: Vec<_> = functions.by_ref().take(MAX_FUNCTIONS).collect();
    let is_in = |address| matches!(debug.function_at(address), Ok(Some(_)));
    functions.next().is_none() && found.iter().all(|symbol| is_in(ElfAddress(symbol.value)))
}

/// The static variables of the code object that have no location, without those of other kernels; `None`: there are
/// too many functions, or one is unreadable.
pub(super) fn unplaced(debug: &DebugInfo, kernel: &Kernel<'_>) -> Option<Vec<Unplaced>> {
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    let has_others = kernel.object.kernels().nth(1).is_some();
    let mut add = |variable: &debuginfo::Variable, is_own: bool| {
        if let Some(size) = unplaced_size(debug, variable).filter(|_| seen.insert(variable.die)) {
            let type_id = variable.type_id?;
            let (declared, natural) =
                (variable.alignment.unwrap_or(1), debug.max_alignment(type_id).unwrap_or(u64::MAX));
            let candidate = Candidate { size, declared, natural, is_shared: has_others && !is_own };
            found.push(Unplaced { die: variable.die, candidate, is_scalar: debug.is_scalar(type_id) });
        }
        Some(())
    };
    let (units, mut functions) = (debug.unit_count(), 0);
    if units > MAX_UNITS {
        return None;
    }
    for unit in (0..units).map(UnitId) {
        debug.globals(unit).ok()?.iter().try_for_each(|one| add(one, false))?;
        for die in debug.functions(unit).ok()? {
            functions += 1;
            if functions > MAX_FUNCTIONS {
                return None;
            }
            let function = debug.function(die).ok()?;
            let entry = function.low_pc();
            let is_other = entry.is_some_and(|at| at != kernel.entry && kernel.object.is_kernel_entry(at));
            for (index, scope) in function.scopes.iter().enumerate() {
                // No other function reaches the variables of a kernel.
                let is_own = is_own_scope(&function, index);
                if is_own && is_other {
                    continue;
                }
                let is_own = is_own && entry == Some(kernel.entry);
                scope.variables.iter().try_for_each(|one| add(one, is_own))?;
            }
        }
    }
    Some(found)
}

/// Whether a scope is of the function itself, not of a call inlined into it.
fn is_own_scope(function: &Function, index: usize) -> bool {
    let scopes = &function.scopes;
    // A scope comes after its enclosing one, so the chain is finite.
    let mut chain = std::iter::successors(scopes.get(index), |scope| scopes.get(scope.parent?));
    chain.all(|scope| !matches!(scope.kind, ScopeKind::Inlined { .. }))
}

fn is_unplaced(variable: &debuginfo::Variable) -> bool {
    matches!(variable.kind, VariableKind::Static | VariableKind::Global)
        && matches!(variable.location, LocationAttribute::Missing)
        && !variable.is_declaration
        && !variable.is_artificial
}
