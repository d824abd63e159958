//! Offload binaries from LLVM's packager and from clang, and hand-made ones of version 2.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::newest_llvm;
use crate::codeobject::{Bytes, FatFile, ImageFormat};

/// A kernel without headers of HIP: it needs no other package than clang.
const KERNEL: &str = r#"
struct dim3 { unsigned x, y, z; };
extern "C" int __hipPushCallConfiguration(dim3, dim3, unsigned long, void *);
extern "C" int __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, void **);
typedef int hipError_t;
typedef void *hipStream_t;
extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
__attribute__((global)) void scale(float *p, float f) { p[__builtin_amdgcn_workitem_id_x()] *= f; }
"#;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code").join(name)
}

fn read(bytes: Vec<u8>) -> FatFile {
    FatFile::read(&Bytes::from(bytes)).expect("offload binaries")
}

fn ids(fat: &FatFile) -> Vec<&str> {
    fat.entries.iter().map(|entry| entry.id.as_deref().expect("an ID")).collect()
}

/// Two fixtures in offload binaries, by LLVM's packager.
fn packed() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("binary");
    let mut command = Command::new(newest_llvm("clang-offload-packager"));
    for (name, arch, kind) in
        [("saxpy-gfx90a-O0", "gfx90a:xnack-", "openmp"), ("saxpy-gfx1100-O2", "gfx1100", "hip")]
    {
        let file = fixture(&format!("{name}.hsaco"));
        command
            .arg(format!("--image=file={},triple=amdgcn-amd-amdhsa,arch={arch},kind={kind}", file.display()));
    }
    let done = command.arg("-o").arg(&output).output().expect("the packager runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(output).expect("a binary")
}

fn clang(arguments: &[&str], input: &Path, output: &Path) -> FatFile {
    let mut command = Command::new(newest_llvm("clang"));
    command.args(arguments).arg(input).arg("-o").arg(output);
    let done = command.output().expect("clang runs");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    read(std::fs::read(output).expect("an object"))
}

/// An object of a HIP file with device code that is linked later.
fn relocatable_device_code(driver: &str) -> FatFile {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, output] = ["k.hip", "k.o"].map(|name| folder.path().join(name));
    std::fs::write(&source, KERNEL).expect("written");
    let gpus = ["--offload-arch=gfx90a", "--offload-arch=gfx1100", driver];
    let flags = ["-x", "hip", "-nogpuinc", "-nogpulib", "-fgpu-rdc", "-O1", "-c"];
    clang(&[&gpus[..], &flags].concat(), &source, &output)
}

/// A binary of version 2: a count of entries, and a size with each value.
fn version_2(images: &[(u16, &str, &[u8])]) -> Vec<u8> {
    let triple = b"amdgcn-amd-amdhsa";
    let mut out = vec![0u8; 32 + 40 * images.len()];
    let key_triple = out.len() as u64;
    out.extend(b"triple\0arch\0");
    let (key_arch, triple_at) = (key_triple + 7, out.len() as u64);
    out.extend(triple);
    for (index, (kind, arch, image)) in images.iter().enumerate() {
        let arch_at = out.len() as u64;
        out.extend(arch.as_bytes());
        out.resize(out.len().next_multiple_of(8), 0);
        let strings = out.len() as u64;
        for number in [key_triple, triple_at, triple.len() as u64, key_arch, arch_at, arch.len() as u64] {
            out.extend(number.to_le_bytes());
        }
        let at = out.len() as u64;
        out.extend(*image);
        let entry = &mut out[32 + 40 * index..][..40];
        entry[0..2].copy_from_slice(&1u16.to_le_bytes());
        entry[2..4].copy_from_slice(&kind.to_le_bytes());
        for (index, number) in [strings, 2, at, image.len() as u64].into_iter().enumerate() {
            entry[8 + 8 * index..][..8].copy_from_slice(&number.to_le_bytes());
        }
    }
    out.resize(out.len().next_multiple_of(8), 0);
    out[..4].copy_from_slice(&[0x10, 0xff, 0x10, 0xad]);
    out[4..8].copy_from_slice(&2u32.to_le_bytes());
    let (size, count) = (out.len() as u64, images.len() as u64);
    for (index, number) in [size, 32, count].into_iter().enumerate() {
        out[8 + 8 * index..][..8].copy_from_slice(&number.to_le_bytes());
    }
    out
}

#[test]
fn binaries_of_llvms_packager_are_read() {
    let fat = read(packed());
    assert_eq!(fat.problems, []);
    let expected = ["openmp-amdgcn-amd-amdhsa--gfx90a:xnack-", "hip-amdgcn-amd-amdhsa--gfx1100"];
    assert_eq!(ids(&fat), expected);
    for (entry, name) in fat.entries.iter().zip(["saxpy-gfx90a-O0", "saxpy-gfx1100-O2"]) {
        assert_eq!(&*entry.bytes, std::fs::read(fixture(&format!("{name}.hsaco"))).expect("a fixture"));
    }
    assert_eq!(fat.entry("gfx90a:xnack-").map(|entry| entry.index), Some(0));
    assert_eq!(fat.entries[0].offload_kind(), Some("openmp"));
    assert_eq!(fat.entries[1].processor(), Some("gfx1100"));
}

#[test]
fn version_2_has_several_entries() {
    let object = std::fs::read(fixture("saxpy-gfx90a-O0.hsaco")).expect("a fixture");
    let mut bytes = version_2(&[(4, "gfx90a", &object), (1, "gfx942", &object)]);
    // A second binary follows.
    bytes.extend(version_2(&[(8, "gfx1100", &object)]));
    let fat = read(bytes);
    assert_eq!(fat.problems, []);
    let id = |kind, gpu| format!("{kind}-amdgcn-amd-amdhsa--{gpu}");
    assert_eq!(ids(&fat), [id("hip", "gfx90a"), id("openmp", "gfx942"), id("sycl", "gfx1100")]);
    assert!(fat.entries.iter().all(|entry| *entry.bytes == *object));
}

#[test]
fn objects_with_device_code_to_link_have_bitcode() {
    let found = relocatable_device_code("--offload-new-driver");
    assert_eq!(ids(&found), ["hip-amdgcn-amd-amdhsa--gfx1100", "hip-amdgcn-amd-amdhsa--gfx90a"]);
    assert!(found.entries.iter().all(|entry| entry.format() == ImageFormat::Bitcode));
    let found = relocatable_device_code("--no-offload-new-driver");
    let device: Vec<_> = found.entries.iter().filter(|entry| entry.processor().is_some()).collect();
    assert_eq!(device.len(), 2, "{:?}", ids(&found));
    assert!(device.iter().all(|entry| entry.format() == ImageFormat::Bitcode));
}

/// A target region in a program, in an object that clang linked with `-r`, and in a program of that object.
#[test]
fn linked_files_have_the_code_objects_of_target_regions() {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, object, output] = ["k.c", "k.o", "k.so"].map(|name| folder.path().join(name));
    let text = "void scale(float *p) {\n#pragma omp target map(tofrom : p[0 : 64])\n  p[3] *= 2;\n}\n";
    std::fs::write(&source, text).expect("written");
    let linked = ["-fuse-ld=lld", "-nostdlib", "-fPIC"];
    let device = ["-fopenmp", "--offload-arch=gfx90a", "-nogpulib", "-Xoffload-linker"];
    let device = [&linked[..], &device, &["--unresolved-symbols=ignore-all"]].concat();
    for found in [
        clang(&[&device[..], &["-shared"]].concat(), &source, &output),
        clang(&[&device[..], &["-r"]].concat(), &source, &object),
        clang(&[&linked[..], &["-shared"]].concat(), &object, &output),
    ] {
        assert_eq!(found.problems, []);
        assert_eq!(ids(&found), ["openmp-amdgcn-amd-amdhsa--gfx90a"]);
        assert_eq!(found.entries[0].format(), ImageFormat::Elf);
    }
}

#[test]
fn spirv_is_an_entry_of_its_own_format() {
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    let id = b"hip-spirv64-amd-amdhsa--amdgcnspirv";
    bundle.extend(1u64.to_le_bytes());
    for number in [4096, 20, id.len() as u64] {
        bundle.extend(number.to_le_bytes());
    }
    bundle.extend(id);
    bundle.resize(4096, 0);
    // SPIR-V 1.6: magic, version, generator, bound, schema.
    let words = [0x0723_0203u32, 0x0001_0600, 0, 1, 0];
    bundle.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let fat = read(bundle.clone());
    assert_eq!(fat.entries[0].target_id(), Some("amdgcnspirv"));
    assert_eq!(fat.entries[0].format(), ImageFormat::Spirv);
    assert!(fat.entry("amdgcnspirv").is_some());
    let error = FatFile::read(&Bytes::from(bundle[4096..].to_vec())).expect_err("no code object");
    assert!(error.to_string().contains("amdgcnspirv"), "{error}");
}

#[test]
fn damaged_binaries_are_problems_with_their_places() {
    let sound = packed();
    let problem = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sound.clone();
        change(&mut bytes);
        let fat = read(bytes);
        (fat.entries.len(), fat.problems.first().expect("a problem").to_string())
    };
    let put = |at: usize, number: u64| {
        move |bytes: &mut Vec<u8>| bytes[at..at + 8].copy_from_slice(&number.to_le_bytes())
    };
    let second = u64::from_le_bytes(sound[8..16].try_into().expect("8 bytes"));
    let (count, text) = problem(&|bytes| bytes.truncate(bytes.len() - 8));
    assert_eq!(count, 1);
    assert!(text.starts_with(&format!("offload binary at file offset {second:#x} needs")), "{text}");
    let (count, text) = problem(&|bytes| bytes[4] = 9);
    assert_eq!((count, text.as_str()), (1, "offload binary at file offset 0x4: version 9, expected 1 or 2"));
    let (count, text) = problem(&put(8, 31));
    assert!(count == 1 && text.contains("a size of 31 bytes"), "{text}");
    // Place of the entry, its place of strings, place and size of its image, and place of the first string's value.
    for (at, number) in [(16, u64::MAX), (40, u64::MAX), (56, 1 << 40), (64, u64::MAX), (0x50, 1 << 40)] {
        let (count, text) = problem(&put(at, number));
        assert!(count == 1 && text.contains("at file offset"), "{at}: {text}");
    }
    // A count of entries and of strings costs no more than the file has.
    let mut many = version_2(&[(4, "gfx90a", b"")]);
    put(24, u64::MAX)(&mut many);
    put(48, u64::MAX)(&mut many);
    assert!(!read(many).problems.is_empty());
}
