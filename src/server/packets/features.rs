//! `qSupported`: the features of both sides.

use super::super::PACKET_SIZE;
use super::super::error::PacketError;
use super::super::facade::Facade;
use super::super::front::reply::Reply;
use super::super::front::router::{self, Request};
use super::super::state::State;

/// The front's features beyond gdbstub's list. Our own packets come from the router's table.
const OWN: &[&str] = &["QStartNoAckMode+", "qXfer:threads:read+", "binary-upload+", "error-message+"];

/// The further features for LLDB.
const LLDB: &[&str] = &["QThreadSuffixSupported+", "QListThreadsInStopReply+", "address-spaces+"];

/// Records the client's offers, and replaces gdbstub's list by ours.
pub(crate) fn extend(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), PacketError> {
    let mut offers = request.args.split(|byte| *byte == b';');
    state.features.error_message = offers.any(|offer| offer == b"error-message+");
    let theirs = String::from_utf8_lossy(reply.body()).into_owned();
    reply.clear();
    reply.text("PacketSize=").number(PACKET_SIZE as u64);
    for feature in theirs.split(';').filter(|feature| keeps(state, feature)) {
        reply.text(";").text(feature);
    }
    let theirs = if state.facade().is_lldb() { LLDB } else { &[] };
    let has_view = state.view().is_some_and(|view| view.main().is_some());
    let view: &[&str] = match state.facade() {
        Facade::Gdb if has_view => &["qXfer:exec-file:read+"],
        Facade::Lldb if has_view => &["qXfer:libraries-svr4:read+"],
        _ => &[],
    };
    for feature in OWN.iter().chain(theirs).chain(view) {
        reply.text(";").text(feature);
    }
    let is_ours = |name: &str| name.starts_with("qXfer:lanescope-") || name.starts_with("qlanescope.");
    for (packet, _) in router::table().filter(|(name, _)| is_ours(name)) {
        reply.text(";").text(packet).text("+");
    }
    Ok(())
}

/// Whether the reply keeps a feature of gdbstub's list.
///
/// Not `multiprocess`: the session has one process, and without it gdb numbers waves `4` instead of `1.4`. Not the
/// libraries for a client that cannot load them: see [`super::libraries`].
fn keeps(state: &State, feature: &str) -> bool {
    match feature {
        "multiprocess+" => false,
        "qXfer:libraries:read+" => super::libraries::wanted(state),
        feature => !feature.is_empty() && !feature.starts_with("PacketSize="),
    }
}
