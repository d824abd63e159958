//! PCs outside of all code: bad return addresses and function pointers.

use super::call::Call;
use crate::capture::{Fault, FaultAccess, PAGE};
use crate::isa::{Control, RETURN_PAIR};
use crate::session::{Inspect, WaveInfo};
use crate::triage::judge::NULL_BYTES;
use crate::triage::listings::{CodeAt, Listings};
use crate::triage::map::Map;
use crate::triage::{Cause, SourceAt};

/// The first address beyond those of user space.
const USER_END: u64 = 1 << 47;
/// Maximum number of registers whose value may be a return address.
const MAX_CALLERS: usize = 8;

/// A PC at which no code is loaded; `None`: there is code, or it is not known that there is none.
pub(super) fn find(session: &dyn Inspect, info: &WaveInfo, code: &mut Listings) -> Option<Cause> {
    let pc = info.pc?.0;
    if !is_bad(session, info, pc) {
        return None;
    }
    let pairs = pairs(session, info);
    let holders = pairs.iter().filter(|(_, value)| value & !3 == pc & !3).map(|(first, _)| name(*first));
    let holders = holders.collect();
    Some(Cause::BadPc { pc, holders, caller: caller(session, info, &pairs, pc, code) })
}

fn is_bad(session: &dyn Inspect, info: &WaveInfo, pc: u64) -> bool {
    if pc == 0 || !pc.is_multiple_of(4) || pc >= USER_END {
        return true;
    }
    if session.region(pc, info.wave).code {
        return false;
    }
    // A known code object is no list of all: other code may be there.
    let is_unmapped = (pc < NULL_BYTES || session.has_whole_map()) && !Map::new(session, info.wave).lists(pc);
    // The kernels of the runtime itself are in no code object.
    let is_of_code_object = || info.kernel.is_some() && session.has_all_code_objects();
    is_unmapped
        || is_fetched(session, info, pc)
        || is_of_code_object() && session.code_objects().iter().all(|object| object.size.is_some())
}

/// Whether a report is of the fetch of an instruction from the page of the PC.
fn is_fetched(session: &dyn Inspect, info: &WaveInfo, pc: u64) -> bool {
    let is_it = |fault: &Fault| {
        let page = fault.page().filter(|_| fault.access == Some(FaultAccess::Execute));
        fault.concerns(info.agent) && page.is_some_and(|page| page.start & !(PAGE - 1) == pc & !(PAGE - 1))
    };
    session.faults().iter().any(is_it)
}

fn name(first: u16) -> String {
    format!("s[{first}:{}]", first + 1)
}

/// The values of the aligned pairs of SGPRs by first number, the pair of return addresses first.
fn pairs(session: &dyn Inspect, info: &WaveInfo) -> Vec<(u16, u64)> {
    let dword = |number: u16| {
        let register = info.kind.named(&format!("s{number}"))?;
        session.register(info.wave, register.id).ok()?.dword(0)
    };
    let pair = |first: u16| Some((first, u64::from(dword(first)?) | u64::from(dword(first + 1)?) << 32));
    let count = (0..u16::MAX).take_while(|number| info.kind.named(&format!("s{number}")).is_some()).count();
    let others =
        (0..u16::try_from(count).unwrap_or(0)).step_by(2).filter(|first| *first != RETURN_PAIR.first);
    std::iter::once(RETURN_PAIR.first).chain(others).filter_map(pair).collect()
}

/// The call before the first register value that is a return address.
fn caller(
    session: &dyn Inspect,
    info: &WaveInfo,
    pairs: &[(u16, u64)],
    pc: u64,
    code: &mut Listings,
) -> Option<SourceAt> {
    let is_code = |value: u64| {
        value != pc && value.is_multiple_of(4) && value < USER_END && session.region(value, info.wave).code
    };
    let mut candidates =
        pairs.iter().map(|(_, value)| *value).filter(|value| is_code(*value)).take(MAX_CALLERS);
    candidates.find_map(|value| call_before(session, info, value, code)?.place(session))
}

/// The call that the pair of return addresses names.
pub(super) fn by_return_address(session: &dyn Inspect, info: &WaveInfo, code: &mut Listings) -> Option<Call> {
    let (_, value) = pairs(session, info).into_iter().find(|(first, _)| *first == RETURN_PAIR.first)?;
    call_before(session, info, value, code)
}

/// The call whose return address a value is.
pub(super) fn call_before(
    session: &dyn Inspect,
    info: &WaveInfo,
    value: u64,
    code: &mut Listings,
) -> Option<Call> {
    let address = value.checked_sub(1)?;
    let listing = code.around(CodeAt { session, wave: info.wave, address })?.ok()?;
    let index = listing.holding(address)?;
    let call = listing.instructions.get(index)?;
    let is_call = call.control() == Some(Control::Call);
    (is_call && call.end() == value).then_some(Call { listing, index })
}
