//! Classes of known differences: `targets/isa/README.md` explains each.

use amdgpu_isa::{Instruction, Value};

/// A text with `#` in place of its numbers and of what marks them as literals.
fn without_numbers(text: &str) -> String {
    let is_separator = |character: char| " ,|()[]:".contains(character);
    let is_number = |word: &str| {
        let digits = word.trim_start_matches('-').trim_start_matches("0x");
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'.')
    };
    let parts = text.split_inclusive(is_separator).map(|part| {
        let word = part.trim_end_matches(is_separator);
        if is_number(word) { part.replacen(word, "#", 1) } else { part.to_owned() }
    });
    let mut text = parts.collect::<String>();
    for mark in ["lit64(#)", "lit(#)", "neg(#)", "-#"] {
        text = text.replace(mark, "#");
    }
    text
}

/// A text without the lanes that DPP selects.
fn without_control(text: &str) -> String {
    const CONTROLS: [&str; 5] = [" quad_perm:", " row_", " wave_", " dpp8:", " /* "];
    let start = CONTROLS.iter().filter_map(|control| text.find(control)).min().unwrap_or(text.len());
    let (before, control) = text.split_at(start);
    let rest = control.find(" row_mask:").or_else(|| control.find(" fi:")).map_or("", |end| &control[end..]);
    format!("{before}{rest}")
}

/// Whether an instruction has a literal in its word.
fn has_k(text: &str) -> bool {
    ["fmaak", "fmamk", "madak", "madmk"].iter().any(|part| text.contains(part))
}

fn literals(instruction: &Instruction) -> Vec<i64> {
    let values = instruction.operands().map(|operand| operand.value);
    values.filter_map(|value| if let Value::Literal(number) = value { Some(number) } else { None }).collect()
}

/// The class of a word that both decode, with other texts.
pub(crate) fn known(
    processor: &str,
    instruction: &Instruction,
    ours: &str,
    theirs: &str,
) -> Option<&'static str> {
    let name = ours.split(' ').next()?;
    let is_dpp = name.ends_with("_dpp");
    let plain = |text: &str| without_numbers(&if is_dpp { without_control(text) } else { text.to_owned() });
    let is_same = plain(ours) == plain(theirs);
    if is_dpp && theirs.replace(", vcc_lo|", "|, vcc_lo").replace(", vcc|", "|, vcc") == ours {
        return Some("vcc within the bars of a source");
    }
    if is_dpp && without_control(theirs) == without_control(ours) {
        return Some("DPP control read as an inline constant");
    }
    match () {
        () if !is_same => None,
        () if name.starts_with("v_fmac_") && name.ends_with("_e64_dpp") => {
            Some("DPP source read without inline constants")
        }
        () if has_k(ours) => Some("literal read as an inline constant"),
        () => two_literals(processor, instruction, theirs).or_else(|| accepted(processor, instruction, ours)),
    }
}

/// The class of a word with other numbers, or with equal texts and other operands.
pub(crate) fn two_literals(processor: &str, instruction: &Instruction, theirs: &str) -> Option<&'static str> {
    let literals = literals(instruction);
    let has_both =
        literals.windows(2).any(|two| two[0] != two[1]) || theirs.contains("lit64(") && literals.len() > 1;
    (has_both && processor.starts_with("gfx125")).then_some("two literals")
}

/// The class of a word that LLVM decodes and we reject.
pub(crate) fn rejected(processor: &str, theirs: &str) -> Option<&'static str> {
    let is_gfx125 = processor.starts_with("gfx125");
    let is_reader = theirs.starts_with("v_dual_") || has_k(theirs);
    if is_gfx125 && is_reader && theirs.contains("0x") {
        return Some("literal read from the word");
    }
    theirs.contains("_f8f6f4 ").then_some("literal in place of a matrix")
}

/// The class of a word that we decode and LLVM rejects.
pub(crate) fn accepted(processor: &str, instruction: &Instruction, ours: &str) -> Option<&'static str> {
    let name = ours.split(' ').next()?;
    let has_literal = processor.starts_with("gfx125") && !literals(instruction).is_empty();
    let is_reader = name.starts_with("v_dual_") || name.starts_with("tensor_") || name.ends_with("_dpp");
    (has_literal && is_reader).then_some("literal read from the word")
}
