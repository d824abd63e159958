//! `lanescope code-object` and `lanescope arguments`, compared with LLVM's tools and the fixtures' models.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lanescope::arch::Processor;
use serde_json::Value;

use crate::dwarf::{objects, ran};
use crate::fixtures::some_expected;
use crate::support::{least, newest};

fn program(arguments: &[&str]) -> Output {
    crate::support::lanescope().args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn described(file: &str, more: &[&str]) -> Value {
    let arguments: Vec<&str> = ["code-object", "--json", file].iter().chain(more).copied().collect();
    let output = program(&arguments);
    assert!(output.status.success(), "{file}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = crate::support::own_folder().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Processors that the tools do not name: of LLVM up to 20 (llvm/BinaryFormat/ELF.h), and of its main branch of 2026.
const UNNAMED: [(u8, &str); 6] = [
    (0x40, "gfx940"),
    (0x4b, "gfx941"),
    (0x5b, "gfx12-5-generic"),
    (0x5c, "gfx1172"),
    (0x5d, "gfx1170"),
    (0x5e, "gfx1171"),
];

/// Exactly the processors of readelf, and those that it does not name.
#[test]
fn processors_are_readelfs() {
    let folder = folder("processors");
    let mut bytes = fs::read(&objects()[0]).unwrap();
    let mut files = Vec::new();
    for mach in 0..=u8::MAX {
        bytes[48] = mach;
        let path = folder.join(mach.to_string());
        fs::write(&path, &bytes).unwrap();
        files.push(path);
    }
    let headers = ran(Command::new(newest("llvm-readelf")).arg("-h").args(files));
    let all = headers.lines().filter_map(|line| line.trim().strip_prefix("Flags:"));
    let all: Vec<&str> = all.collect();
    assert_eq!(all.len(), 256, "{headers}");
    for (mach, flags) in (0..=u8::MAX).zip(all) {
        let mut names =
            flags.split(", ").skip(1).filter(|name| !name.contains("xnack") && !name.contains("sramecc"));
        let ours = Processor::of_mach(mach).map(|processor| processor.name);
        let unnamed = || UNNAMED.iter().find(|(number, _)| *number == mach).map(|(_, name)| *name);
        assert_eq!(ours, names.next().or_else(unnamed), "{mach:#x}");
    }
}

/// `.amdhsa_` directives and remarks of a descriptor, by file and kernel.
type Directives = BTreeMap<(PathBuf, String), BTreeMap<String, String>>;

/// From llvm-objdump's text of the descriptors of all kernels: one start for the files of a processor, since it decodes all
/// descriptors as those of its first file's processor.
fn directives(described: &[(PathBuf, Value)]) -> Directives {
    let mut processors: BTreeMap<&str, Vec<&(PathBuf, Value)>> = BTreeMap::new();
    for one in described {
        processors.entry(one.1["header"]["processor"].as_str().unwrap()).or_default().push(one);
    }
    let mut all = Directives::new();
    processors.values().for_each(|described| directives_of(described, &mut all));
    all
}

fn directives_of(described: &[&(PathBuf, Value)], all: &mut Directives) {
    let kernels = described.iter().flat_map(|(_, one)| one["kernels"].as_array().unwrap());
    let mut symbols: Vec<String> =
        kernels.map(|kernel| format!("{}.kd", kernel["name"].as_str().unwrap())).collect();
    symbols.sort();
    symbols.dedup();
    let mut command = Command::new(newest("llvm-objdump"));
    command.arg("-D").arg(format!("--disassemble-symbols={}", symbols.join(",")));
    let listing = ran(command.args(described.iter().map(|(file, _)| file)));
    let (mut file, mut kernel) = (PathBuf::new(), String::new());
    for line in listing.lines() {
        if let Some((name, _)) = line.split_once(":\tfile format ") {
            file = name.into();
        } else if let Some((_, name)) = line.strip_suffix(".kd>:").and_then(|line| line.split_once(" <")) {
            name.clone_into(&mut kernel);
        }
        let line = line.trim();
        let fact = line.strip_prefix(".amdhsa_").or_else(|| line.strip_prefix("; "));
        if let Some((name, value)) = fact.and_then(|fact| fact.split_once(' ')) {
            let of = all.entry((file.clone(), kernel.clone())).or_default();
            of.insert(name.to_lowercase(), value.to_owned());
        }
    }
}

/// Compares all of objdump's text of a descriptor; returns the number of facts.
fn same_descriptor(object: &Path, kernel: &Value, all: &Directives) -> usize {
    let name = kernel["name"].as_str().unwrap();
    let descriptor = &kernel["descriptor"];
    let theirs = &all[&(object.to_owned(), name.to_owned())];
    assert!(theirs.len() > 20, "{object:?} {name}: {theirs:?}");
    let mut compared = 0;
    for (fact, value) in theirs {
        // The count includes the assembler's reserve; `kernel` is the heading.
        if fact.starts_with("reserve_") || fact == "kernel" {
            continue;
        }
        let ours = match fact.as_str() {
            "group_segment_fixed_size" | "private_segment_fixed_size" | "kernarg_size" | "accum_offset" => {
                &descriptor[fact]
            }
            "next_free_vgpr" => &descriptor["vgprs"],
            // objdump scales a field that GFX10 and later ignore.
            "next_free_sgpr" if descriptor["sgprs"].is_null() => continue,
            "next_free_sgpr" => &descriptor["sgprs"],
            fact => &descriptor["fields"][fact],
        };
        assert_eq!(ours.to_string(), *value, "{object:?} {name} {fact}");
        compared += 1;
    }
    assert!(descriptor["reserved"].is_null(), "{object:?}: {descriptor}");
    compared
}

/// Descriptors of all fixtures are objdump's; readelf's text of the metadata note has every printed kernel and argument.
#[test]
fn descriptors_and_metadata_of_all_fixtures_are_those_of_llvms_tools() {
    let all = objects().into_iter().map(|object| {
        let described = described(object.to_str().unwrap(), &[]);
        (object, described)
    });
    let all: Vec<(PathBuf, Value)> = all.collect();
    let theirs = directives(&all);
    let notes =
        ran(Command::new(newest("llvm-readelf")).arg("--notes").args(all.iter().map(|(file, _)| file)));
    let notes: Vec<&str> = notes.split("\nFile: ").skip(1).collect();
    assert_eq!(notes.len(), all.len());
    let (mut compared, mut arguments) = (0, 0);
    for ((object, described), notes) in all.iter().zip(notes) {
        assert!(notes.starts_with(object.to_str().unwrap()), "{object:?}: {notes}");
        for kernel in described["kernels"].as_array().unwrap() {
            if kernel["descriptor"].is_object() {
                compared += same_descriptor(object, kernel, &theirs);
            }
        }
        arguments += same_metadata(object, described, notes);
    }
    assert!(compared > 1000 && arguments > 500, "only {compared}, {arguments}");
}

/// One processor of each generation that objdump disassembles, with every field that its assembler supports.
#[test]
fn descriptors_of_all_generations_are_objdumps() {
    const COMMON: &str = "next_free_vgpr 20|next_free_sgpr 30|group_segment_fixed_size 512|private_segment_fixed_size 64|\
        kernarg_size 40|float_round_mode_32 1|float_round_mode_16_64 2|float_denorm_mode_32 3|float_denorm_mode_16_64 1|\
        system_sgpr_workgroup_id_y 1|system_sgpr_workgroup_id_z 1|system_sgpr_workgroup_info 1|\
        system_vgpr_workitem_id 2|exception_fp_ieee_invalid_op 1|exception_fp_denorm_src 1|exception_fp_ieee_div_zero 1|\
        exception_fp_ieee_overflow 1|exception_fp_ieee_underflow 1|exception_fp_ieee_inexact 1|exception_int_div_zero 1|\
        user_sgpr_dispatch_ptr 1|user_sgpr_kernarg_segment_ptr 1|user_sgpr_dispatch_id 1|uses_dynamic_stack 1";
    const OLD: &str = "dx10_clamp 0|ieee_mode 0";
    const BUFFER: &str = "user_sgpr_private_segment_buffer 1|user_sgpr_flat_scratch_init 1";
    const WGP: &str = "workgroup_processor_mode 0|memory_ordered 0|forward_progress 0";
    let cases: [(&str, &[&str]); 17] = [
        ("gfx801", &[OLD, BUFFER]),
        ("gfx810", &[OLD, BUFFER]),
        ("gfx900", &[OLD, BUFFER, "fp16_overflow 1"]),
        ("gfx908", &[OLD, BUFFER, "fp16_overflow 1"]),
        ("gfx9-generic", &[OLD, BUFFER]),
        (
            "gfx90a",
            &[
                OLD,
                BUFFER,
                "accum_offset 8|tg_split 1|user_sgpr_kernarg_preload_length 2|user_sgpr_kernarg_preload_offset 1",
            ],
        ),
        ("gfx942", &[OLD, "accum_offset 12|enable_private_segment 1|user_sgpr_kernarg_preload_length 3"]),
        ("gfx950", &[OLD, "accum_offset 12|tg_split 1"]),
        ("gfx9-4-generic", &[OLD, "accum_offset 4"]),
        ("gfx1010", &[OLD, BUFFER, WGP, "wavefront_size32 1"]),
        ("gfx1030", &[OLD, BUFFER, WGP, "wavefront_size32 0|shared_vgpr_count 2"]),
        ("gfx1100", &[OLD, WGP, "wavefront_size32 0|inst_pref_size 5|enable_private_segment 1"]),
        ("gfx1151", &[OLD, "wavefront_size32 1|inst_pref_size 63"]),
        ("gfx11-generic", &[OLD, "wavefront_size32 1"]),
        ("gfx1200", &[WGP, "round_robin_scheduling 1|inst_pref_size 200|wavefront_size32 1"]),
        ("gfx12-generic", &[WGP, "wavefront_size32 0"]),
        ("gfx1250", &["named_barrier_count 3|inst_pref_size 9|fp16_overflow 1|memory_ordered 0"]),
    ];
    let folder = folder("descriptors");
    let described = cases.map(|(gpu, more)| {
        let directives = [COMMON].iter().chain(more).flat_map(|list| list.split('|'));
        let lines: String = directives.map(|line| format!(".amdhsa_{line}\n")).collect();
        let source = format!(
            ".amdgcn_target \"amdgcn-amd-amdhsa--{gpu}\"\n.amdhsa_code_object_version 6\n.text\n.globl k\n\
             .type k,@function\nk:\ns_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n{lines}.end_amdhsa_kernel\n"
        );
        let (input, object) = (folder.join(format!("{gpu}.s")), folder.join(format!("{gpu}.o")));
        fs::write(&input, source).unwrap();
        let mut assembler = Command::new(newest("llvm-mc"));
        assembler.args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj", &format!("-mcpu={gpu}"), "-o"]);
        ran(assembler.arg(&object).arg(&input));
        let described = described(object.to_str().unwrap(), &[]);
        (object, described)
    });
    let theirs = directives(&described);
    for ((gpu, _), (object, described)) in cases.iter().zip(&described) {
        assert_eq!(described["header"]["processor"], *gpu);
        assert_eq!(described["header"]["type"], "relocatable file");
        let compared = same_descriptor(object, &described["kernels"][0], &theirs);
        assert!(compared > 20, "{gpu}: {compared}");
        if gpu.ends_with("generic") {
            assert_eq!(described["header"]["generic_version"], 1, "{gpu}");
        }
    }
}

/// GFX6 and GFX7, which objdump does not decode: compared with the assembler's input; granules by AMDGPUUsage.
#[test]
fn descriptors_before_gfx8_have_the_values_of_the_directives() {
    let folder = folder("old-descriptors");
    for gpu in ["gfx600", "gfx700"] {
        let source = ".text\n.globl k\n.type k,@function\nk:\ns_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n\
            .amdhsa_next_free_vgpr 21\n.amdhsa_next_free_sgpr 30\n.amdhsa_reserve_vcc 0\n.amdhsa_reserve_flat_scratch 0\n\
            .amdhsa_user_sgpr_queue_ptr 1\n.end_amdhsa_kernel\n";
        // GFX6 has no flat scratch to reserve.
        let source = if gpu == "gfx600" {
            source.replace(".amdhsa_reserve_flat_scratch 0\n", "")
        } else {
            source.into()
        };
        let (input, object) = (folder.join(format!("{gpu}.s")), folder.join(format!("{gpu}.o")));
        fs::write(&input, source).unwrap();
        let mut assembler = Command::new(newest("llvm-mc"));
        assembler.args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj", &format!("-mcpu={gpu}"), "-o"]);
        ran(assembler.arg(&object).arg(&input));
        let descriptor = &described(object.to_str().unwrap(), &[])["kernels"][0]["descriptor"];
        // GFX6's assembler always adds four SGPRs: 34 in granules of eight.
        let sgprs = if gpu == "gfx600" { 40 } else { 32 };
        assert_eq!((&descriptor["vgprs"], &descriptor["sgprs"]), (&24.into(), &sgprs.into()), "{gpu}");
        assert_eq!(descriptor["wave_size"], 64);
        let fields = &descriptor["fields"];
        assert_eq!((&fields["user_sgpr_queue_ptr"], &fields["user_sgpr_count"]), (&1.into(), &2.into()));
        assert!(fields["fp16_overflow"].is_null() && fields["wavefront_size32"].is_null());
    }
}

/// Compares readelf's text of the metadata note; returns the number of arguments.
fn same_metadata(object: &Path, described: &Value, notes: &str) -> usize {
    let count = |what: &str| notes.matches(what).count();
    let kernels = described["kernels"].as_array().unwrap();
    let all = || kernels.iter().flat_map(|kernel| kernel["arguments"].as_array().unwrap());
    assert_eq!(
        count(".kernarg_segment_size:"),
        kernels.iter().filter(|k| k["metadata"]["kernarg_segment_size"].is_u64()).count()
    );
    assert_eq!(count(".value_kind:"), all().count(), "{object:?}");
    for kernel in kernels {
        for fact in
            ["sgpr_spill_count", "vgpr_spill_count", "sgpr_count", "vgpr_count", "kernarg_segment_size"]
        {
            let value = &kernel["metadata"][fact];
            let text = value.to_string();
            if value.is_u64() {
                let lines = notes.lines().filter_map(|line| line.trim().strip_prefix(&format!(".{fact}:")));
                assert!(lines.map(str::trim).any(|line| line == text), "{object:?} {fact} {value}");
            }
        }
    }
    for argument in all() {
        let kind = argument["kind"].as_str().unwrap();
        assert!(notes.contains(&format!(".value_kind:     {kind}")), "{object:?} {kind}");
    }
    assert_eq!(described["problems"], serde_json::json!([]), "{object:?}");
    all().count()
}

/// A host program of clang and a linker, with bundles of two GPUs in `.hip_fatbin`.
#[test]
fn host_programs_and_ranges_are_opened() {
    let folder = folder("host");
    let path = |name: &str| folder.join(name);
    let fixture = |name: &str| crate::support::root().join("tests/fixtures/code").join(name);
    let gpus = [fixture("saxpy-gfx90a-O0.hsaco"), fixture("saxpy-gfx1100-O0.hsaco")];
    fs::write(path("empty"), []).unwrap();
    let mut bundler = Command::new(newest("clang-offload-bundler"));
    bundler.args(["--type=o", "--bundle-align=4096", "--targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx90a,hipv4-amdgcn-amd-amdhsa--gfx1100"]);
    bundler.arg(format!("--input={}", path("empty").display()));
    for gpu in &gpus {
        bundler.arg(format!("--input={}", gpu.display()));
    }
    ran(bundler.arg(format!("--output={}", path("bundle").display())));
    let source = format!(
        "__asm__(\".section .hip_fatbin,\\\"a\\\",@progbits\\n.p2align 12\\n.incbin \\\"{}\\\"\\n\"); int main(void) {{ return 0; }}",
        path("bundle").display()
    );
    fs::write(path("host.c"), source).unwrap();
    let mut clang = Command::new(newest("clang"));
    ran(clang
        .arg("--target=x86_64-unknown-linux-gnu")
        .arg("-c")
        .arg(path("host.c"))
        .arg("-o")
        .arg(path("host.o")));
    let host = path("host.o");
    let host = host.to_str().unwrap();
    let listed = described(host, &[]);
    let entries = listed["entries"].as_array().unwrap();
    let targets: Vec<_> = entries.iter().map(|entry| entry["target_id"].as_str().unwrap_or("-")).collect();
    assert_eq!(targets, ["-", "gfx90a", "gfx1100"]);
    assert_eq!(entries[1]["what"], "code object version 6 for gfx90a");
    // The entry, the same by the loader's URI, and the original file.
    let whole = described(gpus[1].to_str().unwrap(), &[]);
    assert_eq!(described(host, &["--entry", "gfx1100"]), whole);
    assert_eq!(described(host, &["--entry", "2"]), whole);
    let uri = format!(
        "file://{}#offset={}&size={}",
        host.replace('-', "%2D"),
        entries[2]["offset"],
        entries[2]["size"]
    );
    assert_eq!(described(&uri, &[]), whole);
    let fails = |file: &str, more: &[&str]| {
        let output = program(&["code-object", file].iter().chain(more).copied().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        text(&output.stderr)
    };
    assert!(fails(host, &["--entry", "gfx942"]).contains("no entry gfx942"));
    assert!(
        fails(&format!("file://{host}#offset=1&size=99999999"), &[]).contains("the range leaves the file")
    );
    assert!(fails("memory://12#offset=1&size=2", &[]).contains("memory of process 12"));
    let printed = text(&program(&["code-object", host]).stdout);
    assert!(printed.contains("hipv4-amdgcn-amd-amdhsa--gfx90a"), "{printed}");
    let printed = text(&program(&["code-object", host, "-e", "1"]).stdout);
    for words in
        ["gfx90a, shared object, code object version 6", "Kernel saxpy", "hidden_block_count_x", "DWARF: yes"]
    {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    dumps(&folder, &path("bundle"), entries);
}

/// A gfx90a dump with a bundle as its code object prints the same variables.
fn dumps(folder: &Path, bundle: &Path, entries: &[Value]) {
    let fixture = crate::support::root().join("tests/fixtures/dumps/saxpy-gfx90a-O0");
    let expected = program(&["locals", fixture.to_str().unwrap(), "--json"]).stdout;
    assert!(text(&expected).contains("stride"));
    let copy = folder.join("dump");
    crate::fixtures::copy_dump("saxpy-gfx90a-O0", &copy);
    fs::copy(bundle, copy.join("bundle")).unwrap();
    let manifest = fs::read_to_string(fixture.join("manifest.toml")).unwrap();
    let (head, table) = manifest.split_once("[[code_object]]").unwrap();
    let (table, rest) = table.split_once("\n\n").unwrap_or((table, ""));
    let address = table.lines().find(|line| line.starts_with("address")).unwrap();
    let with = |more: &str| {
        let text = format!("{head}[[code_object]]\n{address}\nfile = \"bundle\"\n{more}\n\n{rest}");
        fs::write(copy.join("manifest.toml"), text).unwrap();
        program(&["locals", copy.to_str().unwrap(), "--json"])
    };
    let uri = format!("uri = \"file:///b#offset={}&size={}\"", entries[1]["offset"], entries[1]["size"]);
    // The agent's processor selects the entry, or the user by name; the host file's offsets are not the bundle's.
    for more in
        ["", "entry = \"1\"", "entry = \"gfx90a\"", "entry = \"hipv4-amdgcn-amd-amdhsa--gfx90a\"", &*uri]
    {
        let output = with(more);
        assert_eq!(text(&output.stdout), text(&expected), "{more}: {}", text(&output.stderr));
    }
    with("entry = \"gfx942\"");
    let info = text(&program(&["info", copy.to_str().unwrap()]).stdout);
    assert!(info.contains("no entry gfx942; it has 0: host-x86_64"), "{info}");
}

/// Each argument has the bytes that the model passed, and the source's name and type.
#[test]
fn arguments_are_what_the_models_passed() {
    let mut compared = 0;
    for (_, dump, expected) in some_expected() {
        let Some(passed) = expected["arguments"].as_array() else { continue };
        let output = program(&["arguments", "--json", dump.to_str().unwrap()]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let arguments = answer["dispatches"][0]["arguments"].as_array().unwrap();
        assert!(
            answer["dispatches"][0]["problem"].is_null(),
            "{dump:?}: {}",
            answer["dispatches"][0]["problem"]
        );
        assert_eq!(arguments.len(), passed.len(), "{dump:?}");
        for (ours, theirs) in arguments.iter().zip(passed) {
            for key in ["offset", "size", "kind", "bytes"] {
                assert_eq!(ours[key], theirs[key], "{dump:?} {key} of {ours}");
            }
            assert_eq!(ours["hidden"], theirs["kind"].as_str().unwrap().starts_with("hidden_"));
            compared += 1;
        }
        let name = dump.file_name().unwrap().to_str().unwrap();
        if name.starts_with("saxpy") {
            let visible = arguments.iter().filter(|argument| argument["hidden"] == false);
            let visible: Vec<String> = visible
                .map(|argument| {
                    format!("{} {} = {}", argument["type"], argument["name"], argument["value"])
                        .replace('"', "")
                })
                .collect();
            assert_eq!(visible[..2], ["int n = 1024", "float a = 2"], "{name}");
            assert!(visible[2].starts_with("const float * x = 0x"), "{name}: {visible:?}");
            assert_eq!(visible[4], "int stride = 500", "{name}");
        }
    }
    assert!(compared > least(500, 300), "only {compared}");
}

#[test]
fn arguments_that_were_not_captured_have_no_value() {
    let root = crate::support::root().join("tests/fixtures/dumps");
    let manifest = fs::read_to_string(root.join("inline.toml")).unwrap();
    // The dispatch points to memory that was not captured; to an unmapped address.
    let elsewhere = manifest.replace("\nkernarg = \"0x7f0000400000\"", "\nkernarg = \"0x7f0000999000\"");
    let nowhere = manifest.replace("\nkernarg = \"0x7f0000400000\"", "");
    assert_ne!(elsewhere, manifest);
    let folder = folder("arguments");
    fs::create_dir_all(folder.join("diverge-gfx1100-O2")).unwrap();
    let path = folder.join("dump.toml");
    let code = "diverge-gfx1100-O2/diverge-gfx1100-O2.hsaco";
    fs::copy(root.join(code), folder.join(code)).unwrap();
    for (text_of, problem) in
        [(elsewhere, Value::Null), (nowhere, "the address of the kernel arguments was not captured".into())]
    {
        fs::write(&path, text_of).unwrap();
        let output = program(&["arguments", "--json", path.to_str().unwrap()]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["dispatches"][0]["problem"], problem, "{}", text(&output.stderr));
        let arguments = answer["dispatches"][0]["arguments"].as_array().unwrap();
        assert!(arguments.len() > 4, "{answer}");
        for argument in arguments {
            let size = argument["size"].as_u64().unwrap() as usize;
            assert_eq!(argument["bytes"], "xx".repeat(size));
            assert!(argument["value"].is_null());
        }
        let printed = text(&program(&["arguments", path.to_str().unwrap()]).stdout);
        assert!(printed.contains("<unavailable: not captured>"), "{printed}");
    }
    let refused = program(&["arguments", path.to_str().unwrap(), "--dispatch", "77"]);
    assert!(text(&refused.stderr).contains("has no dispatch 77"));
}

const RELOCATABLE: &str = r#"
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.amdgpu_lds cells, 256, 16
.globl cells
.text
f:
s_getpc_b64 s[0:1]
s_add_u32 s0, s0, other@rel32@lo+4
s_addc_u32 s1, s1, other@rel32@hi+12
s_mov_b32 s2, cells@abs32@lo
s_endpgm
.data
table:
.quad f
.quad other + 8
.section .debug_info,"",@progbits
.quad f
.long 0
"#;

/// Symbols with their sections and relocations, compared with readelf.
#[test]
fn relocatable_files_are_readelfs() {
    let path = folder("relocatable").join("file.o");
    let source = path.with_extension("s");
    fs::write(&source, RELOCATABLE).unwrap();
    let mut assembler = Command::new(newest("llvm-mc"));
    assembler.args(["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"]);
    ran(assembler.arg(&path).arg(&source));
    let described = described(path.to_str().unwrap(), &[]);
    let listing = ran(Command::new(newest("llvm-readelf")).args(["-r", "-s", "-W"]).arg(&path));
    let mut theirs = Vec::new();
    let mut section = "";
    for line in listing.lines() {
        if let Some(rest) = line.strip_prefix("Relocation section '.rela") {
            section = rest.split('\'').next().unwrap();
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [offset, _, kind, _, symbol, "+", addend] = words[..] {
            let number = |text| i64::from_str_radix(text, 16).unwrap();
            theirs.push((section, number(offset), kind, symbol, number(addend)));
        }
    }
    let rows = described["relocations"].as_array().unwrap();
    let ours: Vec<_> = rows
        .iter()
        .map(|row| {
            let word = |name: &str| row[name].as_str().unwrap();
            let offset = i64::from_str_radix(&word("offset")[2..], 16).unwrap();
            (word("section"), offset, word("type"), word("symbol"), row["addend"].as_i64().unwrap())
        })
        .collect();
    assert_eq!((ours.len(), &ours), (6, &theirs), "{listing}");
    let symbol = |name: &str| {
        let symbols = described["symbols"].as_array().unwrap();
        symbols.iter().find(|symbol| symbol["name"] == *name).unwrap_or_else(|| panic!("{symbols:?}"))
    };
    assert_eq!((&symbol(".text")["kind"], &symbol(".text")["section"]), (&"section".into(), &".text".into()));
    assert_eq!(symbol("table")["section"], ".data");
    let cells = symbol("cells");
    assert_eq!((&cells["alignment"], &cells["value"]), (&16.into(), &Value::Null));
    assert!(cells.get("section").is_none() && symbol("other").get("section").is_none());
    let shown = text(&program(&["code-object", path.to_str().unwrap()]).stdout);
    assert!(shown.contains("R_AMDGPU_REL32_HI") && shown.contains("1 more"), "{shown}");
}

/// HIP's metadata lacks argument types; the source and the debug information have them.
#[test]
fn types_of_arguments_are_the_sources() {
    for (name, types) in [
        ("saxpy-gfx90a-O0", ["int", "float", "const float *", "float *", "int"]),
        ("saxpy-gfx1100-O2", ["int", "float", "const float *", "float *", "int"]),
    ] {
        let object = format!("tests/fixtures/code/{name}.hsaco");
        let described = described(&object, &[]);
        let arguments = described["kernels"][0]["arguments"].as_array().unwrap();
        let visible = arguments.iter().filter(|row| !row["kind"].as_str().unwrap().starts_with("hidden_"));
        let shown: Vec<&str> = visible.map(|row| row["type"].as_str().unwrap_or("-")).collect();
        assert_eq!(shown, types, "{name}");
        assert!(described["problems"].as_array().unwrap().is_empty(), "{}", described["problems"]);
    }
}
