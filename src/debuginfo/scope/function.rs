//! A function with its scopes: body, lexical blocks and inlined calls.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::codeobject::ElfAddress;
use crate::debuginfo::error::DebugInfoError;
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::scope::simd::SimdFacts;
use crate::debuginfo::scope::subprogram::Subprogram;
use crate::debuginfo::scope::variable::Variable;
use crate::debuginfo::unit::line_table::SourceLocation;
use crate::debuginfo::unit::location::LocationAttribute;
use crate::units::DieOffset;

/// Scope kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The function's body.
    Function,
    /// An inlined call.
    Inlined {
        /// The called function.
        subprogram: Arc<Subprogram>,
        /// The position of the call.
        call_site: Option<SourceLocation>,
        /// Its attributes of the heterogeneous extensions; `None`: it has none, like most calls.
        simd: Option<Box<SimdFacts>>,
    },
    /// A block of source text.
    Block,
}

/// A scope with its variables, in DIE order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its DIE.
    pub die: DieOffset,
    /// The kind.
    pub kind: ScopeKind,
    /// Its PCs.
    pub ranges: Vec<Range<ElfAddress>>,
    /// Parameters and variables in DIE order; those of the abstract instance alone come last.
    pub variables: Vec<Arc<Variable>>,
    /// Imported declarations and modules in DIE order: the names that `using` brings into the scope.
    pub imports: Vec<DieOffset>,
    /// The enclosing scope; `None` for the function.
    pub parent: Option<usize>,
    /// Its direct inner scopes in DIE order.
    pub children: Vec<usize>,
}

/// A function with code, and its contents.
#[derive(Debug)]
pub struct Function {
    /// Its unit.
    pub unit: UnitId,
    /// Its names and declaration.
    pub subprogram: Arc<Subprogram>,
    /// The innermost enclosing function, for nested functions.
    pub enclosing: Option<DieOffset>,
    /// The function of which it is an entry point (DWARF 5 section 3.3), and whose variables it shares.
    pub entry_of: Option<DieOffset>,
    /// `DW_AT_entry_pc` or `DW_AT_low_pc`, the start of a call; `None`: the first address of the first range.
    pub(in crate::debuginfo) entry: Option<ElfAddress>,
    /// `DW_AT_frame_base`, for any PC.
    pub frame_base: LocationAttribute,
    /// `DW_AT_static_link`: the frame base of the enclosing function, for nested functions and any PC.
    pub static_link: LocationAttribute,
    /// `DW_AT_return_addr`: the location of the return address, for any PC.
    pub return_addr: LocationAttribute,
    /// Its attributes of the heterogeneous extensions.
    pub simd: SimdFacts,
    /// Its scopes: first the function, each after its enclosing one.
    pub scopes: Vec<Scope>,
    /// The unreadable parts. Each costs its object, or all later objects if their beginning is unknown.
    pub problems: Vec<DebugInfoError>,
    /// Whether one of its expressions has `DW_OP_LLVM_user`, cached for its frames.
    pub(in crate::debuginfo) has_llvm_user: OnceLock<bool>,
}

impl Function {
    /// The scopes that contain a PC, the function first; empty for a PC outside of the function.
    #[must_use]
    pub fn scopes_at(&self, pc: ElfAddress) -> Vec<usize> {
        let holds = |index: &usize| {
            self.scopes.get(*index).is_some_and(|scope| scope.ranges.iter().any(|range| range.contains(&pc)))
        };
        let mut chain = Vec::new();
        let mut next = Some(0).filter(holds);
        while let Some(index) = next {
            chain.push(index);
            let children = self.scopes.get(index).map_or(&[][..], |scope| &scope.children);
            next = children.iter().copied().find(|child| holds(child));
        }
        chain
    }

    /// The start of a call: `DW_AT_entry_pc`, else `DW_AT_low_pc`, else the first address of the first range (DWARF 5,
    /// sections 2.17 and 2.18). Parts of the code may have lower addresses.
    #[must_use]
    pub fn low_pc(&self) -> Option<ElfAddress> {
        if self.entry.is_some() {
            return self.entry;
        }
        Some(self.scopes.first()?.ranges.first()?.start)
    }

    /// Its size in memory: scopes, variables, and one for each 256 bytes of composed names.
    pub(in crate::debuginfo) fn parts(&self) -> usize {
        let names = |of: &Subprogram| of.qualified_name.as_ref().map_or(0, |name| name.len() / 256);
        let each = self.scopes.iter().map(|scope| match &scope.kind {
            ScopeKind::Inlined { subprogram, .. } => 1 + scope.variables.len() + names(subprogram),
            ScopeKind::Function | ScopeKind::Block => 1 + scope.variables.len(),
        });
        each.sum::<usize>() + names(&self.subprogram)
    }
}
