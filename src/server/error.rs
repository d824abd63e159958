//! Errors of packets: a number for every client, and text for clients that print it.

use std::borrow::Cow;

use crate::clean::clean_lines;
use crate::session::{ChangeError, DisassemblyError, EvaluateError, ReadError};

/// An error reply: `Enn`, and text for clients that accept it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(super) struct PacketError {
    /// The number of `Enn`: an errno.
    pub(super) code: u8,
    /// The text for the user.
    pub(super) words: Cow<'static, str>,
}

/// EPERM: the target of a write cannot change.
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

impl PacketError {
    /// An error with a number and text.
    pub(super) fn new(code: u8, words: impl Into<Cow<'static, str>>) -> Self {
        // The text may quote the client.
        Self { code, words: clean_lines(words) }
    }

    /// The error of a packet that violates its grammar.
    pub(super) fn malformed(words: &'static str) -> Self {
        Self::new(MALFORMED, words)
    }
}

impl From<ReadError> for PacketError {
    fn from(unreadable: ReadError) -> Self {
        let code = match unreadable {
            ReadError::NoSuchWave(_) => NO_WAVE,
            ReadError::NoSuchRegister { .. } => NOT_THERE,
            ReadError::NotCaptured { .. }
            | ReadError::NoPrivateMemory { .. }
            | ReadError::PastLds { .. }
            | ReadError::NoVariables(_)
            | ReadError::NoActiveLanes { .. }
            | ReadError::NoLanePc { .. }
            | ReadError::NoSuchFrame { .. } => NOT_THERE,
            ReadError::NoSuchLane { .. } | ReadError::NoSuchSpace(..) | ReadError::Needs { .. } => MALFORMED,
            ReadError::Interrupted => INTERRUPTED,
            ReadError::Io { .. } => IO,
        };
        Self::new(code, unreadable.to_string())
    }
}

impl From<ChangeError> for PacketError {
    fn from(error: ChangeError) -> Self {
        let code = match error {
            ChangeError::ReadError(unreadable) => return unreadable.into(),
            ChangeError::NoMemory(_) | ChangeError::PartOf(_) => NOT_THERE,
            ChangeError::Size { .. } | ChangeError::Path(_) => MALFORMED,
            ChangeError::Limit { .. } => TOO_MANY,
            ChangeError::Object(_)
            | ChangeError::Location(_)
            | ChangeError::Nowhere { .. }
            | ChangeError::State(_) => READ_ONLY,
        };
        Self::new(code, error.to_string())
    }
}

impl From<DisassemblyError> for PacketError {
    fn from(error: DisassemblyError) -> Self {
        match error {
            DisassemblyError::ReadError(unreadable) => unreadable.into(),
            error => Self::new(NOT_THERE, error.to_string()),
        }
    }
}

impl From<EvaluateError> for PacketError {
    fn from(error: EvaluateError) -> Self {
        match error {
            EvaluateError::ReadError(unreadable) => unreadable.into(),
            error => Self::new(MALFORMED, error.to_string()),
        }
    }
}
