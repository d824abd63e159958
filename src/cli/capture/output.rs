//! A program whose output goes to the standard streams and into a log.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{cfmakeraw, tcgetattr};
use nix::unistd::Pid;

use super::{LOG, say};
use crate::mapping;
use crate::signals::Signals;

/// Bytes of a read.
const PART: usize = 1 << 16;

/// Maximum number of reads after the program's end, when programs that it left behind still write: more than pipes hold.
const MAX_READS: usize = 64;

/// Runs a program to its end. Lines of the two streams do not mix in the log. Programs that it leaves behind are not waited
/// for.
///
/// # Errors
/// An error of this process; the inner one is that of the program's start.
pub(super) fn run(mut command: Command, log: File) -> io::Result<io::Result<ExitStatus>> {
    let signals = Signals::block()?;
    let (stdout, for_stdout) = channel(&io::stdout())?;
    let (stderr, for_stderr) = channel(&io::stderr())?;
    let child = command.stdout(Stdio::from(for_stdout)).stderr(Stdio::from(for_stderr)).spawn();
    // The program alone has the other ends.
    drop(command);
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Ok(Err(error)),
    };
    let number = i32::try_from(child.id()).map(Pid::from_raw);
    let (end, of_waiter) = io::pipe()?;
    let waiter = std::thread::spawn(move || {
        let status = child.wait();
        drop(of_waiter);
        status
    });
    let mut log = Log(Some(log));
    let to = [mapping::standard_output().ok(), Some(File::from(io::stderr().as_fd().try_clone_to_owned()?))];
    let mut streams: Vec<Stream> = [stdout, stderr].into_iter().zip(to).map(Stream::new).collect();
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
    Ok(Ok(waiter.join().map_err(|_| io::Error::other("the program's end is unknown"))??))
}

/// What the program writes to: a terminal in place of a terminal, by which programs choose colours and how they buffer;
/// else a pipe.
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
            let _ = say(&format!("{LOG}: {error}; the rest of the output is not kept"));
        }
    }
}

/// A stream of the program.
struct Stream {
    /// `None` after its end.
    source: Option<File>,
    /// `None`: the standard stream is closed.
    to: Option<File>,
    /// A line that has begun.
    line: Vec<u8>,
}

impl Stream {
    fn new((source, to): (File, Option<File>)) -> Self {
        Self { source: Some(source), to, line: Vec::new() }
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
        let is_closed = self.to.as_mut().is_some_and(|to| to.write_all(part).is_err());
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
        if is_closed {
            self.source = None;
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
