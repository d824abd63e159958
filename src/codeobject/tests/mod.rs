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

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use super::CodeObject;
use crate::sample::sampled;
pub(crate) use crate::tools::newest as newest_llvm;

/// Assembles text to a code object for gfx90a.
pub(crate) fn assembled(text: &str) -> Vec<u8> {
    assembled_for("gfx90a", text)
}

/// Assembles text to a code object.
pub(crate) fn assembled_for(gpu: &str, text: &str) -> Vec<u8> {
    static KNOWN: Mutex<BTreeMap<(String, String), Vec<u8>>> = Mutex::new(BTreeMap::new());
    let key = (gpu.to_owned(), text.to_owned());
    if let Some(known) = KNOWN.lock().expect("unlocked").get(&key) {
        return known.clone();
    }
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
    let object = std::fs::read(&output).expect("an object");
    KNOWN.lock().expect("unlocked").insert(key, object.clone());
    object
}

/// Of the kernels that are compiled for each GPU at two levels every fifth one, and before them all others.
pub(crate) fn some_objects(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "hsaco"));
    paths.sort();
    let is_one_of_many = |path: &PathBuf| {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let kernel = name.split('-').next().unwrap_or_default();
        ["arguments", "call", "diverge", "frames", "lds", "saxpy"].contains(&kernel)
            && (name.ends_with("-O0") || name.ends_with("-O2"))
    };
    let (many, mut some): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(is_one_of_many);
    some.extend(sampled(many, 5));
    some
}

/// [`some_objects`] of this module's tests and of the shared fixtures.
fn objects() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src/debuginfo/tests/objects", "src/debuginfo/tests/values", "tests/fixtures/code"];
    let folders = folders.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let paths = some_objects(files.map(|file| file.expect("a file").path()).collect());
    assert!(paths.len() >= 9);
    paths
}

fn parse(path: &std::path::Path) -> CodeObject {
    CodeObject::parse(std::fs::read(path).expect("a file")).expect("a code object")
}
