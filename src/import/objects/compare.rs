//! Compares a code object with the loaded one: its build id, and its bytes with captured memory.
//!
//! The comparison leaves out bytes that the program or the loader may change: writable segments, and fields that
//! relocations fill in. It also leaves out the fields of the ELF header that describe sections, which differ between
//! a file and its stripped copy.

use std::cell::Cell;
use std::mem::offset_of;

use super::Memory;
use super::candidate::Candidate;
use super::error::SegmentError;
use crate::codeobject::{CodeObject, Segment, hex};
use crate::elf::FileHeader;

/// Bytes of one comparison step.
const CHUNK: usize = 64 << 10;
/// Compared bytes of each segment if build ids are equal: enough to detect a damaged copy.
const COMPARED_BY_ID: u64 = 256 << 10;
/// Compared bytes of each segment without a build id.
const COMPARED: u64 = 16 << 20;
/// Maximum of compared bytes for a capture: some seconds.
pub(super) const MAX_COMPARED: u64 = 16 << 30;
/// Shown bytes of each side of a difference.
const SHOWN: usize = 8;
/// `e_shoff`, and `e_shentsize` to `e_shstrndx`, by file offset.
const SECTION_FIELDS: [(u64, u64); 2] =
    [(offset_of!(FileHeader, e_shoff) as u64, 8), (offset_of!(FileHeader, e_shentsize) as u64, 6)];

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All comparable bytes are equal; `code`: their number in code segments; `by_id`: the build ids are equal too.
    Same { code: u64, by_id: bool },
    /// All facts of a text match, and are unique; `exact`: its offset in its file matches too.
    Said { exact: bool },
    /// It is another one, with the reason.
    Differs(String),
}

/// The strength of the evidence for a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// It is another one.
    Nothing,
    /// Nothing contradicts it.
    Possible,
    /// It is certainly the one.
    Proof,
    /// In addition no other one of its file is.
    Exact,
}

impl Verdict {
    /// Whether it is certainly the one.
    pub(super) fn is_proof(&self) -> bool {
        match self {
            Self::Same { code, by_id } => *by_id || *code > 0,
            Self::Said { .. } => true,
            Self::Differs(_) => false,
        }
    }

    /// The strength of this evidence.
    pub(super) fn strength(&self) -> Strength {
        match self {
            Self::Differs(_) => Strength::Nothing,
            Self::Said { exact: true } => Strength::Exact,
            _ if self.is_proof() => Strength::Proof,
            _ => Strength::Possible,
        }
    }
}

/// Compares a code object with the memory at its load address. `loaded_id`: the build id of the image there. `left`:
/// remaining budget of compared bytes, which it reduces.
pub(super) fn compare(
    candidate: &Candidate,
    address: u64,
    loaded_id: Option<&[u8]>,
    memory: &dyn Memory,
    left: &Cell<u64>,
) -> Verdict {
    let by_id = match (loaded_id, candidate.build_id.as_deref()) {
        (Some(loaded), Some(own)) if loaded != own => {
            return Verdict::Differs(format!(
                "it has build id {}, and what is loaded at {address:#x} has {}",
                hex(own),
                hex(loaded)
            ));
        }
        (Some(_), Some(_)) => true,
        _ => false,
    };
    let object = &candidate.object;
    let most = if by_id { COMPARED_BY_ID } else { COMPARED };
    let exempt = exempt(object);
    let mut code = 0;
    for segment in fixed(object) {
        match compare_segment(object, segment, address, most, &exempt, memory, left) {
            Ok(same) if segment.is_executable() => code += same,
            Ok(_) => {}
            Err(difference) => return Verdict::Differs(difference.to_string()),
        }
    }
    Verdict::Same { code, by_id }
}

/// Whether captured memory holds all bytes that the code object's load puts into read-only memory: the capture's author
/// had them. Writable segments, and fields that [`compare`] leaves out, prove nothing.
pub(super) fn is_in_memory(
    candidate: &Candidate,
    address: u64,
    memory: &dyn Memory,
    left: &Cell<u64>,
) -> bool {
    let exempt = exempt(&candidate.object);
    let mut has_code = false;
    for segment in fixed(&candidate.object) {
        let same = compare_segment(&candidate.object, segment, address, u64::MAX, &exempt, memory, left);
        if same != Ok(segment.file_size) {
            return false;
        }
        has_code |= segment.is_executable();
    }
    has_code
}

/// Segments that neither the program nor the loader changes, code first: a difference there is the most useful one.
fn fixed(object: &CodeObject) -> Vec<&Segment> {
    let fixed = object
        .segments()
        .iter()
        .filter(|segment| segment.is_loaded() && !segment.is_writable() && segment.file_size > 0);
    let mut fixed: Vec<&Segment> = fixed.collect();
    fixed.sort_by_key(|segment| !segment.is_executable());
    fixed
}

/// ELF addresses, each with a length, whose bytes in memory may differ from the file's; sorted.
fn exempt(object: &CodeObject) -> Vec<(u64, u64)> {
    let mut exempt: Vec<(u64, u64)> = Vec::new();
    // In a linked file relocations refer to addresses of the image, and no field is wider than 8 bytes.
    if !object.header().is_relocatable() {
        exempt.extend(object.relocations().map(|relocation| (relocation.offset, 8)));
    }
    let header = object.segments().iter().find(|segment| segment.is_loaded() && segment.offset == 0);
    if let Some(header) = header {
        let fields = SECTION_FIELDS.iter();
        exempt.extend(fields.map(|(at, length)| (header.addresses.start.saturating_add(*at), *length)));
    }
    exempt.sort_unstable();
    exempt
}

/// Compares the common part of a segment and memory: the number of equal bytes, or the first difference.
fn compare_segment(
    object: &CodeObject,
    segment: &Segment,
    address: u64,
    most: u64,
    exempt: &[(u64, u64)],
    memory: &dyn Memory,
    left: &Cell<u64>,
) -> Result<u64, SegmentError> {
    let (start, size) = (segment.addresses.start, segment.file_size.min(most));
    let mut done = 0;
    let mut chunk = vec![0; CHUNK];
    while done < size {
        let want = (size - done).min(CHUNK as u64);
        let Some(rest) = left.get().checked_sub(want) else {
            return Err(SegmentError::Limit);
        };
        left.set(rest);
        let at = start.wrapping_add(done);
        // A truncated file, or a file of debug information alone, has no bytes there.
        let Some(expected) = object.bytes_at(crate::codeobject::ElfAddress(at), want) else { break };
        let place = address.wrapping_add(at);
        let got = memory.read(place, chunk.get_mut(..want as usize).unwrap_or_default());
        let found = chunk.get(..got).unwrap_or_default();
        let differs = |index: &usize| expected.get(*index) != found.get(*index);
        let mut from = 0;
        while let Some(index) =
            (found != expected.get(..got).unwrap_or_default()).then(|| (from..got).find(differs)).flatten()
        {
            let elf = at.wrapping_add(index as u64);
            match exempted(exempt, elf) {
                Some(end) => from = index + usize::try_from(end - elf).unwrap_or(usize::MAX).max(1),
                None => {
                    let shown = |bytes: &[u8]| {
                        let rest = bytes.get(index..).unwrap_or_default();
                        hex(rest.get(..SHOWN.min(rest.len())).unwrap_or_default())
                    };
                    let part = if segment.is_executable() { "code" } else { "read-only data" };
                    return Err(SegmentError::Differs {
                        part,
                        address: address.wrapping_add(elf),
                        elf,
                        memory: shown(found),
                        file: shown(&expected),
                    });
                }
            }
        }
        done += got as u64;
        if (got as u64) < want {
            break;
        }
    }
    Ok(done)
}

/// The end of the exempt range that holds an ELF address.
fn exempted(exempt: &[(u64, u64)], at: u64) -> Option<u64> {
    let after = exempt.partition_point(|(start, _)| *start <= at);
    let (start, length) = exempt.get(after.checked_sub(1)?)?;
    let end = start.saturating_add(*length);
    (at < end).then_some(end)
}
