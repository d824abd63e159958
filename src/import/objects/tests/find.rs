//! Sources of code objects, found and rejected ones.

use std::path::Path;

use super::super::find::{NOT_OPENED, NOT_USED, find, find_listed};
use super::super::listed::{List, Listed};
use super::super::{Found, FoundObject, Held, Hints, LinkMap};
use super::{KERNEL, Kernels, Made, build_id, image, path, stripped};
use crate::codeobject::CodeObject;
use crate::import::problem::Problems;
use crate::import::{LocalFiles, Options, Supplied};

const AT: u64 = 0x7f10_0000_0000;
const OTHER: u64 = 0x7f10_0100_0000;
const LIST: u64 = 0x7fff_f7d0_0040;

fn run(memory: &Made, list: bool, hints: &[u64], options: &Options) -> (Found, Vec<String>) {
    let mut problems = Problems::new("core");
    let map = if list { LinkMap::read(memory, LIST) } else { LinkMap::default() };
    let hints = Hints { pcs: hints.iter().copied().collect(), ..Hints::default() };
    let found = find(memory, &map, &hints, options, &mut problems);
    (found, problems.finish().iter().map(ToString::to_string).collect())
}

fn supplied(file: &Path, address: Option<u64>, force: bool) -> Options {
    let code_objects = vec![Supplied { file: file.to_owned(), address }];
    Options { code_objects, force, ..Options::default() }
}

fn in_folder(folder: &Path) -> Options {
    Options { symbols: vec![folder.to_owned()], ..Options::default() }
}

fn file(found: &FoundObject) -> Option<&[u8]> {
    match &found.held {
        Some(Held::File(bytes)) => Some(bytes),
        _ => None,
    }
}

fn origin(found: &FoundObject) -> &str {
    found.origin.as_deref().unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An address within the first instructions of a file's code.
fn pc(file: &[u8]) -> u64 {
    CodeObject::parse(file.to_vec()).unwrap().text().unwrap().start.0 + 0x40
}

/// A file whose code differs in one byte.
fn other_code(file: &[u8], folder: &Path) -> std::path::PathBuf {
    let mut bytes = file.to_vec();
    let text = CodeObject::parse(bytes.clone()).unwrap().section(".text").unwrap().offset as usize;
    bytes[text + 8] ^= 0x10;
    let path = folder.join("other.hsaco");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn uris_lead_to_memory_across_pieces_and_to_ranges_of_files() {
    let kernels = Kernels::new();
    let bytes = kernels.bytes();
    let folder = tempfile::tempdir().unwrap();
    let holder = folder.path().join("lib+kernels.so");
    std::fs::write(&holder, [&[0xaa; 4096][..], &bytes, &[0xbb; 100]].concat()).unwrap();
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    memory.load(OTHER, &bytes);
    memory.0.insert(0x5555_5590_0000, [&[1; 0x123][..], &bytes].concat());
    memory.cut(0x5555_5590_0000, 0x1000);
    let size = bytes.len();
    let in_memory = format!("memory://4242#offset=0x555555900123&size={size}");
    let in_file = format!("file://{}#offset=4096&size={size}", holder.display()).replace('+', "%2B");
    memory.list(LIST, 10, &[(AT, &in_memory), (OTHER, &in_file)]);
    let (found, problems) = run(&memory, true, &[AT + pc(&bytes)], &Options::default());
    assert_eq!((found.code_objects.len(), problems.len()), (2, 0), "{problems:?}");
    for (object, (address, uri)) in found.code_objects.iter().zip([(AT, &in_memory), (OTHER, &in_file)]) {
        assert_eq!((object.address, object.uri.as_ref(), &object.name), (address, Some(uri), uri));
        assert_eq!(file(object), Some(&bytes[..]));
        assert_eq!(origin(object), uri);
        assert_eq!(object.build_id.as_deref().map(hex), Some(build_id(&kernels.path(KERNEL))));
    }
}

#[test]
fn a_file_that_is_gone_is_replaced_by_the_same_build_or_by_the_image() {
    let kernels = Kernels::new();
    let bytes = kernels.bytes();
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    memory.load(OTHER, &bytes);
    let gone = "file:///nowhere/lib.so#offset=4096&size=9888";
    memory.list(LIST, 10, &[(AT, gone)]);
    let (found, problems) = run(&memory, true, &[], &Options::default());
    let [object] = &found.code_objects[..] else { panic!("{found:?}") };
    let Some(Held::Image { address: AT, length }) = object.held else { panic!("{object:?}") };
    assert_eq!(length, CodeObject::parse(bytes.clone()).unwrap().image().unwrap().end.0);
    let id = build_id(&kernels.path(KERNEL));
    assert_eq!(problems.len(), 1, "{problems:?}");
    for part in [gone, NOT_USED, "at 0x7f1000000000", &format!("build id {id}")] {
        assert!(problems[0].contains(part), "{part}: {problems:?}");
    }
    // The same code was loaded twice, and one of the two is readable.
    let own = format!("file://{}", kernels.path(KERNEL).display());
    memory.list(LIST, 10, &[(AT, gone), (OTHER, &own)]);
    let (found, problems) = run(&memory, true, &[], &Options::default());
    assert_eq!((file(&found.code_objects[0]), problems.len()), (Some(&bytes[..]), 0), "{problems:?}");
    assert_eq!(origin(&found.code_objects[0]), format!("{own}, which is the same"));
}

#[test]
fn a_bare_core_has_the_objects_around_its_pcs_and_descriptors() {
    let kernels = Kernels::new();
    let first = kernels.bytes();
    let second = std::fs::read(kernels.path("O2.hsaco")).unwrap();
    let mut memory = Made::default();
    memory.load(AT, &first);
    memory.load(OTHER, &second);
    let descriptor = CodeObject::parse(second.clone()).unwrap().kernels().next().unwrap().descriptor.0;
    let hints = [AT + pc(&first), AT + pc(&first) + 4, OTHER + descriptor, 0, 0xdead_beef];
    let (found, problems) = run(&memory, false, &hints, &Options::default());
    let addresses: Vec<u64> = found.code_objects.iter().map(|object| object.address).collect();
    assert_eq!((addresses, problems.len()), (vec![AT, OTHER], 2), "{problems:?}");
    for (object, name) in found.code_objects.iter().zip([kernels.path(KERNEL), kernels.path("O2.hsaco")]) {
        assert!(matches!(object.held, Some(Held::Image { .. })), "{object:?}");
        assert_eq!(object.build_id.as_deref().map(hex), Some(build_id(&name)));
    }
    // A piece that ends before the code, and one that begins after the header.
    let mut cut = Made(memory.0.clone());
    cut.0.get_mut(&AT).unwrap().truncate(0x800);
    let (found, _) = run(&cut, false, &[AT + pc(&first)], &Options::default());
    assert!(found.code_objects.is_empty(), "{found:?}");
    let mut cut = Made(memory.0.clone());
    cut.cut(AT, 0x1000);
    assert_eq!(run(&cut, false, &[AT + pc(&first)], &Options::default()).0.code_objects.len(), 1);
    cut.0.remove(&AT);
    let (found, _) = run(&cut, false, &[AT + pc(&first)], &Options::default());
    assert!(found.code_objects.is_empty());
    // Then the code determines the load address of the user's file.
    let (found, problems) =
        run(&cut, false, &[AT + pc(&first)], &supplied(&kernels.path(KERNEL), None, false));
    assert_eq!((found.code_objects[0].address, problems.len()), (AT, 0), "{problems:?}");
    assert!(origin(&found.code_objects[0]).ends_with(", placed by its code"));
}

#[test]
fn the_users_file_is_found_by_build_id_or_content_and_has_debug_information() {
    let kernels = Kernels::new();
    let bytes = kernels.bytes();
    let folder = tempfile::tempdir().unwrap();
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    let hints = [AT + pc(&bytes)];
    for options in [
        supplied(&kernels.path(KERNEL), None, false),
        supplied(&kernels.path(KERNEL), Some(AT), false),
        in_folder(kernels.folder()),
    ] {
        let (found, problems) = run(&memory, false, &hints, &options);
        assert_eq!((found.code_objects.len(), problems.len()), (1, 0), "{problems:?}");
        assert_eq!(file(&found.code_objects[0]), Some(&bytes[..]), "{options:?}");
        assert!(origin(&found.code_objects[0]).contains(KERNEL));
    }
    // The loaded file is a copy without debug sections: other section headers, the same build.
    let lean = folder.path().join("lean.hsaco");
    stripped(&kernels.path(KERNEL), &lean, &["--strip-all"]);
    let mut memory = Made::default();
    memory.load(AT, &std::fs::read(&lean).unwrap());
    let (found, problems) = run(&memory, false, &hints, &supplied(&kernels.path(KERNEL), None, false));
    assert_eq!((file(&found.code_objects[0]), problems.len()), (Some(&bytes[..]), 0), "{problems:?}");
    // A file with debug information has precedence over the runtime's.
    memory.list(LIST, 10, &[(AT, &format!("file://{}", lean.display()))]);
    let (found, _) = run(&memory, true, &hints, &in_folder(kernels.folder()));
    assert_eq!(file(&found.code_objects[0]), Some(&bytes[..]));
    // Without a build id on either side, the contents decide.
    let nameless = folder.path().join("nameless.hsaco");
    stripped(&kernels.path(KERNEL), &nameless, &["--remove-section=.note.gnu.build-id"]);
    let nameless_bytes = std::fs::read(&nameless).unwrap();
    assert!(CodeObject::parse(nameless_bytes.clone()).unwrap().build_id().is_none());
    let mut memory = Made::default();
    memory.load(AT, &nameless_bytes);
    let (found, problems) = run(&memory, false, &hints, &in_folder(folder.path()));
    assert_eq!(
        (file(&found.code_objects[0]), problems.len()),
        (Some(&nameless_bytes[..]), 0),
        "{problems:?}"
    );
}

#[test]
fn bundles_and_host_programs_hold_the_object() {
    let kernels = Kernels::new();
    let folder = tempfile::tempdir().unwrap();
    let bytes = kernels.bytes();
    let bundler = crate::codeobject::newest_llvm("clang-offload-bundler");
    let host = folder.path().join("host");
    std::fs::write(&host, []).unwrap();
    for compress in [false, true] {
        let bundle = folder.path().join("lib.bundle");
        let mut command = std::process::Command::new(&bundler);
        command.args(["--type=o", "--targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx1100,hipv4-amdgcn-amd-amdhsa--gfx90a"]);
        command.arg(format!("--input={}", host.display()));
        command.arg(format!("--input={}", path("saxpy-gfx1100-O0.hsaco").display()));
        command.arg(format!("--input={}", kernels.path(KERNEL).display()));
        command.arg(format!("--output={}", bundle.display())).args(compress.then_some("--compress"));
        assert!(command.status().unwrap().success());
        let mut memory = Made::default();
        memory.load(AT, &bytes);
        for options in
            [supplied(&bundle, None, false), supplied(&bundle, Some(AT), false), in_folder(folder.path())]
        {
            let (found, problems) = run(&memory, false, &[AT + pc(&bytes)], &options);
            assert_eq!((file(&found.code_objects[0]), problems.len()), (Some(&bytes[..]), 0), "{problems:?}");
            assert!(origin(&found.code_objects[0]).contains("gfx90a"), "{found:?}");
        }
    }
}

#[test]
fn another_build_is_refused_with_both_ids_and_taken_by_force() {
    let kernels = Kernels::new();
    let bytes = kernels.bytes();
    let other = kernels.path("O2.hsaco");
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    let hints = [AT + pc(&bytes)];
    let (mine, theirs) = (build_id(&kernels.path(KERNEL)), build_id(&other));
    for address in [None, Some(AT)] {
        let (found, problems) = run(&memory, false, &hints, &supplied(&other, address, false));
        assert!(matches!(found.code_objects[..], [FoundObject { held: Some(Held::Image { .. }), .. }]));
        let refusal = problems.iter().find(|problem| problem.contains("--code-object")).unwrap();
        for part in ["at 0x7f1000000000", &mine, &theirs, "--force"] {
            assert!(refusal.contains(part), "{part}: {refusal}");
        }
        let (found, problems) = run(&memory, false, &hints, &supplied(&other, address, true));
        assert_eq!(problems, [] as [String; 0]);
        assert_eq!(file(&found.code_objects[0]), Some(&std::fs::read(&other).unwrap()[..]));
        assert!(origin(&found.code_objects[0]).ends_with(", by force"));
    }
}

#[test]
fn other_bytes_are_refused_with_their_address() {
    let kernels = Kernels::new();
    let bytes = kernels.bytes();
    let folder = tempfile::tempdir().unwrap();
    let other = other_code(&bytes, folder.path());
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    let text = CodeObject::parse(bytes.clone()).unwrap().section(".text").unwrap().address;
    let place = AT + text + 8;
    let mut found_bytes = [0; 8];
    super::Memory::read(&memory, place, &mut found_bytes);
    let mut wrong = found_bytes;
    wrong[0] ^= 0x10;
    let (_, problems) = run(&memory, false, &[AT + text], &supplied(&other, Some(AT), false));
    let expected = format!(
        "at {place:#x} (ELF address {:#x}) memory has {}, the file has {}",
        text + 8,
        hex(&found_bytes),
        hex(&wrong)
    );
    assert!(problems[0].contains(&expected), "{expected}: {problems:?}");
    // The runtime's own file, changed since then.
    memory.list(LIST, 10, &[(AT, &format!("file://{}", other.display()))]);
    let (found, problems) = run(&memory, true, &[], &Options::default());
    assert!(file(&found.code_objects[0]).is_none() && problems[0].contains(NOT_USED), "{problems:?}");
    assert!(!problems[0].contains("memory has"), "{problems:?}");
    let options = Options { force: true, local_files: LocalFiles::Yes, ..Options::default() };
    let (found, problems) = run(&memory, true, &[], &options);
    assert!(file(&found.code_objects[0]).is_some() && problems.is_empty(), "{problems:?}");
    // Of two files the valid one counts.
    std::fs::copy(kernels.path(KERNEL), folder.path().join("sound.hsaco")).unwrap();
    let (found, problems) = run(&memory, true, &[], &in_folder(folder.path()));
    assert_eq!((file(&found.code_objects[0]), problems.len()), (Some(&bytes[..]), 0), "{problems:?}");
}

#[test]
fn what_the_program_may_write_may_differ() {
    let kernels = Kernels::new();
    let bytes = kernels.bytes();
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    let object = CodeObject::parse(bytes.clone()).unwrap();
    let writable = object.segments().iter().find(|segment| segment.is_loaded() && segment.flags & 2 != 0);
    let start = writable.expect("a writable segment").addresses.start as usize;
    memory.0.get_mut(&AT).unwrap()[start..start + 8].fill(0xee);
    let (found, problems) =
        run(&memory, false, &[AT + pc(&bytes)], &supplied(&kernels.path(KERNEL), None, false));
    assert_eq!((file(&found.code_objects[0]), problems.len()), (Some(&bytes[..]), 0), "{problems:?}");
}

#[test]
fn relocated_fields_of_read_only_data_may_differ() {
    // A table of pointers in read-only data: the linker leaves R_AMDGPU_RELATIVE64, and the loader fills in addresses.
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("table.s");
    let text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n.text\n.globl f\n.type f,@function\nf:\n s_nop 0\n s_endpgm\n\
        .size f, .-f\n.section .rodata,\"a\",@progbits\n.globl t\n.type t,@object\nt:\n .quad f\n .quad 7\n.size t, 16\n";
    std::fs::write(&source, text).unwrap();
    let (object, linked) = (folder.path().join("table.o"), folder.path().join("table.hsaco"));
    let tool = crate::codeobject::newest_llvm;
    let assembled = std::process::Command::new(tool("llvm-mc"))
        .args(["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"])
        .arg(&object)
        .arg(&source)
        .status();
    assert!(assembled.unwrap().success());
    let done = std::process::Command::new(tool("ld.lld"))
        .args(["-shared", "-z", "notext", "-o"])
        .arg(&linked)
        .arg(&object)
        .status();
    assert!(done.unwrap().success());
    let bytes = std::fs::read(&linked).unwrap();
    let parsed = CodeObject::parse(bytes.clone()).unwrap();
    let table = parsed.symbol("t").unwrap().value as usize;
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    let filled = AT + parsed.symbol("f").unwrap().value;
    memory.0.get_mut(&AT).unwrap()[table..table + 8].copy_from_slice(&filled.to_le_bytes());
    let hints = [AT + parsed.text().unwrap().start.0];
    let (found, problems) = run(&memory, false, &hints, &supplied(&linked, None, false));
    assert_eq!((file(&found.code_objects[0]), problems.len()), (Some(&bytes[..]), 0), "{problems:?}");
    // The number beside it is not relocated.
    memory.0.get_mut(&AT).unwrap()[table + 8] = 8;
    let (_, problems) = run(&memory, false, &hints, &supplied(&linked, None, false));
    let at = format!("its read-only data is another: at {:#x}", AT + table as u64 + 8);
    assert!(problems[0].contains(&at), "{at}: {problems:?}");
}

#[test]
fn what_is_not_captured_cannot_refute() {
    let kernels = Kernels::new();
    let bytes = kernels.bytes();
    let memory = Made::default();
    let (found, problems) = run(&memory, false, &[], &supplied(&kernels.path(KERNEL), Some(AT), false));
    assert_eq!((file(&found.code_objects[0]), problems.len()), (Some(&bytes[..]), 0), "{problems:?}");
    assert!(origin(&found.code_objects[0]).ends_with("not compared: its code is not captured"));
    // Without an address there is no match.
    let (found, problems) = run(&memory, false, &[], &supplied(&kernels.path(KERNEL), None, false));
    assert!(found.code_objects.is_empty() && problems[0].contains("FILE@ADDRESS"), "{problems:?}");
}

#[test]
fn debug_information_alone_is_no_code_object() {
    let kernels = Kernels::new();
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("alone.debug");
    stripped(&kernels.path(KERNEL), &alone, &["--only-keep-debug"]);
    let mut memory = Made::default();
    memory.load(AT, &kernels.bytes());
    let (found, problems) = run(&memory, false, &[AT], &supplied(&alone, Some(AT), false));
    assert!(file(&found.code_objects[0]).is_none());
    assert!(problems[0].contains("no AMDGPU code object with code"), "{problems:?}");
    assert_eq!(image(&kernels.bytes()).len() % 4096, 0);
}

#[test]
fn files_by_build_id_are_found_without_a_walk() {
    let kernels = Kernels::new();
    let id = build_id(&kernels.path(KERNEL));
    let bytes = kernels.bytes();
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    for name in [format!(".build-id/{}/{}.debug", &id[..2], &id[2..]), format!("{id}/executable")] {
        let folder = tempfile::tempdir().unwrap();
        let file_path = folder.path().join(name);
        std::fs::create_dir_all(file_path.parent().unwrap()).unwrap();
        std::fs::write(&file_path, &bytes).unwrap();
        assert_eq!(super::super::folders::by_build_id(folder.path(), &id), [file_path]);
        let (found, problems) = run(&memory, false, &[AT + pc(&bytes)], &in_folder(folder.path()));
        assert_eq!((file(&found.code_objects[0]), problems.len()), (Some(&bytes[..]), 0), "{problems:?}");
    }
}

/// A capture that names a file only learns bytes that it already has.
#[test]
fn refusals_of_local_files_are_alike() {
    let kernels = Kernels::new();
    let bytes = kernels.bytes();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut memory = Made::default();
    memory.load(AT, &bytes);
    let text = CodeObject::parse(bytes.clone()).unwrap().section(".text").unwrap().address as usize;
    let write = |name: &str, bytes: &[u8]| std::fs::write(at(name), bytes).unwrap();
    let mut changed = bytes.clone();
    // The last byte of code, far from the start of the comparison.
    let code = CodeObject::parse(bytes.clone()).unwrap();
    let segment = code.segments().iter().find(|segment| segment.is_executable()).unwrap();
    changed[(segment.offset + segment.file_size) as usize - 1] ^= 1;
    for (name, bytes) in [
        ("empty", &b""[..]),
        ("text", b"root:x:0:0:root"),
        ("half", &bytes[..bytes.len() / 2]),
        ("other", &std::fs::read(kernels.path("O2.hsaco")).unwrap()),
        ("changed", &changed),
    ] {
        write(name, bytes);
    }
    std::fs::create_dir(at("folder")).unwrap();
    nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    write("sound", &bytes);
    let uri = |name: &str| format!("file://{}", at(name).display());
    let said = |uri: &str, memory: &Made, options: &Options| {
        let mut memory = Made(memory.0.clone());
        memory.list(LIST, 10, &[(AT, uri)]);
        let (found, problems) = run(&memory, true, &[], options);
        let [object] = &found.code_objects[..] else { panic!("{found:?}") };
        (matches!(object.held, Some(Held::File(_))), problems.join("\n").replace(uri, "URI"))
    };
    let names = ["nothing", "empty", "text", "half", "other", "changed", "folder", "fifo"];
    let mut uris = names.map(uri).to_vec();
    uris.extend([uri("sound") + "#offset=1&size=4", uri("sound") + "#offset=9999999&size=4"]);
    uris.extend(["/etc/passwd", "/proc/self/environ", "/dev/zero"].map(|path| format!("file://{path}")));
    uris.push("file://relative/path".to_owned());
    for (local_files, reason) in
        [(LocalFiles::Auto, NOT_USED), (LocalFiles::Yes, NOT_USED), (LocalFiles::No, NOT_OPENED)]
    {
        let options = Options { local_files, ..Options::default() };
        // The user forces a truncated file with the right build id.
        let half = local_files == LocalFiles::Yes;
        let uris = uris.iter().filter(|uri| !(half && uri.ends_with("/half")));
        let mut all: Vec<_> = uris.map(|uri| said(uri, &memory, &options)).collect();
        all.dedup();
        let [(false, problem)] = &all[..] else { panic!("{local_files:?}: {all:?}") };
        assert!(problem.contains(reason), "{problem}");
        // Once for the loaded file.
        assert_eq!(said(&uri("sound"), &memory, &options).0, local_files != LocalFiles::No);
    }
    // One missing byte prevents a match: otherwise accepting the file would reveal it.
    let mut cut = Made(memory.0.clone());
    let code_end = (segment.addresses.start + segment.file_size) as usize;
    cut.0.get_mut(&AT).unwrap().truncate(code_end - 1);
    let auto = said(&uri("sound"), &cut, &Options::default());
    assert_eq!(auto, said(&uri("nothing"), &cut, &Options::default()));
    assert!(!auto.0 && code_end > text);
    let yes = Options { local_files: LocalFiles::Yes, ..Options::default() };
    assert!(said(&uri("sound"), &cut, &yes).0);
}

/// A text log has no memory that confirms a file.
#[test]
fn local_files_of_a_text_need_the_users_word() {
    let kernels = Kernels::new();
    let object = CodeObject::parse(kernels.bytes()).unwrap();
    let end = AT + object.image().unwrap().end.0;
    let size = kernels.bytes().len();
    let listed = |uri: String| Listed { address: AT, end, uri, kernels: Vec::new() };
    let sound = format!("file://{}#offset=0&size={size}", kernels.path(KERNEL).display());
    let nothing = format!("file:///nothing#offset=0&size={size}");
    let find = |uri: &str, local_files| {
        let list = List { objects: vec![listed(uri.to_owned())], beside: None, fits: &|_| true };
        let mut problems = Problems::new("log");
        let found =
            find_listed(&list, &Options { local_files, ..Options::default() }, &mut problems).code_objects;
        let problems: Vec<String> = problems.finish().iter().map(ToString::to_string).collect();
        (file(&found[0]).is_some(), problems.join("\n").replace(uri, "URI"))
    };
    assert_eq!(find(&sound, LocalFiles::Yes), (true, String::new()));
    for local_files in [LocalFiles::Auto, LocalFiles::No] {
        // Only the name of the agent's saved file differs.
        let words =
            |(taken, problem): (bool, String)| (taken, problem.split("expected").next().unwrap().to_owned());
        let (taken, problem) = words(find(&sound, local_files));
        assert!(!taken && problem.contains(NOT_OPENED), "{problem}");
        assert_eq!((taken, problem), words(find(&nothing, local_files)));
    }
}
