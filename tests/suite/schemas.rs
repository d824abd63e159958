//! JSON of commands and packets, checked against the schemas in docs/schemas.
//!
//! The check is strict: a member that the schema lacks is an error, which a reader would ignore.

use crate::support::{newest, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;

use serde_json::Value;

use crate::fixtures::fixtures;
use crate::support::least;
use crate::support::sample::{is_long, sampled};

/// The names of the schemas, `lanescope.waves/1`, and the validator of all: tests/browser/schemas.js, a process with ajv.
struct Schemas {
    names: BTreeSet<String>,
    /// It ends with its input, when this process ends.
    ajv: Mutex<(Child, BufReader<ChildStdout>)>,
}

/// The schemas by their names.
fn schemas() -> BTreeMap<String, Value> {
    let files = fs::read_dir(root().join("docs/schemas")).unwrap();
    let of = |file: std::io::Result<fs::DirEntry>| -> (String, Value) {
        let mut schema: Value = serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap();
        let name = schema["title"].as_str().unwrap().to_owned();
        close(&mut schema, true);
        (name, schema)
    };
    files.map(of).collect()
}

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| {
    let schemas = schemas();
    let mut node = Command::new("node");
    node.arg(root().join("tests/browser/schemas.js")).stdin(Stdio::piped()).stdout(Stdio::piped());
    // It outlives this process by a moment: it keeps none of the files that a runner of tests waits for.
    node.stderr(Stdio::null());
    let mut child = node.spawn().expect("no node: run scripts/setup");
    let output = BufReader::new(child.stdout.take().unwrap());
    writeln!(child.stdin.as_ref().unwrap(), "{}", serde_json::to_string(&schemas).unwrap()).unwrap();
    Schemas { names: schemas.into_keys().collect(), ajv: Mutex::new((child, output)) }
});

impl Schemas {
    /// The places and errors of a document by the schema of this name.
    fn errors(&self, name: &str, document: &Value) -> Vec<String> {
        let request = serde_json::json!([name, document]).to_string();
        let mut ajv = self.ajv.lock().unwrap();
        writeln!(ajv.0.stdin.as_ref().unwrap(), "{request}").unwrap();
        let mut answer = String::new();
        ajv.1.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).expect("an answer of tests/browser/schemas.js")
    }
}

/// Rejects members that a schema does not list. The forms of one value (`oneOf`) are parts of its schema.
fn close(schema: &mut Value, is_whole: bool) {
    let Some(members) = schema.as_object_mut() else { return };
    for (key, value) in members.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(each)) => {
                each.values_mut().for_each(|schema| close(schema, key == "properties"));
            }
            ("oneOf" | "anyOf" | "allOf", Value::Array(each)) => {
                each.iter_mut().for_each(|schema| close(schema, false));
            }
            ("prefixItems", Value::Array(each)) => each.iter_mut().for_each(|schema| close(schema, true)),
            ("items" | "additionalProperties", schema) => close(schema, true),
            _ => {}
        }
    }
    // A member of any form has its own schema.
    let is_open = members.keys().all(|key| matches!(key.as_str(), "description" | "title"));
    if is_whole && !is_open {
        members.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// The errors of a document, and the names of its schemas.
fn check(document: &Value, seen: &mut BTreeSet<String>) -> Vec<String> {
    let Some(name) = document["schema"].as_str() else { return vec!["no schema".to_owned()] };
    if !SCHEMAS.names.contains(name) {
        return vec![format!("{name}: no such schema")];
    }
    seen.insert(name.to_owned());
    let first = document.as_object().unwrap().keys().next();
    let errors = SCHEMAS.errors(name, document);
    let mut wrong: Vec<String> = errors.iter().map(|error| format!("{name}: {error}")).collect();
    if first.map(String::as_str) != Some("schema") {
        wrong.push(format!("{name}: `schema` is not the first member"));
    }
    for answer in document["answers"].as_array().into_iter().flatten() {
        wrong.extend(check(answer, seen));
    }
    if document["analysis"].is_object() {
        wrong.extend(check(&document["analysis"], seen));
    }
    wrong
}

/// The arguments of commands over a dump. `DUMP` is the dump, `OUT` a new file.
const OVER_DUMPS: [&str; 29] = [
    "info DUMP",
    "triage DUMP",
    "triage --hang DUMP",
    "triage --wave 1 DUMP",
    "waves DUMP",
    "lanes DUMP",
    "lane-pc DUMP",
    "objects DUMP",
    "faults DUMP",
    "registers DUMP",
    "registers -r scalar,v0 --lane 0,3 --wave 1-2 DUMP",
    "memory --at local#0 DUMP",
    "backtrace DUMP",
    "backtrace --lane all DUMP",
    "backtrace --frame 1 --wave 1-2 DUMP",
    "groups DUMP",
    "groups --lanes DUMP",
    "locals --lane all DUMP",
    "disassemble DUMP",
    "dispatches DUMP",
    "arguments DUMP",
    "print DUMP --explain --lane all $exec",
    "explain DUMP $exec",
    "eval DUMP DW_OP_regx VGPR0; DW_OP_LLVM_push_lane",
    "slim DUMP -o OUT",
    "report DUMP --format json",
    "signature DUMP --explain",
    "dwarf DUMP",
    "export DUMP",
];

/// Schemas of packets alone: transcripts have them.
const OF_PACKETS: [&str; 3] = ["lanescope.find/1", "lanescope.selected/1", "lanescope.version/1"];

fn all(folder: &str) -> Vec<PathBuf> {
    let folder = if folder.is_empty() { fixtures() } else { fixtures().join(folder) };
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// A file with the code objects of two GPUs, by LLVM's bundler.
fn bundle(scratch: &Path) -> PathBuf {
    let bundle = scratch.join("two.hipfb");
    let host = scratch.join("host");
    fs::write(&host, "").unwrap();
    let inputs =
        [host, fixtures().join("code/saxpy-gfx90a-O0.hsaco"), fixtures().join("code/saxpy-gfx1030-O2.hsaco")];
    let mut command = Command::new(newest("clang-offload-bundler"));
    command
        .args(["--type=o", "--bundle-align=4096"])
        .arg("--targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx90a,hipv4-amdgcn-amd-amdhsa--gfx1030")
        .args(inputs.map(|path| format!("--input={}", path.display())))
        .arg(format!("--output={}", bundle.display()));
    let status = command.status().expect("no clang-offload-bundler: run scripts/setup");
    assert!(status.success(), "{status}");
    bundle
}

/// All runs: the words of each command line.
fn runs(scratch: &Path) -> Vec<Vec<String>> {
    let mut runs = Vec::new();
    let mut run = |line: &str, replaced: &[(&str, &Path)]| {
        let (command, expression) = match line.split_once("DUMP ") {
            Some((command, rest)) if line.starts_with("eval") => {
                (format!("{command}DUMP"), vec![rest.to_owned()])
            }
            _ => (line.to_owned(), Vec::new()),
        };
        let word = |word: &str| {
            let known = replaced.iter().find(|(name, _)| *name == word);
            known.map_or(word.to_owned(), |(_, path)| path.to_str().unwrap().to_owned())
        };
        let words = command.split(' ').map(word).chain(expression);
        let json = (!line.ends_with("json")).then(|| "--json".to_owned());
        runs.push(words.chain(json).collect());
    };
    let is_dump = |path: &PathBuf| path.is_dir() || path.extension().is_none_or(|ending| ending != "json");
    // All commands over the demo, by turns over a core and a log, and one by turns over each other dump.
    let dumps = [all("dumps"), all("gpucore"), all("logs")].concat().into_iter().filter(is_dump);
    let lines = |dump: PathBuf| OVER_DUMPS.map(|line| (dump.clone(), line)).into_iter();
    let of = |name: &str| lines(fixtures().join(name));
    let of_core = sampled(of("gpucore/gfx90a-unified.core").skip(usize::from(!is_long())), 2);
    let of_log = sampled(of("logs/agent-kernargs.log"), 2);
    let others = sampled(dumps.flat_map(lines), OVER_DUMPS.len() - 1);
    let pairs = of("demo.zip").chain(of_core).chain(of_log).chain(others);
    for (index, (dump, line)) in pairs.enumerate() {
        let out = scratch.join(index.to_string());
        run(line, &[("DUMP", &dump), ("OUT", &out)]);
    }
    let pair = ["saxpy-gfx90a-O0", "saxpy-gfx90a-O2"].map(|name| fixtures().join("dumps").join(name));
    run("diff A B", &[("A", &pair[0]), ("B", &pair[1])]);
    run("diff A A", &[("A", &pair[0])]);
    run("bucket A B", &[("A", &pair[0]), ("B", &pair[1])]);
    run("code-object FAT", &[("FAT", &bundle(scratch))]);
    for code in sampled(all("code"), 6) {
        run("code-object CODE", &[("CODE", &code)]);
        run("dwarf CODE", &[("CODE", &code)]);
    }
    let mut cases: Vec<PathBuf> =
        fs::read_dir(root().join("tests/eval")).unwrap().map(|file| file.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    cases.sort();
    for file in sampled(cases, 4) {
        run("eval --cases FILE", &[("FILE", &file)]);
    }
    // Expectations that hold, that differ and that cannot be checked, and a malformed file.
    let demo = fixtures().join("demo.zip");
    let lines =
        "fault memory violation\nat saxpy saxpy.hip:1\nwave faulted\n  lane 17 i == 1\n  lane 24 x[i] == 1\n";
    fs::write(scratch.join("a.scope"), format!("dump {}\n{lines}", demo.display())).unwrap();
    fs::write(scratch.join("b.scope"), "nonsense\n").unwrap();
    run("check FILES", &[("FILES", scratch)]);
    run("targets", &[]);
    run("doctor", &[]);
    for target in ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200", "gfx1250"] {
        run(&format!("targets {target}"), &[]);
    }
    runs
}

#[test]
fn output_of_all_commands_has_its_schema() {
    let scratch = tempfile::tempdir().unwrap();
    let runs = runs(scratch.path());
    let (next, found) = (AtomicUsize::new(0), Mutex::new((Vec::new(), BTreeSet::new(), 0)));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while let Some(words) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut command = crate::support::lanescope();
                    command.args(words).env_remove("DEBUGINFOD_URLS").stdin(Stdio::null());
                    let output = command.output().unwrap();
                    assert!(output.status.code().is_some(), "{words:?}: {}", output.status);
                    if output.stdout.is_empty() && !output.status.success() {
                        continue;
                    }
                    let document = serde_json::from_slice(&output.stdout);
                    let mut seen = BTreeSet::new();
                    let wrong = match document {
                        Ok(document) => check(&document, &mut seen),
                        Err(error) => vec![error.to_string()],
                    };
                    let mut found = found.lock().unwrap();
                    found.0.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", words.join(" "))));
                    found.1.extend(seen);
                    found.2 += 1;
                }
            });
        }
    });
    let (wrong, seen, count) = found.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} errors\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(count > least(1000, 100), "{count}");
    let unseen: Vec<_> = SCHEMAS.names.iter().filter(|name| !seen.contains(*name)).collect();
    assert_eq!(unseen, OF_PACKETS.iter().collect::<Vec<_>>());
}

#[test]
fn answers_to_packets_have_their_schemas() {
    let (mut wrong, mut seen, mut count) = (Vec::new(), BTreeSet::new(), 0);
    for file in fs::read_dir(root().join("tests/transcripts")).unwrap() {
        let path = file.unwrap().path();
        let mut is_own = false;
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            // Other packets of LLDB have answers in JSON, too.
            is_own = if line.starts_with('>') { line.contains("lanescope") } else { is_own };
            let Some(answer) = line.strip_prefix("<b ").filter(|_| is_own) else { continue };
            let answer = answer.strip_prefix('l').unwrap_or(answer);
            // A line with `...` has a part of the answer.
            let Ok(document) = serde_json::from_str(answer) else { continue };
            let errors = check(&document, &mut seen);
            wrong.extend(errors.iter().map(|error| format!("{}:{}: {error}", path.display(), number + 1)));
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(count > 50, "{count}");
    assert!(OF_PACKETS.iter().all(|name| seen.contains(*name)), "{seen:?}");
}

/// docs/json.md has a row for each schema, and no other.
#[test]
fn the_page_lists_the_schemas() {
    let page = fs::read_to_string(root().join("docs/json.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| [")?.split_once("](schemas/"));
    let mut named: Vec<String> = rows.map(|(name, _)| format!("lanescope.{name}")).collect();
    named.sort();
    let schemas = schemas();
    let mut unversioned: Vec<&str> = schemas.keys().map(|schema| schema.split_once('/').unwrap().0).collect();
    unversioned.sort_unstable();
    assert_eq!(named, unversioned);
}

/// The check finds a lost member, a wrong type and an unknown member.
#[test]
fn a_wrong_document_is_found() {
    let words = ["lanes", fixtures().join("demo.zip").to_str().unwrap(), "--json"].map(str::to_owned);
    let output = crate::support::lanescope().args(words).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors = |document: &Value| check(document, &mut BTreeSet::new());
    assert!(errors(&document).is_empty());
    let changes: [fn(&mut Value); 4] = [
        |lanes| drop(lanes["lanes"][3].as_object_mut().unwrap().remove("pc")),
        |lanes| lanes["lanes"][3]["lane"] = "3".into(),
        |lanes| lanes["lanes"][3]["new"] = 1.into(),
        |lanes| lanes["lanes"][3]["pc"] = "12".into(),
    ];
    for change in changes {
        let mut wrong = document.clone();
        change(&mut wrong);
        assert_eq!(errors(&wrong).len(), 1, "{:?}", errors(&wrong));
    }
}
