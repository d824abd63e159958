//! The cause with its evidence, and the work-groups of a hang.

use serde_json::Value;

use super::{Source, bounded};
use crate::debuginfo::short_name;
use crate::notation::list;
use crate::postmortem::{Barrier, Evidence, FaultReport};
use crate::triage::json;
use crate::triage::page::{self, Page};
use crate::triage::{Cause, Confidence, GroupWait, Step, Suspect, Triage, WaveWait};

/// Maximum number of work-groups.
const MAX_BARRIERS: usize = 200;
/// Maximum number of waves of a work-group with their places.
const MAX_PLACES: usize = 16;
/// Rows of the page that are other parts of a report.
const ELSEWHERE: [&str; 4] = ["Lanes", "Stack", "Next", "Missing"];
/// Rows with values of the program, and the one with values from memory.
const VALUES: [&str; 2] = ["Operands", LOOPS];
const LOOPS: &str = "Loops";

impl Source<'_> {
    pub(super) fn fault(&self, command: &dyn Fn(&Step) -> Option<String>) -> FaultReport {
        let page = self.page(command);
        let mut evidence: Vec<Evidence> = Vec::new();
        let mut label = "";
        for row in &page.rows {
            if !row.label.is_empty() {
                label = row.label;
            }
            let is_left_out =
                self.options.no_values && VALUES.contains(&label) || self.options.no_global && label == LOOPS;
            if ELSEWHERE.contains(&label) || is_left_out {
                continue;
            }
            let text = self.paths.text(&row.plain());
            match evidence.last_mut().filter(|last| last.label == label) {
                Some(last) => last.texts.push(text),
                None => evidence.push(Evidence { label: label.to_owned(), texts: vec![text] }),
            }
        }
        // The document of the analysis has the names; that of the cause alone is small.
        let cause = Triage { cause: self.triage.cause.clone(), ..Triage::default() };
        let cause = serde_json::to_value(json::json(cause, self.sessions).cause).ok();
        let kind = cause.as_ref().and_then(|cause| cause.get("kind")).and_then(Value::as_str);
        FaultReport {
            sentence: self.paths.text(&page::plain(&page.headline)),
            cause: kind.map(str::to_owned),
            certainty: certainty(&self.triage),
            source_line: page.source,
            evidence,
        }
    }

    fn page(&self, command: &dyn Fn(&Step) -> Option<String>) -> Page {
        let leave_out = match (self.options.no_values, self.options.no_global) {
            (true, _) => Suspect::leave_out_values,
            (false, true) => Suspect::leave_out_global_values,
            (false, false) => return page::page(&self.triage, &self.scene, command),
        };
        let mut triage = self.triage.clone();
        triage.suspects.iter_mut().for_each(leave_out);
        page::page(&triage, &self.scene, command)
    }

    /// The commands to type next.
    pub(super) fn next(&self, command: &dyn Fn(&Step) -> Option<String>) -> Vec<String> {
        let page = self.page(command);
        let from = page.rows.iter().skip_while(|row| row.label != "Next");
        from.map(|row| self.paths.text(&row.plain())).collect()
    }

    pub(super) fn barriers(&self) -> (Vec<Barrier>, usize) {
        let Some(hang) = &self.triage.hang else { return (Vec::new(), 0) };
        let waiting: Vec<&GroupWait> = hang.groups.iter().filter(|group| !group.waiting.is_empty()).collect();
        let (groups, left_out) = bounded(waiting, MAX_BARRIERS);
        let barrier = |of: &GroupWait| {
            let ids = |waves: &[crate::units::WaveId]| {
                let mut ids: Vec<u32> = waves.iter().map(|wave| self.scene.id(*wave)).collect();
                ids.sort_unstable();
                ids
            };
            let place = |wave| hang.waves.iter().find(|of| of.wave == wave).and_then(|of| self.place(of));
            let mut missing_at: Vec<String> =
                of.missing.iter().take(MAX_PLACES).filter_map(|wave| place(*wave)).collect();
            missing_at.dedup();
            Barrier {
                workgroup: of.workgroup,
                position: of.position,
                waiting: ids(&of.waiting),
                missing: ids(&of.missing),
                missing_at,
                ended: of.ended,
                not_captured: of.not_captured,
            }
        };
        (groups.into_iter().map(barrier).collect(), left_out)
    }

    /// `spin.hip:10-12`, or the function.
    fn place(&self, of: &WaveWait) -> Option<String> {
        let of = &of.at;
        let lines = list(of.lines.iter().copied());
        match &of.file {
            Some(file) if !lines.is_empty() => Some(format!("{}:{lines}", self.base(file))),
            _ => of.function.as_deref().map(short_name).or_else(|| of.pc.map(|pc| pc.to_string())),
        }
    }

    /// The name of a source file without its folders.
    pub(super) fn base(&self, file: &str) -> String {
        super::cut(&self.paths.source(file.rsplit('/').next().unwrap_or(file)))
    }
}

fn certainty(triage: &Triage) -> Option<&'static str> {
    match (&triage.cause, triage.suspects.first(), &triage.hang) {
        (Some(Cause::Memory), Some(suspect), _) => Some(match suspect.confidence {
            Confidence::Exact => "exact",
            Confidence::Likely => "likely",
            Confidence::Possible => "possible",
        }),
        (Some(Cause::Hang), _, Some(hang)) => Some(if hang.is_deadlock { "proven" } else { "likely" }),
        _ => None,
    }
}
