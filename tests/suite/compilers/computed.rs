//! Values that clang computes from arguments in registers, at -O2: each is that of the source in Rust's integers.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::dwarf::ran;
use crate::slim::{Scratch, answer, words};
use crate::support::newest;

const LOAD: u64 = 0x7f00_0010_0000;
/// No variable is used, so LLVM keeps all in the debug information alone.
const SOURCE: &str = "extern __attribute__((device)) volatile int sink;\n\
    __attribute__((device)) volatile int sink;\n\
    extern \"C\" __attribute__((device, noinline)) int f(int a, unsigned c, short sh, bool bo) {\n\
    int quotient = a / 4; int negative = a / -4; int rest = a % 7; int shifted = a >> 2; unsigned logical = c >> 3;\n\
    bool less = a < 5; bool below = c < 5u; bool more = a > -7; bool above = c > 0xfffffff0u; bool equal = a == -1;\n\
    bool between = a < (int)c; bool not_less = a >= 0; bool inverse = !bo; bool nested = sh / 3 > 2;\n\
    short third = sh / 3; short remainder = sh % 3; long wide = a; unsigned long zeros = c; int sum = a + 100;\n\
    sink = a; sink = c; sink = sh; sink = bo; return 0; }\n\
    extern \"C\" __attribute__((global)) void k(int *o) { *o = f(o[1], o[2], o[3], o[4]); }\n";
/// Of each lane in turn: a, c, sh, bo.
const ARGUMENTS: [(i32, u32, i16, bool); 6] = [
    (-100, 0xffff_fff5, -5, true),
    (-1, 3, 32767, false),
    (7, 0x8000_0000, 9, true),
    (i32::MIN, 4, -32768, false),
    (i32::MAX, 0, -1, true),
    (0, 0xffff_fff0, 8, false),
];

/// The variables in the source's order. `between`: `None` where a signed and an unsigned comparison differ.
fn computed((a, c, sh, bo): (i32, u32, i16, bool)) -> Vec<(&'static str, Value)> {
    let signed = a < c.cast_signed();
    let between = if signed == (a.cast_unsigned() < c) { json!(signed) } else { Value::Null };
    vec![
        ("quotient", json!(a / 4)),
        ("negative", json!(a / -4)),
        ("rest", json!(a % 7)),
        ("shifted", json!(a >> 2)),
        ("logical", json!(c >> 3)),
        ("less", json!(a < 5)),
        ("below", json!(c < 5)),
        ("more", json!(a > -7)),
        ("above", json!(c > 0xffff_fff0)),
        ("equal", json!(a == -1)),
        ("between", between),
        ("not_less", json!(a >= 0)),
        ("inverse", json!(!bo)),
        ("nested", json!(sh / 3 > 2)),
        ("third", json!(sh / 3)),
        ("remainder", json!(sh % 3)),
        ("wide", json!(i64::from(a))),
        ("zeros", json!(u64::from(c))),
        ("sum", json!(a.wrapping_add(100))),
    ]
}

#[test]
fn computed_values_are_those_of_the_source() {
    for (gpu, lanes) in [("gfx90a", 64), ("gfx1100", 32)] {
        let scratch = Scratch::new("computed");
        let (source, to) = (scratch.path("f.hip"), scratch.path("dump"));
        fs::create_dir_all(&to).unwrap();
        fs::write(&source, SOURCE).unwrap();
        let object = to.join("f.hsaco");
        ran(Command::new(newest("clang"))
            .args([
                "-x",
                "hip",
                "-nogpuinc",
                "-nogpulib",
                "--cuda-device-only",
                "--no-gpu-bundle-output",
                "-g",
                "-O2",
            ])
            .args([&format!("--offload-arch={gpu}"), "-o"])
            .arg(&object)
            .arg(&source));
        let table = ran(Command::new(newest("llvm-readelf")).args(["-s", "-W"]).arg(&object));
        let row = table.lines().find(|line| line.ends_with(" f")).unwrap();
        let start = u64::from_str_radix(row.split_whitespace().nth(1).unwrap(), 16).unwrap();
        let each = |number: &dyn Fn((i32, u32, i16, bool)) -> u32| {
            let lane = |lane: usize| number(ARGUMENTS[lane % ARGUMENTS.len()]).to_string();
            (0..lanes).map(lane).collect::<Vec<_>>().join(", ")
        };
        let text = format!(
            "format = 1\n[[agent]]\nid = 1\ntarget = \"{gpu}\"\n[[code_object]]\nfile = \"f.hsaco\"\n\
             address = \"{LOAD:#x}\"\n[[wave]]\nid = 1\nagent = 1\nwave_size = {lanes}\n[wave.registers]\n\
             pc = \"{:#x}\"\nexec = \"0x3f\"\nv0 = [{}]\nv1 = [{}]\nv2 = [{}]\nv3 = [{}]\n",
            LOAD + start,
            each(&|arguments| arguments.0.cast_unsigned()),
            each(&|arguments| arguments.1),
            each(&|arguments| i32::from(arguments.2).cast_unsigned()),
            each(&|arguments| u32::from(arguments.3)),
        );
        fs::write(to.join("manifest.toml"), text).unwrap();
        let locals: Value =
            serde_json::from_str(&answer(&["locals", words(&to), "--lane", "0-5", "--json"])).unwrap();
        let variables = locals["variables"].as_array().unwrap();
        let mut compared = 0;
        for (lane, arguments) in ARGUMENTS.into_iter().enumerate() {
            for (name, value) in computed(arguments) {
                let variable = variables.iter().find(|variable| variable["name"] == name).unwrap();
                let found = &variable["lanes"][lane];
                let about = format!("{gpu} {name} of {arguments:?}: {found}");
                if value.is_null() {
                    assert_eq!(found["state"], "unavailable", "{about}");
                    assert!(
                        found["why"].as_str().unwrap().contains("does not state sign or width"),
                        "{about}"
                    );
                } else {
                    assert_eq!(found["number"], value, "{about}");
                }
                compared += 1;
            }
        }
        assert_eq!(compared, 6 * 19, "{gpu}");
    }
}
