//! Memory instructions: offsets, cache policies, formats, images and exports.

use super::{Printer, Text};
use crate::decode::Instruction;
use crate::effects::{Effects, Encoding, Flags};
use crate::table::{Role, Section as S};
use std::fmt;

/// Lists of names in the table, as the script numbers them.
const FORMATS: usize = 2;
const DIMENSIONS: usize = 3;
const TARGETS: usize = 4;

pub(super) fn printer(name: &str) -> Option<Printer> {
    Some(match name {
        "printOffset" | "printFlatOffset" => |t, at, _| match t.i.offset_at(at, &t.effects) {
            0 => Ok(()),
            offset => write!(t.out, " offset:{offset}"),
        },
        "printSMEMOffset" => |t, at, _| t.hex(t.number(at)),
        "printSMRDOffset8" | "printSMRDLiteralOffset" | "printU32ImmOperand" => {
            |t, at, _| write!(t.out, "{:#x}", t.number(at) as u32)
        }
        "printU16ImmOperand" => |t, at, _| {
            let number = t.number(at);
            let is_half = i16::try_from(number).is_ok() || u16::try_from(number).is_ok();
            if is_half {
                write!(t.out, "{:#x}", number as u16)
            } else {
                write!(t.out, "{:#x}", number as u32)
            }
        },
        "printFP64ImmOperand" => |t, at, _| write!(t.out, "{:#x}", t.number(at)),
        "printCPol" => |t, at, _| t.cache_policy(t.number(at)),
        "format" => |t, at, _| t.listed(FORMATS, t.number(at)),
        "printDim" => |t, at, _| t.listed(DIMENSIONS, t.number(at)),
        "printR128A16" => |t, at, _| {
            let name = if t.gpu.family == 9 { " a16" } else { " r128" };
            t.out.write_str(if t.number(at) == 0 { "" } else { name })
        },
        "printExpTgt" => |t, at, _| t.listed(TARGETS, t.number(at) & 63),
        "printExpSrc0" => |t, at, _| t.export(at, 0),
        "printExpSrc1" => |t, at, _| t.export(at, 1),
        "printExpSrc2" => |t, at, _| t.export(at, 2),
        "printExpSrc3" => |t, at, _| t.export(at, 3),
        _ => return None,
    })
}

impl Instruction {
    /// An entry of a list of names.
    pub(super) fn listed(&self, list: usize, number: i64) -> Option<&'static str> {
        let (table, variant) = (self.decoder.table, self.decoder.index.variant);
        let list = table.range(S::EnumStarts, list * table.len(S::VariantWaves) + variant);
        let at = list.clone().nth(usize::try_from(number).ok()?)?;
        Some(table.text(S::StringStarts, S::Strings, table.u16(S::Enums, at).into()))
            .filter(|name| !name.is_empty())
    }

    fn offset_at(&self, at: usize, effects: &Effects) -> i64 {
        use Encoding::{Flat, Global, Mtbuf, Mubuf, Scratch};
        let number = self.operand(at).and_then(|operand| operand.number()).unwrap_or_default();
        let bits = match (self.decoder.index.gpu.family, effects.encoding) {
            (12, Mubuf | Mtbuf | Flat | Global | Scratch) => 24,
            (10, Global | Scratch) => 12,
            (_, Global | Scratch) => 13,
            _ => return number & 0xffff,
        };
        number << (64 - bits) >> (64 - bits)
    }

    /// The constant offset of a memory instruction, in bytes, or in elements for those with two offsets; 0 without one.
    #[must_use]
    pub fn offset(&self) -> i64 {
        const OFFSET: Role = Role::named("offset");
        match (self.effects(), self.position(OFFSET)) {
            (Some(effects), Some(at)) if effects.encoding == Encoding::Smem => {
                self.operand(at).and_then(|operand| operand.number()).unwrap_or_default()
            }
            (Some(effects), Some(at)) => self.offset_at(at, &effects),
            _ => 0,
        }
    }

    /// The name of a buffer's format in the instruction: `[BUF_FMT_32_FLOAT]`; `None`: the default.
    #[must_use]
    pub fn buffer_format(&self) -> Option<&'static str> {
        let number = self.operand_of(const { Role::named("format") })?.number()?;
        self.listed(FORMATS, number)?.strip_prefix(" format:")
    }
}

impl Text<'_, '_> {
    fn listed(&mut self, list: usize, number: i64) -> fmt::Result {
        self.out.write_str(self.i.listed(list, number).unwrap_or_default())
    }

    fn export(&mut self, at: usize, source: usize) -> fmt::Result {
        let enabled = self.number_of(const { Role::named("en") }).unwrap_or_default();
        let is_compressed = self.number_of(const { Role::named("compr") }).unwrap_or_default() != 0;
        let at = if is_compressed { at - source + source / 2 } else { at };
        if enabled >> source & 1 == 1 { self.operand(at) } else { self.out.write_str("off") }
    }

    fn cache_policy(&mut self, bits: i64) -> fmt::Result {
        if self.gpu.family == 12 {
            return self.temporal_hint(bits);
        }
        let is_940 = self.gpu.is_gfx940;
        let names = [
            (1, true, if is_940 && self.effects.encoding != Encoding::Smem { " sc0" } else { " glc" }),
            (2, true, if is_940 { " nt" } else { " slc" }),
            (4, self.gpu.family >= 10, " dlc"),
            (16, self.gpu.is_gfx90a, if is_940 { " sc1" } else { " scc" }),
            (!0x1f, true, " /* unexpected cache policy bit */"),
        ];
        names
            .into_iter()
            .filter(|(bit, exists, _)| bits & bit != 0 && *exists)
            .try_for_each(|(_, _, name)| self.out.write_str(name))
    }

    fn temporal_hint(&mut self, bits: i64) -> fmt::Result {
        let (hint, scope) = (bits & 7, bits & 0x18);
        if bits >> 11 & 1 == 1 {
            self.out.write_str(" scale_offset")?;
        }
        let flags = self.effects.flags;
        let has = |flag: Flags| flags.contains(flag);
        let name = self.i.mnemonic().unwrap_or_default();
        let is_copy = name.contains("store_async") || name.starts_with("tensor_store");
        if hint != 0 {
            let text = if has(Flags::ATOMIC) || has(Flags::ATOMIC_RETURN) {
                match (hint, scope >= 0x10) {
                    (1, _) => "ATOMIC_RETURN",
                    (2, _) => "ATOMIC_NT",
                    (3, _) => "ATOMIC_NT_RETURN",
                    (4 | 5, true) => "ATOMIC_CASCADE_RT",
                    (6 | 7, true) => "ATOMIC_CASCADE_NT",
                    _ => return self.atomic_hint(hint, bits),
                }
            } else if has(Flags::STORE) && (is_copy || !has(Flags::LOAD)) {
                match hint {
                    3 if scope == 0x18 => "STORE_BYPASS",
                    hint => usize::try_from(hint)
                        .ok()
                        .and_then(|hint| STORE_HINTS.get(hint))
                        .copied()
                        .unwrap_or_default(),
                }
            } else {
                match hint {
                    3 if scope == 0x18 => "LOAD_BYPASS",
                    7 => "",
                    hint => usize::try_from(hint)
                        .ok()
                        .and_then(|hint| LOAD_HINTS.get(hint))
                        .copied()
                        .unwrap_or_default(),
                }
            };
            if text.is_empty() {
                write!(self.out, " th:{hint:#x}")?
            } else {
                write!(self.out, " th:TH_{text}")?
            }
        }
        self.scope(bits)
    }

    fn atomic_hint(&mut self, hint: i64, bits: i64) -> fmt::Result {
        write!(self.out, " th:TH_ATOMIC_{hint:#x}")?;
        self.scope(bits)
    }

    fn scope(&mut self, bits: i64) -> fmt::Result {
        self.out.write_str(match bits & 0x18 {
            8 => " scope:SCOPE_SE",
            0x10 => " scope:SCOPE_DEV",
            0x18 => " scope:SCOPE_SYS",
            _ => "",
        })?;
        self.out.write_str(if bits & 0x20 == 0 { "" } else { " nv" })
    }
}

const STORE_HINTS: [&str; 8] =
    ["", "STORE_NT", "STORE_HT", "STORE_WB", "STORE_NT_RT", "STORE_RT_NT", "STORE_NT_HT", "STORE_NT_WB"];
const LOAD_HINTS: [&str; 7] = ["", "LOAD_NT", "LOAD_HT", "LOAD_LU", "LOAD_NT_RT", "LOAD_RT_NT", "LOAD_NT_HT"];
