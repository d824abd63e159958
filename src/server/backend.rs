//! gdbstub behind the front: its state machine, which gets one packet at a time through a connection in memory.
//!
//! gdbstub answers breakpoints, `target.xml`, the memory map, libraries, host info and `monitor`. It sees no packet
//! that makes it end the session. A failure costs an error reply and a new machine.

use std::convert::Infallible;

use gdbstub::conn::Connection;
use gdbstub::stub::GdbStubBuilder;
use gdbstub::stub::state_machine::GdbStubStateMachine;

use super::front::frame::checksum;
use super::state::State;
use super::threads::Thread;

/// Size of gdbstub's packet buffer, which also bounds its pieces of `qXfer`. A larger buffer is slower: gdbstub scans
/// all of it for a stale `#` with every packet.
const BUFFER: usize = 0x4000;

/// The buffer for gdbstub's replies.
#[derive(Debug, Default)]
pub(super) struct Sink(Vec<u8>);

impl Connection for Sink {
    type Error = Infallible;

    fn write(&mut self, byte: u8) -> Result<(), Infallible> {
        self.0.push(byte);
        Ok(())
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

type Machine = GdbStubStateMachine<'static, State, Sink>;

/// The result of a packet in gdbstub.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The bytes of the answer: packets, with acknowledgements between them.
    Answered(Vec<u8>),
    /// An answer that ends the session.
    Ended(Vec<u8>),
    /// A failure.
    Failed(String),
}

/// gdbstub's machine for one client.
#[derive(Default)]
pub(super) struct Backend {
    machine: Option<Machine>,
    /// The thread of the machine's last `Hg`.
    on: Option<Thread>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend").field("on", &self.on).finish_non_exhaustive()
    }
}

impl Backend {
    /// Passes a packet to gdbstub, with the packet's thread selected if it names one.
    pub(super) fn ask(&mut self, state: &mut State, body: &[u8], thread: Option<Thread>) -> Outcome {
        if let Some(thread) = thread.filter(|thread| self.on != Some(*thread)) {
            let select = format!("Hg{:x}", state.number(thread));
            match self.feed(state, select.as_bytes()) {
                Outcome::Answered(_) => self.on = Some(thread),
                other => return other,
            }
        }
        let outcome = self.feed(state, body);
        // The buffer grows with the packet and keeps its size.
        if body.len() > BUFFER {
            self.reset();
        }
        outcome
    }

    /// Builds a new machine for the next packet.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    fn feed(&mut self, state: &mut State, body: &[u8]) -> Outcome {
        let mut machine = match self.machine.take() {
            Some(machine) => machine,
            None => match build(state) {
                Ok(machine) => machine,
                Err(words) => return Outcome::Failed(words),
            },
        };
        let sum = format!("#{:02x}", checksum(body));
        for byte in b"$".iter().chain(body).chain(sum.as_bytes()) {
            let GdbStubStateMachine::Idle(idle) = machine else {
                self.reset();
                return Outcome::Failed("left the stopped state".to_owned());
            };
            machine = match idle.incoming_data(state, *byte) {
                Ok(machine) => machine,
                Err(error) => {
                    self.reset();
                    return Outcome::Failed(error.to_string());
                }
            };
        }
        match machine {
            GdbStubStateMachine::Idle(mut idle) => {
                let answer = std::mem::take(&mut idle.borrow_conn().0);
                self.machine = Some(idle.into());
                Outcome::Answered(answer)
            }
            GdbStubStateMachine::Disconnected(mut gone) => {
                let answer = std::mem::take(&mut gone.borrow_conn().0);
                self.reset();
                Outcome::Ended(answer)
            }
            GdbStubStateMachine::Running(_) | GdbStubStateMachine::CtrlCInterrupt(_) => {
                self.reset();
                Outcome::Failed("left the stopped state".to_owned())
            }
        }
    }
}

fn build(state: &mut State) -> Result<Machine, String> {
    let stub = GdbStubBuilder::new(Sink::default()).packet_buffer_size(BUFFER).build();
    let stub = stub.map_err(|error| error.to_string())?;
    stub.run_state_machine(state).map_err(|error| error.to_string())
}

/// The bodies of the packets in gdbstub's output.
pub(super) fn packets(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = output;
    std::iter::from_fn(move || {
        let start = rest.iter().position(|byte| *byte == b'$')?;
        let after = rest.get(start + 1..)?;
        let end = after.iter().position(|byte| *byte == b'#')?;
        rest = after.get(end + 3..).unwrap_or_default();
        after.get(..end)
    })
}

#[cfg(test)]
#[path = "backend_tests.rs"]
mod tests;
