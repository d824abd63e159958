//! The members of the analysis as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::StreamedHang;
use crate::isa::Direction;
use crate::report::fault::ReportedFault;
use crate::report::schema::{Hex, Lanes, Run, Schema};
use crate::session::InferredBy;
use crate::session::print::PartOwner;
use crate::triage::{Confidence, MissingData, WaveState};

/// The analysis.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Analysis<'a> {
    /// The answer in one sentence.
    pub sentence: String,
    /// The cause; null: no hang is visible, and no wave is known to have faulted or the reason of the fault is missing.
    pub cause: Option<CauseJson>,
    /// The suspected accesses to memory, best first.
    pub accesses: Vec<AccessJson>,
    /// Number of further suspects, without their facts.
    pub further: usize,
    /// The first reported fault.
    pub fault: Option<ReportedFault>,
    /// All reported faults.
    pub faults: Vec<ReportedFault>,
    /// Counts of waves.
    pub waves: StopsJson,
    /// States of waves and work-groups, if no wave faulted or the question asks for them.
    #[cfg_attr(test, schemars(with = "Option<HangJson<Vec<GroupJson>, Vec<WaitJson>>>"))]
    pub hang: Option<StreamedHang<'a>>,
    /// Data that the analysis lacks.
    pub missing: Vec<MissingJson>,
}

impl Schema for Analysis<'_> {
    const NAME: &'static str = "triage";
}

/// A place in the source.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceJson {
    /// The function.
    pub function: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u64>,
    /// The text of the line.
    pub text: Option<String>,
}

/// The cause of a crash or hang.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CauseJson {
    /// An access to memory; `accesses` has the candidates.
    Memory,
    /// The PC is in no code.
    BadPc {
        /// The PC.
        pc: Hex,
        /// Registers that hold the PC.
        holders: Vec<String>,
        /// The caller.
        caller: Option<SourceJson>,
    },
    /// A failed assertion.
    Assertion {
        /// Whether only the program's output has it, and the names of its function and of the wave's differ.
        inferred: bool,
        /// The wave's id.
        wave: u32,
        /// The lanes that failed.
        lanes: Lanes,
        /// The condition.
        condition: Option<String>,
        /// The place of the assertion.
        at: SourceJson,
    },
    /// A trap of the program.
    Trap {
        /// The trap's number.
        trap: Option<u8>,
        /// The place.
        at: SourceJson,
    },
    /// An illegal instruction.
    IllegalInstruction {
        /// Its address.
        address: Hex,
        /// Its bytes, two digits each.
        bytes: String,
        /// The place.
        at: SourceJson,
        /// Processors on which the bytes are an instruction.
        decodes: Vec<DecodedBy>,
        /// The processor of the code object, if it is another one than the GPU's.
        compiled_for: Option<String>,
    },
    /// An arithmetic exception.
    Arithmetic {
        /// The wave's id.
        wave: u32,
        /// AMD's names of the exceptions: `fp_divide_by_0`.
        exceptions: Vec<String>,
        /// The place of the instruction; of several lines that of the PC.
        at: SourceJson,
        /// Address of the instruction that raised them, or of the nearest one that can have.
        instruction: Option<Hex>,
        /// Its text.
        text: Option<String>,
        /// Operands that explain them.
        operands: Vec<Operand>,
        /// Those of a scalar operation.
        scalar: Option<String>,
        /// Whether the lanes of the operands are an upper bound.
        lanes_are_bound: bool,
        /// The certainty that the instruction is the cause.
        confidence: Confidence,
        /// The reason for which it is only possible.
        reason: Option<String>,
        /// Further instructions that can have raised them.
        others: Vec<Operation>,
    },
    /// An uncorrectable memory error.
    Ecc,
    /// An error of a queue.
    Queue {
        /// The error.
        error: String,
        /// The kernel.
        kernel: Option<String>,
    },
    /// A stop for a debugger: a breakpoint, a debug trap.
    Breakpoint {
        /// Names of the stop reasons.
        stop: Vec<String>,
        /// The place.
        at: SourceJson,
    },
    /// The wave stopped because of another wave's fault.
    Bystander {
        /// Id of the first wave that faulted.
        faulted: u32,
    },
    /// A hang.
    Hang,
}

/// An instruction of another processor.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DecodedBy {
    /// The processor.
    pub processor: String,
    /// The instruction.
    pub text: String,
}

/// An instruction.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Operation {
    /// Its address.
    pub instruction: Hex,
    /// Its text.
    pub text: String,
}

/// Operands in a lane.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Operand {
    /// The lane.
    pub lane: u8,
    /// The operands: `v3 = 0`.
    pub operands: String,
}

/// A suspected access to memory.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AccessJson {
    /// The wave's id.
    pub wave: u32,
    /// The wave's PC.
    pub pc: Hex,
    /// Address of the instruction.
    pub instruction: Hex,
    /// The instruction.
    pub text: String,
    /// Number of instructions from it to the PC.
    pub distance: usize,
    /// The direction.
    pub access: Direction,
    /// Bytes of a lane; null: unknown.
    pub size: Option<u16>,
    /// The suspected lanes; empty: a scalar access.
    pub lanes: Lanes,
    /// Whether `lanes` is an upper bound.
    pub lanes_are_bound: bool,
    /// Addresses by lane number, or `scalar`.
    pub addresses: BTreeMap<String, Hex>,
    /// The address space of the addresses.
    pub space: String,
    /// Lanes with an unknown address.
    pub unknown: Option<UnknownJson>,
    /// The certainty that it is the cause.
    pub confidence: Confidence,
    /// Reasons for the rank, the strongest first.
    pub reasons: Vec<String>,
    /// Patterns of the addresses.
    pub patterns: Vec<PatternJson>,
    /// Other waves with this suspect, as runs of ids.
    pub also: Vec<Run>,
    /// The function.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u64>,
    /// Whether the line table has no line, and `line` is that of the nearest instruction of the statement.
    pub line_inferred: bool,
    /// The text of the line.
    pub source: Option<String>,
    /// The frame with the access, as `lanescope backtrace` numbers it; null: unknown, or not on the stack.
    pub frame: Option<usize>,
    /// The access in the source: `x[i]`.
    pub expression: Option<String>,
    /// The pointer or array.
    pub variable: Option<String>,
    /// The index in the first lane.
    pub index: Option<i64>,
    /// The access in terms of the source.
    pub term: Option<TermJson>,
}

/// Lanes with an unknown address.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnknownJson {
    /// The lanes.
    pub lanes: Lanes,
    /// The reason.
    pub reason: String,
}

/// An access in terms of the source.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TermJson {
    /// The access: `x[i]`.
    pub expression: String,
    /// The pointer or array.
    pub pointer: VariableJson,
    /// Bytes of an element.
    pub element_size: u64,
    /// The index by lane.
    pub index: IndexJson,
    /// Variables with the index as their value.
    pub index_variables: Vec<VariableJson>,
    /// Variables that bound the index.
    pub bounds: Vec<VariableJson>,
    /// The declared bounds of an array.
    pub declared: Option<DeclaredJson>,
    /// Indexes of arrays in the elements, the outermost first.
    pub inner: Vec<InnerIndexJson>,
    /// Whether `expression` has two readings, and no evidence decides between them.
    pub ambiguous: bool,
    /// The allocation.
    pub allocation: Option<AllocationJson>,
    /// Other expressions that fit.
    pub alternatives: Vec<String>,
    /// Whether a part is inferred.
    pub inferred: bool,
}

/// The index of an array in an element.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InnerIndexJson {
    /// The array: `s[t].a`.
    pub array: String,
    /// The index by lane.
    pub index: IndexJson,
    /// Variables with the index as their value.
    pub index_variables: Vec<VariableJson>,
    /// The declared bounds of the array.
    pub declared: Option<DeclaredJson>,
}

/// A variable with its value.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VariableJson {
    /// Its name.
    pub name: String,
    /// Its value as text.
    pub value: String,
    /// Its kind.
    pub kind: PartOwner,
    /// The inferences behind its place: docs/json.md, "Inferred answers".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<InferredBy>,
}

/// Bounds in a declaration.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DeclaredJson {
    /// The first index.
    pub first: i64,
    /// Number of elements.
    pub count: u64,
}

/// An index by lane.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum IndexJson {
    /// One index for all lanes.
    Constant {
        /// The index.
        value: i64,
    },
    /// The index of a scalar access.
    Scalar {
        /// The index.
        value: i64,
    },
    /// A first index and a step.
    Linear {
        /// The index in `lane`.
        first: i64,
        /// The first lane.
        lane: u8,
        /// The difference of neighbouring lanes.
        step: i64,
    },
    /// No rule.
    Listed {
        /// Indexes by lane number.
        values: BTreeMap<u8, i64>,
    },
}

/// An allocation near an address.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AllocationJson {
    /// Its first byte.
    pub start: Hex,
    /// The byte past its end.
    pub end: Hex,
    /// Bytes between the address and the allocation.
    pub distance: u64,
    /// Its name.
    pub name: Option<String>,
    /// Whether the bounds are rounded to pages.
    pub rounded: bool,
    /// Whether the capture lists all memory.
    pub map_whole: bool,
}

/// A pattern of addresses.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PatternJson {
    /// The pattern.
    #[serde(flatten)]
    pub pattern: PatternKind,
    /// The lanes with it.
    pub lanes: Lanes,
}

/// The kind of a pattern.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "pattern", rename_all = "snake_case")]
pub enum PatternKind {
    /// Address 0, or a small offset from a base of 0.
    Null {
        /// The base register's value.
        base: Option<Hex>,
        /// The offset.
        offset: Hex,
    },
    /// Bits 63 to 47 differ.
    NonCanonical,
    /// An overflow of 32 bits.
    #[serde(rename = "overflow_32")]
    Overflow32 {
        /// The number of 2^32 that lack.
        times: i64,
        /// The address without overflow.
        meant: Hex,
    },
    /// An index below 0.
    NegativeIndex {
        /// The index.
        index: i64,
        /// Whether 32 bits were extended with zeros.
        zero_extended: bool,
    },
    /// A filler of an allocator or sanitizer.
    Poison {
        /// The value.
        value: Hex,
        /// Its origin.
        origin: &'static str,
    },
    /// A pointer of LDS or private memory.
    OtherAperture {
        /// The space.
        space: &'static str,
    },
    /// Memory of the host alone.
    HostPointer {
        /// Whether a report has that; otherwise the address alone suggests it.
        reported: bool,
    },
    /// One flipped bit.
    FlippedBit {
        /// The bit.
        bit: u8,
        /// The address without the flip.
        meant: Hex,
        /// Number of other bits that lead to memory.
        alternatives: usize,
    },
    /// Past the end of an allocation.
    PastEnd {
        /// The allocation.
        allocation: AllocationJson,
    },
    /// Before the start of an allocation.
    BeforeStart {
        /// The allocation.
        allocation: AllocationJson,
    },
    /// The pointer leads to no memory.
    BadPointer {
        /// The allocation next to the pointer.
        neighbour: Option<AllocationJson>,
    },
    /// Partly in an allocation.
    Straddles {
        /// The allocation.
        allocation: AllocationJson,
    },
    /// Not aligned.
    Misaligned {
        /// The needed alignment in bytes.
        needed: u16,
    },
    /// A write to read-only memory.
    ReadOnly,
    /// Between two allocations.
    Freed,
    /// A large distance from the base.
    LargeIndex {
        /// The index.
        index: i64,
    },
}

/// Counts of waves.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StopsJson {
    /// Waves of the question.
    pub count: usize,
    /// Those of them that the dump leaves out, and that others stand for.
    pub absent: usize,
    /// Reasons for waves of the process that the dump lacks, and that no wave stands for.
    pub uncounted: Vec<String>,
    /// Waves that stopped for a fault.
    pub faulted: usize,
    /// Waves without a fault, if another wave faulted.
    pub bystanders: usize,
    /// Waves with an unknown stop reason.
    pub unknown: usize,
    /// PCs of the faulted waves, the most frequent first.
    pub pcs: Vec<PcCount>,
    /// Id of the wave that the text describes.
    pub chosen: Option<u32>,
    /// Faults of waves beside that of the chosen one: another stop reason, GPU or dispatch.
    pub others: Vec<OtherFaultJson>,
    /// Waves of the dump that faulted and that the question is not about: of another kind, or left out by `--wave`.
    pub left_out: usize,
}

/// Waves that stopped for another fault than the described one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OtherFaultJson {
    /// Their ids: runs of first and last.
    pub waves: Vec<Run>,
    /// Names of the stop reasons of the first one.
    pub stop: Vec<String>,
    /// Agent id of the dump.
    pub agent: u32,
    /// Dispatch id.
    pub dispatch: Option<u32>,
}

/// Waves at a PC.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PcCount {
    /// The PC.
    pub pc: Hex,
    /// Number of waves.
    pub waves: usize,
}

/// States of waves and work-groups.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HangJson<G, W> {
    /// Whether the waves of a dispatch wait for each other.
    pub hang: bool,
    /// Whether the wait is proven to be endless.
    pub deadlock: bool,
    /// The proof, a sentence a step.
    pub proof: Vec<String>,
    /// Number of waves of each state.
    pub counts: Vec<StateWaves>,
    /// Work-groups at a barrier.
    pub groups: G,
    /// The waves.
    pub waves: W,
}

/// Waves of a state.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StateWaves {
    /// Id of the dispatch.
    pub dispatch: Option<u32>,
    /// The state.
    pub state: WaveState,
    /// Number of waves.
    pub waves: usize,
}

/// A work-group at a barrier.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupJson {
    /// Id of the work-group.
    pub workgroup: u32,
    /// Its position in the grid.
    pub coord: Option<[u32; 3]>,
    /// Ids of waves at the barrier.
    pub waiting: Vec<u32>,
    /// Ids of live waves that have not arrived.
    pub missing: Vec<u32>,
    /// Ids of live waves that signalled the barrier and do not wait at it.
    pub signalled: Vec<u32>,
    /// Number of waves that ended; null: unknown.
    pub ended: Option<u32>,
    /// Number of waves that are neither captured nor known to have ended; null: unknown.
    pub not_captured: Option<u32>,
}

/// The state of a wave.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WaitJson {
    /// The wave's id.
    pub wave: u32,
    /// The state.
    pub state: WaveState,
    /// Its PC.
    pub pc: Option<Hex>,
    /// The function.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Lines of the loop, or of the PC.
    pub loop_lines: Vec<u64>,
    /// Whether the loop polls memory.
    pub polling: bool,
    /// Memory that the loop polls.
    pub polls: Vec<PollJson>,
}

/// A polled value.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PollJson {
    /// Its address.
    pub address: Hex,
    /// The address space.
    #[cfg_attr(test, schemars(extend("enum" = ["local", "global"])))]
    pub space: &'static str,
    /// Number of bytes.
    pub size: u16,
    /// The captured value; null: not captured.
    pub value: Option<Hex>,
    /// The number that the loop compares it with, if known.
    pub compared_with: Option<Hex>,
    /// The comparison of the value with that number. Null: unknown.
    #[cfg_attr(test, schemars(extend("enum" = [Some("=="), Some("!="), Some("<"), Some("<="), Some(">"), Some(">="), None::<&str>])))]
    pub comparison: Option<&'static str>,
    /// The lanes that poll it; empty: a scalar load.
    pub lanes: Lanes,
    /// Its name.
    pub name: Option<String>,
    /// Whether the name is inferred: the debug information has no location of the variable, the values alone lead to
    /// the expression, or the place of the variable is inferred.
    pub inferred: bool,
}

/// Missing data.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MissingJson {
    /// The name of the data; docs/triage.md lists them.
    pub missing: MissingData,
    /// The data and its effect as text.
    pub text: String,
}
