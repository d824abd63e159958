//! Unwinding from the innermost frame outwards.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::arch::{RegId, RegisterValue, WaveArch};
use crate::bounds::MAX_FRAMES;
use crate::codeobject::{ElfAddress, Segment};
use crate::dwarf::cfi::{Answers, CfaRule, RegisterRule, Unwind};
use crate::dwarf::print;
use crate::dwarf::{self, Cause, Class, Location, Machine as _, RegisterBytes, Storage, fetch};
use crate::isa::{ALIGNMENT, Control, Instruction};
use crate::session::disassembly::machine;
use crate::session::error::SourceError;
use crate::session::objects::Loaded;
use crate::session::stack::unwind::frame::PhysicalFrame;
use crate::session::stack::unwind::rules::{Found, Rules, RulesError, RulesOrigin};
use crate::session::stack::{BadPc, StackEnd};
use crate::session::{ReadError, Reader};
use crate::units::{BitSize, DwarfReg, ExprOffset, LaneId, Pc, WaveId};

/// Maximum number of rules with an expression or in memory that one question evaluates; each register of a frame is
/// read once.
const MAX_RULES: u32 = 1 << 13;

/// The name of a caller's register in errors.
pub(super) const SAVED: &str = "saved register";

/// The physical frames of a wave, as far as requested.
#[derive(Debug)]
pub(in crate::session) struct Unwinder<'a> {
    pub(in crate::session) reader: &'a Reader,
    pub(in crate::session) wave: WaveId,
    pub(in crate::session) kind: Arc<WaveArch>,
    frames: Vec<Physical<'a>>,
    end: Option<StackEnd>,
    /// Cache of frame 0's registers: 64 lanes need the same vector.
    own: RefCell<HashMap<RegId, RegisterValue>>,
    rules_left: Cell<u32>,
    /// Whether a rule that fails to evaluate was reported.
    warned: Cell<bool>,
    /// The template of all frames' answers, without a frame: they share one budget.
    pub(super) answers: Answers,
}

/// A function's activation, with the calls inlined into it.
#[derive(Debug)]
pub(in crate::session) struct Physical<'a> {
    /// Its resume address: the wave's PC, or the return address.
    pub(in crate::session) pc: Pc,
    /// The PC for lookups: a call is the instruction before its return address.
    pub(in crate::session) lookup: Pc,
    /// The code at that PC.
    pub(in crate::session) code: Option<Code<'a>>,
    /// The rules at that PC by the table, looked up on demand: the table of a large code object is long.
    table: OnceCell<Option<Found>>,
    /// Whether those rules were compared with the code, which reads the frame by them.
    is_compared: Cell<bool>,
    /// The rules at that PC.
    rules: OnceCell<Option<Found>>,
    /// Whether the rules of an inner frame come from the code of its function.
    pub(in crate::session) is_inferred: bool,
    /// Registers of its caller that its rules recover.
    saved: RefCell<HashMap<DwarfReg, RegisterBytes>>,
    /// The places of those registers, by its rules.
    pub(super) answers: Answers,
}

/// The code of a frame.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Code<'a> {
    /// The code object.
    pub(in crate::session) loaded: &'a Loaded,
    /// The frame's [`Physical::lookup`] as an address of the file.
    pub(in crate::session) elf: ElfAddress,
}

impl<'a> Unwinder<'a> {
    /// Starts with the wave's frame 0; without frames if its PC was not captured.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], or the operating system's error for the file.
    pub(in crate::session) fn new(reader: &'a Reader, wave: WaveId) -> Result<Self, ReadError> {
        let kind = Arc::clone(&reader.wave(wave)?.kind);
        reader.next_wave(wave);
        let pc = reader.scalar(wave, "pc")?;
        let (own, rules_left) = (RefCell::default(), Cell::new(MAX_RULES));
        let end = pc.is_none().then_some(StackEnd::PcNotCaptured);
        let mut walk = Self {
            reader,
            wave,
            kind,
            frames: Vec::new(),
            end,
            own,
            rules_left,
            warned: Cell::new(false),
            answers: Answers::default(),
        };
        if let Some(pc) = pc {
            walk.frames.push(walk.frame(Pc(pc), Pc(pc), false));
        }
        Ok(walk)
    }

    /// The frames found so far, the innermost first.
    pub(in crate::session) fn frames(&self) -> &[Physical<'a>] {
        &self.frames
    }

    /// The reason for the end of the frames, after it is reached.
    pub(in crate::session) fn end(&self) -> Option<&StackEnd> {
        self.end.as_ref()
    }

    /// A frame for the evaluator.
    pub(in crate::session) fn level(&self, level: usize) -> PhysicalFrame<'_> {
        PhysicalFrame { walk: self, level }
    }

    /// Adds the next frame outwards; `false` at the end.
    pub(in crate::session) fn step(&mut self) -> bool {
        if self.end.is_some() {
            return false;
        }
        match self.caller() {
            Ok(frame) => self.frames.push(frame),
            Err(end) => match self.caller_by_code(&end) {
                Some((rules, caller)) => {
                    if let Some(last) = self.frames.last_mut() {
                        last.rules = OnceCell::from(Some(rules));
                        last.answers = self.answers.of_same_stack();
                        last.saved = RefCell::default();
                    }
                    self.frames.push(caller);
                }
                None => self.end = Some(end),
            },
        }
        self.end.is_none()
    }

    /// The code at a PC, for the wave's agent.
    pub(in crate::session) fn code(&self, pc: Pc) -> Option<Code<'a>> {
        let dump = self.reader.dump();
        let capture = dump.capture();
        let agent = capture.wave(self.wave).map(|wave| wave.agent);
        let loaded = dump.objects().at(capture, pc.0, agent);
        loaded.map(|loaded| Code { loaded, elf: loaded.elf(pc.0) })
    }

    /// The error for a physical frame without code.
    pub(in crate::session) fn no_code(&self, level: usize) -> SourceError {
        let Some(frame) = self.frames.get(level) else {
            let wave = self.reader.wave(self.wave).map_or(self.wave.0, |wave| wave.id);
            return SourceError::NoPc { wave };
        };
        let (dump, capture, pc) = (self.reader.dump(), self.reader.dump().capture(), frame.pc);
        let agent = capture.wave(self.wave).map(|wave| wave.agent);
        SourceError::NoCode { pc, before: dump.objects().unreadable_before(capture, pc.0, agent) }
    }

    fn frame(&self, pc: Pc, lookup: Pc, is_inferred: bool) -> Physical<'a> {
        let code = self.code(lookup);
        let answers = self.answers.of_same_stack();
        Physical {
            pc,
            lookup,
            code,
            table: OnceCell::new(),
            is_compared: Cell::new(false),
            rules: OnceCell::new(),
            is_inferred,
            saved: RefCell::default(),
            answers,
        }
    }

    fn found<'f>(&self, frame: &'f Physical<'a>) -> Option<&'f Result<Rules, RulesError>> {
        if let Some(known) = frame.rules.get() {
            return known.as_deref();
        }
        let table = frame.table.get_or_init(|| self.looked_up(frame));
        if frame.is_compared.replace(true) {
            return table.as_deref();
        }
        let corrected = table.as_ref().and_then(|table| self.corrected(frame, table));
        frame.rules.get_or_init(|| corrected.or_else(|| table.clone())).as_deref()
    }

    /// The rules of call frame information, otherwise those by the code.
    fn looked_up(&self, frame: &Physical<'a>) -> Option<Found> {
        let code = frame.code?;
        let capture = self.reader.dump().capture();
        let object = code.loaded.object(capture).ok()?;
        let table = code.loaded.rules(capture, &object, code.elf, self.reader.budget());
        let lack = match &*table {
            Ok(rules) => rules.lack(),
            Err(why @ (RulesError::NoTable(_) | RulesError::NoEntry(_))) => Some(why.clone()),
            Err(_) => None,
        };
        // A kernel has no caller. Compilers write tables without rules for it.
        Some(match lack.filter(|_| !self.is_in_kernel(frame)) {
            Some(why) => self.rules_by_code(code, &why),
            None => table,
        })
    }

    /// The non-empty rules of a frame, or the reason that there are none.
    pub(super) fn rules(&self, level: usize) -> Result<&Rules, RulesError> {
        let frame = self.frames.get(level).ok_or(RulesError::NoFrame)?;
        match self.found(frame).ok_or(RulesError::NoCode)? {
            Ok(rules) if rules.row.cfa.rule != CfaRule::Unspecified => Ok(rules),
            Ok(rules) => Err(RulesError::NoCfa(rules.entry)),
            Err(why) => Err(why.clone()),
        }
    }

    /// Whether the registers of a frame's caller come from the code of functions.
    pub(in crate::session) fn is_caller_inferred(&self, level: usize) -> bool {
        self.frames.get(level).is_some_and(|frame| frame.is_inferred)
            || self.rules(level).is_ok_and(Rules::is_inferred)
    }

    /// Whether a register of a frame may have another value than its inner frames give it: a callee that returned may have
    /// changed it. Compilers rely on such a register only where they know that the callee does not change it.
    pub(in crate::session) fn is_uncertain(&self, level: usize, register: DwarfReg) -> bool {
        for callee in (0..level).rev() {
            let Ok(rules) = self.rules(callee) else { return false };
            if rules.uncertain.contains(&register) {
                return true;
            }
            match rules.row.registers.get(&register).map(|placed| &placed.rule) {
                None | Some(RegisterRule::SameValue) => {}
                Some(_) => return false,
            }
        }
        false
    }

    /// Whether call frame information of a frame has a rule for a register of its caller.
    pub(in crate::session) fn has_rule(&self, level: usize, register: DwarfReg) -> bool {
        self.rules(level).is_ok_and(|rules| rules.row.registers.contains_key(&register))
    }

    /// The caller of the outermost frame so far.
    fn caller(&self) -> Result<Physical<'a>, StackEnd> {
        let level = self.frames.len().saturating_sub(1);
        let frame = self.frames.get(level).ok_or(StackEnd::PcNotCaptured)?;
        if frame.code.is_none() {
            return Err(StackEnd::NoCodeObject { pc: frame.pc });
        }
        let found = self.found(frame);
        if let Some(Ok(Rules { row, .. })) = found
            && row.is_outermost()
        {
            return Err(StackEnd::Outermost);
        }
        if let Some(Err(RulesError::Broken(entry, error))) = found {
            return Err(self.broken(frame.pc, error, RulesOrigin::Entry(*entry)));
        }
        let none = |why: RulesError| match self.is_in_kernel(frame) {
            true => StackEnd::Outermost,
            false => StackEnd::NoUnwindInformation {
                pc: frame.pc,
                is_undecoded: why.is_undecoded(),
                why: why.named(&*self.kind),
            },
        };
        let rules = self.rules(level).map_err(none)?;
        if let Some(why) = rules.lack() {
            return Err(none(why));
        }
        self.caller_by(level, rules, &frame.answers)
    }

    /// The caller of the outermost frame so far by its function's code, if call frame information leads to no call.
    ///
    /// LLVM's call frame information is wrong in epilogues: between the reload of the vector register with the return
    /// address and the return, its rule reads the caller's data (LLVM main of 2026).
    fn caller_by_code(&self, end: &StackEnd) -> Option<(Found, Physical<'a>)> {
        let level = self.frames.len().checked_sub(1)?;
        let frame = self.frames.get(level)?;
        let rules = self.rules(level).ok()?;
        if !matches!(end, StackEnd::BadCallerPc { .. }) || rules.is_inferred() {
            return None;
        }
        let code = frame.code?;
        let why = RulesError::NoReturnAddress(rules.entry);
        let found = self.rules_by_code(code, &why);
        let by_code = found.as_ref().as_ref().ok()?;
        let caller = self.caller_by(level, by_code, &self.answers.of_same_stack()).ok()?;
        Some((found, caller))
    }

    /// The rules of a frame by its function's code; `why`: the reason that call frame information has none.
    pub(super) fn rules_by_code(&self, code: Code<'_>, why: &RulesError) -> Found {
        let codes = &self.reader.dump().objects().codes().callers;
        codes.rules(self.reader, self.wave, code.loaded, code.elf, why)
    }

    /// The caller of a frame by some rules; `answers`: of the frame with these rules.
    fn caller_by(&self, level: usize, rules: &Rules, answers: &Answers) -> Result<Physical<'a>, StackEnd> {
        let frame = self.frames.get(level).ok_or(StackEnd::PcNotCaptured)?;
        let return_address = rules.row.return_address;
        let context = self.level(level);
        let unwind = Unwind::new(&context, &rules.row, answers);
        let cfa = unwind.cfa().map_err(|error| self.broken(frame.pc, &error, rules.entry))?;
        if let Some(same) = self.same_frame(level, &cfa) {
            return Err(StackEnd::Cycle { pc: frame.pc, frame: same });
        }
        if self.frames.len() >= MAX_FRAMES {
            return Err(StackEnd::TooDeep { limit: MAX_FRAMES });
        }
        let location =
            unwind.register(return_address).map_err(|error| self.broken(frame.pc, &error, rules.entry))?;
        let pc = self.return_address(&unwind, &location, return_address)?;
        let bad = |why| Err(StackEnd::BadCallerPc { pc, why });
        if pc.0 == 0 {
            return bad(BadPc::Zero);
        }
        if !pc.0.is_multiple_of(ALIGNMENT) {
            return bad(BadPc::Unaligned);
        }
        let is_inferred = frame.is_inferred || rules.is_inferred();
        let caller = self.frame(pc, Pc(pc.0 - 1), is_inferred);
        match caller.code {
            None => bad(BadPc::NoCode),
            Some(code) => match self.not_called(code, pc) {
                Some(why) => bad(why),
                None => Ok(caller),
            },
        }
    }

    /// Whether a frame is in a kernel, by the symbol of its code.
    pub(super) fn is_in_kernel(&self, frame: &Physical<'_>) -> bool {
        let capture = self.reader.dump().capture();
        frame
            .code
            .is_some_and(|code| code.loaded.object(capture).is_ok_and(|object| object.is_in_kernel(code.elf)))
    }

    /// The reason that an address in some code is no return address of a call. LLVM's call frame information is wrong
    /// in epilogues and in realigned frames: its result there is an arbitrary number.
    fn not_called(&self, code: Code<'_>, pc: Pc) -> Option<BadPc> {
        let object = code.loaded.object(self.reader.dump().capture()).ok()?;
        let holds = |segment: &&Segment| segment.is_loaded() && segment.addresses.contains(&code.elf.0);
        if !object.segments().iter().find(holds).is_some_and(Segment::is_executable) {
            return Some(BadPc::NotExecutable);
        }
        let call = code.loaded.elf(pc.0).0.checked_sub(ALIGNMENT);
        let bytes = call.and_then(|call| object.bytes_at(ElfAddress(call), ALIGNMENT));
        let Some(bytes) = bytes.filter(|bytes| bytes.len() as u64 == ALIGNMENT) else {
            return Some(BadPc::CallUnread);
        };
        object.processor()?;
        let machine = machine(Some(&object), &self.kind);
        let one = machine.decode(0, &bytes, false).ok()?;
        let is_call = |one: &Instruction| one.control() == Some(Control::Call);
        (!one.iter().any(is_call)).then_some(BadPc::NoCall)
    }

    fn return_address(
        &self,
        unwind: &Unwind<'_>,
        location: &Location,
        register: DwarfReg,
    ) -> Result<Pc, StackEnd> {
        let lost = |why| {
            let place = print::location(location, LaneId(0), &*self.kind);
            StackEnd::CallerPcUnknown { place, why }
        };
        let value = unwind.value(register).map_err(|error| lost(error.named(&*self.kind)))?;
        if value.size() > BitSize(64) {
            return Err(lost(format!("it has {} bits", value.size())));
        }
        Ok(Pc(value.low().get(LaneId(0))))
    }

    fn broken(&self, pc: Pc, error: &dwarf::Error, origin: RulesOrigin) -> StackEnd {
        match origin {
            RulesOrigin::Entry(entry) => {
                let why = error.named(&*self.kind);
                let (section, offset) = (entry.section.to_string(), entry.offset);
                StackEnd::CallFrame { section, entry: offset, instruction: error.at.0, why }
            }
            // The rules have no source that a user can look up: the cause alone counts.
            RulesOrigin::Code(_) => {
                let cause = error.cause.root().named(&*self.kind);
                StackEnd::NoUnwindInformation { pc, why: format!("{origin}: {cause}"), is_undecoded: false }
            }
        }
    }

    /// The error of a frame's rule for a register. A rule by code has no source that a user can look up: its innermost
    /// cause alone counts.
    pub(super) fn by_code(&self, level: usize, error: dwarf::Error) -> dwarf::Error {
        match self.rules(level).is_ok_and(Rules::is_inferred) {
            true => dwarf::Error { at: ExprOffset(0), op: SAVED, cause: error.cause.root().clone() },
            false => error,
        }
    }

    /// An earlier frame with the PC and the CFA of this one: their callers repeat without end.
    fn same_frame(&self, level: usize, cfa: &Location) -> Option<usize> {
        let here = self.frames.get(level)?;
        let place = |location: &Location| match location.storage {
            Storage::Memory { space, .. } => Some((space, location.offset.get(LaneId(0)))),
            _ => None,
        };
        let alike = self.frames.iter().take(level).enumerate().filter(|(_, frame)| frame.pc == here.pc);
        let mut alike = alike.map(|(earlier, _)| earlier);
        alike.find(|earlier| {
            let context = self.level(*earlier);
            let other = context.unwind().ok().and_then(|unwind| unwind.cfa().ok());
            other.is_some_and(|other| place(&other) == place(cfa))
        })
    }

    /// Reads a register of a frame into cleared storage. The level past the last frame is that of its caller.
    pub(super) fn read_register(&self, level: usize, register: DwarfReg, into: &mut RegisterBytes) {
        into.clear();
        let mut level = level;
        // A register that keeps its value has the inner frame's value.
        while let Some(callee) = level.checked_sub(1) {
            if self.is_pc(register)
                && let Some(frame) = self.frames.get(level)
            {
                fill(into, &frame.pc.0.to_le_bytes());
                return;
            }
            let Ok(rules) = self.rules(callee) else { return };
            match rules.row.registers.get(&register).map(|placed| &placed.rule) {
                None | Some(RegisterRule::SameValue) => level = callee,
                Some(_) => return self.read_saved(callee, rules, register, into),
            }
        }
        if let Err(error) = self.read_own(register, into) {
            log::warn!("{error}");
        }
    }

    fn is_pc(&self, register: DwarfReg) -> bool {
        let found = self.kind.dwarf(register).ok().map(|known| known.id);
        found.is_some() && found == self.kind.named("pc").map(|pc| pc.id)
    }

    /// The wave's register of a DWARF number, if it has one.
    fn read_own(&self, register: DwarfReg, into: &mut RegisterBytes) -> Result<(), ReadError> {
        let Ok(known) = self.kind.dwarf(register) else { return Ok(()) };
        let mut read = self.own.borrow_mut();
        let value = match read.entry(known.id) {
            Entry::Occupied(value) => value.into_mut(),
            Entry::Vacant(capacity) => capacity.insert(self.reader.register(self.wave, known.id)?),
        };
        fill(into, value.bytes());
        into.known = value.known();
        Ok(())
    }

    /// The caller's value of a register by a frame's rule.
    fn read_saved(&self, level: usize, rules: &Rules, register: DwarfReg, into: &mut RegisterBytes) {
        let Some(frame) = self.frames.get(level) else { return };
        if let Some(known) = frame.saved.borrow().get(&register) {
            into.clone_from(known);
            return;
        }
        match self.evaluate_saved(frame, level, rules, register, into) {
            Ok(()) => {}
            Err(error) => {
                into.clear();
                // A rule needs a register that an inner frame has lost.
                if let Some(origin) = error.cause.lost() {
                    (into.undefined, into.origin) = (u64::MAX, Some(*origin));
                } else {
                    let words = error.named(&*self.kind);
                    // Missing data is no fault of the table. One warning a stack is enough for a fault.
                    let is_fault = error.class() != Class::Unavailable && !self.warned.replace(true);
                    let severity = if is_fault { log::Level::Warn } else { log::Level::Debug };
                    let name =
                        self.kind.dwarf_name(register).unwrap_or_else(|| format!("register {register}"));
                    log::log!(severity, "{name} of the caller of frame {level}: {words}");
                }
            }
        }
        frame.saved.borrow_mut().insert(register, into.clone());
    }

    fn evaluate_saved(
        &self,
        frame: &Physical<'a>,
        level: usize,
        rules: &Rules,
        register: DwarfReg,
        into: &mut RegisterBytes,
    ) -> Result<(), dwarf::Error> {
        let context = self.level(level);
        let fail = |cause| dwarf::Error { at: ExprOffset(0), op: SAVED, cause };
        let Some(left) = self.rules_left.get().checked_sub(1) else {
            let (what, limit) = ("rules of call frame information", u64::from(MAX_RULES));
            return Err(fail(Cause::Limit { what, limit }));
        };
        self.rules_left.set(left);
        let size = context.register_size(register).map_err(|why| fail(why.into()))?;
        let location = Unwind::new(&context, &rules.row, &frame.answers).register(register)?;
        let bits = fetch(&context, &location, None, size)?;
        fill(into, bits.bytes());
        for dword in 0..size.0.div_ceil(32).min(64) {
            let bytes = dword as usize * 4..(dword as usize * 4 + 4).min(bits.bytes().len());
            let any =
                |mask: &[u8]| mask.get(bytes.clone()).is_some_and(|mask| mask.iter().any(|bits| *bits != 0));
            let (undefined, missing) = (any(bits.undefined()), any(bits.not_captured()));
            into.undefined |= u64::from(undefined) << dword;
            into.known &= !(u64::from(undefined || missing) << dword);
        }
        into.origin = match location.storage {
            Storage::Undefined(origin) => origin,
            _ => None,
        };
        Ok(())
    }
}

/// Puts known bytes at the start of a register.
fn fill(into: &mut RegisterBytes, bytes: &[u8]) {
    for (to, from) in into.bytes.iter_mut().zip(bytes) {
        *to = *from;
    }
    let dwords = bytes.len().div_ceil(4);
    into.known = if dwords >= 64 { u64::MAX } else { (1 << dwords) - 1 };
}
