//! Selection of a listing's instructions, and the facts about each.

use std::sync::Arc;

use super::bounds;
use super::code::Code;
use super::marks::Marks;
use super::text;
use super::{
    Disassembly, DisassemblyError, FunctionBounds, Instructions, ListedInstruction, MAX_LISTED_BYTES,
    Symbolic, WITHOUT_END,
};
use crate::capture::Capture;
use crate::debuginfo::DebugInfo;
use crate::isa::{ALIGNMENT, Instruction};
use crate::notation::counted;
use crate::session::objects::Loaded;
use crate::session::objects::source::tidy;
use crate::session::stack::backtrace;
use crate::session::stack::{Stack, StackFrame};
use crate::session::{ReadError, Reader};
use crate::units::{Address, Pc, WaveId};

type Decoded = Vec<(Instruction, Vec<u8>)>;

/// Lists the requested instructions.
///
/// # Errors
/// There is no such wave, lane or frame, the start is unknown, or the processor is unknown.
pub(in crate::session) fn list(
    reader: &Reader,
    wave: WaveId,
    asked: &Instructions,
) -> Result<Disassembly, DisassemblyError> {
    let stack = backtrace::backtrace(reader, wave, asked.lane)?;
    let last = stack.frames.len().saturating_sub(1);
    let frame = stack.frames.get(asked.frame);
    if frame.is_none() && asked.frame > 0 {
        return Err(ReadError::NoSuchFrame { frame: asked.frame, last }.into());
    }
    let pc = frame.and_then(|frame| frame.pc);
    let anchor = asked.address.or(pc.map(|pc| pc.0));
    let missing = || {
        let has_pc = |stack: Stack| stack.frames.first().is_some_and(|frame| frame.pc.is_some());
        match asked.lane {
            // The wave's PC is known; only this lane's is unknown.
            Some(lane) if backtrace::backtrace(reader, wave, None).is_ok_and(has_pc) => {
                ReadError::NoLanePc { lane }
            }
            _ => ReadError::NotCaptured { what: "the PC".to_owned() },
        }
    };
    let anchor = anchor.ok_or_else(missing)?;
    // A call is looked up by the instruction before its return address.
    let is_return = asked.address.is_none() && frame.is_some_and(|frame| frame.physical > 0);
    let lookup = if is_return { anchor.saturating_sub(1) } else { anchor };

    let capture = reader.dump().capture();
    let of = reader.wave(wave)?;
    let loaded = reader.dump().objects().at(capture, lookup, Some(of.agent));
    let object = loaded.and_then(|loaded| loaded.object(capture).ok());
    let own = || bounds::machine(object.as_deref(), &of.kind);
    let machine = asked.processor.map_or_else(own, |processor| bounds::machine_named(processor, &of.kind));
    let processor = machine.processor.clone();
    let mut function = loaded.and_then(|loaded| bounds::function(loaded, capture, lookup));
    // The listing begins at the address, or has instructions around it, unless it is that of its function.
    let is_start =
        asked.around.is_some() || function.is_none() || asked.address.is_some() && asked.count.is_some();
    if is_start && !anchor.is_multiple_of(ALIGNMENT) {
        return Err(DisassemblyError::Unaligned(anchor));
    }
    let mut code = Code { reader, wave, loaded, machine, problems: Vec::new() };
    if let Some(object) = reader.dump().objects().data_of(capture, lookup, Some(of.agent)) {
        code.problems.push(format!("{lookup:#x} is in no executable segment of {object}: it holds data"));
    }
    let mut found = choose(&mut code, asked, anchor, function.as_ref(), capture);
    let is_needed = asked.processor.is_none() && text::is_needed(&found);
    let listed = if is_needed { text::Listed::of(capture, of, lookup) } else { None };
    if let Some(listed) = &listed {
        found = Ok(listed.choose(&code.machine, asked, anchor));
        code.problems.clear();
        function = function.or_else(|| Some(listed.function.clone()));
    }
    let marks = marks(reader, wave, frame)?;
    let known = Known { loaded, capture, debug: loaded.and_then(|loaded| loaded.debug(capture).ok()) };
    let mut instructions = known.list(found?, function.clone(), pc, &marks);
    if let Some(listed) = &listed {
        listed.add_lines(&mut instructions);
    }
    Ok(Disassembly {
        wave,
        frame: asked.frame,
        pc,
        code_object: loaded.and_then(|loaded| loaded.name(capture)).map(str::to_owned),
        processor,
        is_text: listed.is_some(),
        instructions,
        function,
        problems: code.problems,
    })
}

fn marks(reader: &Reader, wave: WaveId, frame: Option<&StackFrame>) -> Result<Marks, ReadError> {
    let Some(frame) = frame else { return Ok(Marks::default()) };
    Marks::of(reader, wave, frame.physical, frame.of_wave.unwrap_or(0))
}

/// The instructions of the listing.
fn choose(
    code: &mut Code<'_>,
    asked: &Instructions,
    anchor: u64,
    function: Option<&FunctionBounds>,
    capture: &Capture,
) -> Result<Decoded, DisassemblyError> {
    let most = |start: u64| start.saturating_add(MAX_LISTED_BYTES);
    if asked.address.is_some() && asked.count.is_some() {
        // Notes about earlier code are not those of the listing.
        let mut earlier = Code { machine: code.machine.clone(), problems: Vec::new(), ..*code };
        let found = preceding(&mut earlier, anchor, function, capture, 1)?;
        code.problems.extend(found.and_then(|found| inside(&found, anchor)));
    }
    if let Some(around) = asked.around {
        let before = before(code, anchor, function, capture, around)?;
        let after = code.forward(anchor, most(anchor), around.saturating_add(1))?;
        return Ok(before.into_iter().chain(after).collect());
    }
    let (start, end) = match function {
        _ if asked.address.is_some() && asked.count.is_some() => (anchor, u64::MAX),
        Some(function) => (function.start, function.end),
        None => (anchor, u64::MAX),
    };
    let count = asked.count.unwrap_or(if end == u64::MAX { WITHOUT_END } else { usize::MAX });
    if asked.count.is_none() && end - start > MAX_LISTED_BYTES && end != u64::MAX {
        let half = MAX_LISTED_BYTES / 2;
        let from = if anchor - start > half { anchor - half } else { start };
        let from = synchronised(code, from, function, capture).unwrap_or(anchor);
        let end = end.min(most(from));
        let all = function.map_or(0, |function| function.end - function.start);
        code.problems.push(format!(
            "the function has {all} bytes, of which those from {from:#x} to {end:#x} are listed: give another address, or a count"
        ));
        return code.forward(from, end, count);
    }
    let found = code.forward(start, end.min(most(start)), count)?;
    if function.is_none() && asked.count.is_none() && !found.is_empty() {
        code.problems.push(format!(
            "no function is known to hold {anchor:#x}: {} from there on",
            counted(found.len(), "instruction")
        ));
    }
    if found.is_empty() && start < anchor {
        // The function's start was not captured; the instruction at the wave's PC has priority.
        return code.forward(anchor, end.min(most(anchor)), count);
    }
    if let Some((last, _)) = found.last()
        && found.len() < count
        && last.end() >= most(start)
        && last.end() < end
    {
        code.problems.push(format!(
            "at most {MAX_LISTED_BYTES} bytes are listed: there is more from {:#x} on",
            last.end()
        ));
    }
    Ok(found)
}

/// At most `count` instructions before an address.
fn before(
    code: &mut Code<'_>,
    anchor: u64,
    function: Option<&FunctionBounds>,
    capture: &Capture,
    count: usize,
) -> Result<Decoded, DisassemblyError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let Some(mut found) = preceding(code, anchor, function, capture, count)? else {
        if function.is_none_or(|function| function.start < anchor) {
            code.problems.push(format!("the start of the instructions before {anchor:#x} is unknown"));
        }
        return Ok(Vec::new());
    };
    if found.last().is_some_and(|(last, _)| last.end() != anchor) {
        code.problems.extend(inside(&found, anchor));
        return Ok(Vec::new());
    }
    found.drain(..found.len().saturating_sub(count));
    Ok(found)
}

/// The problem of an address inside of an instruction. `before`: the instructions up to the address.
fn inside(before: &Decoded, anchor: u64) -> Option<String> {
    let (last, _) = before.last()?;
    (last.end() > anchor).then(|| format!("{anchor:#x} is inside of an instruction, by those before it"))
}

/// The instructions before an address, at least `count` where there are as many; `None`: their start is unknown.
fn preceding(
    code: &mut Code<'_>,
    anchor: u64,
    function: Option<&FunctionBounds>,
    capture: &Capture,
    count: usize,
) -> Result<Option<Decoded>, DisassemblyError> {
    // No instruction is longer than 32 bytes.
    let far = (count as u64).saturating_mul(32).min(MAX_LISTED_BYTES);
    let from = synchronised(code, anchor.saturating_sub(far), function, capture);
    let Some(start) = from.filter(|start| *start < anchor) else { return Ok(None) };
    code.forward(start, anchor, usize::MAX).map(Some)
}

/// The last address up to another one with a known instruction start of the function: a row of the line table, else
/// the function's start.
pub(super) fn synchronised(
    code: &Code<'_>,
    at: u64,
    function: Option<&FunctionBounds>,
    capture: &Capture,
) -> Option<u64> {
    let function = function?;
    if at <= function.start {
        return Some(function.start);
    }
    let loaded = code.loaded?;
    let row = loaded.debug(capture).ok().and_then(|debug| debug.line_at(loaded.elf(at)).ok()?);
    let row = row.map(|row| row.address.0.wrapping_add(loaded.address().0));
    let start = row.filter(|row| function.start <= *row && *row <= at).unwrap_or(function.start);
    (at - start <= MAX_LISTED_BYTES).then_some(start)
}

/// Facts about addresses.
pub(super) struct Known<'a> {
    pub(super) loaded: Option<&'a Loaded>,
    pub(super) capture: &'a Capture,
    pub(super) debug: Option<Arc<DebugInfo>>,
}

impl Known<'_> {
    pub(super) fn list(
        &self,
        found: Decoded,
        mut function: Option<FunctionBounds>,
        pc: Option<Pc>,
        marks: &Marks,
    ) -> Vec<ListedInstruction> {
        let mut file: Option<(Arc<str>, Arc<str>)> = None;
        let each = found.into_iter().map(|(one, bytes)| {
            let symbol = self.symbolic(one.address, &mut function);
            let place = self.place(one.address);
            let line = place.as_ref().map(|place| place.line).filter(|line| *line != 0);
            let file = place.and_then(|place| place.file).map(|named| match &file {
                Some((last, tidied)) if *last == named => Arc::clone(tidied),
                _ => {
                    let tidied: Arc<str> = Arc::from(tidy(&named));
                    file = Some((named, Arc::clone(&tidied)));
                    tidied
                }
            });
            let target = one.target.map(|to| (Address(to), self.symbolic(to, &mut function.clone())));
            let (lanes, active) = marks.at(one.address);
            ListedInstruction {
                address: Address(one.address),
                bytes,
                symbol,
                target,
                file,
                line,
                is_pc: pc == Some(Pc(one.address)),
                lanes,
                active,
                code: one,
            }
        });
        each.collect()
    }

    /// The symbolic form of an address; `function` caches the last function.
    fn symbolic(&self, address: u64, function: &mut Option<FunctionBounds>) -> Option<Symbolic> {
        if function.as_ref().is_none_or(|function| function.symbolic(address).is_none()) {
            *function = self.loaded.and_then(|loaded| bounds::function(loaded, self.capture, address));
        }
        function.as_ref()?.symbolic(address)
    }

    fn place(&self, address: u64) -> Option<crate::debuginfo::SourceLocation> {
        let (debug, loaded) = (self.debug.as_ref()?, self.loaded?);
        Some(debug.line_at(loaded.elf(address)).ok()??.place)
    }
}
