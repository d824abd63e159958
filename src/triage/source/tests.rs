//! Terms of accesses in fixture dumps: the expected values are those of the kernels' models (tests/fixtures/models).

use std::path::Path;
use std::sync::Arc;

use super::{Line, describe};
use crate::arch::{Generation, Processor, Targets};
use crate::debuginfo::TypeId;
use crate::import;
use crate::isa::tests::access_of;
use crate::isa::{Direction, Instruction, LaneAddress, WaveContext};
use crate::session::print::{
    ArrayDimension, ElementPath, PartOwner, PartSort, PartValue, Parts, Pointee, VariablePart,
};
use crate::session::{
    Code as _, Dump, Inferred, Instructions, LoadedRange, MemoryAddress, MockInspect, PointerAt, ReadError,
    Region, Session, Waves as _,
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
    let access = access_of(generation(session), text);
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
    let is_access = |one: &Instruction| one.effects().is_ok_and(|effects| effects.access.is_some());
    let found = listing.instructions.iter().rev().filter(|listed| listed.address.0 < at);
    let found = found.into_iter().find(|listed| is_access(&listed.code)).unwrap();
    (found.address.0, found.code.text().into_owned())
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
    assert_eq!((term.pointer.kind.words().as_str(), term.element), ("argument", 4));
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
            assert_eq!(
                (term.pointer.name.as_str(), term.pointer.kind.words().as_str()),
                ("x", kind),
                "{name}: {term:?}"
            );
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
    found.access = access_of(generation(&session), "ds_read_b32 v0, v1");
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
    mocked_with(parts, (0, 0), Vec::new())
}

/// A session with some memory from 1 on, first and last byte, and the arrays in elements.
fn mocked_with(parts: Parts, listed: (u64, u64), paths: Vec<ElementPath>) -> MockInspect {
    mocked_of(parts, listed, paths, Vec::new())
}

/// The same with words in memory.
fn mocked_of(
    parts: Parts,
    listed: (u64, u64),
    paths: Vec<ElementPath>,
    words: Vec<(u64, u64)>,
) -> MockInspect {
    let listed = Some(listed).filter(|(first, _)| *first > 0);
    mocked_among(parts, listed.into_iter().collect(), paths, words)
}

/// The same with several runs of memory, in order.
fn mocked_among(
    parts: Parts,
    listed: Vec<(u64, u64)>,
    paths: Vec<ElementPath>,
    words: Vec<(u64, u64)>,
) -> MockInspect {
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
    let region = |start, last, readable| Region { start, last, readable, code: false, name: None };
    session.expect_region().returning(move |at, _| {
        let mut start = 0;
        for (first, last) in &listed {
            if at < *first {
                return region(start, first - 1, false);
            }
            if at <= *last {
                return region(*first, *last, true);
            }
            start = last + 1;
        }
        region(start, u64::MAX, false)
    });
    session.expect_loaded_range().returning(|_, _| LoadedRange { start: 0, last: u64::MAX, segment: None });
    session.expect_parts().returning(move |asked| {
        let mut found = parts.clone();
        let is_asked = |part: &VariablePart| {
            (asked.names.is_empty() || asked.names.contains(&part.variable))
                && (asked.has_globals || part.owner != PartOwner::Global)
        };
        found.parts.retain(is_asked);
        Ok(found)
    });
    session.expect_member_path().returning(|_, _, offset| (offset == 24).then(|| ".id".to_owned()));
    let pointer = |offset| PointerAt {
        offset,
        bytes: 8,
        space: AddressSpace(0),
        is_shared: false,
        to: Some((TypeId(DieOffset(0)), 40)),
    };
    session.expect_pointers_in().returning(move |_, _| Arc::new([pointer(24)]));
    session.expect_element_paths().returning(move |_, _| paths.clone());
    session.expect_read().returning(move |place, bytes| {
        let word = words.iter().find(|(at, _)| *at == place.address.0);
        let Some((word, to)) = word.zip(bytes.first_chunk_mut::<8>()) else { return Ok(0) };
        *to = word.1.to_le_bytes();
        Ok(8)
    });
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
    term_in(&mocked(parts), addresses, line)
}

fn term_in(session: &MockInspect, addresses: &[u64], line: Option<&str>) -> Option<Term> {
    let mut found = loads(addresses, line);
    describe(session, &[], &mut found);
    found.term
}

/// Loads of 4 bytes at these addresses of lanes 0, 1 ...
fn loads(addresses: &[u64], line: Option<&str>) -> Suspect {
    let lane = |(lane, address): (u8, &u64)| AddressOf {
        lane: Some(LaneId(lane)),
        space: AddressSpace(0),
        address: *address,
        global: Some(*address),
        bytes: Some(4),
    };
    let addresses: Vec<AddressOf> = (0..).zip(addresses).map(lane).collect();
    let access = access_of(Generation::Gfx90a, "global_load_dword v2, v[0:1], off");
    let lanes = addresses.iter().filter_map(|of| of.lane).collect();
    Suspect {
        lanes,
        addresses,
        at: SourceAt { text: line.map(str::to_owned), ..SourceAt::default() },
        ..Suspect::new(WaveId(0), Pc(8), "", access)
    }
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
    // 9 * 16 + 3 is also the 147th element of the first row.
    assert_eq!((term.expression.as_str(), term.is_ambiguous), ("grid[9][3] or grid[0][147]", true));
    assert_eq!((term.index, term.inner), (IndexRule::Listed(Vec::new()), Vec::new()));
    assert_eq!(term.declared, Some(DeclaredBounds { first: 0, count: 8 }));
}

/// Fortran: any first index, the fastest index first, parentheses.
#[test]
fn arrays_of_fortran() {
    let row = |first, count, stride| ArrayDimension { first, count: Some(count), stride };
    let grid = PartSort::Array { element: pointee(4), dimensions: vec![row(5, 3, 8), row(2, 2, 4)] };
    let all = Parts { is_fortran: true, ..parts(vec![part("grid", grid, &[P])]) };
    let term = term_of(all, &[P + 3 * 8 + 4], Some("  sum = sum + grid(3, 8)")).unwrap();
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

/// `x[t + n] + y[t]` with the address in x + n: the code adds to x, whose memory is not listed, and y's ends before.
#[test]
fn the_register_of_the_code_is_the_pointer() {
    let pointer = |path, at| part(path, PartSort::Pointer(pointee(4)), &[at, at]);
    let both = || parts(vec![pointer("x", P), pointer("y", P + 0x2000)]);
    let session = mocked_with(both(), (P + 0x2000, P + 0x2fff), Vec::new());
    let addresses = [P + 0x3000, P + 0x3004];
    let mut found = loads(&addresses, Some("  float v = x[t + n] + y[t];"));
    describe(&session, &[], &mut found);
    assert_eq!(found.term.as_ref().unwrap().expression, "y[1024 + lane]");
    found.origins = (0..2).map(|lane| (Some(LaneId(lane)), P)).collect();
    for line in [Some("  float v = x[t + n] + y[t];"), Some("  float v = *(x + t + n) + y[t];"), None] {
        found.at.text = line.map(str::to_owned);
        describe(&session, &[], &mut found);
        let term = found.term.as_ref().unwrap();
        assert_eq!(
            (term.expression.as_str(), &term.alternatives[..]),
            ("x[3072 + lane]", &[][..]),
            "{line:?}"
        );
    }
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

/// A path to elements: offset, members, and each dimension's number and stride.
type PathRow = (u64, &'static [&'static str], &'static [(u64, i64)]);

/// `struct { int n; float a[8]; int m; }`, as `struct S` of 40 bytes; the mock knows its member at 24 as `.id`.
fn records(paths: &[PathRow]) -> Vec<ElementPath> {
    let path = |(offset, members, dimensions): &PathRow| {
        let dimension =
            |(count, stride): &(u64, i64)| ArrayDimension { first: 0, count: Some(*count), stride: *stride };
        let members = members.iter().map(|of| (*of).to_owned()).collect();
        ElementPath {
            offset: *offset,
            size: 4,
            members,
            dimensions: dimensions.iter().map(dimension).collect(),
        }
    };
    paths.iter().map(path).collect()
}

/// The readings of an index past the bound of an inner array: the element is another one, or another member.
#[test]
fn inner_indexes_past_their_bounds() {
    let body = Pointee { of: Some((0, TypeId(DieOffset(0)))), is_composite: true, ..pointee(40) };
    let s = || part("s", PartSort::Pointer(body.clone()), &[P, P, P]);
    let t = || part("t", PartSort::Integer, &[0, 1, 2]);
    let paths = records(&[(4, &[".a", ""], &[(8, 4)])]);
    let read = |found: Vec<VariablePart>, i: i64, line: Option<&str>| {
        let at = |lane: u64| (P + 40 * lane + 4).wrapping_add_signed(4 * i);
        term_in(&mocked_with(parts(found), (0, 0), paths.clone()), &[at(0), at(1), at(2)], line).unwrap()
    };
    let line = Some("    float v = s[t].a[i];");
    // 5 has the address of the member at 24.
    for i in [0, 3, 5, 7, 8, 9, 12, 5000, -2, -400] {
        let term = read(vec![s(), t(), integer("i", i)], i, line);
        assert_eq!((term.expression.as_str(), term.is_ambiguous), ("s[t].a[i]", false), "{i}");
        let [inner] = &term.inner[..] else { panic!("{term:?}") };
        assert_eq!((inner.array.as_str(), &inner.index), ("s[t].a", &IndexRule::Constant(i)));
        assert_eq!(inner.declared, Some(DeclaredBounds { first: 0, count: 8 }));
        assert_eq!(inner.equal[0].value, i.to_string());
    }
    // One of the two is known.
    assert_eq!(read(vec![s(), t()], 5000, line).expression, "s[t].a[5000]");
    assert_eq!(read(vec![s(), integer("i", 5000)], 5000, line).expression, "s[lane].a[i]");
    // None is: the address has more than one reading.
    let term = read(vec![s()], 5000, line);
    assert_eq!(
        (term.expression.as_str(), term.is_ambiguous),
        ("s[500 + lane].a[0] or s[lane].a[5000]", true)
    );
    let term = read(vec![s()], 5, None);
    assert_eq!((term.expression.as_str(), term.is_ambiguous), ("s[lane].id or s[lane].a[5]", true));
    // The line's member decides, also between two in one line by what their indexes are.
    assert_eq!(read(vec![s(), t()], 5, Some("v = s[t].id;")).expression, "s[t].id");
    assert_eq!(
        read(vec![s(), t(), integer("i", 5)], 5, Some("v = s[t].id + s[t].a[i];")).expression,
        "s[t].id or s[t].a[i]"
    );
    // An index that is an expression names no variable.
    let term = read(vec![s(), t(), integer("i", 5)], 13, Some("v = s[t].a[i + 8];"));
    assert_eq!(term.expression, "s[t].a[13]");
}

/// A pointer with a wrong bit: any address is one of an inner array by a large index.
#[test]
fn large_inner_indexes_need_a_reason() {
    let body = Pointee { of: Some((0, TypeId(DieOffset(0)))), is_composite: true, ..pointee(40) };
    let s = || part("s", PartSort::Pointer(body.clone()), &[P, P, P]);
    let t = || part("t", PartSort::Integer, &[0, 1, 2]);
    let paths = records(&[(4, &[".a", ""], &[(8, 4)])]);
    for index in [1_i64 << 38, 1 << 33, 0x4008, -0x4001] {
        let at = |lane: u64| (P + 40 * lane + 4).wrapping_add_signed(4 * index);
        let read = |found: Vec<VariablePart>, line: Option<&str>| {
            term_in(&mocked_with(parts(found), (0, 0), paths.clone()), &[at(0), at(1), at(2)], line)
        };
        assert_eq!(read(vec![s(), t()], None), None, "{index:#x}");
        let i = part("i", PartSort::Integer, &[index.cast_unsigned(); 3]);
        assert_eq!(read(vec![s(), t(), i], None).unwrap().expression, "s[t].a[i]", "{index:#x}");
        let line = Some("v = s[t].a[k];");
        assert_eq!(read(vec![s(), t()], line).unwrap().expression, format!("s[t].a[{index}]"));
    }
}

#[test]
fn rows_of_arrays_and_of_pointers_to_arrays() {
    let array = |dimensions: &[(u64, i64)]| PartSort::Array {
        element: pointee(4),
        dimensions: dimensions
            .iter()
            .map(|(count, stride)| ArrayDimension { first: 0, count: Some(*count), stride: *stride })
            .collect(),
    };
    let t = || part("t", PartSort::Integer, &[0, 1, 2]);
    // float tab[64][8]
    let tab = || part("tab", array(&[(64, 32), (8, 4)]), &[P; 3]);
    let line = Some("  float v = tab[t][col];");
    for col in [3, 8, 9, 100, 300, 2000, -1] {
        let at = |lane: u64| (P + 32 * lane).wrapping_add_signed(4 * col);
        let term =
            term_of(parts(vec![tab(), t(), integer("col", col)]), &[at(0), at(1), at(2)], line).unwrap();
        assert_eq!((term.expression.as_str(), term.is_ambiguous), ("tab[t][col]", false), "{col}");
        assert_eq!(term.declared, Some(DeclaredBounds { first: 0, count: 64 }));
        assert_eq!(term.inner[0].declared, Some(DeclaredBounds { first: 0, count: 8 }));
        assert_eq!(term.inner[0].array, "tab[t]");
    }
    // float (*g)[100]
    let row = Pointee { of: Some((0, TypeId(DieOffset(0)))), is_composite: true, ..pointee(400) };
    let g = || part("g", PartSort::Pointer(row.clone()), &[P; 3]);
    let paths = records(&[(0, &["", ""], &[(100, 4)])]);
    let line = Some("  float v = g[row][col + t];");
    for (row, col) in [(10, 24), (10, 950), (30, 20), (3, -500)] {
        let at = |lane: u64| (P + 4 * lane).wrapping_add_signed(400 * row + 4 * col);
        let found = parts(vec![g(), integer("row", row), integer("col", col), t()]);
        let term = term_in(&mocked_with(found, (0, 0), paths.clone()), &[at(0), at(1), at(2)], line).unwrap();
        let of_lane = if col < 0 { format!("lane - {}", -col) } else { format!("{col} + lane") };
        assert_eq!(term.expression, format!("g[row][{of_lane}]"));
        assert_eq!(term.index, IndexRule::Constant(row));
        assert_eq!(term.inner[0].index, IndexRule::Linear { first: col, from: LaneId(0), step: 1 });
        assert_eq!(term.inner[0].declared, Some(DeclaredBounds { first: 0, count: 100 }));
    }
    let line = Some("  float v = (*g)[col];");
    let found = parts(vec![g(), integer("col", 104)]);
    let term = term_in(&mocked_with(found, (0, 0), paths), &[P + 416; 3], line).unwrap();
    assert_eq!(term.expression, "(*g)[col]");
}

/// `struct S { ...; S *id; }` of 40 bytes, the member at 24.
fn record() -> Pointee {
    Pointee { of: Some((0, TypeId(DieOffset(0)))), is_composite: true, ..pointee(40) }
}

fn pointer(path: &str, to: Pointee, value: u64) -> VariablePart {
    part(path, PartSort::Pointer(to), &[value; 3])
}

fn integer(path: &str, value: i64) -> VariablePart {
    part(path, PartSort::Integer, &[value.cast_unsigned(); 3])
}

/// `out[i] = row[i]` with row = rows[3] = 0: no index of memory leads to the first page.
#[test]
fn memory_is_no_pointer_to_the_first_page() {
    let out = || pointer("out", pointee(4), P);
    let rows = Pointee { to: Some(Box::new(pointee(4))), ..pointee(8) };
    let all = || parts(vec![out(), pointer("rows", rows.clone(), P + 0x100), integer("r", 3)]);
    let session = |found, word| mocked_of(found, (P, P + 0xfff), Vec::new(), vec![(P + 0x118, word)]);
    for line in [Some("  out[i] = row[i];"), Some("  out[i] = rows[r][i];"), None] {
        let term = term_in(&session(all(), 0), &[0, 4, 8], line);
        match line {
            // `row` may be any null pointer.
            Some(line) if !line.contains("rows") => assert_eq!(term, None),
            _ => {
                let term = term.unwrap();
                assert_eq!(
                    (term.expression.as_str(), &*term.alternatives),
                    ("rows[r][lane]", &[][..]),
                    "{line:?}"
                );
            }
        }
        assert_eq!(term_in(&session(parts(vec![out()]), 0), &[0, 4, 8], line), None, "{line:?}");
        // Not null, but nowhere near.
        let far = [1 << 40, (1 << 40) + 4, (1 << 40) + 8];
        assert_eq!(term_in(&session(all(), 0), &far, line), None, "{line:?}");
    }
    let found = parts(vec![out(), part("k", PartSort::Integer, &[1 << 38; 3])]);
    let term = term_in(&session(found, 0), &[P + (1 << 40); 3], None).unwrap();
    assert_eq!(term.expression, "out[k]", "a variable has the index");
}

/// `body->id` with body = 0, and variables that index an array of the element by chance.
#[test]
fn a_plain_member_needs_no_index() {
    let found = || parts(vec![pointer("body", record(), 0), integer("i", 5), integer("n", 70)]);
    let paths = || records(&[(8, &[".at", ""], &[(3, 4)])]);
    let term = term_in(&mocked_with(found(), (0, 0), paths()), &[24; 3], None).unwrap();
    assert_eq!((term.expression.as_str(), term.is_ambiguous), ("body->id", false));
    let line = Some("  v = body[i].at[k];");
    let term = term_in(&mocked_with(found(), (0, 0), paths()), &[24; 3], line).unwrap();
    assert_eq!(term.expression, "body[i].at[-46]", "the line has the array");
}

/// `a->b->id->id`, and `e[i].id[k]` with a pointer of its own in each lane.
#[test]
fn pointers_in_elements() {
    let found = parts(vec![pointer("a->b", record(), P)]);
    let words = vec![(P + 24, 0)];
    let line = Some("  o[t] = a->b->id->id;");
    let term = term_in(&mocked_of(found, (P, P + 0xfff), Vec::new(), words), &[24; 3], line).unwrap();
    assert_eq!((term.expression.as_str(), term.is_inferred), ("a->b->id->id", false));

    let target = |lane: u64| P + 0x10_0000 * (lane + 1);
    let words = || (0..3).map(|lane| (P + 40 * lane + 24, target(lane))).collect::<Vec<_>>();
    let first = || pointer("e->id", record(), target(0));
    let i = || part("i", PartSort::Integer, &[0, 1, 2]);
    let addresses: Vec<u64> = (0..3).map(|lane| target(lane) + 40 * 3000 + 24).collect();
    for (line, has_index) in [(Some("  z[i] = e[i].id[k].id;"), true), (None, true), (None, false)] {
        let mut found = vec![pointer("e", record(), P), first(), i()];
        found.extend(has_index.then(|| integer("k", 3000)));
        let session = mocked_of(parts(found), (P, P + 0xfff), Vec::new(), words());
        let term = term_in(&session, &addresses, line);
        if !has_index {
            assert!(term.is_none_or(|term| term.pointer.name != "e->id"), "one pointer for all lanes");
            continue;
        }
        let term = term.unwrap();
        assert_eq!(term.expression, "e[i].id[k].id", "{line:?}");
        assert_eq!(term.index, IndexRule::Constant(3000));
    }
}

/// `o[i] = table[ix[i]]` with ix[i] = 5000: an array outside of functions competes with the arguments.
#[test]
fn variables_of_the_unit_in_the_line() {
    let rows = vec![ArrayDimension { first: 0, count: Some(64), stride: 4 }];
    let table = PartSort::Array { element: pointee(4), dimensions: rows };
    let table = VariablePart { owner: PartOwner::Global, ..part("table", table, &[P; 3]) };
    let far = |path, at| pointer(path, pointee(4), P + at);
    let found = || parts(vec![far("ix", 0x300_0000), far("o", 0x310_0000), table.clone()]);
    let session = || mocked_with(found(), (P, P + 0xff), Vec::new());
    for line in ["  o[i] = table[ix[i]];", "  o[i] = table[ix[i] & mask] + ix[i];"] {
        let term = term_in(&session(), &[P + 20_000; 3], Some(line)).unwrap();
        assert_eq!((term.expression.as_str(), term.is_inferred), ("table[5000]", false), "{line}");
        assert_eq!(term.pointer.kind, PartOwner::Global);
    }
}

fn stores(addresses: &[u64], line: &str) -> Suspect {
    let found = loads(addresses, Some(line));
    let access = access_of(Generation::Gfx90a, "global_store_dword v[0:1], v2, off");
    Suspect { access, ..found }
}

/// The assigned side is that of a store.
#[test]
fn sides_of_an_assignment() {
    let both = || mocked(parts(vec![pointer("x", pointee(4), P), pointer("y", pointee(4), P)]));
    let line = "  x[i] = y[i];";
    assert_eq!(term_in(&both(), &[P + 4; 3], Some(line)).unwrap().expression, "y[1]");
    let mut found = stores(&[P + 4; 3], line);
    describe(&both(), &[], &mut found);
    assert_eq!(found.term.unwrap().expression, "x[1]");

    // `m` ends before `id` begins: the store is not one of `m` past its bounds.
    let line = "o[i] = g[i].m[r][i & 7]; g[i].id = 3;";
    let at: Vec<u64> = (0..3).map(|lane| P + 40 * lane + 24).collect();
    let of_g = parts(vec![pointer("g", record(), P), integer("r", 3), integer("k", 77)]);
    let session = mocked_with(of_g, (0, 0), records(&[(0, &[".m", "", ""], &[(2, 8), (2, 4)])]));
    for mut found in [stores(&at, line), loads(&at, Some(&line.replace("id =", "id +=")))] {
        describe(&session, &[], &mut found);
        assert_eq!(found.term.unwrap().expression, "g[lane].id");
    }
}

/// `src = k > 0 ? a : b; o[i] = src[i];`: the line has o alone, but the address is right behind a.
#[test]
fn a_far_pointer_of_the_line_is_none_beside_another_allocation() {
    let far = P + 0x10_0000;
    let addresses = [P + 0xfa0, P + 0xfa4, P + 0xfa8];
    let of = |more: Vec<VariablePart>, has_other: bool| {
        let mut all = vec![pointer("a", pointee(4), P), pointer("o", pointee(4), far)];
        all.extend(more);
        let own = Some((P, P + 0xf9f)).filter(|_| has_other);
        let session = mocked_among(
            parts(all),
            own.into_iter().chain([(far, far + 0xfff)]).collect(),
            Vec::new(),
            Vec::new(),
        );
        term_in(&session, &addresses, Some("  o[i] = src[i];"))
            .map(|term| (term.expression, term.is_inferred))
    };
    assert_eq!(of(Vec::new(), true), Some(("a[1000 + lane]".to_owned(), true)));
    // A variable has the index.
    let index = [0, 1, 2].map(|lane: i64| (0xfa0 - 0x10_0000_i64) / 4 + lane);
    let j = part("j", PartSort::Integer, &index.map(i64::cast_unsigned));
    assert_eq!(of(vec![j], true), Some(("o[j]".to_owned(), false)));
    // Without another allocation the line decides.
    assert_eq!(of(Vec::new(), false).unwrap().0, "o[lane - 261144]");
}

/// The members of a line up to a pointer that it follows, or up to a vector.
#[test]
fn chains_lead_to_pointers_and_vectors() {
    for (text, path, members, leads) in [
        ("o[i] = q->in[j].data[i];", "q", &[".in", ".data"][..], true),
        ("o[i] = q->in[j].data[i];", "q", &[".in", ".data", ""], true),
        ("o[i] = q->in[j].data[i];", "q", &[".in", ".name"], false),
        ("o[i] = q->in[j].data[i];", "q", &[".in", ""], false),
        ("v = b[i].pos.x;", "b", &[".pos"], true),
        ("v = b[i].pos.s3;", "b", &[".pos"], true),
        ("v = b[i].pos.zyx;", "b", &[".pos"], true),
        ("v = b[i].pos.x;", "b", &[".pos.x"], true),
        ("v = b[i].pos.next;", "b", &[".pos"], false),
        ("v = b[i].pos.x;", "b", &[""], false),
    ] {
        let line = Line::new(text);
        let members: Vec<String> = members.iter().map(|of| (*of).to_owned()).collect();
        let found = line.chains(path, Direction::Load).iter().any(|chain| chain.leads_to(&members));
        assert_eq!(found, leads, "{text} {members:?}");
    }
}

/// `q->in[j].data[i]`, where the pointer itself is read: the line's index is that of the member's array.
#[test]
fn a_member_that_the_line_follows() {
    let of = Pointee { of: Some((0, TypeId(DieOffset(0)))), is_composite: true, ..pointee(168) };
    let line = Some("  o[i] = q->in[j].data[i];");
    for j in [900, 300, 170, -10, -200] {
        let found = parts(vec![pointer("q", of.clone(), P), integer("j", j)]);
        let session = mocked_with(found, (0, 0), records(&[(8, &[".in", ".data"], &[(4, 40)])]));
        let address = (P + 8).wrapping_add_signed(40 * j);
        let term = term_in(&session, &[address; 3], line).unwrap();
        assert_eq!((term.expression.as_str(), term.is_ambiguous), ("q->in[j].data", false), "{j}");
    }
}

/// Numbers of the source, and a dereference without an index, are no variables with the same value.
#[test]
fn written_indexes_are_no_variables() {
    let all = || parts(vec![pointer("q", pointee(4), P), integer("k", 2), integer("s", 0)]);
    for (line, at, expression) in [("  s += q[2] * k;", P + 8, "q[2]"), ("  s += *q;", P, "*q")] {
        let term = term_in(&mocked(all()), &[at; 3], Some(line)).unwrap();
        assert_eq!(term.expression, expression);
        assert!(term.equal.is_empty(), "{:?}", term.equal);
    }
    let term = term_in(&mocked(all()), &[P + 8; 3], Some("  s += q[k];")).unwrap();
    assert_eq!((term.expression.as_str(), term.equal.len()), ("q[k]", 1));
}

/// `a[k].m[i & 3][i % 6]` with an unknown i, and k = 2 by chance also an index of a reading past the bounds.
#[test]
fn masked_indexes_have_ranges() {
    let found = || parts(vec![pointer("a", record(), P), integer("k", 2)]);
    let paths = || records(&[(0, &[".m", "", ""], &[(2, 12), (3, 4)])]);
    // Lanes 0 to 2 read a[2].m[0][0], .m[1][1] and .m[0][2].
    let addresses = [P + 80, P + 80 + 16, P + 80 + 8];
    let term = |line: &str| term_in(&mocked_with(found(), (0, 0), paths()), &addresses, Some(line)).unwrap();
    for line in ["o[i] = a[k].m[i & 1][i % 3];", "o[i] = a[k].m[(i + 2) & 1u][i % 3];"] {
        let term = term(line);
        assert_eq!((term.expression.as_str(), term.is_ambiguous), ("a[k].m[0..1][lane]", false), "{line}");
    }
    // The last of several operators bounds nothing.
    assert!(term("o[i] = a[k].m[j + i & 1][n - i % 3];").is_ambiguous);
}
