//! Known signatures of a team: TOML with the signature, the issue and a note of each.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{SEPARATOR, Signature, VERSION, has_place, is_signature};
use crate::clean::clean;

/// The known signatures of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownSignatures {
    /// The signatures.
    #[serde(default)]
    known: Vec<Entry>,
}

/// A known signature.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// `ls1:3f9c2a71d0b4`
    signature: String,
    /// The text that `lanescope signature` prints beside it. Similar signatures are found by it.
    #[serde(default)]
    text: String,
    issue: Option<Issue>,
    note: Option<String>,
}

/// The issue and the note of a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Known {
    /// The issue.
    pub issue: Option<Issue>,
    /// A note.
    pub note: Option<String>,
}

/// A reference to an issue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Issue {
    /// Its number.
    Number(u64),
    /// A name or an address: `GPU-812`.
    Text(String),
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "issue {number}"),
            Self::Text(text) => write!(f, "issue {}", clean(text)),
        }
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.issue, &self.note) {
            (Some(issue), Some(note)) => write!(f, "{issue}, {}", clean(note)),
            (Some(issue), None) => write!(f, "{issue}"),
            (None, Some(note)) => write!(f, "{}", clean(note)),
            (None, None) => f.write_str("without an issue"),
        }
    }
}

/// An error of a file of known signatures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KnownError {
    /// Not TOML of that form.
    #[error("{0}")]
    Form(String),
    /// A signature of another form.
    #[error(
        "`{0}` is no signature; write the whole first word that `lanescope signature` prints: {VERSION}:3f9c2a71d0b4"
    )]
    Signature(String),
    /// A signature that the file has twice.
    #[error("{0} is in the file twice")]
    Twice(String),
}

/// The parts that a signature shares with a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// Cause and functions; the line, the file or the build differs.
    Place,
    /// Cause and functions; the kind of access differs.
    Access,
    /// Cause and kernel.
    Functions,
    /// The kernel.
    Cause,
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Place => "the same functions, another line or build",
            Self::Access => "the same functions, another kind of access",
            Self::Functions => "the same kernel and cause, other functions",
            Self::Cause => "the same kernel, another cause",
        })
    }
}

impl KnownSignatures {
    /// Parses a file.
    ///
    /// # Errors
    /// [`KnownError`].
    pub fn parse(text: &str) -> Result<Self, KnownError> {
        let found: Self = toml::from_str(text).map_err(|error| KnownError::Form(error.to_string()))?;
        let mut seen = std::collections::HashSet::new();
        for entry in &found.known {
            if !is_signature(&entry.signature) {
                return Err(KnownError::Signature(entry.signature.clone()));
            }
            if !seen.insert(&entry.signature) {
                return Err(KnownError::Twice(entry.signature.clone()));
            }
        }
        Ok(found)
    }

    /// The first signature by the rules of another version: no analysis of this version finds it.
    #[must_use]
    pub fn of_other_rules(&self) -> Option<&str> {
        let has_other = |id: &&str| id.split(':').next() != Some(VERSION);
        self.known.iter().map(|entry| entry.signature.as_str()).find(has_other)
    }

    /// The issue and the note of a signature; `None`: it is new, or it has a cause alone, which different crashes share.
    #[must_use]
    pub fn find(&self, id: &str, text: &str) -> Option<Known> {
        let entry = self.known.iter().find(|entry| entry.signature == id);
        entry.filter(|_| has_place(text)).map(Entry::known)
    }

    /// The most similar known signature of a new one, by the texts of `seen`, else of the file.
    #[must_use]
    pub fn nearest(&self, of: &Signature, seen: &[Signature]) -> Option<(Likeness, &str, Known)> {
        let likenesses = self.known.iter().filter_map(|entry| {
            let seen = seen.iter().find(|one| one.id == entry.signature);
            let (text, kernel) = match seen {
                Some(seen) => (&*seen.text, &*seen.kernel),
                None => (&*entry.text, ""),
            };
            Some((likeness(&of.text, &of.kernel, text, kernel)?, entry))
        });
        let nearest = likenesses.min_by_key(|(likeness, entry)| (*likeness, &*entry.signature));
        nearest.map(|(likeness, entry)| (likeness, &*entry.signature, entry.known()))
    }
}

impl Entry {
    fn known(&self) -> Known {
        Known { issue: self.issue.clone(), note: self.note.clone() }
    }
}

/// The parts that two texts of signatures share.
fn likeness(text: &str, kernel: &str, other_text: &str, other_kernel: &str) -> Option<Likeness> {
    let (one, other) = (Words::of(text, kernel)?, Words::of(other_text, other_kernel)?);
    let same_cause = one.cause == other.cause;
    if same_cause && one.functions == other.functions {
        let same_action = one.action == other.action;
        return Some(if same_action { Likeness::Place } else { Likeness::Access });
    }
    let same_kernel = one.kernel == other.kernel;
    (same_kernel && !one.kernel.is_empty()).then_some(if same_cause {
        Likeness::Functions
    } else {
        Likeness::Cause
    })
}

/// The parts of a signature's text.
struct Words<'t> {
    cause: &'t str,
    functions: &'t str,
    action: &'t str,
    kernel: &'t str,
}

impl<'t> Words<'t> {
    fn of(text: &'t str, kernel: &'t str) -> Option<Self> {
        let mut parts = text.split(SEPARATOR);
        let cause = parts.next().filter(|cause| !cause.is_empty())?;
        let place = parts.next().unwrap_or_default();
        let action = parts.last().unwrap_or_default();
        let functions = place.split_once(" @ ").map_or(place, |(functions, _)| functions);
        // The outermost of the functions is the kernel unless there are more than the text has.
        let outermost = functions.rsplit(" < ").next().unwrap_or_default();
        Some(Self { cause, functions, action, kernel: if kernel.is_empty() { outermost } else { kernel } })
    }
}
