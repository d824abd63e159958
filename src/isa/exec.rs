//! EXEC before an instruction, in terms of its value after the instruction.

use super::registers::{RegisterFile, RegisterRange};
use super::text::Line;

/// The lanes of EXEC before an instruction that writes EXEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecBefore {
    /// The value that the instruction saved in these registers.
    Saved(RegisterRange),
    /// Some of the lanes after it.
    Within,
    /// Some of the lanes after it and of those in these registers.
    WithinOr(RegisterRange),
    /// The lanes after it, exclusive or those in these registers.
    Xor(RegisterRange),
    /// Any lanes.
    Unknown,
}

/// The lanes of EXEC before an instruction that writes it, by the instruction's text.
///
/// AMD's ISA documents, scalar instructions: `s_and_saveexec` copies EXEC to its destination before it changes EXEC. The
/// logical instructions with EXEC as destination and source have the inverses that [`ExecBefore`] lists.
#[must_use]
pub fn exec_before(text: &str) -> ExecBefore {
    let Some(line) = Line::parse(text) else { return ExecBefore::Unknown };
    let Some((operation, size)) = line.mnemonic.strip_prefix("s_").and_then(|rest| rest.rsplit_once('_'))
    else {
        return ExecBefore::Unknown;
    };
    let dwords = match size {
        "b32" => 1,
        "b64" => 2,
        _ => return ExecBefore::Unknown,
    };
    let operand = |index| line.operand(index).and_then(RegisterRange::parse);
    let is_sized = |range: &RegisterRange| range.count == dwords;
    if operation.ends_with("_saveexec") {
        let saved = operand(0).filter(is_sized).filter(|range| range.file != RegisterFile::Exec);
        return saved.map_or(ExecBefore::Unknown, ExecBefore::Saved);
    }
    let exec = RegisterRange::new(RegisterFile::Exec, 0, dwords);
    let (first, second) = (operand(1), operand(2));
    if operand(0) != Some(exec) {
        return ExecBefore::Unknown;
    }
    let other = match (first, second) {
        (Some(one), other) if one == exec => other,
        (other, Some(one)) if one == exec => other,
        _ => return ExecBefore::Unknown,
    };
    let other = other.filter(is_sized).filter(|range| range.file != RegisterFile::Exec);
    match operation {
        "or" => ExecBefore::Within,
        "andn2" | "and_not1" if first == Some(exec) => {
            other.map_or(ExecBefore::Unknown, ExecBefore::WithinOr)
        }
        "xor" => other.map_or(ExecBefore::Unknown, ExecBefore::Xor),
        _ => ExecBefore::Unknown,
    }
}

/// The lanes of EXEC after an instruction that writes it, compared with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecChange {
    /// Only lanes that were active before.
    Narrows,
    /// All lanes that were active before, and perhaps others.
    Widens,
    /// Any lanes.
    Other,
}

/// The change of EXEC by an instruction that writes it, by the instruction's text.
///
/// AMD's ISA documents: `s_and_saveexec` and `s_andn1_saveexec` take lanes of EXEC alone, `s_or_saveexec` and
/// `s_orn1_saveexec` keep all of them; `v_cmpx` gives 0 in inactive lanes.
#[must_use]
pub fn exec_change(text: &str) -> ExecChange {
    let Some(line) = Line::parse(text) else { return ExecChange::Other };
    if line.mnemonic.starts_with("v_cmpx_") {
        return ExecChange::Narrows;
    }
    let Some((operation, _)) = line.mnemonic.strip_prefix("s_").and_then(|rest| rest.rsplit_once('_')) else {
        return ExecChange::Other;
    };
    let operand = |index| line.operand(index).and_then(RegisterRange::parse);
    let is_exec = |index| {
        operand(index).is_some_and(|range| range.file == RegisterFile::Exec) && operand(index) == operand(0)
    };
    match operation {
        "and_saveexec" | "andn1_saveexec" | "and_not0_saveexec" | "andn1_wrexec" | "and_not0_wrexec" => {
            ExecChange::Narrows
        }
        "or_saveexec" | "orn1_saveexec" | "or_not0_saveexec" => ExecChange::Widens,
        "and" if is_exec(1) || is_exec(2) => ExecChange::Narrows,
        "andn2" | "and_not1" if is_exec(1) => ExecChange::Narrows,
        "or" if is_exec(1) || is_exec(2) => ExecChange::Widens,
        "orn2" | "or_not1" if is_exec(1) => ExecChange::Widens,
        _ => ExecChange::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AMD's ISA documents have the operations: for each bit EXEC before and after.
    #[test]
    fn changes_of_exec() {
        use ExecChange::{Narrows, Other, Widens};
        for (text, expected) in [
            ("s_and_saveexec_b64 s[2:3], vcc", Narrows),
            ("s_andn1_saveexec_b64 s[2:3], vcc", Narrows),
            ("s_andn2_saveexec_b64 s[2:3], vcc", Other),
            ("s_and_not0_saveexec_b32 s2, vcc_lo", Narrows),
            ("s_and_not1_saveexec_b32 s2, vcc_lo", Other),
            ("s_or_saveexec_b64 s[2:3], s[4:5]", Widens),
            ("s_orn2_saveexec_b64 s[2:3], s[4:5]", Other),
            ("s_xor_saveexec_b64 s[2:3], -1", Other),
            ("s_andn1_wrexec_b64 s[2:3], s[4:5]", Narrows),
            ("s_andn2_wrexec_b64 s[2:3], s[4:5]", Other),
            ("s_and_b64 exec, exec, vcc", Narrows),
            ("s_and_b64 exec, vcc, exec", Narrows),
            ("s_and_b32 exec_hi, exec_lo, s1", Other),
            ("s_andn2_b64 exec, exec, s[4:5]", Narrows),
            ("s_andn2_b64 exec, s[4:5], exec", Other),
            ("s_or_b64 exec, exec, s[4:5]", Widens),
            ("s_orn2_b64 exec, exec, s[4:5]", Widens),
            ("s_xor_b64 exec, exec, s[4:5]", Other),
            ("s_mov_b64 exec, -1", Other),
            ("v_cmpx_gt_i32_e32 v0, v1", Narrows),
            ("", Other),
        ] {
            assert_eq!(exec_change(text), expected, "{text}");
        }
    }

    #[test]
    fn inverses_of_writes_to_exec() {
        let pair = |first| RegisterRange::new(RegisterFile::Scalar, first, 2);
        let vcc = RegisterRange::new(RegisterFile::Vcc, 0, 2);
        let one = |first| RegisterRange::new(RegisterFile::Scalar, first, 1);
        for (text, expected) in [
            ("s_and_saveexec_b64 s[2:3], vcc", ExecBefore::Saved(pair(2))),
            ("s_and_saveexec_b32 s2, vcc_lo", ExecBefore::Saved(one(2))),
            ("s_or_saveexec_b64 s[16:17], -1", ExecBefore::Saved(pair(16))),
            ("s_andn2_saveexec_b64 vcc, s[4:5]", ExecBefore::Saved(vcc)),
            ("s_or_b64 exec, exec, s[2:3]", ExecBefore::Within),
            ("s_or_b32 exec_lo, s2, exec_lo", ExecBefore::Within),
            ("s_andn2_b64 exec, exec, s[4:5]", ExecBefore::WithinOr(pair(4))),
            ("s_and_not1_b32 exec_lo, exec_lo, s4", ExecBefore::WithinOr(one(4))),
            ("s_xor_b64 exec, exec, s[6:7]", ExecBefore::Xor(pair(6))),
            ("s_andn2_b64 exec, s[4:5], exec", ExecBefore::Unknown),
            ("s_and_b64 exec, exec, vcc", ExecBefore::Unknown),
            ("s_mov_b64 exec, s[2:3]", ExecBefore::Unknown),
            ("s_or_b64 exec, s[0:1], s[2:3]", ExecBefore::Unknown),
            ("s_xor_b64 exec, exec, exec", ExecBefore::Unknown),
            ("v_cmpx_gt_i32_e32 v0, v1", ExecBefore::Unknown),
            ("s_and_saveexec_b64 exec, vcc", ExecBefore::Unknown),
            ("", ExecBefore::Unknown),
        ] {
            assert_eq!(exec_before(text), expected, "{text}");
        }
    }
}
