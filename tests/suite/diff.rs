//! `lanescope diff`: two dumps that differ in known bytes, word for word; what only one has; exit status.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::fixtures::fixtures;
use crate::slim::{Scratch, lanescope};

/// A dump of waves in one function or none, written by hand: two lanes' worth of registers and the kernel's variables.
///
/// The code is the fixture saxpy's, so that functions and variables are real; registers are the fixture's own.
struct Pair {
    scratch: Scratch,
}

const NAME: &str = "diverge-gfx1100-O2";

impl Pair {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        for side in ["a", "b"] {
            fs::create_dir_all(scratch.path(side)).unwrap();
            for file in fs::read_dir(fixtures().join("dumps").join(NAME)).unwrap() {
                let file = file.unwrap();
                fs::copy(file.path(), scratch.path(side).join(file.file_name())).unwrap();
            }
        }
        Self { scratch }
    }

    fn side(&self, side: &str) -> PathBuf {
        self.scratch.path(side)
    }

    /// Replaces a text that is there once in the manifest of the second dump.
    fn replace(&self, old: &str, new: &str) {
        let path = self.side("b").join("manifest.toml");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old:?} in {}", path.display());
        fs::write(path, text.replace(old, new)).unwrap();
    }

    fn diff(&self, more: &[&str]) -> (i32, String) {
        diff(&self.side("a"), &self.side("b"), more)
    }
}

fn diff(a: &Path, b: &Path, more: &[&str]) -> (i32, String) {
    let mut arguments = vec!["diff", a.to_str().unwrap(), b.to_str().unwrap()];
    arguments.extend(more);
    let output = lanescope(&arguments);
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}
