//! One loaded code object during the search for its bytes.

use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::Arc;

use super::Memory;
use super::candidate::Candidate;
use super::compare::{Verdict, compare};
use super::discover::Image;
use super::error::TakeError;
use super::listed::Listed;

/// Maximum number of listed reasons for a code object.
pub(super) const MAX_REASONS: usize = 8;

/// A loaded code object: its address and its known facts.
#[derive(Debug)]
pub(super) struct LoadedObject {
    pub(super) address: u64,
    pub(super) uri: Option<String>,
    pub(super) image: Option<Image>,
    /// A text's facts, without memory.
    pub(super) listed: Option<Listed>,
    pub(super) best: Option<Match>,
    /// A mismatched candidate, taken if the user forces it and no other one matches.
    pub(super) refused: Option<Match>,
    /// Reasons that no better bytes were found.
    pub(super) reasons: Vec<String>,
}

/// Bytes for a place, and their origin.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub(super) candidate: Arc<Candidate>,
    pub(super) origin: String,
}

impl LoadedObject {
    pub(super) fn new(memory: &dyn Memory, address: u64, uri: Option<String>) -> Self {
        // ROCr loads a file from ELF address 0 on; the header alone finds an image elsewhere.
        let image = Image::at(memory, address).filter(|image| image.address == address);
        Self { address, uri, image, listed: None, best: None, refused: None, reasons: Vec::new() }
    }

    /// Creates the place of a code object that a text lists.
    pub(super) fn listed(listed: Listed) -> Self {
        Self {
            address: listed.address,
            uri: Some(listed.uri.clone()),
            image: None,
            listed: Some(listed),
            best: None,
            refused: None,
            reasons: Vec::new(),
        }
    }

    /// The evidence for a candidate.
    pub(super) fn verdict(&self, candidate: &Candidate, memory: &dyn Memory, left: &Cell<u64>) -> Verdict {
        match &self.listed {
            Some(listed) => listed.check(candidate, self.build_id()),
            None => compare(candidate, self.address, self.build_id(), memory, left),
        }
    }

    pub(super) fn is_satisfied(&self) -> bool {
        self.best.as_ref().is_some_and(|found| found.candidate.has_debug())
    }

    /// The build id of the loaded one: of its image, else of the match of a text's list.
    pub(super) fn build_id(&self) -> Option<&[u8]> {
        match (&self.image, &self.listed) {
            (None, Some(_)) => self.best.as_ref()?.candidate.build_id.as_deref(),
            (image, _) => image.as_ref()?.build_id.as_deref(),
        }
    }

    /// First and last loaded address.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        if let Some(image) = &self.image {
            return Some((image.header, image.end));
        }
        if let Some(listed) = &self.listed {
            return Some((listed.address, listed.end));
        }
        let range = self.best.as_ref()?.candidate.object.image()?;
        let start = self.address.wrapping_add(range.start.0);
        Some((start, start.checked_add(range.end.0.checked_sub(range.start.0)?)?))
    }

    pub(super) fn because(&mut self, reason: String) {
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(reason);
        }
    }

    /// Takes a candidate if it is better than the present one.
    pub(super) fn take(&mut self, candidate: &Arc<Candidate>, origin: String) {
        if self.best.is_none() || (candidate.has_debug() && !self.is_satisfied()) {
            self.best = Some(Match { candidate: Arc::clone(candidate), origin });
        }
    }

    /// Takes the code object of a file that memory proves, else one that memory does not refute.
    pub(super) fn take_one(
        &mut self,
        memory: &dyn Memory,
        left: &Cell<u64>,
        candidates: &[Arc<Candidate>],
        origin: &str,
    ) -> Result<(), TakeError> {
        let (mut possible, mut refusals) = (None, Vec::new());
        for candidate in self.best_first(candidates, memory, left) {
            let origin = || format!("{origin}{}", candidate.label);
            match self.verdict(candidate, memory, left) {
                verdict if verdict.is_proof() => {
                    self.take(candidate, origin());
                    return Ok(());
                }
                Verdict::Same { .. } | Verdict::Said { .. } => {
                    possible.get_or_insert((
                        candidate,
                        format!("{}, not compared: its code is not captured", origin()),
                    ));
                }
                Verdict::Differs(why) => {
                    self.refused
                        .get_or_insert_with(|| Match { candidate: Arc::clone(candidate), origin: origin() });
                    refusals.push(format!("{}: {why}", candidate.label));
                }
            }
        }
        refusals.truncate(MAX_REASONS);
        let (candidate, origin) = possible.ok_or(TakeError::Refused(refusals))?;
        self.take(candidate, origin);
        Ok(())
    }

    /// Candidates for a text's list, strongest evidence first; with memory, the comparison decides.
    fn best_first<'c>(
        &self,
        candidates: &'c [Arc<Candidate>],
        memory: &dyn Memory,
        left: &Cell<u64>,
    ) -> Vec<&'c Arc<Candidate>> {
        let mut candidates: Vec<_> = candidates.iter().collect();
        if self.listed.is_some() {
            candidates.sort_by_cached_key(|one| Reverse(self.verdict(one, memory, left).strength()));
        }
        candidates
    }

    pub(super) fn key(&self) -> String {
        match &self.uri {
            Some(uri) => format!("code object {uri} at {:#x}", self.address),
            None => format!("code object at {:#x}", self.address),
        }
    }
}
