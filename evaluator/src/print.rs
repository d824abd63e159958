//! Operations, values and locations as text.
//!
//! Names of registers and address spaces come from the caller's [`Names`]; [`NoNames`] prints numbers.

use std::fmt::Write as _;

use super::composite::Part;
use super::location::{Frame, Location, Storage};
use super::machine::Entry;
use super::operation::{Placed, Program};
use super::value::{Number, Type};
use crate::units::{AddressSpace, DwarfReg, LaneId};

/// Maps numbers to names and back.
pub trait Names {
    /// Returns the register's name: `v4`.
    fn register(&self, register: DwarfReg) -> Option<String>;

    /// Returns the address space's name: `private_lane`.
    fn space(&self, space: AddressSpace) -> Option<String>;

    /// Returns the register of a name. If several numbers share the name, one of them represents it in text; the others
    /// are printed as numbers.
    fn register_named(&self, name: &str) -> Option<DwarfReg> {
        (0..NAMED_REGISTERS).map(DwarfReg).find(|number| self.register(*number).as_deref() == Some(name))
    }

    /// Returns the address space of a name.
    fn space_named(&self, name: &str) -> Option<AddressSpace> {
        (0..NAMED_SPACES).map(AddressSpace).find(|number| self.space(*number).as_deref() == Some(name))
    }
}

/// Registers searched by the default [`Names::register_named`]; AMDGPU's mapping ends below.
const NAMED_REGISTERS: u64 = 4096;

/// Address spaces searched by [`Names::space_named`]; AMDGPU's end below.
const NAMED_SPACES: u64 = 128;

/// No names: prints numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn register(&self, _: DwarfReg) -> Option<String> {
        None
    }

    fn space(&self, _: AddressSpace) -> Option<String> {
        None
    }

    fn register_named(&self, _: &str) -> Option<DwarfReg> {
        None
    }

    fn space_named(&self, _: &str) -> Option<AddressSpace> {
        None
    }
}

/// Minimum width of a register with a dword for each lane.
const VECTOR_BITS: u64 = 32 * 32;

fn register_name(names: &dyn Names, register: DwarfReg) -> String {
    names.register(register).unwrap_or_else(|| format!("register {register}"))
}

fn space_name(names: &dyn Names, space: AddressSpace) -> String {
    names.space(space).unwrap_or_else(|| format!("space {space}"))
}

/// Formats a location for one lane: `v4 lane 3`, `private_lane[3]+0x40`, `[s4 32 bits][undefined 32 bits]`.
#[must_use]
pub fn location(location: &Location, lane: LaneId, names: &dyn Names) -> String {
    location_up_to(location, lane, names, usize::MAX)
}

/// Formats a location in memory or in a register of that name, for one lane.
fn in_storage(location: &Location, lane: LaneId, name: &str) -> String {
    let (bytes, bits) = (location.offset.bytes.get(lane), u64::from(location.offset.bits.get(lane)));
    // ` lane 63`, `[63]+0xffffffffffffffff`: usually one allocation.
    let mut words = String::with_capacity(name.len() + 24);
    words.push_str(name);
    let rest = match &location.storage {
        Storage::Memory { lane: captured, .. } => {
            if let Some(lane) = captured.seen_by(Some(lane)) {
                let _ = write!(words, "[{lane}]");
            }
            let _ = write!(words, "+{bytes:#x}");
            bits
        }
        Storage::Register { frame, size, .. } => {
            if *frame == Frame::Caller {
                words.push_str(" of the caller");
            }
            if size.0 >= VECTOR_BITS {
                let _ = write!(words, " lane {}", bytes / 4);
                bytes % 4 * 8 + bits
            } else {
                bytes.saturating_mul(8).saturating_add(bits)
            }
        }
        _ => bits,
    };
    if rest != 0 {
        let _ = write!(words, " bit {rest}");
    }
    words
}

/// [`location`] with at most `most` parts, or bytes of a constant; returns the number of omitted ones too.
fn location_up_to(location: &Location, lane: LaneId, names: &dyn Names, most: usize) -> String {
    if let Storage::Composite(_) = location.storage {
        let (parts, left) = location.canonical_up_to(lane, most);
        let words = |part: &Part| part_words(part, lane, names, most);
        let left = (left > 0).then(|| format!("[and {left} more]"));
        return match parts.is_empty() {
            true => "[]".to_owned(),
            false => in_a_row(parts.iter().map(words).chain(left)),
        };
    }
    let at = location.offset.get(lane);
    let bits = |bits: u128| if bits == 0 { String::new() } else { format!(" bit {bits}") };
    match &location.storage {
        Storage::Undefined(_) => "undefined".to_owned(),
        Storage::Memory { space, .. } => in_storage(location, lane, &space_name(names, *space)),
        Storage::Register { register, .. } => in_storage(location, lane, &register_name(names, *register)),
        Storage::Implicit(implicit) => {
            let bytes = implicit.bytes(lane);
            let left = match bytes.len().saturating_sub(most) {
                0 => String::new(),
                left => format!(" and {left} bytes more"),
            };
            format!("constant {}{left}{}", hex(bytes.get(..most).unwrap_or(&bytes)), bits(at))
        }
        Storage::ImplicitPointer(pointer) => {
            format!("pointer to DIE {}{}{}", pointer.die, signed(pointer.byte_offset), bits(at))
        }
        Storage::Composite(_) => String::new(),
    }
}

fn part_words(part: &Part, lane: LaneId, names: &dyn Names, most: usize) -> String {
    format!("[{} {} bits]", location_up_to(&part.location, lane, names, most), part.size)
}

/// Joins words; repeated ones are counted: `[pc 64 bits] x 64`.
fn in_a_row(words: impl Iterator<Item = String>) -> String {
    let mut row = String::new();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let mut count = 1;
        while words.next_if_eq(&word).is_some() {
            count += 1;
        }
        row.push_str(&word);
        if count > 1 {
            let _ = write!(row, " x {count}{}", if words.peek().is_some() { " " } else { "" });
        }
    }
    row
}

/// Formats the bits of a value for one lane as one hexadecimal number: `0x193`.
#[must_use]
pub fn hexadecimal(number: &Number, lane: LaneId) -> String {
    hex_number(&number.limbs(lane))
}

/// Formats a value for one lane: `0x193`, or `0x193 (32 bits)` if it is not of the generic type.
#[must_use]
pub fn number(number: &Number, lane: LaneId) -> String {
    let value = hexadecimal(number, lane);
    match number.ty() {
        Type::Generic => value,
        Type::Base(base) => format!("{value} ({} bits)", base.size()),
    }
}

/// Formats a stack entry for one lane.
#[must_use]
pub fn entry(entry: &Entry, lane: LaneId, names: &dyn Names) -> String {
    entry_up_to(entry, lane, names, usize::MAX)
}

/// [`entry`] with at most `most` parts, or bytes of a constant; returns the number of omitted ones too.
pub(super) fn entry_up_to(entry: &Entry, lane: LaneId, names: &dyn Names, most: usize) -> String {
    match entry {
        Entry::Number(number) => self::number(number, lane),
        Entry::Pointer(pointer) => format!("&DIE {}{}", pointer.die, signed(pointer.byte_offset)),
        Entry::Location(location) => location_up_to(location, lane, names, most),
        Entry::Incomplete(composite) => {
            let words = |part: &Part| part_words(part, lane, names, most);
            let left = composite.parts().len().saturating_sub(most);
            let left = (left > 0).then(|| format!("[and {left} more]"));
            let end = ["...".to_owned()];
            in_a_row(composite.parts().iter().take(most).map(words).chain(left).chain(end))
        }
    }
}

/// Formats an operation with its operands, `DW_OP_bregx s33 +16`, in the form of [`super::text`].
#[must_use]
pub fn operation(placed: &Placed, names: &dyn Names) -> String {
    super::text::words(placed, names)
}

/// Formats a whole expression, operations separated by semicolons.
#[must_use]
pub fn program(program: &Program, names: &dyn Names) -> String {
    let words: Vec<String> = program.operations().iter().map(|placed| operation(placed, names)).collect();
    words.join("; ")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn hex_number(limbs: &[u64]) -> String {
    let mut limbs = limbs.iter().rev().skip_while(|limb| **limb == 0);
    let mut hex = format!("{:#x}", limbs.next().copied().unwrap_or(0));
    for limb in limbs {
        let _ = write!(hex, "{limb:016x}");
    }
    hex
}

fn signed(offset: i64) -> String {
    if offset == 0 { String::new() } else { format!("{offset:+}") }
}
