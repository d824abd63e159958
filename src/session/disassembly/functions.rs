//! Decoder of several functions at once, with one run of the tool for each processor.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::blocks::Code;
use super::bounds;
use super::list::{Known, synchronised};
use super::marks::Marks;
use super::{Disassembly, DisassemblyError, FunctionBounds, Instructions, text};
use crate::disassembler::{Block, DisassembleError, MAX_BATCH, MAX_BLOCK, Machine};
use crate::session::Reader;
use crate::session::objects::Loaded;
use crate::units::WaveId;

/// Bytes of a large function that are decoded before the address.
const BEFORE: u64 = MAX_BLOCK as u64 / 4 * 3;

/// Code to decode: the function at an address, or the part of it around the address.
struct Piece<'a> {
    wave: WaveId,
    /// The requested address.
    address: u64,
    loaded: Option<&'a Loaded>,
    machine: Machine,
    function: Option<FunctionBounds>,
    start: u64,
    bytes: Vec<u8>,
    block: Option<Arc<Block>>,
    problems: Vec<String>,
}

/// Lists the functions that hold addresses. Large functions are listed around the address, up to [`MAX_BLOCK`].
/// Without a function the listing begins at the address. Equal listings are shared.
pub(in crate::session) fn functions(
    reader: &Reader,
    asked: &[(WaveId, u64)],
) -> Vec<Result<Arc<Disassembly>, DisassemblyError>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let indexes: Vec<Result<usize, DisassemblyError>> = asked
        .iter()
        .map(|(wave, address)| {
            let piece = Piece::of(reader, *wave, *address)?;
            let is_same = |other: &Piece<'_>| other.is_same(&piece);
            let found = pieces.iter().position(is_same);
            Ok(found.unwrap_or_else(|| {
                pieces.push(piece);
                pieces.len() - 1
            }))
        })
        .collect();
    let mut errors: BTreeMap<usize, DisassembleError> = BTreeMap::new();
    for batch in batches(&pieces) {
        let given: Vec<(u64, &[u8])> = batch
            .iter()
            .filter_map(|index| pieces.get(*index))
            .map(|piece| (piece.start, piece.bytes.as_slice()))
            .collect();
        let Some(machine) = batch.first().and_then(|first| pieces.get(*first)).map(|one| one.machine.clone())
        else {
            continue;
        };
        let decoded = reader.dump().disassembler().decode_all(&machine, &given);
        match decoded {
            Ok(blocks) => {
                for (index, block) in batch.into_iter().zip(blocks) {
                    if let Some(piece) = pieces.get_mut(index) {
                        piece.block = Some(block);
                    }
                }
            }
            Err(error) => errors.extend(batch.into_iter().map(|index| (index, error.clone()))),
        }
    }
    let listings: Vec<Arc<Disassembly>> =
        pieces.into_iter().map(|piece| Arc::new(piece.listing(reader))).collect();
    let listing = |index: usize| match errors.get(&index) {
        Some(_) if listings.get(index).is_some_and(|listing| !listing.instructions.is_empty()) => {
            listings.get(index).cloned().ok_or(DisassembleError::NoTool.into())
        }
        Some(error) => Err(error.clone().into()),
        // Every index comes from the list of pieces.
        None => listings.get(index).cloned().ok_or(DisassembleError::NoTool.into()),
    };
    indexes.into_iter().map(|index| index.and_then(listing)).collect()
}

/// Indexes of the pieces without a block, in runs of one machine within the tool's bound.
fn batches(pieces: &[Piece<'_>]) -> Vec<Vec<usize>> {
    let mut batches: Vec<(&Machine, usize, Vec<usize>)> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let length = piece.bytes.len();
        if piece.block.is_some() || length == 0 {
            continue;
        }
        let fits = |(machine, bytes, _): &&mut (&Machine, usize, Vec<usize>)| {
            **machine == piece.machine && *bytes + length <= MAX_BATCH
        };
        match batches.iter_mut().find(fits) {
            Some((_, bytes, batch)) => {
                *bytes += length;
                batch.push(index);
            }
            None => batches.push((&piece.machine, length, vec![index])),
        }
    }
    batches.into_iter().map(|(_, _, batch)| batch).collect()
}

impl<'a> Piece<'a> {
    fn of(reader: &'a Reader, wave: WaveId, address: u64) -> Result<Self, DisassemblyError> {
        let capture = reader.dump().capture();
        let of = reader.wave(wave)?;
        let loaded = reader.dump().objects().at(capture, address, Some(of.agent));
        let object = loaded.and_then(|loaded| loaded.object(capture).ok());
        let mut machine = bounds::machine(object.as_deref(), of);
        let function = loaded.and_then(|loaded| bounds::function(loaded, capture, address));
        let mut code =
            Code { reader, wave, loaded, machine: machine.clone(), tool: None, problems: Vec::new() };
        let mut problems = Vec::new();
        let (start, length) = match &function {
            Some(function) if function.end - function.start <= MAX_BLOCK as u64 => {
                (function.start, function.end - function.start)
            }
            Some(function) => {
                let from = address.saturating_sub(BEFORE).max(function.start);
                let start = synchronised(&code, from, Some(function), capture).unwrap_or(address);
                // A far row of the line table leaves the address outside.
                let start = if address - start < MAX_BLOCK as u64 { start } else { address };
                (start, (function.end - start).min(MAX_BLOCK as u64))
            }
            None => {
                problems.push(format!("no function is known to hold {address:#x}"));
                (address / 4 * 4, super::blocks::WITHOUT_FUNCTION as u64)
            }
        };
        let (mut start, mut bytes) = (start, Vec::new());
        for from in [start, address / 4 * 4] {
            let length = length.saturating_sub(from.saturating_sub(start));
            bytes = vec![0; usize::try_from(length).unwrap_or(MAX_BLOCK).min(MAX_BLOCK)];
            match code.read(from, &mut bytes) {
                Ok(read) => {
                    bytes.truncate(read);
                    start = from;
                    break;
                }
                Err(why) => {
                    bytes.clear();
                    code.problems.push(format!("there are no instructions from {from:#x} on: {why}"));
                }
            }
        }
        machine.begins_inside =
            machine.extends_vgprs() && function.as_ref().is_none_or(|function| function.start != start);
        problems.append(&mut code.problems);
        let kept = reader.dump().disassembler().kept(&machine, start);
        let block = kept.filter(|kept| kept.address == start && kept.bytes == bytes);
        Ok(Self { wave, address, loaded, machine, function, start, bytes, block, problems })
    }

    fn is_same(&self, other: &Self) -> bool {
        let object = |piece: &Self| piece.loaded.map(|loaded| loaded.address());
        // Text of code without bytes depends on the address.
        (!self.bytes.is_empty() || self.address == other.address)
            && self.start == other.start
            && self.machine == other.machine
            && object(self) == object(other)
            && self.bytes == other.bytes
    }

    fn listing(mut self, reader: &Reader) -> Disassembly {
        let capture = reader.dump().capture();
        let debug = self.loaded.and_then(|loaded| loaded.debug(capture).ok());
        let known = Known { loaded: self.loaded, capture, debug };
        let mut found = self.block.as_ref().map_or(Vec::new(), |block| {
            block.instructions.iter().map(|one| (one.clone(), block.bytes_of(one).to_vec())).collect()
        });
        let mut tool = self.block.map(|block| block.tool.clone());
        let wave = reader.wave(self.wave).ok().filter(|_| found.is_empty());
        let listed = wave.and_then(|wave| text::Listed::of(capture, wave, self.address));
        if let Some(listed) = &listed {
            found = listed.choose(&Instructions::default(), self.address);
            self.problems.clear();
            self.function = self.function.or_else(|| Some(listed.function.clone()));
            tool = Some(listed.tool.clone());
        }
        let mut instructions = known.list(found, self.function.clone(), None, &Marks::default());
        if let Some(listed) = &listed {
            listed.add_lines(&mut instructions);
        }
        Disassembly {
            wave: self.wave,
            frame: 0,
            pc: None,
            code_object: self.loaded.and_then(|loaded| loaded.name(capture)).map(str::to_owned),
            processor: self.machine.processor,
            tool,
            instructions,
            function: self.function,
            problems: self.problems,
        }
    }
}
