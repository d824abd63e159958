//! One loaded code object while bytes for it are looked for.

use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::Arc;

use super::Memory;
use super::candidate::Candidate;
use super::compare::{Verdict, compare};
use super::discover::Image;
use super::error::TakeError;
use super::listed::Listed;

/// Reasons that are listed for one code object.
pub(super) const MAX_REASONS: usize = 8;

/// Where a code object was loaded, and what is known of it.
#[derive(Debug)]
pub(super) struct LoadedObject {
    pub(super) address: u64,
    pub(super) uri: Option<String>,
    pub(super) image: Option<Image>,
    /// A text's facts of it, if there is no memory.
    pub(super) listed: Option<Listed>,
    pub(super) best: Option<Match>,
    /// A candidate that does not match, taken if the user insists and nothing else matches.
    pub(super) refused: Option<Match>,
    /// Why it has nothing better, in words.
    pub(super) reasons: Vec<String>,
}

/// Bytes for a place, and where they come from.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub(super) candidate: Arc<Candidate>,
    pub(super) origin: String,
}

impl LoadedObject {
    pub(super) fn new(memory: &dyn Memory, address: u64, uri: Option<String>) -> Self {
        // ROCr loads a file from ELF address 0 on; an image elsewhere is found by its header alone.
        let image = Image::at(memory, address).filter(|image| image.address == address);
        Self { address, uri, image, listed: None, best: None, refused: None, reasons: Vec::new() }
    }

    /// One that a text lists.
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

    /// Whether a candidate is what was loaded here.
    pub(super) fn verdict(&self, candidate: &Candidate, memory: &dyn Memory, left: &Cell<u64>) -> Verdict {
        match &self.listed {
            Some(listed) => listed.check(candidate, self.build_id()),
            None => compare(candidate, self.address, self.build_id(), memory, left),
        }
    }

    pub(super) fn is_satisfied(&self) -> bool {
        self.best.as_ref().is_some_and(|found| found.candidate.has_debug())
    }

    /// The build id of what was loaded: of its image, else of what fits a text's list.
    pub(super) fn build_id(&self) -> Option<&[u8]> {
        match (&self.image, &self.listed) {
            (None, Some(_)) => self.best.as_ref()?.candidate.build_id.as_deref(),
            (image, _) => image.as_ref()?.build_id.as_deref(),
        }
    }

    /// Addresses from its first to its last loaded byte.
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

    /// Takes a candidate if it is better than what there is.
    pub(super) fn take(&mut self, candidate: &Arc<Candidate>, origin: String) {
        if self.best.is_none() || (candidate.has_debug() && !self.is_satisfied()) {
            self.best = Some(Match { candidate: Arc::clone(candidate), origin });
        }
    }

    /// Takes that one of a file's code objects that memory proves, else one that memory does not refute.
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

    /// Candidates for a text's list, the strongest evidence first; with memory, the comparison decides.
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
