//! Integers of any number of bits, as 64-bit limbs, least significant first.
//!
//! Base types reach 2048 bits (a whole vector register), for which correctness matters, not speed. Every function takes
//! and returns numbers whose bits beyond their width are 0.

use std::cmp::Ordering;

use super::value::{limbs_for, low_mask};

/// Clears the bits from `bits` on.
fn trimmed(mut limbs: Vec<u64>, bits: u32) -> Vec<u64> {
    limbs.resize(limbs_for(u64::from(bits)), 0);
    let top = bits % 64;
    if let (Some(last), true) = (limbs.last_mut(), top != 0) {
        *last &= low_mask(top);
    }
    limbs
}

fn limb(number: &[u64], index: usize) -> u64 {
    number.get(index).copied().unwrap_or(0)
}

/// Combines each pair of limbs.
pub(super) fn bitwise(a: &[u64], b: &[u64], join: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    a.iter().enumerate().map(|(index, a)| join(*a, limb(b, index))).collect()
}

pub(super) fn not(a: &[u64], bits: u32) -> Vec<u64> {
    trimmed(a.iter().map(|limb| !limb).collect(), bits)
}

pub(super) fn add(a: &[u64], b: &[u64], bits: u32) -> Vec<u64> {
    let mut carry = false;
    let sum = (0..limbs_for(u64::from(bits))).map(|index| {
        let (part, first) = limb(a, index).overflowing_add(limb(b, index));
        let (whole, second) = part.overflowing_add(u64::from(carry));
        carry = first || second;
        whole
    });
    let sum = sum.collect();
    trimmed(sum, bits)
}

/// The negative, in two's complement.
pub(super) fn neg(a: &[u64], bits: u32) -> Vec<u64> {
    add(&not(&trimmed(a.to_vec(), bits), bits), &[1], bits)
}

pub(super) fn sub(a: &[u64], b: &[u64], bits: u32) -> Vec<u64> {
    add(a, &neg(b, bits), bits)
}

pub(super) fn mul(a: &[u64], b: &[u64], bits: u32) -> Vec<u64> {
    let count = limbs_for(u64::from(bits));
    let mut product = vec![0u64; count];
    for (low, a) in a.iter().enumerate() {
        let mut carry = 0u128;
        for (index, slot) in product.iter_mut().enumerate().skip(low) {
            let sum = u128::from(*a) * u128::from(limb(b, index - low)) + u128::from(*slot) + carry;
            *slot = sum as u64;
            carry = sum >> 64;
        }
    }
    trimmed(product, bits)
}

/// Compares as unsigned numbers.
pub(super) fn cmp(a: &[u64], b: &[u64]) -> Ordering {
    let count = a.len().max(b.len());
    (0..count)
        .rev()
        .map(|index| limb(a, index).cmp(&limb(b, index)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

pub(super) fn is_zero(a: &[u64]) -> bool {
    a.iter().all(|limb| *limb == 0)
}

pub(super) fn bit(a: &[u64], index: u32) -> bool {
    limb(a, (index / 64) as usize) >> (index % 64) & 1 == 1
}

/// Whether the number is negative in two's complement.
pub(super) fn is_negative(a: &[u64], bits: u32) -> bool {
    bits > 0 && bit(a, bits - 1)
}

/// Shifts left.
pub(super) fn shl(a: &[u64], by: u32, bits: u32) -> Vec<u64> {
    let (limbs, rest) = ((by / 64) as usize, by % 64);
    let shifted = (0..limbs_for(u64::from(bits))).map(|index| {
        let Some(from) = index.checked_sub(limbs) else { return 0 };
        let low = from.checked_sub(1).map_or(0, |from| limb(a, from));
        limb(a, from) << rest | low.checked_shr(64 - rest).unwrap_or(0)
    });
    trimmed(shifted.collect(), bits)
}

/// Shifts right; zeros are shifted in.
pub(super) fn shr(a: &[u64], by: u32) -> Vec<u64> {
    let (limbs, rest) = ((by / 64) as usize, by % 64);
    let shifted = |index: usize| {
        limb(a, index + limbs) >> rest | limb(a, index + limbs + 1).checked_shl(64 - rest).unwrap_or(0)
    };
    (0..a.len()).map(shifted).collect()
}

/// Shifts right; copies of the sign are shifted in.
pub(super) fn shra(a: &[u64], by: u32, bits: u32) -> Vec<u64> {
    let by = by.min(bits);
    let shifted = shr(a, by);
    if !is_negative(a, bits) {
        return shifted;
    }
    let ones = not(&vec![0; limbs_for(u64::from(bits))], bits);
    bitwise(&shifted, &shl(&ones, bits - by, bits), |a, b| a | b)
}

/// Quotient and remainder as unsigned numbers; the divisor is not 0.
pub(super) fn div_rem(a: &[u64], b: &[u64], bits: u32) -> (Vec<u64>, Vec<u64>) {
    let mut quotient = vec![0u64; limbs_for(u64::from(bits))];
    // One bit more than the operands, because the remainder is doubled before it is compared.
    let room = bits + 1;
    let mut remainder = vec![0u64; limbs_for(u64::from(room))];
    for index in (0..bits).rev() {
        remainder = shl(&remainder, 1, room);
        if let (Some(low), true) = (remainder.first_mut(), bit(a, index)) {
            *low |= 1;
        }
        if cmp(&remainder, b).is_ge() {
            remainder = sub(&remainder, b, room);
            if let Some(slot) = quotient.get_mut((index / 64) as usize) {
                *slot |= 1 << (index % 64);
            }
        }
    }
    (quotient, trimmed(remainder, bits))
}

/// Extends or truncates to another width.
pub(super) fn resized(a: &[u64], from: u32, to: u32, signed: bool) -> Vec<u64> {
    if !signed || !is_negative(a, from) || to <= from {
        return trimmed(a.to_vec(), to);
    }
    let ones = not(&vec![0; limbs_for(u64::from(to))], to);
    bitwise(&shl(&ones, from, to), a, |a, b| a | b)
}

/// Returns `bits` bits from an offset on.
pub(super) fn extract(a: &[u64], from: u32, bits: u32) -> Vec<u64> {
    trimmed(shr(a, from), bits)
}

/// Writes a number's bits at an offset with zeros.
pub(super) fn insert(into: &mut [u64], at: u32, number: &[u64], width: u32) {
    for (slot, limb) in into.iter_mut().zip(shl(number, at, width)) {
        *slot |= limb;
    }
}
