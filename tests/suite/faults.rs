//! Reported faults in every output: `info`, `export`, `faults`, packets and small dumps.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{run, text};
use crate::slim::{Scratch, slim, words};

const HEAD: &str = r#"
format = 1
agent = [{ id = 1, target = "gfx90a" }, { id = 2, target = "gfx90a" }]
queue = [{ id = 1, agent = 2 }]
dispatch = [{ id = 1, queue = 1, grid = [64], workgroup = [64] }]
workgroup = [{ id = 1, dispatch = 1, position = [0] }]
wave = [{ id = 1, workgroup = 1, stop = ["memory_violation"], registers = { pc = 4096, exec = 1 } }]
"#;

/// A fault with each key.
const WHOLE: &str = include_str!("../fixtures/fault.toml");

const ASSERTION: &str = r#"
[[fault]]
kind = "assertion"
assertion = { condition = "i < n", file = "scale.hip", line = 12, function = "scale(int)" }
"#;

/// The faults of the manifest, as docs/protocol.md describes them.
fn expected() -> Value {
    json!([
        {
            "kind": "page",
            "address": "0x7f0000201000",
            "bytes": 4096,
            "inexact": true,
            "page": "0x7f0000201000",
            "access": "write",
            "reasons": ["not_present", "read_only"],
            "all_reasons": true,
            "status": "0x00301031",
            "node": 4,
            "device": "0000:c3:00.0",
            "gpu": 1,
            "gpu_inferred": "only_gpu",
            "client": "TCP",
            "ring": "comp_1.0.0",
            "kernel": "saxpy",
            "process": 1234,
            "foreign": null,
            "assertion": { "condition": "i < n", "file": "a.hip", "line": 12, "function": "f(int)" },
            "source": "kernel_log",
            "place": { "file": "dmesg.txt", "line": 7 },
            "also": [
                { "source": "runtime", "place": { "file": "run.log" } },
                { "source": "dump", "place": null },
            ],
        },
        {
            "kind": "assertion",
            "address": null,
            "bytes": null,
            "inexact": null,
            "page": null,
            "access": null,
            "reasons": [],
            "all_reasons": false,
            "status": null,
            "node": null,
            "device": null,
            "gpu": null,
            "gpu_inferred": null,
            "client": null,
            "ring": null,
            "kernel": null,
            "process": null,
            "foreign": null,
            "assertion": { "condition": "i < n", "file": "scale.hip", "line": 12, "function": "scale(int)" },
            "source": "dump",
            "place": null,
            "also": [],
        },
    ])
}

/// The `faults` of a command's JSON.
fn faults(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["faults"].clone()
}

fn same(dump: &Path) {
    for command in [&["info", "--json"][..], &["export"], &["faults", "--json"]] {
        assert_eq!(faults(&[command, &[words(dump)]].concat()), expected(), "{command:?}");
    }
}

#[test]
fn each_output_has_the_faults_and_a_small_dump_keeps_them() {
    let scratch = Scratch::new("faults");
    let dump = scratch.path("dump.toml");
    fs::write(&dump, format!("{HEAD}{WHOLE}{ASSERTION}")).unwrap();
    same(&dump);
    let to = scratch.path("small");
    slim(&dump, &to, &[]);
    same(&to);
    let line = "write to page 0x7f0000201000 (inexact): page not present or supervisor privilege, write access to a \
                read-only page; GPU node 4; GPU 0000:c3:00.0; agent 1 (inferred: the only GPU); client TCP; ring \
                comp_1.0.0; kernel saxpy; process 1234; status 0x00301031; reported by the kernel log (dmesg.txt, line 7) and ROCm's runtime (run.log) and the dump";
    let info = text(&run(&["info", words(&dump)]).stdout);
    let failed = "failed assertion i < n in scale(int), scale.hip:12; reported by the dump";
    for line in [line, failed] {
        assert!(info.contains(&format!("\nfault: {line}\n")), "{info}");
    }
    let listed = text(&run(&["faults", words(&dump)]).stdout);
    assert_eq!(listed.lines().collect::<Vec<_>>(), [line, failed], "{listed}");
    fs::write(&dump, HEAD).unwrap();
    assert_eq!(text(&run(&["faults", words(&dump)]).stdout), "No fault was reported.\n");
    assert_eq!(faults(&["faults", "--json", words(&dump)]), json!([]));
}
