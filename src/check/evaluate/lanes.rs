//! Lanes of a wave that a line names.

use super::error::FactError;
use crate::check::file::Lanes;
use crate::session::Inspect;
use crate::units::{LaneId, LaneSet, WaveId};

/// The lanes, or the reason that they are not known.
pub(super) fn of(
    session: &dyn Inspect,
    wave: WaveId,
    frame: usize,
    lanes: &Lanes,
) -> Result<LaneSet, FactError> {
    let size = session.kind().wave_size;
    match lanes {
        Lanes::All => Ok(size.all()),
        Lanes::Active => match session.active_lanes(wave, frame) {
            Ok(LaneSet::EMPTY) => Err(FactError::new("no lane is active in the frame")),
            Ok(active) => Ok(active),
            Err(why) => Err(FactError::new(why.to_string())),
        },
        Lanes::Listed(ranges) => {
            let mut all = LaneSet::EMPTY;
            for (first, last) in ranges {
                if let Some(lane) = [first, last].into_iter().find(|lane| !size.has(**lane)) {
                    return Err(FactError::new(format!("no lane {lane} in a {}-lane wave", size.lanes())));
                }
                all = all.or((first.0..=last.0).map(LaneId).collect());
            }
            Ok(all)
        }
    }
}
