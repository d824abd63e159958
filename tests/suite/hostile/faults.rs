//! Faults and hangs whose analysis costs much: code that is searched, registers that are computed again, odd reports.

use std::fs;

use super::dwarf::{Dies, MEMBER, NAME, POINTER, SIZE, STRUCTURE, TYPE};
use super::elf::{TEXT, code_object_of};
use super::run::{Hostile, LOADED};
use crate::support::sample::{is_long, sampled};

/// Commands of the analysis, and one that prints reported faults.
const COMMANDS: [&str; 4] =
    ["triage DUMP", "triage --wave 1 DUMP", "triage --hang --json DUMP", "faults DUMP"];
/// Captured memory whose pointers lead to its own start.
const MEMORY: u64 = 0x7e00_0000_0000;
const S_ENDPGM: u32 = 0xbf81_0000;

/// Changes the text of a dump's manifest.
fn change(hostile: &Hostile, change: impl Fn(String) -> String) {
    let path = hostile.folder().join("manifest.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, change(text)).unwrap();
}

/// Stops all waves by a fault of memory, with these registers.
fn fault(hostile: &Hostile, registers: &str) {
    change(hostile, |text| {
        let text = text.replace("[wave.registers]", "stop = [\"memory_violation\"]\n[wave.registers]");
        text.replace("exec = \"0xff\"", &format!("exec = \"0xffffffffffffffff\"\n{registers}"))
    });
}

/// Registers of 64 lanes: `v[0:1]` and `v[2:3]` point to the captured memory.
fn pointers() -> String {
    let row = |name: &str, value: u64| format!("{name} = [{}]\n", vec![value.to_string(); 64].join(", "));
    let high = MEMORY >> 32;
    [row("v0", 0), row("v1", high), row("v2", 0), row("v3", high), row("v4", 0), row("v5", 0)].concat()
}

/// Loads that replace their own addresses, with stores between: the values of each access need all before it. Waves
/// stop at more PCs than are searched.
#[test]
fn loads_through_pointers_to_themselves() {
    // llvm-mc, gfx90a: global_load_dwordx4 v[0:3], v[0:1], off; global_store_dword v[4:5], v0, off;
    // v_add_u32 v4, v0, v1; v_add_u32 v5, v2, v3.
    let turn = [0xdc5c_8000, 0x007f_0000, 0xdc70_8000, 0x007f_0004, 0x6808_0300, 0x680a_0702];
    let code: Vec<u32> = turn.repeat(400).into_iter().chain([S_ENDPGM]).collect();
    let hostile = Hostile::with_pcs(&code_object_of(&code, Vec::new()), (100..300).map(|turn| 24 * turn));
    hostile.capture_global(MEMORY, &MEMORY.to_le_bytes().repeat(512));
    // The waves precede the memory in the manifest, and have no registers of their own table behind it.
    fault(&hostile, &pointers());
    let said = hostile.each(&COMMANDS);
    said.prints("triage DUMP", "200 of 200 waves faulted").prints("triage DUMP", "(limit)");
}

/// A hundred thousand branches, each with a target of its own or with the same one, and a wave at each of many PCs.
#[test]
fn code_of_branches_only() {
    // SOPP: s_cbranch_scc0 in dwords from the next instruction.
    let far = |at: u32| 0xbf84_0000 | ((at.wrapping_mul(2_654_435_761) >> 8) % 2_000);
    let back = |at: u32| 0xbf84_0000 | (at % 4_000 + 1).wrapping_neg() & 0xffff;
    for branch in sampled([&far as &dyn Fn(u32) -> u32, &back], 2) {
        let code: Vec<u32> = (0..100_000).map(branch).chain([S_ENDPGM]).collect();
        let object = code_object_of(&code, Vec::new());
        let hostile = Hostile::with_pcs(&object, (0..900).map(|wave| 4 * (20_000 + 80 * wave)));
        // The waves could hang.
        hostile.each(&["triage DUMP"]).prints("triage", "no fault is reported");
        fault(&hostile, "");
        hostile.each(&["triage DUMP"]).prints("triage", "900 of 900 waves faulted");
    }
}

/// Loops of 500 instructions, one after another, and a wave in each: all their instructions leave them, or move values
/// along a chain to the addresses of loads.
#[test]
fn code_of_large_loops() {
    // llvm-mc, gfx90a: s_cbranch_scc1 in dwords from the next instruction; v_mov_b32 v1, v0; v_mov_b32 v0, v1;
    // global_load_dword v2, v[0:1], off; v_cmp_eq_u32 vcc, v2, v3; s_cbranch_scc0 and s_cbranch_vccnz.
    let exit = |at: u32| vec![0xbf85_0000 | (500 - at)];
    let chain = |at: u32| match at {
        0..250 if at.is_multiple_of(2) => vec![0x7e02_0300],
        0..250 => vec![0x7e00_0301],
        499 => vec![0x7d94_0702],
        _ if at.is_multiple_of(2) => vec![0xdc50_8000, 0x027f_0000],
        _ => Vec::new(),
    };
    let exits = if is_long() { 40 } else { 12 };
    // The chains take all steps of an analysis.
    for (part, branch, count, command) in [
        (&exit as &dyn Fn(u32) -> Vec<u32>, 0xbf84_0000, exits, "triage --hang --json DUMP"),
        (&chain, 0xbf87_0000, 180, "triage DUMP"),
    ] {
        let mut body: Vec<u32> = (0..500).flat_map(part).collect();
        body.push(branch | (body.len() as u32 + 1).wrapping_neg() & 0xffff);
        body.push(S_ENDPGM);
        let size = 4 * body.len() as u64;
        let object = code_object_of(&body.repeat(count), Vec::new());
        Hostile::with_pcs(&object, (0..count as u64).map(|turn| size * turn + 40)).each(&[command]);
    }
}

/// Waves at a jump to itself.
#[test]
fn waves_at_a_jump_to_itself() {
    let code = [0xbf80_0000, 0xbf80_0000, 0xbf80_0000, 0xbf80_0000, 0xbf82_ffff];
    let hostile = Hostile::with_pcs(&code_object_of(&code, Vec::new()), (0..10_000).map(|_| 0x10));
    let said = hostile.each(&["triage DUMP", "triage --hang --json DUMP"]);
    said.prints("triage DUMP", "10000 waves spin in a loop")
        .prints("triage --hang --json", "\"state\": \"spinning\"");
    fault(&hostile, "");
    hostile.each(&["triage DUMP"]).prints("triage DUMP", "10000 of 10000 waves faulted");
}

/// More reports than a dump may have, with extreme addresses and sizes, and waves of other kinds without registers.
#[test]
fn reports_of_extreme_addresses() {
    let hostile = Hostile::with_code(&code_object_of(&[0xbf80_0000; 64], Vec::new()));
    fault(&hostile, "");
    change(&hostile, |mut text| {
        text += "[[agent]]\nid = 2\ntarget = \"gfx1100\"\n";
        for (wave, size) in [(2, 32), (3, 64)] {
            let pc = LOADED + TEXT;
            text += &format!(
                "[[wave]]\nid = {wave}\nagent = 2\nwave_size = {size}\nstop = [\"memory_violation\"]\n\
                 [wave.registers]\npc = \"{pc:#x}\"\n"
            );
        }
        let addresses = [0, 1, 0xfff, MEMORY, 1 << 47, u64::MAX - 4095, u64::MAX];
        for (index, address) in addresses.iter().cycle().take(300).enumerate() {
            let bytes = ["1", "4096", "\"0xffffffffffffffff\""][index % 3];
            text += &format!("[[fault]]\nkind = \"page\"\naddress = \"{address:#x}\"\nbytes = {bytes}\n");
        }
        text
    });
    let said = hostile.each(&COMMANDS);
    said.prints("triage DUMP", "3 of 3 waves faulted").prints("faults DUMP", "page 0xfffffffffffff000");
}

/// Reports in lines of 64 KiB.
#[test]
fn reports_in_long_lines() {
    let path = crate::fixtures::fixtures().join("logs").join("agent-plain.log");
    let log = fs::read_to_string(path).unwrap();
    let long = "x".repeat(64 << 10);
    let mut text = String::new();
    for line in 0..300u64 {
        let at = 0x7f00_0000_0000u64 + 4096 * line;
        text += &format!("{long} Memory access fault by GPU node-4 on address {at:#x}. Reason: {long}.\n");
        if line.is_multiple_of(10) {
            text += &format!("Memory access fault by GPU node-{long} on address {at:#x}. Reason: Unknown.\n");
        }
    }
    let said = Hostile::with_file("log", (log + &text).as_bytes()).each(&[
        "triage --processor gfx90a DUMP",
        "info --processor gfx90a DUMP",
        "faults --processor gfx90a DUMP",
    ]);
    said.is_shorter("faults", 1 << 20);
}

/// A variable whose members point to its own type, over memory whose pointers lead to its start.
#[test]
fn variables_that_point_to_themselves() {
    let mut dies = Dies::new();
    dies.declare(5, STRUCTURE, true, &[NAME, SIZE]);
    dies.declare(6, MEMBER, false, &[NAME, TYPE, MEMBER_AT]);
    dies.declare(7, POINTER, false, &[TYPE]);
    // The pointer refers to the structure behind it: 1 byte of code and 4 of the reference.
    let pointer = dies.die(7, &[&0u32.to_le_bytes()]);
    let structure = pointer + 5;
    let mut patched = Dies::new();
    patched.declare(5, STRUCTURE, true, &[NAME, SIZE]);
    patched.declare(6, MEMBER, false, &[NAME, TYPE, MEMBER_AT]);
    patched.declare(7, POINTER, false, &[TYPE]);
    assert_eq!(patched.die(7, &[&structure.to_le_bytes()]), pointer);
    assert_eq!(patched.die(5, &[b"node\0", &[255]]), structure);
    for member in 0..31u8 {
        patched.die(6, &[format!("next{member}\0").as_bytes(), &pointer.to_le_bytes(), &[8 * member]]);
    }
    patched.close(1);
    patched.function();
    for variable in 0..200 {
        // `DW_OP_regx` 2560: v0, where clang's DWARF numbers VGPRs of wave64 from 2560.
        let location = [3, 0x90, 0x80, 0x14];
        patched.die(4, &[format!("p{variable}\0").as_bytes(), &pointer.to_le_bytes(), &location]);
    }
    patched.close(2);
    let code = [0xdc5c_8000, 0x007f_0000, 0x6808_0300, S_ENDPGM];
    let hostile = Hostile::with_pcs(&code_object_of(&code, patched.sections()), (0..64).map(|_| 8));
    hostile.capture_global(MEMORY, &MEMORY.to_le_bytes().repeat(512));
    fault(&hostile, &pointers());
    hostile.each(&COMMANDS).prints("triage DUMP", "64 of 64 waves faulted");
}

/// `DW_AT_data_member_location` as a byte.
const MEMBER_AT: (u16, u16) = (0x38, 0x0b);
