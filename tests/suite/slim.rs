//! `lanescope slim`: in every fixture, answers about the selected parts are unchanged, pointers are followed within
//! their limits, and other parts are absent.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::cores::{SAMPLES, core};
use crate::dwarf::ran;
use crate::fixtures::{copy_dump, fixtures, one_line};
use crate::support::sample::{is_long, sampled};
use crate::support::{least, newest};

/// A temporary folder of the test.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        // Tests of one name run at the same time.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("lanescope-{name}-{process}-{number}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn lanescope(arguments: &[&str]) -> Output {
    crate::support::lanescope().args(arguments).output().unwrap()
}

pub(crate) fn words(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Answer of a command that must succeed without a warning.
pub(crate) fn answer(arguments: &[&str]) -> String {
    let output = lanescope(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Both streams of a command, regardless of its exit status.
pub(crate) fn said(arguments: &[&str]) -> (String, String) {
    let output = lanescope(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// An answer without the waves' numbers, which differ in a dump of fewer waves.
fn without_thread(answer: &str) -> String {
    answer.lines().filter(|line| !line.trim_start().starts_with("\"thread\":")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn slim(dump: &Path, to: &Path, more: &[&str]) -> Value {
    let arguments: Vec<&str> =
        ["slim", words(dump), "-o", words(to), "--json"].iter().chain(more).copied().collect();
    serde_json::from_str(&answer(&arguments)).unwrap()
}

fn dumps() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(fixtures().join("dumps")).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    assert!(all.len() > 40, "only {} dumps", all.len());
    all
}

pub(crate) fn ids(report: &Value) -> Vec<String> {
    report["waves"].as_array().unwrap().iter().map(|wave| wave["id"].to_string()).collect()
}

/// Waves of an export by id, without numbers that depend on the dump's order.
fn waves(export: &str) -> Vec<Value> {
    let export = crate::in_samples_notation(serde_json::from_str(export).unwrap());
    let mut waves = export["waves"].as_array().unwrap().clone();
    for wave in &mut waves {
        let wave = wave.as_object_mut().unwrap();
        wave.remove("ordinal");
        wave.remove("workgroup");
    }
    waves
}

#[test]
fn the_variables_of_chosen_waves_are_the_same_in_every_fixture() {
    let scratch = Scratch::new("slim-same");
    let mut compared = 0;
    for (index, dump) in sampled(dumps().iter().enumerate(), 5) {
        // Folders and zips alternately.
        let to = scratch.path(&format!("{index}{}", if index % 2 == 0 { ".zip" } else { "" }));
        let ids = ids(&slim(dump, &to, &[]));
        assert!(!ids.is_empty(), "{}", dump.display());
        let two = ids[..ids.len().min(2)].join(",");
        for frame in ["0", "1"] {
            let of = |dump: &Path| {
                let (answer, mut error) =
                    said(&["locals", words(dump), "--json", "-w", &two, "-l", "all", "-f", frame]);
                // Without problems of the dump; a missing frame is one of the wave.
                error = error.lines().filter(|line| !line.starts_with("warning")).collect();
                (without_thread(&answer), error)
            };
            let (before, after) = (of(dump), of(&to));
            assert_eq!(before, after, "{} waves {two} frame {frame}", dump.display());
            compared += before.0.len();
        }
        let chosen = |wave: &Value| ids.contains(&wave["id"].to_string());
        let before: Vec<Value> =
            waves(&said(&["export", words(dump)]).0).into_iter().filter(chosen).collect();
        let after = waves(&said(&["export", words(&to)]).0);
        assert_eq!(before, after, "{}", dump.display());
    }
    assert!(compared > least(1 << 20, 1 << 16), "only {compared} bytes were compared");
}

#[test]
fn those_that_faulted_and_one_of_each_stack_are_chosen() {
    let scratch = Scratch::new("slim-chosen");
    // By the models: of saxpy's waves on gfx90a wave 1 faulted, and the others are at five places.
    let dump = fixtures().join("dumps/saxpy-gfx90a-O2");
    let groups: Value = serde_json::from_str(&answer(&["groups", words(&dump), "--json"])).unwrap();
    let groups = groups["kinds"][0]["groups"].as_array().unwrap();
    let report = slim(&dump, &scratch.path("a"), &[]);
    assert_eq!(ids(&report).len(), groups.len());
    let faulted: Vec<&Value> =
        report["waves"].as_array().unwrap().iter().filter(|wave| wave["why"] == "faulted").collect();
    assert_eq!(faulted, [&json!({"id": 1, "why": "faulted"})]);
    // By id, and missing ids.
    assert_eq!(ids(&slim(&dump, &scratch.path("b"), &["--wave", "2,4-5"])), ["2", "4", "5"]);
    let (_, error) = said(&["slim", words(&dump), "-o", words(&scratch.path("c")), "--wave", "1,900-901"]);
    assert_eq!(
        error,
        format!(
            "lanescope: {} has no wave with the id 900-901; `lanescope waves` lists the ids\n",
            dump.display()
        )
    );
    // Existing files are not overwritten, and a failed run leaves no file.
    let (_, error) = said(&["slim", words(&dump), "-o", words(&scratch.path("a"))]);
    assert!(error.ends_with(" exists; choose another name\n"), "{error}");
    let mut left: Vec<_> =
        fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a", "b"]);
}

/// Waves and memory that are left out change neither the analysis nor the signatures, of captures in all formats.
#[test]
fn the_analysis_is_that_of_the_whole_capture() {
    let scratch = Scratch::new("slim-analysis");
    let all = dumps().into_iter().chain(SAMPLES.map(core)).chain(LOGS.map(|name| fixtures().join(name)));
    let is_chosen = |dump: &Path| {
        let name = dump.file_name().unwrap().to_str().unwrap();
        is_long() || ["wide-gfx1250-O2", "saxpy-gfx942-O2", "calls-gfx90a", "gfx1100.core"].contains(&name)
    };
    let mut count = 0;
    for dump in all.filter(|dump| is_chosen(dump)) {
        let to = scratch.path(&format!("{count}.zip"));
        said(&["slim", words(&dump), "-o", words(&to)]);
        let of = |dump: &Path| {
            let found: Value = serde_json::from_str(&said(&["triage", "--json", words(dump)]).0).unwrap();
            let of_access = |one: &Value| json!([one["instruction"], one["confidence"], one["patterns"]]);
            let accesses: Vec<Value> = found["accesses"].as_array().unwrap().iter().map(of_access).collect();
            let waves = ["count", "faulted", "bystanders", "unknown"].map(|key| found["waves"][key].clone());
            let signatures: Value =
                serde_json::from_str(&said(&["signature", "--jsonl", words(dump)]).0).unwrap();
            let (signatures, unknown) = (&signatures["signatures"], &signatures["unknown_waves"]);
            json!([found["sentence"], accesses, waves, found["hang"]["counts"], signatures, unknown])
        };
        assert_eq!(of(&to), of(&dump), "{}", dump.display());
        count += 1;
    }
    assert!(count >= least(50, 4), "{count} captures");
}

/// Logs with waves.
const LOGS: [&str; 5] = [
    "logs/agent-2018.log",
    "logs/agent-plain.log",
    "logs/agent-kernargs.log",
    "logs/umr-columns.txt",
    "logs/umr-hardware.txt",
];

#[test]
fn no_global_leaves_all_of_it_out() {
    let scratch = Scratch::new("slim-secret");
    let dump = fixtures().join("dumps/lds-gfx90a-O0");
    let to = scratch.path("none.zip");
    let report = slim(&dump, &to, &["--no-global"]);
    assert_eq!((&report["bytes"]["global"], &report["global"]), (&json!(0), &json!(false)));
    let export: Value = serde_json::from_str(&answer(&["export", words(&to)])).unwrap();
    assert_eq!(export["memory"], json!([]));
    let note = export["provenance"]["note"].as_str().unwrap();
    assert!(note.ends_with("; global memory was left out"), "{note}");
    // The report is the dump's own text.
    let export = |dump: &Path| -> Value {
        let manifest = dump.join("manifest.json");
        serde_json::from_slice::<Value>(&fs::read(manifest).unwrap()).unwrap()["x-slim"].clone()
    };
    let folder = scratch.path("folder");
    let mut report = slim(&dump, &folder, &[]);
    let report_members = report.as_object_mut().unwrap();
    report_members.remove("schema");
    report_members.remove("to");
    report_members.remove("sentence");
    assert_eq!(export(&folder), report);
}

#[test]
fn the_cause_is_printed_first_and_the_folder_is_made() {
    let scratch = Scratch::new("slim-cause");
    let dump = fixtures().join("demo.zip");
    let triage: Value = serde_json::from_str(&answer(&["triage", words(&dump), "--json"])).unwrap();
    let sentence = triage["sentence"].as_str().unwrap();
    assert!(sentence.contains("saxpy.hip:54"), "{sentence}");
    let folder = scratch.path("new").join("deep");
    let text = answer(&["slim", words(&dump), "--dir", words(&folder)]);
    assert!(one_line(&text).starts_with(sentence), "{text}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    let report = slim(&dump, &scratch.path("small.zip"), &["--no-global"]);
    assert_eq!(report["sentence"], sentence);
}

#[test]
fn ranges_that_are_asked_for_are_kept() {
    let scratch = Scratch::new("slim-range");
    let dump = fixtures().join("dumps/lds-gfx90a-O0");
    let export =
        crate::in_samples_notation(serde_json::from_str(&answer(&["export", words(&dump)])).unwrap());
    let first = &export["memory"][0];
    let (address, size) = (first["address"].as_u64().unwrap(), first["size"].as_u64().unwrap());
    assert!(size > 8);
    let to = scratch.path("range");
    let range = format!("{:#x}+0x4", address + size - 4);
    let report = slim(&dump, &to, &["--follow", "0", "--memory", &range, "--memory", "0x10-0x20"]);
    assert!(report["bytes"]["global"].as_u64().unwrap() >= 4);
    let read = |dump: &Path| {
        answer(&["memory", words(dump), "--at", &format!("{:#x}", address + size - 4), "-n", "4"])
    };
    assert_eq!(read(&dump), read(&to));
}

/// A dump of one wave whose kernel argument is the head of a list; `nodes` has the address of each node.
struct List {
    scratch: Scratch,
    base: u64,
}

const LIST: &str = "struct node { __global struct node *next; int value; };\n\
    __kernel void walk(__global struct node *head) { while (head) { head->value++; head = head->next; } }\n";

impl List {
    /// `next` of each node, as an index or an address; the nodes are `apart` bytes apart.
    fn new(name: &str, apart: usize, next: &[Result<usize, u64>]) -> Self {
        let scratch = Scratch::new(name);
        let base = 0x7f00_0100_0000u64;
        fs::write(scratch.path("list.cl"), LIST).unwrap();
        let mut clang = Command::new(newest("clang"));
        clang.args([
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "-target",
            "amdgcn-amd-amdhsa",
            "-mcpu=gfx90a",
            "-nogpulib",
        ]);
        clang.args(["-g", "-O1", "-o"]).arg(scratch.path("list.hsaco")).arg(scratch.path("list.cl"));
        ran(&mut clang);
        let mut memory = vec![0; next.len() * apart];
        for (index, next) in next.iter().enumerate() {
            let to = match next {
                Ok(next) => base + (next * apart) as u64,
                Err(address) => *address,
            };
            memory[index * apart..index * apart + 8].copy_from_slice(&to.to_le_bytes());
        }
        fs::write(scratch.path("nodes.bin"), &memory).unwrap();
        let manifest = json!({
            "format": 1,
            "agent": [{"id": 1, "target": "gfx90a"}],
            "queue": [{"id": 1, "agent": 1}],
            "dispatch": [{"id": 1, "queue": 1, "kernel": "walk", "kernarg": "0x7f0000300000"}],
            "workgroup": [{"id": 1, "dispatch": 1}],
            "wave": [{"id": 7, "workgroup": 1, "wave_size": 64}],
            "memory": [
                {"address": "0x7f0000300000", "u32": [base as u32, base >> 32]},
                {"address": format!("{base:#x}"), "file": "nodes.bin"},
            ],
            "code_object": [{"address": "0x7f0000100000", "path": "list.hsaco"}],
        });
        fs::write(scratch.path("manifest.json"), manifest.to_string()).unwrap();
        Self { scratch, base }
    }

    fn slim(&self, name: &str, more: &[&str]) -> Value {
        slim(&self.scratch.0, &self.scratch.path(name), more)
    }
}

/// Bytes of the kernel's one argument, in a separate segment.
const ARGUMENT: u64 = 8;

#[test]
fn a_long_list_is_followed_as_far_as_asked() {
    let next: Vec<Result<usize, u64>> = (1..=10_000).map(Ok).collect();
    let list = List::new("slim-long", 16, &next);
    // A node is 16 bytes, a page holds 256 of them.
    let report = list.slim("far", &["--follow", "1000"]);
    assert_eq!(report["pointers"], json!({"followed": 1000, "dangling": 0}));
    assert_eq!(report["bytes"]["global"], 4 * 4096 + ARGUMENT);
    assert_eq!((&report["steps"], &report["limits"]), (&json!(1000), &json!(["steps"])));
    let report = list.slim("near", &[]);
    assert_eq!((&report["steps"], &report["bytes"]["global"]), (&json!(2), &json!(4096 + ARGUMENT)));
    let report = list.slim("none", &["--follow", "0"]);
    assert_eq!(report["bytes"]["global"], ARGUMENT);
    let report = list.slim("few", &["--follow", "1000", "--most-pointers", "300"]);
    assert_eq!(report["pointers"]["followed"], 300);
    assert_eq!(
        (&report["bytes"]["global"], &report["limits"]),
        (&json!(2 * 4096 + ARGUMENT), &json!(["pointers"]))
    );
    let report = list.slim("moment", &["--follow", "1000", "--most-seconds", "0"]);
    assert_eq!((&report["pointers"]["followed"], &report["limits"]), (&json!(0), &json!(["time"])));
}

#[test]
fn memory_is_bounded_by_pages() {
    let next: Vec<Result<usize, u64>> = (1..=100).map(Ok).collect();
    let list = List::new("slim-pages", 4096, &next);
    // The argument takes one page.
    let report = list.slim("small", &["--follow", "50", "--most-global", "12K"]);
    assert_eq!(
        (&report["bytes"]["global"], &report["limits"]),
        (&json!(2 * 4096 + ARGUMENT), &json!(["pages"]))
    );
    let report = list.slim("whole", &["--follow", "200"]);
    assert_eq!(report["bytes"]["global"], 100 * 4096 + ARGUMENT);
    // The last one points past the end.
    assert_eq!(
        (&report["pointers"], &report["limits"]),
        (&json!({"followed": 100, "dangling": 1}), &json!([]))
    );
}

#[test]
fn a_cycle_ends_and_nothing_is_looked_for_where_nothing_is() {
    let list = List::new("slim-cycle", 4096, &[Ok(1), Ok(2), Ok(0)]);
    let report = list.slim("cycle", &["--follow", "4000000000"]);
    assert_eq!(report["pointers"], json!({"followed": 3, "dangling": 0}));
    assert_eq!((&report["bytes"]["global"], &report["limits"]), (&json!(3 * 4096 + ARGUMENT), &json!([])));
    for (name, to) in [("null", 0), ("low", 8), ("high", u64::MAX), ("wrap", u64::MAX - 7)] {
        let list = List::new(&format!("slim-{name}"), 4096, &[Err(to)]);
        let report = list.slim(name, &["--follow", "9"]);
        let dangling = u64::from(to != 0);
        assert_eq!(report["pointers"], json!({"followed": 1, "dangling": dangling}), "{name}");
        // The output has the whole list.
        let at = format!("{:#x}", list.base);
        let (answer, _) =
            said(&["memory", words(&list.scratch.path(name)), "--at", &at, "-n", "8", "--json"]);
        let bytes: String = to.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["bytes"], bytes, "{name}");
    }
}

#[test]
fn separate_debug_information_is_put_into_the_file() {
    let scratch = Scratch::new("slim-separate");
    let name = "calls-gfx90a";
    let (dump, debug) = (scratch.path("dumps/calls"), scratch.path("debug"));
    copy_dump(name, &dump);
    fs::create_dir_all(&debug).unwrap();
    let whole = fixtures().join("code").join(format!("{name}.hsaco"));
    let stripped = dump.join(format!("{name}.hsaco"));
    let objcopy = || Command::new(newest("llvm-objcopy"));
    ran(objcopy().arg("--only-keep-debug").arg(&whole).arg(debug.join("calls.debug")));
    let link = format!("--add-gnu-debuglink={}", debug.join("calls.debug").display());
    ran(objcopy().args(["--strip-debug", &link]).arg(&whole).arg(&stripped));
    let to = scratch.path("slim");
    let report = slim(&dump, &to, &["--all-waves", "--debug-dir", words(&debug)]);
    assert!(report["notes"][0].as_str().unwrap().ends_with("its separate debug information is put into it"));
    // No file beside the dump is used any more, and callers come from the copied table.
    let waves = ids(&report).join(",");
    for frame in ["0", "1", "2"] {
        let of = |dump: &Path, more: &[&str]| {
            let mut all = vec!["locals", words(dump), "--json", "-w", &waves, "-l", "all", "-f", frame];
            all.extend(more);
            without_thread(&said(&all).0)
        };
        assert_eq!(of(&dump, &["--debug-dir", words(&debug)]), of(&to, &[]), "frame {frame}");
    }
    // LLVM reads the same debug information from the new file as from the original.
    let code = fs::read_dir(to.join("code")).unwrap().next().unwrap().unwrap().path();
    let dwarf = |file: &Path| {
        let text = ran(Command::new(newest("llvm-dwarfdump"))
            .args(["--debug-info", "--debug-line", "--debug-frame"])
            .arg(file));
        text.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(dwarf(&whole), dwarf(&code));
    let segments = |file: &Path| {
        let text = ran(Command::new(newest("llvm-readelf"))
            .args(["--program-headers", "--notes", "--dyn-syms"])
            .arg(file));
        text.lines()
            .filter(|line| !line.contains("hsaco") && !line.contains("None"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(segments(&stripped), segments(&code));
}

/// A core's waves, which keep everything; and their part of the tables.
#[test]
fn waves_of_cores_are_the_same() {
    let scratch = Scratch::new("slim-cores");
    for name in sampled(SAMPLES, 2) {
        let to = scratch.path(&format!("{name}.zip"));
        let report = slim(&core(name), &to, &["--all-waves"]);
        let of = |dump: &Path| {
            let text = said(&["export", words(dump)]).0;
            let export: Value = serde_json::from_str(&text).unwrap();
            let tables = ["agents", "queues", "dispatches", "workgroups"].map(|key| export[key].clone());
            (waves(&text), tables)
        };
        let (before, after) = (of(&core(name)), of(&to));
        assert_eq!(before.0.len(), ids(&report).len(), "{name}");
        assert_eq!(before, after, "{name}");
    }
}

/// The waves of a dump, exported with these variables of the environment.
pub(crate) fn exported(dump: &Path, variables: &[(&str, &str)]) -> Vec<Value> {
    let mut export = crate::support::lanescope();
    let output = export.args(["export", words(dump)]).envs(variables.iter().copied()).output().unwrap();
    waves(std::str::from_utf8(&output.stdout).unwrap())
}

/// `lanescope slim --dir DIR -` over those bytes, after which the writer waits for `hold`.
pub(crate) fn piped(bytes: &[u8], folder: &Path, more: &[&str], hold: bool) -> (Option<i32>, String, String) {
    let mut child = crate::support::lanescope()
        .args(["slim", "--verbose", "--json", "--all-waves", "--dir", words(folder), "-"])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // A rejected stream is not read to its end.
    let _ = input.write_all(bytes);
    let held = hold.then_some(input);
    let output = child.wait_with_output().unwrap();
    drop(held);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The files of a folder.
pub(crate) fn listed(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_core_from_standard_input_comes_to_the_same() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new("slim-stdin");
    let name = "gfx942-multi-xcc";
    let direct = scratch.path("direct.zip");
    let of_file = slim(&core(name), &direct, &["--all-waves"]);
    let folder = scratch.path("crashes");
    fs::create_dir(&folder).unwrap();
    let (status, report, _) = piped(&fs::read(core(name)).unwrap(), &folder, &[], false);
    let report: Value = serde_json::from_str(&report).unwrap();
    let to = PathBuf::from(report["to"].as_str().unwrap());
    // Warnings about missing parts of a core name standard input, not the removed file.
    let cut = fs::read(core(name)).unwrap();
    let elsewhere = scratch.path("cut");
    fs::create_dir(&elsewhere).unwrap();
    let (_, cut_report, error) = piped(&cut[..cut.len() - 20_000], &elsewhere, &[], false);
    assert!(error.lines().all(|line| line.starts_with("warning: ")), "{error}");
    assert!(error.contains("warning: the core ended early: 20000 bytes of memory never came"), "{error}");
    let cut_report: Value = serde_json::from_str(&cut_report).unwrap();
    let made = fs::read(cut_report["to"].as_str().unwrap()).unwrap();
    let names = |bytes: &[u8]| bytes.windows(8).any(|part| part == b"/dev/fd/");
    assert!(!names(&made) && !names(error.as_bytes()), "{error}");
    // The spool is gone, and the output is private.
    assert_eq!((status, listed(&folder)), (Some(0), vec![to.clone()]));
    assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    // Errors of the core itself; none of the stream.
    let notes = of_file["notes"]
        .to_string()
        .replace(core(name).file_name().unwrap().to_str().unwrap(), "standard input");
    assert_eq!((&report["from"], report["notes"].to_string()), (&json!("standard input"), notes));
    assert_eq!(exported(&direct, &[]), exported(&to, &[]));
}

#[test]
fn beyond_the_limit_registers_stay() {
    let scratch = Scratch::new("slim-limit");
    let name = "gfx90a-unified";
    let bytes = fs::read(core(name)).unwrap();
    let (status, report, error) = piped(&bytes, &scratch.0, &["--spool-limit", "60K"], false);
    assert_eq!(status, Some(0), "{error}");
    let report: Value = serde_json::from_str(&report).unwrap();
    let notes = report["notes"].as_array().unwrap();
    let (first, rest) = notes.split_first().unwrap();
    assert!(first.as_str().unwrap().starts_with("the limit was reached (--spool-limit): "), "{notes:?}");
    // The core's missing parts are then reported.
    let is_of = |note: &Value, start: &str| note.as_str().unwrap().starts_with(start);
    assert!(is_of(&rest[0], "of these "), "{notes:?}");
    assert!(rest.iter().all(|note| is_of(note, "of these ") || is_of(note, "standard input: ")), "{notes:?}");
    assert!(!notes.iter().any(|note| note.as_str().unwrap().contains("save areas")), "{notes:?}");
    let kept = |waves: Vec<Value>| -> Vec<Value> {
        waves.into_iter().map(|wave| json!([wave["id"], wave["pc"], wave["registers"]])).collect()
    };
    let to = Path::new(report["to"].as_str().unwrap());
    assert_eq!(kept(exported(&core(name), &[])), kept(exported(to, &[])));
    // If they do not fit, that is reported.
    let (_, _, error) = piped(&bytes, &scratch.0, &["--spool-limit", "8K"], false);
    assert!(error.contains(" are of queues and save areas: waves are missing"), "{error}");
}

#[test]
fn a_stalled_writer_and_what_is_no_core_end_soon() {
    let scratch = Scratch::new("slim-stall");
    let bytes = fs::read(core("gfx90a-unified")).unwrap();
    let (status, report, error) = piped(&bytes[..100_000], &scratch.0, &["--stall", "1"], true);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(status, Some(0), "{error}");
    assert_eq!(report["notes"][0], "the writer of the core stalled after 100000 bytes");
    assert!(!ids(&report).is_empty());
    let (status, _, error) = piped(&bytes[..20], &scratch.0, &["--stall", "1"], true);
    let said = "lanescope: standard input: no more data arrived after 20 bytes, before its headers and notes, \
        which end at 64; expected a core\nkept: ";
    assert!(status == Some(1) && error.contains(said), "{error}");
    let (status, _, error) = piped(b"hello", &scratch.0, &[], false);
    assert!(
        status == Some(1) && error.starts_with("lanescope: standard input: text of no known format"),
        "{error}"
    );
    // The dump, and the 20 bytes.
    assert_eq!(listed(&scratch.0).len(), 2);
    // Another dump than a core.
    let (status, report, error) =
        piped(&fs::read(fixtures().join("demo.zip")).unwrap(), &scratch.0, &[], false);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((status, &report["from"], error.as_str()), (Some(0), &json!("standard input"), ""));
    assert_eq!(listed(&scratch.0).len(), 3);
}

/// Runs a command under shell limits, with that file as standard input.
fn limited(limits: &str, command: &[&str], input: &Path) -> (Option<i32>, String) {
    let script = format!("{limits}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script, crate::support::program()])
        .args(command)
        .env("COLUMNS", "100000")
        .stdin(fs::File::open(input).unwrap())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Without disk space no file is left behind, and existing files stay.
#[test]
fn what_cannot_be_written_leaves_nothing() {
    let scratch = Scratch::new("slim-full");
    let from = core("gfx90a-unified");
    let folder = scratch.path("dumps");
    fs::create_dir(&folder).unwrap();
    let dir = words(&folder);
    // Writing past the process's file limit raises a signal; if ignored, it is an error like that of a full disk.
    let small = "trap '' XFSZ; ulimit -f 20";
    for (command, says) in [
        (vec!["slim", "--dir", dir, "-"], "cannot keep standard input there"),
        (vec!["slim", "--verbose", words(&from), "--dir", dir, "--all-waves"], "too large"),
        (vec!["slim", "--verbose", words(&from), "-o", "DIR/folder", "--all-waves"], "too large"),
    ] {
        let to = folder.join("folder");
        let command: Vec<&str> =
            command.into_iter().map(|word| if word == "DIR/folder" { words(&to) } else { word }).collect();
        let (status, error) = limited(small, &command, &from);
        assert_eq!(status, Some(1), "{command:?}: {error}");
        let line = error.lines().last().unwrap();
        assert!(line.starts_with("lanescope: ") && line.contains(says), "{command:?}: {error}");
        assert!(
            error.lines().all(|line| line.starts_with("warning: ") || line.starts_with("lanescope: ")),
            "{error}"
        );
        assert_eq!(listed(&folder), Vec::<PathBuf>::new(), "{command:?}");
    }
    let there = folder.join("there.zip");
    fs::write(&there, b"mine").unwrap();
    for to in [&there, &folder] {
        let output = lanescope(&["slim", words(&from), "-o", words(to)]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(" exists; choose another name"), "{error}");
    }
    assert_eq!((fs::read(&there).unwrap(), listed(&folder).len()), (b"mine".to_vec(), 1));
    // An existing file is reported before the core is read: a stream can be read only once.
    let (status, error) = limited("true", &["slim", "-o", words(&there), "-"], &from);
    assert!(status == Some(1) && error.contains(" exists; choose another name"), "{error}");
    for to in ["none/x.zip", "none/x"] {
        let to = folder.join(to);
        let output = lanescope(&["slim", words(&from), "-o", words(&to)]);
        assert_eq!(output.status.code(), Some(1));
    }
    assert_eq!(listed(&folder).len(), 1);
}

#[test]
fn ranges_of_memory_may_overlap_and_be_of_any_size() {
    let scratch = Scratch::new("slim-ranges");
    let from = core("gfx90a-unified");
    let all = slim(&from, &scratch.path("all"), &["--memory", "0+0xffffffffffffffff", "--follow", "0"]);
    let again = [
        "--memory",
        "0x1000+0xffffffffffffe000",
        "--memory",
        "0-0xffffffffffffffff",
        "--follow",
        "4294967295",
    ];
    let again = slim(&from, &scratch.path("again"), &again);
    assert_eq!(all["bytes"]["global"], again["bytes"]["global"]);
    assert_eq!((&all["left_out"]["global"], &again["left_out"]["global"]), (&json!(0), &json!(0)));
    for wrong in ["0x10+0xfffffffffffffff8", "5-5", "6-5", "0+0", "-1-5", "0x10000000000000000+1"] {
        let output =
            lanescope(&["slim", words(&from), "-o", words(&scratch.path("wrong")), "--memory", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

/// Packets of two queues with one number, a work-group with only a queue, registers twice, in part, and in some lanes.
const ODD: &str = r#"
format = 1
agent = [{ id = 9, target = "gfx1100", name = "a GPU", apertures = { local = "0x1000000000000" } }]
queue = [{ id = 1, agent = 9 }, { id = 2, agent = 9, name = "second" }]
dispatch = [
    { id = 1, queue = 1, shown_as = 5, kernel = "a", grid = [64], workgroup = [32] },
    { id = 2, queue = 2, shown_as = 5, private_segment_size = 4 },
    { id = 5, queue = 2 },
]
workgroup = [
    { id = 1, dispatch = 1, position = [1, 0, 0], lds_size = 16, lds = [{ address = 4, hex = "01 02" }] },
    { id = 2, dispatch = 2 },
    { id = 3, queue = 2, position = [7, 0, 0] },
    { id = 4, dispatch = 5 },
]

[[layout]]
name = "image"
blocks = [{ registers = "s0-s3", offset = 4 }, { registers = "v0-v1", offset = 20, lanes = "0xf0" }, { registers = "exec_lo", offset = 276 }]

[[wave]]
id = 40
workgroup = 1
wave_size = 32
stop = []
sgpr_count = 128
image = { layout = "image", file = "odd.bin", length = 280 }
registers = { s1 = 77, s2 = "xx" }
bulk = [{ registers = "v1", lanes = "0x3", hex = "11111111 22222222" }]

[[wave]]
id = 3
workgroup = 2
wave_size = 64
private_size = 4096
private = [{ address = 0, file = "odd.bin", length = 200 }, { address = 252, file = "odd.bin", length = 100 }]
image = { layout = "image", file = "odd.bin", offset = 60, length = 8 }

[[wave]]
id = 7
workgroup = 3
wave_size = 32
wave_in_group = 2
registers = { pc = "0x7f0000000000" }

[[wave]]
id = 8
workgroup = 4
wave_size = 32

[[wave]]
id = 12
agent = 9
wave_size = 32
"#;

#[test]
fn odd_registers_and_numbers_are_kept() {
    let scratch = Scratch::new("slim-odd");
    fs::write(scratch.path("odd.toml"), ODD).unwrap();
    let bytes: Vec<u8> = (0..=255u8).cycle().take(512).collect();
    fs::write(scratch.path("odd.bin"), bytes).unwrap();
    let [dump, to, again] = ["odd.toml", "odd", "again.zip"].map(|name| scratch.path(name));
    let report = slim_loudly(&dump, &to);
    // Of 64 lanes with 4 bytes each the dispatch requests the first 256 bytes.
    assert_eq!(report["left_out"]["private"], 96);
    let without_private = |mut waves: Vec<Value>| {
        for wave in &mut waves {
            wave["private_wave"] = Value::Null;
            wave["private_lane"] = Value::Null;
        }
        waves
    };
    let (before, after) = (exported(&dump, &[]), exported(&to, &[]));
    assert_eq!(without_private(before.clone()), without_private(after.clone()));
    assert_eq!(before[0]["name"], "AMDGPU Wave 9:1:5:40 (1,0,0)/?");
    assert_eq!(before[1]["name"], "AMDGPU Wave 9:2:5:3 (?,?,?)/?");
    let pieces = |wave: &Value| -> Vec<(u64, usize)> {
        let pieces = wave["private_wave"].as_array().unwrap().iter();
        pieces
            .map(|piece| (piece["address"].as_u64().unwrap(), piece["bytes"].as_str().unwrap().len() / 2))
            .collect()
    };
    assert_eq!(
        (pieces(&before[1]), pieces(&after[1])),
        (vec![(0, 200), (252, 100)], vec![(0, 200), (252, 4)])
    );
    let all = |dump: &Path| -> Value {
        let mut all: Value = serde_json::from_str(&said(&["export", words(dump)]).0).unwrap();
        for key in ["name", "problems", "provenance", "waves"] {
            all[key] = Value::Null;
        }
        all
    };
    assert_eq!(all(&dump), all(&to));
    // A small dump is reproducible to the byte, from its source and from itself.
    let (first, second) = (scratch.path("first.zip"), scratch.path("second.zip"));
    slim_loudly(&dump, &first);
    slim_loudly(&dump, &second);
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());
    slim_loudly(&to, &again);
    assert_eq!(exported(&to, &[]), exported(&again, &[]));
}

/// All waves of a dump with problems.
fn slim_loudly(dump: &Path, to: &Path) -> Value {
    serde_json::from_str(&said(&["slim", words(dump), "-o", words(to), "--json", "--all-waves"]).0).unwrap()
}
