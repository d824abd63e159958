//! SIGINT, SIGTERM, SIGHUP and SIGQUIT as something to wait for.
//!
//! A handler can do next to nothing, and a flag would not end a wait. Blocked and read from a descriptor, a signal is
//! one more thing that `poll` reports. Only Linux has such descriptors; elsewhere the signals keep ending the process
//! at once, which loses nothing but the removal of a unix socket and of the folder of views.

use std::io;
use std::os::fd::BorrowedFd;

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};

    use nix::sys::signal::{SigSet, Signal};
    use nix::sys::signalfd::{SfdFlags, SignalFd};

    #[derive(Debug)]
    pub(super) struct Blocked {
        fd: SignalFd,
        mask: SigSet,
    }

    impl Blocked {
        pub(super) fn new() -> io::Result<Self> {
            let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
            // What is blocked is not ignored any more: under `nohup` the end of a terminal is to change nothing.
            let ignored = ignored();
            let mask: SigSet =
                all.into_iter().filter(|signal| ignored >> (*signal as i32 - 1) & 1 == 0).collect();
            let fd = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
            mask.thread_block()?;
            Ok(Self { fd, mask })
        }

        pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
            self.fd.as_fd()
        }

        pub(super) fn terminated(&self) -> bool {
            let mut terminated = false;
            while let Ok(Some(signal)) = self.fd.read_signal() {
                terminated |= i32::try_from(signal.ssi_signo) != Ok(Signal::SIGINT as i32);
            }
            terminated
        }
    }

    /// The signals that the process ignores, signal 1 in the lowest bit: proc(5), `SigIgn`.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
    }

    impl Drop for Blocked {
        fn drop(&mut self) {
            // Taken here, a signal that ended the server does not end the process as well once it is unblocked.
            self.terminated();
            if let Err(error) = self.mask.thread_unblock() {
                log::debug!("cannot unblock signals: {error}");
            }
        }
    }
}

/// The signals, blocked in this thread and those that it starts, as long as this lives.
#[derive(Debug)]
pub(super) struct Signals {
    #[cfg(target_os = "linux")]
    blocked: system::Blocked,
}

impl Signals {
    /// Blocks them.
    pub(super) fn block() -> io::Result<Self> {
        Ok(Self {
            #[cfg(target_os = "linux")]
            blocked: system::Blocked::new()?,
        })
    }

    /// Takes the signals that have come; whether one other than SIGINT, which a debugger's user sends to the debugger, is
    /// among them.
    pub(super) fn terminated(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.blocked.terminated();
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    /// Readable when one has come.
    pub(super) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        #[cfg(target_os = "linux")]
        return Some(self.blocked.as_fd());
        #[cfg(not(target_os = "linux"))]
        return None;
    }
}
