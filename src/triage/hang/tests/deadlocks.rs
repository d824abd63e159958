//! Deadlocks at barriers: who waits, who never arrives, and the bits of the status that prove it, over assembled code.

use std::fmt::Write as _;
use std::sync::Arc;

use tempfile::TempDir;

use crate::arch::Targets;
use crate::codeobject::{CodeObject, assembled_for};
use crate::import::{self, Options};
use crate::report::Style;
use crate::session::{Dump, Inspect, Session};
use crate::triage::hang::WaveState::{self, AtBarrier, Ended, Running, Spinning};
use crate::triage::{GroupWait, Hang, Limit, MissingData, Question, Scene, Triage, page, triage};
use crate::units::WaveId;

const LOADED: u64 = 0x7f00_0010_0000;

/// A kernel whose waves split: some come to the barrier, others loop without an exit.
const OLD: &str = "
.text
.globl kernel
.type kernel,@function
kernel:
  s_cbranch_scc1 endless
at:
  s_barrier
behind:
  s_nop 0
ended:
  s_endpgm
endless:
  s_nop 0
  s_branch endless
end:
.size kernel, end-kernel
";

const GPUS: [&str; 3] = ["gfx90a", "gfx1030", "gfx1100"];
/// STATUS.IN_BARRIER of GFX9 to GFX11; STATE_PRIV.BARRIER_COMPLETE of GFX12.
const IN_BARRIER: u32 = 1 << 12;
const BARRIER_COMPLETE: u32 = 1 << 2;

/// A wave: the label of its PC, and further lines of its table and of its registers.
struct At<'a>(&'a str, &'a str, &'a str);

/// Writes a dump of a manifest and of code, and opens it with its folder.
fn opened(manifest: String, code: &[u8]) -> (TempDir, Arc<Dump>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("manifest.toml"), manifest).unwrap();
    std::fs::write(folder.path().join("code.hsaco"), code).unwrap();
    let opened = import::open(folder.path(), &Targets::builtin(), &Options::default()).unwrap();
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    (folder, Arc::new(Dump::new(opened.capture, opened.problems)))
}

/// The loaded address of each label of assembled code.
fn labels(code: &[u8]) -> impl Fn(&str) -> u64 {
    let object = CodeObject::parse(code.to_vec()).unwrap();
    move |label| LOADED + object.symbols().iter().find(|known| known.name == label).unwrap().value
}

/// The analysis of a dump, and its page.
fn asked(dump: Arc<Dump>) -> (Triage, String) {
    let session = Session::new(dump, None).unwrap();
    let sessions: [&dyn Inspect; 1] = [&session];
    let found = triage(&sessions, &Question { wave: None, wants_hang: true });
    let page = page::text(&found, &Scene::new(&sessions), &|_| None, Style::Plain);
    (found, page)
}

/// A work-group of four waves, of which these are captured, in order.
struct Group<'a> {
    gpu: &'a str,
    code: &'a str,
    has_all: bool,
    waves: &'a [At<'a>],
}

impl Group<'_> {
    /// The dump, and its folder.
    fn open(&self) -> (TempDir, Arc<Dump>) {
        let Self { gpu, waves, .. } = self;
        let size = if gpu.starts_with("gfx9") { 64 } else { 32 };
        let code = assembled_for(gpu, self.code);
        let address = labels(&code);
        let mut text = format!(
            "format = 1\nagent = [{{ id = 1, target = \"{gpu}\" }}]\nqueue = [{{ id = 1, agent = 1 }}]\n\
             dispatch = [{{ id = 1, queue = 1, kernel = \"kernel\", grid = [{0}], workgroup = [{0}] }}]\n\
             workgroup = [{{ id = 1, dispatch = 1, position = [0], all_waves = {1} }}]\n\
             [[code_object]]\nfile = \"code.hsaco\"\naddress = {LOADED}\n",
            4 * size,
            self.has_all
        );
        for (number, At(label, table, registers)) in waves.iter().enumerate() {
            let stop = if table.contains("stop") { "" } else { "stop = []" };
            let wide = if size == 32 { "wave_size = 32" } else { "" };
            let _ = write!(
                text,
                "[[wave]]\nid = {}\nworkgroup = 1\nwave_in_group = {number}\n{wide}\n{stop}\n{table}\n\
                 [wave.registers]\npc = {}\nexec = 1\n{registers}\n",
                number + 1,
                address(label)
            );
        }
        opened(text, &code)
    }

    /// The analysis, and its page.
    fn asked(&self) -> (Triage, String) {
        let (_folder, dump) = self.open();
        asked(dump)
    }

    fn hang(&self) -> Hang {
        self.asked().0.hang.unwrap()
    }
}

fn states(hang: &Hang) -> Vec<WaveState> {
    hang.waves.iter().map(|wave| wave.state).collect()
}

/// Status of waves of GFX9 to GFX11.
fn status(bits: u32) -> String {
    format!("status = {bits}")
}

#[test]
fn a_barrier_and_a_loop_without_an_exit_are_a_deadlock() {
    let in_barrier = status(IN_BARRIER);
    for gpu in GPUS {
        let waves = [At("behind", "", &in_barrier), At("at", "", ""), At("endless", "", "")];
        let (found, page) = Group { gpu, code: OLD, has_all: true, waves: &waves }.asked();
        let hang = found.hang.unwrap();
        assert_eq!(states(&hang), [AtBarrier, AtBarrier, Spinning], "{gpu}");
        assert!(hang.is_deadlock && hang.is_hang, "{gpu}");
        let proof = [
            "wave 3 is in a loop without an exit",
            "wave 1, wave 2 wait at a barrier of work-group (0,0,0), which needs wave 3",
        ];
        assert_eq!(hang.proof, proof, "{gpu}");
        let sentence = "deadlock in kernel: 2 waves of work-group (0,0,0) wait at a barrier that wave 3\n\
                        has not reached (proven)\n";
        assert!(page.starts_with(sentence), "{gpu}: {page}");
        assert!(page.contains("3 is in a loop without an exit"), "{gpu}: {page}");
        assert!(
            page.contains("Loops     wave 3") && page.contains("without polling memory"),
            "{gpu}: {page}"
        );
        assert_eq!(found.missing, [], "{gpu}");
    }
}

/// Directly behind the barrier a wave may be released already.
#[test]
fn without_the_status_a_wave_behind_the_barrier_proves_nothing() {
    for gpu in GPUS {
        let asked = |registers: &str| {
            let waves = [At("behind", "", registers), At("endless", "", "")];
            Group { gpu, code: OLD, has_all: true, waves: &waves }.asked()
        };
        let (found, page) = asked("");
        let hang = found.hang.unwrap();
        assert!(hang.is_hang && !hang.is_deadlock, "{gpu}: {hang:?}");
        assert_eq!(found.missing, [MissingData::BarrierStatus { bit: "IN_BARRIER", waves: 1 }], "{gpu}");
        assert!(page.contains("(likely)"), "{gpu}: {page}");
        assert!(page.contains("Missing   IN_BARRIER of 1 wave at the barrier"), "{gpu}: {page}");
        let (found, _) = asked(&status(0));
        assert!(!found.hang.unwrap().is_deadlock && found.missing.is_empty(), "{gpu}");
    }
}

#[test]
fn a_wave_that_faulted_never_arrives() {
    let faulted = At("endless", "stop = [\"memory_violation\"]", "");
    let waves = [At("at", "", ""), faulted];
    let hang = Group { gpu: "gfx90a", code: OLD, has_all: true, waves: &waves }.hang();
    let proof = [
        "wave 2 stopped for a fault and does not continue",
        "wave 1 waits at a barrier of work-group (0,0,0), which needs wave 2",
    ];
    assert!(hang.is_deadlock);
    assert_eq!(hang.proof, proof);
    // It has arrived, and the fault of an earlier access stopped it there.
    let arrived = At("behind", "stop = [\"memory_violation\"]", &status(IN_BARRIER));
    let hang = Group { gpu: "gfx90a", code: OLD, has_all: true, waves: &[At("at", "", ""), arrived] }.hang();
    assert!(!hang.is_deadlock && hang.groups[0].missing.is_empty(), "{hang:?}");
}

/// Four waves were launched: those that are neither captured nor known to be live ended, if the capture has all live ones.
#[test]
fn waves_of_a_group_ended_or_are_not_captured() {
    for gpu in GPUS {
        let group = |has_all, waves: &[At<'_>]| {
            let hang = Group { gpu, code: OLD, has_all, waves }.hang();
            let [GroupWait { waiting, missing, ended, not_captured, .. }] = &hang.groups[..] else {
                panic!("{gpu}: {hang:?}")
            };
            assert_eq!(waiting, &[WaveId(0)], "{gpu}");
            (missing.len(), *ended, *not_captured)
        };
        let at = || At("at", "", "");
        assert_eq!(group(true, &[at()]), (0, Some(3), Some(0)), "{gpu}");
        assert_eq!(group(false, &[at()]), (0, None, Some(3)), "{gpu}");
        assert_eq!(group(true, &[at(), At("ended", "", "")]), (0, Some(3), Some(0)), "{gpu}");
        assert_eq!(group(false, &[at(), At("ended", "", "")]), (0, None, Some(2)), "{gpu}");
        let whole = [at(), At("ended", "", ""), At("endless", "", ""), At("kernel", "", "")];
        assert_eq!(group(false, &whole), (2, Some(1), Some(0)), "{gpu}");
    }
}

/// Waves that ended do not block a barrier: alone with them, a waiting wave is no proof of a deadlock.
#[test]
fn ended_and_absent_waves_prove_no_deadlock() {
    let waves = [At("at", "", ""), At("ended", "", "")];
    for has_all in [false, true] {
        let hang = Group { gpu: "gfx1100", code: OLD, has_all, waves: &waves }.hang();
        assert_eq!(states(&hang), [AtBarrier, Ended]);
        assert!(!hang.is_hang && !hang.is_deadlock, "{hang:?}");
    }
}

/// The split barrier of GFX12 (RDNA4 ISA, "Barriers"): a wave arrives by its signal, and the wait blocks it.
const SPLIT: &str = "
.text
.globl kernel
.type kernel,@function
kernel:
  s_cbranch_scc1 endless
  s_barrier_signal -1
arrived:
  s_nop 0
wait:
  s_barrier_wait -1
  s_nop 0
  s_endpgm
endless:
  s_nop 0
  s_branch endless
end:
.size kernel, end-kernel
";

#[test]
fn a_split_barrier_counts_signals() {
    let complete = |bits: u32| format!("state_priv = {bits}");
    let asked = |registers: &str, third: &str| {
        let waves = [At("wait", "", registers), At("arrived", "", ""), At(third, "", "")];
        Group { gpu: "gfx1201", code: SPLIT, has_all: false, waves: &waves }.asked()
    };
    let (found, page) = asked(&complete(0), "endless");
    let hang = found.hang.unwrap();
    assert_eq!(states(&hang), [AtBarrier, Running, Spinning]);
    let [group] = &hang.groups[..] else { panic!("{hang:?}") };
    assert_eq!((&group.waiting[..], &group.missing[..]), (&[WaveId(0)][..], &[WaveId(2)][..]));
    assert_eq!(group.signalled, [WaveId(1)]);
    assert_eq!((group.ended, group.not_captured), (None, Some(1)));
    assert!(hang.is_deadlock);
    let proof = [
        "wave 3 is in a loop without an exit",
        "wave 1 waits at a barrier of work-group (0,0,0), which needs wave 3",
    ];
    assert_eq!(hang.proof, proof);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("; wave 2 signalled it and runs at kernel;"), "{page}");
    assert!(page.contains("1 wave not captured"), "{page}");
    // All signals came: the barrier is complete, and nobody waits.
    let (found, _) = asked(&complete(BARRIER_COMPLETE), "endless");
    let hang = found.hang.unwrap();
    assert_eq!((states(&hang)[0], hang.groups.len(), hang.is_deadlock), (Running, 0, false));
    // All captured waves arrived, and the fourth is unknown.
    let (found, _) = asked(&complete(0), "arrived");
    let hang = found.hang.unwrap();
    assert!(hang.groups[0].missing.is_empty() && !hang.is_hang && !hang.is_deadlock, "{hang:?}");
    let (found, page) = asked("", "endless");
    assert!(!found.hang.unwrap().is_deadlock);
    assert_eq!(found.missing, [MissingData::BarrierStatus { bit: "BARRIER_COMPLETE", waves: 1 }], "{page}");
}

/// A PC in no captured code, and an absent one.
#[test]
fn unknown_states_have_missing_data() {
    let folder = tempfile::tempdir().unwrap();
    let text = "format = 1\nagent = [{ id = 1, target = \"gfx90a\" }]\nqueue = [{ id = 1, agent = 1 }]\n\
                dispatch = [{ id = 1, queue = 1, grid = [128], workgroup = [128] }]\n\
                workgroup = [{ id = 1, dispatch = 1, position = [0] }]\n\
                wave = [{ id = 1, workgroup = 1, stop = [], registers = { pc = 4096, exec = 1 } },\n\
                { id = 2, workgroup = 1, stop = [], registers = { exec = 1 } }]\n";
    std::fs::write(folder.path().join("manifest.toml"), text).unwrap();
    let opened = import::open(folder.path(), &Targets::builtin(), &Options::default()).unwrap();
    let (found, page) = asked(Arc::new(Dump::new(opened.capture, opened.problems)));
    assert_eq!(found.missing, [MissingData::WavePcs { waves: 1 }, MissingData::WaveCode { waves: 1 }]);
    assert_eq!(states(found.hang.as_ref().unwrap()), [WaveState::Unknown; 2]);
    assert!(page.contains("2 waves are at unknown code"), "{page}");
}

/// A kernel with a loop that polls memory, and one without an exit.
const POLLING: &str = "
.text
.globl kernel
.type kernel,@function
kernel:
  s_cbranch_scc1 endless
polling:
  s_load_dword s4, s[2:3], 0x0
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc1 polling
  s_endpgm
endless:
  s_nop 0
  s_branch endless
end:
.size kernel, end-kernel
";

/// The values of a bounded number of waves are read. Loops that poll nothing have none, and do not count.
#[test]
fn only_waves_that_poll_reach_the_limit_of_polled_values() {
    let of_waves = |polling: usize, endless: usize| {
        let code = assembled_for("gfx90a", POLLING);
        let address = self::labels(&code);
        let mut text = format!(
            "format = 1\nagent = [{{ id = 1, target = \"gfx90a\" }}]\n\
             [[code_object]]\nfile = \"code.hsaco\"\naddress = {LOADED}\n"
        );
        let labels = [("polling", polling), ("endless", endless)];
        let labels = labels.into_iter().flat_map(|(label, count)| std::iter::repeat_n(label, count));
        for (id, label) in (1..).zip(labels) {
            let pc = address(label);
            let _ = write!(
                text,
                "[[wave]]\nid = {id}\nagent = 1\nstop = []\n\
                 registers = {{ pc = {pc}, exec = 1, s2 = 4096, s3 = 0 }}\n"
            );
        }
        let (_folder, dump) = opened(text, &code);
        asked(dump).0
    };
    for (polling, endless, is_cut) in [(1, 2000, false), (1024, 0, false), (1025, 1, true)] {
        let found = of_waves(polling, endless);
        let hang = found.hang.unwrap();
        assert!(hang.waves.iter().all(|wave| wave.state == Spinning), "{polling} {endless}");
        let with_values = hang.waves.iter().filter(|wave| !wave.polls.is_empty()).count();
        assert_eq!(with_values, polling.min(1024), "{polling} {endless}");
        let limit = found.missing.contains(&MissingData::Limit(Limit::Hang));
        assert_eq!((hang.is_cut, limit), (is_cut, is_cut), "{polling} {endless}");
    }
}

/// Other work-groups of the grid may run, and write what the wave waits for: unless the capture has all live waves.
#[test]
fn a_loop_of_a_part_of_a_dispatch_is_no_hang() {
    let code = "
.text
.globl kernel
.type kernel,@function
kernel:
again:
  global_load_dword v1, v0, s[0:1] glc
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc, 0, v1
  s_cbranch_vccnz again
  s_endpgm
end:
.size kernel, end-kernel
";
    let code = assembled_for("gfx90a", code);
    let asked = |grid: u32, group: u32, all: &str| {
        let text = format!(
            "format = 1\nagent = [{{ id = 1, target = \"gfx90a\" }}]\nqueue = [{{ id = 1, agent = 1 }}]\n\
             dispatch = [{{ id = 1, queue = 1, kernel = \"kernel\", grid = [{grid}], workgroup = [{group}] }}]\n\
             workgroup = [{{ id = 1, dispatch = 1, position = [0]{all} }}]\n\
             [[code_object]]\nfile = \"code.hsaco\"\naddress = {LOADED}\n\
             [[wave]]\nid = 1\nworkgroup = 1\nwave_in_group = 0\nstop = []\n\
             [wave.registers]\npc = {}\nexec = 1\n",
            labels(&code)("kernel")
        );
        let (_folder, dump) = opened(text, &code);
        asked(dump).0
    };
    for (grid, group) in [(64_000, 64), (128, 128)] {
        let found = asked(grid, group, "");
        assert!(!found.hang.unwrap().is_hang, "{grid}");
        assert_eq!(found.missing, [MissingData::DispatchWaves { waves: 1 }], "{grid}");
        let found = asked(grid, group, ", all_waves = true");
        assert!(found.hang.unwrap().is_hang && found.missing.is_empty(), "{grid}");
    }
    assert!(asked(64, 64, "").hang.unwrap().is_hang);
}
