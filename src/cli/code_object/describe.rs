//! What `code-object` shows, before it is text or JSON. Optional facts that a file does not have are left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::arch::{DescriptorFacts, DescriptorWords, Generation, Processor};
use crate::codeobject::{
    Argument, CodeObject, Entry, Feature, Kernel, KernelDescriptor, Section, Segment, Symbol, SymbolKind,
};
use crate::debuginfo::{
    DebugInfo, DebugInfoError, MAX_CHECKED_BYTES, Naming, UnitFacts, UnitId, Variable, VariableKind,
};

/// An entry of a bundle or host program.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    pub(super) index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offload_kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target_id: Option<String>,
    pub(super) offset: u64,
    /// Offset in the file of the compressed bundle; `offset` then counts in what it unpacks to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compressed_at: Option<u64>,
    pub(super) size: usize,
    /// What its bytes are.
    pub(super) what: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Object {
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
pub(super) struct MetadataFacts {
    pub(super) version: Option<String>,
    pub(super) target: Option<String>,
    pub(super) printf: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct KernelFacts {
    pub(super) name: String,
    pub(super) source_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) descriptor: Option<DescriptorRow>,
    /// What the metadata says: numbers, words, lists of numbers.
    pub(super) metadata: BTreeMap<&'static str, serde_json::Value>,
    pub(super) arguments: Vec<ArgumentRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct DescriptorRow {
    pub(super) address: String,
    pub(super) entry: Option<String>,
    pub(super) group_segment_fixed_size: u32,
    pub(super) private_segment_fixed_size: u32,
    pub(super) kernarg_size: u32,
    pub(super) kernel_code_entry_byte_offset: i64,
    pub(super) wave_size: Option<u8>,
    pub(super) vgprs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accum_offset: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sgprs: Option<u32>,
    pub(super) fields: BTreeMap<&'static str, u32>,
    /// Reserved bits that are set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) reserved: BTreeMap<&'static str, String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ArgumentRow {
    pub(super) name: Option<String>,
    #[serde(rename = "type")]
    pub(super) type_name: Option<String>,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) kind: String,
    pub(super) address_space: Option<String>,
    /// `access`, `const`, `restrict`, `volatile`, `pipe`, the alignment of what it points to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) qualifiers: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct SymbolRow {
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// Its section, by name; absent for a number and for what no section of this file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) section: Option<String>,
    /// ELF address, in a relocatable file an offset in the section; or a number.
    pub(super) value: Option<String>,
    /// What a variable in LDS must be aligned to: it has no address before it is linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) alignment: Option<u64>,
    pub(super) size: u64,
    pub(super) global: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct RelocationRow {
    /// The section whose bytes it changes; absent where it speaks of addresses of the loaded image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) section: Option<String>,
    /// Offset in the section, or ELF address.
    pub(super) offset: String,
    #[serde(rename = "type")]
    pub(super) relocation_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) symbol: Option<String>,
    pub(super) addend: i64,
    /// Whether the section is loaded: those of debug sections are counted in text, not listed.
    #[serde(skip)]
    pub(super) is_loaded: bool,
}

#[derive(Debug, Serialize)]
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

#[derive(Debug, Serialize)]
pub(super) struct DwarfFacts {
    pub(super) present: bool,
    pub(super) units: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}

pub(super) fn entry(entry: &Entry) -> Listed {
    let bytes = &entry.bytes;
    let what = match CodeObject::parse(bytes.clone()) {
        Ok(object) => {
            let header = object.header();
            let processor = Processor::of_mach(header.mach());
            let id =
                processor.map_or_else(|| hex(header.mach().into()), |known| header.target_id(known.name));
            format!("code object version {} for {id}", header.abi_version.code_object_version())
        }
        Err(_) if bytes.is_empty() => "empty".to_owned(),
        Err(_) if bytes.starts_with(b"BC\xc0\xde") => "LLVM bitcode".to_owned(),
        Err(error) => error.to_string(),
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
    let processor = Processor::of_mach(object.header().mach());
    let mut problems: Vec<String> = object.problems().iter().map(ToString::to_string).collect();
    let metadata = object.metadata().unwrap_or_else(|error| {
        problems.push(error.to_string());
        None
    });
    let debug = DebugInfo::new(Arc::clone(object));
    let dwarf = dwarf(&debug, &mut problems);
    let parameters =
        |kernel: &str| debug.as_ref().map_or_else(|_| Vec::new(), |debug| parameters(debug, kernel));
    for section in object.sections() {
        problems.extend(object.relocation_problems(&section.name).iter().map(ToString::to_string));
    }
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

fn header(object: &CodeObject, processor: Option<Processor>) -> Header {
    let header = object.header();
    let word = |feature: Feature| match feature {
        Feature::Unsupported => "unsupported",
        Feature::Any => "any",
        Feature::Off => "off",
        Feature::On => "on",
    };
    Header {
        file_type: match header.file_type {
            1 => "relocatable file".to_owned(),
            2 => "executable".to_owned(),
            3 => "shared object".to_owned(),
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
        build_id: object.build_id().map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()),
    }
}

fn segment(segment: &Segment) -> SegmentRow {
    let flag = |bit: u32, letter: char| if segment.flags & bit != 0 { letter } else { '-' };
    SegmentRow {
        segment_type: match segment.segment_type {
            1 => "LOAD".to_owned(),
            2 => "DYNAMIC".to_owned(),
            4 => "NOTE".to_owned(),
            6 => "PHDR".to_owned(),
            0x6474_e551 => "GNU_STACK".to_owned(),
            0x6474_e552 => "GNU_RELRO".to_owned(),
            other => hex(other.into()),
        },
        flags: [flag(4, 'r'), flag(2, 'w'), flag(1, 'x')].iter().collect(),
        address: hex(segment.addresses.start),
        size: segment.addresses.end - segment.addresses.start,
        offset: segment.offset,
        file_size: segment.file_size,
    }
}

fn section((index, section): (usize, &Section)) -> SectionRow {
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

/// Kernels by their symbols, each with its metadata, then those that only the metadata has.
fn kernels(
    object: &CodeObject,
    known: &[Kernel],
    processor: Option<Processor>,
    parameters: &dyn Fn(&str) -> Vec<Parameter>,
) -> Vec<KernelFacts> {
    let name = |kernel: &Kernel| {
        let symbol = kernel.symbol.strip_suffix(".kd").or_else(|| kernel.symbol.strip_suffix("@kd"));
        symbol.unwrap_or(&kernel.name).to_owned()
    };
    let mut kernels: Vec<KernelFacts> = Vec::new();
    for symbol in object.kernels() {
        let descriptor = object.kernel_descriptor(&symbol.name);
        let address = hex(symbol.descriptor.0);
        let entry = symbol.entry.map(|entry| hex(entry.0)).filter(|_| !object.header().is_relocatable());
        let described =
            descriptor.map(|words| descriptor_row(address, entry, &words, processor.map(|p| p.generation)));
        kernels.push(KernelFacts { name: symbol.name, descriptor: described, ..KernelFacts::default() });
    }
    for kernel in known {
        let name = name(kernel);
        let at = kernels.iter().position(|facts| facts.name == name).unwrap_or_else(|| {
            kernels.push(KernelFacts { name, ..KernelFacts::default() });
            kernels.len() - 1
        });
        if let Some(facts) = kernels.get_mut(at) {
            facts.source_name = crate::debuginfo::demangle(&kernel.name);
            facts.metadata = facts_of(kernel);
            facts.arguments = kernel.arguments.iter().map(argument).collect();
            name_arguments(&mut facts.arguments, || parameters(&facts.name));
        }
    }
    kernels
}

fn descriptor_row(
    address: String,
    entry: Option<String>,
    words: &KernelDescriptor,
    generation: Option<Generation>,
) -> DescriptorRow {
    let bits = DescriptorWords {
        rsrc1: words.compute_pgm_rsrc1,
        rsrc2: words.compute_pgm_rsrc2,
        rsrc3: words.compute_pgm_rsrc3,
        properties: words.kernel_code_properties,
        preload: words.kernarg_preload,
    };
    let facts = generation.map(|generation| DescriptorFacts::read(generation, &bits));
    DescriptorRow {
        address,
        entry,
        group_segment_fixed_size: words.group_segment_fixed_size,
        private_segment_fixed_size: words.private_segment_fixed_size,
        kernarg_size: words.kernarg_size,
        kernel_code_entry_byte_offset: words.entry_byte_offset,
        wave_size: facts.as_ref().map(|facts| facts.wave_size),
        vgprs: facts.as_ref().map(|facts| facts.vgprs),
        accum_offset: facts.as_ref().and_then(|facts| facts.accum_offset),
        sgprs: facts.as_ref().and_then(|facts| facts.sgprs),
        fields: facts.iter().flat_map(|facts| facts.fields.iter().copied()).collect(),
        reserved: facts
            .iter()
            .flat_map(|facts| &facts.reserved)
            .map(|(word, bits)| (*word, hex((*bits).into())))
            .collect(),
    }
}

/// The metadata's facts about a kernel, by the names that AMDGPUUsage gives them.
fn facts_of(kernel: &Kernel) -> BTreeMap<&'static str, serde_json::Value> {
    let numbers = [
        ("kernarg_segment_size", kernel.kernarg_segment_size),
        ("kernarg_segment_align", kernel.kernarg_segment_align),
        ("group_segment_fixed_size", kernel.group_segment_fixed_size),
        ("private_segment_fixed_size", kernel.private_segment_fixed_size),
        ("wavefront_size", kernel.wavefront_size),
        ("sgpr_count", kernel.sgpr_count),
        ("vgpr_count", kernel.vgpr_count),
        ("agpr_count", kernel.agpr_count),
        ("sgpr_spill_count", kernel.sgpr_spill_count),
        ("vgpr_spill_count", kernel.vgpr_spill_count),
        ("max_flat_workgroup_size", kernel.max_flat_workgroup_size),
    ];
    let words = [
        ("language", &kernel.language),
        ("vec_type_hint", &kernel.vector_type_hint),
        ("device_enqueue_symbol", &kernel.device_enqueue_symbol),
        ("kind", &kernel.kind),
    ];
    let lists = [
        ("language_version", &kernel.language_version),
        ("reqd_workgroup_size", &kernel.required_workgroup_size),
        ("workgroup_size_hint", &kernel.workgroup_size_hint),
    ];
    let truths = [
        ("uses_dynamic_stack", kernel.uses_dynamic_stack),
        ("workgroup_processor_mode", kernel.workgroup_processor_mode),
        ("uniform_work_group_size", kernel.uniform_workgroup_size),
    ];
    let numbers = numbers.into_iter().filter_map(|(name, value)| Some((name, value?.into())));
    let words = words.into_iter().filter_map(|(name, value)| Some((name, value.clone()?.into())));
    let lists = lists.into_iter().filter_map(|(name, value)| Some((name, value.clone()?.into())));
    let truths = truths.into_iter().filter_map(|(name, value)| Some((name, value?.into())));
    numbers.chain(words).chain(lists).chain(truths).collect()
}

fn argument(argument: &Argument) -> ArgumentRow {
    let flags = [
        ("const", argument.is_const),
        ("restrict", argument.is_restrict),
        ("volatile", argument.is_volatile),
        ("pipe", argument.is_pipe),
    ];
    let flags = flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned());
    let access = argument.access.clone().into_iter();
    let actual = argument.actual_access.iter().map(|access| format!("actually {access}"));
    let align = argument.pointee_align.iter().map(|align| format!("points to alignment {align}"));
    ArgumentRow {
        name: argument.name.clone(),
        type_name: argument.type_name.clone(),
        offset: argument.offset,
        size: argument.size,
        kind: argument.value_kind.clone(),
        address_space: argument.address_space.clone(),
        qualifiers: flags.chain(access).chain(actual).chain(align).collect(),
    }
}

/// Name, type and size of a kernel's parameter, as the debug information has it.
type Parameter = (Option<String>, Option<String>, Option<u64>);

/// The parameters that source text wrote of a kernel; none where a file is too large to look for it.
fn parameters(debug: &DebugInfo, kernel: &str) -> Vec<Parameter> {
    let units = (0..debug.unit_count()).map(UnitId);
    let bytes = units.clone().filter_map(|unit| debug.unit_span(unit)).map(|span| span.len()).sum::<usize>();
    if bytes > MAX_CHECKED_BYTES {
        return Vec::new();
    }
    let mut found = units.filter_map(|unit| debug.function_named(unit, kernel, Naming::Whole).ok().flatten());
    let function = found.next();
    let scope = function.as_ref().and_then(|function| function.scopes.first());
    let variables = scope.map_or(&[][..], |scope| &scope.variables).iter();
    let written =
        variables.filter(|variable| variable.kind == VariableKind::Argument && !variable.is_artificial);
    let parameter = |variable: &Arc<Variable>| {
        let name = variable.name.as_deref().map(str::to_owned);
        let type_name = variable.type_id.and_then(|id| debug.type_name(Some(id)).ok());
        (name, type_name, variable.type_id.and_then(|id| debug.byte_size(id).ok().flatten()))
    };
    written.map(parameter).collect()
}

/// What metadata leave out (the compiler of HIP writes no types) is what debug information says, if it has as many
/// parameters, of the same sizes.
fn name_arguments(arguments: &mut [ArgumentRow], parameters: impl FnOnce() -> Vec<Parameter>) {
    let mut visible: Vec<&mut ArgumentRow> =
        arguments.iter_mut().filter(|argument| !argument.kind.starts_with("hidden_")).collect();
    if visible.iter().all(|argument| argument.name.is_some() && argument.type_name.is_some()) {
        return;
    }
    let parameters = parameters();
    let same_size = |(argument, (.., size)): (&&mut ArgumentRow, &Parameter)| *size == Some(argument.size);
    if parameters.len() != visible.len() || !visible.iter().zip(&parameters).all(same_size) {
        return;
    }
    for (argument, (name, type_name, _)) in visible.iter_mut().zip(parameters) {
        argument.name = argument.name.take().or(name);
        argument.type_name = argument.type_name.take().or(type_name);
    }
}

fn relocations(object: &CodeObject) -> Vec<RelocationRow> {
    let symbols = object.symbols();
    let sections = object.sections();
    let rows = object.relocations().map(|one| {
        let section = sections.get(one.section as usize).filter(|_| one.section != 0);
        // Those of a loaded image name the dynamic symbols, which are another table than what is listed here.
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

fn symbol(object: &CodeObject, symbol: &Symbol) -> SymbolRow {
    let is_lds = symbol.kind == SymbolKind::Lds;
    let section = section_of(object, symbol);
    SymbolRow {
        name: symbol_name(object, symbol),
        section: section.map(|section| section.name.clone()),
        alignment: is_lds.then_some(symbol.value),
        kind: match symbol.kind {
            SymbolKind::Other if section.is_some() && symbol.name.is_empty() => "section",
            SymbolKind::Function => "function",
            SymbolKind::KernelDescriptor => "kernel descriptor",
            SymbolKind::Object => "object",
            SymbolKind::Lds => "LDS",
            SymbolKind::Absolute => "number",
            SymbolKind::Undefined => "undefined",
            SymbolKind::Other => "other",
        },
        value: (!is_lds).then(|| hex(symbol.value)),
        size: symbol.size,
        global: symbol.global,
    }
}

fn notes(object: &CodeObject) -> Vec<NoteRow> {
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

fn dwarf(debug: &Result<DebugInfo, DebugInfoError>, problems: &mut Vec<String>) -> DwarfFacts {
    let debug = match debug {
        Ok(debug) => debug,
        Err(error) => {
            return DwarfFacts { present: false, units: Vec::new(), problem: Some(error.to_string()) };
        }
    };
    // Units that cannot be read are among the problems.
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
