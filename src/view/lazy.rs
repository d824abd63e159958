//! Views that are built when a client first asks, for all clients.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Extent, Growth, STUB, SourcePlaces, View, ViewObject, elf, native};
use crate::capture::SourceMap;
use crate::session::{Dump, Inspect, Session};

/// The views of a dump, once they are wanted, and where they lie as files, once somebody wants that.
#[derive(Debug)]
pub struct Views {
    dump: Arc<Dump>,
    session: Session,
    extent: Extent,
    map: SourceMap,
    /// Whether debuggers run on this machine, and find its files.
    is_local: bool,
    sources: OnceLock<Option<tempfile::TempDir>>,
    built: OnceLock<View>,
    natives: OnceLock<Vec<Option<Arc<ViewObject>>>>,
    folder: OnceLock<Result<tempfile::TempDir, String>>,
    /// Whether the files of the views are in the folder.
    filled: OnceLock<Result<(), String>>,
    /// Files that were added to the folder.
    added: AtomicUsize,
}

impl Views {
    /// Views for a dump's clients. The stacks of the waves that the session serves decide what is in them. Nothing is built
    /// yet.
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

    /// The same for debuggers that find source files where `map` says; `is_local`: they run on this machine, and get those of
    /// the capture from a folder of this process.
    #[must_use]
    pub fn with_sources(self, map: SourceMap, is_local: bool) -> Self {
        Self { map, is_local, ..self }
    }

    /// Where source files are. Those of the capture are written.
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
            view
        })
    }

    /// The code objects for a gdb with amdgcn, in the capture's order, without windows; `None` where only memory holds the
    /// object, or it is damaged.
    #[must_use]
    pub fn natives(&self) -> &[Option<Arc<ViewObject>>] {
        self.natives.get_or_init(|| native::all(&self.dump, &self.session))
    }

    /// What a client's view lacks of the stacks that its session has now; `room`: how many objects may be added.
    #[must_use]
    pub fn grown(&self, view: &View, session: &dyn Inspect, room: usize) -> Option<Growth> {
        view.grown(&self.dump, session, room)
    }

    /// Writes one more file into the folder, for one client; its path.
    ///
    /// # Errors
    /// As [`Self::folder`].
    pub fn add(&self, object: &ViewObject) -> Result<PathBuf, String> {
        let folder = self.folder()?;
        loop {
            let number = self.added.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{number}.{}", object.name));
            match write(&path, |out| object.file.write_to(out)) {
                Ok(()) => return Ok(path),
                // A code object of such a name; there are only so many.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("cannot write the view of {}: {error}", object.name)),
            }
        }
    }

    /// A folder of this process with the views in it as files; nobody else can look into it, and it goes when the views
    /// do.
    ///
    /// # Errors
    /// What the operating system says, in words.
    pub fn folder(&self) -> Result<&Path, String> {
        let folder = self.folder.get_or_init(|| {
            private_folder().map_err(|error| format!("cannot make a folder for views: {error}"))
        });
        let folder = folder.as_ref().map_err(Clone::clone)?.path();
        let filled = self.filled.get_or_init(|| {
            write(&folder.join(STUB), |out| elf::stub().write_to(out))
                .map_err(|error| format!("cannot write the stub: {error}"))?;
            self.get().objects().iter().try_for_each(|object| {
                write(&folder.join(&object.name), |out| object.file.write_to(out))
                    .map_err(|error| format!("cannot write the view of {}: {error}", object.name))
            })
        });
        filled.clone().map(|()| folder)
    }

    /// Removes the folders, whoever still holds the views: the process is about to end.
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

/// A new folder that only this user can look into.
fn private_folder() -> io::Result<tempfile::TempDir> {
    let only_us = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("lanescope-").permissions(only_us).tempdir()
}

/// Writes a file that was not there before.
pub(super) fn write(
    path: &Path,
    contents: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create_new(path)?);
    contents(&mut out)?;
    out.flush()?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o400))
}
