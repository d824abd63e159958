//! Foreign bytes to a [`Capture`] and what is wrong with them.
//!
//! [`open`] tells the format by content, never by name. One folder for each format; a format's reader gives
//! [`Opened`], in which all that is sound is loaded and everything else is a [`Problem`], or an [`ImportError`] where
//! nothing is. Input may be hostile: nothing here panics, and every loop and allocation is bounded by the input's size.
//!
//! Formats: lanescope's own dump (docs/dump-format.md); ROCm core files, logs of ROCm's debug agent, and what umr prints
//! (docs/captures.md).

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "tests may"
    )
)]

mod agent_log;
mod dump;
mod file;
mod nearest;
pub mod objects;
mod options;
mod problem;
mod rocm_core;
mod sniff;
mod text;
mod umr;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::path::Path;
use std::sync::Arc;

pub use dump::write;
pub use options::{Options, Supplied};
pub use problem::{ImportError, MOST_PROBLEMS, Place, Problem};
pub(crate) use rocm_core::stream;

use self::file::OpenFile;
use self::sniff::Format;
use crate::arch::Targets;
use crate::capture::{Backing, Capture, MemoryBacking};

/// A capture, and what is wrong with the dump it comes from.
#[derive(Debug)]
pub struct Opened {
    /// All that is sound.
    pub capture: Capture,
    /// The rest, in the order in which it was met; at most [`MOST_PROBLEMS`] and one that counts the others.
    pub problems: Vec<Problem>,
}

/// Opens a capture of any format that is read: a lanescope dump (a folder, a zip or a manifest), a ROCm core, a log of ROCm's debug
/// agent, or what umr prints of waves (text, JSON, or RADV's hang folder).
///
/// Only manifests, headers and wave state are read; bulk data is checked for size and read when somebody asks for it.
///
/// # Errors
/// Nothing of it can be loaded: it is of no known format, or its first part cannot be read.
pub fn open(path: &Path, targets: &Targets, options: &Options) -> Result<Opened, ImportError> {
    let name = || path.display().to_string();
    let io = |source| ImportError::Io { file: name(), source };
    let metadata = std::fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        if umr::is_radv_folder(path) {
            return umr::open_radv(path, targets, options);
        }
        return dump::open_folder(path, targets).map(|opened| unasked(opened, options));
    }
    if !metadata.is_file() {
        // Opening a pipe would wait for its writer.
        return Err(ImportError::NotADump { file: name(), found: "neither a file nor a folder".to_owned() });
    }
    let file = File::open(path).map_err(io)?;
    let mut start = [0; sniff::START];
    let count = file::read_range(&file, 0, metadata.len(), 0, &mut start).map_err(io)?;
    let start = start.get(..count).unwrap_or_default();
    let refuse = |found: &str| ImportError::NotADump { file: name(), found: found.to_owned() };
    let mut format = sniff::format(start).map_err(refuse)?;
    if format == Format::Manifest && !sniff::is_manifest(start) {
        // A log may come after much other output.
        format = sniff::search(&file).map_err(io)?.unwrap_or(Format::Manifest);
        (&file).rewind().map_err(io)?;
    }
    let size = metadata.len();
    let folder =
        path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let text = |file| BufReader::with_capacity(1 << 20, file);
    match format {
        Format::Zip => dump::open_zip(path, file, targets).map(|opened| unasked(opened, options)),
        Format::Manifest => dump::open_manifest(path, targets).map(|opened| unasked(opened, options)),
        Format::Core => rocm_core::open(Arc::new(OpenFile::of(name(), file)?), targets, options),
        Format::AgentLog => agent_log::open(&name(), text(file), folder, targets, options),
        Format::UmrText => umr::open(&name(), text(file), None, targets, options),
        Format::UmrJson => umr::open_json(&name(), file, size, targets, options),
    }
}

/// Says what a lanescope dump leaves no use for: it names its code objects itself.
fn unasked(mut opened: Opened, options: &Options) -> Opened {
    let given =
        [("--host-core", options.host_core.is_some()), ("--code-object", !options.code_objects.is_empty())];
    opened.problems.extend(given.iter().filter(|(_, given)| *given).map(|(flag, _)| Problem {
        file: opened.capture.name.clone(),
        place: Place { key: Some((*flag).to_owned()), ..Place::default() },
        what: "without effect: the dump names its code objects".to_owned(),
        expected: "a core".to_owned(),
    }));
    opened
}

/// Opens a dump that is a zip and part of the program; its side files are read where they lie.
///
/// # Errors
/// As [`open`].
pub fn open_zip_bytes(name: &str, bytes: &'static [u8], targets: &Targets) -> Result<Opened, ImportError> {
    dump::open_bytes(name, Cow::Borrowed(bytes), targets)
}

/// Opens a dump that is in memory: a zip, a manifest without side files, a core, a log, or umr's text or JSON. What a fuzzer calls.
///
/// # Errors
/// As [`open`].
pub fn open_bytes(name: &str, bytes: Vec<u8>, targets: &Targets) -> Result<Opened, ImportError> {
    let start = bytes.get(..sniff::START.min(bytes.len())).unwrap_or_default();
    let options = Options::default();
    let mut format = sniff::format(start);
    if format == Ok(Format::Manifest) && !sniff::is_manifest(start) {
        format = sniff::search(bytes.as_slice()).ok().flatten().map_or(format, Ok);
    }
    match format {
        Ok(Format::Core) => {
            let core: Arc<dyn Backing> = Arc::new(MemoryBacking::new(name, bytes));
            rocm_core::open(core, targets, &options)
        }
        Ok(Format::AgentLog) => agent_log::open(name, bytes.as_slice(), None, targets, &options),
        Ok(Format::UmrText) => umr::open(name, bytes.as_slice(), None, targets, &options),
        Ok(Format::UmrJson) => umr::open_json(name, bytes.as_slice(), bytes.len() as u64, targets, &options),
        _ => dump::open_bytes(name, Cow::Owned(bytes), targets),
    }
}
