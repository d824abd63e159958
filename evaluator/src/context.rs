//! The [`Context`] of an evaluation: everything that an expression depends on.
//!
//! It is the "DWARF expression evaluation context" of the specifications without the lane: each evaluation takes a set of lanes.
//! The evaluator may repeat a read. The implementer decides what a read returns, for example a layer of changes above a capture.

use std::sync::Arc;

use super::budget::Budget;
use super::error::ContextError;
use super::location::{Frame, Location};
use super::operation::{Operation, Placed, Program};
use super::origin::Origin;
use super::value::BaseType;
use crate::units::{Address, AddressSpace, BitSize, DieOffset, DwarfReg, LaneId, Pc, WaveSize};

/// An answer of the context.
pub type Answer<T> = Result<T, ContextError>;

/// The dependence of an address space on the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneNeed {
    /// Nothing: the space is the same for every lane.
    None,
    /// The focused lane, at once: private memory of the lane.
    Now,
    /// The focused lane, but only if it is read through a private aperture: the generic space.
    WhenRead,
    /// Nothing, because the space itself names a lane, which the wave must have.
    Fixed(LaneId),
}

/// An address space of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpaceInfo {
    /// Size of its addresses in bits: 32 or 64.
    pub address_bits: u8,
    /// Its dependence on the lane.
    pub lane: LaneNeed,
}

/// A buffer for a whole register and the marks of its known dwords, filled by [`Machine::read_register`].
#[derive(Clone)]
pub struct RegisterBytes {
    /// The bytes, least significant first; lane 0 first for vector registers.
    pub bytes: [u8; RegisterBytes::MAX],
    /// Bit N: dword N of `bytes` is known. Bytes of other dwords mean nothing.
    pub known: u64,
    /// Bit N: dword N, which is not known, is nowhere: a caller's value that the callee did not keep.
    pub undefined: u64,
    /// The operation or rule that made dwords undefined, if known.
    pub origin: Option<Origin>,
}

impl RegisterBytes {
    /// Bytes of the widest register: a dword for each of 64 lanes.
    pub const MAX: usize = 256;

    /// Nothing known.
    #[must_use]
    pub fn unknown() -> Self {
        Self { bytes: [0; Self::MAX], known: 0, undefined: 0, origin: None }
    }

    /// Makes every dword unknown.
    #[inline]
    pub fn clear(&mut self) {
        (self.known, self.undefined, self.origin) = (0, 0, None);
    }

    /// Sets the first bytes of the register and makes their dwords known, a partial last one too; returns how many bytes it
    /// took, at most [`Self::MAX`].
    #[inline]
    pub fn fill(&mut self, bytes: &[u8]) -> usize {
        let length = bytes.len().min(Self::MAX);
        if let (Some(to), Some(from)) = (self.bytes.get_mut(..length), bytes.get(..length)) {
            to.copy_from_slice(from);
        }
        self.known |= super::value::low_mask(length.div_ceil(4) as u32);
        length
    }

    /// Whether all of these bits are known.
    #[inline]
    #[must_use]
    pub fn knows(&self, first_bit: u64, bits: u64) -> bool {
        let Some(last) = bits.checked_sub(1).and_then(|less| first_bit.checked_add(less)) else {
            return true;
        };
        let (low, high) = (first_bit / 32, last / 32);
        high < 64 && {
            let count = high - low + 1;
            let mask = if count >= 64 { u64::MAX } else { (1 << count) - 1 } << low;
            self.known & mask == mask
        }
    }

    /// Up to 64 bits from a bit offset on; bits beyond the register are 0.
    #[inline]
    #[must_use]
    pub fn extract(&self, first_bit: u64, bits: u32) -> u64 {
        let byte = (first_bit / 8) as usize;
        let shift = (first_bit % 8) as u32;
        // A dword of a lane is what is read most, by far.
        if let (0, 32, Some([a, b, c, d])) = (shift, bits, self.bytes.get(byte..byte.saturating_add(4))) {
            return u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
        }
        let mut word = [0u8; 16];
        for (to, from) in word.iter_mut().zip(self.bytes.iter().skip(byte).take(9)) {
            *to = *from;
        }
        (u128::from_le_bytes(word) >> shift) as u64 & super::value::low_mask(bits)
    }
}

impl std::fmt::Debug for RegisterBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RegisterBytes(known {:#x})", self.known)
    }
}

/// Memory to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAt {
    /// The address space.
    pub space: AddressSpace,
    /// The lane captured when the location was formed, for spaces that depend on it.
    pub lane: Option<LaneId>,
    /// The first byte.
    pub address: Address,
}

/// A reference to a debugging information entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DieRef {
    /// An offset within the unit that the expression belongs to.
    Unit(DieOffset),
    /// An offset in `.debug_info`.
    Section(DieOffset),
}

impl DieRef {
    /// The offset, whatever it is relative to.
    #[must_use]
    pub fn offset(self) -> DieOffset {
        match self {
            Self::Unit(offset) | Self::Section(offset) => offset,
        }
    }
}

/// The location of an entry.
#[derive(Clone, Debug)]
pub enum DieLocation {
    /// It has neither `DW_AT_location` nor `DW_AT_const_value`.
    None,
    /// Its `DW_AT_location`, or the entry of its location list for the program location.
    Expression(Arc<Program>),
    /// Its location list has no entry for the program location.
    NotHere,
    /// Its `DW_AT_const_value`.
    ConstValue(Arc<[u8]>),
}

/// A debugging information entry, as `DW_OP_call*` and implicit pointers use it.
#[derive(Clone, Debug)]
pub struct Die {
    /// Whether its tag is `DW_TAG_dwarf_procedure`, which shares its caller's stack.
    pub is_procedure: bool,
    /// Its location.
    pub location: DieLocation,
}

/// An attribute that is a constant or an expression.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// A constant.
    Constant(u64),
    /// An expression.
    Expression(Arc<Program>),
}

/// A `DW_TAG_object_map` entry (DWARF issue 230712.4): where the elements of an array are while segments of it are in
/// vector registers.
#[derive(Clone, Debug)]
pub struct ObjectMap {
    /// Where the array is in memory.
    pub mem_location: Attribute,
    /// Which chunk of the array is in registers, counted from 1 up; 0 for none.
    pub cntl_ordinal: Attribute,
    /// The vector register.
    pub vec_location: Attribute,
    /// Bytes of an element.
    pub element_size: Attribute,
    /// Elements of a chunk.
    pub element_count: Attribute,
    /// The code where the map holds, as half-open ranges, of which an empty one holds nothing; without any range it holds
    /// everywhere.
    pub ranges: Vec<(Pc, Pc)>,
}

/// Where a function's frame begins, in the units of its stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStart {
    /// At 0: the frame of a kernel.
    Zero,
    /// At the contents of that register.
    Register(DwarfReg),
    /// At the contents of a register of 32 bits, moved and rounded: `(register + add) & mask`.
    Rounded {
        /// The register.
        register: DwarfReg,
        /// The addend.
        add: u32,
        /// The bits that are kept.
        mask: u32,
    },
}

/// The register from which the objects of a function's frame are counted.
#[derive(Clone, Debug)]
pub struct FrameRegister {
    /// The register that `DW_AT_frame_base` names, or the calling convention's where a kernel has no such attribute.
    pub register: Option<DwarfReg>,
    /// The stack pointer of the calling convention.
    pub stack: Option<DwarfReg>,
    /// Where the frame begins at the program location, or why that is not known.
    pub start: Answer<FrameStart>,
    /// Of a frame whose start is rounded up: how its objects are laid out.
    pub realigned: Option<Realigned>,
}

/// Objects of a frame whose start is rounded up. Arguments on the stack are counted from the stack pointer at the function's
/// entry, though their offsets have the form of the function's own objects, which follow them.
#[derive(Clone, Debug)]
pub struct Realigned {
    /// Where the arguments begin at the program location, or why that is not known.
    pub arguments: Answer<FrameStart>,
    /// Up to this offset objects are arguments.
    pub last_argument: Option<u32>,
    /// From this offset on objects are the function's own.
    pub first_own: Option<u32>,
}

impl FrameRegister {
    /// The origin of an object at an offset.
    ///
    /// # Errors
    /// It is not known; the error has the reason.
    pub fn origin(&self, offset: i64) -> Answer<FrameStart> {
        let Some(realigned) = &self.realigned else { return self.start.clone() };
        let is_argument = realigned.last_argument.is_some_and(|last| offset <= i64::from(last));
        let is_own = realigned.first_own.is_some_and(|first| offset >= i64::from(first));
        match (is_argument, is_own) {
            (true, false) => realigned.arguments.clone(),
            (false, true) => self.start.clone(),
            _ => Err(ContextError::not_captured(
                "the function rounds its frame pointer up, and its code does not show whether the object is an argument on the \
                 stack or one of its own",
            )),
        }
    }
}

/// Everything an expression may depend on, but for the lane, in three parts by what they belong to. A type with all three parts is
/// a context; a decorator implements the parts that it changes, and passes on the others of another context.
pub trait Context {
    /// The registers and memory of the wave.
    fn machine(&self) -> &dyn Machine;

    /// The call frame that the expression is evaluated in.
    fn call_frame(&self) -> &dyn CallFrame;

    /// The unit that the expression belongs to.
    fn unit(&self) -> &dyn Unit;
}

impl<T: Machine + CallFrame + Unit> Context for T {
    fn machine(&self) -> &dyn Machine {
        self
    }

    fn call_frame(&self) -> &dyn CallFrame {
        self
    }

    fn unit(&self) -> &dyn Unit {
        self
    }
}

/// The registers and memory of a wave.
pub trait Machine {
    /// How many lanes the wave has.
    fn wave_size(&self) -> WaveSize;

    /// An address space; `None` if the target reserves or lacks the number.
    fn space(&self, space: AddressSpace) -> Option<SpaceInfo>;

    /// Size of a register.
    ///
    /// # Errors
    /// Why the wave has no register of this number.
    fn register_size(&self, register: DwarfReg) -> Answer<BitSize>;

    /// Reads a whole register of a frame into a cleared buffer. Dwords that it marks neither as known nor as undefined were
    /// not captured.
    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes);

    /// Reads memory; returns how many bytes from the start on were captured and are now in `into`.
    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize;

    /// The length of the gap that begins with a byte that [`Self::read_memory`] cannot read, at least 1. The evaluator tries the
    /// byte after it.
    fn missing_memory(&self, at: MemoryAt) -> u64 {
        let _ = at;
        1
    }

    /// The budget that all evaluations of a question share; `None`: each evaluation has its own bounds only.
    fn budget(&self) -> Option<&Budget> {
        None
    }
}

/// The call frame of an expression: its function, its program location and its caller. Only [`Self::pc`] has no default: the
/// defaults answer that a frame has none of the others.
pub trait CallFrame {
    /// The program location.
    fn pc(&self) -> Option<Pc>;

    /// The object that `DW_OP_push_object_address` pushes.
    ///
    /// # Errors
    /// There is none.
    fn object(&self) -> Answer<Location> {
        Err(ContextError::not_captured("no object is being evaluated"))
    }

    /// The `DW_AT_frame_base` of the function, for the program location.
    ///
    /// # Errors
    /// There is none.
    fn frame_base(&self) -> Answer<Arc<Program>> {
        Err(ContextError::absent("the function has no DW_AT_frame_base"))
    }

    /// The register that the objects of the function's frame are counted from; `None` where the frame base is something else.
    fn frame_register(&self) -> Option<FrameRegister> {
        let program = self.frame_base().ok()?;
        match program.operations() {
            [Placed { operation: Operation::Register(register), .. }] => Some(FrameRegister {
                register: Some(*register),
                stack: None,
                start: Ok(FrameStart::Register(*register)),
                realigned: None,
            }),
            _ => None,
        }
    }

    /// The canonical frame address.
    ///
    /// # Errors
    /// It is not known; the error has the reason.
    fn cfa(&self) -> Answer<Location> {
        Err(ContextError::not_captured("no call frame information"))
    }

    /// The function's `DW_AT_LLVM_lanes`; `None` if it has no such attribute.
    ///
    /// # Errors
    /// It cannot be known; the error has the reason.
    fn lanes(&self) -> Answer<Option<Attribute>> {
        Ok(None)
    }

    /// Where the caller's value of a register is: for `DW_OP_LLVM_call_frame_entry_reg`.
    ///
    /// # Errors
    /// It is not known; the error has the reason.
    fn entry_register(&self, register: DwarfReg, size: BitSize) -> Answer<Location> {
        Ok(Location::register_of(register, Frame::Caller, size))
    }

    /// The address in the process of an address in the file: adds the load bias.
    ///
    /// # Errors
    /// It is not known where the file was loaded.
    fn loaded(&self, address: u64) -> Answer<u64> {
        Ok(address)
    }
}

/// The unit of an expression: the entries and tables that operations refer to. The defaults answer that there are none.
pub trait Unit {
    /// A debugging information entry.
    ///
    /// # Errors
    /// There is none, or its location cannot be chosen or decoded.
    fn die(&self, die: DieRef) -> Answer<Die> {
        Err(ContextError::absent(format!("no DIE at {}", die.offset())))
    }

    /// A base type of the unit.
    ///
    /// # Errors
    /// The offset is not that of a base type.
    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        Err(ContextError::absent(format!("no base type at {die}")))
    }

    /// The address at an index of the unit's part of `.debug_addr`, as the file has it.
    ///
    /// # Errors
    /// There is none.
    fn debug_addr(&self, index: u64) -> Answer<u64> {
        Err(ContextError::absent(format!("no address {index} in .debug_addr")))
    }

    /// A `DW_TAG_object_map` of the unit.
    ///
    /// # Errors
    /// There is none.
    fn object_map(&self, die: DieOffset) -> Answer<Arc<ObjectMap>> {
        Err(ContextError::absent(format!("no object map at {die}")))
    }
}
