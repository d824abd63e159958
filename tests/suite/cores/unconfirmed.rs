//! Single damaged words in the save areas of the samples: restored values, marks, and the output with the marks.

use std::sync::Arc;

use serde_json::{Value, json};

use lanescope::arch::Targets;
use lanescope::import;
use lanescope::questions::{Arguments, QUESTIONS, Question};
use lanescope::server::{Client, ClientOptions, Facade};
use lanescope::session::{Dump, Session};

use super::changed::{opened, reported, sample};
use super::reasons::{pcs, put, run};
use super::{SAMPLES, core, expected, export};
use crate::fixtures::one_line;
use crate::slim::{Scratch, slim};
use crate::support::{least, sample::sampled};

pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Offsets in the file of the headers of all save areas with waves.
pub(super) fn headers(bytes: &[u8], expected: &Value) -> Vec<usize> {
    let segments = expected["segments"].as_array().unwrap().iter();
    let areas = segments.filter(|segment| segment["name"].as_str().unwrap().starts_with("cwsr"));
    let offsets = areas.map(|segment| segment["off"].as_u64().unwrap() as usize);
    offsets.filter(|at| word(bytes, at + 4) != 0).collect()
}

/// Offset of a wave's record: searches the control stack of the first area for the word of the sample's writer.
pub(super) fn record(bytes: &[u8], expected: &Value, wave: usize) -> usize {
    let wanted = expected["waves"][wave]["writer"]["control_stack_word"].as_u64().unwrap();
    let area = headers(bytes, expected)[0];
    let (stack, size) = (word(bytes, area) as usize, word(bytes, area + 4) as usize);
    let mut found =
        (area + stack..area + stack + size).step_by(4).filter(|at| u64::from(word(bytes, *at)) == wanted);
    let at = found.next().unwrap();
    assert_eq!(found.next(), None);
    at
}

fn marks(export: &Value) -> Vec<Option<&str>> {
    export["waves"].as_array().unwrap().iter().map(|wave| wave["unconfirmed"].as_str()).collect()
}

/// Waves, registers, work-groups and private memory of two exports.
fn is_same(one: &Value, other: &Value) -> bool {
    one["waves"] == other["waves"] && one["workgroups"] == other["workgroups"]
}

/// The four words of a header that locate control stack and waves: each follows from the others.
#[test]
fn each_word_of_a_header_is_restored_from_the_others() {
    let mut restored = 0;
    for name in SAMPLES {
        let (bytes, _) = sample(name);
        let expected = expected(name);
        let whole = opened(&bytes);
        assert!(marks(&whole).iter().all(Option::is_none), "{name}: {:?}", marks(&whole));
        for area in headers(&bytes, &expected) {
            let damages = (0..4).map(|number| area + 4 * number).flat_map(|at| {
                let value = word(&bytes, at);
                [0, 4, value + 4, value - 4, !value, 0x7fff_ffff, 0xffff_fffc, 0xffff_ffff]
                    .map(|wrong| (at, wrong))
            });
            for (at, damaged) in sampled(damages, 5) {
                let mut bytes = bytes.clone();
                put(&mut bytes, at, damaged);
                let ours = opened(&bytes);
                let place = format!("{name} + {at:#x}: {damaged:#x}");
                assert!(is_same(&ours, &whole), "{place}: {}", ours["problems"]);
                assert_eq!(
                    reported(&ours, "is restored from the control stack").len(),
                    1,
                    "{place}: {}",
                    ours["problems"]
                );
                restored += 1;
            }
        }
    }
    assert!(restored > least(150, 40), "{restored}");
}

/// A header without a consistent reading has no waves.
#[test]
fn a_header_with_two_damaged_words_makes_no_waves() {
    let (bytes, _) = sample("gfx90a-split");
    let area = headers(&bytes, &expected("gfx90a-split"))[0];
    let mut damaged = bytes.clone();
    put(&mut damaged, area + 4, 0x7fff_fffc);
    put(&mut damaged, area + 8, word(&bytes, area + 8) + 4);
    let ours = opened(&damaged);
    let lost = opened(&bytes)["waves"].as_array().unwrap().len() - ours["waves"].as_array().unwrap().len();
    assert!(lost > 0);
    assert_eq!(
        reported(&ours, "no reading of it with a PC in captured memory fits").len(),
        1,
        "{}",
        ours["problems"]
    );
}

/// Without its first flag a wave's LDS is missing from the sum of all blocks: setting the flag closes the area again.
#[test]
fn a_cleared_first_flag_costs_no_lds_and_no_coordinates() {
    for (name, wave, flag) in
        [("gfx90a-unified", 4, 1u32 << 17), ("gfx90a-unified", 0, 1 << 17), ("gfx1100", 4, 1 << 12)]
    {
        let (mut bytes, _) = sample(name);
        let expected = expected(name);
        let whole = opened(&bytes);
        let at = record(&bytes, &expected, wave);
        let value = word(&bytes, at);
        assert_ne!(value & flag, 0);
        put(&mut bytes, at, value & !flag);
        let ours = opened(&bytes);
        assert_eq!(ours["workgroups"], whole["workgroups"], "{name} {wave}");
        assert_eq!(pcs(&ours["waves"]), pcs(&whole["waves"]), "{name} {wave}");
        let marked: Vec<usize> =
            (0..).zip(marks(&ours)).filter_map(|(index, mark)| mark.map(|_| index)).collect();
        assert_eq!(marked, [wave], "{name}: {:?}", marks(&ours));
    }
}

/// The slot of one wave, changed to that of another: both have the mark.
fn with_one_slot() -> (Vec<u8>, Value) {
    let (mut bytes, _) = sample("gfx90a-unified");
    let expected = expected("gfx90a-unified");
    let at = record(&bytes, &expected, 1);
    let value = word(&bytes, at);
    put(&mut bytes, at, value | 1);
    (bytes, expected)
}

const SAME_SLOT: &str = "another wave has its slot of scratch memory";

#[test]
fn waves_with_one_slot_are_marked() {
    let (bytes, expected) = with_one_slot();
    let ours = opened(&bytes);
    let count = expected["waves"].as_array().unwrap().len();
    let wanted: Vec<Option<&str>> =
        (0..count).map(|index| [0, 1].contains(&index).then_some(SAME_SLOT)).collect();
    assert_eq!(marks(&ours), wanted);
    assert_eq!(reported(&ours, "share a slot of scratch memory").len(), 1, "{}", ours["problems"]);
}

/// The position of one work-group, changed to that of another of its dispatch: which one is correct is unknown.
#[test]
fn work_groups_with_one_position_are_marked() {
    let name = "gfx942-multi-xcc";
    let (mut bytes, at) = sample(name);
    let expected = expected(name);
    let waves = expected["waves"].as_array().unwrap();
    let (first, other) = (&waves[0], &waves[4]);
    assert_eq!(
        (&first["queue_id"], &first["packet_id"], &first["coord"][1], &first["coord"][2]),
        (&other["queue_id"], &other["packet_id"], &other["coord"][1], &other["coord"][2])
    );
    // TTMP8 to TTMP11 are adjacent.
    let temporaries = |wave: &Value, first: u32| -> Vec<u32> {
        let word = |register: u32| wave["registers"][format!("ttmp{register}")].as_str().unwrap();
        let number = |register| u32::from_str_radix(word(register), 16).unwrap().swap_bytes();
        (first..=11).map(number).collect()
    };
    let block = other["writer"]["block"].as_array().unwrap();
    let mut places = (block[0].as_u64().unwrap()..block[1].as_u64().unwrap()).step_by(4).map(at);
    let wanted = temporaries(other, 8);
    let holds =
        |at: &usize| (0..).zip(&wanted).all(|(number, value)| word(&bytes, at + 4 * number) == *value);
    let place = places.find(holds).unwrap();
    put(&mut bytes, place, temporaries(first, 8)[0]);
    let ours = opened(&bytes);
    let position = |index: usize| waves[index]["coord"] == first["coord"] || index == 4;
    let wanted: Vec<Option<&str>> = (0..waves.len())
        .map(|index| position(index).then_some("another work-group of its dispatch has its position"))
        .collect();
    assert_eq!(marks(&ours), wanted);
    assert_eq!(reported(&ours, "with the same position in one dispatch").len(), 1, "{}", ours["problems"]);
}

/// An impossible PC: TTMP7 of a parked wave, or its hardware register.
#[test]
fn a_misaligned_pc_is_marked() {
    for name in SAMPLES {
        let (bytes, at) = sample(name);
        let whole = opened(&bytes);
        let first = &expected(name)["waves"][0];
        let block = first["writer"]["block"].as_array().unwrap();
        let (bottom, top) = (block[0].as_u64().unwrap(), block[1].as_u64().unwrap());
        let pc = first["pc"].as_u64().unwrap() as u32;
        let mut words = (bottom..top).step_by(4).map(&at).filter(|at| word(&bytes, *at) == pc);
        let mut damaged = bytes.clone();
        put(&mut damaged, words.next().unwrap(), pc + 2);
        let ours = opened(&damaged);
        let marks = marks(&ours);
        assert!(marks[0].is_some_and(|mark| mark.contains("its PC is not")), "{name}: {marks:?}");
        assert!(marks[1..].iter().all(Option::is_none), "{name}: {marks:?}");
        assert_eq!(ours["waves"][1], whole["waves"][1], "{name}");
        assert_eq!(reported(&ours, "is not aligned").len(), 1, "{name}: {}", ours["problems"]);
    }
}

/// A position beyond the work-group is printed with a mark.
#[test]
fn a_place_beyond_the_work_group_is_shown_and_marked() {
    let (bytes, at) = sample("gfx90a-unified");
    let expected = expected("gfx90a-unified");
    let block = expected["waves"][0]["writer"]["block"].as_array().unwrap();
    // From the top: 64 bytes of gap are the writer's, then LDS, then trap temporaries; TTMP11[5:0] is the wave's
    // number.
    let ttmp11 = expected["waves"][0]["registers"]["ttmp11"].as_str().unwrap();
    let bytes_of = |text: &str| u32::from_str_radix(text, 16).unwrap().swap_bytes();
    let value = bytes_of(ttmp11);
    let (bottom, top) = (block[0].as_u64().unwrap(), block[1].as_u64().unwrap());
    let mut words = (bottom..top).step_by(4).map(at).filter(|at| word(&bytes, *at) == value);
    let mut damaged = bytes.clone();
    put(&mut damaged, words.next().unwrap(), value | 0x3f);
    let ours = opened(&damaged);
    assert_eq!(ours["waves"][0]["wave_in_group"], json!(63));
    assert!(
        marks(&ours)[0].is_some_and(|mark| mark.contains("outside of its work-group")),
        "{:?}",
        marks(&ours)
    );
}

/// Opens changed bytes as a gdb client.
fn client(bytes: Vec<u8>) -> Client {
    let opened = import::open_bytes("sample", bytes, &Targets::builtin()).unwrap();
    let session = Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None).unwrap();
    Client::new(Box::new(session), ClientOptions { facade: Some(Facade::Gdb), views: None, threads: None })
}

fn ask(client: &mut Client, packet: &str) -> String {
    String::from_utf8_lossy(&crate::view::ask(client, packet.as_bytes())).into_owned()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Text of a monitor command, without its line breaks.
fn monitor(client: &mut Client, command: &str) -> String {
    let answer = ask(client, &format!("qRcmd,{}", hex(command)));
    let packets = answer.split('$').filter_map(|packet| packet.split('#').next()?.strip_prefix('O'));
    let digits: String = packets.filter(|hex| *hex != "K").collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = digits.as_bytes().chunks(2).map(byte).collect();
    one_line(&String::from_utf8(bytes).unwrap())
}

/// Asks each question of the table about wave 1, as text, as JSON and in `monitor`; all answers contain `words`.
pub(super) fn is_wherever_the_wave_is(bytes: &[u8], words: &str) {
    let mut served = client(bytes.to_vec());
    let mut asked = Vec::new();
    let questions = QUESTIONS.iter().filter(|question| question.is_about_wave(&Arguments::default()));
    for Question { name, .. } in questions {
        let (arguments, line): (&[&str], &str) = match *name {
            "memory" => (&["--at", "private_lane#0", "--length", "4"], "memory private_lane 0 4"),
            "eval" => (&["DW_OP_lit1; DW_OP_stack_value"], "eval DW_OP_lit1; DW_OP_stack_value"),
            "print" => (&["$s0"], "print $s0"),
            "explain" => (&["$s0"], "explain $s0"),
            name => (&[], name),
        };
        for form in [&[][..], &["--json"]] {
            let arguments = [&["--wave", "1"], arguments, form].concat();
            let (_, out, err) = run(bytes, name, &arguments);
            // Text is folded.
            let line = one_line(&out);
            assert!(line.contains(words), "{name} {arguments:?}: {out}\n{err}");
        }
        let answer = monitor(&mut served, line);
        assert!(answer.contains(words), "monitor {line}: {answer}");
        asked.push(*name);
    }
    for name in ["arguments", "lanes", "registers", "memory", "locals", "backtrace", "print", "disassemble"] {
        assert!(asked.contains(&name), "{asked:?}");
    }
    let answer = monitor(&mut served, "wave");
    assert!(answer.contains(words), "monitor wave: {answer}");
}

/// The mark in all output about a wave: commands as text and JSON, monitor commands, names of threads, packets.
#[test]
fn the_mark_is_wherever_the_wave_is() {
    let (bytes, _) = with_one_slot();
    is_wherever_the_wave_is(&bytes, SAME_SLOT);
    for command in ["waves", "info", "export", "groups"] {
        for form in [&[][..], &["--json"]] {
            let (_, out, err) = run(&bytes, command, if command == "export" { &["--json"] } else { form });
            assert!(one_line(&out).contains(SAME_SLOT), "{command} {form:?}: {out}\n{err}");
        }
    }
    let mut client = client(bytes);
    assert!(ask(&mut client, "qXfer:threads:read::0,ffff").contains("(unconfirmed)"));
    assert!(ask(&mut client, "qThreadExtraInfo,1").contains(&hex("unconfirmed")));
    for command in ["waves", "groups", "notices"] {
        let answer = monitor(&mut client, command);
        assert!(answer.contains("unconfirmed"), "monitor {command}: {answer}");
    }
    for packet in [
        "qlanescope.Waves",
        "qlanescope.Lanes:thread:1;",
        "qlanescope.Frames:thread:1;",
        "qlanescope.Locals:thread:1;",
    ] {
        assert!(ask(&mut client, packet).contains(SAME_SLOT), "{packet}");
    }
}

/// A dump that `slim` writes has the marks of its core.
#[test]
fn a_slim_dump_keeps_the_marks() {
    let (bytes, _) = with_one_slot();
    let whole = opened(&bytes);
    let scratch = Scratch::new("unconfirmed-slim");
    let (core, dump) = (scratch.path("core"), scratch.path("dump.zip"));
    std::fs::write(&core, &bytes).unwrap();
    slim(&core, &dump, &["--all-waves"]);
    let kept = export(&[dump.to_str().unwrap()]);
    assert_eq!(marks(&kept), marks(&whole));
    assert_eq!(marks(&kept).iter().filter(|mark| **mark == Some(SAME_SLOT)).count(), 2);
    let unchecked = |export: &Value| {
        let waves = export["waves"].as_array().unwrap().iter();
        waves.map(|wave| wave["unchecked"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(unchecked(&kept), unchecked(&whole));
}

/// `diff` prints the reason of each dump.
#[test]
fn a_difference_of_an_unconfirmed_wave_has_the_reason() {
    let name = "gfx90a-unified";
    let damaged = with_pc(name, 2, 0x1234_5678_9000, |_| ());
    let scratch = Scratch::new("unconfirmed-diff");
    let changed = scratch.path("core");
    std::fs::write(&changed, damaged).unwrap();
    let whole = core(name);
    let files = [whole.to_str().unwrap(), changed.to_str().unwrap()];
    let diff = |more: &[&str]| {
        let mut command = crate::support::lanescope();
        let output = command.arg("diff").args(files).args(more).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let pair = ["--wave", "3:3"];
    let text = one_line(&diff(&pair));
    assert!(text.contains(&format!("unconfirmed in the second dump: {NO_CODE}")), "{text}");
    let json: Value = serde_json::from_str(&diff(&[&pair[..], &["--json"]].concat())).unwrap();
    assert_eq!(json["pairs"][0]["unconfirmed"], json!([null, NO_CODE]), "{json}");
}

const NO_CODE: &str = "its PC is not the address of an instruction in captured memory";

/// A sample with another PC of a wave, and other changes.
fn with_pc(name: &str, wave: usize, pc: u64, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let (mut bytes, at) = sample(name);
    let wave = &expected(name)["waves"][wave];
    let block = wave["writer"]["block"].as_array().unwrap();
    let (bottom, top) = (block[0].as_u64().unwrap(), block[1].as_u64().unwrap());
    let old = wave["pc"].as_u64().unwrap().to_le_bytes();
    let mut places = (bottom..top).step_by(4).map(at).filter(|at| bytes[*at..*at + 8] == old);
    let place = places.next().unwrap();
    assert_eq!(places.next(), None);
    bytes[place..place + 8].copy_from_slice(&pc.to_le_bytes());
    change(&mut bytes);
    bytes
}

/// A PC outside of code: unmapped, in scratch memory, in a save area, in a ring, in a kernel's arguments.
#[test]
fn a_pc_outside_of_code_is_marked() {
    let mut cases = Vec::new();
    for (name, wave) in [("gfx90a-split", 2), ("gfx1100", 2), ("gfx942-multi-xcc", 0)] {
        // Writers without rights in p_flags: nothing is executable, or everything is.
        for flags in [None, Some(3), Some(7)] {
            for pc in
                [0x1234_5678_9000, 0x7f40_0000_0040, 0x7f30_0000_0040, 0x7f20_0000_0040, 0x7f60_0000_0040u64]
            {
                cases.push((name, wave, flags, pc));
            }
        }
    }
    // With five PCs and three kinds of rights, a fourth of the cases has each of them.
    for (name, wave, flags, pc) in sampled(cases, 4) {
        let expected = expected(name);
        let mut segments = expected["segments"].as_array().unwrap().iter();
        let area = segments.find(|one| one["name"].as_str().unwrap().starts_with("cwsr")).unwrap();
        assert_eq!(area["va"], json!(0x7f30_0000_0000u64), "{name}");
        let change = |bytes: &mut Vec<u8>| {
            let count = usize::from(u16::from_le_bytes([bytes[56], bytes[57]]));
            let headers = (0..count).map(|index| 64 + 56 * index);
            let loads: Vec<usize> = headers.filter(|at| word(bytes, *at) == 1).collect();
            for at in loads {
                let rights = flags.unwrap_or(word(bytes, at + 4));
                put(bytes, at + 4, rights);
            }
        };
        let ours = opened(&with_pc(name, wave, pc, change));
        let place = format!("{name}, flags {flags:?}, PC {pc:#x}");
        // Only rights distinguish other data from code.
        let is_known = flags.is_none() || pc != 0x7f60_0000_0040;
        let marks = marks(&ours);
        for (index, mark) in marks.iter().enumerate() {
            let wanted = (index == wave && is_known).then_some(NO_CODE);
            assert_eq!(*mark, wanted, "{place}: {marks:?}");
        }
        assert_eq!(ours["waves"][wave]["pc"], json!(pc), "{place}");
        assert_eq!(marks.len(), expected["waves"].as_array().unwrap().len(), "{place}");
    }
}

/// A damaged size that makes a ring cover all memory marks no wave.
#[test]
fn a_ring_that_claims_the_code_marks_no_wave() {
    for name in SAMPLES {
        let (mut bytes, _) = sample(name);
        let descriptor = bytes.windows(8).position(|window| window == b"AMDGPU\0\0").unwrap() + 8;
        let length = word(&bytes, descriptor - 16) as usize;
        let (count, entry) = (word(&bytes, descriptor + 32) as usize, word(&bytes, descriptor + 36) as usize);
        // kfd_queue_snapshot_entry: ring_base_address at 8, ring_size at 48.
        for queue in (0..count).map(|index| descriptor + length - (count - index) * entry) {
            bytes[queue + 8..queue + 16].copy_from_slice(&0x7f0f_f000_0000u64.to_le_bytes());
            put(&mut bytes, queue + 48, 0xffff_ffff);
        }
        let ours = opened(&bytes);
        assert!(!ours["waves"].as_array().unwrap().is_empty(), "{name}");
        let wrong = marks(&ours).into_iter().flatten().any(|mark| mark.contains(NO_CODE));
        assert!(!wrong, "{name}: {:?}", marks(&ours));
    }
}
