//! Checks of registers: widths, aliases, named bits, and the order of AMD's library.

use super::Report;
use crate::arch::dbgapi;
use crate::arch::register::ValueType;
use crate::arch::schema::{Each, File, PerWave};
use crate::units::WaveSize;

pub(super) fn wave_sizes_are_known(file: &File, report: &mut Report) {
    let sizes = &file.target.wave_sizes;
    let twice = sizes.len() == 2 && sizes.first() == sizes.last();
    if !matches!(sizes.as_slice(), [32 | 64] | [32 | 64, 32 | 64]) || twice {
        report.add("[target]", "wave_sizes", format!("{sizes:?} is not 32, 64 or both"));
    }
    // The mach is the low byte of e_flags and 0 is "none".
    if !(1..=0xff).contains(&file.target.elf_machine) {
        let machine = file.target.elf_machine;
        report.add("[target]", "elf_machine", format!("{machine:#x} is not within 1 and 0xff"));
    }
}

pub(super) fn widths_are_possible(file: &File, report: &mut Report) {
    for block in &file.register {
        let widths = match block.bits {
            None => [None, None],
            Some(PerWave::Same(bits)) => [Some(bits), None],
            Some(PerWave::Each(Each { wave32, wave64 })) => [wave32, wave64],
        };
        match (block.value_type, block.bits) {
            (ValueType::Lanes, Some(_)) => {
                report.add(block.block(), "bits", "one dword a lane is a lanes register's width");
            }
            (ValueType::Lanes, None) => {}
            (_, None) => report.add(block.block(), "bits", "is missing"),
            (_, Some(_)) => {
                if let Some(bits) = widths.iter().flatten().find(|bits| ![32, 64].contains(*bits)) {
                    report.add(block.block(), "bits", format!("{bits} is not 32 or 64"));
                }
                if widths == [None, None] {
                    report.add(block.block(), "bits", "has no width for any wave size");
                }
            }
        }
    }
    for only in &file.dbgapi_only {
        if only.bits == 0 || only.bits % 32 != 0 || only.bits > 64 * 32 {
            let what = format!("{} is not a number of dwords up to 64", only.bits);
            report.add(format!("[[dbgapi_only]] {}", only.name), "bits", what);
        }
    }
}

/// The registers of every session: a wave's position, its active lanes, and its general registers.
pub(super) fn required_registers_present(file: &File, report: &mut Report) {
    for size in file.target.sizes() {
        let lanes = u16::from(size.lanes());
        let required = [
            ("pc", ValueType::CodePointer, 2),
            ("exec", ValueType::LaneMask, lanes / 32),
            ("vcc", ValueType::LaneMask, lanes / 32),
            ("s0", ValueType::Unsigned, 1),
            ("v0", ValueType::Lanes, lanes),
        ];
        for (name, value_type, dwords) in required {
            let block = file.register.iter().find(|block| block.name.at(0) == name);
            match block {
                None => report.add("[[register]]", "name", format!("there is no {name} in {size} waves")),
                Some(block) if block.value_type != value_type || block.dwords(size) != Some(dwords) => {
                    let what = format!("is to be {value_type:?} of {} bits in {size} waves", dwords * 32);
                    report.add(block.block(), "type", what);
                }
                Some(_) => {}
            }
        }
    }
}

pub(super) fn aliases_fit_the_sgprs(file: &File, report: &mut Report) {
    let sgprs = &file.sgprs;
    if sgprs.alias_limit > sgprs.most || sgprs.alias_limit == 0 {
        let what = format!("{} is not within 1 and {}, the most slots", sgprs.alias_limit, sgprs.most);
        report.add("[sgprs]", "alias_limit", what);
    }
    for size in file.target.sizes() {
        let mut taken: Vec<(u16, u16, String)> = Vec::new();
        for block in &file.register {
            let (Some(back), Some(dwords)) = (block.sgprs_from_end, block.dwords(size)) else { continue };
            let key = "sgprs_from_end";
            if block.name.run.is_some() || block.value_type == ValueType::Lanes {
                report.add(block.block(), key, "only a single scalar register can be such an alias");
            } else if back < dwords || back > sgprs.alias_limit {
                let what = format!("{back} is not within {dwords}, its width, and {}", sgprs.alias_limit);
                report.add(block.block(), key, what);
            }
            // Slots count from the end: this alias takes back, back - 1 ... back - dwords + 1.
            let low = back.saturating_sub(dwords.saturating_sub(1));
            if let Some((.., other)) = taken.iter().find(|(first, last, _)| low <= *last && *first <= back) {
                report.add(block.block(), key, format!("shares slots with {other}"));
            }
            taken.push((low, back, block.name.to_string()));
        }
    }
}

pub(super) fn fields_fit_their_register(file: &File, report: &mut Report) {
    for block in &file.register {
        let known = block.fields.as_ref().map(|name| file.fields.iter().find(|fields| fields.name == *name));
        match (block.value_type, known) {
            (ValueType::Flags, None) => report.add(block.block(), "fields", "is missing"),
            (ValueType::Flags, Some(None)) => report.add(block.block(), "fields", "there is no such block"),
            (ValueType::Flags, Some(Some(fields))) => {
                let bits = file.target.sizes().filter_map(|size| block.dwords(size)).min().unwrap_or(0) * 32;
                for (name, field) in &fields.bits {
                    if u16::from(field.high()) >= bits {
                        let what = format!("{name} ends at bit {}, {} has {bits}", field.high(), block.name);
                        report.add(fields.block(), "bits", what);
                    }
                }
            }
            (_, Some(_)) => report.add(block.block(), "fields", "only a flags register has them"),
            (_, None) => {}
        }
    }
    for block in &file.fields {
        if block.bits.is_empty() {
            report.add(block.block(), "bits", "there are none");
        }
        let mut by_bit: Vec<_> = block.bits.iter().collect();
        by_bit.sort_by_key(|(_, bits)| (bits.low(), bits.high()));
        for (name, bits) in &by_bit {
            if bits.low() > bits.high() {
                report.add(block.block(), "bits", format!("{name} is not [HIGH, LOW]"));
            }
        }
        for pair in by_bit.windows(2) {
            if let [(name, bits), (next, above)] = pair
                && above.low() <= bits.high()
            {
                report.add(block.block(), "bits", format!("{name} and {next} share bit {}", above.low()));
            }
        }
    }
}

/// The numbers define a packet's layout: they start at 0, without gaps or repeats. A file may have none.
pub(super) fn dbgapi_numbers_match_layout(file: &File, report: &mut Report) {
    for block in &file.register {
        let Some(dbgapi) = block.dbgapi else {
            if block.dbgapi_shadow.is_some() {
                report.add(block.block(), "dbgapi_shadow", "without dbgapi");
            }
            continue;
        };
        let mut widths: Vec<u16> = file.target.sizes().filter_map(|size| block.dwords(size)).collect();
        widths.dedup();
        if matches!(dbgapi, PerWave::Same(_)) && widths.len() > 1 {
            report.add(block.block(), "dbgapi", "its width depends on the wave size, so its number does too");
        }
    }
    let runs = dbgapi::runs(file, WaveSize::W64, &[]);
    let mut next = 0u32;
    for run in &runs {
        let first = u32::from(run.first);
        if first != next {
            let fault = if first < next { "is used twice" } else { "follows a gap" };
            report.add("[[register]]", "dbgapi", format!("{first} {fault}; the next number is {next}"));
        }
        next = first + u32::from(run.count);
    }
    if next > 1 << 16 {
        report.add("[[register]]", "dbgapi", format!("the numbers end at {next}"));
    }
}
