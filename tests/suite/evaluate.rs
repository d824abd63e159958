//! `lanescope eval` over the fixtures: a user's expressions in a wave, compared with the models.
//!
//! The expressions come from the expected files: llvm-dwarfdump's text of a location, or addresses of memory that the
//! model wrote. The expected bytes are the model's.

use std::process::{Command, Output};

use lanescope::dwarf::Class;
use lanescope::report::evaluation;
use lanescope::session::{
    EvaluateError, Evaluation, Expression, Found, MAX_READ_BYTES, Question, Session, Variables as _, Want,
    Waves as _,
};
use lanescope::units::{LaneId, LaneSet, WaveId};
use serde_json::Value;

use crate::fixtures::{each_wave, each_wave_of, few_expected, fixtures, one_line, open, session};
use crate::support::{least, newest};

fn ask(session: &Session, wave: WaveId, text: &str, want: Want) -> Evaluation {
    let expression = Expression::Text(text.to_owned());
    let question = Question { expression, dialect: None, want, explain: false };
    let lanes = session.kind().wave_size.all();
    session.evaluate(wave, lanes, &question).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// An expression with LLVM's operations in the dialect of the wave's code: the drafts' names omit `LLVM_`.
fn spelt(text: &str, wave: &Value) -> String {
    match wave["locals"][0]["form"] == "draft" {
        true => text.replace("LLVM_", ""),
        false => text.to_owned(),
    }
}

const fn location(size: Option<u64>) -> Want {
    Want::Location { size, legacy: false }
}

const IDIOM: Want = Want::Location { size: None, legacy: true };

/// `bytes` of each lane in the JSON; null if missing.
fn bytes(evaluation: &Evaluation) -> Vec<Value> {
    let json = crate::json_of(evaluation::json(evaluation));
    json["lanes"].as_array().unwrap().iter().map(|lane| lane["bytes"].clone()).collect()
}

/// The variables of a wave with bytes, each with its lanes.
fn variables(expected: &Value) -> impl Iterator<Item = (&Value, Vec<(usize, &str)>)> {
    let lanes: Vec<usize> = expected["lanes"].as_array().into_iter().flatten().map(index).collect();
    expected["locals"].as_array().into_iter().flatten().filter_map(move |variable| {
        let bytes = variable["bytes"].as_array()?;
        let known = lanes.iter().zip(bytes).filter_map(|(lane, bytes)| Some((*lane, bytes.as_str()?)));
        Some((variable, known.collect()))
    })
}

fn index(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// llvm-dwarfdump's text of an expression in our notation: semicolons, no plus signs, type offsets without names.
fn ours(text: &str) -> String {
    let operations = text.split(", ").map(|operation| {
        let operation = operation.split(" \"").next().unwrap().replace(['(', ')'], "");
        operation.replace('+', " ")
    });
    operations.collect::<Vec<_>>().join("; ")
}

/// The first register of an expression: `VGPR6`, or a number.
fn register(text: &str) -> &str {
    text.strip_prefix("DW_OP_bregx ").unwrap().split(['+', ' ']).next().unwrap()
}

/// A variable in a register is the lane's slot of it, by an expression independent of the idiom.
#[test]
fn registers_hold_the_variables_of_the_models() {
    let count = std::cell::Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        for (variable, lanes) in variables(expected).filter(|(variable, _)| variable["form"] == "register") {
            let register = register(variable["location"].as_str().unwrap());
            let text = format!(
                "DW_OP_regx {register}; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset"
            );
            let size = lanes.first().map(|(_, bytes)| bytes.len() as u64 / 2);
            let got = bytes(&ask(session, wave, &text, location(size)));
            for (lane, bytes) in lanes {
                count.set(count.get() + 1);
                if got[lane] != bytes {
                    let name = &variable["name"];
                    wrong(format!("{name} lane {lane} by {text}: expected {bytes}, got {}", got[lane]));
                }
            }
        }
    });
    assert!(count.get() > least(1000, 500), "only {} lanes were compared", count.get());
}

/// Every location that clang wrote, with clang's meaning.
#[test]
fn locations_as_written_hold_the_variables_of_the_models() {
    let count = std::cell::Cell::new(0);
    each_wave_of(few_expected(), |session, wave, expected, wrong| {
        for (variable, lanes) in variables(expected) {
            let Some(text) = variable["location"].as_str().map(ours) else { continue };
            let size = lanes.first().map(|(_, bytes)| bytes.len() as u64 / 2);
            let want = Want::Location { size, legacy: true };
            let got = bytes(&ask(session, wave, &text, want));
            for (lane, bytes) in lanes {
                count.set(count.get() + 1);
                if got[lane] != bytes {
                    let name = &variable["name"];
                    wrong(format!("{name} lane {lane} by {text}: expected {bytes}, got {}", got[lane]));
                }
            }
        }
    });
    assert!(count.get() > least(10_000, 2_000), "only {} lanes were compared", count.get());
}

/// Memory of each space by its address: the lane's own through the focused lane, and through the space with a lane.
#[test]
fn memory_of_every_space_is_what_the_models_wrote() {
    let count = std::cell::Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        for (key, space) in [("private_lane", 5), ("private_wave", 6), ("lds", 3), ("global", 0)] {
            for piece in expected[key].as_array().into_iter().flatten() {
                // Missing bytes are null: one is requested.
                let known = piece["bytes"].as_str();
                let bytes = known.unwrap_or("xx");
                let size = bytes.len() as u64 / 2;
                let address = match &piece["address"] {
                    Value::String(hex) => hex.clone(),
                    number => number.to_string(),
                };
                let lane = piece["lane"].as_u64();
                let mut check = |text: String, size| {
                    count.set(count.get() + 1);
                    let found = ask(session, wave, &spelt(&text, expected), location(Some(size)));
                    let got = self::bytes(&found)[lane.unwrap_or(0) as usize].clone();
                    if got != bytes {
                        wrong(format!("{text} lane {lane:?}: expected {bytes}, got {got}"));
                    }
                };
                match space {
                    // A value becomes a location in global memory.
                    0 => check(format!("DW_OP_constu {address}"), size),
                    _ => check(format!("constu {address}; constu {space}; LLVM_form_aspace_address"), size),
                }
                if let (5, Some(lane)) = (space, lane) {
                    let named = 0x20 + lane;
                    check(format!("constu {address}; constu {named}; LLVM_form_aspace_address"), size);
                }
            }
        }
    });
    assert!(count.get() > 50, "only {} pieces were compared", count.get());
}

/// Operations of the extensions as values: the lane, and the PC of the model's stop.
#[test]
fn values_are_the_lane_and_the_pc() {
    each_wave(|session, wave, expected, wrong| {
        let twice = spelt("DW_OP_LLVM_push_lane; DW_OP_lit2; DW_OP_mul", expected);
        let lanes = ask(session, wave, &twice, Want::Value);
        // A function of the draft fixture has eight lanes, by its DW_AT_num_lanes; some of masks.s have fewer than 64.
        let eight = expected["locals"][0]["form"] == "draft" && expected["function"] == "scale";
        let beyond = expected["beyond"].as_array().and_then(|beyond| beyond.first()?.as_u64());
        let bound = beyond.unwrap_or(if eight { 8 } else { 64 }) as usize;
        for (lane, found) in
            crate::json_of(evaluation::json(&lanes))["lanes"].as_array().unwrap().iter().enumerate()
        {
            if lane >= bound {
                if found["result"]["class"] != "ill-formed" {
                    wrong(format!("lane {lane} of {bound}: {found}"));
                }
            } else if found["result"]["value"] != format!("{:#x}", lane * 2) {
                wrong(format!("twice lane {lane}: {found}"));
            }
        }
        let pc = ask(session, wave, "DW_OP_bregx PC_64 0", Want::Value);
        let found = crate::json_of(evaluation::json(&pc))["lanes"][0]["result"].clone();
        match expected["pc"].as_str() {
            Some(pc) if found["value"] != pc => wrong(format!("PC: expected {pc}, got {found}")),
            None if found["class"] != "unavailable" => wrong(format!("PC: expected none, got {found}")),
            _ => {}
        }
    });
}

/// Wave 5 of absent-gfx90a has no PC: registers and memory exist; answers from debug information have the reason.
#[test]
fn without_a_pc_only_what_needs_it_is_missing() {
    let dump = open(&fixtures().join("dumps/absent-gfx90a"));
    let (session, wave) = session(&dump, 5);
    let found = ask(&session, wave, "DW_OP_regx VGPR3", location(None));
    assert_eq!(found.pc, None);
    assert!(bytes(&found)[0].is_string());
    let why = "the PC of wave 5 was not captured";
    for (text, lacks) in [
        ("DW_OP_fbreg 0", "function"),
        ("DW_OP_addr 0x1000", "load address"),
        ("DW_OP_addrx 0", "debug information"),
        ("DW_OP_call4 0x20", "debug information"),
        ("DW_OP_regval_type VGPR0 0x2b", "debug information"),
    ] {
        let found = ask(&session, wave, text, location(None));
        let Found::Failed { error, words } = &found.lanes[7].found else { panic!("{text}: {found:?}") };
        assert_eq!(error.class(), Class::Unavailable, "{text}");
        assert_eq!(error.at.0, 0, "{text}");
        assert!(words.ends_with(&format!(": no {lacks}: {why}")), "{text}: {words}");
    }
    // Wave 1 has a PC in debug information, but no private memory.
    let (session, wave) = self::session(&dump, 1);
    assert!(matches!(
        ask(&session, wave, "DW_OP_addr 0x1000", location(None)).lanes[0].found,
        Found::Location { .. }
    ));
    let slot =
        ask(&session, wave, "DW_OP_lit16; DW_OP_lit5; DW_OP_LLVM_form_aspace_address", location(Some(4)));
    assert_eq!(bytes(&slot)[3], "xxxxxxxx");
    // Wave 3 has no s33, the frame register.
    let (session, wave) = self::session(&dump, 3);
    let found = ask(&session, wave, "DW_OP_lit0; DW_OP_drop; DW_OP_fbreg 0", location(None));
    let Found::Failed { error, .. } = &found.lanes[0].found else { panic!("{found:?}") };
    assert_eq!((error.class(), error.at.0, error.op), (Class::Unavailable, 2, "DW_OP_fbreg"));
}

/// The expression's text or the location determines the number of bytes.
#[test]
fn sizes_come_from_the_location_or_the_user() {
    let dump = open(&fixtures().join("demo.zip"));
    let (session, wave) = session(&dump, 1);
    let one = |text: &str, want| bytes(&ask(&session, wave, text, want))[17].clone();
    assert_eq!(one("DW_OP_regx 17; DW_OP_piece 3; DW_OP_piece 2", location(None)), "ffffff....");
    assert_eq!(one("DW_OP_implicit_value [01 02 03]", location(None)), "010203");
    assert_eq!(one("DW_OP_lit5; DW_OP_stack_value", location(None)), "0500000000000000");
    assert_eq!(one("DW_OP_lit5; DW_OP_stack_value", location(Some(1))), "05");
    assert_eq!(one("DW_OP_lit5", location(None)), Value::Null);
    assert_eq!(one("DW_OP_LLVM_undefined", location(Some(2))), "....");
    // Of a whole vector register the lane's slot at the location; more on request.
    let all = one("DW_OP_regx VGPR3", location(Some(256)));
    let all = all.as_str().unwrap();
    assert_eq!(all.len(), 512);
    assert_eq!(one("DW_OP_regx VGPR3", location(None)), all[..8]);
    assert_eq!(one("DW_OP_regx VGPR3; DW_OP_LLVM_offset_uconst 70", location(None)), all[140..144]);
    let beyond = ask(&session, wave, "DW_OP_implicit_value [01]", location(Some(2)));
    let Found::Location { unread: Some(why), .. } = &beyond.lanes[0].found else { panic!("{beyond:?}") };
    assert!(why.contains("beyond") || why.contains("bits"), "{why}");
    // The limit on the reads of one question.
    let asking = |size| {
        let expression = Expression::Bytes(vec![0x30]);
        let question = Question { expression, dialect: None, want: location(Some(size)), explain: false };
        session.evaluate(wave, LaneSet::one(LaneId(0)), &question)
    };
    assert_eq!(bytes(&asking(MAX_READ_BYTES).unwrap())[0], "xx".repeat(4096));
    let error = asking(MAX_READ_BYTES + 1).unwrap_err();
    assert_eq!(error, EvaluateError::TooManyBytes(4097));
    // Of a longer location its beginning.
    let long = ask(&session, wave, "DW_OP_regx 17; DW_OP_piece 4; DW_OP_piece 5000", location(None));
    let shown = evaluation::text(&long, Default::default());
    assert!(shown.ends_with(".. (4096 of 5004 bytes)\n"), "{}", &shown[shown.len() - 80..]);
    assert!(shown.starts_with("lanes 0-63: [EXEC_MASK_64"), "{}", &shown[..80]);
    assert_eq!(one("DW_OP_fbreg 0; DW_OP_lit5; DW_OP_swap; DW_OP_xderef", IDIOM), Value::Null);
}

fn run(arguments: &[&str]) -> Output {
    crate::support::lanescope().args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const SLOT: &str = "DW_OP_regx VGPR3; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset";

/// The demo's lanes of v3 hold 4 * i of the model's i, which is 1000 + the lane (tests/fixtures/expected/demo.json).
#[test]
fn the_command_prints_lanes_and_bytes() {
    let output = run(&["eval", "--wave", "1", "--lane", "2,16-17", SLOT]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = "lane 2: VGPR3 lane 2  a8 0f 00 00\nlane 16: VGPR3 lane 16  e0 0f 00 00\nlane 17: VGPR3 lane 17  e4 0f 00 00\n";
    assert_eq!(text(&output.stdout), lines);
    // The same bytes, assembled by hand from the specifications.
    let hex = "90 83 14 e9 03 34 1e e9 04";
    let output = run(&["eval", "--wave", "1", "--lane", "2,16,17", "--bytes", hex]);
    assert_eq!(text(&output.stdout), lines);
    // 25 lanes are active: a common value is one line.
    let output = run(&["eval", "--lane", "active", "--value", "DW_OP_lit6; DW_OP_lit7; DW_OP_mul"]);
    assert_eq!(text(&output.stdout), "lanes 0-24: 0x2a\n");
    let output = run(&["eval", "--json", "--lane", "17", SLOT]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = run(&["eval", "--lane", "63,5-7,0,6", "--value", "lit1"]);
    assert_eq!(text(&list.stdout), "lanes 0, 5-7, 63: 0x1\n");
    assert_eq!(json["expression_bytes"], hex.replace(' ', ""));
    assert_eq!(json["expression"], SLOT);
    assert_eq!(json["lanes"][0]["bytes"], "e40f0000");
    // VGPR3 of wave64 is register 2563 (AMDGPUUsage, "Register Identifier"), and lane 17 its bit 544.
    let part = &json["lanes"][0]["result"]["parts"][0];
    assert_eq!((&part["register"], &part["bit_offset"]), (&2563.into(), &544.into()));
    let explained = text(&run(&["eval", "--explain", "--lane", "3", SLOT]).stdout);
    assert!(
        explained.starts_with("lane 3:\n") && explained.contains("5 DW_OP_lit4: pushes a constant"),
        "{explained}"
    );
    assert!(explained.ends_with("lane 3: VGPR3 lane 3  ac 0f 00 00\n"), "{explained}");
    let other = text(&run(&["eval", "--dialect", "llvm-direct", "--bytes", "e2", "--value"]).stdout);
    assert_eq!(other, "lane 0: 0x0\n");
}

/// A failing expression is an answer; an unreadable one is marked at its error; a missing dump is neither.
#[test]
fn the_command_reports_the_error_and_its_place() {
    let fails = run(&["eval", "--lane", "all", "DW_OP_lit1; DW_OP_lit0; DW_OP_div"]);
    assert_eq!(fails.status.code(), Some(0));
    let said = text(&fails.stdout);
    assert!(said.starts_with("lanes 0-63: ill-formed: DW_OP_div at 2: "), "{said}");
    let decode = text(&run(&["eval", "--bytes", "30 e9"]).stdout);
    assert!(decode.starts_with("lane 0: decode: DW_OP_LLVM_user at 1: "), "{decode}");
    for (expression, at, mark) in [
        ("DW_OP_lit1; DW_OP_regy VGPR3", "1:13: no operation `DW_OP_regy`", 12),
        ("DW_OP_lit1; DW_OP_regx VGPRX", "1:24: ", 23),
        ("DW_OP_lit1 DW_OP_lit2", "1:12: ", 11),
        ("DW_OP_implicit_value [0", "1:22: ", 21),
    ] {
        let output = run(&["eval", expression]);
        assert_eq!(output.status.code(), Some(2), "{expression}");
        let said = text(&output.stderr);
        assert!(said.starts_with(&format!("lanescope: the expression at {at}")), "{said}");
        assert!(said.ends_with(&format!("\n    {expression}\n    {}^\n", " ".repeat(mark))), "{said}");
    }
    let demo = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/demo.zip");
    for wrong in
        [&["eval"][..], &["eval", demo], &["eval", "--bytes", "9"], &["eval", "--size", "4097", "lit0"]]
    {
        assert_eq!(run(wrong).status.code(), Some(2), "{wrong:?}");
    }
    for wrong in [
        &["eval", "/nowhere/dump", "DW_OP_lit0"][..],
        &["eval", "--wave", "99", demo, "DW_OP_lit0"],
        &["eval", "--lane", "64", demo, "DW_OP_lit0"],
        &["eval", "--lane", "9-3", demo, "DW_OP_lit0"],
        &["eval", "--lane", "some", demo, "DW_OP_lit0"],
    ] {
        assert_eq!(run(wrong).status.code(), Some(1), "{wrong:?}");
    }
    // Wave 4 of this dump has no EXEC.
    let absent = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/absent-gfx90a");
    let active = run(&["eval", "--wave", "4", "--lane", "active", absent, "DW_OP_lit0"]);
    assert_eq!(active.status.code(), Some(1));
    assert!(text(&active.stderr).contains("EXEC was not captured"), "{}", text(&active.stderr));
}

/// A dump's code objects are listed like its source files.
#[test]
fn dwarf_lists_the_code_objects_of_a_dump() {
    let folder = fixtures();
    let listed = |path: &str, more: &[&str]| {
        let output = run(&[&["dwarf", folder.join(path).to_str().unwrap()], more].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (_, file, _) = listed("code/saxpy-gfx90a-O0.hsaco", &[]);
    assert!(file.starts_with("unit "), "{file}");
    let (status, dump, problems) = listed("dumps/absent-gfx90a", &[]);
    assert_eq!(status, Some(0));
    let (head, rest) = dump.split_once("\n\n").unwrap();
    assert!(head.starts_with("code object ") && head.ends_with(" at 0x7f0000100000"), "{head}");
    assert_eq!(rest, file);
    assert!(problems.contains("library.so") && problems.contains("not available"), "{problems}");
    let (_, json, _) = listed("dumps/absent-gfx90a", &["--json"]);
    let (_, file, _) = listed("code/saxpy-gfx90a-O0.hsaco", &["--json"]);
    let (json, file): (Value, Value) =
        (serde_json::from_str(&json).unwrap(), serde_json::from_str(&file).unwrap());
    let objects = json["code_objects"].as_array().unwrap();
    assert_eq!(objects.len(), 2);
    assert_eq!((&objects[0]["units"], &objects[0]["frames"]), (&file["units"], &file["frames"]));
    assert!(objects[1]["problem"].as_str().unwrap().contains("not available"), "{}", objects[1]);
    assert_eq!(listed("demo.zip", &["--function", "saxpy"]).0, Some(0));
    assert_eq!(listed("demo.zip", &["--function", "nobody"]).0, Some(1));
    assert_eq!(listed("README.md", &[]).0, Some(1));
}

/// A wave of one manifest, stopped at that PC, with the given code objects.
fn stopped_at(name: &str, pc: &str, loaded: &str) -> std::path::PathBuf {
    let path = crate::support::own_folder().join(name);
    let manifest = format!(
        "format = 1\nagent = [{{ id = 1, target = \"gfx90a\" }}]\n{loaded}\n[[wave]]\nid = 1\nagent = 1\n\
         [wave.registers]\npc = \"{pc}\"\nexec = \"0x5\"\ns0 = \"0x2a\"\n"
    );
    std::fs::write(&path, manifest).unwrap();
    path
}

/// Code that was not captured, code without debug information, and a PC between functions.
#[test]
fn each_way_to_lack_debug_information_has_its_own_reason() {
    let stripped = crate::support::own_folder().join("stripped.hsaco");
    let whole = fixtures().join("code/saxpy-gfx90a-O0.hsaco");
    let tool = newest("llvm-objcopy");
    assert!(Command::new(tool).arg("--strip-debug").args([&whole, &stripped]).status().unwrap().success());
    std::fs::copy(&whole, stripped.with_file_name("whole.hsaco")).unwrap();
    let object = |name: &str| format!("[[code_object]]\npath = \"{name}\"\naddress = \"0x7f0000100000\"");
    let nowhere = stopped_at("nowhere.toml", "0x1234", "");
    let bare = stopped_at("stripped.toml", "0x7f0000102798", &object("stripped.hsaco"));
    // The file's first page has its headers: in the image, but in no function.
    let between = stopped_at("between.toml", "0x7f0000100000", &object("whole.hsaco"));
    let said = |dump: &std::path::Path, expression: &str| {
        let output = run(&["eval", dump.to_str().unwrap(), expression]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        one_line(&text(&output.stdout))
    };
    for dump in [&nowhere, &bare, &between] {
        let s0 = said(dump, "DW_OP_regx SGPR0");
        assert_eq!(s0, "lane 0: SGPR0 2a 00 00 00");
        assert_eq!(said(dump, "DW_OP_regx SGPR1"), "lane 0: SGPR1 xx xx xx xx");
    }
    let why = "no code object that can be read holds the PC 0x1234";
    assert_eq!(
        said(&nowhere, "DW_OP_fbreg 0"),
        format!("lane 0: unavailable: DW_OP_fbreg at 0: no function: {why}")
    );
    assert_eq!(
        said(&nowhere, "DW_OP_addr 16"),
        format!("lane 0: unavailable: DW_OP_addr at 0: no load address: {why}")
    );
    // A code object always has a load address.
    let bare_base = said(&bare, "DW_OP_fbreg 0");
    assert!(
        bare_base.contains("DW_OP_fbreg at 0: no function: ") && bare_base.contains("stripped"),
        "{bare_base}"
    );
    assert_eq!(said(&bare, "DW_OP_addr 16"), "lane 0: global+0x7f0000100010");
    assert_eq!(
        said(&between, "DW_OP_fbreg 0"),
        "lane 0: unavailable: DW_OP_fbreg at 0: no function: no function with debug information holds the PC"
    );
    assert_eq!(said(&between, "DW_OP_addr 16"), "lane 0: global+0x7f0000100010");
}

/// clang's idiom gives `first` of saxpy a vector register, of which each lane has a dword. With an 8-byte type the
/// upper half would be the next lane's dword.
#[test]
fn an_object_larger_than_a_lanes_dword_has_no_value() {
    let code = fixtures().join("code/saxpy-gfx90a-O2.hsaco");
    let folder = crate::support::own_folder().join("wide");
    std::fs::create_dir_all(&folder).unwrap();
    let (section, patched) = (folder.join("debug_info"), folder.join("wide.hsaco"));
    let listing = Command::new(newest("llvm-dwarfdump")).arg("--debug-info").arg(&code).output().unwrap();
    let listing = text(&listing.stdout);
    let int = listing.split("\n\n").find(|die| die.contains("DW_TAG_base_type") && die.contains("(\"int\")"));
    let offset = int.unwrap().trim_start().split(':').next().unwrap();
    let offset = usize::from_str_radix(offset.trim_start_matches("0x"), 16).unwrap();
    let objcopy = |option: String, to: &std::path::Path| {
        let status = Command::new(newest("llvm-objcopy")).arg(option).args([&*code, to]).status();
        assert!(status.unwrap().success());
    };
    objcopy(format!("--dump-section=.debug_info={}", section.display()), &patched);
    let mut info = std::fs::read(&section).unwrap();
    // Abbreviation, name, DW_ATE_signed and size in bytes, a byte each.
    assert_eq!(info[offset + 2..][..2], [5, 4]);
    info[offset + 3] = 8;
    std::fs::write(&section, info).unwrap();
    objcopy(format!("--update-section=.debug_info={}", section.display()), &patched);
    let dump = fixtures().join("dumps/saxpy-gfx90a-O2");
    for file in ["memory.bin", "registers.bin"] {
        std::fs::copy(dump.join(file), folder.join(file)).unwrap();
    }
    let manifest = std::fs::read_to_string(dump.join("manifest.toml")).unwrap();
    let manifest = manifest.replace("saxpy-gfx90a-O2.hsaco", "wide.hsaco");
    std::fs::write(folder.join("manifest.toml"), manifest).unwrap();
    let idiom = "DW_OP_bregx VGPR2 0; DW_OP_lit1; DW_OP_swap; DW_OP_xderef";
    let dump = folder.to_str().unwrap();
    for arguments in [
        &["locals", dump, "--lane", "3"][..],
        &["print", dump, "first", "--lane", "3"],
        &["eval", dump, "--legacy", "--size", "8", "--lane", "3", idiom],
    ] {
        let output = run(arguments);
        let said = one_line(&(text(&output.stdout) + &text(&output.stderr)));
        assert!(said.contains("64 bits in a register of 32"), "{arguments:?}: {said}");
    }
    let four = run(&["eval", dump, "--legacy", "--size", "4", "--lane", "3", idiom]);
    assert_eq!(text(&four.stdout), "lane 3: VGPR2 lane 3 (clang xderef)  03 00 00 00\n");
}
