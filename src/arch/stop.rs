//! Stop reasons and their kinds: the one definition of a fault.

/// A reason for a wave's stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopReason {
    /// Its name in dumps: `memory_violation`.
    pub name: String,
    /// The text for messages: "memory violation (page fault)".
    pub words: String,
    /// The signal in gdb's numbering: 11 for SIGSEGV.
    pub signal: u8,
}

/// The signal of a trap in gdb's numbering.
const SIGTRAP: u8 = 5;

impl StopReason {
    /// Its kind: by the name, and by the signal for a name that AMD's library does not have.
    #[must_use]
    pub fn kind(&self) -> StopKind {
        match self.name.as_str() {
            "illegal_instruction" => StopKind::IllegalInstruction,
            "memory_violation" | "address_error" => StopKind::Memory,
            "assert_trap" => StopKind::Abort,
            "trap" => StopKind::Trap,
            "ecc_error" => StopKind::Ecc,
            "fatal_halt" => StopKind::Fatal,
            "breakpoint" | "watchpoint" | "single_step" | "debug_trap" => StopKind::Debugger,
            name if name.starts_with("fp_") || name == "int_divide_by_0" => StopKind::Arithmetic,
            _ if self.signal == SIGTRAP => StopKind::Debugger,
            _ => StopKind::Other,
        }
    }

    /// Whether the program caused the stop by an error.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.kind().is_fault()
    }
}

/// The kind of a stop reason; the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StopKind {
    /// An illegal instruction.
    IllegalInstruction,
    /// An access to memory.
    Memory,
    /// The trap of `abort` and assertions.
    Abort,
    /// Another trap of the program.
    Trap,
    /// An arithmetic exception.
    Arithmetic,
    /// An uncorrectable memory error.
    Ecc,
    /// A fault of a user's target file.
    Other,
    /// An unrecoverable error without a further reason.
    Fatal,
    /// A stop for a debugger.
    Debugger,
}

impl StopKind {
    /// The kinds of several stop reasons, the most telling first.
    #[must_use]
    pub fn of<'r>(reasons: impl IntoIterator<Item = &'r StopReason>) -> Vec<Self> {
        let mut kinds: Vec<Self> = reasons.into_iter().map(StopReason::kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Whether the program caused the stop by an error: every kind but a debugger's.
    #[must_use]
    pub fn is_fault(self) -> bool {
        self != Self::Debugger
    }
}
