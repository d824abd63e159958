//! A program whose output goes to the standard streams and into a log.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::fstat;
use nix::sys::termios::{cfmakeraw, tcgetattr};
use nix::unistd::Pid;

use super::{LOG, say};
use crate::mapping;
use crate::signals::Signals;

/// Bytes of a read.
const PART: usize = 1 << 16;

/// Maximum number of reads after the program's end, when programs that it left behind still write: more than pipes hold.
const MAX_READS: usize = 64;

/// Runs a program to its end, with which it returns whether its output ended within a line of a terminal. Programs that it
/// leaves behind are not waited for.
///
/// Streams that are one file stay one, and keep their order. Else the lines of two streams do not mix in the log.
///
/// # Errors
/// An error of this process; the inner one is that of the program's start.
pub(super) fn run(mut command: Command, log: File) -> io::Result<io::Result<(ExitStatus, bool)>> {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let (source, for_stdout) = channel(&stdout)?;
    let to = mapping::standard_output().ok();
    let mut streams = vec![Stream::new("standard output", source, to, stdout.is_terminal())];
    let for_stderr = match is_same(&stdout, &stderr) {
        true => for_stdout.try_clone()?,
        false => {
            let (source, for_stderr) = channel(&stderr)?;
            let to = File::from(stderr.as_fd().try_clone_to_owned()?);
            streams.push(Stream::new("standard error", source, Some(to), stderr.is_terminal()));
            for_stderr
        }
    };
    let child = command.stdout(Stdio::from(for_stdout)).stderr(Stdio::from(for_stderr)).spawn();
    // The program alone has the other ends.
    drop(command);
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Ok(Err(error)),
    };
    // After the start: programs inherit blocked signals.
    let signals = Signals::block()?;
    let number = i32::try_from(child.id()).map(Pid::from_raw);
    let (end, of_waiter) = io::pipe()?;
    let waiter = std::thread::spawn(move || {
        let status = child.wait();
        drop(of_waiter);
        status
    });
    let mut log = Log(Some(log));
    while !is_readable(&end, &streams, &signals)? {
        streams.iter_mut().for_each(|stream| stream.copy(&mut log));
        // A terminal's interrupt has reached the program; another signal has not.
        if signals.terminated()
            && let Ok(number) = number
        {
            let _ = kill(number, Signal::SIGTERM);
        }
    }
    for stream in &mut streams {
        stream.finish(&mut log);
    }
    let is_within_line = streams.iter().any(|stream| stream.is_within_line);
    let status = waiter.join().map_err(|_| io::Error::other("the program's end is unknown"))??;
    Ok(Ok((status, is_within_line)))
}

/// Whether two streams are one file: a terminal, a pipe.
fn is_same(a: impl AsFd, b: impl AsFd) -> bool {
    let identity = |stream: BorrowedFd| fstat(stream).ok().map(|facts| (facts.st_dev, facts.st_ino));
    let first = identity(a.as_fd());
    first.is_some() && first == identity(b.as_fd())
}

/// A channel for a stream: the end to read, and the program's. For a terminal it is another terminal, since programs choose
/// by it their colours and when they write; else a pipe.
fn channel(stream: &(impl AsFd + io::IsTerminal)) -> io::Result<(File, OwnedFd)> {
    if !stream.is_terminal() {
        let (ours, theirs) = io::pipe()?;
        return Ok((OwnedFd::from(ours).into(), theirs.into()));
    }
    let mut modes = tcgetattr(stream)?;
    // The terminal behind it converts line ends.
    cfmakeraw(&mut modes);
    let size = terminal_size::terminal_size_of(stream);
    let size =
        size.map(|(width, height)| Winsize { ws_row: height.0, ws_col: width.0, ws_xpixel: 0, ws_ypixel: 0 });
    let pair = openpty(size.as_ref(), &modes)?;
    // The program's own copies are made as it starts.
    for end in [&pair.master, &pair.slave] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    Ok((pair.master.into(), pair.slave))
}

/// Waits until something is to be read; whether it is the program's end.
fn is_readable(end: &impl AsFd, streams: &[Stream], signals: &Signals) -> io::Result<bool> {
    let sources = streams.iter().filter_map(|stream| stream.source.as_ref()).map(File::as_fd);
    let sources = [end.as_fd()].into_iter().chain(signals.as_fd()).chain(sources);
    let mut wanted: Vec<PollFd> = sources.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    match poll(&mut wanted, PollTimeout::NONE) {
        Ok(_) => Ok(wanted.first().and_then(PollFd::any) == Some(true)),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The log; `None` after an error.
struct Log(Option<File>);

impl Log {
    fn write(&mut self, bytes: &[u8]) {
        let error = self.0.as_mut().and_then(|log| log.write_all(bytes).err());
        if let Some(error) = error {
            self.0 = None;
            say(&format!("{LOG}: {error}; the rest of the output is not kept"));
        }
    }
}

/// A stream of the program.
struct Stream {
    /// `None` after its end.
    source: Option<File>,
    /// `None`: the standard stream is closed.
    to: Option<File>,
    name: &'static str,
    is_terminal: bool,
    /// Whether a line of a terminal has begun.
    is_within_line: bool,
    /// The begin of a line that the log lacks.
    line: Vec<u8>,
}

impl Stream {
    fn new(name: &'static str, source: File, to: Option<File>, is_terminal: bool) -> Self {
        Self { source: Some(source), to, name, is_terminal, is_within_line: false, line: Vec::new() }
    }

    fn is_ready(&self) -> bool {
        let Some(source) = &self.source else { return false };
        let mut wanted = [PollFd::new(source.as_fd(), PollFlags::POLLIN)];
        matches!(poll(&mut wanted, PollTimeout::ZERO), Ok(1..))
    }

    /// Copies what there is.
    fn copy(&mut self, log: &mut Log) {
        if !self.is_ready() {
            return;
        }
        let mut part = vec![0; PART];
        let part = match self.source.as_mut().map(|source| source.read(&mut part)) {
            Some(Err(error)) if error.kind() == ErrorKind::Interrupted => return,
            Some(Ok(count @ 1..)) => part.get(..count).unwrap_or_default(),
            // A terminal whose programs have ended has an error in place of an end.
            _ => return self.source = None,
        };
        let error = self.to.as_mut().and_then(|to| to.write_all(part).err());
        self.is_within_line = self.is_terminal && part.last() != Some(&b'\n');
        let (whole, begun) =
            part.split_at(part.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
        if !whole.is_empty() {
            self.write_line(log);
            log.write(whole);
        }
        self.line.extend(begun);
        if self.line.len() > PART {
            self.write_line(log);
        }
        // The next write of the program fails as it would without a log.
        if let Some(error) = error {
            self.source = None;
            if error.kind() != ErrorKind::BrokenPipe {
                say(&format!("{}: {error}", self.name));
            }
        }
    }

    fn write_line(&mut self, log: &mut Log) {
        log.write(&self.line);
        self.line.clear();
    }

    /// Copies the rest after the program's end.
    fn finish(&mut self, log: &mut Log) {
        for _ in 0..MAX_READS {
            if !self.is_ready() {
                break;
            }
            self.copy(log);
        }
        self.write_line(log);
    }
}
