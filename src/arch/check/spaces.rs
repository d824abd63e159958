//! Checks of address spaces and address classes.

use std::collections::HashSet;

use super::Report;
use crate::arch::schema::{File, ScopeName};

/// Address space numbers of every target, with AMD's names.
const STANDARD: [(u16, &str); 6] =
    [(0, "global"), (1, "generic"), (2, "region"), (3, "local"), (5, "private_lane"), (6, "private_wave")];

/// Private memory of lane N has the number `FIRST_LANE` + N.
const FIRST_LANE: u16 = 0x20;

/// Returns every run of numbers: first, one past the last, and the block.
fn runs(file: &File) -> Vec<(u32, u32, String)> {
    let spaces = file.space.iter().map(|block| {
        let first = u32::from(block.number);
        (first, first + u32::from(block.name.count()), block.block())
    });
    let gaps =
        file.space_reserved.iter().map(|gap| (u32::from(gap.first), u32::from(gap.last) + 1, gap.block()));
    let mut runs: Vec<_> = spaces.chain(gaps).collect();
    runs.sort();
    runs
}

pub(super) fn reject_overlapping_spaces(file: &File, report: &mut Report) {
    for gap in file.space_reserved.iter().filter(|gap| gap.last < gap.first) {
        report.add(gap.block(), "last", "is below first");
    }
    for pair in runs(file).windows(2) {
        if let [(_, end, low), (first, _, high)] = pair
            && first < end
        {
            report.add(high, "number", format!("{first:#x} belongs to {low}"));
        }
    }
}

pub(super) fn spaces_cover_the_standard_numbers(file: &File, report: &mut Report) {
    for (number, name) in STANDARD {
        let block = file.space.iter().find(|block| block.number == number);
        if block.is_none_or(|block| block.name.stem != name || block.name.run.is_some()) {
            report.add("[[space]]", "number", format!("{number:#x} is to be {name}"));
        }
    }
    let lanes = file.target.sizes().map(|size| u16::from(size.lanes())).max().unwrap_or(64);
    let family = file.space.iter().find(|block| block.number == FIRST_LANE);
    let whole = family.is_some_and(|block| {
        block.scope == ScopeName::Lane && block.name.run.is_some_and(|(_, n)| n >= lanes)
    });
    if !whole {
        let what = format!("{FIRST_LANE:#x} is to begin a run of private memory of {lanes} lanes");
        report.add("[[space]]", "number", what);
    }
    let mut next = 0;
    for (first, end, _) in runs(file) {
        if first > next {
            report.add("[[space_reserved]]", "first", format!("{next:#x}-{:#x} are nothing", first - 1));
        }
        next = next.max(end);
    }
}

pub(super) fn addresses_fit_their_space(file: &File, report: &mut Report) {
    for block in &file.space {
        match block.bits {
            64 => {}
            32 if block.null <= u64::from(u32::MAX) => {}
            32 => report.add(block.block(), "null", format!("{:#x} has more than 32 bits", block.null)),
            bits => report.add(block.block(), "bits", format!("{bits} is not 32 or 64")),
        }
        // An aperture is 2^32 bytes, aligned to its size.
        if let Some(base) = block.aperture
            && (block.bits != 32 || base == 0 || base & u64::from(u32::MAX) != 0)
        {
            report.add(block.block(), "aperture", format!("{base:#x} is not the base of 2^32 bytes"));
        }
        if block.aperture_of_agent && (block.bits != 32 || block.aperture.is_some()) {
            report.add(block.block(), "aperture_of_agent", "needs 32 bits and excludes aperture");
        }
        if block.name.run.is_some_and(|(_, count)| count > 64 && block.scope == ScopeName::Lane) {
            report.add(block.block(), "name", "there are at most 64 lanes");
        }
    }
}

pub(super) fn address_classes_name_known_spaces(file: &File, report: &mut Report) {
    let known =
        |name: &str| file.space.iter().any(|block| block.name.run.is_none() && block.name.stem == name);
    let mut augmentations = HashSet::new();
    for table in &file.address_classes {
        if !augmentations.insert(&table.augmentation) {
            report.add(table.block(), "augmentation", "has another table");
        }
        if !known(&table.absent) {
            report.add(table.block(), "absent", format!("there is no space {:?}", table.absent));
        }
        if table.classes_are_spaces != table.class.is_empty() {
            report.add(table.block(), "class", "list classes, or set classes_are_spaces, but not both");
        }
        let mut numbers = HashSet::new();
        for class in &table.class {
            if !known(&class.space) {
                report.add(table.block(), "class", format!("{}: no space {:?}", class.name, class.space));
            }
            if !numbers.insert(class.number) {
                report.add(table.block(), "class", format!("{} is listed twice", class.number));
            }
        }
    }
    if !augmentations.contains(&None) {
        report.add("[[address_classes]]", "augmentation", "one table must do without, for all other units");
    }
}
