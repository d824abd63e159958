//! The user's logs (`--log`): a program's output or a kernel log, of which only reports of faults are read.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use super::{Own, Reported};
use crate::capture::{FaultSource, FileLocation, Problem};
use crate::import::file::open_regular;
use crate::import::problem::{Do, ImportError, problem};
use crate::import::text::{Lines, Order, decoded, excerpt};

/// Maximum bytes of a log, decoded. A long run may print gigabytes before its end. Lines without the words of a report
/// take about a second.
const MAX_LOG: u64 = 1 << 30;

/// Reads a log.
///
/// # Errors
/// The operating system's error for the file.
pub(in crate::import) fn read(
    path: &Path,
    own: Own,
    problems: &mut Vec<Problem>,
) -> Result<Reported, ImportError> {
    read_within(path, MAX_LOG, own, problems)
}

fn read_within(
    path: &Path,
    most: u64,
    own: Own,
    problems: &mut Vec<Problem>,
) -> Result<Reported, ImportError> {
    let name = match path.as_os_str() == "-" {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    };
    let io = |source| ImportError::Io { file: format!("--log {}", path.display()), source };
    let mut source = opened(path).and_then(text).map_err(io)?.take(most);
    let reported = super::read(&name, BufReader::with_capacity(1 << 20, source.by_ref()), own).map_err(io)?;
    let place =
        || FileLocation { file: name.clone(), key: Some("--log".to_owned()), ..FileLocation::default() };
    if source.limit() == 0 {
        let what = format_args!("only the first {most} bytes are read");
        problems.push(problem(place(), what, Do("give the part with the report of the fault")));
    }
    if let Some(line) = reported.cut {
        let place = FileLocation { line: Some(line), ..place() };
        problems.push(problem(place, "the line is too long; its rest is ignored", "lines of at most 1 MiB"));
    }
    if reported.is_empty() {
        let what = "no report of a fault is in this log";
        problems.push(problem(place(), what, Do(wanted(&reported))));
    }
    Ok(reported)
}

/// The hint for a log without a report: where its words are, or what the reports of its program have.
pub(super) fn wanted(reported: &Reported) -> String {
    let quoted = reported.quoted.map(|line| {
        format!(
            "line {line} has the words of a report, but not where a program prints them: at the start of a line, \
             behind the prefix of a log, or as a value of JSON"
        )
    });
    let known = reported.writers.wanted();
    let all = "expected a message of the debug agent, ROCm's or LLVM's runtime, HIP or amdgpu's kernel log";
    quoted.or(known).unwrap_or_else(|| all.to_owned())
}

/// The texts of lines with reports, beside their numbers and reporters; `lines` is in ascending order.
///
/// # Errors
/// The operating system's error for the file.
pub(in crate::import) fn excerpts(
    path: &Path,
    lines: &[(usize, FaultSource)],
) -> io::Result<Vec<(usize, FaultSource, String)>> {
    let mut source = Lines::new(BufReader::new(opened(path).and_then(text)?.take(MAX_LOG)));
    let mut wanted = lines.iter().copied().peekable();
    let mut found = Vec::new();
    while wanted.peek().is_some()
        && let Some(line) = source.next()?
    {
        while let Some((number, by)) = wanted.next_if(|(number, _)| *number <= line.number) {
            found.push((number, by, excerpt(line.text)));
        }
    }
    Ok(found)
}

/// A regular file, a pipe, or standard input for `-`.
fn opened(path: &Path) -> io::Result<Box<dyn Read>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(Ended { source: io::stdin().lock(), is_at_end: false }));
    }
    let kind = std::fs::metadata(path)?.file_type();
    let other = |what| {
        let text = format!("{what}; give a file, a pipe, or - for standard input");
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    };
    match kind {
        kind if kind.is_fifo() => Ok(Box::new(File::open(path)?)),
        kind if kind.is_dir() => other("a folder"),
        kind if kind.is_char_device() || kind.is_block_device() => other("a device, which is not read"),
        _ => Ok(Box::new(open_regular(path)?)),
    }
}

/// A source whose end stays the end: a terminal continues after Ctrl-D.
struct Ended<R> {
    source: R,
    is_at_end: bool,
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_at_end || buffer.is_empty() {
            return Ok(0);
        }
        let count = self.source.read(buffer)?;
        self.is_at_end = count == 0;
        Ok(count)
    }
}

/// A text as UTF-8; its first bytes have the byte order of UTF-16.
fn text(mut source: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::new();
    source.by_ref().take(4).read_to_end(&mut start)?;
    let order = Order::of(&start);
    Ok(decoded(io::Cursor::new(start).chain(source), order))
}
