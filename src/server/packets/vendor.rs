//! Our own packets: `qlanescope.NAME[:key:value;...]`, with answers in JSON. docs/protocol.md is their manual.
//!
//! The manual's rule for vendors: a name that no other packet begins with, announced in `qSupported`. Each packet is
//! safe at any time. An error is also JSON, `lanescope.error/1`, so that a program parses one format.

use serde::Serialize;

use super::super::error::{MALFORMED, PacketError};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::super::threads::Thread;
use super::super::{Flow, PACKET_SIZE};
use super::documents;
use crate::report::schema::{self, About, Document, Marks, Schema};

/// The version of this dialect; an incompatible change increments it.
const DIALECT: u32 = 1;

/// `qlanescope.Version`
pub(crate) fn version(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let kind = state.session.kind();
    let answer = Version {
        name: "lanescope",
        version: env!("CARGO_PKG_VERSION"),
        protocol: DIALECT,
        client: state.facade().to_string(),
        dump: state.session.name().to_owned(),
        architecture: kind.target.name.clone(),
        lanes: kind.wave_size.lanes(),
        waves: state.waves.len(),
        threads: state.threads.all().len(),
        lane_threads: state.threads.lanes(),
        notices: state.notices(),
    };
    send(Ok(Document::new(answer)), reply)
}

/// The server, the client and the dump.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Version {
    /// `lanescope`.
    name: &'static str,
    /// The version of lanescope.
    version: &'static str,
    /// The version of the packets.
    protocol: u32,
    /// The recognised client.
    client: String,
    /// The dump's name.
    dump: String,
    /// The GPU: `gfx90a`.
    architecture: String,
    /// Number of lanes of a wave.
    lanes: u8,
    /// Number of waves.
    waves: usize,
    /// Number of threads.
    threads: usize,
    /// Number of threads that are lanes.
    lane_threads: usize,
    /// Notices about the dump.
    notices: Vec<String>,
}

impl Schema for Version {
    const NAME: &'static str = "version";
}

/// An answer about a thread, under its number.
pub(super) fn about<T: Schema>(
    state: &State,
    thread: Thread,
    answer: T,
) -> Result<Document<About<T>>, PacketError> {
    let info = state.session.wave(thread.wave)?;
    let about = About { wave: info.id, thread: state.number(thread), answer, marks: Marks::of(&info) };
    Ok(Document::new(about))
}

/// The thread of `thread:ID;`, else the selected one, of a packet with no keys beyond those.
pub(super) fn named(state: &State, args: &[u8], keys: &[&str]) -> Result<Thread, PacketError> {
    only(args, keys)?;
    Ok(state.named_in(args)?.unwrap_or(state.selected()))
}

/// Rejects other keys than those, and repeated ones: a silently ignored key would mislead.
pub(super) fn only(args: &[u8], keys: &[&str]) -> Result<(), PacketError> {
    for (index, (key, _)) in parse::pairs(args).enumerate() {
        let name = String::from_utf8_lossy(key);
        if !keys.contains(&&*name) {
            let known = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
            return Err(PacketError::new(MALFORMED, format!("no key {name}: there are {known}")));
        }
        if parse::pairs(args).take(index).any(|(before, _)| before == key) {
            return Err(PacketError::new(MALFORMED, format!("`{name}` is given twice")));
        }
    }
    Ok(())
}

/// The value of a key among `key:value;` pairs.
pub(super) fn value<'a>(args: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    parse::pairs(args).find(|(name, _)| *name == key).map(|(_, value)| value)
}

/// Sends an answer, or its error, in one packet.
pub(super) fn send(answer: Result<impl Serialize, PacketError>, reply: &mut Reply<'_>) -> Handled {
    let text = match answer {
        Ok(answer) => documents::json(&answer, PACKET_SIZE),
        Err(fault) => documents::json(&error(fault.words), PACKET_SIZE),
    };
    reply.escaped(text.as_deref().unwrap_or_default());
    if text.is_none() || reply.body().len() > PACKET_SIZE {
        reply.clear();
        let words = "the answer does not fit one packet: ask for less, or read the object with qXfer:lanescope-...:read";
        let text = documents::json(&error(words), PACKET_SIZE);
        reply.escaped(text.as_deref().unwrap_or_default());
    }
    Ok(Flow::Continue)
}

fn error(words: impl Into<String>) -> Document<schema::Error> {
    Document::new(schema::Error { error: words.into(), ..schema::Error::default() })
}
