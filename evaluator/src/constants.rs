//! Operations of DWARF 5 and older GNU operations, by gimli's constants.

#![allow(non_upper_case_globals, reason = "patterns are DWARF's own names")]

use gimli::DwOp;
use gimli::constants::*;

/// Returns the name of an operation of DWARF 5, section 7.7.1, table 7.9.
pub(crate) fn standard_name(code: u8) -> Option<&'static str> {
    DwOp(code).static_string().filter(|_| code <= DW_OP_reinterpret.0)
}

/// Returns the name of a GNU operation with another number in DWARF 5, and the DWARF 5 operation.
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
