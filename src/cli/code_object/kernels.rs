//! The kernel part of `code-object`: descriptors, metadata and arguments.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::describe::hex;
use crate::arch::{Generation, Processor};
use crate::codeobject::{Argument, CodeObject, Kernel, KernelDescriptor};
use crate::debuginfo::{DebugInfo, MAX_CHECKED_BYTES, Naming, UnitId, Variable, VariableKind};
use crate::session::argument_types;

#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct KernelFacts {
    pub(super) name: String,
    pub(super) source_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) descriptor: Option<DescriptorRow>,
    /// The metadata's facts: numbers, words, lists of numbers.
    pub(super) metadata: BTreeMap<&'static str, serde_json::Value>,
    pub(super) arguments: Vec<ArgumentRow>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ArgumentRow {
    pub(super) name: Option<String>,
    #[serde(rename = "type")]
    pub(super) type_name: Option<String>,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) kind: String,
    pub(super) address_space: Option<String>,
    /// `access`, `const`, `restrict`, `volatile`, `pipe`, the alignment of the pointee.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) qualifiers: Vec<String>,
}

/// Kernels by their symbols, each with its metadata; then the kernels that only the metadata has.
pub(super) fn kernels(
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
            let is_named = name_arguments(&mut facts.arguments, || parameters(&facts.name));
            if !is_named && let Some(types) = argument_types(&facts.name, &kernel.arguments) {
                for (argument, name) in visible(&mut facts.arguments).zip(types) {
                    argument.type_name = Some(name);
                }
            }
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
    let facts = generation.map(|generation| words.facts(generation));
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

/// The metadata's facts about a kernel, by their names in AMDGPUUsage.
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

/// Name, type and size of a kernel's parameter, from the debug information.
pub(super) type Parameter = (Option<String>, Option<String>, Option<u64>);

/// A kernel's parameters in source; empty if the file is too large to search.
pub(super) fn parameters(debug: &DebugInfo, kernel: &str) -> Vec<Parameter> {
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

/// The arguments that the runtime does not add.
fn visible(arguments: &mut [ArgumentRow]) -> impl Iterator<Item = &mut ArgumentRow> {
    arguments.iter_mut().filter(|argument| !argument.kind.starts_with("hidden_"))
}

/// Fills gaps of the metadata (the HIP compiler writes no types) from debug information that has the same number of
/// parameters with the same sizes. Returns whether there is no gap or they were filled.
fn name_arguments(arguments: &mut [ArgumentRow], parameters: impl FnOnce() -> Vec<Parameter>) -> bool {
    let mut visible: Vec<&mut ArgumentRow> = visible(arguments).collect();
    if visible.iter().all(|argument| argument.name.is_some() && argument.type_name.is_some()) {
        return true;
    }
    let parameters = parameters();
    let same_size = |(argument, (.., size)): (&&mut ArgumentRow, &Parameter)| *size == Some(argument.size);
    if parameters.len() != visible.len() || !visible.iter().zip(&parameters).all(same_size) {
        return false;
    }
    for (argument, (name, type_name, _)) in visible.iter_mut().zip(parameters) {
        argument.name = argument.name.take().or(name);
        argument.type_name = argument.type_name.take().or(type_name);
    }
    true
}
