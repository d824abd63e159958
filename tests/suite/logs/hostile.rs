//! Hostile texts: bounded memory and time, problems, no panic.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use lanescope::arch::Targets;
use lanescope::capture::{Capture, MemoryMap};
use lanescope::import::{self, Opened, Options};

use super::model::{GFX90A, GFX1200, Gpu, Wave, seed};
use super::writer::{self, Form};
use super::{folder, model};

fn options(target: &str) -> Options {
    Options { target: Some(target.to_owned()), ..Options::default() }
}

fn open(text: Vec<u8>) -> Option<Opened> {
    import::open_bytes("text", text, &Targets::builtin()).ok()
}

fn problems_text(opened: &Opened) -> String {
    opened.problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// Reads all data of a capture.
fn read_all(capture: &Capture) {
    let mut buffer = [0; 256];
    let mut read = |map: &MemoryMap| {
        for segment in map.segments() {
            assert!(capture.read(map, segment.address, &mut buffer).unwrap() > 0);
        }
    };
    for wave in &capture.waves {
        assert!(wave.agent < capture.agents.len());
        assert!(wave.workgroup.is_none_or(|group| group < capture.workgroups.len()));
        for (_, block) in &wave.registers.own {
            for id in block.first.0..block.first.0 + block.count {
                capture.register(wave, lanescope::arch::RegId(id)).unwrap();
            }
        }
    }
    capture.workgroups.iter().for_each(|group| read(&group.lds));
    read(&capture.global);
}

#[test]
fn a_line_of_a_hundred_megabytes_costs_no_memory() {
    let path = folder("long-line").join("log");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let part = [b'x'; 1 << 20];
    (0..100).for_each(|_| file.write_all(&part).unwrap());
    let wave = Wave::some(GFX90A, 1);
    file.write_all(format!("\n{}", writer::agent(&wave, Form::Plain, None)).as_bytes()).unwrap();
    file.flush().unwrap();
    drop(file);
    let opened = import::open(&path, &Targets::builtin(), &options("gfx90a")).unwrap();
    assert_eq!(opened.capture.waves.len(), 1);
    assert!(problems_text(&opened).contains("line 1: the line is too long"), "{}", problems_text(&opened));
}

#[test]
fn more_waves_than_can_be_served_are_left_out() {
    let mut text = String::new();
    for id in 0..131_080 {
        writeln!(text, "wave_{id}: pc=0x{id:x} (running)\ns0: 00000001").unwrap();
    }
    let opened = open(text.into_bytes()).unwrap();
    assert_eq!(opened.capture.waves.len(), 131_071);
    assert!(problems_text(&opened).contains("more waves than can be served"), "{}", problems_text(&opened));
    let mut text = String::new();
    for id in 0..131_080 {
        writeln!(text, "se{id}.sa0.wgp0.simd0.wave0\nMain Registers:\nixSQ_WAVE_IB_STS2: 00000000 |")
            .unwrap();
    }
    let opened = open(text.into_bytes()).unwrap();
    assert_eq!(opened.capture.waves.len(), 131_071);
    assert!(problems_text(&opened).contains("more waves than can be served"), "{}", problems_text(&opened));
}

/// Every wave claims the same position in the same work-group, with the same LDS.
#[test]
fn waves_that_claim_one_place_are_all_there() {
    let wave = Wave::new(Gpu { sgprs: 1, vgprs: 0, agprs: 0, ..GFX90A }, 1);
    let mut text = String::new();
    for id in 0..20_000 {
        let wave = Wave { id, lds: wave.lds[..8].to_vec(), ..wave.clone() };
        text.push_str(&writer::agent(&[wave], Form::Plain, None));
    }
    let opened = open(text.into_bytes()).unwrap();
    assert_eq!((opened.capture.waves.len(), opened.capture.workgroups.len()), (20_000, 20_000));
    assert!(
        problems_text(&opened).contains("19999 waves share their places with other waves"),
        "{}",
        problems_text(&opened)
    );
}

/// Impossible numbers: lanes, registers, addresses, ids.
#[test]
fn huge_numbers_are_problems() {
    let text = "wave_99999999999999999999: pc=0x1 (running)\n\
        wave_9999999999: pc=0xffffffffffffffff (kernel_code_entry=0xffffffffffffffff <f>, kernargs=0xffffffffffffffff) (running)\n\
        v0: [18446744073709551616] 00000000\nv1: [64] 00000001 [63] 00000002\nv99999999999: [0] 00000001\n\
        s4294967296: 00000001\nLocal memory content (99999999999999999999 bytes):\n\
            0xfffffffffffffffc: 00000001 00000002\n    0xffffffffffffffffff: 00000001\n    0xfffffff0: 00000007\n\
        Global memory (kernarg segment, 8 bytes):\n    0xfffffffffffffffc:          00000001\n\
        Disassembly:\ncode object: file:///a\nloaded at: [0xffffffffffffffff-0x0]\nEnd of disassembly.\n\
        3 wavefront(s) found in @PC: 0xffffffffffffffff\nLane 0xffffffffffffffff\nv0: 0x00000001\nLane 0x3f\nv511: 0x00000001 v512: 0x1\n";
    let opened = open(text.as_bytes().to_vec()).unwrap();
    read_all(&opened.capture);
    let said = problems_text(&opened);
    for wanted in ["lane 64 is ignored", "wave_9999999999 is shown as wave 1", "2 more waves stopped here"] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let v1 = opened.capture.waves[0].kind.named("v1").unwrap().id;
    let value = opened.capture.register(&opened.capture.waves[0], v1).unwrap();
    assert_eq!((value.known(), value.dword(63)), (1 << 63, Some(2)));
}

#[test]
fn names_registers_and_code_objects_are_bounded() {
    let mut text = String::from("wave_1: pc=0x10 (running)\n");
    for at in 0..5000 {
        writeln!(text, "name{at}: 00000001").unwrap();
    }
    for at in 0..5000 {
        writeln!(text, "code object: file:///nowhere/{at}\nloaded at: [0x{at}000-0x{at}100]").unwrap();
    }
    let opened = open(text.into_bytes()).unwrap();
    assert_eq!(opened.capture.code_objects.len(), 4096);
    let last = opened.problems.last().unwrap().what.clone();
    assert!(last.contains("more problems, not listed"), "{last}");
    let text = "1 wavefront(s) found in @PC: 0x10\nLane 0x3f\nv511: 0x00000007 v512: 0x00000008\nLane 0x40\nv0: 0x00000001\n";
    let opened = open(text.as_bytes().to_vec()).unwrap();
    let words = problems_text(&opened);
    assert!(
        words.contains("v512 of lane 63 is ignored") && words.contains("v0 of lane 64 is ignored"),
        "{words}"
    );
    let text = "wave_1: pc=0x10 (running)\n".to_owned() + &"s0: 00000001\n".repeat(2100);
    let said = problems_text(&open(text.into_bytes()).unwrap());
    assert!(said.contains("not all of the wave's registers are kept"), "{said}");
}

/// Texts with bytes changed, lines moved, parts removed or repeated.
#[test]
fn damaged_texts_open_or_are_refused() {
    let mut texts: Vec<String> = [Form::Old, Form::Plain, Form::Entry, Form::Kernargs]
        .into_iter()
        .flat_map(|form| {
            [GFX90A, GFX1200].map(|gpu| writer::agent(&Wave::some(Gpu { sgprs: 6, ..gpu }, 2), form, None))
        })
        .collect();
    for name in ["agent-plain.log", "umr-columns.txt", "umr-hardware.txt"] {
        let path = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/logs/").to_owned() + name;
        texts.push(std::fs::read_to_string(path).unwrap());
    }
    let mut opened = 0;
    for (which, text) in texts.iter().enumerate() {
        for round in 0..150u64 {
            let random = |what: &str, most: usize| {
                (model::seed(&format!("{which} {round} {what}")) % most.max(1) as u64) as usize
            };
            let mut bytes = text.clone().into_bytes();
            for change in 0..1 + round % 7 {
                let at = random(&format!("{change} at"), bytes.len());
                let length = random(&format!("{change} length"), 200).min(bytes.len() - at);
                match random(&format!("{change} kind"), 4) {
                    0 => bytes[at] = seed(&format!("{which} {round} {change} byte")) as u8,
                    1 => drop(bytes.drain(at..at + length)),
                    2 => {
                        let part = bytes[at..at + length].to_vec();
                        let to = random(&format!("{change} to"), bytes.len());
                        bytes.splice(to..to, part);
                    }
                    _ => bytes[at] = b"0x[]:{}<>\n\x1b "[random(&format!("{change} mark"), 12)],
                }
            }
            if let Some(one) = open(bytes) {
                opened += 1;
                read_all(&one.capture);
            }
        }
    }
    assert!(opened > 1000, "{opened}");
}
