//! States as registers and memory of a wave, for comparisons with other sources of a frame's rules.

use std::collections::BTreeMap;

use super::*;
use crate::isa::callers::state::{Halves, Mask, SCALARS, Slot, SlotBase, State, Value};
use crate::isa::tests::of_generation;

/// The values at a function's entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// s32.
    pub(crate) stack: u32,
    /// Units of s32 in a byte of a lane.
    pub(crate) unit: u32,
    /// EXEC.
    pub(crate) exec: u64,
    /// Lanes of the wave.
    pub(crate) lanes: u8,
}

/// Contents that no value of the entry has.
fn filler(seed: u32) -> u32 {
    0xdd00_0000 | seed.wrapping_mul(0x9e37_79b1) >> 8
}

impl Entry {
    /// The value of a scalar register.
    pub(crate) fn scalar(self, number: u8) -> u32 {
        if number == 32 { self.stack } else { 0x1000_0000 + u32::from(number) * 0x101 }
    }

    /// The dword of a lane of a vector register.
    pub(crate) fn vector(self, register: Vector, lane: u8) -> u32 {
        let base = if register.accumulator { 0x3000_0000 } else { 0x2000_0000 };
        base + u32::from(register.number) * 256 + u32::from(lane)
    }

    fn mask(self, mask: Mask) -> u64 {
        let all = if self.lanes == 32 { 0xffff_ffff } else { u64::MAX };
        all & match mask {
            Mask::Entry => self.exec,
            Mask::Within => self.exec & 0x3333_3333_3333_3333,
            Mask::Others => !self.exec,
            Mask::OthersAndMore => !self.exec | self.exec & 0x4444_4444_4444_4444,
            Mask::All => u64::MAX,
            Mask::Unknown => self.exec & 0x1111_1111_1111_1111,
        }
    }

    fn value(self, value: Value, is_high: bool, seed: u32) -> u32 {
        match value {
            Value::Unknown => filler(seed),
            Value::Entry(number) => self.scalar(number),
            Value::Stack(by) => self.stack.wrapping_add(by),
            Value::Rounded { add, mask, plus } => (self.stack.wrapping_add(add) & mask).wrapping_add(plus),
            Value::Constant(number) => number,
            Value::Mask(mask) => (self.mask(mask) >> if is_high { 32 } else { 0 }) as u32,
        }
    }

    fn row(self, halves: Halves, seed: u32) -> Vec<u32> {
        let dword = |lane: u8| {
            let is_active = self.exec >> lane & 1 == 1;
            let from = if is_active { halves.active } else { halves.inactive };
            from.map_or_else(|| filler(seed + u32::from(lane)), |register| self.vector(register, lane))
        };
        (0..self.lanes).map(dword).collect()
    }
}

/// A wave in a state.
pub(crate) struct Concrete {
    pub(crate) scalars: Vec<u32>,
    pub(crate) exec: u64,
    /// Vector registers whose contents are not those of the entry, or that hold scalars.
    pub(crate) vectors: BTreeMap<Vector, Vec<u32>>,
    /// Dwords of all lanes, by byte of a lane.
    pub(crate) memory: BTreeMap<u32, Vec<u32>>,
}

impl CallerState {
    /// A wave in this state.
    pub(crate) fn concrete(&self, entry: Entry) -> Concrete {
        let state: &State = self.state();
        let number = |index: usize| u32::try_from(index).unwrap();
        let scalars = (0..SCALARS).map(|index| {
            let is_high = entry.lanes == 64 && index % 2 == 1;
            entry.value(state.scalar(u8::try_from(index).unwrap()), is_high, number(index))
        });
        let mut vectors = BTreeMap::new();
        let changed = state.vectors.keys().copied().chain(state.lanes.keys().map(|(register, _)| *register));
        for register in changed {
            let seed = 0x4000 + u32::from(register.number) * 64;
            vectors.insert(register, entry.row(state.vector(register), seed));
        }
        for ((register, lane), value) in &state.lanes {
            let is_high = entry.lanes == 64 && lane % 2 == 1;
            vectors.get_mut(register).unwrap()[usize::from(*lane)] = entry.value(*value, is_high, 0);
        }
        let mut memory = BTreeMap::new();
        for (Slot { base, offset }, halves) in &state.slots {
            let base = match base {
                SlotBase::Stack => entry.stack,
                SlotBase::Rounded { add, mask } => entry.stack.wrapping_add(*add) & mask,
            };
            let at = (base / entry.unit).wrapping_add_signed(*offset);
            memory.insert(at, entry.row(*halves, 0x8_0000 + at * 64));
        }
        Concrete { scalars: scalars.collect(), exec: entry.mask(state.exec), vectors, memory }
    }
}

fn code(texts: &[&str], targets: &[(usize, usize)]) -> Vec<Instruction> {
    let address = |index: usize| 0x1000 + index as u64 * 4;
    let one = |(index, text): (usize, &&str)| {
        let target = targets.iter().find(|(from, _)| *from == index).map(|(_, to)| address(*to));
        of_generation(Generation::Gfx90a, text).moved(address(index), 4, target)
    };
    texts.iter().enumerate().map(one).collect()
}

const GFX90A: CodeTarget = CodeTarget { generation: Generation::Gfx90a, buffer_scratch: true, lanes: 64 };

fn read(texts: &[&str], targets: &[(usize, usize)]) -> Result<CallerCode, UndecidedError> {
    CallerCode::read(&code(texts, targets), 0x1000, GFX90A)
}

#[test]
fn a_return_address_is_in_the_lanes_of_a_vector_register() {
    let code = read(
        &[
            "s_mov_b32 s7, s33",
            "s_mov_b32 s33, s32",
            "s_xor_saveexec_b64 s[4:5], -1",
            "buffer_store_dword v9, off, s[0:3], s33 offset:8",
            "s_mov_b64 exec, s[4:5]",
            "s_addk_i32 s32, 0x400",
            "v_writelane_b32 v9, s30, 0",
            "v_writelane_b32 v9, s31, 1",
            "s_swappc_b64 s[30:31], s[4:5]",
            "v_readlane_b32 s31, v9, 1",
            "v_readlane_b32 s30, v9, 0",
            "s_setpc_b64 s[30:31]",
        ],
        &[],
    );
    // The stack pointer is not the caller's at the jump.
    assert_eq!(code.unwrap_err(), UndecidedError::Jump(0x1000 + 11 * 4));
    let texts = [
        "s_mov_b32 s7, s33",
        "s_mov_b32 s33, s32",
        "s_xor_saveexec_b64 s[4:5], -1",
        "buffer_store_dword v9, off, s[0:3], s33 offset:8",
        "s_mov_b64 exec, s[4:5]",
        "s_addk_i32 s32, 0x400",
        "v_writelane_b32 v9, s30, 0",
        "v_writelane_b32 v9, s31, 1",
        "s_swappc_b64 s[30:31], s[4:5]",
        "v_readlane_b32 s31, v9, 1",
        "v_readlane_b32 s30, v9, 0",
        "s_mov_b32 s32, s33",
        "s_mov_b32 s33, s7",
        "s_setpc_b64 s[30:31]",
    ];
    let code = read(&texts, &[]).unwrap();
    let v9 = Vector { accumulator: false, number: 9 };
    let at = |index: u64| code.at(0x1000 + index * 4).unwrap();
    assert_eq!(at(0).scalar(30), Some(Scalar::Register(30)));
    assert_eq!(at(8).scalar(31), Some(Scalar::Register(31)));
    // During the call the link register holds the address in this function.
    let during = code.at(0x1000 + 8 * 4 + 3).unwrap();
    assert_eq!(during.scalar(30), Some(Scalar::Lane(v9, 0)));
    assert_eq!(during.scalar(31), Some(Scalar::Lane(v9, 1)));
    assert_eq!(during.scalar(33), Some(Scalar::Register(7)));
    assert_eq!(during.stack_pointer(), Some(StackPointer { place: Scalar::Register(33), by: 0 }));
    let slot = Half::Slot(Slot { base: SlotBase::Stack, offset: 8 });
    assert_eq!(during.vector(v9), [Half::Unknown, slot]);
    // After the call s20 may be the callee's, v40 is not.
    let scalars: Vec<u8> = at(9).uncertain_scalars().filter(|number| (20..50).contains(number)).collect();
    assert_eq!(scalars, (20..30).chain(40..48).collect::<Vec<u8>>());
    let v = |number| Vector { accumulator: false, number };
    let vectors: Vec<Vector> = at(9).uncertain_vectors().filter(|of| !of.accumulator).collect();
    for (number, is_uncertain) in [(8, true), (9, false), (39, true), (40, false), (47, false), (48, true)] {
        assert_eq!(vectors.contains(&v(number)), is_uncertain, "v{number}");
    }
    assert_eq!(at(8).uncertain_scalars().count() + at(8).uncertain_vectors().count(), 0);
}

/// A register that the function does not need after a call may have the callee's value.
#[test]
fn places_that_a_callee_may_have_changed_count_only_where_they_are_needed() {
    let texts = [
        "s_mov_b32 s4, s33",
        "s_or_saveexec_b64 s[6:7], -1",
        "s_mov_b64 exec, s[6:7]",
        "s_and_saveexec_b64 s[38:39], vcc",
        "v_writelane_b32 v43, s4, 8",
        "s_mov_b32 s8, s14",
        "s_mov_b32 s9, s34",
        "s_mov_b32 s14, 0",
        "s_mov_b32 s34, 0",
        "s_mov_b32 s33, s32",
        "v_writelane_b32 v43, s30, 0",
        "v_writelane_b32 v43, s31, 1",
        "s_swappc_b64 s[30:31], s[10:11]",
        "s_nop 0",
        "s_mov_b32 s6, 0",
        "s_mov_b64 s[38:39], 0",
        "s_nop 0",
        "s_endpgm",
    ];
    let code = read(&texts, &[]).unwrap();
    let at = |address: u64| code.at(address).unwrap();
    let v43 = Vector { accumulator: false, number: 43 };
    let saved = |first: u8| Execution::Saved([Scalar::Register(first), Scalar::Register(first + 1)]);
    let before = at(0x1000 + 12 * 4);
    assert_eq!(before.exec(), saved(6));
    assert_eq!(before.scalar(33), Some(Scalar::Register(4)));
    assert_eq!(before.scalar(14), Some(Scalar::Register(8)));
    // During the call, and after it.
    for state in [at(0x1000 + 12 * 4 + 3), at(0x1000 + 13 * 4)] {
        assert_eq!(state.exec(), saved(38), "callees preserve s38");
        assert_eq!(state.scalar(33), Some(Scalar::Lane(v43, 8)), "callees preserve v43");
        assert_eq!(state.scalar(34), Some(Scalar::Register(9)), "the only place of a preserved value");
        assert_eq!(state.scalar(14), None);
    }
    assert_eq!(at(0x1000 + 16 * 4).exec(), Execution::Within);
}

#[test]
fn paths_that_differ_leave_a_value_unknown() {
    let code = read(
        &[
            "s_mov_b32 s7, s33",
            "s_cbranch_scc1 1",
            "s_mov_b32 s33, 0",
            "s_nop 0",
            "s_mov_b32 s33, s7",
            "s_setpc_b64 s[30:31]",
        ],
        &[(1, 3)],
    )
    .unwrap();
    assert_eq!(code.at(0x100c).unwrap().scalar(33), Some(Scalar::Register(7)));
    let code = read(&["s_cbranch_scc1 1", "s_mov_b32 s33, 0", "s_nop 0", "s_endpgm"], &[(0, 2)]).unwrap();
    assert_eq!(code.at(0x1004).unwrap().scalar(33), Some(Scalar::Register(33)));
    assert_eq!(code.at(0x1008).unwrap().scalar(33), None);
}

#[test]
fn code_that_leads_elsewhere_is_undecided() {
    assert_eq!(read(&["s_nop 0"], &[]).unwrap_err(), UndecidedError::Outside(0x1000));
    assert_eq!(
        read(&["s_mov_b32 s33, s32", "s_branch 100"], &[(1, 100)]).unwrap_err(),
        UndecidedError::Outside(0x1004)
    );
    // Without a frame this is a tail call.
    assert!(read(&["s_branch 100"], &[(0, 100)]).is_ok());
    assert!(read(&["s_setpc_b64 s[4:5]"], &[]).is_ok());
    assert_eq!(
        read(&["s_mov_b32 s33, 1", "s_setpc_b64 s[4:5]"], &[]).unwrap_err(),
        UndecidedError::Jump(0x1004)
    );
    let code = read(&["s_endpgm", "s_nop 0"], &[]).unwrap();
    assert_eq!(code.at(0x1004).unwrap_err(), UndecidedError::Unreached(0x1004));
    assert_eq!(code.at(0x1002).unwrap_err(), UndecidedError::NoInstruction(0x1002));
    assert_eq!(code.at(0xffc).unwrap_err(), UndecidedError::NoInstruction(0xffc));
    assert_eq!(code.at(0x2000).unwrap_err(), UndecidedError::NoInstruction(0x2000));
    let unknown = read(&["s_unheard_of s1", "s_endpgm"], &[]).unwrap();
    assert_eq!(unknown.at(0x1004).unwrap().scalar(30), None);
}

/// Loops whose states change at each pass end.
#[test]
fn hostile_code_ends_within_the_bounds() {
    let mut texts = Vec::new();
    let mut targets = Vec::new();
    let loops = crate::sample::least(4096, 1024);
    for index in 0..loops {
        texts.push(format!("v_writelane_b32 v{}, s{}, {}", index % 256, index % 100, index % 64));
        texts.push("s_cbranch_scc1 0".to_owned());
        targets.push((index * 2 + 1, index * 7919 % loops * 2));
    }
    texts.push("s_endpgm".to_owned());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match read(&texts, &targets) {
        Ok(_) | Err(UndecidedError::TooComplex) => {}
        Err(other) => panic!("{other}"),
    }
    let long = vec!["s_nop 0"; MAX_STEPS + 1];
    assert_eq!(read(&long, &[]).unwrap_err(), UndecidedError::TooLong);
}
