//! `lanescope check --new DUMP`: the first version of a file.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::job::subject;
use super::relative::Folder;
use crate::arch::Targets;
use crate::check::{Head, NameError, Setting, draft};
use crate::clean::clean;
use crate::cli::dump::{self, CaptureArgs, DumpArgs};
use crate::cli::{Failure, Globals, output_file, standard_input, steps};
use crate::import::LocalFiles;

/// The comment of a draft whose folder is unknown.
const WORKING_FOLDER: &str =
    "# Paths are relative to the working folder of the command: write this file there.";

/// The reason that a draft is not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum DraftError {
    /// The output exists: people edit such files.
    #[error("cannot write {0}: there is such a file; choose another name, or change its values with --bless")]
    Exists(String),
    /// A dump that is read once.
    #[error("-: a file of expectations needs a dump in a file, and not on standard input; write it to one")]
    Stream,
    /// A log that is read once.
    #[error("--log {0}: a file of expectations needs a log in a file, and not in a pipe; write it to one")]
    Pipe(String),
    /// The folder of the output.
    #[error("the folder of the draft: {0}")]
    Folder(std::io::Error),
}

/// Writes a draft about a dump to a file, or prints it.
pub(super) fn run(
    path: &Path,
    output: Option<&Path>,
    (with, globals): (&CaptureArgs, &Globals),
    targets: &Targets,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let output = output.filter(|path| !output_file::is_standard_output(path));
    let shown = |path: &Path| clean(path.to_string_lossy()).into_owned();
    if let Some(output) = output.filter(|path| path.is_file()) {
        return Err(DraftError::Exists(shown(output)).into());
    }
    if standard_input::is_meant(path) {
        return Err(DraftError::Stream.into());
    }
    let is_once =
        |log: &&PathBuf| log.as_os_str() == "-" || std::fs::metadata(log).is_ok_and(|found| !found.is_file());
    if let Some(log) = with.logs.iter().find(is_once) {
        return Err(DraftError::Pipe(shown(log)).into());
    }
    let args = DumpArgs {
        dump: Some(path.to_owned()),
        with: with.clone(),
        debug_dirs: globals.debug_dirs.clone(),
        is_verbose: globals.verbose,
        typed: steps::of(path, with, globals),
        ..DumpArgs::default()
    };
    let opened = dump::open(&args, targets)?;
    let sessions = dump::sessions(&opened, None)?;
    let folder = Folder::of(output).map_err(DraftError::Folder)?;
    let name = |path: &Path| folder.name(path);
    let head = Head {
        dump: name(path)?,
        settings: settings(with, globals, &name)?,
        comments: if folder.is_known { Vec::new() } else { vec![WORKING_FOLDER.to_owned()] },
    };
    let text = draft(&head, &subject(&head.dump, &sessions, &opened))?;
    match output {
        Some(output) => output_file::write(output, &[path], |file| Ok(file.write_all(text.as_bytes())?)),
        None => Ok(out.write_all(text.as_bytes())?),
    }
}

/// The options of the dump as lines of a file. `name`: the path of a file there.
pub(in crate::cli) fn settings(
    with: &CaptureArgs,
    globals: &Globals,
    name: &dyn Fn(&Path) -> Result<String, NameError>,
) -> Result<Vec<Setting>, NameError> {
    let mut settings = Vec::new();
    let mut set = |name: &str, value: Option<String>| settings.push(Setting { name: name.to_owned(), value });
    if let Some(path) = &with.host_core {
        set("host-core", Some(name(path)?));
    }
    for object in &with.code_objects {
        let address = object.address.map_or_else(String::new, |address| format!("@{address:#x}"));
        set("code-object", Some(name(&object.file)? + &address));
    }
    for path in &with.symbols {
        set("symbols", Some(name(path)?));
    }
    for path in &globals.debug_dirs {
        set("debug-dir", Some(name(path)?));
    }
    if with.force {
        set("force", None);
    }
    match with.local_files {
        LocalFiles::Auto => {}
        LocalFiles::Yes => set("local-files", Some("yes".to_owned())),
        LocalFiles::No => set("local-files", Some("no".to_owned())),
    }
    if let Some(version) = with.r_version {
        set("r-version", Some(version.to_string()));
    }
    if let Some(processor) = &with.processor {
        set("processor", Some(processor.clone()));
    }
    for path in &with.logs {
        set("log", Some(name(path)?));
    }
    if let Some(fault) = &with.fault_address {
        set("fault-address", Some(format!("{:#x}+{}", fault.start, fault.bytes)));
    }
    Ok(settings)
}
