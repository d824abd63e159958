//! The dump's origin, code objects and problems.

use super::{MAX_LONG_TEXT, Options, Source, bounded, cut, cut_to};
use crate::capture::Problem;
use crate::codeobject::hex;
use crate::notation::counted;
use crate::postmortem::paths::Paths;
use crate::postmortem::{About, Hex, ObjectRow, ProblemRow};
use crate::session::Dump;

/// Maximum number of code objects.
const MAX_OBJECTS: usize = 200;
/// Maximum number of problems and notes.
const MAX_PROBLEMS: usize = 200;

/// The reduction of the paths of a dump.
pub(super) fn paths(dump: &Dump, options: Options) -> Paths {
    let capture = dump.capture();
    let mut files = vec![capture.name.clone()];
    let faults = capture.faults.iter().filter_map(|fault| fault.place.as_ref());
    files.extend(faults.map(|place| place.file.clone()));
    files.extend(dump.problems().iter().map(|problem| problem.place.file.clone()));
    let sources = capture.sources.iter().map(|source| source.path.clone()).collect();
    for object in dump.code_objects() {
        files.push(object.name);
        files.extend(object.origin);
    }
    let paths = Paths::new(options.with_paths, files, sources, capture.provenance.host.as_deref());
    let rejected = dump.problems().iter().find(|problem| problem.place.key.as_deref() == Some(COMMAND));
    let rejected = rejected.map(|problem| &*problem.what);
    paths.hiding(capture.provenance.command.as_deref().or(rejected).unwrap_or_default())
}

/// The key of the command in a manifest.
const COMMAND: &str = "provenance.command";

impl Source<'_> {
    pub(super) fn about(&self) -> About {
        let capture = self.dump.capture();
        let from = &capture.provenance;
        let text = |text: &Option<String>| text.as_deref().map(|text| self.paths.text(text));
        let of_machine = |text: &Option<String>| text.clone().filter(|_| self.options.with_paths);
        let mut gpus: Vec<String> = Vec::new();
        for agent in &capture.agents {
            let name = agent.name.as_deref().map_or(String::new(), |name| format!(" ({name})"));
            let gpu = format!("{}{name}", agent.target.name);
            if !gpus.contains(&gpu) {
                gpus.push(gpu);
            }
        }
        let kind = |kind: &crate::arch::WaveArch| format!("{}:{}", kind.target.name, kind.wave_size);
        let kinds =
            self.dump.kinds().map(|(of, count)| format!("{} of {}", counted(count, "wave"), kind(of)));
        About {
            name: self.paths.name(&capture.name),
            format: from.format.clone(),
            producer: text(&from.producer),
            created: from.created.clone(),
            host: of_machine(&from.host),
            command: of_machine(&from.command),
            note: from.note.as_deref().map(|note| cut_to(&self.paths.note(note), MAX_LONG_TEXT)),
            gpus,
            kinds: kinds.collect(),
            waves: capture.waves.len(),
            faulted: self.dump.faulted(),
            unknown_stops: self.dump.unknown_stops(),
        }
    }

    pub(super) fn code_objects(&self) -> (Vec<ObjectRow>, usize) {
        let (objects, left_out) = bounded(self.dump.code_objects(), MAX_OBJECTS);
        let row = |(index, object): (usize, crate::session::CodeObjectInfo)| ObjectRow {
            name: cut(&self.paths.name(&object.name)),
            address: Hex(object.address.0),
            size: object.size,
            build_id: self.dump.code_object(index).ok().and_then(|object| Some(hex(&object.build_id()?))),
            problem: object.unnamed_problem().map(|problem| cut(&self.paths.text(&problem))),
        };
        (objects.into_iter().enumerate().map(row).collect(), left_out)
    }

    pub(super) fn problems(&self) -> (Vec<ProblemRow>, usize) {
        let severity = |severity| match severity {
            crate::capture::Severity::Error => "error",
            crate::capture::Severity::Warning => "warning",
        };
        let problems = self.dump.problems().iter();
        // A rejected value of the provenance may be the command or the host.
        let shown = |problem: &Problem| match problem.place.key.as_deref() {
            Some(key) if key.starts_with("provenance.") && !self.options.with_paths => {
                Problem { what: "wrong value".to_owned(), ..problem.clone() }.to_string()
            }
            _ => problem.to_string(),
        };
        let mut rows: Vec<(&'static str, String)> =
            problems.map(|problem| (severity(problem.severity), shown(problem))).collect();
        let capture = self.dump.capture();
        rows.extend(capture.unconfirmed().into_iter().map(|text| ("warning", text)));
        rows.extend(capture.unchecked().into_iter().map(|text| ("warning", text)));
        rows.extend(capture.missing().into_iter().map(|text| ("note", text)));
        rows.extend(capture.provenance.notes.iter().map(|text| ("note", text.clone())));
        let (rows, left_out) = bounded(rows, MAX_PROBLEMS);
        let row = |(severity, text): (_, String)| ProblemRow {
            severity,
            text: cut_to(&self.paths.note(&text), MAX_LONG_TEXT),
        };
        (rows.into_iter().map(row).collect(), left_out)
    }
}
