//! A stripped code object with its debug information in a separate file, split by llvm-objcopy: with the option for the
//! file's folder, call stacks and variables are unchanged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::dwarf::ran;
use crate::fixtures::{copy_dump, expected_of, fixtures};
use crate::support::newest;
use crate::variables::compare;

const DUMP: &str = "calls-gfx90a";

/// A folder with the dump over its stripped code object, and a folder with the debug file.
struct Parted(PathBuf);

impl Drop for Parted {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Parted {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lanescope-separate-{name}-{}", std::process::id()));
        let parted = Self(folder);
        fs::create_dir_all(parted.debug()).unwrap();
        copy_dump(DUMP, &parted.dump());
        let file = format!("{DUMP}.hsaco");
        let whole = fixtures().join("code").join(&file);
        let debug = parted.debug().join("calls.debug");
        let objcopy = || Command::new(newest("llvm-objcopy"));
        ran(objcopy().arg("--only-keep-debug").arg(&whole).arg(&debug));
        let link = format!("--add-gnu-debuglink={}", debug.display());
        ran(objcopy().args(["--strip-debug", &link]).arg(&whole).arg(parted.dump().join(&file)));
        // The tool has moved the debug sections.
        let sections = |file: &Path| ran(Command::new(newest("llvm-readelf")).arg("-S").arg(file));
        assert!(!sections(&parted.dump().join(&file)).contains(".debug_frame"));
        assert!(sections(&debug).contains(".debug_frame"));
        parted
    }

    fn dump(&self) -> PathBuf {
        self.0.join("dumps").join(DUMP)
    }

    fn debug(&self) -> PathBuf {
        self.0.join("debug")
    }

    fn ask(&self, arguments: &[&str], debug: bool) -> Value {
        let mut command = crate::support::lanescope();
        command.args(arguments).arg("--json").arg(self.dump());
        if debug {
            command.arg("--debug-dir").arg(self.debug());
        }
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| json!({"error": String::from_utf8_lossy(&output.stderr)}))
    }
}

fn waves() -> Vec<Value> {
    let (_, expected) = expected_of(DUMP);
    expected["waves"].as_array().unwrap().clone()
}

#[test]
fn call_stacks_come_from_the_debug_file() {
    let parted = Parted::new("stacks");
    let mut callers = 0;
    for wave in waves() {
        let id = wave["id"].to_string();
        let stack = parted.ask(&["backtrace", "--wave", &id], true);
        let outer = wave["callers"].as_array().unwrap().iter();
        let wanted: Vec<Value> = std::iter::once(&wave)
            .chain(outer)
            .map(|frame| json!([frame["function"], frame["pc"], frame["line"]]))
            .collect();
        let frames = stack["frames"].as_array().unwrap_or_else(|| panic!("{stack}")).iter();
        let got: Vec<Value> =
            frames.map(|frame| json!([frame["function"], frame["pc"], frame["line"]])).collect();
        assert_eq!(got, wanted, "wave {id}");
        assert_eq!(stack["end"]["reason"], "outermost");
        callers += got.len() - 1;
        // Only the user's folders are searched: otherwise names are those of symbols, and the code gives the callers.
        let alone = parted.ask(&["backtrace", "--wave", &id], false);
        assert_eq!(alone["end"]["reason"], "outermost", "{alone}");
        let frames = alone["frames"].as_array().unwrap();
        let of = |frames: &[Value]| -> Vec<Value> {
            frames.iter().map(|frame| json!([frame["function"], frame["pc"]])).collect()
        };
        assert_eq!(of(frames), of(stack["frames"].as_array().unwrap()), "{alone}");
        assert!(frames.iter().all(|frame| frame["line"].is_null()), "{alone}");
        assert!(frames.iter().skip(1).all(|frame| frame["inferred"] == json!(["caller_code"])), "{alone}");
    }
    assert!(callers > 3, "only {callers} callers");
}

#[test]
fn variables_of_all_frames_come_from_the_debug_file() {
    let parted = Parted::new("variables");
    let mut wrong = Vec::new();
    for wave in waves() {
        let id = wave["id"].to_string();
        let callers = wave["callers"].as_array().unwrap().iter();
        for (number, frame) in std::iter::once(&wave).chain(callers).enumerate() {
            let mut frame = frame.clone();
            frame["lanes"] = wave["lanes"].clone();
            let number = number.to_string();
            let asked = ["locals", "--lane", "all", "--wave", &id, "--frame", &number];
            let answer = parted.ask(&asked, true);
            compare(Ok(answer), &frame, &mut |text| wrong.push(format!("wave {id} frame {number}: {text}")));
        }
        let alone = parted.ask(&["locals", "--lane", "all", "--wave", &id], false)["error"].to_string();
        assert!(alone.contains("has no .debug_info section"), "{alone}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
