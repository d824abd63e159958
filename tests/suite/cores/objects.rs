//! Code objects of the sample cores, and their stacks and variables: compared with the list of AMD's library, the
//! objects that the writing program loaded, and the variables that it stored for every lane.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{SAMPLES, core, expected, export, fixtures, lanescope, pairs};
use crate::fixtures::one_line;
use crate::support::newest;

/// Folder of the samples' code objects.
fn code() -> PathBuf {
    fixtures().join("gpucore/code")
}

/// The program's loaded code object, by the expected file.
fn loaded(expected: &Value) -> PathBuf {
    code().join(expected["code_object_files"][0]["file"].as_str().unwrap())
}

fn is_split(name: &str) -> bool {
    expected(name)["code_objects"].as_array().unwrap().is_empty()
}

/// Options for a sample's DWARF: a GPU core without a host has none.
fn with(name: &str) -> Vec<String> {
    match is_split(name) {
        true => vec!["--symbols".to_owned(), code().display().to_string()],
        false => Vec::new(),
    }
}

fn build_id(file: &PathBuf) -> String {
    let output = Command::new(newest("llvm-readelf")).arg("-n").arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap().to_owned()
}

#[test]
fn code_objects_are_those_that_the_library_lists() {
    for name in SAMPLES.into_iter().filter(|name| !is_split(name)) {
        let expected = expected(name);
        let ours = export(&[core(name).to_str().unwrap()]);
        for (ours, theirs) in pairs(&ours["code_objects"], &expected["code_objects"]) {
            assert_eq!(ours["uri"], theirs["uri"], "{name}");
            assert_eq!(ours["load_address"], theirs["load_address"], "{name}");
            assert_eq!(ours["build_id"], build_id(&loaded(&expected)), "{name}");
            assert!(ours["problem"].is_null(), "{name}: {ours}");
        }
    }
}

#[test]
fn a_gpu_core_alone_has_the_code_objects_that_were_loaded() {
    for name in SAMPLES.into_iter().filter(|name| is_split(name)) {
        let expected = expected(name);
        let path = core(name);
        let ours = export(&[path.to_str().unwrap()]);
        for (ours, theirs) in pairs(&ours["code_objects"], &expected["code_object_files"]) {
            assert_eq!(ours["load_address"], theirs["load_address"], "{name}");
            assert_eq!(ours["build_id"], build_id(&loaded(&expected)), "{name}");
            assert_eq!(ours["origin"], "its image in the captured memory", "{name}");
        }
        // Without DWARF the functions come from the dynamic symbols.
        for (ours, theirs) in pairs(&ours["waves"], &expected["waves"]) {
            let location = &theirs["writer"]["location"];
            let function = location["function"].as_str().unwrap_or_default();
            let words = ours["frames"][0]["function"].as_str().unwrap_or_default();
            // `leaf` is local and has no dynamic symbol.
            let known = ["k", "__clang_ocl_kern_imp_k"].contains(&function);
            assert!(!known || words == function, "{name}: {words:?} for {location}");
        }
        let file = loaded(&expected);
        let file = file.to_str().unwrap();
        for with in [["--code-object", file], ["--symbols", code().to_str().unwrap()]] {
            let ours = export(&[path.to_str().unwrap(), with[0], with[1]]);
            for (ours, theirs) in pairs(&ours["code_objects"], &expected["code_object_files"]) {
                assert_eq!(ours["load_address"], theirs["load_address"], "{name}");
                assert_eq!(ours["origin"], format!("{} {file}", with[0]), "{name}");
                assert!(ours["problem"].is_null(), "{name}: {ours}");
            }
        }
    }
}

#[test]
fn every_lanes_variables_are_those_that_were_laid_down() {
    for name in SAMPLES {
        let expected = expected(name);
        let path = core(name);
        let with = with(name);
        let block = block_of_j(&loaded(&expected));
        let mut compared = 0;
        for wave in expected["waves"].as_array().unwrap() {
            let Some(variables) = wave["writer"]["variables"].as_object() else { continue };
            let id = (wave["ordinal"].as_u64().unwrap() + 1).to_string();
            let mut arguments =
                vec!["locals", path.to_str().unwrap(), "--wave", &id, "--lane", "all", "--json"];
            arguments.extend(with.iter().map(String::as_str));
            let ours = lanescope(&arguments);
            let location = &wave["writer"]["location"];
            assert_eq!(ours["pc"], format!("{:#x}", wave["pc"].as_u64().unwrap()));
            let line = location["line"].as_u64().filter(|line| *line != 0);
            assert_eq!(ours["line"].as_u64(), line, "{name} wave {id}");
            let at = wave["pc"].as_u64().unwrap() - location["code_object"].as_u64().unwrap();
            for (variable, values) in variables {
                let found =
                    ours["variables"].as_array().unwrap().iter().find(|one| one["name"] == **variable);
                if variable == "j" && !block.contains(&at) {
                    assert!(found.is_none(), "{name} wave {id}: j is not in scope at {at:#x}");
                    continue;
                }
                let found = found.unwrap_or_else(|| panic!("{name} wave {id}: no {variable}"));
                for (lane, value) in found["lanes"].as_array().unwrap().iter().zip(values.as_array().unwrap())
                {
                    let bytes = lane["bytes"].as_str().unwrap_or_default();
                    assert!(is(value, bytes), "{name} wave {id} {variable}: {lane}, laid down {value}");
                    compared += 1;
                }
                assert_eq!(found["lanes"].as_array().unwrap().len(), values.as_array().unwrap().len());
            }
        }
        assert!(compared > 300, "{name}: only {compared} values");
    }
}

/// ELF addresses of the block of `j`, from llvm-dwarfdump.
fn block_of_j(file: &PathBuf) -> std::ops::Range<u64> {
    let output = Command::new(newest("llvm-dwarfdump")).arg("--debug-info").arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let block = text.split("DW_TAG_lexical_block").nth(1).expect("a block");
    assert!(block.split("NULL").next().unwrap().contains("DW_AT_name\t(\"j\")"), "{block}");
    let address = |name: &str| {
        let rest = block.split(name).nth(1).unwrap().trim_start().trim_start_matches("(0x");
        u64::from_str_radix(rest.split(')').next().unwrap(), 16).unwrap()
    };
    address("DW_AT_low_pc")..address("DW_AT_high_pc")
}

/// Whether the bytes are a number of four bytes, or the struct of the kernel: int, short, char.
fn is(value: &Value, bytes: &str) -> bool {
    let little = |range: std::ops::Range<usize>| {
        let digits = bytes.get(range.start * 2..range.end * 2)?;
        let number =
            (0..digits.len()).step_by(2).rev().map(|at| digits[at..at + 2].to_owned()).collect::<String>();
        u32::from_str_radix(&number, 16).ok()
    };
    match value.as_array() {
        None => little(0..4).map(|number| i64::from(number as i32)) == value.as_i64(),
        Some(parts) => {
            let x = little(0..4).map(|number| i64::from(number as i32));
            let y = little(4..6).map(|number| i64::from(number as i16));
            let z = little(6..7).map(|number| i64::from(number as i8));
            [x, y, z].into_iter().zip(parts).all(|(got, part)| got.is_some() && got == part.as_i64())
        }
    }
}

#[test]
fn what_does_not_match_is_refused_and_forced() {
    let path = core("gfx90a-split");
    let expected = expected("gfx90a-split");
    let other = code().join("k-gfx942-O0.hsaco");
    let address = expected["code_object_files"][0]["load_address"].as_u64().unwrap();
    let placed = format!("{}@{address:#x}", other.display());
    let ours = export(&[path.to_str().unwrap(), "--code-object", &placed]);
    let refusal = ours["problems"].as_array().unwrap().iter().map(crate::problem_text);
    let refusal = refusal.filter(|words| words.contains("--code-object")).collect::<String>();
    for part in
        [format!("{address:#x}"), build_id(&other), build_id(&loaded(&expected)), "--force".to_owned()]
    {
        assert!(refusal.contains(&part), "{part}: {refusal}");
    }
    assert_eq!(ours["code_objects"][0]["origin"], "its image in the captured memory");
    // With several loaded objects, forcing one requires an address; an already forced one gets no such hint.
    let (several, wrong) = (core("gfx1100"), other.to_str().unwrap());
    let ours = export(&[several.to_str().unwrap(), "--code-object", wrong, "--force"]);
    let problems = ours["problems"].to_string();
    assert!(problems.contains("an address: --force needs FILE@ADDRESS"), "{problems}");
    assert!(!problems.contains("anyway"), "{problems}");
    let ours = export(&[path.to_str().unwrap(), "--code-object", &placed, "--force"]);
    let origin =
        format!("--code-object {}, by force: it is for gfx942, and the GPU is gfx90a", other.display());
    assert_eq!(ours["code_objects"][0]["origin"], json!(origin));
    assert_eq!(ours["code_objects"][0]["build_id"], Value::Null);
}

#[test]
fn info_prints_the_origin_of_each() {
    let run = |arguments: &[&str]| {
        let output = crate::support::lanescope().arg("info").args(arguments).output().unwrap();
        one_line(&String::from_utf8(output.stdout).unwrap())
    };
    let bare = run(&[core("gfx1030-wave32").to_str().unwrap()]);
    for words in
        ["its image in the captured memory", "which has no debug information", "--symbols or debuginfod"]
    {
        assert!(bare.contains(words), "{words}: {bare}");
    }
    // The row begins with the name; its state does not repeat it.
    assert!(!bare.contains("0x7f1000000000: only its image"), "{bare}");
    let unified = run(&[core("gfx1100").to_str().unwrap()]);
    assert!(
        unified.contains("memory://4242#offset=0x555555900123&size=9136, which is the same"),
        "{unified}"
    );
    assert_eq!(unified.matches("has debug information").count(), 2, "{unified}");
}

/// Kernel descriptors of a code object by ELF address, from llvm-readelf's symbols.
fn descriptors(file: &Path) -> Vec<(u64, String)> {
    let output =
        Command::new(newest("llvm-readelf")).args(["--symbols", "--wide"]).arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.last()?.strip_suffix(".kd")?;
        Some((u64::from_str_radix(words.get(1)?, 16).ok()?, name.to_owned()))
    });
    lines.collect()
}

#[test]
fn kernels_are_those_with_descriptors_at_the_addresses_of_dispatches() {
    for name in SAMPLES {
        let expected = expected(name);
        let of = |address: u64| {
            let found = expected["code_object_files"].as_array().unwrap().iter().find_map(|object| {
                let at = address.checked_sub(object["load_address"].as_u64().unwrap())?;
                let known = descriptors(&code().join(object["file"].as_str().unwrap()));
                known.into_iter().find(|(elf, _)| *elf == at).map(|(_, name)| name)
            });
            found.unwrap_or_else(|| panic!("{name}: no descriptor at {address:#x}"))
        };
        let path = core(name);
        let path = path.to_str().unwrap();
        let ours = export(&[path]);
        for (ours, theirs) in pairs(&ours["dispatches"], &expected["dispatches"]) {
            let kernel = of(theirs["kernel_descriptor_address"].as_u64().unwrap());
            assert_eq!(ours["kernel"], json!(kernel), "{name}: {ours}");
        }
        let listed = lanescope(&["dispatches", path, "--json"]);
        for dispatch in listed["dispatches"].as_array().unwrap() {
            let address = dispatch["kernel_object"].to_string();
            let address = address.trim_matches('"').trim_start_matches("0x");
            let address = u64::from_str_radix(address, 16).unwrap();
            assert_eq!(dispatch["kernel"], json!(of(address)), "{name}: {dispatch}");
        }
        let waves = lanescope(&["waves", path, "--json"]);
        let waves = waves["waves"].as_array().unwrap();
        for (ours, theirs) in waves.iter().zip(expected["waves"].as_array().unwrap()) {
            assert_eq!(ours["kernel"].is_null(), theirs["packet_id"].is_null(), "{name}: {ours}");
        }
    }
}

#[test]
fn a_refused_place_leaves_no_code_object_behind() {
    let path = core("gfx90a-split");
    let path = path.to_str().unwrap();
    let expected = expected("gfx90a-split");
    let address = expected["code_object_files"][0]["load_address"].as_u64().unwrap() + 4;
    let placed = format!("{}@{address:#x}", loaded(&expected).display());
    let (bare, ours) = (export(&[path]), export(&[path, "--code-object", &placed]));
    assert_eq!(ours["code_objects"], bare["code_objects"]);
    let problems = ours["problems"].as_array().unwrap();
    let about =
        problems.iter().filter(|problem| crate::problem_text(problem).contains(&format!("{address:#x}")));
    assert_eq!(about.count(), 1, "{problems:?}");
}
