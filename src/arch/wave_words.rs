//! Words of a wave's status that debuggers do not show as registers: `[wave_words]` of a target's file. Tools that
//! read the hardware have them (umr); `import` reads waves with them.

use serde::Deserialize;

use super::save_area::{Count, RegisterBit};

/// Facts of status words, by the hardware's names in small letters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaveWords {
    /// The bit is set in waves of 64 lanes; left out: all waves have one size.
    pub wave64: Option<RegisterBit>,
    /// How many SGPRs were allocated; left out: every wave has all.
    pub sgprs: Option<WordCount>,
    /// With this bit set the trap handler's own SGPRs may be among those that `sgprs` counts.
    pub trap_handler: Option<RegisterBit>,
    /// Sources of these facts.
    #[serde(default)]
    pub source: String,
}

/// A count in a word that has a name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordCount {
    /// The word.
    pub register: String,
    /// The count in it.
    pub count: Count,
}
