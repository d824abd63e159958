//! Positions of variables in a window: disjoint, within their half, and found again.

use proptest::prelude::*;

use crate::session::print::MAX_COMPOSED_BYTES;
use crate::units::DieOffset;
use crate::view::layout::{Planner, Reading, Sort, Use, is_global};
use crate::view::layout::{RETURN_ADDRESS, STRIDE};

const LINE: u32 = 512;

#[test]
fn a_window_is_16_mb_and_ends_with_the_return_address() {
    assert_eq!((STRIDE, RETURN_ADDRESS), (0x100_0000, 0xff_fff8));
}

#[test]
fn a_full_window_takes_no_more() {
    let mut planner = Planner::of_function(None);
    let mut count = 0u64;
    while planner.add(DieOffset(count), None, Sort::Plain, Some(MAX_COMPOSED_BYTES)).is_some() {
        count += 1;
    }
    // 8 MB minus the first line, in spill slots of 64 KB with a pointer each.
    assert_eq!(count, (8 << 20) / MAX_COMPOSED_BYTES - 1);
    let layout = planner.finish();
    assert_eq!(layout.len() as u64, count);
    assert_eq!(layout.at(STRIDE / 2 - 1, Reading::Lines), None, "the rest is for nothing");
}

#[test]
fn a_pointer_is_as_large_as_the_client_takes_it_for() {
    let mut planner = Planner::of_function(None);
    planner.add(DieOffset(1), None, Sort::SmallPointer, Some(4)).unwrap();
    let layout = planner.finish();
    match layout.at(0x200, Reading::Exact) {
        Some((Use::Pointer { slot, at: 0 }, 0x208)) => assert_eq!(slot.size, 8),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn what_came_later_moves_nothing(
        first in prop::collection::vec(prop::option::of(0u64..3000), 0..80),
        later in prop::collection::vec(prop::option::of(0u64..3000), 0..80),
        global in any::<bool>(),
    ) {
        let planner = |before| if global { Planner::of_globals(before) } else { Planner::of_function(before) };
        let mut old = planner(None);
        let add = |planner: &mut Planner, from: u64, sizes: &[Option<u64>]| -> Vec<u32> {
            let each = sizes.iter().zip(from..);
            each.map(|(size, die)| planner.add(DieOffset(die), None, Sort::Plain, *size).unwrap()).collect()
        };
        let pointers = add(&mut old, 0, &first);
        let old = old.finish();
        // The planner places the new variable first, like a variable of an inlined function.
        let mut new = planner(Some(&old));
        let mut all = add(&mut new, 1000, &later);
        prop_assert_eq!(add(&mut new, 0, &first), pointers.clone());
        let new = new.finish();
        prop_assert_eq!(new.len(), first.len() + later.len());
        for pointer in &pointers {
            prop_assert_eq!(new.at(*pointer, Reading::Exact), old.at(*pointer, Reading::Exact));
            let Some((Use::Pointer { slot, .. }, _)) = old.at(*pointer, Reading::Exact) else { return Err(TestCaseError::fail("no pointer")) };
            prop_assert_eq!(new.at(slot.capacity, Reading::Lines), old.at(slot.capacity, Reading::Lines));
        }
        all.extend(pointers);
        for (index, die) in (1000..).take(later.len()).chain(0..first.len() as u64).enumerate() {
            match new.at(all[index], Reading::Exact) {
                Some((Use::Pointer { slot, at: 0 }, _)) => prop_assert_eq!(slot.variable, DieOffset(die)),
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        all.sort_unstable();
        all.dedup();
        prop_assert_eq!(all.len(), first.len() + later.len());
    }

    #[test]
    fn places_do_not_overlap_and_are_found(
        sizes in prop::collection::vec(prop::option::of(0u64..3000), 1..60),
        global in any::<bool>(),
    ) {
        let mut planner = if global { Planner::of_globals(None) } else { Planner::of_function(None) };
        let mut pointers = Vec::new();
        for (index, size) in sizes.iter().enumerate() {
            pointers.push(planner.add(DieOffset(index as u64), None, Sort::Plain, *size).unwrap());
        }
        let layout = planner.finish();
        let mut last = 0;
        for (index, pointer) in pointers.iter().enumerate() {
            prop_assert_eq!(is_global(*pointer), global);
            let Some((Use::Pointer { slot, at: 3 }, _)) = layout.at(pointer + 3, Reading::Exact) else {
                return Err(TestCaseError::fail("no pointer"));
            };
            prop_assert_eq!(slot.variable, DieOffset(index as u64));
            prop_assert_eq!(slot.capacity % LINE, 0);
            prop_assert!(slot.capacity >= last && slot.capacity > *pointers.last().unwrap());
            last = slot.capacity + slot.size.max(1);
            let end = slot.capacity + slot.size;
            if let Some(at) = slot.size.checked_sub(1) {
                prop_assert_eq!(layout.at(end - 1, Reading::Exact), Some((Use::Slot { slot, at }, end)));
                let line = end.next_multiple_of(LINE);
                prop_assert_eq!(layout.at(end - 1, Reading::Lines), Some((Use::Slot { slot, at }, line)));
                let rest = (end < line).then_some((Use::Rest, line));
                prop_assert_eq!(layout.at(end, Reading::Lines).filter(|_| end < line), rest);
            }
            if !end.is_multiple_of(LINE) {
                prop_assert_eq!(layout.at(end, Reading::Exact), None);
            }
        }
        let end = if global { STRIDE - LINE } else { STRIDE / 2 };
        prop_assert!(last <= end);
    }
}
