//! Rows by PC, and instructions that are cut or random.

use proptest::prelude::*;

use super::super::cfi::{CfaRule, Factors, RegisterRule, Row, Unwind};
use super::super::*;
use super::bytes;
use super::fake::Fake;
use crate::units::{AddressSpace, DwarfReg, Pc};

fn factors() -> Factors {
    let encoding = Encoding::new(Dialect::LlvmUser);
    Factors { code: 4, data: 4, return_address: DwarfReg(10), address_size: 8, encoding }
}

fn row(fde: &str, pc: u64) -> Row {
    Row::find(&factors(), &[], &bytes(fde), Pc(0x1000), Some(Pc(pc))).unwrap()
}

#[test]
fn the_row_of_a_pc() {
    // CFA register 3; after 8 bytes register 4; after 0x408 more undefined 10.
    let fde = "30 03 00 06 42 0d 04 03 02 01 07 0a";
    let register = |pc| match row(fde, pc).cfa.rule {
        CfaRule::Register { register, space: AddressSpace(6), .. } => register.0,
        other => panic!("{other:?}"),
    };
    assert_eq!((register(0x1000), register(0x1007), register(0x1008), register(0x1009)), (3, 3, 4, 4));
    assert!(!row(fde, 0x140f).is_outermost());
    assert!(row(fde, 0x1410).is_outermost());
    // set_loc says the place itself.
    let fde = "30 03 00 06 01 00 20 00 00 00 00 00 00 0d 04";
    assert!(matches!(row(fde, 0x1fff).cfa.rule, CfaRule::Register { register: DwarfReg(3), .. }));
    assert!(matches!(row(fde, 0x2000).cfa.rule, CfaRule::Register { register: DwarfReg(4), .. }));
}

#[test]
fn rules_say_which_instruction_set_them() {
    let row = row("30 03 00 06 05 01 02", 0x1000);
    let placed = &row.registers[&DwarfReg(1)];
    assert_eq!(
        (&placed.rule, placed.at.0, placed.name),
        (&RegisterRule::Offset(8), 4, "DW_CFA_offset_extended")
    );
}

#[test]
fn a_whole_vector_register_has_a_value() {
    let row = row("30 03 00 06 08 1d", 0x1000);
    let context = Fake::default();
    // Register 29 lacks lane 29.
    let error = Unwind::new(&context, &row).value(DwarfReg(29)).unwrap_err();
    assert_eq!(error.class(), Class::Unavailable);
    assert_eq!(Unwind::new(&context, &row).value(DwarfReg(10)).unwrap().size().0, 64);
}

proptest! {
    #[test]
    fn any_instructions_end(cie in prop::collection::vec(any::<u8>(), 0..20), fde in prop::collection::vec(any::<u8>(), 0..60)) {
        let context = Fake::default();
        if let Ok(row) = Row::find(&factors(), &cie, &fde, Pc(0), Some(Pc(0x100))) {
            let unwind = Unwind::new(&context, &row);
            let _ = unwind.cfa();
            for register in 0..30 {
                let _ = unwind.register(DwarfReg(register));
                let _ = unwind.value(DwarfReg(register));
            }
        }
    }
}
