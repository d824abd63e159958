//! The routes of packets: one table with every packet of the server.
//!
//! The table is searched by exact names: gdbstub's search by prefix confuses `qCRC` with `qC`. A packet outside of the
//! table gets the empty reply, "not supported" for every client.

use std::sync::LazyLock;

use super::super::packets::{
    features, focus, handshake, libraries, lldb, memory, process, registers, resume, stop, target_xml,
    threads, vendor, vfile, xfer,
};
use super::super::state::State;
use super::super::{Flow, error::PacketError};
use super::frame::digit;
use super::reply::Reply;
use crate::questions::{QUESTIONS, Question};

/// One packet for a handler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The whole packet.
    pub(crate) body: &'a [u8],
    /// The text after its name and one separator.
    pub(crate) args: &'a [u8],
}

/// Answers a packet.
pub(crate) type Handler = fn(&mut State, Request<'_>, &mut Reply<'_>) -> Handled;
/// The state of the connection after an answer, or an error.
pub(crate) type Handled = Result<Flow, PacketError>;
/// Reviews gdbstub's answer.
pub(crate) type Review = fn(&mut State, Request<'_>, &mut Reply<'_>) -> Result<(), PacketError>;

/// The component that answers a packet.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// This server.
    Own(Handler),
    /// A row of the table of questions.
    Question(&'static Question),
    /// The same as an object; the names are the parameters in the annex.
    Document(&'static Question, &'static [&'static str]),
    /// gdbstub.
    Gdbstub,
    /// gdbstub, after an `Hg` for the packet's thread.
    GdbstubOnThread,
    /// gdbstub, on the packet's thread; its answer is reviewed.
    Reviewed(Review),
}

/// One row.
pub(crate) struct Route {
    /// The packet's exact name.
    pub(crate) name: &'static str,
    /// The component that answers it.
    pub(crate) answer: Answer,
    /// Whether the answer may depend on files that are read on demand: captured bytes, code objects and their debug
    /// information.
    pub(crate) needs_files: bool,
    /// Whether gdb prints `E.words` in reply to it even without the feature in its offer (measured with 13.1).
    pub(crate) words: bool,
}

const fn own(name: &'static str, handler: Handler) -> Route {
    Route { name, answer: Answer::Own(handler), needs_files: true, words: false }
}

const fn gdbstub(name: &'static str) -> Route {
    Route { name, answer: Answer::Gdbstub, needs_files: true, words: false }
}

const fn on_thread(name: &'static str) -> Route {
    Route { name, answer: Answer::GdbstubOnThread, needs_files: true, words: false }
}

const fn reviewed(name: &'static str, review: Review) -> Route {
    Route { name, answer: Answer::Reviewed(review), needs_files: true, words: false }
}

const fn worded(route: Route) -> Route {
    Route { words: true, ..route }
}

/// A packet whose answer depends only on the connection and on the lists of waves and registers.
const fn plain(route: Route) -> Route {
    Route { needs_files: false, ..route }
}

/// Every packet with a reply other than the empty one: the most frequent packets first, those of the table of questions
/// last.
pub(crate) static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let route = |name, answer| Route { name, answer, needs_files: true, words: false };
    let packet = |question: &'static Question| Some(route(question.packet?, Answer::Question(question)));
    let document = |question: &'static Question| {
        let document = question.document?;
        Some(route(document.packet, Answer::Document(question, document.annex)))
    };
    let questions = QUESTIONS.iter().filter_map(packet).chain(QUESTIONS.iter().filter_map(document));
    Vec::from(FIXED).into_iter().chain(questions).collect()
});

/// The packets outside the table of questions.
const FIXED: [Route; 59] = [
    // Memory, registers and threads: the frequent ones.
    own("m", memory::read_hex),
    own("x", memory::read_binary),
    own("p", registers::read_one),
    own("g", registers::read_short),
    plain(own("H", threads::select)),
    plain(own("T", threads::is_alive)),
    // Writes and breakpoints.
    worded(own("P", registers::write_one)),
    worded(own("G", registers::write_short)),
    own("M", memory::write_hex),
    own("X", memory::write_binary),
    on_thread("Z"),
    on_thread("z"),
    // Stops.
    own("?", stop::first),
    own("qThreadStopInfo", stop::of_thread),
    own("jThreadsInfo", stop::json),
    own("jThreadExtendedInfo", stop::extended),
    // Resuming.
    plain(own("vCont?", resume::actions)),
    worded(own("vCont", resume::refuse)),
    worded(own("c", resume::refuse)),
    worded(own("C", resume::refuse)),
    worded(own("s", resume::refuse)),
    worded(own("S", resume::refuse)),
    worded(own("b", resume::refuse)),
    // Threads.
    plain(own("qC", threads::current)),
    plain(own("qfThreadInfo", threads::first_page)),
    plain(own("qsThreadInfo", threads::next_page)),
    own("qXfer:threads:read", xfer::threads),
    on_thread("qThreadExtraInfo"),
    // Handshake and goodbye.
    plain(reviewed("qSupported", features::extend)),
    plain(own("QStartNoAckMode", handshake::stop_acks)),
    own("qTStatus", handshake::greet),
    plain(own("qSymbol", handshake::accept)),
    plain(gdbstub("qAttached")),
    plain(own("!", process::extend)),
    worded(own("vRun", process::run)),
    worded(own("vAttach", process::attach)),
    plain(own("D", process::detach)),
    plain(own("k", process::kill)),
    plain(own("vKill", process::kill_process)),
    // Descriptions.
    plain(gdbstub("qXfer:features:read")),
    gdbstub("qXfer:memory-map:read"),
    reviewed("qXfer:libraries:read", libraries::were_read),
    own("qXfer:exec-file:read", xfer::exec_file),
    own("qXfer:libraries-svr4:read", xfer::libraries_svr4),
    own("qOffsets", libraries::offsets),
    own("vFile", vfile::answer),
    plain(reviewed("qRegisterInfo", target_xml::was_rejected)),
    plain(gdbstub("qHostInfo")),
    plain(gdbstub("qProcessInfo")),
    // LLDB.
    plain(own("QThreadSuffixSupported", handshake::accept)),
    plain(own("QListThreadsInStopReply", lldb::list_threads)),
    plain(own("QEnableErrorStrings", lldb::error_strings)),
    plain(own("qEcho", lldb::echo)),
    own("qMemoryRegionInfo", lldb::memory_region),
    plain(own("jAddressSpacesInfo", lldb::address_spaces)),
    // The user's commands.
    on_thread("qRcmd"),
    // Our own.
    own("qlanescope.Version", vendor::version),
    own("qlanescope.Find", focus::find),
    plain(own("qlanescope.Selected", focus::selected)),
];

/// Every packet's name and the component that answers it, for docs/protocol.md.
pub(crate) fn table() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().map(|route| {
        let who = match route.answer {
            Answer::Own(_) | Answer::Question(_) | Answer::Document(..) => "own",
            Answer::Gdbstub | Answer::GdbstubOnThread => "gdbstub",
            Answer::Reviewed(_) => "gdbstub, reviewed",
        };
        (route.name, who)
    })
}

/// Packets with a number directly after their name.
const NUMBERED: [&str; 2] = ["qThreadStopInfo", "qRegisterInfo"];

/// The name of a packet and the text after it.
fn name_of(body: &[u8]) -> (&[u8], &[u8]) {
    let is_word = matches!(body.first(), Some(b'q' | b'Q' | b'v' | b'j'));
    if !is_word {
        return body.split_at(body.len().min(1));
    }
    let separator = |byte: &u8| matches!(byte, b':' | b',' | b';');
    let mut end = body.iter().position(separator).unwrap_or(body.len());
    if body.starts_with(b"qXfer:") {
        // The object and the direction belong to the name: qXfer:threads:read.
        let mut parts = body.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at);
        end = parts.nth(2).unwrap_or(body.len());
    }
    let (name, rest) = body.split_at(end);
    if let Some(known) = NUMBERED.iter().find(|known| name.starts_with(known.as_bytes())) {
        let (known, number) = name.split_at(known.len());
        if number.iter().all(|byte| digit(*byte).is_some()) {
            return (known, number);
        }
    }
    (name, rest.get(1..).unwrap_or_default())
}

/// The row of a packet, and the parts of the packet.
pub(crate) fn route(body: &[u8]) -> (Option<&'static Route>, Request<'_>) {
    let (name, args) = name_of(body);
    (ROUTES.iter().find(|route| route.name.as_bytes() == name), Request { body, args })
}

#[cfg(test)]
#[path = "router_tests.rs"]
mod tests;
