//! SIGINT, SIGTERM, SIGHUP and SIGQUIT as something to wait for.
//!
//! A handler can do next to nothing, and a flag would not end a wait. Blocked and read from a descriptor, a signal is
//! one more thing that `poll` reports; or a thread of its own waits for it ([`before_the_end`]). Only Linux has such
//! descriptors; elsewhere the signals keep ending the process at once, which loses nothing but the removal of a unix socket, of
//! the folder of views and of a dump that is half written.

use std::io;
use std::os::fd::BorrowedFd;

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};

    use nix::sys::signal::{SigSet, Signal, raise};
    use nix::sys::signalfd::{SfdFlags, SignalFd};

    #[derive(Debug)]
    pub(super) struct Blocked {
        fd: SignalFd,
        mask: SigSet,
    }

    impl Blocked {
        pub(super) fn new() -> io::Result<Self> {
            let mask = mask();
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

    /// Those of the signals that the process does not ignore.
    fn mask() -> SigSet {
        let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
        // Blocking a signal cancels that it is ignored: under `nohup` the end of a terminal must change nothing.
        let ignored = ignored();
        all.into_iter().filter(|signal| ignored >> (*signal as i32 - 1) & 1 == 0).collect()
    }

    pub(super) fn before_the_end(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mask = mask();
        // Threads that are started from here on have them blocked as well, so that they come to the one that waits.
        mask.thread_block()?;
        let wait = move || {
            let signal = mask.wait();
            act();
            // As if nobody had waited: who started the process sees which signal ended it.
            if let (Ok(signal), Ok(())) = (signal, mask.thread_unblock()) {
                let _ = raise(signal);
            }
            std::process::exit(1);
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
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
pub(crate) struct Signals {
    #[cfg(target_os = "linux")]
    blocked: system::Blocked,
}

impl Signals {
    /// Blocks them.
    pub(crate) fn block() -> io::Result<Self> {
        Ok(Self {
            #[cfg(target_os = "linux")]
            blocked: system::Blocked::new()?,
        })
    }

    /// Takes the signals that have come; whether one other than SIGINT, which a debugger's user sends to the debugger, is
    /// among them.
    pub(crate) fn terminated(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.blocked.terminated();
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    /// Readable when one has come.
    pub(crate) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        #[cfg(target_os = "linux")]
        return Some(self.blocked.as_fd());
        #[cfg(not(target_os = "linux"))]
        return None;
    }
}

/// Has `act` done when one of the signals comes, and then lets it end the process. For this thread and those that it starts
/// later; to be called once.
pub(crate) fn before_the_end(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return system::before_the_end(act);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = act;
        Ok(())
    }
}
