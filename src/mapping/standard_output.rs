//! Standard output as a file.
//!
//! Situation: a caller starts the program with a closed standard output (`>&-`). Consequence: Rust's runtime opens
//! /dev/null there before `main` (`sanitize_standard_fds` of std's `sys/pal/unix`), and every write succeeds. A function
//! of `.init_array` runs before the runtime (System V ABI, "Initialization and Termination Functions"). std also takes
//! EBADF of its own standard output for success, so that a descriptor without write access loses all bytes.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether it was closed at the start of the process.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
#[used]
// SAFETY: the section holds pointers to functions of this type; this one needs nothing of the runtime.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = {
    extern "C" fn look() {
        use nix::libc;
        // SAFETY: F_GETFD reads the flags of a descriptor, and reports a closed one as an error.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }
    look
};

/// Standard output without a buffer, and with all errors of writing.
///
/// # Errors
/// It was closed at the start of the process. Other errors of the operating system.
pub(crate) fn standard_output() -> io::Result<File> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("cannot write to the standard output: it is closed"));
    }
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}
