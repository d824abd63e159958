//! Kernel launches for lists.

pub(super) mod arguments;
pub(super) mod kernels;
pub(super) mod mangled;

use std::collections::HashMap;

use super::Dump;
use crate::capture::Dispatch;
use crate::notation::names;
use crate::units::{Address, WaveId};

/// A kernel launch; `None`: not captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchInfo {
    /// The dump's id.
    pub id: u32,
    /// `AMDGPU Dispatch 1:2:1 (PKID 0)`: agent, queue and dispatch id, and the packet's if known.
    pub name: String,
    /// Agent id.
    pub agent: u32,
    /// Queue id.
    pub queue: u32,
    /// The packet's id in its queue.
    pub packet: Option<u64>,
    /// Work-items in the grid.
    pub grid: Option<[u32; 3]>,
    /// Work-items in a full work-group.
    pub workgroup: Option<[u32; 3]>,
    /// The fences of its packet.
    pub fences: Option<Fences>,
    /// LDS bytes of a work-group.
    pub group_segment_size: Option<u64>,
    /// Private bytes of a work-item.
    pub private_segment_size: Option<u64>,
    /// The kernel: by the dump's name, else by its descriptor.
    pub kernel: Option<String>,
    /// Address of the kernel descriptor.
    pub kernel_object: Option<Address>,
    /// Address of the kernel arguments.
    pub kernarg: Option<Address>,
    /// Its served waves.
    pub waves: Vec<WaveId>,
    /// Number of further waves that the dump leaves out, and that these stand for; 0 if the client chose the waves.
    pub left_out: usize,
    /// Whether the dump claims that it has all its waves that had not ended, itself or by others that stand for them.
    pub has_all_waves: bool,
}

/// The barrier bit and the fence scopes of a packet's header: HSA Platform System Architecture, "AQL packet header".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fences {
    /// Whether it waits for the packets before it.
    pub barrier: bool,
    /// Scope of the acquire fence.
    pub acquire: FenceScope,
    /// Scope of the release fence.
    pub release: FenceScope,
}

/// The scope of a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceScope {
    /// No fence.
    None,
    /// The agent.
    Agent,
    /// The whole system.
    System,
    /// The value 3, which has no meaning.
    Reserved,
}

impl Fences {
    fn of(header: u16) -> Self {
        let scope = |shift: u16| match header >> shift & 3 {
            0 => FenceScope::None,
            1 => FenceScope::Agent,
            2 => FenceScope::System,
            _ => FenceScope::Reserved,
        };
        Self { barrier: header & 1 << 8 != 0, acquire: scope(9), release: scope(11) }
    }
}

names!(FenceScope {
    Self::None => "none",
    Self::Agent => "agent",
    Self::System => "system",
    Self::Reserved => "reserved",
});

impl FenceScope {
    /// Its letter after `A` or `R` in the notation of AMD's gdb; empty without a fence.
    #[must_use]
    fn letter(self) -> Option<char> {
        match self {
            Self::None => None,
            Self::Agent => Some('a'),
            Self::System => Some('s'),
            Self::Reserved => Some('?'),
        }
    }
}

/// The abbreviation of AMD's gdb: `B|Aa|Rs`; `-` without fences.
impl std::fmt::Display for Fences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let barrier = self.barrier.then(|| "B".to_owned());
        let acquire = self.acquire.letter().map(|scope| format!("A{scope}"));
        let release = self.release.letter().map(|scope| format!("R{scope}"));
        let each: Vec<String> = [barrier, acquire, release].into_iter().flatten().collect();
        f.write_str(if each.is_empty() { "-" } else { "" })?;
        f.write_str(&each.join("|"))
    }
}

/// The dispatches of a dump, in its order, with all waves of any kind.
#[must_use]
pub fn dispatches_of(dump: &Dump) -> Vec<DispatchInfo> {
    let capture = dump.capture();
    let waves: Vec<WaveId> = (0u32..).zip(&capture.waves).map(|(ordinal, _)| WaveId(ordinal)).collect();
    all(dump, &waves, true)
}

/// All dispatches in the dump's order; `waves`: the served ones. `has_left_out`: counts also those that they stand for.
pub(super) fn all(dump: &Dump, waves: &[WaveId], has_left_out: bool) -> Vec<DispatchInfo> {
    let capture = dump.capture();
    let mut of: HashMap<usize, Vec<WaveId>> = HashMap::new();
    for id in waves {
        let group = capture.wave(*id).and_then(|wave| capture.workgroup_of(wave));
        if let Some(dispatch) = group.and_then(|group| group.dispatch) {
            of.entry(dispatch).or_default().push(*id);
        }
    }
    let each = capture.dispatches.iter().enumerate();
    each.map(|(index, dispatch)| {
        let has_all_waves = capture.left_out.whole_dispatches.contains(&index);
        let waves = of.remove(&index).unwrap_or_default();
        let more = |wave: &WaveId| capture.left_out.of(*wave) as usize;
        let left_out = if has_left_out { waves.iter().map(more).sum() } else { 0 };
        DispatchInfo { left_out, has_all_waves, ..info(dump, dispatch, waves) }
    })
    .collect()
}

fn info(dump: &Dump, dispatch: &Dispatch, waves: Vec<WaveId>) -> DispatchInfo {
    let capture = dump.capture();
    let queue = capture.queues.get(dispatch.queue);
    let agent = queue.and_then(|queue| capture.agents.get(queue.agent)).map_or(0, |agent| agent.id);
    let queue = queue.map_or(0, |queue| queue.id);
    let packet = dispatch.packet.map_or(String::new(), |packet| format!(" (PKID {packet})"));
    DispatchInfo {
        id: dispatch.id,
        name: format!("AMDGPU Dispatch {agent}:{queue}:{}{packet}", dispatch.id),
        agent,
        queue,
        packet: dispatch.packet,
        grid: dispatch.grid,
        workgroup: dispatch.workgroup,
        fences: dispatch.header.map(Fences::of),
        group_segment_size: dispatch.group_segment_size,
        private_segment_size: dispatch.private_segment_size,
        kernel: dump.kernel_name(dispatch),
        kernel_object: dispatch.kernel_object,
        kernarg: dispatch.kernarg,
        waves,
        left_out: 0,
        has_all_waves: false,
    }
}
