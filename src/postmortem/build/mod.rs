//! A dump's report: the analysis first, then the wave of the fault, then the dump as a whole.
//!
//! Each file fills one part of the model. Lists have bounds; the model counts the rest.

mod about;
mod code;
mod contents;
mod fault;
mod launches;
mod memory;
mod values;
mod wave;
mod waves;

use serde_json::Value;

use super::Model;
use super::model::SCHEMA;
use super::paths::Paths;
use crate::report::schema::Document;
use crate::session::{Dump, Inspect};
use crate::signature::{Crashes, Rules, Signature, SignatureLevel};
use crate::triage::{self, Scene, Step, Triage};

/// Maximum bytes of a value of a lane or of another text of the program; a longer one ends with `...`.
pub(super) const MAX_TEXT: usize = 256;
/// Maximum bytes of a problem, a note, or a text of the analysis.
pub(super) const MAX_LONG_TEXT: usize = 1024;
/// Maximum number of waves whose states in a hang are part of `analysis`.
const MAX_ANALYSED: usize = 1000;

/// The choice of data in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether paths, the host and the command of the capture stay.
    pub with_paths: bool,
    /// Whether values of variables, arguments and memory are left out.
    pub no_values: bool,
    /// Whether the contents of global memory are left out: values in it, arguments, bytes.
    pub no_global: bool,
}

/// The subject of a report with its analysis.
struct Source<'a> {
    dump: &'a Dump,
    sessions: &'a [&'a dyn Inspect],
    scene: Scene<'a>,
    triage: Triage,
    options: Options,
    paths: Paths,
}

/// Builds the report of a dump. `sessions`: one for each kind of waves. `rules`: the rules of its signatures. `command`:
/// the front end's command of a step.
#[must_use]
pub fn model(
    dump: &Dump,
    sessions: &[&dyn Inspect],
    options: Options,
    rules: &Rules,
    command: &dyn Fn(&Step) -> Option<String>,
) -> Model {
    let mut triage = triage::triage(sessions, &triage::Question::default());
    let paths = about::paths(dump, options);
    let signatures = signatures(dump, sessions, &triage, rules, &paths);
    if sessions.is_empty() {
        triage.faults.clone_from(&dump.capture().faults);
    }
    let scene = Scene::new(sessions);
    let source = Source { dump, sessions, scene, triage, options, paths };
    let analysis = source.analysis();
    let fault = source.fault(command);
    let (stacks, stacks_left_out, innermost) = source.stacks();
    let (waves, waves_left_out) = source.waves(&innermost);
    let wave = source.wave(&stacks);
    let (barriers, barriers_left_out) = source.barriers();
    let (dispatches, dispatches_left_out) = source.launches();
    let (code_objects, code_objects_left_out) = source.code_objects();
    let (problems, problems_left_out) = source.problems();
    let mut model = Model {
        schema: SCHEMA,
        lanescope: env!("CARGO_PKG_VERSION"),
        dump: source.about(),
        fault,
        signatures,
        wave,
        memory: source.memory(),
        barriers,
        barriers_left_out,
        stacks,
        stacks_left_out,
        waves,
        waves_left_out,
        dispatches,
        dispatches_left_out,
        code_objects,
        code_objects_left_out,
        problems,
        problems_left_out,
        missing: source
            .triage
            .missing
            .iter()
            .map(|missing| source.paths.text(&missing.to_string()))
            .collect(),
        contents: Vec::new(),
        next: source.next(command),
        analysis,
    };
    model.contents = contents::of(&model, options);
    model
}

/// The signatures, without explanations.
fn signatures(
    dump: &Dump,
    sessions: &[&dyn Inspect],
    triage: &Triage,
    rules: &Rules,
    paths: &Paths,
) -> Vec<Signature> {
    let crashes = Crashes::of_analysis(dump, sessions, triage, rules);
    let mut found = crashes.signatures(SignatureLevel::Default);
    for signature in &mut found {
        signature.steps.clear();
        signature.weak_because = signature.weak_because.take().map(|why| paths.text(&why));
    }
    found
}

impl Source<'_> {
    /// The analysis as JSON.
    fn analysis(&self) -> Option<Value> {
        let states = self.triage.hang.as_ref().map_or(0, |hang| hang.waves.len());
        if self.options.no_values || self.options.no_global || states > MAX_ANALYSED {
            return None;
        }
        let document = Document::new(triage::json::json(self.triage.clone(), self.sessions));
        let mut analysis = serde_json::to_value(document).ok()?;
        self.reduce(&mut analysis);
        Some(analysis)
    }

    /// Reduces the paths in all texts of a document, and cuts long ones. Its depth is that of the analysis.
    fn reduce(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = cut_to(&self.paths.text(text), MAX_LONG_TEXT),
            Value::Array(items) => items.iter_mut().for_each(|item| self.reduce(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.reduce(member)),
            _ => {}
        }
    }
}

/// A text of at most [`MAX_TEXT`] bytes.
fn cut(text: &str) -> String {
    cut_to(text, MAX_TEXT)
}

/// A text of at most that many bytes.
fn cut_to(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}...", text.get(..end).unwrap_or_default())
}

/// The first items, and the number of the others.
fn bounded<T>(mut items: Vec<T>, most: usize) -> (Vec<T>, usize) {
    let left_out = items.len().saturating_sub(most);
    items.truncate(most);
    (items, left_out)
}
