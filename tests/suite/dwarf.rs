//! Expressions of the fixtures, compared with llvm-dwarfdump.

use crate::fixtures::one_line;
use crate::support::{newest, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lanescope::dwarf::print::{self, NoNames};
use lanescope::dwarf::text::assemble;
use lanescope::dwarf::{Dialect, Encoding, Program};
use serde_json::Value;

/// Every fixture code object that LLVM's tools can read; they do not support the draft dialect.
pub(crate) fn objects() -> Vec<PathBuf> {
    let folders = ["tests/fixtures/code", "src/debuginfo/tests/objects", "src/debuginfo/tests/values"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "hsaco")).collect();
    paths.retain(|path| !path.to_string_lossy().contains("/draft_ops-"));
    paths.sort();
    assert!(paths.len() >= 40, "only {} code objects", paths.len());
    paths
}

pub(crate) fn ran(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn listed(object: &Path) -> Value {
    let listing = ran(crate::support::lanescope().args(["dwarf", "--json"]).arg(object));
    serde_json::from_str(&listing).unwrap()
}

/// The expressions of a code object: DIE and attribute, PCs and names of operations.
type Expressions = Vec<(String, String, Vec<String>)>;

fn ours(listed: &Value) -> Expressions {
    let mut all = Vec::new();
    for unit in listed["units"].as_array().unwrap() {
        for row in unit["expressions"].as_array().unwrap() {
            let die = u64::from_str_radix(&row["die"].as_str().unwrap()[2..], 16).unwrap();
            let place = format!("{die:#x} {}", row["attribute"].as_str().unwrap());
            let pcs = match &row["pcs"] {
                Value::Array(ends) => format!("{}-{}", ends[0].as_str().unwrap(), ends[1].as_str().unwrap()),
                whole => whole.as_str().unwrap().to_owned(),
            };
            let name = |name: &Value| name.as_str().unwrap().to_owned();
            let operations = row["operations"].as_array().unwrap_or_else(|| panic!("{row}"));
            all.push((place, pcs, operations.iter().map(name).collect()));
        }
    }
    all
}

/// Names of operations in llvm-dwarfdump's text of an expression.
fn names(words: &str) -> Vec<String> {
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let words = words.split(|char| !is_name(char)).filter(|word| word.starts_with("DW_OP_"));
    // The escape is a separate word; the escaped operation follows.
    words.filter(|word| *word != "DW_OP_LLVM_user").map(str::to_owned).collect()
}

/// llvm-dwarfdump's text of each file; one start has all.
pub(crate) fn dumped(options: &[&str], files: &[PathBuf]) -> Vec<String> {
    let text = ran(Command::new(newest("llvm-dwarfdump")).args(options).args(files));
    let mut all: Vec<(PathBuf, String)> = Vec::new();
    for line in text.lines() {
        if let Some((file, _)) = line.split_once(":\tfile format ") {
            all.push((file.into(), String::new()));
        } else if let Some((_, text)) = all.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    assert!(all.iter().map(|(file, _)| file).eq(files), "{} texts", all.len());
    all.into_iter().map(|(_, text)| text).collect()
}

/// The expressions of a code object by llvm-dwarfdump.
fn theirs(dump: &str) -> Expressions {
    let hex = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).unwrap();
    let (mut all, mut die, mut attribute, mut in_list) = (Vec::new(), 0, String::new(), false);
    for line in dump.lines() {
        let inner = line.trim_start();
        if let Some((offset, _)) = line.split_once(": ").filter(|(offset, rest)| {
            offset.starts_with("0x") && (rest.contains("DW_TAG_") || rest.contains("NULL"))
        }) {
            die = hex(offset);
            in_list = false;
        } else if inner.starts_with("DW_AT_") {
            // DW_AT_location [DW_FORM_exprloc] (DW_OP_fbreg +4)
            let (name, rest) = inner.split_once('[').unwrap();
            let (form, value) = rest.split_once(']').unwrap();
            // LLVM has since assigned the number of DW_AT_LLVM_active_lane to an attribute without an expression.
            attribute = name.trim().replace("LLVM_ptrauth_isa_pointer", "LLVM_active_lane");
            let is_list = matches!(form.trim(), "DW_FORM_loclistx" | "DW_FORM_sec_offset");
            in_list = is_list && !attribute.contains("_base") && attribute != "DW_AT_ranges";
            if form.trim() == "DW_FORM_exprloc" {
                all.push((format!("{die:#x} {attribute}"), "all".to_owned(), names(value)));
            }
        } else if in_list && inner.starts_with('[') {
            // [0x0000000000001500, 0x0000000000001530): DW_OP_LLVM_user DW_OP_LLVM_undefined
            let (pcs, words) = inner.split_once("): ").unwrap();
            let (low, high) = pcs[1..].split_once(',').unwrap();
            let pcs = format!("{:#x}-{:#x}", hex(low), hex(high));
            all.push((format!("{die:#x} {attribute}"), pcs, names(words)));
        }
    }
    all
}

/// The same operations and call frames; and the text of each expression gives its bytes back.
#[test]
fn llvm_dwarfdump_reads_the_same_expressions() {
    let (mut expressions, mut operations, mut extended, mut in_frames, mut given) = (0, 0, 0, 0, 0);
    let objects = objects();
    let texts = dumped(&["--debug-info", "--debug-frame", "--show-form"], &objects);
    for (object, text) in objects.iter().zip(&texts) {
        let (info, frames) = text.split_once("\n.debug_frame contents:\n").unwrap();
        let listed = listed(object);
        let frames_here = our_frames(&listed);
        assert_eq!(frames_here, their_frames(frames), "{}", object.display());
        in_frames += frames_here.len();
        given += given_back(&listed);
        let (mut ours, theirs) = (ours(&listed), theirs(info));
        // It prints lists only for attributes that it knows as lists; those of lanes are not.
        let of_lanes =
            |place: &str| ["_lane_pc", "_active_lane", "_lanes"].iter().any(|name| place.ends_with(name));
        ours.retain(|(place, pcs, _)| pcs == "all" || !of_lanes(place));
        // LLVM 22 has no description of DW_OP_deref_type and stops there ("<decoding error> a6 ...").
        for (.., names) in &mut ours {
            let known = names.iter().position(|name| name == "DW_OP_deref_type");
            names.truncate(known.unwrap_or(names.len()));
        }
        for (one, other) in ours.iter().zip(&theirs) {
            assert_eq!(one, other, "{}", object.display());
        }
        assert_eq!(ours.len(), theirs.len(), "{}", object.display());
        expressions += ours.len();
        operations += ours.iter().map(|(.., names)| names.len()).sum::<usize>();
        let is_llvm = |names: &Vec<String>| names.iter().any(|name| name.starts_with("DW_OP_LLVM_"));
        extended += ours.iter().filter(|(.., names)| is_llvm(names)).count();
    }
    assert!(expressions > 500 && operations > 1000 && extended > 20, "{expressions} {operations} {extended}");
    assert!(in_frames >= 6, "only {in_frames} expressions in call frames");
    given += given_back(&listed(&root().join("tests/fixtures/code/draft_ops-gfx1100.hsaco")));
    assert!(given > 500);
}

/// Expressions of call frames: place, instruction and names of operations; `None` for undecodable ones.
type FrameExpressions = Vec<(String, String, Option<Vec<String>>)>;

fn our_frames(listed: &Value) -> FrameExpressions {
    let mut all = Vec::new();
    for entry in listed["frames"].as_array().unwrap() {
        for row in entry["expressions"].as_array().unwrap() {
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            let name = |name: &Value| name.as_str().unwrap().to_owned();
            let operations = row["operations"].as_array().map(|names| names.iter().map(name).collect());
            all.push((text("pc"), text("instruction"), operations));
        }
    }
    all
}

fn their_frames(dump: &str) -> FrameExpressions {
    let hex = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).unwrap();
    let (mut all, mut pc) = (Vec::new(), 0);
    for line in dump.lines() {
        // 00000028 00000014 00000000 FDE cie=00000000 pc=00001920...00001a40
        if let Some((_, pcs)) = line.split_once(" pc=") {
            pc = hex(pcs.split_once("...").unwrap().0);
        }
        let Some((instruction, words)) = line.trim_start().split_once(':') else { continue };
        if instruction.starts_with("DW_CFA_advance_loc") {
            pc = hex(words.rsplit_once("to ").unwrap().1);
        } else if instruction.starts_with("DW_CFA_") && instruction.ends_with("expression") {
            let operations = (!words.contains("<decoding error>")).then(|| names(words));
            all.push((format!("{pc:#x}"), instruction.to_owned(), operations));
        }
    }
    all
}

/// The number of expressions, whose texts give their bytes back.
fn given_back(listed: &Value) -> usize {
    let mut count = 0;
    for unit in listed["units"].as_array().unwrap() {
        let encoding = Encoding::new(Dialect::named(unit["dialect"].as_str().unwrap()).unwrap());
        for row in unit["expressions"].as_array().unwrap() {
            let bytes = bytes(row["bytes"].as_str().unwrap());
            let program = Program::decode(&bytes, encoding).unwrap();
            let text = print::program(&program, &NoNames);
            assert_eq!(assemble(&text, encoding, &NoNames).unwrap(), bytes, "{text}");
            assert_eq!(program.encode(), bytes, "{text}");
            count += 1;
        }
    }
    count
}

#[test]
fn a_function_and_a_dialect_can_be_asked_for() {
    let object = root().join("tests/fixtures/code/user_ops-gfx90a.hsaco");
    let run = |args: &[&str]| {
        let mut command = crate::support::lanescope();
        command.arg("dwarf").arg(&object).args(args).output().unwrap()
    };
    let all = String::from_utf8(run(&[]).stdout).unwrap();
    // As in the fixture's assembler source, and in llvm-dwarfdump with AMD's register names.
    let folded = one_line(&all);
    assert!(
        folded.contains("DW_OP_regx VGPR1; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset")
    );
    assert!(folded.contains("0x1500-0x1530 DW_OP_LLVM_undefined # e9 08"), "{all}");
    let name = listed(&object)["units"][0]["expressions"][0]["function"].as_str().unwrap().to_owned();
    let one = String::from_utf8(run(&["--function", &name]).stdout).unwrap();
    assert!(one.lines().count() > 2 && one.lines().count() < all.lines().count(), "{one}");
    let none = run(&["--function", "nobody"]);
    assert!(!none.status.success() && String::from_utf8_lossy(&none.stderr).contains("no function `nobody`"));
    // In another dialect the same bytes are other operations or invalid.
    let seed = String::from_utf8(run(&["--dialect", "amdgpu-usage-2020"]).stdout).unwrap();
    assert!(seed.contains("amdgpu-usage-2020") && seed.contains("error: "), "{seed}");
    assert!(!run(&["--dialect", "klingon"]).status.success());
}

/// Bytes from hexadecimal digits.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
