//! Images of code objects in captured memory: read at a known address, or found around an address.
//!
//! ROCr loads a code object as one piece with its ELF header first, on a page of its own. So the search for the
//! header goes down from the address, page by page. The result is an image: segments, notes and dynamic symbols, and
//! no unloaded part.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Memory;
use super::candidate::Candidate;
use crate::codeobject::{CodeObject, ElfAddress};
use crate::elf::{LE, NT_GNU_BUILD_ID, NoteHeader, PT_NOTE, read};

/// The granularity of loading.
pub(super) const PAGE: u64 = 4096;
/// How far below an address its header is looked for: 256 MiB, in pages. The largest code objects have some 100 MB.
pub(super) const MAX_PAGES: u64 = 65_536;
/// Pages that are looked at for all addresses together.
pub(super) const MAX_PAGES_IN_ALL: u64 = 4 * MAX_PAGES;
/// How deep is looked below every address before any is looked below deeper: 16 MiB, which most code objects have not, and all.
const DEPTHS: [u64; 2] = [4096, MAX_PAGES];
/// Images that are discovered in all, those among them that hold none of the addresses.
pub(super) const MAX_FOUND: usize = 4096;
/// The largest image.
pub(super) const MAX_IMAGE: u64 = 4 << 30;
/// Bytes of an image that hold its ELF header and program headers: the first page.
const HEADERS: usize = PAGE as usize;
/// Notes that are looked at, and the longest build id.
pub(super) const MAX_NOTES: usize = 4096;
pub(super) const MAX_BUILD_ID: u32 = 64;
/// `\x7fELF`, 64 bits, little-endian, version 1, AMDGPU_HSA.
const IDENTITY: [u8; 8] = *b"\x7fELF\x02\x01\x01\x40";
/// Images below an address that may hold it, of those that were seen before.
const RECENT: usize = 8;
/// Bytes of code that are looked for to find out where a code object was loaded.
const WINDOW: usize = 64;

/// A code object in memory. Of its bytes only the headers and the build id are read here: what else it has the session reads.
#[derive(Debug)]
pub(super) struct Image {
    /// Address of its ELF header.
    pub(super) header: u64,
    /// Load address.
    pub(super) address: u64,
    /// Captured bytes from its header on.
    pub(super) length: u64,
    /// Where it ends, captured or not.
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

    /// Whether a loaded segment holds an address.
    pub(super) fn holds(&self, address: u64) -> bool {
        let at = address.wrapping_sub(self.address);
        self.loaded.iter().any(|addresses| addresses.contains(&at))
    }
}

/// The build id among notes in memory (gABI, "Note Section"): only heads are read, since metadata can be megabytes.
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

/// How many bytes from an address on are captured without a gap, at most so many.
pub(super) fn captured(memory: &dyn Memory, address: u64, most: u64) -> u64 {
    let mut done = 0;
    while done < most {
        let Some(at) = address.checked_add(done) else { break };
        let Some((_, last)) = memory.segment(at) else { break };
        done = last.saturating_sub(address).saturating_add(1).max(done + 1);
    }
    done.min(most)
}

/// Images found around addresses.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    /// Code objects that hold one of them, in order of load addresses.
    pub(super) images: Vec<Image>,
    /// Addresses for which none was found.
    pub(super) lost: Vec<u64>,
    /// Those of `lost` that were not looked below as far as they would have been: a bound was reached.
    pub(super) cut_short: Vec<u64>,
}

/// The code objects around addresses that nothing explains yet. `hints`: lists of them, those first that are most likely to lie
/// in one.
///
/// Every address is looked below a little before any is looked below far: a wild PC in the middle of a large buffer must not
/// take the search from the others.
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
    // Who is left after the last depth was not looked below so far.
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
    /// A code object holds it.
    Found,
    /// None as deep as was looked.
    Deeper,
    /// None at all.
    None,
}

/// Where was looked, so that no page is looked at twice.
struct Search<'m> {
    memory: &'m dyn Memory,
    /// Pages that may still be looked at.
    left: u64,
    /// Pages that were: the last of each run by its first, as addresses. Runs do not touch.
    seen: BTreeMap<u64, u64>,
    /// The images that begin on them, by the address of the ELF header.
    images: BTreeMap<u64, Image>,
    /// Headers of those that hold an address.
    wanted: BTreeSet<u64>,
}

impl Search<'_> {
    /// Looks for the image that holds an address: its header is on the address's page, or on one of so many below.
    fn below(&mut self, hint: u64, depth: u64) -> Outcome {
        let first = hint & !(PAGE - 1);
        let lowest = first.saturating_sub((depth - 1) * PAGE);
        let mut page = first;
        while page >= lowest {
            // A known image may hold it; it is mostly the nearest below.
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
            // A hole in memory ends the piece that was loaded.
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

    /// Remembers a page that is in no run yet.
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

/// Where a candidate must have been loaded, by the code around an address that it holds: its bytes occur once in the
/// candidate's code, a whole number of pages away.
pub(super) fn place(memory: &dyn Memory, candidate: &Candidate, hint: u64) -> Option<u64> {
    let mut window = [0; WINDOW];
    if memory.read(hint, &mut window) < WINDOW {
        return None;
    }
    let text = candidate.object.text()?;
    let code = candidate.object.bytes_at(text.start, text.end.0.checked_sub(text.start.0)?)?;
    let page = hint % PAGE;
    // Loading keeps the place within a page, so that only one in a thousand instructions is looked at.
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

/// Ranges as few that do not overlap, in order.
pub(super) fn union(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
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
