//! Effects of an instruction beside its operands.

use crate::decode::Instruction;
use crate::table::Section as S;

macro_rules! bits {
    ($(#[$doc:meta])* $name:ident: $int:ty { $($(#[$item:meta])* $constant:ident = $bit:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
        pub struct $name(pub(crate) $int);
        impl $name {
            $($(#[$item])* pub const $constant: Self = Self(1 << $bit);)*
            /// Whether all bits of another set are in this one.
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
            /// Whether no bit is set.
            #[must_use]
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }
        }
        impl std::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

bits! {
    /// Registers that an instruction reads or writes without an operand.
    Implicit: u16 {
        /// The mask of active lanes.
        EXEC = 0,
        /// The vector condition code.
        VCC = 1,
        /// The scalar condition code.
        SCC = 2,
        /// The memory register.
        M0 = 3,
        /// The mode register.
        MODE = 4,
        /// The base of the wave's scratch memory.
        FLAT_SCRATCH = 5,
        /// The counter of asynchronous transfers.
        ASYNC_COUNT = 6,
        /// The counter of tensor transfers.
        TENSOR_COUNT = 7,
    }
}

bits! {
    /// Kinds of effects.
    Flags: u16 {
        /// Reads memory.
        LOAD = 0,
        /// Writes memory.
        STORE = 1,
        /// Jumps to a target in the instruction.
        BRANCH = 2,
        /// Jumps to an address in registers.
        INDIRECT = 3,
        /// Calls a function.
        CALL = 4,
        /// Returns, or ends the program.
        RETURN = 5,
        /// Code behind it is not reached from it.
        STOPS = 6,
        /// Ends a basic block.
        TERMINATOR = 7,
        /// Atomic memory operation without a result.
        ATOMIC = 8,
        /// Atomic memory operation that returns the value before it.
        ATOMIC_RETURN = 9,
        /// Counts in the export counter.
        EXPORT_COUNT = 10,
        /// Counts in the counter of LDS and scalar memory.
        LGKM_COUNT = 11,
        /// A gather of images.
        GATHER = 12,
        /// Counts in the counter of vector memory.
        VM_COUNT = 13,
        /// Counts in the counter of asynchronous transfers.
        ASYNC_COUNT = 14,
        /// Loads half of a register and keeps the other one.
        D16 = 15,
    }
}

/// The encoding of an instruction, which is the class of its memory access, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "names of the architecture's manuals")]
pub enum Encoding {
    Other,
    Sopp,
    Sopk,
    Sop1,
    Sop2,
    Sopc,
    Smem,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Mimg,
    Vimage,
    Vsample,
    Exp,
    Vopd,
    Vinterp,
    LdsDirect,
    Vintrp,
    Vop3p,
    Vop3,
    Vopc,
    Vop2,
    Vop1,
    Gws,
}

const ENCODINGS: [Encoding; 27] = [
    Encoding::Other,
    Encoding::Sopp,
    Encoding::Sopk,
    Encoding::Sop1,
    Encoding::Sop2,
    Encoding::Sopc,
    Encoding::Smem,
    Encoding::Ds,
    Encoding::Flat,
    Encoding::Global,
    Encoding::Scratch,
    Encoding::Mubuf,
    Encoding::Mtbuf,
    Encoding::Mimg,
    Encoding::Vimage,
    Encoding::Vsample,
    Encoding::Exp,
    Encoding::Vopd,
    Encoding::Vinterp,
    Encoding::LdsDirect,
    Encoding::Vintrp,
    Encoding::Vop3p,
    Encoding::Vop3,
    Encoding::Vopc,
    Encoding::Vop2,
    Encoding::Vop1,
    Encoding::Gws,
];

/// Effects of an instruction beside its operands, from LLVM's instruction descriptions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effects {
    /// Registers read without an operand.
    pub reads: Implicit,
    /// Registers written without an operand.
    pub writes: Implicit,
    /// Kinds of effects.
    pub flags: Flags,
    /// The encoding.
    pub encoding: Encoding,
    pub(crate) modifiers: u8,
}

impl Effects {
    /// Whether sources go through other lanes (DPP).
    #[must_use]
    pub fn is_dpp(&self) -> bool {
        self.modifiers & 1 != 0
    }

    /// Whether parts of registers are selected (SDWA).
    #[must_use]
    pub fn is_sdwa(&self) -> bool {
        self.modifiers & 2 != 0
    }

    pub(crate) fn is_packed(&self) -> bool {
        self.modifiers & 4 != 0
    }

    pub(crate) fn has_op_sel(&self) -> bool {
        self.modifiers & 8 != 0
    }

    pub(crate) fn is_wmma(&self) -> bool {
        self.modifiers & 0x30 != 0
    }
}

impl Instruction {
    /// Its effects beside its operands; `None` for an invalid word.
    #[must_use]
    pub fn effects(&self) -> Option<Effects> {
        let table = self.decoder.table;
        let at = 2 * self.form(2)?;
        let (registers, rest) = (table.u32(S::Effects, at), table.u32(S::Effects, at + 1));
        let [_, _, encoding, modifiers] = rest.to_le_bytes();
        Some(Effects {
            reads: Implicit(registers as u16),
            writes: Implicit((registers >> 16) as u16),
            flags: Flags(rest as u16),
            encoding: ENCODINGS.get(usize::from(encoding)).copied().unwrap_or(Encoding::Other),
            modifiers,
        })
    }

    /// The target of a branch or call whose target is in the instruction, from the address of the instruction.
    #[must_use]
    pub fn target(&self, address: u64) -> Option<u64> {
        const SIMM16: crate::Role = crate::Role::named("simm16");
        let effects = self.effects()?;
        let is_relative = effects.flags.contains(Flags::BRANCH) || effects.flags.contains(Flags::CALL);
        if !is_relative
            || effects.flags.contains(Flags::INDIRECT)
            || !matches!(effects.encoding, Encoding::Sopp | Encoding::Sopk)
        {
            return None;
        }
        let offset = self.operand_of(SIMM16)?.number()? as i16;
        Some(address.wrapping_add(self.size() as u64).wrapping_add((i64::from(offset) * 4).cast_unsigned()))
    }
}
