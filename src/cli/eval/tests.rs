//! Runs every case file of the repository: its expectations come from the specifications, not from this code.

use std::collections::BTreeSet;
use std::path::Path;

use super::{EvalError, Manner, Outcome, outcomes, outcomes_of};
use crate::arch::Targets;
use crate::dwarf::{Cause, ContextError, Error};

/// The outcomes of every case, with the name of its file.
fn all() -> Vec<(String, Outcome)> {
    let targets = Targets::builtin();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let manner = Manner { explain: true, dialect: None };
        let outcomes = outcomes(&path, &targets, manner).unwrap_or_else(|error| panic!("{error}"));
        all.extend(outcomes.into_iter().map(|outcome| (name.clone(), outcome)));
    }
    all
}

#[test]
fn every_case_file_gives_what_it_expects() {
    let outcomes = all();
    let problem = |(file, outcome): &(String, Outcome)| {
        let difference = outcome.difference.as_ref()?;
        Some(format!("{file}: {}: {difference}", outcome.name))
    };
    let problems: Vec<String> = outcomes.iter().filter_map(problem).collect();
    assert!(outcomes.len() > 1000, "only {} cases were found", outcomes.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The variants of an enumeration in the evaluator's source; their derived `Debug` begins with these names.
fn variants(of: &str) -> BTreeSet<String> {
    let source = include_str!("../../../evaluator/src/error.rs");
    let (_, rest) = source.split_once(&format!("pub enum {of} {{\n")).unwrap();
    let (body, _) = rest.split_once("\n}\n").unwrap();
    let names = body.lines().filter_map(|line| line.strip_prefix("    ")).map(name);
    names.filter(|name| name.starts_with(char::is_uppercase)).collect()
}

/// The identifier that a text begins with.
fn name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}

/// The limits that the bytes of a case can exceed; the evaluator's tests cover all limits.
const LIMITS: &[&str] = &[
    "steps",
    "stack entries",
    "expressions inside one another",
    "expressions within expressions",
    "units of work",
    "parts of a composite",
    "parts in one evaluation",
    "bits of a composite",
    "bits of a value",
    "remembered rows",
    "rules inside one another",
];

/// The names of an error's causes, with those of nested expressions.
fn causes(error: &Error, into: &mut BTreeSet<String>) {
    into.insert(name(&format!("{:?}", error.cause)));
    match &error.cause {
        Cause::Limit { what, .. } => drop(into.insert((*what).to_owned())),
        Cause::Inside { error, .. } => causes(error, into),
        Cause::Context(missing) => {
            into.insert(name(&format!("{missing:?}")));
            if let ContextError::Failed(error) = missing {
                causes(error, into);
            }
        }
        _ => {}
    }
}

#[test]
fn every_way_to_fail_is_reached_by_a_case_that_expects_it() {
    let mut reached = BTreeSet::new();
    // tests/suite/operations.rs checks that every case has an expectation.
    for (_, outcome) in all() {
        if let (Some(error), None) = (&outcome.error, &outcome.difference) {
            causes(error, &mut reached);
        }
    }
    let mut all = variants("Cause");
    assert!(all.len() > 40 && all.contains("NoCallFrame"), "{all:?}");
    all.extend(variants("ContextError"));
    all.extend(LIMITS.iter().map(|name| (*name).to_owned()));
    let unreached: Vec<_> = all.difference(&reached).collect();
    assert!(unreached.is_empty(), "no case in tests/eval reaches {unreached:?}");
}

/// The outcomes of a file with this text in its state and a case.
fn of(state: &str, case: &str) -> Result<Vec<Outcome>, EvalError> {
    let text = format!("[state]\ntarget = \"gfx90a\"\nwave_size = 64\nlane = 3\n{state}\n{case}");
    outcomes_of(&text, Path::new("case.toml"), &Targets::builtin(), Manner::default())
}

const ANY: &str = "[[case]]\nname = \"any\"\nbytes = \"30\"\nwant = \"value\"\n";

#[test]
fn a_file_of_another_format_is_rejected_with_a_reason() {
    let state = [
        // Bytes with invalid hexadecimal digits, although no operation reads them.
        ("frame_base = \"9g\"", "frame_base"),
        ("lanes = \"123\"", "lanes"),
        ("[[state.procedure]]\noffset = 1\nlocation = \"zz\"", "location"),
        (
            "[[state.procedure]]\noffset = 1\nloclist = [{ low = 0, high = 1, location = \"3\" }]",
            "odd number",
        ),
        ("[[state.procedure]]\noffset = 1\nconst_value = \"3\"", "const_value"),
        ("[[state.memory]]\nspace = 0\naddress = 0\nbytes = \"0\"", "bytes"),
        // Entries outside the format.
        ("[[state.procedure]]\noffset = 1\ntag = \"formal_parameter\"", "dwarf_procedure"),
        ("[[state.procedure]]\noffset = 1\nlocation = \"\"\nconst_value = \"\"", "at most one"),
        ("[[state.procedure]]\noffset = 1\n[[state.procedure]]\noffset = 1", "another DIE"),
        (
            "[[state.procedure]]\noffset = 1\n[[state.base_type]]\noffset = 1\nencoding = 7\nbyte_size = 4",
            "another DIE",
        ),
        // Memory and its lanes.
        ("[[state.memory]]\nspace = 6\naddress = 0\nlane = 3\nbytes = \"00\"", "only with space = 5"),
        ("[[state.memory]]\nspace = 5\naddress = 0\nbytes = \"00\"", "expected lane = N"),
        ("[[state.memory]]\nspace = 5\naddress = 0\nlane = 64\nbytes = \"00\"", "lane 64"),
        (
            "scratch_bytes = 0x1000\n[[state.memory]]\nspace = 5\nlane = 3\naddress = 0x40\nbytes = \"00\"",
            // 0x40 bytes of a lane are 16 dwords, each after those of 64 lanes: 0x1000, and 3 dwords.
            "byte 0x100c of the wave (lane 3 of 64, swizzled) is beyond scratch_bytes = 0x1000",
        ),
        // Registers of another shape.
        ("[state.registers]\n65 = 0x1ffffffff", "registers.65: 0x1ffffffff has more than 32 bits"),
        ("[state.entry_registers]\n65 = [1, 2]", "entry_registers.65: it is no vector register"),
        ("[state.registers]\n2560 = 5", "registers.2560: it is a vector register"),
        ("[state.registers]\n2560 = [-1]", "lane 0"),
        ("[state.registers]\n2560 = [1, 0x100000000]", "lane 1"),
        ("[state.registers]\n3 = { bits = 8, value = 257 }", "more than 8 bits"),
        ("[state.registers]\n3 = { bits = 8, bytes = \"0011\" }", "at most 8 bits"),
        ("[state.registers]\n3 = { bits = 12, bytes = \"0010\" }", "at most 12 bits"),
        ("[state.registers]\n3 = { bits = 12 }", "either value or bytes"),
        // Integers.
        ("pc = { bits = 65, bytes = \"00\" }", "2^63"),
        ("debug_addr = [\"00\"]", "an integer"),
    ];
    for (text, words) in state {
        let error = of(text, ANY).map(|_| text).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    let case = |lines: &str| format!("[[case]]\nname = \"a\"\n{lines}\n");
    let cases = [
        (format!("{ANY}{ANY}"), "another case has that name"),
        (case("bytes = \"30\"\nwant = \"cfa\""), "expected cie or fde"),
        (case("want = \"cfa\""), "expected cie or fde"),
        (case("fde = \"00\"\nwant = \"value\""), "expected bytes"),
        (case("fde = \"0\"\nwant = \"cfa\""), "fde"),
        (case("bytes = \"30\"\nwant = \"stack\"\ninitial_stack = [\"30\"]"), "a place"),
    ];
    for (text, words) in cases {
        let error = of("", &text).map(|_| words).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn every_integer_may_be_written_by_its_bytes() {
    let wide = "{ bits = 64, bytes = \"efcdab89674523f1\" }";
    let number = "0xf123456789abcdef";
    let places = format!("{{ address = {wide} }}");
    let state = format!(
        "pc = {wide}\ndebug_addr = [{wide}]\ncfa = {places}\nobject = {places}\nlanes = {wide}\n\
         apertures = {{ local = {wide} }}\n[[state.memory]]\naddress = {wide}\nbytes = \"2a\"\n\
         [[state.procedure]]\noffset = 8\nloclist = [{{ low = {wide}, high = {{ bits = 64, bytes = \"ffffffffffffffff\" }}, location = \"37\" }}]\n"
    );
    let cases = [
        ("90 10 94 08", "value", "", format!("\"value\":\"{number}\"")),
        ("a2 00", "value", "", format!("\"value\":\"{number}\"")),
        ("9c", "location", "", format!("\"address\":\"{number}\"")),
        ("97", "location", "", format!("\"address\":\"{number}\"")),
        ("e9 03", "value", "", "\"value\":\"0x3\"".to_owned()),
        ("9c 94 01", "value", "", "\"value\":\"0x2a\"".to_owned()),
        ("98 08 00", "location", "", "\"address\":\"0x7\"".to_owned()),
        ("", "stack", &*format!("initial_stack = [{wide}]"), format!("\"value\":\"{number}\"")),
    ];
    for (bytes, want, more, expected) in cases {
        let case = format!("[[case]]\nname = \"a\"\nbytes = \"{bytes}\"\nwant = \"{want}\"\n{more}\n");
        let found = serde_json::to_string(&of(&state, &case).unwrap().remove(0).result).unwrap();
        assert!(found.contains(&expected), "{bytes}: {found}");
    }
}
