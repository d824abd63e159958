//! `qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH` for the objects that gdbstub lacks: the list of threads, and ours.

use std::sync::Arc;

use serde::Serialize;

use super::super::Flow;
use super::super::error::{NOT_THERE, PacketError, TOO_MANY};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::super::threads::Thread;
use super::documents::{self, MAX_DOCUMENT, Piece, slice};
use super::{libraries, threads_xml, vendor};

/// `qXfer:threads:read::OFFSET,LENGTH`
pub(crate) fn threads(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let transfer = Transfer::parse(request.args)?;
    transfer.no_annex()?;
    if state.is_gone {
        return transfer.answer(b"<threads></threads>", reply);
    }
    state.selection.listed();
    let xml = match state.documents.threads.get() {
        Some(xml) => xml,
        None => {
            let xml = threads_xml::build(state)?;
            state.documents.threads.get_or_init(|| xml)
        }
    };
    transfer.answer(xml, reply)
}

/// `qXfer:exec-file:read:PID:OFFSET,LENGTH`: the main view, under a name that `vFile` knows.
pub(crate) fn exec_file(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let transfer = Transfer::parse(request.args)?;
    let name = libraries::program(state).ok_or(PacketError::new(NOT_THERE, "there is no view"))?;
    transfer.answer(name.as_bytes(), reply)
}

/// `qXfer:libraries-svr4:read::OFFSET,LENGTH`
pub(crate) fn libraries_svr4(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let transfer = Transfer::parse(request.args)?;
    let list = libraries::build_svr4(state)?;
    let piece = transfer.piece(&list)?;
    reply.text(if piece.more { "m" } else { "l" }).escaped(piece.bytes);
    state.stub_was_listed |= !piece.more;
    Ok(Flow::Continue)
}

/// `qXfer:lanescope-waves:read::OFFSET,LENGTH`
pub(crate) fn waves(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    own(state, request, reply, |state, annex| {
        if annex.is_empty() { document(vendor::waves_json(state, b"")) } else { Err(no_such_annex()) }
    })
}

/// `qXfer:lanescope-lanes:read:THREAD:OFFSET,LENGTH`
pub(crate) fn lanes(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    own(state, request, reply, |state, annex| {
        let thread = named(state, annex)?;
        document(vendor::lanes_json(state, thread))
    })
}

/// `qXfer:lanescope-locals:read:THREAD[.LANE[.FRAME]]:OFFSET,LENGTH`; `LANE` is a number, `all` or empty.
pub(crate) fn locals(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    own(state, request, reply, |state, annex| {
        let (thread, lane) = parse::split(annex, b'.');
        let (lane, frame) = lane.map_or((None, None), |lane| {
            let (lane, frame) = parse::split(lane, b'.');
            (Some(lane), frame)
        });
        let thread = named(state, thread)?;
        document(vendor::locals_json(state, thread, lane, frame))
    })
}

/// `qXfer:lanescope-groups:read:[lanes][.BY]:OFFSET,LENGTH`; `BY` is `function`, `line` or `pc`.
pub(crate) fn groups(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    own(state, request, reply, |state, annex| {
        let (of, by) = parse::split(annex, b'.');
        match of {
            b"" => document(super::groups::answer(state, false, by)),
            b"lanes" => document(super::groups::answer(state, true, by)),
            _ => Err(no_such_annex()),
        }
    })
}

/// `qXfer:lanescope-frames:read:THREAD[.LANE]:OFFSET,LENGTH`; `LANE` is a number, `all` or `active`.
pub(crate) fn frames(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    own(state, request, reply, |state, annex| {
        let (thread, lane) = parse::split(annex, b'.');
        let thread = named(state, thread)?;
        document(vendor::frames_json(state, thread, lane, None))
    })
}

/// `qXfer:lanescope-print:read:THREAD.LANE.FRAME.PATH[.LETTER]:OFFSET,LENGTH`; `PATH` in hex, the others may be empty.
pub(crate) fn print(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    own(state, request, reply, |state, annex| {
        let mut parts = annex.split(|byte| *byte == b'.');
        let thread = named(state, parts.next().unwrap_or_default())?;
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let (lane, frame, path, letter) = (next(), next(), next(), next());
        document(super::print::answer(state, thread, lane, frame, path, letter))
    })
}

/// `qXfer:lanescope-code-objects:read::OFFSET,LENGTH`
pub(crate) fn code_objects(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    own(state, request, reply, |state, annex| {
        if annex.is_empty() { document(Ok(vendor::code_objects_json(state))) } else { Err(no_such_annex()) }
    })
}

/// The thread of an annex; the selected one if it is empty.
fn named(state: &State, annex: &[u8]) -> Result<Thread, PacketError> {
    let named = if annex.is_empty() { None } else { state.named(annex)? };
    Ok(named.unwrap_or(state.selected()))
}

/// One of our own objects. It is built when it is read from its beginning and kept until another one is read, so that
/// all its pieces are of one state.
fn own(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
    build: impl FnOnce(&State, &[u8]) -> Result<Vec<u8>, PacketError>,
) -> Result<Flow, PacketError> {
    let transfer = Transfer::parse(request.args)?;
    let end = request.body.len() - request.args.len() + transfer.annex.len();
    let key = String::from_utf8_lossy(request.body.get(..end).unwrap_or_default()).into_owned();
    let kept = state.documents.own.as_ref().filter(|(of, _)| *of == key && transfer.offset > 0);
    let json = match kept {
        Some((_, json)) => Arc::clone(json),
        None => {
            // The previous object is dropped first.
            state.documents.own = None;
            let json: Arc<[u8]> = build(state, transfer.annex)?.into();
            state.documents.own = Some((key, Arc::clone(&json)));
            json
        }
    };
    transfer.answer(&json, reply)
}

/// The parts of a request.
struct Transfer<'a> {
    annex: &'a [u8],
    offset: u64,
    length: u64,
}

impl<'a> Transfer<'a> {
    /// `ANNEX:OFFSET,LENGTH`
    fn parse(args: &'a [u8]) -> Result<Self, PacketError> {
        let (annex, range) = parse::split(args, b':');
        let range = range.and_then(parse::range);
        let (offset, length) = range.ok_or(PacketError::malformed("not ANNEX:OFFSET,LENGTH"))?;
        Ok(Self { annex, offset, length })
    }

    fn no_annex(&self) -> Result<(), PacketError> {
        if self.annex.is_empty() { Ok(()) } else { Err(no_such_annex()) }
    }

    fn piece<'d>(&self, document: &'d [u8]) -> Result<Piece<'d>, PacketError> {
        slice(document, self.offset, self.length)
    }

    fn answer(&self, document: &[u8], reply: &mut Reply<'_>) -> Result<Flow, PacketError> {
        let piece = self.piece(document)?;
        reply.text(if piece.more { "m" } else { "l" }).escaped(piece.bytes);
        Ok(Flow::Continue)
    }
}

/// An answer as one of our documents.
fn document(answer: Result<impl Serialize, PacketError>) -> Result<Vec<u8>, PacketError> {
    let most = MAX_DOCUMENT >> 20;
    let too_large = || format!("the document has more than {most} MiB: ask for fewer lanes or waves");
    documents::json(&answer?, MAX_DOCUMENT).ok_or_else(|| PacketError::new(TOO_MANY, too_large()))
}

/// `E00`, the protocol's error for an annex that does not exist.
fn no_such_annex() -> PacketError {
    PacketError::new(0, "no such annex")
}
