//! Expected texts by the documents of GitHub, GitLab, TAP and XML.

use serde_json::{Value, json};

use super::super::results::{CheckedDump, CheckedFile, CheckedLine, FileError, NamingLine, Report};
use super::{Form, one, output};
use crate::check::{Difference, Obstacle, Outcome, Verdict};

/// A line that holds, one that differs, one that cannot be checked, and a file with an error; with characters that
/// each form must escape.
fn report() -> Report {
    let line = |number: usize, text: &str, verdict: Verdict| CheckedLine {
        text: text.to_owned(),
        outcome: Outcome { line: number, columns: (9, 14), verdict, selected_by: None },
    };
    let difference = Difference {
        expected: "== 3".to_owned(),
        found: "lane 17: <5%> \"a\" & b\nmore".to_owned(),
        ..Difference::default()
    };
    let obstacle = Obstacle { problem: "no `j`".to_owned(), hint: Some("did you mean `i`?".to_owned()) };
    let dump = CheckedDump {
        dump: "a,b:c.zip".to_owned(),
        named_by: NamingLine { line: 1, columns: (5, 14), text: "dump a,b:c.zip".to_owned() },
        sentence: Some("saxpy reads x[1024]".to_owned()),
        lines: vec![
            line(2, "fault memory violation", Verdict::Holds),
            line(5, "  lane 17 i == 3 # why", Verdict::Differs(Box::new(difference))),
            line(6, "  lane 17 j == 3", Verdict::NotChecked(obstacle)),
        ],
        ..CheckedDump::default()
    };
    let error = FileError {
        line: Some(1),
        columns: (0, 4),
        text: "dmup x".to_owned(),
        problem: "unknown keyword `dmup`\u{1}".to_owned(),
        hint: None,
    };
    let dumps = CheckedFile { file: "t/a.scope".to_owned(), errors: Vec::new(), dumps: vec![dump] };
    let wrong = CheckedFile { file: "t/b.scope".to_owned(), errors: vec![error], dumps: Vec::new() };
    Report { files: vec![dumps, wrong] }
}

fn text(form: Form) -> String {
    let mut out = Vec::new();
    one(&report(), form, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// docs.github.com, "Workflow commands": `%`, CR and LF are escaped in data; in properties also `:` and `,`.
#[test]
fn annotations_are_one_line_each() {
    assert_eq!(
        text(Form::Github),
        "::error file=t/a.scope,line=5,col=10,endColumn=14,title=a%2Cb%3Ac.zip%3A differs::expected == 3, got lane 17: \
         <5%25> \"a\" & b%0Amore%0Asaxpy reads x[1024]\n\
         ::error file=t/a.scope,line=6,col=10,endColumn=14,title=a%2Cb%3Ac.zip%3A cannot be checked::cannot be checked: \
         no `j`; did you mean `i`?%0Asaxpy reads x[1024]\n\
         ::error file=t/b.scope,line=1,col=1,endColumn=4,title=t/b.scope%3A cannot be checked::unknown keyword \
         `dmup`\u{1}\n"
    );
}

#[test]
fn a_summary_is_a_table_within_its_bound() {
    let report = report();
    let whole = super::github::table(&report, 1 << 20);
    let rows: Vec<&str> = whole.lines().filter(|line| line.starts_with("| t/")).collect();
    assert_eq!(rows.len(), 3, "{whole}");
    assert_eq!(
        rows[0],
        "| t/a.scope:5 | a,b:c.zip | lane 17 i == 3 &#35; why | expected == 3, got lane 17: \
         &#60;5&#37;&#62; &#34;a&#34; &#38; b<br>more<br>saxpy reads x&#91;1024&#93; |"
    );
    // Each row has four cells: no cell ends its row.
    assert!(rows.iter().all(|row| row.matches('|').count() == 5), "{whole}");
    for left in [0, 10, 300, 500] {
        assert!(super::github::table(&report, left).len() <= left);
    }
    assert!(super::github::table(&report, 500).contains("left out"));
}

/// docs.gitlab.com, "Code Quality report format": the members, and unique fingerprints.
#[test]
fn issues_have_the_members_of_code_quality() {
    let issues: Vec<Value> = serde_json::from_str(&text(Form::Gitlab)).unwrap();
    assert_eq!(issues.len(), 3);
    for issue in &issues {
        assert_eq!(issue["check_name"], "lanescope");
        assert!(
            ["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().unwrap())
        );
        assert!(issue["location"]["lines"]["begin"].is_u64());
    }
    assert_eq!(issues[0]["location"], json!({ "path": "t/a.scope", "lines": { "begin": 5 } }));
    let mut report = report();
    let dump = &mut report.files[0].dumps[0];
    dump.lines.push(dump.lines[1].clone());
    dump.lines[1].outcome.line = 50;
    let moved = serde_json::to_value(super::gitlab::entries(&report)).unwrap();
    let prints: Vec<&str> =
        moved.as_array().unwrap().iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    assert_eq!(
        prints[0], issues[0]["fingerprint"],
        "a fingerprint does not depend on the number of the line"
    );
    let unique: std::collections::HashSet<_> = prints.iter().collect();
    assert_eq!(unique.len(), 4);
}

/// testanything.org, TAP version 14.
#[test]
fn tap_has_a_test_for_each_line() {
    assert_eq!(
        text(Form::Tap),
        "TAP version 14\n1..4\n\
         ok 1 - t/a.scope:2 a,b:c.zip fault memory violation\n\
         not ok 2 - t/a.scope:5 a,b:c.zip lane 17 i == 3 \\# why\n  ---\n  message: \"expected == 3, got lane 17: <5%> \
         \\\"a\\\" & b\\nmore\"\n  ...\n\
         not ok 3 - t/a.scope:6 a,b:c.zip lane 17 j == 3\n  ---\n  message: \"cannot be checked: no `j`; did you mean \
         `i`?\"\n  ...\n\
         not ok 4 - t/b.scope:1\n  ---\n  message: \"unknown keyword `dmup`\\u0001\"\n  ...\n\
         # t/a.scope a,b:c.zip: saxpy reads x[1024]\n"
    );
}

#[test]
fn junit_counts_failures_and_errors_of_each_dump() {
    let text = text(Form::Junit);
    assert!(
        text.contains(r#"<testsuite name="t/a.scope a,b:c.zip" tests="3" failures="1" errors="1">"#),
        "{text}"
    );
    assert!(text.contains(r#"<testsuite name="t/b.scope" tests="1" failures="0" errors="1">"#), "{text}");
    assert!(text.contains("&lt;5%&gt; &quot;a&quot; &amp; b"), "{text}");
    assert!(text.contains("unknown keyword `dmup`\u{fffd}"), "{text}");
}

/// Each form has the problem of an option, and no failed line.
#[test]
fn the_problem_of_an_option_is_in_each_form() {
    let mut report = report();
    report.files.truncate(1);
    let dump = &mut report.files[0].dumps[0];
    dump.lines.truncate(1);
    (dump.sentence, dump.problem) = (None, Some("no <syntax>\nof # C, %".to_owned()));
    let text = |form| {
        let mut out = Vec::new();
        one(&report, form, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let human = text(Form::Human);
    assert!(human.contains("a,b:c.zip: no <syntax>"), "{human}");
    let notice = "::notice file=t/a.scope,title=a%2Cb%3Ac.zip%3A option::no <syntax>%0Aof # C, %25\n";
    assert_eq!(text(Form::Github), notice);
    let summary = super::github::table(&report, 1 << 20);
    assert!(summary.contains("\nt/a.scope, a,b:c.zip: no "), "{summary}");
    let gitlab: Vec<Value> = serde_json::from_str(&text(Form::Gitlab)).unwrap();
    let [issue] = gitlab.as_slice() else { panic!("{gitlab:?}") };
    assert_eq!((&issue["severity"], &issue["location"]["path"]), (&json!("info"), &json!("t/a.scope")));
    assert_eq!(issue["description"], "a,b:c.zip: no <syntax>\nof # C, %");
    let tap = text(Form::Tap);
    assert!(tap.starts_with("TAP version 14\n1..1\n"), "{tap}");
    assert_eq!(tap.lines().last(), Some("# t/a.scope a,b:c.zip: no <syntax> of # C, %"));
    let junit = text(Form::Junit);
    assert!(junit.contains("<system-out>no &lt;syntax&gt;\nof # C, %</system-out>"), "{junit}");
}

#[test]
fn an_output_is_a_form_with_or_without_a_file() {
    assert_eq!(output("junit=a=b.xml").unwrap().file.unwrap().to_str(), Some("a=b.xml"));
    assert_eq!(output("tap").unwrap().form, Form::Tap);
    for wrong in ["", "xml", "junit=", "=a"] {
        assert!(output(wrong).is_err(), "{wrong}");
    }
}
