//! The line of a dump for programs: its signatures, or the reason for missing ones.

use serde::{Deserialize, Serialize};

use super::{Known, Signature, SignatureLevel};
use crate::clean::clean;

/// The name and version of the schema. A member is never removed or changed within a version.
const SCHEMA: &str = "lanescope.signature/1";

/// The signatures of a dump: an object of `lanescope signature --json` and `--jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Record {
    /// `lanescope.signature/1`
    pub schema: String,
    /// The dump's path as the user named it.
    pub dump: String,
    /// The time of the capture, as the dump has it. `None`: unknown.
    pub captured: Option<String>,
    /// The level of the signatures.
    pub level: SignatureLevel,
    /// The reason for an unreadable dump.
    pub error: Option<String>,
    /// The signatures, the one of most waves first; empty if no wave is known to have faulted or to hang.
    pub signatures: Vec<Named>,
    /// Reasons for waves whose faults are unknown: absent from the dump, or without a stop reason; and for code that no
    /// tool decodes. Empty: none.
    #[serde(default)]
    pub unknown_waves: Vec<String>,
}

/// A signature with its entry of `--known`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Named {
    /// The signature.
    #[serde(flatten)]
    pub signature: Signature,
    /// The entry of `--known`; null if it is new, absent without `--known`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Option<Known>>,
}

/// The schema of a line.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// A line that is no record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Not JSON of that form.
    #[error("not a line of `lanescope signature --jsonl` ({})", in_line(.0))]
    Form(serde_json::Error),
    /// Another version of the schema.
    #[error(
        "the schema is `{}`, expected `{SCHEMA}`: another version of lanescope printed the line; print it again with \
         `lanescope signature --jsonl` of this one, or read it with that one",
        clean(.0)
    )]
    Version(String),
    /// Another schema.
    #[error("the schema is `{}`, expected `{SCHEMA}`: a line of `lanescope signature --jsonl`", clean(.0))]
    Schema(String),
}

/// An error within a line: the column alone, since the caller has the line's number.
fn in_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(words) => format!("column {}: {words}", error.column()),
        None => text,
    }
}

impl Record {
    /// A record without signatures.
    #[must_use]
    pub fn new(dump: String, level: SignatureLevel) -> Self {
        let (captured, error, signatures, unknown_waves) = Default::default();
        Self { schema: SCHEMA.to_owned(), dump, captured, level, error, signatures, unknown_waves }
    }

    /// Parses a line. Control characters of its texts are escaped.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn parse(line: &[u8]) -> Result<Self, RecordError> {
        // Another version has other members.
        if let Ok(Head { schema }) = serde_json::from_slice(line)
            && schema != SCHEMA
        {
            let family = |schema: &str| schema.rsplit_once('/').map(|(family, _)| family.to_owned());
            let is_version = family(&schema) == family(SCHEMA);
            return Err(if is_version { RecordError::Version(schema) } else { RecordError::Schema(schema) });
        }
        let mut record: Self = serde_json::from_slice(line).map_err(RecordError::Form)?;
        let cleaned = |text: &mut String| *text = clean(&**text).into_owned();
        cleaned(&mut record.dump);
        record.captured.iter_mut().chain(&mut record.error).for_each(cleaned);
        record.unknown_waves.iter_mut().for_each(cleaned);
        for named in &mut record.signatures {
            // The command that reads the lines has its own file of known signatures, and prints no explanation.
            (named.known, named.signature.steps) = (None, Vec::new());
            let signature = &mut named.signature;
            [&mut signature.id, &mut signature.text, &mut signature.kernel].into_iter().for_each(cleaned);
        }
        Ok(record)
    }

    /// Whether a signature is not in the file of known ones.
    #[must_use]
    pub fn has_new(&self) -> bool {
        self.signatures.iter().any(|named| named.known == Some(None))
    }

    /// Whether it may lack a signature: the faults of some waves are unknown.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        !self.unknown_waves.is_empty()
    }
}
