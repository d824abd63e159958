//! Decoding a function together with those that other waves stopped in: a run of the tool takes 50 ms for any of them.

use std::sync::Arc;

use crate::codeobject::{Bytes, CodeObject, ElfAddress, SymbolKind};
use crate::disassembler::{ALIGNMENT, Block, DisassembleError, MAX_BLOCK, MAX_KEPT, Machine};
use crate::session::Reader;
use crate::session::objects::Loaded;

/// Maximum bytes of the functions of other waves in one run; the run then takes twice as long at most.
const MAX_PREFETCHED: usize = MAX_BLOCK;

/// A code object whose functions are decoded.
pub(super) struct Prefetch<'a> {
    pub(super) reader: &'a Reader,
    pub(super) loaded: &'a Loaded,
    pub(super) object: &'a CodeObject,
    /// Whether the functions of other waves are decoded too.
    pub(super) is_used: bool,
    /// Whether the rules of the function with that entry are known.
    pub(super) is_analysed: &'a dyn Fn(ElfAddress) -> bool,
}

/// Decodes a part of a function.
///
/// # Errors
/// The errors of [`crate::disassembler::Disassembler::decode`].
pub(super) fn decode(
    prefetch: &Prefetch<'_>,
    machine: &Machine,
    at: u64,
    bytes: &[u8],
) -> Result<Arc<Block>, DisassembleError> {
    let disassembler = prefetch.reader.dump().disassembler();
    if let Some(kept) = prefetch.kept(machine, at).filter(|kept| kept.bytes == bytes) {
        return Ok(kept);
    }
    // MODE's bits make several pieces several runs.
    let others =
        if prefetch.is_used && !machine.extends_vgprs() { prefetch.others(machine, at) } else { Vec::new() };
    if !others.is_empty() {
        // The requested part is the last one: its block is used first.
        let pieces = others.iter().map(|(start, bytes)| (*start, bytes.as_ref()));
        let pieces: Vec<(u64, &[u8])> = pieces.chain([(at, bytes)]).collect();
        match disassembler.decode_all(machine, &pieces) {
            Ok(blocks) if !blocks.is_empty() => {
                return blocks.into_iter().last().ok_or(DisassembleError::NoTool);
            }
            Err(why @ DisassembleError::NoTool) => return Err(why),
            // The code of another function may be the cause.
            _ => {}
        }
    }
    disassembler.decode(machine, at, bytes)
}

impl Prefetch<'_> {
    fn kept(&self, machine: &Machine, start: u64) -> Option<Arc<Block>> {
        let kept = self.reader.dump().disassembler().kept(machine, start);
        kept.filter(|block| block.address == start)
    }

    /// Functions with a wave's PC that are not decoded: those behind `at`, then those from the lowest address on.
    fn others(&self, machine: &Machine, at: u64) -> Vec<(u64, Bytes)> {
        let dump = self.reader.dump();
        let run_time = |at: u64| at.wrapping_add(self.loaded.address().0);
        let (mut found, mut left) = (Vec::new(), MAX_PREFETCHED);
        let (mut from, mut until) = (run_time(at), u64::MAX);
        for _ in 0..MAX_KEPT / 2 {
            let Some(pc) = dump.wave_pcs(from..until).first() else {
                if until != u64::MAX {
                    break;
                }
                (from, until) = (0, run_time(at));
                continue;
            };
            from = pc.saturating_add(ALIGNMENT);
            let Some((symbol, _)) = self.object.symbol_at(self.loaded.elf(*pc)) else { continue };
            let (start, size) = (symbol.value, symbol.size);
            if symbol.kind != SymbolKind::Function || size == 0 {
                continue;
            }
            from = from.max(run_time(start.saturating_add(size)));
            let is_known = start == at
                || self.object.is_kernel_entry(ElfAddress(start))
                || (self.is_analysed)(ElfAddress(start))
                || self.kept(machine, start).is_some();
            let fits = usize::try_from(size).is_ok_and(|size| size <= left);
            if fits
                && !is_known
                && let Some(bytes) = self.object.bytes_at(ElfAddress(start), size)
            {
                left -= bytes.len();
                found.push((start, bytes));
            }
        }
        found
    }
}
