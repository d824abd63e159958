//! Memory around the addresses of the fault: listed memory or the LDS of a work-group to scale, and the bytes near the
//! address.

use super::Source;
use crate::postmortem::{AccessAt, ByteWindow, Hex, MemoryPicture, MemorySpan};
use crate::session::address::GLOBAL;
use crate::session::{Inspect, MemoryAddress};
use crate::triage::{AddressOf, Cause, Map, Span, Suspect};
use crate::units::{Address, WaveId};

/// Maximum number of pictures.
const MAX_PICTURES: usize = 4;
/// Maximum number of accesses of a picture.
const MAX_ACCESSES: usize = 64;
/// Maximum distance of addresses in a picture, in bytes.
const NEAR: u64 = 1 << 20;
/// Bytes before and behind an address whose contents are shown; lines of 16 bytes.
const AROUND: u64 = 64;
const LINE: u64 = 16;

/// An address in global memory with its access, and its rank in the sentence.
type Ranked<'a> = (usize, (u64, &'a AddressOf));

impl Source<'_> {
    /// A picture for each distant address of the first suspect; without suspects one for the first reported page.
    pub(super) fn memory(&self) -> Vec<MemoryPicture> {
        let suspects = self.triage.suspects.first().filter(|_| self.triage.cause == Some(Cause::Memory));
        let suspect = suspects.filter(|suspect| !suspect.is_good());
        let Some((suspect, session)) = suspect.and_then(|of| Some((of, self.scene.session(of.wave)?))) else {
            return self.reported().into_iter().collect();
        };
        if let Some(picture) = self.lds(session, suspect) {
            return vec![picture];
        }
        // The rank is the place in the sentence.
        let known = suspect.addresses.iter().filter_map(|of| Some((of.global?, of)));
        let mut addresses: Vec<Ranked<'_>> = known.enumerate().collect();
        addresses.sort_by_key(|(rank, (address, _))| (*address, *rank));
        let is_near = |(_, (one, _)): &Ranked<'_>, (_, (next, _)): &Ranked<'_>| next.abs_diff(*one) < NEAR;
        let mut parts: Vec<&[Ranked<'_>]> = addresses.chunk_by(is_near).collect();
        parts.sort_by_key(|part| part.iter().map(|(rank, _)| *rank).min());
        let parts = parts.into_iter().take(MAX_PICTURES);
        let pictures = parts.filter_map(|part| self.picture(session, suspect, part));
        // Further addresses without memory nearby look alike.
        let has_memory =
            |of: &MemoryPicture| of.bytes.is_some() || of.spans.iter().any(|span| span.pointer.is_some());
        pictures.enumerate().filter(|(index, of)| *index == 0 || has_memory(of)).map(|(_, of)| of).collect()
    }

    fn picture(&self, session: &dyn Inspect, suspect: &Suspect, of: &[Ranked<'_>]) -> Option<MemoryPicture> {
        let ((_, (low, _)), (_, (high, _))) = (of.first()?, of.last()?);
        let (_, (first, named)) = of.iter().min_by_key(|(rank, _)| *rank)?;
        let mut picture = self.around(session, suspect.wave, *first, (*low, *high));
        picture.space = self.scene.space(suspect.wave, named.space).unwrap_or(picture.space);
        let mut accesses: Vec<&Ranked<'_>> = of.iter().collect();
        accesses.sort_by_key(|(rank, _)| *rank);
        let accesses = accesses.into_iter().take(MAX_ACCESSES);
        picture.accesses = accesses.map(|(_, (address, of))| access(*address, of)).collect();
        picture.accesses_left_out = of.len().saturating_sub(MAX_ACCESSES);
        if let Some(term) = &suspect.term
            && let Some(allocation) = &term.allocation
            && let Some(span) = picture.spans.iter_mut().find(|span| span.start.0 == allocation.start)
        {
            span.pointer = Some(term.pointer.name.clone());
        }
        Some(picture)
    }

    /// The LDS of the work-group of an access to LDS. `None`: another space, or an unknown size.
    fn lds(&self, session: &dyn Inspect, suspect: &Suspect) -> Option<MemoryPicture> {
        let space = suspect.addresses.first()?.space;
        let addresses: Vec<&AddressOf> =
            suspect.addresses.iter().filter(|of| of.space == space && of.global.is_none()).collect();
        let first = addresses.first()?.address;
        let place =
            |at: u64| MemoryAddress { space, address: Address(at), wave: Some(suspect.wave), lane: None };
        let size = session.size_of_space(place(first))?;
        let position = session.wave(suspect.wave).ok().and_then(|info| info.workgroup);
        let of_group = position.map_or(String::new(), |[x, y, z]| format!(" of work-group ({x},{y},{z})"));
        let pointer = suspect.term.as_ref().map(|term| term.pointer.name.clone());
        let span = |last: u64| MemorySpan {
            start: Hex(0),
            last: Hex(last),
            name: Some(format!("LDS{of_group}")),
            is_code: false,
            pointer,
        };
        Some(MemoryPicture {
            address: Hex(first),
            space: self.scene.space(suspect.wave, space)?,
            accesses: addresses.iter().take(MAX_ACCESSES).map(|of| access(of.address, of)).collect(),
            accesses_left_out: addresses.len().saturating_sub(MAX_ACCESSES),
            // A work-group without LDS has no block.
            spans: size.checked_sub(1).map(span).into_iter().collect(),
            is_map_whole: true,
            bytes: if self.options.no_values { None } else { bytes(session, &place, first) },
        })
    }

    /// The picture of a reported page, without accesses.
    fn reported(&self) -> Option<MemoryPicture> {
        let session = self.sessions.first()?;
        let chosen = self.triage.waves.chosen.and_then(|wave| session.wave(wave).ok());
        let at = self.triage.reported_page(chosen.as_ref())?;
        Some(self.around(*session, session.first_wave(), at.start, (at.start, at.start)))
    }

    /// Listed memory at, before and behind the lowest and the highest of some addresses, and the bytes around one of
    /// them.
    fn around(
        &self,
        session: &dyn Inspect,
        wave: WaveId,
        first: u64,
        (low, high): (u64, u64),
    ) -> MemoryPicture {
        let map = Map::new(session, wave);
        let mut spans: Vec<Span> = Vec::new();
        let mut add = |span: Option<Span>| {
            if let Some(span) = span.filter(|span| !spans.contains(span)) {
                spans.push(span);
            }
        };
        for address in [low, high] {
            let at = map.at(address);
            let (start, end) = at.as_ref().map_or((address, address), |span| (span.start, span.last));
            add(start.checked_sub(1).and_then(|before| map.before(before)));
            add(at);
            add(end.checked_add(1).and_then(|after| map.after(after)));
        }
        spans.sort_by_key(|span| span.start);
        let span = |span: Span| MemorySpan {
            start: Hex(span.start),
            last: Hex(span.last),
            name: span.name.map(|name| self.paths.text(&name)),
            is_code: span.is_code,
            pointer: None,
        };
        let is_left_out = self.options.no_values || self.options.no_global;
        let global = |at: u64| MemoryAddress { space: GLOBAL, address: Address(at), wave: None, lane: None };
        MemoryPicture {
            address: Hex(first),
            space: "global".to_owned(),
            accesses: Vec::new(),
            accesses_left_out: 0,
            spans: spans.into_iter().map(span).collect(),
            is_map_whole: map.is_whole(),
            bytes: if is_left_out { None } else { bytes(session, &global, first) },
        }
    }
}

/// The access of a lane at an address.
fn access(address: u64, of: &AddressOf) -> AccessAt {
    AccessAt { lane: of.lane.map(|lane| lane.0), address: Hex(address), bytes: of.bytes }
}

/// The bytes around an address of a space, in whole lines; `None`: none of them is captured.
fn bytes(session: &dyn Inspect, place: &dyn Fn(u64) -> MemoryAddress, address: u64) -> Option<ByteWindow> {
    let start = address.saturating_sub(AROUND) / LINE * LINE;
    let end = address.saturating_add(AROUND);
    let mut bytes: Vec<Option<u8>> = Vec::new();
    let mut at = start;
    while at < end {
        let mut buffer = vec![0; usize::try_from(end - at).unwrap_or_default()];
        match session.read(place(at), &mut buffer) {
            Ok(count @ 1..) => {
                bytes.extend(buffer.iter().take(count).map(|byte| Some(*byte)));
                at = at.saturating_add(count as u64);
            }
            // A read ends at the first missing byte.
            _ => {
                bytes.push(None);
                at = at.saturating_add(1);
            }
        }
    }
    bytes.iter().any(Option::is_some).then_some(ByteWindow { start: Hex(start), bytes })
}
