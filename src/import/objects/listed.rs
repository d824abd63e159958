//! Code objects that a text lists, without captured memory: all of the text's facts must match.
//!
//! A log has a code object's address and length, its source in the runtime, and the addresses of its kernels. Many
//! lengths are equal, since images end on a page: they can refute a candidate and not prove it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Memory;
use super::candidate::{self, Candidate};
use super::compare::Verdict;
use super::error::CandidateError;
use crate::codeobject::{Bytes, CodeObject, Uri, hex};
use crate::import::beneath::Beneath;

/// Maximum number of a code object's kernels that are compared with a candidate.
pub(super) const MAX_KERNELS: usize = 64;

/// A file under the agent's name: its path, and its code objects or the reason that it has none.
pub(super) type Saved = (String, Result<Vec<Arc<Candidate>>, CandidateError>);

/// A text's facts of a code object.
#[derive(Clone, Debug)]
pub(in crate::import) struct Listed {
    /// Load address.
    pub(in crate::import) address: u64,
    /// The address after its last byte.
    pub(in crate::import) end: u64,
    /// Its source in the runtime.
    pub(in crate::import) uri: String,
    /// Addresses of its kernels' first instructions.
    pub(in crate::import) kernels: Vec<u64>,
}

/// A text's list.
pub(in crate::import) struct List<'l> {
    pub(in crate::import) objects: Vec<Listed>,
    /// The folder of the text: code objects may be saved there.
    pub(in crate::import) beside: Option<&'l Path>,
    /// Whether a code object is for the GPU, if the text names it.
    pub(in crate::import) fits: &'l dyn Fn(&CodeObject) -> bool,
}

/// The name under which ROCm's debug agent saves a code object: its URI with `:/#?&=` replaced.
pub(in crate::import) fn saved_name(uri: &str) -> String {
    uri.replace([':', '/', '#', '?', '&', '='], "_")
}

impl Listed {
    /// Code objects in files with the agent's name for it: beside the text, then in the user's folders.
    pub(super) fn saved(&self, beside: Option<&Path>, symbols: &[PathBuf]) -> Vec<Saved> {
        // Any other text would name an arbitrary file there.
        if !Uri::is_uri(&self.uri) {
            return Vec::new();
        }
        let name = saved_name(&self.uri);
        let label = |folder: &Path| folder.join(&name).display().to_string();
        let own = beside.and_then(|folder| {
            let file = Beneath::new(folder).ok()?.open(Path::new(&name)).ok()?;
            let label = label(folder);
            Some((label.clone(), candidate::of_open(&file, &label)))
        });
        let of_user = symbols.iter().filter(|folder| folder.join(&name).is_file());
        let of_user = of_user.map(|folder| (label(folder), candidate::of_file(&folder.join(&name))));
        own.into_iter().chain(of_user).collect()
    }

    /// Compares a code object with the text. `known_id`: the build id of the candidate so far.
    pub(super) fn check(&self, candidate: &Candidate, known_id: Option<&[u8]>) -> Verdict {
        let own_id = candidate.build_id.as_deref();
        if let (Some(known), Some(own)) = (known_id, own_id)
            && known != own
        {
            let what = "it has build id";
            return Verdict::Differs(format!(
                "{what} {}, and what was found before has {}",
                hex(own),
                hex(known)
            ));
        }
        let length = candidate.object.image().map_or(0, |image| image.end.0);
        let size = self.end.saturating_sub(self.address);
        if length != size {
            return Verdict::Differs(format!(
                "it is another build: {length:#x} bytes are loaded from it, and {size:#x} were"
            ));
        }
        let entries: HashSet<u64> =
            candidate.object.kernels().filter_map(|kernel| Some(kernel.entry?.0)).collect();
        let missing = self
            .kernels
            .iter()
            .take(MAX_KERNELS)
            .find(|at| !entries.contains(&at.wrapping_sub(self.address)));
        if let (Some(missing), false) = (missing, entries.is_empty()) {
            return Verdict::Differs(format!(
                "it is another build: no kernel of it begins at {missing:#x}, where one of a wave did"
            ));
        }
        let uri = Uri::parse(&self.uri).ok();
        let by_size = uri.as_ref().is_some_and(|uri| uri.size == Some(candidate.bytes.len() as u64));
        let by_place =
            by_size && uri.is_some_and(|uri| uri.offset.is_some() && uri.offset == candidate.offset);
        let by_kernel = !self.kernels.is_empty() && !entries.is_empty();
        let by_id = known_id.is_some() && known_id == own_id;
        match (by_place, by_size || by_kernel || by_id) {
            (true, _) => Verdict::Said { exact: true },
            (_, true) => Verdict::Said { exact: false },
            _ => Verdict::Same { code: 0, by_id: false },
        }
    }
}

/// The memory of a text: empty.
#[derive(Debug)]
pub(super) struct NoMemory;

impl Memory for NoMemory {
    fn read(&self, _: u64, _: &mut [u8]) -> usize {
        0
    }

    fn segment(&self, _: u64) -> Option<(u64, u64)> {
        None
    }

    fn view(&self, _: u64, _: u64) -> Option<Bytes> {
        None
    }
}
