//! Reports that a terminal, a mail program or a collector broke over several lines.

use super::lead::is_of_driver;
use super::line::{self, Grammar};
use super::runtime::Wrapped;
use super::{MARK, kernel_log};
use crate::import::text::{find, prefix};

/// Maximum bytes of a line whose rest may be in the next one.
const MAX_WRAPPED: usize = 1 << 10;

/// Maximum number of texts that lines of one report may be.
const MAX_JOINED: usize = 9;

/// A line whose rest may be in the next one.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) number: usize,
    pub(super) text: Vec<u8>,
    /// With lines behind it: the texts that they may be.
    pub(super) texts: Vec<Vec<u8>>,
}

impl Begun {
    /// A line with its line feed; the line itself if no other one may continue it.
    pub(super) fn of(number: usize, text: Vec<u8>, grammar: &Grammar) -> Result<Self, Vec<u8>> {
        match text.len() < MAX_WRAPPED && grammar.is_cut(&text) {
            true => Ok(Self { number, text: text.clone(), texts: vec![text] }),
            false => Err(text),
        }
    }

    /// The text with a line that continues it. `None`: the line does not continue it.
    pub(super) fn joined(&self, line: &[u8], end: &[u8], grammar: &Grammar) -> Option<Joined> {
        let Self { text: begun, texts, .. } = self;
        let first = texts.first()?;
        let rest = continuation(begun, line);
        let is_long = first.len() + rest.len() >= 2 * MAX_WRAPPED;
        let is_of_kernel = kernel_log::wrapped(begun).is_some();
        let is_other = || is_of_kernel && grammar.is_row(rest);
        if is_long || is_of_driver(rest) || find(rest, MARK).is_some() || is_other() {
            return None;
        }
        // A line may be broken at a blank, which mail programs remove, or behind a sentence.
        let between: &[&str] = if is_of_kernel { &["", " "] } else { &["", " ", ". "] };
        let joined = texts.iter().flat_map(|text| {
            let text = text.strip_suffix(b"\n").unwrap_or(text);
            between.iter().map(move |between| [text, between.as_bytes(), rest, end].concat())
        });
        let mut joined: Vec<Vec<u8>> = joined.take(MAX_JOINED).collect();
        if let Some(whole) = joined.iter().position(|text| grammar.is_whole(text)) {
            return Some(Joined::Whole(joined.swap_remove(whole)));
        }
        joined.retain(|text| line::wrapped(text) == Some(Wrapped::Beginning));
        (!joined.is_empty()).then_some(Joined::Begun(joined))
    }

    /// The text as far as it is known, if the next line does not continue it.
    pub(super) fn known(&self) -> &[u8] {
        // Any text may continue the first row of the kernel's report.
        let joined = self.texts.first().filter(|_| kernel_log::wrapped(&self.text).is_none());
        joined.unwrap_or(&self.text)
    }
}

/// A line of several.
#[derive(Debug)]
pub(super) enum Joined {
    /// With a whole report.
    Whole(Vec<u8>),
    /// Its rest may be in the next one; the texts that it may be.
    Begun(Vec<Vec<u8>>),
}

/// The part of a line that continues the one before: behind a prefix of both.
fn continuation<'l>(before: &[u8], line: &'l [u8]) -> &'l [u8] {
    let message = line::message(before);
    let behind = before.get(..message).filter(|text| !text.is_empty() && prefix::is_prefix(text));
    let end = behind.and_then(|text| prefix::end(text, line)).unwrap_or(0);
    line.get(end..).unwrap_or_default()
}
