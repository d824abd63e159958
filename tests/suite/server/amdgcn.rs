//! Answers for `--client amdgcn-gdb`: names of processors, files of code objects, offsets and lanes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use super::synthetic::session_of;
use crate::dwarf::ran;
use crate::fixtures::{expected_of, fixtures, open};
use crate::support::newest;
use crate::view::ask;
use lanescope::arch::Targets;
use lanescope::server::{Client, ClientOptions, Facade, Threads, ThreadsAs};
use lanescope::session::{Dump, Session};
use lanescope::units::WaveSize;
use lanescope::view::{Extent, Views};

/// The table of GNU gdb 16.3 (bfd/cpu-amdgcn.c).
const GDB_16: [&str; 13] = [
    "gfx900", "gfx904", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1011", "gfx1012", "gfx1030", "gfx1031",
    "gfx1032", "gfx1100", "gfx1101",
];
/// With gfx1102 the whole of it.
const GDB_16_LAST: &str = "gfx1102";

fn client(dump: &Arc<Dump>) -> Client {
    let session = || Session::new(Arc::clone(dump), None).unwrap();
    let views = Some(Arc::new(Views::new(Arc::clone(dump), session(), Extent::Stacks)));
    let options = ClientOptions { facade: Some(Facade::AmdgcnGdb), views, threads: None };
    Client::new(Box::new(session()), options)
}

fn text(client: &mut Client, body: &str) -> String {
    String::from_utf8_lossy(&ask(client, body.as_bytes())).into_owned()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// A processor is itself where gdb 16 knows it, else one that gdb 16 knows and that has the same registers in the same
/// order. gfx12 has registers that none of these has.
#[test]
fn gdb_gets_a_processor_that_it_knows() {
    let other = |name: &str| match name {
        "gfx902" | "gfx909" | "gfx90c" => Some("gfx900"),
        "gfx940" | "gfx941" | "gfx942" | "gfx950" => Some("gfx90a"),
        "gfx1013" => Some("gfx1010"),
        "gfx1033" | "gfx1034" | "gfx1035" | "gfx1036" => Some("gfx1030"),
        "gfx1103" | "gfx1150" | "gfx1151" | "gfx1152" | "gfx1153" => Some("gfx1100"),
        "gfx1200" | "gfx1201" | "gfx1250" | "gfx1251" => None,
        _ => panic!("{name}: not in this test"),
    };
    let targets = Targets::builtin();
    let names: Vec<&str> = targets.all_names().collect();
    assert!(names.len() > 30);
    for name in names {
        let size = targets.target(name).unwrap().wave_sizes[0];
        let options = ClientOptions { facade: Some(Facade::AmdgcnGdb), views: None, threads: None };
        let mut client = Client::new(Box::new(session_of(name, size, 1)), options);
        let description = text(&mut client, "qXfer:features:read:target.xml:0,1000");
        let is_known = name == GDB_16_LAST || GDB_16.contains(&name);
        let known = if is_known { Some(name) } else { other(name) };
        let architecture = format!("<architecture>amdgcn:{}</architecture>", known.unwrap_or(name));
        assert!(description.contains(&architecture), "{name}: {description}");
        let version = text(&mut client, "qlanescope.Version");
        // The text before the reply; packets of it begin with `O`.
        let greeting: String = text(&mut client, "qTStatus")
            .split('$')
            .map(|packet| packet.split('#').next().unwrap_or_default().trim_start_matches('O').to_owned())
            .collect();
        let words = match known {
            Some(known) if known == name => {
                assert!(!version.contains("gdb 16"), "{name}: {version}");
                continue;
            }
            Some(known) => {
                let layout = |of: &str, size: WaveSize| {
                    let kind = targets.kind(of, size).unwrap();
                    let runs = kind.dbgapi().iter();
                    runs.map(|run| (run.first, run.count, run.bytes, run.offset)).collect::<Vec<_>>()
                };
                assert_eq!(layout(name, size), layout(known, size), "{name}");
                // gdb takes the greater of two machine numbers: `set architecture` of the real name wins.
                let machine = |of: &str| targets.target(of).unwrap().elf_machine;
                assert!(machine(name) > machine(known), "{name}");
                format!("gdb gets {known}")
            }
            None => format!("GNU gdb 16 knows no processor with the registers of {name}"),
        };
        assert!(version.contains(&words), "{name}: {version}");
        assert!(greeting.contains(&hex(&words)), "{name}: {greeting}");
    }
}

/// Names and addresses of `qXfer:libraries:read`.
fn libraries(client: &mut Client) -> Vec<(String, String)> {
    let list = text(client, "qXfer:libraries:read::0,fff0");
    let value = |text: &str, key: &str| text.split(key).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let each = list.split("<library ").skip(1);
    each.map(|library| (value(library, "name=\""), value(library, "address=\""))).collect()
}

/// A file as `vFile` gives it.
fn pulled(client: &mut Client, name: &str) -> Vec<u8> {
    // As gdb does with a name of the target.
    let name = name.strip_prefix("target:").unwrap();
    let handle = text(client, &format!("vFile:open:{},0,0", hex(name)));
    let handle = handle.strip_prefix('F').unwrap().to_owned();
    assert!(!handle.starts_with('-'), "{name}: {handle}");
    let mut file = Vec::new();
    loop {
        let reply = ask(client, format!("vFile:pread:{handle},4000,{:x}", file.len()).as_bytes());
        let at = reply.iter().position(|byte| *byte == b';').unwrap();
        let mut bytes = reply[at + 1..].iter();
        let before = file.len();
        while let Some(byte) = bytes.next() {
            file.push(if *byte == b'}' { bytes.next().unwrap() ^ 0x20 } else { *byte });
        }
        if file.len() == before {
            break;
        }
    }
    assert_eq!(text(client, &format!("vFile:close:{handle}")), "F0");
    file
}

fn scratch(name: &str) -> PathBuf {
    let folder = crate::support::own_folder().join("amdgcn").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Everything that a tool prints of a file but its path.
fn printed(tool: &str, arguments: &[&str], file: &Path) -> String {
    let output = ran(Command::new(newest(tool)).args(arguments).arg(file));
    output.replace(&*file.to_string_lossy(), "FILE")
}

#[test]
fn code_objects_are_files_without_call_frames() {
    let mut with_frames = 0;
    for (name, known) in
        [("saxpy-gfx942-O0", "gfx90a"), ("calls-gfx90a", "gfx90a"), ("calls-gfx1100-eh", "gfx1100")]
    {
        let folder = fixtures().join("dumps").join(name);
        let mut client = client(&open(&folder));
        let listed = libraries(&mut client);
        assert_eq!(listed.len(), 1, "{name}: {listed:?}");
        let original = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        let original =
            original.into_iter().find(|path| path.extension().is_some_and(|ext| ext == "hsaco")).unwrap();
        let file_name = original.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(listed[0], (format!("target:/lanescope/{file_name}"), "0x7f0000100000".to_owned()));
        let file = scratch(name).join(file_name);
        fs::write(&file, pulled(&mut client, &listed[0].0)).unwrap();
        let header = printed("llvm-readelf", &["-h"], &file);
        let flags = header.lines().find(|line| line.contains("Flags:")).unwrap();
        assert!(flags.contains(&format!("{known},")) || flags.ends_with(known), "{name}: {flags}");
        for dump in [&["--debug-info"][..], &["--debug-line"], &["--verify", "--quiet"]] {
            let ours = printed("llvm-dwarfdump", dump, &file);
            assert_eq!(ours, printed("llvm-dwarfdump", dump, &original), "{name}");
        }
        let symbols = ["-s", "-W", "-l"];
        let ours = printed("llvm-readelf", &symbols[..2], &file);
        assert_eq!(ours, printed("llvm-readelf", &symbols[..2], &original), "{name}");
        let frames = ["--debug-frame", "--eh-frame"];
        with_frames += usize::from(printed("llvm-dwarfdump", &frames, &original).contains("CIE"));
        assert!(!printed("llvm-dwarfdump", &frames, &file).contains("CIE"), "{name}");
        let sections = printed("llvm-readelf", &["-S", "-W"], &file);
        assert!(sections.contains(".debug_info") && !sections.contains("_frame"), "{name}: {sections}");
    }
    assert_eq!(with_frames, 3);
}

/// A dump in a folder of its own: code objects (file, more keys) from 0x7f0000100000 on at steps of 0x100000, and a wave
/// at the kernel of each that `waves` names.
fn dump_of(name: &str, objects: &[(&str, Vec<u8>, &str)], waves: &[usize]) -> Arc<Dump> {
    let folder = scratch(name);
    let kernel = fs::read(fixtures().join("code/saxpy-gfx90a-O0.hsaco")).unwrap();
    let kernel = lanescope::codeobject::CodeObject::parse(kernel).unwrap().symbol("saxpy").unwrap().value;
    let at = |object: usize| 0x7f00_0010_0000 + object as u64 * 0x10_0000;
    let mut manifest =
        "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 1\nagent = 1\n[[dispatch]]\n\
                        id = 1\nqueue = 1\n[[workgroup]]\nid = 1\ndispatch = 1\n"
            .to_owned();
    for (id, object) in waves.iter().enumerate() {
        manifest += &format!(
            "[[wave]]\nid = {}\nworkgroup = 1\nregisters = {{ pc = \"{:#x}\", exec = \"0xff\" }}\n",
            id + 1,
            at(*object) + kernel
        );
    }
    for (index, (file, bytes, more)) in objects.iter().enumerate() {
        fs::write(folder.join(file), bytes).unwrap();
        manifest += &format!("[[code_object]]\nfile = \"{file}\"\naddress = \"{:#x}\"\n{more}\n", at(index));
    }
    fs::write(folder.join("manifest.toml"), manifest).unwrap();
    open(&folder)
}

fn saxpy() -> Vec<u8> {
    fs::read(fixtures().join("code/saxpy-gfx90a-O0.hsaco")).unwrap()
}

/// gdb 16.3 rejects code object version 2. A file that gdb cannot read is listed by its name alone: gdb looks for that in
/// `solib-search-path`.
#[test]
fn every_code_object_is_listed_and_those_with_a_file_can_be_opened() {
    const ABI_VERSION: usize = 8;
    const FLAGS: usize = 48;
    const GFX90A: u8 = 0x3f;
    const SECTION_TABLE: std::ops::Range<usize> = 40..48;
    let (mut old, mut cut, mut bare) = (saxpy(), saxpy(), saxpy());
    // The first files of version 2 have no EF_AMDGPU_MACH.
    old[ABI_VERSION] = 0;
    old[FLAGS..FLAGS + 4].fill(0);
    cut[SECTION_TABLE].copy_from_slice(&u64::MAX.to_le_bytes());
    bare[SECTION_TABLE].fill(0);
    let dump = dump_of(
        "listed",
        &[
            ("it's old.hsaco", old, "uri = \"memory://7#offset=0x1000&size=0x2000\""),
            ("cut.hsaco", cut, ""),
            ("image.bin", saxpy(), "image = true"),
            ("bare.hsaco", bare, ""),
            ("same.hsaco", saxpy(), "uri = \"file:///a/x.hsaco\""),
            ("other.hsaco", saxpy(), "uri = \"file:///b/x.hsaco\""),
        ],
        &[4],
    );
    let mut client = client(&dump);
    let listed = libraries(&mut client);
    let addresses: Vec<&str> = listed.iter().map(|(_, address)| address.as_str()).collect();
    let expected: Vec<String> =
        (1..=6).map(|index| format!("{:#x}", 0x7f00_0000_0000u64 + index * 0x10_0000)).collect();
    assert_eq!(addresses, expected);
    let is_file: Vec<bool> = listed.iter().map(|(name, _)| name.starts_with("target:/lanescope/")).collect();
    assert_eq!(is_file, [true, false, false, true, true, true], "{listed:?}");
    let mut names: Vec<&String> = listed.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 6, "{listed:?}");
    for (index, (name, _)) in listed.iter().enumerate() {
        let tail = name.strip_prefix("target:/lanescope/").unwrap_or(name);
        assert!(tail.chars().all(|c| c.is_ascii_alphanumeric() || ".-_+".contains(c)), "{name}");
        if is_file[index] {
            let file = pulled(&mut client, name);
            assert_eq!(file.len(), saxpy().len(), "{name}");
            assert!(file[ABI_VERSION] >= 1, "{name}: ELFABIVERSION_AMDGPU_HSA_V3 is 1");
            assert_eq!(file[FLAGS], GFX90A, "{name}");
        } else {
            assert_eq!(
                text(&mut client, &format!("vFile:open:{},0,0", hex(&format!("/lanescope/{name}")))),
                "F-1,2"
            );
        }
    }
    // Views are no files of this client.
    assert!(text(&mut client, "qXfer:exec-file:read:1:0,fff").starts_with("E"));
}

/// A file that the user loads with `file` moves to where the waves' code object is, if they are in one.
#[test]
fn a_program_of_the_user_is_moved_where_one_code_object_has_the_waves() {
    let objects = || [("a.hsaco", saxpy(), ""), ("b.hsaco", saxpy(), "")];
    for (name, waves, expected) in [
        ("offset-first", &[0][..], "TextSeg=7f0000100000"),
        ("offset-second", &[1, 1], "TextSeg=7f0000200000"),
        ("offset-both", &[0, 1], ""),
        ("offset-outside", &[7], ""),
    ] {
        assert_eq!(text(&mut client(&dump_of(name, &objects(), waves)), "qOffsets"), expected, "{name}");
    }
}

/// With lanes as threads a waiting lane is at its `DW_AT_LLVM_lane_pc`, without a view too.
#[test]
fn lanes_that_wait_have_their_own_pc_without_a_view() {
    let (mut moved, mut checked) = (0, 0);
    // The numbers of the PC: dbgapi 0.77 (reference tables of gfx90a and gfx1100), and rip of gdb's x86-64.
    for (name, number) in [("regions-gfx90a", 726), ("regions-gfx1100", 734)] {
        let (path, expected) = expected_of(name);
        let dump = open(&path);
        for (facade, number) in [(Facade::AmdgcnGdb, number), (Facade::Gdb, 16)] {
            let session = Session::new(Arc::clone(&dump), None).unwrap();
            let threads = Arc::new(Threads::new(&session, ThreadsAs::Lanes, None).unwrap());
            let ids: Vec<u64> = dump.capture().waves.iter().map(|wave| wave.id.into()).collect();
            let options =
                ClientOptions { facade: Some(facade), views: None, threads: Some(Arc::clone(&threads)) };
            let mut client = Client::new(Box::new(session), options);
            for (index, thread) in threads.all().iter().enumerate() {
                let Some(lane) = thread.lane else { continue };
                let id = ids[thread.wave.0 as usize];
                let wave =
                    expected["waves"].as_array().unwrap().iter().find(|wave| wave["id"] == id).unwrap();
                let Some(pc) = wave["lane_pc"][usize::from(lane.0)].as_str() else { continue };
                let value = u64::from_str_radix(&pc[2..], 16).unwrap().swap_bytes();
                let value = format!("{value:016x}");
                let shown = text(&mut client, &format!("p{number:x};thread:{:x};", index + 1));
                assert_eq!(shown, value, "{name} {facade}: wave {id} lane {lane}");
                checked += 1;
                moved += usize::from(wave["pc"] != pc);
            }
        }
    }
    assert!(moved > 20 && checked > moved, "{moved} of {checked} lanes wait elsewhere");
}
