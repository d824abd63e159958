//! The text of `--explain`.

use super::super::explain::{self, Explainer};
use super::super::print::NoNames;
use super::super::*;
use super::fake::Fake;
use super::program;
use crate::units::LaneId;

fn explained(context: &Fake, hex: &str) -> (Vec<String>, Result<Location, Error>) {
    let mut explainer = Explainer::new(&NoNames);
    let result = Evaluator::new(context).traced(&mut explainer).location_for(&program(hex), Some(LaneId(0)));
    (explainer.lines(), result)
}

#[test]
fn every_operation_with_the_stack_before_and_after_it() {
    let context = Fake::with(program("22"), program("30"), program("30"));
    let (lines, _) = explained(&context, "31 98 01 00");
    // The procedure finds too few stack entries, and is listed under its call.
    assert_eq!(
        lines,
        [
            "   0 DW_OP_lit1: pushes a constant",
            "       before: empty",
            "       after:  value 0x1",
            "   1 DW_OP_call2",
            "       before: value 0x1",
            "      the procedure called:",
            "       0 DW_OP_plus",
            "           before: value 0x1",
            "           after:  fails: the stack has 1 of the 2 entries needed",
            "       after:  fails in the procedure called",
        ]
    );
    let (lines, _) = explained(&context, "31 32 98 01 00");
    assert_eq!(
        lines[6..],
        [
            "   2 DW_OP_call2 0x1: runs the location of that entry",
            "       before: value 0x1 | value 0x2",
            "      the procedure called:",
            "       0 DW_OP_plus: adds",
            "           before: value 0x1 | value 0x2",
            "           after:  value 0x3",
            "       after:  value 0x3",
        ]
    );
}

#[test]
fn a_loop_is_explained_as_it_ran() {
    // lit1; lit1; minus; dup; bra -5: the loop runs twice.
    let (lines, _) = explained(&Fake::default(), "32 31 1c 12 28 fa ff");
    let heads: Vec<&str> =
        lines.iter().filter(|line| line.contains("DW_OP")).map(|line| &line[..4]).collect();
    assert_eq!(heads, ["   0", "   1", "   2", "   3", "   4", "   1", "   2", "   3", "   4"]);
}

fn why(context: &Fake, hex: &str) -> Vec<String> {
    let undefined = explain::undefined(&explained(context, hex).1.unwrap(), LaneId(0));
    undefined.iter().map(ToString::to_string).collect()
}

#[test]
fn undefined_locations_have_the_pc_of_their_end() {
    let context = Fake::with(program("e9 08"), program("93 04"), program("30"));
    assert_eq!(
        why(&context, "30 e9 08"),
        ["optimized out since DW_OP_LLVM_undefined at 1: the compiler keeps the value nowhere"]
    );
    assert_eq!(
        why(&context, ""),
        ["optimized out since result at 0: the expression leaves nothing on the stack"]
    );
    assert_eq!(
        why(&context, "50 93 04 93 02 51 93 04 e9 08 93 01"),
        [
            "bits 32 to 47 optimized out since DW_OP_piece at 3: no location stands before the piece",
            "bits 80 to 87 optimized out since DW_OP_LLVM_undefined at 8: the compiler keeps the value nowhere",
        ]
    );
    // A called expression, and its caller.
    assert_eq!(
        why(&context, "98 02 00"),
        ["all of it: bits 0 to 31 optimized out since DW_OP_piece at 0 in the location called: \
          no location stands before the piece"]
    );
    assert_eq!(
        why(&context, "98 04 00"),
        ["optimized out since DW_OP_call2 at 0: the entry has no DW_AT_location"]
    );
    assert_eq!(why(&context, "50"), Vec::<String>::new());
    assert_eq!(why(&context, "50 93 04"), Vec::<String>::new());
}

#[test]
fn the_offset_of_a_composite_counts() {
    // Past the defined part and a byte of the undefined one.
    assert_eq!(
        why(&Fake::default(), "50 93 04 93 04 e9 0a 35 e9 04"),
        ["all of it: bits 0 to 23 optimized out since DW_OP_piece at 3: no location stands before the piece"]
    );
}

#[test]
fn reading_what_is_undefined_names_who_made_it_so() {
    let error = explained(&Fake::default(), "50 93 02 93 02 e9 0a 94 04").1.unwrap_err();
    assert_eq!(
        error.to_string(),
        "DW_OP_deref_size at 7: reads bits that are undefined \
         (DW_OP_piece at 3: no location stands before the piece)"
    );
    assert_eq!(error.class(), Class::IllFormed);
}

#[test]
fn errors_are_reported_from_the_outside_in() {
    let context = Fake::with(program("30"), program("98 03 00 34 e9 04 58 94 04"), program("30"));
    let error = explained(&context, "31 98 02 00").1.unwrap_err();
    assert_eq!(
        explain::error(&error, &NoNames),
        [
            "sound, but not answered by the capture: DW_OP_call2 at 1",
            "  in the location called: DW_OP_deref_size at 7: register 8 was not captured",
        ]
    );
}

#[test]
fn nested_calls_are_explained_once() {
    // A procedure that calls itself.
    let context = Fake::with(program("98 01 00"), program("30"), program("30"));
    let error = explained(&context, "98 01 00").1.unwrap_err();
    let deepest = format!("{} expressions inside one another", limits::MAX_CALL_DEPTH);
    for words in [error.to_string(), explain::error(&error, &NoNames).join("\n")] {
        assert_eq!(words.matches("the procedure called").count(), 1, "{words}");
        assert!(words.ends_with(&deepest) && words.contains("25 inside one another"), "{words}");
    }
}

#[test]
fn a_long_evaluation_is_explained_at_both_ends() {
    use super::super::limits::{MAX_EXPLAINED_FIRST, MAX_EXPLAINED_LAST, MAX_STEPS};

    let context = Fake::default();
    let mut explainer = Explainer::new(&NoNames);
    let looped = program("30 96 2f fc ff");
    let mut runs = 0;
    loop {
        runs += 1;
        let _ = Evaluator::new(&context).traced(&mut explainer).value_for(&looped, Some(LaneId(0)));
        if !explainer.again() {
            break;
        }
    }
    assert_eq!(runs, 2);
    let lines = explainer.lines();
    // The operation beyond the limit is listed as a failure.
    let left_out = MAX_STEPS as usize + 1 - MAX_EXPLAINED_FIRST - MAX_EXPLAINED_LAST;
    let place = lines.iter().position(|line| *line == format!("     ... {left_out} operations are left out"));
    assert_eq!(place, Some(3 * MAX_EXPLAINED_FIRST));
    assert_eq!(lines.len(), 3 * (MAX_EXPLAINED_FIRST + MAX_EXPLAINED_LAST) + 1);
    assert!(lines[lines.len() - 1].contains("fails: more than"), "{lines:?}");
}

#[test]
fn what_is_long_on_the_stack_is_abridged() {
    use super::super::limits::{MAX_ENTRIES_SHOWN, MAX_PARTS, MAX_PARTS_SHOWN};

    let context = Fake::default();
    let (lines, _) = explained(&context, "50 e9 0b 08 80 10");
    let more = MAX_PARTS - MAX_PARTS_SHOWN;
    let shown = format!("       after:  location [register 0 8 bits] x {MAX_PARTS_SHOWN} [and {more} more]");
    assert_eq!(lines[5], shown);
    let (lines, _) = explained(&context, &"30 ".repeat(MAX_ENTRIES_SHOWN + 3));
    let last = lines.last().unwrap();
    assert!(last.starts_with("       after:  (3 more below) | value 0x0 | "), "{last}");
    assert_eq!(last.matches("value").count(), MAX_ENTRIES_SHOWN);
}
