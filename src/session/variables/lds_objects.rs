//! Objects of a kernel that LLVM moved from private memory to LDS.
//!
//! Situation: `AMDGPUPromoteAlloca` gives an array or structure of a kernel an element of LDS for each work-item (clang
//! 22, -O1 and up). The debug information names the register with the element's address, in the expression of an object
//! in that register: `bregx VGPR0 0; lit1; swap; xderef`. Scalars have other descriptions by then
//! (`llvm::LowerDbgDeclare`).
//!
//! Consequence: the kernel's LDS shows whether such an object may be there, and the code whether it is: it accesses LDS
//! at the address in the register. An object of up to 4 bytes may be in the register, and code may use it as an offset
//! in LDS. It is in LDS only if variables do not explain the kernel's LDS.

use std::fmt::Display;
use std::ops::Range;

use crate::codeobject::ElfAddress;
use crate::debuginfo::{self, DebugInfo, LocationAttribute, TypeId, VariableKind};
use crate::dwarf::clang_xderef::{self, Meaning};
use crate::dwarf::{self, Cause, ContextError, Focus, Program};
use crate::isa::{Instruction, LdsUse, lds_use};
use crate::session::disassembly::function;
use crate::session::error::SourceError;
use crate::session::stack::frame::FrameContext;
use crate::session::variables::lds::{Kernel, is_described, unplaced};
use crate::session::{DisassemblyError, ListedInstruction};
use crate::units::{BitSize, DwarfReg, LaneSet};

/// Bytes of a lane's part of a vector register.
const LANE_BYTES: u64 = 4;
/// Units of work for each instruction, and free units for each object.
const INSTRUCTION_WORK: u64 = 8;
const OWN_WORK: u64 = 1024 * INSTRUCTION_WORK;

/// The object that an expression describes.
#[derive(Clone, Debug, Default)]
pub(in crate::session) struct Described {
    /// Its size; `None`: unknown.
    pub(in crate::session) size: Option<BitSize>,
    /// Whether it has members or elements.
    is_aggregate: bool,
    is_array: bool,
    /// The addresses of the code with this location; `None`: all of its function.
    range: Option<Range<ElfAddress>>,
}

impl Described {
    /// An object of a type at a location.
    pub(in crate::session) fn of(
        debug: &DebugInfo,
        type_id: Option<TypeId>,
        at: &debuginfo::Location,
    ) -> Self {
        let size = type_id.and_then(|id| debug.byte_size(id).ok().flatten());
        let range = match at {
            debuginfo::Location::ListEntry { range, .. } => range.clone(),
            _ => None,
        };
        Self {
            size: size.map(|size| BitSize(size.saturating_mul(8))),
            is_aggregate: type_id.is_some_and(|id| debug.is_aggregate(id)),
            is_array: type_id.is_some_and(|id| debug.is_array(id)),
            range,
        }
    }

    /// A number of that many bytes.
    pub(in crate::session) fn number(bytes: u64) -> Self {
        Self { size: Some(BitSize(bytes.saturating_mul(8))), ..Self::default() }
    }
}

impl FrameContext<'_> {
    /// The object in LDS that an expression of clang's idiom describes by its address; `None`: it is elsewhere.
    ///
    /// # Errors
    /// It may be in LDS, and nothing decides.
    pub(in crate::session) fn moved_to_lds(
        &self,
        context: &dyn dwarf::Context,
        program: &Program,
        described: &Described,
        lanes: LaneSet,
    ) -> Option<Result<Meaning, Cause>> {
        let bytes = described.size.filter(|size| described.is_aggregate && size.0 > 0)?.0.div_ceil(8);
        let register = clang_xderef::lone_register(context, program)?;
        let function = &self.function.as_ref().ok()?.function;
        let entry = function.low_pc()?;
        let capture = self.level.walk().reader.dump().capture();
        let object = self.level.code().ok()?.loaded.object(capture).ok()?;
        let fixed = u64::from(object.descriptor_of_entry(entry)?.group_segment_fixed_size);
        let name = object.symbol_at(entry).map_or("", |(symbol, _)| &symbol.name);
        let kernel = Kernel { object: &object, name, entry, fixed };
        // Each work-item has an element.
        if bytes.saturating_mul(kernel.max_work_items().unwrap_or(1)) > fixed {
            return None;
        }
        let may_be_value = bytes <= LANE_BYTES;
        if may_be_value && !self.are_within(context, program, bytes, fixed) {
            return None;
        }
        let refused = |why: &dyn Display| {
            let what = if may_be_value { "the object or its address in LDS" } else { "the object's address" };
            let name = self.kind().dwarf(register).map_or("the register", |of| of.name.as_str());
            Some(Err(ContextError::not_captured(format!("{name} has {what}: {why}")).into()))
        };
        let found = match self.use_as_address(register, described) {
            Ok(found) if found.is_address => {
                let is_explained = || self.explained(&kernel).is_some_and(|explained| explained < fixed);
                if may_be_value && !is_explained() {
                    return refused(&"the code uses it as an address, and variables may take all of the LDS");
                }
                found
            }
            Ok(_) if may_be_value => return None,
            Ok(_) => return refused(&"the code does not show in which memory"),
            Err(why) => return refused(&why),
        };
        let mut meaning = clang_xderef::in_local_memory(context, program, Focus::Lanes(lanes))?;
        // LLVM keeps members in registers that are not accessed by an index. An array has one place.
        if !(found.is_indexed && described.is_array) {
            for group in &mut meaning.groups {
                group.result = group.result.clone().map(|location| location.held(&found.bytes, bytes));
            }
        }
        Some(Ok(meaning))
    }

    /// Whether the register has addresses of such an object in the kernel's LDS in all active lanes, as far as known.
    fn are_within(&self, context: &dyn dwarf::Context, program: &Program, bytes: u64, fixed: u64) -> bool {
        let walk = self.level.walk();
        // Lanes that are active in a callee are so in its callers.
        let Ok(Some(exec)) = walk.reader.scalar(walk.wave, "exec") else { return true };
        let active = LaneSet(exec).and(self.kind().wave_size.all());
        let Some(found) = clang_xderef::in_local_memory(context, program, Focus::Lanes(active)) else {
            return false;
        };
        found.groups.iter().all(|group| match &group.result {
            Ok(location) => group.lanes.iter().all(|lane| {
                let first = location.offset.get(lane) / 8;
                first.saturating_add(u128::from(bytes)) <= u128::from(fixed)
            }),
            Err(_) => true,
        })
    }

    /// The accesses to LDS of the code with the location at the address in a vector register; those before the PC count.
    fn use_as_address(&self, register: DwarfReg, described: &Described) -> Result<LdsUse, UseError> {
        let (walk, code) = (self.level.walk(), self.level.code()?);
        let load = code.loaded.address().0;
        let found =
            self.listing.get_or_init(|| function(walk.reader, walk.wave, load.wrapping_add(code.elf.0)));
        let listing = found.as_ref().map_err(Clone::clone)?;
        let elf = |address: u64| ElfAddress(address.wrapping_sub(load));
        let is_in =
            |address: ElfAddress| described.range.as_ref().is_none_or(|range| range.contains(&address));
        let all = listing.instructions.iter().filter(|one| is_in(elf(one.address.0)));
        let is_before = |one: &ListedInstruction| elf(one.address.0) < code.elf;
        let all: Vec<(&Instruction, bool)> = all.map(|one| (&one.code, is_before(one))).collect();
        walk.reader.budget().take((all.len() as u64).saturating_mul(INSTRUCTION_WORK), OWN_WORK)?;
        let number = self.kind().dwarf(register).ok().and_then(|of| of.name.strip_prefix('v')?.parse().ok());
        let found = number.map(|number| lds_use(all, number)).unwrap_or_default();
        if found.is_address {
            return Ok(found);
        }
        // Of a large function, a part is listed.
        let first = listing.instructions.first().map(|one| elf(one.address.0));
        let end = |one: &ListedInstruction| elf(one.code.end());
        let last = listing.instructions.last().map(end);
        let whole = || listing.function.as_ref().map(|function| elf(function.start)..elf(function.end));
        let range = described.range.clone().or_else(whole);
        let is_whole = range.is_some_and(|range| first <= Some(range.start) && last >= Some(range.end));
        if is_whole { Ok(found) } else { Err(UseError::Part) }
    }

    /// An upper bound of the bytes of LDS that variables explain; `None`: unknown.
    fn explained(&self, kernel: &Kernel<'_>) -> Option<u64> {
        let debug = self.debug.as_deref().ok().filter(|debug| is_described(debug, kernel.object))?;
        let unplaced = unplaced(debug, kernel)?;
        let fitting = unplaced.iter().map(|one| one.candidate).filter(|one| one.size <= kernel.fixed);
        let without = fitting.map(|one| one.most()).fold(0, u64::saturating_add);
        // OpenCL's may have a location, the address of a symbol.
        let scopes = &self.function.as_ref().ok()?.function.scopes;
        let statics = scopes.iter().flat_map(|scope| &scope.variables).filter(|variable| {
            variable.kind == VariableKind::Static && variable.location != LocationAttribute::Missing
        });
        statics
            .map(|variable| debug.byte_size(variable.type_id?).ok().flatten())
            .try_fold(without, |sum, size| Some(sum.saturating_add(size?)))
    }
}

/// The reason that the use of a register is unknown.
#[derive(Debug, thiserror::Error)]
enum UseError {
    /// The frame has no code.
    #[error(transparent)]
    Frame(#[from] SourceError),
    /// The code has no instructions.
    #[error(transparent)]
    Listing(#[from] DisassemblyError),
    #[error("not all of its code is listed")]
    Part,
    /// The question's budget is spent.
    #[error(transparent)]
    Budget(#[from] Cause),
}
