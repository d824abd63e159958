//! The pointer that code adds an index to. The code is clang's for `x[i]`, by hand for the rest.

use super::*;
use crate::triage::{AddressOf, Suspect};
use crate::units::LaneId;

/// The pointers of the load to v60, in the lanes of EXEC.
fn origins(text: &str, values: &[(&str, u64)], memory: &'static [(u64, u32)]) -> Vec<u64> {
    let session = with_memory(values, memory);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let registers = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    let walk = walk(&code(Gfx90a, text));
    let is_it =
        |candidate: &&super::super::Candidate| walk.instruction(candidate).unwrap().text().contains("v60");
    let candidate = walk.candidates.iter().find(is_it).unwrap();
    let one = walk.instruction(candidate).unwrap();
    let access = one.effects().unwrap().access.clone().unwrap();
    let lanes = registers.exec().unwrap();
    let address = |lane: LaneId| AddressOf {
        lane: Some(lane),
        space: GLOBAL,
        address: 0,
        global: None,
        bytes: Some(4),
    };
    let suspect = Suspect {
        instruction: one.address,
        distance: candidate.ways[0].distance,
        addresses: lanes.iter().map(address).collect(),
        ..Suspect::new(WaveId(0), Pc(0), &one.text(), access)
    };
    let found = walk.origins(&suspect, &registers);
    assert!(found.iter().all(|(lane, _)| lane.is_some_and(|lane| lanes.contains(lane))));
    found.into_iter().map(|(_, value)| value).collect()
}

const NONE: [u64; 0] = [];
const X: [(&str, u64); 3] = [("s0", 0x0020_0000), ("s1", 0x7f00), ("exec", 3)];
const SUM: &str = "v_lshlrev_b64 v[2:3], 2, v[8:9]
    v_mov_b32_e32 v1, s1
    v_add_co_u32_e32 v2, vcc, s0, v2
    v_addc_co_u32_e32 v3, vcc, v1, v3, vcc
    global_load_dword v60, v[2:3], off";

#[test]
fn the_scalar_pointer_of_a_sum() {
    let pointer = 0x7f00_0020_0000;
    let end = "\nPC\ns_endpgm";
    assert_eq!(origins(&format!("{SUM}{end}"), &X, &[]), [pointer, pointer]);
    // The pointer is overwritten since; a copy survived.
    let lost = format!("{SUM}\ns_mov_b64 s[0:1], 0{end}");
    assert_eq!(origins(&lost, &X, &[]), NONE);
    let copies = [("s20", 0x0020_0000), ("s21", 0x7f00), ("exec", 3)];
    let kept = format!("{SUM}\ns_mov_b64 s[20:21], s[0:1]\ns_mov_b64 s[0:1], 0{end}");
    assert_eq!(origins(&kept, &copies, &[]), [pointer, pointer]);
    // A row of the pointer's memory: scalar code adds a shifted number.
    let row = String::from("s_lshl_b64 s[6:7], s[8:9], 2\ns_add_u32 s2, s0, s6\ns_addc_u32 s3, s1, s7\n");
    let row = format!("{row}global_load_dword v60, v0, s[2:3]{end}");
    assert_eq!(origins(&row, &X, &[]), [pointer, pointer]);
}

/// `x[col[j]]` in a loop: clang copies the high half of x in front of it.
#[test]
fn a_high_half_that_was_copied_before_the_loop() {
    let text = "v_mov_b32_e32 v9, s1
        LOOP:
        v_add_co_u32_e32 v2, vcc, s0, v10
        v_addc_co_u32_e32 v3, vcc, v9, v11, vcc
        global_load_dword v60, v[2:3], off
        PC
        s_cbranch_scc1 LOOP
        s_endpgm";
    let at = |copy: u64| {
        let values =
            [("s0", 0x0020_0000), ("s1", 0x7f00), ("v9", copy), ("v10", 64), ("v11", 0), ("exec", 1)];
        origins(text, &values, &[])
    };
    assert_eq!(at(0x7f00), [0x7f00_0020_0000]);
    assert_eq!(at(0x7e00), NONE, "another value is no copy");
}

#[test]
fn a_sum_of_two_pointers_has_none() {
    let text = "v_mov_b32_e32 v1, s1
        v_mov_b32_e32 v4, s3
        v_add_co_u32_e32 v2, vcc, s0, v8
        v_addc_co_u32_e32 v3, vcc, v1, v4, vcc
        v_add_co_u32_e32 v2, vcc, s2, v2
        global_load_dword v60, v[2:3], off
        PC
        s_endpgm";
    let both = [("s0", 0), ("s1", 0x7f00), ("s2", 0), ("s3", 0x7e00), ("v8", 0), ("exec", 1)];
    assert_eq!(origins(text, &both, &[]), NONE);
    // A pair below 2^32 is an index.
    let index = [("s0", 0), ("s1", 0x7f00), ("s2", 0x1000), ("s3", 0), ("v8", 0), ("exec", 1)];
    assert_eq!(origins(text, &index, &[]), [0x7f00_0000_0000]);
}

/// Halves of a pointer and of an index that are neighbours by chance.
#[test]
fn halves_of_two_values_are_no_pointer() {
    let text = |low: &str, high: &str| {
        format!(
            "v_add_co_u32_e32 v2, vcc, v9, v11
            v_addc_co_u32_e32 v3, vcc, {low}, {high}, vcc
            global_load_dword v60, v[2:3], off
            PC
            s_endpgm"
        )
    };
    let values = [("v9", 0x20), ("v10", 0x7e00), ("v11", 0), ("v12", 0x7f00), ("v13", 0), ("exec", 1)];
    assert_eq!(origins(&text("v12", "v13"), &values, &[]), NONE);
    assert_eq!(origins(&text("v12", "v11"), &values, &[]), NONE);
    assert_eq!(origins(&text("0", "v12"), &values, &[]), [0x7f00_0000_0000]);
}

/// `p[t].q[c]`: each lane loads its pointer.
#[test]
fn loaded_pointers_of_lanes() {
    let text = "global_load_dwordx2 v[4:5], v6, s[0:1]
        s_waitcnt vmcnt(0)
        v_add_co_u32_e32 v2, vcc, v4, v8
        v_addc_co_u32_e32 v3, vcc, 0, v5, vcc
        global_load_dword v60, v[2:3], off
        PC
        s_endpgm";
    let values = [("v4", 0x10_0000), ("v5", 0x7f00), ("exec", 3), ("v8", 0)];
    assert_eq!(origins(text, &values, &[]), [0x7f00_0010_0000, 0x7f00_0010_0100]);
    // Overwritten since: loaded again.
    let lost = text.replace("PC", "v_mov_b32_e32 v4, 0\nPC");
    let values = [("s0", 0x1000), ("s1", 0), ("v5", 0x7f00), ("v6", 8), ("exec", 1), ("v8", 0)];
    assert_eq!(origins(&lost, &values, &[(0x1008, 0xabc0), (0x100c, 0x7f00)]), [0x7f00_0000_abc0]);
    assert_eq!(origins(&lost, &values, &[]), NONE);
}
