//! AMD's debugger library numbers registers too: its order is the `g` packet of a gdb that has the architecture.
//!
//! GNU gdb built with amd-dbgapi ignores the registers that a target description lists and takes number, size and order
//! from that library, for both wave sizes at once: a wave32 wave has numbers for the VGPRs of wave64 that it never
//! fills. A second run of SGPR numbers ("shadow") answers for the slots that are aliases of vcc and kin.

use super::register::RegId;
use super::schema::File;
use crate::units::WaveSize;

/// A run of AMD's numbers with one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DbgapiRun {
    /// The first number.
    pub first: u16,
    /// How many.
    pub count: u16,
    /// Bytes of each.
    pub bytes: u16,
    /// Where the first one is in a full `g` packet, in bytes.
    pub offset: u32,
    /// The register of the first number, the others follow it; `None` if this kind of wave has none behind them.
    pub register: Option<RegId>,
    /// Whether these are SGPRs under their shadow numbers.
    pub shadow: bool,
}

/// The runs of a file as waves of that size fill them.
pub(super) fn runs(file: &File, here: WaveSize, blocks: &[Option<RegId>]) -> Vec<DbgapiRun> {
    let mut runs = Vec::new();
    for (index, block) in file.register.iter().enumerate() {
        let count = block.name.count();
        let register = blocks.get(index).copied().flatten();
        let sizes = [WaveSize::W32, WaveSize::W64];
        for (size, first) in block.dbgapi.into_iter().flat_map(super::schema::PerWave::each) {
            // A number for both sizes stands for one width; without that width check.rs refuses the block. A file of
            // wave64 only must not take the width of wave32, so its own sizes come first.
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
