//! Arithmetic exceptions: the last instruction before the PC that can raise them, and the operands that explain it.

use super::innermost;
use crate::isa::{Effects, ReadRegister as _, RegisterRange, named_registers};
use crate::session::{Inspect, WaveInfo};
use crate::triage::listings::{CodeAt, Decoded, Listing, Listings};
use crate::triage::registers::WaveRegisters;
use crate::triage::{Arithmetic, Cause};
use crate::units::{LaneId, LaneSet};

/// Maximum number of instructions from the one that raises an exception to the PC.
const MAX_DISTANCE: usize = 32;

/// The arithmetic exception of a wave.
pub(super) fn describe(session: &dyn Inspect, info: &WaveInfo, code: &mut Listings) -> Cause {
    let reasons = info.stop.iter().flatten();
    let exceptions: Vec<&String> =
        reasons.filter(|name| name.starts_with("fp_") || *name == "int_divide_by_0").collect();
    let found = info.pc.and_then(|pc| {
        let listing = code.around(CodeAt { session, wave: info.wave, address: pc.0 })?.ok()?;
        let index = raiser(&listing, pc.0, &exceptions)?;
        let one = listing.instructions.get(index)?;
        let operands = operands(session, info, &listing, index, pc.0, &exceptions);
        Some(((one.address, one.text.clone()), operands))
    });
    let (instruction, operands) = found.map_or((None, Vec::new()), |(one, operands)| (Some(one), operands));
    Cause::Arithmetic(Arithmetic {
        kinds: exceptions.iter().map(|name| name.to_uppercase()).collect(),
        at: innermost(session, info),
        instruction,
        operands,
        wave: info.wave,
    })
}

/// The last instruction in the code before a PC that can raise one of the exceptions.
fn raiser(listing: &Listing, pc: u64, exceptions: &[&String]) -> Option<usize> {
    let at = listing.index(pc).or_else(|| listing.instructions.len().checked_sub(1))?;
    let can_raise = |index: &usize| {
        let text = listing.instructions.get(*index).map_or("", |one| one.text.as_str());
        exceptions.iter().any(|name| raises(text, name))
    };
    (0..at).rev().take(MAX_DISTANCE).find(can_raise)
}

/// Whether an instruction can raise an exception, by its mnemonic. IEEE 754: a division by zero is an exact infinite
/// result of finite operands. LLVM divides integers by `v_rcp_iflag_f32`, which raises INT_DIV0 alone.
fn raises(text: &str, exception: &str) -> bool {
    let mnemonic = text.split_whitespace().next().unwrap_or_default();
    let Some(operation) = mnemonic.strip_prefix("v_").or_else(|| mnemonic.strip_prefix("s_")) else {
        return false;
    };
    let is_iflag = operation.starts_with("rcp_iflag");
    let is_float = operation.contains("_f16") || operation.contains("_f32") || operation.contains("_f64");
    let divides = ["rcp_", "rsq_", "log_", "div_fixup_", "s_rcp_", "s_rsq_", "s_log_"];
    let moves = ["mov", "cndmask", "cmp_class", "cmpx_class"].iter().any(|name| operation.starts_with(name));
    match exception {
        "int_divide_by_0" => is_iflag,
        "fp_divide_by_0" => divides.iter().any(|name| operation.starts_with(name)) && is_float && !is_iflag,
        _ => is_float && !is_iflag && !moves,
    }
}

/// The operands that explain an exception, by lane: those that no later instruction has replaced.
fn operands(
    session: &dyn Inspect,
    info: &WaveInfo,
    listing: &Listing,
    index: usize,
    pc: u64,
    exceptions: &[&String],
) -> Vec<(LaneId, String)> {
    let Some(one) = listing.instructions.get(index) else { return Vec::new() };
    let Ok(effects) = &one.effects else { return Vec::new() };
    let until = listing.instructions.iter().skip(index).take_while(|one| one.address < pc);
    let writes = |range: &RegisterRange, one: &Decoded| {
        let replaces = |effects: &Effects| effects.writes.iter().any(|write| write.range.overlaps(*range));
        one.effects.as_ref().map_or(true, replaces)
    };
    let later: Vec<&Decoded> = until.collect();
    let sources = sources(&one.text, effects);
    let kept = sources.iter().filter(|range| !later.iter().any(|one| writes(range, one)));
    let registers = WaveRegisters::new(session, info.wave);
    let lanes: Vec<LaneId> = info.exec.unwrap_or(LaneSet::EMPTY).iter().collect();
    let bits = if one.text.contains("_f64") { 64 } else { 32 };
    let mut found = Vec::new();
    for range in kept.filter(|range| range.count == bits / 32) {
        for lane in &lanes {
            let dword = |index| registers.dword(range.file, range.first + index, *lane);
            let value = match bits {
                64 => dword(0)
                    .zip(dword(1))
                    .map(|(low, high)| Float::of(f64::from_bits(u64::from(low) | u64::from(high) << 32))),
                _ => dword(0).map(|bits| Float::of_f32(f32::from_bits(bits))),
            };
            let explained =
                value.filter(|value| exceptions.iter().any(|name| value.explains(name, &one.text)));
            found.extend(explained.map(|value| (*lane, format!("{} = {}", name(*range), value.text))));
        }
    }
    found
}

/// The registers that an instruction reads; of `v_div_fixup` the denominator, its second operand.
fn sources(text: &str, effects: &Effects) -> Vec<RegisterRange> {
    let mut named = named_registers(text);
    for write in &effects.writes {
        if let Some(at) = named.iter().position(|range| *range == write.range) {
            named.remove(at);
        }
    }
    match named.get(1) {
        Some(denominator) if text.starts_with("v_div_fixup") => vec![*denominator],
        _ => named,
    }
}

fn name(range: RegisterRange) -> String {
    let file = if range.file.is_vector() { 'v' } else { 's' };
    match range.count {
        1 => format!("{file}{}", range.first),
        count => format!("{file}[{}:{}]", range.first, range.first + count - 1),
    }
}

/// An operand.
struct Float {
    text: String,
    is_zero: bool,
    is_special: bool,
    is_negative: bool,
    is_denormal: bool,
}

impl Float {
    fn of(value: f64) -> Self {
        Self {
            text: value.to_string(),
            is_zero: value == 0.0,
            is_special: !value.is_finite(),
            is_negative: value < 0.0,
            is_denormal: value.is_subnormal(),
        }
    }

    fn of_f32(value: f32) -> Self {
        Self { text: value.to_string(), is_denormal: value.is_subnormal(), ..Self::of(value.into()) }
    }

    /// Whether it explains an exception of an instruction.
    fn explains(&self, exception: &str, text: &str) -> bool {
        let has_no_negatives = ["v_sqrt", "v_rsq", "v_log"].iter().any(|name| text.starts_with(name));
        match exception {
            "fp_divide_by_0" | "int_divide_by_0" => self.is_zero,
            "fp_invalid_operation" => self.is_special || self.is_negative && has_no_negatives,
            "fp_input_denormal" => self.is_denormal,
            _ => false,
        }
    }
}
