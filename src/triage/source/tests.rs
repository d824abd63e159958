//! Terms of accesses in fixture dumps: the expected values are those of the kernels' models (tests/fixtures/models).

use std::path::Path;
use std::sync::Arc;

use super::describe;
use crate::arch::{Generation, Processor, Targets};
use crate::import;
use crate::isa::{self, LaneAddress, WaveContext};
use crate::session::{Code as _, Dump, Instructions, Session, Waves as _};
use crate::triage::registers::{WaveRegisters, apertures};
use crate::triage::{AddressOf, Confidence, IndexRule, Pattern, SourceAt, Suspect};
use crate::units::{LaneId, LaneSet, WaveId};

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
        wave,
        pc: session.wave(wave).unwrap().pc.unwrap(),
        instruction: at,
        text: text.to_owned(),
        distance: 1,
        addresses: addresses.collect(),
        access,
        lanes: set,
        is_bound: false,
        unknown: None,
        confidence: Confidence::Likely,
        evidence: Vec::new(),
        patterns: Vec::new(),
        also: Vec::new(),
        at: SourceAt { function: None, file: None, line: None, text: source.map(str::to_owned) },
        term: None,
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
