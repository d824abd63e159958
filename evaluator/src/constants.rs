//! Operations of DWARF 5 and GNU's older ones, by gimli's constants.

#![allow(non_upper_case_globals, reason = "patterns are DWARF's own names")]

use gimli::DwOp;
use gimli::constants::*;

/// The name of an operation of DWARF 5, section 7.7.1, table 7.9.
pub(crate) fn standard_name(code: u8) -> Option<&'static str> {
    DwOp(code).static_string().filter(|_| code <= DW_OP_reinterpret.0)
}

/// An operation of GNU's that DWARF 5 took over under another number: its name, and the operation of DWARF 5.
pub(crate) fn gnu(code: u8) -> Option<(&'static str, DwOp)> {
    let same = match DwOp(code) {
        DW_OP_GNU_push_tls_address => DW_OP_form_tls_address,
        DW_OP_GNU_implicit_pointer => DW_OP_implicit_pointer,
        DW_OP_GNU_entry_value => DW_OP_entry_value,
        DW_OP_GNU_const_type => DW_OP_const_type,
        DW_OP_GNU_regval_type => DW_OP_regval_type,
        DW_OP_GNU_deref_type => DW_OP_deref_type,
        DW_OP_GNU_convert => DW_OP_convert,
        DW_OP_GNU_reinterpret => DW_OP_reinterpret,
        DW_OP_GNU_addr_index => DW_OP_addrx,
        DW_OP_GNU_const_index => DW_OP_constx,
        _ => return None,
    };
    Some((DwOp(code).static_string()?, same))
}
