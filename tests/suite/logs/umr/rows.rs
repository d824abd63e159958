//! Malformed rows in umr's text, and lines between its rows.

use serde_json::Value;

use super::super::{export_text, problems};
use super::{NAVI21, NAVI31, VEGA, hardware, same, small, waves};

/// Replaces the first occurrence of a text; returns its line and the new text.
fn replaced(text: &str, from: &str, to: &str) -> (usize, String) {
    let at = text.find(from).unwrap();
    (text[..at].matches('\n').count() + 1, text.replacen(from, to, 1))
}

/// A scalar register of the first wave, as printed by umr.
fn word(export: &Value, slot: u64) -> Option<u32> {
    let bytes = export["waves"][0]["registers"][format!("s{slot}")].as_str()?;
    Some(u32::from_str_radix(bytes, 16).unwrap().swap_bytes())
}

/// Requires one problem besides that of the processor, with the line.
fn reports(export: &Value, line: usize, what: &str) {
    let mut said = problems(export);
    said.retain(|problem| !problem.contains("the GPU of the waves"));
    assert!(said.len() == 1 && said[0].contains(&format!("line {line}: {what}")), "line {line}: {said:?}");
}

#[test]
fn values_that_do_not_fit_their_range_leave_other_registers_alone() {
    let waves = &waves(NAVI31)[..1];
    for (flavour, text, row, wide) in [
        ("small", small(waves), "[   4..   7] = { ", "[   4..   9] = { "),
        ("hardware", hardware(waves, false), "[4..7] = { ", "[4..9] = { "),
    ] {
        let own = |slot: u64| Some(waves[0].sgpr(slot));
        // Too many words: those in the range count, and the row after it has its own.
        let (line, long) = replaced(&text, row, &format!("{row}11111111, 22222222, "));
        let export = export_text(&format!("long-{flavour}"), long, &[]);
        reports(&export, line, "the row has 6 words for s4 to s7; those behind are ignored");
        for slot in 0..106 {
            let wanted = match slot {
                4 => Some(0x1111_1111),
                5 => Some(0x2222_2222),
                6 | 7 => own(slot - 2),
                _ => own(slot),
            };
            assert_eq!(word(&export, slot), wanted, "{flavour}: s{slot}");
        }
        // A range that is too long: a fitting row counts, even if it comes later.
        let (line, wide) = replaced(&text, row, &format!("{wide}11111111, 22222222, 33333333, "));
        let export = export_text(&format!("wide-{flavour}"), wide, &[]);
        reports(&export, line, "the row has 7 words for s4 to s9; those behind are ignored");
        assert_eq!([word(&export, 8), word(&export, 9)], [own(8), own(9)], "{flavour}");
        // Too few: missing words are absent.
        let words: Vec<String> = (4..8).map(|slot| format!("{:08x}", waves[0].sgpr(slot))).collect();
        let all = format!("{row}{} }}", words.join(", "));
        let (line, short) = replaced(&text, &all, &format!("{row}{} }}", words[..2].join(", ")));
        let export = export_text(&format!("short-{flavour}"), short, &[]);
        reports(&export, line, "the row has 2 words for s4 to s7; they are taken as those of the first");
        let shown = [4, 5, 6, 7, 8].map(|slot| word(&export, slot));
        assert_eq!(shown, [own(4), own(5), None, None, own(8)], "{flavour}");
    }
}

#[test]
fn empty_ranges_and_lost_lanes_are_reported() {
    let text = small(&waves(NAVI31)[..1]);
    let (line, reversed) = replaced(&text, "[   4..   7]", "[   7..   4]");
    let export = export_text("range-reversed", reversed, &[]);
    reports(&export, line, "the row is of s7 to s4, which is no range; it is ignored");
    assert_eq!(word(&export, 7), None);
    let row = "    [  1] = { ";
    let lane = text.find(row).unwrap() + row.len();
    let line = text[..lane].matches('\n').count() + 1;
    let lost = format!("{}{}", &text[..lane], &text[lane + "00000000 ".len()..]);
    reports(&export_text("lane-lost", lost, &[]), line, "the row of v1 has 63 words");
}

/// The kernel's console output between umr's lines is not a row.
#[test]
fn messages_of_the_kernel_between_rows_cost_nothing() {
    for message in [
        "[ 123.456] amdgpu 0000:03:00.0: GPU reset begin!",
        "[   12.345678] amdgpu 0000:03:00.0: ring gfx_0.0.0 timeout { signaled seq=7 }",
        "[12345.678901][ T1234] amdgpu: { 0000abcd }",
        "[drm] GPU recovery ...",
    ] {
        for gpu in [VEGA, NAVI21] {
            let waves = waves(gpu);
            let lines = small(&waves);
            let lines = lines.lines().map(|line| {
                let is_row = line.trim_start().starts_with('[') || line.contains("GPRS:");
                if is_row { format!("{line}\n{message}\n") } else { format!("{line}\n") }
            });
            let export = export_text("umr-kernel", lines.collect::<String>(), &["--processor", gpu.name]);
            assert_eq!(problems(&export), Vec::<&str>::new(), "{message}");
            same(&waves, &export, &|_| false);
        }
    }
    // Damaged rows are rows.
    let text = small(&waves(NAVI31)[..1]);
    for (at, to) in
        ["[   4..   7 = { ", "[   4..   7] = ", "[   4.   7] = { ", "[   x..   7] = { "].iter().enumerate()
    {
        let (line, damaged) = replaced(&text, "[   4..   7] = { ", to);
        let export = export_text(&format!("umr-damaged-{at}"), damaged, &[]);
        reports(&export, line, "the row cannot be read; its registers are not captured");
    }
}
