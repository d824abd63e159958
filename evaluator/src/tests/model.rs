//! A second, simple evaluator, written from the texts: a storage is the list of its bits. Results for composites,
//! object maps and call frame offsets must be equal in both.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::cfi::{Answers, Factors, Row, Unwind};
use super::super::*;
use super::fake::{Fake, dword};
use crate::units::{DwarfReg, LaneId, Pc};

/// A bit: of a register by number and position, or undefined.
type Bit = Option<(u64, u64)>;

/// The bits of a location from its offset on; `None` if it has no end.
fn bits_of(location: &Location) -> Option<Vec<Bit>> {
    let register = |location: &Location, size: Option<u64>| match location.storage {
        Storage::Undefined(_) => Some(vec![None; size? as usize]),
        Storage::Register { register, size: all, .. } => {
            let from = location.offset.get(LaneId(0)) as u64;
            let until = size.map_or(all.0, |size| from + size);
            Some((from..until).map(|bit| Some((register.0, bit))).collect())
        }
        ref other => panic!("{other:?}"),
    };
    match location.storage {
        Storage::Composite(_) => {
            let parts = location.canonical_from_offset(LaneId(0));
            parts
                .iter()
                .map(|part| register(&part.location, Some(part.size.0)))
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.concat())
        }
        _ => register(location, None),
    }
}

/// A location of the model: all bits of its storage and the offset of the first one; `None`: undefined.
type FoundAt = Option<(Vec<Bit>, usize)>;

#[derive(Clone, Debug)]
enum Entry {
    FoundAt(FoundAt),
    /// A composite that accepts pieces.
    Open(Vec<Bit>),
}

/// An operation of the model, with its bytes in the llvm-user dialect.
#[derive(Clone, Debug)]
enum Op {
    Register(u8),
    Undefined,
    OffsetUconst(u8),
    BitOffset(i8),
    Piece(u8),
    BitPiece(u8, u8),
    PieceEnd,
    Extend(u8, u8),
    Select(u8, u8, u8),
}

impl Op {
    fn bytes(&self) -> Vec<u8> {
        match *self {
            Self::Register(number) => vec![0x50 + number],
            Self::Undefined => vec![0xe9, 8],
            Self::OffsetUconst(bytes) => vec![0xe9, 5, bytes],
            Self::BitOffset(bits) => vec![0x09, bits as u8, 0xe9, 6],
            Self::Piece(bytes) => vec![0x93, bytes],
            Self::BitPiece(bits, offset) => vec![0x9d, bits, offset],
            Self::PieceEnd => vec![0xe9, 0x0a],
            Self::Extend(bits, count) => vec![0xe9, 0x0b, bits, count],
            Self::Select(mask, bits, count) => vec![0x08, mask, 0xe9, 0x0c, bits, count],
        }
    }
}

fn moved(place: FoundAt, by: i64) -> Option<FoundAt> {
    let Some((bits, offset)) = place else { return Some(None) };
    let offset = usize::try_from(offset as i64 + by).ok().filter(|offset| *offset < bits.len())?;
    Some(Some((bits, offset)))
}

fn part(place: &FoundAt, size: usize) -> Option<Vec<Bit>> {
    match place {
        None => Some(vec![None; size]),
        Some((bits, offset)) => bits.get(*offset..offset + size).map(<[Bit]>::to_vec),
    }
}

/// Pops a whole location.
fn popped(stack: &mut Vec<Entry>) -> Option<FoundAt> {
    match stack.pop()? {
        Entry::FoundAt(place) => Some(place),
        Entry::Open(_) => None,
    }
}

/// `offset`: the operand of `DW_OP_bit_piece`; `DW_OP_piece` has none and does not displace.
fn add_piece(stack: &mut Vec<Entry>, size: usize, offset: Option<i64>) -> Option<()> {
    let bits = match stack.last() {
        None | Some(Entry::Open(_)) => vec![None; size],
        Some(Entry::FoundAt(_)) => {
            let place = popped(stack)?;
            let place = if let Some(offset) = offset { moved(place, offset)? } else { place };
            part(&place, size)?
        }
    };
    match stack.last_mut() {
        Some(Entry::Open(all)) => all.extend(bits),
        _ => stack.push(Entry::Open(bits)),
    }
    Some(())
}

/// The model's result; the outer `None`: ill-formed.
fn run(ops: &[Op]) -> Option<FoundAt> {
    let mut stack: Vec<Entry> = Vec::new();
    for op in ops {
        match *op {
            Op::Register(number) => {
                let size = if number < 10 { 32 } else { 64 };
                let bits = (0..size).map(|bit| Some((u64::from(number), bit))).collect();
                stack.push(Entry::FoundAt(Some((bits, 0))));
            }
            Op::Undefined => stack.push(Entry::FoundAt(None)),
            Op::OffsetUconst(bytes) => {
                let place = moved(popped(&mut stack)?, i64::from(bytes) * 8)?;
                stack.push(Entry::FoundAt(place));
            }
            Op::BitOffset(bits) => {
                let place = moved(popped(&mut stack)?, i64::from(bits))?;
                stack.push(Entry::FoundAt(place));
            }
            Op::Piece(bytes) => add_piece(&mut stack, usize::from(bytes) * 8, None)?,
            Op::BitPiece(bits, offset) => add_piece(&mut stack, usize::from(bits), Some(i64::from(offset)))?,
            Op::PieceEnd => match stack.pop()? {
                Entry::Open(bits) => stack.push(Entry::FoundAt(Some((bits, 0)))),
                Entry::FoundAt(_) => return None,
            },
            Op::Extend(bits, count) => {
                let element = part(&popped(&mut stack)?, usize::from(bits))?;
                let all = element.repeat(usize::from(count));
                stack.push(Entry::FoundAt((!all.is_empty()).then_some((all, 0)).map(Some)?));
            }
            Op::Select(mask, bits, count) => {
                let (one, zero) = (popped(&mut stack)?, popped(&mut stack)?);
                let mut all = Vec::new();
                for index in 0..usize::from(count) {
                    let from = if index < 8 && mask >> index & 1 == 1 { &one } else { &zero };
                    let place = moved(from.clone(), index as i64 * i64::from(bits))?;
                    all.extend(part(&place, usize::from(bits))?);
                }
                stack.push(Entry::FoundAt((!all.is_empty()).then_some((all, 0)).map(Some)?));
            }
        }
    }
    match stack.pop() {
        None => Some(None),
        Some(Entry::FoundAt(place)) => Some(place),
        Some(Entry::Open(bits)) => Some(Some((bits, 0))),
    }
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0u8..8).prop_map(Op::Register),
        2 => (10u8..19).prop_map(Op::Register),
        1 => Just(Op::Undefined),
        1 => (0u8..9).prop_map(Op::OffsetUconst),
        1 => (-9i8..40).prop_map(Op::BitOffset),
        4 => (0u8..9).prop_map(Op::Piece),
        3 => (0u8..34, 0u8..34).prop_map(|(bits, offset)| Op::BitPiece(bits, offset)),
        1 => Just(Op::PieceEnd),
        1 => (0u8..34, 0u8..4).prop_map(|(bits, count)| Op::Extend(bits, count)),
        1 => (any::<u8>(), 0u8..20, 0u8..9).prop_map(|(mask, bits, count)| Op::Select(mask, bits, count)),
    ]
}

/// The object map of register 20 and memory at 0x2000, as register number or address; outer `None`: ill-formed.
fn mapped(index: u64, size: u64, count: u64, chunk: u64) -> Option<Result<Vec<Bit>, u64>> {
    let (index, size, count) = (u128::from(index), u128::from(size), u128::from(count));
    let offset = index * size;
    if chunk == 0 || offset / (size * count) != u128::from(chunk) {
        return u64::try_from(0x2000 + offset).ok().map(Err);
    }
    // Registers 20 to 29 are consecutive, 256 bytes each.
    let first = offset % (size * count);
    if first + size > 10 * 256 {
        return None;
    }
    let bits = first * 8..(first + size) * 8;
    let bit = |bit: u128| Some((20 + (bit / 2048) as u64, (bit % 2048) as u64));
    Some(Ok(bits.map(bit).collect()))
}

fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 1u64..600, 1 => Just(1 << 32), 1 => any::<u64>().prop_map(|size| size.max(1))]
}

fn leb(mut number: i128, unsigned: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let byte = (number & 0x7f) as u8;
        number >>= 7;
        let sign = !unsigned && byte & 0x40 != 0;
        if number == 0 && !sign || number == -1 && sign {
            bytes.push(byte);
            return bytes;
        }
        bytes.push(byte | 0x80);
    }
}

/// Numbers near the ends of their types, for overflowing products.
fn wide() -> impl Strategy<Value = u64> {
    prop_oneof![
        0u64..0x2000,
        any::<u64>(),
        (0u32..64, -2i64..3).prop_map(|(bit, more)| (1u64 << bit).wrapping_add_signed(more))
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn composites_are_the_models(ops in prop::collection::vec(op(), 0..14)) {
        let bytes: Vec<u8> = ops.iter().flat_map(Op::bytes).collect();
        let program = Program::decode(&bytes, Encoding::new(Dialect::LlvmUser)).unwrap();
        let found = Evaluator::new(&Fake::default()).location_for(&program, Some(LaneId(0)));
        match (run(&ops), found) {
            (None, Err(error)) => prop_assert_eq!(error.class(), Class::IllFormed),
            (Some(None), Ok(location)) => prop_assert!(location.is_undefined(), "{location:?}"),
            (Some(Some((bits, offset))), Ok(location)) => {
                let expected: Vec<Bit> = bits.get(offset..).unwrap_or_default().to_vec();
                prop_assert_eq!(bits_of(&location), Some(expected));
            }
            (expected, found) => prop_assert!(false, "{expected:?}, found {found:?}"),
        }
    }

    #[test]
    fn object_maps_are_the_models(index in sizes(), size in sizes(), count in sizes(), near in any::<bool>(), chunk in 0u64..4) {
        // Half of the indexes lie in the chunk.
        let index = match chunk.checked_mul(count) {
            Some(first) if near => first.saturating_add(index % count),
            _ => index,
        };
        let constant = Attribute::Constant;
        let vec_location = Attribute::Expression(Arc::new(super::program("64")));
        let map = ObjectMap {
            mem_location: constant(0x2000),
            cntl_ordinal: constant(chunk),
            vec_location,
            element_size: constant(size),
            element_count: constant(count),
            ranges: Vec::new(),
        };
        let context = Fake { map: Some(Arc::new(map)), ..Fake::default() };
        let mut bytes = vec![0x0e];
        bytes.extend(index.to_le_bytes());
        bytes.extend([0xed, 9]);
        let program = Program::decode(&bytes, Encoding::new(Dialect::Draft)).unwrap();
        let found = Evaluator::new(&context).location_for(&program, Some(LaneId(0)));
        match (mapped(index, size, count, chunk), found) {
            (None, Err(error)) => prop_assert_ne!(error.class(), Class::Unavailable),
            (Some(Err(address)), Ok(location)) => {
                prop_assert!(matches!(location.storage, Storage::Memory { .. }), "{location:?}");
                prop_assert_eq!(location.offset.get(LaneId(0)), u128::from(address) * 8);
            }
            (Some(Ok(expected)), Ok(location)) => {
                let mut bits = bits_of(&location).unwrap();
                bits.truncate(expected.len());
                prop_assert_eq!(bits, expected);
            }
            (expected, found) => prop_assert!(false, "{expected:?}, found {found:?}"),
        }
    }

    #[test]
    fn frame_offsets_are_the_models(
        operand in wide(),
        factor in wide(),
        displacement in wide(),
        signed in any::<bool>(),
        private in any::<bool>(),
        code in prop::sample::select(vec![0x05u8, 0x11, 0x80, 0x14, 0x15]),
    ) {
        let (space, address_bits) = if private { (6u8, 32) } else { (0, 64) };
        let factor = factor as i64;
        // The CFA: register 3 and a displacement, factored or not, modulo the size of an address.
        let mut fde = vec![if signed { 0x31 } else { 0x30 }, 3];
        let number = if signed { i128::from(displacement as i64) } else { i128::from(displacement) };
        fde.extend(leb(number, !signed));
        fde.push(space);
        let added = if signed { number * i128::from(factor) } else { number };
        let cfa = (added + i128::from(dword(3, 0))).rem_euclid(1i128 << address_bits);
        // Register 10 has 64 bits; register 1 has 32, the size of an address.
        let register = if private { 1u8 } else { 10 };
        let unsigned = matches!(code, 0x05 | 0x14 | 0x80);
        match code {
            0x80 => fde.push(0x80 | register),
            _ => fde.extend([code, register]),
        }
        let operand = if unsigned { i128::from(operand) } else { i128::from(operand as i64) };
        fde.extend(leb(operand, unsigned));
        let address = cfa + operand * i128::from(factor);
        let expected = (0..1i128 << address_bits).contains(&address).then_some(address);
        let factors = Factors {
            code: 1,
            data: factor,
            return_address: DwarfReg(16),
            address_size: 8,
            encoding: Encoding::new(Dialect::LlvmUser),
        };
        let row = Row::find(&factors, &[], &fde, Pc(0), None).unwrap();
        let (context, answers) = (Fake::default(), Answers::default());
        let unwind = Unwind::new(&context, &row, &answers);
        prop_assert_eq!(unwind.cfa().unwrap().offset.get(LaneId(0)), cfa as u128 * 8);
        match (expected, unwind.register(DwarfReg(register.into()))) {
            (None, Err(error)) => prop_assert_eq!(error.class(), Class::IllFormed),
            (Some(address), Ok(location)) => match &location.storage {
                Storage::Implicit(value) => {
                    prop_assert!(matches!(code, 0x14 | 0x15));
                    prop_assert_eq!(value.bytes(LaneId(0)), &address.to_le_bytes()[..address_bits / 8]);
                }
                _ => {
                    prop_assert!(matches!(code, 0x05 | 0x11 | 0x80));
                    prop_assert_eq!(location.offset.get(LaneId(0)), address as u128 * 8);
                }
            },
            (expected, found) => prop_assert!(false, "{expected:?}, found {found:?}"),
        }
    }
}
