//! The cores that a program leaves in its folder, in that of the kernel's pattern, and in the folder of the crash.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{KERNEL_LOG, LOG};
use crate::arch::Targets;
use crate::elf::EM_AMDGPU;
use crate::import::{self, Options};

/// Maximum number of new files that are opened.
const MAX_OPENED: usize = 64;

/// A version of a file: device, number, time of its change, size.
type Version = (u64, u64, i64, i64, u64);

/// Cores, and the files that were there before.
#[derive(Debug, Default)]
pub(super) struct Cores {
    before: BTreeMap<PathBuf, Version>,
    /// Captures of waves.
    pub(super) gpu: Vec<PathBuf>,
    /// Cores of host processes.
    host: Vec<PathBuf>,
    /// Errors of files that the runtime wrote.
    pub(super) unreadable: Vec<String>,
}

impl Cores {
    /// Lists the files that may be cores of earlier programs.
    pub(super) fn before() -> Self {
        Self { before: folders().iter().flat_map(|folder| files(folder)).collect(), ..Self::default() }
    }

    /// Adds what is new. The runtime alone writes into the folder of the crash.
    pub(super) fn collect(&mut self, folder: &Path, targets: &Targets) {
        let others = folders();
        let others = others.iter().flat_map(|folder| files(folder));
        let others = others.filter(|(path, version)| self.before.get(path) != Some(version));
        self.sort(within(folder).chain(others.map(|(path, _)| path)).collect(), Some(folder), targets);
    }

    /// The cores of a crash's folder.
    pub(super) fn of(folder: &Path, targets: &Targets) -> Self {
        let mut cores = Self::default();
        cores.sort(within(folder).collect(), None, targets);
        cores
    }

    /// `runtime`: the folder of the runtime's files.
    fn sort(&mut self, mut found: Vec<PathBuf>, runtime: Option<&Path>, targets: &Targets) {
        found.sort();
        for path in found.into_iter().take(MAX_OPENED) {
            // A core of the host alone is none of waves.
            match import::open(&path, targets, &Options::default()) {
                Ok(_) => self.gpu.push(path),
                Err(error) if runtime.is_some_and(|folder| path.starts_with(folder)) => {
                    self.unreadable.push(error.to_string())
                }
                Err(_) if import::core_machine(&path).is_some_and(|machine| machine != EM_AMDGPU) => {
                    self.host.push(path)
                }
                Err(_) => {}
            }
        }
    }

    /// Moves the cores into the folder of the crash, if that is on the same disk.
    pub(super) fn move_to(&mut self, folder: &Path) {
        for path in self.gpu.iter_mut().chain(&mut self.host) {
            *path = moved(std::mem::take(path), folder);
        }
    }

    /// The core of the host process behind a GPU core: the only one, else the one with the same number in its name.
    pub(super) fn host_of(&self, capture: &Path) -> Option<&PathBuf> {
        // A core of host and GPUs, or a log, has its own host.
        import::core_machine(capture).filter(|machine| *machine == EM_AMDGPU)?;
        if let ([host], [_]) = (&self.host[..], &self.gpu[..]) {
            return Some(host);
        }
        let number = number(capture)?;
        self.host.iter().find(|host| self::number(host).as_ref() == Some(&number))
    }
}

/// The last number of a file's name.
fn number(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    name.rsplit(|letter: char| !letter.is_ascii_digit()).find(|digits| !digits.is_empty()).map(str::to_owned)
}

/// The files of a crash's folder without its logs.
fn within(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| ![LOG, KERNEL_LOG].iter().any(|name| path.ends_with(name)))
}

/// The folder of the program, and that of the kernel's pattern.
fn folders() -> Vec<PathBuf> {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let named = Path::new(pattern.trim_end()).parent().filter(|folder| folder.is_absolute());
    [Some(Path::new(".")), named].into_iter().flatten().map(Path::to_owned).collect()
}

/// The regular files of a folder that have names of cores.
fn files(folder: &Path) -> Vec<(PathBuf, Version)> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let named = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.contains("core") || name.ends_with(".gpu")
    });
    let versions = named.filter_map(|entry| {
        let data = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let version = (data.dev(), data.ino(), data.mtime(), data.mtime_nsec(), data.len());
        let path = entry.path();
        Some((path.strip_prefix(".").map(Path::to_owned).unwrap_or(path), version))
    });
    versions.collect()
}

/// The file in the folder of the crash; else where it is.
fn moved(path: PathBuf, folder: &Path) -> PathBuf {
    let Some(name) = path.file_name() else { return path };
    let to = folder.join(name);
    if path.starts_with(folder) || to.exists() || fs::rename(&path, &to).is_err() { path } else { to }
}
