//! Metadata of code object version 2: YAML, mapped to the keys of version 3.
//!
//! AMDGPUUsage, "Code Object V2 Metadata". Arguments have sizes and alignments without offsets: each lies at the next
//! multiple of its alignment, the layout of the HSA kernarg segment.

use super::yaml::{Yaml, parse};
use super::{Argument, Kernel, Metadata};
use crate::codeobject::MetadataError;

pub(super) fn decode(bytes: &[u8]) -> Result<Metadata, MetadataError> {
    let root = parse(bytes)?;
    let pair = |node: &Yaml| match node.list() {
        [major, minor, ..] => Some((major.unsigned()?, minor.unsigned()?)),
        _ => None,
    };
    let list = |key| root.get(key).map_or(&[][..], Yaml::list);
    Ok(Metadata {
        version: root.get("Version").and_then(pair),
        target: None,
        printf: list("Printf").iter().filter_map(Yaml::text).collect(),
        kernels: list("Kernels").iter().map(kernel).collect(),
    })
}

fn kernel(node: &Yaml) -> Kernel {
    let text = |key| node.get(key).and_then(Yaml::text);
    let property = |key| node.get("CodeProps").and_then(|properties| properties.get(key));
    let number = |key| property(key).and_then(Yaml::unsigned);
    let attribute = |key| node.get("Attrs").and_then(|attributes| attributes.get(key));
    let numbers = |key| attribute(key).map(|sizes| sizes.list().iter().filter_map(Yaml::unsigned).collect());
    let version = node.get("LanguageVersion").map(Yaml::list);
    Kernel {
        name: text("Name").unwrap_or_default(),
        symbol: text("SymbolName").unwrap_or_default(),
        language: text("Language"),
        language_version: version.map(|numbers| numbers.iter().filter_map(Yaml::unsigned).collect()),
        arguments: arguments(node.get("Args").map_or(&[], Yaml::list)),
        kernarg_segment_size: number("KernargSegmentSize"),
        kernarg_segment_align: number("KernargSegmentAlign"),
        group_segment_fixed_size: number("GroupSegmentFixedSize"),
        private_segment_fixed_size: number("PrivateSegmentFixedSize"),
        uses_dynamic_stack: property("IsDynamicCallStack").and_then(Yaml::truth),
        wavefront_size: number("WavefrontSize"),
        sgpr_count: number("NumSGPRs"),
        vgpr_count: number("NumVGPRs"),
        agpr_count: None,
        sgpr_spill_count: number("NumSpilledSGPRs"),
        vgpr_spill_count: number("NumSpilledVGPRs"),
        max_flat_workgroup_size: number("MaxFlatWorkGroupSize"),
        required_workgroup_size: numbers("ReqdWorkGroupSize"),
        workgroup_size_hint: numbers("WorkGroupSizeHint"),
        vector_type_hint: attribute("VecTypeHint").and_then(Yaml::text),
        device_enqueue_symbol: attribute("RuntimeHandle").and_then(Yaml::text),
        kind: None,
        workgroup_processor_mode: None,
        uniform_workgroup_size: None,
    }
}

fn arguments(nodes: &[Yaml]) -> Vec<Argument> {
    let mut end = 0u64;
    let arguments = nodes.iter().map(|node| {
        let text = |key| node.get(key).and_then(Yaml::text);
        let number = |key| node.get(key).and_then(Yaml::unsigned);
        let truth = |key| node.get(key).and_then(Yaml::truth).unwrap_or(false);
        let size = number("Size").unwrap_or(0);
        let align = number("Align").unwrap_or(1).max(1);
        let offset = end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        end = offset.saturating_add(size);
        Argument {
            name: text("Name"),
            type_name: text("TypeName"),
            offset,
            size,
            value_kind: snake(&text("ValueKind").unwrap_or_default()),
            address_space: text("AddrSpaceQual").map(|name| snake(&name)),
            pointee_align: number("PointeeAlign"),
            access: text("AccQual").map(|name| snake(&name)),
            actual_access: text("ActualAccQual").map(|name| snake(&name)),
            is_const: truth("IsConst"),
            is_restrict: truth("IsRestrict"),
            is_volatile: truth("IsVolatile"),
            is_pipe: truth("IsPipe"),
        }
    });
    arguments.collect()
}

/// Converts `HiddenGlobalOffsetX` to the form of later versions, `hidden_global_offset_x`.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
