//! The invariant: evaluating a set of lanes equals evaluating each of them separately.

use proptest::prelude::*;

use super::super::*;
use super::fake::Fake;
use super::{bytes, program, program_in};
use crate::units::{LaneId, LaneSet};

/// One lane's result as text, or its error.
type Outcome = Result<String, Error>;

fn outcomes<T>(
    groups: Vec<Group<T>>,
    lanes: LaneSet,
    tell: impl Fn(&T, LaneId) -> String,
) -> Vec<(LaneId, Outcome)> {
    let mut all = Vec::new();
    let mut seen = LaneSet::EMPTY;
    for group in groups {
        assert!(seen.and(group.lanes).is_empty(), "a lane is in two groups");
        seen = LaneSet(seen.0 | group.lanes.0);
        for lane in group.lanes.iter() {
            let result = group.result.as_ref().map(|result| tell(result, lane)).map_err(Clone::clone);
            all.push((lane, result));
        }
    }
    assert_eq!(seen, lanes, "every lane is in a group");
    all.sort_by_key(|(lane, _)| *lane);
    all
}

fn location(context: &Fake, program: &Program, lanes: LaneSet) -> Vec<(LaneId, Outcome)> {
    let groups = Evaluator::new(context).location(program, Focus::Lanes(lanes), &[]);
    outcomes(groups, lanes, |location, lane| {
        let read = fetch(context, &location.at(lane), Some(lane), crate::units::BitSize(24));
        format!("{:?} {read:?}", location.at(lane))
    })
}

fn value(context: &Fake, program: &Program, lanes: LaneSet) -> Vec<(LaneId, Outcome)> {
    let groups = Evaluator::new(context).value(program, Focus::Lanes(lanes), &[]);
    outcomes(groups, lanes, |number, lane| format!("{:?}", number.at(lane)))
}

fn stack(context: &Fake, program: &Program, lanes: LaneSet) -> Vec<(LaneId, Outcome)> {
    let groups = Evaluator::new(context).stack(program, Focus::Lanes(lanes), &[]);
    outcomes(groups, lanes, |stack, lane| {
        stack.iter().map(|entry| format!("{:?}", entry.at(lane))).collect::<Vec<_>>().join("|")
    })
}

fn assert_same(context: &Fake, program: &Program, lanes: LaneSet) {
    for ask in [location, value, stack] {
        let together = ask(context, program, lanes);
        // Separated lanes share the bound of an evaluation; each lane evaluated alone has all of it.
        if together.iter().any(|outcome| format!("{outcome:?}").contains("units of work")) {
            continue;
        }
        let apart: Vec<_> = lanes.iter().flat_map(|lane| ask(context, program, LaneSet::one(lane))).collect();
        assert_eq!(together, apart, "{}", print::program(program, &print::NoNames));
    }
}

/// Operations and short runs of them as bytes, weighted for many valid expressions.
fn operation() -> impl Strategy<Value = String> {
    let fixed = |texts: &'static [&'static str]| prop::sample::select(texts).prop_map(str::to_owned);
    prop_oneof![
        4 => fixed(&["30", "31", "32", "34", "38", "3f", "08 ff", "11 7f", "10 80 20", "09 80"]),
        4 => fixed(&["e9 03", "e9 03 34 1e", "e9 03 31 1a", "e9 03 38 1a", "e9 03 32 25", "e9 03 3f 2d"]),
        3 => fixed(&["12", "13", "14", "16", "17", "15 02"]),
        4 => fixed(&["1a", "1b", "1c", "1d", "1e", "19", "1f", "20", "21", "22", "24", "25", "26", "27", "23 05"]),
        2 => fixed(&["29", "2a", "2b", "2c", "2d", "2e"]),
        3 => fixed(&["28 01 00", "28 02 00", "28 03 00", "2f 01 00", "28 fd ff", "28 f8 ff", "e9 03 28 02 00"]),
        4 => fixed(&["64", "68", "66", "5a", "63", "50", "51", "58", "59", "5e"]),
        3 => fixed(&["84 04", "70 00", "7a 08", "78 00", "91 04", "92 02 7c"]),
        4 => fixed(&["e9 04", "e9 05 03", "e9 06", "e9 03 34 1e e9 04", "e9 03 e9 06"]),
        4 => fixed(&["35 e9 02", "31 e9 02", "36 e9 02", "e9 03 e9 02", "08 25 e9 02", "33 e9 02", "37 e9 02"]),
        4 => fixed(&["06", "94 04", "94 02", "94 01", "a6 04 02", "a6 10 04", "18", "95 04"]),
        4 => fixed(&["93 04", "93 02", "9d 05 03", "93 00", "e9 0a", "9d 00 04"]),
        2 => fixed(&["e9 08", "9f", "9e 04 01 02 03 04", "a0 02 00 00 00 01", "a0 03 00 00 00 00 06"]),
        2 => fixed(&["e9 0b 08 04", "e9 0b 40 02", "e9 0c 10 04", "e9 0c 20 40", "35 e9 0c 08 08"]),
        3 => fixed(&["98 01 00", "98 02 00", "98 03 00", "98 04 00", "99 01 00 00 00"]),
        2 => fixed(&["a3 01 50", "a3 02 94 04", "a3 01 64", "a3 04 84 00 94 02", "e9 07 14", "e9 09 03 04"]),
        2 => fixed(&["a4 01 04 05 00 00 00", "a4 06 08 01 00 02 00 03 00 04 00", "a8 02", "a8 03", "a8 00", "a9 01"]),
        2 => fixed(&["a5 14 05", "a5 00 02", "a8 05", "a8 06", "a8 08", "97", "9c", "96"]),
    ]
}

/// Draft-only operations, with offsets and sizes that may depend on the lane.
const DRAFT: &[&str] = &[
    "ee",
    "ee 50 93 04",
    "ee 64 93 04 51 93 02",
    "31 32 ef",
    "30 34 ef",
    "33 34 ef",
    "09 fe 34 ef",
    "34 38 f1",
    "30 09 ff ef",
    "e2 33 1a 32 ef",
    "30 e2 33 1a ef",
    "e2 34 f1",
    "50 64 31 32 ef",
    "64 50 e2 33 1a 31 ef",
    "ed 01",
    "ed 02",
    "ed 03",
    "35 e9 02 00 00 00 00",
    "94 04 35 e1",
];

/// The same operations in another dialect: the drafts have one byte where LLVM has two, and no constant offset.
fn in_dialect(text: &str, dialect: Dialect) -> String {
    const NUMBERS: [(&str, &str); 13] = [
        ("e9 05 04", "34 e3"),
        ("e9 05 03", "33 e3"),
        ("e9 02", "e1"),
        ("e9 03", "e2"),
        ("e9 04", "e3"),
        ("e9 06", "e5"),
        ("e9 07", "e6"),
        ("e9 08", "e7"),
        ("e9 09", "e8"),
        ("e9 0a", "ea"),
        ("e9 0b", "eb"),
        ("e9 0c", "ec"),
        ("e9 01", "96"),
    ];
    if dialect != Dialect::Draft {
        return text.to_owned();
    }
    NUMBERS.iter().fold(text.to_owned(), |text, (llvm, draft)| text.replace(llvm, draft))
}

fn expression(length: std::ops::Range<usize>) -> impl Strategy<Value = Program> {
    prop::collection::vec(operation(), length).prop_map(|texts| program(&texts.join(" ")))
}

fn draft_expression(length: std::ops::Range<usize>) -> impl Strategy<Value = Program> {
    let known = operation().prop_map(|text| in_dialect(&text, Dialect::Draft));
    let own = prop::sample::select(DRAFT).prop_map(str::to_owned);
    let operations = prop_oneof![2 => known, 1 => own];
    prop::collection::vec(operations, length).prop_map(|texts| program_in(&texts.join(" "), Dialect::Draft))
}

/// The kind of a stack entry, for the choice of the next operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Have {
    Number,
    Location,
    Incomplete,
}

/// A mostly valid expression: each choice selects among the operations that fit the stack.
fn fitting(choices: &[u16], dialect: Dialect) -> Program {
    use Have::{Incomplete, Location, Number};
    let mut text = String::new();
    let mut stack: Vec<Have> = Vec::new();
    let draft = dialect == Dialect::Draft;
    for choice in choices {
        const LITERALS: [&str; 8] =
            ["30", "31", "34", "08 25", "e9 03", "e9 03 34 1e", "e9 03 31 1a", "11 7d"];
        const PLACES: [&str; 12] = [
            "64 e9 03 34 1e e9 04",
            "65 e9 03 34 1e e9 04",
            "50",
            "5a",
            "63",
            "e9 08",
            "08 40 e9 03 22 35 e9 02",
            "10 80 10 36 e9 02",
            "e9 03 08 20 22 30 16 e9 02",
            "9e 08 01 02 03 04 05 06 07 08",
            "98 02 00",
            "e9 03 9f",
        ];
        const BINARY: [&str; 12] = ["1a", "1b", "1c", "1d", "1e", "21", "22", "24", "25", "27", "29", "2d"];
        const UNARY: [&str; 7] = ["19", "1f", "20", "23 07", "a8 02 a8 00", "a8 05 a8 00", "12 28 01 00 1f"];
        const MOVES: [&str; 5] =
            ["e9 05 04", "31 e9 04", "e9 03 31 1a e9 04", "33 e9 06", "e9 03 37 1a e9 06"];
        const READS: [&str; 6] = ["94 04", "94 02", "94 01", "a6 04 02 a8 00", "06", "94 03"];
        const PIECES: [&str; 6] = ["93 04", "93 02", "9d 05 03", "93 01", "9d 0c 00", "93 00"];
        // Only of the draft dialect, in its numbers.
        const OVERLAYS: [&str; 10] = [
            "30 34 ef",
            "31 32 ef",
            "33 34 ef",
            "09 ff 32 ef",
            "34 38 f1",
            "30 30 ef",
            "e2 33 1a 31 ef",
            "30 e2 33 1a ef",
            "e2 33 1a e2 31 1a ef",
            "e2 34 f1",
        ];
        const MAPS: [&str; 3] = ["ed 01", "ed 02", "ed 03"];
        const COMPOSITES: [&str; 4] = [
            "ee 50 93 04 51 93 04",
            "ee 64 e2 34 1e e3 93 04 50 93 02",
            "ee 53 93 01 ee 54 93 01 53 93 01 93 02",
            "ee 93 04 63 93 04",
        ];
        let pick = |from: &[&'static str]| from[usize::from(choice >> 4) % from.len()];
        let (operation, taken, pushed): (&str, usize, &[Have]) = match (stack.as_slice(), choice & 15) {
            ([.., Location, Location], 11..=14) if draft => (pick(&OVERLAYS), 2, &[Location]),
            ([.., Number], 11..=12) if draft => (pick(&MAPS), 1, &[Location]),
            (_, 13) if draft => (pick(&COMPOSITES), 0, &[Location]),
            ([.., Number, Number], 0..=4) => (pick(&BINARY), 2, &[Number]),
            ([.., Number, Number], 5) => ("16", 2, &[Number, Number]),
            ([.., Number], 6..=7) => (pick(&UNARY), 1, &[Number]),
            ([.., Number], 8) => ("35 e9 02", 1, &[Location]),
            ([.., Number], 9) => ("9f", 1, &[Location]),
            // Pushes different things depending on the lane.
            ([.., Number], 10) => ("28 04 00 51 2f 01 00 5b", 1, &[Location]),
            ([.., Location, Location], 0..=1) => ("35 e9 0c 08 03", 2, &[Location]),
            ([.., Location], 2..=4) => (pick(&MOVES), 1, &[Location]),
            ([.., Location], 5..=7) => (pick(&READS), 1, &[Number]),
            ([.., Incomplete, Location], 8..=12) | ([.., Location], 8..=10) => {
                let below = stack.iter().rev().nth(1) == Some(&Incomplete);
                (pick(&PIECES), 1 + usize::from(below), &[Incomplete])
            }
            ([.., Location], 11) => ("e9 0b 08 03", 1, &[Location]),
            ([.., Incomplete], 0..=5) => ("e9 0a", 1, &[Location]),
            ([.., Incomplete], 6) => (pick(&PIECES), 1, &[Incomplete]),
            (_, 0..=7) => (pick(&LITERALS), 0, &[Number]),
            (_, 15) if choice >> 4 & 7 == 0 => ("98 01 00", 0, &[]),
            _ => (pick(&PLACES), 0, &[Location]),
        };
        text.push_str(&in_dialect(operation, dialect));
        text.push(' ');
        stack.truncate(stack.len() - taken);
        stack.extend_from_slice(pushed);
    }
    program_in(&text, dialect)
}

pub(super) fn fitting_expression() -> impl Strategy<Value = Program> {
    let dialect = prop::sample::select(&[Dialect::LlvmUser, Dialect::Draft][..]);
    let choices = prop::collection::vec(any::<u16>(), 1..16);
    (choices, dialect).prop_map(|(choices, dialect)| fitting(&choices, dialect))
}

pub(super) fn context() -> impl Strategy<Value = Fake> {
    let frame_base = prop_oneof![
        Just(program("53")),
        Just(program("9c")),
        Just(program("08 40 e9 03 22 35 e9 02")),
        Just(program("e9 03 36 1a 28 01 00 50 10 40")),
        expression(0..4),
    ];
    let lanes = prop_oneof![3 => Just(None), 1 => (0u64..70).prop_map(Some)];
    (expression(0..5), expression(0..6), frame_base, lanes).prop_map(
        |(procedure, variable, frame_base, lanes)| Fake {
            lanes,
            ..Fake::with(procedure, variable, frame_base)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn together_is_apart(context in context(), program in expression(1..14), lanes in any::<u64>()) {
        prop_assume!(lanes != 0);
        assert_same(&context, &program, LaneSet(lanes));
    }

    #[test]
    fn together_is_apart_with_draft_operations(
        context in context(),
        program in draft_expression(1..14),
        lanes in any::<u64>(),
    ) {
        prop_assume!(lanes != 0);
        assert_same(&context, &program, LaneSet(lanes));
    }

    #[test]
    fn together_is_apart_where_it_works(
        context in context(),
        program in fitting_expression(),
        lanes in prop_oneof![Just(u64::MAX), any::<u64>()],
    ) {
        prop_assume!(lanes != 0);
        assert_same(&context, &program, LaneSet(lanes));
    }

    #[test]
    fn any_bytes_end(
        context in context(),
        any in prop::collection::vec(any::<u8>(), 0..40),
        dialect in prop::sample::select(&[Dialect::LlvmUser, Dialect::LlvmDirect, Dialect::AmdgpuUsage2020, Dialect::Draft][..]),
    ) {
        if let Ok(program) = Program::decode(&any, Encoding::new(dialect)) {
            for focus in [Focus::Wave, Focus::Lanes(LaneSet(0x8000_0000_0000_0005))] {
                for group in Evaluator::new(&context).location(&program, focus, &[]) {
                    if let Ok(location) = group.result {
                        let _ = fetch_lanes(&context, &location, group.lanes, crate::units::BitSize(77));
                        let _ = print::location(&location, LaneId(0), &print::NoNames);
                    }
                }
                let _ = Evaluator::new(&context).for_call_frames().value(&program, focus, &[]);
                let scratch = clang_xderef::Scratch::Buffer;
                for (clang, size) in [(true, None), (false, Some(crate::units::BitSize(32)))] {
                    let reading = clang_xderef::Reading { clang, scratch };
                    let _ = clang_xderef::recognise(&context, &program, reading, size, focus);
                }
            }
            let _ = lane_pcs(&context, &program, None);
            let _ = active_lanes(&context, &program, Some(LaneId(3)));
            let _ = print::program(&program, &print::NoNames);
        }
    }
}

/// Without this, a generator of failing operations would satisfy the property.
#[test]
fn what_is_generated_gets_somewhere() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let context = Fake::with(program("30"), program("51"), program("53"));
    let (mut overlays, mut maps, mut composites) = (0, 0, 0);
    for _ in 0..2000 {
        let program = fitting_expression().new_tree(&mut runner).unwrap().current();
        let groups = Evaluator::new(&context).stack(&program, Focus::Lanes(LaneSet(u64::MAX)), &[]);
        if groups.iter().all(|group| group.result.is_err()) {
            continue;
        }
        let has = |name: &str| program.operations().iter().any(|placed| placed.name == name);
        overlays += u32::from(has("DW_OP_overlay") || has("DW_OP_bit_overlay"));
        maps += u32::from(has("DW_OP_object_map"));
        composites += u32::from(has("DW_OP_composite"));
    }
    assert!(overlays > 20 && maps > 20 && composites > 20, "{overlays} {maps} {composites}");
}

#[test]
fn lanes_that_branch_apart_end_apart() {
    // Odd lanes take the branch.
    let context = Fake::default();
    let program = program("e9 03 31 1a 28 05 00 90 00 2f 02 00 90 01");
    let groups = Evaluator::new(&context).location(&program, Focus::Lanes(LaneSet(0xff)), &[]);
    let sets: Vec<LaneSet> = groups.iter().map(|group| group.lanes).collect();
    assert_eq!(groups.len(), 2);
    assert!(sets.contains(&LaneSet(0xaa)) && sets.contains(&LaneSet(0x55)), "{sets:?}");
    assert_same(&context, &program, LaneSet(0xff));
}

#[test]
fn a_composite_that_only_some_lanes_moved_within_takes_pieces_for_the_others() {
    // Odd lanes move by a byte within a composite of DW_OP_composite; only the even ones add a piece.
    let context = Fake::default();
    for pieces in ["93 01", "51 93 01", "93 00 ea"] {
        let program = program_in(&format!("ee 50 93 04 e2 31 1a e3 {pieces}"), Dialect::Draft);
        assert_same(&context, &program, LaneSet(0xff));
    }
}

#[test]
fn what_does_not_depend_on_the_lane_is_kept_once() {
    let context = Fake::default();
    let groups = Evaluator::new(&context).location(&program("70 08"), Focus::Lanes(LaneSet(u64::MAX)), &[]);
    let location = groups[0].result.as_ref().unwrap();
    assert!(matches!(location.offset.bytes, Lanes::Uniform(8)));
}

#[test]
fn a_lane_without_its_register_fails_alone() {
    // Register 20 is not captured for lane 20.
    let context = Fake::default();
    let program = program("64 e9 03 34 1e e9 04 94 04");
    let groups = Evaluator::new(&context).value(&program, Focus::Lanes(LaneSet(u64::MAX)), &[]);
    let failed: Vec<_> =
        groups.iter().filter(|group| group.result.is_err()).map(|group| group.lanes).collect();
    assert_eq!(failed, [LaneSet::one(LaneId(20))]);
    assert_eq!(groups.len(), 2);
}

#[test]
fn no_lanes_have_no_results() {
    let context = Fake::default();
    assert!(Evaluator::new(&context).value(&program("30"), Focus::Lanes(LaneSet::EMPTY), &[]).is_empty());
    assert_eq!(bytes("0a"), [10]);
}

#[test]
fn a_displacement_that_differs_in_its_high_bits_alone() {
    // 16 bytes: 0, then the lane, as one number. Lane 0 stays; the others leave the register.
    let context = Fake::default();
    let program = program("64 30 9f 93 08 e9 03 9f 93 08 e9 0a a6 10 04 e9 04");
    let groups = Evaluator::new(&context).location(&program, Focus::Lanes(LaneSet(0xff)), &[]);
    let well: Vec<_> = groups.iter().filter(|group| group.result.is_ok()).map(|group| group.lanes).collect();
    assert_eq!(well, [LaneSet(1)]);
    assert_same(&context, &program, LaneSet(0xff));
}
