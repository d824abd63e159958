//! Registers that the hardware set when a wave began.

use std::collections::HashMap;

use crate::session::address::GLOBAL;
use crate::session::{Inspect, MemoryAddress};
use crate::units::{Address, WaveId};

/// Offset of the bits of enabled user SGPRs in a kernel descriptor (AMDGPUUsage, "Kernel Descriptor").
const PROPERTIES: u64 = 56;
/// Bytes from the address of the arguments on that are taken for them, whose number the packet lacks.
const MAX_ARGUMENTS: u64 = 4096;

/// The pair of SGPRs with the address of the kernel's arguments, by the dump's id of a dispatch.
#[derive(Debug, Default)]
pub(in crate::triage) struct Launches(HashMap<u32, Pointer>);

/// A pair of SGPRs with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pointer {
    first: u16,
    value: u64,
}

impl Launches {
    /// The launches of a dump.
    pub(in crate::triage) fn of(session: &dyn Inspect) -> Self {
        let pointer = |object: Address, kernarg: Address| {
            let address = Address(object.0.checked_add(PROPERTIES)?);
            let place = MemoryAddress { space: GLOBAL, address, wave: None, lane: None };
            let mut bytes = [0; 2];
            let read = session.read(place, &mut bytes).ok()?;
            let first = first(u16::from_le_bytes(bytes)).filter(|_| read == bytes.len())?;
            Some(Pointer { first, value: kernarg.0 })
        };
        let launches = session.dispatches().into_iter();
        let launches = launches.filter_map(|one| Some((one.id, pointer(one.kernel_object?, one.kernarg?)?)));
        Self(launches.collect())
    }

    fn pointer(&self, session: &dyn Inspect, wave: WaveId) -> Option<&Pointer> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&session.wave(wave).ok()?.dispatch?)
    }

    /// Whether an address is one of the arguments of a wave's kernel.
    pub(super) fn holds(&self, session: &dyn Inspect, wave: WaveId, address: u64) -> bool {
        let pointer = self.pointer(session, wave);
        let offset = pointer.and_then(|pointer| address.checked_sub(pointer.value));
        offset.is_some_and(|offset| offset < MAX_ARGUMENTS)
    }

    /// A dword of an SGPR at the start of a wave's kernel.
    pub(super) fn dword(&self, session: &dyn Inspect, wave: WaveId, index: u16) -> Option<u32> {
        let pointer = self.pointer(session, wave)?;
        match index.checked_sub(pointer.first)? {
            0 => Some(pointer.value as u32),
            1 => Some((pointer.value >> 32) as u32),
            _ => None,
        }
    }
}

/// The first SGPR of the kernel arguments' address: AMDGPUUsage, "Initial Kernel Execution State", has the order.
fn first(properties: u16) -> Option<u16> {
    let enabled = |bit: u16, count: u16| if properties >> bit & 1 == 1 { count } else { 0 };
    let (buffer, dispatch, queue) = (enabled(0, 4), enabled(1, 2), enabled(2, 2));
    (enabled(3, 2) > 0).then_some(buffer + dispatch + queue)
}

#[cfg(test)]
mod tests {
    use super::first;

    /// AMDGPUUsage: the private segment buffer takes four SGPRs, the pointers of dispatch and queue two each.
    #[test]
    fn enabled_user_registers_precede_the_arguments() {
        for (properties, expected) in
            [(0b1000, Some(0)), (0b1001, Some(4)), (0b1011, Some(6)), (0b1111, Some(8)), (0b0111, None)]
        {
            assert_eq!(first(properties), expected, "{properties:#b}");
        }
    }
}
