//! The writer gets the values of each wave from the sample cores' expected files, as read by AMD's library. It must
//! write the bytes of the samples: blocks of waves, control stacks, scratch, packets. Its noise bytes are not compared.

use std::collections::BTreeMap;

use super::described::{Sample, dword, hex, number, samples};
use crate::core_writer::gpu::Bits;
use crate::core_writer::{area, model, queue, words};

/// Whether `found` has the meaningful bits of `written`.
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

/// The grammar alone reads each control stack; its words have the writer's fields.
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

/// Bytes of a queue's save area on one XCC, from the note.
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

/// Blocks are consecutive downwards from the end, with the generation's gap above each.
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
                    last -= of.agent.gpu.family.gap()
                        + area::block_layout(of.agent.gpu.family, of.wave.counts, lds).size;
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
            // Some of it has the program's variables, the rest is filler.
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

/// Every register has the value in the library's output and in the model.
#[test]
fn registers_of_the_samples_are_those_of_the_model() {
    for sample in samples() {
        let model = model::of(&sample.plan);
        let expected = sample.expected["waves"].as_array().unwrap();
        assert_eq!(model.waves.len(), expected.len());
        for (wave, expected) in model.waves.iter().zip(expected) {
            let name = format!("{} wave {}", sample.name, expected["ordinal"]);
            let mut compared = 0;
            for (register, text) in expected["registers"].as_object().unwrap() {
                let found = &wave.registers[register];
                compared += 1;
                // Trap temporaries contain noise; scratch that the samples' programs use is their own.
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
            // Values that the library changes on loading are listed separately.
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
