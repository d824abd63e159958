//! Damaged cores: cut at every structure's edge, every word of a header changed. Nothing panics, errors are reported,
//! and waves with intact words still have the model's values.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::compare::{self, Differences, Opened};
use crate::core_writer::core::{Bulk, Core, build};
use crate::core_writer::filler::{self, Filling};
use crate::core_writer::model::{self, Model, WaveModel};
use crate::core_writer::plan::{AQL, FilePlan, Layout, Plan};
use crate::core_writer::{gpu, matrix, note, queue};
use crate::support::{least, sample::sampled};

/// A core to damage.
struct Victim {
    plan: Plan,
    core: Core,
    model: Model,
    bytes: Vec<u8>,
    folder: tempfile::TempDir,
}

/// Cores with enough save areas to lose one: of a layout with one state word and of one with two.
fn victims() -> Vec<Victim> {
    let found = |name: &str, lanes: u32, layout: Layout| {
        let plans = (400..).map(|seed| matrix::plan(gpu::named(name), lanes, seed));
        let mut plan = plans
            .take(500)
            .find(|plan| {
                let aql = plan.queues.iter().filter(|queue| queue.kind == AQL);
                let areas = aql.flat_map(|queue| &queue.xccs).filter(|groups| !groups.is_empty()).count();
                (2..=4).contains(&areas) && plan.waves().count() < 14 && plan.process.queue_entry >= 64
            })
            .unwrap();
        plan.file = FilePlan::plain(layout);
        let core = build(&plan, Bulk::Filled, Vec::new());
        let bytes = core.gpu.bytes();
        Victim { model: model::of(&plan), plan, core, bytes, folder: tempfile::tempdir().unwrap() }
    };
    vec![found("gfx942", 64, Layout::Unified), found("gfx1100", 32, Layout::Split)]
}

impl Victim {
    fn open(&self, bytes: &[u8]) -> Result<Opened, String> {
        let path: PathBuf = self.folder.path().join("core");
        fs::write(&path, bytes).unwrap();
        compare::open(&path, &compare::options(&self.plan))
    }

    /// File offset of an address.
    fn offset(&self, address: u64) -> u64 {
        let segments = self.core.gpu.segments.iter();
        let mut found = segments.filter(|(first, _, size)| (*first..first + size).contains(&address));
        let (first, offset, _) = found.next().unwrap_or_else(|| panic!("nothing at {address:#x}"));
        offset + address - first
    }

    fn changed(&self, at: u64, bits: u32) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let word = &mut bytes[at as usize..at as usize + 4];
        let value = u32::from_le_bytes(word.try_into().unwrap()) ^ bits;
        word.copy_from_slice(&value.to_le_bytes());
        bytes
    }

    /// Whether the target of a header, before or after its change, overlaps the data of an area's waves: the area, and
    /// the facts of its queue and process.
    fn is_touched(&self, moved: [(u64, u64); 2], index: usize, xcc: usize) -> bool {
        let area = &self.core.areas[index][xcc];
        let page = 0x1000;
        let needed = [
            (area.address, area.size),
            (queue::ring(index), page),
            (queue::amd_queue(index), page),
            (note::R_DEBUG & !(page - 1), page),
        ];
        let meets = |(first, size): (u64, u64)| {
            needed.iter().any(|(start, length)| first < start + length && *start < first.saturating_add(size))
        };
        // All waves depend on the notes.
        let is_of_notes = moved[0].1 == 0;
        is_of_notes || moved.into_iter().any(meets)
    }

    /// Compares all waves.
    fn check_all(&self, opened: &Opened, wrong: &mut Differences) {
        self.check(opened, |_, _| true, false, wrong);
    }

    /// Compares the waves of intact save areas: (queue, XCC).
    fn check(
        &self,
        opened: &Opened,
        is_whole: impl Fn(usize, usize) -> bool,
        memory: bool,
        wrong: &mut Differences,
    ) {
        let waves = opened.export["waves"].as_array().map_or(&[][..], Vec::as_slice);
        for (index, queue) in self.plan.queues.iter().enumerate().filter(|(_, queue)| queue.kind == AQL) {
            let found: Vec<&Value> = waves.iter().filter(|wave| wave["queue_id"] == queue.id).collect();
            let expected: Vec<&WaveModel> =
                self.model.waves.iter().filter(|wave| wave.queue == queue.id).collect();
            // The number of waves lost from an area is unknown; those before and after it are still in order.
            let whole = |xcc: &usize| is_whole(index, *xcc);
            let xccs = queue.xccs.len();
            let before = (0..xccs).take_while(whole).count();
            let after = (0..xccs).rev().take_while(whole).count();
            let of = |xccs: std::ops::Range<usize>| {
                expected.iter().filter(|wave| xccs.contains(&(wave.xcc as usize))).count()
            };
            let (first, last) = (of(0..before), of(xccs - after..xccs));
            if found.len() < first.max(last) || (before == xccs && found.len() != expected.len()) {
                wrong.say(&format!(
                    "queue {}: {} waves, expected {first} whole ones first and {last} last",
                    queue.id,
                    found.len()
                ));
                continue;
            }
            let tail = expected.iter().rev().zip(found.iter().rev()).take(last);
            for (model, found) in expected.iter().zip(&found).take(first).chain(tail) {
                compare::wave(found, model, memory, wrong);
            }
        }
    }
}

/// First address and size of the memory of a program header; empty if it has none.
fn header(bytes: &[u8], at: u64) -> (u64, u64) {
    let number = |offset: u64| {
        let at = (at + offset) as usize;
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    };
    if bytes[at as usize..at as usize + 4] == [1, 0, 0, 0] { (number(16), number(32)) } else { (0, 0) }
}

/// Each edge, with a byte on either side.
fn around(edges: impl Iterator<Item = u64>, length: u64) -> Vec<u64> {
    let mut all: Vec<u64> = edges.flat_map(|edge| [edge.saturating_sub(1), edge, edge + 1]).collect();
    all.retain(|cut| *cut < length);
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn cores_cut_at_every_edge_keep_what_is_whole() {
    for victim in victims() {
        let core = &victim.core;
        let marks = core.gpu.marks.iter().chain(&core.note);
        let mut edges: Vec<u64> = marks.flat_map(|mark| [mark.offset, mark.offset + mark.size]).collect();
        for area in core.areas.iter().flatten() {
            let (stack, bytes) = area.stack;
            let inner = [0, 40, stack, stack + 8, stack + bytes, area.wave_begin, area.wave_end];
            edges.extend(inner.map(|at| victim.offset(area.address + at)));
            edges.extend(
                area.blocks.iter().map(|(first, size)| victim.offset(area.address + first + size / 2)),
            );
        }
        let notes = core.gpu.mark("descriptor");
        let notes_end = notes.offset + notes.size;
        let mut wrong = Differences::new();
        let mut partial = 0;
        // Of three cuts around an edge each place in turn.
        for cut in sampled(around(edges.into_iter(), core.gpu.length), 2) {
            let place = format!("{} cut to {cut} of {} bytes", victim.plan.name, core.gpu.length);
            wrong.at(place.clone());
            let opened = match victim.open(&victim.bytes[..cut as usize]) {
                Ok(opened) => opened,
                Err(error) => {
                    assert!(!error.is_empty());
                    if cut >= notes_end {
                        wrong.say(&format!("all notes are there, but: {error}"));
                    }
                    continue;
                }
            };
            if opened.problems.is_empty() {
                wrong.say("no problem is named");
            }
            if cut < notes_end {
                continue;
            }
            // The memory of a queue is consecutive in the file: ring, queue, save areas, scratch.
            let is_whole = |index: usize, xcc: usize| {
                let place = &core.areas[index][xcc];
                victim.offset(place.address) + place.wave_end.max(40) <= cut
                    && victim.offset(queue::amd_queue(index)) + 0x1000 <= cut
            };
            let everything = core.areas.iter().flatten().all(|area| {
                let end = victim.offset(area.address) + area.size;
                end <= cut
            });
            // Private memory is the last of its queue's; after a cut its pieces differ from the whole.
            victim.check(&opened, is_whole, false, &mut wrong);
            partial += usize::from(!everything);
            blocks_below(&victim, &opened, cut, &mut wrong);
        }
        assert!(partial > least(20, 10), "{}: {partial} cuts inside save areas", victim.plan.name);
        wrong.fail_if_any();
    }
}

/// Waves with blocks before the cut have their registers, though others of their area are lost: a cut area loses the
/// waves at the beginning of its control stack.
fn blocks_below(victim: &Victim, opened: &Opened, cut: u64, wrong: &mut Differences) {
    for (index, queue) in victim.plan.queues.iter().enumerate().filter(|(_, queue)| queue.kind == AQL) {
        for (xcc, area) in victim.core.areas[index].iter().enumerate() {
            let base = victim.offset(area.address);
            if area.blocks.is_empty() || base + area.wave_begin > cut || base + area.wave_end <= cut {
                continue;
            }
            let waves = opened.export["waves"].as_array().unwrap().iter();
            let found: Vec<&Value> = waves.filter(|wave| wave["queue_id"] == queue.id).collect();
            let before = queue.xccs[..xcc].iter().flatten().map(|group| group.waves.len()).sum::<usize>();
            let models: Vec<&WaveModel> =
                victim.model.waves.iter().filter(|wave| wave.queue == queue.id).collect();
            for (number, (first, size)) in area.blocks.iter().enumerate() {
                if base + first + size > cut {
                    continue;
                }
                // The control stack is whole, so it lists every wave.
                let Some(wave) = found.get(before + number) else {
                    wrong.say(&format!(
                        "queue {} XCC {xcc}: wave {number} of its control stack is lost",
                        queue.id
                    ));
                    continue;
                };
                let model = models[before + number];
                for (name, dwords) in model.registers.iter().filter(|(name, _)| name.starts_with('v')) {
                    if dwords.iter().all(Option::is_some)
                        && wave["registers"][name] != compare::register(dwords, true)
                    {
                        wrong.say(&format!("queue {} XCC {xcc} wave {number}: {name} differs", queue.id));
                    }
                }
            }
        }
    }
}

/// Bits to change in a word: all of them, and one.
fn changes(at: u64) -> [u32; 2] {
    [u32::MAX, 1 << (filler::word(at as u32, Filling::Choice, 0, 0, 0) % 32)]
}

#[test]
fn every_word_of_a_header_may_be_anything() {
    for victim in victims() {
        let core = &victim.core;
        let is_header = |name: &str| name == "ELF header" || name.starts_with("program");
        let headers = core.gpu.marks.iter().filter(|mark| is_header(&mark.name));
        let words = headers
            .flat_map(|mark| (mark.offset..mark.offset + mark.size).step_by(4).map(move |at| (mark, at)));
        let mut wrong = Differences::new();
        let (mut opened_anyway, mut harmless, mut told) = (0, 0, 0);
        // A program header has 14 words: the sample has others of each one.
        for (mark, at) in sampled(words, 3) {
            let bits = changes(at)[at as usize / 4 % 2];
            wrong.at(format!("{}: {} + {} ^ {bits:#x}", victim.plan.name, mark.name, at - mark.offset));
            let bytes = victim.changed(at, bits);
            // Some of the data remains, or an error has the reason.
            let opened = match victim.open(&bytes) {
                Ok(opened) => opened,
                Err(error) => {
                    assert!(!error.is_empty());
                    if mark.name.starts_with("program") && victim.bytes[mark.offset as usize] == 1 {
                        wrong.say(&format!("nothing is opened: {error}"));
                    }
                    continue;
                }
            };
            opened_anyway += 1;
            let mut all = Differences::new();
            victim.check_all(&opened, &mut all);
            if all.all.is_empty() {
                harmless += 1;
                continue;
            }
            told += 1;
            // A smaller count of headers hides the rest: the missing memory of the queues is the problem.
            if opened.problems.is_empty() {
                wrong.say(&format!("no problem is named, though {}", all.all[0]));
            }
            if mark.name.starts_with("program") {
                let moved = [header(&victim.bytes, mark.offset), header(&bytes, mark.offset)];
                let is_whole = |queue, xcc| !victim.is_touched(moved, queue, xcc);
                victim.check(&opened, is_whole, false, &mut wrong);
            }
        }
        assert!(
            opened_anyway > least(20, 15) && harmless > least(20, 6) && told > least(5, 2),
            "{}: {opened_anyway}, {harmless}, {told}",
            victim.plan.name
        );
        wrong.fail_if_any();
    }
}

#[test]
fn every_word_of_the_note_may_be_anything() {
    for victim in victims() {
        let mut wrong = Differences::new();
        for mark in &victim.core.note {
            let words = (mark.offset..mark.offset + mark.size).step_by(4);
            let damages = words.flat_map(|at| changes(at).map(|bits| (at, bits)));
            for (at, bits) in sampled(damages, 5) {
                let place = format!("{}: {} + {} ^ {bits:#x}", victim.plan.name, mark.name, at - mark.offset);
                wrong.at(place);
                let opened = victim.open(&victim.changed(at, bits));
                // A changed queue does not affect the others.
                let queue = mark.name.strip_prefix("queue ").map(|id| id.parse::<u32>().unwrap());
                match (opened, queue) {
                    (Ok(opened), Some(id)) => {
                        let other = |index: usize, _| victim.plan.queues[index].id != id;
                        victim.check(&opened, other, false, &mut wrong);
                    }
                    (Err(error), Some(_)) => wrong.say(&format!("nothing is opened: {error}")),
                    (Ok(_), None) => {}
                    (Err(error), None) => assert!(!error.is_empty()),
                }
            }
        }
        wrong.fail_if_any();
    }
}

#[test]
fn a_damaged_save_area_leaves_the_others_alone() {
    for victim in victims() {
        let mut wrong = Differences::new();
        let mut harmed = 0;
        for (index, queue) in victim.plan.queues.iter().enumerate().filter(|(_, queue)| queue.kind == AQL) {
            for (xcc, area) in
                victim.core.areas[index].iter().enumerate().filter(|(_, area)| area.stack.1 != 0)
            {
                let (stack, bytes) = area.stack;
                let header = (0..40).step_by(4);
                let words = header.chain(sampled((stack..stack + bytes).step_by(4), 3));
                for at in words {
                    for bits in changes(at + xcc as u64) {
                        let place = format!(
                            "{}: queue {} XCC {xcc} + {at:#x} ^ {bits:#x}",
                            victim.plan.name, queue.id
                        );
                        wrong.at(place);
                        let changed = victim.changed(victim.offset(area.address + at), bits);
                        let opened = match victim.open(&changed) {
                            Ok(opened) => opened,
                            Err(error) => {
                                wrong.say(&format!("nothing is opened: {error}"));
                                continue;
                            }
                        };
                        // Offset and size of control stack and wave area.
                        if at < 16 && opened.problems.is_empty() {
                            wrong.say("no problem is named");
                        }
                        let others = |there: usize, number: usize| (there, number) != (index, xcc);
                        victim.check(&opened, others, false, &mut wrong);
                        // Without damage the test would be void.
                        let mut own = Differences::new();
                        victim.check_all(&opened, &mut own);
                        harmed += usize::from(!own.all.is_empty());
                        // Words that a reader ignores change nothing.
                        if (16..40).contains(&at) {
                            victim.check_all(&opened, &mut wrong);
                        }
                    }
                }
            }
        }
        // Headers are restored, and an unconfirmed wave has a mark: one_word.rs.
        assert!(harmed > least(10, 1), "{}: {harmed} changes made a difference", victim.plan.name);
        wrong.fail_if_any();
    }
}
