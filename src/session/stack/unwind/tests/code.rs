//! Rules by the code of functions, compared with LLVM's call frame information and with the calling convention.
//!
//! A wave is in the state that the analysis gives for a PC. In that wave the rules of LLVM's table must lead to the
//! values of the function's entry, and so must the rules by the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::arch::{Generation, Targets, WaveArch};
use crate::codeobject::{CodeObject, ElfAddress, Symbol, SymbolKind, newest_llvm};
use crate::dwarf::cfi::{Answers, CfaRule, RegisterRule, Row, Unwind};
use crate::dwarf::{Bits, Budget, LaneNeed, MemoryAt, Snapshot, SpaceInfo, fetch};
use crate::isa::{
    CallerCode, CallerEntry, CallerState, CodeTarget, Instruction, Machine, UndecidedError, Vector,
};
use crate::sample::{least, sampled};
use crate::session::stack::unwind::{FoundRules, UnwindTable, code_row};
use crate::units::{Address, AddressSpace, BitSize, DwarfReg, LaneId, WaveSize};

/// Bytes of a lane below the frame: no multiple of a frame's alignment.
const STACK: u32 = 0x1150;
const PRIVATE_WAVE: AddressSpace = AddressSpace(6);

/// A function of an object with its analysis.
struct Function {
    name: String,
    code: Vec<Instruction>,
    analysis: CallerCode,
}

/// An object's functions that are no kernels.
struct Object {
    object: CodeObject,
    kind: Arc<WaveArch>,
    entry: CallerEntry,
    /// DWARF numbers of s0 to s101.
    scalars: Vec<DwarfReg>,
    functions: Vec<Function>,
}

fn object(bytes: Vec<u8>) -> Object {
    let object = CodeObject::parse(bytes).unwrap();
    let processor = object.processor().unwrap();
    let target = if processor.name == "gfx1201" { "gfx1200" } else { processor.name };
    let size = if processor.generation >= Generation::Gfx10 { WaveSize::W32 } else { WaveSize::W64 };
    let kind = Targets::builtin().kind(target, size).unwrap();
    let target = CodeTarget {
        generation: processor.generation,
        buffer_scratch: kind.target.buffer_scratch,
        lanes: size.lanes(),
    };
    let machine = Machine { processor: processor.name.to_owned(), wave_size: size };
    let kernels: BTreeSet<u64> = object.kernels().filter_map(|kernel| Some(kernel.entry?.0)).collect();
    let is_function = |symbol: &&Symbol| {
        symbol.kind == SymbolKind::Function && symbol.size > 0 && !kernels.contains(&symbol.value)
    };
    let by_address: BTreeMap<u64, &Symbol> =
        object.symbols().iter().filter(is_function).map(|symbol| (symbol.value, symbol)).collect();
    let functions = by_address.values().map(|symbol| {
        let bytes = object.bytes_at(ElfAddress(symbol.value), symbol.size).unwrap();
        let code = machine.decode(symbol.value, &bytes, false).unwrap();
        let analysis = CallerCode::read(&code, symbol.value, target)
            .unwrap_or_else(|why| panic!("{} {}: {why}", processor.name, symbol.name));
        Function { name: symbol.name.clone(), code, analysis }
    });
    let functions = functions.collect();
    let unit = if kind.target.buffer_scratch { u32::from(size.lanes()) } else { 1 };
    let exec = 0x0f3c_a5ff_0660_f00f;
    let exec = if size == WaveSize::W32 { exec & 0xffff_ffff } else { exec };
    let entry = CallerEntry { stack: STACK * unit, unit, exec, lanes: size.lanes() };
    let scalars = (0..102).map(|index| number(&kind, &format!("s{index}"))).collect();
    Object { object, kind, entry, scalars, functions }
}

fn number(kind: &WaveArch, name: &str) -> DwarfReg {
    kind.named(name).unwrap_or_else(|| panic!("{name}")).dwarf.unwrap()
}

fn vector_name(register: Vector) -> String {
    format!("{}{}", if register.accumulator { 'a' } else { 'v' }, register.number)
}

impl Object {
    /// A wave in a state, with the scalar registers, the vector registers that do not have their own values, and `more`.
    fn wave(&self, state: &CallerState, more: impl Iterator<Item = Vector>) -> Snapshot {
        let (kind, entry) = (&*self.kind, self.entry);
        let mut concrete = state.concrete(entry);
        let size = kind.wave_size;
        let info = SpaceInfo { address_bits: 32, lane: LaneNeed::None };
        let exec = concrete.exec.to_le_bytes();
        let mut wave = Snapshot::new(size).with_space(PRIVATE_WAVE, info);
        wave = wave.with_register(number(kind, "exec"), &exec[..usize::from(size.lanes() / 8)]);
        wave = wave.with_register(number(kind, "pc"), 0u64.to_le_bytes());
        for (index, scalar) in concrete.scalars.iter().enumerate().take(102) {
            wave = wave.with_register(self.scalars[index], scalar.to_le_bytes());
        }
        for register in more {
            let own = || (0..entry.lanes).map(|lane| entry.vector(register, lane)).collect();
            concrete.vectors.entry(register).or_insert_with(own);
        }
        for (register, dwords) in concrete.vectors {
            // Not all GPUs have accumulation registers.
            let Some(known) = kind.named(&vector_name(register)) else { continue };
            wave = wave.with_vector(known.dwarf.unwrap(), dwords);
        }
        for (offset, dwords) in concrete.memory {
            let address = Address(u64::from(offset) * u64::from(entry.lanes));
            let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
            wave = wave.with_memory(MemoryAt { space: PRIVATE_WAVE, lane: None, address }, bytes);
        }
        wave
    }

    /// The canonical frame address, in bytes of the wave.
    fn cfa(&self) -> u64 {
        u64::from(STACK) * u64::from(self.entry.lanes)
    }

    fn return_address(&self) -> u64 {
        u64::from(self.entry.scalar(30)) | u64::from(self.entry.scalar(31)) << 32
    }
}

/// A frame of a wave with rules.
struct Frame<'f> {
    wave: &'f Snapshot,
    row: &'f Row,
    answers: Answers,
}

impl<'f> Frame<'f> {
    fn new(wave: &'f Snapshot, row: &'f Row) -> Self {
        Self { wave, row, answers: Answers::default() }
    }

    fn cfa(&self) -> u64 {
        let cfa = Unwind::new(self.wave, self.row, &self.answers).cfa().unwrap();
        cfa.offset.bytes.get(LaneId(0))
    }

    fn bits(&self, register: DwarfReg, size: u64) -> Bits {
        let location = Unwind::new(self.wave, self.row, &self.answers).register(register).unwrap();
        fetch(self.wave, &location, None, BitSize(size)).unwrap()
    }

    /// A scalar; `None`: undefined.
    fn scalar(&self, register: DwarfReg, size: u64) -> Option<u64> {
        let bits = self.bits(register, size);
        // A partly known register is not expected.
        bits.undefined().iter().all(|mask| *mask == 0).then(|| bits.number().unwrap())
    }

    /// The dwords of a vector register; `None`: undefined.
    fn vector(&self, register: DwarfReg, lanes: u8) -> Vec<Option<u32>> {
        let bits = self.bits(register, u64::from(lanes) * 32);
        let dword = |lane: usize| {
            let bytes: Option<Vec<u8>> =
                (lane * 4..lane * 4 + 4).map(|index| bits.byte(index).ok()).collect();
            bytes.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
        };
        (0..usize::from(lanes)).map(dword).collect()
    }
}

/// Vector registers that callees preserve: LLVM's `SIRegisterInfo.td`, `CSR_AMDGPU`.
fn is_preserved(register: Vector) -> bool {
    !register.accumulator && register.number >= 40 && register.number % 16 >= 8
}

/// compiled-code.md, section 2, fault 1: from the reload of the vector register with the return address to the return, no
/// rule restores the PC to s[30:31].
fn is_after_reload(code: &[Instruction], pc: u64) -> bool {
    let index = code.iter().position(|one| one.address == pc).unwrap();
    let restores = |one: &Instruction| one.text().starts_with("v_readlane_b32 s30,");
    let returns = |one: &Instruction| one.text().starts_with("s_setpc_b64");
    let before = code[..index].iter().rposition(restores);
    let reloads =
        |one: &Instruction| one.text().contains("load_") || one.text().starts_with("v_accvgpr_read");
    before.is_some_and(|from| code[from..index].iter().any(reloads) && !code[from..index].iter().any(returns))
}

/// compiled-code.md, section 2, fault 2: the CFA of a function that rounds its frame pointer up is the frame pointer.
fn is_realigned(code: &[Instruction]) -> bool {
    let rounds = ["s_and_b32 s33, s33,", "s_and_not1_b32 s33, s33,", "s_andn2_b32 s33, s33,"];
    code.iter().any(|one| rounds.iter().any(|text| one.text().starts_with(text)))
}

#[derive(Debug, Default)]
struct Counts {
    functions: usize,
    pcs: usize,
    /// PCs of faults 1 and 2.
    epilogue: usize,
    realigned: usize,
    /// Vector registers with a rule of LLVM's that agrees, and those that do so in the lanes of EXEC alone.
    vectors: usize,
    diverged: usize,
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/compilers").join(name)
}

/// The objects have the call frame information of LLVM's main branch of 2026.
#[test]
fn rules_by_code_agree_with_llvms_at_every_pc() {
    let mut all = BTreeMap::new();
    let objects = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"];
    let objects = objects.iter().flat_map(|gpu| ["O0", "O2"].map(|level| format!("{gpu}-{level}")));
    for name in sampled(objects, 5) {
        let of = object(std::fs::read(fixture(&format!("stacks-{name}-cfi.hsaco"))).unwrap());
        all.insert(name.clone(), agreement(&of, &name));
    }
    let mean = |of: fn(&Counts) -> usize| all.values().map(of).sum::<usize>() / all.len();
    assert!(mean(|counts| counts.functions) >= 30, "{all:?}");
    assert!(mean(|counts| counts.pcs) >= 2_000, "{all:?}");
    assert!(mean(|counts| counts.vectors) >= 2_000, "{all:?}");
    // The faults are in all objects with calls.
    assert!(all.values().all(|counts| counts.epilogue > 0 && counts.realigned > 0), "{all:?}");
}

fn agreement(of: &Object, what: &str) -> Counts {
    let budget = Budget::default();
    let table = UnwindTable::default();
    let mut counts = Counts::default();
    for Function { name, code, analysis } in &of.functions {
        counts.functions += 1;
        let realigned = is_realigned(code);
        let mut last: Option<(CallerState, FoundRules, Compared)> = None;
        for one in code {
            let at = format!("{what} {name} {:#x} {}", one.address, one.text());
            // Padding before a branch's target.
            let state = match analysis.at(one.address) {
                Err(UndecidedError::Unreached(_)) if one.text() == "s_nop 0" => continue,
                found => found.unwrap_or_else(|why| panic!("{at}: {why}")),
            };
            let found = table.at(&of.object, || None, ElfAddress(one.address), None, &budget);
            let rules = found.as_ref().as_ref().unwrap_or_else(|why| panic!("{at}: {why}"));
            assert_ne!(rules.row.cfa.rule, CfaRule::Unspecified, "{at}");
            counts.pcs += 1;
            // Most instructions change neither.
            let compared = match &last {
                Some((state_before, found_before, compared))
                    if *state_before == state && Arc::ptr_eq(found_before, &found) =>
                {
                    *compared
                }
                _ => of.compared(&state, &rules.row, realigned, &at),
            };
            if !compared.has_return || !compared.has_scalars {
                assert!(
                    is_after_reload(code, one.address),
                    "{at}: another return address or scalar register"
                );
                counts.epilogue += 1;
            }
            if !compared.has_cfa {
                assert!(realigned, "{at}: another CFA");
                counts.realigned += 1;
            }
            counts.vectors += compared.vectors;
            counts.diverged += compared.diverged;
            last = Some((state, found, compared));
        }
    }
    counts
}

/// Results of a PC.
#[derive(Clone, Copy)]
struct Compared {
    /// Whether LLVM's rules lead to the return address, and to the CFA with the slots.
    has_return: bool,
    has_cfa: bool,
    /// Whether they lead to the scalar registers that they have.
    has_scalars: bool,
    /// Vector registers with a rule of LLVM's that agrees.
    vectors: usize,
    /// Those of them that only agree in the lanes of EXEC.
    diverged: usize,
}

impl Object {
    /// The vector register of a DWARF number.
    fn vector(&self, register: DwarfReg) -> Option<Vector> {
        let name = &self.kind.dwarf(register).unwrap().name;
        let (file, number) = name.split_at_checked(1)?;
        let number = number.parse().ok()?;
        matches!(file, "v" | "a").then_some(Vector { accumulator: file == "a", number })
    }

    /// Compares the rules of a PC.
    fn compared(&self, state: &CallerState, theirs: &Row, realigned: bool, at: &str) -> Compared {
        let (kind, entry) = (&*self.kind, self.entry);
        let number = |name: &str| number(kind, name);
        let rules = theirs.registers.iter().filter(|(_, placed)| placed.rule != RegisterRule::Undefined);
        let rules: Vec<DwarfReg> = rules.map(|(register, _)| *register).collect();
        let wave = self.wave(state, rules.iter().filter_map(|register| self.vector(*register)));
        let mine = code_row::row(state, kind).unwrap_or_else(|| panic!("{at}: no rules"));
        let (mine, theirs) = (Frame::new(&wave, &mine), Frame::new(&wave, theirs));
        assert_eq!(mine.cfa(), self.cfa(), "{at}");
        assert_eq!(mine.scalar(number("pc"), 64), Some(self.return_address()), "{at}");
        for register in [32, 33] {
            let own = mine.scalar(self.scalars[register], 32);
            assert_eq!(own, Some(u64::from(entry.scalar(register as u8))), "{at}: s{register}");
        }
        let mut compared = Compared {
            has_return: theirs.scalar(number("pc"), 64) == Some(self.return_address()),
            has_cfa: theirs.cfa() == self.cfa(),
            has_scalars: true,
            vectors: 0,
            diverged: 0,
        };
        if !compared.has_cfa {
            return compared;
        }
        let exec = state.concrete(entry).exec;
        let own_exec = mine.scalar(number("exec"), u64::from(entry.lanes));
        assert!(own_exec.is_none_or(|own| own == entry.exec), "{at}: EXEC {own_exec:x?}");
        for register in rules {
            let name = &kind.dwarf(register).unwrap().name;
            if let Some(scalar) = self.scalars.iter().position(|scalar| *scalar == register) {
                let expected = Some(u64::from(entry.scalar(u8::try_from(scalar).unwrap())));
                compared.has_scalars &= theirs.scalar(register, 32) == expected;
                assert_eq!(mine.scalar(register, 32), expected, "{at}: {name}");
            }
            let Some(vector) = self.vector(register) else { continue };
            let (lanes, own) = (theirs.vector(register, entry.lanes), mine.vector(register, entry.lanes));
            let mut has_diverged = false;
            for ((lane, theirs), own) in (0u8..).zip(lanes).zip(own) {
                // LLVM gives a place for all lanes of registers that callees need not preserve.
                let is_active = entry.exec >> lane & 1 == 1;
                if is_active && !is_preserved(vector) {
                    continue;
                }
                let expected = Some(entry.vector(vector, lane));
                // LLVM's mask is EXEC at the PC: lanes may have left it since the entry, or prologue and epilogue
                // enabled all.
                if (exec ^ entry.exec) >> lane & 1 == 1 {
                    has_diverged |= theirs != expected;
                } else if realigned {
                    // The slots are relative to the rounded frame pointer.
                    compared.has_cfa &= theirs == expected;
                } else {
                    assert_eq!(theirs, expected, "{at}: {name} lane {lane}");
                }
                // Without the lanes of the entry some lanes have no value.
                if own.is_some() || own_exec.is_some() {
                    assert_eq!(own, expected, "{at}: {name} lane {lane}");
                }
            }
            compared.vectors += 1;
            compared.diverged += usize::from(has_diverged);
        }
        compared
    }
}

fn compiled(gpu: &str, level: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("stacks.hsaco");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kernels/stacks.hip");
    let options = ["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib"];
    let mut command = Command::new(newest_llvm("clang++"));
    command.args(options).arg(format!("--offload-arch={gpu}")).arg(format!("-{level}"));
    let done = command.arg(source).arg("-o").arg(&output).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(output).unwrap()
}

/// clang 22 writes no call frame information. At a return the registers have the values of the calling convention:
/// AMDGPUUsage, "Non-Kernel Functions".
#[test]
fn rules_by_code_are_known_at_every_pc_of_code_without_call_frame_information() {
    let (mut objects, mut pcs, mut returns, mut whole) = (0, 0, 0, 0);
    let all = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"];
    let all = all.into_iter().flat_map(|gpu| ["O0", "O1", "O2", "O3"].map(|level| (gpu, level)));
    let all =
        all.filter(|(gpu, level)| matches!(*gpu, "gfx90a" | "gfx1100") || matches!(*level, "O0" | "O2"));
    for (gpu, level) in sampled(all, 10) {
        objects += 1;
        let of = object(compiled(gpu, level));
        let (kind, entry) = (&*of.kind, of.entry);
        let number = |name: &str| number(kind, name);
        assert!(of.functions.len() >= 30, "{gpu} {level}");
        for Function { name, code, analysis } in sampled(&of.functions, 3) {
            let mut last: Option<CallerState> = None;
            for one in code {
                let at = format!("{gpu} {level} {name} {:#x} {}", one.address, one.text());
                // Padding before a branch's target.
                let state = match analysis.at(one.address) {
                    Err(UndecidedError::Unreached(_)) if one.text() == "s_nop 0" => continue,
                    found => found.unwrap_or_else(|why| panic!("{at}: {why}")),
                };
                pcs += 1;
                let is_return = one.text() == "s_setpc_b64 s[30:31]";
                let is_same = last.as_ref() == Some(&state);
                last = Some(state.clone());
                if is_same && !is_return {
                    continue;
                }
                let row = code_row::row(&state, kind).unwrap_or_else(|| panic!("{at}: no rules"));
                let all = (0..256).map(|number| Vector { accumulator: false, number });
                let wave = of.wave(&state, all.take(if is_return { 256 } else { 0 }));
                let frame = Frame::new(&wave, &row);
                assert_eq!(frame.cfa(), of.cfa(), "{at}");
                assert_eq!(frame.scalar(number("pc"), 64), Some(of.return_address()), "{at}");
                assert_eq!(frame.scalar(of.scalars[33], 32), Some(u64::from(entry.scalar(33))), "{at}");
                // Every known value is that of the entry.
                for (register, known) in (0u8..).zip(&of.scalars).skip(34) {
                    let value = frame.scalar(*known, 32);
                    let expected = u64::from(entry.scalar(register));
                    assert!(value.is_none_or(|value| value == expected), "{at}: s{register} {value:x?}");
                }
                if !is_return {
                    continue;
                }
                returns += 1;
                let exec = frame.scalar(number("exec"), u64::from(entry.lanes));
                assert!(exec.is_none_or(|exec| exec == entry.exec), "{at}: {exec:x?}");
                // After a loop the lanes of the entry are not known; then some lanes have no value.
                whole += usize::from(exec.is_some());
                for register in [30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 48, 55, 64, 71, 80, 87, 96, 101] {
                    let expected = u64::from(entry.scalar(register));
                    let own = row.registers.contains_key(&number(&format!("s{register}")));
                    assert!(!own, "{at}: s{register} is not itself");
                    assert_eq!(frame.scalar(number(&format!("s{register}")), 32), Some(expected), "{at}");
                }
                for index in 0..256 {
                    let vector = Vector { accumulator: false, number: index };
                    let values = frame.vector(number(&vector_name(vector)), entry.lanes);
                    for (lane, value) in (0u8..).zip(values) {
                        let is_active = entry.exec >> lane & 1 == 1;
                        if !is_active || is_preserved(vector) {
                            let expected = Some(entry.vector(vector, lane));
                            let is_absent = exec.is_none() && value.is_none();
                            assert!(is_absent || value == expected, "{at}: v{index} lane {lane}: {value:x?}");
                        }
                    }
                }
            }
        }
    }
    assert!(
        pcs > least(2_200, 200) * objects
            && returns > least(30, 6) * objects
            && whole > least(18, 2) * objects,
        "{objects} objects, {pcs} PCs, {returns} returns, {whole} with EXEC"
    );
}
