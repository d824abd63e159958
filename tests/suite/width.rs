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

/// Fails for a wide line. Wider words stand alone: a broken path, name or quoted word of a shell would be another one.
fn check(what: &str, text: &str) {
    for line in text.lines() {
        // A command continues behind the backslash.
        let words = line.trim_end_matches(" \\").trim_start();
        let unquoted = words.split('\'').step_by(2).collect::<String>();
        let is_word = !unquoted.contains(' ');
        assert!(
            line.chars().count() <= COLUMNS || is_word,
            "{what}: {} columns: {line}",
            line.chars().count()
        );
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
                let output = text(&output.unwrap().stdout);
                check(&format!("{command} {arguments:?}"), &output);
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

/// The variable `COLUMNS` changes the width in a pipe; a value below half of a console is none.
#[test]
fn the_width_of_a_pipe_can_be_chosen() {
    // A path is one word: here it does not depend on the length of folders.
    let lines = |columns: &str| {
        let mut program = program();
        program.current_dir(fixtures()).env("COLUMNS", columns);
        let output = program.args(["info", "gpucore/gfx90a-split.core"]).output().unwrap();
        let output = text(&output.stdout);
        let widest = output.lines().map(|line| line.chars().count()).max().unwrap();
        (output, widest)
    };
    let [narrow, wide, default, wrong] = ["60", "200", "0", "80x"].map(lines);
    assert!(default.1 <= COLUMNS && default.1 > 70 && wrong == default, "{} {}", default.1, wrong.1);
    assert!(narrow.1 <= 60 && wide.1 > 120 && wide.1 <= 200, "{} {}", narrow.1, wide.1);
}

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
