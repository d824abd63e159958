//! AMD's metadata of a code object: kernels with their resources and arguments.
//!
//! AMDGPUUsage, "Code Object V2 Metadata" to "V5 Metadata" (version 6 has those of 5). Unknown keys are ignored,
//! missing ones are `None`. Field names follow versions 3 and later; [`v2`] maps the older ones.

pub(super) mod msgpack;
mod v2;
pub(super) mod yaml;

pub use msgpack::MsgpackError;
use msgpack::{Value, decode};

use super::MetadataError;

/// A decoded metadata note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `amdhsa.version`: major and minor.
    pub version: Option<(u64, u64)>,
    /// `amdhsa.target`: `amdgcn-amd-amdhsa--gfx90a:xnack-`.
    pub target: Option<String>,
    /// `amdhsa.printf`: an `ID:N:SIZE..:FORMAT` for each `printf`.
    pub printf: Vec<String>,
    /// `amdhsa.kernels`, in the file's order.
    pub kernels: Vec<Kernel>,
}

/// One kernel of the metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// `.name`: the source name (mangled for HIP).
    pub name: String,
    /// `.symbol`: the descriptor's symbol, `saxpy.kd`.
    pub symbol: String,
    /// `.language`.
    pub language: Option<String>,
    /// `.language_version`: major and minor.
    pub language_version: Option<Vec<u64>>,
    /// `.args`, in order.
    pub arguments: Vec<Argument>,
    /// `.kernarg_segment_size` in bytes.
    pub kernarg_segment_size: Option<u64>,
    /// `.kernarg_segment_align` in bytes.
    pub kernarg_segment_align: Option<u64>,
    /// `.group_segment_fixed_size`: LDS bytes known when compiled.
    pub group_segment_fixed_size: Option<u64>,
    /// `.private_segment_fixed_size`: private bytes per lane known when compiled.
    pub private_segment_fixed_size: Option<u64>,
    /// `.uses_dynamic_stack`: private memory may exceed the fixed size.
    pub uses_dynamic_stack: Option<bool>,
    /// `.wavefront_size`: 32 or 64 lanes.
    pub wavefront_size: Option<u64>,
    /// `.sgpr_count`.
    pub sgpr_count: Option<u64>,
    /// `.vgpr_count`.
    pub vgpr_count: Option<u64>,
    /// `.agpr_count`.
    pub agpr_count: Option<u64>,
    /// `.sgpr_spill_count`: number of SGPR stores.
    pub sgpr_spill_count: Option<u64>,
    /// `.vgpr_spill_count`: number of VGPR stores.
    pub vgpr_spill_count: Option<u64>,
    /// `.max_flat_workgroup_size` in work-items.
    pub max_flat_workgroup_size: Option<u64>,
    /// `.reqd_workgroup_size` in work-items per dimension.
    pub required_workgroup_size: Option<Vec<u64>>,
    /// `.workgroup_size_hint` in work-items per dimension.
    pub workgroup_size_hint: Option<Vec<u64>>,
    /// `.vec_type_hint`.
    pub vector_type_hint: Option<String>,
    /// `.device_enqueue_symbol`.
    pub device_enqueue_symbol: Option<String>,
    /// `.kind`: `normal`, `init` or `fini`.
    pub kind: Option<String>,
    /// `.workgroup_processor_mode`: waves of a work-group run on both CUs of a WGP.
    pub workgroup_processor_mode: Option<bool>,
    /// `.uniform_work_group_size`: the grid is a multiple of the work-group.
    pub uniform_workgroup_size: Option<bool>,
}

/// One kernel argument, explicit or hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// `.name`; hidden arguments and HIP's have none.
    pub name: Option<String>,
    /// `.type_name`.
    pub type_name: Option<String>,
    /// `.offset` in the kernarg segment, in bytes.
    pub offset: u64,
    /// `.size` in bytes.
    pub size: u64,
    /// `.value_kind`: `by_value`, `global_buffer`, `hidden_block_count_x` ...
    pub value_kind: String,
    /// `.address_space`: `global`, `local`, `generic` ...
    pub address_space: Option<String>,
    /// `.pointee_align` of a pointer to LDS, in bytes.
    pub pointee_align: Option<u64>,
    /// `.access` of an image or pipe: `read_only` ...
    pub access: Option<String>,
    /// `.actual_access`: the kernel's access.
    pub actual_access: Option<String>,
    /// `.is_const`.
    pub is_const: bool,
    /// `.is_restrict`.
    pub is_restrict: bool,
    /// `.is_volatile`.
    pub is_volatile: bool,
    /// `.is_pipe`.
    pub is_pipe: bool,
}

impl Kernel {
    /// Whether it is the kernel with that symbol, without the descriptor's suffix.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let symbol = self.symbol.strip_suffix(".kd").or_else(|| self.symbol.strip_suffix("@kd"));
        symbol.unwrap_or(&self.symbol) == name
    }
}

impl Argument {
    /// Whether the runtime adds it, without a declaration in the source.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.value_kind.starts_with("hidden_")
    }
}

impl Metadata {
    /// Decodes the note of version 2.
    pub(super) fn from_yaml(bytes: &[u8]) -> Result<Self, MetadataError> {
        v2::decode(bytes)
    }

    /// Decodes the note of versions 3 to 6.
    pub(super) fn from_msgpack(bytes: &[u8]) -> Result<Self, MetadataError> {
        let root = decode(bytes)?;
        let version = root.get("amdhsa.version").map(Value::elements).and_then(|version| match version {
            [major, minor, ..] => Some((major.unsigned()?, minor.unsigned()?)),
            _ => None,
        });
        let kernels = root.get("amdhsa.kernels").map(Value::elements).unwrap_or(&[]);
        let target = root.get("amdhsa.target").and_then(Value::text);
        let printf = root.get("amdhsa.printf").map(Value::elements).unwrap_or(&[]);
        let printf = printf.iter().filter_map(Value::text).collect();
        Ok(Self { version, target, printf, kernels: kernels.iter().map(kernel).collect() })
    }
}

fn kernel(value: &Value<'_>) -> Kernel {
    let number = |key| value.get(key).and_then(Value::unsigned);
    let text = |key| value.get(key).and_then(Value::text);
    let numbers = |key| {
        let list = value.get(key).map(Value::elements);
        list.map(|list| list.iter().filter_map(Value::unsigned).collect::<Vec<u64>>())
    };
    let truth = |key| value.get(key).and_then(Value::truth);
    Kernel {
        name: text(".name").unwrap_or_default(),
        symbol: text(".symbol").unwrap_or_default(),
        language: text(".language"),
        language_version: numbers(".language_version"),
        arguments: value.get(".args").map(Value::elements).unwrap_or(&[]).iter().map(argument).collect(),
        kernarg_segment_size: number(".kernarg_segment_size"),
        kernarg_segment_align: number(".kernarg_segment_align"),
        group_segment_fixed_size: number(".group_segment_fixed_size"),
        private_segment_fixed_size: number(".private_segment_fixed_size"),
        uses_dynamic_stack: truth(".uses_dynamic_stack"),
        wavefront_size: number(".wavefront_size"),
        sgpr_count: number(".sgpr_count"),
        vgpr_count: number(".vgpr_count"),
        agpr_count: number(".agpr_count"),
        max_flat_workgroup_size: number(".max_flat_workgroup_size"),
        sgpr_spill_count: number(".sgpr_spill_count"),
        vgpr_spill_count: number(".vgpr_spill_count"),
        required_workgroup_size: numbers(".reqd_workgroup_size"),
        workgroup_size_hint: numbers(".workgroup_size_hint"),
        vector_type_hint: text(".vec_type_hint"),
        device_enqueue_symbol: text(".device_enqueue_symbol"),
        kind: text(".kind"),
        workgroup_processor_mode: truth(".workgroup_processor_mode"),
        uniform_workgroup_size: truth(".uniform_work_group_size"),
    }
}

fn argument(value: &Value<'_>) -> Argument {
    let truth = |key| value.get(key).and_then(Value::truth).unwrap_or(false);
    let number = |key| value.get(key).and_then(Value::unsigned);
    let text = |key| value.get(key).and_then(Value::text);
    Argument {
        name: text(".name"),
        type_name: text(".type_name"),
        offset: number(".offset").unwrap_or(0),
        size: number(".size").unwrap_or(0),
        value_kind: text(".value_kind").unwrap_or_default(),
        address_space: text(".address_space"),
        pointee_align: number(".pointee_align"),
        access: text(".access"),
        actual_access: text(".actual_access"),
        is_const: truth(".is_const"),
        is_restrict: truth(".is_restrict"),
        is_volatile: truth(".is_volatile"),
        is_pipe: truth(".is_pipe"),
    }
}
