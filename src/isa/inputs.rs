//! The sources of an instruction with their modifiers, in the order of its text.

use amdgpu_isa::{File, Role};

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
/// Roles of sources with those of their modifiers: of an instruction, and of the halves of a pair (VOPD).
const SOURCES: [[&[(&str, &str)]; 2]; 2] = [
    [
        &[("src0", "src0_modifiers"), ("src1", "src1_modifiers"), ("src2", "src2_modifiers")],
        &[
            ("src0X", "src0X_modifiers"),
            ("vsrc1X", "vsrc1X_modifiers"),
            ("src2X", ""),
            ("vsrc2X", "vsrc2X_modifiers"),
        ],
    ],
    [
        &[],
        &[
            ("src0Y", "src0Y_modifiers"),
            ("vsrc1Y", "vsrc1Y_modifiers"),
            ("src2Y", ""),
            ("vsrc2Y", "vsrc2Y_modifiers"),
        ],
    ],
];

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
        let is_pair = code.second_op().is_some();
        let roles = SOURCES
            .get(half)
            .and_then(|sources| sources.get(usize::from(is_pair)))
            .copied()
            .unwrap_or_default();
        let number =
            |name: &str| code.operands().find(|of| of.role.name() == name).and_then(|of| of.number());
        let effects = code.effects();
        let is_shuffled = effects.is_some_and(|effects| effects.is_dpp() || effects.is_sdwa())
            || self.mnemonic().starts_with("v_pk_")
            || roles.iter().any(|(_, of)| number(of).is_some_and(|bits| bits & SELECTIONS != 0));
        let input = |role: &str, modifiers: &str| {
            let operand = code.operands().find(|of| of.role.name() == role && !of.is_written)?;
            let is_half =
                operand.register().is_some_and(|of| matches!(of.file, File::VgprLow | File::VgprHigh));
            let bits = number(modifiers).unwrap_or(0);
            Some(Input {
                source: source(Some(operand)),
                is_absolute: bits & ABS != 0,
                is_negated: bits & NEG != 0,
                is_selected: is_shuffled || is_half,
            })
        };
        let mut found: Vec<Input> =
            roles.iter().filter_map(|(role, modifiers)| input(role, modifiers)).collect();
        const FACTOR: [[Role; 2]; 2] = [[Role::named("immX"), Role::named("imm")], [Role::named("imm"); 2]];
        let factors = FACTOR.get(half).into_iter().flatten();
        if let Some(literal) = factors.filter_map(|role| input(role.name(), "")).next() {
            let name = self.mnemonics().nth(half).unwrap_or_default();
            let at = if name.contains("amk") { 1 } else { found.len() };
            let has_literal = ["amk", "madmk", "aak", "madak"].iter().any(|part| name.contains(part));
            if has_literal {
                found.insert(at.min(found.len()), literal);
            }
        }
        found
    }
}
