//! SIGBUS in a mapped file costs the mapping and not the process.
//!
//! Situation: a file shrinks, or its disk fails, while pages of it are mapped. Consequence: the next touch of such a page
//! raises SIGBUS, whose default action ends the process (mmap(2), "Errors"). The handler replaces the rest of the mapping by
//! pages of zeros and marks it; the read goes on and gives zeros, which the mark makes worthless.
//!
//! A handler may only use what is safe in one (signal-safety(7)): it reads a fixed table of atomics, and calls `mmap`, a
//! plain system call. A SIGBUS that is not about the table is left to the handler before this one.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nix::errno::Errno;
use nix::libc::{self, c_int, c_void, siginfo_t};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// The most mappings at a time: what is more is copied.
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
        // The end is written last and taken back first.
        let end = self.end.load(Ordering::Acquire);
        address < end && self.start.load(Ordering::Acquire) <= address
    }
}

static TABLE: [Entry; PLACES] = [const { Entry::free() }; PLACES];

/// The previous action for SIGBUS; an error number if the handler could not be installed.
static BEFORE: OnceLock<Result<SigAction, Errno>> = OnceLock::new();

/// Bytes of a page.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// A mapping's place in the table.
#[derive(Debug)]
pub(super) struct TableIndex(usize);

impl TableIndex {
    fn entry(&self) -> Option<&'static Entry> {
        TABLE.get(self.0)
    }

    /// Whether an address is in the mapping.
    pub(super) fn holds(&self, address: usize) -> bool {
        self.entry().is_some_and(|entry| entry.holds(address))
    }

    /// Whether pages of it were replaced.
    pub(super) fn is_torn(&self) -> bool {
        self.entry().is_some_and(|entry| entry.is_torn.load(Ordering::Acquire))
    }

    /// Gives up the place: the mapping is about to go.
    pub(super) fn release(&self) {
        if let Some(entry) = self.entry() {
            entry.end.store(0, Ordering::Release);
            entry.is_taken.store(false, Ordering::Release);
        }
    }
}

/// Protects a mapping until its place is released; `None` where all places are taken.
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
        // On the alternative stack, as the standard library's handlers are.
        let flags = SaFlags::SA_SIGINFO | SaFlags::SA_ONSTACK;
        let action = SigAction::new(SigHandler::SigAction(on_bus_error), flags, SigSet::empty());
        // SAFETY: the handler keeps to what is safe in a handler, see there.
        unsafe { sigaction(Signal::SIGBUS, &action) }
    });
    before.map(drop).map_err(io::Error::from)
}

/// Puts zeros where a mapped file has no bytes any more.
extern "C" fn on_bus_error(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the kernel gives a handler with SA_SIGINFO a siginfo_t; the address is a part of it for SIGBUS that the
    // kernel raised itself, which a positive code shows (sigaction(2)).
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code > 0 && replace(address) {
        Errno::set_raw(errno);
        return;
    }
    // Not ours: whoever handled SIGBUS before handles this one. A fault comes again at once, a signal that somebody sent
    // is sent again.
    if let Some(Ok(before)) = BEFORE.get() {
        // SAFETY: the action was in force before, and both calls are safe in a handler.
        unsafe {
            let _ = sigaction(Signal::SIGBUS, before);
            if code <= 0 {
                libc::raise(libc::SIGBUS);
            }
        }
    } else {
        // SAFETY: as above. The action before is not known yet, so that it is the default one.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }
    Errno::set_raw(errno);
}

/// Replaces a mapping from the page of an address on; false where the address is in none.
fn replace(address: usize) -> bool {
    let Some(entry) = TABLE.iter().find(|entry| entry.holds(address)) else { return false };
    let page = PAGE.load(Ordering::Relaxed);
    let start = address - address % page;
    let length = entry.end.load(Ordering::Acquire).saturating_sub(start);
    entry.is_torn.store(true, Ordering::Release);
    // SAFETY: the range is a part of a mapping that this process made and that lives: the read that faulted borrows it.
    // The new pages are readable as the old ones were, and unmapping the whole range unmaps them too.
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
