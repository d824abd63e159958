//! Rules for a target file beyond the schema: one named check for each rule.
//!
//! A user's file passes the same checks as the built-in ones, when its folder is loaded. All problems are reported at
//! once, each with block, key and the check's name.

mod dwarf;
mod registers;
mod save_area;
mod spaces;
mod stops;

use std::collections::HashSet;
use std::fmt::Display;

use super::error::TargetFileError;
use super::processor::Processor;
use super::schema::File;

/// Maximum number of reported problems of a file.
const MAX_PROBLEMS: usize = 50;

/// Maximum number of registers of all blocks together; more could make the other checks slow.
const MAX_REGISTERS: u32 = 8192;

/// Maximum number of blocks of any other kind.
const MAX_BLOCKS: usize = 1024;

type Check = fn(&File, &mut Report);

/// Checks that the others rely on; if one fails, the others do not run.
const FIRST: &[(&str, Check)] = &[
    ("counts_are_bounded", counts_are_bounded),
    ("names_are_plain", names_are_plain),
    ("wave_sizes_are_known", registers::wave_sizes_are_known),
];

/// The rules, in the order of a file's blocks.
const RULES: &[(&str, Check)] = &[
    ("every_block_has_a_source", every_block_has_a_source),
    ("reject_duplicate_names", reject_duplicate_names),
    ("widths_are_possible", registers::widths_are_possible),
    ("required_registers_present", registers::required_registers_present),
    ("aliases_fit_the_sgprs", registers::aliases_fit_the_sgprs),
    ("fields_fit_their_register", registers::fields_fit_their_register),
    ("dbgapi_numbers_match_layout", registers::dbgapi_numbers_match_layout),
    ("dwarf_names_match_registers", dwarf::dwarf_names_match_registers),
    ("reject_overlapping_dwarf_numbers", dwarf::reject_overlapping_dwarf_numbers),
    ("dwarf_numbers_leave_no_gap", dwarf::dwarf_numbers_leave_no_gap),
    ("reject_overlapping_spaces", spaces::reject_overlapping_spaces),
    ("spaces_cover_the_standard_numbers", spaces::spaces_cover_the_standard_numbers),
    ("addresses_fit_their_space", spaces::addresses_fit_their_space),
    ("address_classes_name_known_spaces", spaces::address_classes_name_known_spaces),
    ("all_stop_reasons_present", stops::all_stop_reasons_present),
    ("signals_are_gdbs", stops::signals_are_gdbs),
    ("faults_name_known_bits_and_reasons", stops::faults_name_known_bits_and_reasons),
    ("trap_ids_are_unique", stops::trap_ids_are_unique),
    ("steppings_are_other_processors", save_area::steppings_are_other_processors),
    ("gdb_names_are_processors", gdb_names_are_processors),
    ("save_area_counts_are_possible", save_area::save_area_counts_are_possible),
    ("save_area_names_known_registers", save_area::save_area_names_known_registers),
    ("wave_words_are_possible", save_area::wave_words_are_possible),
];

/// Returns the names of all checks, in the order of execution.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FIRST.iter().chain(RULES).map(|(name, _)| *name)
}

/// Returns all problems of a file, at most fifty.
pub(super) fn all(file: &File) -> Vec<TargetFileError> {
    let mut report = Report { check: "", problems: Vec::new() };
    for checks in [FIRST, RULES] {
        for (name, check) in checks {
            report.check = name;
            check(file, &mut report);
        }
        if !report.problems.is_empty() {
            break;
        }
    }
    report.problems
}

/// Collects the problems of the checks.
struct Report {
    check: &'static str,
    problems: Vec<TargetFileError>,
}

impl Report {
    fn add(&mut self, block: impl Display, key: &'static str, what: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            let what = what.into();
            self.problems.push(TargetFileError { check: self.check, block: block.to_string(), key, what });
        }
    }
}

/// Iterates over all blocks: the heading for messages, the `source`, and the names that the block defines.
fn blocks(file: &File) -> impl Iterator<Item = (String, &str)> {
    let head = [
        ("[target]".to_owned(), file.target.source.as_str()),
        ("[sgprs]".to_owned(), file.sgprs.source.as_str()),
    ];
    let head = head
        .into_iter()
        .chain(file.save_area.iter().map(|area| ("[save_area]".to_owned(), area.source.as_str())))
        .chain(file.wave_words.iter().map(|words| ("[wave_words]".to_owned(), words.source.as_str())));
    let head = head.chain(file.stepping.iter().map(|one| (one.block(), one.source.as_str())));
    let reserved = file.dwarf_reserved.iter().map(|gap| (gap.block("dwarf_reserved"), &gap.source));
    let absent = file.dwarf_absent.iter().map(|gap| (gap.block("dwarf_absent"), &gap.source));
    let rest = file.register.iter().map(|block| (block.block(), &block.source));
    let rest =
        rest.chain(file.dbgapi_only.iter().map(|b| (format!("[[dbgapi_only]] {}", b.name), &b.source)));
    let rest = rest.chain(file.fields.iter().map(|block| (block.block(), &block.source)));
    let rest = rest.chain(reserved).chain(absent);
    let rest = rest.chain(file.space.iter().map(|block| (block.block(), &block.source)));
    let rest = rest.chain(file.space_reserved.iter().map(|gap| (gap.block(), &gap.source)));
    let rest = rest.chain(file.address_classes.iter().map(|table| (table.block(), &table.source)));
    let rest = rest.chain(file.stop_reason.iter().map(|block| (block.block(), &block.source)));
    let rest = rest.chain(file.faults.iter().map(|block| (block.block(), &block.source)));
    let rest = rest.chain(file.trap_id.iter().map(|block| (block.block(), &block.source)));
    head.chain(rest.map(|(block, source)| (block, source.as_str())))
}

fn counts_are_bounded(file: &File, report: &mut Report) {
    let registers: u32 = file.register.iter().map(|block| u32::from(block.name.count())).sum();
    if registers > MAX_REGISTERS {
        report.add("[[register]]", "name", format!("{registers} registers, at most {MAX_REGISTERS}"));
    }
    let classes = file.address_classes.iter().map(|table| table.class.len()).sum();
    let faults = file.faults.iter().map(|block| block.bits.len()).sum();
    let spaces = file.space.iter().map(|block| usize::from(block.name.count())).sum();
    let counts: [(&str, usize); 12] = [
        ("[[stepping]]", file.stepping.len()),
        ("[[dbgapi_only]]", file.dbgapi_only.len()),
        ("[[fields]]", file.fields.len()),
        ("[[dwarf_reserved]]", file.dwarf_reserved.len()),
        ("[[dwarf_absent]]", file.dwarf_absent.len()),
        ("[[space]]", spaces),
        ("[[space_reserved]]", file.space_reserved.len()),
        ("[[address_classes]]", file.address_classes.len().max(classes)),
        ("[[stop_reason]]", file.stop_reason.len()),
        ("[[faults]]", file.faults.len().max(faults)),
        ("[[trap_id]]", file.trap_id.len()),
        ("[[register]]", file.register.len()),
    ];
    for (block, count) in counts {
        if count > MAX_BLOCKS {
            report.add(block, "count", format!("{count}, at most {MAX_BLOCKS}"));
        }
    }
}

/// Names appear in packets, XML and command lines: any other character would need quoting.
fn names_are_plain(file: &File, report: &mut Report) {
    let word = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let steppings = file.stepping.iter().map(|one| (one.block(), &one.name));
    for (block, name) in std::iter::once(("[target]".to_owned(), &file.target.name)).chain(steppings) {
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            report.add(block, "name", format!("{name:?} is not letters, digits and dashes"));
        }
    }
    let names = file.register.iter().map(|block| (block.block(), &block.name.stem));
    let names = names.chain(file.space.iter().map(|block| (block.block(), &block.name.stem)));
    let names = names.chain(file.fields.iter().map(|block| (block.block(), &block.name)));
    let names = names.chain(file.stop_reason.iter().map(|block| (block.block(), &block.name)));
    for (block, name) in names {
        if !word(name) {
            report.add(block, "name", format!("{name:?} is not a word of letters, digits and underscores"));
        }
    }
    for block in &file.fields {
        for name in block.bits.keys() {
            if name.is_empty()
                || !name.split('.').all(|part| part.starts_with(char::is_numeric) || word(part))
            {
                report.add(block.block(), "bits", format!("{name:?} is not a field's name"));
            }
        }
    }
}

/// gdb derives the registers from the number that belongs to the name.
fn gdb_names_are_processors(file: &File, report: &mut Report) {
    let steppings = file.stepping.iter().map(|one| (one.block(), one.gdb.as_deref()));
    for (block, name) in [("[target]".to_owned(), file.target.gdb.as_deref())].into_iter().chain(steppings) {
        if let Some(name) = name.filter(|name| Processor::named(name).is_none()) {
            report.add(block, "gdb", format!("{name:?} is no processor"));
        }
    }
}

fn every_block_has_a_source(file: &File, report: &mut Report) {
    for (block, source) in blocks(file) {
        if source.trim().is_empty() {
            report.add(block, "source", "is empty; name the document and its section");
        }
    }
}

fn reject_duplicate_names(file: &File, report: &mut Report) {
    for size in file.target.sizes() {
        let mut seen = HashSet::new();
        for block in file.register.iter().filter(|block| block.dwords(size).is_some()) {
            for name in block.name.iter() {
                if let Some(name) = seen.replace(name) {
                    report.add(block.block(), "name", format!("{name} is the name of another register"));
                }
            }
        }
    }
    let mut seen = HashSet::new();
    for block in &file.space {
        for name in block.name.iter() {
            if let Some(name) = seen.replace(name) {
                report.add(block.block(), "name", format!("{name} is the name of another space"));
            }
        }
    }
    let mut seen = HashSet::new();
    for block in &file.fields {
        if !seen.insert(&block.name) {
            report.add(block.block(), "name", "is the name of another block of fields");
        }
    }
    let mut seen = HashSet::new();
    for block in &file.stop_reason {
        if !seen.insert(&block.name) {
            report.add(block.block(), "name", "is the name of another stop reason");
        }
    }
}
