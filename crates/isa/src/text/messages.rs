//! Operands of 16 bits with a syntax of their own: waits, messages, hardware registers, swizzles, dependencies.

use super::{Printer, Text};
use crate::decode::Instruction;
use crate::index::extract;
use crate::table::Role;
use std::fmt::{self, Write};

/// Lists of names in the table, as the script numbers them.
const HARDWARE_REGISTERS: usize = 0;
const MESSAGES: usize = 1;
const VERSIONS: usize = 5;

pub(super) fn printer(name: &str) -> Option<Printer> {
    Some(match name {
        "printSWaitCnt" => {
            |t, _, _| t.parts(&t.i.wait_counts().map(|(name, count, most)| (name, count.into(), most.into())))
        }
        "printSDelayALU" => |t, at, _| t.delay(t.number(at)),
        "printDepCtr" => |t, at, _| t.dependencies(t.number(at)),
        "printHwreg" => |t, at, _| t.hardware_register(t.number(at)),
        "printSendMsg" => |t, at, _| t.message(t.number(at) & 0xffff),
        "printSwizzle" => |t, at, _| t.swizzle(t.number(at) as u16),
        "printGPRIdxMode" => |t, at, _| t.index_mode(t.number(at)),
        "printEndpgm" => |t, at, _| match t.number(at) & 0xffff {
            0 => Ok(()),
            number => write!(t.out, " {number}"),
        },
        "version" => |t, at, _| t.version(t.number(at)),
        "printInterpAttr" => |t, at, _| write!(t.out, "attr{}", t.number(at)),
        "printInterpAttrChan" => |t, at, _| {
            write!(t.out, ".{}", ['x', 'y', 'z', 'w'].get((t.number(at) & 3) as usize).unwrap_or(&'x'))
        },
        "printInterpSlot" => |t, at, _| match t.number(at) {
            0 => t.out.write_str("p10"),
            1 => t.out.write_str("p20"),
            2 => t.out.write_str("p0"),
            slot => write!(t.out, "invalid_param_{slot}"),
        },
        _ => return None,
    })
}

impl Instruction {
    const SIMM16: Role = Role::named("simm16");

    /// The hardware register of `s_getreg` and `s_setreg`: `HW_REG_MODE`; `None`: it has no name.
    #[must_use]
    pub fn hardware_register(&self) -> Option<&'static str> {
        self.listed(HARDWARE_REGISTERS, self.operand_of(Self::SIMM16)?.number()? & 63)
    }

    /// The counters of `s_waitcnt`, with the number of operations that may be outstanding and the most that the field holds.
    #[must_use]
    pub fn wait_counts(&self) -> [(&'static str, u16, u16); 3] {
        let bits = self.operand_of(Self::SIMM16).and_then(|operand| operand.number()).unwrap_or_default();
        self.decoder.index.gpu.counters().map(|(name, pieces)| {
            let count = |word| extract(word, pieces.iter().copied()) as u16;
            (name, count(u128::from(bits as u16)), count(u128::MAX))
        })
    }
}

impl Text<'_, '_> {
    /// Parts with their names, those that differ from the usual number, or all if none differs.
    fn parts(&mut self, parts: &[(&str, i64, i64)]) -> fmt::Result {
        let is_usual = parts.iter().all(|(_, number, usual)| number == usual);
        let mut space = "";
        for (name, number, usual) in parts {
            if is_usual || number != usual {
                write!(self.out, "{space}{name}({number})")?;
                space = " ";
            }
        }
        Ok(())
    }

    fn delay(&mut self, bits: i64) -> fmt::Result {
        const INSTRUCTIONS: [&str; 12] = [
            "NO_DEP",
            "VALU_DEP_1",
            "VALU_DEP_2",
            "VALU_DEP_3",
            "VALU_DEP_4",
            "TRANS32_DEP_1",
            "TRANS32_DEP_2",
            "TRANS32_DEP_3",
            "FMA_ACCUM_CYCLE_1",
            "SALU_CYCLE_1",
            "SALU_CYCLE_2",
            "SALU_CYCLE_3",
        ];
        const SKIPS: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
        let parts = [
            ("instid0", bits & 15, INSTRUCTIONS.as_slice(), "/* invalid instid value */"),
            ("instskip", bits >> 4 & 7, SKIPS.as_slice(), "/* invalid instskip value */"),
            ("instid1", bits >> 7 & 15, INSTRUCTIONS.as_slice(), "/* invalid instid value */"),
        ];
        let mut bar = "";
        for (name, number, names, wrong) in parts.into_iter().filter(|(_, number, ..)| *number != 0) {
            write!(self.out, "{bar}{name}({})", names.get(number as usize).unwrap_or(&wrong))?;
            bar = " | ";
        }
        if bar.is_empty() { self.out.write_char('0') } else { Ok(()) }
    }

    fn dependencies(&mut self, bits: i64) -> fmt::Result {
        // Name, first bit, number of bits, and whether the family has it.
        let fields = [
            ("depctr_hold_cnt", 7, 1, !self.gpu.is_gfx101),
            ("depctr_sa_sdst", 0, 1, true),
            ("depctr_va_vdst", 12, 4, true),
            ("depctr_va_sdst", 9, 3, true),
            ("depctr_va_ssrc", 8, 1, true),
            ("depctr_va_vcc", 1, 1, true),
            ("depctr_vm_vsrc", 2, 3, true),
        ];
        let fields = fields.into_iter().filter(|(.., exists)| *exists);
        let mask = |len: i64| (1 << len) - 1;
        let known: i64 = fields.clone().map(|(_, start, len, _)| mask(len) << start).sum();
        if bits & 0xffff & !known != 0 {
            return write!(self.out, "{:#x}", bits & 0xffff);
        }
        let mut parts = [("", 0, 0); 7];
        let mut count = 0;
        for (part, (name, start, len, _)) in parts.iter_mut().zip(fields) {
            *part = (name, bits >> start & mask(len), mask(len));
            count += 1;
        }
        self.parts(parts.get(..count).unwrap_or_default())
    }

    fn hardware_register(&mut self, bits: i64) -> fmt::Result {
        let (number, offset, size) = (bits & 63, bits >> 6 & 31, (bits >> 11 & 31) + 1);
        self.out.write_str("hwreg(")?;
        match self.i.listed(HARDWARE_REGISTERS, number) {
            Some(name) => self.out.write_str(name)?,
            None => write!(self.out, "{number}")?,
        }
        if offset != 0 || size != 32 {
            write!(self.out, ", {offset}, {size}")?;
        }
        self.out.write_char(')')
    }

    fn message(&mut self, bits: i64) -> fmt::Result {
        const GS_OPERATIONS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
        const SYSTEM_OPERATIONS: [&str; 5] =
            ["", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "", "SYSMSG_OP_TTRACE_PC"];
        let is_11 = self.gpu.family >= 11;
        let (number, operation, stream) =
            if is_11 { (bits & 0xff, 0, 0) } else { (bits & 15, bits >> 4 & 7, bits >> 8 & 3) };
        let encoded = number | operation << 4 | stream << 8;
        let name = self.i.listed(MESSAGES, number);
        // The operation's name, and whether it has a stream.
        let part: Option<(Option<&str>, bool)> = match number {
            _ if is_11 => Some((None, false)),
            2 if operation == 0 => None,
            2 | 3 => GS_OPERATIONS.get(operation as usize).map(|name| (Some(*name), operation != 0)),
            15 => SYSTEM_OPERATIONS
                .get(operation as usize)
                .filter(|name| !name.is_empty())
                .map(|name| (Some(*name), false)),
            _ => (operation == 0).then_some((None, false)),
        };
        match (name, part) {
            (Some(name), Some((operation, has_stream))) if has_stream || stream == 0 => {
                write!(self.out, "sendmsg({name}")?;
                if let Some(operation) = operation {
                    write!(self.out, ", {operation}")?;
                }
                if has_stream {
                    write!(self.out, ", {stream}")?;
                }
                self.out.write_char(')')
            }
            _ if encoded == bits => write!(self.out, "sendmsg({number}, {operation}, {stream})"),
            _ => write!(self.out, "{bits}"),
        }
    }

    fn swizzle(&mut self, bits: u16) -> fmt::Result {
        if bits == 0 {
            return Ok(());
        }
        self.out.write_str(" offset:")?;
        let (and, or, xor) = (bits & 31, bits >> 5 & 31, bits >> 10 & 31);
        if bits >= 0xe000 {
            return write!(self.out, "swizzle(FFT,{and})");
        }
        if bits >= 0xc000 {
            return write!(self.out, "swizzle(ROTATE,{},{})", bits >> 10 & 1, or);
        }
        if bits & 0xff00 == 0x8000 {
            let [a, b, c, d] = [0, 2, 4, 6].map(|shift| bits >> shift & 3);
            return write!(self.out, "swizzle(QUAD_PERM,{a},{b},{c},{d})");
        }
        if bits & 0x8000 != 0 {
            return write!(self.out, "{bits}");
        }
        let group = 32 - and;
        match (and, or) {
            (31, 0) if xor.is_power_of_two() => write!(self.out, "swizzle(SWAP,{xor})"),
            (31, 0) if xor != 0 && (xor + 1).is_power_of_two() => {
                write!(self.out, "swizzle(REVERSE,{})", xor + 1)
            }
            _ if group > 1 && group.is_power_of_two() && or < group && xor == 0 => {
                write!(self.out, "swizzle(BROADCAST,{group},{or})")
            }
            _ => {
                self.out.write_str("swizzle(BITMASK_PERM,\"")?;
                for bit in (0..5).rev() {
                    let at = |number: u16| number >> bit & 1;
                    let (zero, one) = (at(or ^ xor), at((and | or) ^ xor));
                    self.out.write_char(match (zero, one) {
                        (0, 0) => '0',
                        (1, 1) => '1',
                        (0, _) => 'p',
                        _ => 'i',
                    })?;
                }
                self.out.write_str("\")")
            }
        }
    }

    fn version(&mut self, bits: i64) -> fmt::Result {
        if bits & 0x1f00 != 0 {
            return write!(self.out, "{bits:#x}");
        }
        let flags = [(0x2000, "W64"), (0x4000, "W32"), (0x8000, "MDP")];
        let flags = flags.into_iter().filter(|(bit, _)| bits & bit != 0);
        // Each flag but the last one is in parentheses with what is before it.
        flags.clone().skip(1).try_for_each(|_| self.out.write_char('('))?;
        match self.i.listed(VERSIONS, bits & 0x1fff) {
            Some(name) => self.out.write_str(name)?,
            None => write!(self.out, "{}", bits & 0x1fff)?,
        }
        let last = flags.clone().count();
        for (at, (_, name)) in flags.enumerate() {
            write!(self.out, "|UC_VERSION_{name}_BIT{}", if at + 1 < last { ")" } else { "" })?;
        }
        Ok(())
    }

    fn index_mode(&mut self, bits: i64) -> fmt::Result {
        if bits & !15 != 0 {
            return write!(self.out, "{bits:#x}");
        }
        self.out.write_str("gpr_idx(")?;
        let mut comma = "";
        for (bit, name) in
            ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1)
        {
            write!(self.out, "{comma}{name}")?;
            comma = ",";
            let _ = bit;
        }
        self.out.write_char(')')
    }
}
