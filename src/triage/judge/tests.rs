//! Addresses against reports and the memory map, by the rules of docs/triage.md.

use super::{Fit, Judge};
use crate::arch::{Generation, Targets};
use crate::capture::{Fault, FaultAccess, FaultAddress, FaultKind, FaultReason};
use crate::isa::Access;
use crate::isa::tests::access_of;
use crate::session::address::GLOBAL;
use crate::session::{LoadedRange, MemoryAddress, MockInspect, Region};
use crate::triage::survey::tests::info;
use crate::triage::walk::look::Look;
use crate::triage::walk::tests::{code, walk};
use crate::triage::{AddressOf, Evidence, UnknownAddressCause, UnknownLanes};
use crate::units::{Address, AddressSpace, LaneId, LaneSet, WaveId, WaveSize};

/// The only listed memory.
const X: u64 = 0x7f00_0020_0000;
const HOLE: u64 = 0x7f00_0000_0000_0000;
const FAR: u64 = 0x7f10_0000_0000;
const LOCAL: AddressSpace = AddressSpace(3);
const PRIVATE: AddressSpace = AddressSpace(5);

fn session(is_whole: bool, stop: &'static [&'static str]) -> MockInspect {
    let mut session = MockInspect::new();
    session.expect_has_whole_map().return_const(is_whole);
    session.expect_exists().return_const(false);
    session.expect_loaded_range().returning(|_, _| LoadedRange { start: 0, last: u64::MAX, segment: None });
    session.expect_region().returning(|at, _| {
        let readable = (X..X + 0x1000).contains(&at);
        Region { start: X, last: X + 0xfff, readable, code: false, name: None }
    });
    session.expect_place().returning(|at, wave| {
        Ok(MemoryAddress { space: GLOBAL, address: Address(at), wave: Some(wave), lane: None })
    });
    session.expect_wave().returning(move |wave| Ok(info(wave, 0x1000, Some(stop), 11)));
    let kind = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    session.expect_kind().returning(move || std::sync::Arc::clone(&kind));
    session.expect_size_of_space().returning(|place| (place.space == LOCAL).then_some(0x400));
    session
}

fn access(text: &str) -> Access {
    access_of(Generation::Gfx940, text)
}

fn look(addresses: &[u64]) -> Look {
    let walk = walk(&code(Generation::Gfx90a, "global_load_dword v1, v[2:3], off\nPC\ns_endpgm"));
    let of = |(lane, address): (u8, &u64)| AddressOf {
        lane: Some(LaneId(lane)),
        space: GLOBAL,
        address: *address,
        global: Some(*address),
        bytes: Some(4),
    };
    let lanes = LaneSet((1 << addresses.len()) - 1);
    Look {
        way: walk.candidates[0].ways[0],
        lanes,
        addresses: (0..).zip(addresses).map(of).collect(),
        unknown: None,
        certain: lanes,
        is_private: false,
        exec_changed: None,
        is_recovered: false,
        overwritten: None,
        is_detour: false,
        is_choice: false,
        is_doubtful: false,
    }
}

fn page(start: u64) -> Fault {
    let address = Some(FaultAddress { start, bytes: 0x1000, is_inexact: false });
    Fault { kind: FaultKind::Page, address, ..Fault::default() }
}

const LOAD: &str = "global_load_dword v2, v[0:1], off";
const ATOMIC: &str = "global_atomic_add v[0:1], v2, off";

fn fit(session: &MockInspect, faults: &[Fault], text: &str, look: Look) -> (Fit, LaneSet) {
    let found = Judge::new(session, 1, faults).judge(WaveId(0), &access(text), look);
    (found.fit, found.lanes)
}

#[test]
fn lanes_on_the_page_count() {
    let session = session(true, &["memory_violation"]);
    let faults = [page(X + 0x1000)];
    let on_page = look(&[X, X + 0x1000, HOLE, X + 0x1ffc, X + 0xffd]);
    assert_eq!(fit(&session, &faults, LOAD, on_page), (Fit::OnPage, LaneSet(0b11010)));
}

/// The report has an address: an access to other bytes of its page fits less.
#[test]
fn an_address_on_the_page_of_the_reported_one_fits() {
    let session = session(true, &["memory_violation"]);
    let at = FaultAddress { start: X + 0x1008, bytes: 1, is_inexact: false };
    let faults = [Fault { kind: FaultKind::Page, address: Some(at), ..Fault::default() }];
    let judge = Judge::new(&session, 1, &faults);
    let judged = |address| judge.judge(WaveId(0), &access(LOAD), look(&[address]));
    let beside = judged(X + 0x1000);
    assert_eq!(
        (beside.fit, beside.evidence),
        (Fit::SamePage, vec![Evidence::SamePage { address: X + 0x1008 }, Evidence::Unmapped])
    );
    assert_eq!(judged(X + 0x1008).fit, Fit::OnPage);
    assert_eq!(judged(X + 0x2000).fit, Fit::Fine);
    assert!(Fit::OnPage < Fit::SamePage && Fit::SamePage < Fit::Bad);
}

/// The GPU cannot access a page that the capture has: the reasons name that, unless the report itself has rights.
#[test]
fn a_captured_page_that_is_reported_is_remarked() {
    use FaultReason::{HostOnly, NotPresent, ReadOnly};
    let session = session(true, &["memory_violation"]);
    let mapped = Evidence::Mapped { page: X };
    let on_page = Evidence::OnPage { page: X, bytes: 0x1000 };
    let of = |reasons: &[FaultReason], start, address| {
        let faults = [Fault { reasons: reasons.to_vec(), ..page(start) }];
        Judge::new(&session, 1, &faults).judge(WaveId(0), &access(LOAD), look(&[address])).evidence
    };
    for reasons in [&[][..], &[NotPresent], &[NotPresent, ReadOnly]] {
        // Without the report's reasons a load of captured memory is no cause.
        let remark = if reasons.is_empty() { Evidence::Captured } else { mapped.clone() };
        assert_eq!(of(reasons, X, X + 8), [on_page.clone(), remark], "{reasons:?}");
        assert_eq!(of(reasons, X, FAR), [Evidence::OffPage { page: Some(X) }, mapped.clone()], "{reasons:?}");
    }
    for reasons in [ReadOnly, HostOnly] {
        let found = of(&[reasons], X, X + 8);
        assert!(!found.contains(&mapped), "{reasons:?}: {found:?}");
    }
    assert!(!of(&[], X + 0x1000, X + 0x1000).contains(&Evidence::Mapped { page: X + 0x1000 }));
    let at = FaultAddress { start: X + 8, bytes: 1, is_inexact: false };
    let faults = [Fault { kind: FaultKind::Page, address: Some(at), ..Fault::default() }];
    let beside = Judge::new(&session, 1, &faults).judge(WaveId(0), &access(LOAD), look(&[X + 16]));
    assert_eq!(beside.evidence, [Evidence::SamePage { address: X + 8 }, mapped]);
}

/// A page is reported: a bad address elsewhere does not explain it.
#[test]
fn known_addresses_off_the_page_do_not_fit() {
    for is_whole in [true, false] {
        let session = session(is_whole, &["memory_violation"]);
        for address in [HOLE, FAR, 0, X] {
            let faults = [page(X + 0x1000), page(X + 0x1010)];
            let judge = Judge::new(&session, 1, &faults);
            let found = judge.judge(WaveId(0), &access(LOAD), look(&[address]));
            assert_eq!(found.fit, Fit::Fine, "{address:#x}");
            assert_eq!(found.evidence, [Evidence::OffPage { page: Some(X + 0x1000) }], "{address:#x}");
            let faults = [page(X + 0x1000), page(X + 0x3000)];
            let judge = Judge::new(&session, 1, &faults);
            let found = judge.judge(WaveId(0), &access(LOAD), look(&[address]));
            assert_eq!(found.evidence, [Evidence::OffPage { page: None }], "{address:#x}");
        }
    }
}

#[test]
fn absent_memory_is_unmapped_by_a_whole_map_only() {
    let fit =
        |is_whole, address| fit(&session(is_whole, &["memory_violation"]), &[], LOAD, look(&[address])).0;
    assert_eq!((fit(true, FAR), fit(false, FAR)), (Fit::Bad, Fit::NotCaptured));
    assert_eq!((fit(true, X), fit(false, X)), (Fit::Fine, Fit::Fine));
    // Nothing is ever mapped there.
    assert_eq!(
        (fit(false, HOLE), fit(false, 0xffff), fit(false, 0x1_0000)),
        (Fit::Bad, Fit::Bad, Fit::NotCaptured)
    );
}

/// Reference of the driver: an address error is an address in no aperture, or a misaligned one; unmapped memory raises
/// a page fault.
#[test]
fn address_errors_are_no_page_faults() {
    let report = Fault { kind: FaultKind::Aperture, ..Fault::default() };
    for (stop, faults) in [(&["address_error"], vec![]), (&["memory_violation"], vec![report.clone()])] {
        let session = session(true, stop);
        let fit = |text, address| fit(&session, &faults, text, look(&[address])).0;
        assert_eq!((fit(LOAD, FAR), fit(LOAD, 0), fit(LOAD, HOLE)), (Fit::Fine, Fit::Fine, Fit::Bad));
        assert_eq!((fit(ATOMIC, X + 2), fit(ATOMIC, X), fit(LOAD, X + 2)), (Fit::Bad, Fit::Fine, Fit::Fine));
    }
    // A mapped or unmapped address explains no address error: nothing blames the access.
    let session_of_error = session(false, &["address_error"]);
    for address in [X, FAR] {
        let found = Judge::new(&session_of_error, 1, &[]).judge(WaveId(0), &access(LOAD), look(&[address]));
        assert_eq!(found.evidence, [Evidence::NothingBad], "{address:#x}");
    }
    // Both reasons, or a page beside the aperture: either is possible.
    let both = session(true, &["address_error", "memory_violation"]);
    assert_eq!(fit(&both, &[], LOAD, look(&[FAR])).0, Fit::Bad);
    let page = page(FAR);
    assert_eq!(fit(&both, &[report, page], LOAD, look(&[FAR])).0, Fit::OnPage);
}

/// Inactive lanes hold anything.
#[test]
fn bad_addresses_count_in_lanes_that_were_active() {
    let session = session(true, &["memory_violation"]);
    let at = |certain: u64| {
        let look = Look { certain: LaneSet(certain), exec_changed: Some(0x1000), ..look(&[X, HOLE]) };
        fit(&session, &[], LOAD, look)
    };
    assert_eq!(at(0b10), (Fit::Bad, LaneSet(0b10)));
    assert_eq!(at(0b01), (Fit::Unsure, LaneSet(0b10)));
    assert!(Fit::NotCaptured < Fit::Unsure && Fit::Unsure < Fit::Unknown);
}

#[test]
fn unknown_addresses_of_private_memory_are_apart() {
    let session = session(true, &["memory_violation"]);
    let reason = UnknownAddressCause::Overwritten { register: "s33".to_owned(), at: 0x1000 };
    let unknown = Some(UnknownLanes { lanes: LaneSet(2), reason });
    let at = |is_private| {
        let look = Look { unknown: unknown.clone(), is_private, ..look(&[X]) };
        fit(&session, &[], LOAD, look)
    };
    assert_eq!(at(false), (Fit::Unknown, LaneSet::EMPTY));
    assert_eq!(at(true), (Fit::UnknownPrivate, LaneSet::EMPTY));
    assert!(Fit::Unknown < Fit::UnknownPrivate && Fit::UnknownPrivate < Fit::Fine);
}

/// Addresses of a space in its lanes, without a place in global memory.
fn inside(space: AddressSpace, addresses: &[u64], bytes: u16) -> Look {
    let mut look = look(addresses);
    for at in &mut look.addresses {
        *at = AddressOf { space, global: None, bytes: Some(bytes), ..*at };
    }
    look
}

/// The LDS has 0x400 bytes: the last byte of an access counts, too.
#[test]
fn lds_accesses_end_in_the_lds() {
    let session = session(true, &["memory_violation"]);
    let judged = |text, address, bytes| {
        Judge::new(&session, 1, &[]).judge(WaveId(0), &access(text), inside(LOCAL, &[0, address], bytes))
    };
    for (address, bytes, fit) in [
        (0x3f8, 8, Fit::Fine),
        (0x3fc, 8, Fit::Bad),
        (0x3fc, 4, Fit::Fine),
        (0x3ff, 4, Fit::Bad),
        (0x400, 1, Fit::Bad),
    ] {
        let found = judged("ds_read_b64 v[2:3], v1", address, bytes);
        assert_eq!(found.fit, fit, "{address:#x}");
        if fit == Fit::Bad {
            assert_eq!(
                (found.lanes, found.evidence),
                (LaneSet(2), vec![Evidence::BeyondLds]),
                "{address:#x}"
            );
        }
    }
    assert_eq!(judged("ds_read_b64 v[2:3], v1", u64::from(u32::MAX), 8).fit, Fit::Bad);
}

/// An atomic is aligned in each space.
#[test]
fn misaligned_atomics_of_lds_are_bad() {
    for stop in [&["memory_violation"], &["address_error"]] {
        let session = session(true, stop);
        let judged = |text, look| Judge::new(&session, 1, &[]).judge(WaveId(0), &access(text), look);
        let found = judged("ds_add_u32 v1, v2", inside(LOCAL, &[4, 6], 4));
        assert_eq!(
            (found.fit, found.lanes, found.evidence),
            (Fit::Bad, LaneSet(2), vec![Evidence::Misaligned])
        );
        assert_eq!(judged("ds_add_u64 v1, v[2:3]", inside(LOCAL, &[4], 8)).fit, Fit::Bad);
        assert_eq!(judged("ds_add_u32 v1, v2", inside(LOCAL, &[4, 8], 4)).fit, Fit::Fine);
        assert_eq!(judged("ds_read_b32 v1, v2", inside(LOCAL, &[6], 4)).fit, Fit::Fine);
        assert_eq!(judged("flat_atomic_add v[0:1], v2", inside(PRIVATE, &[2], 4)).fit, Fit::Bad);
    }
}

/// Addresses wrap: the last page and the first one are neighbours.
#[test]
fn an_access_continues_behind_the_last_address() {
    let session = session(true, &["memory_violation"]);
    let fit = |start, address, bytes| {
        let mut look = look(&[address]);
        look.addresses[0].bytes = Some(bytes);
        fit(&session, &[page(start)], LOAD, look).0
    };
    let last = 0xffff_ffff_ffff_f000;
    assert_eq!((fit(last, u64::MAX, 4), fit(0, u64::MAX, 4)), (Fit::OnPage, Fit::OnPage));
    assert_eq!((fit(last, u64::MAX - 7, 16), fit(0, u64::MAX - 7, 16)), (Fit::OnPage, Fit::OnPage));
    assert_eq!((fit(last, u64::MAX - 7, 8), fit(0, u64::MAX - 7, 8)), (Fit::OnPage, Fit::Fine));
    assert_eq!((fit(last, 0, 4), fit(0x1000, u64::MAX, 4)), (Fit::Fine, Fit::Fine));
    assert_eq!(fit(last, last - 4, 4), Fit::Fine);
}

/// Private memory without a known base may be on any page. Captured private memory is mapped.
#[test]
fn private_memory_at_an_unknown_place_may_be_on_the_page() {
    let session = session(true, &["memory_violation"]);
    let faults = [page(X + 0x1000)];
    let judge = |faults: &[Fault], space, place: Option<u64>| {
        let mut look = inside(space, &[8], 4);
        look.addresses[0].global = place;
        Judge::new(&session, 1, faults).judge(WaveId(0), &access("scratch_load_dword v1, v2, off"), look)
    };
    // A base of 0 is that of a wave without a known one.
    for place in [None, Some(0x800)] {
        let found = judge(&faults, PRIVATE, place);
        assert_eq!((found.fit, found.evidence), (Fit::UnknownPrivate, vec![Evidence::PrivatePlace]));
        assert_eq!((found.addresses.len(), found.is_good), (1, false));
        assert_eq!(judge(&[], PRIVATE, place).fit, Fit::Fine);
    }
    assert_eq!(judge(&faults, PRIVATE, Some(FAR)).fit, Fit::Fine);
    assert_eq!(judge(&faults, LOCAL, None).fit, Fit::Fine);
}

/// A computed address off the page may be wrong: the access has an unknown address.
#[test]
fn recovered_addresses_off_the_page_exclude_nothing() {
    let session = session(true, &["memory_violation"]);
    let reason = UnknownAddressCause::Overwritten { register: "v0".to_owned(), at: 0x1000 };
    let unknown = Some(UnknownLanes { lanes: LaneSet(1), reason });
    let recovered = |address| Look { is_recovered: true, overwritten: unknown.clone(), ..look(&[address]) };
    let judge =
        |faults: &[Fault], look| Judge::new(&session, 1, faults).judge(WaveId(0), &access(LOAD), look);
    let off = judge(&[page(X + 0x1000)], recovered(X));
    assert_eq!((off.fit, off.lanes, off.addresses.len()), (Fit::Recovered, LaneSet::EMPTY, 0));
    assert_eq!((off.look.unknown, off.evidence), (unknown.clone(), vec![]));
    assert!(!off.look.is_recovered);
    assert_eq!(judge(&[page(X + 0x1000)], recovered(X + 0x1000)).fit, Fit::OnPage);
    assert_eq!(judge(&[], recovered(X)).fit, Fit::Fine);
    assert!(Fit::UnknownPrivate < Fit::Recovered && Fit::Recovered < Fit::Fine);
}

/// ROCr: "(may not be exact address)".
#[test]
fn an_inexact_report_excludes_no_address() {
    let session = session(true, &["memory_violation"]);
    let mut fault = page(X + 0x1000);
    fault.address.as_mut().unwrap().is_inexact = true;
    let faults = [fault];
    let judge = Judge::new(&session, 1, &faults);
    let judged = |address| judge.judge(WaveId(0), &access(LOAD), look(&[address]));
    let on_page = judged(X + 0x1000);
    assert!(on_page.fit == Fit::OnPage && on_page.evidence.contains(&Evidence::Inexact));
    assert_eq!((judged(FAR).fit, judged(X).evidence), (Fit::Bad, vec![Evidence::NothingBad]));
}

/// The capture has the memory: a load of it faults only if the report has it as not present.
#[test]
fn captured_memory_on_the_page_is_evidence() {
    let session = session(true, &["memory_violation"]);
    let has = |text, reasons: &[FaultReason]| {
        let faults = [Fault { reasons: reasons.to_vec(), ..page(X) }];
        let found = Judge::new(&session, 1, &faults).judge(WaveId(0), &access(text), look(&[X]));
        assert_eq!(found.fit, Fit::OnPage);
        found.evidence.contains(&Evidence::Captured)
    };
    assert!(has(LOAD, &[]) && !has("global_store_dword v[0:1], v2, off", &[]) && !has(ATOMIC, &[]));
    assert!(!has(LOAD, &[FaultReason::NotPresent]) && !has(LOAD, &[FaultReason::HostOnly]));
}

/// The evidence is that of the suspected lanes; others with bad addresses are named.
#[test]
fn other_lanes_give_no_evidence() {
    let session = session(true, &["memory_violation"]);
    let faults = [page(X + 0x1000)];
    let judge = Judge::new(&session, 1, &faults);
    let found = judge.judge(WaveId(0), &access(LOAD), look(&[HOLE, X + 0x1000, 0]));
    let on_page = Evidence::OnPage { page: X + 0x1000, bytes: 0x1000 };
    let others = Evidence::OtherLanes(LaneSet(0b101));
    assert_eq!((found.lanes, found.evidence), (LaneSet(2), vec![on_page, Evidence::Unmapped, others]));
}

/// CDNA 3 ISA: a copy to LDS past its end only masks lanes.
#[test]
fn copies_past_the_lds_do_not_fault() {
    let session = session(true, &["memory_violation"]);
    let both = |global: u64, local: u64| {
        let mut look = look(&[global]);
        let at = AddressOf { space: LOCAL, address: local, global: None, ..look.addresses[0] };
        look.addresses.push(at);
        let found =
            Judge::new(&session, 1, &[]).judge(WaveId(0), &access("global_load_lds_dword v[0:1], off"), look);
        (found.fit, found.addresses.iter().map(|at| at.space).collect::<Vec<_>>())
    };
    assert_eq!(both(X, 0), (Fit::Fine, vec![GLOBAL]));
    assert_eq!(both(FAR, 0), (Fit::Bad, vec![GLOBAL]));
    assert_eq!(both(FAR, 0x400), (Fit::Fine, vec![]));
}

/// Beside the lanes on the reported page others are as bad, and the wave's stop reason may be that of no page fault.
#[test]
fn an_access_to_the_reported_page_has_its_doubts() {
    let page = FaultAddress { start: FAR, bytes: 0x1000, is_inexact: false };
    let faults = [Fault { kind: FaultKind::Page, address: Some(page), ..Fault::default() }];
    let text = "global_load_dword v1, v[2:3], off";
    let judged = |stop: &'static [&'static str], addresses: &[u64]| {
        let session = session(true, stop);
        Judge::new(&session, 1, &faults).judge(WaveId(0), &access(text), look(addresses))
    };
    let found = judged(&["memory_violation"], &[FAR, HOLE, X, FAR + 4]);
    assert_eq!((found.fit, found.lanes), (Fit::OnPage, LaneSet(0b1001)));
    assert!(found.evidence.contains(&Evidence::OtherLanes(LaneSet(2))), "{:?}", found.evidence);
    assert!(!found.evidence.contains(&Evidence::NoPageFault));
    let found = judged(&["address_error"], &[FAR]);
    assert!(found.evidence.contains(&Evidence::NoPageFault), "{:?}", found.evidence);
    // Off the page it explains nothing: neither does it exclude what does.
    let excluded = judged(&["memory_violation"], &[HOLE]);
    assert_eq!((excluded.fit, excluded.is_contradicted), (Fit::Fine, false));
    let found = judged(&["address_error"], &[HOLE]);
    assert_eq!((found.fit, found.evidence), (Fit::Bad, vec![Evidence::Hole]));
    assert_eq!(judged(&["address_error"], &[FAR + 0x1000]).evidence, [Evidence::NothingBad]);
}

/// Registers of inactive lanes hold anything: a bound has all lanes with a bad address of any kind.
#[test]
fn a_bound_has_the_lanes_of_all_kinds_of_bad_addresses() {
    let session = session(false, &["memory_violation"]);
    let text = "global_store_dword v[2:3], v1, off";
    let judged = |certain: LaneSet| {
        let look = Look { exec_changed: Some(0x1000), certain, ..look(&[4, X, FAR, 8]) };
        Judge::new(&session, 1, &[]).judge(WaveId(0), &access(text), look)
    };
    assert_eq!(judged(LaneSet::EMPTY).lanes, LaneSet(0b1101));
    let found = judged(LaneSet(0b100));
    assert_eq!((found.fit, found.lanes), (Fit::NotCaptured, LaneSet(0b100)));
    assert_eq!(judged(LaneSet(0b1)).lanes, LaneSet(0b1001));
}

/// Direction and client are those of the reports of the page that the addresses are on.
#[test]
fn other_pages_reports_give_no_direction() {
    let session = session(true, &["memory_violation"]);
    let of = |start, access, client: &str, process| Fault {
        access: Some(access),
        client: Some(client.to_owned()),
        process: Some(process),
        ..page(start)
    };
    let judged = |faults: &[Fault], text| {
        let found = Judge::new(&session, 1, faults).judge(WaveId(0), &access(text), look(&[FAR]));
        let is_of_report =
            |one: &Evidence| matches!(one, Evidence::Direction(_) | Evidence::Client(_) | Evidence::Disputed);
        (found.is_contradicted, found.evidence.into_iter().filter(is_of_report).collect::<Vec<_>>())
    };
    const STORE: &str = "global_store_dword v[2:3], v1, off";
    let (read, write) = (FaultAccess::Read, FaultAccess::Write);
    let vector = Evidence::Client("vector memory");
    let [reads, writes] = ["read", "write"].map(|access| vec![Evidence::Direction(access), vector.clone()]);
    // A read of another page, of the same process and of another one, before it and behind it.
    for other in [of(FAR + 0x5000, read, "TCP", 7), of(X, read, "SQC (data)", 9)] {
        for faults in [[of(FAR, write, "TCP", 7), other.clone()], [other.clone(), of(FAR, write, "TCP", 7)]] {
            assert_eq!(judged(&faults, LOAD), (true, vec![]), "{faults:?}");
            assert_eq!(judged(&faults, STORE), (false, writes.clone()), "{faults:?}");
        }
    }
    // One process reads and writes a page.
    let both = [of(FAR, read, "TCP", 7), of(FAR, write, "TCP", 7)];
    assert_eq!(judged(&both, LOAD), (false, reads.clone()));
    assert_eq!(judged(&both, STORE), (false, writes));
    // Two processes: the own is unknown.
    let two = [of(FAR, read, "TCP", 7), of(FAR, write, "TCP", 9)];
    assert_eq!(judged(&two, STORE), (false, vec![Evidence::Disputed]));
    let agreed = [of(FAR, read, "TCP", 7), of(FAR, read, "TCP", 9)];
    assert_eq!(judged(&agreed, LOAD), (false, reads.clone()));
    assert_eq!(judged(&agreed, STORE), (true, vec![]));
    // Reports of one page by its first byte and by an address; two reporters of one GPU name it differently.
    let exact = Fault {
        address: Some(FaultAddress { start: FAR + 0xabc, bytes: 1, is_inexact: false }),
        ..of(FAR, write, "TCP", 7)
    };
    let named = Fault { node: Some(1), process: None, client: None, ..exact.clone() };
    for other in [exact, named] {
        let pages = [other, Fault { device: Some("0000:03:00.0".to_owned()), ..of(FAR, read, "TCP", 7) }];
        assert_eq!(judged(&pages, LOAD), (false, reads.clone()), "{pages:?}");
    }
    // Of pages that no address is on, only what all reports agree in counts.
    let off = [of(X, read, "TCP", 7), of(X + 0x1000, write, "TCP", 7)];
    assert_eq!(judged(&off, STORE), (false, vec![]));
    assert_eq!(judged(&off[..1], STORE), (true, vec![]));
    // Lanes on two pages: those on the page that is written count for a store.
    let pages = [of(FAR, read, "TCP", 7), of(FAR + 0x1000, write, "TCP", 9)];
    let judge = Judge::new(&session, 1, &pages);
    for (text, lanes) in [(STORE, LaneSet(0b110)), (LOAD, LaneSet(0b1))] {
        let found = judge.judge(WaveId(0), &access(text), look(&[FAR, FAR + 0x1000, FAR + 0x1ff8]));
        assert_eq!((found.fit, found.lanes, found.is_contradicted), (Fit::OnPage, lanes, false), "{text}");
    }
}
