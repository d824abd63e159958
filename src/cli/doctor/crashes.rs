//! The settings by which a crash becomes a capture: docs/ci.md, "Capture in containers", has their meaning.

use std::io;
use std::path::{Path, PathBuf};

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use super::{Area, Check, State};
use crate::clean::clean;
use crate::notation;

/// The variable of ROCm's runtime.
pub(in crate::cli) const PATTERN: &str = "HSA_COREDUMP_PATTERN";

pub(super) fn checks() -> Vec<Check> {
    let limit = getrlimit(Resource::RLIMIT_CORE).map_err(io::Error::from);
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern");
    let own = std::env::var(PATTERN).ok();
    let folder = own.as_deref().and_then(folder_of).unwrap_or_else(|| PathBuf::from("."));
    vec![
        driver(),
        size(limit),
        own_pattern(own.as_deref()),
        kernel_pattern(pattern, own.is_some()),
        space(&folder, free(&folder)),
    ]
}

fn check(name: &str, state: State, fact: String) -> Check {
    let name = name.to_owned();
    Check {
        area: Area::Crashes,
        name,
        state,
        path: None,
        version: None,
        fact,
        notes: Vec::new(),
        command: None,
    }
}

/// The device of AMD's driver.
const DRIVER: &str = "/dev/kfd";

/// Whether programs of this user reach a GPU.
pub(in crate::cli) fn driver() -> Check {
    let name = "driver of AMD's GPUs";
    match access(DRIVER, AccessFlags::R_OK | AccessFlags::W_OK) {
        Ok(()) => check(name, State::Ok, DRIVER.to_owned()),
        Err(error) => {
            let note = match Path::new(DRIVER).exists() {
                true => "the user needs the groups `render` and `video`",
                false => "no program can use a GPU of AMD here",
            };
            Check {
                notes: vec![note.to_owned()],
                ..check(name, State::Note, format!("{DRIVER}: {}", error.desc()))
            }
        }
    }
}

/// Free bytes of the disk that has a folder, or will have it.
fn free(folder: &Path) -> io::Result<u128> {
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let facts = statvfs(existing)?;
    // The types of systems differ.
    Ok(u128::from(facts.blocks_available()) * u128::from(facts.fragment_size()))
}

/// Bytes of a core that are usual: the memory in use on the GPUs, often more.
const USUAL: u128 = 16 << 30;

/// The free space for cores.
pub(super) fn space(folder: &Path, free: io::Result<u128>) -> Check {
    let name = "free space for cores";
    let folder = clean(folder.display().to_string());
    match free {
        Ok(bytes) if bytes < USUAL => Check {
            notes: vec![
                "a whole core has all memory in use on the GPUs; `lanescope slim` keeps a small dump"
                    .to_owned(),
            ],
            ..check(name, State::Note, format!("{} in {folder}", notation::size(bytes)))
        },
        Ok(bytes) => check(name, State::Ok, format!("{} in {folder}", notation::size(bytes))),
        Err(error) => check(name, State::Note, format!("{folder}: {}", clean(error.to_string()))),
    }
}

/// The soft and hard limit of core files, in bytes.
pub(in crate::cli) fn size(limit: io::Result<(u64, u64)>) -> Check {
    let name = "limit of core files (ulimit -c)";
    let bytes = |bytes: u64| match bytes {
        RLIM_INFINITY => "unlimited".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    match limit {
        Err(error) => check(name, State::Note, clean(error.to_string()).into_owned()),
        Ok((0, 0)) => Check {
            notes: vec![
                "the hard limit is 0, too: raise it from outside (docker run --ulimit core=-1, limits.conf)"
                    .to_owned(),
            ],
            ..check(name, State::Missing, "0: ROCm's runtime writes no GPU core".to_owned())
        },
        Ok((0, _)) => Check {
            command: Some("ulimit -c unlimited".to_owned()),
            ..check(name, State::Missing, "0: ROCm's runtime writes no GPU core".to_owned())
        },
        Ok((soft, _)) if soft != RLIM_INFINITY => Check {
            notes: vec!["a larger core is cut: its sound parts still open".to_owned()],
            command: Some("ulimit -c unlimited".to_owned()),
            ..check(name, State::Note, bytes(soft))
        },
        Ok((soft, _)) => check(name, State::Ok, bytes(soft)),
    }
}

/// The pattern of the user for GPU cores.
pub(super) fn own_pattern(pattern: Option<&str>) -> Check {
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    let program = program.filter(|path| !path.contains([' ', '\'', '\n']));
    let program = program.unwrap_or_else(|| "/usr/bin/lanescope".to_owned());
    match pattern {
        Some(pattern) => {
            let shown = clean(pattern).into_owned();
            match folder_of(pattern).filter(|folder| !is_writable(folder)) {
                Some(folder) => {
                    let note = format!("{}: no permission to write there", clean(folder.to_string_lossy()));
                    Check { notes: vec![note], ..check(PATTERN, State::Missing, shown) }
                }
                None => check(PATTERN, State::Ok, shown),
            }
        }
        None => Check {
            command: Some(format!("export {PATTERN}='|{program} slim --dir {} -'", own_folder())),
            ..check(PATTERN, State::Missing, "not set: cores are whole, by the kernel's pattern".to_owned())
        },
    }
}

/// The folder for dumps: a user without the usual one has one at home.
fn own_folder() -> String {
    let usual = "/var/crash/gpu";
    let home = || {
        std::env::var("HOME").ok().filter(|home| home.starts_with('/') && !home.contains([' ', '\'', '\n']))
    };
    match is_writable(Path::new(usual)) {
        true => usual.to_owned(),
        false => home().map_or_else(|| usual.to_owned(), |home| format!("{home}/gpu-crashes")),
    }
}

/// The folder that `slim --dir` of a pattern writes to.
fn folder_of(pattern: &str) -> Option<PathBuf> {
    let mut words = pattern.strip_prefix('|')?.split_whitespace().skip_while(|word| *word != "--dir");
    words.nth(1).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// Whether the user can write files to a folder, or make it.
fn is_writable(folder: &Path) -> bool {
    let existing = folder.ancestors().find(|folder| folder.exists());
    existing.is_some_and(|folder| access(folder, AccessFlags::W_OK | AccessFlags::X_OK).is_ok())
}

/// The kernel's pattern, which ROCm's runtime follows without a pattern of the user.
pub(super) fn kernel_pattern(pattern: io::Result<String>, is_replaced: bool) -> Check {
    let name = "core_pattern of the kernel";
    let pattern = match pattern {
        Ok(pattern) => clean(pattern.trim_end()).into_owned(),
        Err(error) => return check(name, State::Note, clean(error.to_string()).into_owned()),
    };
    if is_replaced || !pattern.starts_with('|') {
        return check(name, State::Ok, pattern);
    }
    Check {
        notes: vec![
            "a pipe of the host: in a container its program is absent, and ROCm's runtime writes no core"
                .to_owned(),
        ],
        ..check(name, State::Note, pattern)
    }
}
