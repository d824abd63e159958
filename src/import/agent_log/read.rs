//! Reads a log line by line. Each header resets the state, so that damage costs one wave at most.

use std::collections::HashMap;
use std::io::BufRead;

use super::line::{self, Headers, Heading, Module, Scalar};
use super::line_prefix::{Ahead, Waiting};
use super::listings::{ListingPosition, RawListings};
use super::memory;
use super::streams::{Found, Owner, Stream, Streams};
use super::wave::{RawWave, Section};
use crate::arch::Processor;
use crate::capture::{MAX_CODE_TEXTS, MAX_TEXT_INSTRUCTIONS};
use crate::clean::clean;
use crate::import::faults::{self, Reported};
use crate::import::problem::{Do, Problems};
use crate::import::text::{Cursor, Kept, Line, MAX_WAVES, find, processors_in};

/// Maximum number of code objects of a log.
pub(super) const MAX_OBJECTS: usize = 4096;

/// Maximum number of code objects in a wave's report; a report names only the wave's own.
pub(super) const MAX_OBJECTS_OF_WAVE: usize = 16;

/// The contents of a log.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) kept: Kept,
    /// In the order of their reports' ends.
    pub(super) waves: Vec<RawWave>,
    pub(super) objects: Vec<RawObject>,
    pub(super) hints: Hints,
    /// The newest form of a header.
    pub(super) version: LogVersion,
    pub(super) faults: Reported,
    pub(super) listings: RawListings,
}

/// A code object of a disassembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawObject {
    pub(super) uri: String,
    /// First address.
    pub(super) start: u64,
    /// Address after the last byte.
    pub(super) end: u64,
    pub(super) line: usize,
}

/// Hints at the GPU, except registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// The processor in the runtime's fault message (`GPU agent: AMD gfx900`), and its line.
    pub(super) named: Option<(Processor, usize)>,
    /// Instructions of gfx12 that gfx11 lacks.
    pub(super) gfx12: bool,
    /// Memory instructions with the names of gfx11 and later.
    pub(super) gfx11: bool,
    /// Memory instructions with the names of GPUs up to gfx10.
    pub(super) before_gfx11: bool,
    /// Cache modifiers of gfx940 and later.
    pub(super) gfx940: bool,
}

/// Version of the agent by the form of its headers; later ones are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogVersion {
    /// 2018 and 2019: registers lane by lane.
    Old,
    /// `wave_1: pc=0x10 (stopped, reason: TRAP)`.
    #[default]
    Plain,
    /// With `kernel_code_entry=`.
    Entry,
    /// With `kernargs=`.
    Kernargs,
}

impl LogVersion {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Old => "rocr_debug_agent log, 2018 form",
            Self::Plain => "rocm-debug-agent log",
            Self::Entry => "rocm-debug-agent log with kernel entries",
            Self::Kernargs => "rocm-debug-agent log with kernel arguments",
        }
    }
}

/// Reads a log up to its end or the first read error.
pub(super) fn read(source: impl BufRead, kept: Kept, problems: &mut Problems) -> Log {
    let mut lines = Ahead::new(source);
    let mut reader = Reader::new(kept, problems);
    loop {
        let header = match lines.next() {
            Ok(Some(line)) => match reader.unknown_prefix(line) {
                None => {
                    reader.line(line, None);
                    continue;
                }
                Some(length) => (Waiting::of(line), length),
            },
            Ok(None) => break,
            Err(error) => {
                let what = format_args!("the log cannot be read to its end: {error}");
                reader.problems.whole(what, "a readable file");
                reader.problems.hides_waves();
                break;
            }
        };
        let (header, length) = header;
        let repeated = lines.repeated(header.line().text.get(..length).unwrap_or_default());
        reader.line(header.line(), Some(repeated));
    }
    reader.finish()
}

struct Reader<'p> {
    log: Log,
    faults: faults::Reader,
    problems: &'p mut Problems,
    headers: Headers,
    streams: Streams<RawWave>,
    /// Code objects by URI and place.
    known: HashMap<(String, u64, u64), usize>,
    /// URIs without a place yet, by their streams.
    uris: HashMap<Option<Stream>, (String, usize)>,
    /// Vector rows that may continue on the next line (terminal line breaks): the register, by stream.
    unfinished: HashMap<Stream, Vector>,
    /// Number of rows without a certain wave, and the line of the first.
    lost: Option<(usize, usize)>,
    /// Number of headers without a row, and the line of the first.
    bare: Option<(usize, usize)>,
    too_many: bool,
    scalars: Vec<Scalar<'static>>,
    words: Vec<u32>,
}

struct Vector {
    name: Vec<u8>,
    lanes: [u32; 64],
    known: u64,
    line: usize,
}

impl<'p> Reader<'p> {
    fn new(kept: Kept, problems: &'p mut Problems) -> Self {
        Self {
            faults: faults::Reader::new(problems.file()),
            log: Log { kept, ..Log::default() },
            problems,
            headers: Headers::new(),
            streams: Streams::new(),
            known: HashMap::new(),
            uris: HashMap::new(),
            unfinished: HashMap::new(),
            lost: None,
            bare: None,
            too_many: false,
            scalars: Vec::new(),
            words: Vec::new(),
        }
    }

    /// The length of a header's prefix, if no stream has that prefix yet.
    fn unknown_prefix(&self, line: Line<'_>) -> Option<usize> {
        let prefix = self.headers.find(line.text).map(|header| header.prefix);
        let prefix = prefix.or_else(|| line::old_header(line.text).map(|header| header.prefix))?;
        // Blanks precede every row.
        (!prefix.trim_ascii().is_empty() && !self.streams.knows(prefix)).then_some(prefix.len())
    }

    /// Reads a line; `repeated`: for a header, the length of its prefix that its report's lines repeat.
    fn line(&mut self, line: Line<'_>, repeated: Option<usize>) {
        line.report_cut(self.problems);
        if self.header(line, repeated) {
            return;
        }
        match self.streams.find(line.text) {
            Owner::One(found) => {
                if self.wave_line(line, &found) {
                    self.streams.was_row(&found);
                } else {
                    self.outside(line, found.line, Some(&found));
                }
            }
            Owner::Unclear(text) => {
                if line::is_row(text) {
                    self.is_lost(line);
                }
                self.outside(line, text, None);
            }
            Owner::Nobody => self.outside(line, line.text, None),
        }
    }

    /// Counts a row without a certain wave.
    fn is_lost(&mut self, line: Line<'_>) {
        let (count, first) = self.lost.unwrap_or((0, line.number));
        self.lost = Some((count + 1, first));
    }

    /// Reads a header; returns whether the line is one.
    fn header(&mut self, line: Line<'_>, repeated: Option<usize>) -> bool {
        let Self { log, .. } = self;
        let (prefix, wave) = if let Some(header) = self.headers.find(line.text) {
            let broken = header.state.is_none();
            if broken {
                let what = "the header does not give the state of the wave";
                self.problems.line(line.number, what, "(running) or (stopped, reason: ...)");
            }
            let wave = RawWave::new(&mut log.kept, line.number, &header, broken && !line.ended);
            (header.prefix, wave)
        } else if let Some(header) = line::old_header(line.text) {
            if header.count > 1 {
                let what = format_args!("{} more waves stopped here are not in the log", header.count - 1);
                self.problems.line(line.number, what, Do("agents of 2018 print the first of them only"));
                self.problems.hides_waves();
            }
            (header.prefix, RawWave::old(&mut log.kept, line.number, &header))
        } else {
            return false;
        };
        let prefix = repeated.map_or(prefix, |length| prefix.get(..length).unwrap_or_default());
        let prefix = if prefix.trim_ascii().is_empty() { &[] } else { prefix };
        if let Some((stream, done)) = self.streams.begin(prefix, wave) {
            self.unfinished.remove(&stream);
            self.uris.remove(&Some(stream));
            self.done(done, false);
        }
        true
    }

    fn done(&mut self, mut wave: RawWave, at_end: bool) {
        if !wave.has_rows {
            let (count, first) = self.bare.unwrap_or((0, wave.line));
            self.bare = Some((count + 1, first.min(wave.line)));
            return;
        }
        if self.log.waves.len() >= MAX_WAVES {
            self.too_many = true;
            return;
        }
        wave.finish(&mut self.log.kept, self.problems, at_end);
        // Waves of a work-group print the same LDS, those of a dispatch the same arguments.
        if let Some(earlier) = self.log.waves.last() {
            wave.kernarg.share(&earlier.kernarg, &mut self.log.kept);
            wave.local.share(&earlier.local, &mut self.log.kept);
        }
        self.log.waves.push(wave);
    }

    /// Reads a line of a wave's report; returns whether it is one.
    fn wave_line(&mut self, line: Line<'_>, found: &Found<'_>) -> bool {
        let text = found.line;
        if line::is_rule(text) {
            self.unfinished.remove(&found.stream);
            let Some(wave) = self.streams.wave(found) else { return false };
            wave.enter(Section::Over);
            return true;
        }
        if self.streams.wave(found).is_some_and(|wave| wave.section == Section::Over) {
            // A rule without a header follows a missing or broken header: the row belongs to another wave.
            if line::is_row(text) {
                self.is_lost(line);
            }
            return false;
        }
        if let Some(heading) = line::heading(text) {
            self.unfinished.remove(&found.stream);
            let Some(wave) = self.streams.wave(found) else { return false };
            match heading {
                Heading::Registers | Heading::EndOfDisassembly => wave.enter(Section::Registers),
                Heading::Local(asked) => {
                    wave.enter(Section::Local);
                    wave.local_asked = asked;
                }
                Heading::Kernarg => wave.enter(Section::Kernarg),
                Heading::Disassembly => {
                    wave.enter(Section::Disassembly);
                    wave.listing = ListingPosition::of(line::disassembled(text));
                }
                Heading::CodeObject => wave.enter(Section::Disassembly),
            }
            return true;
        }
        if let Some((accumulation, lane)) = line::old_lane(text)
            && let Some(wave) = self.streams.wave(found)
        {
            wave.enter(Section::OldLane(accumulation, lane));
            return true;
        }
        let Some(section) = self.streams.wave(found).map(|wave| wave.section) else { return false };
        if section == Section::Disassembly {
            return false;
        }
        let memory = matches!(section, Section::Local | Section::Kernarg);
        let mut row = |found: &Found<'_>| (memory && self.memory(line, found)) || self.registers(line, found);
        // A program's unterminated line may precede it.
        let within = || line::row_within(text, memory).and_then(|at| text.get(at..));
        let is_row = row(found) || within().is_some_and(|line| row(&found.at(line)));
        if let Some(wave) = self.streams.wave(found).filter(|_| is_row) {
            wave.has_rows = true;
        }
        is_row
    }

    fn memory(&mut self, line: Line<'_>, found: &Found<'_>) -> bool {
        let Some(row) = memory::row(found.line, &mut self.words) else { return false };
        let Some(wave) = self.streams.wave(found) else { return false };
        if row.damaged {
            let what = "a word of the row is invalid; it and the words after it are not captured";
            self.problems.line(line.number, what, "words of eight hex digits");
        }
        let (section, kernargs) = (wave.section, wave.kernargs);
        let is_first = !std::mem::replace(&mut wave.is_listing, true);
        let pieces = if section == Section::Local { &mut wave.local } else { &mut wave.kernarg };
        match row.start(self.words.len(), section, kernargs, is_first) {
            Some(start) => drop(pieces.push(&mut self.log.kept, start, &self.words)),
            None => {
                let what =
                    "the row is not captured: blanks are missing, and the addresses of its words are unknown";
                let expected =
                    "the agent's own blanks, nine for each word that the row begins before its first one";
                self.problems.line(line.number, what, expected);
            }
        }
        true
    }

    fn registers(&mut self, line: Line<'_>, found: &Found<'_>) -> bool {
        if let Some((name, mut cursor)) = line::vector(found.line) {
            self.unfinished.remove(&found.stream);
            let mut vector = Vector { name: name.to_owned(), lanes: [0; 64], known: 0, line: line.number };
            // `x: [1.0, 2.0]` is a program's own line.
            if line::lane(&mut cursor.clone()).is_some_and(|lane| lane.is_err())
                && !line::begins_as_row(found.line)
            {
                return false;
            }
            self.lanes(line, &mut vector, &mut cursor);
            return self.keep(found, vector);
        }
        // `[rank0] waiting` is a program's own line.
        let goes_on = || matches!(line::lane(&mut Cursor::new(found.line)), Some(Ok(_)));
        if goes_on()
            && let Some(mut vector) = self.unfinished.remove(&found.stream)
        {
            let mut cursor = Cursor::new(found.line);
            self.lanes(line, &mut vector, &mut cursor);
            return self.replace(found, vector);
        }
        let mut scalars: Vec<Scalar<'_>> = std::mem::take(&mut self.scalars);
        let damaged = line::scalars(found.line, &mut scalars);
        // The last word of a truncated file may lack digits.
        if !damaged
            && !line.ended
            && let Some(last) = scalars.last()
            && last.digits == 8
            && !last.name.last().is_some_and(u8::is_ascii_digit)
        {
            let what = "the file ends within or after this value, which is not taken";
            self.problems.line(line.number, what, "a whole line");
            scalars.pop();
        }
        let row = !scalars.is_empty();
        if damaged && (row || line::begins_as_row(found.line)) {
            let what = "the row has an invalid register; it and the rest of the row are not captured";
            self.problems.line(line.number, what, "names and values of 8 or 16 hex digits");
        }
        if row {
            self.unfinished.remove(&found.stream);
            if let Some(wave) = self.streams.wave(found) {
                wave.scalars(&mut self.log.kept, self.problems, &scalars, line.number);
            }
        }
        scalars.clear();
        self.scalars = recycled(scalars);
        row
    }

    /// Reads lanes of a vector to the end of the line.
    fn lanes(&mut self, line: Line<'_>, vector: &mut Vector, cursor: &mut Cursor<'_>) {
        while let Some(lane) = line::lane(cursor) {
            let Ok((index, value)) = lane else {
                let what = "the row has an invalid lane; it and the rest of the row are not captured";
                self.problems.line(line.number, what, "[lane] and eight hex digits");
                return;
            };
            let place = usize::try_from(index).ok().and_then(|index| vector.lanes.get_mut(index));
            let Some(place) = place else {
                self.problems.line(line.number, format_args!("lane {index} is ignored"), "lanes 0 to 63");
                continue;
            };
            if vector.known >> index & 1 == 1 {
                let what = format_args!("lane {index} is given a second time, which is ignored");
                self.problems.line(line.number, what, "each lane once");
                continue;
            }
            *place = value;
            vector.known |= 1 << index;
        }
    }

    fn keep(&mut self, found: &Found<'_>, vector: Vector) -> bool {
        let Some(wave) = self.streams.wave(found) else { return false };
        wave.vector(&mut self.log.kept, &vector.name, &vector.lanes, vector.known, vector.line);
        self.unfinished.insert(found.stream, vector);
        true
    }

    /// Replaces the value of a row that continued on another line by the longer value.
    fn replace(&mut self, found: &Found<'_>, vector: Vector) -> bool {
        let Some(wave) = self.streams.wave(found) else { return false };
        if let Some(last) = wave.values.pop()
            && u64::from(last.offset) + u64::from(last.dwords) * 4 == self.log.kept.end()
        {
            self.log.kept.forget(u64::from(last.offset));
        }
        self.keep(found, vector)
    }

    /// Reads a line other than a row: code objects, and hints at the GPU. `of`: the wave of its report.
    fn outside(&mut self, line: Line<'_>, text: &[u8], of: Option<&Found<'_>>) {
        let stream = of.map(|found| found.stream);
        match line::module(text) {
            Some(Module::Uri(uri)) => {
                self.uris.insert(stream, (clean(String::from_utf8_lossy(uri)).into_owned(), line.number));
                return;
            }
            Some(Module::Loaded(start, end)) => {
                let uri = self.uris.remove(&stream);
                let index = uri.and_then(|(uri, line)| self.object(RawObject { uri, start, end, line }));
                let wave = of.and_then(|found| self.streams.wave(found));
                if let (Some(index), Some(wave)) = (index, wave)
                    && wave.objects.len() < MAX_OBJECTS_OF_WAVE
                    && !wave.objects.contains(&index)
                {
                    wave.objects.push(index);
                }
                if let (Some(index), Some(wave)) = (index, of.and_then(|found| self.streams.wave(found))) {
                    wave.listing.is_in(index);
                }
                return;
            }
            None => {}
        }
        if !of.is_some_and(|found| self.disassembled(text, found)) {
            self.faults.line(&line);
        }
        let hints = &mut self.log.hints;
        if hints.named.is_none() && find(text, "GPU agent: AMD gfx").is_some() {
            hints.named = processors_in(text).next().map(|named| (named, line.number));
        }
        if let Some(at) = find(text, ":    ") {
            hints.instruction(text.get(at + 1..).unwrap_or_default());
        }
    }

    /// Reads a line of a disassembly; returns whether it is one.
    fn disassembled(&mut self, text: &[u8], found: &Found<'_>) -> bool {
        let Some(wave) = self.streams.wave(found) else { return false };
        if wave.section != Section::Disassembly {
            return false;
        }
        if let Some(old) = &mut wave.old_listing {
            return old.row(text, &mut self.log.listings);
        }
        if let Some(one) = line::instruction(text) {
            if let Some(start) = one.address.checked_sub(one.offset) {
                self.log.listings.add(&wave.listing, Some(start), one.address, one.text, one.target);
            }
            return true;
        }
        let row = line::source_row(text);
        if let Some(row) = row {
            wave.listing.source(row);
        }
        row.is_some()
    }

    /// Adds a code object and returns its index.
    fn object(&mut self, object: RawObject) -> Option<usize> {
        let key = (object.uri.clone(), object.start, object.end);
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        if self.log.objects.len() >= MAX_OBJECTS {
            let what = "the code object is left out: there are too many";
            self.problems.line(object.line, what, format_args!("at most {MAX_OBJECTS}"));
            return None;
        }
        let index = self.log.objects.len();
        self.known.insert(key, index);
        self.log.objects.push(object);
        Some(index)
    }

    fn finish(mut self) -> Log {
        let streams = std::mem::replace(&mut self.streams, Streams::new());
        for wave in streams.finish() {
            self.done(wave, true);
        }
        if let Some((count, line)) = self.lost {
            let what = format_args!("{count} rows, this one first, are not captured: their wave is unknown");
            self.problems.line(line, what, "rows behind the prefix of a wave's header");
        }
        if let Some((count, line)) = self.bare {
            self.headers_alone(count, line);
        }
        if self.too_many {
            self.problems.whole("the log has more waves than can be served", format_args!("{MAX_WAVES}"));
            self.problems.hides_waves();
        }
        if self.log.kept.full {
            let what =
                "the log has more values or names of registers than are kept; the rest is not captured";
            self.problems.whole(what, "values of some 1 GiB, and 4096 names");
        }
        if self.log.listings.is_full {
            let what = "the log disassembles more than is kept; the rest of the instructions is left out";
            let expected = format_args!("{MAX_TEXT_INSTRUCTIONS} instructions of {MAX_CODE_TEXTS} functions");
            self.problems.whole(what, expected);
        }
        self.log.faults = self.faults.finish();
        self.log.waves.sort_by_key(|wave| wave.line);
        self.log.version = self.log.waves.iter().map(|wave| wave.version).max().unwrap_or_default();
        self.log
    }

    /// Reports headers without a wave.
    fn headers_alone(&mut self, count: usize, line: usize) {
        let has_none = self.log.waves.is_empty();
        let no_waves = if has_none { "no waves: " } else { "" };
        let expected =
            "rows of registers below a wave's header; text that quotes one, or a log that was cut, has none";
        let what = match count {
            1 => format!(
                "{no_waves}this line reads as a wave's header, and no registers follow it: it is taken for none"
            ),
            _ => format!(
                "{no_waves}{count} lines, this one first, read as headers of waves, and no registers follow them: they are taken \
                 for none"
            ),
        };
        self.problems.line(line, what, expected);
        if has_none {
            self.problems.explains_no_waves();
        }
    }
}

/// The allocation of an empty list, for reuse.
#[expect(clippy::unnecessary_filter_map, reason = "it changes the type, and collects in place")]
fn recycled(empty: Vec<Scalar<'_>>) -> Vec<Scalar<'static>> {
    empty.into_iter().filter_map(|_| None).collect()
}

impl Hints {
    /// Hints in the text of an instruction; mnemonics are LLVM's.
    fn instruction(&mut self, text: &[u8]) {
        let Some(word) = text.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()) else { return };
        let memory = ["global_", "flat_", "buffer_", "scratch_", "s_load", "s_buffer_load"];
        if memory.iter().any(|stem| word.starts_with(stem.as_bytes())) {
            let has = |part: &str| find(word, part).is_some();
            self.before_gfx11 |= has("_dword");
            self.gfx11 |= has("load_b") || has("store_b");
            let modifier = |name: &[u8]| text.split(u8::is_ascii_whitespace).any(|word| word == name);
            self.gfx940 |= modifier(b"sc0") || modifier(b"sc1");
        }
        self.gfx12 |= word.starts_with(b"s_wait_loadcnt") || word.starts_with(b"s_wait_kmcnt");
    }
}
