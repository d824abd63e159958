//! 32- and 64-bit numbers: C's `%.9g` and `%.17g`, from Python's output. 128-bit numbers: notation of gdb 13.1 on
//! x86-64 for `__float128` variables of these values; bits by IEEE 754, table 3.5.

use super::{converted, exact, float, quad};

#[test]
fn numbers_print_as_c_prints_them() {
    let rows: [(u64, u64, &str); 24] = [
        (0x0, 4, "0"),
        (0x3f80_0000, 4, "1"),
        (0x3dcc_cccd, 4, "0.100000001"),
        (0x4ceb_79a3, 4, "123456792"),
        (0x4cbe_bc20, 4, "100000000"),
        (0x4e6e_6b28, 4, "1e+09"),
        (0x38d1_b717, 4, "9.99999975e-05"),
        (0x3901_725b, 4, "0.000123449994"),
        (0x7f7f_ffff, 4, "3.40282347e+38"),
        (0xbfc0_0000, 4, "-1.5"),
        (0x4480_0000, 4, "1024"),
        (0x3f00_0000, 4, "0.5"),
        (0x4b80_0000, 4, "16777216"),
        (0x3fb9_9999_9999_999a, 8, "0.10000000000000001"),
        (0x3fd5_5555_5555_5555, 8, "0.33333333333333331"),
        (0x4024_0000_0000_0000, 8, "10"),
        (0x4376_3457_85d8_9fff, 8, "99999999999999984"),
        (0x437b_69b4_ba63_0f35, 8, "1.2345678901234568e+17"),
        (0x4376_3457_85d8_a000, 8, "1e+17"),
        (0x4341_c379_37e0_8000, 8, "10000000000000000"),
        (0x3f1a_36e2_eb1c_432d, 8, "0.0001"),
        (0x3efa_36e2_eb1c_432d, 8, "2.5000000000000001e-05"),
        (0x4480_f0cf_064d_d592, 8, "1e+22"),
        (0x3f50_624d_d2f1_a9fc, 8, "0.001"),
    ];
    for (bits, bytes, expected) in rows {
        assert_eq!(float(bits, bytes, "").as_deref(), Some(expected), "{bits:#x}");
    }
}

/// The exact conversion against the library's, on numbers of all magnitudes that it takes.
#[test]
fn exact_digits_are_those_of_the_conversion() {
    let mut taken = 0;
    let mut compare = |significand: u64, power: i32, precision: usize| {
        let number = significand as f64 * 2f64.powi(power);
        if let Some(digits) = exact(significand, power, precision) {
            assert_eq!(digits, converted(number, precision), "{significand} * 2^{power}");
            taken += 1;
        }
    };
    for index in 0..50_000u64 {
        let random = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        let power = (index % 160) as i32 - 80;
        compare(random >> 29, power, 9);
        compare(random, power, 17);
        // Ties: a digit 5 behind the last.
        compare(10 * (random >> 10) + 5, -1, 17);
        compare(random % 100_000 * 2 + 1, -(index as i32 % 20), 5);
    }
    compare(0, -149, 9);
    compare(999_999_999_500, 0, 9);
    assert!(taken > 100_000, "{taken}");
}

#[test]
fn quads_print_as_gdb_prints_them() {
    let rows: [(u128, &str); 8] = [
        (0x3fff_1999_9999_9999_9999_9999_9999_999a, "1.10000000000000000000000000000000008"),
        (1 << 127, "-0"),
        (0x4004_5000_0000_0000_0000_0000_0000_0000, "42"),
        (0x7fff_0000_0000_0000_0000_0000_0000_0000, "inf"),
        (1, "6.47517511943802511092443895822764655e-4966"),
        (0xbffe_0000_0000_0000_0000_0000_0000_0000, "-0.5"),
        (0x4070_0000_0000_0000_0000_0000_0000_0000, "10384593717069655257060992658440192"),
        (0x7ffe_ffff_ffff_ffff_ffff_ffff_ffff_ffff, "1.18973149535723176508575932662800702e+4932"),
    ];
    for (bits, expected) in rows {
        assert_eq!(quad(bits), expected, "{bits:#x}");
    }
}
