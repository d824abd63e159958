//! Kernels in dynamic VGPR mode, whose frame begins above memory of the trap handler: LLVM computes s33. Addresses and
//! instructions are llvm-objdump's, the base is the value of s33 in the dump.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::dwarf::ran;
use crate::slim::{Scratch, said, words};
use crate::support::{newest, sample::sampled};

const LOAD: u64 = 0x7f00_0010_0000;
/// The frame of `own` is at offset 0 by its location.
const SOURCE: &str = "extern \"C\" __attribute__((global)) void k(int *out) {\n\
    int i = __builtin_amdgcn_workitem_id_x();\n\
    volatile int own[24];\n\
    for (int n = 0; n < 24; n++) own[n] = out[n] + i;\n\
    out[i] = own[out[3] % 24];\n}\n";
/// The frame's start that the kernel chooses on a queue for compute.
const BASE: u64 = 0x1c0;

/// Compiles the source, with the mode as LLVM's attribute.
fn compiled(scratch: &Scratch, gpu: &str, is_dynamic: bool) -> std::path::PathBuf {
    let place = |name: &str| scratch.path(&format!("{gpu}-{is_dynamic}.{name}"));
    let (source, text, object, linked) = (place("hip"), place("ll"), place("o"), place("hsaco"));
    fs::write(&source, SOURCE).unwrap();
    ran(Command::new(newest("clang"))
        .args(["-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output", "-g"])
        .args([&format!("--offload-arch={gpu}"), "-O2", "-S", "-emit-llvm", "-o"])
        .arg(&text)
        .arg(&source));
    if is_dynamic {
        let attribute = "\"amdgpu-dynamic-vgpr-block-size\"=\"16\" \"target-cpu\"=";
        let changed = fs::read_to_string(&text).unwrap().replace("\"target-cpu\"=", attribute);
        fs::write(&text, changed).unwrap();
    }
    ran(Command::new(newest("llc"))
        .args([&format!("-mcpu={gpu}"), "--relocation-model=pic", "-O2", "-filetype=obj", "-o"])
        .arg(&object)
        .arg(&text));
    ran(Command::new(newest("ld.lld")).arg("-shared").arg(&object).arg("-o").arg(&linked));
    linked
}

/// The instructions of the kernel: address and text.
fn listing(object: &Path) -> Vec<(u64, String)> {
    let text = ran(Command::new(newest("llvm-objdump")).arg("-d").arg(object));
    let lines = text.lines().filter_map(|line| {
        let (text, comment) = line.rsplit_once("// ")?;
        let address = u64::from_str_radix(comment.split(':').next()?, 16).ok()?;
        Some((address, text.trim().to_owned()))
    });
    lines.collect()
}

/// Address of the kernel's descriptor.
fn descriptor(object: &Path) -> u64 {
    let table = ran(Command::new(newest("llvm-readelf")).args(["-s", "-W"]).arg(object));
    let row = table.lines().find(|line| line.ends_with(" k.kd")).unwrap();
    u64::from_str_radix(row.split_whitespace().nth(1).unwrap(), 16).unwrap()
}

/// The first lane of `own[0]` of a wave at a PC: the JSON of `print`.
fn own(scratch: &Scratch, object: &Path, gpu: &str, pc: u64) -> Value {
    let to = scratch.path("dump");
    fs::create_dir_all(&to).unwrap();
    fs::copy(object, to.join("code.hsaco")).unwrap();
    let bytes: String = (0..32 * 1024u32).map(|byte| format!("{:02x}", byte % 251)).collect();
    let text = format!(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"{gpu}\"\n[[queue]]\nid = 1\nagent = 1\n[[code_object]]\n\
         file = \"code.hsaco\"\naddress = \"{LOAD:#x}\"\n[[dispatch]]\nid = 1\nqueue = 1\ngrid = [32]\n\
         workgroup = [32]\nkernel_object = \"{:#x}\"\n[[workgroup]]\nid = 1\ndispatch = 1\nposition = [0, 0, 0]\n\
         [[wave]]\nid = 1\nworkgroup = 1\nwave_size = 32\nprivate_size = {}\n\
         private = [{{ hex = \"{bytes}\" }}]\n[wave.registers]\npc = \"{:#x}\"\nexec = \"0xffffffff\"\n\
         s33 = \"{BASE:#x}\"\n",
        LOAD + descriptor(object),
        32 * 1024,
        LOAD + pc
    );
    fs::write(to.join("manifest.toml"), text).unwrap();
    let (printed, _) = said(&["print", words(&to), "own[0]", "--lane", "0", "--json"]);
    serde_json::from_str::<Value>(&printed).unwrap()["lanes"][0].clone()
}

#[test]
fn the_frame_of_a_kernel_in_dynamic_vgpr_mode_begins_where_the_code_puts_it() {
    for gpu in ["gfx1200", "gfx1250"] {
        let scratch = Scratch::new("dynamic-vgprs");
        for is_dynamic in [false, true] {
            let object = compiled(&scratch, gpu, is_dynamic);
            let code = listing(&object);
            let writes = |text: &str| text.starts_with("s_") && text.contains(" s33,");
            // `s_cmp_lg_u32 0, s33` reads it.
            let set = code.iter().rposition(|(_, text)| writes(text) && text.starts_with("s_cmovk_i32"));
            assert_eq!(set.is_some(), is_dynamic, "{gpu}: {code:?}");
            let end = code.iter().position(|(_, text)| text.starts_with("s_endpgm")).unwrap();
            // The instruction that sets s33, and the next one, are always among them.
            let last = set.unwrap_or(0);
            let places = sampled(0..last, 3).chain(last..set.map_or(1, |set| set + 2)).chain([end]);
            for index in places {
                let (pc, text) = &code[index];
                let lane = own(&scratch, &object, gpu, *pc);
                let about = format!("{gpu} {is_dynamic} {pc:#x} {text}: {lane}");
                let found = lane["parts"][0]["address"].as_str();
                if set.is_none() {
                    assert_eq!(found, Some("0x0"), "{about}");
                    assert_eq!(lane["inferred"], serde_json::json!(["kernel_frame"]), "{about}");
                } else if set.is_some_and(|set| index > set) {
                    assert_eq!(found, Some(&*format!("{BASE:#x}")), "{about}");
                } else {
                    assert_eq!((found, &lane["value"]), (None, &Value::Null), "{about}");
                    assert!(
                        lane["why"].as_str().unwrap().contains("where the frame begins is not known"),
                        "{about}"
                    );
                }
            }
        }
    }
}
