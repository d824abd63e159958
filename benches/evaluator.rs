//! Limit for the locations of 100 variables, each of 10 operations that depend on the lane, for 64 lanes: at least 10
//! times as fast as gimli's evaluator in a loop over the lanes.
//!
//! Bench `evaluator` prints both times and the ratio, the worst of three alternating passes. gimli has no lanes: it
//! gets the lane number as the contents of a register and evaluates once per lane, with the heap storage of its
//! `Evaluation::new`. Both evaluate the same form of expression: a base, the lane times a stride, more arithmetic.
//! Ours decodes the bytes once for all lanes, as a session does. gimli decodes them in every evaluation, because its
//! evaluator takes bytes. Both must give the same addresses.
//!
//! `evaluator count NAME` runs `lanescope`, `gimli` or `none` a fixed number of times for callgrind
//! (docs/performance.md).

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gimli::{EndianSlice, EvaluationResult, LittleEndian, Register};
use lanescope::dwarf::{
    Answer, CallFrame, ContextError, Dialect, Encoding, Evaluator, Focus, Frame, LaneNeed, Machine, MemoryAt,
    Program, RegisterBytes, SpaceInfo, Storage, Unit,
};
use lanescope::units::{AddressSpace, BitSize, DwarfReg, LaneId, LaneSet, Pc, WaveSize};

use crate::support::{Failure, Promises, TURNS};

const VARIABLES: u64 = 100;
const LANES: u64 = 64;
const LEAST_RATIO: f64 = 10.0;

/// Register of the base, and register of gimli's lane number.
const BASE: u64 = 0x7f00_0000_1000;
const LANE_REGISTER: u16 = 1;

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, Failure> {
    if let [part, what] = arguments.as_slice()
        && part == "count"
    {
        return count(what);
    }
    let (ours, theirs) = (ours(), theirs());
    let programs = decoded(&ours)?;
    check(&programs, &theirs)?;
    let mut ratios = Vec::new();
    println!("{VARIABLES} variables of 10 operations for {LANES} lanes, evaluation only");
    for pass in 1..=TURNS {
        let together = best(|| lanescope(&programs));
        let looped = best(|| gimli(&theirs));
        let decoding = best(|| decoded(&ours).map_or(0, |programs| programs.len() as u64));
        let ratio = looped / together;
        println!(
            "pass {pass}: lanescope {together:.1} us (decoding before it {decoding:.1} us), gimli {looped:.1} us, \
             ratio {ratio:.1}"
        );
        ratios.push(ratio);
    }
    let mut promises = Promises::default();
    promises.at_least("gimli's time, times ours", &ratios, LEAST_RATIO);
    Ok(promises.end())
}

/// For callgrind: the difference between two counts is the cost of the evaluator.
fn count(what: &str) -> Result<ExitCode, Failure> {
    let programs = decoded(&ours())?;
    let theirs = theirs();
    for _ in 0..10 {
        match what {
            "lanescope" => black_box(lanescope(&programs)),
            "gimli" => black_box(gimli(&theirs)),
            _ => 0,
        };
    }
    Ok(ExitCode::SUCCESS)
}

/// Microseconds of one run, the minimum of several.
fn best(mut run: impl FnMut() -> u64) -> f64 {
    let mut least = Duration::MAX;
    for _ in 0..40 {
        let start = Instant::now();
        black_box(run());
        least = least.min(start.elapsed());
    }
    least.as_secs_f64() * 1e6
}

fn uleb(mut value: u64, into: &mut Vec<u8>) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// bregN; LANE; lit4; mul; plus; LANE; lit1; shl; plus; plus_uconst: ten operations. All except the three constants and
/// the base work on values that differ between lanes.
fn expression(variable: u64, lane: &[u8]) -> Vec<u8> {
    // DW_OP_breg0 variable
    let mut bytes = vec![0x70];
    uleb(variable & 0x3f, &mut bytes);
    bytes.extend_from_slice(lane);
    // lit4; mul; plus
    bytes.extend_from_slice(&[0x34, 0x1e, 0x22]);
    bytes.extend_from_slice(lane);
    // lit1; shl; plus; plus_uconst
    bytes.extend_from_slice(&[0x31, 0x24, 0x22, 0x23]);
    uleb(variable * 8, &mut bytes);
    bytes
}

fn ours() -> Vec<Vec<u8>> {
    // DW_OP_LLVM_push_lane
    (0..VARIABLES).map(|variable| expression(variable, &[0xe9, 0x03])).collect()
}

fn theirs() -> Vec<Vec<u8>> {
    // DW_OP_breg1 0
    (0..VARIABLES).map(|variable| expression(variable, &[0x70 + LANE_REGISTER as u8, 0])).collect()
}

fn decoded(bytes: &[Vec<u8>]) -> Result<Vec<Program>, lanescope::dwarf::Error> {
    let encoding = Encoding::new(Dialect::LlvmUser);
    bytes.iter().map(|bytes| Program::decode(bytes, encoding)).collect()
}

/// A wave with one register.
struct Wave;

impl Machine for Wave {
    fn wave_size(&self) -> WaveSize {
        WaveSize::W64
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        (space.0 == 0).then_some(SpaceInfo { address_bits: 64, lane: LaneNeed::None })
    }

    fn register_size(&self, register: DwarfReg) -> Answer<BitSize> {
        if register.0 == 0 { Ok(BitSize(64)) } else { Err(ContextError::absent("no such register")) }
    }

    fn read_register(&self, _: DwarfReg, _: Frame, into: &mut RegisterBytes) {
        into.fill(&BASE.to_le_bytes());
    }

    fn read_memory(&self, _: MemoryAt, _: &mut [u8]) -> usize {
        0
    }
}

impl CallFrame for Wave {
    fn pc(&self) -> Option<Pc> {
        None
    }
}

impl Unit for Wave {}

/// Sum of all lanes' addresses of all variables.
fn lanescope(programs: &[Program]) -> u64 {
    let mut evaluator = Evaluator::new(&Wave);
    let mut sum = 0u64;
    for program in programs {
        for group in evaluator.location(program, Focus::Lanes(LaneSet(u64::MAX)), &[]) {
            let Ok(location) = group.result else { continue };
            if matches!(location.storage, Storage::Memory { .. }) {
                for lane in group.lanes.iter() {
                    sum = sum.wrapping_add(location.offset.bytes.get(lane));
                }
            }
        }
    }
    sum
}

/// Sum of the same addresses from gimli, lane by lane.
fn gimli(expressions: &[Vec<u8>]) -> u64 {
    let mut sum = 0u64;
    for expression in expressions {
        for lane in 0..LANES {
            sum = sum.wrapping_add(gimli_lane(expression, lane).unwrap_or(0));
        }
    }
    sum
}

fn gimli_lane(expression: &[u8], lane: u64) -> Result<u64, gimli::Error> {
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 5 };
    let mut evaluation = gimli::Expression(EndianSlice::new(expression, LittleEndian)).evaluation(encoding);
    let mut state = evaluation.evaluate()?;
    loop {
        state = match state {
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = if register == Register(LANE_REGISTER) { lane } else { BASE };
                evaluation.resume_with_register(gimli::Value::Generic(value))?
            }
            EvaluationResult::Complete => break,
            _ => return Err(gimli::Error::UnsupportedEvaluation),
        };
    }
    match evaluation.result().first().map(|piece| &piece.location) {
        Some(gimli::Location::Address { address }) => Ok(*address),
        _ => Err(gimli::Error::UnsupportedEvaluation),
    }
}

/// Compares both results with the arithmetic.
fn check(programs: &[Program], theirs: &[Vec<u8>]) -> Result<(), Failure> {
    let mut evaluator = Evaluator::new(&Wave);
    for (variable, (program, bytes)) in (0..).zip(programs.iter().zip(theirs)) {
        if program.operations().len() != 10 {
            return Err(format!("{} operations", program.operations().len()).into());
        }
        for lane in 0..LANES {
            // The displacement of breg is signed.
            let displacement = (((variable & 0x3f) << 57) as i64) >> 57;
            let expected = BASE.wrapping_add_signed(displacement) + lane * 4 + (lane << 1) + variable * 8;
            let location = evaluator.location_for(program, Some(LaneId(lane as u8)))?;
            let (found, other) = (location.offset.bytes.get(LaneId(lane as u8)), gimli_lane(bytes, lane)?);
            if (found, other) != (expected, expected) {
                return Err(format!("variable {variable} lane {lane}: {found:#x} and {other:#x}").into());
            }
        }
    }
    Ok(())
}
