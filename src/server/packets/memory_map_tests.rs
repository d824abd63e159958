use super::join;

#[test]
fn ranges_that_touch_or_overlap_are_one() {
    assert_eq!(join(vec![(8, 15), (0, 7)]), [(0, 15)]);
    assert_eq!(join(vec![(0, 20), (8, 15)]), [(0, 20)]);
    assert_eq!(join(vec![(0, 7), (9, 15)]), [(0, 7), (9, 15)]);
    assert_eq!(join(vec![(1, u64::MAX), (5, 9)]), [(1, u64::MAX)]);
}
