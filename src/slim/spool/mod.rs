//! A core that comes as a stream, put into a file so that it can be read by range: what fits, what is needed first.
//!
//! The file lies where the user says, has no name, is nobody else's to read, and is gone at the end. Pages of
//! zeros take no room in it. What is beyond the limit is dropped, the least worth first ([`ranks`]); so that nobody takes it
//! for zeros the file gets program headers of its own, which speak of what is there ([`keeper`]). A writer is waited for
//! only so long in all ([`wait`]).

mod keeper;
mod kept;
mod ranks;
mod wait;

use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::time::{Duration, Instant};

use self::keeper::Keeper;
use self::kept::Kept;
use self::wait::Waiting;
use super::report::{counted, plural};
use crate::elf::ELFMAG;
use crate::import::stream::{self, Layout, Start};

/// Bytes that are read at a time, and how many such reads may wait to be written.
const CHUNK: usize = 1 << 20;
const WAITING: usize = 16;

/// Bytes of memory, beside headers and notes, that stay of a core of which no dump can be made.
pub const MAX_REMAINS: u64 = 64 << 20;

/// Bytes behind a core that are read and left out: section headers of a core with 2^18 segments.
const MAX_DRAINED: u64 = 16 << 20;
/// How long those are waited for.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// What zeros take no room by.
const PAGE: u64 = 4096;

/// A core in a file of its own.
#[derive(Debug)]
pub struct Spooled {
    /// The file, which has no name: it is gone when this is, or the process is ended.
    file: File,
    /// What came of the stream.
    pub came: Came,
    /// Why it cannot be read as a core, though it begins as one; then the file has its first bytes as they came.
    pub broken: Option<SpoolError>,
    kept: Option<Kept>,
}

/// What came of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// Bytes that were read.
    pub read: u64,
    /// Bytes of memory that were not kept, because the limit was reached.
    pub dropped: u64,
    /// Of those, bytes that are needed to see all waves.
    pub needed: u64,
    /// Of the dropped ones, bytes of code objects.
    pub code: u64,
    /// Of the dropped ones, bytes of segments that hold private memory, from where that begins.
    pub scratch: u64,
    /// Queues of which nobody knows where their private memory is.
    pub unplaced: u64,
    /// The note on queues came too late to tell what to keep.
    pub blind: bool,
    /// Bytes of memory that never came.
    pub missing: u64,
    /// Whether the writer was given up.
    pub stalled: bool,
    /// What was wrong with the headers, which the file has anew, so that nobody finds it there.
    pub problems: Vec<String>,
}

/// How much is kept, and how long is waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Bytes that the file may take.
    pub limit: u64,
    /// How long the writer is waited for in all, beyond what the bytes that come take at 4 MiB a second.
    pub stall: Duration,
}

/// Why there is no core.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// Something else came.
    #[error("standard input: {0}; expected a core")]
    NotACore(String),
    /// It ended too early, or nothing came any more.
    #[error(
        "standard input: {why} after {read} bytes, before its headers and notes, which end at {end}; expected a core"
    )]
    Short {
        /// Bytes that came.
        read: u64,
        /// Bytes that say what there is.
        end: u64,
        /// Ended, or stalled.
        why: &'static str,
    },
    /// The operating system refused.
    #[error("{folder}: cannot keep standard input there: {source}")]
    Io {
        /// Where it was to be kept.
        folder: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// It cannot be read.
    #[error("standard input: {0}")]
    Read(io::Error),
}

impl Spooled {
    /// By which this process can open the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        format!("/dev/fd/{}", self.file.as_raw_fd()).into()
    }

    /// Makes a core of it that stays, readable by its owner alone: headers and notes, and memory of up to [`MAX_REMAINS`] bytes,
    /// what waves need first; how many bytes of memory were left out.
    ///
    /// # Errors
    /// `AlreadyExists`, or what the operating system reports.
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

impl Came {
    /// What a person should know of it, each a sentence.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let bytes = |count: u64| counted(count, "byte");
        if self.stalled {
            notes.push(format!("the writer of the core stalled after {}", bytes(self.read)));
        }
        if self.missing > 0 {
            notes.push(format!("the core ended early: {} of memory never came", bytes(self.missing)));
        }
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
                "where the private memory of {queues} is did not come: it may be among what was dropped"
            ));
        }
        if self.dropped > 0 && self.blind {
            notes.push(
                "the note on queues came after memory: what waves need may be among what was dropped"
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

/// Makes a pipe as wide as one read, where the system lets it: of the usual 64 KiB writer and reader wake each other too often.
/// What is no pipe stays as it is.
#[cfg(target_os = "linux")]
pub fn widen(pipe: impl std::os::fd::AsFd) {
    use nix::fcntl::{FcntlArg, fcntl};
    // It works as well without.
    let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(CHUNK as i32));
}

/// As above: nothing.
#[cfg(not(target_os = "linux"))]
pub fn widen(_: impl std::os::fd::AsFd) {}

/// Reads a core from `from` into a file in `folder`.
///
/// # Errors
/// [`SpoolError`]; of a core that ends early, or stalls, what came is kept, and so it is of one that cannot be understood.
pub fn spool(
    from: impl Read + Send + 'static,
    folder: &Path,
    patience: Patience,
    progress: &mut dyn FnMut(u64),
) -> Result<Spooled, SpoolError> {
    let io = |source| SpoolError::Io { folder: folder.to_owned(), source };
    let file = tempfile::tempfile_in(folder).map_err(io)?;
    let mut source = Source::new(from, patience.stall);
    let mut came = Came::default();
    let mut first: Vec<u8> = Vec::new();
    let layout = match begin(&mut source, &mut first, &mut came.stalled) {
        Ok(layout) => layout,
        // It comes once: what cannot be understood now may be later.
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
            // A writer that breaks off leaves what came, as one that stops does.
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

/// Reads as much as tells what comes where.
fn begin(source: &mut Source, first: &mut Vec<u8>, stalled: &mut bool) -> Result<Layout, SpoolError> {
    loop {
        let end = match stream::start(first, false) {
            Start::Layout(layout) => return Ok(layout),
            Start::NotACore(why) => return Err(SpoolError::NotACore(why)),
            Start::More(end) => end,
        };
        // To look at headers anew for every piece that comes would be slow.
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
                    stopped = Some(("nothing came any more", None));
                }
            }
        }
        let Some((why, error)) = stopped else { continue };
        // What the headers promise and did not come may be what is wrong with them.
        return match (stream::start(first, true), error) {
            (Start::Layout(layout), _) => Ok(layout),
            (Start::NotACore(why), _) => Err(SpoolError::NotACore(why)),
            (Start::More(_), Some(source)) => Err(SpoolError::Read(source)),
            (Start::More(end), None) => Err(SpoolError::Short { read: first.len() as u64, end, why }),
        };
    }
}

/// Takes the first bytes of a stream as they come.
fn raw(file: File, mut first: Vec<u8>, source: &mut Source, came: &mut Came) -> io::Result<File> {
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

/// Bytes that were read: the first `count` of a buffer.
struct Chunk {
    buffer: Vec<u8>,
    count: usize,
}

impl Chunk {
    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.count).unwrap_or_default()
    }
}

/// What comes of waiting.
enum Next {
    Bytes(Chunk),
    /// The stream's end, and why where it should not have ended.
    End(Option<io::Error>),
    /// Nothing in time.
    Nothing,
}

/// A stream that is read by a thread of its own: a read of standard input cannot be given up; the thread that waits in it can.
struct Source {
    chunks: Receiver<io::Result<Chunk>>,
    /// Buffers to read into again.
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

    /// The next bytes; only time in which none are there counts.
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

    /// Takes what comes behind the core, such as section headers, so that its writer ends well; but not without end.
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
        // Who reads no more needs none.
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
