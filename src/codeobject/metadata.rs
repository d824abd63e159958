//! AMD's metadata of a code object: the kernels, what they need and what arguments they take.
//!
//! AMDGPUUsage, "Code Object V3 Metadata" to "V5 Metadata". Unknown keys are ignored, missing ones are `None`.

use super::msgpack::{MsgpackError, Value, decode};

/// The metadata note, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `amdhsa.version`: major and minor.
    pub version: Option<(u64, u64)>,
    /// `amdhsa.target`: `amdgcn-amd-amdhsa--gfx90a:xnack-`.
    pub target: Option<String>,
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
    /// `.args`, in order.
    pub arguments: Vec<Argument>,
    /// `.kernarg_segment_size` in bytes.
    pub kernarg_segment_size: Option<u64>,
    /// `.kernarg_segment_align` in bytes.
    pub kernarg_segment_align: Option<u64>,
    /// `.group_segment_fixed_size`: bytes of LDS known when compiled.
    pub group_segment_fixed_size: Option<u64>,
    /// `.private_segment_fixed_size`: bytes of private memory per lane known when compiled.
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
    /// `.max_flat_workgroup_size` in work-items.
    pub max_flat_workgroup_size: Option<u64>,
    /// `.reqd_workgroup_size` in work-items per dimension.
    pub required_workgroup_size: Option<Vec<u64>>,
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
}

impl Argument {
    /// Whether the runtime adds it and no source line declares it.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.value_kind.starts_with("hidden_")
    }
}

impl Metadata {
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, MsgpackError> {
        let root = decode(bytes)?;
        let version = root.get("amdhsa.version").map(Value::elements).and_then(|version| match version {
            [major, minor, ..] => Some((major.unsigned()?, minor.unsigned()?)),
            _ => None,
        });
        let kernels = root.get("amdhsa.kernels").map(Value::elements).unwrap_or(&[]);
        let target = root.get("amdhsa.target").and_then(Value::text);
        Ok(Self { version, target, kernels: kernels.iter().map(kernel).collect() })
    }
}

fn kernel(value: &Value<'_>) -> Kernel {
    let number = |key| value.get(key).and_then(Value::unsigned);
    let text = |key| value.get(key).and_then(Value::text);
    let required = value.get(".reqd_workgroup_size").map(Value::elements);
    Kernel {
        name: text(".name").unwrap_or_default(),
        symbol: text(".symbol").unwrap_or_default(),
        language: text(".language"),
        arguments: value.get(".args").map(Value::elements).unwrap_or(&[]).iter().map(argument).collect(),
        kernarg_segment_size: number(".kernarg_segment_size"),
        kernarg_segment_align: number(".kernarg_segment_align"),
        group_segment_fixed_size: number(".group_segment_fixed_size"),
        private_segment_fixed_size: number(".private_segment_fixed_size"),
        uses_dynamic_stack: value.get(".uses_dynamic_stack").and_then(Value::truth),
        wavefront_size: number(".wavefront_size"),
        sgpr_count: number(".sgpr_count"),
        vgpr_count: number(".vgpr_count"),
        agpr_count: number(".agpr_count"),
        max_flat_workgroup_size: number(".max_flat_workgroup_size"),
        required_workgroup_size: required.map(|sizes| sizes.iter().filter_map(Value::unsigned).collect()),
    }
}

fn argument(value: &Value<'_>) -> Argument {
    let number = |key| value.get(key).and_then(Value::unsigned);
    let text = |key| value.get(key).and_then(Value::text);
    Argument {
        name: text(".name"),
        type_name: text(".type_name"),
        offset: number(".offset").unwrap_or(0),
        size: number(".size").unwrap_or(0),
        value_kind: text(".value_kind").unwrap_or_default(),
        address_space: text(".address_space"),
    }
}
