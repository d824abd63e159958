//! One damaged word anywhere in a save area never makes a wave differ from the truth without a mark.
//!
//! The truth is the writer's plan: each core is first read whole and compared with its model, then damaged cores with
//! that reading. A wave without a mark is at the address of a true wave. Its registers, LDS and private memory come
//! from the same bytes of the file. Its work-group, dispatch, position and stop reason are the same, or absent.
//!
//! A value without confirmation is among the wave's `unchecked` values, in the intact core as in the damaged one.
//! Without any mark only values of the damaged word itself change: a register, a dword of LDS; the PC, the status, and
//! the stop reasons that follow from one hardware register or trap temporary of the same wave.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::RangeBounds;

use lanescope::arch::{RegId, Targets};
use lanescope::capture::{Capture, MemoryMap, Wave};
use lanescope::import;

use super::compare::{self, Differences};
use crate::core_writer::area::block_layout;
use crate::core_writer::core::{Bulk, build, ordered};
use crate::core_writer::filler::{self, Chooser, Filling};
use crate::core_writer::gpu::{self, Family};
use crate::core_writer::plan::{AQL, FilePlan, Group, Layout, Plan, Wave as PlannedWave};
use crate::core_writer::{matrix, model};
use crate::support::{least, sample::is_long};

/// Kind of a save area's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Header,
    /// Part of the control stack.
    Record,
    /// Hardware register or trap temporary of the wave with that index.
    State(usize),
    /// Any other word of that wave's block.
    Data(usize),
}

#[derive(Clone, Copy, Debug)]
struct Word {
    /// Offset in the file.
    at: usize,
    role: Role,
}

/// A core to damage, and its true values.
struct Victim {
    plan: Plan,
    bytes: Vec<u8>,
    whole: Capture,
    words: Vec<Word>,
    /// Waves by first address and bytes of their registers.
    waves: HashMap<(u64, u64), usize>,
}

fn family(plan: &Plan) -> Family {
    plan.agents[0].gpu.family
}

impl Victim {
    fn new(mut plan: Plan) -> Self {
        // The targets with `scratch = "buffer"`.
        let has_buffers =
            family(&plan) < Family::Aqua || matches!(family(&plan), Family::Navi1 | Family::Navi2);
        if has_buffers {
            plan = matrix::with_buffers(plan);
        }
        plan.process.ttmp_setup = true;
        plan.file = FilePlan::plain(Layout::Unified);
        let core = build(&plan, Bulk::Filled, Vec::new());
        let bytes = core.gpu.bytes();
        // First the truth: every value of the undamaged core.
        let folder = tempfile::tempdir().unwrap();
        let (_, opened) = compare::written(folder.path(), &plan);
        let mut wrong = Differences::new();
        compare::all(&plan, &opened, &model::of(&plan), &mut wrong);
        wrong.fail_if_any();
        let whole = read(&plan.name, bytes.clone());
        let marked: Vec<_> = whole.waves.iter().filter_map(|wave| wave.unconfirmed.as_deref()).collect();
        // Undamaged cores with contradictions: no allocated scratch, or a descriptor that does not match all waves.
        let is_planned =
            |mark: &&&str| mark.contains("SCRATCH_EN") || mark.contains("its kernel's descriptor");
        assert_eq!(marked.iter().filter(|mark| !is_planned(mark)).count(), 0, "{}: {marked:?}", plan.name);
        // A register with the address of private memory confirms it. No other register of gfx9 is planned to have it.
        let is_noise = family(&plan) < Family::Aqua;
        for (wave, (.., planned)) in whole.waves.iter().zip(aql_waves(&plan)) {
            if !wave.private.segments().is_empty() && (is_noise || !planned.scalars.is_empty()) {
                let is_confirmed = !unchecked(wave).contains(&"private memory");
                assert_eq!(is_confirmed, !planned.scalars.is_empty(), "{}: wave {}", plan.name, wave.id);
            }
        }
        let offset = |address: u64| {
            let segments = core.gpu.segments.iter();
            let mut found = segments.filter(|(first, _, size)| (*first..first + size).contains(&address));
            let (first, offset, _) = found.next().unwrap();
            (offset + address - first) as usize
        };
        let (mut words, mut wave) = (Vec::new(), 0);
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
                    let layout =
                        block_layout(of.agent.gpu.family, of.wave.counts, opens.map_or(0, |_| of.group.lds));
                    let state = layout.hardware.min(layout.traps);
                    here.extend(run(*first, state, Role::Data(wave)));
                    here.extend(run(first + state, 128, Role::State(wave)));
                    here.extend(run(first + state + 128, size - state - 128, Role::Data(wave)));
                    wave += 1;
                }
                words.extend(here.into_iter().map(|(address, role)| Word { at: offset(address), role }));
            }
        }
        assert_eq!(wave, whole.waves.len(), "{}", plan.name);
        let places = whole.waves.iter().enumerate();
        let waves = places.map(|(index, wave)| (place(wave), index)).collect();
        Self { plan, bytes, whole, words, waves }
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    /// Values of a damaged word: bits flipped, all clear, all set, its neighbours, close numbers.
    fn values(&self, word: Word, long: bool) -> Vec<u32> {
        let value = self.word(word.at);
        let bit = |number| 1u32 << (filler::word(word.at as u32, Filling::Choice, number, 0, 0) % 32);
        let mut values = vec![0, u32::MAX, !value, self.word(word.at - 4), self.word(word.at + 4)];
        values.extend([value ^ bit(0), value ^ bit(1), value ^ bit(0) ^ bit(2), value.wrapping_add(4)]);
        values.extend([value.wrapping_sub(4), value.wrapping_add(0x1000), 0x7fff_ffff, 4]);
        values.push(filler::word(word.at as u32, Filling::Choice, 9, 0, 0));
        if long {
            values.extend((0..32).map(|bit| value ^ 1u32 << bit));
        }
        values.retain(|other| *other != value);
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The tested damages: about the same number for each kind of word.
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

    /// Differences of a wave without a mark, except in registers of only the damaged word.
    fn differences(&self, now: &Capture, wave: &Wave, word: Word) -> Vec<String> {
        let Some(index) = self.waves.get(&place(wave)) else { return vec!["its block".to_owned()] };
        let truth = &self.whole.waves[*index];
        let mut found = differences(&self.whole, truth, now, wave);
        // A kernel's descriptor that contradicts the true record may agree with the damaged one.
        if truth.unconfirmed.as_deref().is_some_and(|mark| mark.contains("its kernel's descriptor")) {
            found.retain(|what| !["kind", "registers", "VGPRs"].contains(&what.as_str()));
        }
        if word.role == Role::State(*index) {
            let own = ["pc", "status", "state_priv", "stop", "VGPRs"];
            found.retain(|what| !own.contains(&what.as_str()));
        }
        found
    }
}

/// Parts of a wave in its `unchecked` values, in the terms of [`differences`].
fn unchecked(wave: &Wave) -> Vec<&'static str> {
    let named = [
        ("wave size and register counts (", &["kind", "registers", "VGPRs"][..]),
        ("private memory (", &["private memory"]),
        ("work-group (", &["position"]),
        ("work-group and dispatch (", &["position", "dispatch"]),
        ("place in the work-group (", &["place"]),
    ];
    let values = wave.unchecked.as_deref().unwrap_or_default();
    named
        .into_iter()
        .filter(|(words, _)| values.contains(words))
        .flat_map(|(_, what)| what.iter().copied())
        .collect()
}

/// The waves of a plan that a reader finds, in its order.
fn aql_waves(plan: &Plan) -> impl Iterator<Item = (usize, usize, &Group, &PlannedWave)> {
    plan.waves().filter(|(queue, ..)| plan.queues[*queue].kind == AQL)
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

/// Present parts of `wave` that differ from those of `truth`.
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
    // The position of a register in its wave's block; the last block counts.
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

/// Results for the waves of damaged cores.
#[derive(Debug, Default)]
struct Tally {
    damages: usize,
    right: usize,
    /// Wrong in values that the wave lists as unchecked.
    unchecked: usize,
    marked: usize,
    absent: usize,
    /// By difference.
    wrong: HashMap<String, Vec<String>>,
}

#[expect(clippy::print_stdout, reason = "the counts of the damages, for --nocapture")]
fn check(plans: impl Iterator<Item = Plan>) {
    let long = is_long();
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
                let mut found = victim.differences(&now, wave, word);
                if found.is_empty() {
                    tally.right += 1;
                    continue;
                }
                let named = unchecked(wave);
                found.retain(|what| !named.contains(&what.as_str()));
                if found.is_empty() {
                    tally.unchecked += 1;
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
    let Tally { damages, right, unchecked, marked, absent, wrong } = &tally;
    let count: usize = wrong.values().map(Vec::len).sum();
    let mut words = format!(
        "{damages} damages: {right} waves right, {marked} marked, {unchecked} unchecked, {absent} absent, {count} wrong"
    );
    println!("{words}");
    for (what, places) in wrong {
        let _ = write!(words, "\n{} times {what}:", places.len());
        for place in places.iter().take(8) {
            let _ = write!(words, "\n    {place}");
        }
    }
    assert!(count == 0, "{words}");
    assert!(*damages > 100 && *right > 100 && *marked > least(20, 5) && *absent > least(20, 5), "{words}");
}

/// The ranges of the tests below leave no family out. The GPUs of one have the same layouts: the first stands for them.
fn of(families: impl RangeBounds<Family>) -> impl Iterator<Item = Plan> {
    let is_further = |index: usize| index > 0 && gpu::ALL[index - 1].family == gpu::ALL[index].family;
    let all = gpu::ALL.iter().copied().zip(0..).enumerate();
    let some = all.filter(move |(index, _)| is_long() || !is_further(*index)).map(|(_, gpu)| gpu);
    let alone = some.filter(move |(gpu, _)| families.contains(&gpu.family));
    alone.flat_map(|(gpu, index)| {
        let sizes = gpu.family.wave_sizes().iter();
        sizes.map(move |lanes| matrix::uniform(matrix::plan(gpu, *lanes, 7000 + index * 64 + lanes)))
    })
}

#[test]
fn a_damaged_word_of_gfx9_is_never_taken_for_sound() {
    check(of(..Family::Aqua));
}

#[test]
fn a_damaged_word_of_gfx94x_is_never_taken_for_sound() {
    check(of(Family::Aqua..Family::Navi1));
}

#[test]
fn a_damaged_word_of_gfx10_is_never_taken_for_sound() {
    check(of(Family::Navi1..Family::Navi3));
}

#[test]
fn a_damaged_word_of_gfx11_and_gfx12_is_never_taken_for_sound() {
    check(of(Family::Navi3..));
}

/// Cores whose waves have other registers than their kernels request, like the samples.
#[test]
fn registers_that_no_descriptor_confirms_are_named() {
    let of = |(name, lanes, seed)| matrix::plan(gpu::named(name), lanes, seed);
    check(
        [("gfx90a", 64, 7801), ("gfx942", 64, 7802), ("gfx1030", 32, 7803), ("gfx1100", 64, 7804)]
            .map(of)
            .into_iter(),
    );
}
