//! Certainty of the best access.

use super::*;
use crate::triage::Suspect;
use crate::work::{Count, done};

/// The certainty of the best access of code, if the page of its address is reported for an agent.
fn certainty(text: &str, agent: Option<u32>) -> Confidence {
    let address = FaultAddress { start: 0x7f00_0010_0000, bytes: PAGE, is_inexact: false };
    reported(text, &Fault { agent, address: Some(address), ..Fault::default() })
}

fn reported(text: &str, fault: &Fault) -> Confidence {
    let found = suspects(("gfx90a", WaveSize::W64, Gfx90a), text, fault);
    found.first().map_or(Confidence::Possible, |one| one.confidence)
}

/// The ranked accesses of code in a wave with two known addresses: 0x7f0000100000 in v2 and v3, 0x7f0000200000 in v8 and
/// v9.
pub(super) fn suspects(gpu: (&str, WaveSize, Generation), text: &str, fault: &Fault) -> Vec<Suspect> {
    let (name, size, generation) = gpu;
    let arch = Targets::builtin().kind(name, size).unwrap();
    let mut session =
        registers(&arch, &[ADDRESS[0], ADDRESS[1], ("exec", 1), ("v8", 0x20_0000), ("v9", 0x7f00)]);
    session.expect_exists().return_const(true);
    session.expect_loaded_range().returning(|_, _| crate::session::LoadedRange {
        start: 0,
        last: u64::MAX,
        segment: None,
    });
    session.expect_wave().returning(|wave| Ok(info(wave, 0x1000, None, 0)));
    session.expect_has_whole_map().return_const(false);
    session.expect_place().returning(|address, wave| {
        Ok(MemoryAddress { space: GLOBAL, address: Address(address), wave: Some(wave), lane: None })
    });
    // The page of v2 and v3 is not captured.
    session.expect_region().returning(|at, _| Region {
        start: 0,
        last: u64::MAX,
        readable: at & !0xfff != 0x7f00_0010_0000,
        code: false,
        name: None,
    });
    let faults = std::slice::from_ref(fault);
    let judge = Judge::new(&session, 1, faults);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let of_wave = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    let walk = walk(&code(generation, text));
    let sighted = |candidate| {
        let look = walk.looks(candidate, &of_wave, false).into_iter().next()?;
        let access = walk.instruction(candidate)?.effects().ok()?.access.clone()?;
        let sightings = vec![judge.judge(WaveId(0), &access, look)];
        Some(Sighted { walk: &walk, candidate, sightings, waves: 1 })
    };
    let all = walk.candidates.iter().filter_map(sighted).collect();
    rank(all, judge.has_page(), true).suspects
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

/// Either the load before the branch had this address, or the store behind it: each excludes the other.
#[test]
fn accesses_of_different_paths_are_possible() {
    let address = FaultAddress { start: 0x7f00_0010_0000, bytes: PAGE, is_inexact: false };
    let fault = Fault { kind: FaultKind::Page, address: Some(address), ..Fault::default() };
    let text = format!(
        "{LOAD}\ns_cbranch_scc1 END\nv_mov_b32_e32 v2, v20\nglobal_store_dword v[2:3], v1, off\nEND:\nPC\ns_endpgm"
    );
    let found = suspects(("gfx90a", WaveSize::W64, Gfx90a), &text, &fault);
    let found: Vec<_> =
        found.iter().map(|one| (one.text.split(' ').next().unwrap(), one.confidence)).collect();
    let possible = Confidence::Possible;
    assert_eq!(found, [("global_store_dword", possible), ("global_load_dword", possible)]);
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
    let before = done(Count::Steps);
    assert!(walk(&code).candidates.iter().all(|one| one.is_in_loop || one.has_other_path));
    let steps = done(Count::Steps) - before;
    assert!(steps <= 1 << 20, "{steps}");
}

/// A report that may not have the exact address excludes no access off its page.
#[test]
fn an_inexact_report_makes_nothing_exact() {
    let address = FaultAddress { start: 0x7f00_0010_0000, bytes: PAGE, is_inexact: true };
    let fault = Fault { kind: FaultKind::Page, address: Some(address), ..Fault::default() };
    assert_eq!(reported(&format!("{LOAD}\nPC\ns_endpgm"), &fault), Confidence::Likely);
    let other = format!("{LOAD}\nglobal_load_dword v1, v[10:11], off\nPC\ns_endpgm");
    assert_eq!(reported(&other, &fault), Confidence::Possible);
}

/// A load of captured memory does not fault, if it is mapped: a store to it may, and comes first.
#[test]
fn of_captured_memory_the_store_is_blamed() {
    let address = FaultAddress { start: 0x7f00_0020_0000, bytes: PAGE, is_inexact: false };
    let fault = Fault { kind: FaultKind::Page, address: Some(address), ..Fault::default() };
    let load = "global_load_dword v1, v[8:9], off";
    let gpu = ("gfx90a", WaveSize::W64, Gfx90a);
    let both = format!("{load}\nglobal_store_dword v[8:9], v1, off\nPC\ns_endpgm");
    let found = suspects(gpu, &both, &fault);
    assert!(found[0].text.starts_with("global_store") && found[0].confidence == Confidence::Likely);
    assert_eq!(reported(&format!("{load}\nPC\ns_endpgm"), &fault), Confidence::Likely);
}

/// In a kernel each jump to an address in a register leads anywhere, and VSKIP skips instructions.
#[test]
fn hidden_paths_make_nothing_exact() {
    let after = |code: &str| certainty(&format!("{LOAD}\nPC\n{code}\ns_endpgm"), None);
    assert_eq!(after("s_nop 0"), Confidence::Exact);
    assert_eq!(after("s_setpc_b64 s[4:5]"), Confidence::Likely);
    assert_eq!(after("s_setvskip s0, 1"), Confidence::Likely);
}
