//! The small tables of the manifest: agents, queues, dispatches, work-groups, and the facts of waves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{Plan, number};
use crate::capture::{
    Capture, FailedAssertion, Fault, FaultReason, FaultReport, FaultSource, FileLocation, Hardware, Ring,
    WorkGroup,
};

/// Indexes of the chosen waves' owners.
#[derive(Debug, Default)]
pub(super) struct Kept {
    agents: BTreeSet<usize>,
    queues: BTreeSet<usize>,
    /// With their ids in the dump: the numbers that users know may repeat.
    dispatches: BTreeMap<usize, u32>,
    pub(super) workgroups: BTreeSet<usize>,
    /// Number of waves of the capture that are not among the chosen ones, by work-group.
    left_out: BTreeMap<usize, usize>,
}

impl Kept {
    /// The owners of the plan's waves and code objects.
    pub(super) fn of(capture: &Capture, plan: &Plan) -> Self {
        let mut kept = Self::default();
        if plan.waves.len() == capture.waves.len() {
            // A plan of all waves includes objects without waves.
            kept.agents.extend(0..capture.agents.len());
            kept.queues.extend(0..capture.queues.len());
            kept.workgroups.extend(0..capture.workgroups.len());
        }
        let has_all = plan.waves.len() == capture.waves.len();
        for group in capture.waves.iter().filter_map(|wave| wave.workgroup.filter(|_| !has_all)) {
            *kept.left_out.entry(group).or_default() += 1;
        }
        for wave in plan.waves.iter().filter_map(|planned| capture.wave(planned.wave)) {
            if let Some(count) = wave.workgroup.and_then(|group| kept.left_out.get_mut(&group)) {
                *count = count.saturating_sub(1);
            }
            kept.agents.insert(wave.agent);
            kept.workgroups.extend(wave.workgroup);
        }
        let groups = || kept.workgroups.iter().filter_map(|index| capture.workgroups.get(*index));
        kept.queues.extend(groups().filter_map(|group| group.queue));
        let mut indexes: BTreeSet<usize> = groups().filter_map(|group| group.dispatch).collect();
        if plan.waves.len() == capture.waves.len() {
            indexes.extend(0..capture.dispatches.len());
        }
        let dispatch = |index: &usize| Some((*index, capture.dispatches.get(*index)?));
        let dispatches: Vec<_> = indexes.iter().filter_map(dispatch).collect();
        kept.queues.extend(dispatches.iter().map(|(_, dispatch)| dispatch.queue));
        let known: BTreeSet<u32> = dispatches.iter().map(|(_, dispatch)| dispatch.id).collect();
        let mut free = (0..).filter(|id| !known.contains(id));
        let mut taken = BTreeSet::new();
        for (index, dispatch) in dispatches {
            let id = if taken.insert(dispatch.id) { Some(dispatch.id) } else { free.next() };
            kept.dispatches.extend(id.map(|id| (index, id)));
        }
        let queues = kept.queues.iter().filter_map(|index| capture.queues.get(*index));
        kept.agents.extend(queues.map(|queue| queue.agent));
        let objects = plan.code_objects.iter().filter_map(|object| capture.code_objects.get(object.index));
        kept.agents.extend(objects.filter_map(|object| object.agent));
        // A reader takes the GPUs with their hardware for all of the process.
        let with_hardware = (0..).zip(&capture.agents).filter(|(_, agent)| agent.hardware.is_some());
        kept.agents.extend(with_hardware.map(|(index, _)| index));
        let of_fault = |fault: &Fault| capture.agents.iter().position(|agent| Some(agent.id) == fault.agent);
        kept.agents.extend(capture.faults.iter().filter_map(of_fault));
        let texts = plan.code_texts.iter().filter_map(|index| capture.code_texts.get(*index));
        kept.agents.extend(texts.filter_map(|text| text.agent));
        kept
    }

    pub(super) fn agents(&self, capture: &Capture) -> Vec<Value> {
        let agents = self.agents.iter().filter_map(|index| capture.agents.get(*index));
        let each = agents.map(|agent| {
            let mut apertures = Map::new();
            for (key, space) in [("local", "local"), ("private", "private_lane")] {
                let space = agent.target.space_named(space);
                if let Some(base) = space.and_then(|space| agent.apertures.get(&space.id)) {
                    apertures.insert(key.to_owned(), number(base.0));
                }
            }
            let apertures = (!apertures.is_empty()).then_some(Value::Object(apertures));
            table([
                ("id", Some(json!(agent.id))),
                ("target", Some(json!(agent.target.name))),
                ("name", agent.name.as_ref().map(|name| json!(name))),
                ("apertures", apertures),
                ("hardware", agent.hardware.as_ref().map(hardware)),
            ])
        });
        each.map(Value::Object).collect()
    }

    pub(super) fn queues(&self, capture: &Capture) -> Vec<Value> {
        let queues = self.queues.iter().filter_map(|index| capture.queues.get(*index));
        let each = queues.map(|queue| {
            table([
                ("id", Some(json!(queue.id))),
                ("agent", capture.agents.get(queue.agent).map(|agent| json!(agent.id))),
                ("name", queue.name.as_ref().map(|name| json!(name))),
                ("ring", queue.ring.as_ref().map(ring)),
            ])
        });
        each.map(Value::Object).collect()
    }

    pub(super) fn dispatches(&self, capture: &Capture, plan: &Plan) -> Vec<Value> {
        let each = self.dispatches.iter().filter_map(|(index, id)| {
            let (dispatch, id) = (capture.dispatches.get(*index)?, *id);
            Some(table([
                ("id", Some(json!(id))),
                ("shown_as", (id != dispatch.id).then(|| json!(dispatch.id))),
                ("queue", capture.queues.get(dispatch.queue).map(|queue| json!(queue.id))),
                ("packet", dispatch.packet.map(number)),
                ("packet_header", dispatch.header.map(|header| json!(header))),
                ("kernel", dispatch.kernel.as_ref().map(|kernel| json!(kernel))),
                ("grid", dispatch.grid.map(|grid| json!(grid))),
                ("workgroup", dispatch.workgroup.map(|size| json!(size))),
                ("kernarg", dispatch.kernarg.map(|address| number(address.0))),
                ("kernel_object", dispatch.kernel_object.map(|address| number(address.0))),
                ("private_segment_size", dispatch.private_segment_size.map(number)),
                ("group_segment_size", dispatch.group_segment_size.map(number)),
                ("entry", dispatch.entry.map(|address| number(address.0))),
                ("dimensions", dispatch.dimensions.map(|count| json!(count))),
                ("completion", dispatch.completion.map(|signal| number(signal.0))),
                ("all_waves", plan.whole_dispatches.contains(index).then(|| json!(true))),
            ]))
        });
        each.map(Value::Object).collect()
    }
}

/// A work-group without its LDS.
///
/// `index`: its index in the capture.
pub(super) fn workgroup(
    capture: &Capture,
    kept: &Kept,
    index: usize,
    group: &WorkGroup,
) -> Map<String, Value> {
    let has_all_waves = group.has_all_waves && kept.left_out.get(&index).is_none_or(|count| *count == 0);
    let queue = group.queue.and_then(|index| capture.queues.get(index));
    let position = || group.position.map(|position| json!(position));
    // Work-groups of several dispatches may have one position: the queue alone does not identify them.
    let is_recorded = is_outside(capture, group) || (group.dispatch.is_none() && queue.is_some());
    table([
        ("id", Some(json!(group.id))),
        ("dispatch", group.dispatch.and_then(|index| kept.dispatches.get(&index)).map(|id| json!(id))),
        ("queue", queue.filter(|_| group.dispatch.is_none()).map(|queue| json!(queue.id))),
        ("position", position().filter(|_| !is_recorded)),
        ("recorded_position", position().filter(|_| is_recorded)),
        ("lds_size", group.lds_size.map(number)),
        ("all_waves", has_all_waves.then(|| json!(true))),
    ])
}

/// Whether a work-group's position is outside of its grid, which a core may contain: the format has a key for that.
fn is_outside(capture: &Capture, group: &WorkGroup) -> bool {
    let dispatch = group.dispatch.and_then(|index| capture.dispatches.get(index));
    let sizes = dispatch.and_then(|dispatch| dispatch.grid.zip(dispatch.workgroup));
    let (Some((grid, size)), Some(position)) = (sizes, group.position) else { return false };
    position.iter().zip(grid.iter().zip(size)).any(|(at, (grid, size))| *at >= grid.div_ceil(size.max(1)))
}

/// The reported faults.
pub(super) fn faults(capture: &Capture) -> Vec<Value> {
    let each = capture.faults.iter().map(|fault| {
        let reasons: Vec<_> = fault.reasons.iter().map(FaultReason::name).collect();
        let truth = |value: bool| value.then_some(json!(true));
        let mut entry = table([
            ("kind", Some(json!(fault.kind.name()))),
            ("address", fault.address.map(|address| number(address.start))),
            ("bytes", fault.address.map(|address| number(address.bytes))),
            ("inexact", fault.address.and_then(|address| truth(address.is_inexact))),
            ("access", fault.access.map(|access| json!(access.name()))),
            ("reasons", (!reasons.is_empty()).then(|| json!(reasons))),
            ("all_reasons", truth(fault.has_all_reasons)),
            ("status", fault.status.as_ref().map(|status| json!(status))),
            ("node", fault.node.map(|node| json!(node))),
            ("device", fault.device.as_ref().map(|device| json!(device))),
            ("agent", fault.agent.map(|agent| json!(agent))),
            ("agent_inferred", fault.agent_inferred.map(|source| json!(source.name()))),
            ("client", fault.client.as_ref().map(|client| json!(client))),
            ("ring", fault.ring.as_ref().map(|ring| json!(ring))),
            ("kernel", fault.kernel.as_ref().map(|kernel| json!(kernel))),
            ("process", fault.process.map(|process| json!(process))),
            ("assertion", fault.assertion.as_ref().map(assertion)),
        ]);
        entry.extend(report(fault.source, fault.place.as_ref()));
        let also = |also: &FaultReport| Value::Object(report(also.source, also.place.as_ref()));
        if !fault.also.is_empty() {
            entry.insert("also".to_owned(), fault.also.iter().map(also).collect());
        }
        Value::Object(entry)
    });
    each.collect()
}

/// The chosen code as text.
pub(super) fn code_texts(capture: &Capture, plan: &Plan) -> Vec<Value> {
    let chosen = plan.code_texts.iter().filter_map(|index| capture.code_texts.get(*index));
    let each = chosen.map(|text| {
        let instructions = text.instructions.iter().map(|one| {
            Value::Object(table([
                ("address", Some(number(one.address))),
                ("text", Some(json!(one.text))),
                ("target", one.target.map(number)),
                ("file", one.file.as_ref().map(|file| json!(file))),
                ("line", one.line.map(|line| json!(line))),
            ]))
        });
        let agent = text.agent.and_then(|agent| capture.agents.get(agent));
        Value::Object(table([
            ("function", Some(json!(text.function))),
            ("start", text.start.map(number)),
            ("agent", agent.map(|agent| json!(agent.id))),
            ("instructions", Some(instructions.collect())),
        ]))
    });
    each.collect()
}

fn assertion(of: &FailedAssertion) -> Value {
    Value::Object(table([
        ("condition", Some(json!(of.condition))),
        ("file", of.file.as_ref().map(|file| json!(file))),
        ("line", of.line.map(|line| json!(line))),
        ("function", of.function.as_ref().map(|function| json!(function))),
    ]))
}

fn report(source: FaultSource, place: Option<&FileLocation>) -> Map<String, Value> {
    let place = place.map(|place| {
        let line = place.line.map(|line| json!(line));
        Value::Object(table([("file", Some(json!(place.file))), ("line", line)]))
    });
    table([("source", Some(json!(source.name()))), ("place", place)])
}

fn hardware(hardware: &Hardware) -> Value {
    let Hardware { vendor, device, location, simds, waves_per_simd, xccs } = hardware;
    json!({
        "vendor": vendor,
        "device": device,
        "location": location,
        "simds": simds,
        "waves_per_simd": waves_per_simd,
        "xccs": xccs,
    })
}

fn ring(ring: &Ring) -> Value {
    Value::Object(table([
        ("address", Some(number(ring.address))),
        ("size", Some(number(ring.size))),
        ("read", ring.read.map(number)),
        ("write", ring.write.map(number)),
    ]))
}

/// The facts of the chosen waves, without registers and memory.
pub(super) fn waves(capture: &Capture, plan: &Plan) -> Vec<Map<String, Value>> {
    let waves = plan.waves.iter().map(|planned| {
        let Some(wave) = capture.wave(planned.wave) else { return Map::new() };
        let stands_for = capture.left_out.of(planned.wave).saturating_add(planned.stands_for);
        let group = capture.workgroup_of(wave);
        // A reader that requires a dispatch for each work-group needs the agent.
        let agent = capture.agent_of(wave).filter(|_| group.is_none_or(|group| group.dispatch.is_none()));
        let stop = wave.stop.as_ref().map(|stop| {
            let reasons = stop.iter().filter_map(|index| wave.kind.target.stop_reasons.get(*index));
            reasons.map(|reason| json!(reason.name)).collect()
        });
        table([
            ("id", Some(json!(wave.id))),
            ("label", wave.label.as_ref().map(|label| json!(label))),
            ("workgroup", group.map(|group| json!(group.id))),
            ("agent", agent.map(|agent| json!(agent.id))),
            ("wave_in_group", wave.wave_in_group.map(|place| json!(place))),
            ("wave_size", Some(json!(wave.kind.wave_size.lanes()))),
            ("stop", stop),
            ("sgpr_count", wave.sgpr_count.map(|count| json!(count))),
            ("private_size", wave.private_size.map(number)),
            ("unconfirmed", wave.unconfirmed.as_ref().map(|reason| json!(reason))),
            ("unchecked", wave.unchecked.as_ref().map(|values| json!(&**values))),
            ("stands_for", (stands_for > 0).then(|| json!(stands_for))),
        ])
    });
    waves.collect()
}

/// The separator of a slim dump's note between its creation and its contents.
pub const CONTAINS: &str = "; contains ";

/// The capture's provenance, and the creation of this dump.
pub(super) fn provenance(capture: &Capture, note: String) -> Value {
    let from = &capture.provenance;
    // From the note of another slim dump only the creation is kept.
    let is_slim = from.producer.as_deref().is_some_and(|producer| producer.starts_with("lanescope "));
    let before = from.note.as_deref().map(|before| match before.rsplit_once(CONTAINS) {
        Some((made, _)) if is_slim && made.contains("slimmed from ") => made,
        _ => before,
    });
    let note = match before {
        Some(before) => format!("{before}; {note}"),
        None => note,
    };
    let producer = concat!("lanescope ", env!("CARGO_PKG_VERSION"), " slim");
    let producer = match &from.producer {
        Some(before) => format!("{producer}, from a {} of {before}", from.format),
        None => format!("{producer}, from a {}", from.format),
    };
    Value::Object(table([
        ("producer", Some(json!(producer))),
        ("created", from.created.as_ref().map(|text| json!(text))),
        ("host", from.host.as_ref().map(|text| json!(text))),
        ("command", from.command.as_ref().map(|text| json!(text))),
        ("process", from.process.map(|process| json!(process))),
        ("note", Some(json!(note))),
    ]))
}

/// A table of the keys with a value.
pub(super) fn table<const N: usize>(entries: [(&str, Option<Value>); N]) -> Map<String, Value> {
    entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}
