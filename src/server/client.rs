//! One client: bytes in, bytes out, no sockets. Tests, benches and the fuzzer drive the server through this.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::backend::{self, Backend};
use super::error::{IO, MALFORMED, PacketError};
use super::facade::Facade;
use super::front::frame::{Event, Framer};
use super::front::outbox::Outbox;
use super::front::reply::Reply;
use super::front::router::{self, Answer, Handled, Request, Route};
use super::packets::questions;
use super::state::State;
use super::threads::Threads;
use crate::session::Inspect;
use crate::view::Views;

/// The settings of a served client.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// The client's facade; `None`: inferred from its handshake.
    pub facade: Option<Facade>,
    /// Files of code objects for debuggers; `None`: no files.
    pub views: Option<Arc<Views>>,
    /// The threads; `None`: the waves of the session.
    pub threads: Option<Arc<Threads>>,
}

/// The state of the connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// The connection goes on.
    Continue,
    /// The connection ends after the written bytes are sent: the client detached or killed.
    Close,
}

/// One client over one session.
#[derive(Debug)]
pub struct Client {
    framer: Framer,
    outbox: Outbox,
    backend: Backend,
    state: State,
    has_sent_a_packet: bool,
}

impl Client {
    /// A client that has sent nothing yet.
    #[must_use]
    pub fn new(session: Box<dyn Inspect>, options: ClientOptions) -> Self {
        Self {
            framer: Framer::default(),
            outbox: Outbox::default(),
            backend: Backend::default(),
            state: State::new(session, options),
            has_sent_a_packet: false,
        }
    }

    /// The same for a client behind a pipe, which gdb reads one byte at a time.
    #[must_use]
    pub fn through_pipe(mut self) -> Self {
        self.state.is_piped = true;
        self
    }

    /// Whether the client has sent a packet with a right checksum.
    #[must_use]
    pub fn has_sent_a_packet(&self) -> bool {
        self.has_sent_a_packet
    }

    /// Takes bytes of the client, in pieces of any size, for [`Self::answer`]. It holds these bytes and one packet.
    pub fn take(&mut self, bytes: &[u8]) {
        self.framer.push(bytes);
    }

    /// Appends the answer to the first unanswered packet or acknowledgement; `None` without one. One call writes one
    /// answer, so that the caller can send it before the next computation.
    pub fn answer(&mut self, out: &mut Vec<u8>) -> Option<Flow> {
        let Self { framer, outbox, backend, state, has_sent_a_packet } = self;
        match framer.next()? {
            Event::Packet(body) => {
                *has_sent_a_packet = true;
                outbox.accept(out);
                return Some(answer(state, backend, outbox, body, out));
            }
            Event::BadChecksum => {
                log::debug!("a packet's checksum is wrong");
                if !outbox.refuse(out) {
                    complain(outbox, out);
                }
            }
            Event::TooLong => {
                log::debug!("a packet is longer than the {:#x} bytes agreed on", super::PACKET_SIZE);
                outbox.accept(out);
                complain(outbox, out);
            }
            // Nothing runs: an interrupt has no effect. The client would read an extra stop as the answer to its next
            // packet.
            Event::Interrupt => {}
            Event::Ack => outbox.acked(),
            Event::Nack => outbox.nacked(out),
        }
        Some(Flow::Continue)
    }

    /// Records that the client has closed the connection. A stock gdb with amdgcn does so at the first stop.
    pub(super) fn left(&self) {
        if self.state.is_at_first_stop && self.state.facade() == Facade::AmdgcnGdb {
            log::warn!(
                "a gdb left at its first stop: if it does not know amdgcn, start without --client amdgcn-gdb"
            );
        }
    }

    /// Takes bytes of the client and appends all answers. For small inputs: `out` is unbounded.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Flow {
        self.take(bytes);
        while let Some(flow) = self.answer(out) {
            if flow == Flow::Close {
                return flow;
            }
        }
        Flow::Continue
    }
}

/// An error for an unreadable packet.
fn complain(outbox: &mut Outbox, out: &mut Vec<u8>) {
    let mut reply = Reply::new(out, outbox);
    reply.text("E").hex(&[MALFORMED]);
    reply.finish();
}

/// Answers one packet.
fn answer(
    state: &mut State,
    backend: &mut Backend,
    outbox: &mut Outbox,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Flow {
    log::trace!("<- {}", body.escape_ascii());
    let before = out.len();
    // The last guard: a panic costs one packet, not the session.
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let mut reply = Reply::new(out, outbox);
        let flow = dispatch(state, backend, body, &mut reply);
        log::trace!("-> {}", reply.body().escape_ascii());
        reply.finish();
        flow
    }));
    let flow = answered.unwrap_or_else(|_| {
        log::error!("the answer to {} failed; please report this", body.escape_ascii());
        backend.reset();
        out.truncate(before);
        outbox.take_back();
        complain(outbox, out);
        Flow::Continue
    });
    if state.features.no_acks {
        outbox.stop_acks();
    }
    flow
}

fn dispatch(state: &mut State, backend: &mut Backend, body: &[u8], reply: &mut Reply<'_>) -> Flow {
    let (route, request) = router::route(body);
    let Some(route) = route else {
        log::debug!("not supported: {}", body.escape_ascii());
        return Flow::Continue;
    };
    log::debug!("{}", route.name);
    state.session.next_question();
    state.recognise(route.name, body);
    state.code.next_packet();
    state.is_at_first_stop = false;
    let answered = match route.answer {
        Answer::Own(handler) => handler(state, request, reply),
        Answer::Question(question) => questions::packet(question, state, request, reply),
        Answer::Document(question, annex) => questions::document(question, annex, state, request, reply),
        Answer::Gdbstub | Answer::GdbstubOnThread | Answer::Reviewed(_) => {
            forward(state, backend, route, request, reply)
        }
    };
    state.has_removed_breakpoint = route.name == "z";
    // The file changed after it was opened: the answer may be wrong, and is not sent.
    let answered = match state.session.changed_file().filter(|_| route.needs_files) {
        Some(name) => {
            let words = format!("{name} changed while it was open; start lanescope again");
            Err(PacketError::new(IO, words))
        }
        None => answered,
    };
    answered.unwrap_or_else(|fault| {
        log::debug!("{}: {}", route.name, fault.words);
        refuse(state, route, &fault, reply);
        Flow::Continue
    })
}

/// Passes a packet to gdbstub.
fn forward(
    state: &mut State,
    backend: &mut Backend,
    route: &Route,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Handled {
    let (body, thread) = match route.answer {
        Answer::GdbstubOnThread | Answer::Reviewed(_) => (request.body, Some(state.general)),
        _ => (request.body, None),
    };
    // gdbstub rejects a list of offers that it cannot parse, and does not use the client's list.
    let body = if route.name == "qSupported" { b"qSupported:multiprocess+" } else { body };
    let (output, flow) = backend.ask(state, body, thread).unwrap_or_else(|error| {
        log::debug!("gdbstub failed at {}: {error}", route.name);
        (b"$E16#".to_vec(), Flow::Continue)
    });
    let mut packets = backend::packets(&output).peekable();
    while let Some(packet) = packets.next() {
        reply.packet(packet, packets.peek().is_none());
    }
    if let Answer::Reviewed(review) = route.answer {
        review(state, request, reply)?;
    }
    Ok(flow)
}

/// Writes an error in the form that this client understands.
fn refuse(state: &State, route: &Route, fault: &PacketError, reply: &mut Reply<'_>) {
    reply.take_back();
    let lldb = state.facade().is_lldb();
    // `m` and `x` answer with data: gdb reads `E.` there as bad data, whatever it offered.
    let offered = state.features.error_message && !matches!(route.name, "m" | "x");
    if lldb && state.features.error_strings {
        reply.text("E").hex(&[fault.code]).text(";").hex(fault.words.as_bytes());
    } else if !lldb && (route.words || offered) {
        // These four characters belong to the framing, and errors have no escaping.
        reply.text("E.").text(&fault.words.replace(['#', '$', '}', '*'], "?"));
    } else {
        reply.text("E").hex(&[fault.code]);
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
