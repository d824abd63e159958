//! Limits of `lanescope slim`: each is reached, and one more is rejected.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::{fs, io};

use lanescope::arch::Targets;
use lanescope::capture::{Backing, Bytes};
use lanescope::import::{self, Options};
use lanescope::session::Dump;
use lanescope::slim::{self, Choice, MAX_CODE, MAX_FAULTED, MAX_PACKETS, MAX_SHOWN, MAX_STATIC};
use serde_json::{Value, json};

use crate::dwarf::ran;
use crate::fixtures::one_line;
use crate::slim::{Scratch, said, slim as slimmed, words};
use crate::slim_messages::options;
use crate::support::newest;

fn dump(scratch: &Scratch, manifest: &Value) {
    fs::write(scratch.path("manifest.json"), manifest.to_string()).unwrap();
}

/// A sparse file of zeros.
fn sparse(path: &Path, size: u64) {
    fs::File::create(path).unwrap().set_len(size).unwrap();
}

#[test]
fn of_one_stack_so_many_faulting_waves_are_taken() {
    let scratch = Scratch::new("slim-faulted");
    let ids = 1..=MAX_FAULTED as u32 + 6;
    // Every second id, so that each is a separate run.
    let wave = |id: u32| json!({"id": id * 2, "agent": 1, "wave_size": 64, "stop": ["memory_violation"]});
    dump(
        &scratch,
        &json!({
            "format": 1,
            "agent": [{"id": 1, "target": "gfx90a"}],
            "wave": ids.map(wave).collect::<Vec<_>>(),
        }),
    );
    let report = slimmed(&scratch.0, &scratch.path("to"), &[]);
    assert_eq!(report["waves"].as_array().unwrap().len(), MAX_FAULTED);
    assert_eq!((&report["left_out"]["waves"], &report["left_out"]["faulted"]), (&json!(6), &json!(6)));
    let (text, _) = said(&["slim", words(&scratch.0), "-o", words(&scratch.path("text"))]);
    assert!(
        one_line(&text)
            .contains("6 waves, of which 6 faulted (of each stack 64 are taken; --all-waves takes all)"),
        "{text}"
    );
    // Of runs of ids a line has the first sixteen.
    assert!(one_line(&text).contains(" 26, 28, 30, 32, ... 64 in all (faulted) "), "{text}");
}

/// A wave with a rare stop reason behind many with a common one, in the same place.
#[test]
fn each_stop_reason_of_a_stack_is_kept() {
    let scratch = Scratch::new("slim-reasons");
    let rare = MAX_FAULTED as u32 + 6;
    let stop = |id| if id == rare { "illegal_instruction" } else { "memory_violation" };
    let wave = |id: u32| json!({"id": id, "agent": 1, "wave_size": 64, "stop": [stop(id)]});
    dump(
        &scratch,
        &json!({
            "format": 1,
            "agent": [{"id": 1, "target": "gfx90a"}],
            "wave": (1..=rare).map(wave).collect::<Vec<_>>(),
        }),
    );
    let report = slimmed(&scratch.0, &scratch.path("to"), &[]);
    let waves = report["waves"].as_array().unwrap();
    assert!(waves.len() == MAX_FAULTED + 1 && waves.iter().any(|wave| wave["id"] == rare), "{report:#}");
}

#[test]
fn packets_of_a_ring_are_kept_up_to_the_bound() {
    let scratch = Scratch::new("slim-packets");
    const RING: u64 = 0x7f00_0000_0000;
    // HSA: a packet has 64 bytes.
    sparse(&scratch.path("ring.bin"), (MAX_PACKETS + 1) * 2 * 64);
    for (more, kept) in [(0, MAX_PACKETS * 64), (1, 0)] {
        let ring = json!({"address": format!("{RING:#x}"), "size": MAX_PACKETS * 2 * 64, "read": 5, "write": 5 + MAX_PACKETS + more});
        dump(
            &scratch,
            &json!({
                "format": 1,
                "agent": [{"id": 1, "target": "gfx90a"}],
                "queue": [{"id": 1, "agent": 1, "ring": ring}],
                "workgroup": [{"id": 1, "queue": 1}],
                "wave": [{"id": 7, "workgroup": 1, "wave_size": 64}],
                "memory": [{"address": format!("{RING:#x}"), "file": "ring.bin"}],
            }),
        );
        let report = slimmed(&scratch.0, &scratch.path(&format!("to{more}")), &[]);
        assert_eq!(report["bytes"]["global"], kept);
    }
}

#[test]
fn code_in_no_code_object_is_kept_up_to_the_bound() {
    let scratch = Scratch::new("slim-code");
    const STEP: u64 = 0x4_0000;
    let count = MAX_CODE / MAX_SHOWN + 3;
    sparse(&scratch.path("code.bin"), MAX_SHOWN);
    let at = |index: u64| format!("{:#x}", 0x7f00_0000_0000 + index * STEP);
    let wave =
        |index: u64| json!({"id": index + 1, "agent": 1, "wave_size": 64, "registers": {"pc": at(index)}});
    let memory = |index: u64| json!({"address": at(index), "file": "code.bin"});
    dump(
        &scratch,
        &json!({
            "format": 1,
            "agent": [{"id": 1, "target": "gfx90a"}],
            "wave": (0..count).map(wave).collect::<Vec<_>>(),
            "memory": (0..count).map(memory).collect::<Vec<_>>(),
        }),
    );
    // Without a tool: to decode the code of each wave takes most of the time, and is not needed.
    let to = scratch.path("to");
    let output = crate::support::lanescope()
        .args(["slim", words(&scratch.0), "-o", words(&to), "--json", "--all-waves", "--no-global"])
        .env("PATH", "")
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    // All are in one file, whose bytes are written once.
    assert_eq!(
        (&report["bytes"]["global"], &report["left_out"]["global"]),
        (&json!(MAX_SHOWN), &json!(3 * MAX_SHOWN))
    );
    let info: Value = serde_json::from_str(&said(&["info", words(&to), "--json"]).0).unwrap();
    assert_eq!(info["memory"]["bytes"], MAX_CODE);
    let notes = report["notes"].as_array().unwrap();
    let expected = "3 pieces of code in no code object are left out: 67108864 bytes are kept";
    assert!(notes.iter().any(|note| note == expected), "{notes:?}");
}

/// A program's own buffer, larger than the limit for such buffers.
#[test]
fn global_variables_are_kept_up_to_the_bound() {
    let scratch = Scratch::new("slim-static");
    const LOADED: u64 = 0x7f00_0000_0000;
    let size = MAX_STATIC + 0x10_0001;
    let source = format!(
        "__global char big[{size}];\n__kernel void k(__global char *out) {{ out[0] = big[__builtin_amdgcn_workitem_id_x()]++; }}\n"
    );
    fs::write(scratch.path("k.cl"), source).unwrap();
    let mut clang = Command::new(newest("clang"));
    clang.args([
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-target",
        "amdgcn-amd-amdhsa",
        "-mcpu=gfx90a",
        "-nogpulib",
        "-g",
        "-o",
    ]);
    ran(clang.arg(scratch.path("k.hsaco")).arg(scratch.path("k.cl")));
    // LLVM gives the addresses of the kernel's code and of the buffer.
    let symbols = ran(Command::new(newest("llvm-nm")).args(["--defined-only"]).arg(scratch.path("k.hsaco")));
    let symbol = |name: &str| {
        let line = symbols.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    };
    let big = LOADED + symbol("big");
    sparse(&scratch.path("big.bin"), size);
    dump(
        &scratch,
        &json!({
            "format": 1,
            "agent": [{"id": 1, "target": "gfx90a"}],
            "wave": [{"id": 7, "agent": 1, "wave_size": 64, "registers": {"pc": format!("{:#x}", LOADED + symbol("k"))}}],
            "memory": [{"address": format!("{big:#x}"), "file": "big.bin"}],
            "code_object": [{"address": format!("{LOADED:#x}"), "path": "k.hsaco"}],
        }),
    );
    let report = slimmed(&scratch.0, &scratch.path("to"), &["--follow", "0"]);
    let kept = report["bytes"]["global"].as_u64().unwrap();
    assert!(kept <= MAX_STATIC && kept > MAX_STATIC - 0x1_0000, "{kept}");
    let notes = report["notes"].as_array().unwrap();
    let said = format!(": of its global variables the first {MAX_STATIC} bytes are kept, and ");
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains(&said)), "{notes:?}");
}

/// A dump that cannot be read again is not written; docs/dump-format.md has the limit of 64 MiB.
#[test]
fn a_manifest_is_as_large_as_can_be_read() {
    let scratch = Scratch::new("slim-manifest");
    let manifest = json!({
        "format": 1,
        "provenance": {"note": ""},
        "agent": [{"id": 1, "target": "gfx90a"}],
        "wave": [{"id": 7, "agent": 1, "wave_size": 64}],
    });
    let manifest = manifest.to_string();
    let note = format!("\"{}\"", "x".repeat((64 << 20) - manifest.len()));
    fs::write(scratch.path("manifest.json"), manifest.replacen("\"\"", &note, 1)).unwrap();
    let (_, error) = said(&["slim", words(&scratch.0), "-o", words(&scratch.path("to"))]);
    let last = error.lines().last().unwrap();
    assert!(last.contains("; expected at most 67108864: choose fewer waves than 1 (--wave)"), "{last}");
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
}

#[test]
fn names_of_files_are_short() {
    let scratch = Scratch::new("slim-names");
    let file = crate::fixtures::fixtures().join("code/calls-gfx90a.hsaco");
    fs::copy(file, scratch.path("a.hsaco")).unwrap();
    dump(
        &scratch,
        &json!({
            "format": 1,
            "agent": [{"id": 1, "target": "gfx90a"}],
            "wave": [{"id": 7, "agent": 1, "wave_size": 64}],
            "code_object": [{"address": "0x7f0000100000", "name": "n\u{e9}".repeat(3000), "file": "a.hsaco"}],
        }),
    );
    slimmed(&scratch.0, &scratch.path("to"), &["--whole"]);
    let names: Vec<_> =
        fs::read_dir(scratch.path("to/code")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, [format!("0-{}", "n_".repeat(32)).as_str()]);
}

/// A store whose last byte cannot be read.
#[derive(Debug)]
struct Bad(Arc<dyn Backing>);

impl Backing for Bad {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let end = usize::try_from(self.len() - 1 - offset).unwrap().min(buffer.len());
        self.0.read_at(offset, &mut buffer[..end])
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        self.0.view(offset, length)
    }
}

fn with_a_bad_byte(path: &Path) -> Arc<Dump> {
    let mut capture = import::open(path, &Targets::builtin(), &Options::default()).unwrap().capture;
    for store in &mut capture.backings {
        *store = Arc::new(Bad(Arc::clone(store)));
    }
    Arc::new(Dump::new(capture, Vec::new()))
}

#[test]
fn losses_are_listed_up_to_the_bound() {
    let scratch = Scratch::new("slim-losses");
    const MOST: usize = slim::MAX_LOSSES;
    fs::write(scratch.path("private.bin"), [7; 64]).unwrap();
    let private = json!([{"address": 0, "file": "private.bin"}]);
    let wave = |id: usize| json!({"id": id, "agent": 1, "wave_size": 64, "private": private});
    dump(
        &scratch,
        &json!({
            "format": 1,
            "agent": [{"id": 1, "target": "gfx90a"}],
            "wave": (1..=MOST + 50).map(wave).collect::<Vec<_>>(),
        }),
    );
    let opened = with_a_bad_byte(&scratch.0);
    let options = slim::Options { choice: Choice::All, ..options() };
    let report = slim::slim(&opened, &options, &scratch.path("to"), &mut |_| ()).unwrap();
    let losses: Vec<&String> =
        report.notes.iter().filter(|note| note.contains(" ends 1 byte early")).collect();
    assert_eq!(losses.len(), MOST, "{:?}", report.notes);
    assert_eq!(report.notes.last().unwrap(), "50 more losses, not listed");
}
