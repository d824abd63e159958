//! Loaded images, and files without section headers: same symbols, notes and descriptors as the original file.

use std::path::Path;
use std::process::Command;

use super::{newest_llvm, objects, parse};
use crate::codeobject::{CodeObject, ElfAddress};

/// llvm-readelf's output on the loads and the dynamic symbols of a file.
fn readelf(path: &Path) -> String {
    let arguments = ["-l", "--dyn-syms", "--wide"];
    let output = Command::new(newest_llvm("llvm-readelf")).args(arguments).arg(path).output();
    String::from_utf8(output.expect("llvm-readelf runs").stdout).expect("text")
}

/// The loads of a file in llvm-readelf's output: offset, address, size in the file, size in memory.
fn loads(text: &str) -> Vec<[usize; 4]> {
    let rows = text.lines().filter_map(|line| line.trim_start().strip_prefix("LOAD"));
    let number = |text: &str| usize::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
    let rows = rows.map(|row| row.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    rows.map(|row| [0, 1, 3, 4].map(|column| number(&row[column]))).collect()
}

/// The memory contents after loading.
fn load(path: &Path, text: &str) -> Vec<u8> {
    let file = std::fs::read(path).expect("a file");
    let loads = loads(text);
    let end = loads.iter().map(|[_, address, _, size]| address + size).max().expect("a load");
    let mut image = vec![0; end];
    for [offset, address, size, _] in loads {
        image[address..address + size].copy_from_slice(&file[offset..offset + size]);
    }
    image
}

/// Names and addresses of `.dynsym` in llvm-readelf's output.
fn dynamic_symbols(text: &str) -> Vec<(String, u64)> {
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let is_number = |text: &str| text.strip_suffix(':').is_some_and(|text| text.parse::<u32>().is_ok());
    let rows = rows.filter(|row| row.len() >= 8 && is_number(row[0]));
    rows.map(|row| (row[7].to_owned(), u64::from_str_radix(row[1], 16).expect("an address"))).collect()
}

fn names(object: &CodeObject) -> Vec<(String, u64)> {
    object.symbols().iter().map(|symbol| (symbol.name.clone(), symbol.value)).collect()
}

#[test]
fn an_image_has_the_files_symbols_notes_and_descriptors() {
    let mut kernels = 0;
    for path in objects() {
        let file = parse(&path);
        if file.header().is_relocatable() || file.image().is_none() {
            continue;
        }
        let text = readelf(&path);
        let dynamic = dynamic_symbols(&text);
        let image = CodeObject::parse_image(load(&path, &text)).expect("an image");
        assert_eq!(names(&image), dynamic, "{path:?}");
        assert_eq!(image.image(), file.image());
        assert_eq!(image.build_id(), file.build_id(), "{path:?}");
        assert_eq!(image.metadata().expect("metadata"), file.metadata().expect("metadata"), "{path:?}");
        for kernel in image.kernels() {
            assert_eq!(kernel.entry, file.kernel_entry(kernel.descriptor), "{path:?} {}", kernel.name);
            assert_eq!(image.kernel_descriptor(&kernel.name), file.kernel_descriptor(&kernel.name));
            let entry = kernel.entry.expect("an entry");
            assert_eq!(image.bytes_at(entry, 64), file.bytes_at(entry, 64), "{path:?} {}", kernel.name);
            kernels += 1;
        }
        assert!(image.section(".text").is_none() && image.problems().is_empty());
        // A file without section headers has its dynamic symbols alone.
        let mut bytes = std::fs::read(&path).expect("a file");
        bytes[40..48].fill(0);
        bytes[60..64].fill(0);
        let object = CodeObject::parse(bytes).expect("a code object");
        assert_eq!(names(&object), dynamic, "{path:?}");
    }
    assert!(kernels > 20, "only {kernels}");
}

#[test]
fn symbols_are_counted_by_either_hash_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code/saxpy-gfx90a-O0.hsaco");
    let text = readelf(&path);
    let expected = dynamic_symbols(&text);
    let image = load(&path, &text);
    let dynamic = loads_of_type(&image, 2);
    for (lost, kept) in [(4u64, 0x6fff_fef5u64), (0x6fff_fef5, 4)] {
        let mut image = image.clone();
        let mut tags = Vec::new();
        for at in (dynamic..).step_by(16) {
            let tag = u64::from_le_bytes(image[at..at + 8].try_into().expect("8 bytes"));
            if tag == 0 {
                break;
            }
            tags.push(tag);
            if tag == lost {
                // DT_DEBUG, which is meaningless here.
                image[at..at + 8].copy_from_slice(&21u64.to_le_bytes());
            }
        }
        assert!(tags.contains(&lost) && tags.contains(&kept), "{tags:?}");
        let object = CodeObject::parse_image(image).expect("an image");
        assert_eq!(names(&object), expected, "without {lost:#x}");
    }
}

/// The address of the first program header of a type, from the image's headers.
fn loads_of_type(image: &[u8], wanted: u32) -> usize {
    let word = |at: usize| u64::from_le_bytes(image[at..at + 8].try_into().expect("8 bytes"));
    let headers = (0..usize::from(image[56])).map(|index| word(32) as usize + index * 56);
    let mut found = headers.filter(|at| image[*at..*at + 4] == wanted.to_le_bytes());
    word(found.next().expect("a header") + 16) as usize
}

#[test]
fn cut_and_broken_images_do_no_harm() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code/call-gfx1100-O0.hsaco");
    let image = load(&path, &readelf(&path));
    for length in (0..image.len()).step_by(31) {
        let Ok(object) = CodeObject::parse_image(image[..length].to_vec()) else { continue };
        let _ = (object.symbols().len(), object.build_id(), object.metadata().is_ok());
    }
    for at in 0..0x240 {
        for value in [0, 0xff] {
            let mut image = image.clone();
            image[at] = value;
            let Ok(object) = CodeObject::parse_image(image) else { continue };
            let _ = (object.symbols().len(), object.build_id(), object.kernels().count());
            let _ = object.symbol_at(ElfAddress(0x1a00));
        }
    }
    // Without a segment that loads the header the load address is unknown.
    let mut image = image;
    for index in 0..usize::from(image[56]) {
        let at = 64 + index * 56;
        if image[at] == 1 {
            image[at + 8] = 1;
        }
    }
    let error = CodeObject::parse_image(image).expect_err("no header loaded").to_string();
    assert!(error.contains("no segment loads the ELF header"), "{error}");
}
