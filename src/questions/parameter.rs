//! A parameter of a question, in the notation of each front end.

use super::arguments::{ArgumentError, Lanes, Value};
use crate::debuginfo::format::Letter;
use crate::report::spaces::{self, AddressError};
use crate::session::print::no_letter;

/// A parameter. Its name is the long option, the word of `monitor`, the key of packets, and the key of [`Arguments`].
///
/// [`Arguments`]: super::Arguments
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// The short option.
    pub short: Option<char>,
    /// The type of the value.
    pub takes: Takes,
    /// The form in a typed line of `monitor`.
    pub words: Words,
    /// Whether the command line has it.
    pub is_option: bool,
    /// Whether packets have it.
    pub is_key: bool,
    /// Whether `monitor` and packets require it; for an option of the command line alone, whether that requires it.
    pub is_needed: bool,
    /// Parameters that exclude this one.
    pub excludes: &'static [&'static str],
    /// The name of the value in help texts.
    pub shown: &'static str,
    /// The help of the option.
    pub help: &'static str,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No value; 0 or 1 in packets.
    Flag,
    /// A number; hex in packets.
    Number,
    /// An address: a number, or `$NAME` for the value of a register; hex in packets.
    Address,
    /// A number of 32 bits above 0 in the command line.
    Count,
    /// A frame's number.
    Frame,
    /// Lanes.
    Lanes,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// The letter of a number format.
    Letter,
    /// A word; not encoded in packets.
    Word,
    /// The name or the number of an address space; its number is hex in packets.
    Space,
    /// Text; hex in packets.
    Text,
    /// Bytes in hex.
    Bytes,
    /// Several words.
    Names,
}

/// The form of a parameter in a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Not in typed lines.
    Absent,
    /// The value alone, in the order of the table.
    Bare,
    /// The name, and the value after it: `frame 1`, `--frame 1`.
    Named,
    /// The name with dashes only, before the rest of a line that may begin with the name: `--full`.
    Dashed,
    /// The value after a slash: `/x`.
    Slash,
    /// The rest of the line, which is needed; a positional argument of the command line.
    Rest,
}

/// The lanes of a question.
pub(super) const LANES: Parameter = Parameter::new("lane", Takes::Lanes, "LANES")
    .short('l')
    .help("The lanes: a number, 0,3,16-31, `active` or `all` [default: the first active lane]");

/// The frame of a question.
pub(super) const FRAME: Parameter = Parameter::new("frame", Takes::Frame, "N")
    .short('f')
    .help("The frame, numbered like in `lanescope backtrace` [default: 0]");

/// The switch for text without rules over lanes.
pub(super) const FULL: Parameter = Parameter::new("full", Takes::Flag, "")
    .without_key()
    .help("Print each lane on its own; without it, lanes share a line where one rule gives their values");

/// The help of [`FULL`] where the rows are the same with and without it.
pub(crate) const WHOLE_LINES: &str =
    "Print each row in one line; without it, lines have at most 80 columns, or those of the terminal";

impl Parameter {
    /// A parameter of every front end, in typed lines with its name.
    #[must_use]
    pub const fn new(name: &'static str, takes: Takes, shown: &'static str) -> Self {
        Self {
            name,
            short: None,
            takes,
            words: Words::Named,
            is_option: true,
            is_key: true,
            is_needed: false,
            excludes: &[],
            shown,
            help: "",
        }
    }

    pub(super) const fn short(self, short: char) -> Self {
        Self { short: Some(short), ..self }
    }

    pub(super) const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    pub(super) const fn shown(self, shown: &'static str) -> Self {
        Self { shown, ..self }
    }

    pub(super) const fn words(self, words: Words) -> Self {
        Self { words, ..self }
    }

    pub(super) const fn needed(self) -> Self {
        Self { is_needed: true, ..self }
    }

    pub(super) const fn excludes(self, excludes: &'static [&'static str]) -> Self {
        Self { excludes, ..self }
    }

    /// The parameter of the command line alone.
    pub(super) const fn option_only(self) -> Self {
        Self { words: Words::Absent, is_key: false, ..self }
    }

    /// The parameter of packets alone.
    pub(super) const fn key_only(self) -> Self {
        Self { words: Words::Absent, is_option: false, ..self }
    }

    /// The parameter of typed lines alone.
    pub(super) const fn words_only(self) -> Self {
        Self { is_option: false, is_key: false, ..self }
    }

    /// The parameter without an option on the command line.
    pub(super) const fn without_option(self) -> Self {
        Self { is_option: false, ..self }
    }

    /// The parameter without a key in packets.
    pub(super) const fn without_key(self) -> Self {
        Self { is_key: false, ..self }
    }

    /// The form in the help of `monitor`: `frame N`; `None`: typed lines do not have it.
    #[must_use]
    pub fn usage(&self) -> Option<String> {
        let value = match self.takes {
            Takes::Choice(names) => names.join("|"),
            _ => self.shown.to_owned(),
        };
        Some(match (self.words, self.takes) {
            (Words::Absent, _) => return None,
            (Words::Dashed, _) => format!("--{}", self.name),
            (_, Takes::Flag) => self.name.to_owned(),
            (Words::Bare | Words::Rest, _) => value,
            (Words::Named, _) => format!("{} {value}", self.name),
            (Words::Slash, _) => format!("/{value}"),
        })
    }

    /// The value of a person's text: numbers are decimal, or hexadecimal after `0x`.
    ///
    /// # Errors
    /// The text is no value of this type.
    pub fn typed(&self, text: &str) -> Result<Value, ArgumentError> {
        Ok(match self.takes {
            Takes::Flag => Value::Set,
            Takes::Number | Takes::Count | Takes::Frame => Value::Number(spaces::number(text)?),
            Takes::Address if text.starts_with('$') => Value::Text(text.to_owned()),
            Takes::Address => {
                Value::Number(spaces::number(text).map_err(|_| AddressError::Address(text.to_owned()))?)
            }
            Takes::Lanes => Value::Lanes(Lanes::typed(text)?),
            Takes::Choice(names) if !names.contains(&text) => {
                return Err(ArgumentError::Choice { names, text: text.to_owned() });
            }
            Takes::Letter => {
                let letter = Letter::of(text).ok_or_else(|| ArgumentError::Text(no_letter(text)))?;
                Value::Letter(letter)
            }
            Takes::Choice(_) | Takes::Word | Takes::Space | Takes::Text => Value::Text(text.to_owned()),
            Takes::Bytes => {
                Value::Bytes(hex_bytes(text).map_err(|error| ArgumentError::Text(error.to_string()))?)
            }
            Takes::Names => Value::Texts(text.split(',').map(str::to_owned).collect()),
        })
    }
}

/// The error for a text that is not hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HexError {
    /// The last byte has one digit.
    #[error("{0:?} has an odd number of hexadecimal digits")]
    Odd(String),
    /// A character is no digit.
    #[error("{0:?} is not hexadecimal")]
    NoDigit(String),
}

/// The bytes of hexadecimal digits with free spaces.
///
/// # Errors
/// The text has another form.
pub(crate) fn hex_bytes(text: &str) -> Result<Vec<u8>, HexError> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(2) {
        return Err(HexError::Odd(text.to_owned()));
    }
    let mut bytes = vec![0; digits.len() / 2];
    faster_hex::hex_decode(&digits, &mut bytes).map_err(|_| HexError::NoDigit(text.to_owned()))?;
    Ok(bytes)
}
