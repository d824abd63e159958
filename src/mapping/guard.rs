//! SIGBUS handler: a fault in a mapped file invalidates the mapping and spares the process.
//!
//! Situation: a file shrinks, or its disk fails, while its pages are mapped. Consequence: the next access to such a
//! page raises SIGBUS, whose default action ends the process (mmap(2), "Errors"). The handler replaces the rest of the
//! mapping by pages of zeros and marks the mapping. The read then returns zeros, and the mark invalidates its result.
//!
//! The handler uses only async-signal-safe operations (signal-safety(7)): it reads a fixed table of atomics and calls
//! `mmap`, a plain system call. A SIGBUS outside of the table goes to the previous handler.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nix::errno::Errno;
use nix::libc::{self, c_int, c_void, siginfo_t};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// Maximum number of guarded mappings; further ranges are copied.
const PLACES: usize = 256;

/// The address range of a mapping, whole pages; free where `end` is 0.
struct Entry {
    is_taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    is_torn: AtomicBool,
}

impl Entry {
    const fn free() -> Self {
        Self {
            is_taken: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            is_torn: AtomicBool::new(false),
        }
    }

    fn holds(&self, address: usize) -> bool {
        // `end` is written last and cleared first.
        let end = self.end.load(Ordering::Acquire);
        address < end && self.start.load(Ordering::Acquire) <= address
    }
}

static TABLE: [Entry; PLACES] = [const { Entry::free() }; PLACES];

/// The previous action for SIGBUS; an error number if the handler could not be installed.
static BEFORE: OnceLock<Result<SigAction, Errno>> = OnceLock::new();

/// Bytes of a page.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// Index of a mapping's entry in the table.
#[derive(Debug)]
pub(super) struct TableIndex(usize);

impl TableIndex {
    fn entry(&self) -> Option<&'static Entry> {
        TABLE.get(self.0)
    }

    /// Whether the mapping contains an address.
    pub(super) fn holds(&self, address: usize) -> bool {
        self.entry().is_some_and(|entry| entry.holds(address))
    }

    /// Whether pages of it were replaced.
    pub(super) fn is_torn(&self) -> bool {
        self.entry().is_some_and(|entry| entry.is_torn.load(Ordering::Acquire))
    }

    /// Frees the entry before the mapping is removed.
    pub(super) fn release(&self) {
        if let Some(entry) = self.entry() {
            entry.end.store(0, Ordering::Release);
            entry.is_taken.store(false, Ordering::Release);
        }
    }
}

/// Protects a mapping until its entry is released; `None` if the table is full.
pub(super) fn protect(pages: &[u8]) -> io::Result<Option<TableIndex>> {
    install()?;
    let free = |entry: &Entry| {
        entry.is_taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    let Some((index, entry)) = TABLE.iter().enumerate().find(|(_, entry)| free(entry)) else {
        return Ok(None);
    };
    let page = PAGE.load(Ordering::Relaxed);
    let start = pages.as_ptr().addr();
    entry.is_torn.store(false, Ordering::Relaxed);
    entry.start.store(start - start % page, Ordering::Release);
    entry.end.store(start.saturating_add(pages.len()).next_multiple_of(page), Ordering::Release);
    Ok(Some(TableIndex(index)))
}

fn install() -> io::Result<()> {
    let before = BEFORE.get_or_init(|| {
        // SAFETY: sysconf reads a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        PAGE.store(usize::try_from(page).unwrap_or(4096), Ordering::Relaxed);
        // On the alternative stack, like the standard library's handlers.
        let flags = SaFlags::SA_SIGINFO | SaFlags::SA_ONSTACK;
        let action = SigAction::new(SigHandler::SigAction(on_bus_error), flags, SigSet::empty());
        // SAFETY: the handler is async-signal-safe, see there.
        unsafe { sigaction(Signal::SIGBUS, &action) }
    });
    before.map(drop).map_err(io::Error::from)
}

/// Replaces the missing pages of a mapped file by zeros.
extern "C" fn on_bus_error(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let errno = Errno::last_raw();
    // SAFETY: with SA_SIGINFO the kernel passes a siginfo_t. Its address is valid for a SIGBUS raised by the kernel,
    // which a positive code indicates (sigaction(2)).
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code > 0 && replace(address) {
        Errno::set_raw(errno);
        return;
    }
    // The previous action handles other faults. A fault repeats at once; a signal sent by a process is sent again.
    if let Some(Ok(before)) = BEFORE.get() {
        // SAFETY: the action was in force before, and both calls are async-signal-safe.
        unsafe {
            let _ = sigaction(Signal::SIGBUS, before);
            if code <= 0 {
                libc::raise(libc::SIGBUS);
            }
        }
    } else {
        // SAFETY: as above. The previous action is not recorded yet, so it is the default.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }
    Errno::set_raw(errno);
}

/// Replaces a mapping from the page of an address on; false if no mapping contains the address.
fn replace(address: usize) -> bool {
    let Some(entry) = TABLE.iter().find(|entry| entry.holds(address)) else { return false };
    let page = PAGE.load(Ordering::Relaxed);
    let start = address - address % page;
    let length = entry.end.load(Ordering::Acquire).saturating_sub(start);
    entry.is_torn.store(true, Ordering::Release);
    // SAFETY: the range is part of a live mapping of this process: the faulting read borrows it. The new pages are
    // readable like the old ones, and unmapping the whole range unmaps them too.
    let zeros = unsafe {
        libc::mmap(
            std::ptr::without_provenance_mut(start),
            length,
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    zeros != libc::MAP_FAILED
}
