//! Addresses of LDS in code of clang 22 at -O2: by the operands in AMD's ISA documents.

use super::of_generation;
use crate::arch::Generation;
use crate::isa::{LdsUse, lds_use};

fn found(code: &[(&str, bool)], register: u16) -> LdsUse {
    let code: Vec<_> =
        code.iter().map(|(text, counts)| (of_generation(Generation::Gfx90a, text), *counts)).collect();
    lds_use(code.iter().map(|(one, counts)| (one, *counts)), register)
}

fn uses(code: &[&str], register: u16) -> bool {
    let code: Vec<_> = code.iter().map(|text| (*text, true)).collect();
    found(&code, register).is_address
}

/// Offsets of two accesses count elements of their size; the ones before the PC count.
#[test]
fn bytes_of_accesses() {
    let code = [
        ("ds_write_b16 v0, v1 offset:2", true),
        ("ds_write2_b32 v0, v18, v22 offset0:1 offset1:3", true),
        ("ds_read_b128 v[4:7], v0 offset:32", true),
        ("v_add_u32_e32 v1, s7, v0", true),
        ("ds_write_b8 v1, v3 offset:2", false),
        ("ds_write_b64 v0, v[2:3]", false),
    ];
    assert_eq!(
        found(&code, 0),
        LdsUse { is_address: true, is_indexed: false, bytes: vec![2..4, 4..8, 12..16, 32..48] }
    );
    let all = found(&code.map(|(text, _)| (text, true)), 0);
    assert!(all.is_indexed && all.bytes.last() == Some(&(0..8)), "{all:?}");
}

#[test]
fn the_base_of_an_access_is_an_address() {
    for text in [
        "ds_write_b16 v0, v1 offset:2",
        "ds_read_u8 v3, v0 offset:2",
        "ds_write2_b32 v0, v18, v22 offset0:1 offset1:2",
        "ds_add_rtn_u32 v3, v0, v1",
    ] {
        assert!(uses(&[text], 0), "{text}");
    }
    // Data and results are none, nor a lane's number.
    for text in [
        "ds_write_b16 v1, v0 offset:2",
        "ds_read_u8 v0, v1",
        "ds_bpermute_b32 v3, v0, v1",
        "buffer_load_dword v1, v0, s[0:3], 0 offen",
        "global_load_dword v1, v0, s[0:1]",
    ] {
        assert!(!uses(&[text], 0), "{text}");
    }
}

#[test]
fn a_sum_with_the_address_is_an_address() {
    let read = "ds_read_i8 v4, v1 offset:6";
    for text in [
        "v_add_u32_e32 v1, s7, v0",
        "v_lshl_add_u32 v1, s6, 1, v0",
        "v_add3_u32 v1, v2, s1, v0",
        "v_or_b32_e32 v1, 4, v0",
        "v_mad_u32_u24 v1, v3, 12, v0",
        "v_mov_b32_e32 v1, v0",
    ] {
        assert!(uses(&[text, read], 0), "{text}");
        assert!(!uses(&[text, "v_mov_b32_e32 v1, 0", read], 0), "{text}");
        assert!(!uses(&[text], 0), "{text}");
    }
    // The address of another value, computed from the register.
    for text in ["v_lshlrev_b32_e32 v1, 2, v0", "v_lshl_add_u32 v1, v0, 2, s4", "v_mul_lo_u32 v1, v0, 40"] {
        assert!(!uses(&[text, read], 0), "{text}");
    }
    // Through two sums, one over the other; the registers of wide results.
    assert!(uses(&["v_add_u32_e32 v1, s7, v0", "v_add_u32_e32 v1, 4, v1", read], 0));
    assert!(!uses(&["v_add_u32_e32 v1, s7, v0", "global_load_dwordx4 v[0:3], v[8:9], off", read], 0));
}
