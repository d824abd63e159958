//! Kinds of stop reasons.

/// The kind of a stop reason of `targets/*.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::triage) enum StopKind {
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
    /// An unrecoverable error without a further reason.
    Fatal,
    /// A stop for a debugger.
    Debugger,
}

impl StopKind {
    /// The kind of the reason of that name; `None`: the name is unknown.
    pub(in crate::triage) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "illegal_instruction" => Self::IllegalInstruction,
            "memory_violation" | "address_error" => Self::Memory,
            "assert_trap" => Self::Abort,
            "trap" => Self::Trap,
            "ecc_error" => Self::Ecc,
            "fatal_halt" => Self::Fatal,
            "breakpoint" | "watchpoint" | "single_step" | "debug_trap" => Self::Debugger,
            name if name.starts_with("fp_") || name == "int_divide_by_0" => Self::Arithmetic,
            _ => return None,
        })
    }

    /// The kinds of a wave's stop reasons, the most telling first.
    pub(in crate::triage) fn of(reasons: &[String]) -> Vec<Self> {
        let mut kinds: Vec<Self> = reasons.iter().filter_map(|name| Self::named(name)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Whether the wave itself caused the stop by an error.
    pub(in crate::triage) fn is_fault(self) -> bool {
        self != Self::Debugger
    }
}
