//! The sources of an instruction with their modifiers, in the order of its text.

use amdgpu_isa::{Operand, Role};

use super::Instruction;
use super::computation::{Source, source};

/// A source with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The source. A constant has the bits that the operation reads.
    pub source: Source,
    /// The sign is dropped.
    pub is_absolute: bool,
    /// The sign is inverted, after that.
    pub is_negated: bool,
    /// The instruction selects other lanes or parts of registers.
    pub is_selected: bool,
}

const NEG: i64 = 1;
const ABS: i64 = 2;
const SELECTIONS: i64 = 12;
/// The roles of a source, one of which an instruction has, each with the role of its modifiers.
type SourceRoles = &'static [(Role, Option<Role>)];
const fn with(role: &str, modifiers: &str) -> (Role, Option<Role>) {
    (Role::named(role), Some(Role::named(modifiers)))
}
const SINGLE: [SourceRoles; 3] =
    [&[with("src0", "src0_modifiers")], &[with("src1", "src1_modifiers")], &[with("src2", "src2_modifiers")]];
/// Of the halves of a pair (VOPD).
const PAIRED: [[SourceRoles; 3]; 2] = [
    [
        &[with("src0X", "src0X_modifiers")],
        &[with("vsrc1X", "vsrc1X_modifiers")],
        &[(Role::named("src2X"), None), with("vsrc2X", "vsrc2X_modifiers")],
    ],
    [
        &[with("src0Y", "src0Y_modifiers")],
        &[with("vsrc1Y", "vsrc1Y_modifiers")],
        &[(Role::named("src2Y"), None), with("vsrc2Y", "vsrc2Y_modifiers")],
    ],
];

fn places(code: &amdgpu_isa::Instruction, half: usize) -> [SourceRoles; 3] {
    match code.second_op() {
        None if half == 0 => SINGLE,
        None => [&[]; 3],
        Some(_) => PAIRED.get(half).copied().unwrap_or([&[]; 3]),
    }
}

/// The sources of an instruction, or of a half of a pair.
pub(super) fn operands(code: &amdgpu_isa::Instruction, half: usize) -> [Option<Operand>; 3] {
    places(code, half).map(|place| place.iter().find_map(|(role, _)| code.operand_of(*role)))
}

impl Instruction {
    /// The mnemonics: one, or those of the halves of a pair (VOPD).
    pub fn mnemonics(&self) -> impl Iterator<Item = &'static str> + '_ {
        let code = self.code().map(|(code, _)| code);
        let both = code.map(|code| [code.op(), code.second_op()]);
        both.into_iter().flatten().flatten().map(amdgpu_isa::Op::mnemonic)
    }

    /// The sources of an instruction, or of the first (0) or second (1) half of a pair. The addend of an instruction that
    /// adds to its destination is the last one.
    #[must_use]
    pub fn inputs(&self, half: usize) -> Vec<Input> {
        let Some((code, _)) = self.code() else { return Vec::new() };
        let number = |role: Role| code.operand_of(role).and_then(|of| of.number());
        let roles = places(code, half).concat();
        let modifiers = |of: Option<Role>| of.and_then(number).unwrap_or(0);
        let is_shuffled = code.effects().is_some_and(|effects| effects.is_dpp() || effects.is_sdwa())
            || self.mnemonic().starts_with("v_pk_")
            || roles.iter().any(|(_, of)| modifiers(*of) & SELECTIONS != 0);
        let input = |(role, of): (Role, Option<Role>)| {
            let operand = code.operand_of(role).filter(|operand| !operand.is_written)?;
            let source = source(Some(operand));
            let is_selected = is_shuffled || matches!(source, Source::Half(..));
            let bits = modifiers(of);
            Some(Input { source, is_absolute: bits & ABS != 0, is_negated: bits & NEG != 0, is_selected })
        };
        let mut found: Vec<Input> = roles.into_iter().filter_map(input).collect();
        // The literal is a factor or the addend.
        let name = self.mnemonics().nth(half).unwrap_or_default();
        let at = match name {
            _ if ["fmamk", "madmk"].iter().any(|of| name.contains(of)) => 1,
            _ if ["fmaak", "madak"].iter().any(|of| name.contains(of)) => found.len(),
            _ => return found,
        };
        const LITERAL: [Role; 2] = [Role::named("immX"), Role::named("imm")];
        let roles = LITERAL.get(half..).unwrap_or_default();
        if let Some(literal) = roles.iter().find_map(|role| input((*role, None))) {
            found.insert(at.min(found.len()), literal);
        }
        found
    }
}
