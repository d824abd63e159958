//! Every instruction of the fixtures' code objects.

use std::collections::BTreeMap;
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
    // llvm-objdump takes the processor of the first file for all.
    let mut of_processors: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for path in sampled([objects("tests/fixtures/code"), objects("tests/fixtures/compilers")].concat(), 3) {
        let object = CodeObject::parse(std::fs::read(&path).unwrap()).unwrap();
        let processor = Processor::of_mach(object.header().mach()).unwrap().name;
        of_processors.entry(processor).or_default().push(path);
    }
    for (processor, paths) in of_processors {
        let output = Command::new(newest_llvm("llvm-objdump")).arg("-d").args(&paths).output().unwrap();
        assert!(output.status.success());
        let listing = String::from_utf8(output.stdout).unwrap();
        for line in listing.lines().filter(|line| line.starts_with('\t') && line.contains("//")) {
            let text = line.trim();
            if let Err(error) = decoded(processor, text) {
                panic!("{processor}: {text}: {error}");
            }
            count += 1;
        }
    }
    assert!(count > least(60_000, 15_000), "{count} instructions");
}
