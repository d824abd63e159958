//! Status words of a wave beyond the debuggers' registers: `[wave_words]` of a target's file. Hardware tools (umr)
//! capture them; `import` reads waves with them.

use serde::Deserialize;

use super::save_area::{Count, RegisterBit};

/// Facts about status words, by their hardware names in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaveWords {
    /// Set in waves of 64 lanes; absent: all waves have one size.
    pub wave64: Option<RegisterBit>,
    /// The number of allocated SGPRs; absent: every wave has all.
    pub sgprs: Option<WordCount>,
    /// This bit means that the trap handler's SGPRs may be among those that `sgprs` counts.
    pub trap_handler: Option<RegisterBit>,
    /// Sources of these facts.
    #[serde(default)]
    pub source: String,
}

/// A count in a named word.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordCount {
    /// The word.
    pub register: String,
    /// The count in it.
    pub count: Count,
}
