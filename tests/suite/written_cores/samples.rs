//! The writer is given what the sample cores' expected files say of each wave, as AMD's library read it, and has to write
//! the bytes that are in the samples: blocks of waves, words of control stacks, scratch, packets. What the writer leaves to
//! noise is left out of the comparison.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::core_writer::area::{self, plain};
use crate::core_writer::gpu::{Bits, Counts, Slot, named};
use crate::core_writer::plan::{
    AQL, Agent, Cause, Dispatch, FilePlan, Group, Layout, NotePlace, Plan, Process, Queue, Raised, Scratch,
    Stop, Wave,
};
use crate::core_writer::queue;
use crate::core_writer::words::{self, Of};
use crate::fixtures::fixtures;

/// Names, seeds of the filler and scratch (waves and bytes of one) as the samples' description gives them; engines.
const SAMPLES: [(&str, u32, u32, u32, u32); 5] = [
    ("gfx90a-split", 7, 16, 4096, 8),
    ("gfx90a-unified", 8, 16, 4096, 8),
    ("gfx1030-wave32", 9, 16, 2048, 4),
    ("gfx1100", 10, 4, 2560, 6),
    ("gfx942-multi-xcc", 11, 16, 4096, 4),
];

struct Sample {
    name: &'static str,
    bytes: Vec<u8>,
    expected: Value,
    plan: Plan,
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn small(value: &Value) -> u32 {
    u32::try_from(number(value)).unwrap()
}

/// Bytes as the expected files write them; null: none.
fn hex(text: &Value) -> Vec<u8> {
    let text = if text.is_null() { "" } else { text.as_str().unwrap() };
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn dword(wave: &Value, register: &str) -> u32 {
    u32::from_le_bytes(hex(&wave["registers"][register]).try_into().unwrap())
}

impl Sample {
    /// The plan that the expected file describes.
    fn open((name, seed, waves, wave_bytes, engines): (&'static str, u32, u32, u32, u32)) -> Self {
        let folder = fixtures().join("gpucore");
        let bytes = fs::read(folder.join(format!("{name}.core"))).unwrap();
        let text = fs::read(folder.join(format!("{name}.expected.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&text).unwrap();
        let all = expected["waves"].as_array().unwrap();
        let gpu = named(expected["agents"][0]["architecture"].as_str().unwrap());
        let xccs = 1 + all.iter().map(|wave| small(&wave["writer"]["xcc"])).max().unwrap();
        let agent = Agent {
            id: small(&expected["agents"][0]["gpu_id"]),
            gpu,
            xccs,
            engines,
            arrays_per_engine: 1,
            always_valid: false,
            apertures: [1 << 48, 2 << 48],
        };
        let scratch = Scratch { waves, wave_bytes, slack: 0 };
        let queues = expected["queues"].as_array().unwrap().iter();
        let queues = queues.map(|queue| {
            let name = format!("scratch{}", queue["queue_id"]);
            let has = expected["segments"].as_array().unwrap().iter().any(|segment| segment["name"] == name);
            queue_of(queue, &expected, xccs, has.then_some(scratch))
        });
        let queues = queues.collect();
        let process = Process {
            r_version: small(&expected["r_version"]),
            ttmp_setup: true,
            kfd: (1, 16),
            note_version: Some(1),
            runtime_entry: 16,
            agent_entry: 120,
            queue_entry: 64,
        };
        let file = FilePlan {
            layout: Layout::Split,
            rocr_headers: true,
            host_notes: NotePlace::Alone,
            zero_headers: 0,
            cut_every: None,
            host_views: false,
        };
        let plan = Plan { name: name.to_owned(), seed, process, agents: vec![agent], queues, file };
        Self { name, bytes, expected, plan }
    }

    /// The bytes at an address.
    fn at(&self, address: u64, length: u64) -> &[u8] {
        for segment in self.expected["segments"].as_array().unwrap() {
            let (first, size) = (number(&segment["va"]), number(&segment["filesz"]));
            if address >= first && address + length <= first + size {
                let offset = (number(&segment["off"]) + address - first) as usize;
                return &self.bytes[offset..offset + length as usize];
            }
        }
        panic!("{}: nothing at {address:#x}", self.name)
    }

    fn words(&self, address: u64, count: u64) -> Vec<u32> {
        let bytes = self.at(address, 4 * count).chunks_exact(4);
        bytes.map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn long(&self, address: u64) -> u64 {
        u64::from_le_bytes(self.at(address, 8).try_into().unwrap())
    }

    fn segment(&self, name: &str) -> u64 {
        let segments = self.expected["segments"].as_array().unwrap();
        number(&segments.iter().find(|segment| segment["name"] == name).unwrap()["va"])
    }

    /// Every wave with its expected values, and the index of the work-group that it opens.
    fn each_wave(&self, mut check: impl FnMut(Of<'_>, Option<u32>, bool, &Value)) {
        let expected = self.expected["waves"].as_array().unwrap();
        let mut count = 0;
        for (of, opens, last) in crate::core_writer::core::ordered(&self.plan).into_iter().flatten().flatten()
        {
            check(of, opens, last, &expected[count]);
            count += 1;
        }
        assert_eq!(count, expected.len());
    }
}

fn queue_of(queue: &Value, expected: &Value, xccs: u32, scratch: Option<Scratch>) -> Queue {
    let id = small(&queue["queue_id"]);
    let dispatches = expected["dispatches"].as_array().unwrap().iter();
    let dispatches = dispatches.filter(|dispatch| dispatch["queue_id"] == id).map(|dispatch| {
        let sizes = |key: &str, axis: usize| small(&dispatch[key][axis]);
        Dispatch {
            id: number(&dispatch["packet_id"]),
            dimensions: small(&dispatch["grid_dimensions"]) as u16,
            workgroup: [0, 1, 2].map(|axis| sizes("workgroup_sizes", axis) as u16),
            grid: [0, 1, 2].map(|axis| sizes("grid_sizes", axis)),
            private_bytes: small(&dispatch["private_segment_size"]),
            group_bytes: small(&dispatch["group_segment_size"]),
            invalidated: false,
        }
    });
    let mut by_xcc = vec![Vec::<(usize, Group)>::new(); xccs as usize];
    for wave in expected["waves"].as_array().unwrap().iter().filter(|wave| wave["queue_id"] == id) {
        let groups = &mut by_xcc[small(&wave["writer"]["xcc"]) as usize];
        let index = number(&wave["workgroup"]) as usize;
        if groups.last().is_none_or(|(last, _)| *last != index) {
            let local = hex(&expected["workgroups"][index]["local"]);
            let position = [0, 1, 2].map(|axis| small(&wave["coord"][axis]));
            let dispatch = number(&wave["packet_id"]);
            let lds = local.len() as u32;
            groups.push((index, Group { dispatch, position, lds, takeover: false, waves: Vec::new() }));
        }
        groups.last_mut().unwrap().1.waves.push(wave_of(wave));
    }
    Queue {
        id,
        id_marks: 0,
        agent: 0,
        kind: AQL,
        packets: small(&queue["size"]) / 64,
        read: number(&queue["read_packet"]),
        write: number(&queue["write_packet"]),
        dispatches: dispatches.collect(),
        xccs: by_xcc.into_iter().map(|groups| groups.into_iter().map(|(_, group)| group).collect()).collect(),
        scratch,
    }
}

fn wave_of(wave: &Value) -> Wave {
    let writer = &wave["writer"];
    let count = |name: &str| small(&writer["counts"][name]);
    let counts = Counts {
        lanes: small(&wave["lanes"]),
        vgprs: count("v"),
        accs: count("a"),
        sgprs: count("s"),
        shared: count("shared"),
    };
    let slot = Slot {
        engine: small(&writer["se"]),
        scoreboard: small(&writer["scoreboard"]),
        scratch_enabled: writer["scratch_en"].as_bool().unwrap(),
    };
    let pc = number(&wave["pc"]);
    let status = dword(wave, "status");
    let stop = writer["stopped_in_file"].as_bool().unwrap().then(|| {
        let mut stop = Stop { halted: status & 1 << 13 != 0, ..Stop::default() };
        for reason in wave["stop_reasons"].as_array().unwrap() {
            let cause = match reason.as_str().unwrap() {
                "BREAKPOINT" => Err(1),
                "ASSERT_TRAP" => Err(2),
                "DEBUG_TRAP" => Err(3),
                "MEMORY_VIOLATION" => Ok(Cause::Page),
                "ILLEGAL_INSTRUCTION" => Ok(Cause::Illegal),
                other => panic!("no sample stops by {other}"),
            };
            match cause {
                Ok(cause) => stop.causes.push(Raised { cause, enabled: false }),
                Err(trap) => stop.trap = trap,
            }
        }
        let hardware = number(&writer["hwreg_pc"]);
        stop.parked_at = (hardware != pc).then_some(hardware);
        stop
    });
    Wave {
        in_group: small(&wave["wave_in_group"]),
        slot,
        exec: number(&wave["exec"]),
        halted: stop.is_none() && status & 1 << 13 != 0,
        status: status & !(1 << 13),
        mode: dword(wave, "mode"),
        stop,
        // Stack and frame pointer of the program.
        scalars: [32, 33]
            .into_iter()
            .filter(|slot| *slot < counts.sgprs)
            .filter_map(|slot| {
                Some((
                    slot,
                    wave["registers"].get(format!("s{slot}")).map(|_| dword(wave, &format!("s{slot}")))?,
                ))
            })
            .collect(),
        ..plain(counts, pc)
    }
}

fn samples() -> impl Iterator<Item = Sample> {
    SAMPLES.into_iter().map(Sample::open)
}

/// `found` has the bits of `written` that mean something.
fn has(found: u32, written: Bits) -> bool {
    found & written.mask == written.value & written.mask
}

#[test]
fn blocks_of_the_samples_are_written_byte_for_byte() {
    for sample in samples() {
        let mut checked = 0;
        sample.each_wave(|of, opens, _, expected| {
            let name = format!("{} wave {}", sample.name, of.index);
            // The writer of the samples counts a block with the gap above it; here it is from v0 to the top.
            let first = number(&expected["writer"]["block"][0]);
            let block = area::block(of, opens, true);
            let image = words::words(of);
            let layout = block.layout;
            let vectors = sample.at(first, layout.scalars);
            assert!(vectors == block.vectors, "{name}: vectors");
            let rest = sample.at(first + layout.scalars, layout.size - layout.scalars);
            let scalars = (layout.hardware - layout.scalars) as usize;
            for slot in 0..scalars / 4 {
                let bytes = 4 * slot..4 * slot + 4;
                assert_eq!(rest[bytes.clone()], block.rest[bytes], "{name}: SGPR slot {slot}");
            }
            let stored = sample.words(first + layout.hardware, 32);
            // PRIV of a halted wave is not in the samples.
            for (slot, (found, bits)) in
                stored.iter().zip(image.hardware.iter().chain(&image.traps)).enumerate()
            {
                let mut bits = *bits;
                if slot == 5 {
                    bits.mask &= !(1 << 5);
                }
                let note = if slot < 16 { format!("HWREG {slot}") } else { format!("TTMP{}", slot - 16) };
                assert!(has(*found, bits), "{name}: {note} is {found:#x}, written {bits:x?}");
            }
            let lds = (layout.lds - layout.scalars) as usize;
            assert!(rest[lds..] == block.rest[lds..], "{name}: LDS");
            checked += rest.len() + vectors.len();
        });
        assert!(checked > 10_000, "{}: {checked} bytes", sample.name);
    }
}

/// Each control stack is read by the grammar alone; its words have the fields that the writer gives them.
#[test]
fn control_stacks_of_the_samples_have_the_writer_s_words() {
    for sample in samples() {
        let mut found = BTreeMap::new();
        let family = sample.plan.agents[0].gpu.family;
        let mut ordinal = 0;
        for queue in &sample.plan.queues {
            let base = sample.segment(&format!("cwsr{}", queue.id));
            let size = area_size(&sample, queue.id);
            for xcc in 0..queue.xccs.len() as u64 {
                let header = sample.words(base + xcc * size, 10);
                let (stack, bytes, end, waves) = (header[0], header[1], header[2], header[3]);
                assert_eq!(stack + bytes, end - waves, "{}", sample.name);
                let words = sample.words(base + xcc * size + u64::from(stack), u64::from(bytes / 4));
                let mut at = 2;
                let mut state = 0;
                while at < words.len() {
                    let word = words[at];
                    at += 1;
                    if word & 1 << 30 != 0 {
                        continue;
                    }
                    if word & 1 << 31 != 0 {
                        state = word;
                        at += family.state_words() as usize - 1;
                    } else {
                        found.insert(ordinal, (state, word));
                        ordinal += 1;
                    }
                }
            }
        }
        sample.each_wave(|of, opens, last, expected| {
            let name = format!("{} wave {}", sample.name, of.index);
            let (state, word) = found[&of.index];
            let bits = family.state(of.wave.counts, of.group.lds, false);
            assert!(has(state, bits), "{name}: state {state:#x}, written {bits:x?}");
            let bits = family.wave(of.wave.slot, opens.is_some(), last);
            assert!(has(word, bits), "{name}: wave {word:#x}, written {bits:x?}");
            assert_eq!(u64::from(word), number(&expected["writer"]["control_stack_word"]), "{name}");
        });
    }
}

/// Bytes of a queue's save area on one XCC, out of the note.
fn area_size(sample: &Sample, queue: u32) -> u64 {
    let at = sample.bytes.windows(8).position(|bytes| bytes == b"AMDGPU\0\0").unwrap() + 8;
    let word =
        |offset: usize| u32::from_le_bytes(sample.bytes[at + offset..at + offset + 4].try_into().unwrap());
    let (agents, queues) = (word(24) as usize, word(32) as usize);
    assert_eq!((word(0), word(16), word(28), word(36)), (1, 16, 120, 64), "{}", sample.name);
    let first = 40 + 16 + agents * 120;
    let found = (0..queues).map(|index| first + 64 * index).find(|at| word(at + 40) == queue).unwrap();
    u64::from(word(found + 56))
}

/// Blocks follow each other downwards from the end, with the generation's gap above each.
#[test]
fn blocks_of_the_samples_chain_as_the_writer_s() {
    for sample in samples() {
        for queue in &sample.plan.queues {
            let base = sample.segment(&format!("cwsr{}", queue.id));
            let size = area_size(&sample, queue.id);
            for xcc in 0..queue.xccs.len() as u64 {
                let header = sample.words(base + xcc * size, 10);
                let mut last = base + xcc * size + u64::from(header[2]);
                sample.each_wave(|of, opens, _, expected| {
                    if (of.queue.id, of.xcc as u64) != (queue.id, xcc) {
                        return;
                    }
                    let lds = opens.map_or(0, |_| of.group.lds);
                    last -= of.agent.gpu.family.gap() + area::block_layout(of.wave.counts, lds).size;
                    assert_eq!(
                        last,
                        number(&expected["writer"]["block"][0]),
                        "{} wave {}",
                        sample.name,
                        of.index
                    );
                });
                assert_eq!(last, base + xcc * size + u64::from(header[2] - header[3]), "{}", sample.name);
            }
        }
    }
}

#[test]
fn scratch_of_the_samples_lies_where_the_writer_puts_it() {
    for sample in samples() {
        let mut filler = 0;
        sample.each_wave(|of, _, _, expected| {
            let name = format!("{} wave {}", sample.name, of.index);
            let Some((address, bytes)) = queue::scratch(of) else {
                assert_eq!(expected["writer"]["scratch_bytes"].as_u64().unwrap_or(0), 0, "{name}");
                return;
            };
            let base = sample.segment(&format!("scratch{}", of.queue.id));
            let address = address - queue::scratch_backing(of.queue_index) + base;
            assert_eq!(address, number(&expected["writer"]["scratch_address"]), "{name}");
            assert_eq!(bytes, number(&expected["writer"]["scratch_bytes"]), "{name}");
            // The program's variables are in some of it, the rest is filler.
            let written = queue::scratch_words(sample.plan.seed, of.index, bytes);
            let found = sample.words(address, bytes / 4);
            let lanes = of.wave.counts.lanes as usize;
            for (lane, text) in expected["private_lane"].as_array().unwrap().iter().enumerate() {
                let expected = hex(text);
                for (row, dword) in expected.chunks_exact(4).enumerate() {
                    assert_eq!(
                        found[row * lanes + lane].to_le_bytes(),
                        dword,
                        "{name} lane {lane} row {row}"
                    );
                }
            }
            filler += found.iter().zip(&written).filter(|(a, b)| a == b).count();
        });
        assert!(filler > 1000, "{}: {filler} words are filler", sample.name);
    }
}

#[test]
fn rings_and_queues_of_the_samples_have_the_writer_s_words() {
    for sample in samples() {
        for (index, queue) in sample.plan.queues.iter().enumerate() {
            let name = format!("{} queue {}", sample.name, queue.id);
            let there = sample.segment(&format!("amd_queue{}", queue.id));
            let here = queue::amd_queue_bytes(&sample.plan, index);
            let field = |at: usize| u64::from_le_bytes(here[at..at + 8].try_into().unwrap());
            assert_eq!(sample.long(there + 0x38), field(0x38), "{name}: write");
            assert_eq!(sample.long(there + 0x80), field(0x80), "{name}: read");
            assert_eq!(sample.words(there + 0x18, 1)[0], queue.packets, "{name}: size");
            if queue.xccs.iter().any(|groups| !groups.is_empty()) {
                assert_eq!(sample.words(there + 0x8c, 1)[0], (field(0x88) >> 32) as u32, "{name}: tmpring");
            }
            if queue.scratch.is_some() {
                assert_eq!(sample.long(there + 0xa8), field(0xa8), "{name}: bytes of an XCC's scratch");
                let base = sample.segment(&format!("scratch{}", queue.id));
                assert_eq!(sample.long(there + 0xa0), base, "{name}: scratch");
            }
            let ring = sample.segment(&format!("ring{}", queue.id));
            let written = queue::ring_bytes(&sample.plan, index);
            for dispatch in &queue.dispatches {
                let at = (dispatch.id % u64::from(queue.packets)) as usize * 64;
                let found = sample.at(ring + at as u64, 64);
                // Type, then everything up to the addresses, which are the samples' own.
                assert_eq!(found[0], written[at], "{name} packet {}", dispatch.id);
                assert_eq!(found[2..32], written[at + 2..at + 32], "{name} packet {}", dispatch.id);
            }
        }
    }
}

/// The values of every register as the library shows them are those of the model.
#[test]
fn registers_of_the_samples_are_those_of_the_model() {
    for sample in samples() {
        let model = crate::core_writer::model::of(&sample.plan);
        let expected = sample.expected["waves"].as_array().unwrap();
        assert_eq!(model.waves.len(), expected.len());
        for (wave, expected) in model.waves.iter().zip(expected) {
            let name = format!("{} wave {}", sample.name, expected["ordinal"]);
            let mut compared = 0;
            for (register, text) in expected["registers"].as_object().unwrap() {
                let found = &wave.registers[register];
                compared += 1;
                // Trap temporaries have noise in them; scratch that the samples' programs use is their own.
                if register.starts_with("ttmp") {
                    continue;
                }
                if register == "trapsts" {
                    let exceptions = |word: u32| word & 0x1000_79ff;
                    let (found, expected) = (found[0].unwrap(), dword(expected, register));
                    assert_eq!(exceptions(found), exceptions(expected), "{name} {register}");
                    continue;
                }
                let found: Vec<u8> = found.iter().flat_map(|dword| dword.unwrap().to_le_bytes()).collect();
                assert_eq!(found, hex(text), "{name} {register}");
            }
            // Those that the library changes on loading are listed apart.
            let rewritten = expected["rewritten_by_oracle"].as_object().unwrap();
            let missing =
                wave.registers.keys().filter(|register| expected["registers"].get(register).is_none());
            for register in missing {
                assert!(rewritten.contains_key(register), "{name}: the library shows no {register}");
            }
            assert!(compared > 30, "{name}: {compared} registers");
            assert_eq!(wave.pc, number(&expected["pc"]), "{name}");
            assert_eq!(wave.exec, number(&expected["exec"]), "{name}");
            let stop: Vec<_> = expected["stop_reasons"].as_array().unwrap().iter().collect();
            assert_eq!(wave.stop, stop, "{name}");
            let position = wave.position.unwrap().map(u64::from);
            assert_eq!(expected["coord"], serde_json::json!(position), "{name}");
            assert_eq!(wave.in_group.map(u64::from), expected["wave_in_group"].as_u64(), "{name}");
            assert_eq!(wave.packet, expected["packet_id"].as_u64(), "{name}");
        }
        for (group, expected) in model.groups.iter().zip(sample.expected["workgroups"].as_array().unwrap()) {
            assert_eq!(group.lds, hex(&expected["local"]), "{}", sample.name);
        }
    }
}
