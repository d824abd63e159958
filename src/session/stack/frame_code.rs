//! Start of a frame at a wave's PC, by the effect of the function's code on its stack registers. One cache serves all
//! code objects.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::arch::{Generation, WaveArch};
use crate::codeobject::{CodeObject, ElfAddress};
use crate::debuginfo::{self, Function};
use crate::dwarf::clang_xderef::Idiom;
use crate::dwarf::{
    Budget, Cause, ContextError, FrameRegister, FrameStart, Operation, Placed, Program, Realigned,
};
use crate::isa::{self, FRAME_POINTER, FrameCode, FunctionCode, STACK_POINTER, UndecidedError};
use crate::session::disassembly::{ObjectCodeError, instructions, target};
use crate::session::error::SourceError;
use crate::session::objects::Codes;
use crate::session::stack::frame::FrameContext;
use crate::session::{Inferred, InferredBy, Provenance};
use crate::units::{BitSize, DieOffset, DwarfReg};

/// Maximum number of cached functions, over all code objects; past this the cache starts anew.
const MAX_CACHED: usize = 4096;

/// Maximum number of address spans of those functions together: in hostile code each dword is one.
const MAX_CACHED_SPANS: usize = 1 << 18;

/// Maximum bytes of an analysed function.
const MAX_FUNCTION_CODE: u64 = 1 << 20;
/// Units of work for each dword of followed function code: its state may change several times, and an instruction takes
/// longer than an operation.
const CODE_DWORD_WORK: u64 = 16;
/// Free units of work for each function's code: those of 1,024 dwords.
const OWN_CODE_WORK: u64 = 1024 * CODE_DWORD_WORK;

/// The frames of one function.
#[derive(Clone, Debug)]
pub(in crate::session) struct Known {
    is_kernel: bool,
    /// Bytes of a lane's private memory by the kernel's descriptor; `None`: no kernel, or its bytes are missing.
    private_bytes: Option<u32>,
    /// Whether its GPU has dynamic VGPRs, or is unknown.
    has_dynamic_vgprs: bool,
    code: Result<Arc<FrameCode>, FrameCodeError>,
}

/// The reason that the start of a function's frames is unknown.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::session) enum FrameCodeError {
    #[error(transparent)]
    Frame(#[from] SourceError),
    #[error("the function has no first address")]
    NoStart,
    #[error("the function has more than 1 MiB of code")]
    TooLong,
    #[error(transparent)]
    Object(#[from] ObjectCodeError),
    /// The question's budget is spent.
    #[error(transparent)]
    Budget(#[from] Cause),
    /// The effect of the code on the stack registers is unknown.
    #[error(transparent)]
    Code(#[from] UndecidedError),
}

/// Results for all code objects of a dump.
#[derive(Debug, Default)]
pub(in crate::session) struct FrameCodes(Mutex<Cached>);

#[derive(Debug, Default)]
struct Cached {
    /// Results by the first code object of the file (index), the function's DIE and its frame base's register.
    /// Functions may share a start and differ in their ends.
    known: HashMap<(usize, DieOffset, u8), Arc<Known>>,
    spans: usize,
}

impl FrameCodes {
    /// The frames of a function; `None` if it has no first address. A result that `budget` cut short is not cached:
    /// another question has another budget.
    pub(in crate::session) fn of(
        codes: &Codes,
        index: usize,
        object: &CodeObject,
        function: &Function,
        register: u8,
        kind: &WaveArch,
        budget: &Budget,
    ) -> Option<Arc<Known>> {
        let start = function.low_pc()?;
        let key = (index, function.scopes.first()?.die, register);
        // Entries are inserted whole, so that a panic of a thread with the lock leaves them valid.
        let lock = || codes.frames.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().known.get(&key) {
            return Some(Arc::clone(known));
        }
        let is_kernel = object.is_kernel_entry(start);
        let known = Known {
            is_kernel,
            private_bytes: object.descriptor_of_entry(start).map(|kernel| kernel.private_segment_fixed_size),
            has_dynamic_vgprs: object.processor().is_none_or(|known| known.generation >= Generation::Gfx12),
            code: Err(FrameCodeError::NoStart),
        };
        let size = size(function);
        if size <= MAX_FUNCTION_CODE
            && let Err(spent) = budget.take((size / 4).saturating_mul(CODE_DWORD_WORK), OWN_CODE_WORK)
        {
            return Some(Arc::new(Known { code: Err(spent.into()), ..known }));
        }
        let code = read(codes, object, kind, function, register, is_kernel);
        let spans = code.as_ref().map_or(0, |code| code.spans());
        let known = Arc::new(Known { code, ..known });
        let mut cached = lock();
        if cached.known.len() >= MAX_CACHED || cached.spans.saturating_add(spans) > MAX_CACHED_SPANS {
            *cached = Cached::default();
        }
        cached.spans = cached.spans.saturating_add(spans);
        Some(Arc::clone(cached.known.entry(key).or_insert(known)))
    }
}

/// Bytes of an object at a frame offset, by the operations after the offset; `size`: of the whole variable.
fn extent(after: &[Placed], size: Option<BitSize>) -> u64 {
    let ends = |placed: &&Placed| matches!(placed.operation, Operation::Piece(_) | Operation::Deref { .. });
    match after.iter().find(ends).map(|placed| &placed.operation) {
        Some(Operation::Piece(bytes)) => *bytes,
        Some(Operation::Deref { bytes }) => u64::from(*bytes),
        _ => size.map_or(1, |size| size.0.div_ceil(8)),
    }
}

fn ranges(function: &Function) -> &[Range<ElfAddress>] {
    function.scopes.first().map_or(&[][..], |scope| &scope.ranges)
}

/// Bytes of a function's code; overlapping ranges count twice.
fn size(function: &Function) -> u64 {
    let sizes = ranges(function).iter().map(|range| range.end.0.saturating_sub(range.start.0));
    sizes.fold(0, u64::saturating_add)
}

fn read(
    codes: &Codes,
    object: &CodeObject,
    kind: &WaveArch,
    function: &Function,
    register: u8,
    is_kernel: bool,
) -> Result<Arc<FrameCode>, FrameCodeError> {
    if size(function) > MAX_FUNCTION_CODE {
        return Err(FrameCodeError::TooLong);
    }
    let entry = function.low_pc().ok_or(FrameCodeError::NoStart)?.0;
    let code = &*instructions(&codes.decoded, object, kind, ranges(function))?;
    let target = target(object, kind);
    let function = FunctionCode { code, entry, target, frame_register: register, is_kernel };
    Ok(Arc::new(FrameCode::read(function)?))
}

/// The base register of a function's frame, and the validity of that base at the wave's PC.
struct Found {
    register: FrameRegister,
    /// Whether that register leads to the frame: the prologue sets it first.
    is_held: Result<(), ContextError>,
}

impl FrameContext<'_> {
    /// The answer to [`crate::dwarf::CallFrame::frame_register`].
    pub(in crate::session) fn known_frame_register(&self) -> Option<FrameRegister> {
        self.frame_found().map(|found| found.register)
    }

    /// The reason to reject an expression that reads the frame register at a PC where it is still the caller's.
    pub(in crate::session) fn unset_frame(&self, program: &Program) -> Result<(), ContextError> {
        let reads = |placed: &Placed, register: DwarfReg| match placed.operation {
            Operation::Register(read) => read == register,
            Operation::BaseRegister { register: read, .. }
            | Operation::AspaceBregx { register: read, .. }
            | Operation::RegvalType { register: read, .. } => read == register,
            _ => false,
        };
        match self.frame_found() {
            Some(Found { register: FrameRegister { register: Some(register), .. }, is_held })
                if program.operations().iter().any(|placed| reads(placed, register)) =>
            {
                is_held
            }
            _ => Ok(()),
        }
    }

    /// The way in which a location of an idiom was found.
    pub(in crate::session) fn provenance(&self, program: &Program, idiom: Idiom) -> Provenance {
        let provenance = Provenance::of(Some(idiom));
        let mut inferred = provenance.inferred.or(self.unwound_for(program));
        let is_based = |placed: &Placed| match placed.operation {
            Operation::FrameBase(_) => true,
            Operation::BaseRegister { register, .. } => {
                self.known_frame_register().is_some_and(|frame| frame.register == Some(register))
            }
            _ => false,
        };
        if program.operations().iter().any(is_based)
            && let Some(found) = self.frame_found()
        {
            match (found.register.register, found.register.start) {
                (None, Ok(_)) => inferred = inferred.with(InferredBy::KernelFrame),
                (Some(_), Ok(_)) if found.is_held.is_err() => {
                    inferred = inferred.with(InferredBy::FrameCode);
                }
                _ => {}
            }
        }
        Provenance { inferred, ..provenance }
    }

    /// The inferences of the stack as far as this frame.
    pub(in crate::session) fn unwound(&self) -> Inferred {
        let frame = self.level.walk().frames().get(self.level.number());
        match frame.is_some_and(|frame| frame.is_inferred) {
            true => Inferred::NONE.with(InferredBy::CallerCode),
            false => Inferred::NONE,
        }
    }

    /// [`Self::unwound`] for a location: memory of static storage is the same in all frames.
    pub(in crate::session) fn unwound_for(&self, program: &Program) -> Inferred {
        let operations = || program.operations().iter().map(|placed| &placed.operation);
        let is_static = operations().any(|one| matches!(one, Operation::Addr(_) | Operation::Addrx(_)))
            && operations().all(|one| {
                matches!(
                    one,
                    Operation::Addr(_)
                        | Operation::Addrx(_)
                        | Operation::Constant(_)
                        | Operation::PlusUconst(_)
                        | Operation::Swap
                        | Operation::Xderef { .. }
                        | Operation::FormAspaceAddress
                )
            });
        if is_static { Inferred::NONE } else { self.unwound() }
    }

    /// Checks the conditions under which the objects of a kernel without `DW_AT_frame_base` begin at 0.
    ///
    /// LLVM, `SIFrameLowering::hasFPImpl`: a kernel needs no frame pointer, because it is known to be 0. The exception is
    /// dynamic VGPR mode. `size`: of the whole object.
    ///
    /// # Errors
    /// The object is outside of the kernel's private memory, or the kernel may keep other memory below its frame.
    pub(in crate::session) fn check_kernel_frame(
        &self,
        program: &Program,
        size: Option<BitSize>,
    ) -> Result<(), Cause> {
        let Ok(at) = &self.function else { return Ok(()) };
        let operations = program.operations();
        let is_slot = |placed: &Placed| matches!(placed.operation, Operation::FrameBase(_));
        if at.frame_base != debuginfo::Location::None || !operations.iter().any(is_slot) {
            return Ok(());
        }
        let Ok((known, _)) = self.known_code(FRAME_POINTER, &at.function) else { return Ok(()) };
        if !known.is_kernel {
            return Ok(());
        }
        let refused = |why: String| Err(ContextError::not_captured(why).into());
        match &known.code {
            Ok(code) if known.has_dynamic_vgprs && code.reserves_memory() => {
                return refused(
                    "the kernel computes s33, as in dynamic VGPR mode: where its frame begins is not known"
                        .to_owned(),
                );
            }
            Err(why) if known.has_dynamic_vgprs => {
                return refused(format!("whether the kernel's frame begins at 0 is not known: {why}"));
            }
            _ => {}
        }
        let Some(private) = known.private_bytes else {
            return refused(
                "the kernel's descriptor, which has the size of its private memory, is missing".to_owned(),
            );
        };
        for (index, placed) in operations.iter().enumerate() {
            let Operation::FrameBase(offset) = placed.operation else { continue };
            let bytes = extent(operations.get(index + 1..).unwrap_or_default(), size);
            let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(bytes));
            if end.is_none_or(|end| end > u64::from(private)) {
                return refused(format!(
                    "{bytes} bytes at offset {offset} are outside of the kernel's {private} bytes of private memory"
                ));
            }
        }
        Ok(())
    }

    fn frame_found(&self) -> Option<Found> {
        let kind = self.kind();
        let at = self.function.as_ref().ok()?;
        let number = |register: u8| kind.sgpr(register)?.dwarf;
        let stack = number(STACK_POINTER);
        let named = match &at.frame_base {
            debuginfo::Location::None => None,
            location => match self.decode(location.expression()?).ok()?.operations() {
                [Placed { operation: Operation::Register(register), .. }] => Some(*register),
                _ => return None,
            },
        };
        let found = |register, start, is_held| Found {
            register: FrameRegister { register: Some(register), stack, start, realigned: None },
            is_held,
        };
        let index = match named {
            // The compiler may choose any other register: no facts about it are known.
            Some(register) => match kind.sgpr_number(register) {
                Some(index) if FrameCode::follows(index) => index,
                Some(_) => return Some(found(register, Ok(FrameStart::Register(register)), Ok(()))),
                None => return None,
            },
            None => FRAME_POINTER,
        };
        let known = self.known_code(index, &at.function);
        let Some(named) = named else {
            // A kernel's objects have offsets from 0; without the attribute no register holds that base.
            let start = Ok(FrameStart::Zero);
            let register = FrameRegister { register: None, stack, start, realigned: None };
            return known.is_ok_and(|known| known.0.is_kernel).then_some(Found { register, is_held: Ok(()) });
        };
        let missing = |why: &dyn Display| {
            ContextError::not_captured(format!("where the frame begins is not known: {why}"))
        };
        let code = known.and_then(|(known, elf)| Ok((known.code.clone()?, elf)));
        let (frame, elf) = match code {
            Ok(code) => code,
            // Unfollowable code may be before the prologue's end or after the epilogue's start.
            Err(why) => return Some(found(named, Err(missing(&why)), Err(missing(&why)))),
        };
        let other = |index: u8| number(index).ok_or_else(|| missing(&"no such register"));
        let translated = |start| match start {
            isa::FrameStart::Zero => Ok(FrameStart::Zero),
            isa::FrameStart::Register(index) => other(index).map(FrameStart::Register),
            isa::FrameStart::Rounded { register, add, mask } => {
                other(register).map(|register| FrameStart::Rounded { register, add, mask })
            }
            isa::FrameStart::Unknown(why) => Err(missing(&why)),
        };
        let start = translated(frame.at(elf.0));
        let is_held = match frame.is_held(elf.0) {
            true => Ok(()),
            false => Err(ContextError::not_captured(format!(
                "DW_AT_frame_base names s{index}, which does not hold the start of the frame at this PC"
            ))),
        };
        let realigned = frame.objects(elf.0).map(|(objects, arguments)| Realigned {
            arguments: translated(arguments),
            last_argument: objects.last_argument,
            first_own: objects.first_own,
        });
        let register = FrameRegister { register: Some(named), stack, start, realigned };
        Some(Found { register, is_held })
    }

    /// The facts about a function's frames, and the PC in the code object's file.
    fn known_code(
        &self,
        register: u8,
        function: &Function,
    ) -> Result<(Arc<Known>, ElfAddress), FrameCodeError> {
        // The wave's position, also for a lane at another PC: registers have the wave's values.
        let code = self.level.code()?;
        let reader = self.level.walk().reader;
        let object = code.loaded.object(reader.dump().capture()).map_err(SourceError::from)?;
        let known = FrameCodes::of(
            reader.dump().objects().codes(),
            code.loaded.file_index(),
            &object,
            function,
            register,
            self.kind(),
            reader.budget(),
        );
        Ok((known.ok_or(FrameCodeError::NoStart)?, code.elf))
    }
}
