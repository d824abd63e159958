//! Each rule with an address that has the pattern and the nearest one that has not.

use crate::arch::{Generation, Targets};
use crate::capture::{Fault, FaultAddress, FaultKind, FaultReason};
use crate::isa::tests::access_of;
use crate::session::print::PartOwner;
use crate::session::{Inferred, LoadedRange, MemoryAddress, MockInspect, Region};
use crate::triage::accessed::{Accessed, AddressParts, LaneAt};
use crate::triage::map::{Map, Span};
use crate::triage::source::{Found, FoundTerm, TermLane};
use crate::triage::{IndexRule, InnerIndex, Pattern, Suspect, Term, Variable};
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

fn region(at: u64, segments: &[(u64, u64, &str)]) -> Region {
    let gap = |start, last| Region { start, last, readable: false, code: false, name: None };
    let mut start = 0;
    for (first, size, name) in segments {
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

fn session(is_whole: bool, segments: Vec<(u64, u64, &'static str)>) -> MockInspect {
    let mut session = MockInspect::new();
    session.expect_has_whole_map().return_const(is_whole);
    session.expect_region().returning(move |at, _| region(at, &segments));
    session.expect_loaded_range().returning(|_, _| LoadedRange { start: 0, last: u64::MAX, segment: None });
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
    /// Number of lanes, with equal addresses.
    lanes: u8,
    segments: Vec<(u64, u64, &'static str)>,
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
    let segments = SEGMENTS.to_vec();
    Case { text: LOAD, is_whole: false, faults: Vec::new(), lane, lanes: 1, segments }
}

impl Case {
    fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    fn base(mut self, base: u64) -> Self {
        self.lane.parts.base = Some(base);
        self
    }

    /// Several lanes, with equal addresses.
    fn lanes(self, lanes: u8) -> Self {
        Self { lanes, ..self }
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
        let session = session(self.is_whole, self.segments.clone());
        let access = access_of(Generation::Gfx90a, self.text);
        let set = || (7..7 + self.lanes).map(LaneId);
        let lanes: LaneSet = set().collect();
        let suspect = Suspect { lanes, ..Suspect::new(WaveId(0), Pc(0), self.text, access) };
        let accessed = Accessed {
            session: &session,
            suspect: &suspect,
            faults: &self.faults,
            agent: None,
            map: Map::new(&session, WaveId(0)),
            lanes: set().map(|lane| LaneAt { lane: Some(lane), ..self.lane }).collect(),
            others: Vec::new(),
            apertures: vec![(Address(LDS), "LDS"), (Address(0x0002_0000_0000_0000), "private memory")],
        };
        let found = super::of(&accessed, found);
        found.iter().for_each(|of| assert_eq!(of.lanes, lanes));
        found.into_iter().map(|of| of.pattern).collect()
    }

    /// The patterns of an access to elements of 4 bytes of a pointer.
    fn named(&self, pointer: u64) -> Vec<Pattern> {
        let index = self.lane.address.wrapping_sub(pointer).cast_signed() / 4;
        let lanes = (7..7 + self.lanes).map(|lane| TermLane {
            lane: Some(LaneId(lane)),
            base: pointer,
            index: Some(index),
        });
        let term = Term {
            expression: "x[i]".to_owned(),
            pointer: Variable {
                name: "x".to_owned(),
                value: format!("{pointer:#x}"),
                kind: PartOwner::Local,
                inferred: Inferred::NONE,
            },
            element: 4,
            index: IndexRule::Constant(index),
            equal: Vec::new(),
            bounds: Vec::new(),
            declared: None,
            allocation: None,
            alternatives: Vec::new(),
            inner: Vec::new(),
            is_ambiguous: false,
            is_inferred: false,
        };
        self.found_with(&Found {
            term: Some(FoundTerm { term, lanes: lanes.collect(), object: None }),
            pointers: Vec::new(),
        })
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
    assert_eq!(at(value + 8).base(value).found()[0], Pattern::Poison { value: Some(value), origin });
    let near = Pattern::Poison { value: Some(value), origin };
    assert_eq!(at(value + 0x20).found()[0], near, "the filler, and not the address");
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
        assert!(super::poison::filler(filler).unwrap().1.contains(words), "{filler:#x}");
    }
    assert_eq!(super::poison::filler(0), None);
    assert_eq!(super::poison::filler(u64::MAX), None);
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
    // A flipped pointer, in several lanes, too.
    let base = X ^ 1 << 44;
    assert!(at(base + 0x10).base(base).whole().found().contains(&flipped));
    assert!(at(base + 0x10).base(base).lanes(4).whole().found().contains(&flipped));
}

/// An index leads from a sound pointer to any address, and chance gives a bit among allocations.
#[test]
fn no_bit_is_flipped_in_the_address_of_a_sound_pointer() {
    let meant = X + 0x10;
    for bit in 17..47 {
        let address = meant ^ 1 << bit;
        at(address).base(X).whole().lacks("FlippedBit");
        at(address).base(X + 0xff0).lanes(4).whole().lacks("FlippedBit");
        // Sums of an unknown pointer.
        at(address).lanes(4).whole().lacks("FlippedBit");
        // The pointer with another bit is in no memory.
        at(address).base(address - 0x1000).whole().lacks("FlippedBit");
    }
}

/// Allocations at multiples of 2 MiB: bit 20 or 21 of any address between them gives one of them.
#[test]
fn chance_gives_a_bit_among_allocations() {
    const MIB: u64 = 1 << 20;
    let pool = [(6, "a"), (8, "x"), (12, "b"), (14, "c")].map(|(at, name)| (X + at * MIB, MIB, name));
    let all = |case: Case| Case { segments: pool.to_vec(), ..case }.whole();
    for offset in (0..18 * MIB).step_by(0x1_0000) {
        all(at(X + offset)).lacks("FlippedBit");
        all(at(X + offset).base(X + offset)).lacks("FlippedBit");
    }
    // A freed allocation between living ones.
    let freed = X + 10 * MIB;
    let named = all(at(freed)).named(freed);
    assert!(matches!(named[..], [Pattern::Freed, Pattern::BadPointer(None)]), "{named:?}");
    // An index past x; another allocation is nearer.
    let past = |distance: u64, address: u64| {
        let found = all(at(address)).named(X + 8 * MIB);
        let [Pattern::PastEnd(past)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((past.start, past.end, past.distance), (X + 8 * MIB, X + 9 * MIB, distance));
    };
    past(0x4_0000, X + 9 * MIB + 0x4_0000);
    past(0x40_8000, X + 13 * MIB + 0x8000);
    past(0x40_8000 + 0x10, X + 13 * MIB + 0x8010);
    let found = all(at(X + 8 * MIB - 70_000 * 4)).named(X + 8 * MIB);
    let negative = Pattern::NegativeIndex { index: Some(-70_000), is_zero_extended: false };
    assert_eq!(found, [negative]);
}

/// The pointer of the source is in no memory: the nearest allocation is not its own.
#[test]
fn a_bad_pointer_has_a_neighbour() {
    let bad = |case: Case, pointer| {
        let found = case.named(pointer);
        let [Pattern::BadPointer(near)] = found.as_slice() else { panic!("{found:?}") };
        near.as_ref().map(|near| (near.start, near.end, near.distance))
    };
    let x = Some((X, END, 0));
    assert_eq!(bad(at(END).whole(), END), x);
    assert_eq!(bad(at(END + 0x10).whole(), END), x);
    assert_eq!(bad(at(END).reported(&[FaultReason::NotPresent]), END), x);
    assert_eq!(bad(at(END + 0x20).whole(), END + 0x10), Some((X, END, 0x10)));
    assert_eq!(bad(at(X - 0x20).whole(), X - 0x10), Some((X, END, 0x10)));
    assert_eq!(bad(at(X + 0x5000_0000).whole(), X + 0x5000_0000), None);
    // The pointer may lead to memory that the capture lacks.
    assert_eq!(at(END).named(X - 0x2000), []);
    assert_eq!(at(END).at_users_address().named(X - 0x2000), []);
    assert_eq!(at(X - 4).named(END + 0x2000), []);
    // The code adds to a sound pointer: the pointer of the source is one of its addresses.
    let found = at(END + 0x10).base(X).whole().named(END);
    assert!(matches!(&found[..], [Pattern::PastEnd(past)] if past.distance == 0x10), "{found:?}");
}

/// The allocation of the pointer counts, and another rule explains a far address.
#[test]
fn far_past_the_end_of_the_pointers_allocation() {
    at(END + 0x8fff).base(X).has("PastEnd");
    at(X + 10 * 0x1000).base(X).has("LargeIndex");
    at(BIG + 0x100_0000 + 0x50_0000).base(BIG).has("PastEnd");
    at(BIG + 0x100_0000 + 0x50_0000).lacks("PastEnd");
    at(BIG + 10 * 0x100_0000).base(BIG).lacks("PastEnd");
    at(X + 0x20 + (4 << 32)).base(X).whole().lacks("PastEnd");
    at(X + 0x100 + 0xffff_fff8).base(X + 0x100).lacks("PastEnd");
    // Before a later allocation, from a pointer to an earlier one.
    at(X - 4).base(BIG).lacks("BeforeStart");
    at(END + 4).base(BIG).lacks("BeforeStart");
}

#[test]
fn negative_index() {
    let negative = |index, is_zero_extended| Pattern::NegativeIndex { index: Some(index), is_zero_extended };
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
    let large = |index| Pattern::LargeIndex { index: Some(index) };
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
    let host = |is_reported| Pattern::HostPointer { is_reported };
    assert_eq!(at(0x5555_6000_0000).whole().found(), [host(false)]);
    at(0x5555_6000_0000).lacks("HostPointer");
    assert_eq!(at(0x7ffc_0000_0000).whole().found(), [host(false)]);
    at(0x7f66_0000_0000).whole().lacks("HostPointer");
    assert_eq!(at(0x7f66_0000_0000).reported(&[FaultReason::HostOnly]).found(), [host(true)]);
    // Mappings lie below the stack: GPU memory among them.
    at(0x7ffb_ffff_fffc).whole().lacks("HostPointer");
    at(0x7ff1_2340_1000).whole().lacks("HostPointer");
    // GPU memory at such an address, and next to it.
    for host_like in [0x7ffd_2340_0000, 0x5555_6000_0000] {
        for distance in [0x1000, 0x1_1000, 0x100_0000, 0x1_0000_0000] {
            let near = |case: Case| Case { segments: vec![(host_like, 0x1000, "gpu")], ..case }.whole();
            near(at(host_like + distance)).lacks("HostPointer");
            near(at(host_like - distance)).lacks("HostPointer");
        }
        let far = Case { segments: vec![(host_like, 0x1000, "gpu")], ..at(host_like + 0x1_0000_2000) };
        assert_eq!(far.whole().found(), [host(false)]);
    }
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

/// The term `lin[i]`, or of an inner array, in lane 7.
fn found_term(object: Option<Span>, inner: Vec<InnerIndex>, index: Option<i64>) -> Found {
    let (name, value, inferred) = ("lin".to_owned(), String::new(), Inferred::NONE);
    let term = Term {
        expression: "lin[i]".to_owned(),
        pointer: Variable { name, value, kind: PartOwner::Global, inferred },
        element: 4,
        index: IndexRule::Constant(0),
        equal: Vec::new(),
        bounds: Vec::new(),
        declared: None,
        inner,
        is_ambiguous: false,
        allocation: None,
        alternatives: Vec::new(),
        is_inferred: false,
    };
    let lanes = vec![TermLane { lane: Some(LaneId(7)), base: X, index }];
    Found { term: Some(FoundTerm { term, lanes, object }), pointers: Vec::new() }
}

/// The bytes from the pointer give no index if an inner array has its own.
#[test]
fn indexes_of_inner_arrays() {
    let (index, array) = (IndexRule::Constant(-400), "s[t].a".to_owned());
    let inner =
        || vec![InnerIndex { array: array.clone(), index: index.clone(), equal: Vec::new(), declared: None }];
    let negative = |index| Pattern::NegativeIndex { index, is_zero_extended: false };
    for (inner, known, expected) in
        [(Vec::new(), Some(-40), Some(-40)), (inner(), Some(-400), Some(-400)), (inner(), None, None)]
    {
        let found = at(X - 160).base(X).found_with(&found_term(None, inner, known));
        assert!(found.contains(&negative(expected)), "{found:?}");
    }
    let far = at(X + 0x1000 * 20).base(X);
    let found = far.found_with(&found_term(None, inner(), None));
    assert!(found.contains(&Pattern::LargeIndex { index: None }), "{found:?}");
    let found = far.found_with(&found_term(None, Vec::new(), Some(0x5000)));
    assert!(found.contains(&Pattern::LargeIndex { index: Some(0x5000) }), "{found:?}");
}

/// A variable is an allocation with bounds of its own, whether memory beyond it is listed or not.
#[test]
fn bounds_of_the_variable() {
    let object = |start: u64, size: u64| {
        let of = Span { start, last: start + (size - 1), name: Some("lin".to_owned()), is_code: false };
        found_term(Some(of), Vec::new(), None)
    };
    let past = |case: Case, found: &Found| {
        let found = case.found_with(found).into_iter().find_map(|pattern| match pattern {
            Pattern::PastEnd(near) => Some((near.start, near.end, near.distance, near.name)),
            _ => None,
        });
        found.map(|(start, end, distance, name)| (start, end, distance, name.unwrap()))
    };
    let lin = object(X + 0x700, 0x800);
    assert_eq!(past(at(END + 4), &lin), Some((X + 0x700, X + 0xf00, 0x104, "lin".to_owned())));
    assert_eq!(past(at(X + 0xf00), &lin), Some((X + 0x700, X + 0xf00, 0, "lin".to_owned())));
    assert_eq!(past(at(X + 0xefc), &lin), None);
    let before = at(X + 0x6fc).found_with(&lin);
    assert!(matches!(&before[..], [Pattern::BeforeStart(near)] if near.distance == 4), "{before:?}");
}

/// A loaded segment of a code object is listed memory, captured or not: `.bss` from 0x3f70 to 0x4f6f.
#[test]
fn loaded_segments_are_listed() {
    let mut session = MockInspect::new();
    session.expect_has_whole_map().return_const(false);
    let captured = 0x1900..=0x1eff;
    let gap = |start, last| Region { start, last, readable: false, code: false, name: None };
    session.expect_region().returning(move |at, _| match at {
        0..0x1900 => gap(0, 0x18ff),
        0x1900..0x1f00 => Region {
            readable: true,
            code: true,
            name: Some("k.hsaco".to_owned()),
            ..gap(*captured.start(), *captured.end())
        },
        0x1f00..0x4f70 => gap(0x1f00, 0x4f6f),
        _ => gap(0x4f70, u64::MAX),
    });
    let loaded =
        |start, last, code| LoadedRange { start, last, segment: Some((code, Some("k.hsaco".to_owned()))) };
    session.expect_loaded_range().returning(move |at, _| match at {
        0..0x1900 => LoadedRange { start: 0, last: 0x18ff, segment: None },
        0x1900..0x1f00 => loaded(0x1900, 0x1eff, true),
        0x1f00..0x2f00 => LoadedRange { start: 0x1f00, last: 0x2eff, segment: None },
        0x2f00..0x3000 => loaded(0x2f00, 0x2fff, false),
        0x3000..0x3f70 => LoadedRange { start: 0x3000, last: 0x3f6f, segment: None },
        0x3f70..0x4f70 => loaded(0x3f70, 0x4f6f, false),
        _ => LoadedRange { start: 0x4f70, last: u64::MAX, segment: None },
    });
    session.expect_place().returning(|at, wave| {
        Ok(MemoryAddress { space: GLOBAL, address: Address(at), wave: Some(wave), lane: None })
    });
    let map = Map::new(&session, WaveId(0));
    let span = |of: Option<Span>| of.map(|of| (of.start, of.last, of.is_code));
    assert_eq!(span(map.at(0x3f7c)), Some((0x3f70, 0x4f6f, false)));
    assert_eq!(span(map.at(0x1900)), Some((0x1900, 0x1eff, true)));
    assert_eq!(map.at(0x3000), None);
    assert_eq!(span(map.before(0x5000)), Some((0x3f70, 0x4f6f, false)));
    assert_eq!(span(map.before(0x3800)), Some((0x2f00, 0x2fff, false)));
    assert_eq!(span(map.after(0x3800)), Some((0x3f70, 0x4f6f, false)));
    assert_eq!(span(map.before(0x2800)), Some((0x1900, 0x1eff, true)));
    assert_eq!(map.at(0x5000), None);
}
