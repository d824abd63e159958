//! Endpoints to listen at, and the streams of their clients.

use std::fmt;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::mapping;

/// An endpoint to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A TCP address; port 0 takes a free port.
    Tcp(SocketAddr),
    /// A unix socket at a path that is free, or whose server is gone.
    Unix(PathBuf),
    /// Standard input and output: `target remote | lanescope serve --stdio DUMP`.
    Stdio,
}

impl Listen {
    /// A port of the loopback address: only this machine's users can connect.
    #[must_use]
    pub fn local(port: u16) -> Self {
        Self::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }
}

/// An address for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A TCP address with its port.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
    /// Standard input and output.
    Stdio,
}

impl Endpoint {
    /// The command for gdb.
    #[must_use]
    pub fn gdb_command(&self) -> Option<String> {
        match self {
            Self::Tcp(address) => Some(format!("target remote {address}")),
            Self::Unix(path) => Some(format!("target remote {}", path.display())),
            Self::Stdio => None,
        }
    }

    /// The command for lldb.
    #[must_use]
    pub fn lldb_command(&self) -> Option<String> {
        match self {
            Self::Tcp(address) => Some(format!("gdb-remote {address}")),
            Self::Unix(path) => Some(format!("process connect unix-connect://{}", path.display())),
            Self::Stdio => None,
        }
    }

    /// Warns about a public address: this protocol has no passwords.
    pub(super) fn warn_if_exposed(&self) {
        if let Self::Tcp(address) = self
            && !is_loopback(address)
        {
            log::warn!("listening on {address}: everyone who reaches this address can read the dump");
        }
    }
}

/// Whether an address is reachable only from this machine. `::ffff:127.0.0.1` is 127.0.0.1 (RFC 4291, 2.5.5.2).
fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Stdio => f.write_str("standard input and output"),
        }
    }
}

/// An open endpoint.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, OwnSocket),
}

/// The path of a unix socket, and its file's identity: another process may have replaced it since.
#[derive(Debug)]
pub(super) struct OwnSocket {
    path: PathBuf,
    /// Device and inode.
    file: Option<(u64, u64)>,
}

impl OwnSocket {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: identity(path) }
    }
}

impl Drop for OwnSocket {
    fn drop(&mut self) {
        let path = self.path.display();
        if self.file.is_none() || identity(&self.path) != self.file {
            log::debug!("{path} is not the socket that was made, and stays");
        } else if let Err(error) = std::fs::remove_file(&self.path) {
            log::debug!("cannot remove {path}: {error}");
        }
    }
}

/// Device and inode of a path's file, links not followed.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// The result of `accept`.
pub(super) enum Accepted {
    /// A client.
    Client(Stream),
    /// The waiting client disappeared.
    Nobody,
    /// The system's error; the client still waits.
    Refused(io::Error),
}

/// A reserved descriptor: without any, the server could not even reject a client.
#[derive(Debug)]
pub(super) struct Spare(Option<File>);

impl Spare {
    pub(super) fn new() -> Self {
        Self(File::open("/dev/null").ok())
    }

    /// Frees one descriptor; `None` if none is in reserve.
    pub(super) fn free(&mut self) -> Option<()> {
        self.0.take().map(drop)
    }

    /// Reserves a descriptor again.
    pub(super) fn take(&mut self) {
        if self.0.is_none() {
            *self = Self::new();
        }
    }
}

impl Listener {
    pub(super) fn bind(listen: &Listen) -> io::Result<Self> {
        let named = |place: &dyn fmt::Display, error: io::Error| {
            io::Error::new(error.kind(), format!("cannot listen on {place}: {error}"))
        };
        match listen {
            Listen::Tcp(address) => {
                let listener = TcpListener::bind(address).map_err(|error| named(address, error))?;
                // A client that disappears between poll and accept must not block the server there.
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
            Listen::Unix(path) => {
                let listener = bind_unix(path).map_err(|error| named(&path.display(), error))?;
                listener.set_nonblocking(true)?;
                Ok(Self::Unix(listener, OwnSocket::new(path)))
            }
            Listen::Stdio => Err(io::Error::new(io::ErrorKind::InvalidInput, "stdio is not listened to")),
        }
    }

    pub(super) fn endpoint(&self) -> io::Result<Endpoint> {
        Ok(match self {
            Self::Tcp(listener) => Endpoint::Tcp(listener.local_addr()?),
            Self::Unix(_, socket) => Endpoint::Unix(socket.path.clone()),
        })
    }

    /// The waiting client, if it still waits.
    pub(super) fn accept(&self) -> Accepted {
        let accepted = match self {
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
            Self::Unix(listener, _) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        };
        match accepted {
            Ok(stream) => match stream.prepare() {
                Ok(()) => Accepted::Client(stream),
                Err(error) => {
                    log::debug!("a client is gone already: {error}");
                    Accepted::Nobody
                }
            },
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {
                    Accepted::Nobody
                }
                _ => Accepted::Refused(error),
            },
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener, _) => listener.as_fd(),
        }
    }
}

/// Binds a unix socket, replacing one of a server that is gone.
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let abandoned = matches!(
                UnixStream::connect(path),
                Err(refused) if refused.kind() == io::ErrorKind::ConnectionRefused
            );
            // A connection to a file other than a socket also fails: such a file belongs to the user.
            let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
            if !is_socket {
                let words = format!("{} exists and is not a socket", path.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, words));
            }
            if !abandoned {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        other => other,
    }
}

/// A client's connection.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    /// Standard input and output.
    Stdio(File, File),
}

impl Stream {
    /// The descriptors themselves: the standard library's handles would buffer replies until a line ends.
    pub(super) fn stdio() -> io::Result<Self> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = mapping::standard_output()?;
        Ok(Self::Stdio(input, output))
    }

    fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_nonblocking(false)?;
                // A reply is one write; a delay gains nothing.
                stream.set_nodelay(true)
            }
            Self::Unix(stream) => stream.set_nonblocking(false),
            Self::Stdio(..) => Ok(()),
        }
    }

    /// The stream of answers. An error there means that the client is gone, unlike the end of its input.
    pub(super) fn outgoing(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
            Self::Stdio(_, output) => output.as_fd(),
        }
    }

    /// Ends the connection both ways; its readers and writers notice. Pipes have no such operation: they end with the
    /// process.
    pub(super) fn shutdown(&self) {
        let ended = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Stdio(..) => Ok(()),
        };
        if let Err(error) = ended {
            log::trace!("the connection was gone already: {error}");
        }
    }
}

impl io::Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).read(buffer),
            Stream::Unix(stream) => (&*stream).read(buffer),
            Stream::Stdio(input, _) => (&*input).read(buffer),
        }
    }
}

impl io::Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).write(bytes),
            Stream::Unix(stream) => (&*stream).write(bytes),
            Stream::Stdio(_, output) => (&*output).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
