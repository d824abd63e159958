//! DWARF of one code object: functions, lines, variables and types, by address.
//!
//! A [`DebugInfo`] serves one [`CodeObject`]. By ELF address it finds functions with inlined calls, source lines,
//! variables with their location expressions, and types. It formats values as text or as a tree. Expressions are bytes
//! here, with the unit's facts for an evaluator.
//!
//! Cost does not grow with the file's size. A first question reads unit headers and root DIEs, then the functions of
//! the one unit with the address, then the one function. Results are cached and shared: one [`DebugInfo`] serves any
//! number of threads.
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
pub use scope::cpp_name::{Component, FunctionName, outer_spaces, without_folders};
pub use scope::function::{Function, Scope, ScopeKind};
pub use scope::import::{Import, ImportKind};
pub use scope::lookup::Naming;
pub use scope::name_index::NameIndexFacts;
pub use scope::object_map::ObjectMap;
pub(crate) use scope::own_calls::HELPER;
pub use scope::query::{FunctionAt, FunctionKey, InlineFrame};
pub use scope::simd::{Lanes, SimdFacts};
pub use scope::subprogram::{Subprogram, demangle, short_name, source_name};
pub use scope::target_region::region_parent;
pub use scope::variable::{Variable, VariableAt, VariableKind};
pub use types::dynamic::{
    DynamicAttribute, DynamicError, DynamicSource, NoDataError, NumberError, Object, OwnedContents,
};
pub use types::{
    Base, Dimension, Encoding, Enumerator, Extent, Indirect, Member, MemberFunction, MemorySpace, Number,
    NumberSort, Qualifier, Record, RecordKind, Scale, Type, TypeId, TypeKind, Variant, VariantPart,
};
pub(crate) use unit::dies::Dies;
pub use unit::line_table::{LineRow, SourceLocation, SourceName};
pub use unit::location::{ListEntry, ListOffset, Location, LocationAttribute};

use crate::codeobject::CodeObject;
use crate::dwarf::Dialect;
use crate::units::DieOffset;
use scope::cache::Owner;
use unit::die::Reading;
use unit::sections::{Dwarf, Sections};
use unit::units::Units;

/// The debug information of one code object, read on demand.
#[derive(Debug)]
pub struct DebugInfo {
    /// `None`: there is none, and no units.
    code_object: Option<Arc<CodeObject>>,
    dialect: Option<Dialect>,
    sections: Sections,
    /// The separate file of the sections, if there is one.
    separate: Option<Arc<CodeObject>>,
    units: OnceLock<Units>,
    functions: Arc<Functions>,
    /// The owner of its entries in the shared cache.
    owner: Owner,
    lists: unit::location::Lists,
}

impl DebugInfo {
    /// Finds the debug sections and unpacks compressed ones. Reads no DIE.
    ///
    /// # Errors
    /// [`DebugInfoError::NoDebugInfo`] without `.debug_info`; [`DebugInfoError::Section`] if a section reaches past the
    /// file or does not unpack.
    pub fn new(code_object: Arc<CodeObject>) -> Result<Self> {
        let sections = Sections::of(&code_object)?;
        Ok(Self::over(Some(code_object), sections, None))
    }

    /// Finds the debug sections in the code object or, without any, in a separate file of these folders
    /// ([`CodeObject::separate_debug_file`]).
    ///
    /// # Errors
    /// As for [`Self::new`]; [`DebugInfoError::NotSeparate`] if all files found belong to other code objects.
    pub fn with_folders(code_object: Arc<CodeObject>, folders: &[PathBuf]) -> Result<Self> {
        let missing = match Self::new(Arc::clone(&code_object)) {
            Err(DebugInfoError::NoDebugInfo) => DebugInfoError::NoDebugInfo,
            result => return result,
        };
        let search = code_object.separate_debug_file(folders);
        match search.found {
            Some((_, debug)) => {
                let sections = Sections::of(&debug)?;
                Ok(Self::over(Some(code_object), sections, Some(Arc::new(debug))))
            }
            None if search.problems.is_empty() => Err(missing),
            None => {
                let problems: Vec<String> = search.problems.iter().map(ToString::to_string).collect();
                Err(DebugInfoError::NotSeparate(problems.join("; ")))
            }
        }
    }

    /// Finds the debug sections in the code object or, without any, in the given file. The caller ensures that the file
    /// belongs to the code object.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_file(code_object: Arc<CodeObject>, debug: Arc<CodeObject>) -> Result<Self> {
        match Self::new(Arc::clone(&code_object)) {
            Err(DebugInfoError::NoDebugInfo) => {}
            result => return result,
        }
        let sections = Sections::of(&debug)?;
        Ok(Self::over(Some(code_object), sections, Some(debug)))
    }

    /// Without any units, for code that has none.
    pub(crate) fn none() -> Self {
        Self::over(None, Sections::default(), None)
    }

    fn over(
        code_object: Option<Arc<CodeObject>>,
        sections: Sections,
        separate: Option<Arc<CodeObject>>,
    ) -> Self {
        let (units, functions) = (OnceLock::new(), Arc::<Functions>::default());
        let owner = functions.owner();
        let lists = unit::location::Lists::default();
        Self { code_object, dialect: None, sections, separate, units, functions, owner, lists }
    }

    /// The same with one dialect for all units; `None`: each unit's own.
    #[must_use]
    pub fn in_dialect(self, dialect: Option<Dialect>) -> Self {
        // Cached results may depend on the dialect.
        let (units, owner) = (OnceLock::new(), self.functions.owner());
        Self { dialect, units, owner, ..self }
    }

    /// The same with its functions, types and names in a shared cache, which bounds them together.
    #[must_use]
    pub fn sharing(self, functions: &Arc<Functions>) -> Self {
        Self { owner: functions.owner(), functions: Arc::clone(functions), ..self }
    }

    /// Its code object, if it has one.
    #[must_use]
    pub fn code_object(&self) -> Option<&Arc<CodeObject>> {
        self.code_object.as_ref()
    }

    /// The separate file with the debug information, if it is not the code object.
    #[must_use]
    pub fn separate(&self) -> Option<&Arc<CodeObject>> {
        self.separate.as_ref()
    }

    /// The facts of a unit.
    ///
    /// # Errors
    /// The unit does not exist, or its root DIE is unreadable.
    pub fn unit(&self, id: UnitId) -> Result<&UnitFacts> {
        let dwarf = self.sections.dwarf();
        Ok(&self.units_of(&dwarf).slot(id)?.root(&dwarf)?.facts)
    }

    /// The sections in gimli's form, for conversion.
    pub(crate) fn sections(&self) -> gimli::Dwarf<gimli::EndianSlice<'_, gimli::LittleEndian>> {
        self.sections.dwarf()
    }

    /// Sizes of the sections of lists and of DIEs.
    pub(crate) fn list_bytes(&self) -> ListBytes {
        let Sections { loc, loclists, ranges, rnglists, info, .. } = &self.sections;
        let (locations, ranges) = (loc.len() + loclists.len(), ranges.len() + rnglists.len());
        ListBytes { locations, ranges, dies: info.len() }
    }

    /// The unit of a DIE in `.debug_info`.
    pub(crate) fn unit_holding(&self, die: DieOffset) -> Option<UnitId> {
        let dwarf = self.sections.dwarf();
        self.units_of(&dwarf).holding(die).ok().map(|slot| slot.id)
    }

    /// The type DIE of the type unit with a signature.
    pub(crate) fn signed_type(&self, signature: u64) -> Option<DieOffset> {
        let dwarf = self.sections.dwarf();
        self.units_of(&dwarf).signed_type(signature)
    }

    /// The type DIE of a type unit; `None` for other units.
    pub(crate) fn type_of_unit(&self, id: UnitId) -> Option<DieOffset> {
        let dwarf = self.sections.dwarf();
        let slot = self.units_of(&dwarf).slot(id).ok()?;
        let (_, at) = slot.signature?;
        Some(DieOffset(slot.offset.0.checked_add(at)? as u64))
    }

    /// A unit in gimli's form without its line program, and its start; also for units in `.debug_types`.
    ///
    /// # Errors
    /// The unit does not exist, or its header, abbreviations or root DIE are unreadable.
    pub(crate) fn read_unit<'a>(
        &'a self,
        dwarf: &'a gimli::Dwarf<gimli::EndianSlice<'a, gimli::LittleEndian>>,
        id: UnitId,
    ) -> Result<(gimli::Unit<gimli::EndianSlice<'a, gimli::LittleEndian>>, DieOffset)> {
        let slot = self.units_of(dwarf).slot(id)?;
        Ok((slot.view(dwarf)?.unit, slot.die_offset()))
    }

    /// The range of a unit in `.debug_info`; `None` for a unit in `.debug_types`.
    pub(crate) fn unit_span(&self, id: UnitId) -> Option<std::ops::Range<usize>> {
        let dwarf = self.sections.dwarf();
        let slot = self.units_of(&dwarf).slot(id).ok().filter(|slot| slot.in_types.is_none())?;
        Some(slot.offset.0..slot.end)
    }

    /// Whether DIEs of a unit may refer to other units by section offset, from its abbreviations.
    ///
    /// # Errors
    /// The unit does not exist, or its header or abbreviations are unreadable.
    pub(crate) fn refers_to_others(&self, id: UnitId) -> Result<bool> {
        let dwarf = self.sections.dwarf();
        Ok(self.units_of(&dwarf).slot(id)?.table(&dwarf)?.refers_to_others)
    }

    /// Whether a unit may describe variables, from its abbreviations: `-gline-tables-only` leaves none.
    ///
    /// # Errors
    /// Those of [`Self::refers_to_others`].
    pub(crate) fn describes_variables(&self, id: UnitId) -> Result<bool> {
        let dwarf = self.sections.dwarf();
        Ok(self.units_of(&dwarf).slot(id)?.table(&dwarf)?.has_variables)
    }

    /// The number of DIEs of a unit whose lines and DIEs are within their bounds.
    ///
    /// # Errors
    /// The unit does not exist or is unreadable, or the header of its line table exceeds its bound.
    pub(crate) fn readable_dies(&self, id: UnitId) -> Result<usize> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(id)?;
        unit::line::check_header(&view)?;
        Ok(view.index().dies)
    }

    /// The number of units; ids start at 0.
    #[must_use]
    pub fn unit_count(&self) -> u32 {
        let dwarf = self.sections.dwarf();
        self.units_of(&dwarf).slots.len() as u32
    }

    /// The unreadable units with their positions. Also the reason if the list of units ends before its section, and the
    /// missing file with names and types.
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
