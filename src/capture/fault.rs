//! The fault that the driver, the runtime or the user reports: the cause of a capture, apart from the waves' state.

use super::problem::FileLocation;
use crate::notation::names;

/// A reported fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The address. `None`: the report has none.
    pub address: Option<FaultAddress>,
    /// The access. `None`: the report does not say.
    pub access: Option<FaultAccess>,
    /// The reported reasons in the report's order. Empty: the report names none, or "unknown".
    pub reasons: Vec<FaultReason>,
    /// Whether `reasons` has all reasons of the fault. ROCr's line names the first one of several.
    pub has_all_reasons: bool,
    /// The status as the reporter names it: `HSA_STATUS_ERROR_OUT_OF_RESOURCES`, or the register of a page fault in
    /// hexadecimal.
    pub status: Option<String>,
    /// The driver's number of the GPU.
    pub node: Option<u32>,
    /// The driver's name of the GPU: `0000:c3:00.0`, its PCI address, or `drmn0`.
    pub device: Option<String>,
    /// The dump's id of the agent, if the capture identifies it.
    pub agent: Option<u32>,
    /// The source of an inferred `agent`. `None`: the report itself identifies it, or `agent` is unknown.
    pub agent_inferred: Option<AgentInference>,
    /// The hardware client: `TCP`, `SQC`.
    pub client: Option<String>,
    /// The ring of a hang: `gfx_0.1.0`.
    pub ring: Option<String>,
    /// The kernel that the report names.
    pub kernel: Option<String>,
    /// Process id.
    pub process: Option<u32>,
    /// Whether the capture is of another process.
    pub is_of_other_process: bool,
    /// The process's number outside of its container, by the driver's report of a page that the program reports, too: an
    /// inference.
    pub outer_process: Option<u32>,
    /// Whether it is of a queue of the kernel's scheduler, and the capture's waves are of the process's own queues.
    pub is_of_kernel_queue: bool,
    /// Whether the capture, which lists all GPUs of its process, lacks the GPU.
    pub is_of_other_gpu: bool,
    /// The failed assertion, if the program printed it.
    pub assertion: Option<FailedAssertion>,
    /// The first reporter.
    pub source: FaultSource,
    /// The place of the first report.
    pub place: Option<FileLocation>,
    /// Further reports of the same fault.
    pub also: Vec<FaultReport>,
}

impl Fault {
    /// Whether an access to memory failed.
    #[must_use]
    pub fn is_of_memory(&self) -> bool {
        matches!(self.kind, FaultKind::Page | FaultKind::Memory | FaultKind::Aperture)
    }

    /// Whether it may be a fault of waves of the agent with that id of the dump: the report is not known to be of
    /// another GPU or of another client.
    #[must_use]
    pub fn concerns(&self, agent: u32) -> bool {
        self.is_of_waves() && self.agent.is_none_or(|of| of == agent)
    }

    /// Whether it may be a fault of the captured waves.
    #[must_use]
    pub fn is_of_waves(&self) -> bool {
        self.foreign().is_none()
    }

    /// The fact by which the report is not about the captured waves.
    #[must_use]
    pub fn foreign(&self) -> Option<Foreign> {
        if self.is_of_other_process {
            return Some(Foreign::Process);
        }
        if self.is_of_other_gpu {
            return Some(Foreign::Gpu);
        }
        let of_client = match self.client.as_deref() {
            None => None,
            Some(DRIVER) => Some(Foreign::Driver),
            // Their vector and scalar caches.
            Some(client) if client.starts_with("TCP") || client.starts_with("SQC") => None,
            Some(_) => Some(Foreign::Client),
        };
        let is_foreign = self.is_of_kernel_queue || self.is_of_ring(&RINGS_WITHOUT_WAVES);
        of_client.or(is_foreign.then_some(Foreign::Ring))
    }

    /// Whether it is the hang of a ring of the kernel's scheduler.
    #[must_use]
    pub fn is_of_kernel_ring(&self) -> bool {
        self.kind == FaultKind::Hang && self.is_of_ring(&KERNEL_RINGS)
    }

    fn is_of_ring(&self, kinds: &[&str]) -> bool {
        self.ring.as_deref().is_some_and(|ring| kinds.iter().any(|kind| ring.starts_with(kind)))
    }

    /// Whether no fact shows that two reports are of different GPUs or processes.
    #[must_use]
    pub fn may_share_origin(&self, other: &Self) -> bool {
        agree(self.device.as_ref(), other.device.as_ref())
            && agree(self.node.as_ref(), other.node.as_ref())
            && agree(self.process.as_ref(), other.process.as_ref())
    }

    /// The reported page of an access to memory, or the address that the user gives.
    #[must_use]
    pub fn page(&self) -> Option<FaultAddress> {
        self.address.filter(|_| matches!(self.kind, FaultKind::Page | FaultKind::Memory))
    }
}

/// Whether two facts of reports do not contradict: an unknown one contradicts none.
pub(crate) fn agree<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// The client of accesses in the driver's own address space, VMID 0: no wave runs there.
pub const DRIVER: &str = "driver (VMID 0)";

/// Beginnings of the names of rings that run no waves: copies, and media (`amdgpu_ring_init` and its callers).
const RINGS_WITHOUT_WAVES: [&str; 8] = ["sdma", "page", "uvd", "vce", "vcn", "jpeg", "vpe", "umsch"];

/// Beginnings of the names of rings that the kernel's scheduler fills with jobs of graphics APIs. ROCm's queues (AQL) are
/// the process's own, and on none of them.
const KERNEL_RINGS: [&str; 2] = ["gfx", "comp"];

/// A fact by which a report is not about the captured waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Foreign {
    /// The report is of another process than the capture.
    Process,
    /// The report is of a GPU that the capture's process does not have.
    Gpu,
    /// The access was in the driver's own address space.
    Driver,
    /// The client runs no waves: the command processor, copies (SDMA), media.
    Client,
    /// The ring runs none of the waves: copies (SDMA), media; of ROCm's waves also graphics and the kernel's compute.
    Ring,
}

/// Maximum number of reported faults of a capture: a kernel log repeats faults for as long as it runs. A list of that
/// length may lack others.
pub const MAX_FAULTS: usize = 256;

/// A further report of a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultReport {
    /// The reporter.
    pub source: FaultSource,
    /// The place of the report.
    pub place: Option<FileLocation>,
}

/// A failed assertion as the program prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedAssertion {
    /// The condition, as the source has it.
    pub condition: String,
    /// The source file by the compiler's name.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u64>,
    /// The function with its parameters.
    pub function: Option<String>,
}

/// The kind of a reported fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An access to a page that the GPU may not access in this way.
    #[default]
    Page,
    /// An access to memory. The report distinguishes no page from an aperture.
    Memory,
    /// An access outside all apertures. It has no page.
    Aperture,
    /// An illegal instruction.
    IllegalInstruction,
    /// An exception of a wave: abort, trap, arithmetic.
    Exception,
    /// An uncorrectable memory error.
    Ecc,
    /// A failed assertion of the program.
    Assertion,
    /// A packet that the queue could not launch; no wave ran.
    Launch,
    /// Any other error of a queue.
    Queue,
    /// A GPU that did not respond, and that the driver reset.
    Hang,
    /// A release of memory that the GPU uses.
    InUse,
}

/// A reported address: its low bits are unknown, if the report names a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultAddress {
    /// The first address.
    pub start: u64,
    /// The number of bytes that the report covers: [`PAGE`] for a page, 1 for an exact address.
    pub bytes: u64,
    /// Whether the reporter marks it as inexact.
    pub is_inexact: bool,
}

/// Bytes of a page in reports of faults, on all GPUs.
pub const PAGE: u64 = 4096;

/// The access of a reported fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultAccess {
    /// A load.
    Read,
    /// A store or an atomic.
    Write,
    /// A fetch of instructions.
    Execute,
}

/// A reason, as AMD's runtime and driver name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultReason {
    /// The page is not present, or the access needs supervisor rights.
    NotPresent,
    /// A write to a read-only page; together with `NotPresent` a write to a page that is not present.
    ReadOnly,
    /// An execution of a page without execution rights.
    NoExecute,
    /// Only the host may access the page.
    HostOnly,
    /// An uncorrectable error in DRAM.
    DramEcc,
    /// An uncorrectable error in SRAM.
    SramEcc,
    /// A hang from which the driver recovered.
    HangRecovery,
    /// The memory is in use.
    InUse,
}

/// The source of an inferred agent of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentInference {
    /// The core has one GPU.
    OnlyGpu,
    /// Another report with the same driver's number identifies its agent.
    SameNode,
}

/// The reporter of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FaultSource {
    /// rocm-debug-agent.
    DebugAgent,
    /// A line of AMD's runtime.
    Runtime,
    /// A line of LLVM's offload runtime.
    Offload,
    /// HIP's error, or that of a framework.
    Hip,
    /// The kernel log.
    KernelLog,
    /// A device core dump of the kernel.
    DeviceDump,
    /// AMD's library of the driver's interface (libhsakmt).
    Thunk,
    /// tinygrad.
    Tinygrad,
    /// The dump's own table.
    #[default]
    Dump,
    /// The user's option.
    User,
}

impl FaultSource {
    /// The reporter in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::DebugAgent => "the debug agent",
            Self::Runtime => "ROCm's runtime",
            Self::Offload => "LLVM's offload runtime",
            Self::Hip => "HIP",
            Self::KernelLog => "the kernel log",
            Self::DeviceDump => "the kernel's device core dump",
            Self::Thunk => "libhsakmt",
            Self::Tinygrad => "tinygrad",
            Self::Dump => "the dump",
            Self::User => "the user",
        }
    }
}

/// Names of the values of an enumeration in dumps and in JSON.
macro_rules! values {
    ($($type:ident { $($value:ident $name:literal,)* })*) => {$(
        impl $type {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];
        }

        names!($type { $(Self::$value => $name,)* });
    )*};
}

values! {
    FaultKind {
        Page "page",
        Memory "memory",
        Aperture "aperture",
        IllegalInstruction "illegal_instruction",
        Exception "exception",
        Ecc "ecc",
        Assertion "assertion",
        Launch "launch",
        Queue "queue",
        Hang "hang",
        InUse "in_use",
    }
    Foreign {
        Process "process",
        Gpu "gpu",
        Driver "driver",
        Client "client",
        Ring "ring",
    }
    FaultAccess {
        Read "read",
        Write "write",
        Execute "execute",
    }
    FaultReason {
        NotPresent "not_present",
        ReadOnly "read_only",
        NoExecute "no_execute",
        HostOnly "host_only",
        DramEcc "dram_ecc",
        SramEcc "sram_ecc",
        HangRecovery "hang_recovery",
        InUse "in_use",
    }
    AgentInference {
        OnlyGpu "only_gpu",
        SameNode "same_node",
    }
    FaultSource {
        DebugAgent "debug_agent",
        Runtime "runtime",
        Offload "offload",
        Hip "hip",
        KernelLog "kernel_log",
        DeviceDump "device_dump",
        Thunk "libhsakmt",
        Tinygrad "tinygrad",
        Dump "dump",
        User "user",
    }
}
