//! Values over the remote protocol: packets of a client in a session over a written core.

use std::sync::Arc;

use lanescope::server::{Client, ClientOptions, Flow};
use lanescope::session::{Session, Waves as _};

use super::compare::{self, hex};
use crate::core_writer::model::{self, Dwords, WaveModel};
use crate::core_writer::plan::Plan;
use crate::core_writer::{filler, gpu, matrix};

/// The answer that a client gets.
struct Wire(Client);

impl Wire {
    fn ask(&mut self, body: &str) -> String {
        let sum = body.bytes().fold(0u8, |sum, byte| sum.wrapping_add(byte));
        let mut out = Vec::new();
        assert!(self.0.feed(format!("${body}#{sum:02x}").as_bytes(), &mut out) == Flow::Continue);
        let start = out.iter().position(|byte| *byte == b'$').unwrap_or_else(|| panic!("no reply to {body}"));
        let end = out.len() - 3;
        let reply = String::from_utf8(out[start + 1..end].to_vec()).unwrap();
        assert!(self.0.feed(b"+", &mut Vec::new()) == Flow::Continue);
        reply
    }
}

/// Digits; `x` for partially saved registers, because debuggers have only whole ones.
fn digits(dwords: &Dwords) -> String {
    match dwords.iter().copied().collect::<Option<Vec<u32>>>() {
        Some(dwords) => hex(&filler::bytes(dwords)),
        None => "x".repeat(8 * dwords.len()),
    }
}

/// A client's address in a space of the focused lane, or of a lane: docs/protocol.md.
fn address(tag: u64, ordinal: usize, lane: u64, offset: u64) -> u64 {
    tag << 56 | (ordinal as u64 + 1) << 39 | lane << 32 | offset
}

fn check(plan: &Plan) {
    let folder = tempfile::tempdir().unwrap();
    let (_, opened) = compare::written(folder.path(), plan);
    let model = model::of(plan);
    let kind = format!("{}:wave{}", model.waves[0].gpu, model.waves[0].lanes);
    let session = Session::new(Arc::clone(&opened.dump), Some(&kind)).unwrap();
    let described = session.described();
    let names: Vec<String> =
        described.iter().map(|id| session.kind().registers()[usize::from(id.0)].name.clone()).collect();
    let mut wire = Wire(Client::new(Box::new(session), ClientOptions::default()));
    for (ordinal, wave) in model.waves.iter().enumerate() {
        let place = format!("{} wave {ordinal}", plan.name);
        assert_eq!(wire.ask(&format!("Hg{:x}", ordinal + 1)), "OK", "{place}");
        // Those of x86-64 come first: 40 of them, with the PC as number 16.
        assert_eq!(wire.ask("p10"), hex(&wave.pc.to_le_bytes()), "{place}: pc");
        let mut asked = 0;
        for (number, name) in names.iter().enumerate() {
            let Some(dwords) = wave.registers.get(name) else { continue };
            if name != "pc" {
                let reply = wire.ask(&format!("p{:x}", 40 + number - before_pc(&names, number)));
                assert_eq!(reply, digits(dwords), "{place}: {name}");
            }
            asked += 1;
        }
        assert_eq!(asked, wave.registers.len(), "{place}: registers that have numbers");
        memory(&mut wire, ordinal, wave, &model.groups[wave.group].lds, &place);
    }
}

/// Whether the PC, number 16, precedes that register in the list.
fn before_pc(names: &[String], number: usize) -> usize {
    usize::from(names[..number].iter().any(|name| name == "pc"))
}

fn memory(wire: &mut Wire, ordinal: usize, wave: &WaveModel, lds: &[u8], place: &str) {
    let mut read = |address: u64, length: usize| wire.ask(&format!("m{address:x},{length:x}"));
    if !lds.is_empty() {
        let length = lds.len().min(0x800);
        assert_eq!(read(address(3, ordinal, 0, 0), length), hex(&lds[..length]), "{place}: LDS");
        let end = lds.len() - 4;
        // The rest is absent: the answer is short.
        assert_eq!(read(address(3, ordinal, 0, end as u64), 64), hex(&lds[end..]), "{place}: LDS's end");
    }
    let Some(private) = &wave.private else {
        assert!(read(address(5, ordinal, 0, 0), 4).starts_with('E'), "{place}: private memory");
        return;
    };
    let end = private.len().min(0x200);
    assert_eq!(read(address(6, ordinal, 0, 3), end - 3), hex(&private[3..end]), "{place}: private_wave");
    for lane in [0, 1, wave.lanes / 2, wave.lanes - 1] {
        let bytes = wave.private_of(lane).unwrap();
        let found = read(address(5, ordinal, u64::from(lane), 0), bytes.len());
        assert_eq!(found, hex(&bytes), "{place}: private_lane of lane {lane}");
        let end = bytes.len().min(7);
        let odd = read(address(5, ordinal, u64::from(lane), 1), end - 1);
        assert_eq!(odd, hex(&bytes[1..end]), "{place}: private_lane of lane {lane}, not aligned");
    }
}

#[test]
fn registers_and_memory_go_over_the_wire() {
    for (name, lanes, seed) in [
        ("gfx90a", 64, 301),
        ("gfx942", 64, 302),
        ("gfx908", 64, 303),
        ("gfx1030", 64, 304),
        ("gfx1100", 32, 305),
        ("gfx1201", 32, 306),
    ] {
        check(&matrix::plan(gpu::named(name), lanes, seed));
    }
}
