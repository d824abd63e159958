//! Checks of `[save_area]`, `[wave_words]` and of steppings.

use std::collections::HashSet;

use super::Report;
use crate::arch::save_area::{BitRange, BySize, Count, RegisterBit, SaveArea, TtmpBits};
use crate::arch::schema::File;

/// Number of hardware register slots that are read, and of trap temporaries.
const SLOTS: u8 = 16;

/// Maximum width of a count field in bits; no processor has a wider one.
const WIDEST: u8 = 10;

/// Maximum granule of a count: the largest LDS.
const LARGEST: u32 = 1 << 17;

pub(super) fn steppings_are_other_processors(file: &File, report: &mut Report) {
    let mut names = HashSet::from([&file.target.name]);
    let mut machines = HashSet::from([file.target.elf_machine]);
    for stepping in &file.stepping {
        let block = stepping.block();
        if !names.insert(&stepping.name) {
            report.add(&block, "name", "is taken");
        }
        if !machines.insert(stepping.elf_machine) || !(1..=0xff).contains(&stepping.elf_machine) {
            report.add(&block, "elf_machine", "is taken, or not within 1 and 0xff");
        }
    }
}

pub(super) fn save_area_counts_are_possible(file: &File, report: &mut Report) {
    let Some(area) = &file.save_area else { return };
    let block = "[save_area]";
    if !(1..=2).contains(&area.state_words) {
        report.add(block, "state_words", format!("{} is not 1 or 2", area.state_words));
    }
    if area.sgpr_slots.is_some() == area.state.sgprs.is_some() {
        report.add(block, "sgpr_slots", "set exactly one of this and state.sgprs: the number of SGPRs");
    }
    if area.sgpr_slots.is_some_and(|slots| slots > 1024) || area.gap > 4096 {
        report.add(block, "gap", "or sgpr_slots is larger than a wave");
    }
    if !(u32::from(SLOTS)..=1024).contains(&area.hwreg_slots) {
        report.add(block, "hwreg_slots", format!("{} is not within {SLOTS} and 1024", area.hwreg_slots));
    }
    if area.ttmps_in_sgprs && area.sgpr_slots.is_none_or(|slots| slots < SLOTS.into()) {
        report.add(block, "ttmps_in_sgprs", format!("needs at least {SLOTS} sgpr_slots"));
    }
    if area.state.accum_as_vgprs && area.state.accum_offset.is_some() {
        report.add(block, "state", "has both accum_offset and accum_as_vgprs");
    }
    let state = &area.state;
    let counts = [
        ("vgprs", Some(&state.vgprs)),
        ("accum_offset", state.accum_offset.as_ref()),
        ("sgprs", state.sgprs.as_ref()),
        ("lds", Some(&state.lds)),
        ("shared_vgprs", state.shared_vgprs.as_ref()),
    ];
    for (key, count) in counts {
        if count.is_some_and(|count| !is_possible(count)) {
            report.add("[save_area.state]", "count", format!("{key} is no count that a processor has"));
        }
    }
    for (key, bits) in ranges(area) {
        if bits.low > bits.high || bits.high > 31 {
            report.add(
                block,
                "bits",
                format!("{key}: {} to {} are not bits of a dword", bits.high, bits.low),
            );
        }
    }
    if area.scratch.granule == 0 || area.scratch.granule > LARGEST {
        report.add("[save_area.scratch]", "granule", format!("{} bytes", area.scratch.granule));
    }
}

fn is_possible(count: &Count) -> bool {
    let times = match count.times {
        BySize::Same(times) => [times, times],
        BySize::Each { wave32, wave64 } => [wave32, wave64],
    };
    let bits = count.bits;
    bits.low <= bits.high
        && bits.high < 32
        && bits.width() <= WIDEST
        && count.plus <= 1
        && times.iter().all(|times| (1..=LARGEST).contains(times))
}

fn ranges(area: &SaveArea) -> impl Iterator<Item = (&'static str, BitRange)> + '_ {
    let wave = &area.wave;
    let word = [
        ("wave.scoreboard", wave.scoreboard),
        ("wave.engine", wave.engine),
        ("wave.scratch", wave.scratch),
        ("wave.first", wave.first),
        ("wave.last", wave.last),
        ("scratch.waves", area.scratch.waves),
        ("scratch.size", area.scratch.size),
    ];
    let wave32 = area.state.wave32.map(|bits| ("state.wave32", bits));
    word.into_iter().chain(wave32).chain(ttmps(area).map(|bits| ("ttmps", bits.bits)))
}

fn ttmps(area: &SaveArea) -> impl Iterator<Item = TtmpBits> + '_ {
    let ttmps = &area.ttmps;
    let all = [ttmps.x, ttmps.y, ttmps.z, ttmps.wave_in_group, ttmps.packet, ttmps.stopped];
    let some = [ttmps.has_yz, ttmps.absent, ttmps.mark];
    let parked = area.parked.iter().flat_map(|parked| [parked.low, parked.high]);
    all.into_iter().chain([ttmps.halt, ttmps.trap_id]).chain(some.into_iter().flatten()).chain(parked)
}

pub(super) fn save_area_names_known_registers(file: &File, report: &mut Report) {
    let Some(area) = &file.save_area else { return };
    let block = "[save_area]";
    let is_known = |name: &str| file.register.iter().any(|block| block.name.iter().any(|one| one == name));
    let mut names: Vec<&str> = area.hwregs.keys().map(String::as_str).collect();
    names.extend(area.hidden.iter().map(|hidden| hidden.register.as_str()));
    names.extend(
        [Some(&area.halt), area.no_vgprs.as_ref()].into_iter().flatten().map(|bit| bit.register.as_str()),
    );
    names.extend(area.stale_sgprs.iter().map(|stale| stale.register.as_str()));
    names.extend(area.scratch.base.as_deref());
    for name in names {
        if !is_known(name) {
            report.add(block, "hwregs", format!("there is no register {name}"));
        }
    }
    for needed in ["pc", "exec", "status"] {
        if !area.hwregs.contains_key(needed) {
            report.add(block, "hwregs", format!("{needed} has no slot"));
        }
    }
    if let Some((name, slot)) = area.hwregs.iter().find(|(_, slot)| **slot >= SLOTS) {
        report.add(block, "hwregs", format!("{name}: slot {slot} of {SLOTS}"));
    }
    // A field rewritten for the user must be read from a slot first.
    let bits = [Some(&area.halt), area.no_vgprs.as_ref()].into_iter().flatten();
    let bits = bits.map(|RegisterBit { register, bit }| (register, *bit));
    let hidden = area.hidden.iter().flat_map(|one| one.bits.iter().map(move |bit| (&one.register, *bit)));
    for (register, bit) in bits.chain(hidden) {
        if bit > 31 || !area.hwregs.contains_key(register) {
            report.add(block, "hwregs", format!("{register} has no slot, or no bit {bit}"));
        }
    }
    if ttmps(area).any(|bits| bits.ttmp >= SLOTS) {
        report.add("[save_area.ttmps]", "ttmp", format!("names one beyond ttmp{}", SLOTS - 1));
    }
    if area.ttmps.skip_export.is_some_and(|bit| bit > 31) {
        report.add("[save_area.ttmps]", "skip_export", "is no bit of STATUS");
    }
}

pub(super) fn wave_words_are_possible(file: &File, report: &mut Report) {
    let Some(words) = &file.wave_words else { return };
    let block = "[wave_words]";
    if words.wave64.is_some() != (file.target.wave_sizes.len() > 1) {
        report.add(block, "wave64", "is for targets with two wave sizes, and for all of them");
    }
    let bits = [("wave64", &words.wave64), ("trap_handler", &words.trap_handler)];
    for (key, bit) in bits.into_iter().filter_map(|(key, bit)| Some((key, bit.as_ref()?))) {
        if bit.bit > 31 || bit.register.is_empty() {
            report.add(block, key, format!("{} of {:?} is no bit of a dword", bit.bit, bit.register));
        }
    }
    if words.sgprs.as_ref().is_some_and(|sgprs| sgprs.register.is_empty() || !is_possible(&sgprs.count)) {
        report.add(block, "sgprs", "is no count that a processor has");
    }
}
