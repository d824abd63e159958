//! What the trap temporaries of a wave say of its launch, where a text shows them.

use super::{Kept, Value};
use crate::arch::save_area::{TtmpBits, Ttmps};

/// Where a wave was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::import) struct Launch {
    /// Its work-group.
    pub(in crate::import) position: [u32; 3],
    pub(in crate::import) wave_in_group: u32,
    /// The packet's place in its queue; in old runtimes a part of its address.
    pub(in crate::import) packet: Option<u32>,
}

impl Launch {
    /// Reads the trap temporaries where a target's save areas have them; `None` where one that is needed is missing.
    pub(in crate::import) fn read(ttmps: &Ttmps, kept: &Kept, values: &[Value]) -> Option<Self> {
        let bits = |of: TtmpBits| ttmp(kept, values, of);
        let has_yz = match ttmps.has_yz {
            Some(bit) => bits(bit)? == 1,
            None => true,
        };
        let (y, z) = if has_yz { (bits(ttmps.y)?, bits(ttmps.z)?) } else { (0, 0) };
        Some(Self {
            position: [bits(ttmps.x)?, y, z],
            wave_in_group: bits(ttmps.wave_in_group)?,
            packet: bits(ttmps.packet),
        })
    }
}

/// Bits of a trap temporary that a text gives.
pub(in crate::import) fn ttmp(kept: &Kept, values: &[Value], of: TtmpBits) -> Option<u32> {
    let name = format!("ttmp{}", of.ttmp);
    let value = values.iter().find(|value| kept.text(value.name) == name)?;
    kept.dword(value, 0).map(|word| of.bits.of(word))
}
