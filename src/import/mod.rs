//! Readers of foreign formats: they produce a [`Capture`] and its problems.
//!
//! [`open`] detects the format by content, never by name. Each format has one folder; its reader returns [`Opened`]
//! with all sound parts and a [`Problem`] for every other one, or an [`ImportError`] if no part is sound. Input may be
//! hostile: no code here panics, and the input's size bounds every loop and allocation.
//!
//! Formats: lanescope's own dump (docs/dump-format.md); ROCm core files, logs of ROCm's debug agent, and umr's output
//! (docs/captures.md).

mod agent_log;
pub(crate) mod beneath;
mod dump;
mod fallback_target;
mod faults;
mod file;
mod ignored_options;
pub mod objects;
mod options;
mod problem;
mod rocm_core;
mod sniff;
mod text;
mod umr;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::{BufReader, Cursor, Seek as _};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

pub use dump::write;
pub use options::{LocalFiles, Options, Supplied};
pub use problem::{ImportError, MAX_PROBLEMS};
pub(crate) use rocm_core::stream;

use self::file::OpenFile;
use self::ignored_options::Reads;
use self::sniff::Format;
use self::text::{Order, decoded};
use crate::arch::Targets;
use crate::capture::{Backing, Capture, Fault, FaultSource, MemoryBacking};
pub use crate::capture::{FileLocation, Problem, Severity};
use crate::clean::clean;
use crate::elf::Machine;
use crate::integers::u16_at;
use crate::mapping::Changes;

/// `S_IWOTH`.
const OTHERS_WRITE: u32 = 0o002;

/// A capture with its problems.
#[derive(Debug)]
pub struct Opened {
    /// All sound parts.
    pub capture: Capture,
    /// The problems in the order of their detection; at most [`MAX_PROBLEMS`] and one that counts the others.
    pub problems: Vec<Problem>,
}

/// Opens a capture of any supported format: a lanescope dump (a folder, a zip or a manifest), a ROCm core, a log of
/// ROCm's debug agent, umr's waves (text, JSON, RADV's hang folder, also in a zip), or amdgpu's device core dump.
///
/// Reads only manifests, headers and wave state; of bulk data it checks the size. Logs and umr's output are text, in
/// UTF-8 or in UTF-16 with a byte order mark, and are read as a whole.
///
/// # Errors
/// The format is unknown, the first part is unreadable, or no part can be loaded.
pub fn open(path: &Path, targets: &Targets, options: &Options) -> Result<Opened, ImportError> {
    let mut opened = open_path(path, targets, options)?;
    add_faults(&mut opened, options)?;
    // The file's name is untrusted too.
    opened.capture.name = clean(opened.capture.name).into_owned();
    Ok(opened)
}

/// Adds the faults of the user's logs and options.
///
/// # Errors
/// A log cannot be read.
pub fn add_faults(opened: &mut Opened, options: &Options) -> Result<(), ImportError> {
    for path in &options.logs {
        let own = faults::Own::of(&opened.capture);
        let reported = faults::read_log(path, own, &mut opened.problems)?;
        opened.problems.extend(reported.into_capture(&mut opened.capture));
    }
    let left_out = &mut opened.capture.left_out;
    left_out.has_new_reports |= !options.logs.is_empty() || options.fault_address.is_some();
    let by_user = options.fault_address.map(faults::Reported::by_user);
    opened.problems.extend(by_user.and_then(|reported| reported.into_capture(&mut opened.capture)));
    faults::identify(&mut opened.capture);
    Ok(())
}

fn open_path(path: &Path, targets: &Targets, options: &Options) -> Result<Opened, ImportError> {
    let name = || options.name.clone().unwrap_or_else(|| path.display().to_string());
    let io = |source| ImportError::Io { file: name(), source };
    let refuse = |found: String| ImportError::NotADump { file: name(), found };
    let metadata = std::fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        if umr::is_radv_folder(path) {
            return umr::open_radv(path, targets, options)
                .map(|opened| finished(opened, options, Reads::Umr));
        }
        let opened = dump::open_folder(path, targets, options.local_files).map_err(|error| {
            match (error, umr::without_waves(path)) {
                (ImportError::NoManifest { .. }, Some(found)) => refuse(found),
                (ImportError::NoManifest { file, .. }, None) => {
                    ImportError::NoManifest { file, others: captures_in(path) }
                }
                (error, _) => error,
            }
        });
        return opened.map(|opened| finished(opened, options, Reads::Dump));
    }
    if !metadata.is_file() {
        // Opening a pipe would wait for its writer.
        let is_pipe = metadata.file_type().is_fifo();
        let what = if is_pipe {
            "a pipe: `lanescope triage - < PIPE` reads a dump from one"
        } else {
            "neither a file nor a folder"
        };
        return Err(refuse(what.to_owned()));
    }
    let file = file::open_regular(path).map_err(io)?;
    let size = metadata.len();
    let mut start = [0; sniff::START];
    let count = file::read_range(&file, 0, size, 0, &mut start).map_err(io)?;
    let again = || (&file).rewind().map(|()| &file);
    let format = sniff::format(start.get(..count).unwrap_or_default(), again).map_err(io)?;
    let format = format.map_err(|other| match other.is_text() {
        true => {
            let found = reports(path).map(|reports| {
                let use_them = "use them with a capture: lanescope CAPTURE --log FILE";
                format!("text without a report on waves; its reports of faults:{reports}\n  {use_them}\n ")
            });
            ImportError::NoWaves { file: name(), found: found.unwrap_or_else(|| other.to_string()) }
        }
        false => refuse(other.to_string()),
    })?;
    (&file).rewind().map_err(io)?;
    // A capture of another name came as a stream, which has no folder.
    let is_stream = options.name.is_some();
    let folder = path.parent().filter(|_| !is_stream);
    let folder = folder.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let order = Order::of(start.get(..count).unwrap_or_default());
    let text = |file| BufReader::with_capacity(1 << 20, decoded(file, order));
    let (opened, reads) = match format {
        Format::Zip => {
            match (dump::open_zip(&name(), file, folder, targets, options.local_files), File::open(path)) {
                (Err(error @ ImportError::NoManifest { .. }), Ok(again)) => {
                    let found = umr::open_zip(&name(), BufReader::new(again), targets, options)?;
                    (found.ok_or(error)?, Reads::Umr)
                }
                (opened, _) => (opened?, Reads::Dump),
            }
        }
        Format::Manifest if is_stream => (dump::open_stream(&name(), file, targets)?, Reads::Dump),
        Format::Manifest => (dump::open_manifest(path, targets, options.local_files)?, Reads::Dump),
        Format::Core => {
            let options = Options { local_files: own(options, &metadata), ..options.clone() };
            let changes = Changes::default();
            let core = Arc::new(OpenFile::of(name(), file, &changes)?);
            (rocm_core::open(core, &changes, targets, &options)?, Reads::Core)
        }
        Format::AgentLog => (agent_log::open(&name(), text(file), folder, targets, options)?, Reads::Log),
        Format::UmrText => (umr::open(&name(), text(file), folder, targets, options)?, Reads::Umr),
        Format::DeviceDump => (faults::open_device_dump(&name(), text(file))?, Reads::Log),
        Format::UmrJson => {
            let size = order.map_or(Some(size), |_| None);
            (umr::open_json(&name(), decoded(file, order), size, targets, options)?, Reads::Umr)
        }
    };
    Ok(finished(opened, options, reads))
}

/// Maximum number of entries of a folder that are looked at, and of those that an error names.
const MAX_LOOKED: usize = 256;
const MAX_NAMED: usize = 3;

/// The format of a file that its first bytes decide, with these bytes.
fn begin(path: &Path) -> Option<(Format, [u8; 32])> {
    let mut start = [0; 32];
    let file = file::open_regular(path).ok()?;
    let size = file.metadata().ok()?.len();
    let count = file::read_range(&file, 0, size, 0, &mut start).ok()?;
    Some((sniff::magic(start.get(..count)?)?.ok()?, start))
}

/// The machine of an ELF core, of GPUs or of a host process; `None`: the file is no core.
pub(crate) fn core_machine(path: &Path) -> Option<Machine> {
    let (_, start) = begin(path).filter(|(format, _)| *format == Format::Core)?;
    u16_at(&start, 18).map(Machine)
}

/// The files of a folder that begin as captures do, for an error: `; open one of its files: a.core, b.zip`.
fn captures_in(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MAX_LOOKED).filter_map(Result::ok);
    let mut names: Vec<_> = entries.filter(|entry| begin(&entry.path()).is_some()).collect();
    names.sort_by_key(std::fs::DirEntry::file_name);
    let more = names.len().saturating_sub(MAX_NAMED);
    let named: Vec<_> = names
        .iter()
        .take(MAX_NAMED)
        .map(|one| clean(one.file_name().to_string_lossy()).into_owned())
        .collect();
    match (named.is_empty(), more) {
        (true, _) => String::new(),
        (_, 0) => format!("; open one of its files: {}", named.join(", ")),
        (_, more) => format!("; open one of its files: {} and {more} more", named.join(", ")),
    }
}

/// Applies the rules for all formats.
fn finished(mut opened: Opened, options: &Options, reads: Reads) -> Opened {
    for object in &mut opened.capture.code_objects {
        object.forced = options.force;
    }
    ignored_options::reported(opened, options, reads)
}

/// Maximum number of listed reports of a text without waves.
const MAX_REPORTS: usize = 8;

/// The reports of faults in a text, a line each; `None`: it has none, or is unreadable.
pub(crate) fn reports(path: &Path) -> Option<String> {
    let mut capture = Capture::default();
    let reported = faults::read_log(path, faults::Own::default(), &mut Vec::new()).ok()?;
    let _ = reported.into_capture(&mut capture);
    let mut reported: Vec<(usize, FaultSource, &Fault)> = Vec::new();
    for fault in &capture.faults {
        let also = fault.also.iter().map(|also| (also.source, &also.place));
        let all = std::iter::once((fault.source, &fault.place)).chain(also);
        reported.extend(all.filter_map(|(source, place)| Some((place.as_ref()?.line?, source, fault))));
    }
    reported.sort_by_key(|(line, ..)| *line);
    if reported.is_empty() {
        return None;
    }
    let mut text = String::new();
    let first: Vec<_> = reported.iter().map(|(line, source, _)| (*line, *source)).take(MAX_REPORTS).collect();
    let excerpts = faults::excerpts(path, &first).ok()?;
    for ((line, source, excerpt), (.., fault)) in excerpts.into_iter().zip(&reported) {
        let _ = write!(text, "\n  line {line}, {}: {excerpt}", source.words());
        // The facts are in the rows below the first one.
        if let Some(facts) = facts(fault).filter(|_| source == FaultSource::KernelLog) {
            let _ = write!(text, "; {facts}");
        }
    }
    if let Some(more @ 1..) = reported.len().checked_sub(MAX_REPORTS) {
        let _ = write!(text, "\n  and {more} more");
    }
    Some(text)
}

/// `read of page 0x7f0000201000, process 4376`: facts of a report that has several rows.
fn facts(fault: &Fault) -> Option<String> {
    let access = fault.access.map(|access| format!("{} of ", access.name())).unwrap_or_default();
    let page = fault.address.map(|at| format!("{access}page {:#x}", at.start));
    let process = fault.process.map(|process| format!("process {process}"));
    let facts: Vec<String> = page.into_iter().chain(process).collect();
    (!facts.is_empty()).then(|| facts.join(", "))
}

/// Whether files that a core names may be used: by default if the core and the host core beside it belong to the user.
fn own(options: &Options, core: &Metadata) -> LocalFiles {
    let user = nix::unistd::geteuid().as_raw();
    // Root can write to every file in any case.
    let is_own = |file: &Metadata| [user, 0].contains(&file.uid()) && file.mode() & OTHERS_WRITE == 0;
    let host = options.host_core.as_deref().map(std::fs::metadata);
    let is_own = is_own(core) && host.is_none_or(|host| host.is_ok_and(|host| is_own(&host)));
    match options.local_files {
        LocalFiles::Auto if !is_own => LocalFiles::No,
        chosen => chosen,
    }
}

/// Opens an embedded zip dump; its side files are read in place.
///
/// # Errors
/// As [`open`].
pub fn open_zip_bytes(name: &str, bytes: &'static [u8], targets: &Targets) -> Result<Opened, ImportError> {
    dump::open_bytes(name, Cow::Borrowed(bytes), targets)
}

/// Opens a dump in memory: a zip, a manifest without side files, a core, a log, or umr's text or JSON. Fuzz targets
/// call it.
///
/// # Errors
/// As [`open`].
pub fn open_bytes(name: &str, bytes: Vec<u8>, targets: &Targets) -> Result<Opened, ImportError> {
    let start = bytes.get(..sniff::START.min(bytes.len())).unwrap_or_default();
    let options = Options { local_files: LocalFiles::No, ..Options::default() };
    let io = |source| ImportError::Io { file: name.to_owned(), source };
    let format = sniff::format(start, || Ok(bytes.as_slice())).map_err(io)?;
    let order = Order::of(start);
    let text = || decoded(bytes.as_slice(), order);
    match format {
        Ok(Format::Core) => {
            let core: Arc<dyn Backing> = Arc::new(MemoryBacking::new(name, bytes));
            rocm_core::open(core, &Changes::default(), targets, &options)
        }
        Ok(Format::AgentLog) => agent_log::open(name, BufReader::new(text()), None, targets, &options),
        Ok(Format::UmrText) => umr::open(name, BufReader::new(text()), None, targets, &options),
        Ok(Format::UmrJson) => umr::open_json(name, text(), Some(bytes.len() as u64), targets, &options),
        Ok(Format::Zip) => match umr::open_zip(name, Cursor::new(bytes.as_slice()), targets, &options) {
            Ok(Some(opened)) => Ok(opened),
            _ => dump::open_bytes(name, Cow::Owned(bytes), targets),
        },
        _ => dump::open_bytes(name, Cow::Owned(bytes), targets),
    }
}
