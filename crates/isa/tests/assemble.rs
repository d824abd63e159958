//! Texts of instructions back to instructions: what is found prints as the text.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panics, and prints what it compared"
)]

use amdgpu_isa::Decoder;
use std::collections::BTreeMap;

const PROCESSORS: [(&str, u8); 8] = [
    ("gfx900", 64),
    ("gfx90a", 64),
    ("gfx942", 64),
    ("gfx1030", 32),
    ("gfx1100", 32),
    ("gfx1100", 64),
    ("gfx1200", 32),
    ("gfx1250", 32),
];

/// Texts that leave out a part of the word, as the return of atomics whose policy cascades, or have a number that no
/// instruction has.
const MISSED: [&str; 6] =
    ["TH_ATOMIC_CASCADE", "invalid_target", "exp mrt0", "v_interp", "tensor_stop", "dpp8:"];

/// Each encoding with some fields: its text leads to an instruction with the same text.
#[test]
fn each_encoding_is_found_by_its_text() {
    let is_long = std::env::var_os("LANESCOPE_LONG").is_some_and(|value| value == "1");
    let step = if is_long { 1 } else { 97 };
    let mut missed: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut count = 0;
    for (processor, wave) in PROCESSORS {
        let decoder = Decoder::new(processor, wave).unwrap();
        for (at, (mask, value, _)) in decoder.encodings().enumerate().step_by(step) {
            let mut seed = (at as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            for fill in 0..6 {
                seed = seed
                    .rotate_left(29)
                    .wrapping_mul(0x2545_f491_4f6c_dd1d_2545_f491_4f6c_dd1d)
                    .wrapping_add(fill);
                let word = value | seed & seed.rotate_left(64) & !mask;
                let one = decoder.decode(&[word.to_le_bytes(), seed.to_le_bytes()].concat());
                let text = one.to_string();
                // Texts with a remark, or without a register that the processor lacks, leave something out.
                if !one.is_valid() || text.contains("/*") || text.contains(", ,") {
                    continue;
                }
                count += 1;
                let plain = |text: &str| text.trim_end().replace(".l", "");
                let found = decoder.assemble(&text).map(|found| plain(&found.to_string()));
                let is_listed = || MISSED.iter().any(|start| text.contains(start));
                if found != Some(plain(&text)) && !(found.is_none() && is_listed()) {
                    let key = format!("{processor} {}", one.mnemonic().unwrap());
                    let entry = missed.entry(key).or_insert((0, text));
                    entry.0 += 1;
                }
            }
        }
    }
    println!("{count} texts");
    let all: usize = missed.values().map(|(count, _)| count).sum();
    for (key, (count, text)) in missed.iter().take(20) {
        println!("{count} {key}: {text}");
    }
    assert!(all == 0, "{all} of {count} texts");
}
