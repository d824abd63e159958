//! A core from a stream, stored in a file for reads by range: as much as fits, the needed parts first.
//!
//! The file is in the user's folder, has no name, is readable by its owner alone, and disappears at the end. Pages of
//! zeros need no storage in it. Parts beyond the limit are dropped, the least valuable first ([`ranks`]). New program
//! headers describe only the stored parts, so that a reader does not take dropped parts for zeros ([`keeper`]). The
//! total waiting time for a writer is bounded ([`wait`]).

mod keeper;
mod ranks;
mod retained;
mod wait;

use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::time::{Duration, Instant};

use self::keeper::Keeper;
use self::retained::Kept;
use self::wait::Waiting;
use crate::elf::ELFMAG;
use crate::import::stream::{self, Layout, Start};
use crate::notation::{counted, plural};

/// Bytes per read, and the maximum of reads that wait for the writing thread.
const CHUNK: usize = 1 << 20;
const WAITING: usize = 16;

/// Maximum memory of an unconvertible core that stays, in bytes, without headers and notes.
pub const MAX_REMAINS: u64 = 64 << 20;

/// Bytes behind a core that are read and discarded: section headers of a core with 2^18 segments.
const MAX_DRAINED: u64 = 16 << 20;
/// The maximum waiting time for those bytes.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The unit of holes for zeros.
const PAGE: u64 = 4096;

/// A core in a file of its own.
#[derive(Debug)]
pub struct Spooled {
    /// The file, without a name: it disappears with this value or at the end of the process.
    file: File,
    /// Statistics of the received stream.
    pub came: SpoolStats,
    /// The reason why the stream is not readable as a core; the file then has its first bytes unchanged.
    pub broken: Option<SpoolError>,
    kept: Option<Kept>,
}

/// Statistics of a received stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolStats {
    /// Bytes read.
    pub read: u64,
    /// Bytes of memory dropped because of the limit.
    pub dropped: u64,
    /// Dropped bytes that some wave needs.
    pub needed: u64,
    /// Dropped bytes of code objects.
    pub code: u64,
    /// Dropped bytes in segments with private memory, from its beginning on.
    pub scratch: u64,
    /// Queues with an unknown position of their private memory.
    pub unplaced: u64,
    /// Whether the note on queues came too late for the choice of kept parts.
    pub blind: bool,
    /// Bytes of memory that did not arrive.
    pub missing: u64,
    /// Whether the writer stalled for too long.
    pub stalled: bool,
    /// Problems of the original headers: the file has new ones, which hide them.
    pub problems: Vec<String>,
}

/// Limits on storage and waiting time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallBudget {
    /// Maximum bytes of the file.
    pub limit: u64,
    /// Maximum total waiting time for the writer, beyond the time of the received bytes at 4 MiB a second.
    pub stall: Duration,
}

/// An error that prevents a core.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The stream is not a core.
    #[error("standard input: {0}; expected a core")]
    NotACore(String),
    /// The stream ended too early or stalled.
    #[error(
        "standard input: {why} after {read} bytes, before its headers and notes, which end at {end}; expected a core"
    )]
    Short {
        /// Received bytes.
        read: u64,
        /// Bytes of headers and notes.
        end: u64,
        /// The event: ended or stalled.
        why: &'static str,
    },
    /// The operating system rejected the file.
    #[error("{folder}: cannot keep standard input there: {source}")]
    Io {
        /// The intended folder of the file.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Standard input is unreadable.
    #[error("standard input: {0}")]
    Read(io::Error),
}

impl Spooled {
    /// A path by which this process can open the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        format!("/dev/fd/{}", self.file.as_raw_fd()).into()
    }

    /// Makes a permanent core of it, readable by its owner alone: headers and notes, and memory of up to
    /// [`MAX_REMAINS`] bytes, the parts that waves need first. Returns the omitted bytes of memory.
    ///
    /// # Errors
    /// `AlreadyExists`, or the operating system's error.
    pub fn keep(&self, to: &Path) -> io::Result<u64> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let file = File::options().write(true).create_new(true).mode(0o600).open(to)?;
        let copied = match &self.kept {
            Some(kept) => kept.copy(&self.file, &file, MAX_REMAINS),
            None => (&self.file).rewind().and_then(|()| io::copy(&mut &self.file, &mut &file)).map(|_| 0),
        };
        if copied.is_err() {
            let _ = std::fs::remove_file(to);
        }
        copied
    }
}

impl SpoolStats {
    /// The sentences about a stream that ended too early.
    fn ends(&self) -> impl Iterator<Item = String> {
        let bytes = |count: u64| counted(count, "byte");
        let stalled =
            self.stalled.then(|| format!("the writer of the core stalled after {}", bytes(self.read)));
        let missing = self.missing;
        let early =
            (missing > 0).then(|| format!("the core ended early: {} of memory never came", bytes(missing)));
        stalled.into_iter().chain(early)
    }

    /// The first sentence about a stream that ended too early.
    #[must_use]
    pub fn truncated(&self) -> Option<String> {
        self.ends().next()
    }

    /// Notes for the user, each a sentence.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let bytes = |count: u64| counted(count, "byte");
        let mut notes: Vec<String> = self.ends().collect();
        notes.extend(self.problems.iter().cloned());
        if self.dropped > 0 {
            let were = plural(self.dropped, "was", "were");
            let bytes = bytes(self.dropped);
            notes.push(format!("the limit was reached (--spool-limit): {bytes} of memory {were} dropped"));
        }
        let of = plural(self.dropped, "this", "these");
        if self.code > 0 {
            let are = plural(self.code, "is", "are");
            notes.push(format!("of {of} {} {are} of code objects: variables may be missing", self.code));
        }
        if self.scratch > 0 {
            let are = plural(self.scratch, "is", "are");
            notes.push(format!("of {of} {} {are} in segments with private memory", self.scratch));
        }
        if self.dropped > 0 && self.unplaced > 0 {
            let queues = counted(self.unplaced, "queue");
            notes.push(format!(
                "where the private memory of {queues} is unknown: it may be among the dropped memory"
            ));
        }
        if self.dropped > 0 && self.blind {
            notes.push(
                "the note on queues came after memory: memory of waves may be among the dropped memory"
                    .to_owned(),
            );
        }
        if self.needed > 0 {
            let are = plural(self.needed, "is", "are");
            notes.push(format!("of {of} {} {are} of queues and save areas: waves are missing", self.needed));
        }
        notes
    }
}

/// Widens a pipe to one read if the system allows it: with the usual 64 KiB writer and reader wake each other too
/// often. Other files stay unchanged.
#[cfg(target_os = "linux")]
pub fn widen(pipe: impl std::os::fd::AsFd) {
    use nix::fcntl::{FcntlArg, fcntl};
    // A failure only costs speed.
    let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(CHUNK as i32));
}

/// Other systems lack this call: no effect.
#[cfg(not(target_os = "linux"))]
pub fn widen(_: impl std::os::fd::AsFd) {}

/// Reads a core from `from` into a file in `folder`.
///
/// # Errors
/// [`SpoolError`]. The received bytes of a truncated, stalled or malformed core are kept.
pub fn spool(
    from: impl Read + Send + 'static,
    folder: &Path,
    patience: StallBudget,
    progress: &mut dyn FnMut(u64),
) -> Result<Spooled, SpoolError> {
    let io = |source| SpoolError::Io { folder: folder.to_owned(), source };
    let file = tempfile::tempfile_in(folder).map_err(io)?;
    let mut source = Source::new(from, patience.stall);
    let mut came = SpoolStats::default();
    let mut first: Vec<u8> = Vec::new();
    let layout = match begin(&mut source, &mut first, &mut came.stalled) {
        Ok(layout) => layout,
        // The stream is read once: bytes that are not understood now may be useful later.
        Err(why) if first.starts_with(&ELFMAG) => {
            let file = raw(file, first, &mut source, &mut came).map_err(io)?;
            return Ok(Spooled { file, came, broken: Some(why), kept: None });
        }
        Err(why) => return Err(why),
    };
    let mut keeper = Keeper::new(&file, layout, patience.limit);
    keeper.take(&first).map_err(io)?;
    drop(first);
    while !came.stalled && !keeper.is_complete() {
        progress(keeper.came());
        match source.next() {
            Next::Bytes(chunk) => {
                keeper.take(chunk.bytes()).map_err(io)?;
                source.give_back(chunk);
            }
            // A writer that breaks off leaves its bytes, like one that stalls.
            Next::End(_) => break,
            Next::Nothing => came.stalled = true,
        }
    }
    if !came.stalled {
        source.drain();
    }
    let kept = keeper.finish(&mut came).map_err(io)?;
    Ok(Spooled { file, came, broken: None, kept: Some(kept) })
}

/// Reads until the headers and notes describe the rest of the stream.
fn begin(source: &mut Source, first: &mut Vec<u8>, stalled: &mut bool) -> Result<Layout, SpoolError> {
    loop {
        let end = match stream::start(first, false) {
            Start::Layout(layout) => return Ok(layout),
            Start::NotACore(why) => return Err(SpoolError::NotACore(why)),
            Start::More(end) => end,
        };
        // Parsing the headers again for every received piece would be slow.
        let mut stopped = None;
        while stopped.is_none() && (first.len() as u64) < end {
            match source.next() {
                Next::Bytes(chunk) => {
                    first.extend_from_slice(chunk.bytes());
                    source.give_back(chunk);
                }
                Next::End(error) => stopped = Some(("it ended", error)),
                Next::Nothing => {
                    *stalled = true;
                    stopped = Some(("no more data arrived", None));
                }
            }
        }
        let Some((why, error)) = stopped else { continue };
        // The missing part may be the reason why the headers are malformed.
        return match (stream::start(first, true), error) {
            (Start::Layout(layout), _) => Ok(layout),
            (Start::NotACore(why), _) => Err(SpoolError::NotACore(why)),
            (Start::More(_), Some(source)) => Err(SpoolError::Read(source)),
            (Start::More(end), None) => Err(SpoolError::Short { read: first.len() as u64, end, why }),
        };
    }
}

/// Takes the first bytes of a stream unchanged.
fn raw(file: File, mut first: Vec<u8>, source: &mut Source, came: &mut SpoolStats) -> io::Result<File> {
    let most = usize::try_from(MAX_REMAINS).unwrap_or(usize::MAX);
    while first.len() < most && !came.stalled {
        match source.next() {
            Next::Bytes(chunk) => {
                first.extend_from_slice(chunk.bytes());
                source.give_back(chunk);
            }
            Next::End(_) => break,
            Next::Nothing => came.stalled = true,
        }
    }
    first.truncate(most);
    came.read = first.len() as u64;
    (&file).write_all(&first)?;
    Ok(file)
}

struct Chunk {
    buffer: Vec<u8>,
    count: usize,
}

impl Chunk {
    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.count).unwrap_or_default()
    }
}

enum Next {
    Bytes(Chunk),
    /// The stream's end, with the error if it is not a regular end.
    End(Option<io::Error>),
    /// No bytes in time.
    Nothing,
}

/// A stream with a reading thread: a read of standard input cannot be cancelled, but the thread can be abandoned.
struct Source {
    chunks: Receiver<io::Result<Chunk>>,
    /// Buffers for reuse.
    free: Sender<Vec<u8>>,
    waiting: Waiting,
}

impl Source {
    fn new(from: impl Read + Send + 'static, stall: Duration) -> Self {
        let (sender, chunks) = sync_channel(WAITING);
        let (free, buffers) = channel();
        std::thread::spawn(move || send(from, &sender, &buffers));
        Self { chunks, free, waiting: Waiting::new(stall) }
    }

    /// The next bytes; only time without available bytes counts.
    fn next(&mut self) -> Next {
        let came = match self.chunks.try_recv() {
            Ok(came) => came,
            Err(TryRecvError::Disconnected) => return Next::End(None),
            Err(TryRecvError::Empty) => {
                let begun = Instant::now();
                let came = self.chunks.recv_timeout(self.waiting.left());
                self.waiting.waited(begun.elapsed());
                match came {
                    Ok(came) => came,
                    Err(RecvTimeoutError::Disconnected) => return Next::End(None),
                    Err(RecvTimeoutError::Timeout) => return Next::Nothing,
                }
            }
        };
        match came {
            Ok(chunk) => {
                self.waiting.came(chunk.count as u64);
                Next::Bytes(chunk)
            }
            Err(error) => Next::End(Some(error)),
        }
    }

    /// Takes the bytes behind the core, such as section headers, so that its writer ends without an error; bounded.
    fn drain(&mut self) {
        let mut left = MAX_DRAINED;
        self.waiting = Waiting::new(self.waiting.left().min(DRAIN_TIME));
        while left > 0 {
            let Next::Bytes(chunk) = self.next() else { return };
            left = left.saturating_sub(chunk.count as u64);
            self.give_back(chunk);
        }
    }

    fn give_back(&self, chunk: Chunk) {
        // A finished reader needs no buffer.
        let _ = self.free.send(chunk.buffer);
    }
}

fn send(mut from: impl Read, to: &SyncSender<io::Result<Chunk>>, free: &Receiver<Vec<u8>>) {
    loop {
        let mut buffer = free.try_recv().unwrap_or_else(|_| vec![0; CHUNK]);
        let result = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => Ok(Chunk { buffer, count }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = result.is_err();
        if to.send(result).is_err() || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
