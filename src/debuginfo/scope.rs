//! A function's scopes: its body, its lexical blocks and the calls that were inlined into it, with their variables.
//!
//! A function is read whole when a PC first falls into it, and kept: the next PC only walks the tree. DWARF 5 sections
//! 3.3.8 (inlining) and 3.5 (lexical blocks).

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::attr::Heterogeneous;
use super::damage::Damage;
use super::die::{Die, Origins, Reading};
use super::error::{DebugInfoError, Result};
use super::index::is_function;
use super::line::Place;
use super::location::LocationAttribute;
use super::sections::Entry;
use super::subprogram::Subprogram;
use super::variable::Variable;
use super::view::UnitView;
use crate::codeobject::ElfAddress;
use crate::units::DieOffset;

/// Blocks of an abstract instance nest no deeper than source text; a longer chain is a cycle.
const MAX_ABSTRACT_DEPTH: usize = 64;

/// How many lanes a function was compiled for: `DW_AT_LLVM_lanes`, `DW_AT_num_lanes` of the drafts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Not said; the wave size bounds `DW_OP_LLVM_push_lane`.
    Missing,
    /// A number.
    Constant(u64),
    /// An expression or list (the later proposal): an implicit location, read as a number.
    Expression(LocationAttribute),
}

/// What the heterogeneous extensions say of a function or an inlined call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimdFacts {
    /// `DW_AT_LLVM_lanes`.
    pub lanes: Lanes,
    /// `DW_AT_LLVM_lane_pc`, `DW_AT_lane_pc` of the drafts: the PC of every lane.
    pub lane_pc: LocationAttribute,
    /// `DW_AT_LLVM_active_lane`, `DW_AT_active_lane` of the drafts: the lanes that are active.
    pub active_lane: LocationAttribute,
}

/// What a scope is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The function's body.
    Function,
    /// A call that was inlined.
    Inlined {
        /// The function that was called.
        subprogram: Arc<Subprogram>,
        /// Where it was called.
        call_site: Option<Place>,
        /// What the heterogeneous extensions say of it.
        simd: SimdFacts,
    },
    /// A block of source text.
    Block,
}

/// A scope with its variables, in DIE order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its DIE.
    pub die: DieOffset,
    /// What it is.
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
    /// `DW_AT_low_pc`, where a call begins; `None`: the lowest address.
    entry: Option<ElfAddress>,
    /// `DW_AT_frame_base`, before a PC is known.
    pub frame_base: LocationAttribute,
    /// `DW_AT_static_link`: the frame base of the function around it, for nested functions; before a PC is known.
    pub static_link: LocationAttribute,
    /// `DW_AT_return_addr`: where the address to return to is, before a PC is known.
    pub return_addr: LocationAttribute,
    /// What the heterogeneous extensions say of it.
    pub simd: SimdFacts,
    /// Its scopes: the first is the function, each comes after the one around it.
    pub scopes: Vec<Scope>,
    /// What of it and in it cannot be read; each costs the object that it speaks of, or all that follow it where nothing
    /// tells where they begin.
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

    /// Where a call of the function begins: `DW_AT_low_pc`, else its lowest address.
    #[must_use]
    pub fn low_pc(&self) -> Option<ElfAddress> {
        if self.entry.is_some() {
            return self.entry;
        }
        self.scopes.first()?.ranges.iter().map(|range| range.start).min()
    }

    pub(super) fn read(reading: Reading<'_>, offset: DieOffset) -> Result<Self> {
        let die = reading.die(offset)?;
        if !is_function(die.tag()) {
            let (expected, found) = ("DW_TAG_subprogram", die.tag_name());
            return Err(DebugInfoError::Tag { die: offset, expected, found });
        }
        let is_entry = die.tag() == gimli::DW_TAG_entry_point;
        let view = Rc::clone(&die.view);
        let mut damage = Damage::default();
        let ranges = addresses(damage.or_none(view.ranges(&die.entry)).unwrap_or_default());
        let low = die.entry.attr_value(gimli::DW_AT_low_pc);
        let low = low.map(|value| view.dwarf.attr_address(&view.unit, value)).transpose();
        let low = low.map_err(|why| view.unreadable(&die.entry, gimli::DW_AT_low_pc, why));
        let low = damage.absent(low.map(Option::flatten));
        let around = |die| {
            let around = view.index().around(die).next()?;
            view.entry(around).is_ok_and(|entry| is_function(entry.tag())).then_some(around)
        };
        let outside = around(offset);
        // What an entry point leaves out its function says: they have one frame.
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
        let mut tree = Tree { reading, view: Rc::clone(&view), scopes: Vec::new(), damage };
        tree.scopes.push(Scope {
            die: offset,
            kind: ScopeKind::Function,
            ranges,
            variables: Vec::new(),
            imports: Vec::new(),
            parent: None,
            children: Vec::new(),
        });
        // The variables of its function are an entry point's too; its own parameters come behind them.
        if let (Some(function), Some(around)) = (&function, entry_of) {
            tree.read_or_end(around, function);
        }
        tree.read_or_end(offset, &origins);
        let (unit, entry) = (view.facts().id, low.map(ElfAddress));
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
            scopes: tree.scopes,
            problems: tree.damage.into_problems(),
        })
    }
}

fn addresses(ranges: Vec<Range<u64>>) -> Vec<Range<ElfAddress>> {
    ranges.into_iter().map(|range| ElfAddress(range.start)..ElfAddress(range.end)).collect()
}

/// A location attribute of a DIE or its origins.
fn attribute(reading: Reading<'_>, origins: &Origins<'_>, name: gimli::DwAt) -> LocationAttribute {
    match origins.having(name).and_then(|die| Some((die, die.entry.attr_value(name)?))) {
        Some((die, value)) => die.location_or_broken(&reading.info.sections, name, value),
        None => LocationAttribute::Missing,
    }
}

fn simd(reading: Reading<'_>, origins: &Origins<'_>) -> SimdFacts {
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

/// The tree while it is read.
struct Tree<'a> {
    reading: Reading<'a>,
    view: Rc<UnitView<'a>>,
    scopes: Vec<Scope>,
    damage: Damage,
}

/// A scope DIE whose children are being read.
struct Open {
    /// Depth of its children.
    children: isize,
    /// Where its variables go: itself, or the scope around a block without code.
    scope: usize,
    /// Origins of DIEs seen so far, and the scope's own abstract instance: what is missing is inherited at its end.
    seen: HashSet<DieOffset>,
    origin: Option<DieOffset>,
}

impl<'a> Tree<'a> {
    /// Reads as far as the DIEs can be read: where one ends that cannot be, nothing tells.
    fn read_or_end(&mut self, function: DieOffset, origins: &Origins<'a>) {
        if let Err(end) = self.read(function, origins) {
            self.damage.add(end);
        }
    }

    fn read(&mut self, function: DieOffset, origins: &Origins<'a>) -> Result<()> {
        let view = Rc::clone(&self.view);
        let mut raw = view.entries_from(function)?;
        let mut entry = Entry::null();
        let read = raw.read_entry(&mut entry).map_err(|why| view.broken(function, why))?;
        if !read || !entry.has_children() {
            return Ok(());
        }
        let origin = origins.chain.first().and_then(|die| self.origin(die));
        let mut open = vec![Open { children: 1, scope: 0, seen: HashSet::new(), origin }];
        // Children of DIEs that are no scopes (local classes, call sites) are passed over.
        let mut skipping: Option<isize> = None;
        let mut end = Ok(());
        while !raw.is_empty() && !open.is_empty() {
            let (offset, depth) = (view.die_offset(raw.next_offset()), raw.next_depth());
            skipping = skipping.filter(|children| *children <= depth);
            while let Some(closed) = open.pop_if(|scope| scope.children > depth) {
                self.inherit_or_not(&closed);
            }
            let Some(scope) = open.last_mut() else { break };
            match raw.read_entry(&mut entry) {
                Ok(true) if skipping.is_none() => {}
                Ok(_) => continue,
                Err(why) => {
                    end = Err(view.broken(offset, why));
                    break;
                }
            }
            let die = Die { view: Rc::clone(&view), entry: entry.clone() };
            let origin = self.origin(&die);
            scope.seen.extend(origin);
            let (index, has_children) = (scope.scope, entry.has_children());
            let inner = match die.tag() {
                gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable | gimli::DW_TAG_constant => {
                    self.variable(index, die);
                    None
                }
                gimli::DW_TAG_imported_declaration | gimli::DW_TAG_imported_module => {
                    self.import(index, offset);
                    None
                }
                gimli::DW_TAG_lexical_block
                | gimli::DW_TAG_inlined_subroutine
                | gimli::DW_TAG_try_block
                | gimli::DW_TAG_catch_block => self.scope(index, die),
                _ => None,
            };
            match inner {
                Some(scope) if has_children => {
                    open.push(Open { children: depth + 1, scope, seen: HashSet::new(), origin });
                }
                Some(scope) => {
                    self.inherit_or_not(&Open { children: 0, scope, seen: HashSet::new(), origin })
                }
                None if has_children => skipping = Some(depth + 1),
                None => {}
            }
        }
        // What stood behind the end may well be what the abstract instance has: it is not inherited then.
        if end.is_ok() {
            open.iter().rev().for_each(|closed| self.inherit_or_not(closed));
        }
        end
    }

    /// Who reads the DIE itself says what is wrong with the attribute.
    fn origin(&self, die: &Die<'_>) -> Option<DieOffset> {
        die.reference(self.reading.units, gimli::DW_AT_abstract_origin).ok().flatten()
    }

    fn variable(&mut self, scope: usize, die: Die<'a>) {
        let variable = Arc::new(Variable::read(self.reading, die, true));
        self.damage.extend(variable.problems.iter().cloned());
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.variables.push(variable);
        }
    }

    fn import(&mut self, scope: usize, die: DieOffset) {
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.imports.push(die);
        }
    }

    /// Adds a scope; a block without code lends its variables to the scope around it, an inlined call without code is
    /// not there; so it is where the addresses cannot be read.
    fn scope(&mut self, parent: usize, die: Die<'a>) -> Option<usize> {
        let ranges = addresses(self.damage.or_none(self.view.ranges(&die.entry)).unwrap_or_default());
        let is_call = die.tag() == gimli::DW_TAG_inlined_subroutine;
        if ranges.is_empty() {
            return (!is_call).then_some(parent);
        }
        let offset = die.offset();
        let kind = if is_call { self.inlined(die) } else { ScopeKind::Block };
        let index = self.scopes.len();
        let (variables, imports, children) = (Vec::new(), Vec::new(), Vec::new());
        let parent_scope = Some(parent);
        self.scopes.push(Scope {
            die: offset,
            kind,
            ranges,
            variables,
            imports,
            parent: parent_scope,
            children,
        });
        if let Some(parent) = self.scopes.get_mut(parent) {
            parent.children.push(index);
        }
        Some(index)
    }

    fn inlined(&mut self, die: Die<'a>) -> ScopeKind {
        let offset = die.offset();
        let call_site = die.place(gimli::DW_AT_call_file, gimli::DW_AT_call_line, gimli::DW_AT_call_column);
        let origins = self.reading.with_sound_origins(die, &mut self.damage);
        let subprogram = Arc::new(Subprogram::read(self.reading, &origins, offset, &mut self.damage));
        let simd = simd(self.reading, &origins);
        self.damage
            .extend([&simd.lane_pc, &simd.active_lane].into_iter().filter_map(|at| at.problem().cloned()));
        ScopeKind::Inlined { subprogram, call_site, simd }
    }

    fn inherit_or_not(&mut self, closed: &Open) {
        if let Err(problem) = self.inherit(closed) {
            self.damage.add(problem);
        }
    }

    /// Adds the variables that the abstract instance of a scope has and the concrete one leaves out: they were
    /// optimised away and are still in scope.
    fn inherit(&mut self, closed: &Open) -> Result<()> {
        let Some(origin) = closed.origin else { return Ok(()) };
        let reading = self.reading;
        let view = reading.holding(origin)?;
        let mut raw = view.entries_from(origin)?;
        let mut entry = Entry::null();
        let fail = |why| view.broken(origin, why);
        if !raw.read_entry(&mut entry).map_err(fail)? || !entry.has_children() {
            return Ok(());
        }
        let mut skipping: Option<isize> = None;
        while !raw.is_empty() {
            let (offset, depth) = (view.die_offset(raw.next_offset()), raw.next_depth());
            if depth < 1 {
                break;
            }
            skipping = skipping.filter(|children| *children <= depth);
            if !raw.read_entry(&mut entry).map_err(fail)? || skipping.is_some() {
                continue;
            }
            match entry.tag() {
                gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable if !closed.seen.contains(&offset) => {
                    self.variable(closed.scope, Die { view: Rc::clone(&view), entry: entry.clone() });
                }
                gimli::DW_TAG_imported_declaration | gimli::DW_TAG_imported_module => {
                    self.import(closed.scope, offset);
                }
                // A block that has no concrete instance is transparent, as in the concrete tree.
                gimli::DW_TAG_lexical_block
                    if !closed.seen.contains(&offset) && depth < MAX_ABSTRACT_DEPTH as isize => {}
                _ if entry.has_children() => skipping = Some(depth + 1),
                _ => {}
            }
        }
        Ok(())
    }
}
