//! Each rule with an address that has the pattern and the nearest one that has not.

use crate::arch::{Processor, Targets};
use crate::capture::{Fault, FaultAddress, FaultKind, FaultReason};
use crate::isa;
use crate::session::{MemoryAddress, MockInspect, Region};
use crate::triage::accessed::{Accessed, AddressParts, LaneAt};
use crate::triage::map::Map;
use crate::triage::source::Found;
use crate::triage::{Pattern, PatternOf, Suspect};
use crate::units::{Address, AddressSpace, LaneId, LaneSet, Pc, WaveId, WaveSize};

/// Listed memory: first address, number of bytes, name.
const SEGMENTS: &[(u64, u64, &str)] = &[
    (0x7d00_0000_0000, 0x1000, "below"),
    (0x7d00_0010_0000, 0x1000, "above"),
    (BIG, 0x100_0000, "big"),
    (X, 0x1000, "x"),
    (LDS, 0x400, "LDS aperture"),
];
const LDS: u64 = 0x0001_0000_0000_0000;
const BIG: u64 = 0x7e00_0000_0000;
const X: u64 = 0x7f00_0020_0000;
const END: u64 = X + 0x1000;
const GLOBAL: AddressSpace = AddressSpace(0);
const LOCAL: AddressSpace = AddressSpace(3);

fn region(at: u64) -> Region {
    let gap = |start, last| Region { start, last, readable: false, code: false, name: None };
    let mut start = 0;
    for (first, size, name) in SEGMENTS {
        let last = first + (size - 1);
        if at < *first {
            return gap(start, first - 1);
        }
        if at <= last {
            let name = Some((*name).to_owned());
            return Region { start: *first, last, readable: true, code: false, name };
        }
        start = last + 1;
    }
    gap(start, u64::MAX)
}

fn session(is_whole: bool) -> MockInspect {
    let mut session = MockInspect::new();
    session.expect_has_whole_map().return_const(is_whole);
    session.expect_region().returning(|at, _| region(at));
    session.expect_place().returning(|at, wave| {
        let space = if at >> 32 == LDS >> 32 { LOCAL } else { GLOBAL };
        Ok(MemoryAddress { space, address: Address(at), wave: Some(wave), lane: None })
    });
    session.expect_kind().returning(|| Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap());
    session
}

/// The patterns of an access of some bytes.
struct Case {
    text: &'static str,
    is_whole: bool,
    faults: Vec<Fault>,
    lane: LaneAt,
}

const LOAD: &str = "global_load_dword v2, v[0:1], off";
const STORE: &str = "global_store_dword v[0:1], v2, off";
const ATOMIC: &str = "global_atomic_add v[0:1], v2, off";

fn at(address: u64) -> Case {
    let lane = LaneAt {
        lane: Some(LaneId(7)),
        space: GLOBAL,
        address,
        global: Some(address),
        bytes: 4,
        parts: AddressParts::default(),
    };
    Case { text: LOAD, is_whole: false, faults: Vec::new(), lane }
}

impl Case {
    fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    fn base(mut self, base: u64) -> Self {
        self.lane.parts.base = Some(base);
        self
    }

    fn bytes(mut self, bytes: u64) -> Self {
        self.lane.bytes = bytes;
        self
    }

    fn text(self, text: &'static str) -> Self {
        Self { text, ..self }
    }

    /// A report for the page of the address.
    fn reported(mut self, reasons: &[FaultReason]) -> Self {
        let address = FaultAddress { start: self.lane.address & !0xfff, bytes: 0x1000, is_inexact: false };
        self.faults.push(Fault { address: Some(address), reasons: reasons.to_vec(), ..Fault::default() });
        self
    }

    /// The user's address, which has no kind but memory.
    fn at_users_address(mut self) -> Self {
        let address = FaultAddress { start: self.lane.address, bytes: 1, is_inexact: false };
        let kind = FaultKind::Memory;
        self.faults.push(Fault { kind, address: Some(address), ..Fault::default() });
        self
    }

    fn found(&self) -> Vec<Pattern> {
        self.found_with(&Found::default())
    }

    fn found_with(&self, found: &Found) -> Vec<Pattern> {
        let session = session(self.is_whole);
        let generation = Processor::named("gfx90a").unwrap().generation;
        let access = isa::decode(self.text, generation).unwrap().access.unwrap();
        let lanes = LaneSet::one(LaneId(7));
        let suspect = Suspect { lanes, ..Suspect::new(WaveId(0), Pc(0), self.text, access) };
        let accessed = Accessed {
            session: &session,
            suspect: &suspect,
            faults: &self.faults,
            map: Map::new(&session, WaveId(0)),
            lanes: vec![self.lane],
            others: Vec::new(),
            apertures: vec![(Address(LDS), "LDS"), (Address(0x0002_0000_0000_0000), "private memory")],
        };
        let found = super::of(&accessed, found);
        let lanes = |of: &PatternOf| assert_eq!(of.lanes, LaneSet::one(LaneId(7)));
        found.iter().for_each(lanes);
        found.into_iter().map(|of| of.pattern).collect()
    }

    /// The names of the patterns.
    fn names(&self) -> Vec<String> {
        let name = |pattern: &Pattern| format!("{pattern:?}").split([' ', '(']).next().unwrap().to_owned();
        self.found().iter().map(name).collect()
    }

    #[track_caller]
    fn has(self, name: &str) {
        let names = self.names();
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }

    #[track_caller]
    fn lacks(self, name: &str) {
        let names = self.names();
        assert!(names.iter().all(|found| found != name), "{name}: {names:?}");
    }
}

#[test]
fn good_addresses_have_no_pattern() {
    assert_eq!(at(X).base(X).whole().found(), []);
    assert_eq!(at(END - 4).base(X).found(), []);
    assert_eq!(at(0x7f55_0000_0000).found(), [], "memory that a partial capture lacks");
}

#[test]
fn null() {
    assert_eq!(at(0xffc).found()[0], Pattern::Null { base: None, offset: 0xffc });
    at(0x1000).lacks("Null");
    assert_eq!(at(0x1000).base(0).found()[0], Pattern::Null { base: Some(0), offset: 0x1000 });
    at(0xffff_fffc).base(0).has("Null");
    at(0x1_0000_0000).base(0).lacks("Null");
    at(0x1000).base(8).lacks("Null");
}

#[test]
fn other_aperture() {
    assert_eq!(at(LDS + 0x2000).found(), [Pattern::OtherAperture { space: "LDS" }]);
    assert_eq!(at(0x0002_0000_0000_0010).found(), [Pattern::OtherAperture { space: "private memory" }]);
    at(0x0002_0001_0000_0010).lacks("OtherAperture");
    at(0x0000_ffff_ffff_fff0).lacks("OtherAperture");
}

#[test]
fn non_canonical() {
    assert_eq!(at(0x0000_8000_0000_0000).found(), [Pattern::NonCanonical]);
    at(0x0000_7fff_ffff_fffc).lacks("NonCanonical");
    at(0xffff_7fff_ffff_fffc).has("NonCanonical");
    at(0xffff_8000_0000_0000).lacks("NonCanonical");
    at(LDS).lacks("NonCanonical");
}

#[test]
fn poison() {
    let origin = "a filler by convention";
    let value = 0xdead_beef_dead_beef;
    assert_eq!(at(value + 8).base(value).found()[0], Pattern::Poison { value, origin });
    at(value + 0xffff).has("Poison");
    at(value + 0x1_0000).lacks("Poison");
    at(0xdead_beef).has("Poison");
    at(0xbebe_bebe_bebe_bebe).has("Poison");
    at(0x7777_7777_7777_7777).has("Poison");
    at(0xffff_ffff_ffff_fff0).lacks("Poison");
    at(0x1f).lacks("Poison");
    at(X).base(0xaaaa_aaaa_aaaa_aaaa).lacks("Poison");
    for (filler, words) in [
        (0xd0be_d0be_d0be_d0be, "amdgpu"),
        (0xbebe_bebe_bebe_bebe, "AddressSanitizer"),
        (0xa5a5_a5a5_a5a5_a5a5, "jemalloc"),
        (0xaaaa_aaaa_aaaa_aaaa, "clang"),
        (0xcdcd_cdcd_cdcd_cdcd, "MSVC"),
        (0x6b6b_6b6b_6b6b_6b6b, "Linux"),
        (0x2b2b_2b2b_2b2b_2b2b, "MALLOC_PERTURB_"),
    ] {
        assert!(super::poison::origin(filler).unwrap().contains(words), "{filler:#x}");
    }
    assert_eq!(super::poison::origin(0), None);
    assert_eq!(super::poison::origin(u64::MAX), None);
}

#[test]
fn flipped_bit() {
    let meant = X + 0x10;
    let flipped = Pattern::FlippedBit { bit: 44, meant, alternatives: 0 };
    assert!(at(meant ^ 1 << 44).whole().found().contains(&flipped));
    at(meant ^ 1 << 44).lacks("FlippedBit");
    at(meant ^ 1 << 44).reported(&[FaultReason::NotPresent]).has("FlippedBit");
    at(meant ^ 1 << 44).at_users_address().has("FlippedBit");
    at(meant ^ 1 << 60).has("FlippedBit");
    at(meant ^ 0b11 << 60).lacks("FlippedBit");
    at(END).whole().lacks("FlippedBit");
}

#[test]
fn negative_index() {
    let negative = |index, is_zero_extended| Pattern::NegativeIndex { index, is_zero_extended };
    assert_eq!(at(X - 8).base(X).found()[0], negative(-2, false));
    at(X - 8).lacks("NegativeIndex");
    at(X).base(X + 8).lacks("NegativeIndex");
    at(X - (1 << 33)).base(X).has("NegativeIndex");
    at(X - (1 << 33) - 4).base(X).lacks("NegativeIndex");
    assert!(at(X + 0x100 + 0xffff_fff8).base(X + 0x100).found().contains(&negative(-2, true)));
    assert!(at(X + 0xffff_0004).base(X).found().contains(&negative(-0x3fff, true)));
    at(X + 0xffff_0000).base(X).lacks("NegativeIndex");
    at(BIG + 0x90_0000 + 0xff80_0000).base(BIG + 0x90_0000).has("NegativeIndex");
    at(BIG + 0x70_0000 + 0xff80_0000).base(BIG + 0x70_0000).lacks("NegativeIndex");
    at(X + (1 << 32) + 0xff8).base(X + 0x1000).lacks("NegativeIndex");
}

#[test]
fn wrapped_at_32_bits() {
    let wrapped = Pattern::Wrapped32 { times: 1, meant: X + 0x20 };
    assert!(at(X + 0x20 - (1 << 32)).base(X).whole().found().contains(&wrapped));
    at(X + 0x20 - (1 << 32)).base(X).lacks("Wrapped32");
    at(X + 0x20 - (1 << 32)).base(X).reported(&[]).has("Wrapped32");
    at(X + 0x20 - (1 << 32)).base(X).at_users_address().has("Wrapped32");
    at(X + 0x20 + (4 << 32)).base(X).whole().has("Wrapped32");
    at(X + 0x20 + (5 << 32)).base(X).whole().lacks("Wrapped32");
    at(END - (1 << 32)).base(X).whole().lacks("Wrapped32");
    let case = at(X + 0x20 - (1 << 32)).whole();
    let of = |pointer| case.found_with(&Found { term: None, pointers: vec![pointer] });
    assert!(of(X).contains(&wrapped));
    assert!(!of(BIG).contains(&wrapped), "a pointer that is further away");
    // Without a good base a multiple of 2^32 may be one flipped bit; a sum of a good base and an index is none.
    let ambiguous = || at(X + 0x20 + (1 << 32)).whole();
    let both = ambiguous().found_with(&Found { term: None, pointers: vec![X] });
    assert!(both.contains(&Pattern::Wrapped32 { times: -1, meant: X + 0x20 }), "{both:?}");
    assert!(both.contains(&Pattern::FlippedBit { bit: 32, meant: X + 0x20, alternatives: 0 }), "{both:?}");
    ambiguous().base(X).lacks("FlippedBit");
    ambiguous().base(X).has("Wrapped32");
}

#[test]
fn large_index() {
    let large = |index| Pattern::LargeIndex { index };
    assert_eq!(at(X + 10 * 0x1000).base(X).found()[0], large(0x2800));
    at(X + 10 * 0x1000 - 4).base(X).lacks("LargeIndex");
    assert!(at(BIG + 4 * 5_000_000).base(BIG).found().contains(&large(5_000_000)));
    at(BIG + 4 * 5_000_001).base(BIG).lacks("LargeIndex");
    at(BIG + 4 * 5_000_000).lacks("LargeIndex");
}

#[test]
fn neighbours() {
    let found = at(END + 0x10).found();
    let [Pattern::PastEnd(past)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((past.start, past.end, past.distance, past.name.as_deref()), (X, END, 0x10, Some("x")));
    assert!(past.is_rounded && !past.is_map_whole);
    at(END).has("PastEnd");
    at(END + 0xffff).has("PastEnd");
    at(END + 0x1_0000).lacks("PastEnd");
    let found = at(X - 4).found();
    let [Pattern::BeforeStart(before)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((before.start, before.distance), (X, 4));
    at(X - 0x1_0000).has("BeforeStart");
    at(X - 0x1_0001).lacks("BeforeStart");
    let found = at(END - 4).bytes(8).found();
    let [Pattern::Straddles(over)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((over.end, over.distance), (END, 4));
    at(END - 4).bytes(4).lacks("Straddles");
}

#[test]
fn past_the_end_of_lds() {
    let mut case = at(0x3fe);
    (case.lane.space, case.lane.global) = (LOCAL, None);
    let found = case.found();
    let [Pattern::PastEnd(past)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((past.start, past.end, past.distance, past.name.as_deref()), (0, 0x400, 0, Some("LDS")));
    let mut case = at(0x3fc);
    (case.lane.space, case.lane.global) = (LOCAL, None);
    assert_eq!(case.found(), []);
}

#[test]
fn misaligned() {
    assert_eq!(at(X + 2).text(ATOMIC).found(), [Pattern::Misaligned { needed: 4 }]);
    at(X + 4).text(ATOMIC).lacks("Misaligned");
    at(X + 4).text(ATOMIC).bytes(8).has("Misaligned");
    at(X + 2).lacks("Misaligned");
}

#[test]
fn read_only() {
    let (read_only, absent) = (FaultReason::ReadOnly, FaultReason::NotPresent);
    assert_eq!(at(X).text(STORE).reported(&[read_only]).found(), [Pattern::ReadOnly]);
    at(X).text(STORE).reported(&[absent, read_only]).lacks("ReadOnly");
    at(X).reported(&[read_only]).lacks("ReadOnly");
    at(X).text(STORE).lacks("ReadOnly");
}

#[test]
fn host_pointer() {
    at(0x5555_6000_0000).whole().has("HostPointer");
    at(0x5555_6000_0000).lacks("HostPointer");
    at(0x7ffc_0000_0000).whole().has("HostPointer");
    at(0x7f66_0000_0000).whole().lacks("HostPointer");
    at(0x7f66_0000_0000).reported(&[FaultReason::HostOnly]).has("HostPointer");
}

#[test]
fn freed() {
    at(0x7d00_0008_0000).whole().has("Freed");
    at(0x7d00_0008_0000).lacks("Freed");
    at(0x7d00_0008_0000).at_users_address().has("Freed");
    at(0x7d00_0008_0000).base(X).whole().lacks("Freed");
    at(0x7d00_0000_f000).whole().lacks("Freed");
    at(0x7d00_0040_0000).whole().lacks("Freed");
}

/// A hostile capture: any address, base and index ends in an answer.
#[test]
fn any_numbers() {
    let edges = [0, 1, 0xfff, X, END, LDS, 1 << 47, u64::MAX - 3, u64::MAX, 1 << 63];
    for address in edges {
        for base in edges {
            for bytes in [1, 16, 64] {
                let mut case = at(address).base(base).bytes(bytes).whole();
                case.lane.parts.index = Some(u32::MAX);
                case.found();
            }
        }
    }
}
