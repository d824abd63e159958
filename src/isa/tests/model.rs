//! Every case of `tests/isa/`: a model written apart from this module gives the addresses, and LLVM's tables the written
//! registers. tests/isa/README.md describes the files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::Deserialize;

use super::{Wave, decoded, parse, range};
use crate::isa::{
    AddressError, Direction, Family, LaneAccess, LaneAddress, RegisterFile, RegisterRange, WaveContext, Write,
};
use crate::units::{Address, AddressSpace, LaneId, LaneSet, WaveSize};

/// Family and space in the cases, by the prefix of the mnemonic; longer prefixes first.
const FAMILIES: &[(&str, Family, &str)] = &[
    ("flat_", Family::Flat, "flat"),
    ("global_", Family::Global, "global"),
    ("cluster_", Family::Global, "global"),
    ("scratch_", Family::Scratch, "private"),
    ("buffer_", Family::Buffer, "global"),
    ("tbuffer_", Family::TypedBuffer, "global"),
    ("ds_", Family::Lds, "lds"),
    ("s_buffer_", Family::ScalarBuffer, "global"),
    ("s_", Family::Scalar, "global"),
];

const GLOBAL: AddressSpace = AddressSpace(0);
const LOCAL: AddressSpace = AddressSpace(3);
const PRIVATE: AddressSpace = AddressSpace(5);

/// A number in hexadecimal digits after `0x`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Hex(u64);

impl TryFrom<String> for Hex {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u64::from_str_radix(text.strip_prefix("0x").unwrap_or("missing prefix"), 16).map(Self)
    }
}

/// A register: of a scalar the value; of a vector the value of lane 0, the step, and the lanes with other values.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Register {
    Scalar(Hex),
    Stepped(Hex, Hex, #[serde(default)] HashMap<String, Hex>),
    Uniform([Hex; 1]),
}

/// First lane, number of lanes, first address, step.
type Run = (usize, usize, Option<Hex>, i64);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    text: String,
    exec: Option<Hex>,
    #[serde(default)]
    registers: BTreeMap<String, Register>,
    m0: Option<Hex>,
    flat_scratch: Option<Hex>,
    access: String,
    size: Option<u16>,
    space: Option<String>,
    addresses: Option<Vec<Run>>,
    addresses2: Option<Vec<Run>>,
    /// The inner `None`: unknown.
    #[serde(default, deserialize_with = "present")]
    scalar: Option<Option<Hex>>,
    offsets: Option<Vec<Run>>,
    #[serde(default)]
    lds: Hex,
    #[serde(default)]
    private: Hex,
    #[serde(default)]
    hole: Hex,
    #[serde(default)]
    dropped: Hex,
    #[serde(default)]
    partial: Vec<(Vec<u16>, Hex)>,
    lds_addresses: Option<Vec<Run>>,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Option<Hex>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// Expected result of one side of a lane's access.
#[derive(Debug)]
struct Expected {
    space: AddressSpace,
    /// The address in the space; `None`: unknown.
    address: Option<u64>,
    /// Of private memory, the address of the first byte in global memory; `None`: unknown.
    global: Option<u64>,
    is_dropped: bool,
    /// Dwords out of range.
    lost: Vec<u16>,
}

fn lines(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isa").join(name);
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The value of each lane.
fn expand(runs: &[Run], lanes: usize) -> Vec<Option<u64>> {
    let mut values = Vec::new();
    for (first, count, start, step) in runs {
        assert_eq!(*first, values.len());
        let at =
            |index: usize| start.map(|Hex(start)| start.wrapping_add_signed(step.wrapping_mul(index as i64)));
        values.extend((0..*count).map(at));
    }
    assert_eq!(values.len(), lanes);
    values
}

impl Case {
    fn wave(&self, processor: &str, lanes: usize) -> Wave {
        let size = if lanes == 64 { WaveSize::W64 } else { WaveSize::W32 };
        let mut wave = Wave::of_size(processor, size);
        wave.exec = self.exec.map_or(size.all(), |Hex(mask)| LaneSet(mask));
        for (name, register) in &self.registers {
            let (base, step, others) = match register {
                Register::Scalar(Hex(value)) => {
                    wave = wave.set(name, &[u32::try_from(*value).unwrap()]);
                    continue;
                }
                Register::Stepped(base, step, others) => (base.0, step.0, Some(others)),
                Register::Uniform([base]) => (base.0, 0, None),
            };
            let value = |lane: usize| {
                let other = others.and_then(|others| others.get(&lane.to_string()));
                other.map_or(base + step * lane as u64, |other| other.0) as u32
            };
            let values: Vec<u32> = (0..lanes).map(value).collect();
            wave = wave.lanes(range(name).first, &values);
        }
        if let Some(Hex(m0)) = self.m0 {
            wave = wave.set("m0", &[u32::try_from(m0).unwrap()]);
        }
        if let Some(Hex(base)) = self.flat_scratch {
            wave = wave.set("flat_scratch", &[base as u32, (base >> 32) as u32]);
        }
        wave
    }

    /// The memory sides of each lane's access; of a scalar access the one of the wave.
    fn expected(&self, lanes: usize) -> Vec<Vec<Expected>> {
        if let Some(address) = self.scalar {
            let address = address.map(|Hex(address)| address);
            let is_dropped = self.dropped.0 == 1;
            return vec![vec![Expected {
                space: GLOBAL,
                address,
                global: address,
                is_dropped,
                lost: Vec::new(),
            }]];
        }
        let columns = [&self.addresses, &self.addresses2].into_iter().flatten();
        let columns: Vec<_> = columns.map(|runs| expand(runs, lanes)).collect();
        let offsets = self.offsets.as_ref().map(|runs| expand(runs, lanes));
        let of = |lane: usize, address: Option<u64>| {
            let is_in = |mask: Hex| mask.0 >> lane & 1 == 1;
            let space = match self.space.as_deref() {
                Some("lds") => LOCAL,
                _ if is_in(self.lds) => LOCAL,
                Some("private") => PRIVATE,
                _ if is_in(self.private) => PRIVATE,
                _ => GLOBAL,
            };
            assert!(!is_in(self.hole) || space == GLOBAL);
            let lost = self.partial.iter().find(|(_, mask)| is_in(*mask)).map(|(dwords, _)| dwords.clone());
            Expected {
                space,
                address: offsets
                    .as_ref()
                    .filter(|_| space == PRIVATE)
                    .map_or(address, |offsets| offsets[lane]),
                global: address,
                is_dropped: is_in(self.dropped),
                lost: lost.unwrap_or_default(),
            }
        };
        (0..lanes).map(|lane| columns.iter().map(|column| of(lane, column[lane])).collect()).collect()
    }

    /// Differences between the case and the module.
    fn differences(&self, processor: &str) -> Vec<String> {
        let effects = match decoded(processor, &self.text) {
            Ok(effects) => effects,
            Err(error) => return vec![error.to_string()],
        };
        let Some(access) = effects.access else {
            return if self.access == "none" { Vec::new() } else { vec!["no access".to_owned()] };
        };
        let prefix = FAMILIES.iter().find(|(prefix, ..)| self.text.starts_with(prefix));
        let (_, family, space) = prefix.unwrap_or_else(|| panic!("{}", self.text));
        let direction = match access.direction {
            Direction::Load => "load",
            Direction::Store => "store",
            Direction::Atomic { .. } => "atomic",
        };
        let mut wrong = Vec::new();
        if (direction, Some(*space), access.family) != (self.access.as_str(), self.space.as_deref(), *family)
        {
            wrong.push(format!("{direction}, {:?}", access.family));
        }
        if access.bytes != self.size {
            wrong.push(format!("{:?} bytes", access.bytes));
        }
        if access.is_lds_copy != self.lds_addresses.is_some() {
            wrong.push("copy to LDS".to_owned());
        }
        let lanes = if processor.starts_with("gfx9") { 64 } else { 32 };
        let wave = self.wave(processor, lanes);
        let context = WaveContext { arch: &wave.arch, exec: wave.exec, apertures: &HashMap::new() };
        let found = access.addresses(&context, &wave);
        let copies = self.lds_addresses.as_ref().map(|runs| expand(runs, lanes));
        // Each access belongs to one of these lanes.
        let mut count = 0;
        for (lane, expected) in (0u8..).zip(self.expected(lanes)) {
            let id = if self.scalar.is_some() { None } else { Some(LaneId(lane)) };
            let mut parts: Vec<&LaneAccess> = found.iter().filter(|access| access.lane == id).collect();
            count += parts.len();
            if id.is_some() && wave.exec.0 >> lane & 1 == 0 {
                if !parts.is_empty() {
                    wrong.push(format!("inactive lane {lane}: {parts:?}"));
                }
                continue;
            }
            if let Some(copies) = &copies {
                let copy = parts.pop();
                let address = copies[usize::from(lane)];
                let expected =
                    Expected { space: LOCAL, address, global: None, is_dropped: false, lost: Vec::new() };
                // The other side of a store reads LDS.
                let other =
                    if access.direction == Direction::Load { Direction::Store } else { Direction::Load };
                if copy.is_none_or(|copy| copy.direction != other) || !self.agrees(&expected, copy.as_slice())
                {
                    wrong.push(format!("lane {lane}: copy {copy:x?}, not {expected:x?}"));
                }
            }
            let is_pair = expected.len() == 2;
            for (index, expected) in expected.into_iter().enumerate() {
                let side = if is_pair { parts.get(index..=index).unwrap_or_default() } else { &parts };
                if !self.agrees(&expected, side) {
                    wrong.push(format!("lane {lane}: {side:x?}, not {expected:x?}"));
                }
            }
            if is_pair
                && parts.len() != 2
                && !matches!(parts[..], [LaneAccess { address: LaneAddress::Unknown(_), .. }])
            {
                wrong.push(format!("lane {lane}: {parts:x?}"));
            }
        }
        if count != found.len() {
            wrong.push(format!("{} accesses, {count} of lanes", found.len()));
        }
        wrong
    }

    /// Whether the consecutive parts of an access are as expected.
    fn agrees(&self, expected: &Expected, parts: &[&LaneAccess]) -> bool {
        let known = match expected.address {
            _ if expected.is_dropped => None,
            Some(address) => Some(address),
            // One register is missing.
            None => {
                let is_unknown = |access: &&LaneAccess| {
                    matches!(access.address, LaneAddress::Unknown(AddressError::Register(_)))
                };
                return parts.len() <= 1 && parts.iter().all(is_unknown);
            }
        };
        // A swizzle separates the dwords, and the cases have the address of the first one.
        let is_linear = expected.space != PRIVATE && !self.is_swizzled();
        let mut at = 0;
        for part in parts {
            let bytes = part.bytes.unwrap_or(1);
            let mut dwords = (at..at + bytes).step_by(4).map(|byte| byte / 4);
            let is_right = match &part.address {
                LaneAddress::OutOfRange => {
                    expected.is_dropped || dwords.all(|dword| expected.lost.contains(&dword))
                }
                LaneAddress::Memory { space, address, global } => {
                    let is_first = at == 0;
                    let first = known.map(|address| address.wrapping_add(u64::from(at)));
                    let is_at = !is_first && !is_linear || first == Some(address.0);
                    let whole = match expected.space {
                        LOCAL => None,
                        GLOBAL => Some(*address),
                        _ => expected.global.map(Address),
                    };
                    *space == expected.space
                        && is_at
                        && *global == whole
                        && !dwords.any(|dword| expected.lost.contains(&dword))
                }
                LaneAddress::Unknown(_) => false,
            };
            if !is_right || part.bytes.is_none() != self.size.is_none() {
                return false;
            }
            at += bytes;
        }
        at == self.size.unwrap_or(1)
    }

    /// Whether the buffer's descriptor, the only operand of four SGPRs, has a swizzle.
    fn is_swizzled(&self) -> bool {
        let descriptor = self
            .text
            .split([' ', ','])
            .find_map(|word| parse(word).filter(|range| range.count == 4 && !range.file.is_vector()));
        let word = descriptor.and_then(|range| {
            let name = if range.file == RegisterFile::Trap { "ttmp" } else { "s" };
            self.registers.get(&format!("{name}{}", range.first + 1))
        });
        matches!(word, Some(Register::Scalar(Hex(word))) if word >> 30 != 0)
    }
}

fn compare(processor: &str) {
    let (mut count, mut wrong) = (0, Vec::new());
    for line in lines(&format!("{processor}.jsonl")) {
        let case: Case = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        count += 1;
        let differences = case.differences(processor);
        if let Some(first) = differences.first() {
            wrong.push(format!("{line}\n    {} differences, first: {first}", differences.len()));
        }
    }
    assert!(count > 1000, "{count} cases");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn model_of_gfx90a() {
    compare("gfx90a");
}

#[test]
fn model_of_gfx942() {
    compare("gfx942");
}

#[test]
fn model_of_gfx950() {
    compare("gfx950");
}

#[test]
fn model_of_gfx1030() {
    compare("gfx1030");
}

#[test]
fn model_of_gfx1100() {
    compare("gfx1100");
}

#[test]
fn model_of_gfx1201() {
    compare("gfx1201");
}

#[test]
fn model_of_gfx1250() {
    compare("gfx1250");
}

#[derive(Debug, Deserialize)]
struct Written {
    gpu: String,
    text: String,
    writes: BTreeSet<String>,
}

/// The names of the written registers, and whether any register of a file can be written.
fn names(writes: &[Write]) -> (BTreeSet<String>, bool) {
    let (mut names, mut is_open) = (BTreeSet::new(), false);
    for Write { range, .. } in writes {
        if *range == RegisterRange::whole(range.file) {
            is_open = true;
            continue;
        }
        let half = |index: u16| if index == 0 { "lo" } else { "hi" };
        names.extend((range.first..range.first + range.count).map(|index| match range.file {
            RegisterFile::Scalar => format!("s{index}"),
            RegisterFile::Vector => format!("v{index}"),
            RegisterFile::Accumulator => format!("a{index}"),
            RegisterFile::Trap => format!("ttmp{index}"),
            RegisterFile::Vcc => format!("vcc_{}", half(index)),
            RegisterFile::Exec => format!("exec_{}", half(index)),
            RegisterFile::FlatScratch => format!("flat_scratch_{}", half(index)),
            RegisterFile::XnackMask => format!("xnack_mask_{}", half(index)),
            RegisterFile::M0 => "m0".to_owned(),
            RegisterFile::Scc => "scc".to_owned(),
            RegisterFile::Mode => "mode".to_owned(),
            RegisterFile::Hardware => "hwreg".to_owned(),
        }));
    }
    (names, is_open)
}

/// The registers of a case, and whether any register of a file can be written. LLVM's tables differ from the
/// instruction's effect in four points.
fn expected(case: &Written) -> (BTreeSet<String>, bool) {
    let mut writes = case.writes.clone();
    let mnemonic = case.text.split(' ').next().unwrap_or_default();
    // Index mode changes the destinations of later instructions; the tables describe the instruction alone.
    let is_open = mnemonic.starts_with("s_set_gpr_idx_");
    // VSKIP is a bit of MODE, which the tables leave out.
    if mnemonic == "s_setvskip" {
        writes.insert("mode".to_owned());
    }
    // The result and the two sources share an operand in the tables; the result has half of its size.
    if mnemonic.starts_with("buffer_atomic_cmpswap") || mnemonic.starts_with("s_atomic_cmpswap") {
        let operand = case.text.split([' ', ',']).nth(1).and_then(parse).unwrap();
        writes = names(&[Write { range: operand.first_half(), keeps_old: false, ignores_exec: true }]).0;
    }
    // The text does not show the size of the wave, and the cases are of waves of 32 lanes.
    if mnemonic.starts_with("v_cmpx_") || mnemonic.contains("exec_b64") {
        writes.insert("exec_hi".to_owned());
    }
    (writes, is_open)
}

#[test]
fn written_registers_agree_with_llvm() {
    let (mut count, mut wrong) = (0, Vec::new());
    for line in lines("writes.jsonl") {
        let case: Written = serde_json::from_str(&line).unwrap();
        count += 1;
        let found = decoded(&case.gpu, &case.text).map(|effects| names(&effects.writes));
        if found.as_ref() != Ok(&expected(&case)) {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert!(count > 1000, "{count} cases");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
