//! Metadata of code object version 2, and hostile YAML.

use std::path::{Path, PathBuf};

use super::parse;
use crate::arch::Processor;
use crate::bounds::MAX_DEPTH;
use crate::codeobject::metadata::yaml::{MAX_TEXT, parse as yaml};
use crate::codeobject::{Bytes, CodeObject, Feature, SymbolKind};

fn old(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codeobject/tests/objects").join(name)
}

/// The metadata of v2.s, encoded by llvm-mc; offsets follow from sizes and alignments.
#[test]
fn version_2_has_the_same_facts_under_other_names() {
    let object = parse(&old("v2.o"));
    assert_eq!(object.header().abi_version.code_object_version(), 2);
    assert_eq!((object.header().xnack(), object.header().sramecc()), (Feature::On, Feature::Off));
    let metadata = object.metadata().expect("sound").expect("metadata");
    assert_eq!(metadata.version, Some((1, 0)));
    assert_eq!(metadata.printf, ["1:1:4:%d\\n"]);
    let kernel = &metadata.kernels[0];
    assert_eq!((&*kernel.name, &*kernel.symbol), ("foo", "foo@kd"));
    assert_eq!(kernel.language.as_deref(), Some("OpenCL C"));
    assert_eq!(kernel.language_version, Some(vec![2, 0]));
    let sizes = [kernel.kernarg_segment_size, kernel.sgpr_count, kernel.vgpr_count, kernel.wavefront_size];
    assert_eq!(sizes, [Some(24), Some(10), Some(4), Some(64)]);
    assert_eq!(kernel.agpr_count, None);
    let arguments = kernel.arguments.iter().map(|argument| {
        let name = argument.name.as_deref().unwrap_or("-");
        let type_name = argument.type_name.as_deref().unwrap_or("-");
        format!("{name} {type_name} {} {} {}", argument.offset, argument.size, argument.value_kind)
    });
    let expected = ["a float* 0 8 global_buffer", "n int 8 4 by_value", "- - 16 8 hidden_global_offset_x"];
    assert_eq!(arguments.collect::<Vec<_>>(), expected);
    assert_eq!(kernel.arguments[0].address_space.as_deref(), Some("global"));
    assert!(kernel.arguments[2].is_hidden());
}

/// Texts in the form of llvm-readelf --notes.
#[test]
fn version_2_notes_name_version_and_processor() {
    let object = parse(&old("kernel-v2.o"));
    let notes = object.notes();
    let said = notes.iter().map(|note| (note.type_name().unwrap_or("?"), note.text().unwrap_or_default()));
    let expected = [
        ("NT_AMD_HSA_CODE_OBJECT_VERSION", "2.1"),
        ("NT_AMD_HSA_ISA_VERSION", "AMD AMDGPU 9.0.7"),
        ("NT_AMD_HSA_ISA_NAME", "amdgcn-amd-amdhsa--gfx907"),
        ("NT_AMD_HSA_METADATA", ""),
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected.map(|(name, text)| (name, text.to_owned())));
    let kernel = object.symbol("foo").expect("the kernel");
    assert_eq!((kernel.kind, kernel.size), (SymbolKind::Function, 260));
    let metadata = object.metadata().expect("sound").expect("metadata");
    assert_eq!(metadata.kernels[0].arguments[1].offset, 8);
    assert_eq!(metadata.kernels[0].kernarg_segment_size, Some(12));
}

/// AMDGPUUsage, "Header" and "Code Object V2 Note Records": the first files of version 2 have XNACK and trap handler in
/// bits 0 and 1 of `e_flags`, and their processor in a note. Code for XNACK had a separate processor number there.
#[test]
fn the_first_files_of_version_2_name_their_processor_in_a_note() {
    let with = |name: &str, flags: u32| {
        let mut bytes = std::fs::read(old(name)).unwrap();
        bytes[48..52].copy_from_slice(&flags.to_le_bytes());
        CodeObject::parse(Bytes::from(bytes)).unwrap()
    };
    for (name, flags, processor, xnack) in [
        ("v2.o", 0, "gfx900", Feature::Off),
        ("v2.o", 1, "gfx900", Feature::On),
        ("v2.o", 2, "gfx900", Feature::Off),
        ("v2.o", 3, "gfx900", Feature::On),
        ("kernel-v2.o", 1, "gfx906", Feature::On),
    ] {
        let object = with(name, flags);
        let found = object.processor().map(|processor| processor.name);
        assert_eq!(
            (found, object.header().mach(), object.header().xnack()),
            (Some(processor), 0, xnack),
            "{name} {flags}"
        );
    }
    // Later files have a number.
    assert_eq!(with("v2.o", 0x2f).processor().map(|processor| processor.name), Some("gfx906"));
}

/// Processor numbers of version 2 in the runtime's loader.
#[test]
fn isa_versions_name_processors() {
    for (version, name) in [
        ([7, 0, 1], "gfx701"),
        ([8, 0, 0], "gfx802"),
        ([8, 0, 1], "gfx801"),
        ([8, 0, 4], "gfx803"),
        ([8, 1, 0], "gfx810"),
        ([9, 0, 1], "gfx900"),
        ([9, 0, 3], "gfx902"),
        ([9, 0, 6], "gfx906"),
        ([9, 0, 7], "gfx906"),
        ([9, 0, 12], "gfx90c"),
    ] {
        assert_eq!(Processor::of_isa(version).map(|processor| processor.name), Some(name), "{version:?}");
    }
    assert_eq!(Processor::of_isa([1, 0, 0]), None);
}

#[test]
fn hostile_yaml_is_refused_in_bounds() {
    let deep = "- ".repeat(MAX_DEPTH + 1) + "x";
    assert_eq!(yaml(deep.as_bytes()).unwrap_err().to_string(), "YAML nests deeper than 512 at line 1");
    let fits = "- ".repeat(MAX_DEPTH) + "x";
    assert!(yaml(fits.as_bytes()).is_ok());
    let aliases = "a: &a [x, x]\nb: &b [*a, *a]\n";
    assert!(yaml(aliases.as_bytes()).unwrap_err().to_string().contains("an alias at line 2"));
    let long = vec![b' '; MAX_TEXT + 1];
    assert!(yaml(&long).unwrap_err().to_string().contains("expected at most"));
    assert_eq!(yaml(b"a: \xff").unwrap_err().to_string(), "not UTF-8 at byte 3");
    assert!(yaml(b"a: [1, 2").unwrap_err().to_string().starts_with("YAML: "));
    // Bytes after a NUL are padding.
    assert_eq!(yaml(b"a: 1\n\0\xff").unwrap().get("a").and_then(|one| one.unsigned()), Some(1));
}
