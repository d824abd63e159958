//! The model of `code-object`'s output, shared by text and JSON. Facts that a file lacks are left out.

use std::sync::Arc;

use serde::Serialize;

use super::elf::{
    Header, NoteRow, RelocationRow, SectionRow, SegmentRow, SymbolRow, header, notes, relocations, section,
    segment, symbol,
};
use super::kernels::{KernelFacts, kernels, parameters};
use crate::arch::Processor;
use crate::codeobject::{CodeObject, Entry};
use crate::debuginfo::{DebugInfo, DebugInfoError, UnitFacts, UnitId};
use crate::report::schema::Schema;

/// An entry of a bundle or host program.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Listed {
    pub(super) index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offload_kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target_id: Option<String>,
    pub(super) offset: u64,
    /// Offset of the compressed bundle in the file; `offset` then counts in the uncompressed bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compressed_at: Option<u64>,
    pub(super) size: usize,
    /// The format of its bytes.
    pub(super) what: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Object {
    pub(super) header: Header,
    pub(super) segments: Vec<SegmentRow>,
    pub(super) sections: Vec<SectionRow>,
    pub(super) metadata: Option<MetadataFacts>,
    pub(super) kernels: Vec<KernelFacts>,
    pub(super) symbols: Vec<SymbolRow>,
    pub(super) relocations: Vec<RelocationRow>,
    pub(super) notes: Vec<NoteRow>,
    pub(super) dwarf: DwarfFacts,
    pub(super) problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MetadataFacts {
    pub(super) version: Option<String>,
    pub(super) target: Option<String>,
    pub(super) printf: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct DwarfFacts {
    pub(super) present: bool,
    pub(super) units: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

impl Schema for Object {
    const NAME: &'static str = "code-object";
}

/// The code objects of a bundle or host program.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Entries {
    pub(super) entries: Vec<Listed>,
    /// Problems of the file.
    pub(super) problems: Vec<String>,
}

impl Schema for Entries {
    const NAME: &'static str = "code-objects";
}

pub(super) fn hex(number: u64) -> String {
    format!("{number:#x}")
}

pub(super) fn entry(entry: &Entry) -> Listed {
    let bytes = &entry.bytes;
    let what = match crate::codeobject::Header::read(bytes) {
        Ok(header) => {
            let in_note = || CodeObject::parse(bytes.clone()).ok()?.processor();
            let processor = Processor::of_mach(header.mach()).or_else(in_note);
            let id =
                processor.map_or_else(|| hex(header.mach().into()), |known| header.target_id(known.name));
            format!("code object version {} for {id}", header.abi_version.code_object_version())
        }
        Err(_) if bytes.is_empty() => "empty".to_owned(),
        Err(error) => entry.format().uncompiled().map_or_else(|| error.to_string(), str::to_owned),
    };
    Listed {
        index: entry.index,
        id: entry.id.clone(),
        offload_kind: entry.offload_kind().map(str::to_owned),
        target_id: entry.target_id().map(str::to_owned),
        offset: entry.offset,
        compressed_at: entry.compressed_at,
        size: bytes.len(),
        what,
    }
}

pub(super) fn object(object: &Arc<CodeObject>) -> Object {
    let processor = object.processor();
    let mut problems: Vec<String> = object.problems().iter().map(ToString::to_string).collect();
    let metadata = object.metadata().unwrap_or_else(|error| {
        problems.push(error.to_string());
        None
    });
    let debug = DebugInfo::new(Arc::clone(object));
    let dwarf = dwarf(&debug, &mut problems);
    let parameters =
        |kernel: &str| debug.as_ref().map_or_else(|_| Vec::new(), |debug| parameters(debug, kernel));
    problems.extend(object.all_relocation_problems().into_iter().map(ToString::to_string));
    Object {
        header: header(object, processor),
        segments: object.segments().iter().map(segment).collect(),
        sections: object.sections().iter().enumerate().skip(1).map(section).collect(),
        metadata: metadata.map(|metadata| MetadataFacts {
            version: metadata.version.map(|(major, minor)| format!("{major}.{minor}")),
            target: metadata.target.clone(),
            printf: metadata.printf.clone(),
        }),
        kernels: kernels(object, metadata.map_or(&[], |metadata| &metadata.kernels), processor, &parameters),
        symbols: object.symbols().iter().map(|one| symbol(object, one)).collect(),
        relocations: relocations(object),
        notes: notes(object),
        dwarf,
        problems,
    }
}

fn dwarf(debug: &Result<DebugInfo, DebugInfoError>, problems: &mut Vec<String>) -> DwarfFacts {
    let debug = match debug {
        Ok(debug) => debug,
        Err(error) => {
            return DwarfFacts { present: false, units: Vec::new(), problem: Some(error.to_string()) };
        }
    };
    // Unreadable units are among the problems.
    let known = (0..debug.unit_count()).filter_map(|id| debug.unit(UnitId(id)).ok());
    let line = |unit: &UnitFacts| {
        let name = unit.name.as_deref().unwrap_or("<unnamed>");
        format!("{name}: DWARF {} at {}", unit.version, unit.offset)
    };
    let units = known.map(line).collect();
    let checked = debug.check();
    problems.extend(checked.problems.iter().map(ToString::to_string));
    problems.extend(checked.unread_words());
    DwarfFacts { present: true, units, problem: None }
}
