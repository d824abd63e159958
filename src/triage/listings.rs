//! Decoded code of waves, with the effects of each instruction.

use std::collections::HashMap;
use std::sync::Arc;

use super::registers::WaveRegisters;
use crate::arch::{Generation, Processor};
use crate::isa::{self, DecodeError, Effects, ReadRegister as _, RegisterFile};
use crate::session::{Disassembly, DisassemblyError, FunctionBounds, Inspect};
use crate::units::{LaneId, WaveId};

/// Maximum number of addresses whose code is decoded for one question.
pub(super) const MAX_LISTED: usize = 64;

/// An address in the code of a wave.
#[derive(Clone, Copy)]
pub(super) struct CodeAt<'a> {
    /// The session that serves the wave.
    pub(super) session: &'a dyn Inspect,
    /// The wave.
    pub(super) wave: WaveId,
    /// The address: a PC, or a return address minus one.
    pub(super) address: u64,
}

/// Kind of wave, agent and requested address.
type Key = (String, u32, u64);

/// Addresses of one session.
struct Request<'a> {
    session: &'a dyn Inspect,
    keys: Vec<Key>,
    addresses: Vec<(WaveId, u64)>,
    /// [`CodeAt::mode`] of each.
    modes: Vec<Option<u32>>,
}

/// Decoded functions of a dump's waves.
#[derive(Debug, Default)]
pub(super) struct Listings {
    known: HashMap<Key, Result<Arc<Listing>, DisassemblyError>>,
}

/// A decoded function, or the part of it around an address.
#[derive(Debug)]
pub(super) struct Listing {
    /// The function, if known.
    pub(super) function: Option<FunctionBounds>,
    /// The generation of the code's processor, if known.
    pub(super) generation: Option<Generation>,
    /// The instructions by address, without gaps.
    pub(super) instructions: Vec<Decoded>,
}

/// An instruction with its effects.
#[derive(Clone, Debug)]
pub(super) struct Decoded {
    /// Its address.
    pub(super) address: u64,
    /// Its size in bytes.
    pub(super) size: u64,
    /// Its text.
    pub(super) text: String,
    /// The target of a branch.
    pub(super) target: Option<u64>,
    /// Its effects. An error: any effect is possible.
    pub(super) effects: Result<Effects, DecodeError>,
    /// Source file, if the line table has it.
    pub(super) file: Option<Arc<str>>,
    /// Source line.
    pub(super) line: Option<u64>,
}

impl Listings {
    /// Decodes the code at addresses, with one run of the tool for each processor. Addresses past [`MAX_LISTED`] and
    /// known ones are ignored.
    pub(super) fn prepare(&mut self, asked: &[CodeAt<'_>]) {
        let mut by_session: Vec<Request<'_>> = Vec::new();
        for at in asked {
            let mode = at.mode();
            let Some(key) = at.key(mode) else { continue };
            let is_asked = by_session.iter().any(|request| request.keys.contains(&key));
            if is_asked || self.known.contains_key(&key) || self.known.len() >= MAX_LISTED {
                continue;
            }
            let is_it = |request: &&mut Request<'_>| std::ptr::addr_eq(request.session, at.session);
            match by_session.iter_mut().find(is_it) {
                Some(request) => {
                    request.keys.push(key);
                    request.addresses.push((at.wave, at.address));
                    request.modes.push(mode);
                }
                None => by_session.push(Request {
                    session: at.session,
                    keys: vec![key],
                    addresses: vec![(at.wave, at.address)],
                    modes: vec![mode],
                }),
            }
        }
        for Request { session, keys, addresses, modes } in by_session {
            // Equal listings of the session are decoded once.
            let mut decoded: Vec<(Arc<Disassembly>, Arc<Listing>)> = Vec::new();
            let found = keys.into_iter().zip(session.functions(&addresses)).zip(addresses.iter().zip(modes));
            for ((key, found), ((_, address), mode)) in found {
                let listing = found.map(|found| {
                    let is_same = |of: &Arc<Disassembly>| Arc::ptr_eq(of, &found) && mode.is_none();
                    if let Some((_, listing)) = decoded.iter().find(|(of, _)| is_same(of)) {
                        return Arc::clone(listing);
                    }
                    let mut listing = Listing::of(&found, &session.kind().target.name);
                    if let Some(mode) = mode {
                        listing.check_mode(*address, mode);
                        return Arc::new(listing);
                    }
                    let listing = Arc::new(listing);
                    decoded.push((found, Arc::clone(&listing)));
                    listing
                });
                self.known.insert(key, listing);
            }
        }
    }

    /// The listing of the code at an address; decodes it if [`Self::prepare`] did not.
    ///
    /// # Errors
    /// The wave is unknown, or no tool can disassemble.
    pub(super) fn around(&mut self, at: CodeAt<'_>) -> Option<Result<Arc<Listing>, DisassemblyError>> {
        self.prepare(&[at]);
        self.known.get(&at.key(at.mode())?).cloned()
    }
}

impl CodeAt<'_> {
    fn key(&self, mode: Option<u32>) -> Option<Key> {
        let info = self.session.wave(self.wave).ok()?;
        let mut kind = format!("{}:{}", info.kind.target.name, info.kind.wave_size);
        // Waves with other bits may use other registers at the same address.
        if let Some(mode) = mode {
            kind = format!("{kind}:{:#x}", isa::vgpr_msb(mode));
        }
        Some((kind, info.agent, self.address))
    }

    /// MODE of the wave, if it extends the numbers of vector registers and the address is the wave's PC.
    fn mode(&self) -> Option<u32> {
        let info = self.session.wave(self.wave).ok()?;
        let extends = Processor::named(&info.kind.target.name)?.generation == Generation::Gfx125;
        let is_pc = info.pc.is_some_and(|pc| pc.0 == self.address);
        let registers = WaveRegisters::new(self.session, self.wave);
        registers.dword(RegisterFile::Mode, 0, LaneId::default()).filter(|_| extends && is_pc)
    }
}

impl Listing {
    /// Leaves the effects of instructions on vector registers unknown if a wave's MODE at its PC is not that of the
    /// code.
    fn check_mode(&mut self, pc: u64, mode: u32) {
        let start = self.instructions.first().map(|one| one.address);
        let is_whole = self.function.as_ref().is_some_and(|function| Some(function.start) == start);
        let texts = self.instructions.iter().map(|one| (one.address, one.text.as_str()));
        if !isa::has_other_msb(texts, is_whole, pc, mode) {
            return;
        }
        for one in &mut self.instructions {
            if isa::named_registers(&one.text).iter().any(|range| range.file.is_vector()) {
                one.effects = Err(DecodeError::VectorNumbers);
            }
        }
    }

    /// Decodes the effects of a listing's instructions. `gpu`: the waves' GPU, for an unknown processor of the code.
    pub(super) fn of(found: &Disassembly, gpu: &str) -> Self {
        let processor = Processor::named(&found.processor).or_else(|| Processor::named(gpu));
        let generation = processor.map(|processor| processor.generation);
        let instructions = found.instructions.iter().map(|one| {
            let address = one.address.0;
            let size = u64::from(one.size);
            Decoded {
                address,
                size,
                text: one.text.clone(),
                target: one.target.as_ref().map(|(to, _)| to.0).or_else(|| target(&one.text, address, size)),
                effects: match generation {
                    Some(generation) if one.is_decoded => isa::decode(&one.text, generation),
                    _ => Err(DecodeError::Mnemonic),
                },
                file: one.file.clone(),
                line: one.line,
            }
        });
        Self { function: found.function.clone(), generation, instructions: instructions.collect() }
    }

    /// The index of the instruction that begins at an address.
    pub(super) fn index(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |one| one.address).ok()
    }

    /// The index of the instruction whose bytes hold an address.
    pub(super) fn holding(&self, address: u64) -> Option<usize> {
        let after = self.instructions.partition_point(|one| one.address <= address);
        let index = after.checked_sub(1)?;
        let one = self.instructions.get(index)?;
        (address < one.address.saturating_add(one.size)).then_some(index)
    }

    /// Whether the listing begins at the function's start.
    pub(super) fn has_start(&self) -> bool {
        let first = self.instructions.first().map(|one| one.address);
        self.function.as_ref().is_some_and(|function| first == Some(function.start))
    }
}

/// The target of a branch whose tool prints none: a signed number of dwords from the next instruction.
fn target(text: &str, address: u64, size: u64) -> Option<u64> {
    let mut words = text.split_whitespace();
    let mnemonic = words.next()?;
    if !mnemonic.starts_with("s_branch") && !mnemonic.starts_with("s_cbranch_") {
        return None;
    }
    let dwords = words.next_back()?.parse::<u16>().ok()?.cast_signed();
    Some(address.wrapping_add(size).wrapping_add_signed(i64::from(dwords) * 4))
}
