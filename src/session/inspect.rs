//! Interface between the server and the session: a client's questions, one trait for each subject.

use std::sync::Arc;

use super::print::{
    ElementPath, Explanation, ObjectAt, ParseError, Parts, PartsQuery, PrintError, Printed, Query,
    TypedQuery, TypedValues, VariableIn, Whereabouts,
};
use super::{
    Activations, ChangeError, Changes, CodeObjectInfo, Disassembly, DisassemblyError, DispatchArguments,
    DispatchInfo, Dropped, EvaluateError, Evaluation, FrameAround, Grouping, Groups, Instructions, LaneInfo,
    LaneStack, LoadedRange, Locals, MemoryAddress, PointerAt, Question, ReadError, Region, Reset, Stack,
    StackFrame, StopCounts, WaveInfo, WorkGroupInfo,
};
use crate::arch::{RegId, RegisterValue, WaveArch};
use crate::capture::{Fault, Problem};
use crate::debuginfo::TypeId;
use crate::units::{Address, LaneId, LaneSet, WaveId};

/// Questions of a debugger about one captured state, with one client's focus and what-if changes. The client reads its
/// changes back everywhere. The capture and other clients' answers stay unchanged.
///
/// The traits do not depend on gdb or lldb. Unit tests of the server record its questions by a mock.
pub trait Inspect: DumpFacts + Waves + Storage + Stacks + Variables + Code + WhatIf + Send {}

impl<T: DumpFacts + Waves + Storage + Stacks + Variables + Code + WhatIf + Send> Inspect for T {}

/// The dump as a whole.
pub trait DumpFacts {
    /// The opened path, as the user wrote it.
    fn name(&self) -> String;

    /// Messages for the user on attaching: kinds that are not served, problems of the dump.
    fn notices(&self) -> Vec<String>;

    /// The reported faults.
    fn faults(&self) -> Vec<Fault>;

    /// The dump's problems, one by one.
    fn problems(&self) -> Vec<Problem>;

    /// The file of the dump that ends too early, and where.
    fn truncated(&self) -> Option<String>;

    /// Reasons for waves of the process that the dump lacks by the report of its writer, and that no wave stands for; empty
    /// if the client chose the waves.
    fn uncounted_waves(&self) -> Vec<String>;

    /// The loaded code objects.
    fn code_objects(&self) -> Vec<CodeObjectInfo>;

    /// Whether [`Self::code_objects`] lists all loaded ones, apart from the runtime's own kernels. Otherwise an address
    /// outside of them may be in another one.
    fn has_all_code_objects(&self) -> bool;

    /// Whether the waves that a small dump leaves out were never searched for the reported pages: reports were added.
    fn has_new_reports(&self) -> bool;

    /// The kernel arguments of every dispatch, in the dump's order.
    fn arguments(&self) -> Vec<DispatchArguments>;

    /// The text of a line of a captured source file, by the file's name in debug information; `None`: not captured.
    fn source_line(&self, file: &str, line: u64) -> Option<String>;

    /// The message for a file of the capture, or of a code object, that changed after it was opened: later answers
    /// are wrong.
    fn changed_file(&self) -> Option<String>;
}

/// The served waves, their dispatches and lanes, and the focus.
pub trait Waves {
    /// The served kind of wave: GPU and wave size.
    fn kind(&self) -> Arc<WaveArch>;

    /// The registers that at least one served wave has, in the kind's order: the target description.
    fn described(&self) -> Vec<RegId>;

    /// The served waves in the dump's order; never empty, does not change.
    fn waves(&self) -> Arc<[WaveId]>;

    /// Whether that wave is served.
    fn has_wave(&self, wave: WaveId) -> bool;

    /// The wave that names the LDS of a wave's work-group in addresses: the first served wave of the work-group;
    /// the wave itself if it is not served or its work-group is unknown.
    fn group_wave(&self, wave: WaveId) -> WaveId;

    /// The wave to show first: the first one that faulted, else the first one.
    fn first_wave(&self) -> WaveId;

    /// Number of served waves that stopped for a fault.
    fn faulted(&self) -> usize;

    /// The served waves by their stops.
    fn stop_counts(&self) -> StopCounts;

    /// Number of the dump's other waves that stopped for a fault: of another kind, or not chosen.
    fn faulted_outside(&self) -> usize;

    /// Returns a wave's name, state and position.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`].
    fn wave(&self, wave: WaveId) -> Result<WaveInfo, ReadError>;

    /// The dispatches in the dump's order, also those without a served wave.
    fn dispatches(&self) -> Vec<DispatchInfo>;

    /// The work-groups of the served waves, in the dump's order.
    fn work_groups(&self) -> Vec<WorkGroupInfo>;

    /// Returns facts about each lane of a wave.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`].
    fn lanes(&self, wave: WaveId) -> Result<Vec<LaneInfo>, ReadError>;

    /// The focused lane of a wave; at start the first active lane.
    fn focus(&self, wave: WaveId) -> LaneId;

    /// Moves the focus of a wave.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`].
    fn set_focus(&mut self, wave: WaveId, lane: LaneId) -> Result<(), ReadError>;
}

/// Registers and memory, and the budget of reading them.
pub trait Storage {
    /// Starts a client's question with its own budget of work: [`Budget`](crate::dwarf::Budget). Without this call all
    /// work counts as one question.
    fn next_question(&self);

    /// Returns a wave's register; dwords that were not captured are unknown in the value.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], or the operating system's error for the file.
    fn register(&self, wave: WaveId, register: RegId) -> Result<RegisterValue, ReadError>;

    /// Reads memory from a place up to the first missing byte; at least one byte.
    ///
    /// # Errors
    /// The reason that the first byte is unreadable.
    fn read(&self, place: MemoryAddress, buffer: &mut [u8]) -> Result<usize, ReadError>;

    /// Decodes a client's address (see [`crate::session::reading::address`]) for a client that is focused on
    /// `wave`.
    ///
    /// # Errors
    /// [`ReadError::NoSuchSpace`], [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`].
    fn place(&self, address: u64, wave: WaveId) -> Result<MemoryAddress, ReadError>;

    /// The contents at a client's address and their extent: regions cover all of the 64-bit space.
    fn region(&self, address: u64, wave: WaveId) -> Region;

    /// The loaded segment of a code object at an address of global memory, with its whole size in memory: its contents
    /// past the file's bytes exist and are unknown unless captured (`.bss`). Also the mapped memory there.
    fn loaded_range(&self, address: u64, wave: WaveId) -> LoadedRange;

    /// Whether the capture lists all memory that the driver mapped for the GPUs. Otherwise a missing address may be
    /// mapped.
    fn has_whole_map(&self) -> bool;

    /// Whether memory is known to exist at a place, captured or not.
    fn exists(&self, place: MemoryAddress) -> bool;

    /// Number of bytes of the LDS that holds a place, if known; `None` for other spaces.
    fn size_of_space(&self, place: MemoryAddress) -> Option<u64>;

    /// The generic address of a place in private memory or LDS; `None` if the space has no aperture.
    fn generic_address(&self, place: MemoryAddress) -> Option<Address>;

    /// A number that changes with every write and reset.
    fn generation(&self) -> u64;
}

/// Call stacks, and the lanes in their frames.
pub trait Stacks {
    /// Returns the call stack of a wave as a whole, or of one of its lanes.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`].
    fn backtrace(&self, wave: WaveId, lane: Option<LaneId>) -> Result<Stack, ReadError>;

    /// Returns the calls at an instruction of a wave's code: inlined ones, the innermost first, and last the function
    /// of the code; a frame without a function if nothing is known.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`].
    fn calls_at(&self, wave: WaveId, address: u64) -> Result<Vec<StackFrame>, ReadError>;

    /// Returns the frame of the wave's stack around an instruction that the wave executed before; `None`: its function
    /// is unknown, or not on the stack.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`].
    fn frame_around(&self, wave: WaveId, address: u64) -> Result<Option<FrameAround>, ReadError>;

    /// Returns the first physical frames of the wave's stack, or of the lane's own; at most `limit`.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`].
    fn activations(&self, wave: WaveId, lane: Option<LaneId>, limit: usize)
    -> Result<Activations, ReadError>;

    /// Whether a lane has a known stack of its own that differs from the wave's.
    ///
    /// # Errors
    /// The errors of [`Stacks::activations`].
    fn has_own_stack(&self, wave: WaveId, lane: LaneId) -> Result<bool, ReadError>;

    /// Returns the call stacks of some lanes, lanes with equal stacks together.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`].
    fn lane_stacks(&self, wave: WaveId, lanes: LaneSet) -> Result<Vec<LaneStack>, ReadError>;

    /// Groups all served waves, or their lanes, by call stack.
    ///
    /// # Errors
    /// The operating system's error for a file.
    fn groups(&self, grouping: Grouping) -> Result<Groups, ReadError>;

    /// Returns the active lanes in a frame of the wave's stack: by `DW_AT_LLVM_active_lane`, else by its EXEC.
    ///
    /// # Errors
    /// There is no such frame, or its active lanes are unknown.
    fn active_lanes(&self, wave: WaveId, frame: usize) -> Result<LaneSet, ReadError>;
}

/// Variables, paths and expressions in a frame.
pub trait Variables {
    /// Returns all variables in scope of a frame of the wave, for those lanes. Frame 0 is the innermost; inlined
    /// calls count.
    ///
    /// # Errors
    /// There is no frame: no PC, no such frame, no code object, no DWARF.
    fn locals(&self, wave: WaveId, lanes: LaneSet, frame: usize) -> Result<Locals, ReadError>;

    /// Evaluates a path such as `body.at.x` or `*p@4` in a frame of the wave, for those lanes.
    ///
    /// # Errors
    /// The text is no path, or there is no frame. A lane without a value is an answer.
    fn print(&self, wave: WaveId, lanes: LaneSet, frame: usize, query: &Query)
    -> Result<Printed, PrintError>;

    /// Reads paths in a frame of the wave as typed values, for comparisons.
    ///
    /// # Errors
    /// There is no frame. A text that is no path, and a lane without a value, are answers.
    fn typed(
        &self,
        wave: WaveId,
        frame: usize,
        asked: &[TypedQuery],
    ) -> Result<Vec<Result<TypedValues, ParseError>>, ReadError>;

    /// Explains the locations of the variables that a path names, operation by operation.
    ///
    /// # Errors
    /// The errors of [`Variables::print`].
    fn explain(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        query: &Query,
    ) -> Result<Vec<Explanation>, PrintError>;

    /// Evaluates a user's DWARF expression in the wave's frame 0, for those lanes.
    ///
    /// # Errors
    /// The expression does not parse, or the question exceeds a limit. An error of the evaluation is an answer, lane by
    /// lane.
    fn evaluate(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        question: &Question,
    ) -> Result<Evaluation, EvaluateError>;

    /// Locates a variable by its DIE.
    ///
    /// # Errors
    /// There is no such frame, or no debug information for it. A variable without storage is an answer.
    fn locate(&self, variable: VariableIn) -> Result<Whereabouts, ReadError>;

    /// Locates the target of a pointer variable, with apertures resolved.
    ///
    /// # Errors
    /// The errors of [`Variables::locate`].
    fn leads_to(&self, pointer: VariableIn) -> Result<Whereabouts, ReadError>;

    /// Returns the variables with pointers in private memory or LDS of a lane's stack, or of the wave's for that
    /// lane; the outermost frame's first.
    ///
    /// # Errors
    /// The errors of [`Stacks::activations`].
    fn with_pointers(&self, wave: WaveId, lane: LaneId, own_stack: bool) -> Result<Vec<ObjectAt>, ReadError>;

    /// The pointers in an object of a type of that code object, an index into the capture's list; empty if the type
    /// is unreadable. Pointers that share their bytes lead to the same type, or to none.
    fn pointers_in(&self, code_object: usize, type_id: TypeId) -> Arc<[PointerAt]>;

    /// Returns the pointers, arrays and integers in the variables in scope at an instruction of the wave's stack, with
    /// the arguments of its kernel.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], or the operating system's error for a file.
    fn parts(&self, asked: &PartsQuery) -> Result<Parts, ReadError>;

    /// The path from an object of a type of that code object to the part that begins at that byte: `.range.first`;
    /// empty for the object itself. `None`: no part begins there.
    fn member_path(&self, code_object: usize, type_id: TypeId, offset: u64) -> Option<String>;

    /// The paths from an object of a type to the scalars in its arrays. Limits cut the list.
    fn element_paths(&self, code_object: usize, type_id: TypeId) -> Vec<ElementPath>;
}

/// Instructions.
pub trait Code {
    /// Disassembles code that a wave runs, with the lanes at each instruction.
    ///
    /// # Errors
    /// There is no such wave, lane or frame, or no PC; the processor is unknown. Missing code is an answer.
    fn disassemble(&self, wave: WaveId, asked: &Instructions) -> Result<Disassembly, DisassemblyError>;

    /// Disassembles the function that holds an address in the code of a wave, without lanes. A function of more than
    /// 64 KiB is listed around the address.
    ///
    /// # Errors
    /// The errors of [`Self::disassemble`].
    fn function(&self, wave: WaveId, address: u64) -> Result<Disassembly, DisassemblyError>;
}

/// What-if changes.
pub trait WhatIf {
    /// Writes a whole register of a wave, lowest byte first (vectors lane 0 first), captured or not. A write to a
    /// register stored in SGPRs changes those, and the reverse.
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    fn write_register(&mut self, wave: WaveId, register: RegId, bytes: &[u8]) -> Result<(), ChangeError>;

    /// Writes memory from a place on; the memory must be known to exist.
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    fn write(&mut self, place: MemoryAddress, bytes: &[u8]) -> Result<(), ChangeError>;

    /// Writes bytes of a variable, from its byte `first` on, to any storage.
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    fn write_in(&mut self, variable: VariableIn, first: u64, bytes: &[u8]) -> Result<(), ChangeError>;

    /// Writes a number, itself a path, to the number or pointer that a path names: in all of those lanes or none.
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    fn assign(
        &mut self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        path: &str,
        value: &str,
    ) -> Result<(), ChangeError>;

    /// Returns the client's changes: at most `most` dwords of registers and runs of memory.
    ///
    /// # Errors
    /// The operating system's error for a file.
    fn changes(&self, most: usize) -> Result<Changes, ReadError>;

    /// Drops the client's changes.
    fn reset(&mut self, what: Reset) -> Dropped;
}
