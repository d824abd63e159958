//! Views of files made to cost more than their size, or to lead past the end of their data.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use lanescope::codeobject::CodeObject;
use lanescope::session::Session;
use lanescope::view::{Extent, View};

use crate::dwarf::ran;
use crate::fixtures::{fixtures, open};
use crate::support::newest;

const LOADED: u64 = 0x7f00_0010_0000;

/// Views of the code objects of a folder, a megabyte apart, with a wave at an address of the first.
fn view(folder: &Path, names: &[&str], place: u64) -> View {
    let mut manifest = format!(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[wave]]\nid = 1\nagent = 1\n[wave.registers]\npc = \"{:#x}\"\n",
        LOADED + place
    );
    for (name, at) in names.iter().zip((LOADED..).step_by(1 << 20)) {
        manifest += &format!("[[code_object]]\npath = \"{name}\"\naddress = \"{at:#x}\"\n");
    }
    std::fs::write(folder.join("manifest.toml"), manifest).unwrap();
    let dump = open(folder);
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    View::new(&dump, &session, Extent::Stacks)
}

/// A program header: type, flags, offset, virtual and physical address, sizes in file and memory, alignment (gABI
/// chapter 5).
type Header = (u32, u32, u64, u64, u64, u64, u64, u64);

/// `calls-gfx90a.hsaco` with more program headers, which are at its end.
fn with_segments(more: impl IntoIterator<Item = Header>) -> Vec<u8> {
    let mut bytes = std::fs::read(fixtures().join("code/calls-gfx90a.hsaco")).unwrap();
    let field = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (table, count) = (field(&bytes, 0x20) as usize, u16::from_le_bytes([bytes[0x38], bytes[0x39]]));
    let old = bytes[table..table + usize::from(count) * 56].to_vec();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let at = bytes.len() as u64;
    bytes.extend(old);
    let mut count = count;
    for (kind, flags, offset, address, physical, in_file, in_memory, alignment) in more {
        bytes.extend(kind.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        for word in [offset, address, physical, in_file, in_memory, alignment] {
            bytes.extend(word.to_le_bytes());
        }
        count += 1;
    }
    bytes[0x20..0x28].copy_from_slice(&at.to_le_bytes());
    bytes[0x38..0x3a].copy_from_slice(&count.to_le_bytes());
    bytes
}

#[test]
fn an_image_that_ends_with_the_address_space_has_a_view() {
    // Functions for the ends of stacks follow the image if their 128 bytes fit without wrapping.
    for (address, size, has_room) in [
        (0xffff_ffff_ffff_f000u64, 0xfffu64, false),
        (0xffff_ffff_ffff_ff00, 0xff, false),
        (0xffff_ffff_ffff_ff00, 0x90, false),
        (0xffff_ffff_ffff_fe00, 0x100, true),
        (0xffff_ffff_ffff_0000, 0x1000, true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let bytes = with_segments([(1, 6, 0, address, address, 0x10, size, 0x1000)]);
        std::fs::write(folder.path().join("top.hsaco"), bytes).unwrap();
        let view = view(folder.path(), &["top.hsaco"], 0x1500);
        let object = view.main().unwrap();
        let path = folder.path().join("view");
        object.file.write_to(&mut std::fs::File::create(&path).unwrap()).unwrap();
        let symbols = ran(Command::new(newest("llvm-nm")).arg(&path));
        assert_eq!(symbols.contains("no_unwind_information"), has_room, "{address:#x}: {symbols}");
        assert!(symbols.contains("kernel") || symbols.contains(" T "), "{symbols}");
    }
}

/// src/view/elf.rs, MAX_SEGMENTS and MAX_COPIES.
#[test]
fn a_view_takes_a_file_twice_and_no_more_however_many_segments_name_it() {
    let size = std::fs::metadata(fixtures().join("code/calls-gfx90a.hsaco")).unwrap().len();
    for count in [3, 300, 60_000] {
        let folder = tempfile::tempdir().unwrap();
        let segments = (0..count).map(|n| (1, 4, 0, 0x10_0000 + n * 0x10_0000, 0, size, size, 0x1000));
        let bytes = with_segments(segments);
        let length = bytes.len() as u64;
        std::fs::write(folder.path().join("many.hsaco"), bytes).unwrap();
        let view = view(folder.path(), &["many.hsaco"], 0x1500);
        let file = &view.main().unwrap().file;
        let mut headers = [0; 64];
        assert_eq!(file.read(0, &mut headers), 64);
        let segments = u64::from(u16::from_le_bytes([headers[0x38], headers[0x39]]));
        // The extra one is for the ends of stacks; each begins on a separate page.
        assert!(segments <= 257, "{count}: {segments}");
        assert!(
            file.len() <= 2 * length + segments * 0x1000 + (1 << 17),
            "{count}: {} of {length}",
            file.len()
        );
    }
}

/// A function whose size leads past the last address has no code in a view: address plus size would wrap.
#[test]
fn no_code_of_a_view_ends_before_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let code = fixtures().join("code/linked-gfx90a-dwarf4.hsaco");
    let said = ran(Command::new(newest("llvm-dwarfdump")).args(["--debug-info", "--show-form"]).arg(&code));
    // Sizes of four bytes: the start addresses are raised instead, to the last four gigabytes.
    assert!(said.contains("DW_AT_high_pc [DW_FORM_data4]"), "{said}");
    let bytes = std::fs::read(&code).unwrap();
    let lows: Vec<u64> =
        said.lines().filter(|line| low_of(line)).filter_map(number).filter(|low| *low > 0).collect();
    let mut tried = 0;
    for low in lows {
        for at in (0..bytes.len() - 12).filter(|at| bytes[*at..*at + 8] == low.to_le_bytes()) {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&0xffff_ffff_ffff_fff0u64.to_le_bytes());
            std::fs::write(folder.path().join("past.hsaco"), &bytes).unwrap();
            let view = view(folder.path(), &["past.hsaco"], 0x1600);
            let Some(object) = view.main() else { continue };
            let written = folder.path().join("view");
            object.file.write_to(&mut std::fs::File::create(&written).unwrap()).unwrap();
            let said = ran(Command::new(newest("llvm-dwarfdump")).arg("--debug-info").arg(&written));
            let mut last = 0;
            for line in said.lines() {
                if low_of(line) {
                    last = number(line).unwrap();
                } else if line.contains("DW_AT_high_pc") {
                    assert!(number(line).unwrap() >= last, "{at:#x}: {line} after {last:#x}");
                }
            }
            tried += 1;
        }
    }
    assert!(tried > 3, "{tried}");
}

fn low_of(line: &str) -> bool {
    line.contains("DW_AT_low_pc")
}

/// The last number in parentheses: `DW_AT_low_pc (0x1600)`.
fn number(line: &str) -> Option<u64> {
    let text = line.rsplit_once("(0x")?.1;
    u64::from_str_radix(text.split_once(')')?.0, 16).ok()
}

/// Debuggers find tables by name: a loaded one of that name would precede the view's own, and gdb would search
/// `.debug_gdb_scripts` for scripts to run.
#[test]
fn tables_for_debuggers_are_the_views_own_even_where_the_file_loads_some() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loads.hsaco");
    ran(Command::new(newest("llvm-objcopy"))
        .args([
            "--set-section-flags",
            ".debug_frame=alloc",
            "--set-section-flags",
            ".debug_line=alloc,contents",
        ])
        .args(["--rename-section", ".comment=.debug_gdb_scripts,alloc"])
        .arg(fixtures().join("code/calls-gfx90a.hsaco"))
        .arg(&path));
    let sections = |path: &Path| -> Vec<String> {
        let said = ran(Command::new(newest("llvm-readelf")).args(["-S", "--wide"]).arg(path));
        let names = said
            .lines()
            .filter_map(|line| Some(line.split_once(']')?.1.split_whitespace().next()?.to_owned()));
        names.collect()
    };
    let count = |names: &[String], name: &str| names.iter().filter(|of| *of == name).count();
    assert_eq!(count(&sections(&path), ".debug_gdb_scripts"), 1, "as the test needs it");
    let view = view(folder.path(), &["loads.hsaco"], 0x1500);
    let written = folder.path().join("view");
    view.main().unwrap().file.write_to(&mut std::fs::File::create(&written).unwrap()).unwrap();
    let names = sections(&written);
    for (name, expected) in [(".debug_frame", 1), (".debug_line", 1), (".text", 1), (".debug_gdb_scripts", 0)]
    {
        assert_eq!(count(&names, name), expected, "{name} of {names:?}");
    }
}

#[test]
fn every_file_has_a_name_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("d")).unwrap();
    let code = fixtures().join("code/calls-gfx90a.hsaco");
    let names = ["x", "d/x", "0-x", "1-x", "1-x-2"];
    for name in names {
        std::fs::copy(&code, folder.path().join(name)).unwrap();
    }
    let view = view(folder.path(), &names, 0x1500);
    let mut given: Vec<&str> = view.objects().iter().map(|object| &*object.name).collect();
    given.sort_unstable();
    let count = given.len();
    given.dedup();
    assert_eq!((count, given.len()), (names.len(), names.len()), "{given:?}");
}

/// A code object of that source, with `'` for `"`, and a wave in its function f. Returns the parts that its view lacks,
/// llvm-dwarfdump's verdict on the view, and the size of a section of the code object.
fn assembled(source: &str, section: &str) -> (Vec<String>, String, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.s"), source.replace('\'', "\"")).unwrap();
    let mut assembler = Command::new(newest("llvm-mc"));
    assembler.args(["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"]);
    ran(assembler.arg(path("a.o")).arg(path("a.s")));
    ran(Command::new(newest("ld.lld")).arg("-shared").arg("-o").arg(path("a.hsaco")).arg(path("a.o")));
    let object = CodeObject::parse(std::fs::read(path("a.hsaco")).unwrap()).unwrap();
    let bytes = object.section(section).unwrap().size;
    let place = object.symbol("f").unwrap().value;
    let view = view(folder.path(), &["a.hsaco"], place);
    let mut out = std::fs::File::create(path("view")).unwrap();
    view.main().unwrap().file.write_to(&mut out).unwrap();
    let text = ran(Command::new(newest("llvm-dwarfdump")).arg("--debug-info").arg(path("view")));
    (view.problems().to_vec(), text, bytes)
}

/// Variables that share one list with `entries` separate entries. Returns the problems of the view, the number of
/// variables with a location in it, and the size of the list.
fn lists(variables: usize, entries: usize) -> (Vec<String>, usize, u64) {
    let source = format!(
        ".text\n.globl f\n.p2align 8\n.type f,@function\nf:\n.Lb:\n.rept {entries}\ns_nop 0\n.endr\n.Le:\n.size f,.Le-.Lb\n\
         .section .debug_abbrev,'',@progbits\n\
         .byte 1,0x11,1,0x25,8,0x13,5,3,8,0x11,1,0x12,6,0,0\n.byte 2,0x2e,1,3,8,0x11,1,0x12,6,0,0\n\
         .byte 3,0x34,0,3,8,2,0x17,0x49,0x13,0,0\n.byte 4,0x24,0,3,8,0x3e,0xb,0xb,0xb,0,0\n.byte 0\n\
         .section .debug_info,'',@progbits\n.Lu:\n.long .Lue-.Lus\n.Lus:\n.short 5\n.byte 1,8\n.long .debug_abbrev\n\
         .byte 1\n.asciz 'x'\n.short 0x21\n.asciz 'c.c'\n.quad .Lb\n.long .Le-.Lb\n\
         .Lint:\n.byte 4\n.asciz 'int'\n.byte 5,4\n.byte 2\n.asciz 'f'\n.quad .Lb\n.long .Le-.Lb\n\
         .rept {variables}\n.byte 3\n.asciz 'v'\n.long .Lloc\n.long .Lint-.Lu\n.endr\n.byte 0,0\n.Lue:\n\
         .section .debug_loclists,'',@progbits\n.long .Lle-.Lls\n.Lls:\n.short 5\n.byte 8,0\n.long 0\n.Lloc:\n\
         .byte 6\n.quad .Lb\n.set at,0\n.rept {entries}\n.byte 4\n.uleb128 at\n.uleb128 at+2\n.byte 1,0x30\n.set at,at+4\n.endr\n\
         .byte 0\n.Lle:\n"
    );
    let (problems, text, bytes) = assembled(&source, ".debug_loclists");
    (problems, text.matches("DW_AT_location").count(), bytes)
}

/// src/view/dwarf/mod.rs, Capacity: as many entries as their section has bytes.
#[test]
fn a_view_has_so_many_entries_of_location_lists_and_no_more() {
    let (problems, located, _) = lists(4, 1000);
    assert_eq!((problems.len(), located), (0, 4), "{problems:?}");
    let (problems, located, bytes) = lists(500, 1000);
    assert_eq!(located as u64, bytes / 1000, "entries of {bytes} bytes");
    let said = "variables are left out: their location lists are more than a view can hold";
    assert!(problems.iter().any(|problem| problem.contains(said)), "{problems:?}");
}

/// Blocks that share one list of `entries` ranges. Returns the problems of the view, the number of blocks with ranges
/// in it, and the size of the list.
fn blocks(blocks: usize, entries: usize) -> (Vec<String>, usize, u64) {
    let source = format!(
        ".text\n.globl f\n.p2align 8\n.type f,@function\nf:\n.Lb:\n.rept {entries}\ns_nop 0\n.endr\n.Le:\n.size f,.Le-.Lb\n\
         .section .debug_abbrev,'',@progbits\n\
         .byte 1,0x11,1,0x25,8,0x13,5,3,8,0x11,1,0x12,6,0,0\n.byte 2,0x2e,1,3,8,0x11,1,0x12,6,0,0\n\
         .byte 3,0xb,1,0x55,0x17,0,0\n.byte 4,0x34,0,3,8,2,0x18,0,0\n.byte 0\n\
         .section .debug_info,'',@progbits\n.Lu:\n.long .Lue-.Lus\n.Lus:\n.short 5\n.byte 1,8\n.long .debug_abbrev\n\
         .byte 1\n.asciz 'x'\n.short 0x21\n.asciz 'c.c'\n.quad .Lb\n.long .Le-.Lb\n\
         .byte 2\n.asciz 'f'\n.quad .Lb\n.long .Le-.Lb\n\
         .rept {blocks}\n.byte 3\n.long .Llist\n.byte 4\n.asciz 'v'\n.byte 2,0x30,0x9f,0\n.endr\n.byte 0,0\n.Lue:\n\
         .section .debug_rnglists,'',@progbits\n.long .Lle-.Lls\n.Lls:\n.short 5\n.byte 8,0\n.long 0\n.Llist:\n\
         .byte 5\n.quad .Lb\n.set at,0\n.rept {entries}\n.byte 4\n.uleb128 at\n.uleb128 at+2\n.set at,at+4\n.endr\n\
         .byte 0\n.Lle:\n"
    );
    let (problems, text, bytes) = assembled(&source, ".debug_rnglists");
    (problems, text.matches("DW_AT_ranges").count(), bytes)
}

/// src/view/dwarf/mod.rs, Capacity: as many entries as their section has bytes; each list needs one more than its
/// ranges.
#[test]
fn a_view_has_so_many_ranges_and_no_more() {
    let (problems, with_ranges, _) = blocks(4, 1000);
    assert_eq!((problems.len(), with_ranges), (0, 4), "{problems:?}");
    let (problems, with_ranges, bytes) = blocks(500, 1000);
    assert_eq!(with_ranges as u64, bytes / 1001, "entries of {bytes} bytes");
    let said = "code is left out: its ranges are more than a view can hold";
    assert!(problems.iter().any(|problem| problem.contains(said)), "{problems:?}");
}

/// A unit whose variables have types in two other units, of the given sizes (src/view/dwarf/group.rs,
/// MAX_REFERRED_BYTES).
fn referring(sizes: [u64; 2]) -> (Vec<String>, String) {
    let mut source = ".text\n.globl f\n.p2align 8\n.type f,@function\nf:\n.Lb:\ns_nop 0\n.Le:\n.size f,.Le-.Lb\n\
         .section .debug_abbrev,'',@progbits\n\
         .byte 1,0x11,1,0x25,8,0x13,5,3,8,0x11,1,0x12,6,0,0\n.byte 2,0x2e,1,3,8,0x11,1,0x12,6,0,0\n\
         .byte 3,0x34,0,3,8,2,0x18,0x49,0x10,0,0\n.byte 4,0x24,0,3,8,0x3e,0xb,0xb,0xb,0,0\n\
         .byte 5,0x11,1,0x25,8,0x13,5,3,8,0,0\n.byte 0\n\
         .section .debug_info,'',@progbits\n.Lu:\n.long .Lue-.Lus\n.Lus:\n.short 5\n.byte 1,8\n.long .debug_abbrev\n\
         .byte 1\n.asciz 'x'\n.short 0x21\n.asciz 'a.c'\n.quad .Lb\n.long .Le-.Lb\n\
         .byte 2\n.asciz 'f'\n.quad .Lb\n.long .Le-.Lb\n\
         .byte 3\n.asciz 'v0'\n.byte 2,0x30,0x9f\n.long .Lt0\n.byte 3\n.asciz 'v1'\n.byte 2,0x30,0x9f\n.long .Lt1\n\
         .byte 0,0\n.Lue:\n"
        .to_owned();
    for (index, size) in sizes.into_iter().enumerate() {
        // Null entries fill the rest of the unit.
        source += &format!(
            ".Lu{index}:\n.long {}\n.short 5\n.byte 1,8\n.long .debug_abbrev\n.byte 5\n.asciz 'x'\n.short 0x21\n.asciz 'u{index}.c'\n\
             .Lt{index}:\n.byte 4\n.asciz 'type{index}'\n.byte 5,4\n.zero {size}-(.-.Lu{index})\n",
            size - 4
        );
    }
    let (problems, text, _) = assembled(&source, ".debug_info");
    (problems, text)
}

#[test]
fn a_view_reads_so_much_of_units_that_others_refer_to_and_no_more() {
    const MOST: u64 = 1 << 25;
    let said = "names and types are left out: units refer to more of others than a view can hold";
    for (sizes, types) in [([64, MOST - 64], 2), ([64, MOST - 63], 1), ([MOST, 64], 1), ([MOST + 1, 64], 1)] {
        let (problems, text) = referring(sizes);
        let typed = text.matches("DW_AT_type").count();
        assert_eq!(typed, types, "{sizes:?}: {text}");
        assert_eq!(
            problems.iter().any(|problem| problem.contains(said)),
            types < 2,
            "{sizes:?}: {problems:?}"
        );
        // The variables stay, with or without a type.
        assert_eq!(text.matches("DW_TAG_variable").count(), 2, "{sizes:?}: {text}");
    }
}
