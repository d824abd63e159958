//! `qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH` for the objects that gdbstub lacks: the list of threads, and ours.

use std::sync::Arc;

use serde::Serialize;

use super::super::Flow;
use super::super::error::{NOT_THERE, PacketError, TOO_MANY};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::documents::{self, MAX_DOCUMENT, Piece, slice};
use super::{libraries, threads_xml};

/// `qXfer:threads:read::OFFSET,LENGTH`
pub(crate) fn threads(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
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
pub(crate) fn exec_file(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let transfer = Transfer::parse(request.args)?;
    let name = libraries::program(state).ok_or(PacketError::new(NOT_THERE, "there is no view"))?;
    transfer.answer(name.as_bytes(), reply)
}

/// `qXfer:libraries-svr4:read::OFFSET,LENGTH`
pub(crate) fn libraries_svr4(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let transfer = Transfer::parse(request.args)?;
    let list = libraries::build_svr4(state)?;
    let piece = transfer.piece(&list)?;
    reply.text(if piece.more { "m" } else { "l" }).escaped(piece.bytes);
    state.stub_was_listed |= !piece.more;
    Ok(Flow::Continue)
}

/// One of our own objects. Its beginning builds it, and it is kept until another one is read: all its pieces are of one
/// state.
pub(super) fn own(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
    build: impl FnOnce(&State, &[u8]) -> Result<Vec<u8>, PacketError>,
) -> Handled {
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

    fn answer(&self, document: &[u8], reply: &mut Reply<'_>) -> Handled {
        let piece = self.piece(document)?;
        reply.text(if piece.more { "m" } else { "l" }).escaped(piece.bytes);
        Ok(Flow::Continue)
    }
}

/// An answer as one of our documents.
pub(super) fn document(answer: Result<impl Serialize, PacketError>) -> Result<Vec<u8>, PacketError> {
    let most = MAX_DOCUMENT >> 20;
    let too_large = || format!("the document has more than {most} MiB: ask for fewer lanes or waves");
    documents::json(&answer?, MAX_DOCUMENT).ok_or_else(|| PacketError::new(TOO_MANY, too_large()))
}

/// `E00`, the protocol's error for an annex that does not exist.
pub(super) fn no_such_annex() -> PacketError {
    PacketError::new(0, "no such annex")
}
