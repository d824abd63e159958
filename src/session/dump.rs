//! One open dump, shared by every client's session.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::objects::Objects;
use super::{CodeObjectInfo, ObjectError, waves};
use crate::arch::{RegId, WaveArch};
use crate::capture::{Capture, Dispatch, Problem, Severity, Wave};
use crate::codeobject::CodeObject;
use crate::debuginfo::DebugInfo;
use crate::dwarf::Dialect;
use crate::session::dispatches::kernels;
use crate::units::WaveId;

/// A capture with its derived data: sets of waves to serve together, their registers, and the code objects' debug
/// information. Immutable; sessions share it.
#[derive(Debug)]
pub struct Dump {
    capture: Capture,
    problems: Vec<Problem>,
    kinds: Vec<Arc<ServedKind>>,
    objects: Objects,
    kernel_names: kernels::Names,
    /// The captured PCs of all waves, in order, each once.
    wave_pcs: OnceLock<Vec<u64>>,
}

/// The waves of one kind. A client keeps one register description per connection, so a session serves one kind.
#[derive(Debug)]
pub(super) struct ServedKind {
    pub(super) kind: Arc<WaveArch>,
    pub(super) waves: Arc<[WaveId]>,
    pub(super) first: WaveId,
    pub(super) group_waves: HashMap<usize, WaveId>,
    described: OnceLock<Vec<RegId>>,
}

impl Dump {
    /// Creates a dump from a capture, with its problems.
    #[must_use]
    pub fn new(capture: Capture, problems: Vec<Problem>) -> Self {
        Self::with_debug_folders(capture, problems, &[])
    }

    /// [`Self::new`] with folders to search for separate debug information.
    #[must_use]
    pub fn with_debug_folders(capture: Capture, problems: Vec<Problem>, folders: &[PathBuf]) -> Self {
        let mut groups: Vec<(Arc<WaveArch>, Vec<WaveId>)> = Vec::new();
        for (ordinal, wave) in (0u32..).zip(&capture.waves) {
            match groups.iter_mut().find(|(kind, _)| Arc::ptr_eq(kind, &wave.kind)) {
                Some((_, waves)) => waves.push(WaveId(ordinal)),
                None => groups.push((Arc::clone(&wave.kind), vec![WaveId(ordinal)])),
            }
        }
        let mut kinds: Vec<Arc<ServedKind>> = groups
            .into_iter()
            .map(|(kind, waves)| {
                let (first, group_waves) = (worst(&capture, &waves), group_waves(&capture, &waves));
                let (waves, described) = (waves.into(), OnceLock::new());
                Arc::new(ServedKind { kind, waves, first, group_waves, described })
            })
            .collect();
        // The kind of the faulted wave comes first.
        kinds.sort_by_key(|served| {
            let severity = capture.wave(served.first).map_or(0, severity);
            (std::cmp::Reverse(severity), served.first)
        });
        let objects = Objects::new(&capture, None, folders);
        let kernel_names = kernels::Names::default();
        Self { capture, problems, kinds, objects, kernel_names, wave_pcs: OnceLock::new() }
    }

    /// Sets the dialect of all debug information, instead of the units' own; `None`: each unit's own.
    #[must_use]
    pub fn in_dialect(mut self, dialect: Option<Dialect>) -> Self {
        let folders = self.objects.folders();
        self.objects = Objects::new(&self.capture, dialect, &folders);
        self
    }

    /// The capture.
    #[must_use]
    pub fn capture(&self) -> &Capture {
        &self.capture
    }

    /// Reasons for waves of the process that may be absent and may have faulted: damage, limits, and save areas that were
    /// not captured; empty if the capture has all waves that faulted, as far as its format shows.
    #[must_use]
    pub fn absent_waves(&self) -> Vec<String> {
        let own = self.capture.provenance.absent_waves.iter().cloned();
        // A device core dump, or a text without waves, shows nothing of them.
        let has_reports = self.capture.has_reports_alone() && !self.capture.faults.is_empty();
        let alone = has_reports.then(|| "the file has reports of faults alone".to_owned());
        own.chain(self.hidden_waves()).chain(alone).collect()
    }

    /// Reasons for absent waves that had not faulted.
    #[must_use]
    pub fn absent_running_waves(&self) -> &[String] {
        &self.capture.provenance.running_waves
    }

    /// Reasons for waves of the process that the capture lacks, by the report of its writer or by its damage, and that no
    /// wave stands for.
    #[must_use]
    pub fn uncounted_waves(&self) -> Vec<String> {
        let from = &self.capture.provenance;
        from.absent_waves.iter().chain(&from.running_waves).cloned().chain(self.hidden_waves()).collect()
    }

    /// Problems for which waves may be absent.
    fn hidden_waves(&self) -> impl Iterator<Item = String> {
        let hides = |problem: &&Problem| problem.hides_waves || problem.severity == Severity::Error;
        self.problems.iter().filter(hides).map(ToString::to_string)
    }

    /// The file of the capture that ends too early, and where.
    #[must_use]
    pub fn truncated(&self) -> Option<&str> {
        self.capture.provenance.truncated.as_deref()
    }

    /// The problems of the capture.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The dump's kinds of wave with the number of waves of each, the default kind first.
    pub fn kinds(&self) -> impl Iterator<Item = (&Arc<WaveArch>, usize)> {
        self.kinds.iter().map(|served| (&served.kind, served.waves.len()))
    }

    /// Number of waves that stopped for a fault.
    #[must_use]
    pub fn faulted(&self) -> usize {
        faulted(self, self.kinds.iter().flat_map(|served| served.waves.iter().copied()))
    }

    /// The waves by their stops, also those that no session serves, and those that waves of the dump stand for.
    #[must_use]
    pub fn stop_counts(&self) -> StopCounts {
        stop_counts(self, (0..).take(self.capture.waves.len()).map(WaveId), true)
    }

    /// Number of waves of the dump without a captured stop reason.
    #[must_use]
    pub fn unknown_stops(&self) -> usize {
        self.capture.waves.iter().filter(|wave| wave.stop.is_none()).count()
    }

    /// The code objects, with the reasons for missing variables.
    #[must_use]
    pub fn code_objects(&self) -> Vec<CodeObjectInfo> {
        self.objects.list(&self.capture)
    }

    /// Messages for unreadable debug information of the code objects, each with the code object, unit, DIE and
    /// offset. Reads all of it, up to [`MAX_CHECKED_BYTES`](crate::debuginfo::MAX_CHECKED_BYTES).
    #[must_use]
    pub fn check_debug(&self) -> Vec<String> {
        self.objects.check(&self.capture)
    }

    /// The code object of that index in the capture's list.
    ///
    /// # Errors
    /// [`ObjectError`]: its bytes are missing, it is another build, it is no ELF file.
    pub fn code_object(&self, index: usize) -> Result<Arc<CodeObject>, ObjectError> {
        self.objects.object(&self.capture, index)
    }

    /// Returns the debug information of the code object of that index in the capture's list.
    ///
    /// # Errors
    /// [`ObjectError`]: there is none.
    pub fn debug_info(&self, index: usize) -> Result<Arc<DebugInfo>, ObjectError> {
        self.objects.debug(&self.capture, index)
    }

    /// The message for a file that changed after it was opened: later answers do not describe the opened capture. Files
    /// read by range are checked at every read, mapped code objects at every call. `None`: nothing changed; code
    /// objects small enough for a copy never change.
    #[must_use]
    pub fn changed_file(&self) -> Option<String> {
        let of_capture = self.capture.changes.first().map(str::to_owned);
        of_capture.or_else(|| Some(format!("the file of {}", self.objects.changed(&self.capture)?)))
    }

    /// The captured PCs of waves in a range of run-time addresses, in order, each once.
    pub(super) fn wave_pcs(&self, range: Range<u64>) -> &[u64] {
        let pcs = self.wave_pcs.get_or_init(|| {
            let pcs = self.capture.waves.iter().filter_map(|wave| captured_pc(&self.capture, wave));
            let mut pcs: Vec<u64> = pcs.collect();
            pcs.sort_unstable();
            pcs.dedup();
            pcs
        });
        let [start, end] = [range.start, range.end].map(|bound| pcs.partition_point(|pc| *pc < bound));
        pcs.get(start..end).unwrap_or_default()
    }

    /// Indexes of the code objects used by answers so far, in the capture's order.
    #[must_use]
    pub fn used_code_objects(&self) -> Vec<usize> {
        self.objects.used()
    }

    /// The kernel of a dispatch: by the capture's name, else by the descriptor at the dispatch's address.
    #[must_use]
    pub fn kernel_name(&self, dispatch: &Dispatch) -> Option<String> {
        kernels::name(self, dispatch)
    }

    pub(super) fn kernel_names(&self) -> &kernels::Names {
        &self.kernel_names
    }

    /// The kinds to serve, the default one first.
    pub(super) fn served(&self) -> &[Arc<ServedKind>] {
        &self.kinds
    }

    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }
}

impl ServedKind {
    /// The registers that at least one wave of this kind has; pc and exec always.
    pub(super) fn described(&self, capture: &Capture) -> &[RegId] {
        self.described.get_or_init(|| {
            let mut present = vec![false; self.kind.registers().len()];
            let mut mark = |first: RegId, count: u16| {
                let from = usize::from(first.0);
                for flag in present.iter_mut().skip(from).take(usize::from(count)) {
                    *flag = true;
                }
            };
            for name in ["pc", "exec"] {
                if let Some(register) = self.kind.named(name) {
                    mark(register.id, 1);
                }
            }
            // Thousands of waves share a layout: each layout is visited once.
            let mut seen = HashSet::new();
            for wave in self.waves.iter().filter_map(|wave| capture.wave(*wave)) {
                if let (Some(layout), Some(_)) = (&wave.registers.layout, wave.registers.image)
                    && seen.insert(Arc::as_ptr(layout).cast::<()>())
                {
                    layout.iter().for_each(|block| mark(block.first, block.count));
                }
                wave.registers.own.iter().for_each(|(_, block)| mark(block.first, block.count));
            }
            for register in self.kind.registers() {
                let slots =
                    |wave: &Wave| crate::session::reading::reader::alias_slots(wave, register).is_some();
                if register.alias.is_some()
                    && self.waves.iter().filter_map(|wave| capture.wave(*wave)).any(slots)
                {
                    mark(register.id, 1);
                }
            }
            let registers = self.kind.registers().iter().zip(&present);
            registers.filter(|(_, is_present)| **is_present).map(|(register, _)| register.id).collect()
        })
    }
}

/// Number of waves by their stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopCounts {
    /// Waves that stopped for a fault.
    pub faulted: usize,
    /// Waves without a captured stop reason.
    pub unknown: usize,
    /// All waves.
    pub waves: usize,
    /// Those of all waves that the dump leaves out, and that others stand for.
    pub left_out: usize,
    /// Whether the dump lacks further waves, by the report of its writer or by its damage.
    pub lacks_waves: bool,
}

/// Counts these waves; `has_left_out`: also those that they stand for.
pub(super) fn stop_counts(
    dump: &Dump,
    waves: impl Iterator<Item = WaveId>,
    has_left_out: bool,
) -> StopCounts {
    let capture = &dump.capture;
    let lacks_waves = has_left_out && !dump.uncounted_waves().is_empty();
    let mut counts = StopCounts { lacks_waves, ..StopCounts::default() };
    for (id, wave) in waves.filter_map(|id| Some((id, capture.wave(id)?))) {
        let more = if has_left_out { capture.left_out.of(id) as usize } else { 0 };
        counts.left_out += more;
        counts.waves += 1 + more;
        counts.faulted += if waves::has_faulted(wave) { 1 + more } else { 0 };
        counts.unknown += if wave.stop.is_none() { 1 + more } else { 0 };
    }
    counts
}

/// Number of these waves that stopped for a fault.
pub(super) fn faulted(dump: &Dump, waves: impl Iterator<Item = WaveId>) -> usize {
    stop_counts(dump, waves, false).faulted
}

/// Severity of a wave's state: 2 for a fault, 1 for another stop, 0 for none.
fn severity(wave: &Wave) -> u8 {
    let reasons = waves::reasons(wave).into_iter().flatten();
    reasons.map(|reason| if reason.is_fault() { 2 } else { 1 }).max().unwrap_or(0)
}

/// The wave to show first: the first one of the highest severity. Waves with a captured PC come first, because gdb
/// attaches to no thread without a PC.
pub(super) fn worst(capture: &Capture, waves: &[WaveId]) -> WaveId {
    let rank = |wave: &WaveId| capture.wave(*wave).map_or(0, severity);
    let mut by_rank = [const { Vec::new() }; 3];
    for wave in waves {
        if let Some(of_rank) = by_rank.get_mut(usize::from(rank(wave))) {
            of_rank.push(*wave);
        }
    }
    let mut candidates = by_rank.iter().rev().flatten().copied();
    let worst = candidates.clone().next().unwrap_or_default();
    candidates.find(|wave| has_pc(capture, *wave)).unwrap_or(worst)
}

/// The first of these waves in each work-group, by the work-group's index in the capture.
pub(super) fn group_waves(capture: &Capture, waves: &[WaveId]) -> HashMap<usize, WaveId> {
    let mut first = HashMap::new();
    for wave in waves {
        if let Some(group) = capture.wave(*wave).and_then(|wave| wave.workgroup) {
            first.entry(group).or_insert(*wave);
        }
    }
    first
}

/// Whether a wave's PC was captured as a whole.
pub(super) fn has_pc(capture: &Capture, wave: WaveId) -> bool {
    capture.wave(wave).is_some_and(|wave| captured_pc(capture, wave).is_some())
}

/// A wave's PC, if it was captured as a whole.
pub(super) fn captured_pc(capture: &Capture, wave: &Wave) -> Option<u64> {
    capture.register(wave, wave.kind.named("pc")?.id).ok()?.scalar()
}
