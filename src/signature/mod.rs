//! Signatures of crashes and hangs: equal for equal causes, over ids, addresses, lanes, grids and GPUs.
//!
//! Input: sessions over a dump, which the analysis of [`crate::triage`] reads, and [`Rules`] about functions. Output:
//! [`Signature`], a hash of a text with the version of its rules. docs/signatures.md has the rules. `parts` finds the
//! facts of waves, `names` folds the names of functions. `record` is the line of a dump for programs, `bucket` groups
//! such lines, `known` compares them with the known signatures of a team.

mod bucket;
mod known;
mod names;
mod parts;
mod record;
mod rules;
#[cfg(test)]
mod tests;
mod unknown;

pub use bucket::{Bucket, Buckets, IncompleteDump, MixedLevelsError, Nearest, Order, Seen, UnreadableDump};
pub use known::{Issue, Known, KnownError, KnownSignatures, Likeness};
pub use record::{Named, Record, RecordError};
pub use rules::{Rules, RulesError};
pub use unknown::unknown_waves;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::notation::counted;
use crate::session::{Dump, Inspect};
use crate::triage::{self, Question, Triage};
use parts::{Found, Parts};

/// The version of the rules, the prefix of every signature.
pub const VERSION: &str = "ls1";

/// The separator of the parts of a text.
const SEPARATOR: &str = " | ";

/// Number of hexadecimal digits of a signature's hash.
const DIGITS: usize = 12;

/// Whether a text has the form of a signature: of these rules the version and all digits of the hash, of other versions
/// any number of digits.
#[must_use]
pub fn is_signature(text: &str) -> bool {
    let Some((version, hash)) = text.split_once(':') else { return false };
    let is_version = version
        .strip_prefix("ls")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let is_hash = !hash.is_empty() && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_version && is_hash && (version != VERSION || hash.len() == DIGITS)
}

/// The facts that a signature contains, from few to many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SignatureLevel {
    /// Cause and kernel.
    Coarse,
    /// Cause, functions, file, and kind of access.
    #[default]
    Default,
    /// The same with the line.
    Line,
    /// Cause, kernel, offset of the instruction, and build id or hash of the code.
    Exact,
}

impl SignatureLevel {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::Coarse, Self::Default, Self::Line, Self::Exact];

    /// The name on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Coarse => "coarse",
            Self::Default => "default",
            Self::Line => "line",
            Self::Exact => "exact",
        }
    }
}

/// A signature of some waves of a dump.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Signature {
    /// `ls1:3f9c2a71d0b4`
    pub id: String,
    /// The text: `memory violation | saxpy @ saxpy.hip | load`.
    pub text: String,
    /// The kernel, folded; empty if unknown.
    pub kernel: String,
    /// Whether it is made without debug information: kernel, offset, and build id or hash of the code.
    pub is_weak: bool,
    /// The reason that it is weak, of the first of its waves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weak_because: Option<String>,
    /// Number of waves with it; 0: a report without a wave.
    pub waves: usize,
    /// The effect of each rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
}

/// The facts of the signatures of a dump.
#[derive(Clone, Debug, Default)]
pub struct Crashes {
    /// The facts of groups of waves, with the number of waves.
    groups: Vec<(Parts, usize)>,
    /// Number of waves beyond the groups.
    left_out: usize,
    /// The reason that accesses and states are unknown: the processor of the code is unknown.
    undecoded: Option<String>,
}

impl Crashes {
    /// Finds the facts: of the waves that faulted, else of a hang or of a report. `sessions`: one for each kind of waves
    /// of the dump.
    #[must_use]
    pub fn of(dump: &Dump, sessions: &[&dyn Inspect], rules: &Rules) -> Self {
        sessions.iter().for_each(|session| session.next_question());
        Self::of_analysis(dump, sessions, &triage::triage(sessions, &Question::default()), rules)
    }

    /// The same with the analysis of all waves of these sessions.
    #[must_use]
    pub fn of_analysis(dump: &Dump, sessions: &[&dyn Inspect], found: &Triage, rules: &Rules) -> Self {
        let Found { groups, left_out, undecoded } = parts::of(dump, sessions, found, rules);
        Self { groups, left_out, undecoded }
    }

    /// The reason that signatures may be missing: waves beyond the bound have none.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        let waves = counted(self.left_out, "wave");
        (self.left_out > 0)
            .then(|| format!("{waves} in further groups of one PC and stop reason have no signature"))
    }

    /// The reason that accesses of faults and states of hangs are unknown: the processor of the code is. `None`: they are
    /// known.
    #[must_use]
    pub fn undecoded(&self) -> Option<String> {
        self.undecoded.as_ref().map(|why| format!("accesses and states of hangs are unknown: {why}"))
    }

    /// The signatures of a level, the one of most waves first; empty if no wave is known to have faulted or to hang.
    #[must_use]
    pub fn signatures(&self, level: SignatureLevel) -> Vec<Signature> {
        let mut found: Vec<Signature> = Vec::new();
        for (parts, waves) in &self.groups {
            let signature = parts.signature(level, *waves);
            match found.iter_mut().find(|known| known.id == signature.id) {
                Some(known) => known.waves += waves,
                None => found.push(signature),
            }
        }
        // Equal numbers of waves: by text, which does not depend on the order of waves.
        found.sort_by(|a, b| b.waves.cmp(&a.waves).then_with(|| a.text.cmp(&b.text)));
        found
    }
}

/// Whether the text of a signature has more than a cause: a function, a kernel, an offset or a build.
#[must_use]
pub fn has_place(text: &str) -> bool {
    text.contains(SEPARATOR)
}

impl Parts {
    /// The signature of a level.
    fn signature(&self, level: SignatureLevel, waves: usize) -> Signature {
        let is_weak = self.functions.is_empty() && level != SignatureLevel::Coarse;
        let text = match level {
            SignatureLevel::Coarse => join([self.cause.clone(), self.kernel.clone()]),
            SignatureLevel::Exact => join([self.cause.clone(), self.kernel.clone(), self.position()]),
            SignatureLevel::Default | SignatureLevel::Line if is_weak => {
                join([self.cause.clone(), self.kernel.clone(), self.position(), self.action.clone()])
            }
            SignatureLevel::Default => join([self.cause.clone(), self.place(false), self.action.clone()]),
            SignatureLevel::Line => join([self.cause.clone(), self.place(true), self.action.clone()]),
        };
        let mut hash = format!("{:x}", md5::compute(format!("{VERSION}\n{text}")));
        hash.truncate(DIGITS);
        Signature {
            id: format!("{VERSION}:{hash}"),
            text,
            kernel: self.kernel.clone(),
            is_weak,
            weak_because: self.without_functions.clone().filter(|_| is_weak),
            waves,
            steps: self.steps.clone(),
        }
    }

    /// `leaf < middle @ saxpy.hip:54`
    fn place(&self, has_line: bool) -> String {
        let mut text = self.functions.join(" < ");
        if let Some(file) = &self.file {
            let _ = write!(text, " @ {file}");
            if let (Some(line), true) = (self.line, has_line) {
                let _ = write!(text, ":{line}");
            }
        }
        text
    }

    /// `+0x1514 of 4c2f...`: an offset in the code object of a build.
    fn position(&self) -> String {
        let offset = self.offset.map_or_else(String::new, |offset| format!("+{offset:#x}"));
        match &self.build {
            Some(build) => format!("{offset} of {build}"),
            None => offset,
        }
    }
}

/// The parts that are not empty, with separators.
fn join<const N: usize>(parts: [String; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(SEPARATOR)
}
