//! The [`Context`] of an evaluation: all inputs of an expression.
//!
//! The "DWARF expression evaluation context" of the specifications without the lane: each evaluation takes a set of
//! lanes. The evaluator may repeat a read. The implementer defines its result, for example with an overlay.

use std::sync::Arc;

use super::budget::Budget;
use super::error::ContextError;
use super::location::{Frame, Location};
use super::operation::{Operation, Placed, Program};
use super::origin::Origin;
use super::value::BaseType;
use crate::units::{Address, AddressSpace, BitSize, DieOffset, DwarfReg, LaneId, Pc, WaveSize};

/// A result of the context.
pub type Answer<T> = Result<T, ContextError>;

/// The dependence of an address space on the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneNeed {
    /// The space is the same for every lane.
    None,
    /// The focused lane, when the location is formed: private memory of the lane.
    Now,
    /// The focused lane, only for reads through a private aperture: the generic space.
    WhenRead,
    /// The lane in the space's number, which the wave must have.
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

/// A buffer for a whole register with a mask of its known dwords, filled by [`Machine::read_register`].
#[derive(Clone)]
pub struct RegisterBytes {
    /// The bytes, least significant first; lane 0 first for vector registers.
    pub bytes: [u8; RegisterBytes::MAX],
    /// Bit N: dword N of `bytes` is known. Other dwords are meaningless.
    pub known: u64,
    /// Bit N: the unknown dword N has no location: a caller's value that the callee did not save.
    pub undefined: u64,
    /// The operation or rule that made dwords undefined, if known.
    pub origin: Option<Origin>,
}

impl RegisterBytes {
    /// Size of the widest register in bytes: a dword for each of 64 lanes.
    pub const MAX: usize = 256;

    /// Creates a buffer without known dwords.
    #[must_use]
    pub fn unknown() -> Self {
        Self { bytes: [0; Self::MAX], known: 0, undefined: 0, origin: None }
    }

    /// Marks every dword unknown.
    #[inline]
    pub fn clear(&mut self) {
        (self.known, self.undefined, self.origin) = (0, 0, None);
    }

    /// Sets the first bytes of the register and marks their dwords known, a partial last one too. Returns the number of
    /// bytes used, at most [`Self::MAX`].
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

    /// Returns up to 64 bits from a bit offset on; bits beyond the register are 0.
    #[inline]
    #[must_use]
    pub fn extract(&self, first_bit: u64, bits: u32) -> u64 {
        let byte = (first_bit / 8) as usize;
        let shift = (first_bit % 8) as u32;
        // Fast path: most reads are one lane's dword.
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
    /// The lane of the location, captured when it was formed, for spaces that depend on it.
    pub lane: Option<LaneId>,
    /// The first byte.
    pub address: Address,
}

/// A reference to a debugging information entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DieRef {
    /// An offset in the expression's unit.
    Unit(DieOffset),
    /// An offset in `.debug_info`.
    Section(DieOffset),
}

impl DieRef {
    /// Returns the offset, relative to either.
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
    /// Its `DW_AT_location`, or the element of its location list for the program location.
    Expression(Arc<Program>),
    /// Its location list has no element for the program location.
    NotHere,
    /// Its `DW_AT_const_value`.
    ConstValue(Arc<[u8]>),
}

/// A debugging information entry, the target of `DW_OP_call*` and implicit pointers.
#[derive(Clone, Debug)]
pub struct Die {
    /// Whether its tag is `DW_TAG_dwarf_procedure`, which shares its caller's stack.
    pub is_procedure: bool,
    /// Its location.
    pub location: DieLocation,
}

/// An attribute with a constant or an expression.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// A constant.
    Constant(u64),
    /// An expression.
    Expression(Arc<Program>),
}

/// A `DW_TAG_object_map` entry (DWARF issue 230712.4): locations of array elements while chunks are in vector
/// registers.
#[derive(Clone, Debug)]
pub struct ObjectMap {
    /// Location of the array in memory.
    pub mem_location: Attribute,
    /// The chunk of the array in registers, counted from 1; 0 for none.
    pub cntl_ordinal: Attribute,
    /// The vector register.
    pub vec_location: Attribute,
    /// Size of an element in bytes.
    pub element_size: Attribute,
    /// Number of elements in a chunk.
    pub element_count: Attribute,
    /// Code ranges of the map, half-open. An empty range covers no code; without any range the map covers all code.
    pub ranges: Vec<(Pc, Pc)>,
}

/// Start of a function's frame, in the units of its stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStart {
    /// 0: the frame of a kernel.
    Zero,
    /// The contents of that register.
    Register(DwarfReg),
    /// The contents of a register of 32 bits, moved and rounded: `(register + add) & mask`.
    Rounded {
        /// The register.
        register: DwarfReg,
        /// The addend.
        add: u32,
        /// The kept bits.
        mask: u32,
    },
}

/// The base register for the objects of a function's frame.
#[derive(Clone, Debug)]
pub struct FrameRegister {
    /// The register of `DW_AT_frame_base`, or the calling convention's for a kernel without that attribute.
    pub register: Option<DwarfReg>,
    /// The stack pointer of the calling convention.
    pub stack: Option<DwarfReg>,
    /// Start of the frame at the program location, or the reason that it is unknown.
    pub start: Answer<FrameStart>,
    /// Layout of the objects of a frame whose start is rounded up.
    pub realigned: Option<Realigned>,
}

/// Objects of a frame whose start is rounded up. Stack arguments are relative to the stack pointer at the function's
/// entry, although their offsets look like those of the function's own objects, which follow them.
#[derive(Clone, Debug)]
pub struct Realigned {
    /// Start of the arguments at the program location, or the reason that it is unknown.
    pub arguments: Answer<FrameStart>,
    /// Objects up to this offset are arguments.
    pub last_argument: Option<u32>,
    /// Objects from this offset on are the function's own.
    pub first_own: Option<u32>,
}

impl FrameRegister {
    /// Returns the base of an object at an offset.
    ///
    /// # Errors
    /// It is unknown; the error has the reason.
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

/// All inputs of an expression except the lane, in three parts. A type with all three parts is a context. A decorator
/// implements the parts that it changes and forwards the others.
pub trait Context {
    /// The registers and memory of the wave.
    fn machine(&self) -> &dyn Machine;

    /// The call frame of the expression.
    fn call_frame(&self) -> &dyn CallFrame;

    /// The unit of the expression.
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
    /// Number of lanes of the wave.
    fn wave_size(&self) -> WaveSize;

    /// Returns an address space; `None` if the target reserves or lacks the number.
    fn space(&self, space: AddressSpace) -> Option<SpaceInfo>;

    /// Returns the size of a register.
    ///
    /// # Errors
    /// The reason for an unknown register number.
    fn register_size(&self, register: DwarfReg) -> Answer<BitSize>;

    /// Reads a whole register of a frame into a cleared buffer. Unmarked dwords (neither known nor undefined) are
    /// missing.
    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes);

    /// Reads memory; returns the number of captured bytes from the start on, now in `into`.
    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize;

    /// Length of the gap at a byte that [`Self::read_memory`] cannot read, at least 1; the evaluator skips it.
    fn missing_memory(&self, at: MemoryAt) -> u64 {
        let _ = at;
        1
    }

    /// The shared budget of a question's evaluations; `None`: only the bounds of each evaluation apply.
    fn budget(&self) -> Option<&Budget> {
        None
    }
}

/// The call frame of an expression: function, program location and caller. By default a frame has none of the optional
/// parts; [`Self::pc`] has no default.
pub trait CallFrame {
    /// Returns the program location.
    fn pc(&self) -> Option<Pc>;

    /// Returns the frame's number for messages, 0 innermost; `None` if frames have no numbers.
    fn frame_number(&self) -> Option<u32> {
        None
    }

    /// Returns the object for `DW_OP_push_object_address`.
    ///
    /// # Errors
    /// There is none.
    fn object(&self) -> Answer<Location> {
        Err(ContextError::not_captured("no object is being evaluated"))
    }

    /// Returns the `DW_AT_frame_base` of the function at the program location.
    ///
    /// # Errors
    /// There is none.
    fn frame_base(&self) -> Answer<Arc<Program>> {
        Err(ContextError::absent("the function has no DW_AT_frame_base"))
    }

    /// Returns the base register of the function's frame; `None` if the frame base is not a register.
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

    /// Returns the canonical frame address.
    ///
    /// # Errors
    /// It is unknown; the error has the reason.
    fn cfa(&self) -> Answer<Location> {
        Err(ContextError::not_captured("no call frame information"))
    }

    /// Returns the function's `DW_AT_LLVM_lanes`; `None` if it has no such attribute.
    ///
    /// # Errors
    /// It is unknown; the error has the reason.
    fn lanes(&self) -> Answer<Option<Attribute>> {
        Ok(None)
    }

    /// Returns the location of a register's value in the caller, for `DW_OP_LLVM_call_frame_entry_reg`.
    ///
    /// # Errors
    /// It is unknown; the error has the reason.
    fn entry_register(&self, register: DwarfReg, size: BitSize) -> Answer<Location> {
        Ok(Location::register_of(register, Frame::Caller, size))
    }

    /// Converts an address in the file to one in the process: adds the load bias.
    ///
    /// # Errors
    /// The load address of the file is unknown.
    fn loaded(&self, address: u64) -> Answer<u64> {
        Ok(address)
    }
}

/// The unit of an expression: entries and tables that operations refer to. By default there are none.
pub trait Unit {
    /// Returns a debugging information entry.
    ///
    /// # Errors
    /// The entry does not exist, or its location cannot be selected or decoded.
    fn die(&self, die: DieRef) -> Answer<Die> {
        Err(ContextError::absent(format!("no DIE at {}", die.offset())))
    }

    /// Returns a base type of the unit.
    ///
    /// # Errors
    /// The entry at the offset is not a base type.
    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        Err(ContextError::absent(format!("no base type at {die}")))
    }

    /// Returns the width in bits in LLVM's name of a base type for `DW_OP_convert`, `DW_ATE_unsigned_1`. Its
    /// `DW_AT_byte_size` is rounded up. `None`: another name.
    fn converted_bits(&self, _die: DieOffset) -> Option<u32> {
        None
    }

    /// Returns the address at an index of the unit's part of `.debug_addr`, not relocated.
    ///
    /// # Errors
    /// There is none.
    fn debug_addr(&self, index: u64) -> Answer<u64> {
        Err(ContextError::absent(format!("no address {index} in .debug_addr")))
    }

    /// Returns a `DW_TAG_object_map` of the unit.
    ///
    /// # Errors
    /// There is none.
    fn object_map(&self, die: DieOffset) -> Answer<Arc<ObjectMap>> {
        Err(ContextError::absent(format!("no object map at {die}")))
    }
}
