//! The questions that a client may ask: the seam between the server and the session.

use std::sync::Arc;

use super::print::{Explanation, NotPrinted, ObjectAt, Printed, Query, VariableIn, Whereabouts};
use super::{
    Activations, Changes, CodeObjectInfo, Disassembly, DispatchArguments, DispatchInfo, Dropped, Evaluation,
    Grouping, Groups, Instructions, LaneInfo, LaneStack, Locals, NotDisassembled, NotEvaluated, Place,
    PointerAt, Question, Region, Reset, Stack, Unreadable, Unwritable, WaveInfo,
};
use crate::arch::{Kind, RegId, RegisterValue};
use crate::debuginfo::TypeId;
use crate::dwarf::Location;
use crate::units::{Address, BitSize, LaneId, LaneSet, WaveId};

/// A debugger's questions over one captured state, with one client's focus and one client's what-if writes: they are read
/// back everywhere, and never change the capture or what another client reads.
///
/// Nothing here knows gdb or lldb. The server asks; tests replace this by a mock to see what it asks.
#[cfg_attr(test, mockall::automock)]
pub trait Inspect: Send {
    /// Begins a question of the client's, which has a budget of work of its own: [`Budget`](crate::dwarf::Budget). Without it all
    /// that is asked is one question.
    fn next_question(&self) {}

    /// What was opened, as the user named it.
    fn name(&self) -> String;

    /// The kind of wave that is served: GPU and wave size.
    fn kind(&self) -> Arc<Kind>;

    /// What the user should read on attaching: other kinds that are not served, problems of the dump.
    fn notices(&self) -> Vec<String>;

    /// What is wrong with the dump, problem by problem.
    fn problems(&self) -> Vec<String>;

    /// The registers that at least one served wave has, in the kind's order: the target description.
    fn described(&self) -> Vec<RegId>;

    /// The served waves in the dump's order; never empty, does not change.
    fn waves(&self) -> Arc<[WaveId]>;

    /// Whether that wave is served.
    fn has_wave(&self, wave: WaveId) -> bool;

    /// The wave to show first: the first one that faulted, else the first one.
    fn first_wave(&self) -> WaveId;

    /// A wave's name, state and place.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`].
    fn wave(&self, wave: WaveId) -> Result<WaveInfo, Unreadable>;

    /// A wave's register; dwords that were not captured are unknown in the value.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`], or what the operating system says of the file.
    fn register(&self, wave: WaveId, register: RegId) -> Result<RegisterValue, Unreadable>;

    /// Reads memory from a place on, as far as it was captured without a gap; at least one byte.
    ///
    /// # Errors
    /// Why not even the first byte can be read.
    fn read(&self, place: Place, buffer: &mut [u8]) -> Result<usize, Unreadable>;

    /// What an address as a client sends it (see [`super::address`]) means for a client that looks at `wave`.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchSpace`], [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`].
    fn place(&self, address: u64, wave: WaveId) -> Result<Place, Unreadable>;

    /// What lies at an address as a client sends it, and how far: regions cover all of the 64-bit space.
    fn region(&self, address: u64, wave: WaveId) -> Region;

    /// The focused lane of a wave; the first active lane at start.
    fn focus(&self, wave: WaveId) -> LaneId;

    /// Moves the focus of a wave.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`].
    fn set_focus(&mut self, wave: WaveId, lane: LaneId) -> Result<(), Unreadable>;

    /// What is known of each lane of a wave.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`].
    fn lanes(&self, wave: WaveId) -> Result<Vec<LaneInfo>, Unreadable>;

    /// The lanes that are active in a frame of the wave's stack: by `DW_AT_LLVM_active_lane`, else by its EXEC.
    ///
    /// # Errors
    /// There is no such frame, or which lanes are active in it is not known.
    fn active_lanes(&self, wave: WaveId, frame: usize) -> Result<LaneSet, Unreadable>;

    /// All variables in scope of a frame of the wave, for those lanes. Frame 0 is the innermost; inlined calls count.
    ///
    /// # Errors
    /// Why there is no frame to ask: no PC, no such frame, no code object, no DWARF.
    fn locals(&self, wave: WaveId, lanes: LaneSet, frame: usize) -> Result<Locals, Unreadable>;

    /// What a path such as `body.at.x` or `*p@4` names in a frame of the wave, for those lanes.
    ///
    /// # Errors
    /// The text is no path, or there is no frame to ask. What cannot be shown of a lane is an answer.
    fn print(&self, wave: WaveId, lanes: LaneSet, frame: usize, query: &Query)
    -> Result<Printed, NotPrinted>;

    /// Where the variables that a path names are and what their locations do, operation by operation.
    ///
    /// # Errors
    /// As [`Inspect::print`].
    fn explain(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        query: &Query,
    ) -> Result<Vec<Explanation>, NotPrinted>;

    /// The call stack of a wave as a whole, or of one of its lanes.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`].
    fn backtrace(&self, wave: WaveId, lane: Option<LaneId>) -> Result<Stack, Unreadable>;

    /// The first physical frames of the wave's stack, or of the lane's own; at most `limit`.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`].
    fn activations(
        &self,
        wave: WaveId,
        lane: Option<LaneId>,
        limit: usize,
    ) -> Result<Activations, Unreadable>;

    /// Whether a lane has a stack of its own, that is known and not the wave's.
    ///
    /// # Errors
    /// As [`Inspect::activations`].
    fn has_own_stack(&self, wave: WaveId, lane: LaneId) -> Result<bool, Unreadable>;

    /// Where a variable is, by its DIE.
    ///
    /// # Errors
    /// There is no such frame, or no debug information for it. Why the variable is nowhere is an answer.
    fn locate(&self, variable: VariableIn) -> Result<Whereabouts, Unreadable>;

    /// Where what a pointer variable holds leads to, apertures resolved.
    ///
    /// # Errors
    /// As [`Inspect::locate`].
    fn leads_to(&self, pointer: VariableIn) -> Result<Whereabouts, Unreadable>;

    /// The variables of a lane's stack, or of the wave's as that lane has them, that have pointers in them and lie in private
    /// memory or LDS; the outermost frame's first.
    ///
    /// # Errors
    /// As [`Inspect::activations`].
    fn with_pointers(&self, wave: WaveId, lane: LaneId, own_stack: bool)
    -> Result<Vec<ObjectAt>, Unreadable>;

    /// Where pointers are in an object of a type of that code object, an index into the capture's list; none where the type
    /// cannot be read. Pointers that share their bytes lead to the same type, or to none.
    fn pointers_in(&self, code_object: usize, type_id: TypeId) -> Arc<[PointerAt]>;

    /// The generic address of a place in private memory or LDS; `None` where the space has no aperture.
    fn generic_address(&self, place: Place) -> Option<Address>;

    /// Whether there is known to be memory at a place, captured or not.
    fn exists(&self, place: Place) -> bool;

    /// A number that changes with every write and reset.
    fn generation(&self) -> u64;

    /// The call stacks of some lanes, those that are alike together.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`].
    fn lane_stacks(&self, wave: WaveId, lanes: LaneSet) -> Result<Vec<LaneStack>, Unreadable>;

    /// All served waves by call stack, or their lanes.
    ///
    /// # Errors
    /// What the operating system says of a file.
    fn groups(&self, grouping: Grouping) -> Result<Groups, Unreadable>;

    /// Instructions of the code that a wave runs, with the lanes that are at each.
    ///
    /// # Errors
    /// There is no such wave, lane or frame, or no PC; no tool can disassemble. What was not captured is an answer.
    fn disassemble(&self, wave: WaveId, asked: &Instructions) -> Result<Disassembly, NotDisassembled>;

    /// The dispatches, in the dump's order: those without a served wave, too.
    fn dispatches(&self) -> Vec<DispatchInfo>;

    /// The kernel arguments of every dispatch, in the dump's order.
    fn arguments(&self) -> Vec<DispatchArguments>;

    /// What a DWARF expression of the user's gives in the wave's frame 0, for those lanes.
    ///
    /// # Errors
    /// The expression cannot be read, or the question asks too much. What an expression lacks or does wrong is an
    /// answer, lane by lane.
    fn evaluate(&self, wave: WaveId, lanes: LaneSet, question: &Question)
    -> Result<Evaluation, NotEvaluated>;

    /// Writes a whole register of a wave, lowest byte first (vectors lane 0 first), captured or not. A register that lives in
    /// SGPRs changes those, and the other way round.
    ///
    /// # Errors
    /// As [`Unwritable`] says; nothing was written.
    fn write_register(&mut self, wave: WaveId, register: RegId, bytes: &[u8]) -> Result<(), Unwritable>;

    /// Writes memory from a place on, wherever there is known to be memory.
    ///
    /// # Errors
    /// As [`Unwritable`] says; nothing was written.
    fn write(&mut self, place: Place, bytes: &[u8]) -> Result<(), Unwritable>;

    /// Writes the bits of an object, given as `size.div_ceil(8)` bytes, where a DWARF location says, evaluated for a lane of a
    /// frame. One whose registers are where they really are (`LaneValue::place`) is of frame 0.
    ///
    /// # Errors
    /// As [`Unwritable`] says; nothing was written.
    fn write_location(
        &mut self,
        wave: WaveId,
        lane: LaneId,
        frame: usize,
        location: &Location,
        size: BitSize,
        bytes: &[u8],
    ) -> Result<(), Unwritable>;

    /// Writes the bytes of what a path such as `body.at.x` names in a lane of a frame; as in [`Inspect::print`], a reference is
    /// what it refers to.
    ///
    /// # Errors
    /// As [`Unwritable`] says; nothing was written.
    fn write_variable(
        &mut self,
        wave: WaveId,
        lane: LaneId,
        frame: usize,
        path: &str,
        bytes: &[u8],
    ) -> Result<(), Unwritable>;

    /// Writes bytes of a variable, from its byte `first` on, wherever they are kept.
    ///
    /// # Errors
    /// As [`Unwritable`] says; nothing was written.
    fn write_in(&mut self, variable: VariableIn, first: u64, bytes: &[u8]) -> Result<(), Unwritable>;

    /// Writes a number, which is a path too, to the number or pointer that a path names: in all of those lanes or none.
    ///
    /// # Errors
    /// As [`Unwritable`] says; nothing was written.
    fn assign(
        &mut self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        path: &str,
        value: &str,
    ) -> Result<(), Unwritable>;

    /// What the client has changed: at most so many dwords of registers and runs of memory.
    ///
    /// # Errors
    /// What the operating system says of a file.
    fn changes(&self, most: usize) -> Result<Changes, Unreadable>;

    /// Drops changes of the client's.
    fn reset(&mut self, what: Reset) -> Dropped;

    /// A file of the capture, or of a code object, that has changed since it was opened, in words: answers that were made since
    /// then are wrong.
    fn changed_file(&self) -> Option<String> {
        None
    }

    /// The code objects that are loaded.
    fn code_objects(&self) -> Vec<CodeObjectInfo>;
}
