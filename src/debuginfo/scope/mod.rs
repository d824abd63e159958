//! A function's scopes: its body, its lexical blocks and the calls that were inlined into it, with their variables.
//!
//! A function is read whole when a PC first falls into it, and kept: the next PC only walks the tree. DWARF 5 sections
//! 3.3.8 (inlining) and 3.5 (lexical blocks).

pub(super) mod cache;
pub(super) mod global;
pub(super) mod import;
pub(super) mod lookup;
pub(super) mod name_index;
pub(super) mod names;
pub(super) mod object_map;
pub(super) mod query;
pub(super) mod subprogram;
pub(super) mod tree;
pub(super) mod variable;

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::diagnostics::Diagnostics;
use super::error::{DebugInfoError, Result};
use crate::codeobject::ElfAddress;
use crate::debuginfo::scope::subprogram::Subprogram;
use crate::debuginfo::scope::tree::Tree;
use crate::debuginfo::scope::variable::Variable;
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::die::{Origins, Reading};
use crate::debuginfo::unit::index::is_function;
use crate::debuginfo::unit::line::SourceLocation;
use crate::debuginfo::unit::location::LocationAttribute;
use crate::units::DieOffset;

/// How many lanes a function was compiled for: `DW_AT_LLVM_lanes`, `DW_AT_num_lanes` of the drafts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Absent; the wave size bounds `DW_OP_LLVM_push_lane`.
    Missing,
    /// A number.
    Constant(u64),
    /// An expression or list (the later proposal): an implicit location, read as a number.
    Expression(LocationAttribute),
}

/// Attributes of the heterogeneous extensions on a function or an inlined call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimdFacts {
    /// `DW_AT_LLVM_lanes`.
    pub lanes: Lanes,
    /// `DW_AT_LLVM_lane_pc`, `DW_AT_lane_pc` of the drafts: the PC of every lane.
    pub lane_pc: LocationAttribute,
    /// `DW_AT_LLVM_active_lane`, `DW_AT_active_lane` of the drafts: the lanes that are active.
    pub active_lane: LocationAttribute,
}

impl SimdFacts {
    /// Those of a function without any of the attributes.
    pub const MISSING: Self = Self {
        lanes: Lanes::Missing,
        lane_pc: LocationAttribute::Missing,
        active_lane: LocationAttribute::Missing,
    };
}

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
    pub unit: super::UnitId,
    /// Its names and declaration.
    pub subprogram: Arc<Subprogram>,
    /// The function directly around it, for nested functions.
    pub enclosing: Option<DieOffset>,
    /// The function that it is an entry point of (DWARF 5 section 3.3), whose variables are its own too.
    pub entry_of: Option<DieOffset>,
    /// `DW_AT_entry_pc` or `DW_AT_low_pc`, where a call begins; `None`: the first address of the first range.
    entry: Option<ElfAddress>,
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
    pub(super) fn parts(&self) -> usize {
        let names = |of: &Subprogram| of.qualified_name.as_ref().map_or(0, |name| name.len() / 256);
        let each = self.scopes.iter().map(|scope| match &scope.kind {
            ScopeKind::Inlined { subprogram, .. } => 1 + scope.variables.len() + names(subprogram),
            ScopeKind::Function | ScopeKind::Block => 1 + scope.variables.len(),
        });
        each.sum::<usize>() + names(&self.subprogram)
    }

    pub(super) fn read(reading: Reading<'_>, offset: DieOffset) -> Result<Self> {
        let die = reading.die(offset)?;
        if !is_function(die.tag()) {
            let (expected, found) = ("DW_TAG_subprogram", die.tag_name());
            return Err(DebugInfoError::Tag { die: offset, expected, found });
        }
        let is_entry = die.tag() == gimli::DW_TAG_entry_point;
        let view = Rc::clone(&die.view);
        let mut damage = Diagnostics::default();
        let mut capacity = view.ranges_capacity();
        let ranges = addresses(damage.or_none(view.ranges(&die.entry, &mut capacity)).unwrap_or_default());
        let low = die.entry.attr_value(gimli::DW_AT_low_pc);
        let low = low.map(|value| view.dwarf.attr_address(&view.unit, value)).transpose();
        let low = low.map_err(|why| view.unreadable(&die.entry, gimli::DW_AT_low_pc, why));
        let low = damage.absent(low.map(Option::flatten));
        let base = low.or_else(|| Some(ranges.first()?.start.0));
        let entry = match die.entry.attr_value(gimli::DW_AT_entry_pc) {
            None => low,
            Some(value) => {
                // A constant is an offset from the base address.
                let entry = match value.udata_value() {
                    Some(offset) => Ok(base.and_then(|base| base.checked_add(offset))),
                    None => view.dwarf.attr_address(&view.unit, value),
                };
                let entry = entry.map_err(|why| view.unreadable(&die.entry, gimli::DW_AT_entry_pc, why));
                damage.absent(entry).or(low)
            }
        };
        let around = |die| {
            let around = view.index().around(die).next()?;
            view.entry(around).is_ok_and(|entry| is_function(entry.tag())).then_some(around)
        };
        let outside = around(offset);
        // An entry point inherits absent attributes from its function: they have one frame.
        let (entry_of, enclosing) = match outside.filter(|_| is_entry) {
            Some(function) => (Some(function), around(function)),
            None => (None, outside),
        };
        let function = entry_of.and_then(|function| damage.or_none(reading.die_near(&view, function)));
        let function = function.map(|function| reading.with_sound_origins(function, &mut damage));
        let origins = reading.with_sound_origins(die, &mut damage);
        let inherited = |name| match (attribute(reading, &origins, name), &function) {
            (LocationAttribute::Missing, Some(function)) => attribute(reading, function, name),
            (own, _) => own,
        };
        let frame_base = inherited(gimli::DW_AT_frame_base);
        let static_link = inherited(gimli::DW_AT_static_link);
        let return_addr = inherited(gimli::DW_AT_return_addr);
        let subprogram = Arc::new(Subprogram::read(reading, &origins, offset, &mut damage));
        let simd = simd(reading, &origins);
        let attributes = [&frame_base, &static_link, &return_addr, &simd.lane_pc, &simd.active_lane];
        damage.extend(attributes.into_iter().filter_map(LocationAttribute::problem).cloned());
        let body = Scope {
            die: offset,
            kind: ScopeKind::Function,
            ranges,
            variables: Vec::new(),
            imports: Vec::new(),
            parent: None,
            children: Vec::new(),
        };
        let mut tree = Tree::new(reading, Rc::clone(&view), body, capacity, damage);
        // The variables of its function are an entry point's too; its own parameters come behind them.
        if let (Some(function), Some(around)) = (&function, entry_of) {
            tree.read_or_end(around, function);
        }
        tree.read_or_end(offset, &origins);
        let (scopes, problems) = tree.finish();
        let (unit, entry) = (view.facts().id, entry.map(ElfAddress));
        Ok(Self {
            unit,
            subprogram,
            enclosing,
            entry_of,
            entry,
            frame_base,
            static_link,
            return_addr,
            simd,
            scopes,
            problems,
        })
    }
}

pub(super) fn addresses(ranges: Vec<Range<u64>>) -> Vec<Range<ElfAddress>> {
    let mut addresses: Vec<_> =
        ranges.into_iter().map(|range| ElfAddress(range.start)..ElfAddress(range.end)).collect();
    // Kept for each of perhaps a million scopes, most of which have one.
    addresses.shrink_to_fit();
    addresses
}

/// A location attribute of a DIE or its origins.
fn attribute(reading: Reading<'_>, origins: &Origins<'_>, name: gimli::DwAt) -> LocationAttribute {
    match origins.having(name).and_then(|die| Some((die, die.entry.attr_value(name)?))) {
        Some((die, value)) => die.location_or_broken(&reading.info.sections, name, value),
        None => LocationAttribute::Missing,
    }
}

pub(super) fn simd(reading: Reading<'_>, origins: &Origins<'_>) -> SimdFacts {
    let find = |wanted: Heterogeneous| {
        origins.chain.iter().find_map(|die| die.extension(wanted).map(|(name, value)| (die, name, value)))
    };
    let located = |wanted| match find(wanted) {
        Some((die, name, value)) => die.location_or_broken(&reading.info.sections, name, value),
        None => LocationAttribute::Missing,
    };
    let lanes = match find(Heterogeneous::Lanes) {
        None => Lanes::Missing,
        Some((die, name, value)) => match super::view::unsigned(&value) {
            Some(number) => Lanes::Constant(number),
            None => Lanes::Expression(die.location_or_broken(&reading.info.sections, name, value)),
        },
    };
    SimdFacts {
        lanes,
        lane_pc: located(Heterogeneous::LanePc),
        active_lane: located(Heterogeneous::ActiveLane),
    }
}
