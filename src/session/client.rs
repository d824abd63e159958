//! One client's session over a shared dump.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use super::dump::{self, ServedKind, StopCounts};
use super::inspect::{Code, DumpFacts, Stacks, Storage, Variables, Waves, WhatIf};
use super::print::{
    ElementPath, Explanation, ObjectAt, ParseError, Parts, PartsQuery, PrintError, Printed, Query,
    TypedQuery, TypedValues, VariableIn, Whereabouts,
};
use super::{
    Activations, ChangeError, Changes, CodeObjectInfo, Disassembly, DisassemblyError, DispatchArguments,
    DispatchInfo, Dropped, Dump, EvaluateError, Evaluation, FrameAround, Grouping, Groups, Instructions,
    Interrupt, LaneInfo, LaneStack, LoadedRange, Locals, MemoryAddress, PointerAt, Question, ReadError,
    Region, Reset, Stack, StackFrame, WaveFrames, WaveInfo, WorkGroupInfo, waves,
};
use crate::arch::{RegId, RegisterValue, SpaceScope, WaveArch};
use crate::capture::{Fault, Problem};
use crate::debuginfo::TypeId;
use crate::dwarf::Location;
use crate::notation;
use crate::session::reading::reader::{Reader, resolve};
use crate::session::reading::regions;
use crate::session::reading::touched::Touched;
use crate::session::stack::backtrace::Frames;
use crate::session::variables::evaluate;
use crate::session::variables::pointers::Pointers;
use crate::session::waves::ids::{IdRanges, range_without};
use crate::session::waves::lanes;
use crate::session::waves::work_item::{self, GridPlace, WorkItemError};
use crate::units::{Address, BitSize, LaneId, LaneSet, WaveId};

/// One client's session, with its own focus and what-if writes.
#[derive(Debug)]
pub struct Session {
    reader: Reader,
    served: Arc<ServedKind>,
    /// The only waves to serve; `None`: all of the kind.
    chosen: Option<Chosen>,
    /// The wave to show first, and its focused lane at start, if the user named them.
    start: Option<(WaveId, Option<LaneId>)>,
    focus: HashMap<WaveId, LaneId>,
    /// Pointers of types.
    pointers: Mutex<Pointers>,
    own_stacks: Mutex<OwnStacks>,
}

/// Maximum number of lanes in [`OwnStacks`].
const MAX_OWN_STACKS: usize = 4096;

/// Cache of lanes with and without a stack of their own: a debugger needs it for each read of the PC.
#[derive(Debug, Default)]
struct OwnStacks {
    /// The reader's generation of the entries.
    generation: u64,
    known: HashMap<(WaveId, LaneId), bool>,
}

/// Waves of the user's choice.
#[derive(Clone, Debug)]
struct Chosen {
    /// In the dump's order.
    waves: Arc<[WaveId]>,
    first: WaveId,
    group_waves: Arc<HashMap<usize, WaveId>>,
}

/// Reasons that a session cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The dump has no waves.
    #[error("{0} has no waves to serve")]
    NoWaves(String),
    /// The dump has no waves of that kind.
    #[error("{dump} has no {asked} waves; it has {there}")]
    NoSuchKind {
        /// The dump.
        dump: String,
        /// The requested kind.
        asked: String,
        /// The dump's kinds.
        there: String,
    },
    /// The kind has no wave of those ids.
    #[error("{dump} has no {kind} wave with the id {ids}; `lanescope waves` lists the ids")]
    NoSuchWaves {
        /// The dump.
        dump: String,
        /// The served kind.
        kind: String,
        /// The requested ids: `7` or `7-9`.
        ids: String,
    },
}

/// Whether a kind matches a user's request: `gfx90a`, `wave32` or `gfx1100:wave32`.
#[must_use]
pub fn is_kind(kind: &WaveArch, asked: &str) -> bool {
    let size = kind.wave_size.to_string();
    asked.split(':').all(|part| part == kind.target.name || part == size)
}

impl Session {
    /// Creates a session over the waves of one kind: `gfx90a`, `wave32` or `gfx1100:wave32`; `None`: the kind of the
    /// wave that faulted, else of the first one.
    ///
    /// # Errors
    /// The dump has no waves, or none of that kind.
    pub fn new(dump: Arc<Dump>, kind: Option<&str>) -> Result<Self, SessionError> {
        let name = dump.capture().name.clone();
        let first = dump.served().first().ok_or_else(|| SessionError::NoWaves(name.clone()))?;
        let served = match kind {
            None => first,
            Some(asked) => {
                let found = dump.served().iter().find(|served| is_kind(&served.kind, asked));
                found.ok_or_else(|| SessionError::NoSuchKind {
                    dump: name,
                    asked: asked.to_owned(),
                    there: waves::kinds(&dump),
                })?
            }
        };
        let served = Arc::clone(served);
        Ok(Self {
            reader: Reader::new(dump),
            served,
            chosen: None,
            start: None,
            focus: HashMap::new(),
            pointers: Mutex::default(),
            own_stacks: Mutex::default(),
        })
    }

    /// Creates a session over the same waves, without this one's focus and what-if changes.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            reader: Reader::new(Arc::clone(self.reader.dump())),
            served: Arc::clone(&self.served),
            chosen: self.chosen.clone(),
            start: self.start,
            focus: HashMap::new(),
            pointers: Mutex::default(),
            own_stacks: Mutex::default(),
        }
    }

    /// Adds a record of the global memory whose bytes or extent are asked for: [`Self::touched`].
    #[must_use]
    pub fn watching(mut self) -> Self {
        self.reader = Reader::watching(Arc::clone(self.reader.dump()));
        self
    }

    /// The memory asked for so far; empty without [`Self::watching`].
    #[must_use]
    pub fn touched(&self) -> Touched {
        self.reader.touched()
    }

    /// Restricts the session to waves whose ids in the dump are in one of these ranges. All other waves do not exist
    /// for the client.
    ///
    /// # Errors
    /// A range has no wave in it.
    pub fn of_waves(mut self, ids: &[RangeInclusive<u32>]) -> Result<Self, SessionError> {
        let capture = self.reader.dump().capture();
        let served = &self.served;
        let id = |wave: &WaveId| capture.wave(*wave).map(|wave| wave.id);
        if let Some(range) = range_without(ids, served.waves.iter().filter_map(id)) {
            return Err(SessionError::NoSuchWaves {
                dump: capture.name.clone(),
                kind: format!("{}:{}", served.kind.target.name, served.kind.wave_size),
                ids: notation::range(&(range.start(), range.end())),
            });
        }
        let chosen = IdRanges::new(ids);
        let is_chosen = |wave: &WaveId| id(wave).is_some_and(|id| chosen.contains(id));
        let waves: Arc<[WaveId]> = served.waves.iter().copied().filter(is_chosen).collect();
        // A choice of all is none: answers about all waves also count those that the dump leaves out.
        if waves.len() == served.waves.len() {
            return Ok(self);
        }
        let first = dump::worst(capture, &waves);
        let group_waves = Arc::new(dump::group_waves(capture, &waves));
        self.chosen = Some(Chosen { waves, first, group_waves });
        Ok(self)
    }

    /// Sets the wave and lane to show first: those at a position of the grid, in the dispatch of `near`.
    ///
    /// # Errors
    /// No served wave has it, or waves of several other dispatches do.
    pub fn starting_at(mut self, near: WaveId, place: &GridPlace) -> Result<Self, WorkItemError> {
        self.start = Some(work_item::find(&self, near, place)?);
        Ok(self)
    }

    /// Adds a flag: once it is set, every answer is [`ReadError::Interrupted`], and long answers end soon.
    #[must_use]
    pub fn ended_by(mut self, interrupt: Interrupt) -> Self {
        self.reader = self.reader.ended_by(interrupt);
        self
    }

    /// Whether the question skipped functions, with their variables, that do not fit memory together.
    #[must_use]
    pub fn has_skipped_functions(&self) -> bool {
        self.reader.rereads().is_spent()
    }

    /// Sets the budget of variables' values: `values` beyond those that each wave adds.
    #[must_use]
    pub fn with_values(mut self, values: u64) -> Self {
        self.reader = self.reader.with_values(values);
        self
    }

    /// The reader behind all answers.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Fails for other kinds' waves: a register's index depends on the kind.
    fn serves(&self, wave: WaveId) -> Result<(), ReadError> {
        if self.has_wave(wave) { Ok(()) } else { Err(ReadError::NoSuchWave(wave)) }
    }

    /// [`Stacks::groups`]; `progress` gets the number of finished waves.
    ///
    /// # Errors
    /// The errors of [`Stacks::groups`].
    pub fn groups_with(
        &self,
        grouping: Grouping,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Groups, ReadError> {
        let mut found =
            crate::session::waves::groups::groups(&self.reader, &self.waves(), grouping, progress)?;
        if self.chosen.is_some() {
            found.groups.iter_mut().for_each(|group| group.stands_for = 0);
        }
        Ok(found)
    }

    /// Unwinds the stack of a wave once, for its frames and the variables of each.
    ///
    /// # Errors
    /// The errors of [`Stacks::backtrace`].
    pub fn frames(&self, wave: WaveId) -> Result<WaveFrames<'_>, ReadError> {
        self.serves(wave)?;
        Ok(WaveFrames::new(Frames::of(&self.reader, wave)?))
    }

    /// Writes the bits of an object, given as `size.div_ceil(8)` bytes, to a DWARF location, evaluated for a lane of
    /// a frame. A location with registers at their current place (`LaneValue::place`) belongs to frame 0.
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    pub fn write_location(
        &mut self,
        wave: WaveId,
        lane: LaneId,
        frame: usize,
        location: &Location,
        size: BitSize,
        bytes: &[u8],
    ) -> Result<(), ChangeError> {
        self.serves(wave)?;
        super::write_location(&mut self.reader, wave, lane, frame, location, size, bytes)
    }

    /// Writes the bytes of the object that a path such as `body.at.x` names in a lane of a frame; a reference stands
    /// for its target, the same as in [`Variables::print`].
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    pub fn write_variable(
        &mut self,
        wave: WaveId,
        lane: LaneId,
        frame: usize,
        path: &str,
        bytes: &[u8],
    ) -> Result<(), ChangeError> {
        self.serves(wave)?;
        super::print::write_variable(&mut self.reader, wave, lane, frame, path, bytes)
    }
}

impl DumpFacts for Session {
    fn name(&self) -> String {
        self.reader.dump().capture().name.clone()
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = waves::notices(self.reader.dump(), &self.served.kind);
        if let Some(chosen) = &self.chosen {
            let (some, all) = (chosen.waves.len(), self.served.waves.len());
            notices.insert(0, format!("{some} of {all} waves are served (--wave)"));
        }
        if !dump::has_pc(self.reader.dump().capture(), self.first_wave()) {
            let words = "the PC of no served wave was captured: gdb cannot attach, lldb and the commands can";
            notices.push(words.to_owned());
        }
        notices
    }

    fn faults(&self) -> Vec<Fault> {
        self.reader.dump().capture().faults.clone()
    }

    fn source_line(&self, file: &str, line: u64) -> Option<String> {
        self.reader.dump().capture().source_line(file, line)
    }

    fn problems(&self) -> Vec<Problem> {
        self.reader.dump().problems().to_vec()
    }

    fn truncated(&self) -> Option<String> {
        self.reader.dump().truncated().map(str::to_owned)
    }

    fn uncounted_waves(&self) -> Vec<String> {
        if self.chosen.is_some() { Vec::new() } else { self.reader.dump().uncounted_waves() }
    }

    fn code_objects(&self) -> Vec<CodeObjectInfo> {
        self.reader.dump().code_objects()
    }

    fn has_all_code_objects(&self) -> bool {
        self.reader.dump().capture().has_all_code_objects
    }

    fn has_new_reports(&self) -> bool {
        self.reader.dump().capture().left_out.has_new_reports
    }

    fn arguments(&self) -> Vec<DispatchArguments> {
        crate::session::dispatches::arguments::all(&self.reader)
    }

    fn changed_file(&self) -> Option<String> {
        self.reader.dump().changed_file()
    }
}

impl Waves for Session {
    fn kind(&self) -> Arc<WaveArch> {
        Arc::clone(&self.served.kind)
    }

    fn described(&self) -> Vec<RegId> {
        self.served.described(self.reader.dump().capture()).to_vec()
    }

    fn waves(&self) -> Arc<[WaveId]> {
        Arc::clone(self.chosen.as_ref().map_or(&self.served.waves, |chosen| &chosen.waves))
    }

    fn has_wave(&self, wave: WaveId) -> bool {
        match &self.chosen {
            Some(chosen) => chosen.waves.binary_search(&wave).is_ok(),
            None => {
                let found = self.reader.dump().capture().wave(wave);
                found.is_some_and(|wave| Arc::ptr_eq(&wave.kind, &self.served.kind))
            }
        }
    }

    fn group_wave(&self, wave: WaveId) -> WaveId {
        let first = self.chosen.as_ref().map_or(&self.served.group_waves, |chosen| &chosen.group_waves);
        let found = self.reader.dump().capture().wave(wave).filter(|_| self.has_wave(wave));
        found.and_then(|wave| first.get(&wave.workgroup?).copied()).unwrap_or(wave)
    }

    fn first_wave(&self) -> WaveId {
        let worst = || self.chosen.as_ref().map_or(self.served.first, |chosen| chosen.first);
        self.start.map_or_else(worst, |(wave, _)| wave)
    }

    fn faulted(&self) -> usize {
        dump::faulted(self.reader.dump(), self.waves().iter().copied())
    }

    fn stop_counts(&self) -> StopCounts {
        let waves = self.waves();
        dump::stop_counts(self.reader.dump(), waves.iter().copied(), self.chosen.is_none())
    }

    fn faulted_outside(&self) -> usize {
        self.reader.dump().faulted().saturating_sub(self.faulted())
    }

    fn wave(&self, wave: WaveId) -> Result<WaveInfo, ReadError> {
        self.serves(wave)?;
        let info = waves::info(&self.reader, wave)?;
        let stands_for = if self.chosen.is_some() { 0 } else { info.stands_for };
        Ok(WaveInfo { stands_for, ..info })
    }

    fn dispatches(&self) -> Vec<DispatchInfo> {
        super::dispatches::all(self.reader.dump(), &self.waves(), self.chosen.is_none())
    }

    fn work_groups(&self) -> Vec<WorkGroupInfo> {
        waves::work_groups::all(self.reader.dump(), &self.waves())
    }

    fn lanes(&self, wave: WaveId) -> Result<Vec<LaneInfo>, ReadError> {
        self.serves(wave)?;
        lanes::lanes(&self.reader, wave, self.focus(wave))
    }

    fn focus(&self, wave: WaveId) -> LaneId {
        if let Some(lane) = self.focus.get(&wave) {
            return *lane;
        }
        if let Some((_, Some(lane))) = self.start.filter(|(start, _)| *start == wave) {
            return lane;
        }
        lanes::active(&self.reader, wave).ok().flatten().and_then(LaneSet::first).unwrap_or_default()
    }

    fn set_focus(&mut self, wave: WaveId, lane: LaneId) -> Result<(), ReadError> {
        let size = self.reader.wave(wave)?.kind.wave_size;
        if !size.has(lane) {
            return Err(ReadError::NoSuchLane { lane, lanes: size.lanes() });
        }
        self.focus.insert(wave, lane);
        Ok(())
    }
}

impl Storage for Session {
    fn next_question(&self) {
        self.reader.next_question();
    }

    fn register(&self, wave: WaveId, register: RegId) -> Result<RegisterValue, ReadError> {
        self.serves(wave)?;
        self.reader.register(wave, register)
    }

    fn read(&self, place: MemoryAddress, buffer: &mut [u8]) -> Result<usize, ReadError> {
        place.wave.map_or(Ok(()), |wave| self.serves(wave))?;
        self.reader.read(place, buffer)
    }

    fn place(&self, address: u64, wave: WaveId) -> Result<MemoryAddress, ReadError> {
        resolve(&self.reader, address, wave, self.focus(wave))
    }

    fn region(&self, address: u64, wave: WaveId) -> Region {
        regions::region(&self.reader, address, wave, self.focus(wave))
    }

    fn loaded_range(&self, address: u64, wave: WaveId) -> LoadedRange {
        regions::loaded_range(&self.reader, address, wave)
    }

    fn has_whole_map(&self) -> bool {
        self.reader.dump().capture().is_global_whole
    }

    fn exists(&self, place: MemoryAddress) -> bool {
        self.reader.exists(place)
    }

    fn size_of_space(&self, place: MemoryAddress) -> Option<u64> {
        let is_lds = matches!(self.reader.space(place).ok()?.scope, SpaceScope::WorkGroup);
        let wave = self.reader.wave(place.wave.filter(|_| is_lds)?).ok()?;
        let capture = self.reader.dump().capture();
        let asked = || capture.dispatch_of(wave)?.group_segment_size;
        capture.workgroup_of(wave)?.lds_size.or_else(asked)
    }

    fn generic_address(&self, place: MemoryAddress) -> Option<Address> {
        let agent = self.reader.dump().capture().agent_of(self.reader.wave(place.wave?).ok()?)?;
        let base = agent.target.aperture(agent.target.space(place.space)?, &agent.apertures)?;
        Some(Address(base.0 | place.address.0))
    }

    fn generation(&self) -> u64 {
        self.reader.generation()
    }
}

impl Stacks for Session {
    fn backtrace(&self, wave: WaveId, lane: Option<LaneId>) -> Result<Stack, ReadError> {
        self.serves(wave)?;
        crate::session::stack::backtrace::backtrace(&self.reader, wave, lane)
    }

    fn calls_at(&self, wave: WaveId, address: u64) -> Result<Vec<StackFrame>, ReadError> {
        self.serves(wave)?;
        crate::session::stack::backtrace::calls_at(&self.reader, wave, address)
    }

    fn frame_around(&self, wave: WaveId, address: u64) -> Result<Option<FrameAround>, ReadError> {
        self.serves(wave)?;
        crate::session::stack::around::frame_around(&self.reader, wave, address)
    }

    fn activations(
        &self,
        wave: WaveId,
        lane: Option<LaneId>,
        limit: usize,
    ) -> Result<Activations, ReadError> {
        self.serves(wave)?;
        crate::session::stack::activations::activations(&self.reader, wave, lane, limit)
    }

    fn has_own_stack(&self, wave: WaveId, lane: LaneId) -> Result<bool, ReadError> {
        self.serves(wave)?;
        let generation = self.reader.generation();
        let mut stacks = self.own_stacks.lock().unwrap_or_else(PoisonError::into_inner);
        if stacks.generation != generation || stacks.known.len() >= MAX_OWN_STACKS {
            *stacks = OwnStacks { generation, known: HashMap::new() };
        }
        if let Some(known) = stacks.known.get(&(wave, lane)) {
            return Ok(*known);
        }
        let found = crate::session::stack::activations::has_own_stack(&self.reader, wave, lane)?;
        // Another question has another budget.
        let is_spent = self.reader.budget().left() == 0 || self.reader.rereads().is_spent();
        if !is_spent {
            stacks.known.insert((wave, lane), found);
        }
        Ok(found)
    }

    fn lane_stacks(&self, wave: WaveId, lanes: LaneSet) -> Result<Vec<LaneStack>, ReadError> {
        self.serves(wave)?;
        crate::session::stack::backtrace::lane_stacks(&self.reader, wave, lanes)
    }

    fn groups(&self, grouping: Grouping) -> Result<Groups, ReadError> {
        self.groups_with(grouping, &mut |_| ())
    }

    fn active_lanes(&self, wave: WaveId, frame: usize) -> Result<LaneSet, ReadError> {
        self.serves(wave)?;
        lanes::active_in(&self.reader, wave, frame)
    }
}

impl Variables for Session {
    fn locals(&self, wave: WaveId, lanes: LaneSet, frame: usize) -> Result<Locals, ReadError> {
        self.serves(wave)?;
        super::variables::locals(&self.reader, wave, lanes, frame)
    }

    fn print(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        query: &Query,
    ) -> Result<Printed, PrintError> {
        self.serves(wave)?;
        super::print::print(&self.reader, wave, lanes, frame, query)
    }

    fn typed(
        &self,
        wave: WaveId,
        frame: usize,
        asked: &[TypedQuery],
    ) -> Result<Vec<Result<TypedValues, ParseError>>, ReadError> {
        self.serves(wave)?;
        super::print::typed(&self.reader, wave, frame, asked)
    }

    fn explain(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        query: &Query,
    ) -> Result<Vec<Explanation>, PrintError> {
        self.serves(wave)?;
        super::print::explain(&self.reader, wave, lanes, frame, query)
    }

    fn evaluate(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        question: &Question,
    ) -> Result<Evaluation, EvaluateError> {
        self.serves(wave)?;
        evaluate::evaluate(&self.reader, wave, lanes, question)
    }

    fn locate(&self, variable: VariableIn) -> Result<Whereabouts, ReadError> {
        self.serves(variable.wave)?;
        super::print::locate(&self.reader, variable)
    }

    fn leads_to(&self, pointer: VariableIn) -> Result<Whereabouts, ReadError> {
        self.serves(pointer.wave)?;
        super::print::leads_to(&self.reader, pointer)
    }

    fn with_pointers(&self, wave: WaveId, lane: LaneId, own_stack: bool) -> Result<Vec<ObjectAt>, ReadError> {
        self.serves(wave)?;
        let mut pointers = self.pointers.lock().unwrap_or_else(PoisonError::into_inner);
        super::print::with_pointers(&self.reader, &mut pointers, wave, lane, own_stack)
    }

    fn pointers_in(&self, code_object: usize, type_id: TypeId) -> Arc<[PointerAt]> {
        let Ok(debug) = self.reader.dump().debug_info(code_object) else { return Arc::default() };
        self.pointers.lock().unwrap_or_else(PoisonError::into_inner).of(&debug, type_id).agreed
    }

    fn parts(&self, asked: &PartsQuery) -> Result<Parts, ReadError> {
        self.serves(asked.wave)?;
        super::print::parts(&self.reader, asked)
    }

    fn member_path(&self, code_object: usize, type_id: TypeId, offset: u64) -> Option<String> {
        let debug = self.reader.dump().debug_info(code_object).ok()?;
        super::print::member_path(&debug, type_id, offset)
    }

    fn element_paths(&self, code_object: usize, type_id: TypeId) -> Vec<ElementPath> {
        let debug = self.reader.dump().debug_info(code_object).ok();
        debug.map_or_else(Vec::new, |debug| super::print::element_paths(&debug, type_id))
    }
}

impl Code for Session {
    fn disassemble(&self, wave: WaveId, asked: &Instructions) -> Result<Disassembly, DisassemblyError> {
        self.serves(wave)?;
        super::disassembly::list(&self.reader, wave, asked)
    }

    fn function(&self, wave: WaveId, address: u64) -> Result<Disassembly, DisassemblyError> {
        self.serves(wave)?;
        super::disassembly::function(&self.reader, wave, address)
    }
}

impl WhatIf for Session {
    fn write_register(&mut self, wave: WaveId, register: RegId, bytes: &[u8]) -> Result<(), ChangeError> {
        self.serves(wave)?;
        self.reader.write_register(wave, register, bytes)
    }

    fn write(&mut self, place: MemoryAddress, bytes: &[u8]) -> Result<(), ChangeError> {
        place.wave.map_or(Ok(()), |wave| self.serves(wave))?;
        self.reader.write(place, bytes)
    }

    fn write_in(&mut self, variable: VariableIn, first: u64, bytes: &[u8]) -> Result<(), ChangeError> {
        self.serves(variable.wave)?;
        super::print::write_in(&mut self.reader, variable, first, bytes)
    }

    fn assign(
        &mut self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        path: &str,
        value: &str,
    ) -> Result<(), ChangeError> {
        self.serves(wave)?;
        super::print::assign(&mut self.reader, wave, lanes, frame, path, value)
    }

    fn changes(&self, most: usize) -> Result<Changes, ReadError> {
        self.reader.changes(most)
    }

    fn reset(&mut self, what: Reset) -> Dropped {
        self.reader.reset(what)
    }
}
