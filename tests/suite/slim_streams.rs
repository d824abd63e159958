//! Streams that cannot become a dump are kept as small cores; the end of a stream after its core is not awaited.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::core_writer::core::{Bulk, build};
use crate::core_writer::elf::Segment;
use crate::core_writer::plan::{Layout, NotePlace, Quirks};
use crate::core_writer::{gpu, matrix};
use crate::cores::core;
use crate::slim::{Scratch, listed, piped, words};
use crate::support::sample::sampled;

/// Offset of the descriptor of the GPUs' note.
fn descriptor(bytes: &[u8]) -> usize {
    bytes.windows(8).position(|bytes| bytes == b"AMDGPU\0\0").unwrap() + 8
}

/// Output of `lanescope export --json` for a file, without the names in it.
fn exported(path: &Path) -> Value {
    let arguments = ["export", "--json", words(path)];
    let output = crate::support::lanescope().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut export: Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in ["name", "problems"] {
        export[key] = Value::Null;
    }
    export
}

/// The one file that remains of a stream, by the error that names it.
fn remains(bytes: &[u8], folder: &Path) -> (PathBuf, String) {
    let (status, report, error) = piped(bytes, folder, &[], false);
    assert_eq!((status, report.as_str()), (Some(1), ""), "{error}");
    let [kept] = &listed(folder)[..] else { panic!("{:?}: {error}", listed(folder)) };
    assert!(error.contains(&format!("\nkept: {}, the core ", kept.display())), "{error}");
    assert_eq!(fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o600);
    (kept.clone(), error)
}

#[test]
fn a_core_whose_note_is_not_understood_stays() {
    let scratch = Scratch::new("slim-streams-note");
    for name in ["gfx942-multi-xcc", "gfx90a-split"] {
        let whole = fs::read(core(name)).unwrap();
        let mut later = whole.clone();
        later[descriptor(&whole)] = 2;
        let folder = scratch.path(name);
        fs::create_dir(&folder).unwrap();
        let (kept, error) = remains(&later, &folder);
        assert!(error.contains("version 0x2, which is not read"), "{error}");
        // A version that supports this note finds all data of the core.
        let mut bytes = fs::read(&kept).unwrap();
        let at = descriptor(&bytes);
        bytes[at] = 1;
        fs::write(&kept, bytes).unwrap();
        assert_eq!(exported(&kept), exported(&core(name)), "{name}");
    }
}

/// Of a large core the parts that waves need take precedence.
#[test]
fn what_waves_need_stays_of_a_core_for_an_unknown_gpu() {
    let scratch = Scratch::new("slim-streams-gpu");
    let mut plan = matrix::plan(gpu::named("gfx1100"), 32, 12);
    (plan.file.layout, plan.file.cut_every, plan.file.zero_headers) = (Layout::Split, None, 0);
    (plan.file.host_notes, plan.file.quirks.unpadded) = (NotePlace::Alone, false);
    let noise = |index: u64| {
        let words = (0..(1u64 << 20) / 8).map(|word| (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index) | 1);
        words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>().repeat(40)
    };
    let buffers = (0..2).map(|index| Segment::of("buffer", 0x7a00_0000_0000 + (index << 32), noise(index)));
    let core = build(&plan, Bulk::Filled, buffers.collect());
    let whole = scratch.path("whole");
    core.gpu.write(&whole).unwrap();
    let mut bytes = core.gpu.bytes();
    let agent = core.note.iter().find(|mark| mark.name.starts_with("agent")).unwrap();
    let at = agent.offset as usize + 88;
    assert_eq!(bytes[at..at + 4], 110_000u32.to_le_bytes());
    bytes[at..at + 4].copy_from_slice(&990_000u32.to_le_bytes());
    let folder = scratch.path("crashes");
    fs::create_dir(&folder).unwrap();
    let (kept, error) = remains(&bytes, &folder);
    assert!(error.contains("the core without ") && error.contains("gfx990"), "{error}");
    let size = fs::metadata(&kept).unwrap().len();
    assert!(size < 70 << 20, "{size} bytes");
    // With its real processor all data of the waves is present.
    let mut bytes = fs::read(&kept).unwrap();
    let at = descriptor(&bytes) + (agent.offset - core.gpu.mark("descriptor").offset) as usize + 88;
    bytes[at..at + 4].copy_from_slice(&110_000u32.to_le_bytes());
    fs::write(&kept, bytes).unwrap();
    let (mut found, mut expected) = (exported(&kept), exported(&whole));
    assert!(expected["waves"].as_array().unwrap().len() > 3);
    // Buffers that no wave needs are absent.
    for export in [&mut found, &mut expected] {
        export["memory"] = Value::Null;
    }
    assert_eq!(found, expected);
}

/// Sizes of control stacks without confirmation by a header: the dump has recoverable ones, otherwise the core is kept.
#[test]
fn a_core_with_damaged_control_stack_sizes_leaves_something() {
    let scratch = Scratch::new("slim-streams-stack");
    let mut plan = matrix::plan(gpu::named("gfx90a"), 64, 14);
    (plan.file.layout, plan.file.cut_every) = (Layout::Split, None);
    (plan.file.host_notes, plan.file.quirks) = (NotePlace::Alone, Quirks::default());
    let core = build(&plan, Bulk::Filled, Vec::new());
    let whole = core.gpu.bytes();
    let areas: Vec<usize> = core
        .areas
        .iter()
        .flatten()
        .filter(|area| !area.blocks.is_empty())
        .map(|area| {
            let mut segments = core.gpu.segments.iter();
            let inside = |(first, _, size): &&(u64, u64, u64)| (*first..first + size).contains(&area.address);
            let (first, offset, _) = segments.find(inside).unwrap();
            (offset + area.address - first) as usize
        })
        .collect();
    assert!(!areas.is_empty());
    let sound = scratch.path("whole.core");
    fs::write(&sound, &whole).unwrap();
    // PC and registers of each wave.
    let states = |path: &Path| {
        let export = exported(path);
        let waves = export["waves"].as_array().unwrap().iter();
        waves.map(|wave| (wave["pc"].clone(), wave["registers"].clone())).collect::<Vec<_>>()
    };
    let expected = states(&sound);
    assert!(expected.len() > 3);
    assert!(expected.iter().all(|(pc, registers)| pc.is_string() && registers.is_object()));
    let sizes = [0u32, 4, 0x7fff_ffff, 0xffff_fffc, 0xffff_ffff];
    for (index, size) in sampled(sizes.into_iter().enumerate(), 2) {
        let mut bytes = whole.clone();
        for area in &areas {
            bytes[area + 4..area + 8].copy_from_slice(&size.to_le_bytes());
        }
        let folder = scratch.path(&index.to_string());
        fs::create_dir(&folder).unwrap();
        let (status, _, error) = piped(&bytes, &folder, &[], false);
        let [file] = &listed(&folder)[..] else { panic!("{size:#x}: {:?}", listed(&folder)) };
        let extension = file.extension().unwrap().to_str().unwrap();
        assert_eq!((status, extension), if status == Some(0) { (Some(0), "zip") } else { (Some(1), "core") });
        assert!(error.contains("queue "), "{size:#x}: {error}");
        assert_eq!(states(file), expected, "{size:#x}: {error}");
    }
}

#[test]
fn a_stream_that_goes_on_behind_its_core_is_not_waited_for() {
    let scratch = Scratch::new("slim-streams-zeros");
    let mut child = crate::support::lanescope()
        .args(["slim", "--json", "--all-waves", "--dir", words(&scratch.0), "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = fs::read(core("gfx90a-unified")).unwrap();
    input.write_all(&bytes).unwrap();
    let zeros = vec![0; 1 << 16];
    // It reads 16 MiB behind the core, and then closes the pipe.
    let is_closed = (0..4096).any(|_| input.write_all(&zeros).is_err());
    assert!(is_closed, "it reads for ever");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["waves"].as_array().unwrap().len(), 6);
    let notes = report["notes"].to_string();
    assert!(!notes.contains("stalled") && !notes.contains("never came"), "{notes}");
}
