//! A manifest as text, and its problems: every rule of docs/dump-format.md through one function, [`check`].

mod broken;
mod docs;
mod faults;
mod hostile;
mod rules;
mod stores;
mod values;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::arch::{RegisterValue, Targets};
use crate::capture::Capture;
use crate::import::{ImportError, Opened, Options, open, open_bytes};

/// An agent and the parents of a wave: one gfx90a, work-groups 1 and 2 of four waves each.
const HEAD: &str = r#"
format = 1
agent = [{ id = 1, target = "gfx90a" }]
queue = [{ id = 1, agent = 1 }]
dispatch = [{ id = 1, queue = 1, grid = [512], workgroup = [256] }]
workgroup = [{ id = 1, dispatch = 1, position = [0] }, { id = 2, dispatch = 1, position = [1] }]
"#;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("lanescope-import-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    fn open(&self) -> Result<Opened, ImportError> {
        open(&self.0, &Targets::builtin(), &Options::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

/// Opens a manifest in memory, with the name `m`.
fn open_text(text: &str) -> Result<Opened, ImportError> {
    open_bytes("m", text.as_bytes().to_vec(), &Targets::builtin())
}

/// Opens `text` after [`HEAD`] and compares its problems, one line each, without `m: ` before them.
#[track_caller]
fn check(text: &str, expected: &[&str]) -> Capture {
    check_whole(&format!("{HEAD}\n{text}"), expected)
}

/// Like [`check`], without the head.
#[track_caller]
fn check_whole(text: &str, expected: &[&str]) -> Capture {
    let opened = open_text(text).unwrap();
    assert_eq!(lines(&opened), expected, "problems of:\n{text}");
    opened.capture
}

fn lines(opened: &Opened) -> Vec<String> {
    let lines = opened.problems.iter().map(|problem| problem.to_string());
    lines.map(|line| line.strip_prefix("m: ").unwrap_or(&line).to_owned()).collect()
}

/// A register of the first wave.
#[track_caller]
fn register(capture: &Capture, name: &str) -> RegisterValue {
    let wave = &capture.waves[0];
    capture.register(wave, wave.kind.named(name).unwrap().id).unwrap()
}

/// A register of the first wave as text: dwords in hex, `xx` for missing ones, without trailing missing ones.
#[track_caller]
fn show(capture: &Capture, name: &str) -> String {
    let value = register(capture, name);
    let dwords = (0..value.dwords())
        .map(|index| value.dword(index).map_or("xx".to_owned(), |dword| format!("{dword:x}")));
    let text = dwords.collect::<Vec<_>>().join(" ");
    text.trim_end_matches(" xx").to_owned()
}

/// Global memory from an address, up to the first missing byte.
fn global(capture: &Capture, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let count = capture.read(&capture.global, address, &mut bytes).unwrap();
    bytes.truncate(count);
    bytes
}
