//! 128-bit numbers: notation of gdb 13.1 on x86-64 for `__float128` variables of these values; bits by IEEE 754, table 3.5.

use super::quad;

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
