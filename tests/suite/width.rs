//! Widths of text: no line of a command has more than 80 columns without `--full`, and none has a no-break space.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Output;

use crate::clean::Inputs;
use crate::cli::{Ending, program, text};
use crate::cli_options::commands;
use crate::fixtures::{copy_dump, fixtures, one_line, without_debuggers};
use crate::support::sample::is_long;

const COLUMNS: usize = 80;

/// Fails for a line wider than a console.
fn check(what: &str, text: &str) {
    check_within(what, text, COLUMNS);
}

/// Fails for a wide line. Wider words stand alone: a broken path, name or quoted word of a shell would be another one.
fn check_within(what: &str, text: &str, limit: usize) {
    for line in text.lines() {
        // A command continues behind the backslash.
        let words = line.trim_end_matches(" \\").trim_start();
        let unquoted = words.split('\'').step_by(2).collect::<String>();
        let is_word = !unquoted.contains(' ');
        assert!(line.chars().count() <= limit || is_word, "{what}: {} columns: {line}", line.chars().count());
    }
    assert!(!text.contains('\u{a0}'), "{what}: a no-break space");
}

/// The program with lines of the default width.
fn folded(words: &[&str]) -> Output {
    program().env_remove("COLUMNS").args(words).output().unwrap()
}

/// Dumps of several formats with their code: a fault, callers, several kinds, a core and a log without a code object.
const DUMPS: [(&str, &str); 5] = [
    ("demo.zip", "code/saxpy-gfx90a-O0.hsaco"),
    ("dumps/calls-gfx90a", "code/calls-gfx90a.hsaco"),
    ("dumps/mixed-kinds", "code/wide-gfx1250-O2.hsaco"),
    ("gpucore/gfx1100.core", "release/bitsandbytes-rocm64.bundle"),
    ("logs/agent-plain.log", "compilers/triton-gfx90a.hsaco"),
];

/// Text for other programs, and text of a shell.
const OTHER: [&str; 3] = ["export", "completions", "man"];

/// The commands with options for more text.
const FURTHER: [&[&str]; 9] = [
    &["groups", "DUMP", "--lanes"],
    &["triage", "DUMP", "--hang"],
    &["print", "DUMP", "x", "--lane", "all", "--explain"],
    &[
        "eval",
        "DUMP",
        "DW_OP_regx VGPR3; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset",
        "--explain",
    ],
    &["disassemble", "DUMP", "--around", "16"],
    &["registers", "DUMP", "-r", "scalar,system,v0-v3"],
    &["targets", "gfx1250"],
    &["demo", "--print", "--debugger", "lldb"],
    &["--version", "--verbose"],
];

#[test]
fn no_text_is_wider_than_a_console() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| folder.path().join(name).display().to_string();
    copy_dump("saxpy-gfx90a-O0", &folder.path().join("dump"));
    let (scope, other) = (path("crash.scope".to_owned()), path("dump".to_owned()));
    fs::write(
        &scope,
        "dump dump\nfault memory_violation\nat saxpy saxpy.hip:1\nwave every\n  lane all i == 1\n",
    )
    .unwrap();
    let names = ["i".to_owned(), "sample".to_owned(), "packed".to_owned()];
    let (mut count, mut made) = (0, 0);
    for (index, (command, wave, lane)) in commands().into_iter().enumerate() {
        if OTHER.contains(&command) || command == "serve" {
            continue;
        }
        let dumps = DUMPS.iter().cycle().skip(index).take(if is_long() { DUMPS.len() } else { 1 });
        for (dump, code) in dumps {
            made += 1;
            let [dump, code] = [dump, code].map(|name| fixtures().join(name).display().to_string());
            let [small, view, reports] =
                ["small", "view", "reports"].map(|name| path(format!("{name}{made}")));
            let inputs = Inputs {
                dump: &dump,
                code: &code,
                other: &other,
                small: &small,
                view: &view,
                reports: &reports,
                scope: &scope,
                names: &names,
            };
            for (mut arguments, _) in inputs.of(command) {
                if ["html", "markdown", "json", "--jsonl"].iter().any(|form| arguments.contains(form)) {
                    continue;
                }
                let choice = if wave == "IDS" && command != "slim" { &["--wave", "all"][..] } else { &[] };
                arguments.extend(choice);
                arguments.extend(if lane == "LANES" { &["--lane", "all"][..] } else { &[] });
                let mut program = program();
                program.env_remove("COLUMNS");
                let output = without_debuggers(&mut program, command).arg(command).args(&arguments).output();
                let output = output.unwrap();
                let (output, errors) = (text(&output.stdout), text(&output.stderr));
                check(&format!("{command} {arguments:?}"), &output);
                // Lines of the log begin with their time.
                let errors: Vec<&str> = errors.lines().filter(|line| !line.starts_with('[')).collect();
                check(&format!("errors of {command} {arguments:?}"), &errors.join("\n"));
                count += usize::from(!output.is_empty());
            }
        }
    }
    assert!(count > 25, "{count}");
    let demo = fixtures().join("demo.zip").display().to_string();
    for words in FURTHER {
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "DUMP" { &*demo } else { *word }).collect();
        let output = folded(&words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        check(&format!("{words:?}"), &text(&output.stdout));
    }
}

/// The banner of a server, up to its last line.
#[test]
fn the_banner_of_a_server_fits_a_console() {
    for dump in ["dumps/mixed-kinds", "gpucore/gfx90a-split.core"] {
        let dump = fixtures().join(dump);
        let mut server = Ending(
            program().env_remove("COLUMNS").arg("serve").arg(dump).args(["--port", "0"]).spawn().unwrap(),
        );
        let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut banner: Vec<String> = lines.by_ref().take_while(|line| !line.starts_with("Then: ")).collect();
        banner.extend(lines.next());
        assert!(banner.len() > 5 && banner.last().unwrap().contains("monitor help"), "{banner:?}");
        check("serve", &banner.join("\n"));
    }
}

/// The variable `COLUMNS` changes the width in a pipe; a value below half of a console is none. The page of `triage` is
/// never wider than a console.
#[test]
fn the_width_of_a_pipe_can_be_chosen() {
    // A path is one word: here it does not depend on the length of folders.
    let lines = |command: &str, columns: &str| {
        let mut program = program();
        program.current_dir(fixtures()).env("COLUMNS", columns);
        let output = program.args([command, "gpucore/gfx90a-split.core"]).output().unwrap();
        let output = text(&output.stdout);
        // The row of lanes is one word.
        let folded = output.lines().filter(|line| !line.starts_with("Lanes "));
        let widest = folded.map(|line| line.chars().count()).max().unwrap();
        (output, widest)
    };
    let [narrow, wide, default, wrong] = ["60", "200", "0", "80x"].map(|columns| lines("triage", columns));
    assert!(narrow.1 <= 60 && default.1 > 70 && default.1 <= COLUMNS, "{} {}", narrow.1, default.1);
    assert!(wide == default && wrong == default, "{} {}", wide.1, wrong.1);
    assert_eq!(one_line(&narrow.0.replace(" \\\n", "\n")), one_line(&default.0.replace(" \\\n", "\n")));
    let [narrow, wide, default, wrong] = ["60", "200", "0", "80x"].map(|columns| lines("info", columns));
    assert!(default.1 <= COLUMNS && default.1 > 70 && wrong == default, "{} {}", default.1, wrong.1);
    assert!(narrow.1 <= 60 && wide.1 > 120 && wide.1 <= 200, "{} {}", narrow.1, wide.1);
}

/// Messages on standard error have the width of a console, or of `COLUMNS`; folding changes blanks alone.
#[test]
fn no_message_is_wider_than_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (cut, hollow) = (path("cut.core"), path("hollow.core"));
    let core = fs::read(fixtures().join("gpucore/gfx1100.core")).unwrap();
    fs::write(&cut, &core[..core.len() / 2]).unwrap();
    fs::write(&hollow, &core[..64]).unwrap();
    fs::write(path("other.txt"), "no dump").unwrap();
    let demo = fixtures().join("demo.zip").display().to_string();
    let split = fixtures().join("gpucore/gfx90a-split.core").display().to_string();
    let here = folder.path().display().to_string();
    let mistakes: &[&[&str]] = &[
        &["waves", &demo, "--wave", "99"],
        &["print", &demo, "n", "--work-item", "9999,0,0"],
        &["print", &demo, "n", "--work-item", "1;2"],
        &["print", &demo, "n", "--lane", "x"],
        &["print", &demo],
        &["serve", "--port", "abc"],
        &["check", "--jobs", "many", &demo],
        &["triage", &demo, "--fault-address", "0x7f0000201008+0"],
        &["slim", &demo],
        &["slim", &demo, "-o", "-"],
        &["slim", &demo, "--memory", "0x7f0000200000+0x0", "-o", &path("small.zip")],
        &["waves", &demo, "--processor", "gfx1100"],
        &["waves", &cut],
        &["info", &hollow],
        &["waves", &split, "--code-object", &path("other.txt")],
        &["bucket", &demo, &here],
        &["signature", &path("other.txt")],
        &["wave", &demo],
        &["triage", &path("missing.core")],
        &["dwarf", &path("other.txt")],
    ];
    for words in mistakes {
        let errors = |columns: &str| {
            let mut program = program();
            match columns {
                "" => program.env_remove("COLUMNS"),
                columns => program.env("COLUMNS", columns),
            };
            text(&program.args(*words).output().unwrap().stderr)
        };
        // A command to copy continues behind a backslash.
        let one_line = |text: &str| one_line(&text.replace(" \\\n", "\n"));
        let whole = errors("100000");
        assert!(!whole.is_empty(), "{words:?}");
        for (columns, limit) in [("", COLUMNS), ("60", 60)] {
            let errors = errors(columns);
            check_within(&format!("{words:?}"), &errors, limit);
            assert_eq!(one_line(&errors), one_line(&whole), "{words:?}");
        }
    }
}

/// Tables of waves and lanes fit narrow and wide readers, with one order of cells.
#[test]
fn tables_fit_their_readers() {
    for dump in ["dumps/diverge-gfx90a-O0", "dumps/mixed-kinds", "demo.zip"] {
        let dump = fixtures().join(dump).display().to_string();
        for words in [
            &["lanes", &*dump, "--wave", "all"][..],
            &["waves", &*dump],
            &["groups", &*dump, "--lanes"],
            &["dispatches", &*dump],
            &["locals", &*dump, "--wave", "all", "--lane", "all"],
            &["backtrace", &*dump, "--wave", "all"],
        ] {
            for limit in [60, 80, 100] {
                let mut program = program();
                let output = program.env("COLUMNS", limit.to_string()).args(words).output().unwrap();
                check_within(&format!("{words:?}"), &text(&output.stdout), limit);
            }
        }
    }
}

/// A long list of lanes is folded between series, in its column; below it is what does not fit beside it.
#[test]
fn a_list_of_lanes_stays_in_its_column() {
    let table = |columns: &str| {
        let mut program = program();
        program.current_dir(fixtures()).env("COLUMNS", columns);
        text(&program.args(["lanes", "dumps/diverge-gfx90a-O0", "--wave", "1"]).output().unwrap().stdout)
    };
    assert_eq!(table("80"), LANES_80);
    assert_eq!(table("60"), LANES_60);
}

const LANES_80: &str = "\
Where: diverge\n\
\x20  Lanes                State     Item in group  Item in grid  PC\n\
\x20  0-2, 4, 6, ..., 18,  inactive  (0,0,0) ..     (0,0,0) ..    ?\n\
\x20  19-20,                         (62,0,0)       (62,0,0)\n\
\x20  22, 24, ..., 36,\n\
\x20  37-38, 40, 42, 44,\n\
\x20  46-48, 50, 52,\n\
\x20  54-56, 58, 60, 62\n\
Where: diverge at tests/fixtures/kernels/diverge.hip:26\n\
*  3, 5, ..., 17,       active    (3,0,0) ..     (3,0,0) ..    0x7f000010228c\n\
\x20  21, 23, ..., 35,               (63,0,0)       (63,0,0)\n\
\x20  39, 41, 43, 45, 49,\n\
\x20  51, 53, 57, 59, 61,\n\
\x20  63\n\
* lane 3 is in focus\n\
";
const LANES_60: &str = "\
Where: diverge\n\
\x20  Lanes             State     Item in group  Item in grid\n\
\x20   PC\n\
\x20  0-2,              inactive  (0,0,0) ..     (0,0,0) ..\n\
\x20  4, 6, ..., 18,              (62,0,0)       (62,0,0)\n\
\x20  19-20,\n\
\x20  22, 24, ..., 36,\n\
\x20  37-38, 40, 42,\n\
\x20  44, 46-48, 50,\n\
\x20  52, 54-56, 58,\n\
\x20  60, 62\n\
\x20   ?\n\
Where: diverge at tests/fixtures/kernels/diverge.hip:26\n\
*  3, 5, ..., 17,    active    (3,0,0) ..     (3,0,0) ..\n\
\x20  21, 23, ..., 35,            (63,0,0)       (63,0,0)\n\
\x20  39, 41, 43, 45,\n\
\x20  49, 51, 53, 57,\n\
\x20  59, 61, 63\n\
\x20   0x7f000010228c\n\
* lane 3 is in focus\n\
";

/// `--full` changes blanks alone, and each frame and instruction is in one line.
#[test]
fn full_text_is_in_whole_lines() {
    let calls = fixtures().join("dumps/calls-gfx90a").display().to_string();
    for words in [
        &["groups", &*calls][..],
        &["backtrace", &*calls, "--wave", "1"],
        &["disassemble", &*calls, "--wave", "1"],
        &["explain", &*calls, "y", "--wave", "1", "--lane", "all"],
    ] {
        let [folded, whole] =
            [&[][..], &["--full"]].map(|more| text(&folded(&[words, more].concat()).stdout));
        assert_eq!(one_line(&folded), one_line(&whole), "{words:?}");
        assert!(whole.lines().count() <= folded.lines().count(), "{words:?}: {whole}");
        let is_start = |line: &&str| line.starts_with('#') || line.contains(" 0x00007f");
        let is_continued = |line: &&str| line.starts_with("    ") && !line.contains(" 0x00007f");
        let starts = whole.lines().filter(is_start).count();
        let continued = whole.lines().filter(is_continued).count();
        assert!(words[0] == "explain" || starts > 2 && continued == 0, "{words:?}: {whole}");
    }
}
