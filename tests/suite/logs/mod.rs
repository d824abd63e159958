//! Logs of the debug agent and texts of umr. Code here writes the texts after their writers' grammars
//! (tests/fixtures/logs/README.md), independent of the readers, with values from a seed. The output of `lanescope
//! export --json` is compared with the seed.

mod agent;
mod faults;
mod fixtures;
mod hostile;
mod model;
mod objects;
mod others;
mod output;
mod posted;
mod umr;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use self::model::Wave;

/// An empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = crate::support::own_folder().join("logs").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file with that text in its own folder.
fn file(name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder(name).join("log");
    fs::write(&path, text).unwrap();
    path
}

/// The program's output; it must succeed.
fn run(arguments: &[&str]) -> String {
    let mut command = crate::support::lanescope();
    let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The capture as JSON, with options before the file's name.
fn export(path: &Path, options: &[&str]) -> Value {
    let mut arguments = vec!["export", "--json"];
    arguments.extend(options);
    arguments.push(path.to_str().unwrap());
    crate::in_samples_notation(serde_json::from_str(&run(&arguments)).unwrap())
}

/// Opens a text by its name in its own folder.
fn export_text(name: &str, text: impl AsRef<[u8]>, options: &[&str]) -> Value {
    export(&file(name, text), options)
}

fn problems(export: &Value) -> Vec<String> {
    export["problems"].as_array().unwrap().iter().map(crate::problem_text).collect()
}

/// Compares every register of a wave: exactly the printed values exist.
fn same_registers(wave: &Wave, export: &Value) {
    let shown = export["registers"].as_object().unwrap();
    for (name, value) in shown {
        let wanted = wave.hex(name);
        assert_eq!(*value, wanted, "wave {} register {name}", wave.id);
    }
    for name in wave.names() {
        assert!(shown.contains_key(&name), "wave {}: {name} is not shown", wave.id);
    }
}

/// Compares the waves of an export with those of a model: the list, its order, and all values of each.
fn same_waves(waves: &[Wave], export: &Value) {
    let shown = export["waves"].as_array().unwrap();
    let ids: Vec<u64> = shown.iter().map(|wave| wave["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, waves.iter().map(|wave| wave.id).collect::<Vec<_>>());
    for (wave, shown) in waves.iter().zip(shown) {
        assert_eq!(shown["lanes"], wave.lanes, "wave {}", wave.id);
        assert_eq!(shown["pc"], wave.pc, "wave {}", wave.id);
        same_registers(wave, shown);
    }
}
