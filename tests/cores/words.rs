//! A wave's SGPR slots, hardware registers and trap temporaries, as in the file.
//!
//! Hardware registers and trap temporaries are [`Bits`]: meaningful bits over noise.

use super::filler::{self, Filling};
use super::gpu::{Bits, Family};
use super::plan::{Agent, Cause, Group, Plan, Queue, Raised, Wave};
use super::queue;

pub(crate) struct Words {
    pub(crate) scalars: Vec<u32>,
    pub(crate) hardware: [Bits; 16],
    pub(crate) traps: [Bits; 16],
}

/// Identity of a wave. Its index among all waves of the core selects the filler.
#[derive(Clone, Copy)]
pub(crate) struct Of<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) agent: &'a Agent,
    pub(crate) queue: &'a Queue,
    pub(crate) queue_index: usize,
    pub(crate) xcc: usize,
    pub(crate) group: &'a Group,
    pub(crate) wave: &'a Wave,
    pub(crate) index: u32,
}

const fn whole(value: u32) -> Bits {
    Bits { value, mask: u32::MAX }
}

/// The slot after the last alias: gfx9 has 102 SGPRs and six aliases, later generations 106 and two.
pub(crate) fn alias_end(sgprs: u32) -> u32 {
    sgprs.min(108)
}

pub(crate) fn words(of: Of<'_>) -> Words {
    let (family, wave) = (of.agent.gpu.family, of.wave);
    let mut scalars: Vec<u32> = (0..wave.counts.sgprs)
        .map(|slot| filler::word(of.plan.seed, Filling::Scalar, of.index, slot, 0))
        .collect();
    for (slot, value) in &wave.scalars {
        scalars[*slot as usize] = *value;
    }
    let base = queue::scratch(of).map(|(address, _)| address);
    if let (true, Some(base)) = (family.is_aqua(), base) {
        let slot = alias_end(wave.counts.sgprs) as usize - 6;
        (scalars[slot], scalars[slot + 1]) = (base as u32, (base >> 32) as u32);
    }
    Words { scalars, hardware: hardware(of, base), traps: traps(of) }
}

fn causes(wave: &Wave) -> &[Raised] {
    wave.stop.as_ref().map_or(&[], |stop| &stop.causes)
}

/// STATUS, or the remaining bits of it on gfx12.
pub(crate) fn status(of: Of<'_>) -> u32 {
    let wave = of.wave;
    let mut status = wave.status;
    assert!(status & (1 << 5 | 1 << 13 | 1 << 18) == 0);
    if wave.no_vgprs {
        status |= 1 << 24;
    }
    if of.agent.gpu.family.is_gfx12() {
        return status | u32::from(wave.stop.is_some()) << 5;
    }
    if wave.stop.is_some() {
        status |= 1 << 5 | 1 << 13;
        // Trap handlers of earlier runtimes did not mark STATUS when they halted a wave.
        status |= u32::from(of.plan.process.r_version >= 10) << 18;
    } else if wave.halted {
        status |= 1 << 13;
    }
    status
}

/// gfx12's STATE_PRIV as stored.
pub(crate) fn state_priv(of: Of<'_>) -> u32 {
    let noise = filler::word(of.plan.seed, Filling::Hardware, of.index, 5, 0) & 0x001d_3e07;
    noise | u32::from(of.wave.stop.is_some() || of.wave.halted) << 14
}

/// TRAPSTS of gfx9 to gfx11 as stored, with noise in the bits that are not exceptions of the generation.
pub(crate) fn trapsts(of: Of<'_>) -> u32 {
    exceptions(of).over(filler::word(of.plan.seed, Filling::Hardware, of.index, 6, 0))
}

/// Exception bits.
pub(crate) fn exceptions(of: Of<'_>) -> Bits {
    let family = of.agent.gpu.family;
    let mut bits = Bits::default();
    for bit in (0..9).chain(11..15).chain([28]) {
        bits.flag(bit, false);
    }
    match family {
        Family::Aqua | Family::Gfx950 => bits.set(26, 22, 0),
        Family::Navi3 => bits.set(20, 16, 0),
        _ => {}
    }
    for raised in causes(of.wave) {
        let bit = match raised.cause {
            Cause::Invalid => 0,
            Cause::InputDenormal => 1,
            Cause::DivideByZero => 2,
            Cause::Overflow => 3,
            Cause::Underflow => 4,
            Cause::Inexact => 5,
            Cause::IntegerDivideByZero => 6,
            Cause::Watch(0) => 7,
            Cause::Watch(number) => 11 + number,
            Cause::Address => 8,
            Cause::Illegal => 11,
            Cause::Page => 28,
            Cause::Host if family.is_aqua() => 22,
            Cause::WaveStart if family.is_aqua() => 23,
            Cause::WaveEnd if family.is_aqua() => 24,
            Cause::AfterInstruction if family.is_aqua() => 25,
            Cause::Host if family == Family::Navi3 => 16,
            Cause::WaveStart if family == Family::Navi3 => 17,
            Cause::WaveEnd if family == Family::Navi3 => 18,
            Cause::AfterInstruction if family == Family::Navi3 => 20,
            cause => panic!("{} has no {cause:?}", of.agent.gpu.name),
        };
        bits.flag(bit, true);
    }
    bits
}

pub(crate) fn excp_flag_priv(of: Of<'_>) -> u32 {
    let mut flags = filler::word(of.plan.seed, Filling::Hardware, of.index, 6, 0) & 0xc000_0020;
    for raised in causes(of.wave) {
        flags |= match raised.cause {
            Cause::Watch(number) => 1 << number,
            Cause::Address => 1 << 4,
            Cause::Illegal => 1 << 6,
            Cause::Host => 1 << 7,
            Cause::WaveStart => 1 << 8,
            Cause::WaveEnd => 1 << 9,
            Cause::AfterInstruction => 1 << 11,
            Cause::Page => 1 << 12,
            _ => 0,
        };
    }
    flags
}

fn arithmetic(cause: Cause) -> Option<u32> {
    match cause {
        Cause::Invalid => Some(0),
        Cause::InputDenormal => Some(1),
        Cause::DivideByZero => Some(2),
        Cause::Overflow => Some(3),
        Cause::Underflow => Some(4),
        Cause::Inexact => Some(5),
        Cause::IntegerDivideByZero => Some(6),
        _ => None,
    }
}

pub(crate) fn excp_flag_user(of: Of<'_>) -> u32 {
    let noise = filler::word(of.plan.seed, Filling::Hardware, of.index, 11, 0) & 0xc000_0000;
    causes(of.wave)
        .iter()
        .filter_map(|raised| arithmetic(raised.cause))
        .fold(noise, |flags, bit| flags | 1 << bit)
}

pub(crate) fn trap_ctrl(of: Of<'_>) -> u32 {
    let enabled = causes(of.wave).iter().filter(|raised| raised.enabled);
    enabled.fold(0, |flags, raised| {
        flags
            | match raised.cause {
                Cause::Watch(_) => 1 << 7,
                Cause::WaveEnd => 1 << 8,
                Cause::AfterInstruction => 1 << 9,
                cause => arithmetic(cause).map_or(0, |bit| 1 << bit),
            }
    })
}

pub(crate) fn mode(of: Of<'_>) -> u32 {
    let family = of.agent.gpu.family;
    if family.is_gfx12() {
        return of.wave.mode;
    }
    let enabled = causes(of.wave).iter().filter(|raised| raised.enabled);
    enabled.fold(of.wave.mode, |mode, raised| {
        mode | match raised.cause {
            Cause::Watch(_) => 1 << 19,
            Cause::WaveEnd => 1 << 21,
            Cause::AfterInstruction if family == Family::Navi3 => 1 << 11,
            cause => arithmetic(cause).map_or(0, |bit| 1 << (12 + bit)),
        }
    })
}

/// The PC in the hardware register.
pub(crate) fn hardware_pc(wave: &Wave) -> u64 {
    wave.stop.as_ref().and_then(|stop| stop.parked_at).unwrap_or(wave.pc)
}

fn hardware(of: Of<'_>, scratch: Option<u64>) -> [Bits; 16] {
    let (family, wave) = (of.agent.gpu.family, of.wave);
    let noise = |slot| filler::word(of.plan.seed, Filling::Hardware, of.index, slot, 0);
    let mut slots = [Bits::default(); 16];
    let pc = hardware_pc(wave);
    slots[0] = whole(noise(0));
    slots[1] = whole(pc as u32);
    slots[2] = whole((pc >> 32) as u32);
    slots[3] = whole(wave.exec as u32);
    if wave.counts.lanes == 64 {
        slots[4] = whole((wave.exec >> 32) as u32);
    }
    let flat = |slots: &mut [Bits; 16]| {
        let base = scratch.unwrap_or(u64::from(noise(10)) << 32 | u64::from(noise(9)));
        slots[9] = whole(base as u32);
        slots[10] = whole((base >> 32) as u32);
    };
    match family {
        Family::Navi4 | Family::Gfx125 => {
            slots[5] = whole(state_priv(of));
            slots[6] = whole(excp_flag_priv(of));
            if family == Family::Gfx125 {
                // xnack_mask
                slots[7] = whole(noise(7));
            }
            slots[8] = whole(mode(of));
            flat(&mut slots);
            slots[11] = whole(excp_flag_user(of));
            slots[12] = whole(trap_ctrl(of));
            slots[13] = whole(status(of));
        }
        Family::Navi1 | Family::Navi2 | Family::Navi3 => {
            slots[5] = whole(status(of));
            slots[6] = exceptions(of);
            slots[7] = whole(noise(7));
            slots[8] = whole(mode(of));
            flat(&mut slots);
        }
        _ => {
            slots[5] = whole(status(of));
            slots[6] = exceptions(of);
            slots[7] = whole(noise(7));
            slots[8] = whole(noise(8));
            slots[9] = whole(mode(of));
        }
    }
    slots
}

/// Whether the trap handler (on gfx94x and gfx12 its marks) or the dispatcher has written TTMP6.
fn has_trap_word(of: Of<'_>) -> bool {
    let family = of.agent.gpu.family;
    if family.is_gfx12() || family.is_aqua() {
        !of.wave.unmarked
    } else {
        of.plan.has_dispatch_info(of.agent) || (of.wave.stop.is_some() && of.plan.process.r_version >= 10)
    }
}

fn traps(of: Of<'_>) -> [Bits; 16] {
    let Of { plan, agent, queue, group, wave, .. } = of;
    let family = agent.gpu.family;
    assert!(!(wave.no_dispatch_info && family.is_gfx12()), "{}: always filled", plan.name);
    let mut slots = [Bits::default(); 16];
    let info = plan.has_dispatch_info(agent) && !wave.no_dispatch_info;
    let packet = (group.dispatch % u64::from(queue.packets)) as u32;
    let [x, y, z] = group.position;
    if has_trap_word(of) {
        let word = &mut slots[6];
        match &wave.stop {
            Some(stop) => {
                word.flag(29, stop.halted);
                word.flag(30, true);
                if family != Family::Gfx125 {
                    word.set(28, 25, stop.trap);
                }
            }
            None => word.flag(30, false),
        }
        // gfx12's dispatcher always fills them, and its handlers use the bit for another purpose.
        if plan.process.r_version >= 10 && !family.is_gfx12() {
            word.flag(31, wave.no_dispatch_info);
        }
        if info && !family.is_aqua() && !family.is_gfx12() {
            word.set(24, 0, packet);
        }
        if let (Some(stop), Family::Gfx125) = (&wave.stop, family) {
            slots[11].set(31, 28, stop.trap);
        }
    } else if wave.unmarked {
        // A reader that ignores the marks reports a wave stopped by trap 1.
        slots[6].set(30, 25, 0b10_0001);
        if family == Family::Gfx125 {
            slots[11].set(31, 28, 1);
        }
    }
    if family.is_aqua() {
        slots[11].flag(31, !wave.unmarked);
        if info {
            slots[11].set(30, 6, packet);
        }
    }
    if family.is_gfx12() {
        let word = &mut slots[8];
        word.flag(31, !wave.unmarked);
        if info {
            word.flag(30, [y, z] != [0, 0]);
            word.set(29, 25, group_index(wave));
            word.set(24, 0, packet);
            slots[9] = whole(x);
            if [y, z] != [0, 0] {
                slots[7].set(15, 0, y);
                slots[7].set(31, 16, z);
            }
        }
    } else if info {
        (slots[8], slots[9], slots[10]) = (whole(x), whole(y), whole(z));
        slots[11].set(5, 0, group_index(wave));
    }
    if let Some(stop) = wave.stop.as_ref().filter(|stop| stop.parked_at.is_some()) {
        assert!(!family.is_aqua() && family != Family::Navi2, "{} does not park", agent.gpu.name);
        assert!(stop.parked_at != Some(wave.pc));
        slots[if family.is_gfx12() { 10 } else { 7 }] = whole(wave.pc as u32);
        slots[11].set(22, 7, (wave.pc >> 32) as u32);
    }
    slots
}

fn group_index(wave: &Wave) -> u32 {
    wave.in_group
}

/// Trap temporaries over the noise of their slots.
pub(crate) fn trap_words(of: Of<'_>, traps: &[Bits; 16]) -> Vec<u32> {
    let noise = |slot| filler::word(of.plan.seed, Filling::Trap, of.index, slot, 0);
    (0u32..).zip(traps).map(|(slot, bits)| bits.over(noise(slot))).collect()
}

/// Hardware registers over the noise of their slots.
pub(crate) fn hardware_words(of: Of<'_>, slots: &[Bits; 16]) -> Vec<u32> {
    let noise = |slot| filler::word(of.plan.seed, Filling::Hardware, of.index, slot, 0);
    let known = (0u32..).zip(slots).map(|(slot, bits)| bits.over(noise(slot)));
    known.chain((16..of.agent.gpu.family.hardware_slots()).map(noise)).collect()
}
