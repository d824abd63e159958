//! Reports in JSON of collectors and in pages, and rows that were broken.

use super::log::wanted;
use super::reports::{PAGE, faults};
use super::{Own, read};
use crate::capture::{Fault, FaultAccess, FaultKind};

const DEVICE: &str = "amdgpu 0000:65:00.0";

fn rows() -> Vec<String> {
    let text = super::reports::page_fault(DEVICE, 4376, PAGE, "TCP (0x8)");
    text.lines().map(str::to_owned).collect()
}

const ASSERTION: &str =
    "/src/saxpy.hip:54: void saxpy(int, float *): Device-side assertion `i < n && p' failed.";

/// The only fault of a log.
#[track_caller]
fn one(text: &str) -> Fault {
    let found = faults(text);
    let [fault] = &*found else { panic!("{text}{found:#?}") };
    fault.clone()
}

/// The kernel's whole report of a page.
#[track_caller]
fn check_page(text: &str) {
    let fault = one(text);
    let facts = (fault.address.map(|at| at.start), fault.process, fault.access, fault.client.as_deref());
    assert_eq!(facts, (Some(PAGE), Some(4376), Some(FaultAccess::Read), Some("TCP")), "{text}");
    assert_eq!(
        (fault.status.as_deref(), fault.device.as_deref()),
        (Some("0x00801031"), Some("0000:65:00.0"))
    );
}

#[test]
fn messages_in_json_are_read() {
    use serde_json::json;
    let bytes = |row: &String| json!(row.bytes().map(u64::from).collect::<Vec<_>>());
    let each = |entry: &dyn Fn(usize, &String) -> serde_json::Value| -> String {
        rows().iter().enumerate().map(|(index, row)| format!("{}\n", entry(index, row))).collect()
    };
    // journalctl -o json: a message that is no printable text is a list of its bytes.
    check_page(&each(
        &|index, row| json!({ "__REALTIME_TIMESTAMP": format!("172595382800000{index}"), "MESSAGE": bytes(row) }),
    ));
    check_page(&each(&|_, row| json!({ "MESSAGE": row, "_TRANSPORT": "kernel" })));
    // Loki's answer, and the same with another stream's entries before it.
    let values: Vec<_> =
        rows().iter().enumerate().map(|(at, row)| json!([format!("172595382800000000{at}"), row])).collect();
    check_page(&json!({ "streams": [{ "stream": { "job": "x" }, "values": values }] }).to_string());
    // An entry within an entry, also as text, behind a prefix, in a list.
    check_page(&each(&|_, row| json!({ "line": json!({ "ts": 1725953828.5, "msg": row }).to_string() })));
    check_page(&each(
        &|_, row| json!({ "_source": { "@timestamp": "2024-09-10T09:37:08Z", "message": row } }),
    ));
    check_page(
        &rows().iter().map(|row| format!("app-1  | {},\n", json!({ "message": row }))).collect::<String>(),
    );
    // The output of a program as one value.
    check_page(&json!({ "returncode": -6, "stderr": rows().join("\n") }).to_string());
    let colours = rows().iter().map(|row| format!("\u{1b}[31m{row}\u{1b}[0m")).collect::<Vec<_>>();
    check_page(&json!({ "stderr": colours.join("\r\n") }).to_string());
}

/// Entries hours apart are of different reports, by the clock of whatever unit.
#[test]
fn the_clock_of_an_entry_is_that_of_its_message() {
    let rows = rows();
    let text = |clock: &dyn Fn(u64) -> serde_json::Value, name: &str| -> String {
        let entries = rows.iter().enumerate().map(|(index, row)| {
            // The page's row is two hours later.
            let seconds = 1_725_953_828 + if index >= 2 { 7200 } else { 0 };
            let mut entry = serde_json::Map::new();
            entry.insert("msg".to_owned(), row.as_str().into());
            entry.insert(name.to_owned(), clock(seconds));
            format!("{}\n", serde_json::Value::Object(entry))
        });
        entries.collect()
    };
    let iso = |seconds: u64| format!("2024-09-10T{:02}:37:08.5Z", seconds / 3600 % 24).into();
    for text in [
        text(&|seconds| seconds.into(), "time"),
        text(&|seconds| (seconds * 1000).into(), "ts"),
        text(&|seconds| (seconds * 1_000_000).to_string().into(), "__REALTIME_TIMESTAMP"),
        text(&|seconds| (seconds * 1_000_000_000).to_string().into(), "timestamp"),
        text(&|seconds| (seconds as f64 + 0.25).into(), "Time"),
        text(&iso, "@timestamp"),
    ] {
        let found = faults(&text);
        let pages: Vec<_> = found.iter().map(|fault| (fault.process, fault.address.is_some())).collect();
        assert_eq!(pages, [(Some(4376), false), (None, true)], "{text}");
    }
}

/// The names of files and conditions are those of the source.
#[test]
fn quoted_texts_are_those_of_the_program() {
    let json = serde_json::json!({ "MESSAGE": ASSERTION }).to_string();
    let json = json + "\n";
    let html =
        ASSERTION.replace('&', "&amp;").replace('<', "&lt;").replace('\'', "&#39;").replace('>', "&gt;");
    let html = format!("<span class=\"line\">{html}\n");
    for text in [format!("{ASSERTION}\n"), json.clone(), html, json.replace("saxpy.hip", "\\u0073axpy.hip")] {
        let assertion = one(&text).assertion.unwrap();
        let place = (assertion.file.as_deref(), assertion.line);
        assert!(
            place.0.is_some_and(|file| file.ends_with("/src/saxpy.hip")) && place.1 == Some(54),
            "{text}"
        );
        assert_eq!(assertion.condition, "i < n && p", "{text}");
        assert_eq!(assertion.function.as_deref(), Some("void saxpy(int, float *)"), "{text}");
    }
    let relative = ASSERTION.replace("/src/", "");
    for text in [
        serde_json::json!({ "MESSAGE": relative }).to_string(),
        format!("MESSAGE={relative}\n"),
        format!("level=error msg=\"{relative}\"\n"),
        format!("[default0]:{relative}\n"),
        format!("##[error]{relative}\n"),
        format!("2025-03-04T12:00:00Z stderr {relative}\n"),
        format!("E       {relative}\n"),
        format!("run.log:120:Sep 10 09:37:08 host kernel: {relative}\n"),
        format!("/var/log/kern.log:120:Sep 10 09:37:08 host kernel: {relative}\n"),
        format!("<3>1 2024-09-10T09:37:08.000000Z host kernel - - - {relative}\n"),
        format!("\"2024-09-10 09:37:08\",\"kernel\",\"{relative}\"\n"),
    ] {
        assert_eq!(one(&text).assertion.unwrap().file.as_deref(), Some("saxpy.hip"), "{text}");
    }
    let triton = one("device assertion failed: 'a', in kernel at /src/my kernel.py:12\n").assertion.unwrap();
    assert_eq!((triton.file.as_deref(), triton.line), (Some("/src/my kernel.py"), Some(12)));
    let unknown = one("device assertion failed: 'a', in unknown at unknown:0\n").assertion.unwrap();
    assert_eq!((unknown.file, unknown.function), (None, None));
}

/// JSON that is none, or that has a report before it, is a line as others.
#[test]
fn other_braces_are_no_json() {
    const REPORT: &str =
        "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Unknown.";
    let deep = "[".repeat(5000);
    for text in [
        format!("{REPORT} {{\"a\": \"b\"}}\n"),
        format!("{REPORT} {{}}\n"),
        format!("{{'log': '{REPORT}'}}\n"),
        format!("{{\"log\": \"{REPORT}\", \"x\": {deep}}}\n"),
        format!("{{\"log\": \"{REPORT}\"\n"),
    ] {
        assert_eq!(one(&text).address.map(|at| at.start), Some(PAGE), "{text}");
    }
}

#[test]
fn rows_broken_at_any_place_are_joined() {
    let rows = rows();
    for (index, row) in rows.iter().enumerate() {
        let first = match index {
            0 => row.find("src_id").unwrap(),
            2 => row.find("address").unwrap() + "address".len(),
            3 => row.find(':').unwrap() + "STATUS:0".len() + row.rfind(':').unwrap() - row.find(':').unwrap(),
            _ => continue,
        };
        for at in first..row.len() {
            let mut broken = rows.clone();
            broken[index].insert(at, '\n');
            check_page(&(broken.join("\n").replace(" \n", "\n").replace("\n ", "\n") + "\n"));
        }
    }
    // Words of other lines are no part of a value.
    for (whole, cut) in [("0x00801031", "0x0080103"), ("0x00007f0000201000", "0x00007f000020100")] {
        let text = rows.join("\n").replace(whole, &format!("{cut}\na line of another program")) + "\n";
        let fault = one(&text);
        assert!(fault.status.is_none() || fault.address.is_none(), "{fault:#?}");
    }
}

/// The hint of a log without reports.
#[test]
fn words_of_reports_in_other_places_are_named() {
    let hint = |text: &str| wanted(&read("log", text.as_bytes(), Own::default()).unwrap());
    let quoted = hint(
        "hello\nI saw Memory access fault by GPU node-2 (Agent handle: 0x1) on address 0x7feea09c5000. Reason: Unknown. Why?\n",
    );
    assert!(quoted.starts_with("line 2 has the words of a report, but not where"), "{quoted}");
    let driver = hint("[1.0] amdgpu 0000:03:00.0: amdgpu: Fetched VBIOS from VFCT\n");
    assert!(
        driver.contains("`uncorrectable hardware errors detected in`") && driver.contains("`HIQ"),
        "{driver}"
    );
    assert!(hint("hello\n").starts_with("expected a message of the debug agent"));
    // The trap handler's errors follow those of others.
    let handler =
        "amdgpu: sq_intr: error, detail 0x00000000, type 2, sh 0, priv 1, wave_id 3, simd_id 1, wgp_id 2\n";
    assert_eq!(faults(handler), []);
    assert_eq!(one(&handler.replace("priv 1", "priv 0")).kind, FaultKind::Memory);
}
