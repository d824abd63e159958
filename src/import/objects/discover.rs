//! Images of code objects in captured memory: read at a known address, or found below an address.
//!
//! ROCr loads a code object as one piece that begins with its ELF header, on a page of its own. The search for the
//! header goes down from the address, page by page. The result is an image: segments, notes and dynamic symbols,
//! without unloaded parts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Memory;
use super::candidate::Candidate;
use crate::codeobject::{CodeObject, ElfAddress};
use crate::elf::{LE, NT_GNU_BUILD_ID, NoteHeader, PT_NOTE, read};

/// The granularity of loading.
pub(super) const PAGE: u64 = 4096;
/// Maximum distance of the header below an address: 256 MiB, in pages. The largest code objects have about 100 MB.
pub(super) const MAX_PAGES: u64 = 65_536;
/// Maximum number of searched pages for all addresses together.
pub(super) const MAX_PAGES_IN_ALL: u64 = 4 * MAX_PAGES;
/// Search depths in pages: all addresses to 16 MiB, more than most code objects have, then all in full.
const DEPTHS: [u64; 2] = [4096, MAX_PAGES];
/// Maximum number of discovered images, including those without any of the addresses.
pub(super) const MAX_FOUND: usize = 4096;
/// The largest image.
pub(super) const MAX_IMAGE: u64 = 4 << 30;
/// Bytes of an image that hold its ELF header and program headers: the first page.
const HEADERS: usize = PAGE as usize;
/// Maximum number of notes.
pub(super) const MAX_NOTES: usize = 4096;
pub(super) const MAX_BUILD_ID: u32 = 64;
/// `\x7fELF`, 64 bits, little-endian, version 1, AMDGPU_HSA.
const IDENTITY: [u8; 8] = *b"\x7fELF\x02\x01\x01\x40";
/// Maximum number of known images below an address that are checked for it.
const RECENT: usize = 8;
/// Bytes of code in the search for a load address.
const WINDOW: usize = 64;

/// A code object in memory. Only its headers and build id are read here; the session reads the rest.
#[derive(Debug)]
pub(super) struct Image {
    /// Address of its ELF header.
    pub(super) header: u64,
    /// Load address.
    pub(super) address: u64,
    /// Captured bytes from its header on.
    pub(super) length: u64,
    /// End address, captured or not.
    pub(super) end: u64,
    pub(super) build_id: Option<Vec<u8>>,
    loaded: Vec<Range<u64>>,
}

impl Image {
    /// The image whose ELF header is at an address; `None` where there is none.
    pub(super) fn at(memory: &dyn Memory, header: u64) -> Option<Self> {
        let mut identity = [0; IDENTITY.len()];
        if memory.read(header, &mut identity) < identity.len() || identity != IDENTITY {
            return None;
        }
        let mut first = vec![0; HEADERS];
        let got = memory.read(header, &mut first);
        first.truncate(got);
        let object = CodeObject::parse_image(first).ok()?;
        let range = object.image()?;
        let size = range.end.0.checked_sub(range.start.0).filter(|size| *size <= MAX_IMAGE)?;
        let address = header.wrapping_sub(range.start.0);
        let notes = object.segments().iter().filter(|segment| segment.segment_type == PT_NOTE.0);
        let mut notes = notes.map(|notes| (address.wrapping_add(notes.addresses.start), notes.file_size));
        let loaded = object.segments().iter().filter(|segment| segment.is_loaded());
        Some(Self {
            header,
            address,
            length: captured(memory, header, size),
            end: header.checked_add(size)?,
            build_id: notes.find_map(|(at, size)| build_id(memory, at, size)),
            loaded: loaded.map(|segment| segment.addresses.clone()).collect(),
        })
    }

    /// Whether a loaded segment contains an address.
    pub(super) fn holds(&self, address: u64) -> bool {
        let at = address.wrapping_sub(self.address);
        self.loaded.iter().any(|addresses| addresses.contains(&at))
    }
}

/// The build id in notes (gABI, "Note Section"): only note headers are read, metadata can have megabytes.
fn build_id(memory: &dyn Memory, mut at: u64, size: u64) -> Option<Vec<u8>> {
    let end = at.checked_add(size)?;
    for _ in 0..MAX_NOTES {
        const HEADER: usize = size_of::<NoteHeader>();
        const VENDOR: &[u8; 4] = b"GNU\0";
        let mut head = [0; HEADER + VENDOR.len()];
        if at >= end || memory.read(at, &mut head) < head.len() {
            return None;
        }
        let note: &NoteHeader = read::record(&head, 0)?;
        let (name_size, length) = (note.n_namesz.get(LE), note.n_descsz.get(LE));
        let padded = |size: u32| u64::from(size).next_multiple_of(4);
        let bytes = at.checked_add(HEADER as u64)?.checked_add(padded(name_size))?;
        let is_id = name_size == 4 && head.ends_with(VENDOR) && note.n_type.get(LE) == NT_GNU_BUILD_ID;
        if is_id && length <= MAX_BUILD_ID {
            let mut id = vec![0; length as usize];
            return (memory.read(bytes, &mut id) == id.len()).then_some(id);
        }
        at = bytes.checked_add(padded(length))?;
    }
    None
}

/// Number of bytes from an address on that are captured without a gap, at most `most`.
pub(super) fn captured(memory: &dyn Memory, address: u64, most: u64) -> u64 {
    let mut done = 0;
    while done < most {
        let Some(at) = address.checked_add(done) else { break };
        let Some((_, last)) = memory.segment(at) else { break };
        done = last.saturating_sub(address).saturating_add(1).max(done + 1);
    }
    done.min(most)
}

/// Images found below addresses.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    /// Code objects that contain an address, sorted by load address.
    pub(super) images: Vec<Image>,
    /// Addresses without an image.
    pub(super) lost: Vec<u64>,
    /// Those of `lost` whose search ended early at a bound.
    pub(super) cut_short: Vec<u64>,
}

/// The code objects around unexplained addresses. `hints`: lists of them, most likely first.
///
/// Every address is searched at a small depth before any is searched at a large one: a wild PC in a large buffer must
/// not exhaust the search of the others.
pub(super) fn discover(memory: &dyn Memory, hints: &[&BTreeSet<u64>]) -> Discovered {
    let mut search = Search {
        memory,
        left: MAX_PAGES_IN_ALL,
        seen: BTreeMap::new(),
        images: BTreeMap::new(),
        wanted: BTreeSet::new(),
    };
    let mut found = Discovered::default();
    let mut pending: Vec<Vec<u64>> = hints.iter().map(|list| list.iter().copied().collect()).collect();
    for depth in DEPTHS {
        for list in &mut pending {
            list.retain(|hint| match search.below(*hint, depth) {
                Outcome::Found => false,
                Outcome::Deeper => true,
                Outcome::None => {
                    found.lost.push(*hint);
                    false
                }
            });
        }
    }
    // The last depth was not searched for the remaining addresses.
    found.cut_short = pending.concat();
    found.lost.extend(&found.cut_short);
    found.lost.sort_unstable();
    found.lost.dedup();
    let Search { images, wanted, .. } = search;
    found.images =
        images.into_iter().filter(|(header, _)| wanted.contains(header)).map(|(_, image)| image).collect();
    found.images.sort_by_key(|image| image.address);
    found
}

/// The result of a search below an address.
enum Outcome {
    /// A code object contains it.
    Found,
    /// No image down to the searched depth.
    Deeper,
    /// No image at any depth.
    None,
}

/// The searched pages; no page is searched twice.
struct Search<'m> {
    memory: &'m dyn Memory,
    /// Number of remaining pages.
    left: u64,
    /// Searched pages: last by first address of each run. Runs do not touch.
    seen: BTreeMap<u64, u64>,
    /// Images that begin on them, by the address of the ELF header.
    images: BTreeMap<u64, Image>,
    /// Headers of images that contain an address.
    wanted: BTreeSet<u64>,
}

impl Search<'_> {
    /// Searches the image of an address: its header is on the address's page, or at most `depth` pages below.
    fn below(&mut self, hint: u64, depth: u64) -> Outcome {
        let first = hint & !(PAGE - 1);
        let lowest = first.saturating_sub((depth - 1) * PAGE);
        let mut page = first;
        while page >= lowest {
            // A known image may contain it, mostly the nearest below.
            let run = self.seen.range(..=page).next_back().filter(|(_, last)| **last >= page);
            if let Some((start, _)) = run.map(|(start, last)| (*start, *last)) {
                let near = self.images.range(start..=page).rev().take(RECENT);
                let mut near = near.filter(|(_, image)| image.holds(hint));
                if let Some((header, _)) = near.next() {
                    self.wanted.insert(*header);
                    return Outcome::Found;
                }
                let Some(next) = start.checked_sub(PAGE) else { return Outcome::None };
                page = next;
                continue;
            }
            // A gap in memory ends the loaded piece.
            if self.memory.segment(page).is_none() {
                return Outcome::None;
            }
            if self.images.len() >= MAX_FOUND {
                self.left = 0;
            }
            let Some(left) = self.left.checked_sub(1) else { return Outcome::Deeper };
            self.left = left;
            if let Some(image) = Image::at(self.memory, page) {
                let holds = image.holds(hint);
                self.images.insert(page, image);
                if holds {
                    self.saw(page);
                    self.wanted.insert(page);
                    return Outcome::Found;
                }
            }
            self.saw(page);
            let Some(next) = page.checked_sub(PAGE) else { return Outcome::None };
            page = next;
        }
        if depth < MAX_PAGES { Outcome::Deeper } else { Outcome::None }
    }

    /// Adds a page that is in no run yet.
    fn saw(&mut self, page: u64) {
        let above = page.checked_add(PAGE).and_then(|above| self.seen.remove(&above));
        let last = above.unwrap_or(page);
        let below = self.seen.range_mut(..page).next_back();
        match below.filter(|(_, end)| end.checked_add(PAGE) == Some(page)) {
            Some((_, end)) => *end = last,
            None => {
                self.seen.insert(page, last);
            }
        }
    }
}

/// The load address of a candidate by the code around an address: its bytes occur once in the candidate's code, at a
/// distance of whole pages.
pub(super) fn place(memory: &dyn Memory, candidate: &Candidate, hint: u64) -> Option<u64> {
    let mut window = [0; WINDOW];
    if memory.read(hint, &mut window) < WINDOW {
        return None;
    }
    let text = candidate.object.text()?;
    let code = candidate.object.bytes_at(text.start, text.end.0.checked_sub(text.start.0)?)?;
    let page = hint % PAGE;
    // Loading keeps the offset in the page, so that one in a thousand instructions is compared.
    let first = page.wrapping_sub(text.start.0) % PAGE;
    let mut places = (first..code.len() as u64).step_by(PAGE as usize).filter(|at| {
        let rest = usize::try_from(*at).ok().and_then(|at| code.get(at..)).unwrap_or_default();
        rest.starts_with(&window)
    });
    let (place, other) = (places.next()?, places.next());
    if other.is_some() {
        return None;
    }
    Some(hint.wrapping_sub(ElfAddress(text.start.0.wrapping_add(place)).0))
}

/// Sorted, disjoint union of ranges.
pub(in crate::import) fn union(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut() {
            Some((_, last)) if start <= *last => *last = (*last).max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}
