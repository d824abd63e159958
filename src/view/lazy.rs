//! Views built at the first request of a client, for all clients.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Extent, Growth, STUB, SourcePlaces, View, ViewObject, elf, native};
use crate::capture::SourceMap;
use crate::session::{Dump, Inspect, Session};

/// The views of a dump, built on demand, and their files, written on demand.
#[derive(Debug)]
pub struct Views {
    dump: Arc<Dump>,
    session: Session,
    extent: Extent,
    map: SourceMap,
    /// Whether debuggers run on this machine and find its files.
    is_local: bool,
    sources: OnceLock<Option<tempfile::TempDir>>,
    built: OnceLock<View>,
    natives: OnceLock<Vec<Option<Arc<ViewObject>>>>,
    folder: OnceLock<Result<tempfile::TempDir, ViewFileError>>,
    /// Whether the folder has the files of the views.
    filled: OnceLock<Result<(), ViewFileError>>,
    /// The number of files added to the folder.
    added: AtomicUsize,
}

/// A file or folder of views that cannot be written; with the operating system's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewFileError {
    /// The folder.
    #[error("cannot make a folder for views: {0}")]
    Folder(String),
    /// The stub, which debuggers load first.
    #[error("cannot write the stub: {0}")]
    Stub(String),
    /// The view of a code object.
    #[error("cannot write the view of {name}: {error}")]
    Object {
        /// The code object's name.
        name: String,
        /// The error.
        error: String,
    },
}

impl ViewFileError {
    fn object(object: &ViewObject, error: &io::Error) -> Self {
        Self::Object { name: object.name.clone(), error: error.to_string() }
    }
}

impl Views {
    /// Views for a dump's clients, not built yet. The stacks of the session's waves determine their contents.
    #[must_use]
    pub fn new(dump: Arc<Dump>, session: Session, extent: Extent) -> Self {
        Self {
            dump,
            session,
            extent,
            map: SourceMap::default(),
            is_local: false,
            sources: OnceLock::new(),
            built: OnceLock::new(),
            natives: OnceLock::new(),
            folder: OnceLock::new(),
            filled: OnceLock::new(),
            added: AtomicUsize::new(0),
        }
    }

    /// The same for debuggers that find source files by `map`. `is_local`: they run on this machine, and find the
    /// capture's files in a folder of this process.
    #[must_use]
    pub fn with_sources(self, map: SourceMap, is_local: bool) -> Self {
        Self { map, is_local, ..self }
    }

    /// Locations of source files. Writes the capture's files.
    fn source_places(&self) -> SourcePlaces {
        let capture = self.dump.capture();
        let folder = self.sources.get_or_init(|| {
            let is_wanted = self.is_local && !capture.sources.is_empty();
            let made = is_wanted.then(private_folder)?;
            made.map_err(|error| log::warn!("cannot make a folder for source files: {error}")).ok()
        });
        match folder {
            Some(folder) => SourcePlaces::written(self.map.clone(), capture, folder.path()),
            None => SourcePlaces::mapped(self.map.clone()),
        }
    }

    /// The views.
    #[must_use]
    pub fn get(&self) -> &View {
        self.built.get_or_init(|| {
            let places = Arc::new(self.source_places());
            let view = View::with_sources(&self.dump, &self.session, self.extent, places);
            view.problems().iter().for_each(|problem| log::info!("{problem}"));
            view.unmapped_sources().iter().for_each(|problem| log::warn!("{problem}"));
            view
        })
    }

    /// The code objects for a gdb with amdgcn, in the capture's order, without windows; `None` for an object that is
    /// damaged or only in memory.
    #[must_use]
    pub fn natives(&self) -> &[Option<Arc<ViewObject>>] {
        self.natives.get_or_init(|| native::all(&self.dump, &self.session))
    }

    /// The missing parts of a client's view for the current stacks of its session; `capacity`: the maximum of objects to
    /// add.
    #[must_use]
    pub fn grown(&self, view: &View, session: &dyn Inspect, capacity: usize) -> Option<Growth> {
        view.grown(&self.dump, session, capacity)
    }

    /// Writes one more file into the folder, for one client; returns its path.
    ///
    /// # Errors
    /// The errors of [`Self::folder`].
    pub fn add(&self, object: &ViewObject) -> Result<PathBuf, ViewFileError> {
        let folder = self.folder()?;
        loop {
            let number = self.added.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{number}.{}", object.name));
            match write(&path, |out| object.file.write_to(out)) {
                Ok(()) => return Ok(path),
                // A code object has that name; the number of code objects is finite.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(ViewFileError::object(object, &error)),
            }
        }
    }

    /// A folder of this process with the files of the views; private to the user, and removed with the views.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn folder(&self) -> Result<&Path, ViewFileError> {
        let folder = self
            .folder
            .get_or_init(|| private_folder().map_err(|error| ViewFileError::Folder(error.to_string())));
        let folder = folder.as_ref().map_err(Clone::clone)?.path();
        let filled = self.filled.get_or_init(|| {
            write(&folder.join(STUB), |out| elf::stub().write_to(out))
                .map_err(|error| ViewFileError::Stub(error.to_string()))?;
            self.get().objects().iter().try_for_each(|object| {
                write(&folder.join(&object.name), |out| object.file.write_to(out))
                    .map_err(|error| ViewFileError::object(object, &error))
            })
        });
        filled.clone().map(|()| folder)
    }

    /// Removes the folders although the views are in use, before the process ends.
    pub fn remove_files(&self) {
        let views = self.folder.get().and_then(|folder| folder.as_ref().ok());
        for folder in views.into_iter().chain(self.sources.get().into_iter().flatten()) {
            if let Err(error) = fs::remove_dir_all(folder.path())
                && error.kind() != io::ErrorKind::NotFound
            {
                log::debug!("cannot remove {}: {error}", folder.path().display());
            }
        }
    }
}

/// A new folder with access for this user only.
fn private_folder() -> io::Result<tempfile::TempDir> {
    let only_us = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("lanescope-").permissions(only_us).tempdir()
}

/// Writes a new file; fails if it exists.
pub(super) fn write(
    path: &Path,
    contents: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create_new(path)?);
    contents(&mut out)?;
    out.flush()?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o400))
}
