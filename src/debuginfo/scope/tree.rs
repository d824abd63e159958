//! Construction of a function's tree of scopes: DWARF 5 sections 3.3.8 (inlining) and 3.5 (lexical blocks).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::bounds::MAX_DEPTH;
use crate::debuginfo::diagnostics::Diagnostics;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::scope::function::{Scope, ScopeKind};
use crate::debuginfo::scope::own_calls::{OwnCalls, name_helper};
use crate::debuginfo::scope::simd::{SimdFacts, addresses, simd};
use crate::debuginfo::scope::subprogram::Subprogram;
use crate::debuginfo::scope::variable::Variable;
use crate::debuginfo::unit::die::{Die, Origins, Reading};
use crate::debuginfo::unit::sections::Entry;
use crate::debuginfo::unit::view::UnitView;
use crate::units::DieOffset;

/// Maximum DIEs of abstract instances examined for one function, for the omissions of its concrete instances.
const MAX_ABSTRACT_DIES: usize = 1 << 18;

/// Maximum scopes and variables of one function, each inherited one counted for each call: some 200 MiB.
const MAX_PARTS: usize = 1 << 19;

/// The tree under construction.
pub(in crate::debuginfo) struct Tree<'a> {
    reading: Reading<'a>,
    view: Rc<UnitView<'a>>,
    scopes: Vec<Scope>,
    damage: Diagnostics,
    /// The remaining capacity of its scopes' ranges.
    ranges: usize,
    /// The abstract instances of inlined calls.
    abstracts: HashMap<DieOffset, Rc<[AbstractDie]>>,
    /// The called functions by their abstract instances, for calls that say nothing of their own about them.
    called: HashMap<DieOffset, Called>,
    /// Variables of abstract instances, shared by all calls that omit them.
    inherited: HashMap<DieOffset, Arc<Variable>>,
    /// The remaining DIEs of abstract instances to examine.
    abstract_dies: usize,
    is_too_deep: bool,
    /// The remaining capacity of scopes and variables.
    parts: usize,
    own_calls: OwnCalls,
}

/// A DIE of an abstract instance that a concrete one may omit.
#[derive(Clone, Copy)]
struct AbstractDie {
    die: DieOffset,
    depth: isize,
    kind: AbstractKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AbstractKind {
    Variable,
    Import,
    /// A lexical block: transparent without a concrete block.
    Block,
}

/// A called function as its abstract instance describes it.
#[derive(Clone)]
struct Called {
    subprogram: Subprogram,
    simd: SimdFacts,
    /// The last origin.
    declaration: Option<DieOffset>,
}

/// A scope DIE whose children are under read.
struct Open {
    /// Depth of its children.
    children: isize,
    /// The scope of its variables: itself, or the scope around a block without code.
    scope: usize,
    /// Origins of the DIEs so far, and the scope's own abstract instance: the scope inherits the others at its end.
    seen: HashSet<DieOffset>,
    origin: Option<DieOffset>,
}

impl<'a> Tree<'a> {
    /// A tree with a function's body alone; `ranges`: the capacity of its scopes' ranges.
    pub(in crate::debuginfo) fn new(
        reading: Reading<'a>,
        view: Rc<UnitView<'a>>,
        body: Scope,
        ranges: usize,
        damage: Diagnostics,
    ) -> Self {
        let (abstracts, called, inherited) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (scopes, abstract_dies, is_too_deep) = (vec![body], MAX_ABSTRACT_DIES, false);
        let parts = MAX_PARTS;
        Self {
            reading,
            view,
            scopes,
            damage,
            ranges,
            abstracts,
            called,
            inherited,
            abstract_dies,
            is_too_deep,
            parts,
            own_calls: OwnCalls::default(),
        }
    }

    /// The scopes and their problems.
    pub(in crate::debuginfo) fn finish(mut self) -> (Vec<Scope>, Vec<DebugInfoError>) {
        let (own_calls, mut scopes) = (std::mem::take(&mut self.own_calls), std::mem::take(&mut self.scopes));
        own_calls.share(&mut scopes, &mut || self.take_part());
        self.scopes = scopes;
        self.scopes.shrink_to_fit();
        (self.scopes, self.damage.into_problems())
    }

    /// Reads up to the first unreadable DIE: the beginning of the next one is unknown.
    pub(in crate::debuginfo) fn read_or_end(&mut self, function: DieOffset, origins: &Origins<'a>) {
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
        self.own_calls = OwnCalls::of(origins);
        let mut open = vec![Open { children: 1, scope: 0, seen: HashSet::new(), origin }];
        // Skips children of other DIEs than scopes (local classes, call sites).
        let mut skipping: Option<isize> = None;
        let mut end = Ok(());
        // The depth at which the reader began.
        let mut base = 0;
        while !raw.is_empty() && !open.is_empty() && self.parts > 0 {
            let (offset, depth) = (view.die_offset(raw.next_offset()), base + raw.next_depth());
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
            let is_helper = self.own_calls.is_own(origin);
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
                | gimli::DW_TAG_catch_block => self.scope(index, die, origin),
                _ => None,
            };
            // A helper inherits nothing from the kernel whose name it has.
            let origin = origin.filter(|_| !is_helper);
            match inner {
                Some(_) if has_children && open.len() >= MAX_DEPTH => {
                    self.too_deep(offset);
                    skipping = Some(depth + 1);
                }
                Some(scope) if has_children => {
                    open.push(Open { children: depth + 1, scope, seen: HashSet::new(), origin });
                }
                Some(scope) => {
                    self.inherit_or_not(&Open { children: 0, scope, seen: HashSet::new(), origin })
                }
                None if has_children => match view.index().after(offset) {
                    // Nested functions would be read again for each enclosing function.
                    Some(after) if view.slot.contains(after) => {
                        (raw, base) = (view.entries_from(after)?, depth);
                    }
                    Some(_) => break,
                    None => skipping = Some(depth + 1),
                },
                None => {}
            }
        }
        // An unread object after the end may have an abstract instance's origin, thus nothing is inherited.
        if end.is_ok() && self.parts > 0 {
            open.iter().rev().for_each(|closed| self.inherit_or_not(closed));
        }
        end
    }

    /// Takes one from the capacity; reports when that is used up.
    fn take_part(&mut self) -> bool {
        let Some(left) = self.parts.checked_sub(1) else { return false };
        self.parts = left;
        if left == 0 {
            self.damage.add(DebugInfoError::Bound {
                unit: self.view.slot.die_offset(),
                what: "scopes",
                why: "a function has more than 524287 scopes and variables; the rest of them is left out",
            });
        }
        left > 0
    }

    fn too_deep(&mut self, die: DieOffset) {
        if !std::mem::replace(&mut self.is_too_deep, true) {
            let unit = self.view.slot.die_offset();
            self.damage.add(DebugInfoError::TooNested { unit, die, limit: MAX_DEPTH });
        }
    }

    /// The reader of the DIE itself reports the error in the attribute.
    fn origin(&self, die: &Die<'_>) -> Option<DieOffset> {
        die.reference(self.reading.units, gimli::DW_AT_abstract_origin).ok().flatten()
    }

    fn variable(&mut self, scope: usize, die: Die<'a>) {
        if !self.take_part() {
            return;
        }
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

    /// Adds a scope. Variables of a block without code belong to the enclosing scope. An inlined call without code, or
    /// with unreadable addresses, is omitted.
    fn scope(&mut self, parent: usize, die: Die<'a>, origin: Option<DieOffset>) -> Option<usize> {
        let ranges = addresses(
            self.damage.or_none(self.view.ranges(&die.entry, &mut self.ranges)).unwrap_or_default(),
        );
        let is_call = die.tag() == gimli::DW_TAG_inlined_subroutine;
        if ranges.is_empty() {
            return (!is_call).then_some(parent);
        }
        if !self.take_part() {
            return None;
        }
        let offset = die.offset();
        let kind = if is_call { self.inlined(die, origin) } else { ScopeKind::Block };
        let index = self.scopes.len();
        self.own_calls.add(origin, index);
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

    fn inlined(&mut self, die: Die<'a>, origin: Option<DieOffset>) -> ScopeKind {
        let offset = die.offset();
        let call_site = die.place(gimli::DW_AT_call_file, gimli::DW_AT_call_line, gimli::DW_AT_call_column);
        let origin = origin.filter(|_| has_only_places(&die));
        let known = origin.and_then(|origin| self.called.get(&origin)).cloned();
        let Called { mut subprogram, simd, declaration } = known.unwrap_or_else(|| self.called(die, origin));
        subprogram.die = offset;
        if self.own_calls.is_own(declaration) {
            name_helper(&mut subprogram);
        }
        let subprogram = Arc::new(subprogram);
        let simd = (simd != SimdFacts::MISSING).then(|| Box::new(simd));
        ScopeKind::Inlined { subprogram, call_site, simd }
    }

    /// Reads the called function of an inlined call. `origin`: where it is kept, if it can be read.
    fn called(&mut self, die: Die<'a>, origin: Option<DieOffset>) -> Called {
        let (offset, mut damage) = (die.offset(), Diagnostics::default());
        let origins = self.reading.with_sound_origins(die, &mut damage);
        let subprogram = Subprogram::read(self.reading, &origins, offset, &mut damage);
        let simd = simd(self.reading, &origins);
        damage.extend([&simd.lane_pc, &simd.active_lane].into_iter().filter_map(|at| at.problem().cloned()));
        let called = Called { subprogram, simd, declaration: origins.last().map(Die::offset) };
        let problems = damage.into_problems();
        if let Some(origin) = origin.filter(|_| problems.is_empty()) {
            self.called.insert(origin, called.clone());
        }
        self.damage.extend(problems);
        called
    }

    fn inherit_or_not(&mut self, closed: &Open) {
        if let Err(problem) = self.inherit(closed) {
            self.damage.add(problem);
        }
    }

    /// Adds the variables of the scope's abstract instance that the concrete one omits: they are optimised away and
    /// still in scope.
    fn inherit(&mut self, closed: &Open) -> Result<()> {
        let Some(origin) = closed.origin else { return Ok(()) };
        let dies = match self.abstracts.get(&origin) {
            Some(known) => Rc::clone(known),
            None => {
                let read = self.abstract_dies(origin);
                let dies = Rc::from(read.as_deref().unwrap_or_default());
                self.abstracts.insert(origin, Rc::clone(&dies));
                read?;
                dies
            }
        };
        self.look_at(origin, dies.len())?;
        let mut skipping: Option<isize> = None;
        for AbstractDie { die, depth, kind } in dies.iter().copied() {
            skipping = skipping.filter(|children| *children <= depth);
            if skipping.is_some() {
                continue;
            }
            let is_seen = closed.seen.contains(&die);
            match kind {
                AbstractKind::Variable if !is_seen => self.inherit_variable(closed.scope, die)?,
                AbstractKind::Import => self.import(closed.scope, die),
                AbstractKind::Block if is_seen => skipping = Some(depth + 1),
                AbstractKind::Variable | AbstractKind::Block => {}
            }
        }
        Ok(())
    }

    fn inherit_variable(&mut self, scope: usize, die: DieOffset) -> Result<()> {
        if !self.take_part() {
            return Ok(());
        }
        let variable = match self.inherited.get(&die) {
            Some(known) => Arc::clone(known),
            None => {
                let variable = Arc::new(Variable::read(self.reading, self.reading.die(die)?, true));
                self.damage.extend(variable.problems.iter().cloned());
                self.inherited.insert(die, Arc::clone(&variable));
                variable
            }
        };
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.variables.push(variable);
        }
        Ok(())
    }

    /// Counts DIEs of an abstract instance: many calls may have one large origin.
    fn look_at(&mut self, origin: DieOffset, dies: usize) -> Result<()> {
        let left = self.abstract_dies.checked_sub(dies);
        self.abstract_dies = left.unwrap_or(0);
        left.map(drop).ok_or_else(|| DebugInfoError::Bound {
            unit: self.view.slot.die_offset(),
            what: "variables that were optimised away",
            why: "the abstract instances of one function have more than 262144 DIEs in all; the rest is left out",
        })
        .map_err(|error| DebugInfoError::Referred {
            attribute: crate::debuginfo::AttributeName::standard(gimli::DW_AT_abstract_origin),
            die: origin,
            error: Box::new(error),
        })
    }

    /// Attributes that a concrete instance may inherit from an abstract one.
    fn abstract_dies(&mut self, origin: DieOffset) -> Result<Vec<AbstractDie>> {
        let view = self.reading.holding(origin)?;
        let mut raw = view.entries_from(origin)?;
        let mut entry = Entry::null();
        let mut dies = Vec::new();
        let fail = |why| view.broken(origin, why);
        if !raw.read_entry(&mut entry).map_err(fail)? || !entry.has_children() {
            return Ok(dies);
        }
        let mut skipping: Option<isize> = None;
        let mut base = 0;
        while !raw.is_empty() {
            let (die, depth) = (view.die_offset(raw.next_offset()), base + raw.next_depth());
            if depth < 1 {
                break;
            }
            self.look_at(origin, 1)?;
            skipping = skipping.filter(|children| *children <= depth);
            let Some(abbreviation) = raw.read_abbreviation().map_err(fail)? else { continue };
            raw.skip_attributes(abbreviation.attributes()).map_err(fail)?;
            if skipping.is_some() {
                continue;
            }
            let kind = match abbreviation.tag() {
                gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable => Some(AbstractKind::Variable),
                gimli::DW_TAG_imported_declaration | gimli::DW_TAG_imported_module => {
                    Some(AbstractKind::Import)
                }
                gimli::DW_TAG_lexical_block if depth < MAX_DEPTH as isize => Some(AbstractKind::Block),
                gimli::DW_TAG_lexical_block => {
                    self.too_deep(die);
                    None
                }
                _ => None,
            };
            match kind {
                Some(kind) => dies.push(AbstractDie { die, depth, kind }),
                None if abbreviation.has_children() => match view.index().after(die) {
                    Some(after) if view.slot.contains(after) => {
                        (raw, base) = (view.entries_from(after)?, depth);
                    }
                    Some(_) => break,
                    None => skipping = Some(depth + 1),
                },
                None => {}
            }
        }
        Ok(dies)
    }
}

/// Whether a call has only attributes about its place: DWARF 5, section 3.3.8.2.
fn has_only_places(call: &Die<'_>) -> bool {
    call.entry.attrs().iter().all(|attribute| {
        matches!(
            attribute.name(),
            gimli::DW_AT_abstract_origin
                | gimli::DW_AT_sibling
                | gimli::DW_AT_low_pc
                | gimli::DW_AT_high_pc
                | gimli::DW_AT_ranges
                | gimli::DW_AT_entry_pc
                | gimli::DW_AT_GNU_entry_view
                | gimli::DW_AT_GNU_discriminator
                | gimli::DW_AT_call_file
                | gimli::DW_AT_call_line
                | gimli::DW_AT_call_column
        )
    })
}
