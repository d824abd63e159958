//! Files of expectations: drafts over all fixtures, docs/check.md, and the commands that rewrite files.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use lanescope::check::{Content, Head, ScopeFile, Subject, Verdict, draft, evaluate, format, parse};
use lanescope::session::{Dump, Inspect, Session};
use lanescope::signature::Rules;

use crate::cli::{run, text};
use crate::fixtures::{FEW, fixtures, open, outside_ci};
use crate::slim::Scratch;
use crate::support::{least, sample::is_long};

/// One session for each kind of waves.
fn sessions(dump: &Arc<Dump>) -> Vec<Session> {
    let kinds = dump.kinds().map(|(kind, _)| format!("{}:{}", kind.target.name, kind.wave_size));
    kinds.map(|kind| Session::new(Arc::clone(dump), Some(&kind)).unwrap()).collect()
}

fn subject<'a>(dump: &Arc<Dump>, sessions: &'a [Session]) -> Subject<'a> {
    Subject {
        name: "dump".to_owned(),
        sessions: sessions.iter().map(|session| -> &dyn Inspect { session }).collect(),
        dump: Arc::clone(dump),
        rules: Rules::default(),
    }
}

/// The draft about a dump.
fn drafted(dump: &Arc<Dump>) -> String {
    let sessions = sessions(dump);
    let head = Head { dump: "crash.zip".to_owned(), ..Head::default() };
    draft(&head, &subject(dump, &sessions)).unwrap()
}

/// The lines of a file that do not hold over a dump, with their verdicts.
fn failing(file: &ScopeFile, dump: &Arc<Dump>) -> Vec<String> {
    let sessions = sessions(dump);
    let outcomes = evaluate(file, &subject(dump, &sessions));
    let failing = outcomes.into_iter().filter(|outcome| outcome.verdict != Verdict::Holds);
    failing.map(|outcome| format!("{}: {:?}", file.lines[outcome.line - 1].text, outcome.verdict)).collect()
}

/// Dumps of [`FEW`] fixtures and the cores; all dumps in `scripts/test --long`.
fn dumps() -> Vec<PathBuf> {
    let is_core = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "core");
    let folder = fs::read_dir(fixtures().join("dumps")).unwrap().map(|entry| entry.unwrap().path());
    let cores = fs::read_dir(fixtures().join("gpucore")).unwrap().map(|entry| entry.unwrap().path());
    let cores = cores.filter(is_core);
    let folder = folder.filter(|path| is_long() || FEW.iter().any(|name| path.file_stem().unwrap() == *name));
    let all: Vec<PathBuf> = folder.chain(cores).chain([fixtures().join("demo.zip")]).collect();
    assert!(all.len() > least(50, 20), "{all:?}");
    all
}

#[test]
fn drafts_hold_on_their_dumps_and_have_no_addresses_and_ids() {
    for path in dumps() {
        let (dump, name) = (open(&path), path.display());
        let text = drafted(&dump);
        let file = parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{text}"));
        assert_eq!(failing(&file, &dump), Vec::<String>::new(), "{name}\n{text}");
        assert_eq!(format(&file), text, "{name}");
        assert!(!text.contains("0x") && !text.contains("wave id"), "{name}\n{text}");
        assert!(!text.contains(env!("LANESCOPE_ROOT")), "{name}\n{text}");
        let statements = file.lines.iter().filter(|line| line.content != Content::Empty).count();
        assert!(statements > 2, "{name}\n{text}");
    }
}

/// `fault`, `at` and `stack` of one program hold on every GPU, for both ways of compiling it.
#[test]
fn drafts_of_a_program_hold_on_other_gpus() {
    for level in ["O0", "O2"] {
        let of = |gpu: &str| open(&fixtures().join("dumps").join(format!("saxpy-{gpu}-{level}")));
        let text = drafted(&of("gfx90a"));
        let kept = text
            .lines()
            .filter(|line| ["fault ", "at ", "stack "].iter().any(|keyword| line.starts_with(keyword)));
        let kept: Vec<&str> = kept.collect();
        assert_eq!(kept.len(), 3, "{text}");
        let file = parse(kept.join("\n")).unwrap();
        for gpu in ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"] {
            assert_eq!(failing(&file, &of(gpu)), Vec::<String>::new(), "{gpu} {level}");
        }
    }
}

/// tests/fixtures/models/saxpy.py and the manifest: wave 1 faulted in lane 24, which reads x[1024]; n is 1024.
#[test]
fn the_draft_of_the_demo_has_the_fault_of_its_model() {
    let text = drafted(&open(&fixtures().join("demo.zip")));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    let expected = [
        "dump crash.zip",
        "fault memory violation",
        "at saxpy saxpy.hip:54",
        "stack saxpy",
        "access lane 24 load x[i] past end",
        "wave faulted",
        "lane 24 x[i] is unavailable",
        "lane 24 i == 1024",
        "lane 24 n == 1024",
    ];
    for line in expected {
        assert!(lines.iter().any(|known| known == line), "{line}\n{text}");
    }
    assert!(lines.iter().any(|line| line.starts_with("waves 8, faulted 1")), "{text}");
    assert!(!lines.iter().any(|line| line.contains("xi ==")), "the line declares xi\n{text}");
}

/// The blocks of docs/check.md in a language.
fn blocks(language: &str) -> Vec<String> {
    let page = fs::read_to_string(crate::support::root().join("docs/check.md")).unwrap();
    let start = format!("```{language}\n");
    let blocks: Vec<String> =
        page.split(&start).skip(1).map(|rest| rest.split_once("```").unwrap().0.to_owned()).collect();
    assert!(!blocks.is_empty(), "{language}");
    blocks
}

#[test]
fn examples_of_the_page_are_in_format_and_hold() {
    let mut held = 0;
    for text in blocks("scope") {
        let file = parse(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        assert_eq!(format(&file), text);
        for line in &file.lines {
            let Content::Dump(names) = &line.content else { continue };
            for name in names {
                let dump = open(&crate::support::root().join(name));
                assert_eq!(failing(&file, &dump), Vec::<String>::new(), "{text}");
                held += 1;
            }
        }
    }
    assert!(held > 0);
}

/// Statements in the tables of the page.
#[test]
fn statements_of_the_page_are_parsed() {
    let page = fs::read_to_string(crate::support::root().join("docs/check.md")).unwrap();
    let section = |name: &str| {
        let (_, rest) = page.split_once(name).unwrap();
        rest.lines()
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .skip(2)
    };
    let mut count = 0;
    for (name, head) in
        [("Statements about the dump:", ""), ("\nBlocks:", ""), ("Statements of a block:", "wave every\n")]
    {
        for row in section(name) {
            let (cell, _) = row[2..].split_once(" |").unwrap();
            for statement in cell.split("`, `").map(|statement| statement.trim_matches('`')) {
                let text = format!("{head}{statement}");
                assert!(parse(&text).is_ok(), "{:?}", parse(&text));
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count}");
}

/// A folder with a file about the demo.
fn folder(name: &str, file: &str) -> (Scratch, PathBuf) {
    let scratch = Scratch::new(name);
    fs::copy(fixtures().join("demo.zip"), scratch.path("demo.zip")).unwrap();
    let path = scratch.path("a.scope");
    fs::write(&path, file).unwrap();
    (scratch, path)
}

/// Runs `check`, with or without a variable of a CI system.
fn check(arguments: &[&str], ci: Option<(&str, &str)>) -> Output {
    let mut command = crate::support::lanescope();
    outside_ci(&mut command).envs(ci).arg("check").args(arguments).output().unwrap()
}

const WRONG: &str = "\
dump demo.zip
fault illegal instruction # cause
wave faulted
 lane 17   i == 3   # value
 lane active i == 3
 lane 24 x[i] == 0
";

/// The values are those of tests/fixtures/models: i = 1000 + lane in wave 1; x has 1024 elements.
#[test]
fn blessing_writes_the_values_of_the_dump_once() {
    let (_scratch, path) = folder("scope-bless", WRONG);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = path.with_file_name("link.scope");
    symlink("a.scope", &link).unwrap();
    let file = link.to_str().unwrap();
    for (name, value) in [("CI", "true"), ("CI", "0"), ("GITHUB_ACTIONS", "true"), ("JENKINS_URL", "x")] {
        let refused = check(&["--bless", file], Some((name, value)));
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(
            text(&refused.stderr).contains(&format!("no file is changed in CI ({name} is set)")),
            "{refused:?}"
        );
        assert!(text(&refused.stdout).contains("+ fault memory violation"), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), WRONG);
    }
    let review = check(&["--bless=review", file], Some(("CI", "true")));
    let beside = fs::read_to_string(link.with_file_name("link.scope.new")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), WRONG, "{review:?}");
    let blessed = check(&["--bless", file], None);
    let expected = "\
dump demo.zip
fault memory violation    # cause
wave faulted
 lane 17   i == 1017  # value
 lane active i == 1000 + $lane
 lane 24 x[i] == 0
";
    let found = fs::read_to_string(&path).unwrap();
    assert_eq!((found.as_str(), beside.as_str()), (expected, expected), "{blessed:?}");
    // The last line cannot be checked: x[1024] is not captured.
    assert_eq!(blessed.status.code(), Some(2), "{blessed:?}");
    assert!(text(&blessed.stdout).contains(":6: not changed: "), "{blessed:?}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let again = check(&["--bless", file], Some(("CI", "true")));
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), again.status.code()), (expected, Some(2)));
}

#[test]
fn formatting_writes_files_and_lists_them() {
    let (_scratch, path) =
        folder("scope-fmt", "dump demo.zip\r\nfault  none # c\r\n\r\nwave every\r\nlane 3 i==3");
    let (file, before) = (path.to_str().unwrap(), fs::read(&path).unwrap());
    let listed = check(&["--fmt", "--check", file], None);
    assert_eq!((listed.status.code(), text(&listed.stdout)), (Some(1), format!("{file}\n")));
    assert_eq!(fs::read(&path).unwrap(), before);
    let written = check(&["--fmt", file], None);
    assert_eq!((written.status.code(), text(&written.stdout)), (Some(0), format!("{file}\n")));
    let expected = "dump   demo.zip\r\nfault  none  # c\r\n\r\nwave every\r\n  lane 3  i == 3\r\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    for arguments in [["--fmt", "--check", file], ["--fmt", file, file]] {
        let same = check(&arguments, None);
        assert_eq!((same.status.code(), text(&same.stdout)), (Some(0), String::new()));
    }
    fs::write(&path, "falt none\n").unwrap();
    let wrong = check(&["--fmt", file], None);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(text(&wrong.stdout).contains("did you mean `fault`?"), "{wrong:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "falt none\n");
}

/// Runs `check --new` in a folder, with the standard output to a file of it.
fn drafted_to(folder: &Path, arguments: &[&str], file: Option<&str>) -> Output {
    let mut command = crate::support::lanescope();
    command.current_dir(folder).args(["check", "--new"]).args(arguments);
    if let Some(file) = file {
        command.stdout(fs::File::create(folder.join(file)).unwrap());
    }
    command.output().unwrap()
}

/// Paths of a file of expectations are relative to its folder: the draft holds where it was written.
#[test]
fn paths_of_a_draft_lead_from_its_folder() {
    let scratch = Scratch::new("scope-paths");
    for folder in ["o", "n", "far/deep"] {
        fs::create_dir_all(scratch.path(folder)).unwrap();
    }
    fs::copy(fixtures().join("demo.zip"), scratch.path("o/oob.zip")).unwrap();
    // `..` behind a link leads to the folder of its target.
    symlink("far/deep", scratch.path("link")).unwrap();
    let absolute = scratch.path("o/oob.zip");
    let absolute = absolute.to_str().unwrap();
    let output = ["-o", "n/by-option.scope"];
    for (arguments, stream, file, expected) in [
        (vec!["o/oob.zip"], Some("n/zz.scope"), "n/zz.scope", "../o/oob.zip"),
        (vec![absolute], Some("n/absolute.scope"), "n/absolute.scope", "../o/oob.zip"),
        (vec!["o/oob.zip"], Some("here.scope"), "here.scope", "o/oob.zip"),
        (vec!["n/../o/oob.zip"], Some("o/own.scope"), "o/own.scope", "oob.zip"),
        (vec!["o/oob.zip"], Some("link/x.scope"), "link/x.scope", "../../o/oob.zip"),
        ([&["o/oob.zip"], &output[..]].concat(), None, "n/by-option.scope", "../o/oob.zip"),
        (vec![absolute, "-o", "link/y.scope"], None, "far/deep/y.scope", "../../o/oob.zip"),
    ] {
        let made = drafted_to(&scratch.0, &arguments, stream);
        assert_eq!((made.status.code(), &*made.stdout), (Some(0), &b""[..]), "{arguments:?}: {made:?}");
        let path = scratch.path(file);
        let written = fs::read_to_string(&path).unwrap();
        assert!(written.lines().any(|line| line.split_whitespace().eq(["dump", expected])), "{written}");
        assert!(!written.contains("working folder"), "{written}");
        let held = check(&[path.to_str().unwrap()], None);
        assert_eq!(held.status.code(), Some(0), "{held:?}\n{written}");
    }
    for arguments in [vec!["o/oob.zip"], vec![absolute], vec!["o/oob.zip", "-o", "-"]] {
        let made = drafted_to(&scratch.0, &arguments, None);
        let printed = text(&made.stdout);
        assert!(printed.contains("\n# Paths are relative to the working folder of the command"), "{printed}");
        assert!(printed.lines().any(|line| line.split_whitespace().eq(["dump", "o/oob.zip"])), "{printed}");
        fs::write(scratch.path("piped.scope"), printed).unwrap();
        let held = check(&[scratch.path("piped.scope").to_str().unwrap()], None);
        assert_eq!(held.status.code(), Some(0), "{held:?}");
    }
    // People edit these files.
    let before = fs::read(scratch.path("n/by-option.scope")).unwrap();
    let again = drafted_to(&scratch.0, &["o/oob.zip", "-o", "n/by-option.scope"], None);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert!(text(&again.stderr).contains("n/by-option.scope: there is such a file"), "{again:?}");
    assert_eq!(fs::read(scratch.path("n/by-option.scope")).unwrap(), before);
    let piped = drafted_to(&scratch.0, &["o/oob.zip", "--log", "-"], None);
    assert_eq!(piped.status.code(), Some(2), "{piped:?}");
    assert!(
        text(&piped.stderr).contains("--log -: a file of expectations needs a log in a file"),
        "{piped:?}"
    );
}

/// docs/check.md, "Absent waves". agent-2018.log has the first of 16 waves, and umr-hardware.txt a wave without a stop
/// reason; umr printed no wave into a text without any.
#[test]
fn drafts_have_no_line_that_absent_facts_leave_open() {
    let of = |name: &str| {
        let dump = open(&fixtures().join(name));
        let text = drafted(&dump);
        let file = parse(&text).unwrap();
        assert_eq!(failing(&file, &dump), Vec::<String>::new(), "{name}\n{text}");
        text
    };
    let has =
        |text: &str, keyword: &str| text.lines().any(|line| line.split([' ', ',']).next() == Some(keyword));
    let absent = of("logs/agent-2018.log");
    assert!(absent.contains("\n# Waves are absent from the dump"), "{absent}");
    assert!(!has(&absent, "waves") && !has(&absent, "hang") && has(&absent, "fault"), "{absent}");
    for name in ["logs/umr-hardware.txt", "dumps/absent-gfx90a"] {
        let unknown = of(name);
        assert!(unknown.contains("\n# Stop reasons are absent from the dump"), "{unknown}");
        assert!(has(&unknown, "waves") && !unknown.contains("faulted 1"), "{unknown}");
        assert!(!unknown.contains("fault  none"), "{unknown}");
    }
}

/// A draft that expects nothing of its dump passes in every run.
#[test]
fn a_dump_that_decides_no_line_has_no_draft() {
    let path = fixtures().join("logs/README.md");
    let made = drafted_to(&fixtures(), &[path.to_str().unwrap()], None);
    assert_eq!((made.status.code(), &*made.stdout), (Some(2), &b""[..]), "{made:?}");
    assert!(text(&made.stderr).contains("nothing to expect of this dump: "), "{made:?}");
    assert!(text(&made.stderr).contains("no waves"), "{made:?}");
}

#[test]
fn the_draft_of_the_command_holds_with_its_options() {
    let (scratch, path) = folder("scope-new", "");
    let report = scratch.path("my log.txt");
    fs::write(&report, "Memory access fault by GPU node-1 on address 0x7f0000201000.\n").unwrap();
    let new = crate::support::lanescope()
        .current_dir(&scratch.0)
        .args(["check", "--new", scratch.path("demo.zip").to_str().unwrap(), "--log", "my log.txt"])
        .output()
        .unwrap();
    let written = text(&new.stdout);
    assert_eq!(new.status.code(), Some(0), "{new:?}");
    assert!(written.contains("dump    demo.zip\nlog     \"my log.txt\"\n"), "{written}");
    fs::write(&path, &written).unwrap();
    let held = check(&[path.to_str().unwrap()], None);
    assert_eq!(held.status.code(), Some(0), "{held:?}\n{written}");
    let misplaced = run(&["check", path.to_str().unwrap(), "--symbols", "build"]);
    assert_eq!(misplaced.status.code(), Some(2), "{misplaced:?}");
    assert!(text(&misplaced.stderr).contains("--symbols goes with --new"), "{misplaced:?}");
}

/// docs/check.md, "Drafts". The PC is in no code, so the waves have a kernel and no place.
#[test]
fn a_draft_of_a_jump_to_no_code_names_the_cause_and_the_kernel() {
    let scratch = Scratch::new("scope-jump");
    let code = fixtures().join("dumps/saxpy-gfx90a-O0");
    let manifest = format!(
        r#"
format = 1
agent = [{{ id = 1, target = "gfx90a" }}]
queue = [{{ id = 1, agent = 1 }}]
dispatch = [{{ id = 1, queue = 1, kernel = "saxpy", grid = [64], workgroup = [64] }}]
workgroup = [{{ id = 1, dispatch = 1, position = [0] }}]
wave = [{{ id = 1, workgroup = 1, stop = ["memory_violation"], registers = {{ pc = 0, exec = 1 }} }}]
code_object = [{{ file = "{}/saxpy-gfx90a-O0.hsaco", address = "0x7f0000100000" }}]
"#,
        code.display()
    );
    fs::write(scratch.path("manifest.toml"), manifest).unwrap();
    let dump = open(&scratch.0);
    let text = drafted(&dump);
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines.iter().find(|line| line.starts_with("fault")),
        Some(&"fault bad pc".to_owned()),
        "{text}"
    );
    assert!(lines.windows(2).any(|pair| pair == ["wave kernel saxpy", "stop memory violation"]), "{text}");
    assert!(!text.contains("wave  faulted"), "{text}");
    assert_eq!(failing(&parse(&text).unwrap(), &dump), Vec::<String>::new(), "{text}");
}
