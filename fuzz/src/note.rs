//! Arbitrary bytes as the descriptor of ROCm's note, in a core with repeating memory: agents, queues and the save areas
//! at their addresses. The first byte chooses the writer of the headers: one segment of the whole file, or ROCr, whose
//! segments are at the headers' offsets or, through a pipe, up to 15 bytes before.

use std::sync::LazyLock;

use lanescope::arch::Targets;
use lanescope::import;

static TARGETS: LazyLock<Targets> = LazyLock::new(Targets::builtin);

pub fn run(input: &[u8]) {
    let Some((writer, descriptor)) = input.split_first() else { return };
    let mut file = b"\x7fELF\x02\x01\x01\x40".to_vec();
    file.resize(64, 0);
    file[16..20].copy_from_slice(&[4, 0, 224, 0]);
    file[32] = 64;
    file[54..58].copy_from_slice(&[56, 0, 2, 0]);
    let note = 64 + 2 * 56;
    let size = 12 + 8 + descriptor.len();
    let header = |kind: u32, offset: usize, address: u64, size: usize| {
        let mut header = vec![0; 56];
        header[..4].copy_from_slice(&kind.to_le_bytes());
        header[8..16].copy_from_slice(&(offset as u64).to_le_bytes());
        header[16..24].copy_from_slice(&address.to_le_bytes());
        header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        header
    };
    file.extend(header(4, note, 0, size));
    let is_rocr = writer & 1 == 1;
    if is_rocr {
        file.extend(header(1, (note + size).next_multiple_of(16), 0, descriptor.len()));
    } else {
        // The whole file is memory, too: the descriptor's pointers may hit any byte of it.
        file.extend(header(1, 0, 0, note + size));
    }
    file.extend([7, 0, 0, 0]);
    file.extend((descriptor.len() as u32).to_le_bytes());
    file.extend([33, 0, 0, 0]);
    file.extend(b"AMDGPU\0\0");
    file.extend(descriptor);
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
