//! Kernels of Triton 3.9: states by the interpreter of the models, stacks and the fault by the Python source.
//!
//! tests/fixtures/models/triton.py writes the dumps and the expected values without lanescope.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::fixtures::{fixtures, one_line};
use crate::slim::{Scratch, answer, words};
use crate::support::sample::sampled;

/// Address at which code objects are loaded.
const LOADED: u64 = 0x7f00_0010_0000;
/// Bytes of the code before a kernel's own that loads the preloaded arguments (AMDGPUUsage, "Preloaded Kernel
/// Arguments").
const HEADER: u64 = 256;

fn folder() -> PathBuf {
    fixtures().join("compilers/triton")
}

/// Each GPU's expected values with its dump.
fn each_gpu() -> Vec<(Value, String)> {
    let text = fs::read(folder().join("expected.json")).unwrap();
    let all: Vec<Value> = serde_json::from_slice(&text).unwrap();
    assert_eq!(all.len(), 5);
    all.into_iter()
        .map(|expected| {
            let dump = folder().join(expected["dump"].as_str().unwrap());
            (expected, words(&dump).to_owned())
        })
        .collect()
}

fn asked(arguments: &[&str]) -> Value {
    serde_json::from_str(&answer(arguments)).unwrap()
}

/// Function, name of the file and line of each frame.
fn frames(stack: &Value) -> Value {
    let frames = stack["frames"].as_array().unwrap();
    let each = frames.iter().map(|frame| {
        let file = frame["file"].as_str().unwrap_or_default();
        json!([frame["function"], file.rsplit('/').next(), frame["line"]])
    });
    each.collect()
}

#[test]
fn stacks_have_the_lines_of_the_python_source() {
    for (expected, dump) in each_gpu() {
        let stacks = asked(&["backtrace", &dump, "--wave", "1-4", "--json"]);
        let (stacks, waves) = (stacks["answers"].as_array().unwrap(), expected["waves"].as_array().unwrap());
        assert_eq!(stacks.len(), waves.len(), "{dump}");
        for (wave, stack) in waves.iter().zip(stacks) {
            if !wave["frames"].is_null() {
                assert_eq!(frames(stack), wave["frames"], "{dump} {wave}");
            }
            let frames = stack["frames"].as_array().unwrap();
            assert!(frames.iter().all(|frame| frame["problem"].is_null()), "{dump}: {stack}");
            assert_eq!(stack["end"]["reason"], "outermost", "{dump}: {stack}");
        }
    }
}

#[test]
fn a_fault_of_a_helper_has_its_line_lanes_and_address() {
    for (expected, dump) in sampled(each_gpu(), 2) {
        let waves = expected["waves"].as_array().unwrap();
        let fault = &waves.iter().find(|wave| !wave["fault"].is_null()).unwrap()["fault"];
        let triage = one_line(&answer(&["triage", &dump]));
        let place = format!("softmax.py:{}", fault["line"]);
        let lowest = fault["lowest"].as_str().unwrap();
        let lanes = fault["lanes"].as_array().unwrap();
        let scope = Scratch::new("triton-check");
        let file = scope.path("softmax.scope");
        let frames: String = waves[..3]
            .iter()
            .map(|wave| {
                let innermost = &wave["frames"][0];
                let file = innermost[1].as_str().unwrap();
                format!("wave id {}\n  at {file}:{}\n", wave["id"], innermost[2])
            })
            .collect();
        let head = "fault memory violation\nwaves 4, faulted 1\n";
        let access = format!("access lane {}-{} load\n", lanes[0], lanes[lanes.len() - 1]);
        fs::write(&file, format!("dump {dump}\n{head}{access}{frames}")).unwrap();
        answer(&["check", words(&file)]);
        let lanes = format!("faulting: {}-{}", lanes[0], lanes[lanes.len() - 1]);
        for part in [&place, lowest, &lanes, fault["instructions"][0].as_str().unwrap()] {
            assert!(triage.contains(part), "{dump}: {part} is not in {triage}");
        }
        assert!(one_line(&answer(&["report", &dump, "--format", "text"])).contains(&place), "{dump}");
        assert!(answer(&["disassemble", &dump, "--around", "4"]).contains(&place), "{dump}");
        assert!(one_line(&answer(&["signature", &dump])).contains("softmax_kernel @ softmax.py"), "{dump}");
    }
}

#[test]
fn arguments_are_those_of_the_launch_and_two_of_the_launcher() {
    for (expected, dump) in each_gpu() {
        let found = asked(&["arguments", &dump, "--json"]);
        let found = found["dispatches"][0]["arguments"].as_array().unwrap();
        let wanted = expected["arguments"].as_array().unwrap();
        assert_eq!(found.len(), wanted.len(), "{dump}");
        for (found, wanted) in found.iter().zip(wanted) {
            let bytes = match (wanted.as_u64(), found["size"].as_u64()) {
                (Some(number), Some(8)) => number.to_le_bytes().to_vec(),
                (Some(number), _) => (number as u32).to_le_bytes().to_vec(),
                (None, _) => (wanted.as_f64().unwrap() as f32).to_le_bytes().to_vec(),
            };
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found["bytes"], json!(hex), "{dump}: {found}");
        }
    }
}

/// A dump with a wave at an address of a code object: dword `number * 256 + lane` in each vector register.
fn at(scratch: &Scratch, object: &str, gpu: &str, lanes: u64, pc: u64) -> String {
    let dump = scratch.path(&format!("{gpu}-{pc:x}"));
    fs::create_dir_all(&dump).unwrap();
    fs::copy(fixtures().join("compilers").join(object), dump.join("code.hsaco")).unwrap();
    let vectors: String = (0..48)
        .map(|number| {
            let each: Vec<String> = (0..lanes).map(|lane| (number * 256 + lane).to_string()).collect();
            format!("v{number} = [{}]\n", each.join(", "))
        })
        .collect();
    let exec = if lanes == 64 { u64::MAX } else { u64::from(u32::MAX) };
    let manifest = format!(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"{gpu}\"\n[[code_object]]\nfile = \"code.hsaco\"\n\
         address = \"{LOADED:#x}\"\n[[wave]]\nid = 1\nagent = 1\nwave_size = {lanes}\n[wave.registers]\n\
         pc = \"{:#x}\"\nexec = \"{exec:#x}\"\n{vectors}",
        LOADED + pc
    );
    fs::write(dump.join("manifest.toml"), manifest).unwrap();
    words(&dump).to_owned()
}

/// Addresses of the inlined call by llvm-dwarfdump: 0x177c to 0x1788. There `x` is in v3 and `h` in v2.
#[test]
fn a_helper_does_not_hide_the_variables_of_its_kernel() {
    let scratch = Scratch::new("triton-helper");
    let dump = at(&scratch, "triton-gfx90a.hsaco", "gfx90a", 64, 0x1780);
    let stack = asked(&["backtrace", &dump, "--json"]);
    assert_eq!(
        frames(&stack),
        json!([["kern[helper]", "vectors.py", 6], ["kern", "vectors.py", 15]]),
        "{stack}"
    );
    for frame in ["0", "1"] {
        let shown = answer(&["print", &dump, "x", "--format", "x", "--lane", "5", "--frame", frame]);
        assert!(shown.contains("305"), "frame {frame}: {shown}");
        let locals = answer(&["locals", &dump, "--frame", frame]);
        for name in ["float x = ", "float h = "] {
            let line = locals.lines().find(|line| line.starts_with(name) && !line.contains("optimized out"));
            assert!(line.is_some_and(|line| line.contains("inferred: lane's dword")), "{frame}: {locals}");
        }
    }
}

/// The dwords of v0 to v3, the lowest first. llvm-dwarfdump: at 0x1af0 `total` is `float` in v3, and `vector` of 16
/// bytes in v0 to v3.
#[test]
fn elements_of_a_vector_of_unknown_type_are_dwords() {
    let scratch = Scratch::new("triton-vector");
    let dump = at(&scratch, "triton/matmul-gfx90a-variables.hsaco", "gfx90a", 64, 0x1af0);
    let locals = answer(&["locals", &dump, "--lane", "7"]);
    let dwords = [7u128, 263, 519, 775].into_iter().rev().fold(0, |all, dword| all << 32 | dword);
    assert!(locals.contains(&format!("vector total = {dwords} (inferred: lane's dword)\n")), "{locals}");
    assert!(locals.contains("float total = "), "{locals}");
    // gdb prints the first of a name; the first `a` has no location there.
    for (name, dwords) in [("total", "0x1b0700001a07"), ("a", "0x1f0700001e07")] {
        let printed = answer(&["print", &dump, name, "--lane", "7", "--format", "x"]);
        assert!(printed.contains(dwords), "{printed}");
    }
}

#[test]
fn a_header_of_preloaded_arguments_belongs_to_its_kernel() {
    let scratch = Scratch::new("triton-header");
    for gpu in ["gfx90a", "gfx942", "gfx950"] {
        for pc in [0x1800, 0x1810, 0x1818, 0x1800 + HEADER - 4] {
            let dump = at(&scratch, &format!("triton/softmax-{gpu}.hsaco"), gpu, 64, pc);
            let stack = asked(&["backtrace", &dump, "--json"]);
            assert_eq!(
                frames(&stack),
                json!([["softmax_kernel", "softmax.py", 19]]),
                "{gpu} {pc:#x}: {stack}"
            );
            assert_eq!(stack["end"]["reason"], "outermost", "{gpu} {pc:#x}: {stack}");
        }
    }
}

/// LLVM's main branch has the processor in the triple: `amdgpu9.42-amd-amdhsa-unknown-gfx942`.
#[test]
fn a_processor_in_the_triple_is_a_target() {
    let code = fs::read(folder().join("softmax-gfx942.hsaco")).unwrap();
    let scratch = Scratch::new("triton-bundle");
    let id = "hipv4-amdgpu9.42-amd-amdhsa-unknown-gfx942";
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    for number in [1, 4096, code.len() as u64, id.len() as u64] {
        bundle.extend(number.to_le_bytes());
    }
    bundle.extend(id.as_bytes());
    bundle.resize(4096, 0);
    bundle.extend(&code);
    let path = scratch.path("bundle");
    fs::write(&path, bundle).unwrap();
    for chosen in ["gfx942", id] {
        let text = answer(&["code-object", words(&path), "--entry", chosen]);
        assert!(text.contains("metadata 1.2, target amdgpu9.42-amd-amdhsa-unknown-gfx942"), "{text}");
        assert!(text.contains("Kernel softmax_kernel"), "{text}");
    }
}
