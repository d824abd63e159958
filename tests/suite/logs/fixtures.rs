//! The committed texts, value by value; and logs of the fixture kernels with their code objects, against the models.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::writer::RULE;
use super::{export, folder, problems, run};
use crate::fixtures::one_line;

fn text(name: &str) -> PathBuf {
    crate::support::root().join("tests/fixtures/logs").join(name)
}

/// Values at JSON pointers. A register without any captured part has no key: its value here is null.
fn has(export: &Value, values: &[(&str, Value)]) {
    for (pointer, wanted) in values {
        let absent = if pointer.contains("/registers/") { Value::Null } else { json!("no such key") };
        assert_eq!(export.pointer(pointer).unwrap_or(&absent), wanted, "{pointer}");
    }
}

#[test]
fn the_agent_of_2018() {
    let export = export(&text("agent-2018.log"), &[]);
    let lanes = |values: [u32; 3]| {
        let [first, second, last] = values.map(|value| json!(super::model::le(value)));
        let mut lanes = vec![Value::Null; 64];
        (lanes[0], lanes[1], lanes[63]) = (first, second, last);
        Value::from(lanes)
    };
    has(
        &export,
        &[
            ("/agents/0/architecture", json!("gfx900")),
            ("/waves/0/pc", json!(0x11_01f0_b1a4_u64)),
            ("/waves/0/exec", json!(0xffff_ffff_u64)),
            ("/waves/0/stop_reasons", json!(["MEMORY_VIOLATION"])),
            ("/waves/0/registers/s0", json!("00040000")),
            ("/waves/0/registers/s7", json!("efbe0000")),
            ("/waves/0/registers/s8", Value::Null),
            ("/waves/0/registers/m0", json!("0c100000")),
            ("/waves/0/registers/v0", lanes([0x02f4_0094, 0x02f4_0098, 0x02f4_00fc])),
            ("/waves/0/registers/v3", lanes([0x02f3_c094, 0x02f3_c098, 0x02f3_c0fc])),
            ("/waves/0/coord", Value::Null),
            (
                "/workgroups/0/local",
                json!("0100000002000000030000000400000005000000060000000700000008000000"),
            ),
        ],
    );
    let said = problems(&export);
    assert!(said.iter().any(|problem| problem.contains("line 5: 15 more waves stopped here")), "{said:?}");
}

#[test]
fn the_agent_up_to_rocm_6_in_a_test_runners_output() {
    let path = text("agent-plain.log");
    let export = export(&path, &[]);
    has(
        &export,
        &[
            // The code object's name has it.
            ("/agents/0/architecture", json!("gfx908")),
            ("/waves/0/id", json!(7)),
            ("/waves/0/pc", json!(0x7f10_0000_2010_u64)),
            ("/waves/0/exec", json!(15)),
            ("/waves/0/stop_reasons", json!(["ASSERT_TRAP"])),
            ("/waves/0/coord", json!([5, 6, 7])),
            ("/waves/0/wave_in_group", json!(3)),
            ("/waves/0/registers/vcc", json!("0100000000000080")),
            ("/waves/0/registers/flat_scratch", json!("00000001ac7f8000")),
            ("/waves/0/registers/v0/7", json!("70000000")),
            ("/waves/0/registers/v0/8", Value::Null),
            ("/waves/0/registers/v1/1", json!("00000040")),
            ("/workgroups/0/local", json!("2222222211111111")),
            ("/workgroups/0/local_bytes", json!(8)),
            ("/code_objects/0/load_address", json!(0x7f10_0000_0000_u64)),
            ("/code_objects/0/uri", json!("file:///nowhere/axpy_gfx908.out#offset=4096&size=9000")),
        ],
    );
    let said = problems(&export);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains("file____nowhere_axpy_gfx908.out_offset_4096_size_9000 beside the log"),
        "{said:?}"
    );
    let info = one_line(&run(&["info", path.to_str().unwrap()]));
    assert!(info.contains("rocm-debug-agent log") && info.contains("1 wave of gfx908:wave64"), "{info}");
    assert!(info.contains("private and global memory are not in it"), "{info}");
    let waves = run(&["waves", path.to_str().unwrap()]);
    assert!(
        waves.contains("(5,6,7)/3") && waves.contains("abort or failed assertion") && waves.contains("4/64"),
        "{waves}"
    );
    let registers = run(&["registers", "-r", "vcc,s0", path.to_str().unwrap()]);
    assert!(registers.contains("8000000000000001") && registers.contains("f520c000"), "{registers}");
    let fault = &export["faults"][0];
    assert_eq!((&fault["kind"], &fault["source"]), (&json!("exception"), &json!("debug_agent")));
}

/// The code object is missing: function, lines and instructions are those of the agent's disassembly.
#[test]
fn the_agents_disassembly_names_frames_and_lists_code() {
    let path = text("agent-plain.log");
    let path = path.to_str().unwrap();
    let stack: Value = serde_json::from_str(&run(&["backtrace", "--json", path])).unwrap();
    let frame = &stack["frames"][0];
    let shown = ["function", "file", "line"].map(|key| frame[key].clone());
    assert_eq!(json!(shown), json!(["axpy(float*, float*, int)", "/nowhere/axpy.hip", 12]));
    assert_eq!(frame["problem"], json!("function and line by the capture's text"));
    let listing: Value = serde_json::from_str(&run(&["disassemble", "--json", path])).unwrap();
    let rows = |listing: &Value| {
        let keys = ["address", "size", "bytes", "text", "function", "offset", "line", "current"];
        let row = |one: &Value| keys.iter().map(|key| one[*key].clone()).collect::<Value>();
        listing["instructions"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let row = |address: &str, text: &str, offset: u64, current: bool| {
        json!([address, 4, null, text, "axpy(float*, float*, int)", offset, 12, current])
    };
    let all = [
        row("0x7f100000200c", "s_waitcnt vmcnt(0)", 12, false),
        row("0x7f1000002010", "s_trap 2", 16, true),
        row("0x7f1000002014", "s_endpgm", 20, false),
    ];
    assert_eq!(rows(&listing), all);
    assert_eq!(
        (&listing["start"], &listing["tool"]),
        (&json!("0x7f1000002000"), &json!("the capture's text"))
    );
    for (options, wanted) in [
        (&["--around", "0"][..], &all[1..2]),
        (&["--around", "1"], &all[..]),
        (&["--address", "0x7f1000002010", "--count", "5"], &all[1..]),
        (&["--count", "1"], &all[..1]),
        (&["--address", "0x7f1000002014"], &all[..]),
    ] {
        let listing = run(&[&["disassemble", "--json", path], options].concat());
        assert_eq!(rows(&serde_json::from_str(&listing).unwrap()), wanted, "{options:?}");
    }
    let text = run(&["disassemble", path]);
    assert!(text.contains("=> 0x00007f1000002010 <+16>:  s_trap 2"), "{text}");
    // A small dump keeps the text.
    for (name, option) in [("chosen", None), ("whole", Some("--whole"))] {
        let to = folder(&format!("text-{name}")).join("dump");
        let to = to.to_str().unwrap();
        run(&["slim", path, "-o", to].into_iter().chain(option).collect::<Vec<_>>());
        let kept: Value = serde_json::from_str(&run(&["disassemble", "--json", to])).unwrap();
        assert_eq!(rows(&kept), all, "{name}");
        let kept: Value = serde_json::from_str(&run(&["backtrace", "--json", to])).unwrap();
        assert_eq!(kept["frames"], stack["frames"], "{name}");
    }
}

/// llvm-objdump's output in reports of agents up to 2019: its addresses are relative to the code object, which the offset
/// of the PC locates. Headings and labels changed with the agent and with LLVM.
#[test]
fn the_disassembly_of_the_agent_of_2018() {
    let wave = "Memory access fault by GPU agent: AMD gfx900\nNode: 1\nAddress: 0x1502F3Cxxx (page not present;)\n\n\
                1 wavefront(s) found in XNACK error state @PC: 0x0000001100E01310\nprinting the first one: \n\n   \
                EXEC: 0x000000000000FFFF\n STATUS: 0x00412461\nTRAPSTS: 0x30000000\n     M0: 0x0000100C\n\n";
    let rows = "; /nowhere/store.cl:12\n; d[n / 2] = a[gid & 31]; // :7\n\
                \ts_waitcnt lgkmcnt(0)             // 00000000130C: BF8CC07F\n\
                \tflat_store_dword v[2:3], v0      // 000000001310: DC700000 00000002\nBB0_2:\n\
                ; /nowhere/store.cl:13\n\ts_endpgm                        // 000000001318: BF810000\n";
    let log = |name: &str, heading: &str, label: &str, end: &str| {
        let text = format!(
            "{wave}{heading}\n\n/nowhere/object_0:\tfile format ELF64-amdgpu-hsacobj\n\nDisassembly of section .text:\n\
             {label}\n{rows}\n{end}\n"
        );
        super::file(name, text).to_str().unwrap().to_owned()
    };
    let json = |command: &str, path: &str| -> Value {
        serde_json::from_str(&run(&[command, "--json", "--processor", "gfx900", path])).unwrap()
    };
    for (name, heading, label, end, function, start, offset) in [
        ("oldest", "Faulty Code Object:", "store:", "Faulty PC offset: 1310", "store", None, None),
        ("mangled", "Code Object:", "_Z5storePi:", "PC offset: 1310", "store(int*)", None, None),
        ("block", "Code Object:", "BB0_1:\n\nBB0_2:", "PC offset: 1310", "BB0_2", None, None),
        (
            "llvm-8",
            "Code Object:",
            "0000000000001100 store:",
            "PC offset: 1310",
            "store",
            Some("0x1100e01100"),
            Some(0x20c),
        ),
        (
            "llvm-10",
            "Code Object:",
            "0000000000001100 <store>:",
            "PC offset: 1310",
            "store",
            Some("0x1100e01100"),
            Some(0x20c),
        ),
    ] {
        let path = log(name, heading, label, end);
        let (stack, listing) = (json("backtrace", &path), json("disassemble", &path));
        let frame = &stack["frames"][0];
        let shown = ["function", "file", "line"].map(|key| frame[key].clone());
        assert_eq!(json!(shown), json!([function, "/nowhere/store.cl", 12]), "{name}");
        let row = |one: &Value| json!([one["address"], one["text"], one["line"], one["current"]]);
        let all: Vec<Value> = listing["instructions"].as_array().unwrap().iter().map(row).collect();
        let wanted = [
            json!(["0x1100e0130c", "s_waitcnt lgkmcnt(0)", 12, false]),
            json!(["0x1100e01310", "flat_store_dword v[2:3], v0", 12, true]),
            json!(["0x1100e01318", "s_endpgm", 13, false]),
        ];
        assert_eq!(all, wanted, "{name}");
        assert_eq!((&listing["function"], &listing["start"]), (&json!(function), &json!(start)), "{name}");
        assert_eq!(listing["instructions"][0]["offset"], json!(offset), "{name}");
    }
    // Without the offset, no address is known.
    let stack = json("backtrace", &log("cut", "Code Object:", "store:", "PC offset: 13 10"));
    assert_eq!(stack["frames"][0]["function"], Value::Null, "{stack}");
}

#[test]
fn the_agent_of_rocm_7_on_gfx12() {
    let export = export(&text("agent-kernargs.log"), &[]);
    has(
        &export,
        &[
            ("/agents/0/architecture", json!("gfx1200")),
            ("/waves/0/lanes", json!(32)),
            ("/waves/0/stop_reasons", json!([])),
            ("/waves/0/exec", json!(1)),
            // x is in ttmp9, y and z in ttmp7, the wave's number in ttmp8[29:25].
            ("/waves/0/coord", json!([1, 2, 3])),
            ("/waves/0/wave_in_group", json!(3)),
            ("/waves/0/registers/excp_flag_priv", json!("40000000")),
            ("/waves/0/registers/trap_ctrl", json!("00000000")),
            ("/dispatches/0/kernel", json!("spin(int*)")),
            ("/dispatches/0/group_segment_size", json!(8)),
            ("/dispatches/0/kernel_argument_segment_address", json!(0x7a08_21e0_0014_u64)),
            ("/workgroups/0/local_bytes", json!(32)),
            ("/memory/0", json!({ "address": 0x7a08_21e0_0014_u64, "size": 24, "name": "kernel arguments" })),
        ],
    );
    let said = problems(&export);
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn umr_in_columns() {
    let export = export(&text("umr-columns.txt"), &[]);
    has(
        &export,
        &[
            ("/agents/0/architecture", json!("gfx900")),
            ("/waves/0/pc", json!(0x1_000e_10cc_u64)),
            ("/waves/0/exec", json!(15)),
            ("/waves/0/sgpr_count", json!(32)),
            ("/waves/0/registers/s0", json!("000080bf")),
            ("/waves/0/registers/s4", Value::Null),
            ("/waves/0/registers/vcc", json!("feff7fbb9a99593f")),
            ("/waves/0/stop_reasons", Value::Null),
            ("/waves/1/exec", json!(u64::MAX)),
            ("/waves/1/registers/s0", Value::Null),
            // MEM_VIOL of TRAPSTS.
            ("/waves/1/stop_reasons", json!(["ADDRESS_ERROR"])),
            ("/memory/0", json!({ "address": 0x1_000e_10ac_u64, "size": 4, "name": "code" })),
            ("/memory/1", json!({ "address": 0x1_000e_10cc_u64, "size": 8, "name": "code" })),
        ],
    );
    assert!(export["waves"][1]["name"].as_str().unwrap().ends_with("se1.sh0.cu3.simd2.wave4"));
}

#[test]
fn umr_with_the_hardwares_names() {
    let export = export(&text("umr-hardware.txt"), &[]);
    has(
        &export,
        &[
            ("/agents/0/architecture", json!("gfx1201")),
            ("/waves/0/lanes", json!(32)),
            ("/waves/0/pc", json!(0x7a09_44aa_5604_u64)),
            ("/waves/0/registers/mode", Value::Null),
            ("/waves/0/registers/m0", json!("e09a6c0b")),
            ("/waves/0/registers/state_priv", json!("00400000")),
            ("/waves/0/registers/s2", Value::Null),
            ("/waves/0/registers/s105", json!("90adcd18")),
            ("/waves/0/registers/vcc", json!("01000000")),
            ("/waves/0/registers/ttmp4", json!("7dffa10c")),
            ("/memory/0/size", json!(12)),
        ],
    );
    assert_eq!(problems(&export), Vec::<&str>::new());
    // It has TTMP[0..7]; a work-group's position and a wave's number are in ttmp9 and ttmp8.
    let note = export["provenance"]["note"].as_str().unwrap();
    let why = "Work-groups are not known of 1 wave: ttmp8 and ttmp9, which would hold them, are not captured";
    assert!(note.ends_with(why), "{note}");
}

/// A log with the values of a fixture's model (tests/fixtures/expected), with its code object saved as by the agent.
struct Saved {
    log: PathBuf,
    object: PathBuf,
    expected: Value,
}

const URI: &str = "file:///nowhere/bin/program#offset=4096&size=1234";
const SAVED: &str = "file____nowhere_bin_program_offset_4096_size_1234";
const LOAD: u64 = 0x7f00_0010_0000;

pub(super) fn number(hex: &str) -> u64 {
    u64::from_str_radix(hex.trim_start_matches("0x"), 16).unwrap()
}

/// A register's value from its bytes in hex, lowest first.
fn value(bytes: &str) -> u64 {
    let digits: Vec<&str> = (0..bytes.len()).step_by(2).map(|at| &bytes[at..at + 2]).collect();
    number(&digits.into_iter().rev().collect::<String>())
}

/// The greatest end of a loaded segment, from llvm-readelf.
pub(super) fn image_end(object: &Path) -> u64 {
    let output = std::process::Command::new("llvm-readelf-22").args(["-lW"]).arg(object).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let loads = text.lines().filter(|line| line.trim_start().starts_with("LOAD"));
    let ends = loads.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        number(words[2]) + number(words[5])
    });
    ends.max().unwrap()
}

impl Saved {
    fn new(name: &str, fixture: &str) -> Self {
        let fixtures = crate::support::root().join("tests/fixtures");
        let expected = fs::read(fixtures.join(format!("expected/{fixture}.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let object = fixtures.join(format!("code/{fixture}.hsaco"));
        let end = LOAD + image_end(&object);
        let mut text = String::new();
        for wave in expected["waves"].as_array().unwrap() {
            let pc = wave["pc"].as_str().unwrap();
            text += &format!("\n{RULE}\nwave_{}: pc={pc} (stopped, reason: MEMORY_VIOLATION)\n", wave["id"]);
            text += "\nall registers:\n";
            for (name, bytes) in wave["registers"].as_object().unwrap() {
                text += &match bytes {
                    Value::String(bytes) => {
                        format!("{name:>14}: {:0width$x}\n", value(bytes), width = bytes.len())
                    }
                    Value::Array(lanes) => {
                        let lane = |(lane, bytes): (usize, &Value)| {
                            bytes.as_str().map(|bytes| format!(" [{lane}] {:08x}", value(bytes)))
                        };
                        format!(
                            "{name:>14}:{}\n",
                            lanes.iter().enumerate().filter_map(lane).collect::<String>()
                        )
                    }
                    _ => String::new(),
                };
            }
            text += &format!("\nDisassembly:\n    code object: {URI}\n    loaded at: [{LOAD:#x}-{end:#x}]\n");
            text += &format!(" => {pc}:    s_nop 0\n\nEnd of disassembly.\n");
        }
        let folder = folder(name);
        fs::write(folder.join("agent.log"), text).unwrap();
        Self { log: folder.join("agent.log"), object, expected }
    }

    fn save(&self) {
        fs::copy(&self.object, self.log.with_file_name(SAVED)).unwrap();
    }

    /// The variables of a wave, all lanes.
    fn locals(&self, wave: &Value) -> Value {
        let id = wave["id"].to_string();
        let said = run(&["locals", "--json", "--wave", &id, "--lane", "all", self.log.to_str().unwrap()]);
        serde_json::from_str(&said).unwrap()
    }
}

/// Variables in registers have the model's bytes; those in missing memory have a reason instead.
#[test]
fn variables_of_a_log_with_its_code_object_are_the_models() {
    let (mut shown, mut absent) = (0, 0);
    for fixture in
        ["saxpy-gfx90a-O2", "saxpy-gfx1100-O2", "lds-gfx1030-O2", "saxpy-gfx90a-O0", "call-gfx1200-O0"]
    {
        let saved = Saved::new(&format!("saved-{fixture}"), fixture);
        saved.save();
        for wave in saved.expected["waves"].as_array().unwrap() {
            let answer = saved.locals(wave);
            // The models have function names without the namespace.
            let function = wave["function"].as_str().unwrap();
            assert!(answer["function"].as_str().unwrap().ends_with(function), "{fixture}: {function}");
            assert_eq!(answer["line"], wave["line"], "{fixture}");
            let variables = answer["variables"].as_array().unwrap();
            for (model, variable) in wave["locals"].as_array().unwrap().iter().zip(variables) {
                let name = &model["name"];
                assert_eq!(variable["name"], *name, "{fixture}");
                let lanes = wave["lanes"].as_array().unwrap();
                let bytes = model["bytes"].as_array().cloned().unwrap_or_default();
                for (lane, bytes) in lanes.iter().zip(bytes) {
                    let answer = variable["lanes"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .find(|one| one["lane"] == *lane)
                        .unwrap();
                    match model["form"].as_str().unwrap() {
                        "register" | "constant" | "pieces" if model["state"] == "ok" => {
                            assert_eq!(answer["bytes"], bytes, "{fixture} {name} lane {lane}");
                            shown += 1;
                        }
                        "memory" => {
                            let why = answer["why"].as_str().unwrap_or_default();
                            assert_eq!(answer["value"], Value::Null, "{fixture} {name}: {answer}");
                            assert!(why.contains("not captured"), "{fixture} {name}: {answer}");
                            absent += 1;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    assert!(shown > 500 && absent > 1000, "{shown} {absent}");
}

/// The processor is that of the code object's header; all registers exist.
#[test]
fn the_code_object_determines_the_processor() {
    let saved = Saved::new("processor-of-object", "saxpy-gfx942-O2");
    saved.save();
    let export = export(&saved.log, &[]);
    assert_eq!(problems(&export), Vec::<&str>::new());
    assert_eq!(export["agents"].as_array().unwrap().len(), 1);
    assert_eq!(export["agents"][0]["gpu_id"], 1);
    assert_eq!(export["agents"][0]["architecture"], "gfx942");
    for (model, wave) in
        saved.expected["waves"].as_array().unwrap().iter().zip(export["waves"].as_array().unwrap())
    {
        for (name, bytes) in model["registers"].as_object().unwrap() {
            let bytes = match bytes {
                Value::Array(lanes) if lanes.iter().all(Value::is_string) => {
                    json!(lanes.iter().map(|lane| lane.as_str().unwrap()).collect::<String>())
                }
                other => other.clone(),
            };
            assert_eq!(wave["registers"][name], bytes, "{name}");
        }
        assert_eq!(wave["frames"][0]["line"], model["line"]);
    }
}

/// Places of the file: beside the log, in a symbol folder, given by name, at the URI's path.
#[test]
fn a_code_object_is_found_wherever_the_user_has_it() {
    let saved = Saved::new("wherever", "saxpy-gfx90a-O2");
    let state = |options: &[&str]| {
        let export = export(&saved.log, options);
        (export["code_objects"][0]["problem"].clone(), problems(&export).join("\n"))
    };
    let (problem, said) = state(&[]);
    assert!(problem.as_str().unwrap().contains("not available"), "{problem}");
    assert!(said.contains(SAVED) && said.contains(&format!("--code-object FILE@{LOAD:#x}")), "{said}");
    let object = saved.object.to_str().unwrap();
    // By its length in the log, and by its address.
    assert_eq!(state(&["--code-object", object]), (Value::Null, String::new()));
    let by_length = export(&saved.log, &["--code-object", object]);
    assert!(by_length["code_objects"][0]["origin"].as_str().unwrap().ends_with(", by its length alone"));
    assert_eq!(state(&["--code-object", &format!("{object}@{LOAD:#x}")]), (Value::Null, String::new()));
    let symbols = folder("wherever-symbols");
    fs::copy(&saved.object, symbols.join(SAVED)).unwrap();
    assert_eq!(state(&["--symbols", symbols.to_str().unwrap()]), (Value::Null, String::new()));
    // In the middle of another file, by the range of its URI.
    let program = symbols.join("a program");
    let bytes = fs::read(&saved.object).unwrap();
    fs::write(&program, [vec![0; 4096], bytes.clone(), vec![7; 99]].concat()).unwrap();
    let uri = format!(
        "file://{}#offset=4096&size={}",
        program.display().to_string().replace(' ', "%20"),
        bytes.len()
    );
    let text = fs::read_to_string(&saved.log).unwrap().replace(URI, &uri);
    let elsewhere = saved.log.with_file_name("elsewhere.log");
    fs::write(&elsewhere, text).unwrap();
    let closed = export(&elsewhere, &[]);
    assert!(problems(&closed)[0].contains("its file is not opened; it is not available"), "{closed}");
    let export = export(&elsewhere, &["--local-files", "yes"]);
    assert_eq!((&export["code_objects"][0]["problem"], problems(&export).len()), (&Value::Null, 0));
}

/// Another build is rejected by its length, and used if the user insists.
#[test]
fn a_code_object_of_another_build_is_refused() {
    let saved = Saved::new("other-build", "saxpy-gfx90a-O2");
    let other = saved.object.with_file_name("saxpy-gfx90a-O0.hsaco");
    fs::copy(&other, saved.log.with_file_name(SAVED)).unwrap();
    let refused = export(&saved.log, &[]);
    assert!(refused["code_objects"][0]["problem"].as_str().unwrap().contains("not available"));
    assert!(problems(&refused)[0].contains("is another build"), "{:?}", problems(&refused));
    let taken = export(&saved.log, &["--force"]);
    assert_eq!(taken["code_objects"][0]["problem"], Value::Null);
    assert!(problems(&taken).is_empty(), "{:?}", problems(&taken));
    assert!(taken["code_objects"][0]["origin"].as_str().unwrap().ends_with(", by force"), "{taken}");
    fs::write(saved.log.with_file_name(SAVED), "no ELF file").unwrap();
    let broken = export(&saved.log, &[]);
    assert!(problems(&broken)[0].contains(SAVED), "{:?}", problems(&broken));
    // A code object without a matching length in the log, and one with an address that the log lacks.
    let given = other.to_str().unwrap();
    let unplaced = export(&saved.log, &["--code-object", given]);
    assert!(
        problems(&unplaced).iter().any(|problem| problem.contains("it is none of the loaded code objects"))
    );
    let added = export(&saved.log, &["--code-object", &format!("{given}@0x7e0000000000")]);
    assert_eq!(added["code_objects"][1]["load_address"], json!(0x7e00_0000_0000_u64));
}
