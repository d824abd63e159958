//! One opened dump, shared by every client's session.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::objects::Objects;
use super::{CodeObjectInfo, kernels};
use crate::arch::{Kind, RegId};
use crate::capture::{Capture, Dispatch, Wave};
use crate::codeobject::CodeObject;
use crate::debuginfo::DebugInfo;
use crate::disassembler::Disassembler;
use crate::dwarf::Dialect;
use crate::units::WaveId;

/// A capture with what is derived from it once: which waves are served together, which registers they have, and the
/// code objects' debug information. Immutable; sessions share it.
#[derive(Debug)]
pub struct Dump {
    capture: Capture,
    problems: Vec<String>,
    kinds: Vec<Arc<ServedKind>>,
    objects: Objects,
    kernel_names: kernels::Names,
    disassembler: Disassembler,
}

/// The waves of one kind: what a client can be served, since it holds one register description for the connection.
#[derive(Debug)]
pub(super) struct ServedKind {
    pub(super) kind: Arc<Kind>,
    pub(super) waves: Arc<[WaveId]>,
    pub(super) first: WaveId,
    described: OnceLock<Vec<RegId>>,
}

impl Dump {
    /// A dump over a capture, with what was wrong with the file in words.
    #[must_use]
    pub fn new(capture: Capture, problems: Vec<String>) -> Self {
        Self::with_debug_folders(capture, problems, &[])
    }

    /// [`Self::new`] with folders in which debug information is looked for that code objects do not have themselves.
    #[must_use]
    pub fn with_debug_folders(capture: Capture, problems: Vec<String>, folders: &[PathBuf]) -> Self {
        let mut groups: Vec<(Arc<Kind>, Vec<WaveId>)> = Vec::new();
        for (ordinal, wave) in (0u32..).zip(&capture.waves) {
            match groups.iter_mut().find(|(kind, _)| Arc::ptr_eq(kind, &wave.kind)) {
                Some((_, waves)) => waves.push(WaveId(ordinal)),
                None => groups.push((Arc::clone(&wave.kind), vec![WaveId(ordinal)])),
            }
        }
        let mut kinds: Vec<Arc<ServedKind>> = groups
            .into_iter()
            .map(|(kind, waves)| {
                let first = worst(&capture, &waves);
                Arc::new(ServedKind { first, waves: waves.into(), kind, described: OnceLock::new() })
            })
            .collect();
        // The kind of the wave that faulted comes first: it is what the user came for.
        kinds.sort_by_key(|served| {
            let severity = capture.wave(served.first).map_or(0, severity);
            (std::cmp::Reverse(severity), served.first)
        });
        let objects = Objects::new(&capture, None, folders);
        let (kernel_names, disassembler) = (kernels::Names::default(), Disassembler::default());
        Self { capture, problems, kinds, objects, kernel_names, disassembler }
    }

    /// The same with the debug information of every code object in that dialect, whatever its units say; `None`: each
    /// unit as it says.
    #[must_use]
    pub fn in_dialect(mut self, dialect: Option<Dialect>) -> Self {
        let folders = self.objects.folders();
        self.objects = Objects::new(&self.capture, dialect, &folders);
        self
    }

    /// The same with a disassembler other than what is installed.
    #[must_use]
    pub fn with_disassembler(mut self, disassembler: Disassembler) -> Self {
        self.disassembler = disassembler;
        self
    }

    /// What was captured.
    #[must_use]
    pub fn capture(&self) -> &Capture {
        &self.capture
    }

    /// What was wrong with the file, in words.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The kinds of wave that the dump holds, the one to serve first, with how many waves each has.
    pub fn kinds(&self) -> impl Iterator<Item = (&Arc<Kind>, usize)> {
        self.kinds.iter().map(|served| (&served.kind, served.waves.len()))
    }

    /// The code objects, with what stands in the way of their variables.
    #[must_use]
    pub fn code_objects(&self) -> Vec<CodeObjectInfo> {
        self.objects.list(&self.capture)
    }

    /// What of the code objects' debug information cannot be read, in words with the code object, unit, DIE and offset: all of
    /// it is read for that, as far as [`MAX_CHECKED_BYTES`](crate::debuginfo::MAX_CHECKED_BYTES) go.
    #[must_use]
    pub fn check_debug(&self) -> Vec<String> {
        self.objects.check(&self.capture)
    }

    /// The code object of that index in the capture's list.
    ///
    /// # Errors
    /// Why it cannot be read, in words: its bytes are not at hand, it is another build, it is no ELF file.
    pub fn code_object(&self, index: usize) -> Result<Arc<CodeObject>, String> {
        self.objects.object(&self.capture, index)
    }

    /// The debug information of the code object of that index in the capture's list.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn debug_info(&self, index: usize) -> Result<Arc<DebugInfo>, String> {
        self.objects.debug(&self.capture, index)
    }

    /// A file that was found changed since it was opened, in words: answers that were made since then are not about the
    /// capture that was opened. A file that is read by range is looked at with every read, a mapped code object with every call
    /// of this. `None` where nothing changed, and of code objects that were small enough to be copied.
    #[must_use]
    pub fn changed_file(&self) -> Option<String> {
        let of_capture = self.capture.changes.first().map(str::to_owned);
        of_capture.or_else(|| Some(format!("the file of {}", self.objects.changed(&self.capture)?)))
    }

    /// Indexes of the code objects that an answer was made of so far, in the capture's order.
    #[must_use]
    pub fn used_code_objects(&self) -> Vec<usize> {
        self.objects.used()
    }

    /// The kernel of a dispatch of this dump: as the capture names it, else the one whose descriptor lies where the dispatch says.
    #[must_use]
    pub fn kernel_name(&self, dispatch: &Dispatch) -> Option<String> {
        kernels::name(self, dispatch)
    }

    pub(super) fn kernel_names(&self) -> &kernels::Names {
        &self.kernel_names
    }

    /// The kinds that can be served, the one to serve first in front.
    pub(super) fn served(&self) -> &[Arc<ServedKind>] {
        &self.kinds
    }

    pub(super) fn disassembler(&self) -> &Disassembler {
        &self.disassembler
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
            // Layouts are shared by thousands of waves: each is looked at once.
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
                let slots = |wave: &Wave| super::reader::alias_slots(wave, register).is_some();
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

/// How much a wave's state asks to be looked at: 2 for a fault, 1 for another stop, 0 for none.
fn severity(wave: &Wave) -> u8 {
    let reasons = wave.stop.iter().flatten();
    reasons
        .filter_map(|index| wave.kind.target.stop_reasons.get(*index))
        .map(|reason| if reason.signal == super::waves::SIGTRAP { 1 } else { 2 })
        .max()
        .unwrap_or(0)
}

/// The wave to look at first: the first of those whose state asks for it most, among those whose PC was captured where there are
/// any. gdb attaches to no thread without a PC.
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

/// Whether a wave's PC was captured as a whole.
pub(super) fn has_pc(capture: &Capture, wave: WaveId) -> bool {
    let Some(wave) = capture.wave(wave) else { return false };
    let pc = wave.kind.named("pc");
    pc.is_some_and(|pc| capture.register(wave, pc.id).is_ok_and(|value| value.is_whole()))
}
