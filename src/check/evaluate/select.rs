//! Selection of waves.

use super::facts::{Facts, Needed};
use super::names::similar_names;
use super::places::{Fit, at};
use crate::check::file::Selector;
use crate::debuginfo::{short_name, source_name};
use crate::session::WaveInfo;

/// The selected waves, or the reason that there are none.
pub(super) struct Selected {
    /// Indexes of the facts' waves, ascending.
    pub(super) waves: Vec<usize>,
    /// Number of waves that are not selected because a fact about them is unknown; with the reason. It counts only
    /// where no wave is selected.
    pub(super) unknown: Option<(usize, String)>,
    /// The reason that absent waves may be among them; `None`: they are not. It counts only where no wave is selected.
    pub(super) absent: Option<String>,
    /// A sentence for an empty selection, and an instruction.
    pub(super) none: (String, Option<String>),
}

/// Selects the waves of a block.
pub(super) fn select(facts: &Facts<'_>, selector: &Selector) -> Selected {
    let mut selected =
        Selected { waves: Vec::new(), unknown: None, absent: None, none: (String::new(), None) };
    let mut keep = |fits: &dyn Fn(usize, &WaveInfo) -> Fit| {
        for (index, wave) in facts.waves.iter().enumerate() {
            match fits(index, &wave.info) {
                Fit::Holds => selected.waves.push(index),
                Fit::Differs => {}
                Fit::Unknown(why) => selected.unknown.get_or_insert((0, why)).0 += 1,
            }
        }
    };
    let known = |fits: bool| if fits { Fit::Holds } else { Fit::Differs };
    match selector {
        Selector::Faulted => {
            keep(&|_, info| match info.has_faulted() {
                Some(faulted) => known(faulted),
                None => Fit::Unknown("the stop reason was not captured".to_owned()),
            });
            selected.none.0 = "no wave faulted".to_owned();
        }
        Selector::Every | Selector::Some => {
            keep(&|_, _| Fit::Holds);
            selected.none.0 = "the dump has no waves".to_owned();
        }
        Selector::Id(id) => {
            keep(&|_, info| known(info.id == *id));
            let hint = facts.waves.first().map(|_| "`lanescope waves` lists the ids".to_owned());
            selected.none = (format!("no wave has the id {id}"), hint);
        }
        Selector::Position(group, number) => {
            keep(&|_, info| match (info.workgroup, info.wave_in_group, number) {
                (Some(at), _, _) if at != *group => Fit::Differs,
                (Some(_), _, None) => Fit::Holds,
                (Some(_), Some(own), Some(number)) => known(own == *number),
                _ => Fit::Unknown("the position was not captured".to_owned()),
            });
            let [x, y, z] = group;
            let number = number.map_or_else(String::new, |number| format!("/{number}"));
            selected.none.0 = format!("no wave is at ({x},{y},{z}){number}");
        }
        Selector::Kernel(kernel) => {
            let name = |info: &WaveInfo| {
                let symbol = info.kernel.as_deref()?.trim_end_matches(".kd");
                Some(source_name(symbol))
            };
            keep(&|_, info| match name(info) {
                Some(own) => known(super::function_matches(kernel, own.as_str()) || own == *kernel),
                None => Fit::Unknown("the kernel is unknown".to_owned()),
            });
            let kernels: Vec<String> = facts.waves.iter().filter_map(|wave| name(&wave.info)).collect();
            let hint = similar_names(kernel, kernels.iter().map(|name| short_name(name)));
            selected.none = (format!("no wave runs the kernel `{kernel}`"), hint);
        }
        Selector::At(place) => {
            keep(&|index, _| facts.waves.get(index).map_or(Fit::Differs, |wave| at(facts, wave, place)));
            selected.none.0 = "no wave is there".to_owned();
            selected.none.1 = super::places::similar_places(facts, place);
        }
    }
    if selected.waves.is_empty() {
        selected.absent = facts.absent(match selector {
            Selector::Faulted => Needed::Faults,
            Selector::Every | Selector::Some | Selector::Kernel(_) => Needed::Numbers,
            Selector::Id(_) | Selector::Position(..) | Selector::At(_) => Needed::Own,
        });
    }
    selected
}
