//! Checks of the DWARF register mapping.

use super::Report;
use crate::arch::dwarf_map;
use crate::arch::schema::File;

/// The last number in AMDGPUUsage's mapping.
const LAST: u64 = 4095;

pub(super) fn dwarf_names_match_registers(file: &File, report: &mut Report) {
    for block in &file.register {
        match (&block.dwarf, &block.dwarf_name) {
            (None, None) => {}
            (None, Some(_)) => report.add(block.block(), "dwarf", "is missing, there is a dwarf_name"),
            (Some(_), None) => report.add(block.block(), "dwarf_name", "is missing, there is a number"),
            (Some(dwarf), Some(names)) => {
                for (size, _) in dwarf.each() {
                    let names = names.of(size);
                    let numbers = |names: &super::super::names::Names| names.run;
                    if numbers(names) != numbers(&block.name) {
                        let what = format!("{names} does not count as {} does", block.name);
                        report.add(block.block(), "dwarf_name", what);
                    }
                }
            }
        }
    }
    let reserved = file.dwarf_reserved.iter().map(|gap| (gap, "dwarf_reserved"));
    for (gap, table) in reserved.chain(file.dwarf_absent.iter().map(|gap| (gap, "dwarf_absent"))) {
        let block = gap.block(table);
        if gap.what.is_none() && table == "dwarf_reserved" {
            report.add(&block, "what", "is missing");
        }
        let Some(more) = gap.last.checked_sub(gap.first) else {
            report.add(block, "last", "is below first");
            continue;
        };
        match &gap.names {
            Some(names) if u32::from(names.count()) != u32::from(more) + 1 => {
                let what = format!("{names} is {} names for {} numbers", names.count(), u32::from(more) + 1);
                report.add(block, "names", what);
            }
            None if table == "dwarf_absent" => report.add(block, "names", "is missing"),
            _ => {}
        }
    }
}

pub(super) fn reject_overlapping_dwarf_numbers(file: &File, report: &mut Report) {
    for pair in dwarf_map::runs(file).windows(2) {
        if let [low, high] = pair
            && high.first <= low.last
        {
            let what = format!(
                "{}-{} and {}-{} share numbers; reserved numbers are not free",
                low.first, low.last, high.first, high.last
            );
            report.add("[[register]] and [[dwarf_...]]", "dwarf", what);
        }
    }
}

/// A missing number would read as "unknown" instead of "reserved".
pub(super) fn dwarf_numbers_leave_no_gap(file: &File, report: &mut Report) {
    let mut next = 0;
    for run in dwarf_map::runs(file) {
        if run.first > next {
            let what = format!("{next}-{} are neither registers nor reserved", run.first - 1);
            report.add("[[dwarf_reserved]]", "first", what);
        }
        next = next.max(run.last + 1);
    }
    if next <= LAST {
        let what = format!("{next}-{LAST} are neither registers nor reserved");
        report.add("[[dwarf_reserved]]", "last", what);
    }
}
