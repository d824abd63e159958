//! Register numbers of AMD's debugger library: the order of the `g` packet of a gdb with the architecture.
//!
//! GNU gdb built with amd-dbgapi ignores the registers in a target description. It takes number, size and order from
//! that library, for both wave sizes at once: wave32 has numbers for the VGPRs of wave64, which it never fills. A
//! second run of SGPR numbers ("shadow") is for the slots with aliases such as vcc.

use super::register::RegId;
use super::schema::File;
use crate::units::WaveSize;

/// A run of consecutive numbers with one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DbgapiRun {
    /// The first number.
    pub first: u16,
    /// Number of registers.
    pub count: u16,
    /// Bytes of each register.
    pub bytes: u16,
    /// Byte offset of the first register in a full `g` packet.
    pub offset: u32,
    /// The register of the first number, followed by the next ones; `None` if this kind of wave has no such registers.
    pub register: Option<RegId>,
    /// Whether the numbers are shadow numbers of SGPRs.
    pub shadow: bool,
}

/// Returns the runs of a file for waves of that size.
pub(super) fn runs(file: &File, here: WaveSize, blocks: &[Option<RegId>]) -> Vec<DbgapiRun> {
    let mut runs = Vec::new();
    for (index, block) in file.register.iter().enumerate() {
        let count = block.name.count();
        let register = blocks.get(index).copied().flatten();
        let sizes = [WaveSize::W32, WaveSize::W64];
        for (size, first) in block.dbgapi.into_iter().flat_map(super::schema::PerWave::each) {
            // A number for both sizes has one width; check.rs rejects other blocks. A wave64-only file must not take
            // the width of wave32, so its own sizes come first.
            let own = file.target.sizes();
            let dwords = match size {
                Some(size) => block.dwords(size),
                None => own.chain(sizes).find_map(|size| block.dwords(size)),
            };
            let bytes = dwords.unwrap_or(0) * 4;
            let register = if size.is_none_or(|size| size == here) { register } else { None };
            runs.push(DbgapiRun { first, count, bytes, offset: 0, register, shadow: false });
        }
        if let Some(first) = block.dbgapi_shadow {
            let bytes = block.dwords(here).unwrap_or(0) * 4;
            runs.push(DbgapiRun { first, count, bytes, offset: 0, register, shadow: true });
        }
    }
    for only in &file.dbgapi_only {
        let (first, count, bytes) = (only.number, only.name.count(), only.bits / 8);
        runs.push(DbgapiRun { first, count, bytes, offset: 0, register: None, shadow: false });
    }
    runs.sort_by_key(|run| run.first);
    let mut offset = 0;
    for run in &mut runs {
        run.offset = offset;
        offset = offset.saturating_add(u32::from(run.count) * u32::from(run.bytes));
    }
    runs
}
