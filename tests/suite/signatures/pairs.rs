//! Pairs of crashes with the expected relation of their signatures, from the models of the fixtures and their sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use lanescope::session::{Dump, Inspect, Session};
use lanescope::signature::{Crashes, Rules, Signature, SignatureLevel};

use crate::fixtures::{copy_dump, fixtures, open};
use crate::support::least;
use crate::support::sample::is_long;
use crate::triage::cases::{Cases, Moment, Reported, load_some, pick};

/// Changes of a manifest: a text, and the one in its place. Each must occur.
type Changes = &'static [(&'static str, &'static str)];

/// A crash or hang.
#[derive(Clone, Copy, Debug)]
enum Crash {
    /// A fixture's dump with a changed manifest.
    Dump(&'static str, Changes),
    /// A case of faults.zip, a number of instructions after the bad access.
    Case(&'static str, usize),
    /// The same without a report, and without a part of the memory.
    Poor(&'static str),
    /// A fixture's dump whose code object has another dword at the end of its code, and no build id, as all fixtures.
    Rebuilt(&'static str),
}
use Crash::{Case, Dump as Fixture, Poor, Rebuilt};

const SAXPY: &str = "saxpy-gfx90a-O2";
const IDS: Changes = &[
    ("[[wave]]\nid = ", "[[wave]]\nid = 70"),
    ("[[dispatch]]\nid = 1", "[[dispatch]]\nid = 9"),
    ("dispatch = 1", "dispatch = 9"),
];
const LOADED: Changes = &[
    ("address = \"0x7f0000100000\"", "address = \"0x7e1234500000\""),
    ("kernel_object = \"0x7f0000100840\"", "kernel_object = \"0x7e1234500840\""),
    ("pc = \"0x7f000010", "pc = \"0x7e123450"),
];
const GRID: Changes = &[("grid = [500]", "grid = [1000000]")];
const LANES: Changes = &[("exec = \"0x1ffffff\"", "exec = \"0x1ff0000\"")];
const PATHS: Changes = &[("file:///fixtures/", "file:///home/somebody/build-7/")];
/// Another cause at the same PC, and at a PC of another line (`llvm-dwarfdump --debug-line`: lines 63 and 54).
const ILLEGAL: Changes = &[("stop = [\"memory_violation\"]", "stop = [\"illegal_instruction\"]")];
const ILLEGAL_54: Changes = &[
    ("stop = [\"memory_violation\"]", "stop = [\"illegal_instruction\"]"),
    ("pc = \"0x7f0000101a2c\"", "pc = \"0x7f0000101a24\""),
];
/// Exceptions of arithmetic at the same PC, by AMD's names.
const DIVIDED: Changes = &[("stop = [\"memory_violation\"]", "stop = [\"fp_divide_by_0\"]")];
const INT_DIVIDED: Changes = &[("stop = [\"memory_violation\"]", "stop = [\"int_divide_by_0\"]")];
const INVALID: Changes = &[("stop = [\"memory_violation\"]", "stop = [\"fp_invalid_operation\"]")];
/// The driver's report of the page of `x[1024]`, beside the stop reason and in place of it.
const REPORTED: Changes = &[("[provenance]", REPORT)];
const NO_REASON: Changes = &[("stop = [\"memory_violation\"]\n", ""), ("[provenance]", REPORT)];
const REPORT: &str = "[[fault]]\nkind = \"page\"\naddress = \"0x7f0000201000\"\nbytes = 4096\n\n[provenance]";
/// No code object: no debug information. The whole table goes.
const NO_CODE: Changes = &[("[[code_object]]", "")];

/// Pairs with a level, and whether their signatures are equal.
const PAIRS: &[(&str, SignatureLevel, Crash, Crash, bool)] = &[
    ("ids of waves and dispatches", SignatureLevel::Exact, Fixture(SAXPY, &[]), Fixture(SAXPY, IDS), true),
    (
        "kinds of divisions",
        SignatureLevel::Coarse,
        Fixture(SAXPY, DIVIDED),
        Fixture(SAXPY, INT_DIVIDED),
        false,
    ),
    ("kinds of exceptions", SignatureLevel::Coarse, Fixture(SAXPY, DIVIDED), Fixture(SAXPY, INVALID), false),
    (
        "an exception on two GPUs",
        SignatureLevel::Coarse,
        Fixture(SAXPY, DIVIDED),
        Fixture("saxpy-gfx942-O2", DIVIDED),
        true,
    ),
    ("load addresses", SignatureLevel::Exact, Fixture(SAXPY, &[]), Fixture(SAXPY, LOADED), true),
    ("grids", SignatureLevel::Exact, Fixture(SAXPY, &[]), Fixture(SAXPY, GRID), true),
    ("lanes", SignatureLevel::Line, Fixture(SAXPY, &[]), Fixture(SAXPY, LANES), true),
    ("paths", SignatureLevel::Exact, Fixture(SAXPY, &[]), Fixture(SAXPY, PATHS), true),
    (
        "PCs behind the access",
        SignatureLevel::Line,
        Case("negative_index-gfx90a-O2", 0),
        Case("negative_index-gfx90a-O2", 5),
        true,
    ),
    (
        "a capture with less data",
        SignatureLevel::Default,
        Case("null_member-gfx942-O0", 0),
        Poor("null_member-gfx942-O0"),
        true,
    ),
    ("GPUs", SignatureLevel::Line, Case("null_member-gfx90a-O2", 0), Case("null_member-gfx1201-O2", 0), true),
    (
        "GPUs and wave sizes",
        SignatureLevel::Default,
        Case("read_only-gfx942-O2", 0),
        Case("read_only-gfx1030-O2", 0),
        true,
    ),
    (
        "optimisation",
        SignatureLevel::Coarse,
        Case("pitch_overflow-gfx90a-O0", 0),
        Case("pitch_overflow-gfx90a-O2", 0),
        true,
    ),
    (
        "optimisation and GPUs",
        SignatureLevel::Coarse,
        Case("misaligned-gfx942-O0", 0),
        Case("misaligned-gfx1201-O3", 2),
        true,
    ),
    (
        "OpenCL, GPUs",
        SignatureLevel::Default,
        Case("cl_null-gfx90a-O2", 0),
        Case("cl_null-gfx1100-O2", 0),
        true,
    ),
    (
        "a hang on two GPUs",
        SignatureLevel::Default,
        Case("endless-gfx90a-O2", 0),
        Case("endless-gfx1100-O2", 0),
        true,
    ),
    (
        "a stop reason that was not captured",
        SignatureLevel::Line,
        Fixture(SAXPY, REPORTED),
        Fixture(SAXPY, NO_REASON),
        true,
    ),
    ("two causes", SignatureLevel::Coarse, Fixture(SAXPY, &[]), Fixture(SAXPY, ILLEGAL), false),
    (
        "two kernels",
        SignatureLevel::Coarse,
        Case("null_member-gfx90a-O2", 0),
        Case("null_config-gfx90a-O2", 0),
        false,
    ),
    (
        "two lines at level line",
        SignatureLevel::Line,
        Fixture(SAXPY, ILLEGAL),
        Fixture(SAXPY, ILLEGAL_54),
        false,
    ),
    ("two lines", SignatureLevel::Default, Fixture(SAXPY, ILLEGAL), Fixture(SAXPY, ILLEGAL_54), true),
    (
        "two builds at level exact",
        SignatureLevel::Exact,
        Fixture(SAXPY, &[]),
        Fixture("saxpy-gfx90a-O0", &[]),
        false,
    ),
    (
        "two builds with one offset at level exact",
        SignatureLevel::Exact,
        Fixture(SAXPY, &[]),
        Rebuilt(SAXPY),
        false,
    ),
    ("two builds with one offset", SignatureLevel::Line, Fixture(SAXPY, &[]), Rebuilt(SAXPY), true),
    (
        "two GPUs at level exact",
        SignatureLevel::Exact,
        Case("past_end-gfx90a-O2", 0),
        Case("past_end-gfx942-O2", 0),
        false,
    ),
    (
        "two hangs",
        SignatureLevel::Default,
        Case("spin_lock-gfx90a-O2", 0),
        Case("endless-gfx90a-O2", 0),
        false,
    ),
    (
        "a fault and a hang",
        SignatureLevel::Coarse,
        Case("past_end-gfx90a-O2", 0),
        Case("endless-gfx90a-O2", 0),
        false,
    ),
    ("debug information", SignatureLevel::Default, Fixture(SAXPY, &[]), Fixture(SAXPY, NO_CODE), false),
    (
        "debug information at level coarse",
        SignatureLevel::Coarse,
        Fixture(SAXPY, &[]),
        Fixture(SAXPY, NO_CODE),
        true,
    ),
];

/// The dump, and the folder of its files, which are read on request.
fn opened(cases: &Cases, crash: Crash) -> (Arc<Dump>, Option<tempfile::TempDir>) {
    let case = |name: &str, moment| {
        let mut all = cases.faults.iter().chain(&cases.hangs);
        let case = all.find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"));
        (cases.open(case, moment), None)
    };
    match crash {
        Case(name, distance) => case(name, Moment { distance, has_report: true, lacks_memory: false }),
        Poor(name) => case(name, Moment { distance: 0, has_report: false, lacks_memory: true }),
        Fixture(name, changes) => {
            let folder = tempfile::tempdir().unwrap();
            let dump = folder.path().join("dump");
            copy_dump(name, &dump);
            change(&dump.join("manifest.toml"), changes);
            (open(&dump), Some(folder))
        }
        Rebuilt(name) => {
            let folder = tempfile::tempdir().unwrap();
            let dump = folder.path().join("dump");
            copy_dump(name, &dump);
            let code = dump.join(format!("{name}.hsaco"));
            let mut bytes = fs::read(&code).unwrap();
            // `s_nop 0`, the padding behind the last function (llvm-objdump-22).
            let padding = 0xbf80_0000u32.to_le_bytes();
            let at = bytes.windows(4).rposition(|word| word == padding).unwrap();
            // `s_nop 1` in its place.
            bytes[at..at + 4].copy_from_slice(&0xbf80_0001u32.to_le_bytes());
            fs::write(&code, bytes).unwrap();
            (open(&dump), Some(folder))
        }
    }
}

fn change(manifest: &Path, changes: Changes) {
    let mut text = fs::read_to_string(manifest).unwrap();
    for (from, to) in changes {
        if *from == "[[code_object]]" {
            let (before, rest) = text.split_once(from).unwrap();
            text = format!("{before}{}", &rest[rest.find("[[").unwrap()..]);
            continue;
        }
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    fs::write(manifest, text).unwrap();
}

fn crashes(dump: &Arc<Dump>) -> Crashes {
    let kind = &dump.capture().waves[0].kind;
    let kind = format!("{}:{}", kind.target.name, kind.wave_size);
    let session = Session::new(Arc::clone(dump), Some(&kind)).unwrap();
    Crashes::of(dump, &[&session as &dyn Inspect], &Rules::default())
}

#[test]
fn equal_crashes_have_equal_signatures() {
    let is_of = |crash: &Crash, wanted: &str| matches!(crash, Case(name, _) | Poor(name) if *name == wanted);
    let cases =
        load_some(|name| PAIRS.iter().any(|(_, _, one, other, _)| is_of(one, name) || is_of(other, name)), 1);
    let (mut wrong, mut known) = (Vec::new(), BTreeMap::new());
    assert!(PAIRS.len() >= 20);
    for (name, level, one, other, expected) in PAIRS {
        let [one, other] = [one, other].map(|crash| {
            let found = known.entry(format!("{crash:?}")).or_insert_with(|| {
                let (dump, _folder) = opened(&cases, *crash);
                crashes(&dump)
            });
            found.signatures(*level)
        });
        let first = |of: &[Signature]| of.first().map(|of| (of.id.clone(), of.text.clone()));
        let (one, other) = (first(&one), first(&other));
        // A crash has a signature: two missing ones are no equal ones.
        if one.is_none() || other.is_none() || (one == other) != *expected {
            wrong.push(format!("{name}: {one:?}, {other:?}"));
        }
        // Equal hashes are those of equal texts.
        assert_eq!(one == other, one.map(|one| one.0) == other.map(|other| other.0), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The GPUs of the cases.
const GPUS: [&str; 5] = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"];

/// The kernel, the GPU and the level of a case.
fn parts(name: &str) -> [&str; 3] {
    name.split('-').collect::<Vec<_>>().try_into().expect(name)
}

/// One crash or hang on each GPU, or on two of them: the signatures are equal.
#[test]
fn all_gpus_have_one_signature() {
    let cases = load_some(
        |name| {
            let [kernel, gpu, level] = parts(name);
            let first = pick(kernel, GPUS.len());
            level == "O2"
                && (is_long() || [first, (first + 2) % GPUS.len()].iter().any(|at| GPUS[*at] == gpu))
        },
        1,
    );
    let mut found: BTreeMap<String, Vec<(String, Vec<String>)>> = BTreeMap::new();
    let mut add = |name: &str, gpu: &str, dump: &Arc<Dump>| {
        let ids = crashes(dump).signatures(SignatureLevel::Default).into_iter().map(|of| of.id).collect();
        found.entry(name.to_owned()).or_default().push((gpu.to_owned(), ids));
    };
    for gpu in ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"] {
        add("saxpy", gpu, &open(&fixtures().join(format!("dumps/saxpy-{gpu}-O2"))));
    }
    let moment = Moment { distance: 1, has_report: true, lacks_memory: false };
    for case in cases.faults.iter().chain(&cases.hangs) {
        let kernel = case.name.split('-').next().unwrap();
        // Words of accesses are compared below: here each third of them.
        let is_access = case.fault.as_ref().is_some_and(|fault| fault.kind != "execute");
        if is_access && pick(kernel, 3) != 2 && !is_long() {
            continue;
        }
        // Two kernels fault on one GPU alone.
        let is_on_all = |fault: &Reported| fault.kind != "lds";
        if !case.fault.as_ref().map_or(case.hangs == Some(true), is_on_all) {
            continue;
        }
        add(kernel, &case.gpu, &cases.open(case, moment));
    }
    assert!(found.len() > least(25, 20), "{:?}", found.keys());
    for (crash, all) in &found {
        assert!(all.len() >= least(4, 2), "{crash}: {all:?}");
        let (_, first) = &all[0];
        assert!(!first.is_empty() && all.iter().all(|(_, ids)| ids == first), "{crash}: {all:#?}");
    }
}

/// The words of each fault: its kernel, its file, and the kind of access that the model computed. The sample
/// has a fault of each kernel.
#[test]
fn faults_of_the_models_have_the_words_of_their_sources() {
    let cases = load_some(
        |name| {
            let [kernel, gpu, level] = parts(name);
            // LDS faults on the last GPU alone.
            let first = if kernel.contains("lds") { GPUS.len() - 1 } else { pick(kernel, GPUS.len()) };
            is_long() || gpu == GPUS[first] && level == format!("O{}", pick(kernel, 4))
        },
        1,
    );
    let (mut checked, mut wrong) = (0, Vec::new());
    for (index, case) in cases.faults.iter().enumerate() {
        let fault = case.fault.as_ref().unwrap();
        let kernel = case.name.split('-').next().unwrap();
        let file = if kernel.starts_with("cl_") { "faults_cl.cl" } else { "faults.hip" };
        // The one case whose access is in a called function: its code gives the caller.
        let functions = if kernel == "past_end" { "sum_row < past_end" } else { kernel };
        let expected = match &*fault.kind {
            "execute" => continue,
            _ => format!("memory violation | {functions} @ {file} | {}", fault.access.as_deref().unwrap()),
        };
        checked += 1;
        let moment = Moment { distance: index % 4, has_report: true, lacks_memory: false };
        let found = crashes(&cases.open(case, moment)).signatures(SignatureLevel::Default);
        if found.iter().map(|found| &*found.text).collect::<Vec<_>>() != [&*expected] {
            let found: Vec<_> = found.iter().map(|found| (&found.text, found.waves)).collect();
            wrong.push(format!("{}: expected {expected}, found {found:?}", case.name));
        }
    }
    assert!(checked > least(400, 23), "{checked}");
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}
