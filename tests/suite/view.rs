//! Views of every fixture: valid for other readers, without a trace of AMDGPU, and safe against hostile clients.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use object::{Object as _, ObjectSection as _};

use lanescope::server::{Client, ClientOptions, Facade};
use lanescope::session::{Session, Waves as _, WhatIf as _, address};
use lanescope::units::{LaneId, WaveId};
use lanescope::view::{self, Extent, Reading, TypedMemory, View, Views};

use crate::dwarf::ran;
use crate::fixtures::{expected_of, few_expected, open};
use crate::server::framed;
use crate::support::{least, newest, sample::sampled};

fn folder(name: &str) -> PathBuf {
    let folder = crate::support::own_folder().join("views").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a view to a file for tools.
fn written(name: &str, object: &view::ViewObject) -> PathBuf {
    let path = folder(name).join(&object.name);
    let mut out = std::fs::File::create(&path).unwrap();
    object.file.write_to(&mut out).unwrap();
    path
}

/// The files of all views of fixtures, each with the name of its code object: of all units, and of the stacks alone.
fn all_written() -> [Vec<(String, PathBuf)>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for (name, dump, _) in few_expected() {
        let dump = open(&dump);
        let session = Session::new(Arc::clone(&dump), None).unwrap();
        for (files, (extent, of)) in all.iter_mut().zip([(Extent::All, "all"), (Extent::Stacks, "stacks")]) {
            let view = View::new(&dump, &session, extent);
            for object in view.objects() {
                files.push((object.name.clone(), written(&format!("{name}-{of}"), object)));
            }
        }
    }
    all
}

/// The output of one run of a tool about all these files.
fn output_of(tool: &str, arguments: &[&str], files: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    ran(Command::new(newest(tool)).args(arguments).args(files))
}

fn has_no_faults(views: &[(String, PathBuf)]) {
    let said = output_of("llvm-dwarfdump", &["--verify"], views.iter().map(|(_, path)| path));
    let sound = said.lines().filter(|line| *line == "No errors.").count();
    assert_eq!(sound, views.len(), "{said}");
}

#[test]
fn llvm_finds_no_fault_in_any_view() {
    let [all, views] = all_written();
    has_no_faults(&all);
    has_no_faults(&views);
    nothing_of_amdgpu_is_left(&views);
    functions_are_where_the_code_object_has_them(&views);
}

fn nothing_of_amdgpu_is_left(views: &[(String, PathBuf)]) {
    let files = || views.iter().map(|(_, path)| path);
    let text = output_of("llvm-dwarfdump", &["--debug-info", "--debug-loclists"], files());
    let foreign =
        ["LLVM", "DW_OP_xderef", "DW_OP_regx", "DW_OP_bregx", "address_class", "DW_AT_unknown", "GPR"];
    let mut file = "";
    for line in text.lines() {
        file = line.strip_suffix("file format elf64-x86-64").unwrap_or(file);
        let word = foreign.iter().find(|word| line.contains(**word) && !line.contains("DW_AT_producer"));
        assert!(word.is_none(), "{file} {word:?} in {line:?}");
    }
    let headers = output_of("llvm-readelf", &["-h", "-S", "-n", "-W"], files());
    for words in ["Advanced Micro Devices X86-64", "OS/ABI:                            UNIX - System V"] {
        assert_eq!(headers.matches(words).count(), views.len(), "{words}: {headers}");
    }
    for word in ["NOTE", "build-id", ".gnu_debuglink", ".dynamic"] {
        let line = headers.lines().find(|line| line.contains(word));
        assert!(line.is_none(), "{word} in {line:?}: {headers}");
    }
}

fn functions_are_where_the_code_object_has_them(views: &[(String, PathBuf)]) {
    let code = crate::fixtures::fixtures().join("code");
    let pairs = views.iter().map(|(name, path)| (code.join(name), path)).filter(|(of, _)| of.exists());
    let pairs: Vec<(PathBuf, &PathBuf)> = pairs.collect();
    let text = output_of("llvm-nm", &[], pairs.iter().flat_map(|(original, view)| [original, *view]));
    let (mut all, mut file) = (HashMap::<&str, BTreeSet<&str>>::new(), "");
    for line in text.lines() {
        file = line.strip_suffix(':').unwrap_or(file);
        // Code and data; the symbols of LDS and of register counts are not addresses.
        let is_symbol = matches!(line.split_whitespace().nth(1), Some("T" | "t" | "R" | "D" | "B"));
        if is_symbol && !line.contains('@') {
            all.entry(file).or_default().insert(line);
        }
    }
    let mut compared = 0;
    for (original, view) in &pairs {
        let [theirs, ours] = [original, *view].map(|path| &all[path.to_str().unwrap()]);
        let is_wanted = |line: &&&str| line.contains(" T ") || line.contains(" R ");
        let missing: Vec<&&str> = theirs.difference(ours).filter(is_wanted).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", view.display());
        compared += theirs.len();
    }
    assert!(compared > least(50, 25), "{compared}");
}

#[test]
fn windows_that_name_nothing_are_errors() {
    let name = "calls-gfx90a";
    let (dump, _) = expected_of(name);
    let dump = open(&dump);
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let view = View::new(&dump, &session, Extent::Stacks);
    let wave = session.first_wave();
    let mut room = [0; 4096];
    let mut read = |at: u64, length: usize| {
        view::read(&view, &session, &TypedMemory::default(), at, wave, Reading::Exact, &mut room[..length])
    };
    let token = |wave: u32, lane: u8, frame: u32, offset: u32| {
        address::window(WaveId(wave), Some(LaneId(lane)), frame << 24 | offset).unwrap()
    };
    // Existing frames: frame 2 is the outermost of the three.
    for frame in 0..3 {
        assert_eq!(read(token(wave.0, 0, frame, 0x200), 8), Ok(8), "{name} frame {frame}");
    }
    for (what, at) in [
        ("a wave that is not there", token(99_999, 0, 0, 0x200)),
        ("a lane that is not there", token(wave.0, 64, 0, 0x200)),
        ("a frame that is not there", token(wave.0, 0, 3, 0x200)),
        ("the last frame that a token can name", token(wave.0, 0, 127, 0x200)),
        ("a frame of a stack of the lane's own", token(wave.0, 0, 0x80 + 3, 0x200)),
        ("no window", 0x6f00_0000_0000_0000),
    ] {
        let error = read(at, 8).expect_err(what);
        assert!(!error.to_string().is_empty());
    }
    // A read across the end of a window is cut there.
    assert_eq!(read(token(wave.0, 0, 0, 0xff_fff8), 64), Ok(8));
    assert_eq!(read(token(wave.0, 0, 0, 0xff_ffc0), 4096), Ok(64));
    // A read that begins in a spill slot ends in it; outside of all slots it is an error. `leaf` has two variables.
    assert_eq!(read(token(wave.0, 0, 0, 0x200), 4096), Ok(16), "their pointers");
    for offset in [0, 16, 0x1ff, 0x210, 0x3ff, 0x7f_ffff, 0x80_0000, 0x80_0200, 0xff_fdff, 0xff_ffbf] {
        read(token(wave.0, 0, 0, offset), 1).expect_err(&format!("offset {offset:#x}"));
    }
}

/// `y` of `leaf` in wave 2 is VGPR40: 4 bytes, 500 and on by lanes. The expected bytes are the model's.
#[test]
fn a_room_ends_with_its_variable() {
    let (dump, _) = expected_of("calls-gfx90a");
    let dump = open(&dump);
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let view = View::new(&dump, &session, Extent::Stacks);
    let wave = session.first_wave();
    let token = |offset: u32| address::window(wave, Some(LaneId(0)), offset).unwrap();
    let read = |offset: u32, length: usize, reading: Reading| {
        let mut room = vec![0xee; length];
        let count =
            view::read(&view, &session, &TypedMemory::default(), token(offset), wave, reading, &mut room)?;
        room.truncate(count);
        Ok::<_, lanescope::session::ReadError>(room)
    };
    // The second of `leaf`'s two variables.
    let pointer = read(0x208, 8, Reading::Exact).unwrap();
    let room = (u64::from_le_bytes(pointer.try_into().unwrap()) & 0xff_ffff) as u32;
    assert_eq!(room % 512, 0, "where lldb's line begins");
    assert_eq!(read(room, 16, Reading::Exact).unwrap(), 500u32.to_le_bytes(), "no more than the variable");
    read(room + 4, 4, Reading::Exact).expect_err("past the variable");
    read(room + 512, 4, Reading::Exact).expect_err("where there is none");
    // lldb's lines are whole if they contain any byte, otherwise errors.
    let line = read(room, 512, Reading::Lines).unwrap();
    assert_eq!((line.len(), &line[..4]), (512, &500u32.to_le_bytes()[..]));
    assert!(line[4..].iter().all(|byte| *byte == 0));
    assert_eq!(read(room, 1024, Reading::Lines).unwrap().len(), 512, "no more than that line");
    assert_eq!(read(0x200, 512, Reading::Lines).unwrap().len(), 512);
    assert_eq!(read(0xff_fe00, 512, Reading::Lines).unwrap().len(), 512);
    for offset in [0, room + 512, 0x80_0000, 0xff_fc00] {
        read(offset, 512, Reading::Lines).expect_err(&format!("line {offset:#x}"));
    }
}

/// Read-only addresses for a client: below the token, tables of pointers, beyond a variable, other frames.
#[test]
fn writes_that_no_variable_takes_are_refused_as_a_whole() {
    let (dump, _) = expected_of("calls-gfx90a");
    let dump = open(&dump);
    let mut session = Session::new(Arc::clone(&dump), None).unwrap();
    let view = View::new(&dump, &session, Extent::Stacks);
    let wave = session.first_wave();
    let token = |offset: u32| address::window(wave, Some(LaneId(0)), offset).unwrap();
    let mut pointer = [0; 8];
    view::read(&view, &session, &TypedMemory::default(), token(0x200), wave, Reading::Exact, &mut pointer)
        .unwrap();
    let room = (u64::from_le_bytes(pointer) & 0xff_ffff) as u32;
    let below = token(0) - 8;
    for (what, at, length) in [
        ("below the token", below, 8),
        ("at the token", token(0), 8),
        ("across the end of the variable", token(room), 8),
        ("past the variable", token(room + 4), 4),
        ("the pointer of the variable", token(0x200), 8),
        ("into the table of pointers from before it", token(0x1fc), 8),
        ("the return address", token(0xff_fff8), 8),
        ("across the end of the window", token(0xff_fffc), 8),
        ("globals, of which there are none", token(0x80_0000), 8),
        ("a frame that is not there", token(3 << 24 | 0x400), 4),
    ] {
        let refused = view::write(&view, &mut session, at, wave, &vec![0x5a; length]);
        assert!(!refused.expect_err(what).to_string().is_empty(), "{what}");
    }
    let changes = session.changes(16).unwrap();
    assert!(changes.registers.is_empty() && changes.memory.is_empty(), "{changes:?}");
    view::write(&view, &mut session, token(room), wave, &7u32.to_le_bytes()).unwrap();
    assert_eq!(session.changes(16).unwrap().registers.len(), 1);
}

/// Requires that missing parts of a view are among the notices.
fn are_noted(dump: &Arc<lanescope::session::Dump>, problems: &[String]) {
    let session = || Session::new(Arc::clone(dump), None).unwrap();
    let views = Some(Arc::new(Views::new(Arc::clone(dump), session(), Extent::Stacks)));
    let options = ClientOptions { facade: Some(Facade::Gdb), views, threads: None };
    let mut client = Client::new(Box::new(session()), options);
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let said = String::from_utf8(ask(&mut client, format!("qRcmd,{}", hex("notices")).as_bytes())).unwrap();
    // Long lines are wrapped between words.
    let said = said.replace(&hex("\n    "), &hex(" "));
    for problem in problems {
        assert!(said.contains(&hex(&format!("the view has a problem: {problem}"))), "{problem}: {said}");
    }
}

/// Damage to a line table or to ranges affects only the damaged part: the view of every code object that differs in one
/// byte of those sections is valid for LLVM.
#[test]
fn damaged_lines_and_ranges_make_sound_views() {
    let mut files = Vec::new();
    let sound = crate::fixtures::fixtures().join("dumps/call-gfx90a-O0");
    let code = std::fs::read(crate::fixtures::fixtures().join("code/call-gfx90a-O0.hsaco")).unwrap();
    let folder = folder("damaged");
    crate::fixtures::copy_dump("call-gfx90a-O0", &folder);
    let manifest = std::fs::read_to_string(sound.join("manifest.toml")).unwrap();
    let name = "damaged.hsaco";
    let referred = manifest.split('"').find(|word| word.ends_with(".hsaco")).unwrap();
    std::fs::write(folder.join("manifest.toml"), manifest.replace(referred, name)).unwrap();
    let section = |name: &str| {
        let elf = object::File::parse(&*code).unwrap();
        let (at, size) = elf.section_by_name(name).unwrap().file_range().unwrap();
        at as usize..(at + size) as usize
    };
    let (mut views, mut told) = (0, 0);
    for (of, step) in [(".debug_line", 7), (".debug_info", 23), (".debug_rnglists", 3), (".debug_addr", 3)] {
        for at in sampled(section(of).step_by(step), 4) {
            let mut damaged = code.clone();
            damaged[at] ^= 0x7f;
            std::fs::write(folder.join(name), &damaged).unwrap();
            let dump = open(&folder);
            let session = Session::new(Arc::clone(&dump), None).unwrap();
            let view = View::new(&dump, &session, Extent::Stacks);
            views += 1;
            if !view.problems().is_empty() {
                told += 1;
                if told == 1 {
                    are_noted(&dump, view.problems());
                }
            }
            for object in view.objects() {
                files.push(written(&format!("damaged-view{of}-{at:#x}"), object));
            }
        }
    }
    // It has a status of its own for faults of the damaged parts.
    let said = Command::new(newest("llvm-dwarfdump")).arg("--verify").args(&files).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert_eq!(said.matches(":\tfile format ").count(), files.len(), "{said}");
    let mut file = "";
    for line in said.lines() {
        file = line.strip_prefix("Verifying ").filter(|rest| rest.contains(":\t")).unwrap_or(file);
        let is_ours = ["not contained in its parent", "decreasing address"];
        assert!(!is_ours.iter().any(|words| line.contains(words)), "{file}: {line}");
    }
    assert!(views > least(100, 30) && told > least(10, 3), "{told} of {views} views had something to tell");
}

/// A client of a real session with views.
fn client(facade: Facade) -> (Client, u64) {
    client_of("calls-gfx90a", facade)
}

fn client_of(name: &str, facade: Facade) -> (Client, u64) {
    let (dump, _) = expected_of(name);
    let dump = open(&dump);
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let size = View::new(&dump, &session, Extent::Stacks).main().unwrap().file.len();
    let own = Session::new(Arc::clone(&dump), None).unwrap();
    let views = Some(Arc::new(Views::new(dump, own, Extent::Stacks)));
    (Client::new(Box::new(session), ClientOptions { facade: Some(facade), views, threads: None }), size)
}

pub(crate) fn ask(client: &mut Client, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let _ = client.feed(&framed(body), &mut out);
    let start = out.iter().position(|byte| *byte == b'$').map_or(0, |at| at + 1);
    let end = out.iter().rposition(|byte| *byte == b'#').unwrap_or(out.len());
    out[start..end].to_vec()
}

#[test]
fn files_are_views_and_nothing_of_this_machine() {
    let (mut client, size) = client(Facade::Gdb);
    let mut ask = |body: &str| String::from_utf8_lossy(&ask(&mut client, body.as_bytes())).into_owned();
    let open = |name: &str, flags: u32| {
        let hex: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("vFile:open:{hex},{flags:x},0")
    };
    let program = ask("qXfer:exec-file:read:1:0,fff");
    let program = program.strip_prefix('l').unwrap().to_owned();
    // gdb removes this from a name, and requests the rest, for any sysroot.
    let program = program.strip_prefix("target:").unwrap().to_owned();
    assert_eq!(program, "/lanescope/calls-gfx90a.hsaco");
    assert_eq!(ask("vFile:setfs:0"), "F0");
    // ENOENT is 2, EROFS 30, EBADF 9, EINVAL 22 in the protocol's numbers.
    for name in [
        "/etc/passwd",
        "/lanescope/../etc/passwd",
        "/lanescope/./calls-gfx90a.hsaco",
        "/lanescope//etc/passwd",
        "lanescope/calls-gfx90a.hsaco",
        "target:/lanescope/calls-gfx90a.hsaco",
        "/lanescope/",
        "/proc/self/mem",
        "",
        "/lanescope/calls-gfx90a.hsaco\0.so",
    ] {
        assert_eq!(ask(&open(name, 0)), "F-1,2", "{name:?}");
    }
    for flags in [1, 2, 0x200, 0x400, 0x602] {
        assert_eq!(ask(&open(&program, flags)), "F-1,1e", "flags {flags:#x}");
    }
    assert_eq!(ask(&open(&program, 0)), "F0");
    assert_eq!(ask("vFile:pread:0,4,0"), "F4;\u{7f}ELF");
    assert_eq!(ask(&format!("vFile:pread:0,10,{size:x}")), "F0;");
    assert_eq!(ask("vFile:pread:0,10,ffffffffffffffff"), "F0;");
    assert_eq!(ask("vFile:pread:0,0,0"), "F0;");
    assert_eq!(ask(&format!("vFile:pread:0,4,{:x}", size - 1)).split(';').next(), Some("F1"));
    for handle in ["1", "ffff", "ffffffffffffffff"] {
        assert_eq!(ask(&format!("vFile:pread:{handle},4,0")), "F-1,9");
        assert_eq!(ask(&format!("vFile:fstat:{handle}")), "F-1,9");
    }
    assert_eq!(ask("vFile:pwrite:0,0,abc"), "F-1,1e");
    assert_eq!(ask("vFile:unlink:2f"), "F-1,1e");
    assert_eq!(ask("vFile:pread:zz"), "F-1,16");
    assert_eq!(ask("vFile:open:2"), "F-1,16");
    assert_eq!(ask("vFile:close:0"), "F0");
    assert_eq!(ask("vFile:close:0"), "F-1,9");
    assert_eq!(ask("vFile:pread:0,4,0"), "F-1,9");
    assert_eq!(ask("vFile:frobnicate:1"), "");
    // A client may have this many files open; closing one frees a place.
    for handle in 0..64 {
        assert_eq!(ask(&open(&program, 0)), format!("F{handle:x}"));
    }
    assert_eq!(ask(&open(&program, 0)), "F-1,18");
    assert_eq!(ask("vFile:close:7"), "F0");
    assert_eq!(ask(&open(&program, 0)), "F7");
    // The session continues unaffected.
    assert!(ask("?").starts_with('T'));
}

/// Only the main view is at its code object's address, and only in gdb, which took it as its program: `qOffsets` is
/// about whatever program gdb has, and LLDB applies it to its first file.
#[test]
fn a_program_that_is_no_view_is_moved_out_of_the_way() {
    // "/lanescope/calls-gfx90a.hsaco"
    let open = "vFile:open:2f6c616e6573636f70652f63616c6c732d6766783930612e687361636f,0,0";
    let (mut gdb, _) = client(Facade::Gdb);
    let libraries =
        |client: &mut Client| String::from_utf8(ask(client, b"qXfer:libraries:read::0,1000")).unwrap();
    assert_eq!(ask(&mut gdb, open.as_bytes()), b"F0");
    assert_eq!(ask(&mut gdb, b"qOffsets"), b"TextSeg=7f0000100000");
    assert!(!libraries(&mut gdb).contains("calls-gfx90a.hsaco"), "the program is no library");
    let (mut gdb, _) = client(Facade::Gdb);
    // gdb looks for a build id in the view, and keeps its own program.
    assert_eq!(ask(&mut gdb, open.as_bytes()), b"F0");
    assert_eq!(ask(&mut gdb, b"vFile:close:0"), b"F0");
    assert_eq!(ask(&mut gdb, b"qOffsets"), b"TextSeg=7100000000000000", "where no code object is");
    assert!(libraries(&mut gdb).contains("/lanescope/lib/calls-gfx90a.hsaco"));
    let (mut lldb, _) = client(Facade::Lldb);
    assert_eq!(ask(&mut lldb, b"qOffsets"), b"");
}

/// One file of code at many addresses, each loaded as a separate code object. The user moves the wave into one after
/// another, and each is a unit that the client's view lacks.
#[test]
fn further_files_are_bounded_with_a_report_and_the_session_is_not() {
    /// The limit in docs/view.md.
    const MOST: u64 = 64;
    const WORDS: &str = "More than 64 further files of code objects would be needed";
    const STEP: u64 = 0x10_0000;
    let scratch = tempfile::tempdir().unwrap();
    let code = std::fs::read(crate::fixtures::fixtures().join("code/saxpy-gfx90a-O0.hsaco")).unwrap();
    let kernel = lanescope::codeobject::CodeObject::parse(code.clone()).unwrap();
    let start = kernel.symbol("saxpy").unwrap().value;
    let pc = |object: u64| 0x7f00_0010_0000 + object * STEP + start;
    std::fs::write(scratch.path().join("code.hsaco"), &code).unwrap();
    let mut manifest = format!(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 1\nagent = 1\n[[dispatch]]\nid = 1\n\
         queue = 1\n[[workgroup]]\nid = 1\ndispatch = 1\n[[wave]]\nid = 1\nworkgroup = 1\n\
         registers = {{ pc = \"{:#x}\", exec = \"0xff\" }}\n",
        pc(0)
    );
    for object in 0..MOST + 2 {
        manifest +=
            &format!("[[code_object]]\npath = \"code.hsaco\"\naddress = \"{:#x}\"\n", pc(object) - start);
    }
    std::fs::write(scratch.path().join("manifest.toml"), manifest).unwrap();
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    // In the facade the PC is rip, the 17th of gdb's x86-64 registers, and the first of lldb's.
    for (facade, number) in [(Facade::Gdb, "10"), (Facade::Lldb, "0")] {
        let dump = open(scratch.path());
        assert!(dump.problems().is_empty(), "{:?}", dump.problems());
        let session = || Session::new(Arc::clone(&dump), None).unwrap();
        let views = Arc::new(Views::new(Arc::clone(&dump), session(), Extent::Stacks));
        let options = ClientOptions { facade: Some(facade), views: Some(Arc::clone(&views)), threads: None };
        let mut client = Client::new(Box::new(session()), options);
        let mut ask = |body: &str| String::from_utf8_lossy(&ask(&mut client, body.as_bytes())).into_owned();
        let files = || std::fs::read_dir(views.folder().unwrap()).unwrap().count();
        let value = |object: u64| format!("{:016x}", pc(object).swap_bytes());
        let mut stop_in = |object: u64| {
            assert_eq!(ask(&format!("P{number}={}", value(object))), "OK", "{facade:?}");
            let said = ask("vCont;s:1");
            (said.contains("library:;"), said.contains(&hex(WORDS)))
        };
        for object in 1..=MOST {
            assert_eq!(stop_in(object), (true, false), "{facade:?}: file {object}");
        }
        let before = files();
        for _ in 0..3 {
            assert_eq!(stop_in(MOST + 1), (false, true), "{facade:?}");
        }
        assert_eq!(files(), before, "{facade:?}: files that no client learns of");
        // The client continues with the files that it has, and the user reads variables everywhere.
        assert_eq!(stop_in(MOST), (false, false), "{facade:?}");
        assert_eq!(stop_in(MOST + 1), (false, true), "{facade:?}");
        assert!(ask(&format!("p{number}")).starts_with(&value(MOST + 1)), "{facade:?}");
        let locals = ask(&format!("qRcmd,{}", hex("locals")));
        assert!(locals.contains(&hex("saxpy")), "{facade:?}: {locals}");
        assert!(ask("?").starts_with('T'), "{facade:?}");
    }
}

/// A printed command is one word for the shell and one argument for the debugger, with any names.
#[test]
fn commands_to_type_hold_names_with_blanks_and_quotes() {
    let scratch = crate::slim::Scratch::new("view-quoted");
    let [dump, views] = ["it's a \"dump\"", "some $views; 'n"].map(|name| scratch.path(name));
    crate::fixtures::copy_dump("mixed-kinds", &dump);
    let mut command = crate::support::lanescope();
    let output = command.arg("view").arg(&dump).arg("-o").arg(&views).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // The shell's words of a command, one per line.
    let words = |tool: &str, line: &str| -> Vec<String> {
        let script = format!("{tool}() {{ printf '%s\\n' \"$@\"; }}; {line}");
        let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert!(output.status.success(), "{line}");
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    // A long command continues behind a backslash.
    let text = text.replace("\\\n", "");
    let line = |start: &str| text.lines().find_map(|line| Some(&line[line.find(start)?..])).unwrap();
    let serve = line("lanescope serve ").split(" ADDRESS").next().unwrap();
    assert_eq!(words("lanescope", serve), ["serve", dump.to_str().unwrap(), "--listen"]);
    // gdb takes the views from the server: a copy as its program would duplicate each symbol.
    assert_eq!(words("gdb", line("gdb ")), ["-ex", "target remote HOST:1234"]);
    // The program's name may have a version.
    let lldb = words("lldb", &format!("lldb {}", line("-o 'settings append")));
    let escaped: String = views.to_str().unwrap().chars().fold(String::new(), |mut text, character| {
        if " $;'".contains(character) {
            text.push('\\');
        }
        text.push(character);
        text
    });
    assert_eq!(lldb[..2], ["-o".to_owned(), format!("settings append target.exec-search-paths {escaped}")]);
}

/// Each problem of a dump is a separate line.
#[test]
fn notices_list_every_problem() {
    let scratch = crate::slim::Scratch::new("view-notices");
    let dump = scratch.path("dump.json");
    for count in [1, 3] {
        let segments: Vec<String> =
            (0..count).map(|number| format!("{{\"address\": 0, \"file\": \"none{number}\"}}")).collect();
        let manifest = format!(
            "{{\"format\": 1, \"agent\": [{{\"id\": 1, \"target\": \"gfx90a\"}}], \"memory\": [{}], \
             \"wave\": [{{\"id\": 7, \"agent\": 1, \"wave_size\": 64}}]}}",
            segments.join(", ")
        );
        std::fs::write(&dump, manifest).unwrap();
        let session = Session::new(open(&dump), None).unwrap();
        let options = ClientOptions { facade: Some(Facade::Gdb), views: None, threads: None };
        let mut client = Client::new(Box::new(session), options);
        let said = String::from_utf8(ask(&mut client, b"qRcmd,6e6f7469636573")).unwrap();
        let outputs = said.split(['$', '#']).filter_map(|packet| packet.strip_prefix('O'));
        let pairs = outputs.flat_map(|hex| hex.as_bytes().chunks(2));
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let text = String::from_utf8(pairs.filter_map(byte).collect()).unwrap();
        let listed: Vec<&str> = text.lines().filter(|line| line.contains("none")).collect();
        assert_eq!(listed.len(), count, "{text}");
        for (number, line) in listed.iter().enumerate() {
            assert!(line.starts_with("problem: ") && line.contains(&format!("none{number}")), "{text}");
        }
    }
}
