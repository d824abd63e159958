//! Reports of faults in logs: beside a capture (`--log`), in the log that is the capture, and by the user.

use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use super::model::{GFX90A, Gpu, Wave};
use super::others::page_fault;
use super::writer::{self, Form};
use super::{export, export_text, file, folder, problems, run};
use crate::cli::json as answer;
use crate::fixtures::{fixtures, one_line};

/// A file of the fixtures.
fn report(name: &str) -> String {
    fixtures().join("logs/faults").join(name).display().to_string()
}

/// The given keys of each fault.
fn keys(export: &Value, keys: &[&str]) -> Value {
    let faults = export["faults"].as_array().unwrap();
    faults.iter().map(|fault| keys.iter().map(|key| fault[*key].clone()).collect::<Value>()).collect()
}

/// The export of a dump without a report of its own, with options.
fn saxpy(options: &[&str]) -> Value {
    export(&fixtures().join("dumps/saxpy-gfx90a-O0"), options)
}

/// Names of the reporters, by fault.
fn reporters(export: &Value) -> Vec<Vec<String>> {
    let name = |report: &Value| report["source"].as_str().unwrap().to_owned();
    let faults = export["faults"].as_array().unwrap().iter();
    faults
        .map(|fault| std::iter::once(fault).chain(fault["also"].as_array().unwrap()).map(name).collect())
        .collect()
}

#[test]
fn reports_of_one_fault_in_several_logs_are_one() {
    let logs = ["rocr.log", "offload.log", "dmesg.log"].map(report);
    let [rocr, offload, dmesg] = &logs;
    let own = saxpy(&[])["faults"].as_array().unwrap().len();
    let whole = saxpy(&["--log", rocr, "--log", dmesg]);
    assert_eq!(problems(&whole), Vec::<&str>::new());
    let fault = &whole["faults"][own];
    let wanted = json!({
        "kind": "page",
        "address": "0x7f0000201000",
        "bytes": 4096,
        "inexact": false,
        "page": "0x7f0000201000",
        "access": "read",
        "reasons": ["not_present"],
        "all_reasons": true,
        "status": "0x00301031",
        "node": 4,
        "device": "0000:c3:00.0",
        "gpu": null,
        "gpu_inferred": null,
        "client": "TCP",
        "ring": null,
        "kernel": null,
        "process": 4321,
        "foreign": null,
        "assertion": null,
        "source": "runtime",
        "place": { "file": rocr, "line": 2 },
        "also": [{ "source": "kernel_log", "place": { "file": dmesg, "line": 1 } }],
    });
    assert_eq!((fault, whole["faults"].as_array().unwrap().len()), (&wanted, own + 1));
    // The write of one report is not the read of another one.
    let apart = saxpy(&["--log", dmesg, "--log", offload]);
    assert_eq!(reporters(&apart)[own..], [["kernel_log"], ["offload"]]);
    assert_eq!(keys(&apart, &["access", "reasons"])[own + 1], json!(["write", ["not_present", "read_only"]]));
}

#[test]
fn hips_errors_have_kinds_and_no_address() {
    let own = saxpy(&[])["faults"].as_array().unwrap().len();
    let found = saxpy(&["--log", &report("pytorch.log")]);
    // The aperture violation is also the illegal access.
    let shown = keys(&found, &["kind", "address", "process", "place"]);
    assert_eq!(shown[own], json!(["aperture", null, 403_868, { "file": report("pytorch.log"), "line": 4 }]));
    assert_eq!(shown.as_array().unwrap().len(), own + 1);
}

/// Docker's JSON, UTF-16 and ranks around a report.
#[test]
fn wrapped_logs_have_the_same_reports() {
    let own = saxpy(&[])["faults"].as_array().unwrap().len();
    let plain = fs::read_to_string(report("dmesg.log")).unwrap();
    let docker: String = plain.lines().fold(String::new(), |mut text, line| {
        let _ =
            writeln!(text, "{}", json!({ "log": format!("{line}\n"), "stream": "stderr", "time": "2026" }));
        text
    });
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain(plain.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let ranks: String = plain.lines().map(|line| format!("[3]: \u{1b}[31m{line}\u{1b}[0m\r\n")).collect();
    for (name, text) in [("docker", docker.into_bytes()), ("utf16", utf16), ("ranks", ranks.into_bytes())] {
        let path = file(&format!("wrapped-{name}"), text);
        let found = saxpy(&["--log", path.to_str().unwrap()]);
        let shown = keys(&found, &["address", "access", "client", "process"]);
        assert_eq!(shown[own], json!(["0x7f0000201000", "read", "TCP", 4321]), "{name}");
    }
}

#[test]
fn the_users_address_is_a_byte_a_page_or_a_number_of_bytes() {
    let own = saxpy(&[])["faults"].as_array().unwrap().len();
    for (words, start, bytes) in [
        ("0x7f0000201008", "0x7f0000201008", 1),
        ("0x7f0000201000", "0x7f0000201000", 4096),
        ("0x7f0000201xxx", "0x7f0000201000", 4096),
        ("0x7f0000201000+1", "0x7f0000201000", 1),
        ("0x1000+0x10", "0x1000", 16),
        ("0x0", "0x0", 4096),
    ] {
        let found = saxpy(&["--fault-address", words]);
        let shown = keys(&found, &["kind", "address", "bytes", "source"]);
        assert_eq!(shown[own], json!(["memory", start, bytes, "user"]), "{words}");
    }
    let form = "expected 0xADDRESS, 0xPAGExxx or 0xADDRESS+BYTES";
    for (words, reason) in [
        ("7f00", form),
        ("0", form),
        ("0xzz", form),
        ("0x1000+", form),
        ("0x1xxx+4", form),
        ("0x10000000000000000", form),
        ("", form),
        ("0x1000+0", "`0x1000+0` has no bytes: N is 0"),
        ("0xffffffffffffffff+2", "passes the end of memory, 2^64; expected at most 0x1 bytes"),
    ] {
        let mut command = crate::support::lanescope();
        command.env_remove("COLUMNS").args(["info", "--fault-address", words]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(one_line(&said).contains(reason), "{words}: {said}");
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{words}: {said}");
    }
    // The page of a log and the user's byte in it are one fault.
    let found = saxpy(&["--log", &report("rocr.log"), "--fault-address", "0x7f0000201008"]);
    assert_eq!(reporters(&found)[own..], [["runtime", "user"]]);
    assert_eq!(keys(&found, &["kind", "address", "bytes"])[own], json!(["page", "0x7f0000201008", 1]));
}

/// An answer about the embedded demo would be taken for one about the user's crash.
#[test]
fn what_completes_a_dump_needs_a_dump() {
    for (command, option) in [
        ("triage", &["--log", "tests/fixtures/logs/faults/rocr.log"][..]),
        ("waves", &["--log", "-"]),
        ("faults", &["--fault-address", "0x1000"]),
        ("report", &["--symbols", "tests"]),
        ("locals", &["--code-object", "tests/fixtures/code/masks-gfx90a.hsaco"]),
        ("info", &["--host-core", "tests/fixtures/gpucore/gfx1100.core"]),
        ("serve", &["--processor", "gfx90a"]),
        ("export", &["--r-version", "9"]),
        ("groups", &["--local-files", "yes"]),
        ("print", &["--force"]),
    ] {
        let mut lanescope = crate::support::lanescope();
        lanescope.arg(command).args(option).args((command == "print").then_some("i")).stdin(Stdio::null());
        let output = lanescope.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b""[..]), "{command}: {said}");
        let expected = format!("{} belongs to a dump: name the dump, too", option[0]);
        assert!(said.contains(&expected), "{command}: {said}");
    }
}

#[test]
fn logs_that_cannot_be_read_or_report_nothing() {
    let empty = file("no-report", "all went well\n");
    let found = saxpy(&["--log", empty.to_str().unwrap()]);
    let what = format!(
        "{}: --log: no report of a fault is in this log (expected a message of the debug agent, ROCm's or LLVM's runtime, HIP \
         or amdgpu's kernel log)",
        empty.display()
    );
    assert_eq!(problems(&found), [what]);
    let folder = folder("log-is-a-folder");
    for path in [folder.join("none"), folder] {
        let mut command = crate::support::lanescope();
        let output = command
            .args(["info", "tests/fixtures/demo.zip", "--log"])
            .arg(&path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with(&format!("lanescope: --log {}: ", path.display())), "{said}");
    }
}

/// A log that is itself the capture: the agent's lines, the runtime's, and the program's.
#[test]
fn the_log_with_the_waves_reports_the_fault() {
    let waves = Wave::some(Gpu { sgprs: 3, vgprs: 1, agprs: 1, ..GFX90A }, 2);
    let event = "System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT: page not present or supervisor privilege)\n\
                 Faulting page: 0x7f0000201000\n\n";
    let runtime = fs::read_to_string(report("rocr.log")).unwrap();
    let mut output = String::new();
    for step in 0..65_000 {
        let _ = writeln!(output, "[INFO] step {step}: loss = 0.{step:05}, rank 3 of 8, memory 12.5 GiB");
    }
    let text = format!("{output}{event}{}{runtime}", writer::agent(&waves, Form::Plain, None));
    let found = export_text("own-report", text, &["--processor", "gfx90a"]);
    assert_eq!(problems(&found), Vec::<&str>::new());
    assert_eq!(reporters(&found), [["debug_agent", "runtime"]]);
    let shown = keys(&found, &["address", "reasons", "all_reasons", "node"]);
    assert_eq!(shown[0], json!(["0x7f0000201000", ["not_present"], true, 4]));
    assert_eq!(found["faults"][0]["place"]["line"], json!(65_001));
    assert!(!found["provenance"]["note"].as_str().unwrap().contains("fault"), "{}", found["provenance"]);
}

/// Linux, gmc_v9_0.c: only TCP and SQC are clients of waves; VMID 0 is the driver's address space.
#[test]
fn accesses_of_other_clients_are_not_blamed_on_waves() {
    let report = |hub: &str, vmid: u32, client: &str, status: u32| {
        page_fault(12, 12, 0x7f00_0020_1000, status, client)
            .replace("[gfxhub]", &format!("[{hub}]"))
            .replace("vmid:8", &format!("vmid:{vmid}"))
    };
    // Bits 17:9 of the status are the client's number.
    let of = |number: u32| number << 9 | 1;
    for (name, text, client) in [
        ("vector", report("gfxhub0", 3, "TCP (0x8)", of(8)), None),
        ("copies", report("gfxhub0", 3, "SDMA0 (0xe)", of(14)), Some("client SDMA0 (copies)")),
        ("commands", report("gfxhub0", 3, "CPC (0x5)", of(5)), Some("client CPC (command processor)")),
        ("media", report("mmhub0", 3, "VCN0 (0x2)", of(2)), Some("client VCN0 (media)")),
        ("hub", report("mmhub0", 3, "TCP (0x8)", of(8)), Some("client mmhub (media and copies)")),
        ("driver", report("gfxhub0", 0, "TCP (0x8)", of(8)), Some("client driver (VMID 0)")),
    ] {
        let is_blamed = client.is_none();
        let path = file(&format!("client-{name}"), text);
        let log = path.to_str().unwrap();
        let dump = fixtures().join("dumps/saxpy-gfx90a-O2");
        let of_fault = answer(&["triage", "--json", dump.to_str().unwrap(), "--log", log]);
        let on_page = |access: &Value| {
            access["reasons"]
                .as_array()
                .unwrap()
                .iter()
                .any(|reason| reason.to_string().contains("on the reported page"))
        };
        let is_on_page = of_fault["accesses"].as_array().unwrap().iter().any(on_page);
        assert_eq!(is_on_page, is_blamed, "{name}: {of_fault:#}");
        // No wave of this dump faulted: a report that may be of waves is of none of these.
        let dump = fixtures().join("dumps/call-gfx90a-O0");
        let of_none = answer(&["triage", "--json", dump.to_str().unwrap(), "--log", log]);
        assert!(of_none["accesses"].as_array().unwrap().is_empty(), "{name}: {of_none:#}");
        assert_eq!(of_none["cause"]["kind"] == "memory", is_blamed, "{name}: {of_none:#}");
        let without = answer(&["triage", "--json", dump.to_str().unwrap()]);
        assert_eq!(of_none["sentence"] == without["sentence"], !is_blamed, "{name}: {of_none:#}");
        let listed = run(&["faults", dump.to_str().unwrap(), "--log", log]);
        let is_marked = |client: &str| listed.contains("not of these waves") && listed.contains(client);
        assert_eq!(client.is_some_and(is_marked), !is_blamed, "{name}: {listed}");
    }
}
