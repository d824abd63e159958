//! Code objects against llvm-readelf's output, and damaged ones.

mod damaged;
mod fat;
mod image;
mod kernels;
mod metadata;
mod offload;
mod readelf;
mod relocation;
mod units;
mod uri;

use std::path::PathBuf;
use std::process::Command;

use super::CodeObject;

/// Finds the newest version of an LLVM tool on the PATH, `llvm-readelf-22`; a missing tool fails the test.
pub(crate) fn newest_llvm(tool: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a PATH");
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    let versions = (10..100).rev().map(|version| format!("{tool}-{version}"));
    let mut names = versions.chain([tool.to_owned()]);
    names.find_map(|name| find(&name)).unwrap_or_else(|| panic!("{tool} is needed: see scripts/setup"))
}

/// Assembles text to a code object for gfx90a.
pub(crate) fn assembled(text: &str) -> Vec<u8> {
    assembled_for("gfx90a", text)
}

/// Assembles text to a code object.
pub(crate) fn assembled_for(gpu: &str, text: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, output] = ["source.s", "code.hsaco"].map(|name| folder.path().join(name));
    std::fs::write(&source, text).expect("written");
    let flags = ["-x", "assembler", "--target=amdgcn-amd-amdhsa"];
    let mut command = Command::new(newest_llvm("clang"));
    let done = command
        .args(flags)
        .arg(format!("-mcpu={gpu}"))
        .arg("-o")
        .arg(&output)
        .arg(&source)
        .output()
        .expect("clang");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(&output).expect("an object")
}

/// Code objects of this module's tests and of the shared fixtures.
fn objects() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src/debuginfo/tests/objects", "src/debuginfo/tests/values", "tests/fixtures/code"];
    let folders = folders.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let paths = files.map(|file| file.expect("a file").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "hsaco")).collect();
    paths.sort();
    assert!(paths.len() >= 9);
    paths
}

fn parse(path: &std::path::Path) -> CodeObject {
    CodeObject::parse(std::fs::read(path).expect("a file")).expect("a code object")
}
