//! Random writes, resets and reads, in every view of memory and every name of a register, compared with plain maps.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{
    GLOBAL, GLOBAL_PIECES, LDS, LOCAL, PRIVATE, PRIVATE_LANE, PRIVATE_SIZE, PRIVATE_WAVE, byte, dump, place,
};
use crate::sample::is_long;
use crate::session::{Reset, Session, Storage as _, Waves as _, WhatIf as _};
use crate::units::WaveId;

const REGISTERS: [&str; 10] = ["pc", "exec", "s0", "s1", "s30", "s31", "vcc", "flat_scratch", "v3", "v4"];

/// A write or reset.
#[derive(Clone, Debug)]
enum Step {
    Register { wave: u32, name: usize, seed: u32, same: bool },
    Memory { space: u64, wave: u32, lane: u8, address: u64, bytes: Vec<u8> },
    Reset(Reset),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let register = (0u32..3, 0..REGISTERS.len(), any::<u32>(), any::<bool>())
        .prop_map(|(wave, name, seed, same)| Step::Register { wave, name, seed, same });
    let near = |edges: &'static [u64]| {
        (prop::sample::select(edges), 0u64..0x60).prop_map(|(edge, off)| (edge + off).saturating_sub(0x30))
    };
    let at = prop_oneof![
        near(&[0x1000, 0x1040, 0x1200, 0x1240, 0x2000, 0x2100]).prop_map(|at| (GLOBAL, at)),
        near(&[0x10, 0x40, 0x130, 0x400]).prop_map(|at| (LOCAL, at)),
        near(&[0, 0x18, 0x20, 0x28, 0x40]).prop_map(|at| (PRIVATE_LANE, at)),
        near(&[0, 0x5f0, 0x600, 0x800, 0xa08, 0x1000]).prop_map(|at| (PRIVATE_WAVE, at)),
        near(&[0, 0x18, 0x20, 0x40]).prop_map(|at| (0x20 + 17, at)),
    ];
    let memory =
        (at, 0u32..3, prop::sample::select(vec![0u8, 1, 17, 63]), prop::collection::vec(any::<u8>(), 1..80))
            .prop_map(|((space, address), wave, lane, bytes)| Step::Memory {
                space,
                wave,
                lane,
                address,
                bytes,
            });
    let reset = prop::sample::select(vec![Reset::All, Reset::Registers, Reset::Memory]).prop_map(Step::Reset);
    prop::collection::vec(prop_oneof![6 => register, 10 => memory, 1 => reset], 1..24)
}

/// The storage of a byte: owner and address.
fn stored(space: u64, wave: u32, lane: u8, address: u64) -> (u64, u32, u64) {
    // dwarf-cases.md H: lane address to wave address, 64 lanes.
    let swizzled = |lane: u64| (PRIVATE_WAVE, wave, address / 4 * 256 + lane * 4 + address % 4);
    match space {
        GLOBAL => (GLOBAL, 0, address),
        LOCAL => (LOCAL, wave / 2, address),
        PRIVATE_WAVE => (PRIVATE_WAVE, wave, address),
        PRIVATE_LANE => swizzled(u64::from(lane)),
        lane => swizzled(lane - 0x20),
    }
}

fn captured((space, owner, at): (u64, u32, u64)) -> Option<u8> {
    let (there, salt) = match space {
        GLOBAL => (GLOBAL_PIECES.iter().any(|piece| piece.contains(&at)), 0),
        LOCAL => (LDS.contains(&at), 1),
        _ => (owner < 2 && PRIVATE.iter().any(|piece| piece.contains(&at)), 2 + u64::from(owner)),
    };
    there.then(|| byte(salt, at))
}

/// Whether memory is known to exist.
fn exists(at: (u64, u32, u64)) -> bool {
    let owned = match at {
        (LOCAL, _, at) => at < 1024,
        (PRIVATE_WAVE, 1, at) => at < PRIVATE_SIZE,
        _ => false,
    };
    owned || captured(at).is_some()
}

#[derive(Default)]
struct Model {
    bytes: HashMap<(u64, u32, u64), u8>,
    dwords: HashMap<(u32, &'static str, usize), u32>,
}

/// The storage of a register's dword.
fn home(name: &'static str, dword: usize) -> (&'static str, usize) {
    match (name, dword) {
        ("vcc", 0) => ("s30", 0),
        ("vcc", _) => ("s31", 0),
        ("flat_scratch", 0) => ("s26", 0),
        ("flat_scratch", _) => ("s27", 0),
        own => own,
    }
}

fn captured_dword(wave: u32, home: (&str, usize)) -> Option<u32> {
    match home {
        ("pc", dword) => Some([0x1000, 0][dword]),
        ("exec", dword) => Some([0xff, 0xf0][dword]),
        ("s0", _) => Some(0x0403_0201),
        ("s30", _) => Some(0x0807_0605),
        ("s26", _) => Some(0x0909_0909),
        ("v3", lane) => Some(wave << 16 | lane as u32),
        ("v4", lane) if lane < 16 => Some(wave << 16 | lane as u32),
        _ => None,
    }
}

impl Model {
    fn dword(&self, wave: u32, name: &'static str, dword: usize) -> Option<u32> {
        let home = home(name, dword);
        self.dwords.get(&(wave, home.0, home.1)).copied().or_else(|| captured_dword(wave, home))
    }

    fn read(&self, space: u64, wave: u32, lane: u8, address: u64, count: usize) -> Vec<u8> {
        let each = (address..).take(count).map(|at| {
            let at = stored(space, wave, lane, at);
            self.bytes.get(&at).copied().or_else(|| captured(at))
        });
        each.map_while(|byte| byte).collect()
    }

    /// Number of bytes and dwords that differ from the capture.
    fn changed(&self) -> (usize, usize) {
        let bytes = self.bytes.iter().filter(|(at, byte)| captured(**at) != Some(**byte));
        let dwords = self
            .dwords
            .iter()
            .filter(|((wave, name, dword), value)| captured_dword(*wave, (*name, *dword)) != Some(**value));
        (bytes.count(), dwords.count())
    }
}

fn compare(session: &Session, model: &Model) {
    let kind = session.kind();
    for wave in 0..3 {
        for name in REGISTERS {
            let value = session.register(WaveId(wave), kind.named(name).unwrap().id).unwrap();
            for dword in 0..usize::from(value.dwords()) {
                let wanted = model.dword(wave, name, dword);
                assert_eq!(value.dword(dword as u16), wanted, "wave {wave} {name}[{dword}]");
            }
        }
        let views = [
            (GLOBAL, 0, 0xfd0, 0x2a0),
            (GLOBAL, 0, 0x1000, 0x240),
            (GLOBAL, 0, 0x2000, 0x100),
            (GLOBAL, 0, 0x1ff0, 0x20),
            (LOCAL, 0, 0, 0x400),
            (LOCAL, 0, 0x20, 0x400),
            (LOCAL, 0, 0x3f8, 16),
            (PRIVATE_WAVE, 0, 0, 0x1100),
            (PRIVATE_WAVE, 0, 0x7f0, 0x400),
            (PRIVATE_WAVE, 0, 0x801, 0x300),
            (PRIVATE_WAVE, 0, 0xa07, 0x300),
            (PRIVATE_LANE, 0, 0, 80),
            (PRIVATE_LANE, 1, 3, 80),
            (PRIVATE_LANE, 17, 0x1e, 40),
            (PRIVATE_LANE, 63, 0x22, 40),
            (PRIVATE_LANE, 2, 0x2a, 10),
            (0x20 + 17, 0, 0, 80),
            (0x20 + 17, 0, 0x26, 30),
        ];
        for (space, lane, address, count) in views {
            let mut buffer = vec![0xee; count];
            let got = session.read(place(space, address, wave, lane), &mut buffer).unwrap_or(0);
            buffer.truncate(got);
            let wanted = model.read(space, wave, lane, address, count);
            assert_eq!(buffer, wanted, "space {space:#x} of wave {wave} lane {lane} at {address:#x}");
        }
    }
    let changes = session.changes(usize::MAX).unwrap();
    let (bytes, dwords) = model.changed();
    assert_eq!(changes.memory.iter().map(|run| run.length as usize).sum::<usize>(), bytes);
    assert_eq!(changes.registers.len(), dwords);
    for run in &changes.memory {
        // LDS is listed under the first wave of its work-group; the model keeps it there, too.
        let (wave, lane) = (run.place.wave.map_or(0, |wave| wave.0), run.place.lane.map_or(0, |lane| lane.0));
        for (index, (old, new)) in (0u64..).zip(run.old.iter().zip(&run.new)) {
            let at = stored(run.place.space.0, wave, lane, run.place.address.0 + index);
            assert_eq!((*old, Some(new)), (captured(at), model.bytes.get(&at)), "{run:?}");
        }
    }
    for change in &changes.registers {
        let name = REGISTERS.iter().chain(&["s26", "s27"]).find(|name| **name == change.name).unwrap();
        let dword = change.lane.map_or(change.dword.map_or(0, usize::from), |lane| usize::from(lane.0));
        assert_eq!(change.old, captured_dword(change.wave.0, (name, dword)), "{change:?}");
        assert_eq!(Some(change.new), model.dword(change.wave.0, name, dword), "{change:?}");
    }
}

fn apply(session: &mut Session, model: &mut Model, step: &Step) {
    let kind = session.kind();
    match step {
        Step::Register { wave, name, seed, same } => {
            let name = REGISTERS[*name];
            let register = kind.named(name).unwrap();
            let dwords = (0..usize::from(register.dwords)).map(|dword| {
                let old = model.dword(*wave, name, dword).filter(|_| *same || dword % 3 == 1);
                old.unwrap_or(seed.wrapping_mul(dword as u32 + 1))
            });
            let dwords: Vec<u32> = dwords.collect();
            let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
            session.write_register(WaveId(*wave), register.id, &bytes).unwrap();
            for (dword, value) in dwords.into_iter().enumerate() {
                let home = home(name, dword);
                model.dwords.insert((*wave, home.0, home.1), value);
            }
        }
        Step::Memory { space, wave, lane, address, bytes } => {
            let keys: Vec<_> =
                (*address..).take(bytes.len()).map(|at| stored(*space, *wave, *lane, at)).collect();
            let written = session.write(place(*space, *address, *wave, *lane), bytes);
            assert_eq!(written.is_ok(), keys.iter().all(|key| exists(*key)), "{step:?}: {written:?}");
            if written.is_ok() {
                model.bytes.extend(keys.into_iter().zip(bytes.iter().copied()));
            }
        }
        Step::Reset(what) => {
            let (bytes, dwords) = model.changed();
            let dropped = session.reset(*what);
            if *what != Reset::Registers {
                assert_eq!(dropped.bytes, bytes as u64);
                model.bytes.clear();
            }
            if *what != Reset::Memory {
                assert_eq!(dropped.dwords, dwords as u64);
                model.dwords.clear();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if is_long() { 128 } else { 32 }))]

    #[test]
    fn what_was_written_is_read_everywhere(steps in steps()) {
        let mut session = Session::new(dump(), None).unwrap();
        let other = Session::new(std::sync::Arc::clone(session.reader().dump()), None).unwrap();
        let mut model = Model::default();
        for step in &steps {
            let before = session.reader().generation();
            apply(&mut session, &mut model, step);
            // A rejected write changes nothing; everything else advances the generation.
            prop_assert!(session.reader().generation() >= before);
            compare(&session, &model);
        }
        // Another client of the same dump sees no change.
        compare(&other, &Model::default());
    }
}
