//! Marks of answers that neither the capture nor the compiler states.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dwarf::clang_xderef::Idiom;

/// A source of inferences. docs/dwarf-semantics.md, "Inferred answers", has their rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InferredBy {
    /// The variable is narrower than its vector register, so it is the lane's dword.
    LaneDword,
    /// The frame register has 32 bits, so it leads to private memory.
    PrivateFrame,
    /// The register or slot is narrower than the object, so it holds the object's address in private memory.
    PrivateAddress,
    /// The function is a kernel without `DW_AT_frame_base`, so its objects begin at 0 of private memory.
    KernelFrame,
    /// The function's code shows the start of its frame where the frame register does not hold it.
    FrameCode,
    /// The code of an inner function shows the caller's PC and registers: call frame information does not.
    CallerCode,
    /// One set of variables has the size of the kernel's LDS, and the compiler's layout puts this one at its address.
    LdsSize,
    /// The kernel's code uses the register as an address of LDS, so it holds the object's address there.
    LocalAddress,
}

impl InferredBy {
    /// All sources, in the order of their marks.
    pub const ALL: [Self; 8] = [
        Self::LaneDword,
        Self::PrivateFrame,
        Self::PrivateAddress,
        Self::KernelFrame,
        Self::FrameCode,
        Self::CallerCode,
        Self::LdsSize,
        Self::LocalAddress,
    ];

    /// Its machine-readable name: `kernel_frame`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LaneDword => "lane_dword",
            Self::PrivateFrame => "private_frame",
            Self::PrivateAddress => "private_address",
            Self::KernelFrame => "kernel_frame",
            Self::FrameCode => "frame_code",
            Self::CallerCode => "caller_code",
            Self::LdsSize => "lds_size",
            Self::LocalAddress => "local_address",
        }
    }

    /// A mark of one to four words.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::LaneDword => "lane's dword",
            Self::PrivateFrame => "private frame",
            Self::PrivateAddress => "private address",
            Self::KernelFrame => "kernel's frame at 0",
            Self::FrameCode => "frame by code",
            Self::CallerCode => "caller by code",
            Self::LdsSize => "LDS by size",
            Self::LocalAddress => "LDS address",
        }
    }

    /// The reason as a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::LaneDword => Idiom::LaneDword.words(),
            Self::PrivateFrame => Idiom::PrivateFrame.words(),
            Self::PrivateAddress => Idiom::PrivateAddress.words(),
            Self::KernelFrame => {
                "inferred: the function is a kernel without DW_AT_frame_base, so its objects begin at 0 of the lane's \
                 private memory"
            }
            Self::FrameCode => {
                "inferred: the frame register does not hold the frame's start at this PC, so the function's code gives it"
            }
            Self::CallerCode => {
                "inferred: call frame information does not give the caller, so the code of the inner function does"
            }
            Self::LdsSize => {
                "inferred: only one set of variables has the size of the kernel's LDS, and the compiler's layout of it \
                 gives the address"
            }
            Self::LocalAddress => Idiom::LocalAddress.words(),
        }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The sources of an answer's inferences; empty: nothing of it is inferred.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Inferred {
    by: u16,
}

impl Inferred {
    /// Nothing is inferred.
    pub const NONE: Self = Self { by: 0 };

    /// The same with one more source.
    #[must_use]
    pub fn with(self, by: InferredBy) -> Self {
        Self { by: self.by | by.bit() }
    }

    /// The sources of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { by: self.by | other.by }
    }

    /// Whether nothing is inferred.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Its sources.
    pub fn by(self) -> impl Iterator<Item = InferredBy> {
        InferredBy::ALL.into_iter().filter(move |by| self.by & by.bit() != 0)
    }

    /// Its sources as a list.
    #[must_use]
    pub fn sources(self) -> Vec<InferredBy> {
        self.by().collect()
    }

    /// ` (inferred: kernel's frame at 0)`, to print after an answer; empty if nothing is inferred.
    #[must_use]
    pub fn suffix(self) -> String {
        if self.is_none() { String::new() } else { format!(" ({self})") }
    }
}

impl FromIterator<InferredBy> for Inferred {
    fn from_iter<I: IntoIterator<Item = InferredBy>>(sources: I) -> Self {
        sources.into_iter().fold(Self::NONE, Self::with)
    }
}

/// `inferred: private frame, kernel's frame at 0`; empty if nothing is inferred.
impl fmt::Display for Inferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, by) in self.by().enumerate() {
            f.write_str(if index == 0 { "inferred: " } else { ", " })?;
            f.write_str(by.mark())?;
        }
        Ok(())
    }
}

/// The names of its sources.
impl fmt::Debug for Inferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by().map(InferredBy::name)).finish()
    }
}

/// The way in which a location was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The compiler's idiom of the expression's reading, if any.
    pub idiom: Option<Idiom>,
    /// The inferred parts.
    pub inferred: Inferred,
}

impl Provenance {
    /// A location by an idiom, which may be an inference.
    #[must_use]
    pub fn of(idiom: Option<Idiom>) -> Self {
        let inferred = match idiom {
            Some(Idiom::LaneDword) => Inferred::NONE.with(InferredBy::LaneDword),
            Some(Idiom::PrivateFrame) => Inferred::NONE.with(InferredBy::PrivateFrame),
            Some(Idiom::PrivateAddress) => Inferred::NONE.with(InferredBy::PrivateAddress),
            Some(Idiom::LocalAddress) => Inferred::NONE.with(InferredBy::LocalAddress),
            Some(Idiom::Xderef) | None => Inferred::NONE,
        };
        Self { idiom, inferred }
    }

    /// Its marks, to print after a location: ` (clang xderef)`, ` (clang xderef; inferred: kernel's frame at 0)`.
    #[must_use]
    pub fn suffix(self) -> String {
        match self.idiom {
            Some(Idiom::Xderef) if self.inferred.is_none() => format!(" ({})", Idiom::Xderef.mark()),
            Some(Idiom::Xderef) => format!(" ({}; {})", Idiom::Xderef.mark(), self.inferred),
            _ => self.inferred.suffix(),
        }
    }

    /// The reasons as sentences.
    #[must_use]
    pub fn words(self) -> Vec<&'static str> {
        let idiom = self.idiom.filter(|idiom| *idiom == Idiom::Xderef).map(Idiom::words);
        idiom.into_iter().chain(self.inferred.by().map(InferredBy::words)).collect()
    }
}

#[cfg(test)]
#[path = "inferred_tests.rs"]
mod tests;
