//! Illegal instructions: the bytes at the PC, and the processors on which they are an instruction. The wave's own is the
//! first.
//!
//! `amd-dbgapi.h`: the PC of such a stop is that of the instruction.

use super::innermost;
use crate::arch::Processor;
use crate::session::{Inspect, Instructions, ObjectCause, WaveInfo};
use crate::triage::{Cause, Foreign};
use crate::units::WaveSize;

/// A processor of each encoding. Waves of the last one have 32 lanes.
const ENCODINGS: [&str; 9] =
    ["gfx803", "gfx906", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1200", "gfx1250"];
const ONLY_WAVE32: &str = "gfx1250";

/// The illegal instruction of a wave.
pub(super) fn describe(session: &dyn Inspect, info: &WaveInfo) -> Cause {
    let at = innermost(session, info);
    let address = info.pc.map_or(0, |pc| pc.0);
    let decode = |processor: Option<&'static str>| {
        let asked =
            Instructions { address: Some(address), count: Some(1), processor, ..Instructions::default() };
        session.disassemble(info.wave, &asked).ok().filter(|_| info.pc.is_some())
    };
    let own = decode(None);
    let bytes = own.as_ref().and_then(|own| own.instructions.first()).map(|one| one.bytes.clone());
    let gpu = &info.kind.target;
    let compiled_for = foreign(session, address).or_else(|| {
        let processor = Processor::named(&own.as_ref()?.processor)?;
        (!processor.runs_on_target(gpu)).then(|| processor.name.to_owned())
    });
    let by_gpu = match Processor::named(&gpu.name) {
        Some(processor) if own.as_ref().is_some_and(|own| own.processor != processor.name) => {
            decode(Some(processor.name))
        }
        _ => own.clone(),
    };
    let legal = by_gpu.and_then(|by_gpu| by_gpu.instructions.into_iter().next());
    let legal = legal.filter(|one| one.code.is_decoded()).map(|one| one.code.text().into_owned());
    let others = ENCODINGS.into_iter().filter(|_| legal.is_none()).filter(|name| {
        let is_known = own.as_ref().is_some_and(|own| own.processor == *name) || gpu.name == *name;
        let has_size = *name != ONLY_WAVE32 || info.kind.wave_size == WaveSize::W32;
        own.is_some() && !is_known && has_size
    });
    let elsewhere = others.filter_map(|name| {
        let found = decode(Some(name))?;
        let one = found.instructions.first().filter(|one| one.code.is_decoded())?;
        Some(Foreign { processor: name.to_owned(), text: one.code.text().into_owned() })
    });
    let elsewhere = elsewhere.collect();
    let bytes = bytes.unwrap_or_default();
    Cause::IllegalInstruction { at, address, bytes, legal, elsewhere, compiled_for }
}

/// The processor of the code object at an address, if it is refused as one for another GPU.
fn foreign(session: &dyn Inspect, address: u64) -> Option<String> {
    let holds =
        |start: u64, size: u64| start.checked_add(size).is_some_and(|end| (start..end).contains(&address));
    session.code_objects().into_iter().find_map(|object| match &*object.error?.cause {
        ObjectCause::Foreign(found) if object.size.is_none_or(|size| holds(object.address.0, size)) => {
            (object.address.0 <= address).then(|| found.processor.to_owned())
        }
        _ => None,
    })
}
