//! The files to check, with their dumps.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::results::{FileError, cleaned};
use crate::check::{self, Content, MAX_FILE, ScopeFile};
use crate::clean::clean;
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
    pub(super) fn of(paths: &[PathBuf]) -> Result<Self, PlanError> {
        Ok(Self { files: files(paths)?.into_iter().map(PlannedFile::read).collect() })
    }

    /// Names the reports of all dumps in a folder: by the file of expectations and the dump.
    pub(super) fn name_reports(&mut self, folder: &Path) {
        let mut used = HashSet::new();
        for file in &mut self.files {
            for dump in &mut file.dumps {
                let stem =
                    |path: &Path| clean(path.file_stem().unwrap_or_default().to_string_lossy()).into_owned();
                let (scope, stem) = (stem(&file.path), stem(&dump.path));
                let base = if scope == stem { stem } else { format!("{scope}-{stem}") };
                let numbered =
                    |number: usize| if number == 1 { base.clone() } else { format!("{base}-{number}") };
                let name = (1..).map(numbered).find(|name| used.insert(name.clone()));
                dump.report = name.map(|name| folder.join(name + ".html"));
            }
        }
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

/// The files of expectations that paths name, each folder's in the order of their names.
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
    Ok(found)
}

/// Whether a path is a file of expectations by its name.
fn is_scope_file(path: &Path, is_folder: bool) -> bool {
    !is_folder && path.extension().is_some_and(|extension| extension == "scope") && path.is_file()
}

impl PlannedFile {
    /// Reads a file and finds its dumps.
    pub(super) fn read(path: PathBuf) -> Self {
        let name = clean(path.to_string_lossy()).into_owned();
        let (scope, errors) =
            parsed(&path).map_or_else(|errors| (ScopeFile::default(), errors), |scope| (scope, Vec::new()));
        let mut file = Self { path, name, scope, dumps: Vec::new(), errors };
        if file.errors.is_empty() {
            file.find_dumps();
        }
        file
    }

    /// Finds the dumps of the `dump` lines.
    fn find_dumps(&mut self) {
        let mut has_line = false;
        for (number, line) in (1..).zip(&self.scope.lines) {
            let Content::Dump(patterns) = &line.content else { continue };
            has_line = true;
            for pattern in patterns {
                match matches(&self.path, pattern) {
                    Ok(found) => {
                        for dump in found {
                            if !self.dumps.contains(&dump) {
                                self.dumps.push(dump);
                            }
                        }
                    }
                    Err(problem) => {
                        let start = line.text.find(pattern.as_str()).unwrap_or(0);
                        let (text, columns) = cleaned(&line.text, (start, start + pattern.len()));
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
        if !self.scope.lines.iter().any(|line| is_expectation(&line.content)) {
            self.errors.push(FileError::of_file("no expectation".to_owned(), None));
        }
        if !has_line {
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
    /// The file is too large.
    #[error("more than {MAX_FILE} bytes, the maximum of a file of expectations; split it")]
    TooLarge,
}

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a file of expectations, without a byte order mark at its start.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, FileReadError> {
    // A pipe or a device has no size.
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

/// Starts of dumps: a zip archive, and a core file.
const DUMPS: [&[u8]; 2] = [b"PK\x03\x04", b"\x7fELF"];

/// Reads and parses a file.
fn parsed(path: &Path) -> Result<ScopeFile, Vec<FileError>> {
    let bytes = read(path).map_err(|error| vec![FileError::of_file(error.to_string(), None)])?;
    if DUMPS.iter().any(|magic| bytes.starts_with(magic)) {
        let problem = "this is a dump, no file of expectations about one".to_owned();
        let hint = "`lanescope check --new DUMP` drafts a file for a dump".to_owned();
        return Err(vec![FileError::of_file(problem, Some(hint))]);
    }
    check::parse(&bytes).map_err(|errors| {
        // `FileError::of_syntax` cleans the lines: their columns move.
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        errors.into_iter().map(|error| FileError::of_syntax(error, &lines)).collect()
    })
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
        let name = clean(path.strip_prefix(folder).unwrap_or(&path).to_string_lossy()).into_owned();
        PlannedDump { path, name, report: None }
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
        let is_dump = path.is_file() || is_dump_folder(path);
        is_dump && path.strip_prefix(&start).is_ok_and(|below| rest.matches_path_with(below, options))
    };
    let empty = Path::new("");
    let start = if start == empty { Path::new(".") } else { &start };
    Ok(folder::below(start, &takes)?)
}
