//! Waiting for SIGINT, SIGTERM, SIGHUP and SIGQUIT.
//!
//! A handler can do little, and a flag does not end a wait. So the signals are blocked and read from a descriptor that
//! `poll` reports, or by a separate thread ([`before_the_end`]). Only Linux has such descriptors. On other systems the
//! signals end the process at once, which leaves behind a unix socket, the folder of views or a partial dump.

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

    /// The signals that the process does not ignore.
    fn mask() -> SigSet {
        let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
        // A blocked signal is no longer ignored: under `nohup` the end of a terminal must change nothing.
        let ignored = ignored();
        all.into_iter().filter(|signal| ignored >> (*signal as i32 - 1) & 1 == 0).collect()
    }

    pub(super) fn before_the_end(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mask = mask();
        // Threads started later inherit the mask, so the signals go to the waiting thread.
        mask.thread_block()?;
        let wait = move || {
            let signal = mask.wait();
            act();
            // The signal ends the process as usual: the parent process sees which one.
            if let (Ok(signal), Ok(())) = (signal, mask.thread_unblock()) {
                let _ = raise(signal);
            }
            std::process::exit(1);
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
    }

    /// The ignored signals of the process, signal 1 in the lowest bit: proc(5), `SigIgn`.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
    }

    impl Drop for Blocked {
        fn drop(&mut self) {
            // Consumes the signal that ended the server; otherwise unblocking it would kill the process.
            self.terminated();
            if let Err(error) = self.mask.thread_unblock() {
                log::debug!("cannot unblock signals: {error}");
            }
        }
    }
}

/// Blocks the signals in this thread and those that it starts, until it is dropped.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(target_os = "linux")]
    blocked: system::Blocked,
}

impl Signals {
    /// Blocks the signals.
    pub(crate) fn block() -> io::Result<Self> {
        Ok(Self {
            #[cfg(target_os = "linux")]
            blocked: system::Blocked::new()?,
        })
    }

    /// Consumes pending signals; returns whether one is not SIGINT, which a debugger's user sends to the debugger.
    pub(crate) fn terminated(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.blocked.terminated();
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    /// A descriptor that is readable while a signal is pending.
    pub(crate) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        #[cfg(target_os = "linux")]
        return Some(self.blocked.as_fd());
        #[cfg(not(target_os = "linux"))]
        return None;
    }
}

/// Runs `act` when one of the signals arrives, then lets it end the process. Covers this thread and those that it
/// starts later; call it once.
pub(crate) fn before_the_end(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return system::before_the_end(act);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = act;
        Ok(())
    }
}

/// Ends all processes of a group by SIGKILL. `leader`: the number of its first process.
pub(crate) fn end_group(leader: u32) {
    use nix::sys::signal::{Signal, killpg};
    // A number of no process is not sent: 0 is the own group.
    if let Some(group) = i32::try_from(leader).ok().filter(|group| *group > 1) {
        let _ = killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL);
    }
}
