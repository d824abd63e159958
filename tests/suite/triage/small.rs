//! Small dumps: the analysis of one is that of its origin, also of one with few of many waves.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use lanescope::arch::Targets;
use lanescope::capture::{FaultAddress, PAGE};
use lanescope::check::Verdict;
use lanescope::import::{self, Options};
use lanescope::session::{Dump, Inspect, Session};
use lanescope::signature::{Crashes, Rules, SignatureLevel};
use lanescope::slim::{self, Basis, Choice, MAX_FAULTED, MAX_HUNG};
use lanescope::triage::{self, Limit, MissingData, PatternOf, Question, Scene};

use super::cases::{Case, Cases, Moment, load_some};
use crate::expectations::evaluate;
use crate::fixtures::copy_dump;
use crate::slim::{Scratch, slim, words};
use crate::slim_messages::options;
use crate::support::sample::{is_long, sampled};

const MOMENT: Moment = Moment { distance: 3, has_report: true, lacks_memory: false };

/// The parts of an analysis that a small dump keeps.
#[derive(Debug, PartialEq)]
struct Answer {
    sentence: String,
    /// Instruction, certainty, lanes and patterns of each suspect.
    suspects: Vec<(u64, String, u64, Vec<PatternOf>)>,
    /// Waves that faulted, did not, are unknown, and all.
    stops: [usize; 4],
    /// Dispatch, state and number of waves.
    counts: Vec<(Option<u32>, &'static str, usize)>,
    /// Whether a hang or a deadlock is visible.
    hang: Option<(bool, bool)>,
    signatures: Vec<(String, usize)>,
}

/// The answer of a dump, and what a small dump needs for it.
fn answer(dump: &Arc<Dump>) -> (Answer, Basis) {
    let session = Session::new(Arc::clone(dump), None).unwrap().watching();
    let sessions: [&dyn Inspect; 1] = [&session];
    let found = triage::triage(&sessions, &Question::default());
    let crashes = Crashes::of_analysis(dump, &sessions, &found, &Rules::default());
    let signatures = SignatureLevel::ALL.into_iter().flat_map(|level| crashes.signatures(level));
    let suspects = found
        .suspects
        .iter()
        .map(|of| (of.instruction, format!("{:?}", of.confidence), of.lanes.0, of.patterns.clone()));
    let stops = &found.waves;
    let hang = found.hang.as_ref();
    let counts =
        hang.iter().flat_map(|hang| &hang.counts).map(|(of, state, count)| (*of, state.name(), *count));
    let answer = Answer {
        sentence: triage::sentence(&found, &Scene::new(&sessions)),
        suspects: suspects.collect(),
        stops: [stops.faulted, stops.bystanders, stops.unknown, stops.asked],
        counts: counts.collect(),
        hang: hang.map(|hang| (hang.is_hang, hang.is_deadlock)),
        signatures: signatures.map(|of| (of.text, of.waves)).collect(),
    };
    let basis = triage::basis(&sessions, &found);
    (answer, Basis { read: vec![session.touched()], ..basis })
}

/// Lines of a file about the numbers of an answer; of states only where the answer has them without a question.
fn numbers(of: &Answer) -> String {
    let [faulted, _, _, all] = of.stops;
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, state, count) in &of.counts {
        *states.entry(*state).or_default() += count;
    }
    let hang = of.hang.map(|(is_hang, _)| if is_hang { "hang\n" } else { "hang none\n" });
    // The state `unknown` of one wave may be any other.
    let states = states.iter().filter(|_| !states.contains_key("unknown"));
    let states = states.map(|(state, count)| format!("hang {} {count}\n", state.replace(['_', '-'], " ")));
    format!("waves {all}, faulted {faulted}\n{}", hang.unwrap_or_default()) + &states.collect::<String>()
}

/// Whether the accesses of some waves are unknown if a page is reported that no captured access is on: with the report
/// beside the dump, and in a small dump that is made with it.
fn lacks_accesses(cases: &Cases, name: &str, dump: &Path, scratch: &Scratch) -> bool {
    let start = 0x7abc_dead_0000;
    let fault_address = Some(FaultAddress { start, bytes: PAGE, is_inexact: false });
    let opened = |dump: &Path, fault_address| {
        let options = Options { fault_address, ..Options::default() };
        cases.dump(name, import::open(dump, &Targets::builtin(), &options).unwrap())
    };
    let lacks = |dump: &Arc<Dump>| {
        let session = Session::new(Arc::clone(dump), None).unwrap();
        let missing = triage::triage(&[&session], &Question::default()).missing;
        // A limit of the analysis is another reason, with another remedy.
        assert!(!missing.contains(&MissingData::Limit(Limit::Accesses)), "{name}: {missing:?}");
        let lacks = missing.iter().any(|of| matches!(of, MissingData::LeftOutWaves { waves: 1.. }));
        assert!(!lacks || !missing.contains(&MissingData::Access { page: start }), "{name}: {missing:?}");
        lacks
    };
    let reported = opened(dump, fault_address);
    let to = scratch.path(&format!("{}-reported.zip", dump.file_stem().unwrap().to_str().unwrap()));
    slim::slim(&reported, &slim::Options { choice: Choice::All, ..options() }, &to, &mut |_| {}).unwrap();
    let found = lacks(&reported);
    assert_eq!(lacks(&opened(&to, None)), found, "{name}, with the report in the dump");
    found
}

/// Compares a dump with a small one, and `again` with a small one of that; returns the numbers of waves of the first two.
fn compare(cases: &Cases, name: &str, dump: &Arc<Dump>, scratch: &Scratch, again: bool) -> [usize; 2] {
    let (before, basis) = answer(dump);
    let to = scratch.path(&format!("{name}.zip"));
    let options = slim::Options { basis, ..options() };
    slim::slim(dump, &options, &to, &mut |_| {}).unwrap();
    let opened = import::open(&to, &Targets::builtin(), &Options::default()).unwrap();
    let small = cases.dump(name, opened);
    let (after, basis_of_small) = answer(&small);
    assert_eq!(after, before, "{name}");
    if small.capture().waves.len() < dump.capture().waves.len() {
        let (lines, outcomes) = (numbers(&before), evaluate(&small, &numbers(&before)));
        let are_right = outcomes.iter().all(|outcome| outcome.verdict == Verdict::Holds);
        assert!(are_right && !outcomes.is_empty(), "{name}: {lines}\n{outcomes:#?}");
    }
    if again {
        let to = scratch.path(&format!("{name}-again.zip"));
        slim::slim(&small, &slim::Options { basis: basis_of_small, ..options }, &to, &mut |_| {}).unwrap();
        let opened = import::open(&to, &Targets::builtin(), &Options::default()).unwrap();
        assert_eq!(answer(&cases.dump(name, opened)).0, before, "{name}, again");
    }
    [dump, &small].map(|dump| dump.capture().waves.len())
}

/// The moments of a case: in the long run with and without a report, and without a piece of its memory.
fn moments(case: &Case, index: usize) -> Vec<Moment> {
    let all = [
        Moment { has_report: false, ..MOMENT },
        MOMENT,
        Moment { distance: 8, lacks_memory: true, ..MOMENT },
    ];
    match (case.fault.is_some(), is_long()) {
        (true, true) => all.to_vec(),
        (true, false) => vec![all[index % 2]],
        (false, _) => vec![Moment { distance: 0, ..all[0] }],
    }
}

#[test]
fn the_analysis_of_a_small_dump_is_that_of_its_origin() {
    // Each 39th fault: most patterns. Each 13th hang: loops, barriers, locks and healthy dispatches.
    let cases = load_some(|_| true, 13);
    let scratch = Scratch::new("triage-small");
    let all = sampled(&cases.faults, 3).chain(&cases.hangs).enumerate();
    let next = Mutex::new(all.flat_map(|(index, case)| {
        moments(case, index).into_iter().enumerate().map(move |(at, moment)| (index, case, at, moment))
    }));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((index, case, at, moment)) = { next.lock().unwrap().next() } {
                    let name = format!("{}-{at}", case.name);
                    // A small dump is a capture like others.
                    compare(&cases, &name, &cases.open(case, moment), &scratch, index % 8 == 0);
                }
            });
        }
    });
}

/// More waves than are kept of a stack, of a place of a fault, and of a dispatch that hangs: few of them stand for all.
#[test]
fn few_waves_stand_for_many() {
    const KERNELS: [&str; 6] =
        ["past_end-", "cl_wrap-", "barrier_endless-", "lock_at_barrier-", "spin_lock-", "healthy-"];
    let is_wanted = |name: &str| KERNELS.iter().any(|kernel| name.starts_with(kernel));
    let cases = load_some(|name| is_wanted(name) && (is_long() || name.ends_with("-gfx90a-O2")), 1);
    let scratch = Scratch::new("triage-few");
    let mut count = 0;
    for case in cases.faults.iter().chain(&cases.hangs) {
        // A dispatch may have one wave that faults.
        let times = (MAX_HUNG / case.waves.len()).max(MAX_FAULTED) as u32 + 10;
        for (at, moment) in moments(case, 0).into_iter().enumerate() {
            let dump = cases.open_times(case, moment, times);
            let name = format!("{}-{at}", case.name);
            let [all, few] = compare(&cases, &name, &dump, &scratch, false);
            assert!(few < all, "{}: {few} of {all} waves are kept", case.name);
            if case.fault.is_some() && !moment.has_report {
                // Waves that stay out were not searched for a page that is reported later.
                let small = scratch.path(&format!("{name}.zip"));
                assert!(lacks_accesses(&cases, &case.name, &small, &scratch), "{}", case.name);
                let whole = scratch.path(&format!("{}-whole.zip", case.name));
                let options = slim::Options { choice: Choice::All, ..options() };
                slim::slim(&dump, &options, &whole, &mut |_| {}).unwrap();
                assert!(!lacks_accesses(&cases, &case.name, &whole, &scratch), "{}", case.name);
            }
            count += 1;
        }
    }
    assert!(count >= KERNELS.len(), "{count} cases");
}

/// The GPUs of a capture are those of its process: logs that come later are about one of them, or of others.
#[test]
fn a_small_dump_has_the_gpus_of_its_origin() {
    let scratch = Scratch::new("small-gpus");
    let two = scratch.path("two");
    copy_dump("masks-gfx90a", &two);
    let agent = |id: u32, location: u32| {
        format!(
            "[[agent]]\nid = {id}\ntarget = \"gfx90a\"\nhardware = {{ vendor = 4098, device = 29708, \
             location = {location}, simds = 440, waves_per_simd = 8, xccs = 1 }}\n\n"
        )
    };
    let manifest = std::fs::read_to_string(two.join("manifest.toml")).unwrap();
    let one = "[[agent]]\nid = 1\ntarget = \"gfx90a\"\n\n";
    assert!(manifest.contains(one), "{manifest}");
    let both = manifest.replace(one, &(agent(1, 0x300) + &agent(2, 0x8300)));
    std::fs::write(two.join("manifest.toml"), both).unwrap();
    let small = scratch.path("small.zip");
    slim(&two, &small, &[]);
    let log = scratch.path("later.log");
    let message = |node: u32| {
        format!(
            "Memory access fault by GPU node-{node} (Agent handle: 0x55d0) on address 0x7f0000201000. Reason: Unknown.\n"
        )
    };
    let row = "amdgpu 0000:83:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)\n\
               amdgpu 0000:83:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 10\n";
    for text in [message(1), message(4), row.to_owned(), row.replace(":83:", ":84:")] {
        std::fs::write(&log, &text).unwrap();
        let faults = |dump: &Path| answer_of(&["faults", words(dump), "--log", words(&log), "--json"]);
        let [before, after] = [faults(&two), faults(&small)].map(|faults| faults["faults"].clone());
        assert_eq!(before, after, "{text}");
    }
}

fn answer_of(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&crate::slim::answer(arguments)).unwrap()
}
