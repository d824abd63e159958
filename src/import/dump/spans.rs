//! Runs of registers by their sources, to find registers with two sources.

use std::fmt::{self, Display};

use super::key::Key;
use crate::arch::WaveArch;
use crate::capture::RegisterBlock;
use crate::import::problem::Problems;

/// A run of registers from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) first: u16,
    pub(super) last: u16,
    source: SpanSource,
}

/// The source of a run; of two sources of a register the later one applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpanSource {
    Image,
    Bulk,
    Inline,
}

impl Display for SpanSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image => "image",
            Self::Bulk => "bulk",
            Self::Inline => "registers",
        })
    }
}

impl Span {
    /// The run of a block.
    pub(super) fn of(block: &RegisterBlock, source: SpanSource) -> Self {
        let last = block.first.0.saturating_add(block.count.saturating_sub(1));
        Self { first: block.first.0, last, source }
    }
}

/// Reports registers with two sources; `layout` is sorted and its runs do not overlap.
pub(super) fn report_twice(
    problems: &mut Problems,
    key: &Key<'_>,
    kind: &WaveArch,
    layout: &[Span],
    mut own: Vec<Span>,
) {
    own.sort_unstable();
    let mut report = |one: Span, other: Span| {
        let (first, last) = (one.first.max(other.first), one.last.min(other.last));
        let name = |id: u16| kind.registers().get(usize::from(id)).map_or("", |register| &register.name);
        let range = match first == last {
            true => name(first).to_owned(),
            false => format!("{}-{}", name(first), name(last)),
        };
        let (low, high) = (one.source.min(other.source), one.source.max(other.source));
        let what = match low == high {
            true => format!("{range} is given twice in {low}"),
            false => format!("{range} is given by {low} and by {high}; {high} counts"),
        };
        problems.report(key, what, "each register once");
    };
    let mut reach: Option<Span> = None;
    for span in &own {
        if let Some(before) = reach
            && before.last >= span.first
        {
            report(before, *span);
        }
        if reach.is_none_or(|before| before.last < span.last) {
            reach = Some(*span);
        }
        let from = layout.partition_point(|run| run.last < span.first);
        for run in layout.get(from..).unwrap_or_default().iter().take_while(|run| run.first <= span.last) {
            report(*run, *span);
        }
    }
}
