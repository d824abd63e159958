//! Values of `--wave`: ids of waves, `all` and `faulted`.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Failure;
use super::value::ValueError;
use crate::capture::Wave;
use crate::session::{Dump, Session, has_faulted, id_ranges, is_kind};
use crate::triage::no_stop_reasons;

/// The value of one `--wave`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaveChoices(pub(super) Vec<WaveChoice>);

/// A part of such a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaveChoice {
    /// Waves by their ids.
    Ids(RangeInclusive<u32>),
    /// All waves.
    All,
    /// The waves that stopped for a fault.
    Faulted,
}

impl WaveChoice {
    /// The choice of a word; `None`: the text is no word of a choice.
    pub(super) fn named(word: &str) -> Option<Self> {
        match word.trim() {
            "all" => Some(Self::All),
            "faulted" => Some(Self::Faulted),
            _ => None,
        }
    }

    /// Whether it may be several waves.
    pub(super) fn is_of_several(&self) -> bool {
        !matches!(self, Self::Ids(ids) if ids.start() == ids.end())
    }

    /// The ids of these waves; those of a word are of `kind`, if there is one.
    ///
    /// # Errors
    /// A word, and the dump has no such wave.
    pub(super) fn ids(
        &self,
        dump: &Arc<Dump>,
        kind: Option<&str>,
    ) -> Result<Vec<RangeInclusive<u32>>, Failure> {
        let is_chosen: fn(&Wave) -> bool = match self {
            Self::Ids(ids) => return Ok(vec![ids.clone()]),
            Self::All => |_| true,
            Self::Faulted => has_faulted,
        };
        let is_asked = |wave: &&Wave| kind.is_none_or(|kind| is_kind(&wave.kind, kind));
        let asked = || dump.capture().waves.iter().filter(is_asked);
        let ids = id_ranges(asked().filter(|wave| is_chosen(wave)).map(|wave| wave.id));
        if ids.is_empty() {
            // The session reports an unknown kind and a dump without waves.
            Session::new(Arc::clone(dump), kind)?;
            return Err(none_faulted(&dump.capture().name, asked()).into());
        }
        Ok(ids)
    }
}

/// `core.1 has no wave that faulted`, as far as the stop reasons are known.
fn none_faulted<'w>(name: &str, waves: impl Iterator<Item = &'w Wave>) -> String {
    match no_stop_reasons(waves.filter(|wave| wave.stop.is_none()).count()) {
        None => format!("{name} has no wave that faulted"),
        Some(unknown) => format!("{name} has no wave that is known to have faulted; {unknown}"),
    }
}

/// Waves in the form of `--wave 3,7-9`, `--wave all` and `--wave faulted`.
pub(super) fn wave_choices(text: &str) -> Result<WaveChoices, ValueError> {
    let wrong = || ValueError::Form("ids of waves: 3 or 3,7-9; or all, or faulted");
    let id = |word: &str| word.trim().parse::<u32>().map_err(|_| wrong());
    let choices = text.split(',').map(|part| {
        if let Some(choice) = WaveChoice::named(part) {
            return Ok(choice);
        }
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (id(first)?, id(last)?);
        if first > last {
            return Err(ValueError::Backwards { first, last });
        }
        Ok(WaveChoice::Ids(first..=last))
    });
    Ok(WaveChoices(choices.collect::<Result<_, _>>()?))
}
