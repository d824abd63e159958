//! Vector arithmetic: the registers that it writes.
//!
//! The first operand is the destination; the tables have the exceptions. They cover all vector instructions of GFX9 to
//! GFX12, so the prefix `v_` is sufficient to know an instruction.

use super::DecodeError;
use super::effects::{Effects, Write};
use super::facts::Facts;
use super::registers::{RegisterFile, RegisterRange};
use super::text::Line;

const EXEC: Write = Write::whole(RegisterRange::new(RegisterFile::Exec, 0, 2));
const NOTHING: &[&str] = &["clrexcp", "nop", "pipeflush"];
/// Destinations whose register depends on an index.
const INDEXED: &[&str] = &["movreld", "movrelsd", "swaprel"];
/// Both operands are destinations, or the second one is a mask of carries.
const TWO_DESTINATIONS: &[&str] =
    &["swap_", "permlane16_swap", "permlane32_swap", "div_scale", "mad_u64_u32", "mad_i64_i32"];
/// Instructions that use the old value of the destination or keep a part of it.
#[rustfmt::skip]
const READING_DESTINATION: &[&str] = &[
    "cvt_pk_bf8", "cvt_pk_fp8", "cvt_sr_", "dot2acc", "dot2c", "dot4c", "dot8c", "fma_mixhi", "fma_mixlo",
    "fmac", "interp_p2", "mac", "mad_mixhi", "mad_mixlo", "permlane", "pk_fmac", "smfmac", "swmmac",
    "writelane", "cvt_scalef32",
];
/// Instructions that ignore EXEC.
const ALL_LANES: &[&str] = &["mfma", "smfmac", "swmmac", "wmma", "writelane"];

/// The effects of a vector instruction; the text may have two of them (VOPD).
pub(super) fn effects(text: &str, line: &Line<'_>, facts: &Facts) -> Result<Effects, DecodeError> {
    let writes = match text.split_once("::") {
        None => writes(line, facts)?,
        Some((first, second)) => {
            let half =
                |text| Line::parse(text).ok_or(DecodeError::Operands).and_then(|line| writes(&line, facts));
            [half(first)?, half(second)?].concat()
        }
    };
    Ok(Effects { writes, ..Effects::default() })
}

fn writes(line: &Line<'_>, facts: &Facts) -> Result<Vec<Write>, DecodeError> {
    let stem = line.mnemonic.strip_prefix("v_dual_").or_else(|| line.mnemonic.strip_prefix("v_"));
    let stem = stem.ok_or(DecodeError::Mnemonic)?;
    let begins = |names: &[&str]| names.iter().any(|name| stem.starts_with(name));
    if NOTHING.contains(&stem) {
        return Ok(Vec::new());
    }
    let is_exec_compare = stem.starts_with("cmpx_");
    if is_exec_compare && !facts.cmpx_has_destination {
        return Ok(vec![EXEC]);
    }
    if begins(INDEXED) {
        return Ok(vec![Write::part(RegisterRange::whole(RegisterFile::Vector))]);
    }
    let has_two = stem.contains("_co_") || begins(TWO_DESTINATIONS);
    let mut writes = Vec::new();
    for index in 0..if has_two { 2 } else { 1 } {
        let operand = line.operand(index).ok_or(DecodeError::Operands)?;
        if operand != "null" {
            let range = RegisterRange::parse(operand).ok_or(DecodeError::Operands)?;
            let keeps_old = range.file.is_vector() && (begins(READING_DESTINATION) || keeps_part(line));
            writes.push(Write {
                range,
                keeps_old,
                ignores_exec: !range.file.is_vector() || begins(ALL_LANES),
            });
        }
    }
    if is_exec_compare {
        writes.push(EXEC);
    }
    Ok(writes)
}

/// Whether a part of each lane's old value can remain: results of 16 bits, and lanes without a source.
fn keeps_part(line: &Line<'_>) -> bool {
    let result = line.mnemonic.split('_').find(|word| {
        let digits = word.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
        digits.len() < word.len() && !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    let is_half = matches!(result, Some("b16" | "f16" | "i16" | "u16" | "bf16" | "b8" | "fp8" | "bf8"));
    let is_packed = line.mnemonic.contains("_pk_");
    let is_shuffled = line.suffix.ends_with("dpp")
        && !(line.value("bound_ctrl").is_some()
            && line.value("row_mask") == Some("0xf")
            && line.value("bank_mask") == Some("0xf"));
    is_half && !is_packed || is_shuffled || line.value("dst_unused") == Some("UNUSED_PRESERVE")
}
