//! Samples with a few missing bytes of a wave's save area. Captured values stay, in the core and in a slim dump of it;
//! missing values are unknown, never zero.

use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};

use super::changed::sample;
use super::{core, expected, export};
use crate::support::sample::sampled;

/// The file without some of its bytes: their segment becomes two, and the headers, one more, move to the file's end.
fn with_gap(bytes: &mut Vec<u8>, gap: Range<u64>) {
    let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let count = u16::from_le_bytes([bytes[56], bytes[57]]);
    let mut headers: Vec<Vec<u8>> =
        (0..usize::from(count)).map(|index| bytes[64 + index * 56..120 + index * 56].to_vec()).collect();
    let holds = |header: &&mut Vec<u8>| {
        let start = number(header, 8);
        header[0] == 1 && (start..start + number(header, 32)).contains(&gap.start)
    };
    let first = headers.iter_mut().find(holds).unwrap();
    let (start, address, size) = (number(first, 8), number(first, 16), number(first, 32));
    let mut second = first.clone();
    let put = |header: &mut Vec<u8>, at: usize, value: u64| {
        header[at..at + 8].copy_from_slice(&value.to_le_bytes());
    };
    for at in [32, 40] {
        put(first, at, gap.start - start);
        put(&mut second, at, start + size - gap.end);
    }
    put(&mut second, 8, gap.end);
    put(&mut second, 16, address + gap.end - start);
    headers.push(second);
    let end = bytes.len() as u64;
    bytes[32..40].copy_from_slice(&end.to_le_bytes());
    bytes[56..58].copy_from_slice(&(count + 1).to_le_bytes());
    bytes.extend(headers.concat());
}

/// Exports of a core, and of a slim dump of all its waves.
fn both(bytes: &[u8]) -> (Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let (path, to) = (folder.path().join("core"), folder.path().join("slim.zip"));
    std::fs::write(&path, bytes).unwrap();
    let output = crate::support::lanescope()
        .args([Path::new("slim"), &path, Path::new("--all-waves"), Path::new("-o"), &to])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (export(&[path.to_str().unwrap()]), export(&[to.to_str().unwrap()]))
}

fn registers(export: &Value, wave: usize) -> &Map<String, Value> {
    export["waves"][wave]["registers"].as_object().unwrap()
}

/// The slim dump has the core's values of every wave's registers, and no additional problem.
fn agree(core: &Value, slim: &Value, what: &str) {
    let waves = core["waves"].as_array().unwrap().len();
    for wave in 0..waves {
        assert_eq!(registers(slim, wave), registers(core, wave), "{what}: wave {wave}");
    }
    let told = slim["problems"].as_array().unwrap().iter().map(crate::problem_text);
    let own: Vec<String> =
        told.filter(|told| told.contains("registers.bin") || told.contains("bulk")).collect();
    assert!(own.is_empty(), "{what}: {own:#?}");
}

/// Two lanes of a wave's first vector register are missing.
#[test]
fn lanes_and_registers_behind_a_gap_are_kept() {
    for name in ["gfx90a-split", "gfx1100"] {
        let (mut bytes, offset) = sample(name);
        let bottom = offset(expected(name)["waves"][0]["writer"]["block"][0].as_u64().unwrap()) as u64;
        with_gap(&mut bytes, bottom + 100..bottom + 108);
        let (ours, slim) = both(&bytes);
        let whole = export(&[core(name).to_str().unwrap()]);
        agree(&ours, &slim, name);
        for (register, value) in registers(&whole, 0) {
            let ours = &registers(&ours, 0)[register];
            if register != "v0" {
                assert_eq!(ours, value, "{name}: {register}");
                continue;
            }
            // A whole vector is one text; a partial one has a text per lane.
            let (ours, value) = (ours.as_array().unwrap(), value.as_str().unwrap());
            assert_eq!(value.len(), ours.len() * 8);
            for (lane, ours) in ours.iter().enumerate() {
                let is_missing = lane == 25 || lane == 26;
                let expected = (!is_missing).then(|| &value[lane * 8..lane * 8 + 8]);
                assert_eq!(ours.as_str(), expected, "{name}: lane {lane} of v0");
            }
        }
    }
}

/// For a faulting wave, each dword of its position and stop reason is removed once: the same answer or none, never
/// "running".
#[test]
fn one_missing_word_makes_no_other_state() {
    for name in ["gfx90a-split", "gfx1100"] {
        let (file, offset) = sample(name);
        let whole = export(&[core(name).to_str().unwrap()]);
        let waves = expected(name)["waves"].as_array().unwrap().clone();
        let faulted = |wave: &Value| !wave["stop_reasons"].as_array().unwrap().is_empty();
        let index = whole["waves"].as_array().unwrap().iter().position(faulted).unwrap();
        let [bottom, top] = [0, 1].map(|at| waves[index]["writer"]["block"][at].as_u64().unwrap());
        let block = offset(bottom)..offset(bottom) + (top - bottom) as usize;
        let pc = waves[index]["writer"]["hwreg_pc"].as_u64().unwrap().to_le_bytes();
        // The PC is the second of 16 hardware registers, which the trap temporaries follow.
        let first = block.start + file[block].windows(8).rposition(|window| window == pc).unwrap() - 4;
        let (theirs, mut kept, mut tried) = (&whole["waves"][index], 0, 0);
        for word in sampled(0..32, 3) {
            tried += 1;
            let mut bytes = file.clone();
            let at = (first + word * 4) as u64;
            with_gap(&mut bytes, at..at + 4);
            let (ours, slim) = both(&bytes);
            let what = format!("{name}: word {word} of wave {index}");
            agree(&ours, &slim, &what);
            let ours = &ours["waves"][index];
            for key in ["pc", "stop_reasons", "position", "wave_in_group", "workgroup", "dispatch"] {
                assert!(
                    ours[key].is_null() || ours[key] == theirs[key],
                    "{what}: {key}: {} for {}",
                    ours[key],
                    theirs[key]
                );
            }
            kept += usize::from(ours["stop_reasons"] == theirs["stop_reasons"]);
            let mut missing = 0;
            for (register, value) in theirs["registers"].as_object().unwrap() {
                let ours = &ours["registers"][register];
                // One of two dwords may be known: the digits of the other are `x`.
                let agrees = |ours: &str| {
                    let value = value.as_str().unwrap();
                    ours.len() == value.len()
                        && ours.chars().zip(value.chars()).all(|(ours, value)| ours == 'x' || ours == value)
                };
                let is_cut =
                    ours.is_null() || ours.as_str().is_some_and(|ours| ours.contains('x') && agrees(ours));
                assert!(is_cut || ours == value, "{what}: {register}: {ours} for {value}");
                missing += usize::from(is_cut && !value.is_null());
            }
            assert!(missing <= 3, "{what}: {missing} registers");
        }
        assert!(kept * 32 > 20 * tried, "{name}: {kept} of {tried}");
    }
}
