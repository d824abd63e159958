//! gdbstub's view of a client: its `Target` over the session.
//!
//! A passthrough architecture for bytes, because the registers of a wave depend on the dump. Reads and writes bypass
//! gdbstub (see [`super::front::router`]), whose errors have no text. Their methods exist because the traits require
//! them.

use std::convert::Infallible;

use gdbstub::arch::lldb::{Encoding, Format, Generic, Register as LldbRegister};
use gdbstub::arch::{Arch, RegId, Registers};
use gdbstub::common::{Endianness, Pid, Tid};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::MultiThreadBase;
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::host_info::{HostInfo, HostInfoOps, HostInfoResponse};
use gdbstub::target::ext::libraries::{Libraries, LibrariesOps};
use gdbstub::target::ext::lldb_register_info_override::{
    Callback, CallbackToken, LldbRegisterInfoOverride, LldbRegisterInfoOverrideOps,
};
use gdbstub::target::ext::memory_map::{MemoryMap, MemoryMapOps};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::process_info::{ProcessInfo, ProcessInfoOps, ProcessInfoResponse};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};

use super::front::reply::TEXT_BYTES;
use super::messages;
use super::packets::documents::slice;
use super::packets::{libraries, memory_map, monitor, target_xml};
use super::registers::{LANE, LLDB_STACK_POINTER, Source, X86_STACK_POINTER_DWARF};
use super::state::State;
use crate::arch::{RegClass, ValueType};
use crate::view::LANE_NUMBER;

/// Any architecture of 64 bits.
#[derive(Debug)]
pub(super) enum Passthrough {}

/// Registers in gdbstub's form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bytes(Vec<u8>);

/// A packet number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(usize);

impl Arch for Passthrough {
    type Usize = u64;
    type Registers = Bytes;
    type BreakpointKind = usize;
    type RegId = Number;
}

impl Registers for Bytes {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        0
    }

    fn gdb_serialize(&self, mut write: impl FnMut(Option<u8>)) {
        self.0.iter().for_each(|byte| write(Some(*byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.0 = bytes.to_vec();
        Ok(())
    }
}

impl RegId for Number {
    fn from_raw_id(id: usize) -> Option<(Self, Option<std::num::NonZeroUsize>)> {
        Some((Self(id), None))
    }

    fn to_raw_id(&self) -> Option<usize> {
        Some(self.0)
    }
}

impl Target for State {
    type Arch = Passthrough;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Passthrough, Infallible> {
        BaseOps::MultiThread(self)
    }

    // Run-length encoding costs more than the loopback saves, and clients show it badly in packet logs.
    fn use_rle(&self) -> bool {
        false
    }

    // A captured state never forks.
    fn use_fork_stop_reason(&self) -> bool {
        false
    }

    fn use_vfork_stop_reason(&self) -> bool {
        false
    }

    fn use_vforkdone_stop_reason(&self) -> bool {
        false
    }

    // The front owns acknowledgements.
    fn use_no_ack_mode(&self) -> bool {
        false
    }

    fn use_resume_stub(&self) -> bool {
        false
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }

    fn support_lldb_register_info_override(&mut self) -> Option<LldbRegisterInfoOverrideOps<'_, Self>> {
        Some(self)
    }

    fn support_memory_map(&mut self) -> Option<MemoryMapOps<'_, Self>> {
        Some(self)
    }

    fn support_libraries(&mut self) -> Option<LibrariesOps<'_, Self>> {
        Some(self)
    }

    fn support_host_info(&mut self) -> Option<HostInfoOps<'_, Self>> {
        Some(self)
    }

    fn support_process_info(&mut self) -> Option<ProcessInfoOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for State {
    fn read_registers(&mut self, _: &mut Bytes, _: Tid) -> TargetResult<(), Self> {
        // The front answers `g`.
        Err(TargetError::NonFatal)
    }

    fn write_registers(&mut self, _: &Bytes, _: Tid) -> TargetResult<(), Self> {
        // The front answers `G`.
        Err(TargetError::NonFatal)
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, _: u64, _: &mut [u8], _: Tid) -> TargetResult<usize, Self> {
        // The front answers `m`.
        Err(TargetError::NonFatal)
    }

    fn write_addrs(&mut self, _: u64, _: &[u8], _: Tid) -> TargetResult<(), Self> {
        // The front answers `M` and `X`.
        Err(TargetError::NonFatal)
    }

    fn list_active_threads(&mut self, active: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        // The front lists threads. gdbstub requires one thread, and lists all of them to find it.
        let first = self.threads.all().first().map(|thread| self.number(*thread));
        let first = first.and_then(|number| usize::try_from(number).ok()).and_then(Tid::new);
        first.into_iter().for_each(active);
        Ok(())
    }

    fn is_thread_alive(&mut self, tid: Tid) -> Result<bool, Infallible> {
        Ok(self.thread_of(tid.get() as u64).is_ok())
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<Tid> for State {
    fn read_register(&mut self, _: Tid, _: Number, _: &mut [u8]) -> TargetResult<usize, Self> {
        // The front answers `p`.
        Err(TargetError::NonFatal)
    }

    fn write_register(&mut self, _: Tid, _: Number, _: &[u8]) -> TargetResult<(), Self> {
        // The front answers `P`.
        Err(TargetError::NonFatal)
    }
}

impl ThreadExtraInfo for State {
    fn thread_extra_info(&self, tid: Tid, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let thread = self.thread_of(tid.get() as u64).ok();
        let shown = thread.and_then(|thread| {
            let info = self.session.wave(thread.wave).ok()?;
            let item = self.threads.item(thread);
            Some(format!(
                "{}: {}",
                messages::name(&info, thread, item),
                messages::state_of(&info, item, messages::lane_mark(self, thread, &info).as_deref())
            ))
        });
        let text = shown.unwrap_or_else(|| "no such wave".to_owned());
        // Its hex digits pass through the same buffer.
        let length = text.len().min(buffer.len() / 2);
        buffer.iter_mut().zip(text.bytes()).take(length).for_each(|(to, from)| *to = from);
        Ok(length)
    }
}

/// A breakpoint in a state that never runs is never hit, and accepted nevertheless. After an error gdb would end
/// `continue` and `finish` with "Cannot access memory", before the server can report that nothing runs. The same holds
/// for watchpoints, where gdb would report too few hardware registers.
impl Breakpoints for State {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for State {
    fn add_sw_breakpoint(&mut self, _: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, _: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(true)
    }
}

impl HwBreakpoint for State {
    fn add_hw_breakpoint(&mut self, _: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(true)
    }

    fn remove_hw_breakpoint(&mut self, _: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(true)
    }
}

impl HwWatchpoint for State {
    fn add_hw_watchpoint(&mut self, _: u64, _: u64, _: WatchKind) -> TargetResult<bool, Self> {
        Ok(true)
    }

    fn remove_hw_watchpoint(&mut self, _: u64, _: u64, _: WatchKind) -> TargetResult<bool, Self> {
        Ok(true)
    }
}

impl MonitorCmd for State {
    fn handle_monitor_cmd(&mut self, line: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Infallible> {
        for part in monitor::run(self, line).as_bytes().chunks(TEXT_BYTES) {
            out.write_raw(part);
            out.flush();
        }
        Ok(())
    }
}

/// Copies a piece of a document into gdbstub's buffer; 0 at its end.
fn piece(document: &[u8], offset: u64, length: usize, buffer: &mut [u8]) -> TargetResult<usize, State> {
    let piece = slice(document, offset, length as u64).map_err(|fault| TargetError::Errno(fault.code))?;
    let length = piece.bytes.len().min(buffer.len());
    buffer.iter_mut().zip(piece.bytes).take(length).for_each(|(to, from)| *to = *from);
    Ok(length)
}

impl TargetDescriptionXmlOverride for State {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::Errno(0));
        }
        piece(self.documents.target.get_or_init(|| target_xml::build(self)), offset, length, buffer)
    }
}

impl MemoryMap for State {
    fn memory_map_xml(&self, offset: u64, length: usize, buffer: &mut [u8]) -> TargetResult<usize, Self> {
        piece(self.documents.memory_map.get_or_init(|| memory_map::build(self)), offset, length, buffer)
    }
}

impl Libraries for State {
    fn get_libraries(&self, offset: u64, length: usize, buffer: &mut [u8]) -> TargetResult<usize, Self> {
        piece(self.documents.libraries.get_or_init(|| libraries::build(self)), offset, length, buffer)
    }
}

impl HostInfo for State {
    fn host_info(&self, write: &mut dyn FnMut(&HostInfoResponse<'_>)) -> Result<(), Infallible> {
        // gdbstub ends the endianness with two semicolons; after them LLDB would misread the next key.
        write(&HostInfoResponse::Triple(self.facade().triple()));
        write(&HostInfoResponse::PointerSize(8));
        write(&HostInfoResponse::Endianness(Endianness::Little));
        Ok(())
    }
}

impl ProcessInfo for State {
    fn process_info(&self, write: &mut dyn FnMut(&ProcessInfoResponse<'_>)) -> Result<(), Infallible> {
        if let Some(pid) = Pid::new(1) {
            write(&ProcessInfoResponse::Pid(pid));
        }
        write(&ProcessInfoResponse::Triple(self.facade().triple()));
        write(&ProcessInfoResponse::PointerSize(8));
        write(&ProcessInfoResponse::Endianness(Endianness::Little));
        Ok(())
    }
}

impl LldbRegisterInfoOverride for State {
    fn lldb_register_info<'a>(
        &mut self,
        number: usize,
        answer: Callback<'a>,
    ) -> Result<CallbackToken<'a>, Infallible> {
        let map = self.registers();
        let Some(slot) = map.slot(number as u64) else { return Ok(answer.done()) };
        let before = map.slots().iter().take_while(|other| other.number < slot.number);
        let general = LldbRegister {
            name: "",
            alt_name: None,
            bitsize: slot.bytes * 8,
            offset: before.map(|slot| slot.bytes).sum(),
            encoding: Encoding::Uint,
            format: Format::Hex,
            set: RegClass::General.name(),
            gcc: None,
            dwarf: None,
            generic: None,
            container_regs: None,
            invalidate_regs: None,
        };
        // `target.xml` describes the type of these two.
        let token =
            map.slots().iter().find(|slot| slot.source == Source::StackPointer).map(|slot| slot.number);
        Ok(match slot.source {
            Source::Wave(id) => {
                let Some(register) = map.kind.register(id) else { return Ok(answer.done()) };
                let pc = register.value_type == ValueType::CodePointer;
                let format = if register.is_vector() { Format::VectorUInt32 } else { Format::Hex };
                answer.write(LldbRegister {
                    name: &register.name,
                    format,
                    set: register.class.name(),
                    dwarf: register.dwarf.and_then(|dwarf| usize::try_from(dwarf.0).ok()),
                    generic: pc.then_some(Generic::Pc),
                    ..general
                })
            }
            Source::StackPointer => answer.write(LldbRegister {
                name: LLDB_STACK_POINTER,
                dwarf: Some(usize::from(X86_STACK_POINTER_DWARF)),
                generic: Some(Generic::Sp),
                ..general
            }),
            Source::Lane => answer.write(LldbRegister {
                name: LANE,
                format: Format::Decimal,
                dwarf: usize::try_from(LANE_NUMBER).ok(),
                invalidate_regs: token.as_ref().map(std::slice::from_ref),
                ..general
            }),
            Source::Absent { .. } => answer.done(),
        })
    }
}
