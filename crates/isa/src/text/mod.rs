//! The text of an instruction as llvm-objdump prints it: a template of the table, whose items are the printers of these modules.

mod immediate;
mod memory;
mod messages;
mod modifiers;

use crate::decode::Instruction;
use crate::effects::Effects;
use crate::gpu::Gpu;
use crate::operand::{File, Register, Value};
use crate::table::{Role, Section as S, table};
use std::fmt;
use std::sync::OnceLock;

/// An item of a template: the number of an operand, and a text.
type Printer = fn(&mut Text<'_, '_>, usize, &str) -> fmt::Result;

/// A text that is being written.
pub(crate) struct Text<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    i: &'a Instruction,
    effects: Effects,
    gpu: Gpu,
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(op), Some(effects), Some(template)) = (self.op(), self.effects(), self.form(1)) else {
            return invalid(f, &self.word.to_le_bytes(), self.size());
        };
        let table = self.decoder.table;
        f.write_str(op.mnemonic())?;
        let mut text = Text::new(f, self, effects);
        table.range(S::TemplateStarts, template).try_for_each(|item| text.item(item))
    }
}

/// The text of one item of an instruction's template.
pub(crate) struct ItemText<'a> {
    instruction: &'a Instruction,
    item: usize,
}

impl Instruction {
    pub(crate) fn item_text(&self, item: usize) -> ItemText<'_> {
        ItemText { instruction: self, item }
    }
}

impl Instruction {
    /// Whether the text always has a word: `offen`, `lds`, `gds`.
    #[must_use]
    pub fn has_word(&self, word: &str) -> bool {
        let table = self.decoder.table;
        let mut items = self.form(1).map_or(0..0, |template| table.range(S::TemplateStarts, template));
        items.any(|item| {
            let printer = table.text(S::PrinterStarts, S::Printers, table.u8(S::Items, 2 * item).into());
            let text = table.text(S::StringStarts, S::Strings, table.u16(S::ItemStrings, item).into());
            printer == "text" && text.split(' ').any(|known| known == word)
        })
    }
}

impl fmt::Display for ItemText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effects = self.instruction.effects();
        effects.map_or(Ok(()), |effects| Text::new(f, self.instruction, effects).item(self.item))
    }
}

/// The text of one operand without its modifiers.
#[derive(Clone, Copy, Debug)]
pub struct OperandText<'a> {
    instruction: &'a Instruction,
    at: usize,
}

impl Instruction {
    /// The text of the operand with this number, in the order of [`Instruction::operands`]: `s[2:3]`, `0x10`, `1.0`.
    #[must_use]
    pub fn operand_text(&self, at: usize) -> OperandText<'_> {
        OperandText { instruction: self, at }
    }
}

impl fmt::Display for OperandText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instruction.effects() {
            Some(effects) => Text::new(f, self.instruction, effects).operand(self.at),
            None => Ok(()),
        }
    }
}

/// A word that is no instruction, as llvm-objdump prints it.
fn invalid(f: &mut fmt::Formatter<'_>, bytes: &[u8], size: usize) -> fmt::Result {
    if let (4, Some(word)) = (size, bytes.first_chunk()) {
        return write!(f, ".long {:#010x}", u32::from_le_bytes(*word));
    }
    f.write_str(".byte")?;
    let bytes = bytes.iter().take(size).enumerate();
    bytes.into_iter().try_for_each(|(at, byte)| write!(f, "{} {byte:#04x}", if at == 0 { "" } else { "," }))
}

/// The printers by their number in the table.
fn printers() -> &'static [Option<Printer>] {
    static PRINTERS: OnceLock<Vec<Option<Printer>>> = OnceLock::new();
    PRINTERS.get_or_init(|| {
        let Some(table) = table() else { return Vec::new() };
        let names = 0..table.len(S::PrinterStarts).saturating_sub(1);
        names.map(|at| printer(table.text(S::PrinterStarts, S::Printers, at))).collect()
    })
}

/// The printer of a name: LLVM's, where it is a function of LLVM.
fn printer(name: &str) -> Option<Printer> {
    Some(match name {
        "text" => |t, _, text| t.out.write_str(text),
        "second" => |t, _, _| write!(t.out, " :: {} ", t.i.second_op().map_or("", crate::Op::mnemonic)),
        "printOperand" | "printRegularOperand" | "printAVLdSt32Align2RegOp" => |t, at, _| t.operand(at),
        "printVOPDst" => |t, at, suffix| {
            if at == 0 {
                write!(t.out, "{suffix} ")?;
            }
            t.operand(at)
        },
        "printVINTRPDst" => |t, at, _| {
            t.out.write_str("_e32 ")?;
            t.operand(at)
        },
        "addresses" => |t, at, _| t.addresses(at),
        "vcc" => |t, _, _| write!(t.out, ", {}", t.vcc()),
        "vcc_first" => |t, _, _| write!(t.out, "{}, ", t.vcc()),
        _ => {
            return modifiers::printer(name)
                .or_else(|| memory::printer(name))
                .or_else(|| messages::printer(name));
        }
    })
}

impl<'a, 'f> Text<'a, 'f> {
    fn new(out: &'a mut fmt::Formatter<'f>, i: &'a Instruction, effects: Effects) -> Self {
        Self { out, i, effects, gpu: i.decoder.index.gpu }
    }

    fn item(&mut self, item: usize) -> fmt::Result {
        let table = self.i.decoder.table;
        let [printer, operand] = [0, 1].map(|at| usize::from(table.u8(S::Items, 2 * item + at)));
        let extra = table.text(S::StringStarts, S::Strings, table.u16(S::ItemStrings, item).into());
        match printers().get(printer) {
            Some(Some(print)) => print(self, operand, extra),
            _ => Ok(()),
        }
    }

    fn vcc(&self) -> &'static str {
        if self.gpu.wave64 { "vcc" } else { "vcc_lo" }
    }

    /// An operand's number; 0 if it is a register.
    fn number(&self, at: usize) -> i64 {
        self.i.operand(at).and_then(|operand| operand.number()).unwrap_or_default()
    }

    fn number_of(&self, role: Role) -> Option<i64> {
        self.i.operand_of(role).map(|operand| operand.number().unwrap_or_default())
    }

    /// The addresses of an image instruction.
    fn addresses(&mut self, first: usize) -> fmt::Result {
        let place = |at: usize| {
            let name = self.i.operand(at)?.role.name();
            name.strip_prefix("vaddr").map(|place| place.parse().unwrap_or(0_usize))
        };
        let mut places = [first; 16];
        let mut all = 0;
        for at in 0..self.i.operand_count() {
            if let Some(entry) = place(at).and_then(|place| places.get_mut(place)) {
                *entry = at;
                all += 1;
            }
        }
        let count = self.i.image().map_or(all, |(_, count, _)| count.into());
        if count == 1 {
            return self.operand(first);
        }
        for (place, at) in places.into_iter().take(count).enumerate() {
            self.out.write_str(if place == 0 { "[" } else { ", " })?;
            self.operand(at)?;
        }
        self.out.write_str("]")
    }

    /// An operand as such, without modifiers.
    fn operand(&mut self, at: usize) -> fmt::Result {
        let Some(operand) = self.i.encoded(at) else { return Ok(()) };
        match operand.value {
            Value::None => Ok(()),
            Value::Register(register) => self.register(register),
            Value::Immediate(number) => self.immediate(&operand, number),
            Value::Literal(number) => self.literal(&operand, number),
        }
    }

    fn register(&mut self, register: Register) -> fmt::Result {
        let prefix = match register.file {
            File::Vgpr | File::VgprLow | File::VgprHigh => "v",
            File::Agpr => "a",
            File::Sgpr => "s",
            File::Ttmp => "ttmp",
            File::Special => {
                let name = self.i.decoder.table.text(S::SpecialStarts, S::Specials, register.name.into());
                return self.out.write_str(name);
            }
        };
        let (half, run) = match register.file {
            File::VgprLow => (".l", 1),
            File::VgprHigh => (".h", 1),
            _ => ("", u16::from(register.dwords)),
        };
        let print = |out: &mut fmt::Formatter<'_>, first: u16| match run {
            0 | 1 => write!(out, "{prefix}{first}{half}"),
            _ => write!(out, "{prefix}[{first}:{}]", first + run - 1),
        };
        if register.number < 256 {
            return print(self.out, register.number);
        }
        // Upper bits beside the name of the lower ones.
        print(self.out, register.number & 0xff)?;
        self.out.write_str(" /*")?;
        print(self.out, register.number)?;
        self.out.write_str("*/")
    }

    /// A number as LLVM's `formatHex` prints it.
    fn hex(&mut self, number: i64) -> fmt::Result {
        let sign = if number < 0 { "-" } else { "" };
        write!(self.out, "{sign}{:#x}", number.unsigned_abs())
    }
}
