//! Hostile names in all output: every command, every monitor command, every packet of our own, the view's file and the
//! dump of `slim`. No output has a terminal control or an invisible character.

use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;

use gimli::{EndianSlice, LittleEndian};
use lanescope::codeobject::CodeObject;
use lanescope::questions::{Parameter, QUESTIONS, Words};
use lanescope::server::{Client, ClientOptions, Facade};
use lanescope::session::Session;
use lanescope::view::{Extent, View, Views};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use serde_json::Value;

use crate::fixtures::{copy_dump, fixtures, open, without_debuggers};
use crate::server::framed;
use crate::support::{root, sample::sampled};
use crate::view::ask;

const NAME: &str = "call-gfx90a-O0";

/// Characters of hostile names: colours, a title, CR, LF with a forged line, BEL, C1's CSI, bidirectional controls,
/// zero-width characters.
const UNITS: [&str; 12] = [
    "\x1b[31m",
    "\x1b]0;t\x07",
    "\r",
    "\n#!",
    "\x07",
    "\u{9b}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\x1b",
    "\x08",
];

/// A hostile name of the same length, the same for equal names: its first byte, then hostile characters.
fn hostile(name: &[u8]) -> Vec<u8> {
    let (stem, suffix) = match name.strip_suffix(b".kd") {
        Some(stem) => (stem, &b".kd"[..]),
        None => (name, &b""[..]),
    };
    let mut made = stem[..usize::from(stem.len() > 1)].to_vec();
    let mut at = stem.iter().map(|byte| usize::from(*byte)).sum::<usize>();
    while made.len() < stem.len() {
        let unit = UNITS[at % UNITS.len()].as_bytes();
        at += 1;
        if made.len() + unit.len() <= stem.len() {
            made.extend(unit);
        }
    }
    made.extend(suffix);
    made
}

/// A code object with hostile strings in debug information, symbol tables and metadata. `hostile`: a name of the same
/// length.
pub(crate) fn hostile_code(mut bytes: Vec<u8>, hostile: &dyn Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let object = CodeObject::parse(bytes.clone()).unwrap();
    let mut words: Vec<Vec<u8>> = Vec::new();
    for name in [".debug_str", ".debug_line_str", ".strtab", ".dynstr"] {
        let Some(section) = object.section(name) else { continue };
        let mut at = section.offset as usize;
        let end = at + section.size as usize;
        while at < end {
            let length = bytes[at..end].iter().position(|byte| *byte == 0).unwrap_or(end - at);
            let word = bytes[at..at + length].to_vec();
            // The augmentation determines a unit's dialect.
            if !word.is_empty() && word[0] != b'[' {
                bytes[at..at + length].copy_from_slice(&hostile(&word));
                words.push(word);
            }
            at += length + 1;
        }
    }
    // MessagePack: a string shorter than 32 bytes follows a byte with its length.
    let note = object.section(".note").unwrap();
    let range = note.offset as usize..(note.offset + note.size) as usize;
    let mut changed = 0;
    for word in words.iter().filter(|word| word.len() < 32) {
        let mut old = vec![0xa0 | word.len() as u8];
        old.extend(word);
        let mut at = range.start;
        while let Some(found) = bytes[at..range.end].windows(old.len()).position(|window| window == old) {
            at += found + 1;
            bytes[at..at + word.len()].copy_from_slice(&hostile(word));
            changed += 1;
        }
    }
    assert!(changed >= 2, "the metadata name the kernel and its arguments: {changed}");
    bytes
}

/// A temporary folder with the hostile dump.
struct Hostile(tempfile::TempDir);

impl Hostile {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dump = folder.path().join("d\x1b[31m\u{202e}");
        copy_dump(NAME, &dump);
        let code = dump.join(format!("{NAME}.hsaco"));
        fs::write(&code, hostile_code(fs::read(&code).unwrap(), &hostile)).unwrap();
        // TOML escapes of the same characters.
        let all: String = UNITS.concat().chars().map(|char| format!("\\U{:08X}", u32::from(char))).collect();
        let manifest = dump.join("manifest.toml");
        let mut changed = 0;
        let lines = fs::read_to_string(&manifest).unwrap();
        let lines = lines.lines().map(|line| {
            let is_name = ["note", "producer", "kernel", "uri", "name"]
                .iter()
                .any(|key| line.starts_with(&format!("{key} = \"")));
            changed += usize::from(is_name);
            match line.strip_suffix('"').filter(|_| is_name) {
                Some(line) => format!("{line}{all}\""),
                None if line == "[[code_object]]" => format!(
                    "{line}\nname = \"k{all}\"\norigin = \"o{all}\"\n\"x{all}\" = 1\n\"bad{all}\" = 1"
                ),
                None => line.to_owned(),
            }
        });
        let text: Vec<String> = lines.collect();
        assert!(changed > 5, "{changed}");
        fs::write(manifest, text.join("\n")).unwrap();
        Self(folder)
    }

    fn dump(&self) -> PathBuf {
        self.0.path().join("d\x1b[31m\u{202e}")
    }

    fn code(&self) -> PathBuf {
        self.dump().join(format!("{NAME}.hsaco"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Fails for a terminal control, an invisible character, a no-break space, or a forged line.
fn check(what: &str, text: &str) {
    // No name of the dump has one: `grep` finds no words across it.
    assert!(
        !text.contains(['\u{a0}', '\u{202f}']) && !text.contains("&nbsp;"),
        "{what}: a no-break space: {text}"
    );
    // By Unicode's data (categories Cc, Cf, Zl, Zp), independent of the code under test.
    let bad = text.char_indices().find(|(_, char)| {
        char.is_control() && *char != '\n'
            || matches!(*char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}')
    });
    if let Some((at, char)) = bad {
        let near: String =
            text.chars().skip(text[..at].chars().count().saturating_sub(60)).take(120).collect();
        panic!("{what}: {char:?} at {at}: {near:?}");
    }
    assert!(!text.lines().any(|line| line.trim_start().starts_with("#!")), "{what}: a forged line: {text}");
}

/// The strings of a JSON document, unescaped.
fn check_json(what: &str, value: &Value) {
    match value {
        Value::String(text) => {
            check(what, text);
            assert!(!text.contains('\n'), "{what}: {text:?}");
        }
        Value::Array(list) => list.iter().for_each(|value| check_json(what, value)),
        Value::Object(pairs) => pairs.iter().for_each(|(key, value)| {
            check(what, key);
            check_json(what, value);
        }),
        _ => {}
    }
}

fn run(arguments: &[&str]) -> Output {
    let mut command = crate::support::lanescope();
    without_debuggers(&mut command, arguments[0]).args(arguments).env("RUST_LOG", "debug").output().unwrap()
}

/// Runs a command; returns output and errors as one text.
fn checked(arguments: &[&str]) -> String {
    let what = arguments.join(" ").escape_debug().to_string();
    let output = run(arguments);
    let (out, err) =
        (String::from_utf8(output.stdout).expect(&what), String::from_utf8(output.stderr).expect(&what));
    check(&what, &out);
    check(&what, &err);
    if let Ok(json) = serde_json::from_str::<Value>(&out) {
        check_json(&what, &json);
    }
    out + &err
}

/// Printed names of the variables of the dump's first wave.
fn variables(dump: &str) -> Vec<String> {
    let text = String::from_utf8(run(&["locals", dump, "--json"]).stdout).unwrap();
    let locals: Value = serde_json::from_str(&text).unwrap();
    let variables = locals["variables"].as_array().unwrap_or_else(|| panic!("{locals}"));
    variables.iter().map(|variable| variable["name"].as_str().unwrap().to_owned()).collect()
}

/// Whether a command is a question whose command line needs no argument beside the dump.
fn needs_only_a_dump(command: &str) -> bool {
    let is_needed = |one: &Parameter| match one.words {
        Words::Rest => true,
        // Only parameters of the command line alone are needed there.
        Words::Absent => one.is_needed && !one.is_key,
        Words::Bare | Words::Named | Words::Dashed | Words::Slash => false,
    };
    let question = QUESTIONS.iter().find(|question| question.name == command);
    question.is_some_and(|question| !question.parameters.iter().any(is_needed))
}

/// The commands of the help.
pub(crate) fn commands() -> Vec<String> {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    let listed = help.split_once("Commands:").unwrap().1.split_once("Options:").unwrap().0;
    let commands = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    commands.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// Inputs of the commands.
pub(crate) struct Inputs<'i> {
    pub(crate) dump: &'i str,
    /// A code object of the dump.
    pub(crate) code: &'i str,
    /// The dump to compare with.
    pub(crate) other: &'i str,
    /// Names for what the commands write.
    pub(crate) small: &'i str,
    pub(crate) view: &'i str,
    pub(crate) reports: &'i str,
    /// Expectations.
    pub(crate) scope: &'i str,
    /// Names of variables.
    pub(crate) names: &'i [String],
}

impl<'i> Inputs<'i> {
    /// Arguments of a command, each with whether the output must have names of the dump.
    pub(crate) fn of(&self, command: &str) -> Vec<(Vec<&'i str>, bool)> {
        let &Self { dump, code, other, small, view, reports, scope, names } = self;
        match command {
            // Its output goes to clients.
            "serve" => vec![(vec!["--tcp", "nonsense", dump], false)],
            "info" | "export" | "locals" | "backtrace" | "groups" | "arguments" => vec![(vec![dump], true)],
            "memory" => vec![(vec![dump, "--at", "0x7f0000100000", "-n", "16"], false)],
            "code-object" => vec![(vec![code], true)],
            "dwarf" => vec![(vec![code], true), (vec![dump], true)],
            "print" | "explain" => {
                let some = sampled(names, 3);
                let mut rows: Vec<_> = some.map(|name| (vec![dump, name.as_str()], false)).collect();
                rows.push((vec![dump, "\x1b[31mnothing\u{202e}"], false));
                rows
            }
            "eval" => vec![(vec![dump, "DW_OP_regx VGPR0"], false), (vec![dump, "DW_OP_\x1b[31m"], false)],
            "report" => {
                ["text", "html", "markdown", "json"].map(|form| (vec![dump, "--format", form], true)).to_vec()
            }
            "check" => vec![(vec![scope, "--report", reports], true)],
            "signature" => vec![(vec![dump], true), (vec![dump, "--jsonl"], true)],
            "bucket" => vec![(vec![dump], false)],
            "diff" => vec![(vec![dump, other], true)],
            "slim" => vec![(vec![dump, "-o", small, "--all-waves"], false)],
            "view" => vec![(vec![dump, "-o", view], false)],
            "targets" | "help" | "demo" | "doctor" => vec![(vec![], false)],
            "capture" => vec![(vec!["--dir", small, "/nowhere/\x1b[31mapp"], false)],
            "completions" => vec![(vec!["bash"], false)],
            "man" => vec![(vec![view], false)],
            question if needs_only_a_dump(question) => vec![(vec![dump], false)],
            unknown => panic!("no arguments for the command {unknown}: add its row here"),
        }
    }
}

#[test]
fn every_command_prints_clean_names() {
    let hostile = Hostile::new();
    let (dump, code) = (hostile.dump(), hostile.code());
    let (dump, code) = (dump.to_str().unwrap(), code.to_str().unwrap());
    let sound = fixtures().join("dumps").join(NAME);
    let (slim, view) = (hostile.path("slim"), hostile.path("view"));
    let names = variables(dump);
    assert!(names.iter().any(|name| name.contains("\\u{")), "{names:?}");
    // A pattern chooses the dump: no line can have its name.
    let (scope, reports) = (hostile.path("crash.scope"), hostile.path("reports"));
    let lines = ["dump d*", "fault none", "at saxpy", "wave every", "  lane all unknown == 1"];
    let hostile_lines = format!("  lane 0 x == \"{}\"  # {}\n", "\x1b[31m\u{202e}", "\u{9b}\u{200b}");
    fs::write(&scope, format!("{}\n{hostile_lines}", lines.join("\n"))).unwrap();
    let inputs = Inputs {
        dump,
        code,
        other: sound.to_str().unwrap(),
        small: slim.to_str().unwrap(),
        view: view.to_str().unwrap(),
        scope: scope.to_str().unwrap(),
        reports: reports.to_str().unwrap(),
        names: &names,
    };
    let scope = inputs.scope;
    let commands = commands();
    for command in &commands {
        for (arguments, has_names) in inputs.of(command) {
            let text = checked(&[&[command.as_str()], &arguments[..]].concat());
            assert!(
                !has_names || text.contains("\\u{1b}") || text.contains("\\u{202e}"),
                "{command}: {text}"
            );
            // A command without JSON rejects the option, in clean text.
            checked(&[&[command.as_str()], &arguments[..], &["--json"]].concat());
        }
    }
    assert!(commands.len() > 20, "{commands:?}");
    for all in [["locals", "-l", "all", "--json"], ["backtrace", "-l", "all", "--json"]] {
        checked(&[&all[..], &[dump]].concat());
    }
    let forms = ["github", "gitlab", "junit", "tap", "json"].map(|form| (form, hostile.path(form)));
    let outputs = forms.each_ref().map(|(form, path)| format!("--format={form}={}", path.display()));
    checked(&[&["check", scope][..], &outputs.each_ref().map(String::as_str)].concat());
    for (form, path) in forms {
        let text = fs::read_to_string(path).unwrap();
        check(form, &text);
        if ["gitlab", "json"].contains(&form) {
            check_json(form, &serde_json::from_str(&text).expect(form));
        }
    }
    // A missing file, and a file that is not a dump.
    checked(&["info", "/nowhere/\x1b[31m\u{202e}"]);
    checked(&["info", code]);
    // A dump of slim keeps its names.
    for file in fs::read_dir(&slim).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "json" || extension == "toml") {
            let text = fs::read_to_string(&file).unwrap();
            check("slim's manifest", &text);
            assert!(
                !text.contains("\\u00") && !text.contains("\\u202") && text.contains("\\\\u{1b}"),
                "{text}"
            );
        }
    }
}

#[test]
fn logs_of_other_programs_print_clean_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for entry in fs::read_dir(fixtures().join("logs")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let all = UNITS.concat().replace('\n', "");
        let text = text
            .replace("code object: ", &format!("code object: file:///{all}"))
            .replace("kernel_code_entry=", &format!("kernel_code_entry={all}"))
            .replace("Memory access fault", &format!("Memory access fault {all}"));
        let to = folder.path().join(path.file_name().unwrap());
        fs::write(&to, text).unwrap();
        for command in ["info", "export", "waves", "backtrace"] {
            checked(&[command, to.to_str().unwrap()]);
        }
        count += 1;
    }
    assert!(count > 0);
}

/// Every text of a reply: console packets are hex.
fn texts(out: &[u8]) -> Vec<String> {
    let (mut texts, mut console) = (Vec::new(), Vec::new());
    for packet in out.split(|byte| *byte == b'$').skip(1) {
        let body = packet.rsplitn(2, |byte| *byte == b'#').last().unwrap();
        // `}` escapes a byte of binary data.
        let mut plain = Vec::new();
        let mut bytes = body.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'}' => plain.extend(bytes.next().map(|byte| byte ^ 0x20)),
                byte => plain.push(*byte),
            }
        }
        let hex = plain.strip_prefix(b"O").unwrap_or(&plain);
        let pairs: Option<Vec<u8>> = (hex.len() % 2 == 0).then(|| hex.chunks(2)).and_then(|pairs| {
            pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
        });
        // A long text has several packets.
        match pairs {
            Some(pairs) if plain.starts_with(b"O") => console.extend(pairs),
            pairs => {
                texts.push(String::from_utf8_lossy(&plain).into_owned());
                texts.extend(pairs.and_then(|pairs| String::from_utf8(pairs).ok()));
            }
        }
    }
    texts.push(String::from_utf8(console).unwrap());
    texts
}

pub(crate) fn send(client: &mut Client, body: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    let _ = client.feed(&[b"+", framed(body).as_slice()].concat(), &mut out);
    texts(&out)
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_monitor_command_and_packet_answers_clean_names() {
    let hostile = Hostile::new();
    let names = variables(hostile.dump().to_str().unwrap());
    let manual = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let mentioned = |prefix: &str| -> Vec<String> {
        let rest = manual.split(prefix).skip(1);
        let names = rest.map(|rest| {
            rest.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '-').collect::<String>()
        });
        names.filter(|name| !name.is_empty()).collect()
    };
    for facade in [Facade::Gdb, Facade::Lldb] {
        let dump = open(&hostile.dump());
        let session = || Session::new(Arc::clone(&dump), None).unwrap();
        let views = Some(Arc::new(Views::new(Arc::clone(&dump), session(), Extent::Stacks)));
        let options = ClientOptions { facade: Some(facade), views, threads: None };
        let mut client = Client::new(Box::new(session()), options);
        let mut seen = 0;
        let mut check_all = |what: &str, texts: Vec<String>| {
            for text in texts {
                check(what, &text);
                seen += usize::from(text.contains("\\u{"));
            }
        };
        check_all(
            "qSupported",
            send(&mut client, b"qSupported:xmlRegisters=i386;swbreak+;qXfer:libraries:read+"),
        );
        check_all("?", send(&mut client, b"?"));
        let help = send(&mut client, format!("qRcmd,{}", hex("help")).as_bytes()).concat();
        let commands: Vec<String> = help
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| name.chars().all(|char| char.is_ascii_lowercase()))
            .map(str::to_owned)
            .collect();
        assert!(commands.len() > 15 && commands.contains(&"notices".to_owned()), "{help}");
        for command in &commands {
            let mut lines = vec![
                command.clone(),
                format!("{command} all"),
                format!("{command} \x1b[31m\u{202e}\u{200b}"),
            ];
            lines.extend(names.iter().map(|name| format!("{command} {name}")));
            lines.extend(names.iter().map(|name| format!("{command} {name} = 1")));
            for line in lines {
                check_all(&line, send(&mut client, format!("qRcmd,{}", hex(&line)).as_bytes()));
            }
        }
        let packets = mentioned("qlanescope.");
        assert!(packets.len() > 10, "{packets:?}");
        for packet in packets {
            for arguments in [
                "".to_owned(),
                ":thread:1;".to_owned(),
                ":thread:1;lane:all;".to_owned(),
                format!(":path:{};", hex(&names[0])),
                format!(":expression:{};", hex("DW_OP_\x1b")),
            ] {
                check_all(&packet, send(&mut client, format!("qlanescope.{packet}{arguments}").as_bytes()));
            }
        }
        let objects = mentioned("qXfer:");
        assert!(objects.len() > 5, "{objects:?}");
        for object in objects {
            for annex in ["", "target.xml", "1", "1.all"] {
                check_all(
                    &object,
                    send(&mut client, format!("qXfer:{object}:read:{annex}:0,3000").as_bytes()),
                );
            }
        }
        for packet in [
            "jThreadsInfo",
            "qHostInfo",
            "qProcessInfo",
            "qfThreadInfo",
            "qThreadExtraInfo,1",
            "jGetLoadedDynamicLibrariesInfos:{\"fetch_all_solibs\":true}]",
            "qMemoryRegionInfo:7f0000100000",
            "qModuleInfo:61;62",
            "qRegisterInfo0",
        ] {
            check_all(packet, send(&mut client, packet.as_bytes()));
        }
        assert!(seen > 20, "names are seen {seen} times");
    }
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The debugger's file, read by gimli and object instead of lanescope.
#[test]
fn the_views_names_are_clean() {
    let hostile = Hostile::new();
    let dump = open(&hostile.dump());
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let view = View::new(&dump, &session, Extent::Stacks);
    view.problems().iter().for_each(|problem| check("a view's problem", problem));
    assert!(!view.objects().is_empty());
    for object in view.objects() {
        check("a view's name", &object.name);
        let path = hostile.path("written");
        object.file.write_to(&mut fs::File::create(&path).unwrap()).unwrap();
        let bytes = fs::read(&path).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let mut escaped = 0;
        let mut name = |what: &str, bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).unwrap();
            check(what, text);
            assert!(!text.contains('\n'), "{what}: {text:?}");
            escaped += usize::from(text.contains("\\u{"));
        };
        file.symbols().for_each(|symbol| name("a symbol", symbol.name_bytes().unwrap()));
        file.sections().for_each(|section| name("a section", section.name_bytes().unwrap()));
        let load = |id: gimli::SectionId| -> Result<Slice<'_>, gimli::Error> {
            let data = file.section_by_name(id.name()).map(|section| section.data().unwrap());
            Ok(EndianSlice::new(data.unwrap_or_default(), LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(load).unwrap();
        let mut units = dwarf.units();
        while let Some(header) = units.next().unwrap() {
            let unit = dwarf.unit(header).unwrap();
            let mut entries = unit.entries();
            while let Some(entry) = entries.next_dfs().unwrap() {
                for attribute in entry.attrs() {
                    if let Ok(text) = dwarf.attr_string(&unit, attribute.value()) {
                        name("an attribute", text.slice());
                    }
                }
            }
            let Some(program) = unit.line_program.as_ref() else { continue };
            let header = program.header();
            let folders = header.include_directories().iter().cloned();
            for value in header.file_names().iter().map(|file| file.path_name()).chain(folders) {
                name("a file of a line table", dwarf.attr_string(&unit, value).unwrap().slice());
            }
        }
        assert!(escaped > 10, "{escaped} names of the view were hostile");
    }
}

/// The error of an unknown packet is clean text, too.
#[test]
fn names_of_clients_reach_no_terminal() {
    let dump = open(&fixtures().join("dumps").join(NAME));
    let mut client = Client::new(Box::new(Session::new(dump, None).unwrap()), ClientOptions::default());
    for packet in [
        &b"qRcmd,1b5b33316d"[..],
        b"qlanescope.Print:path:1b5b33316d;",
        b"qlanescope.\x1b[31m",
        b"vMustReplyEmpty\x07",
    ] {
        let reply = ask(&mut client, packet);
        texts(&[b"$", &reply[..], b"#00"].concat()).iter().for_each(|text| check("a reply", text));
    }
}

/// Files that turn foreign bytes into text without cleaning: number of places, and the reason why the text is clean.
const ELSEWHERE: &[(&str, usize, &str)] = &[
    ("cli/capture/cores.rs", 1, "compared, never printed"),
    ("cli/capture/folder.rs", 1, "plain letters of it are kept"),
    ("cli/doctor/programs.rs", 1, "output of a program, cleaned by clean_lines"),
    ("server/packets/vendor.rs", 1, "words of a client, cleaned by Fault::new"),
    ("server/packets/xfer.rs", 1, "words of a client, cleaned by Fault::new"),
    ("server/packets/features.rs", 1, "gdbstub's reply"),
    ("server/packets/monitor.rs", 1, "words of a client, cleaned with the answer"),
    ("server/packets/questions.rs", 1, "words of a client, cleaned by PacketError::new"),
    ("server/packets/focus.rs", 1, "words of a client, cleaned by Fault::new"),
    ("server/packets/libraries.rs", 1, "the name of a file of ours"),
    ("disassembler/tools.rs", 2, "names of tools of the user"),
    ("disassembler/run.rs", 1, "what a tool of the user prints of bytes"),
    ("codeobject/uri.rs", 1, "a part of a text"),
    ("debuginfo/format/fixed.rs", 1, "digits"),
    ("session/objects/source.rs", 1, "a part of a text"),
    ("cli/questions.rs", 1, "an argument of the user"),
    ("import/dump/mod.rs", 2, "the file that the user names, and a count of characters"),
    ("import/dump/manifest_reader.rs", 1, "names in a zip, compared"),
    ("import/umr/line.rs", 1, "digits and letters that were matched"),
    ("import/umr/radv.rs", 1, "letters that were matched"),
    ("view/dwarf/lines.rs", 1, "looked through for what is unclean"),
    ("view/dwarf/sources.rs", 1, "names that `lines` has looked through"),
    ("view/sources.rs", 1, "source text, cleaned by clean_text"),
    ("cli/serve.rs", 1, "the address of a server that this program started"),
    ("cli/sources.rs", 1, "an argument of the user"),
    ("capture/model.rs", 1, "a source line, cleaned after its tabs"),
    ("cli/check/plan.rs", 1, "lines of a file, cleaned with their columns"),
    ("cli/check/formats/mod.rs", 1, "text of this program"),
    ("cli/runner.rs", 1, "text of this program"),
    ("check/snippet.rs", 1, "a line of a file, whose controls the renderer replaces"),
];

/// A new place where bytes become text is cleaned there, or is listed above.
#[test]
fn foreign_bytes_become_text_through_one_function() {
    let source = root().join("src");
    let mut folders = vec![source.clone(), root().join("evaluator/src"), root().join("crates/isa/src")];
    let mut wrong = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(&source).or_else(|_| path.strip_prefix(root())).unwrap();
            let name = name.display().to_string();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if name.contains("tests") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let lossy = |line: &&str| line.contains("from_utf8_lossy(") || line.contains("to_string_lossy()");
            let count = text.lines().filter(lossy).filter(|line| !line.contains("clean(")).count();
            let known = ELSEWHERE.iter().find(|(known, ..)| *known == name).map_or(0, |(_, count, _)| *count);
            if count != known {
                wrong.push(format!("{name}: {count}, expected {known}"));
            }
        }
    }
    assert!(wrong.is_empty(), "clean them, or say why not: {wrong:#?}");
}
