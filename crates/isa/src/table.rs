//! The table file: columns of little-endian numbers, checked once. `targets/isa/README.md` describes each section.

use std::sync::OnceLock;

/// The file that `scripts/make-isa` writes.
static FILE: &[u8] = include_bytes!("../isa.bin");
const MAGIC: &[u8] = b"AMDISA1\0";

macro_rules! sections {
    ($($name:ident: $element:expr,)*) => {
        /// Sections of the file, in order.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Section { $($name,)* }
        /// Bytes of an element, with the number of elements that make one entry.
        const SHAPES: &[(usize, usize)] = &[$($element,)*];
    };
}

sections! {
    NameStarts: (4, 1), Names: (1, 1), StringStarts: (4, 1), Strings: (1, 1), RoleStarts: (4, 1), Roles: (1, 1),
    PrinterStarts: (4, 1), Printers: (1, 1), SpecialStarts: (4, 1), Specials: (1, 1), SpecialNumbers: (2, 1),
    VariantStarts: (4, 1), Variants: (1, 1), VariantWaves: (1, 1),
    MaskWidths: (1, 1), Masks: (4, 4),
    BitStarts: (2, 1), Bits: (1, 2),
    Kinds: (2, 2), RunStarts: (2, 1), Runs: (2, 2), RunShapes: (1, 4), RunBases: (4, 1), ConstantStarts: (2, 1), Constants: (8, 1),
    OperandShapes: (1, 4), OperandFields: (2, 3), ListStarts: (2, 1), Lists: (2, 1),
    TemplateStarts: (2, 1), Items: (1, 2), ItemStrings: (2, 1),
    Mnemonics: (2, 2), Effects: (4, 2), Sets: (4, 2), Forms: (2, 4), Highs: (4, 3),
    RowMasks: (2, 1), RowLows: (4, 1), RowHighs: (2, 1), RowForms: (2, 1), RowMnemonics: (2, 1), RowSets: (1, 1),
    ProcessorStarts: (4, 1), Processors: (1, 1), ProcessorVariants: (1, 2), Images: (2, 2), ImageData: (1, 64), ImageAddresses: (1, 32),
    EnumStarts: (2, 1), Enums: (2, 1),
}
const SECTIONS: usize = SHAPES.len();

/// Why a table file is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableError {
    /// The file does not begin as this version's files do.
    Magic,
    /// The section with this number is cut short, or its length is no multiple of its entries.
    Length(usize),
    /// An entry of the section with this number refers to a missing entry of another section.
    Reference(usize),
}

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Magic => write!(f, "no table of instructions, or one of another version"),
            Self::Length(section) => write!(f, "section {section} of the table has a wrong length"),
            Self::Reference(section) => write!(f, "section {section} of the table refers to a missing entry"),
        }
    }
}

impl std::error::Error for TableError {}

/// Checks a table file: lengths and references.
///
/// # Errors
/// The first fault that is found.
pub fn check(file: &[u8]) -> Result<(), TableError> {
    Table::parse(file)?.check()
}

/// A table. In a checked one each number that refers to an entry is in range; elsewhere reads beyond an end give 0.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    sections: [&'a [u8]; SECTIONS],
    /// The sections of texts.
    texts: [&'a str; SECTIONS],
}

/// Sections of texts, each with its starts.
const TEXTS: [(Section, Section); 7] = [
    (Section::NameStarts, Section::Names),
    (Section::StringStarts, Section::Strings),
    (Section::RoleStarts, Section::Roles),
    (Section::PrinterStarts, Section::Printers),
    (Section::SpecialStarts, Section::Specials),
    (Section::VariantStarts, Section::Variants),
    (Section::ProcessorStarts, Section::Processors),
];

/// The built-in table, which a test checks: `None` cannot occur.
pub(crate) fn table() -> Option<&'static Table<'static>> {
    static TABLE: OnceLock<Option<Table<'static>>> = OnceLock::new();
    TABLE.get_or_init(|| Table::parse(FILE).ok()).as_ref()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

impl<'a> Table<'a> {
    pub(crate) fn parse(file: &'a [u8]) -> Result<Self, TableError> {
        if !file.starts_with(MAGIC) || u32_at(file, MAGIC.len()) != Some(SECTIONS as u32) {
            return Err(TableError::Magic);
        }
        let mut sections = [&file[..0]; SECTIONS];
        for (i, (section, (element, entry))) in sections.iter_mut().zip(SHAPES).enumerate() {
            let at = MAGIC.len() + 4 + 8 * i;
            let bounds = u32_at(file, at).zip(u32_at(file, at + 4));
            *section = bounds
                .and_then(|(start, len)| {
                    file.get(start as usize..(start as usize).checked_add(len as usize)?)
                })
                .filter(|bytes| bytes.len() % (element * entry) == 0)
                .ok_or(TableError::Length(i))?;
        }
        let mut texts = [""; SECTIONS];
        for (_, section) in TEXTS {
            let section = section as usize;
            let bytes = sections.get(section).copied().unwrap_or_default();
            let text = std::str::from_utf8(bytes).map_err(|_| TableError::Reference(section))?;
            texts.get_mut(section).into_iter().for_each(|of| *of = text);
        }
        Ok(Self { sections, texts })
    }

    /// Entries of a section.
    pub(crate) fn len(&self, section: Section) -> usize {
        let (element, entry) = SHAPES.get(section as usize).copied().unwrap_or((1, 1));
        self.bytes(section).len() / (element * entry)
    }

    #[inline]
    fn bytes(&self, section: Section) -> &'a [u8] {
        self.sections.get(section as usize).copied().unwrap_or_default()
    }

    /// An element of a section of elements with this size; 0 beyond its end, which the check at the start excludes.
    #[inline]
    fn element<const N: usize>(&self, section: Section, at: usize) -> [u8; N] {
        self.bytes(section).get(at * N..).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or([0; N])
    }

    #[inline]
    pub(crate) fn u8(&self, section: Section, at: usize) -> u8 {
        self.element::<1>(section, at)[0]
    }

    #[inline]
    pub(crate) fn u16(&self, section: Section, at: usize) -> u16 {
        u16::from_le_bytes(self.element(section, at))
    }

    #[inline]
    pub(crate) fn u32(&self, section: Section, at: usize) -> u32 {
        u32::from_le_bytes(self.element(section, at))
    }

    /// An element of a section of any size.
    #[inline]
    pub(crate) fn get(&self, section: Section, at: usize) -> u64 {
        match SHAPES.get(section as usize) {
            Some((1, _)) => self.u8(section, at).into(),
            Some((2, _)) => self.u16(section, at).into(),
            Some((4, _)) => self.u32(section, at).into(),
            _ => u64::from_le_bytes(self.element(section, at)),
        }
    }

    /// Number of bits of a kind, and how far they are shifted.
    pub(crate) fn u8_pair(&self, kind: usize) -> (u8, u8) {
        let [bits, shift] = self.u16(Section::Kinds, 2 * kind + 1).to_le_bytes();
        (bits, shift)
    }

    /// The entries that belong to an entry of a section of starts.
    #[inline]
    pub(crate) fn range(&self, starts: Section, at: usize) -> std::ops::Range<usize> {
        self.get(starts, at) as usize..self.get(starts, at + 1) as usize
    }

    /// Whether a variant has the rows of a set.
    pub(crate) fn has(&self, set: usize, variant: usize) -> bool {
        let variants = self.get(Section::Sets, 2 * set) | self.get(Section::Sets, 2 * set + 1) << 32;
        variants >> variant & 1 == 1
    }

    /// A text of a section with its starts.
    pub(crate) fn text(&self, starts: Section, bytes: Section, at: usize) -> &'a str {
        let texts = self.texts.get(bytes as usize).copied().unwrap_or_default();
        texts.get(self.range(starts, at)).unwrap_or_default()
    }

    fn check(&self) -> Result<(), TableError> {
        use Section as S;
        let starts = [
            (S::BitStarts, S::Bits),
            (S::RunStarts, S::Runs),
            (S::ConstantStarts, S::Constants),
            (S::ListStarts, S::Lists),
            (S::TemplateStarts, S::Items),
            (S::EnumStarts, S::Enums),
        ];
        for (section, of) in TEXTS.into_iter().chain(starts) {
            let all: Vec<u64> = (0..self.len(section)).map(|at| self.get(section, at)).collect();
            let ordered =
                all.first() == Some(&0) && all.is_sorted() && all.last() == Some(&(self.len(of) as u64));
            if !ordered {
                return Err(TableError::Reference(section as usize));
            }
        }
        let entries = |starts: S| self.len(starts).saturating_sub(1);
        let names = entries(S::NameStarts);
        // A section, the place within its entries, and how many entries the section has to which it refers.
        let references: [(S, usize, usize, usize); 19] = [
            (S::Images, 2, 0, self.len(S::ImageData)),
            (S::Images, 2, 1, self.len(S::ImageAddresses)),
            (S::Enums, 1, 0, entries(S::StringStarts)),
            (S::ItemStrings, 1, 0, entries(S::StringStarts)),
            (S::Items, 2, 0, entries(S::PrinterStarts)),
            (S::OperandShapes, 4, 0, entries(S::RoleStarts)),
            (S::OperandFields, 3, 0, entries(S::BitStarts)),
            (S::OperandFields, 3, 1, self.len(S::Kinds)),
            (S::OperandFields, 3, 2, self.len(S::Kinds)),
            (S::Lists, 1, 0, self.len(S::OperandShapes)),
            (S::Forms, 4, 0, entries(S::ListStarts)),
            (S::Forms, 4, 1, entries(S::TemplateStarts)),
            (S::Forms, 4, 2, self.len(S::Effects)),
            (S::Mnemonics, 2, 0, names),
            (S::RowMasks, 1, 0, self.len(S::MaskWidths)),
            (S::RowHighs, 1, 0, self.len(S::Highs)),
            (S::RowForms, 1, 0, self.len(S::Forms)),
            (S::RowMnemonics, 1, 0, self.len(S::Mnemonics)),
            (S::RowSets, 1, 0, self.len(S::Sets)),
        ];
        for (section, entry, place, limit) in references {
            if (0..self.len(section)).any(|at| self.get(section, at * entry + place) as usize >= limit) {
                return Err(TableError::Reference(section as usize));
            }
        }
        let same = [
            (S::Kinds, entries(S::RunStarts)),
            (S::RunShapes, self.len(S::Runs)),
            (S::RunBases, self.len(S::Runs)),
            (S::OperandFields, self.len(S::OperandShapes)),
            (S::ItemStrings, self.len(S::Items)),
            (S::Masks, self.len(S::MaskWidths)),
            (S::RowLows, self.len(S::RowMasks)),
            (S::RowHighs, self.len(S::RowMasks)),
            (S::RowForms, self.len(S::RowMasks)),
            (S::RowMnemonics, self.len(S::RowMasks)),
            (S::RowSets, self.len(S::RowMasks)),
            (S::VariantWaves, entries(S::VariantStarts)),
            (S::ProcessorVariants, entries(S::ProcessorStarts)),
            (S::SpecialNumbers, entries(S::SpecialStarts)),
        ];
        if let Some((section, _)) = same.into_iter().find(|(section, count)| self.len(*section) != *count) {
            return Err(TableError::Length(section as usize));
        }
        Ok(())
    }
}

/// Offset of a section in the built-in file, for constants.
const fn word(at: usize) -> usize {
    u32::from_le_bytes([FILE[at], FILE[at + 1], FILE[at + 2], FILE[at + 3]]) as usize
}

/// Number of a text of the built-in file, for constants: a build with a text that the file lacks fails.
const fn find(starts: Section, texts: Section, name: &str) -> u16 {
    let (starts_at, count) =
        (word(MAGIC.len() + 4 + 8 * starts as usize), word(MAGIC.len() + 8 + 8 * starts as usize) / 4 - 1);
    let texts_at = word(MAGIC.len() + 4 + 8 * texts as usize);
    let name = name.as_bytes();
    let mut i = 0;
    while i < count {
        let (from, to) = (word(starts_at + 4 * i), word(starts_at + 4 * i + 4));
        if to - from == name.len() {
            let mut k = 0;
            while k < name.len() && FILE[texts_at + from + k] == name[k] {
                k += 1;
            }
            if k == name.len() {
                return i as u16;
            }
        }
        i += 1;
    }
    panic!("the table has no such name")
}

/// A mnemonic without the suffix of its encoding: `v_add_f32`, however it is encoded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Op(pub(crate) u16);

impl Op {
    /// The operation of a mnemonic, for constants: `const S_ENDPGM: Op = Op::named("s_endpgm");`.
    ///
    /// # Panics
    /// If no instruction has the mnemonic: the build fails where it is used for a constant.
    #[must_use]
    pub const fn named(mnemonic: &str) -> Self {
        Self(find(Section::NameStarts, Section::Names, mnemonic))
    }

    /// The mnemonic.
    #[must_use]
    pub fn mnemonic(self) -> &'static str {
        table().map_or("", |table| table.text(Section::NameStarts, Section::Names, self.0.into()))
    }
}

/// The role of an operand in its instruction: `vdst`, `src0`, `vaddr`, `saddr`, `soffset`, `data0`, `srsrc`, `simm16` and so on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Role(pub(crate) u8);

impl Role {
    /// The role of a name, for constants: `const VDST: Role = Role::named("vdst");`.
    ///
    /// # Panics
    /// If no operand has the role: the build fails where it is used for a constant.
    #[must_use]
    pub const fn named(name: &str) -> Self {
        Self(find(Section::RoleStarts, Section::Roles, name) as u8)
    }

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        table().map_or("", |table| table.text(Section::RoleStarts, Section::Roles, self.0.into()))
    }
}
