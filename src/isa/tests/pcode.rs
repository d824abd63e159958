//! Results of every integer instruction in random states, against AMD's pseudo code: `tests/isa/pcode.py`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use amdgpu_isa::{Decoder, Role};
use serde_json::{Value, json};

use crate::isa::computation::{Computation, Number, Operation};
use crate::isa::{
    ExecChange, Instruction, Machine, ReadOperand, ReadRegister, RegisterFile, RegisterRange, Relation,
    Source,
};
use crate::sample::least;
use crate::units::{LaneId, WaveSize};

const PROCESSORS: [(&str, WaveSize, &str); 8] = [
    ("gfx900", WaveSize::W64, "cdna"),
    ("gfx90a", WaveSize::W64, "cdna"),
    ("gfx942", WaveSize::W64, "cdna"),
    ("gfx1030", WaveSize::W64, "rdna3"),
    ("gfx1030", WaveSize::W32, "rdna3"),
    ("gfx1100", WaveSize::W32, "rdna3"),
    ("gfx1200", WaveSize::W32, "rdna4"),
    ("gfx1250", WaveSize::W32, "rdna4"),
];
/// Instructions of gfx12.5 that CDNA has, and RDNA has not.
const OF_CDNA: [&str; 3] = ["v_mov_b64", "v_pk_mov_b32", "v_lshl_add_u64"];
/// Instructions for which the texts have nothing: CDNA 4 has no accumulation registers in them, and no text is of GFX12.5.
const WITHOUT_TEXT: [&str; 8] = [
    "v_accvgpr_mov_b32",
    "v_accvgpr_read_b32",
    "v_accvgpr_write_b32",
    "v_add_nc_u64",
    "v_mad_nc_i64_i32",
    "v_mad_nc_u64_u32",
    "v_mul_u64",
    "v_sub_nc_u64",
];
const CORNERS: [u32; 12] =
    [0, 1, 2, 31, 32, 0x7f_ffff, 0x80_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX, 0xffff];
const NEXT: u64 = 0x7f00_0000_1004;

fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// Random registers of a wave.
struct State {
    seed: u64,
    size: WaveSize,
}

impl State {
    fn lane(&self) -> LaneId {
        LaneId((mixed(self.seed) % u64::from(self.size.lanes())) as u8)
    }

    fn quad(&self, range: RegisterRange, lane: LaneId) -> u64 {
        let dword = |index| u64::from(self.dword(range.file, range.first + index, lane).unwrap());
        dword(0) | if range.count > 1 { dword(1) << 32 } else { 0 }
    }

    /// A mask of lanes.
    fn mask(&self, range: RegisterRange) -> u64 {
        let count = if self.size == WaveSize::W64 { 2 } else { 1 };
        self.quad(RegisterRange { count, ..range }, LaneId(0))
    }

    fn exec(&self) -> u64 {
        self.mask(RegisterRange::new(RegisterFile::Exec, 0, 2))
    }
}

impl ReadRegister for State {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        let lane = if file.is_vector() { lane.0 } else { 0 };
        // Comparisons need equal operands.
        let index =
            if self.seed.is_multiple_of(9) && file == RegisterFile::Vector { index % 2 } else { index };
        let found = mixed(self.seed << 24 ^ (file as u64) << 20 ^ u64::from(index) << 8 ^ u64::from(lane));
        let corner = CORNERS[(found >> 40) as usize % CORNERS.len()];
        Some(if found % 10 < 4 { corner } else { (found >> 8) as u32 })
    }
}

impl ReadOperand for State {
    fn bit(&self, mask: RegisterRange, lane: LaneId) -> Option<bool> {
        Some(self.mask(mask) >> lane.0 & 1 == 1)
    }

    fn scc(&self) -> Option<bool> {
        Some(self.dword(RegisterFile::Scc, 0, LaneId(0))? & 1 == 1)
    }

    fn aperture(&self, _: &str) -> Option<u64> {
        None
    }

    fn wave_size(&self) -> Option<WaveSize> {
        Some(self.size)
    }

    fn next(&self) -> Option<u64> {
        Some(NEXT)
    }
}

/// An instruction with its only computation.
struct Case {
    one: Instruction,
    of: Computation,
    arch: &'static str,
    states: Vec<State>,
}

impl Case {
    fn register(&self, role: Role) -> Option<RegisterRange> {
        RegisterRange::of(self.one.code()?.0.operand_of(role)?.register()?)
    }

    /// The inputs of AMD's text in a state, by the roles of operands.
    fn request(&self, state: &State) -> Value {
        const SOURCES: [Role; 3] = [Role::named("src0"), Role::named("src1"), Role::named("src2")];
        const RESULTS: [Role; 2] = [Role::named("vdst"), Role::named("sdst")];
        let code = self.one.code().unwrap().0;
        let lane = state.lane();
        let value = |role: Role| -> Option<u64> {
            let operand = code.operand_of(role)?;
            match self.register(role) {
                Some(range) => Some(state.quad(range, lane)),
                None => operand.number().map(i64::cast_unsigned),
            }
        };
        let result = RESULTS.into_iter().find_map(value).unwrap_or(0);
        let constant = code.operand_of(const { Role::named("simm16") }).and_then(|of| of.number());
        let is_short = constant.is_some();
        let sources: Vec<u64> = match is_short {
            true => vec![result],
            false => SOURCES.into_iter().map(|role| value(role).unwrap_or(0)).collect(),
        };
        let mask = self.of.condition.or(self.of.flag).filter(|_| self.of.is_vector);
        let vcc = mask.map_or(0, |mask| state.mask(mask));
        let lanes: BTreeMap<String, u32> = self.register(SOURCES[0]).map_or_else(BTreeMap::new, |range| {
            let dword = |lane: u8| state.dword(range.file, range.first, LaneId(lane)).unwrap();
            (0..state.size.lanes()).map(|lane| (lane.to_string(), dword(lane))).collect()
        });
        let is_lane = self.of.operation == Operation::ReadLane;
        let selected = match self.of.operation {
            Operation::Pack(low, high) => low | high << 1,
            _ => 0,
        };
        let is_compare = matches!(self.of.operation, Operation::Compare(..)) && self.of.is_vector;
        json!({
            "s": sources, "d": if is_compare { vcc } else { result }, "scc": u8::from(state.scc().unwrap()), "vcc": vcc,
            "exec": state.exec(), "pc": NEXT - 4, "lane": lane.0, "wave": state.size.lanes(),
            "simm16": constant.unwrap_or(0) as u16, "opsel": selected, "m0": 0,
            "vgpr": if is_lane { lanes } else { BTreeMap::new() },
        })
    }

    /// The first difference from what the text assigned.
    fn difference(&self, state: &State, answer: &Value) -> Option<String> {
        let lane = state.lane();
        let number = |name: &str| answer[name].as_u64();
        let value = |range: RegisterRange, dword: u16, lane| {
            self.one.value((range.file, range.first + dword), lane, state)
        };
        let mut wrong = None;
        let mut expect = |what: &str, found: Option<u64>, expected: u64| {
            if found != Some(expected) && wrong.is_none() {
                wrong = Some(format!("{what}: {found:x?}, expected {expected:#x}"));
            }
        };
        let bits = number("bits").unwrap_or(32);
        let condition = self.one.condition(lane, state).map(u64::from);
        let to = self
            .of
            .saved
            .or(self.of.to.filter(|to| to.file != RegisterFile::Exec || self.of.saved.is_none()));
        match (self.of.operation, to) {
            (Operation::Compare(..), _) if self.of.is_vector => {
                let mask = number("d").or(number("exec")).or(number("vcc"))?;
                expect("condition", condition, mask >> lane.0 & 1);
            }
            (Operation::WriteLane, Some(to)) => {
                let lanes = answer["vgpr"].as_object().unwrap();
                let (written, expected) = lanes.iter().next().unwrap();
                let of = LaneId(written.parse().unwrap());
                expect("lane", value(to, 0, of).map(u64::from), expected.as_u64().unwrap());
                assert_eq!(value(to, 0, LaneId(of.0 ^ 1)), None, "another lane is not written");
            }
            (_, Some(to)) => {
                if let Some(expected) = number("d") {
                    for dword in (0..to.count).filter(|dword| u64::from(*dword) < bits / 32) {
                        let expected = expected >> (32 * dword) & u64::from(u32::MAX);
                        expect("result", value(to, dword, lane).map(u64::from), expected);
                    }
                }
            }
            _ => {}
        }
        let exec = RegisterRange::new(RegisterFile::Exec, 0, if state.size == WaveSize::W64 { 2 } else { 1 });
        if let (Some(expected), false) = (number("exec"), self.of.is_vector) {
            for dword in 0..exec.count.min(self.of.to.map_or(0, |to| to.count)) {
                let expected = expected >> (32 * dword) & u64::from(u32::MAX);
                expect("exec", value(exec, dword, lane).map(u64::from), expected);
            }
        }
        if self.of.is_vector && self.of.flag.is_some() && !matches!(self.of.operation, Operation::Compare(..))
        {
            if let (Some(mask), Some(found)) = (number("vcc"), condition) {
                expect("carry", Some(found), mask >> lane.0 & 1);
            }
        } else if let (Some(expected), Some(found), false) = (number("scc"), condition, self.of.is_vector) {
            expect("SCC", Some(found), expected);
        }
        wrong
    }
}

/// The instructions whose computation is known: of each encoding one, with random operands.
fn cases() -> Vec<Case> {
    let states = least(1000, 12);
    let mut found = Vec::new();
    for (gpu, size, arch) in PROCESSORS {
        let machine = Machine { processor: gpu.to_owned(), wave_size: size };
        let decoder = Decoder::new(gpu, size.lanes()).unwrap();
        let reader = machine.reader(false).unwrap();
        for (row, (mask, value, _)) in (0u64..).zip(decoder.encodings()) {
            // Random operands may be invalid together.
            let words = (0..64u64).map(|fill| {
                let random = |part: u64| mixed(row << 8 ^ fill << 2 ^ part);
                let random = u128::from(random(0)) << 64 | u128::from(random(1));
                [(value | random & !mask).to_le_bytes(), random.to_le_bytes()].concat()
            });
            let case = words.into_iter().find_map(|bytes| {
                let one = reader.clone().next(NEXT - 4, &bytes)?;
                let mut all = one.computations();
                let (of, None) = (all.next()?, all.next()) else { return None };
                drop(all);
                is_plain(&one, &of).then_some((one, of))
            });
            found.extend(case.map(|(one, of)| {
                let arch = if gpu == "gfx1250" && OF_CDNA.contains(&one.mnemonic()) { "cdna" } else { arch };
                let states =
                    (0..states).map(|state| State { seed: row << 16 ^ state as u64, size }).collect();
                Case { one, of, arch, states }
            }));
        }
    }
    found
}

/// Whether an instruction has a value that can be compared: an integer one, of registers and constants.
fn is_plain(one: &Instruction, of: &Computation) -> bool {
    let code = one.code().unwrap().0;
    let is_integer = !matches!(
        of.operation,
        Operation::Compare(_, Number::Other) | Operation::Compare(Relation::Other, _)
    );
    let has_register = |role: Role| {
        code.operand_of(role).is_none_or(|operand| match operand.register() {
            Some(register) => {
                RegisterRange::of(register).is_some_and(|range| range.file != RegisterFile::Trap)
            }
            None => true,
        })
    };
    let roles = [
        Role::named("src0"),
        Role::named("src1"),
        Role::named("src2"),
        Role::named("sdst"),
        Role::named("vdst"),
    ];
    let is_known = |source: &Source| !matches!(source, Source::Half(..) | Source::Aperture(_));
    // EXEC as an operand is the state's own mask, which texts name otherwise.
    let has_exec = one.named_registers().any(|range| range.file == RegisterFile::Exec);
    let is_vector = |source: Source| source.register().map(|range| range.file.is_vector());
    // Operands that no compiler gives them: the documents do not define them.
    let has_usual = match (of.operation, of.sources.map(is_vector)) {
        (Operation::ReadLane, [first, second, _]) => first == Some(true) && second != Some(true),
        (Operation::WriteLane, [first, second, _]) => first != Some(true) && second != Some(true),
        (Operation::Pack(..), [first, second, _]) => first.is_some() && second.is_some(),
        _ => true,
    };
    let is_pair = code.second_op().is_some();
    has_usual
        && !is_pair
        && is_integer
        && roles.into_iter().all(has_register)
        && of.sources.iter().all(is_known)
        && !has_exec
}

#[test]
fn results_are_those_of_the_pseudo_code() {
    let cases = cases();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isa");
    let mut python = Command::new("python3");
    let python = python.arg(folder.join("pcode.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let requests: Vec<String> = cases
        .iter()
        .map(|case| {
            let states: Vec<Value> = case.states.iter().map(|state| case.request(state)).collect();
            json!({ "arch": case.arch, "op": case.one.mnemonic(), "states": states }).to_string()
        })
        .collect();
    let writer = std::thread::spawn(move || {
        requests.iter().for_each(|request| writeln!(input, "{request}").unwrap());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    let (mut count, mut wrong, mut without) = (0, Vec::new(), BTreeSet::new());
    assert_eq!(answers.lines().count(), cases.len());
    for (case, answers) in cases.iter().zip(answers.lines()) {
        let answers: Vec<Value> = serde_json::from_str(answers).unwrap();
        let text =
            || format!("{} {} ({:?})", case.arch, case.one.text(), case.one.code().unwrap().0.is_wave64());
        let mut changes = [true; 2];
        let before = wrong.len();
        for (state, answer) in case.states.iter().zip(&answers) {
            if let Some(error) = answer.get("error") {
                match error.as_str().unwrap().starts_with("no text of") {
                    true => drop(without.insert(case.one.mnemonic())),
                    false => wrong.push(format!("{}: {error}", text())),
                }
                break;
            }
            count += 1;
            if let Some(difference) = case.difference(state, answer) {
                wrong.push(format!("{}: {difference}\n    {}\n    {answer}", text(), case.request(state)));
                break;
            }
            if let Some(after) = answer["exec"].as_u64() {
                changes[0] &= after & !state.exec() == 0;
                changes[1] &= state.exec() & !after == 0;
            }
        }
        let is_right = wrong.len() == before;
        if is_right && answers.iter().any(|answer| answer["exec"].is_u64()) && !case.of.is_vector {
            let expected = match changes {
                [true, _] => ExecChange::Narrows,
                [_, true] => ExecChange::Widens,
                _ => ExecChange::Other,
            };
            assert_eq!(case.one.exec_change(), expected, "{}", text());
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.iter().take(30).cloned().collect::<Vec<_>>().join("\n")
    );
    assert_eq!(without, BTreeSet::from(WITHOUT_TEXT));
    assert!(count > least(1_000_000, 15_000), "{count} values");
}

/// The interpreter of the pseudo code by cases that were derived by hand.
#[test]
fn the_interpreter_of_the_pseudo_code_is_right() {
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isa/pcode.py");
    let output = Command::new("python3").arg(script).arg("--self-test").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
