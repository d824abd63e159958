//! Work that many variables, or many waves, request repeatedly: the time is limited for each and for all together.

use super::dwarf::{
    ARRAY, COUNT, Dies, LOCATION, LOCATIONS, MEMBER, NAME, SIZE, STRUCTURE, SUBRANGE, TYPE, VARIABLE, uleb,
};
use super::elf::{Section, TEXT, TEXT_SIZE, code_object};
use super::run::{Hostile, Said};
use super::serve::Server;
use super::tables::with_list;
use super::{FRAME, SOME};
use crate::support::sample::{is_long, sampled};

/// The error of a question with more work than its budget.
const SPENT: &str = "units of work of all evaluations of a question";

/// `DW_OP_skip` to itself.
const LOOP: [u8; 3] = [0x2f, 0xfd, 0xff];

/// A function with many variables of a location between its first and last variable, which are 7.
fn between(count: usize, location: &[u8]) -> Dies {
    let mut dies = Dies::new();
    let int = dies.int();
    dies.function();
    dies.variable("first", int);
    let location = [uleb(location.len() as u64), location.to_vec()].concat();
    for _ in 0..count {
        dies.die(4, &[b"x\0", &int.to_le_bytes(), &location]);
    }
    dies.variable("last", int);
    dies.close(2);
    dies
}

/// Variables with looping expressions: the first ones reach the limit of an evaluation, the others that of the
/// question. Cheap variables have their values.
#[test]
fn variables_whose_expressions_loop() {
    // 273 variables reach the limit of the question, 8,192 that of the values of a frame. The code is plain: other files
    // of all commands have tools.
    for count in [400, 8_600] {
        let hostile = Hostile::with_code(&between(count, &LOOP).object()).without_tools();
        let some: &[&str] = if is_long() { &SOME } else { &["locals DUMP", "view DUMP -o OUT"] };
        let said = if count > 400 { hostile.each(some) } else { hostile.every() };
        said.prints("locals DUMP", "first = 7").prints("locals DUMP", "last = 7");
        said.prints("locals DUMP", "more than 65536 steps").prints("locals DUMP", SPENT);
    }
}

/// Variables whose expressions exceed their share, in diverging lanes: `DW_OP_LLVM_push_lane`, and a branch by it.
#[test]
fn variables_whose_lanes_part_and_loop() {
    let location = [&[0xe9, 0x03, 0x33, 0x1a, 0x28, 0, 0][..], &LOOP].concat();
    let said = Hostile::with_code(&between(6_000, &location).object()).each(&SOME);
    said.prints("locals", "last = 7").prints("locals", SPENT);
}

/// Variables that share a long expression by a location list.
#[test]
fn variables_that_share_a_long_expression() {
    let mut dies = Dies::new();
    dies.declare(5, VARIABLE, false, &[NAME, TYPE, LOCATIONS]);
    let int = dies.int();
    dies.function();
    for _ in 0..1_300 {
        dies.die(5, &[b"x\0", &int.to_le_bytes(), &12u32.to_le_bytes()]);
    }
    dies.variable("last", int);
    dies.close(2);
    // DW_LLE_start_length over all of the code: `DW_OP_nop`s, then `DW_OP_lit7`, `DW_OP_stack_value`.
    let expression = [vec![0x96; 20_000], vec![0x37, 0x9f]].concat();
    let mut list = vec![8];
    list.extend(TEXT.to_le_bytes());
    list.extend(uleb(TEXT_SIZE));
    list.extend(uleb(expression.len() as u64));
    list.extend(expression);
    list.push(0);
    let hostile = Hostile::with_code(&with_list(dies, &list));
    let said = hostile.each(&["locals DUMP", "view DUMP -o OUT", "code-object CODE", "dwarf CODE"]);
    said.prints("locals", "last = 7").prints("locals", SPENT);
    said.prints("dwarf", "DIEs share lists");
}

/// `.debug_frame` of DWARF 5, section 6.4.1: a CIE with this augmentation and instructions, and an FDE of all the code.
fn frames(augmentation: &str, initial: &[u8], instructions: &[u8]) -> Section {
    let entry = |id: u32, rest: Vec<u8>| {
        let rest = [id.to_le_bytes().to_vec(), rest].concat();
        [(rest.len() as u32).to_le_bytes().to_vec(), rest].concat()
    };
    // Version 4, addresses of 8 bytes, no segments, factors 4 and 4, return address in PC_64.
    let cie = [&[4], augmentation.as_bytes(), &[0, 8, 0, 4, 4, 16], initial].concat();
    let fde = [&TEXT.to_le_bytes()[..], &TEXT_SIZE.to_le_bytes(), instructions].concat();
    Section::new(".debug_frame", [entry(u32::MAX, cie), entry(0, fde)].concat())
}

/// A function with this call frame information.
fn with_frames(frames: Section) -> Vec<u8> {
    let mut dies = Dies::new();
    let int = dies.int();
    dies.function();
    dies.variable("v", int);
    dies.close(2);
    let mut sections = dies.sections();
    sections.push(frames);
    code_object(sections)
}

/// Waves whose stacks every command reads: looping rules of 293 take the work of a question, which each wave extends.
const WAVES: u64 = 340;

/// Runs commands that read stacks.
fn every_stack(object: &[u8]) {
    let hostile = Hostile::with_waves(object, WAVES);
    has_stacks(&hostile.each(&["backtrace DUMP", "groups DUMP", "locals DUMP", "export DUMP"]));
}

fn has_stacks(said: &Said) {
    said.prints("backtrace DUMP", FRAME).prints("groups DUMP", FRAME).prints("locals DUMP", "v = 7");
    said.prints("export DUMP", SPENT);
}

/// Rows of one FDE after a long run of instructions: each wave needs another row.
#[test]
fn rows_of_long_frame_instructions() {
    let pairs = [0x0a, 0x0b].repeat(2_000_000);
    let rows = vec![0x41; 1_000];
    every_stack(&with_frames(frames("", &[], &[pairs.clone(), rows.clone()].concat())));
    // The same in the CIE, with a dialect that depends on the instructions.
    every_stack(&with_frames(frames("", &pairs, &rows)));
    every_stack(&with_frames(frames("[llvm:v0.0]", &[], &[vec![0; 4_000_000], rows].concat())));
}

/// Rows that remember many rules: `DW_CFA_undefined` of 500 registers, then pairs that copy them.
#[test]
fn rows_that_copy_many_rules() {
    let initial: Vec<u8> = (0..500).flat_map(|register| [vec![7], uleb(2560 + register)].concat()).collect();
    let pairs = [0x0a, 0x0b].repeat(1_500);
    let object = with_frames(frames("", &initial, &[pairs, vec![0x41; 1_000]].concat()));
    every_stack(&object);
    Hostile::with_waves(&object, WAVES).each(&["diff DUMP DUMP", "triage DUMP"]);
}

/// Such rows of many code objects: all together are bounded. A row of 500 registers takes 75 kB, and 15,000 all memory.
#[test]
fn rows_of_many_code_objects() {
    let initial: Vec<u8> = (0..500).flat_map(|register| [vec![7], uleb(2560 + register)].concat()).collect();
    let object = with_frames(frames("", &initial, &vec![0x41; 1_000]));
    let said = Hostile::with_objects(&object, 45, 400).each(&["groups DUMP"]);
    said.prints("groups DUMP", FRAME);
}

/// Looping rules of each wave: `DW_CFA_def_cfa_expression`, and a return address in the frame.
#[test]
fn rules_that_loop() {
    let instructions = [&[0x0f, 3][..], &LOOP, &[0x90, 1]].concat();
    has_stacks(&Hostile::with_waves(&with_frames(frames("", &instructions, &[])), WAVES).every());
}

/// Large objects without a value: arrays of 1 MiB in missing memory, in all lanes.
#[test]
fn large_arrays() {
    let mut dies = Dies::new();
    dies.declare(5, ARRAY, true, &[TYPE]);
    dies.declare(6, SUBRANGE, false, &[(COUNT.0, 0x06)]);
    dies.declare(7, VARIABLE, false, &[NAME, TYPE, LOCATION]);
    let char = dies.die(3, &[b"char\0", &[8, 1]]);
    let array = dies.die(5, &[&char.to_le_bytes()]);
    dies.die(6, &[&(1u32 << 20).to_le_bytes()]);
    dies.close(1);
    let int = dies.int();
    dies.function();
    for _ in 0..3_000 {
        // `DW_OP_addr` of the code.
        dies.die(7, &[b"x\0", &array.to_le_bytes(), &[9, 3], &TEXT.to_le_bytes()]);
    }
    dies.variable("last", int);
    dies.close(2);
    let said = Hostile::with_code(&dies.object()).each(&SOME);
    said.prints("locals DUMP", "last = 7").prints("locals DUMP", "bytes of all objects of a frame");
}

/// Large objects with values: arrays over the code, with equal bytes in all lanes.
#[test]
fn long_texts() {
    let mut dies = Dies::new();
    dies.declare(5, ARRAY, true, &[TYPE]);
    dies.declare(6, SUBRANGE, false, &[(COUNT.0, 0x06)]);
    let char = dies.die(3, &[b"signed\0", &[5, 1]]);
    let array = dies.die(5, &[&char.to_le_bytes()]);
    dies.die(6, &[&(TEXT_SIZE as u32).to_le_bytes()]);
    dies.close(1);
    let int = dies.int();
    dies.function();
    for _ in 0..5_000 {
        // `DW_OP_addr` of the code, whose bytes the code object has.
        dies.die(4, &[b"x\0", &array.to_le_bytes(), &[9, 3], &TEXT.to_le_bytes()]);
    }
    dies.variable("last", int);
    dies.close(2);
    let said = Hostile::with_code(&dies.object()).each(&SOME);
    said.prints("locals DUMP", "last = 7");
}

/// The error of a frame whose text exceeds its limit.
const TEXT_SPENT: &str = "more than 33554432 bytes of text of all values of a frame";

/// Variables of a type made by `record`, over the code, and a scalar at the end.
fn over_code(count: usize, record: impl FnOnce(&mut Dies, u32) -> u32) -> Hostile {
    let mut dies = Dies::new();
    dies.declare(5, STRUCTURE, true, &[NAME, SIZE]);
    // DW_AT_data_member_location, DW_FORM_data1.
    dies.declare(6, MEMBER, false, &[NAME, TYPE, (0x38, 0x0b)]);
    let int = dies.int();
    let record = record(&mut dies, int);
    dies.function();
    for _ in 0..count {
        dies.die(4, &[b"x\0", &record.to_le_bytes(), &[9, 3], &TEXT.to_le_bytes()]);
    }
    dies.variable("last", int);
    dies.close(2);
    Hostile::with_code(&dies.object())
}

/// Records of two records each: few bytes with many values, equal in all lanes.
#[test]
fn texts_that_lanes_share() {
    for count in sampled([500, 3_000], 2) {
        let hostile = over_code(count, |dies, int| {
            (0..60).fold(int, |inner, _| {
                let record = dies.die(5, &[b"S\0", &[4]]);
                for name in [b"a\0", b"b\0"] {
                    dies.die(6, &[name, &inner.to_le_bytes(), &[0]]);
                }
                dies.close(1);
                record
            })
        });
        let said = hostile.each(&["locals --lane all DUMP", "slim DUMP -o OUT"]);
        said.prints("locals --lane", "x:\n  lanes 0-63: {a = {");
        said.prints("locals --lane", "bytes of text of all lanes' values of a frame");
        said.prints("locals --lane", "last:\n  lanes 0-63: 7  (lanes 8-63: inactive)\n");
    }
}

/// Records of 20,000 members in 64 bytes: a value ends at the limit, and later ones cost nothing. A scalar is printed.
#[test]
fn records_of_many_members() {
    let hostile = over_code(400, |dies, int| {
        let record = dies.die(5, &[b"S\0", &[64]]);
        for at in 0..20_000u32 {
            dies.die(6, &[b"m\0", &int.to_le_bytes(), &[4 * (at % 16) as u8]]);
        }
        dies.close(1);
        record
    });
    let said = hostile.each(&["locals DUMP", "locals --json DUMP"]);
    said.prints("locals", "m = ").lacks("m = ...");
    said.prints("locals DUMP", TEXT_SPENT).prints("locals DUMP", "last = 7");
    said.prints("locals --json", TEXT_SPENT);
}

/// One read of a debugger over the pointers of thousands of variables, each looked up among all.
#[test]
fn a_read_over_many_windows() {
    let object = between(8_000, &[0x37, 0x9f]).object();
    let hostile = Hostile::with_code(&object);
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&hostile, folder.path());
    server.ask("qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=i386");
    server.ask("?");
    let registers = server.ask("g");
    // `rsp` is the eighth of x86-64's registers.
    let bytes = (0..8).rev().map(|byte| &registers[7 * 16 + 2 * byte..7 * 16 + 2 * byte + 2]);
    let stack = u64::from_str_radix(&bytes.collect::<String>(), 16).unwrap();
    let read = server.ask(&format!("m{:x},f000", stack + 0x200));
    assert!(read.len() >= 16 && !read.starts_with('E'), "{read}");
    server.end();
}

/// A client that disconnects while the server evaluates thousands of variables for it.
#[test]
fn work_ends_when_its_client_leaves() {
    let hostile = Hostile::with_code(&between(6_000, &LOOP).object());
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&hostile, folder.path());
    // Each part is read once.
    server.ask("qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=i386");
    server.command("backtrace");
    server.leave_during("locals all");
}

/// A client's questions about thousands of variables in all lanes: the answers are whole, or report their excess
/// length.
#[test]
fn answers_of_thousands_of_variables() {
    for (count, is_whole) in sampled([(1_000, true), (8_000, false), (8_600, false)], 2) {
        let hostile = Hostile::with_code(&between(count, &[0x37, 0x9f]).object());
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::start(&hostile, folder.path());
        server.ask("qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=i386;error-message+");
        let document = server.document("lanescope-locals", "1.all");
        match is_whole {
            true => assert!(document.contains("\"last\"") && document.ends_with('}'), "{count}"),
            false => assert!(document.contains("MiB"), "{count}: {}", &document[..document.len().min(300)]),
        }
        assert!(server.ask("qlanescope.Locals:lane:all;").contains("does not fit one packet"));
        let printed = server.command("locals all");
        // 64 values per variable, of a frame's limit of 524,288.
        let end = if count > 8_192 {
            "problem: variables left out: "
        } else {
            "last:\n  lanes 0-63: 7  (lanes 8-63: inactive)\n"
        };
        assert!(printed.contains(end), "{count}: {}", end_of(&printed));
        server.end();
    }
}

/// A value of many elements with long names between them: the text of `print` is limited for all lanes together.
#[test]
fn a_printed_value_of_long_text() {
    let mut dies = Dies::new();
    dies.declare(5, STRUCTURE, true, &[NAME, SIZE]);
    dies.declare(6, MEMBER, false, &[NAME, TYPE, (0x38, 0x0b)]);
    dies.declare(7, ARRAY, true, &[TYPE]);
    dies.declare(8, SUBRANGE, false, &[(COUNT.0, 0x06)]);
    let char = dies.die(3, &[b"signed\0", &[5, 1]]);
    let record = dies.die(5, &[b"S\0", &[1]]);
    let long = [vec![b'm'; 20_000], vec![0]].concat();
    dies.die(6, &[&long, &char.to_le_bytes(), &[0]]);
    dies.close(1);
    let array = dies.die(7, &[&record.to_le_bytes()]);
    dies.die(8, &[&(TEXT_SIZE as u32).to_le_bytes()]);
    dies.close(1);
    dies.function();
    dies.die(4, &[b"v\0", &array.to_le_bytes(), &[9, 3], &TEXT.to_le_bytes()]);
    dies.close(2);
    let hostile = Hostile::with_code(&dies.object());
    let said = hostile.each(&["print --lane all DUMP v", "print --json --lane all DUMP v", "print DUMP v"]);
    said.prints("print DUMP v", "mmm");
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&hostile, folder.path());
    server.ask("qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=i386;error-message+");
    let document = server.document("lanescope-print", "1.all.0.76");
    let value = serde_json::from_str(&document);
    let is_object = value.is_ok_and(|value: serde_json::Value| value.is_object());
    assert!(is_object && document.contains("mmm"), "{}", end_of(&document));
    let printed = server.command("print lane all v");
    assert!(printed.contains("mmm"), "{}", end_of(&printed));
    server.end();
}

/// The last 300 bytes of an answer.
fn end_of(answer: &str) -> &str {
    let from = (answer.len().saturating_sub(300)..answer.len()).find(|at| answer.is_char_boundary(*at));
    &answer[from.unwrap_or(0)..]
}
