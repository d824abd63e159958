//! The draft dialect end to end: the fixture's code object with other numbers, with and without a file of numbers.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::fixtures::{copy_dump, expected_of, fixtures, one_line};
use crate::server::framed;
use crate::variables::compare;

const DUMP: &str = "draft-ops-gfx1100";

/// A temporary folder.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    /// A copy of the dump over another code object.
    fn with(name: &str, code: &[u8]) -> Self {
        let folder = std::env::temp_dir().join(format!("lanescope-draft-{name}-{}", std::process::id()));
        let dump = folder.join("dumps").join(DUMP);
        copy_dump(DUMP, &dump);
        fs::write(dump.join("draft_ops-gfx1100.hsaco"), code).unwrap();
        Self(folder)
    }

    fn dump(&self) -> PathBuf {
        self.0.join("dumps").join(DUMP)
    }
}

fn code(name: &str) -> Vec<u8> {
    fs::read(fixtures().join("code").join(name)).unwrap()
}

fn renumbered() -> Vec<u8> {
    code("draft_ops-gfx1100-renumbered.hsaco")
}

fn numbers() -> PathBuf {
    fixtures().join("kernels/renumbered.toml")
}

fn run(args: &[&str], path: &Path) -> Output {
    crate::support::lanescope().args(args).arg(path).output().unwrap()
}

fn json(output: &Output) -> Value {
    let words = || String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", words()))
}

fn expected() -> Vec<Value> {
    let (_, expected) = expected_of(DUMP);
    expected["waves"].as_array().unwrap().clone()
}

/// Compares the variables of all waves with the model, with these options.
fn agrees(options: &[&str], dump: &Path) {
    let mut wrong = Vec::new();
    for wave in expected() {
        let id = wave["id"].to_string();
        let args = [&["locals", "--json", "--lane", "all", "--wave", &id], options].concat();
        compare(Ok(json(&run(&args, dump))), &wave, &mut |text| wrong.push(format!("wave {id}: {text}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Requires that no variable of any lane has a value, and that each error has the operation's code.
fn has_no_values(options: &[&str], dump: &Path, codes: std::ops::RangeInclusive<u8>) {
    let mut count = 0;
    for wave in expected() {
        let id = wave["id"].to_string();
        let args = [&["locals", "--json", "--lane", "all", "--wave", &id], options].concat();
        let answer = json(&run(&args, dump));
        for variable in answer["variables"].as_array().unwrap() {
            for lane in variable["lanes"].as_array().unwrap() {
                let text = lane.to_string();
                let code = text.split_once("no operation 0x").map(|(_, rest)| &rest[..2]);
                let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
                assert!(lane["state"] == "error" && lane["value"].is_null(), "{text}");
                assert!(code.is_some_and(|code| codes.contains(&code)), "{text}");
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn other_numbers_of_a_file_give_the_same_values() {
    let folder = Folder::with("renumbered", &renumbered());
    let numbers = numbers();
    agrees(&["--draft", numbers.to_str().unwrap()], &folder.dump());
    has_no_values(&[], &folder.dump(), 0xb0..=0xbe);
    // Conversely, a file of numbers replaces the built-in ones.
    let own = fixtures().join("dumps").join(DUMP);
    has_no_values(&["--draft", numbers.to_str().unwrap()], &own, 0xe1..=0xf1);
}

#[test]
fn the_user_may_choose_the_draft_dialect_for_a_unit() {
    let mut bytes = code("draft_ops-gfx1100.hsaco");
    let at = bytes.windows(12).position(|bytes| bytes == b"[draft:v0.0]").unwrap();
    bytes[at..at + 12].copy_from_slice(b"[other:v0.0]");
    let folder = Folder::with("unsaid", &bytes);
    has_no_values(&[], &folder.dump(), 0xe1..=0xf1);
    agrees(&["--dialect", "draft"], &folder.dump());
    has_no_values(&["--dialect", "llvm-user"], &fixtures().join("dumps").join(DUMP), 0xe1..=0xf1);
}

#[test]
fn the_server_takes_the_numbers_too() {
    let folder = Folder::with("served", &renumbered());
    let numbers = numbers();
    for (wave, expected) in (1u64..).zip(expected()) {
        let packet = format!("qlanescope.Locals:thread:{wave:x};lane:3;");
        let mut server = crate::support::lanescope();
        server.args(["serve", "--stdio", "--draft"]).arg(&numbers).arg(folder.dump());
        let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        server.stdin.take().unwrap().write_all(&[b"+", framed(packet).as_slice(), b"+"].concat()).unwrap();
        let reply = String::from_utf8(server.wait_with_output().unwrap().stdout).unwrap();
        let reply = reply[reply.find('$').unwrap() + 1..reply.rfind('#').unwrap()].to_owned();
        // `}` escapes itself and the next byte.
        let mut text = Vec::new();
        let mut bytes = reply.bytes();
        while let Some(byte) = bytes.next() {
            text.push(if byte == b'}' { bytes.next().unwrap() ^ 0x20 } else { byte });
        }
        let answer: Value = serde_json::from_slice(&text).unwrap();
        let mut wrong = Vec::new();
        compare(Ok(answer), &expected, &mut |text| wrong.push(text));
        assert!(wrong.is_empty(), "wave {wave}: {}", wrong.join("\n"));
    }
}

#[test]
fn the_listing_names_what_the_drafts_have() {
    let listing = |args: &[&str], object: &str| {
        let output = run(&[&["dwarf"], args].concat(), &fixtures().join("code").join(object));
        String::from_utf8(output.stdout).unwrap()
    };
    // Without the bytes, which include the numbers.
    let words = |text: String| -> Vec<String> {
        let unfolded = text.replace("\n        ", " ");
        unfolded.lines().map(|line| line.split(" # ").next().unwrap().trim_end().to_owned()).collect()
    };
    let own = listing(&[], "draft_ops-gfx1100.hsaco");
    let folded = one_line(&own);
    // As in tests/fixtures/kernels/draft_ops.s.
    for words in [
        "DW_TAG_object_map <unnamed>, DW_AT_mem_location ",
        "DW_TAG_object_map <unnamed>, DW_AT_cntl_ordinal ",
        "DW_TAG_object_map <unnamed>, DW_AT_vec_location ",
        "DW_TAG_object_map <unnamed>, DW_AT_element_size all DW_OP_lit4 ",
        "DW_TAG_object_map <unnamed>, DW_AT_element_count all DW_OP_lit8 ",
        "DW_TAG_subprogram outer, DW_AT_num_lanes all DW_OP_constu 32; DW_OP_stack_value ",
        "DW_TAG_subprogram outer, DW_AT_lane_pc ",
        "DW_TAG_subprogram outer, DW_AT_active_lane ",
        "DW_OP_push_lane; DW_OP_object_map 0x",
        "DW_OP_lit4; DW_OP_lit4; DW_OP_overlay ",
        "DW_OP_lit5; DW_OP_lit11; DW_OP_bit_overlay ",
    ] {
        assert!(folded.contains(words), "{words}\n{own}");
    }
    assert!(!own.contains("Unknown") && !own.contains("error"), "{own}");
    let numbers = numbers();
    let with = ["--draft", numbers.to_str().unwrap()];
    let other = listing(&with, "draft_ops-gfx1100-renumbered.hsaco");
    assert_eq!(words(other), words(own));
    let without = listing(&[], "draft_ops-gfx1100-renumbered.hsaco");
    assert!(!without.contains("DW_TAG_object_map") && without.contains("no operation 0xbc"), "{without}");
}

#[test]
fn an_expression_in_a_wave_takes_the_numbers_too() {
    let folder = Folder::with("evaluated", &renumbered());
    let numbers = numbers();
    // Element 8 of `dst` with chunk 1 loaded: 100 in lane 0 by the model; with the listing's offset of the map.
    let listing = run(&["dwarf"], &fixtures().join("code/draft_ops-gfx1100.hsaco"));
    let listing = String::from_utf8(listing.stdout).unwrap();
    let (_, map) = listing.split_once("DW_OP_push_lane; DW_OP_object_map ").unwrap();
    let expression = format!("DW_OP_lit8; DW_OP_object_map {}", map.split_whitespace().next().unwrap());
    let eval = |options: &[&str], dump: PathBuf| {
        let mut command = crate::support::lanescope();
        command.arg("eval").args(options).args(["--wave", "1", "--lane", "5", "--size", "4"]).arg(dump);
        let output = command.arg(&expression).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let own = eval(&[], fixtures().join("dumps").join(DUMP));
    assert!(own.0 && own.1.contains("VGPR2 lane 0") && own.1.contains("64 00 00 00"), "{own:?}");
    assert_eq!(eval(&["--draft", numbers.to_str().unwrap()], folder.dump()), own);
    let without = eval(&[], folder.dump());
    assert!(!without.1.contains("64 00 00 00"), "{without:?}");
}

#[test]
fn lanes_beyond_those_of_the_function_have_no_value() {
    let dump = fixtures().join("dumps").join(DUMP);
    let answer = json(&run(&["locals", "--json", "--lane", "all", "--wave", "4"], &dump));
    let variable = &answer["variables"].as_array().unwrap()[2];
    assert_eq!(variable["name"], "dst_i");
    for (number, lane) in variable["lanes"].as_array().unwrap().iter().enumerate() {
        // DW_AT_num_lanes of `scale` is 8.
        assert_eq!(lane["state"], if number < 8 { "ok" } else { "error" }, "{lane}");
    }
}

#[test]
fn a_bad_file_of_numbers_ends_every_command() {
    let folder = Folder::with("bad", b"");
    let file = folder.0.join("numbers.toml");
    fs::write(&file, "[attributes]\nnum_lanes = 0x3f85\nlane_pc = 0x11\n").unwrap();
    let missing = folder.0.join("missing.toml");
    let own = fixtures().join("dumps").join(DUMP);
    let object = fixtures().join("code/draft_ops-gfx1100.hsaco");
    let cases = crate::support::root().join("tests/eval/draft.toml");
    let commands: [(&[&str], &Path); 5] = [
        (&["locals"], &own),
        (&["export"], &own),
        (&["serve", "--stdio"], &own),
        (&["dwarf"], &object),
        (&["eval", "--cases"], &cases),
    ];
    for (command, path) in commands {
        for (numbers, why) in
            [(&file, "line 3: attributes.lane_pc: 0x11 is taken by DW_AT_low_pc"), (&missing, "No such file")]
        {
            let output = run(&[&["--draft", numbers.to_str().unwrap()], command].concat(), path);
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{command:?}: {error}");
            assert!(error.contains(numbers.to_str().unwrap()) && error.contains(why), "{command:?}: {error}");
            assert!(output.stdout.is_empty());
        }
    }
}
