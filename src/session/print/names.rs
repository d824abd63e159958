//! Meaning of a name in a frame: names in scope come first, then names of the code object.
//!
//! In order: variables of the frame, innermost block first; those of the functions around a nested one (`uplevel`);
//! members through `this`; then, for each namespace and class around the function from the inside out and for imports
//! by `using` there (`using`), variables, enumerators and functions of its unit; the same in other units, and under
//! any namespace; last, variables of static storage inside of functions.

use std::ops::Range;
use std::sync::Arc;

use super::eval::Scene;
use super::object::{Answer, error};
use super::uplevel::UpLevel;
use crate::codeobject::ElfAddress;
use crate::debuginfo::{
    self, DebugInfo, DebugInfoError, Function, LocationAttribute, Naming, TypeId, UnitId, Variable,
    VariableAt, VariableKind,
};
use crate::dwarf::{Context as _, Dialect, Encoding, Location, Program, clang_xderef};
use crate::session::values::failed;
use crate::session::variables::lds::InLds;
use crate::session::variables::lds_objects::Described;
use crate::session::variables::{Frame, scratch};
use crate::session::{Provenance, ValueState};
use crate::units::{LaneId, LaneSet};

/// Words of the error about a variable of another block: the name is right.
pub(crate) const IN_SCOPE_AT: &str = "in scope at";

/// The meaning of a name.
#[derive(Debug)]
pub(super) enum Named {
    /// A variable, evaluated for all lanes.
    Variable(Box<Placed>),
    /// A variable of a function around a nested one.
    UpLevel(Box<UpLevel>),
    /// A member of the object that `this` points to.
    Member,
    /// An enumerator.
    Enumerator { ty: TypeId, value: i128 },
    /// A function.
    Function(Arc<Function>),
    /// A constant of the language.
    Constant(Constant),
}

/// A constant with a name; a variable of that name hides it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// `true`, `false`
    Truth(bool),
    /// `nullptr`, `NULL`
    Null,
    /// `inf`, `nan`
    Float(f64),
}

impl Constant {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "true" => Self::Truth(true),
            "false" => Self::Truth(false),
            "nullptr" | "NULL" => Self::Null,
            "inf" => Self::Float(f64::INFINITY),
            "nan" => Self::Float(f64::NAN),
            _ => return None,
        })
    }
}

/// A variable with its location.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) variable: Variable,
    /// The attribute's location at the PC.
    pub(super) said: debuginfo::Location,
    pub(super) ty: Option<TypeId>,
    pub(super) groups: Vec<(LaneSet, Answer<Location>)>,
    /// The way in which its locations were found.
    pub(super) provenance: Provenance,
}

/// A variable's expression with its way of reading.
pub(super) struct Readable {
    pub(super) program: Program,
    pub(super) encoding: Encoding,
    /// The reading if its unit has no operation of the extensions.
    pub(super) reading: Option<clang_xderef::Reading>,
}

impl Placed {
    pub(super) fn name(&self) -> &str {
        self.variable.name.as_deref().unwrap_or("<unnamed>")
    }

    pub(super) fn groups(&self) -> &[(LaneSet, Answer<Location>)] {
        &self.groups
    }

    /// Whether each lane has its own: a variable of a function, or one whose location depends on the lane.
    pub(super) fn is_of_lane(&self) -> bool {
        let is_uniform =
            |(_, found): &(LaneSet, Answer<Location>)| found.as_ref().map_or(true, Location::is_uniform);
        self.variable.kind.is_of_lane() || self.groups.len() > 1 || !self.groups.iter().all(is_uniform)
    }

    /// Its location for a lane.
    pub(super) fn at(&self, lane: LaneId) -> Answer<Location> {
        let group = self.groups.iter().find(|(lanes, _)| lanes.contains(lane));
        match group {
            Some((_, Ok(location))) => Ok(location.at(lane)),
            Some((_, Err(why))) => Err(why.clone()),
            None => error(format!("`{}` has no location in lane {lane}", self.name())),
        }
    }
}

/// Converts missing debug information to a value's state.
pub(super) fn words(error: DebugInfoError) -> Box<ValueState> {
    Box::new(ValueState::Error(error.to_string().into()))
}

impl Scene<'_, '_> {
    pub(super) fn debug(&self) -> &DebugInfo {
        &self.found.frame.debug
    }

    /// Whether the frame's function is Fortran's.
    pub(super) fn is_fortran(&self) -> bool {
        let facts = self.found.unit().and_then(|unit| self.debug().unit(unit).ok());
        facts.is_some_and(|facts| facts.language.is_fortran())
    }

    /// The meaning of a name. Looked up once for all lanes. Compilers of Fortran write names in lower case.
    pub(super) fn find(&self, name: &str) -> Answer<Named> {
        if let Some(found) = self.find_spelled(name)? {
            return Ok(found);
        }
        let lower = name.to_ascii_lowercase();
        if lower != name
            && self.is_fortran()
            && let Some(found) = self.find_spelled(&lower)?
        {
            return Ok(found);
        }
        error(self.not_found(name)?)
    }

    fn find_spelled(&self, name: &str) -> Answer<Option<Named>> {
        let simple = !name.contains("::");
        if let Some(at) = self.in_scope(name) {
            return Ok(Some(Named::Variable(Box::new(self.place(&at.variable, &at.location)))));
        }
        if simple && let Some(found) = self.up_level(name)? {
            return Ok(Some(Named::UpLevel(Box::new(found))));
        }
        if simple && self.is_member_of_this(name)? {
            return Ok(Some(Named::Member));
        }
        if let Some(found) = self.outside(name)? {
            return Ok(Some(found));
        }
        Ok(Constant::named(name).map(Named::Constant))
    }

    /// The variable of a name in the innermost block that has one. Of several in a block, as Triton writes for the stages
    /// of a value, the first that has a location at the PC, then a size; gdb takes the first, variables before parameters.
    fn in_scope(&self, name: &str) -> Option<&VariableAt> {
        let named = || self.found.variables.iter().filter(|at| at.variable.name.as_deref() == Some(name));
        let innermost = named().map(|at| at.depth).max()?;
        let has_location = |at: &VariableAt| match &at.location {
            debuginfo::Location::None | debuginfo::Location::NotAtPc => false,
            location => location.expression().is_none_or(|bytes| !bytes.is_empty()),
        };
        let has_size = |at: &VariableAt| {
            let size = at.variable.type_id.map(|id| self.debug().byte_size(id));
            matches!(size, Some(Ok(Some(_))))
        };
        let is_argument = |at: &VariableAt| at.variable.kind == VariableKind::Argument;
        let rank = |at: &&VariableAt| (!has_location(at), !has_size(at), is_argument(at));
        named().filter(|at| at.depth == innermost).min_by_key(rank)
    }

    fn is_member_of_this(&self, name: &str) -> Answer<bool> {
        let mut variables = self.found.variables.iter();
        let this = variables.find(|at| at.variable.name.as_deref() == Some("this"));
        let Some(id) = this.and_then(|this| this.variable.type_id) else { return Ok(false) };
        self.has_member(&super::typed::Ty::Die(id), name)
    }

    /// The frame's unit, then the others.
    pub(super) fn units(&self) -> Vec<UnitId> {
        let own = self.found.unit();
        // An unreadable unit hides its names; `not_found` reports it.
        let others = (0..self.debug().unit_count()).map(UnitId).filter(|unit| Some(*unit) != own);
        let others = others.filter(|unit| self.debug().unit(*unit).is_ok());
        own.into_iter().chain(others).collect()
    }

    /// A name outside of the function.
    fn outside(&self, name: &str) -> Answer<Option<Named>> {
        let units = self.units();
        let full_names = self.full_names(name)?;
        let mut declared = None;
        for unit in &units {
            for full in &full_names {
                if let Some(found) = self.in_unit(*unit, full, Naming::Whole, &mut declared)? {
                    return Ok(Some(found));
                }
            }
        }
        for unit in &units {
            if let Some(found) = self.in_unit(*unit, name, Naming::Ending, &mut declared)? {
                return Ok(Some(found));
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
        Ok(Named::Variable(Box::new(self.place(variable, &location))))
    }

    /// Evaluates a variable's location, for all lanes.
    pub(super) fn place(&self, variable: &Variable, said: &debuginfo::Location) -> Placed {
        self.place_in(&self.found.frame, self.found.unit(), variable, said)
    }

    /// [`Self::place`] in another frame, whose function is of that unit.
    pub(super) fn place_in(
        &self,
        frame: &Frame<'_>,
        own: Option<UnitId>,
        variable: &Variable,
        said: &debuginfo::Location,
    ) -> Placed {
        let placed = |groups, provenance| {
            let (variable, said) = (variable.clone(), said.clone());
            Placed { ty: variable.type_id, variable, said, groups, provenance }
        };
        let lost = |why: String| {
            let name = variable.name.as_deref().unwrap_or("<unnamed>");
            let why = format!("`{name}` was optimized out: {why}");
            placed(
                vec![(self.lanes, Err(Box::new(ValueState::OptimizedOut(why.into()))))],
                Provenance::default(),
            )
        };
        let bytes = match said {
            debuginfo::Location::None => match frame.in_lds(variable) {
                Some(InLds::At(location, provenance)) => {
                    return placed(vec![(self.lanes, Ok(location))], provenance);
                }
                Some(InLds::Somewhere(why)) => {
                    let name = variable.name.as_deref().unwrap_or("<unnamed>");
                    let state = ValueState::Unavailable(format!("`{name}` has {why}").into());
                    return placed(vec![(self.lanes, Err(Box::new(state)))], Provenance::default());
                }
                None => return lost("it has no DW_AT_location".to_owned()),
            },
            debuginfo::Location::NotAtPc => return lost(frame.elsewhere(variable)),
            debuginfo::Location::Broken(why) => {
                return placed(vec![(self.lanes, Err(words((**why).clone())))], Provenance::default());
            }
            debuginfo::Location::ConstValue(bytes) => {
                return placed(vec![(self.lanes, Ok(Location::implicit(bytes)))], Provenance::default());
            }
            debuginfo::Location::Expression(bytes)
            | debuginfo::Location::ListEntry { expression: bytes, .. } => bytes,
        };
        if bytes.is_empty() {
            return lost(frame.emptied(variable));
        }
        let refused = |why: &crate::dwarf::Error| Box::new(failed(why, &**frame.context.kind()));
        let Readable { program, encoding, reading } = match self.readable(frame, own, variable, bytes) {
            Ok(readable) => readable,
            Err(why) => return placed(vec![(self.lanes, Err(refused(&why)))], Provenance::default()),
        };
        let context = frame.context.of_unit(variable.unit, encoding);
        let described = Described::of(&frame.debug, variable.type_id, said);
        let (groups, provenance) =
            frame.context.locate_whole(&context, &program, reading, &described, self.lanes);
        let each = groups.into_iter().map(|group| (group.lanes, group.result.map_err(|why| refused(&why))));
        placed(each.collect(), provenance)
    }

    /// A variable's expression, in the dialect of the variable's unit.
    pub(super) fn readable(
        &self,
        frame: &Frame<'_>,
        own: Option<UnitId>,
        variable: &Variable,
        bytes: &[u8],
    ) -> Result<Readable, crate::dwarf::Error> {
        let is_own = own == Some(variable.unit);
        let encoding = if is_own { frame.context.encoding } else { self.encoding(variable.unit, bytes) };
        let program = Program::decode_within(frame.context.machine().budget(), bytes, encoding)?;
        if is_own {
            return Ok(Readable { program, encoding, reading: frame.context.reading });
        }
        let facts = self.debug().unit(variable.unit).ok();
        let is_extended = encoding.dialect == Dialect::Draft
            || program.operations().iter().any(|placed| clang_xderef::is_extension(&placed.operation));
        let clang = facts.is_some_and(debuginfo::UnitFacts::producer_is_clang);
        let is_augmented = facts.is_some_and(|facts| facts.augmentation.is_some());
        let reading = clang_xderef::Reading { clang, scratch: scratch(frame.context.kind()) };
        let reading = Some(reading).filter(|_| !is_extended && (clang || !is_augmented));
        Ok(Readable { program, encoding, reading })
    }

    fn encoding(&self, unit: UnitId, expression: &[u8]) -> Encoding {
        let facts = self.debug().unit(unit).ok();
        let augmentation = facts.and_then(|facts| facts.augmentation.as_deref());
        let named = facts.and_then(|facts| facts.dialect);
        let dialect = named.unwrap_or_else(|| Dialect::of_unit(augmentation, [expression].into_iter()));
        Encoding { dialect, dwarf64: facts.is_some_and(|facts| facts.offset_size == 8) }
    }

    /// The message for an unknown name: a variable of another block of the function, or nothing at all.
    fn not_found(&self, name: &str) -> Answer<String> {
        let scopes = match &self.found.function {
            Ok(at) => &at.function.scopes[..],
            Err(why) if self.found.note().is_none() => return Ok(why.to_string()),
            Err(_) => &[],
        };
        let has = |scope: &&debuginfo::Scope| {
            scope.variables.iter().any(|variable| variable.name.as_deref() == Some(name))
        };
        let ranges: Vec<Range<ElfAddress>> =
            scopes.iter().filter(has).flat_map(|scope| scope.ranges.clone()).collect();
        Ok(if ranges.is_empty() {
            let none = format!("there is no `{name}` in this frame or its code object");
            let units = (0..self.debug().unit_count()).map(UnitId);
            let unread = units.flat_map(|unit| self.debug().unit_problems(unit));
            let mut problems = self.found.problems.iter().cloned().chain(unread.map(|why| why.to_string()));
            match problems.next() {
                Some(first) => format!("{none}, but not all of its debug information can be read: {first}"),
                None => self.found.note().map_or_else(|| none.clone(), |note| format!("{none}: {note}")),
            }
        } else {
            let listed = self.found.frame.listed(&ranges);
            match self.found.pc {
                Some(pc) => format!("`{name}` is not {IN_SCOPE_AT} PC {pc}; it is at {listed}"),
                None => format!("`{name}` is {IN_SCOPE_AT} {listed} only, and the PC was not captured"),
            }
        })
    }
}
