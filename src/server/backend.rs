//! gdbstub behind the front: its state machine, with one packet at a time through a connection in memory.
//!
//! gdbstub answers breakpoints, `target.xml`, the memory map, libraries, host info and `monitor`. It gets no packet
//! that would end the session. A failure costs an error reply and a new machine.

use std::convert::Infallible;

use gdbstub::conn::Connection;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{GdbStubBuilder, GdbStubBuilderError, GdbStubError};

use super::client::Flow;
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

/// The reason that gdbstub does not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum BackendError {
    /// Its setup fails.
    #[error(transparent)]
    Build(#[from] GdbStubBuilderError),
    /// It fails at the packet.
    #[error(transparent)]
    Packet(#[from] GdbStubError<Infallible, Infallible>),
    /// It treats the captured state as a running one.
    #[error("left the stopped state")]
    NotStopped,
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
    /// Passes a packet to gdbstub, after selection of the packet's thread if it names one. Returns the bytes of the
    /// answer: packets, with acknowledgements between them.
    ///
    /// # Errors
    /// gdbstub fails; the next packet gets a new machine.
    pub(super) fn ask(
        &mut self,
        state: &mut State,
        body: &[u8],
        thread: Option<Thread>,
    ) -> Result<(Vec<u8>, Flow), BackendError> {
        if let Some(thread) = thread.filter(|thread| self.on != Some(*thread)) {
            let select = format!("Hg{:x}", state.number(thread));
            let _ = self.feed(state, select.as_bytes())?;
            self.on = Some(thread);
        }
        let answer = self.feed(state, body);
        // The buffer grows with the packet and keeps its size.
        if body.len() > BUFFER {
            self.reset();
        }
        answer
    }

    /// Builds a new machine for the next packet.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    fn feed(&mut self, state: &mut State, body: &[u8]) -> Result<(Vec<u8>, Flow), BackendError> {
        // A failure drops the machine.
        let Self { machine, on } = std::mem::take(self);
        let new = || GdbStubBuilder::new(Sink::default()).packet_buffer_size(BUFFER).build();
        let mut machine = match machine {
            Some(machine) => machine,
            None => new()?.run_state_machine(state)?,
        };
        let sum = format!("#{:02x}", checksum(body));
        for byte in b"$".iter().chain(body).chain(sum.as_bytes()) {
            let GdbStubStateMachine::Idle(idle) = machine else { return Err(BackendError::NotStopped) };
            machine = idle.incoming_data(state, *byte)?;
        }
        match machine {
            GdbStubStateMachine::Idle(mut idle) => {
                let answer = std::mem::take(&mut idle.borrow_conn().0);
                *self = Self { machine: Some(idle.into()), on };
                Ok((answer, Flow::Continue))
            }
            GdbStubStateMachine::Disconnected(mut gone) => {
                Ok((std::mem::take(&mut gone.borrow_conn().0), Flow::Close))
            }
            GdbStubStateMachine::Running(_) | GdbStubStateMachine::CtrlCInterrupt(_) => {
                Err(BackendError::NotStopped)
            }
        }
    }
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
