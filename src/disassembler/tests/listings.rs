//! Hand-written tool output: valid and invalid listings.

use crate::disassembler::{mc, objdump};

const HEAD: &str =
    "\n<stdin>:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n0000000000001000 <.text>:\n";

fn lines(lines: &[&str]) -> String {
    lines.iter().fold(HEAD.to_owned(), |text, line| format!("{text}\t{line}\n"))
}

#[test]
fn objdump_reports_addresses_sizes_and_targets() {
    let text = lines(&[
        "s_branch 65519                // 000000001000: BF82FFEF <zero+0xfc0>",
        "s_branch 16                   // 000000001004: BF820010 <.text+0x48>",
        "s_branch 65534                // 000000001008: BF82FFFE <.text>",
        "v_writelane_b32 v40, s16, 4   // 00000000100C: D28A0028 00010810",
        ".long 0xffffffff              // 000000001014: FFFFFFFF",
        "<unknown>                     // 000000001018: FFFFFFFF",
        "s_call_b64 s[0:1], 4          // 00000000101C: BA800004 <elsewhere+0x10>",
        "s_xor_b64 s[6:7], s[46:47], 29 // 000000001020: 88879D2E ; Warning: SGPR_64: scalar reg isn't aligned 7",
        "s_branch 0                    // 000000001024: BF820000 ; odd <.text+0x28>",
    ]);
    let found = objdump::listing(&text, 0x1000, 40).unwrap();
    let got: Vec<_> = found
        .iter()
        .map(|one| (one.address, one.size, one.text.as_str(), one.is_decoded, one.target))
        .collect();
    let expected = [
        (0x1000, 4, "s_branch 65519", true, Some(0xfc0)),
        (0x1004, 4, "s_branch 16", true, Some(0x1048)),
        (0x1008, 4, "s_branch 65534", true, Some(0x1000)),
        (0x100c, 8, "v_writelane_b32 v40, s16, 4", true, None),
        (0x1014, 4, ".long 0xffffffff", false, None),
        (0x1018, 4, "<unknown>", false, None),
        (0x101c, 4, "s_call_b64 s[0:1], 4", true, None),
        (
            0x1020,
            4,
            "s_xor_b64 s[6:7], s[46:47], 29 ; Warning: SGPR_64: scalar reg isn't aligned 7",
            true,
            None,
        ),
        (0x1024, 4, "s_branch 0 ; odd", true, Some(0x1028)),
    ];
    assert_eq!(got, expected);
}

#[test]
fn what_does_not_cover_the_code_is_no_listing_of_objdump() {
    let one = "s_nop 0 // 000000001000: BF800000";
    for (text, length, words) in [
        (lines(&[one]), 8, "it ends at 0x1004, not at 0x1008"),
        (String::new(), 4, "it ends at 0x1000, not at 0x1004"),
        (lines(&[one, one]), 8, "not the address 0x1004"),
        (lines(&["s_nop 0 // 000000001004: BF800000"]), 4, "not the address 0x1000"),
        (lines(&["s_nop 0 // 000000001000: BF800000 BF800000"]), 4, "more than it was given"),
        (lines(&["s_nop 0 // 000000001000: BF8000"]), 4, "no dwords"),
        (lines(&["s_nop 0 // 000000001000:"]), 4, "no dwords"),
        (lines(&["s_nop 0 // here: BF800000"]), 4, "no address"),
        (lines(&[&format!("s_nop 0 // 000000001000:{}", " BF800000".repeat(64))]), 256, "no dwords"),
    ] {
        let error = objdump::listing(&text, 0x1000, length).unwrap_err().to_string();
        assert!(error.contains(words), "{error:?} for {text}");
    }
}

#[test]
fn addresses_at_the_end_of_memory_do_not_overflow() {
    let text = lines(&["s_nop 0 // FFFFFFFFFFFFFFFC: BF800000 <.text+0xffffffffffffffff>"]);
    // No instruction can end past the last address; the caller excludes it.
    let found = objdump::listing(&text, u64::MAX - 3, 3);
    assert!(found.is_ok_and(|found| found[0].target.is_none()));
}

const BYTES: [u8; 16] =
    [0, 0, 0x80, 0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x80, 0xbe, 0x78, 0x56, 0x34, 0x12];
const DECODED: &str = "\t.text\n\ts_nop 0        ; encoding: [0x00,0x00,0x80,0xbf]\n\
    \ts_mov_b32 s0, 0x12345678 ; encoding: [0xff,0x00,0x80,0xbe,0x78,0x56,0x34,0x12]\n";
const SAID: &str = "<stdin>:2:1: warning: invalid instruction encoding\n0xff 0xff 0xff 0xff \n^\n<stdin>:9:1: warning: potentially\n";

#[test]
fn mc_reports_sizes_by_encodings_and_errors_by_line() {
    let found = mc::listing(DECODED, SAID, 0x1000, &BYTES).unwrap();
    let got: Vec<_> =
        found.iter().map(|one| (one.address, one.size, one.text.as_str(), one.is_decoded)).collect();
    let bad = ".long 0xffffffff (invalid instruction encoding)";
    let expected = [
        (0x1000, 4, "s_nop 0", true),
        (0x1004, 4, bad, false),
        (0x1008, 8, "s_mov_b32 s0, 0x12345678", true),
    ];
    assert_eq!(got, expected);
}

/// A different encoding may have a different size, which would shift all later instructions: they are dropped.
#[test]
fn a_listing_of_mc_ends_where_its_encoding_is_not_the_codes() {
    for (from, to) in [
        (",0x78,0x56,0x34,0x12]", "]"),
        (",0x78,0x56,0x34,0x12]", ",0x78,0x56,0x34,0x13]"),
        (",0x78,0x56,0x34,0x12]", ",0x78,0x56,0x34,0x12,0x00,0x00,0x00,0x00]"),
        (",0x78,0x56,0x34,0x12]", ",A,A,A,A]"),
    ] {
        let found = mc::listing(&DECODED.replace(from, to), SAID, 0x1000, &BYTES);
        if to == "]" {
            // The bytes match as far as they go; the rest has no message.
            assert!(found.unwrap_err().to_string().contains("it prints no instruction for the byte 12"));
            continue;
        }
        let found = found.unwrap();
        assert_eq!(found.iter().map(|one| one.address).collect::<Vec<_>>(), [0x1000, 0x1004], "{to}");
    }
    for (text, words) in [
        (DECODED.replace("0xbf]", "0xbe]"), "otherwise than the code has it"),
        (DECODED.replace(",0xbf]", "]"), "otherwise than the code has it"),
        (String::new(), "it prints no instruction for the byte 0"),
        (DECODED.lines().take(2).collect::<Vec<_>>().join("\n"), "it prints no instruction for the byte 8"),
        (format!("{DECODED}{DECODED}"), "it continues after the byte 16 of 16"),
    ] {
        let error = mc::listing(&text, SAID, 0x1000, &BYTES).unwrap_err().to_string();
        assert!(error.contains(words), "{error:?} for {text}");
    }
}
