//! Relocations of a relocatable code object's debug sections.
//!
//! AMDGPUUsage, "Relocation Records". The compiler's output (`ET_REL`) has zeros or addends in place of addresses and
//! section offsets, so its DWARF needs the relocations. Sections of such a file have no addresses: S is the symbol's
//! offset in its section and P the field's offset, as in `llvm-dwarfdump`. A relocation that needs a loaded image
//! (global offset table, base address, instruction) is a problem in a debug section.

use super::error::{CodeObjectError, RelocationError};
use super::symbol::{Symbol, SymbolKind};
use crate::elf::{LE, Rela, read};

/// Maximum relocation problems listed for one section; further ones are counted.
pub(super) const MAX_PROBLEMS: usize = 20;

/// A record of a relocation section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Index of the section that it changes; 0 if it refers to addresses of the loaded image.
    pub section: u32,
    /// Offset in that section, or ELF address.
    pub offset: u64,
    /// Its type.
    pub number: u32,
    /// Index of its symbol in the symbol table; 0: none.
    pub symbol: u32,
    /// Section index of the symbol table.
    pub symbols: u32,
    /// The addend.
    pub addend: i64,
}

impl Relocation {
    /// Returns the name of its type, `R_AMDGPU_REL32_LO`; `None` for a type that AMDGPU lacks.
    #[must_use]
    pub fn type_name(&self) -> Option<&'static str> {
        type_name(self.number)
    }
}

/// Reads the records of a relocation section.
pub(super) fn records(bytes: &[u8], section: u32, symbols: u32) -> impl Iterator<Item = Relocation> {
    read::records::<Rela>(bytes).iter().map(move |record| Relocation {
        section,
        offset: record.r_offset.get(LE),
        number: record.r_type(LE, false).0,
        symbol: record.r_sym(LE, false),
        symbols,
        addend: record.r_addend.get(LE),
    })
}

/// The formula of a relocation type, and the width of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Nothing,
    /// S + A, `bytes` wide, from bit `shift` on; `fits`: a value that is too wide is an error.
    Absolute {
        bytes: usize,
        shift: u32,
        fits: bool,
    },
    /// S + A - P.
    Relative {
        bytes: usize,
        shift: u32,
        fits: bool,
    },
    /// Not valid in a debug section, with the reason.
    Elsewhere(&'static str),
}

const GOT: Rule = Rule::Elsewhere("a debug section has no place for a global offset table's entry");

/// AMDGPUUsage, "AMDGPU ELF Relocation Records", in its order; `R_AMDGPU_REL16` is newer than the 2020 edition.
const TYPES: [(u32, &str, Rule); 14] = [
    (0, "R_AMDGPU_NONE", Rule::Nothing),
    (1, "R_AMDGPU_ABS32_LO", Rule::Absolute { bytes: 4, shift: 0, fits: false }),
    (2, "R_AMDGPU_ABS32_HI", Rule::Absolute { bytes: 4, shift: 32, fits: false }),
    (3, "R_AMDGPU_ABS64", Rule::Absolute { bytes: 8, shift: 0, fits: false }),
    (4, "R_AMDGPU_REL32", Rule::Relative { bytes: 4, shift: 0, fits: true }),
    (5, "R_AMDGPU_REL64", Rule::Relative { bytes: 8, shift: 0, fits: false }),
    (6, "R_AMDGPU_ABS32", Rule::Absolute { bytes: 4, shift: 0, fits: true }),
    (7, "R_AMDGPU_GOTPCREL", GOT),
    (8, "R_AMDGPU_GOTPCREL32_LO", GOT),
    (9, "R_AMDGPU_GOTPCREL32_HI", GOT),
    (10, "R_AMDGPU_REL32_LO", Rule::Relative { bytes: 4, shift: 0, fits: false }),
    (11, "R_AMDGPU_REL32_HI", Rule::Relative { bytes: 4, shift: 32, fits: false }),
    (13, "R_AMDGPU_RELATIVE64", Rule::Elsewhere("only a loaded image has a base address")),
    (14, "R_AMDGPU_REL16", Rule::Elsewhere("it is a branch's distance, and debug sections hold no code")),
];

pub(super) fn type_name(number: u32) -> Option<&'static str> {
    TYPES.iter().find(|(known, ..)| *known == number).map(|(_, name, _)| *name)
}

/// Applies `records` (`Elf64_Rela`) to a section's bytes; `symbols` begins with symbol 1.
///
/// A failed record leaves its field unchanged and adds a problem with section, offset and type.
pub(super) fn apply(
    section: &str,
    bytes: &mut [u8],
    records: &[u8],
    symbols: &[Symbol],
) -> Vec<CodeObjectError> {
    let mut problems = Vec::new();
    let mut more = 0usize;
    for record in read::records::<Rela>(records) {
        let (offset, number) = (record.r_offset.get(LE), record.r_type(LE, false).0);
        let (symbol, addend) = (record.r_sym(LE, false) as usize, record.r_addend.get(LE));
        if let Err(why) = one(bytes, offset, number, symbol, addend, symbols) {
            if problems.len() == MAX_PROBLEMS {
                more += 1;
                continue;
            }
            let name = type_name(number).map_or_else(|| format!("type {number}"), str::to_owned);
            problems.push(CodeObjectError::Relocation { section: section.to_owned(), offset, name, why });
        }
    }
    if more > 0 {
        let why = RelocationError::More(more);
        let name = "several types".to_owned();
        problems.push(CodeObjectError::Relocation { section: section.to_owned(), offset: 0, name, why });
    }
    problems
}

fn one(
    bytes: &mut [u8],
    offset: u64,
    number: u32,
    symbol: usize,
    addend: i64,
    symbols: &[Symbol],
) -> Result<(), RelocationError> {
    let rule = TYPES.iter().find(|(known, ..)| *known == number).map(|(.., rule)| *rule);
    let (width, shift, fits, place) = match rule.ok_or(RelocationError::Type)? {
        Rule::Nothing => return Ok(()),
        Rule::Elsewhere(why) => return Err(RelocationError::Elsewhere(why)),
        Rule::Absolute { bytes, shift, fits } => (bytes, shift, fits, 0),
        Rule::Relative { bytes, shift, fits } => (bytes, shift, fits, offset),
    };
    let value = value(symbol, symbols)?.wrapping_add_signed(addend).wrapping_sub(place);
    // ABS32 may be signed or unsigned.
    if fits && u32::try_from(value).is_err() && i32::try_from(value as i64).is_err() {
        return Err(RelocationError::Fit(value));
    }
    let length = bytes.len();
    let outside = || RelocationError::Outside { width, length };
    let start = usize::try_from(offset).map_err(|_| outside())?;
    let field = bytes.get_mut(start..).and_then(|rest| rest.get_mut(..width)).ok_or_else(outside)?;
    let value = (value >> shift).to_le_bytes();
    field.copy_from_slice(value.get(..width).unwrap_or_default());
    Ok(())
}

/// Returns S; 0 for symbol 0 (`STN_UNDEF`), which means no symbol.
fn value(index: usize, symbols: &[Symbol]) -> Result<u64, RelocationError> {
    let Some(index) = index.checked_sub(1) else { return Ok(0) };
    let symbol =
        symbols.get(index).ok_or(RelocationError::NoSymbol { index: index + 1, count: symbols.len() + 1 })?;
    match symbol.kind {
        SymbolKind::Undefined => Err(RelocationError::Undefined(symbol.name.clone())),
        SymbolKind::Lds => Err(RelocationError::Lds(symbol.name.clone())),
        _ => Ok(symbol.value),
    }
}
