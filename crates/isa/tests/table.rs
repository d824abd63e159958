//! The table file: it is valid, and a damaged one is rejected or harmless.
#![allow(clippy::unwrap_used, reason = "a test fails by panics")]

use amdgpu_isa::{Decoder, TableError, VgprMsb, check};

fn file() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/isa.bin")).unwrap()
}

#[test]
fn the_file_is_valid_and_small() {
    let file = file();
    assert_eq!(check(&file), Ok(()));
    assert!(file.len() <= 600_000, "{} bytes", file.len());
}

#[test]
fn a_cut_or_changed_file_gives_an_error_and_no_panic() {
    let file = file();
    assert_eq!(check(&[]), Err(TableError::Magic));
    for at in (0..file.len()).step_by(7919) {
        assert!(check(&file[..at]).is_err(), "cut at {at}");
        let mut changed = file.clone();
        changed[at] ^= 0xff;
        let _ = check(&changed);
    }
    // The length of a section: no multiple of its entries.
    let mut changed = file.clone();
    changed[12 + 8 * 15 + 4] ^= 1;
    assert_eq!(check(&changed), Err(TableError::Length(15)));
    // The last name ends beyond the names.
    let mut changed = file;
    let (start, len) = (
        u32::from_le_bytes(changed[12..16].try_into().unwrap()),
        u32::from_le_bytes(changed[16..20].try_into().unwrap()),
    );
    changed[(start + len) as usize - 2] ^= 1;
    assert_eq!(check(&changed), Err(TableError::Reference(0)));
}

#[test]
fn processors_and_wave_sizes_are_known_or_rejected() {
    for name in [
        "gfx900", "gfx902", "gfx90c", "gfx940", "gfx941", "gfx950", "gfx1012", "gfx1036", "gfx1103",
        "gfx1153", "gfx1201", "gfx1251",
    ] {
        let waves = [32, 64].map(|wave| Decoder::new(name, wave).is_some());
        assert_eq!(
            waves,
            if name.len() == 6 { [false, true] } else { [true, !name.starts_with("gfx125")] },
            "{name}"
        );
    }
    assert!(Decoder::new("gfx803", 64).is_none());
    assert!(Decoder::new("gfx1100", 16).is_none());
}

#[test]
fn short_bytes_make_progress() {
    let decoder = Decoder::new("gfx1100", 32).unwrap();
    let sizes: Vec<usize> = (0..4).map(|len| decoder.decode(&[0xff; 4][..len]).size()).collect();
    assert_eq!(sizes, [0, 1, 2, 3]);
    // A source that is a literal without its bytes: v_mov_b32 v0, 0x...
    assert!(!decoder.decode(&0x7e00_02ff_u32.to_le_bytes()).is_valid());
}

/// The start of a word is no invalid one: more bytes make it an instruction. A shorter instruction may have it all.
#[test]
fn words_that_end_early_are_cut() {
    for (processor, wave) in [("gfx90a", 64), ("gfx1030", 32), ("gfx1100", 32), ("gfx1250", 32)] {
        let decoder = Decoder::new(processor, wave).unwrap();
        for (_, word, size) in decoder.encodings() {
            let bytes = [word.to_le_bytes(), [0; 16]].concat();
            let whole = decoder.decode(&bytes);
            assert!(!whole.is_cut(), "{processor} {whole}");
            for end in (1..size).filter(|_| whole.is_valid()) {
                let part = decoder.decode(&bytes[..end]);
                assert!(part.is_cut() != part.is_valid(), "{processor} {whole}: {end} bytes");
            }
        }
        assert!(!decoder.decode(&[0xff; 4]).is_valid());
    }
}

#[test]
fn any_bytes_give_instructions_side_by_side() {
    let mut state = 1_u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 56) as u8
    })
    .take(20_001)
    .collect();
    for (processor, wave) in
        [("gfx900", 64), ("gfx950", 64), ("gfx1030", 64), ("gfx1100", 32), ("gfx1200", 32), ("gfx1250", 32)]
    {
        let decoder = Decoder::new(processor, wave).unwrap().with_msb(VgprMsb(0xe4));
        let mut end = 0;
        for (at, instruction) in decoder.instructions(&bytes) {
            assert_eq!(at, end, "{processor}");
            end += instruction.size();
            let text = instruction.to_string();
            assert_eq!(text.starts_with('.'), !instruction.is_valid(), "{text}");
            assert!(instruction.operands().count() < 40, "{text}");
        }
        assert_eq!(end, bytes.len(), "{processor}");
    }
}
