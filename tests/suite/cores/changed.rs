//! Samples with changed words: their runtime, the GPU, the host core's process, and missing trap temporaries.

use std::path::Path;

use serde_json::{Value, json};

use super::{Differences, SAMPLES, core, expected, export, part};

/// A sample's bytes, and the offset of an address.
pub(super) fn sample(name: &str) -> (Vec<u8>, impl Fn(u64) -> usize) {
    let segments = expected(name)["segments"].as_array().unwrap().clone();
    let offset = move |address: u64| {
        let number = |segment: &Value, key: &str| segment[key].as_u64().unwrap();
        let holds = |segment: &&Value| {
            (number(segment, "va")..number(segment, "va") + number(segment, "filesz")).contains(&address)
        };
        let segment = segments.iter().find(holds).unwrap();
        (number(segment, "off") + address - number(segment, "va")) as usize
    };
    (std::fs::read(core(name)).unwrap(), offset)
}

/// Opens the changed bytes.
pub(super) fn opened(bytes: &[u8]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    std::fs::write(&path, bytes).unwrap();
    export(&[path.to_str().unwrap()])
}

pub(super) fn reported(export: &Value, words: &str) -> Vec<String> {
    let problems = export["problems"].as_array().unwrap().iter().map(crate::problem_text);
    problems.filter(|problem| problem.contains(words)).collect()
}

/// Address of the samples' `_amdgpu_r_debug`.
const R_DEBUG: u64 = 0x7fff_f7a0_1040;

/// Unwritten memory has no version, but the stop positions of waves are known.
#[test]
fn a_version_that_no_runtime_had_is_reported_and_rejected() {
    for name in ["gfx1100", "gfx90a-unified", "gfx942-multi-xcc"] {
        let expected = expected(name);
        for (version, zeros) in [(0u32, 4), (0, 40), (3, 4), (u32::MAX, 4)] {
            let (mut bytes, offset) = sample(name);
            let at = offset(R_DEBUG);
            bytes[at..at + zeros].fill(0);
            bytes[at..at + 4].copy_from_slice(&version.to_le_bytes());
            let ours = opened(&bytes);
            assert_eq!(
                reported(&ours, "r_debug.r_version").len(),
                1,
                "{name} {version}: {}",
                ours["problems"]
            );
            for (ours, theirs) in super::pairs(&ours["waves"], &expected["waves"]) {
                assert_eq!(ours["pc"], theirs["pc"], "{name} {version}: wave {}", theirs["ordinal"]);
                assert_eq!(ours["stop_reasons"], theirs["stop_reasons"], "{name} {version}");
            }
        }
    }
}

/// The save area ends between hardware registers and trap temporaries of each wave: the parking address is not a PC.
#[test]
fn a_wave_without_trap_temporaries_has_no_parking_address() {
    for (name, parks) in [("gfx1100", true), ("gfx90a-split", true), ("gfx942-multi-xcc", false)] {
        let (file, offset) = sample(name);
        let expected = expected(name);
        let waves = expected["waves"].as_array().unwrap();
        let mut hidden = 0;
        for (index, wave) in waves.iter().enumerate() {
            let [bottom, top] = [0, 1].map(|at| wave["writer"]["block"][at].as_u64().unwrap());
            // The PC is the second of 16 hardware registers, which the trap temporaries follow.
            let block = offset(bottom)..offset(bottom) + (top - bottom) as usize;
            let pc = wave["writer"]["hwreg_pc"].as_u64().unwrap().to_le_bytes();
            let at = file[block.clone()].windows(8).rposition(|window| window == pc).unwrap();
            let traps = (block.start + at - 4 + 64) as u64;
            let mut bytes = file.clone();
            end_segment(&mut bytes, traps);
            let ours = opened(&bytes);
            assert!(!reported(&ours, "were not captured whole").is_empty(), "{name} {index}");
            let ours = ours["waves"].as_array().unwrap();
            // The other XCC's area is after the cut in the first one's, and is lost with it.
            assert!(
                ours.len() == waves.len() || (!parks && ours.len() > index),
                "{name} {index}: {}",
                ours.len()
            );
            let (ours, theirs) = (&ours[index], wave);
            let parked = wave["writer"]["hwreg_pc"] != wave["pc"];
            assert!(parks || !parked, "{name}");
            // Whether the trap handler parked the wave is unknown. GPUs without parking have the PC in its register.
            let pc = if parks { Value::Null } else { theirs["pc"].clone() };
            assert_eq!((&ours["pc"], &ours["stop_reasons"]), (&pc, &Value::Null), "{name} {index}");
            let status = &ours["registers"]["status"];
            assert!(
                status.is_null() || *status == theirs["registers"]["status"],
                "{name} {index}: {status}, expected {}",
                theirs["registers"]["status"]
            );
            assert_eq!(ours["registers"]["exec"], theirs["registers"]["exec"], "{name} {index}");
            hidden += usize::from(parked && status.is_null());
        }
        assert!(hidden > 1 || !parks, "{name}: {hidden}");
    }
}

/// Ends the segment of a file offset at that offset.
fn end_segment(file: &mut [u8], end: u64) {
    let count = usize::from(u16::from_le_bytes([file[56], file[57]]));
    for at in (0..count).map(|index| 64 + index * 56) {
        let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        let (offset, size) = (number(at + 8), number(at + 32));
        if file[at] == 1 && (offset + 1..offset + size).contains(&end) {
            file[at + 32..at + 40].copy_from_slice(&(end - offset).to_le_bytes());
        }
    }
}

/// A queue of an unknown GPU has a save area; its waves are skipped for another reason.
#[test]
fn an_unknown_gpu_is_the_reported_reason() {
    let (mut bytes, _) = sample("gfx90a-split");
    // The note of the GPUs' state is the first: 20 bytes of header and name, 8 + 32 + 16 before the agents.
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(bytes[64], 4);
    let at = word(64 + 8) as usize + 20 + 8 + 32 + 16 + 88;
    assert_eq!(bytes[at..at + 4], 90010u32.to_le_bytes());
    bytes[at..at + 4].copy_from_slice(&770_000u32.to_le_bytes());
    let ours = opened(&bytes);
    assert_eq!(ours["waves"], json!([]));
    assert_eq!(reported(&ours, "its queues are left out").len(), 1, "{}", ours["problems"]);
    assert!(reported(&ours, "no queue has a save area").is_empty(), "{}", ours["problems"]);
    // With the user's processor all waves are read.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    std::fs::write(&path, &bytes).unwrap();
    let ours = export(&[path.to_str().unwrap(), "--processor", "gfx90a"]);
    let theirs = expected("gfx90a-split");
    assert_eq!(theirs["waves"].as_array().unwrap().len(), 6);
    let mut differences = Differences::new("gfx770000 as gfx90a");
    for (ours, theirs) in super::pairs(&ours["waves"], &theirs["waves"]) {
        super::wave(ours, theirs, &mut differences);
    }
    differences.finish(100);
}

fn part_of(name: &str, host: bool) -> Vec<u8> {
    part(name, &std::fs::read(core(name)).unwrap(), host)
}

#[test]
fn a_host_core_of_another_process_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: Vec<u8>| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let gpu = path("gpucore", part_of("gfx90a-unified", false));
    let own = path("own", part_of("gfx90a-unified", true));
    let ours = export(&[&gpu, "--host-core", &own]);
    assert!(reported(&ours, "host").is_empty(), "{}", ours["problems"]);
    // Its list leads to other code objects: the build ids in GPU memory differ.
    let other = path("other", part_of("gfx1100", true));
    let ours = export(&[&gpu, "--host-core", &other]);
    assert!(!reported(&ours, "build id").is_empty(), "{}", ours["problems"]);
    // A merged core has its host's memory.
    let merged = core("gfx1100");
    let alone = export(&[merged.to_str().unwrap()]);
    let beside = export(&[merged.to_str().unwrap(), "--host-core", &own]);
    assert_eq!(reported(&beside, "--host-core is not used").len(), 1, "{}", beside["problems"]);
    assert!(beside["memory"] == alone["memory"]);
    // No data at the list's address.
    let mut elsewhere = part_of("gfx90a-unified", true);
    let count = usize::from(u16::from_le_bytes([elsewhere[56], elsewhere[57]]));
    for at in (0..count).map(|index| 64 + index * 56 + 16) {
        elsewhere[at + 5] ^= 0x20;
    }
    let elsewhere = path("elsewhere", elsewhere);
    let ours = export(&[&gpu, "--host-core", &elsewhere]);
    assert_eq!(reported(&ours, "--host-core: no memory at 0x7ffff7a01040").len(), 1, "{}", ours["problems"]);
    // A merged core, or a GPU core: its own note of GPUs is not read.
    for name in SAMPLES {
        let whole = core(name);
        let ours = export(&[&gpu, "--host-core", whole.to_str().unwrap()]);
        assert_eq!(
            reported(&ours, "its note of the GPUs' state is not read").len(),
            1,
            "{}",
            ours["problems"]
        );
    }
}

/// A code object known only by its image in memory has global variables with the values of the crash.
#[test]
fn without_global_memory_images_hold_nothing_that_programs_wrote() {
    let marker = b"SECRET-OF-A-GLOBAL-VARIABLE";
    let (mut bytes, offset) = sample("gfx90a-split");
    // In the writable segment of the first code object, after its dynamic section.
    let at = offset(0x7f10_0000_3800);
    bytes[at..at + marker.len()].copy_from_slice(marker);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    std::fs::write(&path, &bytes).unwrap();
    let slim = |name: &str, options: &[&str]| {
        let to = folder.path().join(name);
        let output = crate::support::lanescope()
            .arg("slim")
            .args([&path, Path::new("-o"), &to])
            .args(options)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let holds = std::fs::read(&to).unwrap().windows(marker.len()).any(|window| window == marker);
        let export = export(&[to.to_str().unwrap()]);
        (holds, export["dispatches"].clone(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (holds, dispatches, _) = slim("all.zip", &[]);
    assert!(holds, "the marker is not where this test takes it to be");
    let (holds, same, said) = slim("none.zip", &["--no-global"]);
    assert!(!holds, "{said}");
    // Symbols are still found.
    assert!(dispatches[0]["kernel"].is_string(), "{dispatches}");
    assert_eq!(same, dispatches);
}

/// `--processor` is for unknown GPUs: a contradiction with the core or a code object's header is reported.
#[test]
fn a_processor_that_the_core_contradicts_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    let with = |bytes: &[u8], processor: &str| {
        std::fs::write(&path, bytes).unwrap();
        export(&["--processor", processor, path.to_str().unwrap()])
    };
    for (name, known, other) in [("gfx90a-unified", "gfx90a", "gfx942"), ("gfx1100", "gfx1100", "gfx1030")] {
        let (bytes, _) = sample(name);
        assert_eq!(reported(&with(&bytes, known), "contradicts"), Vec::<&str>::new(), "{name}");
        let ours = with(&bytes, other);
        assert_eq!(ours["agents"][0]["architecture"], known, "{name}");
        let said = reported(&ours, "contradicts");
        assert_eq!(said.len(), 1, "{said:?}");
        let wanted = format!("--processor {other} contradicts the core's {known}, which is used");
        assert!(said[0].contains(&wanted), "{said:?}");
    }
    // gfx90b does not exist; the note has it as major, minor and stepping in decimal (kfd_ioctl.h, gfx_target_version).
    let (mut bytes, _) = sample("gfx90a-unified");
    let version = 90010u32.to_le_bytes();
    let at = bytes.windows(4).position(|word| word == version).unwrap();
    bytes[at..at + 4].copy_from_slice(&90011u32.to_le_bytes());
    assert_eq!(reported(&with(&bytes, "gfx90a"), "contradicts"), Vec::<&str>::new());
    let said = with(&bytes, "gfx942");
    let said = reported(&said, "contradicts");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("--processor gfx942 contradicts the code object at 0x"), "{said:?}");
    assert!(said[0].contains("by its header is for gfx90a") && said[0].contains("or --processor gfx90a"));
    let said = with(&bytes, "gfx1100");
    let said = reported(&said, "contradicts the core's gfx90b, which is unknown; it is read as gfx1100");
    assert_eq!(said.len(), 1, "{said:?}");
}
