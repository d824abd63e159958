//! Codes of the operations in each dialect.

use super::super::constants::{gnu, standard_name};
use super::super::decode::{amdgpu_usage_2020, direct, draft, user};
use super::super::operation::Dialect;

/// The code of an operation, without operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// The first byte.
    pub code: u8,
    /// The sub-operation of `DW_OP_LLVM_user`, a ULEB128 number.
    pub sub: Option<u8>,
}

const LLVM_USER: u8 = 0xe9;

/// Lists every operation of a dialect with DWARF's name, by code.
#[must_use]
pub fn codes(dialect: Dialect) -> Vec<(Code, &'static str)> {
    let one = |code: u8| {
        let extension = || match dialect {
            Dialect::LlvmUser => None,
            Dialect::LlvmDirect => direct(code).map(|(name, _)| name),
            Dialect::AmdgpuUsage2020 => amdgpu_usage_2020(code).map(|(name, _)| name),
            Dialect::Draft => draft(code).map(|(name, _)| name),
        };
        let has_gnu = matches!(dialect, Dialect::LlvmUser | Dialect::LlvmDirect);
        let of_gnu = || gnu(code).map(|(name, _)| name).filter(|_| has_gnu);
        let name = standard_name(code).or_else(extension).or_else(of_gnu)?;
        Some((Code { code, sub: None }, name))
    };
    let subs = (0..=u8::MAX).filter(|_| dialect == Dialect::LlvmUser).filter_map(|sub| {
        let (name, _) = user(sub)?;
        Some((Code { code: LLVM_USER, sub: Some(sub) }, name))
    });
    let mut codes: Vec<_> = (0..=u8::MAX).filter_map(one).chain(subs).collect();
    codes.sort_unstable();
    codes
}

/// Returns the code of an operation by its name.
pub(super) fn find(codes: &[(Code, &'static str)], name: &str) -> Option<(Code, &'static str)> {
    codes.iter().find(|(_, known)| *known == name).copied()
}
