//! Core of any size as from a machine with eight GPUs: for example 50,000 waves and 100 GB of mostly holes.

use super::area::plain;
use super::core::{self, Bulk, Core};
use super::elf::Segment;
use super::gpu::{self, Counts, Slot};
use super::plan::{
    AQL, Agent, Cause, Dispatch, FilePlan, Group, Layout, Plan, Process, Queue, Raised, Scratch, Stop,
};
use super::queue;

const AGENTS: u32 = 8;
const XCCS: u32 = 8;
const QUEUES_PER_AGENT: u32 = 2;
const WAVES_PER_GROUP: u32 = 4;
const ENGINES: u32 = 4;
/// Mappings of GPU memory, one segment each. A process has thousands, of any size.
const MAPPINGS: u64 = 2000;
const GLOBAL: u64 = 0x7a00_0000_0000;

/// The faulted waves.
#[derive(Clone, Copy)]
enum Faulted {
    /// The first wave of every seventh work-group.
    Some,
    /// All waves, at one PC.
    AllAt(u64),
    /// No wave: the waves run at these PCs by turns.
    NoneAt(&'static [u64]),
}

/// Plan with `waves` waves over all XCCs.
fn plan(waves: u32, faulted: Faulted) -> Plan {
    let process = Process {
        r_version: 10,
        ttmp_setup: true,
        kfd: (1, 18),
        note_version: Some(1),
        runtime_entry: 16,
        agent_entry: 128,
        queue_entry: 64,
    };
    let file = FilePlan::plain(Layout::Split);
    let agents = (0..AGENTS).map(|index| Agent {
        id: 4000 + index,
        gpu: gpu::named("gfx942"),
        xccs: XCCS,
        engines: ENGINES,
        arrays_per_engine: 1,
        always_valid: false,
        apertures: [1 << 48, 2 << 48],
    });
    let areas = AGENTS * QUEUES_PER_AGENT * XCCS;
    let mut left = waves;
    let mut queues = Vec::new();
    for number in 0..AGENTS * QUEUES_PER_AGENT {
        let agent = (number / QUEUES_PER_AGENT) as usize;
        let mut groups = 0;
        let xccs = (0..XCCS).map(|xcc| {
            let after = areas - (number * XCCS + xcc);
            let mine = left.div_ceil(after);
            left -= mine;
            area(agent, mine, faulted, &mut groups)
        });
        let xccs: Vec<Vec<Group>> = xccs.collect();
        let most = xccs.iter().map(|groups| groups.len() as u32 * WAVES_PER_GROUP).max().unwrap_or(0);
        queues.push(Queue {
            id: number,
            id_marks: 0,
            agent,
            kind: AQL,
            packets: 16384,
            read: 7,
            write: 9,
            dispatches: vec![Dispatch {
                id: 7,
                dimensions: 1,
                workgroup: [64 * WAVES_PER_GROUP as u16, 1, 1],
                grid: [64 * WAVES_PER_GROUP * groups.max(1), 1, 1],
                private_bytes: 64,
                group_bytes: 512,
                invalidated: true,
            }],
            xccs,
            scratch: Some(Scratch { waves: most.next_multiple_of(ENGINES), wave_bytes: 4096, slack: 0 }),
        });
    }
    Plan { name: format!("{waves} waves"), seed: 1, process, agents: agents.collect(), queues, file }
}

fn area(agent: usize, mut waves: u32, faulted: Faulted, groups: &mut u32) -> Vec<Group> {
    let counts = Counts { lanes: 64, vgprs: 128, accs: 128, sgprs: 112, shared: 0 };
    let mut next = 0;
    let mut all = Vec::new();
    while waves > 0 {
        let count = waves.min(WAVES_PER_GROUP);
        waves -= count;
        let members = (0..count).map(|in_group| {
            let slot = Slot { engine: next % ENGINES, scoreboard: next / ENGINES, scratch_enabled: true };
            next += 1;
            let (pc, has_faulted) = match faulted {
                Faulted::Some => {
                    let pc = queue::code(agent) + 0x1c00 + 4 * u64::from(next % 32);
                    (pc, groups.is_multiple_of(7) && in_group == 0)
                }
                Faulted::AllAt(pc) => (pc, true),
                Faulted::NoneAt(pcs) => (pcs[next as usize % pcs.len()], false),
            };
            let mut wave = plain(counts, pc);
            (wave.in_group, wave.slot) = (in_group, slot);
            if has_faulted {
                let causes = vec![Raised { cause: Cause::Page, enabled: false }];
                wave.stop = Some(Stop { causes, ..Stop::default() });
            }
            wave
        });
        let waves = members.collect();
        all.push(Group { dispatch: 7, position: [*groups, 0, 0], lds: 512, takeover: false, waves });
        *groups += 1;
    }
    all
}

/// A file of about `size` bytes, and at least the data of the waves. Some waves faulted.
pub(crate) fn build(size: u64, waves: u32) -> Core {
    build_of(size, &plan(waves, Faulted::Some))
}

/// [`build`] with waves that all faulted at one PC.
pub(crate) fn build_of_one_fault(size: u64, waves: u32, pc: u64) -> Core {
    build_of(size, &plan(waves, Faulted::AllAt(pc)))
}

/// [`build`] with waves that run at these PCs.
pub(crate) fn build_of_running(size: u64, waves: u32, pcs: &'static [u64]) -> Core {
    build_of(size, &plan(waves, Faulted::NoneAt(pcs)))
}

fn build_of(size: u64, plan: &Plan) -> Core {
    let needed = core::build(plan, Bulk::Holes, Vec::new()).gpu.length;
    let each = (size.saturating_sub(needed) / MAPPINGS).max(1).next_multiple_of(0x1000);
    let mappings = (0..MAPPINGS).map(|index| {
        // Unmapped space between them, as the driver's allocator leaves it.
        let address = GLOBAL + index * (each + 0x20_0000).next_multiple_of(0x20_0000);
        Segment::hole(&format!("global{index}"), address, each)
    });
    core::build(plan, Bulk::Holes, mappings.collect())
}
