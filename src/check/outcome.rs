//! Results of expectations.

use serde::{Deserialize, Serialize};

use crate::session::InferredBy;

/// The result of an expectation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The line of the file, from 1.
    pub line: usize,
    /// The columns of the part that the result is about: the first byte, and the one past the last, from 0.
    pub columns: (usize, usize),
    /// The result.
    pub verdict: Verdict,
    /// The line of the `wave` statement that selects no wave, from 1: its result is the reason of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_by: Option<usize>,
}

/// The result of an expectation, in order of weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Verdict {
    /// The expectation holds.
    Holds,
    /// It does not.
    Differs(Box<Difference>),
    /// The dump cannot answer.
    NotChecked(Obstacle),
}

/// The difference between a dump and an expectation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The expected value.
    pub expected: String,
    /// The value of the dump, in the notation of the file: `--bless` writes it. Of a value line operator and value
    /// (`== 1017`, `is unavailable`), of other lines the text after the keyword. `None`: the file has no notation for
    /// it.
    pub got: Option<String>,
    /// The value of the dump for people: rules of lanes, a sentence.
    pub found: String,
    /// The waves that differ, by their ids in the dump; empty: the dump as a whole.
    pub waves: Vec<u32>,
    /// The lanes that differ, in the first of those waves.
    pub lanes: Vec<LaneDifference>,
    /// Values of the names in the path, for the first of those lanes.
    pub names: Vec<NamedValue>,
    /// The inferences behind the dump's value: docs/json.md, "Inferred answers".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<InferredBy>,
}

/// Lanes with one difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneDifference {
    /// The lanes as ranges: `0-3, 24`.
    pub lanes: String,
    /// The expected value there.
    pub expected: String,
    /// The value there.
    pub got: String,
}

/// The value of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NamedValue {
    /// The name: `i`.
    pub name: String,
    /// Its value or state: `1024`.
    pub value: String,
    /// The inferences behind it: docs/json.md, "Inferred answers".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<InferredBy>,
}

/// The reason that an expectation cannot be checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Obstacle {
    /// The problem.
    pub problem: String,
    /// An instruction: a similar name, the missing option.
    pub hint: Option<String>,
}
