//! Every instruction of the fixtures' code objects.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::decoded;
use crate::arch::Processor;
use crate::codeobject::{CodeObject, newest_llvm};
use crate::sample::{least, sampled};

fn objects(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "hsaco")).collect()
}

/// The effects of every instruction are known: compiled kernels, hand-written ones, clang, flang and Triton.
#[test]
fn fixtures_have_no_unknown_instruction() {
    let mut count = 0;
    for path in sampled([objects("tests/fixtures/code"), objects("tests/fixtures/compilers")].concat(), 3) {
        let object = CodeObject::parse(std::fs::read(&path).unwrap()).unwrap();
        let processor = Processor::of_mach(object.header().mach()).unwrap().name;
        let output = Command::new(newest_llvm("llvm-objdump")).arg("-d").arg(&path).output().unwrap();
        assert!(output.status.success());
        let listing = String::from_utf8(output.stdout).unwrap();
        for line in listing.lines().filter(|line| line.starts_with('\t') && line.contains("//")) {
            let text = line.trim();
            if let Err(error) = decoded(processor, text) {
                panic!("{}: {text}: {error}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > least(60_000, 15_000), "{count} instructions");
}
