//! The progress line of long work: one line on the terminal, four times a second; no output without a terminal.
//!
//! Own code, not a library: it is one line of text, and prints nothing in the first second.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::slim::Progress;

/// The pause between two lines.
const PAUSE: Duration = Duration::from_millis(250);

/// Shorter work needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Characters of the bar.
const WIDTH: usize = 30;

#[derive(Debug)]
pub(super) struct Bar {
    shown: Option<Instant>,
    next: Instant,
}

impl Bar {
    /// A bar on standard error if that is a terminal.
    pub(super) fn on_terminal() -> Self {
        let next = Instant::now() + PATIENCE;
        Self { shown: std::io::stderr().is_terminal().then_some(next), next }
    }

    /// Prints the progress of the work.
    pub(super) fn show(&mut self, progress: Progress) {
        let now = Instant::now();
        if self.shown.is_none() || now < self.next {
            return;
        }
        self.next = now + PAUSE;
        // A failed write to the terminal cannot be reported elsewhere.
        let _ = write!(anstream::stderr(), "\r{}\x1b[K", line(progress));
    }

    /// Erases the line.
    pub(super) fn clear(&self) {
        if self.shown.is_some() {
            let _ = write!(anstream::stderr(), "\r\x1b[K");
        }
    }
}

/// `writing [#####.....]  50% 12 of 24 MiB`
pub(super) fn line(progress: Progress) -> String {
    let (what, done, all, unit, scale) = match progress {
        Progress::Reading(count) => return format!("reading {} MiB", count >> 20),
        Progress::Grouping(done, all) => ("grouping stacks", done, all, "", 1),
        Progress::Asking(done, all) => ("asking waves", done, all, "", 1),
        Progress::Writing(done, all) => ("writing", done, all, " MiB", 1 << 20),
    };
    let done = done.min(all);
    let share = |of: u64| (u128::from(done) * u128::from(of) / u128::from(all.max(1))) as usize;
    let bar = "#".repeat(share(WIDTH as u64));
    format!("{what} [{bar:.<WIDTH$}] {:>3}% {} of {}{unit}", share(100), done / scale, all / scale)
}
