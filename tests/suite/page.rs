//! The page of a cause: reports in long output of a program, every fixture, chosen waves.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::fixtures::{copy_dump, few_expected, one_line};

/// Lines of a screen.
const LINES: usize = 40;
const COLUMNS: usize = 80;
/// The load of `x[i]` in the demo, from the listing of its code object; lane 24 reads `x[1024]` (models/saxpy.py).
const LOAD: &str = "0x7f0000102790";
const PAGE: &str = "0x7f0000201000";
/// The demo's dispatch without its report.
const UNREPORTED: &str = "tests/fixtures/dumps/saxpy-gfx90a-O0";

fn run(words: &[&str]) -> String {
    let output = crate::support::lanescope().args(words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// A page fits a screen.
fn fits(page: &str, name: &str) {
    assert!(page.lines().count() <= LINES, "{name}:\n{page}");
    assert!(
        !page.contains('\u{a0}') && page.lines().all(|line| !line.contains(char::is_control)),
        "{name}:\n{page}"
    );
    for line in page.lines() {
        assert!(line.chars().count() <= COLUMNS, "{name}: {line}");
    }
}

/// 65,000 lines of output of a program, with a report in the middle.
fn output(report: &str) -> String {
    let mut log = String::new();
    for line in 0..65_000 {
        if line == 40_000 {
            log.push_str(report);
        }
        let _ = writeln!(
            log,
            "[rank {}] step {line}: residual 1.0e-{:02}, 0x7f{line:010x} bytes",
            line % 8,
            line % 16
        );
    }
    log
}

fn json_with_log(log: &Path) -> Value {
    serde_json::from_str(&run(&["triage", UNREPORTED, "--json", "--log", log.to_str().unwrap()])).unwrap()
}

#[test]
fn a_report_in_65_000_lines_is_one_page() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("ci.log");
    for (report, source, access) in [
        (
            format!(
                "Memory access fault by GPU node-4 (Agent handle: 0x55d0a1b2c3d0) on address {PAGE}. Reason: Page not \
                 present or supervisor privilege.\n"
            ),
            "runtime",
            None,
        ),
        (
            format!(
                "OFFLOAD ERROR: Memory access fault by GPU 4 (agent 0x55d0a1b2c3d0) at virtual address {PAGE}. Reasons: \
                 Page not present or supervisor privilege\n"
            ),
            "offload",
            None,
        ),
        (
            "amdgpu 0000:83:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32770, for process \
             saxpy pid 4242 thread saxpy pid 4242)\n\
             amdgpu 0000:83:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from IH client 0x1b (UTCL2)\n\
             amdgpu 0000:83:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00301031\n"
                .to_owned(),
            "kernel_log",
            Some("read"),
        ),
    ] {
        fs::write(&log, output(&report)).unwrap();
        let page = run(&["triage", UNREPORTED, "--log", log.to_str().unwrap()]);
        fits(&page, source);
        assert!(page.starts_with("saxpy reads x[1024] (i = 1024, n = 1024), right past the end of x: lane 24 of"), "{page}");
        assert!(page.replace("\n          ", " ").contains("line 4000"), "{page}");
        let value = json_with_log(&log);
        assert_eq!(value["schema"], "lanescope.triage/1");
        assert_eq!(value["fault"]["page"], PAGE);
        assert_eq!(value["fault"]["source"], source);
        assert_eq!(value["fault"]["access"].as_str(), access);
        let first = &value["accesses"][0];
        assert_eq!(first["instruction"], LOAD, "{first}");
        assert_eq!(first["lanes"], serde_json::json!([24]));
        assert_eq!(first["addresses"]["24"], PAGE);
        assert_ne!(first["confidence"], "possible", "{first}");
    }
}

#[test]
fn every_fixture_has_a_page_that_fits_a_screen() {
    for (name, dump, _) in few_expected() {
        // The page has the path as it was given.
        let dump = dump.strip_prefix(crate::support::root()).unwrap();
        fits(&run(&[dump.to_str().unwrap()]), &name);
    }
}

/// A chosen wave has its own page, several have one page each, and JSON a list.
#[test]
fn waves_are_chosen() {
    let one: Value = serde_json::from_str(&run(&["triage", "--json", "--wave", "1"])).unwrap();
    assert_eq!((&one["accesses"][0]["wave"], &one["thread"]), (&1.into(), &1.into()));
    let two: Value = serde_json::from_str(&run(&["triage", "--json", "--wave", "1-2"])).unwrap();
    assert_eq!(two["answers"].as_array().map(Vec::len), Some(2));
    let text = run(&["triage", "--wave", "1-2"]);
    assert_eq!(text.matches("AMDGPU Wave 1:1:1:2").count(), 2);
    assert!(
        text.contains("\nAMDGPU Wave 1:1:1:2 (0,0,0)/1\nsaxpy: wave 2 has no fault of its own"),
        "{text}"
    );
}

const SAXPY: &str = "tests/fixtures/dumps/saxpy-gfx90a-O2";

fn json_of(words: &[&str]) -> Value {
    serde_json::from_str(&run(&[&["triage", "--json", SAXPY], words].concat())).unwrap()
}

/// The demo's kernel with -O2: lane 24 reads the page behind `x`; `--fault-address` has no kind of fault.
#[test]
fn an_address_of_the_user_counts_as_a_report() {
    let page = json_of(&["--fault-address", PAGE]);
    let first = &page["accesses"][0];
    assert_eq!((&first["lanes"], &first["addresses"]["24"]), (&serde_json::json!([24]), &PAGE.into()));
    assert_eq!(first["confidence"], "likely");
    let missing = page["missing"].as_array().unwrap();
    assert!(missing.iter().all(|one| one["missing"] != "page"), "{missing:?}");
}

/// The report of a write contradicts the load of the page. Lanes 0-24 of the store may have written there; the other
/// lanes write into `y`, which is elsewhere.
#[test]
fn lanes_with_good_addresses_are_not_suspected() {
    let first = &json_of(&["--log", "tests/fixtures/logs/faults/offload.log"])["accesses"][0];
    assert_eq!(first["access"], "store");
    assert_eq!((&first["lanes"], &first["addresses"]), (&serde_json::json!([]), &serde_json::json!({})));
    assert_eq!(first["unknown"]["lanes"], serde_json::json!((0..25).collect::<Vec<u8>>()));
}

#[test]
fn a_report_without_waves_is_for_the_option_log() {
    for log in ["dmesg.log", "pytorch.log", "rocr.log"] {
        let log = format!("tests/fixtures/logs/faults/{log}");
        let output = crate::support::lanescope().arg(&log).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains("lanescope CAPTURE --log FILE"), "{log}: {error}");
    }
}

/// The page of a chosen wave counts this wave alone.
#[test]
fn the_counts_are_of_the_chosen_waves() {
    let one = json_of(&["--wave", "2"]);
    let counts = ["count", "faulted", "bystanders"].map(|key| one["waves"][key].as_u64().unwrap());
    assert_eq!(counts, [1, 0, 1]);
    assert_eq!(
        json_of(&[])["waves"],
        serde_json::json!({
            "count": 8, "absent": 0, "uncounted": [], "faulted": 1, "bystanders": 7, "unknown": 0, "chosen": 1,
            "pcs": [{ "pc": "0x7f0000101a2c", "waves": 1 }], "others": [], "left_out": 0,
        })
    );
}

/// A halt names no cause; with a reported page the access is looked for.
#[test]
fn a_halt_with_a_reported_page_has_an_access() {
    let folder = tempfile::tempdir().unwrap();
    copy_dump("saxpy-gfx90a-O0", folder.path());
    let manifest = folder.path().join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains("memory_violation"));
    fs::write(&manifest, text.replace("memory_violation", "fatal_halt")).unwrap();
    let dump = folder.path().to_str().unwrap();
    assert!(run(&["triage", dump]).contains("fatal halt"));
    let page = run(&["triage", dump, "--fault-address", PAGE]);
    assert!(page.starts_with("saxpy reads x[1024]"), "{page}");
}

/// A copy of a fixture's dump without faults, in which the waves with these ids have a stop reason.
fn stopped(dump: &str, stops: &[(usize, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_dump(dump, folder.path());
    let manifest = folder.path().join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut table: toml::Table = text.parse().unwrap();
    table.remove("fault");
    for wave in table["wave"].as_array_mut().unwrap() {
        let wave = wave.as_table_mut().unwrap();
        let id = wave["id"].as_integer().unwrap();
        let reason = stops.iter().find(|(of, _)| i64::try_from(*of) == Ok(id)).map(|(_, reason)| *reason);
        wave.insert("stop".to_owned(), reason.into_iter().map(toml::Value::from).collect::<Vec<_>>().into());
    }
    fs::write(&manifest, toml::to_string(&table).unwrap()).unwrap();
    folder
}

/// Faulted waves that `--kind` leaves out are named in the page, the banner and JSON.
#[test]
fn faults_of_other_kinds_are_named() {
    let text = run(&["waves", "tests/fixtures/dumps/mixed-kinds", "--json"]);
    let waves: Value = serde_json::from_str(&text).unwrap();
    let other = waves["waves"].as_array().unwrap().iter().find(|wave| wave["architecture"] != "gfx90a");
    let other = usize::try_from(other.unwrap()["id"].as_u64().unwrap()).unwrap();
    let folder = stopped("mixed-kinds", &[(other, "memory_violation")]);
    let dump = folder.path().to_str().unwrap();
    let page = run(&["triage", dump, "--kind", "gfx90a"]);
    assert!(page.starts_with("no chosen wave faulted, "), "{page}");
    assert!(page.contains("Further   1 other wave that faulted is left out (--kind, --wave)\n"), "{page}");
    let json: Value = serde_json::from_str(&run(&["triage", dump, "--kind", "gfx90a", "--json"])).unwrap();
    assert_eq!(json["waves"]["left_out"], 1);
    let whole: Value = serde_json::from_str(&run(&["triage", dump, "--json"])).unwrap();
    assert_eq!((&whole["waves"]["left_out"], &whole["waves"]["faulted"]), (&0.into(), &1.into()));
}

/// A hang that the runtime reports: the states of the waves, and the report without another cause.
#[test]
fn a_reported_hang_has_the_states_of_the_waves() {
    let folder = stopped("saxpy-gfx90a-O0", &[]);
    let dump = folder.path().to_str().unwrap();
    let log = folder.path().join("run.log");
    fs::write(&log, "HW Exception by GPU node-1 (Agent handle: 0x1b0fc990) reason :GPU Hang\n").unwrap();
    let page = run(&["triage", dump, "--log", log.to_str().unwrap()]);
    let sentence = page.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(sentence.starts_with("GPU hang; GPU node 1; reported by ROCm's runtime ("), "{page}");
    assert!(page.contains("\nStates    "), "{page}");
}

/// A report of an execution is one of a fetch: no access to data is the cause.
#[test]
fn a_reported_execution_is_a_fetch() {
    let folder = stopped("saxpy-gfx90a-O0", &[(1, "memory_violation")]);
    let dump = folder.path().to_str().unwrap();
    let log = folder.path().join("run.log");
    let json: Value = serde_json::from_str(&run(&["triage", dump, "--json"])).unwrap();
    let pc = json["waves"]["pcs"][0]["pc"].as_str().unwrap().trim_start_matches("0x");
    let own = format!("{:#x}", u64::from_str_radix(pc, 16).unwrap() & !0xfff);
    for (page, end) in [(own.as_str(), "and the PC is on this page"), ("0x7f0000901000", "not near the PC")] {
        let text = "Memory access fault by GPU node-1 (Agent handle: 0x1b0fc990) on address";
        fs::write(&log, format!("{text} {page}. Reason: Execute access to a page marked NX.\n")).unwrap();
        let page = run(&["triage", dump, "--log", log.to_str().unwrap()]);
        let sentence = page.split("\n\n").next().unwrap().replace('\n', " ");
        assert!(sentence.contains(&format!("the fetch of an instruction faulted, {end}")), "{page}");
        assert!(!page.contains("no page of the fault") && !page.contains("\nAccess "), "{page}");
    }
}

/// A debug trap is no breakpoint, and has its line.
#[test]
fn a_debug_trap_has_its_line() {
    let folder = stopped("saxpy-gfx90a-O0", &[(1, "debug_trap")]);
    let page = run(&["triage", folder.path().to_str().unwrap(), "--wave", "1"]);
    assert!(page.starts_with("saxpy stopped for a debugger (debug trap): wave 1, saxpy.hip:54\n"), "{page}");
}

/// A trap of the program is a fault everywhere, although it has the signal of a debugger's stops (docs/triage.md, "Other
/// causes").
#[test]
fn a_trap_is_a_fault_in_every_command() {
    let folder = stopped("saxpy-gfx90a-O0", &[(1, "trap")]);
    let dump = folder.path().to_str().unwrap();
    let page = run(&["triage", dump]);
    assert!(page.starts_with("saxpy executes a trap: wave 1, "), "{page}");
    let signature = run(&["signature", dump]);
    assert!(signature.contains("  trap | saxpy @ saxpy.hip | trap\n"), "{signature}");
    let report: Value = serde_json::from_str(&run(&["report", dump, "--format", "json"])).unwrap();
    let faulted = |wave: &&Value| wave["faulted"] == true;
    assert_eq!(report["waves"].as_array().unwrap().iter().filter(faulted).count(), 1);
    let draft = run(&["check", "--new", dump]);
    assert!(draft.lines().any(|line| one_line(line) == "fault trap"), "{draft}");
    for (line, status) in [("fault trap", 0), ("faulted 1", 0), ("fault none", 1), ("faulted 0", 1)] {
        let file = folder.path().join("trap.scope");
        fs::write(&file, format!("dump {dump}\n{line}\n")).unwrap();
        let mut command = crate::support::lanescope();
        let output = command.arg("check").arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}");
    }
}

/// A position in the grid chooses a wave as its id does: the page names the wave that faulted beside it.
#[test]
fn positions_choose_a_wave_as_its_id_does() {
    let core = "tests/fixtures/gpucore/gfx1100.core";
    let places: [(&str, &str, &[&str]); 4] = [
        (UNREPORTED, "2", &["--work-item", "70,0,0"]),
        (UNREPORTED, "2", &["--workgroup", "0,0,0/1"]),
        ("tests/fixtures/demo.zip", "2", &["--work-item", "70,0,0"]),
        (core, "3", &["--workgroup", "0,4,0/2"]),
    ];
    for (dump, wave, place) in places {
        let first = |options: &[&str]| {
            let page = run(&[&["triage", dump], options].concat());
            page.lines().next().unwrap().to_owned()
        };
        let by_id = first(&["--wave", wave]);
        assert!(by_id.contains("has no fault of its own; wave 1 faulted"), "{dump}: {by_id}");
        assert_eq!(first(place), by_id, "{dump} {place:?}");
    }
}
