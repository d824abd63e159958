//! Debuggers on the PATH, with their versions and known limits.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::{Area, Check, State};
use crate::clean::{clean, clean_lines};

/// Time for a program to print its version.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum bytes read of a program's output.
const MAX_OUTPUT: u64 = 64 << 10;

/// A version: its major and minor number.
type Version = (u32, u32);

/// A limit of a debugger that users meet, measured with the versions of the range.
struct Limit {
    /// The beginning of the program's name.
    brand: &'static str,
    /// The first and last major version.
    versions: std::ops::RangeInclusive<u32>,
    sentence: &'static str,
}

/// docs/gdb.md and docs/lldb.md have them for users.
const LIMITS: &[Limit] = &[
    Limit {
        brand: "gdb",
        versions: 0..=13,
        sentence: "do not move a code object to the waves with `add-symbol-file`: gdb ends with an internal error",
    },
    Limit {
        brand: "gdb",
        versions: 0..=13,
        sentence: "`target remote | lanescope` reads byte by byte: a port is faster with large code objects",
    },
    Limit { brand: "lldb", versions: 0..=18, sentence: "not tested: lldb 22 is" },
    Limit {
        brand: "lldb",
        versions: 22..=22,
        sentence: "arrays that were captured in part need `settings set target.process.disable-memory-cache true`",
    },
];

/// A stock debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Brand {
    Gdb,
    Lldb,
}

impl Brand {
    /// The program on the PATH.
    pub(in crate::cli) fn program(self) -> Option<PathBuf> {
        match self {
            Self::Gdb => on_path("gdb").or_else(|| on_path("gdb-multiarch")),
            Self::Lldb => newest_lldb(),
        }
    }

    /// The name to type: that of the program, `lldb-22`, else the usual one.
    pub(in crate::cli) fn name(self) -> String {
        let found = self.program();
        let name =
            found.as_deref().and_then(Path::file_name).map(|name| clean(name.to_string_lossy()).into_owned());
        name.unwrap_or_else(|| match self {
            Self::Gdb => "gdb".to_owned(),
            Self::Lldb => "lldb".to_owned(),
        })
    }
}

/// The debuggers that `serve` knows, found or missing.
pub(super) fn debuggers() -> Vec<Check> {
    let rocgdb = "/opt/rocm/bin/rocgdb";
    let mut checks = vec![
        debugger("gdb", on_path("gdb"), "apt install gdb"),
        debugger("gdb-multiarch", on_path("gdb-multiarch"), ""),
        debugger("lldb", newest_lldb(), "apt install lldb"),
    ];
    if let Some(path) =
        on_path("rocgdb").or_else(|| Some(rocgdb.into()).filter(|path: &PathBuf| path.is_file()))
    {
        checks.push(debugger("rocgdb", Some(path), ""));
    }
    // One debugger is enough.
    if checks.iter().any(|check| check.state != State::Missing) {
        checks.iter_mut().for_each(|check| check.command = None);
    } else {
        checks.iter_mut().skip(1).for_each(|check| check.command = None);
    }
    checks.extend(
        [("gdb", "source"), ("lldb", "command script import")].map(|(brand, load)| helper(brand, load)),
    );
    checks
}

/// The helper of a debugger's brand, with the debugger's command that loads it.
fn helper(brand: &str, load: &str) -> Check {
    let path = installed(&Path::new("clients").join(brand).join("lanescope.py"));
    let path = path.map(|path| clean(path.display().to_string()).into_owned());
    let fact = path.as_ref().map(|path| format!("{load} {path}"));
    Check {
        area: Area::Debuggers,
        name: format!("helper of {brand}"),
        state: if path.is_some() { State::Ok } else { State::Missing },
        fact: fact.unwrap_or_else(|| "not installed beside this program; all works without it".to_owned()),
        path,
        version: None,
        notes: Vec::new(),
        command: None,
    }
}

/// A file that is installed with this program, `PREFIX/share/lanescope/...` beside `PREFIX/bin`, or is in its sources.
fn installed(name: &Path) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?.canonicalize().ok()?;
    let prefix = own.parent()?.parent()?.join("share/lanescope");
    let sources = own.ancestors().skip(1).take(MAX_ABOVE).map(Path::to_owned);
    std::iter::once(prefix).chain(sources).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Maximum number of folders between a build and its sources: `target/TRIPLE/release`.
const MAX_ABOVE: usize = 4;

fn debugger(name: &str, path: Option<PathBuf>, install: &str) -> Check {
    let command = (!install.is_empty()).then(|| install.to_owned());
    let Some(path) = path else {
        return Check {
            area: Area::Debuggers,
            name: name.to_owned(),
            state: State::Missing,
            path: None,
            version: None,
            fact: "not on the PATH".to_owned(),
            notes: Vec::new(),
            command,
        };
    };
    let shown = clean(path.display().to_string()).into_owned();
    let first = first_line(&path, &["--version"]);
    let version = first.as_deref().and_then(version);
    let is_lldb = name == "lldb";
    let python = match is_lldb {
        true => first_line(&path, &["--no-lldbinit", "--batch", "-o", "script print('pyth' + 'on')"]),
        false => first_line(&path, &["-nx", "-q", "-batch", "-ex", "python print('pyth' + 'on')"]),
    };
    // lldb echoes its commands.
    let has_python = python.is_some_and(|line| line.contains("python"));
    let mut notes = Vec::new();
    if !has_python {
        notes.push("without Python: the helpers of clients/ do not load; all else works".to_owned());
    }
    let brand = if is_lldb { "lldb" } else { "gdb" };
    let limits = LIMITS.iter().filter(|limit| limit.brand == brand);
    let limits = limits.filter(|limit| version.is_some_and(|(major, _)| limit.versions.contains(&major)));
    notes.extend(limits.map(|limit| limit.sentence.to_owned()));
    let version = version.map(|(major, minor)| format!("{major}.{minor}"));
    let number = version.as_deref().unwrap_or("no version within 5 s");
    let python = if has_python { ", with Python" } else { "" };
    Check {
        area: Area::Debuggers,
        name: name.to_owned(),
        state: if notes.is_empty() { State::Ok } else { State::Note },
        fact: format!("{number}{python} ({shown})"),
        path: Some(shown),
        version,
        notes,
        command: None,
    }
}

/// The absolute folders of the PATH: a relative one may be a dump's.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

fn on_path(name: &str) -> Option<PathBuf> {
    folders().into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// `lldb`, or the highest `lldb-N`.
fn newest_lldb() -> Option<PathBuf> {
    on_path("lldb").or_else(|| {
        // The last of equal numbers is taken.
        let files = folders().into_iter().rev().filter_map(|folder| folder.read_dir().ok()).flatten();
        let numbered = files.filter_map(|file| {
            let path = file.ok()?.path();
            let number: u32 = path.file_name()?.to_str()?.strip_prefix("lldb-")?.parse().ok()?;
            path.is_file().then_some((number, path))
        });
        numbered.max_by_key(|(number, _)| *number).map(|(_, path)| path)
    })
}

fn first_line(program: &Path, arguments: &[&str]) -> Option<String> {
    let text = output(program, arguments)?;
    // lldb echoes its commands with a prompt.
    text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("(lldb)")).map(str::to_owned)
}

/// The standard output of a program; `None`: it does not start, or does not end in time.
fn output(program: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.env_remove("DEBUGINFOD_URLS").spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.take(MAX_OUTPUT).read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    let bytes = receive.recv_timeout(LIMIT).ok();
    if bytes.is_none() {
        let _ = child.kill();
    }
    let _ = child.wait();
    bytes.map(|bytes| clean_text(&bytes))
}

fn clean_text(bytes: &[u8]) -> String {
    clean_lines(String::from_utf8_lossy(bytes)).into_owned()
}

/// The last number of the form N.N in a line: `GNU gdb (Debian 13.1-3) 13.1`, `lldb version 22.1.8`.
pub(super) fn version(line: &str) -> Option<Version> {
    let mut numbers = line.split_whitespace().rev().filter_map(|word| {
        let mut parts = word.trim_start_matches(|letter: char| !letter.is_ascii_digit()).split('.');
        let leading = |part: &str| part.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
        Some((leading(parts.next()?)?, leading(parts.next()?)?))
    });
    numbers.next()
}
