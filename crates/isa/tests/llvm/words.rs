//! Words that tests decode.

use crate::RECORD;
use amdgpu_isa::Decoder;
use std::collections::BTreeSet;

/// A repeatable sequence of numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn word(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// A mask, its value and the bytes of an encoding.
type Encoding = (u128, u128, usize);

/// Words of each encoding of a decoder, and some of those that only other processors have.
pub(crate) fn words(decoder: &Decoder, others: &[Decoder], each: usize, step: usize) -> Vec<u8> {
    let own: BTreeSet<Encoding> = decoder.encodings().collect();
    let all: BTreeSet<Encoding> = others.iter().flat_map(Decoder::encodings).collect();
    let (mut numbers, mut words) = (Numbers(7), Vec::new());
    let own_places = own.iter().step_by(step).flat_map(|one| std::iter::repeat_n(one, each));
    let others =
        all.difference(&own).step_by(step).flat_map(|one| std::iter::repeat_n(one, each.div_ceil(10)));
    for (turn, (mask, value, size)) in own_places.chain(others).enumerate() {
        let word = fill(&mut numbers, turn + turn / each, *size) & !mask | value;
        words.extend(&word.to_le_bytes()[..*size]);
        words.extend(&behind(&mut numbers)[..RECORD - *size]);
    }
    // And words of no known encoding.
    words.extend((0..each * 100 * RECORD).map(|_| numbers.next() as u8));
    words
}

/// Random fields: some with few bits, some whose sources ask for a literal, DPP or SDWA.
fn fill(numbers: &mut Numbers, turn: usize, size: usize) -> u128 {
    const SOURCES: [u128; 8] = [0xe9, 0xea, 0xfa, 0x1e9, 0xff, 0xf9, 0xfe, 0x80];
    let word = numbers.word();
    match turn % 8 {
        1 | 5 => word & numbers.word(),
        2 => word & numbers.word() & numbers.word(),
        3 if size > 4 => word & !(0x1ff << 32) | SOURCES[numbers.next() as usize % 8] << 32,
        7 => word & !0x1ff | SOURCES[numbers.next() as usize % 8],
        _ => word,
    }
}

/// The bytes behind a word: any, or a literal with the number of an inline constant.
fn behind(numbers: &mut Numbers) -> [u8; 16] {
    const LITERALS: [u64; 12] = [
        0,
        1,
        64,
        0xffff_ffff_ffff_fff0,
        0x3c00,
        0x3f80,
        0x3c00_3c00,
        0x3f80_0000,
        0x3e22_f983,
        0x3ff0_0000,
        0x3ff0_0000_0000_0000,
        0x3fc4_5f30_6dc9_c882,
    ];
    let any = numbers.word();
    let literal = LITERALS[numbers.next() as usize % LITERALS.len()];
    let word = if numbers.next().is_multiple_of(4) { any >> 64 << 64 | u128::from(literal) } else { any };
    word.to_le_bytes()
}
