//! Code objects of captured memory. A loader independent of the reader makes the memory from fixtures.

mod bounds;
mod debuginfod;
mod find;
mod hostile;
mod link_map;
mod shared;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::Memory;
use crate::codeobject::Bytes;

/// Memory of a test.
#[derive(Debug, Default)]
struct Made(BTreeMap<u64, Vec<u8>>);

impl Memory for Made {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        let mut done = 0;
        while done < buffer.len() {
            let at = address.wrapping_add(done as u64);
            let Some((start, bytes)) = self.0.range(..=at).next_back() else { break };
            let rest = bytes.get((at - start) as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len() - done);
            if count == 0 {
                break;
            }
            buffer[done..done + count].copy_from_slice(&rest[..count]);
            done += count;
        }
        done
    }

    fn segment(&self, address: u64) -> Option<(u64, u64)> {
        let (start, bytes) = self.0.range(..=address).next_back()?;
        let last = start + bytes.len() as u64 - 1;
        (address <= last).then_some((*start, last))
    }

    fn view(&self, address: u64, length: u64) -> Option<Bytes> {
        let length = usize::try_from(length).ok().filter(|length| *length < 1 << 30)?;
        let mut bytes = vec![0; length];
        (self.read(address, &mut bytes) == length).then(|| Bytes::from(bytes))
    }
}

impl Made {
    /// Loads an ELF file like ROCr: one piece, every segment at its address, the rest zero.
    fn load(&mut self, address: u64, file: &[u8]) {
        self.0.insert(address, image(file));
    }

    /// Cuts a piece in two, so that data across the cut is in both.
    fn cut(&mut self, start: u64, at: usize) {
        let rest = self.0.get_mut(&start).expect("a piece").split_off(at);
        self.0.insert(start + at as u64, rest);
    }

    /// ROCr's list of those code objects, in a separate piece; `r_debug` is its first byte.
    fn list(&mut self, at: u64, version: u32, entries: &[(u64, &str)]) {
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(&version.to_le_bytes());
        let node = |index: usize| at + 64 + index as u64 * 40;
        let names = node(entries.len());
        bytes[8..16].copy_from_slice(&node(0).to_le_bytes());
        let mut text = Vec::new();
        for (index, (address, name)) in entries.iter().enumerate() {
            let next = if index + 1 < entries.len() { node(index + 1) } else { 0 };
            let before = if index > 0 { node(index - 1) } else { 0 };
            for word in [*address, names + text.len() as u64, 0, next, before] {
                bytes.extend(word.to_le_bytes());
            }
            text.extend(name.bytes().chain([0]));
        }
        bytes.extend(text);
        self.0.insert(at, bytes);
    }
}

fn word(file: &[u8], at: usize, size: usize) -> usize {
    file[at..at + size].iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte))
}

/// Loaded bytes of a file: PT_LOAD of the program headers (ELF64: `p_offset` at 8, `p_vaddr` at 16, `p_filesz` at 32,
/// `p_memsz` at 40), up to the end of the last page.
fn image(file: &[u8]) -> Vec<u8> {
    let mut image = Vec::new();
    for index in 0..word(file, 56, 2) {
        let header = word(file, 32, 8) + index * 56;
        if word(file, header, 4) != 1 {
            continue;
        }
        let [offset, address, size, memory] = [8, 16, 32, 40].map(|at| word(file, header + at, 8));
        image.resize(image.len().max((address + memory).next_multiple_of(4096)), 0);
        image[address..address + size].copy_from_slice(&file[offset..offset + size]);
    }
    image
}

/// One kernel built twice, with build ids: `O0.hsaco` and `O2.hsaco`.
struct Kernels(tempfile::TempDir);

impl Kernels {
    fn new() -> Self {
        static BUILT: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let folder = tempfile::tempdir().expect("a folder");
        let built = BUILT.get_or_init(|| {
            ["O0", "O2"].map(|level| {
                let file = folder.path().join("built");
                let mut clang = Command::new(crate::codeobject::newest_llvm("clang"));
                clang.args(["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-g"]);
                clang.args([&format!("-{level}"), "-Wl,--build-id=sha1", "-o"]).arg(&file);
                clang.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kernels/lds.cl"));
                assert!(clang.status().expect("clang runs").success());
                let bytes = std::fs::read(&file).expect("a code object");
                std::fs::remove_file(&file).expect("its file");
                bytes
            })
        });
        for (bytes, name) in built.iter().zip(["O0.hsaco", "O2.hsaco"]) {
            std::fs::write(folder.path().join(name), bytes).expect("a file");
        }
        Self(folder)
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Bytes of the first build.
    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.path(KERNEL)).expect("a file")
    }
}

/// The kernel of most tests.
const KERNEL: &str = "O0.hsaco";

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code").join(name)
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).expect("a fixture")
}

/// Build id in llvm-readelf's output.
fn build_id(path: &Path) -> String {
    let readelf = crate::codeobject::newest_llvm("llvm-readelf");
    let output = Command::new(readelf).arg("-n").arg(path).output().expect("llvm-readelf runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let id = text.lines().find_map(|line| line.trim().strip_prefix("Build ID: "));
    id.unwrap_or_else(|| panic!("{path:?} has no build id")).to_owned()
}

/// A file without section headers and debug information, like after `strip`.
fn stripped(path: &Path, into: &Path, arguments: &[&str]) {
    let objcopy = crate::codeobject::newest_llvm("llvm-objcopy");
    let status = Command::new(objcopy).args(arguments).arg(path).arg(into).status();
    assert!(status.expect("llvm-objcopy runs").success());
}
