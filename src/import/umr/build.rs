//! Builds a capture from umr's waves.

use std::collections::HashMap;
use std::sync::Arc;

use super::family::Families;
use super::groups::Groups;
use super::wave::{Read, UmrWave};
use crate::arch::Target;
use crate::capture::{
    Agent, BackingId, Capture, Extent, MemoryBacking, MemoryMap, Provenance, Segment, Wave,
};
use crate::import::problem::{Do, Problems};
use crate::import::text::Placer;
use crate::units::WaveSize;

const ARENA: BackingId = BackingId(0);

/// Backing of the words of shaders.
const CODE: BackingId = BackingId(1);

/// Builds the capture.
pub(super) fn build(
    name: &str,
    format: &str,
    read: Read,
    families: &mut Families<'_>,
    problems: &mut Problems,
) -> Capture {
    let mut capture = Capture { name: name.to_owned(), ..Capture::default() };
    let groups = waves(&mut capture, &read, families, problems);
    let note = "umr shows registers and words of code; LDS, private and global memory are not in it";
    let groups = groups.why().filter(|_| !read.waves.is_empty());
    capture.provenance = Provenance {
        format: format.to_owned(),
        producer: Some("umr".to_owned()),
        note: Some(groups.map_or(note.to_owned(), |why| format!("{note}. {why}"))),
        truncated: read.truncated.clone(),
        ..Provenance::default()
    };
    if read.waves.is_empty() {
        match &read.first {
            _ if read.idle => {
                let what = "no waves: umr found none active, or GFXOFF was not disabled";
                problems.whole(what, Do("run umr -go 0 -O halt_waves"));
            }
            Some(first) => {
                let what = format_args!("no waves: umr printed none, and instead: {first}");
                let hint = "install umr, and run it as a user who may read the GPU's debugfs";
                problems.whole(what, Do(hint));
            }
            None => problems.whole("no waves: umr printed nothing", "umr's text on waves"),
        }
        problems.explains_no_waves();
    }
    if read.too_many {
        problems.whole(
            "there are more waves than can be served",
            format_args!("{}", crate::import::text::MAX_WAVES),
        );
        problems.hides_waves();
    }
    if read.kept.full {
        let what = "there are more values than are kept; the rest is not captured";
        problems.whole(what, "values of some 1 GiB, and 64 MiB of code");
    }
    let (map, words) = code(&read, problems);
    problems.extend(read.faults.into_capture(&mut capture));
    capture.global = map;
    capture.backings.push(Arc::new(MemoryBacking::new(name, read.kept.into_bytes())));
    capture.backings.push(Arc::new(MemoryBacking::new(name, words)));
    capture
}

fn waves(capture: &mut Capture, read: &Read, families: &mut Families<'_>, problems: &mut Problems) -> Groups {
    let mut placer = Placer::new(ARENA);
    let mut groups = Groups::default();
    let targets = families.targets_of(&read.waves, problems);
    for ((id, raw), target) in (1u32..).zip(&read.waves).zip(targets) {
        let Some(target) = target else { continue };
        let size = raw.size.unwrap_or(WaveSize::W64);
        let kind = match families.targets.kind(&target.name, size) {
            Ok(kind) => kind,
            Err(error) => {
                let what = format_args!("{}: {error}; the wave is left out", raw.slot);
                problems.line(raw.line, what, "a target with such waves (--processor)");
                problems.hides_waves();
                continue;
            }
        };
        let registers = placer.place(problems, &read.kept, &kind, &raw.values);
        let agent = agent(capture, &target);
        let place = groups.place(raw, &read.kept, &target, agent);
        capture.waves.push(Wave {
            id,
            label: Some(raw.slot.as_str().into()),
            kind,
            agent,
            workgroup: place.map(|(group, _)| group),
            wave_in_group: place.map(|(_, slot)| slot),
            stop: stop(raw, &target),
            sgpr_count: raw.sgpr_count(&target),
            registers,
            private: MemoryMap::default(),
            private_size: None,
            unconfirmed: None,
            unchecked: None,
        });
    }
    groups.report(capture);
    groups
}

/// The agent of a target: umr does not distinguish two GPUs of one type.
fn agent(capture: &mut Capture, target: &Arc<Target>) -> usize {
    let agents = &mut capture.agents;
    if let Some(known) = agents.iter().position(|agent| Arc::ptr_eq(&agent.target, target)) {
        return known;
    }
    agents.push(Agent {
        id: agents.len() as u32 + 1,
        target: Arc::clone(target),
        name: None,
        apertures: HashMap::new(),
        hardware: None,
    });
    agents.len() - 1
}

/// Stop reasons by the exception bits. umr halts waves itself: without exception bits the reason is unknown.
fn stop(raw: &UmrWave, target: &Target) -> Option<Vec<usize>> {
    let reasons = target.faults(false, |name| raw.word(name).map(u64::from));
    (!reasons.is_empty()).then_some(reasons)
}

/// Words of shaders as global memory. Captures have one address space: the first of several VMIDs applies.
fn code(read: &Read, problems: &mut Problems) -> (MemoryMap, Vec<u8>) {
    let mut by_address: Vec<(u64, u64, u32)> =
        read.code.iter().map(|((vmid, address), word)| (*address, *vmid, *word)).collect();
    by_address.sort_unstable();
    let mut differ = 0usize;
    by_address.dedup_by(|later, first| {
        let same = later.0 == first.0;
        differ += usize::from(same && later.2 != first.2);
        same
    });
    if differ > 0 {
        let what =
            format_args!("{differ} words of code lie where another VMID has others; the lowest VMID's count");
        problems.whole(what, "shaders of one process");
    }
    let mut words = Vec::with_capacity(by_address.len() * 4);
    let mut segments: Vec<Segment> = Vec::new();
    for (address, _, word) in by_address {
        let offset = words.len() as u64;
        words.extend_from_slice(&word.to_le_bytes());
        match segments.last_mut() {
            Some(last) if last.address.checked_add(last.extent.length) == Some(address) => {
                last.extent.length += 4
            }
            _ => segments.push(Segment {
                address,
                extent: Extent { backing: CODE, offset, length: 4 },
                name: Some("code".to_owned()),
            }),
        }
    }
    (MemoryMap::new(segments).0, words)
}
