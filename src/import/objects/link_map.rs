//! ROCr's list of loaded code objects for debuggers.
//!
//! ROCr publishes it like glibc's list of shared libraries (`<link.h>`): `r_debug` holds the head of a list of
//! `link_map`, in host memory. AMD's use of the fields: `l_addr` is the load address, `l_name` a code object URI. A GPU
//! core without the host's lacks that memory.
//!
//! The list is untrusted: it may be circular or endless, point to any address, and have unterminated names.

use std::collections::HashSet;

use super::Memory;
use crate::integers::{u32_at, u64_at};

/// Maximum number of nodes; the largest programs load some thousand code objects.
pub const MAX_NODES: usize = 65_536;
/// Maximum length of a name in bytes: a URI's longest path with every byte escaped.
pub const MAX_NAME: usize = 16 * 1024;
/// Maximum bytes of all names together: nodes may share one long name.
pub const MAX_NAMES: usize = 16 << 20;
/// Bytes of `struct r_debug` and of `struct link_map` up to the end of the last read field.
const R_DEBUG_SIZE: usize = 28;
const LINK_MAP_SIZE: usize = 32;
/// Bytes of one read of a name: most names are shorter.
const NAME_CHUNK: usize = 256;
/// The version of the first runtimes with captured waves: AMD's library rejects earlier ones, and 0 is unwritten
/// memory.
const FIRST_VERSION: u32 = 8;

/// Whether a runtime has that version of the debugger interface. The field is signed.
pub(in crate::import) fn is_version(version: u32) -> bool {
    (FIRST_VERSION..=i32::MAX as u32).contains(&version)
}

/// ROCr's facts of the code objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkMap {
    /// `r_version`: the version of the runtime's debugger interface; `None`: not captured, or no runtime has it.
    pub r_version: Option<u32>,
    /// The loaded code objects, in the list's order.
    pub entries: Vec<Entry>,
    /// Whether the entries are all of a runtime's list.
    pub is_whole: bool,
    /// The errors of the list.
    pub problems: Vec<Problem>,
}

/// A node of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Load address, `l_addr`.
    pub address: u64,
    /// `l_name`; `None`: empty or unreadable.
    pub uri: Option<String>,
}

/// An error in the list, and its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Address of the error.
    pub address: u64,
    /// The part with the error.
    pub part: &'static str,
    /// The error.
    pub what: String,
    /// The expected value.
    pub expected: &'static str,
}

impl LinkMap {
    /// Reads the list of the `r_debug` at an address. Unreadable entries are absent and have a problem.
    #[must_use]
    pub fn read(memory: &dyn Memory, r_debug: u64) -> Self {
        let mut map = Self::default();
        let mut head = [0; R_DEBUG_SIZE];
        let got = memory.read(r_debug, &mut head);
        if got < 4 {
            map.problem(
                r_debug,
                "r_debug",
                "not captured: the list of code objects is in the host's memory, which is not here"
                    .to_owned(),
                "a core of the host process, too",
            );
            return map;
        }
        let word = |at| u32_at(&head, at).unwrap_or_default();
        let version = word(0);
        map.r_version = Some(version).filter(|version| is_version(*version));
        if map.r_version.is_none() {
            let what = format!("{}: it counts as unknown", version.cast_signed());
            map.problem(r_debug, "r_debug.r_version", what, "8 or later; set it with --r-version");
        }
        if got < R_DEBUG_SIZE {
            map.problem(r_debug, "r_debug", format!("only {got} bytes are captured"), "40 bytes");
            return map;
        }
        let state = word(24);
        if state != 0 {
            let what = format!("{state}: the list was being changed and may lack code objects");
            map.problem(r_debug.wrapping_add(24), "r_debug.r_state", what, "0 (consistent)");
        }
        map.walk(memory, u64_at(&head, 8).unwrap_or_default());
        // Waves have code, and unwritten memory has no list.
        map.is_whole &= state == 0 && map.r_version.is_some() && !map.entries.is_empty();
        map
    }

    fn walk(&mut self, memory: &dyn Memory, first: u64) {
        let (mut seen, mut at, mut names) = (HashSet::new(), first, 0);
        while at != 0 {
            if !seen.insert(at) {
                let what = "the list comes back to it".to_owned();
                return self.problem(at, "link_map", what, "a list that ends");
            }
            if seen.len() > MAX_NODES {
                let what = format!("more than {MAX_NODES} nodes; the others are left out");
                return self.problem(at, "link_map", what, "a list that ends");
            }
            let mut node = [0; LINK_MAP_SIZE];
            let got = memory.read(at, &mut node);
            if got < LINK_MAP_SIZE {
                let what = format!("{got} of {LINK_MAP_SIZE} bytes are captured; the list ends here");
                return self.problem(at, "link_map", what, "a node of the list");
            }
            let long = |at| u64_at(&node, at).unwrap_or_default();
            let address = long(0);
            let uri = self.name(memory, at, long(8));
            names += uri.as_ref().map_or(0, String::len);
            if names > MAX_NAMES {
                let what =
                    format!("names of more than {MAX_NAMES} bytes; this node and the others are left out");
                return self.problem(at, "link_map", what, "a list that ends");
            }
            // The head of the list describes no code object.
            if address != 0 || uri.is_some() {
                self.entries.push(Entry { address, uri });
            }
            at = long(24);
        }
        self.is_whole = true;
    }

    /// The string at an address.
    fn name(&mut self, memory: &dyn Memory, node: u64, address: u64) -> Option<String> {
        if address == 0 {
            return None;
        }
        let mut name = Vec::new();
        let mut chunk = [0; NAME_CHUNK];
        while name.len() < MAX_NAME {
            let got = memory.read(address.wrapping_add(name.len() as u64), &mut chunk);
            let read = chunk.get(..got).unwrap_or_default();
            if let Some(end) = read.iter().position(|byte| *byte == 0) {
                name.extend_from_slice(read.get(..end).unwrap_or_default());
                return match String::from_utf8(name) {
                    Ok(name) => Some(name).filter(|name| !name.is_empty()),
                    Err(error) => {
                        let at = error.utf8_error().valid_up_to();
                        let what = format!("byte {at} of the name at {address:#x} is no UTF-8");
                        self.problem(node.wrapping_add(8), "link_map.l_name", what, "a code object URI");
                        None
                    }
                };
            }
            name.extend_from_slice(read);
            if got < chunk.len() {
                let what = format!("the name at {address:#x} is not captured beyond {} bytes", name.len());
                self.problem(node.wrapping_add(8), "link_map.l_name", what, "a string with its NUL");
                return None;
            }
        }
        let what = format!("the name at {address:#x} has no NUL within {MAX_NAME} bytes");
        self.problem(node.wrapping_add(8), "link_map.l_name", what, "a code object URI");
        None
    }

    fn problem(&mut self, address: u64, part: &'static str, what: String, expected: &'static str) {
        self.problems.push(Problem { address, part, what, expected });
    }
}
