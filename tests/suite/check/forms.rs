//! Forms of the results agree, and have the forms that GitHub, GitLab, Jenkins and TAP document.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{FAILED, FILES, Folder, check, command, failed, json, text};
use crate::slim::words;
use crate::support::sample::sampled;

/// A file of expectations and a dump whose names have signs of each form, and a line that does not hold.
const HOSTILE: &str = "a <b> & %0A ' , # |.scope";
const HOSTILE_DUMP: &str = "c]]> & %25 , ::error.zip";

/// Runs `check` over [`FILES`] and the hostile names, with the results in files by form; returns their folder.
fn results(folder: &Folder) -> PathBuf {
    for (name, text, _) in FILES {
        folder.write(name, text);
    }
    fs::copy(folder.path("demo.zip"), folder.path(HOSTILE_DUMP)).unwrap();
    let line = "wave faulted\n  lane 0 nothing == \"<&>\\\"'%\"  # ::error\n";
    folder.write(HOSTILE, &format!("dump \"{HOSTILE_DUMP}\"\n{line}"));
    let results = folder.path("results");
    fs::create_dir(&results).unwrap();
    let forms = ["github", "gitlab", "junit", "tap", "json", "human"];
    let options = forms.map(|form| format!("--format={form}={}", words(&results.join(form))));
    let output = command(&["."]).current_dir(&folder.0.0).args(&options).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    results
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The results that do not hold, with the hostile line.
const ALL_FAILED: usize = FAILED + 1;

#[test]
fn each_form_has_each_failed_line_once() {
    let folder = Folder::new("check-forms");
    let results = results(&folder);
    let read = |form: &str| read(&results.join(form));
    let of_json: Value = serde_json::from_str(&read("json")).unwrap();
    assert_eq!(failed(&of_json), ALL_FAILED, "{of_json:#}");
    let annotations = read("github");
    assert_eq!(annotations.lines().filter(|line| line.starts_with("::error ")).count(), ALL_FAILED);
    assert_eq!(annotations.lines().count(), ALL_FAILED, "one line each: {annotations}");
    let issues: Value = serde_json::from_str(&read("gitlab")).unwrap();
    assert_eq!(issues.as_array().unwrap().len(), ALL_FAILED);
    let tap = read("tap");
    assert_eq!(tap.lines().filter(|line| line.starts_with("not ok ")).count(), ALL_FAILED, "{tap}");
    let human = read("human");
    assert!(!human.contains('\u{1b}'), "no colours in a file: {human}");
    assert_eq!(human.lines().filter(|line| line.starts_with("error: ")).count(), ALL_FAILED, "{human}");
    assert!(
        human.ends_with("5 dumps, 12 lines: 8 hold, 2 differ, 2 cannot be checked, 3 errors\n"),
        "{human}"
    );
}

/// On GitHub's runner the annotations are beside the form for people.
#[test]
fn annotations_are_as_many_as_failed_lines() {
    let folder = Folder::new("check-annotations");
    for (name, text, _) in FILES {
        folder.write(name, text);
    }
    let summary = folder.path("summary.md");
    let output = command(&["."])
        .current_dir(&folder.0.0)
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env_remove("GITHUB_WORKSPACE")
        .output()
        .unwrap();
    let printed = text(&output.stdout);
    let annotations: Vec<&str> = printed.lines().filter(|line| line.starts_with("::error ")).collect();
    assert_eq!(annotations.len(), FAILED, "{printed}");
    assert!(printed.contains(" --> ./differs.scope:2:"), "the form for people: {printed}");
    let rows = read(&summary).lines().filter(|line| line.starts_with("| ./")).count();
    assert_eq!(rows, FAILED);
    // Annotations have paths of the repository.
    let of =
        |name: &str| annotations.iter().filter(|line| line.contains(&format!("file={name},line="))).count();
    assert_eq!(
        [of("differs.scope"), of("unknown.scope"), of("wrong.scope"), of("missing.scope")],
        [2, 1, 2, 1]
    );
}

/// docs.github.com, "Workflow commands": `::error PROPERTIES::MESSAGE`, properties separated by commas, with `%25`,
/// `%0D`, `%0A`, `%3A` and `%2C` for their signs.
#[test]
fn annotations_are_decoded_to_the_names() {
    let folder = Folder::new("check-decoded");
    let results = results(&folder);
    let annotations = read(&results.join("github"));
    let decode = |text: &str| {
        let pairs = [("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")];
        pairs.iter().fold(text.to_owned(), |text, (code, sign)| text.replace(code, sign))
    };
    let mut files = HashSet::new();
    for line in annotations.lines() {
        let (properties, message) = line.strip_prefix("::error ").unwrap().split_once("::").unwrap();
        let properties: Vec<(&str, String)> = properties
            .split(',')
            .map(|property| property.split_once('=').unwrap())
            .map(|(name, value)| (name, decode(value)))
            .collect();
        let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["file", "line", "col", "endColumn", "title"]);
        let number = |index: usize| properties[index].1.parse::<usize>().unwrap();
        assert!(number(1) >= 1 && number(2) >= 1 && number(3) >= number(2), "{line}");
        assert!(!message.is_empty());
        files.insert(properties[0].1.clone());
        if properties[0].1 == HOSTILE {
            assert!(properties[4].1.starts_with(HOSTILE_DUMP), "{line}");
        }
    }
    let expected: HashSet<String> =
        ["differs.scope", "unknown.scope", "wrong.scope", "missing.scope", HOSTILE]
            .map(str::to_owned)
            .into_iter()
            .collect();
    assert_eq!(files, expected);
}

/// docs.gitlab.com, "Code Quality report format": `description`, `check_name`, `fingerprint` (unique), `severity`,
/// `location.path` (relative to the repository, without `./`) and `location.lines.begin` are required.
#[test]
fn gitlab_has_its_members_and_paths() {
    let folder = Folder::new("check-gitlab");
    let results = results(&folder);
    let issues: Value = serde_json::from_str(&read(&results.join("gitlab"))).unwrap();
    let mut prints = HashSet::new();
    for issue in issues.as_array().unwrap() {
        for name in ["description", "check_name", "fingerprint", "severity"] {
            assert!(issue[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {issue}");
        }
        let severity = issue["severity"].as_str().unwrap();
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&severity), "{issue}");
        let path = issue["location"]["path"].as_str().unwrap();
        assert!(!path.starts_with(['/', '.']), "{issue}");
        assert!(folder.path(path).is_file(), "{issue}");
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1, "{issue}");
        assert!(prints.insert(issue["fingerprint"].as_str().unwrap().to_owned()), "{issue}");
    }
    assert_eq!(prints.len(), ALL_FAILED);
    // A job that runs in a folder of the repository, and names the file by its whole path.
    let project = folder.path("..").canonicalize().unwrap();
    let output = command(&[words(&folder.path("differs.scope")), "--format", "gitlab"])
        .env("CI_PROJECT_DIR", &project)
        .output()
        .unwrap();
    let name = folder.0.0.file_name().unwrap().to_str().unwrap();
    assert_eq!(json(&output)[0]["location"]["path"], format!("{name}/differs.scope"));
    // Another spelling of the file has the same place and fingerprint.
    let roundabout = folder.path("..").join(name).join("../").join(name).join("differs.scope");
    let again = command(&[words(&roundabout), "--format", "gitlab"])
        .env("CI_PROJECT_DIR", &project)
        .output()
        .unwrap();
    for member in ["location", "fingerprint"] {
        assert_eq!(json(&output)[0][member], json(&again)[0][member]);
    }
}

/// The schema of Jenkins' xUnit plugin, of a package that scripts/setup unpacks.
fn schema() -> PathBuf {
    let path = crate::support::root().join("tests/junit/junit-10.xsd");
    assert!(path.is_file(), "no junit-10.xsd: run scripts/setup");
    path
}

/// The messages of xmllint about a document; `None`: it fits the schema.
fn against_schema(document: &Path) -> Option<String> {
    let output = Command::new("xmllint").args(["--noout", "--schema"]).arg(schema()).arg(document).output();
    let output = output.expect("no xmllint: run scripts/setup");
    (!output.status.success()).then(|| text(&output.stderr))
}

#[test]
fn junit_fits_the_schema_of_jenkins() {
    let folder = Folder::new("check-junit");
    let document = results(&folder).join("junit");
    assert_eq!(against_schema(&document), None, "{}", read(&document));
    // The validator finds wrong documents.
    let text = read(&document);
    for (from, to) in [(" tests=", " test="), ("<failure ", "<failed "), ("classname", "class")] {
        let wrong = folder.path("wrong.xml");
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        fs::write(&wrong, changed).unwrap();
        assert!(against_schema(&wrong).is_some(), "{to}");
    }
}

/// A reader of JUnit's form finds the same counts and names.
#[test]
fn junit_is_read_by_its_parser() {
    let folder = Folder::new("check-junitparser");
    let document = results(&folder).join("junit");
    let script = "import json, sys\nfrom junitparser import JUnitXml\n\
                  suites = JUnitXml.fromfile(sys.argv[1])\n\
                  print(json.dumps([dict(name=s.name, tests=s.tests, failures=s.failures, errors=s.errors,\n\
                  cases=[dict(name=c.name, results=[type(r).__name__ for r in c.result]) for c in s])\n\
                  for s in suites]))";
    let output = Command::new("/usr/bin/python3").args(["-c", script]).arg(&document).output().unwrap();
    assert!(output.status.success(), "{}: run scripts/setup", text(&output.stderr));
    let suites: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut count = 0;
    for suite in suites.as_array().unwrap() {
        let cases = suite["cases"].as_array().unwrap();
        let with = |kind: &str| {
            cases.iter().filter(|case| case["results"].as_array().unwrap().contains(&kind.into())).count()
        };
        assert_eq!(suite["tests"], cases.len(), "{suite:#}");
        assert_eq!((&suite["failures"], &suite["errors"]), (&with("Failure").into(), &with("Error").into()));
        count += with("Failure") + with("Error");
    }
    assert_eq!(count, ALL_FAILED);
    let name = format!("./{HOSTILE} {HOSTILE_DUMP}");
    assert!(suites.as_array().unwrap().iter().any(|suite| suite["name"] == name.as_str()), "{suites:#}");
}

/// testanything.org, version 14: the version, the plan, then test points with numbers in order.
#[test]
fn tap_has_a_plan_and_numbers() {
    let folder = Folder::new("check-tap");
    let tap = read(&results(&folder).join("tap"));
    let mut lines = tap.lines();
    assert_eq!(lines.next(), Some("TAP version 14"));
    let count: usize = lines.next().unwrap().strip_prefix("1..").unwrap().parse().unwrap();
    let points: Vec<&str> =
        lines.filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).collect();
    assert_eq!(points.len(), count);
    for (number, point) in (1..).zip(&points) {
        let rest = point.trim_start_matches("not ").strip_prefix("ok ").unwrap();
        let (own, description) = rest.split_once(" - ").unwrap();
        assert_eq!(own, number.to_string());
        // A directive begins with an unescaped sign.
        assert!(!description.replace("\\\\", "").replace("\\#", "").contains('#'), "{point}");
    }
}

/// A run without a file of expectations prints no document that looks like success.
#[test]
fn an_error_writes_no_document() {
    let folder = Folder::new("check-no-document");
    let document = folder.path("junit.xml");
    let output = check(&["/nowhere", "--format", &format!("junit={}", words(&document))]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!document.exists());
}

/// The error of a dump is on the line that names it, in each form.
#[test]
fn a_missing_dump_has_the_place_of_its_name() {
    let folder = Folder::new("check-missing");
    let line = "  dump  demo.zip nowhere.zip  # c";
    let file = folder.write("a.scope", &format!("# comment\n\n{line}\nfault memory violation\n"));
    let start = line.find("nowhere").unwrap();
    let end = start + "nowhere.zip".len();
    let run = |form: &str| {
        let output = check(&["--format", form, &file]);
        assert_eq!(output.status.code(), Some(2), "{form}: {output:?}");
        text(&output.stdout)
    };
    let human = run("human");
    assert!(human.contains(&format!("a.scope:3:{}\n", start + 1)), "{human}");
    assert!(human.contains(&format!("{}^^^^^^^^^^^\n", " ".repeat(start))), "{human}");
    let github = run("github");
    assert!(github.contains(&format!(",line=3,col={},endColumn={end},", start + 1)), "{github}");
    let gitlab: Value = serde_json::from_str(&run("gitlab")).unwrap();
    assert_eq!(gitlab[0]["location"]["lines"]["begin"], 3);
    let json: Value = serde_json::from_str(&run("json")).unwrap();
    let named_by = &json["files"][0]["dumps"][1]["named_by"];
    assert_eq!((&named_by["line"], &named_by["text"]), (&3.into(), &line.into()));
    assert_eq!(named_by["columns"], serde_json::json!([start, end]));
    let junit = run("junit");
    assert!(junit.contains("name=\"3: dump demo.zip nowhere.zip # c\""), "{junit}");
    assert!(junit.contains("a.scope:3\n"), "{junit}");
    let tap = run("tap");
    assert!(tap.contains("a.scope:3 nowhere.zip\n"), "{tap}");
    let blessed = check(&["--bless", &file]);
    assert_eq!(blessed.status.code(), Some(2), "{blessed:?}");
    assert!(text(&blessed.stdout).contains("a.scope:3: not changed: nowhere.zip: "), "{blessed:?}");
}

/// Two patterns name one dump: it is checked once, and belongs to the first line.
#[test]
fn a_dump_of_two_lines_is_checked_once() {
    let folder = Folder::new("check-twice");
    let file = folder.write("a.scope", "dump demo.zip\ndump *.zip\nfault memory violation\n");
    let json = super::json(&check(&["--json", &file]));
    let dumps = json["files"][0]["dumps"].as_array().unwrap();
    assert_eq!(dumps.len(), 1, "{json:#}");
    assert_eq!(dumps[0]["named_by"]["line"], 1);
}

/// GitHub's runner takes a line that begins with `::`, after blanks, as a command, and the older `##[` anywhere in one. No
/// name of a dump or file makes one in the text for people.
#[test]
fn text_for_people_has_no_commands_of_the_runner() {
    let folder = Folder::new("check-commands");
    let on_runner = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.current_dir(&folder.0.0).env("GITHUB_ACTIONS", "true").output().unwrap()
    };
    let begin_commands = |text: &str| text.lines().filter(|line| line.trim_start().starts_with("::")).count();
    // The length decides where the sentence is folded.
    for length in sampled(60..90, 3) {
        let dump = format!("{} ::warning title=x::pwned ##[error]y.zip", "a".repeat(length));
        fs::copy(folder.path("demo.zip"), folder.path(&dump)).unwrap();
        folder.write("a.scope", &format!("dump \"{dump}\"\nwaves 9\n"));
        let printed = text(&on_runner(&["a.scope", "--format", "human", "--format", "github"]).stdout);
        assert_eq!(begin_commands(&printed), 1, "{printed}");
        let of_people = printed.lines().filter(|line| !line.starts_with("::error "));
        assert!(of_people.clone().all(|line| !line.contains("##[")), "{printed}");
        assert!(of_people.clone().any(|line| line.contains("title=x::pwned")), "{printed}");
        fs::remove_file(folder.path(&dump)).unwrap();
    }
    let name = "::warning title=x::pwned.scope";
    folder.write(name, "dump  demo.zip\nwaves 9\n");
    let formatted = on_runner(&["--fmt", "--check", name]);
    assert_eq!(formatted.status.code(), Some(1), "{formatted:?}");
    assert_eq!(text(&formatted.stdout), format!("| {name}\n"));
    let blessed = text(&on_runner(&["--bless", name]).stdout);
    assert!(blessed.contains(name), "{blessed}");
    assert_eq!(begin_commands(&blessed), 0, "{blessed}");
    let missing = text(&on_runner(&["##[error]x"]).stderr);
    assert!(missing.contains("error]x") && !missing.contains("##["), "{missing}");
}

/// On the runner a document has the same data, and no command: a kernel's name begins the sentence about its dump, which
/// begins a line of JUnit.
#[test]
fn documents_have_no_commands_of_the_runner() {
    let folder = Folder::new("check-document-commands");
    crate::fixtures::copy_dump("saxpy-gfx90a-O0", &folder.0.0.join("d"));
    let manifest = folder.0.0.join("d/manifest.toml");
    let lines = read(&manifest).replace("kernel = \"saxpy\"", "kernel = \"::error::saxpy##[error]\"");
    fs::write(manifest, lines).unwrap();
    let names = ["::error::one.scope", "::error::two.scope"];
    folder.write(names[0], "dump d\nwaves 9 # ##[error]three\n");
    folder.write(names[1], "fault ##[error]four\n");
    let printed = |form: &str, is_on_runner: bool| {
        let mut command = command(&[names[0], names[1], "--format", form]);
        command.current_dir(&folder.0.0).env_remove("GITHUB_ACTIONS");
        if is_on_runner {
            command.env("GITHUB_ACTIONS", "true");
        }
        text(&command.output().unwrap().stdout)
    };
    for form in ["junit", "tap", "json", "gitlab"] {
        let (here, there) = (printed(form, false), printed(form, true));
        for line in there.split(['\n', '\r']) {
            assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{form}: {line}");
        }
        assert!(here.contains("##[error]") || form == "tap", "{form}: {here}");
        match form {
            // XML 1.0, 4.1: references to characters by their numbers.
            "junit" => assert_eq!(there.replace("&#58;", ":").replace("&#35;", "#"), here),
            "tap" => assert_eq!(there.lines().count(), here.lines().count()),
            _ => {
                let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                assert_eq!(value(&there), value(&here), "{form}");
            }
        }
    }
    assert!(printed("junit", false).lines().any(|line| line.trim_start().starts_with("::error::")));
}

/// An empty file has two errors: two test cases.
#[test]
fn test_cases_have_different_names() {
    let folder = Folder::new("check-cases");
    for (lines, count) in [("", 2), ("dump *.nope *.nada\nwaves 8\n", 2)] {
        let output = check(&[&folder.write("a.scope", lines), "--format", "junit"]);
        let printed = text(&output.stdout);
        let cases = printed.lines().filter(|line| line.contains("<testcase "));
        let names: Vec<&str> = cases.map(|line| line.split_once(" name=").unwrap().1).collect();
        let different: HashSet<&&str> = names.iter().collect();
        assert_eq!((names.len(), different.len()), (count, count), "{printed}");
    }
}

/// GitHub counts the columns of characters, as the form for people; JSON has bytes.
#[test]
fn columns_count_characters() {
    let folder = Folder::new("check-columns");
    let line = "\tlane 17 n\u{e9}\u{1f600} == 3";
    let file = folder.write("a.scope", &format!("dump demo.zip\nwave faulted\n{line}\n"));
    let printed = text(&check(&[&file, "--format", "github"]).stdout);
    // The twelfth character begins no name.
    assert!(printed.contains(",line=3,col=12,endColumn=12,"), "{printed}");
    let file = folder.write("b.scope", "symbols \"n\u{e9}\u{1f600}\" x\ndump demo.zip\nwaves 8\n");
    let columns = json(&check(&[&file, "--json"]))["files"][0]["errors"][0]["columns"].clone();
    assert_eq!(columns, serde_json::json!([18, 19]));
    let printed = text(&check(&[&file, "--format", "github"]).stdout);
    assert!(printed.contains(",line=1,col=15,endColumn=15,"), "{printed}");
}

/// The sentence of the analysis is below a failed line in each form.
#[test]
fn issues_have_the_sentence_of_the_analysis() {
    let folder = Folder::new("check-sentence");
    let file = folder.write("a.scope", "dump demo.zip\nwaves 9\n");
    let sentence = json(&check(&[&file, "--json"]))["files"][0]["dumps"][0]["sentence"].clone();
    let issues: Value = json(&check(&[&file, "--format", "gitlab"]));
    assert!(issues[0]["description"].as_str().unwrap().contains(sentence.as_str().unwrap()), "{issues:#}");
}

/// Names of a dump cannot command GitHub's runner in any command's text.
#[test]
fn texts_of_all_commands_are_harmless_on_the_runner() {
    let folder = Folder::new("runner");
    let log = folder.path("log");
    let kernel = "x\\n::error::forged";
    fs::write(&log, format!("wave_1: pc=0x7f1000001adc (kernel_code_entry=0x7f1000002200 <{kernel}>) (stopped, reason: MEMORY_VIOLATION)\n\ngeneral registers:\n{0}pc: 00007f1000001adc{0}exec: 0000ffff\n", " ".repeat(14))).unwrap();
    for name in ["\u{a}::error::forged", "a\n::error::forged"] {
        let output = crate::support::lanescope()
            .args(["signature", name])
            .env("GITHUB_ACTIONS", "true")
            .output()
            .unwrap();
        let all = [output.stdout, output.stderr].concat();
        let all = String::from_utf8_lossy(&all).into_owned();
        assert!(
            all.contains("forged") && !all.lines().any(|line| line.trim_start().starts_with("::")),
            "{all}"
        );
    }
    for words in [&["triage"][..], &["waves"], &["signature"], &["report", "--format", "text", "-o", "-"]] {
        let output = crate::support::lanescope()
            .arg(words[0])
            .arg(&log)
            .args(&words[1..])
            .env("GITHUB_ACTIONS", "true")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty() && !text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
    }
}
