//! Compares an export with a model and collects all differences as text.

use lanescope::arch::Targets;
// Its digits are compared with those of other programs in ../cores.
pub(super) use lanescope::codeobject::hex;
use lanescope::import::{self, Options};
use lanescope::report::export::export;
use lanescope::session::{Dump, Reader, Session, Waves as _};
use lanescope::units::WaveId;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

use crate::core_writer::core::{Bulk, Core, build};
use crate::core_writer::filler;
use crate::core_writer::model::{DispatchModel, Dwords, GroupModel, Model, WaveModel};
use crate::core_writer::plan::{Layout, Plan};

/// An opened core.
pub(super) struct Opened {
    pub(super) dump: Arc<Dump>,
    pub(super) problems: Vec<String>,
    pub(super) export: Value,
}

/// Options for that core: the runtime version, if the file lacks it.
pub(super) fn options(plan: &Plan) -> Options {
    let r_version = (plan.file.layout == Layout::Split).then_some(plan.process.r_version);
    Options { r_version, ..Options::default() }
}

/// Opens a file and exports all of it.
pub(super) fn open(path: &Path, options: &Options) -> Result<Opened, String> {
    thread_local!(static TARGETS: Targets = Targets::builtin());
    let opened =
        TARGETS.with(|targets| import::open(path, targets, options)).map_err(|error| error.to_string())?;
    let problems: Vec<String> = opened.problems.iter().map(ToString::to_string).collect();
    let dump = Arc::new(Dump::new(opened.capture, opened.problems));
    let mut text = Vec::new();
    export(&Reader::new(Arc::clone(&dump)), None, &mut text).unwrap();
    let export = crate::in_samples_notation(serde_json::from_slice(&text).unwrap());
    Ok(Opened { dump, problems, export })
}

/// Writes a plan's files into a folder and opens them.
pub(super) fn written(folder: &Path, plan: &Plan) -> (Core, Opened) {
    let core = build(plan, Bulk::Filled, Vec::new());
    let path = folder.join("core.gpu");
    core.gpu.write(&path).unwrap();
    let mut options = options(plan);
    if let Some(host) = &core.host {
        let path = folder.join("core.host");
        host.write(&path).unwrap();
        options.host_core = Some(path);
    }
    let opened = open(&path, &options).unwrap_or_else(|error| panic!("{}: {error}", plan.name));
    (core, opened)
}

/// A register in the export's form: digits of the whole, or per lane, or null.
pub(super) fn register(dwords: &Dwords, vector: bool) -> Value {
    let word = |dword: &u32| hex(&dword.to_le_bytes());
    let known = dwords.iter().flatten().count();
    if known == dwords.len() {
        Value::String(hex(&filler::bytes(dwords.iter().flatten().copied())))
    } else if known == 0 || !vector {
        Value::Null
    } else {
        dwords.iter().map(|dword| dword.as_ref().map_or(Value::Null, |dword| json!(word(dword)))).collect()
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    text.get(..60).map_or(text.clone(), |start| format!("{start}... ({} characters)", text.len()))
}

/// Collected differences.
pub(super) struct Differences {
    pub(super) all: Vec<String>,
    place: String,
}

impl Differences {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), place: String::new() }
    }

    pub(super) fn at(&mut self, place: String) {
        self.place = place;
    }

    fn same(&mut self, what: &str, found: &Value, expected: &Value) {
        if found != expected {
            self.all.push(format!(
                "{}: {what} is {}, expected {}",
                self.place,
                short(found),
                short(expected)
            ));
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        self.all.push(format!("{}: {text}", self.place));
    }

    /// Fails with the first differences.
    pub(super) fn fail_if_any(self) {
        let count = self.all.len();
        let first = self.all.into_iter().take(40).collect::<Vec<_>>().join("\n");
        assert!(count == 0, "{count} values differ:\n{first}");
    }
}

/// Compares one wave's values. `memory`: also private memory.
pub(super) fn wave(found: &Value, model: &WaveModel, memory: bool, wrong: &mut Differences) {
    let mut same = |key: &str, expected: Value| wrong.same(key, &found[key], &expected);
    same("architecture", json!(model.gpu));
    same("gpu_id", json!(model.agent));
    same("queue_id", json!(model.queue));
    same("lanes", json!(model.lanes));
    same("packet_id", json!(model.packet));
    same("coord", json!(model.position));
    same("wave_in_group", json!(model.in_group));
    same("pc", json!(model.pc));
    same("exec", json!(model.exec));
    let mut stop = found["stop_reasons"].clone();
    if let Some(list) = stop.as_array_mut() {
        list.sort_by_key(ToString::to_string);
    }
    wrong.same("stop_reasons", &stop, &json!(model.stop));
    if let Some(registers) = found["registers"].as_object() {
        for (name, value) in registers.iter().filter(|(name, _)| !model.registers.contains_key(*name)) {
            wrong.say(&format!("{name} is {}, but the wave has none", short(value)));
        }
        for (name, dwords) in &model.registers {
            let vector = name.starts_with(['v', 'a']) && name[1..].parse::<u16>().is_ok();
            // A register without any captured part has no key.
            wrong.same(name, registers.get(name).unwrap_or(&Value::Null), &register(dwords, vector));
        }
    } else {
        wrong.say("no registers");
    }
    if !memory {
        return;
    }
    let lanes: Vec<Value> = match &model.private {
        Some(_) => {
            (0..model.lanes).map(|lane| json!(model.private_of(lane).map(|bytes| hex(&bytes)))).collect()
        }
        None => Vec::new(),
    };
    wrong.same("private_lane", &found["private_lane"], &json!(lanes));
    // All of nothing where there never was any, which is no gap.
    let nothing = (found["private_wave_bytes"] == 0).then(String::new);
    let backing = json!(model.private.as_ref().map(|bytes| hex(bytes)).or(nothing));
    wrong.same("private_wave", &found["private_wave"], &backing);
}

/// Compares the values of a work-group and of its dispatch.
fn group(export: &Value, found: &Value, model: &GroupModel, wrong: &mut Differences) {
    wrong.same("queue_id", &found["queue_id"], &json!(model.queue));
    wrong.same("packet_id", &found["packet_id"], &json!(model.packet));
    wrong.same("coord", &found["coord"], &json!(model.position));
    let local = if model.lds.is_empty() { Value::Null } else { json!(hex(&model.lds)) };
    wrong.same("local", &found["local"], &local);
    if !model.lds.is_empty() {
        wrong.same("local_bytes", &found["local_bytes"], &json!(model.lds.len()));
    }
    if let Some(expected) = &model.dispatch {
        dispatch(export, model.queue, expected, wrong);
    }
}

fn dispatch(export: &Value, queue: u32, model: &DispatchModel, wrong: &mut Differences) {
    let all = export["dispatches"].as_array().map_or(&[][..], Vec::as_slice);
    let mine = all.iter().find(|each| each["queue_id"] == queue && each["packet_id"] == model.packet);
    let Some(found) = mine else {
        wrong.say(&format!("no dispatch of packet {}", model.packet));
        return;
    };
    let mut same = |key: &str, expected: Value| wrong.same(key, &found[key], &expected);
    same("grid_sizes", json!(model.grid));
    same("workgroup_sizes", json!(model.workgroup));
    same("private_segment_size", json!(model.private_bytes));
    same("group_segment_size", json!(model.group_bytes));
    same("kernel_argument_segment_address", json!(model.kernarg));
    same("kernel_descriptor_address", json!(model.kernel_object));
}

/// Compares a whole export.
pub(super) fn all(plan: &Plan, opened: &Opened, model: &Model, wrong: &mut Differences) {
    let export = &opened.export;
    let list = |key: &str| export[key].as_array().map_or(&[][..], Vec::as_slice);
    wrong.at(plan.name.clone());
    let (waves, groups) = (list("waves"), list("workgroups"));
    if waves.len() != model.waves.len() || groups.len() != model.groups.len() {
        wrong.say(&format!(
            "{} waves and {} work-groups, expected {} and {}; problems: {:#?}",
            waves.len(),
            groups.len(),
            model.waves.len(),
            model.groups.len(),
            opened.problems
        ));
        return;
    }
    for (agent, found) in plan.agents.iter().zip(list("agents")) {
        wrong.same("gpu_id", &found["gpu_id"], &json!(agent.id));
        wrong.same("architecture", &found["architecture"], &json!(agent.gpu.name));
        let [local, private] = agent.apertures;
        wrong.same("aperture", &found["apertures"]["local"], &json!(local));
        wrong.same("aperture", &found["apertures"]["private_lane"], &json!(private));
    }
    for (queue, agent) in &model.queues {
        if !list("queues").iter().any(|found| found["queue_id"] == *queue && found["gpu_id"] == *agent) {
            wrong.say(&format!("no queue {queue}"));
        }
    }
    for (index, (found, model)) in groups.iter().zip(&model.groups).enumerate() {
        wrong.at(format!("{}: work-group {index}", plan.name));
        group(export, found, model, wrong);
    }
    for (index, (found, model)) in waves.iter().zip(&model.waves).enumerate() {
        wrong.at(format!("{}: wave {index} of queue {} XCC {}", plan.name, model.queue, model.xcc));
        wave(found, model, true, wrong);
        wrong.same("workgroup", &found["workgroup"], &json!(model.group));
    }
}

/// Compares the work-items of all lanes.
pub(super) fn lanes(opened: &Opened, model: &Model, wrong: &mut Differences) {
    let mut sessions: Vec<(String, Session)> = Vec::new();
    for (ordinal, wave) in (0u32..).zip(&model.waves) {
        let kind = format!("{}:wave{}", wave.gpu, wave.lanes);
        if !sessions.iter().any(|(name, _)| *name == kind) {
            let session = Session::new(Arc::clone(&opened.dump), Some(&kind)).unwrap();
            sessions.push((kind.clone(), session));
        }
        let (_, session) = sessions.iter().find(|(name, _)| *name == kind).unwrap();
        let found: Vec<_> =
            session.lanes(WaveId(ordinal)).unwrap().iter().map(|lane| lane.local_id).collect();
        let expected = wave.work_items.clone().unwrap_or(vec![None; wave.lanes as usize]);
        if found != expected {
            wrong.say(&format!("wave {ordinal}: work-items are {found:?}, expected {expected:?}"));
        }
    }
}
