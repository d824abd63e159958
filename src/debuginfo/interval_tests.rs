use proptest::prelude::*;

use super::Intervals;

proptest! {
    /// The end of a range is the first address past it, and an empty range holds no address (DWARF 5, section 2.17.3).
    #[test]
    fn a_range_holds_its_addresses_without_its_end(ranges in prop::collection::vec((0u64..9, 0u64..9), 0..9)) {
        let intervals = Intervals::new(ranges.iter().enumerate().map(|(index, (start, end))| (*start..*end, index)));
        for address in 0..10 {
            let found: Vec<usize> = intervals.at(address).copied().collect();
            let holds = |index: &usize| (ranges[*index].0..ranges[*index].1).contains(&address);
            let expected = (0..ranges.len()).filter(holds).count();
            prop_assert!(found.len() == expected && found.iter().all(holds), "{address}: {found:?} of {ranges:?}");
            prop_assert!(found.is_sorted_by_key(|index| std::cmp::Reverse(ranges[*index].0)), "{found:?} of {ranges:?}");
        }
    }
}
