//! Suspected accesses to memory.

use serde::Serialize;

use super::SourceAt;
use crate::arch::RegId;
use crate::capture::PAGE;
use crate::isa::{Access, AddressError};
use crate::notation::counted;
use crate::session::Inferred;
use crate::session::print::PartOwner;
use crate::units::{AddressSpace, LaneId, LaneSet, Pc, WaveId};

/// An access that may be the cause of a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The wave.
    pub wave: WaveId,
    /// The wave's PC.
    pub pc: Pc,
    /// Address of the instruction.
    pub instruction: u64,
    /// Its text.
    pub text: String,
    /// Number of instructions on the shortest path from it to the PC, both ends counted as one.
    pub distance: usize,
    /// The access.
    pub access: Access,
    /// The lanes whose address is bad by the evidence; without evidence the lanes with an address. Empty for a scalar
    /// access.
    pub lanes: LaneSet,
    /// Whether `lanes` is an upper bound: EXEC changed since the access.
    pub is_bound: bool,
    /// The addresses of the lanes in `lanes`, or the one of a scalar access; the first byte.
    pub addresses: Vec<AddressOf>,
    /// The pointers that the code before the access adds indexes to, by lane; of a scalar access one. Lanes without a
    /// known one are left out.
    pub origins: Vec<(Option<LaneId>, u64)>,
    /// Registers that the access, and the instructions between it and the PC, wrote.
    pub written: Vec<RegId>,
    /// The lanes whose address is unknown, with the reason.
    pub unknown: Option<UnknownLanes>,
    /// The certainty.
    pub confidence: Confidence,
    /// The reasons for the rank, the strongest first.
    pub evidence: Vec<Evidence>,
    /// Patterns of the addresses, the most telling first.
    pub patterns: Vec<PatternOf>,
    /// Other waves with the same instruction among their suspects by the same evidence.
    pub also: Vec<WaveId>,
    /// The line of the instruction.
    pub at: SourceAt,
    /// The frame of the wave's stack with the instruction; `None`: its function is unknown, or not on the stack.
    pub frame: Option<AccessFrame>,
    /// The access in terms of the source.
    pub term: Option<Term>,
}

/// The frame with an access. The report of a fault is late: the PC may be in an inner call, or at another line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessFrame {
    /// The number in the wave's stack.
    pub frame: usize,
    /// The file of the access, or of the inlined call with it, which the wave left.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u64>,
}

impl Suspect {
    /// Number of its frame; 0 if it is unknown.
    #[must_use]
    pub fn frame(&self) -> usize {
        self.frame.as_ref().map_or(0, |of| of.frame)
    }

    /// Leaves out values of variables: those of its pointer, its index and its patterns. Names and addresses stay.
    pub fn leave_out_values(&mut self) {
        for of in &mut self.patterns {
            match &mut of.pattern {
                Pattern::NegativeIndex { index, .. } | Pattern::LargeIndex { index } => *index = None,
                Pattern::Poison { value, .. } => *value = None,
                _ => {}
            }
        }
        let Some(term) = &mut self.term else { return };
        let all = term.equal.iter().chain(term.inner.iter().flat_map(|of| &of.equal));
        let names: Vec<&str> = all.map(|of| of.name.as_str()).collect();
        term.expression = without_values(&term.expression, &names);
        for other in &mut term.alternatives {
            *other = without_values(other, &[]);
        }
        term.alternatives.dedup();
        term.pointer.name = without_values(&term.pointer.name, &names);
        let arrays: Vec<String> = term.inner.iter().map(|of| without_values(&of.array, &names)).collect();
        for (of, array) in term.inner.iter_mut().zip(arrays) {
            (of.array, of.index) = (array, IndexRule::Listed(Vec::new()));
            of.equal.iter_mut().for_each(|of| of.value.clear());
        }
        term.pointer.value.clear();
        term.index = IndexRule::Listed(Vec::new());
        term.bounds.clear();
        // Those of Fortran's arrays are in memory.
        term.declared = None;
        term.equal.iter_mut().for_each(|of| of.value.clear());
    }

    /// Leaves out values from global memory: those of kernel arguments, of variables outside of functions, and behind
    /// pointers.
    pub fn leave_out_global_values(&mut self) {
        let is_global = |of: &Variable| {
            matches!(of.kind, PartOwner::KernelArgument | PartOwner::Global)
                || of.name.contains(['*', '['])
                || of.name.contains("->")
        };
        let Some(term) = &mut self.term else { return };
        term.bounds.retain(|of| !is_global(of));
        term.declared = None;
        let inner = term.inner.iter_mut().flat_map(|of| &mut of.equal);
        for of in term.equal.iter_mut().chain(inner).chain([&mut term.pointer]).filter(|of| is_global(of)) {
            of.value.clear();
        }
    }

    /// Whether all its addresses are known, and none of them explains the fault.
    #[must_use]
    pub fn is_good(&self) -> bool {
        let is_good = |one: &Evidence| matches!(one, Evidence::NothingBad | Evidence::OffPage { .. });
        self.evidence.iter().any(is_good)
    }

    /// Whether a known address is on a reported page.
    #[must_use]
    pub fn is_on_page(&self) -> bool {
        let is_on_page = |one: &Evidence| one.page().is_some();
        self.evidence.iter().any(is_on_page)
    }

    /// A suspect with its instruction, at address 0 directly before the PC, and without addresses or evidence.
    #[must_use]
    pub fn new(wave: WaveId, pc: Pc, text: &str, access: Access) -> Self {
        Self {
            wave,
            pc,
            instruction: 0,
            text: text.to_owned(),
            distance: 1,
            access,
            lanes: LaneSet::EMPTY,
            is_bound: false,
            addresses: Vec::new(),
            origins: Vec::new(),
            written: Vec::new(),
            unknown: None,
            confidence: Confidence::Possible,
            evidence: Vec::new(),
            patterns: Vec::new(),
            also: Vec::new(),
            at: SourceAt::default(),
            frame: None,
            term: None,
        }
    }
}

/// An expression without the values of its indexes: `x[...]` for `x[1000 + lane]`. `names`: variables as indexes.
fn without_values(expression: &str, names: &[&str]) -> String {
    let mut text = String::with_capacity(expression.len());
    for part in expression.split_inclusive(['[', ']', '(', ')', ',']) {
        let end = part.trim_end_matches(['[', ']', '(', ')', ',']);
        let index = end.trim();
        let is_rule = index.starts_with(|first: char| first.is_ascii_digit() || first == '-')
            || index.split(' ').any(|word| word == "lane") && !names.contains(&index);
        match is_rule && !index.starts_with("->") {
            true => text += &part.replacen(index, "...", 1),
            false => text += part,
        }
    }
    text
}

/// The address of a lane, or of a scalar access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressOf {
    /// The lane; `None`: a scalar access.
    pub lane: Option<LaneId>,
    /// The DWARF number of the address space: global, local or private.
    pub space: AddressSpace,
    /// The first byte, in that space.
    pub address: u64,
    /// The first byte in global memory: of global addresses the same. `None`: LDS, and private memory at an unknown
    /// place.
    pub global: Option<u64>,
    /// Number of bytes; `None`: unknown.
    pub bytes: Option<u16>,
}

/// Lanes without a known address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLanes {
    /// The lanes; empty for a scalar access.
    pub lanes: LaneSet,
    /// The reason.
    pub reason: UnknownAddressCause,
}

/// The reason that an address is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownAddressCause {
    /// An instruction after the access wrote an address register.
    #[error("{register} was overwritten at {at:#x}")]
    Overwritten {
        /// The register.
        register: String,
        /// The address of the instruction.
        at: u64,
    },
    /// An instruction after the access is not known: it may have written an address register.
    #[error("lanescope does not know what `{text}` at {at:#x} writes")]
    Undecoded {
        /// The address of the instruction.
        at: u64,
        /// Its text.
        text: String,
    },
    /// Registers are not captured, or the form is not computable.
    #[error(transparent)]
    Address(#[from] AddressError),
}

/// The certainty that an access is the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One of several.
    Possible,
    /// The evidence prefers it.
    Likely,
    /// Nothing else can be the cause.
    Exact,
}

/// A reason for the rank of a suspect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// The bytes of the lanes overlap the reported page.
    OnPage {
        /// First byte of the page, or the reported address.
        page: u64,
        /// Number of reported bytes: [`PAGE`] for a page.
        bytes: u64,
    },
    /// The bytes of the lanes overlap the page of a reported address, and not the address.
    SamePage {
        /// The reported address.
        address: u64,
    },
    /// The capture has memory on a reported page.
    Mapped {
        /// First byte of the page.
        page: u64,
    },
    /// The report may not have the exact address.
    Inexact,
    /// The capture has the memory that a load reads, and the report does not exclude that it is mapped.
    Captured,
    /// An access of a wave of another GPU is on the page, too.
    OtherGpu,
    /// No other candidate has an address on the page, or could have one.
    OnlyOne,
    /// Others that can have an address on the page fit its report less.
    BestFit,
    /// The memory map is complete and lacks the address.
    Unmapped,
    /// The capture lacks the address; its memory map may be incomplete.
    NotCaptured,
    /// The address is in no aperture.
    Hole,
    /// The address is below 64 KiB, where nothing is mapped.
    Null,
    /// An atomic is not aligned to its size.
    Misaligned,
    /// A byte is past the LDS of the work-group.
    BeyondLds,
    /// The hardware client of the report has this kind of access.
    Client(&'static str),
    /// The direction equals the reported one.
    Direction(&'static str),
    /// Reports of several GPUs or processes name the page, and not all of them this kind of access.
    Disputed,
    /// The private memory of the wave may be on the reported page: its place is unknown.
    PrivatePlace,
    /// No page is reported, and no address is known to be bad.
    NothingBad,
    /// All addresses are known, and none is on a reported page.
    OffPage {
        /// First byte of the reported page; `None`: several pages are reported.
        page: Option<u64>,
    },
    /// No wait proves the completion of the access.
    Outstanding,
    /// A wait proves its completion only few instructions before the PC.
    JustCompleted(usize),
    /// The PC is at the instruction, so it was executed only if the capture shows the PC too early.
    AtPc,
    /// The addresses come from registers that were overwritten, and computed again.
    Recovered,
    /// A load was repeated for them, and a store at an unknown address may have changed that memory since.
    StoreBetween,
    /// The wave's stop reason is that of no page fault.
    NoPageFault,
    /// Other lanes have bad addresses, too, off the reported page.
    OtherLanes(LaneSet),
    /// Several paths lead to the PC.
    OtherPath,
    /// The addresses are those by one of several paths to the PC.
    DependsOnPath,
    /// A loop executes it several times.
    InLoop,
    /// EXEC was written after the access.
    ExecChanged(u64),
    /// An instruction after the access is not known: the lanes are an upper bound.
    ExecUnknown {
        /// The address of the instruction.
        at: u64,
        /// Its text.
        text: String,
    },
    /// Address registers were written after the access.
    Unknown(UnknownAddressCause),
    /// Number of other waves with the same suspect.
    OtherWaves(usize),
    /// At least that many waves stopped behind it; further ones were not examined.
    AtLeastOtherWaves(usize),
}

impl Evidence {
    /// The reported address, or first byte of a page, that the access has a byte on.
    pub(crate) fn page(&self) -> Option<u64> {
        match self {
            Self::OnPage { page, .. } => Some(*page),
            Self::SamePage { address } => Some(*address),
            _ => None,
        }
    }

    /// The reason in words, in the number of the suspect's addresses.
    #[must_use]
    pub fn of(&self, suspect: &Suspect) -> String {
        let first = suspect.addresses.first().map(|of| of.address);
        let is_one = suspect.addresses.iter().all(|of| Some(of.address) == first);
        let number = |one: &'static str, several: &'static str| if is_one { one } else { several };
        let are = number("the address is", "the addresses are");
        let those_are = number("the address is that", "the addresses are those");
        match self {
            Self::OnPage { page, bytes: 1 } => format!("the reported address {page:#x} is accessed"),
            Self::OnPage { page, bytes } if *bytes < PAGE => {
                format!("one of the reported {bytes} bytes at {page:#x} is accessed")
            }
            Self::OnPage { page, .. } => format!("{are} on the reported page {page:#x}"),
            Self::SamePage { address } => format!("{are} on the page of the reported address {address:#x}"),
            Self::Mapped { page } => format!(
                "the capture could read the reported page {page:#x}: the fault may be of access rights or XNACK, or \
                 the mapping changed"
            ),
            Self::Inexact => "the report may not have the exact address".to_owned(),
            Self::Captured => "this memory is mapped, and loads of mapped memory do not fault".to_owned(),
            Self::OtherGpu => "a wave of another GPU accesses that page, too".to_owned(),
            Self::OnlyOne => "no other access before the PC can reach that page".to_owned(),
            Self::BestFit => "the other accesses that may reach that page fit the report less".to_owned(),
            Self::Unmapped => format!("{are} in no GPU memory of the process"),
            Self::NotCaptured => {
                format!("the capture has no memory at {}", number("the address", "the addresses"))
            }
            Self::Hole => format!("{are} outside all apertures"),
            Self::Null => format!("{are} near 0, where nothing is mapped"),
            Self::Misaligned => number(
                "the address of the atomic is not aligned",
                "the addresses of the atomic are not aligned",
            )
            .to_owned(),
            Self::BeyondLds => {
                format!(
                    "{} past the LDS of the work-group",
                    number("the access has bytes", "the accesses have bytes")
                )
            }
            Self::Client(value) => format!("the report names a client of {value}"),
            Self::Direction(value) => format!("the report names a {value}"),
            Self::Disputed => {
                "several GPUs or processes report that page, and not all of them such an access".to_owned()
            }
            Self::NothingBad => {
                "none of its addresses is known to be bad: only the distance to the PC counts".to_owned()
            }
            Self::PrivatePlace => {
                "the capture does not have the place of the wave's private memory".to_owned()
            }
            Self::OffPage { page: Some(page) } => {
                format!("none of its addresses is on the reported page {page:#x}")
            }
            Self::OffPage { page: None } => "none of its addresses is on a reported page".to_owned(),
            Self::Outstanding => "no wait before the PC proves its completion".to_owned(),
            Self::JustCompleted(value) => format!(
                "a wait {} before the PC proves its completion, but faults are reported late",
                counted(*value, "instruction")
            ),
            Self::AtPc => {
                "the wave stopped before this instruction, unless its PC is reported too early".to_owned()
            }
            Self::Recovered => format!("{are} computed again from values that survived"),
            Self::StoreBetween => format!(
                "a store whose address is unknown may have changed the memory that gave {}",
                number("it", "them")
            ),
            Self::NoPageFault => {
                "the wave's stop reason is that of no page fault: the report may be of another wave"
                    .to_owned()
            }
            Self::OtherLanes(lanes) => {
                let (verb, which) = match lanes.count() {
                    1 => ("has a bad address", "lane"),
                    _ => ("have bad addresses", "lanes"),
                };
                format!(
                    "{which} {} {verb}, too, off the reported page",
                    crate::notation::lanes::ranges(*lanes)
                )
            }
            Self::OtherPath => "a branch leads to the PC: another path lacks this access".to_owned(),
            Self::DependsOnPath => format!("several paths lead to the PC: {those_are} by one of them"),
            Self::InLoop => format!("a loop executes it: {those_are} of the last turn"),
            Self::ExecChanged(value) => format!("EXEC changed at {value:#x}: the lanes are an upper bound"),
            Self::ExecUnknown { at, text } => format!(
                "lanescope does not know whether `{text}` at {at:#x} changes EXEC: the lanes are an upper bound"
            ),
            Self::Unknown(value) => value.to_string(),
            Self::OtherWaves(value) => {
                format!("{} stopped behind the same access", counted(*value, "more wave"))
            }
            Self::AtLeastOtherWaves(value) => {
                format!("at least {} stopped behind the same access", counted(*value, "more wave"))
            }
        }
    }
}

/// A pattern with the lanes that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternOf {
    /// The pattern, with the numbers of the first of the lanes.
    pub pattern: Pattern,
    /// The lanes; empty for a scalar access.
    pub lanes: LaneSet,
}

impl PatternOf {
    /// Whether all of those lanes have it.
    #[must_use]
    pub fn covers(&self, lanes: LaneSet) -> bool {
        self.lanes.is_empty() || self.lanes.and(lanes) == lanes
    }
}

/// A pattern of bad addresses (docs/triage.md has the rules).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pattern {
    /// Address 0, or a small offset from a base register of 0.
    Null {
        /// The base register's value, if the instruction has a separate one.
        base: Option<u64>,
        /// The offset from 0.
        offset: u64,
    },
    /// Bits 63 to 47 differ, and no aperture has the address.
    NonCanonical,
    /// The address plus `k` * 2^32 is in memory: index times size overflowed 32 bits.
    Wrapped32 {
        /// The number of 2^32 that lack.
        times: i64,
        /// The address without overflow.
        meant: u64,
    },
    /// An index below 0.
    NegativeIndex {
        /// The index; `None`: left out.
        index: Option<i64>,
        /// Whether 32 bits of it were extended with zeros: the address is 4 GiB too high.
        is_zero_extended: bool,
    },
    /// A filler of an allocator or sanitizer.
    Poison {
        /// The filler itself; `None`: left out.
        value: Option<u64>,
        /// The filler's origin.
        origin: &'static str,
    },
    /// The pointer is of LDS or private memory.
    OtherAperture {
        /// The space's name.
        space: &'static str,
    },
    /// Memory of the host alone.
    HostPointer {
        /// Whether a report has that; otherwise the address alone suggests it.
        is_reported: bool,
    },
    /// One flipped bit from memory.
    FlippedBit {
        /// The bit.
        bit: u8,
        /// The address without the flip.
        meant: u64,
        /// Number of other bits that lead to memory, too.
        alternatives: usize,
    },
    /// Past the end of an allocation.
    PastEnd(Neighbour),
    /// Before the start of an allocation.
    BeforeStart(Neighbour),
    /// The pointer leads to no memory; the allocation next to it, if one is near.
    BadPointer(Option<Neighbour>),
    /// The first bytes are in memory, the last ones not.
    Straddles(Neighbour),
    /// Not aligned to the size of an atomic.
    Misaligned {
        /// The needed alignment in bytes.
        needed: u16,
    },
    /// A write to read-only memory.
    ReadOnly,
    /// Between two allocations: perhaps freed.
    Freed,
    /// A large distance from the base pointer.
    LargeIndex {
        /// The index; `None`: left out.
        index: Option<i64>,
    },
}

/// An allocation near an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its first byte.
    pub start: u64,
    /// First byte after it.
    pub end: u64,
    /// Bytes between the address and the allocation.
    pub distance: u64,
    /// Its name, if the capture has one.
    pub name: Option<String>,
    /// Whether its bounds are rounded to pages.
    pub is_rounded: bool,
    /// Whether the capture lists all mapped memory. Otherwise memory that it lacks may follow the allocation.
    pub is_map_whole: bool,
}

/// An access in terms of the source: `x[1024]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The expression, for all lanes: `x[i]`, `x[1000 + lane]`.
    pub expression: String,
    /// The pointer.
    pub pointer: Variable,
    /// The size of an element in bytes.
    pub element: u64,
    /// The index by lane; without lanes it is left out.
    pub index: IndexRule,
    /// Variables that have the index as their value, in all lanes of the suspect.
    pub equal: Vec<Variable>,
    /// Variables that bound it, with their values: `n = 1024`.
    pub bounds: Vec<Variable>,
    /// The bounds of the index by the declaration of an array.
    pub declared: Option<DeclaredBounds>,
    /// The indexes of arrays in the elements, the outermost first.
    pub inner: Vec<InnerIndex>,
    /// Whether `expression` has two readings of the addresses, and no evidence decides: an index may be past its bound.
    pub is_ambiguous: bool,
    /// The allocation that the pointer leads to.
    pub allocation: Option<Neighbour>,
    /// Other expressions that fit equally well.
    pub alternatives: Vec<String>,
    /// Whether the statement is inferred from values alone, and not from the compiler's description.
    pub is_inferred: bool,
}

/// The index of an array in an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerIndex {
    /// The array: `s[t].a`.
    pub array: String,
    /// The index by lane.
    pub index: IndexRule,
    /// Variables that have the index as their value.
    pub equal: Vec<Variable>,
    /// The bounds by the array's type.
    pub declared: Option<DeclaredBounds>,
}

/// The declared bounds of an array's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredBounds {
    /// The first index: 0 in C, 1 by default in Fortran.
    pub first: i64,
    /// Number of elements.
    pub count: u64,
}

/// A variable, argument or member with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The path: `x`, `body.at`.
    pub name: String,
    /// Its value as a debugger prints it, in the first lane of the suspect. Empty: unknown or left out.
    pub value: String,
    /// Its kind.
    pub kind: PartOwner,
    /// The inferences behind its place.
    pub inferred: Inferred,
}

/// Values over lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexRule {
    /// The same value in all lanes.
    Constant(i64),
    /// `first + step * (lane - from)`, from that lane on.
    Linear {
        /// The value in the first lane.
        first: i64,
        /// The first lane.
        from: LaneId,
        /// The difference from lane to lane.
        step: i64,
    },
    /// No rule: values by lane.
    Listed(Vec<(LaneId, i64)>),
    /// A scalar access.
    Scalar(i64),
}
