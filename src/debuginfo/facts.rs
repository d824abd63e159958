//! Facts about a unit, and its language.

use std::sync::Arc;

use gimli::DwLang;

use crate::dwarf::Dialect;
use crate::units::DieOffset;

/// A unit by its index in the file's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// The properties of a unit for evaluator and printer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitFacts {
    /// The unit.
    pub id: UnitId,
    /// Offset of the unit's header in `.debug_info`, the base of `DW_OP_call2` and `call4` operands.
    pub offset: DieOffset,
    /// DWARF version, 2 to 5.
    pub version: u16,
    /// Bytes of an offset in the unit's format: 4 (32-bit DWARF) or 8; the operand size of `DW_OP_call_ref`.
    pub offset_size: u8,
    /// Bytes of an address, from the header; 8 for AMDGPU.
    pub address_size: u8,
    /// `DW_AT_language`.
    pub language: Language,
    /// `DW_AT_producer`.
    pub producer: Option<Arc<str>>,
    /// `DW_AT_name`.
    pub name: Option<Arc<str>>,
    /// `DW_AT_comp_dir`.
    pub comp_dir: Option<Arc<str>>,
    /// `DW_AT_LLVM_augmentation`, by its one known code 0x3e09.
    pub augmentation: Option<Arc<str>>,
    /// The dialect of its expressions, from the user or the augmentation; `None`: the decoder infers it.
    pub dialect: Option<Dialect>,
    /// `DW_AT_low_pc`, the base of the unit's lists; 0 when absent.
    pub low_pc: u64,
    /// `DW_AT_dwo_name`: the unit is a skeleton, and the rest is in that file (DWARF 5 section 7.3.2).
    pub dwo_name: Option<Arc<str>>,
}

impl UnitFacts {
    /// Whether clang (upstream or AMD's) compiled the unit.
    #[must_use]
    pub fn producer_is_clang(&self) -> bool {
        self.producer.as_deref().is_some_and(|producer| producer.contains("clang"))
    }

    /// The first number of clang's version: 22 of `Debian clang version 22.1.8`.
    #[must_use]
    pub fn clang_version(&self) -> Option<u32> {
        let (_, version) = self.producer.as_deref()?.split_once("clang version ")?;
        version.split(|byte: char| !byte.is_ascii_digit()).next()?.parse().ok()
    }

    /// Whether Triton compiled the unit: `src/debuginfo/scope/own_calls.rs` has the reason to ask.
    #[must_use]
    pub fn producer_is_triton(&self) -> bool {
        self.producer.as_deref() == Some("triton")
    }

    /// Whether the unit uses the codes of [`crate::dwarf::draft`] for tags, attributes and operations.
    #[must_use]
    pub fn is_draft(&self) -> bool {
        self.dialect == Some(Dialect::Draft)
    }

    /// Whether the unit declares the dialect amdgpu-usage-2020: augmentation `[amd:v0.0]`.
    #[must_use]
    pub fn is_amd_augmented(&self) -> bool {
        self.augmentation.as_deref().is_some_and(|augmentation| augmentation.contains("[amd:v0.0"))
    }
}

/// Languages of DWARF 6 that `gimli` lacks.
const DW_LANG_C23: DwLang = DwLang(0x3e);
const DW_LANG_FORTRAN23: DwLang = DwLang(0x3f);

/// A `DW_LANG` code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Language(pub u16);

impl Language {
    /// Whether a tag name needs `struct` before it: the C languages. Not OpenCL C, which gdb prints like C++.
    #[must_use]
    pub fn is_c(self) -> bool {
        // 0: a unit without a language.
        matches!(
            DwLang(self.0),
            DwLang(0)
                | gimli::DW_LANG_C89
                | gimli::DW_LANG_C
                | gimli::DW_LANG_C99
                | gimli::DW_LANG_C11
                | gimli::DW_LANG_C17
                | DW_LANG_C23
        )
    }

    /// The default first index of an array: DWARF 5 table 7.17 and later registrations. HIP, by both of its codes
    /// (0x8100 of the 2020 proposal, 0x30), and OpenCL count from 0.
    #[must_use]
    pub fn lower_bound(self) -> i64 {
        match DwLang(self.0) {
            // `gimli` lacks their bound.
            gimli::DW_LANG_Ada2005
            | gimli::DW_LANG_Ada2012
            | gimli::DW_LANG_Fortran18
            | DW_LANG_FORTRAN23 => 1,
            language => language.default_lower_bound().map_or(0, |bound| bound as i64),
        }
    }

    /// Whether it is Fortran: the first index of an array moves fastest, and names have no case.
    #[must_use]
    pub fn is_fortran(self) -> bool {
        matches!(
            DwLang(self.0),
            gimli::DW_LANG_Fortran77
                | gimli::DW_LANG_Fortran90
                | gimli::DW_LANG_Fortran95
                | gimli::DW_LANG_Fortran03
                | gimli::DW_LANG_Fortran08
                | gimli::DW_LANG_Fortran18
                | DW_LANG_FORTRAN23
        )
    }
}
