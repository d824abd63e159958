//! Lookup by PC: the function with its inlined calls, and the variables in scope.

use std::collections::HashMap;
use std::sync::Arc;

use crate::codeobject::ElfAddress;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::scope::cache::Rereads;
use crate::debuginfo::scope::function::{Function, Scope, ScopeKind};
use crate::debuginfo::scope::simd::SimdFacts;
use crate::debuginfo::scope::subprogram::Subprogram;
use crate::debuginfo::scope::variable::VariableAt;
use crate::debuginfo::unit::die::Reading;
use crate::debuginfo::unit::line_table::SourceLocation;
use crate::debuginfo::unit::location::{ListOffset, Location, LocationAttribute};
use crate::units::DieOffset;

/// The function that contains a PC.
#[derive(Clone, Debug)]
pub struct FunctionAt {
    /// The function with all its scopes.
    pub function: Arc<Function>,
    /// Its frame base at the PC; [`Location::None`] if it has none, as in some of clang's -O2 kernels.
    pub frame_base: Location,
    /// The frames at the PC, innermost first: inlined calls, then the function. Never empty.
    pub frames: Arc<[InlineFrame]>,
}

/// [`FunctionAt`] with the function's DIE, for caches by PC: the function with its scopes is too large there.
///
/// It has the facts that all frames of all waves need: repeated reads of a large function would take too long.
#[derive(Clone, Debug)]
pub struct FunctionKey {
    /// The function's DIE.
    pub die: DieOffset,
    /// As [`FunctionAt::frame_base`].
    frame_base: Location,
    /// As [`FunctionAt::frames`].
    pub frames: Arc<[InlineFrame]>,
    /// Whether the function has `DW_AT_return_addr`.
    pub has_return_addr: bool,
}

/// A function or inlined call at a PC, with its part of the scope chain.
#[derive(Clone, Debug)]
pub struct InlineFrame {
    /// The function, or the inlined function.
    pub subprogram: Arc<Subprogram>,
    /// Indexes into [`Function::scopes`], outermost first: the body, then its blocks around the PC.
    pub scopes: Vec<usize>,
    /// The position of the call in the next frame; `None` for the function itself.
    pub call_site: Option<SourceLocation>,
    /// Attributes of the heterogeneous extensions; `None`: it has none, like most.
    simd: Option<Box<SimdFacts>>,
}

impl InlineFrame {
    /// Attributes of the heterogeneous extensions.
    #[must_use]
    pub fn simd(&self) -> &SimdFacts {
        self.simd.as_deref().unwrap_or(&SimdFacts::MISSING)
    }
}

impl FunctionKey {
    /// Attributes of the heterogeneous extensions for a frame; `None`: the function's.
    #[must_use]
    pub fn simd(&self, frame: Option<usize>) -> &SimdFacts {
        let frame = frame.map_or_else(|| self.frames.last(), |frame| self.frames.get(frame));
        frame.map_or(&SimdFacts::MISSING, InlineFrame::simd)
    }
}

impl FunctionAt {
    /// The key for [`DebugInfo::function_of`].
    #[must_use]
    pub fn key(&self) -> FunctionKey {
        let Self { function, frame_base, frames } = self;
        FunctionKey {
            die: function.subprogram.die,
            frame_base: frame_base.clone(),
            frames: Arc::clone(frames),
            has_return_addr: function.return_addr != LocationAttribute::Missing,
        }
    }

    /// Attributes of the heterogeneous extensions for a frame; the function's if the frame is not inlined.
    #[must_use]
    pub fn simd(&self, frame: usize) -> &SimdFacts {
        self.frames.get(frame).map_or(&self.function.simd, InlineFrame::simd)
    }

    /// The scopes of a frame, outermost first.
    pub fn scopes(&self, frame: usize) -> impl Iterator<Item = &Scope> {
        let indexes = self.frames.get(frame).map_or(&[][..], |frame| &frame.scopes);
        indexes.iter().filter_map(|index| self.function.scopes.get(*index))
    }
}

impl DebugInfo {
    /// The function that contains a PC, with the inlined calls there; `None` if no function has it.
    ///
    /// # Errors
    /// The function's DIEs are unreadable.
    pub fn function_at(&self, pc: ElfAddress) -> Result<Option<FunctionAt>> {
        self.function_at_within(pc, &Rereads::default())
    }

    /// [`Self::function_at`] within a question's capacity of repeated reads.
    ///
    /// # Errors
    /// Those of [`Self::function_at`], and [`DebugInfoError::Bound`] if the repeated reads are used up.
    pub fn function_at_within(&self, pc: ElfAddress, rereads: &Rereads) -> Result<Option<FunctionAt>> {
        let dwarf = self.sections.dwarf();
        self.find(self.reading(&dwarf), pc, rereads)
    }

    /// The parameters and variables in scope in the innermost frame at a PC, outermost scope first, in DIE order. Each
    /// declaration of a shadowed name is included. A variable with an unreadable location is at [`Location::Broken`].
    ///
    /// # Errors
    /// The function's DIEs are unreadable.
    pub fn variables_at(&self, pc: ElfAddress) -> Result<Vec<VariableAt>> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        match self.find(reading, pc, &Rereads::default())? {
            Some(at) => self.variables(reading, &at, 0, pc),
            None => Ok(Vec::new()),
        }
    }

    /// [`Self::variables_at`] for any frame at the PC; 0 is the innermost.
    ///
    /// # Errors
    /// The function's unit is unreadable.
    pub fn frame_variables(&self, at: &FunctionAt, frame: usize, pc: ElfAddress) -> Result<Vec<VariableAt>> {
        let dwarf = self.sections.dwarf();
        self.variables(self.reading(&dwarf), at, frame, pc)
    }

    /// A function by its DIE, cached.
    ///
    /// # Errors
    /// The DIE is not a function's, or is unreadable.
    pub fn function(&self, die: DieOffset) -> Result<Arc<Function>> {
        let dwarf = self.sections.dwarf();
        self.function_die(self.reading(&dwarf), die, &Rereads::default())
    }

    /// The function of a key, within a question's capacity of repeated reads.
    ///
    /// # Errors
    /// Those of [`Self::function`], and [`DebugInfoError::Bound`] if the repeated reads are used up.
    pub fn function_of(&self, key: &FunctionKey, rereads: &Rereads) -> Result<FunctionAt> {
        let FunctionKey { die, frame_base, frames, .. } = key;
        let function = match self.functions.get(self.owner, *die) {
            Some(function) => function,
            None => {
                let dwarf = self.sections.dwarf();
                self.function_die(self.reading(&dwarf), *die, rereads)?
            }
        };
        Ok(FunctionAt { function, frame_base: frame_base.clone(), frames: Arc::clone(frames) })
    }

    fn find(&self, reading: Reading<'_>, pc: ElfAddress, rereads: &Rereads) -> Result<Option<FunctionAt>> {
        let mut problem = None;
        for id in reading.units.at(reading.dwarf, pc.0) {
            let view = reading.view(id)?;
            for die in view.index().functions_at(pc) {
                let function = match self.function_die(reading, die, rereads) {
                    Ok(function) => function,
                    Err(why) => {
                        problem.get_or_insert(why);
                        continue;
                    }
                };
                let chain = function.scopes_at(pc);
                if chain.is_empty() {
                    continue;
                }
                let (base, name) = (&function.frame_base, gimli::DW_AT_frame_base);
                let frame_base = self.located_or_broken(Ok(&view), base, pc, (die, name));
                let frames = frames(&function, &chain);
                return Ok(Some(FunctionAt { function, frame_base, frames }));
            }
            let facts = view.facts();
            let split = facts.dwo_name.clone().map(|file| DebugInfoError::Split { unit: facts.offset, file });
            problem = problem.or(split).or_else(|| view.index().problems.first().cloned());
        }
        // Without a result, an unread unit, or the unread rest of one, may have the function.
        let problem = problem.or_else(|| reading.units.problems.first().cloned());
        problem.or_else(|| reading.units.unreadable(reading.dwarf).next()).map_or(Ok(None), Err)
    }

    fn variables(
        &self,
        reading: Reading<'_>,
        at: &FunctionAt,
        frame: usize,
        pc: ElfAddress,
    ) -> Result<Vec<VariableAt>> {
        let view = reading.view(at.function.unit)?;
        let mut found = Vec::new();
        // Variables may share a list.
        let mut lists: HashMap<(UnitId, ListOffset), Location> = HashMap::new();
        for (depth, scope) in at.scopes(frame).enumerate() {
            for variable in &scope.variables {
                let (attribute, of) = (&variable.location, (variable.die, gimli::DW_AT_location));
                let key = match attribute {
                    LocationAttribute::List(list) => Some((variable.unit, *list)),
                    _ => None,
                };
                let known = key.and_then(|key| lists.get(&key)).cloned();
                let location = known.unwrap_or_else(|| match attribute {
                    // A list is relative to the unit of its own DIE, which is another one for some inherited variables.
                    LocationAttribute::List(_) if variable.unit != at.function.unit => {
                        let other = reading.view(variable.unit);
                        let other = other.as_ref().map_err(Clone::clone);
                        self.located_or_broken(other, attribute, pc, of)
                    }
                    attribute => self.located_or_broken(Ok(&view), attribute, pc, of),
                });
                // An error names its variable.
                if let Some(key) = key.filter(|_| !matches!(location, Location::Broken(_))) {
                    lists.entry(key).or_insert_with(|| location.clone());
                }
                found.push(VariableAt { variable: Arc::clone(variable), location, depth });
            }
        }
        Ok(found)
    }

    fn function_die(&self, reading: Reading<'_>, die: DieOffset, rereads: &Rereads) -> Result<Arc<Function>> {
        if let Some(function) = self.functions.get(self.owner, die) {
            return Ok(function);
        }
        if !self.functions.may_read(self.owner, die, rereads) {
            return Err(DebugInfoError::Bound {
                unit: reading.holding(die)?.slot.die_offset(),
                what: "function",
                why: "a question reads functions that do not fit the cache together more often than its bound allows",
            });
        }
        // Read without the lock: two clients may read the same function at once, and neither waits.
        Ok(self.functions.keep(self.owner, die, Function::read(reading, die)?))
    }
}

/// Splits a scope chain into frames at the inlined calls.
fn frames(function: &Function, chain: &[usize]) -> Arc<[InlineFrame]> {
    let mut frames: Vec<InlineFrame> = Vec::new();
    for index in chain {
        match function.scopes.get(*index).map(|scope| &scope.kind) {
            Some(ScopeKind::Function) => frames.push(InlineFrame {
                subprogram: Arc::clone(&function.subprogram),
                scopes: vec![*index],
                call_site: None,
                simd: Some(&function.simd).filter(|simd| **simd != SimdFacts::MISSING).cloned().map(Box::new),
            }),
            Some(ScopeKind::Inlined { subprogram, call_site, simd }) => frames.push(InlineFrame {
                subprogram: Arc::clone(subprogram),
                scopes: vec![*index],
                call_site: call_site.clone(),
                simd: simd.clone(),
            }),
            Some(ScopeKind::Block) | None => {
                frames.last_mut().into_iter().for_each(|frame| frame.scopes.push(*index))
            }
        }
    }
    frames.reverse();
    frames.into()
}
