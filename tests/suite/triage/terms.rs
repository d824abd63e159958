//! Patterns and terms of the bad accesses of tests/fixtures/faults.zip. The instruction and the lanes are the truth's;
//! the expected pattern and pointer follow from the kernels' sources.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;

use lanescope::arch::WaveArch;
use lanescope::isa::{LaneAddress, Machine, ReadRegister, RegisterFile, WaveContext};
use lanescope::session::{DumpFacts as _, MemoryAddress, Session, Storage as _, Waves as _};
use lanescope::triage::{AddressOf, Pattern, SourceAt, Suspect, describe};
use lanescope::units::{Address, LaneId, LaneSet, WaveId};

use super::cases::{self, BadAccess, Case, Moment};
use crate::support::least;

/// The line of the bad access of a kernel, and the pointers that lead there by its source.
const KERNELS: &[(&str, &str, &[&str])] = &[
    ("null_member", "    float weight = body->mass;", &["body", "*bodies", "bodies[i]"]),
    ("null_config", "  float scale = config->offset;", &["config"]),
    ("chain_walk", "    sum += body->mass;", &["body", "first[i].next"]),
    ("pitch_overflow", "  float value = row[x];", &["row", "image"]),
    ("negative_index", "  float left = in[i - halo];", &["in"]),
    ("poison_index", "  float value = table[key];", &["table"]),
    ("poison_pointer", "  slot->id = i * 3;", &["slot", "*slots", "slots[i]"]),
    ("other_aperture", "  float value = *source;", &["source", "handles[i]"]),
    ("host_pointer", "  result.values[i * result.stride] = value;", &["result.values"]),
    ("flipped_bit", "    sum += row[col];", &["row", "*rows", "rows[i]"]),
    ("past_end", "    sum += m->data[row * m->cols + col];", &["m->data"]),
    ("past_loop", "    float xi = x[i];", &["x"]),
    ("before_start", "  while (in[at] < limit)", &["in"]),
    ("misaligned", "  __hip_atomic_fetch_add(counter, i, __ATOMIC_RELAXED);", &["counter", "bytes"]),
    ("read_only", "  table[i] = value;", &["table"]),
    ("cl_past_end", "  float4 quad = in[i + shift];", &["in"]),
    ("cl_wrap", "  float value = *(__global const float *)(image + offset);", &["image"]),
    ("cl_null", "  slot[at] = 1.25f;", &["slot", "*slots", "slots[i]"]),
    ("cl_negative", "    sum += in[start + k * 4];", &["in"]),
    ("buffer_past", "  float value = buffer_load(buffer, (i + shift) * 4, 0, 0);", &["in"]),
    ("cl_buffer", "  buffer_store(2.5f, buffer, i, 8, 0, 0);", &["records"]),
    ("lds_past", "  tile[threadIdx_x + shift] = value;", &["tile"]),
    ("cl_lds", "  float sum = tile[item + shift] + tile[item + shift + 9];", &["tile"]),
    ("cl_unsigned", "  float value = *(__global const float *)(image + offset);", &["image"]),
];

/// Registers of a wave.
struct Registers<'a>(&'a Session, WaveId, &'a WaveArch);

impl ReadRegister for Registers<'_> {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        let (register, dword) = file.register(index, self.2)?;
        let dword = if file.is_vector() { u16::from(lane.0) } else { dword };
        self.0.register(self.1, register).ok()?.dword(dword)
    }
}

/// The true access, by the present registers; `None`: they no longer give addresses on the true pages.
fn suspect(
    session: &Session,
    case: &Case,
    wave: WaveId,
    access: &BadAccess,
    line: Option<&str>,
) -> Option<Suspect> {
    let arch = session.kind();
    let machine = Machine { processor: case.gpu.clone(), wave_size: arch.wave_size };
    let decoded = machine.said(0, 4, &access.text, None).effects().unwrap().access.clone().unwrap();
    let lanes = access.lanes.iter().fold(LaneSet::EMPTY, |set, lane| set.or(LaneSet::one(LaneId(*lane))));
    let apertures: HashMap<_, _> = arch
        .target
        .spaces
        .iter()
        .filter_map(|space| {
            let place = MemoryAddress {
                space: space.id,
                address: Address(0),
                wave: Some(wave),
                lane: Some(LaneId(0)),
            };
            Some((space.id, session.generic_address(place)?))
        })
        .collect();
    let exec = if lanes == LaneSet::EMPTY { LaneSet::one(LaneId(0)) } else { lanes };
    let context = WaveContext { arch: &arch, exec, apertures: &apertures };
    let mut addresses = Vec::new();
    for found in decoded.addresses(&context, &Registers(session, wave, &arch)) {
        let LaneAddress::Memory { space, address, global } = found.address else { return None };
        let (address, global) = (address.0, global.map(|global| global.0));
        addresses.push(AddressOf { lane: found.lane, space, address, global, bytes: found.bytes });
    }
    let is_true = |of: &AddressOf| {
        let bytes = u64::from(of.bytes.unwrap_or(1));
        let pages = [of.address, of.address.wrapping_add(bytes - 1)].map(|at| at & !0xfff);
        of.global == Some(of.address) && pages.iter().any(|page| access.pages.contains(page))
    };
    if !addresses.iter().all(is_true) {
        return None;
    }
    Some(Suspect {
        instruction: access.instruction,
        lanes,
        addresses,
        at: SourceAt { text: line.map(str::to_owned), ..SourceAt::default() },
        ..Suspect::new(wave, session.wave(wave).unwrap().pc?, &access.text, decoded)
    })
}

/// Whether a pattern is the one of a case.
fn is_expected(case: &Case, pattern: &Pattern) -> bool {
    match case.pattern.as_str() {
        "null" => matches!(pattern, Pattern::Null { .. }),
        "non-canonical" => matches!(pattern, Pattern::NonCanonical),
        "overflow" => matches!(pattern, Pattern::Wrapped32 { .. } | Pattern::NegativeIndex { .. }),
        "negative" => matches!(pattern, Pattern::NegativeIndex { .. } | Pattern::BeforeStart(_)),
        "poison" => matches!(pattern, Pattern::Poison { .. }),
        "aperture" => matches!(pattern, Pattern::OtherAperture { .. }),
        "host" => matches!(pattern, Pattern::HostPointer { .. }),
        "flipped" => matches!(pattern, Pattern::FlippedBit { .. }),
        "past" => matches!(pattern, Pattern::PastEnd(_)),
        "before" => matches!(pattern, Pattern::BeforeStart(_)),
        "misaligned" => matches!(pattern, Pattern::Misaligned { .. }),
        "read-only" => matches!(pattern, Pattern::ReadOnly),
        other => panic!("{other}"),
    }
}

#[derive(Default)]
struct Score {
    accesses: usize,
    /// The expected pattern is among those found.
    patterns: usize,
    /// The pointer of the source.
    right: usize,
    /// Another pointer.
    wrong: usize,
}

#[test]
fn patterns_and_pointers_of_bad_accesses() {
    let cases = cases::load_some(|name| !name.starts_with("bad_code-"), 5);
    let mut table: BTreeMap<(String, bool), Score> = BTreeMap::new();
    let mut misses = Vec::new();
    for case in &cases.faults {
        let kernel = case.name.split('-').next().unwrap();
        let (_, line, pointers) = KERNELS.iter().find(|(name, ..)| *name == kernel).unwrap();
        let dump = cases.open(case, Moment { distance: 0, has_report: true, lacks_memory: false });
        let session = Session::new(dump, None).unwrap();
        let faults = session.faults();
        for (wave, ordinal) in case.waves.iter().zip(0..) {
            let Some(access) = wave.truth.as_ref().and_then(|truth| truth.access.as_ref()) else { continue };
            for line in [Some(*line), None] {
                let Some(mut found) = suspect(&session, case, WaveId(ordinal), access, line) else {
                    continue;
                };
                describe(&session, &faults, &mut found);
                let score = table.entry((kernel.to_owned(), line.is_some())).or_default();
                score.accesses += 1;
                let has_pattern = found.patterns.iter().any(|of| is_expected(case, &of.pattern));
                score.patterns += usize::from(has_pattern);
                let names = found.term.as_ref().map(|term| term.pointer.name.as_str());
                let is_right = names.is_some_and(|name| {
                    // An index of an array of pointers: a variable, or the number of the work-item.
                    let general = name.find('[').zip(name.find(']'));
                    let general = general.map(|(at, end)| format!("{}[i{}", &name[..at], &name[end..]));
                    pointers.contains(&name) || general.is_some_and(|name| pointers.contains(&name.as_str()))
                });
                score.right += usize::from(is_right);
                let is_wrong = names.is_some() && !is_right;
                score.wrong += usize::from(is_wrong);
                if !is_right || !has_pattern {
                    let term = found.term.as_ref().map(|term| (&term.expression, &term.alternatives));
                    misses.push(format!(
                        "{} wave {} {} {:?}: {} {:#x}: {term:?} {:?}",
                        case.name,
                        wave.id,
                        if line.is_some() { "line" } else { "" },
                        access.lanes.len(),
                        access.text,
                        found.addresses[0].address,
                        found.patterns
                    ));
                }
            }
        }
    }
    let mut all = Score::default();
    let mut report = misses.join("\n");
    report.push_str("\nkernel, line: accesses, pattern, right pointer, wrong pointer\n");
    for ((kernel, has_line), score) in &table {
        let Score { accesses, patterns, right, wrong } = score;
        report.push_str(&format!("{kernel} {has_line}: {accesses} {patterns} {right} {wrong}\n"));
        all.accesses += accesses;
        all.patterns += patterns;
        all.right += right;
        all.wrong += wrong;
    }
    let percent = |part: usize| part * 100 / all.accesses.max(1);
    report.push_str(&format!(
        "all: {} accesses, patterns {} %, right pointers {} %, wrong ones {} %\n",
        all.accesses,
        percent(all.patterns),
        percent(all.right),
        percent(all.wrong)
    ));
    std::io::stdout().write_all(report.as_bytes()).unwrap();
    assert!(all.accesses > least(1000, 150));
    // The rest: a host pointer that looks like device memory, and pointers that no variable and no array in memory has.
    assert!(percent(all.patterns) >= 90 && percent(all.right) >= 85);
    assert_eq!(all.wrong, 0);
    for (kernel, has_line) in
        [("past_loop", false), ("past_end", false), ("null_config", false), ("read_only", false)]
    {
        let score = &table[&(kernel.to_owned(), has_line)];
        assert_eq!((score.right, score.patterns), (score.accesses, score.accesses), "{kernel}");
    }
}
