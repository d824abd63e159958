//! The cases of tests/fixtures/faults.zip and polls.zip (tests/fixtures/README.md has the format), and the dump of a case at a moment.

use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read as _, Write as _};
use std::sync::Arc;

use lanescope::arch::Targets;
use lanescope::import::{self, Opened};
use lanescope::session::Dump;
use serde::Deserialize;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::support::sample::sampled;

/// All cases, and their code objects.
pub(crate) struct Cases {
    pub(crate) faults: Vec<Case>,
    pub(crate) hangs: Vec<Case>,
    code: HashMap<String, Vec<u8>>,
    /// Whether dumps of faults have the source, too.
    has_sources: bool,
}

/// A dispatch that faulted or hangs.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) gpu: String,
    pub(crate) level: String,
    #[serde(default)]
    pub(crate) language: String,
    #[serde(default)]
    pub(crate) pattern: String,
    code: String,
    kernel: String,
    grid: u32,
    group: u32,
    kernarg: u64,
    #[serde(default)]
    pub(crate) lds_size: u64,
    registers: [usize; 3],
    pub(crate) wave_size: usize,
    private_size: u64,
    /// The LDS of each work-group, in hex.
    #[serde(default)]
    pub(crate) lds: Vec<String>,
    sgpr_count: u32,
    kernel_object: u64,
    pub(crate) memory: Vec<Piece>,
    pub(crate) waves: Vec<Wave>,
    /// Absent: a hang.
    pub(crate) fault: Option<Reported>,
    /// `None`: undecided.
    pub(crate) hangs: Option<bool>,
    /// Whether the capture proves a deadlock. `None`: undecided.
    pub(crate) deadlock: Option<bool>,
    #[serde(default)]
    pub(crate) groups: Vec<Group>,
}

/// Mapped memory.
#[derive(Deserialize)]
pub(crate) struct Piece {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) size: u64,
    runs: Vec<Vec<u32>>,
}

/// The fault as a driver reports it.
#[derive(Deserialize)]
pub(crate) struct Reported {
    pub(crate) kind: String,
    pub(crate) access: Option<String>,
    pub(crate) page: Option<u64>,
    /// The id of the wave.
    pub(crate) wave: Option<u32>,
}

#[derive(Deserialize)]
pub(crate) struct Wave {
    pub(crate) id: u32,
    workgroup: u32,
    wave_in_group: u32,
    state: BTreeMap<String, Encoded>,
    /// The changes by each instruction after the bad access.
    #[serde(default)]
    pub(crate) steps: Vec<BTreeMap<String, Encoded>>,
    stop: Option<String>,
    pub(crate) truth: Option<Truth>,
    pub(crate) expected: Option<Expected>,
}

/// A register.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Encoded {
    Scalar(u64),
    /// BASE, STEP and a map of exceptions by lane.
    Vector(Vec<Value>),
}

/// The bad accesses of a wave.
#[derive(Deserialize)]
pub(crate) struct Truth {
    pub(crate) kind: String,
    /// PC of a wave that executes no code.
    pub(crate) pc: Option<u64>,
    #[serde(flatten)]
    pub(crate) access: Option<BadAccess>,
    /// The registers that make the addresses.
    #[serde(default)]
    pub(crate) registers: Vec<String>,
    /// The registers that the access, and each instruction after it, writes.
    #[serde(default)]
    pub(crate) written: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) later: Vec<Later>,
}

#[derive(Deserialize)]
pub(crate) struct BadAccess {
    pub(crate) instruction: u64,
    pub(crate) text: String,
    /// Empty: a scalar access.
    pub(crate) lanes: Vec<u8>,
    /// The first byte of each lane, or the one of a scalar access.
    #[serde(default)]
    pub(crate) addresses: Vec<u64>,
    pub(crate) pages: Vec<u64>,
}

/// A further bad access.
#[derive(Deserialize)]
pub(crate) struct Later {
    pub(crate) step: usize,
    #[serde(flatten)]
    pub(crate) access: BadAccess,
}

/// The expected state of a wave in a hang.
#[derive(Deserialize)]
pub(crate) struct Expected {
    pub(crate) state: Vec<String>,
    #[serde(default)]
    pub(crate) lines: Vec<u64>,
    pub(crate) poll: Option<Poll>,
}

#[derive(Deserialize)]
pub(crate) struct Poll {
    pub(crate) address: u64,
    pub(crate) value: u64,
    /// The expression of the source.
    pub(crate) name: Option<String>,
    /// Another expression of the source with the same value.
    pub(crate) alias: Option<String>,
    /// The number that the source compares it with.
    pub(crate) compared: Option<u64>,
}

/// A work-group with a barrier.
#[derive(Deserialize)]
pub(crate) struct Group {
    pub(crate) workgroup: u32,
    pub(crate) waiting: Vec<u32>,
    pub(crate) missing: Vec<u32>,
}

/// The capture of a case.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// Number of instructions that the first faulting wave executed after the bad access.
    pub(crate) distance: usize,
    /// Whether the driver's report is in the dump.
    pub(crate) has_report: bool,
    /// Whether the dump lacks a piece of memory that is mapped.
    pub(crate) lacks_memory: bool,
}

pub(crate) fn load_hangs() -> Cases {
    load_where(is_of_hangs)
}

/// The cases of the files with such a name, `faults-gfx90a-O2.json`: to read all takes longer than a test of a few.
pub(crate) fn load_where(is_wanted: impl Fn(&str) -> bool) -> Cases {
    load_of(is_wanted, |_| true, 1)
}

/// The cases with such a name, `past_end-gfx90a-O2`: the first, and each so many a further one. In the long run all.
pub(crate) fn load_some(is_wanted: impl Fn(&str) -> bool, each: usize) -> Cases {
    load_of(|_| true, is_wanted, each)
}

fn load_of(is_file: impl Fn(&str) -> bool, is_case: impl Fn(&str) -> bool, each: usize) -> Cases {
    let (mut faults, mut hangs, mut code) = (Vec::new(), Vec::new(), HashMap::new());
    for name in ["faults.zip", "polls.zip"] {
        let path = crate::fixtures::fixtures().join(name);
        let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).unwrap();
            let (name, mut content) = (entry.name().unwrap().into_owned(), Vec::new());
            if !is_file(&name) {
                continue;
            }
            entry.read_to_end(&mut content).unwrap();
            if name.ends_with(".json") {
                let text = String::from_utf8(content).unwrap();
                // A case a line.
                let lines = text.lines().filter(|line| line.starts_with('{') && is_case(name_in(line)));
                let into = if is_of_hangs(&name) { &mut hangs } else { &mut faults };
                into.extend(lines.map(str::to_owned));
            } else {
                code.insert(name, content);
            }
        }
    }
    let read = |lines: Vec<String>| -> Vec<Case> {
        let cases = sampled(lines, each).map(|line| {
            let case: Result<Case, _> = serde_json::from_str(line.trim_end_matches(','));
            case.unwrap_or_else(|error| panic!("{}: {error}", name_in(&line)))
        });
        cases.collect()
    };
    let (faults, hangs) = (read(faults), read(hangs));
    Cases { faults, hangs, code, has_sources: false }
}

fn name_in(line: &str) -> &str {
    line.split_once("\"name\":\"").unwrap().1.split('"').next().unwrap()
}

fn is_of_hangs(name: &str) -> bool {
    ["hangs", "polls", "locks"].iter().any(|stem| name.starts_with(stem))
}

/// A number that depends on the text alone.
pub(crate) fn pick(text: &str, below: usize) -> usize {
    crc32fast::hash(text.as_bytes()) as usize % below
}

impl Wave {
    /// Number of instructions after the access at a moment; a wave ends, and other waves than the first skid differently.
    pub(crate) fn skid(&self, case: &Case, moment: Moment) -> usize {
        let is_first = case.fault.as_ref().is_some_and(|fault| fault.wave == Some(self.id));
        let distance = if is_first {
            moment.distance
        } else {
            (moment.distance + pick(&format!("{} {}", case.name, self.id), 4)).saturating_sub(1)
        };
        distance.min(self.steps.len())
    }

    /// The registers at a moment.
    pub(crate) fn state(&self, case: &Case, moment: Moment) -> HashMap<&str, &Encoded> {
        let changes = std::iter::once(&self.state).chain(self.steps.iter().take(self.skid(case, moment)));
        changes.flatten().map(|(name, value)| (name.as_str(), value)).collect()
    }
}

impl Cases {
    pub(crate) fn with_sources(self) -> Self {
        Self { has_sources: true, ..self }
    }

    /// The code object of a case.
    pub(crate) fn code(&self, case: &Case) -> &[u8] {
        &self.code[&case.code]
    }

    pub(crate) fn open(&self, case: &Case, moment: Moment) -> Arc<Dump> {
        self.open_times(case, moment, 1)
    }

    /// The dump of a case with the reports of its `[[fault]]` tables.
    pub(crate) fn open_reported(&self, case: &Case, moment: Moment, faults: &[Value]) -> Arc<Dump> {
        self.open_as(case, moment, 1, Some(faults))
    }

    /// The dump of a case whose dispatch has so many times its work-groups.
    pub(crate) fn open_times(&self, case: &Case, moment: Moment, times: u32) -> Arc<Dump> {
        self.open_as(case, moment, times, None)
    }

    fn open_as(&self, case: &Case, moment: Moment, times: u32, faults: Option<&[Value]>) -> Arc<Dump> {
        let mut bulk = Bulk::default();
        let groups = case.grid.div_ceil(case.group);
        let mut waves: Vec<Value> =
            case.waves.iter().map(|wave| case.wave(wave, moment, &mut bulk)).collect();
        let last = case.waves.iter().map(|wave| wave.id).max().unwrap_or(0);
        let own = waves.clone();
        for time in 1..times {
            waves.extend(own.iter().cloned().map(|mut wave| {
                for (key, each) in [("id", last), ("workgroup", groups)] {
                    wave[key] = json!(wave[key].as_u64().unwrap() + u64::from(each * time));
                }
                wave
            }));
        }
        let mut manifest = json!({
            "format": 1,
            "all_code_objects": true,
            "agent": [{"id": 1, "target": case.gpu}],
            "queue": [{"id": 1, "agent": 1}],
            "code_object": [{"file": case.code, "address": "0x7f0000100000", "uri": format!("file:///cases/{}", case.code)}],
            "dispatch": [{
                "id": 1, "queue": 1, "kernel": case.kernel, "workgroup": [case.group],
                "grid": [if times == 1 { case.grid } else { times * groups * case.group }],
                "kernarg": case.kernarg, "kernel_object": case.kernel_object, "private_segment_size": case.private_size,
                "group_segment_size": case.lds_size,
            }],
            "workgroup": (0..times * groups).map(|index| case.group(index, groups)).collect::<Vec<_>>(),
            "layout": [case.layout()],
            "wave": waves,
            "memory": case.memory.iter()
                .filter(|piece| !(moment.lacks_memory && piece.name == "out"))
                .map(|piece| piece.entry(&mut bulk)).collect::<Vec<_>>(),
        });
        let own = case.fault.as_ref().filter(|_| moment.has_report).map(|fault| fault.entry(&case.name));
        let faults: Vec<Value> = own.into_iter().chain(faults.into_iter().flatten().cloned()).collect();
        if !faults.is_empty() {
            manifest["fault"] = json!(faults);
        }
        let source = (self.has_sources || case.fault.is_none()).then(|| case.source());
        if let Some((path, _)) = &source {
            manifest["source"] = json!([{"path": path, "file": path}]);
        }
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let files = [("manifest.json", manifest.to_string().into_bytes()), ("bulk.bin", bulk.0)];
        for (name, content) in files
            .iter()
            .map(|(name, content)| (*name, content))
            .chain([(case.code.as_str(), &self.code[&case.code])])
            .chain(source.as_ref().map(|(path, text)| (path.as_str(), text)))
        {
            archive.start_file(name, stored).unwrap();
            archive.write_all(content).unwrap();
        }
        let bytes = archive.finish().unwrap().into_inner();
        let name = format!("{}.zip", case.name);
        self.dump(&name, import::open_bytes(&name, bytes, &Targets::builtin()).unwrap())
    }

    /// An opened dump of a case.
    pub(crate) fn dump(&self, name: &str, opened: Opened) -> Arc<Dump> {
        assert!(opened.problems.is_empty(), "{name}: {:?}", opened.problems);
        Arc::new(Dump::new(opened.capture, opened.problems))
    }
}

/// A side file.
#[derive(Default)]
struct Bulk(Vec<u8>);

impl Bulk {
    fn store(&mut self, words: impl IntoIterator<Item = u32>) -> (usize, usize) {
        let offset = self.0.len();
        for word in words {
            self.0.extend_from_slice(&word.to_le_bytes());
        }
        (offset, self.0.len() - offset)
    }
}

impl Piece {
    fn entry(&self, bulk: &mut Bulk) -> Value {
        let mut words: Vec<u32> = Vec::new();
        for run in &self.runs {
            let step = run.get(2).copied().unwrap_or(0);
            words.extend((0..run[0]).map(|index| run[1].wrapping_add(step.wrapping_mul(index))));
        }
        words.resize(usize::try_from(self.size / 4).unwrap(), 0);
        let (offset, length) = bulk.store(words);
        json!({"name": self.name, "address": self.address, "file": "bulk.bin", "offset": offset, "length": length})
    }
}

impl Reported {
    /// The table of the dump: of ROCr's line, or of the kernel log, which has the direction.
    fn entry(&self, name: &str) -> Value {
        let Some(page) = self.page else {
            return json!({"kind": "aperture", "source": "runtime"});
        };
        let mut entry = json!({"kind": "page", "address": page, "bytes": 4096, "source": "runtime"});
        let reason = if self.kind == "read-only" { "read_only" } else { "not_present" };
        entry["reasons"] = json!([reason]);
        if self.kind == "read-only" || pick(name, 3) == 0 {
            let write = self.access.as_deref().is_some_and(|access| access != "load");
            let access = if self.kind == "execute" {
                "execute"
            } else if write {
                "write"
            } else {
                "read"
            };
            entry["source"] = json!("kernel_log");
            entry["access"] = json!(access);
            entry["all_reasons"] = json!(true);
            if write && self.kind != "read-only" {
                entry["reasons"] = json!(["not_present", "read_only"]);
            }
        }
        entry
    }
}

impl Encoded {
    pub(crate) fn scalar(&self) -> u64 {
        match self {
            Self::Scalar(value) => *value,
            Self::Vector(_) => panic!("a vector"),
        }
    }

    pub(crate) fn lanes(&self, count: usize) -> Vec<u32> {
        let Self::Vector(parts) = self else { panic!("a scalar") };
        let number = |index: usize| parts.get(index).and_then(Value::as_u64).unwrap_or(0) as u32;
        let mut lanes: Vec<u32> =
            (0..count as u32).map(|lane| number(0).wrapping_add(number(1).wrapping_mul(lane))).collect();
        for (lane, value) in parts.get(2).and_then(Value::as_object).into_iter().flatten() {
            lanes[lane.parse::<usize>().unwrap()] = value.as_u64().unwrap() as u32;
        }
        lanes
    }
}

impl Case {
    fn is_gfx12(&self) -> bool {
        self.gpu.starts_with("gfx12")
    }

    fn is_gfx9(&self) -> bool {
        self.gpu.starts_with("gfx9")
    }

    /// The source, with its name in the line table. That of a hang names variables of LDS, which have no locations.
    fn source(&self) -> (String, Vec<u8>) {
        let stem = self.code.split('-').next().unwrap();
        let path =
            format!("tests/fixtures/kernels/{stem}.{}", if stem.ends_with("_cl") { "cl" } else { "hip" });
        let text = std::fs::read(crate::support::root().join(&path)).unwrap();
        (path, text)
    }

    fn layout(&self) -> Value {
        let [vectors, accumulators, scalars] = self.registers;
        let row = 4 * self.wave_size;
        let mut blocks = vec![json!({"registers": format!("v0-v{}", vectors - 1), "offset": 0})];
        if accumulators > 0 {
            blocks.push(json!({"registers": format!("a0-a{}", accumulators - 1), "offset": row * vectors}));
        }
        let offset = row * (vectors + accumulators);
        blocks.push(json!({"registers": format!("s0-s{}", scalars - 1), "offset": offset}));
        json!({"name": "all", "blocks": blocks})
    }

    /// `all`: the number of work-groups of the case, from which on they repeat.
    fn group(&self, index: u32, all: u32) -> Value {
        let mut entry =
            json!({ "id": index + 1, "dispatch": 1, "position": [index, 0, 0], "all_waves": true });
        if let Some(content) = self.lds.get((index % all) as usize) {
            entry["lds_size"] = json!(self.lds_size);
            entry["lds"] = json!([{ "hex": content }]);
        }
        entry
    }

    fn wave(&self, wave: &Wave, moment: Moment, bulk: &mut Bulk) -> Value {
        let state = wave.state(self, moment);
        let scalar = |name: &str| state[name].scalar();
        let [vectors, accumulators, scalars] = self.registers;
        let vector = |name: String| state[name.as_str()].lanes(self.wave_size);
        let (image, _) = bulk.store((0..vectors).flat_map(|n| vector(format!("v{n}"))));
        bulk.store((0..accumulators).flat_map(|n| vector(format!("a{n}"))));
        bulk.store((0..scalars).map(|n| scalar(&format!("s{n}")) as u32));
        let mut entry = json!({
            "id": wave.id, "workgroup": wave.workgroup, "wave_in_group": wave.wave_in_group,
            "image": {"layout": "all", "file": "bulk.bin", "offset": image},
        });
        let rows = state.keys().filter(|name| name.starts_with('p') && **name != "pc").count();
        if rows > 0 {
            let (offset, length) = bulk.store((0..rows).flat_map(|n| vector(format!("p{n}"))));
            entry["private_size"] = json!(length);
            entry["private"] = json!([{"file": "bulk.bin", "offset": offset, "length": length}]);
        }
        let kind = wave.truth.as_ref().map(|truth| truth.kind.as_str());
        let stop = match (kind, wave.stop.as_deref()) {
            (Some("aperture" | "misaligned" | "lds"), _) => json!(["address_error"]),
            (Some(_), _) => json!(["memory_violation"]),
            // The debugger or the driver stopped the queue's other waves.
            (None, Some("stopped")) => json!(["debug_trap"]),
            (None, _) => json!([]),
        };
        let mut registers = json!({
            "pc": scalar("pc"), "exec": scalar("exec"), "vcc": scalar("vcc"), "m0": scalar("m0"), "mode": 0x2f0,
        });
        let is_stopped = stop != json!([]);
        let (violation, xnack) = if self.is_gfx12() { (1 << 4, 1 << 12) } else { (1 << 8, 1 << 28) };
        let flags: u32 = match kind {
            None => 0,
            Some("aperture" | "misaligned" | "lds") => violation,
            Some(_) => violation | xnack,
        };
        let at_barrier = wave.expected.as_ref().is_some_and(|expected| expected.state == ["at-barrier"]);
        if self.is_gfx12() {
            registers["excp_flag_priv"] = json!(flags);
            registers["state_priv"] = json!(scalar("scc") << 9 | u64::from(is_stopped) << 14);
        } else {
            registers["trapsts"] = json!(flags);
            let zeros = u64::from(scalar("exec") == 0) << 9 | u64::from(scalar("vcc") == 0) << 10;
            let barrier = u64::from(at_barrier) << 12 | u64::from(self.group as usize > self.wave_size) << 11;
            registers["status"] =
                json!(scalar("scc") | 1 << 6 | zeros | barrier | u64::from(is_stopped) << 13);
        }
        if self.is_gfx9() {
            entry["sgpr_count"] = json!(self.sgpr_count);
            registers["flat_scratch"] = json!(scalar("flat_scratch"));
        } else {
            entry["wave_size"] = json!(self.wave_size);
        }
        entry["stop"] = stop;
        entry["registers"] = registers;
        entry
    }
}
