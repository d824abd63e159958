//! A synthetic captured state for tests of the server: its contents follow from the number of the wave.
//!
//! Not over a dump and not with the session's code, so that a mistake there cannot hide one here. Three waves or more
//! of one kind: the first was running, the second faulted, the third stands at a breakpoint, all others were running.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::lib::arch::{RegClass, RegId, RegisterValue, SpaceScope, Targets, WaveArch};
use super::lib::debuginfo::TypeId;
use super::lib::dwarf::text::AssembleError;
use super::lib::dwarf::{self, Cause, Dialect, Location, Number};
use super::lib::session::address::{self, Token};
use super::lib::session::print::{
    Explanation, ObjectAt, PrintError, Printed, PrintedLane, Query, VariableIn, Whereabouts, parse,
};
use super::lib::session::{
    Activations, Byte, ChangeError, Changes, Code, CodeObjectInfo, Disassembly, DisassemblyError,
    DispatchArguments, DispatchInfo, Dropped, DumpFacts, EvaluateError, Evaluation, Explained, Expression,
    FenceScope, Fences, Found, FunctionBounds, Group, Grouping, Groups, Instructions, LaneFound, LaneInfo,
    LanePosition, LaneStack, LaneState, LaneValue, ListedInstruction, Locals, Member, MemoryAddress,
    MemoryChange, PcSource, PointerAt, PositionError, Question, ReadError, Region, RegisterChange, Reset,
    Scope, SourceError, Stack, StackEnd, StackFrame, Stacks, Storage, Symbolic, ValueState, Variable,
    Variables, Want, WaveInfo, Waves, WhatIf,
};
use super::lib::units::{Address, BitSize, DwarfReg, ExprOffset, LaneId, LaneSet, Pc, WaveId, WaveSize};

/// Global memory that was captured: the byte at address A is A modulo 251.
pub(crate) const GLOBAL: std::ops::Range<u64> = 0x10_0000..0x12_0000;
/// Bytes of LDS: the byte at A is A modulo 256, exclusive or the wave's number.
pub(crate) const LOCAL: u64 = 0x100;
/// Bytes of private memory of one lane: the byte at A is A plus the lane, modulo 256.
pub(crate) const PRIVATE: u64 = 0x40;
/// Where code is: the PC of wave N is this plus 16 N.
pub(crate) const CODE: u64 = 0x7fff_0000_1000;

/// The code that was captured, by the same rule as other global memory.
pub(crate) const IMAGE: std::ops::Range<u64> = CODE - 0x1000..CODE + 0x3000;

/// The made-up state.
pub(crate) struct Fake {
    kind: Arc<WaveArch>,
    waves: Arc<[WaveId]>,
    focus: HashMap<WaveId, LaneId>,
    /// Registers that were written.
    written: BTreeMap<(WaveId, RegId), Vec<u8>>,
    /// Bytes that were written, by space, wave (none of global memory), lane and address.
    bytes: BTreeMap<(u64, Option<u32>, Option<u8>, u64), u8>,
    pub(crate) notices: Vec<String>,
    /// How many writes there were.
    generation: u64,
}

impl Fake {
    /// So many waves of gfx90a, 64 lanes each.
    pub(crate) fn new(waves: u32) -> Self {
        Self::of("gfx90a", WaveSize::W64, waves)
    }

    /// So many waves of that kind.
    pub(crate) fn of(target: &str, size: WaveSize, waves: u32) -> Self {
        Self {
            kind: Targets::builtin().kind(target, size).unwrap(),
            waves: (0..waves).map(WaveId).collect(),
            focus: HashMap::new(),
            written: BTreeMap::new(),
            bytes: BTreeMap::new(),
            notices: Vec::new(),
            generation: 0,
        }
    }

    fn check(&self, wave: WaveId) -> Result<(), ReadError> {
        if self.has_wave(wave) { Ok(()) } else { Err(ReadError::NoSuchWave(wave)) }
    }

    fn exec(&self, wave: WaveId) -> LaneSet {
        if wave.0 == 2 { LaneSet(0xf0) } else { self.kind.wave_size.all() }
    }

    fn pc(wave: WaveId) -> u64 {
        CODE + u64::from(wave.0) * 16
    }

    /// Every register that some wave has, with the value of `wave`; lanes of v1 above 15 were not captured.
    fn value(&self, wave: WaveId, id: RegId) -> RegisterValue {
        let register = self.kind.register(id).unwrap();
        let mut value = RegisterValue::unknown(register.dwords);
        let wide = match register.name.as_str() {
            "pc" => Some(Self::pc(wave)),
            "exec" => Some(self.exec(wave).0),
            "vcc" => Some(5),
            "m0" => Some(0xffff_ffff),
            "status" => Some(0x0001_0000 | u64::from(wave.0)),
            "mode" => Some(0x1c0),
            _ => None,
        };
        if let Some(wide) = wide {
            value.set_dword(0, wide as u32);
            value.set_dword(1, (wide >> 32) as u32);
            return value;
        }
        let number = register.name.get(1..).and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
        match register.class {
            RegClass::Scalar if number < 4 => value.set_dword(0, wave.0 << 8 | number),
            RegClass::Vector | RegClass::Accumulator if number < 2 => {
                let lanes = if number == 1 { 16 } else { register.dwords };
                (0..lanes)
                    .for_each(|lane| value.set_dword(lane, wave.0 << 16 | number << 8 | u32::from(lane)));
            }
            _ => {}
        }
        value
    }

    /// Memory as it was before anything was written.
    fn captured(&self, place: MemoryAddress, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let space = self
            .kind
            .target
            .space(place.space)
            .ok_or_else(|| ReadError::NoSuchSpace(place.space, self.kind.target.name.clone()))?;
        let wave = place.wave.unwrap_or(WaveId(0));
        self.check(wave)?;
        let global = if IMAGE.contains(&place.address.0) { IMAGE } else { GLOBAL };
        let end = match space.scope {
            SpaceScope::Global | SpaceScope::Generic => global.end,
            SpaceScope::WorkGroup => LOCAL,
            SpaceScope::Lane | SpaceScope::LaneN(_) => PRIVATE,
            SpaceScope::Wave => PRIVATE * u64::from(self.kind.wave_size.lanes()),
            SpaceScope::Agent => 0,
        };
        let start = if end == global.end { global.start } else { 0 };
        let lane = match space.scope {
            SpaceScope::LaneN(lane) => lane,
            _ => place.lane.unwrap_or(LaneId(0)),
        };
        if !(start..end).contains(&place.address.0) {
            return Err(ReadError::NotCaptured { what: format!("{} {}", space.name, place.address) });
        }
        let length = buffer.len().min((end - place.address.0) as usize);
        for (at, byte) in (place.address.0..).zip(&mut buffer[..length]) {
            *byte = match space.scope {
                SpaceScope::WorkGroup => at as u8 ^ wave.0 as u8,
                SpaceScope::Lane | SpaceScope::LaneN(_) => at as u8 + lane.0,
                SpaceScope::Wave => {
                    let (row, lane) = (at / 256, at / 4 % 64);
                    (row * 4 + at % 4 + lane) as u8
                }
                _ => (at % 251) as u8,
            };
        }
        Ok(length)
    }

    fn key(&self, place: MemoryAddress, index: u64) -> (u64, Option<u32>, Option<u8>, u64) {
        let scope = self.kind.target.space(place.space).map(|space| space.scope);
        let wave = place.wave.map(|wave| wave.0);
        let (wave, lane) = match scope {
            Some(SpaceScope::Lane) => (wave, place.lane.map(|lane| lane.0)),
            Some(SpaceScope::WorkGroup | SpaceScope::Wave) => (wave, None),
            _ => (None, None),
        };
        (place.space.0, wave, lane, place.address.0 + index)
    }
}

impl DumpFacts for Fake {
    fn name(&self) -> String {
        "fake.toml".to_owned()
    }

    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    fn problems(&self) -> Vec<super::lib::capture::Problem> {
        Vec::new()
    }

    fn code_objects(&self) -> Vec<CodeObjectInfo> {
        vec![CodeObjectInfo {
            name: "saxpy.hsaco".to_owned(),
            uri: Some("file:///tmp/saxpy.hsaco".to_owned()),
            address: Address(CODE - 0x1000),
            size: Some(0x4000),
            origin: None,
            overlap: None,
            error: None,
        }]
    }

    fn arguments(&self) -> Vec<DispatchArguments> {
        Vec::new()
    }

    fn changed_file(&self) -> Option<String> {
        None
    }
}

impl Waves for Fake {
    fn kind(&self) -> Arc<WaveArch> {
        Arc::clone(&self.kind)
    }

    fn described(&self) -> Vec<RegId> {
        let kept = |name: &str, class: RegClass| match class {
            RegClass::Scalar => {
                name.get(1..).and_then(|number| number.parse().ok()).is_some_and(|n: u32| n < 8)
            }
            RegClass::Vector => matches!(name, "v0" | "v1" | "v2" | "v3"),
            RegClass::Accumulator => name == "a0",
            RegClass::General | RegClass::System => true,
            RegClass::Trap => false,
        };
        let registers = self.kind.registers().iter();
        registers
            .filter(|register| kept(&register.name, register.class))
            .map(|register| register.id)
            .collect()
    }

    fn waves(&self) -> Arc<[WaveId]> {
        Arc::clone(&self.waves)
    }

    fn has_wave(&self, wave: WaveId) -> bool {
        (wave.0 as usize) < self.waves.len()
    }

    /// Each wave has LDS of its own.
    fn group_wave(&self, wave: WaveId) -> WaveId {
        wave
    }

    fn first_wave(&self) -> WaveId {
        WaveId(1)
    }

    fn wave(&self, wave: WaveId) -> Result<WaveInfo, ReadError> {
        self.check(wave)?;
        let (stop, cause, signal) = match wave.0 {
            1 => (vec!["memory_violation".to_owned()], "memory violation", 11),
            2 => (vec!["breakpoint".to_owned()], "breakpoint", 5),
            _ => (vec![], "running", 0),
        };
        Ok(WaveInfo {
            wave,
            id: wave.0 + 1,
            name: format!("AMDGPU Wave 1:1:1:{} ({},0,0)/{}", wave.0 + 1, wave.0 / 4, wave.0 % 4),
            kind: Arc::clone(&self.kind),
            pc: Some(Pc(Self::pc(wave))),
            exec: Some(self.exec(wave)),
            kernel: Some("saxpy".to_owned()),
            agent: 1,
            queue: Some(1),
            dispatch: Some(1),
            workgroup: Some([wave.0 / 4, 0, 0]),
            wave_in_group: Some(wave.0 % 4),
            stop: Some(stop),
            cause: cause.to_owned(),
            unconfirmed: None,
            unchecked: None,
            signal,
        })
    }

    fn dispatches(&self) -> Vec<DispatchInfo> {
        let known = DispatchInfo {
            id: 1,
            name: "AMDGPU Dispatch 1:1:1 (PKID 7)".to_owned(),
            agent: 1,
            queue: 1,
            packet: Some(7),
            grid: Some([500, 1, 1]),
            workgroup: Some([128, 1, 1]),
            fences: Some(Fences { barrier: true, acquire: FenceScope::Agent, release: FenceScope::System }),
            group_segment_size: Some(256),
            private_segment_size: Some(64),
            kernel: Some("saxpy".to_owned()),
            kernel_object: Some(Address(0x10_0000)),
            kernarg: Some(Address(0x10_0040)),
            waves: self.waves.to_vec(),
        };
        let unknown = DispatchInfo {
            id: 2,
            name: "AMDGPU Dispatch 1:1:2".to_owned(),
            packet: None,
            grid: None,
            workgroup: None,
            fences: None,
            group_segment_size: None,
            private_segment_size: None,
            kernel: None,
            kernel_object: None,
            kernarg: None,
            waves: Vec::new(),
            ..known.clone()
        };
        vec![known, unknown]
    }

    fn lanes(&self, wave: WaveId) -> Result<Vec<LaneInfo>, ReadError> {
        self.check(wave)?;
        let exec = self.exec(wave);
        let lanes = self.kind.wave_size.all().iter().map(|lane| LaneInfo {
            lane,
            state: Some(if exec.contains(lane) { LaneState::Active } else { LaneState::Inactive }),
            local_id: Some([u32::from(lane.0), wave.0 % 4, 0]),
            global_id: Some([u32::from(lane.0), wave.0, 0]),
            focused: lane == self.focus(wave),
            at: LanePosition {
                pc: exec.contains(lane).then_some(Pc(CODE + 16 * u64::from(wave.0))),
                from: match exec.contains(lane) {
                    true => PcSource::Exec,
                    false => PcSource::Unknown(PositionError::Inactive.into()),
                },
                function: Some("saxpy(int, float)".to_owned()),
                file: Some("saxpy.hip".to_owned()),
                line: exec.contains(lane).then_some(9),
                physical: Some(0),
            },
        });
        Ok(lanes.collect())
    }

    fn focus(&self, wave: WaveId) -> LaneId {
        self.focus.get(&wave).copied().or(self.exec(wave).first()).unwrap_or(LaneId(0))
    }

    fn set_focus(&mut self, wave: WaveId, lane: LaneId) -> Result<(), ReadError> {
        self.check(wave)?;
        if !self.kind.wave_size.has(lane) {
            return Err(ReadError::NoSuchLane { lane, lanes: self.kind.wave_size.lanes() });
        }
        self.focus.insert(wave, lane);
        Ok(())
    }
}

impl Storage for Fake {
    fn next_question(&self) {}

    fn register(&self, wave: WaveId, register: RegId) -> Result<RegisterValue, ReadError> {
        self.check(wave)?;
        let mut value = self.value(wave, register);
        if let Some(bytes) = self.written.get(&(wave, register)) {
            value.bytes_mut().copy_from_slice(bytes);
            value.set_known(u64::MAX);
        }
        Ok(value)
    }

    fn read(&self, place: MemoryAddress, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let length = self.captured(place, buffer)?;
        for (index, byte) in (0..).zip(&mut buffer[..length]) {
            if let Some(written) = self.bytes.get(&self.key(place, index)) {
                *byte = *written;
            }
        }
        Ok(length)
    }

    fn place(&self, at: u64, wave: WaveId) -> Result<MemoryAddress, ReadError> {
        let focus = self.focus(wave);
        match address::decode(at) {
            Token::Plain(address) => {
                Ok(MemoryAddress { space: address::GLOBAL, address, wave: Some(wave), lane: None })
            }
            Token::Space { space, wave: named, lane, offset } => {
                let wave = named.unwrap_or(wave);
                self.check(wave)?;
                let lane = lane.unwrap_or(focus);
                if !self.kind.wave_size.has(lane) {
                    return Err(ReadError::NoSuchLane { lane, lanes: self.kind.wave_size.lanes() });
                }
                let address = Address(u64::from(offset));
                Ok(MemoryAddress { space, address, wave: Some(wave), lane: Some(lane) })
            }
            Token::Window { .. } | Token::Nothing(_) => {
                Err(ReadError::NotCaptured { what: format!("{at:#x}") })
            }
        }
    }

    fn region(&self, at: u64, _: WaveId) -> Region {
        let (start, last, name) = match at {
            at if at < GLOBAL.start => (0, GLOBAL.start - 1, None),
            at if at < GLOBAL.end => (GLOBAL.start, GLOBAL.end - 1, Some("heap".to_owned())),
            at if at < IMAGE.start => (GLOBAL.end, IMAGE.start - 1, None),
            at if at < IMAGE.end => (IMAGE.start, IMAGE.end - 1, Some("saxpy.hsaco".to_owned())),
            _ => (IMAGE.end, u64::MAX, None),
        };
        Region { start, last, readable: name.is_some(), code: IMAGE.contains(&at), name }
    }

    fn exists(&self, place: MemoryAddress) -> bool {
        self.read(place, &mut [0]).is_ok()
    }

    fn generic_address(&self, _: MemoryAddress) -> Option<Address> {
        None
    }

    fn generation(&self) -> u64 {
        self.generation
    }
}

impl Stacks for Fake {
    fn backtrace(&self, wave: WaveId, lane: Option<LaneId>) -> Result<Stack, ReadError> {
        self.check(wave)?;
        let frame = |level: usize, function: &str, line| StackFrame {
            level,
            of_wave: Some(level),
            physical: level / 2,
            inlined: level == 0,
            function: Some(function.to_owned()),
            file: Some("saxpy.hip".to_owned()),
            line: Some(line),
            column: None,
            pc: Some(Pc(0x7fff_0000_1010)),
            cfa: (level == 2).then(|| "private_wave+0x0".to_owned()),
            code_object: Some("saxpy.hsaco".to_owned()),
            problem: None,
        };
        let mut frames =
            vec![frame(0, "scale(float)", 4), frame(1, "saxpy(int, float)", 9), frame(2, "kernel", 20)];
        // Lanes from 32 on never entered the inlined call.
        if lane.is_some_and(|lane| lane.0 >= 32) {
            frames.remove(0);
            frames.iter_mut().for_each(|frame| frame.level -= 1);
        }
        let end = match wave.0 {
            0 => StackEnd::NoUnwindInformation { pc: Pc(0x7fff_0000_1010), why: "no table".to_owned() },
            _ => StackEnd::Outermost,
        };
        Ok(Stack { wave, lane, frames, end })
    }

    fn activations(&self, wave: WaveId, _: Option<LaneId>, _: usize) -> Result<Activations, ReadError> {
        self.wave(wave)?;
        Ok(Activations { frames: Vec::new(), end: Some(StackEnd::Outermost) })
    }

    fn has_own_stack(&self, wave: WaveId, _: LaneId) -> Result<bool, ReadError> {
        self.wave(wave)?;
        Ok(false)
    }

    fn lane_stacks(&self, wave: WaveId, lanes: LaneSet) -> Result<Vec<LaneStack>, ReadError> {
        let low = lanes.and(LaneSet(0xffff_ffff));
        let stacks = [low, lanes.without(low)].into_iter().filter(|lanes| !lanes.is_empty());
        stacks.map(|lanes| Ok(LaneStack { lanes, stack: self.backtrace(wave, lanes.first())? })).collect()
    }

    /// The first wave has faulted, the others stand together.
    fn groups(&self, grouping: Grouping) -> Result<Groups, ReadError> {
        let group = |waves: &[WaveId], faulted: bool| {
            let all = self.kind.wave_size.all();
            let lanes = grouping.lanes.then_some(all);
            let members = waves.iter().map(|wave| Member { wave: *wave, id: wave.0 + 1, lanes });
            let count = waves.len() * lanes.map_or(1, |lanes| lanes.count() as usize);
            let cause = if faulted { "memory violation" } else { "breakpoint" };
            let states = lanes.map(|_| (Some(LaneState::Active), count));
            Ok::<_, ReadError>(Group {
                members: members.collect(),
                count,
                faulted,
                causes: vec![(cause.to_owned(), waves.len())],
                states: states.into_iter().collect(),
                stack: self.backtrace(waves[0], None)?,
            })
        };
        let waves = self.waves();
        let (first, others) = waves.split_at(1);
        let parts = [(first, true), (others, false)].into_iter().filter(|(waves, _)| !waves.is_empty());
        let groups = parts.map(|(waves, faulted)| group(waves, faulted)).collect::<Result<_, _>>()?;
        Ok(Groups { grouping, groups })
    }

    fn active_lanes(&self, wave: WaveId, _: usize) -> Result<LaneSet, ReadError> {
        self.check(wave)?;
        Ok(self.wave(wave)?.exec.unwrap_or(LaneSet::EMPTY))
    }
}

impl Variables for Fake {
    fn locals(&self, wave: WaveId, lanes: LaneSet, frame: usize) -> Result<Locals, ReadError> {
        self.check(wave)?;
        if wave.0 == 0 {
            return Err(SourceError::NoCode { pc: Pc(0x7fff_0000_1000), before: None }.into());
        }
        if frame > 2 {
            return Err(SourceError::NoFrame { frame, count: None, end: None }.into());
        }
        let lane = |lane: LaneId| LaneValue {
            lane,
            location: Some(format!("v0[{lane}]")),
            place: Some(Location::register(DwarfReg(2560), BitSize(2048))),
            idiom: None,
            bytes: vec![Byte::Known(lane.0), Byte::Known(0), Byte::Known(0), Byte::NotCaptured].into(),
            state: if lane.0 < 16 {
                ValueState::Value(lane.0.to_string().into())
            } else {
                ValueState::Unavailable("v0 was not captured".to_owned())
            },
            of: LaneSet::one(lane),
        };
        let variable = Variable {
            name: "i".to_owned(),
            scope: Scope::Local,
            type_name: "int".to_owned(),
            size: Some(4),
            line: Some(7),
            lanes: lanes.iter().map(lane).collect(),
        };
        Ok(Locals {
            states: self.lanes(wave)?.into_iter().map(|info| info.state).collect(),
            wave,
            frame,
            pc: Pc(Self::pc(wave)),
            function: Some("saxpy(int, float)".to_owned()),
            file: Some("saxpy.hip".to_owned()),
            line: Some(9),
            left_out: 0,
            problems: Vec::new(),
            variables: vec![variable],
        })
    }

    /// `i` as `locals` has it; every other path that parses is not found.
    fn print(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        query: &Query,
    ) -> Result<Printed, PrintError> {
        let path = parse(&query.path, &|_| false)?;
        let locals = self.locals(wave, lanes, frame)?;
        // For all lanes, by the `state` of each.
        let states = std::iter::repeat_n(Some(LaneState::Active), 64).collect();
        let values = locals.variables.into_iter().flat_map(|variable| variable.lanes);
        let lane = |value: LaneValue| match (path.to_string().as_str(), query.letter) {
            ("i", letter) => {
                let text = match (&value.state, letter) {
                    (ValueState::Value(number), Some(letter)) => format!("{number} as {}", letter.letter()),
                    (ValueState::Value(number), None) => number.to_string(),
                    _ => String::new(),
                };
                let known = matches!(value.state, ValueState::Value(_));
                let state = if known { ValueState::Value(text.clone().into()) } else { value.state.clone() };
                let tree = known.then(|| super::lib::debuginfo::format::Value::text(text));
                PrintedLane {
                    value: LaneValue { state, ..value },
                    tree,
                    state: Some(LaneState::Active),
                    missing: None,
                }
            }
            (other, _) => {
                let state =
                    ValueState::Error(format!("there is no `{other}` in this frame or its code object"));
                let value = LaneValue {
                    lane: value.lane,
                    location: None,
                    place: None,
                    idiom: None,
                    bytes: Default::default(),
                    state,
                    of: LaneSet::EMPTY,
                };
                PrintedLane { value, tree: None, state: Some(LaneState::Active), missing: None }
            }
        };
        let lanes = values.map(lane).collect();
        let type_name = (path.to_string() == "i").then(|| "int".to_owned());
        Ok(Printed { wave, frame, pc: locals.pc, path: path.to_string(), type_name, states, lanes })
    }

    /// `i` as `print` has it.
    fn explain(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        frame: usize,
        query: &Query,
    ) -> Result<Vec<Explanation>, PrintError> {
        let path = parse(&query.path, &|_| false)?;
        self.locals(wave, lanes, frame)?;
        let lines = vec!["   0 DW_OP_regx v0: pushes the location of that register".to_owned()];
        let (name, says) = (path.to_string(), "DW_AT_location: DW_OP_regx v0".to_owned());
        Ok(vec![Explanation { name, says, lanes: vec![Explained { lanes, lines }] }])
    }

    /// Knows one expression, `DW_OP_lit4`, in wave 1: whatever is asked, lanes below 16 find register 2560.
    fn evaluate(
        &self,
        wave: WaveId,
        lanes: LaneSet,
        question: &Question,
    ) -> Result<Evaluation, EvaluateError> {
        self.check(wave)?;
        let bytes = match &question.expression {
            Expression::Text(text) if text == "DW_OP_lit4" => vec![0x34],
            Expression::Text(text) => {
                let what = format!("no operation `{text}`");
                let expected = "`DW_OP_lit4`".to_owned();
                return Err(AssembleError { line: 1, column: 3, what, expected }.into());
            }
            Expression::Bytes(bytes) => bytes.clone(),
        };
        let size = match question.want {
            Want::Location { size, .. } => size.unwrap_or(4),
            Want::Value => 8,
        };
        let lane = |lane: LaneId| LaneFound {
            lane,
            found: match question.want {
                Want::Value => Found::Value(Number::generic(4)),
                Want::Location { .. } if lane.0 < 16 => Found::Location {
                    words: format!("v0[{lane}]"),
                    place: Location::register(DwarfReg(2560), BitSize(2048)),
                    idiom: None,
                    size: Some(BitSize(size * 8)),
                    bytes: (0..size)
                        .map(|at| if at < 2 { Byte::Known(lane.0) } else { Byte::NotCaptured })
                        .collect(),
                    unread: None,
                },
                Want::Location { .. } => {
                    let cause = Cause::RegisterNotCaptured(DwarfReg(2560));
                    let error = dwarf::Error { at: ExprOffset(0), op: "DW_OP_lit4", cause };
                    Found::Failed { words: "v0 was not captured".to_owned(), error }
                }
            },
        };
        Ok(Evaluation {
            wave,
            pc: Some(Pc(Self::pc(wave))),
            dialect: question.dialect.unwrap_or(Dialect::LlvmUser),
            expression: Some("DW_OP_lit4".to_owned()),
            bytes,
            lanes: lanes.iter().map(lane).collect(),
            explained: Vec::new(),
        })
    }

    fn locate(&self, variable: VariableIn) -> Result<Whereabouts, ReadError> {
        self.wave(variable.wave)?;
        Err(ReadError::NotCaptured { what: "a place of a variable".to_owned() })
    }

    fn leads_to(&self, pointer: VariableIn) -> Result<Whereabouts, ReadError> {
        self.locate(pointer)
    }

    fn with_pointers(&self, wave: WaveId, _: LaneId, _: bool) -> Result<Vec<ObjectAt>, ReadError> {
        self.wave(wave)?;
        Ok(Vec::new())
    }

    fn pointers_in(&self, _: usize, _: TypeId) -> Arc<[PointerAt]> {
        Arc::default()
    }
}

impl Code for Fake {
    /// Dwords that are called by their numbers; a function of 0x40 bytes is at the code's beginning, and the second of its
    /// instructions goes back to its start.
    fn disassemble(&self, wave: WaveId, asked: &Instructions) -> Result<Disassembly, DisassemblyError> {
        self.check(wave)?;
        if asked.frame > 0 {
            return Err(ReadError::NoSuchFrame { frame: asked.frame, last: 0 }.into());
        }
        if let Some(lane) = asked.lane.filter(|lane| !self.kind.wave_size.has(*lane)) {
            return Err(ReadError::NoSuchLane { lane, lanes: self.kind.wave_size.lanes() }.into());
        }
        let name: Arc<str> = "saxpy(int, float)".into();
        let anchor = asked.address.unwrap_or(Self::pc(wave));
        let (first, count) = match (asked.count, asked.around) {
            (_, Some(around)) => {
                let around = around.min(16);
                (anchor - 4 * around as u64, 2 * around + 1)
            }
            (Some(count), None) if asked.address.is_some() => (anchor, count),
            (count, None) => (CODE, count.unwrap_or(16)),
        };
        let known = |address: u64| IMAGE.contains(&address);
        let one = |address: u64| ListedInstruction {
            address: Address(address),
            bytes: (address..address + 4).map(|at| (at % 251) as u8).collect(),
            text: format!("s_nop {}", address - CODE),
            is_decoded: true,
            symbol: Some(Symbolic { function: Arc::clone(&name), offset: address - CODE }),
            target: (address == CODE + 4)
                .then(|| (Address(CODE), Some(Symbolic { function: Arc::clone(&name), offset: 0 }))),
            file: Some("saxpy.hip".into()),
            line: Some(if address < CODE + 16 { 8 } else { 9 }),
            is_pc: address == Self::pc(wave),
            lanes: if address == Self::pc(wave) { self.exec(wave) } else { LaneSet::EMPTY },
            active: Some(if address == Self::pc(wave) { self.exec(wave) } else { LaneSet::EMPTY }),
        };
        let each = (first..).step_by(4).take(count).take_while(|address| known(*address));
        let instructions: Vec<_> = each.map(one).collect();
        let missing = (instructions.len() < count).then(|| "the rest was not captured".to_owned());
        Ok(Disassembly {
            wave,
            frame: 0,
            pc: Some(Pc(Self::pc(wave))),
            function: Some(FunctionBounds { name: Arc::clone(&name), start: CODE, end: CODE + 0x40 }),
            code_object: Some("saxpy.hsaco".to_owned()),
            processor: "gfx90a".to_owned(),
            tool: Some("llvm-objdump-22".to_owned()),
            instructions,
            problems: missing.into_iter().collect(),
        })
    }
}

impl WhatIf for Fake {
    fn write_register(&mut self, wave: WaveId, register: RegId, bytes: &[u8]) -> Result<(), ChangeError> {
        self.check(wave)?;
        self.written.insert((wave, register), bytes.to_vec());
        self.generation += 1;
        Ok(())
    }

    /// The same places as are there to be read, all of them.
    fn write(&mut self, place: MemoryAddress, bytes: &[u8]) -> Result<(), ChangeError> {
        let there = self.captured(place, &mut vec![0; bytes.len()])?;
        if there < bytes.len() {
            return Err(ChangeError::NoMemory(format!("the byte {there:#x} on from {}", place.address)));
        }
        for (index, byte) in (0..).zip(bytes) {
            self.bytes.insert(self.key(place, index), *byte);
        }
        self.generation += 1;
        Ok(())
    }

    fn write_in(&mut self, variable: VariableIn, _: u64, _: &[u8]) -> Result<(), ChangeError> {
        self.check(variable.wave)?;
        Err(ChangeError::Nowhere { what: "the variable".to_owned(), why: "made up" })
    }

    /// A scalar register of a dword, `$s1`, and a decimal number.
    fn assign(
        &mut self,
        wave: WaveId,
        _: LaneSet,
        _: usize,
        path: &str,
        value: &str,
    ) -> Result<(), ChangeError> {
        parse(path, &|_| false)?;
        let kind = Arc::clone(&self.kind);
        let register = path.strip_prefix('$').and_then(|name| kind.named(name));
        match (register.filter(|register| register.dwords == 1), value.parse::<u32>()) {
            (Some(register), Ok(number)) => self.write_register(wave, register.id, &number.to_le_bytes()),
            _ => Err(ChangeError::Nowhere { what: format!("`{path}`"), why: "made up" }),
        }
    }

    fn changes(&self, most: usize) -> Result<Changes, ReadError> {
        let mut changes = Changes::default();
        for ((wave, register), bytes) in &self.written {
            let known = self.kind.register(*register).unwrap();
            let old = self.value(*wave, *register);
            for (index, new) in (0u16..).zip(bytes.chunks(4)) {
                let new = u32::from_le_bytes(new.try_into().unwrap());
                if old.dword(index) == Some(new) {
                    continue;
                }
                changes.registers.push(RegisterChange {
                    wave: *wave,
                    id: wave.0 + 1,
                    name: known.name.clone(),
                    aliases: Vec::new(),
                    lane: known.is_vector().then_some(LaneId(index as u8)),
                    dword: (!known.is_vector() && known.dwords > 1).then_some(index),
                    old: old.dword(index),
                    new,
                });
            }
        }
        for ((space, wave, lane, address), new) in &self.bytes {
            let wave = wave.map(WaveId);
            let place = MemoryAddress {
                space: super::lib::units::AddressSpace(*space),
                address: Address(*address),
                wave,
                lane: lane.map(LaneId),
            };
            let mut old = [0];
            self.captured(place, &mut old)?;
            let words = format!("{space} at {address:#x}");
            let (old, new) = (vec![Some(old[0])], vec![*new]);
            changes.memory.push(MemoryChange { place, words, length: 1, old, new });
        }
        for list in [changes.registers.len(), changes.memory.len()] {
            changes.left_out += list.saturating_sub(most);
        }
        changes.registers.truncate(most);
        changes.memory.truncate(most);
        Ok(changes)
    }

    fn reset(&mut self, what: Reset) -> Dropped {
        let mut dropped = Dropped::default();
        self.generation += 1;
        if what != Reset::Memory {
            dropped.dwords = self.written.values().map(|bytes| bytes.len() as u64 / 4).sum();
            self.written.clear();
        }
        if what != Reset::Registers {
            dropped.bytes = self.bytes.len() as u64;
            self.bytes.clear();
        }
        dropped
    }
}
