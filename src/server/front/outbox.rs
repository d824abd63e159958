//! The sending side: acknowledgements, and copies of packets for a NAK.

use std::collections::VecDeque;

/// The packets that one client has not acknowledged yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Whether the client switched acknowledgements off.
    no_acks: bool,
    /// Sent packets without an acknowledgement, oldest first. One reply is several packets if text precedes it.
    pending: VecDeque<Vec<u8>>,
}

impl Outbox {
    /// Handles an intact packet of the client, which implies that it has every earlier reply.
    pub(crate) fn accept(&mut self, out: &mut Vec<u8>) {
        self.pending.clear();
        if !self.no_acks {
            out.push(b'+');
        }
    }

    /// Handles a damaged packet. Returns true if this requests a repetition, false if the packet needs an answer.
    pub(crate) fn refuse(&mut self, out: &mut Vec<u8>) -> bool {
        if !self.no_acks {
            out.push(b'-');
        }
        !self.no_acks
    }

    /// Whether sent packets must be kept.
    pub(crate) fn keeps(&self) -> bool {
        !self.no_acks
    }

    /// Keeps a sent packet.
    pub(crate) fn sent(&mut self, packet: &[u8]) {
        if !self.no_acks {
            self.pending.push_back(packet.to_vec());
        }
    }

    /// Drops the packets since the client's last one, before they are sent.
    pub(crate) fn take_back(&mut self) {
        self.pending.clear();
    }

    /// `+`.
    pub(crate) fn acked(&mut self) {
        self.pending.pop_front();
    }

    /// `-`.
    pub(crate) fn nacked(&mut self, out: &mut Vec<u8>) {
        match self.pending.front() {
            Some(packet) => out.extend_from_slice(packet),
            None => log::debug!("a NAK for nothing"),
        }
    }

    /// Ends acknowledgements; the client may still request the `OK` to this packet again.
    pub(crate) fn stop_acks(&mut self) {
        self.no_acks = true;
    }
}
