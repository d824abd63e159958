//! HIP's variables in LDS, which clang describes without a location: sizes by llvm-readelf's metadata and the source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::dwarf::ran;
use crate::fixtures::{expected_of, one_line};
use crate::slim::{Scratch, answer, said, words};
use crate::support::newest;

const LOAD: u64 = 0x7f00_0010_0000;
/// `one` has 4 bytes of LDS in `turn` alone, `two` has `table`, `tile` and `d`. `limit` is removed at -O2.
const SOURCE: &str = "#define SHARED __attribute__((shared))\n\
    SHARED float table[64];\n\
    __attribute__((device)) __attribute__((noinline)) int use(int i) { return (int)table[i]; }\n\
    extern \"C\" __attribute__((global)) void one(float *out) {\n\
    SHARED volatile int turn;\n\
    static const int limit = 3;\n\
    int removed[3] = {1, 2, (int)out[3]};\n\
    while (turn != 5) {}\n\
    out[limit + removed[2]] = 1.0f; }\n\
    extern \"C\" __attribute__((global)) void two(float *out) {\n\
    SHARED float tile[256];\n\
    SHARED double d;\n\
    int i = __builtin_amdgcn_workitem_id_x();\n\
    tile[i] = out[i]; d = 2;\n\
    __builtin_amdgcn_s_barrier();\n\
    out[i] = tile[i ^ 1] + d + use(i); table[i] = 1; }\n";

/// Compiles a source.
fn compiled(scratch: &Scratch, source: &str, level: &str, more: &[&str], output: &Path) {
    let file = scratch.path("shared.hip");
    fs::write(&file, source).unwrap();
    ran(Command::new(newest("clang"))
        .args(["-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output", "-g"])
        .args(["--offload-arch=gfx90a", &format!("-{level}"), "-o"])
        .arg(output)
        .arg(&file)
        .args(more));
}

/// The bytes of LDS of a kernel by llvm-readelf.
fn fixed(object: &Path, kernel: &str) -> u64 {
    let notes = ran(Command::new(newest("llvm-readelf")).arg("--notes").arg(object));
    let of_kernel =
        notes.split("\n  - ").find(|part| part.contains(&format!(".symbol:         {kernel}.kd")));
    let line = of_kernel.unwrap().lines().find_map(|line| line.split_once(".group_segment_fixed_size:"));
    line.unwrap().1.trim().parse().unwrap()
}

fn dump(scratch: &Scratch, level: &str, kernel: &str) -> PathBuf {
    dump_of(scratch, SOURCE, level, kernel, 0)
}

/// Compiles the source, the only one of the folder, once at a level, and writes a dump with a wave at the end of a kernel,
/// whose LDS has the byte n at address n.
/// `dynamic`: bytes of dynamic LDS.
fn dump_of(scratch: &Scratch, source: &str, level: &str, kernel: &str, dynamic: u64) -> PathBuf {
    let to = scratch.path(&format!("{kernel}-{level}-{dynamic}"));
    fs::create_dir_all(&to).unwrap();
    let object = scratch.path(&format!("{level}.hsaco"));
    if !object.exists() {
        compiled(scratch, source, level, &[], &object);
    }
    fs::copy(object, to.join("code.hsaco")).unwrap();
    captured(&to, kernel, dynamic);
    to
}

/// Writes the manifest of such a dump beside `code.hsaco`.
fn captured(to: &Path, kernel: &str, dynamic: u64) {
    let object = to.join("code.hsaco");
    let shared = fixed(&object, kernel) + dynamic;
    let table = ran(Command::new(newest("llvm-readelf")).args(["-s", "-W"]).arg(&object));
    let symbol = |name: &str| {
        let row = table.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        (u64::from_str_radix(cells[1], 16).unwrap(), cells[2].parse::<u64>().unwrap())
    };
    let ((entry, size), (descriptor, _)) = (symbol(kernel), symbol(&format!("{kernel}.kd")));
    let lds: String = (0..2048u32).map(|byte| format!("{:02x}", byte % 256)).collect();
    // The last instruction is s_endpgm, or a filler behind it; s33 is 0 past the prologue.
    let text = format!(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 1\nagent = 1\n[[code_object]]\n\
         file = \"code.hsaco\"\naddress = \"{LOAD:#x}\"\n[[dispatch]]\nid = 1\nqueue = 1\ngrid = [64]\n\
         workgroup = [64]\ngroup_segment_size = {shared}\nkernel_object = \"{:#x}\"\n[[workgroup]]\nid = 1\ndispatch = 1\nposition = [0, 0, 0]\n\
         lds_size = 2048\nlds = [{{ hex = \"{lds}\" }}]\n[[wave]]\nid = 1\nworkgroup = 1\nwave_size = 64\n\
         [wave.registers]\npc = \"{:#x}\"\nexec = \"0xffffffffffffffff\"\ns33 = \"0x0\"\n",
        LOAD + descriptor,
        LOAD + entry + size - 4
    );
    fs::write(to.join("manifest.toml"), text).unwrap();
}

/// State, value and inferences of the variables of the kernel in lane 0, and the reason of a missing value.
fn local(dump: &Path, name: &str) -> (String, Option<String>, Value, String) {
    let locals: Value =
        serde_json::from_str(&answer(&["locals", words(dump), "--lane", "0", "--json"])).unwrap();
    let all = locals["variables"].as_array().unwrap();
    let found = all.iter().find(|of| of["name"] == name).unwrap_or_else(|| panic!("no {name} in {locals}"));
    let lane = &found["lanes"][0];
    let text = |key: &str| lane[key].as_str().map(str::to_owned);
    (text("state").unwrap(), text("value"), lane["inferred"].clone(), text("why").unwrap_or_default())
}

/// Bytes 0 to 3 as a number, lowest first.
const FIRST: &str = "50462976";

#[test]
fn the_only_variable_of_the_size_of_lds_is_at_0_without_optimisation() {
    let scratch = Scratch::new("shared-only");
    let dump = dump(&scratch, "O0", "one");
    let (state, value, inferred, _) = local(&dump, "turn");
    assert_eq!((&*state, value.as_deref()), ("ok", Some(FIRST)));
    assert_eq!(inferred, serde_json::json!(["lds_size"]));
    let printed = answer(&["print", words(&dump), "turn", "--lane", "0"]);
    assert!(printed.contains(FIRST) && printed.contains("(inferred: LDS by size)"), "{printed}");
    let text = answer(&["locals", words(&dump), "--lane", "0"]);
    let line = text.lines().find(|line| line.contains(" turn = ")).unwrap();
    assert!(line.starts_with("static ") && line.contains("inferred: LDS by size"), "{line}");
    // `table` has more bytes than the LDS of this kernel.
    let (shown, why) = said(&["print", words(&dump), "table", "--lane", "0"]);
    assert!((shown.clone() + &why).contains("it has no DW_AT_location"), "{shown}{why}");
}

/// clang's location of a variable in OpenCL's local memory names a symbol that LLVM removes: the linker writes 0.
#[test]
fn removed_symbols_of_local_memory_are_no_address() {
    let source = "__kernel void kk(__global float *out, int n) {\n\
        __local float tile[64]; __local float other[32]; __local short sh[64];\n\
        int i = __builtin_amdgcn_workitem_id_x(); tile[i] = out[i]; other[i & 31] = out[i + 1]; sh[i] = n;\n\
        __builtin_amdgcn_s_barrier();\n\
        out[i] = tile[63 - i] + other[(i + 3) & 31] + sh[63 - i]; }\n\
        __kernel void kj(__global int *out) { __local int jo[64]; int i = __builtin_amdgcn_workitem_id_x();\n\
        jo[i] = out[i]; __builtin_amdgcn_s_barrier(); out[i] = jo[63 - i]; }\n";
    let scratch = Scratch::new("shared-opencl");
    let file = scratch.path("local.cl");
    fs::write(&file, source).unwrap();
    for level in ["-O1", "-O2"] {
        let to = scratch.path(level);
        fs::create_dir_all(&to).unwrap();
        ran(Command::new(newest("clang"))
            .args(["-x", "cl", "-cl-std=CL2.0", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib"])
            .args(["-g", level, "-o"])
            .arg(to.join("code.hsaco"))
            .arg(&file));
        captured(&to, "kk", 0);
        for name in ["tile", "other", "sh"] {
            let (shown, why) = said(&["print", words(&to), name, "--lane", "5"]);
            let text = shown + &why;
            assert!(!text.contains("= {") && !text.contains("[local+"), "{level} {name}: {text}");
        }
        let (shown, why) = said(&["print", words(&to), "tile", "--lane", "5"]);
        assert!((shown.clone() + &why).contains("bytes of LDS"), "{shown}{why}");
    }
}

/// The optimiser may add arrays to LDS, so sizes prove nothing; `table` may be before `tile` or behind it.
#[test]
fn other_variables_without_a_location_may_be_in_lds() {
    let scratch = Scratch::new("shared-others");
    for (level, kernel, names) in [("O2", "one", &["turn"][..]), ("O0", "two", &["tile"])] {
        let dump = dump(&scratch, level, kernel);
        for name in names {
            let (state, value, _, why) = local(&dump, name);
            assert_eq!((&*state, value), ("unavailable", None), "{level} {name}: {why}");
            assert!(why.contains("it may be in the ") && why.contains(" bytes of LDS: "), "{why}");
            // The command of the text reads LDS.
            let typed =
                why.split('`').nth(1).unwrap().strip_prefix("print '").unwrap().trim_end_matches('\'');
            let read = answer(&["print", words(&dump), typed, "--lane", "0", "--format", "x"]);
            assert!(read.contains("3020100"), "{typed}: {read}");
            // An array is read as a whole.
            assert_eq!(read.contains("7060504"), *name == "tile", "{typed}: {read}");
        }
        if level == "O2" {
            for name in ["removed", "limit"] {
                assert_eq!(local(&dump, name).0, "optimized_out", "{name}");
            }
        }
    }
    let (shown, _) = said(&["print", words(&dump(&scratch, "O0", "two")), "table", "--lane", "0"]);
    let shown = one_line(&shown);
    assert!(shown.contains("no location from the compiler; it may be in the "), "{shown}");
}

/// Variables of one kernel each, but `pool`, which two kernels reach through a function.
const LAYOUTS: &str = "#define SHARED __attribute__((shared))\n\
    #define KERNEL extern \"C\" __attribute__((global)) void\n\
    typedef float v4 __attribute__((ext_vector_type(4)));\n\
    SHARED float pool[64];\n\
    __attribute__((device)) __attribute__((noinline)) void fill(int i) { pool[i] = i; }\n\
    KERNEL pair(float *out) { SHARED int a; SHARED double b;\n\
    a = out[0]; b = out[1]; out[2] = a + b;\n}\n\
    KERNEL arrays(float *out) { SHARED short five[5]; SHARED float big[300]; SHARED double d;\n\
    five[1] = out[0]; big[2] = out[1]; d = out[2]; out[3] = five[1] + big[2] + d;\n}\n\
    KERNEL vectors(float *out) { SHARED alignas(64) float a[3]; SHARED v4 v; SHARED short s[3];\n\
    a[1] = out[0]; v = out[1]; s[2] = out[2]; out[3] = a[1] + v[1] + s[2];\n}\n\
    KERNEL twins(float *out) { SHARED int i; SHARED float f; SHARED double rows[9];\n\
    i = out[0]; f = out[1]; rows[1] = out[2]; out[3] = i + f + rows[1];\n}\n\
    KERNEL module(float *out) { SHARED int own[5]; own[1] = out[0]; fill(1); out[1] = own[1];\n}\n\
    KERNEL behind(float *out) { SHARED double e[50]; e[1] = out[0]; fill(2); out[1] = e[1];\n}\n";
/// Scalars, which no optimisation splits. `few` has LDS of the size of arrays that the optimiser adds.
const SCALARS: &str = "#define SHARED __attribute__((shared))\n\
    #define KERNEL extern \"C\" __attribute__((global)) void\n\
    KERNEL many(float *out) { SHARED int total; SHARED double sum; int i = __builtin_amdgcn_workitem_id_x();\n\
    if (i == 3) { total = out[0]; sum = out[1]; }\n\
    __builtin_amdgcn_s_barrier(); out[i] = total + sum;\n}\n\
    __attribute__((amdgpu_flat_work_group_size(1, 8)))\n\
    KERNEL few(float *out) { SHARED int total; SHARED double sum; int i = __builtin_amdgcn_workitem_id_x();\n\
    if (i == 3) { total = out[0]; sum = out[1]; }\n\
    __builtin_amdgcn_s_barrier(); out[i] = total + sum;\n}\n";
/// Kernel, variable, LLVM's type, and whether sizes prove its address.
const PLACES: [(&str, &str, &str, bool); 15] = [
    ("pair", "a", "i32", true),
    ("pair", "b", "double", true),
    ("arrays", "five", "[5 x i16]", true),
    ("arrays", "big", "[300 x float]", true),
    ("arrays", "d", "double", true),
    ("vectors", "a", "[3 x float]", true),
    ("vectors", "v", "<4 x float>", true),
    ("vectors", "s", "[3 x i16]", true),
    ("twins", "i", "i32", false),
    ("twins", "f", "float", false),
    ("twins", "rows", "[9 x double]", false),
    ("module", "own", "[5 x i32]", true),
    ("module", "pool", "[64 x float]", true),
    // `pool` may be in the structure of the kernel, behind `e`.
    ("behind", "e", "[50 x double]", false),
    ("behind", "pool", "[64 x float]", false),
];

/// The bytes of a type of LLVM's text.
fn size_of(kind: &str) -> u64 {
    let inner = kind.strip_prefix('[').or_else(|| kind.strip_prefix('<'));
    if let Some((count, of)) = inner.and_then(|inner| inner.split_once(" x ")) {
        return count.parse::<u64>().unwrap() * size_of(&of[..of.len() - 1]);
    }
    match kind {
        "double" => 8,
        "float" | "i32" => 4,
        "i16" => 2,
        "i8" => 1,
        _ => panic!("{kind}"),
    }
}

/// The addresses of a kernel's variables, by type, from LLVM's pass.
fn lowered(scratch: &Scratch, source: &str, level: &str, kernel: &str) -> Vec<(String, u64)> {
    let [before, after] = ["before", "after"].map(|name| scratch.path(&format!("{name}-{level}.ll")));
    if !after.exists() {
        compiled(scratch, source, level, &["-S", "-emit-llvm"], &before);
        ran(Command::new(newest("opt"))
            .args(["-mcpu=gfx90a", "-passes=amdgpu-lower-module-lds", "-S", "-o"])
            .arg(&after)
            .arg(&before));
    }
    let text = fs::read_to_string(&after).unwrap();
    let mut found = Vec::new();
    for name in [format!("llvm.amdgcn.kernel.{kernel}.lds"), "llvm.amdgcn.module.lds".to_owned()] {
        let line = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
        let Some(members) = line(&format!("%{name}.t = type {{ ")) else { continue };
        let global = line(&format!("@{name} = ")).unwrap();
        let node = global.split("!absolute_symbol ").nth(1).unwrap().split(',').next().unwrap();
        let range = line(&format!("{node} = !{{i32 ")).unwrap();
        let mut at: u64 = range.split(',').next().unwrap().parse().unwrap();
        for member in members.trim_end_matches(" }").split(", ") {
            found.push((member.to_owned(), at));
            at += size_of(member);
        }
    }
    found
}

/// The address of a variable in LDS; the reason if it has none.
fn address(dump: &Path, name: &str) -> Result<u64, String> {
    let (shown, why) = said(&["print", words(dump), name, "--lane", "0", "--json"]);
    let printed: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}{why}"));
    let lane = &printed["lanes"][0];
    match lane["parts"].as_array() {
        Some(parts) => {
            assert_eq!(lane["inferred"], serde_json::json!(["lds_size"]), "{printed}");
            Ok(u64::from_str_radix(parts[0]["address"].as_str().unwrap().trim_start_matches("0x"), 16)
                .unwrap())
        }
        None => Err(lane["why"].as_str().unwrap_or_default().to_owned()),
    }
}

#[test]
fn several_variables_have_the_addresses_of_llvms_layout_or_none() {
    let scratch = Scratch::new("shared-layouts");
    for (kernel, name, kind, is_certain) in PLACES {
        let dump = dump_of(&scratch, LAYOUTS, "O0", kernel, 0);
        let found = address(&dump, name);
        if is_certain {
            let all = lowered(&scratch, LAYOUTS, "O0", kernel);
            let (_, expected) = all.iter().find(|(of, _)| of == kind).unwrap_or_else(|| panic!("{all:?}"));
            assert_eq!(found.as_ref(), Ok(expected), "{kernel} {name}: {all:?}");
        } else {
            let why = found.unwrap_err();
            assert!(
                why.contains("it may be in the ") && why.contains("bytes of LDS"),
                "{kernel} {name}: {why}"
            );
        }
    }
    // The alignment of dynamic LDS may be the reason for the size.
    let dump = dump_of(&scratch, LAYOUTS, "O0", "pair", 256);
    assert!(address(&dump, "a").is_err() && address(&dump, "b").is_err());
    // Optimised arrays may be split into their elements.
    let dump = dump_of(&scratch, LAYOUTS, "O2", "pair", 0);
    assert!(address(&dump, "a").is_err());
}

#[test]
fn optimised_scalars_have_addresses_in_lds_smaller_than_arrays_of_the_optimiser() {
    let scratch = Scratch::new("shared-scalars");
    for level in ["O0", "O1", "O2"] {
        let all = lowered(&scratch, SCALARS, level, "many");
        let dump = dump_of(&scratch, SCALARS, level, "many", 0);
        for (name, kind) in [("total", "i32"), ("sum", "double")] {
            let (_, expected) = all.iter().find(|(of, _)| of == kind).unwrap_or_else(|| panic!("{all:?}"));
            assert_eq!(address(&dump, name).as_ref(), Ok(expected), "{level} {name}");
        }
    }
    let dump = dump_of(&scratch, SCALARS, "O2", "few", 0);
    assert!(address(&dump, "total").is_err() && address(&dump, "sum").is_err());
}

/// The model executes the code of chain.hip, which writes `shared` through addresses of its own.
#[test]
fn values_in_lds_are_those_of_the_model() {
    let mut compared = 0;
    let (path, expected) = expected_of("chain-gfx90a-O0");
    for wave in expected["waves"].as_array().unwrap() {
        for (index, node) in wave["shared"].as_array().unwrap().iter().enumerate() {
            for member in ["id", "weight"] {
                let asked = format!("shared[{index}].{member}");
                let id = wave["id"].to_string();
                let arguments = ["print", words(&path), &asked, "--lane", "0", "--wave", &id, "--json"];
                let printed: Value = serde_json::from_str(&answer(&arguments)).unwrap();
                let lane = &printed["lanes"][0];
                assert_eq!(lane["value"], node[member].to_string(), "{asked}: {printed}");
                assert_eq!(lane["inferred"], serde_json::json!(["lds_size"]), "{asked}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 6, "{compared}");
}
