//! The ELF part of `code-object`: header, segments, sections, symbols, relocations and notes.

use serde::Serialize;

use super::describe::hex;
use crate::arch::Processor;
use crate::codeobject::{self, CodeObject, Feature, Section, Segment, Symbol, SymbolKind};
use crate::elf::{
    ET_DYN, ET_EXEC, ET_REL, FileType, PF_R, PF_W, PF_X, PT_DYNAMIC, PT_GNU_RELRO, PT_GNU_STACK, PT_LOAD,
    PT_NOTE, PT_PHDR, ProgramFlags, ProgramType,
};

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Header {
    #[serde(rename = "type")]
    pub(super) file_type: String,
    pub(super) code_object_version: u16,
    pub(super) abi_version: u8,
    pub(super) flags: String,
    pub(super) mach: u8,
    pub(super) processor: Option<String>,
    pub(super) target_id: Option<String>,
    pub(super) xnack: &'static str,
    pub(super) sramecc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) generic_version: Option<u8>,
    pub(super) entry: String,
    pub(super) build_id: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SegmentRow {
    #[serde(rename = "type")]
    pub(super) segment_type: String,
    pub(super) flags: String,
    pub(super) address: String,
    pub(super) size: u64,
    pub(super) offset: u64,
    pub(super) file_size: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SectionRow {
    pub(super) index: usize,
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) section_type: u32,
    pub(super) flags: String,
    pub(super) address: String,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) compressed: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SymbolRow {
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// Its section, by name; absent for a number and for a symbol without a section in this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) section: Option<String>,
    /// ELF address; in a relocatable file an offset in the section; or a number.
    pub(super) value: Option<String>,
    /// The alignment of a variable in LDS, which has no address before it is linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) alignment: Option<u64>,
    pub(super) size: u64,
    pub(super) global: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct RelocationRow {
    /// The section whose bytes it changes; absent if its offset is an address of the loaded image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) section: Option<String>,
    /// Offset in the section, or ELF address.
    pub(super) offset: String,
    #[serde(rename = "type")]
    pub(super) relocation_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) symbol: Option<String>,
    pub(super) addend: i64,
    /// Whether the section is loaded. Relocations of debug sections are counted in the text, not listed.
    #[serde(skip)]
    pub(super) is_loaded: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct NoteRow {
    pub(super) vendor: String,
    #[serde(rename = "type")]
    pub(super) note_type: u32,
    pub(super) name: Option<&'static str>,
    pub(super) offset: u64,
    pub(super) size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

pub(super) fn header(object: &CodeObject, processor: Option<Processor>) -> Header {
    let header = object.header();
    let word = |feature: Feature| match feature {
        Feature::Unsupported => "unsupported",
        Feature::Any => "any",
        Feature::Off => "off",
        Feature::On => "on",
    };
    Header {
        file_type: match FileType(header.file_type) {
            ET_REL => "relocatable file".to_owned(),
            ET_EXEC => "executable".to_owned(),
            ET_DYN => "shared object".to_owned(),
            other => format!("type {other}"),
        },
        code_object_version: header.abi_version.code_object_version(),
        abi_version: header.abi_version.0,
        flags: hex(header.flags.into()),
        mach: header.mach(),
        processor: processor.map(|processor| processor.name.to_owned()),
        target_id: processor.map(|processor| header.target_id(processor.name)),
        xnack: word(header.xnack()),
        sramecc: word(header.sramecc()),
        generic_version: Some(header.generic_version()).filter(|version| *version != 0),
        entry: hex(header.entry),
        build_id: object.build_id().map(|id| codeobject::hex(&id)),
    }
}

pub(super) fn segment(segment: &Segment) -> SegmentRow {
    let flag = |bit: ProgramFlags, letter| if segment.flags & bit.0 != 0 { letter } else { '-' };
    SegmentRow {
        segment_type: match ProgramType(segment.segment_type) {
            PT_LOAD => "LOAD".to_owned(),
            PT_DYNAMIC => "DYNAMIC".to_owned(),
            PT_NOTE => "NOTE".to_owned(),
            PT_PHDR => "PHDR".to_owned(),
            PT_GNU_STACK => "GNU_STACK".to_owned(),
            PT_GNU_RELRO => "GNU_RELRO".to_owned(),
            other => hex(other.0.into()),
        },
        flags: [flag(PF_R, 'r'), flag(PF_W, 'w'), flag(PF_X, 'x')].iter().collect(),
        address: hex(segment.addresses.start),
        size: segment.addresses.end - segment.addresses.start,
        offset: segment.offset,
        file_size: segment.file_size,
    }
}

pub(super) fn section((index, section): (usize, &Section)) -> SectionRow {
    SectionRow {
        index,
        name: section.name.clone(),
        section_type: section.section_type,
        flags: hex(section.flags),
        address: hex(section.address),
        offset: section.offset,
        size: section.size,
        compressed: section.is_compressed(),
    }
}

pub(super) fn relocations(object: &CodeObject) -> Vec<RelocationRow> {
    let symbols = object.symbols();
    let sections = object.sections();
    let rows = object.relocations().map(|one| {
        let section = sections.get(one.section as usize).filter(|_| one.section != 0);
        // Relocations of a loaded image name dynamic symbols, a different table than the listed one.
        let listed = object.header().is_relocatable();
        let symbol = (one.symbol as usize).checked_sub(1).filter(|_| listed).and_then(|at| symbols.get(at));
        RelocationRow {
            section: section.map(|section| section.name.clone()),
            offset: hex(one.offset),
            relocation_type: one.type_name().map_or_else(|| format!("type {}", one.number), str::to_owned),
            symbol: symbol.map(|symbol| symbol_name(object, symbol)),
            addend: one.addend,
            is_loaded: section.is_none_or(Section::is_loaded),
        }
    });
    rows.collect()
}

fn section_of<'o>(object: &'o CodeObject, symbol: &Symbol) -> Option<&'o Section> {
    let is_real = !matches!(symbol.kind, SymbolKind::Lds | SymbolKind::Absolute | SymbolKind::Undefined);
    object.sections().get(usize::from(symbol.section)).filter(|_| is_real && symbol.section != 0)
}

/// A section's symbol has no name of its own.
fn symbol_name(object: &CodeObject, symbol: &Symbol) -> String {
    let section = section_of(object, symbol).filter(|_| symbol.name.is_empty());
    section.map_or_else(|| symbol.name.clone(), |section| section.name.clone())
}

pub(super) fn symbol(object: &CodeObject, symbol: &Symbol) -> SymbolRow {
    let is_lds = symbol.kind == SymbolKind::Lds;
    let section = section_of(object, symbol);
    SymbolRow {
        name: symbol_name(object, symbol),
        section: section.map(|section| section.name.clone()),
        alignment: is_lds.then_some(symbol.value),
        kind: match symbol.kind {
            SymbolKind::Other if section.is_some() && symbol.name.is_empty() => "section",
            SymbolKind::Function => "function",
            SymbolKind::KernelDescriptor => "kernel_descriptor",
            SymbolKind::Object => "object",
            SymbolKind::Lds => "lds",
            SymbolKind::Absolute => "number",
            SymbolKind::Undefined => "undefined",
            SymbolKind::Other => "other",
        },
        value: (!is_lds).then(|| hex(symbol.value)),
        size: symbol.size,
        global: symbol.global,
    }
}

pub(super) fn notes(object: &CodeObject) -> Vec<NoteRow> {
    let notes = object.notes().into_iter().map(|note| NoteRow {
        name: note.type_name(),
        text: note.text(),
        vendor: note.vendor,
        note_type: note.note_type,
        offset: note.offset,
        size: note.bytes.len(),
    });
    notes.collect()
}
