//! Paths to a PC and the accesses on them.

use super::*;

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

/// Every path to the PC ends at the access there, also where the code before it is unknown. In a loop an earlier turn
/// may have executed it, and the first turn has none before it.
#[test]
fn no_path_to_the_pc_lacks_the_access_at_the_pc() {
    let flags = |walk: &Paths| -> Vec<(bool, bool)> {
        walk.candidates.iter().map(|one| (one.has_other_path, one.depends_on_path)).collect()
    };
    let straight = code(Gfx90a, "v_mov_b32_e32 v1, 0\nPC\nglobal_load_dword v1, v[2:3], off\ns_endpgm");
    assert_eq!(flags(&walk(&straight)), [(false, false)]);
    let uncalled = search(&straight.listing, straight.pc, &[], false, &Work::default());
    assert_eq!(
        (flags(&uncalled), uncalled.gaps.as_slice()),
        (vec![(false, false)], [Gap::Caller(0x1000)].as_slice())
    );
    let branch = "s_cbranch_scc1 END
        v_mov_b32_e32 v2, 0
        END:
        PC
        global_load_dword v1, v[2:3], off
        s_endpgm";
    assert_eq!(flags(&walk(&code(Gfx90a, branch))), [(false, false)]);
    let turns = "s_nop 0
        LOOP:
        PC
        global_load_dword v1, v[2:3], off
        s_cbranch_scc1 LOOP
        s_endpgm";
    assert_eq!(flags(&walk(&code(Gfx90a, turns))), [(true, true)]);
}

#[test]
fn code_that_hides_accesses_is_a_gap() {
    let gaps = |text: &str| walk(&code(Gfx90a, text)).gaps;
    assert_eq!(gaps("s_nop 0\nPC\ns_endpgm"), []);
    let call = "s_swappc_b64 s[30:31], s[4:5]\nPC\ns_endpgm";
    assert_eq!(gaps(call), [Gap::Call(0x1000)]);
    assert_eq!(missing_code(&[walk(&code(Gfx90a, call))], &[]), [MissingData::Callee(0x1000)]);
    assert_eq!(gaps(".long 0xffffffff\nPC\ns_endpgm"), [Gap::Unknown(0x1000)]);
    let nops = "s_nop 0\n".repeat(super::super::MAX_DISTANCE + 1);
    let far = format!("{nops}PC\ns_endpgm");
    assert_eq!(gaps(&far), [Gap::Limit]);
    assert_eq!(missing_code(&[walk(&code(Gfx90a, &far))], &[]), [MissingData::Limit(Limit::Distance)]);
    let jump = "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 64\ns_addc_u32 s5, s5, 0\ns_setpc_b64 s[4:5]";
    let jump = format!("s_nop 0\nPC\ns_nop 0\n{jump}");
    assert_eq!(gaps(&jump), [Gap::Jump(0x1028)]);
    assert_eq!(missing_code(&[walk(&code(Gfx90a, &jump))], &[]), [MissingData::Jump(0x1028)]);
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

/// Paths before the return of a call: those of the callee from each of its returns, then those before the call.
#[test]
fn paths_enter_a_callee_that_returned() {
    let text = "global_load_dword v1, v[4:5], off
        s_getpc_b64 s[4:5]
        s_add_u32 s4, s4, 0x6ff0
        s_addc_u32 s5, s5, 0
        s_swappc_b64 s[30:31], s[4:5]
        global_load_dword v1, v[6:7], off
        PC
        s_endpgm";
    let kernel = code(Gfx90a, text);
    let callee = "s_cbranch_scc1 OTHER
        global_load_dwordx2 v[8:9], v[2:3], off
        s_setpc_b64 s[30:31]
        OTHER:
        global_load_dwordx4 v[8:11], v[2:3], off
        s_setpc_b64 s[30:31]";
    let callee = code_at(Gfx90a, 0x8000, callee);
    // The next instruction after s_getpc_b64 is at 0x1010.
    let outside = walk(&kernel);
    assert_eq!(outside.calls(WaveSize::W64), [(0x1020, Some(0x8000))]);
    assert!(can_enter(&callee.listing, 0x8000) && !can_enter(&callee.listing, 0x8008));
    let callees = Callees::from([(0x1020, callee.listing)]);
    let walk = search_with(&kernel.listing, kernel.pc, &[], &callees, true, &Work::default());
    assert_eq!(walk.gaps, []);
    let found = summary(&walk);
    let found: Vec<_> = found.iter().map(|(text, distance, _)| (text.as_str(), *distance)).collect();
    let expected = [
        ("global_load_dword", 1),
        ("global_load_dwordx2", 3),
        ("global_load_dwordx4", 3),
        ("global_load_dword", 9),
    ];
    assert_eq!(found, expected);
    // A path has one of the two loads of the callee.
    let others: Vec<bool> = walk.candidates.iter().map(|one| one.has_other_path).collect();
    assert_eq!(others, [false, true, true, false]);
}

/// Registers that the callee leaves as they are survive, also those that the calling convention does not preserve.
#[test]
fn registers_that_a_callee_keeps_survive() {
    let kernel =
        code(Gfx90a, "global_load_dword v60, v[2:3], off\ns_swappc_b64 s[30:31], s[4:5]\nPC\ns_endpgm");
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let session = registers(&arch, &ADDRESS);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let registers = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    for (body, is_known) in [("v_mov_b32_e32 v1, 0", true), ("v_mov_b32_e32 v2, 0", false)] {
        let callee = code_at(Gfx90a, 0x8000, &format!("{body}\ns_setpc_b64 s[30:31]"));
        let callees = Callees::from([(0x1008, callee.listing)]);
        let walk = search_with(&kernel.listing, kernel.pc, &[], &callees, true, &work);
        let look = walk.looks(&walk.candidates[0], &registers, false).remove(0);
        assert_eq!(look.unknown.is_none(), is_known, "{body}");
    }
    let outside = walk(&kernel);
    assert!(outside.looks(&outside.candidates[0], &registers, false)[0].unknown.is_some());
}

/// A function that calls itself is entered a bounded number of times.
#[test]
fn recursive_callees_are_bounded() {
    let callee = code_at(Gfx90a, 0x8000, "s_swappc_b64 s[30:31], s[4:5]\ns_setpc_b64 s[30:31]");
    let kernel = code(Gfx90a, "s_swappc_b64 s[30:31], s[4:5]\nPC\ns_endpgm");
    let callees = Callees::from([(0x1000, Arc::clone(&callee.listing)), (0x8000, callee.listing)]);
    let walk = search_with(&kernel.listing, kernel.pc, &[], &callees, true, &Work::default());
    assert_eq!(walk.gaps, [Gap::Call(0x8000)]);
}

/// The jumps of a function to computed addresses: all that do not lead to the return address of the entry.
#[test]
fn jumps_of_functions_return_or_lead_anywhere() {
    let gaps = |text: &str| {
        let function = code(Gfx90a, &format!("s_nop 0\nPC\n{text}"));
        let gaps = search(&function.listing, function.pc, &[], false, &Work::default()).gaps;
        gaps.into_iter().filter(|gap| matches!(gap, Gap::Jump(_))).count()
    };
    for text in [
        "s_setpc_b64 s[30:31]",
        "s_swappc_b64 s[30:31], s[4:5]\nv_readlane_b32 s30, v40, 0\nv_readlane_b32 s31, v40, 1\ns_setpc_b64 s[30:31]",
        "s_mov_b64 s[4:5], s[30:31]\ns_setpc_b64 s[4:5]",
        "v_writelane_b32 v40, s30, 0\nv_writelane_b32 v40, s31, 1\nv_readlane_b32 s4, v40, 0
        v_readlane_b32 s5, v40, 1\ns_setpc_b64 s[4:5]",
    ] {
        assert_eq!(gaps(text), 0, "{text}");
    }
    let far = "s_nop 0\n".repeat(9);
    for text in [
        "s_setpc_b64 s[4:5]",
        "v_readlane_b32 s4, v40, 0\nv_readlane_b32 s5, v40, 1\ns_setpc_b64 s[4:5]",
        "s_mov_b64 s[4:5], s[8:9]\ns_setpc_b64 s[4:5]",
        &format!("s_getpc_b64 s[4:5]\n{far}s_setpc_b64 s[4:5]"),
        &format!("s_getpc_b64 s[30:31]\n{far}s_setpc_b64 s[30:31]"),
    ] {
        assert_eq!(gaps(text), 1, "{text}");
    }
}

/// A function that jumps to another one at its end: the other one returns to the caller.
#[test]
fn paths_enter_the_function_of_a_tail_call() {
    let kernel = code(Gfx90a, "s_swappc_b64 s[30:31], s[4:5]\nPC\ns_endpgm");
    // The next instruction after s_getpc_b64 is at 0x8010.
    let first = "global_load_dword v1, v[2:3], off
        s_getpc_b64 s[4:5]
        s_add_u32 s4, s4, 0xff0
        s_addc_u32 s5, s5, 0
        s_nop 0
        s_setpc_b64 s[4:5]";
    let first = code_at(Gfx90a, 0x8000, first);
    let second = code_at(Gfx90a, 0x9000, "global_store_dword v[2:3], v1, off\ns_setpc_b64 s[30:31]");
    let mut callees = Callees::from([(0x1000, first.listing)]);
    let walk =
        |callees: &Callees| search_with(&kernel.listing, kernel.pc, &[], callees, true, &Work::default());
    let outside = walk(&callees);
    assert_eq!(outside.gaps, [Gap::Call(0x8028), Gap::Jump(0x8028)]);
    assert_eq!(outside.calls(WaveSize::W64), [(0x8028, Some(0x9000))]);
    assert_eq!(missing_code([&outside], &[]), [MissingData::Callee(0x8028)]);
    // The other function may write the registers that the convention does not preserve.
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let session = registers(&arch, &ADDRESS);
    let (apertures, launches, work) = (HashMap::new(), Launches::default(), Work::default());
    let of_wave = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    assert!(outside.looks(&outside.candidates[0], &of_wave, true)[0].unknown.is_some());
    callees.insert(0x8028, second.listing);
    let inside = walk(&callees);
    assert_eq!(inside.gaps, []);
    let found = summary(&inside);
    let found: Vec<_> = found.iter().map(|(text, distance, _)| (text.as_str(), *distance)).collect();
    assert_eq!(found, [("global_store_dword", 2), ("global_load_dword", 8)]);
    assert!(inside.looks(&inside.candidates[1], &of_wave, true)[0].unknown.is_none());
}

/// Older trap handlers take 8 bytes from the PC: it may be inside of an instruction, which then was executed.
#[test]
fn a_pc_inside_of_an_instruction_is_too_early() {
    let of = code(Gfx90a, "global_load_dword v1, v[2:3], off\ns_nop 0\ns_endpgm");
    let mut instructions = of.listing.instructions.clone();
    instructions[0].code.size = 12;
    for (one, address) in instructions.iter_mut().zip([0x1000, 0x100c, 0x1014]) {
        one.code.address = address;
    }
    let listing = Listing { function: of.listing.function.clone(), generation: Some(Gfx12), instructions };
    let listing = Arc::new(listing);
    let walk = |pc| search(&listing, pc, &[], true, &Work::default());
    let early = walk(0x1004);
    assert_eq!(summary(&early), [("global_load_dword".to_owned(), 1, None)]);
    assert_eq!((early.pc(), early.gaps.as_slice()), (Some(Pc(0x1004)), [Gap::Jump(0x1004)].as_slice()));
    assert_eq!(walk(0x1002).gaps, [Gap::Start(0x1002)]);
    assert_eq!(walk(0x100c).gaps, []);
}
