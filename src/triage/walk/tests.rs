//! Accesses before a PC in code written by hand, by the rules of AMD's ISA documents.

use std::collections::HashMap;
use std::sync::Arc;

use super::launch::Launches;
use super::look::Look;
use super::registers::Registers;
use super::work::Work;
use super::{Caller, Gap, MAX_CANDIDATES, Paths, search};
use crate::arch::{Generation, RegId, RegisterValue, Targets, WaveArch};
use crate::capture::{Fault, FaultAddress, FaultKind, PAGE};
use crate::isa;
use crate::session::address::GLOBAL;
use crate::session::{DispatchInfo, FunctionBounds, MemoryAddress, MockInspect, ReadError, Region, WaveInfo};
use crate::triage::judge::Judge;
use crate::triage::listings::{Decoded, Listing};
use crate::triage::rank::{Sighted, missing_code, rank};
use crate::triage::survey::tests::info;
use crate::triage::{Confidence, MissingData, UnknownAddressCause};
use crate::units::{Address, LaneSet, Pc, WaveId, WaveSize};

use Generation::{Gfx10, Gfx11, Gfx12, Gfx90a};

/// Code from text, a line each, at 0x1000. A line `NAME:` is a label, `PC` the place of the PC; branches name labels.
pub(in crate::triage) struct Code {
    listing: Arc<Listing>,
    pc: u64,
}

pub(in crate::triage) fn code(generation: Generation, text: &str) -> Code {
    code_at(generation, 0x1000, text)
}

fn code_at(generation: Generation, start: u64, text: &str) -> Code {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (mut at, mut pc, mut labels) = (start, 0, HashMap::new());
    for line in lines() {
        match line.strip_suffix(':') {
            Some(label) => drop(labels.insert(label, at)),
            None if line == "PC" => pc = at,
            None => at += 8,
        }
    }
    let instructions: Vec<&str> = lines().filter(|line| !line.ends_with(':') && *line != "PC").collect();
    let instructions = instructions.iter().zip(0u64..).map(|(line, index)| {
        let label = line.split_whitespace().nth(1).and_then(|label| labels.get(label)).copied();
        let target = label.filter(|_| line.starts_with("s_branch") || line.starts_with("s_cbranch"));
        let text = match target {
            Some(_) => format!("{} 1", line.split_whitespace().next().unwrap()),
            None => (*line).to_owned(),
        };
        let effects = isa::decode(&text, generation);
        assert!(effects.is_ok() || line.starts_with('.'), "{line}");
        Decoded { address: start + index * 8, size: 8, text, target, effects, file: None, line: None }
    });
    let function = FunctionBounds { name: Arc::from("kern"), start, end: at };
    let listing = Listing {
        function: Some(function),
        generation: Some(generation),
        instructions: instructions.collect(),
    };
    Code { listing: Arc::new(listing), pc }
}

pub(in crate::triage) fn walk(code: &Code) -> Paths {
    search(&code.listing, code.pc, &[], true, &Work::default())
}

/// Text, distance, and distance of the wait that proves completion, nearest first.
fn summary(walk: &Paths) -> Vec<(String, usize, Option<usize>)> {
    let one = |candidate: &super::Candidate| {
        let way = candidate.ways[0];
        let text = walk.instruction(candidate).unwrap().text.clone();
        (text.split_whitespace().next().unwrap().to_owned(), way.distance, way.completed)
    };
    walk.candidates.iter().map(one).collect()
}

fn expect(generation: Generation, text: &str, expected: &[(&str, usize, Option<usize>)]) {
    let found = summary(&walk(&code(generation, text)));
    let found: Vec<_> =
        found.iter().map(|(text, distance, wait)| (text.as_str(), *distance, *wait)).collect();
    assert_eq!(found, expected, "{generation:?} {text}");
}

/// Reference: `vmcnt(N)` proves all but the last N operations, in the order of issue.
#[test]
fn counted_waits_prove_the_older_operations() {
    let text = "global_load_dword v1, v[2:3], off
        global_store_dword v[4:5], v6, off
        s_waitcnt vmcnt(1)
        v_mov_b32_e32 v9, 0
        PC
        s_endpgm";
    expect(Gfx90a, text, &[("global_store_dword", 3, None), ("global_load_dword", 4, Some(2))]);
    // From GFX10 on stores have a counter of their own.
    expect(Gfx10, text, &[("global_store_dword", 3, None), ("global_load_dword", 4, None)]);
}

#[test]
fn stores_have_their_own_counter_from_gfx10_on() {
    let text = "global_store_b32 v[4:5], v6, off
        global_load_b32 v1, v[2:3], off
        s_waitcnt vmcnt(0)
        PC
        s_endpgm";
    expect(Gfx11, text, &[("global_load_b32", 2, Some(1)), ("global_store_b32", 3, None)]);
    let text = "global_store_b32 v[4:5], v6, off
        global_load_b32 v1, v[2:3], off
        s_waitcnt_vscnt null, 0x0
        PC
        s_endpgm";
    expect(Gfx11, text, &[("global_load_b32", 2, None), ("global_store_b32", 3, Some(1))]);
    let text = "global_store_b32 v[4:5], v6, off
        global_load_b32 v1, v[2:3], off
        ds_load_b32 v7, v8
        s_wait_loadcnt_dscnt 0x0
        PC
        s_endpgm";
    expect(
        Gfx12,
        text,
        &[("ds_load_b32", 2, Some(1)), ("global_load_b32", 3, Some(1)), ("global_store_b32", 4, None)],
    );
}

/// Scalar loads complete out of order: only a wait for 0 proves anything.
#[test]
fn scalar_loads_need_a_wait_for_all() {
    let text = "s_load_dword s0, s[2:3], 0x0
        s_load_dword s1, s[4:5], 0x0
        s_waitcnt lgkmcnt(1)
        PC
        s_endpgm";
    expect(Gfx90a, text, &[("s_load_dword", 2, None), ("s_load_dword", 3, None)]);
    let text = "s_load_dword s0, s[2:3], 0x0
        s_waitcnt lgkmcnt(0)
        s_load_dword s1, s[4:5], 0x0
        PC
        s_endpgm";
    expect(Gfx90a, text, &[("s_load_dword", 1, None), ("s_load_dword", 3, Some(2))]);
}

/// A flat access counts in two counters and completes out of order with memory accesses.
#[test]
fn flat_accesses_need_both_counters() {
    let one = |waits: &str| format!("flat_load_dword v1, v[2:3]\n{waits}\nPC\ns_endpgm");
    expect(Gfx90a, &one("s_waitcnt vmcnt(0)"), &[("flat_load_dword", 2, None)]);
    expect(Gfx90a, &one("s_waitcnt vmcnt(0) lgkmcnt(0)"), &[("flat_load_dword", 2, Some(1))]);
    expect(Gfx90a, &one("s_waitcnt lgkmcnt(0)\ns_waitcnt vmcnt(0)"), &[("flat_load_dword", 3, Some(1))]);
    let text = "global_load_dword v1, v[2:3], off
        flat_load_dword v4, v[6:7]
        s_waitcnt vmcnt(1)
        PC
        s_endpgm";
    expect(Gfx90a, text, &[("flat_load_dword", 2, None), ("global_load_dword", 3, None)]);
}

#[test]
fn a_barrier_waits_for_no_counter() {
    let text = "global_load_dword v1, v[2:3], off
        s_barrier
        PC
        s_endpgm";
    expect(Gfx90a, text, &[("global_load_dword", 2, None)]);
}

const DIAMOND: &str = "global_load_dword v1, v[2:3], off
    s_cbranch_scc1 ELSE
    global_load_dword v4, v[6:7], off
    s_branch END
    ELSE:
    global_store_dword v[8:9], v1, off
    END:
    v_mov_b32_e32 v9, 0
    PC
    s_endpgm";

#[test]
fn accesses_of_all_paths_are_candidates() {
    let walk = walk(&code(Gfx90a, DIAMOND));
    assert_eq!(
        summary(&walk),
        [
            ("global_store_dword".to_owned(), 2, None),
            ("global_load_dword".to_owned(), 3, None),
            ("global_load_dword".to_owned(), 4, None),
        ]
    );
    let other: Vec<bool> = walk.candidates.iter().map(|one| one.has_other_path).collect();
    assert_eq!(other, [true, true, false]);
    assert_eq!(walk.candidates[2].ways.len(), 2);
    assert!(walk.candidates.iter().all(|one| !one.is_in_loop) && walk.gaps.is_empty());
}

#[test]
fn loops_are_walked_once() {
    let text = "s_load_dword s0, s[2:3], 0x0
        LOOP:
        global_load_dword v1, v[2:3], off
        PC
        v_add_u32_e32 v5, v5, v1
        global_store_dword v[8:9], v5, off
        s_cbranch_scc1 LOOP
        s_endpgm";
    let walk = walk(&code(Gfx90a, text));
    assert_eq!(
        summary(&walk),
        [
            ("global_load_dword".to_owned(), 1, None),
            ("s_load_dword".to_owned(), 2, None),
            ("global_store_dword".to_owned(), 3, None),
        ]
    );
    let loops: Vec<bool> = walk.candidates.iter().map(|one| one.is_in_loop).collect();
    assert_eq!(loops, [true, false, true]);
    let other: Vec<bool> = walk.candidates.iter().map(|one| one.has_other_path).collect();
    assert_eq!(other, [false, false, true]);
}

#[test]
fn code_that_hides_accesses_is_a_gap() {
    let gaps = |text: &str| walk(&code(Gfx90a, text)).gaps;
    assert_eq!(gaps("s_nop 0\nPC\ns_endpgm"), []);
    let call = "s_swappc_b64 s[30:31], s[4:5]\nPC\ns_endpgm";
    assert_eq!(gaps(call), [Gap::Call(0x1000)]);
    assert_eq!(missing_code(&[walk(&code(Gfx90a, call))], &[]), [MissingData::Callee(0x1000)]);
    assert_eq!(gaps(".long 0xffffffff\nPC\ns_endpgm"), [Gap::Unknown(0x1000)]);
    let nops = "s_nop 0\n".repeat(super::MAX_DISTANCE + 1);
    assert_eq!(gaps(&format!("{nops}PC\ns_endpgm")), [Gap::Distance]);
    let jump = "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 64\ns_addc_u32 s5, s5, 0\ns_setpc_b64 s[4:5]";
    assert_eq!(gaps(&format!("s_nop 0\nPC\ns_nop 0\n{jump}")), [Gap::Jump(0x1028)]);
    let function = code(Gfx90a, "s_nop 0\nPC\ns_endpgm");
    assert_eq!(
        search(&function.listing, function.pc, &[], false, &Work::default()).gaps,
        [Gap::Caller(0x1000)]
    );
    assert_eq!(search(&function.listing, 0x1004, &[], true, &Work::default()).gaps, [Gap::Start(0x1004)]);
}

#[test]
fn paths_continue_in_the_caller() {
    let callee = code(Gfx90a, "v_mov_b32_e32 v1, 0\nPC\ns_setpc_b64 s[30:31]");
    let text = "global_load_dword v1, v[2:3], off
        s_swappc_b64 s[30:31], s[4:5]
        s_endpgm";
    let caller = code_at(Gfx90a, 0x8000, text);
    let callers = [Caller { listing: caller.listing, resume: 0x8010 }];
    let walk = search(&callee.listing, callee.pc, &callers, true, &Work::default());
    assert_eq!(summary(&walk), [("global_load_dword".to_owned(), 3, None)]);
    assert_eq!(walk.gaps, []);
    assert_eq!(walk.pc(), Some(Pc(0x1008)));
}

/// Registers of a wave: named values; of vectors all lanes have `value + lane * 0x100`.
fn registers(arch: &Arc<WaveArch>, values: &[(&str, u64)]) -> MockInspect {
    let mut known: HashMap<RegId, RegisterValue> = HashMap::new();
    for (name, value) in values {
        let register = arch.named(name).unwrap();
        let mut dwords = RegisterValue::unknown(register.dwords);
        for index in 0..register.dwords {
            let part = match register.is_vector() {
                true => {
                    (*value as u32).wrapping_add(if *value > 0xf000 { u32::from(index) * 0x100 } else { 0 })
                }
                false => (*value >> (32 * index)) as u32,
            };
            dwords.set_dword(index, part);
        }
        known.insert(register.id, dwords);
    }
    let mut session = MockInspect::new();
    let (kind, sizes) = (Arc::clone(arch), Arc::clone(arch));
    session.expect_kind().returning(move || Arc::clone(&kind));
    session.expect_register().returning(move |_, id| {
        let size = sizes.register(id).map_or(0, |register| register.dwords);
        Ok(known.get(&id).cloned().unwrap_or_else(|| RegisterValue::unknown(size)))
    });
    session
}

/// The addresses of an access in a wave of gfx90a.
fn look(text: &str, mnemonic: &str, values: &[(&str, u64)]) -> Option<Look> {
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let session = registers(&arch, values);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let registers = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    let walk = walk(&code(Gfx90a, text));
    let is_it =
        |candidate: &&super::Candidate| walk.instruction(candidate).unwrap().text.starts_with(mnemonic);
    walk.looks(walk.candidates.iter().find(is_it).unwrap(), &registers, false).into_iter().next()
}

const ADDRESS: [(&str, u64); 3] = [("v2", 0x10_0000), ("v3", 0x7f00), ("exec", 0xf)];

#[test]
fn surviving_registers_give_the_addresses() {
    let text = "global_load_dword v1, v[2:3], off offset:16\nv_mov_b32_e32 v5, 0\nPC\ns_endpgm";
    let look = look(text, "global_load", &ADDRESS).unwrap();
    assert_eq!((look.lanes, look.exec_changed), (LaneSet(0xf), None));
    let found: Vec<(u8, u64)> =
        look.addresses.iter().map(|at| (at.lane.unwrap().0, at.global.unwrap())).collect();
    let base = 0x7f00_0010_0010;
    assert_eq!(found, [(0, base), (1, base + 0x100), (2, base + 0x200), (3, base + 0x300)]);
    assert!(look.unknown.is_none());
}

#[test]
fn written_address_registers_make_lanes_unknown() {
    for write in ["v_mov_b32_e32 v3, 0", "global_load_dword v2, v[8:9], off", "v_swap_b32 v7, v2"] {
        let text = format!("global_load_dword v1, v[2:3], off\n{write}\nPC\ns_endpgm");
        let look = look(&text, "global_load_dword v1", &ADDRESS).unwrap();
        let unknown = look.unknown.unwrap();
        assert_eq!((unknown.lanes, look.addresses.len()), (LaneSet(0xf), 0), "{write}");
        assert!(matches!(unknown.reason, UnknownAddressCause::Overwritten { at: 0x1008, .. }), "{write}");
    }
    // A load that may have replaced its own address.
    let text = "global_load_dwordx2 v[2:3], v[2:3], off\nPC\ns_endpgm";
    let unknown = look(text, "global_load", &ADDRESS).unwrap().unknown.unwrap();
    assert_eq!(unknown.reason, UnknownAddressCause::Overwritten { register: "v2".to_owned(), at: 0x1000 });
}

/// A write under a narrower EXEC keeps the other lanes.
#[test]
fn writes_change_active_lanes_only() {
    let text = "global_load_dword v1, v[2:3], off
        s_and_saveexec_b64 s[6:7], vcc
        v_mov_b32_e32 v2, 0
        PC
        s_endpgm";
    let values = [("v2", 0x10_0000), ("v3", 0x7f00), ("exec", 0x3), ("s6", 0xf), ("s7", 0)];
    let look = look(text, "global_load", &values).unwrap();
    assert_eq!((look.lanes, look.exec_changed), (LaneSet(0xf), None));
    assert_eq!(look.unknown.unwrap().lanes, LaneSet(0x3));
    let found: Vec<u8> = look.addresses.iter().map(|at| at.lane.unwrap().0).collect();
    assert_eq!(found, [2, 3]);
}

#[test]
fn exec_before_the_access_is_recovered_or_a_bound() {
    let certain_at = |write: &str| {
        let text = format!("global_load_dword v1, v[2:3], off\n{write}\nPC\ns_endpgm");
        let values: Vec<_> = ADDRESS.iter().chain(&[("s6", 0xff), ("s7", 0)]).copied().collect();
        look(&text, "global_load", &values).unwrap().certain
    };
    // The lower bound.
    assert_eq!(certain_at("s_nop 0"), LaneSet(0xf));
    assert_eq!(certain_at("s_and_saveexec_b64 s[6:7], vcc"), LaneSet(0xff));
    assert_eq!(certain_at("s_or_b64 exec, exec, s[6:7]"), LaneSet(0));
    assert_eq!(certain_at("s_andn2_b64 exec, exec, s[6:7]"), LaneSet(0xf));
    assert_eq!(certain_at("s_mov_b64 exec, s[6:7]"), LaneSet(0));
    let look_at = |write: &str, more: &[(&str, u64)]| {
        let text = format!("global_load_dword v1, v[2:3], off\n{write}\nPC\ns_endpgm");
        let values: Vec<_> = ADDRESS.iter().chain(more).copied().collect();
        let look = look(&text, "global_load", &values).unwrap();
        (look.lanes, look.exec_changed)
    };
    let saved = [("s6", 0xff), ("s7", 0)];
    assert_eq!(look_at("s_and_saveexec_b64 s[6:7], vcc", &saved), (LaneSet(0xff), None));
    // The saved value is lost.
    let lost = "s_and_saveexec_b64 s[6:7], vcc\ns_mov_b32 s6, 0";
    assert_eq!(look_at(lost, &saved), (LaneSet(u64::MAX), Some(0x1008)));
    assert_eq!(look_at("s_or_b64 exec, exec, s[6:7]", &saved), (LaneSet(0xf), Some(0x1008)));
    assert_eq!(look_at("s_andn2_b64 exec, exec, s[6:7]", &saved), (LaneSet(0xff), Some(0x1008)));
    assert_eq!(look_at("s_xor_b64 exec, exec, s[6:7]", &saved), (LaneSet(0xf0), None));
    assert_eq!(look_at("s_mov_b64 exec, s[6:7]", &saved), (LaneSet(u64::MAX), Some(0x1008)));
    // EXEC is not captured.
    let text = "global_load_dword v1, v[2:3], off\nPC\ns_endpgm";
    let look = look(text, "global_load", &ADDRESS[..2]).unwrap();
    assert_eq!((look.lanes, look.exec_changed), (LaneSet(u64::MAX), Some(0x1008)));
}

/// `s_cbranch_execz` is taken without active lanes only. The other way to the PC writes an address register.
#[test]
fn branches_that_exec_and_vcc_contradict_are_not_taken() {
    let is_taken = |branch: &str, exec: u64, vcc: u64| {
        let text = format!(
            "s_load_dword s1, s[2:3], 0x0
            s_cbranch_{branch} END
            s_mov_b32 s2, 0
            END:
            PC
            s_endpgm"
        );
        let values = [("s2", 0x10_0000), ("s3", 0x7f00), ("exec", exec), ("vcc", vcc)];
        let look = look(&text, "s_load", &values).unwrap();
        assert_eq!(look.is_detour, look.unknown.is_some());
        look.unknown.is_none()
    };
    assert!(is_taken("execz", 0, 0) && !is_taken("execz", 0xf, 0));
    assert!(is_taken("execnz", 1, 0) && !is_taken("execnz", 0, 0));
    assert!(is_taken("vccz", 1, 0) && !is_taken("vccz", 1, 1));
    assert!(is_taken("vccnz", 1, 1) && !is_taken("vccnz", 1, 0));
    assert!(is_taken("scc0", 1, 0));
}

#[test]
fn a_call_loses_the_registers_of_the_convention() {
    let at = |first: u32| {
        let second = first + 1;
        let text = format!(
            "global_load_dword v1, v[{first}:{second}], off\ns_swappc_b64 s[30:31], s[4:5]\nPC\ns_endpgm"
        );
        let (low, high) = (format!("v{first}"), format!("v{second}"));
        let values = [(low.as_str(), 0x10_0000), (high.as_str(), 0x7f00), ("exec", 1)];
        look(&text, "global_load", &values).unwrap().unknown.is_none()
    };
    assert!(!at(2) && at(40) && !at(48) && at(56));
}

/// In the index mode of GFX9 the text of an instruction does not show its destination.
#[test]
fn the_index_mode_hides_destinations() {
    let text = "global_load_dword v1, v[2:3], off
        v_mov_b32_e32 v8, 0
        PC
        s_set_gpr_idx_off
        s_endpgm";
    let is_known = |mode: u64| {
        let values: Vec<_> = ADDRESS.iter().chain(&[("mode", mode)]).copied().collect();
        look(text, "global_load", &values).unwrap().unknown.is_none()
    };
    assert!(is_known(0x2f0) && !is_known(0x2f0 | 1 << 27));
}

/// The addresses of a load whose registers are overwritten, from values that survived.
fn recovered(text: &str, values: &[(&str, u64)], memory: &'static [(u64, u32)]) -> Look {
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let mut session = registers(&arch, values);
    session.expect_read().returning(move |place, buffer| {
        let found = memory.iter().find(|(address, _)| *address == place.address.0);
        let (_, value) = found.ok_or(ReadError::NotCaptured { what: "memory".to_owned() })?;
        buffer.copy_from_slice(&value.to_le_bytes());
        Ok(4)
    });
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let registers = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    again(text, &registers)
}

fn again(text: &str, registers: &Registers<'_>) -> Look {
    let walk = walk(&code(Gfx90a, text));
    let is_it = |candidate: &&super::Candidate| walk.instruction(candidate).unwrap().text.contains("v60");
    walk.looks(walk.candidates.iter().find(is_it).unwrap(), registers, true).remove(0)
}

/// The sum of a base and an index of each lane, 64 bits with carry.
#[test]
fn overwritten_addresses_are_computed_again() {
    let text = "v_lshlrev_b64 v[2:3], 2, v[8:9]
        v_mov_b32_e32 v4, s5
        v_add_co_u32_e32 v2, vcc, s4, v2
        v_addc_co_u32_e32 v3, vcc, v4, v3, vcc
        global_load_dword v60, v[2:3], off
        v_mov_b32_e32 v2, 0
        v_mov_b32_e32 v3, 0
        s_mov_b64 vcc, 0
        PC
        s_endpgm";
    let values =
        [("s4", 0xffff_fff0), ("s5", 0x7f00), ("v8", 0x10_0000), ("v9", 0), ("exec", 3), ("v4", 0x7f00)];
    let look = recovered(text, &values, &[]);
    assert!(look.is_recovered && look.unknown.is_none(), "{look:?}");
    let found: Vec<u64> = look.addresses.iter().map(|at| at.global.unwrap()).collect();
    // 4 * (0x100000 + lane * 0x100) + 0x7f00fffffff0.
    assert_eq!(found, [0x7f01_003f_fff0, 0x7f01_0040_03f0]);
}

/// Compilers keep a register in another one around a call, and write it back.
#[test]
fn copies_of_overwritten_registers_have_their_values() {
    let text = |after: &str| format!("global_load_dword v60, v1, s[2:3]\n{after}\nPC\ns_endpgm");
    let values =
        [("s2", 0x10_0000), ("s3", 0x7f00), ("s20", 0x20_0000), ("s21", 0x7f00), ("v1", 0x10), ("exec", 1)];
    let found = |after: &str| {
        let addresses = recovered(&text(after), &values, &[]).addresses;
        addresses.first().map(|at| at.global.unwrap())
    };
    let copy = "s_mov_b64 s[20:21], s[2:3]\n";
    assert_eq!(
        found(&format!("{copy}s_mov_b64 s[2:3], s[20:21]\ns_mov_b64 s[20:21], 0")),
        Some(0x7f00_0010_0010)
    );
    assert_eq!(found(&format!("{copy}s_mov_b64 s[2:3], 0")), Some(0x7f00_0020_0010));
    assert_eq!(found(&format!("s_mov_b64 s[2:3], 0\n{copy}")), None);
    assert_eq!(found(&format!("{copy}s_mov_b64 s[2:3], 0\ns_mov_b64 s[20:21], 0")), None);
    // The copy of a lane that may have been inactive.
    let vector = |between: &str| {
        let text = format!("global_load_dword v60, v[2:3], off\n{between}v_mov_b32_e32 v2, 0\nPC\ns_endpgm");
        recovered(&text, &[("v3", 0x7f00), ("v9", 0x40), ("exec", 1)], &[])
            .addresses
            .first()
            .map(|at| at.address)
    };
    assert_eq!(vector("v_mov_b32_e32 v9, v2\n"), Some(0x7f00_0000_0040));
    assert_eq!(vector("s_mov_b64 exec, s[8:9]\nv_mov_b32_e32 v9, v2\n"), None);
}

/// A pointer in memory is loaded again, unless a store on the path changed it.
#[test]
fn loaded_addresses_are_loaded_again() {
    let text = |store: &str| {
        format!(
            "global_load_dwordx2 v[2:3], v[6:7], off offset:8
            s_waitcnt vmcnt(0)
            global_load_dword v60, v[2:3], off
            v_mov_b32_e32 v2, 0
            {store}
            PC
            s_endpgm"
        )
    };
    let values = [("v6", 0x1000), ("v7", 0), ("exec", 1), ("v3", 0x7f00)];
    let memory = &[(0x1008, 0xabc0), (0x100c, 0x7f00)];
    let look = recovered(&text("s_nop 0"), &values, memory);
    assert_eq!(look.addresses[0].global, Some(0x7f00_0000_abc0));
    let near = recovered(&text("global_store_dword v[6:7], v9, off offset:8"), &values, memory);
    assert!(near.addresses.is_empty() && !near.is_recovered && near.unknown.is_some());
    let far = recovered(&text("global_store_dword v[6:7], v9, off offset:16"), &values, memory);
    assert_eq!(far.addresses[0].global, Some(0x7f00_0000_abc0));
    // Memory that is not captured has no value.
    assert!(recovered(&text("s_nop 0"), &values, &[]).addresses.is_empty());
}

/// Spilled scalars are lanes of a VGPR: a write of another lane keeps them.
#[test]
fn lanes_of_spilled_scalars_survive_writes_of_other_lanes() {
    let text = |lane: u8| {
        format!(
            "v_readlane_b32 s4, v40, 1
            v_readlane_b32 s5, v40, 2
            v_mov_b32_e32 v2, s4
            v_mov_b32_e32 v3, s5
            global_load_dword v60, v[2:3], off
            v_mov_b32_e32 v2, 0
            s_mov_b64 s[4:5], 0
            v_writelane_b32 v40, s9, {lane}
            PC
            s_endpgm"
        )
    };
    let values = [("v40", 0x10_0000), ("exec", 1), ("v3", 0x10_0200)];
    let look = recovered(&text(3), &values, &[]);
    assert_eq!(look.addresses[0].global, Some(0x10_0200_0010_0100), "{look:?}");
    assert!(recovered(&text(1), &values, &[]).addresses.is_empty());
}

/// A pointer in private memory. The descriptor of private memory adds the lane and swizzles; its base is FLAT_SCRATCH.
/// CDNA ISA, "Buffer Addressing": lane 1 has its dword 6 (byte 24) at 24 / 4 * 64 * 4 + 4.
#[test]
fn pointers_in_private_memory_are_loaded_again() {
    let text = |buffer: &str| {
        format!(
            "{buffer} v2, off, s[0:3], s33 offset:24
            {buffer} v3, off, s[0:3], s33 offset:28
            s_waitcnt vmcnt(0)
            flat_load_dword v60, v[2:3]
            v_mov_b32_e32 v2, 0
            v_mov_b32_e32 v3, 0
            PC
            s_endpgm"
        )
    };
    let flat = |value: u64| {
        [
            ("s0", 0x82_0000),
            ("s1", 0x8000_7f00),
            ("s2", 0x80_0000),
            ("s3", 0xe8_0fac),
            ("s33", 0),
            ("exec", 2),
        ]
        .into_iter()
        .chain([("flat_scratch", value)])
        .collect::<Vec<_>>()
    };
    let load = text("buffer_load_dword");
    let look = recovered(&load, &flat(0x7f00_0082_0000), &[(24, 0x40), (28, 0x7f01)]);
    assert_eq!(look.addresses.len(), 1, "{look:?}");
    assert_eq!((look.addresses[0].lane.unwrap().0, look.addresses[0].global), (1, Some(0x7f01_0000_0040)));
    // Another buffer: its memory is global.
    let memory: &[_] = &[(24, 0x40), (28, 0x7f01)];
    assert!(recovered(&load, &flat(0x7f00_0083_0000), memory).addresses.is_empty());
}

/// Accesses through the descriptor of private memory are private, also with an unknown offset.
#[test]
fn the_buffer_of_private_memory_is_private() {
    let text = "buffer_store_dword v60, off, s[0:3], s33 offset:24\ns_mov_b32 s33, s32\nPC\ns_endpgm";
    let is_private = |control: u64| {
        let values =
            [("s0", 0x82_0000), ("s1", 0x8000_7f00), ("s2", 0x80_0000), ("s3", control), ("exec", 2)];
        let look = recovered(text, &values, &[]);
        assert!(look.unknown.is_some());
        look.is_private
    };
    // ADD_TID_ENABLE is bit 23 of the last dword.
    assert!(is_private(0xe8_0fac) && !is_private(0x68_0fac));
}

/// The kernel's arguments: the hardware sets their address before the first instruction.
#[test]
fn the_address_of_arguments_is_that_of_the_launch() {
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let text = "s_load_dwordx2 s[4:5], s[4:5], 0x10
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v2, s4
        v_mov_b32_e32 v3, s5
        global_load_dword v60, v[2:3], off
        v_mov_b32_e32 v2, 0
        s_mov_b64 s[4:5], 0
        PC
        s_endpgm";
    let known = |dispatch: Option<u32>| {
        let mut session = registers(&arch, &[("exec", 1), ("v3", 0x7f00)]);
        session.expect_read().returning(|place, buffer| {
            let value: &[u8] = match place.address.0 {
                // Only the pointer to the arguments, behind a descriptor of four SGPRs.
                0x9038 => &[0b1001, 0],
                0x5010 => &[0xc0, 0xab, 0, 0],
                0x5014 => &[0, 0x7f, 0, 0],
                _ => return Err(ReadError::NotCaptured { what: "memory".to_owned() }),
            };
            buffer.copy_from_slice(value);
            Ok(value.len())
        });
        session.expect_dispatches().returning(|| {
            let address = |at| Some(crate::units::Address(at));
            vec![DispatchInfo {
                id: 3,
                kernel_object: address(0x9000),
                kernarg: address(0x5000),
                ..dispatch_info()
            }]
        });
        session.expect_wave().returning(move |wave| Ok(WaveInfo { dispatch, ..info(wave, 0x1000, None, 0) }));
        let (apertures, launches) = (HashMap::new(), Launches::of(&session));
        again(text, &Registers::new(&session, WaveId(0), &apertures, &launches, &Work::default()))
            .addresses
            .first()
            .copied()
    };
    assert_eq!(known(Some(3)).unwrap().global, Some(0x7f00_0000_abc0));
    assert_eq!(known(None), None);
}

/// The instruction at the PC of a loop was executed in the turn before, with other values.
#[test]
fn an_access_at_the_pc_of_a_loop_has_its_turn_before() {
    let text = "LOOP:
        PC
        global_load_dword v60, v[2:3], off
        v_add_u32_e32 v2, 4, v2
        s_cbranch_scc1 LOOP
        s_endpgm";
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let session = registers(&arch, &ADDRESS);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let registers = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    let walk = walk(&code(Gfx90a, text));
    let looks = walk.looks(&walk.candidates[0], &registers, false);
    let found: Vec<_> = looks.iter().map(|look| (look.way.distance, look.unknown.is_some())).collect();
    assert_eq!(found, [(0, false), (3, true)]);
}

fn dispatch_info() -> DispatchInfo {
    DispatchInfo {
        id: 1,
        name: String::new(),
        agent: 1,
        queue: 1,
        packet: None,
        grid: None,
        workgroup: None,
        fences: None,
        group_segment_size: None,
        private_segment_size: None,
        kernel: None,
        kernel_object: None,
        kernarg: None,
        waves: Vec::new(),
    }
}

/// The certainty of the best access of code, if the page of its address is reported for an agent.
fn certainty(text: &str, agent: Option<u32>) -> Confidence {
    let address = FaultAddress { start: 0x7f00_0010_0000, bytes: PAGE, is_inexact: false };
    reported(text, &Fault { agent, address: Some(address), ..Fault::default() })
}

fn reported(text: &str, fault: &Fault) -> Confidence {
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let mut session =
        registers(&arch, &[ADDRESS[0], ADDRESS[1], ("exec", 1), ("v8", 0x20_0000), ("v9", 0x7f00)]);
    session.expect_exists().return_const(true);
    session.expect_wave().returning(|wave| Ok(info(wave, 0x1000, None, 0)));
    session.expect_has_whole_map().return_const(false);
    session.expect_place().returning(|address, wave| {
        Ok(MemoryAddress { space: GLOBAL, address: Address(address), wave: Some(wave), lane: None })
    });
    session.expect_region().returning(|_, _| Region {
        start: 0,
        last: u64::MAX,
        readable: true,
        code: false,
        name: None,
    });
    let faults = std::slice::from_ref(fault);
    let judge = Judge::new(&session, 1, faults);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let of_wave = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    let walk = walk(&code(Gfx90a, text));
    let sighted = |candidate| {
        let look = walk.looks(candidate, &of_wave, false).into_iter().next()?;
        let access = walk.instruction(candidate)?.effects.as_ref().ok()?.access.clone()?;
        let sightings = vec![judge.judge(WaveId(0), &access, look)];
        Some(Sighted { walk: &walk, candidate, sightings, waves: 1 })
    };
    let all = walk.candidates.iter().filter_map(sighted).collect();
    rank(all, judge.has_page(), true).first().map_or(Confidence::Possible, |one| one.confidence)
}

const LOAD: &str = "global_load_dword v1, v[2:3], off";

/// A branch around a write: one path keeps the registers of the address, the other one does not.
#[test]
fn an_access_whose_registers_depend_on_the_path_is_not_exact() {
    let between =
        |write: &str| certainty(&format!("{LOAD}\ns_cbranch_scc1 END\n{write}\nEND:\nPC\ns_endpgm"), None);
    assert_eq!(between("v_mov_b32_e32 v4, 0"), Confidence::Exact);
    assert_eq!(between("v_mov_b32_e32 v2, 0"), Confidence::Likely);
    assert_eq!(between("s_and_saveexec_b64 s[6:7], vcc"), Confidence::Likely);
}

/// Each candidate but the first one loads from another page.
#[test]
fn an_access_is_not_exact_if_others_were_dropped() {
    let text = |others: usize| {
        format!("{LOAD}\n{}PC\ns_endpgm", "global_load_dword v1, v[8:9], off\n".repeat(others))
    };
    assert_eq!(certainty(&text(MAX_CANDIDATES - 1), None), Confidence::Exact);
    let text = format!(
        "global_load_dword v60, v[10:11], off\n{}PC\ns_endpgm",
        format!("{LOAD}\n").repeat(MAX_CANDIDATES)
    );
    assert_ne!(certainty(&text, None), Confidence::Exact);
    let text = "global_load_dword v60, v[10:11], off\n".to_owned()
        + &"global_load_dword v1, v[8:9], off\n".repeat(MAX_CANDIDATES - 1)
        + LOAD
        + "\nPC\ns_endpgm";
    assert_eq!(certainty(&text, None), Confidence::Likely);
}

/// The address of `--fault-address` has no kind but memory.
#[test]
fn the_users_address_counts_as_the_page() {
    let address = |start| Some(FaultAddress { start, bytes: 1, is_inexact: false });
    let fault = |start| Fault { kind: FaultKind::Memory, address: address(start), ..Fault::default() };
    let text = format!("{LOAD}\nPC\ns_endpgm");
    assert_eq!(reported(&text, &fault(0x7f00_0010_0003)), Confidence::Exact);
    assert_eq!(reported(&text, &fault(0x7f00_0010_0004)), Confidence::Possible);
}

/// A page of another GPU is no page of this wave.
#[test]
fn reports_of_other_gpus_do_not_count() {
    let text = format!("{LOAD}\nPC\ns_endpgm");
    assert_eq!(certainty(&text, None), Confidence::Exact);
    assert_eq!(certainty(&text, Some(1)), Confidence::Exact);
    assert_eq!(certainty(&text, Some(2)), Confidence::Possible);
}

/// Branches back all over a function: each search of the graph would visit all of it for each access.
#[test]
fn large_graphs_cost_bounded_work() {
    let line = |index: usize| {
        let back = index / 2;
        format!("L{index}:\nglobal_load_dword v1, v[2:3], off\ns_cbranch_scc1 L{back}\n")
    };
    let body: String = (0..8192).map(line).collect();
    let code = code(Gfx90a, &format!("{body}PC\ns_endpgm"));
    let started = std::time::Instant::now();
    assert!(walk(&code).candidates.iter().all(|one| one.is_in_loop || one.has_other_path));
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}
