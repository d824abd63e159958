//! Arbitrary bytes as an expression in any state. Evaluation ends within its bounds, and all lanes together give the
//! result of each lane alone. The first bytes are the state: contents and presence of registers, contents of entries.

use std::sync::Arc;

use lanescope::dwarf::write::{Plan, Run, Store};
use lanescope::dwarf::{
    Answer, Attribute, BaseType, CallFrame, ContextError, Dialect, Die, DieLocation, DieRef, Encoding,
    Evaluator, Focus, Frame, LaneNeed, Machine, MemoryAt, ObjectMap, Program, RegisterBytes, SpaceInfo,
    TypeEncoding, Unit, active_lanes, clang_xderef, explain, fetch, lane_pcs, print,
};
use lanescope::units::{AddressSpace, BitSize, DieOffset, DwarfReg, LaneId, LaneSet, Pc, WaveSize};

/// A state derived from a few bytes.
struct State {
    seed: u64,
    die: Option<Arc<Program>>,
}

impl State {
    fn mixed(&self, what: u64) -> u64 {
        (what ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7
    }
}

impl Machine for State {
    fn wave_size(&self) -> WaveSize {
        if self.seed & 1 == 0 { WaveSize::W64 } else { WaveSize::W32 }
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        let info = |address_bits, lane| Some(SpaceInfo { address_bits, lane });
        match space.0 {
            0 => info(64, LaneNeed::None),
            1 => info(64, LaneNeed::WhenRead),
            2 | 3 | 6 => info(32, LaneNeed::None),
            5 => info(32, LaneNeed::Now),
            0x20..=0x5f => info(32, LaneNeed::Fixed(LaneId((space.0 - 0x20) as u8))),
            _ => None,
        }
    }

    fn register_size(&self, register: DwarfReg) -> Answer<BitSize> {
        match register.0 {
            0..=9 => Ok(BitSize(32)),
            10..=31 => Ok(BitSize(64)),
            32..=3000 => Ok(BitSize(2048)),
            _ => Err(ContextError::absent("none")),
        }
    }

    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes) {
        for (index, byte) in into.bytes.iter_mut().enumerate() {
            *byte = self.mixed(register.0 << 9 ^ index as u64 ^ u64::from(frame == Frame::Caller)) as u8;
        }
        into.known = !self.mixed(register.0) | 1;
    }

    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        for (index, byte) in into.iter_mut().enumerate() {
            let address = at.address.0.wrapping_add(index as u64);
            if self.mixed(address).is_multiple_of(17) {
                return index;
            }
            *byte = self.mixed(address ^ at.space.0) as u8;
        }
        into.len()
    }
}

impl CallFrame for State {
    fn pc(&self) -> Option<Pc> {
        (self.seed & 2 == 0).then_some(Pc(0x1000))
    }

    fn frame_base(&self) -> Answer<Arc<Program>> {
        self.die.clone().ok_or_else(|| ContextError::absent("none"))
    }

    fn lanes(&self) -> Answer<Option<Attribute>> {
        let expression = || self.die.clone().map(Attribute::Expression);
        Ok((self.seed & 4 != 0).then(expression).flatten())
    }
}

impl Unit for State {
    fn die(&self, die: DieRef) -> Answer<Die> {
        let location = match (die.offset().0 % 4, &self.die) {
            (0 | 1, Some(program)) => DieLocation::Expression(Arc::clone(program)),
            (2, _) => DieLocation::ConstValue([1, 2, 3, 4].as_slice().into()),
            _ => DieLocation::None,
        };
        Ok(Die { is_procedure: die.offset().0.is_multiple_of(2), location })
    }

    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        let encoding = TypeEncoding(die.0 as u8);
        Ok(BaseType {
            encoding,
            element_bits: (die.0 >> 8) as u32 & 0xfff,
            elements: (die.0 & 0x80 != 0).then_some(3),
        })
    }

    /// Each attribute is the entry's expression, a small number, or a 64-bit number.
    fn object_map(&self, die: DieOffset) -> Answer<Arc<ObjectMap>> {
        let attribute = |which: u64| {
            let number = self.mixed(die.0 << 8 ^ which);
            match (number & 3, &self.die) {
                (0 | 1, Some(program)) => Attribute::Expression(Arc::clone(program)),
                (2, _) => Attribute::Constant(self.mixed(number) << 7),
                _ => Attribute::Constant(number >> 4 & 0xff),
            }
        };
        Ok(Arc::new(ObjectMap {
            mem_location: attribute(0),
            cntl_ordinal: attribute(1),
            vec_location: attribute(2),
            element_size: attribute(3),
            element_count: attribute(4),
            ranges: if self.seed & 8 == 0 { Vec::new() } else { vec![(Pc(0x800), Pc(0x1800))] },
        }))
    }
}

/// Accepts every write and stores nothing.
struct Everything;

impl Store for Everything {
    type Error = std::convert::Infallible;

    fn check(&self, _: &Run) -> Result<(), Self::Error> {
        Ok(())
    }

    fn write(&mut self, run: &Run) {
        assert_eq!(run.bytes.len(), run.mask.len());
    }
}

pub fn run(bytes: &[u8]) {
    let [mode, seed, cut, bytes @ ..] = bytes else { return };
    let encoding = Encoding::new(Dialect::ALL[usize::from(mode & 3)]);
    let (die, bytes) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let die = Program::decode(die, encoding).ok().map(Arc::new);
    let state = State { seed: u64::from(*seed), die };
    let Ok(program) = Program::decode(bytes, encoding) else { return };
    let lanes = LaneSet(0x8000_0005).and(state.wave_size().all());
    let said = |lane: LaneId, set: LaneSet| {
        let groups = Evaluator::new(&state).location(&program, Focus::Lanes(set), &[]);
        let group =
            groups.into_iter().find(|group| group.lanes.contains(lane)).expect("every lane is in a group");
        group.result.map(|location| {
            let bits = fetch(&state, &location, Some(lane), BitSize(40));
            let _ = explain::undefined(&location, lane);
            if let Ok(plan) = Plan::new(&location, Some(lane), BitSize(40), &[1, 2, 3, 4, 5]) {
                let _ = plan.apply(&mut Everything);
            }
            format!("{} {bits:?}", print::location(&location, lane, &print::NoNames))
        })
    };
    for lane in lanes.iter() {
        assert_eq!(said(lane, lanes), said(lane, LaneSet::one(lane)), "lane {lane}");
    }
    let mut told = explain::Explainer::new(&print::NoNames);
    let _ = Evaluator::new(&state).traced(&mut told).value(&program, Focus::Wave, &[]);
    let _ = Evaluator::new(&state).for_call_frames().stack(&program, Focus::Wave, &[]);
    for (clang, size) in [(true, None), (false, Some(BitSize(32)))] {
        let reading = clang_xderef::Reading { clang, scratch: clang_xderef::Scratch::Buffer };
        let _ = clang_xderef::recognise(&state, &program, reading, size, Focus::Lanes(lanes));
    }
    let _ = clang_xderef::of_object(&program);
    let _ = lane_pcs(&state, &program, None);
    let _ = active_lanes(&state, &program, Some(LaneId(0)));
}
