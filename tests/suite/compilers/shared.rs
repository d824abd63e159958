//! HIP's variables in LDS, which clang describes without a location: sizes by llvm-readelf's metadata and the source.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::dwarf::{newest, ran};
use crate::fixtures::expected;
use crate::slim::{Scratch, answer, said, words};

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

/// Compiles the source and writes a dump with a wave at the end of a kernel, whose LDS has the byte n at address n.
fn dump(scratch: &Scratch, level: &str, kernel: &str) -> PathBuf {
    let to = scratch.path(&format!("{kernel}-{level}"));
    fs::create_dir_all(&to).unwrap();
    let (source, object) = (scratch.path("shared.hip"), to.join("code.hsaco"));
    fs::write(&source, SOURCE).unwrap();
    ran(Command::new(newest("clang"))
        .args(["-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output", "-g"])
        .args(["--offload-arch=gfx90a", &format!("-{level}"), "-o"])
        .arg(&object)
        .arg(&source));
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
         workgroup = [64]\nkernel_object = \"{:#x}\"\n[[workgroup]]\nid = 1\ndispatch = 1\nposition = [0, 0, 0]\n\
         lds_size = 2048\nlds = [{{ hex = \"{lds}\" }}]\n[[wave]]\nid = 1\nworkgroup = 1\nwave_size = 64\n\
         [wave.registers]\npc = \"{:#x}\"\nexec = \"0xffffffffffffffff\"\ns33 = \"0x0\"\n",
        LOAD + descriptor,
        LOAD + entry + size - 4
    );
    fs::write(to.join("manifest.toml"), text).unwrap();
    to
}

/// State, value and inferences of the variables of the kernel in lane 0, and the reason of a missing value.
fn local(dump: &std::path::Path, name: &str) -> (String, Option<String>, Value, String) {
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

/// The optimiser may add arrays to LDS, so sizes prove nothing; which of several variables is first is not known.
#[test]
fn other_variables_without_a_location_may_be_in_lds() {
    let scratch = Scratch::new("shared-others");
    for (level, kernel, names) in [("O2", "one", &["turn"][..]), ("O0", "two", &["tile", "d"])] {
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
        }
        if level == "O2" {
            for name in ["removed", "limit"] {
                assert_eq!(local(&dump, name).0, "optimized_out", "{name}");
            }
        }
    }
    let (shown, _) = said(&["print", words(&dump(&scratch, "O0", "two")), "table", "--lane", "0"]);
    assert!(shown.contains("no location from the compiler; it may be in the "), "{shown}");
}

/// The model executes the code of chain.hip, which writes `shared` through addresses of its own.
#[test]
fn values_in_lds_are_those_of_the_model() {
    let mut compared = 0;
    for (name, path, expected) in expected() {
        if !name.starts_with("chain-") {
            continue;
        }
        for wave in expected["waves"].as_array().unwrap() {
            for (index, node) in wave["shared"].as_array().unwrap().iter().enumerate() {
                for member in ["id", "weight"] {
                    let asked = format!("shared[{index}].{member}");
                    let id = wave["id"].to_string();
                    let arguments = ["print", words(&path), &asked, "--lane", "0", "--wave", &id, "--json"];
                    let printed: Value = serde_json::from_str(&answer(&arguments)).unwrap();
                    let lane = &printed["lanes"][0];
                    assert_eq!(lane["value"], node[member].to_string(), "{name} {asked}: {printed}");
                    assert_eq!(lane["inferred"], serde_json::json!(["lds_size"]), "{name} {asked}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 6, "{compared}");
}
