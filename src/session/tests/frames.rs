//! Variables in private memory at every PC of functions, with each address as its own contents.
//!
//! The dword at address a of lane l in private memory holds 256 a + l. The registers at a PC come from a small model
//! that executes the text of llvm-objdump along a path from the function's entry. The start of a frame follows from
//! the source: at the stack pointer on entry, rounded up to 128 bytes in `wide` and to N bytes in `round_N`, at 0 in a
//! kernel.

mod returns;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use super::Maker;
use crate::arch::Processor;
use crate::codeobject::{CodeObject, ElfAddress, Symbol, assembled, newest_llvm};
use crate::dwarf::clang_xderef::Idiom;
use crate::sample::{least, sampled};
use crate::session::print::{Query, VariableIn, Whereabouts};
use crate::session::{Byte, Dump, InferredBy, LaneValue, Session, ValueState, Variables as _};
use crate::units::{AddressSpace, LaneId, LaneSet, WaveId, WaveSize};

const LOADED: u64 = 0x7f00_0010_0000;
/// Bytes of a lane's private memory.
const PRIVATE: u32 = 0x1000;
/// The stack pointer at a function's entry, in bytes of a lane: no multiple of 128.
const ENTRY: u32 = 0x150;
/// The caller's values of the frame pointer and the base pointer.
const CALLERS_FRAME: u32 = 0x400;
const CALLERS_BASE: u32 = 0x600;

/// Scalar registers by number.
type Scalars = BTreeMap<u32, u32>;
/// Dwords of vector registers by the register's name and the lane.
type Lanes = BTreeMap<(String, u32), u32>;

/// One instruction of llvm-objdump's output.
struct Line {
    text: String,
    next: u64,
    target: Option<u64>,
}

fn lines(path: &Path) -> BTreeMap<u64, Line> {
    let output = Command::new(newest_llvm("llvm-objdump")).args(["-d", "-z"]).arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let labels = text.lines().filter_map(|line| line.strip_suffix(">:")?.split_once(" <"));
    let labels: BTreeMap<&str, u64> =
        labels.map(|(address, name)| (name, u64::from_str_radix(address, 16).unwrap())).collect();
    let mut found = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with('\t')) {
        let (text, comment) = line.rsplit_once("//").unwrap();
        let (address, rest) = comment.trim().split_once(':').unwrap();
        let address = u64::from_str_radix(address, 16).unwrap();
        let words = rest.split('<').next().unwrap().split_whitespace().count() as u64;
        let target = rest.split_once('<').map(|(_, target)| {
            let target = target.trim_end_matches('>');
            let (label, offset) = target.split_once("+0x").unwrap_or((target, "0"));
            labels[label] + u64::from_str_radix(offset, 16).unwrap()
        });
        found.insert(address, Line { text: text.trim().to_owned(), next: address + words * 4, target });
    }
    found
}

fn scalar(operand: &str) -> Option<u32> {
    operand.strip_prefix('s')?.parse().ok()
}

fn value(operand: &str, scalars: &Scalars) -> u32 {
    if let Some(register) = scalar(operand) {
        return scalars.get(&register).copied().unwrap_or(0xdead_0000 + register);
    }
    let operand = operand.trim_start_matches("lit(").trim_end_matches(')');
    match operand.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).unwrap(),
        None => operand.parse::<i64>().unwrap() as u32,
    }
}

/// Registers and spill slots.
#[derive(Clone, Default)]
struct State {
    scalars: Scalars,
    /// The values that instructions of this path have written; other lanes have their values of the entry.
    lanes: Lanes,
    /// The lanes of a register, by the number in its base register and the offset in bytes of a lane.
    slots: BTreeMap<(u32, i32), BTreeMap<u32, u32>>,
}

impl State {
    fn of(scalars: impl IntoIterator<Item = (u32, u32)>) -> Self {
        Self { scalars: scalars.into_iter().collect(), ..Self::default() }
    }

    fn lanes_of(&self, register: &str) -> BTreeMap<u32, u32> {
        let own = self.lanes.iter().filter(|((name, _), _)| name == register);
        own.map(|((_, lane), dword)| (*lane, *dword)).collect()
    }

    /// A store or load of a vector register at a scalar register.
    fn spill(&mut self, text: &str, operands: &[&str]) {
        let base =
            operands.iter().find_map(|operand| scalar(operand)).filter(|base| (32..=34).contains(base));
        let data = operands.iter().find(|operand| operand.starts_with('v') && !operand.contains('['));
        let (Some(base), Some(data)) = (base, data) else { return };
        let offset = text.split_once(" offset:").map(|(_, rest)| rest.split(' ').next().unwrap());
        let slot = (self.scalars[&base], offset.map_or(0, |offset| offset.parse::<i32>().unwrap()));
        if text.contains("_store_") {
            let lanes = self.lanes_of(data);
            self.slots.insert(slot, lanes);
        } else {
            self.lanes.retain(|(register, _), _| register != data);
            let restored = self.slots.get(&slot).into_iter().flatten();
            self.lanes.extend(restored.map(|(lane, dword)| (((*data).to_owned(), *lane), *dword)));
        }
    }
}

/// The states before each instruction on a path from the entry.
fn run(lines: &BTreeMap<u64, Line>, parts: &[Range<u64>], entry: State) -> BTreeMap<u64, State> {
    let mut found = BTreeMap::new();
    let mut work = vec![(parts[0].start, entry)];
    while let Some((pc, mut state)) = work.pop() {
        if !parts.iter().any(|part| part.contains(&pc)) || found.contains_key(&pc) {
            continue;
        }
        found.insert(pc, state.clone());
        let line = &lines[&pc];
        let (mnemonic, operands) = line.text.split_once(' ').unwrap_or((&line.text, ""));
        let operands: Vec<&str> = operands.split(", ").map(|text| text.split(' ').next().unwrap()).collect();
        let of = |index: usize| value(operands[index], &state.scalars);
        let written = match mnemonic {
            "s_mov_b32" if scalar(operands[0]).is_some() && !operands[1].contains(['x', 'm', '_']) => {
                Some(of(1))
            }
            "s_mov_b32" if operands[1].starts_with("0x") => Some(of(1)),
            "s_movk_i32" => Some(of(1)),
            "s_add_i32" | "s_add_u32" | "s_add_co_i32" if matches!(operands[0], "s32" | "s33" | "s34") => {
                Some(of(1).wrapping_add(of(2)))
            }
            "s_addk_i32" | "s_addk_co_i32" => Some(of(0).wrapping_add(of(1))),
            "s_and_b32" if operands[0] == "s33" => Some(of(1) & of(2)),
            "s_andn2_b32" | "s_and_not1_b32" if operands[0] == "s33" => Some(of(1) & !of(2)),
            // The end of an object of variable size.
            "v_readfirstlane_b32" if operands[0] == "s32" => Some(0x0dd0_0000),
            "v_readlane_b32" => operands[2].parse().ok().and_then(|lane| {
                let holder = (operands[1].to_owned(), lane);
                state.lanes.get(&holder).copied()
            }),
            "v_writelane_b32" => {
                let saved = of(1);
                state.lanes.insert((operands[0].to_owned(), operands[2].parse().unwrap()), saved);
                None
            }
            "s_swappc_b64" | "s_swap_pc_i64" => {
                let link = LOADED + line.next;
                state.scalars.extend([(30, link as u32), (31, (link >> 32) as u32)]);
                None
            }
            _ if mnemonic.contains("load_") || mnemonic.contains("_store_") => {
                state.spill(&line.text, &operands);
                None
            }
            _ => {
                let touched = matches!(operands[0], "s32" | "s33" | "s[32:33]");
                assert!(!touched || mnemonic.starts_with("s_cmp"), "the model does not know {}", line.text);
                // A function without a base pointer may use its register for anything.
                if matches!(operands[0], "s34" | "s[34:35]") {
                    state.scalars.insert(34, 0x0dd0_0dd0);
                }
                None
            }
        };
        if let (Some(written), Some(register)) = (written, scalar(operands[0])) {
            state.scalars.insert(register, written);
        }
        let ends = ["s_setpc_b64", "s_set_pc_i64", "s_endpgm", "s_branch"].contains(&mnemonic);
        if !ends {
            work.push((line.next, state.clone()));
        }
        if let Some(target) = line.target {
            work.push((target, state));
        }
    }
    found
}

/// A wave for each reachable PC, with the start of the frame, the function's name, and whether s32 and s33 hold that
/// start.
struct Places {
    dump: Arc<Dump>,
    size: WaveSize,
    each: Vec<(u64, u32, String, [bool; 2])>,
}

fn places(path: &Path) -> Places {
    places_with(path, &[], &[])
}

/// [`places`] with these dwords in all lanes of private memory, by address, and with these bytes of global memory.
fn places_with(path: &Path, dwords: &[(u32, u32)], global: &[(u64, &[u8])]) -> Places {
    let bytes = std::fs::read(path).unwrap();
    let object = CodeObject::parse(bytes.clone()).unwrap();
    let processor = Processor::of_mach(object.header().mach()).unwrap().name;
    let mut maker = Maker::new(processor);
    let size = maker.capture.agents[0].target.wave_sizes[0];
    let lanes = u32::from(size.lanes());
    // By compiled-code.md, gfx9 and gfx10 before architected flat scratch count bytes of the wave.
    let unit = if matches!(processor, "gfx90a" | "gfx1030") { lanes } else { 1 };
    maker.code_object(&bytes, LOADED);
    let lines = lines(path);
    let entries: BTreeSet<u64> = object.kernels().filter_map(|kernel| Some(kernel.entry?.0)).collect();
    let dword = |address: u32, lane: u32| {
        let own = dwords.iter().find(|(own, _)| *own == address);
        own.map_or(address * 256 + lane, |(_, dword)| *dword)
    };
    let rows = (0..PRIVATE).step_by(4);
    let memory: Vec<u8> =
        rows.flat_map(|row| (0..lanes).flat_map(move |lane| dword(row, lane).to_le_bytes())).collect();
    let memory = maker.map(&[(0, &memory)]);
    maker.capture.global = maker.map(global);
    let mut each = Vec::new();
    let mut starts: Vec<u64> = lines.keys().copied().collect();
    let begins = |symbol: &Symbol| symbol.size > 0 && !symbol.name.ends_with(".cold");
    starts.retain(|start| object.symbols().iter().any(|symbol| symbol.value == *start && begins(symbol)));
    for start in starts {
        let named = |symbol: &&Symbol| symbol.value == start && symbol.size > 0;
        let symbol = object.symbols().iter().find(named).unwrap();
        let is_kernel = entries.contains(&start);
        let entry = [(32, ENTRY), (33, CALLERS_FRAME), (34, CALLERS_BASE)];
        let entry = State::of(entry.map(|(register, bytes)| (register, bytes * unit)));
        let frame = match symbol.name.as_str() {
            _ if is_kernel => 0,
            name if name.contains("wide") => ENTRY.next_multiple_of(128),
            name => match name.split_once("round_") {
                Some((_, rest)) => ENTRY.next_multiple_of(rest[..2].parse().unwrap()),
                None => ENTRY,
            },
        };
        // A part that the compiler split off begins with its own symbol.
        let cold = object.symbols().iter().find(|cold| cold.name == format!("{}.cold", symbol.name));
        let parts = [symbol].into_iter().chain(cold).map(|part| part.value..part.value + part.size);
        let parts: Vec<Range<u64>> = parts.collect();
        for (pc, State { scalars, .. }) in run(&lines, &parts, entry) {
            let pc_bytes = (LOADED + pc).to_le_bytes();
            let words =
                [32, 33, 34].map(|register| (format!("s{register}"), scalars[&register].to_le_bytes()));
            let exec = vec![0xff; usize::from(size.lanes() / 8)];
            let mut registers: Vec<(&str, &[u8], u64)> = vec![("pc", &pc_bytes, 3), ("exec", &exec, 3)];
            registers.extend(words.iter().map(|(name, bytes)| (name.as_str(), &bytes[..], 1)));
            maker.wave(size, None, &registers);
            maker.capture.waves.last_mut().unwrap().private = memory.clone();
            let holds = [32, 33].map(|register| scalars[&register] == frame * unit);
            each.push((pc, frame, symbol.name.clone(), holds));
        }
    }
    Places { dump: maker.finish(), size, each }
}

/// Offset of an expression that is `DW_OP_fbreg`, or `DW_OP_bregx` of s32 or s33, alone or as clang's idiom.
fn offset(expression: &[u8]) -> Option<i64> {
    let ([0x91, rest @ ..] | [0x92, 64 | 65, rest @ ..]) = expression else { return None };
    let (mut number, mut shift, mut used) = (0i64, 0, 0);
    for byte in rest {
        number |= i64::from(byte & 0x7f) << shift;
        (shift, used) = (shift + 7, used + 1);
        if byte & 0x80 == 0 {
            break;
        }
    }
    let number = number << (64 - shift) >> (64 - shift);
    matches!(rest[used..], [] | [0x31 | 0x35, 0x16, 0x18]).then_some(number)
}

/// Bytes at an address of a lane.
fn pattern(address: u64, count: u64, lane: LaneId) -> Vec<Byte> {
    let byte =
        |at: u64| (((at & !3) as u32).wrapping_mul(256) + u32::from(lane.0)).to_le_bytes()[(at & 3) as usize];
    (address..address + count).map(|at| Byte::Known(byte(at))).collect()
}

/// Number of correct and of absent values of a lane, per function; with a sample at every so many PCs.
fn check(path: &Path, idiom: Idiom, every: usize) -> BTreeMap<String, (usize, usize)> {
    let Places { dump, size, each } = places(path);
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let lanes: LaneSet = [0, 5, size.lanes() - 1].into_iter().map(LaneId).collect();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (index, (pc, frame, function, holds)) in sampled(each.iter().enumerate(), every) {
        let wave = WaveId(index as u32);
        let at = format!("{path:?} {function} at {pc:#x}");
        let locals = session.locals(wave, lanes, 0).expect(&at);
        let loaded = dump.objects().at(dump.capture(), LOADED + pc, None).unwrap();
        let debug = loaded.debug(dump.capture()).unwrap();
        let described = debug.function_at(ElfAddress(*pc)).unwrap().unwrap();
        let inner = debug.frame_variables(&described, 0, ElfAddress(*pc)).unwrap();
        assert_eq!(inner.len(), locals.variables.len(), "{at}");
        // DW_OP_regx SGPR32 or SGPR33.
        let by_frame = match described.frame_base.expression().map(|bytes| &bytes[..]) {
            None => Some(InferredBy::KernelFrame),
            Some([0x90, register @ (64 | 65)]) => {
                (!holds[usize::from(register - 64)]).then_some(InferredBy::FrameCode)
            }
            Some(other) => panic!("{at}: {other:02x?}"),
        };
        for (variable, shown) in inner.iter().zip(&locals.variables) {
            let Some(offset) = variable.location.expression().and_then(|bytes| offset(bytes)) else {
                continue;
            };
            // An argument on the stack, unless the function copied it.
            let on_stack =
                shown.name.strip_prefix("stack_").is_some_and(|number| number == offset.to_string());
            let frame = if on_stack { ENTRY } else { *frame };
            let address = u64::from(frame).wrapping_add_signed(offset);
            let count = counts.entry(function.clone()).or_default();
            for value @ LaneValue { lane, bytes, state, .. } in &shown.lanes {
                let what = format!("{} of lane {lane} in {at}", shown.name);
                match state {
                    ValueState::Value(_) => {
                        assert_eq!(bytes[..], pattern(address, shown.size.unwrap(), *lane), "{what}");
                        assert_eq!(value.provenance().idiom, Some(idiom), "{what}");
                        let by = [InferredBy::KernelFrame, InferredBy::FrameCode];
                        let found: Vec<InferredBy> =
                            value.inferred.by().filter(|found| by.contains(found)).collect();
                        // An argument on the stack of a realigned function has another base than the frame.
                        if !on_stack {
                            assert_eq!(found, Vec::from_iter(by_frame), "{what}");
                        }
                        count.0 += 1;
                    }
                    ValueState::Unavailable(why) => {
                        assert!(why.contains("s33") || why.contains("leads here"), "{what}: {why}");
                        count.1 += 1;
                    }
                    other => panic!("{what}: {other:?}"),
                }
                // A debugger's read through the view's window has the same place.
                let of = VariableIn {
                    wave,
                    lane: *lane,
                    own_stack: false,
                    level: 0,
                    variable: variable.variable.die,
                };
                match session.locate(of).unwrap() {
                    Whereabouts::Memory(place) => {
                        assert_eq!((place.space, place.address.0), (AddressSpace(5), address), "{what}");
                    }
                    Whereabouts::Nowhere(_) => assert!(!matches!(state, ValueState::Value(_)), "{what}"),
                    other => panic!("{what}: {other:?}"),
                }
            }
        }
    }
    counts
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Processors and optimization levels of the fixtures, as a sample: one of wave64 and one of wave32.
fn compiled() -> impl Iterator<Item = (&'static str, &'static str)> {
    let gpus = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"];
    sampled(gpus.into_iter().flat_map(|gpu| ["O0", "O2"].map(|level| (gpu, level))), 5)
}

/// compiled-code.md, section 1, rule 4.
#[test]
fn a_variable_of_clangs_is_right_at_every_pc_of_its_function() {
    for (gpu, level) in compiled() {
        let counts = check(&fixture(&format!("code/frames-{gpu}-{level}.hsaco")), Idiom::Xderef, 4);
        let functions: Vec<&str> = match level {
            "O0" => vec!["leaf", "sink", "mid", "wide", "two", "calling", "alone"],
            _ => vec!["mid", "wide", "two", "calling"],
        };
        for function in functions {
            let (_, (shown, absent)) = counts.iter().find(|(name, _)| name.contains(function)).unwrap();
            assert!(*shown > least(30, 0), "{gpu} {level} {function}: {shown}");
            assert_eq!(*absent, 0, "{gpu} {level} {function}");
        }
    }
}

/// Objects of a kernel without `DW_AT_frame_base` have no value outside of the private memory of its descriptor: `h` of
/// `calling` has 64 bytes at offset 0.
#[test]
fn an_object_of_a_kernel_is_inside_its_private_memory() {
    let path = fixture("code/frames-gfx90a-O2.hsaco");
    let bytes = std::fs::read(&path).unwrap();
    let object = CodeObject::parse(bytes.clone()).unwrap();
    let descriptor = object.symbol("calling.kd").unwrap().value;
    let entry = object.kernel_entry(ElfAddress(descriptor)).unwrap().0;
    let section = object.sections().iter().find(|section| section.name == ".rodata").unwrap();
    // private_segment_fixed_size (AMDGPUUsage, "Kernel Descriptor").
    let at = usize::try_from(section.offset + (descriptor - section.address) + 4).unwrap();
    assert_eq!(bytes[at..at + 4], 512u32.to_le_bytes(), "{at:#x}");
    for (private, expected) in [(512u32, true), (64, true), (63, false), (0, false)] {
        let mut changed = bytes.clone();
        changed[at..at + 4].copy_from_slice(&private.to_le_bytes());
        let mut maker = Maker::new("gfx90a");
        maker.code_object(&changed, LOADED);
        let pc = (LOADED + entry).to_le_bytes();
        maker.wave(WaveSize::W64, None, &[("pc", &pc, 3), ("exec", &[0xff; 8], 3)]);
        maker.private(0, &[(0, &[0x11; 64 * 64])]);
        let session = Session::new(maker.finish(), None).unwrap();
        let state = printed(&session, WaveId(0), "h[15]");
        match state {
            ValueState::Value(value) => assert_eq!((&*value, expected), ("286331153", true), "{private}"),
            ValueState::Unavailable(why) => {
                assert!(!expected && why.contains("private memory"), "{private}: {why}");
            }
            other => panic!("{private}: {other:?}"),
        }
    }
}

/// Arguments beyond the registers are at the stack pointer of the function's entry, in a realigned function, too.
#[test]
fn an_argument_on_the_stack_is_right_at_every_pc_of_its_function() {
    for (gpu, level) in compiled() {
        let counts = check(&fixture(&format!("code/arguments-{gpu}-{level}.hsaco")), Idiom::Xderef, 7);
        for function in ["wide", "narrow", "last"] {
            let (_, (shown, absent)) = counts.iter().find(|(name, _)| name.contains(function)).unwrap();
            assert!(*shown > least(300, 20), "{gpu} {level} {function}: {shown}");
            assert_eq!(*absent, 0, "{gpu} {level} {function}");
        }
    }
}

/// Frames that are rounded up. Where registers count bytes of a lane, clang 22 at -O2 rounds up to 32 and 64 bytes with
/// `s_andn2_b32`; the arguments on the stack of a rounded frame are at s34.
#[test]
fn a_variable_of_a_rounded_frame_is_right_at_every_pc_of_its_function() {
    let gpus = ["gfx942", "gfx90a", "gfx1030", "gfx1201", "gfx1100", "gfx1250"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let temporary = tempfile::tempdir().unwrap();
    for (level, gpu) in sampled(["O2", "O0"].into_iter().flat_map(|level| gpus.map(|gpu| (level, gpu))), 5) {
        let object = temporary.path().join(format!("{gpu}-{level}.hsaco"));
        let flags = ["-g", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib"];
        let mut command = Command::new(newest_llvm("clang++"));
        command.args(flags).args([&format!("--offload-arch={gpu}"), &format!("-{level}"), "-x", "hip"]);
        command.arg(folder.join("src/session/tests/frames/rounded.hip")).arg("-o").arg(&object);
        command.arg("-I").arg(folder.join("tests/fixtures/kernels"));
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let counts = check(&object, Idiom::Xderef, 3);
        for function in ["round_32", "round_64Dv4", "round_64_variable"] {
            let (_, (shown, absent)) = counts.iter().find(|(name, _)| name.contains(function)).unwrap();
            assert!(*shown > least(60, 20), "{gpu} {level} {function}: {shown}");
            assert_eq!(*absent, 0, "{gpu} {level} {function}");
        }
    }
}

/// The part of a function at lower addresses than its entry.
#[test]
fn a_variable_is_right_in_every_part_of_its_function() {
    for gpu in ["gfx90a", "gfx1100"] {
        let counts = check(&fixture(&format!("code/parts-{gpu}.hsaco")), Idiom::Xderef, 7);
        for function in ["two", "alone"] {
            let (_, (shown, absent)) = counts.iter().find(|(name, _)| name.contains(function)).unwrap();
            assert!(*shown > least(600, 40), "{gpu} {function}: {shown}");
            assert_eq!(*absent, 0, "{gpu} {function}");
        }
    }
}

/// compiled-code.md, section 5.
#[test]
fn a_variable_of_flangs_is_right_at_every_pc_of_its_function() {
    for gpu in sampled(["gfx90a", "gfx942", "gfx1030", "gfx1100"], 3) {
        let counts = check(&fixture(&format!("compilers/procedures-{gpu}-O0.hsaco")), Idiom::PrivateFrame, 7);
        let (shown, absent) = counts["_QMmPwork"];
        assert!(shown > least(1000, 70), "{gpu}: {shown}");
        assert_eq!(absent, 0, "{gpu}");
    }
}

/// A path's value in lane 3.
fn printed(session: &Session, wave: WaveId, path: &str) -> ValueState {
    let query = Query { path: path.to_owned(), letter: None };
    let printed = session.print(wave, LaneSet::one(LaneId(3)), 0, &query).unwrap();
    printed.lanes.into_iter().next().unwrap().value.state
}

/// An index outside of the source's bounds.
#[test]
fn an_index_of_a_fortran_array_is_within_its_bounds() {
    let path = fixture("compilers/procedures-gfx90a-O0.hsaco");
    let Places { dump, each, .. } = places(&path);
    let session = Session::new(dump, None).unwrap();
    let wave = WaveId(each.len() as u32 / 2);
    let print = |path| printed(&session, wave, path);
    let ValueState::Value(first) = print("hist[0]") else { panic!("{:?}", print("hist[0]")) };
    let first: u32 = first.parse().unwrap();
    // A dword on in private memory is 4 * 256 more.
    assert_eq!(print("hist[7]"), ValueState::Value((first + 7 * 1024).to_string().into()));
    let ValueState::Value(low) = print("low[-3]") else { panic!("{:?}", print("low[-3]")) };
    assert_eq!(
        print("low[4]"),
        ValueState::Value((low.parse::<u32>().unwrap() + 7 * 1024).to_string().into())
    );
    for (path, bounds) in [
        ("hist[-1]", "0 to 7"),
        ("hist[8]", "0 to 7"),
        ("low[-4]", "-3 to 4"),
        ("low[5]", "-3 to 4"),
        ("&low[5]", "-3 to 4"),
    ] {
        let ValueState::Error(why) = print(path) else { panic!("{path}: {:?}", print(path)) };
        assert!(why.contains(&format!("its indexes are {bounds}")), "{path}: {why}");
    }
}

/// The bounds of an assumed-shape argument are in the caller's descriptor (`CFI_cdesc_t` of Fortran 2018, in flang's
/// layout): the address of the data, at 0x18 the lower bound, at 0x20 the extent, at 0x28 the stride in bytes. Fortran
/// counts the indexes of such an argument from 1.
#[test]
fn an_index_of_an_assumed_shape_argument_is_within_its_bounds() {
    const DESCRIPTOR: u64 = 0x7f20_0000_1000;
    const DATA: u64 = 0x7f20_0000_2000;
    let descriptor = [DATA, 4, 0, 1, 4, 8].map(u64::to_le_bytes).concat();
    let data = [11u32, 0, 22, 0, 33, 0, 44, 0, 55, 0].map(u32::to_le_bytes).concat();
    // By llvm-dwarfdump the address of o's descriptor is at byte 280 of the frame.
    let pointer = [(ENTRY + 280, DESCRIPTOR as u32), (ENTRY + 284, (DESCRIPTOR >> 32) as u32)];
    let path = fixture("compilers/procedures-gfx90a-O0.hsaco");
    let Places { dump, each, .. } =
        places_with(&path, &pointer, &[(DESCRIPTOR, &descriptor), (DATA - 8, &[0xee; 8]), (DATA, &data)]);
    let session = Session::new(dump, None).unwrap();
    let wave = WaveId(each.len() as u32 / 2);
    let print = |path| printed(&session, wave, path);
    for (path, value) in [("o[1]", "11"), ("o[2]", "22"), ("o[4]", "44"), ("o", "(11, 22, 33, 44)")] {
        assert_eq!(print(path), ValueState::Value(value.into()), "{path}");
    }
    for path in ["o[0]", "o[5]", "o[-1]", "&o[0]"] {
        let ValueState::Error(why) = print(path) else { panic!("{path}: {:?}", print(path)) };
        assert!(why.contains("its indexes are 1 to 4"), "{path}: {why}");
    }
}

/// A variable in the frame register itself, by the DWARF text, in a function of 1 MiB of code and more, which is not
/// analysed.
#[test]
fn a_frame_register_that_may_be_the_callers_has_no_value() {
    let state = |fill: u32| {
        let changes = [
            (
                "    s_nop 0\n    s_nop 0\n",
                format!(
                    "    s_mov_b32 s33, s32\n    s_nop 0\n    s_setpc_b64 s[30:31]\n    .fill {fill}, 4, 0xbf800000\n"
                ),
            ),
            // The function's DW_AT_frame_base, DW_OP_regx s33.
            (
                "    .uleb128 0x6\n    .byte 0, 0\n    .uleb128 5 ",
                "    .uleb128 0x6\n    .uleb128 0x40\n    .uleb128 0x18\n    .byte 0, 0\n    .uleb128 5 "
                    .to_owned(),
            ),
            (
                "    .asciz \"f\"\n    .quad f\n    .long .Lend-f\n",
                "    .asciz \"f\"\n    .quad f\n    .long .Lend-f\n    .uleb128 2\n    .byte 0x90, 65\n"
                    .to_owned(),
            ),
            (
                "    .byte 0x90, 0x48, 0x93, 0x4, 0x90, 0x4a, 0x93, 0x4 ",
                "    .byte 0x90, 65, 0x93, 0x4, 0x90, 0x48, 0x93, 0x4 ".to_owned(),
            ),
        ];
        let mut source = include_str!("halves/halves.s").to_owned();
        for (from, to) in changes {
            assert!(source.contains(from), "{from}");
            source = source.replace(from, &to);
        }
        let object = assembled(&source);
        let start = LOADED + CodeObject::parse(object.clone()).unwrap().symbol("f").unwrap().value;
        let mut maker = Maker::new("gfx90a");
        maker.code_object(&object, LOADED);
        let (pc, word) = ((start + 4).to_le_bytes(), 0x40u32.to_le_bytes());
        let registers: [(&str, &[u8], u64); 4] =
            [("exec", &[0xff; 8], 3), ("pc", &pc, 3), ("s33", &word, 1), ("s40", &word, 1)];
        maker.wave(WaveSize::W64, None, &registers);
        let session = Session::new(maker.finish(), None).unwrap();
        let locals = session.locals(WaveId(0), LaneSet::one(LaneId(1)), 0).unwrap();
        let variable = locals.variables.iter().find(|variable| variable.name == "lost").unwrap();
        variable.lanes[0].state.clone()
    };
    assert_eq!(state(1), ValueState::Value((0x40_0000_0040u64).to_string().into()));
    let ValueState::Unavailable(why) = state(1 << 18) else { panic!("{:?}", state(1 << 18)) };
    assert!(why.contains("1 MiB"), "{why}");
}
