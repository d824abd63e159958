//! Pages of hand-made analyses over the demo: 8 waves of saxpy in 4 work-groups; lanes 0-24 of wave 1 are active.

mod blame;
mod hangs;
mod json;
mod others;

use std::path::Path;
use std::sync::Arc;

use super::text;
use crate::arch::{Generation, Targets};
use crate::capture::{Fault, FaultAccess, FaultAddress, FaultReason, FaultSource, PAGE};
use crate::import::{self, Options};
use crate::isa::tests::access_of;
use crate::report::Style;
use crate::session::print::PartOwner;
use crate::session::{Dump, Inferred, InferredBy, Inspect, Session};
use crate::triage::{
    AddressOf, Arithmetic, Assertion, Cause, Confidence, Evidence, Foreign, IndexRule, MissingData,
    NameInference, Neighbour, Pattern, PatternOf, QueueError, Scene, SourceAt, Step, Stops, Suspect, Term,
    Triage, UnknownAddressCause, UnknownLanes, Variable,
};
use crate::units::{AddressSpace, LaneId, LaneSet, Pc, WaveId, WaveSize};

fn demo() -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/demo.zip");
    let opened = import::open(&path, &Targets::builtin(), &Options::default()).unwrap();
    Session::new(Arc::new(Dump::new(opened.capture, opened.problems)), None).unwrap()
}

fn page(triage: &Triage) -> String {
    let session = demo();
    let sessions: [&dyn Inspect; 1] = [&session];
    let command = |step: &Step| Some(format!("{step:?}"));
    let page = text(triage, &Scene::new(&sessions), &command, Style::Plain);
    let own = page.lines().filter(|line| !line.contains("wave: WaveId"));
    for line in own {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(page.lines().count() <= 40, "{page}");
    page
}

fn at(line: u64, text: &str) -> SourceAt {
    SourceAt {
        function: Some("saxpy(int, float, float const*, float*)".to_owned()),
        file: Some("kernels/saxpy.hip".to_owned()),
        line: Some(line),
        text: Some(text.to_owned()),
        is_inferred: false,
    }
}

fn suspect(text: &str, addresses: &[(u8, u64)]) -> Suspect {
    let access = access_of(Generation::Gfx9, text);
    let of = |(lane, address): &(u8, u64)| AddressOf {
        lane: Some(LaneId(*lane)),
        space: AddressSpace(0),
        address: *address,
        global: Some(*address),
        bytes: access.bytes,
    };
    Suspect {
        instruction: 0x7f00_0010_2790,
        lanes: addresses.iter().map(|(lane, _)| LaneId(*lane)).collect(),
        addresses: addresses.iter().map(of).collect(),
        confidence: Confidence::Likely,
        evidence: vec![Evidence::NotCaptured, Evidence::Outstanding],
        at: at(54, "    float xi = x[i];"),
        ..Suspect::new(WaveId(0), Pc(0x7f00_0010_2798), text, access)
    }
}

fn x() -> Neighbour {
    Neighbour {
        start: 0x7f00_0020_0000,
        end: 0x7f00_0020_1000,
        distance: 0,
        name: Some("x".to_owned()),
        is_rounded: true,
        is_map_whole: true,
    }
}

fn variable(name: &str, value: &str, kind: PartOwner) -> Variable {
    Variable { name: name.to_owned(), value: value.to_owned(), kind, inferred: Inferred::NONE }
}

fn term() -> Term {
    Term {
        expression: "x[i]".to_owned(),
        pointer: variable("x", "0x7f0000200000", PartOwner::Argument),
        element: 4,
        index: IndexRule::Constant(1024),
        equal: vec![variable("i", "1024", PartOwner::Local)],
        bounds: vec![variable("n", "1024", PartOwner::Argument)],
        declared: None,
        inner: Vec::new(),
        is_ambiguous: false,
        allocation: Some(x()),
        alternatives: Vec::new(),
        is_inferred: false,
    }
}

/// Lane 24 reads `x[1024]`.
fn overrun() -> Triage {
    let past = PatternOf { pattern: Pattern::PastEnd(x()), lanes: LaneSet::one(LaneId(24)) };
    let suspect = Suspect {
        patterns: vec![past],
        term: Some(term()),
        ..suspect("flat_load_dword v2, v[0:1]", &[(24, 0x7f00_0020_1000)])
    };
    Triage {
        cause: Some(Cause::Memory),
        suspects: vec![suspect],
        waves: Stops {
            faulted: 1,
            bystanders: 0,
            unknown: 0,
            asked: 8,
            absent: 0,
            uncounted: Vec::new(),
            pcs: vec![(Pc(0x7f00_0010_2798), 1)],
            chosen: Some(WaveId(0)),
            others: Vec::new(),
            left_out: 0,
        },
        missing: vec![MissingData::Page { is_reported: false }],
        ..Triage::default()
    }
}

#[test]
fn a_page_has_the_sentence_the_evidence_the_lanes_the_stack_and_the_next_commands() {
    let expected = "\
saxpy reads x[1024] (i = 1024, n = 1024), right past the end of x: lane 24 of
wave 1, saxpy.hip:54 (likely)
    54  float xi = x[i];

Access    load of 4 bytes: flat_load_dword v2, v[0:1] at 0x7f0000102790,
          1 instruction before the PC
Address   0x7f0000201000 in lane 24
Pointer   x = 0x7f0000200000 (argument), elements of 4 bytes; index i = 1024;
          n = 1024 (argument)
Memory    0x7f0000200000-0x7f0000201000 (x); its bounds are rounded to pages
Because   the capture has no memory at the address
          no wait before the PC proves its completion
Lanes     ++++++++++++++++++++++++X.......................................
          X faulting: 24   + active: 0-23   . inactive: 25-63
Waves     1 of 8 waves faulted
Stack     AMDGPU Wave 1:1:1:1 (0,0,0)/0: memory violation (page fault)
          #0  saxpy (0x7f0000102798) at tests/fixtures/kernels/saxpy.hip:54
Missing   no page of the fault: add the program's output with --log FILE or
          --fault-address ADDRESS
Next      Locals { wave: WaveId(0), id: 1, lane: Some(LaneId(24)), frame: 0 }
          Instructions { wave: WaveId(0), id: 1, around: 5, frame: 0 }
          Log
          Debugger
";
    assert_eq!(page(&overrun()), expected);
    let mut possible = overrun();
    possible.suspects[0].confidence = Confidence::Possible;
    assert!(page(&possible).contains("X possible: 24   + active"), "the certainty is in the legend");
}

#[test]
fn a_report_lanes_without_addresses_and_other_suspects_have_rows() {
    let mut triage = overrun();
    let mut other = suspect("global_store_dword v[2:3], v1, off", &[(0, 0x10), (1, 0x20)]);
    other.confidence = Confidence::Possible;
    other.at = SourceAt { text: None, ..at(57, "") };
    triage.suspects.push(other);
    let first = &mut triage.suspects[0];
    first.confidence = Confidence::Possible;
    first.is_bound = true;
    first.also = (1..5).map(WaveId).collect();
    first.unknown = Some(UnknownLanes {
        lanes: LaneSet(0b11),
        reason: UnknownAddressCause::Overwritten { register: "v[0:1]".to_owned(), at: 0x7f00_0010_2794 },
    });
    triage.waves.faulted = 5;
    triage.waves.bystanders = 2;
    triage.waves.unknown = 1;
    triage.waves.pcs = vec![(Pc(0x7f00_0010_2798), 3), (Pc(0x7f00_0010_27a0), 2)];
    triage.missing.clear();
    triage.faults = vec![Fault {
        address: Some(FaultAddress { start: 0x7f00_0020_1000, bytes: PAGE, is_inexact: false }),
        access: Some(FaultAccess::Read),
        reasons: vec![FaultReason::NotPresent],
        has_all_reasons: true,
        source: FaultSource::KernelLog,
        ..Fault::default()
    }];
    let page = page(&triage);
    for line in [
        "saxpy reads x[1024] (i = 1024, n = 1024), right past the end of x: at most lane",
        "24 of wave 1 and 4 more waves, saxpy.hip:54 (possible, one of 2 accesses)",
        "          unknown in lanes 0-1: v[0:1] was overwritten at 0x7f0000102794",
        "Others    global_store_dword v[2:3], v1, off at 0x7f0000102790, saxpy.hip:57,",
        "          addresses 0x10 and 0x20",
        "Lanes     ??++++++++++++++++++++++X.......................................",
        "          X at most: 24   ? unknown address: 0-1   + active: 2-23",
        "          . inactive: 25-63",
        "Report    read of page 0x7f0000201000: page not present or supervisor privilege;",
        "          reported by the kernel log",
        "Waves     5 of 8 waves faulted (3 at 0x7f0000102798, 2 at 0x7f00001027a0),",
        "          2 did not, 1 with an unknown stop reason",
    ] {
        assert!(page.lines().any(|own| own == line), "{line}\n\n{page}");
    }
    assert!(!page.contains("Missing"), "{page}");
}

#[test]
fn a_legal_instruction_may_be_behind_the_illegal_one() {
    let cause = Cause::IllegalInstruction {
        at: SourceAt { text: None, ..at(9, "") },
        address: 0x7f00_0010_2798,
        bytes: vec![0, 0, 0x80, 0xbf],
        legal: Some("s_nop 0".to_owned()),
        elsewhere: Vec::new(),
        compiled_for: None,
    };
    let waves = Stops { chosen: Some(WaveId(0)), ..Stops::default() };
    let page = page(&Triage { cause: Some(cause), waves, ..Triage::default() });
    let sentence = "saxpy: illegal instruction reported; the instruction at the PC is legal (s_nop 0): \
                    the PC may be late (wave 1, saxpy.hip:9)";
    assert_eq!(page.split("\n\n").next().unwrap().replace('\n', " "), sentence);
    assert!(!page.contains("Decodes"), "{page}");
}

/// The trap of `abort` is that of assertions: the sentence and the row of the stack name both.
#[test]
fn a_trap_has_the_same_words_in_the_sentence_and_the_stack() {
    let waves = Stops { chosen: Some(WaveId(0)), ..Stops::default() };
    let of = |cause| page(&Triage { cause: Some(cause), waves: waves.clone(), ..Triage::default() });
    let trap = of(Cause::Trap { at: at(9, ""), id: Some(2) });
    let targets = Targets::builtin();
    for (processor, size) in
        [("gfx90a", WaveSize::W64), ("gfx942", WaveSize::W64), ("gfx1100", WaveSize::W32)]
    {
        let kind = targets.kind(processor, size).unwrap();
        let reason = kind.target.stop_reasons.iter().find(|reason| reason.name == "assert_trap").unwrap();
        assert!(trap.contains(&format!("a trap ({})", reason.words)), "{trap}");
    }
    let other = of(Cause::Trap { at: at(9, ""), id: Some(3) });
    assert!(other.contains("executes trap 3:"), "{other}");
}

#[test]
fn each_pattern_ends_the_sentence() {
    let near = |distance, name: Option<&str>| Neighbour { distance, name: name.map(str::to_owned), ..x() };
    for (pattern, words) in [
        (Pattern::Null { base: None, offset: 0 }, "a null pointer"),
        (Pattern::Null { base: Some(0), offset: 0x18 }, "a null pointer plus 0x18"),
        (Pattern::Null { base: Some(0xffff_ffff_ffff_fffc), offset: 0xffb }, "the pointer -0x4 plus 0xfff"),
        (Pattern::NonCanonical, "a non-canonical address"),
        (
            Pattern::Wrapped32 { times: 1, meant: 0x7f00_0020_0010 },
            "a 32-bit overflow of index times size (0x7f0000200010 is in memory)",
        ),
        (Pattern::NegativeIndex { index: Some(-1), is_zero_extended: false }, "the negative index -1"),
        (
            Pattern::NegativeIndex { index: Some(-1), is_zero_extended: true },
            "the negative index -1, zero-extended",
        ),
        (Pattern::Poison { value: Some(0xd0be_d0be), origin: "amdgpu" }, "the filler 0xd0bed0be (amdgpu)"),
        (Pattern::Poison { value: None, origin: "amdgpu" }, "a filler (amdgpu)"),
        (Pattern::NegativeIndex { index: None, is_zero_extended: true }, "a negative index, zero-extended"),
        (Pattern::LargeIndex { index: None }, "a large index"),
        (Pattern::OtherAperture { space: "local" }, "a pointer to local"),
        (Pattern::HostPointer { is_reported: true }, "memory of the host alone"),
        (Pattern::HostPointer { is_reported: false }, "perhaps memory of the host alone"),
        (
            Pattern::FlippedBit { bit: 40, meant: 0x1000, alternatives: 1 },
            "perhaps one flipped bit (bit 40: 0x1000 is in memory; 1 other bit fits as well)",
        ),
        (Pattern::PastEnd(near(4, Some("x"))), "4 bytes past the end of x"),
        (Pattern::PastEnd(near(1, None)), "1 byte past the end of 0x7f0000200000-0x7f0000201000"),
        (Pattern::BeforeStart(near(8, Some("x"))), "8 bytes before the start of x"),
        (Pattern::BadPointer(None), "a bad pointer"),
        (Pattern::BadPointer(Some(near(0, Some("x")))), "a bad pointer (next to x)"),
        (Pattern::BadPointer(Some(near(8, Some("x")))), "a bad pointer (8 bytes from x)"),
        (Pattern::Straddles(near(0, Some("x"))), "across the end of x"),
        (Pattern::Misaligned { needed: 4 }, "not aligned to 4 bytes"),
        (Pattern::ReadOnly, "read-only memory"),
        (Pattern::Freed, "a gap between allocations, perhaps freed memory"),
        (Pattern::LargeIndex { index: Some(2_000_000_000) }, "the large index 2000000000"),
    ] {
        let mut triage = overrun();
        triage.suspects[0].term = None;
        triage.suspects[0].patterns = vec![PatternOf { pattern, lanes: LaneSet::EMPTY }];
        let page = page(&triage);
        let sentence = page.split("\n    54").next().unwrap().replace('\n', " ");
        let expected = format!(
            "saxpy reads 4 bytes at 0x7f0000201000, {words}: lane 24 of wave 1, saxpy.hip:54 (likely)"
        );
        assert_eq!(sentence, expected);
    }
}

/// Nothing separates an overflow by 2^33 from a flipped bit 33: the page names both.
#[test]
fn patterns_with_the_same_good_address_are_one() {
    let (meant, lanes) = (0x7f00_0020_0010, LaneSet::one(LaneId(24)));
    let of = |pattern| PatternOf { pattern, lanes };
    let mut triage = overrun();
    triage.suspects[0].term = None;
    let flipped = Pattern::FlippedBit { bit: 33, meant, alternatives: 0 };
    triage.suspects[0].patterns = vec![of(Pattern::Wrapped32 { times: 2, meant }), of(flipped)];
    let page = page(&triage);
    let sentence = page.split("\n    54").next().unwrap().replace('\n', " ");
    let both =
        "a 32-bit overflow of index times size, or bit 33 flipped: 0x7f0000200010 is in memory: lane 24";
    assert!(sentence.contains(both), "{sentence}");
    assert!(!page.contains("Also"), "{page}");
}

#[test]
fn an_index_has_its_rule_and_addresses_have_theirs() {
    let mut triage = overrun();
    let lanes: Vec<(u8, u64)> =
        (24..64).map(|lane| (lane, 0x7f00_0020_1000 + 4 * (u64::from(lane) - 24))).collect();
    let one = Suspect { term: Some(term()), ..suspect("flat_store_dword v[0:1], v2", &lanes) };
    triage.suspects = vec![one];
    let linear = IndexRule::Linear { first: 1024, from: LaneId(24), step: 1 };
    let term = triage.suspects[0].term.as_mut().unwrap();
    (term.expression, term.index) = ("x[1000 + lane]".to_owned(), linear);
    let text = page(&triage);
    assert!(
        text.starts_with("saxpy writes x[1000 + lane]: lanes 24-63 of wave 1, saxpy.hip:54 (likely)\n"),
        "{text}"
    );
    for line in [
        "Address   0x7f0000201000 in lane 24 to 0x7f000020109c in lane 63, +4 bytes from",
        "Pointer   x = 0x7f0000200000 (argument), elements of 4 bytes; index i = 1024 in\n          lane 24, +1 from lane to lane; n = 1024 (argument)\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    // tests/fixtures/lds: two addresses of each lane, in LDS.
    let mut twice = suspect("ds_write2_b32 v0, v1, v2 offset1:1", &[]);
    let local = |(lane, address): (u8, u64)| AddressOf {
        lane: Some(LaneId(lane)),
        space: AddressSpace(3),
        address,
        global: None,
        bytes: Some(4),
    };
    let by_lane = [0x100, 0xa5, 0x30, 0x7, 0x20, 0x51];
    let addresses = (0..).zip(by_lane).flat_map(|(lane, at)| [(lane, at), (lane, at + 4)]);
    twice.addresses = addresses.map(local).collect();
    triage.suspects = vec![twice];
    let expected = "Address lane 0: local+0x100 and local+0x104, lane 1: local+0xa5 and local+0xa9, lane 2: \
                    local+0x30 and local+0x34, lane 3: local+0x7 and local+0xb, and 2 more";
    let text = unfolded(&triage);
    assert!(text.contains(expected), "{text}");
    let mut stride = suspect("ds_write_b32 v0, v1", &[]);
    stride.addresses = (0..3).map(|lane| local((lane, 0x40 * (u64::from(lane) + 1)))).collect();
    triage.suspects = vec![stride];
    let text = unfolded(&triage);
    assert!(text.contains("Address local+0x40 in lane 0 to local+0xc0 in lane 2, +64 bytes"), "{text}");
    let mut scalar = suspect("s_load_dwordx2 s[0:1], s[2:3], 0x10", &[]);
    scalar.addresses = vec![AddressOf {
        lane: None,
        space: AddressSpace(0),
        address: 0x10,
        global: Some(0x10),
        bytes: Some(8),
    }];
    triage.suspects = vec![scalar];
    let text = page(&triage);
    assert!(text.starts_with("saxpy reads 8 bytes at 0x10: wave 1, saxpy.hip:54 (likely)\n"), "{text}");
    assert!(text.contains("\nAddress   0x10, a scalar access\n"), "{text}");
}

#[test]
fn other_causes_have_their_sentence_and_evidence() {
    let wave = WaveId(0);
    let cases = [
        (
            Cause::BadPc { pc: 0x10, holders: vec!["s[30:31]".to_owned()], caller: Some(at(7, "f();")) },
            "saxpy jumps to 0x10, which is no code: wave 1, called from saxpy.hip:7",
            "    7  f();\n\nBecause   the PC is also in s[30:31]\n",
        ),
        (
            Cause::Assertion(Assertion {
                at: at(9, "assert(i < n);"),
                condition: Some("i < n".to_owned()),
                is_inferred: false,
                lanes: LaneSet::one(LaneId(3)),
                wave,
            }),
            "saxpy: assertion `i < n` failed: lane 3 of wave 1, saxpy.hip:9",
            "    9  assert(i < n);\n",
        ),
        (
            Cause::Assertion(Assertion {
                at: at(9, ""),
                condition: Some("a < b ".repeat(30)),
                is_inferred: true,
                lanes: LaneSet::one(LaneId(3)),
                wave,
            }),
            "saxpy: assertion `a < b a < b a < b a < b a < b a < b a < b a < b a < b a < b a",
            "...` failed:",
        ),
        (
            Cause::Trap { at: at(9, ""), id: Some(2) },
            "saxpy executes a trap (abort or failed assertion): wave 1, saxpy.hip:9",
            "",
        ),
        (Cause::Trap { at: at(9, ""), id: None }, "saxpy executes a trap: wave 1, saxpy.hip:9", ""),
        (
            Cause::IllegalInstruction {
                at: SourceAt::default(),
                address: 0x7f00_0010_2798,
                bytes: vec![0xff, 0, 0, 0x10],
                legal: None,
                elsewhere: vec![Foreign { processor: "gfx1100".to_owned(), text: "v_nop".to_owned() }],
                compiled_for: Some("gfx908".to_owned()),
            },
            "saxpy executes an illegal instruction at 0x7f0000102798: wave 1",
            "Bytes     ff 00 00 10\nBecause   the code object is for gfx908\nDecodes   gfx1100: v_nop\n",
        ),
        (
            Cause::Arithmetic(Arithmetic {
                kinds: vec!["FP_DIVIDE_BY_0".to_owned()],
                at: at(9, ""),
                instruction: Some((0x7f00_0010_2790, "v_rcp_f32_e32 v1, v3".to_owned())),
                operands: vec![(Some(LaneId(5)), "v3 = 0".to_owned())],
                others: Vec::new(),
                confidence: Confidence::Likely,
                doubt: None,
                is_bound: false,
                wave,
            }),
            "saxpy: floating-point division by zero: lane 5 of wave 1, saxpy.hip:9 (likely)",
            "Operation v_rcp_f32_e32 v1, v3 at 0x7f0000102790\nOperands  lane 5: v3 = 0\n",
        ),
        (
            Cause::Arithmetic(Arithmetic {
                kinds: vec!["FP_DIVIDE_BY_0".to_owned()],
                at: at(9, ""),
                instruction: Some((0x7f00_0010_2790, "v_rcp_f32_e32 v1, v3".to_owned())),
                operands: (51..64).map(|lane| (Some(LaneId(lane)), "v3 = 0".to_owned())).collect(),
                others: vec![(0x7f00_0010_2780, "v_rcp_f32_e32 v1, v4".to_owned())],
                confidence: Confidence::Possible,
                doubt: Some("other instructions have such operands, too".to_owned()),
                is_bound: true,
                wave,
            }),
            "saxpy: floating-point division by zero: at most lanes 51-63 of wave 1,",
            "Others    v_rcp_f32_e32 v1, v4 at 0x7f0000102780\nOperands  lanes 51-63: v3 = 0\n\
             Because   other instructions have such operands, too\n",
        ),
        (
            Cause::BadPc {
                pc: 0x10,
                holders: Vec::new(),
                caller: Some(SourceAt { function: Some("outer".to_owned()), ..SourceAt::default() }),
            },
            "saxpy jumps to 0x10, which is no code: wave 1, called from outer",
            "",
        ),
        (Cause::Ecc, "saxpy: uncorrectable memory error of the GPU: wave 1", ""),
        (
            Cause::Queue(QueueError { text: "invalid packet".to_owned(), kernel: Some("kern".to_owned()) }),
            "kern: invalid packet",
            "",
        ),
        (
            Cause::Bystander { faulted: WaveId(1) },
            "saxpy: wave 1 has no fault of its own; wave 2 faulted",
            "",
        ),
        (
            Cause::Breakpoint { reasons: vec!["debug_trap".to_owned()], at: at(9, "") },
            "saxpy stopped for a debugger (memory violation (page fault)): wave 1,",
            "",
        ),
    ];
    for (cause, sentence, evidence) in cases {
        let waves = Stops { chosen: Some(wave), ..Stops::default() };
        let page = page(&Triage { cause: Some(cause), waves, ..Triage::default() });
        assert_eq!(page.lines().next(), Some(sentence));
        assert!(page.contains(evidence), "{page}");
    }
}

#[test]
fn without_a_fault_the_page_offers_the_states_of_all_waves() {
    let expected = "\
no wave faulted, no fault is reported: 8 waves

Next      Groups
          Hang
          Debugger
";
    assert_eq!(page(&Triage::default()), expected);
}

/// The analysis may lack the cause of a fault: the page never denies the fault.
#[test]
fn a_fault_without_a_cause_is_a_fault() {
    let waves = Stops { faulted: 1, chosen: Some(WaveId(0)), ..Stops::default() };
    let page = page(&Triage { waves, ..Triage::default() });
    assert_eq!(page.lines().next(), Some("saxpy: memory violation (page fault) in wave 1 at saxpy.hip:54"));
    // Variables and instructions of the wave are of use, not the groups of all waves.
    assert!(page.contains("\nLanes     ++++"), "{page}");
    assert!(page.contains("\nNext      Locals {") && !page.contains("Groups"), "{page}");
}

/// The folded text of a page in one line.
fn unfolded(triage: &Triage) -> String {
    page(triage).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn variables_in_inferred_places_have_marks() {
    let by_code = Inferred::NONE.with(InferredBy::CallerCode);
    let marks = [
        "x = 0x7f0000200000 (argument; inferred: caller by code)",
        "index i = 1024 (inferred: caller by code)",
        "n = 1024 (argument; inferred: caller by code)",
    ];
    let mut triage = overrun();
    let text = unfolded(&triage);
    assert!(!text.contains("inferred: "), "{text}");
    let term = triage.suspects[0].term.as_mut().unwrap();
    term.pointer.inferred = by_code;
    term.equal[0].inferred = by_code;
    term.bounds[0].inferred = by_code;
    let text = unfolded(&triage);
    for mark in marks {
        assert!(text.contains(mark), "{mark} is not in {text}");
    }
}

#[test]
fn inferred_names_of_polled_values_have_marks() {
    let by_size = Inferred::NONE.with(InferredBy::LdsSize);
    for (inferred, mark) in [
        (NameInference::Line, "*flag (inferred: by the line) = 0x0 at"),
        (NameInference::Values, "*flag (inferred: by values) = 0x0 at"),
        (NameInference::Place(by_size), "*flag (inferred: LDS by size) = 0x0 at"),
    ] {
        let mut triage = hangs::deadlock();
        for wave in &mut triage.hang.as_mut().unwrap().waves {
            wave.polls.iter_mut().for_each(|poll| poll.inferred = Some(inferred));
        }
        let text = unfolded(&triage);
        assert!(text.contains(mark), "{mark} is not in {text}");
    }
}
