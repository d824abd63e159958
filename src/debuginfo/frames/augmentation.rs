//! Augmentation strings and the fields that they announce.

use std::fmt;
use std::sync::Arc;

/// Vendors whose augmentations add no field.
const VENDORS: [&str; 3] = ["llvm", "amd", "draft"];

/// An augmentation string and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Augmentation {
    /// The string.
    pub text: Arc<str>,
    /// Its effect on the fields.
    pub kind: AugmentationKind,
}

/// The effect of an augmentation on the fields after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AugmentationKind {
    /// No effect: the string is empty, or `[llvm:vX.Y]`, `[amd:vX.Y]` or `[draft:vX.Y]`, which concern instructions and
    /// operations.
    Plain,
    /// A string with initial `z`: the length of augmentation data follows, and each letter has its part of the data.
    Sized,
    /// Unknown: a CIE has only length, id, version and augmentation, an FDE only its code.
    Unknown,
}

impl Augmentation {
    /// Classifies an augmentation string.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let kind = match text {
            "" => AugmentationKind::Plain,
            text if all_known(text) => AugmentationKind::Plain,
            text if text.starts_with('z') && text.chars().all(|letter| "zRPLSBG".contains(letter)) => {
                AugmentationKind::Sized
            }
            _ => AugmentationKind::Unknown,
        };
        Self { text: Arc::from(text), kind }
    }

    /// Whether most fields of its entries are unreadable.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.kind == AugmentationKind::Unknown
    }
}

impl fmt::Display for Augmentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a string consists of one or more `[vendor:vX.Y]` with known vendors.
fn all_known(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else { return false };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    inner.split("][").all(|one| {
        let Some((vendor, version)) = one.split_once(":v") else { return false };
        let numbers = version.split_once('.');
        VENDORS.contains(&vendor)
            && numbers.is_some_and(|(major, minor)| is_number(major) && is_number(minor))
    })
}
