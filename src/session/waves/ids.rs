//! Ranges of waves' ids: a choice of waves may have as many ranges as waves.

use std::ops::RangeInclusive;

use crate::notation;

/// Ranges of ids for lookups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdRanges {
    /// First and last ids, ascending and disjoint.
    disjoint: Vec<(u32, u32)>,
}

impl IdRanges {
    /// Ranges in any order.
    pub(crate) fn new(ranges: &[RangeInclusive<u32>]) -> Self {
        let mut sorted: Vec<(u32, u32)> = ranges.iter().map(|range| (*range.start(), *range.end())).collect();
        sorted.sort_unstable();
        let mut disjoint: Vec<(u32, u32)> = Vec::new();
        for (first, last) in sorted {
            match disjoint.last_mut() {
                Some((_, end)) if first <= *end => *end = last.max(*end),
                _ => disjoint.push((first, last)),
            }
        }
        Self { disjoint }
    }

    /// Whether one of the ranges has an id.
    pub(crate) fn contains(&self, id: u32) -> bool {
        let after = self.disjoint.partition_point(|(first, _)| *first <= id);
        let before = after.checked_sub(1).and_then(|index| self.disjoint.get(index));
        before.is_some_and(|(_, last)| id <= *last)
    }
}

/// The first of the ranges that has none of these ids.
pub(crate) fn range_without(
    ranges: &[RangeInclusive<u32>],
    ids: impl Iterator<Item = u32>,
) -> Option<&RangeInclusive<u32>> {
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    ranges.iter().find(|range| {
        let from = ids.partition_point(|id| id < range.start());
        ids.get(from).is_none_or(|id| id > range.end())
    })
}

/// The ranges of exactly these ids.
pub(crate) fn id_ranges(ids: impl Iterator<Item = u32>) -> Vec<RangeInclusive<u32>> {
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let range = |(first, last): (u64, u64)| Some(u32::try_from(first).ok()?..=u32::try_from(last).ok()?);
    notation::ranges(ids).into_iter().filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::{IdRanges, id_ranges, range_without};

    #[test]
    fn ranges_may_overlap_and_have_any_order() {
        let ranges = IdRanges::new(&[7..=9, 1..=3, 2..=5, 8..=8, u32::MAX..=u32::MAX]);
        let found = (0..12).filter(|id| ranges.contains(*id));
        assert_eq!(found.collect::<Vec<u32>>(), [1, 2, 3, 4, 5, 7, 8, 9]);
        assert!(ranges.contains(u32::MAX) && !IdRanges::new(&[]).contains(0));
    }

    #[test]
    fn a_range_without_an_id_is_found() {
        let ids = || [9, 2, 4].into_iter();
        assert_eq!(range_without(&[2..=2, 3..=8], ids()), None);
        assert_eq!(range_without(&[2..=2, 5..=8, 0..=1], ids()), Some(&(5..=8)));
        assert_eq!(range_without(&[0..=u32::MAX], [].into_iter()), Some(&(0..=u32::MAX)));
    }

    #[test]
    fn ids_are_in_ranges_without_others() {
        assert_eq!(id_ranges([4, 1, 2, 2, 9].into_iter()), [1..=2, 4..=4, 9..=9]);
        assert!(id_ranges([].into_iter()).is_empty());
    }
}
