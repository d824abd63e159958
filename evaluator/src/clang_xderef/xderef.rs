//! clang's `DW_OP_xderef` for AMDGPU, in conflict with DWARF's definition.
//!
//! Situation: expressions of upstream clang (observed in 22) have no locations with address spaces. It writes
//! `fbreg N; lit5; swap; xderef` for a stack slot, `bregx VGPRn 0; lit5; swap; xderef` for a value in a vector
//! register, `consts k; lit5; swap; xderef; stack_value` for a constant, `addrx i; lit1; swap; xderef` for a global,
//! and `bregx SGPR33 N; lit1; swap; xderef` for a stack argument (-O1, -O2). In DWARF each loads eight bytes from a
//! wrong address and uses *them* as the object's address.
//!
//! Consequence: [`recognise`] accepts expressions of exactly these shapes: alone, each followed by `DW_OP_piece`, or
//! with arithmetic on registers before the constant's ending (see `computed`).
//!
//! A register's half has shift and mask before the ending (see `half`).
//!
//! An argument that is passed by reference, or a returned object, has `DW_OP_deref` after the ending at -O0: the slot
//! holds its address. That is one in private memory, of 32 bits, because the caller made the object there. An argument's
//! slot has 8 bytes of which clang writes 4 (`store ptr addrspace(5)`); in a generic address they would be the same.
//! Without a slot the address is in a vector register, described like one that holds the object: the object is wider.
//!
//! Scaling: for scratch accessed through buffers the frame register counts bytes of the whole wave; divided by the
//! number of lanes it is the address in a lane. For flat scratch it is the address itself.

use super::super::composite::{Composite, Part};
use super::super::context::{Context, LaneNeed};
use super::super::error::{Cause, Error};
use super::super::lanes::Lanes;
use super::super::limits::MAX_PARTS;
use super::super::location::{CapturedLane, Implicit, Location, Offset, Storage};
use super::super::machine::{Evaluator, Focus, Group};
use super::super::operation::{Dialect, Encoding, Operation, Placed, Program};
use super::super::value::{Number, low_mask};
use super::half::{HALF_BITS, Half};
use super::{
    Scratch, VECTOR_BITS, agreed, by_register, computed, holds, in_frame, is_vector, lane_dword, lanes,
    register_size,
};
use crate::units::{Address, AddressSpace, BitSize, DwarfReg};

const GLOBAL: AddressSpace = AddressSpace(0);
const LOCAL: AddressSpace = AddressSpace(3);
const PRIVATE_LANE: AddressSpace = AddressSpace(5);

/// The idiom's address space numbers: clang's "generic" means the object's actual space.
const IDIOM_GENERIC: u64 = 1;
const IDIOM_LOCAL: u64 = 3;
const IDIOM_PRIVATE: u64 = 5;

/// One shape with its operands.
#[derive(Debug, PartialEq, Eq)]
enum Idiom {
    /// An offset from the frame: `DW_OP_fbreg`.
    Slot(i64),
    /// An offset from the frame register or the stack pointer: `DW_OP_bregx`.
    Based(DwarfReg, i64),
    Register(DwarfReg),
    Half(Half),
    /// The slot of the object's address.
    Indirect(i64),
    Constant(u64),
    Address {
        address: u64,
        space: AddressSpace,
    },
    Nowhere,
}

/// Returns clang's intended location for the lanes in focus; `None` if the expression is not made of the idioms alone.
pub(super) fn recognise(
    context: &dyn Context,
    program: &Program,
    scratch: Scratch,
    size: Option<BitSize>,
    focus: Focus,
) -> Option<(super::Idiom, Vec<Group<Location>>)> {
    use super::Idiom::{PrivateAddress, Xderef};
    let Some(parts) = idioms(context, program.operations()) else {
        let readings = computed::readings(context, program, size);
        return (!readings.is_empty()).then(|| (Xderef, agreed(context, program, &readings, size, focus)));
    };
    match &parts[..] {
        [(placed, Idiom::Register(register), None)]
            if is_vector(context, *register) && size.is_some_and(|size| size.0 > MAX_SCALAR) =>
        {
            return Some((PrivateAddress, at_address(context, placed, *register, IDIOM_PRIVATE, focus)));
        }
        [(placed, Idiom::Indirect(slot), None)] => {
            let groups = match meant(context, &Idiom::Slot(*slot), scratch, focus) {
                Ok(at) => located(context, placed, behind(&at), focus),
                Err(cause) => {
                    let result = Err(Error { at: placed.at, op: placed.name, cause });
                    vec![Group { lanes: lanes(focus), result }]
                }
            };
            return Some((PrivateAddress, groups));
        }
        _ => {}
    }
    let mut composite = Composite::default();
    let mut locations = parts.iter().map(|(placed, idiom, size)| {
        let location = meant(context, idiom, scratch, focus);
        (*placed, location, *size)
    });
    let result = loop {
        match locations.next() {
            None => {
                let storage = Storage::Composite(std::sync::Arc::new(composite));
                break Ok(Location { storage, offset: Offset::ZERO });
            }
            Some((placed, Err(cause), _)) => break Err(Error { at: placed.at, op: placed.name, cause }),
            Some((_, Ok(location), None)) => break Ok(location),
            Some((placed, Ok(location), Some(size))) => {
                if let Err(cause) = holds(&location, None, size) {
                    break Err(Error { at: placed.at, op: placed.name, cause });
                }
                // A piece beyond 64 bits is not an idiom.
                composite.push(Part { location, size })?;
            }
        }
    };
    Some((Xderef, vec![Group { lanes: lanes(focus), result }]))
}

/// From the location of an address in a space of the idiom to the object there.
fn pointed(space: u64) -> [Operation; 3] {
    [Operation::Deref { bytes: 4 }, Operation::Constant(space), Operation::FormAspaceAddress]
}

/// The vector register that an expression names alone, without a piece, with its operation.
pub(super) fn lone_register<'p>(
    context: &dyn Context,
    program: &'p Program,
) -> Option<(&'p Placed, DwarfReg)> {
    match &idioms(context, program.operations())?[..] {
        [(placed, Idiom::Register(register), None)] if is_vector(context, *register) => {
            Some((*placed, *register))
        }
        _ => None,
    }
}

/// The object in LDS at the address in the lane's dword of a register.
pub(super) fn in_local_memory(
    context: &dyn Context,
    placed: &Placed,
    register: DwarfReg,
    focus: Focus,
) -> Vec<Group<Location>> {
    at_address(context, placed, register, IDIOM_LOCAL, focus)
}

/// The object in a space at the address in the lane's dword of a register.
fn at_address(
    context: &dyn Context,
    placed: &Placed,
    register: DwarfReg,
    space: u64,
    focus: Focus,
) -> Vec<Group<Location>> {
    let operations = lane_dword(register).into_iter().chain(pointed(space)).collect();
    located(context, placed, operations, focus)
}

/// The location by operations, each at the position of `placed`, so that errors name the compiler's operation.
fn located(
    context: &dyn Context,
    placed: &Placed,
    operations: Vec<Operation>,
    focus: Focus,
) -> Vec<Group<Location>> {
    let operations: Box<[Placed]> =
        operations.into_iter().map(|operation| Placed { operation, ..placed.clone() }).collect();
    let encoding = Encoding::new(Dialect::LlvmUser);
    Evaluator::new(context).location(&Program { operations, end: placed.at, encoding }, focus, &[])
}

/// The object at an address in private memory, which is in a slot of all lanes.
fn behind(slot: &Location) -> Vec<Operation> {
    let Lanes::Uniform(address) = slot.offset.bytes else { return Vec::new() };
    let slot =
        [Operation::Constant(address), Operation::Constant(IDIOM_PRIVATE), Operation::FormAspaceAddress];
    slot.into_iter().chain(pointed(IDIOM_PRIVATE)).collect()
}

/// Bits of the widest common scalar; only a wider object counts as one that a register cannot hold by its kind.
const MAX_SCALAR: u64 = 64;

/// Operations of the ending.
const ENDING: usize = 3;

/// Whether operations are clang's ending for an object: `lit1; swap; xderef`.
pub(super) fn is_ending(operations: &[Placed]) -> bool {
    let [space, swap, xderef] = operations else { return false };
    matches!(space.operation, Operation::Constant(IDIOM_GENERIC | IDIOM_PRIVATE))
        && swap.operation == Operation::Swap
        && xderef.operation == (Operation::Xderef { bytes: 8 })
}

/// Splits an expression into idioms, each with its first operation and its piece size.
fn idioms<'p>(
    context: &dyn Context,
    operations: &'p [Placed],
) -> Option<Vec<(&'p Placed, Idiom, Option<BitSize>)>> {
    let mut parts = Vec::new();
    let mut rest = operations;
    while let Some(first) = rest.first() {
        if parts.len() >= MAX_PARTS {
            return None;
        }
        let (idiom, length) = idiom(context, rest)?;
        rest = rest.get(length..)?;
        match rest.first().map(|placed| &placed.operation) {
            Some(Operation::Piece(bytes)) => {
                let bits = bytes.checked_mul(8).filter(|bits| (1..=1 << 32).contains(bits))?;
                let most = if matches!(idiom, Idiom::Half(_)) { u64::from(HALF_BITS) } else { bits };
                parts.push((first, idiom, Some(BitSize(bits).min(BitSize(most)))));
                rest = rest.get(1..)?;
            }
            Some(Operation::BitPiece { size, offset }) if matches!(idiom, Idiom::Half(half) if half.is_piece(*size, *offset)) =>
            {
                parts.push((first, idiom, Some(BitSize(*size))));
                rest = rest.get(1..)?;
            }
            // Without a piece, an idiom is the whole expression.
            None if parts.is_empty() && idiom != Idiom::Nowhere => {
                let size = matches!(idiom, Idiom::Half(_)).then_some(BitSize(u64::from(HALF_BITS)));
                parts.push((first, idiom, size));
            }
            _ => return None,
        }
    }
    let meant = parts.iter().any(|(_, idiom, _)| *idiom != Idiom::Nowhere);
    meant.then_some(parts)
}

/// Matches the idiom at the start of some operations; returns it with its length.
fn idiom(context: &dyn Context, operations: &[Placed]) -> Option<(Idiom, usize)> {
    let operation = |index: usize| operations.get(index).map(|placed| &placed.operation);
    if let Some(Operation::Piece(_)) = operation(0) {
        return Some((Idiom::Nowhere, 0));
    }
    if let Some(half) = Half::at(operations) {
        let length = half.length() + ENDING;
        let is_alone = is_ending(operations.get(half.length()..length)?)
            && !matches!(operation(length), Some(Operation::StackValue));
        return is_alone.then_some((Idiom::Half(half), length));
    }
    let (Some(Operation::Constant(space)), Some(Operation::Swap), Some(Operation::Xderef { bytes: 8 })) =
        (operation(1), operation(2), operation(3))
    else {
        return None;
    };
    let with_value = matches!(operation(4), Some(Operation::StackValue));
    let is_stack = |register| {
        if is_vector(context, register) {
            return false;
        }
        let frame = context.call_frame().frame_register();
        frame.is_some_and(|frame| [frame.register, frame.stack].contains(&Some(register)))
    };
    Some(match (operation(0)?, *space, with_value) {
        (Operation::FrameBase(offset), IDIOM_GENERIC | IDIOM_PRIVATE, false) => match operation(4) {
            Some(Operation::Deref { bytes: 8 }) => (Idiom::Indirect(*offset), 5),
            _ => (Idiom::Slot(*offset), 4),
        },
        (Operation::BaseRegister { register, displacement }, IDIOM_GENERIC | IDIOM_PRIVATE, false)
            if is_stack(*register) =>
        {
            (Idiom::Based(*register, *displacement), 4)
        }
        (Operation::BaseRegister { register, displacement: 0 }, _, false) => (Idiom::Register(*register), 4),
        (Operation::Constant(value), _, true) => (Idiom::Constant(*value), 5),
        (Operation::Addr(address), space, false) => {
            (Idiom::Address { address: *address, space: address_space(space)? }, 4)
        }
        (Operation::Addrx(index), space, false) => {
            let address = context.unit().debug_addr(*index).ok()?;
            (Idiom::Address { address, space: address_space(space)? }, 4)
        }
        _ => return None,
    })
}

fn address_space(idiom: u64) -> Option<AddressSpace> {
    match idiom {
        IDIOM_GENERIC => Some(GLOBAL),
        IDIOM_LOCAL => Some(LOCAL),
        _ => None,
    }
}

fn meant(context: &dyn Context, idiom: &Idiom, scratch: Scratch, focus: Focus) -> Result<Location, Cause> {
    let focused = matches!(focus, Focus::Lanes(_));
    match idiom {
        Idiom::Nowhere => Ok(Location::undefined()),
        Idiom::Constant(value) => {
            let number = std::sync::Arc::new(Number::generic(*value));
            Ok(Location { storage: Storage::Implicit(Implicit::Number(number)), offset: Offset::ZERO })
        }
        Idiom::Address { address, space } => {
            let info = context.machine().space(*space).ok_or(Cause::ReservedSpace(*space))?;
            // Only addresses of the process move with the code object; those of LDS are already offsets.
            let address = if *space == GLOBAL { context.call_frame().loaded(*address)? } else { *address };
            let address = address & low_mask(u32::from(info.address_bits));
            Ok(Location::memory(*space, info.address_bits, Address(address)))
        }
        Idiom::Register(register) => lane_register(context, *register, 0, focused),
        Idiom::Half(half) => lane_register(context, half.register, half.offset() / 8, focused),
        // Handled before; beside pieces it has no meaning.
        Idiom::Indirect(_) => Err(Cause::Incomplete),
        Idiom::Slot(offset) => private(context, focus, || {
            let Some(frame) = context.call_frame().frame_register() else {
                context.call_frame().frame_base()?;
                return Err(Cause::FrameBase("not a register"));
            };
            in_frame(context, &frame, *offset, scratch)
        }),
        Idiom::Based(register, offset) => private(context, focus, || {
            let frame = context.call_frame().frame_register().ok_or(Cause::FrameBase("not a register"))?;
            let found = by_register(context, &frame, *register, *offset, scratch);
            found.unwrap_or(Err(Cause::FrameBase("not that register")))
        }),
    }
}

/// Returns an object in a register at a byte of the lane's dword.
fn lane_register(
    context: &dyn Context,
    register: DwarfReg,
    byte: u64,
    focused: bool,
) -> Result<Location, Cause> {
    let size = register_size(context, register)?;
    let mut location = Location::register(register, size);
    location.offset = Offset::bytes(byte);
    if size.0 >= VECTOR_BITS {
        if !focused {
            return Err(Cause::NoLane);
        }
        location.offset = Offset::bytes(Lanes::from_fn(|lane| u64::from(lane) * 4 + byte));
    }
    Ok(location)
}

/// Returns an object in a lane's private memory.
fn private(
    context: &dyn Context,
    focus: Focus,
    address: impl FnOnce() -> Result<u64, Cause>,
) -> Result<Location, Cause> {
    let info = context.machine().space(PRIVATE_LANE).ok_or(Cause::ReservedSpace(PRIVATE_LANE))?;
    if matches!(focus, Focus::Wave) && info.lane != LaneNeed::None {
        return Err(Cause::NoLane);
    }
    let storage =
        Storage::Memory { space: PRIVATE_LANE, address_bits: info.address_bits, lane: CapturedLane::Own };
    Ok(Location { storage, offset: Offset::bytes(address()?) })
}
