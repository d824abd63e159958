//! stub
use super::{Locals, Reader, Unreadable};
use crate::units::{LaneSet, WaveId};
pub(super) fn locals(_reader: &Reader, _wave: WaveId, _lanes: LaneSet) -> Result<Locals, Unreadable> {
    Err(Unreadable::NoVariables("stub".into()))
}
