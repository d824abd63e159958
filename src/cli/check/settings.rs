//! The options that a file of expectations sets: `symbols build/`.

use std::error::Error as _;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Args as _, Command as Options, FromArgMatches as _};

use super::plan::PlannedDump;
use super::results::{FileError, cleaned};
use crate::check::{Content, Line, ScopeFile, Setting};
use crate::clean::clean;
use crate::cli::dump::{self, DumpArgs};
use crate::cli::{Failure, Globals};

fn options() -> Options {
    Globals::augment_args(DumpArgs::augment_args(Options::new("check").no_binary_name(true)))
}

/// The words of the options of all commands.
pub(super) fn global_words(globals: &Globals) -> Vec<OsString> {
    let folders = globals.debug_dirs.iter().map(|folder| ("--debug-dir", folder));
    let one = [("--targets", &globals.targets), ("--draft", &globals.draft)];
    let one = one.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    folders.chain(one).flat_map(|(name, value)| [name.into(), value.into()]).collect()
}

/// The words of the options that a file sets; files are relative to its folder.
pub(super) fn words(path: &Path, scope: &ScopeFile) -> Vec<OsString> {
    let options = options();
    let mut words = Vec::new();
    for (_, _, setting) in settings(scope) {
        words.push(format!("--{}", setting.name).into());
        let is_path = named(&options, setting).and_then(Names::of).is_some();
        words.extend(setting.value.as_ref().map(|value| match is_path {
            true => beside(path, value).into_os_string(),
            false => value.into(),
        }));
    }
    words
}

/// The files that the options of a file name.
pub(super) fn files(path: &Path, scope: &ScopeFile) -> Vec<PathBuf> {
    let options = options();
    let named = settings(scope).filter_map(|(_, _, setting)| {
        named(&options, setting).and_then(Names::of)?;
        let value = setting.value.as_deref()?;
        let supplied = (setting.name == "code-object").then(|| dump::supplied(value).ok()).flatten();
        Some(supplied.map_or_else(|| beside(path, value), |supplied| beside(path, &supplied.file)))
    });
    named.collect()
}

/// The options of a file, over those of the command.
pub(super) fn arguments(
    words: &[OsString],
    dump: &PlannedDump,
    globals: &Globals,
) -> Result<DumpArgs, Failure> {
    let matches = options().try_get_matches_from(words).map_err(|error| error.to_string())?;
    let mut args = DumpArgs::from_arg_matches(&matches)?;
    let own = Globals::from_arg_matches(&matches)?;
    args.dump = Some(dump.path.clone());
    args.debug_dirs = own.debug_dirs.into_iter().chain(globals.debug_dirs.iter().cloned()).collect();
    Ok(args)
}

/// The errors of the options that a file sets, which are those of every dump: wrong values, a second value of an option
/// that takes one, and missing files.
pub(super) fn errors(path: &Path, scope: &ScopeFile) -> Vec<FileError> {
    let mut options = options();
    let mut found = Vec::new();
    let mut given: Vec<(&str, usize)> = Vec::new();
    for (number, line, setting) in settings(scope) {
        let Some(option) = named(&options, setting).cloned() else { continue };
        let first = given.iter().find(|(name, _)| *name == setting.name).map(|(_, first)| *first);
        let repeated = first.filter(|_| !matches!(option.get_action(), ArgAction::Append));
        let wrong = match repeated {
            Some(first) => Some((format!("a second `{}`: line {first} has one", setting.name), None)),
            None => wrong_value(&mut options, setting).or_else(|| unreadable(&option, setting, path)),
        };
        if first.is_none() {
            given.push((&setting.name, number));
        }
        if let Some((problem, hint)) = wrong {
            let (text, columns) = cleaned(&line.text, columns(line, setting));
            found.push(FileError { line: Some(number), columns, text, problem, hint });
        }
    }
    found
}

/// The options of a file with the numbers of their lines.
fn settings(scope: &ScopeFile) -> impl Iterator<Item = (usize, &Line, &Setting)> {
    (1..).zip(&scope.lines).filter_map(|(number, line)| match &line.content {
        Content::Setting(setting) => Some((number, line, setting)),
        _ => None,
    })
}

/// The option of the command line.
fn named<'o>(options: &'o Options, setting: &Setting) -> Option<&'o Arg> {
    options.get_arguments().find(|option| option.get_long() == Some(&setting.name))
}

/// The value's columns; those of the statement without one.
fn columns(line: &Line, setting: &Setting) -> (usize, usize) {
    let from = line.span.start + setting.name.len();
    let value = setting.value.as_ref().and_then(|value| {
        let at = from + line.text.get(from..)?.find(value.as_str())?;
        Some((at, at + value.len()))
    });
    value.unwrap_or((line.span.start, line.span.end))
}

/// A problem, and an instruction.
type Wrong = (String, Option<String>);

/// The error of a value by the parser of the command line.
fn wrong_value(options: &mut Options, setting: &Setting) -> Option<Wrong> {
    let value = setting.value.as_deref();
    let words = std::iter::once(format!("--{}", setting.name)).chain(value.map(str::to_owned));
    let error = options.try_get_matches_from_mut(words).err()?;
    let (name, value) = (&setting.name, clean(value.unwrap_or_default()));
    let known = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(known)) => known.as_slice(),
        _ => &[],
    };
    if known.is_empty() {
        let why = error.source().map_or_else(String::new, |source| format!(": {source}"));
        return Some((format!("wrong value `{value}` of `{name}`{why}"), None));
    }
    let hint = match error.get(ContextKind::SuggestedValue) {
        Some(ContextValue::String(similar)) => format!("did you mean `{similar}`?"),
        _ => format!("the values are {}", known.join(", ")),
    };
    Some((format!("unknown value `{value}` of `{name}`"), Some(hint)))
}

/// The kind of path that is the value of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    File,
    Folder,
}

impl Names {
    fn of(option: &Arg) -> Option<Self> {
        let names = option.get_value_names()?;
        let begins = |start: &str| names.iter().any(|name| name.starts_with(start));
        if begins("FILE") { Some(Self::File) } else { begins("DIR").then_some(Self::Folder) }
    }
}

/// A path that a file of expectations has, which is relative to its folder.
fn beside(path: &Path, value: impl AsRef<Path>) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(value)
}

/// The error of a file or folder that an option names.
fn unreadable(option: &Arg, setting: &Setting, path: &Path) -> Option<Wrong> {
    let (names, value) = (Names::of(option)?, setting.value.as_deref()?);
    let supplied = (setting.name == "code-object").then(|| dump::supplied(value).ok()).flatten();
    let named = match &supplied {
        Some(supplied) => beside(path, &supplied.file),
        None => beside(path, value),
    };
    let why = match (std::fs::metadata(&named), names) {
        (Err(error), _) => error.to_string(),
        (Ok(found), Names::Folder) if found.is_dir() => std::fs::read_dir(&named).err()?.to_string(),
        (Ok(_), Names::Folder) => "not a folder".to_owned(),
        // The opening of a pipe waits for its writer.
        (Ok(found), Names::File) if found.is_file() => File::open(&named).err()?.to_string(),
        (Ok(found), Names::File) if found.is_dir() => "a folder, expected a file".to_owned(),
        (Ok(_), Names::File) => return None,
    };
    Some((format!("`{}`: {}: {why}", setting.name, clean(named.to_string_lossy())), None))
}
