//! Code objects of a public release build without debug information: bitsandbytes 0.50.2, tests/fixtures/release.
//!
//! Expected values are of llvm-readelf, llvm-objdump and llvm-cxxfilt over the entries that clang-offload-bundler
//! writes out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lanescope::report::{Style, stack};
use lanescope::session::{Code as _, DumpFacts as _, Instructions, Session, Stacks as _, Waves as _};
use lanescope::units::WaveId;
use serde_json::Value;

use crate::dwarf::ran;
use crate::fixtures::{fixtures, one_line, open};
use crate::slim::{Scratch, answer, said, words};
use crate::support::{least, newest, sample::is_long};

const LOAD: u64 = 0x7f00_0010_0000;
const KERNARG: u64 = 0x7f00_0040_0000;
/// Kernels of each processor.
const KERNELS: usize = 4;
/// Entries whose waves have a target of their own; the others of the files are steppings of these.
const GPUS: [&str; 15] = [
    "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150",
    "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201", "gfx950",
];

/// Those of them whose instructions another one has: `scripts/test --long` has them.
const ALIKE: [&str; 7] = ["gfx1101", "gfx1102", "gfx1103", "gfx1151", "gfx1152", "gfx1153", "gfx1201"];

/// A kernel of an entry by LLVM's tools.
struct Kernel {
    name: String,
    demangled: String,
    entry: u64,
    descriptor: u64,
    /// Addresses and texts of its instructions.
    code: Vec<(u64, String)>,
}

/// The processors of a file, with their entries written out.
fn entries(file: &Path, scratch: &Scratch) -> Vec<(String, PathBuf)> {
    let list = ran(Command::new(newest("clang-offload-bundler"))
        .args(["--type=o", "--list"])
        .arg(format!("--input={}", file.display())));
    let targets: Vec<&str> = list.lines().filter(|line| line.contains("gfx")).collect();
    let outputs: Vec<(String, PathBuf)> = targets
        .iter()
        .map(|target| {
            let gpu = target.rsplit("--").next().unwrap().to_owned();
            (gpu.clone(), scratch.path(&gpu))
        })
        .collect();
    let mut command = Command::new(newest("clang-offload-bundler"));
    command.args(["--type=o", "--unbundle"]).arg(format!("--input={}", file.display()));
    command.arg(format!("--targets={}", targets.join(",")));
    for (_, output) in &outputs {
        command.arg(format!("--output={}", output.display()));
    }
    ran(&mut command);
    outputs
}

/// Functions and kernel descriptors by readelf: name, address and size.
fn symbols(object: &Path) -> BTreeMap<String, u64> {
    let table = ran(Command::new(newest("llvm-readelf")).args(["--dyn-syms", "-W"]).arg(object));
    let rows = table.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, value, _, "FUNC" | "OBJECT", _, _, _, name] = words[..] else { return None };
        Some((name.to_owned(), u64::from_str_radix(value, 16).ok()?))
    });
    rows.collect()
}

fn kernels(object: &Path) -> Vec<Kernel> {
    let symbols = symbols(object);
    let names = symbols.keys().filter(|name| symbols.contains_key(&format!("{name}.kd")));
    // Kernels of all element types: every sixth in the order of names.
    let names: Vec<&String> = names.step_by(6).take(KERNELS).collect();
    let chosen: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let listing = ran(Command::new(newest("llvm-objdump"))
        .args(["-d", &format!("--disassemble-symbols={}", chosen.join(","))])
        .arg(object));
    let demangled = ran(Command::new(newest("llvm-cxxfilt")).args(&chosen));
    let sections = names.iter().zip(demangled.lines()).map(|(name, demangled)| {
        let section = listing.split_once(&format!("<{name}>:\n")).unwrap().1;
        let code = section.lines().take_while(|line| !line.ends_with(">:")).filter_map(|line| {
            let (text, comment) = line.rsplit_once("// ")?;
            let address = u64::from_str_radix(comment.split(':').next()?, 16).ok()?;
            Some((address, one_line(text)))
        });
        Kernel {
            name: (*name).clone(),
            demangled: demangled.to_owned(),
            entry: symbols[*name],
            descriptor: symbols[&format!("{name}.kd")],
            code: code.collect(),
        }
    });
    sections.collect()
}

/// A dump with one dispatch and one wave for each kernel.
fn dump(scratch: &Scratch, library: &Path, gpu: &str, waves: &[(&Kernel, u64)]) -> PathBuf {
    let to = scratch.path(&format!("dump-{gpu}"));
    fs::create_dir_all(&to).unwrap();
    fs::copy(library, to.join("library")).unwrap();
    let mut text = format!(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"{gpu}\"\n[[queue]]\nid = 1\nagent = 1\n[[code_object]]\n\
         file = \"library\"\naddress = \"{LOAD:#x}\"\n"
    );
    // Byte n of the segment is n, so that each argument has a value of its own.
    let bytes: String = (0..=255u8).map(|byte| format!("{byte:02x}")).collect();
    let _ = writeln!(text, "[[memory]]\naddress = \"{KERNARG:#x}\"\nhex = \"{bytes}\"");
    // The library's kernels have the compiler's default.
    let lanes = if gpu.starts_with("gfx9") { 64 } else { 32 };
    for (index, (kernel, pc)) in waves.iter().enumerate() {
        let id = index + 1;
        let _ = writeln!(
            text,
            "[[dispatch]]\nid = {id}\nqueue = 1\ngrid = [64]\nworkgroup = [64]\nkernarg = \"{KERNARG:#x}\"\n\
             kernel_object = \"{:#x}\"\n[[workgroup]]\nid = {id}\ndispatch = {id}\nposition = [0, 0, 0]\n\
             [[wave]]\nid = {id}\nworkgroup = {id}\n\
             wave_size = {lanes}\n[wave.registers]\npc = \"{:#x}\"\nexec = \"0xffffffff\"",
            LOAD + kernel.descriptor,
            LOAD + pc
        );
    }
    fs::write(to.join("manifest.toml"), text).unwrap();
    to
}

/// Offsets and sizes of a kernel's arguments by readelf, in the order of the metadata.
fn arguments(notes: &str, kernel: &str) -> Vec<(u64, u64)> {
    let is_it = |line: &str| line.trim().strip_prefix(".name:").is_some_and(|name| name.trim() == kernel);
    let part = notes.split("\n  - ").find(|part| part.lines().any(is_it));
    let part =
        part.unwrap_or_else(|| panic!("no metadata of {kernel}")).split(".group_segment").next().unwrap();
    let number = |line: &str, key: &str| line.trim().strip_prefix(key)?.trim().parse().ok();
    let [offsets, sizes] = [".offset:", ".size:"].map(|key| {
        part.lines()
            .filter_map(|line| number(line.trim().trim_start_matches("- "), key))
            .collect::<Vec<u64>>()
    });
    assert_eq!(offsets.len(), sizes.len());
    offsets.into_iter().zip(sizes).collect()
}

/// Compares the answers about one wave with LLVM's tools.
fn wave(session: &Session, ordinal: usize, kernel: &Kernel, pc: u64, gpu: &str) {
    let about = format!("{gpu} {} at {pc:#x}", kernel.name);
    let wave = WaveId(ordinal as u32);
    let found = session.backtrace(wave, None).unwrap();
    let frame = &found.frames[0];
    assert_eq!(frame.offset, Some(pc - kernel.entry), "{about}: {found:?}");
    assert_eq!(frame.function.as_deref(), Some(&*kernel.demangled), "{about}: {found:?}");
    // A kernel has no caller, with call frame information or without.
    assert_eq!((found.frames.len(), found.end.name()), (1, "outermost"), "{about}: {found:?}");
    let text = stack::text(&found, Style::Plain);
    let place = format!("({:#x} <+{}>)", LOAD + pc, pc - kernel.entry);
    assert!(text.contains(&place), "{about}: {place} is not in {text}");
    let listing = session.disassemble(wave, &Instructions::default()).unwrap();
    let bounds = listing.function.as_ref().unwrap();
    assert_eq!((&*bounds.name, bounds.start), (&*kernel.demangled, LOAD + kernel.entry), "{about}");
    let ours: BTreeMap<u64, String> =
        listing.instructions.iter().map(|one| (one.address.0 - LOAD, one_line(&one.code.text()))).collect();
    let marked: Vec<_> = listing.instructions.iter().filter(|one| one.is_pc).collect();
    assert_eq!(marked.len(), 1, "{about}");
    assert_eq!(marked[0].address.0, LOAD + pc, "{about}");
    for (address, text) in &kernel.code {
        assert_eq!(ours.get(address), Some(text), "{about}: {address:#x}");
    }
}

/// `code-object` prints the types of the mangled names.
fn types_of_the_page(object: &Path, kernels: &[Kernel]) {
    let page: Value = serde_json::from_str(&answer(&["code-object", words(object), "--json"])).unwrap();
    for kernel in kernels {
        let all = page["kernels"].as_array().unwrap();
        let found = all.iter().find(|found| found["name"] == *kernel.name).unwrap();
        let arguments = found["arguments"].as_array().unwrap().iter();
        let types: Vec<&str> = arguments.filter_map(|argument| argument["type"].as_str()).collect();
        let types = format!("({})", types.join(", "));
        assert!(kernel.demangled.ends_with(&types), "{}: {types}", kernel.demangled);
    }
}

#[test]
fn kernels_of_fifteen_processors_have_functions_code_and_arguments() {
    let is_left_out = |gpu: &str| !is_long() && ALIKE.contains(&gpu);
    let (mut compared, mut gpus) = (0, Vec::new());
    for (file, chosen) in [("bitsandbytes-rocm64", &GPUS[..14]), ("bitsandbytes-rocm715", &GPUS[14..])] {
        let library = fixtures().join(format!("release/{file}.bundle"));
        let scratch = Scratch::new("release");
        for (gpu, object) in entries(&library, &scratch) {
            if !chosen.contains(&gpu.as_str()) || is_left_out(&gpu) {
                continue;
            }
            let kernels = kernels(&object);
            // A PC in each quarter of the code, from the first instruction on.
            let at = |index: usize, kernel: &Kernel| kernel.code[kernel.code.len() * index / KERNELS].0;
            let waves: Vec<(&Kernel, u64)> =
                kernels.iter().enumerate().map(|(index, kernel)| (kernel, at(index, kernel))).collect();
            let dump = open(&dump(&scratch, &library, &gpu, &waves));
            let session = Session::new(dump, None).unwrap();
            assert_eq!(session.waves().len(), KERNELS, "{gpu}");
            let state = session.code_objects()[0].error.as_ref().unwrap().to_string();
            assert!(state.contains("no .debug_info section"), "{gpu}: {state}");
            let launched = session.arguments();
            let notes = ran(Command::new(newest("llvm-readelf")).arg("--notes").arg(&object));
            types_of_the_page(&object, &kernels);
            for (index, (kernel, pc)) in waves.iter().enumerate() {
                wave(&session, index, kernel, *pc, &gpu);
                let ours = &launched[index].arguments;
                let facts: Vec<(u64, u64)> = ours.iter().map(|one| (one.offset, one.size)).collect();
                assert_eq!(facts, arguments(&notes, &kernel.name), "{gpu} {}", kernel.name);
                let types: Vec<&str> = ours.iter().filter_map(|one| one.type_name.as_deref()).collect();
                let types = format!("({})", types.join(", "));
                assert!(kernel.demangled.ends_with(&types), "{gpu} {}: {types}", kernel.demangled);
                for (argument, (offset, size)) in ours.iter().zip(facts) {
                    let bytes: String = argument.bytes.iter().map(ToString::to_string).collect();
                    let launched: String =
                        (offset..offset + size).map(|byte| format!("{byte:02x}")).collect();
                    assert_eq!(bytes, launched, "{gpu} {}", kernel.name);
                }
                compared += 1;
            }
            gpus.push(gpu);
        }
    }
    gpus.sort();
    let mut all: Vec<&str> = GPUS.into_iter().filter(|gpu| !is_left_out(gpu)).collect();
    all.sort_unstable();
    assert_eq!(gpus, all);
    assert!(compared >= least(50, 30), "only {compared} kernels");
}

/// A kernel and a function that it calls, with lines only.
const LINES: &str = "__attribute__((device)) __attribute__((noinline)) float twice(float x) {\n\
    return x * 2.0f;\n}\n\
    __attribute__((global)) void scale(float *p, float f) {\n\
    unsigned i = __builtin_amdgcn_workitem_id_x();\n\
    p[i] = twice(p[i]) * f;\n}\n";

/// `-gline-tables-only` leaves names of symbols and lines; that is no problem of a frame.
#[test]
fn line_tables_give_names_and_lines_without_complaint() {
    let scratch = Scratch::new("release-lines");
    let (source, object) = (scratch.path("lines.hip"), scratch.path("lines.hsaco"));
    fs::write(&source, LINES).unwrap();
    let flags = ["-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output"];
    ran(Command::new(newest("clang"))
        .args(flags)
        .args(["--offload-arch=gfx90a", "-O2", "-gline-tables-only", "-o"])
        .arg(&object)
        .arg(&source));
    let table = ran(Command::new(newest("llvm-readelf")).args(["-s", "-W"]).arg(&object));
    let value = |name: &str| {
        let row = table.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(row.split_whitespace().nth(1).unwrap(), 16).unwrap()
    };
    let kernel = |symbol: &str| Kernel {
        name: symbol.to_owned(),
        demangled: String::new(),
        entry: value(symbol),
        descriptor: value("_Z5scalePff.kd"),
        code: Vec::new(),
    };
    let [leaf, caller] = ["_Z5twicef", "_Z5scalePff"].map(kernel);
    let waves = [(&leaf, leaf.entry + 4), (&caller, caller.entry + 32)];
    let dump = dump(&scratch, &object, "gfx90a", &waves);
    for (index, (of, pc)) in waves.iter().enumerate() {
        let symbolized = ran(Command::new(newest("llvm-symbolizer"))
            .args(["--basenames", "-e"])
            .arg(&object)
            .arg(format!("{pc:#x}")));
        let mut lines = symbolized.lines();
        let (name, place) = (lines.next().unwrap(), lines.next().unwrap());
        let line = place.split(':').nth(1).unwrap().parse::<u64>().unwrap();
        assert!(line > 0, "{symbolized}");
        let wave = (index + 1).to_string();
        let stack = answer(&["backtrace", words(&dump), "--wave", &wave, "--json"]);
        let stack: Value = serde_json::from_str(&stack).unwrap();
        let frame = &stack["frames"][0];
        assert_eq!((&frame["function"], &frame["line"]), (&name.into(), &line.into()), "{stack}");
        assert_eq!((&frame["problem"], &frame["offset"]), (&Value::Null, &(pc - of.entry).into()), "{stack}");
        let text = answer(&["backtrace", words(&dump), "--wave", &wave]);
        assert!(text.starts_with(&format!("#0  {name} (")) && !text.contains('['), "{text}");
    }
}

/// Code without any debug information has registers, addresses and casts to base types in paths, and no names.
#[test]
fn code_without_debug_information_has_casts() {
    let scratch = Scratch::new("release-casts");
    let (source, object) = (scratch.path("casts.hip"), scratch.path("casts.hsaco"));
    fs::write(&source, LINES).unwrap();
    let flags = ["-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output"];
    ran(Command::new(newest("clang"))
        .args(flags)
        .args(["--offload-arch=gfx90a", "-O2", "-o"])
        .arg(&object)
        .arg(&source));
    let symbols = symbols(&object);
    let kernel = Kernel {
        name: "_Z5scalePff".to_owned(),
        demangled: String::new(),
        entry: symbols["_Z5scalePff"],
        descriptor: symbols["_Z5scalePff.kd"],
        code: Vec::new(),
    };
    let dump = dump(&scratch, &object, "gfx90a", &[(&kernel, kernel.entry + 4)]);
    // Bytes n, n + 1, ... of the segment of arguments.
    let float = |at: u8| f32::from_le_bytes([at, at + 1, at + 2, at + 3]);
    for (path, type_name, value) in [
        (format!("*(int *) {KERNARG:#x}"), "int", "50462976".to_owned()),
        (format!("((unsigned *) {KERNARG:#x})[2]"), "unsigned int", "185207048".to_owned()),
        (format!("((uint16_t *) {:#x})[-1]", KERNARG + 4), "uint16_t", "770".to_owned()),
        (format!("*(uint8_t *) {:#x}", KERNARG + 65), "uint8_t", "65 'A'".to_owned()),
        (format!("*(int64_t *) {KERNARG:#x}"), "int64_t", "506097522914230528".to_owned()),
        (format!("*(short *) {KERNARG:#x}@3"), "short [3]", "{256, 770, 1284}".to_owned()),
        ("(unsigned) $exec".to_owned(), "unsigned int", "4294967295".to_owned()),
        ("(float) $exec".to_owned(), "float", "-nan(0x7fffff)".to_owned()),
    ] {
        let printed: Value =
            serde_json::from_str(&answer(&["print", words(&dump), "--lane", "3", "--json", &path])).unwrap();
        assert_eq!(printed["lanes"][0]["value"], value, "{path}: {printed}");
        assert_eq!(printed["type"], type_name, "{path}: {printed}");
    }
    let path = format!("((float *) {KERNARG:#x})[16]");
    let text = answer(&["print", words(&dump), "--lane", "3", &path]);
    let shown = text.split_once(" = ").and_then(|(_, rest)| rest.split_whitespace().next()).unwrap();
    assert_eq!(shown.parse::<f32>().unwrap(), float(64), "{text}");
    refused(&dump, "x + 1", "no .debug_info section");
    let unknown =
        "column 1: there is no type `struct S`: without debug information only C's base types are known";
    refused(&dump, "(struct S *) 0", unknown);
}

/// A path without an answer.
fn refused(dump: &Path, path: &str, why: &str) {
    let mut command = crate::support::lanescope();
    let output = command.args(["print", words(dump), "--lane", "3", path]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{path}: {errors}");
    assert!(one_line(&errors).contains(why), "{path}: {errors}");
}

/// The innermost frame has casts, registers and addresses without a PC, outside of all code objects, and in one that
/// cannot be read.
#[test]
fn waves_without_code_have_casts() {
    let scratch = Scratch::new("release-no-code");
    let garbage = scratch.path("garbage.hsaco");
    fs::write(&garbage, "no code object").unwrap();
    let objects = [
        ("", Some("no code object that can be read holds the PC 0x7f0000100010"), "nowhere"),
        ("", None, "no-pc"),
        ("file = \"garbage.hsaco\"\n", Some("no code object that can be read holds the PC"), "unreadable"),
        (
            "uri = \"memory://1#offset=0x1000&size=0x2000\"\n",
            Some("no code object that can be read"),
            "no-bytes",
        ),
    ];
    for (object, why, name) in objects {
        let folder = scratch.path(name);
        fs::create_dir_all(&folder).unwrap();
        fs::copy(&garbage, folder.join("garbage.hsaco")).unwrap();
        let object = match object {
            "" => String::new(),
            object => format!("[[code_object]]\naddress = \"{LOAD:#x}\"\n{object}"),
        };
        let pc = why.map_or_else(String::new, |_| format!("pc = \"{:#x}\"\n", LOAD + 16));
        let text = format!(
            "format = 1\nagent = [{{ id = 1, target = \"gfx90a\" }}]\n{object}[[memory]]\n\
             address = \"{KERNARG:#x}\"\nhex = \"000102030000803f0000000000000080\"\n[[wave]]\nid = 1\nagent = 1\n\
             [wave.registers]\n{pc}exec = \"0x5\"\ns0 = \"0x3fc00000\"\n"
        );
        fs::write(folder.join("manifest.toml"), text).unwrap();
        for (path, type_name, value) in [
            (format!("*(int *) {KERNARG:#x}"), "int", "50462976"),
            (format!("((float *) {KERNARG:#x})[1]"), "float", "1"),
            (format!("*(unsigned char *) {KERNARG:#x}@4"), "unsigned char [4]", "\"\\000\\001\\002\\003\""),
            (format!("*(__int128 *) {KERNARG:#x}"), "__int128", "-170141183460469231727111646494425218816"),
            (format!("((uintptr_t *) {KERNARG:#x})[1]"), "uintptr_t", "9223372036854775808"),
            ("(float) $s0".to_owned(), "float", "1.5"),
            ("$exec & ~1".to_owned(), "unsigned long", "4"),
        ] {
            let printed = answer(&["print", words(&folder), "--lane", "3", "--json", &path]);
            let printed: Value = serde_json::from_str(&printed).unwrap();
            assert_eq!(printed["lanes"][0]["value"], value, "{name} {path}: {printed}");
            assert_eq!(
                (&printed["type"], printed["pc"].is_null()),
                (&type_name.into(), why.is_none()),
                "{name}"
            );
        }
        let why = why.unwrap_or("the PC of wave 1 was not captured");
        refused(&folder, "x + 1", why);
        refused(
            &folder,
            "(Particle *) $s0",
            "column 1: there is no type `Particle`: without debug information",
        );
        let explained = answer(&["print", words(&folder), "--explain", "(float) $s0"]);
        assert!(explained.contains("float (float) $s0 = 1.5"), "{name}: {explained}");
        let (_, other) = said(&["print", words(&folder), "--frame", "1", "$s0"]);
        assert!(other.contains("frame 1") || other.contains(why), "{name}: {other}");
        // A `.scope` file has the same paths.
        let scope = folder.join("casts.scope");
        let lines = format!(
            "dump .\nwave id 1\n  lane 3  *(int *) {KERNARG:#x} == 50462976\n  lane 3  $s0 == 0x3fc00000\n"
        );
        fs::write(&scope, lines).unwrap();
        answer(&["check", words(&scope)]);
    }
}
