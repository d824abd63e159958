//! EXEC before an instruction, in terms of its value after the instruction.

use super::Instruction;
use super::computation::{Computation, Operation, Source};
use super::registers::{RegisterFile, RegisterRange};

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

impl Instruction {
    /// The lanes of EXEC before it, if it writes EXEC.
    ///
    /// AMD's ISA documents, scalar instructions: `s_and_saveexec` copies EXEC to its destination before it changes EXEC.
    /// The logical instructions with EXEC as destination and source have the inverses that [`ExecBefore`] lists.
    #[must_use]
    pub fn exec_before(&self) -> ExecBefore {
        self.computations().find_map(before).unwrap_or(ExecBefore::Unknown)
    }

    /// The change of EXEC by it, if it writes EXEC. `v_cmpx` gives 0 in inactive lanes.
    #[must_use]
    pub fn exec_change(&self) -> ExecChange {
        if self.mnemonic().starts_with("v_cmpx_") {
            return ExecChange::Narrows;
        }
        self.computations().find_map(change).unwrap_or(ExecChange::Other)
    }
}

fn is_exec(range: RegisterRange) -> bool {
    range.file == RegisterFile::Exec
}

fn before(one: Computation) -> Option<ExecBefore> {
    let exec = one.to.filter(|to| is_exec(*to) && to.first == 0)?;
    let is_sized = |range: &RegisterRange| range.count == exec.count && !is_exec(*range);
    if let Some(saved) = one.saved {
        return is_sized(&saved).then_some(ExecBefore::Saved(saved));
    }
    let [first, second, _] = one.sources.map(Source::register);
    let other = if first == Some(exec) { second } else { first.filter(|_| second == Some(exec)) };
    let other = other.filter(is_sized);
    match one.operation {
        Operation::Or => Some(ExecBefore::Within).filter(|_| [first, second].contains(&Some(exec))),
        Operation::AndNot if first == Some(exec) => other.map(ExecBefore::WithinOr),
        Operation::Xor => other.map(ExecBefore::Xor),
        _ => None,
    }
}

fn change(one: Computation) -> Option<ExecChange> {
    let exec = one.to.filter(|to| is_exec(*to))?;
    let is_it = |source: &Source| source.register() == Some(exec);
    let [first, second, _] = one.sources;
    Some(match one.operation {
        Operation::And if is_it(&first) || is_it(&second) => ExecChange::Narrows,
        Operation::AndNot if is_it(&first) => ExecChange::Narrows,
        Operation::Or if is_it(&first) || is_it(&second) => ExecChange::Widens,
        Operation::OrNot if is_it(&first) => ExecChange::Widens,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::tests::first;

    fn found(text: &str) -> Instruction {
        first(&["gfx900", "gfx1030", "gfx1100"], text)
    }

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
            assert_eq!(found(text).exec_change(), expected, "{text}");
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
            assert_eq!(found(text).exec_before(), expected, "{text}");
        }
    }
}
