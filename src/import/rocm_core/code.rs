//! Memory that holds code, and memory that cannot: by the segments' rights, the queues' data and the code objects.

use std::collections::BTreeSet;

use super::memory::CoreMemory;
use crate::import::objects::union;

/// Sorted, disjoint ranges of addresses, first to last.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl FromIterator<(u64, u64)> for Ranges {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(ranges: I) -> Self {
        Self(union(ranges.into_iter().collect()))
    }
}

impl Ranges {
    /// Whether a range contains the address.
    pub(super) fn contains(&self, address: u64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= address);
        let before = after.checked_sub(1).and_then(|index| self.0.get(index));
        before.is_some_and(|(_, last)| address <= *last)
    }
}

/// The facts that decide whether memory holds code.
#[derive(Debug)]
pub(super) struct Code<'a> {
    memory: &'a CoreMemory,
    /// Whether the rights of segments are those of the GPU's memory.
    has_rights: bool,
    /// Save areas, scratch memory and rings.
    data: Ranges,
    /// Code objects.
    objects: Ranges,
}

impl<'a> Code<'a> {
    /// `entries`: the kernels of dispatches. `data`: save areas, scratch memory and rings.
    ///
    /// p_flags of some writers are no rights: they count if the segments of all kernels are executable. A data range
    /// with a kernel comes from a damaged size and does not count.
    pub(super) fn new(
        memory: &'a CoreMemory,
        entries: &BTreeSet<u64>,
        data: &[(u64, u64)],
        objects: Ranges,
    ) -> Self {
        let mut captured = entries.iter().filter(|entry| memory.segment(**entry).is_some()).peekable();
        let has_rights = captured.peek().is_some() && captured.all(|entry| memory.is_executable(*entry));
        let has_kernel =
            |(first, last): &(u64, u64)| first <= last && entries.range(first..=last).next().is_some();
        let data = data.iter().copied().filter(|range| !has_kernel(range)).collect();
        Self { memory, has_rights, data, objects }
    }

    /// Whether a code object contains the address.
    pub(super) fn is_known(&self, pc: u64) -> bool {
        self.objects.contains(pc)
    }

    /// Whether the captured memory at the address cannot hold code.
    pub(super) fn is_data(&self, pc: u64) -> bool {
        self.data.contains(pc) || (self.has_rights && !self.memory.is_executable(pc))
    }
}
