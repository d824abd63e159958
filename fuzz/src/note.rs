//! Arbitrary bytes as the descriptor of ROCm's note, in a core with repeating memory: agents, queues and the save areas
//! at their addresses. The first byte chooses the writer of the headers: one segment of the whole file, or ROCr, whose
//! segments are at the headers' offsets or, through a pipe, up to 15 bytes before.

use lanescope::import;

use crate::shared::{NOTE, TARGETS, core, note_size};

pub fn run(input: &[u8]) {
    let Some((writer, descriptor)) = input.split_first() else { return };
    let end = NOTE + note_size(descriptor);
    let is_rocr = writer & 1 == 1;
    let memory = if is_rocr {
        (end.next_multiple_of(16), 0, descriptor.len())
    } else {
        // The whole file is memory, too: the descriptor's pointers may hit any byte of it.
        (0, 0, end)
    };
    let mut file = core(descriptor, memory);
    if is_rocr {
        let is_padded = writer & 2 == 2;
        file.resize(if is_padded { file.len().next_multiple_of(16) } else { file.len() }, 0);
        file.extend(descriptor);
    }
    let Ok(opened) = import::open_bytes("fuzz", file, &TARGETS) else { return };
    let capture = &opened.capture;
    for wave in &capture.waves {
        assert!(wave.agent < capture.agents.len());
        for register in wave.kind.registers() {
            capture.register(wave, register.id).expect("what is not there is unknown, not an error");
        }
    }
}
