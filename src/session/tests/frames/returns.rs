//! Callers at every PC of functions with the call frame information of LLVM's main branch, which has faults
//! (compiled-code.md, section 2): from the reload of the vector register with the return address to the return its rules
//! read the caller's data, and the CFA of a rounded frame is the rounded frame pointer. By llvm-dwarfdump no rule has the
//! caller's frame pointer before it is in a lane.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{CALLERS_BASE, CALLERS_FRAME, ENTRY, LOADED, Line, State, fixture, lines, run};
use crate::codeobject::{CodeObject, Symbol};
use crate::sample::sampled;
use crate::session::tests::Maker;
use crate::session::{Session, Stack, Stacks as _};
use crate::units::{WaveId, WaveSize};

/// A code object with waves in states of the model.
struct Code {
    lines: BTreeMap<u64, Line>,
    object: CodeObject,
    maker: Maker,
    size: WaveSize,
    /// Units of the stack pointer for each byte of a lane.
    unit: u32,
}

impl Code {
    fn of(gpu: &str, name: &str) -> Self {
        let path = fixture(&format!("compilers/{name}-cfi.hsaco"));
        let bytes = std::fs::read(&path).unwrap();
        let mut maker = Maker::new(gpu);
        maker.code_object(&bytes, LOADED);
        let size = maker.capture.agents[0].target.wave_sizes[0];
        let unit = if gpu == "gfx90a" { u32::from(size.lanes()) } else { 1 };
        Self { lines: lines(&path), object: CodeObject::parse(bytes).unwrap(), maker, size, unit }
    }

    fn function(&self, name: &str) -> Range<u64> {
        let mut symbols = self.object.symbols().iter().filter(|symbol| symbol.size > 0);
        let is_it = |symbol: &&Symbol| symbol.name.contains(name) && self.lines.contains_key(&symbol.value);
        let found = symbols.find(is_it).unwrap();
        found.value..found.value + found.size
    }

    /// The return addresses of a function's calls.
    fn calls(&self, name: &str) -> Vec<u64> {
        let lines = self.lines.range(self.function(name)).map(|(_, line)| line);
        lines.filter(|line| line.text.starts_with("s_swappc_b64")).map(|line| LOADED + line.next).collect()
    }

    /// The state at a function's entry.
    fn entry(&self, called_from: u64) -> State {
        let own = [(32, ENTRY), (33, CALLERS_FRAME), (34, CALLERS_BASE)];
        let own = own.map(|(register, bytes)| (register, bytes * self.unit));
        State::of(own.into_iter().chain(link(called_from)))
    }

    /// Adds a wave at a PC. `other`: the dwords of lanes with their values of the entry.
    fn wave(&mut self, pc: u64, state: &State, other: impl Fn(u32) -> u32) {
        let lanes = u32::from(self.size.lanes());
        let whole = |own: &BTreeMap<u32, u32>| -> Vec<u8> {
            let dword = |lane: u32| own.get(&lane).copied().unwrap_or_else(|| other(lane)).to_le_bytes();
            (0..lanes).flat_map(dword).collect()
        };
        // The rest of private memory is absent.
        let place = |(base, offset): &(u32, i32)| u64::from((base / self.unit).wrapping_add_signed(*offset));
        let slots = state.slots.iter().map(|(slot, own)| (place(slot) * u64::from(lanes), whole(own)));
        let slots: BTreeMap<u64, Vec<u8>> = slots.collect();
        let slots: Vec<(u64, &[u8])> = slots.iter().map(|(at, bytes)| (*at, &bytes[..])).collect();
        let vectors = (0..48).map(|number| format!("v{number}"));
        let vectors = vectors.map(|register| (whole(&state.lanes_of(&register)), register));
        let vectors: Vec<(Vec<u8>, String)> = vectors.collect();
        let scalars = state.scalars.iter().map(|(number, value)| (value.to_le_bytes(), format!("s{number}")));
        let scalars: Vec<([u8; 4], String)> = scalars.collect();
        let (pc, exec) = ((LOADED + pc).to_le_bytes(), vec![0xff; lanes as usize / 8]);
        let mut registers: Vec<(&str, &[u8], u64)> = vec![("pc", &pc, 3), ("exec", &exec, 3)];
        registers.extend(scalars.iter().map(|(bytes, name)| (name.as_str(), &bytes[..], 1)));
        registers.extend(vectors.iter().map(|(bytes, name)| (name.as_str(), &bytes[..], u64::MAX)));
        self.maker.wave(self.size, None, &registers);
        self.maker.private(self.maker.capture.waves.len() - 1, &slots);
    }

    /// The canonical frame address at a stack pointer of the entry.
    fn cfa(&self, stack: u32) -> String {
        format!("private_wave+{:#x}", stack / self.unit * u32::from(self.size.lanes()))
    }

    fn stacks(self) -> Vec<Stack> {
        let count = self.maker.capture.waves.len() as u32;
        let session = Session::new(self.maker.finish(), None).unwrap();
        (0..count).map(|wave| session.backtrace(WaveId(wave), None).unwrap()).collect()
    }
}

fn link(called_from: u64) -> [(u32, u32); 2] {
    [(30, called_from as u32), (31, (called_from >> 32) as u32)]
}

/// A frame's CFA, without its mark.
fn cfa_of(stack: &Stack, level: usize) -> &str {
    stack.frames[level].cfa.as_ref().unwrap().split(' ').next().unwrap()
}

/// The caller's data is no return address, or that of another call.
#[test]
fn a_return_address_is_the_callers_at_every_pc() {
    for (gpu, is_address) in [("gfx90a", false), ("gfx90a", true), ("gfx1100", false), ("gfx1100", true)] {
        let mut code = Code::of(gpu, &format!("frames-{gpu}"));
        let [called_from, other, ..] = code.calls("calling")[..] else { panic!("{gpu}: no two calls") };
        let others = if is_address { link(other).map(|(_, half)| half) } else { [0x32c8, 0x32c9] };
        let mut pcs = Vec::new();
        for name in ["leaf", "sink", "mid", "wide", "two"] {
            let function = code.function(name);
            let states = run(&code.lines, std::slice::from_ref(&function), code.entry(called_from));
            for (pc, state) in states {
                code.wave(pc, &state, |lane| others[lane as usize % 2]);
                pcs.push((name, pc));
            }
        }
        let cfa = code.cfa(ENTRY * code.unit);
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for ((name, pc), stack) in pcs.into_iter().zip(code.stacks()) {
            let count = counts.entry(name).or_default();
            let [_, caller] = &stack.frames[..] else {
                panic!("{gpu} {name} at {pc:#x}: {:?}: {}", stack.frames, stack.end)
            };
            assert_eq!(caller.pc.unwrap().0, called_from, "{gpu} {name} at {pc:#x}");
            assert_eq!(cfa_of(&stack, 0), cfa, "{gpu} {name} at {pc:#x}");
            count.0 += 1;
            count.1 += usize::from(!caller.inferred.is_none());
        }
        for (name, (all, inferred)) in &counts {
            let calls = matches!(*name, "mid" | "wide" | "two");
            assert!(*all > 20, "{gpu} {counts:?}");
            assert_eq!(*inferred > 0, calls, "{gpu} {name}: {counts:?}");
            assert!(*inferred < 16, "{gpu} {counts:?}");
        }
    }
}

/// Activations of one function in a row. At its end the table's rules give the return address and the frame pointer of the
/// next outer activation, whose return address is the same if the call is.
#[test]
fn a_recursion_has_all_activations_at_every_pc() {
    let all = ["gfx90a", "gfx1100"].into_iter().flat_map(|gpu| ["O2", "O0"].map(|level| (gpu, level)));
    for (gpu, level) in sampled(all, 3) {
        let mut code = Code::of(gpu, &format!("stacks-{gpu}-{level}"));
        let (function, kernel) = (code.function("recursive"), code.calls("stacks")[0]);
        let inner = code.calls("recursive")[0];
        let text = |pc: u64| code.lines[&pc].text.as_str();
        let pcs: Vec<u64> = code.lines.range(function.clone()).map(|(pc, _)| *pc).collect();
        let restores = |pc: &&u64| text(**pc).starts_with("v_readlane_b32 s30,");
        let holder = text(*pcs.iter().find(restores).unwrap()).split(", ").nth(1).unwrap().to_owned();
        let reloads = |pc: &&u64| text(**pc).contains("load_") && text(**pc).contains(&holder);
        let reload = *pcs.iter().find(reloads).unwrap();
        let sets = |pc: &&u64| text(**pc).starts_with("s_mov_b32 s33, s32");
        let set = *pcs.iter().find(sets).unwrap();
        let saves = |pc: &&u64| text(**pc).starts_with("v_writelane_b32");
        let saved = *pcs.iter().find(saves).unwrap();
        let mut expected = Vec::new();
        for depth in [2, 3] {
            let mut entries = vec![code.entry(kernel)];
            let at = |entry: &State| run(&code.lines, std::slice::from_ref(&function), entry.clone());
            while entries.len() < depth {
                let mut called = at(entries.last().unwrap())[&(inner - LOADED - 4)].clone();
                called.scalars.extend(link(inner));
                entries.push(called);
            }
            let states = at(entries.last().unwrap());
            let cfas: Vec<String> = entries.iter().rev().map(|entry| code.cfa(entry.scalars[&32])).collect();
            let callers: Vec<u64> = (1..depth).map(|_| inner).chain([kernel]).collect();
            for (pc, state) in states {
                code.wave(pc, &state, |_| 0x32c8);
                expected.push((pc, cfas.clone(), callers.clone()));
            }
        }
        let mut inferred = BTreeSet::new();
        for ((pc, cfas, callers), stack) in expected.into_iter().zip(code.stacks()) {
            let at = format!("{gpu} {level} at {pc:#x}: {}", stack.end);
            let found: Vec<u64> = stack.frames[1..].iter().map(|frame| frame.pc.unwrap().0).collect();
            assert_eq!(found, callers, "{at}");
            for (frame, cfa) in cfas.iter().enumerate() {
                assert_eq!(cfa_of(&stack, frame), cfa, "{at}: frame {frame}");
            }
            assert!(stack.end.is_normal(), "{at}");
            let is_inferred = !stack.frames[1].inferred.is_none();
            assert_eq!(is_inferred, pc > reload || (set + 4..=saved).contains(&pc), "{at}");
            inferred.extend(is_inferred.then_some(pc));
        }
        assert!(inferred.len() >= 7, "{gpu} {level}: {inferred:x?}");
    }
}
