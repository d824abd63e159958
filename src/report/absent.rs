//! Waves of a capture that a dump lacks, below lists of its waves.

use serde::Serialize;

use super::Style;
use crate::notation::{counted, is_zero, plural};
use crate::session::Inspect;

/// Maximum number of reasons in text. JSON has all.
const MAX_REASONS: usize = 4;

/// Waves that a list of all waves of a dump lacks.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AbsentWaves {
    /// Number of waves that the dump leaves out, and that waves of it stand for. Absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Reasons for waves of the process that the dump lacks, and that no wave stands for. Absent: none is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent_waves: Vec<String>,
}

impl AbsentWaves {
    /// Those of a dump; none if the user chose waves. `sessions`: one for each kind of waves.
    #[must_use]
    pub fn of(sessions: &[&dyn Inspect]) -> Self {
        Self {
            left_out: sessions.iter().map(|session| session.stop_counts().left_out).sum(),
            absent_waves: sessions.first().map(|session| session.uncounted_waves()).unwrap_or_default(),
        }
    }

    /// A sentence each; empty if none is known. `unknown`: the unknown facts of those that are left out: `stack`.
    #[must_use]
    pub fn text(&self, unknown: &str, style: Style) -> String {
        let left_out = (self.left_out > 0).then(|| {
            let waves = counted(self.left_out as u64, "wave");
            match self.left_out == 1 {
                true => {
                    format!("{waves} is left out: another one stands for it, and its {unknown} is unknown.")
                }
                false => {
                    format!("{waves} are left out: others stand for them, and their {unknown}s are unknown.")
                }
            }
        });
        let reasons = self.absent_waves.iter().take(MAX_REASONS).map(|why| format!("Absent: {why}."));
        let more = self.absent_waves.len().saturating_sub(MAX_REASONS);
        let more = (more > 0).then(|| format!("Absent: {more} more reasons, which --json lists."));
        let lines = left_out.into_iter().chain(reasons).chain(more);
        lines.map(|line| style.dim(&style.folded(&line)) + "\n").collect()
    }
}

/// `, stands for 5 more`; empty for 0. `waves`: number of waves that stand for them.
#[must_use]
pub(crate) fn stands_for(waves: usize, more: usize) -> String {
    match more {
        0 => String::new(),
        more => format!(", {} for {more} more", plural(waves, "stands", "stand")),
    }
}
