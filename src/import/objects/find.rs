//! Finds the best bytes for each loaded code object; the module's page has the order.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::candidate::{self, BundleBounds, Candidate};
use super::compare::{MAX_COMPARED, Strength, Verdict, compare, is_in_memory};
use super::discover;
use super::error::{CandidateError, TakeError};
use super::listed::{List, NoMemory, saved_name};
use super::place::{LoadedObject, MAX_REASONS, Match};
use super::{Debuginfod, Found, FoundObject, Held, Hints, LinkMap, Memory, folders};
use crate::clean::clean;
use crate::codeobject::{CodeObject, Uri, UriPlace, hex};
use crate::import::problem::Problems;
use crate::import::{LocalFiles, Options};

/// Maximum number of addresses; a capture of 50,000 waves has some hundred distinct ones.
pub(super) const MAX_HINTS: usize = 65_536;

/// Maximum number of hints in the search for a candidate's code.
pub(super) const MAX_LOST: usize = 64;

/// Maximum bytes of code objects that are copied from several segments of captured memory.
pub(super) const MAX_COPIED: u64 = 1 << 30;

/// The reason that a file of this machine is not used: the same for all causes.
pub(in crate::import) const NOT_OPENED: &str = "its file is not opened";
pub(in crate::import) const NOT_USED: &str =
    "no file under that name is used: none is proved to be the one that was loaded";

/// A file of the user's without an address: its name and its code objects.
type Unplaced = (String, Vec<Arc<Candidate>>);

/// Finds the code objects of a capture and the bytes for them.
///
/// `map`: ROCr's list.
pub(in crate::import) fn find(
    memory: &dyn Memory,
    map: &LinkMap,
    hints: &Hints,
    options: &Options,
    problems: &mut Problems,
) -> Found {
    for problem in &map.problems {
        let key = format!("{} at {:#x}", problem.part, problem.address);
        problems.report(key, &problem.what, problem.expected);
    }
    let mut search = Search::new(memory, options, &|_| true);
    search.take_map(map, problems);
    let supplied = search.take_placed(problems);
    search.discover(hints, problems);
    search.take_unplaced(&supplied, problems);
    search.take_uris();
    search.take_rest(problems);
    Found { code_objects: search.finish(problems) }
}

/// Finds the bytes for code objects that a text lists. Without memory for a comparison the text's facts decide.
///
/// The result begins with the code objects of the list, in its order.
pub(in crate::import) fn find_listed(list: &List<'_>, options: &Options, problems: &mut Problems) -> Found {
    let mut search = Search::new(&NoMemory, options, list.fits);
    search.places.extend(list.objects.iter().cloned().map(LoadedObject::listed));
    let supplied = search.take_placed(problems);
    search.take_unplaced(&supplied, problems);
    search.take_saved(list.beside);
    search.take_uris();
    search.take_rest(problems);
    Found { code_objects: search.finish(problems) }
}

struct Search<'s> {
    memory: &'s dyn Memory,
    options: &'s Options,
    /// Whether a code object is for the capture's GPU.
    fits: &'s dyn Fn(&CodeObject) -> bool,
    places: Vec<LoadedObject>,
    /// Hints without a code object.
    lost: Vec<u64>,
    /// Usable code objects from URIs: the same file may be loaded twice.
    from_uris: Vec<Arc<Candidate>>,
    /// Remaining budget of compared bytes.
    left: Cell<u64>,
    /// Remaining budget of copied bytes of captured memory.
    copies: Cell<u64>,
    /// Limits of the bundles that URIs name.
    bundles: BundleBounds,
}

impl<'s> Search<'s> {
    fn new(memory: &'s dyn Memory, options: &'s Options, fits: &'s dyn Fn(&CodeObject) -> bool) -> Self {
        Self {
            memory,
            options,
            fits,
            places: Vec::new(),
            lost: Vec::new(),
            from_uris: Vec::new(),
            left: Cell::new(MAX_COMPARED),
            copies: Cell::new(MAX_COPIED),
            bundles: BundleBounds::default(),
        }
    }

    /// The code objects of a user's file, those for the GPU first.
    fn of_file(&self, file: &Path) -> Result<Vec<Arc<Candidate>>, CandidateError> {
        let mut candidates = candidate::of_file(file)?;
        candidates.sort_by_key(|candidate| !(self.fits)(&candidate.object));
        Ok(candidates)
    }

    fn take_map(&mut self, map: &LinkMap, problems: &mut Problems) {
        let mut known = BTreeSet::new();
        for entry in &map.entries {
            if !known.insert(entry.address) {
                let what = "listed twice; the first entry counts";
                problems.report(
                    format_args!("link_map at load address {:#x}", entry.address),
                    what,
                    "one entry",
                );
                continue;
            }
            self.places.push(LoadedObject::new(self.memory, entry.address, entry.uri.clone()));
        }
    }

    /// Takes user's files with an address unless memory contradicts them; returns the others.
    fn take_placed(&mut self, problems: &mut Problems) -> Vec<Unplaced> {
        let mut unplaced = Vec::new();
        for supplied in &self.options.code_objects {
            let file = supplied.file.display().to_string();
            match (self.of_file(&supplied.file), supplied.address) {
                (Ok(candidates), Some(address)) => self.place(&candidates, address, &file, problems),
                (Ok(candidates), None) => unplaced.push((file, candidates)),
                (Err(why), _) => {
                    let key = format_args!("--code-object {file}");
                    problems.report(key, why, "a file with AMDGPU code objects");
                }
            }
        }
        unplaced
    }

    fn place(&mut self, candidates: &[Arc<Candidate>], address: u64, file: &str, problems: &mut Problems) {
        let known = self.places.iter().position(|place| place.address == address);
        let index = known.unwrap_or_else(|| {
            self.places.push(LoadedObject::new(self.memory, address, None));
            self.places.len() - 1
        });
        let Some(place) = self.places.get_mut(index) else { return };
        let taken = place.take_one(self.memory, &self.left, candidates, "--code-object ");
        if let (Err(why), false) = (taken, self.options.force) {
            problems.report(
                format_args!("--code-object {file}@{address:#x}"),
                format_args!("refused: {why}"),
                "the code object that is loaded there; --force takes it anyway",
            );
            // Only the rejected candidate claimed that an object is loaded here.
            if known.is_none() && place.image.is_none() {
                self.places.pop();
            }
        }
    }

    fn discover(&mut self, hints: &Hints, problems: &mut Problems) {
        let known = discover::union(self.places.iter().filter_map(LoadedObject::range).collect());
        let (mut capacity, mut beyond) = (MAX_HINTS, Vec::new());
        let mut unexplained = |addresses: &BTreeSet<u64>| {
            let mut left = BTreeSet::new();
            for hint in addresses.iter().filter(|hint| **hint != 0) {
                let after = known.partition_point(|(start, _)| start <= hint);
                let below = after.checked_sub(1).and_then(|index| known.get(index));
                if below.is_some_and(|(_, end)| hint < end) {
                    continue;
                }
                match capacity.checked_sub(1) {
                    Some(less) => {
                        capacity = less;
                        left.insert(*hint);
                    }
                    None => beyond.push(*hint),
                }
            }
            left
        };
        let (descriptors, pcs) = (unexplained(&hints.descriptors), unexplained(&hints.pcs));
        let found = discover::discover(self.memory, &[&descriptors, &pcs]);
        beyond.extend(found.cut_short);
        if let Some(first) = beyond.first() {
            let what = format!(
                "of {} PCs and kernel descriptors, {first:#x} among them, memory below was not searched to the end for code \
                 objects",
                beyond.len()
            );
            let expected = format!(
                "at most {} MiB to be searched, {} images there and {MAX_HINTS} addresses; --code-object FILE@ADDRESS names others",
                (discover::MAX_PAGES_IN_ALL * discover::PAGE) >> 20,
                discover::MAX_FOUND
            );
            problems.report("code objects", what, expected);
        }
        let images = found.images;
        self.lost = found.lost;
        self.places.extend(images.into_iter().map(|image| LoadedObject {
            address: image.address,
            uri: None,
            image: Some(image),
            listed: None,
            best: None,
            refused: None,
            reasons: Vec::new(),
        }));
    }

    /// Offers a candidate to each place; returns whether any takes it, and the reason if none does. `least`: the
    /// weakest accepted evidence.
    fn offer(&mut self, candidate: &Arc<Candidate>, origin: &str, least: Strength) -> Result<(), TakeError> {
        let (mut taken, mut refusals) = (false, Vec::new());
        for place in &mut self.places {
            let verdict = place.verdict(candidate, self.memory, &self.left);
            // Without memory the user's choice may be the only evidence.
            let least = if place.listed.is_some() { least } else { Strength::Proof };
            match verdict {
                verdict if verdict.strength() >= least => {
                    taken = true;
                    let alone = if verdict.is_proof() { "" } else { ", by its length alone" };
                    place.take(candidate, format!("{origin}{}{alone}", candidate.label));
                }
                Verdict::Same { .. } | Verdict::Said { .. } => refusals.push(format!(
                    "at {:#x} neither its code nor a build id is captured to compare with",
                    place.address
                )),
                Verdict::Differs(why) => refusals.push(format!("at {:#x}: {why}", place.address)),
            }
        }
        if self.take_lost(candidate, origin) || taken {
            return Ok(());
        }
        refusals.truncate(MAX_REASONS);
        Err(if refusals.is_empty() { TakeError::NothingLoaded } else { TakeError::Refused(refusals) })
    }

    /// Places a candidate at each unexplained hint where its code is; a file may be loaded several times. Returns
    /// whether it is placed.
    fn take_lost(&mut self, candidate: &Arc<Candidate>, origin: &str) -> bool {
        let (mut taken, mut tried) = (false, BTreeSet::new());
        while tried.len() < MAX_LOST {
            let Some(hint) = self.lost.iter().copied().find(|hint| !tried.contains(hint)) else { break };
            tried.insert(hint);
            let Some(address) = discover::place(self.memory, candidate, hint) else { continue };
            if self.places.iter().any(|place| place.address == address)
                || !compare(candidate, address, None, self.memory, &self.left).is_proof()
            {
                continue;
            }
            let mut place = LoadedObject::new(self.memory, address, None);
            place.take(candidate, format!("{origin}{}, placed by its code", candidate.label));
            let range = place.range();
            self.lost.retain(|hint| range.is_none_or(|(start, end)| *hint < start || *hint >= end));
            self.places.push(place);
            taken = true;
        }
        taken
    }

    fn take_unplaced(&mut self, supplied: &[Unplaced], problems: &mut Problems) {
        for (file, candidates) in supplied {
            let (mut taken, mut refusals) = (false, Vec::new());
            // A program may be loaded as several code objects. Each gets the candidate with the strongest evidence.
            for least in [Strength::Exact, Strength::Proof, Strength::Possible] {
                refusals.clear();
                for candidate in candidates {
                    let is_choice = least == Strength::Possible && candidates.len() > 1;
                    if is_choice && !(self.fits)(&candidate.object) {
                        refusals.push(format!("{}: it is for another GPU", candidate.label));
                        continue;
                    }
                    match self.offer(candidate, "--code-object ", least) {
                        Ok(()) => taken = true,
                        Err(why) => refusals.push(format!("{}: {why}", candidate.label)),
                    }
                }
                // Memory's evidence does not depend on earlier answers.
                if taken && least <= Strength::Proof || self.places.iter().all(|place| place.listed.is_none())
                {
                    break;
                }
            }
            if taken {
                continue;
            }
            if let ([place], [candidate], true) = (&mut self.places[..], &candidates[..], self.options.force)
            {
                let origin = format!("--code-object {}", candidate.label);
                place.refused = Some(Match { candidate: Arc::clone(candidate), origin });
                continue;
            }
            refusals.truncate(MAX_REASONS);
            let expected = match (self.options.force, &self.places[..], &candidates[..]) {
                (true, ..) => "an address: --force needs FILE@ADDRESS",
                (false, [_], [_]) => "a code object that is loaded; --force takes it anyway",
                (false, ..) => "a code object that is loaded; --force takes another one as FILE@ADDRESS",
            };
            problems.report(
                format_args!("--code-object {file}"),
                format_args!("it is none of the loaded code objects: {}", refusals.join("; ")),
                expected,
            );
        }
    }

    /// Takes the file that a debug agent saved beside its log, or one of the same name in the user's folders.
    fn take_saved(&mut self, beside: Option<&Path>) {
        let symbols = &self.options.symbols;
        for place in self.places.iter_mut().filter(|place| !place.is_satisfied()) {
            let Some(listed) = &place.listed else { continue };
            for (label, found) in listed.saved(beside, symbols) {
                let taken = match found {
                    Ok(candidates) => place.take_one(self.memory, &self.left, &candidates, ""),
                    Err(why) => Err(TakeError::Refused(vec![format!("{label}: {why}")])),
                };
                match taken {
                    Ok(()) => break,
                    Err(why) => place.because(why.to_string()),
                }
            }
        }
    }

    /// Searches bytes for all remaining code objects.
    fn take_rest(&mut self, problems: &mut Problems) {
        self.take_folders(problems);
        self.take_twins();
        self.take_debuginfod(problems);
    }

    /// Takes the runtime's source of each code object.
    fn take_uris(&mut self) {
        for index in 0..self.places.len() {
            let Some(place) = self.places.get(index).filter(|place| !place.is_satisfied()) else { continue };
            let Some(text) = place.uri.clone() else { continue };
            let taken = match Uri::parse(&text) {
                Ok(Uri { place: UriPlace::File(path), offset, size }) => {
                    self.take_local(index, &text, &path, offset.unwrap_or(0), size)
                }
                Ok(Uri { offset: Some(address), size: Some(size), .. }) => {
                    self.take_captured(index, &text, address, size)
                }
                Ok(_) => Err(TakeError::NoRange),
                Err(error) => Err(error.into()),
            };
            if let (Err(why), Some(place)) = (taken, self.places.get_mut(index)) {
                place.because(why.to_string());
            }
        }
    }

    /// Takes a code object from captured memory of the host process.
    fn take_captured(&mut self, index: usize, uri: &str, address: u64, size: u64) -> Result<(), TakeError> {
        // A range across segments is copied.
        let segment = self.memory.segment(address);
        if segment.is_none_or(|(_, last)| last - address < size.saturating_sub(1)) {
            let left = self.copies.get().checked_sub(size).ok_or(TakeError::Pieces(size))?;
            self.copies.set(left);
        }
        let bytes = self.memory.view(address, size).ok_or_else(|| {
            let captured = discover::captured(self.memory, address, size);
            TakeError::NotCaptured { size, address, captured }
        })?;
        let candidates = candidate::of_part(bytes, uri, &self.bundles)?;
        let place = self.places.get_mut(index);
        let taken = place.map(|place| place.take_one(self.memory, &self.left, &candidates, ""));
        self.from_uris.extend(candidates);
        taken.unwrap_or(Ok(()))
    }

    /// Takes a code object from a file of this machine, if the user allows that and it is the loaded one.
    ///
    /// The capture's author may read the reason: it is the same for any file at the path, and for none.
    fn take_local(
        &mut self,
        index: usize,
        uri: &str,
        path: &[u8],
        offset: u64,
        size: Option<u64>,
    ) -> Result<(), TakeError> {
        let Some(place) = self.places.get_mut(index) else { return Ok(()) };
        let is_proved = match (self.options.local_files, &place.listed) {
            (LocalFiles::Yes, _) => false,
            (LocalFiles::Auto, None) => true,
            // Facts of a text are no proof.
            (LocalFiles::Auto, Some(_)) | (LocalFiles::No, _) => return Err(TakeError::NotOpened),
        };
        let path = Path::new(OsStr::from_bytes(path));
        let mut candidates = candidate::of_range(path, offset, size, uri, &self.bundles);
        candidates.retain(|found| !is_proved || is_in_memory(found, place.address, self.memory, &self.left));
        candidates.sort_by_key(|candidate| !(self.fits)(&candidate.object));
        if candidates.is_empty() {
            return Err(TakeError::NotUsed);
        }
        place.take_one(self.memory, &self.left, &candidates, "").map_err(|_| TakeError::NotUsed)?;
        self.from_uris.extend(candidates);
        Ok(())
    }

    /// Searches the user's folders: first by build id, then every file until all are found.
    fn take_folders(&mut self, problems: &mut Problems) {
        for folder in &self.options.symbols {
            let ids: BTreeSet<String> =
                self.wanting().filter_map(|place| Some(hex(place.build_id()?))).collect();
            for file in ids.iter().flat_map(|id| folders::by_build_id(folder, id)) {
                self.offer_file(&file);
            }
            if self.is_done() {
                continue;
            }
            let walk = folders::walk(folder);
            for problem in walk.problems {
                problems.report(format_args!("--symbols {}", folder.display()), problem, "a readable folder");
            }
            for file in walk.files {
                if self.is_done() {
                    break;
                }
                self.offer_file(&file);
            }
        }
    }

    /// Offers a file of a folder; unrelated files are not reported.
    fn offer_file(&mut self, file: &Path) {
        for candidate in self.of_file(file).unwrap_or_default() {
            if !(self.fits)(&candidate.object) {
                continue;
            }
            let refused = self.offer(&candidate, "--symbols ", Strength::Proof);
            let id = candidate.build_id.as_deref();
            if let (Err(why), Some(id)) = (refused, id) {
                // A file with the right build id and other bytes needs a message.
                for place in self.places.iter_mut().filter(|place| place.build_id() == Some(id)) {
                    place.because(format!("{}: {why}", candidate.label));
                }
            }
        }
    }

    fn wanting(&self) -> impl Iterator<Item = &LoadedObject> {
        self.places.iter().filter(|place| !place.is_satisfied())
    }

    fn is_done(&self) -> bool {
        self.lost.is_empty() && self.wanting().next().is_none()
    }

    /// Shares bytes between loads of the same file, if only one of their URIs is usable.
    fn take_twins(&mut self) {
        for place in self.places.iter_mut().filter(|place| !place.is_satisfied()) {
            for candidate in &self.from_uris {
                let is_better = place.best.is_none() || candidate.has_debug();
                let verdict = || place.verdict(candidate, self.memory, &self.left);
                if is_better && verdict().is_proof() {
                    place.take(candidate, format!("{}, which is the same", candidate.label));
                }
            }
        }
    }

    fn take_debuginfod(&mut self, problems: &mut Problems) {
        let mut servers = Debuginfod::new(&self.options.debuginfod);
        for place in self.places.iter_mut().filter(|place| !place.is_satisfied()) {
            for kind in ["executable", "debuginfo"] {
                let Some(id) = place.build_id().map(<[u8]>::to_vec).filter(|_| !place.is_satisfied()) else {
                    break;
                };
                let file = match servers.fetch(&id, kind) {
                    Ok(Some(file)) => file,
                    Ok(None) => continue,
                    Err(why) => {
                        problems.report("debuginfod", why, "a server that answers");
                        continue;
                    }
                };
                // A file of debug information alone stays in the cache, for the session.
                let label = format!("{kind} of build id {}", hex(&id));
                let candidates = candidate::map(&file).and_then(|bytes| candidate::of_bytes(&bytes, &label));
                let Ok(candidates) = candidates else { continue };
                if let Err(why) = place.take_one(self.memory, &self.left, &candidates, "debuginfod: ") {
                    place.because(why.to_string());
                }
            }
        }
    }

    fn finish(self, problems: &mut Problems) -> Vec<FoundObject> {
        let places = self.places.into_iter().map(|mut place| {
            let build_id = place.build_id().map(<[u8]>::to_vec);
            let forced = place.refused.take().filter(|_| self.options.force && place.best.is_none());
            let own = place.best.as_ref().and_then(|found| found.candidate.build_id.as_deref());
            // The session compares it with the bytes; a mismatch here is the user's choice.
            let given = if forced.is_some() { None } else { build_id.clone().or(own.map(<[u8]>::to_vec)) };
            let forced = forced.map(|found| Match { origin: format!("{}, by force", found.origin), ..found });
            let found = place.best.take().or(forced);
            if found.is_none() {
                let what = match (&place.image, place.reasons.is_empty()) {
                    _ if place.listed.is_some() => {
                        [&place.reasons[..], &["it is not available".to_owned()]].concat().join("; ")
                    }
                    (Some(_), true) => {
                        "its file is not available; its symbols come from its image in memory".to_owned()
                    }
                    (Some(_), false) => {
                        format!("{}; its symbols come from its image in memory", place.reasons.join("; "))
                    }
                    (None, true) => "neither its file nor its image in memory is available".to_owned(),
                    (None, false) => {
                        format!("{}; it has no image in memory either", place.reasons.join("; "))
                    }
                };
                let is_local = place.uri.as_deref().is_some_and(|uri| uri.starts_with("file://"));
                let local = match is_local && self.options.local_files != LocalFiles::Yes {
                    true => "; --local-files yes opens the file of that name",
                    false => "",
                };
                let id =
                    build_id.as_deref().map_or(String::new(), |id| format!(" with build id {}", hex(id)));
                let expected = match &place.listed {
                    Some(listed) => format!(
                        "{} beside the log (the agent's --save-code-objects) or in a folder of --symbols, or --code-object \
                         FILE@{:#x}; --force takes another build{local}",
                        saved_name(&listed.uri),
                        listed.address
                    ),
                    None => format!("a file{id}: --code-object, --symbols or debuginfod may give it{local}"),
                };
                problems.report(place.key(), what, expected);
            }
            let file = found.as_ref().map(|found| found.candidate.label.clone());
            let unnamed = || format!("code object at {:#x}", place.address);
            let (held, origin) = match (found, &place.image) {
                (Some(found), _) => (Some(Held::File(found.candidate.bytes.clone())), Some(found.origin)),
                (None, Some(image)) => (
                    Some(Held::Image { address: image.header, length: image.length }),
                    Some("its image in the captured memory".to_owned()),
                ),
                (None, None) => (None, None),
            };
            FoundObject {
                address: place.address,
                held,
                // Debuggers and terminals print names line by line.
                name: clean(place.uri.clone().or(file).unwrap_or_else(unnamed)).into_owned(),
                uri: place.uri.map(|uri| clean(uri).into_owned()),
                build_id: given,
                origin: origin.map(|origin| clean(origin).into_owned()),
            }
        });
        places.collect()
    }
}
