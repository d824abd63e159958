//! Memory around the addresses of a fault.

use serde::Serialize;

use super::Hex;

/// Memory around an address: global memory, or the LDS of a work-group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemoryPicture {
    /// The first bad address in the order of the sentence.
    pub address: Hex,
    /// `global`, or the name of another segment; `local`: the addresses are offsets in the LDS of a work-group.
    pub space: String,
    /// The accesses near it.
    pub accesses: Vec<AccessAt>,
    /// Number of further accesses.
    pub accesses_left_out: usize,
    /// Listed memory around it, in order of its addresses.
    pub spans: Vec<MemorySpan>,
    /// Whether memory outside of the listed one is known to be unmapped.
    pub is_map_whole: bool,
    /// The bytes around the address. `None`: none is captured, or left out.
    pub bytes: Option<ByteWindow>,
}

impl MemoryPicture {
    /// Whether it is the LDS of a work-group.
    pub(in crate::postmortem) fn is_lds(&self) -> bool {
        self.space == "local"
    }
}

/// The access of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AccessAt {
    /// The lane. `None`: a scalar access.
    pub lane: Option<u8>,
    /// The first byte.
    pub address: Hex,
    /// Number of bytes. `None`: unknown.
    pub bytes: Option<u16>,
}

/// Memory that the capture lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemorySpan {
    /// The first byte.
    pub start: Hex,
    /// The last byte.
    pub last: Hex,
    /// The name, if it has one.
    pub name: Option<String>,
    /// Whether it is code.
    pub is_code: bool,
    /// The pointer that leads there, if the analysis found one.
    pub pointer: Option<String>,
}

/// Bytes of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ByteWindow {
    /// The address of the first byte.
    pub start: Hex,
    /// The bytes; `None`: not captured.
    pub bytes: Vec<Option<u8>>,
}
