//! Terms of accesses in fixture dumps: the expected values are those of the kernels' models (tests/fixtures/models).

use std::path::Path;
use std::sync::Arc;

use super::describe;
use crate::arch::{Generation, Processor, Targets};
use crate::debuginfo::TypeId;
use crate::import;
use crate::isa::{self, LaneAddress, WaveContext};
use crate::session::print::{ArrayDimension, PartOwner, PartSort, PartValue, Parts, Pointee, VariablePart};
use crate::session::{
    Code as _, Dump, Inferred, Instructions, MemoryAddress, MockInspect, ReadError, Region, Session,
    Waves as _,
};
use crate::triage::registers::{WaveRegisters, apertures};
use crate::triage::{AddressOf, DeclaredBounds, IndexRule, Pattern, SourceAt, Suspect, Term};
use crate::units::{Address, AddressSpace, DieOffset, LaneId, LaneSet, Pc, WaveId, WaveSize};

fn generation(session: &Session) -> Generation {
    Processor::named(&session.kind().target.name).unwrap().generation
}

pub(in crate::triage) fn open(name: &str) -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let targets = Targets::builtin();
    let opened = import::open(&path, &targets, &import::Options::default()).unwrap();
    Session::new(Arc::new(Dump::new(opened.capture, opened.problems)), None).unwrap()
}

/// The access of an instruction, by the present registers. `lanes`: the suspected ones.
pub(in crate::triage) fn suspect(
    session: &Session,
    wave: WaveId,
    at: u64,
    text: &str,
    lanes: &[u8],
    source: Option<&str>,
) -> Suspect {
    let kind = session.kind();
    let access = isa::decode(text, generation(session)).unwrap().access.unwrap();
    let registers = WaveRegisters::new(session, wave);
    let bases = apertures(session, wave);
    let set = lanes.iter().fold(LaneSet::EMPTY, |set, lane| set.or(LaneSet::one(LaneId(*lane))));
    let context = WaveContext { arch: &kind, exec: set, apertures: &bases };
    let addresses = access.addresses(&context, &registers).into_iter().map(|found| match found.address {
        LaneAddress::Memory { space, address, global } => AddressOf {
            lane: found.lane,
            space,
            address: address.0,
            global: global.map(|global| global.0),
            bytes: found.bytes,
        },
        other => panic!("lane {:?}: {other:?}", found.lane),
    });
    Suspect {
        instruction: at,
        addresses: addresses.collect(),
        lanes: set,
        at: SourceAt { text: source.map(str::to_owned), ..SourceAt::default() },
        ..Suspect::new(wave, session.wave(wave).unwrap().pc.unwrap(), text, access)
    }
}

/// The last access to memory before an address of the wave's function.
pub(in crate::triage) fn access_before(session: &Session, wave: WaveId, at: u64) -> (u64, String) {
    let asked = Instructions { address: Some(at), around: Some(12), ..Instructions::default() };
    let listing = session.disassemble(wave, &asked).unwrap();
    let generation = generation(session);
    let is_access = |text: &str| isa::decode(text, generation).is_ok_and(|effects| effects.access.is_some());
    let found = listing.instructions.iter().rev().filter(|listed| listed.address.0 < at);
    let found = found.map(|listed| (listed.address.0, listed.text.clone()));
    found.into_iter().find(|(_, text)| is_access(text)).unwrap()
}

#[test]
fn one_past_the_end_by_the_line_of_the_source() {
    let session = open("demo.zip");
    let wave = session.first_wave();
    let line = "    float xi = x[i];";
    let mut found =
        suspect(&session, wave, 0x7f00_0010_2790, "flat_load_dword v2, v[0:1]", &[24], Some(line));
    assert_eq!(found.addresses[0].address, 0x7f00_0020_1000);
    describe(&session, &[], &mut found);
    let term = found.term.unwrap();
    assert_eq!(term.expression, "x[i]");
    assert_eq!((term.pointer.name.as_str(), term.pointer.value.as_str()), ("x", "0x7f0000200000"));
    assert_eq!((term.pointer.kind, term.element), ("argument", 4));
    assert_eq!(term.index, IndexRule::Constant(1024));
    assert_eq!(term.equal.iter().map(|of| (&*of.name, &*of.value)).collect::<Vec<_>>(), [("i", "1024")]);
    assert_eq!(term.bounds.iter().map(|of| (&*of.name, &*of.value)).collect::<Vec<_>>(), [("n", "1024")]);
    assert_eq!(term.allocation.unwrap().name.as_deref(), Some("x"));
    assert!(!term.is_inferred);
    let [of] = &found.patterns[..] else { panic!("{:?}", found.patterns) };
    let Pattern::PastEnd(past) = &of.pattern else { panic!("{of:?}") };
    assert_eq!((past.start, past.end, past.distance), (0x7f00_0020_0000, 0x7f00_0020_1000, 0));
    assert_eq!(of.lanes, LaneSet::one(LaneId(24)));
}

#[test]
fn without_the_line_other_lanes_decide() {
    let session = open("demo.zip");
    let wave = session.first_wave();
    let mut found = suspect(&session, wave, 0x7f00_0010_2790, "flat_load_dword v2, v[0:1]", &[24], None);
    describe(&session, &[], &mut found);
    let term = found.term.unwrap();
    assert_eq!(term.expression, "x[i]", "{term:?}");
    assert!(term.is_inferred);
}

/// The same fault in all builds. At -O2 arguments are optimized out: their values come from the kernel's segment.
#[test]
fn one_past_the_end_in_all_builds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.starts_with("saxpy-") {
            continue;
        }
        let session = open(&format!("dumps/{name}"));
        let wave = session.first_wave();
        let pc = session.wave(wave).unwrap().pc.unwrap();
        let (at, text) = access_before(&session, wave, pc.0);
        for line in [Some("    float xi = x[i];"), None] {
            let mut found = suspect(&session, wave, at, &text, &[24], line);
            describe(&session, &[], &mut found);
            let term = found.term.unwrap_or_else(|| panic!("{name}: {text}"));
            let kind = if name.contains("-O0") { "argument" } else { "kernel argument" };
            assert_eq!((term.pointer.name.as_str(), term.pointer.kind), ("x", kind), "{name}: {term:?}");
            assert_eq!((term.element, &term.index), (4, &IndexRule::Constant(1024)), "{name}");
            let [of] = &found.patterns[..] else { panic!("{name}: {:?}", found.patterns) };
            assert!(matches!(&of.pattern, Pattern::PastEnd(past) if past.distance == 0), "{name}");
            if name.contains("-O0") {
                assert_eq!(term.expression, "x[i]", "{name}");
            }
            let listed: Vec<&str> =
                term.equal.iter().chain(&term.bounds).map(|of| of.name.as_str()).collect();
            assert!(listed.contains(&"n"), "{name}: {term:?}");
            assert_eq!(term.is_inferred, line.is_none(), "{name}");
        }
        seen += 1;
    }
    assert!(seen >= 8, "{seen}");
}

#[test]
fn lanes_that_follow_a_rule() {
    let session = open("demo.zip");
    let wave = session.first_wave();
    let at = 0x7f00_0010_2790;
    let mut found = suspect(&session, wave, at, "flat_load_dword v2, v[0:1]", &[3, 4, 7, 24], None);
    describe(&session, &[], &mut found);
    let term = found.term.unwrap();
    assert_eq!(term.index, IndexRule::Linear { first: 1003, from: LaneId(3), step: 1 });
    assert_eq!(term.expression, "x[i]");
    assert_eq!(term.equal[0].value, "1003");
    let [of] = &found.patterns[..] else { panic!("{:?}", found.patterns) };
    assert_eq!(of.lanes, LaneSet::one(LaneId(24)), "the other lanes are in x");
}

/// A pointer to LDS, and the index of a variable in each lane.
#[test]
fn local_memory() {
    let session = open("dumps/lds-gfx90a-O0");
    let wave = session.first_wave();
    let pc = session.wave(wave).unwrap().pc.unwrap();
    let mut found = suspect(&session, wave, pc.0, "global_load_dword v2, v[0:1], off", &[], None);
    found.access = isa::decode("ds_read_b32 v0, v1", generation(&session)).unwrap().access.unwrap();
    found.lanes = LaneSet(0xf0);
    let at = |lane: u8| AddressOf {
        lane: Some(LaneId(lane)),
        space: AddressSpace(3),
        address: 4 * u64::from(lane),
        global: None,
        bytes: Some(4),
    };
    found.addresses = (4..8).map(at).collect();
    for line in [Some("  int sum = tile[item] + *mine;".to_owned()), None] {
        found.at.text = line;
        describe(&session, &[], &mut found);
        let term = found.term.as_ref().unwrap();
        assert_eq!(term.expression, "tile[item]", "{term:?}");
        assert_eq!(term.allocation, None);
        assert_eq!(found.patterns, []);
    }
}

/// A session whose variables have these parts; all memory is unlisted.
fn mocked(parts: Parts) -> MockInspect {
    let mut session = MockInspect::new();
    session.expect_next_question().return_const(());
    session.expect_has_whole_map().return_const(false);
    session.expect_kind().returning(|| Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap());
    session.expect_generic_address().returning(|_| None);
    session.expect_register().returning(|wave, _| Err(ReadError::NoSuchWave(wave)));
    session.expect_wave().returning(|wave| Err(ReadError::NoSuchWave(wave)));
    session.expect_lanes().returning(|wave| Err(ReadError::NoSuchWave(wave)));
    session.expect_place().returning(|at, wave| {
        Ok(MemoryAddress { space: AddressSpace(0), address: Address(at), wave: Some(wave), lane: None })
    });
    let gap = Region { start: 0, last: u64::MAX, readable: false, code: false, name: None };
    session.expect_region().returning(move |_, _| gap.clone());
    session.expect_parts().returning(move |_| Ok(parts.clone()));
    session.expect_member_path().returning(|_, _, offset| (offset == 24).then(|| ".id".to_owned()));
    session
}

fn part(path: &str, sort: PartSort, values: &[u64]) -> VariablePart {
    let value = |(lane, value): (u8, &u64)| PartValue {
        lane: LaneId(lane),
        value: *value,
        space: AddressSpace(0),
        address: *value,
    };
    VariablePart {
        path: path.to_owned(),
        variable: path.split(['.', '-', '[']).next().unwrap().to_owned(),
        owner: PartOwner::Local,
        call: 0,
        inferred: Inferred::NONE,
        sort,
        values: (0..).zip(values).map(value).collect(),
    }
}

fn pointee(size: u64) -> Pointee {
    Pointee { size: Some(size), ..Pointee::default() }
}

/// The term of loads of 4 bytes at these addresses of lanes 0, 1 ...
fn term_of(parts: Parts, addresses: &[u64], line: Option<&str>) -> Option<Term> {
    let session = mocked(parts);
    let lane = |(lane, address): (u8, &u64)| AddressOf {
        lane: Some(LaneId(lane)),
        space: AddressSpace(0),
        address: *address,
        global: Some(*address),
        bytes: Some(4),
    };
    let addresses: Vec<AddressOf> = (0..).zip(addresses).map(lane).collect();
    let access =
        isa::decode("global_load_dword v2, v[0:1], off", Generation::Gfx90a).unwrap().access.unwrap();
    let lanes = addresses.iter().filter_map(|of| of.lane).collect();
    let mut found = Suspect {
        lanes,
        addresses,
        at: SourceAt { text: line.map(str::to_owned), ..SourceAt::default() },
        ..Suspect::new(WaveId(0), Pc(8), "", access)
    };
    describe(&session, &[], &mut found);
    found.term
}

fn parts(parts: Vec<VariablePart>) -> Parts {
    Parts { parts, is_cut: false, is_fortran: false }
}

const P: u64 = 0x7f00_0000_0000;

#[test]
fn members_through_pointers() {
    let body = Pointee { of: Some((0, TypeId(DieOffset(0)))), is_composite: true, ..pointee(40) };
    let all = || parts(vec![part("body", PartSort::Pointer(body.clone()), &[0, 0])]);
    let term = term_of(all(), &[24, 24], None).unwrap();
    assert_eq!((term.expression.as_str(), term.is_inferred), ("body->id", true));
    let term = term_of(all(), &[24 + 40 * 3, 24 + 40 * 4], None).unwrap();
    assert_eq!(term.expression, "body[3 + lane].id");
    assert_eq!(term_of(all(), &[28, 28], None), None, "no member begins there");
    assert_eq!(term_of(all(), &[24, 24 + 8], None), None, "another member in the other lane");
}

#[test]
fn arrays_have_declared_bounds() {
    let history = |dimensions| PartSort::Array { element: pointee(4), dimensions };
    let row = |first, count, stride| ArrayDimension { first, count: Some(count), stride };
    let own = part("history", history(vec![row(0, 4, 4)]), &[P, P]);
    let index = part("k", PartSort::Integer, &[4, 7]);
    let term = term_of(parts(vec![own, index]), &[P + 16, P + 28], None).unwrap();
    assert_eq!(term.expression, "history[k]");
    assert_eq!(term.declared, Some(DeclaredBounds { first: 0, count: 4 }));
    let grid = part("grid", history(vec![row(0, 8, 64), row(0, 16, 4)]), &[P]);
    let term = term_of(parts(vec![grid]), &[P + 9 * 64 + 3 * 4], None).unwrap();
    assert_eq!(term.expression, "grid[9][3]");
    assert_eq!(term.index, IndexRule::Constant(9));
    assert_eq!(term.declared, Some(DeclaredBounds { first: 0, count: 8 }));
}

/// Fortran: any first index, the fastest index first, parentheses.
#[test]
fn arrays_of_fortran() {
    let row = |first, count, stride| ArrayDimension { first, count: Some(count), stride };
    let grid = PartSort::Array { element: pointee(4), dimensions: vec![row(5, 3, 8), row(2, 2, 4)] };
    let all = Parts { is_fortran: true, ..parts(vec![part("grid", grid, &[P])]) };
    let term = term_of(all, &[P + 3 * 8 + 4], None).unwrap();
    assert_eq!(term.expression, "grid(3, 8)");
    assert_eq!(term.declared, Some(DeclaredBounds { first: 5, count: 3 }));
}

#[test]
fn equal_fits_are_alternatives() {
    let pointer = |path| part(path, PartSort::Pointer(pointee(4)), &[P]);
    let both = || parts(vec![pointer("first"), pointer("second")]);
    let term = term_of(both(), &[P + 4], None).unwrap();
    assert_eq!(
        (term.expression.as_str(), &term.alternatives[..]),
        ("first[1]", &["second[1]".to_owned()][..])
    );
    let term = term_of(both(), &[P + 4], Some("  sum += second[at]; // first[at]")).unwrap();
    assert_eq!(
        (term.expression.as_str(), term.alternatives.len(), term.is_inferred),
        ("second[1]", 0, false)
    );
}

/// A far address of a pointer has no reason, and so has a store through a pointer to const.
#[test]
fn no_term_without_a_reason() {
    let pointer = |pointee| parts(vec![part("x", PartSort::Pointer(pointee), &[P])]);
    assert_eq!(term_of(pointer(pointee(4)), &[P + 0x1_0000], None), None);
    assert!(term_of(pointer(pointee(4)), &[P + 0xfffc], None).is_some());
    assert_eq!(term_of(pointer(pointee(4)), &[P + 2], None), None, "no whole index");
    assert_eq!(term_of(Parts::default(), &[P], None), None);
    let index = part("i", PartSort::Integer, &[0x10_0000]);
    let x = part("x", PartSort::Pointer(pointee(4)), &[P]);
    let term = term_of(parts(vec![x, index]), &[P + 0x40_0000], None).unwrap();
    assert_eq!(term.expression, "x[i]");
}

/// The analysis knows the line before it chooses the pointer: `cursor[stride]` has the same address in all lanes.
#[test]
fn the_line_decides_in_the_analysis() {
    let session = open("demo.zip");
    let sessions: [&dyn crate::session::Inspect; 1] = [&session];
    let found = crate::triage::triage(&sessions, &crate::triage::Question::default());
    let first = &found.suspects[0];
    assert_eq!(first.at.text.as_deref().map(str::trim), Some("float xi = x[i];"));
    let term = first.term.as_ref().unwrap();
    assert_eq!((term.expression.as_str(), term.is_inferred, term.alternatives.len()), ("x[i]", false, 0));
}
