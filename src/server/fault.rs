//! The reason of a missing answer: a number for every client, and words for clients that show them.

use std::borrow::Cow;

use crate::clean::clean_lines;
use crate::session::{NotDisassembled, NotEvaluated, Unreadable, Unwritable};

/// A refusal: `Enn`, and its words for a client that takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The number of `Enn`: an errno.
    pub(super) code: u8,
    /// The text for the user.
    pub(super) words: Cow<'static, str>,
}

/// EPERM: a write has nothing to change.
pub(super) const READ_ONLY: u8 = 1;
/// ESRCH.
pub(super) const NO_WAVE: u8 = 3;
/// EINTR.
pub(super) const INTERRUPTED: u8 = 4;
/// EIO.
pub(super) const IO: u8 = 5;
/// ENOMEM.
pub(super) const TOO_MANY: u8 = 12;
/// EFAULT.
pub(super) const NOT_THERE: u8 = 14;
/// EINVAL.
pub(super) const MALFORMED: u8 = 22;

impl Fault {
    /// A refusal with that number and those words.
    pub(super) fn new(code: u8, words: impl Into<Cow<'static, str>>) -> Self {
        // The words may contain text of the client.
        Self { code, words: clean_lines(words) }
    }

    /// A packet that does not follow its grammar.
    pub(super) fn malformed(words: &'static str) -> Self {
        Self::new(MALFORMED, words)
    }
}

impl From<Unreadable> for Fault {
    fn from(unreadable: Unreadable) -> Self {
        let code = match unreadable {
            Unreadable::NoSuchWave(_) => NO_WAVE,
            Unreadable::NoSuchRegister { .. } => NOT_THERE,
            Unreadable::NotCaptured { .. }
            | Unreadable::NoPrivateMemory { .. }
            | Unreadable::NoVariables(_)
            | Unreadable::NoActiveLanes { .. }
            | Unreadable::NoLanePc { .. }
            | Unreadable::NoSuchFrame { .. } => NOT_THERE,
            Unreadable::NoSuchLane { .. } | Unreadable::NoSuchSpace(..) | Unreadable::Needs { .. } => {
                MALFORMED
            }
            Unreadable::Interrupted => INTERRUPTED,
            Unreadable::Io { .. } => IO,
        };
        Self::new(code, unreadable.to_string())
    }
}

impl From<Unwritable> for Fault {
    fn from(error: Unwritable) -> Self {
        let code = match error {
            Unwritable::Unreadable(unreadable) => return unreadable.into(),
            Unwritable::NoMemory(_) | Unwritable::PartOf(_) => NOT_THERE,
            Unwritable::Size { .. } | Unwritable::Path(_) => MALFORMED,
            Unwritable::Limit { .. } => TOO_MANY,
            Unwritable::Object(_)
            | Unwritable::Location(_)
            | Unwritable::Nowhere { .. }
            | Unwritable::State(_) => READ_ONLY,
        };
        Self::new(code, error.to_string())
    }
}

impl From<NotDisassembled> for Fault {
    fn from(error: NotDisassembled) -> Self {
        match error {
            NotDisassembled::Unreadable(unreadable) => unreadable.into(),
            error => Self::new(NOT_THERE, error.to_string()),
        }
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
