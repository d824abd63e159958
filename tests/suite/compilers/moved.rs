//! Objects of optimised kernels that LLVM moved to LDS, and objects with missing pieces. Locations are llvm-dwarfdump's,
//! sizes of LDS llvm-readelf's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::dwarf::ran;
use crate::slim::{Scratch, answer, words};
use crate::support::newest;

const LOAD: u64 = 0x7f00_0010_0000;
/// LLVM gives `t`, `v`, `b` and `e` an element of LDS for each of 1024 work-items (AMDGPUPromoteAlloca). In `middle` the
/// lower half of `a` outlives the upper one. `spare` has the size of the elements of `t`.
const SOURCE: &str = "#define SHARED __attribute__((shared))\n\
    #define KERNEL extern \"C\" __attribute__((global)) void\n\
    #define ITEM __builtin_amdgcn_workitem_id_x()\n\
    struct T { short tag; char c[2]; };\n\
    KERNEL tiny(int *in, int *out, int n) { T t; int i = ITEM;\n\
    t.tag = in[i]; t.c[0] = in[i + 1]; t.c[1] = in[i + 2];\n\
    for (int k = 0; k < n; k++) { t.c[in[k] & 1] += in[k + 1]; t.tag += t.c[in[k + 2] & 1]; }\n\
    out[i] = t.c[in[3] & 1] + t.tag; }\n\
    KERNEL bytes(int *in, int *out, int n) { union { float f[1]; int i[1]; char c[4]; } v; int i = ITEM;\n\
    v.i[0] = in[i];\n\
    for (int k = 0; k < n; k++) { v.c[in[k] & 3] += in[k + 1]; v.f[0] *= 2.0f; }\n\
    out[i] = v.i[0]; }\n\
    struct Body { int n; float w[5]; short tag; double m; };\n\
    KERNEL body(int *in, int *out, int n) { Body b; int i = ITEM;\n\
    b.n = in[n]; b.tag = in[n + 1]; b.m = 2.5 * in[n + 2];\n\
    for (int k = 0; k < 5; k++) b.w[k] = in[i + k * n];\n\
    for (int k = 0; k < n; k++) b.w[in[k] % 5] += 1.0f;\n\
    out[i] = b.n + (int)b.w[in[5] % 5] + b.tag + (int)b.m; }\n\
    extern \"C\" __attribute__((device, noinline)) int leaf(int *a, int k) { return a[k & 15] + k; }\n\
    extern \"C\" __attribute__((device, noinline)) int middle(int *a, int k) { int big[32];\n\
    for (int i = 0; i < 32; i++) big[i] = a[i];\n\
    int r = leaf(big, k & 7);\n\
    for (int i = 0; i < 32; i++) r += big[(i + k) & 31];\n\
    return r + leaf(big, (k + 1) & 7); }\n\
    KERNEL calls(int *in, int *out) { int i = ITEM; out[i] = middle(in, i); }\n\
    #ifdef SPARE\n\
    SHARED int spare[1024];\n\
    KERNEL other(int *in, int *out) { int i = ITEM;\n\
    spare[i] = in[i]; __builtin_amdgcn_s_barrier(); out[i] = spare[1023 - i]; }\n\
    #endif\n";

/// Compiled code with the tools' texts about it.
struct Code {
    object: PathBuf,
    dies: String,
    notes: String,
    symbols: String,
    instructions: String,
    gpu: &'static str,
}

fn compiled(scratch: &Scratch, gpu: &'static str, more: &[&str]) -> Code {
    let (source, object) = (scratch.path("moved.hip"), scratch.path(&format!("{gpu}.hsaco")));
    fs::write(&source, SOURCE).unwrap();
    ran(Command::new(newest("clang"))
        .args(["-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output", "-g"])
        .args([&format!("--offload-arch={gpu}"), "-O2", "-o"])
        .arg(&object)
        .arg(&source)
        .args(more));
    let tool = |name: &str, arguments: &[&str]| ran(Command::new(newest(name)).args(arguments).arg(&object));
    Code {
        dies: tool("llvm-dwarfdump", &["--debug-info"]),
        notes: tool("llvm-readelf", &["--notes"]),
        symbols: tool("llvm-readelf", &["-s", "-W"]),
        instructions: tool("llvm-objdump", &["-d"]),
        object,
        gpu,
    }
}

impl Code {
    fn lanes(&self) -> u64 {
        if self.gpu == "gfx90a" { 64 } else { 32 }
    }

    /// The PCs and the expressions of a variable's location list.
    fn location(&self, variable: &str) -> Vec<(u64, u64, &str)> {
        let is_named = |die: &&str| {
            die.contains(&format!("DW_AT_name\t(\"{variable}\")"))
                || die.contains("DW_AT_abstract_origin\t") && die.contains(&format!(" \"{variable}\")"))
        };
        let dies = self.dies.split("\n\n").filter(is_named).filter(|die| die.contains("DW_AT_location"));
        let entries = dies.flat_map(|die| die.lines()).filter_map(|line| {
            let (range, expression) = line.trim().strip_prefix("[0x")?.split_once("): ")?;
            let (start, end) = range.split_once(", 0x")?;
            let number = |text| u64::from_str_radix(text, 16).ok();
            Some((number(start)?, number(end)?, expression.trim_end_matches(')')))
        });
        entries.collect()
    }

    /// Bytes of LDS of a kernel.
    fn fixed(&self, kernel: &str) -> u64 {
        let symbol = format!(".symbol:         {kernel}.kd");
        let of_kernel = self.notes.split("\n  - ").find(|part| part.contains(&symbol)).unwrap();
        let line = of_kernel.lines().find_map(|line| line.split_once(".group_segment_fixed_size:"));
        line.unwrap().1.trim().parse().unwrap()
    }

    /// A dump with a wave at a PC of a kernel; v0 by lane, and LDS with [`pattern`].
    fn dump(&self, scratch: &Scratch, kernel: &str, pc: u64, v0: &dyn Fn(u64) -> u64) -> PathBuf {
        let to = scratch.path("dump");
        fs::create_dir_all(&to).unwrap();
        fs::copy(&self.object, to.join("code.hsaco")).unwrap();
        let row = self.symbols.lines().find(|line| line.ends_with(&format!(" {kernel}.kd"))).unwrap();
        let descriptor = u64::from_str_radix(row.split_whitespace().nth(1).unwrap(), 16).unwrap();
        let fixed = self.fixed(kernel);
        let lds: String = (0..fixed).map(|at| format!("{:02x}", pattern(at))).collect();
        let values = (0..self.lanes()).map(|lane| v0(lane).to_string()).collect::<Vec<_>>().join(", ");
        let text = format!(
            "format = 1\n[[agent]]\nid = 1\ntarget = \"{}\"\n[[queue]]\nid = 1\nagent = 1\n[[code_object]]\n\
             file = \"code.hsaco\"\naddress = \"{LOAD:#x}\"\n[[dispatch]]\nid = 1\nqueue = 1\ngrid = [64]\n\
             workgroup = [64]\ngroup_segment_size = {fixed}\nkernel_object = \"{:#x}\"\n[[workgroup]]\nid = 1\n\
             dispatch = 1\nposition = [0, 0, 0]\nlds_size = {fixed}\nlds = [{{ hex = \"{lds}\" }}]\n[[wave]]\nid = 1\n\
             workgroup = 1\nwave_size = {}\n[wave.registers]\npc = \"{:#x}\"\nexec = \"0xffffffff\"\nv0 = [{values}]\n",
            self.gpu,
            LOAD + descriptor,
            self.lanes(),
            LOAD + pc
        );
        fs::write(to.join("manifest.toml"), text).unwrap();
        to
    }

    /// A variable of a kernel in lane 5, at the last PC with its lone register v0.
    fn in_register(&self, scratch: &Scratch, kernel: &str, variable: &str, v0: &dyn Fn(u64) -> u64) -> Value {
        let list = self.location(variable);
        let [(_, _, expression)] = list[..] else { panic!("{variable} of {}: {list:x?}", self.gpu) };
        let is_v0 =
            ["DW_OP_bregx VGPR0+0, ", "DW_OP_bregx 0x600 +0, "].iter().any(|op| expression.starts_with(op));
        assert!(is_v0 && !expression.contains("piece"), "{variable} of {}: {expression}", self.gpu);
        let (pc, _) = *self.range(variable).last().unwrap();
        lane(&self.dump(scratch, kernel, pc, v0), variable, &[])
    }

    /// The instructions in the range of a variable with one location, by llvm-objdump: address and text.
    fn range(&self, variable: &str) -> Vec<(u64, &str)> {
        let [(start, end, _)] = self.location(variable)[..] else { panic!("{variable} of {}", self.gpu) };
        let all = self.instructions.lines().filter_map(|line| {
            let (text, address) = line.split_once("//")?;
            let address = address.split(':').next()?.trim();
            Some((u64::from_str_radix(address, 16).ok()?, text.trim()))
        });
        all.filter(|(address, _)| (start..end).contains(address)).collect()
    }

    /// The bytes at the address in v0 that instructions before the last one of the range access at a constant offset, by
    /// the ISA documents: the size is in the name, offsets of two accesses count elements.
    fn accessed(&self, variable: &str) -> BTreeSet<u64> {
        let mut bytes = BTreeSet::new();
        let range = self.range(variable);
        for (_, text) in &range[..range.len() - 1] {
            let Some((name, operands)) = text.split_once(' ').filter(|(name, _)| name.starts_with("ds_"))
            else {
                continue;
            };
            let is_store = name.contains("write") || name.contains("store");
            let address = operands.split(", ").nth(usize::from(!is_store)).unwrap();
            if address.split(' ').next() != Some("v0") {
                continue;
            }
            let bits = |part: &str| part.strip_prefix(['b', 'u', 'i'])?.parse::<u64>().ok();
            let size = name.split('_').find_map(bits).unwrap() / 8;
            let given = |key: &str| {
                let mut words = operands.split_whitespace();
                words
                    .find_map(|word| word.strip_prefix(key))
                    .map_or(0, |number| number.parse::<u64>().unwrap())
            };
            let starts = match name.contains('2') && operands.contains("offset1:") {
                true => vec![given("offset0:") * size, given("offset1:") * size],
                false => vec![given("offset:")],
            };
            bytes.extend(starts.into_iter().flat_map(|start| start..start + size));
        }
        bytes
    }
}

/// The JSON of a variable in lane 5.
fn lane(dump: &Path, variable: &str, more: &[&str]) -> Value {
    let locals: Value =
        serde_json::from_str(&answer(&[&["locals", words(dump), "--lane", "5", "--json"], more].concat()))
            .unwrap();
    let mut all = locals["variables"].as_array().unwrap().iter();
    all.find(|of| of["name"] == variable).unwrap_or_else(|| panic!("{locals:#}"))["lanes"][0].clone()
}

/// The byte of LDS at an address.
fn pattern(at: u64) -> u8 {
    (at.wrapping_mul(37) >> 2) as u8
}

fn hex(first: u64, bytes: u64) -> String {
    (first..first + bytes).map(|at| format!("{:02x}", pattern(at))).collect()
}

#[test]
fn objects_that_were_moved_to_lds_are_read_there() {
    for gpu in ["gfx90a", "gfx1100"] {
        let scratch = Scratch::new("moved");
        let code = compiled(&scratch, gpu, &[]);
        let mut cases = vec![("tiny", "t", 4), ("bytes", "v", 4)];
        // On gfx90a `b` stays in private memory.
        cases.extend((gpu == "gfx1100").then_some(("body", "b", 40)));
        for (kernel, variable, bytes) in cases {
            // The elements are behind other variables.
            let start = code.fixed(kernel) - bytes * 1024;
            let address = |lane: u64| start + bytes * lane;
            let found = code.in_register(&scratch, kernel, variable, &address);
            let about = format!("{gpu} {variable}: {found:#}");
            assert_eq!(found["inferred"], json!(["local_address"]), "{about}");
            // The other members are in registers by then.
            let held = code.accessed(variable);
            assert_eq!(held.len() as u64 == bytes, variable == "v", "{about}: {held:?}");
            assert_eq!(found["state"], "ok", "{about}");
            let of = |at: u64| match held.contains(&at) {
                true => hex(address(5) + at, 1),
                false => "..".to_owned(),
            };
            let expected: String = (0..bytes).map(of).collect();
            assert_eq!(found["bytes"], expected, "{about}");
        }
        // A number beyond the kernel's LDS is no address in it.
        let number = 0x0041_0005;
        let found = code.in_register(&scratch, "tiny", "t", &|_| number);
        assert_eq!(
            (&found["state"], &found["bytes"]),
            (&json!("ok"), &json!("05004100")),
            "{gpu}: {found:#}"
        );
        assert_eq!(found["inferred"], Value::Null, "{gpu}: {found:#}");
        missing_pieces(&code, &scratch);
    }
}

/// Nothing decides if variables may take all of the LDS.
#[test]
fn an_object_that_may_be_in_lds_or_in_the_register_has_no_value() {
    let scratch = Scratch::new("moved-undecided");
    let code = compiled(&scratch, "gfx1100", &["-DSPARE"]);
    let found = code.in_register(&scratch, "tiny", "t", &|lane| 4 * lane);
    assert_eq!(found["state"], "unavailable", "{found:#}");
    assert_eq!(found["value"], Value::Null, "{found:#}");
    let why = found["why"].as_str().unwrap();
    assert!(why.contains("v0 has the object or its address in LDS: the code uses it as an address"), "{why}");
}

/// A pointer whose upper half has no piece: its lower half, the rest optimized out. In the view it has no location there.
fn missing_pieces(code: &Code, scratch: &Scratch) {
    let list = code.location("a");
    let is_lower_alone = |(_, _, text): &&(u64, u64, &str)| {
        text.matches("piece").count() == 1 && !text.starts_with("DW_OP_piece")
    };
    let Some((pc, end, _)) = list.iter().find(is_lower_alone).copied() else {
        assert_ne!(code.gpu, "gfx1100", "{list:x?}");
        return;
    };
    let dump = code.dump(scratch, "calls", pc, &|lane| 0x1234_5600 + lane);
    let found = lane(&dump, "a", &[]);
    assert_eq!((&found["state"], &found["value"]), (&json!("optimized_out"), &Value::Null), "{found:#}");
    assert_eq!(found["bytes"], "05563412........", "{found:#}");
    assert!(found["why"].as_str().unwrap().contains("the pieces end before the object"), "{found:#}");
    let views = scratch.path("views");
    answer(&["view", words(&dump), "-o", words(&views)]);
    let view = fs::read_dir(&views).unwrap().map(|file| file.unwrap().path());
    let view = view.into_iter().find(|path| path.extension().is_some_and(|of| of == "hsaco")).unwrap();
    let dies = ran(Command::new(newest("llvm-dwarfdump")).arg("--debug-info").arg(view));
    let seen = Code {
        dies,
        object: PathBuf::new(),
        notes: String::new(),
        symbols: String::new(),
        instructions: String::new(),
        gpu: code.gpu,
    };
    let ranges: Vec<(u64, u64)> =
        seen.location("a").into_iter().map(|(start, end, _)| (start, end)).collect();
    assert!(ranges.iter().any(|(start, until)| *until == pc && *start < pc), "{ranges:x?}");
    assert!(ranges.iter().all(|(start, until)| *until <= pc || *start >= end), "{ranges:x?}");
}
