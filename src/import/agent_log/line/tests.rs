//! The grammar, line by line (source: tests/fixtures/logs/README.md).

use super::{Entry, Headers, Heading, Module, Scalar, State};
use super::{begins_as_row, heading, lane, module, old_header, old_lane, scalars, vector};
use crate::import::text::Cursor;

#[test]
fn headers_of_all_forms() {
    let headers = Headers::new();
    type Case<'c> = (&'c str, (&'c str, u64, u64, Entry<'c>, Option<u64>, Option<State<'c>>));
    let stopped = |words: &'static str| Some(State::Stopped(words.as_bytes()));
    let cases: [Case<'_>; 9] = [
        ("wave_1: pc=0x7fd4 (stopped, reason: TRAP)", ("", 1, 0x7fd4, Entry::Unsaid, None, stopped("TRAP"))),
        ("wave_12: pc=0x10 (running)", ("", 12, 0x10, Entry::Unsaid, None, Some(State::Running))),
        (
            "wave_3: pc=0x10 (kernel_code_entry=0x20 <f(int*)>) (stopped, reason: A|B)",
            ("", 3, 0x10, Entry::At(0x20, Some(b"f(int*)")), None, stopped("A|B")),
        ),
        (
            "wave_3: pc=0x10 (kernel_code_entry=0x20 <a<(b)1>, kernargs=0x99>, kernargs=0x30) (running)",
            ("", 3, 0x10, Entry::At(0x20, Some(b"a<(b)1>, kernargs=0x99")), Some(0x30), Some(State::Running)),
        ),
        (
            "wave_3: pc=0x10 (kernel_code_entry=0x20, kernargs=0x30) (running)",
            ("", 3, 0x10, Entry::At(0x20, None), Some(0x30), Some(State::Running)),
        ),
        (
            "wave_3: pc=0x10 (kernel_code_entry=not available) (running)",
            ("", 3, 0x10, Entry::NotAvailable, None, Some(State::Running)),
        ),
        (
            "[1,0]<stderr>:wave_3: pc=0x10 (running)",
            ("[1,0]<stderr>:", 3, 0x10, Entry::Unsaid, None, Some(State::Running)),
        ),
        ("wave_3: pc=0x10 (stopped, rea", ("", 3, 0x10, Entry::Unsaid, None, None)),
        ("wave_9 is stopped. wave_3: pc=0x10", ("wave_9 is stopped. ", 3, 0x10, Entry::Unsaid, None, None)),
    ];
    for (text, (prefix, id, pc, entry, kernargs, state)) in cases {
        let found = headers.find(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(found.prefix, prefix.as_bytes(), "{text}");
        assert_eq!(
            (found.id, found.pc, found.entry, found.kernargs, found.state),
            (id, pc, entry, kernargs, state),
            "{text}"
        );
    }
    for none in
        ["shortwave_1: pc=0x10", "wave_: pc=0x10", "wave_1: pc=10", "wave_1 is stopped", "wave_1: pc=0x"]
    {
        assert!(headers.find(none.as_bytes()).is_none(), "{none}");
    }
}

#[test]
fn headers_of_2018() {
    let found = old_header(b"x 16 wavefront(s) found in XNACK error state @PC: 0x0000001101F0B1A4").unwrap();
    assert_eq!((found.prefix, found.count, found.pc, found.xnack), (&b"x "[..], 16, 0x11_01f0_b1a4, true));
    let found = old_header(b"1 wavefront(s) found in @PC: 0x10").unwrap_or_else(|| panic!());
    assert_eq!((found.count, found.xnack), (1, false));
    assert!(old_header(b"some wavefront(s) found in @PC: 0x10").is_none());
    assert_eq!(old_lane(b"Lane 0x3F"), Some((false, 63)));
    assert_eq!(old_lane(b"ACC Lane 0x0"), Some((true, 0)));
    assert_eq!(old_lane(b"Lane 0x3F:"), None);
}

fn row(text: &str) -> (Vec<(String, usize, u64)>, bool) {
    let mut found: Vec<Scalar<'_>> = Vec::new();
    let damaged = scalars(text.as_bytes(), &mut found);
    let named = |scalar: &Scalar<'_>| {
        (String::from_utf8_lossy(scalar.name).into_owned(), scalar.digits, scalar.value)
    };
    (found.iter().map(named).collect(), damaged)
}

#[test]
fn rows_of_scalars() {
    let one = |name: &str, digits, value| (name.to_owned(), digits, value);
    assert_eq!(
        row("    s0: 00000001    s1: ffffffff"),
        (vec![one("s0", 8, 1), one("s1", 8, 0xffff_ffff)], false)
    );
    assert_eq!(row("exec: 0000000000000001"), (vec![one("exec", 16, 1)], false));
    assert_eq!(row("EXEC: 0x00000000FFFFFFFF"), (vec![one("EXEC", 16, 0xffff_ffff)], false));
    // A name of sixteen columns that begins with a hex digit.
    let glued = vec![one("trap_ctrl", 8, 0), one("excp_flag_priv", 8, 0x40)];
    assert_eq!(row("trap_ctrl: 00000000excp_flag_priv: 00000040"), (glued, false));
    assert_eq!(row("s0: 00000001 s1: 1234"), (vec![one("s0", 8, 1)], true));
    assert_eq!(row("s0: 00000001 and more"), (vec![one("s0", 8, 1)], true));
    for none in [
        "step: 12",
        "loss: 0.00000001",
        "s0: 0000000g",
        "time: 12345678s",
        "s0 00000001",
        "hash: 123456789abc",
    ] {
        assert_eq!(row(none), (vec![], true), "{none}");
    }
    for (text, begins) in
        [("s12: 00ff", true), ("  ttmp4: x", true), ("v0: ", true), ("speed1: 7", false), ("s: 1", false)]
    {
        assert_eq!(begins_as_row(text.as_bytes()), begins, "{text}");
    }
}

#[test]
fn rows_of_vectors() {
    let (name, mut cursor) = vector(b"   v12: [0] 00000001 [63] ffffffff [5] 12").unwrap();
    assert_eq!(name, b"v12");
    let mut next = || lane(&mut cursor);
    assert_eq!([next(), next(), next()], [Some(Ok((0, 1))), Some(Ok((63, u32::MAX))), Some(Err(()))]);
    assert!(vector(b"s0: 00000001").is_none());
    assert_eq!(lane(&mut Cursor::new(b"  ")), None);
}

#[test]
fn headings_and_modules() {
    for (text, found) in [
        ("scalar registers:", Some(Heading::Registers)),
        ("Local memory content:", Some(Heading::Local(None))),
        ("Local memory content (1024 bytes):", Some(Heading::Local(Some(1024)))),
        ("LDS:", Some(Heading::Local(None))),
        ("Global memory (kernarg segment, 24 bytes):", Some(Heading::Kernarg)),
        ("Disassembly for function f(int):", Some(Heading::Disassembly)),
        ("Disassembly:", Some(Heading::Disassembly)),
        ("End of disassembly.", Some(Heading::EndOfDisassembly)),
        ("Disassembling", None),
        ("", None),
    ] {
        assert_eq!(heading(text.as_bytes()), found, "{text}");
    }
    assert_eq!(module(b"    code object: file:///a b#offset=1"), Some(Module::Uri(b"file:///a b#offset=1")));
    assert_eq!(module(b"    loaded at: [0x10-0x2f]"), Some(Module::Loaded(0x10, 0x2f)));
    assert_eq!(module(b"    loaded at: [0x10, 0x2f]"), None);
}

#[test]
fn rows_of_a_disassembly() {
    use super::{SourceRow, disassembled, instruction, source_row};
    let row = |line: &str| {
        let one = instruction(line.as_bytes())?;
        Some((one.address, one.offset, String::from_utf8_lossy(one.text).into_owned(), one.target))
    };
    assert_eq!(
        row("    0x7f100000200c <+12>:    s_waitcnt vmcnt(0) lgkmcnt(0)"),
        Some((0x7f10_0000_200c, 12, "s_waitcnt vmcnt(0) lgkmcnt(0)".to_owned(), None))
    );
    assert_eq!(
        row(" => 0x7fd4f100d0e0 <+6192>:    s_cbranch_execz 65503  # 0x7fd4f100d060 <f(int*, int*)+96>"),
        Some((0x7fd4_f100_d0e0, 6192, "s_cbranch_execz 65503".to_owned(), Some(0x7fd4_f100_d060)))
    );
    for other in [
        "    ...",
        "0x7f10 <f+12>: s_nop 0",
        "0x7f10 <+12>:",
        "0x7f10 <+>: s_nop 0",
        "pc 0x7f10 <+12>: s_nop 0",
        "",
    ] {
        assert_eq!(row(other), None, "{other}");
    }
    let name = |line: &'static str| {
        disassembled(line.as_bytes()).map(|name| String::from_utf8_lossy(name).into_owned())
    };
    assert_eq!(
        name("Disassembly for function void f<A>(int*, B::C):"),
        Some("void f<A>(int*, B::C)".to_owned())
    );
    assert_eq!((name("Disassembly:"), name("Disassembly for function :")), (None, None));
    assert_eq!(source_row(b"/src/f.hip:"), Some(SourceRow::File(b"/src/f.hip")));
    assert_eq!(source_row(b"55        c[i] = s0;"), Some(SourceRow::Line(55)));
    assert_eq!(source_row(b"55"), Some(SourceRow::Line(55)));
    for other in [&b"100 iterations are done"[..], b"done:", b"  /src/f.hip:", b"    ..."] {
        assert_eq!(source_row(other), None);
    }
}
