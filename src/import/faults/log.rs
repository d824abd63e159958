//! The user's logs (`--log`): a program's output or a kernel log, of which only reports of faults are read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _};
use std::path::Path;

use super::Reported;
use crate::capture::{FileLocation, Problem};
use crate::import::file::open_regular;
use crate::import::problem::{Do, ImportError, problem};
use crate::import::text::{Order, decoded};

/// Maximum bytes of a log, decoded. A long run may print gigabytes before its end; a second reads about one.
const MAX_LOG: u64 = 1 << 30;

/// Reads a log.
///
/// # Errors
/// The operating system's error for the file.
pub(in crate::import) fn read(path: &Path, problems: &mut Vec<Problem>) -> Result<Reported, ImportError> {
    read_within(path, MAX_LOG, problems)
}

fn read_within(path: &Path, most: u64, problems: &mut Vec<Problem>) -> Result<Reported, ImportError> {
    let name = path.display().to_string();
    let io = |source| ImportError::Io { file: format!("--log {name}"), source };
    let file = open_regular(path).map_err(io)?;
    let order = order(&file).map_err(io)?;
    let mut source = decoded(&file, order).take(most);
    let reported = super::read(&name, BufReader::with_capacity(1 << 20, source.by_ref())).map_err(io)?;
    let place =
        || FileLocation { file: name.clone(), key: Some("--log".to_owned()), ..FileLocation::default() };
    if source.limit() == 0 {
        let what = format_args!("only the first {most} bytes are read");
        problems.push(problem(place(), what, Do("give the part with the report of the fault")));
    }
    if reported.is_empty() {
        let what = "no report of a fault is in this log";
        let hint = "a message of the debug agent, ROCm's or LLVM's runtime, HIP or amdgpu's kernel log";
        problems.push(problem(place(), what, hint));
    }
    Ok(reported)
}

/// The byte order of a text in UTF-16; the file is then at its start again.
fn order(mut file: &File) -> io::Result<Option<Order>> {
    let mut start = [0; 4];
    let mut count = 0;
    while let Some(rest) = start.get_mut(count..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            more => count += more,
        }
    }
    file.rewind()?;
    Ok(Order::of(start.get(..count).unwrap_or_default()))
}
