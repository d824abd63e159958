//! The files to check, with their dumps.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::results::{FileError, NamingLine, cleaned};
use super::settings;
use crate::arch::Targets;
use crate::check::{self, Content, MAX_FILE, ScopeFile};
use crate::clean::{clean, is_unclean};
use crate::cli::folder::{self, FolderError, is_dump_folder};

/// The files, each folder's in the order of their names.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) files: Vec<PlannedFile>,
}

/// A file of expectations.
#[derive(Debug)]
pub(super) struct PlannedFile {
    /// The path as the user named it, or its folder.
    pub(super) path: PathBuf,
    /// The path as text.
    pub(super) name: String,
    /// Its lines.
    pub(super) scope: ScopeFile,
    /// The dumps, in the order of the file's lines and of their names.
    pub(super) dumps: Vec<PlannedDump>,
    /// Errors of the file: nothing is checked then.
    pub(super) errors: Vec<FileError>,
}

/// A dump of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedDump {
    /// The path relative to the working folder.
    pub(super) path: PathBuf,
    /// The path relative to the file of expectations.
    pub(super) name: String,
    /// The report to write if a result does not hold.
    pub(super) report: Option<PathBuf>,
    /// The line that names the dump.
    pub(super) line: NamingLine,
}

/// A path that names no file of expectations.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlanError {
    /// The path is unreadable.
    #[error("{}: {error}", clean(.path.to_string_lossy()))]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// A folder is unreadable or too large.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A folder without files of expectations.
    #[error("{}: no *.scope file in this folder", clean(.0.to_string_lossy()))]
    NoFiles(PathBuf),
}

impl Plan {
    /// Finds and parses the files. An error within a file is its result.
    ///
    /// # Errors
    /// [`PlanError`].
    pub(super) fn of(paths: &[PathBuf], targets: &Targets) -> Result<Self, PlanError> {
        let mut files: Vec<PlannedFile> = files(paths)?.into_iter().map(PlannedFile::read).collect();
        files.iter_mut().for_each(|file| file.check_names(targets));
        Ok(Self { files })
    }

    /// Names the reports of all dumps in a folder: by the file of expectations and the dump.
    pub(super) fn name_reports(&mut self, folder: &Path) {
        let mut used = HashSet::new();
        for file in &mut self.files {
            for dump in &mut file.dumps {
                let stem =
                    |path: &Path| portable(&clean(path.file_stem().unwrap_or_default().to_string_lossy()));
                let (scope, stem) = (stem(&file.path), stem(&dump.path));
                let base = if scope == stem { stem } else { format!("{scope}-{stem}") };
                let numbered =
                    |number: usize| if number == 1 { base.clone() } else { format!("{base}-{number}") };
                // Names that differ in case alone are one file elsewhere.
                let name = (1..).map(numbered).find(|name| used.insert(name.to_lowercase()));
                dump.report = name.map(|name| folder.join(name + ".html"));
            }
        }
    }

    /// The files that the command reads: those of expectations, the dumps, and the files of their options.
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        let of_file = |file: &PlannedFile| {
            let dumps = file.dumps.iter().map(|dump| dump.path.clone());
            let options = settings::files(&file.path, &file.scope);
            std::iter::once(file.path.clone()).chain(dumps).chain(options).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(of_file).collect()
    }

    /// Keeps one part of the dumps: each dump, and each file with errors, belongs to exactly one part.
    pub(super) fn keep_part(&mut self, part: usize, parts: usize) {
        let mut index = 0..;
        let mut is_kept = || index.next().is_some_and(|index| index % parts == part);
        self.files.retain_mut(|file| match file.errors.is_empty() {
            true => {
                file.dumps.retain(|_| is_kept());
                !file.dumps.is_empty()
            }
            false => is_kept(),
        });
    }
}

/// A name that all systems and archives take: the action that stores files of GitHub's jobs refuses `:` and others.
fn portable(name: &str) -> String {
    let is_refused =
        |c: char| matches!(c, '"' | ':' | '<' | '>' | '|' | '*' | '?' | '\\' | '/') || is_unclean(c);
    name.replace(is_refused, "_")
}

/// The files of expectations that paths name, each once, each folder's in the order of their names.
///
/// # Errors
/// [`PlanError`].
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, PlanError> {
    let mut found = Vec::new();
    for path in paths {
        let unreadable = |error| PlanError::Unreadable { path: path.clone(), error };
        match std::fs::metadata(path).map_err(unreadable)?.is_dir() {
            true => {
                let below = folder::below(path, &is_scope_file)?;
                if below.is_empty() {
                    return Err(PlanError::NoFiles(path.clone()));
                }
                found.extend(below);
            }
            false => found.push(path.clone()),
        }
    }
    Ok(folder::distinct(found))
}

/// Whether a path is a file of expectations by its name; one that is unreadable, such as a dangling link, is an error.
fn is_scope_file(path: &Path, is_folder: bool) -> bool {
    // A link to a folder is none.
    !is_folder && path.extension().is_some_and(|extension| extension == "scope") && !path.is_dir()
}

impl PlannedFile {
    /// Reads a file and finds its dumps.
    pub(super) fn read(path: PathBuf) -> Self {
        let name = clean(path.to_string_lossy()).into_owned();
        let (scope, errors) = parsed(&path);
        let mut file = Self { path, name, scope, dumps: Vec::new(), errors };
        // The right lines of a file with wrong ones have errors, too.
        if !file.scope.lines.is_empty() || file.errors.is_empty() {
            file.find_dumps();
            file.errors.extend(settings::errors(&file.path, &file.scope));
            file.sort_errors();
        }
        file
    }

    /// Adds the errors of names that no target knows.
    fn check_names(&mut self, targets: &Targets) {
        // Targets are read for names beside those of causes.
        if check::unknown_names(&self.scope, []).is_empty() {
            return;
        }
        let reasons = targets.stop_reasons();
        let lines: Vec<&str> = self.scope.lines.iter().map(|line| &*line.text).collect();
        let unknown = check::unknown_names(&self.scope, &reasons).into_iter();
        self.errors.extend(unknown.map(|error| FileError::of_syntax(error, &lines)));
        self.sort_errors();
    }

    /// Sorts the errors by line; those of the file as a whole are the last.
    fn sort_errors(&mut self) {
        self.errors.sort_by_key(|error| (error.line.is_none(), error.line));
    }

    /// Finds the dumps of the `dump` lines.
    fn find_dumps(&mut self) {
        // A wrong line may be the dump's, or the expectation.
        let is_whole = self.errors.is_empty();
        let mut has_line = false;
        for (number, line) in (1..).zip(&self.scope.lines) {
            let Content::Dump(patterns) = &line.content else { continue };
            has_line = true;
            let mut from = line.span.start + "dump".len();
            for pattern in patterns {
                let found = line.text.get(from..).and_then(|text| text.find(pattern.as_str()));
                let start = found.map_or(from, |at| from + at);
                from = start + pattern.len();
                let (text, columns) = cleaned(&line.text, (start, from));
                match matches(&self.path, pattern) {
                    Ok(found) => {
                        for dump in found {
                            if !self.dumps.iter().any(|known| known.path == dump.path) {
                                let line = NamingLine { line: number, columns, text: text.clone() };
                                self.dumps.push(PlannedDump { line, ..dump });
                            }
                        }
                    }
                    Err(problem) => {
                        self.errors.push(FileError {
                            line: Some(number),
                            columns,
                            text,
                            problem: problem.to_string(),
                            hint: None,
                        });
                    }
                }
            }
        }
        let is_expectation =
            |content: &Content| !matches!(content, Content::Empty | Content::Dump(_) | Content::Setting(_));
        if is_whole && !self.scope.lines.iter().any(|line| is_expectation(&line.content)) {
            self.errors.push(FileError::of_file("no expectation".to_owned(), None));
        }
        if is_whole && !has_line {
            let hint = "add the dump, relative to this file: `dump crash.zip`";
            self.errors.push(FileError::of_file("no `dump` line".to_owned(), Some(hint.to_owned())));
        }
    }
}

/// The reason that a file is unreadable.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileReadError {
    /// The operating system's error.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A pipe, a device or a folder, or a stream of this process. The reader of each dump opens the file again.
    #[error("not a regular file")]
    NotRegular,
    /// The file is too large.
    #[error("more than {MAX_FILE} bytes, the maximum of a file of expectations; split it")]
    TooLarge,
}

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a file of expectations, without a byte order mark at its start.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, FileReadError> {
    // The opening of a pipe waits for its writer.
    if !std::fs::metadata(path)?.is_file() || is_of_process(path) {
        return Err(FileReadError::NotRegular);
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_FILE {
        return Err(FileReadError::TooLarge);
    }
    // Editors of Windows write one.
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(bytes)
}

/// Maximum number of links one after the other: the limit of the system.
const MAX_LINKS: usize = 40;

/// Whether a path leads to an open file of one process, such as `/dev/stdin`: another process has another one there.
fn is_of_process(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
            return true;
        }
        let Ok(next) = path.read_link() else { return false };
        path = folder.join(next);
    }
    false
}

/// Starts of dumps: a zip archive, and a core file.
const DUMPS: [&[u8]; 2] = [b"PK\x03\x04", b"\x7fELF"];

/// Reads and parses a file.
fn parsed(path: &Path) -> (ScopeFile, Vec<FileError>) {
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(error) => return (ScopeFile::default(), vec![FileError::of_file(error.to_string(), None)]),
    };
    if DUMPS.iter().any(|magic| bytes.starts_with(magic)) {
        let problem = "this is an ELF or zip file, not a file of expectations".to_owned();
        let hint = "`lanescope check --new DUMP` drafts a file for a dump".to_owned();
        return (ScopeFile::default(), vec![FileError::of_file(problem, Some(hint))]);
    }
    let (scope, errors) = check::parse_all(&bytes);
    // `FileError::of_syntax` cleans the lines: their columns move.
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    (scope, errors.into_iter().map(|error| FileError::of_syntax(error, &lines)).collect())
}

/// A pattern without dumps.
#[derive(Debug, thiserror::Error)]
enum PatternError {
    /// The crate takes patterns as text.
    #[error("the path of this file is not UTF-8; name each dump without a pattern")]
    Folder,
    /// The pattern is wrong.
    #[error("`{pattern}`: {error}")]
    Form {
        /// The pattern.
        pattern: String,
        /// The crate's error.
        error: glob::PatternError,
    },
    /// A folder is unreadable: its dumps are unknown.
    #[error(transparent)]
    Unreadable(glob::GlobError),
    /// A folder below is unreadable, or there are too many.
    #[error(transparent)]
    Below(#[from] FolderError),
    /// No file matches.
    #[error("no file matches `{0}`")]
    NoMatch(String),
}

/// The dumps that a pattern of a file names, by name.
fn matches(file: &Path, pattern: &str) -> Result<Vec<PlannedDump>, PatternError> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let form = |error| PatternError::Form { pattern: clean(pattern).into_owned(), error };
    let dump = |path: PathBuf| {
        // `dump .` is the folder itself.
        let below = path.strip_prefix(folder).ok().filter(|below| !below.as_os_str().is_empty());
        let name = clean(below.unwrap_or(&path).to_string_lossy()).into_owned();
        PlannedDump { path, name, report: None, line: NamingLine::default() }
    };
    // The name of a file may have the signs of a pattern.
    let literal = folder.join(pattern);
    if !pattern.contains(['*', '?', '[']) || literal.symlink_metadata().is_ok() {
        return Ok(vec![dump(literal)]);
    }
    let found: Vec<PlannedDump> = match pattern.split('/').any(|part| part == "**") {
        true => below(folder, pattern)?.into_iter().map(dump).collect(),
        false => {
            // The crate takes patterns as text.
            let whole = folder.to_str().map(|folder| Path::new(&glob::Pattern::escape(folder)).join(pattern));
            let whole = whole.as_deref().and_then(Path::to_str);
            let found = glob::glob(whole.ok_or(PatternError::Folder)?).map_err(form)?;
            found.map(|path| path.map(dump).map_err(PatternError::Unreadable)).collect::<Result<_, _>>()?
        }
    };
    match found.is_empty() {
        true => Err(PatternError::NoMatch(clean(pattern).into_owned())),
        false => Ok(found),
    }
}

/// The files, and folders with a manifest, that a pattern with `**` names. Links to folders are not followed: they can
/// form a circle.
fn below(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, PatternError> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let literal = parts.iter().take_while(|part| !part.contains(['*', '?', '['])).count();
    let (before, rest) = parts.split_at(literal);
    let whole = before.join("/") + if pattern.starts_with('/') { "/" } else { "" };
    let start = folder.join(whole);
    let form = |error| PatternError::Form { pattern: clean(pattern).into_owned(), error };
    let rest = glob::Pattern::new(&rest.join("/")).map_err(form)?;
    let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
    let takes = |path: &Path, _: bool| {
        // A file that is unreadable, such as a dangling link, is one failed dump.
        let is_dump = !path.is_dir() || is_dump_folder(path);
        is_dump && path.strip_prefix(&start).is_ok_and(|below| rest.matches_path_with(below, options))
    };
    let empty = Path::new("");
    let start = if start == empty { Path::new(".") } else { &start };
    Ok(folder::below(start, &takes)?)
}
