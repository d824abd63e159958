//! Arbitrary bytes as a log: a debug agent's, umr's text or its JSON. The first byte chooses whether a log's first line
//! comes before them, since other bytes are read as a manifest. An opened log is read from start to end.

use lanescope::import;

use crate::shared::{TARGETS, read};

const FIRST: [&str; 6] = [
    "",
    "wave_1: pc=0x7f00 (kernel_code_entry=0x10 <f(int*)>, kernargs=0x20) (stopped, reason: TRAP)\n",
    "1: wave_1: pc=0x7f00 (running)\n",
    "2 wavefront(s) found in XNACK error state @PC: 0x10\n",
    "se0.sa0.wgp0.simd0.wave0\nMain Registers:\n",
    "{\"waves\":[",
];

pub fn run(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let text = [FIRST[usize::from(*first) % FIRST.len()].as_bytes(), rest].concat();
    let Ok(opened) = import::open_bytes("fuzz", text, &TARGETS) else { return };
    let capture = &opened.capture;
    for wave in &capture.waves {
        assert!(wave.agent < capture.agents.len());
        assert!(wave.workgroup.is_none_or(|group| group < capture.workgroups.len()));
        for register in wave.kind.registers() {
            capture.register(wave, register.id).expect("registers lie in memory");
        }
    }
    for group in &capture.workgroups {
        assert!(group.dispatch.is_none_or(|dispatch| dispatch < capture.dispatches.len()));
        read(capture, &group.lds);
    }
    read(capture, &capture.global);
    for problem in &opened.problems {
        assert!(!problem.what.is_empty());
    }
}
