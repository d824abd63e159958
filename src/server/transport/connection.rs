//! The loop of one connection: it reads the available bytes, answers them packet by packet, and writes in few pieces.
//!
//! Bounds: a thread holds one read of [`READ_BYTES`], one unfinished packet, and [`MAX_WAITING`] bytes of answers and
//! one answer more. While the client reads nothing, the thread waits in a write and computes nothing. Between two
//! answers it checks whether the client is gone or the server ends.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::super::client::{Client, Flow};
use super::super::front::outbox::Outbox;
use super::super::front::reply::Reply;
use super::clients::Connection;
use super::endpoint::Stream;

/// Bytes per read: more than any request of a debugger, so that one request is one read.
const READ_BYTES: usize = 1 << 16;
/// Maximum bytes of waiting answers during the computation of the next one.
const MAX_WAITING: usize = 1 << 16;
/// Maximum time that an answer waits during the computation of the next ones. A write also detects a lost client.
const MAX_DELAY: Duration = Duration::from_millis(10);
/// Size of the reply buffer that is kept between two replies.
const KEPT_BYTES: usize = 1 << 20;

/// Serves a client until it is finished or gone, or the server ends.
pub(super) fn serve(connection: &Connection, mut client: Client) -> io::Result<()> {
    let (mut input, mut output) = (&connection.stream, &connection.stream);
    let mut read = vec![0; READ_BYTES];
    let mut write = Vec::with_capacity(READ_BYTES);
    loop {
        let length = match input.read(&mut read) {
            Ok(0) => {
                client.left();
                return Ok(());
            }
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        client.take(read.get(..length).unwrap_or_default());
        let mut sent = Instant::now();
        while let Some(flow) = client.answer(&mut write) {
            if client.has_sent_a_packet() {
                connection.has_sent_a_packet.store(true, Ordering::Relaxed);
            }
            if connection.interrupt.is_set() {
                return Ok(());
            }
            connection.answers.fetch_add(1, Ordering::Relaxed);
            if flow == Flow::Close {
                return output.write_all(&write);
            }
            if write.len() >= MAX_WAITING || sent.elapsed() >= MAX_DELAY {
                output.write_all(&write)?;
                write.clear();
                write.shrink_to(KEPT_BYTES);
                sent = Instant::now();
            }
        }
        output.write_all(&write)?;
        write.clear();
        write.shrink_to(KEPT_BYTES);
    }
}

/// Rejects a client, with text that gdb prints.
pub(super) fn turn_away(stream: &Stream, words: &str) {
    let mut bytes = Vec::new();
    let mut outbox = Outbox::default();
    let mut reply = Reply::new(&mut bytes, &mut outbox);
    reply.text("E.").text(&words.replace(['#', '$', '}', '*'], "?"));
    reply.finish();
    let mut output = stream;
    if let Err(error) = output.write_all(&bytes) {
        log::debug!("the client that was turned away is gone: {error}");
    }
    stream.shutdown();
}

/// Wakes the listening thread.
pub(super) fn ring(mut bell: &UnixStream) {
    // A full pipe already contains enough wake-ups.
    if let Err(error) = bell.write_all(&[1])
        && error.kind() != io::ErrorKind::WouldBlock
    {
        log::debug!("the server is gone already: {error}");
    }
}

/// Takes the bytes of [`ring`].
pub(super) fn drain(mut wake: &UnixStream) {
    let mut bytes = [0; 64];
    while matches!(wake.read(&mut bytes), Ok(length) if length > 0) {}
}
