//! Memory kept between questions: functions, source positions and names, of all code objects and dumps together.

use super::FRAME;
use super::dwarf::{
    BLOCK, Dies, HIGH, INLINE, INLINED, LINKAGE_NAME, LOCATION, LOW, MEMBER, NAME, ORIGIN, SIZE, STRUCTURE,
    SUBPROGRAM, TYPE, VARIABLE, place,
};
use super::elf::{Section, TEXT, code_object};
use super::run::Hostile;
use crate::support::sample::{is_long, sampled};

/// Waves, each at a different instruction.
const WAVES: u64 = 900;

/// Functions of four bytes each, where waves stop, with `calls` adjacent inlined calls of itself in each. A call
/// inherits the variable of the function, and both count.
fn functions(count: u64, calls: usize) -> Vec<u8> {
    let mut dies = Dies::new();
    dies.declare(5, INLINED, false, &[ORIGIN, LOW, HIGH]);
    let int = dies.int();
    for at in 0..count {
        let start = (TEXT + 0x10 + 4 * at).to_le_bytes();
        let size = 4u32.to_le_bytes();
        let function = dies.die(2, &[b"f\0", &start, &size]).to_le_bytes();
        dies.variable("v", int);
        dies.dies(&[&[5][..], &function, &start, &size].concat().repeat(calls));
        dies.close(1);
    }
    dies.close(1);
    dies.object()
}

/// More inlined calls than memory keeps, 524,287: in the functions of many positions, and in one.
#[test]
fn inlined_calls_of_many_places() {
    let hostile = Hostile::with_waves(&functions(WAVES, 300), WAVES).without_tools();
    let said = hostile.each(&["backtrace DUMP", "groups --lanes DUMP", "locals DUMP", "diff DUMP DUMP"]);
    said.prints("locals", "v = 7").prints("backtrace", FRAME).prints("diff", "No differences");
    // The stacks of both dumps, and their variables, where the functions did not stay in memory.
    let (stacks, diff) = (said.work("groups --lanes", "dies"), said.work("diff", "dies"));
    assert!(diff <= 4 * stacks, "{diff} DIEs for a comparison, {stacks} for all stacks");
    // One function keeps a limited number. They inherit nothing: their function has too many DIEs for that.
    let hostile = Hostile::with_waves(&functions(1, 540_000), 1).without_tools();
    let said = hostile.each(&["backtrace DUMP", "locals DUMP"]);
    said.prints("locals", "a function has more than 524287 scopes and variables").prints("backtrace", FRAME);
    if is_long() {
        hostile.each(&["export DUMP"]);
    }
}

/// Functions of these offsets and sizes, where waves stop, with `blocks` blocks elsewhere in each. A block counts as
/// `parts` scopes and variables: all but itself are inherited, and need no DIE.
fn functions_of_blocks(places: impl IntoIterator<Item = (u64, u32)>, blocks: usize, parts: usize) -> Vec<u8> {
    let mut dies = Dies::new();
    dies.declare(5, BLOCK, false, &[ORIGIN, LOW, HIGH]);
    dies.declare(6, SUBPROGRAM, true, &[NAME, INLINE]);
    let int = dies.int();
    let origin = dies.die(6, &[b"g\0", &[1]]).to_le_bytes();
    for _ in 1..parts {
        dies.variable("x", int);
    }
    dies.close(1);
    let far = [&0x100_0000u64.to_le_bytes()[..], &4u32.to_le_bytes()].concat();
    let inner = [&[5][..], &origin, &far].concat().repeat(blocks);
    for (at, bytes) in places {
        let start = (TEXT + 0x10 + at).to_le_bytes();
        dies.die(2, &[b"f\0", &start, &bytes.to_le_bytes()]);
        dies.variable("v", int);
        dies.dies(&inner);
        dies.close(1);
    }
    dies.close(1);
    dies.object()
}

/// Waves that stop in large functions in turn: questions about stacks do not read a function again per wave. The
/// functions together have more scopes and variables than the cache holds, 524,288.
#[test]
fn large_functions_that_waves_stop_in_by_turns() {
    for (count, blocks) in sampled([(2, 16_500), (5, 8_700)], 2) {
        let object = functions_of_blocks((0..count).map(|at| (4 * at, 4)), blocks, 16);
        let hostile = Hostile::with_waves_at(&object, 200, count);
        let said = hostile.each(&["backtrace DUMP", "groups --lanes DUMP", "locals DUMP"]);
        said.prints("backtrace", FRAME).prints("groups", FRAME);
        // Eight times what the cache holds may be read again.
        let (one, all) = (said.work("backtrace", "dies"), said.work("groups", "dies"));
        assert!(all <= 8 * one, "{all} DIEs for all stacks, {one} for one");
    }
}

/// Waves at different instructions, alternating between two functions that exceed the cache together. One read of a
/// function answers all PCs of waves in it; for variables, the reads of a question are limited.
#[test]
fn large_functions_at_distinct_pcs() {
    let pcs = (0..200).map(|wave| 0x10 + 0x400 * (wave % 2) + 4 * (wave / 2));
    let object = functions_of_blocks([(0, 0x400), (0x400, 0x400)], 16_500, 16);
    let hostile = Hostile::with_pcs(&object, pcs).without_tools();
    let said = hostile.each(&[
        "backtrace DUMP",
        "groups DUMP",
        "locals DUMP",
        "diff DUMP DUMP",
        "slim --all-waves DUMP -o OUT",
    ]);
    // One group: no stack lacks its function.
    said.prints("backtrace", FRAME).prints("groups", "200 waves").prints("locals", "v = 7");
    said.prints("diff", "their functions do not fit memory together").lacks("No differences");
    said.prints("slim", "large functions");
}

/// Calls inlined into one another where each of many waves stops, each with a variable: the work on a frame does not depend on the
/// other frames of its function. One lane in eight is active.
#[test]
fn frames_of_inlined_calls_of_many_waves() {
    let mut dies = Dies::new();
    dies.declare(5, INLINED, true, &[ORIGIN, LOW, HIGH]);
    let int = dies.int();
    let function = dies.function().to_le_bytes();
    dies.variable("v", int);
    for _ in 0..490 {
        dies.die(5, &[&function, &place()]);
        dies.variable("v", int);
    }
    dies.close(492);
    let object = dies.object();
    // 491 variables in 64 lanes are 31,424 values of a wave: 46 waves reach the bound.
    let hostile = Hostile::with_waves(&object, 52).without_tools();
    let said = hostile.each(&["locals DUMP", "groups --lanes DUMP", "diff --json DUMP DUMP"]);
    said.prints("locals", "v = 7").prints("groups", FRAME).prints("diff --json", "\"left_out\"");
    // Short names: `names_of_inlined_calls_of_many_waves` has the long ones.
    if is_long() {
        hostile.each(&["lanes DUMP", "diff DUMP DUMP"]).prints("diff", "Left out: ");
        let hostile = Hostile::with_waves(&object, 900).without_tools();
        hostile.each(&["export DUMP"]).prints("export", "\"frames_left_out\":");
    }
}

/// Functions of these names, four bytes each, with so many calls of one function of a name inlined into one another. Two waves stop
/// in each.
fn deep_functions(names: &[String], inner: &str, calls: usize) -> Hostile {
    let mut dies = Dies::new();
    dies.declare(5, INLINED, true, &[ORIGIN, LOW, HIGH]);
    let far = [&0x100_0000u64.to_le_bytes()[..], &4u32.to_le_bytes()].concat();
    let inner = dies.die(2, &[inner.as_bytes(), &[0], &far]).to_le_bytes();
    dies.close(1);
    for (at, name) in (0..).zip(names) {
        let start = (TEXT + 0x10 + 4 * at).to_le_bytes();
        let size = 4u32.to_le_bytes();
        dies.die(2, &[name.as_bytes(), &[0], &start, &size]);
        dies.dies(&[&[5][..], &inner, &start, &size].concat().repeat(calls));
        dies.close(calls + 1);
    }
    dies.close(1);
    let count = names.len() as u64;
    Hostile::with_waves_at(&dies.object(), 2 * count, count).without_tools()
}

/// Waves whose stacks differ in their outermost functions only, beyond the frames that the answer holds: each function has a group
/// of its two waves.
#[test]
fn stacks_that_differ_where_they_are_cut() {
    const JSON: &str = "groups --json --by function DUMP";
    let names: Vec<String> = (0..450).map(|index| format!("f{index}")).collect();
    let said = deep_functions(&names, "inner", 500).each(&[JSON]);
    said.prints(JSON, "outer frames left out: 493").counts(JSON, "\"faulted\"", 450);
    // Waves and their cause.
    said.counts(JSON, "\"count\": 2,", 450);
}

/// Waves in functions whose long names differ in their last bytes only, where the answer cuts the names.
#[test]
fn stacks_whose_names_differ_where_they_are_cut() {
    const JSON: &str = "groups --json --by function DUMP";
    let long = "n".repeat(60_000);
    let names: Vec<String> = (0..150).map(|index| format!("{long}{index:03}")).collect();
    let said = deep_functions(&names, &long, 20).each(&[JSON]);
    said.prints(JSON, &format!("\"{}...\"", "n".repeat(64))).counts(JSON, "\"faulted\"", 150);
    said.counts(JSON, "\"count\": 2,", 150);
}

/// Waves alternating between overlapping functions that exceed the cache together.
#[test]
fn large_functions_that_overlap() {
    let places = (0..4u32).map(|at| (u64::from(0x20 * at), 0x200 - 0x40 * at));
    let object = functions_of_blocks(places, 16_500, 8);
    let pcs = (0..120).map(|wave| 0x10 + 4 * (wave * 37 % 120));
    let hostile = Hostile::with_pcs(&object, pcs).without_tools();
    let said = hostile.each(&["backtrace DUMP", "waves DUMP", "export DUMP"]);
    said.prints("backtrace", FRAME).prints("export", "\"f\"");
}

/// Nested inlined calls of a function with a long name, where each of many waves stops.
#[test]
fn names_of_inlined_calls_of_many_waves() {
    let mut dies = Dies::new();
    dies.declare(5, INLINED, true, &[ORIGIN, LOW, HIGH]);
    let int = dies.int();
    let name = [vec![b'n'; 60_000], vec![0]].concat();
    let far = [&0x100_0000u64.to_le_bytes()[..], &4u32.to_le_bytes()].concat();
    let long = dies.die(2, &[&name, &far]).to_le_bytes();
    dies.close(1);
    dies.function();
    for _ in 0..500 {
        dies.die(5, &[&long, &place()]);
    }
    dies.variable("v", int);
    dies.close(502);
    // 392 stacks take the memory of an answer: 512 bytes for a frame.
    let hostile = Hostile::with_waves(&dies.object(), 450).without_tools();
    let said = hostile.each(&["backtrace DUMP", "groups --by pc DUMP", "locals DUMP", "export DUMP"]);
    said.prints("groups --by", "outer frames left out").prints("export", "\"frames_left_out\":");
    said.prints("locals", "v = 7").prints("backtrace", "nnn");
}

/// The same calls in twenty code objects.
#[test]
fn inlined_calls_of_many_code_objects() {
    let object = functions(40, 335);
    let hostile = Hostile::with_objects(&object, 20, 40).without_tools();
    let said = hostile.each(&["groups DUMP", "locals DUMP", "slim --all-waves DUMP -o OUT"]);
    said.prints("groups", FRAME).prints("locals", "v = 7");
}

/// Commands with bounds of their own for names.
const NAMES: [&str; 5] =
    ["backtrace DUMP", "locals DUMP", "view --view all DUMP -o OUT", "code-object CODE", "dwarf CODE"];

/// `DW_FORM_strp`.
const STRP: u16 = 0x0e;
const SHARED_NAME: (u16, u16) = (NAME.0, STRP);
const SHARED_LINKAGE_NAME: (u16, u16) = (LINKAGE_NAME.0, STRP);

/// DIEs with `.debug_str`, one name of a megabyte.
fn with_long_name(dies: Dies) -> Vec<u8> {
    let mut sections = dies.sections();
    sections.push(Section::new(".debug_str", [vec![b'n'; 1 << 20], vec![0]].concat()));
    code_object(sections)
}

/// DIEs of every kind whose names share one string of a megabyte: each name begins a byte later.
#[test]
fn names_that_dies_share() {
    let names = |index: u32| (index % 1_000).to_le_bytes();
    // Variables of a function.
    let mut dies = Dies::new();
    dies.declare(5, VARIABLE, false, &[SHARED_NAME, TYPE, LOCATION]);
    let int = dies.int();
    dies.function();
    for index in 0..2_000 {
        dies.die(5, &[&names(index), &int.to_le_bytes(), &[2, 0x37, 0x9f]]);
    }
    dies.variable("last", int);
    dies.close(2);
    let hostile = Hostile::with_code(&with_long_name(dies)).without_tools();
    hostile.each(&NAMES).prints("locals", "last = 7").prints("locals", "nnn");
    hostile.each(&["locals --json DUMP", "slim DUMP -o OUT"]);
    // Types, each of a variable, and their members.
    let mut dies = Dies::new();
    dies.declare(5, STRUCTURE, true, &[SHARED_NAME, SIZE]);
    dies.declare(6, MEMBER, false, &[SHARED_NAME, TYPE, (0x38, 0x0b)]);
    let int = dies.int();
    let mut types = Vec::new();
    for index in 0..2_000 {
        types.push(dies.die(5, &[&names(index), &[4]]));
        dies.die(6, &[&names(index), &int.to_le_bytes(), &[0]]);
        dies.close(1);
    }
    dies.function();
    for of in types {
        dies.die(4, &[b"x\0", &of.to_le_bytes(), &[2, 0x37, 0x9f]]);
    }
    dies.variable("last", int);
    dies.close(2);
    Hostile::with_code(&with_long_name(dies)).without_tools().each(&NAMES).prints("locals", "last = 7");
    // Functions with stopped waves.
    let mut dies = Dies::new();
    dies.declare(5, SUBPROGRAM, true, &[SHARED_NAME, SHARED_LINKAGE_NAME, LOW, HIGH]);
    let int = dies.int();
    for at in 0..WAVES {
        let start = (TEXT + 0x10 + 4 * at).to_le_bytes();
        dies.die(5, &[&names(at as u32), &names(at as u32), &start, &4u32.to_le_bytes()]);
        dies.variable("v", int);
        dies.close(1);
    }
    dies.close(1);
    let said = Hostile::with_waves(&with_long_name(dies), WAVES).without_tools().each(&NAMES);
    said.prints("locals", "v = 7").prints("backtrace", "nnn");
    // Nested inlined calls.
    let mut dies = Dies::new();
    dies.declare(5, INLINED, true, &[SHARED_NAME, LOW, HIGH]);
    let int = dies.int();
    dies.function();
    for index in 0..400 {
        dies.die(5, &[&names(index), &place()]);
    }
    dies.variable("v", int);
    dies.close(402);
    let said = Hostile::with_waves(&with_long_name(dies), 20).without_tools().each(&NAMES);
    said.prints("locals", "v = 7").prints("backtrace", "nnn");
}
