//! Accesses before a PC in code written by hand, by the rules of AMD's ISA documents.

use std::collections::HashMap;
use std::sync::Arc;

use super::launch::Launches;
use super::look::Look;
use super::registers::Registers;
use super::work::Work;
use super::{Callees, Caller, Gap, MAX_CANDIDATES, Paths, can_enter, search, search_with};
use crate::arch::{Generation, RegId, RegisterValue, Targets, WaveArch};
use crate::capture::{Fault, FaultAddress, FaultKind, PAGE};
use crate::isa::tests::of_generation;
use crate::session::address::GLOBAL;
use crate::session::{DispatchInfo, FunctionBounds, MemoryAddress, MockInspect, ReadError, Region, WaveInfo};
use crate::triage::judge::Judge;
use crate::triage::listings::{Decoded, Listing};
use crate::triage::rank::{Sighted, missing_code, rank};
use crate::triage::survey::tests::info;
use crate::triage::{Confidence, Limit, MissingData, UnknownAddressCause};
use crate::units::{Address, LaneSet, Pc, WaveId, WaveSize};

use Generation::{Gfx10, Gfx11, Gfx12, Gfx90a};

mod certainty;
mod images;
mod looks;
mod origins;
mod paths;
mod recovery;

/// Code from text, a line each, at 0x1000. A line `NAME:` is a label, `PC` the place of the PC; branches name labels.
pub(in crate::triage) struct Code {
    listing: Arc<Listing>,
    pc: u64,
}

pub(in crate::triage) fn code(generation: Generation, text: &str) -> Code {
    code_at(generation, 0x1000, text)
}

fn code_at(generation: Generation, start: u64, text: &str) -> Code {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (mut at, mut pc, mut labels) = (start, 0, HashMap::new());
    for line in lines() {
        match line.strip_suffix(':') {
            Some(label) => drop(labels.insert(label, at)),
            None if line == "PC" => pc = at,
            None => at += 8,
        }
    }
    let instructions: Vec<&str> = lines().filter(|line| !line.ends_with(':') && *line != "PC").collect();
    let instructions = instructions.iter().zip(0u64..).map(|(line, index)| {
        let label = line.split_whitespace().nth(1).and_then(|label| labels.get(label)).copied();
        let target = label.filter(|_| line.starts_with("s_branch") || line.starts_with("s_cbranch"));
        let text = match target {
            Some(_) => format!("{} 1", line.split_whitespace().next().unwrap()),
            None => (*line).to_owned(),
        };
        let code = of_generation(generation, &text).moved(start + index * 8, 8, target);
        assert!(code.effects().is_ok() || line.starts_with('.'), "{line}");
        Decoded { code, file: None, line: None }
    });
    let function = FunctionBounds { name: Arc::from("kern"), start, end: at, begins_before: false };
    let listing = Listing {
        function: Some(function),
        generation: Some(generation),
        instructions: instructions.collect(),
    };
    Code { listing: Arc::new(listing), pc }
}

pub(in crate::triage) fn walk(code: &Code) -> Paths {
    search(&code.listing, code.pc, &[], true, &Work::default())
}

/// Text, distance, and distance of the wait that proves completion, nearest first.
fn summary(walk: &Paths) -> Vec<(String, usize, Option<usize>)> {
    let one = |candidate: &super::Candidate| {
        let way = candidate.ways[0];
        let text = walk.instruction(candidate).unwrap().text().into_owned();
        (text.split_whitespace().next().unwrap().to_owned(), way.distance, way.completed)
    };
    walk.candidates.iter().map(one).collect()
}

fn expect(generation: Generation, text: &str, expected: &[(&str, usize, Option<usize>)]) {
    let found = summary(&walk(&code(generation, text)));
    let found: Vec<_> =
        found.iter().map(|(text, distance, wait)| (text.as_str(), *distance, *wait)).collect();
    assert_eq!(found, expected, "{generation:?} {text}");
}

/// Registers of a wave: named values; of vectors all lanes have `value + lane * 0x100`.
pub(in crate::triage) fn registers(arch: &Arc<WaveArch>, values: &[(&str, u64)]) -> MockInspect {
    let mut known: HashMap<RegId, RegisterValue> = HashMap::new();
    for (name, value) in values {
        let register = arch.named(name).unwrap();
        let mut dwords = RegisterValue::unknown(register.dwords);
        for index in 0..register.dwords {
            let part = match register.is_vector() {
                true => {
                    (*value as u32).wrapping_add(if *value > 0xf000 { u32::from(index) * 0x100 } else { 0 })
                }
                false => (*value >> (32 * index)) as u32,
            };
            dwords.set_dword(index, part);
        }
        known.insert(register.id, dwords);
    }
    let mut session = MockInspect::new();
    let (kind, sizes) = (Arc::clone(arch), Arc::clone(arch));
    session.expect_kind().returning(move || Arc::clone(&kind));
    session.expect_register().returning(move |_, id| {
        let size = sizes.register(id).map_or(0, |register| register.dwords);
        Ok(known.get(&id).cloned().unwrap_or_else(|| RegisterValue::unknown(size)))
    });
    session
}

/// The addresses of an access in a wave of gfx90a.
fn look(text: &str, mnemonic: &str, values: &[(&str, u64)]) -> Option<Look> {
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let session = registers(&arch, values);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let registers = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    let walk = walk(&code(Gfx90a, text));
    let is_it =
        |candidate: &&super::Candidate| walk.instruction(candidate).unwrap().text().starts_with(mnemonic);
    walk.looks(walk.candidates.iter().find(is_it).unwrap(), &registers, false).into_iter().next()
}

/// Registers of a wave of gfx90a, and dwords of memory by their addresses.
fn with_memory(values: &[(&str, u64)], memory: &'static [(u64, u32)]) -> MockInspect {
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let mut session = registers(&arch, values);
    session.expect_read().returning(move |place, buffer| {
        let found = memory.iter().find(|(address, _)| *address == place.address.0);
        let (_, value) = found.ok_or(ReadError::NotCaptured { what: "memory".to_owned() })?;
        buffer.copy_from_slice(&value.to_le_bytes());
        Ok(4)
    });
    session
}

/// The addresses of a load whose registers are overwritten, from values that survived.
fn recovered(text: &str, values: &[(&str, u64)], memory: &'static [(u64, u32)]) -> Look {
    let session = with_memory(values, memory);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let registers = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    again(text, &registers)
}

fn again(text: &str, registers: &Registers<'_>) -> Look {
    let walk = walk(&code(Gfx90a, text));
    let is_it = |candidate: &&super::Candidate| walk.instruction(candidate).unwrap().text().contains("v60");
    walk.looks(walk.candidates.iter().find(is_it).unwrap(), registers, true).remove(0)
}

const ADDRESS: [(&str, u64); 3] = [("v2", 0x10_0000), ("v3", 0x7f00), ("exec", 0xf)];

fn dispatch_info() -> DispatchInfo {
    DispatchInfo {
        id: 1,
        name: String::new(),
        agent: 1,
        queue: 1,
        packet: None,
        grid: None,
        workgroup: None,
        fences: None,
        group_segment_size: None,
        private_segment_size: None,
        kernel: None,
        kernel_object: None,
        kernarg: None,
        waves: Vec::new(),
        left_out: 0,
        has_all_waves: false,
    }
}
