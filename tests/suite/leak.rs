//! docs/security.md, "Files of the reader's machine": no output reveals contents or existence of a file outside the
//! capture.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lanescope::server::{Client, ClientOptions};
use lanescope::session::Session;
use serde_json::Value;

use crate::clean::send;
use crate::cores::core;
use crate::dwarf::ran;
use crate::fixtures::{copy_dump, fixtures, open};
use crate::support::{
    newest,
    sample::{is_long, sampled},
};

const SECRET: &str = "root:x:0:0:s3cret";
/// The runtime's URI of the second code object of the sample.
const URI: &str = "file:///srv/app/lib%2Bkernels.so#offset=40960&size=9888";
const SAMPLE: &str = "gfx90a-unified";
/// Files at paths of one length: none, an empty file, a text, a folder, a pipe, a program, a code object of another GPU;
/// and the files of single tests.
const KINDS: [&str; 9] = ["none", "null", "text", "dirs", "fifo", "host", "code", "same", "hide"];
const COMMANDS: [&str; 6] = ["export", "info", "dwarf", "waves", "objects", "backtrace"];

/// A choice of commands about a capture that names files.
#[derive(Clone, Copy)]
struct Way {
    options: &'static [&'static str],
    /// Each so many of the kinds of files: with 3 none, a folder, a code object, with 2 a text and a pipe.
    each: usize,
    /// All commands; otherwise each second one, and with options `slim`.
    is_whole: bool,
}

const WHOLE: Way = Way { options: &[], each: 3, is_whole: true };
const WAYS: [Way; 4] = [
    WHOLE,
    Way { options: &[], each: 1, is_whole: false },
    Way { options: &["--local-files", "yes"], each: 2, is_whole: false },
    Way { options: &["--local-files", "no"], each: 3, is_whole: false },
];

/// A folder with files that a capture may name, and a folder for captures.
struct Machine {
    base: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let base = tempfile::Builder::new().prefix("ls").tempdir_in("/tmp").unwrap();
        let machine = Self { base };
        fs::create_dir(machine.inside("")).unwrap();
        for kind in KINDS {
            fs::create_dir_all(machine.outside(kind).parent().unwrap()).unwrap();
        }
        fs::write(machine.outside("text"), SECRET).unwrap();
        fs::write(machine.outside("null"), "").unwrap();
        fs::create_dir(machine.outside("dirs")).unwrap();
        let fifo = Command::new("mkfifo").arg(machine.outside("fifo")).status().unwrap();
        assert!(fifo.success());
        let other = fixtures().join("gpucore/code/k-gfx942-O0.hsaco");
        fs::copy(other, machine.outside("code")).unwrap();
        fs::copy(crate::support::program(), machine.outside("host")).unwrap();
        machine
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.base.path().join("out").join(name).join("f")
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.base.path().join("in").join(name)
    }

    /// Files other than the code object, and a missing one; a capture must not reveal which of two kinds a file is.
    fn others(&self) -> Vec<PathBuf> {
        KINDS[..7].iter().map(|name| self.outside(name)).collect()
    }
}

/// Output of a command, with standard error. A pipe without a writer must not block it: timeout(1) then exits with 124.
fn printed(arguments: &[&str]) -> String {
    let mut command = Command::new("timeout");
    command.arg("60").arg(crate::support::program()).args(arguments);
    let output = command.env_remove("DEBUGINFOD_URLS").stdin(Stdio::null()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0..=2)), "{arguments:?}: {}", output.status);
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// The sample's core, whose second code object has another URI of the same length.
fn core_naming(path: &Path) -> (Vec<u8>, String) {
    let path = path.to_str().unwrap();
    let uri = format!("file://{}{path}", "/".repeat(URI.len() - "file://".len() - path.len()));
    assert_eq!(uri.len(), URI.len());
    let mut bytes = fs::read(core(SAMPLE)).unwrap();
    let at = memchr::memmem::find(&bytes, URI.as_bytes()).unwrap();
    bytes[at..at + URI.len()].copy_from_slice(uri.as_bytes());
    (bytes, uri)
}

fn monitor(capture: &Path) -> String {
    let session = Session::new(Arc::clone(&open(capture)), None).unwrap();
    let mut client = Client::new(Box::new(session), ClientOptions::default());
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let commands = ["notices", "objects"].map(|command| format!("qRcmd,{}", hex(command)));
    let packets = commands.into_iter().chain(["qlanescope.CodeObjects".to_owned()]);
    packets.map(|packet| send(&mut client, packet.as_bytes()).concat()).collect()
}

/// All output about a capture, with one placeholder for its names.
fn all_printed(capture: &Path, names: &str, way: Way, slim: &Path) -> String {
    let (capture, options) = (capture.to_str().unwrap(), way.options);
    let mut text = String::new();
    let is_whole = way.is_whole || is_long();
    for command in sampled(COMMANDS, if is_whole { 1 } else { 2 }) {
        text += &printed(&[&[command, capture], options].concat());
    }
    let view = slim.with_extension("view");
    for folder in [slim, &view] {
        let _ = fs::remove_dir_all(folder);
    }
    if is_whole {
        text += &printed(&[&["diff", capture, capture], options].concat());
        text += &printed(&[&["view", capture, "-o", view.to_str().unwrap()], options].concat());
    }
    if is_whole || !options.is_empty() {
        text +=
            &printed(&[&["slim", capture, "--all-waves", "-o", slim.to_str().unwrap()], options].concat());
    }
    if is_whole && options.is_empty() {
        text += &monitor(Path::new(capture));
    }
    let written = [slim, &view].map(|folder| fs::read_dir(folder).into_iter().flatten());
    let written: BTreeSet<PathBuf> = written.into_iter().flatten().map(|file| file.unwrap().path()).collect();
    for file in written {
        if file.is_file() {
            text += &String::from_utf8_lossy(&fs::read(file).unwrap());
        }
    }
    assert!(!text.contains("s3cret") && !text.contains("72 6f 6f 74"), "{text}");
    text.replace(names, "NAMED")
}

fn is_alike(texts: BTreeSet<String>) -> String {
    let mut texts = texts.into_iter();
    let first = texts.next().unwrap();
    if let Some(other) = texts.next() {
        let differs = first.lines().zip(other.lines()).find(|(one, other)| one != other);
        panic!("what stands at a path changes the answer: {differs:?}");
    }
    first
}

#[test]
fn a_core_learns_nothing_of_the_files_that_it_names() {
    let machine = Machine::new();
    let capture = machine.inside("core");
    for way in WAYS {
        let texts = sampled(machine.others(), way.each).map(|path| {
            let (bytes, uri) = core_naming(&path);
            fs::write(&capture, bytes).unwrap();
            all_printed(&capture, &uri, way, &machine.inside("slim"))
        });
        assert!(is_alike(texts.collect()).contains("NAMED"));
    }
}

/// Normal use: the user's own core, on the machine that wrote it.
#[test]
fn a_core_finds_the_file_that_its_memory_proves() {
    let machine = Machine::new();
    let sound = machine.outside("same");
    fs::copy(fixtures().join("gpucore/code/k-gfx90a-O0.hsaco"), &sound).unwrap();
    let (bytes, uri) = core_naming(&sound);
    let capture = machine.inside("core");
    fs::write(&capture, bytes).unwrap();
    let origin = |options: &[&str]| {
        let mut command = crate::support::lanescope();
        let output = command.args(["export", capture.to_str().unwrap()]).args(options).output().unwrap();
        let export: Value = serde_json::from_slice(&output.stdout).unwrap();
        export["code_objects"][1]["origin"].as_str().unwrap().to_owned()
    };
    assert_eq!(origin(&[]), uri);
    assert_eq!(origin(&["--local-files", "yes"]), uri);
    assert_ne!(origin(&["--local-files", "no"]), uri);
    let slim = printed(&[
        "slim",
        capture.to_str().unwrap(),
        "--all-waves",
        "-o",
        machine.inside("slim").to_str().unwrap(),
    ]);
    assert!(slim.contains("was read from this machine"), "{slim}");
    // Any user could have written it.
    fs::set_permissions(&capture, fs::Permissions::from_mode(0o646)).unwrap();
    assert_ne!(origin(&[]), uri);
    assert_eq!(origin(&["--local-files", "yes"]), uri);
}

#[test]
fn a_log_learns_nothing_of_the_files_that_it_names() {
    let machine = Machine::new();
    let capture = machine.inside("log");
    let log = fs::read_to_string(fixtures().join("logs/agent-plain.log")).unwrap();
    let line = log.lines().find(|line| line.contains("file://")).unwrap();
    let old = &line[line.find("file://").unwrap()..];
    for way in WAYS {
        let texts = sampled(machine.others(), way.each).map(|path| {
            let uri = format!("file://{}#offset=0&size=4", path.display());
            fs::write(&capture, log.replace(old.trim_end(), &uri)).unwrap();
            let text = all_printed(&capture, &uri, way, &machine.inside("slim"));
            // The name of the agent's saved file.
            text.replace(&uri.replace([':', '/', '#', '?', '&', '='], "_"), "SAVED")
        });
        assert!(is_alike(texts.collect()).contains("NAMED"));
    }
}

#[test]
fn a_dump_learns_nothing_of_the_files_that_it_names() {
    let machine = Machine::new();
    let capture = machine.inside("dump");
    let from = fixtures().join("dumps/calls-gfx90a");
    copy_dump("calls-gfx90a", &capture);
    let manifest = fs::read_to_string(from.join("manifest.toml")).unwrap();
    let file = "file = \"calls-gfx90a.hsaco\"";
    assert!(manifest.contains(file));
    let id = "\nbuild_id = \"00112233445566778899aabbccddeeff\"";
    for way in WAYS {
        let texts = sampled(machine.others(), way.each).map(|path| {
            let named = path.display().to_string();
            fs::write(
                capture.join("manifest.toml"),
                manifest.replace(file, &format!("path = {named:?}{id}")),
            )
            .unwrap();
            all_printed(&capture, &named, way, &machine.inside("slim"))
        });
        assert!(is_alike(texts.collect()).contains("NAMED"));
    }
    // Side files, and the manifest itself, through links that lead out.
    let linked = |link: &str, target: &Path| {
        let link = capture.join(link);
        let _ = fs::remove_file(&link);
        symlink(target, &link).unwrap();
        all_printed(&capture, target.to_str().unwrap(), WHOLE, &machine.inside("slim"))
    };
    fs::write(capture.join("manifest.toml"), manifest.replace(file, "file = \"link\"")).unwrap();
    is_alike(sampled(machine.others(), 2).map(|target| linked("link", &target)).collect());
    is_alike(
        sampled(machine.others(), 2)
            .map(|target| {
                let link = capture.join("manifest.toml");
                let _ = fs::remove_file(&link);
                symlink(&target, &link).unwrap();
                let text: String =
                    COMMANDS.iter().map(|command| printed(&[command, capture.to_str().unwrap()])).collect();
                assert!(!text.contains("s3cret"), "{text}");
                text.replace(target.to_str().unwrap(), "NAMED")
            })
            .collect(),
    );
}

#[test]
fn a_hang_folder_learns_nothing_of_what_its_links_lead_to() {
    let machine = Machine::new();
    let capture = machine.inside("hang");
    fs::create_dir(&capture).unwrap();
    let waves = fixtures().join("logs/umr-columns.txt");
    let secrets = machine.outside("hide");
    fs::write(&secrets, "name = S3CRETGPU\nGFX s3cret page fault at 0xdeadbeef\n").unwrap();
    let absolute = [secrets, machine.outside("none"), machine.outside("fifo")];
    let relative = ["hide", "none", "fifo"].map(|name| Path::new("../../out").join(name).join("f"));
    let texts = absolute.iter().chain(&relative).map(|target| {
        // Not through the link of the previous iteration.
        let _ = fs::remove_file(capture.join("umr_waves.log"));
        fs::copy(&waves, capture.join("umr_waves.log")).unwrap();
        for name in ["gpu_info.log", "pipeline.log", "app_info.log", "vm_fault.log"] {
            let _ = fs::remove_file(capture.join(name));
            symlink(target, capture.join(name)).unwrap();
        }
        let mut text = printed(&["info", capture.to_str().unwrap(), "--processor", "gfx1030"]);
        text += &printed(&["info", capture.to_str().unwrap()]);
        fs::remove_file(capture.join("umr_waves.log")).unwrap();
        symlink(target, capture.join("umr_waves.log")).unwrap();
        text += &printed(&["info", capture.to_str().unwrap()]);
        assert!(!text.to_lowercase().contains("s3cret") && !text.contains("deadbeef"), "{text}");
        text
    });
    is_alike(texts.collect());
}

/// The agent's saved files are beside the log, and a link there is not followed elsewhere.
#[test]
fn a_log_learns_nothing_of_links_beside_it() {
    let machine = Machine::new();
    let capture = machine.inside("log");
    let log = fs::read_to_string(fixtures().join("logs/agent-plain.log")).unwrap();
    fs::write(&capture, &log).unwrap();
    let line = log.lines().find(|line| line.contains("file://")).unwrap();
    let saved = line[line.find("file://").unwrap()..].trim_end().replace([':', '/', '#', '?', '&', '='], "_");
    let texts = sampled(machine.others(), 2).map(|target| {
        let _ = fs::remove_file(machine.inside(&saved));
        symlink(&target, machine.inside(&saved)).unwrap();
        all_printed(&capture, target.to_str().unwrap(), WHOLE, &machine.inside("slim"))
    });
    is_alike(texts.collect());
}

/// A code object that names files for parts of its debug information: strings of `.gnu_debugaltlink` for the first
/// unit's name, units of `DW_AT_dwo_name` (DWARF 5) and of `DW_AT_GNU_dwo_name`. NAMED is the path.
const LINKS: &str = r#"
.text
.globl f
f: .rept 16
s_nop 0
.endr
s_endpgm
.Lend:
.size f, .Lend-f
.section .debug_abbrev,"",@progbits
.macro form name, form
  .uleb128 \name
  .uleb128 \form
.endm
.byte 1, 0x11, 0 // DW_TAG_compile_unit: DW_AT_name by DW_FORM_GNU_strp_alt
form 0x03, 0x1f21
form 0x11, 0x01
form 0x12, 0x06
.byte 0, 0
.byte 2, 0x4a, 0 // DW_TAG_skeleton_unit: DW_AT_dwo_name, DW_AT_comp_dir
form 0x76, 0x08
form 0x1b, 0x08
form 0x11, 0x01
form 0x12, 0x06
.byte 0, 0
.byte 3, 0x11, 0 // DW_TAG_compile_unit: DW_AT_GNU_dwo_name, DW_AT_GNU_dwo_id
form 0x2130, 0x08
form 0x2131, 0x07
form 0x11, 0x01
form 0x12, 0x06
.byte 0, 0, 0
.section .debug_info,"",@progbits
.long 2f - 1f
1: .short 5
.byte 1, 8 // DW_UT_compile
.long .debug_abbrev
.byte 1
.long 0
.quad f
.long 24
2: .long 2f - 1f
1: .short 5
.byte 4, 8 // DW_UT_skeleton
.long .debug_abbrev
.quad 0x5ec2e7
.byte 2
.asciz "NAMED"
.asciz "/"
.quad f + 24
.long 24
2: .long 2f - 1f
1: .short 4
.long .debug_abbrev
.byte 8, 3
.asciz "NAMED"
.quad 0x5ec2e7
.quad f + 48
.long 20
2:
.section .gnu_debugaltlink,"",@progbits
.asciz "NAMED"
.rept 20
.byte 0x5e
.endr
"#;

/// The file that [`LINKS`] needs: its build id, its strings and the unit of its DWO id.
const LINKED: &str = r#"
.section .note.gnu.build-id,"a",@note
.long 4, 20, 3
.asciz "GNU"
.rept 20
.byte 0x5e
.endr
.section .debug_str,"MS",@progbits,1
.asciz "root:x:0:0:s3cret"
.section .debug_abbrev.dwo,"e",@progbits
.byte 1, 0x11, 0, 0x03, 0x08, 0, 0, 0
.section .debug_info.dwo,"e",@progbits
.long 2f - 1f
1: .short 5
.byte 5, 8 // DW_UT_split_compile
.long 0
.quad 0x5ec2e7
.byte 1
.asciz "root:x:0:0:s3cret"
2:
"#;

fn assembled(source: &str, to: &Path, options: &[&str]) {
    let path = to.with_extension("s");
    fs::write(&path, source).unwrap();
    let mut assembler = Command::new(newest("llvm-mc"));
    ran(assembler.args(options).arg("-filetype=obj").arg("-o").arg(to).arg(path));
}

#[test]
fn a_code_object_learns_nothing_of_the_files_that_it_names() {
    let machine = Machine::new();
    assembled(LINKED, &machine.outside("same"), &["-triple=x86_64-linux-gnu"]);
    let strings = fs::read(machine.outside("same")).unwrap();
    assert!(strings.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
    let capture = machine.inside("dump");
    fs::create_dir(&capture).unwrap();
    let manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n\
        [[code_object]]\nfile = \"code.hsaco\"\naddress = \"0x7f0000100000\"\n";
    let object = capture.join("code.hsaco");
    let (unlinked, same) = (machine.outside("hide"), machine.outside("same"));
    let source = LINKS.replace("NAMED", same.to_str().unwrap());
    assembled(&source, &unlinked, &["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a"]);
    let mut linker = Command::new(newest("ld.lld"));
    ran(linker.arg("-shared").arg("-o").arg(&object).arg(&unlinked));
    // A wave in each unit.
    let listing = ran(Command::new(newest("llvm-nm")).arg(&object));
    let start = listing.lines().find_map(|line| line.strip_suffix(" T f")).unwrap();
    let start = 0x7f00_0010_0000 + u64::from_str_radix(start, 16).unwrap();
    let wave = |(id, at): (u64, u64)| {
        let pc = start + at;
        format!("[[wave]]\nid = {id}\nagent = 1\n[wave.registers]\npc = \"{pc:#x}\"\nexec = \"1\"\n")
    };
    let waves: String = [(1, 4), (2, 28), (3, 52)].map(wave).concat();
    fs::write(capture.join("manifest.toml"), manifest.to_owned() + &waves).unwrap();
    let code = fs::read(&object).unwrap();
    for way in &WAYS[..3] {
        let texts = sampled(machine.others(), way.each).chain([same.clone()]).map(|path| {
            let path = path.to_str().unwrap();
            // All paths have one length.
            let mut renamed = code.clone();
            for at in memchr::memmem::find_iter(&code, same.to_str().unwrap()) {
                renamed[at..at + path.len()].copy_from_slice(path.as_bytes());
            }
            fs::write(&object, renamed).unwrap();
            let text = all_printed(&capture, path, *way, &machine.inside("slim"));
            let text = text + &printed(&["code-object", object.to_str().unwrap()]);
            let text = text + &printed(&[&["backtrace", capture.to_str().unwrap()], way.options].concat());
            text.replace(path, "NAMED")
        });
        assert!(is_alike(texts.collect()).contains("NAMED"));
    }
}
