//! Names of dialects, and the dialect of a unit.

use super::operation::{Dialect, Encoding, Program};

/// The augmentation string of compilers of the 2020 proposal.
pub const AMD_AUGMENTATION: &str = "[amd:v0.0]";
/// The augmentation string of later compilers, for both encodings of the operations.
const LLVM_AUGMENTATION: &str = "[llvm:v0.0]";
/// The augmentation string of units in the draft dialect. No text defines one: like the numbers it is this project's.
const DRAFT_AUGMENTATION: &str = "[draft:v0.0]";

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 4] = [Self::LlvmUser, Self::LlvmDirect, Self::AmdgpuUsage2020, Self::Draft];

    /// Returns its name in text and files: `llvm-user`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LlvmUser => "llvm-user",
            Self::LlvmDirect => "llvm-direct",
            Self::AmdgpuUsage2020 => "amdgpu-usage-2020",
            Self::Draft => "draft",
        }
    }

    /// Returns the dialect of that [name](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Returns the dialect of an augmentation string; `None` if it is unknown, or if it has two encodings.
    #[must_use]
    pub fn of_augmentation(augmentation: &str) -> Option<Self> {
        let named = [(DRAFT_AUGMENTATION, Self::Draft), (AMD_AUGMENTATION, Self::AmdgpuUsage2020)];
        named.into_iter().find(|(name, _)| augmentation.contains(name)).map(|(_, dialect)| dialect)
    }

    /// Whether an augmentation allows two dialects, so that [`Self::of_unit`] checks expressions.
    #[must_use]
    pub fn needs_expressions(augmentation: &str) -> bool {
        Self::of_augmentation(augmentation).is_none() && augmentation.contains(LLVM_AUGMENTATION)
    }

    /// Returns the dialect of a unit (or of a CIE) by its augmentation string. If that allows two, the result is the
    /// one that decodes all expressions. Without an augmentation, as in units of all current producers, it is
    /// `llvm-user`. The draft dialect is never tried: with provisional numbers successful decoding proves nothing.
    pub fn of_unit<'b>(
        augmentation: Option<&str>,
        expressions: impl Iterator<Item = &'b [u8]> + Clone,
    ) -> Self {
        let augmentation = augmentation.unwrap_or_default();
        if let Some(dialect) = Self::of_augmentation(augmentation) {
            return dialect;
        }
        let decodes = |dialect: Self| {
            let encoding = Encoding::new(dialect);
            expressions.clone().all(|bytes| Program::decode(bytes, encoding).is_ok())
        };
        let is_direct =
            Self::needs_expressions(augmentation) && !decodes(Self::LlvmUser) && decodes(Self::LlvmDirect);
        if is_direct { Self::LlvmDirect } else { Self::LlvmUser }
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn augmentation_first_then_what_decodes() {
        // push_lane, then offset_uconst 4: in the user encoding and in the direct one.
        let user: [&[u8]; 1] = [&[0xe9, 3, 0xe9, 5, 4]];
        let direct: [&[u8]; 2] = [&[0xe2, 0xe4, 4], &[0xe7]];
        let of = |augmentation, expressions: &[&'static [u8]]| {
            Dialect::of_unit(augmentation, expressions.iter().copied())
        };
        assert_eq!(of(Some("[amd:v0.0]"), &direct), Dialect::AmdgpuUsage2020);
        assert_eq!(of(Some("[abc:v1.0][llvm:v0.0]"), &direct), Dialect::LlvmDirect);
        assert_eq!(of(Some("[llvm:v0.0]"), &user), Dialect::LlvmUser);
        assert_eq!(of(None, &direct), Dialect::LlvmUser);
        assert_eq!(of(Some("[draft:v0.0]"), &direct), Dialect::Draft);
        // DW_OP_object_map by the built-in numbers: only the augmentation selects it.
        assert_eq!(of(None, &[&[0x30, 0xed, 0x2a]]), Dialect::LlvmUser);
        assert_eq!(of(Some("[llvm:v0.0]"), &[&[0x30, 0xf1, 0x2a]]), Dialect::LlvmUser);
    }
}
