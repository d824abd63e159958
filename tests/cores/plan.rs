//! Contents of a core, in terms of a debugger.

use super::gpu::{Counts, Gpu, Slot};

/// Captured process with GPUs.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Name in test messages.
    pub(crate) name: String,
    pub(crate) seed: u32,
    pub(crate) process: Process,
    pub(crate) agents: Vec<Agent>,
    pub(crate) queues: Vec<Queue>,
    pub(crate) file: FilePlan,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) r_version: u32,
    pub(crate) ttmp_setup: bool,
    pub(crate) kfd: (u32, u32),
    /// `None`: the note begins with the driver's version, as in LLVM's text.
    pub(crate) note_version: Option<u64>,
    /// Bytes of an entry in the file.
    pub(crate) runtime_entry: usize,
    pub(crate) agent_entry: usize,
    pub(crate) queue_entry: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Agent {
    pub(crate) id: u32,
    pub(crate) gpu: Gpu,
    pub(crate) xccs: u32,
    /// Shader engines of one XCC.
    pub(crate) engines: u32,
    pub(crate) arrays_per_engine: u32,
    /// Whether the hardware fills TTMPs without a request of the process.
    pub(crate) always_valid: bool,
    /// Bases of LDS and of private memory in the generic space.
    pub(crate) apertures: [u64; 2],
}

/// Queue type compute AQL.
pub(crate) const AQL: u32 = 2;

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(crate) id: u32,
    /// Bits that the driver adds to the id: 30 error, 31 invalid.
    pub(crate) id_marks: u32,
    /// Index of the agent.
    pub(crate) agent: usize,
    /// 0 compute PM4, 1 SDMA, 2 compute AQL, 3 SDMA XGMI.
    pub(crate) kind: u32,
    /// Packets in the ring.
    pub(crate) packets: u32,
    /// Packets read and written so far.
    pub(crate) read: u64,
    pub(crate) write: u64,
    pub(crate) dispatches: Vec<Dispatch>,
    /// Work-groups of each XCC, in the order of its control stack.
    pub(crate) xccs: Vec<Vec<Group>>,
    pub(crate) scratch: Option<Scratch>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scratch {
    /// Count in COMPUTE_TMPRING_SIZE: of the XCC, or of one engine from gfx11 on.
    pub(crate) waves: u32,
    /// Bytes of scratch per wave.
    pub(crate) wave_bytes: u32,
    /// Bytes of an XCC's part beyond the need of its waves; up to r_version 10 the queue records its size.
    pub(crate) slack: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Dispatch {
    /// Number of earlier packets since the creation of the queue.
    pub(crate) id: u64,
    pub(crate) dimensions: u16,
    pub(crate) workgroup: [u16; 3],
    pub(crate) grid: [u32; 3],
    pub(crate) private_bytes: u32,
    pub(crate) group_bytes: u32,
    /// Whether the command processor has consumed the packet: its header is "invalid".
    pub(crate) invalidated: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// [`Dispatch::id`].
    pub(crate) dispatch: u64,
    pub(crate) position: [u32; 3],
    /// Allocated bytes.
    pub(crate) lds: u32,
    /// gfx12: whether the work-group owns the LDS of a whole WGP, 128 KiB.
    pub(crate) takeover: bool,
    pub(crate) waves: Vec<Wave>,
}

#[derive(Clone, Debug)]
pub(crate) struct Wave {
    pub(crate) in_group: u32,
    pub(crate) counts: Counts,
    pub(crate) slot: Slot,
    pub(crate) pc: u64,
    pub(crate) exec: u64,
    /// `None`: the wave was running at the queue's preemption.
    pub(crate) stop: Option<Stop>,
    /// Bits of STATUS without meaning for stops: neither 5, 13 nor 18.
    pub(crate) status: u32,
    /// HALT of a wave that was running.
    pub(crate) halted: bool,
    /// MODE without enables of exceptions.
    pub(crate) mode: u32,
    /// gfx11 and later: whether the wave has released its VGPRs.
    pub(crate) no_vgprs: bool,
    /// The trap handler's mark that the dispatcher did not fill this wave's TTMPs (r_version 10 and later).
    pub(crate) no_dispatch_info: bool,
    /// gfx94x and gfx12: the trap handler never ran for this wave and left no marks. The wave cannot have stopped.
    pub(crate) unmarked: bool,
    /// SGPR slots with values other than filler.
    pub(crate) scalars: Vec<(u32, u32)>,
}

/// Stop reason of a wave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    /// Trap number; 0: not stopped by s_trap.
    pub(crate) trap: u32,
    /// HALT before the trap handler set it.
    pub(crate) halted: bool,
    pub(crate) causes: Vec<Raised>,
    /// Address where the trap handler parked the wave; `None` for generations without parking.
    pub(crate) parked_at: Option<u64>,
}

/// An exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raised {
    pub(crate) cause: Cause,
    /// Whether its enable is set, if it has one.
    pub(crate) enabled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Invalid,
    InputDenormal,
    DivideByZero,
    Overflow,
    Underflow,
    Inexact,
    IntegerDivideByZero,
    Watch(u32),
    /// mem_viol
    Address,
    /// xnack_error
    Page,
    Illegal,
    Host,
    WaveStart,
    WaveEnd,
    AfterInstruction,
}

/// Layout of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilePlan {
    pub(crate) layout: Layout,
    /// Program headers like ROCr's (alignment as a shift, flags of sections); otherwise like a host dumper's.
    pub(crate) rocr_headers: bool,
    /// Position of the note: among others in one segment, or alone.
    pub(crate) host_notes: NotePlace,
    /// Program headers at the end that are all zero.
    pub(crate) zero_headers: u16,
    /// Segments are cut every `cut_every` bytes, through any structure.
    pub(crate) cut_every: Option<u64>,
    /// Whether the file also has the host's view of GPU memory: shorter, and zero.
    pub(crate) host_views: bool,
    pub(crate) quirks: Quirks,
}

impl FilePlan {
    /// A file without odd cases.
    pub(crate) fn plain(layout: Layout) -> Self {
        Self {
            layout,
            rocr_headers: layout == Layout::Split,
            host_notes: NotePlace::Alone,
            zero_headers: 0,
            cut_every: None,
            host_views: false,
            quirks: Quirks::default(),
        }
    }
}

/// Differences between versions of ROCr (rocm-systems, amd_core_dump.cpp).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quirks {
    /// #1979 to #7502, through a pipe: program headers as for a file, and no padding between segments.
    pub(crate) unpadded: bool,
    /// #6811 to #9166: save areas have the size of XCC 0's used bytes, shader arrays the count of all XCCs.
    pub(crate) xcc0_sizes: bool,
    /// #3338 to #7408 with HSA_ENABLE_LIGHTWEIGHT_COREDUMP: neither rings nor `amd_queue_t`.
    pub(crate) lightweight: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A GPU core without the host's.
    Split,
    /// Host and GPU in one file.
    Unified,
    /// A GPU core, and a host core as a separate file.
    Pair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotePlace {
    /// Its own segment, the first.
    Alone,
    /// After other notes in their segment.
    Behind,
    /// Its own segment after all memory.
    Last,
}

impl Plan {
    /// Whether TTMPs that the dispatcher fills are valid on that agent.
    pub(crate) fn has_dispatch_info(&self, agent: &Agent) -> bool {
        self.process.ttmp_setup || agent.always_valid || agent.gpu.family.is_gfx12()
    }

    /// Every wave with its queue, XCC and group, in the order of queue, XCC, control stack.
    pub(crate) fn waves(&self) -> impl Iterator<Item = (usize, usize, &Group, &Wave)> {
        self.queues.iter().enumerate().flat_map(|(index, queue)| {
            queue.xccs.iter().enumerate().flat_map(move |(xcc, groups)| {
                groups
                    .iter()
                    .flat_map(move |group| group.waves.iter().map(move |wave| (index, xcc, group, wave)))
            })
        })
    }
}
