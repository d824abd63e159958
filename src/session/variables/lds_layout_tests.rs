//! Layouts of clang 22: offsets and sizes from llc's output for random sets of variables.

use super::*;

/// Size, alignment of the type, and address of each variable.
type Row = (u64, u64, u64);

const LAYOUTS: [(u64, &[Row]); 9] = [
    (352, &[(28, 4, 320), (8, 8, 264), (33, 1, 272), (264, 8, 0)]),
    (104, &[(40, 8, 64), (8, 4, 56), (56, 8, 0)]),
    (384, &[(7, 1, 368), (8, 4, 264), (32, 2, 320), (16, 8, 352), (264, 8, 0), (48, 16, 272)]),
    (384, &[(128, 8, 0), (112, 16, 128), (4, 4, 296), (20, 4, 352), (33, 1, 304), (56, 8, 240)]),
    (80, &[(56, 8, 0), (16, 16, 64), (2, 1, 56)]),
    (496, &[(28, 4, 448), (5, 1, 480), (6, 2, 440), (66, 2, 368), (256, 16, 0), (112, 16, 256)]),
    (496, &[(28, 4, 432), (16, 16, 464), (128, 8, 272), (264, 8, 0), (32, 2, 400), (14, 2, 480)]),
    (1480, &[(10, 2, 1456), (8, 8, 1472), (1200, 4, 0), (256, 4, 1200)]),
    (48, &[(24, 8, 0), (12, 4, 32)]),
];

fn candidate(size: u64, natural: u64, is_shared: bool) -> Candidate {
    Candidate { size, declared: 1, natural, is_shared }
}

#[test]
fn structures_are_llvms() {
    for (bytes, rows) in LAYOUTS {
        let fields = rows.iter().enumerate().map(|(index, (size, natural, _))| Field {
            index,
            size: *size,
            alignment: candidate(*size, *natural, false).alignment(),
        });
        let found = structure(fields.collect());
        for (index, place) in &found.places {
            assert_eq!(*place, Some(rows[*index].2), "{rows:?}");
        }
        let natural = rows.iter().map(|row| row.1).max().unwrap();
        assert!(ends(found.end, natural).contains(&bytes), "{rows:?}: {found:?}");
    }
}

fn found(candidates: &[Candidate], bytes: u64, rounding: u64) -> Option<Vec<Option<u64>>> {
    addresses(candidates, bytes, rounding)
}

#[test]
fn one_set_of_a_size_gives_addresses() {
    let (double, int) = (candidate(8, 8, false), candidate(4, 4, false));
    assert_eq!(found(&[int, double], 16, 1), Some(vec![Some(8), Some(0)]));
    assert_eq!(found(&[int, double], 8, 1), Some(vec![None, Some(0)]));
    assert_eq!(found(&[int, double], 20, 1), None);
    // Dynamic LDS may have raised the size of the double alone.
    assert_eq!(found(&[int, double], 16, 16), None);
    // The order of equal members depends on their names.
    let floats = candidate(64, 4, false);
    assert_eq!(found(&[int, int, floats], 72, 1), Some(vec![None, None, Some(0)]));
    assert_eq!(found(&[int, int, double], 8, 1), None);
    // The short fits into the padding behind the array.
    let (array, short) = (candidate(10, 2, false), candidate(2, 2, false));
    assert_eq!(found(&[array, double, short], 24, 1), None);
    assert_eq!(found(&[array, double], 24, 1), Some(vec![Some(0), Some(16)]));
}

#[test]
fn variables_of_several_kernels_may_be_in_the_structure_of_the_module() {
    let (small, large) = (candidate(8, 8, true), candidate(264, 8, false));
    assert_eq!(found(&[small, large], 280, 1), Some(vec![Some(0), Some(16)]));
    assert_eq!(found(&[small, large], 272, 1), Some(vec![Some(264), Some(0)]));
    // Both divisions have this size, with one address of the last variable.
    let (table, tile) = (candidate(256, 4, true), candidate(1024, 4, false));
    assert_eq!(found(&[table, tile, small], 1288, 1), Some(vec![None, None, Some(1280)]));
}

#[test]
fn alignment_of_the_source_counts_and_unknown_alignment_ends_the_search() {
    let aligned = Candidate { declared: 64, ..candidate(12, 4, false) };
    // The struct's end has the alignment of types alone.
    assert_eq!(found(&[aligned, candidate(16, 16, false)], 32, 1), Some(vec![Some(0), Some(16)]));
    assert_eq!(found(&[candidate(32, 32, false)], 32, 1), None);
    assert_eq!(found(&[candidate(32, u64::MAX, false)], 32, 1), None);
    assert_eq!(found(&[Candidate { declared: 3, ..aligned }], 12, 1), None);
}

#[test]
fn the_search_is_bounded() {
    let many: Vec<Candidate> = (0..200).map(|index| candidate(4 + index % 7, 4, true)).collect();
    assert_eq!(found(&many, 600, 1), None);
    assert_eq!(found(&vec![candidate(4, 4, false); 300], 4, 1), None);
}
