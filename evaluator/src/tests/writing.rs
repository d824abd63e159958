//! Writes: a read returns the written bits, nothing else changes, and a rejected write changes nothing.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::write::{ObjectBits, PartError, Plan, Run, Store, Target, WriteError};
use super::super::*;
use super::fake::{Fake, byte};
use super::lanes::{context, fitting_expression};
use super::program;
use crate::units::{Address, AddressSpace, BitSize, DwarfReg, LaneId, Pc, WaveSize};

/// Overlay over a fake; data that the fake lacks cannot be changed.
struct Layer<'f> {
    fake: &'f Fake,
    registers: BTreeMap<(u64, bool, u64), u8>,
    memory: BTreeMap<(u64, Option<u8>, u64), u8>,
}

impl<'f> Layer<'f> {
    fn new(fake: &'f Fake) -> Self {
        Self { fake, registers: BTreeMap::new(), memory: BTreeMap::new() }
    }

    fn old_byte(&self, to: Target, index: usize) -> Option<u8> {
        match to {
            Target::Register { register, frame, first } => {
                let at = first + index as u64;
                let mut contents = RegisterBytes::unknown();
                self.read_register(register, frame, &mut contents);
                contents.knows(at * 8, 8).then(|| contents.bytes[at as usize])
            }
            Target::Memory(at) => {
                let mut byte = [0];
                let address = Address(at.address.0 + index as u64);
                (self.read_memory(MemoryAt { address, ..at }, &mut byte) == 1).then_some(byte[0])
            }
        }
    }
}

impl Store for Layer<'_> {
    type Error = &'static str;

    fn check(&self, run: &Run) -> Result<(), &'static str> {
        let there = (0..run.bytes.len()).all(|index| self.old_byte(run.to, index).is_some());
        if there { Ok(()) } else { Err("not captured") }
    }

    fn write(&mut self, run: &Run) {
        for (index, (byte, mask)) in run.bytes.iter().zip(&run.mask).enumerate() {
            let new = self.old_byte(run.to, index).unwrap() & !mask | byte & mask;
            match run.to {
                Target::Register { register, frame, first } => {
                    self.registers.insert((register.0, frame == Frame::Caller, first + index as u64), new);
                }
                Target::Memory(at) => {
                    let address = at.address.0 + index as u64;
                    self.memory.insert((at.space.0, at.lane.map(|lane| lane.0), address), new);
                }
            }
        }
    }
}

impl Context for Layer<'_> {
    fn machine(&self) -> &dyn Machine {
        self
    }

    fn call_frame(&self) -> &dyn CallFrame {
        self
    }

    fn unit(&self) -> &dyn Unit {
        self.fake
    }
}

impl Machine for Layer<'_> {
    fn wave_size(&self) -> WaveSize {
        self.fake.wave_size()
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        self.fake.space(space)
    }

    fn register_size(&self, register: DwarfReg) -> Answer<BitSize> {
        self.fake.register_size(register)
    }

    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes) {
        self.fake.read_register(register, frame, into);
        let caller = frame == Frame::Caller;
        for ((_, _, at), byte) in
            self.registers.range((register.0, caller, 0)..=(register.0, caller, u64::MAX))
        {
            into.bytes[*at as usize] = *byte;
        }
    }

    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        for (offset, slot) in into.iter_mut().enumerate() {
            let address = at.address.0.wrapping_add(offset as u64);
            let changed = self.memory.get(&(at.space.0, at.lane.map(|lane| lane.0), address)).copied();
            match changed.or_else(|| byte(at.space.0, at.lane, address)) {
                Some(byte) => *slot = byte,
                None => return offset,
            }
        }
        into.len()
    }
}

impl CallFrame for Layer<'_> {
    fn pc(&self) -> Option<Pc> {
        None
    }
}

fn located(fake: &Fake, hex: &str) -> Location {
    Evaluator::new(fake).location_for(&program(hex), Some(LaneId(3))).unwrap()
}

fn write(layer: &mut Layer<'_>, location: &Location, bits: u64, bytes: &[u8]) -> Result<(), WriteError> {
    Plan::new(location, Some(LaneId(3)), BitSize(bits), bytes)?.apply(layer)
}

#[test]
fn parts_get_their_bits() {
    let fake = Fake::default();
    // 3 bits from bit 0 of register 1, 7 bits from bit 2 of register 2, a byte of lane 3's dword of register 21.
    let location = located(&fake, "51 9d 03 00 52 9d 07 02 65 e9 03 34 1e e9 04 93 01");
    let mut layer = Layer::new(&fake);
    write(&mut layer, &location, 18, &[0b1010_1101, 0b0101_1010, 0b10]).unwrap();
    // By hand: bits 0-2 of the object are 101, bits 3-9 are 1010101, bits 10-17 are 10010110.
    let contents = |register: u64| {
        let mut contents = RegisterBytes::unknown();
        layer.read_register(DwarfReg(register), Frame::Current, &mut contents);
        contents
    };
    assert_eq!(contents(1).extract(0, 3), 0b101);
    assert_eq!(contents(1).extract(3, 29), 1000 >> 3);
    assert_eq!(contents(2).extract(2, 7), 0b101_0101);
    assert_eq!((contents(2).extract(0, 2), contents(2).extract(9, 23)), (2000 & 3, 2000 >> 9));
    assert_eq!(contents(21).extract(3 * 32, 8), 0b1001_0110);
    assert_eq!(contents(21).extract(3 * 32 + 8, 24), 21_003 >> 8);
}

fn refusals(fake: &Fake, hex: &str, bits: u64) -> Vec<(u64, u64, String)> {
    let mut layer = Layer::new(fake);
    let bytes = vec![0x5a; bits.div_ceil(8) as usize];
    let Err(WriteError::Parts(parts)) = write(&mut layer, &located(fake, hex), bits, &bytes) else {
        panic!("{hex} was written")
    };
    assert!(layer.registers.is_empty() && layer.memory.is_empty(), "{hex} was written in part");
    parts
        .into_iter()
        .map(|refused| (refused.part.first, refused.part.count, refused.why.to_string()))
        .collect()
}

#[test]
fn what_cannot_be_written_is_named_and_nothing_changes() {
    let fake = Fake::default();
    // Register 1, undefined, a constant, register 2.
    assert_eq!(
        refusals(&fake, "51 93 04 93 02 9e 02 01 02 93 02 52 93 04", 96),
        [
            (32, 16, "optimized out (DW_OP_piece at 3: no location stands before the piece)".to_owned()),
            (48, 16, "a constant in the debug information".to_owned()),
        ]
    );
    // Register 8 was not captured.
    assert_eq!(refusals(&fake, "51 93 04 58 93 04", 64), [(32, 32, "not captured".to_owned())]);
    let pointer = "a pointer that exists only in the debug information".to_owned();
    assert_eq!(refusals(&fake, "a0 01 00 00 00 00", 64), [(0, 64, pointer)]);
    assert_eq!(refusals(&fake, "31 9f", 64)[0].2, "a constant in the debug information");
    assert_eq!(
        refusals(&fake, "", 8)[0].2,
        "optimized out (result at 0: the expression leaves nothing on the stack)"
    );
    // Bits outside of the written range do not matter.
    let mut layer = Layer::new(&fake);
    write(&mut layer, &located(&fake, "51 93 04 93 04"), 32, &[1, 2, 3, 4]).unwrap();
    assert_eq!(layer.registers.len(), 4);
}

#[test]
fn parts_that_share_bits_must_agree() {
    let fake = Fake::default();
    let location = located(&fake, "51 e9 0b 10 02");
    let mut layer = Layer::new(&fake);
    write(&mut layer, &location, 32, &[1, 2, 1, 2]).unwrap();
    let mut layer = Layer::new(&fake);
    let error = write(&mut layer, &location, 32, &[1, 2, 1, 3]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing was written: bits 16 to 31: shares storage with bits 0 to 15, which would have to hold another value"
    );
    let WriteError::Parts(parts) = error else { panic!("{error}") };
    assert_eq!(parts[0].why, PartError::Contradicts(ObjectBits { first: 0, count: 16 }));
    assert!(layer.registers.is_empty());
}

#[test]
fn the_object_must_fit() {
    let fake = Fake::default();
    let location = located(&fake, "51");
    let refused = |bits: u64, bytes: &[u8]| {
        let WriteError::Object(cause) = write(&mut Layer::new(&fake), &location, bits, bytes).unwrap_err()
        else {
            panic!("refused for another reason")
        };
        cause
    };
    assert!(matches!(refused(33, &[0; 5]), Cause::BeyondStorage { wanted: 33, .. }));
    assert!(matches!(refused(32, &[0; 5]), Cause::SizesDiffer { given: 40, actual: 32 }));
    let many = (limits::MAX_OBJECT_BYTES + 1) * 8;
    assert!(matches!(refused(many, &[]), Cause::Limit { .. }));
    assert_eq!(Plan::new(&location, None, BitSize(0), &[]).unwrap().runs(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn read_after_write(
        fake in context(),
        program in fitting_expression(),
        lane in 0u8..64,
        bits in 1u64..100,
        bytes in prop::collection::vec(any::<u8>(), 13),
    ) {
        let lane = LaneId(lane);
        let Ok(location) = Evaluator::new(&fake).location_for(&program, Some(lane)) else { return Ok(()) };
        let bytes = &bytes[..bits.div_ceil(8) as usize];
        let mut layer = Layer::new(&fake);
        let before = fetch(&layer, &location, Some(lane), BitSize(bits));
        let plan = Plan::new(&location, Some(lane), BitSize(bits), bytes);
        match plan.and_then(|plan| plan.apply(&mut layer)) {
            Ok(()) => {
                let read = fetch(&layer, &location, Some(lane), BitSize(bits)).unwrap();
                let whole = read.whole().expect("what was written is known");
                for bit in 0..bits {
                    let at = (bit / 8) as usize;
                    prop_assert_eq!(whole[at] >> (bit % 8) & 1, bytes[at] >> (bit % 8) & 1, "bit {}", bit);
                }
                // Writing the original bits restores the original state.
                let before = before.unwrap();
                let before = before.whole().expect("what can be written was captured");
                Plan::new(&location, Some(lane), BitSize(bits), before).unwrap().apply(&mut layer).unwrap();
                for ((register, caller, at), byte) in &layer.registers {
                    let frame = if *caller { Frame::Caller } else { Frame::Current };
                    let mut contents = RegisterBytes::unknown();
                    fake.read_register(DwarfReg(*register), frame, &mut contents);
                    prop_assert_eq!(contents.bytes[*at as usize], *byte);
                }
                for ((space, lane, at), value) in &layer.memory {
                    prop_assert_eq!(byte(*space, lane.map(LaneId), *at), Some(*value));
                }
            }
            Err(error) => {
                prop_assert!(layer.registers.is_empty() && layer.memory.is_empty(), "written in part: {}", error);
            }
        }
    }
}
