//! Instruction listings for every wave of every fixture, against llvm-objdump of the code object's file and the models.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use lanescope::session::{
    Code as _, Disassembly, DumpFacts as _, Instructions, LaneState, ListedInstruction, MAX_LISTED_BYTES,
    MemoryAddress, Session, Waves as _, WhatIf as _,
};
use lanescope::units::{Address, AddressSpace, LaneId, WaveId};
use serde_json::Value;

use crate::fixtures::{each_wave, fixtures, one_line, open, session, some_expected};
use crate::support::sample::is_long;
use crate::support::{least, newest};

/// Dumps whose code is that of another dump, or that of the same source for another GPU of those that are compared.
const TWINS: [&str; 7] = [
    "absent-gfx1100",
    "calls-gfx1100-eh",
    "calls-gfx90a-eh",
    "lds-gfx1100-O0-json",
    "pointers-gfx1100-O0",
    "regions-gfx1100",
    "user-ops-gfx1100",
];

/// An instruction from llvm-objdump of a file: text, branch target, and file name and line of the debug information.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    text: String,
    target: Option<u64>,
    place: Option<(String, u64)>,
}

/// Instructions of a code object by ELF address, and its functions: name, first address, end address.
type Listing = (BTreeMap<u64, Told>, Vec<(String, u64, u64)>);

/// Listings by file, and whether its waves have 64 lanes where the file itself does not decide it.
type Listings = HashMap<(PathBuf, bool), Listing>;

fn key(file: &Path, wave_size: u64) -> (PathBuf, bool) {
    (file.canonicalize().unwrap(), wave_size == 64 && file.to_string_lossy().contains("w64"))
}

/// A tool lists all files in one start.
fn listings(files: &BTreeSet<(PathBuf, bool)>) -> Listings {
    let run = |tool: &str, arguments: &[&str], files: &[&PathBuf], heading: &str| -> Vec<String> {
        let output = Command::new(newest(tool)).args(arguments).args(files).output().unwrap();
        assert!(output.status.success(), "{tool} of {files:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let parts: Vec<String> = text.split(heading).skip(1).map(str::to_owned).collect();
        assert_eq!(parts.len(), files.len(), "{tool}");
        parts
    };
    let all: Vec<&PathBuf> = files.iter().map(|(file, _)| file).collect();
    let symbols = run("llvm-readelf", &["--symbols", "--demangle", "--wide"], &all, "\nFile: ");
    let files = files.iter().cloned().zip(symbols);
    let mut known: Listings =
        files.map(|(key, symbols)| (key, (BTreeMap::new(), functions(&symbols)))).collect();
    // llvm-objdump takes the processor of its first file (`e_flags`) for all.
    let mut groups: BTreeMap<_, Vec<PathBuf>> = BTreeMap::new();
    for (file, is_wave64) in known.keys() {
        let flags = std::fs::read(file).unwrap()[0x30..0x34].to_vec();
        groups.entry((flags, *is_wave64)).or_default().push(file.clone());
    }
    for ((_, is_wave64), files) in groups {
        let size = if is_wave64 { &["--mattr=+wavefrontsize64"][..] } else { &[] };
        let arguments = [&["-d", "-z", "-l", "-j", ".text"][..], size].concat();
        let parts = run("llvm-objdump", &arguments, &files.iter().collect::<Vec<_>>(), "\tfile format ");
        for (file, part) in files.into_iter().zip(parts) {
            known.get_mut(&(file, is_wave64)).unwrap().0 = instructions(&part);
        }
    }
    known
}

fn functions(symbols: &str) -> Vec<(String, u64, u64)> {
    let mut functions: Vec<_> = symbols
        .lines()
        .filter_map(|line| {
            let mut cells = line.split_whitespace().skip(1);
            let (address, size, kind) = (cells.next()?, cells.next()?, cells.next()?);
            let name = cells.skip(3).collect::<Vec<_>>().join(" ");
            let (address, size) = (u64::from_str_radix(address, 16).ok()?, size.parse::<u64>().ok()?);
            (kind == "FUNC").then(|| (name, address, address + size))
        })
        .collect();
    functions.sort_by_key(|function| function.1);
    functions.dedup();
    functions
}

fn instructions(text: &str) -> BTreeMap<u64, Told> {
    let starts: HashMap<&str, u64> = text
        .lines()
        .filter_map(|line| line.strip_suffix(">:")?.split_once(" <"))
        .map(|(address, name)| (name, u64::from_str_radix(address, 16).unwrap()))
        .collect();
    let (mut listing, mut place) = (BTreeMap::new(), None);
    for line in text.lines() {
        if let Some((path, number)) = line.strip_prefix("; ").and_then(|line| line.rsplit_once(':')) {
            let name = path.rsplit('/').next().unwrap().to_owned();
            place = number.parse().ok().map(|number| (name, number)).or(place);
        }
        let Some((text, comment)) = line.strip_prefix('\t').and_then(|line| line.rsplit_once("//")) else {
            continue;
        };
        let (address, rest) = comment.trim().split_once(':').unwrap();
        let target = rest.split_once('<').map(|(_, target)| {
            let target = target.strip_suffix('>').unwrap();
            let (symbol, offset) = target.split_once("+0x").unwrap_or((target, "0"));
            starts[symbol] + u64::from_str_radix(offset, 16).unwrap()
        });
        let address = u64::from_str_radix(address, 16).unwrap();
        listing.insert(address, Told { text: text.trim().to_owned(), target, place: place.clone() });
    }
    listing
}

/// The dump's code object at an address: load address and file.
fn object(session: &Session, folder: &Path, pc: u64) -> Option<(u64, PathBuf)> {
    let objects = session.code_objects();
    let holds = |start: u64, size: u64| start <= pc && pc - start < size;
    let found = objects.into_iter().find(|one| one.size.is_some_and(|size| holds(one.address.0, size)))?;
    let file = folder.join(&found.name);
    file.is_file().then_some((found.address.0, file))
}

fn differs(one: &ListedInstruction, load: u64, told: &Told) -> bool {
    let target = one.target.as_ref().map(|(address, _)| address.0.wrapping_sub(load));
    let place = one.line.map(|line| {
        let file = one.file.as_deref().unwrap_or_default();
        (file.rsplit('/').next().unwrap().to_owned(), line)
    });
    one.code.text() != told.text || target != told.target || place.is_some() && place != told.place
}

/// Lanes that stand at an instruction: active ones, waiting ones, and those that are not at the wave's PC.
#[derive(Debug, Default)]
struct Standing {
    active: usize,
    waiting: usize,
    elsewhere: usize,
}

/// Each lane is at the model's position; without `DW_AT_LLVM_lane_pc` the active ones are at the PC.
fn lanes_stand(session: &Session, id: WaveId, got: &Disassembly, expected: &Value, counts: &mut Standing) {
    let (Some(pc), Some(exec)) = (expected["pc"].as_str(), expected["exec"].as_str()) else { return };
    let exec = u64::from_str_radix(&exec[2..], 16).unwrap();
    let states = expected["lane_states"].as_array();
    if states.is_none() && (expected["lane_stacks"].is_array() || expected["lane_pc"].is_array()) {
        return;
    }
    // The attributes of a draft's fixture identify it; this model does not list them.
    if states.is_none() && expected["file"] == "draft_ops.hip" {
        return;
    }
    let all = session.lanes(id).unwrap();
    for one in &got.instructions {
        let here = one.address.to_string();
        for lane in session.kind().wave_size.all().iter() {
            let (stands, active) = match states {
                Some(states) => {
                    let state = &states[usize::from(lane.0)];
                    (state[1] == here.as_str(), state[0] == "active")
                }
                None => {
                    let is_used = all[usize::from(lane.0)].state != Some(LaneState::Unused);
                    (exec >> lane.0 & 1 == 1 && here == pc && is_used, true)
                }
            };
            let found = (one.lanes.contains(lane), one.active.is_some_and(|active| active.contains(lane)));
            assert_eq!(found, (stands, stands && active), "wave {} lane {lane} at {here}", expected["id"]);
            counts.active += usize::from(stands && active);
            counts.waiting += usize::from(stands && !active);
            counts.elsewhere += usize::from(stands && here != pc);
        }
    }
}

/// Text, targets, lines, bounds and lanes of the innermost frame's function of every wave.
#[test]
fn functions_are_as_llvm_objdump_lists_them() {
    let mut asked = Vec::new();
    for (name, path, expected) in some_expected().filter(|(name, ..)| is_long() || !TWINS.contains(&&**name))
    {
        let dump = open(&path);
        let folder = if path.is_dir() { path.clone() } else { path.parent().unwrap().to_owned() };
        for wave in expected["waves"].as_array().unwrap() {
            let (session, id) = session(&dump, wave["id"].as_u64().unwrap());
            let pc = session.wave(id).unwrap().pc;
            let object = pc.and_then(|pc| Some((pc.0, object(&session, &folder, pc.0)?)));
            let object =
                object.map(|(pc, (load, file))| (pc, load, key(&file, wave["wave_size"].as_u64().unwrap())));
            asked.push((name.clone(), wave.clone(), session, id, object));
        }
    }
    let files = asked.iter().filter_map(|(.., object)| Some(object.as_ref()?.2.clone())).collect();
    let known = listings(&files);
    let (mut seen, mut lines, mut standing) = (0, 0, Standing::default());
    for (name, wave, session, id, object) in asked {
        let got = session.disassemble(id, &Instructions::default());
        if let Ok(got) = &got {
            lanes_stand(&session, id, got, &wave, &mut standing);
        }
        let Some((pc, load, key)) = object else { continue };
        let (listing, functions) = &known[&key];
        let holds = |function: &&(String, u64, u64)| function.1 <= pc - load && pc - load < function.2;
        let (function, start, end) = functions.iter().find(holds).unwrap();
        let got = got.unwrap();
        let bounds = got.function.as_ref().unwrap();
        assert_eq!(
            (&*bounds.name, bounds.start - load, bounds.end - load),
            (&**function, *start, *end),
            "{name}"
        );
        let expected: Vec<_> = listing.range(start..end).collect();
        assert_eq!(got.instructions.len(), expected.len(), "{name}");
        for (one, (address, told)) in got.instructions.iter().zip(expected) {
            assert_eq!(one.address.0 - load, *address, "{name}");
            assert!(!differs(one, load, told), "{name}: {one:?}, expected {told:?}");
            assert_eq!(one.is_pc, one.address.0 == pc);
            let symbol = one.symbol.as_ref().unwrap();
            assert_eq!((&*symbol.function, symbol.offset), (&**function, address - start));
            lines += usize::from(one.line.is_some());
        }
        assert!(got.problems.is_empty(), "{name}: {:?}", got.problems);
        seen += 1;
    }
    assert!(seen > least(100, 50) && lines > least(1000, 500), "{seen} waves, {lines} lines");
    let Standing { active, waiting, elsewhere } = standing;
    assert!(active > 1000 && waiting > 10 && elsewhere > 10, "{active} {waiting} {elsewhere}");
}

/// Innermost frame and callers: each is listed in its function, at its return address.
#[test]
fn callers_are_listed_at_their_return_addresses() {
    let seen = std::cell::Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        for (number, caller) in (1..).zip(expected["callers"].as_array().into_iter().flatten()) {
            let asked = Instructions { frame: number, ..Instructions::default() };
            let got = session.disassemble(wave, &asked).unwrap();
            let marked: Vec<_> = got.instructions.iter().filter(|one| one.is_pc).collect();
            let function = got.function.as_ref().map(|function| &*function.name);
            let name = caller["function"].as_str().unwrap();
            let at = marked.first().map(|one| one.address.to_string());
            let in_function =
                function.is_some_and(|function| function.split('(').next() == name.split('(').next());
            if marked.len() != 1 || at.as_deref() != caller["pc"].as_str() || !in_function {
                wrong(format!("frame {number}: {function:?} at {at:?}, expected {caller}"));
            }
            seen.set(seen.get() + 1);
        }
    });
    assert!(seen.get() >= 15, "only {} callers", seen.get());
}

fn saxpy() -> (Session, WaveId, u64) {
    let (session, wave) = session(&open(&fixtures().join("dumps/saxpy-gfx90a-O0")), 1);
    let pc = session.wave(wave).unwrap().pc.unwrap().0;
    (session, wave, pc)
}

fn addresses(session: &Session, wave: WaveId, asked: Instructions) -> (Vec<u64>, Vec<String>) {
    let got = session.disassemble(wave, &asked).unwrap();
    (got.instructions.iter().map(|one| one.address.0).collect(), got.problems)
}

#[test]
fn counts_addresses_and_surroundings_choose() {
    let (session, wave, pc) = saxpy();
    let all = session.disassemble(wave, &Instructions::default()).unwrap();
    let places: Vec<u64> = all.instructions.iter().map(|one| one.address.0).collect();
    let at = places.iter().position(|address| *address == pc).unwrap();
    let of = |count, around, address| Instructions { count, around, address, ..Instructions::default() };
    for (asked, wanted) in [
        (of(Some(5), None, None), &places[..5]),
        (of(Some(5), None, Some(pc)), &places[at..at + 5]),
        (of(None, None, Some(pc + 1)), &places[..]),
        (of(None, None, Some(places[3])), &places[..]),
        (of(None, Some(0), None), &places[at..=at]),
        (of(None, Some(3), None), &places[at - 3..=at + 3]),
        (of(None, Some(3), Some(places[1])), &places[..5]),
        (of(None, Some(100), None), &places[at - 100..=at + 100]),
    ] {
        let (got, problems) = addresses(&session, wave, asked.clone());
        let got = &got[..wanted.len().min(got.len())];
        assert_eq!((got, problems), (wanted, Vec::new()), "{asked:?}");
    }
}

/// Valid and invalid forms of a typed address or number.
#[test]
fn odd_questions_have_short_answers() {
    let (session, wave, pc) = saxpy();
    let none = Instructions::default();
    for (address, words) in
        [(0, "was not captured"), (u64::MAX - 3, "no instructions"), (!3u64 >> 1 & !3, "was not captured")]
    {
        let asked = Instructions { address: Some(address), count: Some(1), ..none.clone() };
        let (got, problems) = addresses(&session, wave, asked);
        assert!(
            got.is_empty()
                && problems.iter().any(|problem| problem.contains(words) || problem.contains("captured")),
            "{address:#x}: {problems:?}"
        );
    }
    let error = |asked: Instructions| session.disassemble(wave, &asked).unwrap_err().to_string();
    let odd = Instructions { address: Some(pc + 2), count: Some(1), ..none.clone() };
    assert!(error(odd).contains("multiples of 4 bytes"));
    let odd = Instructions { address: Some(pc + 1), around: Some(2), ..none.clone() };
    assert!(error(odd).contains("multiples of 4 bytes"));
    // The code object is loaded at its ELF header.
    let header = Instructions { address: Some(pc & !0xffff), count: Some(1), ..none.clone() };
    let (_, problems) = addresses(&session, wave, header);
    assert!(problems.iter().any(|problem| problem.contains("it holds data")), "{problems:?}");
    let last = Instructions { address: Some(u64::MAX), count: Some(5), ..none.clone() };
    assert!(error(last).contains("multiples of 4 bytes"));
    // Without DW_AT_LLVM_lane_pc the position of an inactive lane is unknown; the wave's PC was captured.
    let inactive =
        session.lanes(wave).unwrap().into_iter().find(|lane| lane.state == Some(LaneState::Inactive));
    let inactive = inactive.unwrap().lane;
    let words = format!("the resume address of lane {inactive} is unknown");
    assert!(error(Instructions { lane: Some(inactive), ..none.clone() }).contains(&words));
    assert!(error(Instructions { frame: 99, ..none.clone() }).contains("there is no frame 99"));
    assert!(error(Instructions { lane: Some(LaneId(64)), ..none.clone() }).contains("no lane 64"));
    let all = Instructions { address: Some(pc), count: Some(usize::MAX), ..none.clone() };
    let (got, problems) = addresses(&session, wave, all);
    assert!((got.len() as u64) < MAX_LISTED_BYTES / 4 && !problems.is_empty(), "{problems:?}");
    let (got, _) = addresses(&session, wave, Instructions { around: Some(usize::MAX), ..none.clone() });
    assert!(got.contains(&pc));
    // An address inside an instruction, which the earlier instructions reveal.
    let long = session.disassemble(wave, &none).unwrap();
    let long =
        long.instructions.iter().find(|one| one.bytes.len() == 8 && one.address.0 > pc).unwrap().address.0;
    let inside = Instructions { address: Some(long + 4), ..none };
    for asked in
        [Instructions { around: Some(2), ..inside.clone() }, Instructions { count: Some(1), ..inside }]
    {
        let (got, problems) = addresses(&session, wave, asked);
        assert_eq!(got[0], long + 4);
        assert!(problems.iter().any(|problem| problem.contains("inside of an instruction")), "{problems:?}");
    }
}

/// A client's writes are visible to that client only, before and after any decoding.
#[test]
fn what_if_writes_are_seen_at_once() {
    let dump = open(&fixtures().join("dumps/saxpy-gfx90a-O0"));
    let (mut changed, wave) = session(&dump, 1);
    let (other, _) = session(&dump, 1);
    let pc = changed.wave(wave).unwrap().pc.unwrap().0;
    let text = |session: &Session, count: usize| -> Vec<String> {
        let asked = Instructions { address: Some(pc), count: Some(count), ..Instructions::default() };
        session
            .disassemble(wave, &asked)
            .unwrap()
            .instructions
            .into_iter()
            .map(|one| one.code.text().into_owned())
            .collect()
    };
    let before = text(&other, 2);
    assert_eq!(text(&changed, 2), before);
    let place = MemoryAddress { space: AddressSpace(0), address: Address(pc), wave: None, lane: None };
    // s_nop 7, and a dword that is not an instruction (LLVM's text).
    changed.write(place, &[7, 0, 0x80, 0xbf, 0xff, 0xff, 0xff, 0xff]).unwrap();
    assert_eq!(text(&changed, 2), ["s_nop 7", ".long 0xffffffff"]);
    assert_eq!(text(&other, 2), before);
    let asked = Instructions { address: Some(pc), count: Some(2), ..Instructions::default() };
    let got = changed.disassemble(wave, &asked).unwrap();
    assert_eq!(got.instructions.iter().map(|one| one.code.is_decoded()).collect::<Vec<_>>(), [true, false]);
    assert_eq!(got.instructions[1].bytes, [0xff; 4]);
    changed.reset(lanescope::session::Reset::All);
    assert_eq!(text(&changed, 2), before);
}

fn lanescope(arguments: &[&str], path: Option<&str>) -> Output {
    let mut command = crate::support::lanescope();
    if let Some(path) = path {
        // ROCm's tools are not on a PATH.
        command.env("PATH", path).env("ROCM_PATH", "/nowhere");
    }
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn the_command_lists_marks_and_refuses() {
    let dump = fixtures().join("dumps/saxpy-gfx90a-O0");
    let dump = dump.to_str().unwrap();
    let text = |arguments: &[&str]| {
        let output = lanescope(&[&["disassemble", dump], arguments].concat(), None);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let (_, _, pc) = saxpy();
    let around = text(&["--wave", "1", "--around", "1"]);
    let marked: Vec<&str> = around.lines().filter(|line| line.starts_with("=> ")).collect();
    assert!(marked.len() == 1 && marked[0].starts_with(&format!("=> {pc:#018x} <+")), "{around}");
    assert!(around.contains("saxpy.hip:") && one_line(&around).contains("; lanes 0-"), "{around}");
    let json: Value = serde_json::from_str(&text(&["--wave", "1", "--count", "3", "--json"])).unwrap();
    let instructions = json["instructions"].as_array().unwrap();
    assert_eq!(instructions.len(), 3);
    for one in instructions {
        assert_eq!(one["size"].as_u64().unwrap() * 2, one["bytes"].as_str().unwrap().len() as u64);
    }
    for (arguments, code, words) in [
        (&["--count", "0"][..], 2, "expected a whole number from 1 to 4294967295"),
        (&["--count", "1", "--around", "1"], 2, "cannot be used with"),
        (&["--address", "here"], 2, "invalid value 'here'"),
        (&["--count", "99999999999"], 2, "invalid value"),
        (&["--frame", "7"], 1, "there is no frame 7"),
        (&["--lane", "64"], 1, "no lane 64"),
        (&["--lane", "all"], 1, "--lane takes one lane here"),
        (&["--address", "0xffffffffffffffff", "--count", "5"], 1, "multiples of 4 bytes"),
    ] {
        let output = lanescope(&[&["disassemble", dump], arguments].concat(), None);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

/// A dump of a wave that stopped at code with these bytes.
fn of_bytes(gpu: &str, stop: &str, hex: &str) -> String {
    let text = format!(
        "format = 1\nagent = [{{ id = 1, target = \"{gpu}\" }}]\nqueue = [{{ id = 1, agent = 1 }}]\n\
         dispatch = [{{ id = 1, queue = 1 }}]\nworkgroup = [{{ id = 1, dispatch = 1 }}]\n\
         [[wave]]\nid = 1\nworkgroup = 1\nwave_in_group = 0\nstop = [\"{stop}\"]\n\
         registers = {{ pc = 0x7f0000001000, exec = 0xff }}\n\
         [[memory]]\naddress = 0x7f0000002000\nhex = \"00\"\n"
    );
    let code = format!("[[memory]]\naddress = 0x7f0000001000\nhex = \"{hex}\"\n");
    if hex.is_empty() { text } else { text + &code }
}

/// The table of instructions has no GPU of the user: each answer says so.
#[test]
fn the_instructions_of_a_users_gpu_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let known = fixtures().join("../../targets/gfx90a.toml");
    let own = std::fs::read_to_string(known).unwrap().replace("name = \"gfx90a\"", "name = \"gfx90z\"");
    std::fs::write(
        folder.path().join("gfx90z.toml"),
        own.replace("elf_machine = 0x03f", "elf_machine = 0x0fe"),
    )
    .unwrap();
    let file = folder.path().join("dump");
    std::fs::write(&file, of_bytes("gfx90z", "memory_violation", "000050dc 00000002 000081bf")).unwrap();
    let [file, targets] = [file.as_path(), folder.path()].map(|path| path.to_str().unwrap());
    let said = |command: &str| {
        let output = lanescope(&[command, file, "--targets", targets, "--json"], None);
        let all = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        one_line(&all.concat())
    };
    for command in ["disassemble", "triage", "signature"] {
        let said = said(command);
        assert!(said.contains("the instructions of gfx90z are not known"), "{command}: {said}");
    }
    assert!(said("signature").contains("accesses and states of hangs are unknown"));
}

/// Of `flat_load_dword v2, v[0:1]` and `s_endpgm` a dump has all bytes, half of the first instruction, or none. gfx940 is
/// a GPU that LLVM 22 does not know.
#[test]
fn what_a_capture_cuts_is_no_illegal_instruction() {
    let folder = tempfile::tempdir().unwrap();
    let dump = |gpu: &str, hex: &str| {
        let file = folder.path().join("dump.toml");
        std::fs::write(&file, of_bytes(gpu, "illegal_instruction", hex)).unwrap();
        ["disassemble", "triage"].map(|command| {
            let output = lanescope(&[command, file.to_str().unwrap()], None);
            assert!(!output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            one_line(&String::from_utf8(output.stdout).unwrap())
        })
    };
    for gpu in ["gfx90a", "gfx940"] {
        let [listing, page] = dump(gpu, "000050dc 00000002 000081bf");
        assert!(listing.contains("flat_load_dword v2, v[0:1]") && listing.contains("s_endpgm"), "{listing}");
        assert!(page.contains("is legal (flat_load_dword v2, v[0:1])"), "{page}");
    }
    let [listing, page] = dump("gfx90a", "000050dc");
    assert!(listing.contains("captured in part: 4 bytes") && !listing.contains(".long"), "{listing}");
    let [_, without] = dump("gfx90a", "");
    for page in [page, without] {
        assert!(page.contains("Missing the code at the PC of 1 wave") && !page.contains("Bytes"), "{page}");
    }
}

/// No tool is needed, and none is started.
#[test]
fn instructions_need_no_tool() {
    let dump = fixtures().join("dumps/saxpy-gfx90a-O0");
    let [with, without] =
        [None, Some("/nowhere")].map(|path| lanescope(&["disassemble", dump.to_str().unwrap()], path));
    assert!(without.status.success() && !without.stdout.is_empty());
    assert_eq!(without.stdout, with.stdout);
    let old =
        lanescope(&["disassemble", dump.to_str().unwrap(), "--disassembler", "/nowhere/llvm-objdump"], None);
    assert_eq!(old.stdout, with.stdout);
    assert!(String::from_utf8_lossy(&old.stderr).contains("--disassembler has no effect"));
}

/// The manifest's values of a dispatch, in the columns of AMD's gdb.
#[test]
fn dispatches_have_the_columns_of_amds_gdb() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 2\nagent = 1\n\
        [[dispatch]]\nid = 5\nqueue = 2\npacket = 9\npacket_header = \"0x1502\"\nkernel = \"kern\"\ngrid = [64, 2]\n\
        workgroup = [32]\ngroup_segment_size = 16\nprivate_segment_size = 8\n\
        [[dispatch]]\nid = 6\nqueue = 2\n[[dispatch]]\nid = 7\nqueue = 2\npacket_header = 2\n\
        [[dispatch]]\nid = 8\nqueue = 2\npacket_header = 0x10000\n\
        [[workgroup]]\nid = 1\ndispatch = 5\n[[wave]]\nid = 1\nworkgroup = 1\n";
    let path = folder.path().join("lanescope.toml");
    std::fs::write(&path, manifest).unwrap();
    let output = lanescope(&["dispatches", path.to_str().unwrap(), "--verbose"], None);
    let text = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let rows: Vec<String> = text.lines().map(one_line).collect();
    // Bit 8: barrier; 10:9 = 2: acquire of the system; 12:11 = 2: release of the system.
    let expected = [
        "Id Target Id Grid Workgroup Fence Shared Private Waves Kernel Function",
        "5 1:2:5 (PKID 9) [64,2,1] [32,1,1] B|As|Rs 16 8 1 kern",
        "6 1:2:6 ? ? ? ? ? 0 ?",
        "7 1:2:7 ? ? - ? ? 0 ?",
        "8 1:2:8 ? ? ? ? ? 0 ?",
    ];
    assert_eq!(rows, expected, "{said}");
    assert!(said.contains("packet_header") && said.contains("a header of 16 bits"), "{said}");
    let output = lanescope(&["dispatches", path.to_str().unwrap(), "--json"], None);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let fences = &json["dispatches"][0]["fences"];
    assert_eq!(
        *fences,
        serde_json::json!({ "barrier": true, "acquire": "system", "release": "system", "short": "B|As|Rs" })
    );
    assert_eq!(json["dispatches"][0]["threads"], serde_json::json!([[1, 1]]));
}
