//! Expectations of the models for each fixture dump, in the form of client output.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{sample::is_long, some};

/// Fixtures that differ from another one in the GPU, the level or the form of the file: debuggers show them alike.
const LIKE_OTHERS: [&str; 16] = [
    "call-gfx1100-O2",
    "call-gfx90a-O0",
    "calls-gfx1100-eh",
    "calls-gfx90a-eh",
    "diverge-gfx1100-O0",
    "inline",
    "lds-gfx1030-O0",
    "lds-gfx1100-O0-json",
    "lds-gfx942-O2",
    "masks-gfx1100",
    "pointers-gfx1100-O0",
    "regions-gfx1100",
    "saxpy-gfx1200-O2",
    "saxpy-gfx942-O0",
    "user-ops-gfx1100",
    "wide-gfx1251-O2",
];

/// One dump with one kind of its waves: the contents of one server.
pub(crate) struct Fixture {
    /// `saxpy-gfx90a-O0`, with the kind if the dump has several.
    pub(crate) name: String,
    pub(crate) dump: PathBuf,
    /// `--kind`, if the dump has several.
    pub(crate) kind: Option<String>,
    pub(crate) waves: Vec<Wave>,
}

/// One wave.
#[derive(Clone)]
pub(crate) struct Wave {
    /// Position among the served waves, from 1: the client's thread number.
    pub(crate) number: usize,
    /// Position in the dump, from 1: the thread id.
    pub(crate) thread: u64,
    /// Lanes of the wave.
    pub(crate) lanes: usize,
    /// Whether the code is optimised: its kernels have no DW_AT_frame_base, and at -O0 all functions have one.
    pub(crate) is_optimised: bool,
    /// The model's values.
    pub(crate) expected: Value,
}

/// A register with its expected value.
#[derive(Clone)]
pub(crate) enum Register {
    /// Not captured.
    Absent,
    /// A scalar.
    Scalar(u64),
    /// A vector, lane 0 first; `None`: the lane was not captured.
    Lanes(Vec<Option<u32>>),
}

/// Bytes of an address space.
#[derive(Clone)]
pub(crate) struct Memory {
    /// The space's DWARF number, 0 for global.
    pub(crate) space: u64,
    pub(crate) lane: Option<u64>,
    pub(crate) address: u64,
    /// `None`: the byte was not captured.
    pub(crate) bytes: Vec<Option<u8>>,
}

pub(crate) fn fixtures_folder() -> PathBuf {
    crate::support::root().join("tests/fixtures")
}

/// Copies the files of a fixture's dump into a new folder.
pub(crate) fn copy_dump(name: &str, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(fixtures_folder().join("dumps").join(name)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Every fixture dump.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let mut all = Vec::new();
    for entry in fs::read_dir(fixtures_folder().join("expected")).unwrap() {
        all.extend(fixture(&entry.unwrap().path()));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(all.len() >= 40, "only {} fixtures", all.len());
    all
}

/// [`some`] of them, without [`LIKE_OTHERS`].
pub(crate) fn some_fixtures() -> impl Iterator<Item = Fixture> {
    let is_own = |fixture: &Fixture| is_long() || !LIKE_OTHERS.contains(&fixture.name.as_str());
    some(fixtures(), |fixture| &fixture.name).filter(is_own)
}

/// The fixture of that name.
pub(crate) fn named(name: &str) -> Fixture {
    let mut found = fixture(&fixtures_folder().join("expected").join(format!("{name}.json")));
    assert!(found.len() == 1, "{name} has {} kinds of waves", found.len());
    found.remove(0)
}

/// One dump, once per kind of its waves.
fn fixture(path: &Path) -> Vec<Fixture> {
    let name = path.file_stem().unwrap().to_string_lossy();
    let expected: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut kinds: BTreeMap<String, Vec<Wave>> = BTreeMap::new();
    for (thread, wave) in (1..).zip(expected["waves"].as_array().unwrap()) {
        let lanes = wave["wave_size"].as_u64().unwrap() as usize;
        let target = wave["target"].as_str().map_or(String::new(), |target| format!("{target}:"));
        let shown = kinds.entry(format!("{target}wave{lanes}")).or_default();
        let is_optimised = name.ends_with("-O2");
        shown.push(Wave { number: shown.len() + 1, thread, lanes, is_optimised, expected: wave.clone() });
    }
    let dump = fixtures_folder().join(expected["dump"].as_str().unwrap());
    let several = kinds.len() > 1;
    let one = |(kind, waves): (String, Vec<Wave>)| Fixture {
        name: if several { format!("{name} {kind}") } else { name.to_string() },
        dump: dump.clone(),
        kind: several.then_some(kind),
        waves,
    };
    kinds.into_iter().map(one).collect()
}

impl Fixture {
    /// The server's arguments.
    pub(crate) fn options(&self) -> Vec<&str> {
        self.kind.as_deref().map_or(Vec::new(), |kind| vec!["--kind", kind])
    }
}

impl Wave {
    pub(crate) fn pc(&self) -> Option<u64> {
        number(&self.expected["pc"])
    }

    pub(crate) fn exec(&self) -> Option<u64> {
        number(&self.expected["exec"])
    }

    /// Stop reasons; `None`: not captured.
    pub(crate) fn stop(&self) -> Option<Vec<String>> {
        let reasons = self.expected["stop"].as_array()?;
        Some(reasons.iter().map(|reason| reason.as_str().unwrap().to_owned()).collect())
    }

    /// End of the name: `(1,0,0)/0`.
    pub(crate) fn name_suffix(&self) -> Option<String> {
        self.expected["name_suffix"].as_str().map(str::to_owned)
    }

    /// The model's lanes.
    pub(crate) fn shown_lanes(&self) -> Vec<usize> {
        let lanes = self.expected["lanes"].as_array().unwrap();
        lanes.iter().map(|lane| lane.as_u64().unwrap() as usize).collect()
    }

    pub(crate) fn registers(&self) -> Vec<(String, Register)> {
        let all = self.expected["registers"].as_object().unwrap();
        all.iter().map(|(name, value)| (name.clone(), register(value))).collect()
    }

    pub(crate) fn memory(&self) -> Vec<Memory> {
        let mut all = Vec::new();
        for (key, space) in [("global", 0), ("lds", 3), ("private_lane", 5), ("private_wave", 6)] {
            for piece in self.expected[key].as_array().into_iter().flatten() {
                let bytes = match piece["bytes"].as_str() {
                    Some(digits) => digits.as_bytes().chunks(2).map(byte).collect(),
                    None => vec![None],
                };
                let address = number(&piece["address"]).unwrap();
                all.push(Memory { space, lane: piece["lane"].as_u64(), address, bytes });
            }
        }
        all
    }
}

impl Memory {
    /// Client address of a wave's memory: tag, wave and lane over the offset (docs/protocol.md). Independent of
    /// src/session/reading/address.rs, so that a mistake there is visible.
    pub(crate) fn address_of(&self, thread: u64) -> u64 {
        self.encoded(thread, self.lane.unwrap_or(0x7f))
    }

    /// Address for the client's selected wave and lane.
    pub(crate) fn focused_address(&self) -> u64 {
        self.encoded(0, 0x7f)
    }

    fn encoded(&self, wave: u64, lane: u64) -> u64 {
        if self.space == 0 { self.address } else { self.space << 56 | wave << 39 | lane << 32 | self.address }
    }

    /// Number of readable bytes from the beginning.
    pub(crate) fn readable(&self) -> usize {
        self.bytes.iter().take_while(|byte| byte.is_some()).count()
    }

    pub(crate) fn words(&self) -> String {
        let lane = self.lane.map_or(String::new(), |lane| format!(" lane {lane}"));
        format!("space {}{lane} address {:#x}", self.space, self.address)
    }
}

fn register(value: &Value) -> Register {
    match value {
        Value::Null => Register::Absent,
        Value::String(digits) => Register::Scalar(little_endian(digits)),
        Value::Array(lanes) => {
            Register::Lanes(lanes.iter().map(|lane| lane.as_str().map(|d| little_endian(d) as u32)).collect())
        }
        other => panic!("not a register: {other}"),
    }
}

/// Number of hex bytes, lowest first.
fn little_endian(digits: &str) -> u64 {
    let bytes = digits.as_bytes().chunks(2).map(|digits| u64::from(byte(digits).unwrap()));
    bytes.rev().fold(0, |number, byte| number << 8 | byte)
}

/// `None` for `xx`.
fn byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).unwrap();
    (digits != "xx").then(|| u8::from_str_radix(digits, 16).unwrap())
}

/// A JSON number, or `0x...` in a string.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok())
}
