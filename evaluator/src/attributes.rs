//! Wave-wide attributes: the PC of each lane, and the active lanes.

use super::context::Context;
use super::error::{Cause, Error};
use super::fetch::Reader;
use super::machine::{Entry, Evaluator, Focus};
use super::operation::Program;
use super::value::{Number, Type};
use crate::units::{BitSize, LaneId, LaneSet, Pc};

/// Bits of one element of `DW_AT_LLVM_lane_pc`, a generic value.
const PC_BITS: u64 = 64;

/// Returns the PC of each lane according to `DW_AT_LLVM_lane_pc`; `None` for a lane that was inactive on entry to the
/// function (an undefined element). Without the attribute only active lanes have a PC, the wave's.
///
/// # Errors
/// The errors of the expression; ill-formed if the vector is shorter than the wave or an element partly undefined;
/// unavailable if an element was not captured.
pub fn lane_pcs(
    context: &dyn Context,
    program: &Program,
    lane: Option<LaneId>,
) -> Result<Vec<Option<Pc>>, Error> {
    let location = Evaluator::new(context).location_for(program, lane)?;
    let lanes = context.machine().wave_size().lanes();
    let at_end = |cause| Error { at: program.end(), op: "result", cause };
    let mut reader = Reader::new(context);
    (0..lanes)
        .map(|element| {
            let skip = u64::from(element) * PC_BITS;
            let bits = reader.bits(&location, skip, lane, BitSize(PC_BITS)).map_err(at_end)?;
            match bits.number() {
                Some(pc) => Ok(Some(Pc(pc))),
                None if bits.is_undefined() => Ok(None),
                // The error names the missing element.
                None => {
                    reader.word(&location, skip, PC_BITS as u32, lane).map(|pc| Some(Pc(pc))).map_err(at_end)
                }
            }
        })
        .collect()
}

/// Returns the mask of active lanes according to `DW_AT_LLVM_active_lane`: a value (2020 AMDGPU text), or a location
/// read as an integer with a bit for each lane (LLVM's later document). The default is the execution mask.
///
/// # Errors
/// The errors of the expression or of reading its location.
pub fn active_lanes(context: &dyn Context, program: &Program, lane: Option<LaneId>) -> Result<Number, Error> {
    let at_end = |cause| Error { at: program.end(), op: "result", cause };
    let groups = Evaluator::new(context).stack(program, Focus::from(lane), &[]);
    let stack = groups.into_iter().next().map_or_else(|| Ok(Vec::new()), |group| group.result)?;
    let bits = u32::from(context.machine().wave_size().lanes());
    match stack.last().map(|entry| entry.at(lane.unwrap_or_default())) {
        Some(Entry::Number(number)) if number.ty().is_integral() => Ok(number),
        Some(Entry::Number(_)) => {
            let (need, found) = ("an integral value", "a value of another type");
            Err(at_end(Cause::Kind { need, found }))
        }
        Some(Entry::Location(location)) => {
            let mask = Reader::new(context).word(&location, 0, bits, lane).map_err(at_end)?;
            Ok(Number::from_limbs(Type::unsigned(bits), &[mask]))
        }
        Some(Entry::Pointer(_)) => Err(at_end(Cause::ImplicitPointerMisused)),
        Some(Entry::Incomplete(_)) => Err(at_end(Cause::Incomplete)),
        None => Err(at_end(Cause::StackUnderflow { need: 1, have: 0 })),
    }
}

/// Converts a mask to lanes of the wave.
#[must_use]
pub fn mask_lanes(context: &dyn Context, mask: &Number) -> LaneSet {
    LaneSet(mask.low().get(LaneId(0))).and(context.machine().wave_size().all())
}
