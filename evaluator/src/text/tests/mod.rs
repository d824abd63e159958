//! The text form: bytes from the documents' tables in both directions, and rejected texts.

mod properties;

use super::super::operation::{Dialect, Encoding, Program};
use super::super::print::{self, Names, NoNames};
use super::*;
use crate::units::{AddressSpace, DwarfReg};

/// AMDGPU's numbers of some registers; names mean those of wave64.
struct Named;

impl Names for Named {
    fn register(&self, register: DwarfReg) -> Option<String> {
        match register.0 {
            16 => Some("PC_64".to_owned()),
            number @ 32..96 => Some(format!("SGPR{}", number - 32)),
            number @ 1536..1792 => Some(format!("VGPR{}", number - 1536)),
            number @ 2560..2816 => Some(format!("VGPR{}", number - 2560)),
            // Names that the text form cannot represent.
            3072 => Some("a 0".to_owned()),
            3073 => Some(String::new()),
            _ => None,
        }
    }

    fn space(&self, space: AddressSpace) -> Option<String> {
        (space.0 == 5).then(|| "private_lane".to_owned())
    }

    fn register_named(&self, name: &str) -> Option<DwarfReg> {
        (16..4096).rev().map(DwarfReg).find(|number| self.register(*number).as_deref() == Some(name))
    }
}

fn user() -> Encoding {
    Encoding::new(Dialect::LlvmUser)
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Checks that the bytes print as the text, and the text assembles to the bytes.
#[track_caller]
fn same_in(encoding: Encoding, hex: &str, text: &str, names: &dyn Names) {
    let program = Program::decode(&bytes(hex), encoding).unwrap();
    assert_eq!(print::program(&program, names), text);
    assert_eq!(assemble(text, encoding, names).unwrap(), bytes(hex), "{text}");
    assert_eq!(program.encode(), bytes(hex), "{text}");
}

#[track_caller]
fn same(hex: &str, text: &str) {
    same_in(user(), hex, text, &Named);
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let error = assemble(text, user(), &Named).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn every_kind_of_operand_both_ways() {
    // DWARF 5, table 7.9; registers of AMDGPUUsage's mapping.
    same("", "");
    same("35", "DW_OP_lit5");
    same("03 00 10 00 00 00 00 00 80", "DW_OP_addr 0x8000000000001000");
    same("08 ff 09 ff 0a ff ff", "DW_OP_const1u 255; DW_OP_const1s -1; DW_OP_const2u 65535");
    same("0e ff ff ff ff ff ff ff ff", "DW_OP_const8u 18446744073709551615");
    same("0f 00 00 00 00 00 00 00 80", "DW_OP_const8s -9223372036854775808");
    same("10 ff ff ff ff ff ff ff ff ff 01", "DW_OP_constu 18446744073709551615");
    same("11 80 80 80 80 80 80 80 80 80 7f", "DW_OP_consts -9223372036854775808");
    same("11 ff 00 11 7f 11 80 7f", "DW_OP_consts 127; DW_OP_consts -1; DW_OP_consts -128");
    same("12 14 15 02", "DW_OP_dup; DW_OP_over; DW_OP_pick 2");
    same("06 94 04 18 95 04", "DW_OP_deref; DW_OP_deref_size 4; DW_OP_xderef; DW_OP_xderef_size 4");
    same("60 50 80 08", "DW_OP_reg16 PC_64; DW_OP_reg0; DW_OP_breg16 PC_64 +8");
    same("90 83 14", "DW_OP_regx VGPR3");
    same("92 41 7c 91 00", "DW_OP_bregx SGPR33 -4; DW_OP_fbreg +0");
    same("a5 c0 00 2a", "DW_OP_regval_type SGPR32:2 0x2a");
    same("28 fd ff 2f 03 00", "DW_OP_bra -3; DW_OP_skip +3");
    same("98 2a 00 99 2a 00 00 00", "DW_OP_call2 0x2a; DW_OP_call4 0x2a");
    same("9a 2a 00 00 00", "DW_OP_call_ref 0x2a");
    same("9e 02 0a ff 9e 00", "DW_OP_implicit_value [0a ff]; DW_OP_implicit_value []");
    same("a4 18 02 01 02", "DW_OP_const_type 0x18 [01 02]");
    same("a8 00 a9 18", "DW_OP_convert generic; DW_OP_reinterpret 0x18");
    same(
        "a3 01 50 f3 03 a3 01 50",
        "DW_OP_entry_value (DW_OP_reg0); DW_OP_GNU_entry_value (DW_OP_entry_value (DW_OP_reg0))",
    );
    same("9d 08 01 93 04", "DW_OP_bit_piece 8 1; DW_OP_piece 4");
    same("e9 03 e9 0b 20 40", "DW_OP_LLVM_push_lane; DW_OP_LLVM_extend 32 64");
    same("e9 09 40 7c", "DW_OP_LLVM_aspace_bregx SGPR32 -4");
}

#[test]
fn names_that_are_not_unique_or_no_words_are_numbers() {
    // VGPR3 of wave32 and wave64 share the name, which means that of wave64.
    same("90 83 0c", "DW_OP_regx 1539");
    same("90 80 18", "DW_OP_regx 3072");
    same("90 81 18", "DW_OP_regx 3073");
    same_in(user(), "90 83 14 60", "DW_OP_regx 2563; DW_OP_reg16", &NoNames);
}

#[test]
fn each_dialect_has_its_codes() {
    let text = "DW_OP_LLVM_form_aspace_address; DW_OP_LLVM_push_lane; DW_OP_LLVM_offset";
    for (dialect, hex) in [
        (Dialect::LlvmUser, "e9 02 e9 03 e9 04"),
        (Dialect::LlvmDirect, "e1 e2 e3"),
        (Dialect::AmdgpuUsage2020, "e7 ea e9"),
    ] {
        same_in(Encoding::new(dialect), hex, text, &NoNames);
    }
    let direct = Encoding::new(Dialect::LlvmDirect);
    same_in(direct, "e9 2a 00 00 00 04", "DW_OP_LLVM_aspace_implicit_pointer 0x2a +4", &NoNames);
    let wide = Encoding { dialect: Dialect::LlvmUser, dwarf64: true };
    same_in(wide, "9a 2a 00 00 00 00 00 00 80", "DW_OP_call_ref 0x800000000000002a", &NoNames);
    let error =
        assemble("DW_OP_LLVM_undefined", Encoding::new(Dialect::AmdgpuUsage2020), &NoNames).unwrap_err();
    assert_eq!(error.what, "`DW_OP_LLVM_undefined` has no code in the amdgpu-usage-2020 dialect");
}

#[test]
fn redundant_bytes_are_shown_and_given_back() {
    same("10 85 80 00", "DW_OP_constu 5:3");
    same("11 ff ff 7f", "DW_OP_consts -1:3");
    same("e9 83 00 e9 03", "DW_OP_LLVM_push_lane:2; DW_OP_LLVM_push_lane");
    same("e9 8b 00 a0 00 40", "DW_OP_LLVM_extend:2 32:2 64");
    same("9e 82 00 0a ff", "DW_OP_implicit_value [0a ff]:2");
    same("a3 84 80 00 a3 81 00 50", "DW_OP_entry_value (DW_OP_entry_value (DW_OP_reg0):2):3");
    same("92 c1 00 fc 7f", "DW_OP_bregx SGPR33:2 -4:2");
    same("10 ff ff ff ff ff ff ff ff ff 81 00", "DW_OP_constu 18446744073709551615:11");
    same("11 80 80 80 80 80 80 80 80 80 ff 7f", "DW_OP_consts -9223372036854775808:11");
}

#[test]
fn people_may_write_more_freely() {
    let canonical = |text: &str| {
        let program = Program::assemble(text, user(), &Named).unwrap();
        print::program(&program, &Named)
    };
    assert_eq!(
        canonical(
            "regx VGPR3, # the vector\nLLVM_push_lane\n\n lit4;mul ; DW_OP_LLVM_user DW_OP_LLVM_offset;;"
        ),
        "DW_OP_regx VGPR3; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset"
    );
    assert_eq!(canonical("const1u private_lane; bregx 0x41 4"), "DW_OP_const1u 5; DW_OP_bregx SGPR33 +4");
    assert_eq!(
        canonical("implicit_value [0A,ff 01]; convert 0; implicit_value [0aff]:1"),
        "DW_OP_implicit_value [0a ff 01]; DW_OP_convert generic; DW_OP_implicit_value [0a ff]"
    );
    // A branch is relative to its own end: `skip` and `lit1` take 4 bytes, `bra` 3.
    assert_eq!(
        canonical("again: lit1; bra again; skip out; lit2; out:"),
        "DW_OP_lit1; DW_OP_bra -4; DW_OP_skip +1; DW_OP_lit2"
    );
}

#[test]
fn errors_of_syntax_have_their_place() {
    refused("DW_OP_lit5; DW_OP_dupp", "1:13: no operation `DW_OP_dupp`; expected `DW_OP_dup`");
    refused(
        "frobnicate_all",
        "1:1: no operation `frobnicate_all`; expected an operation of the llvm-user dialect",
    );
    refused("dup\n  const1u 256", "2:11: `256`; expected a number from 0 to 255");
    refused(
        "consts 9223372036854775808",
        "1:8: `9223372036854775808`; expected a number from -9223372036854775808 to 9223372036854775807",
    );
    refused("regx", "1:5: the text ends; expected a number");
    refused("regx VGPR900", "1:6: `VGPR900`; expected a register's name or DWARF number");
    refused("lit5 4", "1:6: `4`; expected `;`, for the operation has no more operands");
    refused("constu 300:1", "1:11: 1 bytes; expected at least the 2 it needs");
    refused("const1u 3:1", "1:10: an operand that is no LEB128 number; expected no width");
    refused("dup:1", "1:4: the code of the operation has one byte; expected no width");
    refused("implicit_value [1]", "1:16: `1` in a block; expected pairs of hexadecimal digits");
    refused("implicit_value [01", "1:16: a block without its end; expected `]`");
    refused("entry_value (reg0", "1:18: the text ends; expected `)`");
    refused("dup)", "1:4: `)`; expected an operation");
    refused("bra nowhere", "1:5: no label `nowhere`; expected a label of this expression or a number");
    refused("x: x: dup", "1:4: a second label `x`; expected another name");
    refused("reg16 SGPR3", "1:7: `SGPR3`; expected the name of register 16, or nothing");
    refused(
        "constu 18446744073709551616",
        "1:8: `18446744073709551616` is no number of 64 bits; expected a decimal or 0x number",
    );
    refused("dup é", "1:5: unexpected `é`; expected an operation or an operand");
    let deep = format!("{}dup{}", "entry_value (".repeat(9), ")".repeat(9));
    assert_eq!(assemble(&deep, user(), &Named).unwrap_err().what, "expressions nest too deeply");
    assert!(assemble(&"dup;".repeat((1 << 20) + 1), user(), &Named).is_err());
}

#[test]
fn every_operation_of_every_dialect_has_a_row() {
    for dialect in Dialect::ALL {
        assert_eq!(Dialect::named(dialect.name()), Some(dialect));
        for (_, name) in codes(dialect) {
            assert!(shape(name).is_some(), "{name} of {}", dialect.name());
        }
    }
}
