//! Every fixture dump, compared with the model of its kernel: registers, memory of every space, and the variables of
//! every lane of every wave. tests/fixtures/models writes the expected files without lanescope.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lanescope::arch::Targets;
use lanescope::codeobject::hex;
use lanescope::import;
use lanescope::session::{Dump, MemoryAddress, Session, Storage as _, Waves as _};
use lanescope::units::{Address, AddressSpace, LaneId, WaveId};
use serde_json::Value;

use crate::support::{sample::is_long, some};

/// A command of that name. `doctor` would start each debugger of the machine for its version: it finds none.
pub(crate) fn without_debuggers<'c>(command: &'c mut Command, name: &str) -> &'c mut Command {
    if name == "doctor" { command.env("PATH", "/nowhere") } else { command }
}

/// A command without the variables of the CI that runs this test.
pub(crate) fn outside_ci(command: &mut Command) -> &mut Command {
    let variables = [
        "CI",
        "GITHUB_ACTIONS",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_WORKSPACE",
        "GITLAB_CI",
        "JENKINS_URL",
        "TF_BUILD",
        "BUILDKITE",
    ];
    for name in variables {
        command.env_remove(name);
    }
    command
}

pub(crate) fn fixtures() -> PathBuf {
    crate::support::root().join("tests/fixtures")
}

/// Copies the files of a fixture's dump into a new folder.
pub(crate) fn copy_dump(name: &str, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(fixtures().join("dumps").join(name)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// A text in one line, with single blanks: where it was folded does not matter.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every expected file with its dump's path.
pub(crate) fn expected() -> Vec<(String, PathBuf, Value)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(fixtures().join("expected")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (dump, expected) = expected_of(&name);
        all.push((name, dump, expected));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() >= 10, "only {} expected files", all.len());
    all
}

/// [`some`] of them.
pub(crate) fn some_expected() -> impl Iterator<Item = (String, PathBuf, Value)> {
    some(expected(), |(name, ..)| name)
}

/// A fixture of each kernel and each form of a dump, of the GPUs and levels by turns.
pub(crate) const FEW: [&str; 21] = [
    "absent-gfx90a",
    "call-gfx90a-O0",
    "call-gfx942-O2",
    "calls-gfx1100",
    "calls-gfx90a-eh",
    "chain-gfx90a-O0",
    "demo",
    "diverge-gfx1030-O0",
    "draft-ops-gfx1100",
    "inline",
    "lds-gfx1100-O0-json",
    "lds-gfx1200-O2",
    "linked-gfx90a-O0",
    "masks-gfx90a",
    "mixed-kinds",
    "mixed-vgprs",
    "pointers-gfx1100-O0",
    "regions-gfx90a",
    "saxpy-gfx1200-O0",
    "user-ops-gfx1100",
    "wide-gfx1250-O2",
];

/// [`FEW`] with their dumps' paths; all in `scripts/test --long`.
pub(crate) fn few_expected() -> Vec<(String, PathBuf, Value)> {
    if is_long() {
        return expected();
    }
    let of = |name: &str| {
        let (dump, expected) = expected_of(name);
        (name.to_owned(), dump, expected)
    };
    FEW.into_iter().map(of).collect()
}

/// The one of that name.
pub(crate) fn expected_of(name: &str) -> (PathBuf, Value) {
    let text = fs::read(fixtures().join("expected").join(format!("{name}.json"))).unwrap();
    let expected: Value = serde_json::from_slice(&text).unwrap();
    (fixtures().join(expected["dump"].as_str().unwrap()), expected)
}

/// Opens a dump.
pub(crate) fn open(path: &Path) -> Arc<Dump> {
    let opened = import::open(path, &Targets::builtin(), &import::Options::default())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Arc::new(Dump::new(opened.capture, opened.problems))
}

/// A session with only the wave of that id.
pub(crate) fn session(dump: &Arc<Dump>, id: u64) -> (Session, WaveId) {
    let ordinal = dump.capture().waves.iter().position(|wave| u64::from(wave.id) == id).unwrap();
    let kind = &dump.capture().waves[ordinal].kind;
    let kind = format!("{}:{}", kind.target.name, kind.wave_size);
    (Session::new(Arc::clone(dump), Some(&kind)).unwrap(), WaveId(ordinal as u32))
}

/// Runs a check for every wave of [`some_expected`] and reports all differences.
pub(crate) fn each_wave(check: impl Fn(&Session, WaveId, &Value, &mut dyn FnMut(String))) {
    each_wave_of(some_expected(), check);
}

/// [`each_wave`] of those fixtures.
pub(crate) fn each_wave_of(
    fixtures: impl IntoIterator<Item = (String, PathBuf, Value)>,
    check: impl Fn(&Session, WaveId, &Value, &mut dyn FnMut(String)),
) {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, path, expected) in fixtures {
        let dump = open(&path);
        for wave in expected["waves"].as_array().unwrap() {
            let id = wave["id"].as_u64().unwrap();
            let (session, ordinal) = session(&dump, id);
            checked += 1;
            check(&session, ordinal, wave, &mut |text| wrong.push(format!("{name} wave {id}: {text}")));
        }
    }
    assert!(checked > 20, "only {checked} waves were checked");
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fixtures_open_without_problems() {
    for (name, path, expected) in expected() {
        let dump = open(&path);
        let allowed = expected["problems"].as_u64().unwrap_or(0) as usize;
        assert!(dump.problems().len() == allowed, "{name}: {:#?}", dump.problems());
    }
}

#[test]
fn registers_agree_with_the_models() {
    each_wave(|session, wave, expected, wrong| {
        for (name, value) in expected["registers"].as_object().unwrap() {
            let kind = session.kind();
            let register = kind.named(name).unwrap_or_else(|| panic!("no register {name}"));
            let got = session.register(wave, register.id).unwrap();
            match value {
                Value::Null if got.known() != 0 => wrong(format!("{name}: expected absent, got {got:?}")),
                Value::Null => {}
                Value::String(bytes) => {
                    if !got.is_whole() || hex(got.bytes()) != *bytes {
                        wrong(format!("{name}: expected {bytes}, got {got:?}"));
                    }
                }
                Value::Array(lanes) => {
                    for (lane, expected) in (0u16..).zip(lanes) {
                        let got = got.dword(lane).map(|dword| hex(&dword.to_le_bytes()));
                        if got.as_deref() != expected.as_str() {
                            wrong(format!("{name} lane {lane}: expected {expected}, got {got:?}"));
                        }
                    }
                }
                other => panic!("{name}: {other}"),
            }
        }
    });
}

#[test]
fn waves_have_names_and_stop_reasons_of_the_models() {
    each_wave(|session, wave, expected, wrong| {
        let info = session.wave(wave).unwrap();
        if let Some(suffix) = expected["name_suffix"].as_str()
            && !info.name.ends_with(suffix)
        {
            wrong(format!("expected a name that ends in {suffix}, got {}", info.name));
        }
        let number = |key: &str| {
            let text = expected[key].as_str()?;
            u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
        };
        if info.pc.map(|pc| pc.0) != number("pc") {
            wrong(format!("pc: expected {}, got {:?}", expected["pc"], info.pc));
        }
        if info.exec.map(|exec| exec.0) != number("exec") {
            wrong(format!("exec: expected {}, got {:?}", expected["exec"], info.exec));
        }
        let stop: Option<Vec<&str>> =
            expected["stop"].as_array().map(|all| all.iter().filter_map(Value::as_str).collect());
        if info.stop.as_ref().map(|s| s.iter().map(String::as_str).collect::<Vec<_>>()) != stop {
            wrong(format!("stop: expected {stop:?}, got {:?}", info.stop));
        }
    });
}

/// Hex digits of memory, `xx` for missing bytes.
fn captured(session: &Session, place: MemoryAddress, count: usize) -> String {
    let mut text = String::new();
    while text.len() < count * 2 {
        let done = text.len() / 2;
        let at = MemoryAddress { address: Address(place.address.0 + done as u64), ..place };
        let mut buffer = vec![0; count - done];
        match session.read(at, &mut buffer) {
            Ok(got) => text.push_str(&hex(&buffer[..got])),
            Err(_) => text.push_str("xx"),
        }
    }
    text
}

#[test]
fn memory_of_every_space_agrees_with_the_models() {
    each_wave(|session, wave, expected, wrong| {
        let mut check = |space: u64, lane: Option<u64>, address: u64, bytes: &Value| {
            let lane = lane.map(|lane| LaneId(lane as u8));
            let place = MemoryAddress {
                space: AddressSpace(space),
                address: Address(address),
                wave: Some(wave),
                lane,
            };
            match bytes.as_str() {
                Some(bytes) => {
                    let got = captured(session, place, bytes.len() / 2);
                    if got != bytes {
                        wrong(format!("{place:?}: expected {bytes}, got {got}"));
                    }
                }
                None => {
                    let got = session.read(place, &mut [0]);
                    if got.is_ok() {
                        wrong(format!("{place:?}: expected absent, got a byte"));
                    }
                }
            }
        };
        let address = |piece: &Value| {
            let at = &piece["address"];
            at.as_u64().unwrap_or_else(|| u64::from_str_radix(&at.as_str().unwrap()[2..], 16).unwrap())
        };
        for (key, space) in [("private_lane", 5), ("private_wave", 6), ("lds", 3), ("global", 0)] {
            for piece in expected[key].as_array().into_iter().flatten() {
                let lane = piece["lane"].as_u64();
                check(space, lane, address(piece), &piece["bytes"]);
                // The space with a lane reads the same for any focused lane.
                if let (5, Some(lane)) = (space, lane) {
                    check(0x20 + lane, None, address(piece), &piece["bytes"]);
                }
            }
        }
    });
}

/// Jobs that raise an error, exit with status 0, and end their process: each is named, and none counts as success.
#[test]
fn a_failed_model_is_named_and_fails_the_script() {
    let run = |job: &str, arguments: &str| {
        let script = format!("import os, sys, workers; print(workers.results({job}, {arguments}))");
        let mut python = Command::new("python3");
        let python = python.args(["-c", &script]).env("PYTHONPATH", fixtures().join("models"));
        let done = python.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    assert_eq!(run("int", "{'a': '1', 'b': '2'}"), (Some(0), "[1, 2]\n".to_owned(), String::new()));
    for (job, arguments) in
        [("int", "{'good': '1', 'bad': 'x'}"), ("sys.exit", "{'bad': 0}"), ("os._exit", "{'bad': 0}")]
    {
        let (status, shown, errors) = run(job, arguments);
        assert_eq!((status, shown.as_str()), (Some(1), ""), "{job}: {errors}");
        assert!(errors.contains("make-fixtures: bad: the model failed\n"), "{job}: {errors}");
        assert!(!errors.contains("make-fixtures: good:"), "{job}: {errors}");
    }
}
