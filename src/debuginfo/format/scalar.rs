//! Numbers, characters, addresses and pointers to members.

use super::build::ValueBuilder;
use super::letter::Scalar;
use super::number::{MAX_SCALAR_BITS, Part};
use super::text::character;
use super::value::{Notation, Value, ValueError};
use super::{enumerator, fixed, float};
use crate::bounds::MAX_MEMBER_DEPTH;
use crate::debuginfo::DebugInfoError;
use crate::debuginfo::error::Result;
use crate::debuginfo::types::{Base, Member, Type, TypeId, TypeKind};
use crate::units::AddressSpace;

/// Bytes of a virtual table entry: AMDGPU has 64-bit code addresses.
const POINTER_BYTES: u64 = 8;

impl ValueBuilder<'_> {
    /// The value of a type with one notation: number, character, pointer or enumerator.
    pub(super) fn scalar(&self, id: TypeId, found: &Type, part: Part<'_>, bits: u64) -> Result<Value> {
        if let Some(text) = self.lettered(found, part, bits)? {
            return Ok(text);
        }
        let shown = match &found.kind {
            TypeKind::Base(base) => self.base(id, found, base, part, bits)?,
            TypeKind::Enum { scope, enumerators, underlying, .. } => {
                let is_signed = match underlying {
                    Some(underlying) => self.is_signed(*underlying)?,
                    None => enumerators.iter().any(|enumerator| enumerator.value < 0),
                };
                self.integer(is_signed, part, bits)
                    .map(|number| enumerator::enumerator(number, enumerators, scope.as_deref()))
            }
            TypeKind::Pointer { address_space, to } => {
                let is_function = self.is_function(*to)?;
                part.unsigned(bits).map(|address| self.pointer(*address_space, address, is_function))
            }
            TypeKind::Reference { address_space, .. } => {
                part.unsigned(bits).map(|address| format!("@{}", self.address(*address_space, address)))
            }
            TypeKind::PointerToMember { to, class, .. } if self.is_function(*to)? => {
                self.member_function(id, *class, part)?
            }
            TypeKind::PointerToMember { class, .. } => match part.signed(bits.min(64)) {
                Ok(offset) => Ok(self.data_member(*class, offset)?),
                Err(absent) => Err(absent),
            },
            TypeKind::Opaque { .. } => bytes(part, bits),
            TypeKind::Unspecified => Ok("0".to_owned()),
            TypeKind::Subroutine { .. } => Ok(format!("{{{}}}", self.info.type_name(Some(id))?)),
            TypeKind::Array { .. }
            | TypeKind::Record(_)
            | TypeKind::String { .. }
            | TypeKind::Typedef { .. }
            | TypeKind::Qualified { .. } => {
                let (die, what) = (found.id.0, "types");
                return Err(DebugInfoError::TooDeep { die, what, limit: self.options.max_depth });
            }
        };
        Ok(shown.map_or_else(|absent| absent, Value::text))
    }

    fn base(
        &self,
        id: TypeId,
        found: &Type,
        base: &Base,
        part: Part<'_>,
        bits: u64,
    ) -> Result<Result<String, Value>> {
        if bits > MAX_SCALAR_BITS && base.encoding.0 != gimli::DW_ATE_complex_float {
            // Wider than any scalar of the language.
            return Ok(bytes(part, bits));
        }
        if bits == 0 {
            return Ok(Err(Value::unknown(ValueError::NoSize(found.id.0))));
        }
        let name = found.name.as_deref().unwrap_or("");
        let float = |number: u128, bytes: u64| {
            let shown = match bytes {
                // x87's format in 16 bytes does not exist on GPUs.
                16 => Some(float::quad(number)),
                _ => u64::try_from(number).ok().and_then(|bits| float::float(bits, bytes, name)),
            };
            shown.unwrap_or_else(|| format!("<no notation for a float of {bytes} bytes: {number:#x}>"))
        };
        Ok(match base.encoding.0 {
            gimli::DW_ATE_boolean => part.unsigned(bits).map(|number| match (number, self.notation(found)) {
                (0, Notation::C) => "false".to_owned(),
                (1, Notation::C) => "true".to_owned(),
                (0, Notation::Fortran) => ".FALSE.".to_owned(),
                (1, Notation::Fortran) => ".TRUE.".to_owned(),
                (other, _) => other.to_string(),
            }),
            gimli::DW_ATE_float => part.unsigned(bits).map(|number| float(number, bits / 8)),
            gimli::DW_ATE_complex_float => {
                let half = bits / 2;
                let real = part.unsigned(half).map(|number| float(number, half / 8));
                let imaginary = part.skip(half).unsigned(half).map(|number| float(number, half / 8));
                let notation = self.notation(found);
                real.and_then(|real| {
                    imaginary.map(|imaginary| match notation {
                        Notation::C => format!("{real} + {imaginary}i"),
                        Notation::Fortran => format!("({real},{imaginary})"),
                    })
                })
            }
            gimli::DW_ATE_imaginary_float => {
                part.unsigned(bits).map(|number| format!("{}i", float(number, bits / 8)))
            }
            // GCC and clang use it for complex integers; the name has the sign.
            gimli::DW_ATE_lo_user => {
                let half = bits / 2;
                let is_signed = !name.contains("unsigned");
                let number = |part: Part<'_>| match is_signed {
                    true => part.signed(half).map(|number| number.to_string()),
                    false => part.unsigned(half).map(|number| number.to_string()),
                };
                let (real, imaginary) = (number(part), number(part.skip(half)));
                real.and_then(|real| imaginary.map(|imaginary| format!("{real} + {imaginary}i")))
            }
            gimli::DW_ATE_signed_fixed => {
                part.signed(bits).map(|number| fixed::fixed(number < 0, number.unsigned_abs(), base.scale))
            }
            gimli::DW_ATE_unsigned_fixed => {
                part.unsigned(bits).map(|number| fixed::fixed(false, number, base.scale))
            }
            // Decimal digits, which no GPU language has.
            gimli::DW_ATE_packed_decimal
            | gimli::DW_ATE_numeric_string
            | gimli::DW_ATE_edited
            | gimli::DW_ATE_decimal_float => part
                .unsigned(bits)
                .map(|number| format!("<no notation for {}: {number:#x}>", base.encoding.0)),
            encoding if !base.encoding.is_integer() => part.unsigned(bits).map(|number| {
                let described = match (encoding.0, encoding.static_string()) {
                    (0, _) => "without an encoding".to_owned(),
                    (_, Some(name)) => format!("of encoding {name}"),
                    (code, None) => format!("of unknown encoding {code:#x}"),
                };
                format!("<a base type {described}: {number:#x}>")
            }),
            _ => {
                let value_bits = base.bit_size.filter(|size| *size > 0 && *size < bits).unwrap_or(bits);
                let number = match base.encoding.is_signed() {
                    true => part.signed(value_bits).map(|number| (decimal(number), number as u128)),
                    // Only the upper half of the numbers of 128 bits exceeds i128.
                    false => part.unsigned(value_bits).map(|number| {
                        (i128::try_from(number).map_or_else(|_| number.to_string(), decimal), number)
                    }),
                };
                let kind = self.char_kind(id, found)?;
                number.map(|(text, number)| match kind {
                    Some(kind) => {
                        let mask = u32::MAX >> (32 - 8 * kind.width.clamp(1, 4));
                        format!("{text} {}", character(number as u32 & mask, kind))
                    }
                    None => text,
                })
            }
        })
    }

    /// An integer that fits `i128`; DWARF cannot express the upper half of unsigned 128-bit enumerations.
    fn integer(&self, is_signed: bool, part: Part<'_>, bits: u64) -> Result<i128, Value> {
        if is_signed { part.signed(bits) } else { part.unsigned(bits).map(|number| number as i128) }
    }

    pub(super) fn is_signed(&self, id: TypeId) -> Result<bool> {
        let found = self.stripped(id)?;
        Ok(
            matches!(found.as_deref(), Some(Type { kind: TypeKind::Base(base), .. }) if base.encoding.is_signed()),
        )
    }

    fn address(&self, space: AddressSpace, address: u128) -> String {
        match (self.options.space_name)(space) {
            Some(name) => format!("{name}#{address:#x}"),
            None => format!("{address:#x}"),
        }
    }

    fn pointer(&self, space: AddressSpace, address: u128, is_function: bool) -> String {
        let shown = self.address(space, address);
        let symbol = u64::try_from(address).ok().filter(|address| is_function && *address != 0);
        match symbol.and_then(|address| (self.options.symbol_name)(address)) {
            Some(symbol) => format!("{shown} <{symbol}>"),
            None => shown,
        }
    }

    pub(super) fn is_function(&self, to: Option<TypeId>) -> Result<bool> {
        let Some(to) = to else { return Ok(false) };
        Ok(matches!(self.stripped(to)?.as_deref(), Some(Type { kind: TypeKind::Subroutine { .. }, .. })))
    }

    /// A pointer to a data member holds its byte offset, -1 when null (Itanium C++ ABI 2.3). A member at that offset,
    /// of the class or a base, is printed with its own class.
    fn data_member(&self, class: Option<TypeId>, offset: i128) -> Result<String> {
        if offset == -1 {
            return Ok("NULL".to_owned());
        }
        let Some(mut bit) = offset.checked_mul(8) else { return Ok(offset.to_string()) };
        let mut next = class;
        for _ in 0..MAX_MEMBER_DEPTH {
            let class = next.map(|class| self.stripped(class)).transpose()?.flatten();
            let Some(class) = class else { break };
            let TypeKind::Record(record) = &class.kind else { break };
            let at = |member: &&Member| !member.is_base && i128::from(member.bit_offset) == bit;
            if let Some(member) = record.members.iter().find(at) {
                let own = class.name.as_deref().unwrap_or("{...}");
                return Ok(format!("&{own}::{}", member.name.as_deref().unwrap_or("")));
            }
            let mut base = None;
            for member in record.members.iter().filter(|member| member.is_base && member.place.is_none()) {
                let size = member.type_id.map(|id| self.info.byte_size(id)).transpose()?.flatten();
                let start = i128::from(member.bit_offset);
                if (start..start + i128::from(size.unwrap_or(0)) * 8).contains(&bit) {
                    base = Some(member);
                    break;
                }
            }
            let Some(base) = base else { break };
            (bit, next) = (bit - i128::from(base.bit_offset), base.type_id);
        }
        Ok(offset.to_string())
    }

    /// A pointer to a member function: an address, or 1 plus a byte offset into the table of virtual functions, then
    /// the adjustment of `this` (Itanium C++ ABI 2.3).
    fn member_function(
        &self,
        id: TypeId,
        class: Option<TypeId>,
        part: Part<'_>,
    ) -> Result<Result<String, Value>> {
        let (pointer, adjustment) = match (part.unsigned(64), part.skip(64).signed(64)) {
            (Ok(pointer), Ok(adjustment)) => (pointer as u64, adjustment),
            (Err(absent), _) | (_, Err(absent)) => return Ok(Err(absent)),
        };
        let adjusted = match adjustment {
            0 => String::new(),
            by => format!(", this adjustment {by}"),
        };
        if pointer == 0 {
            return Ok(Ok("NULL".to_owned()));
        }
        if pointer & 1 == 0 {
            let name = self.info.type_name(Some(id))?;
            return Ok(Ok(format!(
                "({name}) {}{adjusted}",
                self.pointer(AddressSpace(0), pointer.into(), true)
            )));
        }
        let class = class.map(|class| self.stripped(class)).transpose()?.flatten();
        let slot = (pointer - 1) / POINTER_BYTES;
        let called = class.as_ref().and_then(|class| match &class.kind {
            TypeKind::Record(record) => record.functions.iter().find(|function| function.slot == Some(slot)),
            _ => None,
        });
        let Some(called) = called else {
            return Ok(Ok(format!("&virtual table offset {}{adjusted}", pointer - 1)));
        };
        let demangled = called.linkage_name.as_deref().and_then(crate::debuginfo::demangle);
        let plain = || {
            let class = class.as_ref().and_then(|class| class.name.as_deref()).unwrap_or("?");
            format!("{class}::{}", called.name.as_deref().unwrap_or("?"))
        };
        Ok(Ok(format!("&virtual {}{adjusted}", demangled.unwrap_or_else(plain))))
    }
}

/// A number in decimal. Almost all numbers fit 64 bits; 128-bit formatting takes several times as long.
fn decimal(number: i128) -> String {
    i64::try_from(number).map_or_else(|_| number.to_string(), |number| number.to_string())
}

/// The bytes of a value without notation, most significant first.
fn bytes(part: Part<'_>, bits: u64) -> Result<String, Value> {
    /// Maximum bytes to print.
    const MOST: usize = 256;
    match (part.absence(bits), part.bytes(bits / 8)) {
        (Some(absent), _) => Err(Value::Absent { absent }),
        (None, Some(bytes)) => {
            let shown = bytes.iter().rev().take(MOST);
            Ok(shown.fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}")))
        }
        (None, None) => Err(Value::UNAVAILABLE),
    }
}

impl ValueBuilder<'_> {
    /// A number in the letter's format; `None` if it has none, or the letter changes nothing.
    pub(super) fn lettered(&self, found: &Type, part: Part<'_>, bits: u64) -> Result<Option<Value>> {
        let Some(letter) = self.options.letter else { return Ok(None) };
        let (is_signed, is_float) = match &found.kind {
            TypeKind::Base(base) => (
                base.encoding.is_signed(),
                matches!(base.encoding.0, gimli::DW_ATE_float | gimli::DW_ATE_complex_float),
            ),
            TypeKind::Enum { underlying, enumerators, .. } => match underlying {
                Some(underlying) => (self.is_signed(*underlying)?, false),
                None => (enumerators.iter().any(|enumerator| enumerator.value < 0), false),
            },
            TypeKind::Pointer { .. } | TypeKind::Reference { .. } | TypeKind::PointerToMember { .. } => {
                (false, false)
            }
            _ => return Ok(None),
        };
        let whole = self.info.byte_size(found.id)?.unwrap_or(0).saturating_mul(8).max(bits);
        if !(1..=MAX_SCALAR_BITS).contains(&whole) {
            return Ok(None);
        }
        let number = match is_signed {
            true => part.signed(bits).map(|number| number as u128),
            false => part.unsigned(bits),
        };
        // The caller reports missing bytes.
        let Ok(bits) = number else { return Ok(None) };
        let number = Scalar { bits, size: whole as u32, is_signed, is_float };
        Ok(letter.write(number, self.options.symbol_name).map(Value::text))
    }
}
