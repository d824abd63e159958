//! What the session answers: plain data, no protocol.

use std::sync::Arc;

use crate::arch::Kind;
use crate::units::{Address, AddressSpace, LaneId, LaneSet, Pc, WaveId};

/// A wave as a list shows it.
#[derive(Clone, Debug)]
pub struct WaveInfo {
    /// Its ordinal.
    pub wave: WaveId,
    /// The dump's id.
    pub id: u32,
    /// `AMDGPU Wave 1:1:1:4 (0,0,0)/3`: agent, queue, dispatch and wave id, work-group and place in it; `?` for what
    /// is not known; ` (unconfirmed)` behind it where its values may be wrong.
    pub name: String,
    /// GPU and wave size.
    pub kind: Arc<Kind>,
    /// Program counter, if captured.
    pub pc: Option<Pc>,
    /// Active lanes, if EXEC was captured.
    pub exec: Option<LaneSet>,
    /// The symbol of the kernel, if known.
    pub kernel: Option<String>,
    /// Agent, queue and dispatch by the dump's ids.
    pub agent: u32,
    /// Queue id.
    pub queue: Option<u32>,
    /// Dispatch id.
    pub dispatch: Option<u32>,
    /// Work-group's place in the grid.
    pub workgroup: Option<[u32; 3]>,
    /// Place in the work-group.
    pub wave_in_group: Option<u32>,
    /// Names of its stop reasons; empty: it was running; `None`: not known.
    pub stop: Option<Vec<String>>,
    /// The cause in words: `memory violation`; `running`; `stop reason not captured`; with the reason where the wave is unconfirmed.
    pub cause: String,
    /// Why its values may be wrong; `None`: nothing speaks against them.
    pub unconfirmed: Option<String>,
    /// Values that nothing else in the capture confirms, with the reasons; `None`: no such values are known.
    pub unchecked: Option<String>,
    /// The signal of its stop reason in gdb's numbering; 0 when it was running or the reason is not known.
    pub signal: u8,
}

/// What is known of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneInfo {
    /// Which.
    pub lane: LaneId,
    /// What it does; `None` where neither EXEC nor the debug information tells.
    pub state: Option<LaneState>,
    /// Where it goes on; nothing of an unused lane.
    pub at: LanePosition,
    /// The work-item's id in its work-group, where group and sizes are known.
    pub local_id: Option<[u32; 3]>,
    /// The work-item's id in the grid.
    pub global_id: Option<[u32; 3]>,
    /// Whether the client's focus is on it.
    pub focused: bool,
}

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneState {
    /// It is active: by `DW_AT_LLVM_active_lane`, else by its EXEC bit.
    Active,
    /// It is not, and waits elsewhere: it has diverged.
    Inactive,
    /// It is not, and has not entered the function that the wave is in: `DW_AT_LLVM_lane_pc` is undefined for it, or the
    /// EXEC that call frame information recovers of a caller leaves it out of the call.
    NotEntered,
    /// It has no work-item: it lies beyond the work-group or the grid.
    Unused,
}

impl LaneState {
    /// In words: `not yet entered`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::NotEntered => "not yet entered",
            Self::Unused => "unused",
        }
    }

    /// Its name for programs: `not_entered`.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self == Self::NotEntered { "not_entered" } else { self.words() }
    }
}

/// What the lanes of a wave do, as a frame has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneStates {
    /// By lane.
    states: Vec<Option<LaneState>>,
}

impl LaneStates {
    /// What a lane does; `None` where neither EXEC nor the debug information tells.
    #[must_use]
    pub fn of(&self, lane: LaneId) -> Option<LaneState> {
        self.states.get(usize::from(lane.0)).copied().flatten()
    }
}

/// Lane 0 first.
impl FromIterator<Option<LaneState>> for LaneStates {
    fn from_iter<T: IntoIterator<Item = Option<LaneState>>>(states: T) -> Self {
        Self { states: states.into_iter().collect() }
    }
}

/// Where a lane goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanePosition {
    /// Its own PC; `None` where nobody can tell.
    pub pc: Option<Pc>,
    /// What tells the PC, or why nothing does.
    pub from: PcSource,
    /// The function that it is in.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Source line; `None` where the PC is not known.
    pub line: Option<u64>,
    /// The physical frame of the wave's stack that it stands in, 0 innermost; `None` where in none.
    pub physical: Option<usize>,
}

/// What tells a lane's PC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PcSource {
    /// The lane has no work-item.
    #[default]
    NoWorkItem,
    /// The lane's EXEC bit is set, so that it is where the wave is.
    Exec,
    /// `DW_AT_LLVM_active_lane` says that the lane is active, so that it is where the wave is.
    ActiveLane,
    /// `DW_AT_LLVM_lane_pc` of the function.
    LanePc,
    /// Nothing, and why.
    Unknown(String),
}

impl PcSource {
    /// Its name for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoWorkItem => "no_work_item",
            Self::Exec => "exec",
            Self::ActiveLane => "active_lane",
            Self::LanePc => "lane_pc",
            Self::Unknown(_) => "unknown",
        }
    }
}

impl std::fmt::Display for PcSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoWorkItem => "the lane has no work-item",
            Self::Exec => "the lane is active by EXEC: it is where the wave is",
            Self::ActiveLane => "the lane is active by DW_AT_LLVM_active_lane: it is where the wave is",
            Self::LanePc => "DW_AT_LLVM_lane_pc of the function says so",
            Self::Unknown(why) => why,
        })
    }
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address space.
    pub space: AddressSpace,
    /// The address in it.
    pub address: Address,
    /// The wave, for spaces that belong to a work-group, wave or lane.
    pub wave: Option<WaveId>,
    /// The lane, for spaces that belong to a lane.
    pub lane: Option<LaneId>,
}

/// A run of addresses that are alike, as clients name addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u64,
    /// Last address.
    pub last: u64,
    /// Whether something was captured there.
    pub readable: bool,
    /// Whether a code object is loaded there.
    pub code: bool,
    /// What it is: `private_lane of wave 3`, a code object's name.
    pub name: Option<String>,
}

/// A loaded code object.
#[derive(Clone, Debug)]
pub struct CodeObjectInfo {
    /// File name or URI.
    pub name: String,
    /// Where the loader had it from.
    pub uri: Option<String>,
    /// Load address: run-time address = this + ELF address.
    pub address: Address,
    /// Bytes of address space that its image takes, if its bytes are at hand.
    pub size: Option<u64>,
    /// Where the bytes come from, in words, where that is not plain.
    pub origin: Option<String>,
    /// Why it gives no variables, if it gives none.
    pub problem: Option<String>,
}

/// Why private memory is not there where none was given.
pub(super) const NO_PRIVATE_MEMORY: &str = "the wave has no private memory: its queue was given no scratch";

/// Why something cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The dump has no such wave, or it is not served.
    #[error("no wave {0}")]
    NoSuchWave(WaveId),
    /// The wave has no such lane.
    #[error("no lane {lane} in a {lanes}-lane wave")]
    NoSuchLane {
        /// Asked for.
        lane: LaneId,
        /// Lanes of the wave.
        lanes: u8,
    },
    /// The wave has no register of that index: it is of another kind.
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
        /// Asked for.
        frame: usize,
        /// The last one that there is.
        last: usize,
    },
    /// Not captured.
    #[error("{what} was not captured")]
    NotCaptured {
        /// What was asked for.
        what: String,
    },
    /// There never was any.
    #[error("{what}: {}", NO_PRIVATE_MEMORY)]
    NoPrivateMemory {
        /// What was asked for.
        what: String,
    },
    /// Nothing tells where a lane that is not active goes on.
    #[error(
        "where lane {lane} goes on is not known: it is not active, and the debug information does not say"
    )]
    NoLanePc {
        /// The lane.
        lane: LaneId,
    },
    /// Which lanes are active is not known, and why.
    #[error("which lanes are active is not known: {why}")]
    NoActiveLanes {
        /// Why.
        why: String,
    },
    /// The question needs something that nobody said: a wave or a lane.
    #[error("{space} needs a {needs}")]
    Needs {
        /// The space's name.
        space: String,
        /// `wave` or `lane`.
        needs: &'static str,
    },
    /// There is no source-level state, and why.
    #[error("no variables: {0}")]
    NoVariables(String),
    /// The session's [`Interrupt`](super::Interrupt) is set.
    #[error("interrupted: the client left or the server ends")]
    Interrupted,
    /// The operating system's word.
    #[error("cannot read {what}: {error}")]
    Io {
        /// The file.
        what: String,
        /// What the system said.
        error: String,
    },
}
