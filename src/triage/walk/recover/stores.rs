//! The memory that the stores between a load and the PC may have changed, in all lanes.

use std::rc::Rc;

use super::Past;
use crate::arch::SpaceScope;
use crate::isa::{Access, Family, LaneAddress};
use crate::units::{AddressSpace, LaneId, LaneSet};

/// Bytes of an access of unknown size.
const MAX_BYTES: u16 = 16;

/// The bytes that a store may have written.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Lane, space, first byte and the one behind the last.
    places: Vec<(Option<LaneId>, AddressSpace, u64, u64)>,
    /// Whether the address in some lane is unknown.
    pub(super) is_unknown: bool,
}

impl Stored {
    /// Whether another lane wrote one of these bytes.
    pub(super) fn has(&self, (space, first, bytes): (AddressSpace, u64, u64), lane: LaneId) -> bool {
        self.places.iter().any(|(by, of, start, end)| {
            *by != Some(lane) && *of == space && *start < first.saturating_add(bytes) && first < *end
        })
    }
}

/// Whether a store of that family can write to memory of that scope.
pub(super) fn may_reach(family: Family, scope: Option<SpaceScope>) -> bool {
    match (family, scope) {
        // Each lane has its own.
        (_, Some(SpaceScope::Lane)) => false,
        (Family::Lds, Some(SpaceScope::WorkGroup)) | (Family::Flat, _) => true,
        (Family::Lds | Family::Gds | Family::Scratch, _) | (_, Some(SpaceScope::WorkGroup)) => false,
        _ => true,
    }
}

impl Past<'_, '_> {
    /// The bytes that the store of an index may have written. `None`: the steps are used up.
    pub(super) fn stores(&self, index: usize, store: &Access) -> Option<Rc<Stored>> {
        if let Some(known) = self.stores.borrow().get(&index) {
            return Some(Rc::clone(known));
        }
        self.spend(1)?;
        // Its own address may depend on loads before it, whose memory it did not change yet.
        self.stores.borrow_mut().insert(index, Rc::default());
        let is_scalar = matches!(store.family, Family::Scalar | Family::ScalarBuffer);
        let all = self.registers.arch().wave_size.all();
        let lanes = if is_scalar { LaneSet::one(LaneId::default()) } else { all };
        let mut found = Stored::default();
        for lane in lanes.iter().filter(|lane| is_scalar || self.is_active(index, *lane) != Some(false)) {
            for one in self.inner_addresses(store, lane, index) {
                match one.address {
                    LaneAddress::Memory { space, address, .. } => {
                        let end = address.0.saturating_add(one.bytes.unwrap_or(MAX_BYTES).into());
                        found.places.push(((!is_scalar).then_some(lane), space, address.0, end));
                    }
                    LaneAddress::OutOfRange => {}
                    LaneAddress::Unknown(_) => found.is_unknown = true,
                }
            }
        }
        let found = Rc::new(found);
        self.stores.borrow_mut().insert(index, Rc::clone(&found));
        Some(found)
    }
}
