//! Builds a capture from the manifest: resolves references, reports contradictions, keeps the sound parts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::data::{Found, Sources, decode_hex};
use super::key::Key;
use super::manifest::{self, Manifest};
use super::pieces::{Bounds, address_map, memory_map};
use super::read::{Ids, LEFT_OUT};
use super::registers::{KindIndex, Layouts};
use super::shape::{Field, Text};
use super::store::Store;
use crate::arch::{Target, Targets, WaveArch};
use crate::capture::{
    Capture, CodeObject, Dispatch, Extent, LoadedSegment, MAX_SOURCE, MAX_SOURCE_FILES, Provenance,
    SourceFile, WorkGroup, normal_path,
};
use crate::clean::clean;
use crate::import::LocalFiles;
use crate::import::Problem;
use crate::import::problem::Problems;
use crate::units::{Address, WaveSize};

/// Values of the two bits of a packet that hold a grid's number of dimensions.
const MAX_DIMENSIONS: u8 = 3;

/// Maximum number of notes of `x-slim`, and of characters of each.
const MAX_NOTES: usize = 256;
const MAX_NOTE: usize = 2000;

/// State during the reading of a manifest.
#[derive(Debug)]
pub(super) struct Builder<'m, 'de> {
    pub(super) targets: &'m Targets,
    pub(super) manifest: &'m Manifest<'de>,
    pub(super) problems: Problems,
    pub(super) sources: Sources,
    pub(super) capture: Capture,
    pub(super) agents: Ids,
    pub(super) queues: Ids,
    dispatches: Ids,
    pub(super) workgroups: Ids,
    /// For work-groups with an unknown queue: the agent of the first wave.
    pub(super) group_agents: HashMap<usize, usize>,
    pub(super) layouts: Layouts<'m, 'de>,
    kinds: Vec<Arc<WaveArch>>,
    kind_of: HashMap<(usize, WaveSize), KindIndex>,
}

/// Builds the capture of a manifest; `name`: the path that the user opened; `file`: the manifest.
pub(super) fn build(
    manifest: &Manifest<'_>,
    name: &str,
    file: &str,
    store: Store,
    local_files: LocalFiles,
    targets: &Targets,
) -> (Capture, Vec<Problem>) {
    let mut problems = Problems::new(file);
    problems.extra(&Key::Root, &manifest.extra);
    let layouts = Layouts::new(&mut problems, &Key::Root, manifest);
    let mut builder = Builder {
        targets,
        manifest,
        problems,
        sources: Sources::new(store, local_files),
        capture: Capture { name: name.to_owned(), ..Capture::default() },
        agents: Ids::new("agent"),
        queues: Ids::new("queue"),
        dispatches: Ids::new("dispatch"),
        workgroups: Ids::new("workgroup"),
        group_agents: HashMap::new(),
        layouts,
        kinds: Vec::new(),
        kind_of: HashMap::new(),
    };
    builder.provenance();
    builder.agents();
    builder.queues();
    builder.dispatches();
    builder.workgroups();
    builder.waves();
    builder.code_objects();
    builder.source_files();
    builder.faults();
    builder.code_texts();
    let bounds = Bounds { address_required: true, end: None };
    let Builder { mut problems, mut sources, mut capture, .. } = builder;
    capture.global = memory_map(&mut problems, &mut sources, &Key::Root, "memory", &manifest.memory, bounds);
    if let Some(given) = problems.given(&Key::Root, "memory_map", &manifest.memory_map) {
        let key = Key::Root.name("memory_map");
        problems.extra(&key, &given.extra);
        let claims_all = problems.given(&key, "whole", &given.whole).copied().unwrap_or(false);
        let has_all;
        (capture.mapped, has_all) = address_map(&mut problems, &key, given);
        capture.is_global_whole = claims_all && has_all;
    }
    capture.backings = sources.finish(file);
    (capture, problems.finish())
}

/// Texts of `x-slim`. A table of another shape belongs to another writer.
fn texts(of: &Field<Vec<Field<Text<'_>>>>) -> Vec<String> {
    let Field::Given(texts) = of else { return Vec::new() };
    let texts = texts.iter().filter_map(|text| match text {
        Field::Given(text) => Some(&text.0),
        _ => None,
    });
    let mut taken: Vec<String> = texts.clone().take(MAX_NOTES).map(|text| shown(text)).collect();
    let more = texts.skip(MAX_NOTES).count();
    if more > 0 {
        taken.push(format!("{more} more notes, not listed"));
    }
    taken
}

/// A text of `x-slim`: a terminal interprets control characters.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for char in text.chars().take(MAX_NOTE) {
        if char.is_control() { shown.extend(char.escape_debug()) } else { shown.push(char) }
    }
    if text.chars().nth(MAX_NOTE).is_some() {
        shown.push_str("...");
    }
    shown
}

impl<'m> Builder<'m, '_> {
    fn provenance(&mut self) {
        let mut provenance = Provenance { format: "lanescope dump 1".to_owned(), ..Provenance::default() };
        if let Some(given) = self.problems.given(&Key::Root, "provenance", &self.manifest.provenance) {
            let key = Key::Root.name("provenance");
            self.problems.extra(&key, &given.extra);
            let mut text = |name, field: &Field<Text<'_>>| self.problems.text(&key, name, field);
            provenance.producer = text("producer", &given.producer);
            provenance.created = text("created", &given.created);
            provenance.host = text("host", &given.host);
            provenance.command = text("command", &given.command);
            provenance.note = text("note", &given.note);
            provenance.process = self.problems.small(&key, "process", &given.process);
        }
        if let Field::Given(slim) = &self.manifest.slim {
            provenance.notes = texts(&slim.notes);
            provenance.absent_waves = texts(&slim.absent_waves);
            provenance.running_waves = texts(&slim.running_waves);
            self.capture.left_out.has_new_reports = matches!(slim.unsearched, Field::Given(true));
            if let Field::Given(text) = &slim.truncated {
                provenance.truncated = Some(shown(&text.0));
            }
        }
        self.capture.provenance = provenance;
    }

    fn dispatches(&mut self) {
        let table = Key::Root.name("dispatch");
        for (index, entry) in self.problems.entries(&Key::Root, "dispatch", &self.manifest.dispatch) {
            let key = table.index(index);
            let problems = &mut self.problems;
            problems.extra(&key, &entry.extra);
            let Some(id) = self.dispatches.declare(problems, &key, &entry.id) else { continue };
            if problems.required(&key, "queue", &entry.queue).is_none() {
                continue;
            }
            let Some(queue) = self.queues.resolve(problems, &key, "queue", &entry.queue) else { continue };
            let size = |problems: &mut Problems, name: &str, field| {
                let size = problems.triple(&key, name, field, 1)?;
                if size.contains(&0) {
                    problems.report(key.name(name), format_args!("{size:?}"), "sizes of at least 1");
                    return None;
                }
                Some(size)
            };
            // Users know a launch by its packet number, which two queues may share.
            let shown = problems.small(&key, "shown_as", &entry.shown_as).unwrap_or(id);
            let header = problems.number(&key, "packet_header", &entry.packet_header);
            let header = header.and_then(|header| {
                let fits = u16::try_from(header).ok();
                if fits.is_none() {
                    let key = key.name("packet_header");
                    problems.report(key, format_args!("{header:#x}"), "a header of 16 bits");
                }
                fits
            });
            let dispatch = Dispatch {
                id: shown,
                queue,
                packet: problems.number(&key, "packet", &entry.packet),
                header,
                kernel: problems.text(&key, "kernel", &entry.kernel),
                grid: size(problems, "grid", &entry.grid),
                workgroup: size(problems, "workgroup", &entry.workgroup),
                kernarg: problems.number(&key, "kernarg", &entry.kernarg).map(Address),
                kernel_object: problems.number(&key, "kernel_object", &entry.kernel_object).map(Address),
                private_segment_size: problems.number(
                    &key,
                    "private_segment_size",
                    &entry.private_segment_size,
                ),
                group_segment_size: problems.number(&key, "group_segment_size", &entry.group_segment_size),
                entry: problems.number(&key, "entry", &entry.entry).map(Address),
                dimensions: problems.number(&key, "dimensions", &entry.dimensions).and_then(|count| {
                    let fits = u8::try_from(count).ok().filter(|count| *count <= MAX_DIMENSIONS);
                    if fits.is_none() {
                        let expected = format_args!("at most {MAX_DIMENSIONS}");
                        problems.report(key.name("dimensions"), format_args!("{count}, ignored"), expected);
                    }
                    fits
                }),
                completion: problems.number(&key, "completion", &entry.completion).map(Address),
            };
            if problems.given(&key, "all_waves", &entry.all_waves).copied().unwrap_or(false) {
                self.capture.left_out.whole_dispatches.insert(self.capture.dispatches.len());
            }
            self.dispatches.place(id, self.capture.dispatches.len());
            self.capture.dispatches.push(dispatch);
        }
    }

    fn workgroups(&mut self) {
        let table = Key::Root.name("workgroup");
        let mut taken = HashSet::new();
        for (index, entry) in self.problems.entries(&Key::Root, "workgroup", &self.manifest.workgroup) {
            let key = table.index(index);
            let problems = &mut self.problems;
            problems.extra(&key, &entry.extra);
            let Some(id) = self.workgroups.declare(problems, &key, &entry.id) else { continue };
            let dispatch = self.dispatches.resolve(problems, &key, "dispatch", &entry.dispatch);
            let own = self.queues.resolve(problems, &key, "queue", &entry.queue);
            let of_dispatch =
                dispatch.and_then(|index| self.capture.dispatches.get(index)).map(|dispatch| dispatch.queue);
            if of_dispatch.zip(own).is_some_and(|(of_dispatch, own)| of_dispatch != own) {
                problems.report(key.name("queue"), "not the dispatch's; the dispatch counts", "its queue");
            }
            let queue = of_dispatch.or(own);
            // A named and malformed value already has its problem; an unnamed one is unknown.
            if queue.is_none() && (entry.dispatch.is_given() || entry.queue.is_given()) {
                continue;
            }
            let given = problems.triple(&key, "position", &entry.position, 0);
            let position = given.filter(|position| {
                let groups = dispatch.and_then(|index| self.capture.dispatches.get(index)).and_then(groups);
                let inside = groups.is_none_or(|groups| {
                    position.iter().zip(groups).all(|(at, count)| u64::from(*at) < count)
                });
                if let (false, Some([x, y, z])) = (inside, groups) {
                    let expected =
                        format_args!("a position within the {x} x {y} x {z} work-groups of the grid");
                    problems.report(key.name("position"), format_args!("{position:?}, ignored"), expected);
                }
                inside
            });
            let recorded = problems.triple(&key, "recorded_position", &entry.recorded_position, 0);
            if position.is_some() && recorded.is_some() {
                let what = "beside a position, ignored";
                problems.report(key.name("recorded_position"), what, "either of the two");
            }
            // Work-groups of unknown dispatches may share a position.
            if let (Some(queue), Some(position)) = (queue, position)
                && !taken.insert((queue, dispatch, position))
            {
                let what = format_args!("{position:?} is the place of an earlier entry, too");
                problems.report(key.name("position"), what, "one work-group at each place");
            }
            // The hardware's values are not validated.
            let position = position.or(recorded);
            let lds_size = problems.number(&key, "lds_size", &entry.lds_size);
            let has_all_waves = problems.given(&key, "all_waves", &entry.all_waves).copied().unwrap_or(false);
            let target = queue.and_then(|queue| self.target_of(queue));
            let end = lds_size.map(|size| (size, "lds_size")).or_else(|| limit(target.as_deref(), "local"));
            let bounds = Bounds { address_required: false, end };
            let lds = memory_map(&mut self.problems, &mut self.sources, &key, "lds", &entry.lds, bounds);
            self.workgroups.place(id, self.capture.workgroups.len());
            let group = WorkGroup { id, queue, dispatch, position, lds_size, has_all_waves, lds };
            self.capture.workgroups.push(group);
        }
    }

    fn target_of(&self, queue: usize) -> Option<Arc<Target>> {
        let queue = self.capture.queues.get(queue)?;
        Some(Arc::clone(&self.capture.agents.get(queue.agent)?.target))
    }

    /// The agent of a work-group whose queue is known.
    pub(super) fn agent_of(&self, workgroup: usize) -> Option<usize> {
        Some(self.capture.queues.get(self.capture.workgroups.get(workgroup)?.queue?)?.agent)
    }

    /// The kind of an agent's waves of one size, computed once.
    pub(super) fn kind(&mut self, agent: usize, size: WaveSize) -> Option<(Arc<WaveArch>, KindIndex)> {
        let index = match self.kind_of.get(&(agent, size)) {
            Some(index) => *index,
            None => {
                let target = &self.capture.agents.get(agent)?.target;
                let kind = self.targets.kind(&target.name, size).ok()?;
                let index = KindIndex(self.kinds.len());
                self.kinds.push(kind);
                self.kind_of.insert((agent, size), index);
                index
            }
        };
        Some((Arc::clone(self.kinds.get(index.0)?), index))
    }

    fn code_objects(&mut self) {
        let table = Key::Root.name("code_object");
        for (index, entry) in self.problems.entries(&Key::Root, "code_object", &self.manifest.code_object) {
            let key = table.index(index);
            self.problems.extra(&key, &entry.extra);
            let Some(address) = self.problems.required(&key, "address", &entry.address).copied() else {
                continue;
            };
            let uri = self.problems.text(&key, "uri", &entry.uri);
            let path = self.problems.text(&key, "path", &entry.path);
            let chosen = self.problems.text(&key, "entry", &entry.entry);
            let debug = self.problems.given(&key, "debug", &entry.debug).and_then(|debug| {
                self.sources.required(
                    &mut self.problems,
                    &key.name("debug"),
                    debug.data(),
                    "`debug` is ignored",
                )
            });
            let build_id = self.problems.given(&key, "build_id", &entry.build_id).and_then(|hex| {
                let mut bytes = Vec::new();
                let decoded = decode_hex(&hex.0, &mut bytes);
                if let Err((at, found)) = &decoded {
                    let what = format_args!("{found} at character {at}");
                    self.problems.report(key.name("build_id"), what, "pairs of hex digits");
                }
                decoded.is_ok().then_some(bytes)
            });
            let extent = self.code_object_bytes(&key, entry, path.as_deref(), build_id.as_deref());
            let agent = self.agents.resolve(&mut self.problems, &key, "agent", &entry.agent);
            if agent.is_none() && entry.agent.is_given() {
                continue;
            }
            let file = match &entry.file {
                Field::Given(file) => Some(file.0.clone().into_owned()),
                _ => None,
            };
            let given = self.problems.text(&key, "name", &entry.name);
            let name = given.or(file).or(path).or_else(|| uri.clone());
            let name = clean(name.unwrap_or_else(|| format!("code object at {address:#x}"))).into_owned();
            let address = Address(address);
            let segments = self.segments(&key, &entry.segments);
            let object = CodeObject {
                address,
                extent,
                uri,
                entry: chosen,
                build_id,
                agent,
                name,
                image: self.problems.given(&key, "image", &entry.image).copied().unwrap_or(false),
                debug,
                origin: self.problems.text(&key, "origin", &entry.origin),
                forced: false,
                segments,
            };
            self.capture.code_objects.push(object);
        }
        let all = self.problems.given(&Key::Root, "all_code_objects", &self.manifest.all_code_objects);
        let listed = match &self.manifest.code_object {
            Field::Given(entries) => entries.len(),
            _ => 0,
        };
        // An entry that is left out is missing.
        self.capture.has_all_code_objects =
            all.copied().unwrap_or(false) && self.capture.code_objects.len() == listed;
    }

    /// The loaded segments of a code object whose bytes are absent.
    fn segments(
        &mut self,
        key: &Key<'_>,
        field: &Field<manifest::Entries<manifest::LoadedSegment<'_>>>,
    ) -> Vec<LoadedSegment> {
        let table = key.name("segments");
        let problems = &mut self.problems;
        let mut segments = Vec::new();
        for (index, entry) in problems.entries(key, "segments", field) {
            let key = table.index(index);
            problems.extra(&key, &entry.extra);
            let start = problems.required(&key, "address", &entry.address).copied();
            let size = problems.required(&key, "size", &entry.size).copied();
            let is_code = problems.given(&key, "code", &entry.code).copied().unwrap_or(false);
            let Some((start, size)) = start.zip(size) else { continue };
            match start.checked_add(size) {
                Some(end) => segments.push(LoadedSegment { start, end, is_code }),
                None => problems.report(
                    key,
                    format_args!("{size} bytes from {start:#x}; {LEFT_OUT}"),
                    "an end below 2^64",
                ),
            }
        }
        segments
    }

    fn source_files(&mut self) {
        let table = Key::Root.name("source");
        let mut taken = HashSet::new();
        for (index, entry) in self.problems.entries(&Key::Root, "source", &self.manifest.source) {
            let key = table.index(index);
            self.problems.extra(&key, &entry.extra);
            let Some(given) = self.problems.required(&key, "path", &entry.path) else { continue };
            let Some(path) = normal_path(&clean(&*given.0)) else {
                self.problems.report(
                    key.name("path"),
                    "leads to no file",
                    "a file's name, without `..` in front",
                );
                continue;
            };
            let Some(extent) = self.sources.required(&mut self.problems, &key, entry.data(), LEFT_OUT) else {
                continue;
            };
            if self.capture.sources.len() >= MAX_SOURCE_FILES {
                let expected = format_args!("at most {MAX_SOURCE_FILES} source files");
                self.problems.report(key, "this and those after it are left out", expected);
                break;
            }
            if extent.length > MAX_SOURCE {
                let expected = format_args!("at most {MAX_SOURCE} bytes of text");
                self.problems.report(key, format_args!("{} bytes", extent.length), expected);
            } else if taken.insert(path.clone()) {
                self.capture.sources.push(SourceFile { path, extent });
            } else {
                self.problems.report(key.name("path"), "the path of an earlier entry, too", "each path once");
            }
        }
    }

    fn code_object_bytes(
        &mut self,
        key: &Key<'_>,
        entry: &manifest::CodeObject<'_>,
        path: Option<&str>,
        build_id: Option<&[u8]>,
    ) -> Option<Extent> {
        let found = self.sources.extent(&mut self.problems, key, entry.data());
        match (found, path) {
            (Found::Nothing, Some(path)) => {
                self.sources.outside(&mut self.problems, &key.name("path"), path, build_id)
            }
            (Found::At(extent), Some(_)) => {
                self.problems.report(key.name("path"), "beside data, ignored", "either data or path");
                Some(extent)
            }
            (Found::At(extent), None) => Some(extent),
            (Found::Nothing | Found::Refused, _) => None,
        }
    }
}

/// Number of work-groups of a dispatch in each dimension, including a partial last one.
fn groups(dispatch: &Dispatch) -> Option<[u64; 3]> {
    let (grid, workgroup) = (dispatch.grid?, dispatch.workgroup?);
    let mut groups = [1; 3];
    for ((count, grid), size) in groups.iter_mut().zip(grid).zip(workgroup) {
        *count = u64::from(grid).div_ceil(u64::from(size.max(1)));
    }
    Some(groups)
}

/// End and name of a space whose addresses have less than 64 bits.
pub(super) fn limit(target: Option<&Target>, space: &str) -> Option<(u64, &'static str)> {
    let bits = target?.space_named(space)?.address_bits;
    Some((1u64.checked_shl(u32::from(bits))?, "the address space"))
}
