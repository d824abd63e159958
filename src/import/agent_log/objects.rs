//! The code objects that a log names, and where their files are: saved beside it, given by the user, or where the loader
//! had them from.
//!
//! The log says where each lies in memory, and with that how long it is: a file of another length is another build.

use std::collections::HashMap;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read::RawObject;
use crate::arch::{Target, Targets};
use crate::capture::{Backing, BackingId, CodeObject as Loaded, Extent};
use crate::codeobject::{Bytes, CodeObject, Uri, UriPlace};
use crate::import::Options;
use crate::import::file::OpenFile;
use crate::import::problem::Problems;
use crate::import::text::nearest;
use crate::units::Address;

/// The most files of code objects that are open at once; each keeps a descriptor.
pub(super) const MOST_FILES: usize = 256;

/// Code objects with what is at hand of each.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) each: Vec<Object>,
    /// Their files, which follow the arena.
    pub(super) backings: Vec<Arc<dyn Backing>>,
    open: HashMap<PathBuf, BackingId>,
}

/// One code object.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) loaded: Loaded,
    /// The address after its last byte in memory.
    pub(super) end: u64,
    pub(super) parsed: Option<CodeObject>,
    pub(super) target: Option<Arc<Target>>,
}

/// A file's part that may be the code object.
struct Candidate {
    path: PathBuf,
    offset: u64,
    size: Option<u64>,
}

/// Finds the files of a log's code objects; `folder` is where the log lies.
pub(super) fn find(
    raw: &[RawObject],
    folder: Option<&Path>,
    targets: &Targets,
    options: &Options,
    problems: &mut Problems,
) -> Objects {
    let mut objects = Objects::default();
    let mut used = vec![false; options.code_objects.len()];
    for object in raw {
        let found = objects.one(object, folder, options, &mut used, problems);
        objects.each.push(entry(object, found, targets));
    }
    for (supplied, used) in options.code_objects.iter().zip(used) {
        if !used {
            objects.supplied(supplied, targets, problems);
        }
    }
    objects
}

fn entry(object: &RawObject, found: Option<(Extent, CodeObject)>, targets: &Targets) -> Object {
    let (extent, parsed) = found.unzip();
    let processor =
        parsed.as_ref().and_then(|parsed| crate::arch::Processor::of_mach(parsed.header().mach()));
    let target = parsed.as_ref().and_then(|parsed| targets.by_elf_machine(parsed.header().flags));
    let target = target.or_else(|| nearest(targets, processor?));
    let loaded = Loaded {
        address: Address(object.start),
        extent,
        uri: Some(object.uri.clone()),
        entry: None,
        build_id: None,
        agent: None,
        name: object.uri.clone(),
        image: false,
        origin: None,
    };
    Object { loaded, end: object.end, parsed, target }
}

/// The name under which the agent saves a code object: its URI with `:/#?&=` replaced.
pub(super) fn saved_name(uri: &str) -> String {
    uri.replace([':', '/', '#', '?', '&', '='], "_")
}

impl Objects {
    fn one(
        &mut self,
        object: &RawObject,
        folder: Option<&Path>,
        options: &Options,
        used: &mut [bool],
        problems: &mut Problems,
    ) -> Option<(Extent, CodeObject)> {
        let size = object.end.saturating_sub(object.start);
        for (index, supplied) in options.code_objects.iter().enumerate() {
            let whole = Candidate { path: supplied.file.clone(), offset: 0, size: None };
            let here = supplied.address == Some(object.start);
            // One without an address is tried everywhere and refused in silence: it may be for another place.
            let found = match supplied.address {
                Some(_) if here => self.fitting(&whole, object, options.force, problems),
                None => self.open(&whole).ok().filter(|(_, parsed)| length(parsed) == Some(size)),
                _ => None,
            };
            if here || found.is_some() {
                if let Some(used) = used.get_mut(index) {
                    *used = true;
                }
                if found.is_some() {
                    return found;
                }
            }
        }
        let saved = saved_name(&object.uri);
        let folders = folder.into_iter().chain(options.symbols.iter().map(PathBuf::as_path));
        let beside: Vec<PathBuf> = folders.map(|folder| folder.join(&saved)).collect();
        let beside = beside.into_iter().map(|path| Candidate { path, offset: 0, size: None });
        let candidates: Vec<Candidate> = beside.chain(from_uri(&object.uri)).collect();
        for candidate in candidates {
            if !candidate.path.is_file() {
                continue;
            }
            if let Some(found) = self.fitting(&candidate, object, options.force, problems) {
                return Some(found);
            }
        }
        let what = format_args!("the code object {} is not at hand", object.uri);
        let expected = format_args!(
            "{saved} beside the log (the agent's --save-code-objects) or in a folder of --symbols, or --code-object \
             FILE@{:#x}",
            object.start
        );
        problems.line(object.line, what, expected);
        None
    }

    /// A code object that the user gives and the log does not name.
    fn supplied(&mut self, supplied: &crate::import::Supplied, targets: &Targets, problems: &mut Problems) {
        let name = supplied.file.display().to_string();
        let candidate = Candidate { path: supplied.file.clone(), offset: 0, size: None };
        let (extent, parsed) = match self.open(&candidate) {
            Ok(found) => found,
            Err(error) => {
                problems.whole(format_args!("--code-object {name}: {error}"), "an AMDGPU code object");
                return;
            }
        };
        let Some(address) = supplied.address else {
            let what = format_args!("--code-object {name} is as long as no code object of the log");
            problems.whole(what, "FILE@ADDRESS, which says where it was loaded");
            return;
        };
        let end = address.saturating_add(length(&parsed).unwrap_or(0));
        let raw = RawObject { uri: name, start: address, end, line: 0 };
        let mut object = entry(&raw, Some((extent, parsed)), targets);
        object.loaded.uri = None;
        self.each.push(object);
    }

    /// Opens a candidate and compares its length with what the log says; what does not fit is a problem.
    fn fitting(
        &mut self,
        candidate: &Candidate,
        object: &RawObject,
        force: bool,
        problems: &mut Problems,
    ) -> Option<(Extent, CodeObject)> {
        let name = candidate.path.display();
        let (extent, parsed) = match self.open(candidate) {
            Ok(found) => found,
            Err(error) => {
                problems.line(object.line, format_args!("{name}: {error}"), "an AMDGPU code object");
                return None;
            }
        };
        let (size, length) = (object.end.saturating_sub(object.start), length(&parsed).unwrap_or(0));
        if size != length {
            let force = if force { "taken all the same" } else { "not taken; --force takes it" };
            let what = format_args!("{name} is another build: {length:#x} bytes are loaded from it, {force}");
            problems.line(object.line, what, format_args!("{size:#x} bytes, as the log says"));
        }
        (size == length || force).then_some((extent, parsed))
    }

    fn open(&mut self, candidate: &Candidate) -> Result<(Extent, CodeObject), String> {
        let backing = match self.open.get(&candidate.path) {
            Some(known) => *known,
            None if self.backings.len() >= MOST_FILES => {
                return Err(format!("more than {MOST_FILES} files of code objects"));
            }
            None => {
                let file = OpenFile::open(&candidate.path).map_err(|error| error.to_string())?;
                self.backings.push(Arc::new(file));
                // The arena comes first.
                let id = BackingId(self.backings.len() as u32);
                self.open.insert(candidate.path.clone(), id);
                id
            }
        };
        let store = (backing.0 as usize).checked_sub(1).and_then(|index| self.backings.get(index));
        let store = store.ok_or("no such file")?;
        let left = store.len().saturating_sub(candidate.offset);
        let length = candidate.size.unwrap_or(left);
        if length > left {
            return Err(format!(
                "the file ends before the code object does, {length} bytes at {:#x}",
                candidate.offset
            ));
        }
        let extent = Extent { backing, offset: candidate.offset, length };
        let view = store.view(extent.offset, extent.length).map_err(|error| error.to_string())?;
        let parsed = CodeObject::parse(Bytes::new(view)).map_err(|error| error.to_string())?;
        Ok((extent, parsed))
    }

    /// The code object that holds an address.
    pub(super) fn at(&self, address: u64) -> Option<&Object> {
        self.each.iter().find(|object| (object.loaded.address.0..object.end).contains(&address))
    }
}

/// Bytes that a code object takes in memory from its load address on.
fn length(object: &CodeObject) -> Option<u64> {
    object.image().map(|image| image.end.0)
}

/// The part of a file that a `file://` URI names.
fn from_uri(uri: &str) -> Option<Candidate> {
    let uri = Uri::parse(uri).ok()?;
    let UriPlace::File(path) = uri.place else { return None };
    let path = PathBuf::from(std::ffi::OsString::from_vec(path));
    // A log from elsewhere names paths of elsewhere; a relative one would count from wherever this program runs.
    path.is_absolute().then_some(Candidate { path, offset: uri.offset.unwrap_or(0), size: uri.size })
}
