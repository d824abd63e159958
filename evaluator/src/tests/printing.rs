//! Text forms for users.

use super::super::print::{self, Names, NoNames};
use super::super::*;
use super::fake::Fake;
use super::program;
use crate::units::{AddressSpace, DwarfReg, LaneId};

struct Named;

impl Names for Named {
    fn register(&self, register: DwarfReg) -> Option<String> {
        (register.0 >= 20).then(|| format!("v{}", register.0 - 20))
    }

    fn space(&self, space: AddressSpace) -> Option<String> {
        (space.0 == 5).then(|| "private_lane".to_owned())
    }
}

fn words(hex: &str, names: &dyn Names) -> String {
    let lane = LaneId(3);
    let location = Evaluator::new(&Fake::default()).location_for(&program(hex), Some(lane)).unwrap();
    print::location(&location, lane, names)
}

#[test]
fn locations_as_text() {
    assert_eq!(words("64 e9 03 34 1e e9 04", &Named), "v0 lane 3");
    assert_eq!(words("64 e9 03 34 1e e9 04 35 e9 06", &Named), "v0 lane 3 bit 5");
    assert_eq!(words("08 40 35 e9 02", &Named), "private_lane[3]+0x40");
    assert_eq!(words("08 40", &NoNames), "space 0x0+0x40");
    assert_eq!(words("51", &NoNames), "register 1");
    assert_eq!(words("51 31 e9 04", &NoNames), "register 1 bit 8");
    assert_eq!(words("e9 07 01", &NoNames), "register 1 of the caller");
    assert_eq!(words("", &NoNames), "undefined");
    assert_eq!(words("9e 02 2a 00", &NoNames), "constant 2a00");
    assert_eq!(words("a0 20 00 00 00 04", &NoNames), "pointer to DIE 0x20+4");
    assert_eq!(words("51 93 04 93 04", &NoNames), "[register 1 32 bits][undefined 32 bits]");
}

#[test]
fn operations_as_text() {
    let shown = |hex: &str| print::program(&program(hex), &Named);
    assert_eq!(
        shown("35 92 14 7c 64 e9 02 93 04 28 fd ff a3 01 50"),
        "DW_OP_lit5; DW_OP_bregx v0 -4; DW_OP_reg20; DW_OP_LLVM_form_aspace_address; DW_OP_piece 4; DW_OP_bra -3; \
         DW_OP_entry_value (DW_OP_reg0)"
            .replace("DW_OP_reg20;", "DW_OP_reg20 v0;")
    );
    assert_eq!(
        shown("11 7f 94 04 e9 0b 20 40 9d 08 01"),
        "DW_OP_consts -1; DW_OP_deref_size 4; DW_OP_LLVM_extend 32 64; DW_OP_bit_piece 8 1"
    );
}

#[test]
fn errors_have_their_place() {
    let error = Evaluator::new(&Fake::default()).location_for(&program("31 50 34 e9 04"), None).unwrap_err();
    assert_eq!((error.at.0, error.op), (3, "DW_OP_LLVM_offset"));
    assert_eq!(error.to_string(), "DW_OP_LLVM_offset at 3: offset 32 bits is outside the storage of 32 bits");
}

#[test]
fn errors_have_the_names_of_registers() {
    let wide = Cause::RegisterTooWide { register: DwarfReg(36), size: 2048, address: 64 };
    assert_eq!(wide.named(&Named), "v16 of 2048 bits is wider than an address of 64 bits");
    assert_eq!(wide.named(&NoNames), wide.to_string());
    let sizes = Cause::RuleSize { of: Some(DwarfReg(20)), found: 32, register: DwarfReg(21), size: 64 };
    assert_eq!(sizes.named(&Named), "v0 has 32 bits, v1 has 64");
    assert_eq!(sizes.to_string(), "register 20 has 32 bits, register 21 has 64");
}
