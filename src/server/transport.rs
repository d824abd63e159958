//! Sources of clients: TCP, a unix socket, or standard input and output.
//!
//! Each client has a thread, because a session answers by reading files and a slow client must not delay another. The
//! listening thread waits for sockets and signals together: SIGINT, SIGTERM, SIGHUP and SIGQUIT end the server cleanly.
//! It then accepts no clients, shuts down the open connections, and removes the unix socket and the folder of views. It
//! waits for the clients' threads for [`GRACE`] at most.
//!
//! Cost of one client: a thread, a descriptor, and the memory within the bounds of `connection`. If the system refuses
//! a resource (threads, descriptors), only the new client is lost.

mod clients;
mod complaint;
mod connection;
mod endpoint;

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

pub use endpoint::{Endpoint, Listen};

use self::clients::Clients;
use self::complaint::Complaint;
use self::endpoint::{Accepted, Listener, Spare, Stream};
use super::client::ClientOptions;
use super::facade::Facade;
use super::threads::Threads;
use crate::clock::Clock;
use crate::session::{Inspect, Interrupt};
use crate::signals::Signals;
use crate::view::Views;

/// Maximum wait for the clients' threads at the end of the server. Later ones end with the process.
const GRACE: Duration = Duration::from_secs(1);
/// Pause of accepting after a lasting error of the system.
const PAUSE: Duration = Duration::from_millis(100);

/// Options of the server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The endpoints. With [`Listen::Stdio`] the server has one client and no other endpoint.
    pub listen: Vec<Listen>,
    /// The clients' facade; `None`: inferred from each handshake.
    pub client: Option<Facade>,
    /// Files of code objects for debuggers; `None`: no files.
    pub views: Option<Arc<Views>>,
    /// The threads of every client; `None`: the waves of its session.
    pub threads: Option<Arc<Threads>>,
    /// Whether to end after the first client that sent a packet.
    pub once: bool,
    /// Maximum number of clients at a time; each has a thread and a session.
    pub most_clients: usize,
    /// Maximum time of a connection without a packet. After a packet a client may be silent for ever.
    pub silence: Duration,
    /// The time by which clients are silent.
    pub clock: Clock,
}

impl Default for ServeOptions {
    /// One free port on the loopback address, any client, no time limit.
    fn default() -> Self {
        Self {
            listen: vec![Listen::local(0)],
            client: None,
            views: None,
            threads: None,
            once: false,
            most_clients: 64,
            silence: Duration::from_secs(60),
            clock: Clock::default(),
        }
    }
}

/// Makes the session of one client; the interrupt ends its work early.
type MakeSession = dyn Fn(Interrupt) -> Box<dyn Inspect> + Send + Sync;

/// Serves until SIGINT, SIGTERM, SIGHUP or SIGQUIT, or with `once` until the first client is done.
///
/// Each client's thread calls `make_session`; the [`Interrupt`] is set when the client is gone or the server ends.
/// `ready` receives the addresses for clients. Threads that still work one second after the end continue until the next
/// check of their interrupt.
///
/// # Errors
/// An endpoint cannot be opened, or the system's wait fails.
pub fn serve(
    options: &ServeOptions,
    make_session: impl Fn(Interrupt) -> Box<dyn Inspect> + Send + Sync + 'static,
    ready: impl FnOnce(&[Endpoint]) -> io::Result<()>,
) -> io::Result<()> {
    let signals = Signals::block()?;
    let stdio = options.listen.iter().any(|listen| matches!(listen, Listen::Stdio));
    let listeners = match stdio {
        true => Vec::new(),
        false => options.listen.iter().map(Listener::bind).collect::<io::Result<Vec<_>>>()?,
    };
    let endpoints = match stdio {
        true => vec![Endpoint::Stdio],
        false => listeners.iter().map(Listener::endpoint).collect::<io::Result<Vec<_>>>()?,
    };
    endpoints.iter().for_each(Endpoint::warn_if_exposed);
    ready(&endpoints)?;
    let client_options = ClientOptions {
        facade: options.client,
        views: options.views.clone(),
        threads: options.threads.clone(),
    };
    let silence = if stdio { Duration::MAX } else { options.silence };
    let most = if options.once { 1 } else { options.most_clients };
    let clients =
        Clients::new(Box::new(make_session), client_options, most, (silence, options.clock.clone()))?;
    let mut server = Server {
        listeners,
        signals,
        once: options.once,
        is_stdio: stdio,
        clients,
        clock: options.clock.clone(),
        spare: Spare::new(),
        paused: None,
        complaint: Complaint::default(),
    };
    if stdio {
        server.clients.admit(Stream::stdio()?)?;
    }
    let result = server.run();
    server.clients.end(GRACE);
    if let Some(views) = &options.views {
        views.remove_files();
    }
    result
}

/// The listening thread.
struct Server {
    listeners: Vec<Listener>,
    signals: Signals,
    once: bool,
    is_stdio: bool,
    clients: Clients,
    clock: Clock,
    spare: Spare,
    /// The end of the pause of accepting.
    paused: Option<Instant>,
    complaint: Complaint,
}

impl Server {
    fn run(&mut self) -> io::Result<()> {
        loop {
            let woken = self.wait()?;
            // A Ctrl-C for the debugger at the other end of the pipe reaches the whole process group.
            if woken.signal && (self.signals.terminated() || !self.is_stdio) {
                return Ok(());
            }
            let spoke = self.clients.sweep(&woken.gone);
            let has_ended = if self.is_stdio { self.clients.is_empty() } else { self.once && spoke };
            if has_ended {
                return Ok(());
            }
            for index in woken.listeners {
                let Some(listener) = self.listeners.get(index) else { continue };
                match listener.accept() {
                    Accepted::Client(stream) => {
                        if let Err(error) = self.clients.admit(stream) {
                            self.complaint
                                .warn(self.clock.now(), &format!("a client was turned away: {error}"));
                        }
                    }
                    Accepted::Nobody => {}
                    Accepted::Refused(error) => {
                        self.complaint
                            .warn(self.clock.now(), &format!("a client could not connect: {error}"));
                        // The client stays in the queue, and `poll` reports it again at once.
                        let turned_away = self.spare.free().is_some_and(|()| match listener.accept() {
                            Accepted::Client(stream) => {
                                connection::turn_away(
                                    &stream,
                                    "the server has no descriptor left for a client",
                                );
                                true
                            }
                            _ => false,
                        });
                        self.spare.take();
                        if !turned_away {
                            self.paused = Some(self.clock.now() + PAUSE);
                        }
                    }
                }
            }
        }
    }

    /// Waits for an event or for a deadline.
    fn wait(&mut self) -> io::Result<Woken> {
        let now = self.clock.now();
        self.paused = self.paused.filter(|until| *until > now);
        let listeners = if self.paused.is_some() { &[] } else { self.listeners.as_slice() };
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        fds.push(PollFd::new(self.clients.wake(), PollFlags::POLLIN));
        fds.extend(listeners.iter().map(|listener| PollFd::new(listener.as_fd(), PollFlags::POLLIN)));
        let first_client = fds.len();
        // Without requested events `poll` still reports a connection that is closed in both directions.
        fds.extend(self.clients.watched().map(|(_, fd)| PollFd::new(fd, PollFlags::empty())));
        let signal = fds.len();
        fds.extend(self.signals.as_fd().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        let deadline = self.paused.into_iter().chain(self.clients.deadline()).min();
        let timeout = deadline.map_or(PollTimeout::NONE, |deadline| {
            // One millisecond more: a wait that ends too early would repeat.
            let left = deadline.saturating_duration_since(now).as_millis().saturating_add(1);
            PollTimeout::from(u16::try_from(left).unwrap_or(u16::MAX))
        });
        match poll(&mut fds, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |index: usize| fds.get(index).and_then(PollFd::any).unwrap_or(false);
        let gone = self.clients.watched().enumerate().filter(|(index, _)| is_ready(first_client + index));
        Ok(Woken {
            signal: is_ready(signal),
            listeners: (0..listeners.len()).filter(|index| is_ready(1 + index)).collect(),
            gone: gone.map(|(_, (number, _))| number).collect(),
        })
    }
}

/// The reasons of a wake-up of the listening thread.
struct Woken {
    signal: bool,
    /// Indexes of listeners with a waiting client.
    listeners: Vec<usize>,
    /// Numbers of clients whose connection is closed.
    gone: Vec<u64>,
}
