//! The files of a dump's code objects: each range of bytes is read, unpacked and split into its code objects once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::entry::{Chooser, Contents, Span, span};
use crate::capture::{self, Capture, Extent, distinct};
use crate::codeobject::{Bytes, CodeObject, Section, UnpackMemory};
use crate::debuginfo::DebugInfo;
use crate::session::error::ObjectCause;
use crate::session::stack::unwind::{RowCache, UnwindTable};

/// Limit of the bytes of all files of a dump's code objects: this multiple of the distinct bytes, plus
/// [`MORE_OVERLAP`]. A range that several code objects name counts once. The same limit holds for the code objects that
/// a bundle or host program has, where each file has an equal part of [`MORE_OVERLAP`].
pub(in crate::session) const MAX_OVERLAP: u64 = 4;
const MORE_OVERLAP: u64 = 16 << 20;

/// A range of a capture with one or more code objects.
#[derive(Debug)]
pub(super) struct HeldFile {
    extent: Option<Extent>,
    image: bool,
    /// Indexes of its code objects, in order.
    users: Vec<usize>,
    /// Its part of [`MORE_OVERLAP`]; `None`: this file exceeds the limit of overlapping bytes.
    share: Option<u64>,
    memory: UnpackMemory,
    rows: Arc<RowCache>,
    chosen: OnceLock<Result<HashMap<usize, Chosen>, ObjectCause>>,
}

type Chosen = Result<Arc<ObjectFile>, ObjectCause>;

/// The bytes of code objects that differ in their addresses, names and agents only: GPUs that run one program.
#[derive(Debug)]
pub(super) struct ObjectFile {
    /// Index of the first of them.
    pub(super) first: usize,
    bytes: Bytes,
    image: bool,
    memory: UnpackMemory,
    object: OnceLock<Result<Arc<CodeObject>, ObjectCause>>,
    has_compressed: OnceLock<bool>,
    pub(super) debug: OnceLock<Result<Arc<DebugInfo>, ObjectCause>>,
    pub(super) unwind: UnwindTable,
}

impl HeldFile {
    /// The file of each code object.
    pub(super) fn each(capture: &Capture, memory: &UnpackMemory) -> Vec<Arc<Self>> {
        let place = |extent: Extent| (extent.backing, extent.offset, extent.length);
        let key =
            |object: &capture::CodeObject| (object.extent.map(place), object.debug.map(place), object.image);
        let mut users: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, object) in capture.code_objects.iter().enumerate() {
            users.entry(key(object)).or_default().push(index);
        }
        let extents = |object: &capture::CodeObject| [object.extent, object.debug].into_iter().flatten();
        let runs = distinct(capture.code_objects.iter().flat_map(extents).collect());
        let bytes = runs.iter().fold(0u64, |sum, run| sum.saturating_add(run.length));
        let mut left = bytes.saturating_mul(MAX_OVERLAP).saturating_add(MORE_OVERLAP);
        let share = MORE_OVERLAP / (users.len() as u64).max(1);
        let rows = Arc::<RowCache>::default();
        let mut known = HashMap::new();
        let each = capture.code_objects.iter().map(|object| {
            let key = key(object);
            let file = known.entry(key).or_insert_with(|| {
                let bytes = extents(object).fold(0u64, |sum, extent| sum.saturating_add(extent.length));
                let rest = left.checked_sub(bytes);
                left = rest.unwrap_or(left);
                Arc::new(Self {
                    extent: object.extent,
                    image: object.image,
                    users: users.remove(&key).unwrap_or_default(),
                    share: rest.map(|_| share),
                    memory: memory.clone(),
                    rows: Arc::clone(&rows),
                    chosen: OnceLock::new(),
                })
            });
            Arc::clone(file)
        });
        each.collect()
    }

    /// The file of one of its code objects. The first call reads and splits the range for all of them, so that the
    /// bounds do not depend on the order of calls.
    pub(super) fn of(&self, capture: &Capture, index: usize) -> Result<&Arc<ObjectFile>, ObjectCause> {
        let chosen = self.chosen.get_or_init(|| self.split(capture)).as_ref().map_err(Clone::clone)?;
        chosen.get(&index).ok_or(ObjectCause::NoSuchObject)?.as_ref().map_err(Clone::clone)
    }

    /// [`Self::of`], if it is known.
    pub(super) fn known(&self, index: usize) -> Option<&Arc<ObjectFile>> {
        self.chosen.get()?.as_ref().ok()?.get(&index)?.as_ref().ok()
    }

    fn split(&self, capture: &Capture) -> Result<HashMap<usize, Chosen>, ObjectCause> {
        let extent = self.extent.ok_or(ObjectCause::NoBytes)?;
        let share = self.share.ok_or(ObjectCause::Overlaps)?;
        let bytes = capture.view(extent).map_err(|error| ObjectCause::Io(error.to_string()))?;
        let contents = match self.image {
            true => Contents::image(Bytes::new(bytes)),
            false => Contents::read(Bytes::new(bytes), &self.memory)?,
        };
        let mut chooser = Chooser::new(capture, &contents, share);
        let mut files: HashMap<Span, Arc<ObjectFile>> = HashMap::new();
        let objects = self.users.iter().filter_map(|index| Some((*index, capture.code_objects.get(*index)?)));
        let chosen = objects.map(|(index, object)| {
            let file = chooser.choose(object).map(|bytes| {
                Arc::clone(files.entry(span(&bytes)).or_insert_with(|| Arc::new(self.file(index, bytes))))
            });
            (index, file)
        });
        Ok(chosen.collect())
    }

    fn file(&self, first: usize, bytes: Bytes) -> ObjectFile {
        ObjectFile {
            first,
            bytes,
            image: self.image,
            memory: self.memory.clone(),
            object: OnceLock::new(),
            has_compressed: OnceLock::new(),
            debug: OnceLock::new(),
            unwind: UnwindTable::sharing(&self.rows, first),
        }
    }
}

impl ObjectFile {
    /// The parsed file: read once. `watch` receives it at that time.
    pub(super) fn object(&self, watch: impl FnOnce(&CodeObject)) -> Result<Arc<CodeObject>, ObjectCause> {
        let parse = || {
            let parsed = match self.image {
                true => CodeObject::parse_image(self.bytes.clone())?,
                false => CodeObject::parse_within(self.bytes.clone(), &self.memory)?,
            };
            watch(&parsed);
            Ok(Arc::new(parsed))
        };
        self.object.get_or_init(parse).clone()
    }

    /// Whether its sections take memory to unpack.
    pub(super) fn has_compressed(&self) -> bool {
        let any = || {
            let object = self.object.get().and_then(|object| object.as_ref().ok());
            object.is_some_and(|object| object.sections().iter().any(Section::is_compressed))
        };
        *self.has_compressed.get_or_init(any)
    }
}
