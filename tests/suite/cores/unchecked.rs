//! Values of the samples with a single source: damage that nothing contradicts, and its marks in the waves.

use serde_json::Value;

use super::changed::{opened, reported, sample};
use super::reasons::{put, run};
use super::unconfirmed::{headers, is_wherever_the_wave_is, record, word};
use super::{SAMPLES, expected};
use crate::fixtures::one_line;

/// Parts of a wave by the words of its marks.
const VALUES: [(&str, &[&str]); 4] = [
    ("wave size and register counts", &["registers", "sgpr_count"]),
    ("private memory", &["private_wave", "private_lane", "private_wave_bytes"]),
    ("work-group and dispatch", &["coord", "packet_id", "name"]),
    ("place in the work-group", &["wave_in_group", "name"]),
];

/// Number of waves without the damage mark that differ; each must list the difference among its unchecked values.
fn named(ours: &Value, whole: &Value, keys: &[&str], place: &str) -> usize {
    let [ours, whole] = [ours, whole].map(|export| export["waves"].as_array().unwrap());
    assert_eq!(ours.len(), whole.len(), "{place}");
    let mut count = 0;
    for (wave, truth) in ours.iter().zip(whole).filter(|(wave, _)| wave["unconfirmed"].is_null()) {
        let differing = keys.iter().filter(|key| wave[**key] != truth[**key]);
        for key in differing {
            let values = wave["unchecked"].as_str().unwrap_or_default();
            let is_named = VALUES.iter().any(|(words, of)| of.contains(key) && values.contains(words));
            assert!(is_named, "{place}: {key} of wave {} differs: {values:?}", wave["id"]);
            count += 1;
        }
    }
    count
}

/// A state's accumulation offset: the block keeps its size, and the samples' kernels request other registers.
#[test]
fn an_accumulation_offset_that_nothing_confirms_is_named() {
    for name in ["gfx90a-split", "gfx90a-unified", "gfx942-multi-xcc"] {
        let (bytes, _) = sample(name);
        let expected = expected(name);
        let whole = opened(&bytes);
        let area = headers(&bytes, &expected)[0];
        let (stack, size) = (word(&bytes, area) as usize, word(&bytes, area + 4) as usize);
        // After two words of PM4: state records have bit 31 and not bit 30.
        let mut states =
            (area + stack + 8..area + stack + size).step_by(4).filter(|at| word(&bytes, *at) >> 30 == 2);
        let at = states.next().unwrap();
        let mut damaged = bytes.clone();
        put(&mut damaged, at, word(&bytes, at) & !(0x3f << 24));
        let ours = opened(&damaged);
        assert!(named(&ours, &whole, &["registers", "private_wave", "coord"], name) > 0, "{name}");
    }
}

/// A record's slot of scratch memory, unique to the wave: no register of the gfx90a samples has a base.
#[test]
fn a_slot_that_nothing_confirms_is_named() {
    for name in ["gfx90a-split", "gfx90a-unified"] {
        let (bytes, _) = sample(name);
        let expected = expected(name);
        let whole = opened(&bytes);
        let mut differing = 0;
        for wave in 0..2 {
            let at = record(&bytes, &expected, wave);
            // Bits 9 to 11 are the shader engine: the samples use three of eight.
            for bit in [10, 11] {
                let mut damaged = bytes.clone();
                put(&mut damaged, at, word(&bytes, at) ^ 1 << bit);
                let place = format!("{name} wave {wave} bit {bit}");
                differing +=
                    named(&opened(&damaged), &whole, &["registers", "private_wave", "coord"], &place);
            }
        }
        assert!(differing > 0, "{name}");
    }
}

/// An intact sample has no damage marks. Its waves list unconfirmed values: partial work-groups, other register counts.
#[test]
fn sound_samples_name_values_with_one_source() {
    for name in SAMPLES {
        let whole = opened(&sample(name).0);
        let waves = whole["waves"].as_array().unwrap();
        let expected = expected(name);
        let groups: Vec<&Value> = waves.iter().map(|wave| &wave["workgroup"]).collect();
        for (wave, theirs) in waves.iter().zip(expected["waves"].as_array().unwrap()) {
            let values = wave["unchecked"].as_str().unwrap_or_default();
            let has = |words: &str| values.contains(words);
            assert!(wave["unconfirmed"].is_null(), "{name}: {wave}");
            assert!(has("wave size and register counts"), "{name}: {values}");
            let has_register = !name.starts_with("gfx90a");
            let has_memory = theirs["private_wave_bytes"].as_u64().is_some_and(|bytes| bytes > 0);
            assert_eq!(has("private memory"), !has_register && has_memory, "{name}: {values}");
            let is_alone = groups.iter().filter(|group| **group == &wave["workgroup"]).count() == 1;
            assert_eq!(has("work-group and dispatch"), is_alone, "{name}: {values}");
        }
    }
}

/// Answers about a wave include its unchecked values.
#[test]
fn unchecked_values_are_wherever_a_wave_is_asked_for() {
    let (bytes, _) = sample("gfx90a-unified");
    let values = "private memory (no register holds its address)";
    is_wherever_the_wave_is(&bytes, values);
    for arguments in [&[][..], &["--json"]] {
        let (_, out, err) = run(&bytes, "info", arguments);
        assert!(one_line(&out).contains(values), "{arguments:?}: {out}\n{err}");
    }
}

/// Contradictory headers do not affect the other control stacks.
#[test]
fn damaged_headers_cost_no_sound_control_stack() {
    const DAMAGED: u32 = 11;
    let (mut bytes, at) = sample("gfx90a-split");
    let whole = opened(&bytes);
    let scratch = expected("gfx90a-split")["waves"][0]["writer"]["scratch_address"].as_u64().unwrap();
    // Three readings of 8 MiB each, none captured: eleven additional queues exceed the limit of 256 MiB.
    for (number, value) in (0..).zip([0x1000, 0x80_0000, 0x98_0000, 0x8_0000]) {
        put(&mut bytes, at(scratch) + 4 * number, value);
    }
    // The note, after all else, with an entry per queue with that header before the existing ones.
    let (header, offset, size) = (0..)
        .map(|index| 64 + 56 * index)
        .find_map(|header| {
            let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
            (word(&bytes, header) == 4).then(|| (header, long(header + 8), long(header + 32)))
        })
        .unwrap();
    let mut note = bytes[offset..offset + size].to_vec();
    let descriptor = note.windows(8).position(|window| window == b"AMDGPU\0\0").unwrap() + 8;
    let length = word(&note, descriptor - 16) as usize;
    let (count, entry) = (word(&note, descriptor + 32), word(&note, descriptor + 36) as usize);
    let first = descriptor + length - count as usize * entry;
    let damaged: Vec<u8> = (0..DAMAGED)
        .flat_map(|index| {
            let mut queue = note[first..first + entry].to_vec();
            queue[32..40].copy_from_slice(&scratch.to_le_bytes());
            queue[40..44].copy_from_slice(&(100 + index).to_le_bytes());
            queue
        })
        .collect();
    put(&mut note, descriptor + 32, count + DAMAGED);
    put(&mut note, descriptor - 16, (length + damaged.len()) as u32);
    note.splice(first..first, damaged);
    let end = bytes.len().next_multiple_of(16);
    bytes.resize(end, 0);
    bytes[header + 8..header + 16].copy_from_slice(&(end as u64).to_le_bytes());
    bytes[header + 32..header + 40].copy_from_slice(&(note.len() as u64).to_le_bytes());
    bytes.extend(note);
    let ours = opened(&bytes);
    assert_eq!(
        reported(&ours, "its header contradicts itself").len(),
        DAMAGED as usize,
        "{}",
        ours["problems"]
    );
    assert_eq!(reported(&ours, "no more readings are tried").len(), 1, "{}", ours["problems"]);
    let count = |export: &Value| export["waves"].as_array().unwrap().len();
    assert_eq!(count(&ours), count(&whole), "{}", ours["problems"]);
}

/// A record damaged into an event hides a wave: the control stack's count differs from that of the waves.
#[test]
fn a_hidden_wave_is_not_counted_as_kept() {
    let (mut bytes, _) = sample("gfx90a-unified");
    let expected = expected("gfx90a-unified");
    let count = expected["waves"].as_array().unwrap().len();
    let at = record(&bytes, &expected, 1);
    let event = word(&bytes, at) | 1 << 30;
    put(&mut bytes, at, event);
    let ours = opened(&bytes);
    let listed = format!("the damaged control stack lists {} waves", count - 1);
    assert_eq!(reported(&ours, &listed).len(), 1, "{}", ours["problems"]);
    assert_eq!(reported(&ours, &format!("of {} waves are kept", count - 1)), Vec::<&str>::new());
}
