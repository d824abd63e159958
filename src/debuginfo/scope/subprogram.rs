//! Name and declaration of a function.

use std::sync::Arc;

use crate::debuginfo::diagnostics::Diagnostics;
use crate::debuginfo::scope::cpp_name::FunctionName;
use crate::debuginfo::scope::cpp_symbol::demangle_cpp;
use crate::debuginfo::scope::target_region::{fortran_name, region_parent, target_region};
use crate::debuginfo::types::TypeId;
use crate::debuginfo::types::base::given_space;
use crate::debuginfo::unit::die::{Origins, Reading};
use crate::debuginfo::unit::line_table::SourceLocation;
use crate::units::{AddressSpace, DieOffset};

/// A function by its source name, inlined or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subprogram {
    /// Its DIE here: the concrete or the inlined instance.
    pub die: DieOffset,
    /// `DW_AT_name`: `saxpy`, `get<int>`.
    pub name: Option<Arc<str>>,
    /// The name with namespaces and classes: `ns::Vec::get<int>`; of code of a target region the name for users.
    pub qualified_name: Option<Arc<str>>,
    /// `DW_AT_linkage_name`: the symbol, mangled for HIP.
    pub linkage_name: Option<Arc<str>>,
    /// The position of its declaration.
    pub declared: Option<SourceLocation>,
    /// The return type; `None` for `void`.
    pub return_type: Option<TypeId>,
    /// Whether other units can call it.
    pub is_external: bool,
    /// Whether the compiler generated it.
    pub is_artificial: bool,
    /// `DW_AT_calling_convention`: 0xc7 for a kernel (`DW_CC_LLVM_DeviceKernel`).
    pub calling_convention: Option<u8>,
    /// Whether the optimiser ran: LLVM states then that all calls have DIEs (`DW_AT_call_all_calls`, in DWARF 4
    /// `DW_AT_GNU_all_call_sites`).
    pub is_optimized: bool,
    /// The address space of its code, by the attributes of a pointer; `None` if no DIE has one.
    pub address_space: Option<AddressSpace>,
}

impl Subprogram {
    /// The linkage name demangled, `ns::scale(float*, int)`; `None` if it is absent or not mangled.
    #[must_use]
    pub fn demangled(&self) -> Option<String> {
        demangle(self.linkage_name.as_deref()?)
    }

    /// The name for users: demangled, else qualified, else the symbol.
    #[must_use]
    pub fn display_name(&self) -> Option<String> {
        let named = || self.qualified_name.as_deref().or(self.linkage_name.as_deref()).map(str::to_owned);
        self.demangled().or_else(named)
    }

    /// The readable part.
    pub(in crate::debuginfo) fn read<'a>(
        reading: Reading<'a>,
        origins: &Origins<'a>,
        die: DieOffset,
        damage: &mut Diagnostics,
    ) -> Self {
        let named = origins.having(gimli::DW_AT_name);
        let name = named.and_then(|named| damage.absent(reading.template_name(named)));
        let region = name.as_deref().and_then(target_region);
        let qualified_name = match (&name, origins.last()) {
            // Its parent has the namespaces and modules.
            _ if region.is_some() => region.as_deref().map(Arc::from),
            (Some(name), Some(declaration)) => damage.or_none(reading.qualified(declaration, name)),
            _ => None,
        };
        let linkage_name = match damage.absent(origins.string(gimli::DW_AT_linkage_name)) {
            Some(name) => Some(name),
            None => damage.absent(origins.string(gimli::DW_AT_MIPS_linkage_name)),
        };
        // clang gives these functions a name only.
        let linkage_name = linkage_name.or_else(|| name.clone().filter(|_| region.is_some()));
        let convention = origins.having(gimli::DW_AT_calling_convention);
        let convention =
            convention.and_then(|die| match die.entry.attr_value(gimli::DW_AT_calling_convention) {
                Some(gimli::AttributeValue::CallingConvention(convention)) => Some(convention.0),
                _ => None,
            });
        let mut spaces = origins.chain.iter().filter_map(|die| damage.absent(given_space(die)));
        let address_space = spaces.next();
        Self {
            die,
            name,
            qualified_name,
            linkage_name,
            declared: origins.declared(),
            return_type: damage.absent(origins.reference(reading.units, gimli::DW_AT_type)).map(TypeId),
            is_external: origins.flag(gimli::DW_AT_external),
            is_artificial: origins.flag(gimli::DW_AT_artificial),
            calling_convention: convention,
            is_optimized: [gimli::DW_AT_call_all_calls, gimli::DW_AT_GNU_all_call_sites]
                .into_iter()
                .any(|name| origins.flag(name)),
            address_space,
        }
    }
}

/// A symbol as source text: an Itanium C++ symbol, one of flang's procedures and variables, or code of a target region
/// of OpenMP. `None` for other names, and beyond the demangler's bounds.
#[must_use]
pub fn demangle(symbol: &str) -> Option<String> {
    target_region(symbol).or_else(|| fortran_name(symbol)).or_else(|| demangle_cpp(symbol))
}

/// A symbol as source text, or itself.
#[must_use]
pub fn source_name(symbol: &str) -> String {
    demangle(symbol).unwrap_or_else(|| symbol.to_owned())
}

/// A function without its result type and its parameters: `scale<float>` for `void scale<float>(int)`.
#[must_use]
pub fn short_name(function: &str) -> String {
    // The name of a target region has no parameters.
    if region_parent(function).is_some() {
        return function.to_owned();
    }
    let name = FunctionName::parse(function).short();
    // A name of a log may begin with the sign of the global namespace.
    let global = if function.starts_with("::") { "::" } else { "" };
    if name.is_empty() { function.to_owned() } else { format!("{global}{name}") }
}
