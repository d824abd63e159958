//! The session's answers: plain data, no protocol.

use std::sync::Arc;

use super::error::{ObjectError, PositionError, SourceError};
use crate::arch::{StopKind, StopReason, WaveArch};
use crate::notation::names;
use crate::units::{Address, AddressSpace, LaneId, LaneSet, Pc, WaveId};

/// A wave's entry in a list.
#[derive(Clone, Debug)]
pub struct WaveInfo {
    /// Its ordinal.
    pub wave: WaveId,
    /// The dump's id.
    pub id: u32,
    /// `AMDGPU Wave 1:1:1:4 (0,0,0)/3`: agent, queue, dispatch and wave id, work-group and number in it; `?` for
    /// unknown parts; the suffix ` (unconfirmed)` if its values may be wrong.
    pub name: String,
    /// GPU and wave size.
    pub kind: Arc<WaveArch>,
    /// Program counter, if captured.
    pub pc: Option<Pc>,
    /// Active lanes, if EXEC was captured.
    pub exec: Option<LaneSet>,
    /// The symbol of the kernel, if known.
    pub kernel: Option<String>,
    /// Its name in the source; the symbol if that is not mangled.
    pub kernel_name: Option<Arc<str>>,
    /// Agent id of the dump.
    pub agent: u32,
    /// Queue id.
    pub queue: Option<u32>,
    /// Dispatch id.
    pub dispatch: Option<u32>,
    /// The work-group's position in the grid.
    pub workgroup: Option<[u32; 3]>,
    /// The wave's number in the work-group.
    pub wave_in_group: Option<u32>,
    /// Names of its stop reasons; empty: it was running; `None`: unknown.
    pub stop: Option<Vec<String>>,
    /// The cause as text: `memory violation`; `running`; `stop reason not captured`; with the reason if the wave is
    /// unconfirmed.
    pub cause: String,
    /// The reason to doubt its values; `None`: no doubt.
    pub unconfirmed: Option<String>,
    /// Values that nothing else in the capture confirms, with the reasons; `None`: no such values are known.
    pub unchecked: Option<String>,
    /// The signal of its stop reason in gdb's numbering; 0 if it was running or the reason is unknown.
    pub signal: u8,
    /// Number of waves that the dump leaves out and that it stands for; 0 if the client chose the waves.
    pub stands_for: u32,
}

impl WaveInfo {
    /// Number of waves: itself, and those that it stands for.
    #[must_use]
    pub fn count(&self) -> usize {
        1 + self.stands_for as usize
    }

    /// The kinds of its stop reasons, the most telling first; `None`: unknown.
    #[must_use]
    pub fn stop_kinds(&self) -> Option<Vec<StopKind>> {
        Some(StopKind::of(self.stop_reasons()?))
    }

    /// The name of the stop reason that decides its cause: the most telling one. `None`: unknown, or it has none.
    #[must_use]
    pub fn main_stop(&self) -> Option<&str> {
        self.stop_reasons()?.min_by_key(|reason| reason.kind()).map(|reason| reason.name.as_str())
    }

    /// Whether it stopped for a fault of its own; `None`: its stop reason is unknown.
    #[must_use]
    pub fn has_faulted(&self) -> Option<bool> {
        Some(self.stop_reasons()?.any(StopReason::is_fault))
    }

    /// Its stop reasons; `None`: unknown.
    fn stop_reasons(&self) -> Option<impl Iterator<Item = &StopReason>> {
        let names = self.stop.as_ref()?;
        Some(names.iter().filter_map(|name| self.kind.target.stop_reason(name)))
    }
}

/// Facts about a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneInfo {
    /// The lane.
    pub lane: LaneId,
    /// Its state; `None` if neither EXEC nor the debug information determines it.
    pub state: Option<LaneState>,
    /// Its resume address; default for an unused lane.
    pub at: LanePosition,
    /// The work-item's id in its work-group, if group and sizes are known.
    pub local_id: Option<[u32; 3]>,
    /// The work-item's id in the grid.
    pub global_id: Option<[u32; 3]>,
    /// Whether the client's focus is on it.
    pub focused: bool,
}

/// A lane's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneState {
    /// Active: by `DW_AT_LLVM_active_lane`, else by its EXEC bit.
    Active,
    /// Inactive: the lane has diverged.
    Inactive,
    /// Inactive and outside of the function: `DW_AT_LLVM_lane_pc` is undefined for the lane, or the caller's EXEC,
    /// recovered by call frame information, excludes it.
    NotEntered,
    /// Without a work-item: beyond the work-group or the grid.
    Unused,
}

impl LaneState {
    /// The state as text: `not yet entered`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::NotEntered => "not yet entered",
            Self::Unused => "unused",
        }
    }
}

names!(LaneState {
    Self::Active => "active",
    Self::Inactive => "inactive",
    Self::NotEntered => "not_entered",
    Self::Unused => "unused",
});

/// The states of a wave's lanes in a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneStates {
    /// States by lane number.
    states: Vec<Option<LaneState>>,
}

impl LaneStates {
    /// The state of a lane; `None` if neither EXEC nor the debug information determines it.
    #[must_use]
    pub fn of(&self, lane: LaneId) -> Option<LaneState> {
        self.states.get(usize::from(lane.0)).copied().flatten()
    }
}

/// Collects states from lane 0 upwards.
impl FromIterator<Option<LaneState>> for LaneStates {
    fn from_iter<T: IntoIterator<Item = Option<LaneState>>>(states: T) -> Self {
        Self { states: states.into_iter().collect() }
    }
}

/// A lane's resume position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanePosition {
    /// Its own PC; `None` if unknown.
    pub pc: Option<Pc>,
    /// The source of the PC, or the reason for its absence.
    pub from: PcSource,
    /// The function at the PC.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Source line; `None` if the PC is unknown.
    pub line: Option<u64>,
    /// The lane's physical frame in the wave's stack, 0 innermost; `None` if it is in none.
    pub physical: Option<usize>,
}

/// The source of a lane's PC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PcSource {
    /// The lane has no work-item.
    #[default]
    NoWorkItem,
    /// The lane's EXEC bit is set: its PC is the wave's.
    Exec,
    /// `DW_AT_LLVM_active_lane` marks the lane as active: its PC is the wave's.
    ActiveLane,
    /// `DW_AT_LLVM_lane_pc` of the function.
    LanePc,
    /// No source, with the reason.
    Unknown(SourceError),
}

names!(PcSource {
    Self::NoWorkItem => "no_work_item",
    Self::Exec => "exec",
    Self::ActiveLane => "active_lane",
    Self::LanePc => "lane_pc",
    Self::Unknown(_) => "unknown",
});

impl std::fmt::Display for PcSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoWorkItem => "the lane has no work-item",
            Self::Exec => "the lane is active by EXEC: it is where the wave is",
            Self::ActiveLane => "the lane is active by DW_AT_LLVM_active_lane: it is where the wave is",
            Self::LanePc => "DW_AT_LLVM_lane_pc of the function gives it",
            Self::Unknown(why) => return why.fmt(f),
        })
    }
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAddress {
    /// The address space.
    pub space: AddressSpace,
    /// The address in it.
    pub address: Address,
    /// The wave, for spaces that belong to a work-group, wave or lane.
    pub wave: Option<WaveId>,
    /// The lane, for spaces that belong to a lane.
    pub lane: Option<LaneId>,
}

/// A run of addresses with the same attributes, in the encoding of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u64,
    /// Last address.
    pub last: u64,
    /// Whether the capture has data for it.
    pub readable: bool,
    /// Whether a code object is loaded there.
    pub code: bool,
    /// Its name: `private_lane of wave 3`, a code object's name.
    pub name: Option<String>,
}

/// A run of addresses in memory that exists, captured or not: in one loaded segment of a code object, in one range of
/// the dump's memory map, or between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedRange {
    /// First address.
    pub start: u64,
    /// Last address.
    pub last: u64,
    /// Whether it has code, and the name of the code object or the range; `None`: none is there.
    pub segment: Option<(bool, Option<String>)>,
}

/// A loaded code object.
#[derive(Clone, Debug)]
pub struct CodeObjectInfo {
    /// File name or URI.
    pub name: String,
    /// The loader's URI of the file.
    pub uri: Option<String>,
    /// Load address: run-time address = this + ELF address.
    pub address: Address,
    /// Bytes of address space of its image, if its bytes are available or the dump lists its segments.
    pub size: Option<u64>,
    /// The origin of its bytes as text, if it is not the file itself.
    pub origin: Option<String>,
    /// Another code object with some of its addresses.
    pub overlap: Option<OverlapError>,
    /// The reason for missing variables; `None`: it has variables.
    pub error: Option<ObjectError>,
}

/// A code object with addresses of another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its addresses overlap those of {name} at {address}: one hides the other")]
pub struct OverlapError {
    /// Its name.
    pub name: String,
    /// Its load address.
    pub address: Address,
}

impl CodeObjectInfo {
    /// The problems as text; `None`: there are none.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.problems(self.error.as_ref().map(ToString::to_string))
    }

    /// [`Self::problem`] without the code object's name.
    #[must_use]
    pub fn unnamed_problem(&self) -> Option<String> {
        self.problems(self.error.as_ref().map(|error| error.cause.to_string()))
    }

    fn problems(&self, error: Option<String>) -> Option<String> {
        let overlap = self.overlap.as_ref().map(ToString::to_string);
        let each: Vec<String> = overlap.into_iter().chain(error).collect();
        (!each.is_empty()).then(|| each.join("; "))
    }
}

/// The message for a place beyond LDS of that size.
fn past_lds(size: u64) -> String {
    match size {
        0 => "the work-group has no LDS".to_owned(),
        size => format!("the work-group's LDS has {size} bytes"),
    }
}

/// The message for a wave without private memory.
pub(super) const NO_PRIVATE_MEMORY: &str = "the wave has no private memory: its queue was given no scratch";

/// Reasons that a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The dump has no such wave, or the session does not serve it.
    #[error("no wave {0}")]
    NoSuchWave(WaveId),
    /// The wave has no such lane.
    #[error("no lane {lane} in a {lanes}-lane wave")]
    NoSuchLane {
        /// The requested lane.
        lane: LaneId,
        /// Number of lanes of the wave.
        lanes: u8,
    },
    /// The wave has no register of that index: its kind differs.
    #[error("wave {wave} has no register number {index}")]
    NoSuchRegister {
        /// The wave.
        wave: WaveId,
        /// The register's index in the table of the wave's kind.
        index: u16,
    },
    /// The target has no such address space, or reserves it.
    #[error("no address space {0} on {1}")]
    NoSuchSpace(AddressSpace, String),
    /// The call stack has no such frame.
    #[error("there is no frame {frame}; the stack ends with frame {last}")]
    NoSuchFrame {
        /// The requested frame.
        frame: usize,
        /// The last frame of the stack.
        last: usize,
    },
    /// Missing data.
    #[error("{what} was not captured")]
    NotCaptured {
        /// The missing thing.
        what: String,
    },
    /// The place is past the end of the work-group's LDS, or the work-group has none.
    #[error("{what}: {}", past_lds(*size))]
    PastLds {
        /// The requested thing.
        what: String,
        /// Number of bytes of the LDS.
        size: u64,
    },
    /// The memory never existed.
    #[error("{what}: {}", NO_PRIVATE_MEMORY)]
    NoPrivateMemory {
        /// The requested thing.
        what: String,
    },
    /// The resume address of an inactive lane is unknown.
    #[error(
        "the resume address of lane {lane} is unknown: the lane is inactive, and the debug information does not give it"
    )]
    NoLanePc {
        /// The lane.
        lane: LaneId,
    },
    /// The set of active lanes is unknown.
    #[error("which lanes are active is not known: {why}")]
    NoActiveLanes {
        /// The reason.
        why: PositionError,
    },
    /// The question needs a wave or a lane, and the client named none.
    #[error("{space} needs a {needs}")]
    Needs {
        /// The space's name.
        space: String,
        /// `wave` or `lane`.
        needs: &'static str,
    },
    /// There is no source-level state; with the reason.
    #[error("no variables: {0}")]
    NoVariables(Box<SourceError>),
    /// The session's [`Interrupt`](super::Interrupt) is set.
    #[error("interrupted: the client left or the server ends")]
    Interrupted,
    /// The operating system's error.
    #[error("cannot read {what}: {error}")]
    Io {
        /// The file.
        what: String,
        /// The system's error text.
        error: String,
    },
}

impl From<SourceError> for ReadError {
    fn from(error: SourceError) -> Self {
        Self::NoVariables(Box::new(error))
    }
}
