//! Limits for a code object with 100 MB of uncompressed debug information in hundreds of units. The first answer at a
//! PC takes at most 15 ms and 32 MB of anonymous memory. After that, all nine locals of a frame take at most 10
//! microseconds for one lane, and 1 ms with their text for 64 lanes. A whole `lanescope locals` process is at least 15
//! times as fast as gdb's `info scope`.
//!
//! Bench `big`. The first run makes the file (benches/support/large.rs). The file is in the page cache.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Instant;

use lanescope::arch::Targets;
use lanescope::codeobject::ElfAddress;
use lanescope::debuginfo::DebugInfo;
use lanescope::dwarf::{
    Answer, CallFrame, Dialect, Encoding, Focus, Frame, LaneNeed, Machine, MemoryAt, Program, RegisterBytes,
    SpaceInfo, Unit, clang_xderef, fetch,
};
use lanescope::import;
use lanescope::session::{Dump, Session, Variables as _, Waves as _};
use lanescope::units::{AddressSpace, BitSize, DwarfReg, LaneId, LaneSet, Pc, WaveSize};

use crate::support::large::{Large, dump_at, large};
use crate::support::{
    Failure, Promises, TURNS, anonymous_megabytes, pin_to_one_core, processor_seconds, scratch, seconds_each,
    this_program,
};

const MAX_MILLISECONDS: f64 = 15.0;
const MAX_ANONYMOUS_MB: f64 = 32.0;
const MAX_MICROSECONDS: f64 = 10.0;
const MAX_MILLISECONDS_OF_64_LANES: f64 = 1.0;
const TIMES_GDB: f64 = 15.0;

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, Failure> {
    if let Some(dump) = arguments.first() {
        first_answer(Path::new(dump))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Large { file, object, pc } = large()?;
    let dump = dump_at(&scratch("big")?, &file, pc)?;
    pin_to_one_core()?;

    let (mut first, mut memory, mut ratios, mut lanes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let session = session(&dump)?;
    for turn in 1..=TURNS {
        let child = this_program("big")?.arg(&dump).stderr(Stdio::inherit()).output()?;
        let text = String::from_utf8(child.stdout)?;
        let mut numbers = text.split_whitespace().map(str::parse::<f64>);
        let mut number = || numbers.next().ok_or_else(|| format!("no measurement in {text:?}"));
        let (milliseconds, megabytes) = (number()??, number()??);
        first.push(milliseconds);
        memory.push(megabytes);
        let ours = timed(Command::new(env!("CARGO_BIN_EXE_lanescope")).arg("locals").arg(&dump), "table")?;
        let scope = format!("info scope *{pc:#x}");
        let gdb =
            timed(Command::new("gdb").args(["-batch", "-nx", "-ex", &scope]).arg(&file), "Symbol table")?;
        ratios.push(gdb / ours);
        lanes.push(1e3 * in_64_lanes(&session)?);
        println!(
            "turn {turn}: first answer {milliseconds:.2} ms, {megabytes:.1} MB anonymous; lanescope locals {:.1} ms, gdb {:.0} ms",
            ours * 1e3,
            gdb * 1e3
        );
    }

    let mut later = Vec::new();
    let info = DebugInfo::new(Arc::new(object))?;
    let pc = ElfAddress(pc);
    for _ in 0..TURNS {
        later.push(1e6 * nine(&info, pc)?);
    }
    println!(
        "later answers: {:?} us",
        later.iter().map(|us| (us * 100.0).round() / 100.0).collect::<Vec<_>>()
    );
    println!("in 64 lanes: {:?} us", lanes.iter().map(|ms| (ms * 1e4).round() / 10.0).collect::<Vec<_>>());
    let mut promises = Promises::default();
    promises.at_most("milliseconds of processor time to the first answer at a PC", &first, MAX_MILLISECONDS);
    promises.at_most("megabytes of anonymous memory by then", &memory, MAX_ANONYMOUS_MB);
    promises.at_most("microseconds for nine locals of one lane", &later, MAX_MICROSECONDS);
    promises.at_most("milliseconds for nine locals of 64 lanes", &lanes, MAX_MILLISECONDS_OF_64_LANES);
    promises.at_least("gdb's time for the scope, times lanescope's for the locals", &ratios, TIMES_GDB);
    Ok(promises.end())
}

fn session(dump: &Path) -> Result<Session, Failure> {
    let opened = import::open(dump, &Targets::builtin(), &import::Options::default())?;
    Ok(Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None)?)
}

/// Seconds for all variables of the frame in all lanes, with their text.
fn in_64_lanes(session: &Session) -> Result<f64, Failure> {
    let (wave, lanes) = (session.first_wave(), session.kind().wave_size.all());
    seconds_each(|| {
        let locals = session.locals(wave, lanes, 0)?;
        let count: usize = locals.variables.iter().map(|variable| variable.lanes.len()).sum();
        if count == 9 * 64 { Ok(()) } else { Err(format!("{count} values, expected 576").into()) }
    })
}

/// Opens the dump, evaluates the locals of one lane, and prints milliseconds and megabytes of anonymous memory.
fn first_answer(dump: &Path) -> Result<(), Failure> {
    let session = session(dump)?;
    let wave = session.first_wave();
    let lane = LaneSet::one(session.focus(wave));
    let start = processor_seconds()?;
    let locals = session.locals(wave, lane, 0)?;
    let elapsed = 1e3 * (processor_seconds()? - start);
    if locals.variables.len() != 9 {
        return Err(format!("{} variables, expected 9", locals.variables.len()).into());
    }
    println!("{} {}", elapsed, anonymous_megabytes("self")?);
    Ok(())
}

/// Seconds of a whole process whose output must contain the word.
fn timed(command: &mut Command, word: &str) -> Result<f64, Failure> {
    let start = Instant::now();
    let output = command.stderr(Stdio::null()).output()?;
    let elapsed = start.elapsed().as_secs_f64();
    if !String::from_utf8_lossy(&output.stdout).contains(word) {
        return Err(format!("{command:?} did not print {word:?}").into());
    }
    Ok(elapsed)
}

/// Seconds to find the variables of a frame, their locations for one lane, and their bytes.
fn nine(info: &DebugInfo, pc: ElfAddress) -> Result<f64, Failure> {
    let at = info.function_at(pc)?.ok_or("no function")?;
    let encoding = Encoding { dialect: Dialect::LlvmUser, dwarf64: false };
    let frame_base = at.frame_base.expression().ok_or("no frame base")?;
    let lane = OneLane { frame_base: Arc::new(Program::decode(frame_base, encoding)?) };
    seconds_each(|| {
        let variables = info.variables_at(pc)?;
        if variables.len() != 9 {
            return Err(format!("{} variables, expected 9", variables.len()).into());
        }
        for at in &variables {
            let program = Program::decode(at.location.expression().ok_or("no expression")?, encoding)?;
            let size =
                at.variable.type_id.map(|id| info.byte_size(id)).transpose()?.flatten().ok_or("no size")?;
            let focus = Focus::Lanes(LaneSet::one(LaneId(1)));
            let reading = clang_xderef::Reading { clang: true, scratch: clang_xderef::Scratch::Buffer };
            let bits = Some(BitSize(size * 8));
            let meant = clang_xderef::recognise(&lane, &program, reading, bits, focus).ok_or("no idiom")?;
            let location = meant.groups.into_iter().next().ok_or("no lane")?.result?;
            let bits = fetch(&lane, &location, Some(LaneId(1)), BitSize(size * 8))?;
            if black_box(bits).whole().is_none() {
                return Err("not captured".into());
            }
        }
        Ok(())
    })
}

/// Wave state with all registers 0 and all memory present.
struct OneLane {
    frame_base: Arc<Program>,
}

impl Machine for OneLane {
    fn wave_size(&self) -> WaveSize {
        WaveSize::W64
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        let (address_bits, lane) = match space.0 {
            0 => (64, LaneNeed::None),
            1 => (64, LaneNeed::WhenRead),
            2 | 3 | 6 => (32, LaneNeed::None),
            5 => (32, LaneNeed::Now),
            _ => return None,
        };
        Some(SpaceInfo { address_bits, lane })
    }

    fn register_size(&self, _: DwarfReg) -> Answer<BitSize> {
        Ok(BitSize(32))
    }

    fn read_register(&self, _: DwarfReg, _: Frame, into: &mut RegisterBytes) {
        (into.bytes, into.known) = ([0; RegisterBytes::MAX], 1);
    }

    fn read_memory(&self, _: MemoryAt, into: &mut [u8]) -> usize {
        into.fill(0x11);
        into.len()
    }
}

impl CallFrame for OneLane {
    fn pc(&self) -> Option<Pc> {
        None
    }

    fn frame_base(&self) -> Answer<Arc<Program>> {
        Ok(Arc::clone(&self.frame_base))
    }
}

impl Unit for OneLane {}
