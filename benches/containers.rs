//! Limits for reading the containers of a library with 20 MB of code: a fifth of the processor time of a copy of the
//! code, and twice that of the decoder alone where it is compressed.
//!
//! The library is made of a public one (tests/fixtures/release): four bundles of 25 processors each, 19.3 MB unpacked.
//! Bench `containers` measures. Processor time counts, because the time of a clock depends on other work.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};

use lanescope::codeobject::{Bytes, FatFile};
use object::read::{CompressedData, CompressionFormat};

use crate::support::{Failure, Promises, TURNS, least, processor_seconds, scratch};

/// Bundles of the library.
const BUNDLES: usize = 4;
/// Readings per turn; the minimum counts.
const RUNS: usize = 5;
/// Maximum ratio to a copy of the code.
const MAX_PLAIN: f64 = 0.2;
/// Maximum ratio to the decoder alone.
const MAX_PACKED: f64 = 2.0;

/// Work whose time counts.
type Work<'a> = &'a dyn Fn() -> Result<(), Failure>;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/release/bitsandbytes-rocm715.bundle");
    let packed = std::fs::read(path)?;
    let entries = FatFile::read(&Bytes::from(packed.clone()))?.entries;
    let images: Vec<(String, Vec<u8>)> =
        entries.iter().filter_map(|entry| Some((entry.id.clone()?, entry.bytes.to_vec()))).collect();
    let plain = bundle(&images);
    let zlib = zlib(&plain)?;
    let mut promises = Promises::default();
    let copy = || {
        black_box(plain.clone());
        Ok(())
    };
    let (unzstd, inflate) = (|| decode(&packed), || decode(&zlib));
    let forms: [(&str, &[u8], Work, &str, f64); 4] = [
        ("bundles", &plain, &copy, "a copy of them", MAX_PLAIN),
        ("offload binaries", &offload_binaries(&images), &copy, "a copy of the code", MAX_PLAIN),
        ("bundles compressed by zstd", &packed, &unzstd, "the decoder alone", MAX_PACKED),
        ("bundles compressed by zlib", &zlib, &inflate, "the decoder alone", MAX_PACKED),
    ];
    for (name, one, reference, against, limit) in forms {
        let mut library = Vec::new();
        for _ in 0..BUNDLES {
            library.extend(one);
            // Linkers align bundles to pages.
            library.resize(library.len().next_multiple_of(4096), 0);
        }
        let library = Bytes::from(library);
        let expected = images.len() * BUNDLES;
        let read = || {
            let found = FatFile::read(&library)?;
            match (found.entries.len(), found.problems.as_slice()) {
                (entries, []) if entries == expected => Ok(()),
                (entries, problems) => Err(format!("{name}: {entries} entries, {problems:?}").into()),
            }
        };
        let least_work = || (0..BUNDLES).try_for_each(|_| reference());
        let mut ratios = Vec::new();
        for turn in 1..=TURNS {
            let [ours, theirs] = least(RUNS, [&|| seconds_of(&read), &|| seconds_of(&least_work)])?;
            println!("turn {turn}: {name} {:.2} ms, {against} {:.2} ms", ours * 1e3, theirs * 1e3);
            ratios.push(ours / theirs);
        }
        promises.at_most(&format!("reading {name}, times {against}"), &ratios, limit);
    }
    Ok(promises.end())
}

/// Seconds of processor time.
fn seconds_of(work: Work) -> Result<f64, Failure> {
    let start = processor_seconds()?;
    work()?;
    Ok(processor_seconds()? - start)
}

/// Unpacks a compressed bundle by the decoder alone.
fn decode(bundle: &[u8]) -> Result<(), Failure> {
    // Version 3: the size is at 16, the data at 32.
    let (header, data) = bundle.split_first_chunk::<32>().ok_or("no header")?;
    if header[4] != 3 {
        return Err(format!("a bundle of version {}, expected 3", header[4]).into());
    }
    let format = if header[6] == 0 { CompressionFormat::Zlib } else { CompressionFormat::Zstandard };
    let uncompressed_size = u64::from_le_bytes(header[16..24].try_into()?);
    black_box(CompressedData { format, data, uncompressed_size }.decompress()?);
    Ok(())
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
