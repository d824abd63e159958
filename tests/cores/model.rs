//! Values that a reader must find in a core, computed from the plan and never from the file.

use std::collections::BTreeMap;

use super::area;
use super::core::ordered;
use super::filler::{self, Filling};
use super::gpu::Family;
use super::plan::{Cause, Dispatch, Layout, Plan};
use super::queue;
use super::words::{self, Of};

/// Dwords of a register, lowest first (vectors: lane 0 first). `None`: the dword is not saved.
pub(crate) type Dwords = Vec<Option<u32>>;

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) waves: Vec<WaveModel>,
    pub(crate) groups: Vec<GroupModel>,
    /// Queues with waves: those of type AQL.
    pub(crate) queues: Vec<(u32, u32)>,
}

#[derive(Clone, Debug)]
pub(crate) struct GroupModel {
    pub(crate) queue: u32,
    pub(crate) packet: Option<u64>,
    pub(crate) position: Option<[u32; 3]>,
    pub(crate) lds: Vec<u8>,
    pub(crate) dispatch: Option<DispatchModel>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DispatchModel {
    pub(crate) packet: u64,
    pub(crate) grid: [u32; 3],
    pub(crate) workgroup: [u32; 3],
    pub(crate) private_bytes: u64,
    pub(crate) group_bytes: u64,
    pub(crate) kernarg: u64,
    pub(crate) kernel_object: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct WaveModel {
    pub(crate) gpu: &'static str,
    pub(crate) agent: u32,
    pub(crate) queue: u32,
    pub(crate) xcc: u32,
    pub(crate) lanes: u32,
    /// Index of the work-group.
    pub(crate) group: usize,
    pub(crate) in_group: Option<u32>,
    pub(crate) packet: Option<u64>,
    pub(crate) position: Option<[u32; 3]>,
    pub(crate) pc: u64,
    pub(crate) exec: u64,
    pub(crate) stop: Vec<&'static str>,
    pub(crate) registers: BTreeMap<String, Dwords>,
    /// Private memory in the order of its backing.
    pub(crate) private: Option<Vec<u8>>,
    /// Positions in the work-group; `None`: a lane beyond its end.
    pub(crate) work_items: Option<Vec<Option<[u32; 3]>>>,
}

impl WaveModel {
    /// Private memory of one lane: every `lanes`-th dword of the backing.
    pub(crate) fn private_of(&self, lane: u32) -> Option<Vec<u8>> {
        let rows = self.private.as_ref()?.chunks_exact(4 * self.lanes as usize);
        let at = 4 * lane as usize;
        Some(rows.map(|row| &row[at..at + 4]).collect::<Vec<_>>().concat())
    }
}

pub(crate) fn of(plan: &Plan) -> Model {
    let mut model = Model { waves: Vec::new(), groups: Vec::new(), queues: Vec::new() };
    let is_read = |index: usize| plan.queues[index].kind == super::plan::AQL;
    let mut group_index = 0;
    for (index, by_xcc) in ordered(plan).into_iter().enumerate() {
        if is_read(index) {
            model.queues.push((plan.queues[index].id, plan.agents[plan.queues[index].agent].id));
        }
        for (of, opens, _) in by_xcc.into_iter().flatten() {
            if opens.is_some() {
                group_index += 1;
                if is_read(index) {
                    model.groups.push(group(of, group_index - 1));
                }
            }
            if is_read(index) {
                let mut wave = wave(of);
                wave.group = model.groups.len() - 1;
                model.waves.push(wave);
            }
        }
    }
    model
}

/// Whether the dispatcher's words of the wave are valid.
fn has_info(of: Of<'_>) -> bool {
    // Older trap handlers did not record it. The plan never sets it for them.
    of.plan.has_dispatch_info(of.agent) && !of.wave.no_dispatch_info
}

fn dispatch<'a>(of: Of<'a>) -> Option<&'a Dispatch> {
    let queue = of.queue;
    let at = of.group.dispatch;
    if of.plan.file.quirks.lightweight {
        return None;
    }
    let found = queue.dispatches.iter().find(|dispatch| dispatch.id == at);
    found.filter(|_| has_info(of) && (queue.read..queue.write).contains(&at))
}

fn group(of: Of<'_>, index: u32) -> GroupModel {
    let dispatch = dispatch(of);
    GroupModel {
        queue: of.queue.id,
        packet: dispatch.map(|dispatch| dispatch.id),
        position: has_info(of).then_some(of.group.position),
        lds: filler::bytes(area::lds_words(of.plan.seed, index, of.group.lds)),
        dispatch: dispatch.map(|dispatch| DispatchModel {
            packet: dispatch.id,
            grid: dispatch.grid,
            workgroup: dispatch.workgroup.map(u32::from),
            private_bytes: dispatch.private_bytes.into(),
            group_bytes: dispatch.group_bytes.into(),
            kernarg: queue::kernarg(of.queue_index, dispatch),
            kernel_object: queue::kernel_object(of.queue.agent, dispatch),
        }),
    }
}

/// Whether the file marks the wave as stopped; otherwise it counts as running.
fn is_known_to_have_stopped(of: Of<'_>) -> bool {
    let marked = match of.agent.gpu.family {
        // The trap handlers of these generations mark the words that they set up.
        Family::Aqua | Family::Gfx950 | Family::Navi4 | Family::Gfx125 => true,
        // Words of other generations count if the dispatcher filled them, or if STATUS has the handler's halt bit.
        _ => of.plan.has_dispatch_info(of.agent) || of.plan.process.r_version >= 10,
    };
    of.wave.stop.is_some() && marked
}

fn wave(of: Of<'_>) -> WaveModel {
    let Of { plan, agent, queue, wave, group, .. } = of;
    let stopped = is_known_to_have_stopped(of);
    let pc = if stopped { wave.pc } else { words::hardware_pc(wave) };
    let lanes = wave.counts.lanes;
    let info = has_info(of);
    // A group's shared values come from its first wave.
    let first = Of { wave: &group.waves[0], ..of };
    let dispatch = dispatch(first);
    WaveModel {
        gpu: agent.gpu.name,
        agent: agent.id,
        queue: queue.id,
        xcc: of.xcc as u32,
        lanes,
        group: 0,
        in_group: info.then_some(wave.in_group),
        packet: dispatch.map(|dispatch| dispatch.id),
        position: has_info(first).then_some(group.position),
        pc,
        exec: wave.exec & (u64::MAX >> (64 - lanes)),
        stop: if stopped { stop_reasons(of) } else { Vec::new() },
        registers: registers(of, pc, stopped),
        private: queue::scratch(of)
            .map(|(_, bytes)| filler::bytes(queue::scratch_words(plan.seed, of.index, bytes))),
        work_items: dispatch.filter(|_| info).map(|dispatch| work_items(of, dispatch)),
    }
}

/// Work-items of a work-group are consecutive, x fastest, in a group clipped to the grid.
fn work_items(of: Of<'_>, dispatch: &Dispatch) -> Vec<Option<[u32; 3]>> {
    let size = |axis: usize| {
        let whole = u32::from(dispatch.workgroup[axis]);
        whole.min(dispatch.grid[axis].saturating_sub(of.group.position[axis] * whole)).max(1)
    };
    let lanes = of.wave.counts.lanes;
    let whole = size(0) * size(1) * size(2);
    let place = |flat: u32| [flat % size(0), flat / size(0) % size(1), flat / (size(0) * size(1))];
    (of.wave.in_group * lanes..)
        .take(lanes as usize)
        .map(|flat| (flat < whole).then(|| place(flat)))
        .collect()
}

fn stop_reasons(of: Of<'_>) -> Vec<&'static str> {
    let stop = of.wave.stop.as_ref().expect("asked of stopped waves");
    let mut reasons = Vec::new();
    match stop.trap {
        0 => {}
        1 => reasons.push("BREAKPOINT"),
        2 => reasons.push("ASSERT_TRAP"),
        3 => reasons.push("DEBUG_TRAP"),
        _ => reasons.push("TRAP"),
    }
    let page = stop.causes.iter().any(|raised| raised.cause == Cause::Page);
    for raised in &stop.causes {
        let when_enabled = |reason| raised.enabled.then_some(reason);
        let reason = match raised.cause {
            Cause::Invalid => when_enabled("FP_INVALID_OPERATION"),
            Cause::InputDenormal => when_enabled("FP_INPUT_DENORMAL"),
            Cause::DivideByZero => when_enabled("FP_DIVIDE_BY_0"),
            Cause::Overflow => when_enabled("FP_OVERFLOW"),
            Cause::Underflow => when_enabled("FP_UNDERFLOW"),
            Cause::Inexact => when_enabled("FP_INEXACT"),
            Cause::IntegerDivideByZero => when_enabled("INT_DIVIDE_BY_0"),
            Cause::Watch(_) => when_enabled("WATCHPOINT"),
            Cause::Page => Some("MEMORY_VIOLATION"),
            // An absent page raises both.
            Cause::Address => (!page).then_some("ADDRESS_ERROR"),
            Cause::Illegal => Some("ILLEGAL_INSTRUCTION"),
            Cause::Host => None,
            Cause::WaveStart | Cause::WaveEnd => Some("TRAP"),
            Cause::AfterInstruction => Some("SINGLE_STEP"),
        };
        reasons.extend(reason);
    }
    reasons.sort_unstable();
    reasons.dedup();
    reasons
}

fn registers(of: Of<'_>, pc: u64, stopped: bool) -> BTreeMap<String, Dwords> {
    let Of { plan, agent, wave, index, .. } = of;
    let (family, counts) = (agent.gpu.family, wave.counts);
    let seed = plan.seed;
    let mut all = BTreeMap::new();
    let mut vectors = |name: &str, first: u32, kind, count: u32, lanes: u32| {
        for register in 0..count {
            let mut dwords: Dwords =
                (0..lanes).map(|lane| Some(filler::word(seed, kind, index, register, lane))).collect();
            dwords.resize(counts.lanes as usize, None);
            if wave.no_vgprs {
                dwords.fill(None);
            }
            all.insert(format!("{name}{}", first + register), dwords);
        }
    };
    vectors("v", 0, Filling::Vector, counts.vgprs, counts.lanes);
    vectors("v", counts.vgprs, Filling::Shared, counts.shared, 32);
    vectors("a", 0, Filling::Accumulator, counts.accs, 64);

    let image = words::words(of);
    let scalar = |slot: u32| image.scalars[slot as usize];
    let hardware = |slot: u32| filler::word(seed, Filling::Hardware, index, slot, 0);
    let end = words::alias_end(counts.sgprs);
    let names = if family.is_gfx9() { 102 } else { 106 };
    for slot in 0..counts.sgprs.min(names) {
        let mut value = scalar(slot);
        if family.is_gfx9() && slot == end - 4 {
            value = hardware(7);
        } else if family.is_gfx9() && slot == end - 3 {
            value = hardware(8);
        }
        all.insert(format!("s{slot}"), vec![Some(value)]);
    }
    let traps = words::trap_words(of, &image.traps);
    for number in (4..12).chain([13]) {
        all.insert(format!("ttmp{number}"), vec![Some(traps[number])]);
    }

    let mut one = |name: &str, dwords: &[u32]| {
        all.insert(name.to_owned(), dwords.iter().copied().map(Some).collect());
    };
    let wide = |value: u64| [value as u32, (value >> 32) as u32];
    let mask = |value: [u32; 2]| value[..counts.lanes as usize / 32].to_vec();
    one("m0", &[hardware(0)]);
    one("pc", &wide(pc));
    one("exec", &mask(wide(wave.exec)));
    one("vcc", &mask([scalar(end - 2), scalar(end - 1)]));
    one("mode", &[words::mode(of)]);
    let base = queue::scratch(of).map(|(address, _)| wide(address));
    match family {
        Family::Navi4 | Family::Gfx125 => {
            if family == Family::Gfx125 {
                one("xnack_mask", &[hardware(7)]);
            }
            let halt = wave.stop.as_ref().filter(|_| stopped).map_or(wave.halted, |stop| stop.halted);
            one("status", &[words::status(of) & !(1 << 5)]);
            one("state_priv", &[words::state_priv(of) & !(1 << 14) | u32::from(halt) << 14]);
            one("excp_flag_priv", &[words::excp_flag_priv(of)]);
            one("excp_flag_user", &[words::excp_flag_user(of)]);
            one("trap_ctrl", &[words::trap_ctrl(of)]);
            one("scratch_base", &base.unwrap_or([hardware(9), hardware(10)]));
        }
        _ => {
            let stored = words::status(of) & !(1 << 5 | 1 << 18);
            let status = match wave.stop.as_ref().filter(|_| stopped) {
                Some(stop) => stored & !(1 << 13) | u32::from(stop.halted) << 13,
                None => stored,
            };
            one("status", &[status]);
            one("trapsts", &[words::trapsts(of)]);
            if family.is_gfx9() {
                one("flat_scratch", &[scalar(end - 6), scalar(end - 5)]);
                one("xnack_mask", &[hardware(7), hardware(8)]);
            } else {
                one("flat_scratch", &base.unwrap_or([hardware(9), hardware(10)]));
                if counts.lanes == 32 {
                    one("xnack_mask", &[hardware(7)]);
                }
            }
        }
    }
    all
}

/// Code objects in the process's list: load address and URI; `None` if the file lacks the list.
pub(crate) fn code_objects(plan: &Plan) -> Option<Vec<(u64, String)>> {
    let listed = plan.file.layout != Layout::Split;
    listed
        .then(|| (0..plan.agents.len()).map(|index| (queue::code(index), super::core::uri(index))).collect())
}
