//! Important absent parts of a capture.

use std::collections::BTreeMap;

use super::{Capture, Wave};
use crate::notation::plural;

/// Maximum wave IDs in a line.
const MAX_LISTED: usize = 16;

impl Capture {
    /// Whether it has reports of faults alone: a log of a program, or a device core dump.
    #[must_use]
    pub fn has_reports_alone(&self) -> bool {
        let is_empty = self.waves.is_empty() && self.queues.is_empty() && self.dispatches.is_empty();
        is_empty && self.code_objects.is_empty() && self.global.segments().is_empty()
    }

    /// Describes each expected part that is absent, with the reason.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let waves = &self.waves;
        let count = |what: &str, without: usize| {
            (without > 0).then(|| format!("{what}: not captured for {without} of {} waves", waves.len()))
        };
        let no_private =
            |wave: &&super::Wave| wave.private.segments().is_empty() && wave.private_size != Some(0);
        let no_private = waves.iter().filter(no_private).count();
        missing.extend(count("private memory", no_private));
        let lds_missing = |wave: &&super::Wave| {
            let group = self.workgroup_of(wave);
            let asked = self.dispatch_of(wave).and_then(|dispatch| dispatch.group_segment_size);
            let owns_none = group.is_some_and(|group| group.lds_size.or(asked) == Some(0));
            !owns_none && group.is_none_or(|group| group.lds.segments().is_empty())
        };
        let no_lds = waves.iter().filter(lds_missing).count();
        missing.extend(count("LDS", no_lds));
        missing.extend(count("work-group", waves.iter().filter(|wave| wave.workgroup.is_none()).count()));
        if self.code_objects.is_empty() {
            missing.push("no code objects: variables and source lines are not to be had".to_owned());
        }
        if self.global.segments().is_empty() {
            missing.push("no global memory".to_owned());
        }
        missing
    }

    /// Describes waves whose values may be wrong, by reason: the first IDs and the count.
    #[must_use]
    pub fn unconfirmed(&self) -> Vec<String> {
        self.grouped(|wave| wave.unconfirmed.as_deref(), ["is unconfirmed", "are unconfirmed"])
    }

    /// Describes waves with values that nothing else in the capture confirms: the first IDs and the count.
    #[must_use]
    pub fn unchecked(&self) -> Vec<String> {
        self.grouped(|wave| wave.unchecked.as_deref(), ["has unchecked values", "have unchecked values"])
    }

    /// Groups waves by text, a line for each. `verbs`: for one wave, for several.
    fn grouped(&self, text: impl Fn(&Wave) -> Option<&str>, verbs: [&str; 2]) -> Vec<String> {
        let mut by_text: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for wave in &self.waves {
            if let Some(text) = text(wave) {
                by_text.entry(text).or_default().push(wave.id);
            }
        }
        let line = |(text, ids): (&str, Vec<u32>)| {
            let listed: Vec<String> = ids.iter().take(MAX_LISTED).map(ToString::to_string).collect();
            let more = if ids.len() > MAX_LISTED { ", ..." } else { "" };
            let (waves, verb) = (plural(ids.len(), "wave", "waves"), plural(ids.len(), verbs[0], verbs[1]));
            format!("{} {waves} ({}{more}) {verb}: {text}", ids.len(), listed.join(", "))
        };
        by_text.into_iter().map(line).collect()
    }
}
