//! Limits of changes: a write past one fails with a message and changes nothing.

use super::{LOCAL, dump, place};
use crate::session::changes::{MAX_CHANGED_PIECES, MAX_CHANGED_REGISTERS, PIECE};
use crate::session::tests::Maker;
use crate::session::{Reset, Session, Storage as _, WhatIf as _};
use crate::units::{WaveId, WaveSize};

#[test]
fn memory_has_a_bound() {
    let mut maker = Maker::new("gfx90a");
    maker.wave(WaveSize::W64, None, &[]);
    // A wave with more private memory than the limit of changes, none of it captured.
    let owned = (MAX_CHANGED_PIECES as u64 + 8) * PIECE;
    maker.capture.waves[0].private_size = Some(owned);
    let mut session = Session::new(maker.finish(), None).unwrap();
    let at = |address| place(6, address, 0, 0);
    // One byte in each piece counts as a whole piece.
    for piece in 0..MAX_CHANGED_PIECES as u64 - 1 {
        session.write(at(piece * PIECE + piece % PIECE), &[1]).unwrap();
    }
    let edge = (MAX_CHANGED_PIECES as u64 - 1) * PIECE;
    let refused = session.write(at(edge + PIECE - 1), &[5, 6]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "more than 131072 pieces of 64 bytes of memory would be changed: `monitor reset` drops changes"
    );
    let mut byte = [0];
    assert!(session.read(at(edge + PIECE - 1), &mut byte).is_err(), "half of it was written");
    session.write(at(edge + PIECE - 1), &[5]).unwrap();
    session.write(at(0), &[9; 64]).unwrap();
    session.write(at(edge + PIECE), &[5]).unwrap_err();
    // Bytes with their captured value again take no capacity.
    assert_eq!(session.reset(Reset::Memory).bytes, MAX_CHANGED_PIECES as u64 + 63);
    session.write(at(edge + PIECE), &[5]).unwrap();
}

#[test]
fn registers_have_a_bound() {
    let mut maker = Maker::new("gfx90a");
    let kind = maker.kind(WaveSize::W64);
    // Those of all lanes have 64 times the bytes.
    let plain = kind.registers().iter().filter(|register| register.alias.is_none() && register.bytes() <= 8);
    let plain: Vec<_> = plain.map(|register| (register.id, register.bytes())).collect();
    for _ in 0..=MAX_CHANGED_REGISTERS / plain.len() {
        maker.wave(WaveSize::W64, None, &[]);
    }
    let mut session = Session::new(maker.finish(), None).unwrap();
    let each = |index: usize| (WaveId((index / plain.len()) as u32), plain[index % plain.len()]);
    for index in 0..MAX_CHANGED_REGISTERS {
        let (wave, (register, bytes)) = each(index);
        session.write_register(wave, register, &vec![1; bytes]).unwrap();
    }
    let (wave, (register, bytes)) = each(MAX_CHANGED_REGISTERS);
    let refused = session.write_register(wave, register, &vec![1; bytes]).unwrap_err();
    assert!(refused.to_string().starts_with("more than 65536 registers would be changed"), "{refused}");
    assert_eq!(session.register(wave, register).unwrap().known(), 0);
    let (wave, (register, bytes)) = each(0);
    session.write_register(wave, register, &vec![2; bytes]).unwrap();
    // The list has the number of left-out changes.
    let changes = session.changes(10).unwrap();
    assert_eq!(changes.registers.len(), 10);
    assert!(changes.left_out > MAX_CHANGED_REGISTERS - 20, "{}", changes.left_out);
}

#[test]
fn writes_past_the_end_of_memory_are_refused() {
    let mut session = Session::new(dump(), None).unwrap();
    for (space, address, bytes) in [
        (0u64, 0x0fff, 2usize),
        (0, 0x20ff, 2),
        (0, 0x3000, 1),
        (0, u64::MAX, 2),
        (LOCAL, 0x3ff, 2),
        (LOCAL, 0x1_0000_0000, 1),
        (5, 0x18, 1),
        (4, 0, 1),
        (0x77, 0, 1),
    ] {
        let refused = session.write(place(space, address, 0, 63), &vec![7; bytes]);
        assert!(refused.is_err(), "{bytes} bytes of space {space} at {address:#x}");
    }
    assert_eq!(session.changes(1).unwrap(), crate::session::Changes::default());
    let refused = session.write(place(0, 0x20ff, 0, 0), &[1, 2]).unwrap_err();
    let words =
        "global memory at 0x2100 cannot be written: nothing was captured there, and no memory is known there";
    assert_eq!(refused.to_string(), words);
}
