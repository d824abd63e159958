//! The code objects that a log names, and their files from `import::objects`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::infer::Likely;
use super::processes::Processes;
use super::read::Log;
use super::wave::Kernel;
use crate::arch::{Target, Targets};
use crate::codeobject::CodeObject;
use crate::import::Options;
use crate::import::fallback_target::nearest;
use crate::import::objects::{self, Found, Held, List, Listed};
use crate::import::problem::Problems;

/// Maximum number of a code object's kernels that are passed on; fewer are compared.
const MAX_KERNELS: usize = 1024;

/// Code objects and their available data.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) each: Vec<Object>,
    /// The capture's code objects, in the same order.
    pub(super) found: Found,
}

/// One code object.
#[derive(Debug)]
pub(super) struct Object {
    /// Load address.
    pub(super) address: u64,
    /// Address after its last byte in memory.
    pub(super) end: u64,
    /// Its process in a log of several; `None`: any process.
    process: Option<usize>,
    pub(super) parsed: Option<CodeObject>,
    pub(super) target: Option<Arc<Target>>,
}

/// Finds the files of a log's code objects; `folder`: the folder of the log; `chosen`: the user's processor.
pub(super) fn find(
    log: &Log,
    processes: &Processes,
    folder: Option<&Path>,
    targets: &Targets,
    options: &Options,
    chosen: Option<&Arc<Target>>,
    problems: &mut Problems,
) -> Objects {
    let mut entries: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); processes.lines.len().max(1)];
    for (index, wave) in log.waves.iter().enumerate() {
        if let (Kernel::At(entry, _), Some(entries)) =
            (&wave.entry, entries.get_mut(processes.of_wave(index)))
        {
            entries.insert(*entry);
        }
    }
    let listed = log.objects.iter().enumerate().map(|(index, object)| {
        // A range that ends before its start is empty.
        let entries = entries.get(processes.of_object(index).unwrap_or(0));
        let range = object.start..object.end.max(object.start);
        let kernels = entries.into_iter().flat_map(|entries| entries.range(range.clone())).take(MAX_KERNELS);
        Listed {
            address: object.start,
            end: object.end,
            uri: object.uri.clone(),
            kernels: kernels.copied().collect(),
        }
    });
    let likely = Likely::of(log, chosen.map(|target| target.name.as_str()));
    let fits = |object: &CodeObject| {
        let processor = object.processor();
        processor.is_none_or(|processor| likely.may_be(processor))
    };
    let list = List { objects: listed.collect(), beside: folder, fits: &fits };
    let found = objects::find_listed(&list, options, problems);
    let each = found.code_objects.iter().enumerate().map(|(index, found)| {
        let end = log.objects.get(index).map(|object| object.end);
        let parsed = match &found.held {
            Some(Held::File(bytes)) => CodeObject::parse(bytes.clone()).ok(),
            _ => None,
        };
        let header = parsed.as_ref().map(CodeObject::header);
        let target = header.and_then(|header| targets.by_elf_machine(header.flags));
        let target = target.or_else(|| nearest(targets, parsed.as_ref()?.processor()?));
        let image = parsed.as_ref().and_then(CodeObject::image);
        let length = image.map_or(0, |image| image.end.0);
        Object {
            address: found.address,
            end: end.unwrap_or(found.address.saturating_add(length)),
            process: processes.of_object(index),
            parsed,
            target,
        }
    });
    Objects { each: each.collect(), found }
}

impl Objects {
    /// The code object of a process that holds an address.
    pub(super) fn at(&self, address: u64, process: usize) -> Option<&Object> {
        let mut seen = self.each.iter().filter(|object| object.process.is_none_or(|other| other == process));
        seen.find(|object| (object.address..object.end).contains(&address))
    }
}
