//! docs/ci.md, action.yml and the examples, run as written: the shell steps of the workflows, and the test frameworks.
//!
//! A GPU is missing here. `run-tests` of the workflow stands for the crashing program: it does what ROCm's runtime does
//! with `HSA_COREDUMP_PATTERN`, and pipes a sample core.

use crate::support::root;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value, json};

use crate::fixtures::{one_line, outside_ci};
use crate::slim::{Scratch, words};

/// The values of a YAML document, without anchors.
fn yaml(text: &str) -> Value {
    let events: Vec<Event<'_>> = Parser::new_from_str(text).map(|event| event.unwrap().0).collect();
    node(&mut events.iter().skip(2))
}

fn node<'e>(events: &mut impl Iterator<Item = &'e Event<'e>>) -> Value {
    fn next<'e>(event: &'e Event<'e>, events: &mut dyn Iterator<Item = &'e Event<'e>>) -> Option<Value> {
        Some(match event {
            Event::Scalar(text, ..) => json!(text),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                while let Some(item) = events.next().and_then(|event| next(event, events)) {
                    items.push(item);
                }
                Value::Array(items)
            }
            Event::MappingStart(..) => {
                let mut members = Map::new();
                while let Some(key) = events.next().and_then(|event| next(event, events)) {
                    let value = events.next().and_then(|event| next(event, events)).unwrap();
                    members.insert(key.as_str().unwrap().to_owned(), value);
                }
                Value::Object(members)
            }
            Event::SequenceEnd | Event::MappingEnd => return None,
            other => panic!("{other:?}"),
        })
    }
    let first = events.next().unwrap();
    next(first, events).unwrap()
}

/// The YAML blocks of docs/ci.md.
fn workflows() -> Vec<Value> {
    let text = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let blocks = text.split("```yaml\n").skip(1).map(|rest| yaml(rest.split_once("```").unwrap().0));
    blocks.collect()
}

/// The shell text of a step with a name.
fn step(steps: &Value, name: &str) -> String {
    let steps = steps.as_array().unwrap();
    let found = steps.iter().find(|step| step["name"] == name);
    found.unwrap_or_else(|| panic!("no step {name}"))["run"].as_str().unwrap().to_owned()
}

/// A project with dumps and expectations, and a folder `bin` with lanescope.
struct Project(Scratch);

impl Project {
    fn new(name: &str) -> Self {
        let project = Self(Scratch::new(name));
        for folder in ["bin", "work/tests/crashes", "home", "reports"] {
            fs::create_dir_all(project.path(folder)).unwrap();
        }
        symlink(crate::support::program(), project.path("bin/lanescope")).unwrap();
        fs::copy(root().join("tests/fixtures/demo.zip"), project.path("work/tests/crashes/oob.zip")).unwrap();
        // The expectations that docs/ci.md shows.
        let text = fs::read_to_string(root().join("docs/ci.md")).unwrap();
        let scope = text.split("```text\n").nth(1).unwrap().split_once("```").unwrap().0;
        assert!(scope.starts_with("dump "), "{scope}");
        project.write("work/tests/crashes/oob.scope", scope);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Expectations that differ: 1017 is 1018.
    fn differ(&self) {
        let file = self.path("work/tests/crashes/oob.scope");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(file, text.replace("i == 1017", "i == 1018")).unwrap();
    }

    /// Runs a program in `work`, with lanescope on the PATH and no variable of the CI that runs this test.
    fn run(&self, program: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
        let path = format!("{}:{}", words(&self.path("bin")), std::env::var("PATH").unwrap());
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path("work"))
            .env("PATH", path)
            .env("HOME", self.path("home"));
        outside_ci(&mut command).envs(variables.iter().copied()).output().unwrap()
    }

    /// Runs a step as GitHub's runner does.
    fn step(&self, text: &str, variables: &[(&str, &Path)]) -> Output {
        self.run("bash", &["--noprofile", "--norc", "-eo", "pipefail", "-c", text], variables)
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs `scripts/changed --plan` for each of the changes, in one process and without the packages of the machine.
const PLANS: &str = "import runpy, sys\n\
    path, *changes = sys.argv[1:]\n\
    for files in changes:\n\
    \x20   sys.argv = [path, '--plan', *files.split()]\n\
    \x20   try: runpy.run_path(path, run_name='__main__')\n\
    \x20   except SystemExit as end: print(f'@@{end.code}')\n";

/// What `scripts/changed` would run for changes of files; `None`: everything.
fn plans(changes: &[&str]) -> Vec<Option<String>> {
    let mut command = Command::new("python3");
    command.args(["-S", "-c", PLANS]).arg(root().join("scripts/changed")).args(changes);
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let text = text(&output);
    assert!(output.status.success() && output.stderr.is_empty(), "{text}");
    let (mut plans, mut rest) = (Vec::new(), &*text);
    while let Some((plan, after)) = rest.split_once("@@") {
        let (status, after) = after.split_once('\n').unwrap();
        plans.push(match status {
            "0" => Some(plan.to_owned()),
            "2" if plan.ends_with(" can affect everything: run scripts/test\n") => None,
            _ => panic!("{text}"),
        });
        rest = after;
    }
    plans
}

#[test]
fn a_change_is_checked_by_what_is_about_it() {
    let cases = [
        (
            "src/triage/rank.rs",
            &[
                "--lib -p lanescope ",
                "/^(triage)::/",
                "triage::hangs::",
                "hostile::faults::",
                "report::forms::",
            ][..],
            &["logs::agent::", "lldb::", "make-fixtures"][..],
        ),
        ("src/import/umr/mod.rs", &["/^(import)::/", "logs::umr::", "gdb::"], &["triage::hangs::"]),
        ("src/cli/diff.rs", &["/^(cli)::/", "|diff::"], &["logs::agent::"]),
        (
            "evaluator/src/decode/mod.rs",
            &["package(dwarf-heterogeneous)", "dwarf::", "hostile::work::"],
            &["(triage)"],
        ),
        ("crates/isa/src/decode.rs", &["package(amdgpu-isa)", "--test llvm", "/^(isa)::/"], &["(triage)"]),
        ("tests/suite/triage/hangs.rs", &["triage::hangs::"], &["triage::scores", "--lib"]),
        ("tests/clients/gdb.rs", &["binary(clients) & test(/^(gdb::.*)$/)"], &["lldb::"]),
        ("docs/check.md", &["pages::", "expectations::"], &["--lib", "clients"]),
        ("tests/fixtures/dumps/calls-gfx90a/manifest.toml", &["make-fixtures --check"], &["--lib"]),
        ("templates/report/style.css", &["report::.*"], &["--lib"]),
        ("fuzz/src/evaluate.rs", &["fuzzed::"], &["clients", "--benches"]),
        ("benches/attach.rs", &["--benches"], &["fuzzed::"]),
    ];
    let everything = ["Cargo.toml", "tests/support/mod.rs", "scripts/test", ".config/nextest.toml"]
        .map(|file| format!("src/triage/rank.rs {file}"));
    let changes = cases.iter().map(|(file, ..)| *file).chain(everything.iter().map(String::as_str));
    let plans = plans(&changes.collect::<Vec<_>>());
    for ((file, runs, lacks), plan) in cases.into_iter().zip(&plans) {
        let plan = plan.as_ref().unwrap();
        runs.iter().for_each(|part| assert!(plan.contains(part), "{file}: no {part}: {plan}"));
        lacks.iter().for_each(|part| assert!(!plan.contains(part), "{file}: {part}: {plan}"));
    }
    assert_eq!(plans[cases.len()..], [None, None, None, None]);
}

#[test]
fn the_commands_from_a_crash_to_a_test_work() {
    let project = Project::new("ci-start");
    let core = crate::cores::core("gfx90a-unified");
    fs::copy(core, project.path("work/gpucore.12345")).unwrap();
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let steps = page.split("## From a crash to a test").nth(1).unwrap().split("```text").next().unwrap();
    let commands: Vec<&str> = steps.split('`').filter(|part| part.starts_with("lanescope ")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    fs::remove_file(project.path("work/tests/crashes/oob.zip")).unwrap();
    fs::remove_file(project.path("work/tests/crashes/oob.scope")).unwrap();
    for command in commands {
        let output = project.step(command, &[]);
        assert!(output.status.success(), "{command}\n{}", text(&output));
    }
}

/// A `curl` that writes the files of URLs below `$RELEASE` from `release`, by their names.
const CURL: &str = "#!/bin/bash\n\
    for word in \"$@\"; do\n\
    case $word in \"$RELEASE\"/*) cp \"../release/${word##*/}\" . || exit 22 ;; -*) ;; *) exit 3 ;; esac\n\
    done\n";

/// A release with a program that prints `installed`, and a `curl` that downloads it; the name of its archive.
fn released(project: &Project) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("lanescope-{version}-x86_64-linux");
    let program = project.path(&format!("release/{name}/bin/lanescope"));
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, "#!/bin/sh\necho installed\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let pack = format!(
        "cd ../release && tar -czf {name}.tar.gz {name} && touch lanescope_{version}_amd64.deb && \
         sha256sum *.tar.gz *.deb > SHA256SUMS"
    );
    assert!(project.step(&pack, &[]).status.success());
    project.write("bin/curl", CURL);
    fs::set_permissions(project.path("bin/curl"), fs::Permissions::from_mode(0o755)).unwrap();
    name
}

/// An action of a version takes its release; without a release, or with a damaged one, a build follows.
#[test]
fn the_action_takes_the_program_of_its_release() {
    let project = Project::new("ci-action-release");
    let action = yaml(&fs::read_to_string(root().join("action.yml")).unwrap());
    let steps = &action["runs"]["steps"];
    let download = step(steps, "Download the release");
    let of = |name: &str| steps.as_array().unwrap().iter().find(|step| step["name"] == name).unwrap();
    let condition = of("Build lanescope")["if"].as_str().unwrap();
    assert!(condition.ends_with("steps.release.outputs.found != 'true'"), "{condition}");
    let name = released(&project);
    let (temporary, outputs) = (project.path(""), project.path("outputs"));
    let release = Path::new("https://example.org/releases/download/v0.1.0");
    let variables = [
        ("RELEASE", release),
        ("GITHUB_ACTION_PATH", root()),
        ("GITHUB_OUTPUT", outputs.as_path()),
        ("RUNNER_TEMP", temporary.as_path()),
    ];
    let output = project.step(&download, &variables);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(fs::read_to_string(&outputs).unwrap(), "found=true\n");
    let installed = project.path("home/.cache/lanescope/bin/lanescope");
    assert_eq!(text(&project.run(words(&installed), &[], &[])), "installed\n");
    let archive = project.path(&format!("release/{name}.tar.gz"));
    for damage in ["damaged", ""] {
        fs::remove_file(&outputs).unwrap();
        let _ = fs::remove_file(&installed);
        match damage {
            "" => fs::remove_file(&archive).unwrap(),
            text => fs::write(&archive, text).unwrap(),
        }
        let output = project.step(&download, &variables);
        assert!(output.status.success() && text(&output).contains("it is built"), "{}", text(&output));
        assert!(!outputs.exists() && !installed.exists());
        fs::write(&outputs, "").unwrap();
    }
}

/// The job has neither Rust nor sources: it installs the archive of a release, whose names are those of scripts/release.
#[test]
fn the_container_installs_a_release() {
    let project = Project::new("ci-release");
    let workflow = workflows().into_iter().find(|workflow| workflow["name"] == "gpu").unwrap();
    let steps = &workflow["jobs"]["test"]["steps"];
    assert!(!steps.to_string().contains("cargo") && !steps.to_string().contains("lanescope@"), "{steps}");
    let install = step(steps, "Install lanescope");
    let of_step = steps.as_array().unwrap().iter().find(|step| step["name"] == "Install lanescope").unwrap();
    let release = of_step["env"]["RELEASE"].as_str().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(release.ends_with(&format!("/v{version}")), "{release}");
    let name = released(&project);
    let path = project.path("path");
    let variables = [("RELEASE", Path::new(release)), ("GITHUB_PATH", path.as_path())];
    let output = project.step(&install, &variables);
    assert!(output.status.success(), "{}", text(&output));
    let installed = Path::new(fs::read_to_string(&path).unwrap().trim_end()).join("lanescope");
    let output = project.run(words(&installed), &[], &[]);
    assert_eq!(text(&output), "installed\n");
    // A damaged archive is not unpacked.
    fs::remove_file(installed).unwrap();
    fs::write(project.path(&format!("release/{name}.tar.gz")), "damaged").unwrap();
    assert!(!project.step(&install, &variables).status.success());
    // GitLab's job takes the package of the same release.
    let workflow = workflows().into_iter().find(|workflow| !workflow["replay"].is_null()).unwrap();
    assert_eq!(workflow["replay"]["variables"]["RELEASE"], release);
    let before = workflow["replay"]["before_script"].to_string();
    assert!(before.contains(&format!("$RELEASE/lanescope_{version}_amd64.deb")), "{before}");
}

#[test]
fn a_crash_in_a_container_becomes_a_dump_and_a_report() {
    let project = Project::new("ci-capture");
    let workflow = workflows().into_iter().find(|workflow| workflow["name"] == "gpu").unwrap();
    let steps = &workflow["jobs"]["test"]["steps"];
    let core = crate::cores::core("gfx90a-unified");
    // The runtime starts the words of the pattern without a shell, and writes no core if its limit is 0.
    let program = format!(
        "#!/bin/bash\n\
         [ \"$(ulimit -c)\" != 0 ] || {{ echo 'the limit is 0' >&2; exit 1; }}\n\
         case $HSA_COREDUMP_PATTERN in '|'*) ;; *) echo 'no pipe' >&2; exit 1 ;; esac\n\
         read -ra handler <<<\"${{HSA_COREDUMP_PATTERN#|}}\"\n\
         \"${{handler[@]}}\" < '{}'\n\
         exit 134\n",
        words(&core)
    );
    project.write("work/run-tests", &program);
    fs::set_permissions(project.path("work/run-tests"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = project.step(&step(steps, "Run the tests"), &[]);
    assert_eq!(output.status.code(), Some(134), "{}", text(&output));
    // The cause is in the job's log.
    let log = one_line(&text(&output));
    let dumps: Vec<PathBuf> =
        fs::read_dir(project.path("work/crashes")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [dump] = dumps.as_slice() else { panic!("{dumps:?}") };
    let triage = project.run("lanescope", &["triage", words(dump), "--json"], &[]);
    let triage: Value = serde_json::from_slice(&triage.stdout).unwrap();
    let sentence = triage["sentence"].as_str().unwrap();
    assert!(log.starts_with(sentence), "{log}");
    let summary = project.path("summary.md");
    let output =
        project.step(&step(steps, "Report the crashes"), &[("GITHUB_STEP_SUMMARY", summary.as_path())]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(dump.with_extension("html").is_file());
    // The summary folds lines.
    let summary = fs::read_to_string(summary).unwrap();
    assert!(one_line(&summary).contains(sentence), "{summary}");
}

#[test]
fn the_action_checks_and_reports() {
    let action = yaml(&fs::read_to_string(root().join("action.yml")).unwrap());
    let check = step(&action["runs"]["steps"], "Check the dumps");
    let project = Project::new("ci-action");
    let (reports, summary) = (project.path("reports"), project.path("summary.md"));
    let variables = [
        ("CHECK", Path::new("tests/crashes")),
        ("OPTIONS", Path::new("")),
        ("REPORTS", reports.as_path()),
        ("GITHUB_ACTIONS", Path::new("true")),
        ("GITHUB_STEP_SUMMARY", summary.as_path()),
    ];
    let output = project.step(&check, &variables);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    project.differ();
    let output = project.step(&check, &variables);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let printed = text(&output);
    let annotations: Vec<&str> = printed.lines().filter(|line| line.starts_with("::error ")).collect();
    let [annotation] = annotations.as_slice() else { panic!("{printed}") };
    assert!(annotation.starts_with("::error file=tests/crashes/oob.scope,line=7,"), "{annotation}");
    let reports: Vec<String> = fs::read_dir(reports)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(reports.iter().any(|name| name.ends_with(".html")), "{reports:?}");
    assert!(fs::read_to_string(summary).unwrap().contains("1018"));
}

/// A branch's name stays the same for other sources: the key of the cached program is a hash of them.
#[test]
fn the_action_caches_the_program_of_its_sources() {
    let action = yaml(&fs::read_to_string(root().join("action.yml")).unwrap());
    let steps = &action["runs"]["steps"];
    let of = |action: &str| {
        let steps = steps.as_array().unwrap().iter();
        let found: Vec<&Value> = steps.filter(|step| step["uses"].as_str() == Some(action)).collect();
        let [step] = found.as_slice() else { panic!("{action}: {found:?}") };
        step["with"].clone()
    };
    let (restore, save) = (of("actions/cache/restore@v4"), of("actions/cache/save@v4"));
    assert!(restore["key"].as_str().unwrap().ends_with("-${{ steps.sources.outputs.hash }}"), "{restore}");
    assert_eq!(
        (&save["path"], &save["key"]),
        (&restore["path"], &json!("${{ steps.cache.outputs.cache-primary-key }}"))
    );
    let project = Project::new("ci-cache");
    let files = [
        "Cargo.toml",
        "Cargo.lock",
        "rust-toolchain.toml",
        "src/a b.rs",
        "evaluator/src/lib.rs",
        "crates/isa/src/lib.rs",
        "targets/gfx.toml",
        "templates/report.html",
    ];
    let sources = project.path("sources");
    for file in files.iter().chain(&["README.md"]) {
        fs::create_dir_all(sources.join(file).parent().unwrap()).unwrap();
        fs::write(sources.join(file), file).unwrap();
    }
    let hash = || {
        let outputs = project.path("outputs");
        let _ = fs::remove_file(&outputs);
        let variables = [("GITHUB_ACTION_PATH", sources.as_path()), ("GITHUB_OUTPUT", outputs.as_path())];
        let output = project.step(&step(steps, "Hash the sources"), &variables);
        assert!(output.status.success(), "{}", text(&output));
        let found = fs::read_to_string(outputs).unwrap();
        let hash = found.strip_prefix("hash=").unwrap().trim_end().to_owned();
        assert!(hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{found}");
        hash
    };
    let first = hash();
    assert_eq!(hash(), first);
    fs::write(sources.join("README.md"), "other").unwrap();
    assert_eq!(hash(), first);
    for file in files {
        fs::write(sources.join(file), "other").unwrap();
        assert_ne!(hash(), first, "{file}");
        fs::write(sources.join(file), file).unwrap();
    }
    assert_eq!(hash(), first);
    // The files of the build are here, too.
    for file in [
        "Cargo.toml",
        "Cargo.lock",
        "rust-toolchain.toml",
        "src",
        "evaluator",
        "crates",
        "targets",
        "templates",
    ] {
        assert!(root().join(file).exists(), "{file}");
    }
}

#[test]
fn gitlabs_job_writes_both_reports() {
    let workflow = workflows().into_iter().find(|workflow| !workflow["replay"].is_null()).unwrap();
    let script: Vec<&str> =
        workflow["replay"]["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let [check] = script.as_slice() else { panic!("{script:?}") };
    let project = Project::new("ci-gitlab");
    project.differ();
    let output = project.step(check, &[("GITLAB_CI", Path::new("true"))]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    for name in ["quality.json", "junit.xml", "crash-reports"] {
        assert!(project.path("work").join(name).exists(), "{name}: {}", text(&output));
    }
}

/// Copies the files of an example into the project, beside the folder `crashes`.
fn example(project: &Project, name: &str) {
    let folder = root().join("examples/ci").join(name);
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), project.path("work/tests").join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn pytest_has_a_test_for_each_expectation() {
    let project = Project::new("ci-pytest");
    example(&project, "pytest");
    let arguments = ["-B", "-m", "pytest", "-p", "no:cacheprovider", "tests"];
    let run = || project.run("/usr/bin/python3", &arguments, &[]);
    let output = run();
    assert!(output.status.success(), "{}", text(&output));
    // fault, at, access, wave, and two values
    assert!(text(&output).contains("6 passed"), "{}", text(&output));
    project.differ();
    let output = run();
    assert!(text(&output).contains("1 failed, 5 passed"), "{}", text(&output));
    assert!(text(&output).contains("oob.scope:7: expected == 1018"), "{}", text(&output));
}

#[test]
fn ctest_has_a_test_for_each_file() {
    let project = Project::new("ci-ctest");
    example(&project, "ctest");
    let run =
        || project.step("cmake -S tests -B build >&2 && ctest --test-dir build --output-on-failure", &[]);
    let output = run();
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("100% tests passed, 0 tests failed out of 1"), "{}", text(&output));
    project.differ();
    let output = run();
    assert!(!output.status.success());
    assert!(text(&output).contains("i == 1018"), "{}", text(&output));
}

#[test]
fn lit_has_a_test_for_each_file() {
    let project = Project::new("ci-lit");
    example(&project, "lit");
    let tool = lanescope_tools("lit");
    let run = || project.run(words(&tool), &["-v", "tests"], &[]);
    let output = run();
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("PASS: crashes :: crashes/oob.scope"), "{}", text(&output));
    project.differ();
    let output = run();
    assert!(text(&output).contains("FAIL: crashes :: crashes/oob.scope"), "{}", text(&output));
    fs::remove_file(project.path("work/tests/crashes/oob.zip")).unwrap();
    let output = run();
    assert!(text(&output).contains("UNRESOLVED: crashes :: crashes/oob.scope"), "{}", text(&output));
}

/// A program of the newest LLVM of this machine.
pub(crate) fn lanescope_tools(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib").unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().ok()?;
        name.strip_prefix("llvm-")?.parse::<u32>().ok()
    });
    let folder = |version: u32| Path::new("/usr/lib").join(format!("llvm-{version}/bin"));
    let newest = versions.filter(|version| folder(*version).join(name).exists()).max();
    folder(newest.unwrap_or_else(|| panic!("no {name}: scripts/setup installs it"))).join(name)
}

/// The parts of the matrix and of the array give the buckets of one process.
#[test]
fn parts_of_a_fleet_are_grouped_as_the_page_writes() {
    let project = Project::new("ci-fleet");
    let crashes = project.path("work/crashes");
    fs::create_dir_all(&crashes).unwrap();
    for (name, from) in
        [("a.zip", "demo.zip"), ("b b.zip", "demo.zip"), ("gpucore 7", "gpucore/gfx90a-unified.core")]
    {
        fs::copy(root().join("tests/fixtures").join(from), crashes.join(name)).unwrap();
    }
    fs::write(crashes.join("broken.zip"), "no dump").unwrap();
    let grouped =
        |files: &str| project.step(&format!("cat {files} | lanescope bucket --from - --json"), &[]).stdout;
    let whole = |pattern: &str| {
        let all = format!("find crashes -name '{pattern}' -print0 | xargs -0 lanescope bucket --json");
        project.step(&all, &[]).stdout
    };
    let workflow =
        workflows().into_iter().find(|workflow| !workflow["jobs"]["signatures"].is_null()).unwrap();
    let text_of_step = step(&workflow["jobs"]["signatures"]["steps"], "Print the signatures of a part");
    for part in 1..=4 {
        let output = project.step(&text_of_step.replace("${{ matrix.part }}", &part.to_string()), &[]);
        assert!(output.status.success(), "{}", text(&output));
    }
    let found = grouped("lines/*.jsonl");
    assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&whole("*.zip")));
    let found: Value = serde_json::from_slice(&found).unwrap();
    assert_eq!((&found["dumps"], &found["buckets"][0]["dumps"]), (&json!(3), &json!(2)));
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let script = page.split("```sh\n").find(|text| text.contains("#SBATCH")).unwrap();
    project.write("work/array.sh", script.split_once("```").unwrap().0);
    for part in 1..=16 {
        let part = part.to_string();
        let variables = [("SLURM_ARRAY_TASK_ID", Path::new(&part)), ("CRASHES", Path::new("crashes"))];
        project.run("sh", &["array.sh"], &variables);
    }
    let found = grouped("lines.*.jsonl");
    assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&whole("gpucore*")));
    assert!(!found.is_empty());
}
