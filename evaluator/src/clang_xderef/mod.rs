//! Idioms of compilers that write no heterogeneous extensions and deviate from DWARF's definitions.
//!
//! Without the extensions an expression can name neither a lane nor an address space. LLVM's front ends describe AMDGPU
//! variables in three idioms instead: [`Idiom`]. According to DWARF each is a location that the variable cannot have.
//!
//! [`recognise`] accepts expressions made of exactly these idioms and returns the intended locations. All others go to
//! the [`Evaluator`]. Callers use it only in units without the extensions, and report it: [`Idiom::words`].

mod attribute;
mod bare;
mod computed;
mod half;
mod xderef;

pub use attribute::of_object;

use super::context::{Context, FrameRegister, FrameStart};
use super::error::{Cause, Error};
use super::fetch::{Reader, check_inside, fetch};
use super::location::{Location, Storage};
use super::machine::{Evaluator, Focus, Group};
use super::operation::{Binary, Operation, Placed, Program};
use super::value::low_mask;
use crate::units::{BitSize, DwarfReg, ExprOffset, LaneId, LaneSet};

/// Minimum width of a register with a dword for each lane.
const VECTOR_BITS: u64 = 32 * LANE_BITS;
/// Bits of a lane's part of a vector register.
const LANE_BITS: u64 = 32;
/// Bits of an address in private memory.
const PRIVATE_BITS: u32 = 32;

/// The target's access to private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scratch {
    /// Through buffers: frame registers hold bytes of the whole wave.
    Buffer,
    /// Through flat or scratch instructions: frame registers hold bytes of a lane.
    Flat,
}

/// Facts about a unit for the recognition of idioms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether the compiler is clang, the only one with [`Idiom::Xderef`].
    pub clang: bool,
    /// The target's access to private memory.
    pub scratch: Scratch,
}

/// An idiom for a location, in conflict with DWARF's definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idiom {
    /// clang's `DW_OP_xderef` with an address space.
    Xderef,
    /// A vector register for a variable narrower than the register: its lane's dword.
    LaneDword,
    /// An offset from a frame or stack register of 32 bits: private memory.
    PrivateFrame,
    /// A register narrower than the object, or a slot that is dereferenced: the object's address in private memory.
    PrivateAddress,
    /// A register with the object's address in LDS: [`in_local_memory`].
    LocalAddress,
}

impl Idiom {
    /// Returns a note for users about a location from the idiom.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Xderef => "read as clang means its xderef idiom, not as DWARF defines it",
            Self::LaneDword => {
                "inferred: the vector register is wider than the variable, so its dword of the lane is meant; by DWARF it \
                 is the dword of lane 0"
            }
            Self::PrivateFrame => {
                "inferred: the frame register has 32 bits, so it leads to private memory of the lane; by DWARF it is an \
                 address of global memory"
            }
            Self::PrivateAddress => {
                "inferred: the register or slot has the object's address in private memory of the lane, where functions \
                 get objects that are passed or returned by reference"
            }
            Self::LocalAddress => {
                "inferred: the register has the object's address in LDS, where the compiler moved it: the code uses the \
                 register so"
            }
        }
    }

    /// Returns a mark of one to three words, printed after a location.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Xderef => "clang xderef",
            Self::LaneDword => "inferred: lane's dword",
            Self::PrivateFrame => "inferred: private frame",
            Self::PrivateAddress => "inferred: private address",
            Self::LocalAddress => "inferred: LDS address",
        }
    }
}

/// The intended meaning of an expression.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// The idiom.
    pub idiom: Idiom,
    /// The locations.
    pub groups: Vec<Group<Location>>,
}

/// Returns the intended location for the lanes in focus; `None` if the expression is not made of idioms alone.
///
/// `size`: size of the object. `None`: unknown, so no register counts as wider or narrower.
#[must_use]
pub fn recognise(
    context: &dyn Context,
    program: &Program,
    reading: Reading,
    size: Option<BitSize>,
    focus: Focus,
) -> Option<Meaning> {
    let by_clang = || xderef::recognise(context, program, reading.scratch, size, focus);
    if let Some((idiom, groups)) = reading.clang.then(by_clang).flatten() {
        return Some(Meaning { idiom, groups });
    }
    let (idiom, meant) = bare::rewritten(context, program, reading.scratch, size)?;
    let groups = match meant {
        Ok(readings) => agreed(context, program, &readings, size, focus),
        Err(error) => vec![Group { lanes: lanes(focus), result: Err(error) }],
    };
    Some(Meaning { idiom, groups })
}

/// Returns the vector register that an expression of clang's idiom names alone, without a piece: it has the object, or
/// its address.
#[must_use]
pub fn lone_register(context: &dyn Context, program: &Program) -> Option<DwarfReg> {
    xderef::lone_register(context, program).map(|(_, register)| register)
}

/// Returns the object in LDS whose address the register of [`lone_register`] has; `None` without such a register.
///
/// LLVM moves objects of kernels to LDS, and describes them as if they were in the register. Only the code shows it.
#[must_use]
pub fn in_local_memory(context: &dyn Context, program: &Program, focus: Focus) -> Option<Meaning> {
    let (placed, register) = xderef::lone_register(context, program)?;
    let groups = xderef::in_local_memory(context, placed, register, focus);
    Some(Meaning { idiom: Idiom::LocalAddress, groups })
}

/// Evaluates the readings of an expression. A lane in which they give the object different bits has no value.
fn agreed(
    context: &dyn Context,
    program: &Program,
    readings: &[Program],
    size: Option<BitSize>,
    focus: Focus,
) -> Vec<Group<Location>> {
    let evaluated = |program| Evaluator::new(context).location(program, focus, &[]);
    let Some((first, others)) = readings.split_first() else { return Vec::new() };
    let mut groups = evaluated(first);
    let bits = |at: &Location, lane| {
        let size =
            size.or_else(|| at.storage.size().and_then(|size| u64::try_from(size).ok()).map(BitSize))?;
        fetch(context, &at.at(lane), Some(lane), size).ok()
    };
    // Readings differ in the operands of this operation.
    let open = |placed: &&Placed| matches!(placed.operation, Operation::Binary(binary) if binary.compares());
    let last =
        || program.operations().iter().rfind(|placed| matches!(placed.operation, Operation::Binary(_)));
    let Some(placed) = program.operations().iter().find(open).or_else(last) else { return groups };
    for other in others {
        let other = evaluated(other);
        let is_same = |at: &Location, lane: LaneId| {
            let found = other.iter().find(|group| group.lanes.contains(lane));
            let found = found.and_then(|group| group.result.as_ref().ok());
            found.is_some_and(|found| bits(at, lane) == bits(found, lane))
        };
        let parted = |group: Group<Location>| {
            let Ok(location) = &group.result else { return vec![group] };
            let same: LaneSet = group.lanes.iter().filter(|lane| is_same(location, *lane)).collect();
            let differ = group.lanes.without(same);
            let error = Error { at: placed.at, op: placed.name, cause: Cause::OpenSign };
            let parts = [Group { lanes: same, ..group }, Group { lanes: differ, result: Err(error) }];
            parts.into_iter().filter(|group| !group.lanes.is_empty()).collect()
        };
        groups = groups.into_iter().flat_map(parted).collect();
    }
    groups
}

/// The operations for the location of the lane's dword in a vector register.
fn lane_dword(register: DwarfReg) -> [Operation; 5] {
    [
        Operation::Register(register),
        Operation::PushLane,
        Operation::Constant(LANE_BITS / 8),
        Operation::Binary(Binary::Mul),
        Operation::Offset,
    ]
}

fn lanes(focus: Focus) -> LaneSet {
    match focus {
        Focus::Wave => LaneSet::one(LaneId(0)),
        Focus::Lanes(lanes) => lanes,
    }
}

/// Returns the address in a lane's private memory at an offset from the frame.
fn in_frame(
    context: &dyn Context,
    frame: &FrameRegister,
    offset: i64,
    scratch: Scratch,
) -> Result<u64, Cause> {
    let start = match frame.origin(offset)? {
        FrameStart::Zero => 0,
        FrameStart::Register(register) => contents(context, register)?,
        FrameStart::Rounded { register, add, mask } => {
            contents(context, register)?.wrapping_add(u64::from(add)) & u64::from(mask)
        }
    };
    private_address(scaled(context, start, scratch), offset)
}

/// Returns the address at an offset from the frame register or the stack pointer; `None` for other registers.
fn by_register(
    context: &dyn Context,
    frame: &FrameRegister,
    register: DwarfReg,
    offset: i64,
    scratch: Scratch,
) -> Option<Result<u64, Cause>> {
    if frame.register == Some(register) {
        return Some(in_frame(context, frame, offset, scratch));
    }
    let at = |contents| private_address(scaled(context, contents, scratch), offset);
    (frame.stack == Some(register)).then(|| contents(context, register).and_then(at))
}

/// Adds bytes to an address in private memory without wrapping, like `DW_OP_fbreg`.
fn private_address(from: u64, by: i64) -> Result<u64, Cause> {
    let from = i128::from(from & low_mask(PRIVATE_BITS));
    let at = from.saturating_add(i128::from(by));
    let inside = u64::try_from(at).ok().filter(|at| *at <= low_mask(PRIVATE_BITS));
    let size = (u128::from(low_mask(PRIVATE_BITS)) + 1) * 8;
    inside.ok_or(Cause::OutsideStorage { offset: at.saturating_mul(8), size })
}

/// Checks that an object lies within the idiom's storage ("All the bits must be within the size of the location
/// storage", 2020 AMDGPU text). For a vector register that is the lane's dword; its neighbours are other lanes'.
fn holds(location: &Location, lane: Option<LaneId>, size: BitSize) -> Result<(), Cause> {
    let own = |register: BitSize| if register.0 >= VECTOR_BITS { LANE_BITS } else { register.0 };
    match location.storage {
        Storage::Register { size: register, .. } if size.0 > own(register) => {
            Err(Cause::NarrowRegister { wanted: size.0, size: own(register) })
        }
        _ => check_inside(location, 0, size.0, lane).map(drop),
    }
}

/// Checks that an object of one lane fits a location from [`recognise`].
///
/// # Errors
/// Ill-formed: bits beyond a scalar register, or the lane's dword of a vector register.
pub fn check_size(location: &Location, lane: LaneId, size: BitSize) -> Result<(), Error> {
    holds(location, Some(lane), size).map_err(|cause| Error { at: ExprOffset(0), op: "read", cause })
}

/// Converts the contents of a frame or stack register to an address in a lane's private memory.
fn scaled(context: &dyn Context, contents: u64, scratch: Scratch) -> u64 {
    match scratch {
        Scratch::Buffer => contents / u64::from(context.machine().wave_size().lanes()),
        Scratch::Flat => contents,
    }
}

/// Reads a scalar register as a number.
fn contents(context: &dyn Context, register: DwarfReg) -> Result<u64, Cause> {
    let size = register_size(context, register)?;
    if size.0 > 64 {
        return Err(Cause::RegisterTooWide { register, size: size.0, address: 64 });
    }
    Reader::new(context).word(&Location::register(register, size), 0, size.0 as u32, None)
}

fn register_size(context: &dyn Context, register: DwarfReg) -> Result<BitSize, Cause> {
    context.machine().register_size(register).map_err(|reason| Cause::NoRegister { register, reason })
}

fn is_vector(context: &dyn Context, register: DwarfReg) -> bool {
    context.machine().register_size(register).is_ok_and(|size| size.0 >= VECTOR_BITS)
}

/// Whether an operation belongs to the heterogeneous extensions; a unit with any of them follows DWARF's definitions.
#[must_use]
pub fn is_extension(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::PushLane
            | Operation::FormAspaceAddress
            | Operation::Offset
            | Operation::OffsetUconst(_)
            | Operation::BitOffset
            | Operation::CallFrameEntryReg(_)
            | Operation::Undefined
            | Operation::AspaceBregx { .. }
            | Operation::AspaceImplicitPointer { .. }
            | Operation::PieceEnd
            | Operation::Extend { .. }
            | Operation::SelectBitPiece { .. }
            | Operation::ObjectMap(_)
            | Operation::Composite
            | Operation::Overlay
            | Operation::BitOverlay
    )
}
