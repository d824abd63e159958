//! The report on a slim dump's contents and omissions, as text and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::Options;
use super::choose::{Choice, MAX_FAULTED, Why};
use super::stand_ins::StandIns;
use crate::capture::MemoryMap;
use crate::import::write::{CONTAINS, Plan, Written};
use crate::notation::{counted, is_zero, plural, range, ranges, size};
use crate::session::{Dump, Limit, Reach, has_faulted};
use crate::units::WaveId;

/// Maximum runs of wave IDs in a line; JSON has all.
const MAX_RUNS: usize = 16;
/// Maximum number of reasons for absent waves.
const MAX_ABSENT: usize = 100;

/// Contents and omissions of a slim dump.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the opened dump.
    pub from: String,
    /// Its format.
    pub format: String,
    /// The chosen waves by their ids in the dump, with the reasons and the number of waves that they stand for.
    pub waves: Vec<(u32, Why, u32)>,
    /// Work-groups whose LDS was copied, code objects with their files, bytes of all.
    pub written: Written,
    /// Code objects whose files are in the dump.
    pub code_objects: usize,
    /// Source files in the dump.
    pub sources: usize,
    /// The omissions.
    pub left: Left,
    /// Whether any global memory was kept.
    pub global: bool,
    /// Whether all of it was kept.
    pub whole: bool,
    /// The allowed number of pointer steps.
    pub follow: u32,
    /// The reached memory.
    pub reach: Reach,
    /// Notes: added debug information, unreadable bytes.
    pub notes: Vec<String>,
    /// Reasons for waves of the process that may be absent from the dump although they faulted.
    pub absent_waves: Vec<String>,
    /// Reasons for waves of the process that are absent from the dump and had not faulted.
    pub running_waves: Vec<String>,
    /// Whether waves that stay out were never searched for the pages of the reports: the capture was a small dump, and the
    /// reports were added to it.
    pub unsearched: bool,
    /// The file of the capture that ends too early, and where.
    pub truncated: Option<String>,
}

/// The omissions of a slim dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Waves.
    pub waves: usize,
    /// Faulted waves among them: more than [`MAX_FAULTED`] of one stack.
    pub faulted: usize,
    /// Code objects listed without their files.
    pub code_objects: usize,
    /// Code objects among them whose bytes are missing in the capture or unreadable, needed or not.
    pub absent: usize,
    /// Bytes of captured global memory.
    pub global: u64,
    /// Bytes of captured private memory of the chosen waves, beyond the size that their dispatches requested.
    pub private: u64,
}

impl Report {
    pub(super) fn new(
        dump: &Dump,
        options: &Options,
        chosen: &[(WaveId, Why)],
        stand_ins: &StandIns,
        plan: &Plan,
        reach: Reach,
        notes: Vec<String>,
    ) -> Self {
        let capture = dump.capture();
        let id = |wave: WaveId| capture.wave(wave).map(|wave| wave.id);
        let all_faulted = capture.waves.iter().filter(|wave| has_faulted(wave)).count();
        let in_faulted =
            chosen.iter().filter(|(wave, _)| capture.wave(*wave).is_some_and(has_faulted)).count();
        let code_objects = plan.code_objects.iter().filter(|object| object.file.is_some()).count();
        let without = plan.code_objects.iter().filter(|object| object.file.is_none());
        let absent = without.filter(|object| dump.code_object(object.index).is_err()).count();
        let private = plan.waves.iter().filter_map(|planned| {
            let map = &capture.wave(planned.wave)?.private;
            Some(map.captured() - below(map, planned.private_end))
        });
        let left = Left {
            waves: capture.waves.len() - chosen.len(),
            faulted: if options.choice == Choice::Representative { all_faulted - in_faulted } else { 0 },
            code_objects: plan.code_objects.len() - code_objects,
            absent,
            global: capture.global.captured(),
            private: private.sum(),
        };
        let (mut hidden, mut running) = (0, 0);
        for id in &stand_ins.missing {
            let hides = capture.wave(*id).is_some_and(|wave| wave.stop.is_none() || has_faulted(wave));
            *(if hides { &mut hidden } else { &mut running }) += 1 + u64::from(capture.left_out.of(*id));
        }
        let name = super::notes::file_name(&capture.name);
        let mut absent_waves = dump.absent_waves();
        absent_waves.truncate(MAX_ABSENT);
        if hidden > 0 {
            let left_out = format!("{}, faulted or perhaps faulted,", counted(hidden, "wave"));
            absent_waves.push(format!("lanescope slim left out {left_out} of {name}"));
        }
        let mut running_waves = dump.absent_running_waves().to_vec();
        running_waves.truncate(MAX_ABSENT);
        if running > 0 {
            let left_out = counted(running, "wave");
            let verb = plural(running, "has", "have");
            running_waves.push(format!("lanescope slim left out {left_out} of {name} that {verb} no fault"));
        }
        Self {
            from: capture.name.clone(),
            format: capture.provenance.format.clone(),
            waves: chosen
                .iter()
                .filter_map(|(wave, why)| Some((id(*wave)?, *why, stand_ins.of_wave(*wave))))
                .collect(),
            written: Written::default(),
            code_objects,
            sources: plan.sources.len(),
            left,
            global: options.global,
            whole: options.whole,
            follow: options.bounds.steps,
            reach,
            notes,
            absent_waves,
            running_waves,
            unsearched: capture.left_out.has_new_reports && !capture.left_out.stands_for.is_empty(),
            truncated: dump.truncated().map(str::to_owned),
        }
    }

    /// The same report, with the written contents.
    pub(super) fn with(mut self, written: Written) -> Self {
        self.left.global = self.left.global.saturating_sub(written.global_named);
        self.notes.extend(written.losses.iter().cloned());
        if written.more_losses > 0 {
            self.notes.push(format!("{}, not listed", counted(written.more_losses as u64, "more loss")));
        }
        self.written = written;
        self
    }

    /// The text for the dump's provenance.
    pub(super) fn note(&self) -> String {
        let mut note = format!("slimmed from {}: {}", self.format, self.waves_words());
        let _ = write!(note, "{CONTAINS}their registers");
        for (bytes, what) in [(self.written.lds, "LDS"), (self.written.private, "private memory")] {
            if bytes > 0 {
                let _ = write!(note, ", {what}");
            }
        }
        if self.code_objects > 0 {
            let _ = write!(note, ", {}", counted(self.code_objects as u64, "code object"));
        }
        match self.written.global {
            0 if !self.global => note.push_str("; global memory was left out"),
            bytes if !self.global => {
                let _ = write!(note, ", and {} of code; other global memory was left out", size(bytes));
            }
            0 => note.push_str("; no global memory"),
            bytes => {
                let _ = write!(note, ", and {} of global memory", size(bytes));
            }
        }
        note
    }

    fn waves_words(&self) -> String {
        let all = self.waves.len() + self.left.waves;
        format!("{} of {}", self.waves.len(), counted(all as u64, "wave"))
    }

    /// The first line of the text form; `to` is the path of the written dump.
    #[must_use]
    pub fn headline(&self, to: &str) -> String {
        format!("{to}: {} of {}", self.waves_words(), self.from)
    }

    /// The other lines of the text form: labels and texts.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        let mut line = |what, words| rows.push((what, words));
        for (why, words) in [
            (Why::Faulted, "faulted"),
            (Why::Stack, "for stacks that no other chosen wave has"),
            (Why::Hung, "of dispatches that hang"),
            (Why::Answer, "for the analysis"),
            (Why::Named, "as asked for"),
        ] {
            let of_why = self.waves.iter().filter(|(_, of, _)| *of == why);
            let ids: Vec<u32> = of_why.map(|(id, ..)| *id).collect();
            if !ids.is_empty() {
                line("waves", format!("{} ({words})", runs(&ids)));
            }
        }
        let written = &self.written;
        line("registers", size(written.registers));
        line("LDS", size(written.lds));
        let beyond = match self.left.private {
            0 => String::new(),
            bytes => format!("; {} beyond what the dispatches asked for {} out", size(bytes), stays(bytes)),
        };
        line("private memory", format!("{}{beyond}", size(written.private)));
        let mut listed = match self.left.code_objects - self.left.absent {
            0 => String::new(),
            1 => "; 1 that no chosen wave needs is listed without its file".to_owned(),
            count => format!("; {count} that no chosen wave needs are listed without their files"),
        };
        if self.left.absent > 0 {
            let _ = write!(listed, "; {} whose bytes are not available", self.left.absent);
        }
        line("code objects", format!("{} ({}){listed}", self.code_objects, size(written.code_objects)));
        line("global memory", self.global_words());
        if self.sources > 0 {
            line("source files", format!("{} ({})", self.sources, size(written.sources)));
        }
        if self.left.waves > 0 {
            let faulted = match self.left.faulted {
                0 => String::new(),
                count => format!(
                    ", of which {count} faulted (of each stack {MAX_FAULTED} are taken; --all-waves takes all)"
                ),
            };
            let counts = match self.waves.iter().any(|(.., stands_for)| *stands_for > 0) {
                true => "; answers count them",
                false => "",
            };
            line("left out", format!("{}{faulted}{counts}", counted(self.left.waves as u64, "wave")));
        }
        for note in &self.notes {
            line("note", note.clone());
        }
        rows
    }

    fn global_words(&self) -> String {
        if !self.global {
            let left = format!("{} {} out", size(self.left.global), stays(self.left.global));
            return match self.written.global {
                0 => format!("none (--no-global); {left}"),
                code => format!("only {} of code around PCs (--no-global); {left}", size(code)),
            };
        }
        let mut words = size(self.written.global);
        if self.whole {
            let _ = write!(words, ", all that was captured");
            return words;
        }
        let Reach { steps, followed, dangling, .. } = self.reach;
        match followed {
            0 => words.push_str("; no pointer was followed"),
            _ => {
                let (pointers, was) = (counted(followed, "pointer"), plural(followed, "was", "were"));
                let steps = counted(u64::from(steps), "step");
                let _ = write!(words, "; {pointers} {was} followed, in {steps}");
            }
        }
        if dangling > 0 {
            let lead = plural(dangling, "leads", "lead");
            let _ =
                write!(words, "; {} {lead} to memory that was not captured", counted(dangling, "pointer"));
        }
        if self.left.global > 0 {
            let _ = write!(words, "; {} {} out", size(self.left.global), stays(self.left.global));
        }
        for limit in &self.reach.limits {
            let _ = write!(words, "; {}", limit_words(*limit, self.follow));
        }
        words
    }

    /// The JSON form; docs/slim.md documents the members.
    #[must_use]
    pub fn json(&self) -> ReportJson {
        let written = &self.written;
        ReportJson {
            from: self.from.clone(),
            format: self.format.clone(),
            waves: self
                .waves
                .iter()
                .map(|(id, why, stands_for)| ChosenWave { id: *id, why: *why, stands_for: *stands_for })
                .collect(),
            bytes: WrittenBytes {
                registers: written.registers,
                lds: written.lds,
                private: written.private,
                global: written.global,
                code_objects: written.code_objects,
                sources: written.sources,
            },
            sources: self.sources,
            code_objects: self.code_objects,
            global: self.global,
            whole: self.whole,
            follow: self.follow,
            steps: self.reach.steps,
            pointers: Pointers { followed: self.reach.followed, dangling: self.reach.dangling },
            limits: self.reach.limits.to_vec(),
            left_out: LeftOut {
                waves: self.left.waves,
                faulted: self.left.faulted,
                code_objects: self.left.code_objects,
                absent_code_objects: self.left.absent,
                global: self.left.global,
                private: self.left.private,
            },
            notes: self.notes.clone(),
            absent_waves: self.absent_waves.clone(),
            running_waves: self.running_waves.clone(),
            unsearched: self.unsearched,
            truncated: self.truncated.clone(),
        }
    }
}

/// The report as JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReportJson {
    /// The name of the opened dump.
    from: String,
    /// Its format.
    format: String,
    /// The chosen waves.
    waves: Vec<ChosenWave>,
    /// Bytes of the contents.
    bytes: WrittenBytes,
    /// Number of source files.
    sources: usize,
    /// Number of code objects with their files.
    code_objects: usize,
    /// Whether global memory was kept.
    global: bool,
    /// Whether all of it was kept.
    whole: bool,
    /// The allowed number of pointer steps.
    follow: u32,
    /// The number of pointer steps.
    steps: u32,
    /// Pointers.
    pointers: Pointers,
    /// The bounds that ended the search.
    limits: Vec<Limit>,
    /// The omissions.
    left_out: LeftOut,
    /// Notes.
    notes: Vec<String>,
    /// Reasons for waves of the process that may be absent from the dump although they faulted.
    absent_waves: Vec<String>,
    /// Reasons for waves of the process that are absent from the dump and had not faulted.
    running_waves: Vec<String>,
    /// Whether waves that stay out were never searched for the pages of added reports.
    unsearched: bool,
    /// The file of the capture that ends too early, and where.
    truncated: Option<String>,
}

/// A chosen wave.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChosenWave {
    /// The id in the dump.
    id: u32,
    /// The reason.
    why: Why,
    /// Number of waves that stay out, and that it stands for in counts.
    #[serde(skip_serializing_if = "is_zero")]
    stands_for: u32,
}

/// Bytes of the contents.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct WrittenBytes {
    /// Registers.
    registers: u64,
    /// LDS.
    lds: u64,
    /// Private memory.
    private: u64,
    /// Global memory.
    global: u64,
    /// Code objects.
    code_objects: u64,
    /// Source files.
    sources: u64,
}

/// Numbers of pointers.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Pointers {
    /// Followed pointers.
    followed: u64,
    /// Pointers to memory that was not captured.
    dangling: u64,
}

/// The omissions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LeftOut {
    /// Waves.
    waves: usize,
    /// Faulted waves among them.
    faulted: usize,
    /// Code objects listed without their files.
    code_objects: usize,
    /// Code objects among them without readable bytes.
    absent_code_objects: usize,
    /// Bytes of global memory.
    global: u64,
    /// Bytes of private memory of the chosen waves.
    private: u64,
}

fn limit_words(limit: Limit, follow: u32) -> String {
    match limit {
        Limit::Steps => format!("there are pointers beyond step {follow} (--follow)"),
        Limit::Pages => "the bound on memory was hit (--most-global)".to_owned(),
        Limit::Pointers => "the bound on pointers was hit (--most-pointers)".to_owned(),
        Limit::Time => "the time for variables and pointers was over (--most-seconds)".to_owned(),
        Limit::Values => "the bound on values of variables was hit (--most-values)".to_owned(),
        Limit::Functions => {
            "variables of large functions were left out: the functions do not fit memory together".to_owned()
        }
        Limit::Object => "of large objects only the first part was looked at".to_owned(),
    }
}

/// Bytes of a map below an address.
fn below(map: &MemoryMap, end: u64) -> u64 {
    let segments = map.segments().iter().take_while(|segment| segment.address < end);
    segments.map(|segment| segment.extent.length.min(end - segment.address)).sum()
}

/// `1 byte is`, `2 bytes are`.
pub(super) fn bytes_are(count: u64) -> String {
    format!("{} {}", counted(count, "byte"), plural(count, "is", "are"))
}

/// The verb for a number of bytes: `1 byte stays`, `2.0 KiB stay`.
fn stays(bytes: u64) -> &'static str {
    plural(bytes, "stays", "stay")
}

/// `1-3, 7`
fn runs(ids: &[u32]) -> String {
    let runs = ranges(ids.iter().copied());
    let mut words: Vec<String> = runs.iter().take(MAX_RUNS).map(range).collect();
    if runs.len() > MAX_RUNS {
        words.push(format!("... {} in all", ids.len()));
    }
    words.join(", ")
}
