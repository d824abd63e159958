//! Addends of results, by the operands in AMD's ISA documents.

use super::first;
use crate::isa::RegisterFile;
use RegisterFile::{Scalar, Vector};

#[test]
fn sums_and_copies_have_their_registers() {
    for (text, wanted, expected) in [
        ("v_mov_b32_e32 v1, s1", (Vector, 1), Some(vec![(Scalar, 1)])),
        ("v_mov_b32_e32 v1, 4", (Vector, 1), Some(vec![])),
        ("s_mov_b64 s[4:5], s[0:1]", (Scalar, 5), Some(vec![(Scalar, 1)])),
        ("v_add_co_u32_e32 v2, vcc, s0, v2", (Vector, 2), Some(vec![(Scalar, 0), (Vector, 2)])),
        ("v_addc_co_u32_e32 v3, vcc, v1, v3, vcc", (Vector, 3), Some(vec![(Vector, 1), (Vector, 3)])),
        ("v_addc_co_u32_e32 v3, vcc, 0, v1, vcc", (Vector, 3), Some(vec![(Vector, 1)])),
        ("v_add_co_u32 v2, s6, s0, v2", (Vector, 2), Some(vec![(Scalar, 0), (Vector, 2)])),
        ("v_add_co_ci_u32_e64 v1, null, s1, v1, s6", (Vector, 1), Some(vec![(Scalar, 1), (Vector, 1)])),
        ("v_add_u32_e32 v2, s0, v3", (Vector, 2), Some(vec![(Scalar, 0), (Vector, 3)])),
        ("v_sub_co_u32_e32 v2, vcc, s0, v3", (Vector, 2), Some(vec![(Scalar, 0)])),
        ("v_subrev_co_u32_e32 v2, vcc, s0, v3", (Vector, 2), Some(vec![(Vector, 3)])),
        ("v_lshl_add_u64 v[2:3], v[4:5], 2, s[0:1]", (Vector, 3), Some(vec![(Scalar, 1)])),
        ("v_lshl_add_u64 v[2:3], v[4:5], 0, s[0:1]", (Vector, 3), Some(vec![(Vector, 5), (Scalar, 1)])),
        ("v_mad_u64_u32 v[2:3], s[6:7], v4, v5, s[0:1]", (Vector, 2), Some(vec![(Scalar, 0)])),
        ("s_add_u32 s0, s2, s4", (Scalar, 0), Some(vec![(Scalar, 2), (Scalar, 4)])),
        ("s_add_nc_u64 s[0:1], s[2:3], s[4:5]", (Scalar, 1), Some(vec![(Scalar, 3), (Scalar, 5)])),
        ("v_dual_mov_b32 v7, s3 :: v_dual_mov_b32 v1, s1", (Vector, 1), Some(vec![(Scalar, 1)])),
        ("v_lshlrev_b64 v[2:3], 2, v[2:3]", (Vector, 2), None),
        ("v_mul_lo_u32 v2, v3, s0", (Vector, 2), None),
        ("v_mov_b32_e32 v1, s1", (Vector, 2), None),
        ("v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf", (Vector, 1), None),
    ] {
        let one = first(&["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200", "gfx1250"], text);
        assert_eq!(one.addends(wanted), expected, "{text}");
    }
}
