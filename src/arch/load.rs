//! Search and loading of target files, built-in and the user's.
//!
//! The built-in files are embedded in the program. A session uses one or two processors, so a file is parsed on first
//! use and cached; built-in ones for the life of the process.

use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};

use super::check;
use super::error::TargetError;
use super::schema::File;
use super::target::Target;
use super::wave_arch::WaveArch;
use crate::units::{AddressSpace, WaveSize};

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../targets/", $name, ".toml")))),+]
    };
}

/// Name and text of every built-in file, in AMD's order.
pub(super) const BUILT_IN: &[(&str, &str)] = built_in![
    "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1200",
    "gfx1250",
];

/// Built-in processors in [`Targets::names`], each with its file, in AMD's order.
///
/// This table and [`UNLISTED`] name steppings without parsing a file; a test compares them with the files.
pub(super) const LISTED: &[(&str, &str)] = &[
    ("gfx900", "gfx900"),
    ("gfx906", "gfx906"),
    ("gfx908", "gfx908"),
    ("gfx90a", "gfx90a"),
    ("gfx942", "gfx942"),
    ("gfx950", "gfx950"),
    ("gfx1010", "gfx1010"),
    ("gfx1030", "gfx1030"),
    ("gfx1100", "gfx1100"),
    ("gfx1101", "gfx1100"),
    ("gfx1102", "gfx1100"),
    ("gfx1151", "gfx1100"),
    ("gfx1200", "gfx1200"),
    ("gfx1201", "gfx1200"),
    ("gfx1250", "gfx1250"),
    ("gfx1251", "gfx1250"),
];

/// Built-in steppings omitted from short lists, each with its file.
pub(super) const UNLISTED: &[(&str, &str)] = &[
    ("gfx902", "gfx900"),
    ("gfx904", "gfx900"),
    ("gfx909", "gfx900"),
    ("gfx90c", "gfx900"),
    ("gfx940", "gfx942"),
    ("gfx941", "gfx942"),
    ("gfx1011", "gfx1010"),
    ("gfx1012", "gfx1010"),
    ("gfx1013", "gfx1010"),
    ("gfx1031", "gfx1030"),
    ("gfx1032", "gfx1030"),
    ("gfx1033", "gfx1030"),
    ("gfx1034", "gfx1030"),
    ("gfx1035", "gfx1030"),
    ("gfx1036", "gfx1030"),
    ("gfx1103", "gfx1100"),
    ("gfx1150", "gfx1100"),
    ("gfx1152", "gfx1100"),
    ("gfx1153", "gfx1100"),
];

/// Maximum size of a target file in bytes, fifty times the longest built-in one.
const MAX_BYTES: u64 = 1 << 20;

static SHARED: LazyLock<Vec<Arc<Entry>>> = LazyLock::new(|| {
    let source = |(name, text): &(&str, &'static str)| Source {
        origin: format!("targets/{name}.toml"),
        text: Cow::Borrowed(text),
        is_built_in: true,
    };
    let sources: Vec<_> = BUILT_IN.iter().map(|file| (file.0, Arc::new(source(file)))).collect();
    let entry = |(name, file): &(&str, &str), is_listed| {
        let (_, source) = sources.iter().find(|(of, _)| of == file)?;
        Some(Entry::new((*name).to_owned(), source, is_listed))
    };
    let listed = LISTED.iter().filter_map(|one| entry(one, true));
    listed.chain(UNLISTED.iter().filter_map(|one| entry(one, false))).collect()
});

/// One target file.
#[derive(Debug)]
struct Source {
    origin: String,
    text: Cow<'static, str>,
    is_built_in: bool,
}

/// One processor of a target file, parsed on first use.
#[derive(Debug)]
struct Entry {
    name: String,
    source: Arc<Source>,
    is_listed: bool,
    loaded: OnceLock<Result<Loaded, TargetError>>,
}

#[derive(Debug)]
struct Loaded {
    file: File,
    target: Arc<Target>,
    kinds: [OnceLock<Arc<WaveArch>>; 2],
}

impl Entry {
    fn new(name: String, source: &Arc<Source>, is_listed: bool) -> Arc<Self> {
        Arc::new(Self { name, source: Arc::clone(source), is_listed, loaded: OnceLock::new() })
    }

    fn load(&self) -> Result<&Loaded, TargetError> {
        let loaded = self.loaded.get_or_init(|| {
            let Source { origin, text, .. } = &*self.source;
            let mut file = parse(origin, text)?;
            if file.target.name != self.name {
                let unknown = || TargetError::Unknown { name: self.name.clone(), known: origin.clone() };
                file = file.stepping(&self.name).ok_or_else(unknown)?;
            }
            let target = Arc::new(Target::new(&file));
            Ok(Loaded { file, target, kinds: [OnceLock::new(), OnceLock::new()] })
        });
        loaded.as_ref().map_err(Clone::clone)
    }
}

impl Loaded {
    fn kind(&self, wave_size: WaveSize) -> Option<Arc<WaveArch>> {
        if !self.target.wave_sizes.contains(&wave_size) {
            return None;
        }
        let slot = match wave_size {
            WaveSize::W32 => &self.kinds[0],
            WaveSize::W64 => &self.kinds[1],
        };
        Some(Arc::clone(
            slot.get_or_init(|| Arc::new(WaveArch::new(Arc::clone(&self.target), &self.file, wave_size))),
        ))
    }
}

/// Parses a file and runs all checks.
pub(super) fn parse(origin: &str, text: &str) -> Result<File, TargetError> {
    let file: File = toml::from_str(text)
        .map_err(|error| TargetError::Syntax { file: origin.to_owned(), error: Box::new(error) })?;
    let problems = check::all(&file);
    if problems.is_empty() {
        Ok(file)
    } else {
        Err(TargetError::Invalid { file: origin.to_owned(), problems })
    }
}

/// The known processors.
#[derive(Clone, Debug)]
pub struct Targets {
    entries: Vec<Arc<Entry>>,
}

impl Targets {
    /// Returns the built-in targets. Cheap: nothing is parsed yet, and parsed files are shared.
    #[must_use]
    pub fn builtin() -> Self {
        Self { entries: SHARED.clone() }
    }

    /// Returns the space of a pointer by its `DW_AT_address_class`, in units of that augmentation, without a target.
    /// All built-in targets have the same table, which a test verifies. `None`: the class has no meaning there.
    #[must_use]
    pub fn address_class(augmentation: &str, class: Option<u64>) -> Option<AddressSpace> {
        let targets = Self::builtin();
        let target = targets.target(&targets.entries.first()?.name).ok()?;
        Some(target.address_class(Some(augmentation), class)?.id)
    }

    /// Adds the processors of a folder's `.toml` files, steppings included; each replaces a known one of the same name.
    ///
    /// Parses and checks every file at once: errors appear when the folder is named, not when a dump is opened.
    ///
    /// # Errors
    /// The folder or a file is unreadable, a file violates the schema (the error lists all problems), or two files
    /// describe one processor.
    pub fn with_dir(mut self, dir: &Path) -> Result<Self, TargetError> {
        let read_error = |path: &Path, error: std::io::Error| TargetError::Read {
            path: path.to_owned(),
            error: Arc::new(error),
        };
        let mut paths = Vec::new();
        for entry in fs::read_dir(dir).map_err(|error| read_error(dir, error))? {
            let path = entry.map_err(|error| read_error(dir, error))?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                paths.push(path);
            }
        }
        // Folders have no order; the reported error must not depend on the disk.
        paths.sort();
        let mut added: Vec<Arc<Entry>> = Vec::new();
        for path in paths {
            let source = Arc::new(Source {
                origin: path.display().to_string(),
                text: Cow::Owned(read_text(&path)?),
                is_built_in: false,
            });
            let file = parse(&source.origin, &source.text)?;
            let steppings = file.stepping.into_iter().map(|stepping| stepping.name);
            for name in std::iter::once(file.target.name).chain(steppings) {
                if let Some(twin) = added.iter().find(|twin| twin.name == name) {
                    let (first, second) = (twin.source.origin.clone(), source.origin.clone());
                    return Err(TargetError::Twice { name, first, second });
                }
                added.push(Entry::new(name, &source, true));
            }
        }
        for entry in added {
            match self.entries.iter_mut().find(|known| known.name == entry.name) {
                Some(known) => {
                    let (name, new, old) = (&entry.name, &entry.source.origin, &known.source.origin);
                    log::debug!("target {name} of {new} replaces {old}");
                    *known = entry;
                }
                None => self.entries.push(entry),
            }
        }
        Ok(self)
    }

    /// Iterates over the names for lists: built-in targets in AMD's order, then the user's.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|entry| entry.is_listed).map(|entry| entry.name.as_str())
    }

    /// Iterates over the names of all targets: those of [`Self::names`], and the built-in steppings omitted there.
    pub fn all_names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Returns the stop reasons that a dump may have: those of the built-in targets, which a test finds equal, and of each
    /// target of the user.
    #[must_use]
    pub fn stop_reasons(&self) -> Vec<super::StopReason> {
        let users = || self.entries.iter().filter(|entry| !entry.source.is_built_in);
        let built_in = self.entries.iter().find(|entry| entry.source.is_built_in);
        let targets = built_in.into_iter().chain(users()).filter_map(|entry| self.target(&entry.name).ok());
        targets.flat_map(|target| target.stop_reasons.clone()).collect()
    }

    /// Returns the file of a target: a path, or `targets/NAME.toml` for a built-in one.
    #[must_use]
    pub fn origin(&self, name: &str) -> Option<&str> {
        self.entry(name).map(|entry| entry.source.origin.as_str())
    }

    /// Whether a built-in file describes the target.
    #[must_use]
    pub fn is_built_in(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| entry.source.is_built_in)
    }

    /// Returns the target of that name; always the same instance.
    ///
    /// # Errors
    /// The target does not exist (the error lists the known names), or its file is invalid.
    pub fn target(&self, name: &str) -> Result<Arc<Target>, TargetError> {
        Ok(Arc::clone(&self.loaded(name)?.target))
    }

    /// Returns the target of that name at that wave size; always the same instance.
    ///
    /// # Errors
    /// The errors of [`Self::target`], and a wave size that the target lacks.
    pub fn kind(&self, name: &str, wave_size: WaveSize) -> Result<Arc<WaveArch>, TargetError> {
        self.loaded(name)?
            .kind(wave_size)
            .ok_or_else(|| TargetError::WaveSize { target: name.to_owned(), wave_size })
    }

    /// Returns the target of an EF_AMDGPU_MACH value, the low byte of `e_flags`; higher bits are ignored.
    ///
    /// The user's targets come first. An invalid built-in file is skipped.
    #[must_use]
    pub fn by_elf_machine(&self, e_flags: u32) -> Option<Arc<Target>> {
        let machine = e_flags & 0xff;
        let of = |built_in| self.entries.iter().filter(move |entry| entry.source.is_built_in == built_in);
        of(false)
            .chain(of(true))
            .filter_map(|entry| entry.load().ok())
            .find(|loaded| loaded.target.elf_machine == machine)
            .map(|loaded| Arc::clone(&loaded.target))
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name).map(Arc::as_ref)
    }

    fn loaded(&self, name: &str) -> Result<&Loaded, TargetError> {
        let known = || self.names().collect::<Vec<_>>().join(", ");
        let entry =
            self.entry(name).ok_or_else(|| TargetError::Unknown { name: name.to_owned(), known: known() })?;
        entry.load()
    }
}

fn read_text(path: &Path) -> Result<String, TargetError> {
    let fail = |error| TargetError::Read { path: path.to_owned(), error: Arc::new(error) };
    let file = fs::File::open(path).map_err(fail)?;
    crate::mapping::record_input(&file);
    let size = file.metadata().map_err(fail)?.len();
    let mut text = String::new();
    // A pipe or a device has no size, so the limit also applies while reading.
    let read = file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(fail)?;
    if size > MAX_BYTES || read as u64 > MAX_BYTES {
        return Err(TargetError::TooLong {
            path: path.to_owned(),
            size: size.max(read as u64),
            most: MAX_BYTES,
        });
    }
    Ok(text)
}
