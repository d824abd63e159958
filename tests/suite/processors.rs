//! Code objects for another processor than the GPU's, in each kind of capture: rejected with both names, or forced.
//!
//! These tests change the processor of a code object, the low byte of `e_flags` (AMDGPUUsage, "AMDGPU EF_AMDGPU_MACH
//! Values").

use std::fs;
use std::path::Path;

use crate::cores::core;
use crate::fixtures::{copy_dump, fixtures, one_line};
use crate::slim::{Scratch, lanescope, words};

const GFX908: u8 = 0x30;
const GFX90A: u8 = 0x3f;
const GFX1100: u8 = 0x41;
const GFX10_3_GENERIC: u8 = 0x53;
const GFX11_GENERIC: u8 = 0x54;
const GFX9_4_GENERIC: u8 = 0x5f;
/// Offsets in a header of ELF64.
/// Processors of a code object, with the names in the message for those incompatible with a gfx1100 wave.
const FOR_GFX1100: [(u8, Option<(&str, &str)>); 4] = [
    (GFX1100, None),
    (GFX11_GENERIC, None),
    (GFX90A, Some(("gfx90a", "gfx1100"))),
    (GFX10_3_GENERIC, Some(("gfx10-3-generic", "gfx1100"))),
];

const E_MACHINE: usize = 18;
const E_FLAGS: usize = 48;
const EM_AMDGPU: u8 = 224;

/// Changes the processor of every code object in the bytes.
fn with_processor(bytes: &[u8], mach: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let starts: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, four)| four == b"\x7fELF").map(|(at, _)| at).collect();
    let starts = starts.into_iter().filter(|at| bytes.get(at + E_MACHINE) == Some(&EM_AMDGPU));
    let starts: Vec<usize> = starts.collect();
    assert!(!starts.is_empty());
    starts.into_iter().for_each(|at| bytes[at + E_FLAGS] = mach);
    bytes
}

/// Asks about a capture with code objects for `foreign`, which the GPU cannot run, or for a compatible one (`None`).
fn ask(capture: &Path, foreign: Option<(&str, &str)>, wave: &str, options: &[&str]) {
    let run = |command: &str, more: &[&str]| {
        let output = lanescope(&[&[command, words(capture)], options, more].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (_, info, warnings) = run("info", &[]);
    let (_, stack, _) = run("backtrace", &["--wave", wave]);
    let (sound, _, why) = run("locals", &["--wave", wave]);
    let Some((code, gpu)) = foreign else {
        assert!(!info.contains("is for gfx"), "{info}{warnings}");
        assert!(!why.contains("is for gfx"), "{why}");
        return;
    };
    let refusal = format!("is for {code}, and the GPU is {gpu}; --force takes it anyway");
    assert!(one_line(&info).contains(&refusal), "{info}{warnings}");
    // The log's own disassembly names the function.
    assert!(stack.contains("#0  ?? ") || stack.contains("by the capture's text"), "{stack}");
    assert!(!sound && one_line(&why).contains(&refusal), "{why}");
    let (_, forced, _) = run("info", &["--force"]);
    assert!(one_line(&forced).contains(&format!(": it is for {code}, and the GPU is {gpu}")), "{forced}");
}

#[test]
fn a_dump_does_not_take_code_for_another_processor() {
    let scratch = Scratch::new("processors-dump");
    let to = scratch.path("dump");
    copy_dump("saxpy-gfx1100-O0", &to);
    let object = to.join("saxpy-gfx1100-O0.hsaco");
    let sound = fs::read(&object).unwrap();
    for (mach, foreign) in FOR_GFX1100 {
        fs::write(&object, with_processor(&sound, mach)).unwrap();
        ask(&to, foreign, "1", &[]);
    }
}

#[test]
fn a_core_does_not_take_code_for_another_processor() {
    let scratch = Scratch::new("processors-core");
    let to = scratch.path("core");
    let sound = fs::read(core("gfx1100")).unwrap();
    for (mach, foreign) in FOR_GFX1100 {
        fs::write(&to, with_processor(&sound, mach)).unwrap();
        ask(&to, foreign, "1", &[]);
    }
}

#[test]
fn a_log_does_not_take_code_for_another_processor() {
    let scratch = Scratch::new("processors-log");
    let [log, file] = ["log", "code.hsaco"].map(|name| scratch.path(name));
    let sound = fs::read(fixtures().join("code/saxpy-gfx90a-O0.hsaco")).unwrap();
    // The log has the number of loaded bytes: those up to the end of the last PT_LOAD.
    let word = |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().unwrap());
    let (table, count) = (word(32) as usize, usize::from(sound[56]));
    let headers = (0..count).map(|index| table + index * 56).filter(|at| sound[*at] == 1);
    let end = headers.map(|at| word(at + 16) + word(at + 40)).max().unwrap();
    let text = fs::read_to_string(fixtures().join("logs/agent-plain.log")).unwrap();
    let loaded = "0x7f1000003000]";
    assert!(text.contains(loaded));
    fs::write(&log, text.replace(loaded, &format!("{:#x}]", 0x7f10_0000_0000 + end))).unwrap();
    let at = format!("{}@0x7f1000000000", words(&file));
    for (mach, foreign) in [
        (GFX908, None),
        (GFX90A, Some(("gfx90a", "gfx908"))),
        (GFX9_4_GENERIC, Some(("gfx9-4-generic", "gfx908"))),
    ] {
        fs::write(&file, with_processor(&sound, mach)).unwrap();
        ask(&log, foreign, "7", &["--processor", "gfx908", "--code-object", &at]);
    }
}

/// Code of a generic processor on a GPU of its family (AMDGPUUsage, "Generic Processors"): the listing and the
/// registers are those of the same code for the GPU.
#[test]
fn code_of_generic_processors_is_listed_with_the_registers_of_the_gpu() {
    let cases = [
        ("saxpy-gfx942-O0", 0x5f, "gfx9-4-generic"),
        ("saxpy-gfx1030-O0", 0x53, "gfx10-3-generic"),
        ("saxpy-gfx1100-O0", 0x54, "gfx11-generic"),
        ("saxpy-gfx1200-O0", 0x59, "gfx12-generic"),
        ("wide-gfx1250-O2", 0x5b, "gfx12-5-generic"),
    ];
    for (dump, mach, name) in cases {
        let folder = tempfile::tempdir().unwrap();
        copy_dump(dump, folder.path());
        let file = folder.path().join(format!("{dump}.hsaco"));
        let mut bytes = with_processor(&fs::read(&file).unwrap(), mach);
        // The version of a generic processor.
        bytes[E_FLAGS + 3] = 1;
        fs::write(&file, bytes).unwrap();
        let ask = |capture: &Path, options: &[&str]| {
            let output = lanescope(&[&[options[0], words(capture)], &options[1..]].concat());
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let original = fixtures().join("dumps").join(dump);
        let listing = ["disassemble", "--wave", "1", "--around", "4"];
        // The heading names the processor that the tool was given.
        let instructions = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        let found = ask(folder.path(), &listing);
        assert_eq!(instructions(&found), instructions(&ask(&original, &listing)), "{name}");
        assert!(found.lines().count() > 8, "{name}: {found}");
        for options in [["registers", "--wave", "1"], ["locals", "--wave", "1"]] {
            assert_eq!(ask(folder.path(), &options), ask(&original, &options), "{name} {options:?}");
        }
        assert!(ask(&file, &["code-object"]).contains(name), "{name}");
    }
}
