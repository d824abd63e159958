//! Dialects by name, and which one a unit is written in.

use super::operation::{Dialect, Encoding, Program};

/// What a unit of the 2020 proposal's compilers says of itself.
const AMD_AUGMENTATION: &str = "[amd:v0.0]";
/// What a unit of the later compilers says, in either encoding of the operations.
const LLVM_AUGMENTATION: &str = "[llvm:v0.0]";

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 4] = [Self::LlvmUser, Self::LlvmDirect, Self::Seed2020, Self::Draft];

    /// Its name for people and files: `llvm-user`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LlvmUser => "llvm-user",
            Self::LlvmDirect => "llvm-direct",
            Self::Seed2020 => "seed-2020",
            Self::Draft => "draft",
        }
    }

    /// The dialect of that [name](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// The dialect of a unit (or of a CIE) by its augmentation string, and where that leaves two, by which one decodes
    /// all of its expressions. No producer of today writes an augmentation; what they write is `llvm-user`.
    pub fn of_unit<'b>(
        augmentation: Option<&str>,
        expressions: impl Iterator<Item = &'b [u8]> + Clone,
    ) -> Self {
        let augmentation = augmentation.unwrap_or_default();
        if augmentation.contains(AMD_AUGMENTATION) {
            return Self::Seed2020;
        }
        let decodes = |dialect: Self| {
            let encoding = Encoding::new(dialect);
            expressions.clone().all(|bytes| Program::decode(bytes, encoding).is_ok())
        };
        let is_direct =
            augmentation.contains(LLVM_AUGMENTATION) && !decodes(Self::LlvmUser) && decodes(Self::LlvmDirect);
        if is_direct { Self::LlvmDirect } else { Self::LlvmUser }
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn augmentation_first_then_what_decodes() {
        // push_lane, then offset_uconst 4: of the user encoding and of the direct one.
        let user: [&[u8]; 1] = [&[0xe9, 3, 0xe9, 5, 4]];
        let direct: [&[u8]; 2] = [&[0xe2, 0xe4, 4], &[0xe7]];
        let of = |augmentation, expressions: &[&'static [u8]]| {
            Dialect::of_unit(augmentation, expressions.iter().copied())
        };
        assert_eq!(of(Some("[amd:v0.0]"), &direct), Dialect::Seed2020);
        assert_eq!(of(Some("[abc:v1.0][llvm:v0.0]"), &direct), Dialect::LlvmDirect);
        assert_eq!(of(Some("[llvm:v0.0]"), &user), Dialect::LlvmUser);
        assert_eq!(of(None, &direct), Dialect::LlvmUser);
    }
}
