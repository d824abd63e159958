//! Nested DIEs, deeper than in any compiler's output, and nested inlined calls.

use super::dwarf::{
    ARRAY, BLOCK, COUNT, Dies, HIGH, INLINE, INLINED, LOW, NAME, NAMESPACE, ORIGIN, POINTER, SIZE, STRUCTURE,
    SUBPROGRAM, SUBRANGE, TEMPLATE_TYPE, TYPE, place,
};
use super::run::Hostile;
use super::serve::a_client_lives;
use super::{FRAME, SOME};
use crate::support::sample::{is_long, sampled};

const TOO_DEEP: &str = "lies deeper than 512 levels";

/// Each level of a recursion would take a hundred bytes or more of a stack of 8 MiB.
const DEPTH: usize = 100_000;

/// Nested blocks in `f`, each with a variable if `has_variables`, and one in the innermost.
fn blocks(depth: usize, has_variables: bool) -> Vec<u8> {
    let mut dies = Dies::new();
    dies.declare(5, BLOCK, true, &[]);
    let int = dies.int();
    dies.function();
    dies.variable("v", int);
    let before = dies.bytes.len();
    dies.die(5, &[]);
    if has_variables {
        dies.variable("inner", int);
    }
    let inner = dies.bytes[before..].repeat(depth - 1);
    dies.dies(&inner);
    dies.variable("innermost", int);
    dies.close(depth + 2);
    dies.object()
}

#[test]
fn nested_blocks() {
    // A search of all levels for each of 6,000 would take more than the most work. The code is plain: other files of all
    // commands have tools.
    for (depth, has_variables) in [(6_000, true), (DEPTH, false)] {
        let object = blocks(depth, has_variables);
        a_client_lives(&object);
        let hostile = Hostile::with_code(&object).without_tools();
        let said = match depth {
            6_000 => hostile.every(),
            _ => hostile.each(&[&SOME[..], &["print DUMP v", "dwarf CODE"]].concat()),
        };
        // Less deep DIEs are read.
        said.prints("info DUMP", TOO_DEEP).prints("code-object", TOO_DEEP);
        said.prints("locals", "7").prints("print", "7").prints("backtrace", FRAME);
        said.prints("view", TOO_DEEP);
    }
    // 500 levels are within the limit.
    let said = Hostile::with_code(&blocks(500, true)).each(&["info DUMP", "locals DUMP"]);
    said.prints("locals", "innermost");
}

#[test]
fn nested_blocks_with_code() {
    let mut dies = Dies::new();
    dies.declare(5, BLOCK, true, &[LOW, HIGH]);
    let int = dies.int();
    dies.function();
    dies.variable("v", int);
    for _ in 0..50_000 {
        dies.die(5, &[&place()]);
        dies.variable("inner", int);
    }
    dies.close(50_002);
    let said = Hostile::with_code(&dies.object()).each(&SOME);
    said.prints("info", TOO_DEEP).prints("view", TOO_DEEP).prints("backtrace", FRAME);
}

/// Nested types, namespaces and functions.
#[test]
fn nested_types_namespaces_and_functions() {
    for tag in sampled([STRUCTURE, NAMESPACE, SUBPROGRAM], 2) {
        let mut dies = Dies::new();
        let has_code = tag == SUBPROGRAM;
        match has_code {
            true => dies.declare(5, tag, true, &[NAME, LOW, HIGH]),
            false => dies.declare(5, tag, true, &[NAME]),
        }
        let int = dies.int();
        dies.function();
        dies.variable("v", int);
        dies.close(1);
        for _ in 0..DEPTH {
            match has_code {
                true => dies.die(5, &[b"g\0", &place()]),
                false => dies.die(5, &[b"n\0"]),
            };
        }
        dies.variable("inner", int);
        dies.close(DEPTH + 1);
        let commands = ["info DUMP", "print DUMP v", "view DUMP -o OUT", "code-object CODE", "dwarf CODE"];
        let said = Hostile::with_code(&dies.object()).each(&commands);
        said.prints("info", TOO_DEEP).prints("code-object", TOO_DEEP);
    }
}

/// Nested inlined calls: of the function around them, or of one abstract instance with a variable.
#[test]
fn nested_inlined_calls() {
    for (depth, of_itself) in sampled([(20_000, false), (20_000, true), (DEPTH, true)], 2) {
        let mut dies = Dies::new();
        dies.declare(5, INLINED, true, &[ORIGIN, LOW, HIGH]);
        dies.declare(6, SUBPROGRAM, true, &[NAME, INLINE]);
        let int = dies.int();
        let abstract_one = dies.die(6, &[b"g\0", &[1]]);
        dies.variable("left_out", int);
        dies.close(1);
        let function = dies.function();
        dies.variable("v", int);
        let origin = if of_itself { function } else { abstract_one };
        for _ in 0..depth {
            dies.die(5, &[&origin.to_le_bytes(), &place()]);
        }
        dies.close(depth + 2);
        let object = dies.object();
        a_client_lives(&object);
        let said = Hostile::with_code(&object).each(&SOME);
        said.prints("info", TOO_DEEP).prints("backtrace", if of_itself { FRAME } else { "#0  g " });
    }
}

/// Nested blocks in an abstract instance, each with a variable, and one call of it.
#[test]
fn nested_blocks_of_an_abstract_function() {
    for depth in [10_000, 270_000] {
        let mut dies = Dies::new();
        dies.declare(5, BLOCK, true, &[]);
        dies.declare(6, SUBPROGRAM, true, &[NAME, INLINE]);
        dies.declare(7, INLINED, false, &[ORIGIN, LOW, HIGH]);
        let int = dies.int();
        let abstract_one = dies.die(6, &[b"g\0", &[1]]);
        dies.variable("outermost", int);
        for _ in 0..depth {
            dies.die(5, &[]);
        }
        dies.variable("innermost", int);
        dies.close(depth + 1);
        dies.function();
        dies.variable("v", int);
        dies.die(7, &[&abstract_one.to_le_bytes(), &place()]);
        dies.close(2);
        let object = dies.object();
        a_client_lives(&object);
        let is_deep = depth > 10_000;
        let has_some = !is_deep || is_long();
        let commands: &[&str] = if has_some { &SOME } else { &["backtrace DUMP", "locals DUMP"] };
        let said = Hostile::with_code(&object).each(commands);
        said.prints("backtrace", "#0  g ");
        match is_deep {
            true => said.prints("locals", "more than 262144 DIEs"),
            false => said.prints("locals DUMP", "outermost").prints("locals DUMP", TOO_DEEP),
        };
        if has_some {
            said.prints("info DUMP", TOO_DEEP).prints("code-object", TOO_DEEP).prints("view", TOO_DEEP);
        }
    }
}

/// Adjacent calls of a function of many variables, all omitted in the calls: each has all of them.
#[test]
fn inlined_calls_of_a_large_function() {
    let mut dies = Dies::new();
    dies.declare(5, INLINED, false, &[ORIGIN, LOW, HIGH]);
    dies.declare(6, SUBPROGRAM, true, &[NAME, INLINE]);
    let int = dies.int();
    let large = dies.die(6, &[b"g\0", &[1]]);
    for _ in 0..20_000 {
        dies.variable("x", int);
    }
    dies.close(1);
    dies.function();
    dies.variable("v", int);
    for _ in 0..2_000 {
        dies.die(5, &[&large.to_le_bytes(), &place()]);
    }
    dies.close(2);
    let said = Hostile::with_code(&dies.object()).each(&SOME);
    said.prints("info", "variables that were optimised away").prints("code-object", "more than 262144 DIEs");
}

/// Types whose names need other types' names: templates over pointers to pointers to templates, and so on.
#[test]
fn types_that_lead_to_types() {
    let mut dies = Dies::new();
    dies.declare(5, STRUCTURE, true, &[NAME, SIZE]);
    dies.declare(6, TEMPLATE_TYPE, false, &[TYPE]);
    dies.declare(7, POINTER, false, &[TYPE]);
    let mut last = dies.int();
    for _ in 0..200 {
        for _ in 0..60 {
            last = dies.die(7, &[&last.to_le_bytes()]);
        }
        let template = dies.die(5, &[b"T\0", &[4]]);
        dies.die(6, &[&last.to_le_bytes()]);
        dies.die(6, &[&last.to_le_bytes()]);
        dies.close(1);
        last = template;
    }
    dies.function();
    dies.variable("v", last);
    dies.close(2);
    let object = dies.object();
    a_client_lives(&object);
    let said = Hostile::with_code(&object).each(&["locals DUMP", "print DUMP v", "view DUMP -o OUT"]);
    said.prints("locals", "v").prints("print", "T");
}

/// A class with many nested types, each with the class in its name.
#[test]
fn types_of_a_large_class() {
    let mut dies = Dies::new();
    dies.declare(5, STRUCTURE, true, &[NAME, SIZE]);
    dies.declare(6, STRUCTURE, false, &[NAME, SIZE]);
    let int = dies.int();
    dies.die(5, &[b"Large\0", &[4]]);
    for _ in 0..50_000 {
        dies.die(6, &[b"T\0", &[4]]);
    }
    dies.close(1);
    dies.function();
    dies.variable("v", int);
    dies.close(2);
    Hostile::with_code(&dies.object()).each(&SOME).prints("locals", "7");
}

/// Arrays of many dimensions, with values nested as deep.
#[test]
fn dimensions_of_arrays() {
    for count in [60, 100_000] {
        let mut dies = Dies::new();
        dies.declare(5, ARRAY, true, &[TYPE]);
        dies.declare(6, SUBRANGE, false, &[COUNT]);
        let int = dies.int();
        let array = dies.die(5, &[&int.to_le_bytes()]);
        for _ in 0..count {
            dies.die(6, &[&[1]]);
        }
        dies.close(1);
        dies.function();
        dies.variable("v", array);
        dies.variable("w", int);
        dies.close(2);
        let object = dies.object();
        a_client_lives(&object);
        let expected = if count > 64 { "do not end after 64 steps" } else { "{{{" };
        let said = Hostile::with_code(&object).each(&["locals DUMP", "print DUMP v", "view DUMP -o OUT"]);
        said.prints("locals DUMP", expected).prints("locals DUMP", "w = 7").prints("print", expected);
    }
}
