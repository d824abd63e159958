//! Code objects whose files change while they are served: the server lives, and each answer is the one from before or an error.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::served::{Served, ask, reply};
use crate::support::sample::sampled;

/// Bytes of the code object's file: large enough to be mapped.
const SIZE: usize = 4 << 20;

/// A dump of the fixtures whose code object is `SIZE` bytes long, sections at both ends of the file.
fn dump(folder: &Path, name: &str, size: usize) -> PathBuf {
    let fixtures = crate::fixtures::fixtures();
    let to = folder.join("dump");
    crate::fixtures::copy_dump(name, &to);
    let manifest = fs::read_to_string(to.join("manifest.toml")).unwrap();
    let referred = manifest.split('"').find(|word| word.ends_with(".hsaco")).unwrap();
    fs::write(to.join("manifest.toml"), manifest.replace(referred, "code.hsaco")).unwrap();
    let code = fs::read(fixtures.join("dumps").join(name).join(referred)).unwrap();
    fs::write(to.join("code.hsaco"), stretched(&code, size)).unwrap();
    let then = SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(to.join("code.hsaco")).unwrap().set_modified(then).unwrap();
    to
}

/// The same ELF file with the sections that are not loaded, and the section table, at its new end.
fn stretched(code: &[u8], size: usize) -> Vec<u8> {
    let field = |at: usize, width: usize| {
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(&code[at..at + width]);
        u64::from_le_bytes(bytes) as usize
    };
    let (table, count) = (field(0x28, 8), field(0x3c, 2));
    // The bytes after the last loaded byte of the file move.
    let segments =
        (0..field(0x38, 2)).map(|index| field(0x20, 8) + index * 56).filter(|at| field(*at, 4) == 1);
    let loaded = segments.map(|at| field(at + 8, 8) + field(at + 32, 8)).max().unwrap();
    let by = (size - code.len()) & !0xf;
    let mut out = code[..loaded].to_vec();
    out.resize(loaded + by, 0);
    out.extend(&code[loaded..]);
    out.resize(size, 0);
    out[0x28..0x30].copy_from_slice(&((table + by) as u64).to_le_bytes());
    for index in 0..count {
        let at = table + by + index * 64 + 0x18;
        let offset = u64::from_le_bytes(out[at..at + 8].try_into().unwrap()) as usize;
        if offset >= loaded {
            out[at..at + 8].copy_from_slice(&((offset + by) as u64).to_le_bytes());
        }
    }
    out
}

pub(super) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Questions about code, variables and the view, and about what was captured.
pub(super) fn questions() -> Vec<String> {
    let monitor =
        ["locals", "backtrace", "disassemble", "groups", "objects", "waves", "lanes", "eval DW_OP_lit4"];
    let mut questions: Vec<String> = monitor.iter().map(|line| format!("qRcmd,{}", hex(line))).collect();
    let more = [
        "g",
        "p10",
        "?",
        "qOffsets",
        "qXfer:exec-file:read::0,1000",
        "qXfer:memory-map:read::0,1000",
        "qlanescope.Locals",
        "qlanescope.Frames",
        "qlanescope.Disassemble",
        "qlanescope.CodeObjects",
        "qlanescope.Waves",
        "m7000007f00000000,8",
        "vFile:pread:0,100,0",
        "vFile:pread:0,100,3000",
        "qThreadExtraInfo,1",
        "qC",
        "T1",
        "qXfer:features:read:target.xml:0,1000",
    ];
    questions.extend(more.map(str::to_owned));
    questions
}

/// The reply, after the packets of text before it.
pub(super) fn answer(stream: &mut std::net::TcpStream, body: &str) -> String {
    let mut packets = vec![ask(stream, body).unwrap_or_else(|error| panic!("{body}: {error}"))];
    while packets.last().is_some_and(|packet| packet.starts_with('O') && packet != "OK") {
        packets.push(reply(stream).unwrap());
    }
    packets.join("\n")
}

type Change = fn(&Path);

const CHANGES: [(&str, Change); 7] = [
    ("emptied", |path| File::options().write(true).open(path).unwrap().set_len(0).unwrap()),
    ("cut to a page", |path| File::options().write(true).open(path).unwrap().set_len(4096).unwrap()),
    ("overwritten", |path| {
        let mut file = File::options().write(true).open(path).unwrap();
        file.write_all(&vec![0x41; SIZE]).unwrap();
    }),
    ("halved", |path| File::options().write(true).open(path).unwrap().set_len(SIZE as u64 / 2).unwrap()),
    ("another file in its place", |path| {
        let other = crate::fixtures::fixtures().join("code/saxpy-gfx90a-O0.hsaco");
        fs::write(path, stretched(&fs::read(other).unwrap(), SIZE)).unwrap();
    }),
    ("written at its end", |path| {
        let mut file = File::options().write(true).open(path).unwrap();
        file.seek(SeekFrom::Start(SIZE as u64 - 0x4000)).unwrap();
        file.write_all(&[0x41; 0x4000]).unwrap();
    }),
    ("emptied and written again", |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, b"").unwrap();
        fs::write(path, bytes).unwrap();
    }),
];

/// Asks all questions, changes the code object of a dump, and asks them again.
fn ask_around(size: usize, change: Change, may_refuse: bool, what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = dump(folder.path(), "call-gfx90a-O0", size);
    let refused = refused(&path, &path.join("code.hsaco"), change, &questions(), what);
    assert_eq!(refused > 20, may_refuse, "{what}: {refused} answers are refused");
}

/// Asks all questions, changes a file of the capture, and asks them again, of the same client and of one that comes later:
/// each answer is the one from before, or an error. How many are errors.
pub(super) fn refused(
    capture: &Path,
    file: &Path,
    change: impl FnOnce(&Path),
    questions: &[String],
    what: &str,
) -> usize {
    let served = Served::start(capture, &[]);
    let connected = || {
        let mut stream = served.connect();
        assert!(answer(&mut stream, "qSupported:qRelocInsn+").contains("PacketSize"));
        let open = format!("vFile:open:{},0,0", hex("/lanescope/code.hsaco"));
        let _ = answer(&mut stream, &open);
        stream
    };
    let mut stream = connected();
    let before: Vec<String> = questions.iter().map(|question| answer(&mut stream, question)).collect();
    let locals = before[0].as_str();
    assert!(locals.len() > 100 && !locals.starts_with('E'), "the capture has variables: {locals}");
    change(file);
    let mut refused = 0;
    for mut stream in [stream, connected()] {
        for (question, before) in questions.iter().zip(&before) {
            let after = answer(&mut stream, question);
            // vFile has an error of its own form.
            let is_error = after.starts_with('E') || after.starts_with("F-1");
            refused += usize::from(is_error && after != *before);
            assert!(is_error || after == *before, "{what}, {question}:\n{before}\n{after}");
        }
    }
    served.end();
    refused
}

#[test]
fn a_mapped_code_object_that_changes_costs_answers_and_not_the_server() {
    // With a sample: one of the cuts, and one of the writes.
    for (what, change) in sampled(CHANGES, 2) {
        ask_around(SIZE, change, true, what);
    }
}

#[test]
fn a_small_code_object_is_a_copy_that_nothing_changes() {
    for (what, change) in sampled(CHANGES, 3) {
        ask_around(256 << 10, change, false, what);
    }
}

#[test]
fn a_mapped_code_object_may_be_replaced() {
    let replace: Change = |path| {
        let other = path.with_extension("new");
        fs::write(&other, b"another file").unwrap();
        fs::rename(&other, path).unwrap();
    };
    ask_around(SIZE, replace, false, "replaced");
    ask_around(SIZE, |path| fs::remove_file(path).unwrap(), false, "removed");
}
