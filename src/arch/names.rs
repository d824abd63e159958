//! Names of a block in a target file: one (`pc`) or a numbered run (`v{0..255}`).

use std::fmt;

use serde::Deserialize;
use thiserror::Error;

/// Maximum length of a run: more than any GPU has of one register kind.
const MOST: u16 = 1024;

/// One name, or a stem with consecutive numbers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Names {
    /// The name, or its part before the number.
    pub(super) stem: String,
    /// First number and count of a run.
    pub(super) run: Option<(u16, u16)>,
}

impl Names {
    pub(super) fn count(&self) -> u16 {
        self.run.map_or(1, |(_, count)| count)
    }

    /// Returns the name at `index`, from 0.
    pub(super) fn at(&self, index: u16) -> String {
        match self.run {
            Some((first, _)) => format!("{}{}", self.stem, u32::from(first) + u32::from(index)),
            None => self.stem.clone(),
        }
    }

    /// Returns the index of a name.
    pub(super) fn index(&self, name: &str) -> Option<u16> {
        let number = name.strip_prefix(&self.stem)?;
        let index = match self.run {
            Some((first, count)) => {
                number.parse::<u16>().ok()?.checked_sub(first).filter(|index| *index < count)?
            }
            None => 0,
        };
        (self.at(index) == name).then_some(index)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.count()).map(|index| self.at(index))
    }
}

/// The reason that a text is no name.
#[derive(Debug, Error)]
pub(super) enum NamesError {
    #[error("{0:?} is not a name: a run is written v{{0..255}}, both ends included")]
    Form(String),
    #[error("{0:?} has no stem or more than {MOST} names")]
    Run(String),
    #[error("{0:?} counts backwards")]
    Backwards(String),
}

impl TryFrom<String> for Names {
    type Error = NamesError;

    fn try_from(text: String) -> Result<Self, NamesError> {
        let Some((stem, rest)) = text.split_once('{') else {
            return Ok(Self { stem: text, run: None });
        };
        let bounds = rest.strip_suffix('}').and_then(|inner| inner.split_once(".."));
        let numbers = bounds.and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
        let Some((low, high)) = numbers else {
            return Err(NamesError::Form(text));
        };
        let (low, high): (u16, u16) = (low, high);
        match high.checked_sub(low) {
            Some(last) if last < MOST && !stem.is_empty() => {
                Ok(Self { stem: stem.to_owned(), run: Some((low, last + 1)) })
            }
            Some(_) => Err(NamesError::Run(text)),
            None => Err(NamesError::Backwards(text)),
        }
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.run {
            Some((first, count)) => {
                write!(f, "{}{{{first}..{}}}", self.stem, u32::from(first) + u32::from(count) - 1)
            }
            None => f.write_str(&self.stem),
        }
    }
}
