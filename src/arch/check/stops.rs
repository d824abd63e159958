//! Checks of stop reasons and their causes.

use std::collections::HashSet;

use super::Report;
use crate::arch::schema::File;

/// The stop reasons of AMD's library, in bit order. Dumps name them, so every target must define all.
const STOP_REASONS: [&str; 18] = [
    "breakpoint",
    "watchpoint",
    "single_step",
    "fp_input_denormal",
    "fp_divide_by_0",
    "fp_overflow",
    "fp_underflow",
    "fp_inexact",
    "fp_invalid_operation",
    "int_divide_by_0",
    "debug_trap",
    "assert_trap",
    "trap",
    "memory_violation",
    "address_error",
    "illegal_instruction",
    "ecc_error",
    "fatal_halt",
];

/// The last named signal number of gdb.
const LAST_SIGNAL: u8 = 151;

pub(super) fn all_stop_reasons_present(file: &File, report: &mut Report) {
    for name in STOP_REASONS {
        if !file.stop_reason.iter().any(|reason| reason.name == name) {
            report.add("[[stop_reason]]", "name", format!("{name} is missing"));
        }
    }
    for reason in file.stop_reason.iter().filter(|reason| reason.words.trim().is_empty()) {
        report.add(reason.block(), "words", "is empty");
    }
}

pub(super) fn signals_are_gdbs(file: &File, report: &mut Report) {
    for reason in &file.stop_reason {
        if !(1..=LAST_SIGNAL).contains(&reason.signal) {
            let what = format!("{} is not one of gdb's, 1 to {LAST_SIGNAL}", reason.signal);
            report.add(reason.block(), "signal", what);
        }
    }
}

pub(super) fn faults_name_known_bits_and_reasons(file: &File, report: &mut Report) {
    // In a wave size whose register lacks the bit the fault would be meaningless.
    let has = |name: &str, bit: u8| {
        let block = file.register.iter().find(|block| block.name.run.is_none() && block.name.stem == name);
        block.is_some_and(|block| {
            file.target
                .sizes()
                .all(|size| block.dwords(size).is_some_and(|dwords| u16::from(bit) < dwords * 32))
        })
    };
    for block in &file.faults {
        for bit in &block.bits {
            for bit in [Some(bit.bit), bit.unless].into_iter().flatten() {
                if !has(&block.register, bit) {
                    report.add(block.block(), "register", format!("{} has no bit {bit}", block.register));
                }
            }
            match (&block.enabled_by, bit.enable) {
                (None, None) => {}
                (Some(register), Some(enable)) if has(register, enable) => {}
                (Some(register), Some(enable)) => {
                    report.add(block.block(), "enabled_by", format!("{register} has no bit {enable}"));
                }
                (Some(_), None) => report.add(block.block(), "bits", "each needs its enable"),
                (None, Some(_)) => report.add(block.block(), "enabled_by", "is missing, there is an enable"),
            }
            if !file.stop_reason.iter().any(|reason| reason.name == bit.reason) {
                report.add(block.block(), "bits", format!("there is no stop reason {:?}", bit.reason));
            }
        }
    }
}

pub(super) fn trap_ids_are_unique(file: &File, report: &mut Report) {
    let mut seen = HashSet::new();
    for block in &file.trap_id {
        if !seen.insert(block.id) || block.id == Some(0) {
            report.add(block.block(), "id", "is taken, or is 0, which is no trap");
        }
        if !file.stop_reason.iter().any(|reason| reason.name == block.reason) {
            report.add(block.block(), "reason", format!("there is no stop reason {:?}", block.reason));
        }
    }
}
