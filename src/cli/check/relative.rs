//! Paths of a draft, relative to the folder of the file that receives it.

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::path::{Component, Path, PathBuf};

use crate::check::NameError;
use crate::clean::clean;
use crate::mapping;

/// The folder of a draft.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Whether the draft goes to a file there. Otherwise its place is unknown, and this is the working folder.
    pub(super) is_known: bool,
}

impl Folder {
    /// The folder of that file, which is not the standard output; without one that of the file behind the latter.
    ///
    /// # Errors
    /// The folder is unreadable.
    pub(super) fn of(output: Option<&Path>) -> std::io::Result<Self> {
        let file = output.map_or_else(behind_standard_output, |path| Some(path.to_owned()));
        let folder = file.as_deref().map(|file| file.parent().unwrap_or(Path::new("")));
        let whole =
            fs::canonicalize(folder.filter(|folder| *folder != Path::new("")).unwrap_or(Path::new(".")));
        Ok(Self { path: whole?, is_known: folder.is_some() })
    }

    /// A path relative to the folder, as a file of expectations has it.
    ///
    /// # Errors
    /// [`NameError`]: the path is not UTF-8.
    pub(super) fn name(&self, path: &Path) -> Result<String, NameError> {
        let name = path_from(&self.path, &whole(path));
        // `-` alone is the standard input.
        let name = if name == Path::new("-") { Path::new(".").join(name) } else { name };
        name.to_str().map(str::to_owned).ok_or_else(|| NameError(clean(name.to_string_lossy()).into_owned()))
    }
}

/// The regular file that the standard output is; `None`: it is another stream, or the file has no name any more.
fn behind_standard_output() -> Option<PathBuf> {
    let own = File::from(std::io::stdout().as_fd().try_clone_to_owned().ok()?).metadata().ok()?;
    let path = fs::read_link("/proc/self/fd/1").ok().filter(|_| own.is_file())?;
    let named = fs::metadata(&path).ok()?;
    (mapping::identity(&named) == mapping::identity(&own)).then_some(path)
}

/// An absolute path whose folders are no links: `..` behind a link leads to the folder of its target. The last part
/// stays as it is.
fn whole(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parts = path.parent().zip(path.file_name());
    let named = parts.and_then(|(folder, name)| Some(fs::canonicalize(folder).ok()?.join(name)));
    named.or_else(|| fs::canonicalize(&path).ok()).unwrap_or(path)
}

/// The relative path that leads from a folder to a path; both are absolute, without `.` and `..`.
fn path_from(folder: &Path, path: &Path) -> PathBuf {
    let is_same = |(one, other): &(Component<'_>, Component<'_>)| one == other;
    let common = folder.components().zip(path.components()).take_while(is_same).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(common)).collect();
    if relative == Path::new("") { PathBuf::from(".") } else { relative }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Folder, path_from};

    #[test]
    fn a_path_leads_from_its_folder() {
        for (folder, path, expected) in [
            ("/a/n", "/a/o/oob.zip", "../o/oob.zip"),
            ("/a", "/a/o/oob.zip", "o/oob.zip"),
            ("/a/b/c", "/x.zip", "../../../x.zip"),
            ("/", "/x.zip", "x.zip"),
            ("/a/b", "/a/bc", "../bc"),
            ("/a/b", "/a/b", "."),
        ] {
            assert_eq!(path_from(Path::new(folder), Path::new(path)), Path::new(expected), "{folder} {path}");
        }
    }

    /// A file of expectations cannot name the standard input.
    #[test]
    fn a_file_with_the_name_of_standard_input_has_a_folder() {
        let folder = Folder { path: std::env::current_dir().unwrap(), is_known: true };
        assert_eq!(folder.name(Path::new("-")).unwrap(), "./-");
        assert_eq!(folder.name(Path::new("./x.zip")).unwrap(), "x.zip");
    }
}
