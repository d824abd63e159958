//! Answers for an evaluator of location expressions: other DIEs, base types, indexed addresses, and the dialect of
//! the expressions.

use std::collections::HashSet;
use std::sync::Arc;

use gimli::{DebugAddrIndex, Operation, UnitOffset};

use crate::codeobject::ElfAddress;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::{DebugInfoError, ParseError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::scope::function::Function;
use crate::debuginfo::scope::variable::Variable;
use crate::debuginfo::types::{Base, TypeId, TypeKind};
use crate::debuginfo::unit::location::{Location, LocationAttribute};
use crate::debuginfo::unit::view::UnitView;
use crate::dwarf::Dialect;
use crate::units::DieOffset;

/// `DW_OP_LLVM_user` in today's compilers.
const DW_OP_LLVM_USER: u8 = 0xe9;

/// The evidence for the choice of a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialectHint {
    /// `DW_AT_LLVM_augmentation` of the unit.
    pub augmentation: Option<Arc<str>>,
    /// The dialect that the user or the augmentation names.
    pub dialect: Option<Dialect>,
    /// Whether clang compiled the unit.
    pub producer_is_clang: bool,
    /// Whether an expression of the function has `DW_OP_LLVM_user`. The compiler then has address spaces, and its
    /// `DW_OP_xderef` has DWARF's meaning.
    pub llvm_user: bool,
}

impl DialectHint {
    /// Whether the unit's compiler writes clang's xderef idiom instead of address spaces.
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        self.producer_is_clang && !self.llvm_user && self.dialect != Some(Dialect::Draft)
    }

    /// Whether the function and its unit lack all evidence of a compiler that names lanes and address spaces in
    /// locations: operations of the extensions, an augmentation, a draft.
    #[must_use]
    pub fn is_unextended(&self) -> bool {
        !self.llvm_user && self.augmentation.is_none() && self.dialect != Some(Dialect::Draft)
    }
}

/// A DIE that an expression names: by `DW_OP_call2`, `call4`, `call_ref`, or `DW_OP_implicit_pointer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencedDie {
    /// The DIE.
    pub die: DieOffset,
    /// Its unit, whose facts its own expression needs.
    pub unit: UnitId,
    /// Its `DW_TAG` code.
    pub tag: u16,
    /// Whether it is a `DW_TAG_dwarf_procedure`, which shares the caller's stack.
    pub is_procedure: bool,
    /// Whether its location is an entry of a location list.
    pub is_list: bool,
    /// Its type.
    pub type_id: Option<TypeId>,
    /// Its location at the PC, or its constant bytes.
    pub location: Location,
}

/// A base type for typed operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseType {
    /// Name and encoding.
    pub base: Base,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Size in bytes.
    pub byte_size: u64,
}

impl DebugInfo {
    /// The DIE that a call or an implicit pointer of an expression names, with its location at a PC.
    ///
    /// `call2` and `call4` are relative to the unit: add [`UnitFacts::offset`](crate::debuginfo::UnitFacts::offset).
    ///
    /// # Errors
    /// The offset has no DIE, or its attributes are unreadable.
    pub fn referenced_die(&self, die: DieOffset, pc: ElfAddress) -> Result<ReferencedDie> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let found = reading.die(die)?;
        let (unit, tag) = (found.view.facts().id, found.tag());
        let variable = Variable::read(reading, found, true);
        let location = self.located(&reading.view(unit)?, &variable.location, pc)?;
        Ok(ReferencedDie {
            die,
            unit,
            tag: tag.0,
            is_procedure: tag == gimli::DW_TAG_dwarf_procedure,
            is_list: matches!(variable.location, LocationAttribute::List(_)),
            type_id: variable.type_id,
            location,
        })
    }

    /// The base type of a typed operation (`DW_OP_regval_type`, `deref_type`, `convert` ...) by its offset in the unit.
    /// Callers handle offset 0, the generic type, which has no DIE.
    ///
    /// # Errors
    /// The offset has no DIE, or the DIE is not a base type with a size.
    pub fn base_type(&self, unit: UnitId, offset: u64) -> Result<BaseType> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let view = reading.view(unit)?;
        let offset = UnitOffset(usize::try_from(offset).unwrap_or(usize::MAX));
        let die = view.die_offset(offset);
        let found = self.type_of(TypeId(die))?;
        match (&found.kind, found.byte_size) {
            (TypeKind::Base(base), Some(byte_size)) => {
                Ok(BaseType { base: base.clone(), name: found.name.clone(), byte_size })
            }
            (kind, _) => {
                let (expected, found) = ("DW_TAG_base_type with a size", format!("{kind:?}"));
                Err(DebugInfoError::Tag { die, expected, found })
            }
        }
    }

    /// An entry of the unit's part of `.debug_addr`: the operand of `DW_OP_addrx` (an ELF address) or `DW_OP_constx`.
    ///
    /// # Errors
    /// The unit has fewer entries.
    pub fn indexed_address(&self, unit: UnitId, index: u64) -> Result<u64> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(unit)?;
        let index = DebugAddrIndex(usize::try_from(index).unwrap_or(usize::MAX));
        let unit = view.facts().offset;
        let fail = |why| DebugInfoError::Unit { unit, what: ".debug_addr entry", why: ParseError::new(why) };
        dwarf.address(&view.unit, index).map_err(fail)
    }

    /// The evidence for the dialect of a function's expressions.
    ///
    /// Searches `DW_OP_LLVM_user` in the expressions of the function, not of its unit. A unit with 10 MB of location
    /// lists would cost more than all other questions together.
    ///
    /// # Errors
    /// The function's unit is unreadable.
    pub fn dialect_hint(&self, function: &Function) -> Result<DialectHint> {
        let facts = self.unit(function.unit)?;
        let llvm_user = match function.has_llvm_user.get() {
            Some(known) => *known,
            None => {
                let dwarf = self.sections.dwarf();
                let view = self.reading(&dwarf).view(function.unit)?;
                *function.has_llvm_user.get_or_init(|| self.any_llvm_user(&view, function))
            }
        };
        let (augmentation, producer_is_clang) = (facts.augmentation.clone(), facts.producer_is_clang());
        Ok(DialectHint { augmentation, dialect: facts.dialect, producer_is_clang, llvm_user })
    }

    /// Whether an expression of a function has `DW_OP_LLVM_user`.
    fn any_llvm_user(&self, view: &UnitView<'_>, function: &Function) -> bool {
        let variables = function.scopes.iter().flat_map(|scope| &scope.variables);
        let attributes = variables.map(|variable| (variable.unit, &variable.location));
        // Variables may share a list.
        let mut seen = HashSet::new();
        attributes.chain([(function.unit, &function.frame_base)]).any(|(unit, attribute)| match attribute {
            LocationAttribute::Expression(bytes) => has_llvm_user(view, bytes),
            LocationAttribute::List(list) if !seen.insert((unit, *list)) => false,
            LocationAttribute::List(list) => {
                // An unreadable list costs only its variable.
                let entries = self.location_list(unit, *list).unwrap_or_default();
                entries.iter().any(|entry| has_llvm_user(view, &entry.expression))
            }
            LocationAttribute::Missing | LocationAttribute::Constant(_) | LocationAttribute::Broken(_) => {
                false
            }
        })
    }
}

/// Whether the operation at which a DWARF 5 decoder stops is `DW_OP_LLVM_user`; the byte may also be an operand.
fn has_llvm_user(view: &UnitView<'_>, expression: &[u8]) -> bool {
    let mut rest = gimli::EndianSlice::new(expression, gimli::LittleEndian);
    while let Some(opcode) = rest.slice().first().copied() {
        if opcode == DW_OP_LLVM_USER {
            return true;
        }
        if Operation::parse(&mut rest, view.unit.encoding()).is_err() {
            return false;
        }
    }
    false
}
