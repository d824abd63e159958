//! Errors in the values of options.

use thiserror::Error;

/// The reason that an option rejects a value.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum ValueError {
    /// The form that the option takes.
    #[error("expected {0}")]
    Form(&'static str),
    /// The form that the option takes, and the text.
    #[error("expected {0}, not `{1}`")]
    NotOfForm(&'static str, String),
    #[error("{first} is above {last}")]
    Backwards { first: u32, last: u32 },
    #[error("`{0}` is empty: SIZE is 0")]
    NoSize(String),
    #[error("`{0}` has no bytes: N is 0")]
    NoBytes(String),
    #[error("`{text}` is empty: {end:#x} is not above {first:#x}")]
    Empty { text: String, first: u64, end: u64 },
    /// `left`: bytes from `first` to the end of memory.
    #[error("`{text}` passes the end of memory, 2^64; expected at most {left:#x} bytes from {first:#x} on")]
    PastMemory { text: String, first: u64, left: u128 },
    #[error("no dialect {text:?}; there are {names}")]
    Dialect { text: String, names: String },
}
