//! Standard input of commands: a dump for `-`, in a file that can be read by range; notes on a terminal.

use std::fs::File;
use std::io::{self, Cursor, IsTerminal as _, Read};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Failure, standard_error};
use crate::capture::{FileLocation, Problem, Severity};
use crate::clean::clean;
use crate::elf::ELFMAG;
use crate::slim::{self, Spooled, StallBudget};

/// Maximum bytes of a dump that are kept at a time, and of seconds of waiting for the writer of a core.
pub(super) const SPOOL_LIMIT: u64 = 8 << 30;
pub(super) const STALL: u64 = 60;

/// The name of standard input in messages.
pub(super) const NAME: &str = "standard input";

/// Prints a note on standard error if standard input is a terminal: otherwise the command seems to hang. `what`: the
/// data that the command reads.
///
/// # Errors
/// The error of standard error.
pub(super) fn announce(what: &str) -> io::Result<()> {
    match io::stdin().is_terminal() {
        true => standard_error::message(&format!("note: reading {what} from standard input; Ctrl-D ends it")),
        false => Ok(()),
    }
}

/// Whether a path stands for standard input.
pub(super) fn is_meant(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of a dump in messages, by its path.
pub(super) fn name_of(path: &Path) -> String {
    if is_meant(path) { NAME.to_owned() } else { clean(path.to_string_lossy()).into_owned() }
}

/// A dump from standard input. Its file disappears with this value.
pub(super) struct Received(Kept);

enum Kept {
    /// Standard input is a file.
    Itself,
    /// A core of a stream.
    Core(Box<Spooled>),
    /// Another dump of a stream.
    Other(File),
}

impl Received {
    /// A path by which this process can open the dump.
    pub(super) fn path(&self) -> PathBuf {
        match &self.0 {
            Kept::Itself => "/dev/stdin".into(),
            Kept::Core(spooled) => spooled.path(),
            Kept::Other(file) => format!("/dev/fd/{}", file.as_raw_fd()).into(),
        }
    }

    /// The core of a stream.
    pub(super) fn core(&self) -> Option<&Spooled> {
        match &self.0 {
            Kept::Core(spooled) => Some(spooled),
            Kept::Itself | Kept::Other(_) => None,
        }
    }

    /// The problems of the stream.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let Some(came) = self.core().map(|core| &core.came) else { return Vec::new() };
        let place = FileLocation { file: NAME.to_owned(), ..FileLocation::default() };
        let hides_waves = came.truncated().is_some() || came.needed > 0;
        let problem = |what| Problem {
            severity: Severity::Warning,
            place: place.clone(),
            what,
            hint: None,
            hides_waves,
        };
        came.notes().into_iter().map(problem).collect()
    }

    /// The sentence about a stream that ended too early.
    pub(super) fn truncated(&self) -> Option<String> {
        self.core().and_then(|core| core.came.truncated())
    }
}

/// The dump on standard input, for a command that only reads it.
///
/// # Errors
/// Standard input is empty or unreadable, or its core has no headers and notes.
pub(super) fn dump() -> Result<Received, Failure> {
    announce("a dump")?;
    if std::fs::metadata("/dev/stdin").is_ok_and(|found| found.is_file()) {
        return Ok(Received(Kept::Itself));
    }
    let patience = StallBudget { limit: SPOOL_LIMIT, stall: Duration::from_secs(STALL) };
    let received = stream(&std::env::temp_dir(), patience, &mut |_| {})?;
    match received.core().and_then(|core| core.broken.as_ref()) {
        Some(why) => Err(why.to_string().into()),
        None => Ok(received),
    }
}

/// Reads standard input to its end, into a file without a name in `folder`: of a core what fits, of another dump all.
///
/// # Errors
/// Standard input is empty or unreadable, or the dump is too large.
pub(super) fn stream(
    folder: &Path,
    patience: StallBudget,
    progress: &mut dyn FnMut(u64),
) -> Result<Received, Failure> {
    slim::widen(io::stdin());
    let mut first = Vec::new();
    io::stdin().take(ELFMAG.len() as u64).read_to_end(&mut first)?;
    if first.is_empty() {
        return Err(format!("{NAME} is empty; expected a dump").into());
    }
    let is_core = first == ELFMAG;
    let whole = Cursor::new(first).chain(io::stdin());
    if is_core {
        return Ok(Received(Kept::Core(Box::new(slim::spool(whole, folder, patience, progress)?))));
    }
    let failed = |error: io::Error| format!("{}: cannot keep {NAME} there: {error}", folder.display());
    let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
    let limit = patience.limit;
    if io::copy(&mut whole.take(limit.saturating_add(1)), &mut file).map_err(failed)? > limit {
        return Err(format!("{NAME} has more than {limit} bytes; expected a dump in a file").into());
    }
    Ok(Received(Kept::Other(file)))
}
