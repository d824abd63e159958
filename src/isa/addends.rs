//! Registers that an instruction adds up, or copies, to a dword of its result: the way of a pointer into an address.

use super::registers::{RegisterFile, RegisterRange};
use super::text::Line;

/// A dword of a register: file and number.
type Dword = (RegisterFile, u16);

/// The registers of which a dword of the result is the sum or the copy, constants left out; of 64-bit operands the
/// dword of the same significance. Of a difference that from which is subtracted. Factors and shifted values are no
/// addends. `None`: the instruction computes something else.
#[must_use]
pub fn addends(text: &str, wanted: Dword) -> Option<Vec<Dword>> {
    // The text may have two instructions (VOPD).
    text.split("::").find_map(|half| of_line(&Line::parse(half)?, wanted))
}

fn of_line(line: &Line<'_>, (file, number): Dword) -> Option<Vec<Dword>> {
    let result = RegisterRange::parse(line.operand(0)?)?;
    let dword =
        number.checked_sub(result.first).filter(|dword| result.file == file && *dword < result.count)?;
    if matches!(line.suffix, "sdwa" | "dpp" | "e64_dpp") {
        return None;
    }
    let operands = line.operands();
    let last = operands.len().checked_sub(1)?;
    let stem = line.mnemonic.strip_prefix("v_dual_").unwrap_or(line.mnemonic);
    // The carry precedes the operands.
    let has_carry =
        |rest: &str| rest.contains("_co_") || rest.starts_with("addc_") || rest.starts_with("subb");
    let first = match stem.strip_prefix("v_") {
        Some(rest) if has_carry(rest) || rest == "add_u32" && operands.len() > 3 => 2,
        _ => 1,
    };
    let used: &[usize] = match stem {
        "s_mov_b32" | "s_mov_b64" | "v_mov_b32" | "mov_b32" | "v_mov_b64" => &[1],
        "s_add_u32" | "s_add_i32" | "s_addc_u32" | "s_add_co_u32" | "s_add_co_i32" | "s_add_co_ci_u32"
        | "s_add_u64" | "s_add_nc_u64" | "v_add_u32" | "v_add_nc_u32" | "add_nc_u32" | "v_add_nc_u64"
        | "v_add_co_u32" | "v_addc_co_u32" | "v_add_co_ci_u32" | "v_addc_u32" => &[first, first + 1],
        "s_sub_u32" | "s_subb_u32" | "s_sub_co_u32" | "s_sub_co_ci_u32" | "s_sub_u64" | "s_sub_nc_u64"
        | "v_sub_co_u32" | "v_subb_co_u32" | "v_sub_co_ci_u32" | "v_sub_nc_u64" => &[first],
        "v_subrev_co_u32" | "v_subbrev_co_u32" | "v_subrev_co_ci_u32" => &[first + 1],
        "v_lshl_add_u64" if line.operand(2) == Some("0") => &[1, 3],
        "v_lshl_add_u64" => &[3],
        "s_lshl1_add_u32" | "s_lshl2_add_u32" | "s_lshl3_add_u32" | "s_lshl4_add_u32" => &[2],
        "v_mad_u64_u32" | "v_mad_i64_i32" | "v_mad_co_u64_u32" | "v_mad_co_i64_i32" | "v_mad_nc_u64_u32"
        | "v_mad_nc_i64_i32" => &[last],
        _ => return None,
    };
    let ranges = used.iter().filter_map(|index| RegisterRange::parse(line.operand(*index)?));
    let same = ranges.filter(|range| dword < range.count);
    Some(same.filter_map(|range| Some((range.file, range.first.checked_add(dword)?))).collect())
}
