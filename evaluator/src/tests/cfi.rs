//! Rows by PC, and truncated or random instructions.

use proptest::prelude::*;

use super::super::cfi::{Answers, CfaRule, Factors, RegisterRule, Row, Unwind};
use super::super::*;
use super::bytes;
use super::fake::Fake;
use crate::units::{AddressSpace, DwarfReg, LaneId, Pc};

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
    // The operand of set_loc is the place itself.
    let fde = "30 03 00 06 01 00 20 00 00 00 00 00 00 0d 04";
    assert!(matches!(row(fde, 0x1fff).cfa.rule, CfaRule::Register { register: DwarfReg(3), .. }));
    assert!(matches!(row(fde, 0x2000).cfa.rule, CfaRule::Register { register: DwarfReg(4), .. }));
}

#[test]
fn rules_name_the_instruction_that_set_them() {
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
    let answers = Answers::default();
    let unwind = Unwind::new(&context, &row, &answers);
    let error = unwind.value(DwarfReg(29)).unwrap_err();
    assert_eq!(error.class(), Class::Unavailable);
    assert_eq!(unwind.value(DwarfReg(10)).unwrap().size().0, 64);
}

/// `DW_CFA_val_expression` of a register: the sum of four reads of the caller's next register.
fn four_of(register: u8, next: u8) -> String {
    format!("16 {register:02x} 17{} 22 22 22 ", format!(" e9 07 {next:02x} 94 08").repeat(4))
}

#[test]
fn rules_that_ask_for_one_another_are_evaluated_once_each() {
    // Registers 10 to 17 each read the next four times: 4 to the 8th evaluations without a cache.
    let chain: String = (10..18).map(|register| four_of(register, register + 1)).collect();
    let row = row(&format!("30 03 00 06 {chain}"), 0x1000);
    let (context, answers) = (Fake::default(), Answers::default());
    let unwind = Unwind::new(&context, &row, &answers);
    let value = |register| unwind.value(DwarfReg(register)).unwrap().low().get(LaneId(0));
    assert_eq!(value(10), value(18).wrapping_mul(1 << 16));
    // Each of 8 rules has 11 operations, of which 8 read words.
    let spent = answers.spent();
    assert!((8 * 11..8 * 11 * 4).contains(&spent), "{spent} units of work");
    assert_eq!((value(10), answers.spent()), (value(10), spent));
}

#[test]
fn the_work_of_all_rules_of_a_stack_is_bounded() {
    // A rule without an end is evaluated repeatedly, in one frame and in another of the same stack.
    let row = row("30 03 00 06 16 0a 03 2f fd ff", 0x1000);
    let (context, answers) = (Fake::default(), Answers::default());
    let other = answers.of_same_stack();
    let fails = |answers: &Answers| {
        let mut error = Unwind::new(&context, &row, answers).register(DwarfReg(10)).unwrap_err();
        while let Cause::Inside { error: inner, .. } = error.cause {
            error = *inner;
        }
        match error.cause {
            Cause::Limit { what, limit } => (what, limit),
            cause => panic!("{cause:?}"),
        }
    };
    let times = limits::MAX_RULE_WORK / limits::MAX_STEPS;
    for time in 0..times {
        assert_eq!(fails(&answers).0, "steps", "{time}");
    }
    let limit = ("units of work of call frame information", u64::from(limits::MAX_RULE_WORK));
    assert_eq!((fails(&answers), fails(&other)), (limit, limit));
    assert_eq!(fails(&Answers::default()).0, "steps");
}

proptest! {
    #[test]
    fn any_instructions_end(cie in prop::collection::vec(any::<u8>(), 0..20), fde in prop::collection::vec(any::<u8>(), 0..60)) {
        let context = Fake::default();
        if let Ok(row) = Row::find(&factors(), &cie, &fde, Pc(0), Some(Pc(0x100))) {
            let answers = Answers::default();
            let unwind = Unwind::new(&context, &row, &answers);
            let _ = unwind.cfa();
            for register in 0..30 {
                let _ = unwind.register(DwarfReg(register));
                let _ = unwind.value(DwarfReg(register));
            }
        }
    }
}
