//! Messages on standard error, in lines of its width.

use std::borrow::Cow;
use std::io::{self, Write as _};

use super::runner;
use crate::clean::clean_lines;
use crate::report::fold::{columns_of, folded_message};

/// Prints a message.
///
/// # Errors
/// The error of standard error.
pub(super) fn message(text: &str) -> io::Result<()> {
    let text = folded_message(text.trim_end_matches('\n'), columns_of(io::stderr()));
    folded(text)
}

/// Prints lines that are folded already.
///
/// # Errors
/// The error of standard error.
pub(super) fn folded(text: String) -> io::Result<()> {
    // A fold may begin a line of the runner's.
    writeln!(anstream::stderr(), "{}", runner::message_for_people(text))
}

/// Prints a warning, with escapes for foreign text.
///
/// # Errors
/// The error of standard error.
pub(super) fn warning<'t>(text: impl Into<Cow<'t, str>>) -> io::Result<()> {
    message(&format!("warning: {}", clean_lines(text)))
}
