//! `[[fault]]`: the reported faults.

use super::build::Builder;
use super::key::Key;
use super::manifest::{self, Entries};
use super::read::LEFT_OUT;
use super::shape::{Field, Text, quoted};
use crate::capture::{
    AgentInference, FailedAssertion, Fault, FaultAccess, FaultAddress, FaultKind, FaultReason, FaultReport,
    FaultSource, FileLocation, MAX_FAULTS,
};
use crate::import::problem::Problems;

impl Builder<'_, '_> {
    pub(super) fn faults(&mut self) {
        let table = Key::Root.name("fault");
        for (index, entry) in self.problems.entries(&Key::Root, "fault", &self.manifest.fault) {
            let key = table.index(index);
            if self.capture.faults.len() >= MAX_FAULTS {
                let expected = format_args!("at most {MAX_FAULTS} faults");
                self.problems.report(key, "this and those after it are left out", expected);
                break;
            }
            self.problems.extra(&key, &entry.extra);
            let Some(kind) = self.problems.required(&key, "kind", &entry.kind) else { continue };
            let kind =
                self.problems.value(&key.name("kind"), kind, FaultKind::ALL, FaultKind::name, LEFT_OUT);
            let Some(kind) = kind else { continue };
            let agent = self.agents.resolve(&mut self.problems, &key, "agent", &entry.agent);
            let agent = agent.and_then(|index| Some(self.capture.agents.get(index)?.id));
            let problems = &mut self.problems;
            let inferred = problems.named(
                &key,
                "agent_inferred",
                &entry.agent_inferred,
                AgentInference::ALL,
                AgentInference::name,
            );
            if let (Some(_), None) = (inferred, agent) {
                problems.report(
                    key.name("agent_inferred"),
                    "there is no `agent`; ignored",
                    "it beside an `agent`",
                );
            }
            let (source, place) = problems.report_of(&key, &entry.source, &entry.place);
            let fault = Fault {
                kind,
                address: problems.address(&key, entry),
                access: problems.named(&key, "access", &entry.access, FaultAccess::ALL, FaultAccess::name),
                reasons: problems.reasons(&key, &entry.reasons),
                has_all_reasons: problems.truth(&key, "all_reasons", &entry.all_reasons),
                status: problems.text(&key, "status", &entry.status),
                node: problems.small(&key, "node", &entry.node),
                device: problems.text(&key, "device", &entry.device),
                agent,
                agent_inferred: inferred.filter(|_| agent.is_some()),
                client: problems.text(&key, "client", &entry.client),
                ring: problems.text(&key, "ring", &entry.ring),
                kernel: problems.text(&key, "kernel", &entry.kernel),
                process: problems.small(&key, "process", &entry.process),
                // `faults::identify` compares process, GPU and ring.
                is_of_other_process: false,
                is_of_other_gpu: false,
                outer_process: None,
                is_of_kernel_queue: false,
                assertion: problems.assertion(&key, &entry.assertion),
                source,
                place,
                also: problems.reports(&key, &entry.also),
            };
            self.capture.faults.push(fault);
        }
    }
}

impl Problems {
    /// The value of that name; `effect`: the result of another name.
    fn value<T: Copy>(
        &mut self,
        key: &Key<'_>,
        text: &Text<'_>,
        all: &[T],
        name: fn(&T) -> &'static str,
        effect: &str,
    ) -> Option<T> {
        let found = all.iter().copied().find(|value| name(value) == text.0);
        if found.is_none() {
            let known: Vec<_> = all.iter().map(name).collect();
            let what = format_args!("{}; {effect}", quoted(&text.0));
            self.report(key, what, format_args!("one of {}", known.join(", ")));
        }
        found
    }

    fn named<T: Copy>(
        &mut self,
        key: &Key<'_>,
        field: &str,
        text: &Field<Text<'_>>,
        all: &[T],
        name: fn(&T) -> &'static str,
    ) -> Option<T> {
        let text = self.given(key, field, text)?;
        self.value(&key.name(field), text, all, name, "ignored")
    }

    fn truth(&mut self, key: &Key<'_>, name: &str, field: &Field<bool>) -> bool {
        self.given(key, name, field).copied().unwrap_or(false)
    }

    fn address(&mut self, key: &Key<'_>, entry: &manifest::Fault<'_>) -> Option<FaultAddress> {
        let is_inexact = self.truth(key, "inexact", &entry.inexact);
        let bytes = self.number(key, "bytes", &entry.bytes).unwrap_or(1);
        let start = self.number(key, "address", &entry.address)?;
        if bytes.checked_sub(1).and_then(|more| start.checked_add(more)).is_none() {
            let what = format_args!("{bytes:#x} bytes from {start:#x} on; the address is ignored");
            self.report(key.name("bytes"), what, "at least 1, and an end within the address space");
            return None;
        }
        Some(FaultAddress { start, bytes, is_inexact })
    }

    fn reasons(&mut self, key: &Key<'_>, field: &Field<Vec<Field<Text<'_>>>>) -> Vec<FaultReason> {
        let Some(names) = self.given(key, "reasons", field) else { return Vec::new() };
        let list = key.name("reasons");
        let mut reasons = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let key = list.index(index);
            let reason = match name {
                Field::Given(name) => self.value(&key, name, FaultReason::ALL, FaultReason::name, "ignored"),
                Field::Absent => {
                    self.report(key, "null, ignored", "a string");
                    None
                }
                Field::Wrong(found) => {
                    self.report(key, format_args!("{found}, ignored"), "a string");
                    None
                }
            };
            // The list has at most one entry of each reason.
            reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
        }
        reasons
    }

    fn assertion(
        &mut self,
        key: &Key<'_>,
        field: &Field<manifest::FailedAssertion<'_>>,
    ) -> Option<FailedAssertion> {
        let entry = self.given(key, "assertion", field)?;
        let key = key.name("assertion");
        self.extra(&key, &entry.extra);
        self.needed(&key, "condition", &entry.condition, "`assertion` is unknown")?;
        Some(FailedAssertion {
            condition: self.text(&key, "condition", &entry.condition)?,
            file: self.text(&key, "file", &entry.file),
            line: self.number(&key, "line", &entry.line),
            function: self.text(&key, "function", &entry.function),
        })
    }

    fn reports(&mut self, key: &Key<'_>, field: &Field<Entries<manifest::Report<'_>>>) -> Vec<FaultReport> {
        let list = key.name("also");
        let entries = self.entries(key, "also", field);
        let each = entries.into_iter().take(MAX_FAULTS).map(|(index, entry)| {
            let key = list.index(index);
            self.extra(&key, &entry.extra);
            let (source, place) = self.report_of(&key, &entry.source, &entry.place);
            FaultReport { source, place }
        });
        each.collect()
    }

    fn report_of(
        &mut self,
        key: &Key<'_>,
        source: &Field<Text<'_>>,
        place: &Field<manifest::Place<'_>>,
    ) -> (FaultSource, Option<FileLocation>) {
        let source = self.named(key, "source", source, FaultSource::ALL, FaultSource::name);
        (source.unwrap_or_default(), self.place(key, place))
    }

    fn place(&mut self, key: &Key<'_>, field: &Field<manifest::Place<'_>>) -> Option<FileLocation> {
        let place = self.given(key, "place", field)?;
        let key = key.name("place");
        self.extra(&key, &place.extra);
        let line = self.number(&key, "line", &place.line).and_then(|line| usize::try_from(line).ok());
        self.needed(&key, "file", &place.file, "`place` is unknown")?;
        let file = self.text(&key, "file", &place.file)?;
        Some(FileLocation { file, line, ..FileLocation::default() })
    }
}
