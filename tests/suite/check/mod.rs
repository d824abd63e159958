//! `lanescope check` as a program: exit statuses, forms of the results, workers, shards and rules.

mod drafts;
mod files;
mod forms;
mod options;
mod shards;
mod status;
mod workers;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::fixtures::{fixtures, outside_ci};
use crate::slim::{Scratch, words};

/// The forms of the results.
const FORMS: [&str; 6] = ["human", "github", "gitlab", "junit", "tap", "json"];

fn command(arguments: &[&str]) -> Command {
    let mut command = crate::support::lanescope();
    outside_ci(&mut command).arg("check").args(arguments);
    command
}

fn check(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// A folder of files of expectations beside `demo.zip`.
struct Folder(Scratch);

impl Folder {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        fs::copy(fixtures().join("demo.zip"), scratch.path("demo.zip")).unwrap();
        Self(scratch)
    }

    /// Writes a file; returns its path.
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        words(&path).to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn all(&self) -> String {
        words(&self.0.0).to_owned()
    }
}

/// Files by the worst result that they have. tests/fixtures/models/saxpy.py: wave 1 of the demo faulted in lane 24, and
/// `i` is 1000 + lane; `x[1024]` is not captured.
const FILES: [(&str, &str, u8); 5] = [
    ("holds.scope", "dump demo.zip\nfault memory violation\nwave faulted\n  lane 17 i == 1017\n", 0),
    (
        "differs.scope",
        "dump demo.zip\nfault none\nwave faulted\n  lane 17 i == 1018\n  lane 18 i == 1018\n",
        1,
    ),
    ("unknown.scope", "dump demo.zip\nfault memory violation\nwave faulted\n  lane 17 x[1024] == 0\n", 2),
    ("wrong.scope", "dump demo.zip\nfalt none\nwave fautled\n", 2),
    ("missing.scope", "dump nowhere.zip\nfault none\n", 2),
];

/// The lines and files of [`FILES`] that do not hold: a cause and a value, a missing value, two wrong lines, a missing
/// dump.
const FAILED: usize = 2 + 1 + 2 + 1;

/// Results that do not hold, in the JSON of a run.
fn failed(json: &Value) -> usize {
    let list = |value: &Value| value.as_array().unwrap().clone();
    let of_dump = |dump: Value| {
        let lines = list(&dump["lines"]);
        let failed = lines.iter().filter(|line| line["verdict"]["result"] != "holds").count();
        failed + usize::from(!dump["error"].is_null())
    };
    let of_file = |file: &Value| {
        list(&file["errors"]).len() + list(&file["dumps"]).into_iter().map(of_dump).sum::<usize>()
    };
    list(&json["files"]).iter().map(of_file).sum()
}
