//! Loaded code objects of a capture with memory, and the bytes that hold their symbols and DWARF.
//!
//! Input is the captured memory, the address of ROCr's `r_debug` if known, and addresses in code objects (PCs of waves,
//! kernel descriptors of dispatches). The result is each loaded code object with its best bytes, their origin, and the
//! rejected candidates with reasons.
//!
//! The set of code objects comes from the runtime's link map (`link_map`) if host memory was captured, the user's
//! addresses, and the images that `discover` finds around unexplained addresses. The sources of bytes in order: the
//! user's file, the runtime's URI, the user's folders, other code objects of the same build, debuginfod, and the image
//! in memory, which has symbols and no DWARF. Bytes with debug information have precedence. All bytes are compared with
//! memory (`compare`) first: variables of another build have other places. `Options::local_files` decides on a file of
//! this machine that the capture names, and all its rejections are alike (docs/security.md). For a text without memory
//! all of its facts must match (`listed`).

mod candidate;
mod compare;
mod debuginfod;
mod discover;
mod error;
mod find;
mod folders;
mod link_map;
mod listed;
mod place;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, hash_map};
use std::sync::Arc;

pub(super) use candidate::local;
pub use debuginfod::Debuginfod;
pub(super) use discover::union;
pub(super) use find::{NOT_USED, find, find_listed};
pub(super) use link_map::is_version;
pub use link_map::{Entry, LinkMap, MAX_NAME, MAX_NAMES, MAX_NODES};
pub(super) use listed::{List, Listed};

use crate::capture::{self, Backing, BackingId, Extent};
use crate::codeobject::Bytes;
use crate::units::Address;

/// Captured memory of the process, by address.
pub trait Memory {
    /// Reads captured bytes from `address` on up to the first gap; returns their number.
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize;

    /// First and last address of the run of captured bytes that contains `address`; the next run may follow directly.
    fn segment(&self, address: u64) -> Option<(u64, u64)>;

    /// A persistent view of a range that is captured completely; a copy if it straddles runs.
    fn view(&self, address: u64, length: u64) -> Option<Bytes>;
}

/// Addresses in loaded code objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Hints {
    /// Kernel descriptors of dispatches, which are certainly in one.
    pub(super) descriptors: BTreeSet<u64>,
    /// PCs of waves, which may be wild.
    pub(super) pcs: BTreeSet<u64>,
}

/// The result of [`find()`].
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The code objects: those of the link map in its order, then those that the user places, then discovered ones.
    pub(super) code_objects: Vec<FoundObject>,
}

/// A loaded code object.
#[derive(Debug)]
pub(super) struct FoundObject {
    /// Load address.
    pub(super) address: u64,
    /// Its bytes, if any.
    pub(super) held: Option<Held>,
    /// Its source in the runtime.
    pub(super) uri: Option<String>,
    /// The build id of the image in memory, else of the bytes; `None`: the user chose another build.
    pub(super) build_id: Option<Vec<u8>>,
    /// The displayed name.
    pub(super) name: String,
    /// The origin of the bytes, for messages.
    pub(super) origin: Option<String>,
}

/// Bytes of a code object.
#[derive(Debug)]
pub(super) enum Held {
    /// A file, or a part of one.
    File(Bytes),
    /// Its image in memory.
    Image {
        /// Address of its ELF header.
        address: u64,
        /// Bytes from the header on.
        length: u64,
    },
}

impl Found {
    /// Converts the code objects to the capture's. `by_address`: the backing whose offsets are addresses; further
    /// backings are added to `backings`.
    pub(super) fn into_capture(
        self,
        by_address: BackingId,
        backings: &mut Vec<Arc<dyn Backing>>,
    ) -> Vec<capture::CodeObject> {
        // Code objects of one file have one extent: equal extents share what is read of them.
        let mut known: HashMap<(usize, usize), BackingId> = HashMap::new();
        let objects = self.code_objects.into_iter().map(|found| {
            let image = matches!(found.held, Some(Held::Image { .. }));
            let extent = found.held.and_then(|held| match held {
                Held::Image { address, length } => {
                    Some(Extent { backing: by_address, offset: address, length })
                }
                Held::File(bytes) => {
                    let length = bytes.len() as u64;
                    let backing = match known.entry((bytes.as_ptr() as usize, bytes.len())) {
                        hash_map::Entry::Occupied(known) => *known.get(),
                        hash_map::Entry::Vacant(place) => {
                            let name = found.origin.clone().unwrap_or_else(|| found.name.clone());
                            let backing = BackingId(u32::try_from(backings.len()).ok()?);
                            backings.push(Arc::new(capture::MemoryBacking::new(name, bytes)));
                            *place.insert(backing)
                        }
                    };
                    Some(Extent { backing, offset: 0, length })
                }
            });
            capture::CodeObject {
                address: Address(found.address),
                extent,
                uri: found.uri,
                entry: None,
                build_id: found.build_id,
                agent: None,
                name: found.name,
                image,
                debug: None,
                origin: found.origin,
                forced: false,
                segments: Vec::new(),
            }
        });
        objects.collect()
    }
}
