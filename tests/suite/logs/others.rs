//! Reports that are not about the captured waves, and reports among many: the answer is that of the waves' own.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::file;
use crate::cli::json as answer;
use crate::fixtures::fixtures;

/// A page fault of the kernel log since Linux 6.9.
pub(super) fn page_fault(time: u32, process: u32, page: u64, status: u32, client: &str) -> String {
    let prefix = format!("[{time:5}.000000] amdgpu 0000:03:00.0: amdgpu:");
    format!(
        "{prefix} [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)\n\
         {prefix}  Process app pid {process} thread app pid {process}\n\
         {prefix}   in page starting at address {page:#018x} from client 10\n\
         {prefix} GCVM_L2_PROTECTION_FAULT_STATUS:{status:#010x}\n\
         {prefix} \t Faulty UTCL2 client ID: {client}\n"
    )
}

/// The status of a read of an absent page, by the vector caches.
const READ: u32 = 0x0080_1031;

/// A page behind the array that the kernel reads.
const BEHIND: u64 = 0x7f00_0020_1000;

/// The answer for a capture, with a log.
fn triage(capture: &Path, log: Option<(&str, &str)>) -> Value {
    let log = log.map(|(name, text)| file(name, text).to_str().unwrap().to_owned());
    let options = log.iter().flat_map(|log| ["--log", log]);
    answer(&["triage", "--json", capture.to_str().unwrap()].into_iter().chain(options).collect::<Vec<_>>())
}

/// A sample core of that process: pr_pid is at 24 of `NT_PRPSINFO` (Linux's elfcore.h).
fn core_of(process: u32) -> PathBuf {
    let mut bytes = fs::read(fixtures().join("gpucore/gfx1100.core")).unwrap();
    let header = [&5u32.to_le_bytes()[..], &136u32.to_le_bytes(), &3u32.to_le_bytes(), b"CORE\0"].concat();
    let note = bytes.windows(header.len()).position(|bytes| bytes == header).unwrap();
    let at = note + header.len().next_multiple_of(4) + 24;
    bytes[at..at + 4].copy_from_slice(&process.to_le_bytes());
    file("process.core", bytes)
}

#[test]
fn a_report_of_another_process_changes_no_answer() {
    let core = core_of(4242);
    let without = triage(&core, None);
    let page = 0x8001_0404_1000;
    let report = |process| page_fault(6512, process, page, 0x0014_1051, "TCP (0x8)");
    let other = triage(&core, Some(("other-process.log", &report(9214))));
    assert_eq!(other["sentence"], without["sentence"]);
    assert_eq!(other["faults"][0]["foreign"], "process");
    let own = triage(&core, Some(("own-process.log", &report(4242))));
    assert_eq!(own["faults"][0]["foreign"], Value::Null);
    assert!(own["sentence"].as_str().unwrap().contains("0x800104041000"), "{own:#}");
}

/// A file of reports alone has no waves: the page has ways to a capture.
#[test]
fn a_device_dump_names_ways_to_a_capture() {
    let dump = "**** AMDGPU Device Coredump ****\nversion: 1\nprocess_name: app PID: 1720\n\n[gfxhub] Page fault \
                observed\nFaulty page starting at address: 0x00007f0000201000\nProtection fault status register: \
                0x301031\n";
    let path = file("devcoredump.txt", dump);
    let answer = triage(&path, None);
    assert_eq!(
        answer["missing"],
        json!([{"missing": "waves", "text": "waves: the file has reports of faults alone"}])
    );
    let output = crate::support::lanescope().arg(&path).output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    for (command, effect) in lanescope::capture::CAPTURES {
        assert!(page.lines().any(|line| line.ends_with(&format!(" {command}  # {effect}"))), "{page}");
    }
    // Nothing is known of waves: neither their number nor their faults.
    for arguments in [&["signature"][..], &["check", "--new"]] {
        let output = crate::support::lanescope().args(arguments).arg(&path).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = crate::fixtures::one_line(&String::from_utf8(text).unwrap());
        assert!(text.contains("the file has reports of faults alone"), "{text}");
        assert!(!text.contains("no wave faulted") && !text.contains("waves 0"), "{text}");
    }
}

#[test]
fn a_fetch_of_instructions_blames_no_load() {
    let dump = fixtures().join("dumps/saxpy-gfx90a-O2");
    let report = |status, client| page_fault(6512, 4376, 0x7f00_0040_0000, status, client);
    for (name, status, client, is_load) in [
        ("sqc-inst.log", 0x0080_1231, "SQC (inst) (0x9)", false),
        ("sqc-data.log", 0x0080_1431, "SQC (data) (0xa)", true),
    ] {
        let found = triage(&dump, Some((name, &report(status, client))));
        let is_blamed =
            found["accesses"].as_array().unwrap().iter().any(|access| access["confidence"] != "possible");
        assert_eq!(is_blamed, is_load, "{name}: {found:#}");
    }
}

/// The own report among 300 older ones of another process, and one whose status was not read.
#[test]
fn the_own_report_decides() {
    let dump = fixtures().join("dumps/saxpy-gfx90a-O0");
    let own = page_fault(6512, 4376, BEHIND, READ, "TCP (0x8)");
    let others = (0..300).map(|index| {
        page_fault(100 + index, 2914, 0x8001_0000_0000 + u64::from(index) * 4096, 0x0050_1031, "TCP (0x8)")
    });
    let many: String = others.chain([own]).collect();
    let unread = page_fault(6512, 4376, BEHIND, u32::MAX, "unknown (0x1ff)");
    for (name, text) in [("many.log", many), ("unread.log", unread)] {
        let found = triage(&dump, Some((name, &text)));
        let sentence = found["sentence"].as_str().unwrap();
        let is_right = sentence.contains("x[1024]") && sentence.ends_with("(likely)");
        assert!(is_right, "{name}: {sentence}");
    }
}

/// A report that is not about the waves changes no answer on their own page, and none of another page.
#[test]
fn foreign_reports_of_the_own_page_change_nothing() {
    let demo = fixtures().join("demo.zip");
    let without = triage(&demo, None);
    let facts = |of: &Value| [of["sentence"].clone(), of["accesses"].clone(), of["missing"].clone()];
    let report = |page, client| page_fault(6512, 4376, page, READ, client);
    let media = report(BEHIND, "TCP (0x8)").replace("[gfxhub]", "[mmhub]");
    let driver = report(BEHIND, "TCP (0x8)").replace("vmid:8", "vmid:0");
    let ring = "[1.0] amdgpu 0000:03:00.0: amdgpu: ring vcn_dec_0 timeout, signaled seq=1, emitted seq=3\n";
    for (name, text) in [
        ("processor.log", report(BEHIND, "CPC (0x5)")),
        ("media-client.log", report(BEHIND, "VCN0 (0x7)")),
        ("media-hub.log", media),
        ("driver.log", driver),
        ("media-ring.log", ring.to_owned()),
    ] {
        let with = triage(&demo, Some((name, &text)));
        assert_eq!(facts(&with), facts(&without), "{name}");
        let listed = with["faults"].as_array().unwrap();
        assert!(listed.iter().any(|fault| !fault["foreign"].is_null()), "{name}: {listed:#?}");
    }
}

/// The direction and client of a report count for its own page alone.
#[test]
fn a_report_of_another_page_turns_no_access_round() {
    let dump = fixtures().join("dumps/saxpy-gfx90a-O0");
    let own = page_fault(6512, 4376, BEHIND, READ, "TCP (0x8)");
    let alone = triage(&dump, Some(("alone.log", &own)));
    let write = page_fault(100, 4376, 0x8001_0000_0000, 0x0014_1051, "TCP (0x8)");
    for (name, text) in [
        ("before.log", format!("{write}{own}")),
        ("after.log", format!("{own}{}", write.replace("[  100", "[ 9100"))),
    ] {
        let both = triage(&dump, Some((name, &text)));
        let [both, alone] = [&both, &alone].map(|of| of["sentence"].as_str().unwrap());
        assert_eq!(both.split("; no examined access").next(), Some(alone), "{name}");
    }
    // The page of the load is reported as written: no access is likely.
    let written = page_fault(6512, 4376, BEHIND, 0x0014_1051, "TCP (0x8)");
    let read = page_fault(100, 4376, 0x8001_0000_0000, READ, "TCP (0x8)");
    let found = triage(&dump, Some(("turned.log", &format!("{read}{written}"))));
    let accesses = found["accesses"].as_array().unwrap();
    assert!(
        !accesses.is_empty() && accesses.iter().all(|of| of["confidence"] == "possible"),
        "{accesses:#?}"
    );
    // A page of another array, which a process of another number wrote, blames no lane that reads it.
    let demo = fixtures().join("demo.zip");
    let other = page_fault(100, 2222, 0x7f00_0020_0000, 0x0014_1051, "TCP (0x8)");
    let [with, without] =
        [Some(("other.log", &*other)), None].map(|log| triage(&demo, log)["sentence"].to_string());
    assert_eq!(with.replace("; no examined access explains the reported page 0x7f0000200000", ""), without);
}
