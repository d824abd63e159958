//! Packets that only LLDB sends.

use serde_json::json;

use super::super::Flow;
use super::super::error::PacketError;
use super::super::facade::Facade;
use super::super::front::escape::unescape;
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::code;
use super::memory::place_at;
use crate::arch::SpaceScope;
use crate::session::Region;
use crate::session::address::{Token, WINDOW, decode};

/// `QListThreadsInStopReply`
pub(crate) fn list_threads(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    state.features.list_threads = true;
    reply.text("OK");
    Ok(Flow::Continue)
}

/// `QEnableErrorStrings`: errors have text from here on.
pub(crate) fn error_strings(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    state.features.error_strings = true;
    reply.text("OK");
    Ok(Flow::Continue)
}

/// `qEcho:TEXT`: LLDB resynchronizes with the stream by the packet's echo.
pub(crate) fn echo(_: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    reply.escaped(&unescape(request.body));
    Ok(Flow::Continue)
}

/// `qMemoryRegionInfo:ADDRESS`: regions follow each other over the whole 64-bit space, with gaps among them.
pub(crate) fn memory_region(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let address = parse::number(request.args).ok_or(PacketError::malformed("not an address"))?;
    let region = region(state, address);
    // LLDB reads the address 2^64-1 as the end of all regions: the last byte belongs to none.
    let end = region.last.saturating_add(1);
    let size = end.saturating_sub(region.start).max(1);
    reply.text("start:").number(region.start).text(";size:").number(size).text(";permissions:");
    // The same rule as for `m`: code is not readable.
    if region.readable && !(region.code && state.facade() == Facade::Lldb) {
        reply.text("r");
    }
    if region.code {
        reply.text("x");
    }
    reply.text(";");
    if let Some(name) = region.name {
        reply.text("name:").hex(name.as_bytes()).text(";");
    }
    Ok(Flow::Continue)
}

/// The region of an address; the session does not know the view's windows.
fn region(state: &State, address: u64) -> Region {
    let start = WINDOW << 56;
    if address >> 56 == WINDOW && state.view().is_some() {
        let (last, name) = (start | ((1 << 56) - 1), Some("variables of frames".to_owned()));
        return Region { start, last, readable: true, code: false, name };
    }
    let mut region = state.session.region(address, state.general.wave);
    if state.facade() == Facade::Lldb && matches!(decode(address), Token::Plain(_)) {
        let run = code::run(state, address);
        region.code = run.is_code && region.readable;
        (region.start, region.last) = (run.start, run.last);
    }
    if state.view().is_some() {
        let after = start + (1 << 56);
        if address < start {
            region.last = region.last.min(start - 1);
        } else {
            region.start = region.start.max(after);
        }
        // Permissions and reads use the same source.
        region.readable &= place_at(state, region.start, state.general).is_ok();
        region.code &= region.readable;
    }
    region
}

/// `jAddressSpacesInfo`: the spaces of `;address_space:N;`, by their DWARF numbers.
pub(crate) fn address_spaces(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let kind = state.session.kind();
    let spaces = kind.target.spaces.iter().map(|space| {
        json!({
            "name": space.name,
            "space_id": space.id.0,
            "is_thread_specific": !matches!(space.scope, SpaceScope::Global | SpaceScope::Agent),
        })
    });
    let spaces = spaces.collect::<serde_json::Value>();
    reply.escaped(spaces.to_string().as_bytes());
    Ok(Flow::Continue)
}
