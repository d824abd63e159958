//! A function with its scopes: its body, its lexical blocks and the calls that were inlined into it.

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
    /// A call that was inlined.
    Inlined {
        /// The function that was called.
        subprogram: Arc<Subprogram>,
        /// Where it was called.
        call_site: Option<SourceLocation>,
        /// Its attributes of the heterogeneous extensions; `None`: it has none, as most calls.
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
    /// The PCs it holds.
    pub ranges: Vec<Range<ElfAddress>>,
    /// Parameters and variables, DIE order; those that only the abstract instance has come last.
    pub variables: Vec<Arc<Variable>>,
    /// Imported declarations and modules, DIE order: what `using` brings into the scope.
    pub imports: Vec<DieOffset>,
    /// The scope around it; `None` for the function.
    pub parent: Option<usize>,
    /// Scopes directly inside it, DIE order.
    pub children: Vec<usize>,
}

/// A function with code, and everything in it.
#[derive(Debug)]
pub struct Function {
    /// The unit it stands in.
    pub unit: UnitId,
    /// Its names and declaration.
    pub subprogram: Arc<Subprogram>,
    /// The function directly around it, for nested functions.
    pub enclosing: Option<DieOffset>,
    /// The function that it is an entry point of (DWARF 5 section 3.3), whose variables are its own too.
    pub entry_of: Option<DieOffset>,
    /// `DW_AT_entry_pc` or `DW_AT_low_pc`, where a call begins; `None`: the first address of the first range.
    pub(in crate::debuginfo) entry: Option<ElfAddress>,
    /// `DW_AT_frame_base`, before a PC is known.
    pub frame_base: LocationAttribute,
    /// `DW_AT_static_link`: the frame base of the function around it, for nested functions; before a PC is known.
    pub static_link: LocationAttribute,
    /// `DW_AT_return_addr`: where the address to return to is, before a PC is known.
    pub return_addr: LocationAttribute,
    /// Its attributes of the heterogeneous extensions.
    pub simd: SimdFacts,
    /// Its scopes: the first is the function, each comes after the one around it.
    pub scopes: Vec<Scope>,
    /// The unreadable parts; each costs its object, or all objects after it if their beginning is unknown.
    pub problems: Vec<DebugInfoError>,
    /// Whether one of its expressions has `DW_OP_LLVM_user`; each of its frames asks.
    pub(in crate::debuginfo) has_llvm_user: OnceLock<bool>,
}

impl Function {
    /// The scopes that hold a PC, the function first; empty when the PC is outside of the function.
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

    /// Where a call of the function begins: `DW_AT_entry_pc`, else `DW_AT_low_pc`, else the first address of its first range
    /// (DWARF 5, sections 2.17 and 2.18). A part of the code may lie at lower addresses.
    #[must_use]
    pub fn low_pc(&self) -> Option<ElfAddress> {
        if self.entry.is_some() {
            return self.entry;
        }
        Some(self.scopes.first()?.ranges.first()?.start)
    }

    /// Scopes and variables, and names that are put together of others for each 256 bytes: the memory it takes.
    pub(in crate::debuginfo) fn parts(&self) -> usize {
        let names = |of: &Subprogram| of.qualified_name.as_ref().map_or(0, |name| name.len() / 256);
        let each = self.scopes.iter().map(|scope| match &scope.kind {
            ScopeKind::Inlined { subprogram, .. } => 1 + scope.variables.len() + names(subprogram),
            ScopeKind::Function | ScopeKind::Block => 1 + scope.variables.len(),
        });
        each.sum::<usize>() + names(&self.subprogram)
    }
}
