//! Where clients come from: TCP, a unix socket, or standard input and output.
//!
//! One thread for each client, because a session answers by reading files and a slow client must not hold up another.
//! The listening thread waits on sockets and signals together, so that SIGINT, SIGTERM, SIGHUP and SIGQUIT end the server
//! cleanly: no new clients, the open connections shut down, the unix socket and the folder of views removed.

mod endpoint;
mod talk;

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

pub use endpoint::{Endpoint, Listen};

use self::endpoint::{Listener, Stream};
use super::client::{Client, ClientOptions};
use super::facade::Facade;
use super::threads::Threads;
use crate::session::Inspect;
use crate::signals::Signals;
use crate::view::Views;

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where to listen. With [`Listen::Stdio`] there is one client and nothing else is listened to.
    pub listen: Vec<Listen>,
    /// What clients are taken for; `None`: what each one's handshake says.
    pub client: Option<Facade>,
    /// Code objects for debuggers that know no AMDGPU; `None`: they get none.
    pub views: Option<Arc<Views>>,
    /// The threads of every client; `None`: the waves of its session.
    pub threads: Option<Arc<Threads>>,
    /// Whether to end after the first client.
    pub once: bool,
    /// The most clients at a time; each has a thread and a session.
    pub most_clients: usize,
}

impl Default for ServeOptions {
    /// One free port on the loopback address, any client, as long as it takes.
    fn default() -> Self {
        Self {
            listen: vec![Listen::local(0)],
            client: None,
            views: None,
            threads: None,
            once: false,
            most_clients: 64,
        }
    }
}

/// Serves until SIGINT, SIGTERM, SIGHUP or SIGQUIT, or with `once` until the first client is done.
///
/// `make_session` is called for each client, in its thread. `ready` is told where clients can connect.
///
/// # Errors
/// A place cannot be listened to, or the system fails at waiting.
pub fn serve(
    options: &ServeOptions,
    make_session: impl Fn() -> Box<dyn Inspect> + Send + Sync,
    ready: impl FnOnce(&[Endpoint]),
) -> io::Result<()> {
    let client_options = ClientOptions {
        facade: options.client,
        views: options.views.clone(),
        threads: options.threads.clone(),
    };
    if options.listen.iter().any(|listen| matches!(listen, Listen::Stdio)) {
        ready(&[Endpoint::Stdio]);
        return talk::stdio(Client::new(make_session(), client_options));
    }
    let signals = Signals::block()?;
    let listeners = options.listen.iter().map(Listener::bind).collect::<io::Result<Vec<_>>>()?;
    let endpoints = listeners.iter().map(Listener::endpoint).collect::<io::Result<Vec<_>>>()?;
    endpoints.iter().for_each(Endpoint::warn_if_exposed);
    ready(&endpoints);
    // Clients say here that they are done, so that their places become free and `once` ends.
    let (done, wake) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    let open = Mutex::new(Vec::<(usize, Stream)>::new());
    thread::scope(|scope| {
        let mut number = 0;
        let result = loop {
            match wait(&listeners, &signals, &wake) {
                Ok(Wake::Signal) => break Ok(()),
                Ok(Wake::ClientDone) => {
                    talk::drain(&wake);
                    if options.once && lock(&open).is_empty() {
                        break Ok(());
                    }
                }
                Ok(Wake::Client(index)) => {
                    let Some(stream) = listeners.get(index).and_then(Listener::accept) else { continue };
                    number += 1;
                    if options.once && number > 1 || lock(&open).len() >= options.most_clients {
                        talk::turn_away(stream);
                        continue;
                    }
                    let Ok(kept) = stream.try_clone() else { continue };
                    lock(&open).push((number, kept));
                    let (open, make_session, client_options) = (&open, &make_session, client_options.clone());
                    let done = done.try_clone();
                    scope.spawn(move || {
                        log::debug!("client {number} connected");
                        match talk::socket(&stream, Client::new(make_session(), client_options)) {
                            Ok(()) => log::debug!("client {number} left"),
                            Err(error) => log::debug!("client {number} is lost: {error}"),
                        }
                        stream.shutdown();
                        lock(open).retain(|(other, _)| *other != number);
                        if let Ok(done) = done {
                            talk::ring(&done);
                        }
                    });
                }
                Err(error) => break Err(error),
            }
        };
        // A thread that waits for its client to speak or to read finds the connection gone.
        lock(&open).iter().for_each(|(_, stream)| stream.shutdown());
        result
    })
}

/// What the listening thread woke up for.
enum Wake {
    Signal,
    ClientDone,
    Client(usize),
}

fn wait(listeners: &[Listener], signals: &Signals, wake: &UnixStream) -> io::Result<Wake> {
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(listeners.len() + 2);
    fds.push(PollFd::new(wake.as_fd(), PollFlags::POLLIN));
    fds.extend(listeners.iter().map(|listener| PollFd::new(listener.as_fd(), PollFlags::POLLIN)));
    fds.extend(signals.as_fd().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
    loop {
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) => {}
            Err(nix::errno::Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let ready = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
        if fds.get(listeners.len() + 1).is_some_and(ready) {
            return Ok(Wake::Signal);
        }
        match fds.iter().position(ready) {
            Some(0) => return Ok(Wake::ClientDone),
            Some(index) => return Ok(Wake::Client(index - 1)),
            None => {}
        }
    }
}

/// The list of open connections; a thread that panicked has left it whole.
fn lock(open: &Mutex<Vec<(usize, Stream)>>) -> std::sync::MutexGuard<'_, Vec<(usize, Stream)>> {
    open.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
