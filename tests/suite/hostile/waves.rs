//! Work that each of many waves requests: reading a function, a table or a list counts once, or is limited.

use super::FRAME;
use super::dwarf::{
    ARRAY, BLOCK, COUNT, Dies, HIGH, LOCATION, LOW, NAME, RANGES, SUBPROGRAM, SUBRANGE, TYPE, VARIABLE,
    place, uleb,
};
use super::elf::{Section, TEXT, TEXT_SIZE, code_object, code_object_of};
use super::run::{Hostile, LOADED};
use super::tables::with_rows;
use crate::support::sample::{is_long, sampled};

/// Waves, each at a different instruction.
const WAVES: u64 = 900;

/// Commands that look up waves.
const STACKS: [&str; 4] = ["groups DUMP", "backtrace DUMP", "locals DUMP", "view DUMP -o OUT"];

/// `DW_AT_frame_base` as an expression.
const FRAME_BASE: (u16, u16) = (0x40, 0x18);

/// A function of `count` branches, each with a far target, with an object in its frame.
fn branches(count: u32) -> Vec<u8> {
    // SOPP: s_cbranch_scc0 and s_cbranch_scc1, counted in dwords from the next instruction; then s_endpgm.
    let branch = |at: u32| {
        let far = (at.wrapping_mul(2_654_435_761) >> 4) % 60_000;
        let to = (at + far).min(count - 1) - at;
        0xbf84_0000 | (at & 1) << 16 | to.min(0x7fff)
    };
    let code: Vec<u32> = (0..count).map(branch).chain([0xbf81_0000]).collect();
    let size = 4 * code.len() as u32;
    let mut dies = Dies::new();
    dies.declare(5, SUBPROGRAM, true, &[NAME, LOW, HIGH, FRAME_BASE]);
    let int = dies.int();
    // `DW_OP_regx` 65: s33.
    dies.die(5, &[b"f\0", &TEXT.to_le_bytes(), &size.to_le_bytes(), &[2, 0x90, 65]]);
    dies.variable("v", int);
    for _ in 0..20 {
        // `DW_OP_fbreg` 16.
        dies.die(4, &[b"x\0", &int.to_le_bytes(), &[2, 0x91, 16]]);
    }
    dies.close(2);
    code_object_of(&code, dies.sections())
}

/// Code of a large function, of the largest that the unwinder follows, and of larger ones.
#[test]
fn code_of_branches() {
    let some: Vec<&str> = sampled(STACKS, 2).collect();
    for count in [1 << 16, (1 << 18) - 1, 1 << 18].into_iter().chain(is_long().then_some(1 << 20)) {
        // Functions that were followed for each wave would take more than the most work.
        let hostile = Hostile::with_waves(&branches(count), 300);
        let said = if count == 1 << 16 { hostile.every() } else { hostile.each(&some) };
        said.prints("locals DUMP", "v = 7").prints("groups DUMP", FRAME);
    }
}

/// Overlapping functions of 1 MiB: each wave is in another one.
#[test]
fn code_of_functions_that_overlap() {
    let code = vec![0xbf80_0000; 1 << 18];
    let mut dies = Dies::new();
    dies.declare(5, SUBPROGRAM, true, &[NAME, LOW, HIGH, FRAME_BASE]);
    let int = dies.int();
    for at in 0..4 + WAVES {
        let (start, size) = (TEXT + 4 * at, 4 * (code.len() as u64 - at));
        dies.die(5, &[b"f\0", &start.to_le_bytes(), &(size as u32).to_le_bytes(), &[2, 0x90, 65]]);
        // `DW_OP_fbreg` 0.
        dies.die(4, &[b"x\0", &int.to_le_bytes(), &[2, 0x91, 0]]);
        dies.variable("v", int);
        dies.close(1);
    }
    dies.close(1);
    let hostile = Hostile::with_waves(&code_object_of(&code, dies.sections()), WAVES);
    let commands = sampled(["locals DUMP", "diff DUMP DUMP", "slim --all-waves DUMP -o OUT"], 2);
    hostile.each(&commands.collect::<Vec<_>>()).prints("locals DUMP", "v = 7");
}

/// Code objects of one invalid file: it is read once per code object, and not again per wave.
#[test]
fn code_objects_that_waves_look_up() {
    let objects: Vec<String> = (0..50_000u64)
        .map(|at| format!("{{\"path\":\"no.elf\",\"address\":{}}}", LOADED + 4096 * at))
        .collect();
    let waves: Vec<String> = (0..5_000u64)
        .map(|at| format!("{{\"id\":{at},\"agent\":1,\"registers\":{{\"pc\":{}}}}}", LOADED + 4 * at))
        .collect();
    let manifest = format!(
        "{{\"format\":1,\"agent\":[{{\"id\":1,\"target\":\"gfx90a\"}}],\"code_object\":[{}],\"wave\":[{}]}}",
        objects.join(","),
        waves.join(",")
    );
    let hostile = Hostile::with_manifest("manifest.json", manifest.as_bytes());
    std::fs::write(hostile.folder().join("no.elf"), vec![1; 1 << 16]).unwrap();
    let said = hostile.each(&["info DUMP", "waves DUMP", "groups DUMP", "dispatches DUMP"]);
    said.prints("groups", "The stack ends here: no known code object holds the PC.");
}

/// A line table of a thousand addresses with a hundred rows each.
#[test]
fn rows_of_a_line_table_that_waves_look_up() {
    // A special opcode that adds neither line nor address, a hundred times; then one that adds 4 to the address.
    let opcodes = [vec![18; 100], vec![32]].concat().repeat(1_000);
    let object = with_rows(1, &opcodes);
    Hostile::with_waves(&object, 300)
        .every()
        .prints("groups DUMP", "a.cpp")
        .prints("backtrace DUMP", "a.cpp");
}

/// Adjacent blocks over all of the code, each with a variable: all are in scope at every PC.
#[test]
fn scopes_that_waves_look_up() {
    let mut dies = Dies::new();
    dies.declare(5, BLOCK, true, &[LOW, HIGH]);
    let int = dies.int();
    dies.function();
    dies.variable("v", int);
    for _ in 0..20_000 {
        dies.die(5, &[&place()]);
        dies.close(1);
    }
    dies.close(2);
    let said = Hostile::with_waves(&dies.object(), WAVES).each(&STACKS);
    said.prints("locals DUMP", "v = 7").prints("groups DUMP", FRAME);
}

/// A function with a list of many ranges, shared with a DIE: the PC is in the last one.
#[test]
fn ranges_that_waves_look_up() {
    let mut dies = Dies::new();
    dies.declare(5, SUBPROGRAM, true, &[NAME, RANGES]);
    let int = dies.int();
    dies.die(5, &[b"f\0", &12u32.to_le_bytes()]);
    dies.variable("v", int);
    dies.close(2);
    // DW_RLE_start_length: ranges elsewhere, and at last all of the code.
    let mut list = Vec::new();
    for at in 0..30_000u64 {
        list.push(7);
        list.extend((0x100_0000 + 16 * at).to_le_bytes());
        list.push(8);
    }
    list.push(7);
    list.extend(TEXT.to_le_bytes());
    list.extend(uleb(TEXT_SIZE));
    list.push(0);
    let mut section = ((list.len() + 8) as u32).to_le_bytes().to_vec();
    section.extend([5, 0, 8, 0, 0, 0, 0, 0]);
    section.extend(list);
    let mut sections = dies.sections();
    sections.push(Section::new(".debug_rnglists", section));
    let said = Hostile::with_waves(&code_object(sections), WAVES).each(&STACKS);
    said.prints("locals DUMP", "v = 7").prints("groups DUMP", FRAME);
}

/// Functions that all claim all of the code: the PC's function must be found among them.
#[test]
fn functions_that_waves_look_up() {
    let mut dies = Dies::new();
    let int = dies.int();
    for _ in 0..30_000 {
        dies.function();
        dies.close(1);
    }
    dies.function();
    dies.variable("v", int);
    dies.close(2);
    let said = Hostile::with_waves(&dies.object(), WAVES).each(&STACKS);
    said.prints("groups DUMP", FRAME).prints("backtrace", FRAME);
}

/// Arrays in missing memory, together of a frame's maximum size: one for all lanes, one per lane. And a captured one.
#[test]
fn large_objects_of_honest_frames() {
    let mut dies = Dies::new();
    dies.declare(5, ARRAY, true, &[TYPE]);
    dies.declare(6, SUBRANGE, false, &[(COUNT.0, 0x06)]);
    dies.declare(7, VARIABLE, false, &[NAME, TYPE, LOCATION]);
    let char = dies.die(3, &[b"signed\0", &[5, 1]]);
    let mut array = |count: u32| {
        let array = dies.die(5, &[&char.to_le_bytes()]);
        dies.die(6, &[&count.to_le_bytes()]);
        dies.close(1);
        array
    };
    let (small, large) = (array(1 << 18), array(1 << 19));
    let int = dies.int();
    dies.function();
    // `DW_OP_addr` of an unmapped address; the load address is added.
    let address = [&[3][..], &0x10_0000_0000u64.to_le_bytes()].concat();
    dies.die(7, &[b"common\0", &small.to_le_bytes(), &[9], &address]);
    // `DW_OP_LLVM_push_lane`, `DW_OP_const4u`, `DW_OP_mul`, `DW_OP_LLVM_offset`.
    let offset = [&[0xe9, 3, 0x0c][..], &(1u32 << 18).to_le_bytes(), &[0x1e, 0xe9, 4]].concat();
    let own = [address, offset].concat();
    dies.die(7, &[b"own\0", &small.to_le_bytes(), &uleb(own.len() as u64), &own]);
    let captured = [&[3][..], &0x20_0000_0000u64.to_le_bytes()].concat();
    dies.die(7, &[b"captured\0", &large.to_le_bytes(), &[9], &captured]);
    dies.variable("last", int);
    dies.close(2);
    let hostile = Hostile::with_code(&dies.object());
    hostile.capture_global(LOADED + 0x20_0000_0000, &vec![5; 1 << 19]);
    let locals = hostile.each(&["locals --lane all DUMP", "locals --full --lane all DUMP"]);
    locals
        .prints("locals --lane", "int last:\n  lanes 0-63: 7  (lanes 8-63: inactive)\n")
        .prints("locals --lane", "lanes 0-63: {5, 5")
        .lacks("bytes of all objects");
    let absent =
        |at: u64| format!("<unavailable: global+{:#x} was not captured>", LOADED + 0x10_0000_0000 + at);
    locals
        .prints("locals --lane", &format!("lanes 0-63: {}", absent(0)))
        .prints("locals --full", &format!("lane 63 (inactive): {}", absent(63 << 18)));
    let first = absent(8 << 18).replace(" was not captured>", "");
    let last = format!("{:#x}", LOADED + 0x10_0000_0000 + (63 << 18));
    locals.prints(
        "locals --lane",
        &format!("lanes 8-63 (inactive): {first}..{last} (+262144) was not captured>"),
    );
    let others =
        sampled(["slim --all-waves DUMP -o OUT", "locals --json --lane all DUMP", "diff DUMP DUMP"], 2);
    hostile.each(&others.collect::<Vec<_>>()).lacks("bytes of all objects");
}

/// Message of commands over many waves for variables beyond their limit.
const TOO_MANY: &str = "values of variables";

/// Thousands of variables in each of many waves, requested by commands over all waves.
#[test]
fn variables_of_many_waves() {
    let mut dies = Dies::new();
    let int = dies.int();
    dies.function();
    for _ in 0..2_000 {
        dies.variable("v", int);
    }
    dies.close(2);
    // 128,000 values of a wave: nine waves reach the bound.
    let hostile = Hostile::with_waves(&dies.object(), 10);
    let said = hostile.each(&["locals DUMP", "diff DUMP DUMP", "slim --all-waves DUMP -o OUT"]);
    said.prints("locals DUMP", "v = 7").prints("diff DUMP", TOO_MANY);
    said.prints("slim --all-waves DUMP", TOO_MANY).lacks("No differences");
    // The waves of one question are printed whole.
    hostile.each(&["locals --lane all DUMP", "diff --wave 1:2 DUMP DUMP"]).lacks(TOO_MANY);
}
