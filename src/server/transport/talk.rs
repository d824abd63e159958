//! The conversation with one client: read what is there, answer all of it, write once.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::super::client::{Client, Flow};
use super::endpoint::Stream;
use crate::signals::Signals;

/// Bytes read at a time: more than any request that a debugger sends, so that one request is one read.
const READ_BYTES: usize = 1 << 16;
/// What is kept of the buffer for replies between two of them.
const KEPT_BYTES: usize = 1 << 20;

/// Serves a client until it is done or gone.
pub(super) fn socket(stream: &Stream, client: Client) -> io::Result<()> {
    let (mut input, mut output) = (stream, stream);
    talk(&mut input, &mut output, client)
}

/// Serves the one client at standard input and output until either ends, or SIGTERM comes.
///
/// SIGINT is passed over: a Ctrl-C that is meant for the debugger reaches the whole group of processes, and this one is
/// to go when the debugger does.
pub(super) fn stdio(client: Client) -> io::Result<()> {
    // The descriptors themselves: the standard library's handles would gather replies until a line ends.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    talk(&mut UntilTerminated { input, signals: Signals::block()? }, &mut output, client)
}

/// An input that ends when SIGTERM comes, SIGHUP or SIGQUIT.
struct UntilTerminated {
    input: File,
    signals: Signals,
}

impl Read for UntilTerminated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut fds = vec![PollFd::new(self.input.as_fd(), PollFlags::POLLIN)];
            fds.extend(self.signals.as_fd().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) => {}
                Err(nix::errno::Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let ready = |fd: Option<&PollFd<'_>>| fd.and_then(PollFd::any).unwrap_or(false);
            if ready(fds.get(1)) && self.signals.terminated() {
                return Ok(0);
            }
            if ready(fds.first()) {
                return self.input.read(buffer);
            }
        }
    }
}

fn talk(input: &mut impl Read, output: &mut impl Write, mut client: Client) -> io::Result<()> {
    let mut read = vec![0; READ_BYTES];
    let mut write = Vec::with_capacity(READ_BYTES);
    loop {
        let length = match input.read(&mut read) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        write.clear();
        let flow = client.feed(read.get(..length).unwrap_or_default(), &mut write);
        output.write_all(&write)?;
        if flow == Flow::Close {
            return Ok(());
        }
        write.shrink_to(KEPT_BYTES);
    }
}

/// Refuses a client for which there is no place, in words that gdb shows.
pub(super) fn turn_away(stream: Stream) {
    log::warn!("a client was turned away: too many are connected");
    let mut bytes = Vec::new();
    let mut outbox = super::super::front::outbox::Outbox::default();
    let mut reply = super::super::front::reply::Reply::new(&mut bytes, &mut outbox);
    reply.text("E.too many clients are connected to this server");
    reply.finish();
    if let Err(error) = (&stream).write_all(&bytes) {
        log::debug!("the client that was turned away is gone: {error}");
    }
    stream.shutdown();
}

/// Says that a client is done.
pub(super) fn ring(done: &UnixStream) {
    if let Err(error) = { done }.write_all(&[1]) {
        log::debug!("the server is gone already: {error}");
    }
}

/// Takes what was said by [`ring`].
pub(super) fn drain(mut wake: &UnixStream) {
    let mut bytes = [0; 64];
    while matches!(wake.read(&mut bytes), Ok(length) if length > 0) {}
}
