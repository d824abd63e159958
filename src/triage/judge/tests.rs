//! Addresses against reports and the memory map, by the rules of docs/triage.md.

use super::{Fit, Judge};
use crate::arch::Generation;
use crate::capture::{Fault, FaultAddress, FaultKind};
use crate::isa::{self, Access};
use crate::session::address::GLOBAL;
use crate::session::{MemoryAddress, MockInspect, Region};
use crate::triage::survey::tests::info;
use crate::triage::walk::look::Look;
use crate::triage::walk::tests::{code, walk};
use crate::triage::{AddressOf, Evidence, UnknownAddressCause, UnknownLanes};
use crate::units::{Address, LaneId, LaneSet, WaveId};

/// The only listed memory.
const X: u64 = 0x7f00_0020_0000;
const HOLE: u64 = 0x7f00_0000_0000_0000;
const FAR: u64 = 0x7f10_0000_0000;

fn session(is_whole: bool, stop: &'static [&'static str]) -> MockInspect {
    let mut session = MockInspect::new();
    session.expect_has_whole_map().return_const(is_whole);
    session.expect_exists().return_const(false);
    session.expect_region().returning(|at, _| {
        let readable = (X..X + 0x1000).contains(&at);
        Region { start: X, last: X + 0xfff, readable, code: false, name: None }
    });
    session.expect_place().returning(|at, wave| {
        Ok(MemoryAddress { space: GLOBAL, address: Address(at), wave: Some(wave), lane: None })
    });
    session.expect_wave().returning(move |wave| Ok(info(wave, 0x1000, Some(stop), 11)));
    session
}

fn access(text: &str) -> Access {
    isa::decode(text, Generation::Gfx90a).unwrap().access.unwrap()
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
        is_detour: false,
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
