//! One wave's report during reading, and its result.

use super::line::{Entry, Header, OldHeader, Scalar, State};
use super::listings::ListingPosition;
use super::objdump::ObjdumpListing;
use super::read::LogVersion;
use crate::clean::clean;
use crate::import::problem::Problems;
use crate::import::text::{Kept, Pieces, Value};

/// Maximum number of registers of a wave: twice the largest GPU's, to detect repeats.
pub(super) const MAX_VALUES: usize = 2048;

/// Maximum number of an old agent's vector registers, which are collected lane by lane.
pub(super) const MAX_OLD_VECTORS: u64 = 512;

/// A wave in the log.
#[derive(Debug, Default)]
pub(super) struct RawWave {
    /// The line of its header.
    pub(super) line: usize,
    /// The agent's number; old agents have none.
    pub(super) id: Option<u64>,
    pub(super) entry: Kernel,
    pub(super) kernargs: Option<u64>,
    pub(super) stop: Stop,
    pub(super) values: Vec<Value>,
    /// LDS.
    pub(super) local: Pieces,
    /// Bytes of LDS that the dispatch requested.
    pub(super) local_asked: Option<u64>,
    /// Whether other text followed the listing of LDS, which is thus complete.
    pub(super) local_ended: bool,
    /// The kernarg segment.
    pub(super) kernarg: Pieces,
    pub(super) section: Section,
    /// Whether the current memory listing has a row.
    pub(super) is_listing: bool,
    /// The form of its header.
    pub(super) version: LogVersion,
    /// Whether a row followed: text that quotes a header has none.
    pub(super) has_rows: bool,
    /// Indexes of the code objects in its disassembly.
    pub(super) objects: Vec<usize>,
    /// The position in its disassembly.
    pub(super) listing: ListingPosition,
    /// The disassembly of old agents, during reading.
    pub(super) old_listing: Option<ObjdumpListing>,
    /// Registers of old agents, lane by lane, during reading.
    old: Vec<Option<OldVector>>,
    old_accumulation: Vec<Option<OldVector>>,
    full: bool,
}

#[derive(Debug)]
struct OldVector {
    lanes: [u32; 64],
    known: u64,
    line: usize,
}

/// The kernel, from the header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Kernel {
    #[default]
    Unsaid,
    /// The wave's TTMPs were not set up.
    NotAvailable,
    At(u64, Option<String>),
}

/// The stop, from the header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Stop {
    #[default]
    Unsaid,
    Running,
    Reasons(Vec<String>),
}

/// The report's part that the next lines belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Section {
    #[default]
    Registers,
    Local,
    Kernarg,
    Disassembly,
    /// Registers of one lane, accumulation VGPRs or the others.
    OldLane(bool, u64),
    /// After the next wave's rule: no further line belongs to this wave.
    Over,
}

impl RawWave {
    pub(super) fn new(kept: &mut Kept, line: usize, header: &Header<'_>, cut: bool) -> Self {
        let entry = match header.entry {
            Entry::Unsaid => Kernel::Unsaid,
            Entry::NotAvailable => Kernel::NotAvailable,
            Entry::At(address, name) => {
                Kernel::At(address, name.map(|name| clean(String::from_utf8_lossy(name)).into_owned()))
            }
        };
        let stop = match header.state {
            None => Stop::Unsaid,
            Some(State::Running) => Stop::Running,
            Some(State::Stopped(words)) => {
                let words = words.split(|byte| *byte == b'|').map(<[u8]>::trim_ascii);
                // A log has few reasons; unknown ones are reported later.
                let words = words.take(64).map(|word| clean(String::from_utf8_lossy(word)).into_owned());
                Stop::Reasons(words.collect())
            }
        };
        let version = match (header.entry, header.kernargs) {
            (_, Some(_)) => LogVersion::Kernargs,
            (Entry::Unsaid, _) => LogVersion::Plain,
            _ => LogVersion::Entry,
        };
        let id = Some(header.id);
        let mut wave = Self { line, id, entry, kernargs: header.kernargs, stop, version, ..Self::default() };
        // A truncated line may end within the number.
        if !cut {
            wave.keep(kept, b"pc", &[header.pc as u32, (header.pc >> 32) as u32], line);
        }
        wave
    }

    pub(super) fn old(kept: &mut Kept, line: usize, header: &OldHeader<'_>) -> Self {
        let reason = || Stop::Reasons(vec!["MEMORY_VIOLATION".to_owned()]);
        let stop = if header.xnack { reason() } else { Stop::Unsaid };
        let old_listing = Some(ObjdumpListing::of(header.pc));
        let mut wave = Self { line, stop, version: LogVersion::Old, old_listing, ..Self::default() };
        wave.keep(kept, b"pc", &[header.pc as u32, (header.pc >> 32) as u32], line);
        wave
    }

    /// Stores a scalar's dwords.
    fn keep(&mut self, kept: &mut Kept, name: &[u8], dwords: &[u32], line: usize) {
        let known = (1 << dwords.len()) - 1;
        let value = kept.value(name, false, dwords, known, line);
        self.push(value);
    }

    fn push(&mut self, value: Option<Value>) {
        match value {
            Some(value) if self.values.len() < MAX_VALUES => self.values.push(value),
            _ => self.full = true,
        }
    }

    /// Reads a row of scalars.
    pub(super) fn scalars(
        &mut self,
        kept: &mut Kept,
        problems: &mut Problems,
        scalars: &[Scalar<'_>],
        line: usize,
    ) {
        for scalar in scalars {
            if scalar.name == b"pc" {
                // The header has the same value, and comes first.
                continue;
            }
            let old_vector = match self.section {
                Section::OldLane(accumulation, lane) => {
                    self.old_vector(problems, scalar, accumulation, lane, line)
                }
                _ => false,
            };
            if !old_vector {
                let dwords = [scalar.value as u32, (scalar.value >> 32) as u32];
                self.keep(kept, scalar.name, dwords.get(..scalar.digits / 8).unwrap_or_default(), line);
            }
        }
    }

    /// Reads one lane of a vector; returns whether it is one.
    fn old_vector(
        &mut self,
        problems: &mut Problems,
        scalar: &Scalar<'_>,
        accumulation: bool,
        lane: u64,
        line: usize,
    ) -> bool {
        let stem = if accumulation { "acc" } else { "v" };
        let number = scalar.name.strip_prefix(stem.as_bytes()).and_then(|n| std::str::from_utf8(n).ok());
        let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) else { return false };
        let known_lane = u8::try_from(lane).ok().filter(|lane| *lane < 64);
        let (Some(lane), true) = (known_lane, number < MAX_OLD_VECTORS) else {
            problems.line(
                line,
                format_args!("{stem}{number} of lane {lane} is ignored"),
                "lanes up to 63 and registers up to 511",
            );
            return true;
        };
        let vectors = if accumulation { &mut self.old_accumulation } else { &mut self.old };
        let at = number as usize;
        if vectors.len() <= at {
            vectors.resize_with(at + 1, || None);
        }
        if let Some(vector) = vectors.get_mut(at) {
            let vector = vector.get_or_insert_with(|| OldVector { lanes: [0; 64], known: 0, line });
            if let Some(place) = vector.lanes.get_mut(usize::from(lane)) {
                *place = scalar.value as u32;
                vector.known |= 1 << lane;
            }
        }
        true
    }

    /// Reads a row of a vector, or the continuation of one.
    pub(super) fn vector(
        &mut self,
        kept: &mut Kept,
        name: &[u8],
        lanes: &[u32; 64],
        known: u64,
        line: usize,
    ) {
        let count = 64 - known.leading_zeros() as usize;
        let value = kept.value(name, true, lanes.get(..count).unwrap_or_default(), known, line);
        self.push(value);
    }

    /// Starts a section; a previous listing is complete.
    pub(super) fn enter(&mut self, section: Section) {
        if self.section == Section::Local && !self.local.is_empty() {
            self.local_ended = true;
        }
        self.section = section;
        self.is_listing = false;
    }

    /// Ends the report, at the next one or at the end of the file.
    pub(super) fn finish(&mut self, kept: &mut Kept, problems: &mut Problems, at_end: bool) {
        if !at_end {
            self.enter(Section::Registers);
        }
        for (stem, vectors) in [("v", &mut self.old), ("a", &mut self.old_accumulation)] {
            for (number, vector) in std::mem::take(vectors).into_iter().enumerate() {
                let Some(vector) = vector else { continue };
                let count = 64 - vector.known.leading_zeros() as usize;
                let lanes = vector.lanes.get(..count).unwrap_or_default();
                let name = format!("{stem}{number}");
                match kept.value(name.as_bytes(), true, lanes, vector.known, vector.line) {
                    Some(value) if self.values.len() < MAX_VALUES => self.values.push(value),
                    _ => self.full = true,
                }
            }
        }
        if self.full {
            let what = "not all of the wave's registers are kept";
            problems.line(self.line, what, format_args!("at most {MAX_VALUES} registers of a wave"));
        }
        self.values.shrink_to_fit();
    }
}
