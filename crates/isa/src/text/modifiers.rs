//! Modifiers of sources and results: signs, parts of registers, DPP and SDWA, matrix formats.

use super::{Printer, Text};
use crate::operand::Value;
use crate::table::{Op, Role};
use std::fmt::{self, Write};

const NEG: i64 = 1;
const ABS: i64 = 2;
const SEXT: i64 = 16;
const OP_SEL_0: i64 = 4;
const OP_SEL_1: i64 = 8;

pub(super) fn printer(name: &str) -> Option<Printer> {
    Some(match name {
        "printOperandAndFPInputMods" => |t, at, _| t.signed(at),
        "printOperandAndIntInputMods" => |t, at, _| {
            let is_extended = t.number(at) & SEXT != 0;
            t.out.write_str(if is_extended { "sext(" } else { "" })?;
            t.operand(at + 1)?;
            t.out.write_str(if is_extended { ")" } else { "" })
        },
        "printNamedBit" => |t, at, name| if t.number(at) == 0 { Ok(()) } else { write!(t.out, " {name}") },
        "printNamedInt" => |t, at, form| t.named_number(at, form),
        "printOModSI" => |t, at, _| {
            t.out.write_str(match t.number(at) {
                1 => " mul:2",
                2 => " mul:4",
                3 => " div:2",
                _ => "",
            })
        },
        "printOpSel" => |t, _, _| t.op_sel(),
        "printOpSelHi" => |t, _, _| t.packed(" op_sel_hi:[", OP_SEL_1),
        "printNegLo" => |t, _, _| t.packed(" neg_lo:[", NEG),
        "printNegHi" => |t, _, _| t.packed(" neg_hi:[", ABS),
        "printDPPCtrl" => |t, at, _| t.dpp(at),
        "printDPP8" => |t, at, _| {
            let lanes = t.number(at);
            t.out.write_str("dpp8:")?;
            t.list((0..8).map(|lane| lanes >> (3 * lane) & 7))
        },
        "printDppBoundCtrl" => {
            |t, at, _| t.out.write_str(if t.number(at) == 0 { "" } else { " bound_ctrl:1" })
        }
        "printDppFI" => {
            |t, at, _| t.out.write_str(if matches!(t.number(at), 1 | 0xea) { " fi:1" } else { "" })
        }
        "printSDWADstSel" => |t, at, _| t.sdwa("dst_sel:", at),
        "printSDWASrc0Sel" => |t, at, _| t.sdwa("src0_sel:", at),
        "printSDWASrc1Sel" => |t, at, _| t.sdwa("src1_sel:", at),
        "printSDWADstUnused" => |t, at, _| {
            t.out.write_str("dst_unused:")?;
            // The reserved number prints as LLVM prints it.
            t.pick(at, &["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "UNUSED_PAD"])
        },
        "printBLGP" => |t, at, _| {
            let bits = t.number(at);
            if bits == 0 {
                return Ok(());
            }
            if t.gpu.is_gfx940 && t.i.mnemonic().is_some_and(|name| name.starts_with("v_mfma_f64_")) {
                t.out.write_str(" neg:")?;
                return t.list((0..3).map(|bit| bits >> bit & 1));
            }
            write!(t.out, " blgp:{bits}")
        },
        "printBitOp3" => |t, at, _| match t.number(at) as u8 {
            0 => Ok(()),
            number @ 1..=10 => write!(t.out, " bitop3:{number}"),
            number => write!(t.out, " bitop3:{number:#x}"),
        },
        "printIndexKey8bit" | "printIndexKey16bit" | "printIndexKey32bit" => {
            |t, at, _| match t.number(at) & 7 {
                0 => Ok(()),
                key => write!(t.out, " index_key:{key}"),
            }
        }
        "printMatrixAFMT" => |t, at, _| t.matrix("a_fmt", "FMT", at, &["FP8", "BF8", "FP6", "BF6", "FP4"]),
        "printMatrixBFMT" => |t, at, _| t.matrix("b_fmt", "FMT", at, &["FP8", "BF8", "FP6", "BF6", "FP4"]),
        "printMatrixAScale" => |t, at, _| t.matrix("a_scale", "SCALE", at, &["ROW0", "ROW1"]),
        "printMatrixBScale" => |t, at, _| t.matrix("b_scale", "SCALE", at, &["ROW0", "ROW1"]),
        "printMatrixAScaleFmt" => {
            |t, at, _| t.matrix("a_scale_fmt", "SCALE_FMT", at, &["E8", "E5M3", "E4M3"])
        }
        "printMatrixBScaleFmt" => {
            |t, at, _| t.matrix("b_scale_fmt", "SCALE_FMT", at, &["E8", "E5M3", "E4M3"])
        }
        _ => return None,
    })
}

impl Text<'_, '_> {
    fn list(&mut self, mut items: impl Iterator<Item = i64>) -> fmt::Result {
        write!(self.out, "[{}", items.next().unwrap_or_default())?;
        items.try_for_each(|item| write!(self.out, ",{item}"))?;
        self.out.write_char(']')
    }

    /// A name by an operand's number.
    fn pick(&mut self, at: usize, names: &[&str]) -> fmt::Result {
        let number = self.number(at);
        match usize::try_from(number).ok().and_then(|number| names.get(number)) {
            Some(name) => self.out.write_str(name),
            None => write!(self.out, "{number}"),
        }
    }

    fn sdwa(&mut self, name: &str, at: usize) -> fmt::Result {
        self.out.write_str(name)?;
        self.pick(at, &["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"])
    }

    fn matrix(&mut self, field: &str, kind: &str, at: usize, names: &[&str]) -> fmt::Result {
        if self.number(at) == 0 {
            return Ok(());
        }
        write!(self.out, " matrix_{field}:")?;
        if usize::try_from(self.number(at)).is_ok_and(|number| number < names.len()) {
            write!(self.out, "MATRIX_{kind}_")?;
        }
        self.pick(at, names)
    }

    fn named_number(&mut self, at: usize, form: &str) -> fmt::Result {
        let (name, form) = form.split_once(':').unwrap_or((form, ""));
        let number = self.number(at);
        if number == 0 && !form.ends_with('a') {
            return Ok(());
        }
        write!(self.out, " {name}:")?;
        if form.starts_with('x') { self.hex(number) } else { write!(self.out, "{number}") }
    }

    /// A source with its sign.
    fn signed(&mut self, at: usize) -> fmt::Result {
        let modifiers = self.number(at);
        let is_number = self.i.operand(at + 1).is_some_and(|operand| match operand.value {
            Value::Immediate(_) => true,
            Value::Literal(number) => self.mark(&operand, number).is_none(),
            _ => false,
        });
        let (is_negative, is_absolute) = (modifiers & NEG != 0, modifiers & ABS != 0);
        let is_function = is_negative && !is_absolute && is_number;
        let bar = if is_absolute { "|" } else { "" };
        let sign = match (is_negative, is_function) {
            (false, _) => "",
            (true, false) => "-",
            (true, true) => "neg(",
        };
        write!(self.out, "{sign}{bar}")?;
        self.operand(at + 1)?;
        write!(self.out, "{bar}{}", if is_function { ")" } else { "" })
    }

    fn op_sel(&mut self) -> fmt::Result {
        const PERMUTES: [Op; 4] = [
            Op::named("v_permlane16_b32"),
            Op::named("v_permlanex16_b32"),
            Op::named("v_permlane16_var_b32"),
            Op::named("v_permlanex16_var_b32"),
        ];
        const CONVERSIONS: [Op; 2] = [Op::named("v_cvt_f32_fp8"), Op::named("v_cvt_f32_bf8")];
        let of = |role| self.number_of(role).unwrap_or_default();
        let (first, second) =
            (of(const { Role::named("src0_modifiers") }), of(const { Role::named("src1_modifiers") }));
        let op = self.i.op();
        let pair = if op.is_some_and(|op| PERMUTES.contains(&op)) {
            [first & OP_SEL_0, second & OP_SEL_0]
        } else if self.gpu.family == 12
            && !self.gpu.is_gfx1250
            && op.is_some_and(|op| CONVERSIONS.contains(&op))
        {
            [first & OP_SEL_0, first & OP_SEL_1]
        } else {
            return self.packed(" op_sel:[", OP_SEL_0);
        };
        if pair == [0, 0] {
            return Ok(());
        }
        self.out.write_str(" op_sel:")?;
        self.list(pair.into_iter().map(|bit| i64::from(bit != 0)))
    }

    /// A bit of the modifiers of all sources, unless each is as usual.
    fn packed(&mut self, name: &str, bit: i64) -> fmt::Result {
        const SOURCES: [(Role, Role); 3] = [
            (Role::named("src0"), Role::named("src0_modifiers")),
            (Role::named("src1"), Role::named("src1_modifiers")),
            (Role::named("src2"), Role::named("src2_modifiers")),
        ];
        let usual = i64::from(bit == OP_SEL_1);
        let (mut sources, mut count, mut place) = ([0; 3], 0, 0);
        for ((role, modifiers), source) in SOURCES.into_iter().zip(&mut sources) {
            place += 1;
            if self.effects.is_wmma() || self.i.position(role).is_some() {
                count = place;
            }
            *source =
                self.number_of(modifiers).unwrap_or(if self.effects.is_wmma() { usual * bit } else { usual });
        }
        let sources = sources.get(..count).unwrap_or_default();
        let has = |role| self.i.position(role).is_some();
        let has_result = has(const { Role::named("vdst") }) || has(const { Role::named("sdst") });
        let selects_result = has_result && count > 0 && bit == OP_SEL_0 && self.effects.has_op_sel();
        let result = sources.first().copied().unwrap_or_default() & OP_SEL_1 != 0;
        let expected = self.effects.is_packed() && bit == OP_SEL_1;
        if sources.iter().all(|source| (source & bit != 0) == expected) && !(selects_result && result) {
            return Ok(());
        }
        self.out.write_str(name)?;
        for (at, source) in sources.iter().enumerate() {
            write!(self.out, "{}{}", if at == 0 { "" } else { "," }, u8::from(source & bit != 0))?;
        }
        if selects_result {
            write!(self.out, ",{}", u8::from(result))?;
        }
        self.out.write_char(']')
    }

    fn dpp(&mut self, at: usize) -> fmt::Result {
        let control = self.number(at);
        let is_10 = self.gpu.family >= 10;
        let is_64 = || {
            // And these products of 32 bits.
            const PRODUCTS: [&str; 4] = ["v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u32"];
            self.i.mnemonic().is_some_and(|name| PRODUCTS.contains(&name))
                || self.i.operands().any(|operand| {
                    let name = operand.role.name();
                    matches!(name, "vdst" | "src0" | "src1")
                        && operand.register().is_some_and(|register| register.dwords == 2)
                })
        };
        if let Some(only) = self.gpu.wide_dpp
            && !(0x150..0x160).contains(&control)
            && is_64()
        {
            return write!(self.out, " /* DP ALU dpp only supports {only} */");
        }
        let lane = control & 15;
        let old = |name| if is_10 { None } else { Some(name) };
        let gone = |name: &str| match name {
            "wave_shl" | "wave_rol" | "wave_shr" | "wave_ror" | "row_bcast" => {
                " is not supported starting from GFX10"
            }
            _ => "",
        };
        let (name, number) = match control {
            0..=0xff => {
                self.out.write_str("quad_perm:")?;
                return self.list((0..4).map(|place| control >> (2 * place) & 3));
            }
            0x101..=0x10f => (Some("row_shl"), lane),
            0x111..=0x11f => (Some("row_shr"), lane),
            0x121..=0x12f => (Some("row_ror"), lane),
            0x130 | 0x134 | 0x138 | 0x13c | 0x142 | 0x143 => {
                let (name, number) = match control {
                    0x130 => ("wave_shl", 1),
                    0x134 => ("wave_rol", 1),
                    0x138 => ("wave_shr", 1),
                    0x13c => ("wave_ror", 1),
                    0x142 => ("row_bcast", 15),
                    _ => ("row_bcast", 31),
                };
                if is_10 {
                    return write!(self.out, "/* {name}{} */", gone(name));
                }
                (old(name), number)
            }
            0x140 => return self.out.write_str("row_mirror"),
            0x141 => return self.out.write_str("row_half_mirror"),
            0x150..=0x15f if self.gpu.is_gfx90a => (Some("row_newbcast"), lane),
            0x150..=0x15f if is_10 => (Some("row_share"), lane),
            0x150..=0x15f => {
                let remark =
                    " /* row_newbcast/row_share is not supported on ASICs earlier than GFX90A/GFX10 */";
                return self.out.write_str(remark);
            }
            0x160..=0x16f if is_10 => (Some("row_xmask"), lane),
            0x160..=0x16f => {
                return self.out.write_str("/* row_xmask is not supported on ASICs earlier than GFX10 */");
            }
            _ => return self.out.write_str("/* Invalid dpp_ctrl value */"),
        };
        write!(self.out, "{}:{number}", name.unwrap_or_default())
    }
}
