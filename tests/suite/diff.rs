//! `lanescope diff`: two dumps that differ in known values, as exact text; data of only one dump; exit status.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cores::{SAMPLES, core, expected, part};
use crate::fixtures::{copy_dump, fixtures, one_line};
use crate::slim::{Scratch, lanescope};
use crate::support::sample::sampled;

/// The fixture with all values in the manifest, and a copy with changed values.
struct Pair {
    scratch: Scratch,
    a: PathBuf,
    b: PathBuf,
}

impl Pair {
    fn new(name: &str, changes: &[(&str, &str)]) -> Self {
        let scratch = Scratch::new(name);
        let text = fs::read_to_string(fixtures().join("dumps/inline.toml")).unwrap();
        let code = "diverge-gfx1100-O2/diverge-gfx1100-O2.hsaco";
        fs::create_dir_all(scratch.path("diverge-gfx1100-O2")).unwrap();
        fs::copy(fixtures().join("dumps").join(code), scratch.path(code)).unwrap();
        let (a, b) = (scratch.path("a.toml"), scratch.path("b.toml"));
        fs::write(&a, &text).unwrap();
        let changed = changes.iter().fold(text, |text, (old, new)| {
            assert!(text.contains(old), "{old}");
            text.replacen(old, new, 1)
        });
        fs::write(&b, changed).unwrap();
        Self { scratch, a, b }
    }

    fn diff(&self, more: &[&str]) -> (Option<i32>, String) {
        diff(&self.a, &self.b, more)
    }

    /// The first two lines of text.
    fn head(&self) -> String {
        format!("--- {}\n+++ {}\n", self.a.display(), self.b.display())
    }
}

fn diff(a: &Path, b: &Path, more: &[&str]) -> (Option<i32>, String) {
    let mut arguments = vec!["diff", a.to_str().unwrap(), b.to_str().unwrap()];
    arguments.extend(more);
    let output = lanescope(&arguments);
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code(), text)
}

/// Changes in the manifest: the first wave's stop, a register of the second (`value`), and a missing one of the third.
const CHANGES: &[(&str, &str)] = &[
    ("stop = [\"breakpoint\"]", "stop = [\"memory_violation\"]"),
    ("v2 = [32, 39, 46, 53, 60, 3,", "v2 = [33, 40, 46, 54, 61, 4,"),
    ("vcc = \"0x4050140\"\n", ""),
];

#[test]
fn a_dump_does_not_differ_from_itself() {
    let pair = Pair::new("diff-same", &[]);
    assert_eq!(pair.diff(&[]), (Some(0), "No differences in 8 pairs.\n".to_owned()));
    let (status, text) = pair.diff(&["--json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &answer["same"], &answer["compared"]), (Some(0), &json!(true), &json!(8)));
}

#[test]
fn differences_are_printed_exactly() {
    let pair = Pair::new("diff-words", CHANGES);
    let expected = pair.head()
        + "wave 1, in diverge:\n\
        \x20 stopped for: breakpoint -> memory_violation\n\
        wave 2, in diverge:\n\
        \x20 v2: 5 lanes differ: 0-1, 3-5\n\
        \x20   lane 0: 0x20 -> 0x21\n\
        \x20   lane 1: 0x27 -> 0x28\n\
        \x20   lane 3: 0x35 -> 0x36\n\
        \x20   lane 4: 0x3c -> 0x3d\n\
        \x20 ... and 1 more (--all shows all)\n\
        \x20 variables of frame 0:\n\
        \x20   int value:\n\
        \x20     lane 0: 32 -> 33\n\
        \x20     lane 1: 39 -> 40\n\
        \x20     lane 3: 53 -> 54\n\
        \x20     lane 4: 60 -> 61\n\
        \x20   ... and 1 more (--all shows all)\n\
        wave 3, in diverge:\n\
        \x20 vcc: 0x4050140 -> not captured\n\
        3 of 8 pairs compared differ.\n";
    assert_eq!(pair.diff(&[]), (Some(1), expected));
    let (_, all) = pair.diff(&["--all"]);
    assert!(all.contains("    lane 5: 0x3 -> 0x4\n") && all.contains("      lane 5: 3 -> 4\n"), "{all}");
    assert!(!all.contains("more"), "{all}");
}

#[test]
fn json_has_all_of_it() {
    let pair = Pair::new("diff-json", CHANGES);
    let (status, text) = pair.diff(&["--json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &answer["alone"]), (Some(1), &json!([[], []])));
    let pairs = answer["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    assert_eq!(pairs[0]["stop_reasons"], json!([["breakpoint"], ["memory_violation"]]));
    let lanes = [(0, 0x20), (1, 0x27), (3, 0x35), (4, 0x3c), (5, 0x3)];
    let hex = lanes
        .map(|(lane, was)| json!({"lane": lane, "values": [format!("{was:#x}"), format!("{:#x}", was + 1)]}));
    assert_eq!(pairs[1]["registers"], json!([{"name": "v2", "lanes": hex, "values": null}]));
    let values =
        lanes.map(|(lane, was)| json!({"lane": lane, "values": [was.to_string(), (was + 1).to_string()]}));
    let variable = json!({"name": "value", "type": "int", "lanes": values});
    assert_eq!(pairs[1]["frames"][0]["variables"], json!([variable]));
    assert_eq!(pairs[2]["registers"], json!([{"name": "vcc", "lanes": null, "values": ["0x4050140", null]}]));
}

#[test]
fn waves_are_paired_by_place_and_by_hand() {
    // Ids differ; work-groups and the positions in them are equal.
    let pair = Pair::new("diff-pairs", &[("[[wave]]\nid = 1\n", "[[wave]]\nid = 11\n")]);
    assert_eq!(pair.diff(&[]).0, Some(0));
    let (status, text) = pair.diff(&["--wave", "1:11"]);
    assert_eq!((status, text.as_str()), (Some(0), "No differences in 1 pair.\n"));
    // Two waves of one dump.
    let (status, text) = pair.diff(&["--wave", "1:2"]);
    assert!(status == Some(1) && text.contains("\nwave 1 and wave 2, in diverge:\n"), "{text}");
    let (status, text) = pair.diff(&["--wave", "1"]);
    assert_eq!(status, Some(2));
    assert_eq!(
        text,
        format!(
            "lanescope: {} has no wave with the id 1; `lanescope waves` lists the ids\n",
            pair.b.display()
        )
    );
    let (status, text) = diff(&pair.a, &pair.scratch.path("nothing"), &[]);
    assert!(status == Some(2) && text.contains("nothing: No such file"), "{text}");
}

/// Wave 1 of the second dump faulted, and wave 3 of both; waves 2 and 3 differ in values.
#[test]
fn a_word_chooses_pairs_by_their_stops() {
    let pair = Pair::new("diff-faulted", CHANGES);
    let (status, text) = pair.diff(&["--wave", "faulted"]);
    let waves: Vec<&str> = text.lines().filter(|line| line.starts_with("wave ")).collect();
    assert_eq!((status, waves), (Some(1), vec!["wave 1, in diverge:", "wave 3, in diverge:"]), "{text}");
    assert_eq!(pair.diff(&["--wave", "all"]), pair.diff(&[]));
    let (status, text) = pair.diff(&["--wave", "all", "--wave", "1"]);
    assert!(status == Some(2) && text.contains("take no other --wave"), "{text}");
}

#[test]
fn stacks_of_one_dump_alone_are_reported() {
    let pair = Pair::new("diff-alone", &[]);
    let cut = pair.scratch.path("cut");
    let output = lanescope(&["slim", pair.a.to_str().unwrap(), "-o", cut.to_str().unwrap(), "-w", "1-3,5-8"]);
    assert!(output.status.success());
    let (status, text) = diff(&pair.a, &cut, &[]);
    let lost = format!(
        "- 1 wave of {} without a counterpart in the other dump (wave 4)\n#0  diverge (",
        pair.a.display()
    );
    assert!(status == Some(1) && one_line(&text).contains(&one_line(&lost)), "{text}");
    assert!(text.ends_with("0 of 7 pairs compared differ.\n"), "{text}");
    // Two builds of one kernel: inlined in one, not in the other.
    let dumps = fixtures().join("dumps");
    let (status, text) = diff(&dumps.join("lds-gfx90a-O0"), &dumps.join("lds-gfx90a-O2"), &[]);
    let text = one_line(&text);
    assert_eq!((status, text.matches("2 waves of ").count()), (Some(1), 2), "{text}");
    assert_eq!(text.matches("with a stack that the other dump lacks (waves 1-2)").count(), 2, "{text}");
    // Two GPUs have no common waves.
    let (a, b) = (dumps.join("lds-gfx90a-O0"), dumps.join("lds-gfx1100-O0"));
    let (status, text) = diff(&a, &b, &[]);
    let words = format!(
        "lanescope: {} has waves of gfx90a:wave64 and {} has waves of gfx1100:wave32: waves of different kinds are compared \
         only where --wave A:B pairs them\n",
        a.display(),
        b.display()
    );
    assert_eq!((status, text), (Some(2), words));
    assert_eq!(diff(&a, &b, &["--wave", "1:1"]).0, Some(1));
}

/// Lines and PCs of waves differ, but not their functions: statements about all of them hold for each.
#[test]
fn waves_at_several_places_are_headed_by_none_of_them() {
    let folder = Scratch::new("diff-places");
    let whole = core("gfx90a-unified");
    let lines: Vec<(u64, u64, u64)> = expected("gfx90a-unified")["waves"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|wave| {
            let at = &wave["writer"]["location"];
            let id = wave["ordinal"].as_u64()? + 1;
            (at["function"] == "leaf")
                .then(|| (id, at["line"].as_u64().unwrap(), wave["pc"].as_u64().unwrap()))
        })
        .collect();
    let [(first, line, pc), (second, other_line, other_pc)] = lines[..] else { panic!("{lines:?}") };
    assert_ne!((line, pc), (other_line, other_pc));
    let left = folder.path("left");
    let left_waves = "2-5";
    let output =
        lanescope(&["slim", whole.to_str().unwrap(), "-o", left.to_str().unwrap(), "-w", left_waves]);
    assert!(output.status.success());
    let (status, text) = diff(&whole, &left, &[]);
    let head = format!(
        "- 2 waves of {} with a stack that the other dump lacks (waves {first}, {second})\n#0  leaf (PCs differ) ",
        whole.display()
    );
    assert!(status == Some(1) && one_line(&text).contains(&one_line(&head)), "{text}");
    assert!(!text.contains(&format!("{pc:#x}")) && !text.contains(&format!("{other_pc:#x}")), "{text}");
}

/// `mine` of linked.hip has four bytes of padding behind `one`, at 0x34 of private memory. Lane 5 has another `one`, too.
#[test]
fn padding_of_all_lanes_is_one_line() {
    let folder = Scratch::new("diff-padding");
    let (whole, other) = (fixtures().join("dumps/linked-gfx90a-O0"), folder.path("other"));
    copy_dump("linked-gfx90a-O0", &other);
    let private = other.join("private.bin");
    let mut bytes = fs::read(&private).unwrap();
    // The dwords of 64 lanes stand side by side.
    bytes[0x34 * 64..][..10 * 4].iter_mut().for_each(|byte| *byte ^= 0xff);
    assert_eq!(bytes[0x30 * 64 + 5 * 4], 35);
    bytes[0x30 * 64 + 5 * 4] = 36;
    fs::write(&private, bytes).unwrap();
    let (status, text) = diff(&whole, &other, &["--wave", "1"]);
    let lines = "Shared mine (inferred: caller by code): lane 5: {one = 35, two = 5, three = {0.5, 2.5}} -> {one = 36, two = 5, three = {0.5, 2.5}} \
                 lanes 0-4, 6-9: same text, other bytes; byte 4 of the first: 97 -> 68";
    assert!(status == Some(1) && one_line(&text).contains(lines), "{text}");
    // JSON names the bytes of each lane.
    let (_, text) = diff(&whole, &other, &["--wave", "1", "--json"]);
    let mine = variables(&text).into_iter().find(|variable| variable["name"] == "mine").unwrap();
    let lanes = mine["lanes"].as_array().unwrap();
    assert_eq!(lanes.len(), 10);
    assert_eq!(lanes[0]["values"][1], "{one = 20, two = 5, three = {0.5, 2.5}} [byte 4: 68]");
}

/// A sample's copy with every dword of private memory changed.
fn other_memory(name: &str, folder: &Scratch) -> PathBuf {
    let mut bytes = fs::read(core(name)).unwrap();
    let segments = expected(name)["segments"].as_array().unwrap().clone();
    let scratch = segments.iter().find(|segment| segment["name"] == "scratch1").unwrap();
    let [at, size] = ["off", "filesz"].map(|key| scratch[key].as_u64().unwrap() as usize);
    bytes[at..at + size].iter_mut().step_by(4).for_each(|byte| *byte ^= 1);
    let path = folder.path("other.core");
    fs::write(&path, bytes).unwrap();
    path
}

/// Differing variables of all pairs, with the names of their frames.
fn variables(text: &str) -> Vec<Value> {
    let answer: Value = serde_json::from_str(
        text.lines()
            .find(|line| line.starts_with('{'))
            .map_or(text, |_| &text[text.find('{').unwrap()..=text.rfind('}').unwrap()]),
    )
    .unwrap();
    let pairs = answer["pairs"].as_array().unwrap().clone();
    let frames = pairs.iter().flat_map(|pair| pair["frames"].as_array().unwrap());
    frames.flat_map(|frame| frame["variables"].as_array().cloned().unwrap_or_default()).collect()
}

#[test]
fn two_gpu_cores_alone_have_variables_with_their_code_objects() {
    let folder = Scratch::new("diff-cores");
    let (a, b) = (core("gfx90a-split"), other_memory("gfx90a-split", &folder));
    let code = fixtures().join("gpucore/code");
    let (status, text) = diff(&a, &b, &["--json"]);
    assert_eq!((status, variables(&text)), (Some(0), Vec::new()), "{text}");
    let file = code.join("k-gfx90a-O0.hsaco");
    let (code, file) = (code.to_str().unwrap(), file.to_str().unwrap());
    for with in [
        &["--symbols", code][..],
        &["--code-object", file],
        &["--a-code-object", file, "--b-code-object", file],
    ] {
        let (status, text) = diff(&a, &b, &[with, &["--json"]].concat());
        assert!(status == Some(1) && !variables(&text).is_empty(), "{with:?}: {text}");
        // The same core twice has the same variables.
        assert_eq!(diff(&a, &a, with).0, Some(0), "{with:?}");
    }
    let (status, text) = diff(&a, &b, &["--symbols", code, "--r-version", "9", "--b-r-version", "10"]);
    assert!(status == Some(1) && text.contains("variables of frame 0"), "{text}");
}

#[test]
fn each_core_may_have_a_host_core() {
    let folder = Scratch::new("diff-hosts");
    let (whole, other) = (core("gfx90a-unified"), other_memory("gfx90a-unified", &folder));
    let split = |whole: &Path, name: &str, host: bool| {
        let path = folder.path(name);
        fs::write(&path, part("gfx90a-unified", &fs::read(whole).unwrap(), host)).unwrap();
        path
    };
    let (a, b) = (split(&whole, "a", false), split(&other, "b", false));
    let host = split(&whole, "host", true);
    let host = host.to_str().unwrap();
    let lacking = |text: &str| text.matches("the list of code objects is in the host's memory").count();
    let (_, text) = diff(&a, &b, &["--verbose"]);
    assert_eq!(lacking(&text), 2, "{text}");
    let (_, text) = diff(&a, &b, &["--verbose", "--b-host-core", host]);
    assert_eq!(lacking(&text), 1, "{text}");
    for with in [&["--a-host-core", host, "--b-host-core", host][..], &["--host-core", host]] {
        let (status, text) = diff(&a, &b, with);
        assert!(status == Some(1) && lacking(&text) == 0, "{text}");
        assert!(text.contains("variables of frame 0"), "{text}");
    }
}

/// A dump of a core has less data about positions of waves: each wave still matches itself.
#[test]
fn a_core_and_its_own_dump_are_paired_wave_by_wave() {
    for name in sampled(SAMPLES, 2) {
        let folder = Scratch::new(&format!("diff-own-{name}"));
        let slim = folder.path("slim.zip");
        let whole = core(name);
        let output =
            lanescope(&["slim", whole.to_str().unwrap(), "--all-waves", "-o", slim.to_str().unwrap()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = lanescope(&["diff", whole.to_str().unwrap(), slim.to_str().unwrap(), "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["alone"], json!([[], []]), "{name}");
        let waves = expected(name)["waves"].as_array().unwrap().len();
        assert_eq!(answer["compared"], json!(waves), "{name}");
        for pair in answer["pairs"].as_array().unwrap() {
            assert_eq!(pair["waves"][0], pair["waves"][1], "{name}: {pair}");
        }
    }
}

#[test]
fn a_pair_that_is_named_twice_is_compared_once() {
    let dump = fixtures().join("dumps/lds-gfx90a-O0");
    let compare = |pairs: &[&str]| -> serde_json::Value {
        let path = dump.to_str().unwrap();
        let mut command = crate::support::lanescope();
        command.args(["diff", path, path, "--json"]);
        command.args(pairs.iter().flat_map(|pair| ["--wave", *pair]));
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let once = compare(&["1:2", "2:1"]);
    assert_eq!((&once["compared"], once["pairs"].as_array().unwrap().len()), (&serde_json::json!(2), 2));
    assert_eq!(once, compare(&["1:2", "2:1", "1:2", "2:1"]));
}
