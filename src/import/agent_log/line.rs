//! The grammar of the debug agent's lines: one type for each kind of line. Parsing is stateless.

use memchr::memmem::{self, Finder};

use super::memory;
use crate::import::text::{Cursor, find, hex, skip_spaces};

/// The header of a wave's report: `wave_3: pc=0x7f00 (kernel_code_entry=...) (stopped, reason: TRAP)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header<'l> {
    /// The text before the header.
    pub(super) prefix: &'l [u8],
    pub(super) id: u64,
    pub(super) pc: u64,
    pub(super) entry: Entry<'l>,
    pub(super) kernargs: Option<u64>,
    /// `None`: the line ends before it.
    pub(super) state: Option<State<'l>>,
}

/// The kernel's first instruction, by a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry<'l> {
    /// Absent: agents up to ROCm 6.3.
    Unsaid,
    /// The wave's trap temporaries were not set up at its launch.
    NotAvailable,
    /// Its address and its demangled name.
    At(u64, Option<&'l [u8]>),
}

/// State of a wave, with the agent's text for the stop reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State<'l> {
    Running,
    Stopped(&'l [u8]),
}

/// Finds headers.
#[derive(Debug)]
pub(super) struct Headers {
    mark: Finder<'static>,
}

impl Headers {
    pub(super) fn new() -> Self {
        Self { mark: Finder::new("wave_") }
    }

    /// The header in a line, at any offset.
    pub(super) fn find<'l>(&self, line: &'l [u8]) -> Option<Header<'l>> {
        let mut from = 0;
        while let Some(at) = self.mark.find(line.get(from..)?) {
            let at = from + at;
            let before = at.checked_sub(1).and_then(|before| line.get(before));
            let whole = !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            let header = whole.then(|| header(line.get(..at)?, line.get(at..)?)).flatten();
            if header.is_some() {
                return header;
            }
            from = at + 1;
        }
        None
    }
}

fn header<'l>(prefix: &'l [u8], text: &'l [u8]) -> Option<Header<'l>> {
    let mut cursor = Cursor::new(text);
    cursor.take("wave_");
    let id = cursor.decimal()?;
    if !cursor.take(": pc=") {
        return None;
    }
    let pc = cursor.address()?;
    let rest = cursor.rest;
    let stopped = memmem::rfind(rest, b"(stopped, reason: ");
    let running = memmem::rfind(rest, b"(running)");
    let (state, kernel) = match (stopped, running) {
        (Some(at), _) => {
            let words = rest.get(at + "(stopped, reason: ".len()..).unwrap_or_default();
            let end = words.iter().position(|byte| *byte == b')');
            (end.and_then(|end| words.get(..end)).map(State::Stopped), rest.get(..at))
        }
        (None, Some(at)) => (Some(State::Running), rest.get(..at)),
        (None, None) => (None, Some(rest)),
    };
    let (entry, kernargs) = kernel_of(kernel.unwrap_or_default());
    Some(Header { prefix, id, pc, entry, kernargs, state })
}

/// ` (kernel_code_entry=0x10 <name(int)>, kernargs=0x20) `
fn kernel_of(text: &[u8]) -> (Entry<'_>, Option<u64>) {
    const MARK: &str = "(kernel_code_entry=";
    let Some(at) = find(text, MARK) else { return (Entry::Unsaid, None) };
    let text = text.get(at + MARK.len()..).unwrap_or_default().trim_ascii_end();
    let text = text.strip_suffix(b")").unwrap_or(text);
    // A name may contain any text: the search for the mark starts at the end.
    let mark = ", kernargs=";
    let (text, kernargs) = match memmem::rfind(text, mark.as_bytes()) {
        Some(at) => {
            let number = text.get(at + mark.len()..).unwrap_or_default();
            (text.get(..at).unwrap_or_default(), Cursor::new(number).address())
        }
        None => (text, None),
    };
    let mut cursor = Cursor::new(text);
    let Some(address) = cursor.address() else { return (Entry::NotAvailable, kernargs) };
    cursor.spaces();
    let name = cursor.rest.strip_prefix(b"<").and_then(|name| name.strip_suffix(b">"));
    (Entry::At(address, name), kernargs)
}

/// `3 wavefront(s) found in XNACK error state @PC: 0x0000001101F0B1A4`: the header of agents of 2018 and 2019.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OldHeader<'l> {
    pub(super) prefix: &'l [u8],
    /// Number of waves that stopped there; only the first is printed.
    pub(super) count: u64,
    pub(super) pc: u64,
    /// Whether the line gives memory as the reason.
    pub(super) xnack: bool,
}

pub(super) fn old_header(line: &[u8]) -> Option<OldHeader<'_>> {
    const MARK: &str = " wavefront(s) found in ";
    let at = find(line, MARK)?;
    let before = line.get(..at)?;
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (prefix, count) = before.split_at(at.checked_sub(digits)?);
    let count = Cursor::new(count).decimal()?;
    let rest = line.get(at + MARK.len()..)?;
    let pc = find(rest, "@PC: ").and_then(|at| rest.get(at + "@PC: ".len()..))?;
    let pc = Cursor::new(pc).address()?;
    Some(OldHeader { prefix, count, pc, xnack: find(rest, "XNACK").is_some() })
}

/// `Lane 0x1F` and `ACC Lane 0x1F` of old agents: the following registers belong to that lane.
pub(super) fn old_lane(line: &[u8]) -> Option<(bool, u64)> {
    let mut cursor = Cursor::new(skip_spaces(line));
    let accumulation = cursor.take("ACC ");
    if !cursor.take("Lane ") {
        return None;
    }
    let lane = cursor.address()?;
    cursor.at_blank().then_some((accumulation, lane))
}

/// The beginning of a part of a wave's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    /// `scalar registers:` and its like.
    Registers,
    /// `Local memory content:`; later agents add the bytes that the dispatch requested.
    Local(Option<u64>),
    /// `Global memory (kernarg segment, 24 bytes):`
    Kernarg,
    /// `Disassembly for function f:`
    Disassembly,
    /// `End of disassembly.`
    EndOfDisassembly,
    /// `Code Object:` and `Faulty Code Object:` of agents of 2018 and 2019
    CodeObject,
}

pub(super) fn heading(line: &[u8]) -> Option<Heading> {
    let line = skip_spaces(line);
    let mut cursor = Cursor::new(line);
    match line.first()? {
        b'L' if cursor.take("Local memory content") => {
            let size = cursor.take(" (").then(|| cursor.decimal()).flatten();
            Some(Heading::Local(size))
        }
        b'L' if line.trim_ascii_end() == b"LDS:" => Some(Heading::Local(None)),
        b'G' if cursor.take("Global memory (kernarg segment") => Some(Heading::Kernarg),
        b'D' if cursor.take("Disassembly") && matches!(cursor.rest.first(), Some(b' ' | b':')) => {
            Some(Heading::Disassembly)
        }
        b'E' if cursor.take("End of disassembly") => Some(Heading::EndOfDisassembly),
        b'C' | b'F' if matches!(line.trim_ascii_end(), b"Code Object:" | b"Faulty Code Object:") => {
            Some(Heading::CodeObject)
        }
        _ if line.trim_ascii_end().ends_with(b" registers:") => Some(Heading::Registers),
        _ => None,
    }
}

/// The function of `Disassembly for function f(int*):`.
pub(super) fn disassembled(line: &[u8]) -> Option<&[u8]> {
    let name = skip_spaces(line).strip_prefix(b"Disassembly for function ")?.trim_ascii_end();
    Some(name.strip_suffix(b":").unwrap_or(name)).filter(|name| !name.is_empty())
}

/// An instruction of a disassembly: ` => 0x7f1000002010 <+16>:    s_cbranch_execz 65503  # 0x7f1000002000 <f(int)>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction<'l> {
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) text: &'l [u8],
    pub(super) target: Option<u64>,
}

pub(super) fn instruction(line: &[u8]) -> Option<Instruction<'_>> {
    let mut cursor = Cursor::new(line);
    cursor.spaces();
    let _ = cursor.take("=>");
    cursor.spaces();
    let address = cursor.address()?;
    cursor.spaces();
    if !cursor.take("<+") {
        return None;
    }
    let offset = cursor.decimal()?;
    if !cursor.take(">:") {
        return None;
    }
    let text = cursor.rest;
    let (text, target) = match find(text, "# 0x") {
        Some(at) => {
            let (text, target) = text.split_at_checked(at)?;
            (text, Cursor::new(target.get(2..)?).address())
        }
        None => (text, None),
    };
    Some(Instruction { address, offset, text: text.trim_ascii(), target }).filter(|one| !one.text.is_empty())
}

/// The source position of the next instructions: `/src/f.hip:` or `55        c[i] = 1;`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceRow<'l> {
    File(&'l [u8]),
    Line(u64),
}

pub(super) fn source_row(line: &[u8]) -> Option<SourceRow<'_>> {
    let mut cursor = Cursor::new(line);
    if let Some(number) = cursor.decimal() {
        // A program's own line may begin with a number.
        let is_apart = cursor.rest.is_empty() || cursor.rest.starts_with(b"    ");
        return is_apart.then_some(SourceRow::Line(number));
    }
    let file = line.trim_ascii_end().strip_suffix(b":")?;
    let is_path = file.contains(&b'/') && file.first().is_some_and(|first| !first.is_ascii_whitespace());
    is_path.then_some(SourceRow::File(file))
}

/// Whether a line is a row of registers or memory, or the heading of a lane.
pub(super) fn is_row(line: &[u8]) -> bool {
    let row = || {
        let mut cursor = Cursor::new(line);
        cursor.spaces();
        scalar(&mut cursor).is_some()
    };
    let lanes = || vector(line).is_some_and(|(_, mut cursor)| matches!(lane(&mut cursor), Some(Ok(_))));
    let words = || memory::row(line, &mut Vec::new()).is_some_and(|row| !row.damaged);
    old_lane(line).is_some() || row() || lanes() || words()
}

/// Offset of a row after a program's unterminated line; `memory`: whether rows of memory may follow here.
pub(super) fn row_within(line: &[u8], memory: bool) -> Option<usize> {
    if memory {
        let at = find(line, "    0x").filter(|at| *at > 0)?;
        let row = line.get(at..)?;
        return memory::row(row, &mut Vec::new()).is_some_and(|row| !row.damaged).then_some(at);
    }
    let colon = find(line, ": ")?;
    let name = line.get(..colon)?.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let at = colon.checked_sub(name).filter(|at| *at > 0)?;
    let row = line.get(at..).filter(|row| begins_as_row(row))?;
    let lanes = || vector(row).is_some_and(|(_, mut cursor)| matches!(lane(&mut cursor), Some(Ok(_))));
    (lanes() || !scalars(row, &mut Vec::new())).then_some(at)
}

/// Whether a line is the rule that the agent prints before each wave.
pub(super) fn is_rule(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.len() == RULE && line.iter().all(|byte| *byte == b'-')
}

/// Number of dashes in a rule.
const RULE: usize = 56;

/// Offset of `scalar registers:` or a similar heading, or of old agents' heading below their header: the rest of a
/// line.
pub(super) fn class_heading(line: &[u8]) -> Option<usize> {
    let text = line.trim_ascii_end();
    if text.ends_with(b"printing the first one:") {
        return Some(text.len() - "printing the first one:".len());
    }
    let class = text.strip_suffix(b" registers:")?;
    let word = class.iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
    (word > 0).then_some(class.len() - word)
}

/// `code object: URI` and `loaded at: [0x1000-0x3000]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Module<'l> {
    Uri(&'l [u8]),
    Loaded(u64, u64),
}

pub(super) fn module(line: &[u8]) -> Option<Module<'_>> {
    let mut cursor = Cursor::new(skip_spaces(line));
    if cursor.take("code object: ") {
        return Some(Module::Uri(cursor.rest.trim_ascii()));
    }
    if !cursor.take("loaded at: [") {
        return None;
    }
    let start = cursor.address()?;
    if !cursor.take("-") {
        return None;
    }
    let end = cursor.address()?;
    cursor.take("]").then_some(Module::Loaded(start, end))
}

/// A value of a register row: `s0: 00000001`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar<'l> {
    pub(super) name: &'l [u8],
    pub(super) digits: usize,
    pub(super) value: u64,
}

/// A row of values, and whether it ends in other text.
///
/// Values have 8 or 16 digits, since the agent pads them: `step: 12` is a program's own line.
pub(super) fn scalars<'l>(line: &'l [u8], into: &mut Vec<Scalar<'l>>) -> bool {
    into.clear();
    let mut cursor = Cursor::new(line);
    loop {
        cursor.spaces();
        if cursor.rest.is_empty() {
            return false;
        }
        let Some(scalar) = scalar(&mut cursor) else { return true };
        into.push(scalar);
    }
}

fn scalar<'l>(cursor: &mut Cursor<'l>) -> Option<Scalar<'l>> {
    let name = cursor.name()?;
    if !cursor.take(":") {
        return None;
    }
    cursor.spaces();
    let _ = cursor.take("0x");
    let text = cursor.rest;
    // Names are right-aligned in 16 columns: one of 16 characters follows the previous value without a blank.
    [16, 8].into_iter().find_map(|digits| {
        let (number, rest) = text.split_at_checked(digits)?;
        let value = hex(number)?;
        let mut next = Cursor::new(rest);
        let ends = next.at_blank() || (next.name().is_some() && next.rest.starts_with(b":"));
        cursor.rest = if ends { rest } else { text };
        ends.then_some(Scalar { name, digits, value })
    })
}

/// Whether a line begins like a row of registers with unreadable values: `s12: 00ff`.
pub(super) fn begins_as_row(line: &[u8]) -> bool {
    let mut cursor = Cursor::new(skip_spaces(line));
    let Some(name) = cursor.name() else { return false };
    let stem = name.iter().position(u8::is_ascii_digit);
    let numbered = stem.is_some_and(|stem| {
        let (stem, number) = name.split_at(stem);
        matches!(stem, b"s" | b"v" | b"a" | b"ttmp") && number.iter().all(u8::is_ascii_digit)
    });
    numbered && cursor.take(": ")
}

/// The name of a vector row and the text after it: `v0: [0] 00000000 [1] 00000001`.
pub(super) fn vector(line: &[u8]) -> Option<(&[u8], Cursor<'_>)> {
    let mut cursor = Cursor::new(skip_spaces(line));
    let name = cursor.name()?;
    if !cursor.take(":") {
        return None;
    }
    cursor.spaces();
    cursor.rest.starts_with(b"[").then_some((name, cursor))
}

/// The next lane of a vector row; `Err` on other text, `None` at the end.
pub(super) fn lane(cursor: &mut Cursor<'_>) -> Option<Result<(u64, u32), ()>> {
    cursor.spaces();
    if cursor.rest.is_empty() {
        return None;
    }
    let mut read = || {
        let index = cursor.take("[").then(|| cursor.decimal()).flatten()?;
        if !cursor.take("]") {
            return None;
        }
        cursor.spaces();
        let (_, value) = cursor.hex().filter(|(digits, _)| *digits == 8)?;
        cursor.at_blank().then_some((index, value as u32))
    };
    Some(read().ok_or(()))
}

#[cfg(test)]
mod tests;
