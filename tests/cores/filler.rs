//! Filler values: a hash of what the word is and of its address, so that no two are equal.

/// Purpose of a filler word. The numbers are those of the sample cores, so that their words can be written again.
#[derive(Clone, Copy)]
pub(crate) enum Filling {
    Vector = 1,
    Accumulator = 2,
    Scalar = 3,
    Shared = 4,
    Lds = 5,
    Scratch = 6,
    Trap = 7,
    Hardware = 8,
    /// Meaningless bits of control words.
    Control = 20,
    /// Memory between structures.
    Gap = 21,
    /// Choices of a plan.
    Choice = 22,
}

pub(crate) fn word(seed: u32, kind: Filling, a: u32, b: u32, c: u32) -> u32 {
    // No loop: tests are not optimized, and their files have millions of these words.
    mix(mix(mix(mix(mix(0, seed), kind as u32), a), b), c)
}

fn mix(mut x: u32, value: u32) -> u32 {
    x ^= value.wrapping_add(0x9e37_79b9);
    x ^= x >> 16;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^= x >> 13;
    x = x.wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

/// Numbers for the choices of a plan.
pub(crate) struct Chooser {
    seed: u32,
    count: u32,
}

impl Chooser {
    pub(crate) fn new(seed: u32) -> Self {
        Self { seed, count: 0 }
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.count += 1;
        word(self.seed, Filling::Choice, self.count, 0, 0) % limit
    }

    pub(crate) fn one_in(&mut self, limit: u32) -> bool {
        self.below(limit) == 0
    }

    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }
}

/// Words as bytes, lowest address first.
pub(crate) fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut all = Vec::new();
    for word in words {
        all.extend_from_slice(&word.to_le_bytes());
    }
    all
}
