//! Vector registers that code uses as addresses of LDS.

use super::access::{Form, LdsBase};
use super::registers::{RegisterFile, RegisterRange};
use super::text::Line;
use super::{addends, decode};
use crate::arch::Generation;

/// Maximum number of registers of a sum.
const MAX_WRITTEN: u16 = 2;

/// Whether instructions, in the order of their addresses, access LDS at the address in a vector register, or at a sum
/// with it. The register has one value in all of them.
#[must_use]
pub fn is_lds_address<'t>(
    code: impl IntoIterator<Item = &'t str>,
    register: u16,
    generation: Generation,
) -> bool {
    // The registers with the address, or with a sum.
    let mut sums = vec![register];
    for text in code {
        let Ok(effects) = decode(text, generation) else { continue };
        if let Some(Form::Lds { base: LdsBase::Lane(base), .. }) = effects.access.map(|access| access.form)
            && sums.contains(&base.first)
        {
            return true;
        }
        let writes = effects.writes.iter().map(|write| write.range);
        let written: Vec<RegisterRange> = writes.filter(|range| range.file == RegisterFile::Vector).collect();
        let short = written.iter().filter(|range| range.count <= MAX_WRITTEN);
        let numbers = short.flat_map(|range| range.first..range.first.saturating_add(range.count));
        let is_sum = |number: &u16| summands(text, *number).iter().any(|of| sums.contains(of));
        let new: Vec<u16> = numbers.filter(|number| *number != register).filter(is_sum).collect();
        let is_kept = |number: u16| {
            let own = RegisterRange::new(RegisterFile::Vector, number, 1);
            number == register || !written.iter().any(|range| range.overlaps(own))
        };
        sums.retain(|number| is_kept(*number));
        sums.extend(new);
    }
    false
}

/// The vector registers of which an instruction writes the sum to a register, without scaled ones.
fn summands(text: &str, written: u16) -> Vec<u16> {
    let wanted = (RegisterFile::Vector, written);
    let vector = |(file, number): (RegisterFile, u16)| (file == RegisterFile::Vector).then_some(number);
    if let Some(found) = addends(text, wanted) {
        return found.into_iter().filter_map(vector).collect();
    }
    let Some(line) = Line::parse(text).filter(|line| matches!(line.suffix, "" | "e32" | "e64")) else {
        return Vec::new();
    };
    let register =
        |index: usize| RegisterRange::parse(line.operand(index)?).map(|range| (range.file, range.first));
    if register(0) != Some(wanted) {
        return Vec::new();
    }
    // Compilers write a sum without carries as `or`.
    let used: &[usize] = match line.mnemonic {
        "v_lshl_add_u32" | "v_lshl_or_b32" | "v_and_or_b32" | "v_mad_u32_u24" | "v_mad_i32_i24" => &[3],
        "v_add3_u32" | "v_or3_b32" => &[1, 2, 3],
        "v_or_b32" => &[1, 2],
        _ => &[],
    };
    used.iter().filter_map(|index| vector(register(*index)?)).collect()
}
