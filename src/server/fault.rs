//! Why a packet gets no answer, as a number for every client and as words for those that show them.

use std::borrow::Cow;

use crate::session::{NotEvaluated, Unreadable};

/// A refusal: `Enn`, and its words where the client takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The number of `Enn`: an errno.
    pub(super) code: u8,
    /// What a person reads.
    pub(super) words: Cow<'static, str>,
}

/// EPERM.
pub(super) const READ_ONLY: u8 = 1;
/// ESRCH.
pub(super) const NO_WAVE: u8 = 3;
/// EIO.
pub(super) const IO: u8 = 5;
/// EFAULT.
pub(super) const NOT_THERE: u8 = 14;
/// EINVAL.
pub(super) const MALFORMED: u8 = 22;

impl Fault {
    /// A refusal with that number and those words.
    pub(super) fn new(code: u8, words: impl Into<Cow<'static, str>>) -> Self {
        Self { code, words: words.into() }
    }

    /// A packet that does not follow its grammar.
    pub(super) fn malformed(words: &'static str) -> Self {
        Self::new(MALFORMED, words)
    }

    /// A change to what was captured.
    pub(super) fn read_only() -> Self {
        Self::new(READ_ONLY, "a captured state is read-only")
    }
}

impl From<Unreadable> for Fault {
    fn from(unreadable: Unreadable) -> Self {
        let code = match unreadable {
            Unreadable::NoSuchWave(_) => NO_WAVE,
            Unreadable::NotCaptured { .. }
            | Unreadable::NoVariables(_)
            | Unreadable::NoActiveLanes { .. }
            | Unreadable::NoSuchFrame { .. } => NOT_THERE,
            Unreadable::NoSuchLane { .. } | Unreadable::NoSuchSpace(..) | Unreadable::Needs { .. } => {
                MALFORMED
            }
            Unreadable::Io { .. } => IO,
        };
        Self::new(code, unreadable.to_string())
    }
}

impl From<NotEvaluated> for Fault {
    fn from(error: NotEvaluated) -> Self {
        match error {
            NotEvaluated::Unreadable(unreadable) => unreadable.into(),
            error => Self::new(MALFORMED, error.to_string()),
        }
    }
}
