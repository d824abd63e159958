//! The server with real sockets: clients one after another and several at once, once, unix sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::synthetic::session;
use super::{framed, served};
use crate::support::{PATIENCE, StandingClock, ended, until};
use lanescope::server::{Endpoint, Listen, ServeOptions, serve};

/// Starts a server in a thread; where it listens, and the thread.
pub(super) fn start(options: ServeOptions) -> (Vec<Endpoint>, JoinHandle<std::io::Result<()>>) {
    let (sender, receiver) = mpsc::channel();
    let server = std::thread::spawn(move || {
        serve(
            &options,
            |_| Box::new(session(4)),
            |endpoints| {
                sender.send(endpoints.to_vec()).unwrap();
                Ok(())
            },
        )
    });
    (receiver.recv().unwrap(), server)
}

pub(super) fn address(endpoints: &[Endpoint]) -> SocketAddr {
    match endpoints {
        [Endpoint::Tcp(address), ..] => *address,
        other => panic!("{other:?}"),
    }
}

fn connect(endpoints: &[Endpoint]) -> TcpStream {
    let stream = TcpStream::connect(address(endpoints)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a packet and reads the acknowledgement and the reply.
fn ask(stream: &mut (impl Read + Write), body: &str) -> String {
    let reply = served::ask(stream, body).unwrap();
    stream.write_all(b"+").unwrap();
    reply
}

#[test]
fn clients_at_once_each_have_a_session_of_their_own() {
    let (endpoints, _server) = start(ServeOptions::default());
    assert_ne!(address(&endpoints).port(), 0, "the server reports the port");
    assert!(address(&endpoints).ip().is_loopback());
    let (mut first, mut second) = (connect(&endpoints), connect(&endpoints));
    assert_eq!(ask(&mut first, "Hg3"), "OK");
    assert_eq!(ask(&mut second, "Hg4"), "OK");
    assert_eq!(ask(&mut first, "qC"), "QC3");
    assert_eq!(ask(&mut second, "qC"), "QC4");
}

#[test]
fn a_client_that_goes_makes_room_for_the_next() {
    let (endpoints, _server) = start(ServeOptions { most_clients: 1, ..ServeOptions::default() });
    for goodbye in ["D", "k", "vKill;1", ""] {
        // The server may still be busy with the end of the one before.
        let mut client = until("a free place", || {
            let mut client = connect(&endpoints);
            client.write_all(b"$qC#b4").ok()?;
            let mut answer = [0; 2];
            (client.read_exact(&mut answer).is_ok() && answer == *b"+$").then_some(client)
        });
        let mut rest = [0; 6];
        client.read_exact(&mut rest).unwrap();
        if !goodbye.is_empty() {
            client.write_all(&[b"+", framed(goodbye).as_slice()].concat()).unwrap();
            let mut all = Vec::new();
            client.read_to_end(&mut all).unwrap();
        }
    }
}

#[test]
fn too_many_clients_get_an_error() {
    let (endpoints, _server) = start(ServeOptions { most_clients: 1, ..ServeOptions::default() });
    let mut first = connect(&endpoints);
    assert_eq!(ask(&mut first, "qC"), "QC2");
    let mut told = String::new();
    connect(&endpoints).read_to_string(&mut told).unwrap();
    assert!(told.starts_with("$E.too many clients"), "{told}");
    assert_eq!(ask(&mut first, "qC"), "QC2");
}

#[test]
fn the_client_that_is_silent_longest_gives_up_its_place() {
    let time = StandingClock::new();
    let (endpoints, _server) =
        start(ServeOptions { most_clients: 3, clock: time.clock(), ..ServeOptions::default() });
    let mut speaks = connect(&endpoints);
    assert_eq!(ask(&mut speaks, "qC"), "QC2");
    let mut silent = connect(&endpoints);
    let mut later = connect(&endpoints);
    // The fourth client comes while both are new: it tells that the server has them.
    let mut told = String::new();
    connect(&endpoints).read_to_string(&mut told).unwrap();
    assert!(told.starts_with("$E.too many clients"), "{told}");
    time.advance(2);
    let mut new = connect(&endpoints);
    assert_eq!(ask(&mut new, "qC"), "QC2");
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "it is disconnected");
    // The others are as they were.
    assert_eq!(ask(&mut speaks, "qC"), "QC2");
    assert_eq!(ask(&mut later, "qC"), "QC2");
}

#[test]
fn a_client_that_spoke_in_time_stays() {
    let time = StandingClock::new();
    let options =
        ServeOptions { silence: Duration::from_secs(3), clock: time.clock(), ..ServeOptions::default() };
    let (endpoints, _server) = start(options);
    let mut speaks = connect(&endpoints);
    assert_eq!(ask(&mut speaks, "qC"), "QC2");
    let mut silent = connect(&endpoints);
    // Every client wakes the server, which then looks at the time.
    assert_eq!(ask(&mut connect(&endpoints), "qC"), "QC2");
    time.advance(2);
    let mut later = connect(&endpoints);
    assert_eq!(ask(&mut connect(&endpoints), "qC"), "QC2");
    time.advance(1);
    assert_eq!(ask(&mut connect(&endpoints), "qC"), "QC2");
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "it is disconnected");
    assert_eq!(ask(&mut later, "qC"), "QC2");
    assert_eq!(ask(&mut speaks, "qC"), "QC2");
}

#[test]
fn once_waits_for_a_client_with_a_packet() {
    let (endpoints, server) = start(ServeOptions { once: true, ..ServeOptions::default() });
    drop(connect(&endpoints));
    // Until the server knows that it left, there is no other place.
    let mut client = until("a free place", || {
        let mut client = connect(&endpoints);
        served::ask(&mut client, "qC").ok().filter(|answer| answer == "QC2").map(|_| client)
    });
    client.write_all(b"+").unwrap();
    assert_eq!(ask(&mut client, "D;1"), "OK");
    server.join().unwrap().unwrap();
}

#[test]
fn once_ends_with_its_client() {
    let (endpoints, server) = start(ServeOptions { once: true, ..ServeOptions::default() });
    let mut client = connect(&endpoints);
    assert_eq!(ask(&mut client, "qC"), "QC2");
    assert_eq!(ask(&mut client, "D;1"), "OK");
    server.join().unwrap().unwrap();
}

#[test]
fn a_client_that_closes_its_sending_side_gets_its_answer() {
    let (endpoints, server) = start(ServeOptions { once: true, ..ServeOptions::default() });
    let mut client = connect(&endpoints);
    client.write_all(b"$qC#b4").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "+$QC2#c6");
    server.join().unwrap().unwrap();
}

#[test]
fn a_slow_client_does_not_hold_up_another() {
    let (endpoints, _server) = start(ServeOptions::default());
    let mut slow = connect(&endpoints);
    // Half a packet, and requests whose answers nobody reads.
    for _ in 0..2000 {
        if slow.set_write_timeout(Some(Duration::from_millis(50))).is_err()
            || slow.write_all(b"$qXfer:threads:read::0,ffff#34").is_err()
        {
            break;
        }
    }
    let mut other = connect(&endpoints);
    assert_eq!(ask(&mut other, "qC"), "QC2");
}

#[test]
fn a_unix_socket_is_served_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    // One that a server left behind is taken over.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let listen = vec![Listen::Unix(path.clone())];
    let (endpoints, server) = start(ServeOptions { listen, once: true, ..ServeOptions::default() });
    assert_eq!(endpoints, [Endpoint::Unix(path.clone())]);
    let mut client = UnixStream::connect(&path).unwrap();
    assert_eq!(ask(&mut client, "T4"), "OK");
    drop(client);
    server.join().unwrap().unwrap();
    assert!(!path.exists());
}

/// Another process may have removed the socket and put its own in its place.
#[test]
fn a_socket_of_somebody_else_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    for replace in [
        |path: &std::path::Path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
        |path: &std::path::Path| std::fs::write(path, "a file").unwrap(),
        |path: &std::path::Path| std::os::unix::fs::symlink("elsewhere", path).unwrap(),
    ] {
        let listen = vec![Listen::Unix(path.clone())];
        let (_, server) = start(ServeOptions { listen, once: true, ..ServeOptions::default() });
        let mut client = UnixStream::connect(&path).unwrap();
        assert_eq!(ask(&mut client, "T4"), "OK");
        // Under another name first: the number of an inode that is free is given away again.
        std::fs::rename(&path, folder.path().join("moved")).unwrap();
        replace(&path);
        drop(client);
        server.join().unwrap().unwrap();
        assert!(path.symlink_metadata().is_ok(), "it was somebody else's");
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(folder.path().join("moved")).unwrap();
    }
}

#[test]
fn a_socket_that_is_served_is_not_taken_over() {
    let (endpoints, _server) = start(ServeOptions::default());
    let listen = vec![Listen::Tcp(address(&endpoints))];
    let refused = serve(
        &ServeOptions { listen, ..ServeOptions::default() },
        |_| Box::new(session(4)),
        |_| panic!("it cannot be ready"),
    );
    let words = refused.unwrap_err().to_string();
    assert!(words.starts_with("cannot listen on 127.0.0.1:"), "{words}");
}

/// The program, serving a place of the test's choosing.
fn program(arguments: &[&str]) -> Child {
    crate::support::lanescope()
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn signals_end_the_server_cleanly() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut server = program(&["--unix", path.to_str().unwrap()]);
        let mut said = BufReader::new(server.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("Listening") {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "the server ended");
        }
        // A client that is connected and silent does not hold it up.
        let mut client = UnixStream::connect(&path).unwrap();
        assert_eq!(ask(&mut client, "T1"), "OK");
        kill(Pid::from_raw(server.id().try_into().unwrap()), signal).unwrap();
        assert!(ended(&mut server, format!("the end of the server after {signal}")).success(), "{signal}");
        assert!(!path.exists(), "{signal}");
        assert_eq!(client.read(&mut [0]).unwrap(), 0, "the end of the stream tells the client");
    }
}

#[test]
fn standard_input_and_output_are_a_connection() {
    let mut server = program(&["--stdio"]);
    let mut input = server.stdin.take().unwrap();
    // A Ctrl-C that is meant for the debugger reaches the server too.
    input.write_all(b"$T1#85").unwrap();
    let mut answer = [0; 7];
    server.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+$OK#9a");
    kill(Pid::from_raw(server.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    input.write_all(b"$T1#85").unwrap();
    server.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
    drop(input);
    assert!(ended(&mut server, "the end of the server after its input").success());

    let mut server = program(&["--stdio"]);
    let mut input = server.stdin.take().unwrap();
    input.write_all(b"$T1#85").unwrap();
    server.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
    kill(Pid::from_raw(server.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    assert!(ended(&mut server, "the end of the server after SIGTERM").success());
}
