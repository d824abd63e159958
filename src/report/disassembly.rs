//! Listings of instructions as text and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::Style;
use super::fold::{beside, folded};
use super::lanes::Detail;
use super::schema::{Hex, Lanes, Schema};
use super::text::lane_list;
use crate::codeobject::hex;
use crate::session::{Disassembly, ListedInstruction, Symbolic};
use crate::units::LaneSet;

/// A listing in the form of gdb's `disassemble /s`, with the lanes at each instruction after it:
/// `=> 0x00007f0000102798 <+408>:  flat_load_dword v0, v[0:1]  ; lanes 0-24`. A long instruction continues below its
/// begin; with all details it is one line.
#[must_use]
pub(crate) fn text(of: &Disassembly, detail: Detail, style: Style) -> String {
    let columns = style.columns().filter(|_| detail != Detail::Full);
    let mut text = format!("{}\n", style.heading(&folded(&head(of), columns)));
    let mut place = None;
    let width = of.instructions.iter().map(|one| label(of, one).chars().count()).max().unwrap_or(0);
    // A label of another function may be long.
    let width = columns.map_or(width, |columns| width.min((columns / 2).saturating_sub(MARKS[0].len() + 2)));
    for one in &of.instructions {
        let now = one.file.as_ref().map(|file| (file, one.line));
        if now.is_some() && now != place {
            let (file, line) = (one.file.as_deref().unwrap_or_default(), one.line);
            let heading = line.map_or_else(|| format!("{file}, no line:"), |line| format!("{file}:{line}:"));
            let _ = writeln!(text, "{}", folded(&heading, columns));
        }
        place = now.or(place);
        let [pc, lane, other] = MARKS;
        let mark = match (one.is_pc, one.lanes.is_empty()) {
            (true, _) => pc,
            (false, false) => lane,
            (false, true) => other,
        };
        let (mut start, mut words) = (format!("{mark}{:<width$}  ", label(of, one)), instruction(one));
        if one.is_pc {
            (start, words) = (style.heading(&start), style.heading(&words));
        }
        let lanes = lanes(one);
        if !lanes.is_empty() {
            let _ = write!(words, "  {}", style.dim(&format!("; {lanes}")));
        }
        let _ = writeln!(text, "{}", beside(&start, &words, columns).trim_end());
    }
    for problem in &of.problems {
        let _ = writeln!(text, "{}", style.alarm(&folded(&format!("Note: {problem}."), columns)));
    }
    text
}

/// Whether a line of text is an instruction of a listing, which folds its lines itself.
#[must_use]
pub(crate) fn is_instruction(line: &str) -> bool {
    MARKS.iter().any(|mark| line.strip_prefix(mark).is_some_and(|rest| rest.starts_with("0x")))
}

/// The marks before instructions: of the PC, of instructions with lanes, of others.
const MARKS: [&str; 3] = ["=> ", "-> ", "   "];

/// `saxpy of saxpy.hsaco, gfx90a`
fn head(of: &Disassembly) -> String {
    let mut head = match (&of.function, &of.code_object) {
        (Some(function), Some(object)) => format!("{} of {object}", function.name),
        (None, Some(object)) => format!("code of {object}"),
        (Some(function), None) => function.name.to_string(),
        (None, None) => "code of no code object that can be read".to_owned(),
    };
    let _ = write!(head, ", {}", of.processor);
    if let Some(text) = of.tool().filter(|_| of.is_text) {
        let _ = write!(head, ", by {text}");
    }
    head
}

/// `0x00007f0000102798 <+408>:` within the function of the listing, `<other+4>` in another one.
fn label(of: &Disassembly, one: &ListedInstruction) -> String {
    let own = of.function.as_ref().map(|function| &function.name);
    let name = match &one.symbol {
        Some(symbol) if own == Some(&symbol.function) => format!(" <+{}>", symbol.offset),
        Some(symbol) => format!(" {}", symbolic(symbol)),
        None => String::new(),
    };
    format!("{:#018x}{name}:", one.address.0)
}

/// `<saxpy+408>`
fn symbolic(symbol: &Symbolic) -> String {
    match symbol.offset {
        0 => format!("<{}>", symbol.function),
        offset => format!("<{}+{offset}>", symbol.function),
    }
}

/// The text, and its branch target: `s_branch 16  # 0x7f00001027e4 <saxpy+484>`.
#[must_use]
pub(crate) fn instruction(one: &ListedInstruction) -> String {
    let mut text = one.code.text().into_owned();
    if let Some((address, symbol)) = &one.target {
        let _ = write!(text, "  # {address}");
        if let Some(symbol) = symbol {
            let _ = write!(text, " {}", symbolic(symbol));
        }
    }
    text
}

/// `lanes 0-24`, `lanes 0-24; inactive: lanes 25-63`
fn lanes(one: &ListedInstruction) -> String {
    let list = |lanes: LaneSet| lane_list(lanes.iter());
    let Some(active) = one.active else {
        return if one.lanes.is_empty() { String::new() } else { list(one.lanes) };
    };
    let inactive = LaneSet(one.lanes.0 & !active.0);
    match (active.is_empty(), inactive.is_empty()) {
        (true, true) if one.is_pc => "no active lane".to_owned(),
        (true, true) => String::new(),
        (false, true) => list(active),
        (true, false) => format!("inactive: {}", list(inactive)),
        (false, false) => format!("{}; inactive: {}", list(active), list(inactive)),
    }
}

/// The instructions of a function.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ListingJson {
    /// The frame's number in the wave's stack, 0 innermost.
    frame: usize,
    /// The frame's PC.
    pc: Option<Hex>,
    /// The function.
    function: Option<String>,
    /// Its first address; null: unknown.
    start: Option<Hex>,
    /// The address past its end.
    end: Option<Hex>,
    /// The code object's name.
    code_object: Option<String>,
    /// The processor of the instructions: `gfx90a`.
    processor: String,
    /// The origin of the texts: lanescope, or the capture.
    tool: Option<&'static str>,
    /// The instructions; empty: the first byte was not captured.
    instructions: Vec<InstructionJson>,
    /// Missing data, with reasons.
    problems: Vec<String>,
}

impl Schema for ListingJson {
    const NAME: &'static str = "disassemble";
}

/// An instruction.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct InstructionJson {
    /// Its address.
    address: Hex,
    /// Its size in bytes.
    size: u8,
    /// Two digits a byte, lowest address first; null: the capture has the text only.
    bytes: Option<String>,
    /// The instruction, with its branch target after `#`.
    text: String,
    /// False for bytes that are no instruction; `text` then has the bytes.
    decoded: bool,
    /// The function.
    function: Option<String>,
    /// Bytes from the start of the function.
    offset: Option<u64>,
    /// Source file.
    file: Option<String>,
    /// Source line.
    line: Option<u64>,
    /// Branch target.
    target: Option<Hex>,
    /// The target by its function: `<saxpy+484>`.
    target_symbol: Option<String>,
    /// Whether the frame continues here.
    current: bool,
    /// The lanes whose frame continues here, as far as known.
    lanes: Lanes,
    /// The active ones of them; null: unknown.
    active: Option<Lanes>,
}

/// A listing as JSON.
#[must_use]
pub(crate) fn json(of: &Disassembly) -> ListingJson {
    let (function, symbol) = (of.function.as_ref(), |one: &Symbolic| one.function.to_string());
    let each = of.instructions.iter().map(|one| InstructionJson {
        address: Hex(one.address.0),
        size: one.code.size,
        bytes: (!one.bytes.is_empty()).then(|| hex(&one.bytes)),
        text: instruction(one),
        decoded: one.code.is_decoded(),
        function: one.symbol.as_ref().map(symbol),
        offset: one.symbol.as_ref().map(|symbol| symbol.offset),
        file: one.file.as_deref().map(str::to_owned),
        line: one.line,
        target: one.target.as_ref().map(|(address, _)| Hex(address.0)),
        target_symbol: one.target.as_ref().and_then(|(_, symbol)| symbol.as_ref().map(symbolic)),
        current: one.is_pc,
        lanes: Lanes(one.lanes),
        active: one.active.map(Lanes),
    });
    ListingJson {
        frame: of.frame,
        pc: of.pc.map(|pc| Hex(pc.0)),
        function: function.map(|function| function.name.to_string()),
        start: function.filter(|function| !function.begins_before).map(|function| Hex(function.start)),
        end: function.map(|function| Hex(function.end)),
        code_object: of.code_object.clone(),
        processor: of.processor.clone(),
        tool: of.tool(),
        instructions: each.collect(),
        problems: of.problems.clone(),
    }
}
