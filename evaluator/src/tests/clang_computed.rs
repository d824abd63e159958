//! Values that clang's xderef idiom computes, and halves and addresses in registers. The expected numbers are those of
//! the C operators on 32 bits, computed by hand.

use super::super::clang_xderef::{Idiom, Meaning, Reading, Scratch, recognise};
use super::super::*;
use super::fake::{Fake, byte};
use super::program;
use crate::units::{BitSize, LaneId, LaneSet};

const LANES: Focus = Focus::Lanes(LaneSet(0xf0));
const LANE: LaneId = LaneId(6);
/// `lit1; swap; xderef; stack_value`.
const VALUE: &str = " 31 16 18 9f";
/// Register 20 of lane 6 contains 20006; minus 30000: -9994.
const NEGATIVE: &str = "92 14 00 10 b0 ea 01 1c ";

fn read(context: &Fake, hex: &str, bytes: u64) -> Option<Meaning> {
    let reading = Reading { clang: true, scratch: Scratch::Flat };
    recognise(context, &program(hex), reading, Some(BitSize(bytes * 8)), LANES)
}

/// The object of lane 6: its bits, or the reason that it has none.
fn object(context: &Fake, hex: &str, bytes: u64) -> Result<u64, Cause> {
    let meaning = read(context, hex, bytes).unwrap_or_else(|| panic!("{hex} is no idiom"));
    let group = meaning.groups.into_iter().find(|group| group.lanes.contains(LANE)).unwrap();
    let location = group.result.map_err(|error| error.cause)?.filled(BitSize(bytes * 8)).at(LANE);
    let bits = fetch(context, &location, Some(LANE), BitSize(bytes * 8)).map_err(|error| error.cause)?;
    Ok(bits.number().unwrap())
}

fn int(hex: &str) -> Result<i32, Cause> {
    object(&Fake::default(), &format!("{hex}{VALUE}"), 4).map(|bits| (bits as u32).cast_signed())
}

/// LLVM writes `div`, `mod` and `shra` for signed instructions alone, `shr` for unsigned ones.
#[test]
fn arithmetic_has_the_sign_of_llvms_instruction() {
    let of = |operations: &str| int(&format!("{NEGATIVE}{operations}"));
    assert_eq!(of("34 1b"), Ok(-2498), "-9994 / 4");
    assert_eq!(of("37 1d"), Ok(-5), "-9994 % 7");
    assert_eq!(of("32 26"), Ok(-2499), "-9994 >> 2");
    assert_eq!(of("4c 25"), Ok(15), "0xffffd8f6 >> 28");
    // `constu 0xfffffffffffffffc`: -4.
    assert_eq!(of("10 fc ff ff ff ff ff ff ff ff 01 1b"), Ok(2498), "-9994 / -4");
    // Both operands from registers: 20006 % -9994.
    assert_eq!(int(&format!("92 14 00 {NEGATIVE}1d")), Ok(18));
    // Positive numbers.
    assert_eq!(int("92 14 00 34 1b"), Ok(5001));
    assert_eq!(int("92 14 00 37 1d"), Ok(0));
}

/// The constant of a comparison is `consts` for a signed one, `constu` or `lit` for an unsigned one.
#[test]
fn a_comparison_has_the_sign_of_its_constant() {
    let of = |operations: &str| int(&format!("{NEGATIVE}{operations}"));
    for (operations, value) in [
        ("11 05 2d", 1),                            // signed, < 5
        ("35 2d", 0),                               // unsigned, < 5
        ("11 79 2b", 0),                            // signed, > -7
        ("10 f0 ff ff ff ff ff ff ff ff 01 2b", 0), // unsigned, > 0xfffffff0
        ("10 80 80 ff ff ff ff ff ff ff 01 2b", 1), // unsigned, > 0xffffc000
        ("30 20 2c", 1),                            // unsigned, <= 0xffffffff
        ("11 00 2a", 0),                            // signed, >= 0
        ("11 f6 b1 7f 29", 1),                      // == -9994
        ("11 f6 b1 7f 2e", 0),
    ] {
        assert_eq!(of(operations), Ok(value), "{operations}");
    }
    // -1 of 64 bits, from a scalar register of that width.
    assert_eq!(int("92 0a 00 92 0a 00 1c 31 1c 35 2b"), Ok(1), "unsigned, > 5");
    assert_eq!(int("92 0a 00 92 0a 00 1c 31 1c 11 05 2b"), Ok(0), "signed, > 5");
    assert!(read(&Fake::default(), &format!("92 14 00 a8 09{VALUE}"), 8).is_none(), "a type without a sign");
}

#[test]
fn a_comparison_of_registers_has_a_value_if_its_sign_does_not_matter() {
    // 20006 and 21006, then -9994 and 21006.
    assert_eq!(int("92 14 00 92 15 00 2d"), Ok(1));
    assert_eq!(int("92 15 00 92 14 00 2d"), Ok(0));
    assert_eq!(int(&format!("{NEGATIVE}92 15 00 2d")), Err(Cause::OpenSign));
    assert_eq!(int(&format!("{NEGATIVE}92 15 00 2e")), Ok(1));
    // Two negative numbers.
    assert_eq!(int(&format!("{NEGATIVE}{NEGATIVE}2d")), Ok(0));
    // Only the lanes in which it matters: register 21 minus 21006 is negative in lanes 4 and 5.
    let meaning = read(&Fake::default(), &format!("92 15 00 10 8e a4 01 1c 92 14 00 2d{VALUE}"), 4).unwrap();
    let failed: Vec<LaneSet> =
        meaning.groups.iter().filter(|group| group.result.is_err()).map(|group| group.lanes).collect();
    assert_eq!(failed, [LaneSet(0x30)]);
    let error = meaning.groups.into_iter().find_map(|group| group.result.err()).unwrap();
    assert_eq!((error.op, error.class()), ("DW_OP_lt", Class::Unavailable));
}

/// LLVM names its types of one bit `DW_ATE_unsigned_1`; their size is a byte.
#[test]
fn a_conversion_has_the_width_in_the_name_of_its_type() {
    let byte = |hex: &str| object(&Fake::default(), &format!("{hex}{VALUE}"), 1);
    // !true: `lit0; not; xor`, to one bit and to a byte.
    assert_eq!(byte("92 15 00 31 1a 31 21 30 20 27 a8 0c"), Ok(0));
    assert_eq!(byte("92 14 00 a8 0c"), Ok(0));
    assert_eq!(byte("92 14 00 31 22 a8 0c"), Ok(1));
    assert_eq!(byte("92 14 00 31 22 a8 0d"), Ok(0xff));
    // No wider than the type.
    assert_eq!(object(&Fake::default(), &format!("92 14 00 a8 07{VALUE}"), 4), Ok(0x26));
}

/// clang 22 for gfx1100 at -O2: a half of a register, by mask and shift.
#[test]
fn a_half_of_a_register_is_the_lanes() {
    let context = Fake::default();
    // 20006 is 0x4e26.
    let low = "92 14 00 10 ff ff 03 1a 31 16 18";
    let high = "92 14 00 40 25 10 ff ff 03 1a 31 16 18 9d 10 10";
    assert_eq!(object(&context, low, 2), Ok(0x4e26));
    assert_eq!(object(&context, low, 1), Ok(0x26));
    assert_eq!(object(&context, high, 2), Ok(0));
    let words = |hex| {
        let meaning = read(&context, hex, 2).unwrap();
        let location = meaning.groups[0].result.as_ref().unwrap().at(LANE);
        (meaning.idiom, print::location(&location, LANE, &print::NoNames))
    };
    assert_eq!(words(low), (Idiom::Xderef, "[register 20 lane 6 16 bits]".to_owned()));
    assert_eq!(words(high), (Idiom::Xderef, "[register 20 lane 6 bit 16 16 bits]".to_owned()));
    // Two halves of an object.
    assert_eq!(
        object(&context, &format!("{low} 93 02 92 15 00 10 ff ff 03 1a 31 16 18 93 02"), 4),
        Ok(0x520e_4e26)
    );
    // The other half is not part of a wider object.
    let wide = read(&context, low, 4).unwrap().groups.remove(0).result.unwrap();
    let wide = fetch(&context, &wide.filled(BitSize(32)).at(LANE), Some(LANE), BitSize(32)).unwrap();
    assert_eq!(wide.number(), None);
    // Another piece, another mask.
    for hex in ["92 14 00 10 ff ff 03 1a 31 16 18 9d 10 10", "92 14 00 10 ff ff 07 1a 31 16 18"] {
        assert!(read(&context, hex, 2).is_none(), "{hex}");
    }
}

/// A value computed from a half: of 16 bits, or a mask of the source.
#[test]
fn a_value_of_a_half_may_depend_on_its_width() {
    let short = |hex: &str| object(&Fake::default(), hex, 2);
    let low = "92 14 00 10 ff ff 03 1a ";
    assert_eq!(short(&format!("{low}31 22{VALUE}")), Ok(20007));
    // A wider object is the source's mask; 20006 << 2 has 17 bits.
    assert_eq!(object(&Fake::default(), &format!("{low}32 24{VALUE}"), 4), Ok(80024));
    // 20006 / 7 is the same for both; 40006 is negative in 16 bits.
    assert_eq!(short(&format!("{low}37 1b{VALUE}")), Ok(2858));
    let masked = "92 14 00 10 a0 9c 01 22 10 ff ff 03 1a ";
    assert_eq!(short(&format!("{masked}32 26{VALUE}")), Ok(10001), "no half of a register");
    // The upper half, with LLVM's last piece.
    assert_eq!(short(&format!("92 14 00 40 25 10 ff ff 03 1a 35 22{VALUE} 9d 10 10")), Ok(5));
}

/// A returned object: its address is in the register, or in the slot.
#[test]
fn an_object_larger_than_its_register_is_at_the_address_in_it() {
    let context = Fake::with(program("30"), program("30"), program("53"));
    let words = |hex: &str, bytes| {
        let meaning = read(&context, hex, bytes).unwrap();
        let result = &meaning.groups.iter().find(|group| group.lanes.contains(LANE)).unwrap().result;
        let words = match result {
            Ok(location) => print::location(&location.at(LANE), LANE, &print::NoNames),
            Err(error) => error.to_string(),
        };
        (meaning.idiom, words)
    };
    let register = "92 14 00 31 16 18";
    // A scalar of 8 bytes would have two registers: no value (`check_size`), not one at an address.
    for bytes in [4, 8] {
        assert_eq!(words(register, bytes), (Idiom::Xderef, "register 20 lane 6".to_owned()));
    }
    assert_eq!(words(register, 160), (Idiom::PrivateAddress, "space 0x5[6]+0x4e26".to_owned()));
    // Register 3 contains 3000, which is a multiple of 8 of the lane.
    let at = 3000 + 20;
    let address = (0..4).rev().fold(0, |number, index| {
        number << 8 | u64::from(byte(5, Some(LANE), at + index).unwrap_or_default())
    });
    assert_eq!(
        words("91 14 31 16 18 06", 160),
        (Idiom::PrivateAddress, format!("space 0x5[6]+{address:#x}"))
    );
}
