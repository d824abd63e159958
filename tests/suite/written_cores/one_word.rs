//! One damaged word anywhere in a save area never makes a wave differ from the truth without a mark.
//!
//! The truth is the writer's plan: each core is first read whole and compared with its model. A damaged core is then compared with
//! that reading: a wave without a mark is at the place of a true wave, its registers, LDS and private memory come from the same
//! bytes of the file, and its work-group, dispatch, place and stop reason are the same, or absent.
//!
//! A damaged word that is the only place of a value changes that value, and nothing can tell. Those are, each of the one wave whose
//! block holds the word: a register, a dword of LDS; the PC, status and stop reasons that follow from hardware registers and trap
//! temporaries; what trap temporaries say of a launch, where no other wave of the work-group says it. And of records: private memory
//! where no register confirms it ([`Record::is_free`]).

use std::collections::HashMap;
use std::fmt::Write as _;

use lanescope::arch::{RegId, Targets};
use lanescope::capture::{Capture, MemoryMap, Wave};
use lanescope::import;

use super::compare::{self, Differences};
use crate::core_writer::area::block_layout;
use crate::core_writer::core::{Bulk, build, ordered};
use crate::core_writer::filler::{self, Chooser, Kind};
use crate::core_writer::gpu::{self, Family};
use crate::core_writer::plan::{AQL, FilePlan, Layout, NotePlace, Plan, Quirks};
use crate::core_writer::{matrix, model};

/// What a word of a save area is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Header,
    /// Of the control stack.
    Record,
    /// Hardware registers and trap temporaries, of the wave of that index.
    State(usize),
    /// All other words of that wave's block.
    Data(usize),
}

#[derive(Clone, Copy, Debug)]
struct Word {
    /// Offset in the file.
    at: usize,
    role: Role,
}

/// A core that is damaged, and what it truly holds.
struct Victim {
    plan: Plan,
    bytes: Vec<u8>,
    whole: Capture,
    words: Vec<Word>,
    /// Waves by first address and bytes of their registers.
    waves: HashMap<(u64, u64), usize>,
    /// By wave: whether another wave of its work-group holds the same facts of the launch.
    has_witness: Vec<bool>,
}

fn family(plan: &Plan) -> Family {
    plan.agents[0].gpu.family
}

impl Victim {
    fn new(mut plan: Plan) -> Self {
        plan = matrix::uniform(plan);
        plan.process.ttmp_setup = true;
        plan.file = FilePlan {
            layout: Layout::Unified,
            rocr_headers: false,
            host_notes: NotePlace::Alone,
            zero_headers: 0,
            cut_every: None,
            host_views: false,
            quirks: Quirks::default(),
        };
        let core = build(&plan, Bulk::Filled, Vec::new());
        let bytes = core.gpu.bytes();
        // The truth first: every value of the core as it is.
        let folder = tempfile::tempdir().unwrap();
        let (_, opened) = compare::written(folder.path(), &plan);
        let mut wrong = Differences::new();
        compare::all(&plan, &opened, &model::of(&plan), &mut wrong);
        wrong.fail_if_any();
        let whole = read(&plan.name, bytes.clone());
        let marked: Vec<_> = whole.waves.iter().filter_map(|wave| wave.unconfirmed.as_deref()).collect();
        let unallotted = |mark: &&&str| mark.contains("SCRATCH_EN");
        assert_eq!(marked.iter().filter(|mark| !unallotted(mark)).count(), 0, "{}: {marked:?}", plan.name);
        let offset = |address: u64| {
            let segments = core.gpu.segments.iter();
            let mut found = segments.filter(|(first, _, size)| (*first..first + size).contains(&address));
            let (first, offset, _) = found.next().unwrap();
            (offset + address - first) as usize
        };
        let (mut words, mut has_witness, mut wave) = (Vec::new(), Vec::new(), 0);
        for (queue, by_xcc) in ordered(&plan).into_iter().enumerate() {
            if plan.queues[queue].kind != AQL {
                continue;
            }
            for (xcc, entries) in by_xcc.into_iter().enumerate() {
                let area = &core.areas[queue][xcc];
                let run = |from: u64, bytes: u64, role| {
                    (from..from + bytes).step_by(4).map(move |at| (area.address + at, role))
                };
                let mut here: Vec<(u64, Role)> = run(0, 40, Role::Header).collect();
                here.extend(run(area.stack.0, area.stack.1, Role::Record));
                for ((of, opens, _), (first, size)) in entries.iter().zip(&area.blocks) {
                    let layout = block_layout(of.wave.counts, opens.map_or(0, |_| of.group.lds));
                    here.extend(run(*first, layout.hardware, Role::Data(wave)));
                    here.extend(run(first + layout.hardware, 128, Role::State(wave)));
                    here.extend(run(first + layout.lds, size - layout.lds, Role::Data(wave)));
                    let others = of.group.waves.iter().filter(|other| !std::ptr::eq(*other, of.wave));
                    has_witness.push(others.filter(|other| !other.no_dispatch_info).count() > 0);
                    wave += 1;
                }
                words.extend(here.into_iter().map(|(address, role)| Word { at: offset(address), role }));
            }
        }
        assert_eq!(wave, whole.waves.len(), "{}", plan.name);
        let places = whole.waves.iter().enumerate();
        let waves = places.map(|(index, wave)| (place(wave), index)).collect();
        Self { plan, bytes, whole, words, waves, has_witness }
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    /// What a damaged word may hold: bits flipped, all clear, all set, its neighbours, numbers beside it.
    fn values(&self, word: Word, long: bool) -> Vec<u32> {
        let value = self.word(word.at);
        let bit = |number| 1u32 << (filler::word(word.at as u32, Kind::Choice, number, 0, 0) % 32);
        let mut values = vec![0, u32::MAX, !value, self.word(word.at - 4), self.word(word.at + 4)];
        values.extend([value ^ bit(0), value ^ bit(1), value ^ bit(0) ^ bit(2), value.wrapping_add(4)]);
        values.extend([value.wrapping_sub(4), value.wrapping_add(0x1000), 0x7fff_ffff, 4]);
        values.push(filler::word(word.at as u32, Kind::Choice, 9, 0, 0));
        if long {
            values.extend((0..32).map(|bit| value ^ 1u32 << bit));
        }
        values.retain(|other| *other != value);
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The damages that are tried: of each kind of word about as many.
    fn damages(&self, long: bool) -> Vec<(Word, u32)> {
        let mut chooser = Chooser::new(self.plan.seed);
        let mut all = Vec::new();
        for word in &self.words {
            let values = self.values(*word, long);
            let one_in: u32 = match word.role {
                Role::Data(_) => 4000,
                Role::State(_) => 40,
                Role::Header | Role::Record => 12,
            };
            for value in values {
                if chooser.one_in(if long { one_in.div_ceil(12) } else { one_in }) {
                    all.push((*word, value));
                }
            }
        }
        all
    }

    /// What differs of a wave without a mark, without what only the damaged word could tell.
    fn differences(&self, now: &Capture, wave: &Wave, word: Word) -> Vec<String> {
        let Some(index) = self.waves.get(&place(wave)) else { return vec!["its block".to_owned()] };
        let mut found = differences(&self.whole, &self.whole.waves[*index], now, wave);
        match word.role {
            Role::State(of) if of == *index => {
                let own = ["pc", "status", "state_priv", "stop", "VGPRs"];
                found.retain(|what| !own.contains(&what.as_str()));
                if !self.has_witness[of] {
                    found.retain(|what| !["position", "dispatch", "place"].contains(&what.as_str()));
                }
            }
            // The first of a work-group whose other waves hold nothing of the launch.
            Role::State(of)
                if !self.has_witness[of]
                    && self.whole.waves[of].workgroup == self.whole.waves[*index].workgroup =>
            {
                found.retain(|what| !["position", "dispatch"].contains(&what.as_str()));
            }
            Role::Record => {
                // No register has the base of private memory.
                if family(&self.plan) < Family::Aqua {
                    found.retain(|what| what != "private memory");
                }
                // No kernel descriptor confirms wave size and accumulation VGPRs.
                if self.whole.dispatch_of(&self.whole.waves[*index]).is_none() {
                    found.retain(|what| !["kind", "registers"].contains(&what.as_str()));
                }
            }
            _ => {}
        }
        found
    }
}

fn read(name: &str, bytes: Vec<u8>) -> Capture {
    thread_local!(static TARGETS: Targets = Targets::builtin());
    TARGETS.with(|targets| import::open_bytes(name, bytes, targets)).unwrap().capture
}

fn place(wave: &Wave) -> (u64, u64) {
    wave.registers.image.map_or((0, 0), |image| (image.offset, image.length))
}

fn pieces(map: &MemoryMap) -> Vec<(u64, usize, u64, u64)> {
    let each = |segment: &lanescope::capture::Segment| {
        let extent = segment.extent;
        (segment.address, extent.backing.0 as usize, extent.offset, extent.length)
    };
    map.segments().iter().map(each).collect()
}

/// What of `wave` is there and is not that of `truth`.
fn differences(whole: &Capture, truth: &Wave, now: &Capture, wave: &Wave) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, is_same: bool| {
        if !is_same {
            found.push(what.to_owned());
        }
    };
    let kind = |wave: &Wave| (wave.kind.target.name.clone(), wave.kind.wave_size);
    check("kind", kind(wave) == kind(truth));
    check("agent", now.agents[wave.agent].id == whole.agents[truth.agent].id);
    let queue = now.queue_of(wave).map(|queue| queue.id);
    check("queue", queue.is_none() || queue == whole.queue_of(truth).map(|queue| queue.id));
    let (group, true_group) = (now.workgroup_of(wave), whole.workgroup_of(truth).unwrap());
    if let Some(group) = group {
        check("position", group.position.is_none() || group.position == true_group.position);
        let is_absent = group.lds_size.is_none() && group.lds.segments().is_empty();
        let is_same = group.lds_size == true_group.lds_size && pieces(&group.lds) == pieces(&true_group.lds);
        check("LDS", is_absent || is_same);
    }
    let facts = |capture: &Capture, wave: &Wave| {
        let of = capture.dispatch_of(wave)?;
        Some((of.packet, of.grid, of.workgroup, of.kernarg, of.kernel_object))
    };
    let dispatch = facts(now, wave);
    check("dispatch", dispatch.is_none() || dispatch == facts(whole, truth));
    check("place", wave.wave_in_group.is_none() || wave.wave_in_group == truth.wave_in_group);
    check("stop", wave.stop.is_none() || wave.stop == truth.stop);
    check("SGPRs", wave.sgpr_count.is_none() || wave.sgpr_count == truth.sgpr_count);
    let no_private = wave.private.segments().is_empty() && wave.private_size != Some(0);
    let same_private =
        wave.private_size == truth.private_size && pieces(&wave.private) == pieces(&truth.private);
    check("private memory", no_private || same_private);
    if kind(wave) != kind(truth) {
        return found;
    }
    // The place of a register in its wave's block; the last block counts.
    let source = |wave: &Wave, id: RegId| {
        let layout = wave.registers.layout.as_deref()?;
        let holds = |first: RegId, count: u16| (first.0..first.0 + count).contains(&id.0);
        let block = layout.iter().rev().find(|block| holds(block.first, block.count))?;
        Some((
            block.offset + u64::from(id.0 - block.first.0) * u64::from(block.width),
            block.width,
            block.known,
        ))
    };
    let layouts = [wave, truth].map(|wave| wave.registers.layout.as_deref());
    if layouts[0] != layouts[1] {
        for register in wave.kind.registers() {
            let (here, there) = (source(wave, register.id), source(truth, register.id));
            if here.is_some() && here != there {
                check(if register.is_vector() && there.is_none() { "VGPRs" } else { "registers" }, false);
                break;
            }
        }
    }
    // Rewritten registers by value.
    let own = wave.registers.own.iter().chain(&truth.registers.own).map(|(_, block)| block.first);
    for id in own {
        let (here, there) = (now.register(wave, id).unwrap(), whole.register(truth, id).unwrap());
        let is_same = (0..here.dwords())
            .all(|dword| here.dword(dword).is_none() || here.dword(dword) == there.dword(dword));
        if !is_same {
            check(&wave.kind.register(id).unwrap().name, false);
        }
    }
    found.dedup();
    found
}

/// How the waves of damaged cores came out.
#[derive(Debug, Default)]
struct Tally {
    damages: usize,
    right: usize,
    marked: usize,
    absent: usize,
    /// By what differs.
    wrong: HashMap<String, Vec<String>>,
}

#[expect(clippy::print_stdout, reason = "the counts of the damages, for --nocapture")]
fn check(plans: impl Iterator<Item = Plan>) {
    let long = std::env::var_os("LANESCOPE_LONG").is_some();
    let mut tally = Tally::default();
    for plan in plans {
        let victim = Victim::new(plan);
        for (word, value) in victim.damages(long) {
            let mut bytes = victim.bytes.clone();
            bytes[word.at..word.at + 4].copy_from_slice(&value.to_le_bytes());
            let now = read("damaged", bytes);
            tally.damages += 1;
            tally.absent += victim.whole.waves.len().saturating_sub(now.waves.len());
            for wave in &now.waves {
                if wave.unconfirmed.is_some() {
                    tally.marked += 1;
                    continue;
                }
                let found = victim.differences(&now, wave, word);
                if found.is_empty() {
                    tally.right += 1;
                    continue;
                }
                let old = victim.word(word.at);
                let place = format!(
                    "{}: {:?} at {:#x}: {old:#x} -> {value:#x}: wave {}: {}",
                    victim.plan.name,
                    word.role,
                    word.at,
                    wave.id,
                    found.join(", ")
                );
                tally.wrong.entry(found.join(", ")).or_default().push(place);
            }
        }
    }
    let Tally { damages, right, marked, absent, wrong } = &tally;
    let count: usize = wrong.values().map(Vec::len).sum();
    let mut words =
        format!("{damages} damages: {right} waves right, {marked} marked, {absent} absent, {count} wrong");
    println!("{words}");
    for (what, places) in wrong {
        let _ = write!(words, "\n{} times {what}:", places.len());
        for place in places.iter().take(8) {
            let _ = write!(words, "\n    {place}");
        }
    }
    assert!(count == 0, "{words}");
    assert!(*damages > 100 && *right > 100 && *marked > 20 && *absent > 20, "{words}");
}

fn of(families: &'static [Family]) -> impl Iterator<Item = Plan> {
    let alone = gpu::ALL.into_iter().zip(0..).filter(|(gpu, _)| families.contains(&gpu.family));
    alone.flat_map(|(gpu, index)| {
        let sizes = gpu.family.wave_sizes().iter();
        sizes.map(move |lanes| matrix::plan(gpu, *lanes, 7000 + index * 64 + lanes))
    })
}

#[test]
fn a_damaged_word_of_gfx9_is_never_taken_for_sound() {
    check(of(&[Family::Vega, Family::Arcturus, Family::Aldebaran]));
}

#[test]
fn a_damaged_word_of_gfx94x_is_never_taken_for_sound() {
    check(of(&[Family::Aqua, Family::Gfx950]));
}

#[test]
fn a_damaged_word_of_gfx10_is_never_taken_for_sound() {
    check(of(&[Family::Navi1, Family::Navi2]));
}

#[test]
fn a_damaged_word_of_gfx11_and_gfx12_is_never_taken_for_sound() {
    check(of(&[Family::Navi3, Family::Navi4]));
}
