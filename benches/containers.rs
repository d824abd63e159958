//! Limit for reading the containers of a library with 20 MB of code: 0.1 s of processor time for each kind of
//! container, unpacking included.
//!
//! The library is made of a public one (tests/fixtures/release): four bundles of 25 processors each, 19.3 MB unpacked.
//! Bench `containers` measures. Processor time counts, because the time of a clock depends on other work.

use std::path::Path;
use std::process::{Command, ExitCode};

use lanescope::codeobject::{Bytes, FatFile};

use crate::support::{Failure, Promises, TURNS, processor_seconds, scratch};

/// Bundles of the library.
const BUNDLES: usize = 4;
/// Readings per turn; the minimum counts.
const RUNS: usize = 5;
const MAX_SECONDS: f64 = 0.1;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/release/bitsandbytes-rocm715.bundle");
    let packed = std::fs::read(path)?;
    let entries = FatFile::read(&Bytes::from(packed.clone()))?.entries;
    let images: Vec<(String, Vec<u8>)> =
        entries.iter().filter_map(|entry| Some((entry.id.clone()?, entry.bytes.to_vec()))).collect();
    let plain = bundle(&images);
    let mut promises = Promises::default();
    let forms = [
        ("bundles", plain.clone(), BUNDLES),
        ("bundles compressed by zstd", packed, BUNDLES),
        ("bundles compressed by zlib", zlib(&plain)?, BUNDLES),
        ("offload binaries", offload_binaries(&images), BUNDLES),
    ];
    for (name, one, times) in forms {
        let mut library = Vec::new();
        for _ in 0..times {
            library.extend(&one);
            // Linkers align bundles to pages.
            library.resize(library.len().next_multiple_of(4096), 0);
        }
        let expected = images.len() * times;
        let library = Bytes::from(library);
        let mut turns = Vec::new();
        for _ in 0..TURNS {
            let mut best = f64::INFINITY;
            for _ in 0..RUNS {
                let start = processor_seconds()?;
                let found = FatFile::read(&library)?;
                best = best.min(processor_seconds()? - start);
                if found.entries.len() != expected || !found.problems.is_empty() {
                    return Err(
                        format!("{name}: {} entries, {:?}", found.entries.len(), found.problems).into()
                    );
                }
            }
            turns.push(best);
        }
        promises.at_most(&format!("seconds to read {name}"), &turns, MAX_SECONDS);
    }
    Ok(promises.end())
}

/// An uncompressed bundle (Clang Offload Bundler, "Bundled Binary File Layout").
fn bundle(images: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    out.extend((images.len() as u64).to_le_bytes());
    let table: usize = images.iter().map(|(id, _)| 24 + id.len()).sum();
    let mut at = (out.len() + table).next_multiple_of(4096);
    let mut data = Vec::new();
    for (id, image) in images {
        for number in [at + data.len(), image.len(), id.len()] {
            out.extend((number as u64).to_le_bytes());
        }
        out.extend(id.as_bytes());
        data.extend(image);
        data.resize(data.len().next_multiple_of(4096), 0);
    }
    at = at.max(out.len());
    out.resize(at, 0);
    out.extend(data);
    out
}

/// A bundle compressed by zlib, format version 3.
fn zlib(plain: &[u8]) -> Result<Vec<u8>, Failure> {
    let (from, to) = (scratch("containers")?.join("plain"), scratch("containers")?.join("packed"));
    std::fs::write(&from, plain)?;
    let program =
        "import sys, zlib\nopen(sys.argv[2], 'wb').write(zlib.compress(open(sys.argv[1], 'rb').read(), 9))";
    let done = Command::new("python3").args(["-c", program]).args([&from, &to]).status()?;
    if !done.success() {
        return Err(format!("zlib: {done}").into());
    }
    let data = std::fs::read(to)?;
    let mut out = b"CCOB\x03\0\0\0".to_vec();
    for number in [32 + data.len(), plain.len(), 0] {
        out.extend((number as u64).to_le_bytes());
    }
    out.extend(data);
    Ok(out)
}

/// Offload binaries of version 1, one for each image (llvm/Object/OffloadBinary.h).
fn offload_binaries(images: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, image) in images {
        let arch = id.rsplit("--").next().unwrap_or_default();
        let strings = format!("triple\0amdgcn-amd-amdhsa\0arch\0{arch}\0");
        let start = 72 + 32 + strings.len().next_multiple_of(8);
        let size = (start + image.len()).next_multiple_of(8);
        let mut one = vec![0x10, 0xff, 0x10, 0xad, 1, 0, 0, 0];
        // Header; kinds of the image; the strings' table, the image; two rows of key and value.
        let numbers = [size, 32, 40, 0x0004_0001, 72, 2, start, image.len(), 104, 111, 129, 134];
        one.extend(numbers.iter().flat_map(|number| (*number as u64).to_le_bytes()));
        one.extend(strings.as_bytes());
        one.resize(start, 0);
        one.extend(image);
        one.resize(size, 0);
        out.extend(one);
    }
    out
}
