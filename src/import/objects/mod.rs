//! The code objects of a capture that has memory: which were loaded where, and the bytes that hold their symbols and DWARF.
//!
//! *You give* the captured memory, the address of ROCr's `r_debug` where it is known, and addresses inside code objects (PCs
//! of waves, kernel descriptors of dispatches).
//! *You get* each loaded code object with the best bytes for it, where they came from, and what was refused and why.
//!
//! The set of code objects comes from the runtime's link map (`link_map`) if host memory was captured, the user's
//! addresses, and the images that `discover` finds around unexplained addresses. Bytes come from, in this order, the
//! user's file, the URI that the runtime kept, folders of the user, other code objects of the same build, debuginfod,
//! and at last the image in memory, which has symbols and no DWARF. Bytes with debug information are better than
//! bytes without. All bytes are compared with memory (`compare`) before they are taken: variables of another build
//! would be read from the wrong places. A file of this machine that the capture names counts as
//! `Options::local_files` allows, and its refusals are alike (docs/security.md). A text that lists code objects has
//! no memory: all of its facts must hold (`listed`).

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

use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) use candidate::local;
pub use debuginfod::Debuginfod;
pub(super) use find::{NOT_USED, find, find_listed};
pub(super) use link_map::is_version;
pub use link_map::{Entry, LinkMap, MAX_NAME, MAX_NAMES, MAX_NODES};
pub(super) use listed::{List, Listed};

use crate::capture::{self, Backing, BackingId, Extent};
use crate::codeobject::Bytes;
use crate::units::Address;

/// Captured memory of the process, by address.
pub trait Memory {
    /// Reads from `address` on, as far as captured bytes reach without a gap; how many bytes that were.
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize;

    /// First and last address of the run of captured bytes that holds `address`; what follows may belong to another run.
    fn segment(&self, address: u64) -> Option<(u64, u64)>;

    /// A lasting view of a range that is captured as a whole; a copy where it straddles runs.
    fn view(&self, address: u64, length: u64) -> Option<Bytes>;
}

/// Addresses inside code objects that somebody loaded.
#[derive(Clone, Debug, Default)]
pub(super) struct Hints {
    /// Kernel descriptors of dispatches, which surely lie in one.
    pub(super) descriptors: BTreeSet<u64>,
    /// PCs of waves, which may have run wild.
    pub(super) pcs: BTreeSet<u64>,
}

/// The result of [`find()`].
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The code objects: those of the link map in its order, then those that the user placed, then discovered ones.
    pub(super) code_objects: Vec<FoundObject>,
}

/// A loaded code object.
#[derive(Debug)]
pub(super) struct FoundObject {
    /// Load address.
    pub(super) address: u64,
    /// The bytes for it, if there are any.
    pub(super) held: Option<Held>,
    /// Where the runtime had it from.
    pub(super) uri: Option<String>,
    /// The build id of the image in memory, else of the bytes; `None` where the user insists on another build.
    pub(super) build_id: Option<Vec<u8>>,
    /// The name for a person.
    pub(super) name: String,
    /// Where the bytes come from, in words.
    pub(super) origin: Option<String>,
}

/// Bytes of a code object.
#[derive(Debug)]
pub(super) enum Held {
    /// A file, or a part of one.
    File(Bytes),
    /// Its image: so many bytes from the load address of its ELF header on.
    Image {
        /// Where its ELF header is.
        address: u64,
        /// Bytes.
        length: u64,
    },
}

impl Found {
    /// The code objects as a capture has them. `by_address`: the store whose offsets are addresses; stores that are needed
    /// besides are added to `backings`.
    pub(super) fn into_capture(
        self,
        by_address: BackingId,
        backings: &mut Vec<Arc<dyn Backing>>,
    ) -> Vec<capture::CodeObject> {
        let objects = self.code_objects.into_iter().map(|found| {
            let image = matches!(found.held, Some(Held::Image { .. }));
            let extent = found.held.and_then(|held| match held {
                Held::Image { address, length } => {
                    Some(Extent { backing: by_address, offset: address, length })
                }
                Held::File(bytes) => {
                    let length = bytes.len() as u64;
                    let backing = BackingId(u32::try_from(backings.len()).ok()?);
                    let name = found.origin.clone().unwrap_or_else(|| found.name.clone());
                    backings.push(Arc::new(capture::MemoryBacking::new(name, bytes)));
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
            }
        });
        objects.collect()
    }
}
