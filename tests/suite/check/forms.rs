//! Forms of the results agree, and have the forms that GitHub, GitLab, Jenkins and TAP document.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{FAILED, FILES, Folder, check, command, failed, json, text};
use crate::slim::words;

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
}

/// The schema of Jenkins' xUnit plugin, of a package that scripts/setup unpacks.
fn schema() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/junit/junit-10.xsd");
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
