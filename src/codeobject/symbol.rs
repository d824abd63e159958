//! Symbols: functions, kernel descriptors, variables, LDS.
//!
//! gABI "Symbol Table"; AMDGPUUsage, "Symbols": a kernel is a function `name` and an object `name.kd`. Variables in LDS
//! have the section index `SHN_AMDGPU_LDS`; like common symbols, their value is an alignment instead of an address.

use super::names::Names;
use crate::elf::{
    LE, SHN_ABS, SHN_UNDEF, STB_LOCAL, STT_FUNC, STT_OBJECT, Sym, SymbolSection, SymbolType, read,
};

/// Section index of an LDS variable; the symbol's value is its alignment.
const SHN_AMDGPU_LDS: SymbolSection = SymbolSection(0xff00);
/// A kernel of code object version 2: an `amd_kernel_code_t` followed by its code.
const STT_AMDGPU_HSA_KERNEL: SymbolType = SymbolType(10);
const DESCRIPTOR_SUFFIX: &str = ".kd";
/// Size of a symbol table entry in bytes.
pub(super) const SYMBOL_SIZE: u64 = size_of::<Sym>() as u64;
pub(super) const DESCRIPTOR_SIZE: u64 = 64;

/// Symbol kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Code: a device function or a kernel's entry.
    Function,
    /// A kernel's 64-byte descriptor, `name.kd`.
    KernelDescriptor,
    /// Global data.
    Object,
    /// A variable in LDS; its value is its alignment, because the linker places it later.
    Lds,
    /// A number without an address, such as `name.num_vgpr`.
    Absolute,
    /// A reference to a symbol defined elsewhere.
    Undefined,
    /// Anything else: sections, files, labels.
    Other,
}

/// A symbol of `.symtab`, or of `.dynsym` in a file without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name as in the file (mangled for HIP).
    pub name: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// ELF address (in a relocatable file an offset in its section); an alignment in bytes for [`SymbolKind::Lds`], a
    /// number for [`SymbolKind::Absolute`].
    pub value: u64,
    /// Size in bytes; 0 if absent.
    pub size: u64,
    /// Whether other code objects see it (its binding is not local).
    pub global: bool,
    /// `st_shndx`: index of its section; values from 0xff00 on are special.
    pub section: u16,
}

impl Symbol {
    /// Returns the kernel's name if this is a kernel descriptor: `saxpy` of `saxpy.kd`.
    #[must_use]
    pub fn kernel_name(&self) -> Option<&str> {
        match self.kind {
            SymbolKind::KernelDescriptor => self.name.strip_suffix(DESCRIPTOR_SUFFIX),
            _ => None,
        }
    }
}

/// Symbols, with an index of functions and objects by address.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    all: Vec<Symbol>,
    /// Indexes into `all` of symbols with an ELF address, by address, then by descending size.
    by_address: Vec<usize>,
}

impl Symbols {
    pub(super) fn read(table: &[u8], names: &[u8]) -> Self {
        let mut names = Names::of(names);
        let all: Vec<Symbol> =
            read::records(table).iter().skip(1).map(|record| symbol(record, &mut names)).collect();
        let mut placed: Vec<(u64, std::cmp::Reverse<u64>, usize)> = all
            .iter()
            .enumerate()
            .filter(|(_, symbol)| {
                matches!(
                    symbol.kind,
                    SymbolKind::Function | SymbolKind::KernelDescriptor | SymbolKind::Object
                )
            })
            .map(|(index, symbol)| (symbol.value, std::cmp::Reverse(symbol.size), index))
            .collect();
        placed.sort_unstable();
        Self { all, by_address: placed.into_iter().map(|(_, _, index)| index).collect() }
    }

    pub(super) fn all(&self) -> &[Symbol] {
        &self.all
    }

    /// Returns the innermost symbol that contains the address; a symbol without a size contains only its own address.
    pub(super) fn at(&self, address: u64) -> Option<&Symbol> {
        let after = self.by_address.partition_point(|index| self.value(*index) <= address);
        let candidates = self.by_address.get(..after)?.iter().rev();
        candidates
            .filter_map(|index| self.all.get(*index))
            // Overlapping symbols (aliases) are rare and adjacent: a few steps back find the containing one.
            .take(8)
            .find(|symbol| address - symbol.value < symbol.size.max(1))
    }

    fn value(&self, index: usize) -> u64 {
        self.all.get(index).map_or(u64::MAX, |symbol| symbol.value)
    }
}

fn symbol(record: &Sym, names: &mut Names<'_>) -> Symbol {
    let name = names.at(record.st_name.get(LE));
    let (section, size) = (record.st_shndx.get(LE), record.st_size.get(LE));
    let kind = match (section, record.st_type()) {
        (SHN_AMDGPU_LDS, _) => SymbolKind::Lds,
        (SHN_UNDEF, _) => SymbolKind::Undefined,
        (SHN_ABS, _) => SymbolKind::Absolute,
        (_, STT_FUNC | STT_AMDGPU_HSA_KERNEL) => SymbolKind::Function,
        (_, STT_OBJECT) if size == DESCRIPTOR_SIZE && name.ends_with(DESCRIPTOR_SUFFIX) => {
            SymbolKind::KernelDescriptor
        }
        (_, STT_OBJECT) => SymbolKind::Object,
        _ => SymbolKind::Other,
    };
    let global = record.st_bind() != STB_LOCAL;
    Symbol { name, kind, value: record.st_value.get(LE), size, global, section: section.0 }
}
