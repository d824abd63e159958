//! An interrupt ends an answer in its midst.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::arch::Targets;
use crate::capture::{Backing, Bytes};
use crate::import;
use crate::session::{Dump, Interrupt, Locals, ReadError, Session, Variables as _, Waves as _};

/// A store that interrupts the session at one of its reads.
#[derive(Debug)]
struct Leaving {
    store: Arc<dyn Backing>,
    reads: Arc<AtomicU64>,
    last: u64,
    interrupt: Interrupt,
}

impl Backing for Leaving {
    fn name(&self) -> &str {
        self.store.name()
    }

    fn len(&self) -> u64 {
        self.store.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if self.reads.fetch_add(1, Ordering::Relaxed) + 1 == self.last {
            self.interrupt.set();
        }
        self.store.read_at(offset, buffer)
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        self.store.view(offset, length)
    }
}

/// The variables of all lanes of the first wave, interrupted at a read; the number of reads.
fn variables(last: u64) -> (Result<Locals, ReadError>, u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps/lds-gfx90a-O0");
    let mut capture = import::open(&path, &Targets::builtin(), &import::Options::default()).unwrap().capture;
    // Those of opening are no part of the answer.
    let (reads, interrupt) = (Arc::new(AtomicU64::new(1 << 32)), Interrupt::default());
    for store in &mut capture.backings {
        let (reads, interrupt) = (Arc::clone(&reads), interrupt.clone());
        *store = Arc::new(Leaving { store: Arc::clone(store), reads, last, interrupt });
    }
    let session = Session::new(Arc::new(Dump::new(capture, Vec::new())), None).unwrap().ended_by(interrupt);
    reads.store(0, Ordering::Relaxed);
    let wave = session.first_wave();
    let answer = session.locals(wave, session.kind().wave_size.all(), 0);
    (answer, reads.load(Ordering::Relaxed))
}

#[test]
fn an_interrupt_ends_an_answer_at_the_next_read() {
    let (whole, all) = variables(u64::MAX);
    assert!(whole.is_ok_and(|found| found.variables.len() > 3) && all > 3, "{all} reads");
    for last in 1..all {
        let (answer, reads) = variables(last);
        assert!(matches!(answer, Err(ReadError::Interrupted)), "at read {last} of {all}: {answer:?}");
        assert_eq!(reads, last, "of {all}");
    }
}
