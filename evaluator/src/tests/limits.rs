//! Every bound of `limits`, at the bound and beyond it.

use super::super::limits::*;
use super::super::*;
use super::fake::Fake;
use super::program;
use crate::units::{BitSize, LaneId};

fn value(context: &Fake, program: &Program) -> Result<Number, Error> {
    Evaluator::new(context).value_for(program, Some(LaneId(0)))
}

fn limit(error: Result<impl std::fmt::Debug, Error>) -> (&'static str, u64) {
    match error.unwrap_err().cause {
        Cause::Limit { what, limit } => (what, limit),
        Cause::Inside { error, .. } => limit(Err::<(), _>(*error)),
        other => panic!("{other}"),
    }
}

fn decoded(bytes: &[u8]) -> Program {
    Program::decode(bytes, Encoding::new(Dialect::LlvmUser)).unwrap()
}

#[test]
fn steps() {
    let context = Fake::default();
    // lit0 and one operation less than the bound.
    let mut bytes = vec![0x96; MAX_STEPS as usize - 1];
    bytes.insert(0, 0x30);
    assert!(value(&context, &decoded(&bytes)).is_ok());
    bytes.push(0x96);
    assert_eq!(limit(value(&context, &decoded(&bytes))), ("steps", u64::from(MAX_STEPS)));
}

#[test]
fn wide_arithmetic_costs_more_steps() {
    let context = Fake::default();
    // Repeated multiplication of a value of 2048 bits by itself: about a thousand steps each.
    let looped = program("31 a8 05 12 1e 2f fb ff");
    assert_eq!(limit(value(&context, &looped)).0, "steps");
}

#[test]
fn stack() {
    let context = Fake::default();
    let mut bytes = vec![0x30; MAX_STACK];
    assert!(value(&context, &decoded(&bytes)).is_ok());
    bytes.push(0x30);
    assert_eq!(limit(value(&context, &decoded(&bytes))), ("stack entries", MAX_STACK as u64));
    *bytes.last_mut().unwrap() = 0x12;
    assert_eq!(limit(value(&context, &decoded(&bytes))), ("stack entries", MAX_STACK as u64));
}

#[test]
fn call_depth() {
    for (procedure, variable, run) in [("98 01 00", "30", "98 01 00"), ("30", "98 02 00", "98 02 00")] {
        let context = Fake::with(program(procedure), program(variable), program("91 00"));
        let failed = value(&context, &program(run));
        assert_eq!(limit(failed), ("expressions inside one another", u64::from(MAX_CALL_DEPTH)));
    }
    // An implicit pointer to itself.
    let context = Fake::with(program("30"), program("a0 02 00 00 00 00 06"), program("30"));
    let failed = Evaluator::new(&context).location_for(&program("98 02 00"), None);
    assert_eq!(limit(failed), ("expressions inside one another", u64::from(MAX_CALL_DEPTH)));
}

#[test]
fn a_frame_base_that_asks_for_itself() {
    let context = Fake::with(program("30"), program("30"), program("91 00"));
    assert_eq!(value(&context, &program("91 00")).unwrap_err().class(), Class::IllFormed);
}

#[test]
fn parts() {
    let context = Fake::default();
    let at = |count: usize| {
        let mut bytes = vec![0x50, 0xe9, 0x0b, 0x01];
        bytes.extend([(count & 0x7f) as u8 | 0x80, (count >> 7) as u8]);
        Evaluator::new(&context).location_for(&decoded(&bytes), None)
    };
    assert!(at(MAX_PARTS).is_ok());
    assert_eq!(limit(at(MAX_PARTS + 1)), ("parts of a composite", MAX_PARTS as u64));
    let pieces: Vec<u8> = [0x50, 0x9d, 1, 0].repeat(MAX_PARTS + 1);
    assert_eq!(
        limit(Evaluator::new(&context).location_for(&decoded(&pieces), None)).0,
        "parts of a composite"
    );
}

#[test]
fn value_bits() {
    let context = Fake::default();
    assert_eq!(limit(value(&context, &program("30 a8 0a"))), ("bits of a value", MAX_VALUE_BITS));
    let empty = value(&context, &program("30 a8 0b")).unwrap_err();
    assert_eq!((empty.class(), empty.at.0), (Class::IllFormed, 1));
}

#[test]
fn overlay_reach() {
    let context = Fake::default();
    // Register 1 over 4 bytes of global memory at 2^62, then a displacement in either direction.
    let moved = |by: i64| {
        let overlay = "0e 00 00 00 00 00 00 00 40 51 30 34 ef 0f";
        let mut bytes = super::bytes(overlay);
        bytes.extend(by.to_le_bytes());
        bytes.push(0xe3);
        let program = Program::decode(&bytes, Encoding::new(Dialect::Draft)).unwrap();
        Evaluator::new(&context).location_for(&program, None)
    };
    let reach = (MAX_OVERLAY_REACH / 8) as i64;
    let Storage::Composite(composite) = moved(-reach).unwrap().storage else { panic!() };
    let sizes: Vec<_> = composite.parts().iter().map(|part| part.size.0).collect();
    assert_eq!(sizes, [MAX_OVERLAY_REACH, 32, MAX_OVERLAY_REACH]);
    assert!(moved(reach + 3).is_ok());
    for beyond in [-reach - 1, reach + 4] {
        let cause = moved(beyond).unwrap_err().cause;
        assert!(matches!(cause, Cause::OutsideStorage { .. }), "{cause}");
    }
    // A gap beyond the size of composites is an error, not a loop.
    let gap = Program::decode(
        &super::bytes("50 51 0f ff ff ff ff ff ff ff 7f 34 ef"),
        Encoding::new(Dialect::Draft),
    );
    let failed = Evaluator::new(&context).location_for(&gap.unwrap(), None);
    assert_eq!(limit(failed).0, "bits of a composite");
}

#[test]
fn expression_bytes() {
    let bytes = vec![0x96; MAX_EXPRESSION_BYTES + 1];
    let encoding = Encoding::new(Dialect::LlvmUser);
    assert!(Program::decode(&bytes[1..], encoding).is_ok());
    assert_eq!(limit(Program::decode(&bytes, encoding)).0, "bytes of an expression");
}

#[test]
fn nesting() {
    let nested = |depth: u32| {
        let mut bytes = vec![0x30];
        for _ in 0..depth {
            bytes.splice(0..0, [0xa3, bytes.len() as u8]);
        }
        Program::decode(&bytes, Encoding::new(Dialect::LlvmUser))
    };
    assert!(nested(MAX_NESTING).is_ok());
    assert_eq!(limit(nested(MAX_NESTING + 1)), ("expressions within expressions", u64::from(MAX_NESTING)));
}

#[test]
fn object_bytes() {
    let context = Fake::default();
    let location = Location::memory(crate::units::AddressSpace(0), 64, crate::units::Address(0));
    assert!(fetch(&context, &location, None, BitSize(MAX_OBJECT_BYTES * 8)).is_ok());
    let failed = fetch(&context, &location, None, BitSize(MAX_OBJECT_BYTES * 8 + 1));
    assert_eq!(limit(failed), ("bytes of an object", MAX_OBJECT_BYTES));
    let failed = fetch(&context, &location, None, BitSize(u64::MAX));
    assert_eq!(limit(failed), ("bytes of an object", MAX_OBJECT_BYTES));
}

#[test]
fn remembered_rows() {
    let factors = cfi::Factors {
        code: 4,
        data: 4,
        return_address: crate::units::DwarfReg(16),
        address_size: 8,
        encoding: Encoding::new(Dialect::LlvmUser),
    };
    let rows = |count| cfi::Row::find(&factors, &[], &vec![0x0a; count], crate::units::Pc(0), None);
    assert!(rows(MAX_REMEMBERED_ROWS).is_ok());
    assert_eq!(limit(rows(MAX_REMEMBERED_ROWS + 1)), ("remembered rows", MAX_REMEMBERED_ROWS as u64));
    // A hundred rules, remembered and restored until the bound on copied rules.
    let mut busy: Vec<u8> = (0..100).flat_map(|register| [0x08, register]).collect();
    let pairs = MAX_COPIED_RULES as usize / 101;
    busy.extend([0x0a, 0x0b].repeat(pairs));
    let row = |busy: &[u8]| cfi::Row::find(&factors, &[], busy, crate::units::Pc(0), None);
    assert!(row(&busy).is_ok());
    busy.extend([0x0a, 0x0b]);
    assert_eq!(limit(row(&busy)), ("rules in remembered rows", MAX_COPIED_RULES));
}

#[test]
fn work_of_all_lanes_together() {
    // Lanes split by their number, then loop: each alone has MAX_STEPS, all together MAX_WORK.
    let context = Fake::default();
    // Every lane takes a separate path before the loop: 1 << lane is the mask.
    let parted = program("50 51 31 e9 03 24 e9 0c 01 20 13 2f fd ff");
    let alone = Evaluator::new(&context).location_for(&parted, Some(LaneId(3)));
    assert_eq!(limit(alone).0, "steps");
    let lanes = Focus::Lanes(crate::units::LaneSet(0xffff_ffff));
    let mut evaluator = Evaluator::new(&context);
    let groups = evaluator.stack(&parted, lanes, &[]);
    assert!(groups.len() > 16, "{}", groups.len());
    let of = |what: &str| {
        let failed = groups.iter().filter(|group| limit(group.result.clone()).0 == what);
        failed.count()
    };
    let (apart, together) = (of("steps"), of("units of work"));
    // The first lanes loop up to their own bound; nothing is left for the last ones.
    assert_eq!(apart + together, groups.len());
    assert!(apart > 0 && apart <= (MAX_WORK / MAX_STEPS) as usize && together > 0, "{apart} {together}");
    // The next evaluation starts with the full bound.
    assert!(evaluator.value(&program("30"), lanes, &[]).iter().all(|group| group.result.is_ok()));
}

#[test]
fn sixty_four_ways_are_no_trouble() {
    // Each lane selects by its own mask, and runs a loop of 200 operations.
    let context = Fake::default();
    let honest = program("50 51 31 e9 03 24 e9 0c 01 20 13 08 28 31 1c 12 12 13 28 f8 ff");
    let lanes = crate::units::LaneSet(0xffff_ffff);
    let groups = Evaluator::new(&context).stack(&honest, Focus::Lanes(lanes), &[]);
    assert_eq!(groups.len(), 32);
    assert!(groups.iter().all(|group| group.result.is_ok()), "{:?}", groups[0].result);
}

#[test]
fn parts_on_all_of_the_stack() {
    let context = Fake::default();
    // Vectors of 2048 parts, left on the stack.
    let vectors = |count: usize| {
        let one = super::bytes("64 e9 03 34 1e e9 04 e9 0b 20 80 10");
        Evaluator::new(&context).stack(
            &decoded(&one.repeat(count)),
            Focus::Lanes(crate::units::LaneSet(255)),
            &[],
        )
    };
    let most = MAX_PARTS_MADE / MAX_PARTS;
    assert!(vectors(most)[0].result.is_ok());
    let failed = vectors(most + 1).remove(0).result;
    assert_eq!(limit(failed), ("parts in one evaluation", MAX_PARTS_MADE as u64));
}
