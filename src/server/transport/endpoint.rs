//! Places to listen at, and the streams of clients that come there.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A TCP address; port 0 takes a free port.
    Tcp(SocketAddr),
    /// A unix socket at a path that does not exist yet, or at one that nobody serves any more.
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

/// Where clients can connect.
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
    /// What a user types in gdb.
    #[must_use]
    pub fn gdb_command(&self) -> Option<String> {
        match self {
            Self::Tcp(address) => Some(format!("target remote {address}")),
            Self::Unix(path) => Some(format!("target remote {}", path.display())),
            Self::Stdio => None,
        }
    }

    /// What a user types in lldb.
    #[must_use]
    pub fn lldb_command(&self) -> Option<String> {
        match self {
            Self::Tcp(address) => Some(format!("gdb-remote {address}")),
            Self::Unix(path) => Some(format!("process connect unix-connect://{}", path.display())),
            Self::Stdio => None,
        }
    }

    /// There are no passwords in this protocol.
    pub(super) fn warn_if_exposed(&self) {
        if let Self::Tcp(address) = self
            && !address.ip().is_loopback()
        {
            log::warn!("listening on {address}: everyone who reaches this address can read the dump");
        }
    }
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

/// A place that is listened to.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    pub(super) fn bind(listen: &Listen) -> io::Result<Self> {
        let named = |place: &dyn fmt::Display, error: io::Error| {
            io::Error::new(error.kind(), format!("cannot listen on {place}: {error}"))
        };
        match listen {
            Listen::Tcp(address) => {
                let listener = TcpListener::bind(address).map_err(|error| named(address, error))?;
                // A client that is gone between poll and accept must not stop the server there.
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
            Listen::Unix(path) => {
                let listener = bind_unix(path).map_err(|error| named(&path.display(), error))?;
                listener.set_nonblocking(true)?;
                Ok(Self::Unix(listener, path.clone()))
            }
            Listen::Stdio => Err(io::Error::new(io::ErrorKind::InvalidInput, "stdio is not listened to")),
        }
    }

    pub(super) fn endpoint(&self) -> io::Result<Endpoint> {
        Ok(match self {
            Self::Tcp(listener) => Endpoint::Tcp(listener.local_addr()?),
            Self::Unix(_, path) => Endpoint::Unix(path.clone()),
        })
    }

    /// The client that waits, if it still does.
    pub(super) fn accept(&self) -> Option<Stream> {
        let accepted = match self {
            Self::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                // A reply is one write; nothing is gained by waiting for more.
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }),
            Self::Unix(listener, _) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                Ok(Stream::Unix(stream))
            }),
        };
        match accepted {
            Ok(stream) => Some(stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(error) => {
                log::warn!("a client could not connect: {error}");
                None
            }
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

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self
            && let Err(error) = std::fs::remove_file(&*path)
        {
            log::debug!("cannot remove {}: {error}", path.display());
        }
    }
}

/// Binds a unix socket, over one that a server left behind that is gone.
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let abandoned = matches!(
                UnixStream::connect(path),
                Err(refused) if refused.kind() == io::ErrorKind::ConnectionRefused
            );
            // Connecting to a file that is no socket is refused, too: that file is somebody's.
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
}

impl Stream {
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
        }
    }

    /// Ends it both ways; whoever reads or writes it finds out.
    pub(super) fn shutdown(&self) {
        let ended = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
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
        }
    }
}

impl io::Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).write(bytes),
            Stream::Unix(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
