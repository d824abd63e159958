//! The model against the fixtures' models, and each form against the model.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use lanescope::postmortem::html::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};
use lanescope::postmortem::markdown::markdown;
use lanescope::postmortem::text::{first_screen, text};
use lanescope::postmortem::{self, Model, Options, ProblemRow, ValueMark, VariableStrip};
use lanescope::report::Style;
use lanescope::session::{Dump, Inspect};
use lanescope::signature::Rules;
use lanescope::triage::Step;
use serde_json::Value;

use super::{faults, hang, html, model, model_with, of_demo, sessions};
use crate::fixtures::{copy_dump, expected_of, few_expected, one_line, open};
use crate::support::{least, sample::sampled};
use crate::triage::cases;

/// docs/triage.md: the page of the demo.
const SENTENCE: &str = "saxpy reads x[1024] (i = 1024, n = 1024), right past the end of x: lane 24 of wave 1, saxpy.hip:54 (likely)";

/// All forms of a report.
fn forms(model: &Model) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("html", html(model)),
        ("markdown", markdown(model).unwrap()),
        ("text", text(model, Style::Plain)),
        ("json", serde_json::to_string(model).unwrap()),
    ])
}

fn lanescope(arguments: &[&str]) -> Output {
    crate::support::lanescope().args(arguments).output().unwrap()
}

/// The values of the shown wave in all fixtures: value and state of each lane, as the kernels' models have them.
#[test]
fn values_are_those_of_the_models() {
    let mut compared = 0;
    for (name, path, expected) in few_expected() {
        let model = model(&open(&path));
        let wave = model.wave.as_ref().unwrap();
        let truth = expected["waves"].as_array().unwrap().iter().find(|of| of["id"] == wave.id);
        let Some(truth) = truth.filter(|_| wave.frame == 0) else { continue };
        let exec = truth["exec"].as_str().map(|exec| u64::from_str_radix(&exec[2..], 16).unwrap());
        let mut seen = BTreeMap::new();
        for variable in truth["locals"].as_array().unwrap() {
            let place = format!("{name} wave {} {}", wave.id, variable["name"]);
            // Names of frame 0 in the order of the model: a name that hides another one has a strip of its own.
            let is_name = |of: &&VariableStrip| variable["name"] == *of.name;
            let named = seen.entry(variable["name"].to_string()).or_insert(0);
            let found = wave.variables.iter().filter(is_name).nth(*named);
            *named += 1;
            let Some(found) = found else {
                assert!(wave.variables_left_out > 0, "{place}: no strip");
                continue;
            };
            let lanes = truth["lanes"].as_array().unwrap().iter().map(|lane| lane.as_u64().unwrap());
            for (index, lane) in lanes.enumerate() {
                let cell = &found.lanes[lane as usize];
                let is_value = match variable["state"].as_str().unwrap() {
                    "ok" => {
                        let Some(text) = variable["values"][index].as_str() else { continue };
                        let shown =
                            cell.value.as_deref().unwrap_or_else(|| panic!("{place} lane {lane}: {cell:?}"));
                        // A pointer's value has a symbol or text behind it.
                        assert!(
                            shown == text || shown.starts_with(text),
                            "{place} lane {lane}: {shown}, expected {text}"
                        );
                        true
                    }
                    "optimized_out" => {
                        assert!(
                            matches!(cell.state, ValueMark::OptimizedOut | ValueMark::Unused),
                            "{place} {lane}: {cell:?}"
                        );
                        false
                    }
                    "unavailable" => {
                        assert!(
                            matches!(cell.state, ValueMark::NotCaptured | ValueMark::Unused),
                            "{place} {lane}: {cell:?}"
                        );
                        false
                    }
                    _ => continue,
                };
                assert_eq!(cell.value.is_some(), is_value, "{place} lane {lane}: absent is absent");
                let is_inactive = cell.state == ValueMark::Inactive;
                // Debug information may have a lane in the source that EXEC lacks.
                let own = truth["lane_states"][lane as usize][0].as_str().map(|state| state == "active");
                let is_active = own.or(exec.map(|exec| exec >> lane & 1 == 1));
                assert!(
                    !is_value || is_active.is_none_or(|is| is != is_inactive),
                    "{place} {lane}: {cell:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > least(10_000, 2_000), "{compared}");
}

/// Rows of the first screen have two lines; a longer one ends with dots, behind a part of its sentence.
#[test]
fn long_rows_of_the_first_screen_are_cut_between_parts() {
    let mut model = of_demo();
    let report = model.fault.evidence.iter_mut().find(|row| row.label == "Report").unwrap();
    let part = "a part of nearly forty columns, of words";
    report.texts = vec![[part; 4].join("; ")];
    model.dump.kinds.clear();
    let screen = first_screen(&model, Style::Plain);
    assert!(
        screen.replace("\n          ", " ").contains(&format!("{part}; {part}; {part}; ...\n")),
        "{screen}"
    );
    let report = model.fault.evidence.iter_mut().find(|row| row.label == "Report").unwrap();
    report.texts = vec![["word"; 100].join(" ")];
    let screen = first_screen(&model, Style::Plain);
    let (_, row) = screen.split_once("\nReport").unwrap();
    let row: Vec<&str> = row.lines().take(2).collect();
    assert!(row[1].ends_with("word ...") && row[1].len() > 70 && row[1].len() <= 80, "{screen}");
    // Neither kinds of waves nor a comma.
    assert!(screen.contains("(lanescope dump 1)\n"), "{screen}");
}

#[test]
fn the_forms_agree() {
    let model = of_demo();
    assert_eq!(model.fault.sentence, SENTENCE);
    let forms = forms(&model);
    assert!(forms["html"].contains(&format!("<h1>{SENTENCE}</h1>")));
    assert!(forms["json"].contains(&format!("\"sentence\":\"{SENTENCE}\"")));
    for form in ["text", "markdown"] {
        assert!(forms[form].replace('\n', " ").contains(SENTENCE), "{form}");
    }
    for form in ["text", "markdown"] {
        for equation in ["index i = 1024;", "n = 1024 (argument)"] {
            assert!(forms[form].contains(equation), "{form}: {equation}: {}", forms[form]);
        }
    }
    // By the kernel's model: i counts from 1000, the address of x[1024] is 4096 bytes behind x.
    for (name, form) in &forms {
        for part in
            ["1000..1024 (+1)", "flat_load_dword v2, v[0:1]", "0x7f0000201000", "float xi = x[i];", "stride"]
        {
            assert!(form.contains(part), "{name} lacks {part}");
        }
    }
    let json: Value = serde_json::from_str(&forms["json"]).unwrap();
    assert_eq!(json["schema"], "lanescope.report/1");
    let inside = forms["html"].split_once("id=\"report\">").unwrap().1.split_once("</script>").unwrap().0;
    assert_eq!(serde_json::from_str::<Value>(inside).unwrap(), json);
}

/// The words of a mark and of a missing value are those of the page and of `print`.
#[test]
fn marks_and_reasons_have_one_form() {
    let forms_of = |name: &str| forms(&model(&open(&crate::fixtures::fixtures().join("dumps").join(name))));
    let possible = forms_of("saxpy-gfx90a-O0");
    for form in ["html", "text", "markdown"] {
        assert!(
            possible[form].contains("possible") && !possible[form].contains("possibly faulting"),
            "{form}"
        );
    }
    assert!(possible["text"].contains("X possible: 24"), "{}", possible["text"]);
    let optimized = forms_of("saxpy-gfx90a-O2");
    for form in ["text", "markdown"] {
        let text = &optimized[form];
        assert!(text.contains("n = <optimized out> [it has no DW_AT_location]  lanes 0-63"), "{text}");
    }
}

/// 80 columns and the cause in the first lines.
#[test]
fn text_fits_a_log() {
    let core = crate::cores::core("gfx90a-unified");
    let others = sampled(few_expected(), 6).map(|(_, path, _)| path).chain([core]);
    let others = others.map(|path| model(&open(&path)));
    for model in [of_demo(), model(&hang())].into_iter().chain(others) {
        let first = first_screen(&model, Style::Plain);
        assert!(first.lines().count() <= 21, "{first}");
        for line in first.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let all = text(&model, Style::Plain);
        let long: Vec<&str> = all.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{long:#?}");
    }
}

/// The source keeps its indentation, numbers and waves: by the fixture's source.
#[test]
fn source_lines_are_those_of_the_file() {
    let source =
        fs::read_to_string(concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/kernels/saxpy.hip")).unwrap();
    let model = of_demo();
    let shown = model.wave.unwrap().source.unwrap();
    assert_eq!(shown.lines.len(), 15);
    for line in &shown.lines {
        assert_eq!(line.text, source.lines().nth(line.number as usize - 1).unwrap().trim_end());
        assert_eq!(line.is_current, line.number == 54);
    }
    // Waves of the fixture: 1 at line 54, 6 at 55, 3 at 57, 4 at 61.
    let waves: Vec<u64> = shown.lines.iter().filter(|line| line.waves == 1).map(|line| line.number).collect();
    assert!(waves.starts_with(&[54, 55, 57]), "{waves:?}");
}

#[test]
fn barriers_are_those_of_the_case() {
    let cases = cases::load_hangs();
    let mut compared = 0;
    for case in sampled(cases.hangs.iter().filter(|case| !case.groups.is_empty()), 5) {
        let dump = cases.open(case, cases::Moment { distance: 0, has_report: false, lacks_memory: false });
        let model = model(&dump);
        let found: Vec<_> =
            model.barriers.iter().map(|of| (of.workgroup, of.waiting.clone(), of.missing.clone())).collect();
        let expected = case.groups.iter().filter(|of| !of.waiting.is_empty());
        let expected: Vec<_> =
            expected.map(|of| (of.workgroup, of.waiting.clone(), of.missing.clone())).collect();
        assert_eq!(found, expected, "{}", case.name);
        assert!(model.waves.iter().all(|row| row.wait.is_some()), "{}", case.name);
        compared += found.len();
    }
    assert!(compared > 5, "{compared}");
}

/// Values of the demo by the kernel's model: two of `bits`, one of `ticket`, the argument `stride`, bytes of x.
const VALUES: [&str; 5] = ["2654435761", "4294967296", "500", "00 00 7c 41", "1063"];

#[test]
fn values_are_left_out_on_request() {
    let demo = open(&crate::support::root().join("tests/fixtures/demo.zip"));
    for (name, form) in forms(&of_demo()).iter().filter(|(name, _)| **name != "json") {
        assert!(VALUES.iter().all(|value| form.contains(value)), "{name}");
    }
    for (name, form) in forms(&model_with(&demo, Options { no_values: true, ..Options::default() })) {
        // The grid has 500 work-items, and the instructions have numbers.
        for value in VALUES.iter().filter(|value| **value != "500") {
            assert!(!form.contains(value), "{name} has {value}");
        }
        assert!(!form.contains("= 500") && !form.contains("= 1024") && !form.contains("x[1024]"), "{name}");
        assert!(form.contains("left out") || name == "json", "{name}");
        assert!(crate::fixtures::one_line(&form).contains("saxpy reads x[i], right past"), "{name}");
    }
    let without = model_with(&hang(), Options { no_values: true, ..Options::default() });
    assert_eq!((without.fault.cause.as_deref(), without.analysis), (Some("hang"), None));
    for (name, form) in forms(&model_with(&demo, Options { no_global: true, ..Options::default() })) {
        assert!(!form.contains("00 00 7c 41") && !form.contains("stride = 500"), "{name}");
        // Variables in registers and private memory stay.
        assert!(form.contains("2654435761"), "{name}");
    }
}

/// Fixtures, and faults with a report.
fn some_dumps() -> Vec<(String, Arc<Dump>)> {
    let mut all: Vec<(String, Arc<Dump>)> = vec![("hang".to_owned(), hang())];
    all.extend(sampled(few_expected(), 4).map(|(name, path, _)| (name, open(&path))));
    let cases = faults();
    for (index, case) in sampled(cases.faults.iter().enumerate(), 5) {
        let moment = cases::Moment { distance: index / 5 % 3, has_report: true, lacks_memory: false };
        all.push((case.name.clone(), cases.open(case, moment)));
    }
    all
}

/// The texts of values in a page of an analysis with values: `n = 1024`, `x[1024]`.
fn values_of_terms(dump: &Arc<Dump>) -> Vec<String> {
    let sessions = sessions(dump);
    let sessions: Vec<&dyn Inspect> = sessions.iter().map(|session| session as &dyn Inspect).collect();
    let triage = lanescope::triage::triage(&sessions, &lanescope::triage::Question::default());
    let mut texts = Vec::new();
    for term in triage.suspects.iter().filter_map(|suspect| suspect.term.as_ref()) {
        let variables = term.equal.iter().chain(&term.bounds).chain([&term.pointer]);
        let variables = variables.filter(|of| !of.value.is_empty());
        texts.extend(variables.map(|of| format!("{} = {}", of.name, of.value)));
        if has_number(&term.expression) {
            texts.push(term.expression.clone());
        }
    }
    texts
}

/// Whether a text has a number as a value or as an index: `= 7`, `index -1`, `x[7]`, `x[4 * lane]`.
fn has_number(text: &str) -> bool {
    ["= ", "index ", "["].iter().any(|before| {
        let mut after = text.split(before).skip(1);
        after.any(|after| after.starts_with(|first: char| first.is_ascii_digit() || first == '-'))
    })
}

/// No form has a value of a variable: neither as such nor as an index or a pattern of the address. The lines of the text
/// with values fit 80 columns; both are asked of each dump, since its code is decoded once.
#[test]
fn values_of_all_dumps_are_left_out_on_request_and_lines_fit_80_columns() {
    let (mut compared, mut hidden, mut wrong) = (0, 0, Vec::new());
    for (name, dump) in some_dumps() {
        wrong.extend(long_lines(&dump).into_iter().map(|line| format!("{name}: {line}")));
        let without = model_with(&dump, Options { no_values: true, ..Options::default() });
        let sentence = &without.fault.sentence;
        assert!(!has_number(sentence), "{name}: {sentence}");
        for evidence in without.fault.evidence.iter().filter(|of| ["Pointer", "Also"].contains(&&*of.label)) {
            assert!(!evidence.texts.iter().any(|text| has_number(text)), "{name}: {evidence:?}");
        }
        hidden += usize::from(sentence.contains("[...]"));
        // A loop of the source begins with `i = 0`.
        let source = without.wave.as_ref().and_then(|wave| wave.source.as_ref());
        let is_source =
            |value: &str| source.is_some_and(|of| of.lines.iter().any(|line| line.text.contains(value)));
        let forms = forms(&without);
        for value in values_of_terms(&dump).iter().filter(|value| !is_source(value)) {
            compared += 1;
            for (form, text) in &forms {
                assert!(!text.contains(value), "{name}, {form}: {value}");
            }
        }
    }
    assert!(compared > least(100, 15) && hidden > least(3, 0), "{compared} values, {hidden} indexes");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Wrong lines of the text: one is longer than 80 columns only if it has no blank behind its indent.
fn long_lines(dump: &Arc<Dump>) -> Vec<String> {
    let options =
        "--log 'a folder with a long name and blanks/output of the program.txt' --code-object other.hsaco";
    let command =
        |_: &Step| Some(format!("lanescope locals some/folder/of/dumps/core.1234 {options} --lane 3"));
    let sessions = sessions(dump);
    let sessions: Vec<&dyn Inspect> = sessions.iter().map(|session| session as &dyn Inspect).collect();
    let model = postmortem::model(dump, &sessions, Options::default(), &Rules::default(), &command);
    let text = text(&model, Style::Plain);
    let is_long =
        |line: &&str| line.chars().count() > 80 && line.trim().contains(' ') && !line.contains('\'');
    text.lines().filter(is_long).map(str::to_owned).collect()
}

/// No folder, host or command of the machine, unless asked for.
#[test]
fn paths_and_hosts_stay_at_home() {
    const SECRETS: [&str; 4] = ["secret-folder", "secret-host", "secret-command", "secret-log"];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret-folder").join("crash");
    copy_dump("saxpy-gfx90a-O0", &path);
    let manifest = path.join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text
        .replace(
            "[provenance]\n",
            "[provenance]\nhost = \"secret-host\"\ncommand = \"/opt/secret-command --x\"\nnotes = [\"on secret-host: /var/secret-log/run.txt is cut\"]\n",
        )
        .replace("file:///fixtures/", "file:///srv/secret-folder/")
        .replace("[[wave]]\n", "[[wave]]\nbad_key = 1\n")
        + "\n[[fault]]\nkind = \"page\"\naddress = \"0x7f0000201000\"\nplace = { file = \"/var/secret-log/run.txt\", line = 7 }\n";
    fs::write(&manifest, text).unwrap();
    let dump = open(&path);
    for (name, form) in forms(&model(&dump)) {
        for secret in SECRETS {
            assert!(!form.contains(secret), "{name} has {secret}");
        }
        assert!(form.contains("run.txt"), "{name}: the file keeps its name");
    }
    let kept = forms(&model_with(&dump, Options { with_paths: true, ..Options::default() }));
    assert!(SECRETS.iter().all(|secret| kept["html"].contains(secret)));
}

/// A relative path names folders, too.
#[test]
fn relative_paths_lose_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("secret-o")).unwrap();
    fs::create_dir_all(folder.path().join("secret-s/symbols")).unwrap();
    fs::copy(crate::fixtures::fixtures().join("demo.zip"), folder.path().join("secret-o/oob.zip")).unwrap();
    let report = |form: &str, options: &[&str]| {
        let mut command = crate::support::lanescope();
        command.current_dir(folder.path()).args([
            "report",
            "secret-o/oob.zip",
            "--symbols",
            "secret-s/symbols",
        ]);
        let output = command.args(["--format", form]).args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for form in ["text", "markdown", "html", "json"] {
        let text = report(form, &[]);
        assert!(!text.contains("secret-"), "{form}");
        assert!(text.contains("oob.zip"), "{form}");
    }
    assert!(report("markdown", &["--with-paths"]).contains("secret-o/oob.zip"));
}

/// docs/report.md: the extension decides, and no extension is text.
#[test]
fn an_unknown_extension_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let demo = crate::fixtures::fixtures().join("demo.zip");
    let report = |name: &str, options: &[&str]| {
        let path = folder.path().join(name);
        let words = [&["report", demo.to_str().unwrap(), "-o", path.to_str().unwrap()], options].concat();
        (lanescope(&words), path)
    };
    let (output, path) = report("r2.xyz", &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("r2.xyz: the extension names no form"),
        "{output:?}"
    );
    assert!(!path.exists());
    for (name, options, start) in
        [("r2.xyz", &["--format", "json"][..], "{"), ("r2", &[], "saxpy reads"), ("r2.HTML", &[], "<!")]
    {
        let (output, path) = report(name, options);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(fs::read_to_string(path).unwrap().starts_with(start), "{name}");
    }
}

/// Names of C++ and messages are long; a row of a log is not.
#[test]
fn text_folds_long_names_and_messages() {
    let mut model = of_demo();
    let long = "void space::kernel<float, 4, space::Layout<2, 3>>(float const *, ".repeat(4);
    let message = "no variables: the code object of the PC is not available, ".repeat(3);
    model.dispatches[0].kernel = Some(long.clone());
    model.dispatches[0].problem = Some(message.clone());
    model.code_objects[0].name = long.clone();
    model.memory[0].spans[0].name = Some(long.clone());
    model.stacks[0].causes[0].0 = message.clone();
    model.stacks[0].frames[0].function = Some(long.clone());
    let wave = model.wave.as_mut().unwrap();
    wave.variables_problem = Some(message.clone());
    (wave.state, wave.stack[0].function) = (message.clone(), Some(long));
    wave.code.as_mut().unwrap().problems = vec![message.clone()];
    let mut without_code = model.clone();
    let wave = without_code.wave.as_mut().unwrap();
    (wave.code, wave.code_problem) = (None, Some(message));
    for model in [model, without_code] {
        let all = text(&model, Style::Plain);
        let wide: Vec<&str> = all.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        assert!(all.matches("space::Layout<2,").count() >= 4, "{all}");
    }
}

#[test]
fn equal_dumps_give_equal_bytes() {
    assert_eq!(forms(&of_demo()), forms(&of_demo()));
    let size = html(&of_demo()).len();
    assert!(size <= 300_000, "{size} bytes for the demo");
}

/// Names are no Markdown: fences are longer than the backticks of a text, and long parts end with their rest.
#[test]
fn markdown_is_bounded_and_fenced() {
    let mut model = of_demo();
    let text = "```` <img src=x> @someone #12 ".repeat(3);
    model.problems = vec![ProblemRow { severity: "warning", text: text.clone() }; 16];
    for variable in &mut model.wave.as_mut().unwrap().variables {
        variable.rules = vec![variable.rules[0].clone(); 400];
    }
    let all = markdown(&model).unwrap();
    assert!(all.chars().count() < 60_000, "{}", all.chars().count());
    assert!(all.contains("more lines"));
    // CommonMark: a fence ends at a line with at least as many backticks as at its start.
    let mut fence: Option<String> = None;
    let mut outside = String::new();
    for line in all.lines() {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        match &fence {
            None if ticks >= 3 => fence = Some("`".repeat(ticks)),
            None => outside += line,
            Some(open) if line.chars().all(|c| c == '`') && ticks >= open.len() => fence = None,
            Some(_) => {}
        }
    }
    assert_eq!(fence, None);
    let outside =
        outside.replace("<details><summary>", "").replace("</summary>", "").replace("</details>", "");
    assert!(outside.chars().all(|c| c.is_alphabetic() || c == ' '), "{outside}");
}

/// A dump without waves, and one without a cause.
#[test]
fn dumps_without_a_cause_have_a_report() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("manifest.toml"), "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n")
        .unwrap();
    let empty = model(&open(folder.path()));
    assert_eq!((empty.wave.is_none(), empty.waves.len(), empty.fault.cause.as_deref()), (true, 0, None));
    for (name, form) in forms(&empty) {
        assert!(form.contains("no wave was read from the dump"), "{name}: {form}");
    }
}

/// The hashes of the page's policy, by Python's hashlib.
#[test]
fn the_policy_allows_the_style_and_the_script() {
    let script = "import base64, hashlib, sys; print(base64.b64encode(hashlib.sha256(sys.stdin.buffer.read()).digest()).decode())";
    for (text, hash, name) in [(STYLE, STYLE_HASH, "report.css"), (SCRIPT, SCRIPT_HASH, "report.js")] {
        let mut python = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        assert_eq!(found.trim(), hash, "the hash of {name} in src/postmortem/html/mod.rs");
    }
}

#[test]
fn the_extension_chooses_the_form() {
    let folder = tempfile::tempdir().unwrap();
    let starts = [
        ("r.html", "<!doctype html>"),
        ("r.md", "```text\nsaxpy reads"),
        ("r.txt", "saxpy reads"),
        ("r.json", "{\n  \"schema\""),
    ];
    for (name, start) in starts {
        let path = folder.path().join(name);
        let output = lanescope(&["report", "-o", path.to_str().unwrap()]);
        assert!(output.status.success(), "{output:?}");
        assert!(fs::read_to_string(&path).unwrap().starts_with(start), "{name}");
        // docs/signatures.md: the version, and a hash.
        assert!(fs::read_to_string(&path).unwrap().contains("ls1:"), "{name}");
        // The log has the cause.
        assert!(one_line(&String::from_utf8(output.stdout).unwrap()).contains(SENTENCE), "{name}");
    }
    let piped = lanescope(&["report", "-o", "-", "--format", "html"]);
    assert_eq!(piped.stdout, fs::read(folder.path().join("r.html")).unwrap());
    // A long name of a dump is whole.
    let dump = folder.path().join(format!("{} of {}.zip", "crash".repeat(9), "a test".repeat(9)));
    fs::copy(crate::fixtures::fixtures().join("demo.zip"), &dump).unwrap();
    let named = lanescope(&["report", dump.to_str().unwrap(), "--format", "text"]);
    let named = one_line(&String::from_utf8(named.stdout).unwrap());
    assert!(
        named.contains(&format!("Dump {} (lanescope dump 1)", dump.file_name().unwrap().to_str().unwrap())),
        "{named}"
    );
    let dump = folder.path().join("dump.json");
    fs::copy(concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/demo.zip"), &dump).unwrap();
    let before = fs::read(&dump).unwrap();
    let output = lanescope(&["report", dump.to_str().unwrap(), "-o", dump.to_str().unwrap()]);
    assert_eq!((output.status.code(), fs::read(&dump).unwrap()), (Some(1), before));
    let output = lanescope(&["report", "-o", folder.path().join("no/r.html").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
}

/// A small dump has what its report needs.
#[test]
fn small_dumps_have_the_report_of_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small.zip");
    let demo = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/demo.zip");
    assert!(lanescope(&["slim", demo, "-o", small.to_str().unwrap()]).status.success());
    let json = |dump: &str| -> Value {
        let output = lanescope(&["report", dump, "--format", "json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (of_demo, of_small) = (json(demo), json(small.to_str().unwrap()));
    for member in ["fault", "wave", "stacks", "waves", "dispatches", "code_objects"] {
        assert_eq!(of_small[member], of_demo[member], "{member}");
    }
    assert_eq!(of_small["memory"][0]["accesses"], of_demo["memory"][0]["accesses"]);
    // Of a core, a small dump leaves out waves and the memory map: the fault, its wave and the signatures stay.
    for name in sampled(["gfx90a-unified", "gfx1100", "gfx1030-wave32", "gfx942-multi-xcc"], 2) {
        let (core, small) = (crate::cores::core(name), folder.path().join(format!("{name}.zip")));
        let [core, small] = [&core, &small].map(|path| path.to_str().unwrap());
        assert!(lanescope(&["slim", core, "-o", small]).status.success(), "{name}");
        let (of_core, of_small) = (json(core), json(small));
        assert_eq!(of_small["fault"]["sentence"], of_core["fault"]["sentence"], "{name}");
        for member in ["signatures", "wave"] {
            assert_eq!(of_small[member], of_core[member], "{name}: {member}");
        }
    }
}

/// clang 22 writes no rules into `.debug_frame`, so the callers in this dump come from the code of the functions.
#[test]
fn inferred_callers_have_marks_in_each_form() {
    let dump = crate::fixtures::fixtures().join("dumps/call-gfx90a-O0");
    let model = model(&open(&dump));
    let stack = &model.wave.as_ref().unwrap().stack;
    let marks: Vec<Option<&str>> = stack.iter().map(|frame| frame.inferred.as_deref()).collect();
    let mark = "inferred: caller by code";
    assert!(marks.len() > 1);
    assert_eq!(marks[0], None);
    assert!(marks[1..].iter().all(|found| *found == Some(mark)), "{marks:?}");
    let forms = forms(&model);
    let section = forms["html"].split_once("id=\"h-stack\"").unwrap().1.split_once("</ol>").unwrap().0;
    let items: Vec<bool> = section.split("<li>").skip(1).map(|item| item.contains(mark)).collect();
    assert_eq!(items, marks.iter().map(Option::is_some).collect::<Vec<_>>(), "{section}");
    for form in ["markdown", "text"] {
        assert!(forms[form].matches(mark).count() >= marks.len() - 1, "{}", forms[form]);
    }
    let json: Value = serde_json::from_str(&forms["json"]).unwrap();
    let of_json: Vec<Option<&str>> =
        json["wave"]["stack"].as_array().unwrap().iter().map(|frame| frame["inferred"].as_str()).collect();
    assert_eq!(of_json, marks);
}

/// The models have the locations of variables: `fbreg` in a kernel, which has no frame base at -O2.
#[test]
fn variables_in_inferred_places_have_marks_in_each_form() {
    let mark = "inferred: kernel's frame at 0";
    let (mut marked, mut unmarked) = (0, 0);
    // On gfx9 no wave of the model is in the kernel: also the long run has nothing to compare there.
    for name in ["call-gfx1030-O2", "call-gfx1100-O2", "call-gfx1200-O2"] {
        let (path, expected) = expected_of(name);
        let model = model(&open(&path));
        let wave = model.wave.as_ref().unwrap();
        let truth = expected["waves"].as_array().unwrap().iter().find(|of| of["id"] == wave.id).unwrap();
        if wave.frame != 0 || truth["function"] != "call" {
            continue;
        }
        let forms = forms(&model);
        let json: Value = serde_json::from_str(&forms["json"]).unwrap();
        for variable in truth["locals"].as_array().unwrap() {
            let place = format!("{name} {}", variable["name"]);
            let at = wave.variables.iter().position(|of| variable["name"] == *of.name).expect(&place);
            let is_in_frame =
                variable["location"].as_str().is_some_and(|location| location.starts_with("DW_OP_fbreg"));
            let wanted = Some(mark).filter(|_| is_in_frame && variable["state"] == "ok");
            assert_eq!(wave.variables[at].inferred.as_deref(), wanted, "{place}");
            assert_eq!(json["wave"]["variables"][at]["inferred"].as_str(), wanted, "{place}");
            let heading = forms["html"].split("<h3>").find(|part| {
                part.strip_prefix(variable["name"].as_str().unwrap())
                    .is_some_and(|rest| rest.starts_with([' ', '<']))
            });
            let heading = heading.expect(&place).split_once("</h3>").unwrap().0;
            let heading = heading.replace("&#39;", "'").replace("&#x27;", "'").replace("&apos;", "'");
            assert_eq!(heading.contains(mark), wanted.is_some(), "{place}: {heading}");
            marked += usize::from(wanted.is_some());
            unmarked += usize::from(wanted.is_none());
        }
        let count = wave.variables.iter().filter(|of| of.inferred.is_some()).count();
        for form in ["markdown", "text"] {
            assert!(forms[form].matches(mark).count() >= count, "{name}: {}", forms[form]);
        }
    }
    assert!(marked > 3 && unmarked > 3, "{marked}, {unmarked}");
}

/// The picture has the address that the sentence names first: of many bad addresses, and by lane.
#[test]
fn the_sentence_and_the_picture_have_one_address() {
    let mut compared = 0;
    let cores = ["gfx90a-unified", "gfx1100", "gfx942-multi-xcc", "gfx1030-wave32"];
    let others = sampled(few_expected(), 3).map(|(_, path, _)| path);
    for path in cores.map(crate::cores::core).into_iter().chain(others) {
        let model = model(&open(&path));
        let Some((_, named)) = model.fault.sentence.split_once(" at 0x") else { continue };
        let digits = named.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(named.len());
        let address = u64::from_str_radix(&named[..digits], 16).unwrap();
        let Some(picture) = model.memory.first().filter(|of| of.space == "global") else { continue };
        assert_eq!(picture.address.0, address, "{}: {}", path.display(), model.fault.sentence);
        compared += 1;
    }
    assert!(compared > 0);
}
