//! Waves that umr showed to a capture.

use std::collections::HashMap;
use std::sync::Arc;

use super::groups::{Groups, Without};
use super::wave::{Read, UmrWave};
use crate::arch::{Generation, Processor, Target, Targets};
use crate::capture::{
    Agent, BackingId, Capture, Extent, MemoryBacking, MemoryMap, Provenance, Segment, Wave,
};
use crate::import::nearest::nearest;
use crate::import::problem::Problems;
use crate::import::text::Placer;
use crate::import::{ImportError, Options};
use crate::units::WaveSize;

const ARENA: BackingId = BackingId(0);

/// Where the words of shaders lie.
const CODE: BackingId = BackingId(1);

/// The processor that the user names.
pub(super) fn chosen(targets: &Targets, options: &Options) -> Result<Option<Arc<Target>>, ImportError> {
    let target = options.target.as_deref().map(|name| targets.target(name));
    target.transpose().map_err(|error| ImportError::Processor { what: error.to_string() })
}

/// Builds the capture; `named`: the processor, where something beside the text says.
pub(super) fn build(
    name: &str,
    format: &str,
    read: Read,
    named: Option<Processor>,
    chosen: Option<&Arc<Target>>,
    targets: &Targets,
    problems: &mut Problems,
) -> Capture {
    let mut capture = Capture { name: name.to_owned(), ..Capture::default() };
    let note = "umr shows registers and words of code; LDS, private and global memory are not in it";
    capture.provenance = Provenance {
        format: format.to_owned(),
        producer: Some("umr".to_owned()),
        note: Some(note.to_owned()),
        ..Provenance::default()
    };
    if let Some(target) = target(&read, named, chosen, targets, problems) {
        let without = waves(&mut capture, &read, &target, targets, problems);
        if let Some(note) = &mut capture.provenance.note {
            note.push_str(&without.words(read.waves.len()));
        }
    }
    if read.waves.is_empty() && read.idle {
        problems
            .whole("no waves: umr found none active, or GFXOFF was not disabled", "umr -go 0 -O halt_waves");
    }
    if read.too_many {
        problems.whole(
            "there are more waves than can be served",
            format_args!("{}", crate::import::text::MOST_WAVES),
        );
    }
    if read.kept.full {
        let what = "there are more values than are kept; the rest is not captured";
        problems.whole(what, "values of some 1 GiB, and 64 MiB of code");
    }
    let (map, words) = code(&read, problems);
    capture.global = map;
    capture.backings.push(Arc::new(MemoryBacking::new(name, read.kept.into_bytes())));
    capture.backings.push(Arc::new(MemoryBacking::new(name, words)));
    capture
}

fn waves(
    capture: &mut Capture,
    read: &Read,
    target: &Arc<Target>,
    targets: &Targets,
    problems: &mut Problems,
) -> Without {
    let mut groups = Groups::default();
    capture.agents.push(Agent {
        id: 1,
        target: Arc::clone(target),
        name: None,
        apertures: HashMap::new(),
        hardware: None,
    });
    let mut placer = Placer::new(ARENA);
    for (id, raw) in (1u32..).zip(&read.waves) {
        let size = raw.size.unwrap_or(WaveSize::W64);
        let kind = match targets.kind(&target.name, size) {
            Ok(kind) => kind,
            Err(error) => {
                let what = format_args!("{}: {error}; the wave is left out", raw.slot);
                problems.line(raw.line, what, "a target with such waves (--processor)");
                continue;
            }
        };
        let registers = placer.place(problems, &read.kept, &kind, &raw.values);
        let stop = stop(raw, target);
        let place = groups.place(raw, &read.kept, target, &mut capture.workgroups);
        capture.waves.push(Wave {
            id,
            label: Some(raw.slot.as_str().into()),
            kind,
            agent: 0,
            workgroup: place.map(|(workgroup, _)| workgroup),
            wave_in_group: place.map(|(_, slot)| slot),
            stop,
            sgpr_count: raw.sgpr_count().filter(|count| *count <= target.sgpr_count),
            registers,
            private: MemoryMap::default(),
            private_size: None,
        });
    }
    groups.without
}

/// What the exception bits say; umr halts waves itself, so that without any it is not known why one stands.
fn stop(raw: &UmrWave, target: &Target) -> Option<Vec<usize>> {
    let mut reasons = target.faults(true, |name| raw.word(name).map(u64::from));
    if raw.word("status").is_some_and(|status| status >> 23 & 1 == 1) {
        reasons.extend(target.reason_index("fatal_halt"));
        reasons.sort_unstable();
        reasons.dedup();
    }
    (!reasons.is_empty()).then_some(reasons)
}

/// The processor: the user's, that which the text or something beside it names, else one of the family.
fn target(
    read: &Read,
    named: Option<Processor>,
    chosen: Option<&Arc<Target>>,
    targets: &Targets,
    problems: &mut Problems,
) -> Option<Arc<Target>> {
    if let Some(chosen) = chosen {
        return Some(Arc::clone(chosen));
    }
    if let Some(processor) = read.named.or(named) {
        let target = nearest(targets, processor);
        match &target {
            Some(target) if target.name == processor.name => {}
            Some(target) => {
                let what =
                    format_args!("no target describes {}: it is read as {}", processor.name, target.name);
                problems.whole(what, "--processor NAME, or a target file in the folder of --targets");
            }
            None => {
                let what = format_args!(
                    "no target is of the generation of {}; its waves are left out",
                    processor.name
                );
                problems.whole(what, "gfx9 to gfx12");
            }
        }
        return target;
    }
    let first = read.waves.first()?;
    let has = |name: &str| read.waves.iter().any(|wave| wave.words.contains_key(name));
    let generation = match first.has_wgp {
        _ if read.waves.iter().any(|wave| wave.before_gfx9) => {
            problems.whole("the waves are of a GPU before gfx9; they are left out", "gfx9 to gfx12");
            return None;
        }
        false => Generation::Gfx9,
        true if has("state_priv") => Generation::Gfx12,
        // gfx10 shows the instruction that it is at, and gfx11 does not.
        true if has("inst_dw0") => Generation::Gfx10,
        true => Generation::Gfx11,
    };
    let name = match generation {
        Generation::Gfx12 => "gfx1200",
        Generation::Gfx11 => "gfx1100",
        Generation::Gfx10 => "gfx1030",
        _ => "gfx900",
    };
    let what =
        format_args!("nothing says which GPU the waves are of; by their registers they are read as {name}'s");
    problems.whole(what, "--processor NAME");
    targets.target(name).ok()
}

/// Words of shaders as global memory. Address spaces of several VMIDs cannot be told apart: the first counts.
fn code(read: &Read, problems: &mut Problems) -> (MemoryMap, Vec<u8>) {
    let mut by_address: Vec<(u64, u64, u32)> =
        read.code.iter().map(|((vmid, address), word)| (*address, *vmid, *word)).collect();
    by_address.sort_unstable();
    let before = by_address.len();
    let differ = by_address.windows(2).any(|two| matches!(two, [a, b] if a.0 == b.0 && a.2 != b.2));
    by_address.dedup_by_key(|(address, ..)| *address);
    if differ {
        let what = format_args!(
            "{} words of code lie where another VMID has others; the lowest VMID's count",
            before - by_address.len()
        );
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
