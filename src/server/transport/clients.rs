//! The connected clients: identity, resources, and release.

use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::client::{Client, ClientOptions};
use super::endpoint::Stream;
use super::{MakeSession, connection};
use crate::bounds::CLIENT_STACK;
use crate::clock::Clock;
use crate::session::Interrupt;

/// Minimum time of a client without a packet before another may replace it: a debugger sends one at once.
const YOUNG: Duration = Duration::from_secs(1);

/// A client's connection, shared by its thread and the listening thread.
#[derive(Debug)]
pub(super) struct Connection {
    number: u64,
    pub(super) stream: Stream,
    /// Ends the session's work.
    pub(super) interrupt: Interrupt,
    /// Whether a packet arrived.
    pub(super) has_sent_a_packet: AtomicBool,
    /// The number of answers.
    pub(super) answers: AtomicU64,
    is_done: AtomicBool,
}

impl Connection {
    /// Ends the connection from outside: reads, writes and work on it end.
    fn end(&self) {
        self.interrupt.set();
        self.stream.shutdown();
    }
}

/// A connection in the listening thread's list.
struct Connected {
    connection: Arc<Connection>,
    since: Instant,
    is_gone: bool,
}

impl Connected {
    fn is_silent(&self) -> bool {
        !self.connection.has_sent_a_packet.load(Ordering::Relaxed)
    }
}

/// The reason that a client was rejected.
#[derive(Debug)]
pub(super) enum ConnectError {
    /// The maximum of clients is connected.
    Full,
    /// The system cannot start a thread.
    NoThread(io::Error),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("too many clients are connected to this server"),
            Self::NoThread(error) => write!(f, "the server cannot start a thread for a client: {error}"),
        }
    }
}

impl From<ConnectError> for io::Error {
    fn from(refusal: ConnectError) -> Self {
        Self::other(refusal.to_string())
    }
}

/// All clients.
pub(super) struct Clients {
    make_session: Arc<MakeSession>,
    options: ClientOptions,
    places: Vec<Connected>,
    most: usize,
    silence: Duration,
    clock: Clock,
    next: u64,
    /// Wake-up channel: the thread of a finished client writes to it, and the listening thread waits at the other end.
    bell: Arc<UnixStream>,
    wake: UnixStream,
}

impl Clients {
    pub(super) fn new(
        make_session: Box<MakeSession>,
        options: ClientOptions,
        most: usize,
        (silence, clock): (Duration, Clock),
    ) -> io::Result<Self> {
        let (bell, wake) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        Ok(Self {
            make_session: make_session.into(),
            options,
            places: Vec::new(),
            most,
            silence,
            clock,
            next: 1,
            bell: Arc::new(bell),
            wake,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Readable when a client is finished.
    pub(super) fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// The connections to watch for closure, by number.
    pub(super) fn watched(&self) -> impl Iterator<Item = (u64, BorrowedFd<'_>)> {
        let open = self.places.iter().filter(|place| !place.is_gone);
        open.map(|place| (place.connection.number, place.connection.stream.outgoing()))
    }

    /// The time when the next client exceeds its silence.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let silent = self.places.iter().filter(|place| place.is_silent() && !place.is_gone);
        silent.filter_map(|place| place.since.checked_add(self.silence)).min()
    }

    /// Ends connections that are closed or silent for too long, and removes the finished ones; returns whether one of
    /// these had sent a packet.
    pub(super) fn sweep(&mut self, gone: &[u64]) -> bool {
        connection::drain(&self.wake);
        let now = self.clock.now();
        for place in &mut self.places {
            let is_late = place.is_silent() && now.saturating_duration_since(place.since) >= self.silence;
            if is_late && !place.is_gone {
                log::info!("client {} sent no packet and is disconnected", place.connection.number);
            }
            if is_late || gone.contains(&place.connection.number) {
                place.connection.end();
                place.is_gone = true;
            }
        }
        let mut spoke = false;
        self.places.retain(|place| {
            let is_done = place.connection.is_done.load(Ordering::Acquire);
            spoke |= is_done && !place.is_silent();
            !is_done
        });
        spoke
    }

    /// Serves a client in its own thread. At the maximum of clients, it replaces the longest connected client without a
    /// packet.
    pub(super) fn admit(&mut self, stream: Stream) -> Result<(), ConnectError> {
        if self.places.len() >= self.most && !self.end_a_silent_client() {
            connection::turn_away(&stream, &ConnectError::Full.to_string());
            return Err(ConnectError::Full);
        }
        let connection = Arc::new(Connection {
            number: self.next,
            stream,
            interrupt: Interrupt::default(),
            has_sent_a_packet: AtomicBool::new(false),
            answers: AtomicU64::new(0),
            is_done: AtomicBool::new(false),
        });
        self.next += 1;
        let (served, bell) = (Arc::clone(&connection), Arc::clone(&self.bell));
        let (make_session, options) = (Arc::clone(&self.make_session), self.options.clone());
        let thread =
            thread::Builder::new().name(format!("client {}", connection.number)).stack_size(CLIENT_STACK);
        let serve = move || {
            let departure = Departure { connection: served, bell };
            let connection = &*departure.connection;
            log::debug!("client {} connected", connection.number);
            let mut client = Client::new(make_session(connection.interrupt.clone()), options);
            if matches!(connection.stream, Stream::Stdio(..)) {
                client = client.through_pipe();
            }
            let end = match connection::serve(connection, client) {
                Ok(()) => "left".to_owned(),
                Err(error) => format!("is lost: {error}"),
            };
            let answers = connection.answers.load(Ordering::Relaxed);
            log::debug!("client {} {end}; answers: {answers}", connection.number);
        };
        if let Err(error) = thread.spawn(serve) {
            let refusal = ConnectError::NoThread(error);
            connection::turn_away(&connection.stream, &refusal.to_string());
            return Err(refusal);
        }
        self.places.push(Connected { connection, since: self.clock.now(), is_gone: false });
        Ok(())
    }

    fn end_a_silent_client(&mut self) -> bool {
        let now = self.clock.now();
        let is_old = |place: &Connected| now.saturating_duration_since(place.since) >= YOUNG;
        let silent = |place: &&Connected| place.is_silent() && is_old(place);
        let longest = self.places.iter().filter(silent).min_by_key(|place| place.since);
        let Some(number) = longest.map(|place| place.connection.number) else { return false };
        log::info!("client {number} sent no packet and is disconnected for another client");
        self.places.retain(|place| {
            if place.connection.number == number {
                place.connection.end();
            }
            place.connection.number != number
        });
        true
    }

    /// Ends all connections, and waits for their threads for at most `grace`.
    pub(super) fn end(&mut self, grace: Duration) {
        let start = Instant::now();
        self.places.iter().for_each(|place| place.connection.end());
        while !self.places.is_empty() && start.elapsed() < grace {
            thread::sleep(Duration::from_millis(2));
            self.places.retain(|place| !place.connection.is_done.load(Ordering::Acquire));
        }
        if !self.places.is_empty() {
            log::info!(
                "{} clients are still being answered; the server ends without them",
                self.places.len()
            );
        }
    }
}

/// The end of a client's thread, also when it panics.
struct Departure {
    connection: Arc<Connection>,
    bell: Arc<UnixStream>,
}

impl Drop for Departure {
    fn drop(&mut self) {
        self.connection.stream.shutdown();
        self.connection.is_done.store(true, Ordering::Release);
        connection::ring(&self.bell);
    }
}
