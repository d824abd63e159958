//! Images of code objects in captured memory: read where one is said to be, and found around an address.
//!
//! ROCr loads a code object as one piece with its ELF header first, on a page of its own. So the header is looked for below
//! the address, page by page. What is found is an image: segments, notes and dynamic symbols, and nothing that is not loaded.

use std::collections::BTreeSet;

use super::Memory;
use super::candidate::Candidate;
use crate::codeobject::{Bytes, CodeObject, ElfAddress};

/// The granularity of loading.
pub(super) const PAGE: u64 = 4096;
/// How far below an address its header is looked for: 256 MiB, in pages. The largest code objects have some 100 MB.
pub(super) const MAX_PAGES: u64 = 65_536;
/// Pages that are looked at for all addresses together.
pub(super) const MAX_PAGES_IN_ALL: u64 = 4 * MAX_PAGES;
/// Code objects that are discovered in all.
pub(super) const MAX_FOUND: usize = 4096;
/// The largest image.
const MAX_IMAGE: u64 = 4 << 30;
/// The most program headers that an image may have: they lie in its first page.
const HEADERS: u64 = PAGE;
/// `\x7fELF`, 64 bits, little-endian, version 1, AMDGPU_HSA.
const IDENTITY: [u8; 8] = [0x7f, b'E', b'L', b'F', 2, 1, 1, 0x40];
/// Bytes of code that are looked for to find out where a code object was loaded.
const WINDOW: usize = 64;

/// A code object in memory.
#[derive(Debug)]
pub(super) struct Image {
    /// Address of its ELF header.
    pub(super) header: u64,
    /// Load address.
    pub(super) address: u64,
    /// Captured bytes from its header on.
    pub(super) length: u64,
    pub(super) object: CodeObject,
    pub(super) build_id: Option<Bytes>,
}

impl Image {
    /// The image whose ELF header is at an address; `None` where there is none.
    pub(super) fn at(memory: &dyn Memory, header: u64) -> Option<Self> {
        let mut identity = [0; IDENTITY.len()];
        if memory.read(header, &mut identity) < identity.len() || identity != IDENTITY {
            return None;
        }
        let first = memory.view(header, captured(memory, header, HEADERS))?;
        let object = CodeObject::parse_image(first).ok()?;
        let range = object.image()?;
        let size = range.end.0.checked_sub(range.start.0).filter(|size| *size <= MAX_IMAGE)?;
        let length = captured(memory, header, size);
        let object = CodeObject::parse_image(memory.view(header, length)?).ok()?;
        let build_id = object.build_id();
        Some(Self { header, address: header.wrapping_sub(range.start.0), length, object, build_id })
    }

    /// Whether a loaded segment holds an address.
    pub(super) fn holds(&self, address: u64) -> bool {
        let at = address.wrapping_sub(self.address);
        let mut loaded = self.object.segments().iter().filter(|segment| segment.is_loaded());
        loaded.any(|segment| segment.addresses.contains(&at))
    }
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

/// The code objects around addresses that nothing explains yet, in order of their addresses.
///
/// The second value: addresses for which none was found.
pub(super) fn discover(memory: &dyn Memory, hints: &BTreeSet<u64>) -> (Vec<Image>, Vec<u64>) {
    let (mut found, mut lost): (Vec<Image>, Vec<u64>) = (Vec::new(), Vec::new());
    let mut left = MAX_PAGES_IN_ALL;
    // Pages from this one down to where the search for the address before ended hold no header.
    let mut barren: Option<u64> = None;
    for hint in hints {
        if found.iter().any(|image| image.holds(*hint)) {
            continue;
        }
        let page = hint & !(PAGE - 1);
        let image = if found.len() < MAX_FOUND { below(memory, *hint, barren, &mut left) } else { None };
        match image {
            Some(image) => found.push(image),
            None => lost.push(*hint),
        }
        barren = Some(page);
    }
    found.sort_by_key(|image| image.address);
    (found, lost)
}

/// The image that holds an address, its header on the address's page or below, and above `barren`.
fn below(memory: &dyn Memory, hint: u64, barren: Option<u64>, left: &mut u64) -> Option<Image> {
    let mut page = hint & !(PAGE - 1);
    for _ in 0..MAX_PAGES {
        *left = left.checked_sub(1)?;
        if barren == Some(page) {
            return None;
        }
        // A hole in memory ends the piece that was loaded.
        memory.segment(page)?;
        if let Some(image) = Image::at(memory, page).filter(|image| image.holds(hint)) {
            return Some(image);
        }
        page = page.checked_sub(PAGE)?;
    }
    None
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
