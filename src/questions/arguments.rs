//! The arguments of a question, in types; each front end fills them from its own notation.

use std::ops::RangeInclusive;

use super::parameter::{Parameter, Takes};
use crate::debuginfo::format::Letter;
use crate::report::spaces::{self, AddressError};

/// The arguments of a question.
#[derive(Clone, Debug, Default)]
pub struct Arguments(Vec<(&'static str, Value)>);

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A flag that is set.
    Set,
    /// A number.
    Number(u64),
    /// Lanes.
    Lanes(Lanes),
    /// The letter of a number format.
    Letter(Letter),
    /// A word or a text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several words.
    Texts(Vec<String>),
}

/// Lanes, not yet compared with a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// All lanes of the wave.
    All,
    /// The lanes that are active in the frame.
    Active,
    /// Ranges of numbers.
    Listed(Vec<RangeInclusive<u32>>),
}

/// An error in an argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// Not a number.
    #[error(transparent)]
    Number(#[from] AddressError),
    /// Not lanes.
    #[error("expected lanes, 3 or 0,8-15, `active` or `all`, not `{0}`")]
    Lanes(String),
    /// A range from above to below.
    #[error("{text}: {first} is above {last}")]
    Reversed {
        /// The text.
        text: String,
        /// Its first number.
        first: u32,
        /// Its last number.
        last: u32,
    },
    /// Not one of the names.
    #[error("expected {}, not `{text}`", alternatives(names))]
    Choice {
        /// The names.
        names: &'static [&'static str],
        /// The text.
        text: String,
    },
    /// Another error in the text.
    #[error("{0}")]
    Text(String),
    /// A parameter that is given twice.
    #[error("`{0}` is given twice")]
    Twice(&'static str),
    /// Two parameters that exclude each other.
    #[error("`{0}` excludes `{1}`")]
    Either(&'static str, &'static str),
    /// Missing parameters.
    #[error("{0}")]
    Needed(String),
}

/// `` `function`, `line` or `pc` ``
fn alternatives(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

impl Lanes {
    /// Lanes in a person's notation: `3`, `0x3`, `0,8-15`, `active` or `all`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn typed(text: &str) -> Result<Self, ArgumentError> {
        match text {
            "all" => return Ok(Self::All),
            "active" => return Ok(Self::Active),
            _ => {}
        }
        let number = |word: &str| {
            let number = spaces::number(word.trim()).ok().and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| ArgumentError::Lanes(text.to_owned()))
        };
        ranges(text, number).map(Self::Listed)
    }

    /// The only lane, if it is one number.
    #[must_use]
    pub fn one(&self) -> Option<u32> {
        match self {
            Self::Listed(ranges) => match ranges.as_slice() {
                [range] if range.start() == range.end() => Some(*range.start()),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The ranges of `3` or `0,8-15`. An error: a part is no number, or a range goes down.
fn ranges(
    text: &str,
    number: impl Fn(&str) -> Result<u32, ArgumentError>,
) -> Result<Vec<RangeInclusive<u32>>, ArgumentError> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        match first > last {
            true => Err(ArgumentError::Reversed { text: text.to_owned(), first, last }),
            false => Ok(first..=last),
        }
    };
    text.split(',').map(range).collect()
}

impl Arguments {
    /// Adds an argument; further words of [`Value::Texts`] join the first ones.
    ///
    /// # Errors
    /// The argument is given twice, or a count is 0.
    pub fn add(&mut self, parameter: &Parameter, value: Value) -> Result<(), ArgumentError> {
        if let (Takes::Count, Value::Number(0)) = (parameter.takes, &value) {
            return Err(ArgumentError::Text("a count of 0 is nothing".to_owned()));
        }
        let known = self.0.iter_mut().find(|(name, _)| *name == parameter.name);
        match (known.map(|(_, known)| known), value) {
            (None, value) => self.0.push((parameter.name, value)),
            (Some(Value::Texts(known)), Value::Texts(more)) => known.extend(more),
            (Some(_), _) => return Err(ArgumentError::Twice(parameter.name)),
        }
        Ok(())
    }

    /// Checks that no argument excludes another one, and for `monitor` and packets that none is missing.
    ///
    /// # Errors
    /// [`ArgumentError::Either`], [`ArgumentError::Needed`].
    pub fn complete<'p>(
        self,
        parameters: impl Iterator<Item = &'p Parameter> + Clone,
    ) -> Result<Self, ArgumentError> {
        for one in parameters.clone().filter(|one| self.has(one.name)) {
            if let Some(other) = one.excludes.iter().find(|other| self.has(other)) {
                return Err(ArgumentError::Either(one.name, other));
            }
        }
        let needed: Vec<&Parameter> = parameters.filter(|one| one.is_needed).collect();
        if needed.iter().all(|one| self.has(one.name)) {
            return Ok(self);
        }
        let names: Vec<&str> = needed.iter().map(|one| one.name).collect();
        Err(ArgumentError::Needed(match names.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} and {last} are needed", first.join(", ")),
            name => format!("a {} is needed", name.concat()),
        }))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Whether the argument is given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A number as an index or a count, at most `usize::MAX`.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<usize> {
        self.number(name).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// A word, a text, or one of several names.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Bytes.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        match self.get(name)? {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Several words; empty without the argument.
    #[must_use]
    pub fn texts(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Value::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// The lanes.
    #[must_use]
    pub fn lanes(&self) -> Option<&Lanes> {
        match self.get("lane")? {
            Value::Lanes(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// The letter of a number format.
    #[must_use]
    pub fn letter(&self, name: &str) -> Option<Letter> {
        match self.get(name)? {
            Value::Letter(letter) => Some(*letter),
            _ => None,
        }
    }
}
