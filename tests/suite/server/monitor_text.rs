//! The text of `monitor`: lines of a debugger's console, and the errors of typed lines.

use std::path::Path;
use std::sync::Arc;

use crate::fixtures::{fixtures, open};
use lanescope::questions::{QUESTIONS, Words};
use lanescope::server::{Client, ClientOptions, Facade, Threads, ThreadsAs};
use lanescope::session::{Dump, Session};
use lanescope::view::{Extent, Views};

/// Columns of a debugger's console.
const COLUMNS: usize = 80;

/// Lines that print every part of a dump, and each error of a typed line.
const LINES: [&str; 46] = [
    "help",
    "help print",
    "help memory",
    "waves",
    "lanes",
    "lane",
    "lane 3",
    "lane 99",
    "lane-pc 3",
    "groups",
    "groups lanes",
    "groups lanes function",
    "groups nothing",
    "dispatches",
    "arguments",
    "arguments all",
    "arguments 999",
    "disassemble",
    "disassemble nothing",
    "registers v0,pc,exec scalar",
    "registers nothing",
    "memory private_lane 0 64",
    "memory nothing 0 64",
    "locals",
    "locals all",
    "locals 3-1",
    "backtrace",
    "backtrace all",
    "eval DW_OP_regx PC_REG; DW_OP_regx PC_REG; DW_OP_regx PC_REG; DW_OP_regx PC_REG; DW_OP_nothing; DW_OP_lit0",
    "eval lane all DW_OP_regx PC_REG",
    "print a.path->that[is].longer->than.the->line[of].a->console.and->ends[in].an->error.5 with more after it",
    "print lane all x",
    "print lane 3",
    "explain x",
    "explain lane all x",
    "objects",
    "thread 2 locals",
    "thread 999",
    "wave",
    "set x = nothing.that.is.known + nothing.that.is.known + nothing.that.is.known + nothing.that.is.known",
    "set",
    "changes",
    "reset nothing",
    "notices",
    "triage",
    "a-command-that-does-not-exist",
];

fn client(dump: &Arc<Dump>, facade: Facade, threads: ThreadsAs) -> Client {
    let session = Session::new(Arc::clone(dump), None).unwrap();
    let views = Some(Arc::new(Views::new(Arc::clone(dump), session.another(), Extent::Stacks)));
    let threads = Some(Arc::new(Threads::new(&session, threads, None).unwrap()));
    Client::new(Box::new(session), ClientOptions { facade: Some(facade), views, threads })
}

/// The text of a typed line.
fn typed(client: &mut Client, line: &str) -> String {
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let body = format!("qRcmd,{}", hex(line));
    let sum = body.bytes().fold(0u8, u8::wrapping_add);
    let mut out = Vec::new();
    let _ = client.feed(format!("+${body}#{sum:02x}").as_bytes(), &mut out);
    let out = String::from_utf8_lossy(&out).into_owned();
    let packets = out.split('$').filter_map(|packet| packet.split('#').next());
    let digits: String =
        packets.filter_map(|packet| packet.strip_prefix('O')).filter(|o| *o != "K").collect();
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    String::from_utf8((0..digits.len()).step_by(2).map(digit).collect()).unwrap()
}

/// gdb and LLDB break longer lines within words. A single word, as a file's path, may be longer.
#[test]
fn lines_fit_the_console_of_a_debugger() {
    let mut dumps = vec![fixtures().join("demo.zip")];
    for name in ["calls-gfx90a", "diverge-gfx1100-O2", "mixed-kinds", "lds-gfx90a-O0", "draft-ops-gfx1100"] {
        dumps.push(fixtures().join("dumps").join(name));
    }
    dumps.extend(
        ["gfx90a-split.core", "gfx942-multi-xcc.core"].map(|core| fixtures().join("gpucore").join(core)),
    );
    dumps.extend(["agent-2018.log", "umr-columns.txt"].map(|log| fixtures().join("logs").join(log)));
    let mut lines = 0;
    for dump in &dumps {
        lines += check(dump);
    }
    assert!(lines > 10_000, "{lines}");
}

fn check(path: &Path) -> usize {
    let dump = open(path);
    let mut count = 0;
    for (facade, threads) in [(Facade::Gdb, ThreadsAs::Waves), (Facade::Lldb, ThreadsAs::Focus)] {
        let mut client = client(&dump, facade, threads);
        for line in LINES {
            let text = typed(&mut client, line);
            assert!(text.ends_with('\n'), "{line}: {text}");
            for shown in text.lines() {
                let is_word = !shown.trim().contains(' ');
                let columns = shown.chars().count();
                assert!(columns <= COLUMNS || is_word, "{}: {line}: {columns}: {shown}", path.display());
                assert_eq!(shown, shown.trim_end(), "{}: {line}", path.display());
                count += 1;
            }
        }
    }
    count
}

/// lldb has no command `monitor`.
#[test]
fn the_next_commands_are_those_of_the_client() {
    for (facade, monitor) in [(Facade::Gdb, "monitor"), (Facade::Lldb, "process plugin packet monitor")] {
        let dump = open(&fixtures().join("demo.zip"));
        let text = typed(&mut client(&dump, facade, ThreadsAs::Waves), "triage");
        let next = format!(
            "\nNext      {monitor} thread 1 locals 24\n          {monitor} thread 1 disassemble around 5\n"
        );
        assert!(text.contains(&next), "{text}");
    }
}

fn demo() -> Client {
    client(&open(&fixtures().join("demo.zip")), Facade::Gdb, ThreadsAs::Waves)
}

/// The reply below the line of the thread, folded lines joined.
fn reply(client: &mut Client, line: &str) -> String {
    let text = typed(client, line).replace("\n    ", " ");
    let lines = text.lines().filter(|line| !line.starts_with("Thread "));
    lines.collect::<Vec<_>>().join("\n")
}

/// An error comes first, the instruction after it.
#[test]
fn a_word_that_fits_no_argument_is_an_error_with_an_example() {
    let mut demo = demo();
    let mut is = |line: &str, expected: &str| assert_eq!(reply(&mut demo, line), expected, "{line}");
    is("locals 3-1", "3-1: 3 is above 1. Try `monitor locals 3 frame 1`.");
    is(
        "locals x",
        "Expected lanes, 3 or 0,8-15, `active` or `all`, not `x`. Try `monitor locals 3 frame 1`.",
    );
    is("locals 3 4", "Too many arguments: monitor locals [LANES] [frame N] [full] [explain].");
    is("locals 3 x", "`x` is no argument of `locals`. Try `monitor locals 3 frame 1`.");
    is("locals frame", "`frame` needs a value: N. Try `monitor locals 3 frame 1`.");
    is("print lane 3", "A path is needed. Try `monitor print lane all body.at.x`.");
    is("print frame 0", "A path is needed. Try `monitor print lane all body.at.x`.");
    is("explain", "A path is needed. Try `monitor explain lane all x`.");
    is("eval lane 3", "An expression is needed. Try `monitor eval DW_OP_regx VGPR3`.");
    is("arguments x", "`x` is not a number: write 64 or 0x40. Try `monitor arguments 1`.");
    is("arguments 1 2", "Too many arguments: monitor arguments [ID|all].");
    is("arguments all 1", "`dispatch` excludes `all`. Try `monitor arguments 1`.");
    is("groups x", "Expected `function`, `line` or `pc`, not `x`. Try `monitor groups lanes function`.");
    is("groups by x", "Expected `function`, `line` or `pc`, not `x`. Try `monitor groups lanes function`.");
    is("groups by", "`by` needs a value: WHAT. Try `monitor groups lanes function`.");
    is("groups lanes lanes", "`lanes` is given twice. Try `monitor groups lanes function`.");
    is("locals frame x", "`x` is not a number: write 64 or 0x40. Try `monitor locals 3 frame 1`.");
    is("disassemble/x", "Expected `s`, not `x`. Try `monitor disassemble 0x7f0000001000 count 8`.");
    is(
        "registers register",
        "`register` needs a value: NAMES. Try `monitor registers v0,exec s0-s7 scalar`.",
    );
    is("memory", "Space, address and length are needed. Try `monitor memory private_lane 0x10 16`.");
    is("reset x", "Expected `all`, `registers` or `memory`, not `x`. Try `monitor reset registers`.");
}

/// `set` reads its lanes and its frame like `print`; its errors have its own form.
#[test]
fn errors_of_set_recommend_set() {
    let mut client = demo();
    for line in ["set", "set lane 5", "set frame 0", "set lane 5 x", "set/x x = 5"] {
        let text = reply(&mut client, &format!("thread 1 {line}"));
        let missing =
            "The target or the value is missing. Try `monitor set x = 5` or `monitor set lane all $v0 = 0`.";
        assert_eq!(text, missing, "{line}");
    }
    for line in ["set lane 1 lane 2 x = 5", "set --frame", "set --frame x", "set --lane 9-3 x = 5"] {
        let text = reply(&mut client, &format!("thread 1 {line}"));
        assert!(text.ends_with(" Try `monitor set lane all $v0 = 0`."), "{line}: {text}");
    }
}

/// A value may follow the name of its parameter, with dashes or without.
#[test]
fn every_parameter_of_typed_lines_has_a_name() {
    let mut demo = demo();
    for (bare, named) in [
        ("registers v0,pc", "registers register v0,pc"),
        ("registers v0 pc", "registers --register v0 register pc"),
        ("locals 3", "locals lane 3"),
        ("lane-pc 3", "lane-pc --lane 3"),
        ("groups function", "groups by function"),
        ("arguments all", "arguments --all"),
        ("memory private_lane 0 16", "memory space private_lane address 0 length 16"),
        ("disassemble $pc count 2", "disassemble address $pc --count 2"),
    ] {
        let text = typed(&mut demo, bare);
        assert!(!text.contains("Try `") && text.lines().count() > 1, "{bare}: {text}");
        assert_eq!(typed(&mut demo, named), text, "{named}");
    }
}

/// Texts of packets are in hex, and the error of a missing one names that.
#[test]
fn a_missing_text_of_a_packet_is_needed_in_hex() {
    let mut demo = demo();
    for name in ["Print", "Explain"] {
        let mut out = Vec::new();
        let _ = demo.feed(&crate::server::framed(format!("qlanescope.{name}:thread:1;")), &mut out);
        let out = String::from_utf8_lossy(&out);
        assert!(out.contains("\"a path is needed, in hex\""), "{out}");
    }
}

/// Every parameter of typed lines is in the usage once, in one notation.
#[test]
fn the_usage_of_a_command_has_its_parameters() {
    let mut demo = demo();
    let help = typed(&mut demo, "help");
    for question in QUESTIONS {
        let usage = help.lines().find(|line| line.split([' ', '[']).next() == Some(question.name)).unwrap();
        for parameter in question.parameters.iter().filter(|parameter| parameter.words != Words::Absent) {
            let form = parameter.usage().unwrap();
            let count = usage.match_indices(&form).filter(|(at, _)| {
                let end = usage.as_bytes().get(at + form.len());
                matches!(usage.as_bytes()[at - 1], b' ' | b'[' | b'|')
                    && matches!(end, None | Some(b' ' | b']' | b'|'))
            });
            assert_eq!(count.count(), 1, "{usage}: {form}");
        }
        let words = |c: char| c.is_ascii_alphanumeric() || " []|/-".contains(c);
        assert!(usage.chars().all(words), "{usage}");
    }
    assert!(
        help.contains("\narguments [ID|all]\n")
            && help.contains("\nprint[/LETTER] [lane LANES] [frame N] [--full] PATH\n")
            && help.contains("\neval [value|size BYTES] [lane LANES] EXPRESSION\n")
    );
}

/// A comma separates names of registers here as on the command line.
#[test]
fn names_of_registers_are_separated_by_commas_or_blanks() {
    let mut demo = demo();
    let blanks = typed(&mut demo, "registers pc exec s0-s3");
    assert_eq!(blanks.lines().count(), 7, "{blanks}");
    assert_eq!(typed(&mut demo, "registers pc,exec s0-s3"), blanks);
    assert_eq!(typed(&mut demo, "registers pc,exec,s0-s3"), blanks);
}

/// Lanes 25 to 63 of the demo's first wave are inactive at an unknown PC.
#[test]
fn an_inactive_lane_is_no_thread() {
    let mut client = client(&open(&fixtures().join("demo.zip")), Facade::Gdb, ThreadsAs::Lanes);
    let text = reply(&mut client, "lane (30,0,0)");
    assert_eq!(
        text,
        "Lane 30 of this wave is no thread: it has no work-item, or its PC is not known. List the lanes with `monitor lanes`."
    );
}
