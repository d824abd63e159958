//! DWARF of one code object: functions, lines, variables and types, by address.
//!
//! *You give* a [`CodeObject`] and ELF addresses.
//! *You get* what is there: function and inlined calls, source line, variables with their location expressions, types,
//! and values as text or as a tree.
//! *Not for* evaluating: an expression is handed on as bytes, with the facts of its unit that an evaluator asks for.
//!
//! Nothing is proportional to the file's size: a first question reads unit headers and root DIEs, then the functions of
//! the one unit that holds the address, then the one function. Everything that was read is kept and shared: one
//! [`DebugInfo`] serves any number of threads.
//!
//! Specification: DWARF 4 and 5 (section numbers are of DWARF 5), and LLVM's "DWARF Extensions For Heterogeneous
//! Debugging" for attributes.

mod address_model;
mod attribute;
mod cache;
mod check;
mod contents;
mod diagnostics;
mod error;
mod evaluator;
mod expressions;
mod facts;
pub mod format;
mod frames;
mod interval;
mod scope;
#[cfg(test)]
mod tests;
mod types;
mod unit;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

pub use attribute::AttributeName;
pub use check::{Checked, MAX_CHECKED_BYTES};
pub use error::{DebugInfoError, ParseError, Result};
pub use evaluator::{BaseType, DialectHint, ReferencedDie};
pub use expressions::{Expression, Pcs};
pub use facts::{Language, UnitFacts, UnitId};
pub use frames::{Augmentation, CallFrames, Cie, EntryError, FrameEntry, FrameError, FrameSection};
pub use scope::cache::{Functions, Rereads};
pub use scope::function::{Function, Scope, ScopeKind};
pub use scope::import::{Import, ImportKind};
pub use scope::lookup::Naming;
pub use scope::name_index::NameIndexFacts;
pub use scope::object_map::ObjectMap;
pub use scope::query::{FunctionAt, FunctionKey, InlineFrame};
pub use scope::simd::{Lanes, SimdFacts};
pub use scope::subprogram::{Subprogram, demangle};
pub use scope::variable::{Variable, VariableAt, VariableKind};
pub use types::dynamic::{DynamicAttribute, DynamicError, DynamicSource, NumberError, Object, OwnedContents};
pub use types::{
    Base, Dimension, Encoding, Enumerator, Extent, Indirect, Member, MemberFunction, MemorySpace, Number,
    NumberSort, Qualifier, Record, RecordKind, Scale, Type, TypeId, TypeKind, Variant, VariantPart,
};
pub use unit::line_table::{LineRow, SourceLocation, SourceName};
pub use unit::location::{ListEntry, ListOffset, Location, LocationAttribute};

use crate::codeobject::CodeObject;
use crate::dwarf::Dialect;
use crate::units::DieOffset;
use scope::cache::Owner;
use unit::die::Reading;
use unit::sections::{Dwarf, Sections};
use unit::units::Units;

/// The debug information of one code object, read as questions need it.
#[derive(Debug)]
pub struct DebugInfo {
    code_object: Arc<CodeObject>,
    dialect: Option<Dialect>,
    sections: Sections,
    /// The file that the sections are in where it is another one.
    separate: Option<Arc<CodeObject>>,
    units: OnceLock<Units>,
    functions: Arc<Functions>,
    /// Whose functions, types and names it has there.
    owner: Owner,
    lists: unit::location::Lists,
}

impl DebugInfo {
    /// Finds the debug sections, unpacking compressed ones. No DIE is read yet.
    ///
    /// # Errors
    /// [`DebugInfoError::NoDebugInfo`] when there is no `.debug_info`; [`DebugInfoError::Section`] when a section
    /// reaches past the file or does not unpack.
    pub fn new(code_object: Arc<CodeObject>) -> Result<Self> {
        let sections = Sections::of(&code_object)?;
        Ok(Self::over(code_object, sections, None))
    }

    /// Finds the code object's debug sections, in the code object or, where it has none, in a separate file of these
    /// folders ([`CodeObject::separate_debug_file`]).
    ///
    /// # Errors
    /// As for [`Self::new`]; [`DebugInfoError::NotSeparate`] when files were found and are the wrong ones.
    pub fn with_folders(code_object: Arc<CodeObject>, folders: &[PathBuf]) -> Result<Self> {
        let missing = match Self::new(Arc::clone(&code_object)) {
            Err(DebugInfoError::NoDebugInfo) => DebugInfoError::NoDebugInfo,
            result => return result,
        };
        let search = code_object.separate_debug_file(folders);
        match search.found {
            Some((_, debug)) => {
                let sections = Sections::of(&debug)?;
                Ok(Self::over(code_object, sections, Some(Arc::new(debug))))
            }
            None if search.problems.is_empty() => Err(missing),
            None => {
                let problems: Vec<String> = search.problems.iter().map(ToString::to_string).collect();
                Err(DebugInfoError::NotSeparate(problems.join("; ")))
            }
        }
    }

    /// Finds the code object's debug sections, in the code object or, where it has none, in that file, which the caller knows
    /// to belong to it.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_file(code_object: Arc<CodeObject>, debug: Arc<CodeObject>) -> Result<Self> {
        match Self::new(Arc::clone(&code_object)) {
            Err(DebugInfoError::NoDebugInfo) => {}
            result => return result,
        }
        let sections = Sections::of(&debug)?;
        Ok(Self::over(code_object, sections, Some(debug)))
    }

    fn over(code_object: Arc<CodeObject>, sections: Sections, separate: Option<Arc<CodeObject>>) -> Self {
        let (units, functions) = (OnceLock::new(), Arc::<Functions>::default());
        let owner = functions.owner();
        let lists = unit::location::Lists::default();
        Self { code_object, dialect: None, sections, separate, units, functions, owner, lists }
    }

    /// The same with all units in that dialect, whatever their own; `None`: each in its own.
    #[must_use]
    pub fn in_dialect(self, dialect: Option<Dialect>) -> Self {
        // Cached results may depend on the dialect.
        let (units, owner) = (OnceLock::new(), self.functions.owner());
        Self { dialect, units, owner, ..self }
    }

    /// The same with its functions, types and names in that cache, which is bounded for all that share it.
    #[must_use]
    pub fn sharing(self, functions: &Arc<Functions>) -> Self {
        Self { owner: functions.owner(), functions: Arc::clone(functions), ..self }
    }

    /// The code object it belongs to.
    #[must_use]
    pub fn code_object(&self) -> &Arc<CodeObject> {
        &self.code_object
    }

    /// The file that the debug information is in where that is not the code object's own.
    #[must_use]
    pub fn separate(&self) -> Option<&Arc<CodeObject>> {
        self.separate.as_ref()
    }

    /// The facts of a unit.
    ///
    /// # Errors
    /// There is no such unit, or its root DIE cannot be read.
    pub fn unit(&self, id: UnitId) -> Result<&UnitFacts> {
        let dwarf = self.sections.dwarf();
        Ok(&self.units_of(&dwarf).slot(id)?.root(&dwarf)?.facts)
    }

    /// The sections, as gimli reads them: for who rewrites them.
    pub(crate) fn sections(&self) -> gimli::Dwarf<gimli::EndianSlice<'_, gimli::LittleEndian>> {
        self.sections.dwarf()
    }

    /// How large the sections of lists are, and that of DIEs.
    pub(crate) fn list_bytes(&self) -> ListBytes {
        let Sections { loc, loclists, ranges, rnglists, info, .. } = &self.sections;
        let (locations, ranges) = (loc.len() + loclists.len(), ranges.len() + rnglists.len());
        ListBytes { locations, ranges, dies: info.len() }
    }

    /// The unit of `.debug_info` that a DIE stands in.
    pub(crate) fn unit_holding(&self, die: DieOffset) -> Option<UnitId> {
        let dwarf = self.sections.dwarf();
        self.units_of(&dwarf).holding(die).ok().map(|slot| slot.id)
    }

    /// The type DIE of the type unit with a signature.
    pub(crate) fn signed_type(&self, signature: u64) -> Option<DieOffset> {
        let dwarf = self.sections.dwarf();
        self.units_of(&dwarf).signed_type(signature)
    }

    /// The type DIE of a type unit; `None` of other units.
    pub(crate) fn type_of_unit(&self, id: UnitId) -> Option<DieOffset> {
        let dwarf = self.sections.dwarf();
        let slot = self.units_of(&dwarf).slot(id).ok()?;
        let (_, at) = slot.signature?;
        Some(DieOffset(slot.offset.0.checked_add(at)? as u64))
    }

    /// A unit as gimli reads it, without its line program, and where it begins: of units in `.debug_types` also.
    ///
    /// # Errors
    /// There is no such unit, or its header, abbreviations or root DIE cannot be read.
    pub(crate) fn read_unit<'a>(
        &'a self,
        dwarf: &'a gimli::Dwarf<gimli::EndianSlice<'a, gimli::LittleEndian>>,
        id: UnitId,
    ) -> Result<(gimli::Unit<gimli::EndianSlice<'a, gimli::LittleEndian>>, DieOffset)> {
        let slot = self.units_of(dwarf).slot(id)?;
        Ok((slot.view(dwarf)?.unit, slot.die_offset()))
    }

    /// Where a unit stands in `.debug_info`; `None` of one in `.debug_types`.
    pub(crate) fn unit_span(&self, id: UnitId) -> Option<std::ops::Range<usize>> {
        let dwarf = self.sections.dwarf();
        let slot = self.units_of(&dwarf).slot(id).ok().filter(|slot| slot.in_types.is_none())?;
        Some(slot.offset.0..slot.end)
    }

    /// Whether DIEs of a unit may refer to those of other units by their offset in the section, by its table of abbreviations.
    ///
    /// # Errors
    /// There is no such unit, or its header or abbreviations cannot be read.
    pub(crate) fn refers_to_others(&self, id: UnitId) -> Result<bool> {
        let dwarf = self.sections.dwarf();
        self.units_of(&dwarf).slot(id)?.refers_to_others(&dwarf)
    }

    /// How many DIEs a unit has, if the library may read it: lines and DIEs within their bounds.
    ///
    /// # Errors
    /// There is no such unit, or it cannot be read, or the header of its line table is beyond its bound.
    pub(crate) fn readable_dies(&self, id: UnitId) -> Result<usize> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(id)?;
        unit::line::check_header(&view)?;
        Ok(view.index().dies)
    }

    /// How many units there are; ids run from 0.
    #[must_use]
    pub fn unit_count(&self) -> u32 {
        let dwarf = self.sections.dwarf();
        self.units_of(&dwarf).slots.len() as u32
    }

    /// Units that cannot be read and are left out, each with its place, and why the list of units ends before its
    /// section does, if so; and the file without which names and types are missing.
    #[must_use]
    pub fn problems(&self) -> Vec<DebugInfoError> {
        let dwarf = self.sections.dwarf();
        let mut problems = self.units_of(&dwarf).problems.clone();
        problems.extend(self.sections.shared.clone().map(DebugInfoError::Supplementary));
        problems
    }

    fn units_of(&self, dwarf: &Dwarf<'_>) -> &Units {
        self.units
            .get_or_init(|| Units::read(dwarf, &self.sections.loclists, self.dialect, &self.functions.tables))
    }

    fn reading<'a>(&'a self, dwarf: &'a Dwarf<'a>) -> Reading<'a> {
        Reading { info: self, dwarf, units: self.units_of(dwarf) }
    }
}

/// Bytes of sections, unpacked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListBytes {
    /// `.debug_loc` and `.debug_loclists`.
    pub(crate) locations: usize,
    /// `.debug_ranges` and `.debug_rnglists`.
    pub(crate) ranges: usize,
    /// `.debug_info`.
    pub(crate) dies: usize,
}

const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<DebugInfo>();
    shared_by_threads::<Function>();
    shared_by_threads::<Type>();
};
