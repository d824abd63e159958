//! Limits for a code object with 100 MB of uncompressed debug information in hundreds of units. The first answer at a PC
//! takes at most 5 times as long as gimli alone, which finds the unit and reads its DIEs, and 32 MB of anonymous memory.
//! After it gimli takes at least 700 times as long as the nine locals of one lane, and their text in 64 lanes takes at
//! most 80 times as long. A whole `lanescope locals` process is at least 100 times as fast as gdb's `info scope`.
//!
//! Bench `big`. The first run makes the file (benches/support/large.rs). The file is in the page cache.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Instant;

use gimli::{EndianSlice, LittleEndian};
use lanescope::arch::Targets;
use lanescope::codeobject::ElfAddress;
use lanescope::debuginfo::DebugInfo;
use lanescope::dwarf::{
    Answer, CallFrame, Dialect, Encoding, Focus, Frame, LaneNeed, Machine, MemoryAt, Program, RegisterBytes,
    SpaceInfo, Unit, clang_xderef, fetch,
};
use lanescope::import;
use lanescope::session::{Dump, Session, Storage as _, Variables as _, Waves as _};
use lanescope::units::{AddressSpace, BitSize, DwarfReg, LaneId, LaneSet, Pc, WaveSize};

use crate::support::large::{Large, dump_at, large};
use crate::support::{
    Failure, Promises, TURNS, anonymous_megabytes, least, pin_to_one_core, processor_seconds, scratch,
    seconds_each, this_program,
};

const MAX_ANONYMOUS_MB: f64 = 32.0;
/// First answers, and walks of gimli, per turn; the minimum counts.
const RUNS: usize = 5;
const MAX_TIMES_WALK: f64 = 5.0;
const TIMES_LATER: f64 = 700.0;
const MAX_TIMES_ONE_LANE: f64 = 80.0;
const TIMES_GDB: f64 = 100.0;

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
        let (mut milliseconds, mut megabytes) = (f64::INFINITY, 0.0f64);
        for _ in 0..RUNS {
            let child = this_program("big")?.arg(&dump).stderr(Stdio::inherit()).output()?;
            let text = String::from_utf8(child.stdout)?;
            let mut numbers = text.split_whitespace().map(str::parse::<f64>);
            let mut number = || numbers.next().ok_or_else(|| format!("no measurement in {text:?}"));
            (milliseconds, megabytes) = (milliseconds.min(number()??), megabytes.max(number()??));
        }
        first.push(milliseconds / 1e3);
        memory.push(megabytes);
        let ours = timed(Command::new(env!("CARGO_BIN_EXE_lanescope")).arg("locals").arg(&dump), "table")?;
        let scope = format!("info scope *{pc:#x}");
        let gdb =
            timed(Command::new("gdb").args(["-batch", "-nx", "-ex", &scope]).arg(&file), "Symbol table")?;
        ratios.push(gdb / ours);
        lanes.push(in_64_lanes(&session)?);
        println!(
            "turn {turn}: first answer {milliseconds:.2} ms, {megabytes:.1} MB anonymous; lanescope locals {:.1} ms, gdb {:.0} ms",
            ours * 1e3,
            gdb * 1e3
        );
    }

    let (mut later, mut walks) = (Vec::new(), Vec::new());
    let sections = gimli::DwarfSections::load(|id| -> Result<_, Failure> {
        Ok(object.section_bytes(id.name())?.map(|bytes| bytes.to_vec()).unwrap_or_default())
    })?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let info = DebugInfo::new(Arc::new(object))?;
    for turn in 1..=TURNS {
        let [walk] = least(RUNS, [&|| gimli_walk(&dwarf, pc)])?;
        let one = nine(&info, ElfAddress(pc))?;
        println!(
            "turn {turn}: gimli's walk {:.2} ms; nine locals of one lane {:.2} us, of 64 lanes {:.1} us",
            walk * 1e3,
            one * 1e6,
            lanes[turn - 1] * 1e6
        );
        later.push(one);
        walks.push(walk);
    }
    let mut promises = Promises::default();
    let times = |all: &[f64], reference: &[f64]| -> Vec<f64> {
        all.iter().zip(reference).map(|(one, reference)| one / reference).collect()
    };
    promises.at_most("megabytes of anonymous memory by the first answer at a PC", &memory, MAX_ANONYMOUS_MB);
    promises.at_most("that answer, times gimli's walk", &times(&first, &walks), MAX_TIMES_WALK);
    promises.at_least(
        "gimli's walk, times nine locals of one lane after it",
        &times(&walks, &later),
        TIMES_LATER,
    );
    promises.at_most(
        "nine locals of 64 lanes with their text, times those of one lane",
        &times(&lanes, &later),
        MAX_TIMES_ONE_LANE,
    );
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
        // Each call is a question with a budget of its own.
        session.next_question();
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

/// Seconds of processor time of gimli alone: the ranges of each unit, and all DIEs of the one with the PC.
fn gimli_walk(dwarf: &gimli::Dwarf<EndianSlice<'_, LittleEndian>>, pc: u64) -> Result<f64, Failure> {
    let start = processor_seconds()?;
    let (mut headers, mut dies) = (dwarf.units(), 0);
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let (mut ranges, mut has_pc) = (dwarf.unit_ranges(&unit)?, false);
        while let Some(range) = ranges.next()? {
            has_pc |= (range.begin..range.end).contains(&pc);
        }
        let mut entries = unit.entries();
        while has_pc && let Some(entry) = entries.next_dfs()? {
            dies += usize::from(!black_box(entry).attrs().is_empty());
        }
    }
    let seconds = processor_seconds()? - start;
    if dies > 10 { Ok(seconds) } else { Err(format!("gimli found {dies} DIEs").into()) }
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
