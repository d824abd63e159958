//! What a name means in a frame: what is in scope before all else, and where that has nothing, what the code object has.
//!
//! In order: variables of the frame, innermost block first; members through `this`; then, for each namespace and class
//! around the function from the inside out, variables, enumerators and functions of its unit; the same in other units,
//! and under any namespace; last, variables of static storage inside of functions.

use std::ops::Range;
use std::sync::Arc;

use super::eval::Scene;
use super::object::{Answer, error};
use crate::codeobject::ElfAddress;
use crate::debuginfo::{
    self, DebugInfo, DebugInfoError, Function, LocationAttribute, Naming, TypeId, UnitId, Variable,
};
use crate::dwarf::{Context, Dialect, Encoding, Evaluator, Focus, Location, Program, legacy};
use crate::session::ValueState;
use crate::session::variables::{failed, scratch};
use crate::units::{LaneId, LaneSet, Pc};

/// Runs of PCs that an error lists.
const MAX_RANGES: usize = 8;

/// What a name means.
#[derive(Debug)]
pub(super) enum Named {
    /// A variable, evaluated for all lanes.
    Variable(Placed),
    /// A member of the object that `this` points to.
    Member,
    /// An enumerator.
    Enumerator { ty: TypeId, value: i128 },
    /// A function.
    Function(Arc<Function>),
}

/// A variable with where it is.
#[derive(Debug)]
pub(super) struct Placed {
    name: String,
    pub(super) ty: Option<TypeId>,
    groups: Vec<(LaneSet, Answer<Location>)>,
    pub(super) legacy: bool,
}

impl Placed {
    /// Where it is for a lane.
    pub(super) fn at(&self, lane: LaneId) -> Answer<Location> {
        let group = self.groups.iter().find(|(lanes, _)| lanes.contains(lane));
        match group {
            Some((_, Ok(location))) => Ok(location.at(lane)),
            Some((_, Err(why))) => Err(why.clone()),
            None => error(format!("`{}` has no location in lane {lane}", self.name)),
        }
    }
}

/// What the debug information cannot say.
pub(super) fn words(error: DebugInfoError) -> Box<ValueState> {
    Box::new(ValueState::Error(error.to_string()))
}

impl Scene<'_, '_> {
    pub(super) fn debug(&self) -> &DebugInfo {
        &self.found.frame.debug
    }

    /// What a name means. Looked up once for all lanes.
    pub(super) fn find(&self, name: &str) -> Answer<Named> {
        let simple = !name.contains("::");
        let in_scope = self.found.variables.iter().rev();
        let mut in_scope = in_scope.filter(|at| at.variable.name.as_deref() == Some(name));
        if let Some(at) = in_scope.next() {
            return Ok(Named::Variable(self.place(&at.variable, &at.location)));
        }
        if simple && self.is_member_of_this(name)? {
            return Ok(Named::Member);
        }
        if let Some(found) = self.outside(name)? {
            return Ok(found);
        }
        error(self.not_found(name)?)
    }

    fn is_member_of_this(&self, name: &str) -> Answer<bool> {
        let mut variables = self.found.variables.iter();
        let this = variables.find(|at| at.variable.name.as_deref() == Some("this"));
        let Some(id) = this.and_then(|this| this.variable.type_id) else { return Ok(false) };
        self.has_member(&super::typed::Ty::Die(id), name)
    }

    /// The namespaces and classes around the function from the inside out, with `::`; the last one is empty.
    pub(super) fn around(&self) -> Vec<String> {
        let frame = self.found.function.frames.get(self.found.inlined);
        let name = frame.and_then(|frame| frame.subprogram.qualified_name.clone());
        let mut prefixes = vec![String::new()];
        let (mut depth, mut end) = (0usize, 0);
        let name = name.as_deref().unwrap_or("");
        for (at, c) in name.char_indices() {
            match c {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                ':' if depth == 0 && name[at..].starts_with("::") && at >= end => {
                    end = at + 2;
                    prefixes.push(name[..end].to_owned());
                }
                _ => {}
            }
        }
        prefixes.reverse();
        prefixes
    }

    /// The frame's unit, then the others.
    pub(super) fn units(&self) -> Vec<UnitId> {
        let own = self.found.function.unit();
        let others = (0..self.debug().unit_count()).map(UnitId).filter(|unit| *unit != own);
        std::iter::once(own).chain(others).collect()
    }

    /// A name outside of the function.
    fn outside(&self, name: &str) -> Answer<Option<Named>> {
        let units = self.units();
        let around = if name.starts_with("::") { vec![String::new()] } else { self.around() };
        let mut declared = None;
        for naming in [Naming::Whole, Naming::Ending] {
            for unit in &units {
                for prefix in &around {
                    let full = format!("{prefix}{name}");
                    if let Some(found) = self.in_unit(*unit, &full, naming, &mut declared)? {
                        return Ok(Some(found));
                    }
                    if naming == Naming::Ending || name.starts_with("::") {
                        break;
                    }
                }
            }
        }
        for unit in &units {
            if let Some(variable) = self.debug().static_named(*unit, name).map_err(words)? {
                return self.global(&variable).map(Some);
            }
        }
        match declared {
            Some(full) => {
                error(format!("`{full}` is declared here and defined in no unit of this code object"))
            }
            None => Ok(None),
        }
    }

    fn in_unit(
        &self,
        unit: UnitId,
        full: &str,
        naming: Naming,
        declared: &mut Option<String>,
    ) -> Answer<Option<Named>> {
        let debug = self.debug();
        for variable in debug.globals(unit).map_err(words)? {
            let own = variable.qualified_name.as_deref().or(variable.name.as_deref());
            if !own.is_some_and(|own| naming.matches(own, full)) {
                continue;
            }
            if variable.is_declaration && variable.location == LocationAttribute::Missing {
                declared.get_or_insert_with(|| own.unwrap_or(full).to_owned());
                continue;
            }
            return self.global(&variable).map(Some);
        }
        if let Some((ty, value)) = debug.enumerator_named(unit, full, naming).map_err(words)? {
            return Ok(Some(Named::Enumerator { ty, value }));
        }
        let function = debug.function_named(unit, full, naming).map_err(words)?;
        Ok(function.map(Named::Function))
    }

    fn global(&self, variable: &Variable) -> Answer<Named> {
        let pc = self.found.frame.context.elf_pc;
        let location = self.debug().location_at(variable.unit, &variable.location, pc).map_err(words)?;
        Ok(Named::Variable(self.place(variable, &location)))
    }

    /// Evaluates where a variable is, for all lanes.
    fn place(&self, variable: &Variable, location: &debuginfo::Location) -> Placed {
        let name = variable.name.as_deref().unwrap_or("<unnamed>").to_owned();
        let ty = variable.type_id;
        let placed = |groups, legacy| Placed { name: name.clone(), ty, groups, legacy };
        let lost = |why: String| {
            let why = format!("`{name}` was optimized out: {why}");
            placed(vec![(self.lanes, Err(Box::new(ValueState::OptimizedOut(why))))], false)
        };
        let bytes = match location {
            debuginfo::Location::None => return lost("it has no DW_AT_location".to_owned()),
            debuginfo::Location::NotAtPc => return lost(self.elsewhere(variable)),
            debuginfo::Location::ConstValue(bytes) => {
                return placed(vec![(self.lanes, Ok(Location::implicit(bytes)))], false);
            }
            debuginfo::Location::Expression(bytes)
            | debuginfo::Location::ListEntry { expression: bytes, .. } => bytes,
        };
        if bytes.is_empty() {
            return lost("its location is empty at this PC".to_owned());
        }
        let frame = &self.found.frame;
        let own = self.found.function.unit();
        let encoding =
            if variable.unit == own { frame.context.encoding } else { self.encoding(variable.unit, bytes) };
        let context = frame.context.of_unit(variable.unit, encoding);
        let refused = |why: &crate::dwarf::Error| Box::new(failed(why, &**frame.context.kind()));
        let program = match Program::decode(bytes, encoding) {
            Ok(program) => program,
            Err(why) => return placed(vec![(self.lanes, Err(refused(&why)))], false),
        };
        let is_legacy = if variable.unit == own {
            frame.legacy
        } else {
            let clang = self.debug().unit(variable.unit).is_ok_and(debuginfo::UnitFacts::producer_is_clang);
            clang
                && encoding.dialect != Dialect::Draft
                && !program.operations().iter().any(|placed| legacy::is_extension(&placed.operation))
        };
        let focus = Focus::Lanes(self.lanes);
        let meant = match is_legacy {
            true => legacy::recognise(&context, &program, scratch(frame.context.kind()), focus),
            false => None,
        };
        let legacy = meant.is_some();
        let groups = meant.unwrap_or_else(|| Evaluator::new(&context).location(&program, focus, &[]));
        let each = groups.into_iter().map(|group| (group.lanes, group.result.map_err(|why| refused(&why))));
        placed(each.collect(), legacy)
    }

    fn encoding(&self, unit: UnitId, expression: &[u8]) -> Encoding {
        let facts = self.debug().unit(unit).ok();
        let augmentation = facts.and_then(|facts| facts.augmentation.as_deref());
        let named = facts.and_then(|facts| facts.dialect);
        let dialect = named.unwrap_or_else(|| Dialect::of_unit(augmentation, [expression].into_iter()));
        Encoding { dialect, dwarf64: facts.is_some_and(|facts| facts.offset_size == 8) }
    }

    /// Why a variable with a location list has no place at the PC, and where it has one.
    fn elsewhere(&self, variable: &Variable) -> String {
        let LocationAttribute::List(list) = variable.location else {
            return "its location list has no entry for this PC".to_owned();
        };
        let entries = self.debug().location_list(variable.unit, list).unwrap_or_default();
        let ranges: Vec<Range<ElfAddress>> = entries
            .into_iter()
            .filter(|entry| !entry.expression.is_empty())
            .filter_map(|entry| entry.range)
            .collect();
        match ranges.as_slice() {
            [] => "its location list has no entry for this PC".to_owned(),
            ranges => format!(
                "its location list has no entry for this PC {}, but for {}",
                self.found.pc,
                self.listed(ranges)
            ),
        }
    }

    /// Runs of PCs as they were loaded: `0x1000-0x1010 and 0x1020-0x1024`.
    fn listed(&self, ranges: &[Range<ElfAddress>]) -> String {
        let context = &self.found.frame.context;
        let loaded = |address: ElfAddress| {
            context.loaded(address.0).map_or(address.to_string(), |at| Pc(at).to_string())
        };
        let each = |range: &Range<ElfAddress>| format!("{}-{}", loaded(range.start), loaded(range.end));
        let mut shown: Vec<String> = ranges.iter().take(MAX_RANGES).map(each).collect();
        if ranges.len() > MAX_RANGES {
            shown.push(format!("{} more", ranges.len() - MAX_RANGES));
        }
        match shown.pop() {
            Some(last) if !shown.is_empty() => format!("{} and {last}", shown.join(", ")),
            Some(only) => only,
            None => String::new(),
        }
    }

    /// Why a name means nothing: a variable of another block of the function, or nothing at all.
    fn not_found(&self, name: &str) -> Answer<String> {
        let function = &self.found.function.function;
        let has = |scope: &&debuginfo::Scope| {
            scope.variables.iter().any(|variable| variable.name.as_deref() == Some(name))
        };
        let ranges: Vec<Range<ElfAddress>> =
            function.scopes.iter().filter(has).flat_map(|scope| scope.ranges.clone()).collect();
        Ok(if ranges.is_empty() {
            format!("there is no `{name}` in this frame or its code object")
        } else {
            format!("`{name}` is not in scope at PC {}; it is at {}", self.found.pc, self.listed(&ranges))
        })
    }
}
