//! Operands, read from the bits of an instruction when asked for.

use crate::decode::Instruction;
use crate::effects::Encoding;
use crate::index::extract;
use crate::table::{Role, Section as S, Table, table};

/// Numbers of the contents of runs in the table, where they matter beyond reading a value.
pub(crate) const LITERAL: u8 = 2;
pub(crate) const ADDRESS_BYTE: u8 = 11;

/// Where registers of a number belong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum File {
    /// Vector registers.
    Vgpr,
    /// Accumulation registers.
    Agpr,
    /// Scalar registers below `vcc`.
    Sgpr,
    /// Registers of the trap handler.
    Ttmp,
    /// All others (`vcc`, `exec`, `m0`, `src_shared_base`), by the number that encodes them as a source.
    Special,
    /// The lower half of a vector register.
    VgprLow,
    /// The upper half of a vector register.
    VgprHigh,
}

/// A run of registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Register {
    /// The file of the registers.
    pub file: File,
    /// The first number.
    pub number: u16,
    /// How many; a half counts as one.
    pub dwords: u8,
    pub(crate) name: u16,
}

/// The contents of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// No register: an address that is off, or that an image instruction has not with its other fields.
    None,
    /// Registers.
    Register(Register),
    /// A number in the word, or an inline constant with the bits that the operation reads.
    Immediate(i64),
    /// A literal after the word, with the bits that the operation reads.
    Literal(i64),
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Its role in the instruction.
    pub role: Role,
    /// Its contents.
    pub value: Value,
    /// The instruction writes it.
    pub is_written: bool,
    /// The number of the written operand that must have the same registers: the instruction reads and writes them.
    pub tied: Option<u8>,
    pub(crate) number_type: u8,
}

/// An operand without its contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandInfo {
    /// Its number, for [`Instruction::operand`].
    pub number: usize,
    /// Its role in the instruction.
    pub role: Role,
    /// The instruction writes it.
    pub is_written: bool,
    /// The number of the written operand that must have the same registers.
    pub tied: Option<u8>,
}

const VADDR: Role = Role::named("vaddr");
const VADDR0: Role = Role::named("vaddr0");

impl Register {
    /// The name of a register outside of the numbered files: `vcc`, `exec_lo`, `null`, `src_shared_base`.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        let name = || Some(table()?.text(S::SpecialStarts, S::Specials, self.name.into()));
        if self.file == File::Special { name() } else { None }
    }
}

impl Operand {
    /// The registers, if the operand is one.
    #[must_use]
    pub fn register(&self) -> Option<Register> {
        match self.value {
            Value::Register(register) => Some(register),
            _ => None,
        }
    }

    /// The number, unless the operand is a register.
    #[must_use]
    pub fn number(&self) -> Option<i64> {
        match self.value {
            Value::Immediate(value) | Value::Literal(value) => Some(value),
            _ => None,
        }
    }
}

fn info(table: &Table<'_>, number: usize, operand: usize) -> OperandInfo {
    let flags = table.u8(S::OperandShapes, 4 * operand + 2);
    OperandInfo {
        number,
        role: Role(table.u8(S::OperandShapes, 4 * operand)),
        is_written: flags & 1 != 0,
        tied: (flags & 2 != 0).then_some(flags >> 4),
    }
}

impl Instruction {
    /// The operands, in the order of LLVM's instruction descriptions: written ones first.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        (0..self.operand_count()).filter_map(|at| self.operand(at))
    }

    /// The operands without their contents, which take most of the time of [`Self::operands`].
    pub fn operand_infos(&self) -> impl Iterator<Item = OperandInfo> + '_ {
        let table = self.decoder.table;
        let list = self.form(0).map_or(0..0, |list| table.range(S::ListStarts, list));
        list.enumerate().map(move |(number, at)| info(table, number, table.u16(S::Lists, at).into()))
    }

    pub(crate) fn operand_count(&self) -> usize {
        self.form(0).map_or(0, |list| self.decoder.table.range(S::ListStarts, list).len())
    }

    /// The operand of a role.
    #[must_use]
    pub fn operand_of(&self, role: Role) -> Option<Operand> {
        self.position(role).and_then(|at| self.operand(at))
    }

    /// The number of the operand of a role.
    pub(crate) fn position(&self, role: Role) -> Option<usize> {
        let table = self.decoder.table;
        let mut list = table.range(S::ListStarts, self.form(0)?);
        list.position(|at| table.u8(S::OperandShapes, 4 * usize::from(table.u16(S::Lists, at))) == role.0)
    }

    /// The operand with a number.
    #[must_use]
    pub fn operand(&self, at: usize) -> Option<Operand> {
        let operand = self.encoded(at)?;
        if !self.is_image() {
            return Some(operand);
        }
        let place = operand.role.name().strip_prefix("vaddr").and_then(|place| place.parse().ok());
        let is_absent =
            place.is_some_and(|place: u8| self.image().is_some_and(|(_, count, _)| place >= count));
        Some(if is_absent { Operand { value: Value::None, ..operand } } else { operand })
    }

    /// The operand with a number; also an address that the instruction has not with its other fields.
    pub(crate) fn encoded(&self, at: usize) -> Option<Operand> {
        let table = self.decoder.table;
        let list = table.range(S::ListStarts, self.form(0)?);
        let operand = usize::from(table.u16(S::Lists, list.clone().nth(at)?));
        let OperandInfo { role, is_written, tied, .. } = info(table, at, operand);
        Some(Operand {
            role,
            value: self.with_msb(role, self.widened(role, self.value(operand))),
            is_written,
            tied,
            number_type: table.u8(S::OperandShapes, 4 * operand + 1),
        })
    }

    /// The sizes of an image instruction: of its data, and the number of its addresses with the size of the last one.
    pub(crate) fn image(&self) -> Option<(u8, u8, u8)> {
        const FIELDS: [Role; 5] = [
            Role::named("dmask"),
            Role::named("d16"),
            Role::named("tfe"),
            Role::named("dim"),
            Role::named("a16"),
        ];
        let table = self.decoder.table;
        let image = self.form(3).filter(|image| *image < usize::from(u16::MAX))?;
        let [mask, half, status, dimension, short] = FIELDS.map(|role| {
            let field = self.position(role).and_then(|at| self.field(at));
            field.map_or(0, |operand| match self.value(operand) {
                Value::Immediate(number) => number as usize,
                _ => 0,
            })
        });
        let data = 64 * usize::from(table.u16(S::Images, 2 * image))
            + (mask & 15 | (half & 1) << 4 | (status & 1) << 5);
        let address =
            32 * usize::from(table.u16(S::Images, 2 * image + 1)) + 2 * (dimension & 7 | (short & 1) << 3);
        let sizes = (
            table.u8(S::ImageData, data),
            table.u8(S::ImageAddresses, address),
            table.u8(S::ImageAddresses, address + 1),
        );
        // Registers beyond the last one: LLVM keeps the sizes of the encoding.
        let is_aligned = self.decoder.index.gpu.aligns_vgprs();
        let fits = |role: Role, dwords: u8| {
            let value = self.position(role).and_then(|at| self.field(at)).map(|operand| self.value(operand));
            let wrong =
                |number: u16| number + u16::from(dwords) > 256 || is_aligned && dwords > 1 && number % 2 == 1;
            let is_same = |register: &Register| register.dwords == dwords;
            !matches!(value, Some(Value::Register(register)) if !is_same(&register) && wrong(register.number))
        };
        const DATA: [Role; 2] = [Role::named("vdata"), Role::named("vdst")];
        let fits_data = DATA.into_iter().all(|role| fits(role, sizes.0));
        // The last of several addresses holds all further ones.
        const LAST: [Role; 5] = [
            VADDR0,
            Role::named("vaddr1"),
            Role::named("vaddr2"),
            Role::named("vaddr3"),
            Role::named("vaddr4"),
        ];
        let last = LAST.get(usize::from(sizes.1).saturating_sub(1)).copied().unwrap_or(VADDR0);
        let fits_address = fits(last, sizes.2) && (sizes.1 != 1 || fits(VADDR, sizes.2));
        (sizes.0 != 0 && sizes.1 != 0 && fits_data && fits_address).then_some(sizes)
    }

    /// A register of an image instruction with the size that its other fields ask for.
    fn widened(&self, role: Role, value: Value) -> Value {
        let Value::Register(register) = value else { return value };
        if !self.is_image() {
            return value;
        }
        let name = role.name();
        let is_data = matches!(name, "vdata" | "vdst" | "vdata_in");
        let place = name.strip_prefix("vaddr");
        if !is_data && place.is_none() {
            return value;
        }
        let Some((data, count, last)) = self.image() else { return value };
        let dwords = match place {
            None => data,
            Some(place) if place.parse().unwrap_or(0) + 1 == count => last,
            Some(_) => register.dwords,
        };
        Value::Register(Register { dwords, ..register })
    }

    /// A vector register with the upper bits of its number that `s_set_vgpr_msb` sets for its role.
    fn with_msb(&self, role: Role, value: Value) -> Value {
        let msb = u16::from(self.decoder.msb());
        match value {
            Value::Register(register) if msb != 0 && register.file == File::Vgpr => {
                let has_k = [const { Role::named("imm") }, const { Role::named("immX") }]
                    .into_iter()
                    .any(|role| self.position(role).is_some());
                let place = match role.name() {
                    "src0" | "addr" | "vaddr" | "vaddr0" | "src0X" | "src0Y" | "scale_src0" => 0,
                    // The addend of an instruction with a literal factor.
                    "src1" | "vsrc1X"
                        if has_k
                            && self
                                .mnemonic()
                                .is_some_and(|name| name.contains("mamk") || name.contains("madmk")) =>
                    {
                        2
                    }
                    "src1" | "data0" | "vaddr1" | "vsrc1X" | "vsrc1Y" | "scale_src1" => 1,
                    "vdata"
                        if self.effects().is_some_and(|effects| {
                            matches!(effects.encoding, Encoding::Flat | Encoding::Global | Encoding::Scratch)
                        }) =>
                    {
                        1
                    }
                    "src2" | "data1" | "vaddr2" | "vsrc2X" | "vsrc2Y" => 2,
                    "vdst" | "vdata" | "vdstX" | "vdstY" => 3,
                    _ => return value,
                };
                Value::Register(Register {
                    number: register.number | (msb >> (2 * place) & 3) << 8,
                    ..register
                })
            }
            _ => value,
        }
    }

    /// The operand of the table with a number.
    fn field(&self, at: usize) -> Option<usize> {
        let table = self.decoder.table;
        let list = table.range(S::ListStarts, self.form(0)?);
        Some(table.u16(S::Lists, list.clone().nth(at)?).into())
    }

    /// Whether sizes of registers follow from fields of an image instruction.
    pub(crate) fn is_image(&self) -> bool {
        self.form(3).is_some_and(|image| image < usize::from(u16::MAX))
    }

    /// The bits of an operand's field.
    pub(crate) fn pieces(&self, at: usize) -> Option<impl Iterator<Item = (u8, u8)> + 'static> {
        let table = self.decoder.table;
        let field = usize::from(table.u16(S::OperandFields, 3 * self.field(at)?));
        Some(
            table
                .range(S::BitStarts, field)
                .map(|at| (table.u8(S::Bits, 2 * at), table.u8(S::Bits, 2 * at + 1))),
        )
    }

    fn kind(&self, operand: usize) -> usize {
        let wave64 = usize::from(self.decoder.index.gpu.wave64);
        self.decoder.table.u16(S::OperandFields, 3 * operand + 1 + wave64).into()
    }

    /// The value of a field of consecutive numbers that means a number.
    pub(crate) fn field_of_number(&self, at: usize, number: i64) -> Option<u64> {
        let table = self.decoder.table;
        let kind = self.kind(self.field(at)?);
        let base = i64::from(table.u32(S::RunBases, table.range(S::RunStarts, kind).start).cast_signed());
        let is_plain = table.u16(S::Kinds, 2 * kind) & 1 == 1;
        is_plain.then(|| (number.wrapping_sub(base) >> table.u8_pair(kind).1).cast_unsigned())
    }

    /// The first value of a field whose value 0 means nothing.
    pub(crate) fn first_value(&self, at: usize) -> Option<u64> {
        let table = self.decoder.table;
        let kind = self.kind(self.field(at)?);
        let first = table.u16(S::Runs, 2 * table.range(S::RunStarts, kind).next()?);
        (table.u16(S::Kinds, 2 * kind) & 1 == 0 && first > 0).then_some(first.into())
    }

    /// The run of a kind's values that has a value, and the value's place in it. Runs are sorted, and lie apart.
    fn run(&self, kind: usize, value: u64) -> Option<(usize, u16)> {
        let table = self.decoder.table;
        let value = u16::try_from(value).ok()?;
        let std::ops::Range { start: mut run, mut end } = table.range(S::RunStarts, kind);
        while run + 1 < end {
            let middle = run + (end - run) / 2;
            if table.u16(S::Runs, 2 * middle) <= value {
                run = middle;
            } else {
                end = middle;
            }
        }
        let (first, count) = (table.u16(S::Runs, 2 * run), table.u16(S::Runs, 2 * run + 1));
        let place = value.checked_sub(first).filter(|place| run < end && *place < count)?;
        Some((run, place))
    }

    /// The run with an operand's value, if it has some contents: its base, and its dwords.
    fn run_of(&self, at: usize, contents: u8) -> Option<(u32, u8)> {
        let table = self.decoder.table;
        let value = extract(self.word, self.pieces(at)?);
        let (run, _) = self.run(self.kind(self.field(at)?), value)?;
        (table.u8(S::RunShapes, 4 * run) == contents).then_some(())?;
        Some((table.u32(S::RunBases, run), table.u8(S::RunShapes, 4 * run + 1)))
    }

    /// The byte behind the word that has the number of an address.
    pub(crate) fn address_byte(&self, at: usize) -> Option<u32> {
        self.run_of(at, ADDRESS_BYTE).map(|(base, _)| base)
    }

    /// Bytes of an operand's literal behind the word; 0: the word has it.
    pub(crate) fn literal_run(&self, at: usize) -> Option<u8> {
        self.run_of(at, LITERAL).map(|(_, bytes)| bytes)
    }

    /// The value of the field of an operand of the table.
    fn value(&self, operand: usize) -> Value {
        let table = self.decoder.table;
        let bits = table.range(S::BitStarts, usize::from(table.u16(S::OperandFields, 3 * operand)));
        let field =
            extract(self.word, bits.map(|at| (table.u8(S::Bits, 2 * at), table.u8(S::Bits, 2 * at + 1))));
        let kind = self.kind(operand);
        let shape = table.u16(S::Kinds, 2 * kind);
        if shape & 1 == 1 {
            let (len, shift) = (u32::from(table.u8_pair(kind).0), u32::from(table.u8_pair(kind).1));
            let unused = 64 - len.clamp(1, 64);
            let number =
                if shape & 2 == 2 { (field << unused).cast_signed() >> unused } else { field.cast_signed() };
            let base = i64::from(table.u32(S::RunBases, table.range(S::RunStarts, kind).start).cast_signed());
            return Value::Immediate((number << shift).wrapping_add(base));
        }
        let Some((run, place)) = self.run(kind, field) else { return Value::None };
        let base = table.u32(S::RunBases, run);
        let [what, dwords, step, shift] = [0, 1, 2, 3].map(|at| table.u8(S::RunShapes, 4 * run + at));
        let number =
            i64::from(base.cast_signed()) + i64::from(place >> shift.min(15)) * i64::from(step.cast_signed());
        let register = |file| Value::Register(Register { file, number: number as u16, dwords, name: 0 });
        match what {
            0 => Value::Immediate(number),
            1 => {
                let constants = table.range(S::ConstantStarts, base as usize);
                Value::Immediate(table.get(S::Constants, constants.start + usize::from(place)).cast_signed())
            }
            // The literal of the word itself.
            LITERAL if dwords == 0 => Value::Literal(i64::from(self.last_dword())),
            LITERAL => Value::Literal(match base {
                0 => i64::from(self.literal as u32),
                1 => i64::from((self.literal as u32).cast_signed()),
                2 => i64::from((self.literal as u32).cast_signed()) << 32,
                _ => (self.literal as u64).cast_signed(),
            }),
            3 => register(File::Vgpr),
            4 => register(File::Agpr),
            5 => register(File::Sgpr),
            6 => register(File::Ttmp),
            7 => {
                let number = table.u16(S::SpecialNumbers, base as usize);
                Value::Register(Register { file: File::Special, number, dwords, name: base as u16 })
            }
            8 => register(File::VgprLow),
            9 => register(File::VgprHigh),
            ADDRESS_BYTE => {
                let number = (self.literal >> (8 * base.min(15))) as u16 & 0xff;
                Value::Register(Register { file: File::Vgpr, number, dwords, name: 0 })
            }
            _ => Value::None,
        }
    }
}
