//! The function that holds an address, decoded.

use super::bounds;
use super::code::Code;
use super::list::{Known, synchronised};
use super::marks::Marks;
use super::{Disassembly, DisassemblyError, FunctionBounds, Instructions, text};
use crate::isa::{Instruction, Machine};
use crate::session::Reader;
use crate::session::objects::Loaded;
use crate::units::WaveId;

/// Maximum bytes of a listed function; larger ones are listed around the address.
const MAX_BYTES: usize = 64 * 1024;
/// Bytes of a large function that are decoded before the address.
const BEFORE: u64 = MAX_BYTES as u64 / 4 * 3;
/// Bytes that are listed if no function is known.
const WITHOUT_FUNCTION: u64 = 4096;

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
    problems: Vec<String>,
}

/// Lists the function that holds an address. A large one is listed around the address, up to [`MAX_BYTES`]. Without a
/// function the listing begins at the address.
pub(in crate::session) fn function(
    reader: &Reader,
    wave: WaveId,
    address: u64,
) -> Result<Disassembly, DisassemblyError> {
    Piece::of(reader, wave, address)?.listing(reader)
}

impl<'a> Piece<'a> {
    fn of(reader: &'a Reader, wave: WaveId, address: u64) -> Result<Self, DisassemblyError> {
        let capture = reader.dump().capture();
        let of = reader.wave(wave)?;
        let loaded = reader.dump().objects().at(capture, address, Some(of.agent));
        let object = loaded.and_then(|loaded| loaded.object(capture).ok());
        let machine = bounds::machine(object.as_deref(), &of.kind);
        let function = loaded.and_then(|loaded| bounds::function(loaded, capture, address));
        let mut code = Code { reader, wave, loaded, machine: machine.clone(), problems: Vec::new() };
        let mut problems = Vec::new();
        let (start, length) = match &function {
            Some(function) if function.end - function.start <= MAX_BYTES as u64 => {
                (function.start, function.end - function.start)
            }
            Some(function) => {
                let from = address.saturating_sub(BEFORE).max(function.start);
                let start = synchronised(&code, from, Some(function), capture).unwrap_or(address);
                // A far row of the line table leaves the address outside.
                let start = if address - start < MAX_BYTES as u64 { start } else { address };
                (start, (function.end - start).min(MAX_BYTES as u64))
            }
            None => {
                problems.push(format!("no function is known to hold {address:#x}"));
                (address / 4 * 4, WITHOUT_FUNCTION)
            }
        };
        let (mut start, mut bytes) = (start, Vec::new());
        for from in [start, address / 4 * 4] {
            let length = length.saturating_sub(from.saturating_sub(start));
            bytes = vec![0; usize::try_from(length).unwrap_or(MAX_BYTES).min(MAX_BYTES)];
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
        problems.append(&mut code.problems);
        Ok(Self { wave, address, loaded, machine, function, start, bytes, problems })
    }

    /// # Errors
    /// The processor is unknown, and the capture has no text.
    fn listing(self, reader: &Reader) -> Result<Disassembly, DisassemblyError> {
        let capture = reader.dump().capture();
        let debug = self.loaded.and_then(|loaded| loaded.debug(capture).ok());
        let known = Known { loaded: self.loaded, capture, debug };
        let begins_inside = self.function.as_ref().is_none_or(|function| function.start != self.start);
        let functions = &reader.dump().objects().codes().decoded;
        let decoded = functions.decode(&self.machine, self.start, &self.bytes, begins_inside);
        let own = |one: &Instruction| {
            let from = usize::try_from(one.address - self.start).ok()?;
            self.bytes.get(from..)?.get(..one.size.into()).map(<[u8]>::to_vec)
        };
        let with_bytes = |one: &Instruction| (one.clone(), own(one).unwrap_or_default());
        let mut found: Vec<_> = decoded.iter().flatten().map(with_bytes).collect();
        let wave = reader.wave(self.wave).ok().filter(|_| found.is_empty());
        let listed = wave.and_then(|wave| text::Listed::of(capture, wave, self.address));
        let (mut function, mut problems) = (self.function, self.problems);
        if let Some(listed) = &listed {
            found = listed.choose(&self.machine, &Instructions::default(), self.address);
            problems.clear();
            function = function.or_else(|| Some(listed.function.clone()));
        } else {
            decoded?;
        }
        let mut instructions = known.list(found, function.clone(), None, &Marks::default());
        if let Some(listed) = &listed {
            listed.add_lines(&mut instructions);
        }
        Ok(Disassembly {
            wave: self.wave,
            frame: 0,
            pc: None,
            code_object: self.loaded.and_then(|loaded| loaded.name(capture)).map(str::to_owned),
            processor: self.machine.processor,
            is_text: listed.is_some(),
            instructions,
            function,
            problems,
        })
    }
}
