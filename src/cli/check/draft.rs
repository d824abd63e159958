//! `lanescope check --new DUMP`: the first version of a file.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::job::subject;
use crate::arch::Targets;
use crate::check::{Head, NameError, Setting, draft};
use crate::clean::clean;
use crate::cli::dump::{self, CaptureArgs, DumpArgs};
use crate::cli::{Failure, Globals};
use crate::import::LocalFiles;

/// Prints a draft about a dump.
pub(super) fn run(
    path: &Path,
    with: &CaptureArgs,
    globals: &Globals,
    targets: &Targets,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let args = DumpArgs {
        dump: Some(path.to_owned()),
        with: with.clone(),
        debug_dirs: globals.debug_dirs.clone(),
        disassembler: globals.disassembler.clone(),
        is_verbose: globals.verbose,
        ..DumpArgs::default()
    };
    let opened = dump::open(&args, targets)?;
    let sessions = dump::sessions(&opened, None)?;
    let name = name(path)?;
    let head = Head { dump: name.clone(), settings: settings(with, globals)? };
    out.write_all(draft(&head, &subject(&name, &sessions, &opened))?.as_bytes())?;
    Ok(())
}

/// The folder of the draft: that of the file of standard output, else the working folder.
fn folder() -> PathBuf {
    let file = std::fs::read_link("/proc/self/fd/1").ok().filter(|path| path.is_file());
    let folder = file.as_deref().and_then(Path::parent).map(Path::to_owned);
    folder.or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// The path as the draft has it: relative to its folder where it can be.
fn name(path: &Path) -> Result<String, NameError> {
    let whole = std::path::absolute(path).unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_default();
    let relative = whole.strip_prefix(folder()).or_else(|_| path.strip_prefix(&here)).unwrap_or(path);
    relative
        .to_str()
        .map(str::to_owned)
        .ok_or_else(|| NameError(clean(relative.to_string_lossy()).into_owned()))
}

/// The options of the dump as lines of a file.
pub(super) fn settings(with: &CaptureArgs, globals: &Globals) -> Result<Vec<Setting>, NameError> {
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
