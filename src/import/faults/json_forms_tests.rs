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

/// Fields that repeat a message, and values that are no whole JSON.
#[test]
fn each_message_is_read_once() {
    use serde_json::json;
    let each =
        |entry: &dyn Fn(&String) -> String| rows().iter().map(|row| entry(row) + "\n").collect::<String>();
    let again = |row: &String| format!("Sep 10 09:37:08 host kernel: {row}");
    check_page(&each(&|row| json!({ "message": row, "event": { "original": again(row) } }).to_string()));
    check_page(&each(&|row| json!({ "full_message": again(row), "short_message": row }).to_string()));
    check_page(&each(&|row| {
        json!({ "_source": { "message": row }, "fields": { "message": [row] } }).to_string()
    }));
    check_page(&each(&|row| json!({ "log": format!("{row}\n"), "container_name": "/app" }).to_string()));
    check_page(&each(&|row| format!("{{\"ratio\": NaN, \"message\": {}}}", json!(row))));
    check_page(&each(&|row| format!("{{pod=\"x\"}} {}", json!({ "message": row }))));
    check_page(&each(&|row| format!("{} {}", json!({ "message": row }), json!({ "n": 1 }))));
    check_page(&each(&|row| {
        json!({ "log": json!({ "message": format!("{row}\n") }).to_string() + "\n" }).to_string()
    }));
    check_page(&json!(rows()).to_string());
    let all = json!(rows().join("\n")).to_string();
    check_page(&format!("  \"stderr\": {all},\n"));
    check_page(&format!("{{\"returncode\": -6, \"stderr\": {all}\n"));
    check_page(&format!("CalledProcessError(-6, ['app'], output=b'', stderr=b'{}')\n", rows().join("\\n")));
    check_page(&(rows().join("&#10;") + "&#10;</system-err>\n"));
    check_page(&each(&|row| format!("<div class=\"line\">{row}</div>")).replace("</div>\n", "</div>"));
    check_page(&(rows().join("<br />") + "<br />\n"));
}

/// Entries hours apart are of different reports, by the clock of whatever unit and place.
#[test]
fn the_clock_of_an_entry_is_that_of_its_message() {
    use serde_json::{Value, json};
    let rows = rows();
    let hours = |seconds: u64| format!("2024-09-10T{:02}:37:08.5Z", seconds / 3600 % 24);
    // The page's row and those behind it are two hours later.
    let text = |entry: &dyn Fn(&str, u64) -> String| -> String {
        let clock = |index| 1_725_953_828 + if index >= 2 { 7200 } else { 0 };
        rows.iter().enumerate().map(|(index, row)| entry(row, clock(index)) + "\n").collect()
    };
    let named = |name: &'static str, clock: &'static dyn Fn(u64) -> Value| {
        text(&|row, seconds| {
            let mut entry = json!({ "time_zone": "offset: two hours", "elapsed_time": seconds, "msg": row });
            entry[name] = clock(seconds);
            entry.to_string()
        })
    };
    let iso = |seconds: u64| Value::from(format!("2024-09-10T{:02}:37:08.5Z", seconds / 3600 % 24));
    for text in [
        named("time", &|seconds| seconds.into()),
        named("ts", &|seconds| (seconds * 1000).into()),
        named("__REALTIME_TIMESTAMP", &|seconds| (seconds * 1_000_000).to_string().into()),
        named("timestamp", &|seconds| (seconds * 1_000_000_000).to_string().into()),
        named("Time", &|seconds| (seconds as f64 + 0.25).into()),
        named("instant", &|seconds| json!({ "epochSecond": seconds, "nanoOfSecond": 5 })),
        text(&|row, seconds| json!({ "t": { "$date": iso(seconds) }, "msg": row }).to_string()),
        text(&|row, seconds| json!({ "@timestamp": iso(seconds), "msg": row }).to_string()),
        text(&|row, seconds| {
            json!({ "receiveTimestamp": iso(0), "timestamp": iso(seconds), "m": row }).to_string()
        }),
        // journalctl -o json-pretty, export and verbose.
        text(&|row, seconds| {
            format!("{{\n\t\"__REALTIME_TIMESTAMP\" : \"{seconds}000000\",\n\t\"MESSAGE\" : \"{row}\"\n}}")
                .replace("\t Faulty", " Faulty")
        }),
        text(&|row, seconds| {
            format!("__CURSOR=s\n__REALTIME_TIMESTAMP={seconds}000000\nPRIORITY=3\nMESSAGE={row}\n")
        }),
        text(&|row, seconds| {
            let time = hours(seconds).replace('T', " ").replace('Z', "");
            format!("Tue {time} UTC [s=0123;i=1;b=2;m=3;t=4;x=5]\n    PRIORITY=3\n    MESSAGE={row}")
        }),
        // Before the entry, and of the container.
        text(&|row, seconds| format!("{} {}", hours(seconds), json!({ "level": "error", "msg": row }))),
        text(&|row, seconds| format!("{} stderr F {}", hours(seconds), json!({ "msg": row }))),
        text(&|row, seconds| {
            json!({ "log": format!("{row}\n"), "stream": "stderr", "time": iso(seconds) }).to_string()
        }),
        text(&|row, seconds| {
            let log = json!({ "msg": row }).to_string() + "\n";
            json!({ "log": log, "stream": "stderr", "time": iso(seconds) }).to_string()
        }),
    ] {
        let found = faults(&text);
        let pages: Vec<_> = found.iter().map(|fault| (fault.process, fault.address.is_some())).collect();
        assert_eq!(pages, [(Some(4376), false), (None, true)], "{text}");
    }
    // Durations, steps and words are no clocks.
    for (name, value) in
        [("elapsed_time", json!(100)), ("t", json!(100)), ("time_zone", json!("offset: two hours"))]
    {
        let entry = |(index, row): (usize, &String)| {
            let value = value.as_u64().map_or(value.clone(), |value| json!(value * index as u64));
            json!({ name: value, "msg": row }).to_string() + "\n"
        };
        check_page(&rows.iter().enumerate().map(entry).collect::<String>());
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
        format!("Tue 2024-09-10 09:37:08.000000 CEST [s=1;i=2]\n    MESSAGE={relative}\n"),
        format!("level=error msg=\"{relative}\"\n"),
        format!("[default0]:{relative}\n"),
        format!("##[error]{relative}\n"),
        format!("2025-03-04T12:00:00Z stderr {relative}\n"),
        format!("trainer-0 trainer {relative}\n"),
        format!("worker.py:88: {relative}\n"),
        format!("rank:3: {relative}\n"),
        format!("https://ci.example/1 {relative}\n"),
        format!("Z\0\0\0\0\0\0\0{relative}\n"),
        format!("/var/log/run.log:120:{relative}\n"),
        format!("<165>1 2003-08-24T05:14:15Z h p 1 - - \u{feff}{relative}\n"),
        format!("{relative}</span><br>\n"),
        format!("{relative}\t{{\"rank\": 3}}\n"),
        format!("E       {relative}\n"),
        format!("run.log:120:Sep 10 09:37:08 host kernel: {relative}\n"),
        format!("/var/log/kern.log:120:Sep 10 09:37:08 host kernel: {relative}\n"),
        format!("<3>1 2024-09-10T09:37:08.000000Z host kernel - - - {relative}\n"),
        format!("\"2024-09-10 09:37:08\",\"kernel\",\"{relative}\"\n"),
    ] {
        assert_eq!(one(&text).assertion.unwrap().file.as_deref(), Some("saxpy.hip"), "{text}");
    }
    let place = |text: &str| {
        let of = one(text).assertion.unwrap();
        (of.file.unwrap_or_default(), of.line, of.condition)
    };
    let path = |file: &str, line, condition: &str| (file.to_owned(), line, condition.to_owned());
    let awslogs = format!("/aws/batch/job job/default/0123 {ASSERTION}\n");
    assert_eq!(place(&awslogs), path("/src/saxpy.hip", Some(54), "i < n && p"));
    let windows = ASSERTION.replace("/src/", "C:\\src\\") + "\n";
    assert_eq!(place(&windows), path("C:\\src\\saxpy.hip", Some(54), "i < n && p"));
    let go = "{\"a\": 1, \"msg\": \"/src/a.hip:5: f: Device-side assertion `i \\u003c n \\u0026\\u0026 p-\\u003eq' failed.\"}\n";
    assert_eq!(place(go), path("/src/a.hip", Some(5), "i < n && p->q"));
    assert_eq!(place(&go.replace('}', "")), path("/src/a.hip", Some(5), "i < n && p->q"));
    let jenkins = "<b>/src/a.hip:5: f: Device-side assertion `s &lt; 1 &amp;&amp; &#x60;&#039; failed.</b>\n";
    assert_eq!(place(jenkins), path("/src/a.hip", Some(5), "s < 1 && `"));
    for file in [
        "/src/c++ (old)/saxpy.hip",
        "/src/saxpy(1)/a.hip",
        "saxpy(copy).hip",
        "kern[1].hip",
        "src/a=b.hip",
        "/src/date=/a.hip",
        "/srv/x,/b.hip",
        "C:/src/a.hip",
        "D:/My Src/a.hip",
        "C:\\new\\x.hip",
    ] {
        let text =
            relative.replace("saxpy.hip", file).replace("int, float *", "int)::(lambda at b.hip:7: x") + "\n";
        for lead in ["", "[rank3]: "] {
            assert_eq!(place(&format!("{lead}{text}")), path(file, Some(54), "i < n && p"), "{lead}");
        }
    }
    const TRITON: &str = "device assertion failed: 'a', in kernel at /src/my kernel.py:12";
    for end in ["\n", "\r\n", "\"}\n", "</span>\n", "\trank=3\n", &format!("{TRITON}\n")] {
        assert_eq!(place(&format!("{TRITON}{end}")), path("/src/my kernel.py", Some(12), "a"), "{end}");
    }
    assert_eq!(one(TRITON).assertion.unwrap().line, None, "it may lack digits");
    let unknown = one("device assertion failed: 'a', in unknown at unknown:0\n").assertion.unwrap();
    assert_eq!((unknown.file, unknown.function), (None, None));
    const PYTORCH: &str = "[CUDA_KERNEL_ASSERT] /src/a.hip:94: f: block: [0,0,0], thread: [1,0,0]: Assertion failed: `a[`i`] < n`: m";
    assert_eq!(place(&format!("{PYTORCH}\n")), path("/src/a.hip", Some(94), "a[`i`] < n"));
    for prose in [
        format!("When I run it I get {PYTORCH}\n"),
        format!("He saw {TRITON} in a job\n"),
        "printf(\"[CUDA_KERNEL_ASSERT] \" __FILE__ \":\" \": %s: block: [%d], Assertion failed: `\" #cond \"`: \" msg);\n".to_owned(),
        "amdgpu people say that sq_intr: error, detail 0x0, type 2, sh 0, priv 0, wave_id 1\n".to_owned(),
    ] {
        assert_eq!(faults(&prose), [], "{prose}");
    }
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

/// Rows that a terminal, a mail program or a collector broke, plain, behind a prefix, and in JSON.
#[test]
fn rows_broken_at_any_place_are_joined() {
    let rows = rows();
    let old = format!(
        "{DEVICE}: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770, for process my app pid 4376 thread app:cs0 pid 4377)"
    );
    let forms = [
        (vec![rows[0].clone(), rows[1].clone()], 0, " (src_id"),
        (vec![old], 0, " (src_id"),
        (vec![rows[0].clone(), rows[1].clone(), rows[2].clone()], 2, " 0x0"),
        (rows[..4].to_vec(), 3, "0x0"),
    ];
    for (head, index, first) in forms {
        let row = &head[index];
        let first = row.find(first).unwrap();
        let tail = if head.len() == 1 { &rows[2..] } else { &rows[head.len()..] };
        for at in first..row.len() {
            let second = (at % 4 == 0).then_some(at + 9);
            for second in [Some(row.len()), second].into_iter().flatten() {
                let mut broken = row.clone();
                if second < row.len() {
                    broken.insert(second, '\n');
                }
                broken.insert(at, '\n');
                let broken = broken.replace(" \n", "\n").replace("\n ", "\n");
                let mut all = head.clone();
                all[index] = broken;
                let text = all.iter().chain(tail).fold(String::new(), |text, row| text + row + "\n");
                check_page(&text);
                let each = |form: &dyn Fn(&str) -> String| {
                    text.lines().fold(String::new(), |text, line| text + &form(line) + "\n")
                };
                check_page(&each(&|line| format!("> {line}")));
                check_page(&each(&|line| serde_json::json!({ "m": line }).to_string()));
                let time = "2024-09-10T09:37:08.123456Z";
                check_page(&each(&|line| {
                    serde_json::json!({ "level": "error", "m": line, "time": time, "pod": "a b" }).to_string()
                }));
            }
        }
    }
    // Words of other lines are no part of a value.
    for (whole, cut) in [("0x00801031", "0x0080103"), ("0x00007f0000201000", "0x00007f000020100")] {
        let text = rows.join("\n").replace(whole, &format!("{cut}\na line of another program")) + "\n";
        let fault = one(&text);
        assert!(fault.status.is_none() || fault.address.is_none(), "{fault:#?}");
    }
    let lo32 = format!("{DEVICE}: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS_LO32:0x00C0\n4061\n");
    let text = rows[..3].join("\n") + "\n" + &lo32;
    assert_eq!(one(&text).status, one(&text.replace("00C0\n", "00C0")).status);
    assert!(one(&text).status.is_some());
}

/// An error of a wave is of the process whose page fault is near, and joins that alone.
#[test]
fn errors_of_waves_are_of_the_fault_before_them() {
    let error = |time: u64, of: u32| {
        format!(
            "[{time}.0] {DEVICE}: amdgpu: sq_intr: error, detail 0x00000000, type {of}, sh 0, priv 0, wave_id 3, simd_id 1, wgp_id 2\n"
        )
    };
    let page = rows().iter().fold(String::new(), |text, row| format!("{text}[100.0] {row}\n"));
    let kinds = |text: &str| faults(text).iter().map(|fault| (fault.kind, fault.process)).collect::<Vec<_>>();
    let own = (FaultKind::Page, Some(4376));
    assert_eq!(kinds(&format!("{page}{}", error(101, 2))), [own]);
    assert_eq!(kinds(&format!("{page}{}", error(900, 2))), [own, (FaultKind::Memory, None)]);
    assert_eq!(kinds(&format!("{}{page}", error(1, 2))), [(FaultKind::Memory, None), own]);
    assert_eq!(
        kinds(&format!("{page}{}", error(101, 1))),
        [own, (FaultKind::IllegalInstruction, Some(4376))]
    );
    // Newest first, before the page, and of memory, which belongs to no process.
    let newest = |text: &str| text.lines().rev().fold(String::new(), |text, line| text + line + "\n");
    assert_eq!(kinds(&newest(&format!("{page}{}", error(101, 2)))), [own]);
    assert_eq!(kinds(&format!("{}{page}", error(99, 2))), [own]);
    let umc = format!("[101.0] {DEVICE}: amdgpu: 1 uncorrectable hardware errors detected in umc block\n");
    assert_eq!(kinds(&format!("{page}{umc}")), [own, (FaultKind::Ecc, None)]);
    // The trap handler's errors follow those of others; without the bit it is not known.
    for cut in [error(1, 2).replace("priv 0", "priv 1"), error(1, 2).replace(", priv 0", "")] {
        assert_eq!(faults(&cut), [], "{cut}");
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
    let row =
        hint("hello\nI saw [gfxhub] page fault (src_id:0 ring:24 vmid:8) of amdgpu 0000:65:00.0 there\n");
    assert!(row.starts_with("line 2 has the words"), "{row}");
}

/// Commands, comments and source code with a report in JSON or in a value.
#[test]
fn texts_of_source_code_are_no_messages() {
    const ERROR: &str = "HIP error: an illegal memory access was encountered";
    for text in [
        format!("with pytest.raises(RuntimeError, match=\"{ERROR}\\\\.\"):"),
        format!("+ curl -d '{{\"text\": \"{ERROR}\"}}' https://x"),
        format!("grep -F '{{\"text\": \"{ERROR}\\n\"}}' run.log"),
        format!("// prints: \"{ERROR}\\n\""),
        format!("# \"msg\": \"{ERROR}\\n\","),
        format!("    [\"{ERROR}\", \"page\"],"),
        format!("@pytest.mark.parametrize(\"text\", [[\"{ERROR}\", 1]])"),
        format!("fprintf(stderr, \"{ERROR}\\n\");"),
        format!("I keep hitting this - {ERROR} - any ideas?"),
        "amdgpu: [gfxhub] page fault on RX 7900 after resume".to_owned(),
        "amdgpu: [gfxhub] page fault".to_owned(),
        "I get `saxpy.hip:54: void f(): Device-side assertion `i' failed.` when I run it".to_owned(),
        "I get saxpy.hip:54: void f(): Device-side assertion `i' failed., which I do not know".to_owned(),
    ] {
        assert_eq!(faults(&format!("{text}\n")), [], "{text}");
    }
}

/// A cut row has no value of another program's line.
#[test]
fn other_lines_do_not_continue_a_row() {
    let rows = rows();
    let header = format!("{DEVICE}: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770");
    let processes = |text: String| faults(&text).iter().map(|fault| fault.process).collect::<Vec<_>>();
    let rest = rows[2..].join("\n");
    for other in ["started process other pid 99 thread x pid 99)", "2 warnings (done)", "x", "", ")x"] {
        assert_eq!(processes(format!("{header}\n{other}\n{rest}\n")), [None], "{other}");
    }
    let vmid = header.split("8 pasid").next().unwrap();
    let fault = one(&format!("{vmid}\n0 warnings (done)\n{rest}\n"));
    assert_eq!(fault.client.as_deref(), Some("TCP"));
    for other in ["42", "42 from 100 samples", "00 from here", "00"] {
        let row = rows[2].replace("1000 from client 10", "10");
        let fault = one(&format!("{}\n{}\n{row}\n{other}\n{}\n", rows[0], rows[1], rows[3..].join("\n")));
        assert_eq!(fault.address, None, "{other}");
    }
    // A report of another entry is its own.
    const REPORT: &str =
        "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000777000. Reason: Unknown.";
    let entry = serde_json::json!({ "logger": "train (main)", "msg": REPORT });
    for end in ["", ", for process app pid 7 thread app pid 7"] {
        let found = faults(&format!("{header}{end}\n{entry}\n"));
        assert!(
            found.iter().any(|fault| fault.address.is_some_and(|at| at.start == 0x7f00_0077_7000)),
            "{end}"
        );
    }
}

/// Stamps of the text count before those of its entry, and an entry's clock ends with it.
#[test]
fn other_clocks_are_none_of_a_message() {
    let rows = rows();
    let hours = |index: usize| format!("2024-09-10T0{}:37:08Z", if index >= 2 { 5 } else { 1 });
    let stamped = |lead: &str| {
        let each = rows.iter().enumerate().map(|(at, row)| format!("{} {row}\n", hours(at)));
        lead.to_owned() + &each.collect::<String>()
    };
    for lead in
        ["curl -d '{\n  \"time\": \"2024-09-10T01:37:08Z\"\n}'\n", "\"date\": \"2024-09-10T01:37:08Z\"\n", ""]
    {
        assert_eq!(faults(&stamped(lead)).len(), 2, "{lead}");
    }
    let own = |(at, row): (usize, &String)| {
        let seconds = if at >= 2 { 9000 } else { 100 };
        format!(
            "{}\n",
            serde_json::json!({ "ts": 1_725_953_828.5, "msg": format!("[ {seconds}.000001] {row}") })
        )
    };
    assert_eq!(faults(&rows.iter().enumerate().map(own).collect::<String>()).len(), 2);
    // Microseconds since a start are no seconds since 1970.
    let monotonic = |(at, row): (usize, &String)| {
        format!("{}\n", serde_json::json!({ "ts": 6_512_000_000_u64 + 10_000_000 * at as u64, "msg": row }))
    };
    check_page(&rows.iter().enumerate().map(monotonic).collect::<String>());
    // logfmt escapes the tab of the client's row.
    let logfmt = |row: &String| {
        format!("time=2024-09-10T09:37:08Z level=error msg=\"{}\"\n", row.replace('\t', "\\t"))
    };
    check_page(&rows.iter().map(logfmt).collect::<String>());
    let numbers = [serde_json::json!(1_725_953_828.5), serde_json::Value::Null, serde_json::json!(7)];
    for time in numbers {
        let docker = |row: &String| {
            format!(
                "{}\n",
                serde_json::json!({ "log": format!("{row}\n"), "stream": "stderr", "time": time })
            )
        };
        check_page(&rows.iter().map(docker).collect::<String>());
    }
}
