//! Plans: every generation and wave size, with odd cases chosen by a seed.

use std::collections::BTreeSet;

use super::area::plain;
use super::core::ordered;
use super::filler::Chooser;
use super::gpu::{self, Counts, Family, Gpu, Slot};
use super::plan::{
    AQL, Agent, Cause, Dispatch, FilePlan, Group, Layout, NotePlace, Plan, Process, Queue, Quirks, Raised,
    Scratch, Stop, Wave,
};
use super::queue;

/// Plan of one agent; everything else follows from the seed.
pub(crate) fn plan(gpu: Gpu, lanes: u32, seed: u32) -> Plan {
    let mut chooser = Chooser::new(seed);
    let process = process(gpu.family, &mut chooser);
    let agents = vec![agent(gpu, 1000 + seed, process, &mut chooser)];
    let mut plan = Plan {
        name: format!("{} wave{lanes} seed {seed}", gpu.name),
        seed,
        process,
        agents,
        queues: Vec::new(),
        file: file(&mut chooser),
    };
    let count = 1 + chooser.below(2);
    for id in 1..=count {
        let queue = queue_of(&plan, 0, id, lanes, &mut chooser);
        plan.queues.push(queue);
    }
    others(&mut plan, &mut chooser);
    // A note after all memory has padding before it, too.
    plan.file.quirks.unpadded = seed.is_multiple_of(3)
        && plan.file.layout != Layout::Unified
        && plan.file.host_notes != NotePlace::Last;
    if plan.agents[0].xccs == 1 && chooser.one_in(5) {
        // Too short for the field of the save area's size, which only further XCCs need.
        plan.process.queue_entry = 56;
    }
    plan
}

/// The same plan with equal register counts for all waves of a kernel and in its descriptor, as a compiler allocates.
pub(crate) fn uniform(mut plan: Plan) -> Plan {
    let mut known = std::collections::BTreeMap::new();
    for queue in &mut plan.queues {
        for group in queue.xccs.iter_mut().flatten() {
            for wave in &mut group.waves {
                let key = (queue.agent, group.dispatch % 8);
                wave.counts = *known.entry(key).or_insert(wave.counts);
            }
        }
    }
    plan
}

/// The same plan with a buffer descriptor of private memory in s[0:3] of every other wave: base, stride, swizzle.
pub(crate) fn with_buffers(mut plan: Plan) -> Plan {
    let bases: Vec<_> =
        ordered(&plan).into_iter().flatten().flatten().map(|(of, ..)| queue::scratch(of)).collect();
    let queues = plan.queues.iter_mut();
    let waves = queues.flat_map(|queue| queue.xccs.iter_mut().flatten()).flat_map(|group| &mut group.waves);
    for (wave, base) in waves.zip(bases).step_by(2) {
        if let Some((base, _)) = base {
            wave.scalars.extend([(0, base as u32), (1, (base >> 32) as u32 | 4 << 16 | 1 << 31)]);
        }
    }
    plan
}

/// Agents of different generations in one core.
pub(crate) fn mixed(seed: u32, gpus: &[(Gpu, u32)]) -> Plan {
    let mut chooser = Chooser::new(seed);
    let process = Process { r_version: 10, ttmp_setup: true, ..process(Family::Navi3, &mut chooser) };
    let names: Vec<_> = gpus.iter().map(|(gpu, lanes)| format!("{} wave{lanes}", gpu.name)).collect();
    let mut plan = Plan {
        name: format!("{} seed {seed}", names.join(", ")),
        seed,
        process,
        agents: Vec::new(),
        queues: Vec::new(),
        file: file(&mut chooser),
    };
    for (index, (gpu, lanes)) in gpus.iter().enumerate() {
        plan.agents.push(agent(*gpu, 500 + index as u32, process, &mut chooser));
        let queue = queue_of(&plan, index, 10 + index as u32, *lanes, &mut chooser);
        plan.queues.push(queue);
    }
    others(&mut plan, &mut chooser);
    plan
}

/// Plans of all generations and wave sizes, `seeds` of each, and some of several generations.
pub(crate) fn all(seeds: u32) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (index, gpu) in (0..).zip(gpu::ALL.iter().copied()) {
        for lanes in gpu.family.wave_sizes() {
            plans.extend((0..seeds).map(|seed| plan(gpu, *lanes, 1 + index * 64 + lanes / 32 * 16 + seed)));
        }
    }
    let of = |name: &str, lanes: u32| (gpu::named(name), lanes);
    plans.push(mixed(9001, &[of("gfx90a", 64), of("gfx1100", 32), of("gfx1201", 64)]));
    plans.push(mixed(9002, &[of("gfx942", 64), of("gfx950", 64), of("gfx906", 64), of("gfx1030", 32)]));
    plans.push(mixed(9003, &[of("gfx1010", 64), of("gfx1010", 32), of("gfx908", 64), of("gfx1151", 64)]));
    plans
}

/// Plans of several XCCs as ROCr of June and July 2026 writes them; in some, XCC 0 has no waves.
pub(crate) fn xcc0_sizes(seeds: u32) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (index, gpu) in (0..).zip(gpu::ALL.iter().copied()).filter(|(_, gpu)| gpu.family.is_aqua()) {
        let all = (0..).map(|seed| plan(gpu, 64, 5000 + index * 64 + seed));
        plans.extend(all.filter(|plan| plan.agents[0].xccs > 1).take(seeds as usize));
    }
    for (index, plan) in plans.iter_mut().enumerate() {
        plan.file.quirks.xcc0_sizes = true;
        plan.process.queue_entry = 64;
        if index % 3 == 2 {
            plan.queues.iter_mut().filter_map(|queue| queue.xccs.first_mut()).for_each(Vec::clear);
        }
    }
    plans
}

/// Lightweight cores of GPUs whose registers locate private memory.
pub(crate) fn lightweight(seeds: u32) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (index, gpu) in (0..).zip(gpu::ALL.iter().copied()) {
        if gpu.family.is_aqua() || gpu.family >= Family::Navi3 {
            let lanes = gpu.family.wave_sizes();
            plans.extend(
                (0..seeds)
                    .map(|seed| plan(gpu, lanes[seed as usize % lanes.len()], 7000 + index * 64 + seed)),
            );
        }
    }
    for plan in &mut plans {
        plan.file.layout = Layout::Split;
        plan.file.quirks.lightweight = true;
    }
    plans
}

/// Plans with full rings: no capacity for another packet.
pub(crate) fn full_rings(seeds: u32) -> Vec<Plan> {
    let mut plans = all(seeds);
    for queue in
        plans.iter_mut().flat_map(|plan| &mut plan.queues).filter(|queue| !queue.dispatches.is_empty())
    {
        queue.write = queue.read + u64::from(queue.packets);
    }
    plans
}

fn process(family: Family, chooser: &mut Chooser) -> Process {
    // The descriptions do not define how an importer reads TTMPs of gfx94x before the marks were introduced.
    let r_version = 8 + chooser.below(5);
    let agent_entry = chooser.of(&[112, 120, 128, 136]);
    Process {
        r_version: if family.is_aqua() { r_version.max(9) } else { r_version },
        ttmp_setup: !chooser.one_in(5),
        kfd: (1, chooser.of(&[13, 14, 16, 18, 21])),
        note_version: if chooser.one_in(8) { None } else { Some(1) },
        runtime_entry: chooser.of(&[16, 16, 24]),
        agent_entry,
        queue_entry: chooser.of(&[64, 64, 72]),
    }
}

fn agent(gpu: Gpu, id: u32, process: Process, chooser: &mut Chooser) -> Agent {
    let many = gpu.family.is_aqua();
    let engines = match gpu.family {
        Family::Aldebaran => 8,
        Family::Arcturus => 8,
        Family::Navi3 | Family::Navi4 | Family::Gfx125 => chooser.of(&[2, 6]),
        Family::Navi1 => 2,
        _ => 4,
    };
    Agent {
        id,
        gpu,
        xccs: if many { chooser.of(&[1, 2, 6, 8]) } else { 1 },
        engines,
        arrays_per_engine: 1 + chooser.below(2),
        always_valid: process.agent_entry >= 120 && chooser.one_in(4),
        apertures: if chooser.one_in(4) {
            [0x0003_0000_0000_0000, 0x0004_0000_0000_0000]
        } else {
            [0x0001_0000_0000_0000, 0x0002_0000_0000_0000]
        },
    }
}

fn file(chooser: &mut Chooser) -> FilePlan {
    let layout = chooser.of(&[Layout::Split, Layout::Unified, Layout::Pair]);
    FilePlan {
        layout,
        rocr_headers: !chooser.one_in(3),
        host_notes: chooser.of(&[NotePlace::Alone, NotePlace::Behind, NotePlace::Last]),
        zero_headers: chooser.of(&[0, 0, 3]),
        cut_every: chooser.of(&[None, None, Some(0x1234), Some(0x3001)]),
        host_views: chooser.one_in(2),
        quirks: Quirks::default(),
    }
}

/// Queues without waves, or of a type that readers skip.
fn others(plan: &mut Plan, chooser: &mut Chooser) {
    let mut empty = queue_of(plan, 0, 77, plan.agents[0].gpu.family.wave_sizes()[0], chooser);
    empty.dispatches.clear();
    (empty.read, empty.write) = (9, 9);
    if chooser.one_in(2) {
        empty.xccs.clear();
    } else {
        empty.xccs.iter_mut().for_each(Vec::clear);
    }
    plan.queues.insert(plan.queues.len() / 2, empty);
    for kind in [0, 1, 3] {
        if chooser.one_in(3) {
            let mut other = plan.queues[plan.queues.len() - 1].clone();
            if chooser.one_in(2) {
                other.xccs.clear();
            }
            (other.id, other.kind) = (90 + kind, kind);
            plan.queues.push(other);
        }
    }
}

fn scratch(family: Family, engines: u32, chooser: &mut Chooser) -> Option<Scratch> {
    if chooser.one_in(6) {
        return None;
    }
    let slack = if chooser.one_in(2) { 0 } else { 0x1000 };
    Some(match family {
        Family::Navi3 | Family::Navi4 | Family::Gfx125 => {
            Scratch { waves: 8, wave_bytes: 256 * chooser.of(&[1, 3, 10]), slack }
        }
        // They divide evenly among the engines; otherwise owners would be ambiguous.
        _ => {
            let odd = u32::from(chooser.one_in(6));
            Scratch { waves: engines * 8 + odd, wave_bytes: 1024 * chooser.of(&[1, 2, 4]), slack }
        }
    })
}

/// Wave slots of an XCC: each is used once.
struct Slots {
    engines: u32,
    next: u32,
}

impl Slots {
    fn next(&mut self, chooser: &mut Chooser) -> Slot {
        self.next += 1;
        // Waves of a work-group are on neighbouring engines, as the dispatcher spreads them.
        let slot = self.next - 1;
        Slot {
            engine: slot % self.engines,
            scoreboard: slot / self.engines,
            scratch_enabled: !chooser.one_in(8),
        }
    }
}

fn queue_of(plan: &Plan, agent: usize, id: u32, lanes: u32, chooser: &mut Chooser) -> Queue {
    let Agent { gpu, xccs, engines, .. } = plan.agents[agent];
    let family = gpu.family;
    let packets = chooser.of(&[16, 64]);
    // Some rings have wrapped, and some queues wrap at this moment.
    let read = u64::from(chooser.of(&[0, 3, packets - 2, packets * 5 + packets - 1, packets * 9 + 1]));
    let mut queue = Queue {
        id,
        id_marks: chooser.of(&[0, 0, 0, 1 << 30]),
        agent,
        kind: AQL,
        packets,
        read,
        write: read + 4,
        dispatches: Vec::new(),
        xccs: Vec::new(),
        scratch: scratch(family, engines, chooser),
    };
    if plan.process.r_version >= 11
        && let Some(scratch) = &mut queue.scratch
    {
        // The size of a part is not recorded.
        scratch.slack = 0;
    }
    for number in 0..3 {
        queue.dispatches.push(dispatch(read + number, lanes, chooser));
    }
    let mut taken = BTreeSet::new();
    for xcc in 0..xccs {
        let mut slots = Slots { engines, next: 0 };
        let empty = xccs > 1 && (xcc == 2 || chooser.one_in(4));
        let count = if empty { 0 } else { 1 + chooser.below(3) };
        let groups = (0..count)
            .map(|_| group(plan, agent, &queue, lanes, (&mut slots, &mut taken), chooser))
            .collect();
        queue.xccs.push(groups);
    }
    queue
}

fn dispatch(id: u64, lanes: u32, chooser: &mut Chooser) -> Dispatch {
    let (dimensions, workgroup, grid) = match chooser.below(3) {
        0 => (1, [lanes as u16 * 3, 1, 1], [lanes * 3 * 7, 1, 1]),
        // Partial groups at both edges.
        1 => (2, [16, lanes as u16 / 4, 1], [16 * 5 + 3, lanes / 4 * 3 + 5, 1]),
        _ => (3, [8, lanes as u16 / 8, 3], [8 * 4 + 5, lanes / 8 * 3 + 1, 3 * 2 + 1]),
    };
    Dispatch {
        id,
        dimensions,
        workgroup,
        grid,
        private_bytes: 16 * chooser.below(64),
        group_bytes: 4 * chooser.below(128),
        invalidated: chooser.one_in(2),
    }
}

fn group(
    plan: &Plan,
    agent: usize,
    queue: &Queue,
    lanes: u32,
    (slots, taken): (&mut Slots, &mut BTreeSet<(u64, [u32; 3])>),
    chooser: &mut Chooser,
) -> Group {
    let family = plan.agents[agent].gpu.family;
    let counts_of = |dispatch: &Dispatch| {
        [0, 1, 2].map(|axis| dispatch.grid[axis].div_ceil(u32::from(dispatch.workgroup[axis])))
    };
    // A work-group runs once.
    let has_place = |dispatch: &&Dispatch| {
        let used = taken.iter().filter(|(id, _)| *id == dispatch.id).count();
        used < counts_of(dispatch).iter().product::<u32>() as usize
    };
    let first = chooser.below(3) as usize;
    let dispatch = queue.dispatches.iter().cycle().skip(first).take(3).find(has_place).unwrap();
    let Dispatch { id, workgroup, grid, .. } = *dispatch;
    let groups = counts_of(dispatch);
    let mut position = groups.map(|groups| chooser.below(groups));
    while !taken.insert((id, position)) {
        for (at, groups) in position.iter_mut().zip(groups) {
            *at = (*at + 1) % groups;
            if *at != 0 {
                break;
            }
        }
    }
    let size = |axis: usize| {
        let whole = u32::from(workgroup[axis]);
        whole.min(grid[axis] - whole * position[axis])
    };
    let items = size(0) * size(1) * size(2);
    let takeover = family == Family::Navi4 && chooser.one_in(5);
    let granules = chooser.of(&[0, 1, 2, 5]);
    let lds = if takeover { 128 << 10 } else { granules * family.lds_granule() };
    let same = chooser.one_in(2).then(|| counts(family, lanes, chooser));
    // A group's shared values come from its first wave, so the first one has them if any wave has.
    let nameless = chooser.of(&[None, None, None, Some(0), Some(1)]);
    // On gfx12 the dispatcher always fills them.
    let nameless = nameless.filter(|_| plan.process.r_version >= 10 && !family.is_gfx12());
    let waves = (0..items.div_ceil(lanes)).map(|in_group| {
        let counts = same.unwrap_or_else(|| counts(family, lanes, chooser));
        let mut wave = wave(plan, agent, counts, in_group, slots.next(chooser), chooser);
        wave.no_dispatch_info = !wave.unmarked && nameless.is_some_and(|first| in_group >= first);
        wave
    });
    let mut group = Group { dispatch: id, position, lds, takeover, waves: waves.collect() };
    if nameless == Some(0) && group.waves.iter().any(|wave| wave.unmarked) {
        group.waves.iter_mut().for_each(|wave| wave.no_dispatch_info = false);
    }
    group
}

fn counts(family: Family, lanes: u32, chooser: &mut Chooser) -> Counts {
    // More than 256, if a processor has them.
    let granules = if family == Family::Gfx125 { [1, 3, 17, 33] } else { [1, 2, 3, 6] };
    let vgprs = family.vgpr_granule(lanes) * chooser.of(&granules);
    let accs = match family {
        Family::Arcturus => vgprs,
        _ if family.has_unified_accs() => {
            // VGPRs and accumulation registers together are allocated in eights.
            let whole = (vgprs + 4 * chooser.below(4)).next_multiple_of(8);
            whole - vgprs
        }
        _ => 0,
    };
    let sgprs = if family.is_gfx9() { chooser.of(&[32, 48, 96, 112]) } else { 128 };
    let shared = if !family.is_gfx9() && family != Family::Gfx125 && chooser.one_in(4) {
        8 * (1 + chooser.below(2))
    } else {
        0
    };
    Counts { lanes, vgprs, accs, sgprs, shared }
}

fn wave(plan: &Plan, agent: usize, counts: Counts, in_group: u32, slot: Slot, chooser: &mut Chooser) -> Wave {
    let Agent { gpu, .. } = plan.agents[agent];
    let (family, r_version) = (gpu.family, plan.process.r_version);
    let marks = family.is_aqua() || family.is_gfx12();
    let pc = queue::code(agent) + 0x1c00 + 4 * u64::from(chooser.below(0x200));
    let mut exec = u64::from(chooser.below(u32::MAX)) << 32 | u64::from(chooser.below(u32::MAX));
    exec &= u64::MAX >> (64 - counts.lanes);
    let stop = (!chooser.one_in(3)).then(|| stop(family, r_version, chooser));
    let late = family >= Family::Navi3;
    let stopped = stop.is_some();
    let unmarked = marks && !stopped && chooser.one_in(3);
    Wave {
        in_group,
        slot,
        exec: if chooser.one_in(8) { 0 } else { exec },
        halted: !stopped && chooser.one_in(4),
        no_vgprs: late && chooser.one_in(6),
        unmarked,
        mode: 0x2f0 | chooser.below(4) << 23 & 0x0080_0000,
        stop,
        ..plain(counts, pc)
    }
}

/// Whether the trap handler has replaced the PC of a stopped wave (parking).
pub(crate) fn parks(family: Family, r_version: u32) -> bool {
    match family {
        Family::Aqua | Family::Gfx950 | Family::Navi2 => false,
        Family::Navi3 | Family::Navi4 | Family::Gfx125 => r_version >= 9,
        _ => true,
    }
}

fn stop(family: Family, r_version: u32, chooser: &mut Chooser) -> Stop {
    let arithmetic = [
        Cause::Invalid,
        Cause::InputDenormal,
        Cause::DivideByZero,
        Cause::Overflow,
        Cause::Underflow,
        Cause::Inexact,
        Cause::IntegerDivideByZero,
    ];
    let always = [Cause::Address, Cause::Page, Cause::Illegal];
    let late = [Cause::Host, Cause::WaveStart, Cause::WaveEnd, Cause::AfterInstruction];
    let mut causes = Vec::new();
    let mut raise = |cause, enabled| causes.push(Raised { cause, enabled });
    match chooser.below(6) {
        0 => {}
        1 | 2 => raise(chooser.of(&always), false),
        3 => {
            raise(Cause::Page, false);
            raise(Cause::Address, false);
        }
        4 => {
            for cause in arithmetic {
                if chooser.one_in(3) {
                    raise(cause, !chooser.one_in(3));
                }
            }
            // The four watches share one enable bit.
            if chooser.one_in(2) {
                raise(Cause::Watch(chooser.below(4)), !chooser.one_in(3));
            }
        }
        _ if family.is_aqua() || family >= Family::Navi3 => {
            // Raised with their enables: a reader may or may not check those.
            raise(chooser.of(&late), true);
        }
        _ => raise(Cause::Watch(chooser.below(4)), true),
    }
    Stop {
        trap: chooser.of(&[0, 0, 1, 2, 3, 4, 7, 15]),
        halted: chooser.one_in(3),
        parked_at: parks(family, r_version).then_some(0x7f0e_0000_1108),
        causes,
    }
}
