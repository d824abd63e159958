//! The mock of the whole seam: the methods of each trait, without a body.

use std::sync::Arc;

use crate::arch::{RegId, RegisterValue, WaveArch};
use crate::capture::{Fault, Problem};
use crate::debuginfo::TypeId;
use crate::session::inspect::{Code, DumpFacts, Stacks, Storage, Variables, Waves, WhatIf};
use crate::session::print::{
    ElementPath, Explanation, ObjectAt, ParseError, Parts, PartsQuery, PrintError, Printed, Query,
    TypedQuery, TypedValues, VariableIn, Whereabouts,
};
use crate::session::{
    Activations, ChangeError, Changes, CodeObjectInfo, Disassembly, DisassemblyError, DispatchArguments,
    DispatchInfo, Dropped, EvaluateError, Evaluation, FrameAround, Grouping, Groups, Instructions, LaneInfo,
    LaneStack, LoadedRange, Locals, MemoryAddress, PointerAt, Question, ReadError, Region, Reset, Stack,
    StackFrame, StopCounts, WaveInfo, WorkGroupInfo,
};
use crate::units::{Address, LaneId, LaneSet, WaveId};

mockall::mock! {
    pub(crate) Inspect {}
    impl DumpFacts for Inspect {
        fn name(&self) -> String;
        fn notices(&self) -> Vec<String>;
        fn faults(&self) -> Vec<Fault>;
        fn problems(&self) -> Vec<Problem>;
        fn truncated(&self) -> Option<String>;
        fn uncounted_waves(&self) -> Vec<String>;
        fn code_objects(&self) -> Vec<CodeObjectInfo>;
        fn has_all_code_objects(&self) -> bool;
        fn has_new_reports(&self) -> bool;
        fn arguments(&self) -> Vec<DispatchArguments>;
        fn source_line(&self, file: &str, line: u64) -> Option<String>;
        fn changed_file(&self) -> Option<String>;
    }
    impl Waves for Inspect {
        fn kind(&self) -> Arc<WaveArch>;
        fn described(&self) -> Vec<RegId>;
        fn waves(&self) -> Arc<[WaveId]>;
        fn has_wave(&self, wave: WaveId) -> bool;
        fn group_wave(&self, wave: WaveId) -> WaveId;
        fn first_wave(&self) -> WaveId;
        fn faulted(&self) -> usize;
        fn stop_counts(&self) -> StopCounts;
        fn faulted_outside(&self) -> usize;
        fn wave(&self, wave: WaveId) -> Result<WaveInfo, ReadError>;
        fn dispatches(&self) -> Vec<DispatchInfo>;
        fn work_groups(&self) -> Vec<WorkGroupInfo>;
        fn lanes(&self, wave: WaveId) -> Result<Vec<LaneInfo>, ReadError>;
        fn focus(&self, wave: WaveId) -> LaneId;
        fn set_focus(&mut self, wave: WaveId, lane: LaneId) -> Result<(), ReadError>;
    }
    impl Storage for Inspect {
        fn next_question(&self);
        fn register(&self, wave: WaveId, register: RegId) -> Result<RegisterValue, ReadError>;
        fn read(&self, place: MemoryAddress, buffer: &mut [u8]) -> Result<usize, ReadError>;
        fn place(&self, address: u64, wave: WaveId) -> Result<MemoryAddress, ReadError>;
        fn region(&self, address: u64, wave: WaveId) -> Region;
        fn loaded_range(&self, address: u64, wave: WaveId) -> LoadedRange;
        fn has_whole_map(&self) -> bool;
        fn exists(&self, place: MemoryAddress) -> bool;
        fn size_of_space(&self, place: MemoryAddress) -> Option<u64>;
        fn generic_address(&self, place: MemoryAddress) -> Option<Address>;
        fn generation(&self) -> u64;
    }
    impl Stacks for Inspect {
        fn backtrace(&self, wave: WaveId, lane: Option<LaneId>) -> Result<Stack, ReadError>;
        fn calls_at(&self, wave: WaveId, address: u64) -> Result<Vec<StackFrame>, ReadError>;
        fn frame_around(&self, wave: WaveId, address: u64) -> Result<Option<FrameAround>, ReadError>;
        fn activations(&self, wave: WaveId, lane: Option<LaneId>, limit: usize) -> Result<Activations, ReadError>;
        fn has_own_stack(&self, wave: WaveId, lane: LaneId) -> Result<bool, ReadError>;
        fn lane_stacks(&self, wave: WaveId, lanes: LaneSet) -> Result<Vec<LaneStack>, ReadError>;
        fn groups(&self, grouping: Grouping) -> Result<Groups, ReadError>;
        fn active_lanes(&self, wave: WaveId, frame: usize) -> Result<LaneSet, ReadError>;
    }
    impl Variables for Inspect {
        fn locals(&self, wave: WaveId, lanes: LaneSet, frame: usize) -> Result<Locals, ReadError>;
        fn print(&self, wave: WaveId, lanes: LaneSet, frame: usize, query: &Query) -> Result<Printed, PrintError>;
        fn typed(&self, wave: WaveId, frame: usize, asked: &[TypedQuery]) -> Result<Vec<Result<TypedValues, ParseError>>, ReadError>;
        fn explain(&self, wave: WaveId, lanes: LaneSet, frame: usize, query: &Query) -> Result<Vec<Explanation>, PrintError>;
        fn evaluate(&self, wave: WaveId, lanes: LaneSet, question: &Question) -> Result<Evaluation, EvaluateError>;
        fn locate(&self, variable: VariableIn) -> Result<Whereabouts, ReadError>;
        fn leads_to(&self, pointer: VariableIn) -> Result<Whereabouts, ReadError>;
        fn with_pointers(&self, wave: WaveId, lane: LaneId, own_stack: bool) -> Result<Vec<ObjectAt>, ReadError>;
        fn pointers_in(&self, code_object: usize, type_id: TypeId) -> Arc<[PointerAt]>;
        fn parts(&self, asked: &PartsQuery) -> Result<Parts, ReadError>;
        fn member_path(&self, code_object: usize, type_id: TypeId, offset: u64) -> Option<String>;
        fn element_paths(&self, code_object: usize, type_id: TypeId) -> Vec<ElementPath>;
    }
    impl Code for Inspect {
        fn disassemble(&self, wave: WaveId, asked: &Instructions) -> Result<Disassembly, DisassemblyError>;
        fn function(&self, wave: WaveId, address: u64) -> Result<Disassembly, DisassemblyError>;
    }
    impl WhatIf for Inspect {
        fn write_register(&mut self, wave: WaveId, register: RegId, bytes: &[u8]) -> Result<(), ChangeError>;
        fn write(&mut self, place: MemoryAddress, bytes: &[u8]) -> Result<(), ChangeError>;
        fn write_in(&mut self, variable: VariableIn, first: u64, bytes: &[u8]) -> Result<(), ChangeError>;
        fn assign(&mut self, wave: WaveId, lanes: LaneSet, frame: usize, path: &str, value: &str) -> Result<(), ChangeError>;
        fn changes(&self, most: usize) -> Result<Changes, ReadError>;
        fn reset(&mut self, what: Reset) -> Dropped;
    }
}
